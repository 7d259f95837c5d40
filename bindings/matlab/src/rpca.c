/* Commands of robust PCA. */
#include "gateway.h"

/* An object for one command, which ends with it. */
static purlin_rpca *object_of(const mxArray *options, int32_t dtype, watch *w) {
  purlin_rpca_options o;
  purlin_rpca *made = NULL;
  check(purlin_rpca_options_init(&o, sizeof o));
  o.dtype = dtype;
  READ_RPCA_OPTIONS(options, &o);
  o.group = read_group(options);
  watch_from(options, w, &o.progress, &o.progress_user);
  check(purlin_rpca_create(gateway_context(), &o, &made));
  return temporary_rpca(made);
}

static purlin_rpca_info fresh_info(void) {
  purlin_rpca_info info;
  check(purlin_rpca_info_init(&info, sizeof info));
  return info;
}

static mxArray *report_of(const purlin_rpca_info *i) {
  mxArray *s = mxCreateStructMatrix(1, 1, 0, NULL);
  REPORT_RPCA_INFO(s, i);
  return s;
}

/* The last iterate is a result; whoever calls looks at `converged`. */
static void check_run(const watch *w, purlin_status status) {
  check_watched(w, status == PURLIN_ERROR_NO_CONVERGENCE ? PURLIN_SUCCESS : status);
}

static purlin_matrix *mask_of(const mxArray *mask) { return mxIsEmpty(mask) ? NULL : matrix_of("mask", mask); }

static purlin_status run_compute(void *a[]) { return purlin_rpca_compute(a[0], NULL, a[1], a[2], a[3], a[4], a[5]); }

static purlin_status run_compute_csr(void *a[]) {
  return purlin_rpca_compute_csr(a[0], NULL, a[1], a[2], a[3], a[4], a[5]);
}

static purlin_status run_compute_to_sinks(void *a[]) {
  return purlin_rpca_compute_to_sinks(a[0], NULL, a[1], a[2], a[3], a[4], a[5]);
}

/* [L, S, info] = rpca_compute(M, mask, options) */
static void compute(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *m = matrix_of("M", prhs[0]), *mask = mask_of(prhs[1]);
  purlin_matrix_info shape = matrix_properties_of(m);
  int32_t dtype = computing_dtype(prhs[2], shape.dtype);
  purlin_rpca_info info = fresh_info();
  watch w;
  purlin_rpca *rpca = object_of(prhs[2], dtype, &w);
  output low = new_matrix(dtype, shape.rows, shape.cols), rest = {NULL, NULL, NULL, 0};
  if (nlhs > 1) rest = new_matrix(dtype, shape.rows, shape.cols);
  check_run(&w, call_library(&w, run_compute, (void *[]){rpca, m, mask, low.matrix, rest.matrix, &info}));
  plhs[0] = finish_output(&low);
  if (nlhs > 1) plhs[1] = finish_output(&rest);
  if (nlhs > 2) plhs[2] = report_of(&info);
  (void)nrhs;
}

/* [i, j, values, rows, cols, L, info] = rpca_compute_csr(M, mask, options) */
static void compute_csr(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *m = matrix_of("M", prhs[0]), *mask = mask_of(prhs[1]), *sparse = NULL;
  purlin_matrix_info shape = matrix_properties_of(m);
  int32_t dtype = computing_dtype(prhs[2], shape.dtype);
  purlin_rpca_info info = fresh_info();
  watch w;
  purlin_rpca *rpca = object_of(prhs[2], dtype, &w);
  output low = new_matrix(dtype, shape.rows, shape.cols);
  purlin_status status =
    call_library(&w, run_compute_csr, (void *[]){rpca, m, mask, low.matrix, &sparse, &info});
  if (sparse) (void)temporary_matrix(sparse);
  check_run(&w, status);
  if (nlhs < 7) fail("internal", "rpca_compute_csr: has 7 results");
  gather_rows(sparse, plhs);
  plhs[5] = finish_output(&low);
  plhs[6] = report_of(&info);
  (void)nrhs;
}

/* info = rpca_compute_to_sinks(M, mask, options, low_rank, sparse): the last two are files, or empty */
static void compute_to_sinks(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *m = matrix_of("M", prhs[0]), *mask = mask_of(prhs[1]);
  purlin_matrix_info shape = matrix_properties_of(m);
  int by_rows = (shape.flags & PURLIN_ROW_MAJOR) != 0;
  const int64_t dims[2] = {by_rows ? shape.cols : shape.rows, by_rows ? shape.rows : shape.cols};
  purlin_rpca_info info = fresh_info();
  watch w;
  purlin_rpca *rpca = object_of(prhs[2], computing_dtype(prhs[2], shape.dtype), &w);
  purlin_sink *low = mxIsEmpty(prhs[3]) ? NULL : sink_of("low_rank", prhs[3], 2, dims, NULL, NULL);
  purlin_sink *rest = mxIsEmpty(prhs[4]) ? NULL : sink_of("sparse", prhs[4], 2, dims, NULL, NULL);
  check_run(&w, call_library(&w, run_compute_to_sinks, (void *[]){rpca, m, mask, low, rest, &info}));
  plhs[0] = report_of(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = rpca_plan(M, mask, options) */
static void plan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *m = matrix_of("M", prhs[0]), *mask = mask_of(prhs[1]);
  purlin_rpca_info info = fresh_info();
  watch w;
  purlin_rpca *rpca = object_of(prhs[2], computing_dtype(prhs[2], matrix_properties_of(m).dtype), &w);
  check(purlin_rpca_plan(rpca, m, mask, &info));
  plhs[0] = report_of(&info);
  (void)nlhs;
  (void)nrhs;
}

const command rpca_commands[] = {
  {"rpca_compute", "M mask options", compute},
  {"rpca_compute_csr", "M mask options", compute_csr},
  {"rpca_compute_to_sinks", "M mask options low_rank sparse", compute_to_sinks},
  {"rpca_plan", "M mask options", plan},
  {NULL, NULL, NULL},
};
