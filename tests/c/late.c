/* Calls from where a program ends: atexit handlers and destructors of thread-specific data. What Rust keeps for a thread is
   destroyed before these run. */
#define _POSIX_C_SOURCE 200809L
#include "families.h"

#include <pthread.h>
#include <unistd.h>

static purlin_context *kept;

/* Every family, an error with its message, and the destruction of an object that was created in time. */
static void calls(void) {
  size_t k;
  purlin_context *own;
  for (k = 0; k < COUNT(families); k++) {
    purlin_status status = families[k].call();
    if (status != PURLIN_SUCCESS)
      fprintf(stderr, "%s: %s %s\n", families[k].name, purlin_status_string(status), purlin_last_error_message());
    CHECK(status == PURLIN_SUCCESS);
  }
  BAD_ARGUMENT("context: is NULL", purlin_context_create(NULL, NULL));
  BAD_HANDLE("context", purlin_context_cancel(NULL));
  own = cpu_context(2);
  OK(purlin_context_destroy(own));
  CHECK(purlin_last_error_message()[0] == '\0');
}

static void at_exit(void) {
  calls();
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
  calls();
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
  family_inputs();
  CHECK(atexit(at_exit) == 0);
  kept = cpu_context(2);
  calls();
  CHECK(pthread_key_create(&key, at_thread_end) == 0);
  CHECK(pthread_create(&id, NULL, thread, &key) == 0 && pthread_join(id, NULL) == 0);
  CHECK(pthread_create(&id, NULL, quiet_thread, &key) == 0 && pthread_join(id, NULL) == 0);
  CHECK(keys_called == 2);
  return checks_failed == 0 ? 0 : 1;
}
