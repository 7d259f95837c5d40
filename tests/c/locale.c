/* A host whose numbers have a decimal comma: the library reads and writes a point. */
#define _DEFAULT_SOURCE
#include <locale.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "folder.h"

static void put(const char *name, const void *bytes, size_t count) {
  FILE *file = fopen(in_folder(name), "wb");
  CHECK(file && fwrite(bytes, 1, count, file) == count);
  if (file) fclose(file);
}

static const char *contents(const char *name) {
  static char text[4096];
  FILE *file = fopen(in_folder(name), "rb");
  text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
  if (file) fclose(file);
  return text;
}

/* The numbers of a locale as glibc's localedef compiles them (decimal comma, point between thousands), so that the test does
   not depend on the locales that are installed. */
static int set_comma(void) {
  static const unsigned char numeric[] = {
      0x14, 0x11, 3, 0x20, 6, 0, 0, 0, 0x20, 0, 0, 0, 0x22, 0, 0, 0, 0x24, 0, 0, 0, 0x28, 0, 0, 0, 0x2c, 0, 0, 0, 0x30, 0, 0, 0,
      ',', 0, '.', 0, 3, 3, 0, 0, ',', 0, 0, 0, '.', 0, 0, 0, 'A', 'N', 'S', 'I', '_', 'X', '3', '.', '4', '-', '1', '9', '6', '8', 0};
  const char *others[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"};
  char text[16];
  size_t i;
  CHECK(mkdir(in_folder("comma"), 0700) == 0);
  put("comma/LC_NUMERIC", numeric, sizeof numeric);
  setenv("LOCPATH", folder, 1);
  if (!setlocale(LC_NUMERIC, "comma")) {
    unsetenv("LOCPATH");
    for (i = 0; i < COUNT(others) && !setlocale(LC_ALL, others[i]); i++) continue;
  }
  CHECK(remove(in_folder("comma/LC_NUMERIC")) == 0 && rmdir(in_folder("comma")) == 0);
  snprintf(text, sizeof text, "%.1f", 1.5);
  return strcmp(text, "1,5") == 0;
}

static void market(purlin_context *context) {
  const char *text = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.5\n2 2 -2.25e-3\n1 2 1e3\n";
  purlin_matrix *a = NULL, *b = NULL;
  double x[2] = {1, 1}, y[2] = {0, 0};
  purlin_tensor *from = vector_of(context, PURLIN_F64, 2, x), *to = vector_of(context, PURLIN_F64, 2, y);
  purlin_spmv *plan = NULL;
  put("a.mtx", text, strlen(text));
  OK(purlin_matrix_read_market(context, in_folder("a.mtx"), PURLIN_F64, &a));
  OK(purlin_matrix_write_market(a, in_folder("b.mtx"), 0));
  CHECK(strstr(contents("b.mtx"), "1.5") && !strchr(contents("b.mtx"), ','));
  OK(purlin_matrix_read_market(context, in_folder("b.mtx"), PURLIN_F64, &b));
  OK(purlin_spmv_create(b, NULL, &plan));
  OK(purlin_spmv_apply(plan, NULL, NULL, b, from, NULL, to));
  CHECK(y[0] == 1001.5 && y[1] == -2.25e-3);
  OK(purlin_spmv_destroy(plan));
  OK(purlin_matrix_destroy(b));
  put("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1,5\n", 61);
  b = NULL;
  CHECK(purlin_matrix_read_market(context, in_folder("a.mtx"), PURLIN_F64, &b) == PURLIN_ERROR_IO && b == NULL);

  OK(purlin_matrix_write_edges(a, in_folder("b.mtx"), 0));
  CHECK(strstr(contents("b.mtx"), "1.5") && !strchr(contents("b.mtx"), ','));
  OK(purlin_matrix_read_edges(context, in_folder("b.mtx"), PURLIN_F64, 1, 0, &b, NULL));
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_destroy(a));
  OK(purlin_tensor_destroy(from));
  OK(purlin_tensor_destroy(to));
  CHECK(remove(in_folder("a.mtx")) == 0 && remove(in_folder("b.mtx")) == 0);
}

