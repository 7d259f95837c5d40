/* Graph functions: bisections, clusters, embeddings, spectral densities and graphs of images. */
#include "spectra.h"

static purlin_context *context;

/* Two rings of 40 vertices that one edge joins. */
static purlin_matrix *two_rings(void) {
  enum { N = 80 };
  int64_t row[N * 2 + 2], col[N * 2 + 2], i, k = 0;
  double value[N * 2 + 2];
  for (i = 0; i < N; i++) {
    int64_t next = i < 40 ? (i + 1) % 40 : 40 + (i + 1) % 40;
    row[k] = i, col[k] = next, value[k++] = 1;
    row[k] = next, col[k] = i, value[k++] = 1;
  }
  row[k] = 3, col[k] = 50, value[k++] = 1;
  row[k] = 50, col[k] = 3, value[k++] = 1;
  return coordinates(context, N, N, k, row, col, value);
}

/* Outputs that share memory with another argument, which was overwritten. */
static void shared_memory(void) {
  enum { N = 80 };
  purlin_matrix *a = two_rings(), *points = NULL;
  purlin_lanczos_options o = lanczos(2, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos *two = solver(context, &o), *plain = solver(context, NULL);
  double both[2 * N] = {0};
  int64_t count = 0;
  purlin_tensor *ends = vector_of(context, PURLIN_F64, 2, both + 1), *half = vector_of(context, PURLIN_F64, N, both);
  purlin_tensor *labels = vector_of(context, PURLIN_I64, N, (int64_t *)(both + N / 2));
  purlin_tensor *first = vector_of(context, PURLIN_F64, 20, both), *second = vector_of(context, PURLIN_F64, 20, both + 19);
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N, 2, N, both, &points));
  BAD_ARGUMENT("values: overlaps coordinates", purlin_graph_embed(two, NULL, a, PURLIN_GRAPH_SCALING_NONE, points, ends, NULL));
  BAD_ARGUMENT("labels: overlaps points", purlin_graph_k_means(points, 2, 1, 1, labels, NULL));
  BAD_ARGUMENT("labels: overlaps points", purlin_graph_pivoted_qr(points, labels, NULL));
  BAD_ARGUMENT("sides: overlaps vector", purlin_graph_bisect(a, half, PURLIN_GRAPH_CUT_SIGN, labels, NULL, NULL));
  BAD_ARGUMENT("weights: overlaps points", purlin_graph_density(plain, NULL, a, 20, 1, first, second, &count));
  OK(purlin_tensor_destroy(second));
  OK(purlin_tensor_destroy(first));
  OK(purlin_tensor_destroy(labels));
  OK(purlin_tensor_destroy(half));
  OK(purlin_tensor_destroy(ends));
  OK(purlin_matrix_destroy(points));
  OK(purlin_lanczos_destroy(plain));
  OK(purlin_lanczos_destroy(two));
  OK(purlin_matrix_destroy(a));
}

/* Outputs in the arrays of the graph, which every product reads. */
static void shared_arrays(void) {
  int64_t offsets[4] = {0, 1, 2, 3}, columns[3] = {1, 0, 2};
  double weights[3] = {1, 1, 1};
  purlin_matrix *a = NULL;
  purlin_tensor *labels[3] = {vector_of(context, PURLIN_I64, 3, offsets), vector_of(context, PURLIN_I64, 3, columns),
                              vector_of(context, PURLIN_I64, 3, (int64_t *)weights)};
  int k;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, 3, 3, 3, PURLIN_I64, offsets, PURLIN_I64, columns, weights, &a));
  for (k = 0; k < 3; k++) {
    BAD_ARGUMENT("labels: overlaps graph", purlin_graph_components(a, labels[k], NULL));
    BAD_ARGUMENT("order: overlaps a", purlin_matrix_order(a, PURLIN_ORDERING_DEGREE, labels[k]));
    OK(purlin_tensor_destroy(labels[k]));
  }
  CHECK(offsets[1] == 1 && offsets[3] == 3 && columns[0] == 1 && weights[2] == 1);
  OK(purlin_matrix_destroy(a));
}

