/* Outputs that overlap an input or one another are refused by name, and no memory changes. Each call is first made with outputs
   that end where the other argument begins, or begin where it ends, and succeeds. */
#include "check.h"

static purlin_context *context;
static double arena[1024], before[1024];

/* A refusal after which every byte is as it was. */
#define REFUSED(text, call)                             \
  do {                                                  \
    memcpy(before, arena, sizeof arena);                \
    BAD_ARGUMENT(text, call);                           \
    CHECK(memcmp(before, arena, sizeof arena) == 0);    \
  } while (0)

/* A call with `name`, a new object, which is destroyed after it. */
#define MATRIX(name, make, use)           \
  do {                                    \
    purlin_matrix *name = make;           \
    use;                                  \
    OK(purlin_matrix_destroy(name));      \
  } while (0)
#define TENSOR(name, make, use)           \
  do {                                    \
    purlin_tensor *name = make;           \
    use;                                  \
    OK(purlin_tensor_destroy(name));      \
  } while (0)

/* Distinct positive numbers. */
static void fill(void) {
  size_t k;
  for (k = 0; k < COUNT(arena); k++) arena[k] = 1 + (double)((k * 37) % 101) / 8;
}

static purlin_matrix *f64(int64_t rows, int64_t cols, int at) {
  purlin_matrix *made = NULL;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, rows, cols, rows, arena + at, &made));
  return made;
}

static purlin_tensor *numbers(int64_t count, int at) { return vector_of(context, PURLIN_F64, count, arena + at); }

