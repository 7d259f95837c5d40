/* MATLAB functions that the library calls: readers, writers and products. MATLAB runs on one thread and the library
 * calls from its own, so a command that takes such functions makes its library call on a second thread, while MATLAB's
 * waits for requests and serves them. Wrappers in purlin.internal return errors instead of raising them: an
 * error must not jump through the library. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "gateway.h"

/* A function of the running command, in memory that MATLAB frees after it. */
typedef struct function { mxArray *handle; int32_t dtype; int64_t rows, cols; int ndim; } function;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t matlab;
static int in_use, serving, ended, calling;
static void (*asked)(void *);
static void *asked_of;
static mxArray *raised;

static void forget_functions(void) {
  in_use = 0;
  raised = NULL;
}

/* On MATLAB's thread. After an exception the library hears that its functions fail, until it returns. */
static void serve(void (*what)(void *), void *of) {
  if (has_exception()) return;
  run_with_trap(what, of);
  calling = 0;
}

void on_matlab_thread(void (*what)(void *), void *of) {
  if (!in_use || pthread_equal(pthread_self(), matlab)) {
    serve(what, of);
    return;
  }
  if (!serving) return;
  (void)pthread_mutex_lock(&lock);
  while (asked && !ended) (void)pthread_cond_wait(&changed, &lock);
  asked = what;
  asked_of = of;
  (void)pthread_cond_broadcast(&changed);
  while (asked_of == of) (void)pthread_cond_wait(&changed, &lock);
  (void)pthread_mutex_unlock(&lock);
}

typedef struct errand { library_call *call; void **arguments; purlin_status status; char text[1024]; } errand;

static void *run_errand(void *given) {
  errand *e = given;
  e->status = e->call(e->arguments);
  /* The last error belongs to a thread. */
  (void)snprintf(e->text, sizeof e->text, "%s", purlin_last_error_message());
  (void)pthread_mutex_lock(&lock);
  ended = 1;
  (void)pthread_cond_broadcast(&changed);
  (void)pthread_mutex_unlock(&lock);
  return NULL;
}

purlin_status call_library(watch *w, library_call *call, void *arguments[]) {
  static errand e;
  pthread_t thread;
  sigset_t all, before;
  int refused;
  if (!in_use) return call(arguments);
  e.call = call;
  e.arguments = arguments;
  ended = 0;
  serving = 1;
  /* Handlers of MATLAB's signals run on MATLAB's threads. */
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_BLOCK, &all, &before);
  refused = pthread_create(&thread, NULL, run_errand, &e);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (refused) {
    serving = 0;
    fail("outOfMemory", "functions: there is no thread for the call");
  }
  (void)pthread_mutex_lock(&lock);
  while (!ended) {
    if (asked) {
      (void)pthread_mutex_unlock(&lock);
      serve(asked, asked_of);
      (void)pthread_mutex_lock(&lock);
      asked = NULL;
      asked_of = NULL;
      (void)pthread_cond_broadcast(&changed);
    } else {
      (void)pthread_cond_wait(&changed, &lock);
    }
  }
  (void)pthread_mutex_unlock(&lock);
  (void)pthread_join(thread, NULL);
  serving = 0;
  w->message = e.text;
  if (!w->error) w->error = raised;
  return e.status;
}

mxArray *call_matlab(int nout, mxArray *out[], int nin, mxArray *in[]) {
  mxArray *trap;
  calling = 1;
  trap = mexCallMATLABWithTrap(nout, out, nin, in, "feval");
  calling = 0;
  return trap;
}

int is_calling(void) { return calling; }

/* Calls a wrapper, which returns its result and the error that was raised. Takes over the arguments; NULL after an error. */
static mxArray *call_wrapper(const function *f, int count, mxArray *arguments[]) {
  mxArray *in[4], *out[2] = {NULL, NULL}, *trap;
  in[0] = f->handle;
  for (int i = 0; i < count; i++) in[i + 1] = arguments[i];
  trap = call_matlab(2, out, count + 1, in);
  for (int i = 0; i < count; i++) mxDestroyArray(arguments[i]);
  if (!trap && !mxIsEmpty(out[1])) trap = out[1];
  if (!trap) return out[0];
  if (!raised) raised = trap;
  return NULL;
}

