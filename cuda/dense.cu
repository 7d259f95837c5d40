// Elementwise kernels and column reductions of dense matrices. See dense_launch.h.
#include "block_reduce.cuh"
#include "dense_launch.h"
#include "rng.cuh"

namespace purlin {
namespace dense {

// Arithmetic of the four types of elements; sums and products with real numbers are in double.
template <class T>
struct Number;
template <>
struct Number<float> {
  static constexpr bool COMPLEX = false;
  __device__ static float make(double re, double) { return static_cast<float>(re); }
  __device__ static double re(float x) { return x; }
  __device__ static double im(float) { return 0.0; }
  __device__ static float conjugate(float x) { return x; }
  __device__ static float scaled(float x, double f) { return static_cast<float>(x * f); }
};
template <>
struct Number<double> {
  static constexpr bool COMPLEX = false;
  __device__ static double make(double re, double) { return re; }
  __device__ static double re(double x) { return x; }
  __device__ static double im(double) { return 0.0; }
  __device__ static double conjugate(double x) { return x; }
  __device__ static double scaled(double x, double f) { return x * f; }
};
template <>
struct Number<float2> {
  static constexpr bool COMPLEX = true;
  __device__ static float2 make(double re, double im) {
    return make_float2(static_cast<float>(re), static_cast<float>(im));
  }
  __device__ static double re(float2 x) { return x.x; }
  __device__ static double im(float2 x) { return x.y; }
  __device__ static float2 conjugate(float2 x) { return make_float2(x.x, -x.y); }
  __device__ static float2 scaled(float2 x, double f) { return make(x.x * f, x.y * f); }
};
template <>
struct Number<double2> {
  static constexpr bool COMPLEX = true;
  __device__ static double2 make(double re, double im) { return make_double2(re, im); }
  __device__ static double re(double2 x) { return x.x; }
  __device__ static double im(double2 x) { return x.y; }
  __device__ static double2 conjugate(double2 x) { return make_double2(x.x, -x.y); }
  __device__ static double2 scaled(double2 x, double f) { return make_double2(x.x * f, x.y * f); }
};

template <class T>
__device__ double modulus2(T x, double factor = 1.0) {
  const double re = factor * Number<T>::re(x), im = factor * Number<T>::im(x);
  return Number<T>::COMPLEX ? fma(im, im, re * re) : re * re;
}

// Runs body(i, j) for every element of a rows x cols matrix.
template <class Body>
__device__ void each(int64_t rows, int64_t cols, Body body) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t j = blockIdx.y; j < cols; j += gridDim.y)
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows; i += step) body(i, j);
}

template <class T>
__device__ void place(const purlin_dense_place_params &p) {
  const T *input = reinterpret_cast<const T *>(p.input);
  T *output = reinterpret_cast<T *>(p.output);
  const bool conjugate = (p.flags & PURLIN_LAUNCH_DENSE_CONJUGATE) != 0;
  const auto taken = [&](T x) { return conjugate ? Number<T>::conjugate(x) : x; };
  if ((p.flags & PURLIN_LAUNCH_DENSE_TRANSPOSE) == 0) {
    each(p.rows, p.cols,
         [&](int64_t i, int64_t j) { output[i + j * p.output_ld] = taken(input[i + j * p.input_ld]); });
    return;
  }
  constexpr int TILE = PURLIN_LAUNCH_DENSE_TILE, LINES = PURLIN_LAUNCH_DENSE_TILE_LINES;
  // One element more than a line, so that a column of the tile is not all in one bank.
  __shared__ T tile[TILE][TILE + 1];
  const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
  for (int64_t column = static_cast<int64_t>(blockIdx.y) * TILE; column < p.cols;
       column += static_cast<int64_t>(gridDim.y) * TILE)
    for (int64_t row = static_cast<int64_t>(blockIdx.x) * TILE; row < p.rows;
         row += static_cast<int64_t>(gridDim.x) * TILE) {
      __syncthreads();
      for (int k = y; k < TILE; k += LINES)
        if (column + x < p.cols && row + k < p.rows) tile[k][x] = input[column + x + (row + k) * p.input_ld];
      __syncthreads();
      for (int k = y; k < TILE; k += LINES)
        if (row + x < p.rows && column + k < p.cols)
          output[row + x + (column + k) * p.output_ld] = taken(tile[x][k]);
    }
}

