/* Randomized SVD: every documented refusal once, by name; readers that fail; cancellation; and shapes at the edge. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "rsvd.h"

static purlin_context *context, *foreign;
static double data[M * N], u[M * K], v[N * K], s[N], spare[M * N], wider[M * (N + 1)];

static purlin_rsvd *make(const purlin_rsvd_options *o) {
  purlin_rsvd *rsvd = NULL;
  OK(purlin_rsvd_create(context, o, &rsvd));
  return rsvd;
}

static void creation(void) {
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info info;
  purlin_rsvd *made = NULL;
#define CREATE() purlin_rsvd_create(context, &o, &made)
#define BAD(text, change)         \
  do {                            \
    change;                       \
    BAD_ARGUMENT(text, CREATE()); \
    o = rsvd_options();           \
  } while (0)
  BAD_ARGUMENT("options: is NULL", purlin_rsvd_options_init(NULL, sizeof o));
  BAD_ARGUMENT("options: struct_size is 7", purlin_rsvd_options_init(&o, 7));
  BAD_ARGUMENT("info: is NULL", purlin_rsvd_info_init(NULL, sizeof info));
  BAD_ARGUMENT("info: struct_size is 7", purlin_rsvd_info_init(&info, 7));
  BAD_HANDLE("context: is NULL", purlin_rsvd_create(NULL, &o, &made));
  BAD_ARGUMENT("rsvd: is NULL", purlin_rsvd_create(context, &o, NULL));
  /* Groups. */
  {
    purlin_context *second = cpu_context(1);
    const purlin_context *members[2];
    purlin_group *group = NULL;
    members[0] = second, members[1] = context;
    OK(purlin_group_create(2, members, NULL, &group));
    BAD("group: begins with another context", o.group = group);
    BAD_HANDLE("group: is a handle of another type", (o.group = (const purlin_group *)(const void *)context, CREATE()));
    o = rsvd_options();
    OK(purlin_group_destroy(group));
    BAD_HANDLE("group: was destroyed", (o.group = group, CREATE()));
    o = rsvd_options();
    members[0] = context, members[1] = second;
    OK(purlin_group_create(2, members, NULL, &group));
    BAD("group: has 2 contexts on the CPU: rows are distributed over GPUs alone", o.group = group);
    OK(purlin_group_destroy(group));
    OK(purlin_group_create(1, members, NULL, &group));
    o.group = group;
    OK(CREATE());
    OK(purlin_group_destroy(group));
    OK(purlin_rsvd_destroy(made));
    made = NULL;
    o = rsvd_options();
    OK(purlin_context_destroy(second));
  }
  BAD("options: struct_size is 0", o.struct_size = 0);
  BAD("rank: is -1", o.rank = -1);
  BAD("oversampling: is -2", o.oversampling = -2);
  BAD("power_iterations: is -2", o.power_iterations = -2);
  BAD("max_rank: is -1", o.max_rank = -1);
  BAD("block_columns: is -1", o.block_columns = -1);
  BAD("block_rows: is -1", o.block_rows = -1);
  BAD("resident_rows: is -2", o.resident_rows = -2);
  BAD("merge_width: is -1", o.merge_width = -1);
  BAD("probes: is -1", o.probes = -1);
  BAD("tolerance: is -1", o.tolerance = -1);
  BAD("tolerance: is 1", o.tolerance = 1);
  BAD("tolerance: is NaN", o.tolerance = NAN);
  BAD("smallest_ratio: is 2", o.smallest_ratio = 2);
  BAD("dtype: is U8", o.dtype = PURLIN_U8);
  BAD("dtype: is -2", o.dtype = -2);
  BAD("method: is 14", o.method = 14);
  BAD("method: is -1", o.method = -1);
  BAD("orthonormalization: is 4", o.orthonormalization = 4);
  BAD("sketch: is 4", o.sketch = PURLIN_SKETCH_GIVEN);
  BAD("center: is 3", o.center = 3);
  BAD("scale: is 2", o.scale = 2);
  BAD("scale: is set without center", o.scale = 1);
  BAD("sign: is 3", o.sign = 3);
  BAD("right: is 2", o.right = 2);
  BAD("error: is 4", o.error = 4);
  BAD("one_pass: is 2, 0 or 1 is needed", o.one_pass = 2);
  BAD("one_pass: is set for method AUTO, MERGE is needed", o.one_pass = 1);
  BAD("max_rank: is 3, which needs a tolerance", o.max_rank = 3);
  BAD("rank: is 4 beside a tolerance", (o.rank = 4, o.tolerance = 0.1));
  BAD("block_columns: is 3, which needs a tolerance", o.block_columns = 3);
  BAD("resident_rows: is 3 on a CPU", o.resident_rows = 3);
  BAD("method: is FUSED with a tolerance", (o.tolerance = 0.1, o.method = PURLIN_RSVD_METHOD_FUSED));
  BAD("merge_width: is 30 for method AUTO", o.merge_width = 30);
  BAD("oversampling: is 3 for DIRECT", (o.oversampling = 3, o.method = PURLIN_RSVD_METHOD_DIRECT));
  BAD("oversampling: is 3 for a tolerance", (o.oversampling = 3, o.rank = 0, o.tolerance = 0.1));
  BAD("power_iterations: is 3 for method ONE_PASS", (o.power_iterations = 3, o.method = PURLIN_RSVD_METHOD_ONE_PASS));
  BAD("merge_width: is 30 for method FUSED", (o.merge_width = 30, o.method = PURLIN_RSVD_METHOD_FUSED));
  BAD("smallest_ratio: is 0.5, which needs", (o.smallest_ratio = 0.5, o.method = PURLIN_RSVD_METHOD_GRAM));
  BAD("read_rate: is -1", o.read_rate = -1);
  BAD("read_rate: is NaN", o.read_rate = NAN);
  BAD("restart_path: is empty", o.restart_path = "");
  o.restart_path = "state";
  o.tolerance = 0.1;
  o.rank = 0;
  UNSUPPORTED("restart_path", CREATE());
  CHECK(made == NULL);
  OK(purlin_rsvd_create(context, NULL, &made));
  OK(purlin_rsvd_destroy(made));
  BAD_HANDLE("rsvd: was destroyed", purlin_rsvd_destroy(made));
  OK(purlin_rsvd_destroy(NULL));