/* A header of text, read and written. */
static void metaimage(purlin_context *context) {
  const char *header = "ObjectType = Image\nNDims = 2\nDimSize = 2 1\nElementSpacing = 0.5 2.25\nOffset = -1.5 7e-1\n"
                       "ElementType = MET_UCHAR\nElementDataFile = LOCAL\nab";
  purlin_source *source = NULL;
  purlin_array_info info;
  put("a.mha", header, strlen(header));
  OK(purlin_array_info_init(&info, sizeof info));
  OK(purlin_source_from_metaimage(context, in_folder("a.mha"), &source));
  OK(purlin_source_info(source, &info));
  CHECK(info.spacing[0] == 0.5 && info.spacing[1] == 2.25 && info.origin[0] == -1.5 && info.origin[1] == 0.7);
  OK(purlin_source_destroy(source));
  CHECK(remove(in_folder("a.mha")) == 0);
}

/* A volume of one voxel, so that the header's numbers are seen. */
static void sink(purlin_context *context) {
  static const double angles[4] = {0, 1.5707963267948966, 3.141592653589793, 4.71238898038469};
  static float views[4 * 9];
  const int64_t cube[3] = {2, 2, 2};
  const double spacing[3] = {0.5, 0.25, 1.5}, origin[3] = {-0.25, -0.125, 0.75};
  purlin_fdk_geometry g;
  purlin_fdk_grid grid;
  purlin_fdk *fdk = NULL;
  purlin_tensor *projections = array3(context, PURLIN_F32, 3, 3, 4, views);
  purlin_source *source = NULL;
  purlin_sink *volume = NULL;
  OK(purlin_fdk_geometry_init(&g, sizeof g));
  OK(purlin_fdk_grid_init(&grid, sizeof grid));
  g.source_to_axis = 100, g.source_to_detector = 200, g.column_pitch = g.row_pitch = 4;
  g.detector_columns = g.detector_rows = 3, g.views = 4, g.angles = angles;
  grid.nx = grid.ny = grid.nz = 2;
  grid.dx = 0.5, grid.dy = 0.25, grid.dz = 1.5, grid.x0 = -0.25, grid.y0 = -0.125, grid.z0 = 0.75;
  OK(purlin_fdk_create(context, &g, &grid, NULL, &fdk));
  OK(purlin_source_from_tensor(context, projections, &source));
  OK(purlin_sink_to_metaimage(context, in_folder("v.mha"), PURLIN_F32, 3, cube, spacing, origin, &volume));
  OK(purlin_fdk_reconstruct_to_sink(fdk, NULL, source, volume, NULL));
  CHECK(strstr(contents("v.mha"), "0.5 0.25 1.5") && strstr(contents("v.mha"), "-0.25 -0.125 0.75"));
  OK(purlin_sink_destroy(volume));
  OK(purlin_source_destroy(source));
  OK(purlin_fdk_destroy(fdk));
  OK(purlin_tensor_destroy(projections));
  CHECK(remove(in_folder("v.mha")) == 0);
}

/* Numbers in messages, too. */
static void messages(purlin_context *context) {
  static int32_t offsets[2] = {0, 1};
  double x[1] = {1}, y[1];
  purlin_tensor *a = vector_of(context, PURLIN_F64, 1, y);
  purlin_matrix *m = NULL;
  purlin_lanczos_options o;
  OK(purlin_lanczos_options_init(&o, sizeof o));
  o.count = 1;
  o.tolerance = -1.5;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, 1, 1, 1, PURLIN_I32, offsets, PURLIN_I32, offsets, x, &m));
  BAD_ARGUMENT("-1.5", purlin_lanczos_solve_once(context, NULL, m, NULL, NULL, NULL, &o, a, NULL, NULL, NULL));
  OK(purlin_matrix_destroy(m));
  OK(purlin_tensor_destroy(a));
}

int main(void) {
  purlin_context *context;
  if (!mkdtemp(folder)) return 1;
  if (set_comma()) {
    context = cpu_context(1);
    market(context);
    metaimage(context);
    sink(context);
    messages(context);
    OK(purlin_context_destroy(context));
    /* The host's locale is unchanged. */
    CHECK(localeconv()->decimal_point[0] == ',');
  } else {
    printf("no locale with a decimal comma: nothing is tested\n");
#ifdef __GLIBC__
    CHECK(!"glibc takes the numbers of this test");
#endif
  }
  CHECK(rmdir(folder) == 0);
  return finish();
}
