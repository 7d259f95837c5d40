!> The C interface of plans of tensor trains, argument for argument; purlin_tt_plan is in purlin_c_tt.
module purlin_c_tt_plan
  use, intrinsic :: iso_c_binding, only: c_ptr, c_int32_t, c_int64_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_int32_t, c_int64_t

  interface
    function c_tt_plan_norm(contraction, x, info) bind(c, name='purlin_tt_plan_norm') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, x
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_plan_distance(contraction, x, y, info) bind(c, name='purlin_tt_plan_distance') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, x, y
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_plan_batch(contraction, count, x, y, info) bind(c, name='purlin_tt_plan_batch') result(s)
      import :: c_int32_t, c_int64_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction
      integer(c_int64_t), value :: count
      type(c_ptr), intent(in) :: x(*), y(*)
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_plan_gram(contraction, rows, x, cols, y, info) bind(c, name='purlin_tt_plan_gram') result(s)
      import :: c_int32_t, c_int64_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, y
      integer(c_int64_t), value :: rows, cols
      type(c_ptr), intent(in) :: x(*)
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_plan_sandwich(contraction, y, h, x, info) bind(c, name='purlin_tt_plan_sandwich') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, y, h, x
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_plan_rayleigh(contraction, h, x, info) bind(c, name='purlin_tt_plan_rayleigh') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, h, x
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
  end interface
end module purlin_c_tt_plan
