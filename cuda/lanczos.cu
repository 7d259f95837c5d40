// Kernels of Lanczos spaces: orthogonalization, scaling, rotation and orientation of vectors. See lanczos_launch.h.
//
// A step of two passes reads the space three times. The first read computes the coefficients of the first pass. The
// second subtracts them and computes those of the second pass; it reads each piece of the space twice, the second time
// from the cache. The third read subtracts the second pass.
#include "lanczos_step.cuh"
#include "lanczos_turn.cuh"

namespace purlin {
namespace lanczos {

constexpr int THREADS = PURLIN_LAUNCH_LANCZOS_THREADS, WARPS = THREADS / 32;
constexpr int ROWS = PURLIN_LAUNCH_LANCZOS_PIECE / THREADS;
constexpr int COLUMNS = PURLIN_LAUNCH_LANCZOS_COLUMNS;

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
        // Later sums use the rounded value.
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
  // A vector of norm 0 stays, since steps are enqueued before the host knows the norm.
  double factor = p.factor;
  if (p.square != 0) {
    const double square = *reinterpret_cast<const double *>(p.square);
    factor = square == 0.0 ? 0.0 : p.factor / sqrt(square);
  }
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

#define PURLIN_LANCZOS(what, params, threads, ending, type)                                                           \
  extern "C" __global__ void __launch_bounds__(threads)                                                               \
      purlin_lanczos_##what##_##ending(const __grid_constant__ purlin_lanczos_##params##_params p) {                  \
    purlin::lanczos::what<type>(p);                                                                                   \
  }
#define PURLIN_LANCZOS_ALL(what, params, threads)      \
  PURLIN_LANCZOS(what, params, threads, f32, float)    \
  PURLIN_LANCZOS(what, params, threads, f64, double)   \
  PURLIN_LANCZOS(what, params, threads, cf32, float2)  \
  PURLIN_LANCZOS(what, params, threads, cf64, double2)
PURLIN_LANCZOS_ALL(pass, pass, PURLIN_LAUNCH_LANCZOS_THREADS)
PURLIN_LANCZOS_ALL(scale, scale, PURLIN_LAUNCH_LANCZOS_THREADS)
PURLIN_LANCZOS_ALL(peak, orient, PURLIN_LAUNCH_LANCZOS_THREADS)
PURLIN_LANCZOS_ALL(first, orient, PURLIN_LAUNCH_LANCZOS_THREADS)
PURLIN_LANCZOS_ALL(orient, orient, PURLIN_LAUNCH_LANCZOS_THREADS)
PURLIN_LANCZOS_ALL(turn, turn, PURLIN_LAUNCH_LANCZOS_TURN_THREADS)
PURLIN_LANCZOS_ALL(step, step, PURLIN_LAUNCH_LANCZOS_STEP_THREADS)
