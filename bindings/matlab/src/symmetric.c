/* Commands on packed symmetric tensors. Indices are 1-based on MATLAB's side. */
#include "gateway.h"

static int64_t order_argument(const mxArray *value) {
  return integer_argument("order", value, INT64_MIN, INT64_MAX);
}

static int64_t dimension_argument(const mxArray *value) {
  return integer_argument("dimension", value, INT64_MIN, INT64_MAX);
}

/* symmetric_count(order, dimension) */
static void count(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t entries = 0;
  check(purlin_symmetric_count(order_argument(prhs[0]), dimension_argument(prhs[1]), &entries));
  plhs[0] = mxCreateDoubleScalar((double)entries);
  (void)nlhs;
  (void)nrhs;
}

typedef purlin_status (*table_fn)(int64_t order, int64_t dimension, int64_t *table);

/* A table of whole numbers, rows numbers an entry, as doubles with `offset` added. */
static mxArray *table(table_fn function, int64_t order, int64_t dimension, int64_t rows, double offset) {
  int64_t entries = 0, *numbers;
  mxArray *result;
  double *values;
  check(purlin_symmetric_count(order, dimension, &entries));
  result = mxCreateDoubleMatrix((mwSize)rows, (mwSize)entries, mxREAL);
  numbers = mxMalloc((size_t)(rows * entries) * sizeof *numbers + 1);
  check(function(order, dimension, numbers));
  values = mxGetData(result);
  for (int64_t i = 0; i < rows * entries; i++) values[i] = (double)numbers[i] + offset;
  mxFree(numbers);
  return result;
}

static void indices(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t order = order_argument(prhs[0]);
  plhs[0] = table(purlin_symmetric_indices, order, dimension_argument(prhs[1]), order, 1);
  (void)nlhs;
  (void)nrhs;
}

static void exponents(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t dimension = dimension_argument(prhs[1]);
  plhs[0] = table(purlin_symmetric_exponents, order_argument(prhs[0]), dimension, dimension, 0);
  (void)nlhs;
  (void)nrhs;
}

static void multinomials(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  plhs[0] = table(purlin_symmetric_multinomials, order_argument(prhs[0]), dimension_argument(prhs[1]), 1, 0);
  (void)nlhs;
  (void)nrhs;
}

/* symmetric_convert(packed, order, dimension, from, to) */
static void convert(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t order = order_argument(prhs[1]);
  int64_t dimension = dimension_argument(prhs[2]);
  batch b = borrow_symmetric("packed", prhs[0], order, dimension, 0);
  purlin_tensor *result;
  plhs[0] = new_symmetric(&b, order, dimension, &result);
  check(purlin_symmetric_convert(gateway_context(), NULL, b.tensor, choice_argument("from", prhs[3], packings), result,
                                 choice_argument("to", prhs[4], packings)));
  (void)nlhs;
  (void)nrhs;
}

/* Extents n, .., n, T of full tensors. */
static int full_dims(int64_t order, int64_t dimension, int64_t tensors, int64_t *dims) {
  if (order < 1 || order >= MAX_DIMS)
    fail("invalidArgument", "order: is %d, expected 1 to %d", (int)order, MAX_DIMS - 1);
  for (int i = 0; i < order; i++) dims[i] = dimension;
  dims[order] = tensors;
  return (int)order + 1;
}

/* symmetric_from_full(full, order, dimension, options{symmetrize, tolerance}) */
static void from_full(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t order = order_argument(prhs[1]);
  int32_t symmetrize = 0, dtype = real_dtype("full", prhs[0]);
  int64_t dimension = dimension_argument(prhs[2]), dims[MAX_DIMS], one = 1, tensors;
  double tolerance = 0;
  purlin_tensor *full, *packed;
  batch b;
  (void)full_dims(order, dimension, 1, dims);
  for (int i = 0; i < order; i++) {
    if (one > INT64_MAX / (dimension > 0 ? dimension : 1)) fail("invalidArgument", "dimension: is too large");
    one *= dimension;
  }
  tensors = one > 0 ? (int64_t)mxGetNumberOfElements(prhs[0]) / one : 0;
  b = plain_batch(dtype, tensors);
  full = borrow_array("full", prhs[0], dtype, full_dims(order, dimension, tensors, dims), dims);
  read_flag(prhs[3], "symmetrize", &symmetrize);
  read_double(prhs[3], "tolerance", &tolerance);
  plhs[0] = new_symmetric(&b, order, dimension, &packed);
  check(purlin_symmetric_from_full(gateway_context(), NULL, full, symmetrize, tolerance, packed));
  (void)nlhs;
  (void)nrhs;
}

/* symmetric_to_full(packed, order, dimension) */
static void to_full(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t order = order_argument(prhs[1]);
  int64_t dimension = dimension_argument(prhs[2]), dims[MAX_DIMS];
  batch b = borrow_symmetric("packed", prhs[0], order, dimension, 0);
  purlin_tensor *full;
  (void)full_dims(order, dimension, b.count, dims);
  plhs[0] = new_output(&b, b.dtype, (int)order, dims, &full);
  check(purlin_symmetric_to_full(gateway_context(), NULL, b.tensor, full));
  (void)nlhs;
  (void)nrhs;
}

/* symmetric_norm(packed, order, dimension, kind) */
static void norm(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  batch b = borrow_symmetric("packed", prhs[0], order_argument(prhs[1]), dimension_argument(prhs[2]), 0);
  purlin_tensor *result;
  plhs[0] = new_output(&b, b.dtype, 0, NULL, &result);
  check(purlin_symmetric_norm(gateway_context(), NULL, b.tensor, choice_argument("kind", prhs[3], norms), result));
  (void)nlhs;
  (void)nrhs;
}

/* symmetric_identity(order, dimension, scale, count, single) */
static void identity(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  batch b = plain_batch(is_true("single", prhs[4]) ? PURLIN_F32 : PURLIN_F64,
                        integer_argument("count", prhs[3], 0, INT64_MAX));
  purlin_tensor *result;
  int64_t order = order_argument(prhs[0]);
  name_order(order);
  plhs[0] = new_symmetric(&b, order, dimension_argument(prhs[1]), &result);
  check(purlin_symmetric_identity(gateway_context(), NULL, scalar_argument("scale", prhs[2]), result));
  (void)nlhs;
  (void)nrhs;
}

const command symmetric_commands[] = {
  {"symmetric_count", "order dimension", count},
  {"symmetric_indices", "order dimension", indices},
  {"symmetric_exponents", "order dimension", exponents},
  {"symmetric_multinomials", "order dimension", multinomials},
  {"symmetric_convert", "packed order dimension from to", convert},
  {"symmetric_from_full", "full order dimension options", from_full},
  {"symmetric_to_full", "packed order dimension", to_full},
  {"symmetric_norm", "packed order dimension kind", norm},
  {"symmetric_identity", "order dimension scale count single", identity},
  {NULL, NULL, NULL},
};
