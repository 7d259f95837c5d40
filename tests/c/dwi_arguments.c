/* Diffusion MRI: every documented refusal once, by name. */
#include <math.h>

#include "check.h"

enum { N = 20, T = 3, U = 15 };

static purlin_context *context;
static double signals[T][N], bvals[N], bvecs[N][3], sh[T][U], tensors[T][U], peaks[T][2][4], s0[T];
static int32_t status[T];
static uint8_t mask[T];

/* A usable scheme: one unweighted volume, then directions spread over the sphere. */
static void scheme(void) {
  int j, t;
  for (j = 0; j < N; j++) {
    double z = 1 - (j + 0.5) / N, r = sqrt(1 - z * z), phi = 2.399963 * j;
    bvals[j] = j == 0 ? 0 : 1000;
    bvecs[j][0] = r * cos(phi), bvecs[j][1] = r * sin(phi), bvecs[j][2] = z;
    for (t = 0; t < T; t++) signals[t][j] = j == 0 ? 100 : 100 * exp(-1000 * 7e-4);
  }
}

/* A scheme from which nothing can be fitted. */
static void one_direction(void) {
  int j;
  for (j = 1; j < N; j++) bvecs[j][0] = 1, bvecs[j][1] = bvecs[j][2] = 0;
}

static void fit_and_csa(void) {
  purlin_context *foreign = test_context(1);
  purlin_tensor *s = array2(context, PURLIN_F64, N, T, signals), *b = vector_of(context, PURLIN_F64, N, bvals);
  purlin_tensor *g = array2(context, PURLIN_F64, 3, N, bvecs), *a = symmetric(context, PURLIN_F64, 4, 3, T, tensors);
  purlin_tensor *f = array2(context, PURLIN_F64, U, T, sh), *bad;
  purlin_dwi_options o, c;
  int t;
#define FIT(s, b, g, mask, weights, options, a, s0, status) \
  purlin_dwi_fit_once(context, NULL, s, b, g, mask, weights, options, a, s0, status, NULL)
#define CSA(s, b, g, mask, basis, options, f, status) \
  purlin_dwi_csa_once(context, NULL, s, b, g, mask, basis, options, f, status, NULL)
  OK(FIT(s, b, g, NULL, NULL, NULL, a, NULL, NULL));
  /* Isotropic diffusion of 7e-4 mm^2/s. */
  CHECK(fabs(tensors[0][0] - 7e-4) < 1e-12 && fabs(tensors[2][3] - 7e-4 / 3) < 1e-12 && fabs(tensors[1][1]) < 1e-12);
  OK(CSA(s, b, g, NULL, PURLIN_SH_CANONICAL, NULL, f, NULL));
  BAD_HANDLE("context: is NULL", purlin_dwi_fit_once(NULL, NULL, s, b, g, NULL, NULL, NULL, a, NULL, NULL, NULL));
  BAD_HANDLE("signals: is NULL", FIT(NULL, b, g, NULL, NULL, NULL, a, NULL, NULL));
  BAD_HANDLE("bvals: is NULL", FIT(s, NULL, g, NULL, NULL, NULL, a, NULL, NULL));
  BAD_HANDLE("bvecs: is NULL", CSA(s, b, NULL, NULL, 1, NULL, f, NULL));
  BAD_HANDLE("tensors: is NULL", FIT(s, b, g, NULL, NULL, NULL, NULL, NULL, NULL));
  BAD_HANDLE("sh: is NULL", CSA(s, b, g, NULL, 1, NULL, NULL, NULL));
  BAD_ARGUMENT("basis: is 0", CSA(s, b, g, NULL, 0, NULL, f, NULL));
  BAD_ARGUMENT("basis: is 6", CSA(s, b, g, NULL, 6, NULL, f, NULL));
#define BAD(text, make, call)         \
  do {                                \
    bad = (make);                     \
    BAD_ARGUMENT(text, call);         \
    OK(purlin_tensor_destroy(bad));   \
  } while (0)
  BAD("signals", vector_of(context, PURLIN_F64, N, signals), FIT(bad, b, g, NULL, NULL, NULL, a, NULL, NULL));
  BAD("bvals", vector_of(context, PURLIN_F64, N - 1, bvals), FIT(s, bad, g, NULL, NULL, NULL, a, NULL, NULL));
  BAD("bvals", vector_of(context, PURLIN_I32, N, bvals), FIT(s, bad, g, NULL, NULL, NULL, a, NULL, NULL));
  BAD("bvecs", array2(context, PURLIN_F64, N, 3, bvecs), FIT(s, b, bad, NULL, NULL, NULL, a, NULL, NULL));
  BAD("mask", vector_of(context, PURLIN_U8, T - 1, mask), FIT(s, b, g, bad, NULL, NULL, a, NULL, NULL));
  BAD("mask", vector_of(context, PURLIN_I32, T, status), FIT(s, b, g, bad, NULL, NULL, a, NULL, NULL));
  BAD("weights", array2(context, PURLIN_F64, T, N, sh), FIT(s, b, g, NULL, bad, NULL, a, NULL, NULL));
  BAD("tensors", array2(context, PURLIN_F64, U, T, sh), FIT(s, b, g, NULL, NULL, NULL, bad, NULL, NULL));
  BAD("tensors", symmetric(context, PURLIN_F64, 3, 3, T, sh), FIT(s, b, g, NULL, NULL, NULL, bad, NULL, NULL));
  BAD("tensors", symmetric(context, PURLIN_F64, 2, 4, T, sh), FIT(s, b, g, NULL, NULL, NULL, bad, NULL, NULL));
  BAD("tensors", symmetric(context, PURLIN_F64, 4, 3, T - 1, sh), FIT(s, b, g, NULL, NULL, NULL, bad, NULL, NULL));
  BAD("s0", vector_of(context, PURLIN_F32, T, s0), FIT(s, b, g, NULL, NULL, NULL, a, bad, NULL));
  BAD("status", vector_of(context, PURLIN_U8, T, mask), FIT(s, b, g, NULL, NULL, NULL, a, NULL, bad));
  BAD("status", vector_of(context, PURLIN_I32, T + 1, sh), FIT(s, b, g, NULL, NULL, NULL, a, NULL, bad));
  BAD("signals: belongs to another", array2(foreign, PURLIN_F64, N, T, signals), FIT(bad, b, g, NULL, NULL, NULL, a, NULL, NULL));
  BAD("overlaps signals", symmetric(context, PURLIN_F64, 4, 3, T, signals), FIT(s, b, g, NULL, NULL, NULL, bad, NULL, NULL));
  BAD("sh", array2(context, PURLIN_F64, 14, T, sh), CSA(s, b, g, NULL, 1, NULL, bad, NULL));
  BAD("sh", array2(context, PURLIN_I64, U, T, sh), CSA(s, b, g, NULL, 1, NULL, bad, NULL));
  /* 19 directions are too few for the 28 entries of order 6. */
  bad = NULL;
  OK(purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, 0, 6, 3, T, &bad));
  BAD_ARGUMENT("", FIT(s, b, g, NULL, NULL, NULL, bad, NULL, NULL));
  OK(purlin_tensor_destroy(bad));
