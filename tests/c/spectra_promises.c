/* Promises of a successful solve, as the info reports it; and options that a call cannot use, each refused by its name. */
#include "spectra.h"

enum { N = 120 };

static purlin_context *context, *other;
static purlin_group *both;
static purlin_matrix *graph, *inverse;
static const double pi = 3.14159265358979323846;

/* Options with other values than their defaults. */
static const char *const names[] = {"sigma", "basis", "restarts", "verify", "method", "block", "orthogonalization", "filter",
                                    "degree", "ordering", "group", "check_symmetry", "shift", "kind",
                                    "which", "tolerance", "count"};

static void set(purlin_lanczos_options *o, const char *name) {
  if (!strcmp(name, "sigma")) o->sigma = 0.5;
  if (!strcmp(name, "basis")) o->basis = 40;
  if (!strcmp(name, "restarts")) o->restarts = 400;
  if (!strcmp(name, "verify")) o->verify = PURLIN_LANCZOS_VERIFY_ON;
  if (!strcmp(name, "method")) o->method = PURLIN_LANCZOS_METHOD_PLAIN;
  if (!strcmp(name, "block")) o->block = 2;
  if (!strcmp(name, "orthogonalization")) o->orthogonalization = PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL;
  if (!strcmp(name, "filter")) o->filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
  if (!strcmp(name, "degree")) o->degree = 10;
  if (!strcmp(name, "ordering")) o->ordering = PURLIN_ORDERING_DEGREE;
  if (!strcmp(name, "group")) o->group = both;
  if (!strcmp(name, "check_symmetry")) o->check_symmetry = 1;
  if (!strcmp(name, "shift")) o->shift = 1;
  if (!strcmp(name, "kind")) o->kind = PURLIN_LANCZOS_LAPLACIAN;
  if (!strcmp(name, "which")) o->which = PURLIN_LANCZOS_BOTH_ENDS;
  if (!strcmp(name, "tolerance")) o->tolerance = 1e-6;
  if (!strcmp(name, "count")) o->count = 3;
}

/* The calls, and the options that each has to refuse, by words with blanks around them. */
enum { RESTART, PLAIN, FILTER, NEAREST, SOLVE, SINGULAR, TRIDIAGONALIZE, DENSITY, EMBED, CLUSTER, FIEDLER, CALLS };

static const char *const refused[CALLS] = {
    [RESTART] = " sigma degree ",
    [PLAIN] = " sigma restarts verify block orthogonalization filter degree ",
    [FILTER] = " sigma block orthogonalization which ",
    [NEAREST] = " block orthogonalization ",
    [SOLVE] = " orthogonalization degree ",
    [SINGULAR] = " sigma degree ordering group check_symmetry shift kind which ",
    [TRIDIAGONALIZE] = " sigma basis restarts verify method block orthogonalization filter degree group which "
                       "tolerance ",
    [DENSITY] = " sigma basis restarts verify method block orthogonalization filter degree group which "
                "tolerance ",
    [EMBED] = " sigma degree ordering shift kind which ",
    [CLUSTER] = " sigma degree ordering shift kind which ",
    [FIEDLER] = " sigma method orthogonalization degree ordering shift kind which count ",
};

