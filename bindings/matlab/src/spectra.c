/* Commands of sparse matrices, their products, eigenpairs and graphs. */
#include "gateway.h"

static const choice whiches[] = {{"largest", PURLIN_LANCZOS_LARGEST}, {"smallest", PURLIN_LANCZOS_SMALLEST},
  {"largest_magnitude", PURLIN_LANCZOS_LARGEST_MAGNITUDE}, {"both_ends", PURLIN_LANCZOS_BOTH_ENDS},
  {"nearest", PURLIN_LANCZOS_NEAREST}, {NULL, 0}};
static const choice kinds[] = {{"matrix", PURLIN_LANCZOS_MATRIX}, {"laplacian", PURLIN_LANCZOS_LAPLACIAN},
  {"normalised_laplacian", PURLIN_LANCZOS_NORMALISED_LAPLACIAN},
  {"signless_laplacian", PURLIN_LANCZOS_SIGNLESS_LAPLACIAN},
  {"normalised_adjacency", PURLIN_LANCZOS_NORMALISED_ADJACENCY}, {"modularity", PURLIN_LANCZOS_MODULARITY},
  {"gram", PURLIN_LANCZOS_GRAM}, {"outer_gram", PURLIN_LANCZOS_OUTER_GRAM},
  {"augmented", PURLIN_LANCZOS_AUGMENTED}, {NULL, 0}};
static const choice verifications[] = {{"auto", PURLIN_LANCZOS_VERIFY_AUTO}, {"on", PURLIN_LANCZOS_VERIFY_ON},
  {"off", PURLIN_LANCZOS_VERIFY_OFF}, {NULL, 0}};
static const choice ways[] = {
  {"restart", PURLIN_LANCZOS_METHOD_RESTART}, {"plain", PURLIN_LANCZOS_METHOD_PLAIN}, {NULL, 0}};
static const choice orthogonalities[] = {{"full", PURLIN_LANCZOS_ORTHOGONALITY_FULL},
  {"partial", PURLIN_LANCZOS_ORTHOGONALITY_PARTIAL}, {NULL, 0}};
static const choice filters[] = {
  {"off", PURLIN_LANCZOS_FILTER_OFF}, {"chebyshev", PURLIN_LANCZOS_FILTER_CHEBYSHEV}, {NULL, 0}};
static const choice reasons[] = {{"converged", PURLIN_LANCZOS_CONVERGED}, {"restarts", PURLIN_LANCZOS_RESTARTS},
  {"exhausted", PURLIN_LANCZOS_EXHAUSTED}, {NULL, 0}};
static const choice algorithms[] = {{"auto", PURLIN_SPMV_ALGORITHM_AUTO}, {"scalar", PURLIN_SPMV_ALGORITHM_SCALAR},
  {"vector", PURLIN_SPMV_ALGORITHM_VECTOR}, {"row_group", PURLIN_SPMV_ALGORITHM_ROW_GROUP},
  {"row_bin", PURLIN_SPMV_ALGORITHM_ROW_BIN}, {"merge", PURLIN_SPMV_ALGORITHM_MERGE},
  {"entry_split", PURLIN_SPMV_ALGORITHM_ENTRY_SPLIT}, {"sweeps", PURLIN_SPMV_ALGORITHM_SWEEPS}, {NULL, 0}};
static const choice reorderings[] = {{"none", PURLIN_ORDER_NONE}, {"degree", PURLIN_ORDER_DEGREE},
  {"cuthill_mckee", PURLIN_ORDER_CUTHILL_MCKEE}, {NULL, 0}};
static const choice symmetries[] = {{"union", PURLIN_SYMMETRISE_UNION}, {"sum", PURLIN_SYMMETRISE_SUM},
  {"average", PURLIN_SYMMETRISE_AVERAGE}, {"intersection", PURLIN_SYMMETRISE_INTERSECTION},
  {"mirror", PURLIN_SYMMETRISE_MIRROR}, {NULL, 0}};
