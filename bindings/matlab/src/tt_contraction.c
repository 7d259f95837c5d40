/* Commands of contractions of tensor trains. Each call has a contraction of its own, which ends with the command, or one
 * that a purlin.TTContraction keeps. */
#include <stdio.h>
#include <string.h>

#include "gateway.h"

static const choice sides[] = {{"left", PURLIN_TT_LEFT}, {"right", PURLIN_TT_RIGHT}, {NULL, 0}};

static purlin_tt_contraction_options options_of(const mxArray *options, watch *w) {
  purlin_tt_contraction_options o;
  check(purlin_tt_contraction_options_init(&o, sizeof o));
  READ_TT_CONTRACTION_OPTIONS(options, &o);
  /* Bonds count from 1 here; without the option it stays "the cheapest". */
  if (option(options, "cut")) o.cut = integer_argument("cut", option(options, "cut"), 1, INT64_MAX) - 1;
  watch_from(options, w, &o.progress, &o.progress_user);
  o.group = read_group(options);
  return o;
}

/* Ends with the command, unless somebody keeps it. */
static purlin_tt_contraction *new_contraction(const mxArray *options, watch *w) {
  purlin_tt_contraction_options o = options_of(options, w);
  purlin_tt_contraction *made = NULL;
  check(purlin_tt_contraction_create(gateway_context(), &o, &made));
  (void)temporary_contraction(made);
  return made;
}

purlin_tt_contraction *contraction_of(const mxArray *options, watch *w) {
  if (!mxIsUint64(options)) return new_contraction(options, w);
  /* One that is kept has no progress function: its watch would end with the command that made it. */
  w->function = w->error = NULL;
  w->message = NULL;
  return (purlin_tt_contraction *)(uintptr_t)key_argument("contraction", options);
}

void expect_rings(const mxArray *options, int has_ring) {
  int64_t block = 0;
  int32_t how = 0;
  if (mxIsUint64(options)) return;
  if (has_ring) {
    read_choice(options, "norm_method", tt_norm_words, &how);
    if (how == PURLIN_TT_NORM_TRIANGLE) fail("invalidArgument", "norm_method: is TRIANGLE, which is for open trains");
    return;
  }
  if (option(options, "cut")) fail("invalidArgument", "cut: belongs to rings, the trains are open");
  read_int64(options, "block", &block);
  if (block != 0)
    fail("invalidArgument", "block: is %.0f, open trains have one boundary pair", (double)block);
}

/* Whether one of the trains is a ring. */
static int has_ring(const purlin_tt **trains, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (train_is_ring(trains[k])) return 1;
  return 0;
}

int have_rings(const purlin_tt **x, int64_t rows, const purlin_tt **y, int64_t cols) {
  return rows == 0 || cols == 0 || has_ring(x, rows) || has_ring(y, cols);
}

purlin_tt_contraction_info fresh_contraction_info(void) {
  purlin_tt_contraction_info info;
  check(purlin_tt_contraction_info_init(&info, sizeof info));
  return info;
}

mxArray *contraction_report(const purlin_tt_contraction_info *i) {
  mxArray *s = mxCreateStructMatrix(1, 1, 0, NULL);
  REPORT_TT_CONTRACTION_INFO(s, i);
  add_number(s, "cut", (double)i->cut + 1);
  return s;
}

/* A number that is complex only where its trains are. */
static mxArray *new_number(double re, double im, int complex_number) {
  double *space;
  mxArray *value;
  if (!complex_number) return mxCreateDoubleScalar(re);
  value = mxCreateDoubleMatrix(1, 1, mxCOMPLEX);
  space = space_of(value, PURLIN_CF64);
  space[0] = re;
  space[1] = im;
  unweave(value, PURLIN_CF64, space);
  return value;
}

static mxArray *new_scaled(const purlin_tt_scaled *v, int complex_number) {
  mxArray *s = mxCreateStructMatrix(1, 1, 0, NULL);
  (void)mxAddField(s, "mantissa");
  mxSetField(s, 0, "mantissa", new_number(v->re, v->im, complex_number));
  add_number(s, "exponent", (double)v->exponent);
  add_number(s, "log_abs", v->log_abs);
  (void)mxAddField(s, "phase");
  mxSetField(s, 0, "phase", new_number(v->phase_re, v->phase_im, complex_number));
  return s;
}

