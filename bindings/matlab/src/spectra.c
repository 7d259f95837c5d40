/* Commands of eigenpairs, singular triplets and tridiagonal matrices. */
#include "gateway.h"

purlin_lanczos_options lanczos_options_of(const mxArray *options, int64_t count, watch *w) {
  purlin_lanczos_options o;
  name_argument("count", "k");
  check(purlin_lanczos_options_init(&o, sizeof o));
  o.count = count;
  READ_LANCZOS_OPTIONS(options, &o);
  o.group = read_group(options);
  watch_from(options, w, &o.progress, &o.progress_user);
  return o;
}

purlin_lanczos_info fresh_lanczos_info(void) {
  purlin_lanczos_info info;
  check(purlin_lanczos_info_init(&info, sizeof info));
  return info;
}

mxArray *lanczos_report(const purlin_lanczos_info *i) {
  mxArray *s = mxCreateStructMatrix(1, 1, 0, NULL);
  REPORT_LANCZOS_INFO(s, i);
  return s;
}

void check_lanczos(const watch *w, purlin_status status) {
  check_watched(w, status == PURLIN_ERROR_NO_CONVERGENCE ? PURLIN_SUCCESS : status);
}

int64_t operator_order(const purlin_matrix_info *shape, int32_t kind) {
  switch (kind) {
  case PURLIN_LANCZOS_GRAM: return shape->cols;
  case PURLIN_LANCZOS_AUGMENTED: return shape->rows + shape->cols;
  default: return shape->rows;
  }
}

/* The start vector of n elements; a real one is as good for a complex matrix of its precision. */
static purlin_tensor *start_of(const mxArray *list, int32_t dtype, int64_t n) {
  purlin_tensor *start = NULL;
  mxArray *given = (mxArray *)list, *widened = NULL;
  if (mxIsSparse(list) || (int64_t)mxGetNumberOfElements(list) != n || mxGetClassID(list) != class_of(dtype))
    fail("invalidArgument", "start: is not a vector of %.0f elements of the class of A", (double)n);
  if (is_complex(dtype) && !mxIsComplex(list)) {
    if (mexCallMATLAB(1, &widened, 1, &given, "complex") != 0) fail("internal", "start: cannot be made complex");
    list = widened;
  }
  if (dtype_of(list) != dtype) fail("invalidArgument", "start: is complex, but A is real");
  check(purlin_tensor_borrow(gateway_context(), dtype, PURLIN_READ_ONLY, 1, &n, NULL, elements_of(list, dtype), &start));
  return temporary(start);
}

static purlin_status run_solve(void *a[]) {
  return purlin_lanczos_solve_once(gateway_context(), NULL, a[0], a[2], a[3], a[8], a[1], a[4], a[5], a[6], a[7]);
}

purlin_lanczos *solver_of(const purlin_lanczos_options *o) {
  purlin_lanczos *made = NULL;
  check(purlin_lanczos_create(gateway_context(), o, &made));
  return temporary_lanczos(made);
}

/* [values, vectors, residuals, info] = lanczos_solve(A, k, options, start, known, solve) */
static void solve(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]), *known = mxIsEmpty(prhs[4]) ? NULL : matrix_of("known", prhs[4]);
  purlin_matrix *inverse = mxIsEmpty(prhs[5]) ? NULL : matrix_of("solve", prhs[5]);
  purlin_matrix_info shape = matrix_properties_of(a);
  int64_t k = integer_argument("k", prhs[1], 1, INT64_MAX), n;
  purlin_lanczos_info info = fresh_lanczos_info();
  purlin_tensor *values = NULL, *residuals = NULL, *start = NULL;
  output vectors = {NULL, NULL, NULL, 0};
  mxArray *left;
  watch w;
  purlin_lanczos_options o = lanczos_options_of(prhs[2], k, &w);
  n = operator_order(&shape, o.kind);
  if (k > n) fail("invalidArgument", "k: is %.0f, more than n = %.0f", (double)k, (double)n);
  if (!mxIsEmpty(prhs[3])) start = start_of(prhs[3], shape.dtype, n);
  plhs[0] = new_column(PURLIN_F64, k, &values);
  left = new_column(PURLIN_F64, k, &residuals);
  if (nlhs > 1) vectors = new_matrix(shape.dtype, n, k);
  check_lanczos(&w, call_library(&w, run_solve,
                             (void *[]){a, &o, start, known, values, vectors.matrix, residuals, &info, inverse}));
  if (nlhs > 1) plhs[1] = finish_output(&vectors);
  if (nlhs > 2) plhs[2] = left;
  if (nlhs > 3) plhs[3] = lanczos_report(&info);
  (void)nrhs;
}

