/* Dense matrices with a leading dimension, and compressed sparse rows. */
#include "check.h"

static purlin_matrix_info properties(const purlin_matrix *matrix) {
  purlin_matrix_info info;
  OK(purlin_matrix_info_init(&info, sizeof info));
  OK(purlin_matrix_properties(matrix, &info));
  return info;
}

static void dense_matrices(const purlin_context *context) {
  double data[40];
  purlin_matrix *m = NULL;
  purlin_matrix_info info;
  BAD_ARGUMENT("info: is NULL", purlin_matrix_info_init(NULL, sizeof info));
  BAD_ARGUMENT("info: struct_size is 0", purlin_matrix_info_init(&info, 0));
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 3, 5, &m));
  info = properties(m);
  CHECK(info.storage == PURLIN_DENSE && info.rows == 3 && info.cols == 5 && info.ld == 3 && info.nnz == 15);
  CHECK(info.owned == 1 && info.bytes == 120 && info.flags == 0 && info.dtype == PURLIN_F64);
  CHECK(info.row_ptr == 0 && info.col_idx == 0);
  BAD_ARGUMENT("info: is NULL", purlin_matrix_properties(m, NULL));
  OK(purlin_matrix_destroy(m));
  OK(purlin_matrix_create(context, PURLIN_CF32, PURLIN_HOST, PURLIN_ROW_MAJOR | PURLIN_PINNED, 3, 5, &m));
  info = properties(m);
  CHECK(info.ld == 5 && info.flags == PURLIN_ROW_MAJOR && info.bytes == 120);
  OK(purlin_matrix_destroy(m));
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 0, 5, &m));
  CHECK(properties(m).bytes == 0 && properties(m).rows == 0 && properties(m).ld >= 1);
  OK(purlin_matrix_destroy(m));

  /* The last column has `rows` elements, not `ld`. */
  OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, 3, 4, 10, data, &m));
  info = properties(m);
  CHECK(info.ld == 10 && info.bytes == (3 * 10 + 3) * 8 && info.flags == PURLIN_READ_ONLY && info.owned == 0);
  CHECK(info.data == (uint64_t)(uintptr_t)data);
  OK(purlin_matrix_destroy(m));
  OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_ROW_MAJOR, 3, 4, 4, data, &m));
  CHECK(properties(m).ld == 4);
  OK(purlin_matrix_destroy(m));
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, 0, 0, 1, NULL, &m));
  OK(purlin_matrix_destroy(m));
  m = NULL;
  BAD_ARGUMENT("ld: is 2, less than rows = 3", purlin_matrix_borrow(context, PURLIN_F64, 0, 3, 4, 2, data, &m));
  BAD_ARGUMENT("ld: is 3, less than cols = 4", purlin_matrix_borrow(context, PURLIN_F64, PURLIN_ROW_MAJOR, 3, 4, 3, data, &m));
  BAD_ARGUMENT("ld: is 0", purlin_matrix_borrow(context, PURLIN_F64, 0, 0, 4, 0, data, &m));
  BAD_ARGUMENT("ld: is -1", purlin_matrix_borrow(context, PURLIN_F64, 0, 3, 4, -1, data, &m));
  BAD_ARGUMENT("rows: is -1", purlin_matrix_borrow(context, PURLIN_F64, 0, -1, 4, 3, data, &m));
  BAD_ARGUMENT("cols: is -2", purlin_matrix_borrow(context, PURLIN_F64, 0, 3, -2, 3, data, &m));
  BAD_ARGUMENT("ld: is 9223372036854775807, with rows = 3, cols = 4 more than 2^63 bytes",
               purlin_matrix_borrow(context, PURLIN_F64, 0, 3, 4, INT64_MAX, data, &m));
  BAD_ARGUMENT("cols: is 9223372036854775807", purlin_matrix_borrow(context, PURLIN_F64, 0, 3, INT64_MAX, 3, data, &m));
  BAD_ARGUMENT("dtype: is 12", purlin_matrix_borrow(context, 12, 0, 3, 4, 3, data, &m));
  BAD_ARGUMENT("flags: is 8", purlin_matrix_borrow(context, PURLIN_F64, 8, 3, 4, 3, data, &m));
  BAD_ARGUMENT("data: is NULL", purlin_matrix_borrow(context, PURLIN_F64, 0, 3, 4, 3, NULL, &m));
  BAD_ARGUMENT("data: is not aligned", purlin_matrix_borrow(context, PURLIN_F64, 0, 3, 3, 3, (char *)data + 4, &m));
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_borrow(context, PURLIN_F64, 0, 3, 4, 3, data, NULL));
  UNSUPPORTED("data", purlin_matrix_borrow_device(context, PURLIN_F64, 0, 3, 4, 3, 4096, &m));
  UNSUPPORTED("row_ptr", purlin_matrix_borrow_csr_device(context, PURLIN_F64, 0, 3, 4, 2, PURLIN_I32, 4096, PURLIN_I32, 8192,
                                                         16384, &m));
  BAD_ARGUMENT("row_ptr_type: is ", purlin_matrix_borrow_csr_device(context, PURLIN_F64, 0, 3, 4, 2, PURLIN_F64, 4096,
                                                                    PURLIN_I32, 8192, 16384, &m));
  BAD_ARGUMENT("nnz: is -1", purlin_matrix_borrow_csr_device(context, PURLIN_F64, 0, 3, 4, -1, PURLIN_I32, 4096, PURLIN_I32,
                                                             8192, 16384, &m));
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_borrow_csr_device(context, PURLIN_F64, 0, 3, 4, 2, PURLIN_I32, 4096,
                                                                  PURLIN_I32, 8192, 16384, NULL));
  UNSUPPORTED("location", purlin_matrix_create(context, PURLIN_F64, PURLIN_DEVICE, 0, 3, 4, &m));
  BAD_ARGUMENT("location: is 7", purlin_matrix_create(context, PURLIN_F64, 7, 0, 3, 4, &m));
  BAD_ARGUMENT("flags: is 2", purlin_matrix_create(context, PURLIN_F64, 0, PURLIN_READ_ONLY, 3, 4, &m));
  BAD_ARGUMENT("rows: is -3", purlin_matrix_create(context, PURLIN_F64, 0, 0, -3, 4, &m));
  BAD_ARGUMENT("rows: is 9223372036854775807, with cols = 4", purlin_matrix_create(context, PURLIN_F64, 0, 0, INT64_MAX, 4, &m));
  BAD_ARGUMENT("cols: is 1099511627776, with rows = 1099511627775",
               purlin_matrix_create(context, PURLIN_F64, 0, 0, (INT64_C(1) << 40) - 1, INT64_C(1) << 40, &m));
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_create(context, PURLIN_F64, 0, 0, 3, 4, NULL));
  CHECK(m == NULL);
}

