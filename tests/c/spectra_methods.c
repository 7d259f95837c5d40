/* Methods for eigenpairs and products: another order of rows and columns, a solve of the caller's, filters, partial orthogonality,
   the plain recurrence, blocks; numbers that are not finite; several contexts; pixels. */
#include "spectra.h"

enum { N = 300 };

static purlin_context *context;
static const double pi = 3.14159265358979323846;

/* k-th eigenvalue of the path of N vertices, from the largest down. */
static double path_value(int k) { return 2 * cos(pi * (k + 1) / (N + 1)); }

/* The path with its vertices in disorder. */
static purlin_matrix *shuffled(void) {
  int64_t order[N], i;
  purlin_matrix *path = path_graph(context, N), *made = NULL;
  for (i = 0; i < N; i++) order[i] = (i * 101 + 7) % N;
  OK(purlin_matrix_permute(path, order, order, &made));
  OK(purlin_matrix_destroy(path));
  return made;
}

static purlin_lanczos_options wanted(int64_t count, int32_t which) {
  purlin_lanczos_options o;
  OK(purlin_lanczos_options_init(&o, sizeof o));
  CHECK(o.ordering == PURLIN_ORDERING_NONE && o.check_symmetry == 0);
  o.count = count;
  o.which = which;
  o.basis = 60;
  return o;
}

/* Solves, then checks residuals and norms of the vectors by a plan that does not reorder `a` as the solve may. */
static purlin_lanczos_info solved(const purlin_matrix *a, const purlin_lanczos_options *o, const purlin_matrix *solve,
                                  double *values) {
  static double vectors[6 * N];
  double y[N];
  purlin_matrix *columns = NULL;
  purlin_tensor *list = vector_of(context, PURLIN_F64, o->count, values), *x, *image = vector_of(context, PURLIN_F64, N, y);
  purlin_lanczos_info info;
  purlin_spmv *plan = NULL;
  int64_t k, i;
  CHECK(o->count <= 6);
  OK(purlin_lanczos_info_init(&info, sizeof info));
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N, o->count, N, vectors, &columns));
  OK(purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, solve, o, list, columns, NULL, &info));
  CHECK(info.converged == o->count && info.count == o->count);
  OK(purlin_spmv_create(a, NULL, &plan));
  for (k = 0; k < o->count; k++) {
    double rest = 0, length = 0;
    x = vector_of(context, PURLIN_F64, N, vectors + k * N);
    OK(purlin_spmv_apply(plan, NULL, NULL, a, x, NULL, image));
    for (i = 0; i < N; i++) {
      rest += pow(y[i] - values[k] * vectors[k * N + i], 2);
      length += pow(vectors[k * N + i], 2);
    }
    CHECK(sqrt(rest) < 1e-8 && near(length, 1, 1e-12));
    OK(purlin_tensor_destroy(x));
  }
  OK(purlin_spmv_destroy(plan));
  OK(purlin_matrix_destroy(columns));
  OK(purlin_tensor_destroy(image));
  OK(purlin_tensor_destroy(list));
  return info;
}

