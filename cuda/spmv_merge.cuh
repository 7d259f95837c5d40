// Products along the merge path of row ends and entries (Merrill and Garland, SC16): every thread takes the same number
// of steps, whatever the lengths of the rows. A step is an entry or the end of a row.
#ifndef PURLIN_SPMV_MERGE_CUH
#define PURLIN_SPMV_MERGE_CUH

#include "spmv_number.cuh"

namespace purlin {
namespace spmv {

template <class T, class P, bool PATTERN>
__device__ void merge(const purlin_spmv_params &p) {
  using N = Number<T>;
  constexpr int THREADS = PURLIN_LAUNCH_SPMV_MERGE_THREADS, TILE = PURLIN_LAUNCH_SPMV_MERGE_TILE, ITEMS = TILE / THREADS;
  __shared__ T stage[TILE];
  __shared__ int ends[TILE + 1];
  __shared__ int last_row[THREADS / 32];
  __shared__ T last_sum[THREADS / 32];
  const purlin_spmv_tile *list = pointer<purlin_spmv_tile>(p.tiles);
  const purlin_spmv_tile here = list[blockIdx.x], next = list[blockIdx.x + 1];
  const int count = static_cast<int>(next.entry - here.entry), rows = next.row - here.row, thread = threadIdx.x;
  const P *row_ends = pointer<P>(p.row_ptr) + here.row + 1;
  const int32_t *columns = pointer<int32_t>(p.columns) + here.entry;
  const T *values = pointer<T>(p.values) + here.entry, *gathered = pointer<T>(p.gathered);
  // Rows plus entries are at most TILE, so products and row sums share the buffer, products first.
  T *out = stage + count;
  for (int r = thread; r < rows; r += THREADS) ends[r] = static_cast<int>(row_ends[r] - here.entry);
  if (thread == 0) ends[rows] = INT32_MAX;
  int32_t column[ITEMS];
#pragma unroll
  for (int j = 0; j < ITEMS; ++j) column[j] = j * THREADS + thread < count ? __ldcs(columns + j * THREADS + thread) : 0;
#pragma unroll
  for (int j = 0; j < ITEMS; ++j) {
    const int k = j * THREADS + thread;
    if (k < count) stage[k] = times<T, PATTERN>(values, k, N::gather(gathered + column[j]));
  }
  __syncthreads();
  const int diagonal = min(thread * ITEMS, rows + count), stop = min(diagonal + ITEMS, rows + count);
  int low = max(diagonal - count, 0), high = min(diagonal, rows);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (ends[middle] <= diagonal - middle - 1) low = middle + 1;
    else high = middle;
  }
  int row = low, k = diagonal - low;
  T sum = N::zero();
  for (int step = diagonal; step < stop; ++step) {
    if (k < ends[row]) {
      sum = N::sum(sum, stage[k++]);
    } else {
      out[row++] = sum;
      sum = N::zero();
    }
  }
  // The remaining sum belongs to row `row`, which a later thread ends: add it up over earlier threads with the same
  // row.
  const int lane = thread % 32, warp = thread / 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, row, step);
    const T more = N::shuffle_up(sum, step);
    if (lane >= step && other == row) sum = N::sum(more, sum);
  }
  if (lane == 31) last_row[warp] = row, last_sum[warp] = sum;
  const int after = __shfl_down_sync(0xffffffffu, row, 1);
  __syncthreads();
  // Add the sums of a row that began in earlier warps.
  T before = N::zero();
  bool has_before = false;
  for (int w = warp - 1; w >= 0 && last_row[w] == row; --w) {
    before = has_before ? N::sum(last_sum[w], before) : last_sum[w];
    has_before = true;
  }
  if (has_before) sum = N::sum(before, sum);
  // The row in which the next thread's steps end; after the last lane, that is the next warp's first thread.
  const bool is_last = thread == THREADS - 1;
  __shared__ int first_row[THREADS / 32];
  if (lane == 0) first_row[warp] = row;
  __syncthreads();
  const int follower = lane < 31 ? after : (is_last ? -1 : first_row[warp + 1]);
  if (follower != row) {
    if (row < rows) out[row] = N::sum(out[row], sum);
    if (is_last) target<T>(p.pieces.partials)[blockIdx.x] = row == rows ? sum : N::zero();
  }
  __syncthreads();
  const Finish<T> done(p.finish);
  for (int r = thread; r < rows; r += THREADS) done(static_cast<int64_t>(here.row) + r, out[r]);
}

// Adds the remaining sums of tiles to the rows that later tiles ended. One thread for each such row adds them in the
// order of the tiles.
template <class T, class P>
__device__ void mend(const purlin_spmv_params &p) {
  const int at = blockIdx.x * PURLIN_LAUNCH_SPMV_THREADS + threadIdx.x;
  const purlin_spmv_tile *list = pointer<purlin_spmv_tile>(p.tiles);
  if (at >= p.count || list[at + 1].row >= p.rows || (at > 0 && list[at].row == list[at + 1].row)) return;
  const int32_t row = list[at + 1].row;
  // No tile has a remaining sum if this one ends exactly before row `row` and the next one ends that row.
  if (list[at + 1].entry == pointer<P>(p.row_ptr)[row] && list[at + 2].row != row) return;
  const T *partials = pointer<T>(p.pieces.partials);
  T sum = Number<T>::zero();
  for (int k = at; k < p.count && list[k + 1].row == row; ++k) sum = Number<T>::sum(sum, partials[k]);
  Finish<T>(p.finish).add(row, sum);
}

}  // namespace spmv
}  // namespace purlin

#endif
