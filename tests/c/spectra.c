/* Sparse matrices as objects: made from coordinates, columns and dense ones, turned, cut, made symmetric, measured, read
   and written, and every refusal. */
#include "spectra.h"

static purlin_context *context, *foreign;

/* [0 2 0 5; 0 0 0 0; 1.5 0 0 -3]: an empty row, an empty column, unsorted coordinates. */
static const int64_t row[5] = {2, 0, 0, 2, 0}, col[5] = {3, 3, 1, 0, 1};
static const double value[5] = {-3, 5, 1.25, 1.5, 0.75};

static double dense_entry(int64_t i, int64_t j) {
  double sum = 0;
  int k;
  for (k = 0; k < 5; k++) sum += row[k] == i && col[k] == j ? value[k] : 0;
  return sum;
}

static void from_coordinates(void) {
  const int32_t row1[5] = {3, 1, 1, 3, 1}, col1[5] = {4, 4, 2, 1, 2};
  const double kept[5] = {2, 1.25, 0.75, 1.25, 0};
  purlin_matrix *a = coordinates(context, 3, 4, 5, row, col, value), *b = NULL;
  purlin_matrix_info info = matrix_info(a);
  int64_t i, j;
  int how;
  CHECK(info.storage == PURLIN_CSR && info.dtype == PURLIN_F64 && info.rows == 3 && info.cols == 4 && info.nnz == 4);
  CHECK(info.index_base == 0 && info.col_idx_type == PURLIN_I32 && info.owned == 1 && info.flags == 0);
  for (i = 0; i < 3; i++)
    for (j = 0; j < 4; j++) CHECK(at(a, i, j) == dense_entry(i, j));
  /* Columns ascend. */
  CHECK(((const int32_t *)(uintptr_t)info.col_idx)[0] == 1 && ((const int32_t *)(uintptr_t)info.col_idx)[1] == 3);
  OK(purlin_matrix_destroy(a));
  for (how = PURLIN_DUPLICATES_SUM; how <= PURLIN_DUPLICATES_MAX; how++) {
    OK(purlin_matrix_from_coordinates(context, PURLIN_F64, 1, 3, 4, 5, PURLIN_I32, row1, col1, value, how, &b));
    CHECK(at(b, 0, 1) == kept[how]);
    CHECK(at(b, 2, 3) == -3);
    OK(purlin_matrix_destroy(b));
  }
  BAD_ARGUMENT("elements 2 and 4 are both row 0, column 1",
               purlin_matrix_from_coordinates(context, PURLIN_F64, 1, 3, 4, 5, PURLIN_I32, row1, col1, value,
                                              PURLIN_DUPLICATES_REFUSE, &b));
  /* A pattern, and a matrix of nothing. */
  OK(purlin_matrix_from_coordinates(context, PURLIN_F32, 0, 3, 4, 5, PURLIN_I64, row, col, NULL, 0, &b));
  info = matrix_info(b);
  CHECK(info.data == 0 && info.nnz == 4 && info.dtype == PURLIN_F32);
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_from_coordinates(context, PURLIN_F64, 0, 0, 0, 0, PURLIN_I64, NULL, NULL, NULL, 0, &b));
  CHECK(matrix_info(b).rows == 0);
  OK(purlin_matrix_destroy(b));