static void orders(void) {
  purlin_matrix *a = shuffled(), *wide = NULL;
  purlin_spmv_options o;
  purlin_spmv_info info;
  purlin_spmv *plan = NULL, *plain = NULL;
  purlin_lanczos_options l = wanted(4, PURLIN_LANCZOS_LARGEST);
  const int64_t one = 0;
  const double weight = 1, alpha = 2, beta = -1;
  double x[N], y[N], z[N], values[4], before[4];
  purlin_tensor *tx = vector_of(context, PURLIN_F64, N, x), *ty = vector_of(context, PURLIN_F64, N, y);
  purlin_tensor *tz = vector_of(context, PURLIN_F64, N, z), *found = vector_of(context, PURLIN_F64, 4, before);
  int32_t order;
  int i;
  OK(purlin_spmv_create(a, NULL, &plain));
  OK(purlin_spmv_info_init(&info, sizeof info));
  OK(purlin_spmv_properties(plain, &info));
  CHECK(info.ordering == PURLIN_ORDERING_NONE);
  for (order = PURLIN_ORDERING_DEGREE; order <= PURLIN_ORDERING_CUTHILL_MCKEE; order++) {
    OK(purlin_spmv_options_init(&o, sizeof o));
    CHECK(o.ordering == PURLIN_ORDERING_NONE);
    o.ordering = order;
    OK(purlin_spmv_create(a, &o, &plan));
    OK(purlin_spmv_properties(plan, &info));
    CHECK(info.ordering == order && info.bytes >= N * 8);
    for (i = 0; i < N; i++) x[i] = i * i, y[i] = z[i] = i;
    OK(purlin_spmv_apply(plain, NULL, &alpha, a, tx, &beta, tz));
    OK(purlin_spmv_apply(plan, NULL, &alpha, a, tx, &beta, ty));
    for (i = 0; i < N; i++) CHECK(y[i] == z[i]);
    OK(purlin_spmv_destroy(plan));
    l.ordering = order;
    (void)solved(a, &l, NULL, values);
    for (i = 0; i < 4; i++) CHECK(near(values[i], path_value(i), 1e-10));
  }
  /* The struct of a caller built before `ordering` existed. */
  o.struct_size = offsetof(purlin_spmv_options, ordering);
  o.ordering = 99;
  OK(purlin_spmv_create(a, &o, &plan));
  OK(purlin_spmv_properties(plan, &info));
  CHECK(info.ordering == PURLIN_ORDERING_NONE);
  OK(purlin_spmv_destroy(plan));
  OK(purlin_spmv_options_init(&o, sizeof o));
  o.ordering = 2;
  BAD_ARGUMENT("ordering: is 2, outside -1 to 1", purlin_spmv_create(a, &o, &plan));
  o.ordering = PURLIN_ORDERING_DEGREE;
  o.reserved = 1;
  BAD_ARGUMENT("reserved: is 1", purlin_spmv_create(a, &o, &plan));
  o.reserved = 0;
  wide = coordinates(context, 1, 3, 1, &one, &one, &weight);
  BAD_ARGUMENT("ordering: is set, a is 1 x 3", purlin_spmv_create(wide, &o, &plan));
  OK(purlin_matrix_destroy(wide));
  l.ordering = -2;
  BAD_ARGUMENT("ordering: is -2", purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &l, found, NULL, NULL, NULL));
  l.ordering = PURLIN_ORDERING_DEGREE;
  l.kind = PURLIN_LANCZOS_GRAM;
  BAD_ARGUMENT("ordering: is set", purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &l, found, NULL, NULL, NULL));
  BAD_ARGUMENT("ordering: is set", purlin_lanczos_singular_once(context, NULL, a, NULL, &l, NULL, found, NULL, NULL, NULL));
  l.kind = PURLIN_LANCZOS_MATRIX;
  l.check_symmetry = 3;
  BAD_ARGUMENT("check_symmetry: is 3", purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &l, found, NULL, NULL, NULL));
  OK(purlin_spmv_destroy(plain));
  OK(purlin_tensor_destroy(found));
  OK(purlin_tensor_destroy(tz));
  OK(purlin_tensor_destroy(ty));
  OK(purlin_tensor_destroy(tx));
  OK(purlin_matrix_destroy(a));
}

/* (A - sigma I)^-1 of the path, by elimination. */
static int32_t invert(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                      uint64_t cuda_stream, void *user) {
  (void)cuda_stream;
  const double sigma = *(const double *)user;
  int64_t j, i;
  (void)adjoint;
  for (j = 0; j < count; j++) {
    const double *from = (const double *)x + j * ldx;
    double *to = (double *)y + j * ldy, d[N];
    d[0] = -sigma, to[0] = from[0];
    for (i = 1; i < N; i++) d[i] = -sigma - 1 / d[i - 1], to[i] = from[i] - to[i - 1] / d[i - 1];
    to[N - 1] /= d[N - 1];
    for (i = N - 2; i >= 0; i--) to[i] = (to[i] - to[i + 1]) / d[i];
  }
  return 0;
}

