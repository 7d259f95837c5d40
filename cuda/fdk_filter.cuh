// Weights, smooth extrapolation and ramp filter of two rows at a time, in one complex transform.
//
// The rows are the real and imaginary part of a complex row. The response is real and even, so the rows do not mix. In each
// pass a thread holds 16 samples in registers. Between passes the threads exchange samples in shared memory, in place. The
// forward transform goes from natural to digit-reversed order, in which the response is stored as well; the backward
// transform returns to natural order. The first pass reads the image itself and the last one writes it.
#ifndef PURLIN_FDK_FILTER_CUH
#define PURLIN_FDK_FILTER_CUH

#include "fdk_launch.h"

namespace purlin {
namespace fdk {

struct alignas(8) Complex {
  float x, y;
};
__device__ __forceinline__ Complex operator+(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }
__device__ __forceinline__ Complex operator-(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }
__device__ __forceinline__ Complex operator*(Complex a, Complex b) {
  return {fmaf(a.x, b.x, -a.y * b.y), fmaf(a.x, b.y, a.y * b.x)};
}

// Multiplies by -i forwards, by i backwards.
template <bool BACK>
__device__ __forceinline__ Complex quarter_turn(Complex a) {
  return BACK ? Complex{-a.y, a.x} : Complex{a.y, -a.x};
}

// Transforms of a few numbers in registers, with input and output in natural order.
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

// Multiplies by exp(-2 pi i e / 16), or by its inverse backwards, for the values of e in a transform of 16.
template <bool BACK>
__device__ __forceinline__ Complex turn_16(Complex a, int e) {
  constexpr float h = 0.70710678f, c = 0.92387953f, s = 0.38268343f;
  const Complex q = quarter_turn<BACK>(a);
  switch (e) {
    case 0: return a;
    case 1: return {fmaf(s, q.x, c * a.x), fmaf(s, q.y, c * a.y)};
    case 2: return {h * (a.x + q.x), h * (a.y + q.y)};
    case 3: return {fmaf(c, q.x, s * a.x), fmaf(c, q.y, s * a.y)};
    case 4: return q;
    case 6: return {h * (q.x - a.x), h * (q.y - a.y)};
    default: return {-fmaf(s, q.x, c * a.x), -fmaf(s, q.y, c * a.y)};  // 9
  }
}
template <bool BACK>
struct Butterfly<16, BACK> {
  __device__ static __forceinline__ void run(Complex *v) {
    Complex w[4][4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Complex four[4] = {v[j], v[j + 4], v[j + 8], v[j + 12]};
      Butterfly<4, BACK>::run(four);
#pragma unroll
      for (int k = 0; k < 4; ++k) w[k][j] = turn_16<BACK>(four[k], j * k);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      Butterfly<4, BACK>::run(w[k]);
#pragma unroll
      for (int j = 0; j < 4; ++j) v[k + 4 * j] = w[k][j];
    }
  }
};

// Passes of a transform of 2^LOG samples, with at most 16 points each. The longest transforms have fewer points a pass,
// because 1024 threads share a block's registers.
template <int LOG>
struct Passes {
  static constexpr int LENGTH = 1 << LOG, THREADS = LENGTH / 16 < 32 ? 32 : LENGTH / 16;
  // Whether the response is stored in shared memory, in the order of its use.
  static constexpr bool STORED = LENGTH <= PURLIN_LAUNCH_FDK_FILTER_STORED;
  static constexpr int COUNT = LOG < 9 ? 2 : LOG < 13 ? 3 : LOG < 14 ? 4 : 5;
  // log2 of the number of points of a pass; the outermost pass is pass 0.
  __host__ __device__ static constexpr int digit(int pass) { return LOG / COUNT + (pass < LOG % COUNT ? 1 : 0); }
  // log2 of the length that the pass splits.
  __host__ __device__ static constexpr int rest(int pass) { return pass == 0 ? LOG : rest(pass - 1) - digit(pass - 1); }
  // The frequency of the first number of the innermost pass' transform t. The digits of t, most significant first, are the
  // digits of the frequency, least significant first.
  __device__ static int frequency(int t) {
    int f = 0, done = 0, left = LOG - digit(COUNT - 1);
#pragma unroll
    for (int pass = 0; pass < COUNT - 1; ++pass) {
      left -= digit(pass);
      f |= (t >> left & ((1 << digit(pass)) - 1)) << done;
      done += digit(pass);
    }
    return f;
  }
};

// Address of a sample in shared memory: one unused word after every 16 avoids bank conflicts of the passes' strides.
__device__ __forceinline__ int place(int i) { return i + (i >> 4); }

// Multiplies v[k] by root o k of `length`; roots are `step` apart in the table. Products of two roots avoid most loads. The
// loads are volatile, because roots kept in registers for the next pair of rows would spill.
template <int R, bool BACK>
__device__ __forceinline__ void twist(Complex *v, const Complex *roots, int o, int step) {
  auto root = [&](int k) {
    Complex w;
    asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(w.x), "=f"(w.y) : "l"(roots + o * k * step));
    return Complex{w.x, BACK ? -w.y : w.y};
  };
  Complex low[4] = {{1.0f, 0.0f}, root(1)};
  v[1] = v[1] * low[1];
  if (R > 2) {
    low[2] = root(2);
    low[3] = low[1] * low[2];
    v[2] = v[2] * low[2];
    v[3] = v[3] * low[3];
  }
  if (R > 4) {
    const Complex four = root(4);
    Complex high = four;
#pragma unroll
    for (int k = 4; k < R; k += 4) {
      if (k == 8) high = root(8);
      if (k == 12) high = high * four;
      v[k] = v[k] * high;
#pragma unroll
      for (int j = 1; j < 4; ++j) v[k + j] = v[k + j] * (high * low[j]);
    }
  }
}

// Positions of a transform's numbers within a pass: `1 << LOG_Q` apart, the first one at `at`.
template <int LOG_M, int LOG_R>
struct Stride {
  static constexpr int LOG_Q = LOG_M - LOG_R, R = 1 << LOG_R;
  int o, at;
  __device__ __forceinline__ explicit Stride(int t) : o(t & ((1 << LOG_Q) - 1)), at(place((t >> LOG_Q << LOG_M) + o)) {}
  // Adding the gaps separately is exact: either the numbers are multiples of 16 apart, or they fill a power of two.
  __device__ __forceinline__ int operator()(int k) const { return at + place(k << LOG_Q); }
};

// Calls `with(t)` for each transform t of a thread, in a pass of 2^LOG_R points.
template <int LOG, int LOG_R, class With>
__device__ __forceinline__ void for_transforms(const With &with) {
  constexpr int count = 1 << (LOG - LOG_R), threads = Passes<LOG>::THREADS;
#pragma unroll
  for (int first = 0; first < count; first += threads) {
    const int t = first + static_cast<int>(threadIdx.x);
    if (count % threads == 0 || t < count) with(t);
  }
}

// The passes from PASS on: down to the response and back up. The caller does the outermost pass.
template <int LOG, int PASS>
__device__ __forceinline__ void inner_passes(Complex *line, const Complex *roots, const float *response) {
  using P = Passes<LOG>;
  constexpr int log_m = P::rest(PASS), log_r = P::digit(PASS), R = 1 << log_r;
  if constexpr (PASS + 1 == P::COUNT) {
    for_transforms<LOG, log_r>([&](int t) {
      const Stride<log_m, log_r> at(t);
      Complex v[R];
#pragma unroll
      for (int k = 0; k < R; ++k) v[k] = line[at(k)];
      Butterfly<R, false>::run(v);
#pragma unroll
      for (int k = 0; k < R; ++k) {
        const int f = (P::STORED ? 0 : P::frequency(t)) + (k << (LOG - log_r));
        const float r = P::STORED ? response[f | t] : __ldg(response + min(f, P::LENGTH - f));
        v[k] = {v[k].x * r, v[k].y * r};
      }
      Butterfly<R, true>::run(v);
#pragma unroll
      for (int k = 0; k < R; ++k) line[at(k)] = v[k];
    });
    __syncthreads();
  } else {
    for_transforms<LOG, log_r>([&](int t) {
      const Stride<log_m, log_r> at(t);
      Complex v[R];
#pragma unroll
      for (int k = 0; k < R; ++k) v[k] = line[at(k)];
      Butterfly<R, false>::run(v);
      twist<R, false>(v, roots, at.o, 1 << (LOG - log_m));
#pragma unroll
      for (int k = 0; k < R; ++k) line[at(k)] = v[k];
    });
    __syncthreads();
    inner_passes<LOG, PASS + 1>(line, roots, response);
    for_transforms<LOG, log_r>([&](int t) {
      const Stride<log_m, log_r> at(t);
      Complex v[R];
#pragma unroll
      for (int k = 0; k < R; ++k) v[k] = line[at(k)];
      twist<R, true>(v, roots, at.o, 1 << (LOG - log_m));
      Butterfly<R, true>::run(v);
#pragma unroll
      for (int k = 0; k < R; ++k) line[at(k)] = v[k];
    });
    __syncthreads();
  }
}

// Weights of a view's rays, and addresses of its pixels.
struct Rows {
  const purlin_fdk_filter_params &p;
  bool weigh, there[2];
  const float *source[2], *table;
  int first;
  float square, slope[2], weight[2], linear[2], constant[2];