static void copies(const purlin_context *context) {
  float a[12], b[20];
  int i, j, right = 1;
  purlin_context *foreign = cpu_context(1);
  purlin_matrix *from = NULL, *to = NULL, *m = NULL;
  for (i = 0; i < 12; i++) a[i] = (float)i;
  for (i = 0; i < 20; i++) b[i] = -1;
  OK(purlin_matrix_borrow(context, PURLIN_F32, PURLIN_READ_ONLY, 3, 4, 3, a, &from));
  OK(purlin_matrix_borrow(context, PURLIN_F32, PURLIN_ROW_MAJOR, 3, 4, 6, b, &to));
  OK(purlin_matrix_copy(context, NULL, from, to));
  for (i = 0; i < 3; i++)
    for (j = 0; j < 4; j++) right &= b[6 * i + j] == a[i + 3 * j];
  CHECK(right && b[4] == -1 && b[5] == -1);
  BAD_ARGUMENT("destination: was borrowed read-only", purlin_matrix_copy(context, NULL, to, from));
  BAD_ARGUMENT("another context", purlin_matrix_copy(foreign, NULL, from, to));
  BAD_ARGUMENT("destination: is given twice", purlin_matrix_copy(context, NULL, to, to));
  OK(purlin_matrix_borrow(context, PURLIN_F32, 0, 4, 3, 4, b, &m));
  BAD_ARGUMENT("destination: is 4 x 3", purlin_matrix_copy(context, NULL, from, m));
  OK(purlin_matrix_destroy(m));
  OK(purlin_matrix_borrow(context, PURLIN_I32, 0, 3, 4, 3, b, &m));
  BAD_ARGUMENT("destination: is I32", purlin_matrix_copy(context, NULL, from, m));
  OK(purlin_matrix_destroy(m));
  OK(purlin_matrix_borrow(context, PURLIN_F32, 0, 3, 4, 3, b + 1, &m));
  BAD_ARGUMENT("destination: overlaps source", purlin_matrix_copy(context, NULL, to, m));
  OK(purlin_matrix_destroy(m));
  OK(purlin_matrix_destroy(from));
  OK(purlin_matrix_destroy(to));
  OK(purlin_context_destroy(foreign));
}

