/* Sources and sinks from MATLAB: an array, the name of a file whose ending determines its format, or a struct that describes
 * a raw file or has a function. */
#include <string.h>

#include "gateway.h"

char *text_of(const char *name, const mxArray *value) {
  char *text = value && mxIsChar(value) ? mxArrayToString(value) : NULL;
  if (!text) fail("invalidArgument", "%s: is not the name of a file", name);
  expect_row(name, value);
  const mxChar *given = mxGetChars(value);
  for (size_t k = 0; k < mxGetNumberOfElements(value); k++)
    if (given && given[k] == 0) fail("invalidArgument", "%s: has an embedded null character", name);
  return text; /* MATLAB frees it when the command ends */
}

static int ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static int is_metaimage(const char *path) { return ends_with(path, ".mha") || ends_with(path, ".mhd"); }
static int is_npy(const char *path) { return ends_with(path, ".npy"); }
static int is_tiff(const char *path) { return ends_with(path, ".tif") || ends_with(path, ".tiff"); }

/* Refuses a field that is none of `known`, whose last is NULL: misspelt, it would be passed over. */
static void expect_fields(const char *name, const mxArray *value, const char *const *known) {
  for (int k = 0; k < mxGetNumberOfFields(value); k++) {
    const char *field = mxGetFieldNameByNumber(value, k);
    const char *const *is = known;
    while (*is && strcmp(*is, field) != 0) is++;
    if (*is) continue;
    char all[256] = "";
    for (is = known; *is; is++) {
      strcat(all, is == known ? "" : ", ");
      strcat(all, *is);
    }
    fail("invalidArgument", "%s: has a field '%s', expected %s", name, field, all);
  }
}

static const char *const file_source_fields[] = {"file",  "size",    "dtype",  "endianness", "offset",
                                                 "order", "complex", "mapped", NULL};
static const char *const function_source_fields[] = {"read", "size", "dtype", "order", "complex", NULL};
static const char *const file_sink_fields[] = {"file", "dtype", "endianness", "offset", "complex", "mapped", NULL};
static const char *const image_sink_fields[] = {"file", "dtype", "complex", "mapped", NULL};
static const char *const function_sink_fields[] = {"write", "dtype", "complex", NULL};
static const char *const function_matrix_fields[] = {"apply", "size", "dtype", "complex", NULL};
static const char *const pixel_fields[] = {"pixels", "radius", "intensity", "distance", "floor", NULL};

/* The fields of a struct that describes a raw file. */
typedef struct raw { char *file; int32_t dtype, endianness; int64_t offset; } raw;

static raw raw_of(const char *name, const mxArray *value) {
  raw r = {NULL, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 0};
  int32_t mapped = 0;
  r.file = text_of(name, option(value, "file"));
  r.dtype = described_dtype(value, PURLIN_F32);
  read_choice(value, "endianness", endiannesses, &r.endianness);
  read_int64(value, "offset", &r.offset);
  read_flag(value, "mapped", &mapped);
  if (mapped) fail("invalidArgument", "mapped: no file is mapped, as one that becomes shorter would end MATLAB; leave it out");
  return r;
}

purlin_source *source_of(const char *name, const mxArray *value) {
  purlin_source *source = NULL;
  if (mxIsChar(value)) {
    const char *path = text_of(name, value);
    if (is_metaimage(path)) check(purlin_source_from_metaimage(gateway_context(), path, &source));
    else if (is_tiff(path)) check(purlin_source_from_tiff(gateway_context(), 1, &path, &source));
    else if (is_npy(path)) check(purlin_source_from_npy(gateway_context(), path, &source));
    else fail("invalidArgument", "%s: '%s' does not end in .mha, .mhd, .npy, .tif or .tiff", name, path);
  } else if (mxIsCell(value)) {
    const char *paths[4096];
    size_t count = mxGetNumberOfElements(value);
    if (count > sizeof paths / sizeof *paths) fail("invalidArgument", "%s: has more than 4096 files", name);
    for (size_t k = 0; k < count; k++) paths[k] = text_of(name, cell_element(value, k));
    check(purlin_source_from_tiff(gateway_context(), (int64_t)count, paths, &source));
  } else if (mxIsStruct(value) && option(value, "read")) {
    expect_fields(name, value, function_source_fields);
    source = function_source(name, value);
  } else if (mxIsStruct(value)) {
    expect_fields(name, value, file_source_fields);
    raw r = raw_of(name, value);
    int64_t dims[4];
    int64_t ndim = sizes_of(name, value, 4, dims);
    check(purlin_source_from_file(gateway_context(), r.file, r.offset, r.dtype, r.endianness, ndim, dims, &source));
  } else {
    check(purlin_source_from_tensor(gateway_context(), borrow_dense(name, value, 3), &source));
  }
  return temporary_source(source);
}

