/* Robust PCA: a matrix of known parts is split by every entry point, and every documented refusal provoked by name. */
#include "check.h"

#include <math.h>

enum { M = 120, N = 80, RANK = 3, ENTRIES = M * N };

static purlin_context *context, *foreign;
/* Column-major: the matrix, its parts, and arrays for results. */
static double matrix[ENTRIES], low[ENTRIES], rare[ENTRIES], got_low[ENTRIES], got_rare[ENTRIES];
static float single[ENTRIES];
static uint8_t observed[ENTRIES];

static double uniform(uint64_t *state) {
  return (double)(draw(state) >> 11) / 9007199254740992.0 * 2 - 1;
}

/* A product of M x 3 and 3 x N, and one entry in twenty of up to 10 besides. */
static void make(void) {
  uint64_t state = 7;
  static double left[M * RANK], right[RANK * N];
  int i, j, r;
  for (i = 0; i < M * RANK; i++) left[i] = uniform(&state) * 1.7;
  for (i = 0; i < RANK * N; i++) right[i] = uniform(&state) * 1.7;
  for (j = 0; j < N; j++)
    for (i = 0; i < M; i++) {
      int at = i + M * j;
      low[at] = 0;
      for (r = 0; r < RANK; r++) low[at] += left[i + M * r] * right[r + RANK * j];
      rare[at] = uniform(&state) > 0.9 ? 10 * uniform(&state) : 0;
      matrix[at] = low[at] + rare[at];
      single[at] = (float)matrix[at];
      observed[at] = uniform(&state) > -0.8;
    }
}

static double difference(const double *a, const double *b) {
  double above = 0, below = 0;
  int k;
  for (k = 0; k < ENTRIES; k++) above += (a[k] - b[k]) * (a[k] - b[k]), below += b[k] * b[k];
  return sqrt(above / below);
}

static purlin_matrix *borrow(purlin_dtype dtype, purlin_flags flags, void *data) {
  purlin_matrix *m = NULL;
  OK(purlin_matrix_borrow(context, dtype, flags, M, N, flags & PURLIN_ROW_MAJOR ? N : M, data, &m));
  return m;
}

static purlin_rpca_options rpca_options(void) {
  purlin_rpca_options o;
  OK(purlin_rpca_options_init(&o, sizeof o));
  return o;
}

static purlin_rpca *rpca_of(purlin_context *on, const purlin_rpca_options *o) {
  purlin_rpca *rpca = NULL;
  OK(purlin_rpca_create(on, o, &rpca));
  return rpca;
}

static purlin_rpca_info rpca_info(void) {
  purlin_rpca_info info;
  OK(purlin_rpca_info_init(&info, sizeof info));
  return info;
}

