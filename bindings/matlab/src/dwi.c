/* Commands of diffusion MRI. */
#include "gateway.h"

static int64_t order_argument(const mxArray *value) {
  int64_t order = integer_argument("order", value, INT64_MIN, INT64_MAX);
  name_order(order);
  return order;
}

static int64_t entries_of(int64_t order) {
  int64_t entries = 0;
  check(purlin_symmetric_count(order, 3, &entries));
  return entries;
}

/* Whether the numbers of a voxel run along the last extent, as in a NIfTI volume. */
static int last_layout(const mxArray *options) {
  static const choice layouts[] = {{"first", 0}, {"last", 1}, {NULL, 0}};
  int32_t last = 0;
  read_choice(options, "layout", layouts, &last);
  return last;
}

static int32_t result_dtype(const batch *signals, const mxArray *bvals) {
  if (signals->dtype == PURLIN_F32 || signals->dtype == PURLIN_F64) return signals->dtype;
  return real_dtype("bvals", bvals);
}

/* dwi_fit(signals, bvals, bvecs, order, mask, weights, options) */
static void fit(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const mxArray *options = prhs[6];
  int64_t n = (int64_t)mxGetNumberOfElements(prhs[1]), g_dims[2];
  int64_t order = order_argument(prhs[3]);
  int32_t dtype;
  int last = last_layout(options);
  purlin_tensor *bvals, *bvecs, *mask, *weights = NULL, *tensors, *s0, *status_of;
  purlin_dwi_options o;
  purlin_sshopm_info info;
  purlin_status status;
  watch w;
  batch s = borrow_rows("signals", prhs[0], n, last, 1), b = s;
  check(purlin_dwi_options_init(&o, sizeof o));
  check(purlin_sshopm_info_init(&info, sizeof info));
  READ_DWI_OPTIONS(options, &o);
  watch_from(options, &w, &o.progress, &o.progress_user);

  /* Results are of the class of the signals; integer ones leave the choice to the b-values. */
  dtype = b.dtype = result_dtype(&s, prhs[1]);
  g_dims[0] = 3;
  g_dims[1] = n;
  bvals = borrow_array("bvals", prhs[1], real_dtype("bvals", prhs[1]), 1, &n);
  bvecs = borrow_array("bvecs", prhs[2], real_dtype("bvecs", prhs[2]), 2, g_dims);
  mask = borrow_mask(prhs[4], s.count);
  if (!mxIsEmpty(prhs[5])) {
    batch given = borrow_rows("weights", prhs[5], n, last, 0);
    if (given.count != s.count) fail("invalidArgument", "weights: is not shaped like signals");
    weights = given.tensor;
  }
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  (void)mxAddField(plhs[0], "tensors");
  mxSetField(plhs[0], 0, "tensors", new_symmetric(&b, order, 3, &tensors));
  s0 = add_output(plhs[0], "s0", &b, dtype, 0, NULL);
  status_of = add_output(plhs[0], "status", &b, PURLIN_I32, 0, NULL);
  status = purlin_dwi_fit_once(gateway_context(), NULL, s.tensor, bvals, bvecs, mask, weights, &o, tensors, s0,
                               status_of, &info);
  check_watched(&w, status);
  info_struct(&info, plhs[0]);
  (void)nlhs;
  (void)nrhs;
}

/* dwi_csa(signals, bvals, bvecs, order, basis, mask, options) */
static void csa(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const mxArray *options = prhs[6];
  int64_t n = (int64_t)mxGetNumberOfElements(prhs[1]), g_dims[2], entries;
  int64_t order = order_argument(prhs[3]);
  int32_t basis = choice_argument("basis", prhs[4], bases), dtype;
  purlin_tensor *bvals, *bvecs, *mask, *sh, *status_of;
  purlin_dwi_options o;
  purlin_sshopm_info info;
  purlin_status status;
  watch w;
  batch s = borrow_rows("signals", prhs[0], n, last_layout(options), 1), b = s;
  check(purlin_dwi_options_init(&o, sizeof o));
  check(purlin_sshopm_info_init(&info, sizeof info));
  READ_DWI_OPTIONS(options, &o);
  watch_from(options, &w, &o.progress, &o.progress_user);

  dtype = b.dtype = result_dtype(&s, prhs[1]);
  entries = entries_of(order);
  g_dims[0] = 3;
  g_dims[1] = n;
  bvals = borrow_array("bvals", prhs[1], real_dtype("bvals", prhs[1]), 1, &n);
  bvecs = borrow_array("bvecs", prhs[2], real_dtype("bvecs", prhs[2]), 2, g_dims);
  mask = borrow_mask(prhs[5], s.count);
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  sh = add_output(plhs[0], "sh", &b, dtype, 1, &entries);
  status_of = add_output(plhs[0], "status", &b, PURLIN_I32, 0, NULL);
  status = purlin_dwi_csa_once(gateway_context(), NULL, s.tensor, bvals, bvecs, mask, basis, &o, sh, status_of,
                               &info);
  check_watched(&w, status);
  info_struct(&info, plhs[0]);
  (void)nlhs;
  (void)nrhs;
}

