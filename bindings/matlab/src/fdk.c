/* Commands of cone-beam CT. Views are numbered from 1. */
#include <string.h>

#include "gateway.h"

static purlin_fdk *fdk_argument(const mxArray *key) { return (purlin_fdk *)(uintptr_t)key_argument("fdk", key); }

static const double *doubles(const char *name, const mxArray *array) {
  if (!mxIsDouble(array) || mxIsComplex(array) || mxIsSparse(array))
    fail("invalidArgument", "%s: is not a full real array of class double", name);
  return mxGetData(array);
}

/* The field of the grid behind the dot in `name`; 1 if it is there. */
static int read_triple(const mxArray *grid, const char *name, double *x, double *y, double *z) {
  const mxArray *given = option(grid, strchr(name, '.') + 1);
  const double *values;
  if (!given) return 0;
  values = doubles(name, given);
  if (mxGetNumberOfElements(given) != 3) fail("invalidArgument", "%s: is not three numbers, x y z", name);
  *x = values[0];
  *y = values[1];
  *z = values[2];
  return 1;
}

static purlin_fdk_geometry geometry_of(const mxArray *given) {
  purlin_fdk_geometry g;
  const mxArray *angles = option(given, "angles"), *matrices = option(given, "matrices");
  check(purlin_fdk_geometry_init(&g, sizeof g));
  READ_FDK_GEOMETRY(given, &g);
  if (angles) {
    g.angles = doubles("angles", angles);
    g.views = (int64_t)mxGetNumberOfElements(angles);
  }
  if (matrices) {
    const mwSize *dims = mxGetDimensions(matrices);
    mwSize n = mxGetNumberOfDimensions(matrices);
    const double *from = doubles("matrices", matrices);
    double *rows;
    if (n > 3 || dims[0] != 3 || dims[1] != 4) fail("invalidArgument", "matrices: is not 3-by-4-by-views");
    g.views = (int64_t)(mxGetNumberOfElements(matrices) / 12);
    /* MATLAB keeps columns, the library takes rows. */
    rows = mxMalloc(mxGetNumberOfElements(matrices) * sizeof *rows);
    for (int64_t v = 0; v < g.views; v++)
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) rows[12 * v + 4 * r + c] = from[12 * v + 3 * c + r];
    g.matrices = rows;
  }
  return g;
}

static purlin_fdk_grid grid_of(const mxArray *given) {
  static const char *const names[][2] = {{"nx", "grid.size"}, {"ny", "grid.size"}, {"nz", "grid.size"},
                                         {"dx", "grid.spacing"}, {"dy", "grid.spacing"}, {"dz", "grid.spacing"},
                                         {"x0", "grid.origin"}, {"y0", "grid.origin"}, {"z0", "grid.origin"}};
  purlin_fdk_grid g;
  double nx = 0, ny = 0, nz = 0;
  int64_t ignored;
  int has_size, has_spacing;
  check(purlin_fdk_grid_init(&g, sizeof g));
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) name_argument(names[k][0], names[k][1]);
  has_size = read_triple(given, "grid.size", &nx, &ny, &nz);
  if (has_size) (void)integers_argument("grid.size", option(given, "size"), 1, 0, &ignored);
  g.nx = (int64_t)nx;
  g.ny = (int64_t)ny;
  g.nz = (int64_t)nz;
  has_spacing = read_triple(given, "grid.spacing", &g.dx, &g.dy, &g.dz);
  g.x0 = -(nx - 1) / 2 * g.dx;
  g.y0 = -(ny - 1) / 2 * g.dy;
  g.z0 = -(nz - 1) / 2 * g.dz;
  if (read_triple(given, "grid.origin", &g.x0, &g.y0, &g.z0) && !has_size)
    fail("invalidArgument", "grid.origin: is given, but grid.size is not");
  if (has_spacing && !has_size) fail("invalidArgument", "grid.spacing: is given, but grid.size is not");
  if (has_size && !has_spacing) fail("invalidArgument", "grid.spacing: is not given, but grid.size is");
  return g;
}

/* key = fdk_create(geometry, grid, options) */
static void create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_fdk_geometry g = geometry_of(prhs[0]);
  purlin_fdk_grid grid = grid_of(prhs[1]);
  purlin_fdk_options o;
  purlin_fdk *made = NULL;
  check(purlin_fdk_options_init(&o, sizeof o));
  READ_FDK_OPTIONS(prhs[2], &o);
  o.group = read_group(prhs[2]);
  o.progress = report_to_running;
  check(purlin_fdk_create(gateway_context(), &g, &grid, &o, &made));
  plhs[0] = key_of(made);
  (void)nlhs;
  (void)nrhs;
}

