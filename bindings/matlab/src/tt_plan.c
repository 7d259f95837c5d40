/* Commands that plan contractions of tensor trains. */
#include "gateway.h"

/* info = tt_plan_inner(x, y, options) */
static void tt_plan_inner(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  check(purlin_tt_plan_inner(contraction_of(prhs[2], &w), train_of("x", prhs[0]), train_of("y", prhs[1]), &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = tt_plan_norm(x, options) */
static void tt_plan_norm(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  check(purlin_tt_plan_norm(contraction_of(prhs[1], &w), train_of("x", prhs[0]), &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = tt_plan_distance(x, y, options) */
static void tt_plan_distance(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  check(purlin_tt_plan_distance(contraction_of(prhs[2], &w), train_of("x", prhs[0]), train_of("y", prhs[1]),
                                &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = tt_plan_gram(x, y, options, pairs): as tt_gram */
static void tt_plan_gram(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  int64_t rows, cols;
  int numbers = 0, same = !mxIsCell(prhs[1]), pairs = is_true("pairs", prhs[3]);
  const purlin_tt **x = trains_of("x", prhs[0], &rows, &numbers), **y = x;
  purlin_tt_contraction *c = contraction_of(prhs[2], &w);
  cols = rows;
  if (!same) y = trains_of("y", prhs[1], &cols, &numbers);
  if (pairs && cols != rows) fail("invalidArgument", "y: has %.0f trains, x has %.0f", (double)cols, (double)rows);
  check(pairs ? purlin_tt_plan_batch(c, rows, x, y, &info)
              : purlin_tt_plan_gram(c, rows, x, cols, same ? NULL : y, &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = tt_plan_sandwich(y, H, x, options) */
static void tt_plan_sandwich(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  check(purlin_tt_plan_sandwich(contraction_of(prhs[3], &w), train_of("y", prhs[0]), train_matrix_of("H", prhs[1]),
                                train_of("x", prhs[2]), &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = tt_plan_rayleigh(H, x, options) */
static void tt_plan_rayleigh(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  check(purlin_tt_plan_rayleigh(contraction_of(prhs[2], &w), train_matrix_of("H", prhs[0]), train_of("x", prhs[1]),
                                &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

const command tt_plan_commands[] = {
  {"tt_plan_inner", 3, 3, tt_plan_inner},
  {"tt_plan_norm", 2, 2, tt_plan_norm},
  {"tt_plan_distance", 3, 3, tt_plan_distance},
  {"tt_plan_gram", 4, 4, tt_plan_gram},
  {"tt_plan_sandwich", 4, 4, tt_plan_sandwich},
  {"tt_plan_rayleigh", 3, 3, tt_plan_rayleigh},
  {NULL, 0, 0, NULL},
};
