!> Sources and sinks: where a computation on data larger than memory reads from and writes to. `dims` have the axis that
!> runs fastest first. Ownership and copies: as for purlin_context.
module purlin_blocks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_null_ptr, c_null_char, c_char, c_loc, c_associated, &
    c_double, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c_blocks
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  implicit none
  private
  public :: purlin_source, purlin_sink

  !> An array that is read in blocks; it may be used again.
  type :: purlin_source
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: from_tensor => source_from_tensor
    procedure, private :: source_from_file
    generic :: from_file => source_from_file
    procedure, private :: source_from_mapped_file
    generic :: from_mapped_file => source_from_mapped_file
    procedure :: from_npy => source_from_npy
    procedure :: from_metaimage => source_from_metaimage
    procedure :: from_tiff => source_from_tiff
    procedure, private :: source_from_callback
    generic :: from_callback => source_from_callback
    procedure :: properties => source_properties
    include 'integers/source_bound.inc'
    include 'generated/object_source_bound.inc'
  end type

  !> An array that is written in blocks, by one run. A file gets its name when the run has succeeded.
  type :: purlin_sink
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: to_tensor => sink_to_tensor
    procedure, private :: sink_to_file
    generic :: to_file => sink_to_file
    procedure, private :: sink_to_metaimage
    generic :: to_metaimage => sink_to_metaimage
    procedure, private :: sink_to_tiff
    generic :: to_tiff => sink_to_tiff
    procedure, private :: sink_to_callback
    generic :: to_callback => sink_to_callback
    include 'integers/sink_bound.inc'
    include 'generated/object_sink_bound.inc'
  end type

