/* Products with operators that are never formed; rows and columns scaled; the density of a spectrum. */
#include "spectra.h"

#define N 40

static purlin_context *context;

/* A ring with a chord and a vertex without edges: its degrees. */
static double degree(int i) { return i == N - 1 ? 0 : i == 3 || i == 20 ? 3 : 2; }

static purlin_matrix *ring(const double *values) {
  int64_t row[2 * N], col[2 * N], count = 0, i;
  purlin_matrix *matrix = NULL;
  for (i = 0; i < N - 1; i++) {
    row[count] = i, col[count++] = (i + 1) % (N - 1);
    row[count] = (i + 1) % (N - 1), col[count++] = i;
  }
  row[count] = 3, col[count++] = 20;
  row[count] = 20, col[count++] = 3;
  OK(purlin_matrix_from_coordinates(context, PURLIN_F64, 0, N, N, count, PURLIN_I64, row, col, values,
                                    PURLIN_DUPLICATES_REFUSE, &matrix));
  return matrix;
}

static int linked(int i, int j) {
  return i < N - 1 && j < N - 1 &&
         ((i + 1) % (N - 1) == j || (j + 1) % (N - 1) == i || (i == 3 && j == 20) || (i == 20 && j == 3));
}

/* Entry (i, j) of a kind of the ring. */
static double formed(int32_t kind, int i, int j) {
  const double w = linked(i, j), d = degree(i), e = degree(j), one = i == j && d > 0;
  switch (kind) {
  case PURLIN_LANCZOS_LAPLACIAN: return (i == j ? d : 0) - w;
  case PURLIN_LANCZOS_SIGNLESS_LAPLACIAN: return (i == j ? d : 0) + w;
  case PURLIN_LANCZOS_NORMALIZED_ADJACENCY: return w > 0 ? w / sqrt(d * e) : 0;
  case PURLIN_LANCZOS_NORMALIZED_LAPLACIAN: return one - (w > 0 ? w / sqrt(d * e) : 0);
  case PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN: return one - (w > 0 ? w / d : 0);
  case PURLIN_LANCZOS_MODULARITY: return w - d * e / (2 * N);
  default: return w;
  }
}

static void squares(void) {
  purlin_matrix *a[2];
  double values[2 * N], x[N], y[N], z[N];
  const double alpha = 2, beta = -1;
  purlin_tensor *tx = vector_of(context, PURLIN_F64, N, x), *ty = vector_of(context, PURLIN_F64, N, y);
  int32_t kind;
  int i, j, k, pattern;
  for (i = 0; i < 2 * N; i++) values[i] = 1;
  a[0] = ring(values), a[1] = ring(NULL);
  for (kind = PURLIN_LANCZOS_MATRIX; kind <= PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN; kind++) {
    if (kind >= PURLIN_LANCZOS_GRAM && kind <= PURLIN_LANCZOS_AUGMENTED) continue;
    for (pattern = 0; pattern < 2; pattern++) {
      purlin_spmv_options o;
      purlin_spmv_info info;
      purlin_spmv *plan = NULL;
      OK(purlin_spmv_options_init(&o, sizeof o));
      CHECK(o.kind == PURLIN_LANCZOS_MATRIX && o.shift == 0);
      o.kind = kind;
      o.shift = pattern ? 0.25 : 0;
      OK(purlin_spmv_create(a[pattern], &o, &plan));
      OK(purlin_spmv_info_init(&info, sizeof info));
      OK(purlin_spmv_properties(plan, &info));
      CHECK(info.kind == kind);
      for (k = 0; k < 2; k++) {
        for (i = 0; i < N; i++) {
          x[i] = sin(i * i), y[i] = k ? i : NAN;
          z[i] = k ? -y[i] : 0;
        }
        for (i = 0; i < N; i++)
          for (j = 0; j < N; j++) z[i] += (k ? alpha : 1) * (formed(kind, i, j) + (i == j ? o.shift : 0)) * sin(j * j);
        OK(purlin_spmv_apply(plan, NULL, k ? &alpha : NULL, a[pattern], tx, k ? &beta : NULL, ty));
        for (i = 0; i < N; i++) CHECK(near(y[i], z[i], 1e-13));
      }
      OK(purlin_spmv_destroy(plan));
    }
  }
  OK(purlin_tensor_destroy(ty));
  OK(purlin_tensor_destroy(tx));
  OK(purlin_matrix_destroy(a[1]));
  OK(purlin_matrix_destroy(a[0]));
}

