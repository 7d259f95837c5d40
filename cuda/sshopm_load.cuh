// Bringing one tensor into a warp's ring: load (through a linear transform if asked), checks, scaling, isotropic part.
#ifndef PURLIN_SSHOPM_LOAD_CUH
#define PURLIN_SSHOPM_LOAD_CUH

#include "purlin_launch.h"
#include "reduce.cuh"
#include "sshopm_forms.cuh"
#include "sshopm_real.cuh"
#include "sshopm_step.cuh"

namespace purlin {

constexpr int SLOT_SCALARS = PURLIN_LAUNCH_SLOT_SCALARS;

// Multinomials and the entries of E (even order) of the ternary forms of order M, once per block in shared memory.
template <int M, class T>
__device__ void fill_tables(T *multinomial, T *identity) {
  for (int r = threadIdx.x; r < entries3(M); r += blockDim.x) {
    int q = 0;
    while ((q + 1) * (q + 2) / 2 <= r) ++q;
    int j = r - q * (q + 1) / 2;
    T count = T(binomial(M, q) * binomial(q, j));
    multinomial[r] = count;
    bool even = M % 2 == 0 && q % 2 == 0 && j % 2 == 0;
    identity[r] = even ? T(binomial(M / 2, q / 2) * binomial(q / 2, j / 2)) / count : T(0);
  }
}

// The row of work item `item`.
__device__ __forceinline__ int64_t row_of(const purlin_sshopm_params &p, int64_t item) {
  return p.index ? __ldg(address<const long long>(p.index) + item) : item;
}

// c = 0.9 * the least value of the form over the starts, but not below 0; subtracted from the entries in `slot`.
template <int M, class T>
__device__ T remove_isotropic(const purlin_sshopm_params &p, const T *identity, const T *starts, T *slot) {
  T least = Real<T>::infinity();
  for (int v = lane_id(); v < p.start_count; v += 32) {
    T x = starts[3 * v], y = starts[3 * v + 1], z = starts[3 * v + 2], g[3];
    T scale = Real<T>::rsqrt_refined(fma(x, x, fma(y, y, z * z)));
    x *= scale;
    y *= scale;
    z *= scale;
    form_vector<M>(slot, x, y, z, g);
    least = fmin(least, fma(x, g[0], fma(y, g[1], z * g[2])));
  }
  T c = fmax(T(0.9) * warp_min_value(least), T(0));
  __syncwarp();
  for (int r = lane_id(); r < entries3(M); r += 32) slot[r] = fma(-c, identity[r], slot[r]);
  return c;
}

// Loads item `item` into `slot` (entries, then scalars). Returns the tensor's status: only OK tensors are iterated on.
// ZERO and ISOTROPIC tensors leave their value (0 or c, unscaled) in slot[U + ISOTROPIC].
template <int M, class T, int METHOD>
__device__ int load_tensor(const purlin_sshopm_params &p, const T *multinomial, const T *identity, int64_t item,
                           T *slot) {
  constexpr int U = entries3(M), PASSES = (U + 31) / 32;
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
    // Not fmax, which drops NaN: above every key there is only NaN.
    largest = ordered_key(v) > ordered_key(largest) ? v : largest;
  }
  largest = warp_max_value(largest);
  if (!is_finite(largest)) return PURLIN_LAUNCH_TENSOR_NONFINITE;
  if (largest == T(0)) {
    if (lane == 0) slot[U + ISOTROPIC] = T(0);
    return PURLIN_LAUNCH_TENSOR_ZERO;
  }
  T inverse, scale = Real<T>::power_scale(largest, &inverse);
  const T sign = p.goal == PURLIN_LAUNCH_MINIMA ? T(-1) : T(1);
  if (METHOD != PURLIN_LAUNCH_NEWTON && M % 2 == 0) {
    // Lane 0 holds the entry of x^m, which is c for A = c E.
    T c = __shfl_sync(FULL_WARP, a[0], 0);
    bool off = false;
#pragma unroll
    for (int i = 0; i < PASSES; ++i)
      if (lane + 32 * i < U) off |= fabs(a[i] - c * identity[lane + 32 * i]) > T(p.isotropy) * largest;
    if (!__any_sync(FULL_WARP, off)) {
      if (lane == 0) slot[U + ISOTROPIC] = c;
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
      norm = fma(multinomial[r] * a[i], a[i], norm);
    }
  }
  norm = sqrt(warp_sum(norm));
  __syncwarp();
  T c = T(0);
  if (METHOD != PURLIN_LAUNCH_NEWTON && M % 2 == 0 && (p.flags & PURLIN_LAUNCH_REMOVE_ISOTROPIC))
    c = remove_isotropic<M>(p, identity, address<const T>(p.starts) + item * p.start_stride, slot);

  if (lane == 0) {
    // 4 eps of the norm is what rounding leaves of a residual; nothing smaller can be asked for.
    T relative = METHOD == PURLIN_LAUNCH_NEWTON ? T(p.tolerance) : T(1e-3) * T(p.tolerance);
    T floor = fmax(relative, T(4) * Real<T>::epsilon) * norm;
    slot[U + OUT_SCALE] = inverse * sign;
    slot[U + ISOTROPIC] = c;
    slot[U + NORM] = norm;
    slot[U + FLOOR2] = floor * floor;
    slot[U + SHIFT] = p.shift_kind == PURLIN_LAUNCH_SHIFT_GUARANTEED ? T(M - 1) * norm * T(1.001)
                                                                    : T(fabs(p.shift)) * scale;
    slot[U + TAU] = (p.flags & PURLIN_LAUNCH_ABSOLUTE_TAU) ? T(p.tau) * scale : T(p.tau) * norm;
    slot[U + LAMBDA_TOLERANCE] = (p.flags & PURLIN_LAUNCH_ABSOLUTE_TOLERANCE) ? T(p.tolerance) * scale : T(-1);
  }
  __syncwarp();
  return PURLIN_LAUNCH_TENSOR_OK;
}

}  // namespace purlin

#endif
