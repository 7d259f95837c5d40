// Kernels for contractions that are enqueued without waiting for the host. See tt_result_launch.h.
#include "tt_number.cuh"
#include "tt_result_launch.h"
#include "tt_sum.cuh"

namespace {

constexpr int64_t NOTHING = INT64_MIN;
// Exponents beyond this have been clamped and are not those of the number.
constexpr int64_t MOST = int64_t(1) << 61;
// Shifts beyond this give 0 or infinity.
constexpr int64_t FAR = 5000;

// Exponent of the larger part of a term; NOTHING for 0.
__device__ int64_t exponent_of(const purlin_tt_result &term) {
  const double largest = fmax(fabs(term.re), fabs(term.im));
  int q = 0;
  if (largest == 0.0 || !isfinite(largest)) return NOTHING;
  frexp(largest, &q);
  return term.exponent + q;
}

__device__ double shifted(double x, int64_t by) {
  return scalbn(x, static_cast<int>(by < -FAR ? -FAR : (by > FAR ? FAR : by)));
}

// Whether term q of a triangle is on its diagonal: q = p (p + 3) / 2.
__device__ bool is_diagonal(int64_t q) {
  int64_t p = static_cast<int64_t>((sqrt(8.0 * static_cast<double>(q) + 9.0) - 3.0) / 2.0);
  while (p * (p + 3) / 2 > q) --p;
  while ((p + 1) * (p + 4) / 2 <= q) ++p;
  return p * (p + 3) / 2 == q;
}

__device__ int64_t block_max(int64_t value) {
  __shared__ int64_t warps[PURLIN_LAUNCH_TT_SUM_THREADS / 32];
#pragma unroll
  for (int step = 16; step > 0; step >>= 1) {
    const int64_t other = __shfl_xor_sync(0xffffffffu, static_cast<long long>(value), step);
    value = other > value ? other : value;
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  for (int w = 0; w < PURLIN_LAUNCH_TT_SUM_THREADS / 32; ++w) value = warps[w] > value ? warps[w] : value;
  return value;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_STORE_WORDS)
    purlin_tt_store(const __grid_constant__ purlin_tt_store_params p) {
  const int64_t j = threadIdx.x;
  if (j < p.count) reinterpret_cast<uint64_t *>(p.to)[j] = p.words[j];
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_SUM_THREADS)
    purlin_tt_sum_terms(const __grid_constant__ purlin_tt_sum_terms_params p) {
  const purlin_tt_result *terms = reinterpret_cast<const purlin_tt_result *>(p.terms);
  const bool halved = (p.flags & PURLIN_LAUNCH_TT_SUM_TERMS_HALVED) != 0;
  const bool real = (p.flags & PURLIN_LAUNCH_TT_SUM_TERMS_REAL) != 0;
  const uint64_t *keys = reinterpret_cast<const uint64_t *>(p.keys);
  int64_t largest = NOTHING;
  int bad = (p.flags & PURLIN_LAUNCH_TT_SUM_TERMS_DATA_NONFINITE) != 0 ? 1 : 0;
  for (int64_t k = threadIdx.x; k < p.key_count; k += blockDim.x)
    if (!purlin::tt::is_finite_key(keys[k])) bad = 1;
  for (int64_t q = threadIdx.x; q < p.count; q += blockDim.x) {
    const int64_t exponent = exponent_of(terms[q]);
    largest = exponent > largest ? exponent : largest;
    if (!isfinite(terms[q].re) || !isfinite(terms[q].im)) bad = 1;
  }
  bad = __syncthreads_or(bad);
  largest = block_max(largest);
  double re = 0.0, im = 0.0;
  if (largest != NOTHING && bad == 0) {
    for (int64_t q = threadIdx.x; q < p.count; q += blockDim.x) {
      const purlin_tt_result term = terms[q];
      const double weight = halved && !is_diagonal(q) ? 2.0 : 1.0;
      re += weight * shifted(term.re, term.exponent - largest);
      if (!real) im += weight * shifted(term.im, term.exponent - largest);
    }
  }
  purlin::tt::block_sum(re, im);
  if (threadIdx.x != 0) return;
  double *result = reinterpret_cast<double *>(p.result);
  // Sums of exponents are clamped at 2^62.
  if (bad != 0 || (largest != NOTHING && (largest > MOST || largest < -MOST))) {
    result[0] = result[1] = nan("");
    result[2] = 0.0;
    result[3] = PURLIN_LAUNCH_TT_SUM_TERMS_NONFINITE;
    return;
  }
  if ((p.flags & PURLIN_LAUNCH_TT_SUM_TERMS_ROOT) != 0) {
    // Make the exponent even, so that the root of the power of two is exact.
    const int odd = static_cast<int>(largest & 1);
    re = re > 0.0 ? sqrt(scalbn(re, odd)) : 0.0;
    im = 0.0;
    largest = (largest - odd) / 2;
  }
  int q = 0;
  const double most = fmax(fabs(re), fabs(im));
  if (most > 0.0) frexp(most, &q);
  const double flip = (p.flags & PURLIN_LAUNCH_TT_SUM_TERMS_CONJUGATE) != 0 ? -1.0 : 1.0;
  result[0] = scalbn(re, -q);
  result[1] = flip * scalbn(im, -q);
  result[2] = most > 0.0 ? static_cast<double>(largest + q) : 0.0;
  result[3] = 0.0;
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_SUM_THREADS)
    purlin_tt_collect(const __grid_constant__ purlin_tt_collect_params p) {
  const double *sums = reinterpret_cast<const double *>(p.sums);
  const int group = blockIdx.x == 0 ? 0 : 1;
  const int64_t end = group == 0 ? p.split : p.count;
  double re = 0.0, im = 0.0;
  for (int64_t j = (group == 0 ? 0 : p.split) + threadIdx.x; j < end; j += blockDim.x) {
    re += sums[2 * j];
    im += sums[2 * j + 1];
  }
  purlin::tt::block_sum(re, im);
  if (threadIdx.x != 0) return;
  const int64_t exponent = reinterpret_cast<const int64_t *>(p.left)[group] +
                           reinterpret_cast<const int64_t *>(p.right)[group] + p.exponents[group];
  *reinterpret_cast<purlin_tt_result *>(group == 0 ? p.first : p.second) = {re, im, exponent, 0};
}

extern "C" __global__ void __launch_bounds__(32) purlin_tt_quotient(const __grid_constant__ purlin_tt_quotient_params p) {
  if (threadIdx.x != 0) return;
  const double *numerator = reinterpret_cast<const double *>(p.numerator);
  const double *denominator = reinterpret_cast<const double *>(p.denominator);
  double *result = reinterpret_cast<double *>(p.result);
  if (numerator[3] != 0.0 || denominator[3] != 0.0 || denominator[0] == 0.0) {
    result[0] = result[1] = nan("");
    result[2] = 0.0;
    result[3] = PURLIN_LAUNCH_TT_SUM_TERMS_NONFINITE;
    return;
  }
  const double re = numerator[0] / denominator[0], im = numerator[1] / denominator[0];
  const double most = fmax(fabs(re), fabs(im));
  int q = 0;
  if (most > 0.0) frexp(most, &q);
  result[0] = scalbn(re, -q);
  result[1] = scalbn(im, -q);
  result[2] = most > 0.0 ? numerator[2] - denominator[2] + q : 0.0;
  result[3] = 0.0;
}

extern "C" __global__ void __launch_bounds__(32) purlin_tt_weigh(const __grid_constant__ purlin_tt_weigh_params p) {
  if (threadIdx.x != 0) return;
  constexpr int64_t MOST = int64_t(1) << 50;
  const purlin_tt_state *states = reinterpret_cast<const purlin_tt_state *>(p.states);
  __int128 sum = 0;
  for (int64_t j = 0; j < p.count; ++j) {
    const int64_t e = states[j].exponent, held = e < -MOST ? -MOST : (e > MOST ? MOST : e);
    sum += static_cast<__int128>(held) * static_cast<__int128>(p.weights[j]);
  }
  constexpr int64_t END = int64_t(1) << 62;
  reinterpret_cast<purlin_tt_state *>(p.to)->exponent = static_cast<int64_t>(sum < -END ? -END : (sum > END ? END : sum));
}
