/* The eigensolver as an object: many matrices, plans, reports, cancellation from another thread, destruction during a call. */
#include <pthread.h>

#include "spectra.h"

#include <math.h>

enum { N = 120, K = 3 };

static purlin_context *context;
static const double pi = 3.14159265358979323846;

/* diag(0, 1, ...), whose fifth product waits until the other thread has answered. */
typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int64_t products;
  int waits, is_waiting, is_answered;
} meeting;

static meeting place = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0};

static int32_t diagonal(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                        uint64_t cuda_stream, void *user) {
  meeting *m = user;
  int64_t i, j;
  (void)adjoint, (void)cuda_stream;
  for (j = 0; j < count; j++)
    for (i = 0; i < N; i++) ((double *)y)[j * ldy + i] = (double)i * ((const double *)x)[j * ldx + i];
  pthread_mutex_lock(&m->mutex);
  if (m->waits && ++m->products == 5) {
    m->is_waiting = 1;
    pthread_cond_broadcast(&m->changed);
    while (!m->is_answered) pthread_cond_wait(&m->changed, &m->mutex);
  }
  pthread_mutex_unlock(&m->mutex);
  return 0;
}

/* From now on the operator waits for an answer. */
static void wait_once(void) { place.products = 0, place.waits = 1, place.is_waiting = 0, place.is_answered = 0; }

/* Waits for the operator to wait. */
static void meet(void) {
  pthread_mutex_lock(&place.mutex);
  while (!place.is_waiting) pthread_cond_wait(&place.changed, &place.mutex);
  pthread_mutex_unlock(&place.mutex);
}

static void answer(void) {
  pthread_mutex_lock(&place.mutex);
  place.is_answered = 1, place.waits = 0;
  pthread_cond_broadcast(&place.changed);
  pthread_mutex_unlock(&place.mutex);
}

/* A solve on a thread of its own. */
typedef struct {
  purlin_lanczos *lanczos;
  purlin_matrix *a;
  purlin_tensor *values;
  purlin_status status;
} task;

static void *solve(void *argument) {
  task *t = argument;
  t->status = purlin_lanczos_solve(t->lanczos, NULL, t->a, NULL, NULL, NULL, t->values, NULL, NULL, NULL);
  return NULL;
}

static purlin_lanczos_info fresh(void) {
  purlin_lanczos_info info;
  OK(purlin_lanczos_info_init(&info, sizeof info));
  return info;
}

