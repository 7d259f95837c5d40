// Fits apparent-diffusion tensors to diffusion signals; see purlin_fit_params in dwi_launch.h.
#include "dwi_launch.h"
#include "reduce.cuh"
#include "sshopm_launch.h"
#include "sshopm_real.cuh"

namespace purlin {

constexpr int VOXELS = PURLIN_LAUNCH_FIT_VOXELS, CHUNK = PURLIN_LAUNCH_FIT_CHUNK,
              THREADS = PURLIN_LAUNCH_FIT_THREADS, MAX_U = PURLIN_LAUNCH_FIT_MAX_ENTRIES, WARPS = THREADS / 32;
static_assert(VOXELS == 32 && CHUNK == 32, "a warp covers one row of the staging tile");

// Problems of a voxel, as bits that are set in any order.
enum Trouble { BAD_NONFINITE = 1, BAD_SIGNAL = 2, WAS_CLAMPED = 4, IS_MASKED = 8 };

template <class T>
__device__ T signal_at(const purlin_fit_params &p, int measurement, int64_t voxel) {
  const int64_t at = measurement * p.measurement_stride + voxel * p.voxel_stride;
  switch (p.signal_type) {
    case 0: return static_cast<T>(address<const float>(p.signals)[at]);
    case 1: return static_cast<T>(address<const double>(p.signals)[at]);
    case 4: return static_cast<T>(address<const int>(p.signals)[at]);
    case 6: return static_cast<T>(address<const uint8_t>(p.signals)[at]);
    default: return static_cast<T>(address<const uint16_t>(p.signals)[at]);
  }
}

__device__ int status_of(int trouble) {
  if (trouble & IS_MASKED) return PURLIN_LAUNCH_TENSOR_MASKED;
  if (trouble & BAD_NONFINITE) return PURLIN_LAUNCH_TENSOR_NONFINITE;
  if (trouble & BAD_SIGNAL) return PURLIN_LAUNCH_TENSOR_SIGNAL;
  return trouble & WAS_CLAMPED ? PURLIN_LAUNCH_TENSOR_CLAMPED : PURLIN_LAUNCH_TENSOR_OK;
}

// log(S / S0). Sets the voxel's problems in `trouble`; returns 0 if the ratio cannot be used.
template <class T>
__device__ T log_ratio(const purlin_fit_params &p, T signal, T s0, int *trouble) {
  T ratio = signal / s0;
  if (!is_finite(signal)) {
    *trouble |= BAD_NONFINITE;
    return T(0);
  }
  if (!(ratio > T(0))) {
    *trouble |= p.skip ? BAD_SIGNAL : WAS_CLAMPED;
    ratio = T(p.clamp);
  }
  return log(ratio);
}

// Unweighted fit, 32 voxels in a tile. Logarithms are staged in shared memory measurement by measurement. Then each warp
// computes every fourth entry of the tensors, with one voxel in each lane.
template <class T>
__device__ void fit(const purlin_fit_params &p) {
  constexpr int OWN = (MAX_U + WARPS - 1) / WARPS;
  __shared__ T logs[CHUNK][VOXELS + 1], partial[WARPS][VOXELS], s0[VOXELS];
  __shared__ int trouble[VOXELS];
  const int lane = lane_id(), warp = threadIdx.x / 32;
  const int *baseline = address<const int>(p.baseline), *weighted = address<const int>(p.weighted);
  const T *solution = address<const T>(p.solution);
  // Consecutive threads read along the axis of the signals with the smaller stride.
  const bool along_measurements = p.measurement_stride < p.voxel_stride;

  for (int64_t tile = blockIdx.x; tile * VOXELS < p.count; tile += gridDim.x) {
    const int64_t voxel = tile * VOXELS + lane;
    const bool inside = voxel < p.count;
    const bool masked = inside && p.mask && address<const uint8_t>(p.mask)[voxel] == 0;
    T sum = T(0);
    if (inside && !masked)
      for (int j = warp; j < p.baseline_count; j += WARPS) sum += signal_at<T>(p, baseline[j], voxel);
    partial[warp][lane] = sum;
    __syncthreads();
    if (warp == 0) {
      T mean = T(0);
      for (int w = 0; w < WARPS; ++w) mean += partial[w][lane];
      mean /= T(p.baseline_count);
      int bad = !inside || masked ? IS_MASKED : !is_finite(mean) ? BAD_NONFINITE : mean > T(0) ? 0 : BAD_SIGNAL;
      s0[lane] = bad ? T(1) : mean;
      trouble[lane] = bad;
      if (inside && p.s0) address<T>(p.s0)[voxel] = bad ? T(0) : mean;
    }
    __syncthreads();
    T entries[OWN];
#pragma unroll
    for (int i = 0; i < OWN; ++i) entries[i] = T(0);
    for (int first = 0; first < p.weighted_count; first += CHUNK) {
      for (int i = warp; i < 32; i += WARPS) {
        const int j = along_measurements ? lane : i, v = along_measurements ? i : lane;
        T value = T(0);
        if (first + j < p.weighted_count && !(trouble[v] & (IS_MASKED | BAD_NONFINITE | BAD_SIGNAL))) {
          int noted = 0;
          value = log_ratio(p, signal_at<T>(p, weighted[first + j], tile * VOXELS + v), s0[v], &noted);
          if (noted) atomicOr(trouble + v, noted);
        }
        logs[j][v] = value;
      }
      __syncthreads();
      const int end = min(CHUNK, p.weighted_count - first);
      for (int j = 0; j < end; ++j) {
        const T value = logs[j][lane];
        const T *column = solution + static_cast<int64_t>(first + j) * p.entries;
#pragma unroll
        for (int i = 0; i < OWN; ++i)
          if (warp + WARPS * i < p.entries) entries[i] = fma(__ldg(column + warp + WARPS * i), value, entries[i]);
      }
      __syncthreads();
    }
    const int bad = trouble[lane];
    const bool usable = !(bad & (IS_MASKED | BAD_NONFINITE | BAD_SIGNAL));
    if (inside) {
      T *out = address<T>(p.tensors) + voxel * p.tensor_stride;
#pragma unroll
      for (int i = 0; i < OWN; ++i) {
        const int r = warp + WARPS * i;
        if (r < p.entries) out[r * p.entry_stride] = usable ? entries[i] : T(0);
      }
      if (warp == 0 && p.status) address<int>(p.status)[voxel] = status_of(bad);
    }
    __syncthreads();
  }
}

// Weighted fit: a warp computes and solves the normal equations (sum w d d') a = -sum w d log(S / S0) of one voxel. Its
// lanes share the packed lower triangle.
template <class T>
__device__ void fit_weighted(const purlin_fit_params &p) {
  constexpr int TRIANGLE = MAX_U * (MAX_U + 1) / 2, OWN = (TRIANGLE + 31) / 32;
  __shared__ T normal[WARPS][TRIANGLE], column[WARPS][MAX_U], right[WARPS][MAX_U];
  __shared__ uint8_t row_of[TRIANGLE], column_of[TRIANGLE];
  const int lane = lane_id(), warp = threadIdx.x / 32, u = p.entries, size = u * (u + 1) / 2;
  for (int e = threadIdx.x; e < size; e += blockDim.x) {
    int a = 0;
    while ((a + 1) * (a + 2) / 2 <= e) ++a;
    row_of[e] = static_cast<uint8_t>(a);
    column_of[e] = static_cast<uint8_t>(e - a * (a + 1) / 2);
  }
  __syncthreads();
  T *g = normal[warp], *d = column[warp], *y = right[warp];
  const int *baseline = address<const int>(p.baseline), *weighted = address<const int>(p.weighted);
  const int64_t step = static_cast<int64_t>(gridDim.x) * WARPS;
  for (int64_t voxel = static_cast<int64_t>(blockIdx.x) * WARPS + warp; voxel < p.count; voxel += step) {
    int bad = p.mask && address<const uint8_t>(p.mask)[voxel] == 0 ? IS_MASKED : 0;
    T s0 = T(0);
    if (!bad) {
      for (int j = lane; j < p.baseline_count; j += 32) s0 += signal_at<T>(p, baseline[j], voxel);
      s0 = warp_sum(s0) / T(p.baseline_count);
      bad = !is_finite(s0) ? BAD_NONFINITE : s0 > T(0) ? 0 : BAD_SIGNAL;
    }
    const bool started = bad == 0;
    T sums[OWN], b0 = T(0), b1 = T(0);
#pragma unroll
    for (int i = 0; i < OWN; ++i) sums[i] = T(0);
    for (int j = 0; started && j < p.weighted_count; ++j) {
      const T signal = signal_at<T>(p, weighted[j], voxel);
      const T value = -log_ratio(p, signal, s0, &bad);
      T weight;
      if (p.weights) {
        weight = address<const T>(p.weights)[weighted[j] * p.weight_measurement_stride + voxel * p.weight_voxel_stride];
      } else {
        T relative = fmax(signal / s0, T(p.clamp));
        weight = relative * relative;
      }
      if (!(weight >= T(0)) || !is_finite(weight)) bad |= BAD_NONFINITE;
      const T *design = address<const T>(p.design) + static_cast<int64_t>(j) * u;
      __syncwarp();
      for (int a = lane; a < u; a += 32) d[a] = __ldg(design + a);
      __syncwarp();
      if (lane < u) b0 = fma(weight * d[lane], value, b0);
      if (lane + 32 < u) b1 = fma(weight * d[lane + 32], value, b1);
#pragma unroll
      for (int i = 0; i < OWN; ++i) {
        const int e = lane + 32 * i;
        if (e < size) sums[i] = fma(weight * d[row_of[e]], d[column_of[e]], sums[i]);
      }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < OWN; ++i)
      if (lane + 32 * i < size) g[lane + 32 * i] = sums[i];
    if (lane < u) y[lane] = b0;
    if (lane + 32 < u) y[lane + 32] = b1;
    __syncwarp();
    // Cholesky, column by column; the lanes share the rows.
    bool solvable = started;
    for (int j = 0; j < u; ++j) {
      const int jj = j * (j + 1) / 2;
      T pivot = g[jj + j];
      for (int k = 0; k < j; ++k) pivot = fma(-g[jj + k], g[jj + k], pivot);
      // If the weights leave fewer equations than unknowns, a pivot is of rounding size.
      solvable = solvable && pivot > T(u) * Real<T>::epsilon * g[jj + j];
      const T inverse = T(1) / sqrt(solvable ? pivot : T(1));
      __syncwarp();
      for (int i = j + 1 + lane; i < u; i += 32) {
        const int ii = i * (i + 1) / 2;
        T s = g[ii + j];
        for (int k = 0; k < j; ++k) s = fma(-g[ii + k], g[jj + k], s);
        g[ii + j] = s * inverse;
      }
      if (lane == 0) g[jj + j] = T(1) / inverse;
      __syncwarp();
    }
    for (int i = 0; i < u; ++i) {
      const T v = y[i] / g[i * (i + 1) / 2 + i];
      __syncwarp();
      for (int k = i + 1 + lane; k < u; k += 32) y[k] = fma(-g[k * (k + 1) / 2 + i], v, y[k]);
      if (lane == 0) y[i] = v;
      __syncwarp();
    }
    for (int i = u - 1; i >= 0; --i) {
      const int ii = i * (i + 1) / 2;
      const T v = y[i] / g[ii + i];
      __syncwarp();
      for (int k = lane; k < i; k += 32) y[k] = fma(-g[ii + k], v, y[k]);
      if (lane == 0) y[i] = v;
      __syncwarp();
    }
    if (!solvable && started) bad |= BAD_SIGNAL;
    const bool usable = !(bad & (IS_MASKED | BAD_NONFINITE | BAD_SIGNAL));
    T *out = address<T>(p.tensors) + voxel * p.tensor_stride;
    for (int r = lane; r < u; r += 32) out[r * p.entry_stride] = usable ? y[r] : T(0);
    if (lane == 0) {
      if (p.s0) address<T>(p.s0)[voxel] = started ? s0 : T(0);
      if (p.status) address<int>(p.status)[voxel] = status_of(bad);
    }
    __syncwarp();
  }
}

}  // namespace purlin

#define PURLIN_FIT(suffix, T)                                                                                         \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_FIT_THREADS)                                             \
      purlin_dwi_fit_##suffix(const __grid_constant__ purlin_fit_params p) {                                          \
    purlin::fit<T>(p);                                                                                                \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_FIT_THREADS)                                             \
      purlin_dwi_fit_weighted_##suffix(const __grid_constant__ purlin_fit_params p) {                                 \
    purlin::fit_weighted<T>(p);                                                                                       \
  }

PURLIN_FIT(f32, float)
PURLIN_FIT(f64, double)