/* info = lanczos_plan(A, k, options, known, solve) */
static void lanczos_plan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]), *known = mxIsEmpty(prhs[3]) ? NULL : matrix_of("known", prhs[3]);
  purlin_matrix *inverse = mxIsEmpty(prhs[4]) ? NULL : matrix_of("solve", prhs[4]);
  purlin_lanczos_info info = fresh_lanczos_info();
  watch w;
  purlin_lanczos_options o = lanczos_options_of(prhs[2], integer_argument("k", prhs[1], 1, INT64_MAX), &w);
  check_watched(&w, purlin_lanczos_plan(solver_of(&o), a, known, inverse, &info));
  plhs[0] = lanczos_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = lanczos_plan_singular(A, k, options) */
static void lanczos_plan_singular(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  purlin_lanczos_info info = fresh_lanczos_info();
  watch w;
  purlin_lanczos_options o = lanczos_options_of(prhs[2], integer_argument("k", prhs[1], 1, INT64_MAX), &w);
  check_watched(&w, purlin_lanczos_plan_singular(solver_of(&o), a, &info));
  plhs[0] = lanczos_report(&info);
  (void)nlhs;
  (void)nrhs;
}

static purlin_status run_tridiagonalize(void *a[]) {
  return purlin_lanczos_tridiagonalize(a[1], NULL, a[0], *(int64_t *)a[2], NULL, a[3], a[4], a[5]);
}

/* [alpha, beta, count] = lanczos_tridiagonalize(A, steps, options): the first `count` of the columns */
static void tridiagonalize(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  int64_t steps = integer_argument("steps", prhs[1], 1, 1 << 20), count = 0;
  watch w;
  purlin_lanczos_options o = lanczos_options_of(prhs[2], 1, &w);
  if (nlhs < 3) fail("internal", "lanczos_tridiagonalize: has 3 results");
  for (int i = 0; i < 2; i++) plhs[i] = mxCreateDoubleMatrix((mwSize)steps, 1, mxREAL);
  check_watched(&w, call_library(&w, run_tridiagonalize,
                                 (void *[]){a, solver_of(&o), &steps, mxGetData(plhs[0]), mxGetData(plhs[1]), &count}));
  plhs[2] = mxCreateDoubleScalar((double)count);
  (void)nrhs;
}

static purlin_status run_singular(void *a[]) {
  return purlin_lanczos_singular_once(gateway_context(), NULL, a[0], a[7], a[1], a[2], a[3], a[4], a[5], a[6]);
}

