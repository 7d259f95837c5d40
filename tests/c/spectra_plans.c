/* Plans of eigenpairs and singular triplets are promises of memory: a limit of the planned bytes suffices for the run, and plan and
   run refuse less with the same message. The limit is that of the memory that holds the vectors: device memory on a GPU, where a plan
   counts the copy of the matrix that is not there yet. */
#include "spectra.h"

enum { N = 200, ROWS = 60, COLS = 500, K = 6, ENTRIES = 4 * N };

static int64_t row_ptr[COLS + 1], col_idx[ENTRIES];
static double entries[ENTRIES], left[K * COLS], right[K * COLS];

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

/* Borrowed arrays, which no limit counts: for eigenpairs a path with loops, else rows of one to four entries. */
static purlin_matrix *sparse(const purlin_context *context, int is_singular, int64_t rows, int64_t cols) {
  purlin_matrix *a = NULL;
  int64_t i, k = 0;
  for (i = 0; i < rows; i++) {
    row_ptr[i] = k;
    if (is_singular) {
      const int64_t step = rows > cols ? cols : cols / 4, first = i * 7 % step, count = rows > cols ? 1 : 4;
      int64_t j;
      for (j = 0; j < count; j++) col_idx[k] = first + j * step, entries[k++] = 1 + (double)((i * 13 + j * 5) % 11) + 0.01 * (double)i;
    } else {
      if (i > 0) col_idx[k] = i - 1, entries[k++] = 1;
      col_idx[k] = i, entries[k++] = (double)(i * i % 17) + 0.01 * (double)i;
      if (i + 1 < rows) col_idx[k] = i + 1, entries[k++] = 1;
    }
  }
  row_ptr[rows] = k;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, rows, cols, k, PURLIN_I64, row_ptr, PURLIN_I64, col_idx, entries, &a));
  return a;
}

/* Whether a plan alone is accepted under a limit. */
static int accepted(int64_t limit, const purlin_lanczos_options *o, int is_singular, int64_t rows, int64_t cols) {
  purlin_context *context = limited(limit);
  purlin_matrix *a = sparse(context, is_singular, rows, cols);
  purlin_lanczos *lanczos = solver(context, o);
  purlin_lanczos_info plan;
  purlin_status status;
  OK(purlin_lanczos_info_init(&plan, sizeof plan));
  status = is_singular ? purlin_lanczos_plan_singular(lanczos, a, &plan) : purlin_lanczos_plan(lanczos, a, NULL, NULL, &plan);
  CHECK(status == PURLIN_SUCCESS || status == PURLIN_ERROR_OUT_OF_DEVICE_MEMORY);
  OK(purlin_lanczos_destroy(lanczos));
  OK(purlin_matrix_destroy(a));
  OK(purlin_context_destroy(context));
  return status == PURLIN_SUCCESS;
}

