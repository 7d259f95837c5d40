/* Cone-beam CT: golden scans whole, pushed view by view and step by step; weights, test object, cancellation. */
#include <float.h>
#include <stddef.h>

#include "fdk.h"

static purlin_context *context;
static float golden_volume[VOXELS], volume[VOXELS], other[VOXELS];

/* Whether every view sees a voxel with all four pixels; the peer treats the panel's edge in ways of its own. */
static int seen_by_all(const struct scan *s, int p) {
  const purlin_fdk_geometry *g = &s->geometry;
  double x = -51.7 + 2.2 * (p % NX), y = -51.6 + 2.4 * (p / NX % NY), z = -35.0 + 2.0 * (p / (NX * NY));
  int64_t n;
  for (n = 0; n < g->views; n++) {
    const double *a = g->matrices + 12 * n;
    double w = a[8] * x + a[9] * y + a[10] * z + a[11];
    double i = (a[0] * x + a[1] * y + a[2] * z + a[3]) / w, j = (a[4] * x + a[5] * y + a[6] * z + a[7]) / w;
    if (i < 0 || j < 0 || i > (double)(g->detector_columns - 1) || j > (double)(g->detector_rows - 1)) return 0;
  }
  return 1;
}

static purlin_tensor *volume_tensor(float *data) {
  return array3(context, PURLIN_F32, NX, NY, NZ, data);
}

/* The volumes of another program. tests/golden/fdk/README.md bounds the difference: 4e-7 in f64 on orbits, 5e-5 for
 * the irregular one; f32 adds 1e-5 of the density, which is 1. */
static void golden_scans(void) {
  static const char *names[] = {"full", "short", "displaced", "carm"};
  size_t k;
  for (k = 0; k < (size_t)rounds(COUNT(names), 1); k++) {
    struct scan *s = load_scan(names[k]);
    int matrices = s->geometry.matrices != NULL, p;
    purlin_fdk_options o = fdk_options();
    purlin_fdk_info info = fdk_info();
    purlin_tensor *projections = projections_of(context, s), *v = volume_tensor(volume);
    double worst = 0, scale = (double)s->geometry.views * NX * NY * NZ;
    purlin_fdk *fdk;
    npy(names[k], "rtk", golden_volume, sizeof golden_volume);
    o.edge = PURLIN_FDK_EDGE_SKIP;
    fdk = make_fdk(context, s, &o);
    OK(purlin_fdk_reconstruct(fdk, NULL, projections, v, &info));
    for (p = 0; p < VOXELS; p++)
      if (!matrices || seen_by_all(s, p)) worst = fmax(worst, fabs((double)volume[p] - (double)golden_volume[p]));
    CHECK(worst < (matrices ? 2e-4 : 2e-5));
    CHECK(info.redundancy == s->redundancy && info.reason[0] != '\0');
    CHECK(info.kernel == (matrices ? PURLIN_FDK_KERNEL_GENERAL : PURLIN_FDK_KERNEL_VERTICAL));
    CHECK(info.nx == NX && info.ny == NY && info.nz == NZ && info.dy == 2.4 && info.z0 == -35.0);
    CHECK(info.contexts == 1 && info.slab > 0 && info.slabs >= 1 && info.view_batch > 0);
    CHECK(info.filtered_columns == s->geometry.detector_columns * (k == 2 ? 2 : 1));
    CHECK(info.filtered_left == (k == 2 ? s->geometry.detector_columns : 0));
    CHECK(info.fft_length >= 2 * info.filtered_columns && info.host_bytes > 0);
    CHECK(info.seconds > 0 && fabs(info.gups * info.seconds * 1e9 - scale) < 1e-6 * scale);
    if (k == 1) CHECK(fabs(info.arc - 210 * 3.14159265358979 / 180) < 1e-9);
    /* Everything in f64. */
    if (k == 0 && rounds(1, 0)) {
      purlin_fdk *exact;
      o.precision = PURLIN_FDK_PRECISION_F64;
      exact = make_fdk(context, s, &o);
      OK(purlin_fdk_reconstruct(exact, NULL, projections, v, NULL));
      CHECK(largest_difference(volume, golden_volume, VOXELS) < 1e-6);
      OK(purlin_fdk_destroy(exact));
    }
    OK(purlin_fdk_destroy(fdk));
    OK(purlin_tensor_destroy(v));
    OK(purlin_tensor_destroy(projections));
    free_scan(s);
  }
}

