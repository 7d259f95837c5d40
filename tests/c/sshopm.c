/* Eigenpairs: the published tables, the iteration counts of the Tensor Toolbox, and the promises for a batch. */
#include <math.h>

#include "check.h"
#include "published.h"
#include "results.h"

static purlin_context *context;

static purlin_sshopm_options defaults(void) {
  purlin_sshopm_options o;
  OK(purlin_sshopm_options_init(&o, sizeof o));
  return o;
}

/* SS-HOPM finds exactly the maxima with a positive shift and exactly the minima with a negative one. */
static void stable_pairs(int32_t goal, int32_t method, int32_t shift_kind, double shift) {
  struct published p = published(4);
  struct solution got;
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_sshopm_options o = defaults();
  int wanted[3], k, found = 0;
  o.goal = goal;
  o.method = method;
  o.shift_kind = shift_kind;
  o.shift = shift;
  o.max_iterations = 5000;
  o.tolerance = 1e-13;
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));
  for (k = 0; k < p.pairs; k++)
    if (p.negative[k] == (goal == PURLIN_SSHOPM_MAXIMA ? 2 : 0) && found < 3) wanted[found++] = k;
  CHECK(found == 3 && got.count[0] == 3 && got.status[0] == PURLIN_TENSOR_OK);
  for (k = 0; k < 3; k++) {
    /* Maxima descending, minima ascending. */
    int of = goal == PURLIN_SSHOPM_MAXIMA ? wanted[k] : wanted[2 - k];
    CHECK(fabs(got.values[0][k] - p.value[of]) < 1e-12);
    CHECK(apart(got.vectors[0][k], p.x[of]) < 1e-10);
    CHECK(got.residuals[0][k] <= 1e-13);
    CHECK(got.classes[0][k] == (goal == PURLIN_SSHOPM_MAXIMA ? PURLIN_PAIR_NEGATIVE_STABLE : PURLIN_PAIR_POSITIVE_STABLE));
  }
  OK(purlin_tensor_destroy(a));
  release(&r);
}

static void both_goals(void) {
  struct published p = published(4);
  struct solution got;
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_sshopm_options o = defaults();
  o.goal = PURLIN_SSHOPM_BOTH;
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));
  CHECK(got.count[0] == 6);
  CHECK(fabs(got.values[0][0] - p.value[0]) < 1e-9 && fabs(got.values[0][2] - p.value[3]) < 1e-9);
  CHECK(fabs(got.values[0][3] - p.value[10]) < 1e-9 && fabs(got.values[0][5] - p.value[8]) < 1e-9);
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* 3 x^3 + 2 y^3 + z^3: its maxima are the axes and the negative of its minimum inside the octant, at 1 / (3, 2, 1), of
   value 1 / sqrt(1/9 + 1/4 + 1) = 6/7. For odd order the minima are the maxima at the other side. */
