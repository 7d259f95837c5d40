// Warp-wide reductions whose result does not depend on the schedule: maxima by integer keys, sums by a fixed butterfly.
#ifndef PURLIN_REDUCE_CUH
#define PURLIN_REDUCE_CUH

#include <stdint.h>

namespace purlin {

constexpr unsigned FULL_WARP = 0xffffffffu;

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x & 31u); }
__device__ __forceinline__ unsigned lanes_below() { return (1u << lane_id()) - 1u; }

// Unsigned keys in the order of the reals; NaN sorts above infinity or below minus infinity, never in between.
__device__ __forceinline__ uint32_t ordered_key(float v) {
  uint32_t b = __float_as_uint(v);
  return b ^ ((b >> 31) ? 0xffffffffu : 0x80000000u);
}
__device__ __forceinline__ uint64_t ordered_key(double v) {
  uint64_t b = static_cast<uint64_t>(__double_as_longlong(v));
  return b ^ ((b >> 63) ? 0xffffffffffffffffull : 0x8000000000000000ull);
}
__device__ __forceinline__ float from_key(uint32_t k) {
  return __uint_as_float(k ^ ((k >> 31) ? 0x80000000u : 0xffffffffu));
}
__device__ __forceinline__ double from_key(uint64_t k) {
  return __longlong_as_double(static_cast<long long>(k ^ ((k >> 63) ? 0x8000000000000000ull : 0xffffffffffffffffull)));
}

__device__ __forceinline__ uint32_t warp_max(uint32_t k) { return __reduce_max_sync(FULL_WARP, k); }
__device__ __forceinline__ uint64_t warp_max(uint64_t k) {
  uint32_t high = static_cast<uint32_t>(k >> 32);
  uint32_t top = __reduce_max_sync(FULL_WARP, high);
  uint32_t low = high == top ? static_cast<uint32_t>(k) : 0u;
  low = __reduce_max_sync(FULL_WARP, low);
  return (static_cast<uint64_t>(top) << 32) | low;
}

template <class T>
__device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(FULL_WARP, v, step);
  return v;
}

// Largest (or smallest) value over the warp, and the lane that holds it (the lowest on ties).
template <class T>
__device__ __forceinline__ T warp_max_value(T v) { return from_key(warp_max(ordered_key(v))); }
template <class T>
__device__ __forceinline__ T warp_min_value(T v) { return -warp_max_value(-v); }
template <class T>
__device__ __forceinline__ int warp_max_lane(T v) {
  auto key = ordered_key(v);
  return __ffs(static_cast<int>(__ballot_sync(FULL_WARP, key == warp_max(key)))) - 1;
}

}  // namespace purlin

#endif
