/* Randomized SVD, PCA and robust PCA of a matrix of 20 MB that a function gives, under limits of 1 to 128 MiB of the memory that does the
   work: device memory on a GPU, else host memory. Plan and run refuse the same limits with the same message; a run stays inside its limit,
   and its report agrees with the plan. */
#include "rsvd.h"

enum { ROWS = 20000, COLS = 128, LIMITS = 8, MIB = 1 << 20 };

/* Memory that a plan contains and a run need not take, as docs/rsvd.md says: on a GPU the workspace of small factorisations and of
   cuSOLVER, and four page-locked buffers on the host. */
static const double factorisations = 12 * MIB, ring = 16 * MIB;

/* Row by row. */
static double matrix[(size_t)ROWS * COLS], u[ROWS * K], v[COLS * K];

/* Two columns times two rows, and one entry in 37 is 5 larger. */
static void make(void) {
  int64_t i, j;
  for (i = 0; i < ROWS; i++) {
    const double first = sin(0.3 * (double)i), second = cos(0.7 * (double)i);
    for (j = 0; j < COLS; j++) {
      const uint32_t hash = ((uint32_t)i * 2654435761u) ^ ((uint32_t)j * 2654435769u);
      const double low = first * cos(0.9 * (double)j) + second * sin(0.2 * (double)j + 1);
      matrix[i * COLS + j] = (hash >> 8) % 37 == 0 ? low + 5 : low;
    }
  }
}

/* Blocks of rows. */
static int32_t read_block(const int64_t *first, const int64_t *count, void *block, void *user) {
  const double *from = (const double *)user + first[1] * COLS + first[0];
  double *to = block;
  int64_t i;
  for (i = 0; i < count[1]; i++) memcpy(to + i * count[0], from + i * COLS, (size_t)count[0] * sizeof(double));
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

static purlin_matrix *streamed(const purlin_context *context) {
  const int64_t dims[2] = {COLS, ROWS};
  purlin_source *source = NULL;
  purlin_matrix *a = NULL;
  OK(purlin_source_from_callback(context, PURLIN_F64, 2, dims, read_block, matrix, &source));
  OK(purlin_matrix_from_source(context, source, PURLIN_ROW_MAJOR, &a));
  OK(purlin_source_destroy(source));
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

/* The figures of an accepted run. With `is_close` the plan is close to what was used, else it is only inside the limit. */
static void check_figures(const char *name, int64_t limit, figures host, figures device, int is_close) {
  const int64_t used = is_on_cpu() ? host.used : device.used, planned = is_on_cpu() ? host.planned : device.planned;
  int good = planned <= limit && used <= limit && host.planned == host.reported && device.planned == device.reported;
  /* On the processor with the limit the plan is an upper bound. */
  good = good && (!is_close || used <= planned);
  if (is_on_cpu()) good = good && device.planned == 0 && device.used == 0;
  if (is_close) good = good && agree(host, is_on_cpu() ? 0 : ring) && (is_on_cpu() || agree(device, factorisations));
  printf("%s, %d MiB: host %lld planned, %lld used; device %lld planned, %lld used\n", name, (int)(limit / MIB), (long long)host.planned,
         (long long)host.used, (long long)device.planned, (long long)device.used);
  if (!good) fprintf(stderr, "%s, %d MiB: the figures do not agree\n", name, (int)(limit / MIB));
  CHECK(good);
}

static void check_report(const char *name, int64_t limit, const purlin_rsvd_info *planned, const purlin_rsvd_info *info) {
  const figures host = {planned->host_bytes, info->host_bytes, info->host_bytes_used};
  const figures device = {planned->device_bytes, info->device_bytes, info->device_bytes_used};
  CHECK(planned->method == info->method && planned->blocks == info->blocks);
  check_figures(name, limit, host, device, 1);
}

/* 1 for a run, 0 for a refusal. */
static int decompose(const purlin_context *context, int64_t limit, int32_t method, const char *name) {
  static double s[K];
  char message[512] = "";
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info planned = rsvd_info(), info = rsvd_info();
  purlin_matrix *a = streamed(context), *tall = over(context, PURLIN_F64, 0, ROWS, K, u);
  purlin_matrix *wide = over(context, PURLIN_F64, 0, COLS, K, v);
  purlin_tensor *values = vector_of(context, PURLIN_F64, K, s);
  purlin_rsvd *rsvd = NULL;
  purlin_status plan, done;
  int accepted;
  o.method = method;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  plan = purlin_rsvd_plan(rsvd, a, 1, 1, &planned);
  snprintf(message, sizeof message, "%s", purlin_last_error_message());
  done = purlin_rsvd_compute(rsvd, NULL, a, tall, values, wide, &info);
  accepted = plan == PURLIN_SUCCESS;
  CHECK(ended_alike(name, limit, plan, message, done));
  if (accepted && done == PURLIN_SUCCESS) check_report(name, limit, &planned, &info);
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(values));
  OK(purlin_matrix_destroy(wide));
  OK(purlin_matrix_destroy(tall));
  OK(purlin_matrix_destroy(a));
  return accepted;
}

static int analyse(const purlin_context *context, int64_t limit) {
  char message[512] = "";
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info planned = rsvd_info(), info = rsvd_info();
  purlin_matrix *x = streamed(context);
  purlin_rsvd *rsvd = NULL;
  purlin_pca *pca = NULL;
  purlin_status plan, done;
  int accepted;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  plan = purlin_pca_plan(rsvd, x, NULL, 0, &planned);
  snprintf(message, sizeof message, "%s", purlin_last_error_message());
  done = purlin_pca_fit(rsvd, NULL, x, NULL, NULL, &pca, &info);
  accepted = plan == PURLIN_SUCCESS;
  CHECK(ended_alike("pca", limit, plan, message, done));
  if (accepted && done == PURLIN_SUCCESS) check_report("pca", limit, &planned, &info);
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
  purlin_matrix *m = streamed(context);
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
    /* The rank of the iterates decides what is used, and the plan is that of few columns. */
    check_figures("rpca", limit, host, device, 0);
  }
  OK(purlin_rpca_destroy(rpca));
  OK(purlin_matrix_destroy(m));
  return accepted;
}

int main(void) {
  static const struct {
    int32_t method;
    const char *name;
  } methods[] = {{PURLIN_RSVD_METHOD_AUTO, "rsvd, AUTO"},         {PURLIN_RSVD_METHOD_GRAM, "rsvd, GRAM"},
                 {PURLIN_RSVD_METHOD_FUSED, "rsvd, FUSED"},       {PURLIN_RSVD_METHOD_KRYLOV, "rsvd, KRYLOV"},
                 {PURLIN_RSVD_METHOD_ROW_FUSED, "rsvd, ROW_FUSED"}, {PURLIN_RSVD_METHOD_ONE_PASS, "rsvd, ONE_PASS"}};
  int accepted[COUNT(methods) + 2] = {0}, power;
  size_t k;
  make();
  for (power = 0; power < LIMITS; power++) {
    const int64_t limit = (int64_t)MIB << power;
    purlin_context *context = limited(limit);
    for (k = 0; k < COUNT(methods); k++) accepted[k] += decompose(context, limit, methods[k].method, methods[k].name);
    accepted[k] += analyse(context, limit);
    accepted[k + 1] += split(context, limit);
    OK(purlin_context_destroy(context));
  }
  /* The two largest limits suffice for every run. */
  for (k = 0; k < COUNT(accepted); k++) CHECK(accepted[k] >= 2);
  return finish();
}
