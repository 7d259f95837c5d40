/* Launch constants and parameter structs of the kernels of Lanczos spaces, under the rules of purlin_launch.h.
 *
 * Words
 *   space     columns of n numbers, column j at element j * n.
 *   piece     rows that a block takes; its sums go to a line of `partials`, and purlin_lanczos_total_* adds the pieces in
 *             their order. Kernel names end in the element type, f32, f64, cf32 or cf64; sums are doubles, of complex
 *             numbers two each.
 */
#ifndef PURLIN_LANCZOS_LAUNCH_H
#define PURLIN_LANCZOS_LAUNCH_H

#include <stdint.h>

#define PURLIN_LAUNCH_LANCZOS_THREADS 256
#define PURLIN_LAUNCH_LANCZOS_PIECE 512 /* rows: two a thread */
#define PURLIN_LAUNCH_LANCZOS_COLUMNS 8 /* that a warp sums at a time */
#define PURLIN_LAUNCH_LANCZOS_STEP_THREADS 1024
#define PURLIN_LAUNCH_LANCZOS_STEP_PASSES 3   /* of Gram and Schmidt, at most */
#define PURLIN_LAUNCH_LANCZOS_TURN_THREADS 128
#define PURLIN_LAUNCH_LANCZOS_TURN_COLUMNS 8  /* that a thread forms at a time */
#define PURLIN_LAUNCH_LANCZOS_PEAKS 256       /* blocks that look at a column */

/* purlin_lanczos_pass_*: w -= V h where there is an h, then V^H w of each piece where there are partials, and the sums of
 * |w|^2 before and after. */
typedef struct purlin_lanczos_pass_params {
  uint64_t space;     /* the first column of V */
  uint64_t vector;    /* w */
  uint64_t weights;   /* h: double [count], of complex numbers twice; or 0: nothing is subtracted */
  uint64_t partials;  /* double [parts count, pieces], or 0 */
  uint64_t squares;   /* double [2, pieces], or 0: before and after */
  int64_t rows;
  int64_t count;
  int64_t keep;       /* 1: w stays as it is */
} purlin_lanczos_pass_params;
#define PURLIN_LANCZOS_PASS_PARAMS_BYTES 64

/* purlin_lanczos_total: adds the pieces of each number, times `factor`. A block a number. Without a type. */
typedef struct purlin_lanczos_total_params {
  uint64_t partials;  /* double [numbers, pieces] */
  uint64_t output;    /* double [numbers] */
  int64_t pieces;
  int64_t numbers;
  double factor;
} purlin_lanczos_total_params;
#define PURLIN_LANCZOS_TOTAL_PARAMS_BYTES 40

/* purlin_lanczos_scale_*: to = factor / sqrt(square) from + keep to. With keep = 0 nothing of `to` is read. */
typedef struct purlin_lanczos_scale_params {
  uint64_t from;
  uint64_t to;
  uint64_t square;    /* double, or 0: 1 */
  uint64_t parts;     /* real numbers of the type that `from` is multiplied by, one by one, or 0 */
  int64_t rows;
  double factor;
  double keep;
} purlin_lanczos_scale_params;
#define PURLIN_LANCZOS_SCALE_PARAMS_BYTES 56

/* purlin_lanczos_step_*: what follows the product w = A v in a step, v being column `column` of the space and w the next one.
 * Blocks wait for each other: a cooperative launch, of up to THREADS vectors in the space.
 *
 * With `previous` the two terms before are taken away first, then, without `estimates` always and else where these say so,
 * what the vectors before have along w. w is divided by its norm. Without `previous` all is taken away, as often as it takes.
 * With `three` the terms of v and of u, where there is a `previous`, are all that is ever taken away; `column` is 0 then.
 *
 * Shared memory: doubles [parts count + (2 + parts count) (1 + THREADS / 32)] for count = column + 1, behind those of the
 * rows of a block where these are held: a block has rows / blocks rows, rounded up and then to a multiple of 32. */
typedef struct purlin_lanczos_step_params {
  uint64_t space;           /* column 0 */
  uint64_t before;          /* u, the vector before v; read where there is a `previous` */
  uint64_t last;            /* v */
  uint64_t vector;          /* w */
  uint64_t partials;        /* double [2, most, blocks] */
  uint64_t arrivals;        /* uint32 [2]: 0 before and after */
  uint64_t record;          /* double [4]: along v, |A v|, norm, passes */
  uint64_t previous;        /* the record of the step that made v from u; or 0 */
  uint64_t projected;       /* double [basis, basis]: real parts of the projected matrix, which the step goes on with; or 0 */
  uint64_t estimates;       /* double [2, basis + 1], [largest |A v|, 1 where a vector is due]: of the products of vectors
                             * with the one before the last, and with the last; or 0: none is trusted */
  uint64_t estimates_after; /* likewise, after the step */
  int64_t rows;
  int64_t column;
  int64_t step;             /* j, the column's number in the space that the estimates are of */
  int64_t basis;
  int64_t most;             /* numbers of a block that there is room for: 2 + parts count or more */
  int64_t held;             /* 1: the rows of a block are worked on in shared memory */
  int64_t three;            /* 1: three terms are all */
  double epsilon;
  double limit;             /* of estimates */
} purlin_lanczos_step_params;
#define PURLIN_LANCZOS_STEP_PARAMS_BYTES 160

/* purlin_lanczos_turn_*: the first `to` of `from` columns become all of these times `weights`. A thread a row. Shared memory:
 * doubles [parts from (to rounded up to TURN_COLUMNS)], then the numbers of a row for each thread, [from, THREADS]. */
typedef struct purlin_lanczos_turn_params {
  uint64_t space;     /* the first column */
  uint64_t weights;   /* double [from, to], of complex numbers twice: column by column */
  int64_t rows;
  int64_t from;
  int64_t to;
} purlin_lanczos_turn_params;
#define PURLIN_LANCZOS_TURN_PARAMS_BYTES 40

/* Columns are turned so that the entry of largest modulus, the first of those about as large, is real and positive:
 * purlin_lanczos_peak_* finds the largest modulus of each of PEAKS parts of a column, _first_* the first entry about as large
 * as the largest of these, and _orient_* writes the columns. Blocks [PEAKS, columns]. */
typedef struct purlin_lanczos_orient_params {
  uint64_t space;     /* the first column */
  uint64_t peaks;     /* double [columns, PEAKS]: squares */
  uint64_t firsts;    /* double [columns, PEAKS, 3]: row, or -1, and the entry */
  uint64_t output;    /* may be `space` */
  int64_t rows;
  int64_t stride;     /* from a column of the output to the next, in numbers */
  double near;        /* what counts as large, as a share of the square of the largest */
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
