/* Runs calls in child processes and counts how they end: success, an allowed error, or a signal. */
#ifndef PURLIN_TESTS_CHILDREN_H
#define PURLIN_TESTS_CHILDREN_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "families.h"

/* `lost`: the CUDA driver failed when its own allocation was refused, and every later call of it may fail too. */
struct ends {
  int succeeded, refused, lost, wrong, killed;
  int signals[65];
};

/* The exit status of a child whose driver was lost. */
enum { LOST = 6 };
/* The exit status by which the C library's loader ends a process that has no memory for thread-local objects of a library. */
enum { LOADER = 127 };

/* Memory that a child shares with its parent. */
static inline void *shared_memory(size_t bytes) {
  void *memory;
  FILE *file = tmpfile();
  if (!file || ftruncate(fileno(file), (off_t)bytes) != 0) exit(1);
  memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  fclose(file);
  if (memory == MAP_FAILED) exit(1);
  return memory;
}

/* Statuses that a call may return when memory is short. */
static inline int is_refusal(purlin_status status) {
  return status == PURLIN_ERROR_OUT_OF_MEMORY || status == PURLIN_ERROR_IO || status == PURLIN_ERROR_NOT_SUPPORTED;
}

/* Runs `work` in a child, whose exit status is its result: 0 success, 1 refusal, LOST, else an error. `family` may be NULL. */
static inline void in_child(struct ends *ends, int (*work)(const struct family *, int64_t), const struct family *family,
                            int64_t argument) {
  int status = -1;
  pid_t pid;
  fflush(stdout);
  fflush(stderr);
  pid = fork();
  if (pid == 0) {
    alarm(60);
    _exit(work(family, argument));
  }
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
  if (WIFSIGNALED(status)) {
    ends->killed++;
    ends->signals[WTERMSIG(status) & 63]++;
    if (getenv("PURLIN_TEST_VERBOSE"))
      printf("  %s %lld: signal %d\n", family ? family->name : "", (long long)argument, WTERMSIG(status));
  } else if (WEXITSTATUS(status) == 0) {
    ends->succeeded++;
  } else if (WEXITSTATUS(status) == 1) {
    ends->refused++;
  } else if (WEXITSTATUS(status) == LOST) {
    ends->lost++;
  } else if (WEXITSTATUS(status) == LOADER && test_backend() == PURLIN_BACKEND_CUDA) {
    ends->killed++;
  } else {
    ends->wrong++;
    printf("  %s %lld: exit status %d\n", family ? family->name : "", (long long)argument, WEXITSTATUS(status));
  }
}

static inline void print_ends(const char *what, const struct ends *ends) {
  int k;
  printf("%s: %d succeeded, %d refused, %d wrong, %d killed", what, ends->succeeded, ends->refused, ends->wrong,
         ends->killed);
  if (ends->lost) printf(", %d lost by the CUDA driver", ends->lost);
  for (k = 0; k < 65; k++)
    if (ends->signals[k]) printf(", %d by signal %d", ends->signals[k], k);
  printf("\n");
}

/* The exit status of a child for the end of a call. */
static inline int end_of(const struct family *family, purlin_status status) {
  if (purlin_live_handles() != 0) return 3;
  if (status == PURLIN_SUCCESS) return 0;
  if (is_refusal(status)) return 1;
  printf("  %s: %s %s\n", family->name, purlin_status_string(status), family_message);
  fflush(stdout);
  return 2;
}

#endif
