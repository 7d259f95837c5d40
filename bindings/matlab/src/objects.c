/* Commands behind the classes purlin.Tensor and purlin.Matrix: memory of the library's own, known by its key. */
#include <string.h>

#include "gateway.h"

static const choice real_classes[] = {{"double", 0}, {"single", 1}, {NULL, 0}};

mxArray *key_of(const void *handle) {
  mxArray *key = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
  *(uint64_t *)mxGetData(key) = (uint64_t)(uintptr_t)handle;
  return key;
}

static purlin_tensor *tensor_argument(const mxArray *key) {
  return (purlin_tensor *)(uintptr_t)key_argument("tensor", key);
}

static purlin_matrix *matrix_argument(const mxArray *key) {
  return (purlin_matrix *)(uintptr_t)key_argument("matrix", key);
}

/* Copies and waits: a copy to a device is only enqueued, and the array may be gone before it runs. */
static void copy_now(const purlin_tensor *source, purlin_tensor *own, int32_t location) {
  purlin_stream *stream = NULL;
  purlin_status status;
  if (location == PURLIN_HOST) {
    check(purlin_tensor_copy(gateway_context(), NULL, source, own));
    return;
  }
  check(purlin_stream_create(gateway_context(), &stream));
  status = purlin_tensor_copy(gateway_context(), stream, source, own);
  if (status == PURLIN_SUCCESS) status = purlin_stream_synchronize(stream);
  check_and_destroy(status, stream);
}

/* tensor_create(array, options{location, order, dimension}): a copy of the array; symmetric if order is given */
static void tensor_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const mxArray *array = prhs[0], *options = prhs[1];
  int32_t dtype = dtype_of(array), location = PURLIN_HOST;
  int64_t order = 0, dimension = 0;
  purlin_tensor *source = NULL, *own = NULL;
  read_choice(options, "location", locations, &location);
  read_int64(options, "order", &order);
  read_int64(options, "dimension", &dimension);
  if (option(options, "order")) {
    batch b = borrow_symmetric("array", array, order, dimension, 0);
    source = b.tensor;
    check(purlin_tensor_create_symmetric(gateway_context(), dtype, location, 0, order, dimension, b.count, &own));
  } else {
    int ndim = (int)mxGetNumberOfDimensions(array);
    int64_t dims[MAX_DIMS];
    if (mxIsSparse(array)) fail("invalidArgument", "array: is sparse");
    if (ndim > MAX_DIMS) fail("invalidArgument", "array: has more than %d dimensions", MAX_DIMS);
    for (int i = 0; i < ndim; i++) dims[i] = (int64_t)mxGetDimensions(array)[i];
    check(purlin_tensor_borrow(gateway_context(), dtype, PURLIN_READ_ONLY, ndim, dims, NULL,
                               elements_of(array, dtype), &source));
    (void)temporary(source);
    check(purlin_tensor_create(gateway_context(), dtype, location, 0, ndim, dims, &own));
  }
  (void)temporary(own);
  copy_now(source, own, location);
  plhs[0] = key_of(own);
  forget(own);
  (void)nlhs;
  (void)nrhs;
}

/* tensor_gather(key) */
static void tensor_gather(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tensor *tensor = tensor_argument(prhs[0]), *target = NULL;
  purlin_tensor_info info;
  int64_t dims[MAX_DIMS];
  mwSize extents[MAX_DIMS + 1];
  void *space;
  check(purlin_tensor_info_init(&info, sizeof info));
  check(purlin_tensor_properties(tensor, &info));
  if (info.ndim > MAX_DIMS) fail("notSupported", "tensor: has more than %d dimensions", MAX_DIMS);
  check(purlin_tensor_shape(tensor, MAX_DIMS, dims, NULL));
  for (int i = 0; i < info.ndim; i++) extents[i] = (mwSize)dims[i];
  extents[info.ndim] = 1;
  plhs[0] = mxCreateNumericArray((mwSize)(info.ndim < 2 ? info.ndim + 1 : info.ndim), extents, class_of(info.dtype),
                                 is_complex(info.dtype) ? mxCOMPLEX : mxREAL);
  space = space_of(plhs[0], info.dtype);
  if (info.symmetric_order > 0)
    check(purlin_tensor_borrow_symmetric(gateway_context(), info.dtype, 0, info.symmetric_order,
                                         info.symmetric_dimension, dims[1], 0, 0, space, &target));
  else
    check(purlin_tensor_borrow(gateway_context(), info.dtype, 0, info.ndim, dims, NULL, space, &target));
  (void)temporary(target);
  check(purlin_tensor_copy(gateway_context(), NULL, tensor, target));
  unweave(plhs[0], info.dtype, space);
  (void)nlhs;
  (void)nrhs;
}

