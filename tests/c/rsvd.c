/* Randomized SVD: a matrix of known factors by every method and from every kind of storage. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "rsvd.h"

static purlin_context *context;
/* Column-major and row-major. */
static double columns[M * N], rows[M * N], u[M * K], v[N * K], s[K];

static void make(void) {
  int i, j;
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) columns[i + M * j] = rows[j + N * i] = entry(i, j);
}

/* Factors of `a` into u, s and v; destroys the matrix. */
static purlin_rsvd_info factors(purlin_matrix *a, const purlin_rsvd_options *o) {
  purlin_rsvd *rsvd = NULL;
  purlin_matrix *left = over(context, PURLIN_F64, 0, M, K, u), *right = over(context, PURLIN_F64, 0, N, K, v);
  purlin_tensor *values = vector_of(context, PURLIN_F64, K, s);
  purlin_rsvd_info info = rsvd_info();
  memset(u, 0, sizeof u);
  memset(v, 0, sizeof v);
  memset(s, 0, sizeof s);
  OK(purlin_rsvd_create(context, o, &rsvd));
  OK(purlin_rsvd_compute(rsvd, NULL, a, left, values, right, &info));
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(values));
  OK(purlin_matrix_destroy(right));
  OK(purlin_matrix_destroy(left));
  OK(purlin_matrix_destroy(a));
  return info;
}

static void good_factors(const char *what, double tolerance) {
  const double found[5] = {value_error(s), vector_error(u, M), vector_error(v, N), skewness(u, M, K), skewness(v, N, K)};
  int right = found[0] < tolerance && found[1] < 10 * tolerance && found[2] < 10 * tolerance;
  right &= found[3] < 1e-12 && found[4] < 1e-12;
  if (!right) {
    fprintf(stderr, "%s: %g %g %g %g %g\n", what, found[0], found[1], found[2], found[3], found[4]);
  }
  CHECK(right);
}

static void methods(void) {
  static const char *names[] = {"auto", "basic", "fifo", "row fused", "gram", "brsvd",
                                "range", "fused", "merge", "krylov", "one pass", "direct"};
  /* With 16 columns and two iterations the six values, of which the least is 1/243 of the largest, are exact to 1e-9 and
     the vectors to 1e-6; blocks summed by their weight do worse, and data seen once much worse. */
  int method;
  for (method = PURLIN_RSVD_METHOD_AUTO; method <= PURLIN_RSVD_METHOD_DIRECT; method++) {
    purlin_rsvd_options o = rsvd_options();
    purlin_rsvd_info info;
    double frobenius = 0, rest = 0;
    int j;
    o.method = method;
    info = factors(over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, columns), &o);
    good_factors(names[method], method == PURLIN_RSVD_METHOD_ONE_PASS ? 1e-3 : method == PURLIN_RSVD_METHOD_BRSVD ? 1e-5 : 1e-7);
    CHECK(method == PURLIN_RSVD_METHOD_AUTO ? info.method != method : info.method == method);
    CHECK(info.rank == K && info.dtype == PURLIN_F64 && info.converged == 1 && info.transposed == 0);
    CHECK(info.passes >= 1 && info.passes <= 6 && info.contexts == 1 && info.reason[0] != 0 && info.seconds > 0);
    CHECK(info.sketch == PURLIN_SKETCH_GAUSSIAN && info.restarted == 0 && info.host_bytes_used > 0);
    for (j = 0; j < 20; j++) {
      frobenius += value(j) * value(j);
      if (j >= K) rest += value(j) * value(j);
    }
    CHECK(fabs(info.frobenius / sqrt(frobenius) - 1) < 1e-12);
    if (method != PURLIN_RSVD_METHOD_ONE_PASS) {
      CHECK(info.error_kind == PURLIN_RSVD_ERROR_IDENTITY && fabs(info.error_frobenius / sqrt(rest) - 1) < 1e-3);
      CHECK(fabs(info.error_relative - info.error_frobenius / info.frobenius) < 1e-12);
    }
    /* The sign rule: the largest entry of each right vector is positive. */
    for (j = 0; j < K; j++) {
      int i, most = 0;
      for (i = 1; i < N; i++)
        if (fabs(v[i + N * j]) > fabs(v[most + N * j])) most = i;
      CHECK(v[most + N * j] > 0);
    }
  }
}