#undef BAD
#undef CREATE
}

/* One thing wrong with the arguments of a call at a time. */
static void decompositions(void) {
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd *rsvd = make(&o), *none = make(NULL), *other = NULL;
  purlin_matrix *a = over(context, PURLIN_F64, 0, M, N, data), *mu = over(context, PURLIN_F64, 0, M, K, u);
  purlin_matrix *mv = over(context, PURLIN_F64, 0, N, K, v), *fixed = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, K, u);
  purlin_matrix *single = over(context, PURLIN_F32, 0, M, K, spare), *inside = over(context, PURLIN_F64, 0, M, K, data);
  purlin_matrix *abroad = over(foreign, PURLIN_F64, 0, M, N, data), *c = over(context, PURLIN_CF64, 0, 6, 6, spare);
  purlin_tensor *ts = vector_of(context, PURLIN_F64, K, s), *whole = vector_of(context, PURLIN_I32, K, spare);
  purlin_tensor *longer = vector_of(context, PURLIN_F64, K + 1, spare), *square = array2(context, PURLIN_F64, K, 1, spare);
  purlin_rsvd_info info = rsvd_info(), bad = info;
  bad.struct_size = 5;
#define COMPUTE(rsvd, a, u, s, v) purlin_rsvd_compute(rsvd, NULL, a, u, s, v, &info)
  BAD_HANDLE("rsvd: is NULL", COMPUTE(NULL, a, mu, ts, mv));
  BAD_HANDLE("rsvd: is a handle of another type", COMPUTE((purlin_rsvd *)context, a, mu, ts, mv));
  BAD_HANDLE("a: is NULL", COMPUTE(rsvd, NULL, mu, ts, mv));
  BAD_HANDLE("stream", purlin_rsvd_compute(rsvd, (purlin_stream *)context, a, mu, ts, mv, &info));
  BAD_ARGUMENT("rank: is 0", COMPUTE(none, a, mu, ts, mv));
  BAD_ARGUMENT("a: belongs to another context", COMPUTE(rsvd, abroad, NULL, ts, NULL));
  BAD_ARGUMENT("u: is 40 x 6, 90 x 6 is needed", COMPUTE(rsvd, a, mv, ts, NULL));
  BAD_ARGUMENT("v: is 90 x 6, 40 x 6 is needed", COMPUTE(rsvd, a, NULL, ts, mu));
  BAD_ARGUMENT("u: is F32, F64 is needed", COMPUTE(rsvd, a, single, ts, mv));
  BAD_ARGUMENT("u: was borrowed read-only", COMPUTE(rsvd, a, fixed, ts, mv));
  BAD_ARGUMENT("u: overlaps a", COMPUTE(rsvd, a, inside, ts, mv));
  BAD_ARGUMENT("s: is I32", COMPUTE(rsvd, a, mu, whole, mv));
  BAD_ARGUMENT("s: has dimensions [7], [6] are needed", COMPUTE(rsvd, a, mu, longer, mv));
  BAD_ARGUMENT("s: has dimensions [6, 1], [6] are needed", COMPUTE(rsvd, a, mu, square, mv));
  BAD_ARGUMENT("info: struct_size is 5", purlin_rsvd_compute(rsvd, NULL, a, mu, ts, mv, &bad));
  BAD_ARGUMENT("u: is given twice", COMPUTE(rsvd, a, a, ts, mv));
  BAD_ARGUMENT("v: is given twice", COMPUTE(rsvd, a, mu, ts, mu));
