/* A child of fork() may not use its parent's objects and gets an error at once; it can create its own on the CPU. On a GPU
   (PURLIN_TEST_BACKEND=cuda) neither its calls nor the destruction of inherited objects enter the driver, which does not work there. */
#define _POSIX_C_SOURCE 200809L
#include "families.h"

#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double from[6] = {1, 2, 3, 4, 5, 6}, to[6];

#define FORKED(call) FAILS(PURLIN_ERROR_FORKED, "fork", call)

enum { COLUMNS = 32, ROWS = 24, VIEWS = 60, PUSHED = 20 };

/* The parent's objects. On a GPU the memory of `owned` and `m` is the device's, and the objects of the families own kernels, handles
   of libraries, streams and a scan that is being pushed. */
static struct {
  purlin_stream *stream, *wrapped;
  purlin_tensor *a, *b, *owned, *panels;
  purlin_matrix *m, *graph, *low;
  purlin_lanczos *lanczos;
  purlin_rsvd *rsvd;
  purlin_fdk *fdk;
  purlin_tt *x;
  purlin_tt_contraction *contraction;
  purlin_spmv *plan;
  purlin_group *group;
} made;

/* Makes the objects, and has most families compute. */
static void make(purlin_context *context) {
  const purlin_context *member = context;
  const int32_t location = test_backend() == PURLIN_BACKEND_CUDA ? PURLIN_DEVICE : PURLIN_HOST;
  int64_t dims[2] = {2, 3}, panel[3] = {COLUMNS, ROWS, PUSHED}, modes[4] = {3, 3, 3, 3}, ranks[5] = {1, 3, 5, 3, 1};
  int64_t views[PUSHED], k;
  double inner[2];
  purlin_matrix *u = NULL;
  purlin_tensor *s = NULL, *values = NULL;
  purlin_lanczos_options o;
  for (k = 0; k < PUSHED; k++) views[k] = k;
  OK(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &made.a));
  made.b = array2(context, PURLIN_F64, 2, 3, to);
  OK(purlin_tensor_create(context, PURLIN_F64, location, 0, 2, dims, &made.owned));
  OK(purlin_matrix_create(context, PURLIN_F64, location, 0, 2, 3, &made.m));
  OK(purlin_stream_create(context, &made.stream));
  if (location == PURLIN_DEVICE) OK(purlin_stream_wrap(context, 0, &made.wrapped));
  OK(purlin_tensor_copy(context, made.stream, made.b, made.owned));
  OK(purlin_group_create(1, &member, NULL, &made.group));

  OK(purlin_lanczos_options_init(&o, sizeof o));
  o.count = 3;
  o.tolerance = 1e-3;
  OK(purlin_lanczos_create(context, &o, &made.lanczos));
  CHECK(family_graph_of(context, &made.graph) == PURLIN_SUCCESS);
  values = vector_of(context, PURLIN_F64, 3, family_output[0]);
  CHECK(family_is_usual(purlin_lanczos_solve(made.lanczos, NULL, made.graph, NULL, NULL, NULL, values, NULL, NULL, NULL)));
  OK(purlin_spmv_create(made.graph, NULL, &made.plan));

  CHECK(family_low_rank(context, &made.rsvd, &made.low) == PURLIN_SUCCESS);
  CHECK(family_matrix(context, 200, 5, family_output[0], &u) == PURLIN_SUCCESS);
  s = vector_of(context, PURLIN_F64, 5, family_output[1]);
  OK(purlin_rsvd_compute(made.rsvd, NULL, made.low, u, s, NULL, NULL));

  CHECK(family_fdk_of(context, COLUMNS, ROWS, VIEWS, &made.fdk) == PURLIN_SUCCESS);
  made.panels = dense(context, PURLIN_F32, 3, panel, family_projections);
  OK(purlin_fdk_begin(made.fdk, NULL));
  OK(purlin_fdk_push(made.fdk, PUSHED, views, made.panels));

  OK(purlin_tt_random(context, PURLIN_F64, location, 4, modes, ranks, 1, &made.x));
  OK(purlin_tt_contraction_create(context, NULL, &made.contraction));
  OK(purlin_tt_inner(made.contraction, NULL, made.x, made.x, inner, NULL));
  OK(purlin_tensor_destroy(values));
  OK(purlin_tensor_destroy(s));
  OK(purlin_matrix_destroy(u));
}

/* Destroys them, the solver last: until then it keeps the device alive for the other objects. */
static void destroy_made(void) {
  OK(purlin_group_destroy(made.group));
  OK(purlin_spmv_destroy(made.plan));
  OK(purlin_fdk_destroy(made.fdk));
  OK(purlin_tensor_destroy(made.panels));
  OK(purlin_tt_destroy(made.x));
  OK(purlin_tt_contraction_destroy(made.contraction));
  OK(purlin_tensor_destroy(made.owned));
  OK(purlin_rsvd_destroy(made.rsvd));
  OK(purlin_matrix_destroy(made.low));
  OK(purlin_tensor_destroy(made.b));
  OK(purlin_matrix_destroy(made.m));
  OK(purlin_stream_destroy(made.wrapped));
  OK(purlin_stream_destroy(made.stream));
  OK(purlin_matrix_destroy(made.graph));
  OK(purlin_lanczos_destroy(made.lanczos));
}

