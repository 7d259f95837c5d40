!> The calls of purlin_symmetric, purlin_sshopm and purlin_dwi on plain arrays, for both precisions.
!>
!> The text is written once, in purlin_arrays.inc. The generic names merge with those of the tensor objects.
module purlin_arrays_f32
  use, intrinsic :: iso_c_binding, only: c_loc, c_double, c_int8_t, c_int32_t, c_int64_t, wp => c_float
  use purlin_types
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  use purlin_symmetric, only: purlin_symmetric_count, convert_objects => purlin_symmetric_convert, &
    pack_objects => purlin_symmetric_from_full, unpack_objects => purlin_symmetric_to_full, &
    norm_objects => purlin_symmetric_norm, identity_objects => purlin_symmetric_identity
  use purlin_sshopm_module, only: solve_objects => purlin_sshopm_solve_once, &
    all_objects => purlin_sshopm_solve_all_once, &
    product_objects => purlin_sshopm_product, starts_objects => purlin_sshopm_starts, &
    classify_objects => purlin_sshopm_classify
  use purlin_dwi_module, only: fit_objects => purlin_dwi_fit_once, csa_objects => purlin_dwi_csa_once, &
    sh_to_tensor_objects => purlin_dwi_sh_to_tensor, tensor_to_sh_objects => purlin_dwi_tensor_to_sh, &
    peaks_objects => purlin_dwi_peaks_once
  implicit none
  private
  integer(c_int32_t), parameter :: real_type = PURLIN_F32

  include 'purlin_arrays.inc'

end module purlin_arrays_f32

module purlin_arrays_f64
  use, intrinsic :: iso_c_binding, only: c_loc, c_double, c_int8_t, c_int32_t, c_int64_t, wp => c_double
  use purlin_types
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  use purlin_symmetric, only: purlin_symmetric_count, convert_objects => purlin_symmetric_convert, &
    pack_objects => purlin_symmetric_from_full, unpack_objects => purlin_symmetric_to_full, &
    norm_objects => purlin_symmetric_norm, identity_objects => purlin_symmetric_identity
  use purlin_sshopm_module, only: solve_objects => purlin_sshopm_solve_once, &
    all_objects => purlin_sshopm_solve_all_once, &
    product_objects => purlin_sshopm_product, starts_objects => purlin_sshopm_starts, &
    classify_objects => purlin_sshopm_classify
  use purlin_dwi_module, only: fit_objects => purlin_dwi_fit_once, csa_objects => purlin_dwi_csa_once, &
    sh_to_tensor_objects => purlin_dwi_sh_to_tensor, tensor_to_sh_objects => purlin_dwi_tensor_to_sh, &
    peaks_objects => purlin_dwi_peaks_once
  implicit none
  private
  integer(c_int32_t), parameter :: real_type = PURLIN_F64

  include 'purlin_arrays.inc'
end module purlin_arrays_f64
