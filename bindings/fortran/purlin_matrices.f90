!> Matrices: dense with a leading dimension, compressed sparse rows, read in blocks from a source, or known by their
!> products alone. Ownership and copies: as for purlin_context; lifetime of borrowed arrays: as for purlin_tensor.
module purlin_matrices
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_null_ptr, c_loc, c_associated, c_float, c_double, &
    c_float_complex, c_double_complex, c_int32_t, c_int64_t, c_intptr_t
  use purlin_types
  use purlin_strides, only: is_packed, distance
  use purlin_c
  use purlin_c_rsvd
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_blocks
  implicit none
  private
  public :: purlin_matrix, matrix_key

  character(*), parameter :: csr_names(3) = [character(7) :: 'row_ptr', 'col_idx', 'values']

  type :: purlin_matrix
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure, private :: matrix_create
    generic :: create => matrix_create
    procedure, private :: borrow_r32, borrow_r64, borrow_c32, borrow_c64
    generic :: borrow => borrow_r32, borrow_r64, borrow_c32, borrow_c64
    procedure, private :: matrix_borrow_address
    generic :: borrow_address => matrix_borrow_address
    procedure, private :: matrix_borrow_device
    generic :: borrow_device => matrix_borrow_device
    procedure, private :: csr_i32_r32, csr_i32_r64, csr_i32_c32, csr_i32_c64, csr_i32_pattern
    procedure, private :: csr_i64_r32, csr_i64_r64, csr_i64_c32, csr_i64_c64, csr_i64_pattern
    generic :: csr => csr_i32_r32, csr_i32_r64, csr_i32_c32, csr_i32_c64, csr_i32_pattern, &
      csr_i64_r32, csr_i64_r64, csr_i64_c32, csr_i64_c64, csr_i64_pattern
    procedure, private :: matrix_csr_address
    generic :: csr_address => matrix_csr_address
    procedure, private :: matrix_csr_device
    generic :: csr_device => matrix_csr_device
    procedure :: from_source => matrix_from_source
    procedure, private :: matrix_from_operator
    generic :: from_operator => matrix_from_operator
    procedure :: adopt => matrix_adopt
    procedure :: copy_from => matrix_copy_from
    procedure :: properties => matrix_properties
    include 'integers/matrix_bound.inc'
    include 'generated/object_matrix_bound.inc'
  end type