#define MAKE(dtype, base, r, c, n, type, ri, ci, v, how) \
  purlin_matrix_from_coordinates(context, dtype, base, r, c, n, type, ri, ci, v, how, &b)
  BAD_HANDLE("context: is NULL", purlin_matrix_from_coordinates(NULL, PURLIN_F64, 0, 3, 4, 5, PURLIN_I64, row, col,
                                                                value, 0, &b));
  BAD_ARGUMENT("dtype: is I32", MAKE(PURLIN_I32, 0, 3, 4, 5, PURLIN_I64, row, col, value, 0));
  BAD_ARGUMENT("dtype: is 99", MAKE(99, 0, 3, 4, 5, PURLIN_I64, row, col, value, 0));
  BAD_ARGUMENT("index_type: is F64", MAKE(PURLIN_F64, 0, 3, 4, 5, PURLIN_F64, row, col, value, 0));
  BAD_ARGUMENT("index_base: is 2, 0 or 1 is needed", MAKE(PURLIN_F64, 2, 3, 4, 5, PURLIN_I64, row, col, value, 0));
  BAD_ARGUMENT("duplicates: is 5, outside 0 to 4", MAKE(PURLIN_F64, 0, 3, 4, 5, PURLIN_I64, row, col, value, 5));
  BAD_ARGUMENT("rows: is -1", MAKE(PURLIN_F64, 0, -1, 4, 5, PURLIN_I64, row, col, value, 0));
  BAD_ARGUMENT("nnz: is -5", MAKE(PURLIN_F64, 0, 3, 4, -5, PURLIN_I64, row, col, value, 0));
  BAD_ARGUMENT("row_idx: is NULL", MAKE(PURLIN_F64, 0, 3, 4, 5, PURLIN_I64, NULL, col, value, 0));
  BAD_ARGUMENT("col_idx: is NULL", MAKE(PURLIN_F64, 0, 3, 4, 5, PURLIN_I64, row, NULL, value, 0));
  BAD_ARGUMENT("row_idx: element 0 is 2, outside 0 to 1", MAKE(PURLIN_F64, 0, 2, 4, 5, PURLIN_I64, row, col, value, 0));
  BAD_ARGUMENT("col_idx: element 0 is 3, outside 0 to 2", MAKE(PURLIN_F64, 0, 3, 3, 5, PURLIN_I64, row, col, value, 0));
  BAD_ARGUMENT("values: is not aligned", MAKE(PURLIN_F64, 0, 3, 4, 4, PURLIN_I64, row, col,
                                              (const char *)value + 4, 0));
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_from_coordinates(context, PURLIN_F64, 0, 3, 4, 5, PURLIN_I64, row, col,
                                                                 value, 0, NULL));
}

/* Compressed columns, transposes, dense matrices, patterns. */
static void conversions(void) {
  /* The same matrix in columns, one-based; its rows are in order. */
  const int32_t start[5] = {1, 2, 3, 3, 5}, bad[5] = {1, 3, 2, 3, 5}, rows[4] = {3, 1, 1, 3}, far[4] = {3, 1, 9, 3};
  const double in_columns[4] = {1.5, 2, 5, -3};
  double out[3 * 5];
  purlin_matrix *a = coordinates(context, 3, 4, 5, row, col, value), *b = NULL, *t = NULL, *d = NULL, *s = NULL;
  purlin_matrix_info info;
  int64_t i, j;
  OK(purlin_matrix_from_columns(context, PURLIN_F64, 1, 3, 4, 4, PURLIN_I32, start, PURLIN_I32, rows, in_columns, &b));
  OK(purlin_matrix_transpose(a, 0, &t));
  for (i = 0; i < 3; i++)
    for (j = 0; j < 4; j++) CHECK(at(b, i, j) == at(a, i, j) && at(t, j, i) == at(a, i, j));
  OK(purlin_matrix_destroy(t));
  BAD_ARGUMENT("col_ptr: element 2 is 2, less than element 1",
               purlin_matrix_from_columns(context, PURLIN_F64, 1, 3, 4, 4, PURLIN_I32, bad, PURLIN_I32, rows,
                                          in_columns, &t));
  BAD_ARGUMENT("row_idx: element 2 is 9, outside 1 to 3",
               purlin_matrix_from_columns(context, PURLIN_F64, 1, 3, 4, 4, PURLIN_I32, start, PURLIN_I32, far,
                                          in_columns, &t));
  BAD_ARGUMENT("conjugate: is 2", purlin_matrix_transpose(a, 2, &t));
  BAD_ARGUMENT("matrix: is NULL", purlin_matrix_transpose(a, 0, NULL));

  /* To a row-major matrix with gaps, which stay, and back. */
  for (i = 0; i < 15; i++) out[i] = -7;
  OK(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_ROW_MAJOR, 3, 4, 5, out, &d));
  OK(purlin_matrix_to_dense(a, d));
  for (i = 0; i < 3; i++) {
    for (j = 0; j < 4; j++) CHECK(out[5 * i + j] == at(a, i, j));
    CHECK(i == 2 || out[5 * i + 4] == -7);
  }
  OK(purlin_matrix_from_dense(d, 1.75, &s));
  info = matrix_info(s);
  CHECK(info.nnz == 3 && at(s, 0, 1) == 2 && at(s, 2, 0) == 0 && at(s, 2, 3) == -3);
  OK(purlin_matrix_destroy(s));
  BAD_ARGUMENT("threshold: is -1", purlin_matrix_from_dense(d, -1, &s));
  UNSUPPORTED("a: is sparse, a dense matrix is needed", purlin_matrix_from_dense(a, 0, &s));
  UNSUPPORTED("a: is dense, a sparse matrix is needed", purlin_matrix_transpose(d, 0, &t));
  OK(purlin_matrix_pattern(a, &s));
  info = matrix_info(s);
  CHECK(info.data == 0 && info.nnz == 4 && at(s, 2, 3) == 1);
  OK(purlin_matrix_destroy(s));
  OK(purlin_matrix_destroy(d));
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_destroy(a));
}