static purlin_lanczos_options plain_options(int which) {
  purlin_lanczos_options o = lanczos(2, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  if (which == PLAIN) o.method = PURLIN_LANCZOS_METHOD_PLAIN;
  if (which == FILTER) o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
  if (which == NEAREST || which == SOLVE) o.which = PURLIN_LANCZOS_NEAREST, o.sigma = 0.3;
  if (which == FIEDLER) o.count = 1;
  return o;
}

/* Makes a call; its message goes to `message`. */
static purlin_status call(int which, const purlin_lanczos_options *o, char message[400]) {
  static double values[6], vector[N], points[200], weights[200], embedded[6 * N];
  static int64_t labels[N];
  const int64_t length = N;
  purlin_tensor *list = vector_of(context, PURLIN_F64, o->count, values), *one = NULL, *two = NULL;
  purlin_matrix *columns = NULL;
  purlin_lanczos *lanczos = NULL;
  purlin_status status;
  int64_t found = 0;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N, o->count, N, embedded, &columns));
  if (which == CLUSTER)
    OK(purlin_tensor_borrow(context, PURLIN_I64, 0, 1, &length, NULL, labels, &one));
  else
    one = vector_of(context, PURLIN_F64, which == DENSITY ? 40 : N, which == DENSITY ? points : vector);
  two = vector_of(context, PURLIN_F64, 40, weights);
  status = which >= TRIDIAGONALIZE ? purlin_lanczos_create(context, o, &lanczos) : PURLIN_SUCCESS;
  if (status == PURLIN_SUCCESS) {
    switch (which) {
      case SOLVE: status = purlin_lanczos_solve_once(context, NULL, graph, NULL, NULL, inverse, o, list, NULL, NULL, NULL); break;
      case SINGULAR: status = purlin_lanczos_singular_once(context, NULL, graph, NULL, o, NULL, list, NULL, NULL, NULL); break;
      case TRIDIAGONALIZE:
        status = purlin_lanczos_tridiagonalize(lanczos, NULL, graph, 20, NULL, points, weights, &found);
        break;
      case DENSITY: status = purlin_graph_density(lanczos, NULL, graph, 20, 2, one, two, &found); break;
      case EMBED: status = purlin_graph_embed(lanczos, NULL, graph, 0, columns, NULL, NULL); break;
      case CLUSTER: status = purlin_graph_cluster(lanczos, NULL, graph, 0, 2, one, NULL, NULL); break;
      case FIEDLER: status = purlin_graph_fiedler(lanczos, NULL, graph, 0, NULL, one, NULL); break;
      default: status = purlin_lanczos_solve_once(context, NULL, graph, NULL, NULL, NULL, o, list, NULL, NULL, NULL);
    }
  }
  snprintf(message, 400, "%s", purlin_last_error_message());
  OK(purlin_lanczos_destroy(lanczos));
  OK(purlin_tensor_destroy(two));
  OK(purlin_tensor_destroy(one));
  OK(purlin_tensor_destroy(list));
  OK(purlin_matrix_destroy(columns));
  return status;
}

static void options(void) {
  char message[400], word[40];
  size_t k;
  int which;
  for (which = 0; which < CALLS; which++) {
    purlin_lanczos_options o = plain_options(which);
    if (which != SOLVE) {
      purlin_status status = call(which, &o, message);
      CHECK(status == PURLIN_SUCCESS || status == PURLIN_ERROR_NO_CONVERGENCE);
      if (status != PURLIN_SUCCESS) fprintf(stderr, "call %d: %s\n", which, message);
    }
    for (k = 0; k < COUNT(names); k++) {
      int is_refused, is_named;
      purlin_status status;
      snprintf(word, sizeof word, " %s ", names[k]);
      o = plain_options(which);
      set(&o, names[k]);
      status = call(which, &o, message);
      is_named = !strncmp(message, names[k], strlen(names[k])) && message[strlen(names[k])] == ':';
      is_refused = status == PURLIN_ERROR_INVALID_ARGUMENT && is_named;
      if (is_refused != (strstr(refused[which], word) != NULL))
        fprintf(stderr, "call %d with %s: %d \"%s\"\n", which, names[k], (int)status, message);
      CHECK(is_refused == (strstr(refused[which], word) != NULL));
    }
  }
}

/* The operator diag(0, 1, 2, ..), or the inverse of diag(0, 1, 2, ..) - sigma I if `inverts`. */
typedef struct {
  double sigma;
  int inverts;
} diagonal;

static int32_t multiply(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                        uint64_t cuda_stream, void *user) {
  const diagonal *d = user;
  int64_t i, k;
  (void)adjoint, (void)cuda_stream;
  for (k = 0; k < count; k++)
    for (i = 0; i < N; i++) {
      double value = ((const double *)x)[k * ldx + i];
      ((double *)y)[k * ldy + i] = d->inverts ? value / ((double)i - d->sigma) : value * (double)i;
    }
  return 0;
}

