!> Sparse matrices: turned, cut, made symmetric; measured; read and written. Rows and columns count from 1.
module purlin_sparse_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_null_char, c_loc, c_double, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c_spectra
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  use purlin_matrices
  implicit none
  private
  public :: purlin_from_dense, purlin_to_dense, purlin_canonical, purlin_drop_zeros, purlin_copy_to, purlin_pattern, &
    purlin_transpose, purlin_symmetrize, purlin_permute, purlin_select, purlin_scale, purlin_read_market, &
    purlin_write_market, purlin_read_edges, purlin_write_edges, purlin_norm, purlin_check, purlin_is_symmetric, &
    purlin_row_sums, purlin_diagonal, purlin_order

  include 'integers/sparse_generic.inc'

contains

  pure function either(given, default) result(choice)
    integer(c_int32_t), intent(in), optional :: given
    integer(c_int32_t), intent(in) :: default
    integer(c_int32_t) :: choice
    choice = default
    if (present(given)) choice = given
  end function

  pure function yes(flag) result(number)
    logical, intent(in), optional :: flag
    integer(c_int32_t) :: number
    number = 0
    if (present(flag)) number = merge(1_c_int32_t, 0_c_int32_t, flag)
  end function

  !> The entries of a dense matrix whose modulus is over `threshold`.
  subroutine purlin_from_dense(a, matrix, threshold, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    real(c_double), intent(in) :: threshold
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    call absorb(o, c_matrix_from_dense(a%handle(), threshold, made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> Every entry, into a dense matrix of the same size and type.
  subroutine purlin_to_dense(a, out, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: out
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_matrix_to_dense(a%handle(), out%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Columns ascending in each row, every place once.
  subroutine purlin_canonical(a, matrix, duplicates, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int32_t), intent(in), optional :: duplicates
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    call absorb(o, c_matrix_canonical(a%handle(), either(duplicates, PURLIN_DUPLICATES_SUM), made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> Without the entries whose modulus is at most `threshold`: the stored zeros alone unless given. NaN stays.
  subroutine purlin_drop_zeros(a, matrix, threshold, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    real(c_double), intent(in), optional :: threshold
    real(c_double) :: limit
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    limit = 0
    if (present(threshold)) limit = threshold
    call absorb(o, c_matrix_drop_zeros(a%handle(), limit, made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> A copy in memory of the library's own: `place` is PURLIN_HOST, or PURLIN_DEVICE in a context on a GPU.
  subroutine purlin_copy_to(a, matrix, place, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int32_t), intent(in) :: place
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    call absorb(o, c_matrix_copy_to(a%handle(), place, made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> The places of the entries, without values: every entry is 1.
  subroutine purlin_pattern(a, matrix, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    call absorb(o, c_matrix_pattern(a%handle(), made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> The transpose, with `conjugate` the conjugate one.
  subroutine purlin_transpose(a, matrix, conjugate, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    logical, intent(in), optional :: conjugate
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    call absorb(o, c_matrix_transpose(a%handle(), yes(conjugate), made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> A symmetric matrix from a square one; `rule` is one of PURLIN_SYMMETRIZE_*.
  subroutine purlin_symmetrize(a, matrix, rule, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int32_t), intent(in) :: rule
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    call absorb(o, c_matrix_symmetrize(a%handle(), rule, made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> Row i of the result is row rows(i), column j column cols(j); without a list the order stays.
  subroutine purlin_permute(a, matrix, rows, cols, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in), optional :: rows(:), cols(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(purlin_matrix_info) :: info
    type(outcome) :: o
    call a%properties(info, o%status, o%message)
    if (o%status == PURLIN_SUCCESS .and. present(rows)) then
      if (size(rows) /= info%rows) call refuse(o, 'rows: not as many as the matrix has')
    end if
    if (o%status == PURLIN_SUCCESS .and. present(cols)) then
      if (size(cols) /= info%cols) call refuse(o, 'cols: not as many as the matrix has')
    end if
    if (o%status == PURLIN_SUCCESS) call purlin_select(a, matrix, rows, cols, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  !> Rows and columns multiplied by numbers of the matrix's type; without a list the factors are 1. Every entry has a
  !> value then.
  subroutine purlin_scale(a, matrix, rows, cols, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    type(purlin_tensor), intent(in), optional :: rows, cols
    type(c_ptr) :: made, of_rows, of_cols
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    of_rows = c_null_ptr
    of_cols = c_null_ptr
    if (present(rows)) of_rows = rows%handle()
    if (present(cols)) of_cols = cols%handle()
    call absorb(o, c_matrix_scale(a%handle(), of_rows, of_cols, made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> The rows and columns listed, in that order; without a list all stay.
  subroutine purlin_select(a, matrix, rows, cols, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t), intent(in), optional :: rows(:), cols(:)
    integer(c_int64_t), allocatable, target :: i(:), j(:)
    type(c_ptr) :: made, at_rows, at_cols
    integer(c_int64_t) :: row_count, col_count
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(purlin_matrix_info) :: info
    type(outcome) :: o
    made = c_null_ptr
    at_rows = c_null_ptr
    at_cols = c_null_ptr
    row_count = 0
    col_count = 0
    call a%properties(info, o%status, o%message)
    if (present(rows)) call require_within(o, 'rows', rows, info%rows)
    if (present(cols)) call require_within(o, 'cols', cols, info%cols)
    if (present(rows)) then
      row_count = size(rows, kind=c_int64_t)
      allocate (i(max(row_count, 1_c_int64_t)))
      i(:row_count) = rows - 1
      at_rows = c_loc(i)
    end if
    if (present(cols)) then
      col_count = size(cols, kind=c_int64_t)
      allocate (j(max(col_count, 1_c_int64_t)))
      j(:col_count) = cols - 1
      at_cols = c_loc(j)
    end if
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_select(a%handle(), row_count, at_rows, col_count, at_cols, &
      made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> Refuses an index outside 1 to `most`: the library's own message would count from 0.
  subroutine require_within(o, name, list, most)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: list(:), most
    character(100) :: text
    integer(c_int64_t) :: i
    do i = 1, size(list, kind=c_int64_t)
      if (list(i) >= 1 .and. list(i) <= most) cycle
      write (text, '(a, i0, a, i0, a, i0)') ': element ', i, ' is ', list(i), ', outside 1 to ', most
      call refuse(o, name//trim(text))
      return
    end do
  end subroutine

  !> A Matrix Market file, plain or compressed by gzip.
  subroutine purlin_read_market(context, matrix, path, dtype, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    character(*), intent(in) :: path
    integer(c_int32_t), intent(in), optional :: dtype
    character(:), allocatable, target :: name
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    name = trim(path) // c_null_char
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_read_market(context%handle(), c_loc(name), &
      either(dtype, PURLIN_DTYPE_OF_FILE), made))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> An edge list as a directed graph. With `vertices` they are numbered as they first come, and it takes the number in the
  !> file of each, as a tensor of PURLIN_I64.
  subroutine purlin_read_edges(context, matrix, path, weighted, duplicates, dtype, vertices, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(inout) :: matrix
    character(*), intent(in) :: path
    logical, intent(in), optional :: weighted
    integer(c_int32_t), intent(in), optional :: duplicates, dtype
    type(purlin_tensor), intent(inout), optional :: vertices
    character(:), allocatable, target :: name
    type(c_ptr) :: made
    type(c_ptr), target :: names
    type(c_ptr) :: place
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    names = c_null_ptr
    place = c_null_ptr
    if (present(vertices)) place = c_loc(names)
    name = trim(path) // c_null_char
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_read_edges(context%handle(), c_loc(name), &
      either(dtype, PURLIN_F64), yes(weighted), either(duplicates, PURLIN_DUPLICATES_FIRST), made, place))
    if (o%status == PURLIN_SUCCESS) call matrix%adopt(made)
    if (o%status == PURLIN_SUCCESS .and. present(vertices)) call vertices%adopt(names)
    call finish(o, stat, errmsg)
  end subroutine

  !> A Matrix Market file, with `symmetric` of the lower triangle alone; by gzip if its name ends in .gz.
  subroutine purlin_write_market(a, path, symmetric, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    character(*), intent(in) :: path
    logical, intent(in), optional :: symmetric
    character(:), allocatable, target :: name
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    name = trim(path) // c_null_char
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_write_market(a%handle(), c_loc(name), yes(symmetric)))
    call finish(o, stat, errmsg)
  end subroutine

  !> The entries as edges, vertices from 0, with `symmetric` each edge once; by gzip if the name ends in .gz.
  subroutine purlin_write_edges(a, path, symmetric, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    character(*), intent(in) :: path
    logical, intent(in), optional :: symmetric
    character(:), allocatable, target :: name
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    name = trim(path) // c_null_char
    call refuse_null(o, path)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_write_edges(a%handle(), c_loc(name), yes(symmetric)))
    call finish(o, stat, errmsg)
  end subroutine

  !> A norm in double precision: PURLIN_NORM_FROBENIUS, ONE, MAX or INFINITY.
  subroutine purlin_norm(a, kind, norm, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    integer(c_int32_t), intent(in) :: kind
    real(c_double), intent(inout) :: norm
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_matrix_norm(a%handle(), kind, norm))
    call finish(o, stat, errmsg)
  end subroutine

  !> Fails, naming row, column and entry, unless A is as PURLIN_CHECK_* ask for; without `checks` as all of them do.
  subroutine purlin_check(a, checks, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    integer(c_int32_t), intent(in), optional :: checks
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_matrix_check(a%handle(), either(checks, PURLIN_CHECK_FULL)))
    call finish(o, stat, errmsg)
  end subroutine

  !> Whether A = A^H, within `tolerance` times the largest modulus.
  subroutine purlin_is_symmetric(a, symmetric, tolerance, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    logical, intent(inout) :: symmetric
    real(c_double), intent(in), optional :: tolerance
    real(c_double) :: limit
    integer(c_int32_t) :: answer
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    limit = 0
    if (present(tolerance)) limit = tolerance
    answer = 0
    call absorb(o, c_matrix_is_symmetric(a%handle(), limit, answer))
    if (o%status == PURLIN_SUCCESS) symmetric = answer /= 0
    call finish(o, stat, errmsg)
  end subroutine

  !> Sums of the rows, into a vector of A's type.
  subroutine purlin_row_sums(a, sums, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_tensor), intent(inout) :: sums
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_matrix_row_sums(a%handle(), sums%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> The diagonal, into a vector of A's type.
  subroutine purlin_diagonal(a, diagonal, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_tensor), intent(inout) :: diagonal
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_matrix_diagonal(a%handle(), diagonal%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> An order of the vertices, from 1, that brings together the entries that products gather: PURLIN_ORDERING_DEGREE or
  !> CUTHILL_MCKEE. purlin_permute with it for rows and columns has it.
  subroutine purlin_order(context, a, method, order, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    integer(c_int32_t), intent(in) :: method
    integer(c_int64_t), intent(inout), contiguous, target :: order(:)
    type(purlin_tensor) :: found
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call found%borrow(context, order, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_matrix_order(a%handle(), method, found%handle()))
    if (o%status == PURLIN_SUCCESS) order = order + 1
    call finish(o, stat, errmsg)
  end subroutine

  include 'integers/sparse.inc'
end module purlin_sparse_module
