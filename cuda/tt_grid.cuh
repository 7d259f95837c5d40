// One product of trains by all blocks of a cooperative launch. The tiles of each step are distributed over the blocks,
// which wait for each other between steps.
#ifndef PURLIN_TT_GRID_CUH
#define PURLIN_TT_GRID_CUH

#include "tt_chain.cuh"

namespace purlin {
namespace tt {

// The blocks that work from one end.
struct Group {
  int rank, size;
  uint64_t *arrivals;
  uint64_t round;

  // Waits for all of them. Their writes are visible afterwards.
  __device__ void wait() {
    __syncthreads();
    round += static_cast<uint64_t>(size);
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(reinterpret_cast<unsigned long long *>(arrivals), 1ull);
      while (*static_cast<volatile uint64_t *>(arrivals) < round) pause();
      __threadfence();
    }
    __syncthreads();
  }
};

// A factor of a tiled product in global memory. Its rows run along the summation index (`across`) or along the tile.
template <class T>
struct Operand {
  Block<T> block;
  bool across;
};

template <class T, int TILE>
__device__ __forceinline__ void fetch_panel(T *to, const Operand<T> &operand, int outer, int inner, int threads) {
  constexpr int PANEL = PURLIN_LAUNCH_TT_GRID_PANEL;
  const int all_rows = operand.across ? PANEL : TILE, all_cols = operand.across ? TILE : PANEL, ld = all_rows + 4;
  const int row = operand.across ? inner : outer, col = operand.across ? outer : inner;
  Block<T> part = operand.block;
  part.from += row + part.stride * col;
  part.rows = min(part.rows - row, all_rows);
  part.cols = min(part.cols - col, all_cols);
  fetch(to, ld, part, all_rows, all_cols, threads);
}

// The panel that `fetch_panel` has copied.
template <class T, int TILE>
__device__ __forceinline__ Factor<T> panel(const T *at, bool across) {
  return across ? Factor<T>{at, PURLIN_LAUNCH_TT_GRID_PANEL + 4, 1} : Factor<T>{at, 1, TILE + 4};
}

template <class T, int WARPS_M, int WARPS_N, int MI, int NJ>
__device__ void grid(const purlin_tt_grid_params &p) {
  using Real = typename Number<T>::Real;
  constexpr int WARPS = WARPS_M * WARPS_N, THREADS = 32 * WARPS, TILE = WARPS_M * MI * 8;
  constexpr int PANEL = PURLIN_LAUNCH_TT_GRID_PANEL, AREA = (PANEL + 4) * TILE, DEPTH = PURLIN_LAUNCH_TT_GRID_DEPTH;
  static_assert(WARPS_N * NJ == WARPS_M * MI, "tiles are square");
  static_assert(TILE >= PANEL, "a panel of either form fits");
  const int thread = static_cast<int>(threadIdx.x);
  uint64_t *warp_keys = reinterpret_cast<uint64_t *>(shared_memory());
  T *panels = reinterpret_cast<T *>(warp_keys + PURLIN_LAUNCH_TT_CHAIN_KEYS);

  const bool two_ended = (p.flags & PURLIN_LAUNCH_TT_TWO_ENDED) != 0;
  const int side = two_ended ? static_cast<int>(blockIdx.x) % 2 : 0;
  const bool from_right = side == 1, unscaled = (p.flags & PURLIN_LAUNCH_TT_UNSCALED) != 0;
  const double flip = (p.flags & PURLIN_LAUNCH_TT_CONJUGATE) != 0 ? -1.0 : 1.0;
  purlin_tt_state *state = reinterpret_cast<purlin_tt_state *>(p.states) + side;
  Group group = {two_ended ? static_cast<int>(blockIdx.x) / 2 : static_cast<int>(blockIdx.x),
                 two_ended ? static_cast<int>(gridDim.x) / 2 : static_cast<int>(gridDim.x), &state->arrivals, 0};
  const Trains<T> trains = {reinterpret_cast<const purlin_tt_site *>(p.sites),
                            reinterpret_cast<const uint64_t *>(p.x_bases),
                            reinterpret_cast<const uint64_t *>(p.y_bases),
                            p.core_bases,
                            p.core_bases,
                            p.length,
                            p.cores,
                            p.pair_x,
                            p.pair_y};
  T *space = reinterpret_cast<T *>(p.space) + side * (2 * p.environment_stride + p.product_stride);
  T *products = space + 2 * p.environment_stride;
  const uint64_t *x_keys = reinterpret_cast<const uint64_t *>(p.x_keys);
  const uint64_t *y_keys = reinterpret_cast<const uint64_t *>(p.y_keys);
  const bool careful = p.x_keys != 0;
  uint64_t *site_keys = reinterpret_cast<uint64_t *>(p.keys), *product_keys = site_keys + p.length;
  const Share share = share_of_thread<WARPS_N, MI, NJ>();

  // Adds to `sum` the tile at (row, col) of the sum over `slices` products of `inner` terms. `factors(i, left, right)`
  // returns the factors of the i-th product. The panels of all products are fetched in one queue.
  const auto add_tile = [&](T(&sum)[MI][NJ][2], auto factors, int slices, double sign, int row, int col, int rows, int cols,
                            int inner) {
    // The panels of the previous tile may still be in use.
    __syncthreads();
    const int each = (inner + PANEL - 1) / PANEL, all = slices * each;
    int slice = 0, from = 0;  // of the next panels to be fetched
    const auto fetch_both = [&](int slot) {
      if (slice < slices) {
        Operand<T> left, right;
        factors(slice, left, right);
        fetch_panel<T, TILE>(panels + 2 * slot * AREA, left, row, from, THREADS);
        fetch_panel<T, TILE>(panels + (2 * slot + 1) * AREA, right, col, from, THREADS);
        from += PANEL;
        if (from >= inner) {
          from = 0;
          ++slice;
        }
      }
      // Commit a group even if it is empty, because groups are counted.
      copy_commit();
    };
    for (int slot = 0; slot + 1 < DEPTH; ++slot) fetch_both(slot);
    Operand<T> left, right;
    factors(0, left, right);
    for (int used = 0, k = 0; used < all; ++used) {
      copy_wait<DEPTH - 2>();
      __syncthreads();
      fetch_both((used + DEPTH - 1) % DEPTH);
      const T *at = panels + 2 * (used % DEPTH) * AREA;
      multiply(sum, panel<T, TILE>(at, left.across), panel<T, TILE>(at + AREA, right.across), sign, share, rows - row,
               cols - col, min(PANEL, inner - k));
      k = k + PANEL < inner ? k + PANEL : 0;
    }
  };

  int rows = 1, cols = 1, place = 0;
  uint64_t key = key_of(0.5);
  int64_t exponent = 0;
  bool doubt = false;
  int carried = 0;  // the environment is times 2^-carried
  if (group.rank == 0 && thread == 0) space[0] = Number<T>::make(1.0, 0.0);
  group.wait();

  const int count = !two_ended ? p.length : (from_right ? p.length - p.middle : p.middle);
  const int by = from_right ? -1 : 1;
  int k = from_right ? p.length - 1 : 0;
  typename Trains<T>::Place here = trains.place(k), following = count > 1 ? trains.place(k + by) : here;
  for (int done = 0; done < count; ++done, k += by) {
    const typename Trains<T>::Place now = here;
    here = following;
    if (done + 2 < count) following = trains.place(k + 2 * by);
    const int n = now.n;
    const Block<T> x = trains.x(now, k, 0), y = trains.y(now, k, 0);
    const int next_rows = from_right ? y.rows : y.cols, next_cols = from_right ? x.rows : x.cols;
    const T *environment = space + place * p.environment_stride;
    T *next = space + (1 - place) * p.environment_stride;
    doubt = doubt || is_doubtful<Real>(key);
    Real x_factor = Real(1), y_factor = Real(1);
    Care<Real> care;
    if (careful) {
      const int next_x = done + 1 < count ? exponent_of_key<Real>(x_keys[trains.core(k + by)]) : 0;
      care.begin(exponent_of_key<Real>(x_keys[trains.core(k)]), exponent_of_key<Real>(y_keys[trains.core(k)]), next_x, carried);
      x_factor = static_cast<Real>(power_of_two(care.first));
      y_factor = static_cast<Real>(power_of_two(care.second));
      exponent += care.exponent;
    }
    const int e = unscaled ? 0 : care.between(exponent_of_key<Real>(key), carried);
    const Real factor = static_cast<Real>(power_of_two(e));
    exponent -= e + care.ahead;

    const int64_t slice = static_cast<int64_t>(rows) * next_cols;
    {
      const int high = (rows + TILE - 1) / TILE, wide = (next_cols + TILE - 1) / TILE;
      const int64_t tiles = static_cast<int64_t>(high) * wide * n;
      Peak<Real> most;
      for (int64_t tile = group.rank; tile < tiles; tile += group.size) {
        const int i = static_cast<int>(tile / (static_cast<int64_t>(high) * wide));
        const int in_slice = static_cast<int>(tile % (static_cast<int64_t>(high) * wide));
        const int row = in_slice % high * TILE, col = in_slice / high * TILE;
        T sum[MI][NJ][2];
        clear(sum);
        const auto factors = [&](int, Operand<T> &left, Operand<T> &right) {
          left = Operand<T>{{environment, rows, rows, cols}, false};
          right = Operand<T>{trains.x(now, k, i), !from_right};
        };
        add_tile(sum, factors, 1, 1.0, row, col, rows, next_cols, cols);
        T *out = products + i * slice;
        each(sum, share, rows - row, next_cols - col, [&](int r, int c, T value) {
          if (row + r < rows && col + c < next_cols) {
            const T scaled = Number<T>::scaled(Number<T>::scaled(value, x_factor), factor);
            out[row + r + static_cast<int64_t>(rows) * (col + c)] = scaled;
            add_to(most, scaled);
          }
        });
      }
      const uint64_t product_key = most.key_of_warp();
      if (thread % 32 == 0 && product_key != 0)
        atomicMax(reinterpret_cast<unsigned long long *>(product_keys + k), static_cast<unsigned long long>(product_key));
    }
    group.wait();
    doubt = doubt || is_doubtful_product<Real>(*static_cast<volatile uint64_t *>(product_keys + k), -e);
    {
      const int high = (next_rows + TILE - 1) / TILE, wide = (next_cols + TILE - 1) / TILE;
      const int tiles = high * wide;
      uint64_t most = 0;
      for (int tile = group.rank; tile < tiles; tile += group.size) {
        const int row = tile % high * TILE, col = tile / high * TILE;
        T sum[MI][NJ][2];
        clear(sum);
        const auto factors = [&](int i, Operand<T> &left, Operand<T> &right) {
          left = Operand<T>{trains.y(now, k, i), !from_right};
          right = Operand<T>{{products + i * slice, rows, rows, next_cols}, true};
        };
        add_tile(sum, factors, n, flip, row, col, next_rows, next_cols, rows);
        each(sum, share, next_rows - row, next_cols - col, [&](int r, int c, T &value) {
          value = Number<T>::scaled(value, y_factor);
          if (row + r < next_rows && col + c < next_cols)
            next[row + r + static_cast<int64_t>(next_rows) * (col + c)] = value;
        });
        const uint64_t here = largest(sum, share, next_rows - row, next_cols - col);
        most = here > most ? here : most;
      }
      // The largest of unsigned numbers does not depend on the order.
      if (thread % 32 == 0 && most != 0)
        atomicMax(reinterpret_cast<unsigned long long *>(site_keys + k), static_cast<unsigned long long>(most));
    }
    group.wait();
    key = *static_cast<volatile uint64_t *>(site_keys + k);
    place = 1 - place;
    rows = next_rows;
    cols = next_cols;
    carried = care.carries;
  }
  if (group.rank == 0 && thread == 0) {
    state->key = key;
    state->exponent = exponent;
    state->doubt = doubt || is_doubtful<Real>(key);
    reinterpret_cast<int32_t *>(p.places)[side] = place;
  }
}

}  // namespace tt
}  // namespace purlin

#endif
