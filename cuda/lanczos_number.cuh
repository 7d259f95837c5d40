// Arithmetic of the four element types in Lanczos spaces: sums are doubles.
#ifndef PURLIN_LANCZOS_NUMBER_CUH
#define PURLIN_LANCZOS_NUMBER_CUH

#include "lanczos_launch.h"
#include "reduce.cuh"

namespace purlin {
namespace lanczos {

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
  // w + v h
  __device__ static Wide more(Wide w, T v, Wide h) { return {fma(static_cast<double>(v), h.re, w.re)}; }
  // sum + conj(v) w
  __device__ static void dot(double *sum, T v, Wide w) { sum[0] = fma(static_cast<double>(v), w.re, sum[0]); }
  __device__ static void parts(Wide w, double *to) { to[0] = w.re; }
  // The factor of modulus 1 that makes a number, given by its parts, real and positive; 1 without a number.
  __device__ static Wide turn(const double *x) { return {x != nullptr && x[0] < 0.0 ? -1.0 : 1.0}; }
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
  __device__ static Wide more(Wide w, V v, Wide h) {
    const double x = v.x, y = v.y;
    return {fma(-y, h.im, fma(x, h.re, w.re)), fma(y, h.re, fma(x, h.im, w.im))};
  }
  __device__ static void parts(Wide w, double *to) { to[0] = w.re, to[1] = w.im; }
  __device__ static Wide turn(const double *x) {
    if (x == nullptr) return {1.0, 0.0};
    const double modulus = hypot(x[0], x[1]);
    return modulus > 0.0 ? Wide{x[0] / modulus, -x[1] / modulus} : Wide{1.0, 0.0};
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

// Sums of COUNT numbers over groups of 2 STEP lanes. Sum k is in the lanes whose index in the group begins with the
// bits of k. Lanes exchange halves of their numbers, so that each step leaves half as many numbers to add.
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

}  // namespace lanczos
}  // namespace purlin

#endif
