/* Products with sparse matrices, eigenpairs, singular triplets and tridiagonal matrices. */
#include "spectra.h"

static purlin_context *context, *foreign;
static const double pi = 3.14159265358979323846;

static purlin_matrix *golden(const char *name) {
  char path[600];
  purlin_matrix *matrix = NULL;
  snprintf(path, sizeof path, "%s/spectral/%s.mtx.gz", PURLIN_GOLDEN, name);
  OK(purlin_matrix_read_market(context, path, PURLIN_F64, &matrix));
  return matrix;
}

static double uniform(uint64_t *state) {
  return (double)(draw(state) >> 11) / 4503599627370496.0 - 1.0;
}

/* A sparse matrix of ROWS x COLS with an empty row, a long row and many short ones, and its entries in full. */
enum { ROWS = 67, COLS = 53 };
static double full[ROWS][COLS];

static purlin_matrix *random_matrix(void) {
  static int64_t row[ROWS * COLS], col[ROWS * COLS];
  static double value[ROWS * COLS];
  uint64_t seed = 11;
  int64_t i, j, k = 0;
  for (i = 0; i < ROWS; i++)
    for (j = 0; j < COLS; j++) {
      full[i][j] = 0;
      if (i == 5 || (i != 31 && draw(&seed) % 16)) continue;
      full[i][j] = value[k] = uniform(&seed);
      row[k] = i;
      col[k++] = j;
    }
  return coordinates(context, ROWS, COLS, k, row, col, value);
}

static purlin_spmv *planned(const purlin_matrix *a, int32_t method, int32_t op) {
  purlin_spmv_options o;
  purlin_spmv *plan = NULL;
  OK(purlin_spmv_options_init(&o, sizeof o));
  o.method = method;
  o.op = op;
  OK(purlin_spmv_create(a, &o, &plan));
  return plan;
}

static void products(void) {
  purlin_matrix *a = random_matrix();
  const double alpha = -1.5, beta = 0.5, zero = 0;
  double x[ROWS], y[ROWS], was[ROWS];
  uint64_t seed = 5;
  int32_t method, op;
  int i, j;
  for (method = PURLIN_SPMV_METHOD_AUTO; method <= PURLIN_SPMV_METHOD_ENTRY_SPLIT; method++)
    for (op = PURLIN_SPMV_PLAIN; op <= PURLIN_SPMV_ADJOINT; op++) {
      int rows = op ? COLS : ROWS, cols = op ? ROWS : COLS;
      purlin_spmv *plan = planned(a, method, op);
      purlin_tensor *tx = vector_of(context, PURLIN_F64, cols, x), *ty = vector_of(context, PURLIN_F64, rows, y);
      for (i = 0; i < cols; i++) x[i] = uniform(&seed);
      for (i = 0; i < rows; i++) was[i] = y[i] = uniform(&seed);
      OK(purlin_spmv_apply(plan, NULL, &alpha, a, tx, &beta, ty));
      for (i = 0; i < rows; i++) {
        double sum = 0, size = 0;
        for (j = 0; j < cols; j++) {
          double v = op ? full[j][i] : full[i][j];
          sum += v * x[j];
          size += fabs(v * x[j]);
        }
        CHECK(fabs(y[i] - (alpha * sum + beta * was[i])) <= 2 * (COLS + 2) * 2.3e-16 * (1.5 * size + fabs(was[i])));
      }
      /* With beta 0 nothing of y is read, with alpha 0 nothing of x. */
      for (i = 0; i < rows; i++) y[i] = NAN;
      OK(purlin_spmv_apply(plan, NULL, NULL, a, tx, NULL, ty));
      for (i = 0; i < rows; i++) CHECK(y[i] == y[i]);
      x[0] = NAN;
      for (i = 0; i < rows; i++) y[i] = 3;
      OK(purlin_spmv_apply(plan, NULL, &zero, a, tx, &beta, ty));
      for (i = 0; i < rows; i++) CHECK(y[i] == 1.5);
      OK(purlin_tensor_destroy(ty));
      OK(purlin_tensor_destroy(tx));
      OK(purlin_spmv_destroy(plan));
    }
  OK(purlin_matrix_destroy(a));
}

