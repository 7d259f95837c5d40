!> Tensors: dense arrays of any rank and batches of packed symmetric tensors, owned or borrowed.
!>
!> `borrow` uses the array where it lies, so the compiler accepts only arrays with the `target` attribute, or pointers, and
!> passes no copy. Keep the array as long as the tensor, and pass it whole or as a contiguous section: `borrow` refuses
!> other sections.
!> Ownership and copies: as for purlin_context.
module purlin_tensors
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_associated, c_float, c_double, &
    c_float_complex, c_double_complex, c_int8_t, c_int32_t, c_int64_t
  use purlin_types
  use purlin_strides, only: is_packed
  use purlin_c
  use purlin_library
  use purlin_integers
  use purlin_execution
  implicit none
  private
  public :: purlin_tensor, tensor_key

  type :: purlin_tensor
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure, private :: tensor_create
    generic :: create => tensor_create
    procedure, private :: tensor_create_symmetric
    generic :: create_symmetric => tensor_create_symmetric
    procedure, private :: borrow_r32, borrow_r64, borrow_c32, borrow_c64, &
      borrow_i32, borrow_i64, borrow_u8
    generic :: borrow => borrow_r32, borrow_r64, borrow_c32, borrow_c64, borrow_i32, borrow_i64, borrow_u8
    procedure, private :: borrow_symmetric_r32, borrow_symmetric_r64
    generic :: borrow_symmetric => borrow_symmetric_r32, borrow_symmetric_r64
    procedure, private :: tensor_borrow_address
    generic :: borrow_address => tensor_borrow_address
    procedure, private :: tensor_borrow_device
    generic :: borrow_device => tensor_borrow_device
    procedure, private :: tensor_borrow_symmetric_address
    generic :: borrow_symmetric_address => tensor_borrow_symmetric_address
    procedure, private :: tensor_borrow_symmetric_device
    generic :: borrow_symmetric_device => tensor_borrow_symmetric_device
    procedure :: from_dlpack => tensor_from_dlpack
    procedure :: to_dlpack => tensor_to_dlpack
    procedure :: adopt => tensor_adopt
    procedure :: copy_from => tensor_copy_from
    procedure :: properties => tensor_properties
    procedure, private :: tensor_layout
    generic :: layout => tensor_layout
    include 'integers/tensor_bound.inc'
    include 'generated/object_tensor_bound.inc'
  end type

