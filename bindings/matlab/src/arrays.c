/* MATLAB arrays as tensors of the library, in place. Inputs are borrowed read-only: prhs is never written. */
#include <string.h>

#include "gateway.h"

int32_t real_dtype(const char *name, const mxArray *array) {
  if (mxIsSparse(array) || mxIsComplex(array) || !(mxIsDouble(array) || mxIsSingle(array)))
    fail("invalidArgument", "%s: is not a full real array of class double or single", name);
  return mxIsDouble(array) ? PURLIN_F64 : PURLIN_F32;
}

static const char *class_name(int32_t dtype) {
  switch (dtype) {
  case PURLIN_F32: return "single";
  case PURLIN_F64: return "double";
  case PURLIN_I32: return "int32";
  default: return "uint16";
  }
}

/* The library refuses NULL, which is where an empty MATLAB array lies. */
static void *data_of(const mxArray *array) {
  static double nothing;
  return mxGetNumberOfElements(array) == 0 ? &nothing : mxGetData(array);
}

static purlin_tensor *borrow(int32_t dtype, int32_t flags, int ndim, const int64_t *dims, const int64_t *strides,
                             const mxArray *array) {
  purlin_tensor *tensor = NULL;
  check(purlin_tensor_borrow(gateway_context(), dtype, flags, ndim, dims, strides, data_of(array), &tensor));
  return temporary(tensor);
}

purlin_tensor *borrow_array(const char *name, const mxArray *array, int32_t dtype, int ndim, const int64_t *dims) {
  double expected = 1;
  if (real_dtype(name, array) != dtype) fail("invalidArgument", "%s: is not of class %s", name, class_name(dtype));
  for (int i = 0; i < ndim; i++) expected *= (double)dims[i];
  if ((double)mxGetNumberOfElements(array) != expected)
    fail("invalidArgument", "%s: has %.0f elements, expected %.0f", name, (double)mxGetNumberOfElements(array),
         expected);
  return borrow(dtype, PURLIN_READ_ONLY, ndim, dims, NULL, array);
}

uint64_t key_argument(const char *name, const mxArray *value) {
  if (!mxIsUint64(value) || mxGetNumberOfElements(value) != 1)
    fail("invalidHandle", "%s: is not the key of an object of the library", name);
  return *(const uint64_t *)mxGetData(value);
}

/* The batch of an array of `rows` numbers an item: rows are its first extent, or its last. A vector of `rows`
 * elements is one item whichever way it lies. */
static batch shape_of(const char *name, const mxArray *array, int64_t rows, int last) {
  const mwSize *dims = mxGetDimensions(array);
  int ndim = (int)mxGetNumberOfDimensions(array), index = last ? ndim - 1 : 0;
  int64_t count = 1;
  batch b;
  memset(&b, 0, sizeof b);
  if (ndim > MAX_DIMS) fail("invalidArgument", "%s: has more than %d dimensions", name, MAX_DIMS);
  if (ndim == 2 && dims[0] * dims[1] == (mwSize)rows && (dims[0] == 1 || dims[1] == 1)) {
    b.trailing = 1;
    b.shape[0] = 1;
    b.count = 1;
    return b;
  }
  if ((int64_t)dims[index] != rows)
    fail("invalidArgument", "%s: its %s extent is %.0f, expected %.0f", name, last ? "last" : "first",
         (double)dims[index], (double)rows);
  for (int i = 0; i < ndim; i++) {
    if (i == index) continue;
    b.shape[b.trailing++] = dims[i];
    count *= (int64_t)dims[i];
  }
  b.count = count;
  return b;
}

batch borrow_symmetric(const char *name, const mxArray *array, int64_t order, int64_t dimension, int last) {
  batch b;
  int64_t entries = 0;
  if (mxIsUint64(array)) {
    purlin_tensor *tensor = (purlin_tensor *)(uintptr_t)key_argument(name, array);
    purlin_tensor_info info;
    check(purlin_tensor_info_init(&info, sizeof info));
    check(purlin_tensor_properties(tensor, &info));
    if (info.symmetric_order != order || info.symmetric_dimension != dimension)
      fail("invalidArgument", "%s: is of order %d and dimension %.0f, expected %d and %.0f", name,
           (int)info.symmetric_order, (double)info.symmetric_dimension, (int)order, (double)dimension);
    check(purlin_symmetric_count(order, dimension, &entries));
    b = plain_batch(info.dtype, info.elements / entries);
    b.tensor = tensor;
    return b;
  }
  check(purlin_symmetric_count(order, dimension, &entries));
  (void)real_dtype(name, array);
  b = shape_of(name, array, entries, last);
  b.dtype = real_dtype(name, array);
  check(purlin_tensor_borrow_symmetric(gateway_context(), b.dtype, PURLIN_READ_ONLY, order, dimension, b.count,
                                       last ? b.count : 0, last ? 1 : 0, data_of(array), &b.tensor));
  (void)temporary(b.tensor);
  return b;
}

static int32_t measured_dtype(const char *name, const mxArray *array) {
  if (mxIsUint16(array)) return PURLIN_U16;
  if (mxIsInt32(array)) return PURLIN_I32;
  if (mxIsUint8(array)) return PURLIN_U8;
  return real_dtype(name, array);
}