/* Blocks, by rows and by columns, are products one by one. */
static void blocks(void) {
  enum { WIDTH = 3 };
  purlin_matrix *a = random_matrix(), *mx = NULL, *my = NULL;
  purlin_spmv *plan = planned(a, PURLIN_SPMV_METHOD_AUTO, PURLIN_SPMV_PLAIN);
  double x[WIDTH][COLS], y[WIDTH][ROWS], by_rows[COLS * WIDTH], out[ROWS * WIDTH], by_columns[WIDTH * (ROWS + 4)];
  uint64_t seed = 3;
  int i, c;
  for (c = 0; c < WIDTH; c++) {
    purlin_tensor *tx = vector_of(context, PURLIN_F64, COLS, x[c]), *ty = vector_of(context, PURLIN_F64, ROWS, y[c]);
    for (i = 0; i < COLS; i++) by_rows[i * WIDTH + c] = x[c][i] = uniform(&seed);
    OK(purlin_spmv_apply(plan, NULL, NULL, a, tx, NULL, ty));
    OK(purlin_tensor_destroy(ty));
    OK(purlin_tensor_destroy(tx));
  }
  OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_ROW_MAJOR, COLS, WIDTH, WIDTH, by_rows, &mx));
  OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_ROW_MAJOR, ROWS, WIDTH, WIDTH, out, &my));
  OK(purlin_spmv_apply_block(plan, NULL, NULL, a, mx, NULL, my));
  for (c = 0; c < WIDTH; c++)
    for (i = 0; i < ROWS; i++) CHECK(near(out[i * WIDTH + c], y[c][i], 1e-14));
  OK(purlin_matrix_destroy(my));
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, ROWS, WIDTH, ROWS + 4, by_columns, &my));
  UNSUPPORTED("y: is stored in another order than x", purlin_spmv_apply_block(plan, NULL, NULL, a, mx, NULL, my));
  OK(purlin_matrix_destroy(mx));
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, COLS, WIDTH, COLS, x, &mx));
  OK(purlin_spmv_apply_block(plan, NULL, NULL, a, mx, NULL, my));
  for (c = 0; c < WIDTH; c++)
    for (i = 0; i < ROWS; i++) CHECK(by_columns[c * (ROWS + 4) + i] == y[c][i]);
  OK(purlin_matrix_destroy(my));
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, ROWS, WIDTH + 1, &my));
  BAD_ARGUMENT("y: is 67 x 4, 67 x 3 is needed", purlin_spmv_apply_block(plan, NULL, NULL, a, mx, NULL, my));
  BAD_ARGUMENT("x: is 67 x 4", purlin_spmv_apply_block(plan, NULL, NULL, a, my, NULL, mx));
  OK(purlin_matrix_destroy(my));
  OK(purlin_matrix_destroy(mx));
  OK(purlin_spmv_destroy(plan));
  OK(purlin_matrix_destroy(a));
}

static void plans(void) {
  purlin_matrix *a = random_matrix(), *p = path_graph(context, 20), *d = NULL;
  purlin_spmv *plan = planned(a, PURLIN_SPMV_METHOD_MERGE, PURLIN_SPMV_TRANSPOSE);
  purlin_spmv_options o;
  purlin_spmv_info info;
  double x[ROWS] = {0}, y[ROWS];
  purlin_tensor *tx = vector_of(context, PURLIN_F64, ROWS, x), *ty = vector_of(context, PURLIN_F64, COLS, y);
  OK(purlin_spmv_info_init(&info, sizeof info));
  OK(purlin_spmv_properties(plan, &info));
  CHECK(info.method == PURLIN_SPMV_METHOD_MERGE && info.rows == COLS && info.tiles >= 1 && info.bytes > 0);
  CHECK(info.nnz == matrix_info(a).nnz && info.reason[0] != '\0' && near(info.mean * COLS, (double)info.nnz, 1e-12));
  BAD_ARGUMENT("a: is 20 x 20 with 38 entries, the plan is for 67 x 53",
               purlin_spmv_apply(plan, NULL, NULL, p, tx, NULL, ty));
  BAD_ARGUMENT("y: is given twice", purlin_spmv_apply(plan, NULL, NULL, a, tx, NULL, tx));
  OK(purlin_tensor_destroy(ty));
  ty = vector_of(context, PURLIN_F64, COLS, x + 4);
  BAD_ARGUMENT("y: overlaps x", purlin_spmv_apply(plan, NULL, NULL, a, tx, NULL, ty));
  OK(purlin_tensor_destroy(ty));
  ty = vector_of(context, PURLIN_F64, COLS, y);
  BAD_ARGUMENT("x: has dimensions [53], [67] are needed", purlin_spmv_apply(plan, NULL, NULL, a, ty, NULL, tx));
  BAD_HANDLE("plan: is NULL", purlin_spmv_apply(NULL, NULL, NULL, a, tx, NULL, ty));
  BAD_HANDLE("plan: is a handle of another type", purlin_spmv_destroy((purlin_spmv *)(void *)a));
  OK(purlin_spmv_update(plan, a));
  BAD_ARGUMENT("a: is 20 x 20", purlin_spmv_update(plan, p));
  OK(purlin_spmv_destroy(plan));
  BAD_HANDLE("plan: was destroyed", purlin_spmv_destroy(plan));
  OK(purlin_spmv_destroy(NULL));
  OK(purlin_spmv_options_init(&o, sizeof o));
  o.method = 8;
  BAD_ARGUMENT("method: is 8, outside 0 to 7", purlin_spmv_create(a, &o, &plan));
  OK(purlin_spmv_options_init(&o, sizeof o));
  o.op = -1;
  BAD_ARGUMENT("op: is -1", purlin_spmv_create(a, &o, &plan));
  OK(purlin_spmv_options_init(&o, sizeof o));
  o.op = PURLIN_SPMV_TRANSPOSE;
  o.symmetric = 1;
  BAD_ARGUMENT("symmetric: is set, a is 67 x 53", purlin_spmv_create(a, &o, &plan));
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 3, 3, &d));
  UNSUPPORTED("a: is dense, a sparse matrix is needed", purlin_spmv_create(d, NULL, &plan));
  OK(purlin_matrix_destroy(d));
  BAD_ARGUMENT("plan: is NULL", purlin_spmv_create(a, NULL, NULL));
  OK(purlin_tensor_destroy(ty));
  OK(purlin_tensor_destroy(tx));
  OK(purlin_matrix_destroy(p));
  OK(purlin_matrix_destroy(a));
}

