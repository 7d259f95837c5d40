/* The solver as an object: one for many batches, its plan and its report, cancellation, and refusals. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>

#include "check.h"
#include "published.h"

enum { T = 20000, U = 15, K = 5 };

static purlin_context *context;
static double *entries;
static double values[T][K], once[T][K];

static purlin_sshopm_options defaults(void) {
  purlin_sshopm_options o;
  OK(purlin_sshopm_options_init(&o, sizeof o));
  return o;
}

static purlin_sshopm_info fresh(void) {
  purlin_sshopm_info info;
  OK(purlin_sshopm_info_init(&info, sizeof info));
  return info;
}

static purlin_sshopm *solver(const purlin_sshopm_options *o) {
  purlin_sshopm *made = NULL;
  OK(purlin_sshopm_create(context, o, &made));
  return made;
}

static purlin_sshopm_results into(double (*place)[K], int64_t count) {
  purlin_sshopm_results r;
  OK(purlin_sshopm_results_init(&r, sizeof r));
  r.values = array2(context, PURLIN_F64, K, count, place);
  return r;
}

/* Batches of several shapes by one object: the numbers of the calls without one, bit by bit, and the report of each. */
static void many_batches(void) {
  static const struct { int order, n, count; } batches[] = {{4, 3, 200}, {3, 3, 50}, {6, 3, 7}, {4, 3, 1}, {2, 4, 9}, {4, 3, 0}};
  purlin_sshopm_options o = defaults();
  purlin_sshopm *s;
  size_t k;
  o.goal = PURLIN_SSHOPM_BOTH;
  s = solver(&o);
  for (k = 0; k < COUNT(batches); k++) {
    const int64_t count = batches[k].count;
    purlin_tensor *a = symmetric(context, PURLIN_F64, batches[k].order, batches[k].n, count, entries);
    purlin_sshopm_info info = fresh(), last = fresh(), alone = fresh();
    purlin_sshopm_results r = into(values, count);
    OK(purlin_sshopm_solve(s, NULL, a, NULL, &r, &info));
    OK(purlin_sshopm_last_info(s, &last));
    CHECK(memcmp(&info, &last, sizeof info) == 0 && info.tensors == count);
    OK(purlin_tensor_destroy(r.values));
    r = into(once, count);
    OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, &alone));
    OK(purlin_tensor_destroy(r.values));
    CHECK(memcmp(values, once, (size_t)count * sizeof values[0]) == 0);
    CHECK(alone.iterations == info.iterations && alone.host_bytes == info.host_bytes);
    OK(purlin_tensor_destroy(a));
  }
  OK(purlin_sshopm_destroy(s));
}

/* The plan predicts the figures that a solve for the count and the status reports. */
static void planned(void) {
  static int32_t count[T], status[T];
  purlin_sshopm_options o = defaults();
  purlin_sshopm_info plan = fresh(), done = fresh();
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, T, entries);
  purlin_sshopm_results r;
  purlin_sshopm *s;
  o.tolerance = 1e-30;
  o.starts = 200;
  s = solver(&o);
  OK(purlin_sshopm_results_init(&r, sizeof r));
  r.count = vector_of(context, PURLIN_I32, T, count);
  r.status = vector_of(context, PURLIN_I32, T, status);
  OK(purlin_sshopm_plan(s, a, &plan));
  CHECK(plan.tensors == T && plan.starts == 200 && plan.tolerance_raised == 1);
  /* On a GPU chunks follow from the memory that is free. */
  CHECK(is_on_cpu() ? plan.chunks > 1 && plan.host_bytes > 0 : plan.chunks == 0);
  CHECK(plan.iterations == 0 && plan.seconds == 0 && plan.reason[0]);
  CHECK(!is_on_cpu() || strcmp(plan.reason, "on the CPU of the context") == 0);
  /* A plan is no run. */
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "sshopm: has no report yet", purlin_sshopm_last_info(s, &done));
  OK(purlin_sshopm_solve(s, NULL, a, NULL, &r, &done));
  CHECK(is_on_cpu() ? done.chunks == plan.chunks && done.host_bytes == plan.host_bytes : done.chunks > 0);
  CHECK(done.tolerance == plan.tolerance);
  CHECK(done.starts == plan.starts && strcmp(done.reason, plan.reason) == 0);
  OK(purlin_tensor_destroy(r.count));
  OK(purlin_tensor_destroy(r.status));
  OK(purlin_tensor_destroy(a));
  OK(purlin_sshopm_destroy(s));
}

