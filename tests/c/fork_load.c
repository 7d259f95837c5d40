/* Forks while other threads create, look up and destroy objects, and while a first context is made: a child must never wait for a
   thread that it does not have. With PURLIN_TEST_BACKEND=cuda the first context begins with the driver's initialization, and a child
   that was forked in the middle of it has no GPU. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 400, STARTS = 60 };

static purlin_context *context;
static volatile int stop;

static void *busy(void *unused) {
  static double data[6];
  (void)unused;
  while (!stop) {
    int64_t n = 6;
    purlin_tensor *t = NULL;
    purlin_tensor_info info;
    if (purlin_tensor_info_init(&info, sizeof info) != PURLIN_SUCCESS ||
        purlin_tensor_borrow(context, PURLIN_F64, 0, 1, &n, NULL, data, &t) != PURLIN_SUCCESS ||
        purlin_tensor_properties(t, &info) != PURLIN_SUCCESS || purlin_tensor_destroy(t) != PURLIN_SUCCESS)
      return context;
  }
  return NULL;
}

/* Uses inherited objects, which is refused, then its own. */
static int child(void) {
  int64_t n = 6;
  double data[6] = {1, 2, 3, 4, 5, 6};
  purlin_tensor *t = NULL;
  purlin_context *own = NULL;
  purlin_context_options o;
  alarm(30);
  if (purlin_tensor_borrow(context, PURLIN_F64, 0, 1, &n, NULL, data, &t) != PURLIN_ERROR_FORKED) return 1;
  if (purlin_context_options_init(&o, sizeof o) != PURLIN_SUCCESS) return 2;
  o.backend = PURLIN_BACKEND_CPU;
  o.threads = 1;
  if (purlin_context_create(&o, &own) != PURLIN_SUCCESS) return 3;
  if (purlin_tensor_borrow(own, PURLIN_F64, 0, 1, &n, NULL, data, &t) != PURLIN_SUCCESS) return 4;
  if (purlin_tensor_destroy(t) != PURLIN_SUCCESS || purlin_context_destroy(own) != PURLIN_SUCCESS) return 5;
  return purlin_context_destroy(context) == PURLIN_SUCCESS ? 0 : 6;
}

static int hung, failed;

/* Waits for a child and counts how it ended. */
static void ended(pid_t pid) {
  int status = 0;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
  hung += WIFSIGNALED(status);
  failed += WIFEXITED(status) && WEXITSTATUS(status) != 0;
  if (WIFEXITED(status) && WEXITSTATUS(status)) printf("a child failed at step %d\n", WEXITSTATUS(status));
}

/* A first context on another thread, whose own threads begin while the process forks. */
static void *first(void *unused) {
  purlin_context_options o;
  (void)unused;
  if (purlin_context_options_init(&o, sizeof o) != PURLIN_SUCCESS) return NULL;
  o.backend = test_backend();
  o.threads = 2;
  return purlin_context_create(&o, &context) == PURLIN_SUCCESS ? &context : NULL;
}

/* A process in which nothing is initialized yet forks while a thread makes its first context; `delay` in steps of 20 us, or of 50 ms
   for a GPU. */
static int start(int delay) {
  pthread_t thread;
  struct timespec pause = {0, (is_on_cpu() ? 20000L : 50000000L) * delay};
  void *made = NULL;
  pid_t pid;
  if (pthread_create(&thread, NULL, first, NULL) != 0) return 10;
  nanosleep(&pause, NULL);
  pid = fork();
  if (pid == 0) {
    purlin_context *own = NULL;
    purlin_context_options o;
    alarm(30);
    if (purlin_context_options_init(&o, sizeof o) != PURLIN_SUCCESS) _exit(2);
    o.backend = PURLIN_BACKEND_CPU;
    o.threads = 2;
    if (purlin_context_create(&o, &own) != PURLIN_SUCCESS) _exit(3);
    if (purlin_context_destroy(own) != PURLIN_SUCCESS) _exit(5);
    /* The CPU, or a GPU if the parent had not begun with it. */
    o.backend = PURLIN_BACKEND_AUTO;
    if (purlin_context_create(&o, &own) != PURLIN_SUCCESS) _exit(6);
    _exit(purlin_context_destroy(own) == PURLIN_SUCCESS ? 0 : 7);
  }
  ended(pid);
  if (pthread_join(thread, &made) != 0 || !made || purlin_context_destroy(context) != PURLIN_SUCCESS) return 11;
  return hung ? 12 : failed ? 13 : 0;
}

int main(void) {
  pthread_t threads[THREADS];
  int k;
  /* Each start on a GPU initializes the driver, twice where the child does, too. */
  int64_t n, forks = rounds(FORKS, 3), starts = rounds(is_on_cpu() ? STARTS : STARTS / 5, 2);
  for (n = 0; n < starts && !hung; n++) {
    pid_t pid = fork();
    if (pid == 0) {
      hung = failed = 0;
      _exit(start((int)n));
    }
    ended(pid);
  }
  context = test_context(2);
  for (k = 0; k < THREADS; k++) CHECK(pthread_create(&threads[k], NULL, busy, NULL) == 0);
  for (n = 0; n < forks; n++) {
    pid_t pid = fork();
    if (pid == 0) _exit(child());
    ended(pid);
    if (hung > 2) break;
  }
  stop = 1;
  for (k = 0; k < THREADS; k++) {
    void *result = context;
    CHECK(pthread_join(threads[k], &result) == 0 && result == NULL);
  }
  printf("%lld forks and %lld at the start, %d children hung, %d failed\n", (long long)n, (long long)starts, hung, failed);
  CHECK(hung == 0 && failed == 0);
  OK(purlin_context_destroy(context));
  return finish();
}
