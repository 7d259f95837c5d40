!> Sparse matrices from arrays: coordinates, compressed columns, new values. Rows and columns count from 1 unless
!> `index_base` says 0.
module purlin_sparse_arrays
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_float, c_double, c_float_complex, &
    c_double_complex, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c_spectra
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  use purlin_matrices
  implicit none
  private
  public :: purlin_from_coordinates, purlin_from_columns, purlin_set_values

  !> Entries in any order: rows and columns of 32 or 64 bits, and values of any of the four types. `duplicates` is one of
  !> PURLIN_DUPLICATES_*; several entries at one place are added unless it says otherwise. Without `values` a pattern, whose
  !> entries are all 1, of type `dtype`: PURLIN_F64 unless given.
  interface purlin_from_coordinates
    module procedure &
      coordinates_i32_r32, coordinates_i32_r64, coordinates_i32_c32, coordinates_i32_c64, coordinates_i32_pattern, &
      coordinates_i64_r32, coordinates_i64_r64, coordinates_i64_c32, coordinates_i64_c64, coordinates_i64_pattern
  end interface

  !> Compressed sparse columns, likewise; of a symmetric matrix they are its rows, which purlin_matrix%csr takes in place.
  interface purlin_from_columns
    module procedure &
      columns_i32_r32, columns_i32_r64, columns_i32_c32, columns_i32_c64, columns_i32_pattern, &
      columns_i64_r32, columns_i64_r64, columns_i64_c32, columns_i64_c64, columns_i64_pattern
  end interface

  !> New values for a matrix in memory of the library's own.
  interface purlin_set_values
    module procedure set_objects, set_r32, set_r64, set_c32, set_c64
  end interface

  include 'integers/sparse_arrays_generic.inc'

