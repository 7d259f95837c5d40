!> Eigenpairs of symmetric and Hermitian matrices and of operators of graphs, and singular triplets, by Lanczos' method. After
!> PURLIN_ERROR_NO_CONVERGENCE the first info%count of the outputs hold what was found.
module purlin_lanczos_module
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
  public :: purlin_lanczos_solve, purlin_lanczos_partition, purlin_lanczos_singular, purlin_lanczos_tridiagonalise, &
    purlin_lanczos_filter, purlin_tridiagonal_eigenvalues

  !> size(values) eigenpairs, whatever options%count says. Eigenvectors are a matrix object, or the columns of an array of
  !> A's type, sections with contiguous columns in place.
  interface purlin_lanczos_solve
    module procedure solve_objects, solve_r32, solve_r64, solve_c32, solve_c64
  end interface

  !> size(values) singular triplets, the largest or with options%which the smallest, whatever options%count says. Vectors
  !> are matrix objects, or the columns of arrays of A's type.
  interface purlin_lanczos_singular
    module procedure singular_objects, singular_r32, singular_r64, singular_c32, singular_c64
  end interface

  include 'integers/lanczos_generic.inc'

contains

  !> Without a place for eigenvectors the values alone. `start` is the start vector, `known` has vectors to keep out of the
  !> search, `solve` with PURLIN_LANCZOS_NEAREST solves (A - sigma I) x = b.
  subroutine solve_objects(context, a, values, residuals, options, info, start, known, solve, places, stream, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(inout), contiguous, target :: values(:)
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix), intent(in), optional :: known, solve
    type(purlin_matrix), intent(inout), optional :: places
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_lanczos_options) :: settings
    type(purlin_tensor) :: found, left
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(settings)
    if (present(options)) settings = options
    settings%count = size(values, kind=c_int64_t)
    if (present(info)) call purlin_init(info)
    call found%borrow(context, values, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS .and. present(residuals)) call left%borrow(context, residuals, stat=o%status, &
      errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_lanczos_solve(a%handle(), stream_key(stream), settings, &
      tensor_key(start), matrix_key(known), matrix_key(solve), found%handle(), matrix_key(places), left%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine solve_r32(context, a, values, vectors, residuals, options, info, start, known, solve, stream, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(inout), contiguous, target :: values(:)
    real(c_float), intent(inout), target :: vectors(:, :)
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix), intent(in), optional :: known, solve
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_matrix) :: places
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call places%borrow(context, vectors, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call solve_objects(context, a, values, residuals, options, info, start, known, &
      solve, places, stream, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine solve_r64(context, a, values, vectors, residuals, options, info, start, known, solve, stream, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(inout), contiguous, target :: values(:)
    real(c_double), intent(inout), target :: vectors(:, :)
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix), intent(in), optional :: known, solve
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_matrix) :: places
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call places%borrow(context, vectors, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call solve_objects(context, a, values, residuals, options, info, start, known, &
      solve, places, stream, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine solve_c32(context, a, values, vectors, residuals, options, info, start, known, solve, stream, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(inout), contiguous, target :: values(:)
    complex(c_float_complex), intent(inout), target :: vectors(:, :)
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix), intent(in), optional :: known, solve
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_matrix) :: places
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call places%borrow(context, vectors, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call solve_objects(context, a, values, residuals, options, info, start, known, &
      solve, places, stream, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine solve_c64(context, a, values, vectors, residuals, options, info, start, known, solve, stream, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(inout), contiguous, target :: values(:)
    complex(c_double_complex), intent(inout), target :: vectors(:, :)
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix), intent(in), optional :: known, solve
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_matrix) :: places
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call places%borrow(context, vectors, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call solve_objects(context, a, values, residuals, options, info, start, known, &
      solve, places, stream, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  !> How the rows of A would be shared out over its context and options%contexts, without a solve: `contexts`, `part_rows`,
  !> `part_entries`, `halo`, `halo_bytes` and `product_bytes` of the report.
  subroutine purlin_lanczos_partition(a, info, options, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    type(purlin_lanczos_info), intent(inout) :: info
    type(purlin_lanczos_options), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_lanczos_partition(a%handle(), options, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Without places for singular vectors the values alone. `start` is a start vector of min(rows, cols) elements of A's type: a
  !> right singular vector if cols <= rows, else a left one.
  subroutine singular_objects(context, a, values, u, v, residuals, options, info, stream, stat, errmsg, start)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(inout), contiguous, target :: values(:)
    type(purlin_matrix), intent(inout), optional :: u, v
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_lanczos_options) :: settings
    type(purlin_tensor) :: found, left
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(settings)
    if (present(options)) settings = options
    settings%count = size(values, kind=c_int64_t)
    if (present(start)) settings%start = start%handle()
    if (present(info)) call purlin_init(info)
    call found%borrow(context, values, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS .and. present(residuals)) call left%borrow(context, residuals, stat=o%status, &
      errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_lanczos_singular(a%handle(), stream_key(stream), settings, &
      matrix_key(u), found%handle(), matrix_key(v), left%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine singular_r32(context, a, u, values, v, residuals, options, info, stream, stat, errmsg, start)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_float), intent(inout), target :: u(:, :), v(:, :)
    real(c_double), intent(inout), contiguous, target :: values(:)
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix) :: left, right
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call left%borrow(context, u, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call singular_objects(context, a, values, left, right, residuals, options, info, &
      stream, o%status, o%message, start)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine singular_r64(context, a, u, values, v, residuals, options, info, stream, stat, errmsg, start)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(inout), target :: u(:, :), v(:, :)
    real(c_double), intent(inout), contiguous, target :: values(:)
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix) :: left, right
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call left%borrow(context, u, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call singular_objects(context, a, values, left, right, residuals, options, info, &
      stream, o%status, o%message, start)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine singular_c32(context, a, u, values, v, residuals, options, info, stream, stat, errmsg, start)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    complex(c_float_complex), intent(inout), target :: u(:, :), v(:, :)
    real(c_double), intent(inout), contiguous, target :: values(:)
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix) :: left, right
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call left%borrow(context, u, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call singular_objects(context, a, values, left, right, residuals, options, info, &
      stream, o%status, o%message, start)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine singular_c64(context, a, u, values, v, residuals, options, info, stream, stat, errmsg, start)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    complex(c_double_complex), intent(inout), target :: u(:, :), v(:, :)
    real(c_double), intent(inout), contiguous, target :: values(:)
    real(c_double), intent(inout), contiguous, target, optional :: residuals(:)
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix) :: left, right
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call left%borrow(context, u, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call singular_objects(context, a, values, left, right, residuals, options, info, &
      stream, o%status, o%message, start)
    call finish(o, stat, errmsg)
  end subroutine

  !> At most size(alpha) steps of the plain recurrence; `count` of them were made.
  subroutine purlin_lanczos_tridiagonalise(a, alpha, beta, count, options, start, stream, stat, errmsg)
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(inout), contiguous, target :: alpha(:), beta(:)
    integer(c_int64_t), intent(inout) :: count
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (size(beta) /= size(alpha)) call refuse(o, 'beta: not as many as alpha')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_lanczos_tridiagonalise(a%handle(), stream_key(stream), options, &
      size(alpha, kind=c_int64_t), tensor_key(start), c_loc(alpha), c_loc(beta), count))
    call finish(o, stat, errmsg)
  end subroutine

  !> The eigenvalues of A among those of a recurrence, by the test of Cullum and Willoughby: the first `count` of
  !> `accepted`, which is as long as alpha; ascending.
  subroutine purlin_lanczos_filter(alpha, beta, accepted, count, cluster, converged, stat, errmsg)
    real(c_double), intent(in), contiguous, target :: alpha(:), beta(:)
    type(purlin_lanczos_accepted), intent(inout), contiguous, target :: accepted(:)
    integer(c_int64_t), intent(inout) :: count
    real(c_double), intent(in), optional :: cluster, converged
    real(c_double) :: tolerance(2)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    tolerance = [1e-12_c_double, 1e-6_c_double]
    if (present(cluster)) tolerance(1) = cluster
    if (present(converged)) tolerance(2) = converged
    if (size(beta) /= size(alpha)) call refuse(o, 'beta: not as many as alpha')
    if (size(accepted) < size(alpha)) call refuse(o, 'accepted: has less room than alpha')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_lanczos_filter(size(alpha, kind=c_int64_t), c_loc(alpha), &
      c_loc(beta), tolerance(1), tolerance(2), c_loc(accepted), count))
    call finish(o, stat, errmsg)
  end subroutine

  !> Eigenvalues of a tridiagonal matrix, ascending, and first and last components of its eigenvectors of norm 1.
  subroutine purlin_tridiagonal_eigenvalues(diagonal, off, values, first, last, stat, errmsg)
    real(c_double), intent(in), contiguous, target :: diagonal(:), off(:)
    real(c_double), intent(inout), contiguous, target :: values(:)
    real(c_double), intent(inout), contiguous, target, optional :: first(:), last(:)
    type(c_ptr) :: ends(2)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    ends = c_null_ptr
    if (size(off) < size(diagonal) - 1) call refuse(o, 'off: one less than diagonal is needed')
    if (size(values) /= size(diagonal)) call refuse(o, 'values: not as many as diagonal')
    if (present(first)) then
      if (size(first) /= size(diagonal)) call refuse(o, 'first: not as many as diagonal')
      ends(1) = c_loc(first)
    end if
    if (present(last)) then
      if (size(last) /= size(diagonal)) call refuse(o, 'last: not as many as diagonal')
      ends(2) = c_loc(last)
    end if
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tridiagonal_eigenvalues(size(diagonal, kind=c_int64_t), &
      c_loc(diagonal), c_loc(off), c_loc(values), ends(1), ends(2)))
    call finish(o, stat, errmsg)
  end subroutine

  include 'integers/lanczos.inc'
end module purlin_lanczos_module
