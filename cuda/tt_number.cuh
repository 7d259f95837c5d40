// Arithmetic of the four element types in the tensor-train kernels, and powers of two.
#ifndef PURLIN_TT_NUMBER_CUH
#define PURLIN_TT_NUMBER_CUH

#include <stdint.h>

#include "reduce.cuh"
#include "tt_launch.h"

namespace purlin {
namespace tt {

template <class R>
struct alignas(2 * sizeof(R)) Complex {
  R re, im;
};

template <class T>
struct Number {
  using Real = T;
  static constexpr bool COMPLEX = false;
  __device__ static T make(double re, double) { return static_cast<T>(re); }
  __device__ static T re(T x) { return x; }
  __device__ static T im(T) { return T(0); }
  __device__ static T scaled(T x, T f) { return x * f; }
};
template <class R>
struct Number<Complex<R>> {
  using Real = R;
  static constexpr bool COMPLEX = true;
  __device__ static Complex<R> make(double re, double im) { return {static_cast<R>(re), static_cast<R>(im)}; }
  __device__ static R re(Complex<R> x) { return x.re; }
  __device__ static R im(Complex<R> x) { return x.im; }
  __device__ static Complex<R> scaled(Complex<R> x, R f) { return {x.re * f, x.im * f}; }
};

// sum += (by_a a) * (by_b b), where b is conjugated first if flip is -1.
template <class T>
__device__ __forceinline__ void add_product(double &re, double &im, T a, T b, double flip, double by_a = 1.0,
                                            double by_b = 1.0) {
  const double ar = by_a * Number<T>::re(a), ai = by_a * Number<T>::im(a);
  const double br = by_b * Number<T>::re(b), bi = by_b * flip * Number<T>::im(b);
  re = fma(ar, br, re);
  if (Number<T>::COMPLEX) {
    re = fma(-ai, bi, re);
    im = fma(ar, bi, im);
    im = fma(ai, br, im);
  }
}

__device__ __forceinline__ uint64_t key_of(double x) {
  return static_cast<uint64_t>(__double_as_longlong(x)) & 0x7fffffffffffffffull;
}
template <class T>
__device__ __forceinline__ uint64_t key_of_number(T x) {
  const uint64_t re = key_of(static_cast<double>(Number<T>::re(x)));
  const uint64_t im = Number<T>::COMPLEX ? key_of(static_cast<double>(Number<T>::im(x))) : 0;
  return re > im ? re : im;
}

// q for which 2^-q scales the number of a key to [0.5, 1), clamped to normal numbers of type R; 0 for 0, infinity and
// NaN.
template <class R>
__device__ __forceinline__ int exponent_of_key(uint64_t key) {
  if (key == 0 || (key >> 52) == 0x7ff) return 0;
  const int field = static_cast<int>(key >> 52);
  const int q = field > 0 ? field - 1022 : 64 - __clzll(static_cast<long long>(key)) - 1074;
  const int limit = sizeof(R) == 4 ? 126 : 1022;
  return q > limit ? limit : (q < -limit ? -limit : q);
}

// Logarithm to base 2 of the finite number of a key that is not 0.
__device__ __forceinline__ double log_of_key(uint64_t key) {
  const int q = exponent_of_key<double>(key);
  const double number = __longlong_as_double(static_cast<long long>(key));
  // Powers of two in two steps: subnormal numbers become normal ones.
  const int half = -q / 2;
  return q + log2(number * __longlong_as_double(static_cast<long long>(half + 1023) << 52) *
                  __longlong_as_double(static_cast<long long>(-q - half + 1023) << 52));
}

// Exponent of the core's key at address `key`; 0 if the address is 0.
template <class R>
__device__ __forceinline__ int exponent_at(uint64_t key) {
  return key == 0 ? 0 : exponent_of_key<R>(*reinterpret_cast<const uint64_t *>(key));
}

// The part of the exponent q of a core by which an environment or a product is divided, as a power of two, before it is
// multiplied with that core.
template <class R>
__device__ __forceinline__ int ahead(int q) {
  constexpr int BOUND = sizeof(R) == 4 ? PURLIN_LAUNCH_TT_DOUBT_SINGLE : PURLIN_LAUNCH_TT_DOUBT_DOUBLE;
  return q > BOUND ? BOUND : (q < -BOUND ? -BOUND : q);
}

// The nearest exponent of a normal number of type R.
template <class R>
__device__ __forceinline__ int ordinary(int e) {
  constexpr int LIMIT = sizeof(R) == 4 ? 126 : 1022;
  return e > LIMIT ? LIMIT : (e < -LIMIT ? -LIMIT : e);
}

// Powers of two by which a site's two products are scaled, for cores of any magnitude. The environment is divided in
// advance by about the factor by which the first core exceeds 1, and the first product by about that of the other core.
// So neither product leaves the range before it is scaled. Without begin() only the environment is scaled, to [0.5, 1).
template <class R>
struct Care {
  int ahead = 0;     // exponent by which the first product is divided in advance
  int carries = 0;   // exponent by which the next environment is divided in advance
  int first = 0, second = 0;  // exponents of the products' factors
  int exponent = 0;  // exponent that the cores contribute

  // `q_first` and `q_second` are exponents of the site's cores, `q_next` that of the first core at the next site.
  // `carried` is the exponent by which the environment has been divided in advance.
  __device__ __forceinline__ void begin(int q_first, int q_second, int q_next, int carried) {
    ahead = purlin::tt::ahead<R>(q_second);
    first = ordinary<R>(carried - q_first);
    second = ordinary<R>(ahead - q_second - purlin::tt::ahead<R>(q_next));
    carries = ahead - q_second - second;
    exponent = q_second + carried - first;
  }

  // The exponent of the first product's factor for an environment whose largest number has exponent q.
  __device__ __forceinline__ int between(int q, int carried) const { return ordinary<R>(-q - carried - ahead); }
};

// Whether the number of a key is neither infinite nor NaN.
__device__ __forceinline__ bool is_finite_key(uint64_t key) { return (key >> 52) != 0x7ff; }

// Whether an environment with this key may have lost digits before it was scaled.
template <class R>
__device__ __forceinline__ bool is_doubtful(uint64_t key) {
  constexpr int BOUND = sizeof(R) == 4 ? PURLIN_LAUNCH_TT_DOUBT_SINGLE : PURLIN_LAUNCH_TT_DOUBT_DOUBLE;
  const int q = exponent_of_key<R>(key);
  return key == 0 || !is_finite_key(key) || q > BOUND || q < -BOUND;
}

// The same for the product of an environment with a core, by the key of the product after multiplication by 2^-q, where
// q is the exponent of the environment. The product is computed before that factor is applied, so neither its value
// before nor its value after may be near the ends of the range.
template <class R>
__device__ __forceinline__ bool is_doubtful_product(uint64_t key, int q) {
  constexpr int BOUND = sizeof(R) == 4 ? PURLIN_LAUNCH_TT_DOUBT_SINGLE : PURLIN_LAUNCH_TT_DOUBT_DOUBLE;
  const int made = exponent_of_key<R>(key) + q;
  return is_doubtful<R>(key) || made > BOUND || made < -BOUND;
}

// 2^e for an exponent of a normal double.
__device__ __forceinline__ double power_of_two(int e) {
  return __longlong_as_double(static_cast<long long>(e + 1023) << 52);
}

}  // namespace tt
}  // namespace purlin

#endif