/* One object, several matrices: values, plans and reports. */
static void matrices(void) {
  static double vectors[K * N];
  double values[K], residuals[K], ones[N];
  purlin_matrix *paths[2] = {path_graph(context, N), path_graph(context, 2 * N)}, *mv = NULL, *empty = NULL;
  purlin_tensor *list = vector_of(context, PURLIN_F64, K, values), *left = vector_of(context, PURLIN_F64, K, residuals);
  purlin_tensor *start = vector_of(context, PURLIN_F64, N, ones), *longer = vector_of(context, PURLIN_F64, K + 1, vectors);
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info = fresh(), plan = fresh(), last = fresh();
  purlin_lanczos *solver_of_three = solver(context, &o);
  int i, k;
  for (i = 0; i < N; i++) ones[i] = 1 + i % 3;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N, K, N, vectors, &mv));
  BAD_ARGUMENT("lanczos: has no report yet", purlin_lanczos_last_info(solver_of_three, &last));
  BAD_ARGUMENT("info: is NULL", purlin_lanczos_last_info(solver_of_three, NULL));
  for (k = 0; k < 2; k++) {
    int64_t n = (k + 1) * N;
    OK(purlin_lanczos_plan(solver_of_three, paths[k], NULL, NULL, &plan));
    CHECK(plan.method == PURLIN_LANCZOS_METHOD_RESTART && plan.basis == 30 && strstr(plan.reason, "restarts"));
    CHECK(plan.contexts == 1 && plan.part_rows == n && plan.products == 0 && plan.stop_reason == 0);
    if (is_on_cpu()) CHECK(plan.host_bytes >= 8 * n * (30 + K) && plan.host_bytes < 8 * n * 100 + 65536 && plan.device_bytes == 0);
    else CHECK(plan.device_bytes >= 8 * n * (30 + K));
    OK(purlin_lanczos_solve(solver_of_three, NULL, paths[k], NULL, NULL, NULL, list, NULL, left, &info));
    for (i = 0; i < K; i++) CHECK(near(values[i], 2 * cos(pi * (i + 1) / (double)(n + 1)), 1e-10) && residuals[i] < 1e-8);
    CHECK(info.converged == K && info.stop_reason == PURLIN_LANCZOS_CONVERGED && info.method == plan.method);
    CHECK(!strcmp(info.reason, plan.reason) && info.basis == plan.basis && info.host_bytes + info.device_bytes > 0);
    OK(purlin_lanczos_last_info(solver_of_three, &last));
    CHECK(!memcmp(&last, &info, sizeof info));
  }
  /* An error leaves the report of the run before. */
  BAD_ARGUMENT("values: has dimensions",
               purlin_lanczos_solve(solver_of_three, NULL, paths[0], NULL, NULL, NULL, longer, NULL, NULL, &info));
  OK(purlin_lanczos_last_info(solver_of_three, &last));
  CHECK(!memcmp(&last, &info, sizeof info));
  OK(purlin_lanczos_solve(solver_of_three, NULL, paths[0], start, NULL, NULL, list, mv, NULL, NULL));
  CHECK(near(values[0], 2 * cos(pi / (N + 1)), 1e-10));
  OK(purlin_lanczos_singular(solver_of_three, NULL, paths[0], start, NULL, list, NULL, left, &info));
  CHECK(near(values[0], 2 * cos(pi / (N + 1)), 1e-9) && residuals[0] < 1e-7);
  OK(purlin_lanczos_last_info(solver_of_three, &last));
  CHECK(!memcmp(&last, &info, sizeof info));
  OK(purlin_lanczos_destroy(solver_of_three));
  BAD_HANDLE("lanczos: was destroyed", purlin_lanczos_last_info(solver_of_three, &last));
  /* A value that no matrix allows is refused by create, a value that this matrix does not allow by the call. */
  o.block = 17;
  BAD_ARGUMENT("block: is 17, outside 1 to 16", purlin_lanczos_create(context, &o, &solver_of_three));
  o.block = 1, o.count = N + 1;
  solver_of_three = solver(context, &o);
  BAD_ARGUMENT("count: is 121, outside 1 to n = 120", purlin_lanczos_plan(solver_of_three, paths[0], NULL, NULL, &plan));
  OK(purlin_lanczos_plan(solver_of_three, paths[1], NULL, NULL, &plan));
  CHECK(plan.basis == 2 * N && strstr(plan.reason, "whole space"));
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 0, 0, &empty));
  UNSUPPORTED("a: is dense, a sparse matrix is needed", purlin_lanczos_plan(solver_of_three, empty, NULL, NULL, &plan));
  OK(purlin_matrix_destroy(empty));
  empty = coordinates(context, 0, 0, 0, NULL, NULL, NULL);
  BAD_ARGUMENT("a: is 0 x 0", purlin_lanczos_plan(solver_of_three, empty, NULL, NULL, &plan));
  OK(purlin_matrix_destroy(empty));
  OK(purlin_lanczos_destroy(solver_of_three));
  OK(purlin_lanczos_destroy(NULL));
  OK(purlin_tensor_destroy(longer));
  OK(purlin_tensor_destroy(start));
  OK(purlin_tensor_destroy(left));
  OK(purlin_tensor_destroy(list));
  OK(purlin_matrix_destroy(mv));
  for (k = 0; k < 2; k++) OK(purlin_matrix_destroy(paths[k]));
}

