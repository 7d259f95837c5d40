/* Reads the example's inputs: a single-file NIfTI-1 image, and the text files of a gradient table. */
#ifndef EXAMPLE_NIFTI_H
#define EXAMPLE_NIFTI_H

#include <stddef.h>
#include <stdint.h>

typedef struct nifti_image {
  int64_t dims[4]; /* x, y, z, volumes */
  float *data;     /* x fastest, scaled by the header's slope; free() it */
} nifti_image;

/* Each returns 0, or -1 with a line of text in `error`. */
int nifti_read(const char *path, nifti_image *image, char *error, size_t error_size);

/* `count` b-values and 3 x count directions (those of volume k at bvecs[3 * k]), allocated; free() both. Directions may
   stand one a line, or one component a line. Those that are not numbers become 0, as unweighted volumes have none. */
int gradients_read(const char *bval_path, const char *bvec_path, int64_t count, double **bvals, double **bvecs,
                   char *error, size_t error_size);

#endif
