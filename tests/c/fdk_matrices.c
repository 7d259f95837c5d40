/* Cone-beam CT by 3x4 matrices: panels and sources off their place, against the exact density of a ball.

   A ball about the isocentre looks alike from everywhere, so no turn of the panel may change its inside. The line integrals are
   the library's own exact ones, checked here against the closed form. */
#include <math.h>

#include "fdk.h"

enum { PIXELS = 128, ROWS = 40, CIRCLE = 180, SIDE = 41, SLICES = 3, VOLUME = SIDE * SIDE * SLICES };

static const double RADIUS = 40, SID = 500, SDD = 1000, PITCH = 2, ROW_PITCH = 5, STEP = 6.283185307179586 / CIRCLE;
static purlin_context *context;
static double matrices[CIRCLE][12];
static float projections[CIRCLE * ROWS * PIXELS], volume[VOLUME], masked[VOLUME];

/* Misalignments: angles of the panel in degrees, shifts of the source in mm along e_u and z. */
struct tilt {
  double yaw, pitch, roll, source, height;
};

static void combine(double *out, double a, const double *x, double b, const double *y) {
  int k;
  for (k = 0; k < 3; k++) out[k] = a * x[k] + b * y[k];
}

static void cross(double *out, const double *a, const double *b) {
  int k;
  for (k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The matrix of the view at angle b, whose panel's centre is `offset` mm along e_u: the inverse of the matrix whose columns are the
   steps along columns and rows, and the ray to the centre of pixel (0, 0). */
static void view(double *matrix, int64_t columns, double b, double offset, const struct tilt *t) {
  const double out[3] = {cos(b), sin(b), 0}, across[3] = {-sin(b), cos(b), 0}, up[3] = {0, 0, 1}, degree = STEP / 2;
  double u[3], v[3], n[3], turned[3], source[3], corner[3], rows[3][3], determinant;
  int r, k;
  combine(u, cos(t->yaw * degree), across, sin(t->yaw * degree), out);
  combine(n, cos(t->yaw * degree), out, -sin(t->yaw * degree), across);
  combine(v, cos(t->pitch * degree), up, sin(t->pitch * degree), n);
  combine(turned, cos(t->roll * degree), u, sin(t->roll * degree), v);
  combine(v, -sin(t->roll * degree), u, cos(t->roll * degree), v);
  for (k = 0; k < 3; k++) {
    source[k] = SID * out[k] + t->source * across[k] + t->height * up[k];
    u[k] = PITCH * turned[k];
    v[k] *= ROW_PITCH;
    corner[k] = (SID - SDD) * out[k] + offset * across[k] - source[k] - (double)(columns - 1) / 2 * u[k] - (ROWS - 1) / 2.0 * v[k];
  }
  cross(rows[0], v, corner);
  cross(rows[1], corner, u);
  cross(rows[2], u, v);
  determinant = dot(u, rows[0]);
  for (r = 0; r < 3; r++) {
    for (k = 0; k < 3; k++) matrix[4 * r + k] = rows[r][k] / determinant;
    matrix[4 * r + 3] = -dot(rows[r], source) / determinant;
  }
}

struct setup {
  int64_t columns, views;
  double offset;
  int32_t asked, expected;
};

/* A reconstruction of three slices from the views in `matrices`. */
static purlin_fdk *made(const struct setup *s, double spacing, int32_t mask) {
  purlin_fdk_geometry g;
  purlin_fdk_grid grid;
  purlin_fdk_options o = fdk_options();
  purlin_fdk *fdk = NULL;
  OK(purlin_fdk_geometry_init(&g, sizeof g));
  OK(purlin_fdk_grid_init(&grid, sizeof grid));
  g.column_pitch = PITCH;
  g.detector_columns = s->columns, g.detector_rows = ROWS, g.views = s->views, g.matrices = matrices[0];
  grid.nx = grid.ny = SIDE, grid.nz = SLICES;
  grid.dx = grid.dy = spacing, grid.dz = 4;
  grid.x0 = grid.y0 = -spacing * (SIDE - 1) / 2, grid.z0 = -4;
  o.redundancy = s->asked;
  o.fov_mask = mask;
  OK(purlin_fdk_create(context, &g, &grid, &o, &fdk));
  return fdk;
}

/* Projects the ball and reconstructs it. */
static purlin_fdk_info run(const struct setup *s, double spacing, int32_t mask, float *out) {
  static double ball[8] = {1, 0, 0, 0, 0, 0, 0, 0};
  purlin_fdk *fdk = made(s, spacing, mask);
  purlin_fdk_info info = fdk_info();
  purlin_tensor *views = array3(context, PURLIN_F32, s->columns, ROWS, s->views, projections);
  purlin_tensor *v = array3(context, PURLIN_F32, SIDE, SIDE, SLICES, out), *e = array2(context, PURLIN_F64, 8, 1, ball);
  ball[1] = ball[2] = ball[3] = RADIUS;
  OK(purlin_fdk_ellipsoids(fdk, NULL, e, views));
  OK(purlin_fdk_reconstruct(fdk, NULL, views, v, &info));
  OK(purlin_tensor_destroy(e));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(views));
  OK(purlin_fdk_destroy(fdk));
  return info;
}

/* The largest error of the means over three rings about the axis, inside the ball, in the plane of the orbit. */
static double error_of(const float *v, double spacing) {
  static const double edges[4] = {0, 10, 20, 30};
  double worst = 0;
  int ring, p;
  for (ring = 0; ring < 3; ring++) {
    double sum = 0, count = 0;
    for (p = 0; p < SIDE * SIDE; p++) {
      double x = (p % SIDE - (SIDE - 1) / 2.0) * spacing, y = (p / SIDE - (SIDE - 1) / 2.0) * spacing, r = hypot(x, y);
      if (r >= edges[ring] && r < edges[ring + 1]) sum += v[SIDE * SIDE + p], count++;
    }
    worst = fmax(worst, fabs(sum / count - 1));
  }
  return worst;
}

/* The projections of the ball by their closed form: chords at the ray's distance from the isocentre. */
static void check_projections(const struct setup *s) {
  double worst = 0;
  int64_t n, p;
  for (n = 0; n < s->views; n += 37) {
    const double *a = matrices[n];
    double e[3][3], c[3], d, t;
    int k;
    cross(e[0], a + 4, a + 8);
    cross(e[1], a + 8, a);
    cross(e[2], a, a + 4);
    d = dot(a, e[0]);
    for (k = 0; k < 3; k++) c[k] = -(e[0][k] * a[3] + e[1][k] * a[7] + e[2][k] * a[11]) / d;
    for (p = 0; p < s->columns * ROWS; p += 11) {
      double ray[3], off[3], exact;
      for (k = 0; k < 3; k++)
        ray[k] = e[0][k] * (double)(p % s->columns) + e[1][k] * (double)(p / s->columns) + e[2][k];
      t = dot(ray, c) / dot(ray, ray);
      combine(off, 1, c, -t, ray);
      d = RADIUS * RADIUS - dot(off, off);
      exact = d > 0 ? 2 * sqrt(d) : 0;
      worst = fmax(worst, fabs(projections[n * s->columns * ROWS + p] - exact));
    }
  }
  CHECK(worst < 1e-2);
}

static void tilted(void) {
  static const struct setup setups[] = {
      {90, CIRCLE, 55, PURLIN_FDK_REDUNDANCY_HALF_FAN, PURLIN_FDK_REDUNDANCY_HALF_FAN},
      {90, CIRCLE, -55, PURLIN_FDK_REDUNDANCY_AUTO, PURLIN_FDK_REDUNDANCY_HALF_FAN},
      {PIXELS, 108, 0, PURLIN_FDK_REDUNDANCY_SHORT, PURLIN_FDK_REDUNDANCY_SHORT},
      {PIXELS, 108, 0, PURLIN_FDK_REDUNDANCY_AUTO, PURLIN_FDK_REDUNDANCY_SHORT},
      {PIXELS, CIRCLE, 0, PURLIN_FDK_REDUNDANCY_AUTO, PURLIN_FDK_REDUNDANCY_FULL},
  };
  static const struct tilt tilts[] = {
      {0, 0, 0, 0, 0},  {0.25, 0, 0, 0, 0}, {-0.25, 0, 0, 0, 0}, {1, 0, 0, 0, 0},     {-1, 0, 0, 0, 0},
      {2, 0, 0, 0, 0},  {-2, 0, 0, 0, 0},   {0, 0, 2, 0, 0},     {0, 0, -2, 0, 0},    {0, 2, 0, 0, 0},
      {0, -2, 0, 0, 0}, {0, 0, 0, 20, 0},   {0, 0, 0, -20, 0},   {-1.5, 1, 1, 6, 4},  {2, -12, 3, 0, 0},
  };
  size_t i, k;
  int64_t n;
  for (i = 0; i < COUNT(setups); i++)
    /* Under valgrind one each, in turn a straight panel and one that is not. */
    for (k = (size_t)rounds(0, i % 2); k < (size_t)rounds(COUNT(tilts), i % 2 + 1); k++) {
      purlin_fdk_info info;
      double error;
      for (n = 0; n < setups[i].views; n++) view(matrices[n], setups[i].columns, (double)n * STEP, setups[i].offset, &tilts[k]);
      info = run(&setups[i], 2, 0, volume);
      check_projections(&setups[i]);
      error = error_of(volume, 2);
      CHECK(info.redundancy == setups[i].expected);
      CHECK(error < 2e-3);
      if (error >= 2e-3 || info.redundancy != setups[i].expected)
        fprintf(stderr, "  scan %d, tilt %d: %.5f, %s\n", (int)i, (int)k, error, info.reason);
    }
}

/* The middle of the ball is seen through the row through the isocentre alone, so it is right however the panel is turned. */
static void turned(void) {
  static const struct setup full = {PIXELS, CIRCLE, 0, PURLIN_FDK_REDUNDANCY_AUTO, PURLIN_FDK_REDUNDANCY_FULL};
  static const struct tilt tilts[] = {{40, 40, 0, 0, 0}, {0, 40, 9, 0, 0}, {40, 0, 9, 0, 0},  {20, 20, 9, 0, 0},
                                      {30, 30, 5, 0, 0}, {30, -30, 9, 0, 0}, {40, 40, 9, 0, 0}, {-40, 40, -9, 0, 0}};
  size_t k;
  int64_t n;
  for (k = 0; k < (size_t)rounds(COUNT(tilts), 1); k++) {
    purlin_fdk_info info;
    for (n = 0; n < CIRCLE; n++) view(matrices[n], PIXELS, (double)n * STEP, 0, &tilts[k]);
    info = run(&full, 2, 0, volume);
    CHECK(fabs(volume[VOLUME / 2] - 1) < 3e-3);
    CHECK(!strstr(info.reason, "rows are filtered"));
  }
}

/* AUTO looks at all views. */
static void first_view_elsewhere(void) {
  static const struct tilt straight = {0, 0, 0, 0, 0};
  static const struct setup full = {PIXELS, CIRCLE, 0, PURLIN_FDK_REDUNDANCY_AUTO, PURLIN_FDK_REDUNDANCY_FULL};
  static const struct setup half = {90, CIRCLE, 55, PURLIN_FDK_REDUNDANCY_AUTO, PURLIN_FDK_REDUNDANCY_HALF_FAN};
  const struct setup *setups[2];
  int k;
  int64_t n;
  setups[0] = &full, setups[1] = &half;
  for (k = 0; k < 2; k++) {
    purlin_fdk_info info;
    for (n = 0; n < CIRCLE; n++) view(matrices[n], setups[k]->columns, (double)n * STEP, setups[k]->offset, &straight);
    /* The middle of the fan of this view alone is 15 mm off the axis, or on it. */
    view(matrices[0], setups[k]->columns, 0, k == 0 ? 30 : 0, &straight);
    info = run(setups[k], 2, 0, volume);
    CHECK(info.redundancy == setups[k]->expected);
    CHECK(error_of(volume, 2) < 4e-3);
  }
}

/* The mask keeps the voxels that all views see, except for the short side of a half fan. */
static void yawed_mask(void) {
  static const struct setup half = {90, CIRCLE, 55, PURLIN_FDK_REDUNDANCY_HALF_FAN, PURLIN_FDK_REDUNDANCY_HALF_FAN};
  const struct tilt yawed[] = {{2, 0, 0, 0, 0}, {-2, 0, 0, 0, 0}};
  const double spacing = 4.5;
  int64_t n;
  int k, p, kept, blank;
  for (k = 0; k < (int)rounds(2, 1); k++) {
    for (n = 0; n < CIRCLE; n++) view(matrices[n], half.columns, (double)n * STEP, half.offset, &yawed[k]);
    run(&half, spacing, 0, volume);
    run(&half, spacing, 1, masked);
    kept = blank = 0;
    for (p = 0; p < VOLUME; p++) {
      const double *a = matrices[0];
      double x = (p % SIDE - (SIDE - 1) / 2.0) * spacing, y = (p / SIDE % SIDE - (SIDE - 1) / 2.0) * spacing;
      double r = hypot(x, y), z = 4.0 * (p / (SIDE * SIDE) - 1), most = 0, row = 0;
      /* All views are alike, so each sees the circle through the voxel if the first one does. */
      for (n = 0; n < 2 * CIRCLE; n++) {
        double q[3], w;
        q[0] = r * cos((double)n * STEP / 2), q[1] = r * sin((double)n * STEP / 2), q[2] = z;
        w = dot(a + 8, q) + a[11];
        most = fmax(most, (dot(a, q) + a[3]) / w);
        row = fmax(row, fabs((dot(a + 4, q) + a[7]) / w - (ROWS - 1) / 2.0));
      }
      CHECK(row < (ROWS - 1) / 2.0);
      if (most < (double)half.columns - 1.01) {
        kept++;
        CHECK(masked[p] == volume[p]);
      } else if (most > (double)half.columns - 0.99) {
        blank++;
        CHECK(masked[p] == 0);
      }
    }
    CHECK(kept > VOLUME / 3 && blank > VOLUME / 5);
  }
}

/* A short arc of sources that waver fits no orbit's plane well and is still accepted; the plan of a helix reports that the panel
   misses part of the axis; and matrices may have any scale. */
static void orbits(void) {
  static const struct setup arc = {PIXELS, 31, 0, PURLIN_FDK_REDUNDANCY_AUTO, PURLIN_FDK_REDUNDANCY_SHORT};
  static const struct setup full = {PIXELS, CIRCLE, 0, PURLIN_FDK_REDUNDANCY_AUTO, PURLIN_FDK_REDUNDANCY_FULL};
  static const double scales[2] = {1e300, -1e-300};
  purlin_fdk_geometry g;
  purlin_fdk_options o = fdk_options();
  purlin_fdk *fdk = NULL;
  purlin_fdk_info info = fdk_info();
  int64_t n, k;
  OK(purlin_fdk_geometry_init(&g, sizeof g));
  g.column_pitch = PITCH;
  g.detector_columns = PIXELS, g.detector_rows = ROWS, g.views = arc.views, g.matrices = matrices[0];
  for (n = 0; n < arc.views; n++) {
    struct tilt t = {0, 0, 0, 0, 0};
    t.height = 3 * (double)(n % 2);
    view(matrices[n], PIXELS, (double)n * STEP / 12, 0, &t);
  }
  o.allow_short_arc = 1;
  OK(purlin_fdk_create(context, &g, NULL, &o, &fdk));
  OK(purlin_fdk_destroy(fdk));

  g.views = CIRCLE;
  for (k = 0; k < 2; k++) {
    for (n = 0; n < CIRCLE; n++) {
      struct tilt t = {0, 0, 0, 0, 0};
      int c;
      view(matrices[n], PIXELS, (double)n * STEP, 0, &t);
      /* Turns of 90 mm: source and panel move along. */
      for (c = 0; k == 0 && c < 3; c++) matrices[n][4 * c + 3] -= matrices[n][4 * c + 2] * ((double)n / CIRCLE - 0.5) * 90;
    }
    OK(purlin_fdk_create(context, &g, NULL, NULL, &fdk));
    OK(purlin_fdk_plan(fdk, &info));
    CHECK((strstr(info.reason, "of the axis in common") != NULL) == (k == 0));
    OK(purlin_fdk_destroy(fdk));
  }

  run(&full, 2, 0, volume);
  for (k = 0; k < 2; k++) {
    int c;
    for (n = 0; n < CIRCLE; n++) {
      struct tilt t = {0, 0, 0, 0, 0};
      view(matrices[n], PIXELS, (double)n * STEP, 0, &t);
      for (c = 0; c < 12; c++) matrices[n][c] *= scales[k];
    }
    run(&full, 2, 0, masked);
    CHECK(largest_difference(volume, masked, VOLUME) < 1e-5);
  }
}

/* A panel on its side is refused with that reason, before AUTO chooses. */
static void on_its_side(void) {
  static const struct tilt side = {0, 0, 90, 0, 0};
  purlin_fdk_geometry g;
  purlin_fdk *fdk = NULL;
  int64_t n;
  OK(purlin_fdk_geometry_init(&g, sizeof g));
  g.column_pitch = PITCH;
  g.detector_columns = PIXELS, g.detector_rows = ROWS, g.views = CIRCLE, g.matrices = matrices[0];
  for (n = 0; n < CIRCLE; n++) view(matrices[n], PIXELS, (double)n * STEP, 0, &side);
  BAD_ARGUMENT("has rows at 90.0 degrees to the plane of the orbit", purlin_fdk_create(context, &g, NULL, NULL, &fdk));
  CHECK(fdk == NULL);
}

int main(void) {
  context = test_context(2);
  tilted();
  turned();
  first_view_elsewhere();
  yawed_mask();
  orbits();
  on_its_side();
  OK(purlin_context_destroy(context));
  return finish();
}