static const choice scalings[] = {{"none", PURLIN_GRAPH_SCALING_NONE},
  {"unit_rows", PURLIN_GRAPH_SCALING_UNIT_ROWS}, {"degrees", PURLIN_GRAPH_SCALING_DEGREES}, {NULL, 0}};
static const choice labellings[] = {
  {"k_means", PURLIN_GRAPH_LABELS_K_MEANS}, {"pivoted_qr", PURLIN_GRAPH_LABELS_PIVOTED_QR}, {NULL, 0}};
static const choice cuts[] = {{"sign", PURLIN_GRAPH_CUT_SIGN}, {"median", PURLIN_GRAPH_CUT_MEDIAN},
  {"sweep", PURLIN_GRAPH_CUT_SWEEP}, {NULL, 0}};

static purlin_lanczos_options options_of(const mxArray *options, int64_t count, watch *w) {
  purlin_lanczos_options o;
  check(purlin_lanczos_options_init(&o, sizeof o));
  o.count = count;
  read_choice(options, "which", whiches, &o.which);
  read_choice(options, "kind", kinds, &o.kind);
  read_double(options, "shift", &o.shift);
  read_double(options, "sigma", &o.sigma);
  read_double(options, "tolerance", &o.tolerance);
  read_int64(options, "basis", &o.basis);
  read_int64(options, "restarts", &o.restarts);
  read_seed(options, "seed", &o.seed);
  read_choice(options, "verify", verifications, &o.verify);
  read_choice(options, "method", ways, &o.method);
  read_int64(options, "block", &o.block);
  read_choice(options, "orthogonality", orthogonalities, &o.orthogonality);
  read_choice(options, "filter", filters, &o.filter);
  read_int64(options, "degree", &o.degree);
  read_choice(options, "order", reorderings, &o.order);
  read_devices(options, &o.contexts, &o.contexts_count);
  watch_from(options, w, &o.progress, &o.progress_user);
  return o;
}

static purlin_lanczos_info fresh_info(void) {
  purlin_lanczos_info info;
  check(purlin_lanczos_info_init(&info, sizeof info));
  return info;
}

static mxArray *report_of(const purlin_lanczos_info *i) {
  mxArray *s = mxCreateStructMatrix(1, 1, 0, NULL);
#define NUMBER(name) add_number(s, #name, (double)i->name)
  NUMBER(count); NUMBER(converged); NUMBER(products); NUMBER(restarts); NUMBER(breakdowns); NUMBER(recovered);
  NUMBER(basis); NUMBER(degree); NUMBER(norm); NUMBER(seconds);
  NUMBER(contexts); NUMBER(part_rows); NUMBER(part_entries); NUMBER(halo); NUMBER(halo_bytes); NUMBER(product_bytes);
#undef NUMBER
  add_word(s, "reason", reasons, i->reason);
  return s;
}

/* What has converged is a result; whoever calls looks at `converged`. */
static void check_run(const watch *w, purlin_status status) {
  check_watched(w, status == PURLIN_ERROR_NO_CONVERGENCE ? PURLIN_SUCCESS : status);
}

static int64_t order_of(const purlin_matrix_info *shape, int32_t kind) {
  switch (kind) {
  case PURLIN_LANCZOS_GRAM: return shape->cols;
  case PURLIN_LANCZOS_AUGMENTED: return shape->rows + shape->cols;
  default: return shape->rows;
  }
}

static purlin_status run_solve(void *a[]) {
  return purlin_lanczos_solve(a[0], NULL, a[1], a[2], a[3], a[8], a[4], a[5], a[6], a[7]);
}

