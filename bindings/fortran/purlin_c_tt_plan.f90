!> The C interface of plans of tensor trains, argument for argument.
module purlin_c_tt_plan
  use, intrinsic :: iso_c_binding, only: c_ptr, c_int32_t, c_int64_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_int32_t, c_int64_t

  interface
    include 'generated/purlin_c_tt_plan.inc'
  end interface
end module purlin_c_tt_plan
