/* Singular triplets of graded matrices in both precisions, and of operators that violate their declared properties. */
#include "spectra.h"

enum { ROWS = 200, COLS = 150, K = 12 };

static purlin_context *context;

/* Entry (i, k) of an orthogonal n x n matrix of sines. */
static double sine(int n, int i, int k) {
  return sqrt(2.0 / (n + 1)) * sin(3.14159265358979323846 * (i + 1) * (k + 1) / (n + 1));
}

/* |<a_j, a_k> - delta| at most, over the K columns of n numbers. */
static double departure(const double *a, int n) {
  double most = 0;
  int i, j, k;
  for (k = 0; k < K; k++)
    for (j = 0; j <= k; j++) {
      double sum = 0;
      for (i = 0; i < n; i++) sum += a[k * n + i] * a[j * n + i];
      if (fabs(sum - (j == k)) > most) most = fabs(sum - (j == k));
    }
  return most;
}

/* A dense 200 x 150 matrix with the singular values 10^(-j / per), between orthogonal matrices of sines. */
static void graded(int single, double per) {
  static double entries[ROWS][COLS], u[K][ROWS], v[K][COLS], left[ROWS][COLS], right[COLS][COLS];
  static float rounded[ROWS][COLS], us[K][ROWS], vs[K][COLS];
  const purlin_dtype type = single ? PURLIN_F32 : PURLIN_F64;
  const double epsilon = single ? 1.2e-7 : 2.3e-16;
  static int64_t row[ROWS * COLS], col[ROWS * COLS];
  double values[K], residuals[K];
  purlin_matrix *a = NULL, *mu = NULL, *mv = NULL;
  purlin_tensor *tv = vector_of(context, PURLIN_F64, K, values), *tr = vector_of(context, PURLIN_F64, K, residuals);
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info, plan;
  purlin_lanczos *planner;
  int i, j, k;
  for (k = 0; k < COLS; k++) {
    for (i = 0; i < ROWS; i++) left[i][k] = sine(ROWS, i, k) * pow(10, -k / per);
    for (j = 0; j < COLS; j++) right[j][k] = sine(COLS, j, k);
  }
  for (i = 0; i < ROWS; i++)
    for (j = 0; j < COLS; j++) {
      double sum = 0;
      for (k = 0; k < COLS; k++) sum += left[i][k] * right[j][k];
      entries[i][j] = sum, rounded[i][j] = (float)sum;
      row[i * COLS + j] = i, col[i * COLS + j] = j;
    }
  OK(purlin_matrix_from_coordinates(context, type, 0, ROWS, COLS, ROWS * COLS, PURLIN_I64, row, col,
                                    single ? (void *)rounded : (void *)entries, PURLIN_DUPLICATES_SUM, &a));
  OK(purlin_matrix_borrow(context, type, 0, ROWS, K, ROWS, single ? (void *)us : (void *)u, &mu));
  OK(purlin_matrix_borrow(context, type, 0, COLS, K, COLS, single ? (void *)vs : (void *)v, &mv));
  OK(purlin_lanczos_info_init(&info, sizeof info));
  planner = solver(context, &o);
  OK(purlin_lanczos_info_init(&plan, sizeof plan));
  OK(purlin_lanczos_plan_singular(planner, a, &plan));
  OK(purlin_lanczos_singular_once(context, NULL, a, NULL, &o, mu, tv, mv, tr, &info));
  CHECK(info.converged == K && near(info.norm, 1, 1e-6));
  /* Whether Golub-Kahan-Lanczos followed or not, the report is that of the plan. */
  CHECK(plan.method == info.method && plan.method == PURLIN_LANCZOS_METHOD_RESTART && !strcmp(plan.reason, info.reason));
  CHECK(plan.host_bytes == info.host_bytes && plan.device_bytes == info.device_bytes && plan.products == 0);
  CHECK(strstr(plan.reason, "Golub-Kahan-Lanczos") && plan.contexts == 1 && plan.part_entries == ROWS * COLS);
  CHECK(plan.host_bytes + plan.device_bytes >= (ROWS + COLS) * (plan.basis + K) * (single ? 4 : 8));
  /* A GPU has a copy of the matrix now. */
  OK(purlin_lanczos_plan_singular(planner, a, &plan));
  CHECK(is_on_cpu() ? plan.host_bytes == info.host_bytes : plan.device_bytes < info.device_bytes);
  OK(purlin_lanczos_destroy(planner));
  if (single)
    for (k = 0; k < K; k++) {
      for (i = 0; i < ROWS; i++) u[k][i] = us[k][i];
      for (i = 0; i < COLS; i++) v[k][i] = vs[k][i];
    }
  for (k = 0; k < K; k++) {
    /* Rounding of the stored entries moves a value by a few units of the norm, and no value is squared on the way. */
    CHECK(fabs(values[k] - pow(10, -k / per)) <= 4 * epsilon);
    CHECK(residuals[k] <= 100 * epsilon);
  }
  CHECK(departure(&u[0][0], ROWS) <= 100 * epsilon && departure(&v[0][0], COLS) <= 100 * epsilon);
  OK(purlin_tensor_destroy(tr));
  OK(purlin_tensor_destroy(tv));
  OK(purlin_matrix_destroy(mv));
  OK(purlin_matrix_destroy(mu));
  OK(purlin_matrix_destroy(a));
}

/* An upper bidiagonal matrix; its adjoint, or another matrix in the adjoint's place. */
typedef struct {
  int is_wrong;
} bidiagonal;

