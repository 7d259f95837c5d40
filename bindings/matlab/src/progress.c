/* A MATLAB function as progress callback. purlin.internal.progress wraps the user's function so that it returns
 * its error instead of raising it: an error must not jump through the library. */
#include "gateway.h"

typedef struct report_call { watch *watch; int64_t step, steps; double measure; int32_t cancel; } report_call;

static void call_watch(void *of) {
  report_call *r = of;
  watch *w = r->watch;
  mxArray *in[4], *out[2] = {NULL, NULL}, *trap;
  if (w->error || is_interrupted()) return;
  if (!w->function) {
    r->cancel = 0;
    return;
  }
  in[0] = w->function;
  in[1] = mxCreateDoubleScalar((double)r->step);
  in[2] = mxCreateDoubleScalar((double)r->steps);
  in[3] = mxCreateDoubleScalar(r->measure);
  trap = call_matlab(2, out, 4, in);
  for (int i = 1; i < 4; i++) mxDestroyArray(in[i]);
  if (trap) w->error = trap;
  else if (!mxIsEmpty(out[1])) w->error = out[1];
  else r->cancel = mxGetScalar(out[0]) != 0;
}

static int32_t report(int64_t step, int64_t steps, double measure, void *user) {
  report_call r = {user, step, steps, measure, 1};
  on_matlab_thread(call_watch, &r);
  return r.cancel;
}

#ifdef PURLIN_OCTAVE
static void look_for_interrupts(void *of) { *(int32_t *)of = is_interrupted(); }

/* Without a function of the user, Ctrl-C ends a call. It has no watch, so an object may keep it. */
static int32_t only_interrupts(int64_t step, int64_t steps, double measure, void *user) {
  int32_t cancel = 1;
  (void)step;
  (void)steps;
  (void)measure;
  (void)user;
  on_matlab_thread(look_for_interrupts, &cancel);
  return cancel;
}
#endif

static watch *running;

int32_t report_to_running(int64_t step, int64_t steps, double measure, void *user) {
  (void)user;
  return running ? report(step, steps, measure, running) : 0;
}

static void forget_running(void) { running = NULL; }

void set_running(watch *w) {
  running = w;
  /* The watch is in the memory of the command, which an error leaves. */
  at_release(forget_running);
}

void watch_from(const mxArray *options, watch *w, purlin_progress_fn *progress, void **user) {
  const mxArray *function = option(options, "progress");
  w->function = NULL;
  w->error = NULL;
  w->message = NULL;
#ifdef PURLIN_OCTAVE
  *progress = only_interrupts;
#endif
  if (!function) return;
  if (!mxIsClass(function, "function_handle")) fail("invalidArgument", "progress: is not a function handle");
  w->function = (mxArray *)function; /* only called, never written */
  *progress = report;
  *user = w;
}

void check_watched(const watch *w, purlin_status status) {
  raise_exception();
  if (w->error) {
    mxArray *error = w->error;
    release_temporaries();
    (void)mexCallMATLAB(0, NULL, 1, &error, "rethrow");
  }
  if (status != PURLIN_SUCCESS && w->message) fail_with(status, w->message);
  check(status);
}