#undef BAD
#define REFUSED(text, change)                                           \
  do {                                                                  \
    change;                                                             \
    BAD_ARGUMENT(text, FIT(s, b, g, NULL, NULL, NULL, a, NULL, NULL));  \
    BAD_ARGUMENT(text, CSA(s, b, g, NULL, 1, NULL, f, NULL));           \
    scheme();                                                           \
  } while (0)
  REFUSED("bvals: element 3 is -1", bvals[3] = -1);
  REFUSED("bvals: element 3", bvals[3] = NAN);
  REFUSED("bvals", bvals[0] = 1000);
  REFUSED("bvals", memset(bvals, 0, sizeof bvals));
  REFUSED("bvecs: column 4", bvecs[4][0] += 0.5);
  REFUSED("bvecs: column 4", bvecs[4][1] = NAN);
#undef REFUSED
  one_direction();
  BAD_ARGUMENT("bvecs", FIT(s, b, g, NULL, NULL, NULL, a, NULL, NULL));
  OK(purlin_dwi_options_init(&c, sizeof c));
  c.smoothing = 0;
  BAD_ARGUMENT("bvecs", CSA(s, b, g, NULL, 1, &c, f, NULL));
  scheme();
  /* Those of unweighted volumes are ignored. */
  bvecs[0][0] = bvecs[0][1] = bvecs[0][2] = NAN;
  OK(FIT(s, b, g, NULL, NULL, NULL, a, NULL, NULL));
