/* Matrices whose entries are not in memory: read from sources of every kind, or known by their products. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "check.h"

static purlin_context *context, *foreign;
static char folder[] = "/tmp/purlin-XXXXXX";
static char path[64];

static purlin_matrix_info properties(const purlin_matrix *matrix) {
  purlin_matrix_info info;
  OK(purlin_matrix_info_init(&info, sizeof info));
  OK(purlin_matrix_properties(matrix, &info));
  return info;
}

static purlin_array_info array_of(const purlin_source *source) {
  purlin_array_info info;
  OK(purlin_array_info_init(&info, sizeof info));
  OK(purlin_source_info(source, &info));
  return info;
}

static void write_file(const void *head, size_t head_bytes, const void *data, size_t bytes) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL);
  if (!file) exit(1);
  CHECK(fwrite(head, 1, head_bytes, file) == head_bytes && fwrite(data, 1, bytes, file) == bytes);
  CHECK(fclose(file) == 0);
}

/* A .npy file: version, header, data. */
static void write_npy(int version, const char *header, const void *data, size_t bytes) {
  unsigned char head[256] = "\x93NUMPY";
  size_t length = strlen(header), front = version == 1 ? 10 : 12;
  head[6] = (unsigned char)version;
  head[8] = (unsigned char)length;
  memcpy(head + front, header, length);
  write_file(head, front + length, data, bytes);
}

static void npy_files(void) {
  static const double values[6] = {1, 2, 3, 4, 5, 6};
  purlin_source *source = NULL;
  purlin_matrix *m = NULL;
  purlin_array_info array;
  purlin_matrix_info info;
  write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", values, sizeof values);
  OK(purlin_source_from_npy(context, path, &source));
  array = array_of(source);
  CHECK(array.ndim == 2 && array.dims[0] == 3 && array.dims[1] == 2 && array.flags == PURLIN_ROW_MAJOR);
  CHECK(array.dtype == PURLIN_F64 && array.bytes == 48);
  OK(purlin_matrix_from_source(context, source, array.flags, &m));
  /* The matrix keeps its source alive. */
  OK(purlin_source_destroy(source));
  info = properties(m);
  CHECK(info.storage == PURLIN_STREAMED && info.rows == 2 && info.cols == 3 && info.dtype == PURLIN_F64);
  CHECK(info.flags == (PURLIN_ROW_MAJOR | PURLIN_READ_ONLY) && info.ld == 0 && info.nnz == 6 && info.bytes == 48);
  CHECK(info.data == 0 && info.row_ptr == 0 && info.col_idx == 0 && info.owned == 0 && info.location == PURLIN_HOST);
  OK(purlin_matrix_destroy(m));
  write_npy(2, "{'descr': '>c8', 'fortran_order': True, 'shape': (2, 3), }\n", values, sizeof values);
  OK(purlin_source_from_npy(context, path, &source));
  array = array_of(source);
  CHECK(array.dims[0] == 2 && array.dims[1] == 3 && array.flags == 0 && array.dtype == PURLIN_CF32);
  OK(purlin_source_destroy(source));
  /* Integers of 64 bits are read as F64. */
  write_npy(1, "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }\n", values, sizeof values);
  OK(purlin_source_from_npy(context, path, &source));
  array = array_of(source);
  CHECK(array.dims[0] == 2 && array.dims[1] == 3 && array.dtype == PURLIN_F64 && array.bytes == 48);
  OK(purlin_source_destroy(source));
  source = NULL;
#define REFUSED(text, version, header) \
  (write_npy(version, header, values, sizeof values), \
   FAILS(PURLIN_ERROR_IO, text, purlin_source_from_npy(context, path, &source)))
  REFUSED("holds elements of type \"|O\"", 1, "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }");
  REFUSED("holds elements of type \"<i16\"", 1, "{'descr': '<i16', 'fortran_order': False, 'shape': (2,), }");
  REFUSED("holds elements of type \"<f16\"", 1, "{'descr': '<f16', 'fortran_order': False, 'shape': (2,), }");
  REFUSED("holds structures", 1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }");
  REFUSED("has 0 axes", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }");
  REFUSED("has 5 axes", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1), }");
  REFUSED("are needed for [7] F64", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }");
  REFUSED("version 4", 4, "{}");
  REFUSED("without descr", 1, "{}");
#undef REFUSED
  write_file("\x93NUMB", 6, values, 2);
  FAILS(PURLIN_ERROR_IO, "is not a .npy file", purlin_source_from_npy(context, path, &source));
  CHECK(remove(path) == 0);
  FAILS(PURLIN_ERROR_IO, "open", purlin_source_from_npy(context, path, &source));
  BAD_ARGUMENT("path: is NULL", purlin_source_from_npy(context, NULL, &source));
  BAD_ARGUMENT("path: is empty", purlin_source_from_npy(context, "", &source));
  BAD_ARGUMENT("source: is NULL", purlin_source_from_npy(context, path, NULL));
  BAD_HANDLE("context: is NULL", purlin_source_from_npy(NULL, path, &source));
  CHECK(source == NULL);
}

