/* Events during a call: progress, cancellation, an output in use, destruction, out of memory. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>

#include "check.h"

enum { T = 20000, U = 15, K = 5 };

static purlin_context *context;
static double *entries;
static double values[T][K];

struct watch {
  int64_t calls, last, steps, until;
  int wrong;
  purlin_tensor *output;
  purlin_status seen;
  pthread_t thread;
};

static int32_t watch(int64_t step, int64_t steps, double measure, void *user) {
  struct watch *w = user;
  purlin_tensor_info info;
  w->calls++;
  w->wrong += step < w->last || step > steps || steps != T || isnan(measure);
  w->wrong += !pthread_equal(pthread_self(), w->thread);
  w->last = step;
  w->steps = steps;
  if (w->output && purlin_tensor_info_init(&info, sizeof info) == PURLIN_SUCCESS)
    w->seen = purlin_tensor_properties(w->output, &info);
  return step >= w->until;
}

static purlin_sshopm_options options(struct watch *w) {
  purlin_sshopm_options o;
  OK(purlin_sshopm_options_init(&o, sizeof o));
  o.progress = watch;
  o.progress_user = w;
  return o;
}

static struct watch watched(void) {
  struct watch w;
  memset(&w, 0, sizeof w);
  w.until = INT64_MAX;
  w.thread = pthread_self();
  return w;
}

/* Steps rise to the end, on the calling thread; the output is the call's alone meanwhile. */
static void progress(purlin_tensor *a, purlin_sshopm_results *r) {
  struct watch w = watched();
  purlin_sshopm_options o = options(&w);
  w.output = r->values;
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, r, NULL));
  CHECK(w.calls >= 1 && w.last == T && w.steps == T && w.wrong == 0);
  CHECK(w.seen == PURLIN_ERROR_BUSY);
  CHECK(!isnan(values[T - 1][0]));
}

/* A callback's nonzero cancels; the same objects work afterwards. */
static void cancelled_by_callback(purlin_tensor *a, purlin_sshopm_results *r) {
  struct watch w = watched();
  purlin_sshopm_options o = options(&w);
  purlin_context_info used;
  w.until = 0;
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_sshopm_solve_once(context, NULL, a, NULL, &o, r, NULL));
  CHECK(w.calls == 1 && w.wrong == 0);
  OK(purlin_context_info_init(&used, sizeof used));
  OK(purlin_context_properties(context, &used));
  CHECK(used.host_memory_used == 0);
  w = watched();
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, r, NULL));
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running;

static void *cancel_until_done(void *argument) {
  struct timespec pause = {0, 2000000};
  intptr_t wrong = 0;
  int go = 1;
  (void)argument;
  while (go) {
    nanosleep(&pause, NULL);
    wrong += purlin_context_cancel(context) != PURLIN_SUCCESS;
    pthread_mutex_lock(&lock);
    go = running;
    pthread_mutex_unlock(&lock);
  }
  return (void *)wrong;
}

/* Another thread cancels; a call that starts later is not affected. */
static void cancelled_by_thread(purlin_tensor *a, purlin_sshopm_results *r) {
  pthread_t thread;
  void *wrong = NULL;
  purlin_sshopm_options o;
  OK(purlin_sshopm_options_init(&o, sizeof o));
  /* Long work: every start uses up its iterations. */
  o.method = PURLIN_SSHOPM_POWER;
  o.shift_kind = PURLIN_SSHOPM_SHIFT_FIXED;
  o.shift = 1e6;
  o.tolerance = 1e-15;
  o.starts = 1000;
  o.max_iterations = 100000;
  running = 1;
  CHECK(pthread_create(&thread, NULL, cancel_until_done, NULL) == 0);
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_sshopm_solve_once(context, NULL, a, NULL, &o, r, NULL));
  pthread_mutex_lock(&lock);
  running = 0;
  pthread_mutex_unlock(&lock);
  CHECK(pthread_join(thread, &wrong) == 0);
  CHECK(wrong == NULL);
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, r, NULL));
}

/* The caller's function destroys the objects of the running call, which still succeeds. */
struct demolition {
  purlin_tensor *input, *output;
  purlin_context *context;
  int wrong;
};

static int32_t demolish(int64_t step, int64_t steps, double measure, void *user) {
  struct demolition *d = user;
  (void)step, (void)steps, (void)measure;
  if (!d->context) return 0;
  d->wrong += purlin_tensor_destroy(d->input) != PURLIN_SUCCESS;
  d->wrong += purlin_tensor_destroy(d->output) != PURLIN_SUCCESS;
  d->wrong += purlin_context_destroy(d->context) != PURLIN_SUCCESS;
  d->context = NULL;
  return 0;
}

static void destroyed_during_the_call(void) {
  struct demolition d = {NULL, NULL, NULL, 0};
  purlin_sshopm_options o;
  purlin_sshopm_results r;
  purlin_context *c = d.context = cpu_context(2);
  purlin_tensor_info info;
  int64_t dims[2] = {K, 100};
  OK(purlin_sshopm_options_init(&o, sizeof o));
  OK(purlin_sshopm_results_init(&r, sizeof r));
  OK(purlin_tensor_info_init(&info, sizeof info));
  OK(purlin_tensor_create_symmetric(c, PURLIN_F64, PURLIN_HOST, 0, 4, 3, 100, &d.input));
  OK(purlin_tensor_properties(d.input, &info));
  memcpy((void *)(uintptr_t)info.data, entries, 100 * U * sizeof(double));
  OK(purlin_tensor_create(c, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &d.output));
  r.values = d.output;
  o.progress = demolish;
  o.progress_user = &d;
  OK(purlin_sshopm_solve_once(c, NULL, d.input, NULL, &o, &r, NULL));
  CHECK(d.wrong == 0 && d.context == NULL);
}

int main(void) {
  uint64_t state = 3;
  int64_t k;
  purlin_tensor *a;
  purlin_sshopm_results r;
  entries = malloc((size_t)T * U * sizeof *entries);
  if (!entries) return 1;
  for (k = 0; k < (int64_t)T * U; k++) entries[k] = (double)(draw(&state) >> 11) / 9007199254740992.0 - 0.5;
  context = cpu_context(2);
  a = symmetric(context, PURLIN_F64, 4, 3, T, entries);
  OK(purlin_sshopm_results_init(&r, sizeof r));
  r.values = array2(context, PURLIN_F64, K, T, values);
  progress(a, &r);
  cancelled_by_callback(a, &r);
  cancelled_by_thread(a, &r);
  OK(purlin_tensor_destroy(r.values));
  OK(purlin_tensor_destroy(a));
  OK(purlin_context_destroy(context));
  destroyed_during_the_call();
  free(entries);
  return finish();
}