/* A plain number that is beyond its type's range is a result: Inf or 0, which the report explains. NaN is an error. */
static void check_number(const watch *w, purlin_status status, const purlin_tt_contraction_info *info) {
  int is_beyond = info->outcome == PURLIN_TT_RESULT_OVERFLOW || info->outcome == PURLIN_TT_RESULT_UNDERFLOW;
  check_watched(w, status == PURLIN_ERROR_NUMERICAL && is_beyond ? PURLIN_SUCCESS : status);
}

/* [value, info] = tt_inner(x, y, options, scaled) */
static void tt_inner(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *x = train_of("x", prhs[0]), *y = train_of("y", prhs[1]);
  int numbers = is_complex(train_dtype(x)) || is_complex(train_dtype(y));
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  if (is_true("scaled", prhs[3])) {
    purlin_tt_scaled s;
    purlin_tt_contraction *c = contraction_of(prhs[2], &w);
    expect_rings(prhs[2], train_is_ring(x) || train_is_ring(y));
    check_watched(&w, purlin_tt_inner_scaled(c, NULL, x, y, &s, &info));
    plhs[0] = new_scaled(&s, numbers);
  } else {
    double parts[2] = {0, 0};
    if (mxIsUint64(prhs[2])) {
      purlin_tt_contraction *c = contraction_of(prhs[2], &w);
      check_number(&w, purlin_tt_inner(c, NULL, x, y, parts, &info), &info);
    } else {
      purlin_tt_contraction_options o = options_of(prhs[2], &w);
      check_number(&w, purlin_tt_inner_once(gateway_context(), NULL, x, y, &o, parts, &info), &info);
    }
    plhs[0] = new_number(parts[0], parts[1], numbers);
  }
  if (nlhs > 1) plhs[1] = contraction_report(&info);
  (void)nrhs;
}

/* [value, info] = tt_norm(x, options, scaled) */
static void tt_norm(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *x = train_of("x", prhs[0]);
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  if (is_true("scaled", prhs[2])) {
    purlin_tt_scaled s;
    purlin_tt_contraction *c = contraction_of(prhs[1], &w);
    expect_rings(prhs[1], train_is_ring(x));
    check_watched(&w, purlin_tt_norm_scaled(c, NULL, x, &s, &info));
    plhs[0] = new_scaled(&s, 0);
  } else {
    double value = 0;
    if (mxIsUint64(prhs[1])) {
      purlin_tt_contraction *c = contraction_of(prhs[1], &w);
      check_number(&w, purlin_tt_norm(c, NULL, x, &value, &info), &info);
    } else {
      purlin_tt_contraction_options o = options_of(prhs[1], &w);
      check_number(&w, purlin_tt_norm_once(gateway_context(), NULL, x, &o, &value, &info), &info);
    }
    plhs[0] = mxCreateDoubleScalar(value);
  }
  if (nlhs > 1) plhs[1] = contraction_report(&info);
  (void)nrhs;
}

/* [value, info] = tt_distance(x, y, options, scaled) */
static void tt_distance(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *x = train_of("x", prhs[0]), *y = train_of("y", prhs[1]);
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  if (is_true("scaled", prhs[3])) {
    purlin_tt_scaled s;
    purlin_tt_contraction *c = contraction_of(prhs[2], &w);
    expect_rings(prhs[2], train_is_ring(x) || train_is_ring(y));
    check_watched(&w, purlin_tt_distance_scaled(c, NULL, x, y, &s, &info));
    plhs[0] = new_scaled(&s, 0);
  } else {
    double value = 0;
    if (mxIsUint64(prhs[2])) {
      purlin_tt_contraction *c = contraction_of(prhs[2], &w);
      check_number(&w, purlin_tt_distance(c, NULL, x, y, &value, &info), &info);
    } else {
      purlin_tt_contraction_options o = options_of(prhs[2], &w);
      check_number(&w, purlin_tt_distance_once(gateway_context(), NULL, x, y, &o, &value, &info), &info);
    }
    plhs[0] = mxCreateDoubleScalar(value);
  }
  if (nlhs > 1) plhs[1] = contraction_report(&info);
  (void)nrhs;
}

