/* Fibre directions of a diffusion MRI volume: signals to orientation functions to symmetric tensors to their maxima.

     sshopm_fibres DATA_DIR OUT_DIR

   reads DATA_DIR/small_64D.nii, .bval and .bvec, prints a table, and writes OUT_DIR/fibres.html.
   Build: cc -std=c99 sshopm_fibres.c fibres_page.c nifti.c $(pkg-config --cflags --libs purlin) -lm */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fibres_page.h"
#include "nifti.h"
#include "purlin.h"

enum { ORDER = 4, MOST = 3, RUNS = 9 };

static const double degree = 3.14159265358979323846 / 180.0;

/* Ends the program with purlin's words if a call failed. */
static void check(purlin_status status, const char *call) {
  if (status == PURLIN_SUCCESS) return;
  fprintf(stderr, "sshopm_fibres: %s: %s (%s)\n", call, purlin_last_error_message(), purlin_status_string(status));
  exit(EXIT_FAILURE);
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "sshopm_fibres: out of memory\n");
    exit(EXIT_FAILURE);
  }
  return memory;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A tensor over the caller's memory, packed or with the strides given. */
static purlin_tensor *borrow(const purlin_context *context, purlin_dtype type, int64_t ndim, const int64_t *dims,
                             const int64_t *strides, void *data) {
  purlin_tensor *tensor = NULL;
  check(purlin_tensor_borrow(context, type, 0, ndim, dims, strides, data, &tensor), "purlin_tensor_borrow");
  return tensor;
}

/* The program's first line, and the same words for the page. */
static void announce(const purlin_context *context, char *words, size_t size) {
  static const char *const isa[] = {"automatic", "portable code", "AVX2", "AVX-512"};
  purlin_context_info info;
  int32_t version = purlin_version();
  check(purlin_context_info_init(&info, sizeof info), "purlin_context_info_init");
  check(purlin_context_properties(context, &info), "purlin_context_properties");
  if (info.backend == PURLIN_BACKEND_CUDA)
    snprintf(words, size, "GPU %d, %s", (int)info.device, info.device_name);
  else
    snprintf(words, size, "CPU, %s, %d thread%s", isa[info.cpu_isa >= 0 && info.cpu_isa < 4 ? info.cpu_isa : 0],
             (int)info.threads, info.threads == 1 ? "" : "s");
  printf("purlin %d.%d.%d on the %s\n", (int)(version / 10000), (int)(version / 100 % 100), (int)(version % 100), words);
}

/* Generalized fractional anisotropy: the part of a function's mean square that is not its mean. `sh` is orthonormal. */
static float anisotropy(const float *sh, int64_t count) {
  double sum = 0.0;
  int64_t k;
  for (k = 0; k < count; k++) sum += (double)sh[k] * sh[k];
  return sum > 0.0 ? (float)sqrt(fmax(1.0 - (double)sh[0] * sh[0] / sum, 0.0)) : 0.0f;
}

static void row(fibres_row *rows, int64_t *count, const char *name, const char *value) {
  snprintf(rows[*count].name, sizeof rows->name, "%s", name);
  snprintf(rows[*count].value, sizeof rows->value, "%s", value);
  printf("  %-44s %s\n", name, value);
  ++*count;
}

