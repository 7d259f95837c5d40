/* All real eigenpairs: the published tables with the check of completeness, and every documented refusal. */
#include <math.h>
#include <stddef.h>

#include "check.h"
#include "published.h"
#include "results.h"

static purlin_context *context;
static struct solution got;

/* All real pairs of both tensors: values, vectors, classes, Hessians, residuals, and the Morse sum. */
static void all_pairs(int order) {
  struct published p = published(order);
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, order, 3, 1, p.tensor);
  int32_t sum = 77, expected = 77;
  purlin_tensor *morse = vector_of(context, PURLIN_I32, 1, &sum);
  purlin_tensor *due = vector_of(context, PURLIN_I32, 1, &expected);
  purlin_sshopm_info info;
  int k;
  OK(purlin_sshopm_info_init(&info, sizeof info));
  OK(purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, morse, due, &info));
  CHECK(info.tensors == 1 && info.starts > 0 && info.seconds >= 0 && info.converged_starts > 0);
  CHECK(got.count[0] == p.pairs && got.found[0] == p.pairs && info.truncated_tensors == 0);
  CHECK(got.status[0] == PURLIN_TENSOR_OK);
  CHECK(sum == 1 && expected == 1);
  for (k = 0; k < p.pairs; k++) {
    int class = p.negative[k] == 2   ? PURLIN_PAIR_NEGATIVE_STABLE
                : p.negative[k] == 0 ? PURLIN_PAIR_POSITIVE_STABLE
                                     : PURLIN_PAIR_UNSTABLE;
    CHECK(fabs(got.values[0][k] - p.value[k]) < 1e-12);
    CHECK(apart(got.vectors[0][k], p.x[k]) < 1e-11);
    CHECK(got.residuals[0][k] < 1e-13);
    CHECK(got.classes[0][k] == class);
    CHECK(fabs(got.hessian[0][k][0] - p.hessian[k][0]) < 1e-10);
    CHECK(fabs(got.hessian[0][k][1] - p.hessian[k][1]) < 1e-10);
    CHECK(got.basins[0][k] > 0);
  }
  for (; k < PAIRS; k++) CHECK(isnan(got.values[0][k]) && isnan(got.vectors[0][k][2]) && got.basins[0][k] == 0 && got.classes[0][k] == PURLIN_PAIR_NONE);
  OK(purlin_tensor_destroy(morse));
  OK(purlin_tensor_destroy(due));
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* (x^2 + y^2)^2 + (x^2 + y^2) z^2 / 2: the equator is a circle of maxima, one entry, and the set is not confirmed as complete. */
static void circle(void) {
  double form[15] = {1, 0, 0, 1.0 / 3, 0, 1.0 / 12, 0, 0, 0, 0, 1, 0, 1.0 / 12, 0, 0};
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, form);
  int32_t sum = 77, expected = 77;
  purlin_tensor *morse = vector_of(context, PURLIN_I32, 1, &sum);
  purlin_tensor *due = vector_of(context, PURLIN_I32, 1, &expected);
  OK(purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, morse, due, NULL));
  CHECK(got.count[0] == 2 && got.found[0] == 2 && got.status[0] == PURLIN_TENSOR_DEGENERATE);
  CHECK(fabs(got.values[0][0] - 1) < 1e-10 && fabs(got.values[0][1]) < 1e-10);
  CHECK(got.classes[0][0] == PURLIN_PAIR_DEGENERATE && got.classes[0][1] == PURLIN_PAIR_POSITIVE_STABLE);
  CHECK(expected == INT32_MIN);
  OK(purlin_tensor_destroy(morse));
  OK(purlin_tensor_destroy(due));
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* w[0] |x|^4 + w[1] |x|^2 (d . x)^2 + w[2] (d . x)^4 for a unit vector d, in both precisions. */
static void axisymmetric(const double w[3], const double d[3], double form[15], float rounded[15]) {
  int i, j, k, l, at = 0;
  for (i = 0; i < 3; i++)
    for (j = i; j < 3; j++)
      for (k = j; k < 3; k++)
        for (l = k; l < 3; l++, at++) {
          double pairs = (i == j && k == l) + (i == k && j == l) + (i == l && j == k);
          double mixed = (i == j) * d[k] * d[l] + (i == k) * d[j] * d[l] + (i == l) * d[j] * d[k] + (j == k) * d[i] * d[l] +
                         (j == l) * d[i] * d[k] + (k == l) * d[i] * d[j];
          form[at] = w[0] * pairs / 3 + w[1] * mixed / 6 + w[2] * d[i] * d[j] * d[k] * d[l];
          rounded[at] = (float)form[at];
        }
}

