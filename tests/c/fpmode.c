/* The caller's floating-point environment (rounding, flush to zero) changes no result, and no call changes it. */
#include <fenv.h>
#include <math.h>

#include "check.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum { T = 40, U = 15, K = 4, N = 30 };

static double entries[T][U], tiny[T][U], signals[T][N], bvals[N], bvecs[N][3];
static float entries32[T][U];

/* The results of one call of everything that computes. */
struct outcome {
  double values[T][K], vectors[T][K][3], hessian[T][K][2], small_values[T][K];
  float values32[T][K];
  double pairs[2][16], products[T][N], polynomial[T][U], norms[T], identity[U], starts[N][3];
  double fitted[T][U], sh[T][U], converted[T][U], back[T][U], peaks[T][K][4], s0[T];
};

static void compute(struct outcome *o) {
  purlin_context *c = cpu_context(2);
  purlin_sshopm_results r;
  purlin_tensor *a = symmetric(c, PURLIN_F64, 4, 3, T, entries), *b = symmetric(c, PURLIN_F64, 4, 3, T, tiny);
  purlin_tensor *a32 = symmetric(c, PURLIN_F32, 4, 3, T, entries32), *two = symmetric(c, PURLIN_F64, 4, 3, 2, entries);
  purlin_tensor *x = array2(c, PURLIN_F64, 3, N, bvecs), *p = array2(c, PURLIN_F64, N, T, o->products);
  purlin_tensor *poly = symmetric(c, PURLIN_F64, 4, 3, T, o->polynomial), *norms = vector_of(c, PURLIN_F64, T, o->norms);
  purlin_tensor *e = symmetric(c, PURLIN_F64, 4, 3, 1, o->identity), *starts = array2(c, PURLIN_F64, 3, N, o->starts);
  purlin_tensor *s = array2(c, PURLIN_F64, N, T, signals), *bv = vector_of(c, PURLIN_F64, N, bvals);
  purlin_tensor *fitted = symmetric(c, PURLIN_F64, 4, 3, T, o->fitted), *sh = array2(c, PURLIN_F64, U, T, o->sh);
  purlin_tensor *converted = symmetric(c, PURLIN_F64, 4, 3, T, o->converted), *back = array2(c, PURLIN_F64, U, T, o->back);
  purlin_tensor *peaks = array3(c, PURLIN_F64, 4, K, T, o->peaks), *s0 = vector_of(c, PURLIN_F64, T, o->s0);
  purlin_dwi_options weighted;
  OK(purlin_sshopm_results_init(&r, sizeof r));
  r.values = array2(c, PURLIN_F64, K, T, o->values);
  r.vectors = array3(c, PURLIN_F64, 3, K, T, o->vectors);
  r.hessian = array3(c, PURLIN_F64, 2, K, T, o->hessian);
  OK(purlin_sshopm_solve_once(c, NULL, a, NULL, NULL, &r, NULL));
  OK(purlin_tensor_destroy(r.values));
  OK(purlin_tensor_destroy(r.vectors));
  OK(purlin_tensor_destroy(r.hessian));
  OK(purlin_sshopm_results_init(&r, sizeof r));
  r.values = array2(c, PURLIN_F64, K, T, o->small_values);
  OK(purlin_sshopm_solve_once(c, NULL, b, NULL, NULL, &r, NULL));
  OK(purlin_tensor_destroy(r.values));
  r.values = array2(c, PURLIN_F32, K, T, o->values32);
  OK(purlin_sshopm_solve_once(c, NULL, a32, NULL, NULL, &r, NULL));
  OK(purlin_tensor_destroy(r.values));
  r.values = array2(c, PURLIN_F64, 16, 2, o->pairs);
  OK(purlin_sshopm_solve_all_once(c, NULL, two, NULL, &r, NULL, NULL, NULL));
  OK(purlin_tensor_destroy(r.values));
  OK(purlin_sshopm_product(c, NULL, a, x, 4, p));
  OK(purlin_symmetric_convert(c, NULL, a, PURLIN_PACKING_POLYNOMIAL, poly, PURLIN_PACKING_ENTRIES));
  OK(purlin_symmetric_norm(c, NULL, a, PURLIN_NORM_FROBENIUS, norms));
  OK(purlin_symmetric_identity(c, NULL, 0.1, e));
  OK(purlin_sshopm_starts(c, NULL, PURLIN_STARTS_RANDOM, 3, starts));
  OK(purlin_dwi_options_init(&weighted, sizeof weighted));
  weighted.weighting = PURLIN_DWI_WLS;
  OK(purlin_dwi_fit_once(c, NULL, s, bv, x, NULL, NULL, &weighted, fitted, s0, NULL, NULL));
  OK(purlin_dwi_csa_once(c, NULL, s, bv, x, NULL, PURLIN_SH_CANONICAL, NULL, sh, NULL, NULL));
  OK(purlin_dwi_sh_to_tensor(c, NULL, sh, PURLIN_SH_CANONICAL, converted));
  OK(purlin_dwi_tensor_to_sh(c, NULL, converted, PURLIN_SH_MRTRIX3, back));
  OK(purlin_dwi_peaks_once(c, NULL, converted, NULL, NULL, peaks, NULL, NULL, NULL));
  {
    purlin_tensor *const made[] = {a, b, a32, two, x, p, poly, norms, e, starts, s, bv, fitted, sh, converted, back, peaks, s0};
    size_t k;
    for (k = 0; k < COUNT(made); k++) OK(purlin_tensor_destroy(made[k]));
  }
  OK(purlin_context_destroy(c));
}