static void infos(void) {
  static diagonal plain = {0, 0}, right = {30.3, 1}, wrong = {30.3 + 1e-6, 1};
  purlin_matrix *own = NULL, *solves[2] = {NULL, NULL};
  double values[3], exact;
  purlin_tensor *list = vector_of(context, PURLIN_F64, 3, values);
  purlin_lanczos_options o;
  purlin_lanczos_info info;
  int way;
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, multiply, &plain, PURLIN_HOST, &own));
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, multiply, &right, PURLIN_HOST, &solves[0]));
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, multiply, &wrong, PURLIN_HOST, &solves[1]));
  OK(purlin_lanczos_info_init(&info, sizeof info));
  CHECK(info.verified == 0 && info.method == 0 && info.residual == 0 && info.orthogonality == 0);
  for (way = 0; way < 7; way++) {
    OK(purlin_lanczos_info_init(&info, sizeof info));
    o = lanczos(3, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
    if (way == 1) o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
    if (way == 2) o.group = both;
    if (way == 3) o.block = 2;
    if (way == 4) o.verify = PURLIN_LANCZOS_VERIFY_OFF;
    if (way == 6) {
      OK(purlin_lanczos_singular_once(context, NULL, graph, NULL, &o, NULL, list, NULL, NULL, &info));
    } else {
      OK(purlin_lanczos_solve_once(context, NULL, way == 5 ? own : graph, NULL, NULL, NULL, &o, list, NULL, NULL, &info));
    }
    CHECK(info.verified == (way != 4) && info.reason[0] != '\0' && info.converged == 3);
    CHECK(info.stop_reason == PURLIN_LANCZOS_CONVERGED);
    /* The residuals of computed vectors are never exactly 0. */
    CHECK(info.residual > 0 && info.residual < 1e-7 * info.norm);
    CHECK(info.orthogonality > 0 && info.orthogonality < 1e-11);
    exact = way == 5 ? N - 1 : 2 * cos(pi / (N + 1));
    CHECK(near(values[0], exact, 1e-9));
  }
  /* A solve with a matrix other than the declared one. */
  for (way = 0; way < 2; way++) {
    o = lanczos(3, PURLIN_LANCZOS_NEAREST, PURLIN_LANCZOS_MATRIX);
    o.sigma = 30.3;
    if (way == 0) {
      OK(purlin_lanczos_solve_once(context, NULL, own, NULL, NULL, solves[0], &o, list, NULL, NULL, &info));
      CHECK(info.stop_reason == PURLIN_LANCZOS_CONVERGED && info.verified == 1 && near(values[0], 30, 1e-9));
    } else {
      FAILS(PURLIN_ERROR_NO_CONVERGENCE, "contradict",
            purlin_lanczos_solve_once(context, NULL, own, NULL, NULL, solves[1], &o, list, NULL, NULL, &info));
      CHECK(info.stop_reason == PURLIN_LANCZOS_CONTRADICTED && info.converged < 3 && info.verified == 0 && info.count == 3);
    }
  }
  OK(purlin_tensor_destroy(list));
  OK(purlin_matrix_destroy(solves[1]));
  OK(purlin_matrix_destroy(solves[0]));
  OK(purlin_matrix_destroy(own));
}

/* Upper triangular: not symmetric. */
static int32_t skewed(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                      uint64_t cuda_stream, void *user) {
  int64_t i, k;
  (void)adjoint, (void)cuda_stream, (void)user;
  for (k = 0; k < count; k++) {
    const double *from = (const double *)x + k * ldx;
    for (i = 0; i < N; i++) ((double *)y)[k * ldy + i] = (double)i * from[i] + (i + 1 < N ? 100 * from[i + 1] : 0);
  }
  return 0;
}

