// Weights, smooth extrapolation and ramp of two rows a block, in one complex transform.
//
// The rows are the real and imaginary part of a complex row; the response is real and even, so they stay apart. The
// transform is in place in shared memory: forwards from natural order to that of reversed digits (radix 8, the first pass
// 2 or 4 if the length asks for it), where the response is looked up by frequency, and backwards the same way in reverse.
#ifndef PURLIN_FDK_FILTER_CUH
#define PURLIN_FDK_FILTER_CUH

#include "fdk_launch.h"

namespace purlin {
namespace fdk {

struct Complex {
  float x, y;
};
__device__ __forceinline__ Complex operator+(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }
__device__ __forceinline__ Complex operator-(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }
__device__ __forceinline__ Complex operator*(Complex a, Complex b) {
  return {fmaf(a.x, b.x, -a.y * b.y), fmaf(a.x, b.y, a.y * b.x)};
}

// Times -i forwards, i backwards.
template <bool BACK>
__device__ __forceinline__ Complex quarter_turn(Complex a) {
  return BACK ? Complex{-a.y, a.x} : Complex{a.y, -a.x};
}

// Transforms of a few numbers in registers, natural order on both sides.
template <int R, bool BACK>
struct Butterfly;
template <bool BACK>
struct Butterfly<2, BACK> {
  __device__ static __forceinline__ void run(Complex *v) {
    const Complex a = v[0], b = v[1];
    v[0] = a + b;
    v[1] = a - b;
  }
};
template <bool BACK>
struct Butterfly<4, BACK> {
  __device__ static __forceinline__ void run(Complex *v) {
    const Complex a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = quarter_turn<BACK>(v[1] - v[3]);
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
  }
};
template <bool BACK>
struct Butterfly<8, BACK> {
  __device__ static __forceinline__ void run(Complex *v) {
    Complex even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
    Butterfly<4, BACK>::run(even);
    Butterfly<4, BACK>::run(odd);
    constexpr float h = 0.70710678f;
    const Complex one = quarter_turn<BACK>(odd[1]), three = quarter_turn<BACK>(odd[3]);
    odd[1] = {h * (odd[1].x + one.x), h * (odd[1].y + one.y)};
    odd[2] = quarter_turn<BACK>(odd[2]);
    odd[3] = {h * (three.x - odd[3].x), h * (three.y - odd[3].y)};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      v[k] = even[k] + odd[k];
      v[k + 4] = even[k] - odd[k];
    }
  }
};

// The complex row in shared memory. A gap every 32 samples keeps the strides of the passes off single banks.
struct Line {
  float *x, *y;
  __device__ Line(float *shared, int length) : x(shared), y(shared + length + length / 32) {}
  __device__ __forceinline__ static int place(int i) { return i + (i >> 5); }
  __device__ __forceinline__ Complex get(int i) const { return {x[place(i)], y[place(i)]}; }
  __device__ __forceinline__ void set(int i, Complex v) const {
    x[place(i)] = v.x;
    y[place(i)] = v.y;
  }
};

// One pass over sub-transforms of length 2^log_m: R-point transforms of numbers m / R apart, with the roots behind them
// (forwards) or before them (backwards).
template <int R, bool BACK>
__device__ void pass(const Line &line, const Complex *roots, int log_length, int log_m) {
  constexpr int LOG_R = R == 8 ? 3 : R == 4 ? 2 : 1;
  const int log_q = log_m - LOG_R, q = 1 << log_q, length = 1 << log_length;
  for (int t = threadIdx.x; t < length / R; t += blockDim.x) {
    const int o = t & (q - 1), base = (t >> log_q << log_m) + o;
    Complex v[R];
#pragma unroll
    for (int k = 0; k < R; ++k) v[k] = line.get(base + (k << log_q));
    auto turn = [&]() {
#pragma unroll
      for (int k = 1; k < R; ++k) {
        Complex w = roots[o * k << (log_length - log_m)];
        if (BACK) w.y = -w.y;
        v[k] = v[k] * w;
      }
    };
    if (BACK) turn();
    Butterfly<R, BACK>::run(v);
    if (!BACK) turn();
#pragma unroll
    for (int k = 0; k < R; ++k) line.set(base + (k << log_q), v[k]);
  }
  __syncthreads();
}

// The last pass forwards, the response, and the first pass backwards.
__device__ inline void innermost(const Line &line, const float *response, int log_length, int log_first) {
  const int length = 1 << log_length;
  for (int t = threadIdx.x; t < length / 8; t += blockDim.x) {
    Complex v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = line.get(8 * t + k);
    Butterfly<8, false>::run(v);
    // A place's digits from the most significant one on are its frequency's from the least significant one on.
    int frequency = 0, done = 0, rest = log_length - 3;
    int digit_bits = log_first;
    while (rest > 0) {
      rest -= digit_bits;
      frequency |= (t >> rest & ((1 << digit_bits) - 1)) << done;
      done += digit_bits;
      digit_bits = 3;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int f = frequency + (k << (log_length - 3));
      const float r = __ldg(response + min(f, length - f));
      v[k] = {v[k].x * r, v[k].y * r};
    }
    Butterfly<8, true>::run(v);
#pragma unroll
    for (int k = 0; k < 8; ++k) line.set(8 * t + k, v[k]);
  }
  __syncthreads();
}

__device__ inline void ramp(const purlin_fdk_filter_params &p, const Line &line) {
  const Complex *roots = reinterpret_cast<const Complex *>(p.roots);
  const int log_length = 31 - __clz(p.length), log_first = log_length % 3 ? log_length % 3 : 3;
  if (log_first == 1) pass<2, false>(line, roots, log_length, log_length);
  if (log_first == 2) pass<4, false>(line, roots, log_length, log_length);
  const int log_rest = log_first == 3 ? log_length : log_length - log_first;
  for (int log_m = log_rest; log_m > 3; log_m -= 3) pass<8, false>(line, roots, log_length, log_m);
  innermost(line, reinterpret_cast<const float *>(p.response), log_length, log_first);
  for (int log_m = 6; log_m <= log_rest; log_m += 3) pass<8, true>(line, roots, log_length, log_m);
  if (log_first == 2) pass<4, true>(line, roots, log_length, log_length);
  if (log_first == 1) pass<2, true>(line, roots, log_length, log_length);
}

// Weight of the ray through pixel (i, j), counted from the panel's centre.
__device__ __forceinline__ float ray_weight(const float *view, const float *table, int column, float i, float j) {
  const float along = fmaf(view[0], i, fmaf(view[1], j, view[2]));
  const float square = fmaf(fmaf(view[3], i, fmaf(view[4], j, view[6])), i, fmaf(fmaf(view[5], j, view[7]), j, 1.0f));
  const float weight = view[8] * along / sqrtf(square);
  return table ? weight * __ldg(table + column) : weight;
}

// Block x takes lines 2 x and 2 x + 1 of the image of batch view y.
__device__ inline void filter(const purlin_fdk_filter_params &p, float *shared) {
  const int first = 2 * blockIdx.x, n = blockIdx.y, rows[2] = {first - p.top, first + 1 - p.top};
  const bool weigh = p.flags & PURLIN_LAUNCH_FDK_WEIGH, filtered = p.flags & PURLIN_LAUNCH_FDK_RAMP;
  bool there[2];
  const float *source[2];
  float j[2];
  for (int h = 0; h < 2; ++h) {
    there[h] = rows[h] >= 0 && rows[h] < p.rows;
    source[h] = reinterpret_cast<const float *>(p.input) + (static_cast<int64_t>(n) * p.rows + (there[h] ? rows[h] : 0)) * p.columns;
    j[h] = static_cast<float>(p.first_row + rows[h]) - 0.5f * static_cast<float>(p.panel_rows - 1);
  }
  float view[9];
  const float *table = nullptr;
  if (weigh) {
    const float *entry = reinterpret_cast<const float *>(p.views) +
                         static_cast<int64_t>(reinterpret_cast<const int *>(p.index)[n]) * PURLIN_LAUNCH_FDK_FILTER_VIEW;
    for (int k = 0; k < 9; ++k) view[k] = __ldg(entry + k);
    const float row = __ldg(entry + 9);
    if (p.ray_weights && row >= 0.0f)
      table = reinterpret_cast<const float *>(p.ray_weights) + static_cast<int64_t>(row) * p.columns;
  }
  const float centre = 0.5f * static_cast<float>(p.columns - 1);
  auto pixel = [&](int h, int column) {
    if (!there[h] || column < 0 || column >= p.columns) return 0.0f;
    const float value = __ldg(source[h] + column);
    return weigh ? value * ray_weight(view, table, column, static_cast<float>(column) - centre, j[h]) : value;
  };
  const Line line(shared, p.length);
  if (filtered && (there[0] || there[1])) {
    for (int i = threadIdx.x; i < p.length; i += blockDim.x) line.set(i, {pixel(0, i - p.added_left), pixel(1, i - p.added_left)});
    __syncthreads();
    if (p.extrapolated) {
      const int last = p.added_left + p.columns - 1;
      for (int k = threadIdx.x + 1; k <= p.extrapolated; k += blockDim.x) {
        const float fall = __ldg(reinterpret_cast<const float *>(p.fall) + k - 1);
        const int mirror = min(k, p.columns - 1);
        const Complex a = line.get(p.added_left + mirror), b = line.get(last - mirror);
        line.set((p.added_left + p.length - k) & (p.length - 1), {a.x * fall, a.y * fall});
        line.set((last + k) & (p.length - 1), {b.x * fall, b.y * fall});
      }
      __syncthreads();
    }
    ramp(p, line);
  }
  for (int h = 0; h < 2 && first + h < p.height; ++h) {
    float *out = reinterpret_cast<float *>(p.output) + (static_cast<int64_t>(n) * p.height + first + h) * p.pitch;
    const float *values = h ? line.y : line.x;
    for (int i = threadIdx.x; i < p.pitch; i += blockDim.x) {
      const int column = i - p.left;
      float value = 0.0f;
      if (there[h] && column >= 0 && column < p.output_columns)
        value = filtered ? values[Line::place(column)] : pixel(h, column - p.added_left);
      out[i] = value;
    }
  }
}

}  // namespace fdk
}  // namespace purlin

#endif
