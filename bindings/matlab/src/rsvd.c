/* Commands of randomized SVD. Each decomposition has a session of its own, which ends with the command. */
#include <string.h>

#include "gateway.h"

static int32_t real_of(int32_t dtype) { return dtype == PURLIN_F64 || dtype == PURLIN_CF64 ? PURLIN_F64 : PURLIN_F32; }

mxArray *new_column(int32_t dtype, int64_t count, purlin_tensor **tensor) {
  mxArray *array = mxCreateNumericMatrix((mwSize)count, 1, class_of(dtype), mxREAL);
  *tensor = around(array, 1, &count);
  return array;
}

static purlin_tensor *borrow_column(const char *name, const mxArray *array) {
  int64_t count = (int64_t)mxGetNumberOfElements(array);
  name_capital(name);
  return borrow_array(name, array, real_dtype(name, array), 1, &count);
}

purlin_rsvd *session_of(const char *name, const mxArray *options, int64_t rank, int32_t dtype, watch *w) {
  purlin_rsvd_options o;
  purlin_rsvd *made = NULL;
  const mxArray *path = option(options, "restart_path"), *omega = option(options, "omega");
  name_argument("rank", name);
  check(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = rank;
  o.dtype = dtype;
  READ_RSVD_OPTIONS(options, &o);
  o.group = read_group(options);
  if (path) {
    o.restart_path = text_of("restart_path", path);
  }
  watch_from(options, w, &o.progress, &o.progress_user);
  check(purlin_rsvd_create(gateway_context(), &o, &made));
  (void)temporary_rsvd(made);
  if (omega) check(purlin_rsvd_set_sketch(made, matrix_of("omega", omega)));
  return made;
}

static purlin_rsvd_info fresh_info(void) {
  purlin_rsvd_info info;
  check(purlin_rsvd_info_init(&info, sizeof info));
  return info;
}

mxArray *rsvd_report(const purlin_rsvd_info *i) {
  mxArray *s = mxCreateStructMatrix(1, 1, 0, NULL);
  REPORT_RSVD_INFO(s, i);
  add_word(s, "dtype", precisions, real_of(i->dtype));
  return s;
}

/* Triplets that a call finds: the rank, or with a tolerance as many as there may be. */
static int64_t width_of(const mxArray *options, int64_t rank, int64_t rows, int64_t cols) {
  int64_t least = rows < cols ? rows : cols, most = 0;
  double tolerance = 0;
  read_double(options, "tolerance", &tolerance);
  read_int64(options, "max_rank", &most);
  if (!(tolerance > 0)) return rank;
  return most > 0 && most < least ? most : least;
}

static purlin_status run_compute(void *a[]) { return purlin_rsvd_compute(a[0], NULL, a[1], a[2], a[3], a[4], a[5]); }

/* [s, U, V, info] = rsvd_compute(A, k, options, left, right) */
static void compute(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  purlin_matrix_info shape = matrix_properties_of(a);
  int64_t rank = integer_argument("k", prhs[1], 0, INT64_MAX);
  int64_t width = width_of(prhs[2], rank, shape.rows, shape.cols);
  int32_t dtype = computing_dtype(prhs[2], shape.dtype);
  int left = is_true("left", prhs[3]), right = is_true("right", prhs[4]);
  purlin_rsvd_info info = fresh_info();
  purlin_tensor *values = NULL;
  output u = {NULL, NULL, NULL, 0}, v = {NULL, NULL, NULL, 0};
  purlin_status status;
  watch w;
  purlin_rsvd *rsvd = session_of("k", prhs[2], rank, dtype, &w);
  plhs[0] = new_column(real_of(dtype), width, &values);
  if (left) u = new_matrix(dtype, shape.rows, width);
  if (right) v = new_matrix(dtype, shape.cols, width);
  status = call_library(&w, run_compute, (void *[]){rsvd, a, u.matrix, values, v.matrix, &info});
  /* Triplets that do not meet a tolerance are a result; whoever calls looks at `converged`. */
  check_watched(&w, status == PURLIN_ERROR_NO_CONVERGENCE ? PURLIN_SUCCESS : status);
  if (nlhs > 1) plhs[1] = left ? finish_output(&u) : mxCreateDoubleMatrix(0, 0, mxREAL);
  if (nlhs > 2) plhs[2] = right ? finish_output(&v) : mxCreateDoubleMatrix(0, 0, mxREAL);
  if (nlhs > 3) plhs[3] = rsvd_report(&info);
  (void)nrhs;
}

/* info = rsvd_plan(A, k, options, with_u, with_v) */
static void plan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  purlin_rsvd_info info = fresh_info();
  watch w;
  int32_t dtype = computing_dtype(prhs[2], matrix_properties_of(a).dtype);
  purlin_rsvd *rsvd = session_of("k", prhs[2], integer_argument("k", prhs[1], 0, INT64_MAX), dtype, &w);
  check(purlin_rsvd_plan(rsvd, a, is_true("with_u", prhs[3]), is_true("with_v", prhs[4]), &info));
  plhs[0] = rsvd_report(&info);
  (void)nlhs;
  (void)nrhs;
}

static purlin_status run_range(void *a[]) { return purlin_rsvd_range(a[0], NULL, a[1], a[2], a[3], a[4]); }

