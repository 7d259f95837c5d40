// Products by tiles of up to THREADS * ITEMS entries: products are written to shared memory, then rows are summed from
// there.
#ifndef PURLIN_SPMV_TILES_CUH
#define PURLIN_SPMV_TILES_CUH

#include "spmv_number.cuh"

namespace purlin {
namespace spmv {

// Sums the rows of a tile and finishes them; at(k) is the tile's product k. Begins with a barrier.
template <class T, class P, int THREADS, class At>
__device__ __forceinline__ void finish_rows(const P *row_ptr, const purlin_spmv_finish &finish, int32_t first_row, int rows,
                                            int64_t first_entry, At at) {
  int lanes = 1;
  while (lanes < 32 && 2 * lanes * rows <= THREADS) lanes *= 2;
  // Rows that are too long for their lanes are left for whole warps. MOST bounds their number in a tile.
  constexpr int MOST = 16384 / PURLIN_LAUNCH_SPMV_LONG_SUM;
  __shared__ uint16_t waiting[MOST];
  __shared__ int wait_count;
  if (threadIdx.x == 0) wait_count = 0;
  __syncthreads();
  const Finish<T> done(finish);
  const int lane = threadIdx.x % lanes, each = THREADS / lanes, most = lanes * PURLIN_LAUNCH_SPMV_LONG_SUM;
  for (int first = 0; first < rows; first += each) {
    const int r = first + threadIdx.x / lanes;
    T sum = Number<T>::zero();
    bool is_mine = r < rows;
    if (is_mine) {
      const int begin = static_cast<int>(row_ptr[first_row + r] - first_entry);
      const int end = static_cast<int>(row_ptr[first_row + r + 1] - first_entry);
      if (end - begin > most && lanes < 32) {
        is_mine = false;
        // The order of rows does not matter: each row's sum has its own order.
        if (lane == 0) waiting[atomicAdd(&wait_count, 1)] = static_cast<uint16_t>(r);
      } else {
        for (int k = begin + lane; k < end; k += lanes) sum = Number<T>::sum(sum, at(k));
      }
    }
    sum = group_sum(sum, lanes);
    if (is_mine && lane == 0) done(static_cast<int64_t>(first_row) + r, sum);
  }
  if (lanes == 32) return;
  __syncthreads();
  for (int w = threadIdx.x / 32; w < wait_count; w += THREADS / 32) {
    const int r = waiting[w];
    const int begin = static_cast<int>(row_ptr[first_row + r] - first_entry);
    const int end = static_cast<int>(row_ptr[first_row + r + 1] - first_entry);
    T sum = Number<T>::zero();
    for (int k = begin + threadIdx.x % 32; k < end; k += 32) sum = Number<T>::sum(sum, at(k));
    sum = group_sum(sum, 32);
    if (threadIdx.x % 32 == 0) done(static_cast<int64_t>(first_row) + r, sum);
  }
}

template <class T, class P, bool PATTERN, int THREADS, int ITEMS>
__device__ void tiles(const purlin_spmv_params &p) {
  __shared__ T stage[THREADS * ITEMS];
  const purlin_spmv_tile *list = pointer<purlin_spmv_tile>(p.tiles);
  const purlin_spmv_tile here = list[blockIdx.x], next = list[blockIdx.x + 1];
  const int count = static_cast<int>(next.entry - here.entry);
  const int32_t *columns = pointer<int32_t>(p.columns) + here.entry;
  const T *values = pointer<T>(p.values) + here.entry, *gathered = pointer<T>(p.gathered);
  // All loads of one kind are issued before the first is used.
  int32_t column[ITEMS];
  T product[ITEMS];
#pragma unroll
  for (int j = 0; j < ITEMS; ++j) {
    const int k = j * THREADS + threadIdx.x;
    column[j] = k < count ? __ldcs(columns + k) : 0;
  }
  T value[PATTERN ? 1 : ITEMS];
  if (!PATTERN) {
#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
      const int k = j * THREADS + threadIdx.x;
      value[PATTERN ? 0 : j] = k < count ? Number<T>::stream(values + k) : Number<T>::zero();
    }
  }
#pragma unroll
  for (int j = 0; j < ITEMS; ++j)
    product[j] = j * THREADS + static_cast<int>(threadIdx.x) < count ? Number<T>::gather(gathered + column[j])
                                                                     : Number<T>::zero();
#pragma unroll
  for (int j = 0; j < ITEMS; ++j) {
    if (!PATTERN) product[j] = Number<T>::product(value[PATTERN ? 0 : j], product[j]);
    stage[j * THREADS + threadIdx.x] = product[j];
  }
  if (here.piece >= 0) {
    T sum = Number<T>::zero();
    // Skip numbers beyond the last entry: they may be infinity times 0.
#pragma unroll
    for (int j = 0; j < ITEMS; ++j)
      if (j * THREADS + static_cast<int>(threadIdx.x) < count) sum = Number<T>::sum(sum, product[j]);
    sum = block_sum<T, THREADS>(sum);
    return finish_piece<T, THREADS>(p.pieces, p.finish, here.piece, sum);
  }
  finish_rows<T, P, THREADS>(pointer<P>(p.row_ptr), p.finish, here.row, next.row - here.row, here.entry,
                             [&](int k) { return stage[k]; });
}

}  // namespace spmv
}  // namespace purlin

#endif
