// The passes of the randomized SVD over the data besides products: conversion with statistics, means, copies between
// orders, Hermitian matrices from triangles, sparse products. See rsvd_launch.h.
//
// The order of every sum follows from the sizes alone, so the same input gives the same bits.
#include "fdk_number.cuh"
#include "reduce.cuh"
#include "rsvd_launch.h"

namespace purlin {
namespace rsvd {

// A complex number in the layout of the host.
template <class R>
struct alignas(2 * sizeof(R)) Pair {
  R re, im;
};

// An intermediate value of any type: both parts in double.
struct Wide {
  double re, im;
};

template <class T>
struct Number {
  static constexpr bool is_complex = false;
  __device__ static Wide widen(T v) { return {static_cast<double>(v), 0.0}; }
  __device__ static T narrow(Wide v) { return static_cast<T>(v.re); }
};
template <>
struct Number<__half> {
  static constexpr bool is_complex = false;
  __device__ static Wide widen(__half v) { return {static_cast<double>(__half2float(v)), 0.0}; }
};
template <class R>
struct Number<Pair<R>> {
  static constexpr bool is_complex = true;
  __device__ static Wide widen(Pair<R> v) { return {static_cast<double>(v.re), static_cast<double>(v.im)}; }
  __device__ static Pair<R> narrow(Wide v) { return {static_cast<R>(v.re), static_cast<R>(v.im)}; }
};

template <class T>
__device__ T *at(uint64_t address) {
  return reinterpret_cast<T *>(address);
}

__device__ __forceinline__ int warp_id() { return static_cast<int>(threadIdx.x / 32); }
constexpr int WARPS = PURLIN_LAUNCH_RSVD_THREADS / 32;

constexpr double LARGEST_DOUBLE = 1.7976931348623157e308;

// The powers of two before and after a difference: see the conversion.
__device__ __forceinline__ double before_of(double factor) { return fmin(factor, 1.0); }
__device__ __forceinline__ double after_of(double factor) { return fmax(factor, 1.0); }

struct Tally {
  double squares = 0, largest = 0, bad = 0, size = 0;

  __device__ void add(Wide input, Wide output) {
    // The modulus of a finite number may overflow.
    const double modulus = input.im == 0.0 ? fabs(input.re) : fmin(hypot(input.re, input.im), LARGEST_DOUBLE);
    if (isfinite(input.re) && isfinite(input.im)) {
      squares = fma(output.re, output.re, squares);
      squares = fma(output.im, output.im, squares);
      largest = fmax(largest, modulus);
    } else {
      bad += 1;
    }
  }

  // Counts a centred element. fmax skips NaN.
  __device__ void reach(Wide centred) { size = fmax(size, fmax(fabs(centred.re), fabs(centred.im))); }

  __device__ void join(const Tally &other) {
    squares += other.squares;
    largest = fmax(largest, other.largest);
    bad += other.bad;
    size = fmax(size, other.size);
  }

  // The tally of the block, in its first thread.
  __device__ void reduce() {
    __shared__ Tally warps[WARPS];
    squares = warp_sum(squares);
    largest = warp_max_value(largest);
    bad = warp_sum(bad);
    size = warp_max_value(size);
    __syncthreads();
    if (lane_id() == 0) warps[warp_id()] = *this;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int w = 1; w < WARPS; ++w) join(warps[w]);
  }

