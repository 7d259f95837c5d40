/* Parameter structs of the kernels for products of f32 matrices by 8-bit integers, under the rules of docs/contributing.md.
 *
 * A factor is processed line by line: a line is a row of op(A) or a column of op(B), over which the inner products run,
 * padded with zeros to whole pieces of TT_DIGITS_INNER numbers. Each piece is transformed by the same orthogonal matrix
 * (times 8), which spreads outliers over the piece and does not change inner products. The transformed numbers are rounded
 * to integers of TT_DIGITS balanced digits to the base 256, in a unit that depends on the largest number of the line.
 *
 * Digits are stored in blocks of TT_DIGITS_LINES lines by one piece; the blocks of a group of lines follow one another. A
 * block has a plane for each digit, the most significant first, of TT_DIGITS_INNER bytes a line. In a plane, quarter q (16
 * bytes) of line l is at place q xor (l / 2 mod 4), so eight lines are read without bank conflicts. Tensor cores call this
 * a swizzle of 64 bytes.
 */
#ifndef PURLIN_TT_DIGITS_LAUNCH_H
#define PURLIN_TT_DIGITS_LAUNCH_H

#include <stdint.h>

#define PURLIN_LAUNCH_TT_DIGITS 3
#define PURLIN_LAUNCH_TT_DIGITS_LINES 128
#define PURLIN_LAUNCH_TT_DIGITS_INNER 64
#define PURLIN_LAUNCH_TT_DIGITS_THREADS 256
#define PURLIN_LAUNCH_TT_DIGITS_SPLIT_THREADS 512
/* Lines of a block of purlin_tt_digits_split, for contiguous ones and for those side by side. */
#define PURLIN_LAUNCH_TT_DIGITS_ALONG 4
#define PURLIN_LAUNCH_TT_DIGITS_ACROSS 8
/* Longest inner products: the sum of three products of digits for each number stays below 2^31. */
#define PURLIN_LAUNCH_TT_DIGITS_MOST 32768
/* A line's unit is 1 / (times 2^shift), stored as 256 shift + times. This is the code of a line with numbers that are
 * not finite. */
#define PURLIN_LAUNCH_TT_DIGITS_NONE 0
/* Bytes of the blocks of both factors, the largest number of such stages in shared memory, and the additional bytes. */
#define PURLIN_LAUNCH_TT_DIGITS_STAGE 49152
#define PURLIN_LAUNCH_TT_DIGITS_STAGES 4
#define PURLIN_LAUNCH_TT_DIGITS_BESIDE 1024

/* A factor: lines with contiguous numbers (inner_stride is 1), or lines side by side (line_stride is 1). */
typedef struct purlin_tt_digits_factor {
  uint64_t input;
  uint64_t digits; /* whole blocks; lines beyond `lines` are left as they are */
  uint64_t units; /* int32 [lines] */
  int64_t line_stride;
  int64_t inner_stride;
  int64_t lines;
  int64_t inner;
} purlin_tt_digits_factor;
#define PURLIN_TT_DIGITS_FACTOR_BYTES 56

/* purlin_tt_digits_split: computes the digits of two factors, of the first by the first a_blocks blocks of threads. */
typedef struct purlin_tt_digits_split_params {
  purlin_tt_digits_factor a;
  purlin_tt_digits_factor b;
  int64_t a_blocks;
} purlin_tt_digits_split_params;
#define PURLIN_TT_DIGITS_SPLIT_PARAMS_BYTES 120

/* purlin_tt_digits_product: C = alpha op(A) op(B), or C += alpha op(A) op(B). One block of threads for each block of
 * C. */
typedef struct purlin_tt_digits_product_params {
  uint64_t a_digits;
  uint64_t a_units;
  uint64_t b_digits;
  uint64_t b_units;
  uint64_t alpha; /* float */
  uint64_t c;
  int64_t c_stride;
  int64_t rows;
  int64_t columns;
  int64_t inner;
  int32_t add;
  int32_t stages; /* at least 2 */
} purlin_tt_digits_product_params;
#define PURLIN_TT_DIGITS_PRODUCT_PARAMS_BYTES 88

#ifdef __cplusplus
static_assert(sizeof(purlin_tt_digits_factor) == PURLIN_TT_DIGITS_FACTOR_BYTES, "purlin_tt_digits_factor changed size");
static_assert(sizeof(purlin_tt_digits_split_params) == PURLIN_TT_DIGITS_SPLIT_PARAMS_BYTES,
              "purlin_tt_digits_split_params changed size");
static_assert(sizeof(purlin_tt_digits_product_params) == PURLIN_TT_DIGITS_PRODUCT_PARAMS_BYTES,
              "purlin_tt_digits_product_params changed size");
#endif

#endif
