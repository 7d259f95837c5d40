/* NaN and infinity in every core in turn, also behind a core of zeros: results are NaN with the flag NONFINITE, those of calls with
   operators too. The dense tensor has them where it depends on them alone. */
#include "tt.h"

enum { CORES = 4 };

static purlin_context *context;

static purlin_tt_contraction_info fresh_info(void) {
  purlin_tt_contraction_info info;
  OK(purlin_tt_contraction_info_init(&info, sizeof info));
  return info;
}

/* All calls with a train that is not finite, on either side of `y`. */
static void check_calls(purlin_tt_contraction *c, const purlin_tt *x, const purlin_tt *y) {
  const purlin_tt *bras[3], *kets[3];
  const int64_t length[1] = {3};
  purlin_tt_contraction_info info = fresh_info();
  purlin_tensor *values = NULL, *exponents = NULL;
  purlin_tt_scaled s;
  double result[2], numbers[3];
  int64_t powers[3];
  int side, k;
#define IS_NAN(number) CHECK(isnan(number) && info.outcome == PURLIN_TT_RESULT_NONFINITE), info.outcome = 0
  for (side = 0; side < 3; side++) {
    const purlin_tt *a = side == 1 ? y : x, *b = side == 0 ? y : x;
    OK(purlin_tt_inner_scaled(c, NULL, a, b, &s, &info));
    IS_NAN(s.re);
    CHECK(s.exponent == 0);
    OK(purlin_tt_distance_scaled(c, NULL, a, b, &s, &info));
    IS_NAN(s.re);
    result[0] = 0;
    FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_inner(c, NULL, a, b, result, &info));
    IS_NAN(result[0]);
    result[0] = 0;
    FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_distance(c, NULL, a, b, result, &info));
    IS_NAN(result[0]);
    bras[side] = a;
    kets[side] = b;
  }
  OK(purlin_tt_norm_scaled(c, NULL, x, &s, &info));
  IS_NAN(s.re);
  result[0] = 0;
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_norm(c, NULL, x, result, &info));
  IS_NAN(result[0]);
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 1, length, NULL, numbers, &values));
  OK(purlin_tensor_borrow(context, PURLIN_I64, 0, 1, length, NULL, powers, &exponents));
  /* One product of a batch is finite. */
  bras[2] = kets[2] = y;
  OK(purlin_tt_inner_batch(c, NULL, 3, bras, kets, values, exponents, &info));
  for (k = 0; k < 3; k++) CHECK(k == 2 ? isfinite(numbers[k]) && numbers[k] != 0 : isnan(numbers[k]) && powers[k] == 0);
  CHECK(info.outcome == PURLIN_TT_RESULT_NONFINITE);
  info.outcome = 0;
  numbers[0] = numbers[1] = numbers[2] = 0;
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_inner_batch(c, NULL, 3, bras, kets, values, NULL, &info));
  for (k = 0; k < 3; k++) CHECK(k == 2 ? isfinite(numbers[k]) && numbers[k] != 0 : isnan(numbers[k]));
  CHECK(info.outcome == PURLIN_TT_RESULT_NONFINITE);
#undef IS_NAN
  OK(purlin_tensor_destroy(exponents));
  OK(purlin_tensor_destroy(values));
}

/* Number `at` of core `bad` is `value`; core `zero` has zeros alone, unless it is -1. */
static void check_core(int64_t edge, int64_t bad, int64_t at, double value, int64_t zero) {
  static made x, y;
  static const int32_t ways[2] = {PURLIN_TT_NORM_INNER, PURLIN_TT_NORM_QR};
  int way;
  make_train(context, &x, CORES, 2, 3, edge, 1);
  make_train(context, &y, CORES, 2, 2, edge, 2);
  if (zero >= 0) memset(x.cores[zero], 0, (size_t)(x.ranks[zero] * 2 * x.ranks[zero + 1]) * sizeof(double));
  ((double *)x.cores[bad])[at] = value;
  for (way = 0; way < 2; way++) {
    purlin_tt_contraction_options o;
    purlin_tt_contraction *c = NULL;
    OK(purlin_tt_contraction_options_init(&o, sizeof o));
    o.norm_method = ways[way];
    OK(purlin_tt_contraction_create(context, &o, &c));
    check_calls(c, x.tt, y.tt);
    OK(purlin_tt_contraction_destroy(c));
  }
  OK(purlin_tt_destroy(y.tt));
  OK(purlin_tt_destroy(x.tt));
}

/* The dense tensor of a train of ones but for a number of core `bad`: entries that do not depend on it are sums of 8 ones. */
static void check_dense(purlin_dtype dtype, int64_t bad, double value) {
  double wide[CORES][8], out[16];
  float narrow[CORES][8], small[16];
  const int64_t modes[CORES] = {2, 2, 2, 2}, ranks[CORES + 1] = {1, 2, 2, 2, 1};
  const int is_wide = dtype == PURLIN_F64;
  void *cores[CORES];
  purlin_tt *x = NULL;
  purlin_tensor *t = dense(context, dtype, CORES, modes, is_wide ? (void *)out : (void *)small);
  int64_t k, i;
  for (k = 0; k < CORES; k++) {
    for (i = 0; i < 8; i++) wide[k][i] = narrow[k][i] = 1;
    cores[k] = is_wide ? (void *)wide[k] : (void *)narrow[k];
  }
  /* In the matrix of index 0. */
  wide[bad][0] = value;
  narrow[bad][0] = (float)value;
  OK(purlin_tt_borrow(context, dtype, 0, CORES, modes, ranks, cores, &x));
  OK(purlin_tt_full(context, NULL, x, t));
  for (i = 0; i < 16; i++) {
    const double found = is_wide ? out[i] : (double)small[i];
    CHECK((i >> bad & 1) == 0 ? !isfinite(found) : found == 8);
  }
  OK(purlin_tt_destroy(x));
  OK(purlin_tensor_destroy(t));
}