/* A borrowed matrix with unsorted rows and a duplicate entry. */
static void canonical(void) {
  const int64_t start[3] = {0, 3, 4};
  const int32_t columns[4] = {2, 0, 2, 1};
  double values[4] = {1, 2, 3, 4}, replaced[3] = {7, 8, 9};
  purlin_matrix *a = NULL, *b = NULL;
  purlin_tensor *t, *four;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, 2, 3, 4, PURLIN_I64, start, PURLIN_I32, columns, values, &a));
  OK(purlin_matrix_canonical(a, PURLIN_DUPLICATES_SUM, &b));
  CHECK(matrix_info(b).nnz == 3 && at(b, 0, 2) == 4 && at(b, 0, 0) == 2 && at(b, 1, 1) == 4);
  t = vector_of(context, PURLIN_F64, 3, replaced);
  four = vector_of(context, PURLIN_F64, 4, values);
  OK(purlin_matrix_set_values(b, t));
  CHECK(at(b, 0, 0) == 7 && at(b, 0, 2) == 8 && at(b, 1, 1) == 9);
  BAD_ARGUMENT("values: has dimensions [4], [3] are needed", purlin_matrix_set_values(b, four));
  BAD_ARGUMENT("matrix: is borrowed, a matrix that owns its values is needed", purlin_matrix_set_values(a, four));
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_pattern(a, &b));
  BAD_ARGUMENT("matrix: is a pattern", purlin_matrix_set_values(b, t));
  OK(purlin_matrix_destroy(b));
  BAD_ARGUMENT("duplicates: is -1", purlin_matrix_canonical(a, -1, &b));
  BAD_ARGUMENT("col_idx: elements", purlin_matrix_canonical(a, PURLIN_DUPLICATES_REFUSE, &b));
  OK(purlin_tensor_destroy(four));
  OK(purlin_tensor_destroy(t));
  OK(purlin_matrix_destroy(a));
}

static void pieces(void) {
  const int64_t order[3] = {2, 0, 1}, twice[3] = {2, 0, 2}, some[2] = {3, 1};
  purlin_matrix *a = coordinates(context, 3, 4, 5, row, col, value), *b = NULL;
  int64_t i, j;
  OK(purlin_matrix_permute(a, order, NULL, &b));
  for (i = 0; i < 3; i++)
    for (j = 0; j < 4; j++) CHECK(at(b, i, j) == at(a, order[i], j));
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_select(a, 2, order, 2, some, &b));
  CHECK(matrix_info(b).rows == 2 && matrix_info(b).cols == 2);
  for (i = 0; i < 2; i++)
    for (j = 0; j < 2; j++) CHECK(at(b, i, j) == at(a, order[i], some[j]));
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_select(a, -9, NULL, 1, some, &b));
  CHECK(matrix_info(b).rows == 3 && matrix_info(b).cols == 1 && at(b, 0, 0) == 5);
  OK(purlin_matrix_destroy(b));
  BAD_ARGUMENT("rows: elements 0 and 2 are both 2", purlin_matrix_permute(a, twice, NULL, &b));
  BAD_ARGUMENT("rows: element 0 is 3, outside 0 to 2", purlin_matrix_select(a, 2, some, 0, NULL, &b));
  BAD_ARGUMENT("row_count: is -1", purlin_matrix_select(a, -1, some, 0, NULL, &b));
  OK(purlin_matrix_destroy(a));
}

