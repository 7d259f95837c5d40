/* Sources and sinks: every documented refusal once, by name. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "check.h"

#include <math.h>

static purlin_context *context;
static purlin_source *source;
static purlin_sink *sink;
static float data[60];
static char folder[] = "/tmp/purlin-XXXXXX";
static char path[64];
static const int64_t dims[4] = {3, 4, 5, 1}, negative[3] = {3, -4, 5}, large[3] = {INT64_MAX, INT64_MAX, 5};

static const char *write_text(const char *text) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fputs(text, file) >= 0);
  if (file) fclose(file);
  return path;
}

static int32_t nothing_read(const int64_t *first, const int64_t *count, void *block, void *user) {
  (void)first, (void)count, (void)block, (void)user;
  return 0;
}

static int32_t nothing_written(const int64_t *first, const int64_t *count, const void *block, void *user) {
  (void)first, (void)count, (void)block, (void)user;
  return 0;
}

static void tensors(void) {
  purlin_context *foreign = cpu_context(1);
  purlin_tensor *t = array3(context, PURLIN_F32, 3, 4, 5, data), *s = symmetric(context, PURLIN_F32, 2, 3, 4, data);
  purlin_tensor *c = vector_of(context, PURLIN_CF32, 20, data), *l = vector_of(context, PURLIN_I64, 20, data), *bad = NULL;
  int64_t five[5] = {1, 2, 3, 2, 1}, zero = 0;
  BAD_HANDLE("context: is NULL", purlin_source_from_tensor(NULL, t, &source));
  BAD_HANDLE("tensor: is NULL", purlin_source_from_tensor(context, NULL, &source));
  BAD_ARGUMENT("source: is NULL", purlin_source_from_tensor(context, t, NULL));
  BAD_ARGUMENT("tensor: belongs to another", purlin_source_from_tensor(foreign, t, &source));
  BAD_ARGUMENT("tensor: is a batch of symmetric", purlin_source_from_tensor(context, s, &source));
  OK(purlin_source_from_tensor(context, c, &source));
  OK(purlin_source_destroy(source));
  UNSUPPORTED("tensor: is I64", purlin_source_from_tensor(context, l, &source));
  BAD_HANDLE("context: is NULL", purlin_sink_to_tensor(NULL, t, &sink));
  BAD_HANDLE("tensor: is NULL", purlin_sink_to_tensor(context, NULL, &sink));
  BAD_ARGUMENT("sink: is NULL", purlin_sink_to_tensor(context, t, NULL));
  BAD_ARGUMENT("tensor: belongs to another", purlin_sink_to_tensor(foreign, t, &sink));
  BAD_ARGUMENT("tensor: is a batch of symmetric", purlin_sink_to_tensor(context, s, &sink));
  UNSUPPORTED("tensor: is I64", purlin_sink_to_tensor(context, l, &sink));
  OK(purlin_tensor_borrow(context, PURLIN_F32, 0, 5, five, NULL, data, &bad));
  BAD_ARGUMENT("tensor: has 5 dimensions", purlin_source_from_tensor(context, bad, &source));
  OK(purlin_tensor_destroy(bad));
  OK(purlin_tensor_borrow(context, PURLIN_F32, 0, 0, NULL, NULL, data, &bad));
  BAD_ARGUMENT("tensor: has 0 dimensions", purlin_sink_to_tensor(context, bad, &sink));
  OK(purlin_tensor_destroy(bad));
  OK(purlin_tensor_borrow(context, PURLIN_F32, PURLIN_READ_ONLY, 3, dims, NULL, data, &bad));
  BAD_ARGUMENT("tensor: was borrowed read-only", purlin_sink_to_tensor(context, bad, &sink));
  OK(purlin_source_from_tensor(context, bad, &source));
  OK(purlin_source_destroy(source));
  BAD_HANDLE("source: was destroyed", purlin_source_destroy(source));
  OK(purlin_tensor_destroy(bad));
  /* Overlapping elements can be read, not written. */
  OK(purlin_tensor_borrow(context, PURLIN_F32, 0, 1, dims, &zero, data, &bad));
  BAD_ARGUMENT("tensor: has elements that overlap", purlin_sink_to_tensor(context, bad, &sink));
  OK(purlin_tensor_destroy(bad));
  source = NULL;
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_destroy(s));
  OK(purlin_tensor_destroy(c));
  OK(purlin_tensor_destroy(l));
  OK(purlin_context_destroy(foreign));
}

