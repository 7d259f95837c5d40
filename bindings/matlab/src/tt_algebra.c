/* Commands of the algebra of tensor trains. Results are keys of new trains. */
#include <string.h>

#include "gateway.h"

static const choice spreads[] = {{"auto", PURLIN_TT_SPREAD_AUTO}, {"first", PURLIN_TT_SPREAD_FIRST},
  {"even", PURLIN_TT_SPREAD_EVEN}, {NULL, 0}};

/* A scalar, real or complex. */
static void factor_of(const char *name, const mxArray *value, double *parts) {
  if (!mxIsDouble(value) || mxIsSparse(value) || mxGetNumberOfElements(value) != 1)
    fail("invalidArgument", "%s: is not a scalar of class double", name);
  memcpy(parts, elements_of(value, dtype_of(value)), (mxIsComplex(value) ? 2 : 1) * sizeof *parts);
  if (!mxIsComplex(value)) parts[1] = 0;
}

/* Indices, or sizes, of at least 1. */
static int64_t *integers(const char *name, const mxArray *array, int64_t less) {
  int64_t count;
  return integers_argument(name, array, 1, less, &count);
}

static int64_t *extents_of(const char *name, const mxArray *array) {
  int64_t count;
  return modes_argument(name, array, &count);
}

/* key = tt_add(alpha, x, beta, y) */
static void tt_add(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  double alpha[2], beta[2];
  purlin_tt *made = NULL;
  factor_of("alpha", prhs[0], alpha);
  factor_of("beta", prhs[2], beta);
  check(purlin_tt_add(gateway_context(), NULL, alpha, train_of("x", prhs[1]), beta, train_of("y", prhs[3]), &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* key = tt_scale(x, factor, options{exponent, spread}) */
static void tt_scale(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  double factor[2];
  int64_t exponent = 0;
  int32_t spread = PURLIN_TT_SPREAD_AUTO;
  purlin_tt *made = NULL;
  factor_of("factor", prhs[1], factor);
  read_int64(prhs[2], "exponent", &exponent);
  read_choice(prhs[2], "spread", spreads, &spread);
  check(purlin_tt_scale(gateway_context(), NULL, train_of("x", prhs[0]), factor, exponent, spread, &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* Commands that make one train of one other train and of nothing else. */
static void tt_unary(const mxArray *x, mxArray *plhs[],
                     purlin_status (*call)(const purlin_context *, const purlin_stream *, const purlin_tt *, purlin_tt **)) {
  purlin_tt *made = NULL;
  check(call(gateway_context(), NULL, train_of("x", x), &made));
  plhs[0] = key_of(made);
}

static void tt_conj(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  tt_unary(prhs[0], plhs, purlin_tt_conj);
  (void)nlhs;
  (void)nrhs;
}

static void tt_reverse(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  tt_unary(prhs[0], plhs, purlin_tt_reverse);
  (void)nlhs;
  (void)nrhs;
}

static void tt_to_open(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  tt_unary(prhs[0], plhs, purlin_tt_to_open);
  (void)nlhs;
  (void)nrhs;
}

/* key = tt_rotate(x, first) */
static void tt_rotate(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt *made = NULL;
  check(purlin_tt_rotate(gateway_context(), NULL, train_of("x", prhs[0]),
                         integer_argument("first", prhs[1], 1, INT64_MAX) - 1, &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* key = tt_cast(x, dtype, complex) */
static void tt_cast(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int32_t dtype = choice_argument("dtype", prhs[1], precisions);
  purlin_tt *made = NULL;
  if (is_true("complex", prhs[2])) dtype = dtype == PURLIN_F64 ? PURLIN_CF64 : PURLIN_CF32;
  check(purlin_tt_cast(gateway_context(), NULL, train_of("x", prhs[0]), dtype, &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* [key, exponent] = tt_canonicalize(x, centre) */
static void tt_canonicalize(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t exponent = 0;
  purlin_tt *made = NULL;
  check(purlin_tt_canonicalize(gateway_context(), NULL, train_of("x", prhs[0]),
                               integer_argument("centre", prhs[1], 1, INT64_MAX) - 1, &exponent, &made));
  plhs[0] = key_of(made);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar((double)exponent);
  (void)nrhs;
}

static purlin_tt_round_options truncation(const mxArray *options) {
  purlin_tt_round_options o;
  check(purlin_tt_round_options_init(&o, sizeof o));
  READ_TT_ROUND_OPTIONS(options, &o);
  return o;
}

static mxArray *report(const purlin_tt_round_info *info) {
  mxArray *s = mxCreateStructMatrix(1, 1, 0, NULL);
  REPORT_TT_ROUND_INFO(s, info);
  return s;
}

/* [key, info] = tt_round(x, options) */
static void tt_round(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_round_options o = truncation(prhs[1]);
  purlin_tt_round_info info;
  purlin_tt *made = NULL;
  check(purlin_tt_round_info_init(&info, sizeof info));
  check(purlin_tt_round(gateway_context(), NULL, train_of("x", prhs[0]), &o, &made, NULL, &info));
  plhs[0] = key_of(made);
  if (nlhs > 1) plhs[1] = report(&info);
  (void)nrhs;
}

/* [key, info] = tt_apply(H, x, options, rounded) */
static void tt_apply(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt_matrix *h = train_matrix_of("H", prhs[0]);
  const purlin_tt *x = train_of("x", prhs[1]);
  purlin_tt_round_options o = truncation(prhs[2]);
  purlin_tt_round_info info;
  purlin_tt *made = NULL;
  check(purlin_tt_round_info_init(&info, sizeof info));
  if (is_true("rounded", prhs[3])) check(purlin_tt_apply_round(gateway_context(), NULL, h, x, &o, &made, &info));
  else check(purlin_tt_apply(gateway_context(), NULL, h, x, &made));
  plhs[0] = key_of(made);
  if (nlhs > 1) plhs[1] = report(&info);
  (void)nrhs;
}

/* [key, info] = tt_hadamard(x, y, options, rounded) */
static void tt_hadamard(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *x = train_of("x", prhs[0]), *y = train_of("y", prhs[1]);
  purlin_tt_round_options o = truncation(prhs[2]);
  purlin_tt_round_info info;
  purlin_tt *made = NULL;
  check(purlin_tt_round_info_init(&info, sizeof info));
  if (is_true("rounded", prhs[3])) check(purlin_tt_hadamard_round(gateway_context(), NULL, x, y, &o, &made, &info));
  else check(purlin_tt_hadamard(gateway_context(), NULL, x, y, &made));
  plhs[0] = key_of(made);
  if (nlhs > 1) plhs[1] = report(&info);
  (void)nrhs;
}

/* A full array as a tensor. */
static purlin_tensor *array_of(const char *name, const mxArray *array) {
  int32_t dtype = dtype_of(array);
  int ndim = (int)mxGetNumberOfDimensions(array);
  int64_t dims[MAX_DIMS];
  purlin_tensor *tensor = NULL;
  if (mxIsSparse(array) || !(mxIsDouble(array) || mxIsSingle(array)) || ndim > MAX_DIMS)
    fail("invalidArgument", "%s: is not a full array of class double or single", name);
  for (int i = 0; i < ndim; i++) dims[i] = (int64_t)mxGetDimensions(array)[i];
  check(purlin_tensor_borrow(gateway_context(), dtype, PURLIN_READ_ONLY, ndim, dims, NULL, elements_of(array, dtype),
                             &tensor));
  return temporary(tensor);
}

/* [key, info] = tt_svd(A, options, modes): empty modes are A's own extents */
static void tt_svd(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_round_options o = truncation(prhs[1]);
  purlin_tt_round_info info;
  purlin_tt *made = NULL;
  int64_t length = (int64_t)mxGetNumberOfElements(prhs[2]), *modes = integers("modes", prhs[2], 0);
  check(purlin_tt_round_info_init(&info, sizeof info));
  name_argument("values", "A");
  if (mxIsEmpty(prhs[0])) fail("invalidArgument", "A: is empty, sizes of at least 1 are needed");
  check(purlin_tt_svd(gateway_context(), NULL, array_of("A", prhs[0]), length, modes, &o, &made, NULL, &info));
  plhs[0] = key_of(made);
  if (nlhs > 1) plhs[1] = report(&info);
  (void)nrhs;
}

/* key = tt_random(modes, ranks, seed, dtype, complex) */
static void tt_random(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int32_t dtype = choice_argument("dtype", prhs[3], precisions);
  int64_t d = (int64_t)mxGetNumberOfElements(prhs[0]);
  purlin_tt *made = NULL;
  if (is_true("complex", prhs[4])) dtype = dtype == PURLIN_F64 ? PURLIN_CF64 : PURLIN_CF32;
  if ((int64_t)mxGetNumberOfElements(prhs[1]) != d + 1)
    fail("invalidArgument", "ranks: has %.0f numbers, expected %.0f", (double)mxGetNumberOfElements(prhs[1]), (double)d + 1);
  check(purlin_tt_random(gateway_context(), dtype, PURLIN_HOST, d, extents_of("modes", prhs[0]),
                         integers("ranks", prhs[1], 0), seed_argument("seed", prhs[2]), &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* key = tt_constant(modes, dtype, complex, ones): all entries 1, or 0 */
static void tt_constant(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int32_t dtype = choice_argument("dtype", prhs[1], precisions);
  int64_t d = (int64_t)mxGetNumberOfElements(prhs[0]), *modes = extents_of("modes", prhs[0]);
  purlin_tt *made = NULL;
  if (is_true("complex", prhs[2])) dtype = dtype == PURLIN_F64 ? PURLIN_CF64 : PURLIN_CF32;
  check(is_true("ones", prhs[3]) ? purlin_tt_ones(gateway_context(), dtype, PURLIN_HOST, d, modes, &made)
                                 : purlin_tt_zeros(gateway_context(), dtype, PURLIN_HOST, d, modes, &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* key = tt_product_state(modes, vectors): the vectors one after another in a column */
static void tt_product_state(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt *made = NULL;
  check(purlin_tt_product_state(gateway_context(), (int64_t)mxGetNumberOfElements(prhs[0]), extents_of("vectors", prhs[0]),
                                array_of("vectors", prhs[1]), &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* values = tt_elements(x, indices): d-by-count indices from 1; a column */
static void tt_elements(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *x = train_of("x", prhs[0]);
  int64_t d = train_length(x), count = (int64_t)mxGetN(prhs[1]), *indices = integers("indices", prhs[1], 1);
  int numbers = is_complex(train_dtype(x));
  int32_t dtype = numbers ? PURLIN_CF64 : PURLIN_F64;
  purlin_tensor *out = NULL;
  void *space;
  if ((int64_t)mxGetM(prhs[1]) != d) fail("invalidArgument", "indices: have %.0f rows, expected %.0f",
                                          (double)mxGetM(prhs[1]), (double)d);
  plhs[0] = mxCreateDoubleMatrix((mwSize)count, 1, numbers ? mxCOMPLEX : mxREAL);
  space = space_of(plhs[0], dtype);
  check(purlin_tensor_borrow(gateway_context(), dtype, 0, 1, &count, NULL, space, &out));
  (void)temporary(out);
  check(purlin_tt_elements(gateway_context(), NULL, x, count, indices, out));
  unweave(plhs[0], dtype, space);
  (void)nlhs;
  (void)nrhs;
}

/* A = tt_full(x) */
static void tt_full(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *x = train_of("x", prhs[0]);
  int64_t d = train_length(x), *modes, *ranks, elements = 1;
  int32_t dtype = train_dtype(x);
  mwSize *sizes = mxMalloc((size_t)(d + 2) * sizeof *sizes);
  purlin_tensor *out = NULL;
  void *space;
  train_shape(x, &modes, &ranks);
  sizes[0] = sizes[1] = 1;
  for (int64_t k = 0; k < d; k++) {
    sizes[k] = (mwSize)modes[k];
    if (elements > ((int64_t)1 << 31) / modes[k]) fail("invalidArgument", "x: has more than 2^31 entries");
    elements *= modes[k];
  }
  if (d == 1) sizes[1] = 1;
  plhs[0] = mxCreateNumericArray((mwSize)(d < 2 ? 2 : d), sizes, class_of(dtype), is_complex(dtype) ? mxCOMPLEX : mxREAL);
  space = space_of(plhs[0], dtype);
  check(purlin_tensor_borrow(gateway_context(), dtype, 0, 1, &elements, NULL, space, &out));
  (void)temporary(out);
  check(purlin_tt_full(gateway_context(), NULL, x, out));
  unweave(plhs[0], dtype, space);
  (void)nlhs;
  (void)nrhs;
}

const command tt_algebra_commands[] = {
  {"tt_add", "alpha x beta y", tt_add},
  {"tt_scale", "x factor options", tt_scale},
  {"tt_hadamard", "x y options rounded", tt_hadamard},
  {"tt_conj", "x", tt_conj},
  {"tt_reverse", "x", tt_reverse},
  {"tt_to_open", "x", tt_to_open},
  {"tt_rotate", "x first", tt_rotate},
  {"tt_cast", "x dtype complex", tt_cast},
  {"tt_canonicalize", "x centre", tt_canonicalize},
  {"tt_round", "x options", tt_round},
  {"tt_apply", "H x options rounded", tt_apply},
  {"tt_svd", "A options modes", tt_svd},
  {"tt_random", "modes ranks seed dtype complex", tt_random},
  {"tt_constant", "modes dtype complex ones", tt_constant},
  {"tt_product_state", "modes vectors", tt_product_state},
  {"tt_elements", "x indices", tt_elements},
  {"tt_full", "x", tt_full},
  {NULL, NULL, NULL},
};