  __device__ void write(uint64_t address, int64_t index) const {
    double *record = at<double>(address) + PURLIN_LAUNCH_RSVD_TALLY * index;
    record[0] = squares, record[1] = largest, record[2] = bad, record[3] = size;
  }
};

template <class T, class S>
__device__ void sweep(const purlin_rsvd_convert_params &p, Tally &tally) {
  constexpr int TILE = PURLIN_LAUNCH_RSVD_TILE_INNER, LINES = PURLIN_LAUNCH_RSVD_TILE_OUTER;
  const S *source = at<const S>(p.source);
  T *output = at<T>(p.output);
  const double *center = at<const double>(p.center);
  const bool by_inner = p.center_axis == PURLIN_LAUNCH_RSVD_INNER, divides = p.flags & PURLIN_LAUNCH_RSVD_DIVIDE;
  const double before = before_of(p.factor), after = after_of(p.factor);
  const int64_t across = (p.inner + TILE - 1) / TILE, down = (p.outer + LINES - 1) / LINES;
  for (int64_t tile = blockIdx.x; tile < across * down; tile += gridDim.x) {
    const int64_t left = tile % across * TILE, top = tile / across * LINES;
    const int64_t bottom = top + LINES < p.outer ? top + LINES : p.outer;
    for (int64_t o = top + warp_id(); o < bottom; o += WARPS) {
#pragma unroll
      for (int k = 0; k < TILE; k += 32) {
        const int64_t i = left + k + lane_id();
        if (i >= p.inner) continue;
        const Wide input = Number<S>::widen(source[i + o * p.source_stride]);
        Wide value = input;
        value.re *= before, value.im *= before;
        const double *record = center ? center + PURLIN_LAUNCH_RSVD_RECORD * (by_inner ? i : o) : nullptr;
        if (record) {
          value.re -= record[0] * before;
          if (Number<T>::is_complex) value.im -= record[1] * before;
        }
        value.re *= after, value.im *= after;
        if (record) {
          if (p.tallies) tally.reach(value);
          if (divides) value.re *= record[2], value.im *= record[2];
        }
        const T rounded = Number<T>::narrow(value);
        if (output) output[i + o * p.output_stride] = rounded;
        if (p.tallies) tally.add(input, Number<T>::widen(rounded));
      }
    }
  }
}

template <class T>
__device__ void convert(const purlin_rsvd_convert_params &p) {
  Tally tally;
  if (p.number < PURLIN_LAUNCH_RSVD_CF32)
    fdk::for_number(p.number, [&](auto sample) { sweep<T, decltype(sample)>(p, tally); });
  else if (p.number == PURLIN_LAUNCH_RSVD_CF32)
    sweep<T, Pair<float>>(p, tally);
  else
    sweep<T, Pair<double>>(p, tally);
  if (!p.tallies) return;
  tally.reduce();
  if (threadIdx.x == 0) tally.write(p.tallies, blockIdx.x);
}

// The tally of elements that need no conversion: the kernel only loads and sums.
template <class T>
__device__ void scan(const purlin_rsvd_convert_params &p) {
  constexpr int AHEAD = 8;
  Tally tally;
  const auto line = [&](const T *source, int64_t first, int64_t step, int64_t length) {
    for (int64_t i = first; i < length; i += AHEAD * step) {
      T values[AHEAD];
#pragma unroll
      for (int k = 0; k < AHEAD; ++k) values[k] = i + k * step < length ? source[i + k * step] : T{};
#pragma unroll
      for (int k = 0; k < AHEAD; ++k) {
        const Wide value = Number<T>::widen(values[k]);
        tally.add(value, value);
      }
    }
  };
  const T *source = at<const T>(p.source);
  if (p.source_stride == p.inner || p.outer <= 1) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    line(source, static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, step, p.inner * p.outer);
  } else {
    for (int64_t o = blockIdx.x; o < p.outer; o += gridDim.x)
      line(source + o * p.source_stride, threadIdx.x, blockDim.x, p.inner);
  }
  tally.reduce();
  if (threadIdx.x == 0) tally.write(p.tallies, blockIdx.x);
}

// The least number above 0. It stands for sums of squares that underflowed.
__device__ __forceinline__ double least_double() { return __longlong_as_double(1); }

// `from` moved by `step` / `factor`. The quotient may overflow where the result does not.
__device__ double moved(double from, double step, double factor) {
  const double whole = step / factor;
  if (isfinite(whole)) return from + whole;
  const double half = 0.5 * step / factor;
  return from + half + half;
}

// The factor of sums of distances. They may overflow without one; that of the largest element of all columns would take the
// digits of columns far below it. A factor above 1 might make elements overflow.
__device__ __forceinline__ double reach_of(double factor) { return fmin(fmax(factor, 0x1p-64), 1.0); }

