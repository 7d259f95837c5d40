// FDK kernels besides the back-projection: conversion, weights and ramp, output, and exact projections; see fdk_launch.h.
#include "fdk_filter.cuh"
#include "fdk_number.cuh"

namespace purlin {
namespace fdk {

// Adds the counts of a block's threads; sums of integers are the same in any order.
__device__ void count(uint64_t counters, int which, unsigned own) {
  const unsigned sum = __reduce_add_sync(0xffffffffu, own);
  if (sum && threadIdx.x % 32 == 0)
    atomicAdd(reinterpret_cast<unsigned long long *>(counters) + which, static_cast<unsigned long long>(sum));
}

// Parker's weight; see weights.rs.
__device__ float parker(float along, float gamma, float delta) {
  const float pi = 3.14159265f, end = pi + 2.0f * delta;
  if (along < 0.0f || along > end) return 0.0f;
  float x, length;
  if (along <= 2.0f * (delta - gamma)) {
    x = along;
    length = delta - gamma;
  } else if (along <= pi - 2.0f * gamma) {
    return 1.0f;
  } else {
    x = end - along;
    length = delta + gamma;
  }
  const float s = sinf(0.25f * pi * x / length);
  return length > 0.0f ? s * s : 1.0f;
}

// Weight of the ray of a view through pixel (i, j), counted from the panel's centre: as `Scan::ray_weight`.
__device__ float ray_weight(const purlin_fdk_convert_params &p, const float *ray, float i, float j) {
  const float angle = atan2f(fmaf(ray[0], i, fmaf(ray[1], j, ray[2])), fmaf(ray[3], i, fmaf(ray[4], j, ray[5])));
  const float quarter = 1.57079633f, ramp = static_cast<float>(p.ramp), side = static_cast<float>(p.long_side);
  const float mean = asinf(fminf(fmaxf(ray[6] * sinf(fminf(fmaxf(angle, -quarter), quarter)), -1.0f), 1.0f));
  if (side == 0.0f) return parker(ray[7] + (mean - angle), -mean, ramp);
  if (fabsf(mean) >= ramp) return mean * side > 0.0f ? 1.0f : mean == 0.0f ? 0.5f : 0.0f;
  return 0.5f * (1.0f + side * sinf(quarter * mean / ramp));
}

// A count of a pixel's image; with WIDE the image may be double.
template <bool WIDE, class Real>
__device__ Real pixel_of(uint64_t image, int64_t at, bool is_double) {
  if (WIDE && is_double) return static_cast<Real>(__ldg(reinterpret_cast<const double *>(image) + at));
  return static_cast<Real>(__ldg(reinterpret_cast<const float *>(image) + at));
}

struct Integral {
  float value;
  unsigned clamped, negative;
};

// As `Counts::line_integral`, for counts whose differences or quotient float does not hold. It is not inlined, so that the
// loop over ordinary counts needs no registers for it.
__device__ __noinline__ Integral line_integral(double count, double dark, double open, double least) {
  if (!isfinite(count)) return {nanf(""), 0, 0};
  // A difference of halves does not overflow.
  const double low = 0.5 * least, left = 0.5 * count - 0.5 * dark, raised = fmax(left, low),
               full = fmax(0.5 * open - 0.5 * dark, low), quotient = raised / full;
  const bool normal = quotient >= 2.2250738585072014e-308 && isfinite(quotient);
  return {static_cast<float>(normal ? -log(quotient) : log(full) - log(raised)), left < low, raised > full};
}

// With WIDE, counts are subtracted in double: float would round a count of more than 24 bits, or an image in double, before
// the subtraction.
template <bool WIDE>
__device__ void convert(const purlin_fdk_convert_params &p) {
  const int64_t pixels = p.columns * p.rows, all = pixels * p.views, offset = p.first_row * p.columns;
  const bool swap = p.flags & PURLIN_LAUNCH_FDK_SWAP, counts = p.flags & PURLIN_LAUNCH_FDK_COUNTS,
             sanitize = p.flags & PURLIN_LAUNCH_FDK_SANITIZE;
  // The number in two parts, because float rounds it, and the dark count may be almost as large.
  const float least = static_cast<float>(p.least), open = static_cast<float>(p.open),
              rest = static_cast<float>(p.open - static_cast<double>(open));
  const bool open_double = p.flags & PURLIN_LAUNCH_FDK_OPEN_DOUBLE, dark_double = p.flags & PURLIN_LAUNCH_FDK_DARK_DOUBLE;
  float *output = reinterpret_cast<float *>(p.output);
  const float *rays = reinterpret_cast<const float *>(p.rays);
  const float middle = 0.5f * static_cast<float>(p.columns - 1), centre = 0.5f * static_cast<float>(p.panel_rows - 1);
  unsigned clamped = 0, negative = 0, bad = 0, large = 0;
  for_number(p.number, [&](auto zero) {
    using T = decltype(zero);
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < all; at += step) {
      float value;
      if (counts) {
        const bool images = p.open_image || p.dark_image;
        const int64_t pixel = images ? offset + at % pixels : 0;
        float left, light;
        if (WIDE) {
          const double dark = p.dark_image ? pixel_of<WIDE, double>(p.dark_image, pixel, dark_double) : 0.0;
          left = static_cast<float>(to_double(read<T>(p.source, at, swap)) - dark);
          light = static_cast<float>((p.open_image ? pixel_of<WIDE, double>(p.open_image, pixel, open_double) : p.open) - dark);
        } else {
          const float dark = p.dark_image ? pixel_of<WIDE, float>(p.dark_image, pixel, false) : 0.0f;
          left = to_float(read<T>(p.source, at, swap)) - dark;
          light = p.open_image ? pixel_of<WIDE, float>(p.open_image, pixel, false) - dark : (open - dark) + rest;
        }
        const float raised = left < least ? least : left, full = fmaxf(light, least), quotient = raised / full;
        if (isfinite(left) && isfinite(light) && quotient >= 1.17549435e-38f && isfinite(quotient)) {
          clamped += left < least;
          negative += raised > full;
          value = -logf(quotient);
        } else {
          const double own_dark = p.dark_image ? pixel_of<true, double>(p.dark_image, pixel, dark_double) : 0.0;
          const double own_open = p.open_image ? pixel_of<true, double>(p.open_image, pixel, open_double) : p.open;
          const Integral found = line_integral(to_double(read<T>(p.source, at, swap)), own_dark, own_open, p.least);
          clamped += found.clamped;
          negative += found.negative;
          value = found.value;
        }
      } else {
        value = to_float(read<T>(p.source, at, swap));
      }
      if (!(fabsf(value) <= p.largest)) {
        ++bad;
        // The output may be the source, which is written below.
        large += isfinite(to_double(read<T>(p.source, at, swap)));
        value = sanitize ? 0.0f : nanf("");
      }
      if (!output) continue;
      if (rays) {
        const int view = reinterpret_cast<const int *>(p.index)[at / pixels];
        const float i = static_cast<float>(at % p.columns) - middle;
        const float j = static_cast<float>(p.first_row + at % pixels / p.columns) - centre;
        value *= ray_weight(p, rays + static_cast<int64_t>(view) * PURLIN_LAUNCH_FDK_RAY, i, j);
      }
      output[at] = value;
    }
  });
  count(p.counters, PURLIN_LAUNCH_FDK_CLAMPED, clamped);
  count(p.counters, PURLIN_LAUNCH_FDK_NEGATIVE, negative);
  count(p.counters, PURLIN_LAUNCH_FDK_NOT_FINITE, bad);
  count(p.counters, PURLIN_LAUNCH_FDK_TOO_LARGE, large);
}

// A voxel of the output.
template <class T>
__device__ T scaled(const purlin_fdk_store_params &, float value, float scale, float offset) {
  return rounded<T>(static_cast<double>(fmaf(value, scale, offset)));
}
template <>
__device__ double scaled<double>(const purlin_fdk_store_params &p, float value, float, float) {
  return fma(static_cast<double>(value), p.scale, p.offset);
}

template <class T>
__device__ bool is_infinite(T) {
  return false;
}
template <>
__device__ bool is_infinite(__half v) {
  return __hisinf(v) != 0;
}
template <>
__device__ bool is_infinite(float v) {
  return isinf(v);
}
template <>
__device__ bool is_infinite(double v) {
  return isinf(v);
}

__device__ void store(const purlin_fdk_store_params &p) {
  const int64_t slice = p.nx * p.ny, all = slice * p.slices;
  const bool swap = p.flags & PURLIN_LAUNCH_FDK_SWAP;
  const float *source = reinterpret_cast<const float *>(p.source);
  const float scale = static_cast<float>(p.scale), offset = static_cast<float>(p.offset);
  unsigned overflown = 0;
  for_number(p.number, [&](auto zero) {
    using T = decltype(zero);
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < all; at += step) {
      float value = source[at];
      if (p.fov_radius >= 0.0) {
        const int64_t pixel = at % slice;
        const double x = static_cast<double>(pixel % p.nx) - p.fov_x, y = (static_cast<double>(pixel / p.nx) - p.fov_y) * p.ratio;
        if (x * x + y * y > p.fov_radius * p.fov_radius) value = 0.0f;
      }
      const T voxel = scaled<T>(p, value, scale, offset);
      overflown += is_infinite(voxel);
      write<T>(p.output, at, swap, voxel);
    }
  });
  count(p.counters, PURLIN_LAUNCH_FDK_OVERFLOWN, overflown);
}