const purlin_tt **trains_of(const char *name, const mxArray *cell, int64_t *count, int *numbers) {
  const purlin_tt **list;
  char place[32];
  if (!mxIsCell(cell)) fail("invalidArgument", "%s: is not a cell array of trains", name);
  *count = (int64_t)mxGetNumberOfElements(cell);
  list = mxMalloc((size_t)(*count + 1) * sizeof *list);
  for (int64_t k = 0; k < *count; k++) {
    (void)snprintf(place, sizeof place, "%s[%lld]", name, (long long)k + 1);
    list[k] = train_of(place, cell_element(cell, (size_t)k));
    *numbers |= is_complex(train_dtype(list[k]));
  }
  return list;
}

/* [G, exponents] = tt_gram(x, y, options, pairs, scaled): y empty for x; with `pairs` a column of the products of pairs;
 * `scaled` for mantissas, with exponents */
static void tt_gram(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t rows, cols, dims[2], *exponents = NULL;
  int numbers = 0, same = !mxIsCell(prhs[1]), pairs = is_true("pairs", prhs[3]), scaled = is_true("scaled", prhs[4]);
  const purlin_tt **x = trains_of("x", prhs[0], &rows, &numbers), **y = x;
  purlin_tensor *out = NULL, *powers = NULL;
  int32_t dtype;
  size_t count;
  void *space;
  watch w;
  purlin_tt_contraction *c = contraction_of(prhs[2], &w);
  cols = rows;
  if (!same) y = trains_of("y", prhs[1], &cols, &numbers);
  else reword("y[", "x[");
  if (pairs && cols != rows) fail("invalidArgument", "y: has %.0f trains, x has %.0f", (double)cols, (double)rows);
  expect_rings(prhs[2], have_rings(x, rows, y, cols));
  dtype = numbers ? PURLIN_CF64 : PURLIN_F64;
  dims[0] = rows;
  dims[1] = cols;
  plhs[0] = mxCreateDoubleMatrix((mwSize)rows, (mwSize)(pairs ? 1 : cols), numbers ? mxCOMPLEX : mxREAL);
  count = (size_t)mxGetNumberOfElements(plhs[0]);
  space = space_of(plhs[0], dtype);
  check(purlin_tensor_borrow(gateway_context(), dtype, 0, pairs ? 1 : 2, dims, NULL, space, &out));
  (void)temporary(out);
  if (scaled) {
    exponents = mxCalloc(count + 1, sizeof *exponents);
    check(purlin_tensor_borrow(gateway_context(), PURLIN_I64, 0, pairs ? 1 : 2, dims, NULL, exponents, &powers));
    (void)temporary(powers);
  }
  check_watched(&w, pairs ? purlin_tt_inner_batch(c, NULL, rows, x, y, out, powers, NULL)
                          : purlin_tt_gram(c, NULL, rows, x, cols, same ? NULL : y, out, powers, NULL));
  unweave(plhs[0], dtype, space);
  if (scaled && nlhs > 1) {
    plhs[1] = mxCreateDoubleMatrix(mxGetM(plhs[0]), mxGetN(plhs[0]), mxREAL);
    for (size_t k = 0; k < count; k++) ((double *)mxGetData(plhs[1]))[k] = (double)exponents[k];
  }
  (void)nrhs;
}

/* [value, info] = tt_sandwich(y, H, x, options, scaled) */
static void tt_sandwich(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *y = train_of("y", prhs[0]), *x = train_of("x", prhs[2]);
  const purlin_tt_matrix *h = train_matrix_of("H", prhs[1]);
  int numbers = is_complex(train_dtype(x)) || is_complex(train_dtype(y)) || is_complex(train_matrix_dtype(h));
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  purlin_tt_contraction *c = contraction_of(prhs[3], &w);
  expect_rings(prhs[3], train_is_ring(x) || train_is_ring(y) || train_matrix_is_ring(h));
  if (is_true("scaled", prhs[4])) {
    purlin_tt_scaled s;
    check_watched(&w, purlin_tt_sandwich_scaled(c, NULL, y, h, x, &s, &info));
    plhs[0] = new_scaled(&s, numbers);
  } else {
    double parts[2] = {0, 0};
    check_number(&w, purlin_tt_sandwich(c, NULL, y, h, x, parts, &info), &info);
    plhs[0] = new_number(parts[0], parts[1], numbers);
  }
  if (nlhs > 1) plhs[1] = contraction_report(&info);
  (void)nrhs;
}

