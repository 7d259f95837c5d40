/* Sources and sinks: one golden scan through tensors, raw files, MetaImages, TIFF files and callers' functions; the files
 * that a failed, cancelled or unused run leaves. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fdk.h"

static purlin_context *context;
static struct scan *scan;
static purlin_fdk *fdk;
static float wanted[VOXELS], found[VOXELS];
static int64_t panels[3], voxels[3] = {NX, NY, NZ};
static char folder[] = "/tmp/purlin-XXXXXX";

/* A name in the test's own folder. */
static const char *in_folder(const char *name) {
  static char paths[4][128];
  static int turn = 0;
  turn = (turn + 1) % 4;
  snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
  return paths[turn];
}

/* Number of files in the folder, provisional ones too. */
static int files(void) {
  DIR *dir = opendir(folder);
  struct dirent *entry;
  int count = 0;
  while (dir && (entry = readdir(dir)) != NULL) count += entry->d_name[0] != '.';
  if (dir) closedir(dir);
  return count;
}

static void removed(const char *name) {
  CHECK(remove(in_folder(name)) == 0);
}

/* `bytes` bytes behind `head`; either may be none. */
static void store(const char *name, const char *head, size_t head_bytes, const void *data, size_t bytes) {
  FILE *file = fopen(in_folder(name), "wb");
  CHECK(file && (head_bytes == 0 || fwrite(head, 1, head_bytes, file) == head_bytes));
  CHECK(file && (bytes == 0 || fwrite(data, 1, bytes, file) == bytes));
  if (file) fclose(file);
}

static void load(const char *name, long offset, void *data, size_t bytes) {
  FILE *file = fopen(in_folder(name), "rb");
  CHECK(file && fseek(file, offset, SEEK_SET) == 0 && fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF);
  if (file) fclose(file);
}

static purlin_sink *tensor_sink(purlin_tensor **tensor) {
  purlin_sink *sink = NULL;
  *tensor = dense(context, PURLIN_F32, 3, voxels, found);
  OK(purlin_sink_to_tensor(context, *tensor, &sink));
  return sink;
}

