/* Randomized SVD, PCA and robust PCA of a matrix of 20 MB that a function gives, and SVD and PCA of every eighth of its entries in compressed
   rows and behind an operator, under limits of 1 to 128 MiB of the memory that does the work: device memory on a GPU, else host memory.
   Plan and run refuse the same limits with the same message, before they call the operator; a run stays inside its limit, and its report
   agrees with the plan. On a GPU also 307 MB without a limit, where a tenth is more than the other bytes of a plan. */
#include "rsvd.h"

enum { ROWS = 20000, COLS = 128, STORED = ROWS * COLS / 8, MANY = 300000, LIMITS = 8, MIB = 1 << 20 };

typedef enum kind { STREAMED, SPARSE, OPERATOR, KINDS } kind;

static const char *const kinds[KINDS] = {"", ", sparse", ", operator"};

/* Memory that a plan contains and a run need not take, as docs/rsvd.md says: on a GPU the workspace of small factorizations and of
   cuSOLVER, and four page-locked buffers on the host. */
static const double factorizations = 12 * MIB, ring = 16 * MIB;

/* Row by row. */
static double matrix[(size_t)ROWS * COLS], u[MANY * K], v[COLS * K];

/* The entries (i, j) where 8 divides i + j. */
static double values[STORED];
static int32_t row_ptr[ROWS + 1], col_idx[STORED];

/* Calls of the operator. */
static int64_t products;

/* Two columns times two rows, and one entry in 37 is 5 larger. */
static void make(void) {
  int64_t i, j;
  int32_t stored = 0;
  for (i = 0; i < ROWS; i++) {
    const double first = sin(0.3 * (double)i), second = cos(0.7 * (double)i);
    for (j = 0; j < COLS; j++) {
      const uint32_t hash = ((uint32_t)i * 2654435761u) ^ ((uint32_t)j * 2654435769u);
      const double low = first * cos(0.9 * (double)j) + second * sin(0.2 * (double)j + 1);
      matrix[i * COLS + j] = (hash >> 8) % 37 == 0 ? low + 5 : low;
    }
    for (j = (8 - i % 8) % 8; j < COLS; j += 8) {
      values[stored] = matrix[i * COLS + j];
      col_idx[stored++] = (int32_t)j;
    }
    row_ptr[i + 1] = stored;
  }
  CHECK(stored == STORED);
}

/* Blocks of rows, which are repeated after ROWS. */
static int32_t read_block(const int64_t *first, const int64_t *count, void *block, void *user) {
  const double *from = (const double *)user + first[0];
  double *to = block;
  int64_t i;
  for (i = 0; i < count[1]; i++)
    memcpy(to + i * count[0], from + (first[1] + i) % ROWS * COLS, (size_t)count[0] * sizeof(double));
  return 0;
}

/* The stored entries times vectors. */
static int32_t apply(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy, uint64_t cuda_stream,
                     void *user) {
  int64_t c, i, e;
  (void)cuda_stream;
  (void)user;
  products++;
  for (c = 0; c < count; c++) {
    const double *from = (const double *)x + ldx * c;
    double *to = (double *)y + ldy * c;
    for (i = 0; i < (adjoint ? COLS : ROWS); i++) to[i] = 0;
    for (i = 0; i < ROWS; i++)
      for (e = row_ptr[i]; e < row_ptr[i + 1]; e++)
        if (adjoint)
          to[col_idx[e]] += values[e] * from[i];
        else
          to[i] += values[e] * from[col_idx[e]];
  }
  return 0;
}

static purlin_context *limited(int64_t limit) {
  purlin_context_options o;
  purlin_context *context = NULL;
  OK(purlin_context_options_init(&o, sizeof o));
  o.backend = test_backend();
  o.threads = 2;
  if (is_on_cpu())
    o.host_memory_limit = limit;
  else
    o.device_memory_limit = limit;
  OK(purlin_context_create(&o, &context));
  if (!context) exit(1);
  return context;
}

