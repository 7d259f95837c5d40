/* Parameter structs of the kernels for contractions that are enqueued without waiting for the host: tables are launch
 * parameters, and the result stays in device memory. Under the rules of docs/contributing.md.
 */
#ifndef PURLIN_TT_RESULT_LAUNCH_H
#define PURLIN_TT_RESULT_LAUNCH_H

#include <stdint.h>

/* purlin_tt_store: writes words[j] to to[j], by one thread each in one block. The words are launch parameters, so a
 * graph that captures the launch keeps them. A copy from host memory would read it again at every replay. */
#define PURLIN_LAUNCH_TT_STORE_WORDS 480
typedef struct purlin_tt_store_params {
  uint64_t to; /* uint64 [count] */
  int64_t count;
  uint64_t words[PURLIN_LAUNCH_TT_STORE_WORDS];
} purlin_tt_store_params;
#define PURLIN_TT_STORE_PARAMS_BYTES 3856

/* purlin_tt_sum_terms: the sum of terms in a fixed order, by one block of TT_SUM_THREADS threads. The result is four
 * doubles: mantissa (the larger part in [0.5, 1), or both 0), exponent, and outcome: 0, or TT_SUM_TERMS_NONFINITE.
 * HALVED: terms are those of pairs p_x <= p_y in the order of p_y (p_y + 1) / 2 + p_x, and those off the diagonal
 * count twice. REAL: only real parts count. CONJUGATE: the conjugate of the sum. ROOT: the square root of the real
 * part, 0 if that is negative. DATA_NONFINITE: the result is not finite, whatever the terms are. It is not finite
 * either if one of the keys is not finite, because an operator's zeros keep some numbers of the cores out of every
 * term. */
#define PURLIN_LAUNCH_TT_SUM_TERMS_HALVED 1
#define PURLIN_LAUNCH_TT_SUM_TERMS_CONJUGATE 2
#define PURLIN_LAUNCH_TT_SUM_TERMS_REAL 4
#define PURLIN_LAUNCH_TT_SUM_TERMS_ROOT 8
#define PURLIN_LAUNCH_TT_SUM_TERMS_DATA_NONFINITE 16
/* an outcome, as PURLIN_TT_RESULT_NONFINITE */
#define PURLIN_LAUNCH_TT_SUM_TERMS_NONFINITE 3
typedef struct purlin_tt_sum_terms_params {
  uint64_t terms;  /* purlin_tt_result [count] */
  uint64_t result; /* double [4] */
  uint64_t keys;   /* uint64 [key_count] */
  int64_t count;
  int64_t key_count;
  int64_t flags;
} purlin_tt_sum_terms_params;
#define PURLIN_TT_SUM_TERMS_PARAMS_BYTES 48

/* purlin_tt_collect: a term for each of two groups of partial sums {re, im}, by two blocks of TT_SUM_THREADS threads.
 * The first `split` of `count` sums are the first group's. The term's exponent is the sum of the group's exponents on
 * both sides and in `exponents`. */
typedef struct purlin_tt_collect_params {
  uint64_t sums;   /* double [count][2] */
  uint64_t left;   /* int64 [2] */
  uint64_t right;  /* int64 [2] */
  uint64_t first;  /* purlin_tt_result: term of the first group */
  uint64_t second; /* of the second */
  int64_t split;
  int64_t count;
  int64_t exponents[2];
} purlin_tt_collect_params;
#define PURLIN_TT_COLLECT_PARAMS_BYTES 72

/* purlin_tt_quotient: numerator over a real denominator, both in the format of purlin_tt_sum_terms, by one thread. Any
 * number over 0 is NaN. */
typedef struct purlin_tt_quotient_params {
  uint64_t numerator; /* double [4] */
  uint64_t denominator;
  uint64_t result;
} purlin_tt_quotient_params;
#define PURLIN_TT_QUOTIENT_PARAMS_BYTES 24

/* purlin_tt_weigh: the exponent of a state as the weighted sum of those of `count` others, by one thread. The sum is
 * clamped to 2^62. The others are clamped to 2^50, which no sum over cores comes near. */
#define PURLIN_LAUNCH_TT_WEIGHTS 128
typedef struct purlin_tt_weigh_params {
  uint64_t states; /* purlin_tt_state [count] */
  uint64_t to;     /* purlin_tt_state */
  int64_t count;
  uint64_t weights[PURLIN_LAUNCH_TT_WEIGHTS];
} purlin_tt_weigh_params;
#define PURLIN_TT_WEIGH_PARAMS_BYTES 1048

#ifdef __cplusplus
static_assert(sizeof(purlin_tt_collect_params) == PURLIN_TT_COLLECT_PARAMS_BYTES, "purlin_tt_collect_params changed size");
static_assert(sizeof(purlin_tt_quotient_params) == PURLIN_TT_QUOTIENT_PARAMS_BYTES,
              "purlin_tt_quotient_params changed size");
static_assert(sizeof(purlin_tt_weigh_params) == PURLIN_TT_WEIGH_PARAMS_BYTES, "purlin_tt_weigh_params changed size");
static_assert(sizeof(purlin_tt_store_params) == PURLIN_TT_STORE_PARAMS_BYTES, "purlin_tt_store_params changed size");
static_assert(sizeof(purlin_tt_sum_terms_params) == PURLIN_TT_SUM_TERMS_PARAMS_BYTES,
              "purlin_tt_sum_terms_params changed size");
#endif

#endif
