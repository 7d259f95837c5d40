/* Eigenpairs: every documented refusal once, by name, with the outputs untouched; products, starts, classes. */
#include <math.h>

#include "check.h"
#include "published.h"
#include "results.h"

static purlin_context *context;
static struct published p;
static struct solution got;

/* Each field of the options outside its domain. */
static void options(void) {
  static struct solution before;
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_sshopm_options o;
  before = got;
  BAD_ARGUMENT("options: is NULL", purlin_sshopm_options_init(NULL, sizeof o));
  BAD_ARGUMENT("options: struct_size", purlin_sshopm_options_init(&o, sizeof o - 8));
#define REFUSED(text, field, bad)                                                      \
  do {                                                                                 \
    OK(purlin_sshopm_options_init(&o, sizeof o));                                      \
    o.field = (bad);                                                                   \
    BAD_ARGUMENT(text, purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));     \
  } while (0)
  REFUSED("goal: is 3", goal, 3);
  REFUSED("goal: is -1", goal, -1);
  REFUSED("method: is 2", method, 2);
  REFUSED("shift_kind: is 3", shift_kind, 3);
  REFUSED("test: is 3", test, 3);
  REFUSED("start_kind: is 6", start_kind, 6);
  REFUSED("max_iterations: is -5", max_iterations, -5);
  REFUSED("max_iterations: is 1099511627776, more than 2147483647", max_iterations, INT64_C(1) << 40);
  REFUSED("warmup: is 1099511627776, more than 2147483647", warmup, INT64_C(1) << 40);
  REFUSED("max_starts: is 64", max_starts, 64);
  REFUSED("warmup: is -2", warmup, -2);
  REFUSED("sign: is 2", sign, 2);
  REFUSED("compatibility: is 2", compatibility, 2);
  REFUSED("remove_isotropic: is 2", remove_isotropic, 2);
  REFUSED("starts: is -1", starts, -1);
  REFUSED("tolerance", tolerance, -1e-9);
  REFUSED("tolerance", tolerance, NAN);
  REFUSED("tolerance", tolerance, INFINITY);
  REFUSED("tolerance: is 2, at least 0 and less than 1", tolerance, 2.0);
  REFUSED("tolerance: is 1e308, at least 0 and less than 1", tolerance, 1e308);
  REFUSED("tau", tau, -1.0);
  REFUSED("merge_angle", merge_angle, -0.1);
  REFUSED("merge_angle", merge_angle, NAN);
  REFUSED("merge_value", merge_value, -1.0);
  REFUSED("degeneracy_tolerance", degeneracy_tolerance, NAN);
  REFUSED("options: struct_size is 0", struct_size, 0);
#undef REFUSED
  OK(purlin_sshopm_options_init(&o, sizeof o));
  o.shift_kind = PURLIN_SSHOPM_SHIFT_FIXED;
  o.shift = -1;
  BAD_ARGUMENT("shift: is -1", purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));
  o.goal = PURLIN_SSHOPM_MINIMA;
  o.shift = 1;
  BAD_ARGUMENT("shift: is 1", purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));
  o.shift = NAN;
  BAD_ARGUMENT("shift", purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));
  CHECK(memcmp(&got, &before, sizeof got) == 0);
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* Options that the others leave without effect. */
static void idle_options(void) {
  static struct solution before;
  double given[2][3] = {{1, 0, 0}, {0, 1, 0}};
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_tensor *starts = array2(context, PURLIN_F64, 3, 2, given);
  purlin_sshopm_options o;
  before = got;
#define REFUSED(text, starts, change)                                                  \
  do {                                                                                 \
    OK(purlin_sshopm_options_init(&o, sizeof o));                                      \
    change;                                                                            \
    BAD_ARGUMENT(text, purlin_sshopm_solve_once(context, NULL, a, starts, &o, &r, NULL));   \
  } while (0)
  REFUSED("shift: is 2", NULL, o.shift = 2);
  REFUSED("shift: is 2", NULL, (o.shift = 2, o.shift_kind = PURLIN_SSHOPM_SHIFT_GUARANTEED));
  REFUSED("warmup: is 2", NULL, (o.warmup = 2, o.method = PURLIN_SSHOPM_POWER));
  REFUSED("tau: is 0.001", NULL, o.tau = 1e-3);
  REFUSED("tau: is 0.001", NULL, (o.tau = 1e-3, o.method = PURLIN_SSHOPM_POWER, o.shift_kind = PURLIN_SSHOPM_SHIFT_GUARANTEED));
  REFUSED("test: is", NULL, (o.test = PURLIN_SSHOPM_TEST_STEP, o.compatibility = PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX));
  REFUSED("start_kind: is", starts, o.start_kind = PURLIN_STARTS_RANDOM);
  REFUSED("starts: is 3", starts, o.starts = 3);
  REFUSED("seed: is 3", starts, o.seed = 3);
  /* The default starts of three dimensions are a lattice. */
  REFUSED("seed: is 3", NULL, o.seed = 3);
#undef REFUSED
  CHECK(memcmp(&got, &before, sizeof got) == 0);
  OK(purlin_sshopm_options_init(&o, sizeof o));
  OK(purlin_sshopm_solve_once(context, NULL, a, starts, &o, &r, NULL));
  o.seed = 3, o.start_kind = PURLIN_STARTS_RANDOM;
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));
  OK(purlin_tensor_destroy(starts));
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* Outputs of a wrong type, shape or context, and overlaps. */
static void outputs(void) {
  purlin_sshopm_results r;
  purlin_sshopm_info info;
  purlin_context *foreign = test_context(1);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 2, calloc(30, sizeof(double)));
  purlin_tensor *bad = NULL;
  double d[64];
  int32_t n[8];
  purlin_tensor_info shape;
