// Ritz vectors: combinations of the vectors of a space, computed in place, and their orientation.
#ifndef PURLIN_LANCZOS_TURN_CUH
#define PURLIN_LANCZOS_TURN_CUH

#include "lanczos_number.cuh"

namespace purlin {
namespace lanczos {

template <class T>
__device__ void turn(const purlin_lanczos_turn_params &p) {
  using N = Number<T>;
  using Wide = typename N::Wide;
  constexpr int PARTS = N::PARTS, TO = PURLIN_LAUNCH_LANCZOS_TURN_COLUMNS, THREADS = PURLIN_LAUNCH_LANCZOS_TURN_THREADS;
  extern __shared__ __align__(16) double lanczos_turn_shared[];
  const int from = static_cast<int>(p.from), to = static_cast<int>(p.to), filled = (to + TO - 1) / TO * TO;
  // Stored row by row, so that the weights that a thread needs at once are adjacent.
  double *weights = lanczos_turn_shared;
  T *mine = reinterpret_cast<T *>(weights + PARTS * from * filled) + threadIdx.x;
  const double *given = reinterpret_cast<const double *>(p.weights);
  for (int k = threadIdx.x; k < from * filled; k += THREADS) {
    const int i = k / filled, o = k - i * filled;
#pragma unroll
    for (int part = 0; part < PARTS; ++part)
      weights[PARTS * k + part] = o < to ? given[PARTS * (o * from + i) + part] : 0.0;
  }
  __syncthreads();
  T *space = reinterpret_cast<T *>(p.space);
  const int64_t step = static_cast<int64_t>(gridDim.x) * THREADS;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; row < p.rows; row += step) {
    // Each thread reads only its own numbers, so no barrier is needed.
#pragma unroll 8
    for (int i = 0; i < from; ++i) mine[i * THREADS] = space[i * p.rows + row];
    for (int o = 0; o < to; o += TO) {
      Wide sums[TO] = {};
#pragma unroll 2
      for (int i = 0; i < from; ++i) {
        const T v = mine[i * THREADS];
        const double *h = weights + PARTS * (i * filled + o);
#pragma unroll
        for (int k = 0; k < TO; ++k) sums[k] = N::more(sums[k], v, N::weight(h + PARTS * k));
      }
#pragma unroll
      for (int k = 0; k < TO; ++k)
        if (o + k < to) space[(o + k) * p.rows + row] = N::narrow(sums[k]);
    }
  }
}

// The rows of a column that a block reads.
struct Share {
  int64_t begin, end;
  __device__ explicit Share(int64_t rows) {
    const int64_t each = (rows + PURLIN_LAUNCH_LANCZOS_PEAKS - 1) / PURLIN_LAUNCH_LANCZOS_PEAKS;
    begin = min(each * blockIdx.x, rows);
    end = min(begin + each, rows);
  }
};

template <class T>
__device__ void peak(const purlin_lanczos_orient_params &p) {
  using N = Number<T>;
  __shared__ double warps[PURLIN_LAUNCH_LANCZOS_THREADS / 32];
  const T *x = reinterpret_cast<const T *>(p.space) + blockIdx.y * p.rows;
  const Share share(p.rows);
  double most = 0.0;
  for (int64_t i = share.begin + threadIdx.x; i < share.end; i += blockDim.x) most = fmax(most, N::square(N::widen(x[i])));
  most = warp_max_value(most);
  if (lane_id() == 0) warps[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned w = 1; w < blockDim.x / 32; ++w) most = fmax(most, warps[w]);
  reinterpret_cast<double *>(p.peaks)[blockIdx.y * PURLIN_LAUNCH_LANCZOS_PEAKS + blockIdx.x] = most;
}

template <class T>
__device__ void first(const purlin_lanczos_orient_params &p) {
  using N = Number<T>;
  constexpr int PEAKS = PURLIN_LAUNCH_LANCZOS_PEAKS, WARPS = PURLIN_LAUNCH_LANCZOS_THREADS / 32;
  __shared__ double warps[WARPS];
  __shared__ unsigned long long found;
  const T *x = reinterpret_cast<const T *>(p.space) + blockIdx.y * p.rows;
  const double *peaks = reinterpret_cast<const double *>(p.peaks) + blockIdx.y * PEAKS;
  double most = 0.0;
  for (int k = threadIdx.x; k < PEAKS; k += blockDim.x) most = fmax(most, peaks[k]);
  most = warp_max_value(most);
  if (lane_id() == 0) warps[threadIdx.x / 32] = most;
  if (threadIdx.x == 0) found = ~0ull;
  __syncthreads();
  for (unsigned w = 0; w < blockDim.x / 32; ++w) most = fmax(most, warps[w]);
  const Share share(p.rows);
  const double limit = most * p.near;
  // The minimum of the rows does not depend on the order of the threads.
  for (int64_t i = share.begin + threadIdx.x; i < share.end; i += blockDim.x)
    if (N::square(N::widen(x[i])) >= limit) {
      atomicMin(&found, static_cast<unsigned long long>(i));
      break;
    }
  __syncthreads();
  if (threadIdx.x != 0) return;
  double *out = reinterpret_cast<double *>(p.firsts) + 3 * (blockIdx.y * PEAKS + blockIdx.x);
  out[0] = found == ~0ull ? -1.0 : static_cast<double>(found);
  if (found != ~0ull) N::parts(N::widen(x[found]), out + 1);
}

template <class T>
__device__ void orient(const purlin_lanczos_orient_params &p) {
  using N = Number<T>;
  constexpr int PEAKS = PURLIN_LAUNCH_LANCZOS_PEAKS;
  __shared__ int at;
  const double *firsts = reinterpret_cast<const double *>(p.firsts) + 3 * PEAKS * blockIdx.y;
  if (threadIdx.x == 0) at = PEAKS;
  __syncthreads();
  // Parts are in the order of rows, so the first part with such an entry has the first entry.
  for (int k = threadIdx.x; k < PEAKS; k += blockDim.x)
    if (firsts[3 * k] >= 0.0) atomicMin(&at, k);
  __syncthreads();
  const typename N::Wide turn = N::turn(at < PEAKS ? firsts + 3 * at + 1 : nullptr);
  const T *x = reinterpret_cast<const T *>(p.space) + blockIdx.y * p.rows;
  T *y = reinterpret_cast<T *>(p.output) + blockIdx.y * p.stride;
  const Share share(p.rows);
  for (int64_t i = share.begin + threadIdx.x; i < share.end; i += blockDim.x) y[i] = N::narrow(N::more({}, x[i], turn));
}

}  // namespace lanczos
}  // namespace purlin

#endif
