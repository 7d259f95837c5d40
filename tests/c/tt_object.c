/* The object of contractions: the last report, the calls without an object, the report of values at sites, and batches. */
#include "tt.h"

static purlin_context *context;

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

static int is_same(const purlin_tt_contraction_info *a, const purlin_tt_contraction_info *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

/* Each call's report is saved whether or not the caller passes an info. */
static void last_report(void) {
  static made x, y;
  const double z[4] = {1, 0, 0, -1};
  const int64_t sites[2] = {0, 2}, pair[2] = {2, 2}, square[2] = {3, 3};
  const purlin_tt *list[2];
  double result[2] = {0}, values[2] = {0}, table[9] = {0}, op_data[4];
  purlin_tt_contraction_info info = fresh_info(), last = fresh_info();
  purlin_tt_contraction *c = contraction(NULL);
  purlin_tt_matrix *h = NULL;
  purlin_tt_scaled s;
  purlin_tensor *op, *out = vector_of(context, PURLIN_F64, 2, values), *all;
  memcpy(op_data, z, sizeof z);
  op = dense(context, PURLIN_F64, 2, pair, op_data);
  all = dense(context, PURLIN_F64, 2, square, table);
  make_train(context, &x, 3, 2, 3, 2, 1);
  make_train(context, &y, 3, 2, 4, 1, 2);
  OK(purlin_tt_matrix_ising(context, PURLIN_F64, 3, 0, 1.0, 0.5, &h));
  list[0] = x.tt;
  list[1] = y.tt;
  BAD_ARGUMENT("contraction: has no report yet", purlin_tt_contraction_last_info(c, &last));
  OK(purlin_tt_plan_inner(c, x.tt, y.tt, &info));
  BAD_ARGUMENT("contraction: has no report yet", purlin_tt_contraction_last_info(c, &last));
#define REPORTED(call)                                          \
  do {                                                          \
    OK(call);                                                   \
    OK(purlin_tt_contraction_last_info(c, &last));              \
    CHECK(is_same(&info, &last) && last.flops > 0 && last.seconds > 0 && last.reason[0]); \
  } while (0)
  REPORTED(purlin_tt_inner(c, NULL, x.tt, y.tt, result, &info));
  REPORTED(purlin_tt_inner_scaled(c, NULL, x.tt, y.tt, &s, &info));
  REPORTED(purlin_tt_norm(c, NULL, x.tt, result, &info));
  REPORTED(purlin_tt_norm_scaled(c, NULL, x.tt, &s, &info));
  REPORTED(purlin_tt_distance(c, NULL, x.tt, y.tt, result, &info));
  REPORTED(purlin_tt_distance_scaled(c, NULL, x.tt, y.tt, &s, &info));
  REPORTED(purlin_tt_inner_batch(c, NULL, 2, list, list, out, NULL, &info));
  REPORTED(purlin_tt_sandwich(c, NULL, x.tt, h, y.tt, result, &info));
  REPORTED(purlin_tt_sandwich_scaled(c, NULL, x.tt, h, y.tt, &s, &info));
  REPORTED(purlin_tt_rayleigh(c, NULL, h, x.tt, result, NULL, NULL, &info));
  REPORTED(purlin_tt_expect_local(c, NULL, x.tt, op, 2, sites, out, &info));
  CHECK(info.pairs == 4 && info.method == PURLIN_TT_METHOD_FULL && strstr(info.reason, "2 sites"));
  REPORTED(purlin_tt_correlation(c, NULL, y.tt, op, op, all, &info));
  CHECK(info.pairs == 1 && info.method == PURLIN_TT_METHOD_OPEN && strstr(info.reason, "equal operators"));
#undef REPORTED
  /* With `info` NULL, and after a call that fails. */
  OK(purlin_tt_norm(c, NULL, x.tt, result, NULL));
  OK(purlin_tt_contraction_last_info(c, &last));
  OK(purlin_tt_plan_norm(c, x.tt, &info));
  CHECK(last.flops == info.flops && last.method == info.method);
  BAD_ARGUMENT("result: is NULL", purlin_tt_inner(c, NULL, x.tt, y.tt, NULL, NULL));
  info = last;
  OK(purlin_tt_contraction_last_info(c, &last));
  CHECK(is_same(&info, &last));
  /* A result beyond its type's range is written, and its report saved. */
  x.data[0] = 1e300;
  FAILS(PURLIN_ERROR_NUMERICAL, "beyond the range", purlin_tt_inner(c, NULL, x.tt, x.tt, result, NULL));
  OK(purlin_tt_contraction_last_info(c, &last));
  CHECK(last.outcome == PURLIN_TT_RESULT_OVERFLOW && isinf(result[0]));
  BAD_ARGUMENT("info: is NULL", purlin_tt_contraction_last_info(c, NULL));
  info.struct_size = 9;
  BAD_ARGUMENT("info: struct_size is 9", purlin_tt_contraction_last_info(c, &info));
  BAD_ARGUMENT("info: struct_size is 9", purlin_tt_expect_local(c, NULL, x.tt, op, 2, sites, out, &info));
  BAD_ARGUMENT("info: struct_size is 9", purlin_tt_correlation(c, NULL, x.tt, op, op, all, &info));
  OK(purlin_tt_contraction_destroy(c));
  BAD_HANDLE("contraction: was destroyed", purlin_tt_contraction_last_info(c, &last));
  BAD_HANDLE("contraction: is NULL", purlin_tt_contraction_last_info(NULL, &last));
  OK(purlin_tt_matrix_destroy(h));
  OK(purlin_tt_destroy(y.tt));
  OK(purlin_tt_destroy(x.tt));
  OK(purlin_tensor_destroy(all));
  OK(purlin_tensor_destroy(out));
  OK(purlin_tensor_destroy(op));
}

/* The same bits as an object's call, and no handle left. */
static void without_an_object(void) {
  static made x, y;
  purlin_tt_contraction_options o = fresh_options();
  purlin_tt_contraction_info info = fresh_info();
  purlin_tt_contraction *c;
  double found[2], one[2];
  int64_t before;
  make_train(context, &x, 4, 2, 3, 2, 1);
  make_train(context, &y, 4, 2, 3, 2, 2);
  before = purlin_live_handles();
  o.method = PURLIN_TT_METHOD_REDUCED;
  o.norm_method = PURLIN_TT_NORM_INNER;
  c = contraction(&o);
  OK(purlin_tt_inner(c, NULL, x.tt, y.tt, found, NULL));
  BAD_ARGUMENT("norm_method: is INNER, an inner product does not use it",
               purlin_tt_inner_once(context, NULL, x.tt, y.tt, &o, one, &info));
  o.norm_method = PURLIN_TT_NORM_AUTO;
  OK(purlin_tt_inner_once(context, NULL, x.tt, y.tt, &o, one, &info));
  CHECK(one[0] == found[0] && one[1] == 0 && near(one[0], slow_inner(&x, &y), 1e-12));
  CHECK(info.method == PURLIN_TT_METHOD_REDUCED && info.block == 1);
  OK(purlin_tt_norm(c, NULL, x.tt, found, NULL));
  o.norm_method = PURLIN_TT_NORM_INNER;
  OK(purlin_tt_norm_once(context, NULL, x.tt, &o, one, NULL));
  CHECK(one[0] == found[0]);
  BAD_ARGUMENT("norm_method: is INNER, a distance does not use it",
               purlin_tt_distance_once(context, NULL, x.tt, y.tt, &o, one, NULL));
  OK(purlin_tt_distance(c, NULL, x.tt, y.tt, found, NULL));
  OK(purlin_tt_distance_once(context, NULL, x.tt, y.tt, NULL, one, &info));
  CHECK(one[0] == found[0] && info.flops > 0);
  OK(purlin_tt_contraction_destroy(c));
  BAD_HANDLE("context: is NULL", purlin_tt_inner_once(NULL, NULL, x.tt, y.tt, NULL, one, NULL));
  BAD_HANDLE("y: is NULL", purlin_tt_inner_once(context, NULL, x.tt, NULL, NULL, one, NULL));
  BAD_ARGUMENT("result: is NULL", purlin_tt_inner_once(context, NULL, x.tt, y.tt, NULL, NULL, NULL));
  BAD_ARGUMENT("result: is NULL", purlin_tt_norm_once(context, NULL, x.tt, NULL, NULL, NULL));
  BAD_ARGUMENT("result: is NULL", purlin_tt_distance_once(context, NULL, x.tt, y.tt, NULL, NULL, NULL));
  o.method = 9;
  BAD_ARGUMENT("method: is 9", purlin_tt_norm_once(context, NULL, x.tt, &o, one, NULL));
  info.struct_size = 9;
  BAD_ARGUMENT("info: struct_size is 9", purlin_tt_distance_once(context, NULL, x.tt, y.tt, NULL, one, &info));
  CHECK(purlin_live_handles() == before);
  OK(purlin_tt_destroy(y.tt));
  OK(purlin_tt_destroy(x.tt));
}

/* Plain numbers of a batch are those of single calls, in single precision too. */
static void batches_in_single_precision(void) {
  enum { TRAINS = 3, RANK = 4, SITES = 5 };
  static float data[TRAINS][SITES * 2 * RANK * RANK], large[1] = {1e20f};
  const int64_t modes[SITES] = {2, 2, 2, 2, 2}, ranks[SITES + 1] = {1, RANK, RANK, RANK, RANK, 1}, one[2] = {1, 1};
  purlin_tt_contraction *c = contraction(NULL);
  purlin_tt_contraction_info info = fresh_info();
  const purlin_tt *bras[TRAINS * TRAINS], *kets[TRAINS * TRAINS];
  purlin_tt *trains[TRAINS], *huge = NULL;
  double batch[TRAINS * TRAINS], gram[TRAINS * TRAINS], alone[2];
  purlin_tensor *values = vector_of(context, PURLIN_F64, TRAINS * TRAINS, batch);
  purlin_tensor *square = array2(context, PURLIN_F64, TRAINS, TRAINS, gram);
  void *cores[SITES];
  uint64_t seed = 3;
  int k, i;
  for (k = 0; k < TRAINS; k++) {
    float *next = data[k];
    for (i = 0; i < SITES; i++) {
      int64_t count = ranks[i] * 2 * ranks[i + 1], e;
      cores[i] = next;
      for (e = 0; e < count; e++) *next++ = (float)uniform(&seed);
    }
    trains[k] = NULL;
    OK(purlin_tt_borrow(context, PURLIN_F32, 0, SITES, modes, ranks, cores, &trains[k]));
  }
  for (k = 0; k < TRAINS * TRAINS; k++) bras[k] = trains[k % TRAINS], kets[k] = trains[k / TRAINS];
  OK(purlin_tt_inner_batch(c, NULL, TRAINS * TRAINS, bras, kets, values, NULL, &info));
  OK(purlin_tt_gram(c, NULL, TRAINS, bras, 0, NULL, square, NULL, NULL));
  for (k = 0; k < TRAINS * TRAINS; k++) {
    OK(purlin_tt_inner(c, NULL, bras[k], kets[k], alone, NULL));
    /* A GPU adds up in another order for many at once. */
    CHECK(is_on_cpu() ? batch[k] == alone[0] : near(batch[k], alone[0], 1e-6 * fabs(alone[0])));
    CHECK(batch[k] == (double)(float)batch[k]);
    /* Below the diagonal the number is that of the other order. */
    if (k % TRAINS <= k / TRAINS) CHECK(is_on_cpu() ? gram[k] == alone[0] : near(gram[k], alone[0], 1e-6 * fabs(alone[0])));
    CHECK(gram[k] == (double)(float)gram[k]);
  }
  /* Beyond the range of F32, inside that of F64. */
  cores[0] = large;
  OK(purlin_tt_borrow(context, PURLIN_F32, 0, 1, one, one, cores, &huge));
  for (k = 0; k < TRAINS * TRAINS; k++) bras[k] = kets[k] = huge;
  FAILS(PURLIN_ERROR_NUMERICAL, "beyond the range", purlin_tt_inner(c, NULL, huge, huge, alone, NULL));
  FAILS(PURLIN_ERROR_NUMERICAL, "beyond the range",
        purlin_tt_inner_batch(c, NULL, TRAINS * TRAINS, bras, kets, values, NULL, &info));
  CHECK(isinf(batch[0]) && info.outcome == PURLIN_TT_RESULT_OVERFLOW);
  OK(purlin_tt_destroy(huge));
  for (k = 0; k < TRAINS; k++) OK(purlin_tt_destroy(trains[k]));
  OK(purlin_tensor_destroy(square));
  OK(purlin_tensor_destroy(values));
  OK(purlin_tt_contraction_destroy(c));
}

int main(void) {
  context = test_context(2);
  last_report();
  without_an_object();
  batches_in_single_precision();
  OK(purlin_context_destroy(context));
  return finish();
}
