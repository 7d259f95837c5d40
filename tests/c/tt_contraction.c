/* Contractions of tensor trains against their entries: inner products, norms, expectation values; and every refusal. */
#include "tt.h"

static purlin_context *context, *foreign;

static purlin_tt_contraction_options fresh_options(void) {
  purlin_tt_contraction_options o;
  OK(purlin_tt_contraction_options_init(&o, sizeof o));
  return o;
}

static purlin_tt_contraction_info fresh_info(void) {
  purlin_tt_contraction_info info;
  OK(purlin_tt_contraction_info_init(&info, sizeof info));
  return info;
}

static purlin_tt_contraction *contraction(const purlin_tt_contraction_options *o) {
  purlin_tt_contraction *c = NULL;
  OK(purlin_tt_contraction_create(context, o, &c));
  return c;
}

static void inner_products(void) {
  static made x, y;
  purlin_tt_contraction *c = contraction(NULL);
  purlin_tt_contraction_info info = fresh_info(), plan = fresh_info();
  purlin_tt_scaled s;
  double result[2] = {0, 7}, expected, norm = 0, distance = 0;
  make_train(context, &x, 6, 3, 5, 1, 1);
  make_train(context, &y, 6, 3, 4, 1, 2);
  expected = slow_inner(&x, &y);
  OK(purlin_tt_plan_inner(c, x.tt, y.tt, &plan));
  CHECK(plan.flops > 0 && plan.bytes > 0 && plan.reason[0] != 0 && plan.method != PURLIN_TT_METHOD_AUTO);
  OK(purlin_tt_inner(c, NULL, x.tt, y.tt, result, &info));
  CHECK(near(result[0], expected, 1e-12) && result[1] == 0);
  CHECK(info.outcome == PURLIN_TT_RESULT_OK && info.method == plan.method && info.contexts == 1);
  CHECK(info.flops == plan.flops && info.seconds >= 0);
  OK(purlin_tt_inner_scaled(c, NULL, x.tt, y.tt, &s, NULL));
  CHECK(value_of(&s) == result[0] && fabs(s.re) >= 0.5 && fabs(s.re) < 1 && s.im == 0);
  CHECK(near(s.log_abs, log(fabs(expected)), 1e-11) && s.phase_re == (expected > 0 ? 1 : -1) && s.phase_im == 0);
  OK(purlin_tt_inner(c, NULL, x.tt, x.tt, result, NULL));
  OK(purlin_tt_norm(c, NULL, x.tt, &norm, &info));
  CHECK(near(norm * norm, result[0], 1e-12) && near(result[0], slow_inner(&x, &x), 1e-12));
  OK(purlin_tt_norm_scaled(c, NULL, x.tt, &s, NULL));
  CHECK(near(value_of(&s), norm, 1e-14) && near(s.log_abs, log(norm), 1e-12));
  OK(purlin_tt_distance(c, NULL, x.tt, y.tt, &distance, NULL));
  expected = sqrt(slow_inner(&x, &x) - 2 * slow_inner(&x, &y) + slow_inner(&y, &y));
  CHECK(near(distance, expected, 1e-10));
  OK(purlin_tt_distance_scaled(c, NULL, x.tt, y.tt, &s, NULL));
  CHECK(near(value_of(&s), distance, 1e-14));
  OK(purlin_tt_distance(c, NULL, x.tt, x.tt, &distance, NULL));
  CHECK(distance == 0);
  OK(purlin_tt_destroy(y.tt));
  OK(purlin_tt_destroy(x.tt));
  OK(purlin_tt_contraction_destroy(c));
}

static int same_plan(const purlin_tt_contraction_info *plan, const purlin_tt_contraction_info *done) {
  return plan->method == done->method && plan->kernel == done->kernel && plan->flops == done->flops &&
         plan->bytes == done->bytes && plan->workspace_bytes == done->workspace_bytes && plan->block == done->block &&
         strcmp(plan->reason, done->reason) == 0;
}

