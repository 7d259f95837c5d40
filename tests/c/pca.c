/* Principal components: samples of known directions and variances, both ways round; and every documented refusal. */
#include "rsvd.h"

static purlin_context *context, *foreign;
/* M samples of N features, column-major; and their transpose. */
static double samples[M * N], turned[M * N], components[N * K], scores[M * K], others[M * K], back[M * N];

/* Feature j has mean 50 - j, around which the samples vary along known directions: the cosines sum to 0 over samples. */
static void make(void) {
  int i, j;
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) samples[i + M * j] = turned[j + N * i] = entry(i, j) + 50 - j;
}

static purlin_pca_info properties(const purlin_pca *pca) {
  purlin_pca_info info;
  OK(purlin_pca_info_init(&info, sizeof info));
  OK(purlin_pca_properties(pca, &info));
  return info;
}

static purlin_pca_options pca_options(void) {
  purlin_pca_options o;
  OK(purlin_pca_options_init(&o, sizeof o));
  return o;
}

static double worst_difference(const double *a, const double *b, int n) {
  double worst = 0;
  int i;
  for (i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= worst)) worst = fabs(a[i] - b[i]);
  return worst;
}

static void by_rows_and_columns(void) {
  int by_columns;
  for (by_columns = 0; by_columns < 2; by_columns++) {
    const int rows = by_columns ? N : M, cols = by_columns ? M : N;
    purlin_rsvd_options o = rsvd_options();
    purlin_pca_options p = pca_options();
    purlin_pca_info found;
    purlin_rsvd_info info = rsvd_info(), planned = rsvd_info();
    purlin_rsvd *rsvd = NULL;
    purlin_pca *pca = NULL;
    purlin_matrix *x = over(context, PURLIN_F64, PURLIN_READ_ONLY, rows, cols, by_columns ? turned : samples);
    purlin_matrix *c = over(context, PURLIN_F64, 0, N, K, components);
    purlin_matrix *t = over(context, PURLIN_F64, by_columns ? PURLIN_ROW_MAJOR : 0, by_columns ? K : M, by_columns ? M : K, scores);
    purlin_matrix *t2 = over(context, PURLIN_F64, by_columns ? PURLIN_ROW_MAJOR : 0, by_columns ? K : M, by_columns ? M : K, others);
    purlin_matrix *y = over(context, PURLIN_F64, 0, rows, cols, back);
    static double mean[N], scale[N], values[K], variance[K], ratio[K];
    purlin_tensor *tm = vector_of(context, PURLIN_F64, N, mean), *ts = vector_of(context, PURLIN_F64, N, scale);
    purlin_tensor *tv = vector_of(context, PURLIN_F64, K, values), *te = vector_of(context, PURLIN_F64, K, variance);
    purlin_tensor *tr = vector_of(context, PURLIN_F64, K, ratio);
    double total = 0;
    int i, j, right = 1;
    p.samples = by_columns ? PURLIN_PCA_SAMPLES_COLUMNS : PURLIN_PCA_SAMPLES_ROWS;
    o.oversampling = 14;
    OK(purlin_rsvd_create(context, &o, &rsvd));
    OK(purlin_pca_plan(rsvd, x, &p, 1, &planned));
    OK(purlin_pca_fit(rsvd, NULL, x, &p, t, &pca, &info));
    CHECK(planned.method == info.method && planned.passes == info.passes);
    CHECK(planned.host_bytes == info.host_bytes && planned.device_bytes == info.device_bytes);
    CHECK(planned.blocks == info.blocks && planned.transposed == by_columns && info.transposed == by_columns);
    CHECK(planned.reason[0] != 0 && strncmp(planned.reason, info.reason, strlen(planned.reason)) == 0);
    CHECK(planned.rank == K && planned.converged == 0 && isnan(planned.frobenius));
    /* The components outlive the object that computed them. */
    OK(purlin_rsvd_destroy(rsvd));
    CHECK(info.rank == K && info.passes >= 1);
    found = properties(pca);
    CHECK(found.count == M && found.features == N && found.rank == K && found.dtype == PURLIN_F64);
    CHECK(found.samples == p.samples && found.centered == 1 && found.scaled == 0 && found.whitened == 0);
    OK(purlin_pca_mean(pca, tm));
    OK(purlin_pca_scale(pca, ts));
    OK(purlin_pca_singular_values(pca, tv));
    OK(purlin_pca_explained_variance(pca, te));
    OK(purlin_pca_explained_variance_ratio(pca, tr));
    OK(purlin_pca_components(pca, NULL, c));
    for (j = 0; j < N; j++) right &= fabs(mean[j] - (50 - j)) < 1e-12 && scale[j] == 1;
    CHECK(right);
    CHECK(value_error(values) < 1e-6 && vector_error(components, N) < 1e-5 && skewness(components, N, K) < 1e-12);
    for (j = 0; j < 20; j++) total += value(j) * value(j) / (M - 1);
    CHECK(fabs(found.total_variance / total - 1) < 1e-9);
    for (j = 0; j < K; j++) {
      CHECK(fabs(variance[j] * (M - 1) / (values[j] * values[j]) - 1) < 1e-12);
      CHECK(fabs(ratio[j] * found.total_variance / variance[j] - 1) < 1e-12);
      total -= variance[j];
    }
    CHECK(fabs(found.noise_variance / (total / (N - K)) - 1) < 1e-3);
    /* Scores of the fit, of the transform, and by hand. */
    OK(purlin_pca_transform(pca, NULL, x, t2, &info));
    CHECK(info.passes == 1 && worst_difference(scores, others, M * K) < 1e-9);
    for (i = 0; i < M; i++)
      for (j = 0; j < K; j++) {
        double sum = 0;
        int f;
        for (f = 0; f < N; f++) sum += (samples[i + M * f] - mean[f]) * components[f + N * j];
        right &= fabs(sum - others[i + M * j]) < 1e-11;
      }
    CHECK(right);
    OK(purlin_pca_inverse_transform(pca, NULL, t2, y));
    CHECK(worst_difference(back, by_columns ? turned : samples, M * N) < 2 * value(K));
    OK(purlin_pca_destroy(pca));
    OK(purlin_tensor_destroy(tr));
    OK(purlin_tensor_destroy(te));
    OK(purlin_tensor_destroy(tv));
    OK(purlin_tensor_destroy(ts));
    OK(purlin_tensor_destroy(tm));
    OK(purlin_matrix_destroy(y));
    OK(purlin_matrix_destroy(t2));
    OK(purlin_matrix_destroy(t));
    OK(purlin_matrix_destroy(c));
    OK(purlin_matrix_destroy(x));
  }
}

