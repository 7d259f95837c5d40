/* The weights that purlin_fdk_weights reports are those that a scan is reconstructed with. */
#include <float.h>
#include <math.h>

#include "check.h"

/* Parker's weights end between two views of an arc that exceeds 180 degrees by less than a step. The weights that are
   reported are the scaled ones, which the reconstruction uses: a view of ones adds its angular weight on the
   axis, times the magnification, since filtered views are in the pitch of the panel. */
static void scaled_weights(const purlin_context *context) {
  static const struct {
    int64_t views;
    double arc;
  } arcs[] = {{5, 201.6}, {9, 192.0}, {9, 195.0}, {61, 182.5}};
  enum { COLUMNS = 7, MOST = 61 };
  purlin_fdk_options options;
  purlin_fdk_grid grid;
  size_t k;
  int64_t n;
  OK(purlin_fdk_options_init(&options, sizeof options));
  options.redundancy = PURLIN_FDK_REDUNDANCY_SHORT;
  OK(purlin_fdk_grid_init(&grid, sizeof grid));
  grid.nx = grid.ny = grid.nz = 1;
  grid.dx = grid.dy = grid.dz = 1;
  for (k = 0; k < sizeof arcs / sizeof arcs[0]; k++) {
    const double pi = 3.14159265358979324, magnification = 2;
    double angles[MOST], ray[MOST * COLUMNS], angular[MOST], sum = 0;
    float ones[COLUMNS] = {1, 1, 1, 1, 1, 1, 1};
    purlin_fdk_geometry g;
    purlin_fdk *fdk = NULL;
    purlin_tensor *r, *a;
    OK(purlin_fdk_geometry_init(&g, sizeof g));
    g.source_to_axis = 500, g.source_to_detector = magnification * 500;
    g.column_pitch = g.row_pitch = 2;
    g.detector_columns = COLUMNS, g.detector_rows = 1;
    g.views = arcs[k].views, g.angles = angles;
    for (n = 0; n < g.views; n++) angles[n] = (double)n * arcs[k].arc / (double)(g.views - 1) * pi / 180;
    OK(purlin_fdk_create(context, &g, &grid, &options, &fdk));
    r = array2(context, PURLIN_F64, COLUMNS, g.views, ray);
    a = vector_of(context, PURLIN_F64, g.views, angular);
    OK(purlin_fdk_weights(fdk, r, a));
    for (n = 0; n < g.views; n++) sum += angular[n] * ray[n * COLUMNS + COLUMNS / 2];
    CHECK(fabs(sum - pi) < 1e-12);
    for (n = 0; n < g.views; n++) {
      float voxel = 0;
      purlin_tensor *view = array3(context, PURLIN_F32, COLUMNS, 1, 1, ones);
      purlin_tensor *volume_of_one = array3(context, PURLIN_F32, 1, 1, 1, &voxel);
      OK(purlin_fdk_backproject(fdk, NULL, 1, &n, view, volume_of_one));
      CHECK(fabs((double)voxel - magnification * angular[n]) < 8 * FLT_EPSILON * magnification * angular[n]);
      OK(purlin_tensor_destroy(view));
      OK(purlin_tensor_destroy(volume_of_one));
    }
    OK(purlin_tensor_destroy(r));
    OK(purlin_tensor_destroy(a));
    OK(purlin_fdk_destroy(fdk));
  }
}

int main(void) {
  purlin_context *context = test_context(2);
  scaled_weights(context);
  OK(purlin_context_destroy(context));
  return finish();
}