/* The values of such a form are w0 + w1 u + w2 u^2, u = (d . x)^2: its extremes are at the pole, at the equator and perhaps on
   a circle between them. Both extremes are listed, once each; in F32 values agree to its accuracy. */
static void check_axisymmetric(const double w[3], const double d[3], int is_fibre) {
  double form[15], size = fabs(w[0]) + fabs(w[1]) + fabs(w[2]), wanted[3], values[PAIRS], turn = -w[1] / (2 * w[2]);
  float rounded[15], singles[PAIRS];
  int single, count = 2, k, j;
  axisymmetric(w, d, form, rounded);
  wanted[0] = w[0] + w[1] + w[2], wanted[1] = w[0], wanted[2] = w[0] + w[1] * turn / 2;
  if (turn > 0 && turn < 1) count = 3;
  for (single = 0; single < 2; single++) {
    const purlin_dtype type = single ? PURLIN_F32 : PURLIN_F64;
    const double close = (single ? 2e-3 : 1e-9) * size;
    int32_t found = 0, status = -1;
    purlin_tensor *a = symmetric(context, type, 4, 3, 1, single ? (void *)rounded : (void *)form);
    purlin_sshopm_options o;
    purlin_sshopm_results r;
    OK(purlin_sshopm_options_init(&o, sizeof o));
    OK(purlin_sshopm_results_init(&r, sizeof r));
    o.starts = 200;
    r.values = array2(context, type, PAIRS, 1, single ? (void *)singles : (void *)values);
    r.found = vector_of(context, PURLIN_I32, 1, &found);
    r.status = vector_of(context, PURLIN_I32, 1, &status);
    OK(purlin_sshopm_solve_all_once(context, NULL, a, &o, &r, NULL, NULL, NULL));
    CHECK(status == PURLIN_TENSOR_DEGENERATE && found >= 2 && found <= count);
    if (is_fibre || !single) CHECK(found == (is_fibre ? 2 : count));
    if (single)
      for (k = 0; k < PAIRS; k++) values[k] = singles[k];
    for (j = 0; j < count; j++) {
      double nearest = INFINITY;
      for (k = 0; k < found; k++)
        if (fabs(values[k] - wanted[j]) < nearest) nearest = fabs(values[k] - wanted[j]);
      CHECK(nearest <= close);
    }
    release(&r);
    OK(purlin_tensor_destroy(a));
  }
}

static void circles(void) {
  uint64_t state = 5;
  int64_t k;
  for (k = 0; k < rounds(60, 2); k++) {
    static const double fibre[3] = {0, 0, 1};
    double w[3], d[3], size = 0;
    int i;
    for (i = 0; i < 3; i++) {
      w[i] = (double)(draw(&state) >> 11) / 4503599627370496.0 - 1;
      d[i] = (double)(draw(&state) >> 11) / 4503599627370496.0 - 1;
      size += d[i] * d[i];
    }
    for (i = 0; i < 3; i++) d[i] /= sqrt(size);
    if (k < 3) check_axisymmetric(fibre, d, 1);
    check_axisymmetric(w, d, 0);
  }
}

/* A search that ends before a round without new pairs does not report a complete set. */
static void incomplete(void) {
  struct published p = published(4);
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_sshopm_options o;
  int j, k;
  OK(purlin_sshopm_options_init(&o, sizeof o));
  o.starts = o.max_starts = 40;
  OK(purlin_sshopm_solve_all_once(context, NULL, a, &o, &r, NULL, NULL, NULL));
  CHECK(got.status[0] == PURLIN_TENSOR_INCOMPLETE && got.found[0] > 0);
  for (k = 0; k < got.count[0]; k++) {
    double nearest = 1;
    for (j = 0; j < p.pairs; j++)
      if (fabs(p.value[j] - got.values[0][k]) < nearest) nearest = fabs(p.value[j] - got.values[0][k]);
    CHECK(nearest < 1e-10);
  }
  release(&r);
  OK(purlin_tensor_destroy(a));
}