contains

  pure function either(given, default) result(choice)
    integer(c_int32_t), intent(in), optional :: given
    integer(c_int32_t), intent(in) :: default
    integer(c_int32_t) :: choice
    choice = default
    if (present(given)) choice = given
  end function

  subroutine from_coordinates(context, matrix, dtype, rows, cols, counts, index_type, row_idx, col_idx, values, duplicates, &
    index_base, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int32_t), intent(in) :: dtype, index_type
    integer(c_int64_t), intent(in) :: rows, cols, counts(3)
    type(c_ptr), intent(in) :: row_idx, col_idx, values
    integer(c_int32_t), intent(in), optional :: duplicates, index_base
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    call expect_as_many(o, 'col_idx', counts(2), 'row_idx', counts(1))
    call expect_as_many(o, 'values', counts(3), 'row_idx', counts(1))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_from_coordinates(context%handle(), dtype, &
      either(index_base, 1_c_int32_t), rows, cols, counts(1), index_type, row_idx, col_idx, values, &
      either(duplicates, PURLIN_DUPLICATES_SUM), made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine coordinates_i32_r32(context, matrix, rows, cols, row_idx, col_idx, values, duplicates, index_base, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    real(c_float), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, PURLIN_F32, rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I32, c_loc(row_idx), c_loc(col_idx), &
      c_loc(values), duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine coordinates_i32_r64(context, matrix, rows, cols, row_idx, col_idx, values, duplicates, index_base, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    real(c_double), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, PURLIN_F64, rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I32, c_loc(row_idx), c_loc(col_idx), &
      c_loc(values), duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine coordinates_i32_c32(context, matrix, rows, cols, row_idx, col_idx, values, duplicates, index_base, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    complex(c_float_complex), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, PURLIN_CF32, rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I32, c_loc(row_idx), c_loc(col_idx), &
      c_loc(values), duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine coordinates_i32_c64(context, matrix, rows, cols, row_idx, col_idx, values, duplicates, index_base, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    complex(c_double_complex), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, PURLIN_CF64, rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I32, c_loc(row_idx), c_loc(col_idx), &
      c_loc(values), duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine coordinates_i32_pattern(context, matrix, rows, cols, row_idx, col_idx, duplicates, index_base, dtype, &
    stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int32_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base, dtype
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, either(dtype, PURLIN_F64), rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(row_idx, kind=c_int64_t)], PURLIN_I32, c_loc(row_idx), c_loc(col_idx), &
      c_null_ptr, duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine coordinates_i64_r32(context, matrix, rows, cols, row_idx, col_idx, values, duplicates, index_base, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int64_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    real(c_float), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, PURLIN_F32, rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I64, c_loc(row_idx), c_loc(col_idx), &
      c_loc(values), duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine coordinates_i64_r64(context, matrix, rows, cols, row_idx, col_idx, values, duplicates, index_base, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int64_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    real(c_double), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, PURLIN_F64, rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I64, c_loc(row_idx), c_loc(col_idx), &
      c_loc(values), duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine coordinates_i64_c32(context, matrix, rows, cols, row_idx, col_idx, values, duplicates, index_base, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int64_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    complex(c_float_complex), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, PURLIN_CF32, rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I64, c_loc(row_idx), c_loc(col_idx), &
      c_loc(values), duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine coordinates_i64_c64(context, matrix, rows, cols, row_idx, col_idx, values, duplicates, index_base, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int64_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    complex(c_double_complex), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, PURLIN_CF64, rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I64, c_loc(row_idx), c_loc(col_idx), &
      c_loc(values), duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine coordinates_i64_pattern(context, matrix, rows, cols, row_idx, col_idx, duplicates, index_base, dtype, &
    stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int64_t), intent(in), contiguous, target :: row_idx(:), col_idx(:)
    integer(c_int32_t), intent(in), optional :: duplicates, index_base, dtype
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_coordinates(context, matrix, either(dtype, PURLIN_F64), rows, cols, [size(row_idx, kind=c_int64_t), &
      size(col_idx, kind=c_int64_t), size(row_idx, kind=c_int64_t)], PURLIN_I64, c_loc(row_idx), c_loc(col_idx), &
      c_null_ptr, duplicates, index_base, stat, errmsg)
  end subroutine

  subroutine from_columns(context, matrix, dtype, rows, counts, index_type, col_ptr, row_idx, values, index_base, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int32_t), intent(in) :: dtype, index_type
    integer(c_int64_t), intent(in) :: rows, counts(3)
    type(c_ptr), intent(in) :: col_ptr, row_idx, values
    integer(c_int32_t), intent(in), optional :: index_base
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    if (counts(1) < 1) call refuse(o, 'col_ptr: is empty, expected cols + 1 elements')
    call expect_as_many(o, 'values', counts(3), 'row_idx', counts(2))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_from_columns(context%handle(), dtype, &
      either(index_base, 1_c_int32_t), rows, counts(1) - 1, counts(2), index_type, col_ptr, index_type, row_idx, values, made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine columns_i32_r32(context, matrix, rows, col_ptr, row_idx, values, index_base, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int32_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    real(c_float), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, PURLIN_F32, rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I32, c_loc(col_ptr), c_loc(row_idx), &
      c_loc(values), index_base, stat, errmsg)
  end subroutine

  subroutine columns_i32_r64(context, matrix, rows, col_ptr, row_idx, values, index_base, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int32_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    real(c_double), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, PURLIN_F64, rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I32, c_loc(col_ptr), c_loc(row_idx), &
      c_loc(values), index_base, stat, errmsg)
  end subroutine

  subroutine columns_i32_c32(context, matrix, rows, col_ptr, row_idx, values, index_base, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int32_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    complex(c_float_complex), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, PURLIN_CF32, rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I32, c_loc(col_ptr), c_loc(row_idx), &
      c_loc(values), index_base, stat, errmsg)
  end subroutine

  subroutine columns_i32_c64(context, matrix, rows, col_ptr, row_idx, values, index_base, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int32_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    complex(c_double_complex), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, PURLIN_CF64, rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I32, c_loc(col_ptr), c_loc(row_idx), &
      c_loc(values), index_base, stat, errmsg)
  end subroutine

  subroutine columns_i32_pattern(context, matrix, rows, col_ptr, row_idx, index_base, dtype, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int32_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    integer(c_int32_t), intent(in), optional :: index_base, dtype
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, either(dtype, PURLIN_F64), rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(row_idx, kind=c_int64_t)], PURLIN_I32, c_loc(col_ptr), c_loc(row_idx), &
      c_null_ptr, index_base, stat, errmsg)
  end subroutine

  subroutine columns_i64_r32(context, matrix, rows, col_ptr, row_idx, values, index_base, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int64_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    real(c_float), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, PURLIN_F32, rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I64, c_loc(col_ptr), c_loc(row_idx), &
      c_loc(values), index_base, stat, errmsg)
  end subroutine

  subroutine columns_i64_r64(context, matrix, rows, col_ptr, row_idx, values, index_base, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int64_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    real(c_double), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, PURLIN_F64, rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I64, c_loc(col_ptr), c_loc(row_idx), &
      c_loc(values), index_base, stat, errmsg)
  end subroutine

  subroutine columns_i64_c32(context, matrix, rows, col_ptr, row_idx, values, index_base, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int64_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    complex(c_float_complex), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, PURLIN_CF32, rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I64, c_loc(col_ptr), c_loc(row_idx), &
      c_loc(values), index_base, stat, errmsg)
  end subroutine

  subroutine columns_i64_c64(context, matrix, rows, col_ptr, row_idx, values, index_base, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int64_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    complex(c_double_complex), intent(in), contiguous, target :: values(:)
    integer(c_int32_t), intent(in), optional :: index_base
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, PURLIN_CF64, rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(values, kind=c_int64_t)], PURLIN_I64, c_loc(col_ptr), c_loc(row_idx), &
      c_loc(values), index_base, stat, errmsg)
  end subroutine

  subroutine columns_i64_pattern(context, matrix, rows, col_ptr, row_idx, index_base, dtype, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in) :: rows
    integer(c_int64_t), intent(in), contiguous, target :: col_ptr(:), row_idx(:)
    integer(c_int32_t), intent(in), optional :: index_base, dtype
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call from_columns(context, matrix, either(dtype, PURLIN_F64), rows, [size(col_ptr, kind=c_int64_t), &
      size(row_idx, kind=c_int64_t), size(row_idx, kind=c_int64_t)], PURLIN_I64, c_loc(col_ptr), c_loc(row_idx), &
      c_null_ptr, index_base, stat, errmsg)
  end subroutine

  subroutine set_objects(matrix, values, stat, errmsg)
    type(purlin_matrix), intent(inout) :: matrix
    type(purlin_tensor), intent(in) :: values
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_matrix_set_values(matrix%handle(), values%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine set_r32(context, matrix, values, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    real(c_float), intent(in), contiguous, target :: values(:)
    type(purlin_tensor) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, values, flags=PURLIN_READ_ONLY, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call set_objects(matrix, given, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine set_r64(context, matrix, values, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    real(c_double), intent(in), contiguous, target :: values(:)
    type(purlin_tensor) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, values, flags=PURLIN_READ_ONLY, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call set_objects(matrix, given, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine set_c32(context, matrix, values, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    complex(c_float_complex), intent(in), contiguous, target :: values(:)
    type(purlin_tensor) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, values, flags=PURLIN_READ_ONLY, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call set_objects(matrix, given, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine set_c64(context, matrix, values, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    complex(c_double_complex), intent(in), contiguous, target :: values(:)
    type(purlin_tensor) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, values, flags=PURLIN_READ_ONLY, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call set_objects(matrix, given, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  include 'integers/sparse_arrays.inc'
end module purlin_sparse_arrays