/* An operator that is not symmetric never succeeds, whichever algorithm computes its pairs. */
static void not_symmetric(void) {
  purlin_matrix *a = NULL;
  double values[3];
  purlin_tensor *list = vector_of(context, PURLIN_F64, 3, values);
  int way;
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, skewed, NULL, PURLIN_HOST, &a));
  for (way = 0; way < 6; way++) {
    purlin_lanczos_options o = lanczos(3, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
    purlin_lanczos_info info;
    purlin_status status;
    if (way == 1) o.block = 2;
    if (way == 2) o.orthogonalization = PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL;
    if (way == 3) o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV, o.degree = 8;
    if (way == 4) o.method = PURLIN_LANCZOS_METHOD_PLAIN, o.basis = 100;
    if (way == 5) o.which = PURLIN_LANCZOS_NEAREST, o.sigma = 30, o.degree = 40;
    if (way != 4) o.restarts = 4;
    OK(purlin_lanczos_info_init(&info, sizeof info));
    status = purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &o, list, NULL, NULL, &info);
    CHECK(status == PURLIN_ERROR_NUMERICAL || status == PURLIN_ERROR_NO_CONVERGENCE);
    if (status == PURLIN_ERROR_NO_CONVERGENCE) CHECK(info.converged < 3 && info.stop_reason != PURLIN_LANCZOS_CONVERGED);
    CHECK(info.verified == 0);
    /* By a status of its own where the iteration had converged, in the message where restarts ended first. */
    CHECK(strstr(purlin_last_error_message(), "not symmetric") != NULL);
    if (way == 0 || way == 2) CHECK(status == PURLIN_ERROR_NUMERICAL);
  }
  OK(purlin_tensor_destroy(list));
  OK(purlin_matrix_destroy(a));
}

/* The Laplacian of a path in F32: its eigenvalue 0 ends at roundings of the norm, by a filter too. */
static void zero_in_single_precision(void) {
  enum { SHORT = 300, EACH = 5 };
  static int64_t row[2 * SHORT], col[2 * SHORT];
  static float ones[2 * SHORT];
  purlin_matrix *path = NULL;
  double values[EACH];
  purlin_tensor *list = vector_of(context, PURLIN_F64, EACH, values);
  int64_t i, k = 0;
  int way;
  for (i = 0; i + 1 < SHORT; i++) {
    row[k] = i, col[k] = i + 1, ones[k++] = 1;
    row[k] = i + 1, col[k] = i, ones[k++] = 1;
  }
  OK(purlin_matrix_from_coordinates(context, PURLIN_F32, 0, SHORT, SHORT, k, PURLIN_I64, row, col, ones,
                                    PURLIN_DUPLICATES_SUM, &path));
  for (way = 0; way < 3; way++) {
    purlin_lanczos_options o = lanczos(EACH, PURLIN_LANCZOS_SMALLEST, PURLIN_LANCZOS_LAPLACIAN);
    purlin_lanczos_info info;
    o.basis = 60;
    if (way == 1) o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
    if (way == 2) o.block = 2;
    OK(purlin_lanczos_info_init(&info, sizeof info));
    OK(purlin_lanczos_solve_once(context, NULL, path, NULL, NULL, NULL, &o, list, NULL, NULL, &info));
    CHECK(info.converged == EACH && info.verified == 1);
    /* Residuals of a few roundings of the norm, 4, bound the error. */
    for (i = 0; i < EACH; i++) CHECK(fabs(values[i] - (2 - 2 * cos(pi * (double)i / SHORT))) <= 2e-5);
  }
  OK(purlin_matrix_destroy(path));
  OK(purlin_tensor_destroy(list));
}

/* The eigenvalues of a symmetric matrix, falling, by Jacobi's rotations. */
static void dense_eigenvalues(int n, double *a, double *values) {
  int sweep, p, q, i;
  for (sweep = 0; sweep < 30; sweep++)
    for (p = 0; p < n; p++)
      for (q = p + 1; q < n; q++) {
        double apart = a[p + n * q], theta, t, c, s;
        if (apart == 0) continue;
        theta = (a[q + n * q] - a[p + n * p]) / (2 * apart);
        t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
        c = 1 / sqrt(t * t + 1), s = t * c;
        for (i = 0; i < n; i++) {
          double x = a[i + n * p], y = a[i + n * q];
          a[i + n * p] = c * x - s * y, a[i + n * q] = s * x + c * y;
        }
        for (i = 0; i < n; i++) {
          double x = a[p + n * i], y = a[q + n * i];
          a[p + n * i] = c * x - s * y, a[q + n * i] = s * x + c * y;
        }
      }
  for (p = 0; p < n; p++) {
    double value = a[p + n * p];
    for (i = p; i > 0 && values[i - 1] < value; i--) values[i] = values[i - 1];
    values[i] = value;
  }
}