/* Eigenvalues, vectors, residuals and the report for the path of n vertices. */
static void eigenpairs(void) {
  enum { N = 300, K = 5 };
  purlin_matrix *a = path_graph(context, N), *mv = NULL;
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info;
  double values[K], residuals[K], vectors[K][N], start[N];
  purlin_tensor *tv = vector_of(context, PURLIN_F64, K, values), *tr = vector_of(context, PURLIN_F64, K, residuals);
  purlin_tensor *ts = vector_of(context, PURLIN_F64, N, start);
  int i, j, k;
  o.basis = 60;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N, K, N, vectors, &mv));
  OK(purlin_lanczos_info_init(&info, sizeof info));
  OK(purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tv, mv, tr, &info));
  CHECK(info.stop_reason == PURLIN_LANCZOS_CONVERGED && info.converged == K && info.count == K && info.basis == 60);
  CHECK(info.products > 60 && info.norm <= 2 && info.norm > 1.5 && info.degree == 0);
  for (k = 0; k < K; k++) {
    double worst = 0;
    CHECK(near(values[k], 2 * cos(pi * (k + 1) / (N + 1)), 1e-10));
    for (i = 0; i < N; i++) {
      double left = (i > 0 ? vectors[k][i - 1] : 0) + (i + 1 < N ? vectors[k][i + 1] : 0) - values[k] * vectors[k][i];
      worst += left * left;
    }
    CHECK(fabs(sqrt(worst) - residuals[k]) <= 1e-13 && residuals[k] <= 1e-9);
    for (j = 0; j <= k; j++) {
      double dot = 0;
      for (i = 0; i < N; i++) dot += vectors[k][i] * vectors[j][i];
      CHECK(fabs(dot - (j == k)) <= 1e-12);
    }
  }
  /* The first two again: they are deflated from the next solve. */
  {
    purlin_matrix *known = NULL;
    OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, N, 2, N, vectors, &known));
    o.count = 3;
    BAD_ARGUMENT("values: has dimensions [5], [3] are needed",
                 purlin_lanczos_solve_once(context, NULL, a, NULL, known, NULL, &o, tv, NULL, NULL, &info));
    o.count = K;
    OK(purlin_lanczos_solve_once(context, NULL, a, NULL, known, NULL, &o, tv, NULL, NULL, &info));
    for (k = 0; k < K; k++) CHECK(near(values[k], 2 * cos(pi * (k + 3) / (N + 1)), 1e-9));
    BAD_ARGUMENT("vectors: overlaps known", purlin_lanczos_solve_once(context, NULL, a, NULL, known, NULL, &o, tv, mv, NULL, &info));
    BAD_ARGUMENT("vectors: is given twice", purlin_lanczos_solve_once(context, NULL, a, NULL, mv, NULL, &o, tv, mv, NULL, &info));
    /* The first vertex alone is no eigenvector, and the path itself is no inverse. Both are named. */
    for (i = 0; i < N; i++) start[i] = i == 0;
    OK(purlin_matrix_destroy(known));
    OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, N, 1, N, start, &known));
    FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "known: vector 0 is no eigenvector",
          purlin_lanczos_solve_once(context, NULL, a, NULL, known, NULL, &o, tv, NULL, NULL, &info));
    o.which = PURLIN_LANCZOS_NEAREST, o.sigma = 0.3;
    FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "solve: is not the inverse of A - sigma I",
          purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, a, &o, tv, NULL, NULL, &info));
    OK(purlin_matrix_destroy(known));
  }
  /* The smallest of the Laplacian, which has the constants to eigenvalue 0. */
  o = lanczos(K, PURLIN_LANCZOS_SMALLEST, PURLIN_LANCZOS_LAPLACIAN);
  o.basis = 80;
  for (i = 0; i < N; i++) start[i] = i % 7 - 2.5;
  OK(purlin_lanczos_solve_once(context, NULL, a, ts, NULL, NULL, &o, tv, mv, tr, &info));
  for (k = 0; k < K; k++) CHECK(near(values[k], 2 - 2 * cos(pi * k / N), 1e-9));
  CHECK(near(vectors[0][17], 1 / sqrt(N), 1e-8));
  o.shift = 10;
  OK(purlin_lanczos_solve_once(context, NULL, a, ts, NULL, NULL, &o, tv, mv, tr, &info));
  CHECK(near(values[1], 12 - 2 * cos(pi / N), 1e-9));

  /* One restart is not enough: the pairs found so far are returned. */
  o = lanczos(K, PURLIN_LANCZOS_SMALLEST, PURLIN_LANCZOS_LAPLACIAN);
  o.restarts = 1;
  FAILS(PURLIN_ERROR_NO_CONVERGENCE, "of 5 eigenpairs after 1 restarts",
        purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tv, mv, tr, &info));
  CHECK(info.stop_reason == PURLIN_LANCZOS_RESTARTS && info.converged < K && info.restarts == 1);
  OK(purlin_tensor_destroy(ts));
  OK(purlin_tensor_destroy(tr));
  OK(purlin_tensor_destroy(tv));
  OK(purlin_matrix_destroy(mv));
  OK(purlin_matrix_destroy(a));
}