// Moments of the elements of a lane or thread, as distances from the first element, so that a large mean does not cause
// cancellation. Squares are those of distances times the factor.
struct Moments {
  Wide first{0, 0}, sum{0, 0};
  double factor = 1, squares = 0;
  bool differ = false;

  __device__ void add(Wide v) {
    // Distances may underflow.
    differ |= v.re != first.re || v.im != first.im;
    const double reach = reach_of(factor);
    sum.re += v.re * reach - first.re * reach, sum.im += v.im * reach - first.im * reach;
    const double before = before_of(factor), after = after_of(factor);
    v.re = (v.re * before - first.re * before) * after, v.im = (v.im * before - first.im * before) * after;
    squares = fma(v.re, v.re, squares);
    squares = fma(v.im, v.im, squares);
  }

  __device__ void write(uint64_t partials, int64_t index, double count) const {
    double *record = at<double>(partials) + PURLIN_LAUNCH_RSVD_RECORD * index;
    const double reach = reach_of(factor);
    record[0] = moved(first.re, sum.re / count, reach);
    record[1] = moved(first.im, sum.im / count, reach);
    const double re = sum.re * (factor / reach), im = sum.im * (factor / reach);
    const double spread = squares - (re * re + im * im) / count;
    // fmax would replace a NaN.
    record[2] = isfinite(spread) ? fmax(spread, differ ? least_double() : 0.0) : __longlong_as_double(0x7ff0000000000000ll);
  }
};

template <class T>
__device__ void along(const purlin_rsvd_moments_params &p) {
  constexpr int64_t CHUNK = PURLIN_LAUNCH_RSVD_ALONG_CHUNK;
  const int64_t chunks = (p.inner + CHUNK - 1) / CHUNK;
  for (int64_t w = static_cast<int64_t>(blockIdx.x) * WARPS + warp_id(); w < chunks * p.outer;
       w += static_cast<int64_t>(gridDim.x) * WARPS) {
    const int64_t o = w % p.outer, begin = w / p.outer * CHUNK;
    const int64_t end = begin + CHUNK < p.inner ? begin + CHUNK : p.inner;
    const T *line = at<const T>(p.source) + o * p.stride;
    Moments m;
    m.first = Number<T>::widen(line[begin]), m.factor = p.factor;
    for (int64_t i = begin + lane_id(); i < end; i += 32) m.add(Number<T>::widen(line[i]));
    m.sum.re = warp_sum(m.sum.re), m.sum.im = warp_sum(m.sum.im), m.squares = warp_sum(m.squares);
    m.differ = __any_sync(FULL_WARP, m.differ);
    if (lane_id() == 0) m.write(p.partials, w, static_cast<double>(end - begin));
  }
}

template <class T>
__device__ void across(const purlin_rsvd_moments_params &p) {
  constexpr int64_t CHUNK = PURLIN_LAUNCH_RSVD_ACROSS_CHUNK;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.inner) return;
  for (int64_t chunk = blockIdx.y; chunk * CHUNK < p.outer; chunk += gridDim.y) {
    const int64_t begin = chunk * CHUNK, end = begin + CHUNK < p.outer ? begin + CHUNK : p.outer;
    const T *column = at<const T>(p.source) + i;
    Moments m;
    m.first = Number<T>::widen(column[begin * p.stride]), m.factor = p.factor;
    for (int64_t o = begin; o < end; ++o) m.add(Number<T>::widen(column[o * p.stride]));
    m.write(p.partials, chunk * p.inner + i, static_cast<double>(end - begin));
  }
}

