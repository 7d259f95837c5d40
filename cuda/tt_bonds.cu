// Magnitudes of the numbers at the bonds of tensor trains. See tt_bonds_launch.h.
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
    uint64_t least = ~0ull, some = ~0ull, smallest = ~0ull;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * COLUMNS; first < core.s;
         first += static_cast<int64_t>(gridDim.x) * COLUMNS) {
      const int width = static_cast<int>(core.s - first < COLUMNS ? core.s - first : COLUMNS);
      if (threadIdx.x < COLUMNS) columns[threadIdx.x] = 0;
      __syncthreads();
      // All threads of a warp take part in every iteration, because they exchange numbers.
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
                if (other != 0 && other < smallest) smallest = other;
              }
            }
          }
          row = key > row ? key : row;
          if (a < core.r && key < least) least = key;
          if (key != 0 && key < some) some = key;
          key = warp_max(key);
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
    // Keys are initially 0, so the complement of the least key is stored by a maximum.
    least = warp_max(~least);
    some = warp_max(~some);
    smallest = warp_max(~smallest);
    if (threadIdx.x % 32 == 0 && least != 0) atomicMax(keys + core.more, static_cast<unsigned long long>(least));
    if (threadIdx.x % 32 == 0 && some != 0) atomicMax(keys + core.more + 2, static_cast<unsigned long long>(some));
    if (threadIdx.x % 32 == 0 && smallest != 0)
      atomicMax(keys + core.more + 3, static_cast<unsigned long long>(smallest));
  }
}

constexpr int FAR = 1 << 20;

// The change that a core makes to the exponent differences of the products that pass through it, in one direction.
struct Step {
  int64_t more;    // the core's four words among the keys
  int spread;      // exponents between the largest and the least key of the far side
  int range;       // exponents between the largest key and the least of a pair of values
  int before;      // the bound of the other direction; read on the way back only
  bool has_range;  // whether all pairs of values have finite numbers
  bool is_whole;   // whether no key of the far side is 0
  bool is_single;  // whether the far side has one value
};

// Computed by a warp for a core whose far side has these keys; `top` becomes the largest exponent there.
__device__ Step step_of(const uint64_t *side, int64_t count, const uint64_t *more, int &top) {
  int low = FAR, high = -FAR;
  bool has_zero = false;
  for (int64_t j = threadIdx.x % 32; j < count; j += 32) {
    const uint64_t key = side[j];
    if (key == 0) {
      has_zero = true;
    } else if (is_finite_key(key)) {
      const int exponent = exponent_of_key<double>(key);
      low = exponent < low ? exponent : low;
      high = exponent > high ? exponent : high;
    }
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    const int lower = __shfl_xor_sync(~0u, low, distance), higher = __shfl_xor_sync(~0u, high, distance);
    low = lower < low ? lower : low;
    high = higher > high ? higher : high;
  }
  top = high >= low ? high : 0;
  const uint64_t complement = more[0], least = ~complement;
  const bool has_range = complement != 0 && least != 0 && is_finite_key(least);
  Step step;
  step.spread = high >= low ? high - low : 0;
  step.range = has_range ? top - exponent_of_key<double>(least) : 0;
  step.has_range = has_range;
  step.is_whole = __any_sync(~0u, has_zero) == 0;
  step.is_single = count == 1;
  return step;
}

// Bound of the exponent differences of the products that reach the values of a bond, and whether a product reaches
// every value.
struct Carried {
  int apart;
  bool is_whole;
};

