/* Helpers of the tests of sparse matrices. */
#ifndef PURLIN_TESTS_SPECTRA_H
#define PURLIN_TESTS_SPECTRA_H

#include <math.h>

#include "check.h"

static inline int near(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance * (1 + fabs(b));
}

static inline purlin_matrix_info matrix_info(const purlin_matrix *matrix) {
  purlin_matrix_info info;
  OK(purlin_matrix_info_init(&info, sizeof info));
  OK(purlin_matrix_properties(matrix, &info));
  return info;
}

/* Entry (i, j) of a sparse F64 matrix, by its arrays; entries at one place are added. */
static inline double at(const purlin_matrix *matrix, int64_t i, int64_t j) {
  purlin_matrix_info info = matrix_info(matrix);
  const double *values = (const double *)(uintptr_t)info.data;
  double sum = 0;
  int64_t k, begin, end, column;
#define INDEX(address, type, k) \
  ((type) == PURLIN_I32 ? (int64_t)((const int32_t *)(uintptr_t)(address))[k] : ((const int64_t *)(uintptr_t)(address))[k])
  begin = INDEX(info.row_ptr, info.row_ptr_type, i) - info.index_base;
  end = INDEX(info.row_ptr, info.row_ptr_type, i + 1) - info.index_base;
  for (k = begin; k < end; k++) {
    column = INDEX(info.col_idx, info.col_idx_type, k) - info.index_base;
    if (column == j) sum += values ? values[k] : 1;
  }
  return sum;
}

/* A sparse F64 matrix of coordinates that count from 0. */
static inline purlin_matrix *coordinates(const purlin_context *context, int64_t rows, int64_t cols, int64_t nnz,
                                         const int64_t *row, const int64_t *col, const double *values) {
  purlin_matrix *matrix = NULL;
  OK(purlin_matrix_from_coordinates(context, PURLIN_F64, 0, rows, cols, nnz, PURLIN_I64, row, col, values,
                                    PURLIN_DUPLICATES_SUM, &matrix));
  return matrix;
}

/* The undirected path of n vertices with unit weights. */
static inline purlin_matrix *path_graph(const purlin_context *context, int64_t n) {
  int64_t *row = malloc(sizeof *row * 2 * (size_t)n), *col = malloc(sizeof *col * 2 * (size_t)n), i, k = 0;
  double *values = malloc(sizeof *values * 2 * (size_t)n);
  purlin_matrix *matrix = NULL;
  if (row && col && values) {
    for (i = 0; i + 1 < n; i++) {
      row[k] = i, col[k] = i + 1, values[k++] = 1;
      row[k] = i + 1, col[k] = i, values[k++] = 1;
    }
    matrix = coordinates(context, n, n, k, row, col, values);
  }
  free(values);
  free(col);
  free(row);
  return matrix;
}

/* Options of a solve for `count` eigenpairs. */
static inline purlin_lanczos_options lanczos(int64_t count, int32_t which, int32_t kind) {
  purlin_lanczos_options o;
  OK(purlin_lanczos_options_init(&o, sizeof o));
  o.count = count;
  o.which = which;
  o.kind = kind;
  return o;
}

/* A solver with these options; NULL for the defaults. */
static inline purlin_lanczos *solver(const purlin_context *context, const purlin_lanczos_options *o) {
  purlin_lanczos *made = NULL;
  OK(purlin_lanczos_create(context, o, &made));
  return made;
}

#endif