#define REFUSED(text, member, make)                                                        \
  do {                                                                                     \
    OK(purlin_sshopm_results_init(&r, sizeof r));                                          \
    r.member = bad = (make);                                                               \
    BAD_ARGUMENT(text, purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, NULL));       \
    OK(purlin_tensor_destroy(bad));                                                        \
  } while (0)
  BAD_ARGUMENT("results: is NULL", purlin_sshopm_results_init(NULL, sizeof r));
  REFUSED("count", count, vector_of(context, PURLIN_F64, 2, d));
  REFUSED("count", count, vector_of(context, PURLIN_I32, 3, n));
  REFUSED("count", count, vector_of(foreign, PURLIN_I32, 2, n));
  REFUSED("status", status, vector_of(context, PURLIN_I64, 2, d));
  REFUSED("values", values, array2(context, PURLIN_F32, 5, 2, d));
  REFUSED("values", values, array2(context, PURLIN_F64, 5, 1, d));
  REFUSED("values", values, vector_of(context, PURLIN_F64, 5, d));
  REFUSED("vectors", vectors, array3(context, PURLIN_F64, 2, 5, 2, d));
  REFUSED("classes", classes, array2(context, PURLIN_F64, 5, 2, d));
  REFUSED("hessian", hessian, array3(context, PURLIN_F64, 3, 5, 2, d));
  REFUSED("basins", basins, array2(context, PURLIN_I32, 4, 3, n));
  REFUSED("start_values", start_values, array2(context, PURLIN_F64, 31, 2, d));
  REFUSED("start_status", start_status, array2(context, PURLIN_F64, 32, 2, d));
  REFUSED("trace", trace, vector_of(context, PURLIN_F64, 64, d));