static void inherited(purlin_context *context) {
  int64_t dims[2] = {2, 3}, view = PUSHED;
  double inner[2];
  purlin_lanczos_info last;
  purlin_rsvd_info decomposed;
  int32_t rows[2] = {0, 0};
  const purlin_context *member = context;
  purlin_tensor *t = NULL, *values = made.b;
  purlin_matrix *n = NULL;
  purlin_stream *s = NULL;
  purlin_group *group = NULL;
  purlin_tt *y = NULL;
  purlin_context_info info;
  OK(purlin_context_info_init(&info, sizeof info));
  FORKED(purlin_context_properties(context, &info));
  FORKED(purlin_context_set_log(context, PURLIN_LOG_OFF, NULL, NULL));
  FORKED(purlin_context_cancel(context));
  FORKED(purlin_group_create(1, &member, NULL, &group));
  FORKED(purlin_stream_create(context, &s));
  FORKED(purlin_stream_wrap(context, 0, &s));
  FORKED(purlin_stream_synchronize(made.stream));
  FORKED(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &t));
  FORKED(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, dims, NULL, from, &t));
  FORKED(purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, 0, 2, 2, 2, &t));
  FORKED(purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 2, 2, 2, 0, 0, from, &t));
  FORKED(purlin_tensor_copy(context, NULL, made.a, made.b));
  FORKED(purlin_tensor_copy(context, NULL, made.owned, made.b));
  FORKED(purlin_tensor_copy(context, made.stream, made.b, made.owned));
  if (test_backend() == PURLIN_BACKEND_CUDA) {
    FORKED(purlin_stream_synchronize(made.wrapped));
    FORKED(purlin_tensor_create(context, PURLIN_F64, PURLIN_DEVICE, 0, 2, dims, &t));
    FORKED(purlin_tensor_borrow_device(context, PURLIN_F64, 0, 2, dims, NULL, 1 << 20, &t));
    FORKED(purlin_matrix_create(context, PURLIN_F64, PURLIN_DEVICE, 0, 2, 3, &n));
  }
  FORKED(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, 3, &n));
  FORKED(purlin_matrix_borrow(context, PURLIN_F64, 0, 2, 3, 2, from, &n));
  FORKED(purlin_matrix_copy_csr(context, PURLIN_F64, 0, 1, 1, 0, PURLIN_I32, rows, PURLIN_I32, NULL, NULL, &n));
  FORKED(purlin_matrix_copy(context, NULL, made.m, made.m));
  FORKED(purlin_lanczos_solve(made.lanczos, NULL, made.graph, NULL, NULL, NULL, values, NULL, NULL, NULL));
  FORKED(purlin_spmv_apply(made.plan, NULL, NULL, made.graph, values, NULL, values));
  FORKED(purlin_rsvd_compute(made.rsvd, NULL, made.low, NULL, values, NULL, NULL));
  FORKED(purlin_fdk_push(made.fdk, 1, &view, made.panels));
  FORKED(purlin_fdk_begin(made.fdk, NULL));
  FORKED(purlin_tt_inner(made.contraction, NULL, made.x, made.x, inner, NULL));
  FORKED(purlin_tt_inner_once(context, NULL, made.x, made.x, NULL, inner, NULL));
  FORKED(purlin_tt_round(context, NULL, made.x, NULL, &y, NULL, NULL));
  /* A thread that does not exist in the child may have held its lock. */
  OK(purlin_lanczos_info_init(&last, sizeof last));
  FORKED(purlin_lanczos_last_info(made.lanczos, &last));
  OK(purlin_rsvd_info_init(&decomposed, sizeof decomposed));
  FORKED(purlin_rsvd_last_info(made.rsvd, &decomposed));
  CHECK(!t && !n && !s && !group && !y);
}

/* A child has no GPU if its parent has used one, and AUTO takes the CPU. */
static void choosing(void) {
  purlin_context *context = NULL;
  purlin_context_options options;
  purlin_context_info info;
  OK(purlin_context_options_init(&options, sizeof options));
  OK(purlin_context_info_init(&info, sizeof info));
  options.threads = 1;
  if (test_backend() == PURLIN_BACKEND_CUDA) {
    int32_t devices = -1;
    purlin_device_info device;
    OK(purlin_device_info_init(&device, sizeof device));
    OK(purlin_device_count(&devices));
    CHECK(devices == 0);
    FAILS(PURLIN_ERROR_NO_DEVICE, "before fork()", purlin_device_properties(0, &device));
    options.backend = PURLIN_BACKEND_CUDA;
    FAILS(PURLIN_ERROR_NO_DEVICE, "before fork()", purlin_context_create(&options, &context));
    options.backend = PURLIN_BACKEND_AUTO;
  } else {
    options.backend = PURLIN_BACKEND_CPU;
  }
  OK(purlin_context_create(&options, &context));
  OK(purlin_context_properties(context, &info));
  CHECK(info.backend == PURLIN_BACKEND_CPU);
  OK(purlin_context_destroy(context));
}

