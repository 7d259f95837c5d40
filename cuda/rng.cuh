// Random numbers as a pure function of their index: the mirror of src/base/rng.rs, bit for bit. Change both or neither.
//
// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011), key = seed, counter = (row low, row high, column / 2, stream).
// IEEE 754 defines the rounding of every operation. Intrinsics such as __fma_rn keep the compiler from contracting others.
#pragma once
#include <stdint.h>

#define PURLIN_RNG_STARTS 1u /* start vectors: row = index of the tensor, column = start * n + component */

struct purlin_words {
  uint32_t x[4];
};

__device__ inline purlin_words purlin_philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0,
                                             uint32_t k1) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint32_t h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const uint32_t h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// U in (0, 1] and V in [0, 1), multiples of 2^-53.
__device__ inline void purlin_uniforms(uint64_t seed, uint32_t stream, uint64_t row, uint32_t cell, double *u,
                                       double *v) {
  const double step = 1.0 / 9007199254740992.0;
  const purlin_words w = purlin_philox((uint32_t)row, (uint32_t)(row >> 32), cell, stream, (uint32_t)seed,
                                       (uint32_t)(seed >> 32));
  const uint64_t a = ((((uint64_t)w.x[0]) << 32 | w.x[1]) >> 11) + 1;
  const uint64_t b = (((uint64_t)w.x[2]) << 32 | w.x[3]) >> 11;
  *u = __dmul_rn(__ull2double_rn(a), step);
  *v = __dmul_rn(__ull2double_rn(b), step);
}

// Natural logarithm of a normal number in (0, 1]; see src/base/rng.rs for the derivation.
__device__ inline double purlin_ln(double x) {
  const double ln2_high = __longlong_as_double(0x3FE62E42FEE00000LL);
  const double ln2_low = __longlong_as_double(0x3DEA39EF35793C76LL);
  const double term[10] = {2.0 / 21.0, 2.0 / 19.0, 2.0 / 17.0, 2.0 / 15.0, 2.0 / 13.0,
                           2.0 / 11.0, 2.0 / 9.0,  2.0 / 7.0,  0.4,        2.0 / 3.0};
  const long long bits = __double_as_longlong(x);
  int exponent = (int)(bits >> 52) - 1023;
  double m = __longlong_as_double((bits & 0x000FFFFFFFFFFFFFLL) | 0x3FF0000000000000LL);
  if (m > 1.4142135623730951) {
    m = __dmul_rn(m, 0.5);
    exponent += 1;
  }
  const double f = __dsub_rn(m, 1.0);
  const double s = __ddiv_rn(f, __dadd_rn(m, 1.0));
  const double t = __dmul_rn(s, s);
  double series = 2.0 / 23.0;
#pragma unroll
  for (int k = 0; k < 10; ++k) series = __fma_rn(t, series, term[k]);
  series = __dmul_rn(series, t);
  const double e = (double)exponent;
  const double correction = __fma_rn(s, __dsub_rn(f, series), -__dmul_rn(e, ln2_low));
  return __fma_rn(e, ln2_high, __dsub_rn(f, correction));
}

// cos 2 pi v and sin 2 pi v for v in [0, 1).
__device__ inline void purlin_cos_sin_turn(double v, double *cosine, double *sine) {
  const double cos_term[9] = {1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0,
                              1.0 / 40320.0,          -1.0 / 720.0,         1.0 / 24.0,        -0.5,
                              1.0};
  const double sin_term[8] = {1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0,
                              1.0 / 362880.0,          -1.0 / 5040.0,          1.0 / 120.0,        -1.0 / 6.0};
  const double quadrant = floor(__fma_rn(4.0, v, 0.5));
  const double r = __fma_rn(0.25, -quadrant, v);
  const double a = __dmul_rn(r, 6.283185307179586);
  const double t = __dmul_rn(a, a);
  double c = -1.0 / 6402373705728000.0;
#pragma unroll
  for (int k = 0; k < 9; ++k) c = __fma_rn(t, c, cos_term[k]);
  double s = -1.0 / 121645100408832000.0;
#pragma unroll
  for (int k = 0; k < 8; ++k) s = __fma_rn(t, s, sin_term[k]);
  s = __fma_rn(__dmul_rn(a, t), s, a);
  switch ((int)quadrant & 3) {
    case 0: *cosine = c; *sine = s; break;
    case 1: *cosine = -s; *sine = c; break;
    case 2: *cosine = -c; *sine = -s; break;
    default: *cosine = s; *sine = -c; break;
  }
}

// A standard normal number: columns 2k and 2k + 1 are the cosine and the sine of one cell.
__device__ inline double purlin_normal(uint64_t seed, uint32_t stream, uint64_t row, uint32_t column) {
  double u, v, c, s;
  purlin_uniforms(seed, stream, row, column >> 1, &u, &v);
  const double radius = __dsqrt_rn(__dmul_rn(-2.0, purlin_ln(u)));
  purlin_cos_sin_turn(v, &c, &s);
  return __dmul_rn(radius, (column & 1) == 0 ? c : s);
}

// A number uniform in [-1, 1): columns 2k and 2k + 1 are the two uniforms of one cell.
__device__ inline double purlin_uniform(uint64_t seed, uint32_t stream, uint64_t row, uint32_t column) {
  double u, v;
  purlin_uniforms(seed, stream, row, column >> 1, &u, &v);
  return (column & 1) == 0 ? __fma_rn(2.0, -u, 1.0) : __fma_rn(2.0, v, -1.0);
}
