/* Threads that the system refuses: calls work without them or fail with a message, and every object stays usable. The limit on
   processes does not hold for root, so the test runs as a user without rights. */
#define _DEFAULT_SOURCE
#include "families.h"
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

/* Objects of the other families, made while there are threads. */
struct objects {
  purlin_context *context;
  purlin_tt *x;
  purlin_tt_matrix *h;
  purlin_tt_contraction *watched, *plain;
  purlin_tt_environments *environments;
  purlin_source *views;
  purlin_tensor *projections, *volume, *tensors, *values, *list;
  purlin_fdk *fdk;
  purlin_matrix *dense, *low, *sparse, *streamed, *graph, *vectors;
  purlin_source *columns;
};

static int32_t read_views(const int64_t *first, const int64_t *count, void *block, void *user) {
  float *values = block;
  int64_t i;
  (void)first, (void)user;
  for (i = 0; i < count[0] * count[1] * count[2]; i++) values[i] = 1;
  return 0;
}

static int32_t take(const int64_t *first, const int64_t *count, const void *block, void *user) {
  (void)first, (void)count, (void)block, (void)user;
  return 0;
}

static struct objects make(void) {
  enum { N = 24 };
  static const int64_t modes[6] = {2, 2, 2, 2, 2, 2}, ranks[7] = {1, 4, 4, 4, 4, 4, 1}, cube[3] = {N, N, N};
  static const int64_t pairs[2] = {4, 40}, size[2] = {60, 40};
  purlin_tt_contraction_options watching;
  struct objects o;
  memset(&o, 0, sizeof o);
  o.context = cpu_context(2);
  OK(purlin_tt_contraction_options_init(&watching, sizeof watching));
  watching.progress = report;
  OK(purlin_tt_contraction_create(o.context, &watching, &o.watched));
  OK(purlin_tt_contraction_create(o.context, NULL, &o.plain));
  OK(purlin_tt_random(o.context, PURLIN_F64, PURLIN_HOST, 6, modes, ranks, 3, &o.x));
  OK(purlin_tt_matrix_ising(o.context, PURLIN_F64, 6, 0, 1, 0.7, &o.h));
  OK(purlin_tt_environments_create(o.plain, o.x, o.h, o.x, &o.environments));
  OK(purlin_source_from_callback(o.context, PURLIN_F32, 3, cube, read_views, NULL, &o.views));
  o.projections = dense(o.context, PURLIN_F32, 3, cube, family_projections);
  o.volume = dense(o.context, PURLIN_F32, 3, cube, family_volume);
  OK(family_fdk_of(o.context, N, N, N, &o.fdk));
  o.tensors = symmetric(o.context, PURLIN_F64, 4, 3, 40, family_input);
  o.values = dense(o.context, PURLIN_F64, 2, pairs, family_output[0]);
  OK(family_matrix(o.context, 60, 40, family_input, &o.dense));
  OK(family_matrix(o.context, 60, 40, family_output[1], &o.low));
  OK(family_matrix(o.context, 60, 40, family_output[2], &o.sparse));
  OK(purlin_source_from_callback(o.context, PURLIN_F64, 2, size, read_ones, NULL, &o.columns));
  OK(purlin_matrix_from_source(o.context, o.columns, 0, &o.streamed));
  OK(family_graph_of(o.context, &o.graph));
  OK(family_vector(o.context, 3, family_output[3], &o.list));
  OK(family_matrix(o.context, 300, 3, family_output[3] + 3, &o.vectors));
  return o;
}

static void destroy(struct objects *o) {
  OK(purlin_matrix_destroy(o->vectors));
  OK(purlin_tensor_destroy(o->list));
  OK(purlin_matrix_destroy(o->graph));
  OK(purlin_matrix_destroy(o->streamed));
  OK(purlin_source_destroy(o->columns));
  OK(purlin_matrix_destroy(o->sparse));
  OK(purlin_matrix_destroy(o->low));
  OK(purlin_matrix_destroy(o->dense));
  OK(purlin_tensor_destroy(o->values));
  OK(purlin_tensor_destroy(o->tensors));
  OK(purlin_fdk_destroy(o->fdk));
  OK(purlin_tensor_destroy(o->volume));
  OK(purlin_tensor_destroy(o->projections));
  OK(purlin_source_destroy(o->views));
  OK(purlin_tt_environments_destroy(o->environments));
  OK(purlin_tt_matrix_destroy(o->h));
  OK(purlin_tt_destroy(o->x));
  OK(purlin_tt_contraction_destroy(o->plain));
  OK(purlin_tt_contraction_destroy(o->watched));
  OK(purlin_context_destroy(o->context));
}