#define REFUSED(text, field, value)                                \
  do {                                                             \
    OK(purlin_dwi_options_init(&o, sizeof o));                 \
    o.field = (value);                                             \
    BAD_ARGUMENT(text, FIT(s, b, g, NULL, NULL, &o, a, NULL, NULL)); \
  } while (0)
  BAD_ARGUMENT("options: is NULL", purlin_dwi_options_init(NULL, sizeof o));
  REFUSED("weighting: is 2", weighting, 2);
  /* Weights of the caller take the place of those that the signals give. */
  OK(purlin_dwi_options_init(&o, sizeof o));
  o.weighting = PURLIN_DWI_WLS;
  OK(FIT(s, b, g, NULL, NULL, &o, a, NULL, NULL));
  bad = array2(context, PURLIN_F64, N, T, signals);
  BAD_ARGUMENT("weighting: is PURLIN_DWI_WLS, but `weights` are given", FIT(s, b, g, NULL, bad, &o, a, NULL, NULL));
  o.weighting = PURLIN_DWI_OLS;
  OK(FIT(s, b, g, NULL, bad, &o, a, NULL, NULL));
  OK(purlin_tensor_destroy(bad));
  REFUSED("nonpositive: is -1", nonpositive, -1);
  REFUSED("b0_threshold", b0_threshold, -1);
  REFUSED("b0_threshold", b0_threshold, NAN);
  REFUSED("clamp", clamp, -1);
  REFUSED("clamp: is 1, 0, or at least 1e-30 and less than 1, is needed", clamp, 1);
  REFUSED("clamp", clamp, NAN);
  REFUSED("options: struct_size", struct_size, 3);
#undef REFUSED
#define REFUSED(text, field, value)                            \
  do {                                                         \
    OK(purlin_dwi_options_init(&c, sizeof c));             \
    c.field = (value);                                         \
    BAD_ARGUMENT(text, CSA(s, b, g, NULL, 1, &c, f, NULL));    \
  } while (0)
  BAD_ARGUMENT("options: is NULL", purlin_dwi_options_init(NULL, sizeof c));
  REFUSED("b0_threshold", b0_threshold, INFINITY);
  REFUSED("smoothing", smoothing, -1);
  REFUSED("minimum_signal", minimum_signal, 0);
  REFUSED("maximum_signal", maximum_signal, 1);
  REFUSED("maximum_signal", maximum_signal, 1e-4);
  REFUSED("options: struct_size", struct_size, 2000);
#undef REFUSED
  /* No voxels, and all of them masked. */
  bad = array2(context, PURLIN_F64, N, 0, NULL);
  OK(purlin_tensor_destroy(a));
  a = symmetric(context, PURLIN_F64, 4, 3, 0, NULL);
  OK(FIT(bad, b, g, NULL, NULL, NULL, a, NULL, NULL));
  OK(purlin_tensor_destroy(bad));
  OK(purlin_tensor_destroy(a));
  a = symmetric(context, PURLIN_F64, 4, 3, T, tensors);
  bad = vector_of(context, PURLIN_U8, T, mask);
  OK(FIT(s, b, g, bad, NULL, NULL, a, NULL, NULL));
  for (t = 0; t < T; t++) CHECK(tensors[t][0] == 0);
  OK(purlin_tensor_destroy(bad));
  OK(purlin_tensor_destroy(s));
  OK(purlin_tensor_destroy(b));
  OK(purlin_tensor_destroy(g));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(f));
  OK(purlin_context_destroy(foreign));
}