template <class S, class T>
__device__ void convert(const purlin_dense_place_params &p) {
  const S *input = reinterpret_cast<const S *>(p.input);
  T *output = reinterpret_cast<T *>(p.output);
  const bool reverse = (p.flags & PURLIN_LAUNCH_DENSE_REVERSE) != 0;
  each(p.rows, p.cols, [&](int64_t i, int64_t j) {
    output[i + j * p.output_ld] = static_cast<T>(input[i + (reverse ? p.cols - 1 - j : j) * p.input_ld]);
  });
}

template <class T>
__device__ void scale(const purlin_dense_scale_params &p) {
  T *matrix = reinterpret_cast<T *>(p.matrix);
  const double *factors = reinterpret_cast<const double *>(p.factors);
  each(p.rows, p.cols,
       [&](int64_t i, int64_t j) { matrix[i + j * p.ld] = Number<T>::scaled(matrix[i + j * p.ld], factors[j]); });
}

// Sum over the block.
__device__ double block_sum(double value) { return block_reduce(value, Sum(), static_cast<int>(blockDim.x / 32)); }

template <class T>
__device__ void sums(const purlin_dense_columns_params &p) {
  for (int64_t j = blockIdx.x; j < p.cols; j += gridDim.x) {
    const T *column = reinterpret_cast<const T *>(p.matrix) + j * p.ld;
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < p.rows; i += blockDim.x)
      sum += modulus2(column[i], p.factor);
    sum = block_sum(sum);
    if (threadIdx.x == 0) reinterpret_cast<double *>(p.output)[j] = sum;
  }
}

template <class T>
__device__ void peaks(const purlin_dense_columns_params &p) {
  __shared__ double largest[32];
  __shared__ int64_t places[32];
  for (int64_t j = blockIdx.x; j < p.cols; j += gridDim.x) {
    const T *column = reinterpret_cast<const T *>(p.matrix) + j * p.ld;
    double best = -1.0;
    int64_t place = p.rows;
    const auto offer = [&](double value, int64_t at) {
      if (value > best || (value == best && at < place)) {
        best = value;
        place = at;
      }
    };
    // For real elements the modulus itself, which is exact: its square could overflow.
    for (int64_t i = threadIdx.x; i < p.rows; i += blockDim.x)
      offer(Number<T>::COMPLEX ? modulus2(column[i]) : fabs(Number<T>::re(column[i])), i);
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
      const double value = __shfl_xor_sync(FULL_WARP, best, step);
      const int64_t at = __shfl_xor_sync(FULL_WARP, place, step);
      offer(value, at);
    }
    __syncthreads();
    if (lane_id() == 0) {
      largest[threadIdx.x / 32] = best;
      places[threadIdx.x / 32] = place;
    }
    __syncthreads();
    if (threadIdx.x != 0) continue;
    for (int w = 0; w < static_cast<int>(blockDim.x / 32); ++w) offer(largest[w], places[w]);
    double *output = reinterpret_cast<double *>(p.output) + 2 * j;
    output[0] = place < p.rows ? Number<T>::re(column[place]) : 0.0;
    output[1] = place < p.rows ? Number<T>::im(column[place]) : 0.0;
  }
}

__device__ purlin_words words(const purlin_dense_fill_params &p, uint64_t row, uint32_t cell) {
  return purlin_philox(static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32), cell, p.stream,
                       static_cast<uint32_t>(p.seed), static_cast<uint32_t>(p.seed >> 32));
}

__device__ double sign(uint32_t word, uint32_t bit) { return (word >> bit & 1u) != 0 ? -1.0 : 1.0; }

// The two numbers of a cell: columns 2 cell and 2 cell + 1 of a real matrix, or both parts of entry (row, cell).
__device__ void two(const purlin_dense_fill_params &p, uint64_t row, uint32_t cell, double *a, double *b) {
  if (p.distribution == PURLIN_LAUNCH_DENSE_RADEMACHER) {
    const uint32_t word = words(p, row, cell / 16).x[0], bit = cell % 16 * 2;
    *a = sign(word, bit);
    *b = sign(word, bit + 1);
    return;
  }
  double u, v;
  purlin_uniforms(p.seed, p.stream, row, cell, &u, &v);
  if (p.distribution == PURLIN_LAUNCH_DENSE_UNIFORM) {
    *a = __fma_rn(2.0, -u, 1.0);
    *b = __fma_rn(2.0, v, -1.0);
    return;
  }
  double c, s;
  const double radius = __dsqrt_rn(__dmul_rn(-2.0, purlin_ln(u)));
  purlin_cos_sin_turn(v, &c, &s);
  *a = __dmul_rn(radius, c);
  *b = __dmul_rn(radius, s);
}