/* [Q, B, info] = rsvd_range(A, columns, options) */
static void range(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  purlin_matrix_info shape = matrix_properties_of(a);
  int64_t columns = integer_argument("columns", prhs[1], 1, INT64_MAX), most = shape.rows < shape.cols ? shape.rows : shape.cols;
  int32_t dtype = computing_dtype(prhs[2], shape.dtype);
  purlin_rsvd_info info = fresh_info();
  output q, b = {NULL, NULL, NULL, 0};
  watch w;
  if (columns > most)
    fail("invalidArgument", "columns: is %.0f, more than min(m, n) = %.0f", (double)columns, (double)most);
  purlin_rsvd *rsvd = session_of("columns", prhs[2], columns, dtype, &w);
  q = new_matrix(dtype, shape.rows, columns);
  if (nlhs > 1) b = new_matrix(dtype, columns, shape.cols);
  check_watched(&w, call_library(&w, run_range, (void *[]){rsvd, a, q.matrix, b.matrix, &info}));
  plhs[0] = finish_output(&q);
  if (nlhs > 1) plhs[1] = finish_output(&b);
  if (nlhs > 2) plhs[2] = rsvd_report(&info);
  (void)nrhs;
}

static purlin_status run_symmetric(void *a[]) { return purlin_rsvd_symmetric(a[0], NULL, a[1], a[2], a[3], a[4]); }

/* [lambda, V, info] = rsvd_symmetric(A, k, options) */
static void symmetric(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  purlin_matrix_info shape = matrix_properties_of(a);
  int64_t rank = integer_argument("k", prhs[1], 1, INT64_MAX);
  int32_t dtype = computing_dtype(prhs[2], shape.dtype);
  purlin_rsvd_info info = fresh_info();
  purlin_tensor *values = NULL;
  output v = {NULL, NULL, NULL, 0};
  watch w;
  purlin_rsvd *rsvd = session_of("k", prhs[2], rank, dtype, &w);
  plhs[0] = new_column(real_of(dtype), rank, &values);
  if (nlhs > 1) v = new_matrix(dtype, shape.rows, rank);
  check_watched(&w, call_library(&w, run_symmetric, (void *[]){rsvd, a, values, v.matrix, &info}));
  if (nlhs > 1) plhs[1] = finish_output(&v);
  if (nlhs > 2) plhs[2] = rsvd_report(&info);
  (void)nrhs;
}

static purlin_status run_error(void *a[]) {
  return purlin_rsvd_error(a[0], NULL, a[1], a[2], a[3], a[4], a[5], a[6], NULL);
}

/* [frobenius, spectral] = rsvd_error(A, U, s, V, options) */
static void error_of(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]), *u = matrix_of("U", prhs[1]), *v = matrix_of("V", prhs[3]);
  purlin_tensor *s = borrow_column("S", prhs[2]);
  double frobenius = 0, spectral = 0;
  watch w;
  int32_t dtype = computing_dtype(prhs[4], matrix_properties_of(a).dtype);
  purlin_rsvd *rsvd = session_of("S", prhs[4], (int64_t)mxGetNumberOfElements(prhs[2]), dtype, &w);
  check_watched(&w, call_library(&w, run_error, (void *[]){rsvd, a, u, s, v, &frobenius, &spectral}));
  plhs[0] = mxCreateDoubleScalar(frobenius);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar(spectral);
  (void)nrhs;
}

static purlin_status run_residuals(void *a[]) {
  return purlin_rsvd_residuals(a[0], NULL, a[1], a[2], a[3], a[4], a[5], a[6], NULL);
}

/* [left, right] = rsvd_residuals(A, U, s, V, options) */
static void residuals(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]), *u = matrix_of("U", prhs[1]), *v = matrix_of("V", prhs[3]);
  purlin_tensor *s = borrow_column("S", prhs[2]), *left = NULL, *right = NULL;
  int64_t count = (int64_t)mxGetNumberOfElements(prhs[2]);
  mxArray *second;
  watch w;
  int32_t dtype = computing_dtype(prhs[4], matrix_properties_of(a).dtype);
  purlin_rsvd *rsvd = session_of("S", prhs[4], count, dtype, &w);
  plhs[0] = new_column(PURLIN_F64, count, &left);
  second = new_column(PURLIN_F64, count, &right);
  check_watched(&w, call_library(&w, run_residuals, (void *[]){rsvd, a, u, s, v, left, right}));
  if (nlhs > 1) plhs[1] = second;
  (void)nrhs;
}

/* omega = rsvd_sketch(rows, columns, options) */
static void sketch(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_rsvd_options o;
  purlin_rsvd *rsvd = NULL;
  int32_t dtype = PURLIN_F64;
  output omega;
  check(purlin_rsvd_options_init(&o, sizeof o));
  read_choice(prhs[2], "dtype", precisions, &dtype);
  read_choice(prhs[2], "sketch", sketch_words, &o.sketch);
  read_seed(prhs[2], "seed", &o.seed);
  omega = new_matrix(dtype, integer_argument("rows", prhs[0], 0, INT64_MAX),
                     integer_argument("columns", prhs[1], 0, INT64_MAX));
  check(purlin_rsvd_create(gateway_context(), &o, &rsvd));
  check(purlin_rsvd_sketch(temporary_rsvd(rsvd), NULL, omega.matrix));
  plhs[0] = finish_output(&omega);
  (void)nlhs;
  (void)nrhs;
}

const command rsvd_commands[] = {
  {"rsvd_compute", "A k options left right", compute},
  {"rsvd_plan", "A k options with_u with_v", plan},
  {"rsvd_range", "A columns options", range},
  {"rsvd_symmetric", "A k options", symmetric},
  {"rsvd_error", "A U S V options", error_of},
  {"rsvd_residuals", "A U S V options", residuals},
  {"rsvd_sketch", "rows columns options", sketch},
  {NULL, NULL, NULL},
};
