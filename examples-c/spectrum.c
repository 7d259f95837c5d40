/* The largest eigenvalues of a symmetric sparse matrix or of a graph, how good they are, and where their vectors are largest.

     spectrum FILE [COUNT]

   FILE is a Matrix Market file (.mtx, .mtx.gz), or else a list of edges, whose vertices may be numbered as they like.
   Build: cc -std=c99 spectrum.c $(pkg-config --cflags --libs purlin) -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "purlin.h"

/* Ends the program with purlin's words if a call failed. */
static void check(purlin_status status, const char *call) {
  if (status == PURLIN_SUCCESS) return;
  fprintf(stderr, "spectrum: %s: %s (%s)\n", call, purlin_last_error_message(), purlin_status_string(status));
  exit(EXIT_FAILURE);
}

static double *numbers(int64_t count) {
  double *memory = calloc(count > 0 ? (size_t)count : 1, sizeof *memory);
  if (memory == NULL) {
    fprintf(stderr, "spectrum: out of memory\n");
    exit(EXIT_FAILURE);
  }
  return memory;
}

static int ends_with(const char *text, const char *ending) {
  size_t all = strlen(text), some = strlen(ending);
  return all >= some && strcmp(text + all - some, ending) == 0;
}

/* The matrix of a file; of a list of edges the undirected graph, and the number in the file of each vertex. */
static purlin_matrix *from_file(const purlin_context *context, const char *path, purlin_tensor **vertices) {
  purlin_matrix *matrix = NULL, *directed = NULL;
  if (ends_with(path, ".mtx") || ends_with(path, ".mtx.gz")) {
    check(purlin_matrix_read_market(context, path, PURLIN_F64, &matrix), "purlin_matrix_read_market");
    return matrix;
  }
  check(purlin_matrix_read_edges(context, path, PURLIN_F64, 0, PURLIN_DUPLICATES_FIRST, &directed, vertices),
        "purlin_matrix_read_edges");
  check(purlin_matrix_symmetrize(directed, PURLIN_SYMMETRIZE_UNION, &matrix), "purlin_matrix_symmetrize");
  check(purlin_matrix_destroy(directed), "purlin_matrix_destroy");
  return matrix;
}

/* The numbers of a tensor of them, on the host. */
static int64_t *numbered(const purlin_context *context, const purlin_tensor *vertices, int64_t n) {
  int64_t *list = calloc((size_t)n + 1, sizeof *list);
  purlin_tensor *target = NULL;
  if (list == NULL) {
    fprintf(stderr, "spectrum: out of memory\n");
    exit(EXIT_FAILURE);
  }
  check(purlin_tensor_borrow(context, PURLIN_I64, 0, 1, &n, NULL, list, &target), "purlin_tensor_borrow");
  check(purlin_tensor_copy(context, NULL, vertices, target), "purlin_tensor_copy");
  check(purlin_tensor_destroy(target), "purlin_tensor_destroy");
  return list;
}

/* A line for each of `found` eigenpairs; `names` NULL numbers the vertices from 1. */
static void print(int64_t n, int64_t found, const double *values, const double *vectors, const double *residuals,
                  const int64_t *names) {
  int64_t i, k;
  printf("  k        eigenvalue   residual   largest at\n");
  for (k = 0; k < found; k++) {
    int64_t at = 0;
    for (i = 1; i < n; i++)
      if (fabs(vectors[k * n + i]) > fabs(vectors[k * n + at])) at = i;
    printf("%3lld %17.9f    %.1e   %lld\n", (long long)k + 1, values[k], residuals[k],
           (long long)(names != NULL ? names[at] : at + 1));
  }
}

int main(int argc, char **argv) {
  int64_t count, n, *names = NULL;
  double *values, *vectors, *residuals;
  purlin_context *context = NULL;
  purlin_matrix *a, *x = NULL;
  purlin_tensor *vertices = NULL, *lambda = NULL, *residual = NULL;
  purlin_matrix_info about;
  purlin_lanczos_options options;
  purlin_lanczos_info info;
  purlin_status status;
  count = argc > 2 ? strtol(argv[2], NULL, 10) : 10;
  if (argc < 2 || argc > 3 || count < 1) {
    fprintf(stderr, "spectrum FILE [COUNT]\n");
    return EXIT_FAILURE;
  }
  check(purlin_context_create(NULL, &context), "purlin_context_create");
  a = from_file(context, argv[1], &vertices);
  check(purlin_matrix_info_init(&about, sizeof about), "purlin_matrix_info_init");
  check(purlin_matrix_properties(a, &about), "purlin_matrix_properties");
  n = about.rows;
  if (count > n) count = n;
  printf("%lld rows, %lld entries%s\n", (long long)n, (long long)about.nnz, about.data == 0 ? ", all of them 1" : "");

  values = numbers(count);
  residuals = numbers(count);
  vectors = numbers(n * count);
  check(purlin_tensor_borrow(context, PURLIN_F64, 0, 1, &count, NULL, values, &lambda), "purlin_tensor_borrow");
  check(purlin_tensor_borrow(context, PURLIN_F64, 0, 1, &count, NULL, residuals, &residual), "purlin_tensor_borrow");
  check(purlin_matrix_borrow(context, PURLIN_F64, 0, n, count, n, vectors, &x), "purlin_matrix_borrow");
  if (vertices != NULL) names = numbered(context, vertices, n);
  check(purlin_lanczos_options_init(&options, sizeof options), "purlin_lanczos_options_init");
  check(purlin_lanczos_info_init(&info, sizeof info), "purlin_lanczos_info_init");
  options.count = count;
  status = purlin_lanczos_solve_once(context, NULL, a, NULL, NULL, NULL, &options, lambda, x, residual, &info);
  /* The outputs then have the pairs found so far. */
  if (status == PURLIN_ERROR_NO_CONVERGENCE)
    fprintf(stderr, "spectrum: %s\n", purlin_last_error_message());
  else
    check(status, "purlin_lanczos_solve_once");
  print(n, info.count, values, vectors, residuals, names);
  printf("%lld of %lld converged, %lld products, %lld restarts\n", (long long)info.converged, (long long)count,
         (long long)info.products, (long long)info.restarts);

  check(purlin_tensor_destroy(vertices), "purlin_tensor_destroy");
  check(purlin_tensor_destroy(residual), "purlin_tensor_destroy");
  check(purlin_tensor_destroy(lambda), "purlin_tensor_destroy");
  check(purlin_matrix_destroy(x), "purlin_matrix_destroy");
  check(purlin_matrix_destroy(a), "purlin_matrix_destroy");
  check(purlin_context_destroy(context), "purlin_context_destroy");
  free(names);
  free(vectors);
  free(residuals);
  free(values);
  return status == PURLIN_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