/* tensor_properties(key) */
static void tensor_properties(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tensor *tensor = tensor_argument(prhs[0]);
  purlin_tensor_info info;
  int64_t dims[MAX_DIMS];
  mxArray *size;
  check(purlin_tensor_info_init(&info, sizeof info));
  check(purlin_tensor_properties(tensor, &info));
  if (info.ndim > MAX_DIMS) fail("notSupported", "tensor: has more than %d dimensions", MAX_DIMS);
  check(purlin_tensor_shape(tensor, MAX_DIMS, dims, NULL));
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  size = mxCreateDoubleMatrix(1, (mwSize)info.ndim, mxREAL);
  for (int i = 0; i < info.ndim; i++) ((double *)mxGetData(size))[i] = (double)dims[i];
  (void)mxAddField(plhs[0], "size");
  mxSetField(plhs[0], 0, "size", size);
  (void)mxAddField(plhs[0], "location");
  mxSetField(plhs[0], 0, "location", mxCreateString(info.location == PURLIN_DEVICE ? "device" : "host"));
  add_number(plhs[0], "order", (double)info.symmetric_order);
  add_number(plhs[0], "dimension", (double)info.symmetric_dimension);
  add_number(plhs[0], "elements", (double)info.elements);
  add_number(plhs[0], "bytes", (double)info.bytes);
  (void)nlhs;
  (void)nrhs;
}

