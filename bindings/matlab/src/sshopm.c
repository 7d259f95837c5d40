/* Commands on eigenpairs. */
#include "gateway.h"

static int64_t order_argument(const mxArray *value) {
  return integer_argument("order", value, INT64_MIN, INT64_MAX);
}

static int64_t dimension_argument(const mxArray *value) {
  return integer_argument("dimension", value, INT64_MIN, INT64_MAX);
}

void info_struct(const purlin_sshopm_info *info, mxArray *target) {
  mxArray *fields = mxCreateStructMatrix(1, 1, 0, NULL);
  REPORT_SSHOPM_INFO(fields, info);
  (void)mxAddField(target, "info");
  mxSetField(target, 0, "info", fields);
}

/* The arrays of pairs that solve and solve_all have in common, K a tensor. */
static void pair_outputs(mxArray *target, const batch *b, int64_t n, int64_t k, purlin_sshopm_results *r) {
  int64_t vector_dims[2] = {n, k}, hessian_dims[2] = {n - 1, k};
  r->count = add_output(target, "count", b, PURLIN_I32, 0, NULL);
  r->found = add_output(target, "found", b, PURLIN_I32, 0, NULL);
  r->values = add_output(target, "values", b, b->dtype, 1, &k);
  r->vectors = add_output(target, "vectors", b, b->dtype, 2, vector_dims);
  r->residuals = add_output(target, "residuals", b, b->dtype, 1, &k);
  r->classes = add_output(target, "classes", b, PURLIN_I32, 1, &k);
  r->hessian = add_output(target, "hessian", b, b->dtype, 2, hessian_dims);
  r->basins = add_output(target, "basins", b, PURLIN_I32, 1, &k);
  r->status = add_output(target, "status", b, PURLIN_I32, 0, NULL);
}

/* The outcome of every single start, V a tensor. */
static void start_outputs(mxArray *target, const batch *b, int64_t n, int64_t v, purlin_sshopm_results *r) {
  int64_t vector_dims[2] = {n, v};
  r->start_values = add_output(target, "start_values", b, b->dtype, 1, &v);
  r->start_vectors = add_output(target, "start_vectors", b, b->dtype, 2, vector_dims);
  r->start_residuals = add_output(target, "start_residuals", b, b->dtype, 1, &v);
  r->start_iterations = add_output(target, "start_iterations", b, PURLIN_I32, 1, &v);
  r->start_shifts = add_output(target, "start_shifts", b, b->dtype, 1, &v);
  r->start_status = add_output(target, "start_status", b, PURLIN_I32, 1, &v);
  r->start_violations = add_output(target, "start_violations", b, PURLIN_I32, 1, &v);
}

/* The tensors of a command, its first argument. */
static batch tensors_of(const mxArray *array, int64_t order, int64_t dimension) {
  name_argument("tensors", "A");
  return borrow_symmetric("A", array, order, dimension, 0);
}