static void raw_files(void) {
  const char *here = write_text("0123456789");
#define FROM(path, offset, dtype, endian, ndim, dims, source) \
  purlin_source_from_file(context, path, offset, dtype, endian, ndim, dims, source)
#define TO(path, offset, dtype, endian, ndim, dims, sink) \
  purlin_sink_to_file(context, path, offset, dtype, endian, ndim, dims, sink)
#define BOTH(status, text, ...)                          \
  do {                                                   \
    FAILS(status, text, FROM(__VA_ARGS__, &source));     \
    FAILS(status, text, TO(__VA_ARGS__, &sink));         \
  } while (0)
  BAD_HANDLE("context: is NULL", purlin_source_from_file(NULL, here, 0, PURLIN_U8, 0, 1, dims, &source));
  BAD_HANDLE("context: is NULL", purlin_sink_to_file(NULL, here, 0, PURLIN_U8, 0, 1, dims, &sink));
  BAD_ARGUMENT("source: is NULL", FROM(here, 0, PURLIN_U8, 0, 1, dims, NULL));
  BAD_ARGUMENT("sink: is NULL", TO(here, 0, PURLIN_U8, 0, 1, dims, NULL));
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "path: is NULL", NULL, 0, PURLIN_U8, 0, 1, dims);
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "path: is empty", "", 0, PURLIN_U8, 0, 1, dims);
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "offset: is -1", here, -1, PURLIN_U8, 0, 1, dims);
  BAD_ARGUMENT("offset: is 9223372036854775807, at most",
               purlin_sink_to_file(context, here, INT64_MAX, PURLIN_U8, 0, 1, dims, &sink));
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "dtype: is 12, outside 0 to 11", here, 0, 12, 0, 1, dims);
  BOTH(PURLIN_ERROR_NOT_SUPPORTED, "dtype: is I64", here, 0, PURLIN_I64, 0, 1, dims);
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "endianness: is 2", here, 0, PURLIN_U8, 2, 1, dims);
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "ndim: is 0", here, 0, PURLIN_U8, 0, 0, dims);
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "ndim: is 5", here, 0, PURLIN_U8, 0, 5, dims);
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "dims: is NULL", here, 0, PURLIN_U8, 0, 3, NULL);
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "dims", here, 0, PURLIN_U8, 0, 3, negative);
  BOTH(PURLIN_ERROR_INVALID_ARGUMENT, "dims", here, 0, PURLIN_U8, 0, 3, large);
  FAILS(PURLIN_ERROR_IO, "open", FROM("/nowhere/at/all", 0, PURLIN_U8, 0, 1, dims, &source));
  FAILS(PURLIN_ERROR_IO, "create", TO("/nowhere/at/all", 0, PURLIN_U8, 0, 1, dims, &sink));
  FAILS(PURLIN_ERROR_IO, "has 10 bytes, 61 are needed", FROM(here, 1, PURLIN_U8, 0, 3, dims, &source));
  FAILS(PURLIN_ERROR_IO, "has 10 bytes", FROM(here, INT64_MAX, PURLIN_U8, 0, 3, dims, &source));
  FAILS(PURLIN_ERROR_INVALID_ARGUMENT, "offset: is 9223372036854775807", TO(here, INT64_MAX, PURLIN_U8, 0, 3, dims, &sink));
  CHECK(source == NULL && sink == NULL);
  OK(FROM(here, 7, PURLIN_I8, 0, 1, dims, &source));
  OK(purlin_source_destroy(source));
  source = NULL;
  /* An unused sink leaves an existing file unchanged. */
  OK(TO(here, 0, PURLIN_U32, 0, 3, dims, &sink));
  OK(purlin_sink_destroy(sink));
  BAD_HANDLE("sink: was destroyed", purlin_sink_destroy(sink));
  sink = NULL;
  OK(FROM(here, 0, PURLIN_I16, 0, 1, dims + 2, &source));
  OK(purlin_source_destroy(source));
  source = NULL;
}

