// Rings whose numbers hide others that count. See tt_rings_launch.h.
#include "tt_number.cuh"
#include "tt_rings_launch.h"

namespace purlin {
namespace tt {

__device__ __forceinline__ double nothing() { return __longlong_as_double(static_cast<long long>(0xfffull << 52)); }

// Whether there is nothing to search for. The same for all threads.
__device__ __forceinline__ bool is_near(const purlin_tt_ring_params &p) {
  return p.doubt != 0 && *reinterpret_cast<const uint64_t *>(p.doubt) == 0;
}

template <class R>
__device__ void sizes(const purlin_tt_ring_params &p) {
  if (is_near(p)) return;
  for (int64_t k = blockIdx.y; k < p.count; k += gridDim.y) {
    const purlin_tt_ring_core core = reinterpret_cast<const purlin_tt_ring_core *>(p.cores)[k];
    const R *numbers = reinterpret_cast<const R *>(core.address);
    float *to = reinterpret_cast<float *>(p.sizes) + core.sizes;
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < core.r * core.s;
         at += static_cast<int64_t>(gridDim.x) * blockDim.x) {
      const R *first = numbers + p.parts * (at % core.r + core.r * core.n * (at / core.r));
      uint64_t top = 0;
      for (int64_t i = 0; i < core.n; ++i) {
        for (int64_t part = 0; part < p.parts; ++part) {
          const uint64_t key = key_of(static_cast<double>(first[p.parts * core.r * i + part]));
          top = key > top ? key : top;
        }
      }
      if (top == 0) {
        to[at] = static_cast<float>(nothing());
        continue;
      }
      // In units of the largest number, whose square is at least 1/4.
      const int q = exponent_of_key<double>(top);
      double sum = 0;
      for (int64_t i = 0; i < core.n; ++i) {
        for (int64_t part = 0; part < p.parts; ++part) {
          const double x = ldexp(static_cast<double>(first[p.parts * core.r * i + part]), -q);
          sum = fma(x, x, sum);
        }
      }
      to[at] = static_cast<float>(q + 0.5 * log2(sum));
    }
  }
}

// Keys with the order of the numbers, also of negative ones. None is 0.
__device__ __forceinline__ uint64_t ordered(double x) {
  const uint64_t bits = static_cast<uint64_t>(__double_as_longlong(x));
  return (bits >> 63) != 0 ? ~bits : bits | (1ull << 63);
}
__device__ __forceinline__ double number_of(uint64_t key) {
  const uint64_t bits = (key >> 63) != 0 ? key & ~(1ull << 63) : ~key;
  return __longlong_as_double(static_cast<long long>(bits));
}

__device__ __forceinline__ double warp_max(double x) {
#pragma unroll
  for (int step = 16; step > 0; step >>= 1) x = fmax(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}

// The values of the first and the last bond: 0 for the boundary value, nothing for the others.
__device__ void begin(double *values, int64_t count, int64_t boundary) {
  for (int64_t j = threadIdx.x; j < count; j += blockDim.x) values[j] = j == boundary ? 0.0 : nothing();
}

// The largest sums behind a core from those before it. A warp for each value: all its lanes take part.
__device__ void forward(const purlin_tt_ring_core &core, const float *sizes, const double *from, double *to) {
  for (int64_t b = threadIdx.x / 32; b < core.s; b += blockDim.x / 32) {
    const float *column = sizes + core.r * b;
    double most = nothing();
    for (int64_t a = threadIdx.x % 32; a < core.r; a += 32) most = fmax(most, column[a] + from[a]);
    most = warp_max(most);
    if (threadIdx.x % 32 == 0) to[b] = most;
  }
}

// The largest sums before a core from those behind it.
__device__ void backward(const purlin_tt_ring_core &core, const float *sizes, const double *from, double *to) {
  for (int64_t a = threadIdx.x; a < core.r; a += blockDim.x) {
    double most = nothing();
    for (int64_t b = 0; b < core.s; ++b) most = fmax(most, sizes[a + core.r * b] + from[b]);
    to[a] = most;
  }
}

// Raises a top to the largest of these values.
__device__ void raise(uint64_t *top, const double *values, int64_t count) {
  double most = nothing();
  for (int64_t j = threadIdx.x; j < count; j += blockDim.x) most = fmax(most, values[j]);
  most = warp_max(most);
  if (threadIdx.x % 32 == 0 && most != nothing())
    atomicMax(reinterpret_cast<unsigned long long *>(top), static_cast<unsigned long long>(ordered(most)));
}

}  // namespace tt
}  // namespace purlin