static mxArray *new_array(const function *f, int ndim, const int64_t *dims) {
  mwSize extents[MAX_DIMS];
  for (int k = 0; k < ndim; k++) extents[k] = (mwSize)dims[k];
  if (ndim == 1) extents[1] = 1;
  return mxCreateNumericArray((mwSize)(ndim > 1 ? ndim : 2), extents, class_of(f->dtype),
                              is_complex(f->dtype) ? mxCOMPLEX : mxREAL);
}

static size_t bytes_of(int32_t dtype) {
  switch (dtype) {
  case PURLIN_I8:
  case PURLIN_U8: return 1;
  case PURLIN_I16:
  case PURLIN_U16: return 2;
  case PURLIN_F64:
  case PURLIN_CF32: return 8;
  case PURLIN_CF64: return 16;
  default: return 4;
  }
}

/* Copies out the result of a wrapper, which has checked class and number. */
static int take(const function *f, mxArray *made, void *to, size_t elements) {
  size_t bytes = elements * bytes_of(f->dtype);
  if (!made) return 1;
  if (bytes > 0) (void)memcpy(to, elements_of(made, f->dtype), bytes);
  mxDestroyArray(made);
  return 0;
}

static mxArray *new_row(int ndim, const int64_t *numbers, int64_t more) {
  mxArray *row = mxCreateDoubleMatrix(1, (mwSize)ndim, mxREAL);
  double *to = mxGetData(row);
  for (int k = 0; k < ndim; k++) to[k] = (double)(numbers[k] + more);
  return row;
}

typedef struct block { function *f; const int64_t *first, *count; void *elements; int32_t answer; } block;

static size_t elements_in(const block *b) {
  size_t elements = 1;
  for (int k = 0; k < b->f->ndim; k++) elements *= (size_t)b->count[k];
  return elements;
}

static void read_block(void *of) {
  block *b = of;
  mxArray *in[2];
  if (raised) return;
  in[0] = new_row(b->f->ndim, b->first, 1);
  in[1] = new_row(b->f->ndim, b->count, 0);
  b->answer = take(b->f, call_wrapper(b->f, 2, in), b->elements, elements_in(b));
}

static void write_block(void *of) {
  block *b = of;
  mxArray *in[3], *answer;
  void *space;
  size_t bytes = elements_in(b) * bytes_of(b->f->dtype);
  if (raised) return;
  in[0] = new_row(b->f->ndim, b->first, 1);
  in[1] = new_row(b->f->ndim, b->count, 0);
  in[2] = new_array(b->f, b->f->ndim, b->count);
  space = space_of(in[2], b->f->dtype);
  if (bytes > 0) (void)memcpy(space, b->elements, bytes);
  unweave(in[2], b->f->dtype, space);
  answer = call_wrapper(b->f, 3, in);
  b->answer = answer == NULL;
  if (answer) mxDestroyArray(answer);
}

static int32_t on_read(const int64_t *first, const int64_t *count, void *elements, void *user) {
  block b = {user, first, count, elements, 1};
  on_matlab_thread(read_block, &b);
  return b.answer;
}

static int32_t on_write(const int64_t *first, const int64_t *count, const void *elements, void *user) {
  block b = {user, first, count, (void *)elements, 1};
  on_matlab_thread(write_block, &b);
  return b.answer;
}

typedef struct product {
  function *f;
  int32_t adjoint, answer;
  int64_t count, ldx, ldy;
  const char *x;
  char *y;
} product;

