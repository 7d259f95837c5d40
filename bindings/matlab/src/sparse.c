/* Commands of sparse matrices: made symmetric, scaled, checked, read and written. */
#include "gateway.h"

static const choice symmetries[] = {{"union", PURLIN_SYMMETRIZE_UNION}, {"sum", PURLIN_SYMMETRIZE_SUM},
  {"average", PURLIN_SYMMETRIZE_AVERAGE}, {"intersection", PURLIN_SYMMETRIZE_INTERSECTION},
  {"mirror", PURLIN_SYMMETRIZE_MIRROR}, {NULL, 0}};
static const choice policies[] = {{"sum", PURLIN_DUPLICATES_SUM}, {"first", PURLIN_DUPLICATES_FIRST},
  {"last", PURLIN_DUPLICATES_LAST}, {"max", PURLIN_DUPLICATES_MAX}, {"refuse", PURLIN_DUPLICATES_REFUSE}, {NULL, 0}};

void hand_over_rows(purlin_matrix *made, int nlhs, mxArray *plhs[]) {
  (void)temporary_matrix(made);
  if (nlhs < 5) fail("internal", "a sparse matrix has 5 results");
  gather_rows(made, plhs);
}

/* [i, j, values, rows, cols] = symmetrize(A, rule) */
static void symmetrize(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  check(purlin_matrix_symmetrize(matrix_of("A", prhs[0]), choice_argument("rule", prhs[1], symmetries), &made));
  hand_over_rows(made, nlhs, plhs);
  (void)nrhs;
}

/* [i, j, values, rows, cols] = from_coordinates(i, j, values, rows, cols, duplicates): lists that count from 1; `values` empty
 * for ones */
static void from_coordinates(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int64_t count = (int64_t)mxGetNumberOfElements(prhs[0]), *lists[2];
  int pattern = mxIsEmpty(prhs[2]) && count > 0;
  int32_t dtype = pattern ? PURLIN_F64 : dtype_of(prhs[2]);
  purlin_matrix *made = NULL;
  for (int n = 0; n < 2; n++) {
    const double *from = mxGetData(prhs[n]);
    if (!mxIsDouble(prhs[n]) || mxIsComplex(prhs[n]) || mxIsSparse(prhs[n]) ||
        (int64_t)mxGetNumberOfElements(prhs[n]) != count)
      fail("invalidArgument", "%s: is not a list of %.0f real numbers of class double", n == 0 ? "i" : "j", (double)count);
    lists[n] = mxCalloc((size_t)count + 1, sizeof *lists[n]);
    for (int64_t k = 0; k < count; k++) {
      if (!(from[k] >= 1 && from[k] <= 9007199254740992.0 && from[k] == (double)(int64_t)from[k]))
        fail("invalidArgument", "%s: element %.0f is %g, a whole number from 1 on is needed", n == 0 ? "i" : "j",
             (double)k + 1, from[k]);
      lists[n][k] = (int64_t)from[k];
    }
  }
  if (!pattern && (mxIsSparse(prhs[2]) || (int64_t)mxGetNumberOfElements(prhs[2]) != count))
    fail("invalidArgument", "values: is not a list of %.0f numbers", (double)count);
  name_argument("row_idx", "i");
  name_argument("col_idx", "j");
  check(purlin_matrix_from_coordinates(gateway_context(), dtype, 1, integer_argument("m", prhs[3], 0, INT64_MAX),
                                       integer_argument("n", prhs[4], 0, INT64_MAX), count, PURLIN_I64, lists[0], lists[1],
                                       pattern ? NULL : elements_of(prhs[2], dtype),
                                       choice_argument("duplicates", prhs[5], policies), &made));
  hand_over_rows(made, nlhs, plhs);
  (void)nrhs;
}

/* list = matrix_order(A, method): a permutation that counts from 1 */
static void order(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]);
  int64_t n = matrix_properties_of(a).rows, *list = mxCalloc((size_t)n + 1, sizeof *list);
  purlin_tensor *target = NULL;
  check(purlin_tensor_borrow(gateway_context(), PURLIN_I64, 0, 1, &n, NULL, list, &target));
  (void)temporary(target);
  check(purlin_matrix_order(a, choice_argument("method", prhs[1], ordering_words), target));
  plhs[0] = mxCreateDoubleMatrix((mwSize)n, 1, mxREAL);
  for (int64_t k = 0; k < n; k++) ((double *)mxGetData(plhs[0]))[k] = (double)list[k] + 1;
  (void)nlhs;
  (void)nrhs;
}

static const choice matrix_norms[] = {{"frobenius", PURLIN_NORM_FROBENIUS}, {"one", PURLIN_NORM_ONE},
  {"max", PURLIN_NORM_MAX}, {"infinity", PURLIN_NORM_INFINITY}, {NULL, 0}};

/* value = matrix_norm(A, kind) */
static void norm(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  double value = 0;
  check(purlin_matrix_norm(matrix_of("A", prhs[0]), choice_argument("kind", prhs[1], matrix_norms), &value));
  plhs[0] = mxCreateDoubleScalar(value);
  (void)nlhs;
  (void)nrhs;
}