static void conversions(void) {
  purlin_tensor *f = array2(context, PURLIN_F64, U, T, sh), *a = symmetric(context, PURLIN_F64, 4, 3, T, tensors), *bad;
  OK(purlin_dwi_sh_to_tensor(context, NULL, f, PURLIN_SH_DESCOTEAUX07, a));
  OK(purlin_dwi_tensor_to_sh(context, NULL, a, PURLIN_SH_TOURNIER07_LEGACY, f));
  BAD_ARGUMENT("basis: is 0", purlin_dwi_sh_to_tensor(context, NULL, f, 0, a));
  BAD_ARGUMENT("basis: is 6", purlin_dwi_tensor_to_sh(context, NULL, a, 6, f));
  BAD_HANDLE("sh: is NULL", purlin_dwi_sh_to_tensor(context, NULL, NULL, 1, a));
  BAD_HANDLE("tensors: is NULL", purlin_dwi_tensor_to_sh(context, NULL, NULL, 1, f));
  bad = array2(context, PURLIN_F64, U, T, signals);
  BAD_ARGUMENT("tensors", purlin_dwi_tensor_to_sh(context, NULL, bad, 1, f));
  OK(purlin_tensor_destroy(bad));
  bad = symmetric(context, PURLIN_F64, 3, 3, T, signals);
  BAD_ARGUMENT("tensors", purlin_dwi_sh_to_tensor(context, NULL, f, 1, bad));
  BAD_ARGUMENT("tensors", purlin_dwi_tensor_to_sh(context, NULL, bad, 1, f));
  OK(purlin_tensor_destroy(bad));
  bad = symmetric(context, PURLIN_F32, 4, 3, T, signals);
  BAD_ARGUMENT("tensors", purlin_dwi_sh_to_tensor(context, NULL, f, 1, bad));
  OK(purlin_tensor_destroy(bad));
  bad = array2(context, PURLIN_F64, 6, T, signals);
  BAD_ARGUMENT("", purlin_dwi_sh_to_tensor(context, NULL, bad, 1, a));
  BAD_ARGUMENT("", purlin_dwi_tensor_to_sh(context, NULL, a, 1, bad));
  OK(purlin_tensor_destroy(bad));
  OK(purlin_tensor_destroy(f));
  OK(purlin_tensor_destroy(a));
}

static void peak_arguments(void) {
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, T, tensors), *p = array3(context, PURLIN_F64, 4, 2, T, peaks);
  purlin_tensor *f = array2(context, PURLIN_F64, U, T, sh), *bad;
  purlin_dwi_options o;
  purlin_sshopm_info info;
#define PEAKS(input, mask, options, peaks, count, status) \
  purlin_dwi_peaks_once(context, NULL, input, mask, options, peaks, count, status, NULL)
  OK(PEAKS(a, NULL, NULL, p, NULL, NULL));
  BAD_ARGUMENT("options: is NULL", purlin_dwi_options_init(NULL, sizeof o));
#define REFUSED(text, field, value)                        \
  do {                                                     \
    OK(purlin_dwi_options_init(&o, sizeof o));       \
    o.field = (value);                                     \
    BAD_ARGUMENT(text, PEAKS(a, NULL, &o, p, NULL, NULL)); \
  } while (0)
  REFUSED("basis: is 6", basis, 6);
  REFUSED("basis", basis, PURLIN_SH_MRTRIX3);
  REFUSED("format: is 2", format, 2);
  REFUSED("missing: is -1", missing, -1);
  REFUSED("start_kind: is 9", start_kind, 9);
  REFUSED("max_iterations: is -1", max_iterations, -1);
  REFUSED("max_iterations: is 1099511627776, more than 2147483647", max_iterations, INT64_C(1) << 40);
  REFUSED("reserved: is 1, 0 is needed", reserved, 1);
  REFUSED("method: is 2", method, 2);
  REFUSED("starts: is -1", starts, -1);
  REFUSED("absolute_threshold", absolute_threshold, NAN);
  REFUSED("relative_threshold", relative_threshold, -0.5);
  REFUSED("relative_threshold", relative_threshold, 1.5);
  REFUSED("min_separation", min_separation, -1);
  REFUSED("min_separation", min_separation, NAN);
  REFUSED("tolerance", tolerance, -1);
  REFUSED("merge_angle", merge_angle, INFINITY);
  REFUSED("peaks", format, PURLIN_PEAKS_MRTRIX);
  REFUSED("options: struct_size", struct_size, 8);
#undef REFUSED
  BAD_ARGUMENT("basis: is not given", PEAKS(f, NULL, NULL, p, NULL, NULL));
  /* Only a batch may declare that its input holds packed tensors. */
  OK(purlin_dwi_options_init(&o, sizeof o));
  o.basis = PURLIN_SH_TENSOR;
  BAD_ARGUMENT("basis: is PURLIN_SH_TENSOR, but the input is dense", PEAKS(f, NULL, &o, p, NULL, NULL));
  OK(PEAKS(a, NULL, &o, p, NULL, NULL));
  BAD_HANDLE("input: is NULL", PEAKS(NULL, NULL, NULL, p, NULL, NULL));
  BAD_HANDLE("peaks: is NULL", PEAKS(a, NULL, NULL, NULL, NULL, NULL));
