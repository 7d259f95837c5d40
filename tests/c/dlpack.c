/* Tensors in and out by DLPack: in place, and the deleter called exactly once, whatever happens. */
#include "dlpack.h"

#include "check.h"

static int deleted = 0;

static void count_delete(struct dl_managed *managed) {
  deleted++;
  free(managed);
}

static double data[24];
static int64_t shape[3] = {2, 3, 4}, strides[3] = {12, 4, 1};

/* A capsule of its own each time, since a wrong second delete must meet freed memory. */
static struct dl_managed *capsule(void) {
  struct dl_managed *m = calloc(1, sizeof *m);
  if (!m) exit(1);
  m->major = 1;
  m->minor = 1;
  m->deleter = count_delete;
  m->tensor.data = data;
  m->tensor.device_type = DL_CPU;
  m->tensor.ndim = 3;
  m->tensor.code = DL_FLOAT;
  m->tensor.bits = 64;
  m->tensor.lanes = 1;
  m->tensor.shape = shape;
  m->tensor.strides = strides;
  deleted = 0;
  return m;
}

static void import(const purlin_context *context) {
  purlin_tensor *t = NULL;
  purlin_tensor_info info;
  int64_t found[3];
  struct dl_managed *m = capsule();
  OK(purlin_tensor_from_dlpack(context, m, &t));
  OK(purlin_tensor_info_init(&info, sizeof info));
  OK(purlin_tensor_properties(t, &info));
  CHECK(info.dtype == PURLIN_F64 && info.elements == 24 && info.owned == 0 && info.flags == 0);
  CHECK(info.data == (uint64_t)(uintptr_t)data);
  OK(purlin_tensor_shape(t, 3, NULL, found));
  CHECK(found[0] == 12 && found[1] == 4 && found[2] == 1);
  CHECK(deleted == 0);
  OK(purlin_tensor_destroy(t));
  CHECK(deleted == 1);
  /* No strides: row-major. An offset, read-only, without a deleter. */
  m = capsule();
  m->tensor.strides = NULL;
  m->tensor.byte_offset = 16;
  m->tensor.ndim = 1;
  m->flags = 1;
  m->deleter = NULL;
  OK(purlin_tensor_from_dlpack(context, m, &t));
  OK(purlin_tensor_properties(t, &info));
  CHECK(info.flags == PURLIN_READ_ONLY && info.data == (uint64_t)(uintptr_t)(data + 2) && info.elements == 2);
  OK(purlin_tensor_destroy(t));
  CHECK(deleted == 0);
  free(m);
  /* A single number, and nothing at all. */
  m = capsule();
  m->tensor.ndim = 0;
  m->tensor.shape = m->tensor.strides = NULL;
  OK(purlin_tensor_from_dlpack(context, m, &t));
  OK(purlin_tensor_destroy(t));
  CHECK(deleted == 1);
  m = capsule();
  {
    int64_t none[3] = {0, 3, 4};
    m->tensor.data = NULL;
    m->tensor.shape = none;
    OK(purlin_tensor_from_dlpack(context, m, &t));
    OK(purlin_tensor_destroy(t));
    CHECK(deleted == 1);
  }
}

static void types(const purlin_context *context) {
  static const struct {
    uint8_t code, bits;
    purlin_dtype dtype;
  } known[] = {{DL_FLOAT, 32, PURLIN_F32},   {DL_FLOAT, 64, PURLIN_F64}, {DL_FLOAT, 16, PURLIN_F16},
               {DL_COMPLEX, 64, PURLIN_CF32}, {DL_COMPLEX, 128, PURLIN_CF64}, {DL_INT, 32, PURLIN_I32},
               {DL_INT, 64, PURLIN_I64},      {DL_UINT, 8, PURLIN_U8},   {DL_UINT, 16, PURLIN_U16},
               {DL_INT, 8, PURLIN_I8},        {DL_INT, 16, PURLIN_I16},  {DL_UINT, 32, PURLIN_U32}};
  int64_t one = 1;
  size_t k;
  for (k = 0; k < COUNT(known); k++) {
    purlin_tensor *t = NULL;
    purlin_tensor_info info;
    void *out = NULL;
    struct dl_managed *m = capsule();
    m->tensor.code = known[k].code;
    m->tensor.bits = known[k].bits;
    m->tensor.ndim = 1;
    m->tensor.shape = m->tensor.strides = &one;
    OK(purlin_tensor_from_dlpack(context, m, &t));
    OK(purlin_tensor_info_init(&info, sizeof info));
    OK(purlin_tensor_properties(t, &info));
    CHECK(info.dtype == known[k].dtype);
    OK(purlin_tensor_to_dlpack(t, &out));
    m = out;
    CHECK(m->tensor.code == known[k].code && m->tensor.bits == known[k].bits && m->tensor.lanes == 1);
    OK(purlin_tensor_destroy(t));
    CHECK(deleted == 0);
    m->deleter(m);
    CHECK(deleted == 1);
  }
}