/* A^T A, A A^T and [0 A; A^T 0] of a 2 x 3 matrix, in a block of two vectors. */
static void products(void) {
  const int64_t row[] = {0, 0, 1}, col[] = {0, 2, 1};
  const double values[] = {2, -1, 3};
  const double want[3][10] = {
    {4 * 1 - 2 * 3, 9 * 2, -2 * 1 + 3, 4 * 0 - 2 * 1, 9 * 1, -2 * 0 + 1},
    {5 * 1, 9 * 2, 5 * 0, 9 * 1},
    {2 * 3 - 5, 3 * 4, 2 * 1, 3 * 2, -1, 2 * 1 - 1, 3 * 0, 2 * 0, 3 * 1, -0.0},
  };
  const double given[3][10] = {{1, 2, 3, 0, 1, 1}, {1, 2, 0, 1}, {1, 2, 3, 4, 5, 0, 1, 1, 0, 1}};
  const int64_t order[] = {3, 2, 5};
  purlin_matrix *a = coordinates(context, 2, 3, 3, row, col, values), *x = NULL, *y = NULL;
  purlin_spmv_options o;
  purlin_spmv *plan = NULL;
  double out[10];
  int32_t kind;
  int i;
  OK(purlin_spmv_options_init(&o, sizeof o));
  for (kind = PURLIN_LANCZOS_GRAM; kind <= PURLIN_LANCZOS_AUGMENTED; kind++) {
    const int64_t n = order[kind - PURLIN_LANCZOS_GRAM];
    o.kind = kind;
    OK(purlin_spmv_create(a, &o, &plan));
    OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, n, 2, n, (void *)given[kind - PURLIN_LANCZOS_GRAM], &x));
    OK(purlin_matrix_borrow(context, PURLIN_F64, 0, n, 2, n, out, &y));
    for (i = 0; i < 10; i++) out[i] = NAN;
    OK(purlin_spmv_apply_block(plan, NULL, NULL, a, x, NULL, y));
    for (i = 0; i < 2 * n; i++) CHECK(near(out[i], want[kind - PURLIN_LANCZOS_GRAM][i], 1e-14));
    OK(purlin_matrix_destroy(y));
    OK(purlin_matrix_destroy(x));
    OK(purlin_spmv_destroy(plan));
  }
  o.op = PURLIN_SPMV_TRANSPOSE;
  BAD_ARGUMENT("op: is TRANSPOSE", purlin_spmv_create(a, &o, &plan));
  o.op = PURLIN_SPMV_PLAIN;
  o.kind = PURLIN_LANCZOS_LAPLACIAN;
  BAD_ARGUMENT("a: is 2 x 3, a square matrix", purlin_spmv_create(a, &o, &plan));
  o.kind = PURLIN_LANCZOS_MATRIX;
  o.shift = 1;
  BAD_ARGUMENT("shift: is 1, a is 2 x 3", purlin_spmv_create(a, &o, &plan));
  o.shift = INFINITY;
  BAD_ARGUMENT("shift: is inf", purlin_spmv_create(a, &o, &plan));
  o.kind = 10;
  BAD_ARGUMENT("kind: is 10, outside 0 to 9", purlin_spmv_create(a, &o, &plan));
  OK(purlin_matrix_destroy(a));
}

static void refusals(void) {
  purlin_matrix *a = ring(NULL);
  purlin_lanczos_options o;
  double values[6];
  purlin_tensor *found = vector_of(context, PURLIN_F64, 6, values);
  OK(purlin_lanczos_options_init(&o, sizeof o));
  o.kind = PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN;
  BAD_ARGUMENT("kind: is RANDOM_WALK_LAPLACIAN, which is not symmetric",
               purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, found, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(found));
  OK(purlin_matrix_destroy(a));
}