/* Two triangles of a directed graph, and a vertex by itself. */
static void graphs(void) {
  const int64_t from[5] = {0, 1, 2, 1, 3}, to[5] = {1, 2, 0, 0, 3};
  const double weight[5] = {1, 2, 3, 4, 5};
  const double loop[5] = {5, 10, 5, 5, 5}, edge[5] = {4, 5, 2.5, 1, 0};
  purlin_matrix *a = coordinates(context, 6, 6, 5, from, to, weight), *s = NULL, *part = NULL;
  purlin_tensor *labels, *vertices = NULL, *sums, *diagonal;
  int64_t label[6], count = 0, i;
  double sum[6], on[6];
  int32_t symmetric = -1;
  int how;
  for (how = PURLIN_SYMMETRIZE_UNION; how <= PURLIN_SYMMETRIZE_INTERSECTION; how++) {
    OK(purlin_matrix_symmetrize(a, how, &s));
    OK(purlin_matrix_is_symmetric(s, 0, &symmetric));
    CHECK(symmetric == 1);
    CHECK(at(s, 3, 3) == loop[how] && at(s, 0, 1) == edge[how] && at(s, 1, 0) == edge[how]);
    if (how < PURLIN_SYMMETRIZE_INTERSECTION) OK(purlin_matrix_destroy(s));
  }
  CHECK(matrix_info(s).nnz == 3);
  OK(purlin_matrix_destroy(s));
  OK(purlin_matrix_is_symmetric(a, 0, &symmetric));
  CHECK(symmetric == 0);
  BAD_ARGUMENT("a: has row 0, column 1 (from 0) and its mirror image",
               purlin_matrix_symmetrize(a, PURLIN_SYMMETRIZE_MIRROR, &s));
  BAD_ARGUMENT("rule: is 5", purlin_matrix_symmetrize(a, 5, &s));
  BAD_ARGUMENT("tolerance: is -1", purlin_matrix_is_symmetric(a, -1, &symmetric));
  BAD_ARGUMENT("symmetric: is NULL", purlin_matrix_is_symmetric(a, 0, NULL));

  labels = vector_of(context, PURLIN_I64, 6, label);
  OK(purlin_graph_components(a, labels, &count));
  CHECK(count == 4 && label[0] == 0 && label[1] == 0 && label[2] == 0 && label[3] == 1 && label[4] == 2 && label[5] == 3);
  OK(purlin_graph_components(a, NULL, NULL));
  OK(purlin_graph_component(a, -1, &part, &vertices));
  CHECK(matrix_info(part).rows == 3 && matrix_info(part).nnz == 4 && at(part, 2, 0) == 3);
  OK(purlin_tensor_destroy(vertices));
  OK(purlin_matrix_destroy(part));
  OK(purlin_graph_component(a, 1, &part, NULL));
  CHECK(matrix_info(part).rows == 1 && at(part, 0, 0) == 5);
  OK(purlin_matrix_destroy(part));
  BAD_ARGUMENT("which: is 4, outside 0 to 3", purlin_graph_component(a, 4, &part, NULL));
  BAD_ARGUMENT("which: is -2", purlin_graph_component(a, -2, &part, NULL));

  sums = vector_of(context, PURLIN_F64, 6, sum);
  diagonal = vector_of(context, PURLIN_F64, 6, on);
  OK(purlin_matrix_row_sums(a, sums));
  OK(purlin_matrix_diagonal(a, diagonal));
  CHECK(sum[0] == 1 && sum[1] == 6 && sum[2] == 3 && sum[3] == 5 && sum[4] == 0);
  for (i = 0; i < 6; i++) CHECK(on[i] == (i == 3 ? 5 : 0));
  BAD_ARGUMENT("sums: is I64", purlin_matrix_row_sums(a, labels));
  OK(purlin_tensor_destroy(diagonal));
  OK(purlin_tensor_destroy(sums));
  OK(purlin_tensor_destroy(labels));
  OK(purlin_matrix_destroy(a));
  a = coordinates(context, 3, 4, 5, row, col, value);
  BAD_ARGUMENT("graph: is 3 x 4", purlin_graph_components(a, NULL, &count));
  BAD_ARGUMENT("a: is 3 x 4", purlin_matrix_symmetrize(a, 0, &s));
  OK(purlin_matrix_destroy(a));
}