/* yes = matrix_is_symmetric(A, tolerance) */
static void is_symmetric(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  int32_t yes = 0;
  check(purlin_matrix_is_symmetric(matrix_of("A", prhs[0]), scalar_argument("tolerance", prhs[1]), &yes));
  plhs[0] = mxCreateLogicalScalar(yes != 0);
  (void)nlhs;
  (void)nrhs;
}

/* [i, j, values, rows, cols] = matrix_pattern(A) */
static void pattern(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  check(purlin_matrix_pattern(matrix_of("A", prhs[0]), &made));
  hand_over_rows(made, nlhs, plhs);
  (void)nrhs;
}

/* [i, j, values, rows, cols] = matrix_drop_zeros(A, threshold) */
static void drop_zeros(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  check(purlin_matrix_drop_zeros(matrix_of("A", prhs[0]), scalar_argument("threshold", prhs[1]), &made));
  hand_over_rows(made, nlhs, plhs);
  (void)nrhs;
}

/* [i, j, values, rows, cols] = matrix_scale(A, rows, cols): lists of the class of A, or empty */
static void scale(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *a = matrix_of("A", prhs[0]), *made = NULL;
  purlin_matrix_info shape = matrix_properties_of(a);
  purlin_tensor *lists[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++) {
    int64_t count = i == 0 ? shape.rows : shape.cols;
    const mxArray *list = prhs[1 + i];
    if (mxIsEmpty(list)) continue;
    if (mxIsSparse(list) || dtype_of(list) != shape.dtype || (int64_t)mxGetNumberOfElements(list) != count)
      fail("invalidArgument", "%s: is not a list of %.0f elements of the class of A", i == 0 ? "rows" : "cols", (double)count);
    check(purlin_tensor_borrow(gateway_context(), shape.dtype, PURLIN_READ_ONLY, 1, &count, NULL,
                               elements_of(list, shape.dtype), &lists[i]));
    (void)temporary(lists[i]);
  }
  check(purlin_matrix_scale(a, lists[0], lists[1], &made));
  hand_over_rows(made, nlhs, plhs);
  (void)nrhs;
}

/* matrix_check(A, sorted, distinct, finite): A is the transpose of a sparse matrix of MATLAB's, or a key */
static void check_entries(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  static const int32_t flags[] = {PURLIN_CHECK_SORTED, PURLIN_CHECK_DISTINCT, PURLIN_CHECK_FINITE};
  int32_t wanted = 0;
  for (int i = 0; i < 3; i++)
    if (is_true("checks", prhs[1 + i])) wanted |= flags[i];
  check(purlin_matrix_check(matrix_of("A", prhs[0]), wanted));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* [i, j, values, rows, cols] = read_market(path) */
static void read_market(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  char *path = text_of("path", prhs[0]);
  check(purlin_matrix_read_market(gateway_context(), path, PURLIN_DTYPE_OF_FILE, &made));
  hand_over_rows(made, nlhs, plhs);
  (void)nrhs;
}

/* write_market(A, path, symmetric) */
static void write_market(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  char *path = text_of("path", prhs[1]);
  check(purlin_matrix_write_market(matrix_of("A", prhs[0]), path, is_true("symmetric", prhs[2])));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

/* [i, j, values, rows, cols, vertices] = read_edges(path, weighted, duplicates, relabel): `vertices` is empty without
 * `relabel` */
static void read_edges(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_matrix *made = NULL;
  purlin_tensor *names = NULL;
  purlin_tensor_info info;
  char *path = text_of("path", prhs[0]);
  if (nlhs < 6) fail("internal", "read_edges: has 6 results");
  check(purlin_matrix_read_edges(gateway_context(), path, PURLIN_F64, is_true("weighted", prhs[1]),
                                 choice_argument("duplicates", prhs[2], policies), &made,
                                 is_true("relabel", prhs[3]) ? &names : NULL));
  if (names) (void)temporary(names);
  hand_over_rows(made, nlhs, plhs);
  check(purlin_tensor_info_init(&info, sizeof info));
  if (names) check(purlin_tensor_properties(names, &info));
  plhs[5] = mxCreateDoubleMatrix(names ? (mwSize)info.elements : 0, names ? 1 : 0, mxREAL);
  for (int64_t i = 0; names && i < info.elements; i++)
    ((double *)mxGetData(plhs[5]))[i] = (double)((const int64_t *)(uintptr_t)info.data)[i];
  (void)nrhs;
}

/* write_edges(A, path, symmetric) */
static void write_edges(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  char *path = text_of("path", prhs[1]);
  check(purlin_matrix_write_edges(matrix_of("A", prhs[0]), path, is_true("symmetric", prhs[2])));
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

const command sparse_commands[] = {
  {"symmetrize", "A rule", symmetrize},
  {"from_coordinates", "i j values m n duplicates", from_coordinates},
  {"matrix_order", "A method", order},
  {"matrix_norm", "A kind", norm},
  {"matrix_is_symmetric", "A tolerance", is_symmetric},
  {"matrix_pattern", "A", pattern},
  {"matrix_drop_zeros", "A threshold", drop_zeros},
  {"matrix_scale", "A rows cols", scale},
  {"matrix_check", "A sorted distinct finite", check_entries},
  {"read_market", "path", read_market},
  {"write_market", "A path symmetric", write_market},
  {"read_edges", "path weighted duplicates relabel", read_edges},
  {"write_edges", "A path symmetric", write_edges},
  {NULL, NULL, NULL},
};
