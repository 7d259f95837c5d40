/* Memory for the results of a solve, and the tensors over it. */
#ifndef PURLIN_TESTS_RESULTS_H
#define PURLIN_TESTS_RESULTS_H

#include "check.h"

enum { PAIRS = 16, TENSORS = 8, STARTS = 64, DIMENSION = 3 };

struct solution {
  int32_t count[TENSORS], status[TENSORS], found[TENSORS], classes[TENSORS][PAIRS], basins[TENSORS][PAIRS];
  double values[TENSORS][PAIRS], vectors[TENSORS][PAIRS][DIMENSION], residuals[TENSORS][PAIRS];
  double hessian[TENSORS][PAIRS][DIMENSION - 1];
  double start_values[TENSORS][STARTS], start_vectors[TENSORS][STARTS][DIMENSION];
  double start_residuals[TENSORS][STARTS], start_shifts[TENSORS][STARTS];
  int32_t start_iterations[TENSORS][STARTS], start_status[TENSORS][STARTS], start_violations[TENSORS][STARTS];
};

/* Tensors over the memory for T tensors with V starts each; V = 0: nothing of single starts. The rows in memory are
 * longer than V where V < STARTS: the strides say so. */
static inline purlin_sshopm_results over(const purlin_context *context, struct solution *got, int64_t tensors,
                                         int64_t starts) {
  purlin_sshopm_results r;
  int64_t per_start[2], per_vector[3], step[2] = {1, STARTS}, vector_step[3] = {1, DIMENSION, DIMENSION * STARTS};
  OK(purlin_sshopm_results_init(&r, sizeof r));
  memset(got, 0x55, sizeof *got);
  r.count = vector_of(context, PURLIN_I32, tensors, got->count);
  r.status = vector_of(context, PURLIN_I32, tensors, got->status);
  r.found = vector_of(context, PURLIN_I32, tensors, got->found);
  r.values = array2(context, PURLIN_F64, PAIRS, tensors, got->values);
  r.residuals = array2(context, PURLIN_F64, PAIRS, tensors, got->residuals);
  r.classes = array2(context, PURLIN_I32, PAIRS, tensors, got->classes);
  r.basins = array2(context, PURLIN_I32, PAIRS, tensors, got->basins);
  r.vectors = array3(context, PURLIN_F64, DIMENSION, PAIRS, tensors, got->vectors);
  r.hessian = array3(context, PURLIN_F64, DIMENSION - 1, PAIRS, tensors, got->hessian);
  if (starts == 0) return r;
  per_start[0] = per_vector[1] = starts;
  per_start[1] = per_vector[2] = tensors;
  per_vector[0] = DIMENSION;
#define OVER(member, dtype) \
  OK(purlin_tensor_borrow(context, dtype, 0, 2, per_start, step, got->member, &r.member))
  OVER(start_values, PURLIN_F64);
  OVER(start_residuals, PURLIN_F64);
  OVER(start_shifts, PURLIN_F64);
  OVER(start_iterations, PURLIN_I32);
  OVER(start_status, PURLIN_I32);
  OVER(start_violations, PURLIN_I32);
#undef OVER
  OK(purlin_tensor_borrow(context, PURLIN_F64, 0, 3, per_vector, vector_step, got->start_vectors, &r.start_vectors));
  return r;
}

static inline void release(const purlin_sshopm_results *r) {
  purlin_tensor *const all[] = {r->count,         r->values,          r->vectors,          r->residuals,
                                r->classes,       r->hessian,         r->basins,           r->status,
                                r->start_values,  r->start_vectors,   r->start_residuals,  r->start_iterations,
                                r->start_shifts,  r->start_status,    r->start_violations, r->trace,
                                r->found};
  size_t k;
  for (k = 0; k < COUNT(all); k++) OK(purlin_tensor_destroy(all[k]));
}

#endif