/* [value, info, numerator, denominator] = tt_rayleigh(H, x, options) */
static void tt_rayleigh(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt_matrix *h = train_matrix_of("H", prhs[0]);
  const purlin_tt *x = train_of("x", prhs[1]);
  int numbers = is_complex(train_dtype(x)) || is_complex(train_matrix_dtype(h));
  purlin_tt_contraction_info info = fresh_contraction_info();
  purlin_tt_scaled numerator, denominator;
  double parts[2] = {0, 0};
  watch w;
  purlin_tt_contraction *c = contraction_of(prhs[2], &w);
  expect_rings(prhs[2], train_is_ring(x) || train_matrix_is_ring(h));
  name_argument("y", "x");
  check_number(&w, purlin_tt_rayleigh(c, NULL, h, x, parts, &numerator, &denominator, &info), &info);
  plhs[0] = new_number(parts[0], parts[1], numbers);
  if (nlhs > 1) plhs[1] = contraction_report(&info);
  if (nlhs > 2) plhs[2] = new_scaled(&numerator, numbers);
  if (nlhs > 3) plhs[3] = new_scaled(&denominator, 0);
  (void)nrhs;
}

/* A matrix as a tensor, of real or complex numbers. */
static purlin_tensor *operator_of(const char *name, const mxArray *array) {
  int32_t dtype = dtype_of(array);
  int64_t dims[2];
  purlin_tensor *tensor = NULL;
  if (mxIsSparse(array) || !(mxIsDouble(array) || mxIsSingle(array)) || mxGetNumberOfDimensions(array) != 2)
    fail("invalidArgument", "%s: is not a full matrix of class double or single", name);
  dims[0] = (int64_t)mxGetM(array);
  dims[1] = (int64_t)mxGetN(array);
  check(purlin_tensor_borrow(gateway_context(), dtype, PURLIN_READ_ONLY, 2, dims, NULL, elements_of(array, dtype),
                             &tensor));
  return temporary(tensor);
}

/* A new array of numbers, and the tensor through which the library writes it. */
static mxArray *new_numbers(int64_t rows, int64_t cols, int ndim, int complex_numbers, void **space, purlin_tensor **out) {
  int32_t dtype = complex_numbers ? PURLIN_CF64 : PURLIN_F64;
  int64_t dims[2];
  mxArray *array = mxCreateDoubleMatrix((mwSize)rows, (mwSize)cols, complex_numbers ? mxCOMPLEX : mxREAL);
  dims[0] = rows;
  dims[1] = cols;
  *space = space_of(array, dtype);
  *out = NULL;
  check(purlin_tensor_borrow(gateway_context(), dtype, 0, ndim, dims, NULL, *space, out));
  (void)temporary(*out);
  return array;
}

/* [values, info] = tt_expect_local(x, op, sites, options): a column */
static void tt_expect_local(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *x = train_of("x", prhs[0]);
  int64_t count, *sites = integers_argument("sites", prhs[2], 1, 1, &count);
  int numbers = is_complex(train_dtype(x)) || mxIsComplex(prhs[1]);
  purlin_tensor *op = operator_of("op", prhs[1]), *out;
  void *space;
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  purlin_tt_contraction *c = contraction_of(prhs[3], &w);
  expect_rings(prhs[3], train_is_ring(x));
  plhs[0] = new_numbers(count, 1, 1, numbers, &space, &out);
  check_watched(&w, purlin_tt_expect_local(c, NULL, x, op, count, sites, out, &info));
  unweave(plhs[0], numbers ? PURLIN_CF64 : PURLIN_F64, space);
  if (nlhs > 1) plhs[1] = contraction_report(&info);
  (void)nrhs;
}