contains

  !> Dense memory of the library's own: `location` PURLIN_HOST (default) or PURLIN_DEVICE.
  subroutine matrix_create(self, context, dtype, rows, cols, location, flags, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int32_t), intent(in), optional :: location, flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_matrix(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_create(context%handle(), dtype, &
      either(location, PURLIN_HOST), either(flags, 0_c_int32_t), rows, cols, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Dense host memory by address; `ld` in elements.
  subroutine matrix_borrow_address(self, context, dtype, rows, cols, ld, address, flags, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: rows, cols, ld
    type(c_ptr), intent(in) :: address
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_matrix(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_borrow(context%handle(), dtype, either(flags, 0_c_int32_t), &
      rows, cols, ld, address, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Dense device memory: `address` holds the CUdeviceptr.
  subroutine matrix_borrow_device(self, context, dtype, rows, cols, ld, address, flags, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: rows, cols, ld, address
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_matrix(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_borrow_device(context%handle(), dtype, &
      either(flags, 0_c_int32_t), rows, cols, ld, address, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Sparse rows by address. `values` null is a pattern; `copied` makes the library keep its own copy.
  subroutine matrix_csr_address(self, context, dtype, rows, cols, nnz, row_ptr_type, row_ptr, col_idx_type, col_idx, &
    values, index_base, copied, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype, row_ptr_type, col_idx_type
    integer(c_int64_t), intent(in) :: rows, cols, nnz
    type(c_ptr), intent(in) :: row_ptr, col_idx, values
    integer(c_int32_t), intent(in), optional :: index_base
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    logical :: keep
    call drop_matrix(self, o)
    keep = .false.
    if (present(copied)) keep = copied
    if (o%status == PURLIN_SUCCESS) then
      if (keep) then
        call absorb(o, c_matrix_copy_csr(context%handle(), dtype, either(index_base, 1_c_int32_t), rows, cols, nnz, &
          row_ptr_type, row_ptr, col_idx_type, col_idx, values, self%key))
      else
        call absorb(o, c_matrix_borrow_csr(context%handle(), dtype, either(index_base, 1_c_int32_t), rows, cols, nnz, &
          row_ptr_type, row_ptr, col_idx_type, col_idx, values, self%key))
      end if
    end if
    call finish(o, stat, errmsg)
  end subroutine

  !> Sparse rows in device memory: the addresses hold CUdeviceptr. `values` 0 is a pattern.
  subroutine matrix_csr_device(self, context, dtype, rows, cols, nnz, row_ptr_type, row_ptr, col_idx_type, col_idx, &
    values, index_base, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype, row_ptr_type, col_idx_type
    integer(c_int64_t), intent(in) :: rows, cols, nnz, row_ptr, col_idx, values
    integer(c_int32_t), intent(in), optional :: index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_matrix(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_borrow_csr_device(context%handle(), dtype, &
      either(index_base, 1_c_int32_t), rows, cols, nnz, row_ptr_type, row_ptr, col_idx_type, col_idx, values, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A source of two axes or more, rows and columns, or with PURLIN_ROW_MAJOR in `flags` columns and rows; read in blocks.
  !> All axes but the last count as one. The source may be destroyed before the matrix.
  subroutine matrix_from_source(self, context, source, flags, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_source), intent(in) :: source
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_matrix(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_from_source(context%handle(), source%handle(), &
      either(flags, 0_c_int32_t), self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A matrix that is known by its products: c_funloc of a function of interface purlin_apply, which takes vectors on the
  !> host, or with location = PURLIN_DEVICE on the device of a context on a GPU.
  subroutine matrix_from_operator(self, context, dtype, rows, cols, apply, user, location, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: rows, cols
    type(c_funptr), intent(in) :: apply
    type(c_ptr), intent(in), optional :: user
    integer(c_int32_t), intent(in), optional :: location
    type(c_ptr) :: address
    integer(c_int32_t) :: place
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_matrix(self, o)
    address = c_null_ptr
    if (present(user)) address = user
    place = PURLIN_HOST
    if (present(location)) place = location
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_from_operator(context%handle(), dtype, rows, cols, apply, &
      address, place, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Takes over a handle of the C interface.
  subroutine matrix_adopt(self, key, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(c_ptr), intent(in) :: key
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_matrix(self, o)
    self%key = key
    call finish(o, stat, errmsg)
  end subroutine

  !> Copies `source` into this matrix: same shape and type, host and device in any direction.
  subroutine matrix_copy_from(self, context, source, stream, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: source
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_matrix_copy(context%handle(), stream_key(stream), source%key, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine matrix_properties(self, info, stat, errmsg)
    class(purlin_matrix), intent(in) :: self
    type(purlin_matrix_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_matrix_properties(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_matrix.inc'

  pure function either(given, default) result(choice)
    integer(c_int32_t), intent(in), optional :: given
    integer(c_int32_t), intent(in) :: default
    integer(c_int32_t) :: choice
    choice = default
    if (present(given)) choice = given
  end function

  !> Borrows an array section with a unit stride down its columns: the distance of two columns is its ld.
  subroutine borrow_section(self, context, dtype, bytes, rows, cols, first, second, packed, flags, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: bytes, rows, cols
    !> Addresses of the first two columns, the same without a second; whether the first is contiguous.
    type(c_ptr), intent(in) :: first, second
    logical, intent(in) :: packed
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: step
    type(outcome) :: o
    step = max(rows, 1_c_int64_t) * bytes
    if (cols > 1 .and. rows > 0) step = distance(first, second)
    if (.not. c_associated(first)) then
      call refuse(o, 'array: is not associated')
    else if (.not. packed .or. step < rows * bytes .or. modulo(step, bytes) /= 0) then
      call refuse(o, 'array: its columns are not contiguous and ascending; copy a section or transpose(x) to an array first')
    end if
    if (o%status == PURLIN_SUCCESS) then
      call self%borrow_address(context, dtype, rows, cols, step / bytes, first, flags, stat, errmsg)
    else
      call finish(o, stat, errmsg)
    end if
  end subroutine

  !> Dense: an array with the `target` attribute, or a section of one whose columns are contiguous; nothing is copied.
  subroutine borrow_r32(self, context, array, flags, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    real(c_float), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_float), pointer :: a(:, :), column(:)
    integer(c_int32_t), parameter :: dtype = PURLIN_F32
    include 'purlin_matrices_borrow.inc'
  end subroutine

  subroutine borrow_r64(self, context, array, flags, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    real(c_double), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double), pointer :: a(:, :), column(:)
    integer(c_int32_t), parameter :: dtype = PURLIN_F64
    include 'purlin_matrices_borrow.inc'
  end subroutine

  subroutine borrow_c32(self, context, array, flags, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    complex(c_float_complex), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    complex(c_float_complex), pointer :: a(:, :), column(:)
    integer(c_int32_t), parameter :: dtype = PURLIN_CF32
    include 'purlin_matrices_borrow.inc'
  end subroutine

  subroutine borrow_c64(self, context, array, flags, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    complex(c_double_complex), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    complex(c_double_complex), pointer :: a(:, :), column(:)
    integer(c_int32_t), parameter :: dtype = PURLIN_CF64
    include 'purlin_matrices_borrow.inc'
  end subroutine

  !> Sparse rows from whole arrays with the `target` attribute; without `values` a pattern. `index_base` is 1 unless given;
  !> `copied` makes the library keep its own copy.
  subroutine csr_i32_r32(self, context, cols, row_ptr, col_idx, values, index_base, copied, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int32_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    real(c_float), pointer, intent(in) :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx), associated(values)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx), is_packed(values)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, PURLIN_F32, &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I32, c_loc(row_ptr), PURLIN_I32, &
      c_loc(col_idx), c_loc(values), index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine csr_i32_r64(self, context, cols, row_ptr, col_idx, values, index_base, copied, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int32_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    real(c_double), pointer, intent(in) :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx), associated(values)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx), is_packed(values)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, PURLIN_F64, &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I32, c_loc(row_ptr), PURLIN_I32, &
      c_loc(col_idx), c_loc(values), index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine csr_i64_r32(self, context, cols, row_ptr, col_idx, values, index_base, copied, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int64_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    real(c_float), pointer, intent(in) :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx), associated(values)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx), is_packed(values)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, PURLIN_F32, &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I64, c_loc(row_ptr), PURLIN_I64, &
      c_loc(col_idx), c_loc(values), index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine csr_i64_r64(self, context, cols, row_ptr, col_idx, values, index_base, copied, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int64_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    real(c_double), pointer, intent(in) :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx), associated(values)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx), is_packed(values)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, PURLIN_F64, &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I64, c_loc(row_ptr), PURLIN_I64, &
      c_loc(col_idx), c_loc(values), index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine csr_i32_c32(self, context, cols, row_ptr, col_idx, values, index_base, copied, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int32_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    complex(c_float_complex), pointer, intent(in) :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx), associated(values)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx), is_packed(values)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, PURLIN_CF32, &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I32, c_loc(row_ptr), PURLIN_I32, &
      c_loc(col_idx), c_loc(values), index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine csr_i32_c64(self, context, cols, row_ptr, col_idx, values, index_base, copied, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int32_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    complex(c_double_complex), pointer, intent(in) :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx), associated(values)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx), is_packed(values)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, PURLIN_CF64, &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I32, c_loc(row_ptr), PURLIN_I32, &
      c_loc(col_idx), c_loc(values), index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine csr_i64_c32(self, context, cols, row_ptr, col_idx, values, index_base, copied, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int64_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    complex(c_float_complex), pointer, intent(in) :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx), associated(values)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx), is_packed(values)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, PURLIN_CF32, &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I64, c_loc(row_ptr), PURLIN_I64, &
      c_loc(col_idx), c_loc(values), index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine csr_i64_c64(self, context, cols, row_ptr, col_idx, values, index_base, copied, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int64_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    complex(c_double_complex), pointer, intent(in) :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx), associated(values)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx), is_packed(values)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, PURLIN_CF64, &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I64, c_loc(row_ptr), PURLIN_I64, &
      c_loc(col_idx), c_loc(values), index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  !> A pattern, whose entries are all 1, of type `dtype`: PURLIN_F64 unless given.
  subroutine csr_i32_pattern(self, context, cols, row_ptr, col_idx, index_base, copied, dtype, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int32_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    integer(c_int32_t), intent(in), optional :: index_base, dtype
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(col_idx, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, either(dtype, PURLIN_F64), &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I32, c_loc(row_ptr), PURLIN_I32, &
      c_loc(col_idx), c_null_ptr, index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine csr_i64_pattern(self, context, cols, row_ptr, col_idx, index_base, copied, dtype, stat, errmsg)
    class(purlin_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cols
    integer(c_int64_t), pointer, intent(in) :: row_ptr(:), col_idx(:)
    integer(c_int32_t), intent(in), optional :: index_base, dtype
    logical, intent(in), optional :: copied
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_associated(o, [associated(row_ptr), associated(col_idx)])
    if (o%status == PURLIN_SUCCESS) call check_csr(o, [is_packed(row_ptr), is_packed(col_idx)], &
      size(row_ptr, kind=c_int64_t), size(col_idx, kind=c_int64_t), size(col_idx, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call self%csr_address(context, either(dtype, PURLIN_F64), &
      size(row_ptr, kind=c_int64_t) - 1, cols, size(col_idx, kind=c_int64_t), PURLIN_I64, c_loc(row_ptr), PURLIN_I64, &
      c_loc(col_idx), c_null_ptr, index_base, copied, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  !> Refuses pointers that the program has not associated. Checks of compilers stop a program that asks such a pointer for its
  !> size or address.
  subroutine expect_associated(o, found)
    type(outcome), intent(inout) :: o
    !> Of row_ptr, col_idx and, unless the matrix is a pattern, values.
    logical, intent(in) :: found(:)
    integer :: k
    do k = 1, size(found)
      if (.not. found(k)) call refuse(o, trim(csr_names(k)) // ': is not associated')
    end do
  end subroutine

  subroutine check_csr(o, packed, pointers, indices, entries)
    type(outcome), intent(inout) :: o
    !> Of row_ptr, col_idx and, unless the matrix is a pattern, values.
    logical, intent(in) :: packed(:)
    integer(c_int64_t), intent(in) :: pointers, indices, entries
    integer :: k
    do k = 1, size(packed)
      if (.not. packed(k)) call refuse(o, trim(csr_names(k)) // ': is not contiguous')
    end do
    if (pointers < 1) call refuse(o, 'row_ptr: is empty, expected rows + 1 elements')
    call expect_as_many(o, 'values', entries, 'col_idx', indices)
  end subroutine

  !> The handle of a matrix that may be left out.
  pure function matrix_key(matrix) result(key)
    type(purlin_matrix), intent(in), optional :: matrix
    type(c_ptr) :: key
    key = c_null_ptr
    if (present(matrix)) key = matrix%handle()
  end function

  include 'integers/matrices.inc'
end module purlin_matrices