template <class T>
__device__ void copy(const purlin_rsvd_copy_params &p) {
  constexpr int TILE = PURLIN_LAUNCH_RSVD_COPY_TILE;
  __shared__ T staged[TILE][TILE + 1];
  const T *source = at<const T>(p.source);
  T *output = at<T>(p.output);
  const int64_t down = (p.rows + TILE - 1) / TILE, right = (p.columns + TILE - 1) / TILE;
  // Adjacent threads access adjacent addresses, in the source and in the output.
  const bool rows_in = p.source_row <= p.source_column, rows_out = p.output_row <= p.output_column;
  for (int64_t tile = blockIdx.x; tile < down * right; tile += gridDim.x) {
    const int64_t r0 = tile % down * TILE, c0 = tile / down * TILE;
    for (int k = warp_id(); k < TILE; k += WARPS) {
      const int r = rows_in ? lane_id() : k, c = rows_in ? k : lane_id();
      if (r0 + r < p.rows && c0 + c < p.columns)
        staged[c][r] = source[(r0 + r) * p.source_row + (c0 + c) * p.source_column];
    }
    __syncthreads();
    for (int k = warp_id(); k < TILE; k += WARPS) {
      const int r = rows_out ? lane_id() : k, c = rows_out ? k : lane_id();
      if (r0 + r >= p.rows || c0 + c >= p.columns) continue;
      T *target = output + (r0 + r) * p.output_row + (c0 + c) * p.output_column;
      Wide v = Number<T>::widen(staged[c][r]);
      if (p.flags & PURLIN_LAUNCH_RSVD_CONJUGATE) v.im = -v.im;
      if (p.flags & PURLIN_LAUNCH_RSVD_ADD) {
        const Wide there = Number<T>::widen(*target);
        v.re += there.re, v.im += there.im;
      }
      *target = Number<T>::narrow(v);
    }
    __syncthreads();
  }
}

template <class T, class S>
__device__ void mirror(const purlin_rsvd_mirror_params &p) {
  const S *source = at<const S>(p.source);
  T *output = at<T>(p.output);
  const int64_t j = blockIdx.y;
  for (int64_t i = j + static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < p.order;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    Wide v = Number<S>::widen(source[i + j * p.source_stride]);
    if (p.flags & PURLIN_LAUNCH_RSVD_CONJUGATE) v.im = -v.im;
    if (i == j) v.im = 0;
    output[i + j * p.output_stride] = Number<T>::narrow(v);
    output[j + i * p.output_stride] = Number<T>::narrow({v.re, -v.im});
  }
}

template <class T>
__device__ T fused_add(T a, T b, T c) {
  return fma(a, b, c);
}
template <class R>
__device__ Pair<R> fused_add(Pair<R> a, Pair<R> b, Pair<R> c) {
  return {fma(-a.im, b.im, fma(a.re, b.re, c.re)), fma(a.im, b.re, fma(a.re, b.im, c.im))};
}