static void odd_order(void) {
  const double value[4] = {3, 2, 1, -6.0 / 7}, inside[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7};
  double packed[10] = {3, 0, 0, 0, 0, 0, 2, 0, 0, 1};
  struct solution got;
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 3, 3, 1, packed);
  purlin_sshopm_options o = defaults();
  int method, k, i;
  for (method = PURLIN_SSHOPM_HYBRID; method <= PURLIN_SSHOPM_POWER; method++) {
    o.method = method;
    o.tolerance = 1e-12;
    o.max_iterations = 5000;
    for (o.goal = PURLIN_SSHOPM_MAXIMA; o.goal <= PURLIN_SSHOPM_BOTH; o.goal++) {
      const double sign = o.goal == PURLIN_SSHOPM_MINIMA ? -1 : 1;
      OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));
      CHECK(got.count[0] == 4 && got.found[0] == 4 && got.status[0] == PURLIN_TENSOR_OK);
      for (k = 0; k < 4; k++) {
        /* BOTH lists a pair once: the last one as the minimum. */
        const double turned = o.goal == PURLIN_SSHOPM_BOTH && k == 3 ? -1 : sign;
        const int is_minimum = o.goal == PURLIN_SSHOPM_MINIMA || (o.goal == PURLIN_SSHOPM_BOTH && k == 3);
        CHECK(fabs(got.values[0][k] - turned * value[k]) < 1e-10);
        CHECK(got.classes[0][k] == (is_minimum ? PURLIN_PAIR_POSITIVE_STABLE : PURLIN_PAIR_NEGATIVE_STABLE));
        CHECK(got.residuals[0][k] <= 1e-12);
        for (i = 0; i < 3; i++) CHECK(fabs(got.vectors[0][k][i] - turned * (k < 3 ? i == k : -inside[i])) < 1e-8);
      }
      CHECK(isnan(got.values[0][4]) && got.classes[0][4] == -1);
    }
  }
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* The identity and a little of a form: the maxima are those of the form. */
static void nearly_isotropic(void) {
  static const double part[2] = {1e-2, 1e-5};
  struct published p = published(4);
  double packed[15];
  struct solution got;
  purlin_sshopm_results r = over(context, &got, 1, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, packed);
  purlin_sshopm_options o = defaults();
  purlin_sshopm_info info;
  int k, way, wanted[3] = {0, 1, 3};
  OK(purlin_sshopm_info_init(&info, sizeof info));
  o.tolerance = 1e-12;
  o.degeneracy_tolerance = 1e-12;
  for (way = 0; way < 2; way++) {
    for (k = 0; k < 15; k++) packed[k] = part[way] * p.tensor[k];
    packed[0] += 1, packed[10] += 1, packed[14] += 1;
    packed[3] += 1.0 / 3, packed[5] += 1.0 / 3, packed[12] += 1.0 / 3;
    OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, &info));
    CHECK(got.count[0] == 3 && got.status[0] == PURLIN_TENSOR_OK && info.unconverged_tensors == 0);
    for (k = 0; k < 3; k++) {
      CHECK(fabs((got.values[0][k] - 1) / part[way] - p.value[wanted[k]]) < 1e-8);
      CHECK(apart(got.vectors[0][k], p.x[wanted[k]]) < 1e-5);
      CHECK(got.classes[0][k] == PURLIN_PAIR_NEGATIVE_STABLE);
    }
  }
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* The same in four and five dimensions: every start arrives, and the maxima are those of the form alone. */
static void nearly_isotropic_elsewhere(void) {
  enum { MOST = 70 };
  int64_t n;
  for (n = 4; n <= 5; n++) {
    static const double part[3] = {1, 1e-2, 1e-5}, close[3] = {0, 1e-7, 1e-4};
    double form[MOST], packed[MOST], values[3][PAIRS];
    int32_t count[3] = {0, 0, 0}, status = -1;
    purlin_sshopm_results r;
    purlin_sshopm_options o = defaults();
    purlin_sshopm_info info;
    uint64_t state = (uint64_t)n;
    int64_t entries = n * (n + 1) * (n + 2) * (n + 3) / 24, i, j, l, m, at;
    int way, k;
    OK(purlin_sshopm_info_init(&info, sizeof info));
    for (at = 0; at < entries; at++) form[at] = (double)(draw(&state) >> 11) / 4503599627370496.0 - 1;
    for (way = 0; way < 3; way++) {
      purlin_tensor *a = symmetric(context, PURLIN_F64, 4, n, 1, packed);
      OK(purlin_sshopm_results_init(&r, sizeof r));
      r.values = array2(context, PURLIN_F64, PAIRS, 1, values[way]);
      r.count = vector_of(context, PURLIN_I32, 1, &count[way]);
      r.status = vector_of(context, PURLIN_I32, 1, &status);
      for (i = at = 0; i < n; i++)
        for (j = i; j < n; j++)
          for (l = j; l < n; l++)
            for (m = l; m < n; m++, at++) {
              /* |x|^4 has a third for each of the three ways to pair the indices. */
              double identity = ((i == j && l == m) + (i == l && j == m) + (i == m && j == l)) / 3.0;
              packed[at] = part[way] * form[at] + (way > 0 ? identity : 0);
            }
      CHECK(at == entries);
      o.starts = 100;
      o.tolerance = 1e-12;
      o.degeneracy_tolerance = 1e-12;
      OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, &info));
      CHECK(info.converged_starts == 100 && status == PURLIN_TENSOR_OK && count[way] == count[0] && count[0] > 0);
      for (k = 0; k < count[0] && way > 0; k++) CHECK(fabs((values[way][k] - 1) / part[way] - values[0][k]) < close[way]);
      release(&r);
      OK(purlin_tensor_destroy(a));
    }
  }
}

