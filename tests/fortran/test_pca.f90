! Principal components of data whose factors are known, far from the origin.
program test_pca
  use, intrinsic :: iso_c_binding
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  use purlin
  use checks
  implicit none
  integer(c_int64_t), parameter :: m = 120, n = 70
  real(c_double) :: a(m, n)
  integer :: i, j, r

  a = 0
  do j = 1, 30
    do i = 1, int(n)
      a(:, i) = a(:, i) + sigma(j) * cosine(i, j, n) * [(cosine(r, j, m), r=1, int(m))]
    end do
  end do
  call components()
  call check_none_live()

contains

  pure function sigma(k) result(value)
    integer, intent(in) :: k
    real(c_double) :: value
    value = 0.6_c_double**(k - 1)
  end function

  !> Element i of the j-th of a set of orthonormal vectors, all of mean 0.
  pure function cosine(i, j, length) result(value)
    integer, intent(in) :: i, j
    integer(c_int64_t), intent(in) :: length
    real(c_double) :: value
    value = sqrt(2 / real(length, c_double)) * cos(acos(-1.0_c_double) * (i - 0.5_c_double) * j / length)
  end function

  subroutine components()
    type(purlin_context) :: context
    type(purlin_matrix) :: given, scores, rebuilt, axes
    type(purlin_tensor) :: means
    type(purlin_rsvd) :: session
    type(purlin_pca) :: model
    type(purlin_pca_info) :: info
    type(purlin_rsvd_info) :: planned, report
    type(purlin_pca_options) :: wrong
    integer(c_int32_t) :: status
    character(200) :: message
    real(c_double), allocatable, target :: x(:, :), back(:, :)
    real(c_double), target :: z(m, 4), again(m, 4), mean(n), directions(n, 4)
    real(c_double) :: values(4), variance(4), ratio(4), scale(n)
    type(purlin_rsvd_options) :: exact
    integer :: k
    allocate (x(m, n), source=a + 100)
    allocate (back(m, n))
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(exact)
    exact%rank = 4
    exact%power_iterations = 6
    call session%create(context, exact)
    call given%borrow(context, x)
    call scores%borrow(context, z)
    call model%plan(session, given, planned, with_scores=.true.)
    call model%fit(session, given, scores=scores, info=report)
    call check(planned%method == report%method .and. planned%passes == report%passes, 'the plan of a fit')
    call check(planned%host_bytes == report%host_bytes .and. planned%rank == 4, 'and its memory')
    call purlin_init(wrong)
    wrong%center = 0
    wrong%scale = 1
    call model%plan(session, given, planned, wrong, stat=status, errmsg=message)
    call check(status == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'scale: is set without center') == 1, 'as a fit')
    ! A fit that fails leaves the earlier model, which transforms below.
    call rebuilt%borrow(context, back)
    back = ieee_value(0.0_c_double, ieee_quiet_nan)
    call model%fit(session, rebuilt, stat=status, errmsg=message)
    call check(status == PURLIN_ERROR_INVALID_ARGUMENT .and. len_trim(message) > 0, 'a fit of NaN')
    call session%destroy()
    call model%properties(info)
    call check(info%count == m .and. info%features == n .and. info%rank == 4 .and. info%centered == 1, 'properties')
    call model%singular_values(context, values)
    call check(doubles_near(values, [(sigma(k), k=1, 4)], 1e-10_c_double), 'the cosines have no mean')
    call model%explained_variance(context, variance)
    call check(doubles_near(variance, values**2 / (m - 1), 1e-12_c_double), 'explained variance')
    call model%explained_variance_ratio(context, ratio)
    call check(doubles_near(ratio * info%total_variance, variance, 1e-12_c_double), 'its ratio')
    call model%scale(context, scale)
    call check(all(abs(scale - 1) <= 0), 'nothing is scaled')
    call model%constant(context, scale)
    call check(all(abs(scale) <= 0), 'no feature is constant')
    call means%borrow(context, mean)
    call model%mean(means)
    call check(maxval(abs(mean - 100)) < 1e-11, 'means')
    call axes%borrow(context, directions)
    call model%components(axes)
    call check(all([(abs(norm2(directions(:, k)) - 1) < 1e-12, k=1, 4)]), 'components')
    call scores%borrow(context, again)
    call model%transform(given, scores)
    call check(maxval(abs(again - z)) < 1e-10, 'the same scores')
    call rebuilt%borrow(context, back)
    call model%inverse_transform(scores, rebuilt)
    call check(maxval(abs(back - x)) < sigma(5), 'and back')
  end subroutine
end program test_pca
