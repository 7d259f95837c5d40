/* Helpers of the cone-beam tests: the golden scans, their geometries and their common grid. */
#ifndef PURLIN_TESTS_FDK_H
#define PURLIN_TESTS_FDK_H

#include <math.h>

#include "check.h"
#include "published.h"

enum { NX = 48, NY = 44, NZ = 36, VOXELS = NX * NY * NZ, MOST_VIEWS = 90 };

struct scan {
  const char *name;
  int32_t redundancy;
  purlin_fdk_geometry geometry;
  /* [views][rows][columns] */
  float *projections;
  size_t pixels;
  double numbers[MOST_VIEWS * 12];
};

/* Reads the numbers of a .npy file. */
static inline void npy(const char *scan, const char *what, void *target, size_t bytes) {
  char name[64];
  unsigned char head[10];
  FILE *file;
  snprintf(name, sizeof name, "fdk/%s_%s.npy", scan, what);
  file = golden(name);
  CHECK(fread(head, 1, sizeof head, file) == sizeof head);
  CHECK(fseek(file, head[8] + 256 * head[9], SEEK_CUR) == 0);
  CHECK(fread(target, 1, bytes, file) == bytes);
  fclose(file);
}

/* A circular orbit of `views` angles, `step` degrees apart. */
static inline void orbit(struct scan *s, int64_t columns, int64_t rows, double column_pitch, double row_pitch,
                         double column_offset, int64_t views, double step) {
  purlin_fdk_geometry *g = &s->geometry;
  int64_t n;
  OK(purlin_fdk_geometry_init(g, sizeof *g));
  g->source_to_axis = 500;
  g->source_to_detector = 1000;
  g->column_pitch = column_pitch;
  g->row_pitch = row_pitch;
  g->column_offset = column_offset;
  g->detector_columns = columns;
  g->detector_rows = rows;
  g->views = views;
  for (n = 0; n < views; n++) s->numbers[n] = (double)n * step * 3.14159265358979323846 / 180;
  g->angles = s->numbers;
}

/* One of the scans of tests/golden/fdk: full, short, displaced, carm. */
static inline struct scan *load_scan(const char *name) {
  struct scan *s = calloc(1, sizeof *s);
  if (!s) exit(1);
  s->name = name;
  s->redundancy = PURLIN_FDK_REDUNDANCY_FULL;
  if (strcmp(name, "full") == 0) {
    orbit(s, 80, 64, 3.0, 3.5, 0, 90, 4);
  } else if (strcmp(name, "short") == 0) {
    orbit(s, 72, 48, 3.0, 4.0, 0, 85, 2.5);
    s->redundancy = PURLIN_FDK_REDUNDANCY_SHORT;
  } else if (strcmp(name, "displaced") == 0) {
    orbit(s, 48, 48, 3.5, 4.0, 52, 90, 4);
    s->redundancy = PURLIN_FDK_REDUNDANCY_HALF_FAN;
  } else {
    orbit(s, 76, 60, 3.2, 3.7, 0, 72, 5);
    npy(name, "matrices", s->numbers, 72 * 12 * sizeof(double));
    s->geometry.angles = NULL;
    s->geometry.matrices = s->numbers;
    /* The matrices hold them. */
    s->geometry.source_to_axis = s->geometry.source_to_detector = 0;
  }
  s->pixels = (size_t)(s->geometry.detector_columns * s->geometry.detector_rows * s->geometry.views);
  s->projections = malloc(s->pixels * sizeof(float));
  if (!s->projections) exit(1);
  npy(name, "proj", s->projections, s->pixels * sizeof(float));
  return s;
}

/* Leaves every `step`-th view of an orbit. */
static inline void thin(struct scan *s, int64_t step) {
  const size_t panel = (size_t)(s->geometry.detector_columns * s->geometry.detector_rows);
  int64_t n;
  for (n = 0; n * step < s->geometry.views; n++) {
    s->numbers[n] = s->numbers[n * step];
    memmove(s->projections + (size_t)n * panel, s->projections + (size_t)(n * step) * panel, panel * sizeof(float));
  }
  s->geometry.views = n;
  s->pixels = (size_t)n * panel;
}

static inline void free_scan(struct scan *s) {
  free(s->projections);
  free(s);
}

/* The grid of the golden volumes. */
static inline purlin_fdk_grid golden_grid(void) {
  purlin_fdk_grid grid;
  OK(purlin_fdk_grid_init(&grid, sizeof grid));
  grid.nx = NX, grid.ny = NY, grid.nz = NZ;
  grid.dx = 2.2, grid.dy = 2.4, grid.dz = 2.0;
  grid.x0 = -51.7, grid.y0 = -51.6, grid.z0 = -35.0;
  return grid;
}

static inline purlin_fdk_options fdk_options(void) {
  purlin_fdk_options options;
  OK(purlin_fdk_options_init(&options, sizeof options));
  return options;
}

static inline purlin_fdk_info fdk_info(void) {
  purlin_fdk_info info;
  OK(purlin_fdk_info_init(&info, sizeof info));
  return info;
}

/* A reconstruction of a scan on the golden grid. */
static inline purlin_fdk *make_fdk(const purlin_context *context, const struct scan *s,
                                   const purlin_fdk_options *options) {
  purlin_fdk_grid grid = golden_grid();
  purlin_fdk *fdk = NULL;
  OK(purlin_fdk_create(context, &s->geometry, &grid, options, &fdk));
  return fdk;
}

/* The scan's projections as a tensor. */
static inline purlin_tensor *projections_of(const purlin_context *context, const struct scan *s) {
  const purlin_fdk_geometry *g = &s->geometry;
  return array3(context, PURLIN_F32, g->detector_columns, g->detector_rows, g->views, s->projections);
}

static inline double largest_difference(const float *a, const float *b, size_t n) {
  double worst = 0;
  size_t k;
  for (k = 0; k < n; k++) {
    double difference = fabs((double)a[k] - (double)b[k]);
    /* A NaN is a difference too. */
    if (!(difference <= worst)) worst = isnan(difference) ? INFINITY : difference;
  }
  return worst;
}

#endif