/* Views in the scan's order and shuffled, one by one and in chunks. */
static void pushed(const struct scan *s) {
  purlin_tensor *projections = projections_of(context, s), *v = volume_tensor(volume), *w = volume_tensor(other);
  purlin_fdk *fdk = make_fdk(context, s, NULL);
  const purlin_fdk_geometry *g = &s->geometry;
  int64_t panel = g->detector_columns * g->detector_rows, order[MOST_VIEWS], n;
  float *shuffled = malloc(s->pixels * sizeof(float));
  uint64_t state = 7;
  purlin_fdk_grid grid = golden_grid();
  purlin_fdk_info info = fdk_info(), last = info, planned = info;
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, v, &info));
  OK(purlin_fdk_last_info(fdk, &last));
  CHECK(memcmp(&info, &last, sizeof last) == 0 && info.seconds > 0);
  memset(other, 0xff, sizeof other);
  OK(purlin_fdk_reconstruct_once(context, NULL, projections, g, &grid, NULL, w, &last));
  CHECK(memcmp(volume, other, sizeof volume) == 0 && last.nx == NX && last.slabs == info.slabs);
  OK(purlin_fdk_plan(fdk, &planned));
  CHECK(planned.seconds == 0 && planned.views_pushed == 0 && planned.nz == NZ);
  OK(purlin_fdk_begin(fdk, NULL));
  for (n = 0; n < g->views; n += 7) {
    int64_t count = n + 7 <= g->views ? 7 : g->views - n, views[7], k;
    purlin_tensor *chunk;
    for (k = 0; k < count; k++) views[k] = n + k;
    chunk = array3(context, PURLIN_F32, g->detector_columns, g->detector_rows, count, s->projections + n * panel);
    OK(purlin_fdk_push(fdk, count, views, chunk));
    OK(purlin_tensor_destroy(chunk));
  }
  OK(purlin_fdk_finish(fdk, w, &info));
  CHECK(info.views_pushed == g->views);
  OK(purlin_fdk_last_info(fdk, &last));
  CHECK(memcmp(&info, &last, sizeof last) == 0);
  OK(purlin_fdk_plan(fdk, &last));
  CHECK(memcmp(&planned, &last, offsetof(purlin_fdk_info, views_pushed)) == 0 && last.views_pushed == g->views);
  CHECK(memcmp(volume, other, sizeof volume) == 0);

  for (n = 0; n < g->views; n++) order[n] = n;
  for (n = g->views - 1; n > 0; n--) {
    int64_t k = (int64_t)(draw(&state) % (uint64_t)(n + 1)), swap = order[n];
    order[n] = order[k];
    order[k] = swap;
  }
  /* A begun scan is dropped by the next one. */
  OK(purlin_fdk_begin(fdk, NULL));
  OK(purlin_fdk_begin(fdk, NULL));
  for (n = 0; n < g->views; n++) {
    memcpy(shuffled + n * panel, s->projections + order[n] * panel, (size_t)panel * sizeof(float));
    if (n % 3 == 0) {
      purlin_tensor *one = array2(context, PURLIN_F32, g->detector_columns, g->detector_rows, shuffled + n * panel);
      OK(purlin_fdk_push(fdk, 1, &order[n], one));
      OK(purlin_tensor_destroy(one));
    } else if (n % 3 == 2 || n == g->views - 1) {
      int64_t first = n % 3 == 2 ? n - 1 : n, count = n - first + 1;
      purlin_tensor *two =
          array3(context, PURLIN_F32, g->detector_columns, g->detector_rows, count, shuffled + first * panel);
      OK(purlin_fdk_push(fdk, count, &order[first], two));
      OK(purlin_tensor_destroy(two));
    }
  }
  memset(other, 0xff, sizeof other);
  OK(purlin_fdk_finish(fdk, w, NULL));
  /* A sum of `views` numbers in another order, none of whose partial sums is above 4. */
  CHECK(largest_difference(volume, other, VOXELS) < 4 * MOST_VIEWS * FLT_EPSILON);
  free(shuffled);
  OK(purlin_fdk_destroy(fdk));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(w));
  OK(purlin_tensor_destroy(projections));
}