/* tensor_destroy(key): a key that is gone is none */
static void tensor_destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_tensor_destroy(tensor_argument(prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* The values of a sparse matrix of class double in single precision. */
static const void *in_single(const mxArray *array, int32_t dtype, int64_t count) {
  const double *from = elements_of(array, dtype);
  int64_t numbers = is_complex(dtype) ? 2 * count : count;
  float *to = mxCalloc((size_t)numbers + 1, sizeof *to);
  for (int64_t k = 0; k < numbers; k++) to[k] = (float)from[k];
  return to;
}

/* matrix_create(array, options{location, dtype}): a full array; the transpose of a sparse one, whose compressed columns are the
 * rows wanted; or a struct that describes the graph of an image */
static void matrix_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const mxArray *array = prhs[0];
  int32_t location = PURLIN_HOST, dtype, single = 0;
  purlin_matrix *own = NULL, *source = NULL;
  read_choice(prhs[1], "location", locations, &location);
  read_choice(prhs[1], "dtype", real_classes, &single);
  if (mxIsStruct(array)) {
    plhs[0] = key_of(pixel_graph("array", array));
    (void)nlhs;
    (void)nrhs;
    return;
  }
  if (mxIsSparse(array)) {
    int64_t rows = (int64_t)mxGetN(array), cols = (int64_t)mxGetM(array);
    const mwIndex *starts = mxGetJc(array), *indices = mxGetIr(array);
    int32_t index_type = sizeof(mwIndex) == 8 ? PURLIN_I64 : PURLIN_I32;
    if (location != PURLIN_HOST) fail("notSupported", "location: a sparse matrix stays on the host");
    if (!mxIsLogical(array) && !mxIsDouble(array))
      fail("invalidArgument", "array: is sparse and not of class double or logical");
    dtype = mxIsLogical(array) ? PURLIN_F64 : dtype_of(array);
    const void *values = NULL;
    if (!mxIsLogical(array)) values = single ? in_single(array, dtype, (int64_t)starts[rows]) : elements_of(array, dtype);
    if (single) dtype = is_complex(dtype) ? PURLIN_CF32 : PURLIN_F32;
    check(purlin_matrix_copy_csr(gateway_context(), dtype, 0, rows, cols, (int64_t)starts[rows], index_type, starts,
                                 index_type, indices, values, &own));
    plhs[0] = key_of(own);
    (void)nlhs;
    (void)nrhs;
    return;
  }
  dtype = dtype_of(array);
  if (mxGetNumberOfDimensions(array) != 2) fail("invalidArgument", "array: is not a matrix");
  check(purlin_matrix_borrow(gateway_context(), dtype, PURLIN_READ_ONLY, (int64_t)mxGetM(array),
                             (int64_t)mxGetN(array), mxGetM(array) > 0 ? (int64_t)mxGetM(array) : 1,
                             elements_of(array, dtype), &source));
  (void)temporary_matrix(source);
  check(purlin_matrix_create(gateway_context(), dtype, location, 0, (int64_t)mxGetM(array), (int64_t)mxGetN(array),
                             &own));
  (void)temporary_matrix(own);
  if (location == PURLIN_HOST) {
    check(purlin_matrix_copy(gateway_context(), NULL, source, own));
  } else {
    purlin_stream *stream = NULL;
    purlin_status status;
    check(purlin_stream_create(gateway_context(), &stream));
    status = purlin_matrix_copy(gateway_context(), stream, source, own);
    if (status == PURLIN_SUCCESS) status = purlin_stream_synchronize(stream);
    check_and_destroy(status, stream);
  }
  plhs[0] = key_of(own);
  forget_matrix(own);
  (void)nlhs;
  (void)nrhs;
}

static double index_at(uint64_t address, int32_t type, int64_t i) {
  const void *list = (const void *)(uintptr_t)address;
  return type == PURLIN_I64 ? (double)((const int64_t *)list)[i] : (double)((const int32_t *)list)[i];
}

void gather_rows(const purlin_matrix *matrix, mxArray *plhs[]) {
  purlin_matrix_info info;
  void *space;
  check(purlin_matrix_info_init(&info, sizeof info));
  check(purlin_matrix_properties(matrix, &info));
  plhs[0] = mxCreateDoubleMatrix((mwSize)info.nnz, 1, mxREAL);
  plhs[1] = mxCreateDoubleMatrix((mwSize)info.nnz, 1, mxREAL);
  plhs[2] = mxCreateNumericMatrix((mwSize)info.nnz, 1, class_of(info.dtype),
                                  is_complex(info.dtype) ? mxCOMPLEX : mxREAL);
  plhs[3] = mxCreateDoubleScalar((double)info.rows);
  plhs[4] = mxCreateDoubleScalar((double)info.cols);
  for (int64_t row = 0; row < info.rows; row++) {
    int64_t first = (int64_t)index_at(info.row_ptr, info.row_ptr_type, row) - info.index_base;
    int64_t end = (int64_t)index_at(info.row_ptr, info.row_ptr_type, row + 1) - info.index_base;
    for (int64_t k = first; k < end; k++) {
      ((double *)mxGetData(plhs[0]))[k] = (double)row + 1;
      ((double *)mxGetData(plhs[1]))[k] = index_at(info.col_idx, info.col_idx_type, k) - info.index_base + 1;
    }
  }
  space = space_of(plhs[2], info.dtype);
  /* A pattern has no values: its entries are 1. */
  for (int64_t k = 0; info.data == 0 && k < info.nnz; k++) {
    if (info.dtype == PURLIN_F32 || info.dtype == PURLIN_CF32) ((float *)space)[info.dtype == PURLIN_F32 ? k : 2 * k] = 1;
    else ((double *)space)[info.dtype == PURLIN_F64 ? k : 2 * k] = 1;
  }
  if (info.nnz > 0 && info.data != 0)
    memcpy(space, (const void *)(uintptr_t)info.data,
           (size_t)info.nnz * (info.dtype == PURLIN_CF64 ? 16 : info.dtype == PURLIN_F32 ? 4 : 8));
  unweave(plhs[2], info.dtype, space);
}

/* [array] = matrix_gather(key) of a dense one; [i, j, values, rows, cols] of a sparse one */
static void matrix_gather(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *matrix = matrix_argument(prhs[0]), *target = NULL;
  purlin_matrix_info info;
  mxComplexity complexity;
  void *space;
  check(purlin_matrix_info_init(&info, sizeof info));
  check(purlin_matrix_properties(matrix, &info));
  complexity = is_complex(info.dtype) ? mxCOMPLEX : mxREAL;
  if (info.storage == PURLIN_DENSE) {
    plhs[0] = mxCreateNumericMatrix((mwSize)info.rows, (mwSize)info.cols, class_of(info.dtype), complexity);
    space = space_of(plhs[0], info.dtype);
    check(purlin_matrix_borrow(gateway_context(), info.dtype, 0, info.rows, info.cols, info.rows > 0 ? info.rows : 1,
                               space, &target));
    (void)temporary_matrix(target);
    check(purlin_matrix_copy(gateway_context(), NULL, matrix, target));
    unweave(plhs[0], info.dtype, space);
    (void)nrhs;
    return;
  }
  if (nlhs < 5) fail("internal", "matrix_gather: has 5 results for a sparse matrix");
  gather_rows(matrix, plhs);
}

/* matrix_properties(key) */
static void matrix_properties(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix_info info;
  check(purlin_matrix_info_init(&info, sizeof info));
  check(purlin_matrix_properties(matrix_argument(prhs[0]), &info));
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  add_number(plhs[0], "rows", (double)info.rows);
  add_number(plhs[0], "cols", (double)info.cols);
  add_number(plhs[0], "nnz", (double)info.nnz);
  add_number(plhs[0], "bytes", (double)info.bytes);
  add_number(plhs[0], "complex", is_complex(info.dtype));
  add_word(plhs[0], "dtype", real_classes, info.dtype == PURLIN_F32 || info.dtype == PURLIN_CF32);
  add_number(plhs[0], "pattern", info.storage == PURLIN_CSR && info.data == 0);
  (void)mxAddField(plhs[0], "storage");
  mxSetField(plhs[0], 0, "storage", mxCreateString(info.storage == PURLIN_CSR ? "csr" : info.storage == PURLIN_OPERATOR ? "operator" : "dense"));
  (void)mxAddField(plhs[0], "location");
  mxSetField(plhs[0], 0, "location", mxCreateString(info.location == PURLIN_DEVICE ? "device" : "host"));
  (void)nlhs;
  (void)nrhs;
}

/* matrix_destroy(key): a key that is gone is none */
static void matrix_destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_matrix_destroy(matrix_argument(prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

const command objects_commands[] = {
  {"tensor_create", "array options", tensor_create},
  {"tensor_gather", "key", tensor_gather},
  {"tensor_properties", "key", tensor_properties},
  {"tensor_destroy", "key", tensor_destroy},
  {"matrix_create", "array options", matrix_create},
  {"matrix_gather", "key", matrix_gather},
  {"matrix_properties", "key", matrix_properties},
  {"matrix_destroy", "key", matrix_destroy},
  {NULL, NULL, NULL},
};