/* A constant feature contributes nothing, whether its own mean is far away or other samples have another value there. */
static void constant_features(void) {
  enum { FEW = 20, WIDE = 4 };
  static double x[FEW * WIDE], z[FEW * WIDE], again[FEW * WIDE], y[FEW * WIDE], constant[WIDE], scale[WIDE];
  purlin_rsvd_options o = rsvd_options();
  purlin_pca_options p = pca_options();
  purlin_rsvd *rsvd = NULL;
  purlin_pca *pca = NULL;
  purlin_matrix *mx = over(context, PURLIN_F64, 0, FEW, WIDE, x), *mz = over(context, PURLIN_F64, 0, FEW, WIDE, z);
  purlin_matrix *ma = over(context, PURLIN_F64, 0, FEW, WIDE, again), *my = over(context, PURLIN_F64, 0, FEW, WIDE, y);
  purlin_tensor *tc = vector_of(context, PURLIN_F64, WIDE, constant), *ts = vector_of(context, PURLIN_F64, WIDE, scale);
  purlin_tensor *wrong = vector_of(context, PURLIN_F64, WIDE - 1, scale);
  int i, j, right = 1;
  for (j = 0; j < WIDE; j++)
    for (i = 0; i < FEW; i++) x[i + FEW * j] = j == 1 ? 1.7e18 : sin(3.0 * i + i * i * j + j);
  o.rank = WIDE;
  p.scale = p.whiten = 1;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  OK(purlin_pca_fit(rsvd, NULL, mx, &p, mz, &pca, NULL));
  OK(purlin_pca_constant(pca, tc));
  OK(purlin_pca_scale(pca, ts));
  for (j = 0; j < WIDE; j++) right &= constant[j] == (j == 1) && (j != 1 || scale[j] == 1);
  CHECK(right);
  BAD_ARGUMENT("constant: has dimensions [3], [4] are needed", purlin_pca_constant(pca, wrong));
  CHECK(properties(pca).rounding > 0 && properties(pca).rounding < 1e-10);
  for (j = 0; j < WIDE; j++) {
    double sum = 0;
    for (i = 0; i < FEW; i++) sum += pow(z[i + FEW * j], 2);
    CHECK(fabs(sum / (FEW - 1) - (j < WIDE - 1)) < 1e-10);
  }
  OK(purlin_pca_transform(pca, NULL, mx, ma, NULL));
  CHECK(worst_difference(z, again, FEW * WIDE) < 1e-12);
  OK(purlin_pca_inverse_transform(pca, NULL, mz, my));
  for (i = 0; i < FEW; i++) right &= y[i + FEW] == x[i + FEW];
  CHECK(right);
  for (i = 0; i < FEW; i++) x[i + FEW] = -1e300;
  OK(purlin_pca_transform(pca, NULL, mx, ma, NULL));
  CHECK(worst_difference(z, again, FEW * WIDE) < 1e-12);
  OK(purlin_pca_destroy(pca));
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(wrong));
  OK(purlin_tensor_destroy(ts));
  OK(purlin_tensor_destroy(tc));
  OK(purlin_matrix_destroy(my));
  OK(purlin_matrix_destroy(ma));
  OK(purlin_matrix_destroy(mz));
  OK(purlin_matrix_destroy(mx));
}