/* Matrices, streams and outputs belong to the solver's context. */
static void foreign(void) {
  double values[K];
  purlin_context *other = test_context(1);
  purlin_matrix *path = path_graph(other, N);
  purlin_stream *stream = NULL;
  purlin_tensor *list = vector_of(context, PURLIN_F64, K, values);
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info = fresh();
  purlin_lanczos *made = solver(context, &o);
  int64_t count;
  OK(purlin_stream_create(other, &stream));
  BAD_ARGUMENT("a: belongs to another context",
               purlin_lanczos_solve(made, NULL, path, NULL, NULL, NULL, list, NULL, NULL, NULL));
  BAD_ARGUMENT("a: belongs to another context", purlin_lanczos_singular(made, NULL, path, NULL, NULL, list, NULL, NULL, NULL));
  BAD_ARGUMENT("a: belongs to another context", purlin_lanczos_plan(made, path, NULL, NULL, &info));
  BAD_ARGUMENT("a: belongs to another context",
               purlin_lanczos_tridiagonalize(made, NULL, path, 1, NULL, values, values + 1, &count));
  BAD_ARGUMENT("stream: belongs to another context",
               purlin_lanczos_solve(made, stream, path, NULL, NULL, NULL, list, NULL, NULL, NULL));
  OK(purlin_lanczos_destroy(made));
  OK(purlin_tensor_destroy(list));
  OK(purlin_stream_destroy(stream));
  OK(purlin_matrix_destroy(path));
  OK(purlin_context_destroy(other));
}

/* A call is cancelled from another thread; the next one is not. Two calls at a time are refused. */
static void cancelled(void) {
  double values[K];
  pthread_t thread;
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info = fresh();
  task t = {NULL, NULL, NULL, PURLIN_SUCCESS};
  o.basis = 20;
  t.lanczos = solver(context, &o);
  t.values = vector_of(context, PURLIN_F64, K, values);
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, diagonal, &place, PURLIN_HOST, &t.a));
  OK(purlin_lanczos_cancel(t.lanczos));
  wait_once();
  CHECK(pthread_create(&thread, NULL, solve, &t) == 0);
  meet();
  FAILS(PURLIN_ERROR_BUSY, "lanczos: is in use by another call", purlin_lanczos_solve(t.lanczos, NULL, t.a, NULL, NULL, NULL, t.values, NULL, NULL, NULL));
  FAILS(PURLIN_ERROR_BUSY, "lanczos: is in use by another call", purlin_lanczos_plan(t.lanczos, t.a, NULL, NULL, &info));
  BAD_ARGUMENT("lanczos: has no report yet", purlin_lanczos_last_info(t.lanczos, &info));
  OK(purlin_lanczos_cancel(t.lanczos));
  answer();
  CHECK(pthread_join(thread, NULL) == 0 && t.status == PURLIN_ERROR_CANCELLED);
  BAD_ARGUMENT("lanczos: has no report yet", purlin_lanczos_last_info(t.lanczos, &info));
  OK(purlin_lanczos_solve(t.lanczos, NULL, t.a, NULL, NULL, NULL, t.values, NULL, NULL, &info));
  CHECK(near(values[0], N - 1, 1e-10) && near(values[2], N - 3, 1e-10) && info.converged == K);
  OK(purlin_lanczos_destroy(t.lanczos));
  OK(purlin_tensor_destroy(t.values));
  OK(purlin_matrix_destroy(t.a));
}

/* A solver that is destroyed during a call: the call completes, further ones are refused. */
static void destroyed(void) {
  double values[K];
  pthread_t thread;
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  task t = {NULL, NULL, NULL, PURLIN_SUCCESS};
  t.lanczos = solver(context, &o);
  t.values = vector_of(context, PURLIN_F64, K, values);
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, diagonal, &place, PURLIN_HOST, &t.a));
  wait_once();
  CHECK(pthread_create(&thread, NULL, solve, &t) == 0);
  meet();
  OK(purlin_lanczos_destroy(t.lanczos));
  BAD_HANDLE("lanczos: was destroyed", purlin_lanczos_cancel(t.lanczos));
  BAD_HANDLE("lanczos: was destroyed", purlin_lanczos_destroy(t.lanczos));
  answer();
  CHECK(pthread_join(thread, NULL) == 0 && t.status == PURLIN_SUCCESS && near(values[0], N - 1, 1e-10));
  BAD_HANDLE("lanczos: was destroyed", purlin_lanczos_solve(t.lanczos, NULL, t.a, NULL, NULL, NULL, t.values, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(t.values));
  OK(purlin_matrix_destroy(t.a));
}