static void methods(void) {
  purlin_matrix *a = path_graph(context, N), *inverse = NULL;
  purlin_lanczos_options o;
  purlin_lanczos_info info;
  double values[6], sigma = path_value(150) + 0.3 * (path_value(149) - path_value(150));
  int i;
  /* The nearest come first, by a solve and by a filter. */
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, invert, &sigma, PURLIN_HOST, &inverse));
  o = wanted(3, PURLIN_LANCZOS_NEAREST);
  o.basis = 0;
  o.sigma = sigma;
  info = solved(a, &o, inverse, values);
  CHECK(near(values[0], path_value(150), 1e-10) && near(values[1], path_value(149), 1e-10));
  CHECK(near(values[2], path_value(151), 1e-10) && info.degree == 0);
  info = solved(a, &o, NULL, values);
  CHECK(near(values[0], path_value(150), 1e-9) && near(values[1], path_value(149), 1e-9) && info.degree > 0);
  o = wanted(4, PURLIN_LANCZOS_SMALLEST);
  o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
  info = solved(a, &o, NULL, values);
  CHECK(info.degree > 0);
  for (i = 0; i < 4; i++) CHECK(near(values[i], path_value(N - 1 - i), 1e-9));
  o = wanted(6, PURLIN_LANCZOS_LARGEST);
  o.orthogonalization = PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL;
  (void)solved(a, &o, NULL, values);
  for (i = 0; i < 6; i++) CHECK(near(values[i], path_value(i), 1e-10));
  o = wanted(2, PURLIN_LANCZOS_LARGEST);
  o.method = PURLIN_LANCZOS_METHOD_PLAIN;
  o.basis = N;
  (void)solved(a, &o, NULL, values);
  for (i = 0; i < 2; i++) CHECK(near(values[i], path_value(i), 1e-8));
  o = wanted(6, PURLIN_LANCZOS_LARGEST);
  o.block = 3;
  info = solved(a, &o, NULL, values);
  CHECK(info.basis % 3 == 0);
  for (i = 0; i < 6; i++) CHECK(near(values[i], path_value(i), 1e-10));
  OK(purlin_matrix_destroy(inverse));
  OK(purlin_matrix_destroy(a));
}

/* diag(0, 1, ...), whose products are NaN from the fourth on. */
static int32_t sick(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                    uint64_t cuda_stream, void *user) {
  (void)cuda_stream;
  int64_t *products = user, i, j;
  (void)adjoint;
  for (j = 0; j < count; j++) {
    for (i = 0; i < N; i++) ((double *)y)[j * ldy + i] = (double)i * ((const double *)x)[j * ldx + i];
    if (++*products > 3) ((double *)y)[j * ldy + 7] = NAN;
  }
  return 0;
}

/* A solve, a recurrence and a density report numbers that are not finite, whatever the method. */
static void not_finite(void) {
  double values[3], alpha[20], beta[20];
  int64_t products = 0, count = 0;
  purlin_matrix *a = NULL, *healthy = path_graph(context, N);
  purlin_tensor *list = vector_of(context, PURLIN_F64, 3, values);
  purlin_lanczos_options o;
  purlin_lanczos *plain;
  int way;
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, sick, &products, PURLIN_HOST, &a));
  for (way = 0; way < 6; way++) {
    o = wanted(3, way == 4 ? PURLIN_LANCZOS_NEAREST : PURLIN_LANCZOS_LARGEST);
    if (way == 1) o.block = 2;
    if (way == 2) o.orthogonalization = PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL;
    if (way == 3) o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
    if (way == 4) o.sigma = 30.2;
    if (way == 5) o.method = PURLIN_LANCZOS_METHOD_PLAIN;
    products = 0;
    FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  }
  products = 0;
  plain = solver(context, NULL);
  FAILS(PURLIN_ERROR_NUMERICAL, "not finite", purlin_lanczos_tridiagonalize(plain, NULL, a, 20, NULL, alpha, beta, &count));
  OK(purlin_lanczos_destroy(plain));
  /* A solve by the caller that returns NaN is named. */
  o = wanted(3, PURLIN_LANCZOS_NEAREST);
  o.basis = 0;
  products = 0;
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "solve: is not the inverse of A - sigma I",
        purlin_lanczos_solve_once(context, NULL, healthy, NULL, NULL, a, &o, list, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(list));
  OK(purlin_matrix_destroy(healthy));
  OK(purlin_matrix_destroy(a));
}

