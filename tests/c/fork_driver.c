/* A child of fork() never calls the CUDA driver: not while it destroys inherited objects, not at its exit, and not if its parent
   was inside cuInit. The driver is the stand-in of driver.c, which ends a child that calls it. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The status of a skipped test. */
enum { SKIP = 77 };

static double data[6] = {1, 2, 3, 4, 5, 6}, back[6];

#define FORKED(call) FAILS(PURLIN_ERROR_FORKED, "fork", call)

static purlin_context *gpu(purlin_status *status) {
  purlin_context *context = NULL;
  purlin_context_options options;
  OK(purlin_context_options_init(&options, sizeof options));
  options.backend = PURLIN_BACKEND_CUDA;
  options.threads = 2;
  *status = purlin_context_create(&options, &context);
  return context;
}

/* No GPU for the child, and AUTO is the CPU. */
static void no_gpu(void) {
  int32_t devices = -1;
  purlin_status status;
  purlin_context *context;
  purlin_context_options options;
  purlin_context_info info;
  OK(purlin_device_count(&devices));
  CHECK(devices == 0);
  context = gpu(&status);
  CHECK(!context && status == PURLIN_ERROR_NO_DEVICE && strstr(purlin_last_error_message(), "before fork()"));
  OK(purlin_context_options_init(&options, sizeof options));
  OK(purlin_context_info_init(&info, sizeof info));
  options.threads = 1;
  OK(purlin_context_create(&options, &context));
  OK(purlin_context_properties(context, &info));
  CHECK(info.backend == PURLIN_BACKEND_CPU);
  OK(purlin_context_destroy(context));
}

static void ended_well(pid_t pid) {
  int status = -1;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
  if (WIFSIGNALED(status)) fprintf(stderr, "a child ended by signal %d\n", WTERMSIG(status));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Objects with memory of the device, page-locked memory, streams, and a copy that may still run. */
static void inherited(purlin_context *context) {
  int64_t dims[2] = {2, 3};
  purlin_tensor *there = NULL, *pinned = NULL, *here = array2(context, PURLIN_F64, 2, 3, data), *out, *made = NULL;
  purlin_matrix *matrix = NULL;
  purlin_stream *stream = NULL, *wrapped = NULL, *another = NULL;
  int is_child;
  pid_t pid;
  OK(purlin_tensor_create(context, PURLIN_F64, PURLIN_DEVICE, 0, 2, dims, &there));
  OK(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, PURLIN_PINNED, 2, dims, &pinned));
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_DEVICE, 0, 2, 3, &matrix));
  OK(purlin_stream_create(context, &stream));
  OK(purlin_stream_wrap(context, 0, &wrapped));
  OK(purlin_tensor_copy(context, stream, here, there));
  out = array2(context, PURLIN_F64, 2, 3, back);
  fflush(stdout);
  pid = fork();
  is_child = pid == 0;
  if (is_child) {
    alarm(60);
    checks_made = checks_failed = 0;
    FORKED(purlin_stream_synchronize(stream));
    FORKED(purlin_stream_synchronize(wrapped));
    FORKED(purlin_stream_create(context, &another));
    FORKED(purlin_stream_wrap(context, 0, &another));
    FORKED(purlin_tensor_copy(context, stream, there, out));
    FORKED(purlin_tensor_create(context, PURLIN_F64, PURLIN_DEVICE, 0, 2, dims, &made));
    FORKED(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, PURLIN_PINNED, 2, dims, &made));
    FORKED(purlin_tensor_borrow_device(context, PURLIN_F64, 0, 2, dims, NULL, 1 << 20, &made));
    no_gpu();
  } else {
    ended_well(pid);
    OK(purlin_tensor_copy(context, stream, there, out));
    OK(purlin_stream_synchronize(stream));
    CHECK(memcmp(back, data, sizeof back) == 0);
  }
  /* The context first, so that the other objects are the device's last owners. */
  OK(purlin_context_destroy(context));
  OK(purlin_tensor_destroy(out));
  OK(purlin_tensor_destroy(here));
  OK(purlin_tensor_destroy(there));
  OK(purlin_tensor_destroy(pinned));
  OK(purlin_matrix_destroy(matrix));
  OK(purlin_stream_destroy(wrapped));
  OK(purlin_stream_destroy(stream));
  /* By exit(), whose handlers run in the child too. */
  if (is_child) exit(finish());
}

static void *first(void *status) { return gpu(status); }

/* In a process of its own: another thread is in cuInit while this one forks. */
static int in_the_middle(void) {
  const struct timespec pause = {0, 100000000};
  pthread_t thread;
  purlin_status status;
  void *made = NULL;
  pid_t pid;
  if (setenv("PURLIN_TEST_SLOW_DRIVER", "1", 1) != 0 || pthread_create(&thread, NULL, first, &status) != 0) return 2;
  nanosleep(&pause, NULL);
  fflush(stdout);
  pid = fork();
  if (pid == 0) {
    alarm(60);
    checks_made = checks_failed = 0;
    no_gpu();
    exit(finish());
  }
  ended_well(pid);
  CHECK(pthread_join(thread, &made) == 0 && status == PURLIN_SUCCESS);
  OK(purlin_context_destroy(made));
  return finish();
}

int main(void) {
  purlin_status status = PURLIN_SUCCESS;
  purlin_context *context;
  /* Before the driver is loaded here. */
  pid_t pid = fork();
  if (pid == 0) _exit(strstr(purlin_build_info(), "CUDA") ? in_the_middle() : 0);
  ended_well(pid);
  context = gpu(&status);
  if (status == PURLIN_ERROR_NO_DEVICE && strstr(purlin_last_error_message(), "no GPU kernels")) {
    printf("%s\n", purlin_last_error_message());
    return SKIP;
  }
  CHECK(status == PURLIN_SUCCESS);
  if (!context) fprintf(stderr, "%s\n", purlin_last_error_message());
  else
    inherited(context);
  return finish();
}
