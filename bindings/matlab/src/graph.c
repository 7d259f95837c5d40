/* Commands of graphs. */
#include "gateway.h"

static const choice scalings[] = {{"none", PURLIN_GRAPH_SCALING_NONE},
  {"unit_rows", PURLIN_GRAPH_SCALING_UNIT_ROWS}, {"degrees", PURLIN_GRAPH_SCALING_DEGREES}, {NULL, 0}};
static const choice labellings[] = {
  {"k_means", PURLIN_GRAPH_LABELS_K_MEANS}, {"pivoted_qr", PURLIN_GRAPH_LABELS_PIVOTED_QR}, {NULL, 0}};
static const choice cuts[] = {{"sign", PURLIN_GRAPH_CUT_SIGN}, {"median", PURLIN_GRAPH_CUT_MEDIAN},
  {"sweep", PURLIN_GRAPH_CUT_SWEEP}, {NULL, 0}};

/* A new column of labels, which the library counts from 0. */
typedef struct labels { mxArray *array; int64_t *space; purlin_tensor *tensor; int64_t count; } labels;

static labels new_labels(int64_t count) {
  labels l;
  l.count = count;
  l.array = mxCreateDoubleMatrix((mwSize)count, 1, mxREAL);
  l.space = mxCalloc((size_t)count + 1, sizeof *l.space);
  l.tensor = NULL;
  check(purlin_tensor_borrow(gateway_context(), PURLIN_I64, 0, 1, &count, NULL, l.space, &l.tensor));
  (void)temporary(l.tensor);
  return l;
}

static mxArray *finish_labels(const labels *l) {
  double *out = mxGetData(l->array);
  for (int64_t i = 0; i < l->count; i++) out[i] = (double)l->space[i] + 1;
  return l->array;
}

static int64_t vertices_of(const purlin_matrix *graph) { return matrix_properties_of(graph).rows; }

/* [coordinates, values, info] = graph_embed(W, k, options) */
static void embed(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *graph = matrix_of("W", prhs[0]);
  int64_t n = vertices_of(graph), k = integer_argument("k", prhs[1], 1, n > 0 ? n : 1);
  purlin_lanczos_info info = fresh_lanczos_info();
  purlin_tensor *values = NULL;
  int32_t scaling = PURLIN_GRAPH_SCALING_NONE;
  output coordinates = new_matrix(PURLIN_F64, n, k);
  mxArray *column = new_column(PURLIN_F64, k, &values);
  watch w;
  purlin_lanczos_options o = lanczos_options_of(prhs[2], k, &w);
  read_choice(prhs[2], "scaling", scalings, &scaling);
  check_lanczos(&w, purlin_graph_embed(solver_of(&o), NULL, graph, scaling, coordinates.matrix, values, &info));
  plhs[0] = finish_output(&coordinates);
  if (nlhs > 1) plhs[1] = column;
  if (nlhs > 2) plhs[2] = lanczos_report(&info);
  (void)nrhs;
}

/* [labels, inertia, info] = graph_cluster(W, k, options) */
static void cluster(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *graph = matrix_of("W", prhs[0]);
  int64_t n = vertices_of(graph), k = integer_argument("k", prhs[1], 1, n > 0 ? n : 1), start_count = 10;
  purlin_lanczos_info info = fresh_lanczos_info();
  int32_t assignment = PURLIN_GRAPH_LABELS_K_MEANS;
  double inertia = mxGetNaN();
  labels l = new_labels(n);
  watch w;
  purlin_lanczos_options o = lanczos_options_of(prhs[2], k, &w);
  read_choice(prhs[2], "assignment", labellings, &assignment);
  read_int64(prhs[2], "start_count", &start_count);
  /* Where fewer pairs than clusters were found the outputs stay as they are: no labels. */
  for (int64_t i = 0; i < n; i++) l.space[i] = -1;
  check_lanczos(&w, purlin_graph_cluster(solver_of(&o), NULL, graph, assignment, start_count, l.tensor, &inertia,
                                         &info));
  plhs[0] = finish_labels(&l);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar(inertia);
  if (nlhs > 2) plhs[2] = lanczos_report(&info);
  (void)nrhs;
}

/* [value, vector, info] = graph_fiedler(W, normalized, options) */
static void fiedler(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *graph = matrix_of("W", prhs[0]);
  purlin_lanczos_info info = fresh_lanczos_info();
  purlin_tensor *vector = NULL;
  double value = mxGetNaN();
  int64_t n = vertices_of(graph);
  mxArray *column = new_column(PURLIN_F64, n, &vector);
  watch w;
  purlin_lanczos_options o = lanczos_options_of(prhs[2], 1, &w);
  /* Where no pair was found the outputs stay as they are. */
  for (int64_t i = 0; i < n; i++) ((double *)mxGetData(column))[i] = mxGetNaN();
  check_lanczos(&w, purlin_graph_fiedler(solver_of(&o), NULL, graph, is_true("normalized", prhs[1]), &value, vector, &info));
  plhs[0] = mxCreateDoubleScalar(value);
  if (nlhs > 1) plhs[1] = column;
  if (nlhs > 2) plhs[2] = lanczos_report(&info);
  (void)nrhs;
}

/* [sides, cut, normalized_cut] = graph_bisect(W, vector, method) */
static void bisect(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *graph = matrix_of("W", prhs[0]);
  int64_t n = vertices_of(graph);
  purlin_tensor *vector = borrow_array("vector", prhs[1], PURLIN_F64, 1, &n);
  double cut = 0, normalized = 0;
  labels l = new_labels(n);
  check(purlin_graph_bisect(graph, vector, choice_argument("method", prhs[2], cuts), l.tensor, &cut, &normalized));
  plhs[0] = finish_labels(&l);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar(cut);
  if (nlhs > 2) plhs[2] = mxCreateDoubleScalar(normalized);
  (void)nrhs;
}

