// Splits f32 matrices into sums of two matrices of TF32 numbers. See tt_tf32_launch.h.
#include "tt_tf32_launch.h"

namespace {

// TF32 has 10 of the 23 fraction bits.
constexpr uint32_t CUT = (1u << 13) - 1;
constexpr uint32_t HALF = 1u << 12;
constexpr uint32_t INFINITE = 0x7f800000u;

__device__ bool is_finite(uint32_t bits) { return (bits & INFINITE) != INFINITE; }

// Rounds to nearest, halves away from 0. Truncates instead if the result would be infinite.
__device__ float rounded(float x) {
  const uint32_t bits = __float_as_uint(x);
  const uint32_t up = (bits + HALF) & ~CUT;
  return __uint_as_float(is_finite(up) ? up : bits & ~CUT);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_TF32_THREADS)
    purlin_tt_tf32_split(const __grid_constant__ purlin_tt_tf32_split_params p) {
  const float *input = reinterpret_cast<const float *>(p.input);
  float *high = reinterpret_cast<float *>(p.high), *low = reinterpret_cast<float *>(p.low);
  const int64_t count = p.rows * p.cols, step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const float x = input[i / p.rows * p.ld + i % p.rows];
    const bool finite = is_finite(__float_as_uint(x));
    const float h = finite ? rounded(x) : x;
    high[i] = h;
    low[i] = finite ? rounded(x - h) : 0.0f;
  }
}