/* Blocks of the matrix, of rows or of columns; the user pointer says which. */
static int32_t read_block(const int64_t *first, const int64_t *count, void *block, void *user) {
  const double *data = user;
  int64_t fast = data == rows ? N : M, i, j;
  for (j = 0; j < count[1]; j++)
    for (i = 0; i < count[0]; i++) ((double *)block)[i + count[0] * j] = data[first[0] + i + fast * (first[1] + j)];
  return 0;
}

/* Products. Those with the adjoint are multiplied by the number that the user pointer points to, or by 1. */
static int32_t apply(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                     uint64_t cuda_stream, void *user) {
  (void)cuda_stream;
  const double factor = adjoint && user ? *(const double *)user : 1;
  int64_t c, i, j;
  for (c = 0; c < count; c++) {
    const double *from = (const double *)x + ldx * c;
    double *to = (double *)y + ldy * c;
    for (i = 0; i < (adjoint ? N : M); i++) to[i] = 0;
    for (j = 0; j < N; j++)
      for (i = 0; i < M; i++) to[adjoint ? j : i] += factor * columns[i + M * j] * from[adjoint ? i : j];
  }
  return 0;
}

static purlin_matrix *from(purlin_source *source, purlin_flags flags) {
  purlin_matrix *m = NULL;
  OK(purlin_matrix_from_source(context, source, flags, &m));
  OK(purlin_source_destroy(source));
  return m;
}

static void storages(void) {
  static char folder[] = "/tmp/purlin-XXXXXX";
  static const char header[] = "\x93NUMPY\x01\0\x3e\0" "{'descr': '<f8', 'fortran_order': False, 'shape': (90, 40), }\n";
  const int64_t by_columns[2] = {M, N}, by_rows[2] = {N, M};
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info info;
  purlin_source *source = NULL;
  purlin_matrix *a = NULL;
  purlin_array_info array;
  char path[64];
  FILE *file;
  int32_t row_ptr[M + 1], col_idx[M * N];
  int i;
  factors(over(context, PURLIN_F64, PURLIN_ROW_MAJOR | PURLIN_READ_ONLY, M, N, rows), &o);
  good_factors("row-major", 1e-7);
  /* Ten rows at a time, or ten columns. */
  o.block_rows = 10;
  OK(purlin_source_from_callback(context, PURLIN_F64, 2, by_rows, read_block, rows, &source));
  info = factors(from(source, PURLIN_ROW_MAJOR), &o);
  good_factors("a reader of rows", 1e-7);
  CHECK(info.blocks == 9 && info.block_rows == 10 && info.transposed == 0);
  /* A GPU keeps the blocks that it has read. */
  if (is_on_cpu()) CHECK(info.bytes_read == info.passes * (int64_t)sizeof rows);
  OK(purlin_source_from_callback(context, PURLIN_F64, 2, by_columns, read_block, columns, &source));
  info = factors(from(source, 0), &o);
  good_factors("a reader of columns", 1e-7);
  CHECK(info.blocks == 4 && info.transposed == 1);
  if (is_on_cpu()) CHECK(info.bytes_read == info.passes * (int64_t)sizeof rows);
  o.block_rows = 0;
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/x.npy", folder);
  file = fopen(path, "wb");
  CHECK(file && fwrite(header, 1, sizeof header - 1, file) == sizeof header - 1);
  CHECK(file && fwrite(rows, 1, sizeof rows, file) == sizeof rows && fclose(file) == 0);
  OK(purlin_source_from_npy(context, path, &source));
  OK(purlin_array_info_init(&array, sizeof array));
  OK(purlin_source_info(source, &array));
  factors(from(source, array.flags), &o);
  good_factors("a .npy file", 1e-7);
  OK(purlin_source_from_mapped_file(context, path, sizeof header - 1, PURLIN_F64, 0, 2, by_rows, &source));
  factors(from(source, PURLIN_ROW_MAJOR), &o);
  good_factors("a mapped file", 1e-7);
  CHECK(remove(path) == 0 && rmdir(folder) == 0);
  OK(purlin_matrix_from_operator(context, PURLIN_F64, M, N, apply, NULL, PURLIN_HOST, &a));
  factors(a, &o);
  good_factors("an operator", 1e-7);
  for (i = 0; i <= M; i++) row_ptr[i] = i * N;
  for (i = 0; i < M * N; i++) col_idx[i] = i % N;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, M, N, M * N, PURLIN_I32, row_ptr, PURLIN_I32, col_idx, rows, &a));
  factors(a, &o);
  good_factors("compressed rows", 1e-7);
}