#undef REFUSED
  OK(purlin_sshopm_results_init(&r, sizeof r));
  /* All outputs must have the same number of pairs. */
  r.values = array2(context, PURLIN_F64, 5, 2, d);
  r.basins = array2(context, PURLIN_I32, 4, 2, n);
  BAD_ARGUMENT("pairs", purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, NULL));
  OK(purlin_tensor_destroy(r.basins));
  r.basins = NULL;
  /* Twice the same output; an output over the input; one that is only read. */
  r.residuals = r.values;
  BAD_ARGUMENT("residuals: is given twice", purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, NULL));
  r.residuals = array2(context, PURLIN_F64, 5, 2, d + 3);
  BAD_ARGUMENT("overlaps", purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, NULL));
  OK(purlin_tensor_destroy(r.residuals));
  OK(purlin_tensor_info_init(&shape, sizeof shape));
  OK(purlin_tensor_properties(a, &shape));
  r.residuals = array2(context, PURLIN_F64, 5, 2, (void *)(uintptr_t)shape.data);
  BAD_ARGUMENT("residuals: overlaps tensors", purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, NULL));
  OK(purlin_tensor_destroy(r.residuals));
  r.residuals = NULL;
  OK(purlin_tensor_destroy(r.values));
  {
    int64_t dims[2] = {5, 2};
    OK(purlin_tensor_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, 2, dims, NULL, d, &r.values));
  }
  BAD_ARGUMENT("values: was borrowed read-only", purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, NULL));
  OK(purlin_tensor_destroy(r.values));
  r.values = NULL;
  OK(purlin_sshopm_info_init(&info, sizeof info));
  info.struct_size = 4;
  BAD_ARGUMENT("info: struct_size is 4", purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, &info));
  BAD_ARGUMENT("info: is NULL", purlin_sshopm_info_init(NULL, sizeof info));
  r.struct_size = 1;
  BAD_ARGUMENT("results: struct_size is 1", purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, NULL));
  free((void *)(uintptr_t)shape.data);
  OK(purlin_tensor_destroy(a));
  OK(purlin_context_destroy(foreign));
}

/* Inputs that are no symmetric tensors, starts that are no directions. */
static void inputs(void) {
  double d[32] = {0}, x[6] = {1, 2, 3, 4, 5, 6};
  purlin_context *foreign = test_context(1);
  purlin_stream *stream = NULL;
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_sshopm_options o;
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor), *bad;
#define SOLVE(tensors, starts) purlin_sshopm_solve_once(context, NULL, tensors, starts, NULL, &r, NULL)
  BAD_HANDLE("context: is NULL", purlin_sshopm_solve_once(NULL, NULL, a, NULL, NULL, &r, NULL));
  BAD_HANDLE("tensors: is NULL", SOLVE(NULL, NULL));
  BAD_HANDLE("starts", SOLVE(a, (const purlin_tensor *)(const void *)context));
  bad = array2(context, PURLIN_F64, 15, 1, d);
  BAD_ARGUMENT("tensors: is a dense tensor", SOLVE(bad, NULL));
  OK(purlin_tensor_destroy(bad));
  bad = symmetric(foreign, PURLIN_F64, 4, 3, 1, p.tensor);
  BAD_ARGUMENT("tensors: belongs to another context", SOLVE(bad, NULL));
  OK(purlin_tensor_destroy(bad));
  OK(purlin_stream_create(foreign, &stream));
  BAD_ARGUMENT("stream: belongs to another", purlin_sshopm_solve_once(context, stream, a, NULL, NULL, &r, NULL));
  OK(purlin_stream_destroy(stream));
#define BAD_STARTS(text, make)              \
  do {                                      \
    bad = (make);                           \
    BAD_ARGUMENT(text, SOLVE(a, bad));      \
    OK(purlin_tensor_destroy(bad));         \
  } while (0)
  BAD_STARTS("starts", array2(context, PURLIN_F32, 3, 2, x));
  BAD_STARTS("starts", array2(context, PURLIN_F64, 2, 3, x));
  BAD_STARTS("starts", vector_of(context, PURLIN_F64, 3, x));
  BAD_STARTS("starts", array2(context, PURLIN_F64, 3, 0, x));
  BAD_STARTS("starts", array2(foreign, PURLIN_F64, 3, 2, x));
  BAD_STARTS("starts: column 0 is zero", array2(context, PURLIN_F64, 3, 2, d));
  x[4] = NAN;
  BAD_STARTS("starts: column 1", array2(context, PURLIN_F64, 3, 2, x));
  x[4] = INFINITY;
  BAD_STARTS("starts: column 1", array2(context, PURLIN_F64, 3, 2, x));
  /* Sets for the sphere alone. */
  OK(purlin_sshopm_options_init(&o, sizeof o));
  release(&r);
  OK(purlin_sshopm_results_init(&r, sizeof r));
  bad = symmetric(context, PURLIN_F64, 3, 4, 1, d);
  o.start_kind = PURLIN_STARTS_FIBONACCI_SPHERE;
  BAD_ARGUMENT("start_kind", purlin_sshopm_solve_once(context, NULL, bad, NULL, &o, &r, NULL));
  OK(purlin_tensor_destroy(bad));
  OK(purlin_tensor_destroy(a));
  OK(purlin_context_destroy(foreign));
}

