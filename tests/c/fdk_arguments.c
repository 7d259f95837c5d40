/* Cone-beam CT: every documented refusal once, by name; and cancellation, which is no refusal. */
#include "fdk.h"

static purlin_context *context;
static struct scan *scan;
static purlin_fdk *fdk;
static float volume[VOXELS], other[VOXELS];
static const int64_t voxels[3] = {NX, NY, NZ};

static purlin_tensor *volume_tensor(void) {
  return dense(context, PURLIN_F32, 3, voxels, volume);
}

/* One thing wrong with a geometry, a grid or the options at a time. */
static void creation(void) {
  purlin_fdk_geometry g = scan->geometry;
  purlin_fdk_grid grid = golden_grid();
  purlin_fdk_options o = fdk_options();
  purlin_fdk *made = NULL;
  purlin_fdk_info info;
  static double angles[MOST_VIEWS], matrices[MOST_VIEWS * 12];
  int n;
#define CREATE() purlin_fdk_create(context, &g, &grid, &o, &made)
#define BAD(text, change)         \
  do {                            \
    change;                       \
    BAD_ARGUMENT(text, CREATE()); \
    g = scan->geometry;           \
    grid = golden_grid();         \
    o = fdk_options();            \
  } while (0)
  BAD_HANDLE("context: is NULL", purlin_fdk_create(NULL, &g, &grid, &o, &made));
  BAD_ARGUMENT("geometry: is NULL", purlin_fdk_create(context, NULL, &grid, &o, &made));
  BAD_ARGUMENT("fdk: is NULL", purlin_fdk_create(context, &g, &grid, &o, NULL));
  /* Groups. */
  {
    purlin_context *second = test_context(1);
    const purlin_context *members[2];
    purlin_group *group = NULL;
    members[0] = second, members[1] = context;
    OK(purlin_group_create(2, members, NULL, &group));
    BAD("group: begins with another context", o.group = group);
    BAD_HANDLE("group: is a handle of another type", (o.group = (const purlin_group *)(const void *)context, CREATE()));
    o = fdk_options();
    OK(purlin_group_destroy(group));
    BAD_HANDLE("group: was destroyed", (o.group = group, CREATE()));
    o = fdk_options();
    OK(purlin_context_destroy(second));
  }
  BAD("geometry: struct_size is 0", g.struct_size = 0);
  BAD("grid: struct_size is 8", grid.struct_size = 8);
  BAD("options: struct_size is 4000", o.struct_size = 4000);
  BAD("detector_columns: is 1", g.detector_columns = 1);
  BAD("detector_columns: is -5", g.detector_columns = -5);
  BAD("detector_rows: is 0", g.detector_rows = 0);
  BAD("views: is 0", g.views = 0);
  BAD("views", g.views = INT64_MAX);
  BAD("reserved: is 1", g.reserved = 1);
  BAD("allow_inside_panel: is 2, 0 or 1 is needed", g.allow_inside_panel = 2);
  BAD("source_to_axis: is 0", g.source_to_axis = 0);
  BAD("source_to_axis: is NaN", g.source_to_axis = NAN);
  BAD("source_to_detector: is -1", g.source_to_detector = -1);
  BAD("source_to_detector: is 400, less than source_to_axis", g.source_to_detector = 400);
  BAD("column_pitch: is 0", g.column_pitch = 0);
  BAD("row_pitch: is inf", g.row_pitch = INFINITY);
  BAD("column_offset: is NaN", g.column_offset = NAN);
  BAD("row_offset: is NaN", g.row_offset = NAN);
  BAD("column_pitch: is 1e-40, outside 1e-12 to 1e12 mm", g.column_pitch = 1e-40);
  BAD("source_to_detector: is 1e30, outside 1e-12 to 1e12 mm", g.source_to_detector = 1e30);
  BAD("source_to_axis: is 1e-200, outside 1e-60 to 1e60 mm", g.source_to_axis = 1e-200);
  BAD("row_offset: is 1e17, more than 1000 times source_to_detector = 1000", g.row_offset = 1e17);
  BAD("dx: is 1e-20, outside 1e-12 to 1e12 mm", grid.dx = 1e-20);
  BAD("angles: and matrices are both NULL", g.angles = NULL);
  BAD("angles: and matrices are both given", g.matrices = g.angles);
#define MATRICES g.angles = NULL, g.matrices = matrices, g.source_to_axis = g.source_to_detector = g.row_pitch = 0
  BAD("column_offset: is 3, without effect", (MATRICES, g.column_offset = 3));
  BAD("row_offset: is -2, without effect", (MATRICES, g.row_offset = -2));
  BAD("allow_inside_panel: is 1, without effect", (MATRICES, g.allow_inside_panel = 1));
  BAD("source_to_axis: is 500, without effect", (MATRICES, g.source_to_axis = 500));
  BAD("source_to_detector: is 1000, without effect", (MATRICES, g.source_to_detector = 1000));
  BAD("dx: is 2.2, without effect on the standard grid", grid.nx = grid.ny = grid.nz = 0);
  BAD("z0: is -1, without effect", (memset(&grid.nx, 0, sizeof grid - sizeof grid.struct_size), grid.z0 = -1));
  memcpy(angles, g.angles, sizeof angles);
  angles[7] = NAN;
  BAD("angles: element 7 is NaN", g.angles = angles);
  /* 90 steps of a degree. */
  for (n = 0; n < MOST_VIEWS; n++) angles[n] = n * 3.14159265358979 / 180;
  BAD("angles: the arc is 89.00 degrees", g.angles = angles);
  g.angles = angles;
  o.allow_short_arc = 1;
  OK(CREATE());
  OK(purlin_fdk_destroy(made));
  made = NULL;
  /* Options that can have no effect, each by its name. */
  BAD("allow_short_arc: has no effect", (o.allow_short_arc = 1, o.redundancy = PURLIN_FDK_REDUNDANCY_NONE));
  BAD("allow_short_arc: has no effect", (o.allow_short_arc = 1, o.redundancy = PURLIN_FDK_REDUNDANCY_HALF_FAN));
#define RABBIT o.mode = PURLIN_FDK_MODE_RABBITCT
  BAD("window: has no effect in RabbitCT mode", (RABBIT, o.window = PURLIN_FDK_WINDOW_HANN));
  BAD("cutoff: has no effect in RabbitCT mode", (RABBIT, o.cutoff = 0.5));
  BAD("truncation: has no effect in RabbitCT mode", (RABBIT, o.truncation = 0.5));
  BAD("fft_length: has no effect in RabbitCT mode", (RABBIT, o.fft_length = 4096));
  BAD("allow_short_arc: has no effect in RabbitCT mode", (RABBIT, o.allow_short_arc = 1));
  BAD("redundancy: has no effect in RabbitCT mode", (RABBIT, o.redundancy = PURLIN_FDK_REDUNDANCY_SHORT));
  BAD("truncation: is 0.001, less than half of one of", o.truncation = 0.001);
  BAD("redundancy: is full, with a gap", (g.angles = angles, o.redundancy = PURLIN_FDK_REDUNDANCY_FULL));
  BAD("redundancy: is half fan", (g.angles = angles, o.redundancy = PURLIN_FDK_REDUNDANCY_HALF_FAN));
  /* 39.5 columns of 3 mm from the middle; 0.75 of them are beyond the axis. */
  BAD("redundancy: is half fan, but the panel of view 0 reaches 0.750 columns beyond the axis, less than 4.2",
      (g.column_offset = 116.25, o.redundancy = PURLIN_FDK_REDUNDANCY_HALF_FAN));
  BAD("redundancy: is half fan, but view 0", (g.column_offset = 500, o.redundancy = PURLIN_FDK_REDUNDANCY_HALF_FAN));
  BAD("matrices, view 0: is singular", (MATRICES, matrices[10] = 1, matrices[11] = 500));
  for (n = 0; n < 3; n++) matrices[5 * n] = matrices[12 + 5 * n] = 1, matrices[4 * n + 3] = matrices[15 + 4 * n] = 500;
  matrices[12] = NAN;
  BAD("matrices, view 1: has an entry that is not finite", (MATRICES));
  /* A row pitch given with matrices is compared with theirs: 500 / 1000 of a pixel pitch of 3 here. */
  for (n = 0; n < MOST_VIEWS; n++) {
    const double b = 2 * 3.14159265358979 * n / (double)g.views, depth[4] = {-cos(b), -sin(b), 0, 500};
    int k;
    for (k = 0; k < 4; k++) {
      matrices[12 * n + k] = 39.5 * depth[k] + (k < 2 ? 1000 / 3.0 * (k ? cos(b) : -sin(b)) : 0);
      matrices[12 * n + 4 + k] = 31.5 * depth[k] + (k == 2 ? 1000 / 3.5 : 0);
      matrices[12 * n + 8 + k] = depth[k];
    }
  }
  BAD("row_pitch: is 3, the matrix of view 0 holds 3.5", (MATRICES, g.column_pitch = 3, g.row_pitch = 3));
  BAD("row_pitch: is -3.5, a finite number above 0", (MATRICES, g.column_pitch = 3, g.row_pitch = -3.5));
  MATRICES;
  g.column_pitch = 3;
  g.row_pitch = 3.5;
  OK(CREATE());
  OK(purlin_fdk_destroy(made));
  made = NULL;
  g = scan->geometry;
  /* A panel between source and axis. */
  g.source_to_detector = 400;
  g.allow_inside_panel = 1;
  OK(CREATE());
  OK(purlin_fdk_destroy(made));
  made = NULL;
  g = scan->geometry;
  BAD("nx: is 0", grid.nx = 0);
  BAD("ny: is -3", grid.ny = -3);
  BAD("nx", grid.nx = INT64_MAX);
  BAD("nz: is 1048577, outside 1 to 1048576", grid.nz = 1048577);
  /* Planning so many slices is fast. */
  grid.nx = grid.ny = 1;
  grid.nz = 1048576;
  grid.dz = 1e-4;
  OK(CREATE());
  OK(purlin_fdk_destroy(made));
  made = NULL;
  grid = golden_grid();
  BAD("dy: is 0", grid.dy = 0);
  BAD("dz: is NaN", grid.dz = NAN);
  BAD("x0: is inf", grid.x0 = INFINITY);
  BAD("grid: reaches", grid.dx = 30);
  BAD("window: is 5", o.window = 5);
  BAD("redundancy: is -1", o.redundancy = -1);
  BAD("edge: is 2", o.edge = 2);
  BAD("interpolation: is 2", o.interpolation = 2);
  BAD("precision: is 2", o.precision = 2);
  BAD("mode: is 2", o.mode = 2);
  BAD("fov_mask: is 2, 0 or 1 is needed", o.fov_mask = 2);
  BAD("allow_missing: is -1, 0 or 1 is needed", o.allow_missing = -1);
  BAD("allow_short_arc: is 2, 0 or 1 is needed", o.allow_short_arc = 2);
  BAD("sanitize: is 2, 0 or 1 is needed", o.sanitize = 2);
  BAD("cutoff: is 0", o.cutoff = 0);
  BAD("cutoff: is 1.5, more than 0 and at most 1 is needed", o.cutoff = 1.5);
  BAD("cutoff: is 1e300, more than 0", o.cutoff = 1e300);
  BAD("cutoff: is NaN", o.cutoff = NAN);
  BAD("truncation: is 2", o.truncation = 2);
  BAD("output_scale: is NaN", o.output_scale = NAN);
  BAD("output_offset: is inf", o.output_offset = INFINITY);
  BAD("slab: is -1", o.slab = -1);
  BAD("view_batch: is -1", o.view_batch = -1);
  BAD("fft_length: is 100", o.fft_length = 100);
  BAD("fft_length: is 257", o.fft_length = 257);
#undef BAD
  CHECK(made == NULL);
  BAD_ARGUMENT("geometry: is NULL", purlin_fdk_geometry_init(NULL, sizeof g));
  BAD_ARGUMENT("grid: is NULL", purlin_fdk_grid_init(NULL, sizeof grid));
  BAD_ARGUMENT("options: is NULL", purlin_fdk_options_init(NULL, sizeof o));
  BAD_ARGUMENT("info: is NULL", purlin_fdk_info_init(NULL, sizeof info));
  BAD_ARGUMENT("info: struct_size is 8", purlin_fdk_info_init(&info, 8));
}