contains

  !> A tensor, which the source keeps alive; an array that the tensor borrows has to outlive the source.
  subroutine source_from_tensor(self, context, tensor, stat, errmsg)
    class(purlin_source), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: tensor
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_source(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_source_from_tensor(context%handle(), tensor%handle(), self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A raw file of elements of type `dtype` from byte `offset` on, by default 0 and little-endian.
  subroutine source_from_file(self, context, path, dtype, dims, offset, endianness, stat, errmsg)
    class(purlin_source), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    character(*), intent(in) :: path
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    integer(c_int64_t), intent(in), optional :: offset
    integer(c_int32_t), intent(in), optional :: endianness
    character(kind=c_char), allocatable, target :: name(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_source(self, o)
    name = terminated(trim(path))
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_source_from_file(context%handle(), c_loc(name), &
      first_byte(offset), dtype, order_of(endianness), size(dims, kind=c_int64_t), dims, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The same through a memory map: parts that an earlier pass left in the system's memory are not read again.
  subroutine source_from_mapped_file(self, context, path, dtype, dims, offset, endianness, stat, errmsg)
    class(purlin_source), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    character(*), intent(in) :: path
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    integer(c_int64_t), intent(in), optional :: offset
    integer(c_int32_t), intent(in), optional :: endianness
    character(kind=c_char), allocatable, target :: name(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_source(self, o)
    name = terminated(trim(path))
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_source_from_mapped_file(context%handle(), c_loc(name), &
      first_byte(offset), dtype, order_of(endianness), size(dims, kind=c_int64_t), dims, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A file of NumPy's format .npy. properties() has PURLIN_ROW_MAJOR in `flags` for C order.
  subroutine source_from_npy(self, context, path, stat, errmsg)
    class(purlin_source), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    character(*), intent(in) :: path
    character(kind=c_char), allocatable, target :: name(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_source(self, o)
    name = terminated(trim(path))
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_source_from_npy(context%handle(), c_loc(name), self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A MetaImage, .mha or .mhd.
  subroutine source_from_metaimage(self, context, path, stat, errmsg)
    class(purlin_source), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    character(*), intent(in) :: path
    character(kind=c_char), allocatable, target :: name(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_source(self, o)
    name = terminated(trim(path))
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_source_from_metaimage(context%handle(), c_loc(name), self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> TIFF files of one or more pages each; trailing blanks of the names do not count.
  subroutine source_from_tiff(self, context, paths, stat, errmsg)
    class(purlin_source), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    character(*), intent(in) :: paths(:)
    character(kind=c_char), allocatable, target :: names(:, :)
    type(c_ptr), allocatable, target :: list(:)
    integer :: i
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_source(self, o)
    allocate (names(len(paths) + 1, size(paths)), list(size(paths)))
    do i = 1, size(paths)
      call refuse_null(o, paths(i))
      names(:len_trim(paths(i)) + 1, i) = terminated(trim(paths(i)))
      list(i) = c_loc(names(1, i))
    end do
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_source_from_tiff(context%handle(), size(paths, kind=c_int64_t), &
      c_loc(list), self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> An array that `read` delivers: c_funloc of a function of interface purlin_read.
  subroutine source_from_callback(self, context, dtype, dims, read, user, stat, errmsg)
    class(purlin_source), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    type(c_funptr), intent(in) :: read
    type(c_ptr), intent(in), optional :: user
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_source(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_source_from_callback(context%handle(), dtype, &
      size(dims, kind=c_int64_t), dims, read, pointer_of(user), self%key))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine source_properties(self, info, stat, errmsg)
    class(purlin_source), intent(in) :: self
    type(purlin_array_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_source_info(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_source.inc'

  !> A tensor, which the sink keeps alive; an array that the tensor borrows has to outlive the sink.
  subroutine sink_to_tensor(self, context, tensor, stat, errmsg)
    class(purlin_sink), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(inout) :: tensor
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_sink(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_sink_to_tensor(context%handle(), tensor%handle(), self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A raw file with `offset` zero bytes before the elements, by default none and little-endian.
  subroutine sink_to_file(self, context, path, dtype, dims, offset, endianness, stat, errmsg)
    class(purlin_sink), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    character(*), intent(in) :: path
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    integer(c_int64_t), intent(in), optional :: offset
    integer(c_int32_t), intent(in), optional :: endianness
    character(kind=c_char), allocatable, target :: name(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_sink(self, o)
    name = terminated(trim(path))
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_sink_to_file(context%handle(), c_loc(name), &
      first_byte(offset), dtype, order_of(endianness), size(dims, kind=c_int64_t), dims, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A MetaImage, .mha or .mhd; spacing and origin in mm, by default 1 and 0.
  subroutine sink_to_metaimage(self, context, path, dtype, dims, spacing, origin, stat, errmsg)
    class(purlin_sink), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    character(*), intent(in) :: path
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    real(c_double), intent(in), contiguous, target, optional :: spacing(:), origin(:)
    character(kind=c_char), allocatable, target :: name(:)
    type(c_ptr) :: distances, place
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_sink(self, o)
    name = terminated(trim(path))
    call refuse_null(o, path)
    distances = c_null_ptr
    place = c_null_ptr
    if (present(spacing)) then
      call expect_as_many(o, 'spacing', size(spacing, kind=c_int64_t), 'dims', size(dims, kind=c_int64_t))
      distances = c_loc(spacing)
    end if
    if (present(origin)) then
      call expect_as_many(o, 'origin', size(origin, kind=c_int64_t), 'dims', size(dims, kind=c_int64_t))
      place = c_loc(origin)
    end if
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_sink_to_metaimage(context%handle(), c_loc(name), dtype, &
      size(dims, kind=c_int64_t), dims, distances, place, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> One TIFF file of dims(3) pages.
  subroutine sink_to_tiff(self, context, path, dtype, dims, stat, errmsg)
    class(purlin_sink), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    character(*), intent(in) :: path
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(3)
    character(kind=c_char), allocatable, target :: name(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_sink(self, o)
    name = terminated(trim(path))
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_sink_to_tiff(context%handle(), c_loc(name), dtype, dims(1), &
      dims(2), dims(3), self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> An array that `write` takes: c_funloc of a function of interface purlin_write.
  subroutine sink_to_callback(self, context, dtype, dims, write, user, stat, errmsg)
    class(purlin_sink), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: dims(:)
    type(c_funptr), intent(in) :: write
    type(c_ptr), intent(in), optional :: user
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_sink(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_sink_to_callback(context%handle(), dtype, &
      size(dims, kind=c_int64_t), dims, write, pointer_of(user), self%key))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_sink.inc'

  pure function terminated(text) result(characters)
    character(*), intent(in) :: text
    character(kind=c_char) :: characters(len(text) + 1)
    integer :: i
    do i = 1, len(text)
      characters(i) = text(i:i)
    end do
    characters(len(text) + 1) = c_null_char
  end function

  pure function first_byte(offset) result(byte)
    integer(c_int64_t), intent(in), optional :: offset
    integer(c_int64_t) :: byte
    byte = 0
    if (present(offset)) byte = offset
  end function

  pure function order_of(endianness) result(order)
    integer(c_int32_t), intent(in), optional :: endianness
    integer(c_int32_t) :: order
    order = PURLIN_LITTLE_ENDIAN
    if (present(endianness)) order = endianness
  end function

  pure function pointer_of(user) result(address)
    type(c_ptr), intent(in), optional :: user
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(user)) address = user
  end function

  include 'integers/blocks.inc'
end module purlin_blocks