static void products(void) {
  double x[6] = {.5, -.25, 2, 0, 0, 1}, full[2], gradient[6], hessian[18];
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_tensor *v = array2(context, PURLIN_F64, 3, 2, x), *t;
  int s, i, j;
  t = array2(context, PURLIN_F64, 2, 1, full);
  OK(purlin_sshopm_product(context, NULL, a, v, 4, t));
  BAD_ARGUMENT("power: is 1", purlin_sshopm_product(context, NULL, a, v, 1, t));
  BAD_ARGUMENT("power: is -4", purlin_sshopm_product(context, NULL, a, v, -4, t));
  BAD_ARGUMENT("products", purlin_sshopm_product(context, NULL, a, v, 3, t));
  BAD_HANDLE("vectors: is NULL", purlin_sshopm_product(context, NULL, a, NULL, 4, t));
  BAD_HANDLE("products: is NULL", purlin_sshopm_product(context, NULL, a, v, 4, NULL));
  BAD_ARGUMENT("vectors", purlin_sshopm_product(context, NULL, a, a, 4, t));
  OK(purlin_tensor_destroy(t));
  t = array3(context, PURLIN_F64, 3, 2, 1, gradient);
  OK(purlin_sshopm_product(context, NULL, a, v, 3, t));
  OK(purlin_tensor_destroy(t));
  {
    int64_t dims[4] = {3, 3, 2, 1};
    t = dense(context, PURLIN_F64, 4, dims, hessian);
  }
  OK(purlin_sshopm_product(context, NULL, a, v, 2, t));
  OK(purlin_tensor_destroy(t));
  /* x . A x^3 = A x^4 and A x^2 x = A x^3. */
  for (s = 0; s < 2; s++) {
    double dot = 0;
    for (i = 0; i < 3; i++) {
      double row = 0;
      for (j = 0; j < 3; j++) row += hessian[9 * s + 3 * j + i] * x[3 * s + j];
      CHECK(fabs(row - gradient[3 * s + i]) < 1e-13 * 20);
      dot += x[3 * s + i] * gradient[3 * s + i];
    }
    CHECK(fabs(dot - full[s]) < 1e-13 * 20);
  }
  CHECK(full[1] == p.tensor[14]);
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(v));
}

static void starts(void) {
  static const int32_t kinds[] = {PURLIN_STARTS_FIBONACCI_HEMISPHERE, PURLIN_STARTS_FIBONACCI_SPHERE,
                                  PURLIN_STARTS_RANDOM, PURLIN_STARTS_RANDOM_CUBE};
  double x[60], y[60];
  purlin_tensor *t = array2(context, PURLIN_F64, 3, 20, x), *u = array2(context, PURLIN_F64, 3, 20, y), *bad;
  size_t k;
  int v, right;
  for (k = 0; k < COUNT(kinds); k++) {
    int is_random = kinds[k] >= PURLIN_STARTS_RANDOM;
    uint64_t seed = is_random ? 5 : 0;
    OK(purlin_sshopm_starts(context, NULL, kinds[k], seed, t));
    OK(purlin_sshopm_starts(context, NULL, kinds[k], seed, u));
    CHECK(memcmp(x, y, sizeof x) == 0);
    for (v = 0, right = 1; v < 20; v++)
      right &= fabs(x[3 * v] * x[3 * v] + x[3 * v + 1] * x[3 * v + 1] + x[3 * v + 2] * x[3 * v + 2] - 1) < 4e-16 * 4;
    CHECK(right);
    if (is_random) {
      OK(purlin_sshopm_starts(context, NULL, kinds[k], 6, u));
      CHECK(memcmp(x, y, sizeof x) != 0);
    } else {
      BAD_ARGUMENT("seed: is 6", purlin_sshopm_starts(context, NULL, kinds[k], 6, u));
    }
  }
  /* The lattice of the hemisphere: z = 1 - (i + 1/2) / V. */
  OK(purlin_sshopm_starts(context, NULL, PURLIN_STARTS_FIBONACCI_HEMISPHERE, 0, t));
  CHECK(fabs(x[2] - (1 - 0.5 / 20)) < 1e-15 && fabs(x[59] - (1 - 19.5 / 20)) < 1e-15);
  BAD_ARGUMENT("kind: is 6", purlin_sshopm_starts(context, NULL, 6, 0, t));
  BAD_ARGUMENT("kind", purlin_sshopm_starts(context, NULL, PURLIN_STARTS_AUTO, 0, t));
  BAD_HANDLE("starts: is NULL", purlin_sshopm_starts(context, NULL, PURLIN_STARTS_RANDOM, 0, NULL));
  bad = array2(context, PURLIN_F64, 4, 5, x);
  BAD_ARGUMENT("kind", purlin_sshopm_starts(context, NULL, PURLIN_STARTS_ICOSAHEDRAL, 0, bad));
  CHECK(strncmp(purlin_last_error_message(), "kind: ", 6) == 0);
  OK(purlin_sshopm_starts(context, NULL, PURLIN_STARTS_RANDOM, 0, bad));
  OK(purlin_tensor_destroy(bad));
  bad = array2(context, PURLIN_I32, 3, 5, x);
  CHECK(purlin_sshopm_starts(context, NULL, PURLIN_STARTS_RANDOM, 0, bad) != PURLIN_SUCCESS);
  OK(purlin_tensor_destroy(bad));
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_destroy(u));
}

