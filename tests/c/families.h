/* One call of each family, with everything that it needs: for tests that take memory, threads or time away from the library.
   Each function creates its objects, calls, destroys whatever was created, and returns the first status that is not a success. */
#ifndef PURLIN_TESTS_FAMILIES_H
#define PURLIN_TESTS_FAMILIES_H

#include <math.h>
#include <unistd.h>

#include "check.h"

/* The message of the first call that failed; those that destroy objects afterwards clear the library's own. */
static char family_message[1024];

static inline purlin_status family_noted(purlin_status status) {
  if (status != PURLIN_SUCCESS) snprintf(family_message, sizeof family_message, "%s", purlin_last_error_message());
  return status;
}

/* Makes a call unless an earlier one has failed. */
#define THEN(call) (status = status == PURLIN_SUCCESS ? family_noted(call) : status)
/* Destroys an object, which is harmless for NULL, and cannot fail. */
#define GONE(call) \
  do             \
    if ((call) != PURLIN_SUCCESS && status == PURLIN_SUCCESS) status = PURLIN_ERROR_INTERNAL; \
  while (0)

/* Input and output of all calls. It is in the program's own memory, so that only the library allocates. */
static double family_input[200 * 100];
static double family_output[4][200 * 100];
static float family_projections[32 * 24 * 60], family_volume[24 * 24 * 24];

static inline void family_inputs(void) {
  uint64_t state = 3;
  size_t k;
  for (k = 0; k < COUNT(family_input); k++) family_input[k] = (double)(draw(&state) >> 11) / 9007199254740992.0;
  for (k = 0; k < COUNT(family_projections); k++) family_projections[k] = (float)family_input[k % COUNT(family_input)];
}

/* Whether a call returned the status of an undisturbed run. A GPU need not support every call here. */
static inline int family_is_usual(purlin_status status) {
  return status == PURLIN_SUCCESS || (status == PURLIN_ERROR_NOT_SUPPORTED && test_backend() != PURLIN_BACKEND_CPU);
}

static inline purlin_status family_context(purlin_context **context) {
  purlin_status status = PURLIN_SUCCESS;
  purlin_context_options o;
  *context = NULL;
  THEN(purlin_context_options_init(&o, sizeof o));
  o.backend = test_backend();
  o.threads = 2;
  return THEN(purlin_context_create(&o, context));
}

static inline purlin_status family_matrix(purlin_context *context, int64_t rows, int64_t cols, double *data,
                                          purlin_matrix **matrix) {
  return purlin_matrix_borrow(context, PURLIN_F64, 0, rows, cols, rows, data, matrix);
}

static inline purlin_status family_vector(purlin_context *context, int64_t n, double *data, purlin_tensor **tensor) {
  return purlin_tensor_borrow(context, PURLIN_F64, 0, 1, &n, NULL, data, tensor);
}

/* Eigenpairs of 40 symmetric tensors of order 4 and dimension 3. */
static inline purlin_status family_sshopm(void) {
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_tensor *a = NULL, *values = NULL;
  purlin_sshopm_options o;
  purlin_sshopm_results r;
  int64_t dims[2] = {4, 40};
  THEN(purlin_sshopm_options_init(&o, sizeof o));
  THEN(purlin_sshopm_results_init(&r, sizeof r));
  THEN(purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, 40, 0, 0, family_input, &a));
  THEN(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, dims, NULL, family_output[0], &values));
  r.values = values;
  THEN(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));
  GONE(purlin_tensor_destroy(values));
  GONE(purlin_tensor_destroy(a));
  GONE(purlin_context_destroy(context));
  return status;
}

