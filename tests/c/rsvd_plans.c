/* Randomized SVD under memory limits: a plan and the run agree about which limits suffice, and about the bytes. .npy files and readers
   of bytes, which are converted to double precision, and of doubles; every method, and AUTO. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "rsvd.h"

enum { ROWS = 1200, COLS = 500, METHODS = PURLIN_RSVD_METHOD_DIRECT + 1 };

typedef enum kind { NPY_BYTES, NPY_DOUBLES, READ_BYTES, READ_DOUBLES, KINDS } kind;

static const char *const kinds[KINDS] = {".npy of bytes", ".npy of doubles", "reader of bytes", "reader of doubles"};
static uint8_t bytes[ROWS * COLS];
static double doubles[ROWS * COLS], u[ROWS * K], v[COLS * K], s[K];
static char folder[] = "/tmp/purlin-XXXXXX", paths[2][64];

/* Random numbers of 0 to 255. */
static void make(void) {
  uint64_t state = 1;
  int e;
  for (e = 0; e < ROWS * COLS; e++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    bytes[e] = (uint8_t)(state >> 56);
    doubles[e] = bytes[e];
  }
}

static void write_npy(const char *path, const char *type, const void *data, size_t size) {
  char header[128];
  int length = snprintf(header + 10, sizeof header - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }",
                        type, ROWS, COLS);
  FILE *file = fopen(path, "wb");
  memcpy(header, "\x93NUMPY\x01\0\x76\0", 10);
  memset(header + 10 + length, ' ', sizeof header - 10 - (size_t)length);
  header[127] = '\n';
  CHECK(file && fwrite(header, 1, sizeof header, file) == sizeof header);
  CHECK(file && fwrite(data, size, (size_t)ROWS * COLS, file) == (size_t)ROWS * COLS && fclose(file) == 0);
}

/* Blocks of rows; the user pointer is the array. */
static int32_t read_block(const int64_t *first, const int64_t *count, void *block, void *user) {
  size_t size = user == bytes ? 1 : sizeof(double);
  int64_t j;
  for (j = 0; j < count[1]; j++)
    memcpy((char *)block + (size_t)(j * count[0]) * size,
           (const char *)user + (size_t)(first[0] + COLS * (first[1] + j)) * size, (size_t)count[0] * size);
  return 0;
}

static purlin_matrix *matrix_of(const purlin_context *context, kind k) {
  const int64_t dims[2] = {COLS, ROWS};
  purlin_source *source = NULL;
  purlin_matrix *a = NULL;
  switch (k) {
  case READ_BYTES: OK(purlin_source_from_callback(context, PURLIN_U8, 2, dims, read_block, bytes, &source)); break;
  case READ_DOUBLES: OK(purlin_source_from_callback(context, PURLIN_F64, 2, dims, read_block, doubles, &source)); break;
  default: OK(purlin_source_from_npy(context, paths[k == NPY_DOUBLES], &source));
  }
  OK(purlin_matrix_from_source(context, source, PURLIN_ROW_MAJOR, &a));
  OK(purlin_source_destroy(source));
  return a;
}

/* Whether U and V are wanted. */
static int32_t with_u = 1, with_v = 1;

/* The status of a run under `limit` bytes, 0 for none: PURLIN_SUCCESS or OUT_OF_MEMORY, the same for the plan and the run. */
static purlin_status run(kind k, int method, double read_rate, int64_t limit, purlin_rsvd_info *info) {
  purlin_context_options options;
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info planned = rsvd_info();
  purlin_context *context = NULL;
  purlin_rsvd *rsvd = NULL;
  purlin_matrix *a, *left, *right;
  purlin_tensor *values;
  purlin_status plan, done;
  /* Page-locked buffers, which a plan for a GPU contains and a small run need not take. */
  const double ring = test_backend() == PURLIN_BACKEND_CPU ? 0 : 16 << 20;
  double planned_bytes, used;
  int agrees;
  OK(purlin_context_options_init(&options, sizeof options));
  options.backend = test_backend();
  options.threads = 2;
  options.host_memory_limit = limit;
  OK(purlin_context_create(&options, &context));
  a = matrix_of(context, k);
  left = over(context, PURLIN_F64, 0, ROWS, K, u);
  right = over(context, PURLIN_F64, 0, COLS, K, v);
  values = vector_of(context, PURLIN_F64, K, s);
  o.method = method;
  o.dtype = PURLIN_F64;
  o.read_rate = read_rate;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  plan = purlin_rsvd_plan(rsvd, a, with_u, with_v, &planned);
  CHECK(plan == PURLIN_SUCCESS || (plan == PURLIN_ERROR_OUT_OF_MEMORY && strstr(purlin_last_error_message(), "bytes")));
  *info = rsvd_info();
  done = purlin_rsvd_compute(rsvd, NULL, a, with_u ? left : NULL, values, with_v ? right : NULL, info);
  if (done != plan)
    fprintf(stderr, "%s, method %d, limit %lld: planned %s, done %s: %s\n", kinds[k], method, (long long)limit,
            purlin_status_string(plan), purlin_status_string(done), purlin_last_error_message());
  CHECK(done == plan);
  if (done == PURLIN_SUCCESS) {
    CHECK(info->method == planned.method && info->host_bytes == planned.host_bytes && info->blocks == planned.blocks);
    CHECK(method == PURLIN_RSVD_METHOD_AUTO || info->method == method);
    planned_bytes = (double)info->host_bytes, used = (double)info->host_bytes_used;
    agrees = used <= 1.1 * planned_bytes && planned_bytes <= used / 0.9 + ring;
    if (!agrees)
      fprintf(stderr, "%s, method %d, limit %lld: planned %lld, used %lld\n", kinds[k], method, (long long)limit,
              (long long)info->host_bytes, (long long)info->host_bytes_used);
    CHECK(agrees);
    CHECK(limit == 0 || (info->host_bytes <= limit && info->host_bytes_used <= limit));
  }
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(values));
  OK(purlin_matrix_destroy(right));
  OK(purlin_matrix_destroy(left));
  OK(purlin_matrix_destroy(a));
  OK(purlin_context_destroy(context));
  return done;
}

