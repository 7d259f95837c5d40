/* Runs that are cancelled and resume from their restart file. */
#include "rsvd.h"

static const char *path = "rsvd_restart.state";

static int exists(void) {
  FILE *file = fopen(path, "rb");
  if (file) fclose(file);
  return file != NULL;
}

/* Cancels at the first report after a state was written, if `cancels`. A slow pass also reports before that. */
static int32_t stop(int64_t step, int64_t steps, double measure, void *user) {
  (void)measure;
  return step >= 0 && step <= steps && *(const int *)user && exists();
}

static purlin_context *context;

/* A run that must succeed. */
static purlin_rsvd_info run(const purlin_rsvd_options *o, purlin_matrix *a, double *s) {
  purlin_rsvd *rsvd = NULL;
  purlin_tensor *values = vector_of(context, PURLIN_F64, K, s);
  purlin_rsvd_info info = rsvd_info();
  OK(purlin_rsvd_create(context, o, &rsvd));
  OK(purlin_rsvd_compute(rsvd, NULL, a, NULL, values, NULL, &info));
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(values));
  return info;
}

/* One that must not. */
static void refused(purlin_status status, const char *text, const purlin_rsvd_options *o, purlin_matrix *a) {
  purlin_rsvd *rsvd = NULL;
  OK(purlin_rsvd_create(context, o, &rsvd));
  FAILS(status, text, purlin_rsvd_compute(rsvd, NULL, a, NULL, NULL, NULL, NULL));
  OK(purlin_rsvd_destroy(rsvd));
}

int main(void) {
  static double columns[M * N], whole[K], s[K];
  purlin_matrix *a, *other;
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info complete, info;
  purlin_rsvd *rsvd = NULL;
  FILE *file;
  int i, j, cancels = 1;
  context = test_context(2);
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) columns[i + M * j] = entry(i, j);
  a = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, columns);
  o.method = PURLIN_RSVD_METHOD_FUSED;
  o.power_iterations = 3;
  complete = run(&o, a, whole);
  CHECK(complete.restarted == 0 && complete.passes == 4);

  o.restart_path = path;
  o.progress = stop;
  o.progress_user = &cancels;
  remove(path);
  refused(PURLIN_ERROR_CANCELLED, "", &o, a);
  CHECK(exists());
  cancels = 0;
  /* It belongs to this matrix, these options and this seed. */
  o.seed = 1;
  refused(PURLIN_ERROR_INVALID_ARGUMENT, "its seed is 0", &o, a);
  o.seed = 0;
  o.power_iterations = 2;
  refused(PURLIN_ERROR_INVALID_ARGUMENT, "its power_iterations is 3, this one's 2", &o, a);
  o.power_iterations = 3;
  columns[0] = 0;
  other = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, columns);
  refused(PURLIN_ERROR_INVALID_ARGUMENT, "its data, or their order in memory, differ in the first MiB", &o, other);
  columns[0] = entry(0, 0);
  CHECK(exists());
  /* The remaining passes give the same result, and the file is removed. */
  info = run(&o, a, s);
  CHECK(info.restarted == 1 && info.passes_restarted >= 1 && info.passes + info.passes_restarted == complete.passes);
  CHECK(memcmp(s, whole, sizeof s) == 0 && !exists());
  info = run(&o, a, s);
  CHECK(info.restarted == 0 && info.passes == complete.passes && !exists());

  /* RANGE saves its state after each pass. The state after the first pass is as large as the data. */
  o.method = PURLIN_RSVD_METHOD_RANGE;
  o.restart_path = NULL;
  complete = run(&o, a, whole);
  CHECK(complete.passes == 8);
  o.restart_path = path;
  cancels = 1;
  refused(PURLIN_ERROR_CANCELLED, "", &o, a);
  CHECK(exists());
  cancels = 0;
  info = run(&o, a, s);
  CHECK(info.restarted == 1 && info.passes_restarted == 1 && info.passes == 7);
  CHECK(memcmp(s, whole, sizeof s) == 0 && !exists());
  o.method = PURLIN_RSVD_METHOD_FUSED;

  /* A file with other contents is neither used nor removed. */
  file = fopen(path, "wb");
  CHECK(file && fputs("notes", file) >= 0 && fclose(file) == 0);
  refused(PURLIN_ERROR_INVALID_ARGUMENT, "is not a restart file", &o, a);
  CHECK(exists());
  remove(path);
  o.restart_path = "no such folder/state";
  refused(PURLIN_ERROR_IO, "no such folder", &o, a);
  o.restart_path = path;
  o.tolerance = 1e-3;
  o.rank = 0;
  o.method = PURLIN_RSVD_METHOD_AUTO;
  UNSUPPORTED("restart_path", purlin_rsvd_create(context, &o, &rsvd));
  CHECK(rsvd == NULL && !exists());

  OK(purlin_matrix_destroy(other));
  OK(purlin_matrix_destroy(a));
  OK(purlin_context_destroy(context));
  return finish();
}
