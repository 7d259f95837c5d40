/* Robust PCA as an object: several matrices, cancellation from another thread, errors in between, and the last report. */
#include "check.h"

#include <math.h>
#include <pthread.h>

enum { M = 90, N = 60, ENTRIES = M * N };

static purlin_context *context;
static double tall[ENTRIES], wide[ENTRIES], low[ENTRIES], rare[ENTRIES], first_low[ENTRIES];

static double uniform(uint64_t *state) {
  return (double)(draw(state) >> 11) / 9007199254740992.0 * 2 - 1;
}

/* A matrix of rank 1, and one entry in twenty besides. */
static void fill(double *to, int64_t rows, int64_t cols, uint64_t seed) {
  double left[M], right[M];
  int64_t i, j;
  for (i = 0; i < rows; i++) left[i] = uniform(&seed);
  for (j = 0; j < cols; j++) right[j] = uniform(&seed);
  for (j = 0; j < cols; j++)
    for (i = 0; i < rows; i++) to[i + rows * j] = left[i] * right[j] + (uniform(&seed) > 0.9 ? 5 * uniform(&seed) : 0);
}

static purlin_matrix *borrow(int64_t rows, int64_t cols, double *data) {
  purlin_matrix *m = NULL;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, rows, cols, rows, data, &m));
  return m;
}

static purlin_rpca_info fresh(void) {
  purlin_rpca_info info;
  OK(purlin_rpca_info_init(&info, sizeof info));
  return info;
}

/* One object splits matrices of different sizes as an object of its own would, and reports on the last. */
static void several_matrices(void) {
  purlin_matrix *a = borrow(M, N, tall), *b = borrow(N, M, wide), *l = borrow(M, N, low), *s = borrow(M, N, rare);
  purlin_rpca_info info = fresh(), last = fresh(), once = fresh(), planned = fresh();
  purlin_rpca_options o;
  purlin_rpca *rpca = NULL;
  purlin_matrix *rows = NULL;
  OK(purlin_rpca_options_init(&o, sizeof o));
  o.threshold = 1e-6;
  OK(purlin_rpca_create(context, &o, &rpca));
  BAD_ARGUMENT("rpca: has no report", purlin_rpca_last_info(rpca, &last));
  OK(purlin_rpca_plan(rpca, a, NULL, &planned));
  BAD_ARGUMENT("rpca: has no report", purlin_rpca_last_info(rpca, &last));
  OK(purlin_rpca_compute(rpca, NULL, a, NULL, l, s, &info));
  OK(purlin_rpca_last_info(rpca, &last));
  CHECK(memcmp(&info, &last, sizeof info) == 0 && info.converged == 1 && info.rank == 1);
  CHECK(info.host_bytes == planned.host_bytes);
  memcpy(first_low, low, sizeof low);
  /* Another shape, without a report of its own. */
  OK(purlin_rpca_compute_csr(rpca, NULL, b, NULL, NULL, &rows, NULL));
  OK(purlin_matrix_destroy(rows));
  OK(purlin_rpca_last_info(rpca, &last));
  CHECK(last.converged == 1 && last.nonzeros > 0);
  /* The first again: the same bits, as from an object for this run alone. */
  memset(low, 0, sizeof low);
  OK(purlin_rpca_compute(rpca, NULL, a, NULL, l, NULL, NULL));
  CHECK(memcmp(first_low, low, sizeof low) == 0);
  memset(low, 0, sizeof low);
  OK(purlin_rpca_compute_once(context, NULL, a, NULL, &o, l, NULL, &once));
  CHECK(memcmp(first_low, low, sizeof low) == 0 && once.iterations == info.iterations);
  OK(purlin_rpca_compute_to_sinks(rpca, NULL, b, NULL, NULL, NULL, &info));
  OK(purlin_rpca_last_info(rpca, &last));
  CHECK(memcmp(&info, &last, sizeof info) == 0);
  OK(purlin_rpca_destroy(rpca));
  OK(purlin_matrix_destroy(s));
  OK(purlin_matrix_destroy(l));
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_destroy(a));
}