/* All pairs by an object. An object of either kind refuses the other's call and names the option. */
static void all_pairs(void) {
  struct published p = published(4);
  purlin_sshopm_options o = defaults();
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  double found[1][16];
  int32_t sum = 77, expected = 77;
  purlin_tensor *morse = vector_of(context, PURLIN_I32, 1, &sum), *due = vector_of(context, PURLIN_I32, 1, &expected);
  purlin_sshopm_info info = fresh(), last = fresh();
  purlin_sshopm_results r;
  purlin_sshopm *s;
  int k;
  o.starts = 500;
  o.max_starts = 4000;
  s = solver(&o);
  OK(purlin_sshopm_results_init(&r, sizeof r));
  r.values = array2(context, PURLIN_F64, 16, 1, found);
  OK(purlin_sshopm_solve_all(s, NULL, a, &r, morse, due, &info));
  for (k = 0; k < p.pairs; k++) CHECK(fabs(found[0][k] - p.value[k]) < 1e-12);
  CHECK(sum == 1 && expected == 1 && info.starts == 500);
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "max_starts: is 4000, but", purlin_sshopm_solve(s, NULL, a, NULL, &r, NULL));
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "max_starts: is 4000, but", purlin_sshopm_plan(s, a, &last));
  OK(purlin_sshopm_last_info(s, &last));
  CHECK(memcmp(&info, &last, sizeof info) == 0);
  OK(purlin_sshopm_destroy(s));
  o = defaults();
  o.method = PURLIN_SSHOPM_POWER;
  s = solver(&o);
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "method: is 1, but", purlin_sshopm_solve_all(s, NULL, a, &r, NULL, NULL, NULL));
  OK(purlin_sshopm_solve(s, NULL, a, NULL, &r, NULL));
  OK(purlin_sshopm_destroy(s));
  OK(purlin_tensor_destroy(r.values));
  OK(purlin_tensor_destroy(morse));
  OK(purlin_tensor_destroy(due));
  OK(purlin_tensor_destroy(a));
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running;

static void *cancel_until_done(void *argument) {
  struct timespec pause = {0, 2000000};
  intptr_t wrong = 0;
  int go = 1;
  while (go) {
    nanosleep(&pause, NULL);
    wrong += purlin_sshopm_cancel(argument) != PURLIN_SUCCESS;
    pthread_mutex_lock(&lock);
    go = running;
    pthread_mutex_unlock(&lock);
  }
  return (void *)wrong;
}

static purlin_sshopm *other;

/* Works until it is cancelled. The other object is cancelled all the time, which must not affect this one. */
static int32_t watch(int64_t step, int64_t steps, double measure, void *user) {
  (void)step, (void)steps, (void)measure;
  *(int *)user += purlin_sshopm_cancel(other) != PURLIN_SUCCESS;
  return 0;
}

