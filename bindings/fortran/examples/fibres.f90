! Fibre directions of a diffusion MRI volume, as examples-c/sshopm_fibres.c finds them.
!
!   fibres DATA_DIR
!
! reads DATA_DIR/small_64D.nii, .bval and .bvec and prints a table and the first voxels' directions.
program fibres
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, real32, real64
  use purlin
  implicit none
  integer, parameter :: entries = 15, most = 3
  real(real64), parameter :: degree = acos(-1.0_real64) / 180
  real(real32), allocatable, target :: volume(:, :, :, :), peaks(:, :, :)
  real(real64), allocatable, target :: bvals(:), bvecs(:, :)
  integer(int32), allocatable, target :: count(:)
  character(:), allocatable :: folder
  integer :: length

  if (command_argument_count() /= 1) error stop 'usage: fibres DATA_DIR'
  call get_command_argument(1, length=length)
  allocate (character(length) :: folder)
  call get_command_argument(1, folder)
  call read_volume(folder // '/small_64D.nii', volume)
  allocate (bvals(size(volume, 4)), bvecs(3, size(volume, 4)))
  call read_numbers(folder // '/small_64D.bval', bvals)
  call read_directions(folder // '/small_64D.bvec', bvecs)
  call find_peaks()
  call report()

contains

  !> Signals to orientation functions of order 4 to their maxima.
  subroutine find_peaks()
    type(purlin_context) :: context
    type(purlin_context_info) :: info
    type(purlin_tensor) :: signals, b, g, sh, directions, counts
    type(purlin_dwi_options) :: options
    real(real32), allocatable, target :: coefficients(:, :)
    integer(int64) :: measurements, voxels

    measurements = size(volume, 4, int64)
    voxels = size(volume, kind=int64) / measurements
    allocate (coefficients(entries, voxels), peaks(4, most, voxels), count(voxels))
    call context%create()
    call context%properties(info)
    print '(2a)', 'purlin on ', purlin_string(info%device_name)

    ! The file holds volume after volume: a measurement is `voxels` elements from the next. Nothing is copied.
    call signals%borrow_address(context, PURLIN_F32, [measurements, voxels], c_loc(volume), strides=[voxels, 1_int64])
    call b%borrow(context, bvals)
    call g%borrow(context, bvecs)
    call sh%borrow(context, coefficients)
    call directions%borrow(context, peaks)
    call counts%borrow(context, count)
    call purlin_dwi_csa_once(context, signals, b, g, PURLIN_SH_MRTRIX3, sh)

    ! Maxima at least half as high as the voxel's highest, and 25 degrees apart: the usual choice of the field.
    call purlin_init(options)
    options%basis = PURLIN_SH_MRTRIX3
    options%relative_threshold = 0.5_real64
    options%min_separation = 25 * degree
    call purlin_dwi_peaks_once(context, sh, directions, options=options, count=counts)
  end subroutine

  subroutine report()
    integer :: v, k, nx, ny
    real(real64) :: angles, cosine
    nx = size(volume, 1)
    ny = size(volume, 2)
    angles = 0
    do v = 1, size(count)
      if (count(v) < 2) cycle
      cosine = abs(dot_product(real(peaks(:3, 1, v), real64), real(peaks(:3, 2, v), real64)))
      angles = angles + acos(min(cosine, 1.0_real64)) / degree
    end do
    print '(a, i0)', '  voxels                                       ', size(count)
    print '(a, i0)', '  with one fibre direction                     ', size(pack(count, count == 1))
    print '(a, i0)', '  with a crossing of two                       ', size(pack(count, count == 2))
    print '(a, i0)', '  with a crossing of three                     ', size(pack(count, count == 3))
    print '(a, f0.1, a)', '  mean angle of the first two in a crossing    ', &
      angles / max(1, size(pack(count, count > 1))), ' degrees'
    print '(a)', '  first voxels'' directions and values:'
    do v = 1, min(4, size(count))
      do k = 1, count(v)
        print '(4x, 3(a, i0), a, 3f8.4, f9.4)', '(', mod(v - 1, nx), ', ', mod((v - 1) / nx, ny), ', ', &
          (v - 1) / (nx * ny), ') ', peaks(:, k, v)
      end do
    end do
  end subroutine

  !> A NIfTI-1 file of a little-endian machine, int16 or real32, scaled as its header says.
  subroutine read_volume(path, volume)
    character(*), intent(in) :: path
    real(real32), allocatable, intent(out) :: volume(:, :, :, :)
    integer(int16), allocatable :: raw(:, :, :, :)
    integer(int32) :: header_size
    integer(int16) :: dims(0:7), datatype
    real(real32) :: offset, slope, intercept
    integer :: unit
    open (newunit=unit, file=path, status='old', action='read', access='stream', form='unformatted')
    read (unit, pos=1) header_size
    if (header_size /= 348) error stop 'fibres: not a NIfTI-1 file of this byte order'
    read (unit, pos=41) dims
    read (unit, pos=71) datatype
    read (unit, pos=109) offset, slope, intercept
    if (dims(0) /= 4) error stop 'fibres: not a volume of four extents'
    allocate (volume(dims(1), dims(2), dims(3), dims(4)))
    if (datatype == 4) then
      allocate (raw(dims(1), dims(2), dims(3), dims(4)))
      read (unit, pos=int(offset) + 1) raw
      volume = real(raw, real32)
    else if (datatype == 16) then
      read (unit, pos=int(offset) + 1) volume
    else
      error stop 'fibres: a type of numbers that this example does not read'
    end if
    close (unit)
    if (abs(slope) > 0) volume = volume * slope + intercept
  end subroutine

  subroutine read_numbers(path, numbers)
    character(*), intent(in) :: path
    real(real64), intent(out) :: numbers(:)
    integer :: unit
    open (newunit=unit, file=path, status='old', action='read')
    read (unit, *) numbers
    close (unit)
  end subroutine

  !> Directions one a line, or three lines of x, y and z. An unweighted volume has none: it may read NaN.
  subroutine read_directions(path, directions)
    character(*), intent(in) :: path
    real(real64), intent(out) :: directions(:, :)
    real(real64) :: four(4), flat(size(directions))
    character(256) :: line
    integer :: unit, failed
    open (newunit=unit, file=path, status='old', action='read')
    read (unit, '(a)') line
    close (unit)
    call read_numbers(path, flat)
    read (line, *, iostat=failed) four
    if (failed == 0) then
      directions = transpose(reshape(flat, [size(directions, 2), 3]))
    else
      directions = reshape(flat, shape(directions))
    end if
  end subroutine
end program fibres