static void make_product(void *of) {
  product *p = of;
  int64_t from = p->adjoint ? p->f->rows : p->f->cols, to = p->adjoint ? p->f->cols : p->f->rows;
  int64_t dims[2] = {from, p->count};
  size_t size = bytes_of(p->f->dtype);
  mxArray *in[2], *made;
  char *space;
  const char *found;
  if (raised) return;
  in[0] = new_array(p->f, 2, dims);
  in[1] = mxCreateLogicalScalar(p->adjoint != 0);
  space = space_of(in[0], p->f->dtype);
  for (int64_t c = 0; from > 0 && c < p->count; c++)
    (void)memcpy(space + (size_t)(c * from) * size, p->x + (size_t)(c * p->ldx) * size, (size_t)from * size);
  unweave(in[0], p->f->dtype, space);
  made = call_wrapper(p->f, 2, in);
  if (!made) return;
  found = elements_of(made, p->f->dtype);
  for (int64_t c = 0; to > 0 && c < p->count; c++)
    (void)memcpy(p->y + (size_t)(c * p->ldy) * size, found + (size_t)(c * to) * size, (size_t)to * size);
  mxDestroyArray(made);
  p->answer = 0;
}

static int32_t on_apply(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                        uint64_t cuda_stream, void *user) {
  product p = {user, adjoint, 1, count, ldx, ldy, x, y};
  (void)cuda_stream; /* MATLAB's arrays are on the host */
  on_matlab_thread(make_product, &p);
  return p.answer;
}

int32_t described_dtype(const mxArray *value, int32_t otherwise) {
  int32_t dtype = otherwise, with_imaginary = 0;
  read_choice(value, "dtype", classes, &dtype);
  read_flag(value, "complex", &with_imaginary);
  if (!with_imaginary) return dtype;
  if (dtype != PURLIN_F32 && dtype != PURLIN_F64) fail("invalidArgument", "complex: needs dtype single or double");
  return dtype == PURLIN_F64 ? PURLIN_CF64 : PURLIN_CF32;
}

int sizes_of(const char *name, const mxArray *value, int most, int64_t *dims) {
  const mxArray *size = option(value, "size");
  size_t ndim = size ? mxGetNumberOfElements(size) : 0;
  int64_t count, *given;
  if (ndim < 1 || ndim > (size_t)most) fail("invalidArgument", "%s: its size is not 1 to %d numbers", name, most);
  given = integers_argument("size", size, 0, 0, &count);
  for (size_t k = 0; k < ndim; k++) dims[k] = given[k];
  return (int)ndim;
}

static function *function_of(const char *name, const mxArray *value, const char *field, int32_t dtype, int ndim) {
  const mxArray *handle = option(value, field);
  function *f = mxCalloc(1, sizeof *f);
  if (!mxIsClass(handle, "function_handle")) fail("invalidArgument", "%s.%s: is not a function handle", name, field);
  f->handle = (mxArray *)handle; /* only called, never written */
  f->dtype = dtype;
  f->ndim = ndim;
  matlab = pthread_self();
  in_use = 1;
  at_release(forget_functions);
  return f;
}

purlin_source *function_source(const char *name, const mxArray *value) {
  int64_t dims[4];
  int ndim = sizes_of(name, value, 4, dims);
  int32_t dtype = described_dtype(value, PURLIN_F64);
  purlin_source *source = NULL;
  function *f = function_of(name, value, "read", dtype, ndim);
  check(purlin_source_from_callback(gateway_context(), dtype, ndim, dims, on_read, f, &source));
  return source;
}

purlin_sink *function_sink(const char *name, const mxArray *value, int ndim, const int64_t *dims) {
  int32_t dtype = described_dtype(value, PURLIN_F32);
  purlin_sink *sink = NULL;
  function *f = function_of(name, value, "write", dtype, ndim);
  check(purlin_sink_to_callback(gateway_context(), dtype, ndim, dims, on_write, f, &sink));
  return sink;
}

purlin_matrix *function_matrix(const char *name, const mxArray *value) {
  int64_t dims[2] = {0, 0};
  int32_t dtype = described_dtype(value, PURLIN_F64);
  purlin_matrix *matrix = NULL;
  function *f;
  if (sizes_of(name, value, 2, dims) != 2) fail("invalidArgument", "%s: its size is not two numbers", name);
  f = function_of(name, value, "apply", dtype, 2);
  f->rows = dims[0];
  f->cols = dims[1];
  check(purlin_matrix_from_operator(gateway_context(), dtype, dims[0], dims[1], on_apply, f, PURLIN_HOST, &matrix));
  return matrix;
}