/* A tensor that does not fit in some way. */
#define WITH(make, call)            \
  do {                              \
    purlin_tensor *bad = (make);    \
    call;                           \
    OK(purlin_tensor_destroy(bad)); \
  } while (0)

static void arguments(void) {
  const purlin_fdk_geometry *g = &scan->geometry;
  int64_t nu = g->detector_columns, nv = g->detector_rows, n = g->views, first = 0, wrong[2] = {0, 90}, k;
  purlin_context *foreign = test_context(1);
  purlin_stream *stream = NULL;
  purlin_tensor *p = projections_of(context, scan), *v = volume_tensor(), *image = array2(context, PURLIN_F32, nu, nv, other);
  purlin_tensor *w = array3(context, PURLIN_F32, nu, nv, 1, other), *e, *one = array3(context, PURLIN_F32, nu, nv, 1, scan->projections);
  purlin_fdk_info info = fdk_info();
  double rows[10][8];
  OK(purlin_stream_create(foreign, &stream));
#define RECONSTRUCT(p, v) purlin_fdk_reconstruct(fdk, NULL, p, v, NULL)
  BAD_HANDLE("fdk: is NULL", purlin_fdk_reconstruct(NULL, NULL, p, v, NULL));
  BAD_HANDLE("projections: is NULL", RECONSTRUCT(NULL, v));
  BAD_HANDLE("volume: is NULL", RECONSTRUCT(p, NULL));
  BAD_HANDLE("volume: is a handle of another type", RECONSTRUCT(p, (purlin_tensor *)context));
  BAD_ARGUMENT("stream: belongs to another", purlin_fdk_reconstruct(fdk, stream, p, v, NULL));
  BAD_ARGUMENT("stream: belongs to another", purlin_fdk_begin(fdk, stream));
  info.struct_size = 3;
  BAD_ARGUMENT("info: struct_size is 3", purlin_fdk_reconstruct(fdk, NULL, p, v, &info));
  BAD_ARGUMENT("info: is NULL", purlin_fdk_plan(fdk, NULL));
  BAD_ARGUMENT("info: struct_size is 3", purlin_fdk_plan(fdk, &info));
  BAD_ARGUMENT("info: is NULL", purlin_fdk_last_info(fdk, NULL));
  BAD_ARGUMENT("info: struct_size is 3", purlin_fdk_last_info(fdk, &info));
  BAD_HANDLE("fdk: is NULL", purlin_fdk_last_info(NULL, &info));
  WITH(array3(context, PURLIN_F32, nv, nu, n, scan->projections), BAD_ARGUMENT("projections: has dim", RECONSTRUCT(bad, v)));
  WITH(array3(foreign, PURLIN_F32, nu, nv, n, scan->projections), BAD_ARGUMENT("projections: belongs", RECONSTRUCT(bad, v)));
  WITH(array3(context, PURLIN_I64, nu, nv, n / 2, scan->projections), BAD_ARGUMENT("projections", RECONSTRUCT(bad, v)));
  WITH(array3(context, PURLIN_F32, NX, NY, NZ - 1, volume), BAD_ARGUMENT("volume: has dim", RECONSTRUCT(p, bad)));
  WITH(array3(foreign, PURLIN_F32, NX, NY, NZ, volume), BAD_ARGUMENT("volume: belongs", RECONSTRUCT(p, bad)));
  WITH(array3(context, PURLIN_F32, NX, NY, NZ, scan->projections), BAD_ARGUMENT("volume: overlaps", RECONSTRUCT(p, bad)));
  {
    static double complex_values[2 * VOXELS];
    WITH(array3(context, PURLIN_CF64, NX, NY, NZ, complex_values), UNSUPPORTED("volume: is CF64", RECONSTRUCT(p, bad)));
  }
  /* Weights. */
  WITH(array2(context, PURLIN_F64, n, nu, volume), BAD_ARGUMENT("redundancy: has dim", purlin_fdk_weights(fdk, bad, NULL)));
  WITH(array2(context, PURLIN_F32, nu, n, volume), BAD_ARGUMENT("redundancy: is F32", purlin_fdk_weights(fdk, bad, NULL)));
  WITH(vector_of(context, PURLIN_F64, n + 1, volume), BAD_ARGUMENT("angular: has dim", purlin_fdk_weights(fdk, NULL, bad)));
  BAD_HANDLE("fdk: is NULL", purlin_fdk_weights(NULL, NULL, NULL));
  /* Counts. */
  BAD_ARGUMENT("i0: is -1", purlin_fdk_set_counts(fdk, -1, NULL, NULL, 0));
  BAD_ARGUMENT("i0: is NaN", purlin_fdk_set_counts(fdk, NAN, NULL, NULL, 0));
  BAD_ARGUMENT("i0: is 0", purlin_fdk_set_counts(fdk, 0, NULL, image, 0));
  BAD_ARGUMENT("epsilon: is -2", purlin_fdk_set_counts(fdk, 1000, NULL, NULL, -2));
  BAD_ARGUMENT("epsilon: is 1, without effect on line integrals", purlin_fdk_set_counts(fdk, 0, NULL, NULL, 1));
  BAD_ARGUMENT("epsilon: is 1e-300, outside", purlin_fdk_set_counts(fdk, 1000, NULL, NULL, 1e-300));
  BAD_ARGUMENT("i0: is inf", purlin_fdk_set_counts(fdk, INFINITY, NULL, NULL, 0));
  BAD_ARGUMENT("i0: is 1000, without effect beside i0_image", purlin_fdk_set_counts(fdk, 1000, image, NULL, 0));
  WITH(array2(context, PURLIN_F32, nv, nu, other), BAD_ARGUMENT("i0_image: has dim", purlin_fdk_set_counts(fdk, 0, bad, NULL, 0)));
  WITH(array2(context, PURLIN_U16, nu, nv, other), BAD_ARGUMENT("dark: is U16, F32 or F64 is needed", purlin_fdk_set_counts(fdk, 1, NULL, bad, 0)));
  BAD_ARGUMENT("i0: is -1", purlin_fdk_log_transform(context, NULL, one, -1, NULL, NULL, 0, w, NULL));
  WITH(array3(context, PURLIN_F32, nu, nv, 1, scan->projections), BAD_ARGUMENT("projections: overlaps", purlin_fdk_log_transform(context, NULL, one, 9, NULL, NULL, 0, bad, NULL)));
  WITH(array3(context, PURLIN_F32, nu, nv, 2, volume), BAD_ARGUMENT("projections: has dim", purlin_fdk_log_transform(context, NULL, one, 9, NULL, NULL, 0, bad, NULL)));
  WITH(vector_of(context, PURLIN_F32, nu, scan->projections), BAD_ARGUMENT("counts: has dim", purlin_fdk_log_transform(context, NULL, bad, 9, NULL, NULL, 0, w, NULL)));
  /* Steps. */
#define STEP(count, views, from, to)                                                          \
  (k == 0   ? purlin_fdk_weight(fdk, NULL, count, views, from, to)                            \
   : k == 1 ? purlin_fdk_filter(fdk, NULL, count, views, from, to)                            \
            : purlin_fdk_backproject(fdk, NULL, count, views, from, to))
  for (k = 0; k < 3; k++) {
    purlin_tensor *to = k == 2 ? v : w;
    OK(STEP(1, &first, one, to));
    BAD_ARGUMENT("count: is -1", STEP(-1, &first, one, to));
    BAD_ARGUMENT("views: is NULL", STEP(1, NULL, one, to));
    BAD_ARGUMENT("views: element 0 is 90", STEP(1, wrong + 1, one, to));
    BAD_HANDLE(k == 2 ? "volume: is NULL" : "is NULL", STEP(1, &first, one, NULL));
    BAD_ARGUMENT("has dimensions", STEP(1, &first, p, to));
    WITH(array3(context, PURLIN_F64, nu, nv, 1, scan->projections), BAD_ARGUMENT("is F64", STEP(1, &first, bad, to)));
    WITH(array3(foreign, PURLIN_F32, nu, nv, 1, scan->projections), BAD_ARGUMENT("another context", STEP(1, &first, bad, to)));
    BAD_ARGUMENT("has dimensions", STEP(1, &first, one, image));
  }
  WITH(array3(context, PURLIN_F32, nu, nv, 1, scan->projections + 1), { k = 0; BAD_ARGUMENT("weighted: overlaps", STEP(1, &first, one, bad)); });
  /* The test object. */
  e = array2(context, PURLIN_F64, 8, 10, rows);
  BAD_ARGUMENT("radius: is 0", purlin_fdk_shepp_logan(0, e));
  BAD_ARGUMENT("radius: is NaN", purlin_fdk_shepp_logan(NAN, e));
  WITH(array2(context, PURLIN_F64, 10, 8, volume), BAD_ARGUMENT("ellipsoids: has dim", purlin_fdk_shepp_logan(1, bad)));
  WITH(array2(context, PURLIN_F32, 8, 10, volume), BAD_ARGUMENT("ellipsoids: is F32", purlin_fdk_shepp_logan(1, bad)));
  OK(purlin_fdk_shepp_logan(45, e));
  rows[3][1] = 0;
  BAD_ARGUMENT("ellipsoids, column 3: has semi-axes", purlin_fdk_ellipsoid_volume(fdk, e, v));
  rows[3][1] = NAN;
  BAD_ARGUMENT("ellipsoids, column 3: has a number", purlin_fdk_ellipsoid_volume(fdk, e, v));
  OK(purlin_fdk_shepp_logan(45, e));
  BAD_ARGUMENT("projections: has dim", purlin_fdk_ellipsoids(fdk, NULL, e, v));
  BAD_ARGUMENT("volume: has dim", purlin_fdk_ellipsoid_volume(fdk, e, w));
  WITH(array2(context, PURLIN_F64, 7, 10, rows), BAD_ARGUMENT("ellipsoids: has dim", purlin_fdk_ellipsoid_volume(fdk, bad, v)));
  OK(purlin_stream_destroy(stream));
  OK(purlin_tensor_destroy(p));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(w));
  OK(purlin_tensor_destroy(e));
  OK(purlin_tensor_destroy(one));
  OK(purlin_tensor_destroy(image));
  OK(purlin_context_destroy(foreign));
}

