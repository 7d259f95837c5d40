! Operators that are never formed, polynomials of them, queues, and solves that several contexts share.
module operator_callbacks
  use, intrinsic :: iso_c_binding
  implicit none

contains

  !> 2 on the diagonal and 1 above it; also 1 below it if `user` points to a nonzero value.
  function bidiagonal(adjoint, count, x, ldx, y, ldy, cuda_stream, user) result(status) bind(c)
    integer(c_int32_t), value :: adjoint
    integer(c_int64_t), value :: count, ldx, ldy, cuda_stream
    type(c_ptr), value :: x, y, user
    integer(c_int32_t) :: status
    integer, parameter :: n = 60
    real(c_double), pointer :: from(:, :), to(:, :)
    integer(c_int32_t), pointer :: both
    call c_f_pointer(x, from, [ldx, count])
    call c_f_pointer(y, to, [ldy, count])
    call c_f_pointer(user, both)
    to(:n, :) = 2 * from(:n, :)
    if (adjoint == 0 .or. both /= 0) to(:n - 1, :) = to(:n - 1, :) + from(2:n, :)
    if (adjoint == 1 .or. both /= 0) to(2:n, :) = to(2:n, :) + from(:n - 1, :)
    status = merge(0_c_int32_t, 1_c_int32_t, adjoint < 2 .and. cuda_stream == 0)
  end function

  !> The diagonal matrix D of 1 to 200; if `user` is not null, the inverse of D + c I, where c is the value at `user`.
  function diagonal(adjoint, count, x, ldx, y, ldy, cuda_stream, user) result(status) bind(c)
    integer(c_int32_t), value :: adjoint
    integer(c_int64_t), value :: count, ldx, ldy, cuda_stream
    type(c_ptr), value :: x, y, user
    integer(c_int32_t) :: status
    integer, parameter :: n = 200
    real(c_double), pointer :: from(:, :), to(:, :), shift
    integer :: i
    call c_f_pointer(x, from, [ldx, count])
    call c_f_pointer(y, to, [ldy, count])
    do i = 1, n
      to(i, :) = i * from(i, :)
    end do
    if (c_associated(user)) then
      call c_f_pointer(user, shift)
      do i = 1, n
        to(i, :) = from(i, :) / (i + shift)
      end do
    end if
    status = merge(0_c_int32_t, 1_c_int32_t, adjoint < 2 .and. cuda_stream == 0)
  end function
end module operator_callbacks

program test_operators
  use, intrinsic :: iso_c_binding
  use purlin
  use checks
  use operator_callbacks
  implicit none

  type(purlin_context) :: context

  call context%create(backend=PURLIN_BACKEND_CPU)
  call queues()
  call queues_of_graphs()
  call scaled()
  call filters()
  call images()
  call callbacks()
  call contradicted()
  call contexts()
  call contexts_of_graphs()
  call context%destroy()
  call check_none_live()

