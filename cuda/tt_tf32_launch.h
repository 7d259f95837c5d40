/* Parameter struct of the kernel that splits f32 matrices for products in TF32, under the rules of docs/contributing.md. */
#ifndef PURLIN_TT_TF32_LAUNCH_H
#define PURLIN_TT_TF32_LAUNCH_H

#include <stdint.h>

#define PURLIN_LAUNCH_TT_TF32_THREADS 256

/* purlin_tt_tf32_split: x = high + low except for a rounding error, where both are TF32 numbers. `high` exceeds x in
 * magnitude by at most half a unit of its last place, and is finite if x is. If x is not finite, `high` is x and
 * `low` is 0. Threads stride over the elements. */
typedef struct purlin_tt_tf32_split_params {
  uint64_t input; /* float [cols][ld] */
  uint64_t high;  /* float [cols][rows] */
  uint64_t low;   /* float [cols][rows] */
  int64_t ld;
  int64_t rows;
  int64_t cols;
} purlin_tt_tf32_split_params;
#define PURLIN_TT_TF32_SPLIT_PARAMS_BYTES 48

#ifdef __cplusplus
static_assert(sizeof(purlin_tt_tf32_split_params) == PURLIN_TT_TF32_SPLIT_PARAMS_BYTES,
              "purlin_tt_tf32_split_params changed size");
#endif

#endif