static void mapped_files(void) {
  static const float values[6] = {1, 2, 3, 4, 5, 6};
  const int64_t dims[2] = {2, 3}, too_many[2] = {2, 4};
  purlin_source *source = NULL;
#define OPEN(offset, dtype, order, ndim, dims) \
  purlin_source_from_mapped_file(context, path, offset, dtype, order, ndim, dims, &source)
  write_file("12345", 5, values, sizeof values);
  OK(OPEN(5, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 2, dims));
  CHECK(array_of(source).bytes == 24 && array_of(source).flags == 0);
  OK(purlin_source_destroy(source));
  source = NULL;
  FAILS(PURLIN_ERROR_IO, "has 29 bytes, 37 are needed", OPEN(5, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 2, too_many));
  BAD_ARGUMENT("offset: is -1", OPEN(-1, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 2, dims));
  BAD_ARGUMENT("dtype: is 99", OPEN(0, 99, PURLIN_LITTLE_ENDIAN, 2, dims));
  UNSUPPORTED("dtype: is I64", OPEN(0, PURLIN_I64, PURLIN_LITTLE_ENDIAN, 2, dims));
  BAD_ARGUMENT("endianness: is 2", OPEN(0, PURLIN_F32, 2, 2, dims));
  BAD_ARGUMENT("ndim: is 5", OPEN(0, PURLIN_F32, PURLIN_BIG_ENDIAN, 5, dims));
  BAD_ARGUMENT("dims: is NULL", OPEN(0, PURLIN_F32, PURLIN_BIG_ENDIAN, 2, NULL));
#undef OPEN
  BAD_ARGUMENT("path: is NULL", purlin_source_from_mapped_file(context, NULL, 0, PURLIN_F32, 0, 2, dims, &source));
  BAD_ARGUMENT("source: is NULL", purlin_source_from_mapped_file(context, path, 0, PURLIN_F32, 0, 2, dims, NULL));
  BAD_HANDLE("context: is NULL", purlin_source_from_mapped_file(NULL, path, 0, PURLIN_F32, 0, 2, dims, &source));
  CHECK(remove(path) == 0);
  FAILS(PURLIN_ERROR_IO, "open", purlin_source_from_mapped_file(context, path, 0, PURLIN_F32, 0, 2, dims, &source));
  CHECK(source == NULL);
}

static int32_t read_nothing(const int64_t *first, const int64_t *count, void *block, void *user) {
  (void)first, (void)count, (void)block, (void)user;
  return 0;
}

static void from_sources(void) {
  static float data[24];
  const int64_t dims[3] = {2, 3, 4};
  purlin_source *source = NULL, *cube = NULL, *line = NULL;
  purlin_matrix *m = NULL, *other = NULL;
  purlin_tensor *t = array2(context, PURLIN_F32, 4, 6, data);
  OK(purlin_source_from_callback(context, PURLIN_U8, 2, dims, read_nothing, NULL, &source));
  OK(purlin_matrix_from_source(context, source, 0, &m));
  CHECK(properties(m).rows == 2 && properties(m).cols == 3 && properties(m).dtype == PURLIN_U8);
  OK(purlin_matrix_from_source(context, source, PURLIN_ROW_MAJOR, &other));
  CHECK(properties(other).rows == 3 && properties(other).cols == 2);
  OK(purlin_matrix_destroy(other));
  OK(purlin_matrix_create(context, PURLIN_U8, PURLIN_HOST, 0, 2, 3, &other));
  UNSUPPORTED("source: is streamed, a dense matrix is needed", purlin_matrix_copy(context, NULL, m, other));
  OK(purlin_matrix_destroy(other));
  OK(purlin_matrix_destroy(m));
  m = NULL;
  OK(purlin_source_from_callback(context, PURLIN_U8, 3, dims, read_nothing, NULL, &cube));
  OK(purlin_matrix_from_source(context, cube, 0, &m));
  CHECK(properties(m).rows == 6 && properties(m).cols == 4);
  OK(purlin_matrix_destroy(m));
  OK(purlin_matrix_from_source(context, cube, PURLIN_ROW_MAJOR, &m));
  CHECK(properties(m).rows == 4 && properties(m).cols == 6 && properties(m).bytes == 24);
  OK(purlin_matrix_destroy(m));
  m = NULL;
  OK(purlin_source_from_callback(context, PURLIN_U8, 1, dims, read_nothing, NULL, &line));
  BAD_ARGUMENT("source: has dimensions [2], at least two are needed", purlin_matrix_from_source(context, line, 0, &m));
  OK(purlin_source_destroy(line));
  BAD_ARGUMENT("flags: is 2", purlin_matrix_from_source(context, source, PURLIN_READ_ONLY, &m));
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_from_source(context, source, 0, NULL));
  BAD_ARGUMENT("source: belongs to another context", purlin_matrix_from_source(foreign, source, 0, &m));
  BAD_HANDLE("source: is NULL", purlin_matrix_from_source(context, NULL, 0, &m));
  BAD_HANDLE("context: is NULL", purlin_matrix_from_source(NULL, source, 0, &m));
  OK(purlin_source_destroy(cube));
  OK(purlin_source_destroy(source));
  BAD_HANDLE("source: was destroyed", purlin_matrix_from_source(context, source, 0, &m));
  CHECK(m == NULL);
  OK(purlin_source_from_tensor(context, t, &source));
  OK(purlin_matrix_from_source(context, source, 0, &m));
  OK(purlin_source_destroy(source));
  OK(purlin_tensor_destroy(t));
  CHECK(properties(m).rows == 4 && properties(m).cols == 6);
  OK(purlin_matrix_destroy(m));
}