/* All eigenpairs of two such tensors, with their Morse sums. */
static inline purlin_status family_sshopm_all(void) {
  static int32_t counts[2], sums[2];
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_tensor *a = NULL, *values = NULL, *count = NULL, *morse = NULL;
  purlin_sshopm_results r;
  int64_t dims[2] = {20, 2}, two = 2;
  THEN(purlin_sshopm_results_init(&r, sizeof r));
  THEN(purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, 2, 0, 0, family_input, &a));
  THEN(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, dims, NULL, family_output[0], &values));
  THEN(purlin_tensor_borrow(context, PURLIN_I32, 0, 1, &two, NULL, counts, &count));
  THEN(purlin_tensor_borrow(context, PURLIN_I32, 0, 1, &two, NULL, sums, &morse));
  r.values = values;
  r.count = count;
  THEN(purlin_sshopm_solve_all_once(context, NULL, a, NULL, &r, morse, NULL, NULL));
  GONE(purlin_tensor_destroy(morse));
  GONE(purlin_tensor_destroy(count));
  GONE(purlin_tensor_destroy(values));
  GONE(purlin_tensor_destroy(a));
  GONE(purlin_context_destroy(context));
  return status;
}

/* Three peaks of each of 20 orientation functions. */
static inline purlin_status family_peaks(void) {
  enum { VOXELS = 20, PEAKS = 3 };
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_tensor *a = NULL, *peaks = NULL;
  int64_t dims[3] = {4, PEAKS, VOXELS};
  THEN(purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, VOXELS, 0, 0, family_input, &a));
  THEN(purlin_tensor_borrow(context, PURLIN_F64, 0, 3, dims, NULL, family_output[0], &peaks));
  THEN(purlin_dwi_peaks_once(context, NULL, a, NULL, NULL, peaks, NULL, NULL, NULL));
  GONE(purlin_tensor_destroy(peaks));
  GONE(purlin_tensor_destroy(a));
  GONE(purlin_context_destroy(context));
  return status;
}

/* Diffusion tensors of 50 voxels and 20 directions. */
static inline purlin_status family_dwi(void) {
  enum { DIRECTIONS = 20, VOXELS = 50 };
  static double bvals[DIRECTIONS], bvecs[3 * DIRECTIONS];
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_tensor *signals = NULL, *b = NULL, *g = NULL, *d = NULL;
  purlin_dwi_options o;
  int64_t dims[2] = {DIRECTIONS, VOXELS}, directions[2] = {3, DIRECTIONS};
  int k;
  for (k = 0; k < DIRECTIONS; k++) {
    double z = (k + 0.5) / DIRECTIONS, r = sqrt(1 - z * z);
    bvals[k] = k == 0 ? 0 : 1000;
    bvecs[3 * k] = r * cos(2.4 * k), bvecs[3 * k + 1] = r * sin(2.4 * k), bvecs[3 * k + 2] = z;
  }
  THEN(purlin_dwi_options_init(&o, sizeof o));
  THEN(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, dims, NULL, family_input, &signals));
  THEN(family_vector(context, DIRECTIONS, bvals, &b));
  THEN(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, directions, NULL, bvecs, &g));
  THEN(purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 2, 3, VOXELS, 0, 0, family_output[0], &d));
  THEN(purlin_dwi_fit_once(context, NULL, signals, b, g, NULL, NULL, &o, d, NULL, NULL, NULL));
  GONE(purlin_tensor_destroy(d));
  GONE(purlin_tensor_destroy(g));
  GONE(purlin_tensor_destroy(b));
  GONE(purlin_tensor_destroy(signals));
  GONE(purlin_context_destroy(context));
  return status;
}