/* One NaN among the stored values: the message names it, whichever call uses the matrix. */
static void stored_nan(const purlin_context *on) {
  static const int64_t row[5] = {0, 1, 1, 2, 2}, col[5] = {1, 0, 2, 1, 2};
  const double values[5] = {1, 1, NAN, NAN, 1};
  double found[1], vector[3];
  purlin_matrix *a = coordinates(on, 3, 3, 5, row, col, values), *u = NULL;
  purlin_tensor *list = vector_of(on, PURLIN_F64, 1, found), *tv = vector_of(on, PURLIN_F64, 3, vector);
  purlin_lanczos_options o = wanted(1, PURLIN_LANCZOS_LARGEST);
  purlin_lanczos *plain;
  o.basis = 0;
  OK(purlin_matrix_create(on, PURLIN_F64, PURLIN_HOST, 0, 3, 1, &u));
#define IS_NAN(call) BAD_ARGUMENT("has NaN in row 1, column 2 (from 0)", call)
  IS_NAN(purlin_lanczos_solve_once(on, NULL, a, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  IS_NAN(purlin_lanczos_singular_once(on, NULL, a, NULL, &o, u, list, NULL, NULL, NULL));
  plain = solver(on, NULL);
  /* For values on a device only the row is reported. */
  BAD_ARGUMENT("NaN in row 1", purlin_graph_fiedler(plain, NULL, a, 0, NULL, tv, NULL));
  OK(purlin_lanczos_destroy(plain));
  o.block = 2;
  IS_NAN(purlin_lanczos_solve_once(on, NULL, a, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  o.block = 1, o.kind = PURLIN_LANCZOS_LAPLACIAN;
  IS_NAN(purlin_lanczos_solve_once(on, NULL, a, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
#undef IS_NAN
  OK(purlin_matrix_destroy(u));
  OK(purlin_matrix_destroy(a));
  OK(purlin_tensor_destroy(tv));
  OK(purlin_tensor_destroy(list));
}

/* The smallest eigenvalue of a Laplacian is 0: its residual is compared with roundings of the norm, with blocks too. */
static void zero_in_blocks(void) {
  enum { SHORT = 100, EACH = 3 };
  static double vectors[4 * SHORT];
  purlin_matrix *path = path_graph(context, SHORT), *columns = NULL;
  double values[4];
  purlin_tensor *list = vector_of(context, PURLIN_F64, EACH, values);
  purlin_lanczos_info info;
  int64_t block;
  int i, k;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, SHORT, EACH, SHORT, vectors, &columns));
  OK(purlin_lanczos_info_init(&info, sizeof info));
  for (block = 1; block <= 4; block++) {
    purlin_lanczos_options o = wanted(EACH, PURLIN_LANCZOS_SMALLEST);
    o.basis = 0;
    o.kind = PURLIN_LANCZOS_LAPLACIAN;
    o.block = block;
    o.restarts = 2000;
    OK(purlin_lanczos_solve_once(context, NULL, path, NULL, NULL, NULL, &o, list, columns, NULL, &info));
    CHECK(info.converged == EACH && info.verified == 1);
    CHECK(fabs(values[0]) < 1e-12);
    for (k = 1; k < EACH; k++) CHECK(near(values[k], 2 - 2 * cos(pi * k / SHORT), 1e-11));
    for (i = 0; i < SHORT; i++) CHECK(near(fabs(vectors[i]), 1 / sqrt((double)SHORT), 1e-8));
  }
  OK(purlin_matrix_destroy(columns));
  OK(purlin_tensor_destroy(list));
  OK(purlin_matrix_destroy(path));
}

/* Upper triangular: not symmetric. */
static int32_t skewed(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                      uint64_t cuda_stream, void *user) {
  int64_t i, j;
  (void)adjoint, (void)cuda_stream, (void)user;
  for (j = 0; j < count; j++)
    for (i = 0; i < N; i++) {
      const double *from = (const double *)x + j * ldx;
      ((double *)y)[j * ldy + i] = (double)i * from[i] + (i + 1 < N ? 100 * from[i + 1] : 0);
    }
  return 0;
}

/* A success is checked: residuals, copies, and options that cannot take effect. */
static void promises(void) {
  double values[3];
  purlin_matrix *a = NULL, *healthy = path_graph(context, N);
  purlin_tensor *list = vector_of(context, PURLIN_F64, 3, values);
  purlin_lanczos_options o = wanted(3, PURLIN_LANCZOS_LARGEST);
  purlin_lanczos_info info = solved(healthy, &o, NULL, values);
  CHECK(info.verified == 1 && info.reason[0] != '\0' && info.orthogonality < 1e-12 && info.residual < 1e-9);
  o.verify = PURLIN_LANCZOS_VERIFY_OFF;
  info = solved(healthy, &o, NULL, values);
  CHECK(info.verified == 0 && info.stop_reason == PURLIN_LANCZOS_CONVERGED);
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, skewed, NULL, PURLIN_HOST, &a));
  o = wanted(3, PURLIN_LANCZOS_LARGEST);
  FAILS(PURLIN_ERROR_NUMERICAL, "not symmetric", purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  o.sigma = 2;
  BAD_ARGUMENT("sigma: is 2", purlin_lanczos_solve_once(context, NULL, healthy, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  o.sigma = 0, o.degree = 5;
  BAD_ARGUMENT("degree: is 5", purlin_lanczos_solve_once(context, NULL, healthy, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(list));
  OK(purlin_matrix_destroy(a));
  OK(purlin_matrix_destroy(healthy));
}

/* Rows that three contexts share. */
static void several(void) {
  purlin_context *more[2] = {cpu_context(1), cpu_context(2)};
  const purlin_context *members[3] = {context, more[0], more[1]};
  purlin_group *group = NULL, *reversed = NULL;
  purlin_matrix *path = path_graph(context, N), *a = shuffled(), *u = NULL;
  purlin_lanczos_options o = wanted(4, PURLIN_LANCZOS_LARGEST), old;
  purlin_lanczos_info info;
  double values[4], whole[N];
  purlin_tensor *list = vector_of(context, PURLIN_F64, 4, values), *all = vector_of(context, PURLIN_F64, N, whole);
  purlin_stream *own = NULL, *foreign = NULL;
  purlin_lanczos *shared;
  int64_t count;
  int i;
  CHECK(o.group == NULL);
  info = solved(path, &o, NULL, values);
  CHECK(info.contexts == 0 && info.part_rows == 0 && info.halo == 0 && info.product_bytes == 0);
  OK(purlin_group_create(3, members, NULL, &group));
  o.group = group;
  info = solved(path, &o, NULL, values);
  for (i = 0; i < 4; i++) CHECK(near(values[i], path_value(i), 1e-10));
  /* Each part of a path needs one number from each neighbouring part. */
  CHECK(info.contexts == 3 && info.halo == 4 && info.halo_bytes == 32);
  CHECK(info.part_rows >= N / 3 && info.part_rows <= N / 3 + 2 && info.part_entries >= 2 * (N - 1) / 3);
  CHECK(info.product_bytes > 12 * info.part_entries);
  (void)solved(a, &o, NULL, values);
  for (i = 0; i < 4; i++) CHECK(near(values[i], path_value(i), 1e-10));
  o.kind = PURLIN_LANCZOS_LAPLACIAN;
  o.which = PURLIN_LANCZOS_SMALLEST;
  OK(purlin_lanczos_solve_once(context, NULL, path, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  for (i = 0; i < 4; i++) CHECK(near(values[i], 2 - 2 * cos(pi * i / N), 1e-9));
  /* The struct of a caller built before `group` existed. */
  old = o;
  old.struct_size = offsetof(purlin_lanczos_options, group);
  old.group = (const purlin_group *)path;
  OK(purlin_lanczos_solve_once(context, NULL, path, NULL, NULL, NULL, &old, list, NULL, NULL, NULL));
#define BAD(text, change) \
  (old = o, change, BAD_ARGUMENT(text, purlin_lanczos_solve_once(context, NULL, path, NULL, NULL, NULL, &old, list, NULL, NULL, NULL)))
  members[0] = more[0], members[1] = context;
  OK(purlin_group_create(2, members, NULL, &reversed));
  BAD("group: begins with another context", old.group = reversed);
  OK(purlin_group_destroy(reversed));
  BAD("ordering: is set", old.ordering = PURLIN_ORDERING_DEGREE);
#undef BAD
  old = o, old.group = reversed;
  BAD_HANDLE("group: was destroyed", purlin_lanczos_solve_once(context, NULL, path, NULL, NULL, NULL, &old, list, NULL, NULL, NULL));
  old.group = (const purlin_group *)path;
  BAD_HANDLE("group: is a handle of another type",
             purlin_lanczos_solve_once(context, NULL, path, NULL, NULL, NULL, &old, list, NULL, NULL, NULL));
  OK(purlin_stream_create(more[0], &foreign));
  OK(purlin_stream_create(context, &own));
  BAD_ARGUMENT("stream: belongs to another context",
               purlin_lanczos_solve_once(context, foreign, path, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  old = wanted(1, PURLIN_LANCZOS_SMALLEST);
  shared = solver(context, &old);
  BAD_ARGUMENT("stream: belongs to another context", purlin_graph_fiedler(shared, foreign, path, 0, NULL, all, NULL));
  OK(purlin_graph_fiedler(shared, own, path, 0, NULL, all, NULL));
  OK(purlin_lanczos_destroy(shared));
  OK(purlin_stream_destroy(own));
  OK(purlin_stream_destroy(foreign));
  shared = solver(context, &o);
  BAD_ARGUMENT("group: has 3 contexts, this function uses the matrix's context alone",
               purlin_lanczos_tridiagonalize(shared, NULL, path, 1, NULL, values, values, &count));
  OK(purlin_lanczos_destroy(shared));
  o.kind = PURLIN_LANCZOS_GRAM;
  BAD_ARGUMENT("group: has 3 contexts", purlin_lanczos_singular_once(context, NULL, path, NULL, &o, u, list, NULL, NULL, NULL));
  UNSUPPORTED("kind: is GRAM, several contexts share the rows of MATRIX to MODULARITY alone",
              purlin_lanczos_solve_once(context, NULL, path, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  /* The kind is checked before the outputs, whose sizes depend on it. */
  o.kind = PURLIN_LANCZOS_AUGMENTED;
  BAD_ARGUMENT("group: has 3 contexts", purlin_lanczos_singular_once(context, NULL, path, NULL, &o, u, list, NULL, NULL, NULL));
  UNSUPPORTED("kind: is AUGMENTED, several contexts", purlin_lanczos_solve_once(context, NULL, path, NULL, NULL, NULL, &o, list, u, NULL, NULL));
  OK(purlin_tensor_destroy(all));
  OK(purlin_tensor_destroy(list));
  /* The parts of the matrix keep the contexts alive. */
  OK(purlin_group_destroy(group));
  OK(purlin_context_destroy(more[0]));
  OK(purlin_context_destroy(more[1]));
  OK(purlin_matrix_destroy(a));
  OK(purlin_matrix_destroy(path));
}

/* A dark and a bright half, whose graph is not formed. */
static void pixels(void) {
  double image[24], values[2], before[2], vector[24];
  int64_t label[24];
  purlin_matrix *of = NULL, *graph = NULL, *unformed = NULL;
  purlin_tensor *list = vector_of(context, PURLIN_F64, 2, values), *formed = vector_of(context, PURLIN_F64, 2, before);
  purlin_tensor *tl = vector_of(context, PURLIN_I64, 24, label), *tv = vector_of(context, PURLIN_F64, 24, vector);
  purlin_lanczos_options o = wanted(2, PURLIN_LANCZOS_SMALLEST);
  purlin_lanczos *two;
  int i;
  for (i = 0; i < 24; i++) image[i] = i % 6 < 3 ? 0.1 : 0.9;
  OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_ROW_MAJOR, 4, 6, 6, image, &of));
  OK(purlin_graph_of_image(context, of, 1, 0.1, INFINITY, 1e-6, &graph));
  OK(purlin_graph_operator_of_image(context, of, 1, 0.1, INFINITY, 1e-6, &unformed));
  CHECK(matrix_info(unformed).rows == 24 && matrix_info(unformed).cols == 24);
  o.basis = 0;
  o.kind = PURLIN_LANCZOS_LAPLACIAN;
  OK(purlin_lanczos_solve_once(context, NULL, graph, NULL, NULL, NULL, &o, formed, NULL, NULL, NULL));
  OK(purlin_lanczos_solve_once(context, NULL, unformed, NULL, NULL, NULL, &o, list, NULL, NULL, NULL));
  CHECK(fabs(values[0]) < 1e-12 && near(values[1], before[1], 1e-12) && values[1] < 1e-5);
  o.kind = PURLIN_LANCZOS_MATRIX;
  two = solver(context, &o);
  OK(purlin_graph_cluster(two, NULL, unformed, PURLIN_GRAPH_LABELS_K_MEANS, 10, tl, NULL, NULL));
  OK(purlin_lanczos_destroy(two));
  for (i = 0; i < 24; i++) CHECK((label[i] == label[0]) == (i % 6 < 3));
  two = solver(context, NULL);
  OK(purlin_graph_fiedler(two, NULL, unformed, 0, NULL, tv, NULL));
  OK(purlin_lanczos_destroy(two));
  for (i = 0; i < 24; i++) CHECK(((vector[i] > 0) == (vector[0] > 0)) == (i % 6 < 3));
  UNSUPPORTED("graph: is an operator, a sparse matrix is needed",
              purlin_graph_bisect(unformed, tv, PURLIN_GRAPH_CUT_SIGN, tl, NULL, NULL));
  OK(purlin_matrix_destroy(unformed));
  BAD_ARGUMENT("radius: is 101", purlin_graph_operator_of_image(context, of, 101, 0.1, 1, 0, &unformed));
  BAD_ARGUMENT("graph: is NULL", purlin_graph_operator_of_image(context, of, 1, 0.1, 1, 0, NULL));
  OK(purlin_matrix_destroy(graph));
  OK(purlin_matrix_destroy(of));
  OK(purlin_tensor_destroy(list));
  OK(purlin_tensor_destroy(formed));
  OK(purlin_tensor_destroy(tl));
  OK(purlin_tensor_destroy(tv));
}

/* TRUSTED columns are not checked, offsets are. */
static void trusted(const int32_t *start, const double *values) {
  int32_t column[3] = {3, 1, 9}, wrong[3] = {1, 5, 4};
  purlin_matrix *a = NULL;
#define MAKE(make, base, rows, columns) \
  purlin_matrix_##make##_csr(context, PURLIN_F64, base, 2, 3, 3, PURLIN_I32, rows, PURLIN_I32, columns, values, &a)
  BAD_ARGUMENT("col_idx: element 2 is 9", MAKE(borrow, 1, start, column));
  OK(MAKE(borrow, 1 + PURLIN_TRUSTED, start, column));
  CHECK(matrix_info(a).index_base == 1 && matrix_info(a).nnz == 3);
  OK(purlin_matrix_destroy(a));
  OK(MAKE(copy, 1 + PURLIN_TRUSTED, start, column));
  OK(purlin_matrix_destroy(a));
  BAD_ARGUMENT("row_ptr: element 2 is 4, less than element 1", MAKE(borrow, 1 + PURLIN_TRUSTED, wrong, column));
  BAD_ARGUMENT("index_base: is 18", MAKE(borrow, 2 + PURLIN_TRUSTED, start, column));
#undef MAKE
}

/* Unsorted rows, duplicate entries and values that are not finite: each is named. */
static void checks(void) {
  const int32_t start[3] = {1, 3, 4};
  int32_t column[3] = {3, 1, 2};
  double values[3] = {1, 2, 3};
  purlin_matrix *a = NULL, *dense = NULL;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 1, 2, 3, 3, PURLIN_I32, start, PURLIN_I32, column, values, &a));
  BAD_ARGUMENT("a: in row 0, column 0 (from 0), entry 1: follows column 2", purlin_matrix_check(a, PURLIN_CHECK_FULL));
  OK(purlin_matrix_check(a, PURLIN_CHECK_DISTINCT + PURLIN_CHECK_FINITE));
  OK(purlin_matrix_check(a, 0));
  values[2] = NAN;
  BAD_ARGUMENT("a: in row 1, column 1 (from 0), entry 2: is NaN", purlin_matrix_check(a, PURLIN_CHECK_FINITE));
  OK(purlin_matrix_check(a, PURLIN_CHECK_DISTINCT));
  OK(purlin_matrix_destroy(a));
  column[1] = 3;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 1, 2, 3, 3, PURLIN_I32, start, PURLIN_I32, column, NULL, &a));
  BAD_ARGUMENT("entry 1: is at the place of", purlin_matrix_check(a, PURLIN_CHECK_FULL));
  BAD_ARGUMENT("entry 1: is at the place of", purlin_matrix_check(a, PURLIN_CHECK_DISTINCT));
  OK(purlin_matrix_check(a, PURLIN_CHECK_SORTED + PURLIN_CHECK_FINITE));
  BAD_ARGUMENT("checks: is 8", purlin_matrix_check(a, 8));
  OK(purlin_matrix_destroy(a));
  BAD_HANDLE("a: is NULL", purlin_matrix_check(NULL, 0));
  trusted(start, values);
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 3, 3, &dense));
  UNSUPPORTED("a: is dense, a sparse matrix is needed", purlin_matrix_check(dense, 0));
  OK(purlin_matrix_destroy(dense));
}

int main(void) {
  purlin_context *on = test_context(2);
  context = cpu_context(2);
  checks();
  orders();
  methods();
  not_finite();
  stored_nan(on);
  zero_in_blocks();
  promises();
  several();
  pixels();
  OK(purlin_context_destroy(on));
  OK(purlin_context_destroy(context));
  return finish();
}
