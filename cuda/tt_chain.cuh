// Whole products of trains, one block for each. The environment stays in shared memory while slices of cores are copied
// in.
#ifndef PURLIN_TT_CHAIN_CUH
#define PURLIN_TT_CHAIN_CUH

#include "tt_product.cuh"

namespace purlin {
namespace tt {

// The two trains of a product, with the boundary bonds held fixed.
template <class T>
struct Trains {
  const purlin_tt_site *sites;
  const uint64_t *x_bases, *y_bases;
  int64_t x_core_stride, y_core_stride;
  int length, cores;
  int64_t pair_x, pair_y;

  __device__ int core(int k) const { return k < cores ? k : k % cores; }

  // A site as a sweep needs it. Loading one takes longer than using one, so sweeps load the next one in advance.
  struct Place {
    uint64_t x, y;
    int r, r_next, s, s_next, n;
  };
  __device__ Place place(int k) const {
    const int at = core(k);
    const purlin_tt_site &site = sites[at];
    return {x_bases[at * x_core_stride] + site.x_offset,
            y_bases[at * y_core_stride] + site.y_offset,
            site.r,
            site.r_next,
            site.s,
            site.s_next,
            site.n};
  }

  // Slice i of a core r x n x r_next; only one row of the first core and one column of the last.
  __device__ Block<T> slice(uint64_t core, int k, int i, int n, int rows, int cols, int64_t pair) const {
    Block<T> block = {reinterpret_cast<const T *>(core) + static_cast<int64_t>(i) * rows,
                      static_cast<int64_t>(rows) * n, rows, cols};
    if (k == 0) {
      block.from += pair;
      block.rows = 1;
    }
    if (k == length - 1) {
      block.from += block.stride * pair;
      block.cols = 1;
    }
    return block;
  }
  __device__ Block<T> x(const Place &place, int k, int i) const {
    return slice(place.x, k, i, place.n, place.r, place.r_next, pair_x);
  }
  __device__ Block<T> y(const Place &place, int k, int i) const {
    return slice(place.y, k, i, place.n, place.s, place.s_next, pair_y);
  }
};

// Bond values of boundary pair `pair`, in the numbering that the flags select.
__device__ __forceinline__ void boundary(int64_t pair, int64_t pairs_x, int flags, int64_t &x, int64_t &y) {
  if ((flags & PURLIN_LAUNCH_TT_HALVED) == 0) {
    x = pair % pairs_x;
    y = pair / pairs_x;
    return;
  }
  // The root may be off by one after rounding.
  y = static_cast<int64_t>((sqrt(8.0 * static_cast<double>(pair) + 1.0) - 1.0) * 0.5);
  while (y * (y + 1) / 2 > pair) --y;
  while ((y + 1) * (y + 2) / 2 <= pair) ++y;
  x = pair - y * (y + 1) / 2;
}

// The slices in the order in which a sweep uses them: X and Y of each value of the mode, site by site.
template <class T>
struct Cursor {
  int site, step, left, mode;
  bool y;
  typename Trains<T>::Place here, next;