static void applications(void) {
  enum { N = 80, K = 2 };
  purlin_matrix *a = two_rings(), *mc = NULL, *image = NULL, *graph = NULL;
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info;
  double values[K], vector[N], coordinates[N * K], value = 0, cut = 0, normalized = 0, inertia = -1;
  double points[60], weights[60], total = 0, mean = 0;
  double pixels[4 * 6];
  int64_t label[N], count = 0, i, how;
  purlin_tensor *tl = vector_of(context, PURLIN_I64, N, label), *tv = vector_of(context, PURLIN_F64, N, vector);
  purlin_tensor *tw = vector_of(context, PURLIN_F64, K, values), *tp, *tq;
  purlin_lanczos *plain = solver(context, NULL), *two = solver(context, &o), *laplacian;
  OK(purlin_lanczos_info_init(&info, sizeof info));
  OK(purlin_graph_fiedler(plain, NULL, a, 0, &value, tv, &info));
  CHECK(value > 0 && value < 0.05 && info.converged == 1);
  for (how = PURLIN_GRAPH_CUT_SIGN; how <= PURLIN_GRAPH_CUT_SWEEP; how++) {
    OK(purlin_graph_bisect(a, tv, (int32_t)how, tl, &cut, &normalized));
    CHECK(cut == 1 && near(normalized, 2.0 / 81, 1e-12));
    for (i = 1; i < N; i++) CHECK((label[i] == label[0]) == (i < 40));
  }
  BAD_ARGUMENT("method: is 3, outside 0 to 2", purlin_graph_bisect(a, tv, 3, tl, NULL, NULL));
  OK(purlin_graph_fiedler(plain, NULL, a, 1, NULL, tv, NULL));
  OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_ROW_MAJOR, N, K, K, coordinates, &mc));
  OK(purlin_graph_embed(two, NULL, a, PURLIN_GRAPH_SCALING_NONE, mc, tw, &info));
  CHECK(fabs(values[0]) < 1e-10 && values[1] > 0 && values[1] < 0.02);
  for (i = 0; i < N; i++) total += coordinates[i * K] * coordinates[i * K];
  CHECK(near(total, 1, 1e-12));
  OK(purlin_graph_pivoted_qr(mc, tl, &inertia));
  for (i = 1; i < N; i++) CHECK((label[i] == label[0]) == (i < 40));
  OK(purlin_graph_k_means(mc, 2, 10, 1, tl, &inertia));
  CHECK(inertia >= 0);
  for (how = PURLIN_GRAPH_LABELS_K_MEANS; how <= PURLIN_GRAPH_LABELS_PIVOTED_QR; how++) {
    memset(label, 0x7f, sizeof label);
    OK(purlin_graph_cluster(two, NULL, a, (int32_t)how, 10, tl, &inertia, &info));
    for (i = 1; i < N; i++) CHECK((label[i] == label[0]) == (i < 40));
  }
  BAD_ARGUMENT("assignment: is 2", purlin_graph_cluster(two, NULL, a, 2, 10, tl, NULL, NULL));
  BAD_ARGUMENT("start_count: is 0", purlin_graph_cluster(two, NULL, a, PURLIN_GRAPH_LABELS_K_MEANS, 0, tl, NULL, NULL));
  BAD_ARGUMENT("start_count: is 0", purlin_graph_k_means(mc, 2, 0, 0, tl, NULL));
  OK(purlin_graph_cluster(two, NULL, a, PURLIN_GRAPH_LABELS_PIVOTED_QR, 0, tl, NULL, NULL));
  BAD_ARGUMENT("clusters: is 81, outside 1 to n = 80", purlin_graph_k_means(mc, 81, 1, 0, tl, NULL));
  BAD_ARGUMENT("scaling: is 3", purlin_graph_embed(two, NULL, a, 3, mc, NULL, NULL));
  BAD_ARGUMENT("labels: is F64", purlin_graph_k_means(mc, 2, 1, 0, tv, NULL));
  o.kind = PURLIN_LANCZOS_LAPLACIAN;
  laplacian = solver(context, &o);
  BAD_ARGUMENT("kind: is set", purlin_graph_embed(laplacian, NULL, a, 0, mc, NULL, NULL));

  /* Rings have eigenvalues of the Laplacian between 0 and a bit over 4, whose mean is the mean degree. */
  tp = vector_of(context, PURLIN_F64, 60, points);
  tq = vector_of(context, PURLIN_F64, 60, weights);
  OK(purlin_graph_density(laplacian, NULL, a, 20, 3, tp, tq, &count));
  CHECK(count > 30 && count <= 60);
  total = 0;
  for (i = 0; i < count; i++) {
    CHECK(points[i] > -1e-10 && points[i] < 5.1 && weights[i] >= 0);
    total += weights[i];
    mean += weights[i] * points[i];
  }
  CHECK(near(total, 1, 1e-12) && fabs(mean - 162.0 / 80) < 0.5);
  BAD_ARGUMENT("points: has dimensions [60], [80] are needed", purlin_graph_density(laplacian, NULL, a, 20, 4, tp, tq, &count));
  BAD_ARGUMENT("vector_count: is 0", purlin_graph_density(laplacian, NULL, a, 20, 0, tp, tq, &count));
  OK(purlin_tensor_destroy(tq));
  OK(purlin_tensor_destroy(tp));

  /* A dark and a bright half. */
  for (i = 0; i < 24; i++) pixels[i] = i % 6 < 3 ? 0.1 : 0.9;
  OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_ROW_MAJOR, 4, 6, 6, pixels, &image));
  OK(purlin_graph_of_image(context, image, 1, 0.1, INFINITY, 1e-6, &graph));
  CHECK(matrix_info(graph).rows == 24 && matrix_info(graph).nnz == 2 * (4 * 5 + 3 * 6));
  CHECK(near(at(graph, 0, 1), 1 + 1e-6, 1e-14) && near(at(graph, 0, 6), 1 + 1e-6, 1e-14) && at(graph, 2, 3) < 1e-5);
  OK(purlin_matrix_destroy(graph));
  BAD_ARGUMENT("radius: is 0.5, outside 1 to 100", purlin_graph_of_image(context, image, 0.5, 0.1, 1, 0, &graph));
  BAD_ARGUMENT("intensity: is 0", purlin_graph_of_image(context, image, 1, 0, 1, 0, &graph));
  BAD_ARGUMENT("floor: is -1", purlin_graph_of_image(context, image, 1, 1, 1, -1, &graph));
  pixels[7] = NAN;
  BAD_ARGUMENT("image: element 7 is NaN", purlin_graph_of_image(context, image, 1, 1, 1, 0, &graph));
  OK(purlin_matrix_destroy(image));
  OK(purlin_tensor_destroy(tw));
  OK(purlin_tensor_destroy(tv));
  OK(purlin_tensor_destroy(tl));
  OK(purlin_matrix_destroy(mc));
  OK(purlin_lanczos_destroy(laplacian));
  OK(purlin_lanczos_destroy(two));
  OK(purlin_lanczos_destroy(plain));
  OK(purlin_matrix_destroy(a));
}

