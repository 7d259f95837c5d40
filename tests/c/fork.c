/* A child of fork() may not use what its parent made, gets an error at once, and can make its own. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double from[6] = {1, 2, 3, 4, 5, 6}, to[6];

#define FORKED(call) FAILS(PURLIN_ERROR_FORKED, "fork", call)

static void inherited(purlin_context *context, purlin_stream *stream, purlin_tensor *a, purlin_tensor *b,
                      purlin_matrix *m, purlin_lanczos *lanczos) {
  int64_t dims[2] = {2, 3};
  purlin_lanczos_info last;
  int32_t rows[2] = {0, 0};
  purlin_tensor *t = NULL;
  purlin_matrix *n = NULL;
  purlin_stream *s = NULL;
  purlin_context_info info;
  OK(purlin_context_info_init(&info, sizeof info));
  FORKED(purlin_context_properties(context, &info));
  FORKED(purlin_context_set_log(context, PURLIN_LOG_OFF, NULL, NULL));
  FORKED(purlin_context_cancel(context));
  FORKED(purlin_stream_create(context, &s));
  FORKED(purlin_stream_wrap(context, 0, &s));
  FORKED(purlin_stream_synchronize(stream));
  FORKED(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &t));
  FORKED(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, dims, NULL, from, &t));
  FORKED(purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, 0, 2, 2, 2, &t));
  FORKED(purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 2, 2, 2, 0, 0, from, &t));
  FORKED(purlin_tensor_copy(context, NULL, a, b));
  FORKED(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, 3, &n));
  FORKED(purlin_matrix_borrow(context, PURLIN_F64, 0, 2, 3, 2, from, &n));
  FORKED(purlin_matrix_copy_csr(context, PURLIN_F64, 0, 1, 1, 0, PURLIN_I32, rows, PURLIN_I32, NULL, NULL, &n));
  FORKED(purlin_matrix_copy(context, NULL, m, m));
  /* A thread that is not there any more may have held its lock. */
  OK(purlin_lanczos_info_init(&last, sizeof last));
  FORKED(purlin_lanczos_last_info(lanczos, &last));
  CHECK(!t && !n && !s);
}

static void *sleeping(void *argument) {
  const struct timespec pause = {0, 100000000};
  nanosleep(&pause, NULL);
  return argument;
}

/* The C library gives the stacks of threads that stayed in the parent, and with these their names, to the child's next threads:
   the destruction of the parent's context must leave those alone. */
static int destroying(purlin_context *context) {
  enum { THREADS = 6 };
  pthread_t threads[THREADS];
  pthread_attr_t attributes;
  purlin_context *own;
  long k;
  alarm(60);
  checks_made = checks_failed = 0;
  own = cpu_context(3);
  CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
  for (k = 0; k < THREADS; k++) CHECK(pthread_create(&threads[k], &attributes, sleeping, (void *)k) == 0);
  OK(purlin_context_destroy(context));
  for (k = 0; k < THREADS; k++) {
    void *result = NULL;
    CHECK(pthread_join(threads[k], &result) == 0 && result == (void *)k);
  }
  OK(purlin_context_destroy(own));
  return finish();
}

/* The child's life, ended by exit(): what runs at the end of a program runs, and must not hang. */
static int child(purlin_context *context, purlin_stream *stream, purlin_tensor *a, purlin_tensor *b,
                 purlin_matrix *m, purlin_lanczos *lanczos) {
  purlin_context *own;
  purlin_tensor *c, *d;
  alarm(60);
  checks_made = checks_failed = 0;
  inherited(context, stream, a, b, m, lanczos);
  own = cpu_context(2);
  c = vector_of(own, PURLIN_F64, 6, from);
  d = vector_of(own, PURLIN_F64, 6, to);
  OK(purlin_tensor_copy(own, NULL, c, d));
  CHECK(to[5] == 6);
  BAD_ARGUMENT("belongs to another context", purlin_tensor_copy(own, NULL, a, d));
  OK(purlin_tensor_destroy(c));
  OK(purlin_tensor_destroy(d));
  OK(purlin_context_destroy(own));
  OK(purlin_tensor_destroy(a));
  OK(purlin_context_destroy(context));
  OK(purlin_tensor_destroy(b));
  OK(purlin_matrix_destroy(m));
  OK(purlin_stream_destroy(stream));
  OK(purlin_lanczos_destroy(lanczos));
  return finish();
}

int main(void) {
  int64_t dims[2] = {2, 3};
  purlin_context *context = cpu_context(3);
  purlin_stream *stream = NULL;
  purlin_matrix *m = NULL;
  purlin_tensor *a = NULL, *b = NULL;
  purlin_lanczos *lanczos = NULL;
  int status = -1;
  pid_t pid;
  OK(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &a));
  b = array2(context, PURLIN_F64, 2, 3, to);
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, 3, &m));
  OK(purlin_stream_create(context, &stream));
  OK(purlin_lanczos_create(context, NULL, &lanczos));
  fflush(stdout);
  pid = fork();
  if (pid == 0) exit(child(context, stream, a, b, m, lanczos));
  CHECK(pid > 0);
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(purlin_stream_destroy(stream));
  OK(purlin_lanczos_destroy(lanczos));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(b));
  OK(purlin_matrix_destroy(m));
  fflush(stdout);
  pid = fork();
  if (pid == 0) _exit(destroying(context));
  CHECK(pid > 0);
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  /* The parent notices nothing. */
  stream = NULL;
  OK(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &a));
  b = array2(context, PURLIN_F64, 2, 3, to);
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, 3, &m));
  OK(purlin_stream_create(context, &stream));
  OK(purlin_tensor_copy(context, stream, a, b));
  OK(purlin_stream_synchronize(stream));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(b));
  OK(purlin_matrix_destroy(m));
  OK(purlin_stream_destroy(stream));
  OK(purlin_context_destroy(context));
  return finish();
}