/* A run that fails leaves the report of the one before, and the object is ready for another. */
static void errors_in_between(void) {
  purlin_matrix *a = borrow(M, N, tall), *l = borrow(M, N, low), *small = NULL, *given = borrow(M, N, rare);
  purlin_rpca_info before = fresh(), last = fresh();
  purlin_rpca_options o;
  purlin_rpca *rpca = NULL;
  double four[4] = {1, 2, 3, 4};
  OK(purlin_rpca_create(context, NULL, &rpca));
  OK(purlin_rpca_compute(rpca, NULL, a, NULL, l, NULL, &before));
  memcpy(rare, tall, sizeof rare);
  rare[7] = INFINITY;
  BAD_ARGUMENT("m: ", purlin_rpca_compute(rpca, NULL, given, NULL, l, NULL, NULL));
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, 2, 2, 2, four, &small));
  BAD_ARGUMENT("low_rank: is 2 x 2", purlin_rpca_compute(rpca, NULL, a, NULL, small, NULL, NULL));
  OK(purlin_rpca_last_info(rpca, &last));
  CHECK(memcmp(&before, &last, sizeof last) == 0);
  BAD_ARGUMENT("info: is NULL", purlin_rpca_last_info(rpca, NULL));
  last.struct_size = 3;
  BAD_ARGUMENT("info: struct_size is 3", purlin_rpca_last_info(rpca, &last));
  last = fresh();
  OK(purlin_rpca_compute(rpca, NULL, a, NULL, l, NULL, &last));
  CHECK(last.iterations == before.iterations && last.residual == before.residual);
  OK(purlin_rpca_destroy(rpca));
  /* Iterations that were not enough are reported too. */
  OK(purlin_rpca_options_init(&o, sizeof o));
  o.max_iterations = 2;
  OK(purlin_rpca_create(context, &o, &rpca));
  FAILS(PURLIN_ERROR_NO_CONVERGENCE, "after 2", purlin_rpca_compute(rpca, NULL, a, NULL, l, NULL, NULL));
  OK(purlin_rpca_last_info(rpca, &last));
  CHECK(last.converged == 0 && last.iterations == 2);
  OK(purlin_rpca_destroy(rpca));
  OK(purlin_matrix_destroy(small));
  OK(purlin_matrix_destroy(given));
  OK(purlin_matrix_destroy(l));
  OK(purlin_matrix_destroy(a));
}

/* A run that has begun waits here until another thread has used the object. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int begun, cancelled;
static purlin_rpca *shared;
static purlin_matrix *shared_matrix;

static void set(int *flag) {
  CHECK(pthread_mutex_lock(&lock) == 0);
  *flag = 1;
  CHECK(pthread_cond_broadcast(&changed) == 0 && pthread_mutex_unlock(&lock) == 0);
}

static void wait_for(const int *flag) {
  CHECK(pthread_mutex_lock(&lock) == 0);
  while (!*flag) pthread_cond_wait(&changed, &lock);
  CHECK(pthread_mutex_unlock(&lock) == 0);
}

static int32_t wait_for_cancel(int64_t step, int64_t steps, double measure, void *user) {
  (void)step, (void)steps, (void)measure;
  if (!*(int *)user) return 0;
  set(&begun);
  wait_for(&cancelled);
  return 0;
}

static void *cancel(void *unused) {
  purlin_rpca_info last = fresh();
  wait_for(&begun);
  FAILS(PURLIN_ERROR_BUSY, "rpca: is in use",
        purlin_rpca_compute(shared, NULL, shared_matrix, NULL, NULL, NULL, NULL));
  FAILS(PURLIN_ERROR_BUSY, "rpca: is in use", purlin_rpca_plan(shared, shared_matrix, NULL, NULL));
  /* The report of the previous run is available meanwhile. */
  OK(purlin_rpca_last_info(shared, &last));
  CHECK(last.converged == 1);
  OK(purlin_rpca_cancel(shared));
  set(&cancelled);
  return unused;
}

