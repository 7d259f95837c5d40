/* One context used by many threads at once, destruction during calls, conflicting use, messages of each thread. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>
#include <time.h>

enum { THREADS = 8 };

static purlin_context *shared_context;
static int64_t loops;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Objects of each thread's own on the shared context. Counts failures itself, because CHECK is for one thread. */
static void *busy_life(void *argument) {
  intptr_t wrong = 0, number = (intptr_t)argument;
  int64_t i, n = 100 + (int64_t)number;
  for (i = 0; i < loops; i++) {
    purlin_tensor *a = NULL, *b = NULL;
    purlin_matrix *m = NULL;
    purlin_stream *s = NULL;
    purlin_context_info info;
    purlin_tensor_info shape;
    wrong += purlin_tensor_create(shared_context, PURLIN_F32, PURLIN_HOST, 0, 1, &n, &a) != PURLIN_SUCCESS;
    wrong += purlin_tensor_create(shared_context, PURLIN_F32, PURLIN_HOST, 0, 1, &n, &b) != PURLIN_SUCCESS;
    wrong += purlin_matrix_create(shared_context, PURLIN_F64, PURLIN_HOST, 0, n, 3, &m) != PURLIN_SUCCESS;
    wrong += purlin_stream_create(shared_context, &s) != PURLIN_SUCCESS;
    wrong += purlin_tensor_copy(shared_context, s, a, b) != PURLIN_SUCCESS;
    wrong += purlin_stream_synchronize(s) != PURLIN_SUCCESS;
    wrong += purlin_context_info_init(&info, sizeof info) != PURLIN_SUCCESS;
    wrong += purlin_context_properties(shared_context, &info) != PURLIN_SUCCESS;
    wrong += purlin_tensor_info_init(&shape, sizeof shape) != PURLIN_SUCCESS;
    wrong += purlin_tensor_properties(b, &shape) != PURLIN_SUCCESS || shape.elements != n;
    wrong += purlin_tensor_destroy(a) != PURLIN_SUCCESS;
    wrong += purlin_tensor_destroy(a) != PURLIN_ERROR_INVALID_HANDLE;
    wrong += purlin_tensor_destroy(b) != PURLIN_SUCCESS;
    wrong += purlin_matrix_destroy(m) != PURLIN_SUCCESS;
    wrong += purlin_stream_destroy(s) != PURLIN_SUCCESS;
  }
  return (void *)wrong;
}

static void shared_use(void) {
  pthread_t threads[THREADS];
  intptr_t k;
  shared_context = test_context(2);
  loops = rounds(3000, 20);
  for (k = 0; k < THREADS; k++) CHECK(pthread_create(&threads[k], NULL, busy_life, (void *)k) == 0);
  for (k = 0; k < THREADS; k++) {
    void *wrong = NULL;
    CHECK(pthread_join(threads[k], &wrong) == 0);
    CHECK(wrong == NULL);
  }
  CHECK(purlin_live_handles() == 1);
  OK(purlin_context_destroy(shared_context));
}

/* Two tensors that a thread copies for ever; `ended` counts its calls. */
struct copier {
  purlin_tensor *from, *to;
  pthread_mutex_t lock;
  int stop, calls, wrong;
};

static int asked_to_stop(struct copier *c) {
  int stop;
  pthread_mutex_lock(&c->lock);
  stop = c->stop;
  c->calls++;
  pthread_mutex_unlock(&c->lock);
  return stop;
}

static void *copy_until_stopped(void *argument) {
  struct copier *c = argument;
  while (!asked_to_stop(c)) {
    purlin_status found = purlin_tensor_copy(shared_context, NULL, c->from, c->to);
    /* The main thread queries the tensors while they are in use, and destroys them. */
    if (found == PURLIN_ERROR_INVALID_HANDLE) break;
    if (found != PURLIN_SUCCESS && found != PURLIN_ERROR_BUSY) c->wrong++;
  }
  return NULL;
}