static void scaled(void) {
  const int64_t row[] = {0, 0, 1}, col[] = {0, 2, 1};
  const double values[] = {2, -1, 3};
  double left[] = {10, 100}, right[] = {1, 2, 3};
  purlin_matrix *a = coordinates(context, 2, 3, 3, row, col, values), *p = NULL, *b = NULL;
  purlin_tensor *l = vector_of(context, PURLIN_F64, 2, left), *r = vector_of(context, PURLIN_F64, 3, right);
  OK(purlin_matrix_scale(a, l, r, &b));
  CHECK(at(b, 0, 0) == 20 && at(b, 0, 2) == -30 && at(b, 1, 1) == 600);
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_pattern(a, &p));
  OK(purlin_matrix_scale(p, NULL, r, &b));
  CHECK(at(b, 0, 0) == 1 && at(b, 0, 2) == 3 && at(b, 1, 1) == 2 && matrix_info(b).data != 0);
  OK(purlin_matrix_destroy(b));
  BAD_ARGUMENT("rows: has dimensions [3], [2] are needed", purlin_matrix_scale(a, r, NULL, &b));
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_scale(a, l, r, NULL));
  BAD_HANDLE("a: is NULL", purlin_matrix_scale(NULL, l, r, &b));
  OK(purlin_matrix_destroy(p));
  OK(purlin_tensor_destroy(r));
  OK(purlin_tensor_destroy(l));
  OK(purlin_matrix_destroy(a));
}

static double power(double x, void *user) { return pow(x, *(const int *)user); }

static double nothing(double x, void *user) {
  (void)x, (void)user;
  return NAN;
}

static void densities(void) {
  const double points[] = {-1, 0.5, 1, 9}, weights[] = {0.25, 0.25, 0.125, 0.375};
  double shares[4], lost[4] = {0}, trace = 0;
  int two = 2;
  OK(purlin_graph_density_trace(4, points, weights, 16, power, &two, &trace));
  CHECK(near(trace, 16 * (0.25 + 0.0625 + 0.125 + 81 * 0.375), 1e-14));
  OK(purlin_graph_density_histogram(4, points, weights, 0, 2, 4, shares));
  CHECK(shares[0] == 0.25 && shares[1] == 0.25 && shares[2] == 0.125 && shares[3] == 0.375);
  OK(purlin_graph_density_histogram(0, NULL, NULL, 0, 2, 1, shares));
  CHECK(shares[0] == 0);
  BAD_ARGUMENT("points: is NULL", purlin_graph_density_histogram(4, NULL, weights, 0, 2, 4, shares));
  BAD_ARGUMENT("bins: is 9223372036854775807, more than 2^63 bytes",
               purlin_graph_density_histogram(4, points, weights, 0, 2, INT64_MAX, shares));
  BAD_ARGUMENT("bins: is 0", purlin_graph_density_histogram(4, points, weights, 0, 2, 0, shares));
  BAD_ARGUMENT("to: is 0, more than from = 0 is needed", purlin_graph_density_histogram(4, points, weights, 0, 0, 4, shares));
  lost[2] = NAN;
  BAD_ARGUMENT("points: element 2 is NaN", purlin_graph_density_histogram(4, lost, weights, 0, 2, 4, shares));
  BAD_ARGUMENT("weights: element 2 is NaN", purlin_graph_density_histogram(4, points, lost, 0, 2, 4, shares));
  BAD_ARGUMENT("points: element 2 is NaN", purlin_graph_density_trace(4, lost, weights, 16, power, &two, &trace));
  BAD_ARGUMENT("to: is NaN", purlin_graph_density_histogram(4, points, weights, 0, NAN, 4, shares));
  BAD_ARGUMENT("shares: is NULL", purlin_graph_density_histogram(4, points, weights, 0, 2, 4, NULL));
  BAD_ARGUMENT("function: is NULL", purlin_graph_density_trace(4, points, weights, 16, NULL, NULL, &trace));
  BAD_ARGUMENT("trace: is NULL", purlin_graph_density_trace(4, points, weights, 16, power, &two, NULL));
  BAD_ARGUMENT("n: is -1", purlin_graph_density_trace(4, points, weights, -1, power, &two, &trace));
  FAILS(PURLIN_ERROR_NUMERICAL, "trace: is NaN",
        purlin_graph_density_trace(4, points, weights, 16, nothing, NULL, &trace));
}