static int stop_at_once(int64_t step, int64_t steps, double measure, void *user) {
  (void)step;
  (void)steps;
  (void)measure;
  ++*(int *)user;
  return 1;
}

/* diag(0, 1, ..., n - 1) as a function. */
static int32_t diagonal(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                        uint64_t cuda_stream, void *user) {
  (void)cuda_stream;
  int64_t i, j;
  (void)adjoint;
  if (*(int *)user < 0) return *(int *)user;
  for (j = 0; j < count; j++)
    for (i = 0; i < ldx; i++) ((double *)y)[j * ldy + i] = (double)i * ((const double *)x)[j * ldx + i];
  return 0;
}

static void operators(void) {
  enum { N = 200, K = 4 };
  purlin_matrix *a = NULL;
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_BOTH_ENDS, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info;
  double values[K];
  purlin_tensor *tv = vector_of(context, PURLIN_F64, K, values);
  int state = 1, calls = 0;
  OK(purlin_lanczos_info_init(&info, sizeof info));
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, diagonal, &state, PURLIN_HOST, &a));
  o.basis = 60;
  OK(purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tv, NULL, NULL, &info));
  CHECK(near(values[0], 199, 1e-9) && near(values[1], 198, 1e-9) && near(values[2], 1, 1e-6) && fabs(values[3]) < 1e-6);
  state = -3;
  FAILS(PURLIN_ERROR_IO, "returned -3", purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tv, NULL, NULL, &info));
  state = 1;
  o.progress = stop_at_once;
  o.progress_user = &calls;
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tv, NULL, NULL, NULL));
  CHECK(calls == 1);
  o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_LAPLACIAN);
  UNSUPPORTED("a: is an operator, a sparse matrix is needed",
              purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tv, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(tv));
  OK(purlin_matrix_destroy(a));
}

/* The reports of a solve to its progress function. */
typedef struct {
  int64_t count, first, last, steps;
  double before, after;
  int is_wrong;
} reports;

static int32_t record(int64_t step, int64_t steps, double measure, void *user) {
  reports *r = user;
  if (r->count++ == 0) r->first = step, r->before = measure;
  r->last = step, r->steps = steps, r->after = measure;
  if (step < 0 || step > steps || !(measure >= 0)) r->is_wrong = 1;
  return 0;
}

/* As the header has it: pairs that have converged, those wanted, and the largest residual of these, infinite before there is
   one. */