static void pushing(void) {
  const purlin_fdk_geometry *g = &scan->geometry;
  int64_t nu = g->detector_columns, nv = g->detector_rows, views[3] = {4, 5, 4}, k;
  purlin_context *foreign = test_context(1);
  purlin_tensor *v = volume_tensor(), *one = array2(context, PURLIN_F32, nu, nv, scan->projections);
  purlin_tensor *three = array3(context, PURLIN_F32, nu, nv, 3, scan->projections);
  BAD_ARGUMENT("begin comes first", purlin_fdk_push(fdk, 1, views, one));
  BAD_ARGUMENT("begin comes first", purlin_fdk_finish(fdk, v, NULL));
  OK(purlin_fdk_begin(fdk, NULL));
  BAD_ARGUMENT("count: is -1", purlin_fdk_push(fdk, -1, views, one));
  BAD_ARGUMENT("views: is NULL", purlin_fdk_push(fdk, 1, NULL, one));
  BAD_HANDLE("projections: is NULL", purlin_fdk_push(fdk, 1, views, NULL));
  BAD_ARGUMENT("view 4", purlin_fdk_push(fdk, 3, views, three));
  views[2] = 90;
  BAD_ARGUMENT("90", purlin_fdk_push(fdk, 3, views, three));
  views[2] = -1;
  BAD_ARGUMENT("-1", purlin_fdk_push(fdk, 3, views, three));
  BAD_ARGUMENT("projections: has dim", purlin_fdk_push(fdk, 2, views, three));
  WITH(array2(foreign, PURLIN_F32, nu, nv, scan->projections), BAD_ARGUMENT("another context", purlin_fdk_push(fdk, 1, views, bad)));
  WITH(array2(context, PURLIN_I64, nu, nv, scan->projections), UNSUPPORTED("projections: is I64, integers of at most 32 bits or floating-point numbers are needed", purlin_fdk_push(fdk, 1, views, bad)));
  /* Nothing of these was taken. */
  OK(purlin_fdk_push(fdk, 1, views, one));
  BAD_ARGUMENT("is 4, which was pushed before", purlin_fdk_push(fdk, 1, views, one));
  WITH(array2(context, PURLIN_U16, nu, nv, scan->projections), BAD_ARGUMENT("projections: is U16", purlin_fdk_push(fdk, 1, views + 1, bad)));
  BAD_ARGUMENT("fdk", purlin_fdk_set_counts(fdk, 1000, NULL, NULL, 0));
  BAD_ARGUMENT("89 of 90 are missing, the first is view 0", purlin_fdk_finish(fdk, v, NULL));
  WITH(array3(context, PURLIN_F32, NX, NY, 5, other), BAD_ARGUMENT("volume: has dim", purlin_fdk_finish(fdk, bad, NULL)));
  BAD_HANDLE("volume: is NULL", purlin_fdk_finish_to_sink(fdk, NULL, NULL));
  /* The refused calls left the scan unchanged. */
  for (k = 0; k < g->views; k++)
    if (k != 4) OK(purlin_fdk_push(fdk, 1, &k, one));
  OK(purlin_fdk_finish(fdk, v, NULL));
  BAD_ARGUMENT("begin comes first", purlin_fdk_finish(fdk, v, NULL));
  /* Cancelled between two calls: the next one returns CANCELLED, and the scan is ended. */
  OK(purlin_fdk_begin(fdk, NULL));
  OK(purlin_fdk_push(fdk, 1, views, one));
  OK(purlin_fdk_cancel(fdk));
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_fdk_push(fdk, 1, views + 1, one));
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_fdk_push(fdk, 1, views + 1, one));
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_fdk_finish(fdk, v, NULL));
  OK(purlin_fdk_begin(fdk, NULL));
  OK(purlin_fdk_push(fdk, 1, views, one));
  OK(purlin_fdk_cancel(fdk));
  /* The error is CANCELLED, not the 89 missing views. */
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_fdk_finish(fdk, v, NULL));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(one));
  OK(purlin_tensor_destroy(three));
  OK(purlin_context_destroy(foreign));
}

