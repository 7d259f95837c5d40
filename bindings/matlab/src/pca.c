/* Commands of principal component analysis. */
#include "gateway.h"

static purlin_pca *pca_argument(const mxArray *key) { return (purlin_pca *)(uintptr_t)key_argument("pca", key); }

static purlin_pca_info pca_info_of(const purlin_pca *pca) {
  purlin_pca_info info;
  check(purlin_pca_info_init(&info, sizeof info));
  check(purlin_pca_properties(pca, &info));
  return info;
}

static void add_column(mxArray *target, const char *field, const purlin_pca *pca, int64_t count,
                       purlin_status (*getter)(const purlin_pca *, purlin_tensor *)) {
  purlin_tensor *tensor = NULL;
  mxArray *array = new_column(PURLIN_F64, count, &tensor);
  check(getter(pca, tensor));
  (void)mxAddField(target, field);
  mxSetField(target, 0, field, array);
}

static purlin_status run_fit(void *a[]) { return purlin_pca_fit(a[0], NULL, a[1], a[2], a[3], a[4], a[5]); }

/* The options of the model alone. */
static purlin_pca_options model_options(const mxArray *own) {
  purlin_pca_options o;
  check(purlin_pca_options_init(&o, sizeof o));
  READ_PCA_OPTIONS(own, &o);
  return o;
}

/* info = pca_plan(X, k, options, own, with_scores), as of pca_fit */
static void pca_plan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *x = matrix_of("X", prhs[0]);
  int64_t rank = integer_argument("k", prhs[1], 1, INT64_MAX);
  int32_t dtype = computing_dtype(prhs[2], matrix_properties_of(x).dtype);
  int with_scores = is_true("with_scores", prhs[4]);
  purlin_pca_options o = model_options(prhs[3]);
  purlin_rsvd_info info;
  watch w;
  purlin_rsvd *rsvd = session_of("k", prhs[2], rank, dtype, &w);
  check(purlin_rsvd_info_init(&info, sizeof info));
  check(purlin_pca_plan(rsvd, x, &o, with_scores, &info));
  plhs[0] = rsvd_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* [key, scores, info] = pca_fit(X, k, options, own, wanted): `options` are the decomposition's, `own` the model's, as both have
   a `center` and a `scale` of different types. */
static void pca_fit(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *x = matrix_of("X", prhs[0]);
  purlin_matrix_info shape = matrix_properties_of(x);
  int64_t rank = integer_argument("k", prhs[1], 1, INT64_MAX);
  int32_t dtype = computing_dtype(prhs[2], shape.dtype);
  purlin_rsvd_info info;
  purlin_pca_options o = model_options(prhs[3]);
  purlin_pca *made = NULL;
  output scores = {NULL, NULL, NULL, 0};
  int wanted = is_true("wanted", prhs[4]), by_columns;
  watch w;
  purlin_rsvd *rsvd;
  check(purlin_rsvd_info_init(&info, sizeof info));
  by_columns = o.samples == PURLIN_PCA_SAMPLES_COLUMNS;
  rsvd = session_of("k", prhs[2], rank, dtype, &w);
  if (wanted) scores = by_columns ? new_matrix(dtype, rank, shape.cols) : new_matrix(dtype, shape.rows, rank);
  check_watched(&w, call_library(&w, run_fit, (void *[]){rsvd, x, &o, scores.matrix, &made, &info}));
  plhs[0] = key_of(made);
  if (nlhs > 1) plhs[1] = wanted ? finish_output(&scores) : mxCreateDoubleMatrix(0, 0, mxREAL);
  if (nlhs > 2) plhs[2] = rsvd_report(&info);
  (void)nrhs;
}

/* model = pca_properties(key): numbers, and the arrays of a fit */
static void pca_properties(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_pca *pca = pca_argument(prhs[0]);
  purlin_pca_info i = pca_info_of(pca);
  output mean, components;
  purlin_tensor *means = NULL;
  mxArray *s = mxCreateStructMatrix(1, 1, 0, NULL);
  plhs[0] = s;
  REPORT_PCA_INFO(s, &i);
  add_column(s, "scale", pca, i.features, purlin_pca_scale);
  add_column(s, "constant", pca, i.features, purlin_pca_constant);
  add_column(s, "singular_values", pca, i.rank, purlin_pca_singular_values);
  add_column(s, "explained_variance", pca, i.rank, purlin_pca_explained_variance);
  add_column(s, "explained_variance_ratio", pca, i.rank, purlin_pca_explained_variance_ratio);
  mean = new_matrix(i.dtype, i.features, 1);
  check(purlin_tensor_borrow(gateway_context(), i.dtype, 0, 1, &i.features, NULL, mean.space, &means));
  check(purlin_pca_mean(pca, temporary(means)));
  (void)mxAddField(s, "mean");
  mxSetField(s, 0, "mean", finish_output(&mean));
  components = new_matrix(i.dtype, i.features, i.rank);
  check(purlin_pca_components(pca, NULL, components.matrix));
  (void)mxAddField(s, "components");
  mxSetField(s, 0, "components", finish_output(&components));
  (void)nlhs;
  (void)nrhs;
}

static purlin_status run_transform(void *a[]) { return purlin_pca_transform(a[0], NULL, a[1], a[2], NULL); }

/* scores = pca_transform(key, X) */
static void pca_transform(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_pca *pca = pca_argument(prhs[0]);
  purlin_pca_info i = pca_info_of(pca);
  purlin_matrix *x = matrix_of("X", prhs[1]);
  purlin_matrix_info shape = matrix_properties_of(x);
  watch w = {NULL, NULL, NULL};
  output scores = i.samples == PURLIN_PCA_SAMPLES_COLUMNS ? new_matrix(i.dtype, i.rank, shape.cols)
                                                          : new_matrix(i.dtype, shape.rows, i.rank);
  check_watched(&w, call_library(&w, run_transform, (void *[]){pca, x, scores.matrix}));
  plhs[0] = finish_output(&scores);
  (void)nlhs;
  (void)nrhs;
}

/* X = pca_inverse(key, scores) */
static void pca_inverse(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_pca *pca = pca_argument(prhs[0]);
  purlin_pca_info i = pca_info_of(pca);
  purlin_matrix *scores = matrix_of("scores", prhs[1]);
  purlin_matrix_info shape = matrix_properties_of(scores);
  output x = i.samples == PURLIN_PCA_SAMPLES_COLUMNS ? new_matrix(i.dtype, i.features, shape.cols)
                                                     : new_matrix(i.dtype, shape.rows, i.features);
  check(purlin_pca_inverse_transform(pca, NULL, scores, x.matrix));
  plhs[0] = finish_output(&x);
  (void)nlhs;
  (void)nrhs;
}

static void pca_destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_pca_destroy(pca_argument(prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

const command pca_commands[] = {
  {"pca_plan", "X k options own with_scores", pca_plan},
  {"pca_fit", "X k options own wanted", pca_fit},
  {"pca_properties", "key", pca_properties},
  {"pca_transform", "key X", pca_transform},
  {"pca_inverse", "key scores", pca_inverse},
  {"pca_destroy", "key", pca_destroy},
  {NULL, NULL, NULL},
};
