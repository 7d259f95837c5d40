! Randomized SVD of matrices whose factors are known: arrays, sections, blocks, products.
module rsvd_callbacks
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int64_t), parameter :: m = 120, n = 70
  real(c_double), target :: a(m, n)
  integer :: calls = 0

contains

  !> Blocks of the columns of a.
  function deliver(first, count, block, user) bind(c) result(failed)
    type(c_ptr), value :: first, count, block, user
    integer(c_int32_t) :: failed
    integer(c_int64_t), pointer :: at(:), extent(:)
    real(c_double), pointer :: out(:, :)
    failed = merge(7_c_int32_t, 0_c_int32_t, c_associated(user))
    if (failed /= 0) return
    calls = calls + 1
    call c_f_pointer(first, at, [2])
    call c_f_pointer(count, extent, [2])
    call c_f_pointer(block, out, extent)
    out = a(at(1) + 1:at(1) + extent(1), at(2) + 1:at(2) + extent(2))
  end function

  function multiply(adjoint, count, x, ldx, y, ldy, cuda_stream, user) bind(c) result(failed)
    integer(c_int32_t), value :: adjoint
    integer(c_int64_t), value :: count, ldx, ldy, cuda_stream
    type(c_ptr), value :: x, y, user
    integer(c_int32_t) :: failed
    real(c_double), pointer :: given(:, :), out(:, :)
    failed = merge(5_c_int32_t, 0_c_int32_t, c_associated(user) .or. cuda_stream /= 0)
    if (failed /= 0) return
    call c_f_pointer(x, given, [ldx, count])
    call c_f_pointer(y, out, [ldy, count])
    if (adjoint == 1) then
      out(:n, :) = matmul(transpose(a), given(:m, :))
    else
      out(:m, :) = matmul(a, given(:n, :))
    end if
  end function

  !> Twice the products with the adjoint.
  function multiply_wrongly(adjoint, count, x, ldx, y, ldy, cuda_stream, user) bind(c) result(failed)
    integer(c_int32_t), value :: adjoint
    integer(c_int64_t), value :: count, ldx, ldy, cuda_stream
    type(c_ptr), value :: x, y, user
    integer(c_int32_t) :: failed
    real(c_double), pointer :: out(:, :)
    failed = multiply(adjoint, count, x, ldx, y, ldy, cuda_stream, user)
    if (failed /= 0 .or. adjoint /= 1) return
    call c_f_pointer(y, out, [ldy, count])
    out(:n, :) = 2 * out(:n, :)
  end function

  function stop_at_once(step, steps, measure, user) bind(c) result(cancel)
    integer(c_int64_t), value :: step, steps
    real(c_double), value :: measure
    type(c_ptr), value :: user
    integer(c_int32_t) :: cancel
    cancel = merge(1_c_int32_t, 0_c_int32_t, step <= max(steps, step) .and. measure >= 0 .and. .not. c_associated(user))
  end function
end module rsvd_callbacks

program test_rsvd
  use, intrinsic :: iso_c_binding
  use purlin
  use checks
  use rsvd_callbacks
  implicit none
  integer :: i, j

  a = 0
  do j = 1, 30
    do i = 1, int(n)
      a(:, i) = a(:, i) + sigma(j) * cosines(m, j) * cosine(i, j, n)
    end do
  end do
  call triplets()
  call other_kinds()
  call leading_dimensions()
  call outside()
  call tolerance()
  call estimates()
  call bases()
  call refusals()
  call check_none_live()