/* Calls that need only the pool's threads give the same numbers whether or not further threads can start. */
static void without_others(const struct objects *o, double numbers[6]) {
  purlin_sshopm_results r;
  purlin_lanczos_options l;
  purlin_rpca_options p;
  purlin_tt_scaled scaled;
  purlin_tt *sum = NULL;
  const double one[2] = {1, 0};
  double two[2];
  purlin_status status;
  OK(purlin_tt_sandwich(o->watched, NULL, o->x, o->h, o->x, two, NULL));
  numbers[0] = two[0];
  OK(purlin_tt_inner(o->watched, NULL, o->x, o->x, two, NULL));
  numbers[1] = two[0];
  OK(purlin_tt_norm(o->watched, NULL, o->x, &numbers[2], NULL));
  OK(purlin_tt_add(o->context, NULL, one, o->x, one, o->x, &sum));
  OK(purlin_tt_destroy(sum));
  OK(purlin_tt_environments_update_core(o->environments, 2));
  OK(purlin_tt_environments_value(o->environments, NULL, 3, &scaled));
  OK(purlin_sshopm_results_init(&r, sizeof r));
  r.values = o->values;
  OK(purlin_sshopm_solve_once(o->context, NULL, o->tensors, NULL, NULL, &r, NULL));
  numbers[3] = family_output[0][0];
  OK(purlin_lanczos_options_init(&l, sizeof l));
  l.count = 3;
  l.tolerance = 1e-6;
  status = purlin_lanczos_solve_once(o->context, NULL, o->graph, NULL, NULL, NULL, &l, o->list, o->vectors, NULL, NULL);
  CHECK(status == PURLIN_SUCCESS || status == PURLIN_ERROR_NO_CONVERGENCE);
  numbers[4] = family_output[3][0];
  OK(purlin_rpca_options_init(&p, sizeof p));
  status = purlin_rpca_compute_once(o->context, NULL, o->dense, NULL, &p, o->low, o->sparse, NULL);
  CHECK(status == PURLIN_SUCCESS || status == PURLIN_ERROR_NO_CONVERGENCE);
  numbers[5] = family_output[1][0];
}

/* Calls that read or write on a thread of their own fail if it cannot start. */
static void with_others(const struct objects *o, int refused) {
  purlin_rpca_options p;
  purlin_status status;
  purlin_sink *sink = NULL;
  const int64_t cube[3] = {24, 24, 24};
  int k;
  /* A failed run consumes its sink. For a tensor as the output, only the reader needs a thread. */
  for (k = 0; k < 2; k++) {
    if (k == 0) OK(purlin_sink_to_callback(o->context, PURLIN_F32, 3, cube, take, NULL, &sink));
    else OK(purlin_sink_to_tensor(o->context, o->volume, &sink));
    if (refused)
      FAILS(PURLIN_ERROR_OUT_OF_MEMORY, ": thread 1 of 1 could not be started: ",
            purlin_fdk_reconstruct_to_sink(o->fdk, NULL, o->views, sink, NULL));
    else
      OK(purlin_fdk_reconstruct_to_sink(o->fdk, NULL, o->views, sink, NULL));
    OK(purlin_sink_destroy(sink));
  }
  OK(purlin_fdk_reconstruct(o->fdk, NULL, o->projections, o->volume, NULL));
  OK(purlin_rpca_options_init(&p, sizeof p));
  if (refused)
    FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "could not be started: ",
          purlin_rpca_compute_once(o->context, NULL, o->streamed, NULL, &p, o->low, o->sparse, NULL));
  else {
    status = purlin_rpca_compute_once(o->context, NULL, o->streamed, NULL, &p, o->low, o->sparse, NULL);
    CHECK(status == PURLIN_SUCCESS || status == PURLIN_ERROR_NO_CONVERGENCE);
  }
}

int main(void) {
  struct objects others;
  double before[6], after[6];
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

  if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
    puts("root may not become another user here, and the limit does not hold for root");
    return 77;
  }
  family_inputs();
  others = make();
  without_others(&others, before);
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

  without_others(&others, after);
  CHECK(memcmp(before, after, sizeof before) == 0);
  with_others(&others, 1);

  limit_threads(RLIM_INFINITY);
  with_others(&others, 0);
  without_others(&others, after);
  CHECK(memcmp(before, after, sizeof before) == 0);
  destroy(&others);
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
