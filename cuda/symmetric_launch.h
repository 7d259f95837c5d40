/* Launch constants and parameter structs of packed symmetric tensors. docs/contributing.md has the rules; `real` is the
 * kernel's type. */
#ifndef PURLIN_SYMMETRIC_LAUNCH_H
#define PURLIN_SYMMETRIC_LAUNCH_H

#include <stdint.h>

/* Packed symmetric tensors. Entry r of tensor t is at [r * entry_stride + t * tensor_stride]; all arithmetic is in double.
 *
 * Convert: destination = source, multiplied or divided by a factor of the entry. The types of both may differ; a source with
 * source_tensor_stride 0 is written to every tensor. One thread for each entry, grid-stride. */
#define PURLIN_LAUNCH_SCALE_NONE 0
#define PURLIN_LAUNCH_SCALE_TIMES 1
#define PURLIN_LAUNCH_SCALE_OVER 2
typedef struct purlin_symmetric_convert_params {
  uint64_t source;
  int64_t source_entry_stride;
  int64_t source_tensor_stride;
  uint64_t destination;
  int64_t destination_entry_stride;
  int64_t destination_tensor_stride;
  uint64_t factors;       /* double [U], or 0 with SCALE_NONE */
  int64_t entries;        /* U */
  int64_t count;          /* T */
  int32_t scale;
  int32_t reserved;
} purlin_symmetric_convert_params;
#define PURLIN_SYMMETRIC_CONVERT_PARAMS_BYTES 80

/* Norms over all n^m places: one block a tensor, grid-stride, blocks of whole warps up to
 * PURLIN_LAUNCH_SYMMETRIC_THREADS. If an entry is not finite, the norm is the magnitude of the first such entry. */
#define PURLIN_LAUNCH_NORM_FROBENIUS 0
#define PURLIN_LAUNCH_NORM_ONE 1
#define PURLIN_LAUNCH_NORM_MAX 2
typedef struct purlin_symmetric_norm_params {
  uint64_t packed;
  int64_t entry_stride;
  int64_t tensor_stride;
  uint64_t multinomials;  /* double [U] */
  uint64_t norms;         /* real, norm of tensor t at [t * norm_stride] */
  int64_t norm_stride;
  int64_t entries;        /* U */
  int64_t count;          /* T */
  int32_t kind;
  int32_t reserved;
} purlin_symmetric_norm_params;
#define PURLIN_SYMMETRIC_NORM_PARAMS_BYTES 72

/* To and from dense tensors. Place p = sum over j of i_j n^j of tensor t is at [sum over j of i_j * strides[j]
 * + t * full_tensor_stride]. If strides[j] = step * n^j, with step > 0, that is [p * step + t * full_tensor_stride].
 * to_full: one thread for each element, grid-stride. from_full: one block a tensor, as for the norms. Its check compares each
 * place with the first place of its entry. They disagree if they differ by more than tolerance times the tensor's largest
 * finite magnitude, or if only one of them is finite. The check writes the smallest k + t * places of all disagreeing places,
 * k being the position in `table`, and nothing else. */
#define PURLIN_LAUNCH_SYMMETRIC_MAX_ORDER 32
typedef struct purlin_symmetric_full_params {
  uint64_t full;          /* real */
  int64_t full_tensor_stride;
  int64_t step;           /* or 0 */
  int64_t strides[PURLIN_LAUNCH_SYMMETRIC_MAX_ORDER];
  uint64_t packed;        /* real; 0 if from_full checks */
  int64_t entry_stride;
  int64_t tensor_stride;
  uint64_t table;         /* int32 [places]; to_full: entry of each place; from_full: places, entry by entry */
  uint64_t starts;        /* from_full: int32 [U + 1], first position of each entry's places in `table` */
  uint64_t asymmetry;     /* from_full with a check: uint64, all bits set by the host; else 0 */
  double tolerance;       /* without a check: 0 for the mean over an entry's places, -1 for the first of them */
  int64_t places;         /* n^m, below 2^31 */
  int64_t entries;        /* U */
  int64_t count;          /* T */
  int32_t order;
  int32_t dimension;
} purlin_symmetric_full_params;
#define PURLIN_SYMMETRIC_FULL_PARAMS_BYTES 368
#define PURLIN_LAUNCH_SYMMETRIC_THREADS 256

#ifdef __cplusplus
static_assert(sizeof(purlin_symmetric_convert_params) == PURLIN_SYMMETRIC_CONVERT_PARAMS_BYTES,
              "purlin_symmetric_convert_params changed size");
static_assert(sizeof(purlin_symmetric_norm_params) == PURLIN_SYMMETRIC_NORM_PARAMS_BYTES,
              "purlin_symmetric_norm_params changed size");
static_assert(sizeof(purlin_symmetric_full_params) == PURLIN_SYMMETRIC_FULL_PARAMS_BYTES,
              "purlin_symmetric_full_params changed size");
#endif

#endif /* PURLIN_SYMMETRIC_LAUNCH_H */
