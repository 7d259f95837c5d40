/* Launch constants and the parameter struct of the fits of diffusion MRI. docs/contributing.md has the rules, sshopm_launch.h
 * the statuses; `real` is the kernel's type. */
#ifndef PURLIN_DWI_LAUNCH_H
#define PURLIN_DWI_LAUNCH_H

#include <stdint.h>

#define PURLIN_LAUNCH_FIT_THREADS 128        /* dwi fit kernels */
#define PURLIN_LAUNCH_FIT_VOXELS 32          /* voxels in a tile of the unweighted fit */
#define PURLIN_LAUNCH_FIT_CHUNK 32           /* measurements staged at once */
#define PURLIN_LAUNCH_FIT_MAX_ENTRIES 45

/* Fits tensors of the apparent diffusion coefficient to the signals of one diffusion volume.
 * purlin_dwi_fit_*: entries = solution * log(S / S0), blocks of PURLIN_LAUNCH_FIT_THREADS, grid-stride over tiles of
 * PURLIN_LAUNCH_FIT_VOXELS voxels. purlin_dwi_fit_weighted_*: per-voxel weighted normal equations, one warp a voxel.
 * A voxel without a usable signal gets zero entries and status SIGNAL (S0 <= 0, or a signal <= 0 with `skip`) or
 * NONFINITE; a clamped one is CLAMPED; masked ones are MASKED with zero entries; others OK.
 * signal_type is a purlin dtype: 0 f32, 1 f64, 4 i32, 6 u8, 7 u16. */
typedef struct purlin_fit_params {
  uint64_t signals;       /* measurement j of voxel t at [j * measurement_stride + t * voxel_stride] */
  int64_t measurement_stride;
  int64_t voxel_stride;
  uint64_t mask;          /* uint8 by voxel or 0 */
  uint64_t baseline;      /* int32 [baseline_count] measurements averaged to S0 */
  uint64_t weighted;      /* int32 [weighted_count] measurements with diffusion weighting */
  uint64_t solution;      /* unweighted: real [U x weighted_count] column-major, the minus sign and 1/b included */
  uint64_t design;        /* weighted: real [U x weighted_count] column-major, column j holds b_j mult(k) g_j^k */
  uint64_t weights;       /* weighted: real, strides below, or 0 for S^2 */
  int64_t weight_measurement_stride;
  int64_t weight_voxel_stride;
  uint64_t tensors;       /* real, entry r of voxel t at [r * entry_stride + t * tensor_stride] */
  int64_t entry_stride;
  int64_t tensor_stride;
  uint64_t s0;            /* real [T] or 0 */
  uint64_t status;        /* int32 [T] or 0 */
  double clamp;           /* signals <= 0 become clamp * S0 */
  int64_t count;
  int32_t baseline_count;
  int32_t weighted_count;
  int32_t entries;        /* U <= PURLIN_LAUNCH_FIT_MAX_ENTRIES */
  int32_t signal_type;
  int32_t skip;           /* 1: reject a voxel with a signal <= 0 instead of clamping */
  int32_t reserved;
} purlin_fit_params;
#define PURLIN_FIT_PARAMS_BYTES 168

#ifdef __cplusplus
static_assert(sizeof(purlin_fit_params) == PURLIN_FIT_PARAMS_BYTES, "purlin_fit_params changed size");
#endif

#endif /* PURLIN_DWI_LAUNCH_H */