/* Searches of few starts in four dimensions, where no sum is known for odd orders: a set that lacks pairs is reported. */
static void few_starts(void) {
  enum { FORMS = 30, MOST = 15, SIZE = 20 };
  static double form[SIZE * FORMS];
  static int32_t found[2][FORMS], status[2][FORMS], basins[MOST * FORMS];
  purlin_tensor *a;
  purlin_sshopm_options o;
  uint64_t state = 11;
  int few, t, k, reported = 0;
  for (k = 0; k < SIZE * FORMS; k++) form[k] = (double)(draw(&state) >> 11) / 4503599627370496.0 - 1;
  a = symmetric(context, PURLIN_F64, 3, 4, FORMS, form);
  for (few = 0; few < 2; few++) {
    purlin_sshopm_results r;
    OK(purlin_sshopm_options_init(&o, sizeof o));
    OK(purlin_sshopm_results_init(&r, sizeof r));
    if (few) o.starts = 4, o.max_starts = 128;
    r.found = vector_of(context, PURLIN_I32, FORMS, found[few]);
    r.status = vector_of(context, PURLIN_I32, FORMS, status[few]);
    r.basins = array2(context, PURLIN_I32, MOST, FORMS, basins);
    OK(purlin_sshopm_solve_all_once(context, NULL, a, &o, &r, NULL, NULL, NULL));
    release(&r);
  }
  for (t = 0; t < FORMS; t++) {
    CHECK(found[1][t] <= found[0][t]);
    if (status[1][t] == PURLIN_TENSOR_OK) {
      CHECK(found[1][t] == found[0][t] && found[1][t] % 2 == 1);
      for (k = 0; k < found[1][t]; k++) CHECK(basins[MOST * t + k] >= 4);
    } else {
      CHECK(status[1][t] == PURLIN_TENSOR_INCOMPLETE);
      reported++;
    }
  }
  CHECK(reported > 0);
  OK(purlin_tensor_destroy(a));
}

/* Just beyond a fold, at which two pairs merge and vanish, some starts converge to no pair. Both remaining pairs are found and the
   Morse sum is the expected one, but the status reports the lost starts. */
static void lost_starts(void) {
  /* cos 4t + a cos 2t + b sin 2t on the circle; for beyond = 0 its first and second derivative vanish at z. */
  static const double z = 0.7, beyond[] = {0.1, 1e-4, 1e-6, 1e-8, 1e-2}, tolerance[] = {0, 0, 0, 0, 1e-2};
  const double p = 2 * sin(2 * z), q = 4 * cos(2 * z);
  const double a = -p * sin(z) - q * cos(z), whole = p * cos(z) - q * sin(z);
  size_t k;
  for (k = 0; k < COUNT(beyond); k++) {
    const double b = whole * (1 + beyond[k]);
    double form[5], values[4];
    int32_t found = 0, status = -1, sum = 77, expected = 77;
    purlin_tensor *of = symmetric(context, PURLIN_F64, 4, 2, 1, form);
    purlin_tensor *morse = vector_of(context, PURLIN_I32, 1, &sum), *due = vector_of(context, PURLIN_I32, 1, &expected);
    purlin_sshopm_options o;
    purlin_sshopm_results r;
    form[0] = 1 + a, form[1] = form[3] = b / 2, form[2] = -1, form[4] = 1 - a;
    OK(purlin_sshopm_options_init(&o, sizeof o));
    OK(purlin_sshopm_results_init(&r, sizeof r));
    o.tolerance = tolerance[k];
    r.values = array2(context, PURLIN_F64, 4, 1, values);
    r.found = vector_of(context, PURLIN_I32, 1, &found);
    r.status = vector_of(context, PURLIN_I32, 1, &status);
    OK(purlin_sshopm_solve_all_once(context, NULL, of, &o, &r, morse, due, NULL));
    CHECK(found == 2 && sum == 0 && expected == 0);
    CHECK(status == (k == 0 ? PURLIN_TENSOR_OK : PURLIN_TENSOR_INCOMPLETE));
    release(&r);
    OK(purlin_tensor_destroy(due));
    OK(purlin_tensor_destroy(morse));
    OK(purlin_tensor_destroy(of));
  }
}

