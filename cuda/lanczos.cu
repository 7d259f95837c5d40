// Orthogonalisation of Lanczos spaces, and what goes with it. See lanczos_launch.h.
//
// A step reads the space three times: for the coefficients of the first pass; to take these away and to form those of the
// second, where a piece of the space comes from the cache the second time; and to take those away.
#include "lanczos_launch.h"
#include "reduce.cuh"

namespace purlin {
namespace lanczos {

constexpr int THREADS = PURLIN_LAUNCH_LANCZOS_THREADS, WARPS = THREADS / 32;
constexpr int ROWS = PURLIN_LAUNCH_LANCZOS_PIECE / THREADS;
constexpr int COLUMNS = PURLIN_LAUNCH_LANCZOS_COLUMNS;

template <class T>
struct Number;
template <class T>
struct Real {
  using Part = T;
  static constexpr int PARTS = 1;
  struct Wide {
    double re;
  };
  __device__ static Wide widen(T x) { return {static_cast<double>(x)}; }
  __device__ static T narrow(Wide x) { return static_cast<T>(x.re); }
  __device__ static Wide weight(const double *h) { return {h[0]}; }
  // w - v h
  __device__ static Wide less(Wide w, T v, Wide h) { return {fma(-static_cast<double>(v), h.re, w.re)}; }
  // sum + conj(v) w
  __device__ static void dot(double *sum, T v, Wide w) { sum[0] = fma(static_cast<double>(v), w.re, sum[0]); }
  __device__ static double square(Wide w) { return w.re * w.re; }
  __device__ static Wide scaled(Wide w, double f) { return {w.re * f}; }
  __device__ static Wide sum(Wide a, Wide b) { return {a.re + b.re}; }
};
template <>
struct Number<float> : Real<float> {};
template <>
struct Number<double> : Real<double> {};
template <class V, class P>
struct Complex {
  using Part = P;
  static constexpr int PARTS = 2;
  struct Wide {
    double re, im;
  };
  __device__ static Wide widen(V x) { return {static_cast<double>(x.x), static_cast<double>(x.y)}; }
  __device__ static V narrow(Wide x) {
    V out;
    out.x = static_cast<P>(x.re);
    out.y = static_cast<P>(x.im);
    return out;
  }
  __device__ static Wide weight(const double *h) { return {h[0], h[1]}; }
  __device__ static Wide less(Wide w, V v, Wide h) {
    const double x = v.x, y = v.y;
    return {fma(y, h.im, fma(-x, h.re, w.re)), fma(-y, h.re, fma(-x, h.im, w.im))};
  }
  __device__ static void dot(double *sum, V v, Wide w) {
    const double x = v.x, y = v.y;
    sum[0] = fma(y, w.im, fma(x, w.re, sum[0]));
    sum[1] = fma(-y, w.re, fma(x, w.im, sum[1]));
  }
  __device__ static double square(Wide w) { return fma(w.im, w.im, w.re * w.re); }
  __device__ static Wide scaled(Wide w, double f) { return {w.re * f, w.im * f}; }
  __device__ static Wide sum(Wide a, Wide b) { return {a.re + b.re, a.im + b.im}; }
};
template <>
struct Number<float2> : Complex<float2, float> {};
template <>
struct Number<double2> : Complex<double2, double> {};

// Sums of COUNT numbers over groups of 2 STEP lanes, number k in the lanes whose index in the group begins with the bits of
// k: halves are exchanged, so that each step leaves half as many numbers to add.
template <int COUNT, int STEP = 16>
__device__ __forceinline__ double sums_of(const double (&x)[COUNT]) {
  if constexpr (COUNT == 1) {
    double sum = x[0];
#pragma unroll
    for (int step = STEP; step > 0; step /= 2) sum += __shfl_xor_sync(FULL_WARP, sum, step);
    return sum;
  } else {
    const bool upper = (lane_id() & STEP) != 0;
    double half[COUNT / 2];
#pragma unroll
    for (int k = 0; k < COUNT / 2; ++k) {
      const double own = upper ? x[k + COUNT / 2] : x[k], other = upper ? x[k] : x[k + COUNT / 2];
      half[k] = own + __shfl_xor_sync(FULL_WARP, other, STEP);
    }
    return sums_of<COUNT / 2, STEP / 2>(half);
  }
}

template <class T>
__device__ void pass(const purlin_lanczos_pass_params &p) {
  using N = Number<T>;
  constexpr int PARTS = N::PARTS, SUMS = COLUMNS * PARTS, LANES = 32 / SUMS;
  __shared__ double of_warps[WARPS][SUMS];
  const T *space = reinterpret_cast<const T *>(p.space);
  T *vector = reinterpret_cast<T *>(p.vector);
  const double *weights = reinterpret_cast<const double *>(p.weights);
  double *partials = reinterpret_cast<double *>(p.partials);
  const int64_t piece = blockIdx.x, pieces = gridDim.x, first = piece * (ROWS * THREADS) + threadIdx.x;
  bool inside[ROWS];
  typename N::Wide w[ROWS];
  double before = 0.0, after = 0.0;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    inside[r] = first + r * THREADS < p.rows;
    w[r] = inside[r] ? N::widen(vector[first + r * THREADS]) : typename N::Wide{};
    before += N::square(w[r]);
  }
  if (weights != nullptr) {
#pragma unroll 4
    for (int64_t i = 0; i < p.count; ++i) {
      const typename N::Wide h = N::weight(weights + PARTS * i);
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
        if (inside[r]) w[r] = N::less(w[r], space[i * p.rows + first + r * THREADS], h);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
      if (inside[r]) {
        // What is rounded is what later sums see.
        const T rounded = N::narrow(w[r]);
        w[r] = N::widen(rounded);
        if (p.keep == 0) vector[first + r * THREADS] = rounded;
      }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) after += N::square(w[r]);
  if (partials != nullptr) {
    for (int64_t i = 0; i < p.count; i += COLUMNS) {
      double sums[SUMS];
#pragma unroll
      for (int k = 0; k < SUMS; ++k) sums[k] = 0.0;
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c)
        if (i + c < p.count) {
#pragma unroll
          for (int r = 0; r < ROWS; ++r)
            if (inside[r]) N::dot(sums + PARTS * c, space[(i + c) * p.rows + first + r * THREADS], w[r]);
        }
      const double sum = sums_of(sums);
      __syncthreads();
      if (lane_id() % LANES == 0) of_warps[threadIdx.x / 32][lane_id() / LANES] = sum;
      __syncthreads();
      const int64_t number = PARTS * i + threadIdx.x;
      if (threadIdx.x < SUMS && number < PARTS * p.count) {
        double total = 0.0;
        for (int v = 0; v < WARPS; ++v) total += of_warps[v][threadIdx.x];
        partials[number * pieces + piece] = total;
      }
    }
  }
  if (p.squares != 0) {
    const double both[2] = {before, after};
    const double sum = sums_of(both);
    __syncthreads();
    if (lane_id() % 16 == 0) of_warps[threadIdx.x / 32][lane_id() / 16] = sum;
    __syncthreads();
    if (threadIdx.x < 2) {
      double total = 0.0;
      for (int v = 0; v < WARPS; ++v) total += of_warps[v][threadIdx.x];
      reinterpret_cast<double *>(p.squares)[threadIdx.x * pieces + piece] = total;
    }
  }
}

template <class T>
__device__ void scale(const purlin_lanczos_scale_params &p) {
  using N = Number<T>;
  const T *from = reinterpret_cast<const T *>(p.from);
  T *to = reinterpret_cast<T *>(p.to);
  const auto *parts = reinterpret_cast<const typename N::Part *>(p.parts);
  const double factor = p.square != 0 ? p.factor / sqrt(*reinterpret_cast<const double *>(p.square)) : p.factor;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < p.rows; i += step) {
    typename N::Wide x = N::scaled(N::widen(from[i]), factor);
    if (parts != nullptr) x = N::scaled(x, static_cast<double>(parts[i]));
    if (p.keep != 0.0) x = N::sum(x, N::scaled(N::widen(to[i]), p.keep));
    to[i] = N::narrow(x);
  }
}

}  // namespace lanczos
}  // namespace purlin