/* The plan takes the known vectors and the solve, and with them accepts and refuses the same calls as the run. */
static void planned(void) {
  static double vectors[N];
  purlin_matrix *path = path_graph(context, N), *known = NULL, *inverse = NULL;
  purlin_lanczos_options o = lanczos(2, PURLIN_LANCZOS_NEAREST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info plan = fresh();
  purlin_lanczos *made;
  int i;
  for (i = 0; i < N; i++) vectors[i] = 1;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N, 1, N, vectors, &known));
  OK(purlin_matrix_from_operator(context, PURLIN_F64, N, N, diagonal, &place, PURLIN_HOST, &inverse));
  o.block = 2;
  made = solver(context, &o);
  BAD_ARGUMENT("block: is set, NEAREST without a solve", purlin_lanczos_plan(made, path, NULL, NULL, &plan));
  OK(purlin_lanczos_plan(made, path, NULL, inverse, &plan));
  CHECK(plan.basis > 2 && strstr(plan.reason, "nearest") != NULL);
  UNSUPPORTED("known: is sparse, a dense", purlin_lanczos_plan(made, path, path, inverse, &plan));
  OK(purlin_lanczos_destroy(made));
  o = lanczos(2, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  o.orthogonalization = PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL;
  made = solver(context, &o);
  OK(purlin_lanczos_plan(made, path, NULL, NULL, &plan));
  BAD_ARGUMENT("orthogonalization: is partial, a space orthogonal to known", purlin_lanczos_plan(made, path, known, NULL, &plan));
  BAD_ARGUMENT("solve: is given, but which = LARGEST", purlin_lanczos_plan(made, path, NULL, inverse, &plan));
  OK(purlin_lanczos_destroy(made));
  OK(purlin_matrix_destroy(inverse));
  OK(purlin_matrix_destroy(known));
  OK(purlin_matrix_destroy(path));
}

/* A Fiedler vector that has not converged: the call fails, and value, vector and report are those of the last iterate. */
static void not_converged(void) {
  static double numbers[400];
  const int64_t n = 400;
  double value = -7, norm = 0, residual = 0;
  int i;
  purlin_matrix *path = path_graph(context, n);
  purlin_tensor *vector = NULL;
  purlin_lanczos_options o = lanczos(1, PURLIN_LANCZOS_SMALLEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info = fresh();
  purlin_lanczos *made;
  o.basis = 7, o.restarts = 1;
  made = solver(context, &o);
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 1, &n, NULL, numbers, &vector));
  FAILS(PURLIN_ERROR_NO_CONVERGENCE, "0 of 1 eigenpairs", purlin_graph_fiedler(made, NULL, path, 0, &value, vector, &info));
  CHECK(info.count == 1 && info.converged == 0 && info.stop_reason == PURLIN_LANCZOS_RESTARTS && !info.verified);
  /* The Rayleigh quotient of a unit vector, which is no eigenvector of D - W. */
  for (i = 0; i < n; i++) {
    const double left = i > 0 ? numbers[i] - numbers[i - 1] : 0, right = i + 1 < n ? numbers[i] - numbers[i + 1] : 0;
    const double rest = left + right - value * numbers[i];
    norm += numbers[i] * numbers[i];
    residual += rest * rest;
  }
  CHECK(fabs(norm - 1) < 1e-10 && value > 0 && value < 4 && residual > 1e-20);
  OK(purlin_lanczos_destroy(made));
  OK(purlin_tensor_destroy(vector));
  OK(purlin_matrix_destroy(path));
}

