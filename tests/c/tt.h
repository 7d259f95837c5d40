/* Helpers of the tests of tensor trains: trains of known values and contractions written out. */
#ifndef PURLIN_TESTS_TT_H
#define PURLIN_TESTS_TT_H

#include <math.h>

#include "check.h"

enum { MOST_CORES = 16, MOST_RANK = 8, MOST_MODE = 6 };

/* A train of F64 numbers from a generator, cores one after another. */
typedef struct made {
  int64_t d, modes[MOST_CORES], ranks[MOST_CORES + 1], dims[MOST_CORES][3];
  double data[MOST_CORES * MOST_MODE * MOST_RANK * MOST_RANK];
  void *cores[MOST_CORES];
  purlin_tt *tt;
} made;

static inline double uniform(uint64_t *state) {
  return (double)(draw(state) >> 11) / 4503599627370496.0 - 1.0;
}

/* Fills `m` with a train of d cores; its ranks are `inner` between them and `edge` at both ends. */
static inline void make_train(const purlin_context *context, made *m, int64_t d, int64_t mode, int64_t inner,
                              int64_t edge, uint64_t seed) {
  double *next = m->data;
  int64_t k, i;
  m->d = d;
  m->tt = NULL;
  for (k = 0; k <= d; k++) m->ranks[k] = k == 0 || k == d ? edge : inner;
  for (k = 0; k < d; k++) {
    int64_t count = m->ranks[k] * mode * m->ranks[k + 1];
    m->modes[k] = mode;
    m->dims[k][0] = m->ranks[k];
    m->dims[k][1] = mode;
    m->dims[k][2] = m->ranks[k + 1];
    m->cores[k] = next;
    for (i = 0; i < count; i++) *next++ = uniform(&seed);
  }
  OK(purlin_tt_borrow(context, PURLIN_F64, 0, d, m->modes, m->ranks, m->cores, &m->tt));
}

/* Entry (a, i, b) of core k. */
static inline double entry(const made *m, int64_t k, int64_t a, int64_t i, int64_t b) {
  const double *core = m->cores[k];
  return core[a + m->ranks[k] * (i + m->modes[k] * b)];
}

/* The entry of the tensor at `index`: the trace of a product of matrices. */
static inline double element(const made *m, const int64_t *index) {
  double product[MOST_RANK][MOST_RANK], next[MOST_RANK][MOST_RANK], trace = 0;
  int64_t k, a, b, c;
  for (a = 0; a < m->ranks[0]; a++)
    for (b = 0; b < m->ranks[0]; b++) product[a][b] = a == b;
  for (k = 0; k < m->d; k++) {
    for (a = 0; a < m->ranks[0]; a++)
      for (c = 0; c < m->ranks[k + 1]; c++) {
        next[a][c] = 0;
        for (b = 0; b < m->ranks[k]; b++) next[a][c] += product[a][b] * entry(m, k, b, index[k], c);
      }
    memcpy(product, next, sizeof product);
  }
  for (a = 0; a < m->ranks[0]; a++) trace += product[a][a];
  return trace;
}

/* The next index tuple, the first number fastest; 0 after the last. */
static inline int advance(const made *m, int64_t *index) {
  int64_t k;
  for (k = 0; k < m->d; k++) {
    if (++index[k] < m->modes[k]) return 1;
    index[k] = 0;
  }
  return 0;
}

/* Inner product by all entries. */
static inline double slow_inner(const made *x, const made *y) {
  int64_t index[MOST_CORES] = {0};
  double sum = 0;
  do sum += element(x, index) * element(y, index);
  while (advance(x, index));
  return sum;
}

static inline int near(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance * (1 + fabs(b));
}

static inline purlin_tt_info train_info(void) {
  purlin_tt_info info;
  OK(purlin_tt_info_init(&info, sizeof info));
  return info;
}

/* A scaled number in plain form. */
static inline double value_of(const purlin_tt_scaled *s) {
  return ldexp(s->re, (int)s->exponent);
}

#endif