static void reports_of_solves(void) {
  enum { N = 400, EACH = 3 };
  double diagonal_of[N], values[EACH];
  int64_t place[N];
  purlin_matrix *a;
  purlin_tensor *list = vector_of(context, PURLIN_F64, EACH, values);
  int way, i;
  for (i = 0; i < N; i++) place[i] = i, diagonal_of[i] = sqrt(i);
  a = coordinates(context, N, N, N, place, place, diagonal_of);
  for (way = 0; way < 5; way++) {
    purlin_lanczos_options o = lanczos(EACH, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
    purlin_lanczos_info info;
    reports seen;
    memset(&seen, 0, sizeof seen);
    o.tolerance = 1e-5;
    o.progress = record;
    o.progress_user = &seen;
    if (way == 1) o.block = 2;
    if (way == 2) o.which = PURLIN_LANCZOS_BOTH_ENDS;
    if (way == 3) o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
    if (way == 4) o.method = PURLIN_LANCZOS_METHOD_PLAIN, o.basis = 350;
    OK(purlin_lanczos_info_init(&info, sizeof info));
    OK(purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, list, NULL, NULL, &info));
    CHECK(seen.count >= 2 && !seen.is_wrong && seen.steps == EACH);
    CHECK(seen.first == 0 && isinf(seen.before) && seen.last == EACH && isfinite(seen.after));
    /* Of a filter it is the residual of its polynomial. */
    if (way != 3) CHECK(seen.after <= 1e-5 * info.norm && info.residual <= 1.1 * seen.after + 1e-12);
  }
  OK(purlin_tensor_destroy(list));
  OK(purlin_matrix_destroy(a));
}

/* The hypercube Q10: 10, ten times 8, 6: a single Krylov space holds one copy of each. */
static void multiplicities(void) {
  enum { D = 10, N = 1 << D, K = 12 };
  static int64_t row[N * D], col[N * D];
  static double value[N * D];
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info;
  double values[K];
  purlin_tensor *tv = vector_of(context, PURLIN_F64, K, values);
  purlin_matrix *a;
  int i, b, k = 0;
  for (i = 0; i < N; i++)
    for (b = 0; b < D; b++) {
      row[k] = i;
      col[k] = i ^ (1 << b);
      value[k++] = 1;
    }
  a = coordinates(context, N, N, k, row, col, value);
  o.basis = 40;
  OK(purlin_lanczos_info_init(&info, sizeof info));
  OK(purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tv, NULL, NULL, &info));
  CHECK(info.recovered > 0);
  for (i = 0; i < K; i++) CHECK(near(values[i], i == 0 ? 10 : i <= 10 ? 8 : 6, 1e-9));
  OK(purlin_tensor_destroy(tv));
  OK(purlin_matrix_destroy(a));
}