/* A star whose centre is the last vertex, and a path numbered at random. */
static void orders(void) {
  const int64_t from[4] = {4, 4, 4, 4}, to[4] = {0, 1, 2, 3}, mixed[5] = {3, 0, 4, 1, 2};
  const double ones[4] = {1, 1, 1, 1};
  int64_t order[5], i;
  purlin_matrix *star = coordinates(context, 5, 5, 4, from, to, ones), *path = path_graph(context, 5), *p = NULL, *q = NULL;
  purlin_tensor *t = vector_of(context, PURLIN_I64, 5, order);
  OK(purlin_matrix_order(star, PURLIN_ORDERING_DEGREE, t));
  CHECK(order[0] == 4 && order[1] == 0 && order[4] == 3);
  OK(purlin_matrix_permute(path, mixed, mixed, &p));
  OK(purlin_matrix_order(p, PURLIN_ORDERING_CUTHILL_MCKEE, t));
  OK(purlin_matrix_permute(p, order, order, &q));
  for (i = 0; i < 4; i++) CHECK(at(q, i, i + 1) == 1 && at(q, i + 1, i) == 1);
  BAD_ARGUMENT("method: is 2, outside 0 to 1", purlin_matrix_order(star, 2, t));
  OK(purlin_tensor_destroy(t));
  t = vector_of(context, PURLIN_I64, 4, order);
  BAD_ARGUMENT("order: has dimensions [4], [5] are needed", purlin_matrix_order(star, 0, t));
  OK(purlin_tensor_destroy(t));
  OK(purlin_matrix_destroy(q));
  OK(purlin_matrix_destroy(p));
  OK(purlin_matrix_destroy(path));
  OK(purlin_matrix_destroy(star));
}

static void norms(void) {
  purlin_matrix *a = coordinates(context, 3, 4, 5, row, col, value);
  double norm = 0;
  OK(purlin_matrix_norm(a, PURLIN_NORM_FROBENIUS, &norm));
  CHECK(near(norm, sqrt(4 + 25 + 2.25 + 9), 1e-15));
  OK(purlin_matrix_norm(a, PURLIN_NORM_ONE, &norm));
  CHECK(norm == 8);
  OK(purlin_matrix_norm(a, PURLIN_NORM_MAX, &norm));
  CHECK(norm == 5);
  OK(purlin_matrix_norm(a, PURLIN_NORM_INFINITY, &norm));
  CHECK(norm == 7);
  BAD_ARGUMENT("kind: is 4", purlin_matrix_norm(a, 4, &norm));
  BAD_ARGUMENT("norm: is NULL", purlin_matrix_norm(a, 0, NULL));
  OK(purlin_matrix_destroy(a));
  BAD_HANDLE("a: was destroyed", purlin_matrix_norm(a, 0, &norm));
}

static void put_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  if (!file) return;
  CHECK(fputs(text, file) >= 0);
  CHECK(fclose(file) == 0);
}