#define OTHER(status, text, change)                                        \
  do {                                                                     \
    o = rsvd_options();                                                    \
    change;                                                                \
    other = make(&o);                                                      \
    FAILS(PURLIN_ERROR_##status, text, COMPUTE(other, a, NULL, ts, NULL)); \
    OK(purlin_rsvd_destroy(other));                                        \
  } while (0)
  OTHER(INVALID_ARGUMENT, "rank: is 41, more than min(m, n) = 40", o.rank = 41);
  OTHER(INVALID_ARGUMENT, "rank: is", o.rank = INT64_MAX);
  OTHER(INVALID_ARGUMENT, "max_rank: is 41", (o.rank = 0, o.tolerance = 0.1, o.max_rank = 41));
  OTHER(INVALID_ARGUMENT, "method: is NYSTROM", o.method = PURLIN_RSVD_METHOD_NYSTROM);
  OTHER(INVALID_ARGUMENT, "method: is RAYLEIGH", o.method = PURLIN_RSVD_METHOD_RAYLEIGH);
  OTHER(INVALID_ARGUMENT, "merge_width: is 5, less than", (o.method = PURLIN_RSVD_METHOD_MERGE, o.merge_width = 5));
#undef OTHER
  o = rsvd_options();
  o.dtype = PURLIN_F64;
  other = make(&o);
  BAD_ARGUMENT("a: is CF64", COMPUTE(other, c, NULL, NULL, NULL));
  OK(purlin_rsvd_destroy(other));
  /* One pass of MERGE has no left factor. */
  o = rsvd_options();
  o.method = PURLIN_RSVD_METHOD_MERGE;
  o.one_pass = 1;
  other = make(&o);
  UNSUPPORTED("u", COMPUTE(other, a, mu, ts, NULL));
  OK(purlin_rsvd_destroy(other));
  BAD_HANDLE("rsvd: is NULL", purlin_rsvd_plan(NULL, a, 1, 1, &info));
  BAD_ARGUMENT("info: is NULL", purlin_rsvd_plan(rsvd, a, 1, 1, NULL));
  BAD_ARGUMENT("info: struct_size is 5", purlin_rsvd_plan(rsvd, a, 1, 1, &bad));
  BAD_ARGUMENT("with_u: is 2", purlin_rsvd_plan(rsvd, a, 2, 1, &info));
  BAD_ARGUMENT("with_v: is -1", purlin_rsvd_plan(rsvd, a, 1, -1, &info));
  BAD_ARGUMENT("rank: is 0", purlin_rsvd_plan(none, a, 1, 1, &info));
  BAD_HANDLE("rsvd: is NULL", purlin_rsvd_cancel(NULL));
  OK(purlin_rsvd_cancel(rsvd));
#undef COMPUTE
  OK(purlin_tensor_destroy(square));
  OK(purlin_tensor_destroy(longer));
  OK(purlin_tensor_destroy(whole));
  OK(purlin_tensor_destroy(ts));
  OK(purlin_matrix_destroy(c));
  OK(purlin_matrix_destroy(abroad));
  OK(purlin_matrix_destroy(inside));
  OK(purlin_matrix_destroy(single));
  OK(purlin_matrix_destroy(fixed));
  OK(purlin_matrix_destroy(mv));
  OK(purlin_matrix_destroy(mu));
  OK(purlin_matrix_destroy(a));
  OK(purlin_rsvd_destroy(none));
  OK(purlin_rsvd_destroy(rsvd));
}