/* Plans report the figures of the calls. */
static void plans(void) {
  static made x, y;
  purlin_tt_contraction *c = contraction(NULL);
  purlin_tt_contraction_info plan = fresh_info(), done = fresh_info();
  purlin_tt_matrix *h = NULL;
  const purlin_tt *bras[3], *kets[3];
  purlin_tensor *values = NULL;
  purlin_tt_scaled s;
  double result[2], numbers[9];
  int64_t dims[2] = {3, 3};
  int k;
  make_train(context, &x, 6, 2, 5, 2, 1);
  make_train(context, &y, 6, 2, 4, 1, 2);
  for (k = 0; k < 3; k++) {
    bras[k] = k == 1 ? y.tt : x.tt;
    kets[k] = y.tt;
  }
  OK(purlin_tt_matrix_ising(context, PURLIN_F64, 6, 0, 1.0, 0.5, &h));
#define PLANNED(planning, call) \
  do {                          \
    plan = fresh_info();        \
    done = fresh_info();        \
    OK(planning);               \
    OK(call);                   \
    CHECK(same_plan(&plan, &done) && plan.workspace_bytes > 0 && plan.seconds == 0); \
  } while (0)
  PLANNED(purlin_tt_plan_inner(c, x.tt, y.tt, &plan), purlin_tt_inner(c, NULL, x.tt, y.tt, result, &done));
  PLANNED(purlin_tt_plan_norm(c, x.tt, &plan), purlin_tt_norm(c, NULL, x.tt, result, &done));
  PLANNED(purlin_tt_plan_distance(c, x.tt, y.tt, &plan), purlin_tt_distance(c, NULL, x.tt, y.tt, result, &done));
  PLANNED(purlin_tt_plan_sandwich(c, y.tt, h, x.tt, &plan), purlin_tt_sandwich_scaled(c, NULL, y.tt, h, x.tt, &s, &done));
  PLANNED(purlin_tt_plan_rayleigh(c, h, x.tt, &plan), purlin_tt_rayleigh(c, NULL, h, x.tt, result, NULL, NULL, &done));
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 1, dims, NULL, numbers, &values));
  PLANNED(purlin_tt_plan_batch(c, 3, bras, kets, &plan),
          purlin_tt_inner_batch(c, NULL, 3, bras, kets, values, NULL, &done));
  OK(purlin_tensor_destroy(values));
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, dims, NULL, numbers, &values));
  PLANNED(purlin_tt_plan_gram(c, 3, bras, 3, kets, &plan),
          purlin_tt_gram(c, NULL, 3, bras, 3, kets, values, NULL, &done));
  PLANNED(purlin_tt_plan_gram(c, 3, bras, 0, NULL, &plan),
          purlin_tt_gram(c, NULL, 3, bras, 0, NULL, values, NULL, &done));
#undef PLANNED
  BAD_ARGUMENT("info: is NULL", purlin_tt_plan_norm(c, x.tt, NULL));
  BAD_ARGUMENT("count: is -1", purlin_tt_plan_batch(c, -1, bras, kets, &plan));
  BAD_ARGUMENT("rows: is -1", purlin_tt_plan_gram(c, -1, bras, 0, NULL, &plan));
  BAD_ARGUMENT("cols: is -1", purlin_tt_plan_gram(c, 3, bras, -1, kets, &plan));
  kets[2] = NULL;
  BAD_HANDLE("y[2]: is NULL", purlin_tt_plan_batch(c, 3, bras, kets, &plan));
  BAD_HANDLE("x: is NULL", purlin_tt_plan_distance(c, NULL, y.tt, &plan));
  BAD_HANDLE("h: is NULL", purlin_tt_plan_sandwich(c, y.tt, NULL, x.tt, &plan));
  BAD_HANDLE("contraction: is NULL", purlin_tt_plan_rayleigh(NULL, h, x.tt, &plan));
  plan.struct_size = 9;
  BAD_ARGUMENT("info: struct_size is 9", purlin_tt_plan_rayleigh(c, h, x.tt, &plan));
  OK(purlin_tensor_destroy(values));
  OK(purlin_tt_matrix_destroy(h));
  OK(purlin_tt_destroy(y.tt));
  OK(purlin_tt_destroy(x.tt));
  OK(purlin_tt_contraction_destroy(c));
}

/* A workspace that is too small is refused with the bytes that are needed, and nothing is written. With these it works. */
static void little_workspace(void) {
  static made x, y;
  purlin_tt_contraction_options o = fresh_options();
  purlin_tt_contraction *c;
  purlin_tt_contraction_info info = fresh_info(), before;
  purlin_tt_matrix *h = NULL;
  const purlin_tt *bras[2];
  purlin_tensor *values = NULL, *op = NULL;
  purlin_tt_scaled s, untouched;
  double result[2], numbers[4], pauli[4] = {0, 1, 1, 0};
  int64_t dims[2] = {2, 2}, sites[2] = {0, 3};
  int which;
  make_train(context, &x, 6, 2, 5, 3, 1);
  make_train(context, &y, 6, 2, 5, 3, 2);
  bras[0] = x.tt;
  bras[1] = y.tt;
  OK(purlin_tt_matrix_ising(context, PURLIN_F64, 6, 0, 1.0, 0.5, &h));
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 1, dims, NULL, numbers, &values));
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, dims, NULL, pauli, &op));
  memset(&untouched, 7, sizeof untouched);
  for (which = 0; which < 10; which++) {
    int64_t limit = 8;
    int attempt;
    for (attempt = 0; attempt < 2; attempt++) {
      purlin_status status = PURLIN_SUCCESS;
      const char *needed;
      char start[64];
      o.workspace_limit = limit;
      c = contraction(&o);
      result[0] = result[1] = numbers[0] = numbers[1] = 7;
      s = untouched;
      info = fresh_info();
      info.pairs = 77;
      before = info;
      switch (which) {
        case 0: status = purlin_tt_inner(c, NULL, x.tt, y.tt, result, &info); break;
        case 1: status = purlin_tt_inner_scaled(c, NULL, x.tt, y.tt, &s, &info); break;
        case 2: status = purlin_tt_norm(c, NULL, x.tt, result, &info); break;
        case 3: status = purlin_tt_distance_scaled(c, NULL, x.tt, y.tt, &s, &info); break;
        case 4: status = purlin_tt_inner_batch(c, NULL, 2, bras, bras, values, NULL, &info); break;
        case 5: status = purlin_tt_plan_batch(c, 2, bras, bras, &info); break;
        case 6: status = purlin_tt_sandwich(c, NULL, y.tt, h, x.tt, result, &info); break;
        case 7: status = purlin_tt_rayleigh(c, NULL, h, x.tt, result, &s, &s, &info); break;
        case 8: status = purlin_tt_plan_sandwich(c, y.tt, h, x.tt, &info); break;
        default: status = purlin_tt_expect_local(c, NULL, x.tt, op, 2, sites, values, NULL);
      }
      if (attempt == 1) {
        CHECK(status == PURLIN_SUCCESS);
        CHECK(which == 9 || (info.workspace_bytes > 0 && info.workspace_bytes <= limit));
      } else {
        sprintf(start, "workspace_limit: is %d, at least ", (int)limit);
        CHECK(status == PURLIN_ERROR_INVALID_ARGUMENT);
        needed = purlin_last_error_message();
        CHECK(strncmp(needed, start, strlen(start)) == 0 && strstr(needed, " bytes are needed"));
        if (strncmp(needed, start, strlen(start)) == 0) limit = (int64_t)atof(needed + strlen(start));
        CHECK(limit > 8);
        CHECK(result[0] == 7 && result[1] == 7 && numbers[0] == 7 && numbers[1] == 7);
        CHECK(memcmp(&s, &untouched, sizeof s) == 0 && memcmp(&info, &before, sizeof info) == 0);
      }
      OK(purlin_tt_contraction_destroy(c));
    }
  }
  OK(purlin_tensor_destroy(op));
  OK(purlin_tensor_destroy(values));
  OK(purlin_tt_matrix_destroy(h));
  OK(purlin_tt_destroy(y.tt));
  OK(purlin_tt_destroy(x.tt));
}