/* [values, info] = tt_correlation(x, a, b, options): d-by-d */
static void tt_correlation(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const purlin_tt *x = train_of("x", prhs[0]);
  int64_t d = train_length(x);
  int numbers = is_complex(train_dtype(x)) || mxIsComplex(prhs[1]) || mxIsComplex(prhs[2]);
  purlin_tensor *a = operator_of("a", prhs[1]), *b = operator_of("b", prhs[2]), *out;
  void *space;
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  purlin_tt_contraction *c = contraction_of(prhs[3], &w);
  expect_rings(prhs[3], train_is_ring(x));
  plhs[0] = new_numbers(d, d, 2, numbers, &space, &out);
  check_watched(&w, purlin_tt_correlation(c, NULL, x, a, b, out, &info));
  unweave(plhs[0], numbers ? PURLIN_CF64 : PURLIN_F64, space);
  if (nlhs > 1) plhs[1] = contraction_report(&info);
  (void)nrhs;
}

/* The type that `dtype` and `complex` of some options name. */
static int32_t wanted_dtype(const mxArray *options) {
  int32_t dtype = PURLIN_F64, numbers = 0;
  read_choice(options, "dtype", precisions, &dtype);
  read_flag(options, "complex", &numbers);
  return !numbers ? dtype : dtype == PURLIN_F64 ? PURLIN_CF64 : PURLIN_CF32;
}

static int32_t wanted_ring(const mxArray *options) {
  int32_t cyclic = 0;
  read_flag(options, "cyclic", &cyclic);
  return cyclic;
}