static void others(void) {
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd *rsvd = make(&o);
  purlin_matrix *a = over(context, PURLIN_F64, 0, M, N, data), *mu = over(context, PURLIN_F64, 0, M, K, u);
  purlin_matrix *mv = over(context, PURLIN_F64, 0, N, K, v), *wide = over(context, PURLIN_F64, 0, M, N + 1, wider);
  purlin_matrix *h = over(context, PURLIN_F64, 0, N, N, spare), *bytes = over(context, PURLIN_U8, 0, N, 3, spare);
  purlin_matrix *fixed = over(context, PURLIN_F64, PURLIN_READ_ONLY, N, K, v), *abroad = over(foreign, PURLIN_F64, 0, N, K, v);
  purlin_tensor *ts = vector_of(context, PURLIN_F64, K, s), *few = vector_of(context, PURLIN_F64, 2, wider);
  purlin_tensor *right = vector_of(context, PURLIN_F64, K, spare), *left = vector_of(context, PURLIN_F64, K, spare + K);
  double frobenius = 0;
  BAD_HANDLE("q: is NULL", purlin_rsvd_range(rsvd, NULL, a, NULL, NULL, NULL));
  BAD_ARGUMENT("q: has 41 columns, more than min(m, n) = 40", purlin_rsvd_range(rsvd, NULL, a, wide, NULL, NULL));
  BAD_ARGUMENT("q: is 40 x 6, 90 x 6 is needed", purlin_rsvd_range(rsvd, NULL, a, mv, NULL, NULL));
  BAD_ARGUMENT("b: is 40 x 6, 6 x 40 is needed", purlin_rsvd_range(rsvd, NULL, a, mu, mv, NULL));
#define IDLE(text, change)                                                       \
  do {                                                                           \
    purlin_rsvd_options p = rsvd_options();                                      \
    purlin_rsvd *idle;                                                           \
    change;                                                                      \
    idle = make(&p);                                                             \
    BAD_ARGUMENT(text, purlin_rsvd_range(idle, NULL, a, mu, NULL, NULL));        \
    OK(purlin_rsvd_destroy(idle));                                               \
  } while (0)
  IDLE("method: is FUSED for a basis of the range", p.method = PURLIN_RSVD_METHOD_FUSED);
  IDLE("smallest_ratio: is 0.1 for a basis of the range", p.smallest_ratio = 0.1);
  IDLE("sign: is U_MAX for a basis of the range", p.sign = PURLIN_RSVD_SIGN_U_MAX);
  IDLE("error: is PROBES for a basis of the range", p.error = PURLIN_RSVD_ERROR_PROBES);
#undef IDLE
  BAD_ARGUMENT("a: is 90 x 40, not square", purlin_rsvd_symmetric(rsvd, NULL, a, ts, mv, NULL));
  BAD_ARGUMENT("lambda: has dimensions [2]", purlin_rsvd_symmetric(rsvd, NULL, h, few, mv, NULL));
  BAD_ARGUMENT("v: is 90 x 6, 40 x 6 is needed", purlin_rsvd_symmetric(rsvd, NULL, h, ts, mu, NULL));
#define ERROR(u, s, v) purlin_rsvd_error(rsvd, NULL, a, u, s, v, &frobenius, NULL, NULL)
  BAD_ARGUMENT("frobenius: is NULL", purlin_rsvd_error(rsvd, NULL, a, mu, ts, mv, NULL, NULL, NULL));
  BAD_HANDLE("u: is NULL", ERROR(NULL, ts, mv));
  BAD_HANDLE("s: is NULL", ERROR(mu, NULL, mv));
  BAD_HANDLE("v: is NULL", ERROR(mu, ts, NULL));
  BAD_ARGUMENT("u: is 90 x 6, 90 x 2 is needed", ERROR(mu, few, mv));
  BAD_ARGUMENT("v: is 90 x 6, 40 x 6 is needed", ERROR(mu, ts, mu));
#undef ERROR
#define RESIDUALS(l, r) purlin_rsvd_residuals(rsvd, NULL, a, mu, ts, mv, l, r, NULL)
  BAD_HANDLE("left: is NULL", RESIDUALS(NULL, right));
  BAD_HANDLE("right: is NULL", RESIDUALS(left, NULL));
  BAD_ARGUMENT("left: has dimensions [2]", RESIDUALS(few, left));
  BAD_ARGUMENT("right: is given twice", RESIDUALS(right, right));
#undef RESIDUALS
  BAD_HANDLE("rsvd: is NULL", purlin_rsvd_sketch(NULL, NULL, mv));
  BAD_HANDLE("omega: is NULL", purlin_rsvd_sketch(rsvd, NULL, NULL));
  BAD_ARGUMENT("omega: is U8", purlin_rsvd_sketch(rsvd, NULL, bytes));
  BAD_ARGUMENT("was borrowed read-only", purlin_rsvd_sketch(rsvd, NULL, fixed));
  BAD_ARGUMENT("belongs to another context", purlin_rsvd_sketch(rsvd, NULL, abroad));
  BAD_ARGUMENT("belongs to another context", purlin_rsvd_set_sketch(rsvd, abroad));
  /* A sketch that does not fit the matrix is refused when there is one. */
  OK(purlin_rsvd_set_sketch(rsvd, mu));
  BAD_ARGUMENT("omega: is 90 x 6, 40 x 16", purlin_rsvd_compute(rsvd, NULL, a, NULL, ts, NULL, NULL));
  OK(purlin_tensor_destroy(left));
  OK(purlin_tensor_destroy(right));
  OK(purlin_tensor_destroy(few));
  OK(purlin_tensor_destroy(ts));
  OK(purlin_matrix_destroy(abroad));
  OK(purlin_matrix_destroy(fixed));
  OK(purlin_matrix_destroy(bytes));
  OK(purlin_matrix_destroy(h));
  OK(purlin_matrix_destroy(wide));
  OK(purlin_matrix_destroy(mv));
  OK(purlin_matrix_destroy(mu));
  OK(purlin_matrix_destroy(a));
  OK(purlin_rsvd_destroy(rsvd));
}