static void dense_parts(void) {
  purlin_matrix *m = borrow(PURLIN_F64, PURLIN_READ_ONLY, matrix), *l = borrow(PURLIN_F64, 0, got_low);
  purlin_matrix *s = borrow(PURLIN_F64, 0, got_rare), *across = borrow(PURLIN_F64, PURLIN_ROW_MAJOR, got_rare);
  purlin_matrix *f = borrow(PURLIN_F32, PURLIN_READ_ONLY, single), *mask = borrow(PURLIN_U8, PURLIN_READ_ONLY, observed);
  purlin_rpca_options o = rpca_options();
  purlin_rpca_info info = rpca_info();
  static float single_low[ENTRIES];
  purlin_matrix *fl = borrow(PURLIN_F32, 0, single_low);
  int i, j, right = 1, hidden = 1;
  OK(purlin_rpca_compute_once(context, NULL, m, NULL, NULL, l, s, &info));
  CHECK(info.converged == 1 && info.rank == RANK && info.dtype == PURLIN_F64 && info.residual < 1e-7);
  CHECK(info.iterations > 5 && info.iterations < 100 && info.nonzeros > 0 && info.passes > info.iterations);
  CHECK(fabs(info.lambda - 1 / sqrt((double)M)) < 1e-15);
  CHECK(fabs(info.objective - (info.nuclear_norm + info.lambda * info.one_norm)) < 1e-9 * info.objective);
  CHECK(difference(got_low, low) < 1e-6 && difference(got_rare, rare) < 1e-6);
  /* One part alone, in the other order. */
  OK(purlin_rpca_compute_once(context, NULL, m, NULL, &o, NULL, across, NULL));
  for (j = 0; j < N; j++)
    for (i = 0; i < M; i++) right &= fabs(got_rare[j + N * i] - rare[i + M * j]) < 1e-4;
  CHECK(right);
  OK(purlin_rpca_compute_once(context, NULL, f, NULL, &o, fl, NULL, &info));
  CHECK(info.dtype == PURLIN_F32 && info.rank == RANK);
  for (i = 0; i < ENTRIES; i++) got_low[i] = single_low[i];
  CHECK(difference(got_low, low) < 1e-4);
  /* The type of computing may be another than the matrix's. */
  o.dtype = PURLIN_F64;
  OK(purlin_rpca_compute_once(context, NULL, f, NULL, &o, l, NULL, &info));
  CHECK(info.dtype == PURLIN_F64 && difference(got_low, low) < 1e-5);
  /* Entries that are not observed have no effect, and are recovered. */
  for (i = 0; i < ENTRIES; i++)
    if (!observed[i]) matrix[i] = 1e3;
  OK(purlin_rpca_compute_once(context, NULL, m, mask, &o, l, s, &info));
  CHECK(difference(got_low, low) < 1e-4);
  for (i = 0; i < ENTRIES; i++) hidden &= observed[i] || got_rare[i] == 0;
  CHECK(hidden);
  for (i = 0; i < ENTRIES; i++) matrix[i] = low[i] + rare[i];
  o.max_iterations = 3;
  FAILS(PURLIN_ERROR_NO_CONVERGENCE, "after 3 iterations",
        purlin_rpca_compute_once(context, NULL, m, NULL, &o, l, s, &info));
  CHECK(info.converged == 0 && info.iterations == 3 && info.residual > 1e-7);
  OK(purlin_matrix_destroy(fl));
  OK(purlin_matrix_destroy(mask));
  OK(purlin_matrix_destroy(f));
  OK(purlin_matrix_destroy(across));
  OK(purlin_matrix_destroy(s));
  OK(purlin_matrix_destroy(l));
  OK(purlin_matrix_destroy(m));
}

static void sparse_rows(void) {
  purlin_matrix *m = borrow(PURLIN_F64, 0, matrix), *s = NULL;
  purlin_matrix_info what;
  purlin_rpca_options o = rpca_options();
  purlin_rpca_info info = rpca_info();
  purlin_rpca *rpca;
  int64_t row, k, wanted = 0, right = 1;
  o.threshold = 1e-3;
  rpca = rpca_of(context, &o);
  OK(purlin_rpca_compute_csr(rpca, NULL, m, NULL, NULL, &s, &info));
  OK(purlin_matrix_info_init(&what, sizeof what));
  OK(purlin_matrix_properties(s, &what));
  CHECK(what.storage == PURLIN_CSR && what.rows == M && what.cols == N && what.dtype == PURLIN_F64 && what.owned == 1);
  CHECK(what.nnz == info.nonzeros && what.index_base == 0);
  CHECK(what.row_ptr_type == PURLIN_I64 && what.col_idx_type == PURLIN_I32);
  for (k = 0; k < ENTRIES; k++) wanted += fabs(rare[k]) > 1e-3;
  CHECK(llabs(what.nnz - wanted) <= 2);
  for (row = 0; row < M; row++) {
    const int64_t *ptr = (const int64_t *)(uintptr_t)what.row_ptr;
    const int32_t *col = (const int32_t *)(uintptr_t)what.col_idx;
    for (k = ptr[row]; k < ptr[row + 1]; k++) {
      right &= k == ptr[row] || col[k] > col[k - 1];
      right &= fabs(((const double *)(uintptr_t)what.data)[k] - rare[row + M * col[k]]) < 1e-4;
    }
  }
  CHECK(right);
  OK(purlin_matrix_destroy(s));
  s = NULL;
  BAD_ARGUMENT("sparse: is NULL", purlin_rpca_compute_csr(rpca, NULL, m, NULL, NULL, NULL, NULL));
  OK(purlin_rpca_destroy(rpca));
  o.max_iterations = 2;
  rpca = rpca_of(context, &o);
  FAILS(PURLIN_ERROR_NO_CONVERGENCE, "after 2", purlin_rpca_compute_csr(rpca, NULL, m, NULL, NULL, &s, NULL));
  OK(purlin_rpca_destroy(rpca));
  OK(purlin_matrix_destroy(s));
  OK(purlin_matrix_destroy(m));
}

