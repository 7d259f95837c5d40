#include "nifti.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE = 348, UINT8 = 2, INT16 = 4, INT32 = 8, FLOAT32 = 16, FLOAT64 = 64, UINT16 = 512 };

static int fail(char *error, size_t size, const char *path, const char *problem) {
  snprintf(error, size, "%s: %s", path, problem);
  return -1;
}

static int16_t int16_at(const unsigned char *header, size_t offset) {
  int16_t value;
  memcpy(&value, header + offset, sizeof value);
  return value;
}

static float float_at(const unsigned char *header, size_t offset) {
  float value;
  memcpy(&value, header + offset, sizeof value);
  return value;
}

static size_t size_of_type(int16_t type) {
  switch (type) {
    case UINT8: return 1;
    case INT16:
    case UINT16: return 2;
    case INT32:
    case FLOAT32: return 4;
    case FLOAT64: return 8;
    default: return 0;
  }
}

static float element(const unsigned char *raw, size_t k, int16_t type) {
  switch (type) {
    case UINT8: return raw[k];
    case INT16: {
      int16_t v;
      memcpy(&v, raw + 2 * k, sizeof v);
      return v;
    }
    case UINT16: {
      uint16_t v;
      memcpy(&v, raw + 2 * k, sizeof v);
      return v;
    }
    case INT32: {
      int32_t v;
      memcpy(&v, raw + 4 * k, sizeof v);
      return (float)v;
    }
    case FLOAT32: {
      float v;
      memcpy(&v, raw + 4 * k, sizeof v);
      return v;
    }
    default: {
      double v;
      memcpy(&v, raw + 8 * k, sizeof v);
      return (float)v;
    }
  }
}

static int read_open(FILE *file, const char *path, nifti_image *image, char *error, size_t error_size) {
  unsigned char header[HEADER_SIZE], *raw;
  int32_t header_size;
  int16_t type;
  int64_t count = 1, k;
  size_t bytes;
  float slope, intercept;

  if (fread(header, 1, sizeof header, file) != sizeof header)
    return fail(error, error_size, path, "is shorter than a NIfTI-1 header");
  memcpy(&header_size, header, sizeof header_size);
  if (header_size != HEADER_SIZE || memcmp(header + 344, "n+1", 4) != 0)
    return fail(error, error_size, path, "is not a single-file NIfTI-1 image of this machine's byte order");
  for (k = 0; k < 4; k++) {
    image->dims[k] = k < int16_at(header, 40) ? int16_at(header, 42 + 2 * (size_t)k) : 1;
    if (image->dims[k] < 1) return fail(error, error_size, path, "has a dimension below 1");
    count *= image->dims[k]; /* at most 2^60: four times 15 bits */
  }
  type = int16_at(header, 70);
  bytes = size_of_type(type);
  if (bytes == 0) return fail(error, error_size, path, "has a data type that this reader does not know");
  if ((uint64_t)count > SIZE_MAX / 8) return fail(error, error_size, path, "does not fit into memory");
  if (fseek(file, (long)float_at(header, 108), SEEK_SET) != 0)
    return fail(error, error_size, path, "ends before its data");
  slope = float_at(header, 112);
  intercept = float_at(header, 116);
  if (slope == 0.0f || !isfinite(slope)) { /* not scaled */
    slope = 1.0f;
    intercept = 0.0f;
  }
  if (!isfinite(intercept)) intercept = 0.0f;

  raw = malloc((size_t)count * bytes);
  image->data = malloc((size_t)count * sizeof *image->data);
  if (raw == NULL || image->data == NULL || fread(raw, bytes, (size_t)count, file) != (size_t)count) {
    free(raw);
    free(image->data);
    image->data = NULL;
    return fail(error, error_size, path, "ends before its data, or does not fit into memory");
  }
  for (k = 0; k < count; k++) image->data[k] = slope * element(raw, (size_t)k, type) + intercept;
  free(raw);
  return 0;
}

int nifti_read(const char *path, nifti_image *image, char *error, size_t error_size) {
  FILE *file = fopen(path, "rb");
  int result;
  memset(image, 0, sizeof *image);
  if (file == NULL) return fail(error, error_size, path, "cannot be opened");
  result = read_open(file, path, image, error, error_size);
  fclose(file);
  return result;
}

/* All numbers of a text file; `first_line` gets the count of those in its first line. */
static double *numbers(const char *path, int64_t *count, int64_t *first_line) {
  FILE *file = fopen(path, "r");
  double *list = NULL;
  int64_t capacity = 0;
  char word[64];
  *count = 0;
  *first_line = 0;
  if (file == NULL) return NULL;
  while (fscanf(file, "%63s", word) == 1) {
    char *end;
    int next;
    if (*count == capacity) {
      double *more = realloc(list, (size_t)(capacity = 2 * capacity + 64) * sizeof *list);
      if (more == NULL) break;
      list = more;
    }
    list[*count] = strtod(word, &end);
    if (*end != '\0') { /* not a number: the count will not match */
      *count = 0;
      break;
    }
    ++*count;
    do next = fgetc(file);
    while (next == ' ' || next == '\t' || next == '\r');
    if ((next == '\n' || next == EOF) && *first_line == 0) *first_line = *count;
    if (next != EOF) ungetc(next, file);
  }
  fclose(file);
  return list;
}

int gradients_read(const char *bval_path, const char *bvec_path, int64_t count, double **bvals, double **bvecs,
                   char *error, size_t error_size) {
  int64_t found, line, k, axis;
  double *table = NULL;
  *bvecs = NULL;
  *bvals = numbers(bval_path, &found, &line);
  if (*bvals == NULL || found != count) {
    free(*bvals);
    *bvals = NULL;
    return fail(error, error_size, bval_path, "does not hold one b-value a volume");
  }
  table = numbers(bvec_path, &found, &line);
  *bvecs = malloc((size_t)(3 * count) * sizeof **bvecs);
  if (table == NULL || *bvecs == NULL || found != 3 * count || (line != 3 && line != count)) {
    free(table);
    free(*bvals);
    free(*bvecs);
    *bvals = *bvecs = NULL;
    return fail(error, error_size, bvec_path, "does not hold one direction a volume");
  }
  for (k = 0; k < count; k++)
    for (axis = 0; axis < 3; axis++) {
      double x = line == 3 ? table[3 * k + axis] : table[axis * count + k];
      (*bvecs)[3 * k + axis] = isfinite(x) ? x : 0.0;
    }
  free(table);
  return 0;
}