static void solve_refusals(void) {
  purlin_matrix *a = path_graph(context, 100), *r = random_matrix(), *mv = NULL;
  purlin_lanczos_options o = lanczos(2, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX), bad;
  double values[2], start[100] = {0};
  float single[2];
  purlin_tensor *tv = vector_of(context, PURLIN_F64, 2, values), *ts = vector_of(context, PURLIN_F64, 100, start);
  purlin_tensor *tf = vector_of(context, PURLIN_F32, 2, single);
#define SOLVE(options) purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, options, tv, NULL, NULL, NULL)
#define REFUSED(text, field, number) \
  do {                               \
    bad = o;                         \
    bad.field = number;              \
    BAD_ARGUMENT(text, SOLVE(&bad)); \
  } while (0)
  REFUSED("count: is 0", count, 0);
  REFUSED("which: is 5, outside 0 to 4", which, 5);
  REFUSED("kind: is 10, outside 0 to 9", kind, 10);
  REFUSED("shift: is inf", shift, INFINITY);
  REFUSED("tolerance: is 1, at least 0 and less than 1 is needed", tolerance, 1);
  REFUSED("basis: is 2, outside", basis, 2);
  REFUSED("basis: is -1", basis, -1);
  REFUSED("restarts: is -1", restarts, -1);
  REFUSED("verify: is 3, outside 0 to 2", verify, 3);
  REFUSED("method: is 2, outside 0 to 1", method, 2);
  REFUSED("block: is 0", block, 0);
  REFUSED("orthogonalization: is -1, outside 0 to 1", orthogonalization, -1);
  REFUSED("filter: is 2, outside 0 to 1", filter, 2);
  REFUSED("degree: is -4", degree, -4);
  REFUSED("struct_size is 3", struct_size, 3);
  bad = o;
  bad.count = 101;
  BAD_ARGUMENT("count: is 101, outside 1 to n = 100", SOLVE(&bad));
  bad.count = 100;
  BAD_ARGUMENT("values: has dimensions [2], [100] are needed", SOLVE(&bad));
  BAD_ARGUMENT("a: is 67 x 53, a square matrix is needed",
               purlin_lanczos_solve_once(context, NULL, r, NULL, NULL, NULL, &o, tv, NULL, NULL, NULL));
  BAD_ARGUMENT("start: vector 0 is 0", purlin_lanczos_solve_once(context, NULL, a, ts, NULL, NULL, &o, tv, NULL, NULL, NULL));
  BAD_ARGUMENT("start: has dimensions [2], [100] are needed",
               purlin_lanczos_solve_once(context, NULL, a, tf, NULL, NULL, &o, tv, NULL, NULL, NULL));
  BAD_ARGUMENT("values: is F32, F64 is needed", purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tf, NULL, NULL, NULL));
  BAD_HANDLE("values: is NULL", purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, NULL, NULL, NULL, NULL));
  BAD_HANDLE("a: is NULL", purlin_lanczos_solve_once(context, NULL, NULL, NULL, NULL, NULL, &o, tv, NULL, NULL, NULL));
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 100, 3, &mv));
  BAD_ARGUMENT("vectors: is 100 x 3, 100 x 2 is needed",
               purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tv, mv, NULL, NULL));
  OK(purlin_matrix_destroy(mv));
  OK(purlin_matrix_create(foreign, PURLIN_F64, PURLIN_HOST, 0, 100, 2, &mv));
  BAD_ARGUMENT("vectors: belongs to another context",
               purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tv, mv, NULL, NULL));
  OK(purlin_matrix_destroy(mv));
  BAD_ARGUMENT("options: is NULL", purlin_lanczos_options_init(NULL, sizeof o));
  OK(purlin_tensor_destroy(tf));
  OK(purlin_tensor_destroy(ts));
  OK(purlin_tensor_destroy(tv));
  OK(purlin_matrix_destroy(r));
  OK(purlin_matrix_destroy(a));
}

/* A start vector of singular triplets is taken, or refused by name. */
static void start_of_triplets(purlin_matrix *a, purlin_lanczos_options *o, purlin_tensor *values, const double *largest) {
  enum { LEAST = ROWS < COLS ? ROWS : COLS };
  double start[LEAST] = {0}, *found = NULL;
  purlin_tensor *vector = vector_of(context, PURLIN_F64, LEAST, start);
  purlin_tensor_info shape;
  OK(purlin_tensor_info_init(&shape, sizeof shape));
  OK(purlin_tensor_properties(values, &shape));
  found = (double *)(uintptr_t)shape.data;
  BAD_ARGUMENT("start: is 0", purlin_lanczos_singular_once(context, NULL, a, vector, o, NULL, values, NULL, NULL, NULL));
  start[0] = NAN;
  BAD_ARGUMENT("start: element 0 is not finite", purlin_lanczos_singular_once(context, NULL, a, vector, o, NULL, values, NULL, NULL, NULL));
  start[0] = 1;
  OK(purlin_lanczos_singular_once(context, NULL, a, vector, o, NULL, values, NULL, NULL, NULL));
  CHECK(near(found[0], largest[0], 1e-12));
  OK(purlin_tensor_destroy(vector));
}

/* Singular values 1, 1e-1, ..: none is squared on the way, and vectors are orthonormal also where values are rounding. */
static void graded(void) {
  enum { N = 30, K = 12 };
  static double u[K][N + 10], v[K][N];
  int64_t row[N], col[N];
  double values[N], found[K], residuals[K];
  purlin_matrix *a = NULL, *mu = NULL, *mv = NULL;
  purlin_tensor *tv = vector_of(context, PURLIN_F64, K, found), *tr = vector_of(context, PURLIN_F64, K, residuals);
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info;
  int i, j, k;
  for (i = 0; i < N; i++) row[i] = N + 9 - i, col[i] = i, values[i] = pow(10, -i);
  a = coordinates(context, N + 10, N, N, row, col, values);
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N + 10, K, N + 10, u, &mu));
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N, K, N, v, &mv));
  OK(purlin_lanczos_info_init(&info, sizeof info));
  OK(purlin_lanczos_singular_once(context, NULL, a, NULL, &o, mu, tv, mv, tr, &info));
  CHECK(info.converged == K && near(info.norm, 1, 1e-9));
  for (k = 0; k < K; k++) {
    CHECK(fabs(found[k] - values[k]) <= 1e-15 && residuals[k] <= 2e-10 * found[k] + 2e-14);
    for (j = 0; j < K; j++) {
      double left = 0, right = 0;
      for (i = 0; i < N + 10; i++) left += u[k][i] * u[j][i];
      for (i = 0; i < N; i++) right += v[k][i] * v[j][i];
      CHECK(fabs(left - (j == k)) <= 1e-13 && fabs(right - (j == k)) <= 1e-13);
    }
  }
  OK(purlin_tensor_destroy(tr));
  OK(purlin_tensor_destroy(tv));
  OK(purlin_matrix_destroy(mv));
  OK(purlin_matrix_destroy(mu));
  OK(purlin_matrix_destroy(a));
}

