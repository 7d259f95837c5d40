// Products of f32 matrices by tensor cores for 8-bit integers. See tt_digits_launch.h.
//
// The product of two numbers of three digits is nine products of digits. Only the six most significant ones are
// computed; the others are about as large as a rounding error. Integers are added up exactly, in any order. In
// contrast, tensor cores truncate floating-point sums, always towards 0: three products in TF32 shrink every result a
// little, which adds up along a train.
#include "tt_digits_hopper.cuh"

namespace digits = purlin::tt::digits;

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_DIGITS_SPLIT_THREADS)
    purlin_tt_digits_split(const __grid_constant__ purlin_tt_digits_split_params p) {
  digits::split(p);
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_DIGITS_THREADS, 1)
    purlin_tt_digits_product(const __grid_constant__ purlin_tt_digits_product_params p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  digits::product_by_groups(p);
#else
  digits::product(p);
#endif
}
