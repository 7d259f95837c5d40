!> Tensor trains. Cores are arrays `a(r, n, s)`, used where they lie or copied. Cores and indices count from 1. Ownership
!> and copies: as for purlin_context.
module purlin_tt_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_associated, c_float, c_double, c_float_complex, &
    c_double_complex, c_int32_t, c_int64_t
  use purlin_types
  use purlin_strides, only: is_packed
  use purlin_c
  use purlin_c_tt
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tt_cores
  implicit none
  private
  public :: purlin_tt, tt_keys, tt_context, tt_adopt, tt_is_complex

  !> A tensor train, open or cyclic.
  type :: purlin_tt
    private
    type(c_ptr) :: key = c_null_ptr
    type(c_ptr) :: context = c_null_ptr
  contains
    procedure, private :: tt_create
    generic :: create => tt_create
    procedure :: borrow => tt_borrow
    procedure, private :: flat_r32, flat_r64, flat_c32, flat_c64
    generic :: borrow_flat => flat_r32, flat_r64, flat_c32, flat_c64
    procedure, private :: tt_borrow_address
    generic :: borrow_address => tt_borrow_address
    procedure, private :: tt_borrow_device
    generic :: borrow_device => tt_borrow_device
    procedure, private :: set_core_r32, set_core_r64, set_core_c32, set_core_c64
    generic :: set_core => set_core_r32, set_core_r64, set_core_c32, set_core_c64
    procedure, private :: core_r32, core_r64, core_c32, core_c64
    generic :: core => core_r32, core_r64, core_c32, core_c64
    procedure, private :: tt_core_address
    generic :: core_address => tt_core_address
    procedure :: copy_from => tt_copy_from
    procedure :: properties => tt_properties
    procedure, private :: tt_shape
    generic :: shape => tt_shape
    include 'integers/tt_bound.inc'
    include 'generated/object_tt_bound.inc'
  end type

