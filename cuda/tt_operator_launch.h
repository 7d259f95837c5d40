/* Parameter structs of the kernels for operators between tensor trains, under the rules of docs/contributing.md.
 *
 * An environment L[a, q, p, b] holds bra bond a (fastest), operator slot q, boundary pair p and ket bond b. The slots before
 * `split` are the operator's, the others the identity's. Kernel names end in the type: f32, f64, cf32, cf64; all go over lists
 * with blocks of TT_SUM_THREADS threads.
 */
#ifndef PURLIN_TT_OPERATOR_LAUNCH_H
#define PURLIN_TT_OPERATOR_LAUNCH_H

#include <stdint.h>

/* flags of purlin_tt_turn, a bit set: the bonds are exchanged; the input is real */
#define PURLIN_LAUNCH_TT_TURN_MIRROR 1
#define PURLIN_LAUNCH_TT_TURN_WIDEN 2

/* purlin_tt_turn: a core (left, n, right) times 2^-exponent, in the type of the contraction. The input is aligned to a
 * component. */
typedef struct purlin_tt_turn_params {
  uint64_t input;
  uint64_t output;
  int64_t left;
  int64_t n;
  int64_t right;
  int64_t exponent;
  int64_t flags;
} purlin_tt_turn_params;
#define PURLIN_TT_TURN_PARAMS_BYTES 56

/* One column of a sum: slot and ket index, and its coefficient. */
typedef struct purlin_tt_term {
  int32_t slot;
  int32_t column;
  double re;
  double im;
} purlin_tt_term;
#define PURLIN_TT_TERM_BYTES 24

/* purlin_tt_gather: U[c, to, p, f] = sum over the terms (q, j) of `to` of value * alpha * T[c, q, p, j, f]. */
typedef struct purlin_tt_gather_params {
  uint64_t input;
  uint64_t output;
  uint64_t starts; /* int64 [count + 1] */
  uint64_t terms;  /* purlin_tt_term [starts[count]] */
  int64_t column;  /* indices c */
  int64_t inputs;  /* slots q */
  int64_t count;   /* columns `to` */
  int64_t pairs;
  int64_t cols;   /* ket indices j */
  int64_t follow; /* indices f */
  uint64_t alpha; /* one element, a power of two, or 0 for 1 */
} purlin_tt_gather_params;
#define PURLIN_TT_GATHER_PARAMS_BYTES 88

/* purlin_tt_peaks: writes the keys of the largest |re| or |im| of both groups of slots, to keys zeroed before. */
typedef struct purlin_tt_peaks_params {
  uint64_t environment;
  uint64_t keys; /* uint64 [2] */
  int64_t bra;
  int64_t slots;
  int64_t split;
  int64_t count;
} purlin_tt_peaks_params;
#define PURLIN_TT_PEAKS_PARAMS_BYTES 48

/* purlin_tt_shift: multiplies both groups of slots by powers of two. */
typedef struct purlin_tt_shift_params {
  uint64_t environment;
  int64_t bra;
  int64_t slots;
  int64_t split;
  int64_t count;
  int32_t first;
  int32_t second;
} purlin_tt_shift_params;
#define PURLIN_TT_SHIFT_PARAMS_BYTES 48

/* purlin_tt_boundary: writes 1 to every slot of the elements (a, b) of `pairs` pairs from `first` on, a = pair % bra
 * and b = pair / bra, of an environment that is 0. */
typedef struct purlin_tt_boundary_params {
  uint64_t environment;
  int64_t bra;
  int64_t slots;
  int64_t pairs;
  int64_t first;
} purlin_tt_boundary_params;
#define PURLIN_TT_BOUNDARY_PARAMS_BYTES 40

/* purlin_tt_ready: as purlin_tt_shift, by the keys of purlin_tt_peaks, for a step over two cores of any magnitude.
 * Both groups are scaled to [0.5, 1) and, with C as in purlin_tt_factors, by 2^-C(q) of the key of the ket's core.
 * The product with that core must be multiplied by `alpha` before the product with the bra's core; then neither
 * overflows. `to` receives the exponents of the next environment, which is measured by the next step. */
typedef struct purlin_tt_ready_params {
  uint64_t environment;
  uint64_t keys;   /* uint64 [2] */
  uint64_t from;   /* int64 [2]: exponents of this environment's groups */
  uint64_t to;     /* int64 [2] */
  uint64_t alpha;  /* one element */
  uint64_t ket_key; /* uint64 */
  uint64_t bra_key;
  int64_t bra;
  int64_t slots;
  int64_t split;
  int64_t count;
} purlin_tt_ready_params;
#define PURLIN_TT_READY_PARAMS_BYTES 88

/* purlin_tt_meet: partial sums of L[a, q, c] R[a, q, c] over a and `columns` columns c = (p, b), for each slot q of
 * L. The grid's y is the slot, its x the partial sum. R has as many slots, or one. */
typedef struct purlin_tt_meet_params {
  uint64_t left;
  uint64_t right;
  uint64_t sums; /* 2 doubles for each block, those of a slot one after another */
  int64_t bra;
  int64_t left_slots;
  int64_t right_slots;
  int64_t columns;
} purlin_tt_meet_params;
#define PURLIN_TT_MEET_PARAMS_BYTES 56

#ifdef __cplusplus
static_assert(sizeof(purlin_tt_turn_params) == PURLIN_TT_TURN_PARAMS_BYTES, "purlin_tt_turn_params changed size");
static_assert(sizeof(purlin_tt_term) == PURLIN_TT_TERM_BYTES, "purlin_tt_term changed size");
static_assert(sizeof(purlin_tt_gather_params) == PURLIN_TT_GATHER_PARAMS_BYTES, "purlin_tt_gather_params changed size");
static_assert(sizeof(purlin_tt_peaks_params) == PURLIN_TT_PEAKS_PARAMS_BYTES, "purlin_tt_peaks_params changed size");
static_assert(sizeof(purlin_tt_shift_params) == PURLIN_TT_SHIFT_PARAMS_BYTES, "purlin_tt_shift_params changed size");
static_assert(sizeof(purlin_tt_boundary_params) == PURLIN_TT_BOUNDARY_PARAMS_BYTES,
              "purlin_tt_boundary_params changed size");
static_assert(sizeof(purlin_tt_ready_params) == PURLIN_TT_READY_PARAMS_BYTES, "purlin_tt_ready_params changed size");
static_assert(sizeof(purlin_tt_meet_params) == PURLIN_TT_MEET_PARAMS_BYTES, "purlin_tt_meet_params changed size");
#endif

#endif
