/* Dense and symmetric tensors: creation, borrowing, strides, limits, copies. */
#define _DEFAULT_SOURCE /* mmap's flags */
#include "check.h"

#include <sys/mman.h>

static const int64_t element_size[] = {4, 8, 8, 16, 4, 8, 1, 2, 2, 1, 2, 4};

static purlin_tensor_info properties(const purlin_tensor *tensor) {
  purlin_tensor_info info;
  OK(purlin_tensor_info_init(&info, sizeof info));
  OK(purlin_tensor_properties(tensor, &info));
  return info;
}

static void creation(const purlin_context *context) {
  static const int64_t sizes[] = {0, 1, 2, 63, 64, 65, 1000};
  purlin_tensor *untouched = (purlin_tensor *)(uintptr_t)99;
  purlin_tensor *t = NULL;
  int64_t dims[33] = {2, 3, 4};
  int64_t shape[3], strides[3];
  int32_t dtype;
  size_t k;
  for (dtype = PURLIN_F32; dtype <= PURLIN_U32; dtype++) {
    for (k = 0; k < COUNT(sizes); k++) {
      purlin_tensor_info info;
      const unsigned char *bytes;
      int64_t i, sum = 0;
      OK(purlin_tensor_create(context, dtype, PURLIN_HOST, 0, 1, &sizes[k], &t));
      info = properties(t);
      CHECK(info.dtype == dtype && info.location == PURLIN_HOST && info.ndim == 1 && info.flags == 0);
      CHECK(info.symmetric_order == 0 && info.symmetric_dimension == 0 && info.owned == 1);
      CHECK(info.elements == sizes[k] && info.bytes == sizes[k] * element_size[dtype]);
      CHECK(info.data % 64 == 0);
      bytes = (const unsigned char *)(uintptr_t)info.data;
      for (i = 0; i < info.bytes; i++) sum += bytes[i];
      CHECK(sum == 0);
      OK(purlin_tensor_destroy(t));
    }
  }
  OK(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 0, NULL, &t));
  CHECK(properties(t).elements == 1 && properties(t).ndim == 0);
  OK(purlin_tensor_shape(t, 0, NULL, NULL));
  OK(purlin_tensor_destroy(t));

  OK(purlin_tensor_create(context, PURLIN_F32, PURLIN_HOST, PURLIN_ROW_MAJOR | PURLIN_PINNED, 3, dims, &t));
  OK(purlin_tensor_shape(t, 3, shape, strides));
  CHECK(shape[0] == 2 && shape[1] == 3 && shape[2] == 4);
  CHECK(strides[0] == 12 && strides[1] == 4 && strides[2] == 1);
  BAD_ARGUMENT("capacity: is 2, less than ndim = 3", purlin_tensor_shape(t, 2, shape, strides));
  BAD_ARGUMENT("capacity: is -1", purlin_tensor_shape(t, -1, NULL, NULL));
  BAD_ARGUMENT("info: is NULL", purlin_tensor_properties(t, NULL));
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_create(context, PURLIN_F32, PURLIN_HOST, 0, 3, dims, &t));
  OK(purlin_tensor_shape(t, 32, NULL, strides));
  CHECK(strides[0] == 1 && strides[1] == 2 && strides[2] == 6);
  OK(purlin_tensor_destroy(t));

  t = untouched;
  BAD_ARGUMENT("dtype: is 12", purlin_tensor_create(context, 12, PURLIN_HOST, 0, 3, dims, &t));
  BAD_ARGUMENT("dtype: is -1", purlin_tensor_create(context, -1, PURLIN_HOST, 0, 3, dims, &t));
  BAD_ARGUMENT("location: is 2", purlin_tensor_create(context, PURLIN_F32, 2, 0, 3, dims, &t));
  BAD_ARGUMENT("location: is -1", purlin_tensor_create(context, PURLIN_F32, -1, 0, 3, dims, &t));
  BAD_ARGUMENT("flags: is 2", purlin_tensor_create(context, PURLIN_F32, 0, PURLIN_READ_ONLY, 3, dims, &t));
  BAD_ARGUMENT("flags: is 8", purlin_tensor_create(context, PURLIN_F32, 0, PURLIN_ENTRY_MAJOR, 3, dims, &t));
  BAD_ARGUMENT("flags: is -1", purlin_tensor_create(context, PURLIN_F32, 0, -1, 3, dims, &t));
  BAD_ARGUMENT("flags", purlin_tensor_create(context, PURLIN_F32, PURLIN_DEVICE, PURLIN_PINNED, 3, dims, &t));
  UNSUPPORTED("location", purlin_tensor_create(context, PURLIN_F32, PURLIN_DEVICE, 0, 3, dims, &t));
  BAD_ARGUMENT("ndim: is -1", purlin_tensor_create(context, PURLIN_F32, 0, 0, -1, dims, &t));
  BAD_ARGUMENT("ndim: is 4294967297", purlin_tensor_create(context, PURLIN_F32, 0, 0, 4294967297, dims, &t));
  BAD_ARGUMENT("ndim: is 33", purlin_tensor_create(context, PURLIN_F32, 0, 0, 33, dims, &t));
  BAD_ARGUMENT("dims: is NULL", purlin_tensor_create(context, PURLIN_F32, 0, 0, 3, NULL, &t));
  BAD_ARGUMENT("tensor: is NULL", purlin_tensor_create(context, PURLIN_F32, 0, 0, 3, dims, NULL));
  dims[1] = -3;
  BAD_ARGUMENT("dims: element 1 is -3", purlin_tensor_create(context, PURLIN_F32, 0, 0, 3, dims, &t));
  dims[1] = INT64_MIN;
  BAD_ARGUMENT("dims: element 1", purlin_tensor_create(context, PURLIN_F32, 0, 0, 3, dims, &t));
  dims[1] = INT64_MAX;
  BAD_ARGUMENT("dims", purlin_tensor_create(context, PURLIN_F32, 0, 0, 3, dims, &t));
  dims[0] = dims[1] = dims[2] = INT64_C(1) << 21;
  BAD_ARGUMENT("dims", purlin_tensor_create(context, PURLIN_F64, 0, 0, 3, dims, &t));
  dims[0] = INT64_MAX;
  BAD_ARGUMENT("dims", purlin_tensor_create(context, PURLIN_F32, 0, 0, 1, dims, &t));
  CHECK(t == untouched);
}

