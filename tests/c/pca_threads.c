/* One analysis used by several threads at a time: transforms and inverse transforms give each thread the bits that they give alone. */
#define _POSIX_C_SOURCE 200809L
#include "rsvd.h"

#include <pthread.h>

enum { THREADS = 6 };

static purlin_context *context;
static purlin_pca *pca;
/* The samples that were fitted, which all threads read too. */
static purlin_matrix *fitted;
static double samples[M * N], alone_fitted[M * K];
static int64_t loops;

/* Inputs of a thread's own, results of a single thread, and results of all at a time. */
typedef struct work {
  double x[M * N], alone[M * K], alone_back[M * N], scores[M * K], back[M * N];
} work;

static work works[THREADS];

/* Samples to `scores`, and those to `back` unless it is NULL. Counts failures itself, because CHECK is for one thread. */
static intptr_t run(const purlin_matrix *x, double *scores, double *back) {
  intptr_t wrong = 0;
  purlin_matrix *t = NULL, *y = NULL;
  wrong += purlin_matrix_borrow(context, PURLIN_F64, 0, M, K, M, scores, &t) != PURLIN_SUCCESS;
  wrong += purlin_pca_transform(pca, NULL, x, t, NULL) != PURLIN_SUCCESS;
  if (back) {
    wrong += purlin_matrix_borrow(context, PURLIN_F64, 0, M, N, M, back, &y) != PURLIN_SUCCESS;
    wrong += purlin_pca_inverse_transform(pca, NULL, t, y) != PURLIN_SUCCESS;
    wrong += purlin_matrix_destroy(y) != PURLIN_SUCCESS;
  }
  return wrong + (purlin_matrix_destroy(t) != PURLIN_SUCCESS);
}

static intptr_t run_own(work *w, double *scores, double *back) {
  purlin_matrix *x = NULL;
  intptr_t wrong = purlin_matrix_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, M, w->x, &x) != PURLIN_SUCCESS;
  wrong += run(x, scores, back);
  return wrong + (purlin_matrix_destroy(x) != PURLIN_SUCCESS);
}

static void *thread(void *argument) {
  work *w = argument;
  intptr_t wrong = 0;
  int64_t i;
  for (i = 0; i < loops; i++) {
    memset(w->scores, 0, sizeof w->scores);
    memset(w->back, 0, sizeof w->back);
    wrong += run_own(w, w->scores, w->back);
    wrong += memcmp(w->scores, w->alone, sizeof w->scores) != 0 || memcmp(w->back, w->alone_back, sizeof w->back) != 0;
    memset(w->scores, 0, sizeof w->scores);
    wrong += run(fitted, w->scores, NULL);
    wrong += memcmp(w->scores, alone_fitted, sizeof w->scores) != 0;
  }
  return (void *)wrong;
}

int main(void) {
  purlin_rsvd_options o = rsvd_options();
  purlin_rsvd *rsvd = NULL;
  pthread_t threads[THREADS];
  int i, j, k;
  context = test_context(2);
  loops = rounds(20, 3);
  for (j = 0; j < N; j++)
    for (i = 0; i < M; i++) {
      samples[i + M * j] = entry(i, j) + 50 - j;
      for (k = 0; k < THREADS; k++) works[k].x[i + M * j] = samples[i + M * j] * (k + 2) + sin(i + k);
    }
  fitted = over(context, PURLIN_F64, PURLIN_READ_ONLY, M, N, samples);
  OK(purlin_rsvd_create(context, &o, &rsvd));
  OK(purlin_pca_fit(rsvd, NULL, fitted, NULL, NULL, &pca, NULL));
  OK(purlin_rsvd_destroy(rsvd));
  CHECK(run(fitted, alone_fitted, NULL) == 0);
  for (k = 0; k < THREADS; k++) {
    CHECK(run_own(&works[k], works[k].alone, works[k].alone_back) == 0);
    /* The inputs differ, and so do the results. */
    CHECK(memcmp(works[k].alone, alone_fitted, sizeof alone_fitted) != 0);
  }
  for (k = 0; k < THREADS; k++) CHECK(pthread_create(&threads[k], NULL, thread, &works[k]) == 0);
  for (k = 0; k < THREADS; k++) {
    void *wrong = NULL;
    CHECK(pthread_join(threads[k], &wrong) == 0);
    CHECK(wrong == NULL);
  }
  OK(purlin_pca_destroy(pca));
  OK(purlin_matrix_destroy(fitted));
  OK(purlin_context_destroy(context));
  return finish();
}