/* A train with NaN in its cores: plain calls fail and set NaN; scaled calls succeed, with NaN and an outcome. */
/* Values with operators in between, and Gram matrices, are NaN and have the flag NONFINITE. */
static void not_finite_operators(purlin_tt_contraction *c, purlin_tt *tt, const purlin_tensor *op) {
  enum { SITES = 400 };
  const purlin_tt *list[2];
  static double correlations[SITES * SITES];
  double gram[4] = {0}, energy[2] = {0};
  int64_t exponent[4] = {7, 7, 7, 7};
  purlin_tensor *values = array2(context, PURLIN_F64, 2, 2, gram), *exponents = array2(context, PURLIN_I64, 2, 2, exponent);
  purlin_tensor *square = array2(context, PURLIN_F64, SITES, SITES, correlations);
  purlin_tt_contraction_info info = fresh_info();
  purlin_tt_matrix *ising = NULL;
  purlin_tt_scaled s, t;
  int k;
  list[0] = list[1] = tt;
  OK(purlin_tt_matrix_ising(context, PURLIN_F64, SITES, 0, 1.5, 0.5, &ising));
  OK(purlin_tt_sandwich_scaled(c, NULL, tt, ising, tt, &s, &info));
  CHECK(isnan(s.re) && info.outcome == PURLIN_TT_RESULT_NONFINITE);
  info.outcome = 0;
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_rayleigh(c, NULL, ising, tt, energy, &s, &t, &info));
  CHECK(isnan(energy[0]) && isnan(s.re) && isnan(t.re) && info.outcome == PURLIN_TT_RESULT_NONFINITE);
  info.outcome = 0;
  OK(purlin_tt_gram(c, NULL, 2, list, 2, list, values, exponents, &info));
  for (k = 0; k < 4; k++) CHECK(isnan(gram[k]) && exponent[k] == 0);
  CHECK(info.outcome == PURLIN_TT_RESULT_NONFINITE);
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_gram(c, NULL, 2, list, 2, list, values, NULL, NULL));
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_correlation(c, NULL, tt, op, op, square, NULL));
  CHECK(isnan(correlations[0]) && isnan(correlations[SITES * SITES - 1]));
  OK(purlin_tt_matrix_destroy(ising));
  OK(purlin_tensor_destroy(square));
  OK(purlin_tensor_destroy(exponents));
  OK(purlin_tensor_destroy(values));
}

/* Decompositions refuse it. */
static void no_trains_of_nan(const purlin_tt *tt) {
  double full[8] = {1, 2, 3, NAN, 5, 6, 7, 8};
  const int64_t modes[3] = {2, 2, 2};
  purlin_tensor *values = dense(context, PURLIN_F64, 3, modes, full);
  purlin_tt *made = NULL;
  int64_t exponent = 0;
  BAD_ARGUMENT("x: core 0 has the norm NaN", purlin_tt_round(context, NULL, tt, NULL, &made, NULL, NULL));
  CHECK(!made);
  BAD_ARGUMENT("x: core 0 has the norm NaN", purlin_tt_canonicalize(context, NULL, tt, 0, &exponent, &made));
  CHECK(!made);
  BAD_ARGUMENT("values: holds numbers that are not finite", purlin_tt_svd(context, NULL, values, 3, modes, NULL, &made, NULL, NULL));
  CHECK(!made);
  OK(purlin_tensor_destroy(values));
}

