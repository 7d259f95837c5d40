// The digits of a factor. See tt_digits_launch.h.
#ifndef PURLIN_TT_DIGITS_SPLIT_CUH
#define PURLIN_TT_DIGITS_SPLIT_CUH

#include <stdint.h>

#include "tt_digits_launch.h"

namespace purlin {
namespace tt {
namespace digits {

constexpr int COUNT = PURLIN_LAUNCH_TT_DIGITS;
constexpr int LINES = PURLIN_LAUNCH_TT_DIGITS_LINES;
constexpr int INNER = PURLIN_LAUNCH_TT_DIGITS_INNER;
constexpr int THREADS = PURLIN_LAUNCH_TT_DIGITS_THREADS;
constexpr int SPLIT_THREADS = PURLIN_LAUNCH_TT_DIGITS_SPLIT_THREADS;
constexpr int ALONG = PURLIN_LAUNCH_TT_DIGITS_ALONG;
constexpr int ACROSS = PURLIN_LAUNCH_TT_DIGITS_ACROSS;
constexpr int NONE = PURLIN_LAUNCH_TT_DIGITS_NONE;
// Bytes of a plane, and of the planes of a block.
constexpr int PLANE = LINES * INNER;
constexpr int BLOCK = COUNT * PLANE;
// Largest scaled number: a little less than 127 * 256^2 + 127 * 256 + 127, the largest number with balanced digits.
constexpr float LARGEST = 8355000.0f;

// 2^e for e of -126 to 127.
__device__ __forceinline__ float power(int e) { return __uint_as_float(static_cast<uint32_t>(e + 127) << 23); }

// Offset in bytes of the most significant digit of number k of a line. Each further digit is one plane further.
__device__ __forceinline__ int64_t place(int64_t line, int64_t k, int64_t inner_blocks) {
  const int64_t block = line / LINES * inner_blocks + k / INNER;
  const int in_block = static_cast<int>(line % LINES), byte = static_cast<int>(k % INNER);
  return block * BLOCK + in_block * INNER + (((byte / 16) ^ (in_block / 2 % 4)) * 16 + byte % 16);
}

// The unit to which the numbers of a line are rounded. They are multiplied by times 2^shift in two steps, because a
// single factor may be beyond the range of f32.
struct Unit {
  float first, second;
  int code;

  // From the bits of the largest |x| of the line.
  __device__ __forceinline__ explicit Unit(uint32_t bits) : first(0.0f), second(0.0f), code(NONE) {
    if (bits >= 0x7f800000u) return;
    const float most = __uint_as_float(bits);
    const int exponent = bits == 0 ? 0 : ilogbf(most);
    // Between 1 and 2.
    const float scaled = bits == 0 ? 1.0f : scalbnf(most, -exponent);
    const int times = static_cast<int>(LARGEST / 32768.0f / scaled), shift = 15 - exponent, half = shift / 2;
    first = power(half) * times;
    second = power(shift - half);
    code = 256 * shift + times;
  }

  // The digits as bytes, the least significant one first.
  __device__ __forceinline__ uint32_t digits(float x) const {
    return (static_cast<uint32_t>(__float2int_rn(x * first * second)) + 0x808080u) ^ 0x808080u;
  }
};

// The digits of four numbers. One word has the digits of one place, the most significant place first.
__device__ __forceinline__ void four(const Unit &unit, const float *x, uint32_t *words) {
  const uint32_t a = unit.digits(x[0]), b = unit.digits(x[1]), c = unit.digits(x[2]), d = unit.digits(x[3]);
  const uint32_t ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140);
  words[2] = __byte_perm(ab, cd, 0x5410);
  words[1] = __byte_perm(ab, cd, 0x7632);
  words[0] = __byte_perm(__byte_perm(a, b, 0x0062), __byte_perm(c, d, 0x0062), 0x5410);
}

// One step of the orthogonal transform: sums and differences of numbers whose places differ in one bit. Here the bit is
// one of the register index.
template <int BIT>
__device__ __forceinline__ void turn_registers(float (&x)[16]) {
#pragma unroll
  for (int i = 0; i < 16; ++i)
    if (!(i & BIT)) {
      const float a = x[i], b = x[i | BIT];
      x[i] = a + b;
      x[i | BIT] = a - b;
    }
}

// Here the bit is one of the lane index.
template <int BIT>
__device__ __forceinline__ void turn_lanes(float (&x)[16]) {
  const float sign = threadIdx.x & BIT ? -1.0f : 1.0f;
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = fmaf(sign, x[i], __shfl_xor_sync(0xffffffffu, x[i], BIT));
}

// The sign of a number before the transform, by its place in the piece. It is a bent function, so neither an outlier
// nor equal numbers are concentrated in one place.
__device__ __forceinline__ float with_sign(float x, int place) {
  return __popc(place & place / 8 & 7) & 1 ? -x : x;
}

__device__ __forceinline__ uint32_t larger(uint32_t most, float x) {
  const uint32_t bits = __float_as_uint(x) & 0x7fffffffu;
  return bits > most ? bits : most;
}

// The sixteen numbers of a thread. In contiguous lines (Along) they are four groups of four, `AHEAD` apart; in lines
// side by side (Across) they are consecutive. The numbers of a piece are in one warp.
struct Along {
  static constexpr int LINES = ALONG, EACH = SPLIT_THREADS / ALONG, AHEAD = 4 * EACH;
  const float *x;
  int64_t inner;
  bool aligned;