static purlin_rsvd *low_rank(int64_t rank) {
  purlin_rsvd_options o;
  purlin_rsvd *made = NULL;
  OK(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = rank;
  OK(purlin_rsvd_create(context, &o, &made));
  return made;
}

static void components(void) {
  enum { M = 12, N = 6, K = 2, X = 100, SCORES = X + M * N };
  purlin_rsvd *rsvd = low_rank(K);
  purlin_pca *pca = NULL, *none = NULL;
  purlin_matrix *x, *scores;
  fill();
  x = f64(M, N, X), scores = f64(M, K, SCORES);
  OK(purlin_pca_fit(rsvd, NULL, x, NULL, scores, &pca, NULL));
  OK(purlin_pca_transform(pca, NULL, x, scores, NULL));
  MATRIX(y, f64(M, N, SCORES + M * K), OK(purlin_pca_inverse_transform(pca, NULL, scores, y)));
  MATRIX(bad, f64(M, K, SCORES - 1), REFUSED("scores: overlaps x", purlin_pca_fit(rsvd, NULL, x, NULL, bad, &none, NULL)));
  MATRIX(bad, f64(M, K, SCORES - 1), REFUSED("scores: overlaps x", purlin_pca_transform(pca, NULL, x, bad, NULL)));
  MATRIX(bad, f64(M, N, SCORES + M * K - 1), REFUSED("x: overlaps scores", purlin_pca_inverse_transform(pca, NULL, scores, bad)));
  CHECK(none == NULL);
  OK(purlin_matrix_destroy(scores));
  OK(purlin_matrix_destroy(x));
  OK(purlin_pca_destroy(pca));
  OK(purlin_rsvd_destroy(rsvd));
}

static void low_rank_factors(void) {
  enum { M = 12, N = 8, K = 2, A = 100, AFTER = A + M * N, SQUARE = 300, BEHIND = SQUARE + N * N };
  purlin_rsvd *rsvd = low_rank(K);
  purlin_matrix *a, *square, *u, *v;
  purlin_tensor *s;
  int i;
  fill();
  for (i = 0; i < N * N; i++) arena[SQUARE + i] = i % (N + 1) == 0 ? i + 1 : 0;
  a = f64(M, N, A), square = f64(N, N, SQUARE);
  u = f64(M, K, AFTER), v = f64(N, K, AFTER + M * K), s = numbers(K, AFTER + (M + N) * K);
  OK(purlin_rsvd_compute(rsvd, NULL, a, u, s, v, NULL));
  /* A basis and its product. */
  MATRIX(b, f64(K, N, A - K * N), OK(purlin_rsvd_range(rsvd, NULL, a, u, b, NULL)));
  MATRIX(b, f64(K, N, A - K * N + 1), REFUSED("b: overlaps a", purlin_rsvd_range(rsvd, NULL, a, u, b, NULL)));
  MATRIX(b, f64(K, N, AFTER + M * K - 1), REFUSED("b: overlaps q", purlin_rsvd_range(rsvd, NULL, a, u, b, NULL)));
  MATRIX(q, f64(M, K, AFTER - 1), REFUSED("q: overlaps a", purlin_rsvd_range(rsvd, NULL, a, q, NULL, NULL)));
  /* Eigenpairs. */
  MATRIX(w, f64(N, K, BEHIND), TENSOR(l, numbers(K, BEHIND + N * K), OK(purlin_rsvd_symmetric(rsvd, NULL, square, l, w, NULL))));
  CHECK(arena[BEHIND + N * K] > 63.999 && arena[BEHIND + N * K] < 64.001);
  MATRIX(w, f64(N, K, BEHIND), TENSOR(l, numbers(K, BEHIND + N * K - 1), REFUSED("lambda: overlaps v", purlin_rsvd_symmetric(rsvd, NULL, square, l, w, NULL))));
  MATRIX(w, f64(N, K, BEHIND - 1), REFUSED("v: overlaps a", purlin_rsvd_symmetric(rsvd, NULL, square, NULL, w, NULL)));
  TENSOR(l, numbers(K, SQUARE - 1), REFUSED("lambda: overlaps a", purlin_rsvd_symmetric(rsvd, NULL, square, l, NULL, NULL)));
  /* Residuals: behind the factors, and one before the end or the start of each argument. */
  OK(purlin_rsvd_compute(rsvd, NULL, a, u, s, v, NULL));
  {
    static const struct {
      const char *left, *right;
      int at;
    } places[] = {{"left: overlaps a", "right: overlaps a", A - K + 1},
                  {"left: overlaps u", "right: overlaps u", AFTER + 3},
                  {"left: overlaps v", "right: overlaps v", AFTER + M * K + 3},
                  {"left: overlaps s", "right: overlaps s", AFTER + (M + N + 1) * K - 1}};
    enum { FREE = AFTER + (M + N + 1) * K + 10 };
    purlin_tensor *good = numbers(K, FREE), *next = numbers(K, FREE + K), *half = numbers(K, FREE + K - 1);
    size_t k;
    OK(purlin_rsvd_residuals(rsvd, NULL, a, u, s, v, good, next, NULL));
    REFUSED("right: overlaps left", purlin_rsvd_residuals(rsvd, NULL, a, u, s, v, good, half, NULL));
    for (k = 0; k < COUNT(places); k++) {
      TENSOR(bad, numbers(K, places[k].at), REFUSED(places[k].left, purlin_rsvd_residuals(rsvd, NULL, a, u, s, v, bad, good, NULL)));
      TENSOR(bad, numbers(K, places[k].at), REFUSED(places[k].right, purlin_rsvd_residuals(rsvd, NULL, a, u, s, v, good, bad, NULL)));
    }
    OK(purlin_tensor_destroy(half));
    OK(purlin_tensor_destroy(next));
    OK(purlin_tensor_destroy(good));
  }
  OK(purlin_tensor_destroy(s));
  OK(purlin_matrix_destroy(v));
  OK(purlin_matrix_destroy(u));
  OK(purlin_matrix_destroy(square));
  OK(purlin_matrix_destroy(a));
  OK(purlin_rsvd_destroy(rsvd));
}

/* The three arrays of a sparse matrix lie apart, so that each of them is overlapped alone. */
static void sparse(void) {
  enum { N = 4, B = 2, GAP = 40, OFFSETS = GAP, COLUMNS = OFFSETS + N + 1 + GAP, VALUES = COLUMNS + N + GAP, X = 300 };
  static const int64_t offsets[N + 1] = {0, 1, 2, 3, 4}, columns[N] = {1, 0, 3, 2};
  static const int places[] = {OFFSETS, COLUMNS, VALUES};
  purlin_matrix *a = NULL, *x;
  purlin_spmv *plan = NULL;
  size_t k;
  int i, j;
  fill();
  memcpy(arena + OFFSETS, offsets, sizeof offsets);
  memcpy(arena + COLUMNS, columns, sizeof columns);
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, N, N, N, PURLIN_I64, arena + OFFSETS, PURLIN_I64, arena + COLUMNS,
                              arena + VALUES, &a));
  OK(purlin_spmv_create(a, NULL, &plan));
  x = f64(N, B, X);
  for (k = 0; k < COUNT(places); k++) {
    const int at = places[k];
    MATRIX(out, f64(N, N, at - N * N), OK(purlin_matrix_to_dense(a, out)));
    for (i = 0; i < N; i++)
      for (j = 0; j < N; j++) CHECK(arena[at - N * N + i + N * j] == (j == columns[i] ? arena[VALUES + i] : 0));
    MATRIX(out, f64(N, N, at - N * N + 1), REFUSED("out: overlaps a", purlin_matrix_to_dense(a, out)));
    MATRIX(y, f64(N, B, at - N * B), OK(purlin_spmv_apply_block(plan, NULL, NULL, a, x, NULL, y)));
    for (i = 0; i < N; i++)
      for (j = 0; j < B; j++) {
        double difference = arena[at - N * B + i + N * j] - arena[VALUES + i] * arena[X + columns[i] + N * j];
        CHECK(difference < 1e-12 && difference > -1e-12);
      }
    MATRIX(y, f64(N, B, at - N * B + 1), REFUSED("y: overlaps a", purlin_spmv_apply_block(plan, NULL, NULL, a, x, NULL, y)));
  }
  MATRIX(y, f64(N, B, X + N * B), OK(purlin_spmv_apply_block(plan, NULL, NULL, a, x, NULL, y)));
  MATRIX(y, f64(N, B, X + N * B - 1), REFUSED("y: overlaps x", purlin_spmv_apply_block(plan, NULL, NULL, a, x, NULL, y)));
  OK(purlin_matrix_destroy(x));
  OK(purlin_spmv_destroy(plan));
  OK(purlin_matrix_destroy(a));
}