/* [values, U, V, residuals, info] = lanczos_singular(A, k, options, start, wants_vectors) */
static void singular(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  purlin_matrix_info shape = matrix_properties_of(a);
  int64_t k = integer_argument("k", prhs[1], 1, INT64_MAX), least = shape.rows < shape.cols ? shape.rows : shape.cols;
  purlin_lanczos_info info = fresh_lanczos_info();
  int wants = scalar_argument("vectors", prhs[4]) != 0;
  purlin_tensor *values = NULL, *residuals = NULL, *start = NULL;
  output u = {NULL, NULL, NULL, 0}, v = {NULL, NULL, NULL, 0};
  mxArray *left;
  watch w;
  purlin_lanczos_options o = lanczos_options_of(prhs[2], k, &w);
  if (k > least) fail("invalidArgument", "k: is %.0f, more than %.0f", (double)k, (double)least);
  if (!mxIsEmpty(prhs[3])) start = start_of(prhs[3], shape.dtype, least);
  plhs[0] = new_column(PURLIN_F64, k, &values);
  left = new_column(PURLIN_F64, k, &residuals);
  if (nlhs > 1 && wants) u = new_matrix(shape.dtype, shape.rows, k);
  if (nlhs > 2 && wants) v = new_matrix(shape.dtype, shape.cols, k);
  check_lanczos(&w, call_library(&w, run_singular, (void *[]){a, &o, u.matrix, values, v.matrix, residuals, &info, start}));
  if (nlhs > 1) plhs[1] = wants ? finish_output(&u) : mxCreateDoubleMatrix(0, 0, mxREAL);
  if (nlhs > 2) plhs[2] = wants ? finish_output(&v) : mxCreateDoubleMatrix(0, 0, mxREAL);
  if (nlhs > 3) plhs[3] = left;
  if (nlhs > 4) plhs[4] = lanczos_report(&info);
  (void)nrhs;
}

/* A list of `count` real numbers of class double. */
static const double *numbers_of(const char *name, const mxArray *list, int64_t count) {
  if (!mxIsDouble(list) || mxIsComplex(list) || mxIsSparse(list) || (int64_t)mxGetNumberOfElements(list) != count)
    fail("invalidArgument", "%s: is not a list of %.0f real numbers of class double", name, (double)count);
  return mxGetData(list);
}

/* [values, residuals, copies] = lanczos_cullum_willoughby(alpha, beta, cluster, converged) */
static void cullum_willoughby(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t m = (int64_t)mxGetNumberOfElements(prhs[0]), count = 0;
  const double *alpha = numbers_of("alpha", prhs[0], m), *beta = numbers_of("beta", prhs[1], m);
  purlin_lanczos_accepted *accepted = mxCalloc((size_t)m + 1, sizeof *accepted);
  check(purlin_lanczos_cullum_willoughby(m, alpha, beta, scalar_argument("cluster", prhs[2]),
                                         scalar_argument("converged", prhs[3]), accepted, &count));
  if (nlhs < 3) fail("internal", "lanczos_cullum_willoughby: has 3 results");
  for (int i = 0; i < 3; i++) plhs[i] = mxCreateDoubleMatrix((mwSize)count, 1, mxREAL);
  for (int64_t k = 0; k < count; k++) {
    ((double *)mxGetData(plhs[0]))[k] = accepted[k].value;
    ((double *)mxGetData(plhs[1]))[k] = accepted[k].residual;
    ((double *)mxGetData(plhs[2]))[k] = (double)accepted[k].copies;
  }
  (void)nrhs;
}

/* [values, first, last] = tridiagonal_eigenvalues(diagonal, off) */
static void tridiagonal(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t m = (int64_t)mxGetNumberOfElements(prhs[0]);
  const double *diagonal = numbers_of("diagonal", prhs[0], m);
  const double *off = numbers_of("off", prhs[1], m > 0 ? m - 1 : 0);
  if (nlhs < 3) fail("internal", "tridiagonal_eigenvalues: has 3 results");
  for (int i = 0; i < 3; i++) plhs[i] = mxCreateDoubleMatrix((mwSize)m, 1, mxREAL);
  check(purlin_tridiagonal_eigenvalues(m, diagonal, off, mxGetData(plhs[0]), mxGetData(plhs[1]), mxGetData(plhs[2])));
  (void)nrhs;
}

const command spectra_commands[] = {
  {"lanczos_solve", "A k options start known solve", solve},
  {"lanczos_plan", "A k options known solve", lanczos_plan},
  {"lanczos_plan_singular", "A k options", lanczos_plan_singular},
  {"lanczos_singular", "A k options start wants_vectors", singular},
  {"lanczos_tridiagonalize", "A steps options", tridiagonalize},
  {"lanczos_cullum_willoughby", "alpha beta cluster converged", cullum_willoughby},
  {"tridiagonal_eigenvalues", "diagonal off", tridiagonal},
  {NULL, NULL, NULL},
};