/* Falling limits: every plan that is accepted runs, until one is refused. Values do not depend on the limit. */
static void limits(kind k, int method) {
  purlin_rsvd_info info;
  double free_values[K];
  int64_t limit;
  int j, accepted = 0, refused = 0, whole;
  CHECK(run(k, method, 0, 0, &info) == PURLIN_SUCCESS);
  whole = info.method;
  memcpy(free_values, s, sizeof s);
  /* Twice, as a limit has to leave memory for fallbacks too. */
  for (limit = 2 * info.host_bytes; limit >= 64 << 10; limit -= limit / 3) {
    if (run(k, method, 0, limit, &info) != PURLIN_SUCCESS) {
      refused++;
      continue;
    }
    accepted++;
    /* Where blocks are merged or weighed, their heights matter, and for another method the vectors do. */
    if (info.method == whole && whole != PURLIN_RSVD_METHOD_MERGE && whole != PURLIN_RSVD_METHOD_BRSVD)
      for (j = 0; j < K; j++) CHECK(fabs(s[j] / free_values[j] - 1) < 1e-9);
  }
  if (!(accepted > 0 && refused > 0)) fprintf(stderr, "%s, method %d: %d and %d\n", kinds[k], method, accepted, refused);
  CHECK(accepted > 0 && refused > 0);
}

/* AUTO takes another method where the first does not fit, before it refuses. `read_rate` declares a slow reader: the method of
   fewest passes, which AUTO then takes first, is not that of least memory. */
static void another_method(kind k) {
  const double rate = 1e6;
  purlin_rsvd_info info;
  int64_t limit;
  int first, changed = 0;
  CHECK(run(k, PURLIN_RSVD_METHOD_AUTO, rate, 0, &info) == PURLIN_SUCCESS);
  first = info.method;
  for (limit = info.host_bytes; limit >= 64 << 10; limit -= limit / 8) {
    if (run(k, first, 0, limit, &info) == PURLIN_SUCCESS) continue;
    if (run(k, PURLIN_RSVD_METHOD_AUTO, rate, limit, &info) != PURLIN_SUCCESS) break;
    CHECK(info.method != first);
    changed++;
  }
  if (changed == 0) fprintf(stderr, "%s: AUTO keeps to method %d\n", kinds[k], first);
  CHECK(changed > 0);
}

int main(void) {
  int k, method;
  make();
  CHECK(mkdtemp(folder) != NULL);
  snprintf(paths[0], sizeof paths[0], "%s/bytes.npy", folder);
  snprintf(paths[1], sizeof paths[1], "%s/doubles.npy", folder);
  write_npy(paths[0], "|u1", bytes, 1);
  write_npy(paths[1], "<f8", doubles, sizeof(double));
  for (k = 0; k < KINDS; k++) {
    for (method = 0; method < METHODS; method++) limits((kind)k, method);
    /* Factors that are not wanted are in no plan. */
    for (method = 0; method < METHODS; method++) {
      purlin_rsvd_info info;
      for (with_u = 0; with_u < 2; with_u++)
        for (with_v = 0; with_v < 2; with_v++) CHECK(run((kind)k, method, 0, 0, &info) == PURLIN_SUCCESS);
      with_u = with_v = 1;
    }
    /* On a GPU the methods' host memory differs by less than the steps of the limit. */
    if (test_backend() == PURLIN_BACKEND_CPU) another_method((kind)k);
  }
  CHECK(remove(paths[0]) == 0 && remove(paths[1]) == 0 && rmdir(folder) == 0);
  return finish();
}