  __device__ __forceinline__ Along(const purlin_tt_digits_factor &p, int64_t line)
      : x(reinterpret_cast<const float *>(p.input) + line * p.line_stride), inner(p.inner) {
    aligned = reinterpret_cast<uint64_t>(x) % 16 == 0 && inner % 4 == 0;
  }
  static __device__ __forceinline__ int line() { return threadIdx.x / EACH; }
  static __device__ __forceinline__ int first() { return threadIdx.x % EACH * 4; }
  __device__ __forceinline__ void load(int64_t k, float (&part)[16]) const {
    if (aligned) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int64_t at = k + i * AHEAD;
        const float4 four = at < inner ? *reinterpret_cast<const float4 *>(x + at) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        part[4 * i] = four.x, part[4 * i + 1] = four.y, part[4 * i + 2] = four.z, part[4 * i + 3] = four.w;
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int64_t at = k + i / 4 * AHEAD + i % 4;
      part[i] = at < inner ? x[at] : 0.0f;
    }
  }
  static __device__ __forceinline__ void turn(float (&x)[16]) {
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = with_sign(x[i], threadIdx.x % 16 * 4 + i % 4);
    turn_registers<1>(x);
    turn_registers<2>(x);
    turn_lanes<1>(x);
    turn_lanes<2>(x);
    turn_lanes<4>(x);
    turn_lanes<8>(x);
  }
  static __device__ __forceinline__ void store(uint8_t *to, int64_t line, int64_t k, int64_t blocks,
                                               const uint32_t (&words)[4][COUNT]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t number = k + i * AHEAD;
      if (number >= blocks * INNER) return;
      const int64_t at = place(line, number, blocks);
#pragma unroll
      for (int d = 0; d < COUNT; ++d) *reinterpret_cast<uint32_t *>(to + at + d * PLANE) = words[i][d];
    }
  }
};

struct Across {
  static constexpr int LINES = ACROSS, EACH = SPLIT_THREADS / ACROSS;
  const float *x;
  int64_t stride, inner;

  __device__ __forceinline__ Across(const purlin_tt_digits_factor &p, int64_t line)
      : x(reinterpret_cast<const float *>(p.input) + line), stride(p.inner_stride), inner(p.inner) {}
  static __device__ __forceinline__ int line() { return threadIdx.x % LINES; }
  static __device__ __forceinline__ int first() { return threadIdx.x / LINES * 16; }
  __device__ __forceinline__ void load(int64_t k, float (&part)[16]) const {
#pragma unroll
    for (int i = 0; i < 16; ++i) part[i] = k + i < inner ? x[(k + i) * stride] : 0.0f;
  }
  static __device__ __forceinline__ void turn(float (&x)[16]) {
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = with_sign(x[i], threadIdx.x / LINES % 4 * 16 + i);
    turn_registers<1>(x);
    turn_registers<2>(x);
    turn_registers<4>(x);
    turn_registers<8>(x);
    turn_lanes<LINES>(x);
    turn_lanes<2 * LINES>(x);
  }
  static __device__ __forceinline__ void store(uint8_t *to, int64_t line, int64_t k, int64_t blocks,
                                               const uint32_t (&words)[4][COUNT]) {
    if (k >= blocks * INNER) return;
    const int64_t at = place(line, k, blocks);
#pragma unroll
    for (int d = 0; d < COUNT; ++d)
      *reinterpret_cast<uint4 *>(to + at + d * PLANE) = make_uint4(words[0][d], words[1][d], words[2][d], words[3][d]);
  }
};

template <class Lines>
__device__ __forceinline__ void split_lines(const purlin_tt_digits_factor &p, int64_t block) {
  __shared__ uint32_t peaks[Lines::LINES];
  constexpr int STEP = Lines::EACH * 16;
  const int own = Lines::line();
  const int64_t line = block * Lines::LINES + own;
  // Lines beyond the last one repeat it and are not written.
  const Lines lines(p, line < p.lines ? line : p.lines - 1);
  const int64_t blocks = (p.inner + INNER - 1) / INNER, end = blocks * INNER;
  if (threadIdx.x < Lines::LINES) peaks[threadIdx.x] = 0;
  __syncthreads();
  float part[16];
  uint32_t most = 0;
  for (int64_t from = 0; from < end; from += STEP) {
    lines.load(from + Lines::first(), part);
    Lines::turn(part);
#pragma unroll
    for (int i = 0; i < 16; ++i) most = larger(most, part[i]);
  }
  // Lanes 8 apart are in the same line in both cases.
  for (int by = 8; by < 32; by *= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, by));
  if (threadIdx.x % 32 < 8) atomicMax(&peaks[own], most);
  __syncthreads();
  const bool inside = line < p.lines;
  const Unit unit(peaks[own]);
  if (inside && Lines::first() == 0) reinterpret_cast<int32_t *>(p.units)[line] = unit.code;
  for (int64_t from = 0; from < end; from += STEP) {
    const int64_t k = from + Lines::first();
    // The numbers of shorter lines are still in registers.
    if (end > STEP) {
      lines.load(k, part);
      Lines::turn(part);
    }
    if (!inside) continue;
    uint32_t words[4][COUNT];
#pragma unroll
    for (int i = 0; i < 4; ++i) four(unit, part + 4 * i, words[i]);
    Lines::store(reinterpret_cast<uint8_t *>(p.digits), line, k, blocks, words);
  }
}

__device__ void split(const purlin_tt_digits_split_params &p) {
  const bool second = blockIdx.x >= p.a_blocks;
  const purlin_tt_digits_factor &factor = second ? p.b : p.a;
  const int64_t block = second ? blockIdx.x - p.a_blocks : blockIdx.x;
  if (factor.inner_stride == 1)
    split_lines<Along>(factor, block);
  else
    split_lines<Across>(factor, block);
}

}  // namespace digits
}  // namespace tt
}  // namespace purlin

#endif