/* An operator whose second product is not that with the adjoint of A. */
static void wrong_adjoints(void) {
  static const int32_t methods[] = {PURLIN_RSVD_METHOD_AUTO, PURLIN_RSVD_METHOD_RANGE, PURLIN_RSVD_METHOD_FUSED,
                                    PURLIN_RSVD_METHOD_KRYLOV, PURLIN_RSVD_METHOD_ONE_PASS};
  static const double factors[] = {1, 2, -1, 1.1, 0};
  size_t f, k;
  for (f = 0; f < COUNT(factors); f++) {
    double factor = factors[f];
    purlin_matrix *a = NULL, *q = over(context, PURLIN_F64, 0, M, K, u);
    purlin_tensor *values = vector_of(context, PURLIN_F64, K, s);
    purlin_rsvd_options o = rsvd_options();
    purlin_rsvd *rsvd = NULL;
    purlin_pca *pca = NULL;
    OK(purlin_matrix_from_operator(context, PURLIN_F64, M, N, apply, &factor, PURLIN_HOST, &a));
    for (k = 0; k < COUNT(methods); k++) {
      o.method = methods[k];
      if (factor == 1) {
        OK(purlin_rsvd_compute_once(context, NULL, a, &o, NULL, values, NULL, NULL));
      } else {
        BAD_ARGUMENT("a: adjoint is not that of A", purlin_rsvd_compute_once(context, NULL, a, &o, NULL, values, NULL, NULL));
      }
    }
    o = rsvd_options();
    OK(purlin_rsvd_create(context, &o, &rsvd));
    if (factor == 1) {
      OK(purlin_rsvd_range(rsvd, NULL, a, q, NULL, NULL));
      OK(purlin_pca_fit(rsvd, NULL, a, NULL, NULL, &pca, NULL));
    } else {
      BAD_ARGUMENT("a: adjoint is not that of A", purlin_rsvd_range(rsvd, NULL, a, q, NULL, NULL));
      BAD_ARGUMENT("x: adjoint is not that of A", purlin_pca_fit(rsvd, NULL, a, NULL, NULL, &pca, NULL));
    }
    OK(purlin_pca_destroy(pca));
    OK(purlin_rsvd_destroy(rsvd));
    OK(purlin_tensor_destroy(values));
    OK(purlin_matrix_destroy(q));
    OK(purlin_matrix_destroy(a));
  }
}

/* Entries of sparse matrices and operators are not converted: the plan refuses them, as the run does. */
static void types_that_are_not_converted(void) {
  static float left[M * K], right[N * K], few[K];
  static const int32_t row_ptr[M + 1] = {0};
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info info = rsvd_info();
  purlin_rsvd *rsvd = NULL;
  purlin_matrix *a[2], *l = over(context, PURLIN_F32, 0, M, K, left), *r = over(context, PURLIN_F32, 0, N, K, right);
  purlin_tensor *values = vector_of(context, PURLIN_F32, K, few);
  int i;
  o.dtype = PURLIN_F32;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, M, N, 0, PURLIN_I32, row_ptr, PURLIN_I32, row_ptr, columns, &a[0]));
  OK(purlin_matrix_from_operator(context, PURLIN_F64, M, N, apply, NULL, PURLIN_HOST, &a[1]));
  for (i = 0; i < 2; i++) {
    FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "a: is F64, F32 is needed", purlin_rsvd_plan(rsvd, a[i], 1, 1, &info));
    FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "a: is F64, F32 is needed", purlin_rsvd_compute(rsvd, NULL, a[i], l, values, r, &info));
    OK(purlin_matrix_destroy(a[i]));
  }
  OK(purlin_matrix_destroy(l));
  OK(purlin_matrix_destroy(r));
  OK(purlin_tensor_destroy(values));
  OK(purlin_rsvd_destroy(rsvd));
}