/* Filters by interval, plans of an image's graph, copies, and shares of several contexts. */
static void filters(void) {
  const int64_t row[] = {0, 0, 1, 2}, col[] = {1, 2, 1, 0};
  const double values[] = {2, 0, -3, 4}, x[] = {1, 2, 3};
  double y[3];
  purlin_matrix *a = coordinates(context, 3, 3, 4, row, col, values), *b = NULL;
  purlin_tensor *tx = vector_of(context, PURLIN_F64, 3, (void *)x), *ty = vector_of(context, PURLIN_F64, 3, y);
  purlin_spmv_options o;
  purlin_spmv_info info;
  purlin_spmv *plan = NULL;
  OK(purlin_spmv_options_init(&o, sizeof o));
  CHECK(o.degree == 0 && o.lower == 0 && o.upper == 0);
  o.degree = 2, o.lower = -2, o.upper = 2;
  OK(purlin_spmv_create(a, &o, &plan));
  OK(purlin_spmv_info_init(&info, sizeof info));
  OK(purlin_spmv_properties(plan, &info));
  CHECK(info.degree == 2);
  OK(purlin_spmv_apply(plan, NULL, NULL, a, tx, NULL, ty));
  /* With B = A / 2 this is 2 B B x - x: B x = (2, -3, 2), B B x = (-3, 4.5, 4). */
  CHECK(near(y[0], -7, 1e-14) && near(y[1], 7, 1e-14) && near(y[2], 5, 1e-14));
  OK(purlin_spmv_destroy(plan));
  o.upper = -2;
  BAD_ARGUMENT("upper: is -2, more than lower = -2 is needed", purlin_spmv_create(a, &o, &plan));
  o.upper = 2, o.degree = 20001;
  BAD_ARGUMENT("degree: is 20001, outside 0 to 20000", purlin_spmv_create(a, &o, &plan));
  o.degree = -1;
  BAD_ARGUMENT("degree: is -1", purlin_spmv_create(a, &o, &plan));
  o.degree = 0;
  BAD_ARGUMENT("lower: is -2 without a filter", purlin_spmv_create(a, &o, &plan));

  OK(purlin_matrix_drop_zeros(a, 0, &b));
  CHECK(matrix_info(b).nnz == 3);
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_drop_zeros(a, 2, &b));
  CHECK(matrix_info(b).nnz == 2 && at(b, 2, 0) == 4);
  OK(purlin_matrix_destroy(b));
  BAD_ARGUMENT("threshold: is NaN", purlin_matrix_drop_zeros(a, NAN, &b));
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_drop_zeros(a, 0, NULL));
  OK(purlin_matrix_copy_to(a, PURLIN_HOST, &b));
  CHECK(matrix_info(b).nnz == 4 && at(b, 0, 1) == 2 && matrix_info(b).data != matrix_info(a).data);
  OK(purlin_matrix_destroy(b));
  BAD_ARGUMENT("location: is 2", purlin_matrix_copy_to(a, 2, &b));
  if (is_on_cpu()) UNSUPPORTED("location: ", purlin_matrix_copy_to(a, PURLIN_DEVICE, &b));
  BAD_HANDLE("a: is NULL", purlin_matrix_copy_to(NULL, PURLIN_HOST, &b));
  OK(purlin_tensor_destroy(ty));
  OK(purlin_tensor_destroy(tx));
  OK(purlin_matrix_destroy(a));
}

static void images(void) {
  const float pixels[] = {0, 1, 0.5F, 0.25F, 1, 0.75F}, x[] = {1, -1, 2, 0, 3, 0.5F};
  float y[2][6];
  purlin_matrix *image = NULL, *graph[2] = {NULL, NULL};
  purlin_spmv_options o;
  int k, i;
  OK(purlin_matrix_borrow(context, PURLIN_F32, PURLIN_READ_ONLY | PURLIN_ROW_MAJOR, 2, 3, 3, (void *)pixels, &image));
  OK(purlin_graph_of_image(context, image, 1.5, 0.5, INFINITY, 0.125, &graph[0]));
  OK(purlin_graph_operator_of_image(context, image, 1.5, 0.5, INFINITY, 0.125, &graph[1]));
  CHECK(matrix_info(graph[0]).dtype == PURLIN_F32 && matrix_info(graph[1]).dtype == PURLIN_F32);
  OK(purlin_spmv_options_init(&o, sizeof o));
  o.kind = PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN;
  for (k = 0; k < 2; k++) {
    purlin_tensor *tx = vector_of(context, PURLIN_F32, 6, (void *)x), *ty = vector_of(context, PURLIN_F32, 6, y[k]);
    purlin_spmv *plan = NULL;
    OK(purlin_spmv_create(graph[k], &o, &plan));
    OK(purlin_spmv_apply(plan, NULL, NULL, graph[k], tx, NULL, ty));
    if (k == 1)
      BAD_ARGUMENT("a: is sparse, the plan is for an operator",
                   purlin_spmv_apply(plan, NULL, NULL, graph[0], tx, NULL, ty));
    OK(purlin_spmv_destroy(plan));
    OK(purlin_tensor_destroy(ty));
    OK(purlin_tensor_destroy(tx));
  }
  for (i = 0; i < 6; i++) CHECK(near(y[0][i], y[1][i], 1e-6));
  o.method = PURLIN_SPMV_METHOD_MERGE;
  FAILS(PURLIN_ERROR_NOT_SUPPORTED, "method: is MERGE", purlin_spmv_create(graph[1], &o, &(purlin_spmv *){NULL}));
  for (k = 0; k < 2; k++) OK(purlin_matrix_destroy(graph[k]));
  OK(purlin_matrix_destroy(image));
}

