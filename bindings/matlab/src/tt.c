/* Commands behind the classes purlin.TT and purlin.TTMatrix, and their arguments: cells of cores, or keys. */
#include <string.h>

#include "gateway.h"

static purlin_tt_info train_info(const purlin_tt *tt, const purlin_tt_matrix *matrix) {
  purlin_tt_info info;
  check(purlin_tt_info_init(&info, sizeof info));
  check(tt ? purlin_tt_properties(tt, &info) : purlin_tt_matrix_properties(matrix, &info));
  return info;
}

int32_t train_dtype(const purlin_tt *tt) { return train_info(tt, NULL).dtype; }
int32_t train_matrix_dtype(const purlin_tt_matrix *matrix) { return train_info(NULL, matrix).dtype; }
int64_t train_length(const purlin_tt *tt) { return train_info(tt, NULL).length; }

int train_is_ring(const purlin_tt *tt) { return train_info(tt, NULL).cyclic != 0; }

int train_matrix_is_ring(const purlin_tt_matrix *matrix) { return train_info(NULL, matrix).cyclic != 0; }

void train_shape(const purlin_tt *tt, int64_t **modes, int64_t **ranks) {
  int64_t d = train_length(tt);
  *modes = mxMalloc((size_t)d * sizeof **modes);
  *ranks = mxMalloc((size_t)(d + 1) * sizeof **ranks);
  check(purlin_tt_shape(tt, d, *modes, *ranks));
}

/* Cores of one type, and their extents: of core k from `dims[4 k]` on. */
typedef struct cores { int64_t length; int32_t dtype; int64_t *dims; void **data; } cores;

/* The elements of a core as {re, im} pairs, in MATLAB's memory. */
static void *with_imaginary_part(const mxArray *core, int32_t dtype) {
  size_t n = mxGetNumberOfElements(core), size = dtype == PURLIN_CF64 ? 8 : 4;
  char *pairs = mxCalloc(2 * n, size);
  const char *re = mxGetData(core);
  for (size_t i = 0; i < n; i++) memcpy(pairs + 2 * i * size, re + i * size, size);
  return pairs;
}

static cores read_cores(const char *name, const mxArray *cell, int axes) {
  cores c;
  int complex_elements = 0, single_elements = 0;
  if (!mxIsCell(cell) || mxGetNumberOfElements(cell) == 0)
    fail("invalidArgument", "%s: is not a cell array of cores", name);
  c.length = (int64_t)mxGetNumberOfElements(cell);
  c.dims = mxMalloc((size_t)c.length * 4 * sizeof *c.dims);
  c.data = mxMalloc((size_t)c.length * sizeof *c.data);
  for (int64_t k = 0; k < c.length; k++) {
    const mxArray *core = cell_element(cell, (size_t)k);
    int ndim, single = 0;
    if (!core || mxIsSparse(core) || !(mxIsDouble(core) || (single = mxIsSingle(core))))
      fail("invalidArgument", "%s: core %d is not a full array of class double or single", name, (int)k + 1);
    ndim = (int)mxGetNumberOfDimensions(core);
    if (ndim > axes) fail("invalidArgument", "%s: core %d has %d dimensions, expected %d", name, (int)k + 1, ndim, axes);
    if (k > 0 && single != single_elements) fail("invalidArgument", "%s: cores are of class double and single", name);
    single_elements = single;
    complex_elements |= mxIsComplex(core);
    for (int i = 0; i < 4; i++) c.dims[4 * k + i] = i < ndim ? (int64_t)mxGetDimensions(core)[i] : 1;
    if (mxIsEmpty(core)) fail("invalidArgument", "%s: core %d is empty, sizes of at least 1 are needed", name, (int)k + 1);
    if (k > 0 && c.dims[4 * k] != c.dims[4 * k - 4 + axes - 1])
      fail("invalidArgument", "%s: core %d has left rank %.0f, the right rank before is %.0f", name, (int)k + 1,
           (double)c.dims[4 * k], (double)c.dims[4 * k - 4 + axes - 1]);
  }
  {
    double first = (double)c.dims[0], last = (double)c.dims[4 * c.length - 4 + axes - 1];
    if (first != last)
      fail("invalidArgument", "%s: the first rank is %.0f and the last %.0f; they must be equal", name, first, last);
  }
  c.dtype = single_elements ? (complex_elements ? PURLIN_CF32 : PURLIN_F32) : complex_elements ? PURLIN_CF64 : PURLIN_F64;
  for (int64_t k = 0; k < c.length; k++) {
    const mxArray *core = cell_element(cell, (size_t)k);
    c.data[k] = complex_elements && !mxIsComplex(core) ? with_imaginary_part(core, c.dtype) : elements_of(core, c.dtype);
  }
  return c;
}

/* One extent of each core, and with `last` the right rank of the last core behind them. */
static int64_t *extents(const cores *c, int axis, int last) {
  int64_t *list = mxMalloc((size_t)(c->length + 1) * sizeof *list);
  for (int64_t k = 0; k < c->length; k++) list[k] = c->dims[4 * k + axis];
  list[c->length] = last ? c->dims[4 * (c->length - 1) + last] : 0;
  return list;
}

