! Sparse matrices, products, eigenpairs and graphs: the path, and two cliques that one edge joins.
module spectra_callbacks
  use, intrinsic :: iso_c_binding
  implicit none

contains

  !> Solves with the path of 300 vertices less sigma.
  function eliminate(adjoint, count, x, ldx, y, ldy, cuda_stream, user) result(status) bind(c)
    integer(c_int32_t), value :: adjoint
    integer(c_int64_t), value :: count, ldx, ldy, cuda_stream
    type(c_ptr), value :: x, y, user
    integer(c_int32_t) :: status
    real(c_double), pointer :: from(:, :), to(:, :), sigma
    real(c_double) :: pivots(300)
    integer :: i
    call c_f_pointer(x, from, [ldx, count])
    call c_f_pointer(y, to, [ldy, count])
    call c_f_pointer(user, sigma)
    pivots(1) = -sigma
    to(1, :) = from(1, :)
    do i = 2, 300
      pivots(i) = -sigma - 1 / pivots(i - 1)
      to(i, :) = from(i, :) - to(i - 1, :) / pivots(i - 1)
    end do
    to(300, :) = to(300, :) / pivots(300)
    do i = 299, 1, -1
      to(i, :) = (to(i, :) - to(i + 1, :)) / pivots(i)
    end do
    status = merge(0_c_int32_t, 1_c_int32_t, adjoint < 2 .and. cuda_stream == 0)
  end function

  !> f(x) = x^2.
  function square(x) result(y)
    real(c_double), intent(in) :: x
    real(c_double) :: y
    y = x**2
  end function
end module spectra_callbacks

program test_spectra
  use, intrinsic :: iso_c_binding
  use purlin
  use checks
  use spectra_callbacks
  implicit none

  type(purlin_context) :: context

  call context%create(backend=PURLIN_BACKEND_CPU)
  call matrices()
  call rows()
  call products()
  call operators()
  call eigenpairs()
  call ways()
  call graphs()
  call refusals()
  call context%destroy()
  call check_none_live()