static purlin_matrix *streamed(const purlin_context *context, int64_t rows) {
  const int64_t dims[2] = {COLS, rows};
  purlin_source *source = NULL;
  purlin_matrix *a = NULL;
  OK(purlin_source_from_callback(context, PURLIN_F64, 2, dims, read_block, matrix, &source));
  OK(purlin_matrix_from_source(context, source, PURLIN_ROW_MAJOR, &a));
  OK(purlin_source_destroy(source));
  return a;
}

static purlin_matrix *matrix_of(const purlin_context *context, kind storage) {
  purlin_matrix *a = NULL;
  products = 0;
  switch (storage) {
  case SPARSE:
    OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, ROWS, COLS, STORED, PURLIN_I32, row_ptr, PURLIN_I32, col_idx, values, &a));
    break;
  case OPERATOR: OK(purlin_matrix_from_operator(context, PURLIN_F64, ROWS, COLS, apply, NULL, PURLIN_HOST, &a)); break;
  default: a = streamed(context, ROWS);
  }
  return a;
}

/* Bytes of the plan, of the run's report and as they were used. */
typedef struct figures {
  int64_t planned, reported, used;
} figures;

static int agree(figures f, double apart) {
  return f.planned == f.reported && (double)f.used <= 1.1 * (double)f.planned &&
         (double)f.planned <= 1.1 * (double)f.used + apart;
}

/* Whether plan and run ended alike. `message` is the plan's. */
static int ended_alike(const char *name, int64_t limit, purlin_status plan, const char *message, purlin_status done) {
  const int is_run = done == PURLIN_SUCCESS || done == PURLIN_ERROR_NO_CONVERGENCE;
  const purlin_status refusal = is_on_cpu() ? PURLIN_ERROR_OUT_OF_MEMORY : PURLIN_ERROR_OUT_OF_DEVICE_MEMORY;
  int same = plan == PURLIN_SUCCESS ? is_run : plan == refusal && done == plan;
  if (plan != PURLIN_SUCCESS) same = same && strcmp(message, purlin_last_error_message()) == 0;
  if (!same)
    fprintf(stderr, "%s, %d MiB: planned %s \"%s\", done %s \"%s\"\n", name, (int)(limit / MIB), purlin_status_string(plan), message,
            purlin_status_string(done), purlin_last_error_message());
  return same;
}

/* How much a plan says of an accepted run: that it is inside the limit, that no more is used, or how much is used. */
typedef enum precision { INSIDE, BOUND, CLOSE } precision;

/* The figures of an accepted run under a limit, 0 for none. */
static void check_figures(const char *name, int64_t limit, figures host, figures device, precision how) {
  const int64_t used = is_on_cpu() ? host.used : device.used, planned = is_on_cpu() ? host.planned : device.planned;
  int good = limit == 0 || (planned <= limit && used <= limit);
  good = good && host.planned == host.reported && device.planned == device.reported;
  /* On the processor with the limit the plan is an upper bound. */
  good = good && (how == INSIDE || used <= planned);
  if (is_on_cpu()) good = good && device.planned == 0 && device.used == 0;
  if (how == CLOSE) good = good && agree(host, is_on_cpu() ? 0 : ring) && (is_on_cpu() || agree(device, factorizations));
  printf("%s, %d MiB: host %lld planned, %lld used; device %lld planned, %lld used\n", name, (int)(limit / MIB), (long long)host.planned,
         (long long)host.used, (long long)device.planned, (long long)device.used);
  if (!good) fprintf(stderr, "%s, %d MiB: the figures do not agree\n", name, (int)(limit / MIB));
  CHECK(good);
}

static void check_report(const char *name, kind storage, int64_t limit, const purlin_rsvd_info *planned, const purlin_rsvd_info *info) {
  const figures host = {planned->host_bytes, info->host_bytes, info->host_bytes_used};
  const figures device = {planned->device_bytes, info->device_bytes, info->device_bytes_used};
  CHECK(planned->method == info->method);
  CHECK(planned->blocks == info->blocks && planned->block_rows == info->block_rows);
  check_figures(name, limit, host, device, storage == STREAMED || is_on_cpu() ? CLOSE : BOUND);
}