// Transforms a point or direction to the frame in which the ellipsoid is the unit ball.
__device__ void to_ball(const double *e, double sine, double cosine, const double *v, double *out) {
  out[0] = (v[0] * cosine + v[1] * sine) / e[1];
  out[1] = (v[1] * cosine - v[0] * sine) / e[2];
  out[2] = v[2] / e[3];
}

__device__ void ellipsoids(const purlin_fdk_ellipsoids_params &p) {
  const int64_t pixels = p.columns * p.rows, all = pixels * p.batch, step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < all; at += step) {
    const double *view = reinterpret_cast<const double *>(p.views) + at / pixels * PURLIN_LAUNCH_FDK_VIEW;
    const double i = static_cast<double>(at % p.columns), j = static_cast<double>(at % pixels / p.columns);
    double ray[3], square = 0.0;
    for (int k = 0; k < 3; ++k) {
      ray[k] = view[3 + 3 * k] * i + view[4 + 3 * k] * j + view[5 + 3 * k];
      square += ray[k] * ray[k];
    }
    const double length = sqrt(square);
    for (double &r : ray) r /= length;
    double sum = 0.0;
    for (int64_t n = 0; n < p.count; ++n) {
      const double *e = reinterpret_cast<const double *>(p.ellipsoids) + n * PURLIN_LAUNCH_FDK_ELLIPSOID;
      const double from[3] = {view[0] - e[4], view[1] - e[5], view[2] - e[6]};
      double sine, cosine, o[3], d[3];
      sincos(e[7], &sine, &cosine);
      to_ball(e, sine, cosine, from, o);
      to_ball(e, sine, cosine, ray, d);
      const double a = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], b = o[0] * d[0] + o[1] * d[1] + o[2] * d[2];
      // Computed from the foot of the perpendicular, because the difference of two large numbers would lose digits.
      double inside = 1.0;
      for (int k = 0; k < 3; ++k) {
        const double foot = o[k] - b / a * d[k];
        inside -= foot * foot;
      }
      if (inside > 0.0) sum += e[0] * 2.0 * sqrt(inside / a);
    }
    reinterpret_cast<float *>(p.output)[at] = static_cast<float>(sum);
  }
}

}  // namespace fdk
}  // namespace purlin

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_FDK_THREADS)
    purlin_fdk_convert(const __grid_constant__ purlin_fdk_convert_params p) {
  purlin::fdk::convert<false>(p);
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_FDK_THREADS)
    purlin_fdk_convert_double(const __grid_constant__ purlin_fdk_convert_params p) {
  purlin::fdk::convert<true>(p);
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_FDK_THREADS)
    purlin_fdk_place(const __grid_constant__ purlin_fdk_filter_params p) {
  purlin::fdk::place_rows(p);
}

