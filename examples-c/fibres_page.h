/* Writes the example's web page: fibre directions over slices, one crossing close up, and a table of numbers. */
#ifndef EXAMPLE_FIBRES_PAGE_H
#define EXAMPLE_FIBRES_PAGE_H

#include <stdint.h>

/* Results of the fit; T = nx ny nz voxels, x fastest. */
typedef struct fibres {
  int64_t dims[3];
  const float *b0;      /* T: signal without diffusion weighting */
  const float *gfa;     /* T: generalized fractional anisotropy of the orientation function, 0 to 1 */
  int64_t order;        /* of the symmetric tensors */
  int64_t entries;      /* packed entries of a tensor */
  const int64_t *exponents;    /* 3 x entries */
  const int64_t *multinomials; /* entries */
  const float *tensors; /* entries x T: the orientation functions */
  int64_t most;         /* peaks a voxel may have */
  const float *peaks;   /* 4 x most x T: x y z value */
  const int32_t *count; /* T */
} fibres;

/* A row of the table. */
typedef struct fibres_row {
  char name[64];
  char value[96];
} fibres_row;

/* Value of a voxel's orientation function in direction g. */
double fibres_value(const fibres *f, int64_t voxel, const double g[3]);

/* Angle between two peaks of a voxel, degrees. */
double fibres_angle(const fibres *f, int64_t voxel, int64_t a, int64_t b);

/* Returns 0, or -1 if the file cannot be written. */
int fibres_page_write(const char *path, const fibres *f, const char *backend, const fibres_row *rows, int64_t row_count);

#endif
