// Sums over a block.
#ifndef PURLIN_TT_SUM_CUH
#define PURLIN_TT_SUM_CUH

#include "tt_instructions.cuh"

namespace purlin {
namespace tt {

// Sums both numbers over the block, for thread 0: first over lanes, then over warps in order.
__device__ inline void block_sum(double &re, double &im) {
  double *warps = reinterpret_cast<double *>(shared_memory());
#pragma unroll
  for (int step = 16; step > 0; step >>= 1) {
    re += __shfl_xor_sync(0xffffffffu, re, step);
    im += __shfl_xor_sync(0xffffffffu, im, step);
  }
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0) {
    warps[2 * warp] = re;
    warps[2 * warp + 1] = im;
  }
  __syncthreads();
  re = im = 0.0;
  for (int w = 0; w < static_cast<int>(blockDim.x / 32); ++w) {
    re += warps[2 * w];
    im += warps[2 * w + 1];
  }
}

}  // namespace tt
}  // namespace purlin

#endif
