// The product of two factors in digits by the instructions of all tensor cores. See tt_digits_launch.h.
#ifndef PURLIN_TT_DIGITS_PRODUCT_CUH
#define PURLIN_TT_DIGITS_PRODUCT_CUH

#include "tt_digits_split.cuh"
#include "tt_instructions.cuh"

namespace purlin {
namespace tt {
namespace digits {

constexpr int STAGE = PURLIN_LAUNCH_TT_DIGITS_STAGE;
static_assert(STAGE == 2 * BLOCK, "a stage is a block of either factor");

// Memory of C, and its factor.
struct Output {
  float *c;
  int64_t stride, rows, columns;
  float alpha;
  bool add;
  const int32_t *a_units, *b_units;

  __device__ __forceinline__ explicit Output(const purlin_tt_digits_product_params &p)
      : c(reinterpret_cast<float *>(p.c)),
        stride(p.c_stride),
        rows(p.rows),
        columns(p.columns),
        alpha(*reinterpret_cast<const float *>(p.alpha)),
        add(p.add != 0),
        a_units(reinterpret_cast<const int32_t *>(p.a_units)),
        b_units(reinterpret_cast<const int32_t *>(p.b_units)) {}

  // The unit of a line.
  __device__ __forceinline__ int row_unit(int64_t row) const { return row < rows ? __ldg(a_units + row) : NONE; }
  __device__ __forceinline__ int column_unit(int64_t column) const {
    return column < columns ? __ldg(b_units + column) : NONE;
  }

  // Writes an element from the units of its lines and its three sums of digit products: the most significant ones,
  // those of the next place, and those of the place after that.
  __device__ __forceinline__ void store(int64_t row, int64_t column, int a, int b, int32_t high, int32_t middle,
                                        int32_t low) const {
    if (row >= rows || column >= columns) return;
    float sum = fmaf(__int2float_rn(middle), 256.0f, __int2float_rn(low));
    sum = fmaf(__int2float_rn(high), 65536.0f, sum);
    // Divide and correct the quotient: the rounding error of a multiplication by the inverse would be the same for
    // whole lines.
    const float times = static_cast<float>((a & 255) * (b & 255)), inverse = __fdividef(1.0f, times);
    const float quotient = sum * inverse;
    sum = fmaf(fmaf(-quotient, times, sum), inverse, quotient);
    // Both transforms together multiply by 2^6, and low counts units of 2^16. Beyond the bounds the result is 0 or
    // infinite in any case, because the sum is an integer below 2^46.
    const int exponent = min(max(16 - 6 - (a >> 8) - (b >> 8), -252), 252), half = exponent / 2;
    sum = sum * power(half) * power(exponent - half);
    if (a == NONE || b == NONE) sum = __uint_as_float(0x7fc00000u);
    float *to = c + row + column * stride;
    *to = add ? fmaf(alpha, sum, *to) : alpha * sum;
  }
};

// The blocks of A and B that a block of threads multiplies.
struct Factors {
  int64_t row_block, column_block;
  int steps;
  const uint8_t *a, *b;