  __device__ Cursor(const Trains<T> &trains, int first, int by, int count)
      : site(first), step(by), left(count), mode(0), y(false) {
    here = trains.place(first);
    next = count > 1 ? trains.place(first + by) : here;
  }
};

template <class T>
__device__ __forceinline__ void fetch_next(const Trains<T> &trains, Cursor<T> &at, T *to, int ld, int threads) {
  if (at.left > 0) {
    const Block<T> block = at.y ? trains.y(at.here, at.site, at.mode) : trains.x(at.here, at.site, at.mode);
    fetch(to, ld, block, padded(block.rows), padded(block.cols), threads);
    if (at.y && ++at.mode == at.here.n) {
      at.mode = 0;
      at.site += at.step;
      --at.left;
      at.here = at.next;
      if (at.left > 1) at.next = trains.place(at.site + at.step);
    }
    at.y = !at.y;
  }
  // Commit a group even if it is empty, because groups are counted.
  copy_commit();
}

// WARPS_M x WARPS_N warps with MI x NJ tiles each.
template <class T, int WARPS_M, int WARPS_N, int MI, int NJ, int DEPTH>
__device__ void chain(const purlin_tt_chain_params &p) {
  using Real = typename Number<T>::Real;
  constexpr int WARPS = WARPS_M * WARPS_N, THREADS = 32 * WARPS;
  const int warp = static_cast<int>(threadIdx.x) / 32, thread = static_cast<int>(threadIdx.x);
  const int ld = p.edge + 4, area = ld * p.edge;
  uint64_t *keys = reinterpret_cast<uint64_t *>(shared_memory());
  uint64_t *product_keys = keys + PURLIN_LAUNCH_TT_CHAIN_KEYS / 2;
  static_assert(WARPS <= PURLIN_LAUNCH_TT_CHAIN_KEYS / 2, "a key for each warp");
  T *environment = reinterpret_cast<T *>(keys + PURLIN_LAUNCH_TT_CHAIN_KEYS);
  T *product = environment + area, *ring = product + area;

  const bool two_ended = (p.flags & PURLIN_LAUNCH_TT_TWO_ENDED) != 0;
  const bool from_right = two_ended && blockIdx.x == 1;
  const bool unscaled = (p.flags & PURLIN_LAUNCH_TT_UNSCALED) != 0;
  const double flip = (p.flags & PURLIN_LAUNCH_TT_CONJUGATE) != 0 ? -1.0 : 1.0;
  const int64_t item = two_ended ? 0 : static_cast<int64_t>(blockIdx.x) / p.pairs;
  const int64_t pair = p.first_pair + (two_ended ? 0 : static_cast<int64_t>(blockIdx.x) % p.pairs);
  const int64_t x_train = p.x_index != 0 ? reinterpret_cast<const int32_t *>(p.x_index)[item] : item;
  const int64_t y_train = p.y_index != 0 ? reinterpret_cast<const int32_t *>(p.y_index)[item] : item;
  Trains<T> trains = {reinterpret_cast<const purlin_tt_site *>(p.sites),
                      reinterpret_cast<const uint64_t *>(p.x_bases) + x_train * p.x_train_stride,
                      reinterpret_cast<const uint64_t *>(p.y_bases) + y_train * p.y_train_stride,
                      p.x_core_stride,
                      p.y_core_stride,
                      p.length,
                      p.cores,
                      0,
                      0};
  const uint64_t *x_keys = reinterpret_cast<const uint64_t *>(p.x_keys) + x_train * p.cores;
  const uint64_t *y_keys = reinterpret_cast<const uint64_t *>(p.y_keys) + y_train * p.cores;
  const bool careful = p.x_keys != 0;
  boundary(pair, p.pairs_x, p.flags, trains.pair_x, trains.pair_y);

  const int count = !two_ended ? p.length : (from_right ? p.length - p.middle : p.middle);
  const int by = from_right ? -1 : 1, start = from_right ? p.length - 1 : 0;
  Cursor<T> cursor(trains, start, by, count);
  for (int k = 0; k + 1 < DEPTH; ++k) fetch_next(trains, cursor, ring + k * area, ld, THREADS);
  for (int j = thread; j < 64; j += THREADS) environment[j % 8 + ld * (j / 8)] = Number<T>::make(j == 0 ? 1.0 : 0.0, 0.0);
  if (thread < WARPS) keys[thread] = product_keys[thread] = key_of(0.5);

  const Share share = share_of_thread<WARPS_N, MI, NJ>();
  int64_t exponent = 0;
  bool doubt = false;
  int rows = 1, cols = 1, used = 0;  // of the environment; slots of the ring that were used
  int carried = 0;                   // the environment is times 2^-carried
  int divided = 0;                   // the last site's products were multiplied by 2^-divided
  // Returns the next slot, complete and visible to all threads. The slot before it is free again and is filled with the
  // next slice.
  const auto next_slot = [&]() {
    copy_wait<DEPTH - 2>();
    __syncthreads();
    fetch_next(trains, cursor, ring + (used + DEPTH - 1) % DEPTH * area, ld, THREADS);
    return static_cast<const T *>(ring + used++ % DEPTH * area);
  };
  int k = start;
  typename Trains<T>::Place here = trains.place(start), following = count > 1 ? trains.place(start + by) : here;
  for (int done = 0; done < count; ++done, k += by) {
    const int n = here.n;
    const Block<T> x = trains.x(here, k, 0), y = trains.y(here, k, 0);
    here = following;
    if (done + 2 < count) following = trains.place(k + 2 * by);
    const int next_rows = from_right ? y.rows : y.cols, next_cols = from_right ? x.rows : x.cols;
    T next[MI][NJ][2];
    clear(next);
    Real factor = Real(1), x_factor = Real(1), y_factor = Real(1);
    Peak<Real> most;
    Care<Real> care;
    if (careful) {
      const int next_x = done + 1 < count ? exponent_of_key<Real>(x_keys[trains.core(k + by)]) : 0;
      care.begin(exponent_of_key<Real>(x_keys[trains.core(k)]), exponent_of_key<Real>(y_keys[trains.core(k)]), next_x, carried);
      x_factor = static_cast<Real>(power_of_two(care.first));
      y_factor = static_cast<Real>(power_of_two(care.second));
      exponent += care.exponent;
    }
    for (int i = 0; i < n; ++i) {
      const T *slot = next_slot();
      if (i == 0) {
        uint64_t key = 0, product_key = 0;
        for (int w = 0; w < WARPS; ++w) {
          key = keys[w] > key ? keys[w] : key;
          product_key = product_keys[w] > product_key ? product_keys[w] : product_key;
        }
        doubt = doubt || is_doubtful<Real>(key) || is_doubtful_product<Real>(product_key, divided);
        const int e = unscaled ? 0 : care.between(exponent_of_key<Real>(key), carried);
        divided = -e;
        factor = static_cast<Real>(power_of_two(e));
        exponent -= e + care.ahead;
      }
      // T[b, a'] = F[b, a] X[a, i, a']; from the right T[b', a] = F[b', a'] X[a, i, a'].
      T sum[MI][NJ][2];
      clear(sum);
      multiply(sum, Factor<T>{environment, 1, ld}, from_right ? Factor<T>{slot, 1, ld} : Factor<T>{slot, ld, 1}, 1.0,
               share, rows, next_cols, cols);
      each(sum, share, padded(rows), padded(next_cols), [&](int row, int col, T value) {
        const T scaled =
            row < rows && col < next_cols ? Number<T>::scaled(Number<T>::scaled(value, x_factor), factor) : T{};
        product[row + ld * col] = scaled;
        add_to(most, scaled);
      });
      // F'[b', a'] += op(Y[b, i, b']) T[b, a']; from the right F[b, a] += op(Y[b, i, b']) T[b', a].
      slot = next_slot();
      multiply(next, from_right ? Factor<T>{slot, 1, ld} : Factor<T>{slot, ld, 1}, Factor<T>{product, ld, 1}, flip, share,
               next_rows, next_cols, rows);
    }
    if (careful)
      each(next, share, padded(next_rows), padded(next_cols),
           [&](int, int, T &value) { value = Number<T>::scaled(value, y_factor); });
    // The environment is no longer read: its last reader was the product before the last barrier.
    each(next, share, padded(next_rows), padded(next_cols), [&](int row, int col, T value) {
      environment[row + ld * col] = row < next_rows && col < next_cols ? value : T{};
    });
    const uint64_t key = largest(next, share, next_rows, next_cols);
    const uint64_t product_key = most.key_of_warp();
    if (thread % 32 == 0) {
      keys[warp] = key;
      product_keys[warp] = product_key;
    }
    rows = next_rows;
    cols = next_cols;
    carried = care.carries;
  }
  __syncthreads();
  uint64_t key = 0, product_key = 0;
  for (int w = 0; w < WARPS; ++w) {
    key = keys[w] > key ? keys[w] : key;
    product_key = product_keys[w] > product_key ? product_keys[w] : product_key;
  }
  doubt = doubt || is_doubtful<Real>(key) || is_doubtful_product<Real>(product_key, divided);
  if (!two_ended) {
    if (thread == 0)
      reinterpret_cast<purlin_tt_result *>(p.results)[blockIdx.x] = {Number<T>::re(environment[0]),
                                                                     Number<T>::im(environment[0]), exponent, doubt};
    return;
  }
  T *out = reinterpret_cast<T *>(p.environments) + (from_right ? p.environment_stride : 0);
  for (int j = thread; j < rows * cols; j += THREADS) out[j] = environment[j % rows + ld * (j / rows)];
  if (thread == 0) {
    purlin_tt_state &state = reinterpret_cast<purlin_tt_state *>(p.states)[from_right ? 1 : 0];
    state.key = key;
    state.exponent = exponent;
    state.doubt = doubt;
  }
}

}  // namespace tt
}  // namespace purlin

#endif