/* [values, vectors, residuals, info] = lanczos_solve(A, k, options, start, known, solve) */
static void solve(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]), *known = mxIsEmpty(prhs[4]) ? NULL : matrix_of("known", prhs[4]);
  purlin_matrix *inverse = mxIsEmpty(prhs[5]) ? NULL : matrix_of("solve", prhs[5]);
  purlin_matrix_info shape = matrix_properties_of(a);
  int64_t k = integer_argument("k", prhs[1], 1, INT64_MAX), n;
  purlin_lanczos_info info = fresh_info();
  purlin_tensor *values = NULL, *residuals = NULL, *start = NULL;
  output vectors = {NULL, NULL, NULL, 0};
  mxArray *left;
  watch w;
  purlin_lanczos_options o = options_of(prhs[2], k, &w);
  n = order_of(&shape, o.kind);
  if (k > n) fail("invalidArgument", "k: is %.0f, more than n = %.0f", (double)k, (double)n);
  if (!mxIsEmpty(prhs[3])) {
    if (dtype_of(prhs[3]) != shape.dtype || (int64_t)mxGetNumberOfElements(prhs[3]) != n)
      fail("invalidArgument", "start: is not a vector of %.0f elements of the class of A", (double)n);
    check(purlin_tensor_borrow(gateway_context(), shape.dtype, PURLIN_READ_ONLY, 1, &n, NULL,
                               elements_of(prhs[3], shape.dtype), &start));
    (void)temporary(start);
  }
  plhs[0] = new_column(PURLIN_F64, k, &values);
  left = new_column(PURLIN_F64, k, &residuals);
  if (nlhs > 1) vectors = new_matrix(shape.dtype, n, k);
  check_run(&w, call_library(&w, run_solve,
                             (void *[]){a, &o, start, known, values, vectors.matrix, residuals, &info, inverse}));
  if (nlhs > 1) plhs[1] = finish_output(&vectors);
  if (nlhs > 2) plhs[2] = left;
  if (nlhs > 3) plhs[3] = report_of(&info);
  (void)nrhs;
}

static purlin_status run_tridiagonalise(void *a[]) {
  return purlin_lanczos_tridiagonalise(a[0], NULL, a[1], *(int64_t *)a[2], NULL, a[3], a[4], a[5]);
}

/* [alpha, beta, count] = lanczos_tridiagonalise(A, steps, options): the first `count` of the columns */
static void tridiagonalise(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  int64_t steps = integer_argument("steps", prhs[1], 1, 1 << 20), count = 0;
  watch w;
  purlin_lanczos_options o = options_of(prhs[2], 1, &w);
  if (nlhs < 3) fail("internal", "lanczos_tridiagonalise: has 3 results");
  for (int i = 0; i < 2; i++) plhs[i] = mxCreateDoubleMatrix((mwSize)steps, 1, mxREAL);
  check_watched(&w, call_library(&w, run_tridiagonalise,
                                 (void *[]){a, &o, &steps, mxGetData(plhs[0]), mxGetData(plhs[1]), &count}));
  plhs[2] = mxCreateDoubleScalar((double)count);
  (void)nrhs;
}

static purlin_status run_singular(void *a[]) {
  return purlin_lanczos_singular(a[0], NULL, a[1], a[2], a[3], a[4], a[5], a[6]);
}

/* [values, U, V, residuals, info] = lanczos_singular(A, k, options) */
static void singular(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  purlin_matrix_info shape = matrix_properties_of(a);
  int64_t k = integer_argument("k", prhs[1], 1, INT64_MAX), least = shape.rows < shape.cols ? shape.rows : shape.cols;
  purlin_lanczos_info info = fresh_info();
  purlin_tensor *values = NULL, *residuals = NULL;
  output u = {NULL, NULL, NULL, 0}, v = {NULL, NULL, NULL, 0};
  mxArray *left;
  watch w;
  purlin_lanczos_options o = options_of(prhs[2], k, &w);
  if (k > least) fail("invalidArgument", "k: is %.0f, more than %.0f", (double)k, (double)least);
  plhs[0] = new_column(PURLIN_F64, k, &values);
  left = new_column(PURLIN_F64, k, &residuals);
  if (nlhs > 1) u = new_matrix(shape.dtype, shape.rows, k);
  if (nlhs > 2) v = new_matrix(shape.dtype, shape.cols, k);
  check_run(&w, call_library(&w, run_singular, (void *[]){a, &o, u.matrix, values, v.matrix, residuals, &info}));
  if (nlhs > 1) plhs[1] = finish_output(&u);
  if (nlhs > 2) plhs[2] = finish_output(&v);
  if (nlhs > 3) plhs[3] = left;
  if (nlhs > 4) plhs[4] = report_of(&info);
  (void)nrhs;
}