/* Pairs that do not fit the caller's arrays are counted; an older caller's structs end before the new members. */
static void truncated(void) {
  struct published p = published(4);
  double values[4];
  int32_t found = 0, count = 0;
  purlin_sshopm_results r;
  purlin_sshopm_info info;
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  OK(purlin_sshopm_results_init(&r, sizeof r));
  OK(purlin_sshopm_info_init(&info, sizeof info));
  r.values = array2(context, PURLIN_F64, 4, 1, values);
  r.count = vector_of(context, PURLIN_I32, 1, &count);
  r.found = vector_of(context, PURLIN_I32, 1, &found);
  OK(purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, NULL, NULL, &info));
  CHECK(count == 4 && found == p.pairs && info.truncated_tensors == 1);
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, &info));
  CHECK(count == 3 && found == 3 && info.truncated_tensors == 0 && info.unconverged_tensors == 0);
  r.struct_size = offsetof(purlin_sshopm_results, found);
  info.struct_size = offsetof(purlin_sshopm_info, truncated_tensors);
  found = -5;
  info.truncated_tensors = -5;
  OK(purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, NULL, NULL, &info));
  CHECK(count == 4 && found == -5 && info.truncated_tensors == -5);
  OK(purlin_tensor_destroy(r.values));
  OK(purlin_tensor_destroy(r.count));
  OK(purlin_tensor_destroy(r.found));
  OK(purlin_tensor_destroy(a));
}

static void arguments(void) {
  struct published p = published(4);
  double d[64], flat[15] = {0};
  int32_t n[8];
  purlin_sshopm_options all;
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor), *bad;
  static struct solution before;
  before = got;
  BAD_ARGUMENT("options: is NULL", purlin_sshopm_options_init(NULL, sizeof all));
  BAD_ARGUMENT("options: struct_size", purlin_sshopm_options_init(&all, 8));
#define REFUSED(text, field, bad)                                                            \
  do {                                                                                       \
    OK(purlin_sshopm_options_init(&all, sizeof all));                                    \
    all.field = (bad);                                                                       \
    BAD_ARGUMENT(text, purlin_sshopm_solve_all_once(context, NULL, a, &all, &r, NULL, NULL, NULL));     \
  } while (0)
  REFUSED("starts: is -1", starts, -1);
  REFUSED("max_starts: is -1", max_starts, -1);
  REFUSED("max_iterations: is -1, less than 0", max_iterations, -1);
  REFUSED("max_iterations: is 2147483648, more than 2147483647", max_iterations, INT64_C(1) << 31);
  REFUSED("warmup: is -9223372036854775808, less than -1", warmup, INT64_MIN);
  REFUSED("warmup: is 2147483648, more than 2147483647", warmup, INT64_C(1) << 31);
  /* Options of a solve, which has another iteration. */
  REFUSED("goal: is 1", goal, PURLIN_SSHOPM_MINIMA);
  REFUSED("method: is 1", method, PURLIN_SSHOPM_POWER);
  REFUSED("shift_kind: is 2", shift_kind, PURLIN_SSHOPM_SHIFT_GUARANTEED);
  REFUSED("shift: is 2", shift, 2);
  REFUSED("test: is 1", test, PURLIN_SSHOPM_TEST_LAMBDA);
  REFUSED("warmup: is 3", warmup, 3);
  REFUSED("tau: is 0.5", tau, 0.5);
  REFUSED("start_kind: is 4", start_kind, PURLIN_STARTS_RANDOM);
  REFUSED("compatibility: is 1", compatibility, PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX);
  REFUSED("remove_isotropic: is 0", remove_isotropic, 0);
  REFUSED("sign: is 7", sign, 7);
  REFUSED("tolerance: is -1e-300, at least 0 and less than 1 is needed", tolerance, -1e-300);
  REFUSED("merge_angle", merge_angle, NAN);
  REFUSED("merge_value", merge_value, -1.0);
  REFUSED("degeneracy_tolerance", degeneracy_tolerance, -1.0);
  REFUSED("options: struct_size", struct_size, 16);