contains

  !> The undirected path of n vertices.
  subroutine path(n, matrix)
    integer(c_int64_t), intent(in) :: n
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t) :: i
    integer(c_int64_t) :: rows(2 * n - 2), cols(2 * n - 2)
    real(c_double) :: values(2 * n - 2)
    do i = 1, n - 1
      rows(2 * i - 1:2 * i) = [i, i + 1]
      cols(2 * i - 1:2 * i) = [i + 1, i]
    end do
    values = 1
    call purlin_from_coordinates(context, matrix, n, n, rows, cols, values, PURLIN_DUPLICATES_REFUSE)
  end subroutine

  subroutine cliques(matrix)
    type(purlin_matrix), intent(inout) :: matrix
    type(purlin_matrix) :: dense
    real(c_double), target :: full(40, 40)
    integer :: i
    full = 0
    full(:20, :20) = 1
    full(21:, 21:) = 1
    do i = 1, 40
      full(i, i) = 0
    end do
    full(3, 33) = 1
    full(33, 3) = 1
    call dense%borrow(context, full)
    call purlin_from_dense(dense, matrix, 0.0_c_double)
  end subroutine

  subroutine matrices()
    type(purlin_matrix) :: a, b, dense
    type(purlin_matrix_info) :: info
    type(purlin_tensor) :: vector
    type(purlin_tensor_info) :: names
    complex(c_double_complex), target :: full(3, 4), found(3, 4), turned(4, 3), few(2, 1), sums(3)
    real(c_float), target :: single(2, 3), singles(3)
    real(c_double) :: norm
    character(*), parameter :: file = 'spectra_fortran.mtx'
    logical :: symmetric
    integer(c_int32_t) :: stat
    integer(c_int64_t) :: order(6)
    integer :: unit
    full = 0
    full(1, 2) = (2, 1)
    full(3, 1) = (-1, 0)
    full(3, 4) = (0, 5)
    call purlin_from_coordinates(context, a, 3_c_int64_t, 4_c_int64_t, [3_c_int32_t, 1_c_int32_t, 3_c_int32_t, &
      1_c_int32_t], [4_c_int32_t, 2_c_int32_t, 1_c_int32_t, 2_c_int32_t], [full(3, 4), (1.0_c_double, 1.0_c_double), &
      full(3, 1), (1.0_c_double, 0.0_c_double)])
    call dense%borrow(context, found)
    call purlin_to_dense(a, dense)
    call check(all(abs(found - full) <= 0), 'coordinates')
    call purlin_transpose(a, b, .true.)
    call dense%borrow(context, turned)
    call purlin_to_dense(b, dense)
    call check(all(abs(turned - conjg(transpose(full))) <= 0), 'the conjugate transpose')
    call purlin_select(a, b, [3_c_int64_t, 1_c_int64_t], [4_c_int64_t])
    call dense%borrow(context, few)
    call purlin_to_dense(b, dense)
    call check(abs(few(1, 1) - full(3, 4)) <= 0 .and. abs(few(2, 1)) <= 0, 'a submatrix')
    call purlin_norm(a, PURLIN_NORM_MAX, norm)
    call check(abs(norm - 5) <= 0, 'a norm')
    call vector%borrow(context, sums)
    call purlin_row_sums(a, vector)
    call check(abs(sums(3) - (-1, 5)) <= 0, 'sums of rows')
    call purlin_set_values(context, a, [(1.0_c_double, 0.0_c_double), (2.0_c_double, 0.0_c_double), &
      (3.0_c_double, 0.0_c_double)])
    call purlin_norm(a, PURLIN_NORM_MAX, norm)
    call check(abs(norm - 3) <= 0, 'new values')

    call purlin_from_columns(context, a, 2_c_int64_t, [1_c_int32_t, 2_c_int32_t, 2_c_int32_t, 4_c_int32_t], &
      [2_c_int32_t, 1_c_int32_t, 2_c_int32_t], [7.0_c_float, 8.0_c_float, 9.0_c_float])
    call dense%borrow(context, single)
    call purlin_to_dense(a, dense)
    call check(all(abs(single - reshape([0.0, 7.0, 0.0, 0.0, 8.0, 9.0], [2, 3])) <= 0), 'compressed columns')
    call purlin_permute(a, b, cols=[3_c_int64_t, 1_c_int64_t, 2_c_int64_t])
    call purlin_to_dense(b, dense)
    call check(abs(single(1, 1) - 8) <= 0 .and. abs(single(2, 2) - 7) <= 0, 'columns in another order')
    call vector%borrow(context, singles(:2))
    call purlin_diagonal(a, vector)
    call check(abs(singles(1)) <= 0, 'the diagonal')
    call purlin_pattern(a, b)
    call b%properties(info)
    call check(info%data == 0 .and. info%nnz == 3, 'a pattern')
    call purlin_canonical(a, b)

    call purlin_check(b)
    call purlin_check(b, 64_c_int32_t, stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'an unknown check')

    call path(6_c_int64_t, a)
    call purlin_order(context, a, PURLIN_ORDERING_DEGREE, order)
    call check(all(order == [2, 3, 4, 5, 1, 6]), 'an order')
    call purlin_write_market(a, file, .true.)
    call purlin_read_market(context, b, file)
    call purlin_is_symmetric(b, symmetric)
    call b%properties(info)
    call check(symmetric .and. info%nnz == 10 .and. info%dtype == PURLIN_F64, 'Matrix Market and back')
    call purlin_write_edges(a, file)
    call purlin_read_edges(context, b, file, .true., vertices=vector)
    call b%properties(info)
    call vector%properties(names)
    call check(info%nnz == 10 .and. names%dtype == PURLIN_I64, 'edges and back')
    call purlin_read_edges(context, b, file)
    call b%properties(info)
    call check(info%nnz == 10 .and. info%data == 0, 'edges without weights')
    open (newunit=unit, file=file)
    close (unit, status='delete')
    call purlin_from_coordinates(context, a, 3_c_int64_t, 3_c_int64_t, [1_c_int64_t, 3_c_int64_t], &
      [2_c_int64_t, 3_c_int64_t], [1.0_c_double, 1.0_c_double])
    call purlin_symmetrize(a, b, PURLIN_SYMMETRIZE_SUM)
    call purlin_is_symmetric(b, symmetric)
    call purlin_norm(b, PURLIN_NORM_MAX, norm)
    call check(symmetric .and. abs(norm - 2) <= 0, 'loops count twice in a sum')
  end subroutine

  !> Compressed rows of every type, patterns among them, and their scale factors.
  subroutine rows()
    type(purlin_matrix) :: a, b, dense
    type(purlin_matrix_info) :: info
    type(purlin_tensor) :: left, right
    integer(c_int32_t), target :: row_ptr(3), col_idx(3)
    integer(c_int64_t), target :: wide_ptr(3), wide_idx(3)
    complex(c_double_complex), target :: values(3), found(2, 3), factors(2), others(3)
    complex(c_float_complex), target :: singles(3), few(2, 3)
    real(c_double), target :: ones(2, 3)
    integer(c_int32_t) :: stat
    row_ptr = [1, 2, 4]
    col_idx = [2, 1, 3]
    wide_ptr = row_ptr - 1
    wide_idx = col_idx - 1
    values = [(1.0_c_double, 2.0_c_double), (0.0_c_double, 3.0_c_double), (-4.0_c_double, 0.0_c_double)]
    singles = cmplx(values, kind=c_float_complex)
    call a%csr(context, 3_c_int64_t, row_ptr, col_idx, values)
    call dense%borrow(context, found)
    call purlin_to_dense(a, dense)
    call check(abs(found(1, 2) - values(1)) <= 0 .and. abs(found(2, 3) - values(3)) <= 0, 'complex rows')
    call a%csr(context, 3_c_int64_t, wide_ptr, wide_idx, values, index_base=0, copied=.true.)
    call purlin_to_dense(a, dense)
    call check(abs(found(2, 1) - values(2)) <= 0, 'with wide indices from 0')
    factors = [(2.0_c_double, 0.0_c_double), (0.0_c_double, 1.0_c_double)]
    others = [(1.0_c_double, 0.0_c_double), (5.0_c_double, 0.0_c_double), (0.0_c_double, 1.0_c_double)]
    call left%borrow(context, factors)
    call right%borrow(context, others)
    call purlin_scale(a, b, left, right)
    call purlin_to_dense(b, dense)
    call check(abs(found(1, 2) - 10 * values(1)) <= 1e-14 .and. abs(found(2, 3) + values(3)) <= 1e-14, 'scaled')
    call purlin_scale(a, b, cols=left, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'too few numbers for the columns')
    call a%csr(context, 3_c_int64_t, row_ptr, col_idx, singles)
    call dense%borrow(context, few)
    call purlin_to_dense(a, dense)
    call check(abs(few(1, 2) - singles(1)) <= 0, 'single complex rows')
    call a%csr(context, 3_c_int64_t, wide_ptr, wide_idx, singles, index_base=0)
    call a%csr(context, 3_c_int64_t, row_ptr, col_idx)
    call a%properties(info)
    call check(info%data == 0 .and. info%dtype == PURLIN_F64 .and. info%nnz == 3, 'a pattern')
    call dense%borrow(context, ones)
    call purlin_to_dense(a, dense)
    call check(abs(ones(1, 2) - 1) <= 0 .and. abs(sum(ones) - 3) <= 0, 'whose entries are 1')
    call a%csr(context, 3_c_int64_t, wide_ptr, wide_idx, index_base=0, dtype=PURLIN_CF32)
    call a%properties(info)
    call check(info%data == 0 .and. info%dtype == PURLIN_CF32, 'a pattern of another type')
    call a%csr(context, 3_c_int64_t, row_ptr, col_idx(:2), values, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'more values than columns')
  end subroutine

  !> Laplacians that are never formed, of the path.
  subroutine operators()
    type(purlin_matrix) :: a
    type(purlin_spmv) :: plan
    type(purlin_spmv_options) :: options
    type(purlin_spmv_info) :: info
    real(c_double), target :: x(20), y(20)
    integer(c_int32_t) :: stat
    integer :: i
    call path(20_c_int64_t, a)
    x = [(real(i, c_double)**2, i = 1, 20)]
    call purlin_init(options)
    options%kind = PURLIN_LANCZOS_LAPLACIAN
    options%shift = 0.5_c_double
    call plan%create(a, options)
    y = 1
    call plan%apply(context, a, x, y, alpha=2.0_c_double, beta=-1.0_c_double)
    call check(all(abs(y(2:19) - (2 * (-2 + 0.5_c_double * x(2:19)) - 1)) <= 1e-11), 'a Laplacian and a shift')
    call check(abs(y(1) - (2 * (-3 + 0.5_c_double) - 1)) <= 1e-11, 'at its end')
    call plan%properties(info)
    call check(info%kind == PURLIN_LANCZOS_LAPLACIAN, 'kind of the operator')
    options%kind = PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN
    options%shift = 0
    call plan%create(a, options)
    call plan%apply(context, a, x, y)
    call check(all(abs(y(2:19) + 1) <= 1e-11) .and. abs(y(1) + 3) <= 1e-11, 'the random walk')
    options%kind = PURLIN_LANCZOS_GRAM
    options%op = PURLIN_SPMV_TRANSPOSE
    call plan%create(a, options, stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a kind without a transpose')
  end subroutine

  subroutine products()
    type(purlin_matrix) :: a, block, out
    type(purlin_spmv) :: plan
    type(purlin_spmv_options) :: options
    type(purlin_spmv_info) :: info
    type(purlin_tensor) :: given, taken
    real(c_double), target :: x(50), y(50), xs(50, 2), ys(50, 2)
    integer :: i
    call path(50_c_int64_t, a)
    call purlin_init(options)
    options%method = PURLIN_SPMV_METHOD_MERGE
    call plan%create(a, options)
    call plan%properties(info)
    call check(info%method == PURLIN_SPMV_METHOD_MERGE .and. info%longest == 2 .and. info%nnz == 98, 'a plan')
    x = [(real(i * i, c_double), i=1, 50)]
    y = -1
    call plan%apply(context, a, x, y)
    call check(abs(y(1) - 4) <= 0 .and. all(abs(y(2:49) - x(:48) - x(3:)) <= 0), 'a product')
    call plan%apply(context, a, x, y, 2.0_c_double, -1.0_c_double)
    call check(all(abs(y(2:49) - x(:48) - x(3:)) <= 0), 'with alpha and beta')
    call given%borrow(context, x)
    call taken%borrow(context, y)
    call plan%apply(a, given, taken)
    call check(abs(y(50) - 49 * 49) <= 0, 'objects')
    xs(:, 1) = x
    xs(:, 2) = -x
    call block%borrow(context, xs)
    call out%borrow(context, ys)
    call plan%apply(a, block, out)
    call check(all(abs(ys(:, 1) - y) <= 0) .and. all(abs(ys(:, 2) + y) <= 0), 'columns')
    call plan%update(a)
    options%ordering = PURLIN_ORDERING_DEGREE
    call plan%create(a, options)
    call plan%properties(info)
    y = -1
    call plan%apply(context, a, x, y)
    call check(info%ordering == PURLIN_ORDERING_DEGREE .and. all(abs(y(2:49) - x(:48) - x(3:)) <= 0), 'another order')
  end subroutine

  subroutine eigenpairs()
    type(purlin_matrix) :: a, known
    type(purlin_tensor) :: start, found
    type(purlin_lanczos) :: solver
    type(purlin_lanczos_options) :: options
    type(purlin_lanczos_info) :: info, planned
    type(purlin_context) :: another
    type(purlin_group) :: group
    type(purlin_lanczos_accepted) :: accepted(600)
    real(c_double), target :: values(4), vectors(202, 4), residuals(4), rest(2), first(200), alpha(600), beta(600)
    real(c_double), target :: right(200, 2)
    real(c_double), parameter :: angle = acos(-1.0_c_double) / 201
    real(c_double) :: three(3), ends(3)
    integer(c_int64_t) :: steps, count
    integer(c_int32_t) :: stat
    integer :: i
    call path(200_c_int64_t, a)
    call purlin_init(options)
    options%basis = 60
    ! A section: the columns of the array are longer.
    call purlin_lanczos_solve_once(context, a, values, vectors(:200, :), residuals, options, info)
    call check(all([(abs(values(i) - 2 * cos(i * angle)) < 1e-10, i=1, 4)]), 'the path')
    call check(info%converged == 4 .and. info%stop_reason == PURLIN_LANCZOS_CONVERGED .and. all(residuals < 1e-8), 'report')
    call check(abs(norm2(vectors(:200, 2)) - 1) < 1e-13, 'vectors')
    call known%borrow(context, vectors(:200, :), PURLIN_READ_ONLY)
    first = [(sin(real(i * i, c_double)), i=1, 200)]
    call start%borrow(context, first)
    call purlin_lanczos_solve_once(context, a, rest, options=options, known=known, start=start)
    call check(abs(rest(1) - 2 * cos(5 * angle)) < 1e-9, 'known vectors are kept out')
    options%which = PURLIN_LANCZOS_SMALLEST
    options%kind = PURLIN_LANCZOS_LAPLACIAN
    call purlin_lanczos_solve_once(context, a, rest, options=options)
    call check(abs(rest(1)) < 1e-9 .and. abs(rest(2) - 2 + 2 * cos(acos(-1.0_c_double) / 200)) < 1e-9, 'the Laplacian')
    options%ordering = PURLIN_ORDERING_CUTHILL_MCKEE
    call purlin_lanczos_solve_once(context, a, rest, options=options)
    call check(abs(rest(1)) < 1e-9 .and. abs(rest(2) - 2 + 2 * cos(acos(-1.0_c_double) / 200)) < 1e-9, 'in an order')
    options%ordering = PURLIN_ORDERING_NONE
    call another%create(backend=PURLIN_BACKEND_CPU)
    call group%create([context%handle(), another%handle()])
    options%group = group%handle()
    call purlin_lanczos_solve_once(context, a, rest, options=options, info=info)
    call check(abs(rest(1)) < 1e-9 .and. abs(rest(2) - 2 + 2 * cos(acos(-1.0_c_double) / 200)) < 1e-9, 'two contexts')
    call check(info%contexts == 2 .and. info%halo == 2 .and. info%halo_bytes == 16, 'exchanged numbers and bytes')
    options%group = c_null_ptr
    options%restarts = 1
    options%basis = 0
    call purlin_lanczos_solve_once(context, a, values, options=options, info=info, stat=stat)
    call check(stat == PURLIN_ERROR_NO_CONVERGENCE .and. info%converged < 4, 'too few restarts')
    options%restarts = 0
    options%which = PURLIN_LANCZOS_LARGEST
    options%kind = PURLIN_LANCZOS_GRAM
    options%verify = PURLIN_LANCZOS_VERIFY_ON
    call purlin_lanczos_singular_once(context, a, vectors(:200, :2), rest, right, residuals(:2), options, info)
    call check(abs(rest(1) - 2 * cos(angle)) < 1e-9 .and. info%converged == 2, 'singular values')
    ! Each singular value occurs twice, from an eigenvalue and its negative.
    call check(abs(rest(2) - rest(1)) < 1e-9 .and. abs(norm2(right(:, 1)) - 1) < 1e-12, 'a pair of them')
    call purlin_lanczos_singular_once(context, a, rest, options=options)
    call check(abs(rest(1) - 2 * cos(angle)) < 1e-9, 'singular values alone')
    rest = 0
    call purlin_lanczos_singular_once(context, a, rest, options=options, start=start)
    call check(abs(rest(1) - 2 * cos(angle)) < 1e-9, 'singular values from a start vector')
    call purlin_init(options)
    options%count = 2
    call solver%create(context, options)
    call solver%last_info(info, stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'no report before a run')
    call found%borrow(context, rest)
    call solver%solve(a, found)
    call solver%last_info(info)
    call check(abs(rest(2) - 2 * cos(2 * angle)) < 1e-9 .and. info%converged == 2, 'a solver')
    rest = 0
    call solver%plan_singular(a, planned)
    call solver%singular(a, values=found, start=start, info=info)
    call check(planned%method == info%method .and. planned%host_bytes == info%host_bytes, 'the plan of singular values')
    call check(purlin_string(planned%reason) == purlin_string(info%reason), 'and its reason')
    call check(abs(rest(1) - 2 * cos(angle)) < 1e-9 .and. info%converged == 2, 'its singular values')
    call solver%plan(a, info)
    call check(info%basis > 2 .and. info%host_bytes > 0 .and. len(purlin_string(info%reason)) > 0, 'its plan')
    call solver%cancel()
    call solver%tridiagonalize(a, alpha, beta, steps)
    call purlin_lanczos_cullum_willoughby(alpha(:steps), beta(:steps), accepted, count)
    call check(steps >= 200 .and. count > 0, 'the plain recurrence')
    call solver%last_info(info)
    call check(info%products == steps .and. info%basis == size(alpha) .and. info%count == 0, 'its report')
    call check(abs(accepted(count)%value - 2 * cos(angle)) < 1e-6, 'its largest value')
    call purlin_tridiagonal_eigenvalues([2.0_c_double, 2.0_c_double, 2.0_c_double], [-1.0_c_double, -1.0_c_double], &
      three, first=ends)
    call check(abs(three(2) - 2) < 1e-14 .and. abs(abs(ends(2)) - sqrt(0.5_c_double)) < 1e-14, 'tridiagonal')
    call purlin_tridiagonal_eigenvalues([2.0_c_double, 2.0_c_double, 2.0_c_double], &
      [-1.0_c_double, -1.0_c_double, 0.5_c_double], three, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a subdiagonal that is too long')
  end subroutine

  !> Every method finds the eigenvalues of the path.
  subroutine ways()
    integer(c_int64_t), parameter :: n = 300
    real(c_double), parameter :: angle = acos(-1.0_c_double) / (n + 1)
    type(purlin_matrix) :: a, inverse
    type(purlin_lanczos_options) :: base, options
    type(purlin_lanczos_info) :: info
    real(c_double) :: values(3), exact(n), vectors(n, 3)
    real(c_double), target :: sigma
    integer(c_int32_t) :: stat
    integer :: i
    call path(n, a)
    exact = [(2 * cos(i * angle), i=1, int(n))]
    call purlin_init(base)
    base%basis = 60
    options = base
    options%block = 3
    call purlin_lanczos_solve_once(context, a, values, options=options, info=info)
    call check(all(abs(values - exact(:3)) < 1e-9) .and. mod(info%basis, 3_c_int64_t) == 0, 'blocks')
    call purlin_lanczos_solve_once(context, a, values, vectors=vectors, options=base, info=info)
    call check(info%verified == 1 .and. len(purlin_string(info%reason)) > 0, 'no copy is missing')
    call check(info%residual > 0 .and. info%residual < 1e-8_c_double, 'the residual of the returned pairs')
    call check(info%orthogonality > 0 .and. info%orthogonality < 1e-12_c_double, 'its orthogonality')
    options = base
    options%verify = PURLIN_LANCZOS_VERIFY_OFF
    call purlin_lanczos_solve_once(context, a, values, options=options, info=info)
    call check(info%verified == 0, 'without the test it is not verified')
    options = base
    options%orthogonalization = PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL
    call purlin_lanczos_solve_once(context, a, values, options=options)
    call check(all(abs(values - exact(:3)) < 1e-9), 'partial orthogonality')
    options = base
    options%method = PURLIN_LANCZOS_METHOD_PLAIN
    options%basis = n
    call purlin_lanczos_solve_once(context, a, values, options=options)
    call check(all(abs(values - exact(:3)) < 1e-8), 'the plain method')
    options = base
    options%filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV
    options%which = PURLIN_LANCZOS_SMALLEST
    call purlin_lanczos_solve_once(context, a, values, options=options, info=info)
    call check(all(abs(values + exact(:3)) < 1e-9) .and. info%degree > 0, 'a filter')
    ! The eigenvalues nearest to a shift between two of them.
    sigma = exact(151) + 0.3_c_double * (exact(150) - exact(151))
    options = base
    options%which = PURLIN_LANCZOS_NEAREST
    options%basis = 0
    options%sigma = sigma
    call purlin_lanczos_solve_once(context, a, values, options=options, info=info)
    call check(all(abs(values - exact([151, 150, 152])) < 1e-9) .and. info%degree > 0, 'the nearest by a filter')
    call inverse%from_operator(context, PURLIN_F64, n, n, c_funloc(eliminate), c_loc(sigma))
    call purlin_lanczos_solve_once(context, a, values, options=options, info=info, solve=inverse)
    call check(all(abs(values - exact([151, 150, 152])) < 1e-9) .and. info%degree == 0, 'the nearest by a solve')
    options%which = PURLIN_LANCZOS_LARGEST
    call purlin_lanczos_solve_once(context, a, values, options=options, solve=inverse, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a solve that nothing is nearest to')
  end subroutine

  subroutine graphs()
    type(purlin_matrix) :: w, part, image, unformed
    type(purlin_matrix_info) :: shape
    type(purlin_lanczos_info) :: info
    type(purlin_tensor) :: vertices
    integer(c_int64_t) :: labels(40), count
    real(c_double) :: vector(40), value, cut, coordinates(40, 2), values(2), points(20), weights(20), pixels(4, 3)
    real(c_double) :: formed_values(3), values_of_pixels(3), shares(4)
    integer(c_int32_t) :: how, stat
    character(200) :: message
    call cliques(w)
    call purlin_graph_fiedler(context, w, vector, value, info=info)
    call check(value > 0 .and. info%converged == 1, 'the Fiedler vector')
    call purlin_graph_bisect(context, w, vector, labels, cut=cut)
    call check(abs(cut - 1) <= 0 .and. apart(labels), 'two sides')
    do how = PURLIN_GRAPH_LABELS_K_MEANS, PURLIN_GRAPH_LABELS_PIVOTED_QR
      call purlin_graph_cluster(context, w, 2_c_int64_t, labels, how)
      call check(apart(labels) .and. minval(labels) == 1 .and. maxval(labels) == 2, 'clusters')
    end do
    call purlin_graph_cluster(context, w, 2_c_int64_t, labels, PURLIN_GRAPH_LABELS_PIVOTED_QR, &
      start_count=10_c_int64_t, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'start_count: is set') == 1 .and. &
      apart(labels), 'starts that there are not')
    call purlin_graph_cluster(context, w, 2_c_int64_t, labels, start_count=0_c_int64_t, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'start_count: is 0') == 1, 'no starts')
    call purlin_graph_embed(context, w, coordinates, values)
    call check(abs(values(1)) < 1e-12 .and. values(2) > 0, 'an embedding')
    call purlin_graph_pivoted_qr(context, coordinates, labels)
    call check(apart(labels), 'pivoted QR')
    call purlin_graph_k_means(context, coordinates, 2_c_int64_t, labels, seed=3_c_int64_t)
    call check(apart(labels), 'k-means')
    call purlin_graph_components(context, w, labels, count)
    call check(count == 1 .and. all(labels == 1), 'components')
    call purlin_graph_component(w, part, 1_c_int64_t, vertices)
    call part%properties(shape)
    call check(shape%rows == 40, 'a component')
    call purlin_graph_density(context, w, 10_c_int64_t, 2_c_int64_t, points, weights, count)
    call check(abs(sum(weights(:count)) - 1) < 1e-12, 'a density')
    call purlin_graph_density_histogram(points(:count), weights(:count), -10.0_c_double, 30.0_c_double, shares)
    call check(abs(sum(shares) - 1) < 1e-12 .and. abs(shares(4)) <= 0, 'shares of it')
    call purlin_graph_density_histogram(points(:count), weights(:count), 1.0_c_double, 1.0_c_double, shares, stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'shares of nothing')
    call check(abs(purlin_graph_density_trace(40_c_int64_t, points(:count), weights(:count), square) - &
      40 * sum(weights(:count) * points(:count)**2)) < 1e-9, 'a trace')
    pixels = 0
    pixels(:, 3) = 1
    call purlin_graph_of_image(context, pixels, image, 1.0_c_double, 0.5_c_double)
    call image%properties(shape)
    call check(shape%rows == 12 .and. shape%nnz == 2 * (3 * 3 + 4 * 2), 'the graph of an image')
    call purlin_graph_operator_of_image(context, pixels, unformed, 1.0_c_double, 0.5_c_double)
    call purlin_lanczos_solve_once(context, image, formed_values)
    call purlin_lanczos_solve_once(context, unformed, values_of_pixels)
    call check(all(abs(formed_values - values_of_pixels) < 1e-13), 'a graph that is not formed')
  end subroutine

  pure logical function apart(labels)
    integer(c_int64_t), intent(in) :: labels(:)
    apart = all(labels(:20) == labels(1)) .and. all(labels(21:) /= labels(1))
  end function

  subroutine refusals()
    type(purlin_matrix) :: a, b
    type(purlin_spmv) :: plan
    real(c_double) :: values(2), norm, short(2)
    real(c_float) :: single(9)
    integer(c_int32_t) :: stat
    character(100) :: text
    call path(9_c_int64_t, a)
    text = ''
    call purlin_from_coordinates(context, b, 2_c_int64_t, 2_c_int64_t, [1_c_int64_t], [3_c_int64_t], [1.0_c_double], &
      stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'col_idx: element 1 is 3') == 1, 'out of range')
    call purlin_graph_component(a, b, 2_c_int64_t, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'which: is 2, outside 1 to 1', text)
    call purlin_from_coordinates(context, b, 2_c_int64_t, 2_c_int64_t, [1_c_int64_t], [1_c_int64_t], values, stat=stat, &
      errmsg=text)
    call check(index(text, 'values: has ') == 1 .and. index(text, ' elements, row_idx has 1') > 0, 'too many values')
    call purlin_permute(a, b, rows=[1_c_int64_t], stat=stat, errmsg=text)
    call check(index(text, 'rows: not as many') == 1, 'too few rows')
    call purlin_symmetrize(a, b, 9_c_int32_t, stat, text)
    call check(index(text, 'rule: is 9') == 1, 'an unknown way')
    call purlin_read_market(context, b, 'no/such/file', stat=stat)
    call check(stat == PURLIN_ERROR_IO, 'no such file')
    call plan%create(a)
    call plan%apply(context, a, single, single, stat=stat, errmsg=text)
    call check(index(text, 'x: is not of the type') == 1, 'another type')
    call plan%apply(context, a, short, values, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'another length')
    call b%destroy()
    call purlin_norm(b, PURLIN_NORM_MAX, norm, stat)
    call check(stat == PURLIN_ERROR_INVALID_HANDLE, 'no matrix')
  end subroutine
end program test_spectra