static int32_t apply_nothing(int32_t adjoint, int64_t count, const void *x, int64_t ldx, void *y, int64_t ldy,
                             uint64_t cuda_stream, void *user) {
  (void)cuda_stream;
  (void)adjoint, (void)count, (void)x, (void)ldx, (void)y, (void)ldy, (void)user;
  return 0;
}

static void operators(void) {
  purlin_matrix *m = NULL, *d = NULL;
  purlin_matrix_info info;
  float data[6];
#define MAKE(dtype, rows, cols, apply, location) \
  purlin_matrix_from_operator(context, dtype, rows, cols, apply, NULL, location, &m)
  OK(MAKE(PURLIN_F32, 2, 3, apply_nothing, PURLIN_HOST));
  info = properties(m);
  CHECK(info.storage == PURLIN_OPERATOR && info.rows == 2 && info.cols == 3 && info.dtype == PURLIN_F32);
  CHECK(info.flags == PURLIN_READ_ONLY && info.ld == 0 && info.nnz == 0 && info.bytes == 0 && info.data == 0);
  OK(purlin_matrix_borrow(context, PURLIN_F32, 0, 2, 3, 2, data, &d));
  UNSUPPORTED("source: is an operator, a dense matrix is needed", purlin_matrix_copy(context, NULL, m, d));
  UNSUPPORTED("destination: is an operator, a dense matrix is needed", purlin_matrix_copy(context, NULL, d, m));
  OK(purlin_matrix_destroy(d));
  OK(purlin_matrix_destroy(m));
  OK(MAKE(PURLIN_CF64, 0, 3, apply_nothing, PURLIN_HOST));
  OK(purlin_matrix_destroy(m));
  m = NULL;
  BAD_ARGUMENT("dtype: is U8", MAKE(PURLIN_U8, 2, 3, apply_nothing, PURLIN_HOST));
  BAD_ARGUMENT("dtype: is 77", MAKE(77, 2, 3, apply_nothing, PURLIN_HOST));
  BAD_ARGUMENT("rows: is -2", MAKE(PURLIN_F64, -2, 3, apply_nothing, PURLIN_HOST));
  BAD_ARGUMENT("cols: is -3", MAKE(PURLIN_F64, 2, -3, apply_nothing, PURLIN_HOST));
  BAD_ARGUMENT("rows: is 1099511627776, with cols = 1099511627776 more", MAKE(PURLIN_F64, INT64_C(1) << 40, INT64_C(1) << 40, apply_nothing, PURLIN_HOST));
  BAD_ARGUMENT("apply: is NULL", MAKE(PURLIN_F64, 2, 3, NULL, PURLIN_HOST));
  BAD_ARGUMENT("location: is 5", MAKE(PURLIN_F64, 2, 3, apply_nothing, 5));
  UNSUPPORTED("location: needs a context on a GPU", MAKE(PURLIN_F64, 2, 3, apply_nothing, PURLIN_DEVICE));
#undef MAKE
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_from_operator(context, PURLIN_F64, 2, 3, apply_nothing, NULL, 0, NULL));
  BAD_HANDLE("context: is NULL", purlin_matrix_from_operator(NULL, PURLIN_F64, 2, 3, apply_nothing, NULL, 0, &m));
  CHECK(m == NULL);
}

int main(void) {
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/x", folder);
  context = cpu_context(2);
  foreign = cpu_context(1);
  npy_files();
  mapped_files();
  from_sources();
  operators();
  OK(purlin_context_destroy(foreign));
  OK(purlin_context_destroy(context));
  CHECK(rmdir(folder) == 0);
  return finish();
}