batch borrow_rows(const char *name, const mxArray *array, int64_t rows, int last, int integers) {
  int32_t dtype = integers ? measured_dtype(name, array) : real_dtype(name, array);
  batch b = shape_of(name, array, rows, last);
  int64_t dims[2] = {rows, b.count}, strides[2] = {b.count, 1};
  b.dtype = dtype;
  b.tensor = borrow(dtype, PURLIN_READ_ONLY, 2, dims, last ? strides : NULL, array);
  return b;
}

static int32_t any_dtype(const char *name, const mxArray *array) {
  if (mxIsSparse(array) || mxIsComplex(array)) fail("invalidArgument", "%s: is not a full real array", name);
  switch (mxGetClassID(array)) {
  case mxSINGLE_CLASS: return PURLIN_F32;
  case mxDOUBLE_CLASS: return PURLIN_F64;
  case mxINT8_CLASS: return PURLIN_I8;
  case mxUINT8_CLASS: return PURLIN_U8;
  case mxINT16_CLASS: return PURLIN_I16;
  case mxUINT16_CLASS: return PURLIN_U16;
  case mxINT32_CLASS: return PURLIN_I32;
  case mxUINT32_CLASS: return PURLIN_U32;
  default: fail("invalidArgument", "%s: is not an array of numbers of a class that the library has", name);
  }
  return 0;
}

static int extents_of(const char *name, const mxArray *array, int least, int64_t *dims) {
  const mwSize *extents = mxGetDimensions(array);
  int ndim = (int)mxGetNumberOfDimensions(array);
  if (ndim > MAX_DIMS) fail("invalidArgument", "%s: has more than %d dimensions", name, MAX_DIMS);
  for (int i = 0; i < ndim; i++) dims[i] = (int64_t)extents[i];
  for (; ndim < least; ndim++) dims[ndim] = 1;
  return ndim;
}

purlin_tensor *borrow_dense(const char *name, const mxArray *array, int ndim) {
  int64_t dims[MAX_DIMS];
  int n = extents_of(name, array, ndim, dims);
  return borrow(any_dtype(name, array), PURLIN_READ_ONLY, n, dims, NULL, array);
}

purlin_tensor *around(mxArray *array, int ndim, const int64_t *dims) {
  return borrow(any_dtype("output", array), 0, ndim, dims, NULL, array);
}

purlin_tensor *borrow_mask(const mxArray *array, int64_t count) {
  if (mxIsEmpty(array)) return NULL;
  if (!(mxIsLogical(array) || mxIsUint8(array)) || (int64_t)mxGetNumberOfElements(array) != count)
    fail("invalidArgument", "mask: is not a logical or uint8 array of %.0f voxels", (double)count);
  return borrow(PURLIN_U8, PURLIN_READ_ONLY, 1, &count, NULL, array);
}

batch plain_batch(int32_t dtype, int64_t count) {
  batch b;
  memset(&b, 0, sizeof b);
  b.dtype = dtype;
  b.count = count;
  b.trailing = 1;
  b.shape[0] = (mwSize)count;
  return b;
}

static mxArray *new_array(const batch *b, int32_t dtype, int lead, const int64_t *dims) {
  mwSize extents[2 * MAX_DIMS];
  int n = 0;
  mxClassID class_id = dtype == PURLIN_F64 ? mxDOUBLE_CLASS : dtype == PURLIN_F32 ? mxSINGLE_CLASS : mxINT32_CLASS;
  for (int i = 0; i < lead; i++) extents[n++] = (mwSize)dims[i];
  for (int i = 0; i < b->trailing; i++) extents[n++] = b->shape[i];
  /* A result of one number a tensor is a row, as T is the second extent of the input. */
  if (n == 1) {
    extents[1] = extents[0];
    extents[0] = 1;
    n = 2;
  }
  return mxCreateNumericArray((mwSize)n, extents, class_id, mxREAL);
}

mxArray *new_output(const batch *b, int32_t dtype, int lead, const int64_t *dims, purlin_tensor **tensor) {
  mxArray *array = new_array(b, dtype, lead, dims);
  int64_t all[MAX_DIMS];
  for (int i = 0; i < lead; i++) all[i] = dims[i];
  all[lead] = b->count;
  *tensor = borrow(dtype, 0, lead + 1, all, NULL, array);
  return array;
}

mxArray *new_symmetric(const batch *b, int64_t order, int64_t dimension, purlin_tensor **tensor) {
  int64_t entries = 0;
  mxArray *array;
  check(purlin_symmetric_count(order, dimension, &entries));
  array = new_array(b, b->dtype, 1, &entries);
  *tensor = NULL;
  check(purlin_tensor_borrow_symmetric(gateway_context(), b->dtype, 0, order, dimension, b->count, 0, 0,
                                       data_of(array), tensor));
  (void)temporary(*tensor);
  return array;
}

purlin_tensor *add_output(mxArray *target, const char *field, const batch *b, int32_t dtype, int lead,
                          const int64_t *dims) {
  purlin_tensor *tensor = NULL;
  mxArray *array = new_output(b, dtype, lead, dims, &tensor);
  (void)mxAddField(target, field);
  mxSetField(target, 0, field, array);
  return tensor;
}

void add_text(mxArray *target, const char *field, const char *text) {
  (void)mxAddField(target, field);
  /* Reasons name bonds and views. */
  mxSetField(target, 0, field, mxCreateString(strcmp(field, "reason") == 0 ? counted_from_one(text) : text));
}

void add_number(mxArray *target, const char *field, double value) {
  (void)mxAddField(target, field);
  mxSetField(target, 0, field, mxCreateDoubleScalar(value));
}