/* Two tensors of order 3 and dimension 2: 4 numbers of each packed, 8 in full. */
static void packed(void) {
  enum { T = 2, PACKED = 100, FULL = PACKED + 4 * T };
  purlin_tensor *p, *f;
  int k;
  fill();
  for (k = 0; k < 8 * T; k++) arena[FULL + k] = 3;
  p = symmetric(context, PURLIN_F64, 3, 2, T, arena + PACKED);
  f = dense(context, PURLIN_F64, 4, (const int64_t[]){2, 2, 2, T}, arena + FULL);
  OK(purlin_symmetric_from_full(context, NULL, f, 0, 0, p));
  OK(purlin_symmetric_to_full(context, NULL, p, f));
  TENSOR(n, numbers(T, PACKED - T), OK(purlin_symmetric_norm(context, NULL, p, PURLIN_NORM_MAX, n)));
  CHECK(arena[PACKED] == 3 && arena[FULL + 8 * T - 1] == 3 && arena[PACKED - 1] == 3);
  TENSOR(bad, symmetric(context, PURLIN_F64, 3, 2, T, arena + PACKED + 1),
         REFUSED("packed: overlaps full", purlin_symmetric_from_full(context, NULL, f, 0, 0, bad)));
  TENSOR(bad, dense(context, PURLIN_F64, 4, (const int64_t[]){2, 2, 2, T}, arena + FULL - 1),
         REFUSED("full: overlaps packed", purlin_symmetric_to_full(context, NULL, p, bad)));
  TENSOR(bad, numbers(T, PACKED - T + 1), REFUSED("norms: overlaps packed", purlin_symmetric_norm(context, NULL, p, PURLIN_NORM_MAX, bad)));
  OK(purlin_tensor_destroy(f));
  OK(purlin_tensor_destroy(p));
}