/* [labels, count] = graph_components(W) */
static void components(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *graph = matrix_of("W", prhs[0]);
  int64_t count = 0;
  labels l = new_labels(vertices_of(graph));
  check(purlin_graph_components(graph, l.tensor, &count));
  plhs[0] = finish_labels(&l);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar((double)count);
  (void)nrhs;
}

static purlin_status run_density(void *a[]) {
  return purlin_graph_density(a[0], NULL, a[1], *(int64_t *)a[2], *(int64_t *)a[3], a[4], a[5], a[6]);
}

/* [points, weights, count] = graph_density(A, steps, vector_count, options): the first `count` of the columns */
static void density(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  int64_t steps = integer_argument("steps", prhs[1], 1, 1 << 20);
  int64_t vector_count = integer_argument("vector_count", prhs[2], 1, 1 << 20), count = 0;
  purlin_tensor *points = NULL, *weights = NULL;
  watch w;
  purlin_lanczos_options o = lanczos_options_of(prhs[3], 1, &w);
  if (nlhs < 3) fail("internal", "graph_density: has 3 results");
  plhs[0] = new_column(PURLIN_F64, steps * vector_count, &points);
  plhs[1] = new_column(PURLIN_F64, steps * vector_count, &weights);
  check_watched(&w, call_library(&w, run_density, (void *[]){solver_of(&o), a, &steps, &vector_count, points, weights,
                                                            &count}));
  plhs[2] = mxCreateDoubleScalar((double)count);
  (void)nrhs;
}

/* [i, j, values, rows, cols] = graph_of_image(image, radius, intensity, distance, floor) */
static void of_image(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  check(purlin_graph_of_image(gateway_context(), matrix_of("image", prhs[0]), scalar_argument("radius", prhs[1]),
                              scalar_argument("intensity", prhs[2]), scalar_argument("distance", prhs[3]),
                              scalar_argument("floor", prhs[4]), &made));
  hand_over_rows(made, nlhs, plhs);
  (void)nrhs;
}

/* [i, j, values, rows, cols, vertices] = graph_component(W, which): components count from 1, 0 is the largest */
static void component(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t which = integer_argument("which", prhs[1], 0, INT64_MAX);
  purlin_matrix *made = NULL;
  purlin_tensor *names = NULL;
  purlin_tensor_info info;
  if (nlhs < 6) fail("internal", "graph_component: has 6 results");
  check(purlin_graph_component(matrix_of("W", prhs[0]), which - 1, &made, &names));
  (void)temporary(names);
  hand_over_rows(made, nlhs, plhs);
  check(purlin_tensor_info_init(&info, sizeof info));
  check(purlin_tensor_properties(names, &info));
  plhs[5] = mxCreateDoubleMatrix((mwSize)info.elements, 1, mxREAL);
  for (int64_t i = 0; i < info.elements; i++)
    ((double *)mxGetData(plhs[5]))[i] = (double)((const int64_t *)(uintptr_t)info.data)[i] + 1;
  (void)nrhs;
}

/* [labels, inertia] = graph_k_means(points, k, start_count, seed) */
static void k_means(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *points = matrix_of("points", prhs[0]);
  int64_t n = vertices_of(points);
  labels l = new_labels(n);
  double inertia = 0;
  check(purlin_graph_k_means(points, integer_argument("k", prhs[1], 1, n > 0 ? n : 1),
                             integer_argument("start_count", prhs[2], 1, 1 << 20), seed_argument("seed", prhs[3]),
                             l.tensor, &inertia));
  plhs[0] = finish_labels(&l);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar(inertia);
  (void)nrhs;
}

/* [labels, inertia] = graph_pivoted_qr(points) */
static void pivoted_qr(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *points = matrix_of("points", prhs[0]);
  labels l = new_labels(vertices_of(points));
  double inertia = 0;
  check(purlin_graph_pivoted_qr(points, l.tensor, &inertia));
  plhs[0] = finish_labels(&l);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar(inertia);
  (void)nrhs;
}

/* shares = graph_density_histogram(points, weights, from, to, bins) */
static void histogram(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t count = (int64_t)mxGetNumberOfElements(prhs[0]), bins = integer_argument("bins", prhs[4], 1, 1 << 24);
  for (int i = 0; i < 2; i++)
    if (!mxIsDouble(prhs[i]) || mxIsComplex(prhs[i]) || mxIsSparse(prhs[i]) || (int64_t)mxGetNumberOfElements(prhs[i]) != count)
      fail("invalidArgument", "%s: is not a list of %.0f real numbers of class double", i == 0 ? "points" : "weights",
           (double)count);
  plhs[0] = mxCreateDoubleMatrix((mwSize)bins, 1, mxREAL);
  check(purlin_graph_density_histogram(count, mxGetData(prhs[0]), mxGetData(prhs[1]), scalar_argument("from", prhs[2]),
                                       scalar_argument("to", prhs[3]), bins, mxGetData(plhs[0])));
  (void)nlhs;
  (void)nrhs;
}

const command graph_commands[] = {
  {"graph_embed", "W k options", embed},
  {"graph_cluster", "W k options", cluster},
  {"graph_k_means", "points k start_count seed", k_means},
  {"graph_pivoted_qr", "points", pivoted_qr},
  {"graph_fiedler", "W normalized options", fiedler},
  {"graph_bisect", "W vector method", bisect},
  {"graph_components", "W", components},
  {"graph_component", "W which", component},
  {"graph_density", "A steps vector_count options", density},
  {"graph_density_histogram", "points weights from to bins", histogram},
  {"graph_of_image", "image radius intensity distance floor", of_image},
  {NULL, NULL, NULL},
};