  __device__ __forceinline__ explicit Factors(const purlin_tt_digits_product_params &p) {
    const int64_t row_blocks = (p.rows + LINES - 1) / LINES;
    row_block = blockIdx.x % row_blocks;
    column_block = blockIdx.x / row_blocks;
    steps = static_cast<int>((p.inner + INNER - 1) / INNER);
    a = reinterpret_cast<const uint8_t *>(p.a_digits) + row_block * steps * BLOCK;
    b = reinterpret_cast<const uint8_t *>(p.b_digits) + column_block * steps * BLOCK;
  }
};

// Loads four matrices of 8 x 16 bytes. Eight lanes each hold the addresses of one matrix's rows.
__device__ __forceinline__ void load_matrices(uint32_t *r, uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// C += A B by a warp, for A of 16 x 32 and B of 32 x 8 digits.
__device__ __forceinline__ void product_16x8x32(int32_t *c, const uint32_t *a, const uint32_t *b) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A block of C by eight warps, 64 x 32 each.
__device__ void product(const purlin_tt_digits_product_params &p) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Factors from(p);
  uint8_t *shared = shared_memory();
  const auto fetch = [&](int step, int stage) {
    if (step < from.steps) {
      uint8_t *to = shared + stage * STAGE;
      const int64_t first = static_cast<int64_t>(step) * BLOCK;
#pragma unroll
      for (int j = 0; j < BLOCK / (16 * THREADS); ++j) {
        const int at = (j * THREADS + threadIdx.x) * 16;
        copy_async<16>(to + at, from.a + first + at, true);
        copy_async<16>(to + BLOCK + at, from.b + first + at, true);
      }
    }
    copy_commit();
  };
  for (int step = 0; step < p.stages - 1; ++step) fetch(step, step);

  // Addresses of this lane. A: rows 0 to 7 and 8 to 15, then the same rows 16 bytes further. B: columns 0 to 7, the
  // same columns 16 bytes further, then columns 8 to 15.
  const int a_line = warp % 2 * 64 + lane % 16, a_quarter = lane / 16;
  const int b_line = warp / 2 * 32 + lane / 16 * 8 + lane % 8, b_quarter = lane / 8 % 2;
  const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const uint32_t a_base = base + a_line * INNER, b_base = base + BLOCK + b_line * INNER;

  int32_t high[4][4][4] = {}, middle[4][4][4] = {}, low[4][4][4] = {};
  int stage = 0;
#pragma unroll 1
  for (int step = 0; step < from.steps; ++step) {
    if (p.stages == 2)
      copy_wait<0>();
    else if (p.stages == 3)
      copy_wait<1>();
    else
      copy_wait<2>();
    __syncthreads();
    // Fetch into the stage that all threads have read.
    fetch(step + p.stages - 1, stage == 0 ? p.stages - 1 : stage - 1);
#pragma unroll
    for (int half = 0; half < INNER / 32; ++half) {
      const uint32_t a_at = a_base + stage * STAGE + (((2 * half + a_quarter) ^ (a_line / 2 % 4)) * 16);
      const uint32_t b_at = b_base + stage * STAGE + (((2 * half + b_quarter) ^ (b_line / 2 % 4)) * 16);
      uint32_t y[COUNT][4][2];
#pragma unroll
      for (int d = 0; d < COUNT; ++d)
#pragma unroll
        for (int j = 0; j < 2; ++j) load_matrices(&y[d][2 * j][0], b_at + d * PLANE + j * 16 * INNER);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        uint32_t x[COUNT][4];
#pragma unroll
        for (int d = 0; d < COUNT; ++d) load_matrices(x[d], a_at + d * PLANE + i * 16 * INNER);
        // Ordered so that products that add to the same sums are far apart.
#pragma unroll
        for (int j = 0; j < 4; ++j) product_16x8x32(high[i][j], x[0], y[0][j]);
#pragma unroll
        for (int j = 0; j < 4; ++j) product_16x8x32(middle[i][j], x[0], y[1][j]);
#pragma unroll
        for (int j = 0; j < 4; ++j) product_16x8x32(low[i][j], x[0], y[2][j]);
#pragma unroll
        for (int j = 0; j < 4; ++j) product_16x8x32(middle[i][j], x[1], y[0][j]);
#pragma unroll
        for (int j = 0; j < 4; ++j) product_16x8x32(low[i][j], x[1], y[1][j]);
#pragma unroll
        for (int j = 0; j < 4; ++j) product_16x8x32(low[i][j], x[2], y[0][j]);
      }
    }
    stage = stage + 1 == p.stages ? 0 : stage + 1;
  }
  copy_wait<0>();

  const Output output(p);
  const int64_t row = from.row_block * LINES + warp % 2 * 64 + lane / 4;
  const int64_t column = from.column_block * LINES + warp / 2 * 32 + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int64_t below = row + 16 * i;
    const int units[2] = {output.row_unit(below), output.row_unit(below + 8)};
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int64_t right = column + 8 * j + e % 2;
        output.store(below + e / 2 * 8, right, units[e / 2], output.column_unit(right), high[i][j][e], middle[i][j][e],
                     low[i][j][e]);
      }
  }
}

}  // namespace digits
}  // namespace tt
}  // namespace purlin

#endif