/* A panel of 8 columns and 1 row, of which a view of floats takes the place of 4 numbers. */
static void scans(void) {
  enum { COLUMNS = 8, VIEWS = 6, VIEW = COLUMNS / 2, SIDE = 4, VOLUME = SIDE * SIDE / 2, ELLIPSOID = 8, AT = 100 };
  double angles[VIEWS];
  const int64_t first = 0;
  purlin_fdk_geometry g;
  purlin_fdk_grid grid;
  purlin_fdk_info info;
  purlin_fdk *fdk = NULL;
  purlin_tensor *view, *e;
  int k;
  OK(purlin_fdk_geometry_init(&g, sizeof g));
  OK(purlin_fdk_grid_init(&grid, sizeof grid));
  OK(purlin_fdk_info_init(&info, sizeof info));
  for (k = 0; k < VIEWS; k++) angles[k] = k * 6.283185307179586 / VIEWS;
  g.source_to_axis = 500, g.source_to_detector = 1000;
  g.column_pitch = g.row_pitch = 2;
  g.detector_columns = COLUMNS, g.detector_rows = 1;
  g.views = VIEWS, g.angles = angles;
  grid.nx = grid.ny = SIDE, grid.nz = 1;
  grid.dx = grid.dy = grid.dz = 1;
  OK(purlin_fdk_create(context, &g, &grid, NULL, &fdk));
  OK(purlin_fdk_plan(fdk, &info));
  CHECK(info.filtered_columns == COLUMNS);
  memset(arena, 0, sizeof arena);
#define FLOATS(columns, rows, slices, at) array3(context, PURLIN_F32, columns, rows, slices, arena + (at))
  view = FLOATS(COLUMNS, 1, 1, AT);
  TENSOR(to, FLOATS(COLUMNS, 1, 1, AT + VIEW), OK(purlin_fdk_filter(fdk, NULL, 1, &first, view, to)));
  TENSOR(bad, FLOATS(COLUMNS, 1, 1, AT + VIEW - 1), REFUSED("filtered: overlaps weighted", purlin_fdk_filter(fdk, NULL, 1, &first, view, bad)));
  TENSOR(to, FLOATS(SIDE, SIDE, 1, AT - VOLUME), OK(purlin_fdk_backproject(fdk, NULL, 1, &first, view, to)));
  TENSOR(bad, FLOATS(SIDE, SIDE, 1, AT - VOLUME + 1), REFUSED("volume: overlaps filtered", purlin_fdk_backproject(fdk, NULL, 1, &first, view, bad)));
  OK(purlin_tensor_destroy(view));
  /* A ball of radius 1. */
  for (k = 0; k < 4; k++) arena[AT + k] = 1;
  e = array2(context, PURLIN_F64, ELLIPSOID, 1, arena + AT);
  TENSOR(to, FLOATS(COLUMNS, 1, VIEWS, AT + ELLIPSOID), OK(purlin_fdk_ellipsoids(fdk, NULL, e, to)));
  TENSOR(bad, FLOATS(COLUMNS, 1, VIEWS, AT + ELLIPSOID - 1), REFUSED("projections: overlaps ellipsoids", purlin_fdk_ellipsoids(fdk, NULL, e, bad)));
  TENSOR(to, FLOATS(SIDE, SIDE, 1, AT - VOLUME), OK(purlin_fdk_ellipsoid_volume(fdk, e, to)));
  TENSOR(bad, FLOATS(SIDE, SIDE, 1, AT - VOLUME + 1), REFUSED("volume: overlaps ellipsoids", purlin_fdk_ellipsoid_volume(fdk, e, bad)));
  OK(purlin_tensor_destroy(e));
  e = array2(context, PURLIN_F64, COLUMNS, VIEWS, arena + AT);
  TENSOR(to, numbers(VIEWS, AT + COLUMNS * VIEWS), OK(purlin_fdk_weights(fdk, e, to)));
  TENSOR(bad, numbers(VIEWS, AT + COLUMNS * VIEWS - 1), REFUSED("angular: overlaps redundancy", purlin_fdk_weights(fdk, e, bad)));
  OK(purlin_tensor_destroy(e));
  OK(purlin_fdk_destroy(fdk));
}