contains

  !> Memory of the library's own for a train of `modes`(d) and `ranks`(d + 1): `location` PURLIN_HOST (default) or
  !> PURLIN_DEVICE. Its cores are then set one by one.
  subroutine tt_create(self, context, dtype, modes, ranks, location, flags, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: modes(:), ranks(:)
    integer(c_int32_t), intent(in), optional :: location, flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt(self, o)
    call one_more_rank(o, size(modes), size(ranks))
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_tt_create(context%handle(), dtype, either(location, PURLIN_HOST), either(flags, 0_c_int32_t), &
        size(modes, kind=c_int64_t), modes, ranks, self%key))
      self%context = context%handle()
    end if
    call finish(o, stat, errmsg)
  end subroutine

  !> Arrays in place: `cores`(d), each with its array (`cores(k)%borrow`). Mode sizes, ranks and type are those of the
  !> arrays.
  subroutine tt_borrow(self, context, cores, flags, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_tt_core), intent(in) :: cores(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt(self, o)
    call cores_chained(o, cores, 3)
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_tt_borrow(context%handle(), cores(1)%dtype, either(flags, 0_c_int32_t), size(cores, kind=c_int64_t), &
        cores%dims(2), [cores(1)%dims(1), cores%dims(3)], cores%address, self%key))
      self%context = context%handle()
    end if
    call finish(o, stat, errmsg)
  end subroutine

  !> Host memory by address: `addresses`(d) of packed cores.
  subroutine tt_borrow_address(self, context, dtype, modes, ranks, addresses, flags, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: modes(:), ranks(:)
    type(c_ptr), intent(in) :: addresses(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt(self, o)
    call one_more_rank(o, size(modes), size(ranks))
    call expect_as_many(o, 'addresses', size(addresses, kind=c_int64_t), 'modes', size(modes, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_tt_borrow(context%handle(), dtype, either(flags, 0_c_int32_t), size(modes, kind=c_int64_t), modes, ranks, &
        addresses, self%key))
      self%context = context%handle()
    end if
    call finish(o, stat, errmsg)
  end subroutine

  !> Device memory: `addresses`(d) hold the CUdeviceptr of each core.
  subroutine tt_borrow_device(self, context, dtype, modes, ranks, addresses, flags, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: modes(:), ranks(:), addresses(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt(self, o)
    call one_more_rank(o, size(modes), size(ranks))
    call expect_as_many(o, 'addresses', size(addresses, kind=c_int64_t), 'modes', size(modes, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_tt_borrow_device(context%handle(), dtype, either(flags, 0_c_int32_t), size(modes, kind=c_int64_t), modes, &
        ranks, addresses, self%key))
      self%context = context%handle()
    end if
    call finish(o, stat, errmsg)
  end subroutine

  !> Address of core `k`, on the host or the device.
  subroutine tt_core_address(self, k, address, stat, errmsg)
    class(purlin_tt), intent(in) :: self
    integer(c_int64_t), intent(in) :: k
    integer(c_int64_t), intent(out) :: address
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    address = 0
    call absorb(o, c_tt_core_address(self%key, k - 1, address))
    call finish(o, stat, errmsg)
  end subroutine

  !> Copies the cores of `source` into this train: same shape and type, host and device in any direction.
  subroutine tt_copy_from(self, context, source, stream, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_tt), intent(in) :: source
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tt_copy(context%handle(), stream_key(stream), source%key, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine tt_properties(self, info, stat, errmsg)
    class(purlin_tt), intent(in) :: self
    type(purlin_tt_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_properties(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Mode sizes (d) and ranks (d + 1).
  subroutine tt_shape(self, modes, ranks, stat, errmsg)
    class(purlin_tt), intent(in) :: self
    integer(c_int64_t), allocatable, target, intent(out) :: modes(:), ranks(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(purlin_tt_info) :: info
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_properties(self%key, info))
    if (o%status /= PURLIN_SUCCESS) info%length = 0
    allocate (modes(info%length), ranks(merge(info%length + 1, 0_c_int64_t, info%length > 0)))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_shape(self%key, info%length, c_loc(modes), c_loc(ranks)))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_tt.inc'

  !> Handles of a list of trains.
  pure function tt_keys(trains) result(keys)
    type(purlin_tt), intent(in) :: trains(:)
    type(c_ptr) :: keys(size(trains))
    keys = trains%key
  end function

  !> The context that a train was made in.
  pure function tt_context(train) result(context)
    type(purlin_tt), intent(in) :: train
    type(c_ptr) :: context
    context = train%context
  end function

  !> Takes over a handle that a call has made, destroying the one held before.
  subroutine tt_adopt(train, context, key, o)
    type(purlin_tt), intent(inout) :: train
    type(c_ptr), intent(in) :: context, key
    type(outcome), intent(inout) :: o
    if (o%status /= PURLIN_SUCCESS) return
    call drop_tt(train, o)
    train%key = key
    train%context = context
  end subroutine

  !> Whether the elements of a train are complex; false for an invalid handle, which the next call refuses.
  function tt_is_complex(train) result(complex_elements)
    type(purlin_tt), intent(in) :: train
    logical :: complex_elements
    type(purlin_tt_info) :: info
    call purlin_init(info)
    complex_elements = .false.
    if (c_tt_properties(train%key, info) /= PURLIN_SUCCESS) return
    complex_elements = info%dtype == PURLIN_CF32 .or. info%dtype == PURLIN_CF64
  end function

  !> Cores one after another in one array with the `target` attribute, in place.
  subroutine flat_r32(self, context, modes, ranks, data, flags, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:), ranks(:)
    real(c_float), pointer, intent(in) :: data(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: addresses(size(modes))
    type(outcome) :: o
    if (.not. associated(data)) call refuse(o, 'data: is not associated')
    if (o%status == PURLIN_SUCCESS) call core_addresses(o, 4_c_int32_t, modes, ranks, c_loc(data), &
      size(data, kind=c_int64_t), is_packed(data), addresses)
    call whole(self, o, context, PURLIN_F32, modes, ranks, addresses, flags, stat, errmsg)
  end subroutine

  subroutine flat_r64(self, context, modes, ranks, data, flags, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:), ranks(:)
    real(c_double), pointer, intent(in) :: data(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: addresses(size(modes))
    type(outcome) :: o
    if (.not. associated(data)) call refuse(o, 'data: is not associated')
    if (o%status == PURLIN_SUCCESS) call core_addresses(o, 8_c_int32_t, modes, ranks, c_loc(data), &
      size(data, kind=c_int64_t), is_packed(data), addresses)
    call whole(self, o, context, PURLIN_F64, modes, ranks, addresses, flags, stat, errmsg)
  end subroutine

  subroutine flat_c32(self, context, modes, ranks, data, flags, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:), ranks(:)
    complex(c_float_complex), pointer, intent(in) :: data(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: addresses(size(modes))
    type(outcome) :: o
    if (.not. associated(data)) call refuse(o, 'data: is not associated')
    if (o%status == PURLIN_SUCCESS) call core_addresses(o, 8_c_int32_t, modes, ranks, c_loc(data), &
      size(data, kind=c_int64_t), is_packed(data), addresses)
    call whole(self, o, context, PURLIN_CF32, modes, ranks, addresses, flags, stat, errmsg)
  end subroutine

  subroutine flat_c64(self, context, modes, ranks, data, flags, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:), ranks(:)
    complex(c_double_complex), pointer, intent(in) :: data(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: addresses(size(modes))
    type(outcome) :: o
    if (.not. associated(data)) call refuse(o, 'data: is not associated')
    if (o%status == PURLIN_SUCCESS) call core_addresses(o, 16_c_int32_t, modes, ranks, c_loc(data), &
      size(data, kind=c_int64_t), is_packed(data), addresses)
    call whole(self, o, context, PURLIN_CF64, modes, ranks, addresses, flags, stat, errmsg)
  end subroutine

  !> Copies an array into core `k`, r x n x s.
  subroutine set_core_r32(self, k, array, stream, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    real(c_float), intent(in), target :: array(:, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_core(self%key, self%context, k, PURLIN_F32, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine set_core_r64(self, k, array, stream, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    real(c_double), intent(in), target :: array(:, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_core(self%key, self%context, k, PURLIN_F64, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine set_core_c32(self, k, array, stream, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    complex(c_float_complex), intent(in), target :: array(:, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_core(self%key, self%context, k, PURLIN_CF32, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine set_core_c64(self, k, array, stream, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    complex(c_double_complex), intent(in), target :: array(:, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_core(self%key, self%context, k, PURLIN_CF64, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  !> Copies core `k`, r x n x s, into an array.
  subroutine core_r32(self, k, array, stream, stat, errmsg)
    class(purlin_tt), intent(in) :: self
    integer(c_int64_t), intent(in) :: k
    real(c_float), intent(inout), target :: array(:, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_core(self%key, self%context, k, PURLIN_F32, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine core_r64(self, k, array, stream, stat, errmsg)
    class(purlin_tt), intent(in) :: self
    integer(c_int64_t), intent(in) :: k
    real(c_double), intent(inout), target :: array(:, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_core(self%key, self%context, k, PURLIN_F64, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine core_c32(self, k, array, stream, stat, errmsg)
    class(purlin_tt), intent(in) :: self
    integer(c_int64_t), intent(in) :: k
    complex(c_float_complex), intent(inout), target :: array(:, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_core(self%key, self%context, k, PURLIN_CF32, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine core_c64(self, k, array, stream, stat, errmsg)
    class(purlin_tt), intent(in) :: self
    integer(c_int64_t), intent(in) :: k
    complex(c_double_complex), intent(inout), target :: array(:, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_core(self%key, self%context, k, PURLIN_CF64, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine put_core(train, context, k, dtype, dims, packed, address, stream, stat, errmsg)
    type(c_ptr), intent(in) :: train, context, address
    integer(c_int64_t), intent(in) :: k, dims(:)
    integer(c_int32_t), intent(in) :: dtype
    logical, intent(in) :: packed
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: tensor
    type(outcome) :: o
    call core_tensor(o, context, dtype, PURLIN_READ_ONLY, dims, packed, address, tensor)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_set_core(train, stream_key(stream), k - 1, tensor))
    call absorb(o, c_tensor_destroy(tensor))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine get_core(train, context, k, dtype, dims, packed, address, stream, stat, errmsg)
    type(c_ptr), intent(in) :: train, context, address
    integer(c_int64_t), intent(in) :: k, dims(:)
    integer(c_int32_t), intent(in) :: dtype
    logical, intent(in) :: packed
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: tensor
    type(outcome) :: o
    call core_tensor(o, context, dtype, 0_c_int32_t, dims, packed, address, tensor)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_core(train, stream_key(stream), k - 1, tensor))
    call absorb(o, c_tensor_destroy(tensor))
    call finish(o, stat, errmsg)
  end subroutine

  !> The common part of every `borrow_flat`, for the addresses of its cores.
  subroutine whole(self, o, context, dtype, modes, ranks, addresses, flags, stat, errmsg)
    class(purlin_tt), intent(inout) :: self
    type(outcome), intent(in) :: o
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: modes(:), ranks(:)
    type(c_ptr), intent(in) :: addresses(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (o%status == PURLIN_SUCCESS) then
      call self%borrow_address(context, dtype, modes, ranks, addresses, flags, stat, errmsg)
    else
      call finish(o, stat, errmsg)
    end if
  end subroutine

  include 'integers/tt.inc'
end module purlin_tt_module