/* [1 0 2; 0 0 0; 0 3 4] */
struct csr {
  int32_t row32[4], col32[4];
  int64_t row64[4], col64[4];
  double values[4];
};

static const struct csr good = {
    {0, 2, 2, 4}, {0, 2, 1, 2}, {1, 3, 3, 5}, {1, 3, 2, 3}, {1, 2, 3, 4}};

static void sparse_matrices(const purlin_context *context) {
  struct csr s = good;
  purlin_matrix *m = NULL, *copied = NULL, *full = NULL;
  purlin_matrix_info info;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, 3, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32, s.values, &m));
  info = properties(m);
  CHECK(info.storage == PURLIN_CSR && info.nnz == 4 && info.rows == 3 && info.cols == 3 && info.index_base == 0);
  CHECK(info.row_ptr == (uint64_t)(uintptr_t)s.row32 && info.col_idx == (uint64_t)(uintptr_t)s.col32);
  CHECK(info.data == (uint64_t)(uintptr_t)s.values && info.owned == 0 && info.ld == 0);
  CHECK(info.row_ptr_type == PURLIN_I32 && info.col_idx_type == PURLIN_I32);
  CHECK(info.bytes == 16 + 16 + 32);
  OK(purlin_matrix_copy_csr(context, PURLIN_F64, 1, 3, 3, 4, PURLIN_I64, s.row64, PURLIN_I64, s.col64, s.values, &copied));
  info = properties(copied);
  CHECK(info.owned == 1 && info.index_base == 1 && info.row_ptr != (uint64_t)(uintptr_t)s.row64);
  CHECK(memcmp((const void *)(uintptr_t)info.row_ptr, s.row64, sizeof s.row64) == 0);
  CHECK(memcmp((const void *)(uintptr_t)info.col_idx, s.col64, sizeof s.col64) == 0);
  CHECK(memcmp((const void *)(uintptr_t)info.data, s.values, sizeof s.values) == 0);
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 3, 3, &full));
  UNSUPPORTED("sparse", purlin_matrix_copy(context, NULL, m, full));
  UNSUPPORTED("destination: is sparse, a dense matrix is needed", purlin_matrix_copy(context, NULL, full, copied));
  OK(purlin_matrix_destroy(full));
  OK(purlin_matrix_destroy(copied));
  OK(purlin_matrix_destroy(m));
  /* A pattern, mixed index types. */
  OK(purlin_matrix_borrow_csr(context, PURLIN_F32, 1, 3, 3, 4, PURLIN_I64, s.row64, PURLIN_I64, s.col64, NULL, &m));
  CHECK(properties(m).data == 0);
  OK(purlin_matrix_destroy(m));
  s.col32[0] = 0;
  s.row64[0] = 0, s.row64[1] = 2, s.row64[2] = 2, s.row64[3] = 4;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F32, 0, 3, 3, 4, PURLIN_I64, s.row64, PURLIN_I32, s.col32, NULL, &m));
  OK(purlin_matrix_destroy(m));
  /* No rows; no entries. */
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, 0, 3, 0, PURLIN_I32, s.row32, PURLIN_I32, NULL, NULL, &m));
  OK(purlin_matrix_destroy(m));
  s.row32[1] = s.row32[2] = s.row32[3] = 0;
  OK(purlin_matrix_copy_csr(context, PURLIN_F64, 0, 3, 0, 0, PURLIN_I32, s.row32, PURLIN_I32, NULL, NULL, &m));
  OK(purlin_matrix_destroy(m));
}

