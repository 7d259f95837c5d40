// Sizes of what bonds of tensor trains carry. See tt_bonds_launch.h.
#include "tt_bonds_launch.h"
#include "tt_number.cuh"

namespace purlin {
namespace tt {

template <class R>
__device__ void bonds(const purlin_tt_bonds_params &p) {
  constexpr int COLUMNS = PURLIN_LAUNCH_TT_BONDS_COLUMNS;
  __shared__ unsigned long long columns[COLUMNS];
  const uint64_t *bases = reinterpret_cast<const uint64_t *>(p.bases);
  for (int64_t item = blockIdx.y; item < p.count * p.trains; item += gridDim.y) {
    const int64_t train = item / p.count;
    const purlin_tt_bond_core core = reinterpret_cast<const purlin_tt_bond_core *>(p.cores)[item % p.count];
    const R *numbers = reinterpret_cast<const R *>(core.address + (bases != nullptr ? bases[train] : 0));
    unsigned long long *keys = reinterpret_cast<unsigned long long *>(p.keys) + train * p.stride;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * COLUMNS; first < core.s;
         first += static_cast<int64_t>(gridDim.x) * COLUMNS) {
      const int width = static_cast<int>(core.s - first < COLUMNS ? core.s - first : COLUMNS);
      if (threadIdx.x < COLUMNS) columns[threadIdx.x] = 0;
      __syncthreads();
      // All threads of a warp take part in every turn: they exchange numbers.
      for (int64_t start = 0; start < core.r; start += blockDim.x) {
        const int64_t a = start + threadIdx.x;
        uint64_t row = 0;
        for (int b = 0; b < width; ++b) {
          uint64_t key = 0;
          if (a < core.r) {
            for (int64_t i = 0; i < core.n; ++i) {
              const R *element = numbers + p.parts * (a + core.r * (i + core.n * (first + b)));
              for (int64_t part = 0; part < p.parts; ++part) {
                const uint64_t other = key_of(static_cast<double>(element[part]));
                key = other > key ? other : key;
              }
            }
          }
          row = key > row ? key : row;
          key = warp_max_key(key);
          if (threadIdx.x % 32 == 0 && key != 0) atomicMax(columns + b, static_cast<unsigned long long>(key));
        }
        // The largest of unsigned numbers does not depend on the order.
        if (row != 0) atomicMax(keys + core.rows + a, static_cast<unsigned long long>(row));
      }
      __syncthreads();
      if (threadIdx.x < width && columns[threadIdx.x] != 0)
        atomicMax(keys + core.columns + first + threadIdx.x, columns[threadIdx.x]);
      __syncthreads();
    }
  }
}

}  // namespace tt
}  // namespace purlin

namespace tt = purlin::tt;

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_BONDS_THREADS)
    purlin_tt_bonds_f32(const __grid_constant__ purlin_tt_bonds_params p) {
  tt::bonds<float>(p);
}
extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_BONDS_THREADS)
    purlin_tt_bonds_f64(const __grid_constant__ purlin_tt_bonds_params p) {
  tt::bonds<double>(p);
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_BONDS_THREADS)
    purlin_tt_spread(const __grid_constant__ purlin_tt_spread_params p) {
  __shared__ int low, high;
  constexpr int FAR = 1 << 20;
  for (int64_t item = blockIdx.x; item < p.count * p.trains; item += gridDim.x) {
    const int64_t train = item / p.count;
    const purlin_tt_bond bond = reinterpret_cast<const purlin_tt_bond *>(p.bonds)[item % p.count];
    const uint64_t *keys = reinterpret_cast<const uint64_t *>(p.keys) + train * p.stride;
    if (threadIdx.x == 0) {
      low = FAR;
      high = -FAR;
    }
    __syncthreads();
    for (int64_t j = threadIdx.x; j < bond.count; j += blockDim.x) {
      const uint64_t column = keys[bond.columns + j], row = keys[bond.rows + j];
      if (column == 0 || row == 0 || !tt::is_finite_key(column) || !tt::is_finite_key(row)) continue;
      const int difference = tt::exponent_of_key<double>(column) - tt::exponent_of_key<double>(row);
      // An arithmetic shift rounds down.
      const int half = difference >> 1;
      atomicMin(&low, half);
      atomicMax(&high, half);
    }
    __syncthreads();
    if (threadIdx.x == 0 && high - low > p.limit)
      reinterpret_cast<double *>(p.to)[train * p.to_stride] = nan("");
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_BONDS_THREADS)
    purlin_tt_largest(const __grid_constant__ purlin_tt_largest_params p) {
  for (int64_t item = blockIdx.x; item < p.count; item += gridDim.x) {
    const purlin_tt_bond_core core = reinterpret_cast<const purlin_tt_bond_core *>(p.cores)[item];
    const uint64_t *columns = reinterpret_cast<const uint64_t *>(p.keys) + core.columns;
    uint64_t key = 0;
    for (int64_t j = threadIdx.x; j < core.s; j += blockDim.x) key = columns[j] > key ? columns[j] : key;
    key = tt::warp_max_key(key);
    if (threadIdx.x % 32 == 0 && key != 0)
      atomicMax(reinterpret_cast<unsigned long long *>(p.to) + item, static_cast<unsigned long long>(key));
  }
}

extern "C" __global__ void __launch_bounds__(32) purlin_tt_graded(const __grid_constant__ purlin_tt_graded_params p) {
  if (threadIdx.x != 0) return;
  const uint64_t *keys = reinterpret_cast<const uint64_t *>(p.keys);
  int64_t difference = 0;
  for (int64_t i = 0; i < p.count; ++i) {
    const int first = tt::exponent_of_key<double>(keys[i]);
    const int second = p.trains > 1 ? tt::exponent_of_key<double>(keys[p.count + i]) : 0;
    difference += first - second;
    const bool far = first > p.one || -first > p.one || second > p.one || -second > p.one;
    if (far || (p.trains > 1 && (difference > p.apart || -difference > p.apart))) {
      *reinterpret_cast<double *>(p.to) = nan("");
      return;
    }
  }
}