/* Calls that a progress function may and may not make. */
static purlin_fdk *running;
static int reports, mode;

static int32_t watch(int64_t step, int64_t steps, double measure, void *user) {
  purlin_fdk_info info = fdk_info();
  CHECK(user == &reports && step <= steps && measure == 0);
  reports++;
  OK(purlin_fdk_plan(running, &info));
  FAILS(PURLIN_ERROR_BUSY, "fdk: is in use", purlin_fdk_begin(running, NULL));
  if (mode == 1) OK(purlin_fdk_cancel(running));
  if (mode == 2) OK(purlin_context_cancel(context));
  return mode == 3;
}

static int64_t last_step, all_steps;

static int32_t views_done(int64_t step, int64_t steps, double measure, void *user) {
  /* A batch that takes long repeats the last report. */
  CHECK(step >= last_step && step <= steps && measure == 0);
  last_step = step;
  all_steps = steps;
  return step >= *(const int64_t *)user;
}

/* Pushes report their views out of all of the scan, and stop it when the function asks for it. */
static void pushes_report(void) {
  int64_t views[MOST_VIEWS], k, stop = MOST_VIEWS + 1;
  purlin_tensor *p = projections_of(context, scan), *v = volume_tensor();
  purlin_fdk_options o = fdk_options();
  purlin_fdk_info info = fdk_info();
  purlin_fdk *fdk;
  o.progress = views_done;
  o.progress_user = &stop;
  fdk = make_fdk(context, scan, &o);
  for (k = 0; k < scan->geometry.views; k++) views[k] = k;
  OK(purlin_fdk_begin(fdk, NULL));
  last_step = 0;
  OK(purlin_fdk_push(fdk, scan->geometry.views, views, p));
  CHECK(last_step == scan->geometry.views && all_steps == scan->geometry.views);
  OK(purlin_fdk_plan(fdk, &info));
  CHECK(info.views_pushed == scan->geometry.views);
  last_step = -1;
  OK(purlin_fdk_finish(fdk, v, NULL));
  memcpy(other, volume, sizeof other);
  OK(purlin_fdk_begin(fdk, NULL));
  last_step = 0;
  stop = 1;
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_fdk_push(fdk, scan->geometry.views, views, p));
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_fdk_finish(fdk, v, NULL));
  stop = MOST_VIEWS + 1;
  OK(purlin_fdk_begin(fdk, NULL));
  last_step = 0;
  OK(purlin_fdk_push(fdk, scan->geometry.views, views, p));
  last_step = -1;
  OK(purlin_fdk_finish(fdk, v, NULL));
  CHECK(memcmp(volume, other, sizeof volume) == 0);
  OK(purlin_fdk_destroy(fdk));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(p));
}