/* Which member differs, for a message that helps. */
static void compare(const char *mode, const struct outcome *o, const struct outcome *plain) {
#define SAME(member)                                                                 \
  do {                                                                               \
    int same = memcmp(&o->member, &plain->member, sizeof plain->member) == 0;        \
    if (!same) fprintf(stderr, "%s: " #member " differs\n", mode);                   \
    CHECK(same);                                                                     \
  } while (0)
  SAME(values);
  SAME(vectors);
  SAME(hessian);
  SAME(small_values);
  SAME(values32);
  SAME(pairs);
  SAME(products);
  SAME(polynomial);
  SAME(norms);
  SAME(identity);
  SAME(starts);
  SAME(fitted);
  SAME(s0);
  SAME(sh);
  SAME(converted);
  SAME(back);
  SAME(peaks);
}

int main(void) {
  static struct outcome plain, other;
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  static const char *const names[] = {"upward", "downward", "toward zero"};
  uint64_t state = 11;
  int t, j;
  size_t k;
  for (t = 0; t < T; t++)
    for (j = 0; j < U; j++) {
      entries[t][j] = (double)(draw(&state) >> 11) / 9007199254740992.0 - 0.5;
      entries32[t][j] = (float)entries[t][j];
      /* Subnormal numbers, which a flush to zero would lose. */
      tiny[t][j] = 4e-310 * entries[t][j];
    }
  for (j = 0; j < N; j++) {
    double z = 1 - (j + 0.5) / N, r = sqrt(1 - z * z), phi = 2.399963 * j;
    bvals[j] = j == 0 ? 0 : 1000;
    bvecs[j][0] = r * cos(phi), bvecs[j][1] = r * sin(phi), bvecs[j][2] = z;
    for (t = 0; t < T; t++) signals[t][j] = j == 0 ? 100 : 20 + 60 * ((double)(draw(&state) >> 11) / 9007199254740992.0);
  }
  compute(&plain);
  CHECK(plain.values[0][0] != 0 && plain.fitted[0][0] != 0 && plain.sh[0][0] != 0);
  for (k = 0; k < COUNT(modes); k++) {
    memset(&other, 0, sizeof other);
    CHECK(fesetround(modes[k]) == 0);
    compute(&other);
    CHECK(fegetround() == modes[k]);
    fesetround(FE_TONEAREST);
    compare(names[k], &other, &plain);
  }
#if defined(__SSE2__)
  {
    unsigned mode = _mm_getcsr();
    memset(&other, 0, sizeof other);
    /* Flush to zero, and denormals are zero. */
    _mm_setcsr(mode | 0x8040);
    compute(&other);
    CHECK((_mm_getcsr() & 0x8040) == 0x8040);
    _mm_setcsr(mode);
    compare("flush to zero", &other, &plain);
  }
#else
  printf("no flush-to-zero mode is known here: it is not tested\n");
#endif
  return finish();
}