contains

  pure function sigma(k) result(value)
    integer, intent(in) :: k
    real(c_double) :: value
    value = 0.6_c_double**(k - 1)
  end function

  !> Element i of the j-th of a set of orthonormal vectors.
  pure function cosine(i, j, length) result(value)
    integer, intent(in) :: i, j
    integer(c_int64_t), intent(in) :: length
    real(c_double) :: value
    value = sqrt(2 / real(length, c_double)) * cos(acos(-1.0_c_double) * (i - 0.5_c_double) * j / length)
  end function

  pure function cosines(length, j) result(values)
    integer(c_int64_t), intent(in) :: length
    integer, intent(in) :: j
    real(c_double) :: values(length)
    integer :: i
    values = [(cosine(i, j, length), i=1, int(length))]
  end function

  pure function expected(k) result(values)
    integer, intent(in) :: k
    real(c_double) :: values(k)
    integer :: i
    values = [(sigma(i), i=1, k)]
  end function

  !> Options that bring the values to rounding.
  function exact(rank) result(options)
    integer, intent(in) :: rank
    type(purlin_rsvd_options) :: options
    call purlin_init(options)
    options%rank = rank
    options%power_iterations = 6
  end function

  subroutine triplets()
    type(purlin_context) :: context
    type(purlin_rsvd_info) :: info
    real(c_double), target :: u(m, 5), s(5), v(n, 5), wide(m, 12)
    real(c_double), allocatable :: rebuilt(:, :)
    integer :: k
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_rsvd_compute_once(context, a, s, u, v, exact(0), info)
    call check(doubles_near(s, expected(5), 1e-12_c_double), 'singular values')
    do k = 1, 5
      call check(abs(sum(u(:, k)**2) - 1) < 1e-12 .and. abs(sum(v(:, k)**2) - 1) < 1e-12, 'unit vectors')
      call check(abs(abs(dot_product(v(:, k), cosines(n, k))) - 1) < 1e-10, 'that are those of the matrix')
      call check(v(maxloc(abs(v(:, k)), 1), k) > 0, 'with the sign that was promised')
    end do
    rebuilt = matmul(u * spread(s, 1, int(m)), transpose(v))
    call check(abs(norm2(rebuilt - a) - info%error_frobenius) < 1e-10, 'the error is known')
    call check(info%rank == 5 .and. info%passes > 0 .and. len(purlin_string(info%reason)) > 0, 'the info')
    ! Values alone, and sections of arrays.
    s = 0
    wide = 0
    call purlin_rsvd_compute_once(context, a, s, options=exact(0))
    call check(doubles_near(s, expected(5), 1e-12_c_double), 'values alone')
    call purlin_rsvd_compute_once(context, a(11:, :40), s, wide(11:, 3:7), options=exact(0))
    call check(all(abs(wide(:10, :)) <= 0) .and. all(abs(wide(:, 8:)) <= 0), 'a section and nothing else is written')
    call check(abs(norm2(wide(11:, 3)) - 1) < 1e-12, 'a section is written')
  end subroutine

  subroutine other_kinds()
    type(purlin_context) :: context
    real(c_float), allocatable :: single(:, :)
    real(c_float) :: s32(4)
    complex(c_double_complex), allocatable :: turned(:, :)
    complex(c_double_complex) :: u(m, 4), v(n, 4)
    complex(c_float_complex), allocatable :: small(:, :)
    real(c_double) :: s(4)
    complex(c_double_complex), parameter :: i = (0, 1)
    call context%create(backend=PURLIN_BACKEND_CPU)
    single = real(a, c_float)
    call purlin_rsvd_compute_once(context, single, s32, options=exact(0))
    call check(doubles_near(real(s32, c_double), expected(4), 5e-6_c_double), 'single precision')
    turned = i * a
    call purlin_rsvd_compute_once(context, turned, s, u, v, exact(0))
    call check(doubles_near(s, expected(4), 1e-12_c_double), 'complex')
    call check(maxval(abs(matmul(turned, v) - u * spread(s, 1, int(m)))) < 1e-10, 'A v = s u')
    small = cmplx(turned, kind=c_float)
    call purlin_rsvd_compute_once(context, small, s32, options=exact(0))
    call check(doubles_near(real(s32, c_double), expected(4), 5e-6_c_double), 'complex single precision')
  end subroutine

  subroutine leading_dimensions()
    type(purlin_context) :: context
    real(c_double), allocatable :: held(:, :)
    real(c_double) :: u(m + 1, 4), v(n + 2, 4), s(4)
    call context%create(backend=PURLIN_BACKEND_CPU)
    allocate (held(m + 3, n), source=-1.0_c_double)
    held(:m, :) = a
    u = 7
    v = 7
    call purlin_rsvd_compute_once_ld(context, m, n, 4_c_int64_t, held, m + 3, s, u, m + 1, v, n + 2, exact(0))
    call check(doubles_near(s, expected(4), 1e-12_c_double), 'leading dimensions')
    call check(all(abs(u(m + 1, :) - 7) <= 0) .and. all(abs(v(n + 1:, :) - 7) <= 0), 'padding is not written')
    call check(maxval(abs(matmul(a, v(:n, :)) - u(:m, :) * spread(s, 1, int(m)))) < 1e-10, 'A v = s u')
  end subroutine

  subroutine outside()
    type(purlin_context) :: context
    type(purlin_source) :: source
    type(purlin_matrix) :: matrix
    type(purlin_tensor) :: values
    type(purlin_rsvd) :: session
    type(purlin_pca) :: model
    type(purlin_rsvd_info) :: info, slow, alone
    type(purlin_rsvd_options) :: options
    real(c_double), target :: s(5)
    integer, target :: anything
    integer(c_int32_t) :: stat
    character(300) :: text
    call context%create(backend=PURLIN_BACKEND_CPU)
    options = exact(5)
    options%block_rows = 32
    call session%create(context, options)
    call values%borrow(context, s)
    call source%from_callback(context, PURLIN_F64, [m, n], c_funloc(deliver))
    call matrix%from_source(context, source)
    call session%plan(matrix, info)
    call check(info%columns == 15 .and. info%passes > 0, 'a plan')
    call session%plan(matrix, alone, with_u=.false., with_v=.false.)
    call check(alone%host_bytes <= info%host_bytes, 'a plan of values alone')
    call session%compute(matrix, s=values, info=info)
    call check(alone%host_bytes == info%host_bytes, 'a plan is that of the factors that are wanted')
    call check(doubles_near(s, expected(5), 1e-12_c_double) .and. calls > 1, 'read in blocks')
    call source%from_callback(context, PURLIN_F32, [2000_c_int64_t, 2000_c_int64_t], c_funloc(deliver))
    call matrix%from_source(context, source)
    call purlin_init(options)
    options%rank = 300
    call session%create(context, options)
    call session%plan(matrix, info)
    options%read_rate = 1e6_c_double
    call session%create(context, options)
    call session%plan(matrix, slow)
    call check(slow%method /= info%method .and. slow%passes < info%passes, 'a slow reader is read in fewer passes')
    s = 0
    options = exact(5)
    call session%create(context, options)
    call matrix%from_operator(context, PURLIN_F64, m, n, c_funloc(multiply))
    call session%compute(matrix, s=values)
    call check(doubles_near(s, expected(5), 1e-12_c_double), 'by products')
    call matrix%from_operator(context, PURLIN_F64, m, n, c_funloc(multiply), c_loc(anything))
    call session%compute(matrix, s=values, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_IO .and. index(text, '5') > 0, 'a product that fails')
    call matrix%from_operator(context, PURLIN_F64, m, n, c_funloc(multiply_wrongly))
    call session%compute(matrix, s=values, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'a: adjoint is not that of A') == 1, &
      'a wrong adjoint')
    call model%fit(session, matrix, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'x: adjoint is not that of A') == 1, &
      'a wrong adjoint of samples')
  end subroutine

  subroutine tolerance()
    type(purlin_context) :: context
    type(purlin_rsvd_options) :: options
    type(purlin_rsvd_info) :: info
    real(c_double) :: u(m, 40), s(40), v(n, 40)
    integer :: k
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(options)
    options%tolerance = 1e-3_c_double
    options%block_columns = 4
    call purlin_rsvd_compute_once(context, a, s, u, v, options, info)
    k = int(info%rank)
    call check(k >= 13 .and. k <= 18 .and. info%converged == 1, 'as many as it takes')
    call check(norm2(matmul(u(:, :k) * spread(s(:k), 1, int(m)), transpose(v(:, :k))) - a) <= 1e-3_c_double * norm2(a), &
      'and no worse than asked for')
    call check(all(abs(s(k + 1:)) <= 0), 'the others are 0')
  end subroutine

  subroutine estimates()
    type(purlin_context) :: context
    type(purlin_matrix) :: given, left, right
    type(purlin_tensor) :: values, above, below
    type(purlin_rsvd) :: session, closer
    type(purlin_rsvd_options) :: options
    real(c_double), target :: u(m, 5), s(5), v(n, 5), first(5), second(5)
    real(c_double) :: frobenius, spectral, tail
    call context%create(backend=PURLIN_BACKEND_CPU)
    call session%create(context, exact(5))
    call given%borrow(context, a)
    call left%borrow(context, u)
    call right%borrow(context, v)
    call values%borrow(context, s)
    call session%compute(given, left, values, right)
    spectral = -1
    call session%error(given, left, values, right, frobenius, spectral)
    tail = sigma(6) / sqrt(1 - 0.36_c_double)
    call check(frobenius > 0.5 * tail .and. frobenius < 2 * tail, 'the Frobenius norm of the error')
    call check(spectral >= sigma(6) * 0.999_c_double, 'the spectral norm of the error')
    options = exact(5)
    options%error = PURLIN_RSVD_ERROR_POWER
    call closer%create(context, options)
    call closer%error(given, left, values, right, frobenius, spectral)
    call check(abs(spectral / sigma(6) - 1) < 0.05_c_double, 'the spectral norm by power iteration')
    call above%borrow(context, first)
    call below%borrow(context, second)
    call session%residuals(given, left, values, right, above, below)
    call check(maxval(first) < 1e-10 .and. maxval(second) < 1e-6 .and. minval([first, second]) >= 0, 'residuals')
  end subroutine

  subroutine bases()
    type(purlin_context) :: context
    type(purlin_matrix) :: given, basis, rest, omega, hermitian, vectors
    type(purlin_tensor) :: values
    type(purlin_rsvd) :: session
    type(purlin_rsvd_info) :: info, last
    integer(c_int32_t) :: stat
    real(c_double), target :: q(m, 12), b(12, n), sketch(n, 15), drawn(5), with(5), h(50, 50), lambda(3), v(50, 3)
    integer :: k
    call context%create(backend=PURLIN_BACKEND_CPU)
    call session%create(context, exact(5))
    call given%borrow(context, a)
    call basis%borrow(context, q)
    call rest%borrow(context, b)
    call session%range(given, basis, rest)
    call check(maxval(abs(matmul(q, b) - a)) < sigma(12), 'Q B is near A')
    call omega%borrow(context, sketch)
    call session%create(context, exact(5))
    call session%last_info(info, stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'no report before a run')
    call session%sketch(omega)
    call values%borrow(context, drawn)
    call session%compute(given, s=values)
    call session%set_sketch(omega)
    call values%borrow(context, with)
    call session%compute(given, s=values, info=info)
    call check(info%sketch == PURLIN_SKETCH_GIVEN .and. doubles_near(drawn, with, 1e-12_c_double), 'a given sketch')
    call session%last_info(last)
    call check(last%sketch == PURLIN_SKETCH_GIVEN .and. last%rank == info%rank, 'the last report')
    with = 0
    call purlin_rsvd_compute_once(context, given, exact(5), s=values, info=last)
    call check(doubles_near(drawn, with, 1e-12_c_double) .and. last%rank == info%rank, 'objects in one call')
    call session%set_sketch()
    h = 0
    do k = 1, 50
      h(k, k) = (-0.5_c_double)**(k - 1)
    end do
    call session%create(context, exact(3))
    call hermitian%borrow(context, h)
    call vectors%borrow(context, v)
    call values%borrow(context, lambda)
    call session%symmetric(hermitian, values, vectors)
    call check(doubles_near(lambda, [1.0_c_double, -0.5_c_double, 0.25_c_double], 1e-12_c_double), 'eigenvalues')
    call check(abs(abs(v(2, 2)) - 1) < 1e-10, 'and their vectors')
  end subroutine

  subroutine refusals()
    type(purlin_context) :: context
    type(purlin_rsvd_options) :: options
    real(c_double) :: s(4), u(m, 3)
    integer(c_int32_t) :: stat
    character(300) :: text
    call context%create(backend=PURLIN_BACKEND_CPU)
    options = exact(0)
    call purlin_rsvd_compute_once(context, a, s, u, options=options, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'u') > 0, 'too narrow')
    options%power_iterations = -2
    call purlin_rsvd_compute_once(context, a, s, options=options, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'power_iterations') > 0, 'no such number')
    options = exact(0)
    options%progress = c_funloc(stop_at_once)
    call purlin_rsvd_compute_once(context, a, s, options=options, stat=stat)
    call check(stat == PURLIN_ERROR_CANCELLED, 'cancelled')
  end subroutine
end program test_rsvd