purlin_tt *train_of(const char *name, const mxArray *value) {
  purlin_tt *tt = NULL;
  cores c;
  if (mxIsUint64(value)) return (purlin_tt *)(uintptr_t)key_argument(name, value);
  c = read_cores(name, value, 3);
  check(purlin_tt_borrow(gateway_context(), c.dtype, PURLIN_READ_ONLY, c.length, extents(&c, 1, 0), extents(&c, 0, 2),
                         c.data, &tt));
  return temporary_train(tt);
}

purlin_tt_matrix *train_matrix_of(const char *name, const mxArray *value) {
  purlin_tt_matrix *matrix = NULL;
  cores c;
  name_capital(name);
  if (mxIsUint64(value)) return (purlin_tt_matrix *)(uintptr_t)key_argument(name, value);
  c = read_cores(name, value, 4);
  check(purlin_tt_matrix_borrow(gateway_context(), c.dtype, PURLIN_READ_ONLY, c.length, extents(&c, 1, 0),
                                extents(&c, 2, 0), extents(&c, 0, 3), c.data, &matrix));
  return temporary_train_matrix(matrix);
}

/* tt_create(cores, options{location}): a copy of the cores */
static void tt_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  cores c = read_cores("cores", prhs[0], 3);
  int64_t *modes = extents(&c, 1, 0), *ranks = extents(&c, 0, 2);
  int32_t location = PURLIN_HOST;
  purlin_tt *given = NULL, *own = NULL;
  purlin_stream *stream = NULL;
  purlin_status status;
  read_choice(prhs[1], "location", locations, &location);
  check(purlin_tt_borrow(gateway_context(), c.dtype, PURLIN_READ_ONLY, c.length, modes, ranks, c.data, &given));
  (void)temporary_train(given);
  check(purlin_tt_create(gateway_context(), c.dtype, location, 0, c.length, modes, ranks, &own));
  (void)temporary_train(own);
  /* A copy to a device is only enqueued, and the arrays may be gone before it runs. */
  check(purlin_stream_create(gateway_context(), &stream));
  status = purlin_tt_copy(gateway_context(), stream, given, own);
  if (status == PURLIN_SUCCESS) status = purlin_stream_synchronize(stream);
  check_and_destroy(status, stream);
  plhs[0] = key_of(own);
  forget_train(own);
  (void)nlhs;
  (void)nrhs;
}

/* tt_matrix_create(cores, options{location}): likewise, core by core */
static void tt_matrix_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  cores c = read_cores("cores", prhs[0], 4);
  int32_t location = PURLIN_HOST;
  purlin_tt_matrix *own = NULL;
  purlin_stream *stream = NULL;
  purlin_status status = PURLIN_SUCCESS;
  read_choice(prhs[1], "location", locations, &location);
  check(purlin_tt_matrix_create(gateway_context(), c.dtype, location, 0, c.length, extents(&c, 1, 0), extents(&c, 2, 0),
                                extents(&c, 0, 3), &own));
  (void)temporary_train_matrix(own);
  check(purlin_stream_create(gateway_context(), &stream));
  for (int64_t k = 0; status == PURLIN_SUCCESS && k < c.length; k++) {
    purlin_tensor *core = NULL;
    status = purlin_tensor_borrow(gateway_context(), c.dtype, PURLIN_READ_ONLY, 4, c.dims + 4 * k, NULL, c.data[k], &core);
    if (status == PURLIN_SUCCESS) status = purlin_tt_matrix_set_core(own, stream, k, core);
    if (status == PURLIN_SUCCESS) status = purlin_stream_synchronize(stream);
    if (status == PURLIN_SUCCESS) status = purlin_tensor_destroy(core);
    else (void)!purlin_tensor_destroy(core);
  }
  check_and_destroy(status, stream);
  plhs[0] = key_of(own);
  forget_train_matrix(own);
  (void)nlhs;
  (void)nrhs;
}

/* One core as a new array. */
static mxArray *gather_core(const purlin_tt *tt, const purlin_tt_matrix *matrix, int64_t k, int32_t dtype, int ndim,
                            const int64_t *dims) {
  mwSize sizes[4];
  purlin_tensor *target = NULL;
  mxArray *array;
  void *space;
  purlin_status status;
  for (int i = 0; i < ndim; i++) sizes[i] = (mwSize)dims[i];
  array = mxCreateNumericArray((mwSize)ndim, sizes, class_of(dtype), is_complex(dtype) ? mxCOMPLEX : mxREAL);
  space = space_of(array, dtype);
  check(purlin_tensor_borrow(gateway_context(), dtype, 0, ndim, dims, NULL, space, &target));
  (void)temporary(target);
  status = tt ? purlin_tt_core(tt, NULL, k, target) : purlin_tt_matrix_core(matrix, NULL, k, target);
  check(status);
  check(purlin_tensor_destroy(target));
  forget(target);
  unweave(array, dtype, space);
  return array;
}