/* Scaled features have variance 1, and so have whitened scores. */
static void scaled_and_whitened(void) {
  purlin_rsvd_options o = rsvd_options();
  purlin_pca_options p = pca_options();
  purlin_rsvd *rsvd = NULL;
  purlin_pca *pca = NULL;
  purlin_matrix *x = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, samples), *t = over(context, PURLIN_F64, 0, M, K, scores);
  purlin_matrix *y = over(context, PURLIN_F64, 0, M, N, back), *t2 = over(context, PURLIN_F64, 0, M, K, others);
  static double scale[N];
  purlin_tensor *ts = vector_of(context, PURLIN_F64, N, scale);
  int i, j, right = 1;
  p.scale = p.whiten = 1;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  OK(purlin_pca_fit(rsvd, NULL, x, &p, t, &pca, NULL));
  CHECK(properties(pca).scaled == 1 && properties(pca).whitened == 1);
  CHECK(fabs(properties(pca).total_variance / N - 1) < 1e-9);
  OK(purlin_pca_scale(pca, ts));
  for (j = 0; j < N; j++) {
    double sum = 0;
    for (i = 0; i < M; i++) sum += pow(samples[i + M * j] - (50 - j), 2);
    right &= fabs(scale[j] / sqrt(sum / (M - 1)) - 1) < 1e-9;
  }
  CHECK(right);
  for (j = 0; j < K; j++) {
    double sum = 0;
    for (i = 0; i < M; i++) sum += pow(scores[i + M * j], 2);
    CHECK(fabs(sum / (M - 1) - 1) < 1e-6);
  }
  /* A transform and its inverse do not change samples in the span. */
  OK(purlin_pca_inverse_transform(pca, NULL, t, y));
  OK(purlin_pca_transform(pca, NULL, y, t2, NULL));
  CHECK(worst_difference(scores, others, M * K) < 1e-9);
  /* Scores beyond the type. */
  for (i = 0; i < M * N; i++) back[i] = 1.7e308;
  FAILS(PURLIN_ERROR_NUMERICAL, "scores: component ", purlin_pca_transform(pca, NULL, y, t2, NULL));
  OK(purlin_pca_destroy(pca));
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_tensor_destroy(ts));
  OK(purlin_matrix_destroy(t2));
  OK(purlin_matrix_destroy(y));
  OK(purlin_matrix_destroy(t));
  OK(purlin_matrix_destroy(x));
}

/* The scores of RANGE and FUSED take a pass; a plan beyond a limit is refused as by the fit. */
static void plans(void) {
  purlin_context_options options;
  purlin_context *limited = NULL;
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd_info info = rsvd_info();
  purlin_rsvd *rsvd = NULL;
  purlin_pca *pca = NULL;
  purlin_matrix *x = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, samples);
  int64_t passes[2], bytes[2];
  char message[256];
  int with_scores;
  o.method = PURLIN_RSVD_METHOD_FUSED;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  for (with_scores = 0; with_scores < 2; with_scores++) {
    OK(purlin_pca_plan(rsvd, x, NULL, with_scores, &info));
    passes[with_scores] = info.passes;
    bytes[with_scores] = info.host_bytes;
  }
  CHECK(passes[1] == passes[0] + 1 && bytes[1] >= bytes[0] && (bytes[0] > 0 || test_backend() != PURLIN_BACKEND_CPU));
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_matrix_destroy(x));
  if (test_backend() == PURLIN_BACKEND_CPU) {
    OK(purlin_context_options_init(&options, sizeof options));
    options.backend = PURLIN_BACKEND_CPU;
    options.host_memory_limit = 4096;
    OK(purlin_context_create(&options, &limited));
    x = over(limited, PURLIN_F64, PURLIN_READ_ONLY, M, N, samples);
    OK(purlin_rsvd_create(limited, &o, &rsvd));
    FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "bytes", purlin_pca_plan(rsvd, x, NULL, 0, &info));
    snprintf(message, sizeof message, "%s", purlin_last_error_message());
    FAILS(PURLIN_ERROR_OUT_OF_MEMORY, message, purlin_pca_fit(rsvd, NULL, x, NULL, NULL, &pca, NULL));
    OK(purlin_rsvd_destroy(rsvd));
    OK(purlin_matrix_destroy(x));
    OK(purlin_context_destroy(limited));
  }
}