#undef REFUSED
  BAD_HANDLE("context: is NULL", purlin_sshopm_solve_all_once(NULL, NULL, a, NULL, &r, NULL, NULL, NULL));
  BAD_HANDLE("tensors: is NULL", purlin_sshopm_solve_all_once(context, NULL, NULL, NULL, &r, NULL, NULL, NULL));
  bad = array2(context, PURLIN_F64, 15, 1, flat);
  BAD_ARGUMENT("tensors: is a dense tensor", purlin_sshopm_solve_all_once(context, NULL, bad, NULL, &r, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(bad));
  CHECK(memcmp(&got, &before, sizeof got) == 0);
  release(&r);
  /* Nothing of single starts; sums of the right type and length. */
  OK(purlin_sshopm_results_init(&r, sizeof r));
  r.start_values = array2(context, PURLIN_F64, 32, 1, d);
  BAD_ARGUMENT("start_values", purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(r.start_values));
  r.start_values = NULL;
  bad = vector_of(context, PURLIN_I32, 3, n);
  BAD_ARGUMENT("morse_sum", purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, bad, NULL, NULL));
  BAD_ARGUMENT("morse_expected", purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, NULL, bad, NULL));
  OK(purlin_tensor_destroy(bad));
  bad = vector_of(context, PURLIN_F64, 1, d);
  BAD_ARGUMENT("morse_sum", purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, bad, NULL, NULL));
  OK(purlin_tensor_destroy(bad));
  OK(purlin_tensor_destroy(a));
}

/* A bad tensor of a batch gets a status; an empty batch succeeds; where no sum is known, the expected one is INT32_MIN. */
static void bad_and_empty(void) {
  struct published p = published(3);
  double batch[3][10];
  int32_t sum[3], expected[3];
  int k;
  purlin_sshopm_results r = over(context, &got, 3, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 3, 3, 3, batch), *none = symmetric(context, PURLIN_F64, 3, 3, 0, NULL);
  purlin_tensor *s = vector_of(context, PURLIN_I32, 3, sum), *e = vector_of(context, PURLIN_I32, 3, expected), *plane;
  for (k = 0; k < 10; k++) batch[0][k] = batch[2][k] = p.tensor[k], batch[1][k] = k == 4 ? NAN : 1;
  OK(purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, s, e, NULL));
  CHECK(got.count[0] == 7 && got.count[1] == 0 && got.count[2] == 7);
  CHECK(got.status[1] == PURLIN_TENSOR_NONFINITE && isnan(got.values[1][0]));
  CHECK(sum[0] == 1 && expected[0] == 1 && sum[2] == 1);
  CHECK(fabs(got.values[2][6] - p.value[6]) < 1e-12);
  release(&r);
  OK(purlin_sshopm_results_init(&r, sizeof r));
  OK(purlin_sshopm_solve_all_once(context, NULL, none, NULL, &r, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(none));
  OK(purlin_tensor_destroy(s));
  OK(purlin_tensor_destroy(e));
  /* Odd order and even dimension: no information. */
  plane = symmetric(context, PURLIN_F64, 3, 2, 1, p.tensor);
  e = vector_of(context, PURLIN_I32, 1, expected);
  OK(purlin_sshopm_solve_all_once(context, NULL, plane, NULL, &r, NULL, e, NULL));
  CHECK(expected[0] == INT32_MIN);
  OK(purlin_tensor_destroy(plane));
  OK(purlin_tensor_destroy(e));
}

int main(void) {
  context = test_context(2);
  all_pairs(4);
  all_pairs(3);
  circle();
  circles();
  incomplete();
  few_starts();
  lost_starts();
  truncated();
  arguments();
  bad_and_empty();
  OK(purlin_context_destroy(context));
  return finish();
}
