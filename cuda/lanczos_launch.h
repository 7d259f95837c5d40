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

#endif
