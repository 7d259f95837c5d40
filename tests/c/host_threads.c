/* Unusual host threads: cancelled, with small stacks, with signals blocked or handled, with floating-point traps enabled. */
#define _GNU_SOURCE
#include "families.h"

#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static void each_family(void) {
  size_t k;
  for (k = 0; k < COUNT(families); k++) {
    purlin_status status = families[k].call();
    if (!family_is_usual(status))
      fprintf(stderr, "%s: %s %s\n", families[k].name, purlin_status_string(status), purlin_last_error_message());
    CHECK(family_is_usual(status));
  }
}

static void *all_families(void *unused) {
  each_family();
  return unused;
}

static void on_thread(const pthread_attr_t *attributes, void *(*work)(void *), void *argument, void *expected) {
  pthread_t id;
  void *result = NULL;
  CHECK(pthread_create(&id, attributes, work, argument) == 0 && pthread_join(id, &result) == 0);
  CHECK(result == expected);
}

static volatile int calls_done;

/* A cancellation that is pending takes effect after the calls, which it must not cut short. */
static void *cancelled(void *unused) {
  pthread_cancel(pthread_self());
  each_family();
  calls_done = 1;
  pthread_testcancel();
  return unused;
}

static void *blocked(void *unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  each_family();
  return unused;
}

static void *trapping(void *unused) {
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  each_family();
  CHECK(fegetexcept() == (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW));
  fedisableexcept(FE_ALL_EXCEPT);
  return unused;
}

static pthread_t main_thread;
static volatile sig_atomic_t handled, elsewhere;

static void handler(int number) {
  (void)number;
  handled++;
  if (!pthread_equal(pthread_self(), main_thread)) elsewhere++;
}

/* A timer's signal interrupts calls all the time; its handler runs on the host's thread alone. */
static void interrupted(void) {
  struct sigaction action;
  struct itimerval timer;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  timer.it_interval.tv_sec = timer.it_value.tv_sec = 0;
  timer.it_interval.tv_usec = timer.it_value.tv_usec = 500;
  CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
  each_family();
  timer.it_interval.tv_usec = timer.it_value.tv_usec = 0;
  CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
  CHECK(handled > 5 && elsewhere == 0);
}

int main(void) {
  pthread_attr_t small;
  purlin_context *kept;
  char *path = malloc(300001);
  main_thread = pthread_self();
  family_inputs();
  kept = test_context(2);
  CHECK(pthread_attr_init(&small) == 0);
  CHECK(pthread_attr_setstacksize(&small, 64 * 1024) == 0);
  on_thread(NULL, cancelled, NULL, PTHREAD_CANCELED);
  CHECK(calls_done);
  on_thread(NULL, blocked, NULL, NULL);
  on_thread(NULL, trapping, NULL, NULL);
  interrupted();
  on_thread(&small, all_families, NULL, NULL);
  if (path) {
    /* Texts are cut. */
    purlin_source *source = NULL;
    memset(path, 'x', 300000);
    path[300000] = '\0';
    CHECK(purlin_source_from_npy(kept, path, &source) == PURLIN_ERROR_IO);
    CHECK(strlen(purlin_last_error_message()) == 1024 && strcmp(purlin_last_error_message() + 1021, "...") == 0);
  }
  free(path);
  OK(purlin_context_destroy(kept));
  return finish();
}