static void start_copier(struct copier *c, pthread_t *thread) {
  /* A copy takes long enough to be met: tens of milliseconds, and more under valgrind. */
  int64_t dims[2] = {rounds(4000000, 400000), 3}, strides[2] = {3, 1};
  static float *memory;
  if (!memory) memory = calloc(12000000, sizeof *memory);
  if (!memory) exit(1);
  c->stop = c->calls = c->wrong = 0;
  pthread_mutex_init(&c->lock, NULL);
  OK(purlin_tensor_borrow(shared_context, PURLIN_F32, 0, 2, dims, strides, memory, &c->from));
  OK(purlin_tensor_create(shared_context, PURLIN_F32, PURLIN_HOST, 0, 2, dims, &c->to));
  CHECK(pthread_create(thread, NULL, copy_until_stopped, c) == 0);
}

static int calls_of(struct copier *c) {
  int calls;
  pthread_mutex_lock(&c->lock);
  calls = c->calls;
  pthread_mutex_unlock(&c->lock);
  return calls;
}

/* An output is one call's alone: others get PURLIN_ERROR_BUSY; an input may be read meanwhile. */
static void conflicting_use(void) {
  struct copier c;
  pthread_t thread;
  purlin_tensor_info info;
  double end;
  int busy = 0, other = 0;
  shared_context = test_context(1);
  OK(purlin_tensor_info_init(&info, sizeof info));
  start_copier(&c, &thread);
  end = seconds() + 20;
  while (busy == 0 && seconds() < end) {
    purlin_status found = purlin_tensor_properties(c.to, &info);
    busy += found == PURLIN_ERROR_BUSY;
    other += found != PURLIN_ERROR_BUSY && found != PURLIN_SUCCESS;
    OK(purlin_tensor_properties(c.from, &info));
  }
  CHECK(busy > 0 && other == 0);
  pthread_mutex_lock(&c.lock);
  c.stop = 1;
  pthread_mutex_unlock(&c.lock);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(c.wrong == 0);
  OK(purlin_tensor_properties(c.to, &info));
  OK(purlin_tensor_destroy(c.from));
  OK(purlin_tensor_destroy(c.to));
  OK(purlin_context_destroy(shared_context));
}

/* Objects are destroyed during a call that uses them: the call succeeds, then their memory is freed. */
static void destruction_during_calls(void) {
  int64_t round, n = rounds(10, 2);
  shared_context = test_context(1);
  for (round = 0; round < n; round++) {
    struct copier c;
    pthread_t thread;
    purlin_context_info used;
    start_copier(&c, &thread);
    while (calls_of(&c) < 2) {
    }
    OK(purlin_tensor_destroy(round % 2 ? c.from : c.to));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(c.wrong == 0);
    OK(purlin_tensor_destroy(round % 2 ? c.to : c.from));
    OK(purlin_context_info_init(&used, sizeof used));
    OK(purlin_context_properties(shared_context, &used));
    CHECK(used.host_memory_used == 0);
  }
  OK(purlin_context_destroy(shared_context));
}

/* Messages belong to the thread whose call failed. */
static void *fails_otherwise(void *argument) {
  intptr_t right;
  right = purlin_last_error_message()[0] == '\0';
  right &= purlin_tensor_destroy((purlin_tensor *)(uintptr_t)7) == PURLIN_ERROR_INVALID_HANDLE;
  right &= strstr(purlin_last_error_message(), "tensor: ") != NULL;
  right &= purlin_last_error_message() != (const char *)argument;
  return (void *)right;
}

static void messages(void) {
  pthread_t thread;
  void *right = NULL;
  const char *mine;
  BAD_ARGUMENT("count: is NULL", purlin_device_count(NULL));
  mine = purlin_last_error_message();
  CHECK(pthread_create(&thread, NULL, fails_otherwise, (void *)(uintptr_t)mine) == 0);
  CHECK(pthread_join(thread, &right) == 0);
  CHECK(right != NULL);
  CHECK(purlin_last_error_message() == mine && strstr(mine, "count: is NULL") != NULL);
}

int main(void) {
  shared_use();
  conflicting_use();
  destruction_during_calls();
  messages();
  return finish();
}