/* Blocks of columns of the matrix; the user pointer is a code to return. */
static int32_t read_block(const int64_t *first, const int64_t *count, void *block, void *user) {
  int64_t i, j;
  for (j = 0; j < count[1]; j++)
    for (i = 0; i < count[0]; i++)
      ((double *)block)[i + count[0] * j] = matrix[first[0] + i + M * (first[1] + j)];
  return (int32_t)(intptr_t)user;
}

static int32_t write_block(const int64_t *first, const int64_t *count, const void *block, void *user) {
  int64_t i, j;
  for (j = 0; j < count[1]; j++)
    for (i = 0; i < count[0]; i++)
      ((double *)user)[first[0] + i + M * (first[1] + j)] = ((const double *)block)[i + count[0] * j];
  return 0;
}

static void streamed(void) {
  const int64_t dims[2] = {M, N}, wrong[2] = {N, M};
  purlin_source *source = NULL;
  purlin_matrix *m = NULL;
  purlin_sink *l = NULL, *s = NULL;
  purlin_rpca *rpca = rpca_of(context, NULL);
  purlin_tensor *t = array2(context, PURLIN_F64, M, N, got_rare), *same = array2(context, PURLIN_F64, M, N, matrix), *twin;
  purlin_rpca_info info = rpca_info();
  OK(purlin_source_from_callback(context, PURLIN_F64, 2, dims, read_block, NULL, &source));
  OK(purlin_matrix_from_source(context, source, 0, &m));
  OK(purlin_source_destroy(source));
  OK(purlin_sink_to_callback(context, PURLIN_F64, 2, dims, write_block, got_low, &l));
  OK(purlin_sink_to_tensor(context, t, &s));
  memset(got_low, 0, sizeof got_low);
  OK(purlin_rpca_compute_to_sinks(rpca, NULL, m, NULL, l, s, &info));
  CHECK(info.rank == RANK && info.bytes_read > 0 && info.bytes_read % (int64_t)sizeof matrix == 0);
  CHECK(difference(got_low, low) < 1e-6 && difference(got_rare, rare) < 1e-6);
  BAD_ARGUMENT("low_rank: was used by an earlier run",
               purlin_rpca_compute_to_sinks(rpca, NULL, m, NULL, l, NULL, NULL));
  OK(purlin_sink_destroy(s));
  OK(purlin_sink_destroy(l));
  OK(purlin_sink_to_callback(context, PURLIN_F64, 2, wrong, write_block, got_low, &l));
  BAD_ARGUMENT("low_rank: has dimensions", purlin_rpca_compute_to_sinks(rpca, NULL, m, NULL, l, NULL, NULL));
  BAD_ARGUMENT("sparse: has dimensions", purlin_rpca_compute_to_sinks(rpca, NULL, m, NULL, NULL, l, NULL));
  BAD_ARGUMENT("sparse: is given twice", purlin_rpca_compute_to_sinks(rpca, NULL, m, NULL, l, l, NULL));
  OK(purlin_sink_destroy(l));
  OK(purlin_matrix_destroy(m));
  m = borrow(PURLIN_F64, 0, matrix);
  OK(purlin_sink_to_tensor(context, same, &l));
  BAD_ARGUMENT("low_rank: overlaps m", purlin_rpca_compute_to_sinks(rpca, NULL, m, NULL, l, NULL, NULL));
  OK(purlin_sink_destroy(l));
  /* Two sinks to one array: one part would be lost. */
  twin = array2(context, PURLIN_F64, M, N, got_rare);
  OK(purlin_sink_to_tensor(context, t, &l));
  OK(purlin_sink_to_tensor(context, twin, &s));
  BAD_ARGUMENT("sparse: overlaps low_rank", purlin_rpca_compute_to_sinks(rpca, NULL, m, NULL, l, s, NULL));
  OK(purlin_sink_destroy(s));
  OK(purlin_sink_destroy(l));
  OK(purlin_tensor_destroy(twin));
  OK(purlin_matrix_destroy(m));
  /* A reader that fails ends the run with its number. */
  OK(purlin_source_from_callback(context, PURLIN_F64, 2, dims, read_block, (void *)(intptr_t)42, &source));
  OK(purlin_matrix_from_source(context, source, 0, &m));
  FAILS(PURLIN_ERROR_IO, "returned 42", purlin_rpca_compute_to_sinks(rpca, NULL, m, NULL, NULL, NULL, NULL));
  OK(purlin_matrix_destroy(m));
  OK(purlin_source_destroy(source));
  OK(purlin_rpca_destroy(rpca));
  OK(purlin_tensor_destroy(same));
  OK(purlin_tensor_destroy(t));
}