static void *sleeping(void *argument) {
  const struct timespec pause = {0, 100000000};
  nanosleep(&pause, NULL);
  return argument;
}

/* The C library reuses the stacks, and with them the identifiers, of the parent's threads for the child's next threads. The
   destruction of the parent's context must not touch those. */
static int destroying(purlin_context *context) {
  enum { THREADS = 6 };
  pthread_t threads[THREADS];
  pthread_attr_t attributes;
  purlin_context *own;
  long k;
  alarm(60);
  checks_made = checks_failed = 0;
  own = cpu_context(3);
  CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
  for (k = 0; k < THREADS; k++) CHECK(pthread_create(&threads[k], &attributes, sleeping, (void *)k) == 0);
  OK(purlin_context_destroy(context));
  for (k = 0; k < THREADS; k++) {
    void *result = NULL;
    CHECK(pthread_join(threads[k], &result) == 0 && result == (void *)k);
  }
  OK(purlin_context_destroy(own));
  return finish();
}

/* The child ends by exit(), which runs exit handlers and destructors; they must not hang. */
static int child(purlin_context *context) {
  purlin_context *own;
  purlin_tensor *c, *d;
  alarm(60);
  checks_made = checks_failed = 0;
  inherited(context);
  choosing();
  own = cpu_context(2);
  c = vector_of(own, PURLIN_F64, 6, from);
  d = vector_of(own, PURLIN_F64, 6, to);
  OK(purlin_tensor_copy(own, NULL, c, d));
  CHECK(to[5] == 6);
  BAD_ARGUMENT("belongs to another context", purlin_tensor_copy(own, NULL, made.a, d));
  OK(purlin_tensor_destroy(c));
  OK(purlin_tensor_destroy(d));
  OK(purlin_context_destroy(own));
  OK(purlin_tensor_destroy(made.a));
  OK(purlin_context_destroy(context));
  destroy_made();
  return finish();
}

/* A child that uses no inherited object and ends by exit(). */
static int leaving(purlin_context *context) {
  purlin_context_info info;
  alarm(60);
  checks_made = checks_failed = 0;
  OK(purlin_context_info_init(&info, sizeof info));
  FORKED(purlin_context_properties(context, &info));
  return checks_failed == 0 ? 0 : 1;
}

static void ended_well(pid_t pid) {
  int status = -1;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
  if (WIFSIGNALED(status)) fprintf(stderr, "a child ended by signal %d\n", WTERMSIG(status));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The identity. Its first product forks, and both processes return from it. */
static pid_t forked = -1;

static int32_t forking(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy, uint64_t stream, void *user) {
  const double *in = x;
  double *out = y;
  int64_t i, k;
  (void)adjoint, (void)stream, (void)user;
  if (forked < 0) {
    fflush(stdout);
    forked = fork();
    if (forked == 0) alarm(60);
  }
  for (k = 0; k < count; k++)
    for (i = 0; i < 6; i++) out[k * ldy + i] = in[k * ldx + i];
  return 0;
}

/* A child made in a function of the host's, which returns from it. */
static void returning(void) {
  purlin_context *context = cpu_context(3);
  purlin_matrix *a = NULL;
  purlin_tensor *x = vector_of(context, PURLIN_F64, 6, from), *y = vector_of(context, PURLIN_F64, 6, to);
  purlin_spmv *plan = NULL;
  purlin_status status;
  OK(purlin_matrix_from_operator(context, PURLIN_F64, 6, 6, forking, NULL, PURLIN_HOST, &a));
  OK(purlin_spmv_create(a, NULL, &plan));
  to[5] = -1;
  status = purlin_spmv_apply(plan, NULL, NULL, a, x, NULL, y);
  if (forked == 0) _exit(status == PURLIN_ERROR_FORKED ? 0 : 1);
  CHECK(status == PURLIN_SUCCESS && to[5] == 6);
  ended_well(forked);
  OK(purlin_spmv_destroy(plan));
  OK(purlin_matrix_destroy(a));
  OK(purlin_tensor_destroy(x));
  OK(purlin_tensor_destroy(y));
  OK(purlin_context_destroy(context));
}

int main(void) {
  purlin_context *context = test_context(3);
  pid_t pid;
  int k;
  family_inputs();
  make(context);
  for (k = 0; k < 2; k++) {
    fflush(stdout);
    pid = fork();
    if (pid == 0) exit(k == 0 ? child(context) : leaving(context));
    ended_well(pid);
  }
  OK(purlin_tensor_destroy(made.a));
  destroy_made();
  fflush(stdout);
  pid = fork();
  if (pid == 0) _exit(destroying(context));
  ended_well(pid);
  returning();
  /* The parent is not affected, even by a child that was forked with work on the device. */
  make(context);
  OK(purlin_tensor_copy(context, made.stream, made.owned, made.b));
  OK(purlin_stream_synchronize(made.stream));
  OK(purlin_tensor_destroy(made.a));
  destroy_made();
  OK(purlin_context_destroy(context));
  return finish();
}