/* A reconstruction of 24^3 voxels. */
static inline purlin_status family_fdk_of(purlin_context *context, int64_t columns, int64_t rows, int64_t views,
                                          purlin_fdk **fdk) {
  enum { MOST_VIEWS = 60, N = 24 };
  static double angles[MOST_VIEWS];
  purlin_status status = PURLIN_SUCCESS;
  purlin_fdk_geometry g;
  purlin_fdk_grid grid;
  int k;
  for (k = 0; k < views; k++) angles[k] = 6.283185307179586 * k / (double)views;
  THEN(purlin_fdk_geometry_init(&g, sizeof g));
  THEN(purlin_fdk_grid_init(&grid, sizeof grid));
  g.source_to_axis = 500, g.source_to_detector = 1000;
  g.column_pitch = g.row_pitch = 4;
  g.detector_columns = columns, g.detector_rows = rows, g.views = views, g.angles = angles;
  grid.nx = grid.ny = grid.nz = N;
  grid.dx = grid.dy = grid.dz = 1.5;
  grid.x0 = grid.y0 = grid.z0 = -1.5 * (N - 1) / 2;
  return THEN(purlin_fdk_create(context, &g, &grid, NULL, fdk));
}

/* A volume from 60 views. */
static inline purlin_status family_fdk(void) {
  enum { COLUMNS = 32, ROWS = 24, VIEWS = 60, N = 24 };
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_tensor *projections = NULL, *volume = NULL;
  purlin_fdk *fdk = NULL;
  int64_t panel[3] = {COLUMNS, ROWS, VIEWS}, cube[3] = {N, N, N};
  THEN(purlin_tensor_borrow(context, PURLIN_F32, 0, 3, panel, NULL, family_projections, &projections));
  THEN(purlin_tensor_borrow(context, PURLIN_F32, 0, 3, cube, NULL, family_volume, &volume));
  THEN(family_fdk_of(context, COLUMNS, ROWS, VIEWS, &fdk));
  THEN(purlin_fdk_reconstruct(fdk, NULL, projections, volume, NULL));
  GONE(purlin_fdk_destroy(fdk));
  GONE(purlin_tensor_destroy(volume));
  GONE(purlin_tensor_destroy(projections));
  GONE(purlin_context_destroy(context));
  return status;
}