/* Y = spmv(A, X, transposed, options): A is the transpose of a sparse matrix of MATLAB's, which `transposed` makes up for */
static void product(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]), *x = matrix_of("X", prhs[1]);
  purlin_matrix_info shape = matrix_properties_of(a), given = matrix_properties_of(x);
  int transposed = is_true("transposed", prhs[2]);
  purlin_spmv_options o;
  purlin_spmv *plan = NULL;
  output y;
  check(purlin_spmv_options_init(&o, sizeof o));
  read_choice(prhs[3], "algorithm", algorithms, &o.algorithm);
  read_choice(prhs[3], "order", reorderings, &o.order);
  if (transposed) o.op = PURLIN_SPMV_TRANSPOSE;
  if (given.rows != (transposed ? shape.rows : shape.cols))
    fail("invalidArgument", "X: has %.0f rows, %.0f are needed", (double)given.rows,
         (double)(transposed ? shape.rows : shape.cols));
  y = new_matrix(shape.dtype, transposed ? shape.cols : shape.rows, given.cols);
  check(purlin_spmv_create(a, &o, &plan));
  check(purlin_spmv_apply_block(temporary_plan(plan), NULL, NULL, a, x, NULL, y.matrix));
  plhs[0] = finish_output(&y);
  (void)nlhs;
  (void)nrhs;
}

static const choice operations[] = {{"plain", PURLIN_SPMV_PLAIN}, {"transpose", PURLIN_SPMV_TRANSPOSE},
  {"adjoint", PURLIN_SPMV_ADJOINT}, {NULL, 0}};

static purlin_spmv *plan_argument(const mxArray *key) { return (purlin_spmv *)(uintptr_t)key_argument("plan", key); }

/* key = spmv_create(A, options) of a purlin.Matrix, which outlives the plan */
static void plan_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_spmv_options o;
  purlin_spmv *plan = NULL;
  check(purlin_spmv_options_init(&o, sizeof o));
  read_choice(prhs[1], "algorithm", algorithms, &o.algorithm);
  read_choice(prhs[1], "order", reorderings, &o.order);
  read_choice(prhs[1], "op", operations, &o.op);
  read_flag(prhs[1], "symmetric", &o.symmetric);
  check(purlin_spmv_create(matrix_of("A", prhs[0]), &o, &plan));
  plhs[0] = key_of(plan);
  (void)nlhs;
  (void)nrhs;
}

/* Y = spmv_apply(key, A, X) */
static void plan_apply(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[1]), *x = matrix_of("X", prhs[2]);
  purlin_spmv *plan = plan_argument(prhs[0]);
  purlin_spmv_info info;
  output y;
  check(purlin_spmv_info_init(&info, sizeof info));
  check(purlin_spmv_properties(plan, &info));
  y = new_matrix(matrix_properties_of(a).dtype, info.rows, matrix_properties_of(x).cols);
  check(purlin_spmv_apply_block(plan, NULL, NULL, a, x, NULL, y.matrix));
  plhs[0] = finish_output(&y);
  (void)nlhs;
  (void)nrhs;
}

/* info = spmv_properties(key) */
static void plan_properties(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_spmv_info info;
  check(purlin_spmv_info_init(&info, sizeof info));
  check(purlin_spmv_properties(plan_argument(prhs[0]), &info));
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  add_word(plhs[0], "algorithm", algorithms, info.algorithm);
  add_word(plhs[0], "order", reorderings, info.order);
#define NUMBER(name) add_number(plhs[0], #name, (double)info.name)
  NUMBER(group); NUMBER(rows); NUMBER(nnz); NUMBER(longest); NUMBER(empty); NUMBER(mean); NUMBER(deviation);
  NUMBER(short_rows); NUMBER(beyond_32); NUMBER(beyond_1024); NUMBER(tiles); NUMBER(bytes); NUMBER(seconds);
#undef NUMBER
  (void)mxAddField(plhs[0], "reason");
  mxSetField(plhs[0], 0, "reason", mxCreateString(info.reason));
  (void)nlhs;
  (void)nrhs;
}