/* The order in which a source's elements make a matrix. */
static purlin_flags order_of(const mxArray *value, const purlin_source *source) {
  purlin_array_info info;
  int32_t order = 0;
  check(purlin_array_info_init(&info, sizeof info));
  check(purlin_source_info(source, &info));
  if (mxIsStruct(value)) read_choice(value, "order", orders, &order);
  else order = info.flags;
  return order & PURLIN_ROW_MAJOR;
}

purlin_matrix *pixel_graph(const char *name, const mxArray *value) {
  double radius = 1, intensity = 0.1, distance = mxGetInf(), floor = 0;
  purlin_matrix *made = NULL;
  expect_field(name, value, "pixels", "an operator of purlin.graph_operator_of_image");
  expect_fields(name, value, pixel_fields);
  read_double(value, "radius", &radius);
  read_double(value, "intensity", &intensity);
  read_double(value, "distance", &distance);
  read_double(value, "floor", &floor);
  check(purlin_graph_operator_of_image(gateway_context(), matrix_of("image", option(value, "pixels")), radius, intensity,
                                       distance, floor, &made));
  return made;
}

purlin_matrix *matrix_of(const char *name, const mxArray *value) {
  purlin_matrix *matrix = NULL;
  int32_t dtype;
  name_capital(name);
  if (mxIsUint64(value)) return (purlin_matrix *)(uintptr_t)key_argument(name, value);
  if (mxIsStruct(value) && option(value, "apply")) {
    expect_fields(name, value, function_matrix_fields);
    return temporary_matrix(function_matrix(name, value));
  }
  if (mxIsStruct(value) && option(value, "pixels")) {
    return temporary_matrix(pixel_graph(name, value));
  }
  if (mxIsChar(value) || mxIsStruct(value)) {
    purlin_source *source = source_of(name, value);
    check(purlin_matrix_from_source(gateway_context(), source, order_of(value, source), &matrix));
    release_source();
    return temporary_matrix(matrix);
  }
  dtype = dtype_of(value);
  if (mxGetNumberOfDimensions(value) != 2) fail("invalidArgument", "%s: is not a matrix", name);
  if (mxIsSparse(value)) {
    int64_t rows = (int64_t)mxGetN(value), cols = (int64_t)mxGetM(value);
    const mwIndex *starts = mxGetJc(value);
    int32_t index_type = sizeof(mwIndex) == 8 ? PURLIN_I64 : PURLIN_I32;
    /* A logical one is a pattern: every stored entry is true. */
    int pattern = mxIsLogical(value);
    if (!pattern && !mxIsDouble(value)) fail("invalidArgument", "%s: is sparse and not of class double or logical", name);
    if (pattern) dtype = PURLIN_F64;
    /* MATLAB sees to it that indices are in range. */
    check(purlin_matrix_borrow_csr(gateway_context(), dtype, PURLIN_TRUSTED, rows, cols, (int64_t)starts[rows],
                                   index_type, starts, index_type, mxGetIr(value),
                                   pattern ? NULL : elements_of(value, dtype), &matrix));
    return temporary_matrix(matrix);
  }
  check(purlin_matrix_borrow(gateway_context(), dtype, PURLIN_READ_ONLY, (int64_t)mxGetM(value),
                             (int64_t)mxGetN(value), mxGetM(value) > 0 ? (int64_t)mxGetM(value) : 1,
                             elements_of(value, dtype), &matrix));
  return temporary_matrix(matrix);
}

purlin_sink *sink_of(const char *name, const mxArray *value, int ndim, const int64_t *dims, const double *spacing,
                     const double *origin) {
  purlin_sink *sink = NULL;
  raw r = {NULL, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 0};
  int described = mxIsStruct(value);
  if (described && option(value, "write")) {
    expect_fields(name, value, function_sink_fields);
    return temporary_sink(function_sink(name, value, ndim, dims));
  }
  if (described) r = raw_of(name, value);
  else r.file = text_of(name, value);
  if (described)
    expect_fields(name, value, is_metaimage(r.file) || (is_tiff(r.file) && ndim == 3) ? image_sink_fields : file_sink_fields);
  if (is_metaimage(r.file))
    check(purlin_sink_to_metaimage(gateway_context(), r.file, r.dtype, ndim, dims, spacing, origin, &sink));
  else if (is_tiff(r.file) && ndim == 3)
    check(purlin_sink_to_tiff(gateway_context(), r.file, r.dtype, dims[0], dims[1], dims[2], &sink));
  else if (described)
    check(purlin_sink_to_file(gateway_context(), r.file, r.offset, r.dtype, r.endianness, ndim, dims, &sink));
  else fail("invalidArgument", "%s: '%s' does not end in %s", name, r.file,
            ndim == 3 ? ".mha, .mhd, .tif or .tiff" : ".mha or .mhd");
  return temporary_sink(sink);
}