/* Prints the table and the first voxels' directions, and writes the page. */
static int report(const fibres *f, const char *words, const double csa_time, const double peaks_time, const char *page) {
  fibres_row rows[10];
  char text[96];
  int64_t row_count = 0, v, k, voxels = f->dims[0] * f->dims[1] * f->dims[2], with[MOST + 1] = {0};
  double angle = 0.0;
  for (v = 0; v < voxels; v++) {
    with[f->count[v]]++;
    if (f->count[v] >= 2) angle += fibres_angle(f, v, 0, 1);
  }
  snprintf(text, sizeof text, "%ld (%ld x %ld x %ld)", (long)voxels, (long)f->dims[0], (long)f->dims[1], (long)f->dims[2]);
  row(rows, &row_count, "voxels", text);
  snprintf(text, sizeof text, "%ld", (long)with[1]);
  row(rows, &row_count, "with one fibre direction", text);
  snprintf(text, sizeof text, "%ld", (long)with[2]);
  row(rows, &row_count, "with a crossing of two", text);
  snprintf(text, sizeof text, "%ld", (long)with[3]);
  row(rows, &row_count, "with a crossing of three", text);
  snprintf(text, sizeof text, "%.1f degrees", angle / (double)(with[2] + with[3] > 0 ? with[2] + with[3] : 1));
  row(rows, &row_count, "mean angle of the first two in a crossing", text);
  snprintf(text, sizeof text, "%.3f ms", 1e3 * csa_time);
  row(rows, &row_count, "signals to orientation functions", text);
  snprintf(text, sizeof text, "%.3f ms", 1e3 * peaks_time);
  row(rows, &row_count, "orientation functions to directions", text);
  snprintf(text, sizeof text, "%.0f thousand voxels a second", 1e-3 * (double)voxels / (csa_time + peaks_time));
  row(rows, &row_count, "both together", text);

  printf("  first voxels' directions and values:\n");
  for (v = 0; v < voxels && v < 4; v++)
    for (k = 0; k < f->count[v]; k++) {
      const float *p = f->peaks + 4 * (k + f->most * v);
      printf("    (%ld, %ld, %ld)  %7.4f %7.4f %7.4f   %.4f\n", (long)(v % f->dims[0]), (long)(v / f->dims[0] % f->dims[1]),
             (long)(v / f->dims[0] / f->dims[1]), p[0], p[1], p[2], p[3]);
    }
  if (fibres_page_write(page, f, words, rows, row_count) != 0) {
    fprintf(stderr, "sshopm_fibres: %s cannot be written\n", page);
    return -1;
  }
  printf("  picture: %s\n", page);
  return 0;
}

