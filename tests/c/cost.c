/* Cost of a call through the C interface: lookup, locks, guard and message of calls that do almost nothing. The goal is
 * 0.3 us; the limit that fails is generous, since a loaded machine or an emulator measures something else. A solve also
 * resolves its options, takes memory and wakes a thread of the pool. The figures go as JSON to the file that
 * PURLIN_BENCH_JSON names. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <time.h>

enum { BATCHES = 101, CALLS = 2000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static purlin_context *context;
static purlin_tensor *tensor;
static purlin_tensor *from, *to;
static purlin_tensor *one, *none;
static purlin_sshopm_results results;
static FILE *json;

static purlin_status shape_call(void) { return purlin_tensor_shape(tensor, 1, NULL, NULL); }
static purlin_status cancel_call(void) { return purlin_context_cancel(context); }
static purlin_status copy_call(void) { return purlin_tensor_copy(context, NULL, from, to); }
static purlin_status solve_call(void) { return purlin_sshopm_solve_once(context, NULL, one, NULL, NULL, &results, NULL); }
static purlin_status empty_call(void) { return purlin_sshopm_solve_once(context, NULL, none, NULL, NULL, NULL, NULL); }
static purlin_status refused_call(void) { return purlin_tensor_shape(tensor, 0, NULL, NULL); }

/* Median over batches of the time of one call, in microseconds. */
static double cost(purlin_status (*call)(void), purlin_status expected) {
  static double batch[BATCHES];
  int b, c, wrong = 0;
  int64_t calls = rounds(CALLS, 10);
  for (b = 0; b < BATCHES; b++) {
    double start = now();
    for (c = 0; c < calls; c++) wrong += call() != expected;
    batch[b] = (now() - start) / (double)calls;
  }
  CHECK(wrong == 0);
  qsort(batch, BATCHES, sizeof batch[0], ascending);
  return batch[BATCHES / 2];
}

static int rows;

static void measure(const char *name, purlin_status (*call)(void), purlin_status expected, double limit) {
  double found = cost(call, expected);
  printf("%-40s %7.3f us\n", name, found);
  if (json) fprintf(json, "%s  {\"case\": \"%s\", \"microseconds\": %.4f}", rows++ ? ",\n" : "", name, found);
  if (rounds(1, 0)) CHECK(found < limit);
}

int main(void) {
  double x[1] = {1}, y[1], value[1];
  const int64_t dims[2] = {1, 1};
  const char *path = getenv("PURLIN_BENCH_JSON");
  json = path ? fopen(path, "w") : NULL;
  if (json) fprintf(json, "{\n \"title\": \"cost of a call\",\n \"rows\": [\n");
  context = cpu_context(1);
  tensor = vector_of(context, PURLIN_F64, 1, x);
  from = vector_of(context, PURLIN_F64, 1, x);
  to = vector_of(context, PURLIN_F64, 1, y);
  measure("purlin_tensor_shape", shape_call, PURLIN_SUCCESS, 1.0);
  measure("purlin_context_cancel", cancel_call, PURLIN_SUCCESS, 1.0);
  measure("purlin_tensor_copy of one element", copy_call, PURLIN_SUCCESS, 2.0);
  measure("a refused call, with its message", refused_call, PURLIN_ERROR_INVALID_ARGUMENT, 4.0);
  /* One tensor of order 2 and dimension 1, one start. */
  one = symmetric(context, PURLIN_F64, 2, 1, 1, x);
  none = symmetric(context, PURLIN_F64, 2, 1, 0, x);
  OK(purlin_sshopm_results_init(&results, sizeof results));
  results.values = dense(context, PURLIN_F64, 2, dims, value);
  measure("purlin_sshopm_solve_once of no tensor", empty_call, PURLIN_SUCCESS, 20.0);
  measure("purlin_sshopm_solve_once of one number", solve_call, PURLIN_SUCCESS, 200.0);
  if (rounds(1, 0)) CHECK(value[0] == 1);
  if (json) {
    fprintf(json, "\n ]\n}\n");
    CHECK(fclose(json) == 0);
  }
  OK(purlin_tensor_destroy(results.values));
  OK(purlin_tensor_destroy(one));
  OK(purlin_tensor_destroy(none));
  OK(purlin_tensor_destroy(tensor));
  OK(purlin_tensor_destroy(from));
  OK(purlin_tensor_destroy(to));
  OK(purlin_context_destroy(context));
  return finish();
}