static int32_t no_space(const int64_t *first, const int64_t *count, const void *block, void *user) {
  (void)block;
  return first[2] + count[2] <= *(const int64_t *)user ? 0 : 28;
}

/* A scan that is being pushed outlives a whole one, and finishes that fail. */
static void kept(const struct scan *s) {
  purlin_tensor *projections = projections_of(context, s), *v = volume_tensor(volume), *w = volume_tensor(other);
  purlin_fdk *fdk = make_fdk(context, s, NULL);
  const purlin_fdk_geometry *g = &s->geometry;
  int64_t views[MOST_VIEWS], n, good;
  const int64_t dims[3] = {NX, NY, NZ};
  purlin_fdk_info info = fdk_info(), last = info, planned = info;
  for (n = 0; n < g->views; n++) views[n] = n;
  OK(purlin_fdk_plan(fdk, &planned));
  BAD_ARGUMENT("fdk: has no report", purlin_fdk_last_info(fdk, &last));
  OK(purlin_fdk_begin(fdk, NULL));
  OK(purlin_fdk_push(fdk, g->views, views, projections));
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, v, NULL));
  OK(purlin_fdk_plan(fdk, &info));
  CHECK(info.views_pushed == g->views && info.seconds == 0);
  OK(purlin_fdk_last_info(fdk, &info));
  CHECK(info.views_pushed == g->views && info.seconds > 0);
  for (good = 0; good <= 20; good += 20) {
    purlin_sink *full = NULL;
    OK(purlin_sink_to_callback(context, PURLIN_F32, 3, dims, no_space, &good, &full));
    FAILS(PURLIN_ERROR_IO, "write: returned 28", purlin_fdk_finish_to_sink(fdk, full, NULL));
    OK(purlin_sink_destroy(full));
  }
  OK(purlin_fdk_finish(fdk, w, &info));
  CHECK(info.views_pushed == g->views);
  OK(purlin_fdk_last_info(fdk, &last));
  CHECK(memcmp(&info, &last, sizeof last) == 0);
  OK(purlin_fdk_plan(fdk, &last));
  CHECK(memcmp(&planned, &last, offsetof(purlin_fdk_info, views_pushed)) == 0 && last.views_pushed == g->views);
  CHECK(memcmp(volume, other, sizeof volume) == 0);
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "begin comes first", purlin_fdk_finish(fdk, w, NULL));
  OK(purlin_fdk_destroy(fdk));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(w));
  OK(purlin_tensor_destroy(projections));
}

/* Weight, filter and back-projection one after the other are the whole. */
static void pieces(const struct scan *s) {
  const purlin_fdk_geometry *g = &s->geometry;
  purlin_tensor *projections = projections_of(context, s), *v = volume_tensor(volume), *w = volume_tensor(other);
  purlin_fdk *fdk = make_fdk(context, s, NULL);
  purlin_fdk_info info = fdk_info();
  int64_t views[MOST_VIEWS], n, i;
  float *weighted = malloc(s->pixels * sizeof(float)), *filtered;
  double *ray = malloc((size_t)(g->detector_columns * g->views) * sizeof(double)), angular[MOST_VIEWS], sum = 0;
  purlin_tensor *a, *b, *r = array2(context, PURLIN_F64, g->detector_columns, g->views, ray);
  purlin_tensor *angles = vector_of(context, PURLIN_F64, g->views, angular);
  OK(purlin_fdk_plan(fdk, &info));
  filtered = malloc((size_t)(info.filtered_columns * g->detector_rows * g->views) * sizeof(float));
  a = array3(context, PURLIN_F32, g->detector_columns, g->detector_rows, g->views, weighted);
  b = array3(context, PURLIN_F32, info.filtered_columns, g->detector_rows, g->views, filtered);
  for (n = 0; n < g->views; n++) views[n] = n;
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, v, NULL));
  memset(other, 0, sizeof other);
  OK(purlin_fdk_weight(fdk, NULL, g->views, views, projections, a));
  OK(purlin_fdk_filter(fdk, NULL, g->views, views, a, b));
  OK(purlin_fdk_backproject(fdk, NULL, g->views, views, b, w));
  CHECK(largest_difference(volume, other, VOXELS) < 4 * MOST_VIEWS * FLT_EPSILON);
  /* It adds. */
  OK(purlin_fdk_backproject(fdk, NULL, g->views, views, b, w));
  for (i = 0; i < VOXELS; i++) volume[i] *= 2;
  CHECK(largest_difference(volume, other, VOXELS) < 8 * MOST_VIEWS * FLT_EPSILON);
  /* The weights: a full circle counts every ray half, a half fan has two sides that add up to one. */
  OK(purlin_fdk_weights(fdk, r, angles));
  OK(purlin_fdk_weights(fdk, NULL, angles));
  OK(purlin_fdk_weights(fdk, r, NULL));
  for (n = 0; n < g->views; n++) sum += angular[n];
  CHECK(fabs(sum - 2 * 3.14159265358979324) < 1e-12);
  for (i = 0; i < g->detector_columns; i++) CHECK(s->redundancy != PURLIN_FDK_REDUNDANCY_FULL || ray[i] == 0.5);
  CHECK(ray[g->detector_columns - 1] == (s->redundancy == PURLIN_FDK_REDUNDANCY_FULL ? 0.5 : 1.0));
  for (n = 0; n < g->views; n++) {
    /* The cosine weight of a pixel off the centre, from its distances. */
    double u = (0 - (double)(g->detector_columns - 1) / 2) * g->column_pitch + g->column_offset;
    double t = (0 - (double)(g->detector_rows - 1) / 2) * g->row_pitch, c = 1000 / sqrt(1e6 + u * u + t * t);
    size_t at = (size_t)(n * g->detector_columns * g->detector_rows);
    double expected = c * ray[0] * (double)s->projections[at];
    CHECK(fabs((double)weighted[at] - expected) <= 4 * FLT_EPSILON * fabs(expected));
  }
  free(weighted), free(filtered), free(ray);
  OK(purlin_tensor_destroy(r));
  OK(purlin_tensor_destroy(angles));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(b));
  OK(purlin_fdk_destroy(fdk));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(w));
  OK(purlin_tensor_destroy(projections));
}