static int32_t multiply(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                        uint64_t cuda_stream, void *user) {
  const bidiagonal *b = user;
  int64_t i, k;
  (void)cuda_stream;
  for (k = 0; k < count; k++) {
    const double *from = (const double *)x + k * ldx;
    double *to = (double *)y + k * ldy;
    for (i = 0; i < ROWS; i++) {
      double beside = adjoint && !b->is_wrong ? (i > 0 ? from[i - 1] : 0) : (i + 1 < ROWS ? from[i + 1] : 0);
      to[i] = (1 + (double)i / 50) * from[i] + 2 * beside;
    }
  }
  return 0;
}

/* Triplets by a product with another matrix than the adjoint are no success, whichever algorithm computes them. */
static void wrong_adjoint(void) {
  static bidiagonal right = {0}, wrong = {1};
  double values[3], residuals[3];
  purlin_tensor *tv = vector_of(context, PURLIN_F64, 3, values), *tr = vector_of(context, PURLIN_F64, 3, residuals);
  int way, is_wrong, k;
  for (way = 0; way < 5; way++)
    for (is_wrong = 0; is_wrong < 2; is_wrong++) {
      purlin_matrix *a = NULL;
      purlin_lanczos_options o = lanczos(3, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
      purlin_lanczos_info info;
      purlin_status status;
      if (way == 1) o.kind = PURLIN_LANCZOS_GRAM;
      if (way == 2) o.kind = PURLIN_LANCZOS_AUGMENTED;
      if (way == 3) o.kind = PURLIN_LANCZOS_GRAM, o.block = 2;
      if (way == 4) o.orthogonalization = PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL, o.kind = PURLIN_LANCZOS_GRAM;
      OK(purlin_lanczos_info_init(&info, sizeof info));
      for (k = 0; k < 3; k++) values[k] = -7;
      OK(purlin_matrix_from_operator(context, PURLIN_F64, ROWS, ROWS, multiply, is_wrong ? &wrong : &right, PURLIN_HOST, &a));
      status = purlin_lanczos_singular_once(context, NULL, a, NULL, &o, NULL, tv, NULL, tr, &info);
      if (is_wrong) {
        CHECK(status == PURLIN_ERROR_INVALID_ARGUMENT && strncmp(purlin_last_error_message(), "a: adjoint is not", 17) == 0);
        CHECK(info.converged == 0 && info.verified == 0);
        for (k = 0; k < 3; k++) CHECK(values[k] == -7);
      } else {
        CHECK(status == PURLIN_SUCCESS && info.converged == 3);
        for (k = 0; k < 3; k++) CHECK(residuals[k] <= 1e-7 * values[0]);
      }
      if ((status == PURLIN_SUCCESS) == is_wrong) fprintf(stderr, "way %d, wrong %d: %d %s\n", way, is_wrong, (int)status, purlin_last_error_message());
      OK(purlin_matrix_destroy(a));
    }
  OK(purlin_tensor_destroy(tr));
  OK(purlin_tensor_destroy(tv));
}

/* A plan refuses the same options as the run. */
static void plans(void) {
  purlin_lanczos_options o = lanczos(4, PURLIN_LANCZOS_SMALLEST, PURLIN_LANCZOS_MATRIX);
  purlin_matrix *a = path_graph(context, 20);
  purlin_lanczos *planner = solver(context, &o);
  purlin_lanczos_info info, old;
  double values[4];
  purlin_tensor *tv = vector_of(context, PURLIN_F64, 4, values);
  OK(purlin_lanczos_info_init(&info, sizeof info));
  OK(purlin_lanczos_plan_singular(planner, a, &info));
  CHECK(info.basis == 20 && info.part_rows == 20 && !strncmp(info.reason, "the smallest values", 19));
  old = info;
  old.struct_size = 5;
  BAD_HANDLE("lanczos: is NULL", purlin_lanczos_plan_singular(NULL, a, &info));
  BAD_HANDLE("a: is NULL", purlin_lanczos_plan_singular(planner, NULL, &info));
  BAD_ARGUMENT("info: is NULL", purlin_lanczos_plan_singular(planner, a, NULL));
  BAD_ARGUMENT("info: struct_size is 5", purlin_lanczos_plan_singular(planner, a, &old));
  OK(purlin_lanczos_destroy(planner));
#define REFUSED(fails, text, change)                                                                        \
  do {                                                                                                      \
    o = lanczos(4, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);                                          \
    change;                                                                                                 \
    planner = solver(context, &o);                                                                          \
    fails(text, purlin_lanczos_plan_singular(planner, a, &info));                                           \
    fails(text, purlin_lanczos_singular(planner, NULL, a, NULL, NULL, tv, NULL, NULL, NULL));               \
    OK(purlin_lanczos_destroy(planner));                                                                    \
  } while (0)
  REFUSED(BAD_ARGUMENT, "which: is BOTH_ENDS", o.which = PURLIN_LANCZOS_BOTH_ENDS);
  REFUSED(BAD_ARGUMENT, "count: is 21, outside 1 to 20", o.count = 21);
  REFUSED(BAD_ARGUMENT, "basis: is 30", o.basis = 30);
  REFUSED(BAD_ARGUMENT, "kind: is LAPLACIAN", o.kind = PURLIN_LANCZOS_LAPLACIAN);
  REFUSED(BAD_ARGUMENT, "shift: is 1", o.shift = 1);
  REFUSED(UNSUPPORTED, "which: is SMALLEST", (o.which = PURLIN_LANCZOS_SMALLEST, o.kind = PURLIN_LANCZOS_AUGMENTED));
#undef REFUSED
  OK(purlin_tensor_destroy(tv));
  OK(purlin_matrix_destroy(a));
}

int main(void) {
  context = test_context(2);
  plans();
  graded(0, 1);
  graded(1, 1);
  graded(1, 2);
  wrong_adjoint();
  OK(purlin_context_destroy(context));
  return finish();
}
