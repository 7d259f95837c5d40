!> Eigenpairs of symmetric and Hermitian matrices and of operators of graphs, and singular triplets, by Lanczos' method.
!> After PURLIN_ERROR_NO_CONVERGENCE the first info%count of the outputs hold the pairs found.
module purlin_lanczos_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_associated, c_float, c_double, c_float_complex, &
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
  public :: purlin_lanczos, purlin_lanczos_solve_once, purlin_lanczos_singular_once, purlin_lanczos_cullum_willoughby, &
    purlin_tridiagonal_eigenvalues

  !> Options on a context, for matrices of any size.
  type :: purlin_lanczos
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: create => lanczos_create
    procedure :: plan => lanczos_plan
    procedure :: plan_singular => lanczos_plan_singular
    procedure :: solve => lanczos_solve
    procedure :: singular => lanczos_singular
    procedure :: cancel => lanczos_cancel
    procedure :: last_info => lanczos_last_info
    procedure, private :: lanczos_tridiagonalize
    generic :: tridiagonalize => lanczos_tridiagonalize
    include 'generated/object_lanczos_bound.inc'
    include 'integers/lanczos_bound.inc'
  end type

  !> size(values) eigenpairs, whatever options%count says. Eigenvectors are a matrix object, or the columns of an array of
  !> A's type, sections with contiguous columns in place.
  interface purlin_lanczos_solve_once
    module procedure solve_objects, solve_r32, solve_r64, solve_c32, solve_c64
  end interface

  !> size(values) singular triplets, the largest or with options%which the smallest, whatever options%count says. Vectors
  !> are matrix objects, or the columns of arrays of A's type.
  interface purlin_lanczos_singular_once
    module procedure singular_objects, singular_r32, singular_r64, singular_c32, singular_c64
  end interface

  include 'integers/lanczos_generic.inc'