static void not_finite(purlin_tt_contraction *c, purlin_tt *tt) {
  const double z[4] = {1, 0, 0, -1};
  const int64_t sites[1] = {0}, length[1] = {1}, pair[2] = {2, 2};
  const purlin_tt *list[1];
  purlin_tt_contraction_info info = fresh_info();
  purlin_tt_environments *e = NULL;
  purlin_tt_scaled s;
  double result[2] = {0}, value[1] = {0}, op_data[4];
  int64_t exponent[1] = {7};
  purlin_tensor *op, *values = vector_of(context, PURLIN_F64, 1, value), *exponents = NULL;
  memcpy(op_data, z, sizeof z);
  list[0] = tt;
  op = dense(context, PURLIN_F64, 2, pair, op_data);
  OK(purlin_tensor_borrow(context, PURLIN_I64, 0, 1, length, NULL, exponent, &exponents));
#define IS_NAN(number) CHECK(isnan(number) && info.outcome == PURLIN_TT_RESULT_NONFINITE), info.outcome = 0
  OK(purlin_tt_inner_scaled(c, NULL, tt, tt, &s, &info));
  IS_NAN(s.re);
  OK(purlin_tt_norm_scaled(c, NULL, tt, &s, &info));
  IS_NAN(s.re);
  OK(purlin_tt_distance_scaled(c, NULL, tt, tt, &s, &info));
  IS_NAN(s.re);
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_norm(c, NULL, tt, result, &info));
  IS_NAN(result[0]);
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_distance(c, NULL, tt, tt, result, &info));
  IS_NAN(result[0]);
  OK(purlin_tt_inner_batch(c, NULL, 1, list, list, values, exponents, &info));
  CHECK(exponent[0] == 0);
  IS_NAN(value[0]);
#undef IS_NAN
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_inner_batch(c, NULL, 1, list, list, values, NULL, &info));
  CHECK(isnan(value[0]));
  value[0] = 0;
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_expect_local(c, NULL, tt, op, 1, sites, values, NULL));
  CHECK(isnan(value[0]));
  OK(purlin_tt_environments_create(c, tt, NULL, tt, &e));
  OK(purlin_tt_environments_value(e, NULL, 1, &s));
  CHECK(isnan(s.re));
  OK(purlin_tt_environments_destroy(e));
  not_finite_operators(c, tt, op);
  no_trains_of_nan(tt);
  OK(purlin_tensor_destroy(exponents));
  OK(purlin_tensor_destroy(values));
  OK(purlin_tensor_destroy(op));
}

/* Products that leave the range of their type. */
static void ranges(void) {
  enum { LENGTH = 400 };
  static double core[8];
  static void *cores[LENGTH];
  static int64_t modes[LENGTH], ranks[LENGTH + 1];
  const double factors[2] = {1e6, 1e-6};
  purlin_tt_contraction *c = contraction(NULL);
  purlin_tt_contraction_info info = fresh_info();
  purlin_tt_scaled s;
  purlin_tt *tt = NULL;
  double result[2] = {1, 1}, norm = 1;
  int k, which;
  ranks[0] = 1;
  for (k = 0; k < LENGTH; k++) {
    cores[k] = core;
    modes[k] = 2;
    ranks[k + 1] = 1;
  }
  for (which = 0; which < 2; which++) {
    core[0] = core[1] = factors[which];
    OK(purlin_tt_borrow(context, PURLIN_F64, 0, LENGTH, modes, ranks, cores, &tt));
    FAILS(PURLIN_ERROR_NUMERICAL, "purlin_tt_inner_scaled", purlin_tt_inner(c, NULL, tt, tt, result, &info));
    CHECK(which ? result[0] == 0 : isinf(result[0]));
    CHECK(info.outcome == (which ? PURLIN_TT_RESULT_UNDERFLOW : PURLIN_TT_RESULT_OVERFLOW));
    FAILS(PURLIN_ERROR_NUMERICAL, "purlin_tt_norm_scaled", purlin_tt_norm(c, NULL, tt, &norm, &info));
    CHECK(which ? norm == 0 : isinf(norm));
    OK(purlin_tt_inner_scaled(c, NULL, tt, tt, &s, &info));
    CHECK(near(s.log_abs, LENGTH * log(2 * factors[which] * factors[which]), 1e-12) && info.scaled == 1);
    OK(purlin_tt_destroy(tt));
  }
  core[1] = NAN;
  OK(purlin_tt_borrow(context, PURLIN_F64, 0, LENGTH, modes, ranks, cores, &tt));
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_tt_inner(c, NULL, tt, tt, result, &info));
  CHECK(isnan(result[0]) && info.outcome == PURLIN_TT_RESULT_NONFINITE);
  not_finite(c, tt);
  OK(purlin_tt_destroy(tt));
  OK(purlin_tt_contraction_destroy(c));
}

static purlin_tensor *matrix2(double *data) {
  return array2(context, PURLIN_F64, 2, 2, data);
}

