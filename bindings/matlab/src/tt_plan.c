/* Commands that plan contractions of tensor trains. */
#include "gateway.h"

/* info = tt_plan_inner(x, y, options) */
static void tt_plan_inner(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  const purlin_tt *x = train_of("x", prhs[0]), *y = train_of("y", prhs[1]);
  expect_rings(prhs[2], train_is_ring(x) || train_is_ring(y));
  check(purlin_tt_plan_inner(contraction_of(prhs[2], &w), x, y, &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = tt_plan_norm(x, options) */
static void tt_plan_norm(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  const purlin_tt *x = train_of("x", prhs[0]);
  expect_rings(prhs[1], train_is_ring(x));
  check(purlin_tt_plan_norm(contraction_of(prhs[1], &w), x, &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = tt_plan_distance(x, y, options) */
static void tt_plan_distance(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  const purlin_tt *x = train_of("x", prhs[0]), *y = train_of("y", prhs[1]);
  expect_rings(prhs[2], train_is_ring(x) || train_is_ring(y));
  check(purlin_tt_plan_distance(contraction_of(prhs[2], &w), x, y, &info));
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
  else reword("y[", "x[");
  if (pairs && cols != rows) fail("invalidArgument", "y: has %.0f trains, x has %.0f", (double)cols, (double)rows);
  expect_rings(prhs[2], have_rings(x, rows, y, cols));
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
  const purlin_tt *y = train_of("y", prhs[0]), *x = train_of("x", prhs[2]);
  const purlin_tt_matrix *h = train_matrix_of("H", prhs[1]);
  expect_rings(prhs[3], train_is_ring(x) || train_is_ring(y) || train_matrix_is_ring(h));
  check(purlin_tt_plan_sandwich(contraction_of(prhs[3], &w), y, h, x, &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

/* info = tt_plan_rayleigh(H, x, options) */
static void tt_plan_rayleigh(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_tt_contraction_info info = fresh_contraction_info();
  watch w;
  const purlin_tt_matrix *h = train_matrix_of("H", prhs[0]);
  const purlin_tt *x = train_of("x", prhs[1]);
  expect_rings(prhs[2], train_is_ring(x) || train_matrix_is_ring(h));
  name_argument("y", "x");
  check(purlin_tt_plan_rayleigh(contraction_of(prhs[2], &w), h, x, &info));
  plhs[0] = contraction_report(&info);
  (void)nlhs;
  (void)nrhs;
}

const command tt_plan_commands[] = {
  {"tt_plan_inner", "x y options", tt_plan_inner},
  {"tt_plan_norm", "x options", tt_plan_norm},
  {"tt_plan_distance", "x y options", tt_plan_distance},
  {"tt_plan_gram", "x y options pairs", tt_plan_gram},
  {"tt_plan_sandwich", "y H x options", tt_plan_sandwich},
  {"tt_plan_rayleigh", "H x options", tt_plan_rayleigh},
  {NULL, NULL, NULL},
};
