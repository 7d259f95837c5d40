/* Tensor trains and TT-matrices as objects: making, borrowing, setting and reading cores, copies, and every refusal. */
#include "tt.h"

static purlin_context *context, *foreign;

static purlin_tensor *core_tensor(void *data, int64_t a, int64_t b, int64_t c) {
  return array3(context, PURLIN_F64, a, b, c, data);
}

/* Own memory: cores are set from and copied to tensors of any strides. */
static void cores(void) {
  const int64_t modes[2] = {2, 3}, ranks[3] = {1, 4, 1}, dims[3] = {4, 3, 1}, strides[3] = {3, 1, 12};
  double first[8], rows[12], columns[12] = {0};
  int64_t found[4];
  uint64_t address = 0;
  purlin_tt_info info = train_info();
  purlin_tt *tt = NULL, *copy = NULL;
  purlin_tensor *t, *c_order = NULL, *out;
  int i;
  for (i = 0; i < 8; i++) first[i] = i;
  for (i = 0; i < 12; i++) rows[i] = 100 + i;
  OK(purlin_tt_create(context, PURLIN_F64, PURLIN_HOST, PURLIN_PINNED, 2, modes, ranks, &tt));
  OK(purlin_tt_properties(tt, &info));
  CHECK(info.dtype == PURLIN_F64 && info.location == PURLIN_HOST && info.flags == 0 && info.owned == 1);
  CHECK(info.cyclic == 0 && info.uniform == 0 && info.length == 2 && info.max_rank == 4);
  CHECK(info.elements == 20 && info.bytes == 160);
  OK(purlin_tt_shape(tt, 2, found, NULL));
  CHECK(found[0] == 2 && found[1] == 3);
  OK(purlin_tt_shape(tt, 9, NULL, found));
  CHECK(found[0] == 1 && found[1] == 4 && found[2] == 1);
  BAD_ARGUMENT("capacity: is 1, less than the 2 cores", purlin_tt_shape(tt, 1, found, NULL));

  t = core_tensor(first, 1, 2, 4);
  OK(purlin_tensor_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, 3, dims, strides, rows, &c_order));
  out = core_tensor(columns, 4, 3, 1);
  BAD_ARGUMENT("tt: core 1 has not been set", purlin_tt_core(tt, NULL, 1, out));
  OK(purlin_tt_set_core(tt, NULL, 1, c_order));
  OK(purlin_tt_core(tt, NULL, 1, out));
  for (i = 0; i < 12; i++) CHECK(columns[i % 4 * 1 + 4 * (i / 4)] == rows[(i % 4) * 3 + i / 4]);
  BAD_ARGUMENT("core: has dimensions [4, 3, 1], [1, 2, 4] are needed", purlin_tt_set_core(tt, NULL, 0, out));
  BAD_ARGUMENT("k: is 2, outside 0 to 1", purlin_tt_set_core(tt, NULL, 2, t));
  BAD_ARGUMENT("k: is -1, outside 0 to 1", purlin_tt_core(tt, NULL, -1, t));
  OK(purlin_tt_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, modes, ranks, &copy));
  BAD_ARGUMENT("source: core 0 has not been set", purlin_tt_copy(context, NULL, tt, copy));
  OK(purlin_tt_set_core(tt, NULL, 0, t));
  OK(purlin_tt_copy(context, NULL, tt, copy));
  memset(columns, 0, sizeof columns);
  OK(purlin_tt_core(copy, NULL, 1, out));
  CHECK(columns[1] == 103);
  OK(purlin_tt_core_address(tt, 1, &address));
  CHECK(((const double *)(uintptr_t)address)[1] == 103);
  BAD_ARGUMENT("k: is 5", purlin_tt_core_address(tt, 5, &address));
  BAD_ARGUMENT("address: is NULL", purlin_tt_core_address(tt, 0, NULL));
  BAD_HANDLE("core: is NULL", purlin_tt_set_core(tt, NULL, 0, NULL));
  OK(purlin_tensor_destroy(out));
  OK(purlin_tensor_destroy(c_order));
  OK(purlin_tensor_destroy(t));
  OK(purlin_tt_destroy(copy));
  OK(purlin_tt_destroy(tt));
  BAD_HANDLE("tt: was destroyed", purlin_tt_destroy(tt));
  OK(purlin_tt_destroy(NULL));
}