extern "C" __global__ void purlin_lanczos_total(const __grid_constant__ purlin_lanczos_total_params p) {
  __shared__ double warps[32];
  const double *pieces = reinterpret_cast<const double *>(p.partials) + static_cast<int64_t>(blockIdx.x) * p.pieces;
  double sum = 0.0;
  for (int64_t k = threadIdx.x; k < p.pieces; k += blockDim.x) sum += pieces[k];
  sum = purlin::warp_sum(sum);
  if (purlin::lane_id() == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned w = 1; w < blockDim.x / 32; ++w) sum += warps[w];
  reinterpret_cast<double *>(p.output)[blockIdx.x] = sum * p.factor;
}

#define PURLIN_LANCZOS(what, ending, type)                                                                            \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_LANCZOS_THREADS)                                         \
      purlin_lanczos_##what##_##ending(const __grid_constant__ purlin_lanczos_##what##_params p) {                    \
    purlin::lanczos::what<type>(p);                                                                                   \
  }
#define PURLIN_LANCZOS_ALL(what)          \
  PURLIN_LANCZOS(what, f32, float)        \
  PURLIN_LANCZOS(what, f64, double)       \
  PURLIN_LANCZOS(what, cf32, float2)      \
  PURLIN_LANCZOS(what, cf64, double2)
PURLIN_LANCZOS_ALL(pass)
PURLIN_LANCZOS_ALL(scale)
