/* Helpers of the tests of the randomized SVD: a matrix of known singular values and vectors, and checks of factors. */
#ifndef PURLIN_TESTS_RSVD_H
#define PURLIN_TESTS_RSVD_H

#include <math.h>

#include "check.h"

enum { M = 90, N = 40, K = 6 };

static const double pi = 3.14159265358979323846;

/* s_j = 3^-j, and of the columns j of cosines, which are orthonormal. */
static inline double value(int j) {
  return pow(3, -j);
}

static inline double vector(int length, int i, int j) {
  return sqrt(2.0 / length) * cos(pi * (i + 0.5) * (j + 1) / length);
}

/* Entry (i, j) of the M x N matrix of 20 such triplets. */
static inline double entry(int i, int j) {
  double sum = 0;
  int r;
  for (r = 0; r < 20; r++) sum += value(r) * vector(M, i, r) * vector(N, j, r);
  return sum;
}

static inline purlin_rsvd_options rsvd_options(void) {
  purlin_rsvd_options o;
  OK(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = K;
  return o;
}

static inline purlin_rsvd_info rsvd_info(void) {
  purlin_rsvd_info info;
  OK(purlin_rsvd_info_init(&info, sizeof info));
  return info;
}

/* A packed dense matrix over `data`. */
static inline purlin_matrix *over(const purlin_context *context, purlin_dtype dtype, purlin_flags flags, int64_t rows,
                                  int64_t cols, void *data) {
  purlin_matrix *m = NULL;
  int64_t ld = flags & PURLIN_ROW_MAJOR ? cols : rows;
  OK(purlin_matrix_borrow(context, dtype, flags, rows, cols, ld > 0 ? ld : 1, data, &m));
  return m;
}

/* Largest difference of X^T X from the identity; X is column-major, rows x cols. */
static inline double skewness(const double *x, int rows, int cols) {
  double worst = 0;
  int a, b, i;
  for (a = 0; a < cols; a++)
    for (b = 0; b < cols; b++) {
      double sum = a == b ? -1 : 0;
      for (i = 0; i < rows; i++) sum += x[i + rows * a] * x[i + rows * b];
      if (fabs(sum) > worst) worst = fabs(sum);
    }
  return worst;
}

/* Largest relative difference of K values from the known ones. */
static inline double value_error(const double *s) {
  double worst = 0;
  int j;
  for (j = 0; j < K; j++)
    if (!(fabs(s[j] / value(j) - 1) <= worst)) worst = fabs(s[j] / value(j) - 1);
  return worst;
}

/* Largest sine of an angle between a column and the known vector. */
static inline double vector_error(const double *x, int length) {
  double worst = 0;
  int i, j;
  for (j = 0; j < K; j++) {
    double along = 0, across = 0;
    for (i = 0; i < length; i++) along += x[i + length * j] * vector(length, i, j);
    for (i = 0; i < length; i++) across += pow(x[i + length * j] - along * vector(length, i, j), 2);
    if (!(sqrt(across) <= worst)) worst = sqrt(across);
  }
  return worst;
}

#endif