/* Three cores of mode size 2 and ranks 1, 2, 2, 1: 4, 8 and 4 numbers, which lie apart. */
enum { D = 3, TRAIN = 200, CORE = 100 };
static const int64_t two[D] = {2, 2, 2}, train_ranks[D + 1] = {1, 2, 2, 1}, core_sizes[D] = {4, 8, 4};

static void *const *cores(void) {
  static void *all[D];
  int k;
  for (k = 0; k < D; k++) all[k] = arena + TRAIN + k * CORE;
  return all;
}

static purlin_tt *train(void) {
  purlin_tt *made = NULL;
  OK(purlin_tt_borrow(context, PURLIN_F64, 0, D, two, train_ranks, cores(), &made));
  return made;
}

static void operators(void) {
  static const int64_t one[D] = {1, 1, 1}, dims[D][4] = {{1, 2, 1, 2}, {2, 2, 1, 2}, {2, 2, 1, 1}};
  purlin_tt_matrix *h = NULL;
  int64_t k;
  fill();
  OK(purlin_tt_matrix_borrow(context, PURLIN_F64, 0, D, two, one, train_ranks, cores(), &h));
  for (k = 0; k < D; k++) {
    double *at = arena + TRAIN + k * CORE + core_sizes[k];
    TENSOR(c, dense(context, PURLIN_F64, 4, dims[k], at), OK(purlin_tt_matrix_core(h, NULL, k, c)));
    TENSOR(c, dense(context, PURLIN_F64, 4, dims[k], at), OK(purlin_tt_matrix_set_core(h, NULL, k, c)));
    TENSOR(c, dense(context, PURLIN_F64, 4, dims[k], at - 1), REFUSED("core: overlaps matrix", purlin_tt_matrix_core(h, NULL, k, c)));
    TENSOR(c, dense(context, PURLIN_F64, 4, dims[k], at - 1), REFUSED("matrix: overlaps core", purlin_tt_matrix_set_core(h, NULL, k, c)));
  }
  /* Another core's memory may be the source. */
  TENSOR(c, dense(context, PURLIN_F64, 4, dims[0], arena + TRAIN + CORE), OK(purlin_tt_matrix_set_core(h, NULL, 0, c)));
  CHECK(memcmp(arena + TRAIN, arena + TRAIN + CORE, 4 * sizeof(double)) == 0);
  OK(purlin_tt_matrix_destroy(h));
}

