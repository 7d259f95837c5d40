!> The C interface of calls on tensor trains without an object, argument for argument.
module purlin_c_tt_once
  use, intrinsic :: iso_c_binding, only: c_ptr, c_double, c_int32_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_double, c_int32_t

  interface
    include 'generated/purlin_c_tt_once.inc'
  end interface
end module purlin_c_tt_once