/* A run takes the bytes of its plan, and a lower limit is refused before the run. */
static void plans(void) {
  purlin_rpca_info planned = rpca_info(), info = rpca_info();
  purlin_matrix *m = borrow(PURLIN_F64, 0, matrix), *there = NULL;
  purlin_context_options o;
  purlin_context *little = NULL;
  purlin_rpca *rpca = rpca_of(context, NULL);
  OK(purlin_rpca_plan(rpca, m, NULL, &planned));
  CHECK((planned.host_bytes > 2 * M * N * 8 || !is_on_cpu()) && planned.iterations == 0 && planned.converged == 0);
  OK(purlin_rpca_compute_once(context, NULL, m, NULL, NULL, NULL, NULL, &info));
  CHECK(info.host_bytes == planned.host_bytes && info.host_bytes_used > 0);
  OK(purlin_rpca_plan(rpca, m, NULL, NULL));
  BAD_HANDLE("m: is NULL", purlin_rpca_plan(rpca, NULL, NULL, &planned));
  OK(purlin_rpca_destroy(rpca));
  OK(purlin_context_options_init(&o, sizeof o));
  o.backend = PURLIN_BACKEND_CPU;
  o.host_memory_limit = 20000;
  OK(purlin_context_create(&o, &little));
  OK(purlin_matrix_borrow(little, PURLIN_F64, 0, M, N, M, matrix, &there));
  rpca = rpca_of(little, NULL);
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "max_rank", purlin_rpca_plan(rpca, there, NULL, &planned));
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "max_rank", purlin_rpca_compute(rpca, NULL, there, NULL, NULL, NULL, NULL));
  OK(purlin_rpca_destroy(rpca));
  OK(purlin_matrix_destroy(there));
  OK(purlin_context_destroy(little));
  OK(purlin_matrix_destroy(m));
}

static int32_t stop_at(int64_t step, int64_t steps, double measure, void *user) {
  (void)steps, (void)measure;
  return step >= *(int64_t *)user;
}

