!> Plans of contractions of tensor trains: method, kernel, operations, bytes, and the most
!> workspace, in `info`.
module purlin_tt_plans_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c_tt_plan
  use purlin_library
  use purlin_tt_cores, only: tt_cut_from_one
  use purlin_tt_module
  use purlin_tt_matrix_module
  use purlin_tt_contraction_module
  implicit none
  private
  public :: purlin_tt_plan_inner, purlin_tt_plan_norm, purlin_tt_plan_distance, purlin_tt_plan_batch, &
    purlin_tt_plan_gram, purlin_tt_plan_sandwich, purlin_tt_plan_rayleigh

contains

  !> Of `contraction%inner`. Nothing is read.
  subroutine purlin_tt_plan_inner(contraction, x, y, info, stat, errmsg)
    type(purlin_tt_contraction), intent(in) :: contraction
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt_contraction_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_plan_inner(contraction%handle(), x%handle(), y%handle(), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Of `contraction%norm`, by the method that the options ask for.
  subroutine purlin_tt_plan_norm(contraction, x, info, stat, errmsg)
    type(purlin_tt_contraction), intent(in) :: contraction
    type(purlin_tt), intent(in) :: x
    type(purlin_tt_contraction_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_plan_norm(contraction%handle(), x%handle(), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Of `contraction%distance`.
  subroutine purlin_tt_plan_distance(contraction, x, y, info, stat, errmsg)
    type(purlin_tt_contraction), intent(in) :: contraction
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt_contraction_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_plan_distance(contraction%handle(), x%handle(), y%handle(), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Of `contraction%inner_batch`: method and kernel of the first pair, the rest of all together.
  subroutine purlin_tt_plan_batch(contraction, x, y, info, stat, errmsg)
    type(purlin_tt_contraction), intent(in) :: contraction
    type(purlin_tt), intent(in) :: x(:), y(:)
    type(purlin_tt_contraction_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    if (size(y) /= size(x)) call refuse(o, 'y: not as many trains as x')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_plan_batch(contraction%handle(), size(x, kind=c_int64_t), &
      tt_keys(x), tt_keys(y), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Of `contraction%gram`, likewise; of x with itself without `y`.
  subroutine purlin_tt_plan_gram(contraction, x, info, y, stat, errmsg)
    type(purlin_tt_contraction), intent(in) :: contraction
    type(purlin_tt), intent(in) :: x(:)
    type(purlin_tt_contraction_info), intent(inout) :: info
    type(purlin_tt), intent(in), optional :: y(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr), allocatable, target :: kets(:)
    type(c_ptr) :: second
    type(outcome) :: o
    call purlin_init(info)
    second = c_null_ptr
    allocate (kets(0))
    if (present(y)) then
      kets = [tt_keys(y), c_null_ptr]
      second = c_loc(kets)
    end if
    call absorb(o, c_tt_plan_gram(contraction%handle(), size(x, kind=c_int64_t), tt_keys(x), &
      size(kets, kind=c_int64_t) - 1, second, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Of `contraction%sandwich`.
  subroutine purlin_tt_plan_sandwich(contraction, y, h, x, info, stat, errmsg)
    type(purlin_tt_contraction), intent(in) :: contraction
    type(purlin_tt), intent(in) :: y, x
    type(purlin_tt_matrix), intent(in) :: h
    type(purlin_tt_contraction_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_plan_sandwich(contraction%handle(), y%handle(), h%handle(), x%handle(), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Of `contraction%rayleigh`.
  subroutine purlin_tt_plan_rayleigh(contraction, h, x, info, stat, errmsg)
    type(purlin_tt_contraction), intent(in) :: contraction
    type(purlin_tt_matrix), intent(in) :: h
    type(purlin_tt), intent(in) :: x
    type(purlin_tt_contraction_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_plan_rayleigh(contraction%handle(), h%handle(), x%handle(), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine
end module purlin_tt_plans_module
