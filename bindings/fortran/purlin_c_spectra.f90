!> The C interface of sparse matrices, their products, eigenpairs and graphs, argument for argument.
module purlin_c_spectra
  use, intrinsic :: iso_c_binding, only: c_ptr, c_double, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_double, c_int32_t, c_int64_t, c_size_t

  interface
    include 'generated/purlin_c_spectra.inc'
  end interface
end module purlin_c_spectra
