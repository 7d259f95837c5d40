// Elements of external arrays: reading and writing them in either byte order.
#ifndef PURLIN_FDK_NUMBER_CUH
#define PURLIN_FDK_NUMBER_CUH

#include <cuda_fp16.h>

#include "fdk_launch.h"

namespace purlin {
namespace fdk {

template <int BYTES>
struct Bits;
template <>
struct Bits<1> {
  using Type = uint8_t;
  __device__ static Type swapped(Type v) { return v; }
};
template <>
struct Bits<2> {
  using Type = uint16_t;
  __device__ static Type swapped(Type v) { return static_cast<Type>(__byte_perm(v, 0, 0x4401)); }
};
template <>
struct Bits<4> {
  using Type = uint32_t;
  __device__ static Type swapped(Type v) { return __byte_perm(v, 0, 0x0123); }
};
template <>
struct Bits<8> {
  using Type = uint64_t;
  __device__ static Type swapped(Type v) {
    return static_cast<uint64_t>(__byte_perm(static_cast<uint32_t>(v), 0, 0x0123)) << 32 |
           __byte_perm(static_cast<uint32_t>(v >> 32), 0, 0x0123);
  }
};

template <class T>
__device__ T read(uint64_t array, int64_t at, bool swap) {
  using Word = Bits<sizeof(T)>;
  typename Word::Type bits = reinterpret_cast<const typename Word::Type *>(array)[at];
  if (swap) bits = Word::swapped(bits);
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
__device__ void write(uint64_t array, int64_t at, bool swap, T value) {
  using Word = Bits<sizeof(T)>;
  typename Word::Type bits;
  memcpy(&bits, &value, sizeof bits);
  reinterpret_cast<typename Word::Type *>(array)[at] = swap ? Word::swapped(bits) : bits;
}

template <class T>
__device__ float to_float(T v) {
  return static_cast<float>(v);
}
template <>
__device__ inline float to_float(__half v) {
  return __half2float(v);
}

template <class T>
__device__ double to_double(T v) {
  return static_cast<double>(v);
}
template <>
__device__ inline double to_double(__half v) {
  return static_cast<double>(__half2float(v));
}

// Calls `with(T())` for the type with the code `number`.
template <class With>
__device__ void for_number(int number, const With &with) {
  switch (number) {
    case PURLIN_LAUNCH_FDK_U8: return with(uint8_t());
    case PURLIN_LAUNCH_FDK_I8: return with(int8_t());
    case PURLIN_LAUNCH_FDK_U16: return with(uint16_t());
    case PURLIN_LAUNCH_FDK_I16: return with(int16_t());
    case PURLIN_LAUNCH_FDK_U32: return with(uint32_t());
    case PURLIN_LAUNCH_FDK_I32: return with(int32_t());
    case PURLIN_LAUNCH_FDK_F16: return with(__half());
    case PURLIN_LAUNCH_FDK_F32: return with(float());
    default: return with(double());
  }
}

// Rounded to even; integers saturate, and are 0 for NaN.
template <class T>
__device__ T rounded(double v) {
  // Limits of the integer types, all exact in double.
  constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
  constexpr double span = static_cast<double>(uint64_t(1) << (8 * sizeof(T) - (is_signed ? 1 : 0)));
  return v != v ? T(0) : static_cast<T>(fmin(fmax(rint(v), is_signed ? -span : 0.0), span - 1.0));
}
template <>
__device__ inline __half rounded(double v) {
  return __double2half(v);
}
template <>
__device__ inline float rounded(double v) {
  return static_cast<float>(v);
}
template <>
__device__ inline double rounded(double v) {
  return v;
}

}  // namespace fdk
}  // namespace purlin

#endif