/* spmv_destroy(key): a key that is gone is none */
static void plan_destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_spmv_destroy(plan_argument(prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

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
  purlin_lanczos_info info = fresh_info();
  purlin_tensor *values = NULL;
  int32_t scaling = PURLIN_GRAPH_SCALING_NONE;
  output coordinates = new_matrix(PURLIN_F64, n, k);
  mxArray *column = new_column(PURLIN_F64, k, &values);
  watch w;
  purlin_lanczos_options o = options_of(prhs[2], k, &w);
  read_choice(prhs[2], "scaling", scalings, &scaling);
  check_run(&w, purlin_graph_embed(graph, NULL, &o, scaling, coordinates.matrix, values, &info));
  plhs[0] = finish_output(&coordinates);
  if (nlhs > 1) plhs[1] = column;
  if (nlhs > 2) plhs[2] = report_of(&info);
  (void)nrhs;
}

/* [labels, inertia, info] = graph_cluster(W, k, options) */
static void cluster(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *graph = matrix_of("W", prhs[0]);
  int64_t n = vertices_of(graph), k = integer_argument("k", prhs[1], 1, n > 0 ? n : 1), starts = 10;
  purlin_lanczos_info info = fresh_info();
  int32_t how = PURLIN_GRAPH_LABELS_K_MEANS;
  double inertia = 0;
  labels l = new_labels(n);
  watch w;
  purlin_lanczos_options o = options_of(prhs[2], k, &w);
  read_choice(prhs[2], "how", labellings, &how);
  read_int64(prhs[2], "starts", &starts);
  check_run(&w, purlin_graph_cluster(graph, NULL, &o, how, starts, l.tensor, &inertia, &info));
  plhs[0] = finish_labels(&l);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar(inertia);
  if (nlhs > 2) plhs[2] = report_of(&info);
  (void)nrhs;
}

/* [value, vector, info] = graph_fiedler(W, normalised, options) */
static void fiedler(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *graph = matrix_of("W", prhs[0]);
  purlin_lanczos_info info = fresh_info();
  purlin_tensor *vector = NULL;
  double value = 0;
  mxArray *column = new_column(PURLIN_F64, vertices_of(graph), &vector);
  watch w;
  purlin_lanczos_options o = options_of(prhs[2], 1, &w);
  check_run(&w, purlin_graph_fiedler(graph, NULL, is_true("normalised", prhs[1]), &o, &value, vector, &info));
  plhs[0] = mxCreateDoubleScalar(value);
  if (nlhs > 1) plhs[1] = column;
  if (nlhs > 2) plhs[2] = report_of(&info);
  (void)nrhs;
}

/* [sides, cut, normalised_cut] = graph_bisect(W, vector, how) */
static void bisect(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *graph = matrix_of("W", prhs[0]);
  int64_t n = vertices_of(graph);
  purlin_tensor *vector = lend("vector", prhs[1], PURLIN_F64, 1, &n);
  double cut = 0, normalised = 0;
  labels l = new_labels(n);
  check(purlin_graph_bisect(graph, vector, choice_argument("cut", prhs[2], cuts), l.tensor, &cut, &normalised));
  plhs[0] = finish_labels(&l);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar(cut);
  if (nlhs > 2) plhs[2] = mxCreateDoubleScalar(normalised);
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

/* [points, weights, count] = graph_density(A, steps, vectors, options): the first `count` of the columns */
static void density(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  int64_t steps = integer_argument("steps", prhs[1], 1, 1 << 20);
  int64_t vectors = integer_argument("vectors", prhs[2], 1, 1 << 20), count = 0;
  purlin_tensor *points = NULL, *weights = NULL;
  watch w;
  purlin_lanczos_options o = options_of(prhs[3], 1, &w);
  if (nlhs < 3) fail("internal", "graph_density: has 3 results");
  plhs[0] = new_column(PURLIN_F64, steps * vectors, &points);
  plhs[1] = new_column(PURLIN_F64, steps * vectors, &weights);
  check_watched(&w, call_library(&w, run_density, (void *[]){a, &o, &steps, &vectors, points, weights, &count}));
  plhs[2] = mxCreateDoubleScalar((double)count);
  (void)nrhs;
}

/* A new sparse matrix as row numbers, column numbers, values and sizes. */
static void hand_over(purlin_matrix *made, int nlhs, mxArray *plhs[]) {
  (void)temporary_matrix(made);
  if (nlhs < 5) fail("internal", "a sparse matrix has 5 results");
  gather_rows(made, plhs);
}

/* [i, j, values, rows, cols] = graph_of_image(image, radius, intensity, distance, floor) */
static void of_image(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  check(purlin_graph_of_image(gateway_context(), matrix_of("image", prhs[0]), scalar_argument("radius", prhs[1]),
                              scalar_argument("intensity", prhs[2]), scalar_argument("distance", prhs[3]),
                              scalar_argument("floor", prhs[4]), &made));
  hand_over(made, nlhs, plhs);
  (void)nrhs;
}

/* [i, j, values, rows, cols] = symmetrise(A, how) */
static void symmetrise(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  check(purlin_matrix_symmetrise(matrix_of("A", prhs[0]), choice_argument("how", prhs[1], symmetries), &made));
  hand_over(made, nlhs, plhs);
  (void)nrhs;
}

/* matrix_check(A): A is the transpose of a sparse matrix of MATLAB's */
static void check_entries(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  check(purlin_matrix_check(matrix_of("A", prhs[0]), PURLIN_CHECK_FULL));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* [i, j, values, rows, cols] = read_market(path) */
static void read_market(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  char *path = mxArrayToString(prhs[0]);
  if (!path) fail("invalidArgument", "path: is not text");
  check(purlin_matrix_read_market(gateway_context(), path, PURLIN_DTYPE_OF_FILE, &made));
  hand_over(made, nlhs, plhs);
  (void)nrhs;
}

/* write_market(A, path, symmetric) */
static void write_market(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  char *path = mxArrayToString(prhs[1]);
  if (!path) fail("invalidArgument", "path: is not text");
  check(purlin_matrix_write_market(matrix_of("A", prhs[0]), path, is_true("symmetric", prhs[2])));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* [i, j, values, rows, cols] = read_edges(path, weighted) */
static void read_edges(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  char *path = mxArrayToString(prhs[0]);
  if (!path) fail("invalidArgument", "path: is not text");
  check(purlin_matrix_read_edges(gateway_context(), path, PURLIN_F64, is_true("weighted", prhs[1]), PURLIN_DUPLICATES_SUM,
                                 &made, NULL));
  hand_over(made, nlhs, plhs);
  (void)nrhs;
}

/* write_edges(A, path, symmetric) */
static void write_edges(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  char *path = mxArrayToString(prhs[1]);
  if (!path) fail("invalidArgument", "path: is not text");
  check(purlin_matrix_write_edges(matrix_of("A", prhs[0]), path, is_true("symmetric", prhs[2])));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

const command spectra_commands[] = {
  {"lanczos_solve", 6, 6, solve}, {"lanczos_tridiagonalise", 3, 3, tridiagonalise},
  {"lanczos_singular", 3, 3, singular},         {"spmv", 4, 4, product},
  {"spmv_create", 2, 2, plan_create},     {"spmv_apply", 3, 3, plan_apply},
  {"spmv_properties", 1, 1, plan_properties}, {"spmv_destroy", 1, 1, plan_destroy},
  {"graph_embed", 3, 3, embed},           {"graph_cluster", 3, 3, cluster},
  {"graph_fiedler", 3, 3, fiedler},       {"graph_bisect", 3, 3, bisect},
  {"graph_components", 1, 1, components}, {"graph_density", 4, 4, density},
  {"graph_of_image", 5, 5, of_image},     {"symmetrise", 2, 2, symmetrise},
  {"matrix_check", 1, 1, check_entries},
  {"read_edges", 2, 2, read_edges},       {"write_edges", 3, 3, write_edges},
  {"read_market", 1, 1, read_market},     {"write_market", 3, 3, write_market},
  {NULL, 0, 0, NULL},
};
