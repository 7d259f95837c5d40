// Packed symmetric tensors: conversions, norms, to and from dense tensors; see symmetric_launch.h for the parameters.
//
// All arithmetic is in double and in the CPU's order, except the sums of the norms, whose tree depends on the
// number of entries alone. Atomics are on integers only, so results do not depend on the schedule.
#include "block_reduce.cuh"
#include "symmetric_launch.h"
#include "sshopm_real.cuh"

namespace purlin {

// The thread's index in the grid, and the grid's size.
__device__ __forceinline__ int64_t grid_thread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t grid_threads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }
__device__ __forceinline__ int warps() { return static_cast<int>(blockDim.x / 32); }

template <class S, class D>
__device__ void convert(const purlin_symmetric_convert_params &p) {
  const S *source = address<const S>(p.source);
  D *destination = address<D>(p.destination);
  const double *factors = address<const double>(p.factors);
  const int64_t end = p.entries * p.count;
  // Adjacent threads write adjacent addresses in both layouts of the batch.
  const bool tensors_adjacent = p.destination_tensor_stride < p.destination_entry_stride;
  const int64_t inner = tensors_adjacent ? p.count : p.entries;
  for (int64_t at = grid_thread(); at < end; at += grid_threads()) {
    const int64_t outer = at / inner, rest = at - outer * inner;
    const int64_t u = tensors_adjacent ? outer : rest, t = tensors_adjacent ? rest : outer;
    double value = static_cast<double>(source[u * p.source_entry_stride + t * p.source_tensor_stride]);
    if (p.scale == PURLIN_LAUNCH_SCALE_TIMES) value *= factors[u];
    if (p.scale == PURLIN_LAUNCH_SCALE_OVER) value /= factors[u];
    destination[u * p.destination_entry_stride + t * p.destination_tensor_stride] = static_cast<D>(value);
  }
}

template <class T>
__device__ void norm(const purlin_symmetric_norm_params &p) {
  const double *multinomials = address<const double>(p.multinomials);
  for (int64_t t = blockIdx.x; t < p.count; t += gridDim.x) {
    const T *a = address<const T>(p.packed) + t * p.tensor_stride;
    double largest = 0;
    int64_t bad = p.entries;
    for (int64_t u = threadIdx.x; u < p.entries; u += blockDim.x) {
      const double x = fabs(static_cast<double>(a[u * p.entry_stride]));
      if (isfinite(x)) {
        largest = fmax(largest, x);
      } else if (bad == p.entries) {
        bad = u;
      }
    }
    largest = block_reduce(largest, Larger(), warps());
    bad = block_reduce(bad, Smaller(), warps());
    // All threads of the block take the same branches below.
    double result = largest;
    if (bad < p.entries) {
      result = fabs(static_cast<double>(a[bad * p.entry_stride]));
    } else if (p.kind != PURLIN_LAUNCH_NORM_MAX && largest > 0) {
      const bool is_one = p.kind == PURLIN_LAUNCH_NORM_ONE;
      // Relative to the largest magnitude, no square overflows.
      const double unit = is_one ? 1 : largest;
      double sum = 0;
      for (int64_t u = threadIdx.x; u < p.entries; u += blockDim.x) {
        const double x = fabs(static_cast<double>(a[u * p.entry_stride])) / unit;
        sum += multinomials[u] * x * (is_one ? 1 : x);
      }
      sum = block_reduce(sum, Sum(), warps());
      result = is_one ? sum : largest * sqrt(sum);
    }
    if (threadIdx.x == 0) address<T>(p.norms)[t * p.norm_stride] = static_cast<T>(result);
  }
}

// Offset of a place in the first dense tensor.
__device__ __forceinline__ int64_t place_offset(const purlin_symmetric_full_params &p, int64_t place) {
  if (p.step > 0) return place * p.step;
  const auto n = static_cast<uint32_t>(p.dimension);
  auto rest = static_cast<uint32_t>(place);
  int64_t offset = 0;
  for (int j = 0; j < p.order; ++j) {
    const uint32_t next = rest / n;
    offset += static_cast<int64_t>(rest - next * n) * p.strides[j];
    rest = next;
  }
  return offset;
}