__device__ void sparse(const purlin_dense_fill_params &p, uint64_t row, uint32_t column, double *a, double *b) {
  constexpr uint32_t GROUP = PURLIN_LAUNCH_DENSE_GROUP;
  const purlin_words w = words(p, row, column / GROUP);
  const bool here = w.x[0] % GROUP == column % GROUP;
  *a = here ? sign(w.x[1], 0) : 0.0;
  *b = here ? sign(w.x[1], 1) : 0.0;
}

template <class T>
__device__ void fill(const purlin_dense_fill_params &p) {
  T *matrix = reinterpret_cast<T *>(p.matrix);
  const int64_t first = p.first_column, last = first + p.cols;
  const auto put = [&](int64_t i, int64_t column, double re, double im) {
    if (column >= first && column < last) matrix[i + (column - first) * p.ld] = Number<T>::make(re, im);
  };
  const bool is_sparse = p.distribution == PURLIN_LAUNCH_DENSE_SPARSE_SIGN;
  const int64_t begin = Number<T>::COMPLEX ? first : first / 2, end = Number<T>::COMPLEX ? last : (last + 1) / 2;
  each(p.rows, end - begin, [&](int64_t i, int64_t c) {
    const uint64_t row = p.first_row + static_cast<uint64_t>(i);
    const uint32_t cell = static_cast<uint32_t>(begin + c);
    double a, b, unused;
    if (is_sparse) {
      if (Number<T>::COMPLEX) {
        sparse(p, row, cell, &a, &b);
      } else {
        sparse(p, row, 2 * cell, &a, &unused);
        sparse(p, row, 2 * cell + 1, &b, &unused);
      }
    } else {
      two(p, row, cell, &a, &b);
    }
    if (Number<T>::COMPLEX) {
      put(i, cell, a, b);
    } else {
      put(i, 2 * static_cast<int64_t>(cell), a, 0.0);
      put(i, 2 * static_cast<int64_t>(cell) + 1, b, 0.0);
    }
  });
}

template <class T>
__device__ void shift(const purlin_dense_shift_params &p) {
  T *matrix = reinterpret_cast<T *>(p.matrix);
  double trace = 0.0;
  for (int64_t i = threadIdx.x; i < p.order; i += blockDim.x) trace += Number<T>::re(matrix[i * (p.ld + 1)]);
  trace = block_sum(trace);
  for (int64_t i = threadIdx.x; i < p.order; i += blockDim.x) {
    const T x = matrix[i * (p.ld + 1)];
    matrix[i * (p.ld + 1)] = Number<T>::make(fma(p.shift, trace, Number<T>::re(x)), Number<T>::im(x));
  }
}

template <class S, class T>
__device__ void upper(const purlin_dense_upper_params &p) {
  const S *input = reinterpret_cast<const S *>(p.input);
  T *output = reinterpret_cast<T *>(p.output);
  S *identity = reinterpret_cast<S *>(p.identity);
  double *diagonal = reinterpret_cast<double *>(p.diagonal);
  each(p.order, p.order, [&](int64_t i, int64_t j) {
    const S x = input[i + j * p.input_ld];
    const double re = Number<S>::re(x), im = Number<S>::im(x);
    output[i + j * p.output_ld] = i <= j ? Number<T>::make(re, im) : Number<T>::make(0.0, 0.0);
    if (identity != nullptr) identity[i + j * p.order] = Number<S>::make(i == j ? 1.0 : 0.0, 0.0);
    if (diagonal != nullptr && i == j) diagonal[i] = re;
    if (diagonal != nullptr && i == 0 && j == 0)
      diagonal[p.order] = p.info == 0 ? 0.0 : static_cast<double>(*reinterpret_cast<const int32_t *>(p.info));
  });
}