/* Each refusal has called the deleter once by the time it returns. */
static void refusals(const purlin_context *context) {
  purlin_tensor *t = NULL;
  purlin_context *gone = cpu_context(1);
  int64_t negative[3] = {2, -3, 4}, back[3] = {12, -4, 1}, large[3] = {INT64_MAX, INT64_MAX, 4};
  struct dl_managed *m;
#define REFUSED(status, text, change)                                  \
  do {                                                                 \
    m = capsule();                                                     \
    change;                                                            \
    FAILS(status, text, purlin_tensor_from_dlpack(context, m, &t));    \
    CHECK(deleted == 1);                                               \
  } while (0)
  REFUSED(PURLIN_ERROR_NOT_SUPPORTED, "DLPack 2.1", m->major = 2);
  REFUSED(PURLIN_ERROR_NOT_SUPPORTED, "DLPack 0.1", m->major = 0);
  REFUSED(PURLIN_ERROR_NOT_SUPPORTED, "type code 99", m->tensor.code = 99);
  REFUSED(PURLIN_ERROR_NOT_SUPPORTED, "of 24 bits", m->tensor.bits = 24);
  REFUSED(PURLIN_ERROR_NOT_SUPPORTED, "lanes", m->tensor.lanes = 4);
  REFUSED(PURLIN_ERROR_NOT_SUPPORTED, "device type 8", m->tensor.device_type = DL_METAL);
  REFUSED(PURLIN_ERROR_NOT_SUPPORTED, "managed", m->tensor.device_type = DL_CUDA);
  REFUSED(PURLIN_ERROR_INVALID_ARGUMENT, "dimensions", m->tensor.ndim = -1);
  REFUSED(PURLIN_ERROR_INVALID_ARGUMENT, "dimensions", m->tensor.ndim = 33);
  REFUSED(PURLIN_ERROR_INVALID_ARGUMENT, "shape", m->tensor.shape = NULL);
  REFUSED(PURLIN_ERROR_INVALID_ARGUMENT, "shape", m->tensor.shape = negative);
  REFUSED(PURLIN_ERROR_INVALID_ARGUMENT, "", m->tensor.shape = large);
  REFUSED(PURLIN_ERROR_INVALID_ARGUMENT, "strides", m->tensor.strides = back);
  REFUSED(PURLIN_ERROR_INVALID_ARGUMENT, "data", m->tensor.data = NULL);
  REFUSED(PURLIN_ERROR_INVALID_ARGUMENT, "aligned", m->tensor.byte_offset = 4);
#undef REFUSED
  CHECK(t == NULL);
  m = capsule();
  BAD_ARGUMENT("tensor: is NULL", purlin_tensor_from_dlpack(context, m, NULL));
  CHECK(deleted == 1);
  m = capsule();
  BAD_HANDLE("context: is NULL", purlin_tensor_from_dlpack(NULL, m, &t));
  CHECK(deleted == 1);
  OK(purlin_context_destroy(gone));
  m = capsule();
  BAD_HANDLE("context", purlin_tensor_from_dlpack(gone, m, &t));
  CHECK(deleted == 1);
  BAD_ARGUMENT("managed: is NULL", purlin_tensor_from_dlpack(context, NULL, &t));
}

static void export_tensors(void) {
  purlin_context *context = cpu_context(1);
  purlin_context_info used;
  purlin_tensor *t = NULL, *again = NULL;
  purlin_tensor_info info;
  int64_t dims[2] = {5, 7};
  void *out = NULL;
  struct dl_managed *m;
  OK(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &t));
  OK(purlin_tensor_info_init(&info, sizeof info));
  OK(purlin_tensor_properties(t, &info));
  BAD_ARGUMENT("managed: is NULL", purlin_tensor_to_dlpack(t, NULL));
  OK(purlin_tensor_to_dlpack(t, &out));
  m = out;
  CHECK(m->major == 1 && m->flags == 0 && m->tensor.device_type == DL_CPU && m->tensor.device_id == 0);
  CHECK(m->tensor.ndim == 2 && m->tensor.shape[0] == 5 && m->tensor.shape[1] == 7);
  CHECK(m->tensor.strides[0] == 1 && m->tensor.strides[1] == 5);
  CHECK((uint64_t)(uintptr_t)m->tensor.data + m->tensor.byte_offset == info.data);
  /* Back in: the same memory under a second handle. */
  OK(purlin_tensor_from_dlpack(context, out, &again));
  ((double *)(uintptr_t)info.data)[34] = 3.5;
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_properties(again, &info));
  CHECK(((double *)(uintptr_t)info.data)[34] == 3.5 && info.elements == 35);
  OK(purlin_tensor_to_dlpack(again, &out));
  OK(purlin_tensor_destroy(again));
  OK(purlin_context_info_init(&used, sizeof used));
  OK(purlin_context_properties(context, &used));
  CHECK(used.host_memory_used == 35 * 8);
  OK(purlin_context_destroy(context));
  CHECK(purlin_live_handles() == 0);
  /* The memory outlives handles and context until the receiver calls the deleter. */
  m = out;
  CHECK(((double *)m->tensor.data)[34] == 3.5);
  m->deleter(m);
}

static void export_symmetric_read_only(const purlin_context *context) {
  double packed[30] = {1};
  purlin_tensor *t = NULL;
  void *out = NULL;
  struct dl_managed *m;
  OK(purlin_tensor_borrow_symmetric(context, PURLIN_F64, PURLIN_READ_ONLY, 4, 3, 2, 0, 0, packed, &t));
  OK(purlin_tensor_to_dlpack(t, &out));
  m = out;
  CHECK((m->flags & 1) == 1 && m->tensor.ndim == 2 && m->tensor.shape[0] == 15 && m->tensor.shape[1] == 2);
  m->deleter(m);
  OK(purlin_tensor_destroy(t));
  BAD_HANDLE("tensor", purlin_tensor_to_dlpack(t, &out));
}

int main(void) {
  purlin_context *context;
  export_tensors();
  context = cpu_context(1);
  import(context);
  types(context);
  refusals(context);
  export_symmetric_read_only(context);
  OK(purlin_context_destroy(context));
  return finish();
}