static void limits(void) {
  purlin_context *context = NULL;
  purlin_context_options o;
  purlin_context_info info;
  purlin_tensor *a = NULL, *b = NULL;
  int64_t n = 600;
  OK(purlin_context_options_init(&o, sizeof o));
  o.backend = PURLIN_BACKEND_CPU;
  o.threads = 1;
  o.host_memory_limit = 1000;
  OK(purlin_context_create(&o, &context));
  OK(purlin_tensor_create(context, PURLIN_U8, PURLIN_HOST, 0, 1, &n, &a));
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "1000", purlin_tensor_create(context, PURLIN_U8, PURLIN_HOST, 0, 1, &n, &b));
  CHECK(b == NULL);
  OK(purlin_context_info_init(&info, sizeof info));
  OK(purlin_context_properties(context, &info));
  CHECK(info.host_memory_limit == 1000 && info.host_memory_used == 600);
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_create(context, PURLIN_U8, PURLIN_HOST, 0, 1, &n, &b));
  OK(purlin_tensor_destroy(b));
  OK(purlin_context_properties(context, &info));
  CHECK(info.host_memory_used == 0);
  /* More bytes than any machine has are refused without a limit too. */
  OK(purlin_context_destroy(context));
  context = cpu_context(1);
  n = INT64_C(1) << 61;
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "", purlin_tensor_create(context, PURLIN_U8, PURLIN_HOST, 0, 1, &n, &b));
  OK(purlin_context_destroy(context));
}

