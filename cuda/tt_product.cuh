// Products of small matrices in shared memory by the warps of a block, and the copies to shared memory.
#ifndef PURLIN_TT_PRODUCT_CUH
#define PURLIN_TT_PRODUCT_CUH

#include "tt_instructions.cuh"
#include "tt_number.cuh"

namespace purlin {
namespace tt {

// Matrices in shared memory are padded with zeros to multiples of 8 rows and columns, so that the inner loops need no
// bounds checks.
__device__ __forceinline__ int padded(int n) { return (n + 7) & ~7; }

// A block of a column-major matrix in global memory.
template <class T>
struct Block {
  const T *from;
  int64_t stride;
  int rows, cols;
};

// Starts copying a block to shared memory: element (i, j) to to[i + ld * j], zeros beyond it up to `all_rows` (a
// multiple of 8) and `all_cols`. Leading dimensions are 4 more than a multiple of 8, which makes the fragments below
// free of bank conflicts.
template <class T>
__device__ __forceinline__ void fetch(T *to, int ld, Block<T> block, int all_rows, int all_cols, int threads) {
  constexpr int SIZE = static_cast<int>(sizeof(T)), WIDE = 16 / SIZE;
  const bool wide = WIDE > 1 && block.rows % WIDE == 0 && (block.stride * SIZE) % 16 == 0 &&
                    reinterpret_cast<uintptr_t>(block.from) % 16 == 0;
  const int width = wide ? WIDE : 1, chunks = all_rows / width;
  const int thread = static_cast<int>(threadIdx.x);
  // Quotients of numbers below 2^10. Adding one half to the numerator keeps rounding from reaching the next integer.
  const float inverse = __fdividef(1.0f, static_cast<float>(chunks));
  const int column_step = static_cast<int>((static_cast<float>(threads) + 0.5f) * inverse);
  const int row_step = (threads - column_step * chunks) * width;
  int col = static_cast<int>((static_cast<float>(thread) + 0.5f) * inverse), row = (thread - col * chunks) * width;
  while (col < all_cols) {
    const bool valid = row < block.rows && col < block.cols;
    const T *from = valid ? block.from + row + block.stride * col : block.from;
    if (wide)
      copy_async<16>(to + row + ld * col, from, valid);
    else
      copy_async<SIZE>(to + row + ld * col, from, valid);
    col += column_step;
    row += row_step;
    if (row >= all_rows) {
      row -= all_rows;
      ++col;
    }
  }
}

// A factor in shared memory: element (outer, inner) at [outer * outer_step + inner * inner_step]. The inner index is
// the summation index.
template <class T>
struct Factor {
  const T *at;
  int outer_step, inner_step;
};

// The part of a product that a warp and a lane compute: MI x NJ tiles of 8 x 8 from (row, col) on. In each tile, a lane
// has elements (group, 2 pair) and (group, 2 pair + 1).
struct Share {
  int row, col, group, pair;
};

template <int WARPS_N, int MI, int NJ>
__device__ __forceinline__ Share share_of_thread() {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  return {warp / WARPS_N * MI * 8, warp % WARPS_N * NJ * 8, lane / 4, lane % 4};
}

template <class T, int MI, int NJ>
__device__ __forceinline__ void clear(T (&sum)[MI][NJ][2]) {
#pragma unroll
  for (int i = 0; i < MI; ++i)
#pragma unroll
    for (int j = 0; j < NJ; ++j) sum[i][j][0] = sum[i][j][1] = T{};
}

// Runs body(row, col, element) for a lane's elements within the padded product.
template <class T, int MI, int NJ, class Body>
__device__ __forceinline__ void each(T (&sum)[MI][NJ][2], const Share &share, int rows, int cols, Body body) {
#pragma unroll
  for (int i = 0; i < MI; ++i)
#pragma unroll
    for (int j = 0; j < NJ; ++j)
      if (share.row + 8 * i < rows && share.col + 8 * j < cols)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          body(share.row + 8 * i + share.group, share.col + 8 * j + 2 * share.pair + e, sum[i][j][e]);
}

// Adds eight terms of one real part: c[i][j] += a b, where `sum(i, j, e)` is the number to add to.
template <int MI, int NJ, class Sum>
__device__ __forceinline__ void add_eight(const double (&a)[2][MI], const double (&b)[2][NJ], Sum sum) {
#pragma unroll
  for (int j = 0; j < NJ; ++j) {
#pragma unroll
    for (int i = 0; i + 1 < MI; i += 2)
      product_16x8x8(sum(i, j, 0), sum(i, j, 1), sum(i + 1, j, 0), sum(i + 1, j, 1), a[0][i], a[0][i + 1], a[1][i],
                     a[1][i + 1], b[0][j], b[1][j]);
    if (MI % 2 == 1) {
      product_8x8x4(sum(MI - 1, j, 0), sum(MI - 1, j, 1), a[0][MI - 1], b[0][j]);
      product_8x8x4(sum(MI - 1, j, 0), sum(MI - 1, j, 1), a[1][MI - 1], b[1][j]);
    }
  }
}

// sum += A B over `inner` terms, for a warp's share; A conjugated if flip is -1. Tiles beyond the product repeat its
// last one; their results are ignored.
template <int MI, int NJ>
struct Tiles {
  int a[MI], b[NJ];
  template <class T>
  __device__ Tiles(const Factor<T> &left, const Factor<T> &right, const Share &share, int rows, int cols) {
    const int last_row = padded(rows) - 8, last_col = padded(cols) - 8;
#pragma unroll
    for (int i = 0; i < MI; ++i) a[i] = min(share.row + 8 * i, last_row) * left.outer_step;
#pragma unroll
    for (int j = 0; j < NJ; ++j) b[j] = min(share.col + 8 * j, last_col) * right.outer_step;
  }
};

template <int MI, int NJ>
__device__ __forceinline__ void multiply(double (&sum)[MI][NJ][2], Factor<double> left, Factor<double> right, double,
                                         const Share &share, int rows, int cols, int inner) {
  if (share.row >= rows || share.col >= cols) return;
  const Tiles<MI, NJ> tiles(left, right, share, rows, cols);
  const double *a_at = left.at + share.group * left.outer_step + share.pair * left.inner_step;
  const double *b_at = right.at + share.group * right.outer_step + share.pair * right.inner_step;
  const int a_next = 4 * left.inner_step, b_next = 4 * right.inner_step;
  for (int k = 0; k < inner; k += 8) {
    double a[2][MI], b[2][NJ];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int i = 0; i < MI; ++i) a[h][i] = a_at[tiles.a[i]];
#pragma unroll
      for (int j = 0; j < NJ; ++j) b[h][j] = b_at[tiles.b[j]];
      a_at += a_next;
      b_at += b_next;
    }
    add_eight(a, b, [&](int i, int j, int e) -> double & { return sum[i][j][e]; });
  }
}