/* Calls with operators and the environments, which run on the processor that holds the train: `x` is not finite. */
static void check_operators(purlin_tt_contraction *c, const purlin_tt *x) {
  const int64_t sites[1] = {0}, pair[2] = {2, 2};
  const purlin_tt *list[2];
  double z[4] = {1, 0, 0, -1}, gram[4] = {0}, correlations[CORES * CORES] = {0}, local[1] = {0}, energy[2] = {0};
  int64_t powers[4] = {7, 7, 7, 7};
  purlin_tensor *values = array2(context, PURLIN_F64, 2, 2, gram), *exponents = array2(context, PURLIN_I64, 2, 2, powers);
  purlin_tensor *square = array2(context, PURLIN_F64, CORES, CORES, correlations);
  purlin_tensor *one = vector_of(context, PURLIN_F64, 1, local), *op = dense(context, PURLIN_F64, 2, pair, z);
  purlin_tt_contraction_info info = fresh_info();
  purlin_tt_environments *e = NULL;
  purlin_tt_matrix *ising = NULL;
  purlin_tt_scaled s, t;
  int k;
  list[0] = list[1] = x;
  OK(purlin_tt_matrix_ising(context, PURLIN_F64, CORES, 0, 1.5, 0.5, &ising));
#define IS_NAN(number) CHECK(isnan(number) && info.outcome == PURLIN_TT_RESULT_NONFINITE), info.outcome = 0
  OK(purlin_tt_sandwich_scaled(c, NULL, x, ising, x, &s, &info));
  IS_NAN(s.re);
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_rayleigh(c, NULL, ising, x, energy, &s, &t, &info));
  IS_NAN(energy[0]);
  CHECK(isnan(s.re) && isnan(t.re));
  OK(purlin_tt_gram(c, NULL, 2, list, 2, list, values, exponents, &info));
  IS_NAN(gram[0]);
  for (k = 0; k < 4; k++) CHECK(isnan(gram[k]) && powers[k] == 0);
  memset(gram, 0, sizeof gram);
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_gram(c, NULL, 2, list, 2, list, values, NULL, &info));
  IS_NAN(gram[0]);
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_correlation(c, NULL, x, op, op, square, &info));
  IS_NAN(correlations[0]);
  for (k = 0; k < CORES * CORES; k++) CHECK(isnan(correlations[k]));
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_expect_local(c, NULL, x, op, 1, sites, one, &info));
  IS_NAN(local[0]);
#undef IS_NAN
  OK(purlin_tt_environments_create(c, x, NULL, x, &e));
  OK(purlin_tt_environments_value(e, NULL, 1, &s));
  CHECK(isnan(s.re));
  OK(purlin_tt_environments_local(e, NULL, 0, op, &s));
  CHECK(isnan(s.re));
  OK(purlin_tt_environments_destroy(e));
  OK(purlin_tt_matrix_destroy(ising));
  OK(purlin_tensor_destroy(op));
  OK(purlin_tensor_destroy(one));
  OK(purlin_tensor_destroy(square));
  OK(purlin_tensor_destroy(exponents));
  OK(purlin_tensor_destroy(values));
}

/* The same for a train on the host, and on a GPU for its copy there. */
static void check_places(int64_t bad, double value) {
  static made x;
  purlin_tt_contraction *c = NULL;
  purlin_tt *there = NULL;
  make_train(context, &x, CORES, 2, 3, 1, 1);
  ((double *)x.cores[bad])[0] = value;
  OK(purlin_tt_contraction_create(context, NULL, &c));
  check_operators(c, x.tt);
  if (!is_on_cpu()) {
    OK(purlin_tt_create(context, PURLIN_F64, PURLIN_DEVICE, 0, CORES, x.modes, x.ranks, &there));
    OK(purlin_tt_copy(context, NULL, x.tt, there));
    check_operators(c, there);
    OK(purlin_tt_destroy(there));
  }
  OK(purlin_tt_contraction_destroy(c));
  OK(purlin_tt_destroy(x.tt));
}

int main(void) {
  const double values[3] = {NAN, INFINITY, -INFINITY};
  int64_t edge, bad, zero;
  int v;
  context = test_context(2);
  for (edge = 1; edge <= 2; edge++)
    for (bad = 0; bad < CORES; bad++)
      for (v = 0; v < 3; v++) {
        check_core(edge, bad, bad, values[v], -1);
        for (zero = 0; zero < CORES; zero++)
          if (zero != bad) check_core(edge, bad, 0, values[v], zero);
      }
  for (bad = 0; bad < CORES; bad++)
    for (v = 0; v < 3; v++) {
      check_dense(PURLIN_F32, bad, values[v]);
      check_dense(PURLIN_F64, bad, values[v]);
    }
  for (bad = 0; bad < CORES; bad++)
    for (v = 0; v < 2; v++) check_places(bad, values[v]);
  OK(purlin_context_destroy(context));
  return finish();
}