static void borrowing(const purlin_context *context) {
  double data[24];
  unsigned char raw[64];
  int64_t dims[3] = {2, 3, 4};
  int64_t strides[3] = {1, 2, 6};
  int64_t none[2] = {0, 5};
  int64_t found[3];
  purlin_tensor *t = NULL;
  purlin_tensor_info info;
  OK(purlin_tensor_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, 3, dims, strides, data, &t));
  info = properties(t);
  CHECK(info.owned == 0 && info.flags == PURLIN_READ_ONLY && info.data == (uint64_t)(uintptr_t)data);
  CHECK(info.elements == 24 && info.bytes == (int64_t)sizeof data);
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_borrow(context, PURLIN_F64, PURLIN_ROW_MAJOR, 3, dims, NULL, data, &t));
  OK(purlin_tensor_shape(t, 3, NULL, found));
  CHECK(found[0] == 12 && found[1] == 4 && found[2] == 1);
  OK(purlin_tensor_destroy(t));
  /* The last column ends where its elements end. */
  strides[1] = 5;
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, dims, strides, data, &t));
  CHECK(properties(t).bytes == (2 * 5 + 1 + 1) * 8);
  OK(purlin_tensor_destroy(t));
  /* Nothing is read of an empty tensor. */
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, none, NULL, NULL, &t));
  CHECK(properties(t).elements == 0 && properties(t).bytes == 0);
  OK(purlin_tensor_destroy(t));
  t = NULL;
  BAD_ARGUMENT("data: is NULL", purlin_tensor_borrow(context, PURLIN_F64, 0, 3, dims, NULL, NULL, &t));
  BAD_ARGUMENT("data: is not aligned to 8", purlin_tensor_borrow(context, PURLIN_F64, 0, 1, dims, NULL, (char *)data + 4, &t));
  BAD_ARGUMENT("data: is not aligned to 2", purlin_tensor_borrow(context, PURLIN_U16, 0, 1, dims, NULL, (char *)data + 1, &t));
  OK(purlin_tensor_borrow(context, PURLIN_U8, 0, 1, dims, NULL, raw + 1, &t));
  OK(purlin_tensor_destroy(t));
  /* Complex numbers need the alignment of one component alone. */
  OK(purlin_tensor_borrow(context, PURLIN_CF64, 0, 1, dims, NULL, data + 1, &t));
  OK(purlin_tensor_destroy(t));
  t = NULL;
  strides[2] = -1;
  BAD_ARGUMENT("strides: element 2 is -1", purlin_tensor_borrow(context, PURLIN_F64, 0, 3, dims, strides, data, &t));
  strides[2] = INT64_MAX;
  BAD_ARGUMENT("dims", purlin_tensor_borrow(context, PURLIN_F64, 0, 3, dims, strides, data, &t));
  BAD_ARGUMENT("flags: is 4", purlin_tensor_borrow(context, PURLIN_F64, PURLIN_PINNED, 3, dims, NULL, data, &t));
  BAD_ARGUMENT("flags: is 64", purlin_tensor_borrow(context, PURLIN_F64, 64, 3, dims, NULL, data, &t));
  BAD_ARGUMENT("dtype: is 77", purlin_tensor_borrow(context, 77, 0, 3, dims, NULL, data, &t));
  BAD_ARGUMENT("tensor: is NULL", purlin_tensor_borrow(context, PURLIN_F64, 0, 3, dims, NULL, data, NULL));
  UNSUPPORTED("data", purlin_tensor_borrow_device(context, PURLIN_F64, 0, 3, dims, NULL, 4096, &t));
  UNSUPPORTED("data", purlin_tensor_borrow_symmetric_device(context, PURLIN_F64, 0, 4, 3, 1, 0, 0, 4096, &t));
  BAD_ARGUMENT("ndim: is 40", purlin_tensor_borrow_device(context, PURLIN_F64, 0, 40, dims, NULL, 4096, &t));
  CHECK(t == NULL);
}

/* Offsets beyond 2^32 bytes, over address space that costs no memory. */
static void beyond_four_gib(const purlin_context *context) {
  const int64_t gib = INT64_C(1) << 30;
  int64_t dims[2] = {3, 2}, strides[2];
  double packed[6] = {0};
  purlin_tensor *wide = NULL, *narrow;
  char *space = mmap(NULL, (size_t)(10 * gib), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) {
    printf("no 10 GiB of address space here: offsets beyond 4 GiB are not tested\n");
    return;
  }
  strides[0] = gib / 2; /* 4 GiB in bytes */
  strides[1] = 7;
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 2, dims, strides, space, &wide));
  CHECK(properties(wide).bytes == 8 * (2 * strides[0] + 7 + 1));
  ((double *)space)[2 * strides[0] + 7] = 42.0;
  ((double *)space)[strides[0]] = 7.0;
  narrow = array2(context, PURLIN_F64, 3, 2, packed);
  OK(purlin_tensor_copy(context, NULL, wide, narrow));
  CHECK(packed[5] == 42.0 && packed[1] == 7.0 && packed[0] == 0.0);
  packed[2] = -1.0;
  OK(purlin_tensor_copy(context, NULL, narrow, wide));
  CHECK(((double *)space)[2 * strides[0]] == -1.0);
  OK(purlin_tensor_destroy(wide));
  dims[0] = 5 * gib;
  OK(purlin_tensor_borrow(context, PURLIN_U8, 0, 1, dims, NULL, space, &wide));
  CHECK(properties(wide).elements == 5 * gib);
  OK(purlin_tensor_destroy(wide));
  OK(purlin_tensor_destroy(narrow));
  munmap(space, (size_t)(10 * gib));
}