/* Outputs that are read-only are refused before the work; a call that finds no pair leaves outputs and fills in the report. */
static void of_graphs(void) {
  static double numbers[K * N], apart[N];
  static int64_t labels[N];
  const int64_t n = N, count = K;
  double value = -7;
  int64_t found = 0;
  purlin_matrix *path = path_graph(context, N), *coordinates = NULL;
  purlin_tensor *list = NULL, *vector = NULL, *label = NULL, *points = NULL, *weights = NULL;
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  purlin_lanczos_info info = fresh(), last = fresh();
  purlin_lanczos *made = solver(context, &o), *one;
  o.count = 1;
  one = solver(context, &o);
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, N, K, N, numbers, &coordinates));
  OK(purlin_tensor_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, 1, &count, NULL, apart, &list));
  OK(purlin_tensor_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, 1, &n, NULL, apart, &vector));
  OK(purlin_tensor_borrow(context, PURLIN_I64, PURLIN_READ_ONLY, 1, &n, NULL, labels, &label));
  points = vector_of(context, PURLIN_F64, N, numbers);
  BAD_ARGUMENT("values: was borrowed read-only", purlin_graph_embed(made, NULL, path, 0, coordinates, list, NULL));
  BAD_ARGUMENT("labels: was borrowed read-only", purlin_graph_cluster(made, NULL, path, 0, 1, label, NULL, NULL));
  BAD_ARGUMENT("vector: was borrowed read-only", purlin_graph_fiedler(one, NULL, path, 0, NULL, vector, NULL));
  BAD_ARGUMENT("points: was borrowed read-only", purlin_graph_density(made, NULL, path, 40, 3, vector, points, &found));
  BAD_ARGUMENT("weights: was borrowed read-only", purlin_graph_density(made, NULL, path, 40, 3, points, vector, &found));
  BAD_ARGUMENT("sides: was borrowed read-only", purlin_graph_bisect(path, points, 0, label, NULL, NULL));
  BAD_ARGUMENT("labels: was borrowed read-only", purlin_graph_components(path, label, NULL));
  /* None of them began to solve. */
  BAD_ARGUMENT("lanczos: has no report yet", purlin_lanczos_last_info(made, &last));
  BAD_ARGUMENT("lanczos: has no report yet", purlin_lanczos_last_info(one, &last));
  /* Recurrences have reports too. */
  OK(purlin_lanczos_tridiagonalize(one, NULL, path, 7, NULL, numbers, numbers + 7, &found));
  OK(purlin_lanczos_last_info(one, &last));
  CHECK(found == 7 && last.products == 7 && last.basis == 7 && last.count == 0 && last.method == PURLIN_LANCZOS_METHOD_PLAIN);
  CHECK(last.stop_reason == PURLIN_LANCZOS_RESTARTS && last.norm > 0 && last.host_bytes + last.device_bytes >= 3 * 8 * N && last.seconds > 0);
  OK(purlin_tensor_destroy(points));
  points = vector_of(context, PURLIN_F64, 12, numbers);
  weights = vector_of(context, PURLIN_F64, 12, numbers + 12);
  OK(purlin_graph_density(made, NULL, path, 4, 3, points, weights, &found));
  OK(purlin_lanczos_last_info(made, &last));
  CHECK(found == 12 && last.products == 12 && last.basis == 4 && last.norm > 0 && last.norm <= 2);
  OK(purlin_tensor_destroy(weights));
  OK(purlin_lanczos_destroy(one));
  OK(purlin_lanczos_destroy(made));
  OK(purlin_tensor_destroy(label));
  OK(purlin_tensor_borrow(context, PURLIN_I64, 0, 1, &n, NULL, labels, &label));
  /* Two steps of the plain recurrence, none of whose values pass its test. */
  o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  o.method = PURLIN_LANCZOS_METHOD_PLAIN, o.basis = 2;
  made = solver(context, &o);
  labels[0] = -9;
  FAILS(PURLIN_ERROR_NO_CONVERGENCE, "0 of 3 eigenpairs", purlin_graph_cluster(made, NULL, path, 0, 1, label, &value, &info));
  CHECK(info.count == 0 && info.converged == 0 && info.products > 0 && labels[0] == -9 && value <= -7);
  OK(purlin_lanczos_last_info(made, &last));
  CHECK(!memcmp(&last, &info, sizeof info));
  OK(purlin_lanczos_destroy(made));
  OK(purlin_tensor_destroy(points));
  OK(purlin_tensor_destroy(label));
  OK(purlin_tensor_destroy(vector));
  OK(purlin_tensor_destroy(list));
  OK(purlin_matrix_destroy(coordinates));
  OK(purlin_matrix_destroy(path));
}

int main(void) {
  context = test_context(2);
  matrices();
  planned();
  not_converged();
  of_graphs();
  foreign();
  cancelled();
  destroyed();
  OK(purlin_context_destroy(context));
  return finish();
}
