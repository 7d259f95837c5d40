! Cone-beam CT: RTK's volume of a full circle, pushed views, files, functions, pieces, errors, cancelling.
module fdk_callbacks
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int64_t), parameter :: nu = 80, nv = 64, views = 90
  real(c_float), target :: lines(nu, nv, views)
  integer :: calls = 0
  !> Steps that a push reported: how many, the last one, the least and the largest of all. A push stops at stops_at.
  integer(c_int64_t) :: pushed_steps = 0, last_step = 0, least_steps = huge(0_c_int64_t), most_steps = 0, stops_at = views + 1
  logical :: rises = .true.

contains

  function deliver(first, count, block, user) bind(c) result(failed)
    type(c_ptr), value :: first, count, block, user
    integer(c_int32_t) :: failed
    integer(c_int64_t), pointer :: a(:), n(:)
    real(c_float), pointer :: out(:, :, :)
    failed = merge(7_c_int32_t, 0_c_int32_t, c_associated(user))
    if (failed /= 0) return
    call c_f_pointer(first, a, [3])
    call c_f_pointer(count, n, [3])
    call c_f_pointer(block, out, n)
    out = lines(a(1) + 1:a(1) + n(1), a(2) + 1:a(2) + n(2), a(3) + 1:a(3) + n(3))
  end function

  function stop_at_once(step, steps, measure, user) bind(c) result(cancel)
    integer(c_int64_t), value :: step, steps
    real(c_double), value :: measure
    type(c_ptr), value :: user
    integer(c_int32_t) :: cancel
    calls = calls + 1
    cancel = merge(1_c_int32_t, 0_c_int32_t, calls == 1 .and. step <= steps .and. measure >= 0 .and. &
      .not. c_associated(user))
  end function

  function watch(step, steps, measure, user) bind(c) result(cancel)
    integer(c_int64_t), value :: step, steps
    real(c_double), value :: measure
    type(c_ptr), value :: user
    integer(c_int32_t) :: cancel
    rises = rises .and. step >= last_step .and. measure >= 0 .and. .not. c_associated(user)
    pushed_steps = pushed_steps + 1
    last_step = step
    least_steps = min(least_steps, steps)
    most_steps = max(most_steps, steps)
    cancel = merge(1_c_int32_t, 0_c_int32_t, step >= stops_at)
  end function
end module fdk_callbacks