/* Complex numbers are converted to complex ones of the other precision alone. */
static void complex_types(void) {
  static float single[2 * M * N];
  static double wide[2 * M * N];
  double few[2][K];
  purlin_rsvd_options o = rsvd_options();
  purlin_matrix *a[2];
  purlin_tensor *values;
  int i;
  for (i = 0; i < 2 * M * N; i++) wide[i] = single[i] = (float)entry(i / 2 % M, i / 2 / M) * (i % 2 ? 0.5f : 1.0f);
  a[0] = over(context, PURLIN_CF32, PURLIN_READ_ONLY, M, N, single);
  a[1] = over(context, PURLIN_CF64, PURLIN_READ_ONLY, M, N, wide);
  o.dtype = PURLIN_CF64;
  for (i = 0; i < 2; i++) {
    values = vector_of(context, PURLIN_F64, K, few[i]);
    OK(purlin_rsvd_compute_once(context, NULL, a[i], &o, NULL, values, NULL, NULL));
    OK(purlin_tensor_destroy(values));
  }
  for (i = 0; i < K; i++) CHECK(fabs(few[0][i] - few[1][i]) <= 1e-12 * few[1][0]);
  o.dtype = PURLIN_F64;
  values = vector_of(context, PURLIN_F64, K, few[0]);
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "a: is CF32, which is not converted to F64",
        purlin_rsvd_compute_once(context, NULL, a[0], &o, NULL, values, NULL, NULL));
  OK(purlin_tensor_destroy(values));
  for (i = 0; i < 2; i++) OK(purlin_matrix_destroy(a[i]));
}

/* Single precision, bytes, V^H, and the transposed matrix. */
static void types_and_shapes(void) {
  static float single[M * N], left[N * K], right[K * M], few[K];
  static uint8_t bytes[M * N];
  static double back[M * N];
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info info = rsvd_info();
  purlin_rsvd *rsvd = NULL;
  purlin_matrix *a, *l, *r;
  purlin_tensor *values = vector_of(context, PURLIN_F32, K, few);
  double worst = 0, other;
  int i, j;
  for (i = 0; i < M * N; i++) single[i] = (float)columns[i], bytes[i] = (uint8_t)(128 + 100 * columns[i]);
  o.right = PURLIN_RSVD_VH;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  /* The columns of the matrix are the rows of its transpose. */
  a = over(context, PURLIN_F32, PURLIN_ROW_MAJOR | PURLIN_READ_ONLY, N, M, single);
  l = over(context, PURLIN_F32, 0, N, K, left);
  r = over(context, PURLIN_F32, 0, K, M, right);
  OK(purlin_rsvd_compute(rsvd, NULL, a, l, values, r, &info));
  CHECK(info.dtype == PURLIN_F32 && info.rank == K);
  for (j = 0; j < K; j++) s[j] = few[j];
  CHECK(value_error(s) < 1e-3);
  for (j = 0; j < M; j++)
    for (i = 0; i < N; i++) {
      double sum = 0;
      int k;
      for (k = 0; k < K; k++) sum += (double)left[i + N * k] * few[k] * right[k + K * j];
      if (fabs(sum - single[j + M * i]) > worst) worst = fabs(sum - single[j + M * i]);
    }
  CHECK(worst < 2 * value(K));
  OK(purlin_matrix_destroy(a));
  OK(purlin_matrix_destroy(r));
  OK(purlin_matrix_destroy(l));
  /* Matrices of bytes are computed in single precision. */
  a = over(context, PURLIN_U8, PURLIN_READ_ONLY, M, N, bytes);
  OK(purlin_rsvd_compute(rsvd, NULL, a, NULL, values, NULL, &info));
  CHECK(info.dtype == PURLIN_F32);
  other = few[0];
  OK(purlin_matrix_destroy(a));
  for (i = 0; i < M * N; i++) back[i] = bytes[i];
  a = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, back);
  OK(purlin_rsvd_compute(rsvd, NULL, a, NULL, values, NULL, &info));
  CHECK(info.dtype == PURLIN_F64 && fabs(few[0] / other - 1) < 1e-5);
  OK(purlin_matrix_destroy(a));
  OK(purlin_tensor_destroy(values));
  OK(purlin_rsvd_destroy(rsvd));
}