/* sshopm_solve(A, order, dimension, starts or [], options) */
static void solve(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t order = order_argument(prhs[1]);
  int32_t full = 0;
  int64_t n = dimension_argument(prhs[2]), pairs = 8, trace = 0, v;
  const mxArray *options = prhs[4];
  purlin_tensor *starts = NULL;
  purlin_sshopm_options o;
  purlin_sshopm_results r;
  purlin_sshopm_info info;
  watch w;
  purlin_status status;
  batch b = tensors_of(prhs[0], order, n);
  check(purlin_sshopm_options_init(&o, sizeof o));
  check(purlin_sshopm_results_init(&r, sizeof r));
  check(purlin_sshopm_info_init(&info, sizeof info));
  if (option(options, "start_count")) name_argument("starts", "start_count");
  READ_SSHOPM_OPTIONS(options, &o);
  read_int64(options, "pairs", &pairs);
  read_int64(options, "trace", &trace);
  read_flag(options, "full", &full);
  if (pairs < 1) fail("invalidArgument", "pairs: is %lld, at least 1 is needed", (long long)pairs);
  if (trace < 0) fail("invalidArgument", "trace: is %lld, at least 0 is needed", (long long)trace);
  watch_from(options, &w, &o.progress, &o.progress_user);

  v = o.starts;
  if (!mxIsEmpty(prhs[3])) {
    int64_t dims[2];
    dims[0] = n;
    dims[1] = v = n > 0 ? (int64_t)mxGetNumberOfElements(prhs[3]) / n : 0;
    starts = borrow_array("starts", prhs[3], b.dtype, 2, dims);
  }
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  pair_outputs(plhs[0], &b, n, pairs, &r);
  if (full) {
    if (v <= 0) fail("invalidArgument", "full: needs the option starts, as a number or as vectors");
    start_outputs(plhs[0], &b, n, v, &r);
  }
  if (trace > 0) {
    batch line = plain_batch(b.dtype, trace);
    r.trace = add_output(plhs[0], "trace", &line, b.dtype, 0, NULL);
  }
  status = purlin_sshopm_solve_once(gateway_context(), NULL, b.tensor, starts, &o, &r, &info);
  check_watched(&w, status);
  info_struct(&info, plhs[0]);
  (void)nlhs;
  (void)nrhs;
}

/* info = sshopm_plan(A, order, dimension, options) */
static void plan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_sshopm *made = NULL;
  purlin_sshopm_options o;
  purlin_sshopm_info info;
  batch b = tensors_of(prhs[0], order_argument(prhs[1]), dimension_argument(prhs[2]));
  check(purlin_sshopm_options_init(&o, sizeof o));
  check(purlin_sshopm_info_init(&info, sizeof info));
  READ_SSHOPM_OPTIONS(prhs[3], &o);
  check(purlin_sshopm_create(gateway_context(), &o, &made));
  check(purlin_sshopm_plan(temporary_sshopm(made), b.tensor, &info));
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  REPORT_SSHOPM_INFO(plhs[0], &info);
  (void)nlhs;
  (void)nrhs;
}

/* sshopm_solve_all(A, order, dimension, options) */
static void solve_all(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t order = order_argument(prhs[1]);
  int64_t n = dimension_argument(prhs[2]), pairs = 0;
  const mxArray *options = prhs[3];
  purlin_tensor *sum, *expected;
  purlin_sshopm_options o;
  purlin_sshopm_results r;
  purlin_sshopm_info info;
  watch w;
  purlin_status status;
  batch b = tensors_of(prhs[0], order, n);
  check(purlin_sshopm_options_init(&o, sizeof o));
  check(purlin_sshopm_results_init(&r, sizeof r));
  check(purlin_sshopm_info_init(&info, sizeof info));
  READ_SSHOPM_OPTIONS(options, &o);
  read_int64(options, "pairs", &pairs);
  if (pairs < 1) fail("invalidArgument", "pairs: is %lld, at least 1 is needed", (long long)pairs);
  watch_from(options, &w, &o.progress, &o.progress_user);

  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  pair_outputs(plhs[0], &b, n, pairs, &r);
  sum = add_output(plhs[0], "morse_sum", &b, PURLIN_I32, 0, NULL);
  expected = add_output(plhs[0], "morse_expected", &b, PURLIN_I32, 0, NULL);
  status = purlin_sshopm_solve_all_once(gateway_context(), NULL, b.tensor, &o, &r, sum, expected, &info);
  check_watched(&w, status);
  info_struct(&info, plhs[0]);
  (void)nlhs;
  (void)nrhs;
}