/* `user` points to the number of blocks that are read before the function returns 42. */
static int32_t read_some(const int64_t *first, const int64_t *count, void *block, void *user) {
  int64_t i, j;
  if ((*(int *)user)-- == 0) return 42;
  for (j = 0; j < count[1]; j++)
    for (i = 0; i < count[0]; i++) ((double *)block)[i + count[0] * j] = data[first[1] + j + M * (first[0] + i)];
  return 0;
}

static int32_t apply_some(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                          uint64_t cuda_stream, void *user) {
  (void)cuda_stream;
  (void)x, (void)ldx;
  memset(y, 0, sizeof(double) * (size_t)(ldy * (count - 1) + (adjoint ? N : M)));
  return (*(int *)user)-- == 0 ? 43 : 0;
}

static int32_t stop(int64_t step, int64_t steps, double measure, void *user) {
  (void)step, (void)steps, (void)measure;
  return user ? purlin_rsvd_cancel(*(purlin_rsvd **)user) != PURLIN_SUCCESS : 1;
}

static void runs_that_fail(void) {
  const int64_t by_rows[2] = {N, M};
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd *rsvd = NULL, *self = NULL;
  purlin_source *source = NULL;
  purlin_matrix *a = NULL, *op = NULL;
  purlin_tensor *ts = vector_of(context, PURLIN_F64, K, s);
  purlin_rsvd_info info = rsvd_info(), last = info, bad = info;
  int left, k;
  bad.struct_size = 5;
  o.block_rows = 10;
  o.method = PURLIN_RSVD_METHOD_FUSED;
  rsvd = make(&o);
  OK(purlin_source_from_callback(context, PURLIN_F64, 2, by_rows, read_some, &left, &source));
  OK(purlin_matrix_from_source(context, source, PURLIN_ROW_MAJOR, &a));
  OK(purlin_source_destroy(source));
  BAD_ARGUMENT("rsvd: has no report yet", purlin_rsvd_last_info(rsvd, &last));
  for (k = 0; k < 27; k += 13) {
    left = k;
    FAILS(PURLIN_ERROR_IO, "returned 42 for the block", purlin_rsvd_compute(rsvd, NULL, a, NULL, ts, NULL, NULL));
  }
  BAD_ARGUMENT("rsvd: has no report yet", purlin_rsvd_last_info(rsvd, &last));
  left = -1;
  OK(purlin_rsvd_compute(rsvd, NULL, a, NULL, ts, NULL, &info));
  CHECK(value_error(s) < 1e-6);
  OK(purlin_rsvd_last_info(rsvd, &last));
  CHECK(memcmp(&info, &last, sizeof last) == 0 && last.passes > 0);
  BAD_ARGUMENT("info: is NULL", purlin_rsvd_last_info(rsvd, NULL));
  BAD_ARGUMENT("info: struct_size is 5", purlin_rsvd_last_info(rsvd, &bad));
  BAD_HANDLE("rsvd: is NULL", purlin_rsvd_last_info(NULL, &last));
  OK(purlin_matrix_from_operator(context, PURLIN_F64, M, N, apply_some, &left, PURLIN_HOST, &op));
  BAD_ARGUMENT("block_rows: is 10", purlin_rsvd_compute(rsvd, NULL, op, NULL, ts, NULL, NULL));
  o.block_rows = 0;
  self = make(&o);
  left = 1;
  FAILS(PURLIN_ERROR_IO, "apply: returned 43", purlin_rsvd_compute(self, NULL, op, NULL, ts, NULL, NULL));
  OK(purlin_rsvd_destroy(self));
  OK(purlin_matrix_destroy(op));
  /* Data that are not finite. */
  data[25] = NAN;
  left = -1;
  BAD_ARGUMENT("a: has NaN in row 25, column 0", purlin_rsvd_compute(rsvd, NULL, a, NULL, ts, NULL, NULL));
  data[25] = INFINITY;
  BAD_ARGUMENT("a: has inf in row 25, column 0", purlin_rsvd_compute(rsvd, NULL, a, NULL, ts, NULL, NULL));
  data[25] = entry(25, 0);
  /* Refused calls leave the report of the previous run. */
  OK(purlin_rsvd_last_info(rsvd, &last));
  CHECK(memcmp(&info, &last, sizeof last) == 0);
  OK(purlin_rsvd_compute(rsvd, NULL, a, NULL, ts, NULL, NULL));
  s[0] = 0;
  OK(purlin_rsvd_compute_once(context, NULL, a, &o, NULL, ts, NULL, &info));
  CHECK(value_error(s) < 1e-6 && info.passes == last.passes);
  BAD_ARGUMENT("rank: is 0", purlin_rsvd_compute_once(context, NULL, a, NULL, NULL, ts, NULL, NULL));
  BAD_HANDLE("context: is NULL", purlin_rsvd_compute_once(NULL, NULL, a, &o, NULL, ts, NULL, NULL));
  BAD_HANDLE("a: is NULL", purlin_rsvd_compute_once(context, NULL, NULL, &o, NULL, ts, NULL, NULL));
  OK(purlin_rsvd_destroy(rsvd));
  /* Cancelled by the function's result, and by another call. */
  o.progress = stop;
  rsvd = make(&o);
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_rsvd_compute(rsvd, NULL, a, NULL, ts, NULL, NULL));
  OK(purlin_rsvd_destroy(rsvd));
  o.progress_user = &self;
  self = make(&o);
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_rsvd_compute(self, NULL, a, NULL, ts, NULL, NULL));
  OK(purlin_rsvd_destroy(self));
  OK(purlin_tensor_destroy(ts));
  OK(purlin_matrix_destroy(a));
}