static void cancelling(void) {
  purlin_tensor *p = projections_of(context, scan), *v = volume_tensor();
  purlin_fdk_options o = fdk_options();
  o.progress = watch;
  o.progress_user = &reports;
  o.view_batch = 8;
  running = make_fdk(context, scan, &o);
  OK(purlin_fdk_reconstruct(running, NULL, p, v, NULL));
  CHECK(reports > 0);
  memcpy(other, volume, sizeof other);
  for (mode = 1; mode < 4; mode++)
    FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_fdk_reconstruct(running, NULL, p, v, NULL));
  mode = 0;
  memset(volume, 0xff, sizeof volume);
  OK(purlin_fdk_reconstruct(running, NULL, p, v, NULL));
  CHECK(memcmp(volume, other, sizeof volume) == 0);
  /* A cancellation while nothing runs cancels nothing later. */
  OK(purlin_fdk_cancel(running));
  OK(purlin_fdk_reconstruct(running, NULL, p, v, NULL));
  BAD_HANDLE("fdk: is NULL", purlin_fdk_cancel(NULL));
  OK(purlin_fdk_destroy(running));
  BAD_HANDLE("fdk: was destroyed", purlin_fdk_cancel(running));
  BAD_HANDLE("fdk: was destroyed", purlin_fdk_destroy(running));
  OK(purlin_fdk_destroy(NULL));
  OK(purlin_tensor_destroy(p));
  OK(purlin_tensor_destroy(v));
}

int main(void) {
  context = test_context(2);
  scan = load_scan("full");
  fdk = make_fdk(context, scan, NULL);
  creation();
  arguments();
  pushing();
  pushes_report();
  cancelling();
  OK(purlin_fdk_destroy(fdk));
  free_scan(scan);
  OK(purlin_context_destroy(context));
  return finish();
}
