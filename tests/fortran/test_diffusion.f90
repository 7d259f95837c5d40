! Diffusion MRI on the real volume: fit, orientation functions, peaks, bases, masks, errors.
program test_diffusion
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use purlin
  use checks
  implicit none
  integer, parameter :: voxels = 1000, volumes = 65
  real(real64), parameter :: degree = acos(-1.0_real64) / 180

  call peaks_of_harmonics(4, 15)
  call peaks_of_harmonics(8, 45)
  call harmonics_and_tensors()
  call fit_and_model()
  call masks()
  call refusals()
  call check_none_live()

contains

  !> MRtrix3's peaks where a second solver confirmed them: 0.1 degree, 1e-4 in amplitude.
  subroutine peaks_of_harmonics(order, entries)
    integer, intent(in) :: order, entries
    type(purlin_context) :: context
    type(purlin_dwi_options) :: options
    type(purlin_sshopm_info) :: info
    real(real32), allocatable :: sh(:, :), expected(:, :), peaks(:, :, :), tensors(:, :), direct(:, :, :)
    integer(int8) :: agree(voxels)
    integer(int32) :: found(voxels), status(voxels)
    character(1) :: digit
    allocate (sh(entries, voxels), tensors(entries, voxels), expected(9, voxels), peaks(3, 3, voxels))
    allocate (direct(4, 3, voxels))
    write (digit, '(i1)') order
    call read_reals(folder(1) // 'dwi/csa' // digit // '_sh_mrtrix.f32', singles=sh)
    call read_reals(folder(1) // 'dwi/csa' // digit // '_peaks.f32', singles=expected)
    call read_bytes(folder(1) // 'dwi/csa' // digit // '_agree.u8', agree)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(options)
    options%basis = PURLIN_SH_MRTRIX3
    options%format = PURLIN_PEAKS_MRTRIX
    ! As MRtrix3 does: every maximum counts. Enough starts that none of order 8 is missed.
    options%relative_threshold = 0
    options%min_separation = 0
    options%starts = 128
    call purlin_dwi_peaks_once(context, order, sh, peaks, found, status, options=options, info=info)
    call check(info%tensors == voxels, 'all voxels')
    call purlin_dwi_sh_to_tensor(context, order, PURLIN_SH_MRTRIX3, sh, tensors)
    call compare(context, order, tensors, peaks, expected, agree)
    ! The same through symmetric tensors: unit vectors and values.
    call purlin_init(options)
    options%relative_threshold = 0
    options%min_separation = 0
    options%starts = 128
    options%basis = PURLIN_SH_TENSOR
    call purlin_dwi_peaks_once(context, order, tensors, direct, found, options=options)
    call compare(context, order, tensors, direct(:3, :, :) * spread(direct(4, :, :), 1, 3), expected, agree)
    call check(all(abs(norm2(direct(:3, 1, :), 1) - 1) < 1e-5 .or. found == 0), 'unit vectors')
  end subroutine

  subroutine compare(context, order, tensors, peaks, expected, agree)
    type(purlin_context), intent(in) :: context
    integer, intent(in) :: order
    real(real32), intent(in) :: tensors(:, :), peaks(3, 3, voxels), expected(9, voxels)
    integer(int8), intent(in) :: agree(voxels)
    real(real64) :: a(3), b(3), sine
    integer :: v, k, compared, saddles
    compared = 0
    saddles = 0
    do v = 1, voxels
      if (agree(v) == 0) cycle
      do k = 1, 3
        b = expected(3 * k - 2:3 * k, v)
        if (any(ieee_is_nan(b))) cycle
        a = peaks(:, k, v)
        if (any(ieee_is_nan(a))) then
          ! sh2peaks also stops at saddles, which are no peaks.
          call check(is_saddle(context, order, tensors(:, v), expected(3 * k - 2:3 * k, v)), 'no maximum is missing')
          saddles = saddles + 1
          cycle
        end if
        call check(abs(norm2(a) / norm2(b) - 1) < 1e-4_real64, 'amplitude as MRtrix3 has it')
        sine = norm2([a(2) * b(3) - a(3) * b(2), a(3) * b(1) - a(1) * b(3), a(1) * b(2) - a(2) * b(1)]) / &
          (norm2(a) * norm2(b))
        call check(sine < sin(0.1_real64 * degree), 'direction as MRtrix3 has it')
        compared = compared + 1
      end do
    end do
    call check(compared > 2500 .and. saddles < 5, 'nearly all peaks are compared')
  end subroutine

  !> Whether a direction is an eigenvector that is neither maximum nor minimum.
  logical function is_saddle(context, order, tensor, direction)
    type(purlin_context), intent(in) :: context
    integer, intent(in) :: order
    real(real32), intent(in) :: tensor(:), direction(3)
    real(real32) :: value, residual
    integer(int32) :: class
    value = norm2(direction)
    call purlin_sshopm_classify(context, order, 3, tensor, value, direction / value, residual, classes=class)
    is_saddle = class == PURLIN_PAIR_UNSTABLE .and. residual < 1e-4
  end function

  subroutine harmonics_and_tensors()
    type(purlin_context) :: context
    real(real32), allocatable :: sh(:, :), expected(:, :)
    real(real64), allocatable :: coefficients(:, :), tensors(:, :), back(:, :), again(:, :)
    integer(int32) :: basis
    allocate (sh(15, voxels), expected(15, voxels), coefficients(15, voxels))
    call read_reals(folder(1) // 'dwi/csa4_sh_mrtrix.f32', singles=sh)
    call read_reals(folder(1) // 'dwi/csa4_tensor.f32', singles=expected)
    coefficients = sh
    allocate (tensors, back, again, mold=coefficients)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_dwi_sh_to_tensor(context, 4, PURLIN_SH_MRTRIX3, coefficients, tensors)
    call check(maxval(abs(tensors - expected)) < 1e-5_real64 * maxval(abs(expected)), 'tensors as in the reference')
    do basis = PURLIN_SH_CANONICAL, PURLIN_SH_DESCOTEAUX07
      call purlin_dwi_tensor_to_sh(context, 4, tensors, basis, back)
      if (basis == PURLIN_SH_MRTRIX3) call check(maxval(abs(back - coefficients)) < 1e-13_real64, 'and back')
      if (basis == PURLIN_SH_DESCOTEAUX07_LEGACY) &
        call check(maxval(abs(back - coefficients)) > 1e-3_real64, 'another basis has other numbers')
      call purlin_dwi_sh_to_tensor(context, 4, basis, back, again)
      call check(maxval(abs(again - tensors)) < 1e-13_real64, 'every basis has an inverse')
    end do
  end subroutine

  subroutine fit_and_model()
    type(purlin_context) :: context
    real(real64), allocatable :: signals(:, :), expected(:, :), tensors(:, :), weights(:, :), again(:, :)
    type(purlin_dwi_options) :: options
    type(purlin_sshopm_info) :: info
    real(real32), allocatable :: sh(:, :), model(:, :)
    real(real64) :: bvals(volumes), bvecs(3, volumes), s0(voxels), largest
    integer(int32) :: status(voxels)
    integer :: v
    allocate (signals(volumes, voxels), expected(15, voxels), tensors(15, voxels), sh(15, voxels), model(15, voxels))
    call read_volume(signals, bvals, bvecs)
    call read_reals(folder(1) // 'dwi/adc4_tensor.f64', doubles=expected)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_dwi_fit_once(context, 4, signals, bvals, bvecs, tensors, s0=s0, status=status, info=info)
    call check(info%tensors == voxels .and. info%chunks == 1, 'the report of a fit')
    call check(info%skipped_tensors == count(status /= PURLIN_TENSOR_OK .and. status /= PURLIN_TENSOR_CLAMPED), 'no result')
    largest = maxval(abs(expected), mask=.not. ieee_is_nan(expected))
    do v = 1, voxels
      if (ieee_is_nan(expected(1, v))) then
        call check(status(v) == PURLIN_TENSOR_CLAMPED .or. status(v) == PURLIN_TENSOR_SIGNAL, 'a voxel with a zero')
        cycle
      end if
      call check(status(v) == PURLIN_TENSOR_OK .and. s0(v) > 0, 'a good voxel')
      call check(maxval(abs(tensors(:, v) - expected(:, v))) < 1e-9_real64 * largest, 'the tensor of the reference')
    end do
    allocate (weights(volumes, voxels), again(15, voxels))
    weights = 1
    call purlin_dwi_fit_once(context, 4, signals, bvals, bvecs, again, weights=weights)
    call check(maxval(abs(again - tensors)) < 1e-11_real64 * largest, 'equal weights change nothing')
    call purlin_init(options)
    options%weighting = PURLIN_DWI_WLS
    call purlin_dwi_fit_once(context, 4, signals, bvals, bvecs, again, options=options)
    call check(maxval(abs(again - tensors)) > 1e-6_real64 * largest, 'weights of the signals do')
    call fit_by_an_object(context, signals, bvals, bvecs, options, again)
    call read_reals(folder(1) // 'dwi/csa4_sh_mrtrix.f32', singles=sh)
    call purlin_dwi_csa_once(context, 4, real(signals, real32), real(bvals, real32), real(bvecs, real32), &
      PURLIN_SH_MRTRIX3, model, status=status, info=info)
    call check(info%tensors == voxels .and. info%seconds >= 0, 'the report of orientation functions')
    call check(maxval(abs(model - sh)) < 1e-4 * maxval(abs(sh)), 'the orientation functions of dipy')
  end subroutine

  !> The same numbers by an object, and its report; another call refuses its option.
  subroutine fit_by_an_object(context, signals, bvals, bvecs, options, expected)
    type(purlin_context), intent(in) :: context
    real(real64), intent(in), target :: signals(volumes, voxels), bvals(volumes), bvecs(3, volumes)
    type(purlin_dwi_options), intent(in) :: options
    real(real64), intent(in) :: expected(15, voxels)
    real(real64), allocatable, target :: found(:, :)
    type(purlin_dwi) :: dwi
    type(purlin_tensor) :: s, b, g, a
    type(purlin_sshopm_info) :: info
    integer(int32) :: stat
    character(200) :: message
    allocate (found(15, voxels))
    call s%borrow_address(context, PURLIN_F64, shape(signals, int64), c_loc(signals), flags=PURLIN_READ_ONLY)
    call b%borrow_address(context, PURLIN_F64, shape(bvals, int64), c_loc(bvals), flags=PURLIN_READ_ONLY)
    call g%borrow_address(context, PURLIN_F64, shape(bvecs, int64), c_loc(bvecs), flags=PURLIN_READ_ONLY)
    call a%borrow_symmetric(context, 4_int64, 3_int64, found)
    call dwi%create(context, options)
    call dwi%last_info(info, stat, message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'no report yet') > 0, 'no report yet')
    call dwi%cancel()
    call dwi%fit(s, b, g, a, info=info)
    call check(info%tensors == voxels, 'the report of a fit by an object')
    call check(maxval(abs(found - expected)) <= 0, 'a fit by an object')
    call dwi%last_info(info)
    call check(info%tensors == voxels, 'the report of a fit')
    call dwi%plan(a, info, stat, message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'weighting: is 1') > 0, 'an option of fits')
  end subroutine

  !> Signals, x slowest and z fastest as in the reference, from the NIfTI file whose first index runs fastest.
  subroutine read_volume(signals, bvals, bvecs)
    real(real64), intent(out) :: signals(volumes, voxels), bvals(volumes), bvecs(3, volumes)
    integer(int16), allocatable :: raw(:, :, :, :)
    real(real64) :: directions(3 * volumes)
    integer :: unit, x, y, z
    allocate (raw(10, 10, 10, volumes))
    open (newunit=unit, file=folder(2) // 'small_64D.nii', status='old', action='read', access='stream', &
      form='unformatted')
    read (unit, pos=353) raw
    close (unit)
    do x = 1, 10
      do y = 1, 10
        do z = 1, 10
          signals(:, (x - 1) * 100 + (y - 1) * 10 + z) = raw(x, y, z, :)
        end do
      end do
    end do
    call read_numbers(folder(2) // 'small_64D.bval', bvals)
    call read_numbers(folder(2) // 'small_64D.bvec', directions)
    ! One direction a line; that of the unweighted volume is NaN and not used.
    bvecs = reshape(directions, [3, volumes])
  end subroutine

  subroutine masks()
    type(purlin_context) :: context
    type(purlin_dwi_options) :: options
    real(real32), allocatable :: sh(:, :), peaks(:, :, :), all_peaks(:, :, :)
    integer(int8) :: mask(voxels)
    integer(int32) :: found(voxels), status(voxels)
    allocate (sh(15, voxels), peaks(4, 2, voxels), all_peaks(4, 2, voxels))
    call read_reals(folder(1) // 'dwi/csa4_sh_mrtrix.f32', singles=sh)
    mask = 1_int8
    mask(1:voxels:2) = 0_int8
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_init(options)
    options%basis = PURLIN_SH_MRTRIX3
    call purlin_dwi_peaks_once(context, 4, sh, all_peaks, options=options)
    call purlin_dwi_peaks_once(context, 4, sh, peaks, found, status, mask, options)
    call check(all(found(1:voxels:2) == 0) .and. all(status(1:voxels:2) == PURLIN_TENSOR_MASKED), 'outside the mask')
    call check(all(ieee_is_nan(peaks(:, :, 1:voxels:2))), 'NaN outside')
    call check(maxval(abs(peaks(:, 1, 2:voxels:2) - all_peaks(:, 1, 2:voxels:2))) <= 0, 'the same inside')
    options%missing = PURLIN_MISSING_ZERO
    call purlin_dwi_peaks_once(context, 4, sh, peaks, mask=mask, options=options)
    call check(all(abs(peaks(:, :, 1:voxels:2)) <= 0), 'or zeros')
  end subroutine

  subroutine refusals()
    type(purlin_context) :: context
    type(purlin_dwi_options) :: options
    real(real64) :: odd(10, 2), sh(15, 2), peaks(4, 3, 2), tensors(15, 2), signals(4, 2), bvals(4), bvecs(3, 4)
    integer(int32) :: stat
    character(100) :: message
    odd = 1
    sh = 1
    signals = 1
    bvals = [0, 1000, 1000, 1000]
    bvecs = reshape([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 4])
    call context%create(backend=PURLIN_BACKEND_CPU)
    message = ''
    call purlin_dwi_peaks_once(context, 4, sh, peaks, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'basis: is not given') > 0, 'no basis')
    call purlin_init(options)
    options%basis = PURLIN_SH_TENSOR
    call purlin_dwi_peaks_once(context, 3, odd, peaks, options=options, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. message /= '', 'an odd order has no peaks')
    call purlin_init(options)
    options%basis = 9
    call purlin_dwi_peaks_once(context, 4, sh, peaks, options=options, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'basis') > 0, 'an unknown basis')
    call purlin_dwi_sh_to_tensor(context, 4, 0, sh, tensors, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'basis') > 0, 'there is no default basis')
    call purlin_dwi_fit_once(context, 4, signals, bvals, bvecs, tensors, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .or. stat == PURLIN_ERROR_NUMERICAL, 'too few directions')
    call purlin_dwi_fit_once(context, 4, signals, bvals(:3), bvecs, tensors, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'signals: has 8') == 1, 'too few b-values')
  end subroutine
end program test_diffusion