template <class T>
__device__ void to_full(const purlin_symmetric_full_params &p) {
  const int *table = address<const int>(p.table);
  const T *packed = address<const T>(p.packed);
  T *full = address<T>(p.full);
  const int64_t end = p.places * p.count;
  // The strides are ascending.
  const bool tensors_adjacent = p.full_tensor_stride < p.strides[0];
  const int64_t inner = tensors_adjacent ? p.count : p.places;
  for (int64_t at = grid_thread(); at < end; at += grid_threads()) {
    const int64_t outer = at / inner, rest = at - outer * inner;
    const int64_t place = tensors_adjacent ? outer : rest, t = tensors_adjacent ? rest : outer;
    const T value = packed[table[place] * p.entry_stride + t * p.tensor_stride];
    full[place_offset(p, place) + t * p.full_tensor_stride] = value;
  }
}

template <class T>
__device__ void from_full(const purlin_symmetric_full_params &p) {
  const int *table = address<const int>(p.table), *starts = address<const int>(p.starts);
  const bool is_checked = p.asymmetry != 0;
  for (int64_t t = blockIdx.x; t < p.count; t += gridDim.x) {
    const T *full = address<const T>(p.full) + t * p.full_tensor_stride;
    double limit = 0;
    if (is_checked) {
      double largest = 0;
      for (int64_t place = threadIdx.x; place < p.places; place += blockDim.x) {
        const double x = fabs(static_cast<double>(full[place_offset(p, place)]));
        if (isfinite(x)) largest = fmax(largest, x);
      }
      limit = p.tolerance * block_reduce(largest, Larger(), warps());
    }
    for (int64_t u = threadIdx.x; u < p.entries; u += blockDim.x) {
      const int first = starts[u], last = p.tolerance < 0 ? first + 1 : starts[u + 1];
      // The first place of an entry has the sorted indices.
      const double sorted = static_cast<double>(full[place_offset(p, table[first])]);
      double sum = 0;
      for (int k = first; k < last; ++k) {
        const double value = static_cast<double>(full[place_offset(p, table[k])]);
        sum += value;
        const bool fits = fabs(value - sorted) <= limit || !(isfinite(value) || isfinite(sorted));
        if (is_checked && !fits) {
          atomicMin(address<unsigned long long>(p.asymmetry), static_cast<unsigned long long>(k + t * p.places));
          break;
        }
      }
      if (!is_checked)
        address<T>(p.packed)[u * p.entry_stride + t * p.tensor_stride] = static_cast<T>(sum / (last - first));
    }
  }
}

}  // namespace purlin

#define PURLIN_KERNEL(name, work, params, ...)                                                                        \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_SYMMETRIC_THREADS)                                       \
      purlin_symmetric_##name(const __grid_constant__ params p) {                                                     \
    purlin::work<__VA_ARGS__>(p);                                                                                     \
  }

PURLIN_KERNEL(convert_f32_f32, convert, purlin_symmetric_convert_params, float, float)
PURLIN_KERNEL(convert_f32_f64, convert, purlin_symmetric_convert_params, float, double)
PURLIN_KERNEL(convert_f64_f32, convert, purlin_symmetric_convert_params, double, float)
PURLIN_KERNEL(convert_f64_f64, convert, purlin_symmetric_convert_params, double, double)
PURLIN_KERNEL(norm_f32, norm, purlin_symmetric_norm_params, float)
PURLIN_KERNEL(norm_f64, norm, purlin_symmetric_norm_params, double)
PURLIN_KERNEL(to_full_f32, to_full, purlin_symmetric_full_params, float)
PURLIN_KERNEL(to_full_f64, to_full, purlin_symmetric_full_params, double)
PURLIN_KERNEL(from_full_f32, from_full, purlin_symmetric_full_params, float)
PURLIN_KERNEL(from_full_f64, from_full, purlin_symmetric_full_params, double)