#define BAD(text, make, call)         \
  do {                                \
    bad = (make);                     \
    BAD_ARGUMENT(text, call);         \
    OK(purlin_tensor_destroy(bad));   \
  } while (0)
  BAD("input", symmetric(context, PURLIN_F64, 3, 3, T, signals), PEAKS(bad, NULL, NULL, p, NULL, NULL));
  BAD("input", symmetric(context, PURLIN_F64, 4, 2, T, signals), PEAKS(bad, NULL, NULL, p, NULL, NULL));
  BAD("mask", vector_of(context, PURLIN_U8, T + 1, signals), PEAKS(a, bad, NULL, p, NULL, NULL));
  BAD("peaks", array3(context, PURLIN_F64, 3, 2, T, signals), PEAKS(a, NULL, NULL, bad, NULL, NULL));
  BAD("peaks", array3(context, PURLIN_F32, 4, 2, T, signals), PEAKS(a, NULL, NULL, bad, NULL, NULL));
  BAD("peaks", array2(context, PURLIN_F64, 4, T, signals), PEAKS(a, NULL, NULL, bad, NULL, NULL));
  BAD("count", vector_of(context, PURLIN_F64, T, signals), PEAKS(a, NULL, NULL, p, bad, NULL));
  BAD("status", vector_of(context, PURLIN_I32, T + 1, signals), PEAKS(a, NULL, NULL, p, NULL, bad));
  BAD("peaks: overlaps input", array3(context, PURLIN_F64, 4, 2, T, tensors), PEAKS(a, NULL, NULL, bad, NULL, NULL));
#undef BAD
  OK(purlin_sshopm_info_init(&info, sizeof info));
  info.struct_size = 0;
  BAD_ARGUMENT("info: struct_size", purlin_dwi_peaks_once(context, NULL, a, NULL, NULL, p, NULL, NULL, &info));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(p));
  OK(purlin_tensor_destroy(f));
}