// At most 96 registers a thread, so that 20 warps of short rows fit a multiprocessor.
#define PURLIN_FDK_FILTER(log)                                                                                          \
  extern "C" __global__ void __launch_bounds__(purlin::fdk::Passes<log>::THREADS,                                       \
                                               (log) < 13 ? 640 / purlin::fdk::Passes<log>::THREADS : 1)                \
      purlin_fdk_filter_##log(const __grid_constant__ purlin_fdk_filter_params p) {                                     \
    purlin::fdk::filter<log>(p);                                                                                        \
  }

PURLIN_FDK_FILTER(4)
PURLIN_FDK_FILTER(5)
PURLIN_FDK_FILTER(6)
PURLIN_FDK_FILTER(7)
PURLIN_FDK_FILTER(8)
PURLIN_FDK_FILTER(9)
PURLIN_FDK_FILTER(10)
PURLIN_FDK_FILTER(11)
PURLIN_FDK_FILTER(12)
PURLIN_FDK_FILTER(13)
PURLIN_FDK_FILTER(14)

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_FDK_THREADS)
    purlin_fdk_store(const __grid_constant__ purlin_fdk_store_params p) {
  purlin::fdk::store(p);
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_FDK_THREADS)
    purlin_fdk_ellipsoids(const __grid_constant__ purlin_fdk_ellipsoids_params p) {
  purlin::fdk::ellipsoids(p);
}