/* sshopm_product(A, order, dimension, X, power) */
static void product(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t order = order_argument(prhs[1]);
  int64_t n = dimension_argument(prhs[2]), x_dims[3], y_dims[3], sets, v, power;
  int each = mxGetNumberOfDimensions(prhs[3]) > 2, lead;
  batch b = tensors_of(prhs[0], order, n);
  purlin_tensor *x, *y;
  power = integer_argument("power", prhs[4], INT64_MIN, INT64_MAX);
  if (power > order || power < order - 2)
    fail("invalidArgument", "power: is %d, expected %d to %d", (int)power, (int)order - 2, (int)order);
  sets = each ? b.count : 1;
  v = n > 0 && sets > 0 ? (int64_t)mxGetNumberOfElements(prhs[3]) / (n * sets) : 0;
  x_dims[0] = n;
  x_dims[1] = v;
  x_dims[2] = sets;
  name_argument("vectors", "X");
  x = borrow_array("X", prhs[3], b.dtype, each ? 3 : 2, x_dims);
  lead = (int)(order - power) + 1;
  for (int i = 0; i < lead - 1; i++) y_dims[i] = n;
  y_dims[lead - 1] = v;
  plhs[0] = new_output(&b, b.dtype, lead, y_dims, &y);
  check(purlin_sshopm_product(gateway_context(), NULL, b.tensor, x, power, y));
  (void)nlhs;
  (void)nrhs;
}

/* sshopm_classify(A, order, dimension, values, vectors, options{degeneracy_tolerance}) */
static void classify(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t n = dimension_argument(prhs[2]), value_dims[2], vector_dims[3], hessian_dims[2], v;
  batch b = tensors_of(prhs[0], order_argument(prhs[1]), n);
  double tolerance = 0;
  purlin_tensor *values, *vectors, *residuals, *hessian, *classes;
  v = b.count > 0 ? (int64_t)mxGetNumberOfElements(prhs[3]) / b.count : 0;
  value_dims[0] = vector_dims[1] = hessian_dims[1] = v;
  value_dims[1] = vector_dims[2] = b.count;
  vector_dims[0] = n;
  hessian_dims[0] = n - 1;
  values = borrow_array("values", prhs[3], b.dtype, 2, value_dims);
  vectors = borrow_array("vectors", prhs[4], b.dtype, 3, vector_dims);
  read_double(prhs[5], "degeneracy_tolerance", &tolerance);
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  residuals = add_output(plhs[0], "residuals", &b, b.dtype, 1, &v);
  hessian = add_output(plhs[0], "hessian", &b, b.dtype, 2, hessian_dims);
  classes = add_output(plhs[0], "classes", &b, PURLIN_I32, 1, &v);
  check(purlin_sshopm_classify(gateway_context(), NULL, b.tensor, values, vectors, tolerance, residuals, hessian,
                               classes));
  (void)nlhs;
  (void)nrhs;
}

/* sshopm_starts(kind, dimension, count, seed, single) */
static void starts(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int32_t kind = choice_argument("kind", prhs[0], starts_words);
  int64_t n = dimension_argument(prhs[1]);
  batch b = plain_batch(is_true("single", prhs[4]) ? PURLIN_F32 : PURLIN_F64,
                        integer_argument("count", prhs[2], 0, INT64_MAX));
  purlin_tensor *list;
  if (n < 1) fail("invalidArgument", "dimension: is %.0f, expected at least 1", (double)n);
  name_argument("start_kind", "kind");
  name_argument("starts", "count");
  plhs[0] = new_output(&b, b.dtype, 1, &n, &list);
  check(purlin_sshopm_starts(gateway_context(), NULL, kind, seed_argument("seed", prhs[3]), list));
  (void)nlhs;
  (void)nrhs;
}

const command sshopm_commands[] = {
  {"sshopm_solve", "A order dimension starts options", solve},
  {"sshopm_solve_all", "A order dimension options", solve_all},
  {"sshopm_plan", "A order dimension options", plan},
  {"sshopm_product", "A order dimension X power", product},
  {"sshopm_classify", "A order dimension values vectors options", classify},
  {"sshopm_starts", "kind dimension count seed single", starts},
  {NULL, NULL, NULL},
};
