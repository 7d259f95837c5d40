/* The published tensors and their eigenpairs, from tests/golden/sshopm, which names their origin. */
#ifndef PURLIN_TESTS_PUBLISHED_H
#define PURLIN_TESTS_PUBLISHED_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef PURLIN_GOLDEN
#error "PURLIN_GOLDEN: the path of tests/golden"
#endif

enum { MOST_PAIRS = 11 };

struct published {
  int order, entries, pairs;
  double tensor[15];
  /* One representative of each pair. `negative`: number of negative eigenvalues of the projected Hessian. */
  double value[MOST_PAIRS], x[MOST_PAIRS][3], hessian[MOST_PAIRS][2];
  int negative[MOST_PAIRS];
};

static inline FILE *golden(const char *name) {
  char path[1024];
  FILE *file;
  snprintf(path, sizeof path, "%s/%s", PURLIN_GOLDEN, name);
  file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  return file;
}

/* The Kofidis-Regalia tensor (order 4, 11 pairs) or the Kolda-Mayo tensor (order 3, 7 pairs). */
static inline struct published published(int order) {
  struct published p;
  char name[64];
  FILE *file;
  p.order = order;
  p.entries = p.pairs = 0;
  snprintf(name, sizeof name, "sshopm/published_%d_3_tensor.txt", order);
  file = golden(name);
  while (p.entries < 15 && fscanf(file, "%lf", &p.tensor[p.entries]) == 1) p.entries++;
  fclose(file);
  snprintf(name, sizeof name, "sshopm/published_%d_3_pairs.txt", order);
  file = golden(name);
  while (p.pairs < MOST_PAIRS &&
         fscanf(file, "%lf %lf %lf %lf %lf %lf %d", &p.value[p.pairs], &p.x[p.pairs][0], &p.x[p.pairs][1],
                &p.x[p.pairs][2], &p.hessian[p.pairs][0], &p.hessian[p.pairs][1], &p.negative[p.pairs]) == 7)
    p.pairs++;
  fclose(file);
  if (p.entries != (order == 4 ? 15 : 10) || p.pairs != (order == 4 ? 11 : 7)) {
    fprintf(stderr, "%s is not whole\n", name);
    exit(1);
  }
  return p;
}

/* Largest difference of two vectors of the sphere, up to sign. */
static inline double apart(const double *x, const double *y) {
  double plus = 0, minus = 0;
  int k;
  for (k = 0; k < 3; k++) {
    plus = fmax(plus, fabs(x[k] - y[k]));
    minus = fmax(minus, fabs(x[k] + y[k]));
  }
  return fmin(plus, minus);
}

#endif
