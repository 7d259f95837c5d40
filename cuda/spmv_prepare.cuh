// Preparation of the two sweeps: the number of entries of each tile in each block of columns, their positions, and the
// values in that order. The position of an entry within its run is arbitrary: sums follow the order of the matrix.
#ifndef PURLIN_SPMV_PREPARE_CUH
#define PURLIN_SPMV_PREPARE_CUH

#include "spmv_sweeps.cuh"

namespace purlin {
namespace spmv {

// Dynamic shared memory: uint32 [blocks]. Writes the counts of a tile to `runs`, and their prefix sums to `offsets`.
__device__ void count(const purlin_spmv_prepare_params &p) {
  uint32_t *counts = reinterpret_cast<uint32_t *>(shared_memory());
  const int blocks = static_cast<int>(p.blocks);
  for (int b = threadIdx.x; b < blocks; b += PURLIN_LAUNCH_SPMV_THREADS) counts[b] = 0;
  __syncthreads();
  const purlin_spmv_tile *list = pointer<purlin_spmv_tile>(p.tiles);
  const int64_t tile = blockIdx.x, end = list[tile + 1].entry;
  const uint32_t width = static_cast<uint32_t>(p.width);
  for (int64_t k = list[tile].entry + threadIdx.x; k < end; k += PURLIN_LAUNCH_SPMV_THREADS)
    atomicAdd(counts + static_cast<uint32_t>(pointer<int32_t>(p.columns)[k]) / width, 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < blocks; b += PURLIN_LAUNCH_SPMV_THREADS) target<uint32_t>(p.runs)[tile * blocks + b] = counts[b];
  if (threadIdx.x >= 32) return;
  uint16_t *offsets = target<uint16_t>(p.offsets) + tile * (blocks + 1);
  uint32_t before = 0;
  for (int first = 0; first < blocks; first += 32) {
    const int b = first + threadIdx.x;
    const uint32_t own = b < blocks ? counts[b] : 0;
    uint32_t sum = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const uint32_t more = __shfl_up_sync(0xffffffffu, sum, step);
      if (static_cast<int>(threadIdx.x) >= step) sum += more;
    }
    if (b < blocks) offsets[b] = static_cast<uint16_t>(before + sum - own);
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
  if (threadIdx.x == 0) offsets[blocks] = static_cast<uint16_t>(before);
}

// Replaces the counts of a block of columns by their prefix sums over the tiles, and writes their total to `totals`.
__device__ void accumulate(const purlin_spmv_prepare_params &p) {
  constexpr int WARPS = PURLIN_LAUNCH_SPMV_THREADS / 32;
  __shared__ uint32_t of_warps[WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t *runs = target<uint32_t>(p.runs) + blockIdx.x;
  uint32_t before = 0;
  for (int64_t first = 0; first < p.count; first += PURLIN_LAUNCH_SPMV_THREADS) {
    const int64_t tile = first + threadIdx.x;
    const uint32_t own = tile < p.count ? runs[tile * p.blocks] : 0;
    uint32_t sum = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const uint32_t more = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += more;
    }
    if (lane == 31) of_warps[warp] = sum;
    __syncthreads();
    uint32_t all = 0;
    for (int w = 0; w < WARPS; ++w) {
      if (w == warp) sum += before + all;
      all += of_warps[w];
    }
    if (tile < p.count) runs[tile * p.blocks] = sum - own;
    before += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) target<uint32_t>(p.totals)[blockIdx.x] = before;
}

// Dynamic shared memory: uint32 [2 x blocks].
__device__ void place(const purlin_spmv_prepare_params &p) {
  const int blocks = static_cast<int>(p.blocks);
  uint32_t *counts = reinterpret_cast<uint32_t *>(shared_memory()), *begins = counts + blocks;
  const int64_t tile = blockIdx.x;
  uint32_t *runs = target<uint32_t>(p.runs) + tile * blocks;
  for (int b = threadIdx.x; b < blocks; b += PURLIN_LAUNCH_SPMV_THREADS) {
    counts[b] = 0;
    begins[b] = runs[b] + pointer<uint32_t>(p.totals)[b];
    runs[b] = begins[b];
  }
  __syncthreads();
  const purlin_spmv_tile *list = pointer<purlin_spmv_tile>(p.tiles);
  const int64_t begin = list[tile].entry, end = list[tile + 1].entry;
  const uint16_t *offsets = pointer<uint16_t>(p.offsets) + tile * (blocks + 1);
  const uint32_t width = static_cast<uint32_t>(p.width);
  for (int64_t k = begin + threadIdx.x; k < end; k += PURLIN_LAUNCH_SPMV_THREADS) {
    const uint32_t column = static_cast<uint32_t>(pointer<int32_t>(p.columns)[k]), block = column / width;
    const uint32_t rank = atomicAdd(counts + block, 1u), at = begins[block] + rank;
    target<uint16_t>(p.short_columns)[at] = static_cast<uint16_t>(column - block * width);
    target<uint32_t>(p.sources)[at] = static_cast<uint32_t>(k);
    target<uint16_t>(p.places)[tile * p.capacity + (k - begin)] = static_cast<uint16_t>(offsets[block] + rank);
  }
}

// Values in the order of the sweeps; 0 in the padding between blocks.
template <class T>
__device__ void permute(const purlin_spmv_permute_params &p) {
  const int64_t k = static_cast<int64_t>(blockIdx.x) * PURLIN_LAUNCH_SPMV_THREADS + threadIdx.x;
  if (k >= p.count) return;
  const uint32_t from = pointer<uint32_t>(p.sources)[k];
  target<T>(p.output)[k] = from == UINT32_MAX ? Number<T>::zero() : pointer<T>(p.values)[from];
}

// Rows of a vector or a block of vectors in the order of a list. Writes are contiguous, reads are gathered.
template <class T>
__device__ void renumber(const purlin_spmv_renumber_params &p) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * PURLIN_LAUNCH_SPMV_THREADS + threadIdx.x;
  const int64_t row = p.width == 1 ? at : at / p.width, k = p.width == 1 ? 0 : at % p.width;
  if (row >= p.rows) return;
  const int64_t source = pointer<uint32_t>(p.list)[row];
  target<T>(p.to)[row * p.to_row + k * p.to_column] = pointer<T>(p.from)[source * p.from_row + k * p.from_column];
}

}  // namespace spmv
}  // namespace purlin

#endif