/* A plan and a run under a limit; the plan's message, and its bytes of the memory with the limit. 1 if both succeeded. */
static int both(int64_t limit, const purlin_lanczos_options *o, int is_singular, int64_t rows, int64_t cols, char message[400],
                int64_t *planned) {
  static double s[K];
  purlin_context *context = limited(limit);
  purlin_matrix *a = sparse(context, is_singular, rows, cols), *u = NULL, *v = NULL;
  purlin_tensor *values = vector_of(context, PURLIN_F64, K, s);
  purlin_lanczos *lanczos = solver(context, o);
  purlin_lanczos_info plan, info;
  purlin_status first, second;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, rows, K, rows, left, &u));
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, cols, K, cols, right, &v));
  OK(purlin_lanczos_info_init(&plan, sizeof plan));
  OK(purlin_lanczos_info_init(&info, sizeof info));
  first = is_singular ? purlin_lanczos_plan_singular(lanczos, a, &plan) : purlin_lanczos_plan(lanczos, a, NULL, NULL, &plan);
  snprintf(message, 400, "%s", purlin_last_error_message());
  second = is_singular ? purlin_lanczos_singular(lanczos, NULL, a, NULL, u, values, v, NULL, &info)
                       : purlin_lanczos_solve(lanczos, NULL, a, NULL, NULL, NULL, values, v, NULL, &info);
  CHECK(first == second && strcmp(message, purlin_last_error_message()) == 0);
  if (first != second || strcmp(message, purlin_last_error_message()) != 0)
    fprintf(stderr, "limit %lld: planned %s \"%s\", done %s \"%s\"\n", (long long)limit, purlin_status_string(first), message,
            purlin_status_string(second), purlin_last_error_message());
  if (second == PURLIN_SUCCESS) CHECK(plan.host_bytes == info.host_bytes && plan.device_bytes == info.device_bytes && info.converged == K);
  *planned = is_on_cpu() ? plan.host_bytes : plan.device_bytes;
  OK(purlin_lanczos_destroy(lanczos));
  OK(purlin_matrix_destroy(u));
  OK(purlin_matrix_destroy(v));
  OK(purlin_matrix_destroy(a));
  OK(purlin_tensor_destroy(values));
  OK(purlin_context_destroy(context));
  return second == PURLIN_SUCCESS;
}

static void check_plan(const purlin_lanczos_options *o, int is_singular, int64_t rows, int64_t cols) {
  char message[400], text[64];
  int64_t planned = 0, none;
  CHECK(both(0, o, is_singular, rows, cols, message, &planned) && planned > 0);
  snprintf(text, sizeof text, "%s: ", is_singular ? "singular triplets" : "eigenpairs");
  CHECK(!both(1000, o, is_singular, rows, cols, message, &none) && strncmp(message, text, strlen(text)) == 0);
  CHECK(strstr(message, "limit of 1000 bytes") != NULL);
  if (!is_on_cpu()) {
    /* With less memory cuBLAS gets less workspace: search for a limit that suffices where one byte less does not. */
    int64_t less = 1000, enough = planned;
    CHECK(both(planned, o, is_singular, rows, cols, message, &none) && none <= planned);
    while (enough - less > 1) {
      const int64_t middle = less + (enough - less) / 2;
      if (accepted(middle, o, is_singular, rows, cols))
        enough = middle;
      else
        less = middle;
    }
    CHECK(both(enough, o, is_singular, rows, cols, message, &none) && none <= enough);
    CHECK(!both(less, o, is_singular, rows, cols, message, &none));
    return;
  }
  CHECK(both(planned, o, is_singular, rows, cols, message, &none) && none == planned);
  CHECK(!both(planned - 1, o, is_singular, rows, cols, message, &none));
  snprintf(text, sizeof text, ": %lld bytes", (long long)planned);
  CHECK(strstr(message, text) != NULL);
}

int main(void) {
  /* Keeps the device open while contexts come and go. */
  purlin_context *open = limited(0);
  purlin_lanczos_options o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_MATRIX);
  check_plan(&o, 0, N, N);
  check_plan(&o, 1, ROWS, COLS);
  check_plan(&o, 1, COLS, ROWS);
  o.which = PURLIN_LANCZOS_SMALLEST;
  check_plan(&o, 0, N, N);
  check_plan(&o, 1, ROWS, COLS);
  o.block = 2;
  check_plan(&o, 0, N, N);
  o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_AUGMENTED);
  check_plan(&o, 1, ROWS, COLS);
  o = lanczos(K, PURLIN_LANCZOS_LARGEST, PURLIN_LANCZOS_LAPLACIAN);
  o.ordering = PURLIN_ORDERING_CUTHILL_MCKEE;
  check_plan(&o, 0, N, N);
  o = lanczos(K, PURLIN_LANCZOS_SMALLEST, PURLIN_LANCZOS_MATRIX);
  o.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
  check_plan(&o, 0, N, N);
  OK(purlin_context_destroy(open));
  return finish();
}