/* A reader that takes longer for a block than the interval of reports. */
static int32_t read_slowly(const int64_t *first, const int64_t *count, void *block, void *user) {
  const struct timespec pause = {0, 60000000};
  int64_t j;
  ++*(int *)user;
  nanosleep(&pause, NULL);
  for (j = 0; j < count[1]; j++) {
    int64_t i;
    for (i = 0; i < count[0]; i++)
      ((double *)block)[i + count[0] * j] = data[first[1] + j + M * (first[0] + i)];
  }
  return 0;
}

static int32_t count_reports(int64_t step, int64_t steps, double measure, void *user) {
  int64_t *seen = user;
  (void)measure;
  CHECK(step >= seen[1] && step <= steps);
  seen[0]++, seen[1] = step, seen[2] = steps;
  return 0;
}

/* A pass over a slow reader reports after its blocks, not at its end alone. */
static void reports_within_a_pass(void) {
  static const int32_t methods[] = {PURLIN_RSVD_METHOD_DIRECT, PURLIN_RSVD_METHOD_FUSED, PURLIN_RSVD_METHOD_MERGE};
  const int64_t by_rows[2] = {N, M};
  purlin_tensor *ts = vector_of(context, PURLIN_F64, K, s);
  size_t k;
  for (k = 0; k < COUNT(methods); k++) {
    purlin_rsvd_options o = rsvd_options();
    purlin_rsvd_info info = rsvd_info();
    purlin_source *source = NULL;
    purlin_matrix *a = NULL;
    int64_t seen[3] = {0, 0, 0};
    int reads = 0;
    OK(purlin_source_from_callback(context, PURLIN_F64, 2, by_rows, read_slowly, &reads, &source));
    OK(purlin_matrix_from_source(context, source, PURLIN_ROW_MAJOR, &a));
    OK(purlin_source_destroy(source));
    o.method = methods[k];
    o.block_rows = 10;
    o.progress = count_reports;
    o.progress_user = seen;
    OK(purlin_rsvd_compute_once(context, NULL, a, &o, NULL, ts, NULL, &info));
    CHECK(reads >= M / 10 && seen[1] == seen[2]);
    /* A block that is read ahead may share its report with the one before. */
    if (!(2 * seen[0] > reads)) fprintf(stderr, "method %d: %d reports of %d blocks\n", methods[k], (int)seen[0], reads);
    CHECK(2 * seen[0] > reads && seen[0] > info.passes);
    /* Steps are blocks. */
    CHECK(seen[2] == info.passes * info.blocks);
    OK(purlin_matrix_destroy(a));
  }
  OK(purlin_tensor_destroy(ts));
}

