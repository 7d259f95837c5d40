// Products by whole rows: by groups of lanes (Lin and Liu, 2015; with one lane this is the scalar kernel, with 32 the
// vector kernel), and by bins of rows of similar length.
#ifndef PURLIN_SPMV_ROWS_CUH
#define PURLIN_SPMV_ROWS_CUH

#include "spmv_number.cuh"

namespace purlin {
namespace spmv {

// The partial sum of one lane out of `lanes` over entries begin to end.
template <class T, bool PATTERN>
__device__ __forceinline__ T strided_sum(const purlin_spmv_params &p, int64_t begin, int64_t end, int lane, int lanes) {
  const int32_t *columns = pointer<int32_t>(p.columns);
  const T *values = pointer<T>(p.values), *gathered = pointer<T>(p.gathered);
  using N = Number<T>;
  T sum = N::zero();
  int64_t k = begin + lane;
  // Two loads in flight; with four, fewer warps would fit.
  for (; k + lanes < end; k += 2 * lanes) {
    const int32_t c0 = __ldcs(columns + k), c1 = __ldcs(columns + k + lanes);
    const T x0 = N::gather(gathered + c0), x1 = N::gather(gathered + c1);
    const T a = times<T, PATTERN>(values, k, x0), b = times<T, PATTERN>(values, k + lanes, x1);
    sum = N::sum(N::sum(sum, a), b);
  }
  if (k < end) sum = N::sum(sum, times<T, PATTERN>(values, k, N::gather(gathered + __ldcs(columns + k))));
  return sum;
}

template <class T, class P, bool PATTERN>
__device__ void rows(const purlin_spmv_params &p) {
  const P *row_ptr = pointer<P>(p.row_ptr);
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * PURLIN_LAUNCH_SPMV_THREADS + threadIdx.x;
  const int64_t row = thread / p.lanes;
  const int lane = threadIdx.x % p.lanes;
  T sum = Number<T>::zero();
  // Without offsets all sums are 0.
  if (row < p.rows && row_ptr != nullptr) sum = strided_sum<T, PATTERN>(p, row_ptr[row], row_ptr[row + 1], lane, p.lanes);
  sum = group_sum(sum, p.lanes);
  if (row < p.rows && lane == 0) Finish<T>(p.finish)(row, sum);
}

template <class T, class P, bool PATTERN>
__device__ void bins(const purlin_spmv_params &p) {
  const P *row_ptr = pointer<P>(p.row_ptr);
  const purlin_spmv_bin bin = pointer<purlin_spmv_bin>(p.tiles)[blockIdx.x];
  if (bin.lanes == 0) {
    const T sum = block_sum<T, PURLIN_LAUNCH_SPMV_THREADS>(
        strided_sum<T, PATTERN>(p, bin.first, bin.first + bin.count, threadIdx.x, PURLIN_LAUNCH_SPMV_THREADS));
    return finish_piece<T, PURLIN_LAUNCH_SPMV_THREADS>(p.pieces, p.finish, bin.piece, sum);
  }
  const int lane = threadIdx.x % bin.lanes, each = PURLIN_LAUNCH_SPMV_THREADS / bin.lanes;
  for (int first = 0; first < bin.count; first += each) {
    const int at = first + threadIdx.x / bin.lanes;
    T sum = Number<T>::zero();
    int32_t row = 0;
    if (at < bin.count) {
      row = pointer<int32_t>(p.order)[bin.first + at];
      sum = strided_sum<T, PATTERN>(p, row_ptr[row], row_ptr[row + 1], lane, bin.lanes);
    }
    sum = group_sum(sum, bin.lanes);
    if (at < bin.count && lane == 0) Finish<T>(p.finish)(row, sum);
  }
}

}  // namespace spmv
}  // namespace purlin

#endif