/* The input of a search for peaks, read as the option basis says. */
static batch peaks_input(const mxArray *input, int64_t order, const purlin_dwi_options *o, int last) {
  if (o->basis == 0 && mxIsNumeric(input) && !mxIsUint64(input))
    fail("invalidArgument", "basis: is not given, 'tensor' (packed tensors) or the name of the coefficients' basis is needed");
  if (o->basis > 0) return borrow_rows("input", input, entries_of(order), last, 0);
  return borrow_symmetric("input", input, order, 3, last);
}

/* dwi_peaks(input, order, mask, options): the option basis, 'tensor' or a name, is the kind of the input. A symmetric
   purlin.Tensor needs none. */
static void peaks(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const mxArray *options = prhs[3];
  int64_t order = order_argument(prhs[1]);
  int64_t count = 5, dims[2];
  int last = last_layout(options);
  purlin_tensor *mask, *list, *found, *status_of;
  purlin_dwi_options o;
  purlin_sshopm_info info;
  purlin_status status;
  watch w;
  batch b;
  check(purlin_dwi_options_init(&o, sizeof o));
  check(purlin_sshopm_info_init(&info, sizeof info));
  READ_DWI_OPTIONS(options, &o);
  read_int64(options, "peaks", &count);
  if (count < 1) fail("invalidArgument", "peaks: is %lld, at least 1 is needed", (long long)count);
  watch_from(options, &w, &o.progress, &o.progress_user);

  b = peaks_input(prhs[0], order, &o, last);
  mask = borrow_mask(prhs[2], b.count);
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  dims[0] = o.format == PURLIN_PEAKS_MRTRIX ? 3 : 4;
  dims[1] = count;
  list = add_output(plhs[0], "peaks", &b, b.dtype, 2, dims);
  found = add_output(plhs[0], "count", &b, PURLIN_I32, 0, NULL);
  status_of = add_output(plhs[0], "status", &b, PURLIN_I32, 0, NULL);
  status = purlin_dwi_peaks_once(gateway_context(), NULL, b.tensor, mask, &o, list, found, status_of, &info);
  check_watched(&w, status);
  info_struct(&info, plhs[0]);
  (void)nlhs;
  (void)nrhs;
}

/* info = dwi_plan(input, order, options) */
static void plan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const mxArray *options = prhs[2];
  int64_t order = order_argument(prhs[1]);
  purlin_dwi_options o;
  purlin_sshopm_info info;
  purlin_dwi *made = NULL;
  batch b;
  check(purlin_dwi_options_init(&o, sizeof o));
  check(purlin_sshopm_info_init(&info, sizeof info));
  READ_DWI_OPTIONS(options, &o);
  b = peaks_input(prhs[0], order, &o, last_layout(options));
  check(purlin_dwi_create(gateway_context(), &o, &made));
  check(purlin_dwi_plan(temporary_dwi(made), b.tensor, &info));
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  REPORT_SSHOPM_INFO(plhs[0], &info);
  (void)nlhs;
  (void)nrhs;
}

/* sh_to_tensor(sh, order, basis, options{layout}) */
static void sh_to_tensor(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t order = order_argument(prhs[1]);
  int32_t basis = choice_argument("basis", prhs[2], bases);
  batch b = borrow_rows("sh", prhs[0], entries_of(order), last_layout(prhs[3]), 0);
  purlin_tensor *tensors;
  plhs[0] = new_symmetric(&b, order, 3, &tensors);
  check(purlin_dwi_sh_to_tensor(gateway_context(), NULL, b.tensor, basis, tensors));
  (void)nlhs;
  (void)nrhs;
}

/* tensor_to_sh(tensors, order, basis, options{layout}) */
static void tensor_to_sh(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t order = order_argument(prhs[1]);
  int32_t basis = choice_argument("basis", prhs[2], bases);
  int64_t entries = entries_of(order);
  batch b = borrow_symmetric("tensors", prhs[0], order, 3, last_layout(prhs[3]));
  purlin_tensor *sh;
  plhs[0] = new_output(&b, b.dtype, 1, &entries, &sh);
  check(purlin_dwi_tensor_to_sh(gateway_context(), NULL, b.tensor, basis, sh));
  (void)nlhs;
  (void)nrhs;
}

const command dwi_commands[] = {
  {"dwi_fit", "signals bvals bvecs order mask weights options", fit},
  {"dwi_csa", "signals bvals bvecs order basis mask options", csa},
  {"dwi_peaks", "input order mask options", peaks},
  {"dwi_plan", "input order options", plan},
  {"sh_to_tensor", "sh order basis options", sh_to_tensor},
  {"tensor_to_sh", "tensors order basis options", tensor_to_sh},
  {NULL, NULL, NULL},
};