static void from_another_thread(void) {
  purlin_rpca_info before = fresh(), last = fresh();
  purlin_rpca_options o;
  pthread_t other;
  int waits = 0;
  OK(purlin_rpca_options_init(&o, sizeof o));
  o.progress = wait_for_cancel;
  o.progress_user = &waits;
  shared_matrix = borrow(M, N, tall);
  OK(purlin_rpca_create(context, &o, &shared));
  /* A cancellation before the call cancels nothing. */
  OK(purlin_rpca_cancel(shared));
  OK(purlin_rpca_compute(shared, NULL, shared_matrix, NULL, NULL, NULL, &before));
  waits = 1;
  CHECK(pthread_create(&other, NULL, cancel, NULL) == 0);
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_rpca_compute(shared, NULL, shared_matrix, NULL, NULL, NULL, NULL));
  CHECK(pthread_join(other, NULL) == 0);
  waits = 0;
  OK(purlin_rpca_last_info(shared, &last));
  CHECK(memcmp(&before, &last, sizeof last) == 0);
  OK(purlin_rpca_compute(shared, NULL, shared_matrix, NULL, NULL, NULL, &last));
  CHECK(last.iterations == before.iterations && last.residual == before.residual);
  OK(purlin_rpca_destroy(shared));
  OK(purlin_matrix_destroy(shared_matrix));
}

static void refusals(void) {
  purlin_rpca_options o;
  purlin_rpca_info info = fresh();
  purlin_rpca *rpca = NULL;
  purlin_matrix *a = borrow(M, N, tall);
  OK(purlin_rpca_options_init(&o, sizeof o));
  BAD_ARGUMENT("rpca: is NULL", purlin_rpca_create(context, &o, NULL));
  BAD_HANDLE("context: is NULL", purlin_rpca_create(NULL, &o, &rpca));
  o.rho = 0.5;
  BAD_ARGUMENT("rho: is 0.5", purlin_rpca_create(context, &o, &rpca));
  CHECK(rpca == NULL);
  BAD_HANDLE("rpca: is NULL", purlin_rpca_compute(NULL, NULL, a, NULL, NULL, NULL, NULL));
  BAD_HANDLE("rpca: is NULL", purlin_rpca_compute_csr(NULL, NULL, a, NULL, NULL, NULL, NULL));
  BAD_HANDLE("rpca: is NULL", purlin_rpca_compute_to_sinks(NULL, NULL, a, NULL, NULL, NULL, NULL));
  BAD_HANDLE("rpca: is NULL", purlin_rpca_plan(NULL, a, NULL, NULL));
  BAD_HANDLE("rpca: is NULL", purlin_rpca_cancel(NULL));
  BAD_HANDLE("rpca: is NULL", purlin_rpca_last_info(NULL, &info));
  BAD_HANDLE("rpca: is a handle of another type", purlin_rpca_cancel((const purlin_rpca *)a));
  BAD_HANDLE("matrix: is a handle of another type", purlin_matrix_destroy((purlin_matrix *)context));
  OK(purlin_rpca_create(context, NULL, &rpca));
  BAD_HANDLE("matrix: is a handle of another type", purlin_matrix_destroy((purlin_matrix *)rpca));
  OK(purlin_rpca_destroy(NULL));
  OK(purlin_rpca_destroy(rpca));
  BAD_HANDLE("rpca: was destroyed", purlin_rpca_destroy(rpca));
  BAD_HANDLE("rpca: was destroyed", purlin_rpca_last_info(rpca, &info));
  OK(purlin_matrix_destroy(a));
}

int main(void) {
  context = test_context(2);
  fill(tall, M, N, 7);
  fill(wide, N, M, 11);
  several_matrices();
  errors_in_between();
  from_another_thread();
  refusals();
  OK(purlin_context_destroy(context));
  return finish();
}
