! Eigenpairs: the published tables by both solvers, options, callbacks, errors.
module watching
  use, intrinsic :: iso_c_binding, only: c_ptr, c_double, c_int32_t, c_int64_t, c_f_pointer
  implicit none

contains

  !> Counts its calls in the integer that `user` points to, and continues.
  function count_calls(step, steps, measure, user) bind(c) result(cancel)
    integer(c_int64_t), value :: step, steps
    real(c_double), value :: measure
    type(c_ptr), value :: user
    integer(c_int32_t) :: cancel
    integer(c_int32_t), pointer :: calls
    call c_f_pointer(user, calls)
    calls = calls + 1
    cancel = 0
    if (step < 0 .or. step > steps .or. measure < 0) calls = -1000
  end function

  !> Cancels at once.
  function stop_now(step, steps, measure, user) bind(c) result(cancel)
    integer(c_int64_t), value :: step, steps
    real(c_double), value :: measure
    type(c_ptr), value :: user
    integer(c_int32_t) :: cancel
    integer(c_int32_t), pointer :: calls
    call c_f_pointer(user, calls)
    calls = calls + 1
    cancel = merge(1, 0, step <= steps .or. measure > 0)
  end function
end module watching

program test_eigenpairs
  use, intrinsic :: iso_c_binding, only: c_funloc, c_loc
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan, ieee_value, ieee_quiet_nan
  use purlin
  use checks
  use watching
  implicit none

  call published_complete(4, 11)
  call published_complete(3, 7)
  call maxima_and_minima()
  call odd_order_and_nearly_isotropic()
  call nearly_isotropic_in_five_dimensions()
  call circle_of_maxima()
  call maxima_in_single_precision()
  call on_objects()
  call by_a_solver()
  call bad_tensor_in_batch()
  call iteration_counts()
  call start_vectors()
  call progress()
  call refusals()
  call check_none_live()