mxArray *gather_train(const purlin_tt *tt) {
  int64_t *modes, *ranks, d = train_length(tt);
  mxArray *cell = mxCreateCellMatrix(1, (mwSize)d);
  int32_t dtype = train_dtype(tt);
  train_shape(tt, &modes, &ranks);
  for (int64_t k = 0; k < d; k++) {
    int64_t dims[3] = {ranks[k], modes[k], ranks[k + 1]};
    mxSetCell(cell, (mwIndex)k, gather_core(tt, NULL, k, dtype, 3, dims));
  }
  return cell;
}

/* cores = tt_gather(key) */
static void tt_gather(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  plhs[0] = gather_train(train_of("train", prhs[0]));
  (void)nlhs;
  (void)nrhs;
}

/* cores = tt_matrix_gather(key) */
static void tt_matrix_gather(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt_matrix *matrix = train_matrix_of("matrix", prhs[0]);
  purlin_tt_info info = train_info(NULL, matrix);
  size_t d = (size_t)info.length;
  int64_t *rows = mxMalloc(d * sizeof *rows), *cols = mxMalloc(d * sizeof *cols);
  int64_t *ranks = mxMalloc((d + 1) * sizeof *ranks);
  check(purlin_tt_matrix_shape(matrix, info.length, rows, cols, ranks));
  plhs[0] = mxCreateCellMatrix(1, (mwSize)d);
  for (int64_t k = 0; k < info.length; k++) {
    int64_t dims[4] = {ranks[k], rows[k], cols[k], ranks[k + 1]};
    mxSetCell(plhs[0], (mwIndex)k, gather_core(NULL, matrix, k, info.dtype, 4, dims));
  }
  (void)nlhs;
  (void)nrhs;
}

static void add_list(mxArray *target, const char *field, const int64_t *list, int64_t count) {
  mxArray *row = mxCreateDoubleMatrix(1, (mwSize)count, mxREAL);
  for (int64_t k = 0; k < count; k++) ((double *)mxGetData(row))[k] = (double)list[k];
  (void)mxAddField(target, field);
  mxSetField(target, 0, field, row);
}

static mxArray *describe(const purlin_tt_info *info) {
  mxArray *s = mxCreateStructMatrix(1, 1, 0, NULL);
  add_number(s, "length", (double)info->length);
  add_number(s, "max_rank", (double)info->max_rank);
  add_number(s, "cyclic", info->cyclic);
  add_number(s, "bytes", (double)info->bytes);
  add_word(s, "location", locations, info->location);
  add_word(s, "dtype", precisions, info->dtype == PURLIN_F64 || info->dtype == PURLIN_CF64 ? PURLIN_F64 : PURLIN_F32);
  add_number(s, "complex", is_complex(info->dtype));
  return s;
}

/* tt_properties(key) */
static void tt_properties(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *tt = train_of("train", prhs[0]);
  purlin_tt_info info = train_info(tt, NULL);
  int64_t *modes, *ranks;
  plhs[0] = describe(&info);
  train_shape(tt, &modes, &ranks);
  add_list(plhs[0], "modes", modes, info.length);
  add_list(plhs[0], "ranks", ranks, info.length + 1);
  (void)nlhs;
  (void)nrhs;
}

/* tt_matrix_properties(key) */
static void tt_matrix_properties(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt_matrix *matrix = train_matrix_of("matrix", prhs[0]);
  purlin_tt_info info = train_info(NULL, matrix);
  size_t d = (size_t)info.length;
  int64_t *rows = mxMalloc(d * sizeof *rows), *cols = mxMalloc(d * sizeof *cols);
  int64_t *ranks = mxMalloc((d + 1) * sizeof *ranks);
  check(purlin_tt_matrix_shape(matrix, info.length, rows, cols, ranks));
  plhs[0] = describe(&info);
  add_list(plhs[0], "rows", rows, info.length);
  add_list(plhs[0], "cols", cols, info.length);
  add_list(plhs[0], "ranks", ranks, info.length + 1);
  (void)nlhs;
  (void)nrhs;
}

/* tt_destroy(key): a key that is gone is none */
static void tt_destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_tt_destroy((purlin_tt *)(uintptr_t)key_argument("train", prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

static void tt_matrix_destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_tt_matrix_destroy((purlin_tt_matrix *)(uintptr_t)key_argument("matrix", prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

const command tt_commands[] = {
  {"tt_create", "cores options", tt_create},
  {"tt_gather", "key", tt_gather},
  {"tt_properties", "key", tt_properties},
  {"tt_destroy", "key", tt_destroy},
  {"tt_matrix_create", "cores options", tt_matrix_create},
  {"tt_matrix_gather", "key", tt_matrix_gather},
  {"tt_matrix_properties", "key", tt_matrix_properties},
  {"tt_matrix_destroy", "key", tt_matrix_destroy},
  {NULL, NULL, NULL},
};
