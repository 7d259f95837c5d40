// Properties of a real type for the SS-HOPM kernels: rounding unit, fast reciprocals, bits of the exponent.
#ifndef PURLIN_SSHOPM_REAL_CUH
#define PURLIN_SSHOPM_REAL_CUH

#include <stdint.h>

namespace purlin {

template <class T>
struct Real;

template <>
struct Real<float> {
  static constexpr float epsilon = 1.1920929e-7f;
  __device__ static float infinity() { return __int_as_float(0x7f800000); }
  __device__ static float nan() { return __int_as_float(0x7fffffff); }
  // One instruction, 1 ulp. 0 gives infinity; the iteration then gives NaN, and the caller reports ZERO_VECTOR.
  __device__ static float rsqrt(float v) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
  }
  // Accurate to the last digit but one, for output values.
  __device__ static float rsqrt_refined(float v) {
    float r = rsqrt(v);
    return fmaf(fmaf(-v * r, r, 1.0f), 0.5f * r, r);
  }
  __device__ static float reciprocal(float v) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
  }
  __device__ static float root(float v) {
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
  }
  // 2^-e for the magnitude v = f 2^e, 1 <= f < 2, and its inverse; the exponent is limited to the normal range.
  __device__ static float power_scale(float v, float *inverse) {
    int e = static_cast<int>(__float_as_uint(v) >> 23) - 127;
    e = min(max(e, -126), 126);
    *inverse = __int_as_float((e + 127) << 23);
    return __int_as_float((127 - e) << 23);
  }
};

template <>
struct Real<double> {
  static constexpr double epsilon = 2.220446049250313e-16;
  __device__ static double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
  __device__ static double nan() { return __longlong_as_double(0x7fffffffffffffffll); }
  // A 20-bit seed and one third-order correction: five multiply-adds, about 2 ulp.
  __device__ static double rsqrt(double v) {
    double r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    double e = fma(-v * r, r, 1.0);
    return fma(fma(0.375, e, 0.5), e * r, r);
  }
  __device__ static double rsqrt_refined(double v) { return rsqrt(v); }
  // A 20-bit seed and one third-order correction.
  __device__ static double reciprocal(double v) {
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    double e = fma(-v, r, 1.0);
    return fma(fma(e, e, e), r, r);
  }
  __device__ static double root(double v) { return v > 1e-300 ? v * rsqrt(v) : 0.0; }
  __device__ static double power_scale(double v, double *inverse) {
    int e = static_cast<int>(static_cast<uint64_t>(__double_as_longlong(v)) >> 52) - 1023;
    e = min(max(e, -1022), 1022);
    *inverse = __longlong_as_double(static_cast<long long>(e + 1023) << 52);
    return __longlong_as_double(static_cast<long long>(1023 - e) << 52);
  }
};

template <class T>
__device__ __forceinline__ bool is_finite(T v) { return v - v == T(0); }

// Bound of the squared eigenvalues of the projected Hessian that may be 0 at a degenerate pair nearby, in units of norm times
// residual; see sshopm/cpu/top.rs.
template <class T>
__device__ __forceinline__ T uncertainty(int order) {
  const T m = T(order);
  return T(18) * sqrt(m * (m - T(1)) * (m - T(2)) * T(1.0 / 6.0)) / m;
}
// Directions in the plane of two eigenvectors in which a form is sampled: a prime number, so that the samples resolve a form
// of any order. Distances are 2^FIRST_DISTANCE to 2^-1.
constexpr int DIRECTIONS = 29, FIRST_DISTANCE = -10;

// Typed view of a device address in a parameter struct.
template <class T>
__device__ __forceinline__ T *address(uint64_t a) { return reinterpret_cast<T *>(a); }

}  // namespace purlin

#endif