template <int MI, int NJ>
__device__ __forceinline__ void multiply(Complex<double> (&sum)[MI][NJ][2], Factor<Complex<double>> left,
                                         Factor<Complex<double>> right, double flip, const Share &share, int rows, int cols,
                                         int inner) {
  if (share.row >= rows || share.col >= cols) return;
  const Tiles<MI, NJ> tiles(left, right, share, rows, cols);
  const Complex<double> *a_at = left.at + share.group * left.outer_step + share.pair * left.inner_step;
  const Complex<double> *b_at = right.at + share.group * right.outer_step + share.pair * right.inner_step;
  const int a_next = 4 * left.inner_step, b_next = 4 * right.inner_step;
  for (int k = 0; k < inner; k += 8) {
    double a_re[2][MI], a_im[2][MI], a_minus[2][MI], b_re[2][NJ], b_im[2][NJ];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int i = 0; i < MI; ++i) {
        const Complex<double> value = a_at[tiles.a[i]];
        a_re[h][i] = value.re;
        a_im[h][i] = flip * value.im;
        a_minus[h][i] = -a_im[h][i];
      }
#pragma unroll
      for (int j = 0; j < NJ; ++j) {
        const Complex<double> value = b_at[tiles.b[j]];
        b_re[h][j] = value.re;
        b_im[h][j] = value.im;
      }
      a_at += a_next;
      b_at += b_next;
    }
    const auto re = [&](int i, int j, int e) -> double & { return sum[i][j][e].re; };
    const auto im = [&](int i, int j, int e) -> double & { return sum[i][j][e].im; };
    add_eight(a_re, b_re, re);
    add_eight(a_re, b_im, im);
    add_eight(a_minus, b_im, re);
    add_eight(a_im, b_re, im);
  }
}