/* Too few iterations for some starts: the pairs found are right, and the status reports that some may be missing. */
static void partial(void) {
  struct published p = published(4);
  static struct solution got;
  double batch[2][15];
  purlin_sshopm_results r = over(context, &got, 2, STARTS);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 2, batch);
  purlin_sshopm_options o = defaults();
  purlin_sshopm_info info;
  int t, k, j, stuck, total = 0;
  OK(purlin_sshopm_info_init(&info, sizeof info));
  for (k = 0; k < 15; k++) batch[0][k] = batch[1][k] = p.tensor[k];
  o.starts = STARTS;
  o.max_iterations = 4;
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, &info));
  CHECK(info.unconverged_tensors == 2);
  for (t = 0; t < 2; t++) {
    for (k = stuck = 0; k < STARTS; k++) stuck += got.start_status[t][k] != PURLIN_START_CONVERGED;
    CHECK(stuck > 0 && stuck < STARTS && got.count[t] > 0 && got.status[t] == PURLIN_TENSOR_PARTIAL);
    for (k = 0; k < got.count[t]; k++) {
      double nearest = 1;
      for (j = 0; j < p.pairs; j++)
        if (fabs(p.value[j] - got.values[t][k]) < nearest) nearest = fabs(p.value[j] - got.values[t][k]);
      CHECK(nearest < 1e-9);
    }
    total += stuck;
  }
  CHECK(info.converged_starts == 2 * STARTS - total);
  o.max_iterations = 500;
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, &info));
  CHECK(info.unconverged_tensors == 0 && got.status[0] == PURLIN_TENSOR_OK && got.status[1] == PURLIN_TENSOR_OK);
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* From x0 = (1, .5, -.3): 46 iterations with shift 2, 23 with the adaptive one, as `eig_sshopm` needs. */
static void tensor_toolbox(int32_t shift_kind, double shift, int iterations) {
  struct published p = published(4);
  double x0[3] = {1, .5, -.3}, lambda[100];
  struct solution got;
  purlin_sshopm_results r = over(context, &got, 1, 1);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_tensor *start = array2(context, PURLIN_F64, 3, 1, x0);
  purlin_sshopm_options o = defaults();
  int k;
  o.compatibility = PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX;
  o.shift_kind = shift_kind;
  o.shift = shift;
  r.trace = vector_of(context, PURLIN_F64, 100, lambda);
  OK(purlin_sshopm_solve_once(context, NULL, a, start, &o, &r, NULL));
  /* On a GPU, rounding decides on the last iteration. */
  CHECK(abs(got.start_iterations[0][0] - iterations) <= !is_on_cpu());
  CHECK(got.start_status[0][0] == PURLIN_START_CONVERGED && got.start_violations[0][0] == 0);
  CHECK(fabs(got.start_values[0][0] - p.value[0]) < 1e-13);
  CHECK(got.count[0] == 1 && fabs(got.values[0][0] - p.value[0]) < 1e-13);
  if (shift_kind == PURLIN_SSHOPM_SHIFT_FIXED) CHECK(got.start_shifts[0][0] == shift);
  /* The trace rises to the value and ends with it. */
  for (k = 1; k < 100 && !isnan(lambda[k]); k++) CHECK(lambda[k] >= lambda[k - 1] - 1e-15);
  CHECK(k >= iterations && k <= iterations + 1 && fabs(lambda[k - 1] - p.value[0]) < 1e-13);
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(start));
  release(&r);
}

/* Without a shift the method need not converge, and reports it for each start. */
static void unshifted(void) {
  struct published p = published(4);
  struct solution got;
  purlin_sshopm_results r = over(context, &got, 1, 32);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_sshopm_options o = defaults();
  purlin_sshopm_info info;
  int k, stuck = 0;
  OK(purlin_sshopm_info_init(&info, sizeof info));
  o.method = PURLIN_SSHOPM_POWER;
  o.shift_kind = PURLIN_SSHOPM_SHIFT_FIXED;
  o.remove_isotropic = 0;
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, &info));
  for (k = 0; k < 32; k++) stuck += got.start_status[0][k] == PURLIN_START_MAX_ITERATIONS;
  CHECK(stuck > 0 && info.starts == 32 && info.converged_starts == 32 - stuck);
  if (stuck == 32) CHECK(got.count[0] == 0 && got.status[0] == PURLIN_TENSOR_NO_PAIR);
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* HYBRID takes the same steps on A and on A less a multiple of the identity for n = 3: `remove_isotropic` changes no bit. */
static void isotropic(void) {
  struct published p = published(4);
  static struct solution plain, removed;
  purlin_sshopm_results r = over(context, &plain, 1, 32), s = over(context, &removed, 1, 32);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_sshopm_options o = defaults();
  CHECK(o.remove_isotropic == 1 && o.method == PURLIN_SSHOPM_HYBRID);
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &s, NULL));
  o.remove_isotropic = 0;
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, NULL));
  CHECK(plain.count[0] > 0 && plain.count[0] == removed.count[0]);
  CHECK(memcmp(plain.values[0], removed.values[0], (size_t)plain.count[0] * sizeof(double)) == 0);
  CHECK(memcmp(plain.start_iterations[0], removed.start_iterations[0], sizeof plain.start_iterations[0]) == 0);
  OK(purlin_tensor_destroy(a));
  release(&r);
  release(&s);
}