/* The phantom, its projections against the peer's, its voxels; counts against the line integrals they come from. */
static void phantom_and_counts(const struct scan *s) {
  const purlin_fdk_geometry *g = &s->geometry;
  int64_t panel[2], raised = -1;
  double rows[10][8];
  float *ours = malloc(s->pixels * sizeof(float)), *back = malloc(s->pixels * sizeof(float)), *dark, *open;
  uint16_t *counts = malloc(s->pixels * sizeof(uint16_t));
  purlin_tensor *e = array2(context, PURLIN_F64, 8, 10, rows), *v = volume_tensor(volume), *w = volume_tensor(other);
  purlin_tensor *p = array3(context, PURLIN_F32, g->detector_columns, g->detector_rows, g->views, ours);
  purlin_tensor *c = array3(context, PURLIN_U16, g->detector_columns, g->detector_rows, g->views, counts);
  purlin_tensor *q = array3(context, PURLIN_F32, g->detector_columns, g->detector_rows, g->views, back), *d, *i0;
  purlin_fdk_options o = fdk_options();
  purlin_fdk_info info = fdk_info();
  purlin_fdk *fdk;
  double brain = 0;
  size_t k;
  o.output_scale = 20;
  o.output_offset = 1;
  fdk = make_fdk(context, s, &o);
  OK(purlin_fdk_shepp_logan(45, e));
  CHECK(rows[0][0] == 1 && fabs(rows[0][2] - 41.4) < 1e-12 && rows[2][7] < 0);
  OK(purlin_fdk_ellipsoids(fdk, NULL, e, p));
  /* The peer's are f32 of magnitude 90 and intersected in f32 in places. */
  CHECK(largest_difference(ours, s->projections, s->pixels) < 2e-3);
  OK(purlin_fdk_ellipsoid_volume(fdk, e, v));
  CHECK(volume[0] == 0 && fabsf(volume[NX / 2 + NX * (NY / 2 + NY * (NZ / 2))] - 0.2f) < 1e-6f);

  panel[0] = g->detector_columns, panel[1] = g->detector_rows;
  dark = malloc((size_t)(panel[0] * panel[1]) * sizeof(float));
  open = malloc((size_t)(panel[0] * panel[1]) * sizeof(float));
  for (k = 0; k < (size_t)(panel[0] * panel[1]); k++) dark[k] = 100, open[k] = 50100 + (float)(k % 7);
  for (k = 0; k < s->pixels; k++) {
    size_t at = k % (size_t)(panel[0] * panel[1]);
    ours[k] /= 20;
    counts[k] = (uint16_t)lrintf(dark[at] + (open[at] - dark[at]) * expf(-ours[k]));
  }
  counts[5] = 3;
  d = dense(context, PURLIN_F32, 2, panel, dark);
  i0 = dense(context, PURLIN_F32, 2, panel, open);
  OK(purlin_fdk_log_transform(context, NULL, c, 0, i0, d, 0, q, &raised));
  CHECK(raised == 1 && fabsf(back[5] - logf((open[5] - 100) / 0.5f)) < 1e-5f);
  back[5] = ours[5];
  /* A count is off by half of one in at least 50000 exp(-4.5) = 555. */
  CHECK(largest_difference(back, ours, s->pixels) < 0.5 / 500);
  OK(purlin_fdk_log_transform(context, NULL, c, 50103, NULL, NULL, 1, q, NULL));
  counts[5] = 50000;
  OK(purlin_fdk_log_transform(context, NULL, c, 0, i0, d, 0, q, &raised));
  CHECK(raised == 0);
  OK(purlin_fdk_reconstruct(fdk, NULL, q, v, NULL));
  OK(purlin_fdk_set_counts(fdk, 0, i0, d, 0));
  OK(purlin_fdk_reconstruct(fdk, NULL, c, w, &info));
  CHECK(info.pixels_clamped == 0 && info.pixels_negative == 0);
  /* The logarithms of a GPU round in another way than the host's. */
  if (is_on_cpu()) CHECK(memcmp(volume, other, sizeof volume) == 0);
  CHECK(largest_difference(volume, other, COUNT(volume)) < 1e-6);
  OK(purlin_fdk_set_counts(fdk, 0, NULL, NULL, 0));
  OK(purlin_fdk_reconstruct(fdk, NULL, q, w, NULL));
  CHECK(memcmp(volume, other, sizeof volume) == 0);
  /* Scaled back and raised by 1: the brain is 0.2 of the phantom's unit. */
  for (k = 8; k < 16; k++) brain += (double)other[NX / 2 + NX * ((int)k + NY * (NZ / 2))] / 8;
  CHECK(fabs(brain - 1.2) < 0.01);
  /* Counts of 32 bits over a level that single precision rounds, and of doubles over one of 40 bits. */
  {
    const int64_t one[3] = {4, 1, 1};
    uint32_t wide[4] = {1000000001, 1000010001, 1000020001, 1000050001};
    double level[4] = {1000000001, 1000000001, 1000000001, 1000000001}, doubles[4], flat[4], want;
    float line[4];
    purlin_tensor *w32 = dense(context, PURLIN_U32, 3, one, wide), *w64 = dense(context, PURLIN_F64, 3, one, doubles);
    purlin_tensor *low = dense(context, PURLIN_F64, 2, one, level), *high = dense(context, PURLIN_F64, 2, one, flat);
    purlin_tensor *out = dense(context, PURLIN_F32, 3, one, line);
    for (k = 0; k < 4; k++) flat[k] = level[k] + 50000;
    OK(purlin_fdk_log_transform(context, NULL, w32, 0, high, low, 0, out, &raised));
    CHECK(raised == 1);
    for (k = 1; k < 4; k++) {
      want = -log((wide[k] - level[k]) / 50000);
      CHECK(fabs(line[k] - want) < 1e-6);
    }
    OK(purlin_fdk_log_transform(context, NULL, w32, level[0] + 50000, NULL, low, 0, out, NULL));
    CHECK(fabs(line[1] - log(5.0)) < 1e-6);
    for (k = 0; k < 4; k++) level[k] += 1e12, flat[k] += 1e12, doubles[k] = wide[k] + 1e12;
    OK(purlin_fdk_log_transform(context, NULL, w64, 0, high, low, 0, out, NULL));
    CHECK(fabs(line[1] - log(5.0)) < 1e-6 && fabs(line[3]) < 1e-6);
    flat[2] = NAN;
    BAD_ARGUMENT("i0_image: row 0, column 2 is NaN, not finite",
                 purlin_fdk_log_transform(context, NULL, w64, 0, high, low, 0, out, NULL));
    OK(purlin_tensor_destroy(w32));
    OK(purlin_tensor_destroy(w64));
    OK(purlin_tensor_destroy(low));
    OK(purlin_tensor_destroy(high));
    OK(purlin_tensor_destroy(out));
  }
  free(ours), free(back), free(counts), free(dark), free(open);
  OK(purlin_tensor_destroy(e));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(w));
  OK(purlin_tensor_destroy(p));
  OK(purlin_tensor_destroy(c));
  OK(purlin_tensor_destroy(q));
  OK(purlin_tensor_destroy(d));
  OK(purlin_tensor_destroy(i0));
  OK(purlin_fdk_destroy(fdk));
}