static void copies(const purlin_context *context) {
  float a[24], b[24], wide[64];
  int64_t dims[3] = {2, 3, 4}, other[3] = {2, 4, 3};
  int64_t spread[3] = {1, 4, 16}, same[3] = {1, 1, 0};
  int i, j, k, right = 1;
  purlin_context *foreign = cpu_context(1);
  purlin_stream *stream = NULL, *foreign_stream = NULL;
  purlin_tensor *from = dense(context, PURLIN_F32, 3, dims, a), *to = NULL, *t = NULL;
  OK(purlin_stream_create(context, &stream));
  OK(purlin_stream_create(foreign, &foreign_stream));
  for (i = 0; i < 24; i++) a[i] = (float)i;
  for (i = 0; i < 64; i++) wide[i] = -1;
  OK(purlin_tensor_borrow(context, PURLIN_F32, PURLIN_ROW_MAJOR, 3, dims, NULL, b, &to));
  OK(purlin_tensor_copy(context, stream, from, to));
  for (i = 0; i < 2; i++)
    for (j = 0; j < 3; j++)
      for (k = 0; k < 4; k++) right &= b[i * 12 + j * 4 + k] == a[i + 2 * j + 6 * k];
  CHECK(right);
  /* Gaps stay untouched. */
  OK(purlin_tensor_borrow(context, PURLIN_F32, 0, 3, dims, spread, wide, &t));
  OK(purlin_tensor_copy(context, NULL, to, t));
  right = wide[2] == -1 && wide[3] == -1 && wide[12] == -1;
  for (i = 0; i < 2; i++)
    for (j = 0; j < 3; j++)
      for (k = 0; k < 4; k++) right &= wide[i + 4 * j + 16 * k] == a[i + 2 * j + 6 * k];
  CHECK(right);
  OK(purlin_tensor_destroy(t));
  BAD_ARGUMENT("destination: is given twice", purlin_tensor_copy(context, NULL, from, from));
  BAD_ARGUMENT("stream: belongs to another context", purlin_tensor_copy(context, foreign_stream, from, to));
  BAD_ARGUMENT("belongs to another context", purlin_tensor_copy(foreign, NULL, from, to));
  t = dense(foreign, PURLIN_F32, 3, dims, b);
  BAD_ARGUMENT("destination", purlin_tensor_copy(context, NULL, from, t));
  OK(purlin_tensor_destroy(t));
  t = dense(context, PURLIN_F32, 3, other, b);
  BAD_ARGUMENT("destination: has dimensions", purlin_tensor_copy(context, NULL, from, t));
  OK(purlin_tensor_destroy(t));
  t = dense(context, PURLIN_I32, 3, dims, b);
  BAD_ARGUMENT("destination: is I32", purlin_tensor_copy(context, NULL, from, t));
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_borrow(context, PURLIN_F32, PURLIN_READ_ONLY, 3, dims, NULL, b, &t));
  BAD_ARGUMENT("destination: was borrowed read-only", purlin_tensor_copy(context, NULL, from, t));
  OK(purlin_tensor_copy(context, NULL, t, from));
  OK(purlin_tensor_destroy(t));
  /* One element seen many times may be read, not written. */
  OK(purlin_tensor_borrow(context, PURLIN_F32, 0, 3, dims, same, wide, &t));
  OK(purlin_tensor_copy(context, NULL, t, from));
  CHECK(a[0] == wide[0] && a[23] == wide[3]);
  BAD_ARGUMENT("destination", purlin_tensor_copy(context, NULL, from, t));
  OK(purlin_tensor_destroy(t));
  t = dense(context, PURLIN_F32, 3, dims, wide);
  OK(purlin_tensor_destroy(from));
  from = dense(context, PURLIN_F32, 3, dims, wide + 23);
  BAD_ARGUMENT("destination: overlaps source", purlin_tensor_copy(context, NULL, from, t));
  OK(purlin_tensor_destroy(from));
  from = dense(context, PURLIN_F32, 3, dims, wide + 24);
  OK(purlin_tensor_copy(context, NULL, from, t));
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_destroy(from));
  OK(purlin_tensor_destroy(to));
  dims[1] = 0;
  from = dense(context, PURLIN_F32, 3, dims, NULL);
  to = dense(context, PURLIN_F32, 3, dims, NULL);
  OK(purlin_tensor_copy(context, NULL, from, to));
  OK(purlin_tensor_destroy(from));
  OK(purlin_tensor_destroy(to));
  OK(purlin_stream_destroy(stream));
  OK(purlin_stream_destroy(foreign_stream));
  OK(purlin_context_destroy(foreign));
}

