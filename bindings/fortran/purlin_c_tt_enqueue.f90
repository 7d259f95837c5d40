!> The C interface of contractions that stay on the device, argument for argument; purlin_tt_inner_enqueue is in
!> purlin_c_tt.
module purlin_c_tt_enqueue
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_ptr
  use purlin_types
  implicit none
  public

  interface
    function c_tt_norm_enqueue(contraction, stream, x, result, info) bind(c, name='purlin_tt_norm_enqueue') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, x, result
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_distance_enqueue(contraction, stream, x, y, result, info) bind(c, &
      name='purlin_tt_distance_enqueue') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, x, y, result
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_sandwich_enqueue(contraction, stream, y, h, x, result, info) bind(c, &
      name='purlin_tt_sandwich_enqueue') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, y, h, x, result
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_rayleigh_enqueue(contraction, stream, h, x, result, info) bind(c, &
      name='purlin_tt_rayleigh_enqueue') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, h, x, result
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
  end interface
end module purlin_c_tt_enqueue
