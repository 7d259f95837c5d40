/* Launch constants and parameter structs of the dense kernels, under the rules of docs/contributing.md.
 *
 * Matrices are column-major: element (i, j) of a matrix with leading dimension ld is element i + j * ld. Kernel names end
 * in the type of the elements, f32, f64, cf32 or cf64. If they end in two types, the input has the first and the output the
 * second. All kernels except the reductions stride over their matrix with any grid: x over rows, y over columns.
 */
#ifndef PURLIN_DENSE_LAUNCH_H
#define PURLIN_DENSE_LAUNCH_H

#include <stdint.h>

#define PURLIN_LAUNCH_DENSE_THREADS 256

/* purlin_dense_place: output = op(input); op is a bit set. Blocks have DENSE_THREADS threads; with TRANSPOSE they have
 * DENSE_TILE * DENSE_TILE_LINES threads and process a tile of DENSE_TILE^2 elements at a time. */
#define PURLIN_LAUNCH_DENSE_TRANSPOSE 1
#define PURLIN_LAUNCH_DENSE_CONJUGATE 2
/* purlin_dense_convert: column j of the output is column cols - 1 - j of the input */
#define PURLIN_LAUNCH_DENSE_REVERSE 4
#define PURLIN_LAUNCH_DENSE_TILE 32
#define PURLIN_LAUNCH_DENSE_TILE_LINES 8
typedef struct purlin_dense_place_params {
  uint64_t input;
  uint64_t output;
  int64_t rows; /* of the output */
  int64_t cols;
  int64_t input_ld;
  int64_t output_ld;
  int64_t flags;
} purlin_dense_place_params;
#define PURLIN_DENSE_PLACE_PARAMS_BYTES 56

/* purlin_dense_scale: multiplies column j by factors[j]. */
typedef struct purlin_dense_scale_params {
  uint64_t matrix;
  uint64_t factors; /* double [cols] */
  int64_t rows;
  int64_t cols;
  int64_t ld;
} purlin_dense_scale_params;
#define PURLIN_DENSE_SCALE_PARAMS_BYTES 40

/* purlin_dense_sums: sums of the squares of the moduli of each column; purlin_dense_peaks: real and imaginary part of the
 * first entry of largest modulus, 0 if there is none. One block for each column. */
typedef struct purlin_dense_columns_params {
  uint64_t matrix;
  uint64_t output; /* double [cols], of the peaks double [2, cols] */
  int64_t rows;
  int64_t cols;
  int64_t ld;
  double factor; /* multiplies the numbers before they are squared */
} purlin_dense_columns_params;
#define PURLIN_DENSE_COLUMNS_PARAMS_BYTES 48

/* purlin_dense_fill: random numbers, see src/base/dense/sketch.rs. The grid's y strides over cells: columns 2c and 2c + 1
 * of a real matrix, column c of a complex one. */
#define PURLIN_LAUNCH_DENSE_GAUSSIAN 0
#define PURLIN_LAUNCH_DENSE_UNIFORM 1
#define PURLIN_LAUNCH_DENSE_RADEMACHER 2
#define PURLIN_LAUNCH_DENSE_SPARSE_SIGN 3
#define PURLIN_LAUNCH_DENSE_GROUP 8 /* columns of a sparse sign matrix, one of them nonzero */
typedef struct purlin_dense_fill_params {
  uint64_t matrix;
  int64_t rows;
  int64_t cols;
  int64_t ld;
  uint64_t seed;
  uint64_t first_row;
  uint32_t first_column;
  uint32_t stream;
  int32_t distribution;
  int32_t padding;
} purlin_dense_fill_params;
#define PURLIN_DENSE_FILL_PARAMS_BYTES 64

/* purlin_dense_shift: adds shift * trace to the diagonal, in one block. */
typedef struct purlin_dense_shift_params {
  uint64_t matrix;
  int64_t order;
  int64_t ld;
  double shift;
} purlin_dense_shift_params;
#define PURLIN_DENSE_SHIFT_PARAMS_BYTES 32

/* purlin_dense_upper: copies the upper triangle of a matrix, with zeros below. */
typedef struct purlin_dense_upper_params {
  uint64_t input;
  uint64_t output;
  uint64_t identity; /* of the input's type, packed: becomes the identity; 0 = absent */
  uint64_t diagonal; /* double [order + 1]: real parts of the diagonal, then `info`; 0 = absent */
  uint64_t info;     /* int32; 0 = absent */
  int64_t order;
  int64_t input_ld;
  int64_t output_ld;
} purlin_dense_upper_params;
#define PURLIN_DENSE_UPPER_PARAMS_BYTES 64

/* purlin_dense_condition: output[j] = norm of column j of a packed upper triangle times norm of row j of its packed
 * inverse. Elements below the triangle are not read. One block for each index. */
typedef struct purlin_dense_condition_params {
  uint64_t triangle;
  uint64_t inverse;
  uint64_t output; /* double [order] */
  int64_t order;
} purlin_dense_condition_params;
#define PURLIN_DENSE_CONDITION_PARAMS_BYTES 32

/* purlin_dense_polynomial: square = a I + b first + c square, packed, of given order. */
typedef struct purlin_dense_polynomial_params {
  uint64_t first;
  uint64_t square;
  int64_t order;
  double a;
  double b;
  double c;
} purlin_dense_polynomial_params;
#define PURLIN_DENSE_POLYNOMIAL_PARAMS_BYTES 48

/* purlin_dense_start: output = input / sqrt(sum of sums) plus uniform noise in +- noise, packed, square; if the sum is 0,
 * output = noise. */
typedef struct purlin_dense_start_params {
  uint64_t input;
  uint64_t output;
  uint64_t sums; /* double [order] */
  int64_t order;
  double noise;
} purlin_dense_start_params;
#define PURLIN_DENSE_START_PARAMS_BYTES 40

#ifdef __cplusplus
static_assert(sizeof(purlin_dense_place_params) == PURLIN_DENSE_PLACE_PARAMS_BYTES,
              "purlin_dense_place_params changed size");
static_assert(sizeof(purlin_dense_scale_params) == PURLIN_DENSE_SCALE_PARAMS_BYTES,
              "purlin_dense_scale_params changed size");
static_assert(sizeof(purlin_dense_columns_params) == PURLIN_DENSE_COLUMNS_PARAMS_BYTES,
              "purlin_dense_columns_params changed size");
static_assert(sizeof(purlin_dense_fill_params) == PURLIN_DENSE_FILL_PARAMS_BYTES,
              "purlin_dense_fill_params changed size");
static_assert(sizeof(purlin_dense_shift_params) == PURLIN_DENSE_SHIFT_PARAMS_BYTES,
              "purlin_dense_shift_params changed size");
static_assert(sizeof(purlin_dense_upper_params) == PURLIN_DENSE_UPPER_PARAMS_BYTES,
              "purlin_dense_upper_params changed size");
static_assert(sizeof(purlin_dense_condition_params) == PURLIN_DENSE_CONDITION_PARAMS_BYTES,
              "purlin_dense_condition_params changed size");
static_assert(sizeof(purlin_dense_polynomial_params) == PURLIN_DENSE_POLYNOMIAL_PARAMS_BYTES,
              "purlin_dense_polynomial_params changed size");
static_assert(sizeof(purlin_dense_start_params) == PURLIN_DENSE_START_PARAMS_BYTES,
              "purlin_dense_start_params changed size");
#endif

#endif