/* The triplets of the random matrix, the largest both ways and the smallest. */
static void singular(void) {
  enum { K = 4 };
  static double u[K][ROWS], v[K][COLS];
  static const int32_t kinds[] = {PURLIN_LANCZOS_GRAM, PURLIN_LANCZOS_AUGMENTED, PURLIN_LANCZOS_MATRIX};
  purlin_matrix *a = random_matrix(), *mu = NULL, *mv = NULL;
  double values[K], residuals[K], largest[K];
  purlin_tensor *tv = vector_of(context, PURLIN_F64, K, values), *tr = vector_of(context, PURLIN_F64, K, residuals);
  purlin_lanczos_options o;
  purlin_lanczos_info info;
  int run, i, j, k;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, ROWS, K, ROWS, u, &mu));
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, COLS, K, COLS, v, &mv));
  OK(purlin_lanczos_info_init(&info, sizeof info));
  for (run = 0; run < 3; run++) {
    int smallest = kinds[run] == PURLIN_LANCZOS_MATRIX;
    o = lanczos(K, smallest ? PURLIN_LANCZOS_SMALLEST : PURLIN_LANCZOS_LARGEST, kinds[run]);
    memset(u, 0xff, sizeof u);
    memset(v, 0xff, sizeof v);
    OK(purlin_lanczos_singular_once(context, NULL, a, NULL, &o, mu, tv, mv, tr, &info));
    CHECK(info.count == K && info.converged == K && info.products > 0);
    for (k = 0; k < K; k++) {
      double worst[2] = {0, 0}, norm = 0;
      for (i = 0; i < ROWS; i++) {
        double sum = -values[k] * u[k][i];
        for (j = 0; j < COLS; j++) sum += full[i][j] * v[k][j];
        worst[0] += sum * sum;
        norm += u[k][i] * u[k][i];
      }
      for (j = 0; j < COLS; j++) {
        double sum = -values[k] * v[k][j];
        for (i = 0; i < ROWS; i++) sum += full[i][j] * u[k][i];
        worst[1] += sum * sum;
      }
      CHECK(fabs(sqrt(worst[0] > worst[1] ? worst[0] : worst[1]) - residuals[k]) <= 1e-12 && residuals[k] <= 1e-7);
      CHECK(near(norm, 1, 1e-12));
      if (k > 0) CHECK(smallest ? values[k] >= values[k - 1] : values[k] <= values[k - 1]);
      if (run == 0) largest[k] = values[k];
      if (run == 1) CHECK(near(values[k], largest[k], 1e-9));
    }
    CHECK(smallest ? values[K - 1] < largest[K - 1] : values[0] > 1);
  }
  o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_GRAM);
  OK(purlin_lanczos_singular_once(context, NULL, a, NULL, &o, NULL, tv, NULL, NULL, NULL));
  CHECK(near(values[0], largest[0], 1e-12));
  BAD_ARGUMENT("v: is given twice", purlin_lanczos_singular_once(context, NULL, a, NULL, &o, mu, tv, mu, NULL, NULL));
  BAD_ARGUMENT("u: is 53 x 4, 67 x 4 is needed", purlin_lanczos_singular_once(context, NULL, a, NULL, &o, mv, tv, NULL, NULL, NULL));
  o.kind = PURLIN_LANCZOS_LAPLACIAN;
  BAD_ARGUMENT("kind: is LAPLACIAN, MATRIX, GRAM or AUGMENTED is needed", purlin_lanczos_singular_once(context, NULL, a, NULL, &o, NULL, tv, NULL, NULL, NULL));
  o.kind = PURLIN_LANCZOS_GRAM;
  o.shift = 1;
  BAD_ARGUMENT("shift: is 1", purlin_lanczos_singular_once(context, NULL, a, NULL, &o, NULL, tv, NULL, NULL, NULL));
  o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  start_of_triplets(a, &o, tv, largest);
  o = lanczos(K, PURLIN_LANCZOS_BOTH_ENDS, PURLIN_LANCZOS_GRAM);
  BAD_ARGUMENT("which: is BOTH_ENDS", purlin_lanczos_singular_once(context, NULL, a, NULL, &o, NULL, tv, NULL, NULL, NULL));
  o = lanczos(K, PURLIN_LANCZOS_SMALLEST, PURLIN_LANCZOS_AUGMENTED);
  FAILS(PURLIN_ERROR_NOT_SUPPORTED, "which", purlin_lanczos_singular_once(context, NULL, a, NULL, &o, NULL, tv, NULL, NULL, NULL));
  BAD_HANDLE("values: is NULL", purlin_lanczos_singular_once(context, NULL, a, NULL, &o, NULL, NULL, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(tr));
  OK(purlin_tensor_destroy(tv));
  OK(purlin_matrix_destroy(mv));
  OK(purlin_matrix_destroy(mu));
  OK(purlin_matrix_destroy(a));
}

