/* Calls while a program ends: from atexit handlers and destructors of thread-specific data. Rust's thread-local data are
   destroyed before these run. PURLIN_TEST_BACKEND=cuda makes the calls on a GPU, whose driver may end before the last handlers. */
#define _POSIX_C_SOURCE 200809L
#include "families.h"

#include <pthread.h>
#include <unistd.h>

static purlin_context *kept;

/* The status of each family while the program runs: a GPU need not support every call here. */
static purlin_status usual[COUNT(families)];

/* Every family, an error with its message, and the destruction of an object that was created in time. */
static void calls(int has_driver) {
  size_t k;
  purlin_context *own;
  for (k = 0; k < COUNT(families); k++) {
    purlin_status status = families[k].call();
    int is_without_driver = !has_driver && (status == PURLIN_ERROR_CUDA || status == PURLIN_ERROR_NO_DEVICE);
    if (status != usual[k])
      fprintf(stderr, "%s: %s %s\n", families[k].name, purlin_status_string(status), purlin_last_error_message());
    CHECK(status == usual[k] || is_without_driver);
  }
  BAD_ARGUMENT("context: is NULL", purlin_context_create(NULL, NULL));
  BAD_HANDLE("context", purlin_context_cancel(NULL));
  own = cpu_context(2);
  OK(purlin_context_destroy(own));
  CHECK(purlin_last_error_message()[0] == '\0');
}

static void at_exit(void) {
  calls(test_backend() == PURLIN_BACKEND_CPU);
  OK(purlin_context_destroy(kept));
  CHECK(purlin_live_handles() == 0);
  /* The exit status is fixed already; _exit still changes it. */
  printf("at exit: %d checks, %d failed\n", checks_made, checks_failed);
  fflush(stdout);
  if (checks_failed) _exit(1);
}

static int keys_called;

static void at_thread_end(void *value) {
  (void)value;
  calls(1);
  keys_called++;
}

static void *thread(void *argument) {
  pthread_key_t *key = argument;
  OK(purlin_context_cancel(kept));
  CHECK(pthread_setspecific(*key, key) == 0);
  return NULL;
}

/* A thread whose first call is in the destructor. */
static void *quiet_thread(void *argument) {
  pthread_key_t *key = argument;
  CHECK(pthread_setspecific(*key, key) == 0);
  return NULL;
}

int main(void) {
  pthread_t id;
  pthread_key_t key;
  size_t k;
  family_inputs();
  CHECK(atexit(at_exit) == 0);
  kept = test_context(2);
  for (k = 0; k < COUNT(families); k++) {
    usual[k] = families[k].call();
    printf("%s: %s %s\n", families[k].name, purlin_status_string(usual[k]), purlin_last_error_message());
    CHECK(family_is_usual(usual[k]));
  }
  calls(1);
  CHECK(pthread_key_create(&key, at_thread_end) == 0);
  CHECK(pthread_create(&id, NULL, thread, &key) == 0 && pthread_join(id, NULL) == 0);
  CHECK(pthread_create(&id, NULL, quiet_thread, &key) == 0 && pthread_join(id, NULL) == 0);
  CHECK(keys_called == 2);
  return checks_failed == 0 ? 0 : 1;
}
