!> The C interface of contractions that stay on the device, argument for argument; purlin_tt_inner_enqueue is in
!> purlin_c_tt.
module purlin_c_tt_enqueue
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_ptr
  use purlin_types
  implicit none
  public

  interface
    include 'generated/purlin_c_tt_enqueue.inc'
  end interface
end module purlin_c_tt_enqueue