/* One bad tensor of a batch gets a status; the others' results have the same bits as each alone. */
static void bad_tensors(void) {
  struct published p = published(4);
  static struct solution got, alone;
  double batch[TENSORS][15];
  purlin_sshopm_results r = over(context, &got, TENSORS, STARTS), s = over(context, &alone, 1, STARTS);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, TENSORS, batch);
  purlin_tensor *one = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_sshopm_options o = defaults();
  purlin_sshopm_info info;
  int t, k;
  for (t = 0; t < TENSORS; t++)
    for (k = 0; k < 15; k++) batch[t][k] = p.tensor[k];
  batch[1][7] = NAN;
  batch[2][14] = -INFINITY;
  for (k = 0; k < 15; k++) batch[3][k] = 0;
  /* The identity: 1 at xxxx, yyyy, zzzz, 1/3 at xxyy, xxzz, yyzz. */
  for (k = 0; k < 15; k++) batch[4][k] = 0;
  batch[4][0] = batch[4][10] = batch[4][14] = 5;
  batch[4][3] = batch[4][5] = batch[4][12] = 5.0 / 3;
  for (k = 0; k < 15; k++) batch[5][k] = 1e-200 * p.tensor[k], batch[6][k] = 1e200 * p.tensor[k];
  o.starts = STARTS;
  OK(purlin_sshopm_info_init(&info, sizeof info));
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, &o, &r, &info));
  OK(purlin_sshopm_solve_once(context, NULL, one, NULL, &o, &s, NULL));
  CHECK(info.tensors == TENSORS && info.skipped_tensors == 4 && info.starts == STARTS);
  CHECK(got.status[1] == PURLIN_TENSOR_NONFINITE && got.status[2] == PURLIN_TENSOR_NONFINITE);
  CHECK(got.status[3] == PURLIN_TENSOR_ZERO && got.status[4] == PURLIN_TENSOR_ISOTROPIC);
  for (t = 1; t < 3; t++) {
    CHECK(got.count[t] == 0 && isnan(got.values[t][0]) && isnan(got.vectors[t][0][0]));
    CHECK(got.basins[t][0] == 0);
  }
  /* Every direction is an eigenvector; one represents them. */
  for (t = 3; t < 5; t++) {
    CHECK(got.count[t] == 1 && got.classes[t][0] == PURLIN_PAIR_DEGENERATE && got.values[t][0] == (t == 3 ? 0 : 5));
    CHECK(isnan(got.values[t][1]) && got.basins[t][0] == STARTS);
  }
  CHECK(got.start_status[1][0] == PURLIN_START_NONFINITE);
  for (t = 0; t < TENSORS; t++) {
    if (t >= 1 && t <= 4) continue;
    CHECK(got.count[t] == 3 && got.status[t] == PURLIN_TENSOR_OK);
    CHECK(fabs(got.values[5][0] / 1e-200 - p.value[0]) < 1e-9 && fabs(got.values[6][0] / 1e200 - p.value[0]) < 1e-9);
  }
  for (t = 0; t < TENSORS; t += 7) {
    CHECK(memcmp(got.values[t], alone.values[0], 3 * sizeof(double)) == 0);
    CHECK(memcmp(got.vectors[t], alone.vectors[0], 9 * sizeof(double)) == 0);
    CHECK(memcmp(got.basins[t], alone.basins[0], 3 * sizeof(int32_t)) == 0);
    CHECK(memcmp(got.start_values[t], alone.start_values[0], sizeof alone.start_values[0]) == 0);
  }
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(one));
  release(&r);
  release(&s);
}