/* Given the published pairs, their residuals, Hessians and classes. */
static void classify(void) {
  double residual[MOST_PAIRS], hessian[MOST_PAIRS][2];
  int32_t class[MOST_PAIRS];
  int k;
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_tensor *l = array2(context, PURLIN_F64, 11, 1, p.value), *x = array3(context, PURLIN_F64, 3, 11, 1, p.x);
  purlin_tensor *r = array2(context, PURLIN_F64, 11, 1, residual), *h = array3(context, PURLIN_F64, 2, 11, 1, hessian);
  purlin_tensor *c = array2(context, PURLIN_I32, 11, 1, class);
  OK(purlin_sshopm_classify(context, NULL, a, l, x, 0, r, h, c));
  for (k = 0; k < 11; k++) {
    CHECK(residual[k] < 1e-13 && fabs(hessian[k][0] - p.hessian[k][0]) < 1e-11);
    CHECK(fabs(hessian[k][1] - p.hessian[k][1]) < 1e-11);
    CHECK(class[k] == (p.negative[k] == 2   ? PURLIN_PAIR_NEGATIVE_STABLE
                       : p.negative[k] == 0 ? PURLIN_PAIR_POSITIVE_STABLE
                                            : PURLIN_PAIR_UNSTABLE));
  }
  /* With a tolerance above the smallest of the eigenvalues, that pair is degenerate. */
  OK(purlin_sshopm_classify(context, NULL, a, l, x, 0.3, NULL, NULL, c));
  CHECK(class[2] == PURLIN_PAIR_DEGENERATE || class[3] == PURLIN_PAIR_DEGENERATE);
  OK(purlin_sshopm_classify(context, NULL, a, l, x, 0, NULL, NULL, NULL));
  BAD_ARGUMENT("degeneracy_tolerance", purlin_sshopm_classify(context, NULL, a, l, x, -1, r, h, c));
  BAD_ARGUMENT("degeneracy_tolerance", purlin_sshopm_classify(context, NULL, a, l, x, NAN, r, h, c));
  BAD_ARGUMENT("vectors", purlin_sshopm_classify(context, NULL, a, l, l, 0, r, h, c));
  BAD_ARGUMENT("classes", purlin_sshopm_classify(context, NULL, a, l, x, 0, NULL, NULL, r));
  BAD_HANDLE("values: is NULL", purlin_sshopm_classify(context, NULL, a, NULL, x, 0, r, h, c));
  BAD_ARGUMENT("hessian: is given twice", purlin_sshopm_classify(context, NULL, a, l, x, 0, r, r, c));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(l));
  OK(purlin_tensor_destroy(x));
  OK(purlin_tensor_destroy(r));
  OK(purlin_tensor_destroy(h));
  OK(purlin_tensor_destroy(c));
}

int main(void) {
  context = test_context(2);
  p = published(4);
  options();
  idle_options();
  outputs();
  inputs();
  products();
  starts();
  classify();
  OK(purlin_context_destroy(context));
  return finish();
}