static void files(void) {
  const char *market = "spectra_test.mtx", *edges = "spectra_test.txt";
  purlin_matrix *a = coordinates(context, 3, 4, 5, row, col, value), *b = NULL, *p = path_graph(context, 5);
  purlin_tensor *vertices = NULL;
  purlin_tensor_info info;
  int64_t i, j;
  OK(purlin_matrix_write_market(a, market, 0));
  OK(purlin_matrix_read_market(context, market, PURLIN_DTYPE_OF_FILE, &b));
  CHECK(matrix_info(b).dtype == PURLIN_F64);
  for (i = 0; i < 3; i++)
    for (j = 0; j < 4; j++) CHECK(at(b, i, j) == at(a, i, j));
  OK(purlin_matrix_destroy(b));
  OK(purlin_matrix_write_market(p, market, 1));
  OK(purlin_matrix_read_market(context, market, PURLIN_F32, &b));
  CHECK(matrix_info(b).dtype == PURLIN_F32 && matrix_info(b).nnz == 8);
  OK(purlin_matrix_destroy(b));
  BAD_ARGUMENT("symmetric: is set, the matrix is not symmetric", purlin_matrix_write_market(a, market, 1));
  BAD_ARGUMENT("dtype: is I64", purlin_matrix_read_market(context, market, PURLIN_I64, &b));
  BAD_ARGUMENT("path: is NULL", purlin_matrix_read_market(context, NULL, PURLIN_F64, &b));
  FAILS(PURLIN_ERROR_IO, "no/such/file", purlin_matrix_read_market(context, "no/such/file", PURLIN_F64, &b));
  put_file(market, "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 4\n");
  FAILS(PURLIN_ERROR_IO, "line 3: row 3, outside 1 to 2", purlin_matrix_read_market(context, market, PURLIN_F64, &b));
  put_file(market, "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
  UNSUPPORTED("dense array", purlin_matrix_read_market(context, market, PURLIN_F64, &b));

  OK(purlin_matrix_write_edges(p, edges, 1));
  OK(purlin_matrix_read_edges(context, edges, PURLIN_F64, 1, PURLIN_DUPLICATES_SUM, &b, NULL));
  CHECK(matrix_info(b).rows == 5 && matrix_info(b).nnz == 4 && at(b, 3, 2) == 1);
  OK(purlin_matrix_destroy(b));
  put_file(edges, "# far apart\n900 7\n7,40\n900 40\n");
  OK(purlin_matrix_read_edges(context, edges, PURLIN_F64, 0, PURLIN_DUPLICATES_REFUSE, &b, &vertices));
  CHECK(matrix_info(b).rows == 3 && matrix_info(b).data == 0 && at(b, 0, 1) == 1 && at(b, 0, 2) == 1);
  OK(purlin_tensor_info_init(&info, sizeof info));
  OK(purlin_tensor_properties(vertices, &info));
  CHECK(info.dtype == PURLIN_I64 && ((const int64_t *)(uintptr_t)info.data)[0] == 900);
  CHECK(((const int64_t *)(uintptr_t)info.data)[2] == 40);
  OK(purlin_tensor_destroy(vertices));
  OK(purlin_matrix_destroy(b));
  FAILS(PURLIN_ERROR_IO, "line 2: has no weight",
        purlin_matrix_read_edges(context, edges, PURLIN_F64, 1, 0, &b, NULL));
  /* A vertex that is no row is refused by its number and line, not by the memory of all rows up to it. */
  put_file(edges, "0 1\n9223372036854775806 1\n");
  FAILS(PURLIN_ERROR_IO, "line 2: vertex 9223372036854775806 is outside 0 to 576460752303423486",
        purlin_matrix_read_edges(context, edges, PURLIN_F64, 0, 0, &b, NULL));
  put_file(edges, "9223372036854775808 1\n");
  FAILS(PURLIN_ERROR_IO, "line 1: vertex 9223372036854775808 is outside 0 to 576460752303423486",
        purlin_matrix_read_edges(context, edges, PURLIN_F64, 0, 0, &b, NULL));
  FAILS(PURLIN_ERROR_IO, "line 1: vertex 9223372036854775808 is outside -9223372036854775808 to 9223372036854775807",
        purlin_matrix_read_edges(context, edges, PURLIN_F64, 0, 0, &b, &vertices));
  put_file(edges, "0 -1\n");
  FAILS(PURLIN_ERROR_IO, "line 1: vertex -1 is outside 0 to 576460752303423486",
        purlin_matrix_read_edges(context, edges, PURLIN_F64, 0, 0, &b, NULL));
  BAD_ARGUMENT("weighted: is 7", purlin_matrix_read_edges(context, edges, PURLIN_F64, 7, 0, &b, NULL));
  remove(edges);
  remove(market);
  OK(purlin_matrix_destroy(p));
  OK(purlin_matrix_destroy(a));
}

static void contexts(void) {
  purlin_matrix *a = coordinates(context, 3, 4, 5, row, col, value), *abroad = NULL;
  OK(purlin_matrix_create(foreign, PURLIN_F64, PURLIN_HOST, 0, 3, 4, &abroad));
  BAD_ARGUMENT("out: belongs to another context", purlin_matrix_to_dense(a, abroad));
  OK(purlin_matrix_destroy(abroad));
  OK(purlin_matrix_create(context, PURLIN_F32, PURLIN_HOST, 0, 3, 4, &abroad));
  BAD_ARGUMENT("out: is F32, F64 is needed", purlin_matrix_to_dense(a, abroad));
  OK(purlin_matrix_destroy(abroad));
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 4, 3, &abroad));
  BAD_ARGUMENT("out: is 4 x 3, 3 x 4 is needed", purlin_matrix_to_dense(a, abroad));
  OK(purlin_matrix_destroy(abroad));
  OK(purlin_matrix_destroy(a));
}

int main(void) {
  context = cpu_context(2);
  foreign = cpu_context(1);
  from_coordinates();
  conversions();
  canonical();
  pieces();
  graphs();
  orders();
  norms();
  files();
  contexts();
  OK(purlin_context_destroy(foreign));
  OK(purlin_context_destroy(context));
  return finish();
}