static void trains(void) {
  enum { OPERATOR = 600, OTHER = 620, FREE = 700 };
  static const int64_t indices[2 * D] = {0, 1, 0, 1, 1, 0};
  const double diagonal[4] = {1, 0, 0, 2};
  purlin_tt *x, *made = NULL;
  purlin_tensor *a, *b;
  purlin_tt_contraction *c = NULL;
  int k;
  fill();
  memcpy(arena + OPERATOR, diagonal, sizeof diagonal);
  memcpy(arena + OTHER, diagonal, sizeof diagonal);
  x = train();
  a = array2(context, PURLIN_F64, 2, 2, arena + OPERATOR);
  b = array2(context, PURLIN_F64, 2, 2, arena + OTHER);
  OK(purlin_tt_contraction_create(context, NULL, &c));
  /* `end` is the first element behind a core. */
  for (k = 0; k < D; k++) {
    const int end = TRAIN + k * CORE + (int)core_sizes[k];
    TENSOR(v, numbers(8, end), OK(purlin_tt_full(context, NULL, x, v)));
    TENSOR(v, numbers(8, end - 1), REFUSED("values: overlaps x", purlin_tt_full(context, NULL, x, v)));
    TENSOR(v, numbers(2, end), OK(purlin_tt_elements(context, NULL, x, 2, indices, v)));
    TENSOR(v, numbers(2, end - 1), REFUSED("values: overlaps x", purlin_tt_elements(context, NULL, x, 2, indices, v)));
    TENSOR(d, numbers(D - 1, end), OK(purlin_tt_round(context, NULL, x, NULL, &made, d, NULL)));
    OK(purlin_tt_destroy(made));
    made = NULL;
    TENSOR(d, numbers(D - 1, end - 1), REFUSED("discarded: overlaps x", purlin_tt_round(context, NULL, x, NULL, &made, d, NULL)));
    TENSOR(v, array2(context, PURLIN_F64, D, D, arena + end), OK(purlin_tt_correlation(c, NULL, x, a, b, v, NULL)));
    TENSOR(v, array2(context, PURLIN_F64, D, D, arena + end - 1), REFUSED("values: overlaps x", purlin_tt_correlation(c, NULL, x, a, b, v, NULL)));
  }
  TENSOR(v, array2(context, PURLIN_F64, D, D, arena + OPERATOR + 3), REFUSED("values: overlaps a", purlin_tt_correlation(c, NULL, x, a, b, v, NULL)));
  TENSOR(v, array2(context, PURLIN_F64, D, D, arena + OTHER + 3), REFUSED("values: overlaps b", purlin_tt_correlation(c, NULL, x, a, b, v, NULL)));
  TENSOR(v, numbers(8, FREE), TENSOR(d, numbers(D - 1, FREE + 8), OK(purlin_tt_svd(context, NULL, v, D, two, NULL, &made, d, NULL))));
  OK(purlin_tt_destroy(made));
  made = NULL;
  TENSOR(v, numbers(8, FREE), TENSOR(d, numbers(D - 1, FREE + 7), REFUSED("discarded: overlaps values", purlin_tt_svd(context, NULL, v, D, two, NULL, &made, d, NULL))));
  CHECK(made == NULL);
  OK(purlin_tt_contraction_destroy(c));
  OK(purlin_tensor_destroy(b));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tt_destroy(x));
}

static void batches(void) {
  enum { PAIRS = 3, FREE = 700 };
  const purlin_tt *list[PAIRS];
  purlin_tt *x;
  purlin_tt_contraction *c = NULL;
  purlin_tensor *v;
  int k;
  fill();
  x = train();
  /* Inputs may be the same. */
  for (k = 0; k < PAIRS; k++) list[k] = x;
  OK(purlin_tt_contraction_create(context, NULL, &c));
  v = numbers(PAIRS, FREE);
  TENSOR(e, vector_of(context, PURLIN_I64, PAIRS, arena + FREE + PAIRS), OK(purlin_tt_inner_batch(c, NULL, PAIRS, list, list, v, e, NULL)));
  CHECK(arena[FREE] != 0 && arena[FREE] == arena[FREE + 1] && arena[FREE] == arena[FREE + 2]);
  TENSOR(e, vector_of(context, PURLIN_I64, PAIRS, arena + FREE + PAIRS - 1), REFUSED("exponents: overlaps values", purlin_tt_inner_batch(c, NULL, PAIRS, list, list, v, e, NULL)));
  TENSOR(e, vector_of(context, PURLIN_I64, PAIRS, arena + TRAIN), REFUSED("overlaps x", purlin_tt_inner_batch(c, NULL, PAIRS, list, list, v, e, NULL)));
  for (k = 0; k < D; k++) {
    const int end = TRAIN + k * CORE + (int)core_sizes[k];
    TENSOR(w, numbers(PAIRS, end), OK(purlin_tt_inner_batch(c, NULL, PAIRS, list, list, w, NULL, NULL)));
    TENSOR(w, numbers(PAIRS, end - 1), REFUSED("values: overlaps x", purlin_tt_inner_batch(c, NULL, PAIRS, list, list, w, NULL, NULL)));
  }
  OK(purlin_tensor_destroy(v));
  OK(purlin_tt_contraction_destroy(c));
  OK(purlin_tt_destroy(x));
}