contains

  !> Memory of the library's own: `location` PURLIN_HOST (default) or PURLIN_DEVICE.
  subroutine tensor_create(self, context, dtype, dims, location, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    integer(c_int32_t), intent(in), optional :: location, flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tensor(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tensor_create(context%handle(), dtype, &
      either(location, PURLIN_HOST), either(flags, 0_c_int32_t), size(dims, kind=c_int64_t), dims, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The same for `count` symmetric tensors, in packed lexicographic entries.
  subroutine tensor_create_symmetric(self, context, dtype, order, dimension, count, location, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: order, dimension, count
    integer(c_int32_t), intent(in), optional :: location, flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tensor(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tensor_create_symmetric(context%handle(), dtype, &
      either(location, PURLIN_HOST), either(flags, 0_c_int32_t), order, dimension, count, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Host memory by address. `dims` and `strides` are in elements; without strides it is packed.
  subroutine tensor_borrow_address(self, context, dtype, dims, address, strides, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    type(c_ptr), intent(in) :: address
    integer(c_int64_t), intent(in), contiguous, target, optional :: strides(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tensor(self, o)
    if (.not. same_extent(dims, strides)) call refuse(o, 'strides: not as many as dims')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tensor_borrow(context%handle(), dtype, either(flags, 0_c_int32_t), &
      size(dims, kind=c_int64_t), dims, address_of(strides), address, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Device memory: `address` holds the CUdeviceptr.
  subroutine tensor_borrow_device(self, context, dtype, dims, address, strides, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:), address
    integer(c_int64_t), intent(in), contiguous, target, optional :: strides(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tensor(self, o)
    if (.not. same_extent(dims, strides)) call refuse(o, 'strides: not as many as dims')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tensor_borrow_device(context%handle(), dtype, &
      either(flags, 0_c_int32_t), size(dims, kind=c_int64_t), dims, address_of(strides), address, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A symmetric batch by host address; strides of the entries and of the tensors in elements, without them packed.
  subroutine tensor_borrow_symmetric_address(self, context, dtype, order, dimension, count, address, entry_stride, &
    tensor_stride, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: order, dimension, count
    type(c_ptr), intent(in) :: address
    integer(c_int64_t), intent(in), optional :: entry_stride, tensor_stride
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tensor(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tensor_borrow_symmetric(context%handle(), dtype, &
      either(flags, 0_c_int32_t), order, dimension, count, stride(entry_stride), stride(tensor_stride), address, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A symmetric batch in device memory.
  subroutine tensor_borrow_symmetric_device(self, context, dtype, order, dimension, count, address, entry_stride, &
    tensor_stride, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: order, dimension, count, address
    integer(c_int64_t), intent(in), optional :: entry_stride, tensor_stride
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tensor(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tensor_borrow_symmetric_device(context%handle(), dtype, &
      either(flags, 0_c_int32_t), order, dimension, count, stride(entry_stride), stride(tensor_stride), address, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Takes a DLManagedTensorVersioned; its deleter is called exactly once, on failure too.
  subroutine tensor_from_dlpack(self, context, managed, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(c_ptr), intent(in) :: managed
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tensor(self, o)
    ! Called even after a failure: the deleter must run.
    call absorb(o, c_tensor_from_dlpack(context%handle(), managed, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A DLManagedTensorVersioned of the tensor, which the receiver deletes.
  subroutine tensor_to_dlpack(self, managed, stat, errmsg)
    class(purlin_tensor), intent(in) :: self
    type(c_ptr), intent(inout) :: managed
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tensor_to_dlpack(self%key, managed))
    call finish(o, stat, errmsg)
  end subroutine

  !> Copies `source` into this tensor: same dims and type, host and device in any direction.
  subroutine tensor_copy_from(self, context, source, stream, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: source
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tensor_copy(context%handle(), stream_key(stream), source%key, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Takes over a handle of the C interface.
  subroutine tensor_adopt(self, key, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(c_ptr), intent(in) :: key
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tensor(self, o)
    self%key = key
    call finish(o, stat, errmsg)
  end subroutine

  subroutine tensor_properties(self, info, stat, errmsg)
    class(purlin_tensor), intent(in) :: self
    type(purlin_tensor_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tensor_properties(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Extents and strides, in elements.
  subroutine tensor_layout(self, dims, strides, stat, errmsg)
    class(purlin_tensor), intent(in) :: self
    integer(c_int64_t), allocatable, target, intent(out) :: dims(:)
    integer(c_int64_t), allocatable, target, intent(out), optional :: strides(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable, target :: steps(:)
    type(purlin_tensor_info) :: info
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tensor_properties(self%key, info))
    if (o%status /= PURLIN_SUCCESS) info%ndim = 0
    allocate (dims(info%ndim), steps(info%ndim))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tensor_shape(self%key, info%ndim, c_loc(dims), c_loc(steps)))
    if (present(strides)) strides = steps
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_tensor.inc'

  !> The handle of an optional tensor, NULL when it is absent.
  pure function tensor_key(tensor) result(key)
    type(purlin_tensor), intent(in), optional :: tensor
    type(c_ptr) :: key
    key = c_null_ptr
    if (present(tensor)) key = tensor%key
  end function

  pure function either(given, default) result(choice)
    integer(c_int32_t), intent(in), optional :: given
    integer(c_int32_t), intent(in) :: default
    integer(c_int32_t) :: choice
    choice = default
    if (present(given)) choice = given
  end function

  pure function stride(given) result(choice)
    integer(c_int64_t), intent(in), optional :: given
    integer(c_int64_t) :: choice
    choice = 0
    if (present(given)) choice = given
  end function

  pure function same_extent(dims, strides) result(same)
    integer(c_int64_t), intent(in) :: dims(:)
    integer(c_int64_t), intent(in), optional :: strides(:)
    logical :: same
    same = .true.
    if (present(strides)) same = size(strides) == size(dims)
  end function

  function address_of(list) result(address)
    integer(c_int64_t), intent(in), contiguous, target, optional :: list(:)
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(list)) address = c_loc(list)
  end function

  !> The common part of every dense `borrow`, for a known type of the array.
  subroutine borrow_dense(self, context, dtype, dims, packed, address, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    logical, intent(in) :: packed
    type(c_ptr), intent(in) :: address
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (packed) then
      call self%borrow_address(context, dtype, dims, address, flags=flags, stat=stat, errmsg=errmsg)
    else
      if (.not. c_associated(address)) call refuse(o, 'array: is not associated')
      call refuse(o, 'array: is not contiguous; see borrow_address for strides')
      call finish(o, stat, errmsg)
    end if
  end subroutine

  !> The same for a symmetric batch: `elements` is the size of the array, a whole number of tensors.
  subroutine borrow_packed(self, context, dtype, order, dimension, elements, packed, address, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: order, dimension, elements
    logical, intent(in) :: packed
    type(c_ptr), intent(in) :: address
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: entries
    type(outcome) :: o
    character(96) :: text
    entries = 0
    if (.not. c_associated(address)) call refuse(o, 'array: is not associated')
    if (.not. packed) call refuse(o, 'array: is not contiguous; see borrow_symmetric_address for strides')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_symmetric_count(order, dimension, entries))
    if (o%status == PURLIN_SUCCESS) then
      if (modulo(elements, entries) /= 0) then
        write (text, '(a, i0, a, i0)') 'array: has ', elements, ' elements, not a multiple of ', entries
        call refuse(o, trim(text))
      end if
    end if
    if (o%status == PURLIN_SUCCESS) then
      call self%borrow_symmetric_address(context, dtype, order, dimension, elements / entries, address, &
        flags=flags, stat=stat, errmsg=errmsg)
    else
      call finish(o, stat, errmsg)
    end if
  end subroutine

  !> An array of any rank and its own shape. int8 is PURLIN_U8; for other types see borrow_address.
  subroutine borrow_r32(self, context, array, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    real(c_float), pointer, intent(in) :: array(..)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call borrow_dense(self, context, PURLIN_F32, shape(array, kind=c_int64_t), is_packed(array), c_loc(array), &
      flags, stat, errmsg)
  end subroutine

  subroutine borrow_r64(self, context, array, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    real(c_double), pointer, intent(in) :: array(..)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call borrow_dense(self, context, PURLIN_F64, shape(array, kind=c_int64_t), is_packed(array), c_loc(array), &
      flags, stat, errmsg)
  end subroutine

  subroutine borrow_c32(self, context, array, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    complex(c_float_complex), pointer, intent(in) :: array(..)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call borrow_dense(self, context, PURLIN_CF32, shape(array, kind=c_int64_t), is_packed(array), c_loc(array), &
      flags, stat, errmsg)
  end subroutine

  subroutine borrow_c64(self, context, array, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    complex(c_double_complex), pointer, intent(in) :: array(..)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call borrow_dense(self, context, PURLIN_CF64, shape(array, kind=c_int64_t), is_packed(array), c_loc(array), &
      flags, stat, errmsg)
  end subroutine

  subroutine borrow_i32(self, context, array, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), pointer, intent(in) :: array(..)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call borrow_dense(self, context, PURLIN_I32, shape(array, kind=c_int64_t), is_packed(array), c_loc(array), &
      flags, stat, errmsg)
  end subroutine

  subroutine borrow_i64(self, context, array, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), pointer, intent(in) :: array(..)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call borrow_dense(self, context, PURLIN_I64, shape(array, kind=c_int64_t), is_packed(array), c_loc(array), &
      flags, stat, errmsg)
  end subroutine

  subroutine borrow_u8(self, context, array, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int8_t), pointer, intent(in) :: array(..)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call borrow_dense(self, context, PURLIN_U8, shape(array, kind=c_int64_t), is_packed(array), c_loc(array), &
      flags, stat, errmsg)
  end subroutine

  !> Packed symmetric tensors: the entries of one tensor run first, in as many tensors as the array holds.
  subroutine borrow_symmetric_r32(self, context, order, dimension, array, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: order, dimension
    real(c_float), pointer, intent(in) :: array(..)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call borrow_packed(self, context, PURLIN_F32, order, dimension, size(array, kind=c_int64_t), &
      is_packed(array), c_loc(array), flags, stat, errmsg)
  end subroutine

  subroutine borrow_symmetric_r64(self, context, order, dimension, array, flags, stat, errmsg)
    class(purlin_tensor), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: order, dimension
    real(c_double), pointer, intent(in) :: array(..)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call borrow_packed(self, context, PURLIN_F64, order, dimension, size(array, kind=c_int64_t), &
      is_packed(array), c_loc(array), flags, stat, errmsg)
  end subroutine

  include 'integers/tensors.inc'
end module purlin_tensors