contains

  !> The tensor of order m from the published tables, and its pairs: lambda, x, Hessian eigenvalues, negative ones.
  subroutine published(m, tensor, pairs)
    integer, intent(in) :: m
    real(real64), intent(out) :: tensor(:), pairs(:, :)
    real(real64) :: flat(size(pairs))
    character(1) :: digit
    write (digit, '(i1)') m
    call read_numbers(folder(1) // 'sshopm/published_' // digit // '_3_tensor.txt', tensor)
    call read_numbers(folder(1) // 'sshopm/published_' // digit // '_3_pairs.txt', flat)
    pairs = reshape(flat, shape(pairs))
  end subroutine

  !> All pairs of a published table, nothing else, each with its class; then the same from classify.
  subroutine published_complete(m, n_pairs)
    integer, intent(in) :: m, n_pairs
    type(purlin_context) :: context
    type(purlin_sshopm_info) :: info
    real(real64) :: tensor((m + 1) * (m + 2) / 2), pairs(7, n_pairs), sign
    real(real64) :: values(40), vectors(3, 40), residuals(40), hessian(2, 40), again(2, n_pairs), remains(n_pairs)
    integer(int32) :: found, classes(40), basins(40), status, morse_sum, morse_expected, same(n_pairs)
    integer :: i
    call published(m, tensor, pairs)
    call context%create(backend=PURLIN_BACKEND_CPU, threads=2)
    call purlin_sshopm_solve_all_once(context, m, 3, tensor, values, vectors, found, residuals, classes, hessian, basins, &
      status, morse_sum=morse_sum, morse_expected=morse_expected, info=info)
    call check(found == n_pairs, 'as many pairs as published')
    call check(status == PURLIN_TENSOR_OK .and. morse_sum == 1 .and. morse_expected == 1, 'a complete set')
    call check(info%tensors == 1 .and. info%starts > 0 .and. info%iterations > 0, 'the report of the search')
    do i = 1, n_pairs
      call check(abs(values(i) - pairs(1, i)) < 1e-9_real64, 'lambda as published')
      sign = dot_product(vectors(:, i), pairs(2:4, i))
      if (m == 3) call check(sign > 0, 'the sign that makes lambda positive')
      sign = merge(1, -1, sign > 0)
      call check(doubles_near(sign * vectors(:, i), pairs(2:4, i), 1e-8_real64), 'x as published')
      call check(doubles_near(hessian(:, i), pairs(5:6, i), 1e-7_real64), 'the projected Hessian as published')
      call check(residuals(i) < 1e-13_real64, 'a small residual')
      call check(classes(i) == class_of(nint(pairs(7, i))), 'the class as published')
      call check(basins(i) > 0, 'some start has found it')
    end do
    call check(all(ieee_is_nan(values(n_pairs + 1:))), 'NaN where there is no pair')
    call purlin_sshopm_classify(context, m, 3, tensor, values(:n_pairs), vectors(:, :n_pairs), remains, again, &
      same)
    call check(all(same == classes(:n_pairs)) .and. maxval(remains) < 1e-13_real64, 'classify agrees')
    call check(maxval(abs(again - hessian(:, :n_pairs))) < 1e-12_real64, 'classify has the same Hessian')
  end subroutine

  integer(int32) function class_of(negative)
    integer, intent(in) :: negative
    select case (negative)
    case (2)
      class_of = PURLIN_PAIR_NEGATIVE_STABLE
    case (0)
      class_of = PURLIN_PAIR_POSITIVE_STABLE
    case default
      class_of = PURLIN_PAIR_UNSTABLE
    end select
  end function

  !> Exactly the three maxima and the three minima of the published tensor of order 4, by both methods.
  subroutine maxima_and_minima()
    type(purlin_context) :: context
    type(purlin_sshopm_options) :: options
    type(purlin_sshopm_info) :: info
    real(real64) :: tensor(15), pairs(7, 11), values(8), residuals(8)
    integer(int32) :: found, listed, classes(8), status, method, stat
    call published(4, tensor, pairs)
    call context%create(backend=PURLIN_BACKEND_CPU)
    do method = PURLIN_SSHOPM_HYBRID, PURLIN_SSHOPM_POWER
      call purlin_init(options)
      options%method = method
      options%tolerance = 1e-13_real64
      call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, count=found, residuals=residuals, classes=classes, &
        status=status, options=options)
      call check(found == 3 .and. status == PURLIN_TENSOR_OK, 'three maxima')
      call check(doubles_near(values(:3), pairs(1, [1, 2, 4]), 1e-9_real64), 'the published ones')
      call check(all(classes(:3) == PURLIN_PAIR_NEGATIVE_STABLE), 'all of them maxima')
      options%goal = PURLIN_SSHOPM_MINIMA
      call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, count=found, residuals=residuals, options=options)
      call check(found == 3, 'three minima')
      call check(doubles_near(values(:3), pairs(1, [11, 10, 9]), 1e-9_real64), 'the published ones, ascending')
      call check(maxval(residuals(:3)) < 1e-12_real64, 'with small residuals')
      options%goal = PURLIN_SSHOPM_BOTH
      call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, count=found, options=options)
      call check(found == 6 .and. doubles_near(values(:6), pairs(1, [1, 2, 4, 11, 10, 9]), 1e-9_real64), 'both')
      ! Arrays for two of three pairs.
      options%goal = PURLIN_SSHOPM_MAXIMA
      call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values(:2), count=listed, found=found, options=options, &
        info=info)
      call check(listed == 2 .and. found == 3 .and. info%truncated_tensors == 1, 'pairs without a place are counted')
      call check(doubles_near(values(:2), pairs(1, [1, 2]), 1e-9_real64), 'the first of them are there')
      call check(info%unconverged_tensors == 0 .and. info%reserved == 0, 'every start has converged')
      options%max_iterations = 1
      options%tolerance = 1e-15_real64
      call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, count=listed, options=options, info=info, stat=stat)
      call check(info%unconverged_tensors == 1, 'starts that did not converge are counted')
    end do
  end subroutine

  !> 3 x^3 + 2 y^3 + z^3: the axes, and the negative of the minimum at 1 / (3, 2, 1), of value 6/7; a form near the
  !> identity; too few iterations.
  subroutine odd_order_and_nearly_isotropic()
    type(purlin_context) :: context
    type(purlin_sshopm_options) :: options
    type(purlin_sshopm_info) :: info
    real(real64), parameter :: expected(4) = [3.0_real64, 2.0_real64, 1.0_real64, -6.0_real64 / 7]
    real(real64) :: cubes(10), close(15), tensor(15), pairs(7, 11), values(8)
    integer(int32) :: found, status, classes(8)
    cubes = 0
    cubes([1, 7, 10]) = [3.0_real64, 2.0_real64, 1.0_real64]
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(options)
    call purlin_sshopm_solve_once(context, 3_int64, 3_int64, cubes, values, count=found, classes=classes, status=status)
    call check(found == 4 .and. status == PURLIN_TENSOR_OK, 'four maxima of odd order')
    call check(doubles_near(values(:4), expected, 1e-9_real64), 'one of them below 0')
    call check(all(classes(:4) == PURLIN_PAIR_NEGATIVE_STABLE), 'all of them maxima')
    options%goal = PURLIN_SSHOPM_MINIMA
    call purlin_sshopm_solve_once(context, 3_int64, 3_int64, cubes, values, count=found, classes=classes, options=options)
    call check(found == 4 .and. doubles_near(values(:4), -expected, 1e-9_real64), 'the minima are at the other side')
    call check(all(classes(:4) == PURLIN_PAIR_POSITIVE_STABLE), 'all of them minima')
    options%goal = PURLIN_SSHOPM_BOTH
    call purlin_sshopm_solve_once(context, 3_int64, 3_int64, cubes, values, count=found, classes=classes, options=options)
    call check(found == 4 .and. doubles_near(values(:4), abs(expected), 1e-9_real64), 'both: each pair once')
    call check(count(classes(:4) == PURLIN_PAIR_NEGATIVE_STABLE) == 3, 'three as maxima')
    call check(classes(4) == PURLIN_PAIR_POSITIVE_STABLE, 'one as a minimum')
    call published(4, tensor, pairs)
    close = 1e-5_real64 * tensor
    close([1, 11, 15]) = close([1, 11, 15]) + 1
    close([4, 6, 13]) = close([4, 6, 13]) + 1.0_real64 / 3
    call purlin_init(options)
    options%tolerance = 1e-12_real64
    options%degeneracy_tolerance = 1e-12_real64
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, close, values, count=found, status=status, options=options)
    call check(found == 3 .and. status == PURLIN_TENSOR_OK, 'three maxima near the identity')
    call check(doubles_near((values(:3) - 1) * 1e5_real64, pairs(1, [1, 2, 4]), 1e-8_real64), 'those of the added tensor')
    call purlin_init(options)
    options%max_iterations = 4
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, count=found, status=status, options=options, info=info)
    call check(found > 0 .and. status == PURLIN_TENSOR_PARTIAL, 'a part of the starts has converged')
    call check(info%unconverged_tensors == 1, 'the tensor is counted')
  end subroutine

  !> |x|^4 + 1e-5 (5 x1^4 + 4 x2^4 + .. + x5^4): the maxima are the five axes.
  subroutine nearly_isotropic_in_five_dimensions()
    type(purlin_context) :: context
    type(purlin_sshopm_options) :: options
    real(real64), parameter :: expected(5) = [5.0_real64, 4.0_real64, 3.0_real64, 2.0_real64, 1.0_real64]
    real(real64) :: form(70), values(8)
    integer(int32) :: found, status, classes(8)
    integer :: i, j, k, l, at
    at = 0
    do i = 1, 5
      do j = i, 5
        do k = j, 5
          do l = k, 5
            at = at + 1
            form(at) = count([i == j .and. k == l, i == k .and. j == l, i == l .and. j == k]) / 3.0_real64
            if (i == l) form(at) = form(at) + 1e-5_real64 * (6 - i)
          end do
        end do
      end do
    end do
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(options)
    options%tolerance = 1e-12_real64
    options%degeneracy_tolerance = 1e-12_real64
    call purlin_sshopm_solve_once(context, 4_int64, 5_int64, form, values, count=found, classes=classes, status=status, &
        options=options)
    call check(found == 5 .and. status == PURLIN_TENSOR_OK, 'five maxima near the identity')
    call check(doubles_near((values(:5) - 1) / 1e-5_real64, expected, 1e-6_real64), 'those of the small part')
    call check(all(classes(:5) == PURLIN_PAIR_NEGATIVE_STABLE), 'all of them maxima')
  end subroutine

  !> (x^2 + y^2)^2 + (x^2 + y^2) z^2 / 2: the maxima are a circle, which is one entry.
  subroutine circle_of_maxima()
    type(purlin_context) :: context
    real(real64) :: form(15), values(8)
    integer(int32) :: listed, found, status, classes(8), expected
    form = 0
    form([1, 11]) = 1
    form(4) = 1.0_real64 / 3
    form([6, 13]) = 1.0_real64 / 12
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_sshopm_solve_all_once(context, 4_int64, 3_int64, form, values, count=listed, classes=classes, status=status, &
      morse_expected=expected, found=found)
    call check(listed == 2 .and. found == 2 .and. status == PURLIN_TENSOR_DEGENERATE, 'a circle is one entry')
    call check(doubles_near(values(:2), [1.0_real64, 0.0_real64], 1e-10_real64), 'with its value')
    call check(classes(1) == PURLIN_PAIR_DEGENERATE .and. classes(2) == PURLIN_PAIR_POSITIVE_STABLE, 'and its class')
    call check(all(classes(3:) == PURLIN_PAIR_NONE), 'places without a pair have no class')
    call check(expected == -huge(expected) - 1, 'nothing is expected of the sum')
  end subroutine

  subroutine maxima_in_single_precision()
    type(purlin_context) :: context
    real(real64) :: tensor(15), pairs(7, 11)
    real(real32) :: batch(15, 2, 2), values(3, 2, 2)
    integer(int32) :: found(2, 2)
    call published(4, tensor, pairs)
    batch = spread(spread(real(tensor, real32), 2, 2), 3, 2)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, batch, values, count=found)
    call check(all(found == 3), 'three maxima in every voxel')
    call check(maxval(abs(values(:, 2, 2) - real(pairs(1, [1, 2, 4]), real32))) < 1e-5, 'the published ones')
  end subroutine

  !> The form on tensor objects, with results picked one by one and every start reported.
  subroutine on_objects()
    type(purlin_context) :: context
    type(purlin_stream) :: stream
    type(purlin_tensor) :: tensors, values, start_status, start_iterations
    type(purlin_sshopm_options) :: options
    type(purlin_sshopm_results) :: results
    real(real64), target :: entries(15), top(2)
    real(real64) :: pairs(7, 11)
    integer(int32), target :: status(20), iterations(20)
    call published(4, entries, pairs)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call stream%create(context)
    call tensors%borrow_symmetric(context, 4_int64, 3_int64, entries, flags=PURLIN_READ_ONLY)
    call values%borrow_address(context, PURLIN_F64, [2_int64, 1_int64], c_loc(top))
    call start_status%borrow_address(context, PURLIN_I32, [20_int64, 1_int64], c_loc(status))
    call start_iterations%borrow_address(context, PURLIN_I32, [20_int64, 1_int64], c_loc(iterations))
    call purlin_init(options)
    options%starts = 20
    options%start_kind = PURLIN_STARTS_RANDOM
    options%seed = 7
    call purlin_init(results)
    results%values = values%handle()
    results%start_status = start_status%handle()
    results%start_iterations = start_iterations%handle()
    call purlin_sshopm_solve_once(context, tensors, results, options=options, stream=stream)
    call stream%synchronize()
    call check(doubles_near(top, pairs(1, [1, 2]), 1e-9_real64), 'the two largest')
    call check(all(status == PURLIN_START_CONVERGED), 'every start converged')
    call check(all(iterations > 0 .and. iterations <= 500), 'in some iterations')
  end subroutine

  !> One solver for two batches, its plan, its report and its refusals.
  subroutine by_a_solver()
    type(purlin_context) :: context
    type(purlin_sshopm) :: solver
    type(purlin_tensor) :: tensors, values
    type(purlin_sshopm_options) :: options
    type(purlin_sshopm_results) :: results
    type(purlin_sshopm_info) :: plan, info, last
    real(real64), target :: entries(15), top(11)
    real(real64) :: pairs(7, 11)
    integer(int32) :: stat, round
    character(200) :: message
    call published(4, entries, pairs)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call tensors%borrow_symmetric(context, 4_int64, 3_int64, entries, flags=PURLIN_READ_ONLY)
    call values%borrow_address(context, PURLIN_F64, [11_int64, 1_int64], c_loc(top))
    call purlin_init(results)
    results%values = values%handle()
    call purlin_init(options)
    options%starts = 50
    call solver%create(context, options)
    call solver%plan(tensors, plan)
    call check(plan%starts == 50 .and. plan%tensors == 1 .and. plan%host_bytes > 0, 'a plan')
    call solver%last_info(last, stat, message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'no report yet') > 0, 'no report yet')
    do round = 1, 2
      top = 0
      call solver%cancel()
      call solver%solve(tensors, results, info=info)
      call check(doubles_near(top(:3), pairs(1, [1, 2, 4]), 1e-9_real64), 'maxima by a solver')
    end do
    call solver%last_info(last)
    call check(last%iterations == info%iterations .and. last%starts == 50, 'the last report')
    call solver%destroy()
    call solver%create(context)
    call solver%solve_all(tensors, results)
    call check(doubles_near(top, pairs(1, :), 1e-9_real64), 'all pairs by a solver')
    options%goal = 9
    call solver%create(context, options, stat, message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'goal: is 9') > 0, 'a goal that there is not')
  end subroutine

  subroutine bad_tensor_in_batch()
    type(purlin_context) :: context
    real(real64) :: tensor(15), pairs(7, 11), batch(15, 4), values(3, 4)
    integer(int32) :: found(4), status(4)
    call published(4, tensor, pairs)
    batch = spread(tensor, 2, 4)
    batch(7, 2) = ieee_value(0.0_real64, ieee_quiet_nan)
    batch(:, 3) = 0
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, batch, values, count=found, status=status)
    call check(all(status == [PURLIN_TENSOR_OK, PURLIN_TENSOR_NONFINITE, PURLIN_TENSOR_ZERO, PURLIN_TENSOR_OK]), &
      'each tensor has its status')
    call check(all(found([1, 2, 4]) == [3, 0, 3]), 'and the good ones their pairs')
    call check(maxval(abs(values(:, 4) - values(:, 1))) <= 0, 'unharmed')
  end subroutine

  !> Iterations of Tensor Toolbox from one start: 46 with shift 2, 23 with the adaptive one.
  subroutine iteration_counts()
    type(purlin_context) :: context
    type(purlin_sshopm_options) :: options
    real(real64) :: tensor(15), pairs(7, 11), start(3), value, trace(100)
    integer(int32) :: iterations
    call published(4, tensor, pairs)
    start = [1.0_real64, 0.5_real64, -0.3_real64]
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(options)
    options%method = PURLIN_SSHOPM_POWER
    options%compatibility = PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX
    options%shift_kind = PURLIN_SSHOPM_SHIFT_FIXED
    options%shift = 2
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, starts=start, options=options, start_values=value, &
      start_iterations=iterations, trace=trace)
    call check(iterations == 46, '46 iterations with shift 2')
    call check(abs(value - pairs(1, 1)) < 1e-9_real64, 'to the largest eigenvalue')
    call check(all(trace(2:iterations) >= trace(:iterations - 1) - 1e-14_real64), 'which rises all the way')
    options%shift_kind = PURLIN_SSHOPM_SHIFT_ADAPTIVE
    options%shift = 0
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, starts=start, options=options, start_values=value, &
      start_iterations=iterations)
    call check(iterations == 23, '23 iterations with the adaptive shift')
  end subroutine

  subroutine start_vectors()
    type(purlin_context) :: context
    real(real64) :: lattice(3, 50), random(5, 20), again(5, 20)
    integer(int32) :: stat
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_sshopm_starts(context, PURLIN_STARTS_FIBONACCI_HEMISPHERE, 3_int64, lattice)
    call check(maxval(abs(sum(lattice**2, 1) - 1)) < 1e-14_real64 .and. all(lattice(3, :) >= 0), 'a hemisphere')
    call check(abs(lattice(3, 1) - 0.99_real64) < 1e-14_real64, 'from the pole')
    call purlin_sshopm_starts(context, PURLIN_STARTS_RANDOM, 5_int64, random, seed=3_int64)
    call purlin_sshopm_starts(context, PURLIN_STARTS_RANDOM, 5_int64, again, seed=3_int64)
    call check(maxval(abs(random - again)) <= 0, 'a seed repeats')
    call purlin_sshopm_starts(context, PURLIN_STARTS_RANDOM, 5_int64, again, seed=4_int64)
    call check(maxval(abs(random - again)) > 0.1_real64, 'another one does not')
    call purlin_sshopm_starts(context, 99, 3_int64, lattice, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'an unknown kind')
  end subroutine

  subroutine progress()
    type(purlin_context) :: context
    type(purlin_sshopm_options) :: options
    real(real64) :: tensor(15), pairs(7, 11), values(3, 200)
    real(real64), allocatable :: batch(:, :)
    integer(int32), target :: calls
    integer(int32) :: stat
    character(100) :: message
    call published(4, tensor, pairs)
    batch = spread(tensor, 2, 200)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(options)
    calls = 0
    options%progress = c_funloc(count_calls)
    options%progress_user = c_loc(calls)
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, batch, values, options=options)
    call check(calls >= 1, 'progress is reported at least once')
    options%progress = c_funloc(stop_now)
    calls = 0
    message = ''
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, batch, values, options=options, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_CANCELLED .and. message /= '', 'and may cancel')
    call check(calls >= 1, 'when it was called')
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, batch, values)
    call check(doubles_near(values(:, 200), pairs(1, [1, 2, 4]), 1e-9_real64), 'the next call works')
  end subroutine

  subroutine refusals()
    type(purlin_context) :: context
    type(purlin_sshopm_options) :: options
    real(real64) :: tensor(15), values(3), vectors(3, 2), start(3)
    integer(int32) :: stat
    character(100) :: message
    tensor = 1
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_HANDLE, 'a context is needed')
    call context%create(backend=PURLIN_BACKEND_CPU)
    message = ''
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor(:14), values, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'tensors: has 14') == 1, 'too few entries')
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, vectors, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'vectors: has 6') == 1, 'too few vectors')
    call purlin_init(options)
    options%goal = 17
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, options=options, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'goal') > 0, 'an unknown goal')
    call purlin_init(options)
    options%shift_kind = PURLIN_SSHOPM_SHIFT_FIXED
    options%method = PURLIN_SSHOPM_POWER
    options%shift = -1
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, options=options, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'shift') > 0, 'a shift of the wrong sign')
    start = 0
    call purlin_sshopm_solve_once(context, 4_int64, 3_int64, tensor, values, starts=start, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a start that is zero')
    call purlin_sshopm_product(context, 4_int64, 3_int64, tensor, vectors, 1_int64, values, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'power') == 1, 'a power that is not offered')
  end subroutine
end program test_eigenpairs