/* The volume of a source is the wanted one, bit for bit. */
static void gives_the_volume(purlin_source *source) {
  purlin_tensor *tensor;
  purlin_sink *sink = tensor_sink(&tensor);
  memset(found, 0xff, sizeof found);
  OK(purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  CHECK(memcmp(found, wanted, sizeof wanted) == 0);
  OK(purlin_sink_destroy(sink));
  OK(purlin_tensor_destroy(tensor));
}

static void put_big_endian(unsigned char *to, uint64_t bits, int bytes) {
  int k;
  for (k = 0; k < bytes; k++) to[k] = (unsigned char)(bits >> 8 * (bytes - 1 - k));
}

static void tensors_and_raw_files(void) {
  purlin_source *source = NULL;
  purlin_tensor *t = projections_of(context, scan);
  purlin_array_info info;
  unsigned char *swapped = malloc(scan->pixels * 8), head[123];
  size_t k;
  memset(head, 7, sizeof head);
  OK(purlin_source_from_tensor(context, t, &source));
  /* The source keeps the tensor. */
  OK(purlin_tensor_destroy(t));
  gives_the_volume(source);
  gives_the_volume(source);
  OK(purlin_array_info_init(&info, sizeof info));
  OK(purlin_source_info(source, &info));
  CHECK(info.dtype == PURLIN_F32 && info.ndim == 3 && memcmp(info.dims, panels, sizeof panels) == 0);
  CHECK(info.dims[3] == 1 && isnan(info.spacing[0]) && isnan(info.origin[3]));
  CHECK(info.bytes == (int64_t)(scan->pixels * sizeof(float)));
  OK(purlin_source_destroy(source));

  store("scan.raw", (const char *)head, sizeof head, scan->projections, scan->pixels * sizeof(float));
  OK(purlin_source_from_file(context, in_folder("scan.raw"), 123, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 3, panels, &source));
  gives_the_volume(source);
  OK(purlin_source_destroy(source));
  removed("scan.raw");

  for (k = 0; k < scan->pixels; k++) {
    double value = (double)scan->projections[k];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_big_endian(swapped + 8 * k, bits, 8);
  }
  store("scan.big", (const char *)head, 0, swapped, scan->pixels * 8);
  OK(purlin_source_from_file(context, in_folder("scan.big"), 0, PURLIN_F64, PURLIN_BIG_ENDIAN, 3, panels, &source));
  gives_the_volume(source);
  OK(purlin_source_destroy(source));
  removed("scan.big");
  free(swapped);
}

static void metaimage_source(void) {
  char head[512];
  purlin_source *source = NULL;
  purlin_array_info info;
  int length = snprintf(head, sizeof head,
                        "ObjectType = Image\nNDims = 3\nBinaryData = True\nElementSpacing = 3 3.5 1\nOffset = -1 2 0.5\n"
                        "DimSize = %d %d %d\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
                        (int)panels[0], (int)panels[1], (int)panels[2]);
  store("scan.mha", head, (size_t)length, scan->projections, scan->pixels * sizeof(float));
  OK(purlin_source_from_metaimage(context, in_folder("scan.mha"), &source));
  gives_the_volume(source);
  OK(purlin_array_info_init(&info, sizeof info));
  OK(purlin_source_info(source, &info));
  CHECK(info.spacing[1] == 3.5 && info.origin[2] == 0.5 && isnan(info.spacing[3]));
  OK(purlin_source_destroy(source));
  removed("scan.mha");
}

/* Appends a little-endian number to a file. */
static void put(FILE *file, uint32_t value, int bytes) {
  int k;
  for (k = 0; k < bytes; k++) fputc((int)(value >> 8 * k & 0xff), file);
}

static void entry(FILE *file, uint32_t tag, uint32_t type, uint32_t value) {
  put(file, tag, 2);
  put(file, type, 2);
  put(file, 1, 4);
  put(file, value, 4);
}

/* A TIFF of our own making: pages of one strip each, 32-bit floats. */
static void write_tiff(const char *name, const float *pages, int64_t count) {
  FILE *file = fopen(in_folder(name), "wb");
  size_t page = (size_t)(panels[0] * panels[1]);
  uint32_t bytes = (uint32_t)(page * sizeof(float)), directory = 2 + 10 * 12 + 4, at = 8;
  int64_t n;
  if (!file) exit(1);
  fputs("II", file);
  put(file, 42, 2);
  put(file, at, 4);
  for (n = 0; n < count; n++) {
    put(file, 10, 2);
    entry(file, 256, 4, (uint32_t)panels[0]);
    entry(file, 257, 4, (uint32_t)panels[1]);
    entry(file, 258, 3, 32);
    entry(file, 259, 3, 1);
    entry(file, 262, 3, 1);
    entry(file, 273, 4, at + directory);
    entry(file, 277, 3, 1);
    entry(file, 278, 4, (uint32_t)panels[1]);
    entry(file, 279, 4, bytes);
    entry(file, 339, 3, 3);
    at += directory + bytes;
    put(file, n + 1 < count ? at : 0, 4);
    CHECK(fwrite(pages + (size_t)n * page, sizeof(float), page, file) == page);
  }
  fclose(file);
}

static void tiff_source(void) {
  const char *names[3], *broken[2];
  char first[128], second[128], third[128];
  size_t page = (size_t)(panels[0] * panels[1]);
  purlin_source *source = NULL;
  write_tiff("a.tif", scan->projections, 1);
  write_tiff("b.tif", scan->projections + page, 50);
  write_tiff("c.tif", scan->projections + 51 * page, panels[2] - 51);
  names[0] = strcpy(first, in_folder("a.tif"));
  names[1] = strcpy(second, in_folder("b.tif"));
  names[2] = strcpy(third, in_folder("c.tif"));
  OK(purlin_source_from_tiff(context, 3, names, &source));
  gives_the_volume(source);
  OK(purlin_source_destroy(source));
  broken[0] = names[0], broken[1] = NULL;
  source = NULL;
  BAD_ARGUMENT("count: is 0", purlin_source_from_tiff(context, 0, names, &source));
  BAD_ARGUMENT("count: is -1", purlin_source_from_tiff(context, -1, names, &source));
  BAD_ARGUMENT("paths: is NULL", purlin_source_from_tiff(context, 1, NULL, &source));
  BAD_ARGUMENT("paths, element 1: is NULL", purlin_source_from_tiff(context, 2, broken, &source));
  BAD_ARGUMENT("source: is NULL", purlin_source_from_tiff(context, 1, names, NULL));
  broken[1] = in_folder("none.tif");
  FAILS(PURLIN_ERROR_IO, "none.tif", purlin_source_from_tiff(context, 2, broken, &source));
  store("d.tif", "no TIFF at all", 14, NULL, 0);
  broken[1] = in_folder("d.tif");
  FAILS(PURLIN_ERROR_IO, "d.tif", purlin_source_from_tiff(context, 2, broken, &source));
  CHECK(source == NULL);
  removed("a.tif"), removed("b.tif"), removed("c.tif"), removed("d.tif");
}

/* A caller's scan and volume. */
static int32_t answer;
static int calls;

static int32_t deliver(const int64_t *first, const int64_t *count, void *block, void *user) {
  float *to = block;
  int64_t j, k;
  CHECK(user == scan && (uintptr_t)block % sizeof(float) == 0);
  calls++;
  for (k = 0; k < count[2]; k++)
    for (j = 0; j < count[1]; j++) {
      size_t row = (size_t)((first[2] + k) * panels[1] + first[1] + j);
      memcpy(to, scan->projections + row * (size_t)panels[0] + first[0], (size_t)count[0] * sizeof(float));
      to += count[0];
    }
  return first[2] > 20 ? answer : 0;
}

static int32_t take(const int64_t *first, const int64_t *count, const void *block, void *user) {
  size_t slice = NX * NY;
  CHECK(user == found && first[0] == 0 && first[1] == 0 && count[0] == NX && count[1] == NY);
  CHECK(first[2] >= 0 && count[2] >= 1 && first[2] + count[2] <= NZ);
  memcpy(found + (size_t)first[2] * slice, block, (size_t)count[2] * slice * sizeof(float));
  return answer;
}

static int32_t cancel_inside(const int64_t *first, const int64_t *count, void *block, void *user) {
  if (first[2] > 20) OK(purlin_fdk_cancel(fdk));
  return deliver(first, count, block, user);
}

static void callbacks(void) {
  purlin_source *source = NULL, *cancelling = NULL;
  purlin_sink *sink = NULL;
  purlin_tensor *tensor;
  OK(purlin_source_from_callback(context, PURLIN_F32, 3, panels, deliver, scan, &source));
  OK(purlin_source_from_callback(context, PURLIN_F32, 3, panels, cancel_inside, scan, &cancelling));
  gives_the_volume(source);
  CHECK(calls > 0);
  OK(purlin_sink_to_callback(context, PURLIN_F32, 3, voxels, take, found, &sink));
  memset(found, 0xff, sizeof found);
  OK(purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  CHECK(memcmp(found, wanted, sizeof wanted) == 0);
  BAD_ARGUMENT("volume: was used", purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  OK(purlin_sink_destroy(sink));

  answer = 17;
  sink = tensor_sink(&tensor);
  FAILS(PURLIN_ERROR_IO, "read: returned 17", purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  BAD_ARGUMENT("volume: was used", purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  OK(purlin_sink_destroy(sink));
  OK(purlin_tensor_destroy(tensor));
  answer = 0;
  gives_the_volume(source);

  /* From the reader's thread, while the call runs. */
  sink = tensor_sink(&tensor);
  FAILS(PURLIN_ERROR_CANCELLED, "cancelled", purlin_fdk_reconstruct_to_sink(fdk, NULL, cancelling, sink, NULL));
  OK(purlin_sink_destroy(sink));
  OK(purlin_tensor_destroy(tensor));
  gives_the_volume(source);

  answer = -4;
  calls = 0;
  tensor = projections_of(context, scan);
  OK(purlin_source_destroy(source));
  OK(purlin_source_from_tensor(context, tensor, &source));
  OK(purlin_sink_to_callback(context, PURLIN_F32, 3, voxels, take, found, &sink));
  FAILS(PURLIN_ERROR_IO, "write: returned -4", purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  OK(purlin_sink_destroy(sink));
  OK(purlin_tensor_destroy(tensor));
  answer = 0;
  gives_the_volume(source);
  OK(purlin_source_destroy(source));
  OK(purlin_source_destroy(cancelling));
}

static const double spacing[3] = {2.2, 2.4, 2.0}, origin[3] = {-51.7, -51.6, -35.0};
static const char *const outputs[] = {"plain.raw", "volume.mha", "volume.mhd", "volume.tif"};

static purlin_sink *file_sink(int kind) {
  const char *path = in_folder(outputs[kind]);
  purlin_sink *sink = NULL;
  if (kind == 0)
    OK(purlin_sink_to_file(context, path, 100, PURLIN_F32, PURLIN_BIG_ENDIAN, 3, voxels, &sink));
  else if (kind < 3)
    OK(purlin_sink_to_metaimage(context, path, PURLIN_F32, 3, voxels, spacing, origin, &sink));
  else
    OK(purlin_sink_to_tiff(context, path, PURLIN_F32, NX, NY, NZ, &sink));
  CHECK(access(path, F_OK) != 0);
  return sink;
}

/* A MetaImage without spacing and origin takes those of the grid that is written to it. */
static void placed_by_the_grid(const struct scan *s) {
  const char *path = in_folder("placed.mha");
  purlin_sink *sink = NULL;
  purlin_source *back = NULL;
  purlin_array_info info;
  purlin_fdk *fdk = make_fdk(context, s, NULL);
  purlin_tensor *p = projections_of(context, s);
  purlin_source *source = NULL;
  OK(purlin_source_from_tensor(context, p, &source));
  OK(purlin_sink_to_metaimage(context, path, PURLIN_F32, 3, voxels, NULL, NULL, &sink));
  OK(purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  OK(purlin_sink_destroy(sink));
  OK(purlin_source_destroy(source));
  OK(purlin_source_from_metaimage(context, path, &back));
  OK(purlin_array_info_init(&info, sizeof info));
  OK(purlin_source_info(back, &info));
  CHECK(memcmp(info.spacing, spacing, sizeof spacing) == 0 && memcmp(info.origin, origin, sizeof origin) == 0);
  OK(purlin_source_destroy(back));
  CHECK(remove(path) == 0);
  OK(purlin_tensor_destroy(p));
  OK(purlin_fdk_destroy(fdk));
}

/* A run over any array of the volume's sizes, as if they were a scan's. */
static void run_over(purlin_source *source, float *result) {
  struct scan *s = calloc(1, sizeof *s);
  purlin_fdk_grid grid;
  purlin_fdk *over = NULL;
  purlin_sink *sink = NULL;
  int64_t dims[3] = {8, 8, 8};
  purlin_tensor *t = dense(context, PURLIN_F32, 3, dims, result);
  if (!s) exit(1);
  orbit(s, NX, NY, 3, 3, 0, NZ, 10);
  OK(purlin_fdk_grid_init(&grid, sizeof grid));
  grid.nx = grid.ny = grid.nz = 8;
  grid.dx = grid.dy = grid.dz = 6;
  grid.x0 = grid.y0 = grid.z0 = -21;
  OK(purlin_fdk_create(context, &s->geometry, &grid, NULL, &over));
  OK(purlin_sink_to_tensor(context, t, &sink));
  OK(purlin_fdk_reconstruct_to_sink(over, NULL, source, sink, NULL));
  OK(purlin_sink_destroy(sink));
  OK(purlin_fdk_destroy(over));
  OK(purlin_tensor_destroy(t));
  free(s);
}

/* A finished file contains the volume. */
static void holds_the_volume(int kind) {
  static float from_file[512], from_memory[512];
  unsigned char *bytes = calloc(1, sizeof wanted + 100);
  const char *path = in_folder(outputs[kind]);
  purlin_source *back = NULL, *direct = NULL;
  purlin_array_info info;
  int k;
  if (!bytes) exit(1);
  if (kind == 0) {
    load(outputs[kind], 0, bytes, sizeof wanted + 100);
    for (k = 0; k < 100; k++) CHECK(bytes[k] == 0);
    for (k = 0; k < VOXELS; k++) {
      unsigned char expected[4];
      uint32_t bits;
      memcpy(&bits, &wanted[k], sizeof bits);
      put_big_endian(expected, bits, 4);
      if (memcmp(bytes + 100 + 4 * k, expected, 4) != 0) break;
    }
    CHECK(k == VOXELS);
  } else {
    purlin_tensor *t = dense(context, PURLIN_F32, 3, voxels, wanted);
    if (kind == 2) {
      load("volume.raw", 0, bytes, sizeof wanted);
      CHECK(memcmp(bytes, wanted, sizeof wanted) == 0);
    }
    if (kind < 3)
      OK(purlin_source_from_metaimage(context, path, &back));
    else
      OK(purlin_source_from_tiff(context, 1, &path, &back));
    OK(purlin_array_info_init(&info, sizeof info));
    OK(purlin_source_info(back, &info));
    CHECK(info.dtype == PURLIN_F32 && info.ndim == 3 && memcmp(info.dims, voxels, sizeof voxels) == 0);
    CHECK(kind == 3 || memcmp(info.spacing, spacing, sizeof spacing) == 0);
    CHECK(kind == 3 || memcmp(info.origin, origin, sizeof origin) == 0);
    OK(purlin_source_from_tensor(context, t, &direct));
    run_over(back, from_file);
    run_over(direct, from_memory);
    CHECK(memcmp(from_file, from_memory, sizeof from_file) == 0);
    OK(purlin_source_destroy(back));
    OK(purlin_source_destroy(direct));
    OK(purlin_tensor_destroy(t));
  }
  free(bytes);
}

/* Every kind of file: unused, by a run that fails, by one that succeeds, and used again. */
static void file_sinks(void) {
  purlin_tensor *t = projections_of(context, scan);
  purlin_source *source = NULL, *failing = NULL;
  int kind;
  OK(purlin_source_from_tensor(context, t, &source));
  OK(purlin_source_from_callback(context, PURLIN_F32, 3, panels, deliver, scan, &failing));
  for (kind = 0; kind < 4; kind += (int)rounds(1, 2)) {
    purlin_sink *sink = file_sink(kind), *twin = file_sink(kind);
    OK(purlin_sink_destroy(sink));
    OK(purlin_fdk_reconstruct_to_sink(fdk, NULL, source, twin, NULL));
    holds_the_volume(kind);
    OK(purlin_sink_destroy(twin));
    holds_the_volume(kind);
    CHECK(files() == (kind == 2 ? 2 : 1));
    removed(outputs[kind]);
    if (kind == 2) removed("volume.raw");

    sink = file_sink(kind);
    answer = 1;
    FAILS(PURLIN_ERROR_IO, "read: returned 1", purlin_fdk_reconstruct_to_sink(fdk, NULL, failing, sink, NULL));
    answer = 0;
    CHECK(files() == 0);
    BAD_ARGUMENT("volume: was used", purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
    OK(purlin_sink_destroy(sink));
  }
  OK(purlin_source_destroy(source));
  OK(purlin_source_destroy(failing));
  OK(purlin_tensor_destroy(t));
}

int main(void) {
  purlin_tensor *projections, *volume;
  context = test_context(2);
  scan = load_scan("short");
  panels[0] = scan->geometry.detector_columns;
  panels[1] = scan->geometry.detector_rows;
  panels[2] = scan->geometry.views;
  if (!mkdtemp(folder)) return 1;
  fdk = make_fdk(context, scan, NULL);
  projections = projections_of(context, scan);
  volume = dense(context, PURLIN_F32, 3, voxels, wanted);
  OK(purlin_fdk_reconstruct(fdk, NULL, projections, volume, NULL));
  OK(purlin_tensor_destroy(projections));
  OK(purlin_tensor_destroy(volume));
  tensors_and_raw_files();
  metaimage_source();
  placed_by_the_grid(scan);
  tiff_source();
  callbacks();
  file_sinks();
  OK(purlin_fdk_destroy(fdk));
  free_scan(scan);
  OK(purlin_context_destroy(context));
  CHECK(files() == 0);
  CHECK(rmdir(folder) == 0);
  return finish();
}