program test_fdk
  use, intrinsic :: iso_c_binding
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan, ieee_is_nan
  use purlin
  use checks
  use fdk_callbacks
  implicit none
  integer(c_int64_t), parameter :: dims(3) = [48, 44, 36]
  real(c_float), allocatable, target :: expected(:, :, :), whole(:, :, :), volume(:, :, :)
  real(c_double) :: angles(views)
  integer :: n

  angles = [(4 * acos(-1.0_c_double) / 180 * (n - 1), n = 1, int(views))]
  allocate (expected(dims(1), dims(2), dims(3)), whole(dims(1), dims(2), dims(3)), volume(dims(1), dims(2), dims(3)))
  call read_npy(folder(1) // 'fdk/full_proj.npy', lines)
  call read_npy(folder(1) // 'fdk/full_rtk.npy', expected)
  call at_once()
  call view_by_view()
  call progress_of_pushes()
  call files_and_functions()
  call pieces()
  call refusals()
  ! A main program's arrays are not freed at its end, and valgrind may find no pointer to them any more.
  deallocate (expected, whole, volume)
  call check_none_live()

contains

  subroutine plan_for(context, plan, options)
    type(purlin_context), intent(in) :: context
    type(purlin_fdk), intent(inout) :: plan
    type(purlin_fdk_options), intent(in), optional :: options
    type(purlin_fdk_geometry) :: geometry
    type(purlin_fdk_grid) :: grid
    type(purlin_fdk_options) :: skip
    call describe(geometry, grid)
    call purlin_init(skip)
    if (present(options)) skip = options
    skip%edge = PURLIN_FDK_EDGE_SKIP
    call plan%create(context, geometry, angles=angles, grid=grid, options=skip)
  end subroutine

  subroutine describe(geometry, grid)
    type(purlin_fdk_geometry), intent(inout) :: geometry
    type(purlin_fdk_grid), intent(inout) :: grid
    call purlin_init(geometry)
    geometry%source_to_axis = 500
    geometry%source_to_detector = 1000
    geometry%column_pitch = 3
    geometry%row_pitch = 3.5_c_double
    geometry%detector_columns = nu
    geometry%detector_rows = nv
    call purlin_init(grid)
    grid%nx = dims(1)
    grid%ny = dims(2)
    grid%nz = dims(3)
    grid%dx = 2.2_c_double
    grid%dy = 2.4_c_double
    grid%dz = 2
    grid%x0 = -51.7_c_double
    grid%y0 = -51.6_c_double
    grid%z0 = -35
  end subroutine

  subroutine at_once()
    type(purlin_context) :: context, second
    type(purlin_group) :: group
    type(purlin_fdk) :: plan, shared
    type(purlin_fdk_options) :: options, skip
    type(purlin_fdk_info) :: info, last
    type(purlin_fdk_geometry) :: geometry
    type(purlin_fdk_grid) :: grid
    integer(c_int32_t) :: stat
    type(purlin_tensor) :: angular
    real(c_double), target :: gaps(views)
    real(c_float) :: spoilt
    call context%create(backend=PURLIN_BACKEND_CPU)
    call plan_for(context, plan)
    call plan%last_info(last, stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'no report before a run')
    call describe(geometry, grid)
    call purlin_init(skip)
    skip%edge = PURLIN_FDK_EDGE_SKIP
    whole = -1
    call purlin_fdk_reconstruct_once(context, lines, geometry, whole, angles=angles, grid=grid, options=skip, info=info)
    call check(maxval(abs(whole - expected)) < 2e-5 .and. info%nz == dims(3), 'by an object for one run')
    whole = -1
    call plan%reconstruct(context, lines, whole, info)
    call plan%last_info(last)
    call check(last%redundancy == info%redundancy .and. last%seconds > 0, 'the last report')
    call plan%plan(last)
    call check(last%nz == dims(3) .and. abs(last%seconds) <= 0, 'the plan')
    call check(maxval(abs(whole - expected)) < 2e-5, 'the volume is the one of RTK')
    call check(info%redundancy == PURLIN_FDK_REDUNDANCY_FULL .and. info%nz == dims(3), 'the info reports the weights and the size')
    call check(len(purlin_string(info%reason)) > 0, 'the reason')
    call check(info%pixels_not_finite == 0, 'all pixels are finite')
    spoilt = lines(40, 32, 7)
    lines(40, 32, 7) = ieee_value(spoilt, ieee_quiet_nan)
    call plan%reconstruct(context, lines, whole, info)
    lines(40, 32, 7) = spoilt
    call check(info%pixels_not_finite == 1 .and. info%pixels_sanitized == 0, 'a pixel that is not finite is counted')
    call check(any(ieee_is_nan(whole)), 'and shows in the volume')
    call plan%reconstruct(context, lines, whole)
    call angular%borrow(context, gaps)
    call plan%weights(angular=angular)
    call check(abs(sum(gaps) - 2 * acos(-1.0_c_double)) < 1e-12_c_double, 'the angular weights add up to the circle')
    call second%create(backend=PURLIN_BACKEND_CPU)
    call group%create([context%handle(), second%handle()])
    call purlin_init(options)
    options%edge = PURLIN_FDK_EDGE_SKIP
    options%group = group%handle()
    call plan_for(context, shared, options)
    call group%destroy()
    volume = -1
    call shared%reconstruct(context, lines, volume, info)
    call check(info%contexts == 2_c_int64_t, 'a group of two contexts')
    call check(all(abs(volume - whole) <= 0), 'a group gives the same bits')
  end subroutine

  subroutine view_by_view()
    type(purlin_context) :: context
    type(purlin_fdk) :: plan
    integer(c_int64_t) :: k, view
    integer(c_int32_t) :: stat
    character(200) :: text
    call context%create(backend=PURLIN_BACKEND_CPU)
    call plan_for(context, plan)
    call plan%begin()
    ! 7 and 90 have no common factor, so this visits every view.
    do k = 0, views - 3
      view = mod(7 * k, views) + 1
      call plan%push(context, view, lines(:, :, view))
    end do
    text = ''
    call plan%push(context, 1_c_int64_t, lines(:, :, 1), stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'view') > 0, 'no view is taken twice')
    call plan%finish(context, volume, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'missing views are reported')
    do k = views - 2, views - 1
      view = mod(7 * k, views) + 1
      call plan%push(context, [view], lines(:, :, view:view))
    end do
    call plan%finish(context, volume)
    call check(maxval(abs(volume - whole)) < 2e-6, 'pushed views make the same volume')
  end subroutine

  !> A push reports the views taken, of all views. A cancelled one ends the scan, and the next scan is whole.
  subroutine progress_of_pushes()
    type(purlin_context) :: context
    type(purlin_fdk) :: plan
    type(purlin_fdk_options) :: options
    integer(c_int64_t) :: k
    integer(c_int32_t) :: stat
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(options)
    options%progress = c_funloc(watch)
    call plan_for(context, plan, options)
    call plan%begin()
    call plan%push(context, [(k, k = 1, 40)], lines(:, :, :40))
    call check(pushed_steps > 0 .and. last_step == 40 .and. rises, 'views taken')
    call check(least_steps == views .and. most_steps == views, 'of the whole scan')
    stops_at = 41
    call plan%push(context, [(k, k = 41, views)], lines(:, :, 41:), stat=stat)
    call check(stat == PURLIN_ERROR_CANCELLED, 'progress cancels a push')
    call plan%finish(context, volume, stat=stat)
    call check(stat == PURLIN_ERROR_CANCELLED, 'and its scan')
    stops_at = views + 1
    call plan%begin()
    call plan%push(context, [(k, k = 1, views)], lines)
    call plan%finish(context, volume)
    call check(maxval(abs(volume - whole)) < 2e-6, 'the next scan is whole')
  end subroutine

  subroutine files_and_functions()
    type(purlin_context) :: context
    type(purlin_fdk) :: plan
    type(purlin_source) :: functions, image, broken
    type(purlin_sink) :: file, pages
    type(purlin_array_info) :: info
    integer(c_int64_t), target :: any_address
    integer(c_int32_t) :: stat
    integer :: unit
    logical :: there
    call context%create(backend=PURLIN_BACKEND_CPU)
    call plan_for(context, plan)
    call functions%from_callback(context, PURLIN_F32, [nu, nv, views], c_funloc(deliver))
    call file%to_metaimage(context, 'fortran_fdk.mha', PURLIN_F32, dims, spacing=[2.2_c_double, 2.4_c_double, 2.0_c_double])
    call plan%reconstruct(functions, file)
    call image%from_metaimage(context, 'fortran_fdk.mha')
    call image%properties(info)
    call check(all(info%dims(:3) == dims) .and. abs(info%spacing(2) - 2.4_c_double) < 1e-12, 'the header is right')
    call image%destroy()
    call read_npy('fortran_fdk.mha', volume)
    call check(all(abs(volume - whole) <= 0), 'the file holds the volume')
    open (newunit=unit, file='fortran_fdk.mha')
    close (unit, status='delete')

    call pages%to_tiff(context, 'fortran_fdk.tif', PURLIN_F32, dims)
    call broken%from_callback(context, PURLIN_F32, [nu, nv, views], c_funloc(deliver), user=c_loc(any_address))
    call plan%reconstruct(broken, pages, stat=stat)
    call check(stat == PURLIN_ERROR_IO, 'a function that fails ends the run')
    call pages%destroy()
    inquire (file='fortran_fdk.tif', exist=there)
    call check(.not. there, 'and leaves no file')
  end subroutine

  subroutine pieces()
    type(purlin_context) :: context
    type(purlin_fdk) :: plan
    type(purlin_tensor) :: in, work, rows, out, head
    real(c_float), allocatable, target :: filtered(:, :, :)
    integer(c_int64_t) :: every(views), k
    call context%create(backend=PURLIN_BACKEND_CPU)
    call plan_for(context, plan)
    allocate (filtered(nu, nv, views))
    every = [(k, k = 1, views)]
    volume = 0
    call in%borrow(context, lines)
    call work%create(context, PURLIN_F32, [nu, nv, views])
    call rows%borrow(context, filtered)
    call out%borrow(context, volume)
    call plan%weight(every, in, work)
    call plan%filter(every, work, rows)
    call plan%backproject(every, rows, out)
    call check(maxval(abs(volume - whole)) < 2e-5, 'the pieces make the whole')

    call head%create(context, PURLIN_F64, [8_c_int64_t, 10_c_int64_t])
    call purlin_fdk_shepp_logan(45.0_c_double, head)
    call plan%ellipsoids(head, rows)
    call plan%ellipsoid_volume(head, out)
    call check(maxval(filtered) > 10 .and. minval(filtered) > -1e-3, 'projections of a head')
    call check(maxval(volume) > 0.99 .and. minval(volume) > -1e-6, 'the head itself')
  end subroutine

  subroutine refusals()
    type(purlin_context) :: context
    type(purlin_fdk) :: plan
    type(purlin_fdk_geometry) :: geometry
    type(purlin_fdk_options) :: options
    integer(c_int32_t) :: stat
    character(200) :: text
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(geometry)
    geometry%detector_columns = 1
    text = ''
    call plan%create(context, geometry, angles=angles, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'detector_columns') == 1, 'bad geometry is named')

    call purlin_init(options)
    options%view_batch = 4
    options%progress = c_funloc(stop_at_once)
    call plan_for(context, plan, options)
    call plan%reconstruct(context, lines, volume, stat=stat)
    call check(stat == PURLIN_ERROR_CANCELLED, 'progress cancels')
    call plan%reconstruct(context, lines, volume)
    call check(maxval(abs(volume - whole)) < 2e-6, 'and the plan goes on')
  end subroutine

  !> Single precision numbers at the end of a file, behind whatever header it has.
  subroutine read_npy(path, numbers)
    character(*), intent(in) :: path
    real(c_float), intent(out) :: numbers(:, :, :)
    integer(c_int64_t) :: bytes
    integer :: unit, failed
    inquire (file=path, size=bytes)
    open (newunit=unit, file=path, status='old', action='read', access='stream', form='unformatted')
    read (unit, pos=bytes - 4 * size(numbers, kind=c_int64_t) + 1, iostat=failed) numbers
    close (unit)
    call check(failed == 0, 'reading ' // path)
  end subroutine
end program test_fdk
