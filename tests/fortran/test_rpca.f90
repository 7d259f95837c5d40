! Robust PCA: a known sum of a matrix of rank 2 and a sparse one, from arrays, objects and blocks.
program test_rpca
  use, intrinsic :: iso_c_binding
  use purlin
  use checks
  implicit none

  call separation()
  call check_none_live()

contains

  subroutine separation()
    type(purlin_context) :: context
    type(purlin_matrix) :: given, sparse, part
    type(purlin_matrix_info) :: stored
    type(purlin_rpca_info) :: info
    type(purlin_rpca_options) :: options
    type(purlin_rpca) :: rpca, other
    type(purlin_tensor) :: taken
    type(purlin_source) :: source
    type(purlin_sink) :: sink
    real(c_double), target :: low(60, 50), spikes(60, 50), both(60, 50), l(60, 50), s(60, 50)
    integer(c_int8_t) :: seen(60, 50)
    integer :: r, c
    integer(c_int32_t) :: stat
    type(purlin_context) :: another
    type(purlin_group) :: group
    character(200) :: problem
    do c = 1, 50
      do r = 1, 60
        low(r, c) = 30 * cosine(r, 1, 60) * cosine(c, 2, 50) + 20 * cosine(r, 3, 60) * cosine(c, 1, 50)
        spikes(r, c) = merge(merge(5.0_c_double, -5.0_c_double, mod(r + c, 2) == 0), 0.0_c_double, &
          mod(7 * r + 11 * c, 29) == 0)
      end do
    end do
    both = low + spikes
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_rpca_compute_once(context, both, l, s, info=info)
    call check(info%converged == 1 .and. info%rank == 2, 'the rank comes back')
    call check(maxval(abs(l - low)) < 1e-4 .and. maxval(abs(s - spikes)) < 1e-4, 'both parts come back')
    seen = 1
    seen(::7, ::5) = 0
    both(::7, ::5) = 1000
    call purlin_rpca_compute_once(context, both, l, mask=seen, info=info)
    call check(maxval(abs(l - low)) < 1e-3, 'entries that were not seen')
    both = low + spikes
    call given%borrow(context, both)
    call purlin_init(options)
    options%threshold = 1e-3_c_double
    call rpca%create(context, options)
    call rpca%last_info(info, stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'no report before a run')
    call rpca%compute_csr(given, sparse)
    call rpca%last_info(info)
    call sparse%properties(stored)
    call check(stored%storage == PURLIN_CSR .and. stored%nnz == count(abs(spikes) > 1) .and. &
      stored%nnz == info%nonzeros, 'sparse rows')
    call taken%borrow(context, l)
    call source%from_tensor(context, taken)
    call given%from_source(context, source)
    call taken%borrow(context, s)
    call sink%to_tensor(context, taken)
    l = both
    call rpca%plan(given, info)
    call check(info%host_bytes > 0 .and. info%iterations == 0, 'a plan')
    call rpca%compute_to_sinks(given, low_rank=sink, info=info)
    call check(maxval(abs(s - low)) < 1e-4, 'from a source into a sink')
    s = 0
    call part%borrow(context, s)
    call rpca%compute(given, low_rank=part)
    call check(maxval(abs(s - low)) < 1e-4, 'from a source into an array')
    call rpca%cancel()
    call rpca%destroy()
    call rpca%cancel(stat)
    call check(stat == PURLIN_ERROR_INVALID_HANDLE, 'a destroyed object')
    options%max_iterations = 2
    call purlin_rpca_compute_once(context, both, l, options=options, info=info, stat=stat)
    call check(stat == PURLIN_ERROR_NO_CONVERGENCE .and. info%iterations == 2 .and. info%converged == 0, 'too few')
    call another%create(backend=PURLIN_BACKEND_CPU)
    call group%create([context%handle(), another%handle()])
    options%group = group%handle()
    call other%create(context, options, stat, problem)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(problem, 'group: has 2 contexts on the CPU: rows') == 1, &
      'rows are shared by GPUs alone')
  end subroutine

  !> Element i of the j-th of a set of orthonormal vectors.
  pure function cosine(i, j, length) result(value)
    integer, intent(in) :: i, j, length
    real(c_double) :: value
    value = sqrt(2 / real(length, c_double)) * cos(acos(-1.0_c_double) * (i - 0.5_c_double) * j / length)
  end function
end program test_rpca