/* Sx Sx + Sy Sy + Sz Sz in a real type: Sy is imaginary, its products are real. */
static void spins(void) {
  static made x;
  double sx[4] = {0, 0.5, 0.5, 0}, sy[8] = {0, 0, 0, 0.5, 0, -0.5, 0, 0}, sz[4] = {0.5, 0, 0, -0.5}, energy[2], same[2];
  const double coefficients[12] = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}, couplings[3] = {1, 1, 1};
  const int64_t modes[3] = {2, 2, 2}, sites[12] = {0, 1, 1, 2, 0, 1, 1, 2, 0, 1, 1, 2}, factors[6] = {2, 2, 2, 2, 2, 2};
  const int64_t alone[1] = {1};
  purlin_tensor *a = matrix2(sx), *b = array2(context, PURLIN_CF64, 2, 2, sy), *d = matrix2(sz);
  const purlin_tensor *list[12];
  purlin_tt_contraction *c = contraction(NULL);
  purlin_tt_matrix *h = NULL, *heisenberg = NULL;
  purlin_tt_info shape = train_info();
  int k;
  for (k = 0; k < 12; k++) list[k] = k < 4 ? a : k < 8 ? b : d;
  make_train(context, &x, 3, 2, 3, 1, 5);
  OK(purlin_tt_matrix_from_terms(context, PURLIN_F64, 3, modes, 0, 6, coefficients, factors, sites, list, &h));
  OK(purlin_tt_matrix_properties(h, &shape));
  CHECK(shape.dtype == PURLIN_F64);
  OK(purlin_tt_matrix_heisenberg(context, PURLIN_F64, 3, 0, 1, couplings, 0, &heisenberg));
  OK(purlin_tt_sandwich(c, NULL, x.tt, heisenberg, x.tt, energy, NULL));
  OK(purlin_tt_sandwich(c, NULL, x.tt, h, x.tt, same, NULL));
  CHECK(fabs(energy[0]) > 1e-3 && near(same[0], energy[0], 1e-12) && same[1] == 0);
  OK(purlin_tt_matrix_destroy(h));
  h = NULL;
  /* One of them alone is not real. */
  BAD_ARGUMENT("dtype", purlin_tt_matrix_from_terms(context, PURLIN_F64, 3, modes, 0, 1, coefficients, alone, sites, list + 4, &h));
  CHECK(!h);
  OK(purlin_tt_matrix_destroy(heisenberg));
  OK(purlin_tt_destroy(x.tt));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(b));
  OK(purlin_tensor_destroy(d));
  OK(purlin_tt_contraction_destroy(c));
}

