/* Launch constants and parameter structs of the kernels of Lanczos spaces, under the rules of docs/contributing.md.
 *
 * Words
 *   space     columns of n numbers, column j at element j * n.
 *   piece     the rows of a block. Its sums are stored in a line of `partials`, and purlin_lanczos_total adds the pieces in
 *             their order.
 *
 * Kernel names end in the element type, f32, f64, cf32 or cf64. Sums are doubles, two for a complex number.
 */
#ifndef PURLIN_LANCZOS_LAUNCH_H
#define PURLIN_LANCZOS_LAUNCH_H

#include <stdint.h>

#define PURLIN_LAUNCH_LANCZOS_THREADS 256
#define PURLIN_LAUNCH_LANCZOS_PIECE 512 /* rows: two for each thread */
#define PURLIN_LAUNCH_LANCZOS_COLUMNS 8 /* columns that a warp sums at a time */
#define PURLIN_LAUNCH_LANCZOS_STEP_THREADS 1024
#define PURLIN_LAUNCH_LANCZOS_STEP_PASSES 3   /* largest number of Gram-Schmidt passes */
#define PURLIN_LAUNCH_LANCZOS_TURN_THREADS 128
#define PURLIN_LAUNCH_LANCZOS_TURN_COLUMNS 8  /* columns that a thread computes at a time */
#define PURLIN_LAUNCH_LANCZOS_PEAKS 256       /* blocks for each column */

/* purlin_lanczos_pass_*: w -= V h if there is an h, then V^H w of each piece if there are partials, and the sums of |w|^2
 * before and after if there are squares. */
typedef struct purlin_lanczos_pass_params {
  uint64_t space;     /* the first column of V */
  uint64_t vector;    /* w */
  uint64_t weights;   /* h: double [parts count]; or 0: nothing is subtracted */
  uint64_t partials;  /* double [parts count, pieces], or 0 */
  uint64_t squares;   /* double [2, pieces], or 0: before and after */
  int64_t rows;
  int64_t count;
  int64_t keep;       /* 1: w is not written */
} purlin_lanczos_pass_params;
#define PURLIN_LANCZOS_PASS_PARAMS_BYTES 64

/* purlin_lanczos_total: adds the pieces of each number and multiplies the sum by `factor`. One block for each number. The same
 * kernel serves all element types. */
typedef struct purlin_lanczos_total_params {
  uint64_t partials;  /* double [numbers, pieces] */
  uint64_t output;    /* double [numbers] */
  int64_t pieces;
  int64_t numbers;
  double factor;
} purlin_lanczos_total_params;
#define PURLIN_LANCZOS_TOTAL_PARAMS_BYTES 40

/* purlin_lanczos_scale_*: to = factor / sqrt(square) from + keep to. With keep = 0, `to` is not read. */
typedef struct purlin_lanczos_scale_params {
  uint64_t from;
  uint64_t to;
  uint64_t square;    /* double, or 0: 1 */
  uint64_t parts;     /* real numbers of the type, which multiply `from` element by element, or 0 */
  int64_t rows;
  double factor;
  double keep;
} purlin_lanczos_scale_params;
#define PURLIN_LANCZOS_SCALE_PARAMS_BYTES 56

/* purlin_lanczos_step_*: the part of a step after the product w = A v. v is column `column` of the space and w the next one.
 * Blocks wait for each other: a cooperative launch, for up to THREADS vectors in the space.
 *
 * With `previous`, the terms of u and v are subtracted first. Then w is made orthogonal to all vectors before it: always
 * without `estimates`, and otherwise when these ask for it. Without `previous`, w is made orthogonal to all vectors at once.
 * Passes are repeated up to STEP_PASSES times. w is then divided by its norm. With `three`, only the terms of v and, with
 * `previous`, of u are subtracted; `column` is 0 then.
 *
 * Shared memory: doubles [parts count + (2 + parts count) (1 + THREADS / 32)] for count = column + 1, after the rows of the
 * block if these are `held`. A block has rows / blocks rows, rounded up, and then up to a multiple of 32. */
typedef struct purlin_lanczos_step_params {
  uint64_t space;           /* column 0 */
  uint64_t before;          /* u, the vector before v; read if there is a `previous` */
  uint64_t last;            /* v */
  uint64_t vector;          /* w */
  uint64_t partials;        /* double [2, most, blocks] */
  uint64_t arrivals;        /* uint32 [2]: 0 before and after */
  uint64_t record;          /* double [4]: along v, |A v|, norm, passes */
  uint64_t previous;        /* the record of the step that made v from u; or 0 */
  uint64_t projected;       /* double [basis, basis]: real parts of the projected matrix, which the step extends; or 0 */
  uint64_t estimates;       /* double [2, basis + 1]: estimated products of vectors with the one before the last, and with
                             * the last; then [largest |A v|, 1 if the vector is due]; or 0: no estimates */
  uint64_t estimates_after; /* the same after the step */
  int64_t rows;
  int64_t column;
  int64_t step;             /* j, the column's number in the space that the estimates are of */
  int64_t basis;
  int64_t most;             /* allocated numbers of `partials` for each block: at least 2 + parts count */
  int64_t held;             /* 1: the rows of a block are copied to shared memory */
  int64_t three;            /* 1: only the three-term recurrence */
  double epsilon;
  double limit;             /* largest modulus of an estimate without reorthogonalization */
} purlin_lanczos_step_params;
#define PURLIN_LANCZOS_STEP_PARAMS_BYTES 160

/* purlin_lanczos_turn_*: replaces the first `to` of `from` columns by the product of all `from` columns and `weights`. One
 * thread for each row. Shared memory: doubles [parts from (to rounded up to TURN_COLUMNS)], then the numbers of a row for each
 * thread, [from, THREADS]. */
typedef struct purlin_lanczos_turn_params {
  uint64_t space;     /* the first column */
  uint64_t weights;   /* double [parts from, to], column by column */
  int64_t rows;
  int64_t from;
  int64_t to;
} purlin_lanczos_turn_params;
#define PURLIN_LANCZOS_TURN_PARAMS_BYTES 40

/* Multiplies each column by a number of modulus 1, so that its entry of largest modulus is real and positive; among entries
 * about as large the first counts. purlin_lanczos_peak_* finds the largest modulus in each of PEAKS parts of a column, _first_*
 * the first entry in each part about as large as the largest of these, and _orient_* writes the columns. Blocks
 * [PEAKS, columns]. */
typedef struct purlin_lanczos_orient_params {
  uint64_t space;     /* the first column */
  uint64_t peaks;     /* double [columns, PEAKS]: squares */
  uint64_t firsts;    /* double [columns, PEAKS, 3]: row, or -1, and the entry */
  uint64_t output;    /* may be `space` */
  int64_t rows;
  int64_t stride;     /* from a column of the output to the next, in numbers */
  double near;        /* an entry counts as large if its square is at least this times the largest square */
} purlin_lanczos_orient_params;
#define PURLIN_LANCZOS_ORIENT_PARAMS_BYTES 56

#ifdef __cplusplus
static_assert(sizeof(purlin_lanczos_pass_params) == PURLIN_LANCZOS_PASS_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_lanczos_total_params) == PURLIN_LANCZOS_TOTAL_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_lanczos_scale_params) == PURLIN_LANCZOS_SCALE_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_lanczos_step_params) == PURLIN_LANCZOS_STEP_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_lanczos_turn_params) == PURLIN_LANCZOS_TURN_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_lanczos_orient_params) == PURLIN_LANCZOS_ORIENT_PARAMS_BYTES, "mirrored in Rust");
#endif

#endif