static void tolerances(void) {
  enum { MOST = 12 };
  static double left[M * MOST], right[N * MOST], most[MOST];
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info info = rsvd_info();
  purlin_rsvd *rsvd = NULL;
  purlin_matrix *a = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, columns);
  purlin_matrix *l = over(context, PURLIN_F64, 0, M, MOST, left), *r = over(context, PURLIN_F64, 0, N, MOST, right);
  purlin_tensor *values = vector_of(context, PURLIN_F64, MOST, most);
  int j, rest = 1;
  o.rank = 0;
  o.tolerance = 1e-3;
  o.max_rank = MOST;
  o.block_columns = 3;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  OK(purlin_rsvd_compute(rsvd, NULL, a, l, values, r, &info));
  CHECK(info.converged == 1 && info.error_relative < 1e-3 && info.rank >= 6 && info.rank <= 10);
  CHECK(value_error(most) < 1e-6);
  for (j = (int)info.rank; j < MOST; j++) rest &= most[j] == 0 && left[M * j] == 0 && right[N * j + 1] == 0;
  CHECK(rest);
  OK(purlin_rsvd_destroy(rsvd));
  o.tolerance = 1e-7;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  FAILS(PURLIN_ERROR_NO_CONVERGENCE, "rank 12", purlin_rsvd_compute(rsvd, NULL, a, l, values, r, &info));
  CHECK(info.converged == 0 && info.rank == MOST && info.error_relative > 1e-7);
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(values));
  OK(purlin_matrix_destroy(r));
  OK(purlin_matrix_destroy(l));
  OK(purlin_matrix_destroy(a));
}

static void estimates(void) {
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info info = rsvd_info();
  purlin_rsvd *rsvd = NULL;
  purlin_matrix *a = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, columns);
  purlin_matrix *l = over(context, PURLIN_F64, 0, M, K, u), *r = over(context, PURLIN_F64, 0, N, K, v);
  purlin_tensor *values = vector_of(context, PURLIN_F64, K, s);
  static double left[K], right[K];
  purlin_tensor *tl = vector_of(context, PURLIN_F64, K, left), *tr = vector_of(context, PURLIN_F64, K, right);
  double frobenius = 0, spectral = 0, rest = 0;
  int j, small = 1;
  for (j = K; j < 20; j++) rest += value(j) * value(j);
  o.error = PURLIN_RSVD_ERROR_PROBES;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  OK(purlin_rsvd_plan(rsvd, a, 1, 1, &info));
  CHECK(info.rank == K && info.columns == K + 10 && info.method != PURLIN_RSVD_METHOD_AUTO && info.reason[0] != 0);
  OK(purlin_rsvd_compute(rsvd, NULL, a, l, values, r, &info));
  CHECK(info.error_kind == PURLIN_RSVD_ERROR_PROBES && fabs(info.error_frobenius / sqrt(rest) - 1) < 0.5);
  CHECK(info.error_spectral >= value(K));
  OK(purlin_rsvd_error(rsvd, NULL, a, l, values, r, &frobenius, &spectral, &info));
  CHECK(fabs(frobenius / sqrt(rest) - 1) < 0.5 && spectral >= value(K) && info.error_frobenius == frobenius);
  OK(purlin_rsvd_residuals(rsvd, NULL, a, l, values, r, tl, tr, &info));
  for (j = 0; j < K; j++) small &= left[j] < 1e-6 && right[j] < 1e-6;
  CHECK(small);
  /* The check notices factors that are slightly wrong. */
  s[2] += 1e-2;
  OK(purlin_rsvd_residuals(rsvd, NULL, a, l, values, r, tl, tr, NULL));
  CHECK(fabs(left[2] - 1e-2) < 1e-6 && fabs(right[2] - 1e-2) < 1e-6 && left[1] < 1e-6);
  OK(purlin_rsvd_error(rsvd, NULL, a, l, values, r, &frobenius, NULL, NULL));
  CHECK(fabs(frobenius / 1.01e-2 - 1) < 0.5);
  OK(purlin_rsvd_destroy(rsvd));
  /* The spectral norm itself: 1e-2 is the largest remaining singular value. */
  o.error = PURLIN_RSVD_ERROR_POWER;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  OK(purlin_rsvd_error(rsvd, NULL, a, l, values, r, &frobenius, &spectral, &info));
  CHECK(fabs(spectral / 1e-2 - 1) < 0.05 && info.passes == 11 && info.error_kind == PURLIN_RSVD_ERROR_POWER);
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(tr));
  OK(purlin_tensor_destroy(tl));
  OK(purlin_tensor_destroy(values));
  OK(purlin_matrix_destroy(r));
  OK(purlin_matrix_destroy(l));
  OK(purlin_matrix_destroy(a));
}