/* key = tt_ising(length, coupling, field, options) */
static void tt_ising(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_matrix *made = NULL;
  check(purlin_tt_matrix_ising(gateway_context(), wanted_dtype(prhs[3]), integer_argument("length", prhs[0], 1, INT64_MAX),
                               wanted_ring(prhs[3]), scalar_argument("coupling", prhs[1]),
                               scalar_argument("field", prhs[2]), &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* key = tt_heisenberg(length, couplings, field, options{twice_spin}) */
static void tt_heisenberg(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_matrix *made = NULL;
  int64_t twice_spin = 1;
  read_int64(prhs[3], "twice_spin", &twice_spin);
  if (!mxIsDouble(prhs[1]) || mxIsComplex(prhs[1]) || mxIsSparse(prhs[1]) || mxGetNumberOfElements(prhs[1]) != 3)
    fail("invalidArgument", "couplings: are not three real numbers");
  check(purlin_tt_matrix_heisenberg(gateway_context(), wanted_dtype(prhs[3]),
                                    integer_argument("length", prhs[0], 1, INT64_MAX), wanted_ring(prhs[3]), twice_spin,
                                    mxGetData(prhs[1]), scalar_argument("field", prhs[2]), &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

static int64_t *integers(const char *name, const mxArray *array, int64_t *count) {
  return integers_argument(name, array, 0, 0, count);
}

/* key = tt_identity(modes, options) */
static void tt_identity(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_matrix *made = NULL;
  int64_t d, *modes = modes_argument("modes", prhs[0], &d);
  check(purlin_tt_matrix_identity(gateway_context(), wanted_dtype(prhs[1]), d, modes, &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* key = tt_from_terms(modes, coefficients, factors, sites, operators, options): operators in a cell, one a factor */
static void tt_from_terms(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_matrix *made = NULL;
  int64_t d, terms, all, total = 0, *modes = modes_argument("modes", prhs[0], &d), *factors = integers("factors", prhs[2], &terms);
  int64_t *sites = integers("sites", prhs[3], &all);
  int32_t dtype = dtype_of(prhs[1]);
  double *coefficients = mxCalloc((size_t)(2 * terms + 1), sizeof *coefficients);
  const purlin_tensor **operators = mxMalloc((size_t)(all + 1) * sizeof *operators);
  if (!mxIsDouble(prhs[1]) || mxIsSparse(prhs[1]) || (int64_t)mxGetNumberOfElements(prhs[1]) != terms)
    fail("invalidArgument", "coefficients: are not as many numbers of class double as terms");
  for (int64_t k = 0; k < terms; k++) {
    const double *given = elements_of(prhs[1], dtype);
    coefficients[2 * k] = is_complex(dtype) ? given[2 * k] : given[k];
    if (is_complex(dtype)) coefficients[2 * k + 1] = given[2 * k + 1];
    total += factors[k];
  }
  if (total != all || !mxIsCell(prhs[4]) || (int64_t)mxGetNumberOfElements(prhs[4]) != all)
    fail("invalidArgument", "sites, operators: are not as many as the terms have factors");
  for (int64_t k = 0; k < all; k++) {
    int64_t same = 0;
    sites[k]--;
    /* Copies of a variable share their memory, and a tensor serves them all. */
    while (same < k && mxGetData(cell_element(prhs[4], same)) != mxGetData(cell_element(prhs[4], k))) same++;
    operators[k] = same < k ? operators[same] : operator_of("operators", cell_element(prhs[4], k));
  }
  check(purlin_tt_matrix_from_terms(gateway_context(), wanted_dtype(prhs[5]), d, modes, wanted_ring(prhs[5]), terms,
                                    coefficients, factors, sites, operators, &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

static purlin_tt_environments *environments_argument(const mxArray *key) {
  return (purlin_tt_environments *)(uintptr_t)key_argument("environments", key);
}

/* key = environments_create(y, x, H, options): keys of purlin.TT and purlin.TTMatrix; H empty for none */
static void environments_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_environments *made = NULL;
  const purlin_tt_matrix *h = mxIsEmpty(prhs[2]) ? NULL : train_matrix_of("H", prhs[2]);
  watch w;
  purlin_tt_contraction *c = contraction_of(prhs[3], &w);
  check(purlin_tt_environments_create(c, train_of("y", prhs[0]), h, train_of("x", prhs[1]), &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

/* environments_build(key, side, bond) */
static void environments_build(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  check(purlin_tt_environments_build(environments_argument(prhs[0]), NULL, choice_argument("side", prhs[1], sides),
                                     integer_argument("bond", prhs[2], 1, INT64_MAX) - 1));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* environments_update(key, k) */
static void environments_update(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  check(purlin_tt_environments_update_core(environments_argument(prhs[0]),
                                           integer_argument("k", prhs[1], 1, INT64_MAX) - 1));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* environments_set_trains(key, y, x, first, last) */
static void environments_set_trains(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  check(purlin_tt_environments_set_trains(environments_argument(prhs[0]), train_of("y", prhs[1]), train_of("x", prhs[2]),
                                          integer_argument("first", prhs[3], 1, INT64_MAX) - 1,
                                          integer_argument("last", prhs[4], 1, INT64_MAX) - 1));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* s = environments_value(key, bond), with an operator at a site environments_value(key, k, op) */
static void environments_value(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_environments *e = environments_argument(prhs[0]);
  int64_t place = integer_argument(nrhs > 2 ? "k" : "bond", prhs[1], 1, INT64_MAX) - 1, dims[4];
  int32_t dtype = PURLIN_F64;
  purlin_tt_scaled s;
  /* The type is that of all bonds. */
  check(purlin_tt_environments_shape(e, nrhs > 2 ? 0 : place, dims, &dtype));
  if (nrhs > 2) check(purlin_tt_environments_local(e, NULL, place, operator_of("op", prhs[2]), &s));
  else check(purlin_tt_environments_value(e, NULL, place, &s));
  plhs[0] = new_scaled(&s, is_complex(dtype));
  (void)nlhs;
}

/* [values, exponent] = environments_get(key, side, bond) */
static void environments_get(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_environments *e = environments_argument(prhs[0]);
  int32_t side = choice_argument("side", prhs[1], sides), dtype = PURLIN_F64;
  int64_t bond = integer_argument("bond", prhs[2], 1, INT64_MAX) - 1, dims[4], exponent = 0;
  mwSize sizes[4];
  purlin_tensor *out = NULL;
  void *space;
  check(purlin_tt_environments_shape(e, bond, dims, &dtype));
  for (int i = 0; i < 4; i++) sizes[i] = (mwSize)dims[i];
  plhs[0] = mxCreateNumericArray(4, sizes, class_of(dtype), is_complex(dtype) ? mxCOMPLEX : mxREAL);
  space = space_of(plhs[0], dtype);
  check(purlin_tensor_borrow(gateway_context(), dtype, 0, 4, dims, NULL, space, &out));
  (void)temporary(out);
  check(purlin_tt_environments_get(e, NULL, side, bond, out, &exponent));
  unweave(plhs[0], dtype, space);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar((double)exponent);
  (void)nrhs;
}

/* [out, exponent] = environments_apply(key, k, sites, v, size): the result of the given size */
static void environments_apply(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_environments *e = environments_argument(prhs[0]);
  int64_t k = integer_argument("k", prhs[1], 1, INT64_MAX) - 1, count, dims[4], exponent = 0;
  int64_t *wanted = integers("size", prhs[4], &count), elements = (int64_t)mxGetNumberOfElements(prhs[3]);
  int32_t dtype = PURLIN_F64;
  mwSize sizes[4];
  purlin_tensor *v = NULL, *out = NULL;
  void *space;
  check(purlin_tt_environments_shape(e, k, dims, &dtype));
  if (count < 2 || count > 4) fail("internal", "size: is not that of an array");
  if (dtype_of(prhs[3]) != dtype) fail("invalidArgument", "v: is of another class than the environments, or not complex");
  for (int i = 0; i < (int)count; i++) sizes[i] = (mwSize)wanted[i];
  plhs[0] = mxCreateNumericArray((mwSize)count, sizes, class_of(dtype), is_complex(dtype) ? mxCOMPLEX : mxREAL);
  space = space_of(plhs[0], dtype);
  check(purlin_tensor_borrow(gateway_context(), dtype, PURLIN_READ_ONLY, 1, &elements, NULL, elements_of(prhs[3], dtype),
                             &v));
  (void)temporary(v);
  check(purlin_tensor_borrow(gateway_context(), dtype, 0, count, wanted, NULL, space, &out));
  (void)temporary(out);
  check(purlin_tt_environments_apply(e, NULL, k, integer_argument("sites", prhs[2], 0, 2), v, out, &exponent));
  unweave(plhs[0], dtype, space);
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar((double)exponent);
  (void)nrhs;
}

/* environments_destroy(key): a key that is gone is none */
static void environments_destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_tt_environments_destroy(environments_argument(prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* key = contraction_create(options) */
static void contraction_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  watch w;
  plhs[0] = key_of(new_contraction(prhs[0], &w));
  (void)temporary_contraction(NULL);
  (void)nlhs;
  (void)nrhs;
}

/* contraction_destroy(key): a key that is gone is none */
static void contraction_destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_tt_contraction_destroy((purlin_tt_contraction *)(uintptr_t)key_argument("contraction", prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* info = contraction_last_info(key) */
static void contraction_last_info(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  check(purlin_tt_contraction_last_info(
    (const purlin_tt_contraction *)(uintptr_t)key_argument("contraction", prhs[0]), &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

const command tt_contraction_commands[] = {
  {"contraction_create", "options", contraction_create},
  {"contraction_last_info", "key", contraction_last_info},
  {"contraction_destroy", "key", contraction_destroy},
  {"tt_inner", "x y options scaled", tt_inner},
  {"tt_gram", "x y options pairs scaled", tt_gram},
  {"tt_norm", "x options scaled", tt_norm},
  {"tt_distance", "x y options scaled", tt_distance},
  {"tt_sandwich", "y H x options scaled", tt_sandwich},
  {"tt_rayleigh", "H x options", tt_rayleigh},
  {"tt_expect_local", "x op sites options", tt_expect_local},
  {"tt_correlation", "x a b options", tt_correlation},
  {"tt_ising", "length coupling field options", tt_ising},
  {"tt_heisenberg", "length couplings field options", tt_heisenberg},
  {"tt_identity", "modes options", tt_identity},
  {"tt_from_terms", "modes coefficients factors sites operators options", tt_from_terms},
  {"environments_create", "y x H options", environments_create},
  {"environments_build", "key side bond", environments_build},
  {"environments_update", "key k", environments_update},
  {"environments_set_trains", "key y x first last", environments_set_trains},
  {"environments_value", "key bond op?", environments_value},
  {"environments_get", "key side bond", environments_get},
  {"environments_apply", "key k sites v size", environments_apply},
  {"environments_destroy", "key", environments_destroy},
  {NULL, NULL, NULL},
};