static void symmetric_batches(const purlin_context *context) {
  double data[60];
  int64_t dims[2], strides[2];
  purlin_tensor *t = NULL;
  purlin_tensor_info info;
  OK(purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, 0, 4, 3, 7, &t));
  info = properties(t);
  CHECK(info.symmetric_order == 4 && info.symmetric_dimension == 3 && info.ndim == 2 && info.elements == 105);
  OK(purlin_tensor_shape(t, 2, dims, strides));
  CHECK(dims[0] == 15 && dims[1] == 7 && strides[0] == 1 && strides[1] == 15);
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_create_symmetric(context, PURLIN_F32, PURLIN_HOST, PURLIN_ENTRY_MAJOR | PURLIN_PINNED, 4, 3, 7, &t));
  OK(purlin_tensor_shape(t, 2, dims, strides));
  CHECK(strides[0] == 7 && strides[1] == 1);
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, 0, 2, 1, 0, &t));
  CHECK(properties(t).elements == 0);
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_borrow_symmetric(context, PURLIN_F64, PURLIN_ENTRY_MAJOR, 4, 3, 4, 0, 0, data, &t));
  OK(purlin_tensor_shape(t, 2, NULL, strides));
  CHECK(strides[0] == 4 && strides[1] == 1);
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, 3, 1, 20, data, &t));
  CHECK(properties(t).bytes == (2 * 20 + 15) * 8);
  OK(purlin_tensor_destroy(t));
  t = NULL;
#define SYMMETRIC(order, dimension, count) \
  purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, 0, order, dimension, count, &t)
  BAD_ARGUMENT("order: is 1", SYMMETRIC(1, 3, 1));
  BAD_ARGUMENT("order: is -4", SYMMETRIC(-4, 3, 1));
  BAD_ARGUMENT("dimension: is 0", SYMMETRIC(4, 0, 1));
  BAD_ARGUMENT("dimension: is -1", SYMMETRIC(4, -1, 1));
  BAD_ARGUMENT("count: is -1", SYMMETRIC(4, 3, -1));
  BAD_ARGUMENT("order", SYMMETRIC(40, 40, 1));
  BAD_ARGUMENT("order", SYMMETRIC(INT32_MAX, INT64_MAX, 1));
  BAD_ARGUMENT("count: is 9223372036854775807", SYMMETRIC(4, 3, INT64_MAX));
#undef SYMMETRIC
  UNSUPPORTED("dtype", purlin_tensor_create_symmetric(context, PURLIN_I32, PURLIN_HOST, 0, 4, 3, 1, &t));
  UNSUPPORTED("dtype", purlin_tensor_borrow_symmetric(context, PURLIN_CF64, 0, 4, 3, 1, 0, 0, data, &t));
  BAD_ARGUMENT("dtype", purlin_tensor_borrow_symmetric(context, 99, 0, 4, 3, 1, 0, 0, data, &t));
  BAD_ARGUMENT("flags", purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, PURLIN_ROW_MAJOR, 4, 3, 1, &t));
  BAD_ARGUMENT("flags", purlin_tensor_borrow_symmetric(context, PURLIN_F64, PURLIN_ROW_MAJOR, 4, 3, 1, 0, 0, data, &t));
  BAD_ARGUMENT("dimension: is 9223372036854775807, with order = 4",
               purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, 0, 4, INT64_MAX, 1, &t));
  BAD_ARGUMENT("count: is 9223372036854775807, with 15 entries each",
               purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, 0, 4, 3, INT64_MAX, &t));
  BAD_ARGUMENT("count: is 9223372036854775807",
               purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, INT64_MAX, 0, 0, data, &t));
  BAD_ARGUMENT("entry_stride: is 9223372036854775807, with count = 2",
               purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, 2, INT64_MAX, 15, data, &t));
  BAD_ARGUMENT("entry_stride: is -1", purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, 1, -1, 15, data, &t));
  BAD_ARGUMENT("tensor_stride: is -5", purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, 1, 1, -5, data, &t));
  BAD_ARGUMENT("data: is NULL", purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, 1, 0, 0, NULL, &t));
  BAD_ARGUMENT("tensor: is NULL", purlin_tensor_borrow_symmetric(context, PURLIN_F64, 0, 4, 3, 1, 0, 0, data, NULL));
  CHECK(t == NULL);
}

int main(void) {
  purlin_context *context;
  limits();
  CHECK(purlin_live_handles() == 0);
  context = cpu_context(2);
  creation(context);
  borrowing(context);
  beyond_four_gib(context);
  copies(context);
  symmetric_batches(context);
  CHECK(purlin_live_handles() == 1);
  OK(purlin_context_destroy(context));
  return finish();
}
