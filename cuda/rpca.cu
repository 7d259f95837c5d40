// The elementwise passes of robust PCA: the kernels of an iteration besides the matrix products. See rpca_launch.h.
#include <cuda_fp16.h>

#include "block_reduce.cuh"
#include "rpca_launch.h"

namespace purlin {
namespace rpca {

// Arithmetic of the four types of elements.
template <class R>
struct Real {
  using Part = R;
  static constexpr bool COMPLEX = false;
  __device__ static R make(double re, double) { return static_cast<R>(re); }
  __device__ static R zero() { return R(0); }
  __device__ static R add(R a, R b) { return a + b; }
  __device__ static R sub(R a, R b) { return a - b; }
  __device__ static R times(R a, R f) { return a * f; }
  // Clips the modulus to a limit; a NaN stays NaN.
  __device__ static R clip(R a, R limit) { return a > limit ? limit : a < -limit ? -limit : a; }
  __device__ static double square(R a) { return static_cast<double>(a) * static_cast<double>(a); }
  __device__ static double modulus(R a) { return fabs(static_cast<double>(a)); }
  __device__ static bool finite(R a) { return isfinite(a); }
};

template <class C, class R>
struct Complex {
  using Part = R;
  static constexpr bool COMPLEX = true;
  __device__ static C make(double re, double im) {
    C c;
    c.x = static_cast<R>(re);
    c.y = static_cast<R>(im);
    return c;
  }
  __device__ static C zero() { return make(0.0, 0.0); }
  __device__ static C add(C a, C b) {
    a.x += b.x;
    a.y += b.y;
    return a;
  }
  __device__ static C sub(C a, C b) {
    a.x -= b.x;
    a.y -= b.y;
    return a;
  }
  __device__ static C times(C a, R f) {
    a.x *= f;
    a.y *= f;
    return a;
  }
  __device__ static C clip(C a, R limit) {
    const R length = sqrt(a.x * a.x + a.y * a.y);
    return length > limit ? times(a, limit / length) : a;
  }
  __device__ static double square(C a) {
    const double re = a.x, im = a.y;
    return re * re + im * im;
  }
  __device__ static double modulus(C a) { return hypot(static_cast<double>(a.x), static_cast<double>(a.y)); }
  __device__ static bool finite(C a) { return isfinite(a.x) && isfinite(a.y); }
};

template <class T>
struct Number;
template <>
struct Number<float> : Real<float> {};
template <>
struct Number<double> : Real<double> {};
template <>
struct Number<float2> : Complex<float2, float> {};
template <>
struct Number<double2> : Complex<double2, double> {};

// Readers of M. The common types have a reader each, so that the loop does not branch on the type.
template <class M>
struct Plain {
  __device__ static double2 read(uint64_t array, int64_t at, int) {
    return make_double2(static_cast<double>(reinterpret_cast<const M *>(array)[at]), 0.0);
  }
};
struct Any {
  template <class M>
  __device__ static double2 one(uint64_t array, int64_t at) {
    return Plain<M>::read(array, at, 0);
  }
  __device__ static double2 read(uint64_t array, int64_t at, int number) {
    switch (number) {
      case PURLIN_LAUNCH_RPCA_F32: return one<float>(array, at);
      case PURLIN_LAUNCH_RPCA_F64: return one<double>(array, at);
      case PURLIN_LAUNCH_RPCA_CF32: {
        const float *parts = reinterpret_cast<const float *>(array) + 2 * at;
        return make_double2(parts[0], parts[1]);
      }
      case PURLIN_LAUNCH_RPCA_CF64: {
        const double *parts = reinterpret_cast<const double *>(array) + 2 * at;
        return make_double2(parts[0], parts[1]);
      }
      case PURLIN_LAUNCH_RPCA_I32: return one<int32_t>(array, at);
      case PURLIN_LAUNCH_RPCA_U8: return one<uint8_t>(array, at);
      case PURLIN_LAUNCH_RPCA_U16: return one<uint16_t>(array, at);
      case PURLIN_LAUNCH_RPCA_I8: return one<int8_t>(array, at);
      case PURLIN_LAUNCH_RPCA_I16: return one<int16_t>(array, at);
      case PURLIN_LAUNCH_RPCA_U32: return one<uint32_t>(array, at);
      default: return make_double2(__half2float(reinterpret_cast<const __half *>(array)[at]), 0.0);
    }
  }
};

// Sum or maximum over the block.
template <bool MAXIMUM>
__device__ double block_total(double value) {
  constexpr int WARPS = PURLIN_LAUNCH_RPCA_THREADS / 32;
  return MAXIMUM ? block_reduce(value, Larger(), WARPS) : block_reduce(value, Sum(), WARPS);
}

template <bool MAXIMUM>
__device__ void leave(uint64_t sums, double first, double second, double third, double fourth) {
  first = block_total<false>(first);
  second = block_total<MAXIMUM>(second);
  third = block_total<false>(third);
  fourth = block_total<false>(fourth);
  if (threadIdx.x != 0 || sums == 0) return;
  double *own = reinterpret_cast<double *>(sums) + static_cast<int64_t>(blockIdx.x) * PURLIN_LAUNCH_RPCA_SUMS;
  own[0] = first;
  own[1] = second;
  own[2] = third;
  own[3] = fourth;
}

// Offsets of element e in M and in the mask.
struct Place {
  int64_t m, mask;
};

__device__ __forceinline__ Place place(const purlin_rpca_pass_params &p, uint32_t e) {
  if (p.m_slow == p.fast && p.mask == 0) return {static_cast<int64_t>(e), 0};
  const uint32_t slow = e / static_cast<uint32_t>(p.fast), fast = e - slow * static_cast<uint32_t>(p.fast);
  return {fast + slow * p.m_slow, fast * p.mask_fast + slow * p.mask_slow};
}

template <class T, class Reader>
__device__ __forceinline__ T entry(const purlin_rpca_pass_params &p, int64_t at) {
  const double2 v = Reader::read(p.m, at, p.number);
  return Number<T>::make(v.x * p.scale, v.y * p.scale);
}

__device__ __forceinline__ bool seen(const purlin_rpca_pass_params &p, int64_t at) {
  return p.mask == 0 || reinterpret_cast<const uint8_t *>(p.mask)[at] != 0;
}

template <class T, class Reader>
__device__ void load(const purlin_rpca_pass_params &p) {
  using N = Number<T>;
  T *x = reinterpret_cast<T *>(p.x), *y = reinterpret_cast<T *>(p.y);
  const auto x_scale = static_cast<typename N::Part>(p.x_scale), y_scale = static_cast<typename N::Part>(p.y_scale);
  double squares = 0.0, largest = 0.0, bad = 0.0, total = 0.0;
  const uint32_t begin = blockIdx.x * PURLIN_LAUNCH_RPCA_CHUNK, end = static_cast<uint32_t>(p.elements);
#pragma unroll 4
  for (int k = 0; k < PURLIN_LAUNCH_RPCA_CHUNK / PURLIN_LAUNCH_RPCA_THREADS; ++k) {
    const uint32_t e = begin + k * PURLIN_LAUNCH_RPCA_THREADS + threadIdx.x;
    if (e >= end) continue;
    const Place at = place(p, e);
    const T m = seen(p, at.mask) ? entry<T, Reader>(p, at.m) : N::zero();
    squares += N::square(m);
    const double modulus = N::modulus(m);
    largest = fmax(largest, modulus);
    total += modulus;
    if (!N::finite(m)) bad += 1.0;
    x[e] = N::times(m, x_scale);
    if (y) y[e] = N::times(m, y_scale);
  }
  leave<true>(p.sums, squares, largest, bad, total);
}

template <class T, class Reader, bool LAST>
__device__ void update(const purlin_rpca_pass_params &p) {
  using N = Number<T>;
  using Part = typename N::Part;
  const T *low_rank = reinterpret_cast<const T *>(p.low_rank);
  T *x = reinterpret_cast<T *>(p.x), *y = reinterpret_cast<T *>(p.y);
  const Part inverse = static_cast<Part>(p.inverse), mu = static_cast<Part>(p.mu), shrink = static_cast<Part>(p.shrink),
             keep = static_cast<Part>(p.keep);
  const bool measured = (p.flags & PURLIN_LAUNCH_RPCA_MEASURED) != 0;
  double squares = 0.0, moduli = 0.0, count = 0.0, sparse = 0.0;
  const uint32_t begin = blockIdx.x * PURLIN_LAUNCH_RPCA_CHUNK, end = static_cast<uint32_t>(p.elements);
#pragma unroll 4
  for (int k = 0; k < PURLIN_LAUNCH_RPCA_CHUNK / PURLIN_LAUNCH_RPCA_THREADS; ++k) {
    const uint32_t e = begin + k * PURLIN_LAUNCH_RPCA_THREADS + threadIdx.x;
    if (e >= end) continue;
    const Place at = place(p, e);
    const T l = low_rank[e];
    if (!seen(p, at.mask)) {
      if (!LAST && measured) moduli += N::square(N::sub(x[e], l));
      x[e] = l;
      y[e] = N::zero();
      continue;
    }
    const T m = entry<T, Reader>(p, at.m), multiplier = N::times(y[e], inverse);
    const T t = N::add(N::sub(m, l), multiplier);
    const T c = N::clip(t, shrink);
    squares += N::square(N::sub(c, multiplier));
    if (LAST) {
      const T s = N::sub(t, c);
      const double modulus = N::modulus(s);
      moduli += modulus;
      if (modulus > p.threshold) count += 1.0;
      x[e] = l;
      y[e] = s;
    } else {
      if (measured) {
        moduli += N::square(N::sub(N::sub(x[e], l), c));
        count += N::square(c);
        sparse += N::modulus(N::sub(t, c));
      }
      y[e] = N::times(c, mu);
      x[e] = N::add(N::sub(m, t), N::times(c, keep));
    }
  }
  leave<false>(p.sums, squares, moduli, count, sparse);
}

// Runs body with the reader of M's type; `Own` is the reader of the element type itself.
template <class Own, class Body>
__device__ __forceinline__ void with_reader(const purlin_rpca_pass_params &p, int own, Body body) {
  if (p.number == own) {
    body(Own{});
  } else if (p.number == PURLIN_LAUNCH_RPCA_U8) {
    body(Plain<uint8_t>{});
  } else if (p.number == PURLIN_LAUNCH_RPCA_U16) {
    body(Plain<uint16_t>{});
  } else {
    body(Any{});
  }
}

template <class T, class Own>
__device__ void load_any(const purlin_rpca_pass_params &p, int own) {
  with_reader<Own>(p, own, [&](auto reader) { load<T, decltype(reader)>(p); });
}

template <class T, class Own>
__device__ void update_any(const purlin_rpca_pass_params &p, int own) {
  with_reader<Own>(p, own, [&](auto reader) {
    if (p.flags & PURLIN_LAUNCH_RPCA_LAST)
      update<T, decltype(reader), true>(p);
    else
      update<T, decltype(reader), false>(p);
  });
}

__device__ void sum(const purlin_rpca_sum_params &p) {
  const double *sums = reinterpret_cast<const double *>(p.sums);
  double own[PURLIN_LAUNCH_RPCA_SUMS] = {0.0, 0.0, 0.0, 0.0};
  const bool maximum = (p.flags & PURLIN_LAUNCH_RPCA_MAXIMUM) != 0;
  for (int64_t block = threadIdx.x; block < p.blocks; block += blockDim.x) {
    const double *from = sums + block * PURLIN_LAUNCH_RPCA_SUMS;
    own[0] += from[0];
    own[1] = maximum ? fmax(own[1], from[1]) : own[1] + from[1];
    own[2] += from[2];
    own[3] += from[3];
  }
  own[0] = block_total<false>(own[0]);
  own[1] = maximum ? block_total<true>(own[1]) : block_total<false>(own[1]);
  own[2] = block_total<false>(own[2]);
  own[3] = block_total<false>(own[3]);
  if (threadIdx.x != 0) return;
  double *totals = reinterpret_cast<double *>(p.totals);
  totals[0] += own[0];
  totals[1] = maximum ? fmax(totals[1], own[1]) : totals[1] + own[1];
  totals[2] += own[2];
  totals[3] += own[3];
}

}  // namespace rpca
}  // namespace purlin

#define PURLIN_RPCA_KERNELS(name, T, Own, own)                                                              \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RPCA_THREADS)                                  \
      purlin_rpca_load_##name(const __grid_constant__ purlin_rpca_pass_params p) {                          \
    purlin::rpca::load_any<T, Own>(p, own);                                                                 \
  }                                                                                                         \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RPCA_THREADS)                                  \
      purlin_rpca_update_##name(const __grid_constant__ purlin_rpca_pass_params p) {                        \
    purlin::rpca::update_any<T, Own>(p, own);                                                               \
  }

PURLIN_RPCA_KERNELS(f32, float, purlin::rpca::Plain<float>, PURLIN_LAUNCH_RPCA_F32)
PURLIN_RPCA_KERNELS(f64, double, purlin::rpca::Plain<double>, PURLIN_LAUNCH_RPCA_F64)
PURLIN_RPCA_KERNELS(cf32, float2, purlin::rpca::Any, -1)
PURLIN_RPCA_KERNELS(cf64, double2, purlin::rpca::Any, -1)

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_RPCA_THREADS)
    purlin_rpca_sum(const __grid_constant__ purlin_rpca_sum_params p) {
  purlin::rpca::sum(p);
}