static void refusals(void) {
  purlin_matrix *m = borrow(PURLIN_F64, 0, matrix), *l = borrow(PURLIN_F64, 0, got_low), *s = borrow(PURLIN_F64, 0, got_rare);
  purlin_matrix *f = borrow(PURLIN_F32, 0, single), *fixed = borrow(PURLIN_F64, PURLIN_READ_ONLY, got_low);
  purlin_matrix *bytes = borrow(PURLIN_U8, 0, observed), *small = NULL, *row = NULL;
  purlin_rpca *rpca = NULL;
  const purlin_context *members[2];
  purlin_group *group = NULL;
  purlin_rpca_options o = rpca_options();
  purlin_rpca_info info = rpca_info();
  int64_t last = 0;
  double twelve[12];
#define SPLIT(m, mask, l, s) purlin_rpca_compute_once(context, NULL, m, mask, &o, l, s, &info)
#define BAD(text, change)                            \
  do {                                               \
    change;                                          \
    BAD_ARGUMENT(text, SPLIT(m, NULL, l, s));        \
    o = rpca_options();                              \
  } while (0)
  BAD_ARGUMENT("options: is NULL", purlin_rpca_options_init(NULL, sizeof o));
  BAD_ARGUMENT("info: struct_size is 1", purlin_rpca_info_init(&info, 1));
  info = rpca_info();
  BAD("lambda: is -1", o.lambda = -1);
  BAD("lambda: is NaN", o.lambda = NAN);
  BAD("tolerance: is -1", o.tolerance = -1);
  BAD("mu: is inf, a finite number of at least 0 is needed", o.mu = INFINITY);
  BAD("rho: is 1", o.rho = 1);
  BAD("threshold: is -1", o.threshold = -1);
  BAD("scale: is 0", o.scale = 0);
  BAD("max_iterations: is 0", o.max_iterations = 0);
  BAD("max_rank: is -1", o.max_rank = -1);
  BAD("fixed_rank: is -1", o.fixed_rank = -1);
  BAD("max_rank: is 5 beside fixed_rank = 3", (o.max_rank = 5, o.fixed_rank = 3));
  BAD("max_rank: is 2 beside fixed_rank = 3", (o.max_rank = 2, o.fixed_rank = 3));
  BAD("power_iterations: is -1", o.power_iterations = -1);
  BAD("oversampling: is -1", o.oversampling = -1);
  BAD("block_rows: is -1", o.block_rows = -1);
  BAD("warm_start: is 2", o.warm_start = 2);
  BAD("frames: is 2", o.frames = 2);
  BAD("frames: is ROWS, but m is", o.frames = PURLIN_RPCA_FRAMES_ROWS);
  BAD("dtype: is U8", o.dtype = PURLIN_U8);
  BAD("dtype: is 99", o.dtype = 99);
  BAD("reserved: is 1", o.reserved = 1);
  BAD("options: struct_size is 3", o.struct_size = 3);
  info.struct_size = 2;
  BAD_ARGUMENT("info: struct_size is 2", SPLIT(m, NULL, l, s));
  info = rpca_info();
  BAD_HANDLE("context: is NULL", purlin_rpca_compute_once(NULL, NULL, m, NULL, NULL, l, s, NULL));
  BAD_HANDLE("m: is NULL", SPLIT(NULL, NULL, l, s));
  BAD_HANDLE("m: is a handle of another type", SPLIT((purlin_matrix *)context, NULL, l, s));
  BAD_ARGUMENT("m: belongs to another", purlin_rpca_compute_once(foreign, NULL, m, NULL, NULL, NULL, NULL, NULL));
  BAD_ARGUMENT("low_rank: is F32, F64 is needed", SPLIT(m, NULL, f, s));
  BAD_ARGUMENT("low_rank: was borrowed read-only", SPLIT(m, NULL, fixed, s));
  BAD_ARGUMENT("low_rank: overlaps m", SPLIT(l, NULL, fixed, s));
  BAD_ARGUMENT("mask: is F64, U8 is needed", SPLIT(m, l, NULL, s));
  members[0] = context, members[1] = foreign;
  OK(purlin_group_create(2, members, NULL, &group));
  if (is_on_cpu()) BAD("group: has 2 contexts on the CPU: rows are distributed over GPUs alone", o.group = group);
  OK(purlin_group_destroy(group));
  OK(purlin_group_create(1, members + 1, NULL, &group));
  BAD("group: begins with another context", o.group = group);
  OK(purlin_group_destroy(group));
  o.group = group;
  BAD_HANDLE("group: was destroyed", SPLIT(m, NULL, l, s));
  BAD_HANDLE("group: was destroyed", purlin_rpca_create(context, &o, &rpca));
  o = rpca_options();
  BAD_ARGUMENT("sparse: is given twice", SPLIT(m, NULL, l, l));
  BAD_ARGUMENT("low_rank: is given twice", SPLIT(m, NULL, m, s));
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, 3, 4, 3, twelve, &small));
  BAD_ARGUMENT("low_rank: is 3 x 4, 120 x 80 is needed", SPLIT(m, NULL, small, s));
  BAD_ARGUMENT("sparse: is 3 x 4, 120 x 80 is needed", SPLIT(m, NULL, l, small));
  OK(purlin_matrix_destroy(small));
  OK(purlin_matrix_borrow(context, PURLIN_U8, 0, 3, 4, 3, observed, &small));
  BAD_ARGUMENT("mask: is 3 x 4, 120 x 80 is needed", SPLIT(m, small, l, s));
  OK(purlin_matrix_destroy(small));
  matrix[5] = NAN;
  BAD_ARGUMENT("m", SPLIT(m, NULL, l, s));
  matrix[5] = low[5] + rare[5];
  o.progress = stop_at;
  o.progress_user = &last;
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", SPLIT(m, NULL, l, s));
  o = rpca_options();
  /* An empty matrix has empty parts. */
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, 0, 4, 1, NULL, &row));
  OK(SPLIT(row, NULL, NULL, NULL));
  CHECK(info.rank == 0);
  OK(purlin_matrix_destroy(row));
  /* The same objects work after all refusals. */
  OK(SPLIT(m, NULL, l, s));
  CHECK(info.rank == RANK);
#undef BAD
#undef SPLIT
  OK(purlin_matrix_destroy(bytes));
  OK(purlin_matrix_destroy(fixed));
  OK(purlin_matrix_destroy(f));
  OK(purlin_matrix_destroy(s));
  OK(purlin_matrix_destroy(l));
  OK(purlin_matrix_destroy(m));
}

int main(void) {
  context = test_context(2);
  foreign = test_context(1);
  make();
  dense_parts();
  sparse_rows();
  streamed();
  plans();
  refusals();
  OK(purlin_context_destroy(foreign));
  OK(purlin_context_destroy(context));
  return finish();
}
