!> Conversions between integers of 32 and of 64 bits, for the procedures of integers/.
module purlin_integers
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_int64_t
  use purlin_types
  use purlin_library
  implicit none
  private
  public :: widen, narrow, narrow_new, narrowed

  !> The results of a call, in 32 bits. A value that does not fit is refused by the name of its argument. After another
  !> failure than PURLIN_ERROR_NO_CONVERGENCE nothing is written.
  interface narrow
    module procedure narrow_number, narrow_list
  end interface

  !> The same for arrays that the call allocates.
  interface narrow_new
    module procedure narrow_new_list, narrow_new_table
  end interface

contains

  !> A copy of a list in 64 bits.
  subroutine widen(o, name, given, wide)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: given(:)
    integer(c_int64_t), allocatable, intent(out) :: wide(:)
    integer :: failed
    allocate (wide(size(given, kind=c_int64_t)), stat=failed)
    if (failed == 0) then
      wide(:) = given
    else if (o%status == PURLIN_SUCCESS) then
      o%status = PURLIN_ERROR_OUT_OF_MEMORY
      o%message = name//': no memory for a copy in 64 bits'
    end if
  end subroutine

  !> The number in 32 bits, or where it does not fit the nearest one, which is outside every documented range too.
  pure function narrowed(wide) result(number)
    integer(c_int64_t), intent(in) :: wide
    integer(c_int32_t) :: number
    number = int(max(min(wide, int(huge(number), c_int64_t)), -int(huge(number), c_int64_t)), c_int32_t)
  end function

  pure function has_result(o) result(yes)
    type(outcome), intent(in) :: o
    logical :: yes
    yes = o%status == PURLIN_SUCCESS .or. o%status == PURLIN_ERROR_NO_CONVERGENCE
  end function

  subroutine require(o, name, fits)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: name
    logical, intent(in) :: fits
    if (.not. fits) call refuse(o, name//': does not fit an integer of 32 bits; give one of 64')
  end subroutine

  subroutine narrow_number(o, name, wide, given)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: wide
    integer(c_int32_t), intent(inout) :: given
    if (.not. has_result(o)) return
    call require(o, name, abs(wide) <= huge(given))
    given = narrowed(wide)
  end subroutine

  subroutine narrow_list(o, name, wide, given)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(in) :: wide(:)
    integer(c_int32_t), intent(inout) :: given(:)
    integer(c_int64_t) :: i
    if (.not. (has_result(o) .and. allocated(wide))) return
    call require(o, name, all(abs(wide) <= huge(given)))
    do i = 1, size(wide, kind=c_int64_t)
      given(i) = narrowed(wide(i))
    end do
  end subroutine

  subroutine narrow_new_list(o, name, wide, given)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(in) :: wide(:)
    integer(c_int32_t), allocatable, intent(inout) :: given(:)
    integer(c_int64_t) :: i
    if (.not. allocated(wide)) return
    call require(o, name, all(abs(wide) <= huge(given)))
    given = [(narrowed(wide(i)), i=1, size(wide, kind=c_int64_t))]
  end subroutine

  subroutine narrow_new_table(o, name, wide, given)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(in) :: wide(:, :)
    integer(c_int32_t), allocatable, intent(inout) :: given(:, :)
    integer(c_int64_t) :: j
    integer :: failed
    if (.not. allocated(wide)) return
    call require(o, name, all(abs(wide) <= huge(given)))
    if (allocated(given)) deallocate (given)
    allocate (given(size(wide, 1, c_int64_t), size(wide, 2, c_int64_t)), stat=failed)
    if (failed /= 0) then
      if (o%status == PURLIN_SUCCESS) o%status = PURLIN_ERROR_OUT_OF_MEMORY
      return
    end if
    do j = 1, size(wide, 2, c_int64_t)
      given(:, j) = int(wide(:, j), c_int32_t)
    end do
  end subroutine
end module purlin_integers
