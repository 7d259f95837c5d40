// Products in two sweeps, for matrices whose gathers would go to the L2 cache: 32 bytes an entry there, far more than the
// entry itself. The first sweep multiplies by columns, with the part of x that a block of columns needs in shared memory; the
// second sums by rows. Both read and write in order.
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

template <class T>
struct alignas(sizeof(T) < 8 ? 4 * sizeof(T) : 16) Four {
  T at[4];
};

template <class T, bool PATTERN>
__device__ void spread(const purlin_spmv_spread_params &p) {
  constexpr int THREADS = PURLIN_LAUNCH_SPMV_SPREAD_THREADS;
  T *x = reinterpret_cast<T *>(shared_memory());
  const purlin_spmv_unit unit = pointer<purlin_spmv_unit>(p.units)[blockIdx.x];
  const int64_t begin = unit.block * p.width;
  const int width = static_cast<int>(p.length - begin < p.width ? p.length - begin : p.width);
  const T *gathered = pointer<T>(p.gathered) + begin;
  for (int c = threadIdx.x; c < width; c += THREADS) copy_async<sizeof(T)>(x + c, gathered + c);
  const ushort4 *columns = pointer<ushort4>(p.columns) + unit.first / 4;
  const Four<T> *values = pointer<Four<T>>(p.values) + unit.first / 4;
  Four<T> *products = target<Four<T>>(p.products) + (unit.first - p.first) / 4;
  copy_wait();
  __syncthreads();
#pragma unroll 2
  for (int k = threadIdx.x; k < unit.count / 4; k += THREADS) {
    const ushort4 c = __ldcs(columns + k);
    Four<T> product = {{x[c.x], x[c.y], x[c.z], x[c.w]}};
    if (!PATTERN) {
      const Four<T> value = values[k];
#pragma unroll
      for (int j = 0; j < 4; ++j) product.at[j] = Number<T>::product(value.at[j], product.at[j]);
    }
    products[k] = product;
  }
}

// Dynamic shared memory: the products of a tile, their places, where runs begin, where they go to.
template <class T, class P>
__device__ void collect(const purlin_spmv_collect_params &p) {
  constexpr int THREADS = PURLIN_LAUNCH_SPMV_SPREAD_THREADS;
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
  if (here.piece < 0) {
    const uint16_t *from = pointer<uint16_t>(p.places) + tile * capacity;
    for (int k = 8 * threadIdx.x; k < count; k += 8 * THREADS) copy_async<16>(places + k, from + k);
  }
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
    for (int k = threadIdx.x; k < count; k += THREADS) sum = Number<T>::sum(sum, stage[k]);
    sum = block_sum<T, THREADS>(sum);
    if (threadIdx.x == 0) target<T>(p.partials)[here.piece] = sum;
    return;
  }
  finish_rows<T, P, THREADS>(pointer<P>(p.row_ptr), p.finish, here.row, next.row - here.row, here.entry,
                             [&](int k) { return stage[places[k]]; });
}

}  // namespace spmv
}  // namespace purlin

#endif