/* If the plan succeeds, the run stays inside the context's limit. If it fails, so does the run, before it reads data. */
static void limits(void) {
  int64_t limit, accepted = 0, refused = 0;
  for (limit = 1 << 10; limit <= 1 << 22; limit *= 2) {
    purlin_context_options c;
    purlin_context *small = NULL;
    purlin_rsvd_options o = rsvd_options();
    purlin_rsvd_info planned, done;
    purlin_rsvd *rsvd = NULL;
    purlin_matrix *a, *mu, *mv;
    OK(purlin_context_options_init(&c, sizeof c));
    c.backend = PURLIN_BACKEND_CPU;
    c.host_memory_limit = limit;
    OK(purlin_context_create(&c, &small));
    OK(purlin_rsvd_info_init(&planned, sizeof planned));
    OK(purlin_rsvd_info_init(&done, sizeof done));
    OK(purlin_rsvd_create(small, &o, &rsvd));
    a = over(small, PURLIN_F64, 0, M, N, data);
    mu = over(small, PURLIN_F64, 0, M, K, u);
    mv = over(small, PURLIN_F64, 0, N, K, v);
    if (purlin_rsvd_plan(rsvd, a, 1, 1, &planned) == PURLIN_SUCCESS) {
      OK(purlin_rsvd_compute(rsvd, NULL, a, mu, NULL, mv, &done));
      /* These data fall so fast that columns of the sketch depend on each other: more than is planned otherwise. */
      CHECK(done.method == planned.method && done.host_bytes_used <= limit);
      CHECK(planned.host_bytes > 0 && planned.host_bytes <= limit && 2 * planned.host_bytes > done.host_bytes_used);
      accepted++;
    } else {
      CHECK(strstr(purlin_last_error_message(), "under the context's limit") != NULL);
      FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "bytes of host memory",
            purlin_rsvd_compute(rsvd, NULL, a, mu, NULL, mv, &done));
      refused++;
    }
    OK(purlin_matrix_destroy(a));
    OK(purlin_matrix_destroy(mu));
    OK(purlin_matrix_destroy(mv));
    OK(purlin_rsvd_destroy(rsvd));
    OK(purlin_context_destroy(small));
  }
  CHECK(accepted > 0 && refused > 0);
}