/* No tensors: success, and nothing is written. */
static void empty_batch(void) {
  struct solution got, before;
  purlin_sshopm_results r = over(context, &got, 0, 0);
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 0, NULL);
  purlin_sshopm_info info;
  before = got;
  OK(purlin_sshopm_info_init(&info, sizeof info));
  OK(purlin_sshopm_solve_once(context, NULL, a, NULL, NULL, &r, &info));
  CHECK(info.tensors == 0 && info.converged_starts == 0);
  CHECK(memcmp(&got, &before, sizeof got) == 0);
  OK(purlin_tensor_destroy(a));
  release(&r);
}

/* Any strides of the input and any number of threads: the same bits. */
static void strides_and_threads(void) {
  enum { T = 5, GAP = 3 };
  double packed[T][15], entry_major[15][T], spread[T * (15 * 2 + GAP)];
  static struct solution first, other;
  uint64_t state = 7;
  int t, k, way;
  for (t = 0; t < T; t++)
    for (k = 0; k < 15; k++) {
      double x = (double)(draw(&state) >> 11) / 9007199254740992.0 - 0.5;
      packed[t][k] = entry_major[k][t] = spread[t * (15 * 2 + GAP) + 2 * k] = x;
    }
  for (way = 0; way < 4; way++) {
    purlin_context *c = test_context(way == 3 ? 4 : 1);
    purlin_tensor *a = NULL;
    purlin_sshopm_results r = over(c, way == 0 ? &first : &other, T, STARTS);
    purlin_sshopm_options o = defaults();
    o.starts = STARTS;
    o.goal = PURLIN_SSHOPM_MINIMA;
    if (way == 1)
      OK(purlin_tensor_borrow_symmetric(c, PURLIN_F64, PURLIN_ENTRY_MAJOR, 4, 3, T, 0, 0, entry_major, &a));
    else if (way == 2)
      OK(purlin_tensor_borrow_symmetric(c, PURLIN_F64, PURLIN_READ_ONLY, 4, 3, T, 2, 15 * 2 + GAP, spread, &a));
    else
      a = symmetric(c, PURLIN_F64, 4, 3, T, packed);
    OK(purlin_sshopm_solve_once(c, NULL, a, NULL, &o, &r, NULL));
    for (t = 0; t < T && way == 0; t++) CHECK(first.count[t] >= 1 && first.status[t] == PURLIN_TENSOR_OK);
    if (way > 0) CHECK(memcmp(&first, &other, sizeof first) == 0);
    OK(purlin_tensor_destroy(a));
    release(&r);
    OK(purlin_context_destroy(c));
  }
}

int main(void) {
  context = test_context(2);
  stable_pairs(PURLIN_SSHOPM_MAXIMA, PURLIN_SSHOPM_HYBRID, PURLIN_SSHOPM_SHIFT_ADAPTIVE, 0);
  stable_pairs(PURLIN_SSHOPM_MAXIMA, PURLIN_SSHOPM_POWER, PURLIN_SSHOPM_SHIFT_FIXED, 2);
  stable_pairs(PURLIN_SSHOPM_MAXIMA, PURLIN_SSHOPM_POWER, PURLIN_SSHOPM_SHIFT_GUARANTEED, 0);
  stable_pairs(PURLIN_SSHOPM_MINIMA, PURLIN_SSHOPM_HYBRID, PURLIN_SSHOPM_SHIFT_ADAPTIVE, 0);
  stable_pairs(PURLIN_SSHOPM_MINIMA, PURLIN_SSHOPM_POWER, PURLIN_SSHOPM_SHIFT_FIXED, -2);
  stable_pairs(PURLIN_SSHOPM_MINIMA, PURLIN_SSHOPM_POWER, PURLIN_SSHOPM_SHIFT_ADAPTIVE, 0);
  both_goals();
  odd_order();
  nearly_isotropic();
  nearly_isotropic_elsewhere();
  partial();
  tensor_toolbox(PURLIN_SSHOPM_SHIFT_FIXED, 2, 46);
  tensor_toolbox(PURLIN_SSHOPM_SHIFT_ADAPTIVE, 0, 23);
  unshifted();
  isotropic();
  bad_tensors();
  empty_batch();
  strides_and_threads();
  OK(purlin_context_destroy(context));
  return finish();
}