static void refusals(void) {
  purlin_rsvd_options o = rsvd_options();
  purlin_pca_options p = pca_options();
  purlin_pca_info info = {0};
  purlin_rsvd_info report = rsvd_info(), old = rsvd_info();
  purlin_rsvd *rsvd = NULL, *other = NULL;
  purlin_pca *pca = NULL, *made = NULL;
  purlin_matrix *x = over(context, PURLIN_F64, 0, M, N, samples), *t = over(context, PURLIN_F64, 0, M, K, scores);
  purlin_matrix *one = over(context, PURLIN_F64, 0, 1, N, samples), *few = over(context, PURLIN_F64, 0, M, K + 1, back);
  purlin_matrix *narrow = over(context, PURLIN_F64, 0, M, N - 1, samples), *abroad = over(foreign, PURLIN_F64, 0, M, N, samples);
  purlin_tensor *wrong = vector_of(context, PURLIN_F64, K + 1, others), *whole = vector_of(context, PURLIN_I32, K, others);
  OK(purlin_rsvd_create(context, &o, &rsvd));
#define FIT(x, t) purlin_pca_fit(rsvd, NULL, x, &p, t, &made, NULL)
#define PLAN(x) purlin_pca_plan(rsvd, x, &p, 0, &report)
#define BAD(text, change)            \
  do {                               \
    change;                          \
    BAD_ARGUMENT(text, FIT(x, t));   \
    BAD_ARGUMENT(text, PLAN(x));     \
    p = pca_options();               \
  } while (0)
  BAD_ARGUMENT("options: is NULL", purlin_pca_options_init(NULL, sizeof p));
  BAD_ARGUMENT("info: is NULL", purlin_pca_info_init(NULL, sizeof info));
  BAD("options: struct_size is 4", p.struct_size = 4);
  BAD("samples: is 2", p.samples = 2);
  BAD("center: is 3, 0 or 1 is needed", p.center = 3);
  BAD("scale: is -1, 0 or 1 is needed", p.scale = -1);
  BAD("whiten: is 2, 0 or 1 is needed", p.whiten = 2);
  BAD("scale: is set without center", (p.scale = 1, p.center = 0));
  BAD_HANDLE("rsvd: is NULL", purlin_pca_fit(NULL, NULL, x, &p, t, &made, NULL));
  BAD_HANDLE("x: is NULL", FIT(NULL, t));
  old.struct_size = 5;
  BAD_HANDLE("rsvd: is NULL", purlin_pca_plan(NULL, x, &p, 0, &report));
  BAD_HANDLE("x: is NULL", PLAN(NULL));
  BAD_ARGUMENT("with_scores: is 2, 0 or 1 is needed", purlin_pca_plan(rsvd, x, &p, 2, &report));
  BAD_ARGUMENT("info: is NULL", purlin_pca_plan(rsvd, x, &p, 0, NULL));
  BAD_ARGUMENT("info: struct_size is 5", purlin_pca_plan(rsvd, x, &p, 0, &old));
  BAD_ARGUMENT("x: has 1 samples, at least 2 are needed", PLAN(one));
  BAD_ARGUMENT("x: belongs to another context", PLAN(abroad));
  BAD_ARGUMENT("pca: is NULL", purlin_pca_fit(rsvd, NULL, x, &p, t, NULL, NULL));
  BAD_ARGUMENT("x: has 1 samples, at least 2 are needed", FIT(one, NULL));
  BAD_ARGUMENT("x: belongs to another context", FIT(abroad, NULL));
  BAD_ARGUMENT("scores: is 90 x 7, 90 x 6 is needed", FIT(x, few));
  BAD_ARGUMENT("scores: is given twice", FIT(x, x));
  o.rank = 0;
  o.tolerance = 0.1;
  OK(purlin_rsvd_create(context, &o, &other));
  UNSUPPORTED("tolerance", purlin_pca_fit(other, NULL, x, &p, t, &made, NULL));
  UNSUPPORTED("tolerance", purlin_pca_plan(other, x, &p, 1, &report));
  OK(purlin_rsvd_destroy(other));
  /* Options of the decomposition that a fit replaces by its own. */
#define IDLE(text, change)                                                        \
  do {                                                                            \
    o = rsvd_options();                                                           \
    o.rank = K;                                                                   \
    change;                                                                       \
    OK(purlin_rsvd_create(context, &o, &other));                                  \
    BAD_ARGUMENT(text, purlin_pca_fit(other, NULL, x, NULL, NULL, &made, NULL));  \
    BAD_ARGUMENT(text, purlin_pca_plan(other, x, NULL, 0, &report));              \
    OK(purlin_rsvd_destroy(other));                                               \
  } while (0)
  IDLE("center: is COLUMNS for principal components", o.center = PURLIN_RSVD_CENTER_COLUMNS);
  IDLE("center: is ROWS for principal components", o.center = PURLIN_RSVD_CENTER_ROWS);
  IDLE("center: is COLUMNS for principal components", (o.center = PURLIN_RSVD_CENTER_COLUMNS, o.scale = 1));
  IDLE("sign: is U_MAX for principal components", o.sign = PURLIN_RSVD_SIGN_U_MAX);
  IDLE("sign: is NONE for principal components", o.sign = PURLIN_RSVD_SIGN_NONE);
#undef IDLE
  CHECK(made == NULL);
  OK(purlin_pca_fit(rsvd, NULL, x, NULL, NULL, &pca, NULL));
  BAD_HANDLE("pca: is NULL", purlin_pca_properties(NULL, &info));
  BAD_ARGUMENT("info: is NULL", purlin_pca_properties(pca, NULL));
  BAD_ARGUMENT("info: struct_size is 0", purlin_pca_properties(pca, &info));
  BAD_ARGUMENT("mean: has dimensions [7], [40] are needed", purlin_pca_mean(pca, wrong));
  BAD_ARGUMENT("scale: has dimensions [7], [40] are needed", purlin_pca_scale(pca, wrong));
  BAD_ARGUMENT("singular_values: has dimensions [7], [6] are needed", purlin_pca_singular_values(pca, wrong));
  BAD_ARGUMENT("singular_values: is I32", purlin_pca_singular_values(pca, whole));
  BAD_ARGUMENT("explained_variance: has dimensions [7]", purlin_pca_explained_variance(pca, wrong));
  BAD_ARGUMENT("explained_variance_ratio: has dimensions [7]", purlin_pca_explained_variance_ratio(pca, wrong));
  BAD_HANDLE("mean: is NULL", purlin_pca_mean(pca, NULL));
  BAD_HANDLE("components: is NULL", purlin_pca_components(pca, NULL, NULL));
  BAD_ARGUMENT("is 90 x 7, 40 x 6 is needed", purlin_pca_components(pca, NULL, few));
  BAD_ARGUMENT("x: has 39 features, 40 are needed", purlin_pca_transform(pca, NULL, narrow, t, NULL));
  BAD_ARGUMENT("scores: is 90 x 7, 90 x 6 is needed", purlin_pca_transform(pca, NULL, x, few, NULL));
  BAD_ARGUMENT("scores: has 7 components, 6 are needed", purlin_pca_inverse_transform(pca, NULL, few, x));
  BAD_ARGUMENT("x: is 90 x 39, 90 x 40 is needed", purlin_pca_inverse_transform(pca, NULL, t, narrow));
  OK(purlin_pca_destroy(pca));
  BAD_HANDLE("pca: was destroyed", purlin_pca_destroy(pca));
  BAD_HANDLE("pca: was destroyed", purlin_pca_transform(pca, NULL, x, t, NULL));
  OK(purlin_pca_destroy(NULL));
#undef BAD
#undef PLAN
#undef FIT
  OK(purlin_tensor_destroy(whole));
  OK(purlin_tensor_destroy(wrong));
  OK(purlin_matrix_destroy(abroad));
  OK(purlin_matrix_destroy(narrow));
  OK(purlin_matrix_destroy(few));
  OK(purlin_matrix_destroy(one));
  OK(purlin_matrix_destroy(t));
  OK(purlin_matrix_destroy(x));
  OK(purlin_rsvd_destroy(rsvd));
}

int main(void) {
  context = test_context(2);
  foreign = test_context(1);
  make();
  by_rows_and_columns();
  scaled_and_whitened();
  constant_features();
  plans();
  refusals();
  OK(purlin_context_destroy(foreign));
  OK(purlin_context_destroy(context));
  return finish();
}