/* The caller's cores in place. */
static void borrowed(void) {
  static made x;
  const int64_t cell[3] = {2, 2, 2}, around[3] = {3, 3, 3};
  double one[18];
  void *same[2];
  uint64_t address = 0;
  purlin_tt_info info = train_info();
  purlin_tt *tt = NULL;
  purlin_tensor *t;
  int64_t k;
  make_train(context, &x, 5, 3, 4, 2, 7);
  OK(purlin_tt_properties(x.tt, &info));
  CHECK(info.cyclic == 1 && info.owned == 0 && info.flags == 0 && info.length == 5 && info.max_rank == 4);
  for (k = 0; k < 5; k++) {
    OK(purlin_tt_core_address(x.tt, k, &address));
    CHECK(address == (uint64_t)(uintptr_t)x.cores[k]);
  }
  /* Writing goes to the caller's memory. */
  for (k = 0; k < 18; k++) one[k] = (double)k;
  t = core_tensor(one, 2, 3, 3);
  BAD_ARGUMENT("core: has dimensions", purlin_tt_set_core(x.tt, NULL, 0, t));
  OK(purlin_tensor_destroy(t));
  t = core_tensor(x.cores[1], 4, 3, 4);
  BAD_ARGUMENT("tt: overlaps core", purlin_tt_set_core(x.tt, NULL, 1, t));
  BAD_ARGUMENT("core: overlaps tt", purlin_tt_core(x.tt, NULL, 1, t));
  OK(purlin_tt_set_core(x.tt, NULL, 2, t));
  CHECK(((double *)x.cores[2])[5] == ((double *)x.cores[1])[5]);
  BAD_ARGUMENT("destination: is given twice", purlin_tt_copy(context, NULL, x.tt, x.tt));
  OK(purlin_tt_borrow(context, PURLIN_F64, 0, 5, x.modes, x.ranks, x.cores, &tt));
  BAD_ARGUMENT("destination: overlaps source", purlin_tt_copy(context, NULL, x.tt, tt));
  OK(purlin_tt_destroy(tt));
  OK(purlin_tensor_destroy(t));
  tt = NULL;
  /* One core throughout: a uniform train. */
  same[0] = same[1] = one;
  OK(purlin_tt_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, 2, cell, around, same, &tt));
  OK(purlin_tt_properties(tt, &info));
  CHECK(info.uniform == 1 && info.cyclic == 1 && info.flags == PURLIN_READ_ONLY);
  t = core_tensor(x.data, 3, 2, 3);
  BAD_ARGUMENT("tt: was borrowed read-only", purlin_tt_set_core(tt, NULL, 0, t));
  OK(purlin_tensor_destroy(t));
  OK(purlin_tt_destroy(tt));
  OK(purlin_tt_destroy(x.tt));
}