/* Shapes at the edge: every entry of every factor is a finite number, and columns are orthonormal. Without entries there is no
   rank to decompose to. */
static void shapes(void) {
  static const int sizes[][3] = {{1, 1, 1}, {5, 1, 1}, {1, 5, 1}, {7, 7, 7}, {3, 9, 3}, {9, 3, 2}, {0, 4, 1}, {4, 0, 1}};
  size_t n;
  int zero;
  for (zero = 0; zero < 2; zero++)
    for (n = 0; n < COUNT(sizes); n++) {
      const int rows = sizes[n][0], cols = sizes[n][1], k = sizes[n][2];
      purlin_rsvd_options o = rsvd_options();
      purlin_rsvd *rsvd = NULL;
      purlin_matrix *a = over(context, PURLIN_F64, 0, rows, cols, zero ? spare : data);
      purlin_matrix *mu = over(context, PURLIN_F64, 0, rows, k, u), *mv = over(context, PURLIN_F64, 0, cols, k, v);
      purlin_tensor *ts = vector_of(context, PURLIN_F64, k, s);
      memset(spare, 0, sizeof spare);
      o.rank = k;
      rsvd = make(&o);
      if (rows == 0 || cols == 0)
        FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "rank: is 1, more than min(m, n) = 0",
              purlin_rsvd_compute(rsvd, NULL, a, mu, ts, mv, NULL));
      else {
        OK(purlin_rsvd_compute(rsvd, NULL, a, mu, ts, mv, NULL));
        CHECK(skewness(u, rows, k) < 1e-12 && skewness(v, cols, k) < 1e-12);
        CHECK((s[0] == 0) == zero && s[k - 1] >= 0 && s[k - 1] <= s[0]);
      }
      OK(purlin_rsvd_destroy(rsvd));
      OK(purlin_tensor_destroy(ts));
      OK(purlin_matrix_destroy(mv));
      OK(purlin_matrix_destroy(mu));
      OK(purlin_matrix_destroy(a));
    }
}

int main(void) {
  int i, j;
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) data[i + M * j] = entry(i, j);
  context = cpu_context(2);
  foreign = cpu_context(1);
  creation();
  decompositions();
  others();
  runs_that_fail();
  reports_within_a_pass();
  limits();
  shapes();
  OK(purlin_context_destroy(foreign));
  OK(purlin_context_destroy(context));
  return finish();
}
