/* Launch constants and the parameter struct of a matrix applied to many items. docs/contributing.md has the rules; `real` is
 * the kernel's type. */
#ifndef PURLIN_LINEAR_LAUNCH_H
#define PURLIN_LINEAR_LAUNCH_H

#include <stdint.h>

/* A matrix applied to every item: output[r, t] = sum over c of matrix[r + rows * c] * input[c, t], any strides. Dynamic
 * shared memory: columns * (PURLIN_LAUNCH_LINEAR_ITEMS + 1) reals. */
typedef struct purlin_linear_params {
  uint64_t matrix;        /* real [rows x columns] column-major */
  uint64_t input;         /* real, element c of item t at [c * input_stride + t * input_item_stride] */
  int64_t input_stride;
  int64_t input_item_stride;
  uint64_t output;        /* real, likewise */
  int64_t output_stride;
  int64_t output_item_stride;
  int64_t count;          /* items */
  int32_t rows;
  int32_t columns;
} purlin_linear_params;
#define PURLIN_LINEAR_PARAMS_BYTES 72
#define PURLIN_LAUNCH_LINEAR_ITEMS 32    /* items that a block stages at once: a warp's lanes */
#define PURLIN_LAUNCH_LINEAR_THREADS 128

#ifdef __cplusplus
static_assert(sizeof(purlin_linear_params) == PURLIN_LINEAR_PARAMS_BYTES, "purlin_linear_params changed size");
#endif

#endif /* PURLIN_LINEAR_LAUNCH_H */