/* The Ising chain of three sites, and a sum of terms that is the same operator. */
static void operators(void) {
  static made x;
  static double sx[4] = {0, 1, 1, 0}, sz[4] = {1, 0, 0, -1};
  const int64_t modes[3] = {2, 2, 2}, sites[7] = {0, 1, 1, 2, 0, 1, 2}, factors[5] = {2, 2, 1, 1, 1};
  const double coefficients[10] = {-1.5, 0, -1.5, 0, -0.5, 0, -0.5, 0, -0.5, 0}, couplings[3] = {1, 1, 1};
  purlin_tt_contraction *c = contraction(NULL);
  purlin_tt_contraction_info info = fresh_info();
  purlin_tt_info shape = train_info();
  purlin_tt_matrix *ising = NULL, *terms = NULL, *heisenberg = NULL, *one = NULL;
  purlin_stream *stream = NULL;
  purlin_tensor *a = matrix2(sx), *b = matrix2(sz), *out, *square, *other;
  const purlin_tensor *list[7];
  purlin_tt_scaled top, bottom, s;
  double energy[2], same[2], norm2[2], values[3], correlations[9], h = 0;
  int64_t index[3] = {0};
  int k;
  list[0] = list[1] = list[2] = list[3] = a;
  list[4] = list[5] = list[6] = b;
  make_train(context, &x, 3, 2, 3, 1, 5);
  OK(purlin_tt_matrix_ising(context, PURLIN_F64, 3, 0, 1.5, 0.5, &ising));
  OK(purlin_tt_matrix_from_terms(context, PURLIN_F64, 3, modes, 0, 5, coefficients, factors, sites, list, &terms));
  OK(purlin_tt_matrix_properties(ising, &shape));
  CHECK(shape.max_rank == 3 && shape.cyclic == 0);
  /* <x|H|x> by entries: sigma_x flips a bit, sigma_z takes the sign of it. */
  do {
    double v = element(&x, index), flipped = 0;
    for (k = 0; k < 2; k++) {
      int64_t other[3];
      memcpy(other, index, sizeof other);
      other[k] = 1 - other[k];
      other[k + 1] = 1 - other[k + 1];
      flipped += element(&x, other);
    }
    h += -1.5 * v * flipped;
    for (k = 0; k < 3; k++) h += -0.5 * v * v * (index[k] ? -1 : 1);
  } while (advance(&x, index));
  OK(purlin_tt_sandwich(c, NULL, x.tt, ising, x.tt, energy, &info));
  CHECK(near(energy[0], h, 1e-12) && energy[1] == 0);
  OK(purlin_tt_sandwich(c, NULL, x.tt, terms, x.tt, same, NULL));
  CHECK(near(same[0], h, 1e-12));
  OK(purlin_tt_sandwich_scaled(c, NULL, x.tt, ising, x.tt, &s, NULL));
  CHECK(near(value_of(&s), h, 1e-12));
  OK(purlin_tt_inner(c, NULL, x.tt, x.tt, norm2, NULL));
  OK(purlin_tt_rayleigh(c, NULL, ising, x.tt, energy, &top, &bottom, &info));
  CHECK(near(energy[0], h / norm2[0], 1e-12) && near(value_of(&top), h, 1e-12) && near(value_of(&bottom), norm2[0], 1e-12));
  OK(purlin_tt_rayleigh(c, NULL, ising, x.tt, same, NULL, NULL, NULL));
  CHECK(same[0] == energy[0]);
  OK(purlin_tt_matrix_identity(context, PURLIN_F64, 3, modes, &one));
  OK(purlin_tt_rayleigh(c, NULL, one, x.tt, same, NULL, NULL, NULL));
  CHECK(near(same[0], 1, 1e-14));
  OK(purlin_tt_matrix_heisenberg(context, PURLIN_F64, 3, 1, 1, couplings, 0, &heisenberg));
  OK(purlin_tt_matrix_properties(heisenberg, &shape));
  CHECK(shape.cyclic == 1);
  /* Local values and correlations: the diagonal of zz is 1. */
  out = vector_of(context, PURLIN_F64, 3, values);
  OK(purlin_tt_expect_local(c, NULL, x.tt, b, 3, (const int64_t[]){0, 1, 2}, out, NULL));
  square = array2(context, PURLIN_F64, 3, 3, correlations);
  OK(purlin_tt_correlation(c, NULL, x.tt, b, b, square, NULL));
  CHECK(near(correlations[0], 1, 1e-13) && near(correlations[4], 1, 1e-13) && correlations[1] == correlations[3]);
  h = 0;
  index[0] = index[1] = index[2] = 0;
  do h += pow(element(&x, index), 2) * (index[1] ? -1 : 1);
  while (advance(&x, index));
  CHECK(near(values[1], h / norm2[0], 1e-13));
  BAD_ARGUMENT("sites: element 1 is 3", purlin_tt_expect_local(c, NULL, x.tt, b, 3, (const int64_t[]){0, 3, 2}, out, NULL));
  BAD_ARGUMENT("values: has dimensions [3], [2] are needed", purlin_tt_expect_local(c, NULL, x.tt, b, 2, sites, out, NULL));
  BAD_ARGUMENT("op: has 9 elements, 2 x 2 are needed", purlin_tt_expect_local(c, NULL, x.tt, square, 3, sites, out, NULL));
  other = vector_of(context, PURLIN_F64, 3, sz);
  BAD_ARGUMENT("op: has dimensions [3], a square matrix", purlin_tt_expect_local(c, NULL, x.tt, other, 3, sites, out, NULL));
  BAD_ARGUMENT("values: overlaps op", purlin_tt_expect_local(c, NULL, x.tt, b, 3, sites, other, NULL));
  OK(purlin_tensor_destroy(other));
  BAD_ARGUMENT("values: has dimensions [3]", purlin_tt_correlation(c, NULL, x.tt, a, b, out, NULL));
  BAD_HANDLE("h: is NULL", purlin_tt_sandwich(c, NULL, x.tt, NULL, x.tt, energy, NULL));
  OK(purlin_stream_create(context, &stream));
  OK(purlin_tt_rayleigh(c, NULL, ising, x.tt, energy, NULL, NULL, NULL));
  OK(purlin_tt_rayleigh(c, stream, ising, x.tt, same, NULL, NULL, NULL));
  CHECK(same[0] == energy[0]);
  OK(purlin_stream_destroy(stream));
  OK(purlin_stream_create(foreign, &stream));
#define FOREIGN(call) BAD_ARGUMENT("stream: belongs to another context", call)
  FOREIGN(purlin_tt_sandwich(c, stream, x.tt, ising, x.tt, energy, NULL));
  FOREIGN(purlin_tt_sandwich_scaled(c, stream, x.tt, ising, x.tt, &s, NULL));
  FOREIGN(purlin_tt_rayleigh(c, stream, ising, x.tt, energy, NULL, NULL, NULL));
  FOREIGN(purlin_tt_expect_local(c, stream, x.tt, b, 3, sites, out, NULL));
  FOREIGN(purlin_tt_correlation(c, stream, x.tt, b, b, square, NULL));
#undef FOREIGN
  OK(purlin_stream_destroy(stream));
  BAD_HANDLE("stream: was destroyed", purlin_tt_correlation(c, stream, x.tt, b, b, square, NULL));
  BAD_ARGUMENT("result: is NULL", purlin_tt_sandwich(c, NULL, x.tt, ising, x.tt, NULL, NULL));
  BAD_ARGUMENT("quotient: is NULL", purlin_tt_rayleigh(c, NULL, ising, x.tt, NULL, NULL, NULL, NULL));
  BAD_ARGUMENT("coupling: is NaN, not finite", purlin_tt_matrix_ising(context, PURLIN_F64, 3, 0, NAN, 1, &one));
  BAD_ARGUMENT("coupling: is inf, not finite", purlin_tt_matrix_ising(context, PURLIN_F64, 3, 0, INFINITY, 1, &one));
  BAD_ARGUMENT("field: is -inf, not finite", purlin_tt_matrix_ising(context, PURLIN_F64, 3, 0, 1, -INFINITY, &one));
  BAD_ARGUMENT("field: is NaN, not finite", purlin_tt_matrix_heisenberg(context, PURLIN_F64, 3, 0, 1, NULL, NAN, &one));
  BAD_ARGUMENT("length: is 9223372036854775807, more", purlin_tt_matrix_ising(context, PURLIN_F64, INT64_MAX, 0, 1, 1, &one));
  BAD_ARGUMENT("length: is 0", purlin_tt_matrix_ising(context, PURLIN_F64, 0, 0, 1, 1, &one));
  BAD_ARGUMENT("cyclic: is 2", purlin_tt_matrix_ising(context, PURLIN_F64, 3, 2, 1, 1, &one));
  BAD_ARGUMENT("dtype: is I32", purlin_tt_matrix_ising(context, PURLIN_I32, 3, 0, 1, 1, &one));
  BAD_ARGUMENT("twice_spin: is 0", purlin_tt_matrix_heisenberg(context, PURLIN_F64, 3, 0, 0, couplings, 0, &one));
  BAD_ARGUMENT("modes: is NULL", purlin_tt_matrix_identity(context, PURLIN_F64, 3, NULL, &one));
  BAD_ARGUMENT("sites: element 1 is 1, outside 0 to 0", purlin_tt_matrix_from_terms(context, PURLIN_F64, 1, modes, 0, 5,
                                                                                    coefficients, factors, sites, list, &one));
  BAD_ARGUMENT("factors: is NULL", purlin_tt_matrix_from_terms(context, PURLIN_F64, 3, modes, 0, 5, coefficients, NULL,
                                                               sites, list, &one));
  OK(purlin_tensor_destroy(square));
  OK(purlin_tensor_destroy(out));
  OK(purlin_tensor_destroy(b));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tt_matrix_destroy(heisenberg));
  OK(purlin_tt_matrix_destroy(one));
  OK(purlin_tt_matrix_destroy(terms));
  OK(purlin_tt_matrix_destroy(ising));
  OK(purlin_tt_destroy(x.tt));
  OK(purlin_tt_contraction_destroy(c));
}