static void refusals(void) {
  const int64_t modes[2] = {2, 3}, ranks[3] = {1, 4, 1}, open_end[3] = {1, 4, 2}, none[2] = {2, 0}, below[3] = {1, -1, 1};
  const int64_t huge[2] = {INT64_C(1) << 31, 3}, wide[3] = {INT64_C(1) << 31, INT64_C(1) << 31, INT64_C(1) << 31};
  double data[40] = {0};
  void *list[2] = {data, data + 8}, *missing[2] = {data, NULL}, *odd[2];
  const uint64_t on_device[2] = {64, 128};
  purlin_tt_info info = train_info();
  purlin_tt *tt = NULL;
  odd[0] = data;
  odd[1] = (char *)data + 4;
#define CREATE(dtype, location, flags, length, m, r) purlin_tt_create(context, dtype, location, flags, length, m, r, &tt)
#define BORROW(dtype, flags, m, r, c) purlin_tt_borrow(context, dtype, flags, 2, m, r, c, &tt)
  BAD_HANDLE("context: is NULL", purlin_tt_create(NULL, PURLIN_F64, 0, 0, 2, modes, ranks, &tt));
  BAD_ARGUMENT("tt: is NULL", purlin_tt_create(context, PURLIN_F64, 0, 0, 2, modes, ranks, NULL));
  BAD_ARGUMENT("dtype: is 99", CREATE(99, 0, 0, 2, modes, ranks));
  BAD_ARGUMENT("dtype: is I32", CREATE(PURLIN_I32, 0, 0, 2, modes, ranks));
  BAD_ARGUMENT("location: is 2", CREATE(PURLIN_F64, 2, 0, 2, modes, ranks));
  UNSUPPORTED("location", CREATE(PURLIN_F64, PURLIN_DEVICE, 0, 2, modes, ranks));
  BAD_ARGUMENT("flags: is 2", CREATE(PURLIN_F64, 0, PURLIN_READ_ONLY, 2, modes, ranks));
  BAD_ARGUMENT("length: is 0", CREATE(PURLIN_F64, 0, 0, 0, modes, ranks));
  BAD_ARGUMENT("length: is -3", CREATE(PURLIN_F64, 0, 0, -3, modes, ranks));
  BAD_ARGUMENT("length: is 9223372036854775807", CREATE(PURLIN_F64, 0, 0, INT64_MAX, modes, ranks));
  BAD_ARGUMENT("modes: is NULL", CREATE(PURLIN_F64, 0, 0, 2, NULL, ranks));
  BAD_ARGUMENT("ranks: is NULL", CREATE(PURLIN_F64, 0, 0, 2, modes, NULL));
  BAD_ARGUMENT("modes: number 1 is 0", CREATE(PURLIN_F64, 0, 0, 2, none, ranks));
  BAD_ARGUMENT("ranks: number 1 is -1", CREATE(PURLIN_F64, 0, 0, 2, modes, below));
  BAD_ARGUMENT("ranks: the first rank is 1 and the last 2", CREATE(PURLIN_F64, 0, 0, 2, modes, open_end));
  BAD_ARGUMENT("ranks: core 0 of 2147483648 x 2147483648 x 2147483648", CREATE(PURLIN_F64, 0, 0, 2, huge, wide));
  CHECK(tt == NULL);
  BAD_ARGUMENT("flags: is 4", BORROW(PURLIN_F64, PURLIN_PINNED, modes, ranks, list));
  BAD_ARGUMENT("cores: is NULL", BORROW(PURLIN_F64, 0, modes, ranks, NULL));
  BAD_ARGUMENT("cores: core 1 is NULL", BORROW(PURLIN_F64, 0, modes, ranks, missing));
  BAD_ARGUMENT("cores: core 1 is not aligned to 8 bytes", BORROW(PURLIN_F64, 0, modes, ranks, odd));
  UNSUPPORTED("cores", purlin_tt_borrow_device(context, PURLIN_F64, 0, 2, modes, ranks, on_device, &tt));
  OK(BORROW(PURLIN_F32, 0, modes, ranks, odd));
  BAD_ARGUMENT("info: is NULL", purlin_tt_properties(tt, NULL));
  info.struct_size = 7;
  BAD_ARGUMENT("info: struct_size is 7", purlin_tt_properties(tt, &info));
  BAD_ARGUMENT("info: is NULL", purlin_tt_info_init(NULL, sizeof info));
  BAD_HANDLE("tt: is a handle of another type", purlin_tt_properties((purlin_tt *)context, &info));
  OK(purlin_tt_destroy(tt));
  BAD_HANDLE("tt: was destroyed", purlin_tt_shape(tt, 2, NULL, NULL));
#undef CREATE
#undef BORROW
}