static void destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_fdk_destroy(fdk_argument(prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

static purlin_fdk_info info_of(const purlin_fdk *fdk) {
  purlin_fdk_info info;
  check(purlin_fdk_info_init(&info, sizeof info));
  check(purlin_fdk_plan(fdk, &info));
  return info;
}

static void add_triple(mxArray *target, const char *field, double x, double y, double z) {
  mxArray *triple = mxCreateDoubleMatrix(1, 3, mxREAL);
  double *values = mxGetData(triple);
  values[0] = x;
  values[1] = y;
  values[2] = z;
  (void)mxAddField(target, field);
  mxSetField(target, 0, field, triple);
}

static mxArray *report_of(purlin_fdk_info i) {
  mxArray *report = mxCreateStructMatrix(1, 1, 0, NULL), *grid = mxCreateStructMatrix(1, 1, 0, NULL);
  add_triple(grid, "size", (double)i.nx, (double)i.ny, (double)i.nz);
  add_triple(grid, "spacing", i.dx, i.dy, i.dz);
  add_triple(grid, "origin", i.x0, i.y0, i.z0);
  (void)mxAddField(report, "grid");
  mxSetField(report, 0, "grid", grid);
  REPORT_FDK_INFO(report, &i);
  return report;
}

/* info = fdk_plan(fdk) */
static void plan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  plhs[0] = report_of(info_of(fdk_argument(prhs[0])));
  (void)nlhs;
  (void)nrhs;
}

/* info = fdk_last_info(fdk) */
static void last_info(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_fdk_info info;
  check(purlin_fdk_info_init(&info, sizeof info));
  check(purlin_fdk_last_info(fdk_argument(prhs[0]), &info));
  plhs[0] = report_of(info);
  (void)nlhs;
  (void)nrhs;
}

static purlin_sink *volume_sink(const mxArray *value, const purlin_fdk_info *plan) {
  const int64_t dims[3] = {plan->nx, plan->ny, plan->nz};
  const double spacing[3] = {plan->dx, plan->dy, plan->dz}, origin[3] = {plan->x0, plan->y0, plan->z0};
  return sink_of("output", value, 3, dims, spacing, origin);
}

static mxArray *new_single(const int64_t dims[3]) {
  const mwSize extents[3] = {(mwSize)dims[0], (mwSize)dims[1], (mwSize)dims[2]};
  return mxCreateNumericArray(3, extents, mxSINGLE_CLASS, mxREAL);
}

/* [redundancy, angular] = fdk_weights(key, columns, views) */
static void weights(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t dims[2] = {integer_argument("columns", prhs[1], 1, INT32_MAX), integer_argument("views", prhs[2], 1, INT32_MAX)};
  mxArray *redundancy = mxCreateDoubleMatrix((mwSize)dims[0], (mwSize)dims[1], mxREAL);
  mxArray *angular = mxCreateDoubleMatrix((mwSize)dims[1], 1, mxREAL);
  check(purlin_fdk_weights(fdk_argument(prhs[0]), around(redundancy, 2, dims), around(angular, 1, dims + 1)));
  plhs[0] = redundancy;
  if (nlhs > 1) plhs[1] = angular;
  (void)nrhs;
}

static purlin_tensor *image_of(const char *name, const mxArray *value) {
  return mxIsEmpty(value) ? NULL : borrow_dense(name, value, 2);
}

/* fdk_set_counts(key, i0, i0_image, dark, epsilon) */
static void set_counts(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  check(purlin_fdk_set_counts(fdk_argument(prhs[0]), scalar_argument("i0", prhs[1]), image_of("i0_image", prhs[2]),
                              image_of("dark", prhs[3]), scalar_argument("epsilon", prhs[4])));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

static purlin_status run_reconstruct(void *a[]) { return purlin_fdk_reconstruct_to_sink(a[0], NULL, a[1], a[2], NULL); }

/* volume = fdk_reconstruct(key, projections, output, options{progress}): output [] makes an array */
static void reconstruct(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_fdk *fdk = fdk_argument(prhs[0]);
  purlin_fdk_info plan = info_of(fdk);
  const int64_t dims[3] = {plan.nx, plan.ny, plan.nz};
  purlin_progress_fn unused;
  void *user;
  purlin_status status;
  watch w;
  watch_from(prhs[3], &w, &unused, &user);
  if (mxIsEmpty(prhs[2]) && mxIsNumeric(prhs[1])) {
    purlin_tensor *lines = borrow_dense("projections", prhs[1], 3), *volume = around(plhs[0] = new_single(dims), 3, dims);
    set_running(&w);
    status = purlin_fdk_reconstruct(fdk, NULL, lines, volume, NULL);
  } else {
    purlin_source *source = source_of("projections", prhs[1]);
    purlin_sink *sink = NULL;
    if (mxIsEmpty(prhs[2])) {
      check(purlin_sink_to_tensor(gateway_context(), around(plhs[0] = new_single(dims), 3, dims), &sink));
      (void)temporary_sink(sink);
    } else {
      sink = volume_sink(prhs[2], &plan);
      plhs[0] = mxCreateDoubleMatrix(0, 0, mxREAL);
    }
    set_running(&w);
    status = call_library(&w, run_reconstruct, (void *[]){fdk, source, sink});
  }
  set_running(NULL);
  check_watched(&w, status);
  (void)nlhs;
  (void)nrhs;
}

static void begin(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  check(purlin_fdk_begin(fdk_argument(prhs[0]), NULL));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* Views from 1 as MATLAB counts, in memory that MATLAB frees. */
static int64_t *views_of(const mxArray *value, int64_t *count) {
  return integers_argument("views", value, 1, 1, count);
}

/* fdk_push(key, views, projections, options{progress}) */
static void push(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_fdk *fdk = fdk_argument(prhs[0]);
  int64_t count, *views = views_of(prhs[1], &count);
  purlin_tensor *lines = borrow_dense("projections", prhs[2], 3);
  purlin_progress_fn unused;
  void *user;
  purlin_status status;
  watch w;
  watch_from(prhs[3], &w, &unused, &user);
  set_running(&w);
  status = purlin_fdk_push(fdk, count, views, lines);
  set_running(NULL);
  check_watched(&w, status);
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

static purlin_status run_finish(void *a[]) { return purlin_fdk_finish_to_sink(a[0], a[1], NULL); }

/* volume = fdk_finish(key, output, options{progress}) */
static void finish(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_fdk *fdk = fdk_argument(prhs[0]);
  purlin_fdk_info plan = info_of(fdk);
  const int64_t dims[3] = {plan.nx, plan.ny, plan.nz};
  purlin_progress_fn unused;
  void *user;
  purlin_status status;
  watch w;
  watch_from(prhs[2], &w, &unused, &user);
  if (mxIsEmpty(prhs[1])) {
    purlin_tensor *volume = around(plhs[0] = new_single(dims), 3, dims);
    set_running(&w);
    status = purlin_fdk_finish(fdk, volume, NULL);
  } else {
    purlin_sink *sink = volume_sink(prhs[1], &plan);
    plhs[0] = mxCreateDoubleMatrix(0, 0, mxREAL);
    set_running(&w);
    status = call_library(&w, run_finish, (void *[]){fdk, sink});
  }
  set_running(NULL);
  check_watched(&w, status);
  (void)nlhs;
  (void)nrhs;
}

/* out = fdk_weight(key, views, projections) */
static void weight(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t count, *views = views_of(prhs[1], &count);
  purlin_tensor *in = borrow_dense("projections", prhs[2], 3);
  int64_t dims[3];
  check(purlin_tensor_shape(in, 3, dims, NULL));
  plhs[0] = new_single(dims);
  check(purlin_fdk_weight(fdk_argument(prhs[0]), NULL, count, views, in, around(plhs[0], 3, dims)));
  (void)nlhs;
  (void)nrhs;
}

/* out = fdk_filter(key, views, weighted) */
static void filter(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_fdk *fdk = fdk_argument(prhs[0]);
  int64_t count, *views = views_of(prhs[1], &count);
  purlin_tensor *in = borrow_dense("weighted", prhs[2], 3);
  int64_t dims[3];
  check(purlin_tensor_shape(in, 3, dims, NULL));
  dims[0] = info_of(fdk).filtered_columns;
  plhs[0] = new_single(dims);
  check(purlin_fdk_filter(fdk, NULL, count, views, in, around(plhs[0], 3, dims)));
  (void)nlhs;
  (void)nrhs;
}

/* volume = fdk_backproject(key, views, filtered, volume): the sum, in a new array, since MATLAB's arguments are values */
static void backproject(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_fdk *fdk = fdk_argument(prhs[0]);
  purlin_fdk_info plan = info_of(fdk);
  const int64_t dims[3] = {plan.nx, plan.ny, plan.nz};
  int64_t count, *views = views_of(prhs[1], &count);
  purlin_tensor *in = borrow_dense("filtered", prhs[2], 3);
  if (!mxIsSingle(prhs[3]) || (int64_t)mxGetNumberOfElements(prhs[3]) != dims[0] * dims[1] * dims[2])
    fail("invalidArgument", "volume: is not a single array of the grid's size");
  plhs[0] = mxDuplicateArray(prhs[3]);
  check(purlin_fdk_backproject(fdk, NULL, count, views, in, around(plhs[0], 3, dims)));
  (void)nlhs;
  (void)nrhs;
}

/* projections = fdk_ellipsoids(key, ellipsoids, columns, rows, views) */
static void ellipsoids(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const int64_t dims[3] = {integer_argument("columns", prhs[2], 1, INT32_MAX),
                           integer_argument("rows", prhs[3], 1, INT32_MAX),
                           integer_argument("views", prhs[4], 1, INT32_MAX)};
  purlin_tensor *list = borrow_dense("ellipsoids", prhs[1], 2);
  plhs[0] = new_single(dims);
  check(purlin_fdk_ellipsoids(fdk_argument(prhs[0]), NULL, list, around(plhs[0], 3, dims)));
  (void)nlhs;
  (void)nrhs;
}

static void ellipsoid_volume(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_fdk *fdk = fdk_argument(prhs[0]);
  purlin_fdk_info plan = info_of(fdk);
  const int64_t dims[3] = {plan.nx, plan.ny, plan.nz};
  purlin_tensor *list = borrow_dense("ellipsoids", prhs[1], 2);
  plhs[0] = new_single(dims);
  check(purlin_fdk_ellipsoid_volume(fdk, list, around(plhs[0], 3, dims)));
  (void)nlhs;
  (void)nrhs;
}

static void shepp_logan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const int64_t dims[2] = {8, 10};
  plhs[0] = mxCreateDoubleMatrix(8, 10, mxREAL);
  check(purlin_fdk_shepp_logan(scalar_argument("radius", prhs[0]), around(plhs[0], 2, dims)));
  (void)nlhs;
  (void)nrhs;
}

/* [lines, clamped] = fdk_log_transform(counts, i0, i0_image, dark, epsilon) */
static void log_transform(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tensor *counts = borrow_dense("counts", prhs[0], 3);
  int64_t dims[3], clamped = 0;
  if (mxGetNumberOfDimensions(prhs[0]) > 3) fail("invalidArgument", "counts: has more than 3 dimensions");
  check(purlin_tensor_shape(counts, 3, dims, NULL));
  plhs[0] = new_single(dims);
  check(purlin_fdk_log_transform(gateway_context(), NULL, counts, scalar_argument("i0", prhs[1]),
                                 image_of("i0_image", prhs[2]), image_of("dark", prhs[3]),
                                 scalar_argument("epsilon", prhs[4]), around(plhs[0], 3, dims), &clamped));
  if (nlhs > 1) plhs[1] = mxCreateDoubleScalar((double)clamped);
  (void)nrhs;
}

const command fdk_commands[] = {
  {"fdk_create", "geometry grid options", create},
  {"fdk_destroy", "key", destroy},
  {"fdk_plan", "key", plan},
  {"fdk_last_info", "key", last_info},
  {"fdk_weights", "key columns views", weights},
  {"fdk_set_counts", "key i0 i0_image dark epsilon", set_counts},
  {"fdk_reconstruct", "key projections output options", reconstruct},
  {"fdk_begin", "key", begin},
  {"fdk_push", "key views projections options", push},
  {"fdk_finish", "key output options", finish},
  {"fdk_weight", "key views projections", weight},
  {"fdk_filter", "key views weighted", filter},
  {"fdk_backproject", "key views filtered volume", backproject},
  {"fdk_ellipsoids", "key ellipsoids columns rows views", ellipsoids},
  {"fdk_ellipsoid_volume", "key ellipsoids", ellipsoid_volume},
  {"fdk_shepp_logan", "radius", shepp_logan},
  {"fdk_log_transform", "counts i0 i0_image dark epsilon", log_transform},
  {NULL, NULL, NULL},
};