template <class T>
__device__ void condition(const purlin_dense_condition_params &p) {
  const T *triangle = reinterpret_cast<const T *>(p.triangle), *inverse = reinterpret_cast<const T *>(p.inverse);
  for (int64_t j = blockIdx.x; j < p.order; j += gridDim.x) {
    double column = 0.0, row = 0.0;
    for (int64_t i = threadIdx.x; i <= j; i += blockDim.x) column += modulus2(triangle[i + j * p.order]);
    for (int64_t k = j + threadIdx.x; k < p.order; k += blockDim.x) row += modulus2(inverse[j + k * p.order]);
    column = block_sum(column);
    row = block_sum(row);
    if (threadIdx.x == 0) reinterpret_cast<double *>(p.output)[j] = sqrt(column) * sqrt(row);
  }
}

template <class T>
__device__ void polynomial(const purlin_dense_polynomial_params &p) {
  const T *first = reinterpret_cast<const T *>(p.first);
  T *square = reinterpret_cast<T *>(p.square);
  each(p.order, p.order, [&](int64_t i, int64_t j) {
    const T x = first[i + j * p.order], y = square[i + j * p.order];
    const double re = fma(p.b, Number<T>::re(x), p.c * Number<T>::re(y)) + (i == j ? p.a : 0.0);
    square[i + j * p.order] = Number<T>::make(re, fma(p.b, Number<T>::im(x), p.c * Number<T>::im(y)));
  });
}

template <class T>
__device__ void start(const purlin_dense_start_params &p) {
  const T *input = reinterpret_cast<const T *>(p.input);
  T *output = reinterpret_cast<T *>(p.output);
  double sum = 0.0;
  for (int64_t j = threadIdx.x; j < p.order; j += blockDim.x) sum += reinterpret_cast<const double *>(p.sums)[j];
  sum = block_sum(sum);
  const double factor = sum > 0.0 ? 1.0 / sqrt(sum) : 0.0;
  each(p.order, p.order, [&](int64_t i, int64_t j) {
    // Any fixed numbers work, unless they form a matrix of low rank.
    double a, b;
    purlin_uniforms(0, 0, static_cast<uint64_t>(i), static_cast<uint32_t>(j), &a, &b);
    const T x = input[i + j * p.order];
    output[i + j * p.order] = Number<T>::make(fma(Number<T>::re(x), factor, p.noise * (2.0 * a - 1.0)),
                                              fma(Number<T>::im(x), factor, p.noise * (2.0 * b - 1.0)));
  });
}

}  // namespace dense
}  // namespace purlin

#define PURLIN_DENSE(what, params, ending, ...)                                                    \
  extern "C" __global__ void purlin_dense_##what##_##ending(const __grid_constant__ params p) {    \
    purlin::dense::what<__VA_ARGS__>(p);                                                           \
  }
#define PURLIN_DENSE_ALL(what, params)          \
  PURLIN_DENSE(what, params, f32, float)        \
  PURLIN_DENSE(what, params, f64, double)       \
  PURLIN_DENSE(what, params, cf32, float2)      \
  PURLIN_DENSE(what, params, cf64, double2)
#define PURLIN_DENSE_WIDE(what, params)         \
  PURLIN_DENSE(what, params, f64, double)       \
  PURLIN_DENSE(what, params, cf64, double2)

PURLIN_DENSE_ALL(place, purlin_dense_place_params)
PURLIN_DENSE(convert, purlin_dense_place_params, f32_f64, float, double)
PURLIN_DENSE(convert, purlin_dense_place_params, f64_f32, double, float)
PURLIN_DENSE(convert, purlin_dense_place_params, f64_f64, double, double)
PURLIN_DENSE_ALL(scale, purlin_dense_scale_params)
PURLIN_DENSE_ALL(sums, purlin_dense_columns_params)
PURLIN_DENSE_ALL(peaks, purlin_dense_columns_params)
PURLIN_DENSE_ALL(fill, purlin_dense_fill_params)
PURLIN_DENSE_WIDE(shift, purlin_dense_shift_params)
PURLIN_DENSE(upper, purlin_dense_upper_params, f64_f32, double, float)
PURLIN_DENSE(upper, purlin_dense_upper_params, f64_f64, double, double)
PURLIN_DENSE(upper, purlin_dense_upper_params, cf64_cf32, double2, float2)
PURLIN_DENSE(upper, purlin_dense_upper_params, cf64_cf64, double2, double2)
PURLIN_DENSE_WIDE(condition, purlin_dense_condition_params)
PURLIN_DENSE_WIDE(polynomial, purlin_dense_polynomial_params)
PURLIN_DENSE_WIDE(start, purlin_dense_start_params)