/* Another thread cancels. The object solves afterwards, and its last report is still that of the call that succeeded. */
static void cancelled(void) {
  pthread_t thread;
  void *wrong = NULL;
  int misses = 0;
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, T, entries), *few = symmetric(context, PURLIN_F64, 4, 3, 3, entries);
  purlin_sshopm_results r = into(values, T), less = into(values, 3);
  purlin_sshopm_options o = defaults();
  purlin_sshopm_info info = fresh();
  purlin_sshopm *s;
  o.method = PURLIN_SSHOPM_POWER;
  o.shift_kind = PURLIN_SSHOPM_SHIFT_FIXED;
  o.shift = 1e6;
  o.tolerance = 1e-15;
  o.starts = 1000;
  o.max_iterations = 20000;
  o.progress = watch;
  o.progress_user = &misses;
  other = solver(NULL);
  s = solver(&o);
  running = 1;
  CHECK(pthread_create(&thread, NULL, cancel_until_done, s) == 0);
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_sshopm_solve(s, NULL, a, NULL, &r, NULL));
  pthread_mutex_lock(&lock);
  running = 0;
  pthread_mutex_unlock(&lock);
  CHECK(pthread_join(thread, &wrong) == 0 && wrong == NULL);
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "sshopm: has no report yet", purlin_sshopm_last_info(s, &info));
  OK(purlin_sshopm_destroy(s));
  /* A cancellation before a call has no effect on it. */
  o.max_iterations = 50;
  s = solver(&o);
  OK(purlin_sshopm_cancel(s));
  OK(purlin_sshopm_solve(s, NULL, few, NULL, &less, NULL));
  OK(purlin_sshopm_last_info(s, &info));
  CHECK(info.tensors == 3 && misses == 0);
  OK(purlin_sshopm_destroy(s));
  OK(purlin_sshopm_destroy(other));
  OK(purlin_tensor_destroy(r.values));
  OK(purlin_tensor_destroy(less.values));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(few));
}

/* A call that fails leaves the object and its last report as they were. */
static void after_an_error(void) {
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 10, entries), *dense = array2(context, PURLIN_F64, 15, 10, entries);
  purlin_sshopm_results r = into(values, 10), wrong = into(values, 9);
  purlin_sshopm_info info = fresh();
  purlin_sshopm *s = solver(NULL);
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "sshopm: has no report yet", purlin_sshopm_last_info(s, &info));
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "tensors: is a dense", purlin_sshopm_solve(s, NULL, dense, NULL, &r, NULL));
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "values", purlin_sshopm_solve(s, NULL, a, NULL, &wrong, NULL));
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "sshopm: has no report yet", purlin_sshopm_last_info(s, &info));
  OK(purlin_sshopm_solve(s, NULL, a, NULL, &r, NULL));
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "values", purlin_sshopm_solve(s, NULL, a, NULL, &wrong, NULL));
  OK(purlin_sshopm_last_info(s, &info));
  CHECK(info.tensors == 10);
  OK(purlin_sshopm_destroy(s));
  OK(purlin_tensor_destroy(r.values));
  OK(purlin_tensor_destroy(wrong.values));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(dense));
}

struct part {
  purlin_sshopm *solver;
  purlin_tensor *tensors;
  purlin_sshopm_results results;
  purlin_status status;
};

static void *solve_part(void *argument) {
  struct part *p = argument;
  p->status = purlin_sshopm_solve(p->solver, NULL, p->tensors, NULL, &p->results, NULL);
  return NULL;
}

/* Two threads solve by one object at a time. */
static void two_threads(void) {
  enum { HALF = 500 };
  pthread_t threads[2];
  struct part parts[2];
  purlin_sshopm *s = solver(NULL);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, HALF, entries);
  purlin_sshopm_results r = into(once, HALF);
  int k;
  OK(purlin_sshopm_solve(s, NULL, a, NULL, &r, NULL));
  for (k = 0; k < 2; k++) {
    parts[k].solver = s;
    parts[k].tensors = a;
    parts[k].results = into(values + k * HALF, HALF);
    CHECK(pthread_create(&threads[k], NULL, solve_part, &parts[k]) == 0);
  }
  for (k = 0; k < 2; k++) {
    CHECK(pthread_join(threads[k], NULL) == 0 && parts[k].status == PURLIN_SUCCESS);
    CHECK(memcmp(values + k * HALF, once, HALF * sizeof once[0]) == 0);
    OK(purlin_tensor_destroy(parts[k].results.values));
  }
  OK(purlin_tensor_destroy(r.values));
  OK(purlin_tensor_destroy(a));
  OK(purlin_sshopm_destroy(s));
}