/* The cycle of n vertices. */
static purlin_matrix *cycle(int64_t n) {
  static int64_t row[800], col[800];
  static double value[800];
  int64_t i, k = 0;
  for (i = 0; i < n; i++) {
    row[k] = i, col[k] = (i + 1) % n, value[k++] = 1;
    row[k] = (i + 1) % n, col[k] = i, value[k++] = 1;
  }
  return coordinates(context, n, n, k, row, col, value);
}

/* A cycle has every eigenvalue twice, but the ends of its spectrum: no copy is missing, and the report confirms it. */
static void copies(void) {
  enum { N = 200, K = 5 };
  static const double pi = 3.14159265358979323846;
  static double coordinates[N * K], vector[N];
  purlin_matrix *a = cycle(N), *mc = NULL;
  purlin_tensor *tv = vector_of(context, PURLIN_F64, N, vector);
  int64_t count;
  int way, i;
  for (way = 0; way < 4; way++)
    for (count = 2; count <= K; count++) {
      double values[K], value = 0;
      purlin_tensor *tw = vector_of(context, PURLIN_F64, count, values);
      purlin_lanczos_options o = lanczos(count, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
      purlin_lanczos_info info, last;
      purlin_lanczos *made;
      if (way == 1) o.block = 2;
      if (way == 2) o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
      if (way == 3) o.verify = PURLIN_LANCZOS_VERIFY_OFF;
      OK(purlin_lanczos_info_init(&info, sizeof info));
      OK(purlin_lanczos_info_init(&last, sizeof last));
      OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N, count, N, coordinates, &mc));
      made = solver(context, &o);
      OK(purlin_graph_embed(made, NULL, a, PURLIN_GRAPH_SCALING_NONE, mc, tw, &info));
      CHECK(info.verified == (way != 3) && info.converged == count);
      OK(purlin_lanczos_last_info(made, &last));
      CHECK(!memcmp(&last, &info, sizeof info));
      OK(purlin_lanczos_destroy(made));
      /* Of the normalized Laplacian: 0, then each of 1 - cos(2 pi k / n) twice. */
      for (i = 0; i < count && way != 3; i++) CHECK(fabs(values[i] - (1 - cos(2 * pi * ((i + 1) / 2) / N))) < 1e-9);
      OK(purlin_matrix_destroy(mc));
      OK(purlin_tensor_destroy(tw));
      o.count = 1;
      made = solver(context, &o);
      OK(purlin_graph_fiedler(made, NULL, a, 0, &value, tv, &info));
      OK(purlin_lanczos_destroy(made));
      CHECK(info.verified == (way != 3) && info.converged == 1 && fabs(value - (2 - 2 * cos(2 * pi / N))) < 1e-9);
      o = lanczos(count, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_NORMALIZED_ADJACENCY);
      if (way == 1) o.block = 2;
      if (way == 2) o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
      tw = vector_of(context, PURLIN_F64, count, values);
      OK(purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, tw, NULL, NULL, &info));
      CHECK(info.verified == 1);
      for (i = 0; i < count; i++) CHECK(fabs(values[i] - cos(2 * pi * ((i + 1) / 2) / N)) < 1e-9);
      OK(purlin_tensor_destroy(tw));
    }
  OK(purlin_tensor_destroy(tv));
  OK(purlin_matrix_destroy(a));
}

int main(void) {
  context = test_context(2);
  applications();
  shared_memory();
  shared_arrays();
  copies();
  OK(purlin_context_destroy(context));
  return finish();
}
