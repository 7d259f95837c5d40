/* Checks of the C consumers: they continue after a failure, and the last one fails if a handle is still open. */
#ifndef PURLIN_TESTS_CHECK_H
#define PURLIN_TESTS_CHECK_H

#include <purlin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks_made = 0;
static int checks_failed = 0;

/* A condition that must hold. */
#define CHECK(condition) check_that((condition) != 0, #condition, __FILE__, __LINE__)

/* A call that must succeed, and must then leave an empty message. */
#define OK(call) check_ok((call), #call, __FILE__, __LINE__)

/* A call that must fail with `status` and a message of one line that contains `text`. */
#define FAILS(status, text, call) check_fails((call), (status), (text), #call, __FILE__, __LINE__)

#define BAD_ARGUMENT(text, call) FAILS(PURLIN_ERROR_INVALID_ARGUMENT, text, call)
#define BAD_HANDLE(text, call) FAILS(PURLIN_ERROR_INVALID_HANDLE, text, call)
#define UNSUPPORTED(text, call) FAILS(PURLIN_ERROR_NOT_SUPPORTED, text, call)

/* The number of elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline void check_that(int holds, const char *what, const char *file, int line) {
  checks_made++;
  if (holds) return;
  checks_failed++;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
}

static inline void check_ok(purlin_status status, const char *call, const char *file, int line) {
  const char *message = purlin_last_error_message();
  checks_made++;
  if (status == PURLIN_SUCCESS && message[0] == '\0') return;
  checks_failed++;
  fprintf(stderr, "%s:%d: %s gave %s \"%s\"\n", file, line, call, purlin_status_string(status), message);
}

static inline void check_fails(purlin_status status, purlin_status expected, const char *text, const char *call,
                               const char *file, int line) {
  const char *message = purlin_last_error_message();
  checks_made++;
  if (status == expected && message[0] != '\0' && strstr(message, text) && !strpbrk(message, "\r\n")) return;
  checks_failed++;
  fprintf(stderr, "%s:%d: %s gave %s \"%s\", expected %s with \"%s\"\n", file, line, call,
          purlin_status_string(status), message, purlin_status_string(expected), text);
}

/* Returns the exit status of the program: 0 if no handle is open and every check held. */
static inline int finish(void) {
  CHECK(purlin_live_handles() == 0);
  printf("%d checks, %d failed\n", checks_made, checks_failed);
  return checks_failed == 0 ? 0 : 1;
}

/* The backend of the programs that run on either: a GPU for PURLIN_TEST_BACKEND=cuda, else the CPU. */
static inline int32_t test_backend(void) {
  const char *wanted = getenv("PURLIN_TEST_BACKEND");
  return wanted && strcmp(wanted, "cuda") == 0 ? PURLIN_BACKEND_CUDA : PURLIN_BACKEND_CPU;
}

/* Whether that backend is the CPU: for checks that do not hold on a GPU. */
static inline int is_on_cpu(void) { return test_backend() == PURLIN_BACKEND_CPU; }

/* Without a context no test can run. */
static inline purlin_context *context_on(int32_t backend, int64_t threads) {
  purlin_context *context = NULL;
  purlin_context_options options;
  OK(purlin_context_options_init(&options, sizeof options));
  options.backend = backend;
  options.threads = threads;
  OK(purlin_context_create(&options, &context));
  if (!context) exit(1);
  return context;
}

/* A context on the CPU, for checks that hold there alone. */
static inline purlin_context *cpu_context(int64_t threads) { return context_on(PURLIN_BACKEND_CPU, threads); }

/* A context on the backend of PURLIN_TEST_BACKEND. The step `c` of tools/gpu-run.sh runs each program that takes one. */
static inline purlin_context *test_context(int64_t threads) { return context_on(test_backend(), threads); }

/* A packed dense tensor over `data`. */
static inline purlin_tensor *dense(const purlin_context *context, purlin_dtype dtype, int64_t ndim,
                                   const int64_t *dims, void *data) {
  purlin_tensor *tensor = NULL;
  OK(purlin_tensor_borrow(context, dtype, 0, ndim, dims, NULL, data, &tensor));
  return tensor;
}

static inline purlin_tensor *vector_of(const purlin_context *context, purlin_dtype dtype, int64_t n, void *data) {
  return dense(context, dtype, 1, &n, data);
}

static inline purlin_tensor *array2(const purlin_context *context, purlin_dtype dtype, int64_t a, int64_t b,
                                    void *data) {
  int64_t dims[2];
  dims[0] = a;
  dims[1] = b;
  return dense(context, dtype, 2, dims, data);
}

static inline purlin_tensor *array3(const purlin_context *context, purlin_dtype dtype, int64_t a, int64_t b,
                                    int64_t c, void *data) {
  int64_t dims[3];
  dims[0] = a;
  dims[1] = b;
  dims[2] = c;
  return dense(context, dtype, 3, dims, data);
}

/* A packed batch of symmetric tensors over `data`. */
static inline purlin_tensor *symmetric(const purlin_context *context, purlin_dtype dtype, int64_t order,
                                       int64_t dimension, int64_t count, void *data) {
  purlin_tensor *tensor = NULL;
  OK(purlin_tensor_borrow_symmetric(context, dtype, 0, order, dimension, count, 0, 0, data, &tensor));
  return tensor;
}

/* Under valgrind loops are cut short. */
static inline int64_t rounds(int64_t normal, int64_t under_valgrind) {
  return getenv("PURLIN_UNDER_VALGRIND") ? under_valgrind : normal;
}

/* A small generator of its own (xorshift64*), so that a test draws the same numbers everywhere. */
static inline uint64_t draw(uint64_t *state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * UINT64_C(2685821657736338717);
}

#endif
