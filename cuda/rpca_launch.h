/* Launch constants and parameter structs of the robust PCA kernels, under the rules of docs/contributing.md.
 *
 * A panel is a range of the long axis with all of the short one, packed: element e of X, Y and L has index e % fast on the
 * contiguous axis and e / fast on the other. Panels have less than 2^31 elements. Kernel names end in the type, f32, f64,
 * cf32 or cf64.
 */
#ifndef PURLIN_RPCA_LAUNCH_H
#define PURLIN_RPCA_LAUNCH_H

#include <stdint.h>

#define PURLIN_LAUNCH_RPCA_THREADS 256
#define PURLIN_LAUNCH_RPCA_CHUNK 4096 /* elements that a block processes */
#define PURLIN_LAUNCH_RPCA_SUMS 4     /* sums of a block, and of the totals */

/* flags */
#define PURLIN_LAUNCH_RPCA_LAST 1    /* X := L, Y := S */
#define PURLIN_LAUNCH_RPCA_MAXIMUM 2 /* purlin_rpca_sum: the second number is a maximum */
#define PURLIN_LAUNCH_RPCA_MEASURED 4 /* purlin_rpca_update: sums the dual residual; not with LAST */

/* Element types of M as in DType. */
#define PURLIN_LAUNCH_RPCA_F32 0
#define PURLIN_LAUNCH_RPCA_F64 1
#define PURLIN_LAUNCH_RPCA_CF32 2
#define PURLIN_LAUNCH_RPCA_CF64 3
#define PURLIN_LAUNCH_RPCA_I32 4
#define PURLIN_LAUNCH_RPCA_U8 6
#define PURLIN_LAUNCH_RPCA_U16 7
#define PURLIN_LAUNCH_RPCA_F16 8
#define PURLIN_LAUNCH_RPCA_I8 9
#define PURLIN_LAUNCH_RPCA_I16 10
#define PURLIN_LAUNCH_RPCA_U32 11

/* purlin_rpca_load: X := x_scale scale M, Y := y_scale scale M. Sums of a block: sum of squares of scale M, its largest
 * modulus, numbers that are not finite, sum of moduli.
 * purlin_rpca_update: L, M, Y to X, Y; sums of a block: of |M - L - S|^2; in the last iteration of |S| and of the entries
 * |S| > threshold, 0; in a measured one of |X - L - Y' / mu|^2 with the Y' that is written, |Y' / mu|^2, |S|; else 0. */
typedef struct purlin_rpca_pass_params {
  uint64_t m;
  uint64_t mask;     /* uint8, 0 = not observed; 0 = absent */
  uint64_t low_rank; /* update */
  uint64_t x;
  uint64_t y;    /* load: 0 = not written */
  uint64_t sums; /* double [RPCA_SUMS, blocks]; 0 = absent */
  int64_t m_slow;    /* elements of M from one index of the other axis to the next; the contiguous axis has 1 */
  int64_t mask_fast; /* the same of the mask, along both axes */
  int64_t mask_slow;
  double scale;
  double x_scale;
  double y_scale;
  double inverse; /* 1 / mu */
  double mu;
  double shrink; /* lambda / mu */
  double keep;   /* 1 + mu / mu_next */
  double threshold;
  int32_t fast;
  int32_t elements;
  int32_t number;
  int32_t flags;
} purlin_rpca_pass_params;
#define PURLIN_RPCA_PASS_PARAMS_BYTES 152

/* purlin_rpca_sum: adds the sums of all blocks to the totals, in one block. */
typedef struct purlin_rpca_sum_params {
  uint64_t sums;
  uint64_t totals; /* double [RPCA_SUMS] */
  int64_t blocks;
  int64_t flags;
} purlin_rpca_sum_params;
#define PURLIN_RPCA_SUM_PARAMS_BYTES 32

#ifdef __cplusplus
static_assert(sizeof(purlin_rpca_pass_params) == PURLIN_RPCA_PASS_PARAMS_BYTES, "layout");
static_assert(sizeof(purlin_rpca_sum_params) == PURLIN_RPCA_SUM_PARAMS_BYTES, "layout");
#endif

#endif