namespace tt = purlin::tt;

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_RING_THREADS)
    purlin_tt_ring_sizes_f32(const __grid_constant__ purlin_tt_ring_params p) {
  tt::sizes<float>(p);
}
extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_RING_THREADS)
    purlin_tt_ring_sizes_f64(const __grid_constant__ purlin_tt_ring_params p) {
  tt::sizes<double>(p);
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_RING_THREADS)
    purlin_tt_ring_tops(const __grid_constant__ purlin_tt_ring_params p) {
  if (tt::is_near(p)) return;
  const purlin_tt_ring_core *cores = reinterpret_cast<const purlin_tt_ring_core *>(p.cores);
  const float *sizes = reinterpret_cast<const float *>(p.sizes);
  uint64_t *tops = reinterpret_cast<uint64_t *>(p.tops);
  double *now = reinterpret_cast<double *>(p.space) + blockIdx.x * p.stride, *next = now + p.widest;
  const int64_t steps = p.count * p.turns;
  for (int64_t boundary = blockIdx.x; boundary < p.values; boundary += gridDim.x) {
    for (int side = 0; side < 2; ++side) {
      tt::begin(now, p.values, boundary);
      __syncthreads();
      tt::raise(tops + 2 * (side == 0 ? 0 : steps) + side, now, p.values);
      for (int64_t t = 0; t < steps; ++t) {
        const int64_t step = side == 0 ? t : steps - 1 - t;
        const purlin_tt_ring_core core = cores[step % p.count];
        if (side == 0) {
          tt::forward(core, sizes + core.sizes, now, next);
        } else {
          tt::backward(core, sizes + core.sizes, now, next);
        }
        __syncthreads();
        double *free = now;
        now = next;
        next = free;
        tt::raise(tops + 2 * (side == 0 ? step + 1 : step) + side, now, side == 0 ? core.s : core.r);
      }
      if (side == 0 && threadIdx.x == 0 && now[boundary] != tt::nothing())
        atomicMax(reinterpret_cast<unsigned long long *>(tops + 2 * (steps + 1)),
                  static_cast<unsigned long long>(tt::ordered(now[boundary])));
      __syncthreads();
    }
  }
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_RING_THREADS)
    purlin_tt_ring_hides(const __grid_constant__ purlin_tt_ring_params p) {
  if (tt::is_near(p)) return;
  const purlin_tt_ring_core *cores = reinterpret_cast<const purlin_tt_ring_core *>(p.cores);
  const float *sizes = reinterpret_cast<const float *>(p.sizes);
  const uint64_t *tops = reinterpret_cast<const uint64_t *>(p.tops);
  double *now = reinterpret_cast<double *>(p.space) + blockIdx.x * p.stride, *next = now + p.widest;
  double *behind = next + p.widest;
  const int64_t steps = p.count * p.turns;
  // Without a closed path there is nothing that counts.
  const uint64_t all = tops[2 * (steps + 1)];
  if (all == 0) return;
  const double least = tt::number_of(all) - p.digits;
  for (int64_t boundary = blockIdx.x; boundary < p.values; boundary += gridDim.x) {
    // The values of the bond before step t.
    auto place = [&](int64_t t) { return behind + t / p.count * p.width + (t == steps ? 0 : cores[t % p.count].place); };
    tt::begin(place(steps), p.values, boundary);
    __syncthreads();
    for (int64_t t = steps - 1; t >= 0; --t) {
      const purlin_tt_ring_core core = cores[t % p.count];
      tt::backward(core, sizes + core.sizes, place(t + 1), place(t));
      __syncthreads();
    }
    tt::begin(now, p.values, boundary);
    __syncthreads();
    for (int64_t t = 0; t <= steps; ++t) {
      const int64_t count = t == steps ? p.values : cores[t % p.count].r;
      // Tops are at least as large as the values that raised them.
      const double before = tt::number_of(tops[2 * t]), after = tt::number_of(tops[2 * t + 1]);
      const double *back = place(t);
      for (int64_t j = threadIdx.x; j < count; j += blockDim.x) {
        const double f = now[j], b = back[j];
        if (f + b >= least && (f + p.half < before || b + p.half < after)) *reinterpret_cast<double *>(p.to) = nan("");
      }
      if (t == steps) break;
      const purlin_tt_ring_core core = cores[t % p.count];
      tt::forward(core, sizes + core.sizes, now, next);
      __syncthreads();
      double *free = now;
      now = next;
      next = free;
    }
    __syncthreads();
  }
}