int main(int argc, char **argv) {
  purlin_context *context = NULL;
  purlin_tensor *signals, *bvals, *bvecs, *sh, *peaks, *count, *tensors = NULL;
  purlin_dwi_options options;
  char words[192], path[3][1024], error[1200];
  nifti_image image;
  fibres f = {0};
  double *b, *g, csa_times[RUNS], peaks_times[RUNS];
  float *coefficients, *packed, *directions, *gfa;
  int64_t *exponents, *multinomials, entries = 0, voxels, volumes, v;
  int32_t *counts;
  int result, run;

  if (argc != 3) {
    fprintf(stderr, "usage: sshopm_fibres DATA_DIR OUT_DIR\n");
    return EXIT_FAILURE;
  }
  check(purlin_context_create(NULL, &context), "purlin_context_create");
  announce(context, words, sizeof words);

  snprintf(path[0], sizeof path[0], "%s/small_64D.nii", argv[1]);
  snprintf(path[1], sizeof path[1], "%s/small_64D.bval", argv[1]);
  snprintf(path[2], sizeof path[2], "%s/small_64D.bvec", argv[1]);
  if (nifti_read(path[0], &image, error, sizeof error) != 0 ||
      gradients_read(path[1], path[2], image.dims[3], &b, &g, error, sizeof error) != 0) {
    fprintf(stderr, "sshopm_fibres: %s\n", error);
    return EXIT_FAILURE;
  }
  voxels = image.dims[0] * image.dims[1] * image.dims[2];
  volumes = image.dims[3];

  /* An even function up to degree L in spherical harmonics is a symmetric tensor of order L: as many numbers. */
  check(purlin_symmetric_count(ORDER, 3, &entries), "purlin_symmetric_count");
  exponents = allocate((size_t)(3 * entries), sizeof *exponents);
  multinomials = allocate((size_t)entries, sizeof *multinomials);
  check(purlin_symmetric_exponents(ORDER, 3, exponents), "purlin_symmetric_exponents");
  check(purlin_symmetric_multinomials(ORDER, 3, multinomials), "purlin_symmetric_multinomials");

  coefficients = allocate((size_t)(entries * voxels), sizeof *coefficients);
  packed = allocate((size_t)(entries * voxels), sizeof *packed);
  directions = allocate((size_t)(4 * MOST * voxels), sizeof *directions);
  gfa = allocate((size_t)voxels, sizeof *gfa);
  counts = allocate((size_t)voxels, sizeof *counts);
  {
    /* The file holds volume after volume: a measurement is `voxels` elements from the next. */
    int64_t signal_dims[2], signal_strides[2], bvec_dims[2], sh_dims[2], peak_dims[3];
    signal_dims[0] = volumes, signal_dims[1] = voxels;
    signal_strides[0] = voxels, signal_strides[1] = 1;
    bvec_dims[0] = 3, bvec_dims[1] = volumes;
    sh_dims[0] = entries, sh_dims[1] = voxels;
    peak_dims[0] = 4, peak_dims[1] = MOST, peak_dims[2] = voxels;
    signals = borrow(context, PURLIN_F32, 2, signal_dims, signal_strides, image.data);
    bvals = borrow(context, PURLIN_F64, 1, &volumes, NULL, b);
    bvecs = borrow(context, PURLIN_F64, 2, bvec_dims, NULL, g);
    sh = borrow(context, PURLIN_F32, 2, sh_dims, NULL, coefficients);
    peaks = borrow(context, PURLIN_F32, 3, peak_dims, NULL, directions);
    count = borrow(context, PURLIN_I32, 1, &voxels, NULL, counts);
    check(purlin_tensor_borrow_symmetric(context, PURLIN_F32, 0, ORDER, 3, voxels, 0, 0, packed, &tensors),
          "purlin_tensor_borrow_symmetric");
  }

  /* The usual limits: maxima at least half as high as the voxel's highest, and 25 degrees apart. */
  check(purlin_dwi_options_init(&options, sizeof options), "purlin_dwi_options_init");
  options.basis = PURLIN_SH_MRTRIX3;
  options.missing = PURLIN_MISSING_ZERO;
  options.relative_threshold = 0.5;
  options.min_separation = 25.0 * degree;
  for (run = 0; run < RUNS; run++) {
    double start = now(), middle;
    check(purlin_dwi_csa_once(context, NULL, signals, bvals, bvecs, NULL, PURLIN_SH_MRTRIX3, NULL, sh, NULL, NULL), "purlin_dwi_csa_once");
    middle = now();
    check(purlin_dwi_peaks_once(context, NULL, sh, NULL, &options, peaks, count, NULL, NULL), "purlin_dwi_peaks_once");
    csa_times[run] = middle - start;
    peaks_times[run] = now() - middle;
  }
  qsort(csa_times, RUNS, sizeof *csa_times, ascending);
  qsort(peaks_times, RUNS, sizeof *peaks_times, ascending);
  check(purlin_dwi_sh_to_tensor(context, NULL, sh, PURLIN_SH_MRTRIX3, tensors), "purlin_dwi_sh_to_tensor");

  for (v = 0; v < voxels; v++) gfa[v] = anisotropy(coefficients + entries * v, entries);
  for (v = 0; v < 3; v++) f.dims[v] = image.dims[v];
  f.b0 = image.data;
  f.gfa = gfa;
  f.order = ORDER;
  f.entries = entries;
  f.exponents = exponents;
  f.multinomials = multinomials;
  f.tensors = packed;
  f.most = MOST;
  f.peaks = directions;
  f.count = counts;
  snprintf(path[0], sizeof path[0], "%s/fibres.html", argv[2]);
  result = report(&f, words, csa_times[RUNS / 2], peaks_times[RUNS / 2], path[0]);

  check(purlin_tensor_destroy(signals), "purlin_tensor_destroy");
  check(purlin_tensor_destroy(bvals), "purlin_tensor_destroy");
  check(purlin_tensor_destroy(bvecs), "purlin_tensor_destroy");
  check(purlin_tensor_destroy(sh), "purlin_tensor_destroy");
  check(purlin_tensor_destroy(peaks), "purlin_tensor_destroy");
  check(purlin_tensor_destroy(count), "purlin_tensor_destroy");
  check(purlin_tensor_destroy(tensors), "purlin_tensor_destroy");
  check(purlin_context_destroy(context), "purlin_context_destroy");
  free(image.data);
  free(b);
  free(g);
  free(exponents);
  free(multinomials);
  free(coefficients);
  free(packed);
  free(directions);
  free(gfa);
  free(counts);
  return result == 0 && purlin_live_handles() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