static void tridiagonal(void) {
  enum { M = 120 };
  purlin_matrix *a = golden("as-caida20071105");
  purlin_lanczos *plain = solver(context, NULL);
  double alpha[M], beta[M], values[M], first[M], last[M], total = 0;
  purlin_lanczos_accepted accepted[M];
  int64_t steps = 0, count = 0, i;
  OK(purlin_lanczos_tridiagonalize(plain, NULL, a, M, NULL, alpha, beta, &steps));
  CHECK(steps == M);
  OK(purlin_lanczos_cullum_willoughby(M, alpha, beta, 1e-12, 1e-6, accepted, &count));
  CHECK(count >= 6 && count < M);
  /* Published values; the largest has copies by now, the next two come after it, not those copies. */
  CHECK(near(accepted[count - 1].value, 69.643448747, 1e-8) && accepted[count - 1].copies > 1);
  CHECK(near(accepted[count - 2].value, 51.131864981, 1e-8) && near(accepted[count - 3].value, 41.371202093, 1e-8));
  OK(purlin_tridiagonal_eigenvalues(M, alpha, beta, values, first, last));
  for (i = 0; i < M; i++) total += first[i] * first[i];
  CHECK(near(total, 1, 1e-12) && values[0] <= values[1] && near(values[M - 1], 69.643448747, 1e-8));
  OK(purlin_tridiagonal_eigenvalues(0, NULL, NULL, NULL, NULL, NULL));
  for (i = 0; i < 5; i++) alpha[i] = 2, beta[i] = -1;
  OK(purlin_tridiagonal_eigenvalues(5, alpha, beta, values, NULL, NULL));
  for (i = 0; i < 5; i++) CHECK(near(values[i], 2 - 2 * cos(pi * (double)(i + 1) / 6), 1e-14));
  alpha[2] = NAN;
  BAD_ARGUMENT("diagonal: or off-diagonal has NaN", purlin_tridiagonal_eigenvalues(5, alpha, beta, values, NULL, NULL));
  BAD_ARGUMENT("diagonal: is NULL", purlin_tridiagonal_eigenvalues(5, NULL, beta, values, NULL, NULL));
  BAD_ARGUMENT("m: is -1", purlin_tridiagonal_eigenvalues(-1, alpha, beta, values, NULL, NULL));
  BAD_ARGUMENT("cluster: is 2", purlin_lanczos_cullum_willoughby(5, beta, beta, 2, 1e-6, accepted, &count));
  BAD_ARGUMENT("steps: is 9223372036854775807, more than 2^63 bytes",
               purlin_lanczos_tridiagonalize(plain, NULL, a, INT64_MAX, NULL, alpha, beta, &steps));
  BAD_ARGUMENT("steps: is 0", purlin_lanczos_tridiagonalize(plain, NULL, a, 0, NULL, alpha, beta, &steps));
  BAD_ARGUMENT("beta: is NULL", purlin_lanczos_tridiagonalize(plain, NULL, a, 3, NULL, alpha, NULL, &steps));
  OK(purlin_lanczos_destroy(plain));
  OK(purlin_matrix_destroy(a));
}

int main(void) {
  context = cpu_context(2);
  foreign = cpu_context(1);
  products();
  blocks();
  plans();
  eigenpairs();
  operators();
  reports_of_solves();
  multiplicities();
  solve_refusals();
  singular();
  graded();
  tridiagonal();
  OK(purlin_context_destroy(foreign));
  OK(purlin_context_destroy(context));
  return finish();
}
