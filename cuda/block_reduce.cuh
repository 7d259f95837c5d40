// Reductions over a block in a fixed order, so that every thread and run gets the same bits: lanes first, then warps.
#ifndef PURLIN_BLOCK_REDUCE_CUH
#define PURLIN_BLOCK_REDUCE_CUH

#include "reduce.cuh"

namespace purlin {

struct Sum {
  __device__ double operator()(double a, double b) const { return a + b; }
};
struct Larger {
  __device__ double operator()(double a, double b) const { return fmax(a, b); }
};
struct Smaller {
  __device__ int64_t operator()(int64_t a, int64_t b) const { return a < b ? a : b; }
};

// Combines a value of every thread of a block of `warps` whole warps; every thread gets the result.
template <class V, class Combine>
__device__ __forceinline__ V block_reduce(V value, Combine combine, int warps) {
  __shared__ V parts[32];
#pragma unroll
  for (int step = 16; step > 0; step >>= 1) value = combine(value, __shfl_xor_sync(FULL_WARP, value, step));
  // Wait for threads that still read the parts of an earlier reduction.
  __syncthreads();
  if (lane_id() == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[0];
  for (int w = 1; w < warps; ++w) value = combine(value, parts[w]);
  return value;
}

}  // namespace purlin

#endif