static void images(void) {
  static const double ones[3] = {1, 1, 1}, bad_spacing[3] = {1, 0, 1}, bad_origin[3] = {0, 0, NAN};
  purlin_context *c = context;
  BAD_HANDLE("context: is NULL", purlin_source_from_metaimage(NULL, path, &source));
  BAD_ARGUMENT("path: is NULL", purlin_source_from_metaimage(c, NULL, &source));
  BAD_ARGUMENT("source: is NULL", purlin_source_from_metaimage(c, path, NULL));
  FAILS(PURLIN_ERROR_IO, "open", purlin_source_from_metaimage(c, "/nowhere/at/all", &source));
#define IMAGE(problem, text) FAILS(PURLIN_ERROR_IO, problem, purlin_source_from_metaimage(c, write_text(text), &source))
  IMAGE("is not a MetaImage", "no image");
  IMAGE("compressed", "DimSize = 2 2\nCompressedData = True\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n");
  IMAGE("several channels", "DimSize = 2 2\nElementNumberOfChannels = 3\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n");
  IMAGE("bytes", "DimSize = 2 2\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n");
  BAD_HANDLE("context: is NULL", purlin_sink_to_metaimage(NULL, path, PURLIN_F32, 3, dims, NULL, NULL, &sink));
  BAD_ARGUMENT("path: is NULL", purlin_sink_to_metaimage(c, NULL, PURLIN_F32, 3, dims, NULL, NULL, &sink));
  BAD_ARGUMENT("sink: is NULL", purlin_sink_to_metaimage(c, path, PURLIN_F32, 3, dims, NULL, NULL, NULL));
  UNSUPPORTED("dtype: is CF64, real", purlin_sink_to_metaimage(c, path, PURLIN_CF64, 3, dims, NULL, NULL, &sink));
  UNSUPPORTED("dtype: is CF32, real", purlin_sink_to_tiff(c, path, PURLIN_CF32, 3, 4, 5, &sink));
  BAD_ARGUMENT("dtype: is -1", purlin_sink_to_metaimage(c, path, -1, 3, dims, NULL, NULL, &sink));
  BAD_ARGUMENT("ndim: is -1", purlin_sink_to_metaimage(c, path, PURLIN_F32, -1, dims, NULL, NULL, &sink));
  BAD_ARGUMENT("dims: is NULL", purlin_sink_to_metaimage(c, path, PURLIN_F32, 3, NULL, NULL, NULL, &sink));
  BAD_ARGUMENT("spacing: element 1 is 0", purlin_sink_to_metaimage(c, path, PURLIN_F32, 3, dims, bad_spacing, NULL, &sink));
  BAD_ARGUMENT("origin: element 2 is NaN", purlin_sink_to_metaimage(c, path, PURLIN_F32, 3, dims, ones, bad_origin, &sink));
  FAILS(PURLIN_ERROR_IO, "create", purlin_sink_to_metaimage(c, "/nowhere/at/all", PURLIN_F32, 3, dims, NULL, NULL, &sink));
  BAD_HANDLE("context: is NULL", purlin_sink_to_tiff(NULL, path, PURLIN_F32, 3, 4, 5, &sink));
  BAD_ARGUMENT("width: is 0", purlin_sink_to_tiff(c, path, PURLIN_F32, 0, 4, 5, &sink));
  BAD_ARGUMENT("height: is -4", purlin_sink_to_tiff(c, path, PURLIN_F32, 3, -4, 5, &sink));
  BAD_ARGUMENT("pages: is 0", purlin_sink_to_tiff(c, path, PURLIN_F32, 3, 4, 0, &sink));
  BAD_ARGUMENT("dtype: is 12", purlin_sink_to_tiff(c, path, 12, 3, 4, 5, &sink));
  BAD_ARGUMENT("path: is empty", purlin_sink_to_tiff(c, "", PURLIN_F32, 3, 4, 5, &sink));
  BAD_ARGUMENT("sink: is NULL", purlin_sink_to_tiff(c, path, PURLIN_F32, 3, 4, 5, NULL));
  BAD_ARGUMENT("", purlin_sink_to_tiff(c, path, PURLIN_F32, INT64_MAX, INT64_MAX, 5, &sink));
  FAILS(PURLIN_ERROR_IO, "create", purlin_sink_to_tiff(c, "/nowhere/at/all", PURLIN_F32, 3, 4, 5, &sink));
}