static inline purlin_status family_low_rank(purlin_context *context, purlin_rsvd **rsvd, purlin_matrix **a) {
  purlin_status status = PURLIN_SUCCESS;
  purlin_rsvd_options o;
  THEN(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = 5;
  THEN(purlin_rsvd_create(context, &o, rsvd));
  return THEN(family_matrix(context, 200, 100, family_input, a));
}

/* Five singular triplets of a 200 x 100 matrix. */
static inline purlin_status family_rsvd(void) {
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_rsvd *rsvd = NULL;
  purlin_matrix *a = NULL, *u = NULL, *v = NULL;
  purlin_tensor *s = NULL;
  THEN(family_low_rank(context, &rsvd, &a));
  THEN(family_matrix(context, 200, 5, family_output[0], &u));
  THEN(family_matrix(context, 100, 5, family_output[1], &v));
  THEN(family_vector(context, 5, family_output[2], &s));
  THEN(purlin_rsvd_compute(rsvd, NULL, a, u, s, v, NULL));
  GONE(purlin_tensor_destroy(s));
  GONE(purlin_matrix_destroy(v));
  GONE(purlin_matrix_destroy(u));
  GONE(purlin_matrix_destroy(a));
  GONE(purlin_rsvd_destroy(rsvd));
  GONE(purlin_context_destroy(context));
  return status;
}

/* Five principal components. */
static inline purlin_status family_pca(void) {
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_rsvd *rsvd = NULL;
  purlin_matrix *a = NULL;
  purlin_pca *pca = NULL;
  THEN(family_low_rank(context, &rsvd, &a));
  THEN(purlin_pca_fit(rsvd, NULL, a, NULL, NULL, &pca, NULL));
  GONE(purlin_pca_destroy(pca));
  GONE(purlin_matrix_destroy(a));
  GONE(purlin_rsvd_destroy(rsvd));
  GONE(purlin_context_destroy(context));
  return status;
}

/* A matrix as low rank plus sparse. */
static inline purlin_status family_rpca(void) {
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_matrix *m = NULL, *low = NULL, *sparse = NULL;
  purlin_rpca_options o;
  THEN(purlin_rpca_options_init(&o, sizeof o));
  THEN(family_matrix(context, 60, 40, family_input, &m));
  THEN(family_matrix(context, 60, 40, family_output[0], &low));
  THEN(family_matrix(context, 60, 40, family_output[1], &sparse));
  THEN(purlin_rpca_compute_once(context, NULL, m, NULL, &o, low, sparse, NULL));
  GONE(purlin_matrix_destroy(sparse));
  GONE(purlin_matrix_destroy(low));
  GONE(purlin_matrix_destroy(m));
  GONE(purlin_context_destroy(context));
  return status == PURLIN_ERROR_NO_CONVERGENCE ? PURLIN_SUCCESS : status;
}

/* The path of 300 vertices, as a sparse matrix. */
static inline purlin_status family_graph_of(purlin_context *context, purlin_matrix **graph) {
  enum { N = 300 };
  static int64_t row[2 * N], col[2 * N];
  static double ones[2 * N];
  int64_t i, k = 0;
  for (i = 0; i + 1 < N; i++) {
    row[k] = i, col[k] = i + 1, ones[k++] = 1;
    row[k] = i + 1, col[k] = i, ones[k++] = 1;
  }
  return purlin_matrix_from_coordinates(context, PURLIN_F64, 0, N, N, k, PURLIN_I64, row, col, ones,
                                        PURLIN_DUPLICATES_SUM, graph);
}

/* Three eigenpairs of a sparse matrix. */
static inline purlin_status family_spectra(void) {
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_matrix *graph = NULL, *vectors = NULL;
  purlin_tensor *values = NULL;
  purlin_lanczos_options o;
  THEN(purlin_lanczos_options_init(&o, sizeof o));
  THEN(family_graph_of(context, &graph));
  THEN(family_vector(context, 3, family_output[0], &values));
  THEN(family_matrix(context, 300, 3, family_output[1], &vectors));
  o.count = 3;
  o.tolerance = 1e-6;
  THEN(purlin_lanczos_solve_once(context, NULL, graph, NULL, NULL, NULL, &o, values, vectors, NULL, NULL));
  GONE(purlin_matrix_destroy(vectors));
  GONE(purlin_tensor_destroy(values));
  GONE(purlin_matrix_destroy(graph));
  GONE(purlin_context_destroy(context));
  return status == PURLIN_ERROR_NO_CONVERGENCE ? PURLIN_SUCCESS : status;
}

/* Three singular triplets of the same matrix. */
static inline purlin_status family_singular(void) {
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_matrix *graph = NULL, *u = NULL, *v = NULL;
  purlin_tensor *values = NULL;
  purlin_lanczos_options o;
  THEN(purlin_lanczos_options_init(&o, sizeof o));
  o.count = 3;
  o.tolerance = 1e-4;
  THEN(family_graph_of(context, &graph));
  THEN(family_matrix(context, 300, 3, family_output[0], &u));
  THEN(family_vector(context, 3, family_output[1], &values));
  THEN(family_matrix(context, 300, 3, family_output[2], &v));
  THEN(purlin_lanczos_singular_once(context, NULL, graph, NULL, &o, u, values, v, NULL, NULL));
  GONE(purlin_matrix_destroy(v));
  GONE(purlin_tensor_destroy(values));
  GONE(purlin_matrix_destroy(u));
  GONE(purlin_matrix_destroy(graph));
  GONE(purlin_context_destroy(context));
  return status == PURLIN_ERROR_NO_CONVERGENCE ? PURLIN_SUCCESS : status;
}

/* Clusters of an image of 12 x 10 pixels, and its bisection. */
static inline purlin_status family_graph(void) {
  enum { N = 120 };
  static int64_t clusters[N], halves[N];
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_tensor *labels = NULL, *vector = NULL, *sides = NULL;
  purlin_matrix *image = NULL, *graph = NULL;
  purlin_lanczos *two = NULL, *three = NULL;
  purlin_lanczos_options o;
  int64_t n = N;
  THEN(purlin_lanczos_options_init(&o, sizeof o));
  o.tolerance = 1e-3;
  THEN(family_matrix(context, 12, 10, family_input, &image));
  THEN(purlin_graph_of_image(context, image, 1, 0.3, 5, 1e-3, &graph));
  THEN(family_vector(context, N, family_output[0], &vector));
  THEN(purlin_tensor_borrow(context, PURLIN_I64, 0, 1, &n, NULL, clusters, &labels));
  THEN(purlin_tensor_borrow(context, PURLIN_I64, 0, 1, &n, NULL, halves, &sides));
  THEN(purlin_lanczos_create(context, &o, &two));
  THEN(purlin_graph_fiedler(two, NULL, graph, 1, NULL, vector, NULL));
  THEN(purlin_graph_bisect(graph, vector, PURLIN_GRAPH_CUT_SWEEP, sides, NULL, NULL));
  o.count = 3;
  THEN(purlin_lanczos_create(context, &o, &three));
  THEN(purlin_graph_cluster(three, NULL, graph, PURLIN_GRAPH_LABELS_K_MEANS, 2, labels, NULL, NULL));
  GONE(purlin_lanczos_destroy(three));
  GONE(purlin_lanczos_destroy(two));
  GONE(purlin_tensor_destroy(sides));
  GONE(purlin_tensor_destroy(labels));
  GONE(purlin_tensor_destroy(vector));
  GONE(purlin_matrix_destroy(graph));
  GONE(purlin_matrix_destroy(image));
  GONE(purlin_context_destroy(context));
  return status == PURLIN_ERROR_NO_CONVERGENCE ? PURLIN_SUCCESS : status;
}

/* A product of a sparse matrix and a vector. */
static inline purlin_status family_spmv(void) {
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_matrix *graph = NULL;
  purlin_tensor *x = NULL, *y = NULL;
  purlin_spmv *plan = NULL;
  THEN(family_graph_of(context, &graph));
  THEN(purlin_spmv_create(graph, NULL, &plan));
  THEN(family_vector(context, 300, family_input, &x));
  THEN(family_vector(context, 300, family_output[0], &y));
  THEN(purlin_spmv_apply(plan, NULL, NULL, graph, x, NULL, y));
  GONE(purlin_tensor_destroy(y));
  GONE(purlin_tensor_destroy(x));
  GONE(purlin_spmv_destroy(plan));
  GONE(purlin_matrix_destroy(graph));
  GONE(purlin_context_destroy(context));
  return status;
}

/* Random trains: a sum, rounded, and an inner product. */
static inline purlin_status family_tt(void) {
  enum { CORES = 8 };
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_tt *x = NULL, *y = NULL, *sum = NULL, *rounded = NULL;
  purlin_tt_contraction *contraction = NULL;
  int64_t modes[CORES], ranks[CORES + 1], k;
  const double one[2] = {1, 0};
  double inner[2];
  for (k = 0; k < CORES; k++) modes[k] = 4;
  for (k = 0; k <= CORES; k++) ranks[k] = k == 0 || k == CORES ? 1 : 12;
  THEN(purlin_tt_random(context, PURLIN_F64, PURLIN_HOST, CORES, modes, ranks, 1, &x));
  THEN(purlin_tt_random(context, PURLIN_F64, PURLIN_HOST, CORES, modes, ranks, 2, &y));
  THEN(purlin_tt_add(context, NULL, one, x, one, y, &sum));
  THEN(purlin_tt_round(context, NULL, sum, NULL, &rounded, NULL, NULL));
  THEN(purlin_tt_contraction_create(context, NULL, &contraction));
  THEN(purlin_tt_inner(contraction, NULL, rounded, y, inner, NULL));
  GONE(purlin_tt_contraction_destroy(contraction));
  GONE(purlin_tt_destroy(rounded));
  GONE(purlin_tt_destroy(sum));
  GONE(purlin_tt_destroy(y));
  GONE(purlin_tt_destroy(x));
  GONE(purlin_context_destroy(context));
  return status;
}

/* Environments of a train and an operator: the energy at each bond, and the operator of two sites. */
static inline purlin_status family_environments(void) {
  enum { CORES = 6, MODE = 2, RANK = 4 };
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_tt *x = NULL;
  purlin_tt_matrix *h = NULL;
  purlin_tt_contraction *contraction = NULL;
  purlin_tt_environments *e = NULL;
  purlin_tensor *v = NULL, *w = NULL;
  purlin_tt_scaled s;
  int64_t modes[CORES], ranks[CORES + 1], sites[4] = {RANK, MODE, MODE, RANK}, exponent = 0, k;
  for (k = 0; k < CORES; k++) modes[k] = MODE;
  for (k = 0; k <= CORES; k++) ranks[k] = k == 0 || k == CORES ? 1 : RANK;
  THEN(purlin_tt_random(context, PURLIN_F64, PURLIN_HOST, CORES, modes, ranks, 1, &x));
  THEN(purlin_tt_matrix_ising(context, PURLIN_F64, CORES, 0, 1, 0.7, &h));
  THEN(purlin_tt_contraction_create(context, NULL, &contraction));
  THEN(purlin_tt_environments_create(contraction, x, h, x, &e));
  THEN(purlin_tt_environments_build(e, NULL, PURLIN_TT_LEFT, CORES));
  THEN(purlin_tt_environments_value(e, NULL, 3, &s));
  THEN(purlin_tensor_borrow(context, PURLIN_F64, 0, 4, sites, NULL, family_input, &v));
  THEN(purlin_tensor_borrow(context, PURLIN_F64, 0, 4, sites, NULL, family_output[0], &w));
  THEN(purlin_tt_environments_apply(e, NULL, 2, 2, v, w, &exponent));
  GONE(purlin_tensor_destroy(w));
  GONE(purlin_tensor_destroy(v));
  GONE(purlin_tt_environments_destroy(e));
  GONE(purlin_tt_contraction_destroy(contraction));
  GONE(purlin_tt_matrix_destroy(h));
  GONE(purlin_tt_destroy(x));
  GONE(purlin_context_destroy(context));
  return status;
}

/* A compressed matrix file, and an array file whose singular values are computed in blocks. */
static inline purlin_status family_files(void) {
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_matrix *market = NULL, *a = NULL, *u = NULL;
  purlin_tensor *s = NULL;
  purlin_source *source = NULL;
  purlin_rsvd *rsvd = NULL;
  purlin_rsvd_options o;
  THEN(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = 4;
  THEN(purlin_matrix_read_market(context, PURLIN_GOLDEN "/spectral/bcsstk13.mtx.gz", PURLIN_F64, &market));
  THEN(purlin_source_from_npy(context, PURLIN_GOLDEN "/rsvd/rank7_120x90.npy", &source));
  THEN(purlin_matrix_from_source(context, source, PURLIN_ROW_MAJOR, &a));
  THEN(purlin_rsvd_create(context, &o, &rsvd));
  THEN(family_matrix(context, 120, 4, family_output[0], &u));
  THEN(family_vector(context, 4, family_output[1], &s));
  THEN(purlin_rsvd_compute(rsvd, NULL, a, u, s, NULL, NULL));
  GONE(purlin_rsvd_destroy(rsvd));
  GONE(purlin_matrix_destroy(a));
  GONE(purlin_source_destroy(source));
  GONE(purlin_tensor_destroy(s));
  GONE(purlin_matrix_destroy(u));
  GONE(purlin_matrix_destroy(market));
  GONE(purlin_context_destroy(context));
  return status;
}

/* The path of an output file of this process; valid until four more are asked for. */
static inline const char *family_path(const char *end) {
  static char paths[4][64];
  static int at = 0;
  at = (at + 1) % 4;
  snprintf(paths[at], sizeof paths[at], "families-%ld%s", (long)getpid(), end);
  return paths[at];
}

/* Files that are written: a compressed matrix file, a volume as a TIFF file, which is read again, and a restart file. */
static inline purlin_status family_outputs(void) {
  enum { COLUMNS = 32, ROWS = 24, VIEWS = 60, N = 24 };
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_matrix *graph = NULL, *a = NULL;
  purlin_tensor *projections = NULL, *s = NULL, *volume = NULL;
  purlin_source *source = NULL, *pages = NULL;
  purlin_sink *sink = NULL, *array = NULL;
  purlin_fdk *scan = NULL, *again = NULL;
  purlin_rsvd *rsvd = NULL;
  purlin_rsvd_options o;
  int64_t panel[3] = {COLUMNS, ROWS, VIEWS}, cube[3] = {N, N, N};
  const char *market = family_path(".mtx.gz"), *tiff = family_path(".tif"), *state = family_path(".state");
  THEN(family_graph_of(context, &graph));
  THEN(purlin_matrix_write_market(graph, market, 0));
  THEN(purlin_tensor_borrow(context, PURLIN_F32, 0, 3, panel, NULL, family_projections, &projections));
  THEN(purlin_source_from_tensor(context, projections, &source));
  THEN(purlin_sink_to_tiff(context, tiff, PURLIN_F32, N, N, N, &sink));
  THEN(family_fdk_of(context, COLUMNS, ROWS, VIEWS, &scan));
  THEN(purlin_fdk_reconstruct_to_sink(scan, NULL, source, sink, NULL));
  THEN(purlin_tensor_borrow(context, PURLIN_F32, 0, 3, cube, NULL, family_volume, &volume));
  THEN(purlin_source_from_tiff(context, 1, &tiff, &pages));
  THEN(purlin_sink_to_tensor(context, volume, &array));
  THEN(family_fdk_of(context, N, N, N, &again));
  THEN(purlin_fdk_reconstruct_to_sink(again, NULL, pages, array, NULL));
  THEN(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = 5;
  o.power_iterations = 3;
  o.method = PURLIN_RSVD_METHOD_FUSED;
  o.restart_path = state;
  THEN(purlin_rsvd_create(context, &o, &rsvd));
  THEN(family_matrix(context, 200, 100, family_input, &a));
  THEN(family_vector(context, 5, family_output[1], &s));
  THEN(purlin_rsvd_compute(rsvd, NULL, a, NULL, s, NULL, NULL));
  GONE(purlin_tensor_destroy(s));
  GONE(purlin_matrix_destroy(a));
  GONE(purlin_rsvd_destroy(rsvd));
  GONE(purlin_fdk_destroy(again));
  GONE(purlin_sink_destroy(array));
  GONE(purlin_source_destroy(pages));
  GONE(purlin_tensor_destroy(volume));
  GONE(purlin_fdk_destroy(scan));
  GONE(purlin_sink_destroy(sink));
  GONE(purlin_source_destroy(source));
  GONE(purlin_tensor_destroy(projections));
  GONE(purlin_matrix_destroy(graph));
  GONE(purlin_context_destroy(context));
  remove(market);
  remove(tiff);
  remove(state);
  return status;
}

static const struct family {
  const char *name;
  purlin_status (*call)(void);
} families[] = {
    {"sshopm", family_sshopm},     {"sshopm all", family_sshopm_all}, {"dwi", family_dwi},
    {"dwi peaks", family_peaks},   {"fdk", family_fdk},               {"rsvd", family_rsvd},
    {"pca", family_pca},           {"rpca", family_rpca},             {"spmv", family_spmv},
    {"spectra", family_spectra},   {"singular", family_singular},     {"graph", family_graph},
    {"tt", family_tt},             {"environments", family_environments},
    {"files", family_files},       {"outputs", family_outputs},
};

#endif
