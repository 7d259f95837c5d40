!> The C interface of streamed and implicit matrices, randomized SVD, PCA and robust PCA, argument for argument.
module purlin_c_rsvd
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_double, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_funptr, c_double, c_int32_t, c_int64_t, c_size_t

  interface
    include 'generated/purlin_c_rsvd.inc'
  end interface
end module purlin_c_rsvd
