!> Arrays as cores of tensor trains and TT-matrices.
module purlin_tt_cores
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_float, c_double, c_float_complex, &
    c_double_complex, c_int32_t, c_int64_t, c_intptr_t, c_null_char
  use purlin_types
  use purlin_strides, only: is_packed
  use purlin_c
  use purlin_library
  implicit none
  private
  public :: purlin_tt_core, cores_chained, core_tensor, core_addresses, one_more_rank, either, tt_cut_from_one, &
    tt_cut_from_zero

  !> An array that is a core: `call core%borrow(a)`, and a list of them to `borrow` of a train. The array needs the
  !> `target` attribute, and has to exist as long as the train. A core may be copied: the same one throughout makes a
  !> uniform train.
  type :: purlin_tt_core
    type(c_ptr) :: address = c_null_ptr
    integer(c_int64_t) :: dims(4) = 0
    integer(c_int32_t) :: dtype = -1
    integer :: axes = 0
    logical :: packed = .false.
  contains
    procedure, private :: borrow_r32, borrow_r64, borrow_c32, borrow_c64
    generic :: borrow => borrow_r32, borrow_r64, borrow_c32, borrow_c64
  end type

contains

  !> Cores that all have an array, of one type and `axes` axes, each as wide on its left as the one before on its right.
  subroutine cores_chained(o, cores, axes)
    type(outcome), intent(inout) :: o
    type(purlin_tt_core), intent(in) :: cores(:)
    integer, intent(in) :: axes
    character(128) :: text
    integer(c_int64_t) :: right
    integer :: k
    if (size(cores) == 0) call refuse(o, 'cores: are none, at least 1 is needed')
    if (size(cores) > 0) right = cores(1)%dims(1)
    do k = 1, size(cores)
      text = ''
      if (cores(k)%axes == 0) then
        write (text, '(a, i0, a)') 'cores: core ', k, ' has no array'
      else if (cores(k)%axes /= axes) then
        write (text, '(3(a, i0))') 'cores: core ', k, ' has ', cores(k)%axes, ' axes, expected ', axes
      else if (.not. cores(k)%packed) then
        write (text, '(a, i0, a)') 'cores: core ', k, ' is not contiguous'
      else if (cores(k)%dtype /= cores(1)%dtype) then
        write (text, '(a, i0, a)') 'cores: core ', k, ' is of another type than core 1'
      else if (cores(k)%dims(1) /= right) then
        write (text, '(4(a, i0))') 'cores: core ', k, ' has the left rank ', cores(k)%dims(1), &
          ', the right rank of core ', k - 1, ' is ', right
      end if
      if (text /= '') call refuse(o, trim(text))
      right = cores(k)%dims(axes)
    end do
  end subroutine

  subroutine one_more_rank(o, modes, ranks)
    type(outcome), intent(inout) :: o
    integer, intent(in) :: modes, ranks
    character(96) :: text
    if (ranks == modes + 1) return
    write (text, '(3(a, i0))') 'ranks: are ', ranks, ', expected ', modes + 1, ' for d = ', modes
    call refuse(o, trim(text))
  end subroutine

  !> Bonds count from 1 in reports, too.
  subroutine tt_cut_from_one(info)
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    character(:), allocatable :: reason
    integer :: i
    if (.not. present(info)) return
    info%cut = info%cut + 1
    reason = counted_from_one(purlin_string(info%reason))
    do i = 1, min(len(reason), size(info%reason) - 1)
      info%reason(i) = reason(i:i)
    end do
    info%reason(i) = c_null_char
  end subroutine

  !> Options of the C interface, which counts bonds from 0.
  subroutine tt_cut_from_zero(o, options, given)
    type(outcome), intent(inout) :: o
    type(purlin_tt_contraction_options), intent(in), optional :: options
    type(purlin_tt_contraction_options), intent(inout) :: given
    call purlin_init(given)
    if (present(options)) given = options
    ! -1 leaves the choice to the library.
    if (given%cut == 0) call refuse(o, 'cut: is 0, bonds count from 1')
    if (given%cut > 0) given%cut = given%cut - 1
  end subroutine

  pure function either(given, default) result(choice)
    integer(c_int32_t), intent(in), optional :: given
    integer(c_int32_t), intent(in) :: default
    integer(c_int32_t) :: choice
    choice = default
    if (present(given)) choice = given
  end function

  !> Stores the description of an array of any type in a core.
  subroutine note(core, dtype, dims, packed, address)
    class(purlin_tt_core), intent(inout) :: core
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    logical, intent(in) :: packed
    type(c_ptr), intent(in) :: address
    core%dtype = dtype
    core%axes = size(dims)
    core%dims = 0
    core%dims(:min(4, size(dims))) = dims(:min(4, size(dims)))
    core%packed = packed
    core%address = address
  end subroutine

  !> Addresses of cores one after another in memory that begins at `address`, of `available` elements of `bytes` bytes.
  subroutine core_addresses(o, bytes, modes, ranks, address, available, packed, addresses)
    type(outcome), intent(inout) :: o
    integer(c_int32_t), intent(in) :: bytes
    integer(c_int64_t), intent(in) :: modes(:), ranks(:), available
    type(c_ptr), intent(in) :: address
    logical, intent(in) :: packed
    type(c_ptr), intent(out) :: addresses(:)
    integer(c_int64_t) :: used
    integer(c_intptr_t) :: start
    integer :: k
    character(96) :: text
    addresses = address
    call one_more_rank(o, size(modes), size(ranks))
    if (.not. packed) call refuse(o, 'data: is not contiguous')
    if (size(modes) == 0) call refuse(o, 'modes: has 0 elements, expected at least 1')
    call expect_positive(o, 'modes', modes)
    call expect_positive(o, 'ranks', ranks)
    if (o%status /= PURLIN_SUCCESS) return
    used = 0
    start = transfer(address, start)
    do k = 1, size(modes)
      addresses(k) = transfer(start + used * bytes, addresses(k))
      ! In doubles, which do not wrap around.
      if (real(used, c_double) + real(ranks(k), c_double) * real(modes(k), c_double) * real(ranks(k + 1), c_double) > &
        real(available, c_double)) then
        write (text, '(2(a, i0))') 'data: has ', available, ' elements, which end inside core ', k
        call refuse(o, trim(text))
        return
      end if
      used = used + ranks(k) * modes(k) * ranks(k + 1)
    end do
  end subroutine

  !> Refuses sizes below 1: the library's own message would count elements from 0.
  subroutine expect_positive(o, name, list)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: list(:)
    integer :: k
    character(64) :: text
    do k = 1, size(list)
      if (list(k) >= 1) cycle
      write (text, '(2a, 2(i0, a))') name, ': element ', k, ' is ', list(k), ', expected at least 1'
      call refuse(o, trim(text))
      return
    end do
  end subroutine

  !> A tensor over an array, for the time of a call.
  subroutine core_tensor(o, context, dtype, flags, dims, packed, address, key)
    type(outcome), intent(inout) :: o
    type(c_ptr), intent(in) :: context, address
    integer(c_int32_t), intent(in) :: dtype, flags
    integer(c_int64_t), intent(in) :: dims(:)
    logical, intent(in) :: packed
    type(c_ptr), intent(inout) :: key
    key = c_null_ptr
    if (.not. packed) call refuse(o, 'array: is not contiguous')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tensor_borrow(context, dtype, flags, size(dims, kind=c_int64_t), &
      dims, c_null_ptr, address, key))
  end subroutine

  !> The array a(r, n, s), or a(w, m, n, v) of a TT-matrix, is the core.
  subroutine borrow_r32(self, array)
    class(purlin_tt_core), intent(inout) :: self
    real(c_float), pointer, intent(in) :: array(..)
    call note(self, PURLIN_F32, shape(array, kind=c_int64_t), is_packed(array), c_loc(array))
  end subroutine

  subroutine borrow_r64(self, array)
    class(purlin_tt_core), intent(inout) :: self
    real(c_double), pointer, intent(in) :: array(..)
    call note(self, PURLIN_F64, shape(array, kind=c_int64_t), is_packed(array), c_loc(array))
  end subroutine

  subroutine borrow_c32(self, array)
    class(purlin_tt_core), intent(inout) :: self
    complex(c_float_complex), pointer, intent(in) :: array(..)
    call note(self, PURLIN_CF32, shape(array, kind=c_int64_t), is_packed(array), c_loc(array))
  end subroutine

  subroutine borrow_c64(self, array)
    class(purlin_tt_core), intent(inout) :: self
    complex(c_double_complex), pointer, intent(in) :: array(..)
    call note(self, PURLIN_CF64, shape(array, kind=c_int64_t), is_packed(array), c_loc(array))
  end subroutine
end module purlin_tt_cores