__device__ Carried behind(Carried now, const Step &step) {
  Carried next{now.is_whole ? now.apart + step.spread : FAR, now.is_whole && step.is_whole};
  if (step.has_range) next = Carried{step.range < next.apart ? step.range : next.apart, true};
  if (!next.is_whole || next.apart > FAR) next.apart = FAR;
  return step.is_single ? Carried{0, true} : next;
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
  constexpr int FAR = tt::FAR;
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

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_CARRIED_THREADS)
    purlin_tt_carried(const __grid_constant__ purlin_tt_carried_params p) {
  constexpr int CORES = PURLIN_LAUNCH_TT_CARRIED_CORES;
  __shared__ tt::Step steps[CORES];
  for (int64_t item = blockIdx.x; item < p.count * p.trains; item += gridDim.x) {
    const int64_t train = item / p.count;
    const purlin_tt_chain chain = reinterpret_cast<const purlin_tt_chain *>(p.chains)[item % p.count];
    const purlin_tt_bond_core *cores = reinterpret_cast<const purlin_tt_bond_core *>(p.cores) + chain.first;
    uint64_t *keys = reinterpret_cast<uint64_t *>(p.keys) + train * p.stride;
    const int turns = chain.closed != 0 ? 2 : 1;
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    bool is_far = false, is_wide = false;
    // Warps summarize cores, and the first thread goes from core to core.
    tt::Carried now{0, true};
    for (int turn = 0; turn < turns; ++turn) {
      const int before = now.apart;
      for (int64_t first = 0; first < chain.count; first += CORES) {
        const int width = static_cast<int>(chain.count - first < CORES ? chain.count - first : CORES);
        for (int k = warp; k < width; k += warps) {
          const purlin_tt_bond_core core = cores[first + k];
          int top;
          tt::Step step = tt::step_of(keys + core.columns, core.s, keys + core.more, top);
          const uint64_t least = ~keys[core.more + 3];
          if (~least != 0 && tt::is_finite_key(least)) {
            const int apart = top - tt::exponent_of_key<double>(least);
            is_wide |= apart > p.apart || apart + abs(top) > p.away;
          }
          step.more = core.more;
          if (threadIdx.x % 32 == 0) steps[k] = step;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
          for (int k = 0; k < width; ++k) {
            now = tt::behind(now, steps[k]);
            keys[steps[k].more + 1] = static_cast<uint64_t>(now.apart);
          }
        }
        __syncthreads();
      }
      is_far = turn > 0 && now.apart > before;
    }
    now = tt::Carried{0, true};
    for (int turn = 0; turn < turns; ++turn) {
      const int before = now.apart;
      for (int64_t end = chain.count; end > 0; end -= end < CORES ? end : CORES) {
        const int width = static_cast<int>(end < CORES ? end : CORES);
        for (int k = warp; k < width; k += warps) {
          const purlin_tt_bond_core core = cores[end - 1 - k];
          int top;
          tt::Step step = tt::step_of(keys + core.rows, core.r, keys + core.more, top);
          step.before = static_cast<int>(keys[core.more + 1]);
          if (threadIdx.x % 32 == 0) steps[k] = step;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
          for (int k = 0; k < width; ++k) {
            if (turn + 1 == turns) is_far |= now.apart + static_cast<int64_t>(steps[k].before) > 2 * p.limit;
            now = tt::behind(now, steps[k]);
          }
        }
        __syncthreads();
      }
      is_far |= turn > 0 && now.apart > before;
    }
    const bool any_wide = __syncthreads_or(is_wide) != 0;
    if (threadIdx.x == 0 && is_far) reinterpret_cast<double *>(p.to)[train * p.to_stride] = nan("");
    if (threadIdx.x == 0 && any_wide) reinterpret_cast<double *>(p.wide)[train * p.to_stride] = nan("");
  }
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_BONDS_THREADS)
    purlin_tt_near(const __grid_constant__ purlin_tt_near_params p) {
  // Sums of whole numbers do not depend on the order.
  constexpr double UNITS = 256;
  __shared__ unsigned long long all, widest;
  __shared__ int zeros, infinite;
  for (int64_t item = blockIdx.x; item < p.count * p.trains; item += gridDim.x) {
    const int64_t train = item / p.count;
    const purlin_tt_chain chain = reinterpret_cast<const purlin_tt_chain *>(p.chains)[item % p.count];
    if (chain.closed == 0) continue;
    const purlin_tt_bond_core *cores = reinterpret_cast<const purlin_tt_bond_core *>(p.cores) + chain.first;
    const uint64_t *keys = reinterpret_cast<const uint64_t *>(p.keys) + train * p.stride;
    if (threadIdx.x == 0) {
      all = 0;
      widest = 0;
      zeros = 0;
      infinite = 0;
    }
    __syncthreads();
    for (int64_t k = threadIdx.x / 32; k < chain.count; k += blockDim.x / 32) {
      const purlin_tt_bond_core core = cores[k];
      uint64_t top = 0;
      for (int64_t j = threadIdx.x % 32; j < core.s; j += 32) {
        const uint64_t key = keys[core.columns + j];
        top = key > top ? key : top;
      }
      top = purlin::warp_max(top);
      if (threadIdx.x % 32 != 0) continue;
      if (~keys[core.more] == 0) atomicMax(&zeros, 1);
      if (top == 0) continue;
      if (!tt::is_finite_key(top)) {
        atomicMax(&infinite, 1);
        continue;
      }
      const double range = tt::log_of_key(top) - tt::log_of_key(~keys[core.more + 2]);
      const unsigned long long units = static_cast<unsigned long long>(ceil(UNITS * (range > 0 ? range : 0)));
      atomicAdd(&all, units);
      atomicMax(&widest, units);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      const double most = UNITS * p.half;
      const bool is_near = static_cast<double>(all) * static_cast<double>(chain.turns) <= most ||
                           (zeros == 0 && 2.0 * static_cast<double>(widest) <= most);
      if (infinite == 0 && !is_near) reinterpret_cast<double *>(p.to)[train * p.to_stride] = nan("");
    }
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
    key = purlin::warp_max(key);
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