/* A basis of the range; eigenvalues; the sketch that is drawn, and one that is given. */
static void ranges_and_sketches(void) {
  enum { L = 16 };
  static double q[M * L], b[L * N], square[N * N], omega[N * L], again[K], lambda[K];
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info info = rsvd_info();
  purlin_rsvd *rsvd = NULL;
  purlin_matrix *a = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, columns), *w = over(context, PURLIN_F64, 0, N, L, omega);
  purlin_matrix *mq = over(context, PURLIN_F64, 0, M, L, q), *mb = over(context, PURLIN_F64, 0, L, N, b);
  purlin_matrix *h = over(context, PURLIN_F64, PURLIN_READ_ONLY, N, N, square), *r = over(context, PURLIN_F64, 0, N, K, v);
  purlin_tensor *values = vector_of(context, PURLIN_F64, K, s), *others = vector_of(context, PURLIN_F64, K, again);
  purlin_tensor *tl = vector_of(context, PURLIN_F64, K, lambda);
  double worst = 0;
  int i, j, k;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  OK(purlin_rsvd_range(rsvd, NULL, a, mq, mb, &info));
  CHECK(skewness(q, M, L) < 1e-12 && info.columns == L);
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) {
      double sum = -columns[i + M * j];
      for (k = 0; k < L; k++) sum += q[i + M * k] * b[k + L * j];
      if (fabs(sum) > worst) worst = fabs(sum);
    }
  CHECK(worst < 1e-6);
  OK(purlin_rsvd_range(rsvd, NULL, a, mq, NULL, NULL));
  /* A^T A has the squares; its negative too, but for the sign. */
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) {
      square[i + N * j] = 0;
      for (k = 0; k < M; k++) square[i + N * j] -= columns[k + M * i] * columns[k + M * j];
    }
  OK(purlin_rsvd_symmetric(rsvd, NULL, h, tl, r, &info));
  CHECK(info.method == PURLIN_RSVD_METHOD_RAYLEIGH && skewness(v, N, K) < 1e-12 && vector_error(v, N) < 1e-5);
  for (j = 0; j < K; j++) CHECK(fabs(lambda[j] / -pow(value(j), 2) - 1) < 1e-6);
  OK(purlin_rsvd_compute(rsvd, NULL, a, NULL, values, NULL, NULL));
  /* The same numbers, given: the same bits but for how the sums are blocked. */
  OK(purlin_rsvd_sketch(rsvd, NULL, w));
  CHECK(omega[0] != 0 && omega[1] != omega[0] && fabs(omega[5]) < 10);
  OK(purlin_rsvd_set_sketch(rsvd, w));
  OK(purlin_rsvd_compute(rsvd, NULL, a, NULL, others, NULL, &info));
  CHECK(info.sketch == PURLIN_SKETCH_GIVEN);
  for (j = 0; j < K; j++) CHECK(fabs(again[j] / s[j] - 1) < 1e-9);
  OK(purlin_rsvd_set_sketch(rsvd, NULL));
  OK(purlin_rsvd_compute(rsvd, NULL, a, NULL, others, NULL, &info));
  CHECK(info.sketch == PURLIN_SKETCH_GAUSSIAN && memcmp(again, s, sizeof s) == 0);
  OK(purlin_rsvd_destroy(rsvd));
  o.method = PURLIN_RSVD_METHOD_NYSTROM;
  for (i = 0; i < N * N; i++) square[i] = -square[i];
  OK(purlin_rsvd_create(context, &o, &rsvd));
  OK(purlin_rsvd_symmetric(rsvd, NULL, h, tl, NULL, &info));
  CHECK(info.method == PURLIN_RSVD_METHOD_NYSTROM);
  for (j = 0; j < K; j++) CHECK(fabs(lambda[j] / pow(value(j), 2) - 1) < 1e-6);
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(tl));
  OK(purlin_tensor_destroy(others));
  OK(purlin_tensor_destroy(values));
  OK(purlin_matrix_destroy(r));
  OK(purlin_matrix_destroy(h));
  OK(purlin_matrix_destroy(mb));
  OK(purlin_matrix_destroy(mq));
  OK(purlin_matrix_destroy(w));
  OK(purlin_matrix_destroy(a));
}

int main(void) {
  context = test_context(2);
  make();
  methods();
  storages();
  wrong_adjoints();
  types_that_are_not_converted();
  complex_types();
  types_and_shapes();
  tolerances();
  estimates();
  ranges_and_sketches();
  OK(purlin_context_destroy(context));
  return finish();
}