contains

  !> The undirected path of n vertices, a pattern.
  subroutine path(n, matrix)
    integer, intent(in) :: n
    type(purlin_matrix), intent(inout) :: matrix
    integer(c_int64_t) :: ends(2 * n - 2), others(2 * n - 2)
    integer :: i
    do i = 1, n - 1
      ends(2 * i - 1:2 * i) = [i, i + 1]
      others(2 * i - 1:2 * i) = [i + 1, i]
    end do
    call purlin_from_coordinates(context, matrix, int(n, c_int64_t), int(n, c_int64_t), ends, others)
  end subroutine

  pure logical function near(a, b)
    real(c_double), intent(in) :: a(:), b(:)
    near = all(abs(a - b) <= 1e-9_c_double)
  end function

  !> Products and solves begin after a queue's work; one of another context is refused, which shows that the queue is passed on.
  subroutine queues()
    type(purlin_context) :: another
    type(purlin_stream) :: queue, foreign
    type(purlin_matrix) :: a
    type(purlin_spmv) :: plan
    type(purlin_lanczos) :: solver
    type(purlin_lanczos_options) :: options
    type(purlin_lanczos_info) :: info
    real(c_double), target :: x(80), y(80), values(2), vectors(80, 2), others(80, 2), residuals(2)
    integer(c_int64_t) :: steps
    integer(c_int32_t) :: stat
    integer :: i
    call another%create(backend=PURLIN_BACKEND_CPU)
    call queue%create(context)
    call foreign%create(another)
    call path(80, a)
    call plan%create(a)
    x = [(real(i * i, c_double), i=1, 80)]
    call plan%apply(context, a, x, y, stream=queue)
    call queue%synchronize()
    call check(all(abs(y(2:79) - x(:78) - x(3:)) <= 0), 'a product on a queue')
    call plan%apply(context, a, x, y, stream=foreign, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a product on a queue of another context')

    call purlin_init(options)
    options%basis = 40
    call purlin_lanczos_solve_once(context, a, values, vectors, residuals, options, info, stream=queue)
    call check(info%converged == 2 .and. abs(values(1) - 2 * cos(acos(-1.0_c_double) / 81)) < 1e-9, 'a solve')
    call purlin_lanczos_solve_once(context, a, values, vectors, options=options, stream=foreign, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a solve on a queue of another context')
    call purlin_lanczos_singular_once(context, a, vectors, values, others, options=options, stream=queue)
    call check(abs(values(1) - 2 * cos(acos(-1.0_c_double) / 81)) < 1e-9, 'singular values')
    call purlin_lanczos_singular_once(context, a, vectors, values, others, options=options, stream=foreign, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'singular values on a queue of another context')
    call solver%create(context)
    call solver%tridiagonalize(a, x, y, steps, stream=queue)
    call check(steps > 0, 'a recurrence')
    call solver%tridiagonalize(a, x, y, steps, stream=foreign, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a recurrence on a queue of another context')
  end subroutine

  subroutine queues_of_graphs()
    type(purlin_context) :: another
    type(purlin_stream) :: queue, foreign
    type(purlin_matrix) :: a
    real(c_double) :: coordinates(30, 2), first(30, 2), vector(30), value, points(10), weights(10)
    integer(c_int64_t) :: labels(30), count
    integer(c_int32_t) :: stat
    call another%create(backend=PURLIN_BACKEND_CPU)
    call queue%create(context)
    call foreign%create(another)
    call path(30, a)
    call purlin_graph_embed(context, a, first)
    call purlin_graph_embed(context, a, coordinates, stream=queue)
    call check(all(abs(coordinates - first) <= 0), 'an embedding')
    call purlin_graph_embed(context, a, coordinates, stream=foreign, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'an embedding on a queue of another context')
    call purlin_graph_cluster(context, a, 2_c_int64_t, labels, stream=queue)
    call check(labels(1) /= labels(30), 'clusters')
    call purlin_graph_cluster(context, a, 2_c_int64_t, labels, stream=foreign, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'clusters on a queue of another context')
    call purlin_graph_fiedler(context, a, vector, value, stream=queue)
    call check(abs(value - 2 + 2 * cos(acos(-1.0_c_double) / 30)) < 1e-9, 'the Fiedler vector')
    call purlin_graph_fiedler(context, a, vector, value, stream=foreign, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'the Fiedler vector on a queue of another context')
    call purlin_graph_density(context, a, 5_c_int64_t, 2_c_int64_t, points, weights, count, stream=queue)
    call check(count == 10 .and. abs(sum(weights) - 1) < 1e-12, 'a density')
    call purlin_graph_density(context, a, 5_c_int64_t, 2_c_int64_t, points, weights, count, stream=foreign, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a density on a queue of another context')
  end subroutine

  !> alpha and beta with objects, which are numbers of the matrix's type.
  subroutine scaled()
    type(purlin_matrix) :: a, xs, ys
    type(purlin_tensor) :: x, y
    type(purlin_spmv) :: plan
    real(c_double), target :: from(9), to(9), many(9, 2), found(9, 2)
    complex(c_float_complex), target :: narrow(9), wide(9)
    integer(c_int64_t) :: ends(2)
    integer(c_int32_t) :: stat
    integer :: i
    character(60) :: text
    from = [(real(i * i, c_double), i=1, 9)]
    to = 1
    many(:, 1) = from
    many(:, 2) = -from
    found = 1
    call path(9, a)
    call plan%create(a)
    call x%borrow(context, from)
    call y%borrow(context, to)
    call plan%apply(a, x, y, 2.0_c_double, -3.0_c_double)
    call check(all(abs(to(2:8) - 2 * (from(:7) + from(3:)) + 3) <= 0), 'vectors')
    call xs%borrow(context, many)
    call ys%borrow(context, found)
    call plan%apply(a, xs, ys, 2.0_c_double, -3.0_c_double)
    call check(all(abs(found(:, 1) - to) <= 0) .and. all(abs(found(:, 2) + to + 6) <= 0), 'blocks')
    call plan%apply(a, x, y, (0.0_c_double, 1.0_c_double), (0.0_c_double, 0.0_c_double), stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'alpha: is not real') == 1, 'a complex number')
    ends = [1, 9]
    call purlin_from_coordinates(context, a, 9_c_int64_t, 9_c_int64_t, ends, ends(2:1:-1), &
      [(0.0_c_float, 1.0_c_float), (0.0_c_float, -1.0_c_float)])
    call plan%create(a)
    narrow = cmplx(from, kind=c_float_complex)
    wide = 1
    call x%borrow(context, narrow)
    call y%borrow(context, wide)
    call plan%apply(a, x, y, (0.0_c_double, 2.0_c_double), (0.0_c_double, 1.0_c_double))
    call check(abs(wide(1) - (-162.0, 1.0)) <= 0 .and. abs(wide(9) - (2.0, 1.0)) <= 0, 'of single complex numbers')
  end subroutine

  !> (2 Op - (lower + upper) I) / (upper - lower) times v, of the path's Laplacian and a shift.
  pure function inside(v, shift, lower, upper) result(w)
    real(c_double), intent(in) :: v(:), shift, lower, upper
    real(c_double) :: w(size(v))
    integer :: n
    n = size(v)
    w = 2 * v
    w(1) = v(1)
    w(n) = v(n)
    w(2:) = w(2:) - v(:n - 1)
    w(:n - 1) = w(:n - 1) - v(2:)
    w = (2 * (w + shift * v) - (lower + upper) * v) / (upper - lower)
  end function

  !> T_2 and T_1 of a shifted Laplacian of the path, against the recurrence written out.
  subroutine filters()
    integer, parameter :: n = 50
    real(c_double), parameter :: shift = 0.25_c_double, lower = -0.5_c_double, upper = 3.0_c_double
    type(purlin_matrix) :: a, xs, ys
    type(purlin_spmv) :: plan
    type(purlin_spmv_options) :: options
    type(purlin_spmv_info) :: info
    real(c_double), target :: x(n), y(n), once(n), twice(n), many(n, 2), found(n, 2)
    integer(c_int32_t) :: stat
    integer :: i
    character(60) :: text
    call path(n, a)
    x = [(sin(real(i * i, c_double)), i=1, n)]
    once = inside(x, shift, lower, upper)
    twice = 2 * inside(once, shift, lower, upper) - x
    call purlin_init(options)
    options%kind = PURLIN_LANCZOS_LAPLACIAN
    options%shift = shift
    options%degree = 2
    options%lower = lower
    options%upper = upper
    call plan%create(a, options)
    call plan%apply(context, a, x, y)
    call check(all(abs(y - twice) < 1e-13), 'T_2')
    y = 1
    call plan%apply(context, a, x, y, 3.0_c_double, -2.0_c_double)
    call check(all(abs(y - 3 * twice + 2) < 1e-12), 'with alpha and beta')
    many(:, 1) = x
    many(:, 2) = -2 * x
    call xs%borrow(context, many)
    call ys%borrow(context, found)
    call plan%apply(a, xs, ys)
    call check(all(abs(found(:, 1) - twice) < 1e-13) .and. all(abs(found(:, 2) + 2 * twice) < 1e-12), 'of a block')
    call plan%properties(info)
    call check(info%degree == 2 .and. info%kind == PURLIN_LANCZOS_LAPLACIAN .and. info%rows == n, 'properties of the plan')
    options%degree = 1
    call plan%create(a, options)
    call plan%apply(context, a, x, y)
    call check(all(abs(y - once) < 1e-13), 'T_1')
    options%degree = 0
    text = ''
    call plan%create(a, options, stat, text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'lower: ') == 1, 'an interval without a filter')
    options%degree = 20001
    call plan%create(a, options, stat, text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'degree: ') == 1, 'too high a degree')
    options%degree = 2
    options%upper = lower
    call plan%create(a, options, stat, text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'upper: ') == 1, 'an empty interval')
  end subroutine

  !> Products with the graph of an image that is not formed are those with its matrix.
  subroutine images()
    integer(c_int32_t), parameter :: kinds(4) = [PURLIN_LANCZOS_MATRIX, PURLIN_LANCZOS_LAPLACIAN, &
      PURLIN_LANCZOS_NORMALIZED_LAPLACIAN, PURLIN_LANCZOS_MODULARITY]
    type(purlin_matrix) :: formed, unformed
    type(purlin_matrix_info) :: shape
    type(purlin_spmv) :: plan
    type(purlin_spmv_options) :: options
    type(purlin_spmv_info) :: info
    real(c_double), target :: pixels(5, 7), x(35), y(35), exact(35)
    real(c_float), target :: narrow(35), found(35)
    integer(c_int32_t) :: stat
    integer(c_int64_t) :: labels(4)
    integer :: i
    pixels = reshape([(sin(real(i, c_double)), i=1, 35)], [5, 7])
    x = [(cos(real(i * i, c_double)), i=1, 35)]
    call purlin_graph_of_image(context, pixels, formed, 1.5_c_double, 0.8_c_double, 2.0_c_double)
    call purlin_graph_operator_of_image(context, pixels, unformed, 1.5_c_double, 0.8_c_double, 2.0_c_double)
    do i = 1, size(kinds)
      call purlin_init(options)
      options%kind = kinds(i)
      options%shift = 0.5_c_double
      call plan%create(formed, options)
      call plan%apply(context, formed, x, exact)
      call plan%create(unformed, options)
      call plan%apply(context, unformed, x, y)
      call check(all(abs(y - exact) < 1e-13), 'a product')
      options%op = PURLIN_SPMV_TRANSPOSE
      call plan%create(unformed, options)
      call plan%apply(context, unformed, x, y)
      call check(all(abs(y - exact) < 1e-13), 'a transposed one')
      options%op = PURLIN_SPMV_PLAIN
      options%degree = 5
      options%lower = -1
      options%upper = 4
      call plan%create(formed, options)
      call plan%apply(context, formed, x, exact)
      call plan%create(unformed, options)
      call plan%apply(context, unformed, x, y)
      call check(all(abs(y - exact) < 1e-10), 'a polynomial')
    end do
    call plan%properties(info)
    call check(info%rows == 35 .and. info%nnz == 0 .and. info%method == PURLIN_SPMV_METHOD_AUTO, 'a plan')
    call purlin_init(options)
    options%ordering = PURLIN_ORDERING_DEGREE
    call plan%create(unformed, options, stat)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED, 'an order of no entries')
    options%ordering = PURLIN_ORDERING_NONE
    options%method = PURLIN_SPMV_METHOD_MERGE
    call plan%create(unformed, options, stat)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED, 'a way to share entries')

    ! Single precision.
    call purlin_init(options)
    call plan%create(formed)
    call plan%apply(context, formed, x, exact)
    narrow = real(x, c_float)
    call purlin_graph_of_image(context, real(pixels, c_float), formed, 1.5_c_double, 0.8_c_double, 2.0_c_double)
    call formed%properties(shape)
    call check(shape%dtype == PURLIN_F32, 'the graph of an image in single precision')
    call plan%create(formed)
    call plan%apply(context, formed, narrow, found)
    call check(all(abs(found - exact) < 1e-5), 'a product with it')
    call purlin_graph_operator_of_image(context, real(pixels, c_float), unformed, 1.5_c_double, 0.8_c_double, &
      2.0_c_double)
    call plan%create(unformed)
    call plan%apply(context, unformed, narrow, found)
    call check(all(abs(found - exact) < 1e-5), 'and where it is not formed')
    call purlin_graph_k_means(context, reshape([0.0, 0.1, 5.0, 5.1], [4, 1]), 2_c_int64_t, labels)
    call check(labels(1) == labels(2) .and. labels(3) == labels(4) .and. labels(1) /= labels(3), 'k-means')
    call purlin_graph_pivoted_qr(context, reshape([0.6, 0.8, 0.0, 0.0, 0.0, 0.0, 0.6, 0.8], [4, 2]), labels)
    call check(labels(1) == labels(2) .and. labels(3) == labels(4) .and. labels(1) /= labels(3), 'pivoted QR')
  end subroutine

  !> An operator of the caller's: its products by a plan, and whether it is symmetric.
  subroutine callbacks()
    integer(c_int64_t), parameter :: n = 60
    type(purlin_matrix) :: a
    type(purlin_spmv) :: plan
    type(purlin_spmv_options) :: ways
    type(purlin_lanczos_options) :: options
    real(c_double), target :: x(n), y(n), values(3)
    integer(c_int32_t), target :: both
    integer(c_int32_t) :: stat
    integer :: i
    character(60) :: text
    both = 0
    x = [(real(i * i, c_double), i=1, 60)]
    call a%from_operator(context, PURLIN_F64, n, n, c_funloc(bidiagonal), c_loc(both))
    call plan%create(a)
    call plan%apply(context, a, x, y)
    call check(all(abs(y(:59) - 2 * x(:59) - x(2:)) <= 0) .and. abs(y(60) - 7200) <= 0, 'a product')
    call purlin_init(ways)
    ways%op = PURLIN_SPMV_TRANSPOSE
    call plan%create(a, ways)
    call plan%apply(context, a, x, y)
    call check(all(abs(y(2:) - 2 * x(2:) - x(:59)) <= 0) .and. abs(y(1) - 2) <= 0, 'with the transpose')
    ways%op = PURLIN_SPMV_PLAIN
    ways%kind = PURLIN_LANCZOS_LAPLACIAN
    call plan%create(a, ways, stat)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED, 'no graph')
    call purlin_init(options)
    options%check_symmetry = 1
    text = ''
    call purlin_lanczos_solve_once(context, a, values, options=options, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'a: ') == 1, 'an operator that is not symmetric')
    both = 1
    call purlin_lanczos_solve_once(context, a, values, options=options)
    call check(abs(values(1) - 2 - 2 * cos(acos(-1.0_c_double) / 61)) < 1e-9, 'one that is')
    options%check_symmetry = 2
    call purlin_lanczos_solve_once(context, a, values, options=options, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'check_symmetry: ') == 1, 'neither 0 nor 1')
  end subroutine

  !> Residuals that contradict the method are no success: of a solve with another matrix, of an operator that is not
  !> symmetric.
  subroutine contradicted()
    integer(c_int64_t), parameter :: n = 200, few = 60
    type(purlin_matrix) :: a, solve
    type(purlin_lanczos_options) :: options
    type(purlin_lanczos_info) :: info
    real(c_double) :: values(3)
    real(c_double), target :: shift
    integer(c_int32_t), target :: both
    integer(c_int32_t) :: stat
    character(200) :: text
    call purlin_init(options)
    options%which = PURLIN_LANCZOS_NEAREST
    options%sigma = 30.3_c_double
    call a%from_operator(context, PURLIN_F64, n, n, c_funloc(diagonal))
    shift = -30.3_c_double
    call solve%from_operator(context, PURLIN_F64, n, n, c_funloc(diagonal), c_loc(shift))
    call purlin_lanczos_solve_once(context, a, values, options=options, info=info, solve=solve)
    call check(info%stop_reason == PURLIN_LANCZOS_CONVERGED .and. abs(values(1) - 30) < 1e-9, 'a solve')
    shift = -30.3_c_double - 1e-6_c_double
    text = ''
    call purlin_lanczos_solve_once(context, a, values, options=options, info=info, solve=solve, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_NO_CONVERGENCE .and. index(text, 'contradict') > 0, text)
    call check(info%stop_reason == PURLIN_LANCZOS_CONTRADICTED .and. info%converged < 3 .and. info%verified == 0, 'contradicted')
    both = 0
    call a%from_operator(context, PURLIN_F64, few, few, c_funloc(bidiagonal), c_loc(both))
    call purlin_init(options)
    text = ''
    call purlin_lanczos_solve_once(context, a, values, options=options, info=info, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_NUMERICAL .and. index(text, 'not symmetric') > 0, text)
  end subroutine

  !> A solve shared by several contexts has the result of one context, and the shares of its plan.
  subroutine contexts()
    integer, parameter :: n = 200
    type(purlin_context) :: more(2)
    type(purlin_matrix) :: a
    type(purlin_lanczos) :: solver
    type(purlin_lanczos_options) :: options, shared
    type(purlin_lanczos_info) :: info, plan
    type(purlin_group) :: group
    real(c_double) :: values(4), vectors(n, 4), others(4), other_vectors(n, 4), residuals(4)
    integer(c_int32_t) :: stat
    integer :: i
    call path(n, a)
    call purlin_init(options)
    options%basis = 60
    call purlin_lanczos_solve_once(context, a, values, vectors, options=options)
    do i = 1, 2
      call more(i)%create(backend=PURLIN_BACKEND_CPU, threads=1_c_int32_t)
    end do
    shared = options
    do i = 1, 2
      if (i == 1) then
        call group%create([context%handle(), more(1)%handle()])
      else
        call group%create([context%handle(), more(1)%handle(), more(2)%handle()])
      end if
      shared%group = group%handle()
      call purlin_lanczos_solve_once(context, a, others, other_vectors, residuals, shared, info)
      call check(info%contexts == i + 1 .and. info%converged == 4 .and. all(residuals < 1e-8), 'a shared solve')
      call check(near(others, values), 'finds the same values')
      call check(near(abs(sum(vectors * other_vectors, 1)), [1.0_c_double, 1.0_c_double, 1.0_c_double, 1.0_c_double]), &
        'and vectors')
      call solver%create(context, shared)
      call solver%plan(a, plan)
      call check(plan%contexts == info%contexts .and. plan%part_rows == info%part_rows .and. &
        plan%part_entries == info%part_entries .and. plan%product_bytes == info%product_bytes, 'the shares')
      ! Each cut of the path is crossed by one number in either direction.
      call check(plan%halo == 2 * i .and. plan%halo == info%halo .and. plan%halo_bytes == 16 * i, 'exchanged numbers and bytes')
      call check(plan%products == 0 .and. plan%converged == 0 .and. plan%count == 0, 'and no solve')
      if (i == 1) call check(plan%part_rows == 100 .and. plan%part_entries == 199, 'halves')
    end do
    call group%create([more(1)%handle(), context%handle()])
    shared%group = group%handle()
    call solver%create(context, shared, stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a group that begins with another context')
  end subroutine

  !> So do coordinates, clusters and the Fiedler vector.
  subroutine contexts_of_graphs()
    integer, parameter :: n = 60
    type(purlin_context) :: another
    type(purlin_matrix) :: a
    type(purlin_lanczos) :: solver
    type(purlin_lanczos_options) :: options
    type(purlin_lanczos_info) :: info
    type(purlin_group) :: group
    integer(c_int32_t) :: stat
    real(c_double) :: first(n, 2), coordinates(n, 2), vector(n), alone(n), values(2), value(2)
    integer(c_int64_t) :: labels(n)
    call path(n, a)
    call another%create(backend=PURLIN_BACKEND_CPU, threads=1_c_int32_t)
    call group%create([context%handle(), another%handle()])
    call purlin_init(options)
    options%group = group%handle()
    call purlin_graph_embed(context, a, first)
    call purlin_graph_embed(context, a, coordinates, values, options=options, info=info)
    call check(info%contexts == 2 .and. info%halo == 2, 'a shared embedding')
    call check(near(abs(sum(first * coordinates, 1)), sum(first**2, 1)), 'the same coordinates')
    call purlin_graph_cluster(context, a, 2_c_int64_t, labels, options=options, info=info)
    call check(info%contexts == 2 .and. labels(1) /= labels(n), 'shared clusters')
    call purlin_graph_fiedler(context, a, alone, value(1))
    call purlin_graph_fiedler(context, a, vector, value(2), options=options, info=info)
    call check(info%contexts == 2 .and. near(value(1:1), value(2:2)), 'a shared Fiedler vector')
    call check(abs(abs(dot_product(vector, alone)) - 1) < 1e-9, 'the same vector')
    options%count = 2
    call solver%create(context, options)
    call purlin_graph_embed(context, a, coordinates, values, solver=solver)
    call check(near(abs(sum(first * coordinates, 1)), sum(first**2, 1)), 'coordinates by a solver')
    call purlin_graph_cluster(context, a, 2_c_int64_t, labels, solver=solver)
    call solver%last_info(info)
    call check(info%contexts == 2 .and. labels(1) /= labels(n), 'clusters by a solver')
    call purlin_graph_embed(context, a, coordinates, options=options, solver=solver, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a solver has options of its own')
    call purlin_init(options)
    options%count = 1
    call solver%create(context, options)
    call purlin_graph_fiedler(context, a, vector, value(2), solver=solver)
    call check(abs(value(1) - value(2)) < 1e-9, 'the Fiedler vector by a solver')
  end subroutine
end program test_operators