/* Overlaps are checked before the backend and the location of the trains. */
static void enqueued(void) {
  purlin_tt *x;
  purlin_tt_contraction *c = NULL;
  int k;
  fill();
  x = train();
  OK(purlin_tt_contraction_create(context, NULL, &c));
  for (k = 0; k < D; k++) {
    const int end = TRAIN + k * CORE + (int)core_sizes[k];
    TENSOR(r, numbers(4, end), UNSUPPORTED("", purlin_tt_inner_enqueue(c, NULL, x, x, r, NULL)));
    TENSOR(r, numbers(4, end - 1), REFUSED("result: overlaps x", purlin_tt_inner_enqueue(c, NULL, x, x, r, NULL)));
    TENSOR(r, numbers(4, end - 1), REFUSED("result: overlaps x", purlin_tt_norm_enqueue(c, NULL, x, r, NULL)));
    TENSOR(r, numbers(4, end - 1), REFUSED("result: overlaps x", purlin_tt_distance_enqueue(c, NULL, x, x, r, NULL)));
  }
  OK(purlin_tt_contraction_destroy(c));
  OK(purlin_tt_destroy(x));
}

/* The same with trains and results on a GPU. */
static void enqueued_on_device(void) {
  const int64_t four = 4;
  double numbers_before[8], numbers_after[8];
  purlin_tt *x, *on_device = NULL;
  purlin_tt_contraction *c = NULL;
  purlin_tensor *inside = NULL, *outside = NULL, *core;
  uint64_t address = 0;
  fill();
  x = train();
  OK(purlin_tt_create(context, PURLIN_F64, PURLIN_DEVICE, 0, D, two, train_ranks, &on_device));
  OK(purlin_tt_copy(context, NULL, x, on_device));
  OK(purlin_tt_core_address(on_device, 1, &address));
  OK(purlin_tensor_borrow_device(context, PURLIN_F64, 0, 1, &four, NULL, address + 4 * sizeof(double), &inside));
  OK(purlin_tensor_create(context, PURLIN_F64, PURLIN_DEVICE, 0, 1, &four, &outside));
  OK(purlin_tt_contraction_create(context, NULL, &c));
  core = dense(context, PURLIN_F64, 3, (const int64_t[]){2, 2, 2}, numbers_before);
  OK(purlin_tt_core(on_device, NULL, 1, core));
  OK(purlin_tensor_destroy(core));
  OK(purlin_tt_inner_enqueue(c, NULL, on_device, on_device, outside, NULL));
  BAD_ARGUMENT("result: overlaps x", purlin_tt_inner_enqueue(c, NULL, on_device, on_device, inside, NULL));
  BAD_ARGUMENT("result: overlaps x", purlin_tt_norm_enqueue(c, NULL, on_device, inside, NULL));
  BAD_ARGUMENT("result: overlaps x", purlin_tt_distance_enqueue(c, NULL, on_device, on_device, inside, NULL));
  core = dense(context, PURLIN_F64, 3, (const int64_t[]){2, 2, 2}, numbers_after);
  OK(purlin_tt_core(on_device, NULL, 1, core));
  OK(purlin_tensor_destroy(core));
  CHECK(memcmp(numbers_before, numbers_after, sizeof numbers_before) == 0);
  OK(purlin_tt_contraction_destroy(c));
  OK(purlin_tensor_destroy(outside));
  OK(purlin_tensor_destroy(inside));
  OK(purlin_tt_destroy(on_device));
  OK(purlin_tt_destroy(x));
}

int main(void) {
  context = test_context(2);
  components();
  low_rank_factors();
  sparse();
  packed();
  scans();
  operators();
  trains();
  batches();
  enqueued();
  if (!is_on_cpu()) enqueued_on_device();
  OK(purlin_context_destroy(context));
  return finish();
}
