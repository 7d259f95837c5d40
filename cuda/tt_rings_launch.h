/* Parameter structs of the kernels that search a ring for numbers that hide others that count, under the rules of
 * docs/contributing.md.
 *
 * The size of a pair of values of a core's two bonds is the logarithm to base 2 of the root of the squares over the mode. The
 * largest sums of sizes along a path from one value of the first bond to each value of every bond, and back to it, show which
 * numbers count: those through which a path closes whose sum is near the largest such sum. A number hides them if it is far
 * larger at the same bond.
 */
#ifndef PURLIN_TT_RINGS_LAUNCH_H
#define PURLIN_TT_RINGS_LAUNCH_H

#include <stdint.h>

/* A core r x n x s. */
typedef struct purlin_tt_ring_core {
  uint64_t address; /* of its first element */
  int64_t r;
  int64_t n;
  int64_t s;
  int64_t sizes; /* its r s sizes begin at this one */
  int64_t place; /* the values of its first bond begin at this one of a turn */
} purlin_tt_ring_core;
#define PURLIN_TT_RING_CORE_BYTES 48

/* purlin_tt_ring_sizes_<f32|f64>: writes the sizes of `count` cores. Elements have `parts` numbers of the type. The grid's x
 * strides over the pairs of a core, y over the cores.
 * purlin_tt_ring_tops: writes to `tops` the largest sums before and behind each of the bonds 0 to count turns, and behind all
 * of them the largest sum of a closed path, as ordered keys, by maxima of keys that are 0.
 * purlin_tt_ring_hides: writes NaN to `to` if a closed path whose sum is at most `digits` below the largest goes through a value
 * of a bond where a largest sum is more than `half` above the sum before or behind.
 * The last two have a block for each value of the first bond, which strides, with `space` of its own. All return at once if
 * `doubt` is not 0 and leads to 0. Blocks of TT_RING_THREADS threads. */
#define PURLIN_LAUNCH_TT_RING_THREADS 256
typedef struct purlin_tt_ring_params {
  uint64_t cores; /* purlin_tt_ring_core [count] */
  uint64_t sizes; /* float */
  uint64_t tops;  /* uint64 [count turns + 1][2], and one more */
  uint64_t space; /* double [blocks][stride]: the values of all bonds, and twice `widest` */
  uint64_t doubt; /* double, or 0 */
  uint64_t to;    /* double */
  int64_t count;
  int64_t turns;
  int64_t values; /* of the first bond */
  int64_t width;  /* values of the bonds of a turn, but the last */
  int64_t widest; /* values of the widest bond */
  int64_t stride;
  int64_t parts;
  double half;
  double digits;
} purlin_tt_ring_params;
#define PURLIN_TT_RING_PARAMS_BYTES 120

#ifdef __cplusplus
static_assert(sizeof(purlin_tt_ring_core) == PURLIN_TT_RING_CORE_BYTES, "purlin_tt_ring_core changed size");
static_assert(sizeof(purlin_tt_ring_params) == PURLIN_TT_RING_PARAMS_BYTES, "purlin_tt_ring_params changed size");
#endif

#endif
