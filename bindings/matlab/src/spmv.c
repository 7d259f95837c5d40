/* Commands of products with sparse matrices. */
#include <string.h>

#include "gateway.h"

/* Y = spmv(A, X, transposed, options): A is the transpose of a sparse matrix of MATLAB's, which `transposed` makes up for */
static void product(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]), *x = matrix_of("X", prhs[1]);
  purlin_matrix_info shape = matrix_properties_of(a), given = matrix_properties_of(x);
  int transposed = is_true("transposed", prhs[2]);
  purlin_spmv_options o;
  purlin_spmv *plan = NULL;
  output y;
  check(purlin_spmv_options_init(&o, sizeof o));
  read_choice(prhs[3], "method", spmv_method_words, &o.method);
  read_choice(prhs[3], "ordering", ordering_words, &o.ordering);
  if (transposed) o.op = PURLIN_SPMV_TRANSPOSE;
  if (given.rows != (transposed ? shape.rows : shape.cols))
    fail("invalidArgument", "X: has %.0f rows, %.0f are needed", (double)given.rows,
         (double)(transposed ? shape.rows : shape.cols));
  y = new_matrix(shape.dtype, transposed ? shape.cols : shape.rows, given.cols);
  check(purlin_spmv_create(a, &o, &plan));
  check(purlin_spmv_apply_block(temporary_plan(plan), NULL, NULL, a, x, NULL, y.matrix));
  plhs[0] = finish_output(&y);
  (void)nlhs;
  (void)nrhs;
}


static purlin_spmv *plan_argument(const mxArray *key) { return (purlin_spmv *)(uintptr_t)key_argument("plan", key); }

/* key = spmv_create(A, options) of a purlin.Matrix, which outlives the plan */
static void plan_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_spmv_options o;
  purlin_spmv *plan = NULL;
  check(purlin_spmv_options_init(&o, sizeof o));
  READ_SPMV_OPTIONS(prhs[1], &o);
  check(purlin_spmv_create(matrix_of("A", prhs[0]), &o, &plan));
  plhs[0] = key_of(plan);
  (void)nlhs;
  (void)nrhs;
}

static int64_t operator_rows(const purlin_spmv_info *plan, const purlin_matrix_info *shape) {
  switch (plan->kind) {
  case PURLIN_LANCZOS_GRAM:
  case PURLIN_LANCZOS_OUTER_GRAM:
  case PURLIN_LANCZOS_AUGMENTED: return operator_order(shape, plan->kind);
  default: return plan->rows;
  }
}

/* Y = spmv_apply(key, A, X, alpha, beta, Y): alpha and beta of A's class; Y is empty where beta is 0 */
static void plan_apply(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[1]), *x = matrix_of("X", prhs[2]);
  purlin_spmv *plan = plan_argument(prhs[0]);
  purlin_matrix_info shape = matrix_properties_of(a);
  purlin_matrix_info given = matrix_properties_of(x);
  int64_t rows, needed, cols = given.cols;
  purlin_spmv_info info;
  output y;
  check(purlin_spmv_info_init(&info, sizeof info));
  check(purlin_spmv_properties(plan, &info));
  rows = operator_rows(&info, &shape);
  /* Operators made of a matrix are square; the matrix itself or its transpose has as many columns as the other has rows. */
  needed = info.kind == PURLIN_LANCZOS_MATRIX ? shape.rows + shape.cols - rows : rows;
  if (given.rows != needed)
    fail("invalidArgument", "X: has %.0f rows, %.0f are needed", (double)given.rows, (double)needed);
  for (int i = 3; i < 5; i++)
    if (dtype_of(prhs[i]) != shape.dtype || mxGetNumberOfElements(prhs[i]) != 1)
      fail("invalidArgument", "%s: is not a number of the class of A", i == 3 ? "alpha" : "beta");
  y = new_matrix(shape.dtype, rows, cols);
  if (!mxIsEmpty(prhs[5])) {
    if (dtype_of(prhs[5]) != shape.dtype || (int64_t)mxGetM(prhs[5]) != rows || (int64_t)mxGetN(prhs[5]) != cols)
      fail("invalidArgument", "Y: is not %.0f x %.0f of the class of A", (double)rows, (double)cols);
    memcpy(y.space, elements_of(prhs[5], shape.dtype), (size_t)(rows * cols) * (shape.dtype == PURLIN_CF64 ? 16 : shape.dtype == PURLIN_F32 ? 4 : 8));
  }
  check(purlin_spmv_apply_block(plan, NULL, elements_of(prhs[3], shape.dtype), a, x, elements_of(prhs[4], shape.dtype),
                                y.matrix));
  plhs[0] = finish_output(&y);
  (void)nlhs;
  (void)nrhs;
}

/* spmv_update(key, A) */
static void plan_update(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  check(purlin_spmv_update(plan_argument(prhs[0]), matrix_of("A", prhs[1])));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* info = spmv_properties(key) */
static void plan_properties(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_spmv_info info;
  check(purlin_spmv_info_init(&info, sizeof info));
  check(purlin_spmv_properties(plan_argument(prhs[0]), &info));
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  REPORT_SPMV_INFO(plhs[0], &info);
  (void)nlhs;
  (void)nrhs;
}

/* spmv_destroy(key): a key that is gone is none */
static void plan_destroy(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)!purlin_spmv_destroy(plan_argument(prhs[0]));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

const command spmv_commands[] = {
  {"spmv", "A X transposed options", product},
  {"spmv_create", "A options", plan_create},
  {"spmv_apply", "key A X alpha beta Y", plan_apply},
  {"spmv_update", "key A", plan_update},
  {"spmv_properties", "key", plan_properties},
  {"spmv_destroy", "key", plan_destroy},
  {NULL, NULL, NULL},
};
