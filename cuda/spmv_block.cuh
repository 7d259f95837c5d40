// Products with a block of vectors stored row by row: each entry gathers consecutive numbers.
#ifndef PURLIN_SPMV_BLOCK_CUH
#define PURLIN_SPMV_BLOCK_CUH

#include "spmv_number.cuh"

namespace purlin {
namespace spmv {

template <class T, int BYTES>
struct alignas(BYTES) Words {
  T at[BYTES / sizeof(T)];
};
// One load through the read-only cache of a word of 4, 8 or 16 bytes.
template <class W>
__device__ __forceinline__ W load_words(const W *from) {
  W words;
  if constexpr (sizeof(W) == 16) {
    const uint4 bits = __ldg(reinterpret_cast<const uint4 *>(from));
    memcpy(&words, &bits, sizeof words);
  } else if constexpr (sizeof(W) == 8) {
    const uint2 bits = __ldg(reinterpret_cast<const uint2 *>(from));
    memcpy(&words, &bits, sizeof words);
  } else {
    const uint32_t bits = __ldg(reinterpret_cast<const uint32_t *>(from));
    memcpy(&words, &bits, sizeof words);
  }
  return words;
}

// Computes Y from the sums of rows.
template <class T>
struct BlockFinish {
  using N = Number<T>;
  using Real = typename N::Real;
  T *y;
  const T *own;
  const Real *scale, *diagonal;
  int64_t y_stride, own_stride;
  T alpha, beta, shift, weight;
  bool reads_y;

  __device__ explicit BlockFinish(const purlin_spmv_block_params &p)
      : y(target<T>(p.y)), own(pointer<T>(p.own)), scale(pointer<Real>(p.scale)), diagonal(pointer<Real>(p.diagonal)),
        y_stride(p.y_stride), own_stride(p.own_stride), alpha(N::make(p.alpha[0], p.alpha[1])),
        beta(N::make(p.beta[0], p.beta[1])), shift(N::make(p.shift[0], p.shift[1])),
        weight(N::make(p.weight[0], p.weight[1])), reads_y(p.beta[0] != 0.0 || p.beta[1] != 0.0) {}

  __device__ void operator()(int64_t row, int64_t c, T sum) const {
    T out = N::product(alpha, sum);
    if (scale != nullptr) out = N::scaled(out, __ldg(scale + row));
    if (own != nullptr) {
      const T d = diagonal != nullptr ? N::sum(shift, N::scaled(weight, __ldg(diagonal + row))) : shift;
      out = N::add_product(out, d, own[row * own_stride + c]);
    }
    T *to = y + row * y_stride + c;
    if (reads_y) out = N::add_product(out, beta, *to);
    *to = out;
  }
};

// Dynamic shared memory: the products of a tile, `width` for each entry. VECTOR numbers are gathered at once; VECTOR
// divides the width.
template <class T, class P, bool PATTERN, int VECTOR>
__device__ void block(const purlin_spmv_block_params &p) {
  using N = Number<T>;
  using W = Words<T, VECTOR * static_cast<int>(sizeof(T))>;
  constexpr int THREADS = PURLIN_LAUNCH_SPMV_THREADS;
  extern __shared__ __align__(16) unsigned char spmv_block_shared[];
  const purlin_spmv_tile *list = pointer<purlin_spmv_tile>(p.tiles);
  const purlin_spmv_tile here = list[blockIdx.x], next = list[blockIdx.x + 1];
  const int count = static_cast<int>(next.entry - here.entry), width = p.width, thread = threadIdx.x;
  T *stage = reinterpret_cast<T *>(spmv_block_shared);
  const int32_t *columns = pointer<int32_t>(p.columns) + here.entry;
  const T *values = pointer<T>(p.values) + here.entry, *x = pointer<T>(p.x);
  const int words = width / VECTOR, items = count * words;
  // Division by a power of two is a shift; else -1.
  const int shift = (words & (words - 1)) == 0 ? 31 - __clz(words) : -1;
  constexpr int AHEAD = 4;
  for (int first = thread; first < items; first += AHEAD * THREADS) {
    int k[AHEAD], w[AHEAD];
    int32_t column[AHEAD];
    T value[AHEAD];
    W product[AHEAD];
#pragma unroll
    for (int j = 0; j < AHEAD; ++j) {
      const int item = min(first + j * THREADS, items - 1);
      k[j] = shift >= 0 ? item >> shift : item / words;
      w[j] = item - k[j] * words;
      column[j] = __ldg(columns + k[j]);
      if (!PATTERN) value[j] = N::gather(values + k[j]);
    }
#pragma unroll
    for (int j = 0; j < AHEAD; ++j) product[j] = load_words(reinterpret_cast<const W *>(x + column[j] * p.x_stride) + w[j]);
#pragma unroll
    for (int j = 0; j < AHEAD; ++j) {
      if (!PATTERN)
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) product[j].at[i] = N::product(value[j], product[j].at[i]);
      if (first + j * THREADS < items) reinterpret_cast<W *>(stage)[first + j * THREADS] = product[j];
    }
  }
  __syncthreads();
  const bool is_piece = here.piece >= 0;
  const int rows = is_piece ? 1 : next.row - here.row, sums = rows * width;
  // Number of threads for each sum; each adds every slices-th entry.
  const int slices = sums >= THREADS ? 1 : THREADS / sums;
  const P *row_ptr = pointer<P>(p.row_ptr);
  const BlockFinish<T> done(p);
  __shared__ T of_slices[THREADS];
  for (int first = 0; first < sums; first += THREADS) {
    const int at = slices == 1 ? first + thread : thread % sums, slice = slices == 1 ? 0 : thread / sums;
    const int r = at / width, c = at - r * width;
    T sum = N::zero();
    if (at < sums && slice < slices) {
      const int begin = is_piece ? 0 : static_cast<int>(row_ptr[here.row + r] - here.entry);
      const int end = is_piece ? count : static_cast<int>(row_ptr[here.row + r + 1] - here.entry);
      for (int k = begin + slice; k < end; k += slices) sum = N::sum(sum, stage[k * width + c]);
    }
    // With slices > 1 there is one pass only, so the barrier is uniform.
    if (slices > 1) {
      of_slices[thread] = sum;
      __syncthreads();
      if (slice == 0)
        for (int s = 1; s < slices; ++s) sum = N::sum(sum, of_slices[s * sums + at]);
    }
    if (at >= sums || slice > 0) continue;
    if (is_piece) {
      target<T>(p.partials)[static_cast<int64_t>(here.piece) * width + c] = sum;
    } else {
      done(here.row + r, c, sum);
    }
  }
}

// Finishes the rows in pieces, one thread for each number. Without a list, finishes `count` rows whose sums are 0.
template <class T>
__device__ void block_join(const purlin_spmv_block_params &p) {
  using N = Number<T>;
  const int64_t item = static_cast<int64_t>(blockIdx.x) * PURLIN_LAUNCH_SPMV_THREADS + threadIdx.x;
  const int64_t at = item / p.width, c = item - at * p.width;
  if (at >= p.count) return;
  const purlin_spmv_long *list = pointer<purlin_spmv_long>(p.tiles);
  T sum = N::zero();
  if (list != nullptr)
    for (int64_t k = list[at].piece; k < list[at + 1].piece; ++k)
      sum = N::sum(sum, pointer<T>(p.partials)[k * p.width + c]);
  const BlockFinish<T> done(p);
  done(list != nullptr ? list[at].row : at, c, sum);
}

}  // namespace spmv
}  // namespace purlin

#endif