/* One object for all calls: the numbers of the calls without one, reports, refusals of options that a call does not use. */
static void objects(void) {
  double once[T][U];
  purlin_tensor *s = array2(context, PURLIN_F64, N, T, signals), *b = vector_of(context, PURLIN_F64, N, bvals);
  purlin_tensor *g = array2(context, PURLIN_F64, 3, N, bvecs), *a = symmetric(context, PURLIN_F64, 4, 3, T, tensors);
  purlin_tensor *f = array2(context, PURLIN_F64, U, T, sh), *p = array3(context, PURLIN_F64, 4, 2, T, peaks);
  purlin_dwi_options o;
  purlin_sshopm_info info, plan, short_info;
  purlin_dwi *d = NULL;
  OK(purlin_sshopm_info_init(&info, sizeof info));
  OK(purlin_sshopm_info_init(&plan, sizeof plan));
  OK(purlin_dwi_create(context, NULL, &d));
  BAD_ARGUMENT("dwi: has no report yet", purlin_dwi_last_info(d, &info));
  OK(purlin_dwi_fit_once(context, NULL, s, b, g, NULL, NULL, NULL, a, NULL, NULL, NULL));
  memcpy(once, tensors, sizeof once);
  memset(tensors, 0, sizeof tensors);
  OK(purlin_dwi_fit(d, NULL, s, b, g, NULL, NULL, a, NULL, NULL, &info));
  CHECK(memcmp(once, tensors, sizeof once) == 0);
  CHECK(info.tensors == T && info.seconds >= 0 && info.starts == 0 && info.chunks == 1);
  /* A GPU does not count those that were skipped. */
  CHECK(info.skipped_tensors == (is_on_cpu() ? 0 : -1));
  CHECK(!is_on_cpu() || strcmp(info.reason, "on the CPU of the context") == 0);
  OK(purlin_dwi_last_info(d, &plan));
  CHECK(memcmp(&plan, &info, sizeof info) == 0);
  OK(purlin_dwi_fit_once(context, NULL, s, b, g, NULL, NULL, NULL, a, NULL, NULL, &info));
  CHECK(info.tensors == T && info.reason[0]);
  short_info = info;
  short_info.struct_size = 3;
  BAD_ARGUMENT("info: struct_size", purlin_dwi_fit(d, NULL, s, b, g, NULL, NULL, a, NULL, NULL, &short_info));
  BAD_ARGUMENT("info: struct_size", purlin_dwi_csa(d, NULL, s, b, g, NULL, PURLIN_SH_CANONICAL, f, NULL, &short_info));
  OK(purlin_dwi_csa_once(context, NULL, s, b, g, NULL, PURLIN_SH_CANONICAL, NULL, f, NULL, NULL));
  memcpy(once, sh, sizeof once);
  memset(sh, 0, sizeof sh);
  OK(purlin_dwi_csa(d, NULL, s, b, g, NULL, PURLIN_SH_CANONICAL, f, NULL, &info));
  CHECK(memcmp(once, sh, sizeof once) == 0);
  CHECK(info.tensors == T && info.chunks == 1 && info.skipped_tensors == 0 && info.reason[0]);
  OK(purlin_dwi_last_info(d, &plan));
  CHECK(memcmp(&plan, &info, sizeof info) == 0);
  OK(purlin_dwi_cancel(d));
  OK(purlin_dwi_plan(d, a, &plan));
  OK(purlin_dwi_peaks(d, NULL, a, NULL, p, NULL, NULL, &info));
  CHECK(plan.tensors == T && plan.starts == info.starts && plan.starts == 32 && plan.tolerance == info.tolerance);
  CHECK(plan.host_bytes > 0 && plan.iterations == 0 && plan.reason[0] && strcmp(plan.reason, info.reason) == 0);
  /* A call that fails leaves the object and its last report as they were. */
  BAD_ARGUMENT("basis: is not given", purlin_dwi_peaks(d, NULL, f, NULL, p, NULL, NULL, NULL));
  BAD_ARGUMENT("basis: is not given", purlin_dwi_plan(d, f, &plan));
  OK(purlin_dwi_last_info(d, &plan));
  CHECK(memcmp(&plan, &info, sizeof info) == 0);
  OK(purlin_dwi_destroy(d));
  BAD_HANDLE("dwi: was destroyed", purlin_dwi_cancel(d));
#define WITH(field, value)                        \
  do {                                            \
    OK(purlin_dwi_options_init(&o, sizeof o));    \
    o.field = (value);                            \
    OK(purlin_dwi_create(context, &o, &d));       \
  } while (0)
#define FIT_REFUSES(text) BAD_ARGUMENT(text, purlin_dwi_fit(d, NULL, s, b, g, NULL, NULL, a, NULL, NULL, NULL))
#define CSA_REFUSES(text) BAD_ARGUMENT(text, purlin_dwi_csa(d, NULL, s, b, g, NULL, PURLIN_SH_CANONICAL, f, NULL, NULL))
#define PEAKS_REFUSES(text) BAD_ARGUMENT(text, purlin_dwi_peaks(d, NULL, a, NULL, p, NULL, NULL, NULL))
  WITH(weighting, PURLIN_DWI_WLS);
  CSA_REFUSES("weighting: is 1, but orientation functions do not use it");
  PEAKS_REFUSES("weighting: is 1, but peaks do not use it");
  OK(purlin_dwi_fit(d, NULL, s, b, g, NULL, NULL, a, NULL, NULL, NULL));
  OK(purlin_dwi_destroy(d));
  WITH(clamp, 1e-3);
  CSA_REFUSES("clamp: is 0.001, but");
  PEAKS_REFUSES("clamp: is 0.001, but");
  OK(purlin_dwi_destroy(d));
  WITH(b0_threshold, 60);
  PEAKS_REFUSES("b0_threshold: is 60, but");
  OK(purlin_dwi_fit(d, NULL, s, b, g, NULL, NULL, a, NULL, NULL, NULL));
  OK(purlin_dwi_csa(d, NULL, s, b, g, NULL, PURLIN_SH_CANONICAL, f, NULL, NULL));
  OK(purlin_dwi_destroy(d));
  WITH(smoothing, 0.01);
  FIT_REFUSES("smoothing: is 0.01, but fits do not use it");
  PEAKS_REFUSES("smoothing: is 0.01, but");
  OK(purlin_dwi_destroy(d));
  WITH(maximum_signal, 0.9);
  FIT_REFUSES("maximum_signal: is 0.9, but");
  OK(purlin_dwi_destroy(d));
  WITH(starts, 40);
  FIT_REFUSES("starts: is 40, but");
  CSA_REFUSES("starts: is 40, but");
  OK(purlin_dwi_peaks(d, NULL, a, NULL, p, NULL, NULL, NULL));
  OK(purlin_dwi_destroy(d));
  WITH(starts, INT64_C(1) << 62);
  FIT_REFUSES("starts: is 4611686018427387904, but");
  OK(purlin_dwi_destroy(d));
  WITH(seed, UINT64_MAX);
  FIT_REFUSES("seed: is 18446744073709551615, but");
  CSA_REFUSES("seed: is 18446744073709551615, but");
  OK(purlin_dwi_destroy(d));
  WITH(format, PURLIN_PEAKS_MRTRIX);
  FIT_REFUSES("format: is 1, but");
  CSA_REFUSES("format: is 1, but");
  OK(purlin_dwi_destroy(d));
  /* The basis may be given for orientation functions too, if it is theirs. */
  WITH(basis, PURLIN_SH_CANONICAL);
  FIT_REFUSES("basis: is 1, but");
  OK(purlin_dwi_csa(d, NULL, s, b, g, NULL, PURLIN_SH_CANONICAL, f, NULL, NULL));
  BAD_ARGUMENT("basis: is 2, but that of the options is 1", purlin_dwi_csa(d, NULL, s, b, g, NULL, PURLIN_SH_MRTRIX3, f, NULL, NULL));
  OK(purlin_dwi_peaks(d, NULL, f, NULL, p, NULL, NULL, NULL));
  OK(purlin_dwi_destroy(d));
  WITH(basis, PURLIN_SH_TENSOR);
  FIT_REFUSES("basis: is PURLIN_SH_TENSOR, but");
  CSA_REFUSES("basis: is PURLIN_SH_TENSOR, but");
  OK(purlin_dwi_destroy(d));
#undef WITH
#define REFUSED(text, field, value)                           \
  do {                                                        \
    OK(purlin_dwi_options_init(&o, sizeof o));                \
    o.field = (value);                                        \
    d = NULL;                                                 \
    BAD_ARGUMENT(text, purlin_dwi_create(context, &o, &d));   \
    CHECK(d == NULL);                                         \
  } while (0)
  REFUSED("nonpositive: is 2", nonpositive, 2);
  REFUSED("b0_threshold: is -1", b0_threshold, -1);
  REFUSED("minimum_signal: is 0", minimum_signal, 0);
  REFUSED("min_separation: is -1", min_separation, -1);
  REFUSED("max_iterations: is -1", max_iterations, -1);
  REFUSED("tolerance: is -1", tolerance, -1);
  REFUSED("basis: is 9", basis, 9);
#undef REFUSED
  BAD_ARGUMENT("dwi: is NULL", purlin_dwi_create(context, NULL, NULL));
  BAD_HANDLE("context: is NULL", purlin_dwi_create(NULL, NULL, &d));
  BAD_HANDLE("dwi: is NULL", purlin_dwi_fit(NULL, NULL, s, b, g, NULL, NULL, a, NULL, NULL, NULL));
  BAD_HANDLE("dwi: is NULL", purlin_dwi_csa(NULL, NULL, s, b, g, NULL, PURLIN_SH_CANONICAL, f, NULL, NULL));
  BAD_HANDLE("dwi: is NULL", purlin_dwi_peaks(NULL, NULL, a, NULL, p, NULL, NULL, NULL));
  BAD_HANDLE("dwi: is NULL", purlin_dwi_plan(NULL, a, &plan));
  BAD_HANDLE("dwi: is NULL", purlin_dwi_last_info(NULL, &plan));
  BAD_HANDLE("dwi: is a handle of another type", purlin_dwi_cancel((const purlin_dwi *)a));
  OK(purlin_dwi_destroy(NULL));
  OK(purlin_tensor_destroy(s));
  OK(purlin_tensor_destroy(b));
  OK(purlin_tensor_destroy(g));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(f));
  OK(purlin_tensor_destroy(p));
}

int main(void) {
  context = test_context(1);
  scheme();
  fit_and_csa();
  conversions();
  peak_arguments();
  scheme();
  objects();
  OK(purlin_context_destroy(context));
  return finish();
}