  // For lines `first` and `first + 1` of the image of batch view n.
  __device__ __forceinline__ Rows(const purlin_fdk_filter_params &p, int first, int n) : p(p), weigh(p.flags & PURLIN_LAUNCH_FDK_WEIGH), table(nullptr), first(first) {
    const float *view = nullptr;
    if (weigh) {
      view = reinterpret_cast<const float *>(p.views) +
             static_cast<int64_t>(reinterpret_cast<const int *>(p.index)[n]) * PURLIN_LAUNCH_FDK_FILTER_VIEW;
      const float row = __ldg(view + 9);
      if (p.ray_weights && row >= 0.0f)
        table = reinterpret_cast<const float *>(p.ray_weights) + static_cast<int64_t>(row) * p.columns;
      square = __ldg(view + 3);
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = first + h - p.top;
      there[h] = row >= 0 && row < p.rows;
      source[h] = reinterpret_cast<const float *>(p.input) + (static_cast<int64_t>(n) * p.rows + (there[h] ? row : 0)) * p.columns;
      if (weigh) {
        const float j = centred_row(h);
        // The scale of the row, in units of that of the panel's middle.
        const float scale = fmaf(fmaf(__ldg(view + 11), j, __ldg(view + 10)), j, 1.0f);
        const float by = __fdiv_rn(__ldg(view + 8), __fsqrt_rn(scale));
        slope[h] = by * __ldg(view);
        weight[h] = by * fmaf(__ldg(view + 1), j, __ldg(view + 2));
        linear[h] = fmaf(__ldg(view + 4), j, __ldg(view + 6));
        constant[h] = fmaf(fmaf(__ldg(view + 5), j, __ldg(view + 7)), j, 1.0f);
      }
    }
  }

