!> Helpers of the tests: assertions and reading of reference numbers.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
  use purlin, only: purlin_live_handles
  implicit none
  private
  public :: check, check_none_live, folder, read_numbers, read_reals, read_bytes, doubles_near

contains

  subroutine check(condition, text)
    logical, intent(in) :: condition
    character(*), intent(in) :: text
    if (condition) return
    write (error_unit, '(2a)') 'failed: ', text
    error stop 1
  end subroutine

  !> Every test ends with this call: each object that was created has been destroyed.
  subroutine check_none_live()
    call check(purlin_live_handles() == 0_int64, 'no handle is left')
  end subroutine

  !> The n-th folder named on the command line: 1 the reference numbers, 2 the volume.
  function folder(n) result(path)
    integer, intent(in) :: n
    character(:), allocatable :: path
    integer :: length
    call get_command_argument(n, length=length)
    allocate (character(length) :: path)
    call get_command_argument(n, path)
    path = path // '/'
  end function

  !> Numbers of a text file, as many as the array holds.
  subroutine read_numbers(path, numbers)
    character(*), intent(in) :: path
    real(real64), intent(out) :: numbers(:)
    integer :: unit, failed
    open (newunit=unit, file=path, status='old', action='read')
    read (unit, *, iostat=failed) numbers
    close (unit)
    call check(failed == 0, 'reading ' // path)
  end subroutine

  !> Raw little-endian single or double precision numbers, by the kind of the array that is present.
  subroutine read_reals(path, singles, doubles)
    character(*), intent(in) :: path
    real(real32), intent(out), optional :: singles(:, :)
    real(real64), intent(out), optional :: doubles(:, :)
    integer :: unit, failed
    failed = 0
    open (newunit=unit, file=path, status='old', action='read', access='stream', form='unformatted')
    if (present(singles)) read (unit, iostat=failed) singles
    if (present(doubles) .and. failed == 0) read (unit, iostat=failed) doubles
    close (unit)
    call check(failed == 0, 'reading ' // path)
  end subroutine

  subroutine read_bytes(path, bytes)
    use, intrinsic :: iso_fortran_env, only: int8
    character(*), intent(in) :: path
    integer(int8), intent(out) :: bytes(:)
    integer :: unit, failed
    open (newunit=unit, file=path, status='old', action='read', access='stream', form='unformatted')
    read (unit, iostat=failed) bytes
    close (unit)
    call check(failed == 0, 'reading ' // path)
  end subroutine

  pure function doubles_near(a, b, tolerance) result(near)
    real(real64), intent(in) :: a(:), b(:), tolerance
    logical :: near
    near = all(abs(a - b) <= tolerance)
  end function
end module checks