struct lines {
  int count;
  int32_t level;
  char last[256];
};

/* Bytes of available memory as the system reports them; 0 if it does not. */
static double available(void) {
  FILE *file = fopen("/proc/meminfo", "r");
  char line[256];
  unsigned long long kilobytes = 0;
  if (!file) return 0;
  while (fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %llu kB", &kilobytes) != 1) continue;
  fclose(file);
  return 1024.0 * (double)kilobytes;
}

/* Without a limit a volume of twice the memory that is available is planned in slabs, inside that memory. */
static void inside_what_is_free(const struct scan *s) {
  double before = available(), after;
  purlin_fdk_grid grid = golden_grid();
  purlin_fdk_info info = fdk_info();
  purlin_fdk *fdk = NULL;
  int64_t n = 256;
  if (before == 0) return;
  while (4.0 * (double)n * (double)n * (double)n <= 2 * before) n += 256;
  grid.nx = grid.ny = grid.nz = n;
  grid.dx = grid.dy = grid.dz = 60.0 / (double)n;
  grid.x0 = grid.y0 = grid.z0 = -30;
  OK(purlin_fdk_create(context, &s->geometry, &grid, NULL, &fdk));
  OK(purlin_fdk_plan(fdk, &info));
  after = available();
  CHECK(info.nx == n && info.slabs > 1 && info.host_bytes > 0);
  /* Others take and free memory meanwhile. */
  CHECK((double)info.host_bytes <= 1.1 * fmax(before, after));
  OK(purlin_fdk_destroy(fdk));
}

static void remember(int32_t level, const char *message, void *user) {
  struct lines *lines = user;
  lines->count++;
  lines->level = level;
  snprintf(lines->last, sizeof lines->last, "%s", message);
}

/* Pixels that are not finite: one line of the log per run, whichever call reads the views. */
static void logged(const struct scan *s) {
  const purlin_fdk_geometry *g = &s->geometry;
  struct lines lines = {0, 0, ""};
  purlin_tensor *projections = projections_of(context, s), *v = volume_tensor(volume);
  purlin_fdk_options o = fdk_options();
  purlin_fdk_info info = fdk_info();
  purlin_fdk *fdk = NULL;
  float keep[2];
  int64_t views[MOST_VIEWS], k;
  char expected[64];
  int sanitize;
  keep[0] = s->projections[1234], keep[1] = s->projections[9000];
  s->projections[1234] = NAN, s->projections[9000] = -INFINITY;
  for (k = 0; k < g->views; k++) views[k] = k;
  OK(purlin_context_set_log(context, PURLIN_LOG_WARN, remember, &lines));
  for (sanitize = 0; sanitize < 2; sanitize++) {
    o.sanitize = sanitize;
    fdk = make_fdk(context, s, &o);
    lines.count = 0;
    OK(purlin_fdk_reconstruct(fdk, NULL, projections, v, &info));
    CHECK(lines.count == 1 && lines.level == PURLIN_LOG_WARN && info.pixels_not_finite >= 2);
    snprintf(expected, sizeof expected, "projections: %lld pixels are not finite; %s", (long long)info.pixels_not_finite,
             sanitize ? "they count as 0" : "the voxels");
    CHECK(strstr(lines.last, expected) != NULL);
    OK(purlin_fdk_begin(fdk, NULL));
    OK(purlin_fdk_push(fdk, g->views, views, projections));
    OK(purlin_fdk_finish(fdk, v, &info));
    CHECK(lines.count == 2 && info.pixels_not_finite == 2);
    OK(purlin_fdk_destroy(fdk));
  }
  s->projections[1234] = keep[0], s->projections[9000] = keep[1];
  fdk = make_fdk(context, s, &o);
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, v, &info));
  CHECK(lines.count == 2 && info.pixels_not_finite == 0);
  OK(purlin_fdk_destroy(fdk));
  OK(purlin_context_set_log(context, PURLIN_LOG_OFF, NULL, NULL));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(projections));
}

