// Loads one tensor into a warp's ring: load (with a linear transform if requested), checks, scaling, isotropic part.
#ifndef PURLIN_SSHOPM_LOAD_CUH
#define PURLIN_SSHOPM_LOAD_CUH

#include "sshopm_launch.h"
#include "reduce.cuh"
#include "sshopm_forms.cuh"
#include "sshopm_real.cuh"
#include "sshopm_step.cuh"

namespace purlin {

// Data that a block stores for all its tensors: multinomials, entries of E, the launch's numbers, and the starts if all
// tensors share them.
template <int M, class T>
struct Shared {
  T *multinomial, *identity, *number, *starts, *ring;
};

__host__ __device__ constexpr bool starts_fit(const purlin_sshopm_params &p) {
  return p.start_stride == 0 && p.start_count <= PURLIN_LAUNCH_FUSED_MAX_STARTS;
}

template <class T>
__device__ __forceinline__ void load_start(const T *start, T *x, T *y, T *z) {
  T a = start[0], b = start[1], c = start[2];
  T scale = Real<T>::rsqrt_refined(fma(a, a, fma(b, b, c * c)));
  *x = a * scale;
  *y = b * scale;
  *z = c * scale;
}

template <int M, class T, int METHOD>
__device__ Shared<M, T> fill_shared(const purlin_sshopm_params &p, T *base) {
  constexpr int U = entries3(M);
  Shared<M, T> s{base, base + U, base + 2 * U, base + 2 * U + NUMBERS, nullptr};
  const int starts = starts_fit(p) ? p.start_count : 0;
  s.ring = base + padded(2 * U + NUMBERS + 3 * starts);
  for (int r = threadIdx.x; r < U; r += blockDim.x) {
    int q = 0;
    while ((q + 1) * (q + 2) / 2 <= r) ++q;
    int j = r - q * (q + 1) / 2;
    T count = T(binomial(M, q) * binomial(q, j));
    s.multinomial[r] = count;
    bool even = M % 2 == 0 && q % 2 == 0 && j % 2 == 0;
    s.identity[r] = even ? T(binomial(M / 2, q / 2) * binomial(q / 2, j / 2)) / count : T(0);
  }
  for (int v = threadIdx.x; v < starts; v += blockDim.x)
    load_start(address<const T>(p.starts) + 3 * v, s.starts + 3 * v, s.starts + 3 * v + 1, s.starts + 3 * v + 2);
  if (threadIdx.x == 0) {
    T *n = s.number;
    n[TOLERANCE] = T(p.tolerance);
    n[ISOTROPY] = T(p.isotropy);
    n[FIXED_SHIFT] = T(fabs(p.shift));
    n[TAU_FACTOR] = T(p.tau);
    // Rounding alone leaves a residual of about 4 eps times the norm, so the floor is at least that.
    n[FLOOR] = fmax(T((METHOD == PURLIN_LAUNCH_NEWTON ? 1.0 : 1e-3) * p.tolerance), T(4) * Real<T>::epsilon);
    n[MERGE] = T(p.merge_chord2);
    n[AGREE] = T(p.merge_value);
    n[DEGENERACY] = T(p.degeneracy);
    n[LEVEL] = T(p.level);
    n[ABSOLUTE] = T(p.absolute_threshold);
    n[RELATIVE] = T(p.relative_threshold);
    n[APART] = T(p.separation_chord2);
  }
  __syncthreads();
  return s;
}

// The row of work item `item`.
__device__ __forceinline__ int64_t row_of(const purlin_sshopm_params &p, int64_t item) {
  return p.index ? __ldg(address<const long long>(p.index) + item) : item;
}

// Subtracts c E from the entries in `slot`. c = 0.9 * the least value of the form over the starts, but not below 0.
template <int M, class T>
__device__ T remove_isotropic(const purlin_sshopm_params &p, const Shared<M, T> &shared, int64_t item, T *slot) {
  const bool near = starts_fit(p);
  const T *far = address<const T>(p.starts) + item * p.start_stride;
  T least = Real<T>::infinity();
  for (int v = lane_id(); v < p.start_count; v += 32) {
    T x, y, z, g[3];
    if (near) {
      x = shared.starts[3 * v];
      y = shared.starts[3 * v + 1];
      z = shared.starts[3 * v + 2];
    } else {
      load_start(far + 3 * static_cast<int64_t>(v), &x, &y, &z);
    }
    form_vector<M>(slot, x, y, z, g);
    least = fmin(least, fma(x, g[0], fma(y, g[1], z * g[2])));
  }
  T c = fmax(T(0.9) * warp_min_value(least), T(0));
  __syncwarp();
  for (int r = lane_id(); r < entries3(M); r += 32) slot[r] = fma(-c, shared.identity[r], slot[r]);
  return c;
}

// Loads item `item` into `slot` (entries, then scalars). Returns the tensor's status; only OK tensors have iterations.
// ZERO and ISOTROPIC tensors store their value (0 or c, unscaled) in slot[HEAD + ISOTROPIC].
template <int M, class T, int METHOD>
__device__ int load_tensor(const purlin_sshopm_params &p, const Shared<M, T> &shared, int64_t item, T *slot) {
  constexpr int U = entries3(M), HEAD = padded(U), PASSES = (U + 31) / 32;
  const T *number = shared.number;
  const int lane = lane_id();
  const int64_t row = row_of(p, item);
  if (p.mask && address<const uint8_t>(p.mask)[row] == 0) return PURLIN_LAUNCH_TENSOR_MASKED;

  const T *input = address<const T>(p.tensors) + row * p.tensor_stride;
  T a[PASSES];
#pragma unroll
  for (int i = 0; i < PASSES; ++i) {
    int r = lane + 32 * i;
    a[i] = r < U ? __ldg(input + r * p.entry_stride) : T(0);
  }
  if (p.transform) {
    const T *matrix = address<const T>(p.transform);
#pragma unroll
    for (int i = 0; i < PASSES; ++i) {
      if (lane + 32 * i < U) slot[lane + 32 * i] = a[i];
      a[i] = T(0);
    }
    __syncwarp();
    for (int j = 0; j < U; ++j) {
      T c = slot[j];
#pragma unroll
      for (int i = 0; i < PASSES; ++i)
        if (lane + 32 * i < U) a[i] = fma(__ldg(matrix + j * U + lane + 32 * i), c, a[i]);
    }
    __syncwarp();
  }

  T largest = T(0);
#pragma unroll
  for (int i = 0; i < PASSES; ++i) {
    T v = fabs(a[i]);
    // fmax would drop NaN. NaN alone has keys above that of infinity.
    largest = ordered_key(v) > ordered_key(largest) ? v : largest;
  }
  largest = warp_max_value(largest);
  if (!is_finite(largest)) return PURLIN_LAUNCH_TENSOR_NONFINITE;
  if (largest == T(0)) {
    if (lane == 0) slot[HEAD + ISOTROPIC] = T(0);
    return PURLIN_LAUNCH_TENSOR_ZERO;
  }
  T inverse, scale = Real<T>::power_scale(largest, &inverse);
  const T sign = p.goal == PURLIN_LAUNCH_MINIMA ? T(-1) : T(1);
  if (METHOD != PURLIN_LAUNCH_NEWTON && M % 2 == 0) {
    // Lane 0 has the entry of x^m, which is c for A = c E.
    T c = __shfl_sync(FULL_WARP, a[0], 0);
    bool off = false;
#pragma unroll
    for (int i = 0; i < PASSES; ++i)
      if (lane + 32 * i < U) off |= fabs(a[i] - c * shared.identity[lane + 32 * i]) > number[ISOTROPY] * largest;
    if (!__any_sync(FULL_WARP, off)) {
      if (lane == 0) slot[HEAD + ISOTROPIC] = c;
      return PURLIN_LAUNCH_TENSOR_ISOTROPIC;
    }
  }
  T norm = T(0);
#pragma unroll
  for (int i = 0; i < PASSES; ++i) {
    int r = lane + 32 * i;
    if (r < U) {
      a[i] *= scale * sign;
      slot[r] = a[i];
      norm = fma(shared.multinomial[r] * a[i], a[i], norm);
    }
  }
  norm = sqrt(warp_sum(norm));
  __syncwarp();
  T c = T(0);
  if (METHOD != PURLIN_LAUNCH_NEWTON && M % 2 == 0 && (p.flags & PURLIN_LAUNCH_REMOVE_ISOTROPIC))
    c = remove_isotropic<M>(p, shared, item, slot);

  if (lane == 0) {
    const T floor = number[FLOOR] * norm;
    const T shift = p.shift_kind == PURLIN_LAUNCH_SHIFT_GUARANTEED ? T(M - 1) * norm * T(1.001)
                                                                   : bounded_shift(number[FIXED_SHIFT] * scale);
    const auto thresholds = Thresholds<T>::of(p, number[TOLERANCE], norm, shift, scale);
    slot[HEAD + OUT_SCALE] = inverse * sign;
    slot[HEAD + ISOTROPIC] = c;
    slot[HEAD + NORM] = norm;
    slot[HEAD + FLOOR2] = p.test == PURLIN_LAUNCH_TEST_RESIDUAL ? floor * floor : thresholds.floor2;
    slot[HEAD + SHIFT] = shift;
    slot[HEAD + TAU] = number[TAU_FACTOR] * ((p.flags & PURLIN_LAUNCH_ABSOLUTE_TAU) ? scale : norm);
    const T limit = thresholds.limit;
    slot[HEAD + LIMIT] = p.test == PURLIN_LAUNCH_TEST_STEP && limit > T(0) ? limit * limit : limit;
  }
  __syncwarp();
  return PURLIN_LAUNCH_TENSOR_OK;
}

}  // namespace purlin

#endif