static void arguments(void) {
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, entries);
  purlin_sshopm_results r = into(values, 1);
  purlin_sshopm_options o;
  purlin_sshopm_info info = fresh();
  purlin_sshopm *s = NULL;
#define REFUSED(text, field, bad)                                    \
  do {                                                               \
    o = defaults();                                                  \
    o.field = (bad);                                                 \
    BAD_ARGUMENT(text, purlin_sshopm_create(context, &o, &s));       \
    CHECK(s == NULL);                                                \
  } while (0)
  REFUSED("goal: is 3", goal, 3);
  REFUSED("remove_isotropic: is 2", remove_isotropic, 2);
  REFUSED("starts: is -1", starts, -1);
  REFUSED("max_starts: is -1", max_starts, -1);
  REFUSED("max_iterations: is -1", max_iterations, -1);
  REFUSED("warmup: is -2", warmup, -2);
  REFUSED("shift: is 2, but shift_kind", shift, 2);
  REFUSED("tolerance: is NaN", tolerance, (double)NAN);
  REFUSED("merge_angle: is -1", merge_angle, -1);
  REFUSED("options: struct_size", struct_size, 16);
#undef REFUSED
  BAD_ARGUMENT("sshopm: is NULL", purlin_sshopm_create(context, NULL, NULL));
  BAD_HANDLE("context: is NULL", purlin_sshopm_create(NULL, NULL, &s));
  BAD_HANDLE("sshopm: is NULL", purlin_sshopm_solve(NULL, NULL, a, NULL, &r, NULL));
  BAD_HANDLE("sshopm: is NULL", purlin_sshopm_solve_all(NULL, NULL, a, &r, NULL, NULL, NULL));
  BAD_HANDLE("sshopm: is NULL", purlin_sshopm_plan(NULL, a, &info));
  BAD_HANDLE("sshopm: is NULL", purlin_sshopm_last_info(NULL, &info));
  BAD_HANDLE("sshopm: is NULL", purlin_sshopm_cancel(NULL));
  BAD_HANDLE("sshopm: is a handle of another type", purlin_sshopm_cancel((const purlin_sshopm *)a));
  OK(purlin_sshopm_destroy(NULL));
  s = solver(NULL);
  BAD_HANDLE("tensors: is a handle of another type", purlin_sshopm_plan(s, (const purlin_tensor *)s, &info));
  BAD_ARGUMENT("info: is NULL", purlin_sshopm_plan(s, a, NULL));
  BAD_ARGUMENT("info: is NULL", purlin_sshopm_last_info(s, NULL));
  info.struct_size = 8;
  BAD_ARGUMENT("info: struct_size", purlin_sshopm_plan(s, a, &info));
  OK(purlin_sshopm_destroy(s));
  BAD_HANDLE("sshopm: was destroyed", purlin_sshopm_solve(s, NULL, a, NULL, &r, NULL));
  BAD_HANDLE("sshopm: was destroyed", purlin_sshopm_destroy(s));
  OK(purlin_tensor_destroy(r.values));
  OK(purlin_tensor_destroy(a));
}

int main(void) {
  const int64_t before = purlin_live_handles();
  uint64_t state = 3;
  int64_t k;
  entries = malloc((size_t)T * U * sizeof *entries);
  if (!entries) return 1;
  for (k = 0; k < (int64_t)T * U; k++) entries[k] = (double)(draw(&state) >> 11) / 9007199254740992.0 - 0.5;
  context = test_context(2);
  many_batches();
  planned();
  all_pairs();
  cancelled();
  after_an_error();
  two_threads();
  arguments();
  OK(purlin_context_destroy(context));
  CHECK(purlin_live_handles() == before);
  free(entries);
  return finish();
}
