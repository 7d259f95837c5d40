! Sparse matrices: patterns, wide indices of compressed columns, stored zeros, copies of the library's own.
program test_sparse
  use, intrinsic :: iso_c_binding
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan, ieee_value, ieee_quiet_nan
  use purlin
  use checks
  implicit none

  type(purlin_context) :: context

  call context%create(backend=PURLIN_BACKEND_CPU)
  call patterns()
  call columns()
  call zeros()
  call copies()
  call refusals()
  call context%destroy()
  call check_none_live()

contains

  !> Every entry of a real matrix.
  function entries(a, rows, cols) result(full)
    type(purlin_matrix), intent(in) :: a
    integer, intent(in) :: rows, cols
    real(c_double), target :: full(rows, cols)
    type(purlin_matrix) :: dense
    call dense%borrow(context, full)
    call purlin_to_dense(a, dense)
  end function

  !> Whether a matrix keeps no values, and has this type and so many entries.
  logical function is_pattern(a, dtype, nnz)
    type(purlin_matrix), intent(in) :: a
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: nnz
    type(purlin_matrix_info) :: info
    call a%properties(info)
    is_pattern = info%data == 0 .and. info%dtype == dtype .and. info%nnz == nnz
  end function

  !> Without values every entry is 1, and a duplicate counts once.
  subroutine patterns()
    type(purlin_matrix) :: a
    integer(c_int32_t) :: rows(4), cols(4), stat
    integer(c_int64_t) :: starts(4)
    real(c_double) :: exact(2, 3)
    rows = [2, 1, 2, 2]
    cols = [3, 2, 1, 3]
    exact = reshape([0.0_c_double, 1.0_c_double, 1.0_c_double, 0.0_c_double, 0.0_c_double, 1.0_c_double], [2, 3])
    call purlin_from_coordinates(context, a, 2_c_int64_t, 3_c_int64_t, rows, cols)
    call check(is_pattern(a, PURLIN_F64, 3_c_int64_t), 'a pattern of coordinates')
    call check(all(abs(entries(a, 2, 3) - exact) <= 0), 'whose entries are 1')
    call purlin_from_coordinates(context, a, 2_c_int64_t, 3_c_int64_t, int(rows - 1, c_int64_t), &
      int(cols - 1, c_int64_t), index_base=0_c_int32_t, dtype=PURLIN_CF32)
    call check(is_pattern(a, PURLIN_CF32, 3_c_int64_t), 'with wide indices from 0, of another type')
    call purlin_from_coordinates(context, a, 2_c_int64_t, 3_c_int64_t, rows, cols, PURLIN_DUPLICATES_REFUSE, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'an entry that comes twice')

    starts = [1, 2, 3, 4]
    call purlin_from_columns(context, a, 2_c_int64_t, int(starts, c_int32_t), [2_c_int32_t, 1_c_int32_t, 2_c_int32_t])
    call check(is_pattern(a, PURLIN_F64, 3_c_int64_t), 'a pattern of columns')
    call check(all(abs(entries(a, 2, 3) - exact) <= 0), 'the same one')
    call purlin_from_columns(context, a, 2_c_int64_t, starts - 1, [1_c_int64_t, 0_c_int64_t, 1_c_int64_t], &
      index_base=0_c_int32_t, dtype=PURLIN_F32)
    call check(is_pattern(a, PURLIN_F32, 3_c_int64_t), 'with wide indices from 0')
  end subroutine

  !> Compressed columns with indices of 64 bits, of every type.
  subroutine columns()
    type(purlin_matrix) :: a, dense
    integer(c_int64_t) :: starts(4), rows(3)
    real(c_double) :: values(3), exact(2, 3)
    real(c_float), target :: single(2, 3)
    complex(c_float_complex), target :: single_complex(2, 3)
    complex(c_double_complex), target :: double_complex(2, 3)
    starts = [1, 2, 2, 4]
    rows = [2, 1, 2]
    values = [7, 8, 9]
    exact = 0
    exact(2, 1) = 7
    exact(:, 3) = [8, 9]
    call purlin_from_columns(context, a, 2_c_int64_t, starts, rows, values)
    call check(all(abs(entries(a, 2, 3) - exact) <= 0), 'wide columns')
    call purlin_from_columns(context, a, 2_c_int64_t, starts - 1, rows - 1, values, 0_c_int32_t)
    call check(all(abs(entries(a, 2, 3) - exact) <= 0), 'from 0')
    call purlin_from_columns(context, a, 2_c_int64_t, starts, rows, real(values, c_float))
    call dense%borrow(context, single)
    call purlin_to_dense(a, dense)
    call check(all(abs(single - real(exact, c_float)) <= 0), 'in single precision')
    call purlin_from_columns(context, a, 2_c_int64_t, starts, rows, cmplx(values, -values, c_float_complex))
    call dense%borrow(context, single_complex)
    call purlin_to_dense(a, dense)
    call check(all(abs(single_complex - cmplx(exact, -exact, c_float_complex)) <= 0), 'complex')
    call purlin_from_columns(context, a, 2_c_int64_t, starts, rows, cmplx(values, -values, c_double_complex))
    call dense%borrow(context, double_complex)
    call purlin_to_dense(a, dense)
    call check(all(abs(double_complex - cmplx(exact, -exact, c_double_complex)) <= 0), 'in double precision')
  end subroutine

  subroutine zeros()
    type(purlin_matrix) :: a, b
    type(purlin_matrix_info) :: info
    integer(c_int32_t), target :: row_ptr(3), col_idx(5)
    real(c_double), target :: values(5)
    real(c_double) :: full(2, 3)
    integer(c_int32_t) :: stat
    character(80) :: text
    row_ptr = [1, 4, 6]
    col_idx = [1, 2, 3, 1, 3]
    values = [0.0_c_double, -0.5_c_double, 2.0_c_double, -0.0_c_double, 3.0_c_double]
    call a%csr(context, 3_c_int64_t, row_ptr, col_idx, values)
    call purlin_drop_zeros(a, b)
    call b%properties(info)
    call check(info%nnz == 3 .and. info%rows == 2 .and. info%cols == 3, 'stored zeros go')
    full = entries(a, 2, 3)
    call check(all(abs(entries(b, 2, 3) - full) <= 0), 'and nothing else')
    call purlin_drop_zeros(a, b, 0.5_c_double)
    call b%properties(info)
    full = entries(b, 2, 3)
    call check(info%nnz == 2 .and. abs(full(1, 2)) <= 0 .and. abs(full(1, 3) - 2) <= 0, 'an entry at the threshold is dropped')
    values(1) = ieee_value(values(1), ieee_quiet_nan)
    call purlin_drop_zeros(a, b, 1.0_c_double)
    call b%properties(info)
    full = entries(b, 2, 3)
    call check(info%nnz == 3 .and. ieee_is_nan(full(1, 1)), 'NaN stays')
    call a%csr(context, 3_c_int64_t, row_ptr, col_idx)
    call purlin_drop_zeros(a, b, 0.5_c_double)
    call check(is_pattern(b, PURLIN_F64, 5_c_int64_t), 'entries of a pattern are 1')
    text = ''
    call purlin_drop_zeros(a, b, -1.0_c_double, stat, text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'threshold: ') == 1, 'a threshold below 0')
  end subroutine

  subroutine copies()
    type(purlin_matrix) :: a, b
    type(purlin_matrix_info) :: info
    integer(c_int64_t), target :: row_ptr(3), col_idx(3)
    real(c_double), target :: values(3)
    real(c_double) :: full(2, 3)
    integer(c_int32_t) :: stat
    row_ptr = [1, 3, 4]
    col_idx = [3, 1, 2]
    values = [1, 2, 3]
    call a%csr(context, 3_c_int64_t, row_ptr, col_idx, values)
    call purlin_copy_to(a, b, PURLIN_HOST)
    values = 9
    call b%properties(info)
    full = entries(b, 2, 3)
    call check(info%location == PURLIN_HOST .and. info%owned == 1 .and. info%nnz == 3, 'a copy')
    call check(abs(full(1, 3) - 1) <= 0 .and. abs(full(1, 1) - 2) <= 0 .and. abs(full(2, 2) - 3) <= 0, 'has its values')
    call purlin_set_values(context, b, [4.0_c_double, 5.0_c_double, 6.0_c_double])
    full = entries(b, 2, 3)
    call check(abs(sum(full) - 15) <= 0, 'and takes others')
    call purlin_copy_to(a, b, PURLIN_DEVICE, stat)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED, 'there is no device')
    call purlin_copy_to(a, b, 7_c_int32_t, stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'an unknown place')
  end subroutine

  subroutine refusals()
    type(purlin_matrix) :: a
    integer(c_int64_t) :: none(0)
    integer(c_int32_t) :: stat
    character(80) :: text
    call purlin_from_coordinates(context, a, 2_c_int64_t, 2_c_int64_t, [1_c_int32_t], [1_c_int32_t, 2_c_int32_t], &
      stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'col_idx: has 2 elements, row_idx has 1', 'too many columns')
    call purlin_from_columns(context, a, 2_c_int64_t, none, [1_c_int64_t], stat=stat, errmsg=text)
    call check(index(text, 'col_ptr: is empty') == 1, 'no columns')
    call purlin_from_columns(context, a, 2_c_int64_t, [1_c_int64_t, 2_c_int64_t], [1_c_int64_t], &
      [1.0_c_double, 2.0_c_double], stat=stat, errmsg=text)
    call check(text == 'values: has 2 elements, row_idx has 1', 'too many values')
    call purlin_from_columns(context, a, 2_c_int64_t, [1_c_int64_t, 2_c_int64_t], [3_c_int64_t], stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'row_idx: ') == 1, 'a row outside')
    ! Positions in the list count from 1, as do its indices.
    call purlin_from_coordinates(context, a, 3_c_int64_t, 3_c_int64_t, [1_c_int32_t, 9_c_int32_t], &
      [1_c_int32_t, 2_c_int32_t], stat=stat, errmsg=text)
    call check(text == 'row_idx: element 2 is 9, outside 1 to 3', text)
  end subroutine
end program test_sparse
