/* Launch constants and parameter structs of the kernels of the randomized SVD, under the rules of docs/contributing.md.
 *
 * Words
 *   block     rows of the data on the device. Its contiguous axis is `inner`, the other `outer`: element (i, o) is at
 *             [i + o * stride]. The inner axis runs along a row of a row-major block, along a column of a column-major one.
 *   record    three doubles of a row or column. Moments: mean (real, imaginary), sum of the squared distances from it times
 *             the square of the factor; 0 only if all elements are equal, infinite if it overflows.
 *             Center: the number to subtract (real, imaginary), and the factor of the difference.
 */
#ifndef PURLIN_RSVD_LAUNCH_H
#define PURLIN_RSVD_LAUNCH_H

#include <stdint.h>

/* element types of the data: PURLIN_LAUNCH_FDK_U8 .. _F64, and */
#define PURLIN_LAUNCH_RSVD_CF32 9
#define PURLIN_LAUNCH_RSVD_CF64 10

/* axis that a table of records belongs to */
#define PURLIN_LAUNCH_RSVD_NONE 0
#define PURLIN_LAUNCH_RSVD_INNER 1
#define PURLIN_LAUNCH_RSVD_OUTER 2

/* flags, a bit set */
#define PURLIN_LAUNCH_RSVD_DIVIDE 1    /* conversions: multiply by the record's third number */
#define PURLIN_LAUNCH_RSVD_CONJUGATE 2 /* copies, mirroring: take the conjugate */
#define PURLIN_LAUNCH_RSVD_ADD 4       /* copies: add to the output */

#define PURLIN_LAUNCH_RSVD_THREADS 256
#define PURLIN_LAUNCH_RSVD_MOST_BLOCKS 1024 /* of a conversion */
#define PURLIN_LAUNCH_RSVD_TILE_INNER 128   /* elements that a block of a conversion processes at a time */
#define PURLIN_LAUNCH_RSVD_TILE_OUTER 32
#define PURLIN_LAUNCH_RSVD_COPY_TILE 32
#define PURLIN_LAUNCH_RSVD_ALONG_CHUNK 4096 /* elements of a chunk of moments over the inner axis */
#define PURLIN_LAUNCH_RSVD_ACROSS_CHUNK 256 /* and over the outer one */
#define PURLIN_LAUNCH_RSVD_RECORD 3         /* doubles of a record */
#define PURLIN_LAUNCH_RSVD_TALLY 4          /* doubles of a tally */

/* Converts raw numbers to the kernel's type: x * factor - center * factor, times the record's third number. A factor above 1
 * multiplies the difference instead, so that neither product overflows where the result does not. A tally is the sum of the
 * squared moduli of the output, the largest modulus of the input, the number of elements that are not finite (excluded from
 * the others), and the largest part of a difference times the factor (0 without center).
 * purlin_rsvd_scan_* computes only the tally, of numbers of the kernel's type without center and factor. */
typedef struct purlin_rsvd_convert_params {
  uint64_t source;        /* [inner, outer] of `number` */
  uint64_t output;        /* the kernel's type, or 0: only the tally */
  uint64_t center;        /* double [3 x inner or outer], or 0 */
  uint64_t tallies;       /* double [4 x blocks of the grid], or 0 */
  int64_t source_stride;
  int64_t output_stride;
  int64_t inner;
  int64_t outer;
  double factor;
  int32_t number;
  int32_t center_axis;
  int32_t flags;
  int32_t reserved;
} purlin_rsvd_convert_params;
#define PURLIN_RSVD_CONVERT_PARAMS_BYTES 88

/* Sums tallies in a fixed order. One block. */
typedef struct purlin_rsvd_tally_params {
  uint64_t tallies;       /* double [4 x count] */
  uint64_t output;        /* double [4] */
  int64_t count;
} purlin_rsvd_tally_params;
#define PURLIN_RSVD_TALLY_PARAMS_BYTES 24

/* Moments of chunks. purlin_rsvd_along_*: over the inner axis, one warp for each outer index. purlin_rsvd_across_*: over
 * the outer axis, one thread for each inner index, chunks along the grid's y. */
typedef struct purlin_rsvd_moments_params {
  uint64_t source;        /* the kernel's type, [inner, outer] */
  uint64_t partials;      /* double [3 x length x chunks], length = outer (along) or inner (across) */
  int64_t stride;
  int64_t inner;
  int64_t outer;
  double factor;          /* a power of two; elements times it have squares that do not overflow */
} purlin_rsvd_moments_params;
#define PURLIN_RSVD_MOMENTS_PARAMS_BYTES 48

/* Merges chunks into records in their order (Chan, Golub, LeVeque 1979), one thread for each record. */
typedef struct purlin_rsvd_merge_params {
  uint64_t partials;      /* double [3 x length x chunks] */
  uint64_t records;       /* double [3 x length] */
  int64_t length;
  int64_t elements;       /* of all chunks of a record */
  int64_t chunk;          /* elements of each chunk but the last */
  int64_t before;         /* elements already in the records; 0: the records are not read */
  double factor;          /* as in the moments */
} purlin_rsvd_merge_params;
#define PURLIN_RSVD_MERGE_PARAMS_BYTES 56

/* output(i, j) = source(i, j), with any strides. In place if both are the same. */
typedef struct purlin_rsvd_copy_params {
  uint64_t source;
  uint64_t output;
  int64_t source_row;     /* elements from one row to the next */
  int64_t source_column;
  int64_t output_row;
  int64_t output_column;
  int64_t rows;
  int64_t columns;
  int64_t flags;
} purlin_rsvd_copy_params;
#define PURLIN_RSVD_COPY_PARAMS_BYTES 72

/* A Hermitian matrix of the kernel's type from the lower triangle of one in double. In place if both are the same. */
typedef struct purlin_rsvd_mirror_params {
  uint64_t source;
  uint64_t output;
  int64_t source_stride;
  int64_t output_stride;
  int64_t order;
  int64_t flags;
} purlin_rsvd_mirror_params;
#define PURLIN_RSVD_MIRROR_PARAMS_BYTES 48

/* Y = A X for A in compressed rows: one warp for each row; its lanes compute the columns of X. */
typedef struct purlin_rsvd_sparse_params {
  uint64_t row_ptr;       /* int64 [rows + 1] */
  uint64_t columns;       /* int32 */
  uint64_t values;        /* the kernel's type, or 0: all are 1 */
  uint64_t x;             /* row c begins at x[c * x_stride], its `width` elements are adjacent */
  uint64_t y;             /* element (r, k) at y[r + k * y_stride] */
  int64_t x_stride;
  int64_t y_stride;
  int64_t rows;
  int64_t width;
} purlin_rsvd_sparse_params;
#define PURLIN_RSVD_SPARSE_PARAMS_BYTES 72

#ifdef __cplusplus
static_assert(sizeof(purlin_rsvd_convert_params) == PURLIN_RSVD_CONVERT_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_rsvd_tally_params) == PURLIN_RSVD_TALLY_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_rsvd_moments_params) == PURLIN_RSVD_MOMENTS_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_rsvd_merge_params) == PURLIN_RSVD_MERGE_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_rsvd_copy_params) == PURLIN_RSVD_COPY_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_rsvd_mirror_params) == PURLIN_RSVD_MIRROR_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_rsvd_sparse_params) == PURLIN_RSVD_SPARSE_PARAMS_BYTES, "mirrored in Rust");
#endif

#endif