template <class T>
__device__ void sparse(const purlin_rsvd_sparse_params &p) {
  const int64_t *row_ptr = at<const int64_t>(p.row_ptr);
  const int32_t *columns = at<const int32_t>(p.columns);
  const T *values = at<const T>(p.values), *x = at<const T>(p.x);
  T *y = at<T>(p.y);
  for (int64_t r = static_cast<int64_t>(blockIdx.x) * WARPS + warp_id(); r < p.rows;
       r += static_cast<int64_t>(gridDim.x) * WARPS) {
    const int64_t begin = row_ptr[r], end = row_ptr[r + 1];
    for (int64_t k = lane_id(); k < p.width; k += 32) {
      T sum = Number<T>::narrow({0, 0});
      for (int64_t e = begin; e < end; ++e) {
        const T value = values ? values[e] : Number<T>::narrow({1, 0});
        sum = fused_add(value, x[columns[e] * p.x_stride + k], sum);
      }
      y[r + k * p.y_stride] = sum;
    }
  }
}

}  // namespace rsvd
}  // namespace purlin

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RSVD_THREADS)
    purlin_rsvd_tally(const __grid_constant__ purlin_rsvd_tally_params p) {
  using namespace purlin::rsvd;
  Tally tally;
  for (int64_t k = threadIdx.x; k < p.count; k += blockDim.x) {
    const double *record = at<const double>(p.tallies) + PURLIN_LAUNCH_RSVD_TALLY * k;
    Tally other;
    other.squares = record[0], other.largest = record[1], other.bad = record[2], other.size = record[3];
    tally.join(other);
  }
  tally.reduce();
  if (threadIdx.x == 0) tally.write(p.output, 0);
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RSVD_THREADS)
    purlin_rsvd_merge(const __grid_constant__ purlin_rsvd_merge_params p) {
  using namespace purlin::rsvd;
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= p.length) return;
  double *record = at<double>(p.records) + PURLIN_LAUNCH_RSVD_RECORD * index;
  double count = static_cast<double>(p.before), re = 0, im = 0, squares = 0;
  if (p.before > 0) re = record[0], im = record[1], squares = record[2];
  const double reach = purlin::rsvd::reach_of(p.factor);
  for (int64_t begin = 0, chunk = 0; begin < p.elements; begin += p.chunk, ++chunk) {
    const double *part = at<const double>(p.partials) + PURLIN_LAUNCH_RSVD_RECORD * (chunk * p.length + index);
    const double more = static_cast<double>(begin + p.chunk < p.elements ? p.chunk : p.elements - begin);
    if (count == 0) {
      re = part[0], im = part[1], squares = part[2], count = more;
      continue;
    }
    const double total = count + more, share = more / total;
    const double before = purlin::rsvd::before_of(p.factor), after = purlin::rsvd::after_of(p.factor);
    const double dr = (part[0] * before - re * before) * after, di = (part[1] * before - im * before) * after;
    double between = (dr * dr + di * di) * (count * share);
    // The means are compared themselves, because squares of their difference may underflow.
    if (between == 0 && (part[0] != re || part[1] != im)) between = least_double();
    const double sr = part[0] * reach - re * reach, si = part[1] * reach - im * reach;
    re = moved(re, sr * share, reach), im = moved(im, si * share, reach);
    squares += part[2] + between;
    count = total;
  }
  record[0] = re, record[1] = im, record[2] = squares;
}

#define PURLIN_RSVD_KERNELS(suffix, T, S)                                          \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RSVD_THREADS)         \
      purlin_rsvd_convert_##suffix(const __grid_constant__ purlin_rsvd_convert_params p) { \
    purlin::rsvd::convert<T>(p);                                                   \
  }                                                                                \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RSVD_THREADS, 4)      \
      purlin_rsvd_scan_##suffix(const __grid_constant__ purlin_rsvd_convert_params p) { \
    purlin::rsvd::scan<T>(p);                                                      \
  }                                                                                \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RSVD_THREADS)         \
      purlin_rsvd_along_##suffix(const __grid_constant__ purlin_rsvd_moments_params p) { \
    purlin::rsvd::along<T>(p);                                                     \
  }                                                                                \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RSVD_THREADS)         \
      purlin_rsvd_across_##suffix(const __grid_constant__ purlin_rsvd_moments_params p) { \
    purlin::rsvd::across<T>(p);                                                    \
  }                                                                                \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RSVD_THREADS)         \
      purlin_rsvd_copy_##suffix(const __grid_constant__ purlin_rsvd_copy_params p) { \
    purlin::rsvd::copy<T>(p);                                                      \
  }                                                                                \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RSVD_THREADS)         \
      purlin_rsvd_mirror_##suffix(const __grid_constant__ purlin_rsvd_mirror_params p) { \
    purlin::rsvd::mirror<T, S>(p);                                                 \
  }                                                                                \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RSVD_THREADS)         \
      purlin_rsvd_sparse_##suffix(const __grid_constant__ purlin_rsvd_sparse_params p) { \
    purlin::rsvd::sparse<T>(p);                                                    \
  }

PURLIN_RSVD_KERNELS(f32, float, double)
PURLIN_RSVD_KERNELS(f64, double, double)
PURLIN_RSVD_KERNELS(cf32, purlin::rsvd::Pair<float>, purlin::rsvd::Pair<double>)
PURLIN_RSVD_KERNELS(cf64, purlin::rsvd::Pair<double>, purlin::rsvd::Pair<double>)
