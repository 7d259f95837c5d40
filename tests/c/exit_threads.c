/* Programs that end while other threads are in calls: they end by their own status. Each family was called before the
   threads start: an exit during the very first GPU call of a process finds libraries that are partly initialized, which
   docs/architecture.md names. */
#define _POSIX_C_SOURCE 200809L
#include "families.h"

#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

enum { PROGRAMS = 12, THREADS = 4, STATUS = 7 };

static void *busy(void *first) {
  size_t k = *(size_t *)first;
  for (;; k++) (void)families[k % COUNT(families)].call();
  return NULL;
}

/* Ends while its threads go on. */
static int ending(long milliseconds) {
  static size_t first[THREADS];
  struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  int k;
  family_inputs();
  for (k = 0; k < (int)COUNT(families); k++) {
    if (!family_is_usual(families[k].call())) return 1;
  }
  for (k = 0; k < THREADS; k++) {
    pthread_t id;
    first[k] = (size_t)(2 * k);
    if (pthread_create(&id, NULL, busy, &first[k]) != 0) return 1;
  }
  nanosleep(&pause, NULL);
  return STATUS;
}

int main(int argc, char **argv) {
  int k, ended = 0;
  if (argc > 1) return ending(atol(argv[1]));
  for (k = 0; k < PROGRAMS; k++) {
    char milliseconds[16];
    int status = -1;
    pid_t pid;
    snprintf(milliseconds, sizeof milliseconds, "%d", 250 + 71 * k);
    pid = fork();
    if (pid == 0) {
      alarm(60);
      execl("/proc/self/exe", argv[0], milliseconds, (char *)NULL);
      _exit(2);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status)) printf("program %d: signal %d\n", k, WTERMSIG(status));
    ended += WIFEXITED(status) && WEXITSTATUS(status) == STATUS;
  }
  printf("%d of %d programs ended by their own status\n", ended, PROGRAMS);
  CHECK(ended == PROGRAMS);
  return finish();
}