  // The row's index relative to the middle of the panel.
  __device__ __forceinline__ float centred_row(int h) const {
    return static_cast<float>(p.first_row + first + h - p.top) - 0.5f * static_cast<float>(p.panel_rows - 1);
  }

  // The pixels of both rows in a column of the panel, weighted.
  __device__ __forceinline__ Complex pixels(int column) const {
    float v[2];
    const float i = static_cast<float>(column) - 0.5f * static_cast<float>(p.columns - 1);
    const float by = table ? __ldg(table + column) : 1.0f;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      v[h] = there[h] ? __ldg(source[h] + column) : 0.0f;
      // As `Options::not_finite`: an infinity would become a large density in an integer volume. The transform may overflow for
      // larger pixels.
      if (!(fabsf(v[h]) <= p.largest)) v[h] = nanf("");
      if (weigh) {
        float root;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaf(fmaf(square, i, linear[h]), i, constant[h])));
        v[h] *= by * (fmaf(slope[h], i, weight[h]) * root);
      }
    }
    return {v[0], v[1]};
  }

  // Input of the transform: the panel's columns, those beyond an end that is extrapolated (they may wrap around), and zeros.
  __device__ __forceinline__ Complex sample(int at) const {
    int column = at - p.added_left;
    bool there = static_cast<unsigned>(column) < static_cast<unsigned>(p.columns);
    float fall = 1.0f;
    if (p.extrapolated && !there) {
      const int right = column - (p.columns - 1), left = -column & (p.length - 1);
      const bool beyond = right >= 1 && right <= p.extrapolated;
      const int k = beyond ? right : left, mirror = min(k, p.columns - 1);
      there = k <= p.extrapolated && (p.flags & (beyond ? PURLIN_LAUNCH_FDK_CONTINUE_RIGHT : PURLIN_LAUNCH_FDK_CONTINUE_LEFT));
      if (there) fall = __ldg(reinterpret_cast<const float *>(p.fall) + k - 1);
      column = beyond ? p.columns - 1 - mirror : mirror;
    }
    if (!there) return {0.0f, 0.0f};
    const Complex v = pixels(column);
    return {v.x * fall, v.y * fall};
  }
};

