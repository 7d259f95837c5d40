/* Sizes and offsets of the structs as C has them, for test_layout.f90. */
#include <stddef.h>
#include <stdint.h>

#include "purlin.h"

#define ROW(type, last) {sizeof(type), offsetof(type, last)}

/* Size of struct `which`, and where its last member lies: a member too many, too few or of another size shows. */
void layout_of(int32_t which, int64_t *size, int64_t *last);
void layout_of(int32_t which, int64_t *size, int64_t *last) {
  static const size_t table[][2] = {
    ROW(purlin_device_info, name),
    ROW(purlin_context_options, log_user),
    ROW(purlin_context_info, device_name),
    ROW(purlin_tensor_info, data),
    ROW(purlin_matrix_info, owned),
    ROW(purlin_sshopm_options, progress_user),
    ROW(purlin_sshopm_results, found),
    ROW(purlin_sshopm_info, unconverged_tensors),
    ROW(purlin_sshopm_all_options, progress_user),
    ROW(purlin_dwi_fit_options, progress_user),
    ROW(purlin_dwi_csa_options, progress_user),
    ROW(purlin_dwi_peaks_options, progress_user),
    ROW(purlin_array_info, reserved),
    ROW(purlin_fdk_geometry, reserved),
    ROW(purlin_fdk_grid, z0),
    ROW(purlin_fdk_options, progress_user),
    ROW(purlin_fdk_info, pixels_not_finite),
    ROW(purlin_rpca_options, contexts_count),
    ROW(purlin_rpca_info, device_bytes),
    ROW(purlin_rsvd_options, read_rate),
    ROW(purlin_rsvd_info, reason),
    ROW(purlin_pca_options, whiten),
    ROW(purlin_pca_info, noise_variance),
    ROW(purlin_tt_info, bytes),
    ROW(purlin_tt_contraction_options, progress_user),
    ROW(purlin_tt_contraction_info, reason),
    ROW(purlin_tt_round_options, reserved),
    ROW(purlin_tt_round_info, max_rank),
    ROW(purlin_tt_scaled, phase_im),
    ROW(purlin_spmv_options, upper),
    ROW(purlin_spmv_info, degree),
    ROW(purlin_lanczos_options, start),
    ROW(purlin_lanczos_info, orthogonality),
    ROW(purlin_lanczos_accepted, copies),
  };
  *size = (int64_t)table[which][0];
  *last = (int64_t)table[which][1];
}
