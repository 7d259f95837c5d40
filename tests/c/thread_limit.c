/* Threads that the system refuses: calls work without them or say so, and every object stays usable. The limit on
   processes does not hold for root, so the test runs as a user without rights. */
#define _DEFAULT_SOURCE
#include "tt.h"

#include <sys/resource.h>
#include <unistd.h>

static int reports;

static int32_t report(int64_t step, int64_t steps, double measure, void *user) {
  (void)step, (void)steps, (void)measure, (void)user;
  reports++;
  return 0;
}

static int32_t read_ones(const int64_t *first, const int64_t *count, void *block, void *user) {
  double *values = block;
  int64_t i;
  (void)first, (void)user;
  for (i = 0; i < count[0] * count[1]; i++) values[i] = 1.0;
  return 0;
}

static void limit_threads(rlim_t limit) {
  struct rlimit threads;
  CHECK(getrlimit(RLIMIT_NPROC, &threads) == 0);
  threads.rlim_cur = limit == RLIM_INFINITY ? threads.rlim_max : limit;
  CHECK(setrlimit(RLIMIT_NPROC, &threads) == 0);
}

int main(void) {
  const int64_t modes[5] = {2, 2, 2, 2, 2}, ranks[6] = {3, 3, 3, 3, 3, 3}, dims[2] = {60, 40};
  const int64_t one[1] = {1};
  purlin_tt_contraction_options contraction_options;
  purlin_context_options options;
  purlin_rsvd_options few;
  purlin_context *context = NULL, *other = NULL;
  purlin_tt_contraction *contraction = NULL;
  purlin_rsvd *rsvd = NULL;
  purlin_tensor *s = NULL;
  purlin_source *source = NULL;
  purlin_matrix *matrix = NULL;
  purlin_tt *x = NULL;
  double with_thread[2] = {0}, without[2] = {0};

  if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 0;
  context = cpu_context(2);
  OK(purlin_tt_contraction_options_init(&contraction_options, sizeof contraction_options));
  contraction_options.progress = report;
  OK(purlin_tt_contraction_create(context, &contraction_options, &contraction));
  OK(purlin_tt_random(context, PURLIN_F64, PURLIN_HOST, 5, modes, ranks, 7, &x));
  OK(purlin_tt_inner(contraction, NULL, x, x, with_thread, NULL));
  OK(purlin_source_from_callback(context, PURLIN_F64, 2, dims, read_ones, NULL, &source));
  OK(purlin_matrix_from_source(context, source, 0, &matrix));
  OK(purlin_rsvd_options_init(&few, sizeof few));
  few.rank = 1;
  OK(purlin_rsvd_create(context, &few, &rsvd));
  OK(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 1, one, &s));

  limit_threads(1);
  OK(purlin_context_options_init(&options, sizeof options));
  options.backend = PURLIN_BACKEND_CPU;
  options.threads = 4;
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "thread pool: thread 1 of 4 could not be started: ",
        purlin_context_create(&options, &other));
  reports = 0;
  OK(purlin_tt_inner(contraction, NULL, x, x, without, NULL));
  CHECK(without[0] == with_thread[0] && without[1] == with_thread[1] && reports == 1);
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "purlin-read: thread 1 of 1 could not be started: ",
        purlin_rsvd_compute(rsvd, NULL, matrix, NULL, s, NULL, NULL));

  limit_threads(RLIM_INFINITY);
  OK(purlin_context_create(&options, &other));
  OK(purlin_context_destroy(other));
  OK(purlin_tt_inner(contraction, NULL, x, x, without, NULL));
  CHECK(without[0] == with_thread[0]);
  OK(purlin_rsvd_compute(rsvd, NULL, matrix, NULL, s, NULL, NULL));
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(s));
  OK(purlin_matrix_destroy(matrix));
  OK(purlin_source_destroy(source));
  OK(purlin_tt_destroy(x));
  OK(purlin_tt_contraction_destroy(contraction));
  OK(purlin_context_destroy(context));
  return finish();
}
