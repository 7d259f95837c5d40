// Products in two sweeps, for matrices whose gathers would go to the L2 cache: they would move 32 bytes an entry there,
// far more than the entry itself. The first sweep multiplies by blocks of columns, with the block's part of x in shared
// memory. The second sums by rows. Both read and write global memory in order.
#ifndef PURLIN_SPMV_SWEEPS_CUH
#define PURLIN_SPMV_SWEEPS_CUH

#include "spmv_tiles.cuh"

namespace purlin {
namespace spmv {

__device__ __forceinline__ unsigned char *shared_memory() {
  extern __shared__ __align__(16) unsigned char spmv_shared[];
  return spmv_shared;
}

// Copies one T, or 16 bytes, from global to shared memory without waiting.
template <int BYTES>
__device__ __forceinline__ void copy_async(void *to, const void *from) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(address), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\n" ::"r"(address), "l"(from), "n"(BYTES) : "memory");
}
__device__ __forceinline__ void copy_wait() { asm volatile("cp.async.wait_all;\n" ::: "memory"); }

// The numbers in 16 bytes, and their columns.
template <class T>
struct alignas(16) Several {
  static constexpr int COUNT = 16 / sizeof(T);
  T at[COUNT];
};
template <class T>
struct alignas(2 * Several<T>::COUNT) SeveralColumns {
  uint16_t at[Several<T>::COUNT];
};

template <class T, bool PATTERN, int THREADS>
__device__ void spread(const purlin_spmv_spread_params &p) {
  T *x = reinterpret_cast<T *>(shared_memory());
  const purlin_spmv_unit unit = pointer<purlin_spmv_unit>(p.units)[blockIdx.x];
  const int64_t begin = unit.block * p.width;
  const int width = static_cast<int>(p.length - begin < p.width ? p.length - begin : p.width);
  const T *gathered = pointer<T>(p.gathered) + begin;
  for (int c = threadIdx.x; c < width; c += THREADS) copy_async<sizeof(T)>(x + c, gathered + c);
  constexpr int COUNT = Several<T>::COUNT;
  const auto *columns = pointer<SeveralColumns<T>>(p.columns) + unit.first / COUNT;
  const auto *values = pointer<Several<T>>(p.values) + unit.first / COUNT;
  auto *products = target<Several<T>>(p.products) + (unit.first - p.first) / COUNT;
  copy_wait();
  __syncthreads();
#pragma unroll 4
  for (int k = threadIdx.x; k < unit.count / COUNT; k += THREADS) {
    const SeveralColumns<T> c = columns[k];
    Several<T> product;
#pragma unroll
    for (int j = 0; j < COUNT; ++j) product.at[j] = x[c.at[j]];
    if (!PATTERN) {
      const Several<T> value = values[k];
#pragma unroll
      for (int j = 0; j < COUNT; ++j) product.at[j] = Number<T>::product(value.at[j], product.at[j]);
    }
    products[k] = product;
  }
}

// Dynamic shared memory: the products of a tile, the index of each entry, the begin of each run, and the destination of
// each run.
template <class T, class P, int THREADS>
__device__ void collect(const purlin_spmv_collect_params &p) {
  const int blocks = static_cast<int>(p.blocks), capacity = static_cast<int>(p.capacity);
  T *stage = reinterpret_cast<T *>(shared_memory());
  uint16_t *places = reinterpret_cast<uint16_t *>(stage + capacity);
  uint32_t *runs = reinterpret_cast<uint32_t *>(places + capacity);
  uint16_t *offsets = reinterpret_cast<uint16_t *>(runs + blocks);
  const purlin_spmv_tile *list = pointer<purlin_spmv_tile>(p.tiles);
  const purlin_spmv_tile here = list[blockIdx.x], next = list[blockIdx.x + 1];
  const int count = static_cast<int>(next.entry - here.entry);
  const int64_t tile = blockIdx.x;
  for (int b = threadIdx.x; b < blocks; b += THREADS) runs[b] = __ldcs(pointer<uint32_t>(p.runs) + tile * blocks + b);
  for (int b = threadIdx.x; b <= blocks; b += THREADS)
    offsets[b] = __ldcs(pointer<uint16_t>(p.offsets) + tile * (blocks + 1) + b);
  const uint16_t *order = pointer<uint16_t>(p.places) + tile * capacity;
  for (int k = 8 * threadIdx.x; k < count; k += 8 * THREADS) copy_async<16>(places + k, order + k);
  __syncthreads();
  const T *products = pointer<T>(p.products);
  const int lanes = static_cast<int>(p.lanes), lane = threadIdx.x % lanes;
  for (int b = threadIdx.x / lanes; b < blocks; b += THREADS / lanes) {
    const T *from = products + runs[b];
    const int to = offsets[b], length = offsets[b + 1] - to;
    for (int k = lane; k < length; k += lanes) copy_async<sizeof(T)>(stage + to + k, from + k);
  }
  copy_wait();
  __syncthreads();
  if (here.piece >= 0) {
    T sum = Number<T>::zero();
    for (int k = threadIdx.x; k < count; k += THREADS) sum = Number<T>::sum(sum, stage[places[k]]);
    sum = block_sum<T, THREADS>(sum);
    return finish_piece<T, THREADS>(p.pieces, p.finish, here.piece, sum);
  }
  finish_rows<T, P, THREADS>(pointer<P>(p.row_ptr), p.finish, here.row, next.row - here.row, here.entry,
                             [&](int k) { return stage[places[k]]; });
}

}  // namespace spmv
}  // namespace purlin

#endif