/* 1 for a run of `a`, 0 for a refusal. Destroys `a`. */
static int decompose(const purlin_context *context, purlin_matrix *a, int64_t rows, int64_t limit, int32_t method, kind storage,
                     const char *name) {
  static double s[K];
  char message[512] = "";
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info planned = rsvd_info(), info = rsvd_info();
  purlin_matrix *tall = over(context, PURLIN_F64, 0, rows, K, u), *wide = over(context, PURLIN_F64, 0, COLS, K, v);
  purlin_tensor *singular = vector_of(context, PURLIN_F64, K, s);
  purlin_rsvd *rsvd = NULL;
  purlin_status plan, done;
  int accepted;
  o.method = method;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  plan = purlin_rsvd_plan(rsvd, a, 1, 1, &planned);
  snprintf(message, sizeof message, "%s", purlin_last_error_message());
  CHECK(products == 0);
  done = purlin_rsvd_compute(rsvd, NULL, a, tall, singular, wide, &info);
  accepted = plan == PURLIN_SUCCESS;
  CHECK(ended_alike(name, limit, plan, message, done));
  CHECK((products > 0) == (accepted && storage == OPERATOR));
  if (accepted && done == PURLIN_SUCCESS) check_report(name, storage, limit, &planned, &info);
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(singular));
  OK(purlin_matrix_destroy(wide));
  OK(purlin_matrix_destroy(tall));
  OK(purlin_matrix_destroy(a));
  return accepted;
}

static int analyse(const purlin_context *context, int64_t limit, int32_t method, kind storage, const char *name) {
  char message[512] = "";
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info planned = rsvd_info(), info = rsvd_info();
  purlin_matrix *x = matrix_of(context, storage);
  purlin_rsvd *rsvd = NULL;
  purlin_pca *pca = NULL;
  purlin_status plan, done;
  int accepted;
  o.method = method;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  plan = purlin_pca_plan(rsvd, x, NULL, 0, &planned);
  snprintf(message, sizeof message, "%s", purlin_last_error_message());
  CHECK(products == 0);
  done = purlin_pca_fit(rsvd, NULL, x, NULL, NULL, &pca, &info);
  accepted = plan == PURLIN_SUCCESS;
  CHECK(ended_alike(name, limit, plan, message, done));
  CHECK((products > 0) == (accepted && storage == OPERATOR));
  if (accepted && done == PURLIN_SUCCESS) check_report(name, storage, limit, &planned, &info);
  OK(purlin_pca_destroy(pca));
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_matrix_destroy(x));
  return accepted;
}

/* Few iterations: the largest need does not grow with their number. */
static int split(const purlin_context *context, int64_t limit) {
  char message[512] = "";
  purlin_rpca_options o;
  purlin_rpca_info planned, info;
  purlin_matrix *m = streamed(context, ROWS);
  purlin_rpca *rpca = NULL;
  purlin_status plan, done;
  int accepted;
  OK(purlin_rpca_options_init(&o, sizeof o));
  OK(purlin_rpca_info_init(&planned, sizeof planned));
  OK(purlin_rpca_info_init(&info, sizeof info));
  o.max_iterations = 3;
  OK(purlin_rpca_create(context, &o, &rpca));
  plan = purlin_rpca_plan(rpca, m, NULL, &planned);
  snprintf(message, sizeof message, "%s", purlin_last_error_message());
  done = purlin_rpca_compute(rpca, NULL, m, NULL, NULL, NULL, &info);
  accepted = plan == PURLIN_SUCCESS;
  CHECK(ended_alike("rpca", limit, plan, message, done));
  if (accepted && (done == PURLIN_SUCCESS || done == PURLIN_ERROR_NO_CONVERGENCE)) {
    const figures host = {planned.host_bytes, info.host_bytes, info.host_bytes_used};
    const figures device = {planned.device_bytes, info.device_bytes, info.device_bytes_used};
    CHECK(planned.blocks == info.blocks && strcmp(planned.reason, info.reason) == 0);
    /* The rank of the iterates decides the bytes used, and the plan is that of few columns. */
    check_figures("rpca", limit, host, device, INSIDE);
  }
  OK(purlin_rpca_destroy(rpca));
  OK(purlin_matrix_destroy(m));
  return accepted;
}