static void shares(void) {
  purlin_matrix *a = ring(NULL);
  purlin_context *other = test_context(1);
  const purlin_context *members[2];
  purlin_group *group = NULL;
  purlin_lanczos_options o;
  purlin_lanczos_info before, after;
  purlin_lanczos *plan;
  double value = 0, vector[N];
  purlin_tensor *found = vector_of(context, PURLIN_F64, N, vector);
  members[0] = context, members[1] = other;
  OK(purlin_group_create(2, members, NULL, &group));
  OK(purlin_lanczos_info_init(&before, sizeof before));
  OK(purlin_lanczos_info_init(&after, sizeof after));
  plan = solver(context, NULL);
  OK(purlin_lanczos_plan(plan, a, NULL, NULL, &before));
  OK(purlin_lanczos_destroy(plan));
  CHECK(before.contexts == 1 && before.part_rows == N && before.part_entries == 2 * N && before.halo == 0);
  CHECK(before.method == PURLIN_LANCZOS_METHOD_RESTART && before.basis > 6 && before.basis <= N);
  CHECK((is_on_cpu() ? before.host_bytes : before.device_bytes) >= 8 * N * before.basis && before.reason[0] != '\0');
  CHECK((before.device_bytes == 0) == is_on_cpu());
  OK(purlin_lanczos_options_init(&o, sizeof o));
  CHECK(o.check_symmetry == 0);
  o.group = group;
  plan = solver(context, &o);
  OK(purlin_lanczos_plan(plan, a, NULL, NULL, &before));
  BAD_ARGUMENT("info: is NULL", purlin_lanczos_plan(plan, a, NULL, NULL, NULL));
  CHECK(before.contexts == 2 && before.halo > 0 && before.products == 0 && before.seconds == 0);
  OK(purlin_graph_fiedler(plan, NULL, a, 0, &value, found, &after));
  OK(purlin_lanczos_destroy(plan));
  CHECK(after.contexts == 2 && after.halo == before.halo && after.product_bytes == before.product_bytes);
  /* The vertex without edges is a component of its own. */
  CHECK(near(value, 0, 1e-12));
  OK(purlin_group_destroy(group));
  plan = NULL;
  BAD_HANDLE("group: was destroyed", purlin_lanczos_create(context, &o, &plan));
  members[0] = other;
  OK(purlin_group_create(1, members, NULL, &group));
  o.group = group;
  BAD_ARGUMENT("group: begins with another context", purlin_lanczos_create(context, &o, &plan));
  OK(purlin_group_destroy(group));
  o.group = NULL;
  o.check_symmetry = 2;
  BAD_ARGUMENT("check_symmetry: is 2", purlin_lanczos_create(context, &o, &plan));
  BAD_ARGUMENT("lanczos: is NULL", purlin_lanczos_create(context, NULL, NULL));
  CHECK(plan == NULL);
  OK(purlin_tensor_destroy(found));
  OK(purlin_context_destroy(other));
  OK(purlin_matrix_destroy(a));
}

int main(void) {
  context = test_context(2);
  squares();
  products();
  refusals();
  scaled();
  densities();
  filters();
  images();
  shares();
  OK(purlin_context_destroy(context));
  return finish();
}