static int32_t stop(int64_t step, int64_t steps, double measure, void *user) {
  (void)step;
  (void)steps;
  (void)measure;
  ++*(int *)user;
  return 1;
}

static void refusals(void) {
  purlin_tt_matrix *h = NULL;
  static made x, y, z;
  purlin_tt_contraction_options o = fresh_options();
  purlin_tt_contraction_info info = fresh_info();
  purlin_tt_contraction *c = NULL, *made = NULL;
  purlin_tt_scaled s;
  double result[2];
  int asked = 0;
  const purlin_context *members[2];
  purlin_group *group = NULL;
#define BAD(text, change)                                               \
  do {                                                                  \
    change;                                                             \
    BAD_ARGUMENT(text, purlin_tt_contraction_create(context, &o, &made)); \
    o = fresh_options();                                                \
  } while (0)
  members[0] = context, members[1] = foreign;
  BAD_ARGUMENT("options: is NULL", purlin_tt_contraction_options_init(NULL, sizeof o));
  BAD_ARGUMENT("info: struct_size is 7", purlin_tt_contraction_info_init(&info, 7));
  BAD_HANDLE("context: is NULL", purlin_tt_contraction_create(NULL, &o, &made));
  BAD_ARGUMENT("contraction: is NULL", purlin_tt_contraction_create(context, &o, NULL));
  BAD("options: struct_size is 0", o.struct_size = 0);
  OK(purlin_group_create(2, members, NULL, &group));
  BAD("group: has 2 contexts on the CPU: pairs are distributed over GPUs alone", o.group = group);
  OK(purlin_group_destroy(group));
  OK(purlin_group_create(1, members + 1, NULL, &group));
  BAD("group: begins with another context", o.group = group);
  OK(purlin_group_destroy(group));
  BAD("method: is 7", o.method = 7);
  BAD("scaling: is 3", o.scaling = 3);
  BAD("conjugate: is 2", o.conjugate = 2);
  BAD("math: is 5", o.math = 5);
  BAD("norm_method: is 4", o.norm_method = 4);
  BAD("assume_hermitian: is 2", o.assume_hermitian = 2);
  BAD("kernel: is 2", o.kernel = 2);
  BAD("reserved: is 1", o.reserved = 1);
  BAD("cut: is -2", o.cut = -2);
  BAD("block: is -1", o.block = -1);
  BAD("repeat: is 0", o.repeat = 0);
  BAD("workspace_limit: is -1", o.workspace_limit = -1);
  CHECK(made == NULL);
  c = contraction(&o);
  make_train(context, &x, 3, 2, 3, 1, 5);
  make_train(context, &y, 3, 3, 3, 1, 5);
  make_train(foreign, &z, 3, 2, 3, 1, 5);
  BAD_ARGUMENT("y: core 0 has mode size 3, that of x is 2", purlin_tt_inner(c, NULL, x.tt, y.tt, result, NULL));
  BAD_ARGUMENT("y: belongs to another context", purlin_tt_inner(c, NULL, x.tt, z.tt, result, NULL));
  BAD_ARGUMENT("result: is NULL", purlin_tt_inner(c, NULL, x.tt, x.tt, NULL, NULL));
  BAD_ARGUMENT("result: is NULL", purlin_tt_inner_scaled(c, NULL, x.tt, x.tt, NULL, NULL));
  BAD_ARGUMENT("result: is NULL", purlin_tt_norm(c, NULL, x.tt, NULL, NULL));
  BAD_ARGUMENT("info: is NULL", purlin_tt_plan_inner(c, x.tt, x.tt, NULL));
  BAD_HANDLE("x: is NULL", purlin_tt_inner(c, NULL, NULL, x.tt, result, NULL));
  BAD_HANDLE("y: is NULL", purlin_tt_distance(c, NULL, x.tt, NULL, result, NULL));
  BAD_HANDLE("contraction: is NULL", purlin_tt_inner(NULL, NULL, x.tt, x.tt, result, NULL));
  info.struct_size = 9;
  BAD_ARGUMENT("info: struct_size is 9", purlin_tt_inner(c, NULL, x.tt, x.tt, result, &info));
  UNSUPPORTED("result: needs a context on a GPU", purlin_tt_inner_enqueue(c, NULL, x.tt, x.tt, NULL, NULL));
  UNSUPPORTED("result: needs a context on a GPU", purlin_tt_norm_enqueue(c, NULL, x.tt, NULL, NULL));
  UNSUPPORTED("result: needs a context on a GPU", purlin_tt_distance_enqueue(c, NULL, x.tt, x.tt, NULL, NULL));
  BAD_HANDLE("contraction: is NULL", purlin_tt_distance_enqueue(NULL, NULL, x.tt, x.tt, NULL, NULL));
  BAD_HANDLE("y: is NULL", purlin_tt_distance_enqueue(c, NULL, x.tt, NULL, NULL, NULL));
  OK(purlin_tt_matrix_ising(context, PURLIN_F64, 3, 0, 1.0, 0.5, &h));
  UNSUPPORTED("result: needs a context on a GPU", purlin_tt_sandwich_enqueue(c, NULL, x.tt, h, x.tt, NULL, NULL));
  UNSUPPORTED("result: needs a context on a GPU", purlin_tt_rayleigh_enqueue(c, NULL, h, x.tt, NULL, NULL));
  BAD_HANDLE("h: is NULL", purlin_tt_sandwich_enqueue(c, NULL, x.tt, NULL, x.tt, NULL, NULL));
  BAD_HANDLE("h: is NULL", purlin_tt_rayleigh_enqueue(c, NULL, NULL, x.tt, NULL, NULL));
  BAD_HANDLE("contraction: is NULL", purlin_tt_rayleigh_enqueue(NULL, NULL, h, x.tt, NULL, NULL));
  OK(purlin_tt_matrix_destroy(h));
  UNSUPPORTED("workspace: needs a context on a GPU", purlin_tt_contraction_set_workspace(c, 256, 1));
  BAD_ARGUMENT("bytes: is 0", purlin_tt_contraction_set_workspace(c, 256, 0));
  BAD_HANDLE("contraction: is NULL", purlin_tt_inner_enqueue(NULL, NULL, x.tt, x.tt, NULL, NULL));
  BAD_HANDLE("y: is NULL", purlin_tt_inner_enqueue(c, NULL, x.tt, NULL, NULL, NULL));
  BAD_HANDLE("contraction: is NULL", purlin_tt_norm_enqueue(NULL, NULL, x.tt, NULL, NULL));
  BAD_HANDLE("x: is NULL", purlin_tt_norm_enqueue(c, NULL, NULL, NULL, NULL));
  OK(purlin_tt_contraction_cancel(c));
  OK(purlin_tt_inner(c, NULL, x.tt, x.tt, result, NULL));
  OK(purlin_tt_contraction_destroy(c));
  o.progress = stop;
  o.progress_user = &asked;
  c = contraction(&o);
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_tt_inner_scaled(c, NULL, x.tt, x.tt, &s, NULL));
  CHECK(asked > 0);
  OK(purlin_tt_contraction_destroy(c));
  BAD_HANDLE("contraction: was destroyed", purlin_tt_contraction_cancel(c));
  OK(purlin_tt_contraction_destroy(NULL));
  OK(purlin_tt_destroy(z.tt));
  OK(purlin_tt_destroy(y.tt));
  OK(purlin_tt_destroy(x.tt));
#undef BAD
}

int main(void) {
  context = cpu_context(2);
  foreign = cpu_context(1);
  inner_products();
  plans();
  little_workspace();
  ranges();
  operators();
  spins();
  refusals();
  OK(purlin_context_destroy(foreign));
  OK(purlin_context_destroy(context));
  return finish();
}