enum { METHODS = 6 };

/* AUTO is the first. */
static const struct {
  int32_t method;
  const char *name;
  /* Whether AUTO may choose it for each of the kinds. */
  int is_chosen[KINDS];
} methods[METHODS] = {{PURLIN_RSVD_METHOD_AUTO, "AUTO", {0, 0, 0}},         {PURLIN_RSVD_METHOD_GRAM, "GRAM", {1, 0, 0}},
                      {PURLIN_RSVD_METHOD_FUSED, "FUSED", {1, 1, 1}},       {PURLIN_RSVD_METHOD_KRYLOV, "KRYLOV", {1, 1, 1}},
                      {PURLIN_RSVD_METHOD_ROW_FUSED, "ROW_FUSED", {1, 1, 1}}, {PURLIN_RSVD_METHOD_ONE_PASS, "ONE_PASS", {0, 0, 0}}};

/* Limits that each method accepts, and the least that AUTO accepts. */
typedef struct outcomes {
  int accepted[METHODS];
  int64_t least;
} outcomes;

static void note(outcomes *of, size_t method, int64_t limit, int accepted) {
  of->accepted[method] += accepted;
  if (method == 0 && accepted && of->least == 0) of->least = limit;
}

/* AUTO takes another method where the one of its choice does not fit, so it runs under each limit that one of them runs under. Both of
   the largest limits suffice for every run. */
static void check_outcomes(const char *name, kind storage, const outcomes *of) {
  size_t k;
  for (k = 0; k < METHODS; k++) {
    printf("%s%s, %s: %d of %d limits\n", name, kinds[storage], methods[k].name, of->accepted[k], LIMITS);
    if (methods[k].method == PURLIN_RSVD_METHOD_GRAM && storage != STREAMED) continue;
    CHECK(of->accepted[k] >= 2);
    if (methods[k].is_chosen[storage]) CHECK(of->accepted[0] >= of->accepted[k]);
  }
}

/* Plans of a large matrix without a limit. The plan of a GPU contains 12 MiB on the device and 16 MiB on the host besides. */
static void large(void) {
  purlin_context *context = limited(0);
  char name[64];
  size_t k;
  products = 0;
  for (k = 0; k < METHODS; k++) {
    snprintf(name, sizeof name, "large, %s", methods[k].name);
    CHECK(decompose(context, streamed(context, MANY), MANY, 0, methods[k].method, STREAMED, name));
  }
  OK(purlin_context_destroy(context));
}

int main(void) {
  outcomes svd[KINDS], pca[KINDS];
  int rpca = 0, power;
  char name[64];
  size_t k;
  kind storage;
  memset(svd, 0, sizeof svd);
  memset(pca, 0, sizeof pca);
  make();
  for (power = 0; power < LIMITS; power++) {
    const int64_t limit = (int64_t)MIB << power;
    purlin_context *context = limited(limit);
    for (storage = STREAMED; storage < KINDS; storage++)
      for (k = 0; k < METHODS; k++) {
        /* Not of sparse matrices and operators. */
        if (methods[k].method == PURLIN_RSVD_METHOD_GRAM && storage != STREAMED) continue;
        snprintf(name, sizeof name, "rsvd%s, %s", kinds[storage], methods[k].name);
        note(&svd[storage], k, limit, decompose(context, matrix_of(context, storage), ROWS, limit, methods[k].method, storage, name));
        snprintf(name, sizeof name, "pca%s, %s", kinds[storage], methods[k].name);
        note(&pca[storage], k, limit, analyse(context, limit, methods[k].method, storage, name));
      }
    rpca += split(context, limit);
    OK(purlin_context_destroy(context));
  }
  for (storage = STREAMED; storage < KINDS; storage++) {
    check_outcomes("rsvd", storage, &svd[storage]);
    check_outcomes("pca", storage, &pca[storage]);
  }
  CHECK(rpca >= 2);
  /* Below the 32 MiB that cuBLAS prefers for its workspace, where GPUs are tested. */
  CHECK(svd[STREAMED].least > 0 && svd[STREAMED].least <= 16 * MIB);
  if (!is_on_cpu()) large();
  return finish();
}