contains

  subroutine lanczos_create(self, context, options, stat, errmsg)
    class(purlin_lanczos), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_lanczos_options), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_lanczos(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_lanczos_create(context%handle(), options, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The plan of a solve of `a`: method, vectors of the space, memory, and how the rows of a square sparse matrix are
  !> distributed over the contexts. It fails as the solve would for its options and inputs.
  subroutine lanczos_plan(self, a, info, known, solve, stat, errmsg)
    class(purlin_lanczos), intent(in) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_lanczos_info), intent(inout) :: info
    type(purlin_matrix), intent(in), optional :: known, solve
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_lanczos_plan(self%key, a%handle(), matrix_key(known), matrix_key(solve), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> The plan of singular for `a`: method, vectors of the space, memory. It fails as singular would for its options and the
  !> matrix.
  subroutine lanczos_plan_singular(self, a, info, stat, errmsg)
    class(purlin_lanczos), intent(in) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_lanczos_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_lanczos_plan_singular(self%key, a%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> options%count eigenpairs: `values` and `residuals` of as many elements, `vectors` n x count. `start` is the start
  !> vector, `known` has vectors to keep out of the search, `solve` with PURLIN_LANCZOS_NEAREST solves (A - sigma I) x =
  !> b.
  subroutine lanczos_solve(self, a, values, vectors, residuals, info, start, known, solve, stream, stat, errmsg)
    class(purlin_lanczos), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_tensor), intent(inout) :: values
    type(purlin_matrix), intent(inout), optional :: vectors
    type(purlin_tensor), intent(inout), optional :: residuals
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_matrix), intent(in), optional :: known, solve
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_lanczos_solve(self%key, stream_key(stream), a%handle(), tensor_key(start), matrix_key(known), &
      matrix_key(solve), values%handle(), matrix_key(vectors), tensor_key(residuals), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> options%count singular triplets: `u` rows x count, `v` cols x count. `start` is a start vector of min(rows, cols)
  !> elements of A's type: a right singular vector if cols <= rows, else a left one.
  subroutine lanczos_singular(self, a, u, values, v, residuals, info, start, stream, stat, errmsg)
    class(purlin_lanczos), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout), optional :: u, v
    type(purlin_tensor), intent(inout) :: values
    type(purlin_tensor), intent(inout), optional :: residuals
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_lanczos_singular(self%key, stream_key(stream), a%handle(), tensor_key(start), matrix_key(u), &
      values%handle(), matrix_key(v), tensor_key(residuals), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> At most size(alpha) steps of the plain recurrence; `count` of them were made.
  subroutine lanczos_tridiagonalize(self, a, alpha, beta, count, start, stream, stat, errmsg)
    class(purlin_lanczos), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(inout), contiguous, target :: alpha(:), beta(:)
    integer(c_int64_t), intent(inout) :: count
    type(purlin_tensor), intent(in), optional :: start
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_as_many(o, 'beta', size(beta, kind=c_int64_t), 'alpha', size(alpha, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_lanczos_tridiagonalize(self%key, stream_key(stream), a%handle(), &
      size(alpha, kind=c_int64_t), tensor_key(start), c_loc(alpha), c_loc(beta), count))
    call finish(o, stat, errmsg)
  end subroutine

  !> Cancels the call that runs, which then fails with PURLIN_ERROR_CANCELLED. May be called from any thread.
  subroutine lanczos_cancel(self, stat, errmsg)
    class(purlin_lanczos), intent(in) :: self
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_lanczos_cancel(self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The report of the last run.
  subroutine lanczos_last_info(self, info, stat, errmsg)
    class(purlin_lanczos), intent(in) :: self
    type(purlin_lanczos_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_lanczos_last_info(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_lanczos.inc'

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
    call name_argument(o, 'array', 'values')
    if (o%status == PURLIN_SUCCESS .and. present(residuals)) call left%borrow(context, residuals, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'residuals')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_lanczos_solve_once(context%handle(), stream_key(stream), &
      a%handle(), tensor_key(start), matrix_key(known), matrix_key(solve), settings, found%handle(), matrix_key(places), &
      left%handle(), info))
    call name_argument(o, 'count', 'size(values)')
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
    call name_argument(o, 'array', 'vectors')
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
    call name_argument(o, 'array', 'vectors')
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
    call name_argument(o, 'array', 'vectors')
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
    call name_argument(o, 'array', 'vectors')
    if (o%status == PURLIN_SUCCESS) call solve_objects(context, a, values, residuals, options, info, start, known, &
      solve, places, stream, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  !> Without places for singular vectors the values alone. `start` is a start vector of min(rows, cols) elements of A's
  !> type: a right singular vector if cols <= rows, else a left one.
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
    if (present(info)) call purlin_init(info)
    call found%borrow(context, values, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'values')
    if (o%status == PURLIN_SUCCESS .and. present(residuals)) call left%borrow(context, residuals, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'residuals')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_lanczos_singular_once(context%handle(), stream_key(stream), &
      a%handle(), tensor_key(start), settings, matrix_key(u), found%handle(), matrix_key(v), left%handle(), info))
    call name_argument(o, 'count', 'size(values)')
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
    call name_argument(o, 'array', 'u')
    if (o%status == PURLIN_SUCCESS) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'v')
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
    call name_argument(o, 'array', 'u')
    if (o%status == PURLIN_SUCCESS) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'v')
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
    call name_argument(o, 'array', 'u')
    if (o%status == PURLIN_SUCCESS) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'v')
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
    call name_argument(o, 'array', 'u')
    if (o%status == PURLIN_SUCCESS) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'v')
    if (o%status == PURLIN_SUCCESS) call singular_objects(context, a, values, left, right, residuals, options, info, &
      stream, o%status, o%message, start)
    call finish(o, stat, errmsg)
  end subroutine

  !> The eigenvalues of A among those of a recurrence, by the test of Cullum and Willoughby: the first `count` of
  !> `accepted`, which is as long as alpha; ascending.
  subroutine purlin_lanczos_cullum_willoughby(alpha, beta, accepted, count, cluster, converged, stat, errmsg)
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
    call expect_as_many(o, 'beta', size(beta, kind=c_int64_t), 'alpha', size(alpha, kind=c_int64_t))
    if (size(accepted) < size(alpha)) call refuse(o, 'accepted: has fewer elements than alpha')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_lanczos_cullum_willoughby(size(alpha, kind=c_int64_t), c_loc(alpha), &
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
    if (size(off) /= max(size(diagonal) - 1, 0)) call refuse(o, 'off: not one less than diagonal')
    call expect_as_many(o, 'values', size(values, kind=c_int64_t), 'diagonal', size(diagonal, kind=c_int64_t))
    if (present(first)) then
      call expect_as_many(o, 'first', size(first, kind=c_int64_t), 'diagonal', size(diagonal, kind=c_int64_t))
      ends(1) = c_loc(first)
    end if
    if (present(last)) then
      call expect_as_many(o, 'last', size(last, kind=c_int64_t), 'diagonal', size(diagonal, kind=c_int64_t))
      ends(2) = c_loc(last)
    end if
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tridiagonal_eigenvalues(size(diagonal, kind=c_int64_t), &
      c_loc(diagonal), c_loc(off), c_loc(values), ends(1), ends(2)))
    call finish(o, stat, errmsg)
  end subroutine

  include 'integers/lanczos.inc'
end module purlin_lanczos_module