static void callbacks(void) {
  purlin_context *c = context;
  purlin_array_info info;
  BAD_HANDLE("context: is NULL", purlin_source_from_callback(NULL, PURLIN_F32, 3, dims, nothing_read, NULL, &source));
  BAD_ARGUMENT("dtype: is 99", purlin_source_from_callback(c, 99, 3, dims, nothing_read, NULL, &source));
  BAD_ARGUMENT("ndim: is 9", purlin_source_from_callback(c, PURLIN_F32, 9, dims, nothing_read, NULL, &source));
  BAD_ARGUMENT("read: is NULL", purlin_source_from_callback(c, PURLIN_F32, 3, dims, NULL, NULL, &source));
  BAD_ARGUMENT("dims: is NULL", purlin_source_from_callback(c, PURLIN_F32, 3, NULL, nothing_read, NULL, &source));
  BAD_ARGUMENT("source: is NULL", purlin_source_from_callback(c, PURLIN_F32, 3, dims, nothing_read, NULL, NULL));
  BAD_HANDLE("context: is NULL", purlin_sink_to_callback(NULL, PURLIN_F32, 3, dims, nothing_written, NULL, &sink));
  BAD_ARGUMENT("dtype: is 99", purlin_sink_to_callback(c, 99, 3, dims, nothing_written, NULL, &sink));
  BAD_ARGUMENT("ndim: is 9", purlin_sink_to_callback(c, PURLIN_F32, 9, dims, nothing_written, NULL, &sink));
  BAD_ARGUMENT("write: is NULL", purlin_sink_to_callback(c, PURLIN_F32, 3, dims, NULL, NULL, &sink));
  BAD_ARGUMENT("dims: is NULL", purlin_sink_to_callback(c, PURLIN_F32, 3, NULL, nothing_written, NULL, &sink));
  BAD_ARGUMENT("sink: is NULL", purlin_sink_to_callback(c, PURLIN_F32, 3, dims, nothing_written, NULL, NULL));
  OK(purlin_source_from_callback(c, PURLIN_I16, 2, dims, nothing_read, NULL, &source));
  BAD_ARGUMENT("info: is NULL", purlin_array_info_init(NULL, sizeof info));
  BAD_ARGUMENT("info: struct_size is 1", purlin_array_info_init(&info, 1));
  OK(purlin_array_info_init(&info, sizeof info));
  BAD_ARGUMENT("info: is NULL", purlin_source_info(source, NULL));
  BAD_HANDLE("source: is NULL", purlin_source_info(NULL, &info));
  BAD_HANDLE("source: is a handle of another type", purlin_source_info((purlin_source *)context, &info));
  OK(purlin_source_info(source, &info));
  CHECK(info.dtype == PURLIN_I16 && info.ndim == 2 && info.dims[1] == 4 && info.dims[2] == 1 && info.bytes == 24);
  OK(purlin_source_destroy(source));
  OK(purlin_source_destroy(NULL));
  OK(purlin_sink_destroy(NULL));
  /* A sink outlives its context's handle. */
  OK(purlin_sink_to_callback(c, PURLIN_I16, 2, dims, nothing_written, NULL, &sink));
}

int main(void) {
  context = cpu_context(1);
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/file", folder);
  tensors();
  raw_files();
  images();
  callbacks();
  CHECK(remove(path) == 0);
  /* No provisional file is left. */
  CHECK(rmdir(folder) == 0);
  OK(purlin_context_destroy(context));
  OK(purlin_sink_destroy(sink));
  return finish();
}