__device__ __forceinline__ void add(float &sum, float a, float b) { sum = fmaf(a, b, sum); }
__device__ __forceinline__ void add(Complex<float> &sum, Complex<float> a, Complex<float> b) {
  sum.re = fmaf(a.re, b.re, sum.re);
  sum.im = fmaf(a.re, b.im, sum.im);
  sum.re = fmaf(-a.im, b.im, sum.re);
  sum.im = fmaf(a.im, b.re, sum.im);
}
__device__ __forceinline__ float flipped(float x, float) { return x; }
__device__ __forceinline__ Complex<float> flipped(Complex<float> x, float flip) { return {x.re, x.im * flip}; }

// Single precision uses the ordinary arithmetic units, with the same shares.
template <class T, int MI, int NJ>
__device__ __forceinline__ void multiply(T (&sum)[MI][NJ][2], Factor<T> left, Factor<T> right, double flip,
                                         const Share &share, int rows, int cols, int inner) {
  if (share.row >= rows || share.col >= cols) return;
  const Tiles<MI, NJ> tiles(left, right, share, rows, cols);
  const T *a_at = left.at + share.group * left.outer_step;
  const T *b_at = right.at + 2 * share.pair * right.outer_step;
#pragma unroll 4
  for (int k = 0; k < inner; ++k) {
    T a[MI], b[NJ][2];
#pragma unroll
    for (int i = 0; i < MI; ++i) a[i] = flipped(a_at[tiles.a[i]], static_cast<float>(flip));
#pragma unroll
    for (int j = 0; j < NJ; ++j) {
      b[j][0] = b_at[tiles.b[j]];
      b[j][1] = b_at[tiles.b[j] + right.outer_step];
    }
    a_at += left.inner_step;
    b_at += right.inner_step;
#pragma unroll
    for (int i = 0; i < MI; ++i)
#pragma unroll
      for (int j = 0; j < NJ; ++j) {
        add(sum[i][j][0], a[i], b[j][0]);
        add(sum[i][j][1], a[i], b[j][1]);
      }
  }
}

// The largest magnitude of a lane's numbers, exact in its exponent, which is all that is_doubtful_product reads.
template <class R>
struct Peak;
template <>
struct Peak<float> {
  float most = 0;
  __device__ __forceinline__ void add(float x) { most = fmaxf(most, fabsf(x)); }
  __device__ __forceinline__ uint64_t key_of_warp() const {
    return key_of(static_cast<double>(__uint_as_float(warp_max(__float_as_uint(most)))));
  }
};
template <>
struct Peak<double> {
  uint32_t most = 0;  // upper half of the number
  __device__ __forceinline__ void add(double x) {
    most = max(most, static_cast<uint32_t>(__double2hiint(x)) & 0x7fffffffu);
  }
  __device__ __forceinline__ uint64_t key_of_warp() const { return static_cast<uint64_t>(warp_max(most)) << 32; }
};
template <class R>
__device__ __forceinline__ void add_to(Peak<R> &peak, R x) {
  peak.add(x);
}
template <class R>
__device__ __forceinline__ void add_to(Peak<R> &peak, Complex<R> x) {
  peak.add(x.re);
  peak.add(x.im);
}

// Largest key of a lane's elements inside the product, of the whole warp.
template <class T, int MI, int NJ>
__device__ __forceinline__ uint64_t largest(T (&sum)[MI][NJ][2], const Share &share, int rows, int cols) {
  uint64_t key = 0;
  each(sum, share, rows, cols, [&](int row, int col, T value) {
    if (row < rows && col < cols) {
      const uint64_t other = key_of_number(value);
      key = other > key ? other : key;
    }
  });
  return warp_max(key);
}

}  // namespace tt
}  // namespace purlin

#endif