/* The standard grid, a bad pixel, missing views, more contexts. */
static void options(const struct scan *s) {
  const purlin_fdk_geometry *g = &s->geometry;
  purlin_tensor *projections = projections_of(context, s), *v = volume_tensor(volume), *w = volume_tensor(other);
  purlin_fdk_options o = fdk_options();
  purlin_fdk_info info = fdk_info();
  purlin_context *second = test_context(1);
  const purlin_context *members[2];
  purlin_group *group = NULL;
  purlin_fdk *fdk = NULL;
  float keep = s->projections[1234];
  int64_t view = 3;
  purlin_tensor *one;
  OK(purlin_fdk_create(context, g, NULL, NULL, &fdk));
  OK(purlin_fdk_plan(fdk, &info));
  CHECK(info.nx == g->detector_columns && info.ny == g->detector_columns && info.nz == g->detector_rows);
  CHECK(fabs(info.dx - 1.5) < 1e-12 && info.dx == info.dz && fabs(info.x0 + 39.5 * 1.5) < 1e-9);
  OK(purlin_fdk_destroy(fdk));

  o.slab = 10;
  fdk = make_fdk(context, s, &o);
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, v, &info));
  /* A GPU rounds ten slices up to more than there are. */
  CHECK(info.slabs >= 1 + is_on_cpu() && info.contexts == 1);
  OK(purlin_fdk_destroy(fdk));
  members[0] = context, members[1] = second;
  OK(purlin_group_create(2, members, NULL, &group));
  o.group = group;
  fdk = make_fdk(context, s, &o);
  /* The object keeps the members. */
  OK(purlin_group_destroy(group));
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, w, &info));
  CHECK(info.contexts == 2 && memcmp(volume, other, sizeof volume) == 0);
  OK(purlin_fdk_destroy(fdk));

  o = fdk_options();
  o.sanitize = 1;
  fdk = make_fdk(context, s, &o);
  s->projections[1234] = NAN;
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, v, &info));
  CHECK(info.pixels_sanitized >= 1 && info.pixels_sanitized <= info.slabs);
  s->projections[1234] = 0;
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, w, &info));
  CHECK(info.pixels_sanitized == 0 && memcmp(volume, other, sizeof volume) == 0);
  OK(purlin_fdk_destroy(fdk));
  /* Without the option they are counted too. */
  fdk = make_fdk(context, s, NULL);
  s->projections[1234] = INFINITY;
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, w, &info));
  CHECK(info.pixels_sanitized == 0 && info.pixels_not_finite >= 1 && info.pixels_not_finite <= info.slabs);
  s->projections[1234] = keep;
  OK(purlin_fdk_destroy(fdk));

  /* A single view of a scan, the others counting as zero, is that view's back-projection: no more than it adds. */
  o = fdk_options();
  o.allow_missing = 1;
  fdk = make_fdk(context, s, &o);
  one = array2(context, PURLIN_F32, g->detector_columns, g->detector_rows,
               s->projections + view * g->detector_columns * g->detector_rows);
  OK(purlin_fdk_begin(fdk, NULL));
  OK(purlin_fdk_push(fdk, 1, &view, one));
  OK(purlin_fdk_finish(fdk, v, &info));
  CHECK(info.views_pushed == 1);
  CHECK(largest_difference(volume, other, VOXELS) > 0.1);
  OK(purlin_tensor_destroy(one));
  OK(purlin_fdk_destroy(fdk));
  OK(purlin_context_destroy(second));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(w));
  OK(purlin_tensor_destroy(projections));
}

int main(void) {
  struct scan *full, *displaced;
  context = test_context(2);
  full = load_scan("full");
  displaced = load_scan("displaced");
  golden_scans();
  phantom_and_counts(full);
  thin(full, rounds(1, 3));
  thin(displaced, rounds(1, 3));
  pushed(full);
  kept(full);
  if (rounds(1, 0)) pieces(full);
  pieces(displaced);
  options(full);
  inside_what_is_free(full);
  logged(full);
  free_scan(full);
  free_scan(displaced);
  OK(purlin_context_destroy(context));
  return finish();
}