// A line of the image; nothing is written if it is outside the image.
struct Out {
  float *line;
  __device__ __forceinline__ Out(const purlin_fdk_filter_params &p, int line, int n)
      : line(line < p.height ? reinterpret_cast<float *>(p.output) + (static_cast<int64_t>(n) * p.height + line) * p.pitch : nullptr) {}
  __device__ __forceinline__ void zero(int from, int to) const {
    if (line)
      for (int i = from + static_cast<int>(threadIdx.x); i < to; i += blockDim.x) line[i] = 0.0f;
  }
};

// Block x filters some pairs of lines of the image of batch view y.
template <int LOG>
__device__ __forceinline__ void filter(const purlin_fdk_filter_params &p) {
  using P = Passes<LOG>;
  constexpr int log_r = P::digit(0), R = 1 << log_r, log_last = P::digit(P::COUNT - 1);
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  Complex *line = reinterpret_cast<Complex *>(shared_bytes);
  float *response = reinterpret_cast<float *>(line + place(P::LENGTH));
  const Complex *roots = reinterpret_cast<const Complex *>(p.roots);
  const int n = blockIdx.y;
  const float *given = reinterpret_cast<const float *>(p.response);
  if (P::STORED) {
    for_transforms<LOG, log_last>([&](int t) {
      const int frequency = P::frequency(t);
#pragma unroll
      for (int k = 0; k < 1 << log_last; ++k) {
        const int f = frequency + (k << (LOG - log_last));
        response[k << (LOG - log_last) | t] = __ldg(given + min(f, P::LENGTH - f));
      }
    });
  }
#pragma unroll 1
  for (int pair = 0; pair < PURLIN_LAUNCH_FDK_FILTER_PAIRS; ++pair) {
    const int first = 2 * (blockIdx.x * PURLIN_LAUNCH_FDK_FILTER_PAIRS + pair);
    if (first >= p.height) break;
    const Rows rows(p, first, n);
    const Out out[2] = {Out(p, first, n), Out(p, first + 1, n)};
    if (!rows.there[0] && !rows.there[1]) {
      out[0].zero(0, p.pitch);
      out[1].zero(0, p.pitch);
      continue;
    }
    for_transforms<LOG, log_r>([&](int t) {
      const Stride<LOG, log_r> at(t);
      Complex v[R];
#pragma unroll
      for (int k = 0; k < R; ++k) v[k] = rows.sample(t + (k << (LOG - log_r)));
      Butterfly<R, false>::run(v);
      twist<R, false>(v, roots, t, 1);
#pragma unroll
      for (int k = 0; k < R; ++k) line[at(k)] = v[k];
    });
    __syncthreads();
    inner_passes<LOG, 1>(line, roots, P::STORED ? response : given);
    for_transforms<LOG, log_r>([&](int t) {
      const Stride<LOG, log_r> at(t);
      Complex v[R];
#pragma unroll
      for (int k = 0; k < R; ++k) v[k] = line[at(k)];
      twist<R, true>(v, roots, t, 1);
      Butterfly<R, true>::run(v);
#pragma unroll
      for (int k = 0; k < R; ++k) {
        const int column = t + (k << (LOG - log_r));
        if (column >= p.output_columns) continue;
        if (out[0].line) out[0].line[p.left + column] = rows.there[0] ? v[k].x : 0.0f;
        if (out[1].line) out[1].line[p.left + column] = rows.there[1] ? v[k].y : 0.0f;
      }
    });
    for (const Out &o : out) {
      o.zero(0, p.left);
      o.zero(p.left + p.output_columns, p.pitch);
    }
    // Other threads may still read where the first pass of the next pair writes.
    __syncthreads();
  }
}

// Weights without the ramp: block x writes lines 2 x and 2 x + 1 of the image of batch view y.
__device__ inline void place_rows(const purlin_fdk_filter_params &p) {
  const int first = 2 * blockIdx.x, n = blockIdx.y;
  const Rows rows(p, first, n);
  const Out out[2] = {Out(p, first, n), Out(p, first + 1, n)};
  for (int i = threadIdx.x; i < p.pitch; i += blockDim.x) {
    const int column = i - p.left - p.added_left;
    const bool there = static_cast<unsigned>(column) < static_cast<unsigned>(p.columns);
    const Complex v = there ? rows.pixels(column) : Complex{0.0f, 0.0f};
    if (out[0].line) out[0].line[i] = v.x;
    if (out[1].line) out[1].line[i] = v.y;
  }
}

}  // namespace fdk
}  // namespace purlin

#endif
