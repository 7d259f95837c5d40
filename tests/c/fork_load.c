/* Forks while other threads create, look up and destroy objects: a child must never wait for a thread that it does not have. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 400 };

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

/* Uses what it inherited, which is refused, then its own. */
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

int main(void) {
  pthread_t threads[THREADS];
  int hung = 0, failed = 0, k, status;
  int64_t n, forks = rounds(FORKS, 3);
  context = cpu_context(2);
  for (k = 0; k < THREADS; k++) CHECK(pthread_create(&threads[k], NULL, busy, NULL) == 0);
  for (n = 0; n < forks; n++) {
    pid_t pid = fork();
    if (pid == 0) _exit(child());
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    hung += WIFSIGNALED(status);
    failed += WIFEXITED(status) && WEXITSTATUS(status) != 0;
    if (WIFEXITED(status) && WEXITSTATUS(status)) printf("a child failed at step %d\n", WEXITSTATUS(status));
    if (hung > 2) break;
  }
  stop = 1;
  for (k = 0; k < THREADS; k++) {
    void *result = context;
    CHECK(pthread_join(threads[k], &result) == 0 && result == NULL);
  }
  printf("%lld forks, %d children hung, %d failed\n", (long long)n, hung, failed);
  CHECK(hung == 0 && failed == 0);
  OK(purlin_context_destroy(context));
  return finish();
}