/* The plain recurrence skips no value: if it succeeds, its values are the outermost ones of the whole spectrum. */
static void plain_recurrence(void) {
  enum { ORDER = 40, EACH = 6, SEEDS = 4 };
  static const int64_t bases[] = {0, ORDER / 2, ORDER - 1, 3 * ORDER};
  static double a[ORDER * ORDER], turned[ORDER * ORDER];
  int64_t row[ORDER * ORDER], col[ORDER * ORDER];
  double entries[ORDER * ORDER], exact[ORDER], values[EACH];
  purlin_tensor *list = vector_of(context, PURLIN_F64, EACH, values);
  uint64_t seed;
  int solved = 0, is_smallest, i, j, k, b;
  for (seed = 1; seed <= SEEDS; seed++) {
    purlin_matrix *matrix = NULL;
    uint64_t state = seed;
    k = 0;
    for (i = 0; i < ORDER; i++)
      for (j = 0; j <= i; j++) {
        double value = (double)(draw(&state) >> 11) / 9007199254740992.0 - 0.3;
        a[i + ORDER * j] = a[j + ORDER * i] = i == j || draw(&state) % 10 >= 3 ? 0 : value;
      }
    for (i = 0; i < ORDER; i++)
      for (j = 0; j < ORDER; j++)
        if (a[i + ORDER * j] != 0) row[k] = i, col[k] = j, entries[k++] = a[i + ORDER * j];
    memcpy(turned, a, sizeof a);
    dense_eigenvalues(ORDER, turned, exact);
    matrix = coordinates(context, ORDER, ORDER, k, row, col, entries);
    for (is_smallest = 0; is_smallest < 2; is_smallest++)
      for (b = 0; b < (int)COUNT(bases); b++) {
        purlin_lanczos_options o =
            lanczos(EACH, is_smallest ? PURLIN_LANCZOS_SMALLEST : PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
        purlin_lanczos_info info;
        purlin_status status;
        int is_whole;
        o.method = PURLIN_LANCZOS_METHOD_PLAIN;
        o.basis = bases[b];
        OK(purlin_lanczos_info_init(&info, sizeof info));
        status = purlin_lanczos_solve_once(context, NULL, matrix, NULL, NULL, NULL, &o, list, NULL, NULL, &info);
        is_whole = status == PURLIN_SUCCESS;
        CHECK(is_whole || status == PURLIN_ERROR_NO_CONVERGENCE);
        CHECK(is_whole == (info.converged == EACH) && is_whole == (info.stop_reason == PURLIN_LANCZOS_CONVERGED));
        for (i = 0; i < info.converged; i++)
          CHECK(fabs(values[i] - exact[is_smallest ? ORDER - 1 - i : i]) <= 1e-7 * fmax(fabs(exact[0]), fabs(exact[ORDER - 1])));
        solved += is_whole;
      }
    OK(purlin_matrix_destroy(matrix));
  }
  CHECK(solved >= SEEDS);
  OK(purlin_tensor_destroy(list));
}

int main(void) {
  const purlin_context *members[2];
  context = test_context(2);
  other = test_context(1);
  members[0] = context, members[1] = other;
  OK(purlin_group_create(2, members, NULL, &both));
  graph = path_graph(context, N);
  inverse = path_graph(context, N);
  options();
  infos();
  not_symmetric();
  zero_in_single_precision();
  plain_recurrence();
  OK(purlin_matrix_destroy(inverse));
  OK(purlin_matrix_destroy(graph));
  OK(purlin_group_destroy(both));
  OK(purlin_context_destroy(other));
  OK(purlin_context_destroy(context));
  return finish();
}