static void bad_sparse_matrices(const purlin_context *context) {
  struct csr s = good;
  purlin_matrix *m = NULL;
  int way;
#define MAKE(dtype, base, rows, cols, nnz, rt, r, ct, c)                                             \
  (way ? purlin_matrix_copy_csr(context, dtype, base, rows, cols, nnz, rt, r, ct, c, s.values, &m)   \
       : purlin_matrix_borrow_csr(context, dtype, base, rows, cols, nnz, rt, r, ct, c, s.values, &m))
#define MAKE32() MAKE(PURLIN_F64, 0, 3, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32)
#define MAKE64() MAKE(PURLIN_F64, 1, 3, 3, 4, PURLIN_I64, s.row64, PURLIN_I64, s.col64)
  for (way = 0; way < 2; way++) {
    s = good;
    s.row32[0] = 1;
    BAD_ARGUMENT("row_ptr: element 0 is 1", MAKE32());
    s = good;
    s.row32[2] = 1;
    BAD_ARGUMENT("row_ptr: element 2 is 1", MAKE32());
    s = good;
    s.row32[3] = 3;
    BAD_ARGUMENT("row_ptr: element 3 is 3", MAKE32());
    s = good;
    s.row32[3] = INT32_MAX;
    BAD_ARGUMENT("row_ptr: element 3", MAKE32());
    s = good;
    s.row64[1] = INT64_MIN;
    BAD_ARGUMENT("row_ptr: element 1", MAKE64());
    s = good;
    s.col32[3] = 3;
    BAD_ARGUMENT("col_idx: element 3 is 3, outside 0 to 2", MAKE32());
    s = good;
    s.col32[1] = -1;
    BAD_ARGUMENT("col_idx: element 1 is -1", MAKE32());
    s = good;
    s.col64[0] = 0;
    BAD_ARGUMENT("col_idx: element 0 is 0, outside 1 to 3", MAKE64());
    s = good;
    s.col64[2] = INT64_MAX;
    BAD_ARGUMENT("col_idx: element 2", MAKE64());
    s = good;
    BAD_ARGUMENT("index_base: is 2", MAKE(PURLIN_F64, 2, 3, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("index_base: is 2147483647", MAKE(PURLIN_F64, INT32_MAX, 3, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("index_base: is 18", MAKE(PURLIN_F64, 18, 3, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("index_base: is -1", MAKE(PURLIN_F64, -1, 3, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("rows: is -1", MAKE(PURLIN_F64, 0, -1, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("cols: is -1", MAKE(PURLIN_F64, 0, 3, -1, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("nnz: is -1", MAKE(PURLIN_F64, 0, 3, 3, -1, PURLIN_I32, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("rows", MAKE(PURLIN_F64, 0, INT64_MAX, 3, 4, PURLIN_I64, s.row64, PURLIN_I32, s.col32));
    BAD_ARGUMENT("nnz", MAKE(PURLIN_F64, 0, 3, 3, INT64_MAX, PURLIN_I32, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("row_ptr_type: is F64", MAKE(PURLIN_F64, 0, 3, 3, 4, PURLIN_F64, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("col_idx_type: is 20", MAKE(PURLIN_F64, 0, 3, 3, 4, PURLIN_I32, s.row32, 20, s.col32));
    BAD_ARGUMENT("dtype: is 12", MAKE(12, 0, 3, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32));
    BAD_ARGUMENT("row_ptr: is NULL", MAKE(PURLIN_F64, 0, 3, 3, 4, PURLIN_I32, NULL, PURLIN_I32, s.col32));
    BAD_ARGUMENT("col_idx: is NULL", MAKE(PURLIN_F64, 0, 3, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, NULL));
    BAD_ARGUMENT("col_idx: is not aligned", MAKE(PURLIN_F64, 0, 3, 3, 3, PURLIN_I32, s.row32, PURLIN_I32, (char *)s.col32 + 2));
    CHECK(m == NULL);
  }
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_borrow_csr(context, PURLIN_F64, 0, 3, 3, 4, PURLIN_I32, s.row32, PURLIN_I32, s.col32, s.values, NULL));
}

int main(void) {
  purlin_context *context = cpu_context(1);
  purlin_context_info info;
  dense_matrices(context);
  copies(context);
  sparse_matrices(context);
  bad_sparse_matrices(context);
  OK(purlin_context_info_init(&info, sizeof info));
  OK(purlin_context_properties(context, &info));
  CHECK(info.host_memory_used == 0);
  OK(purlin_context_destroy(context));
  return finish();
}