static void matrices(void) {
  const int64_t rows[2] = {2, 1}, cols[2] = {3, 2}, ranks[3] = {1, 2, 1}, dims[4] = {1, 2, 3, 2};
  double data[16], out[12] = {0};
  int64_t r[2], c[2], w[3];
  void *list[2];
  purlin_tt_info info = train_info();
  purlin_tt_matrix *m = NULL, *own = NULL;
  purlin_tensor *t, *o;
  int i;
  list[0] = data;
  list[1] = data + 12;
  for (i = 0; i < 16; i++) data[i] = i;
  OK(purlin_tt_matrix_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, 2, rows, cols, ranks, list, &m));
  OK(purlin_tt_matrix_properties(m, &info));
  CHECK(info.length == 2 && info.elements == 16 && info.max_rank == 2 && info.flags == PURLIN_READ_ONLY);
  OK(purlin_tt_matrix_shape(m, 2, r, c, w));
  CHECK(r[0] == 2 && r[1] == 1 && c[0] == 3 && c[1] == 2 && w[0] == 1 && w[1] == 2 && w[2] == 1);
  OK(purlin_tt_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, rows, cols, ranks, &own));
  t = dense(context, PURLIN_F64, 4, dims, data);
  o = dense(context, PURLIN_F64, 4, dims, out);
  BAD_ARGUMENT("matrix: was borrowed read-only", purlin_tt_matrix_set_core(m, NULL, 0, o));
  BAD_ARGUMENT("matrix: core 0 has not been set", purlin_tt_matrix_core(own, NULL, 0, o));
  OK(purlin_tt_matrix_set_core(own, NULL, 0, t));
  OK(purlin_tt_matrix_core(own, NULL, 0, o));
  CHECK(memcmp(out, data, sizeof out) == 0);
  BAD_ARGUMENT("k: is 2", purlin_tt_matrix_core(own, NULL, 2, o));
  BAD_ARGUMENT("core: has dimensions [1, 2, 3, 2], [2, 1, 2, 1] are needed", purlin_tt_matrix_set_core(own, NULL, 1, t));
  BAD_ARGUMENT("capacity: is 0", purlin_tt_matrix_shape(m, 0, r, c, w));
  BAD_ARGUMENT("cols: is NULL", purlin_tt_matrix_create(context, PURLIN_F64, 0, 0, 2, rows, NULL, ranks, &own));
  BAD_ARGUMENT("cores: is NULL", purlin_tt_matrix_borrow(context, PURLIN_F64, 0, 2, rows, cols, ranks, NULL, &own));
  UNSUPPORTED("cores", purlin_tt_matrix_borrow_device(context, PURLIN_F64, 0, 2, rows, cols, ranks,
                                                      (const uint64_t *)(const void *)data, &own));
  OK(purlin_tensor_destroy(o));
  OK(purlin_tensor_destroy(t));
  OK(purlin_tt_matrix_destroy(own));
  OK(purlin_tt_matrix_destroy(m));
  BAD_HANDLE("matrix: was destroyed", purlin_tt_matrix_destroy(m));
  OK(purlin_tt_matrix_destroy(NULL));
}

/* A core of another context's tensor. */
static void contexts(void) {
  static made x, y;
  double numbers[18];
  const int64_t dims[3] = {1, 3, 2};
  purlin_tensor *abroad = NULL;
  make_train(context, &x, 2, 3, 2, 1, 3);
  make_train(foreign, &y, 2, 3, 2, 1, 4);
  OK(purlin_tensor_borrow(foreign, PURLIN_F64, 0, 3, dims, NULL, numbers, &abroad));
  BAD_ARGUMENT("core: belongs to another context", purlin_tt_core(x.tt, NULL, 0, abroad));
  BAD_ARGUMENT("destination: belongs to another context", purlin_tt_copy(context, NULL, x.tt, y.tt));
  BAD_ARGUMENT("source: belongs to another context", purlin_tt_copy(foreign, NULL, x.tt, y.tt));
  OK(purlin_tensor_destroy(abroad));
  OK(purlin_tt_destroy(y.tt));
  OK(purlin_tt_destroy(x.tt));
}

int main(void) {
  context = cpu_context(2);
  foreign = cpu_context(1);
  cores();
  borrowed();
  refusals();
  matrices();
  contexts();
  OK(purlin_context_destroy(foreign));
  OK(purlin_context_destroy(context));
  return finish();
}
