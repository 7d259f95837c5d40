// Inner products of tensor trains. See tt_launch.h.
#include "tt_chain.cuh"
#include "tt_grid.cuh"
#include "tt_sum.cuh"

namespace purlin {
namespace tt {

template <class T>
__device__ void join(const purlin_tt_join_params &p) {
  using Real = typename Number<T>::Real;
  const purlin_tt_state *states = reinterpret_cast<const purlin_tt_state *>(p.states);
  const int32_t *places = reinterpret_cast<const int32_t *>(p.places);
  const T *left = reinterpret_cast<const T *>(p.left) + (places != nullptr ? places[0] * p.stride : 0);
  const T *right = reinterpret_cast<const T *>(p.right);
  const bool unscaled = (p.flags & PURLIN_LAUNCH_TT_UNSCALED) != 0;
  const double flip = (p.flags & PURLIN_LAUNCH_TT_JOIN_CONJUGATE) != 0 ? -1.0 : 1.0;
  const int q_left = unscaled ? 0 : exponent_of_key<Real>(states[0].key);
  int64_t exponent = states[0].exponent + q_left, doubt = states[0].doubt;
  const double factor = power_of_two(-q_left);
  double re = 0.0, im = 0.0, other = 1.0;
  if (right != nullptr) {
    right += places != nullptr ? places[1] * p.stride : 0;
    const int q_right = unscaled ? 0 : exponent_of_key<Real>(states[1].key);
    exponent += states[1].exponent + q_right;
    doubt |= states[1].doubt;
    other = power_of_two(-q_right);
  }
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < p.count; j += step) {
    const Complex<double> a = {factor * Number<T>::re(left[j]), factor * Number<T>::im(left[j])};
    Complex<double> b = {1.0, 0.0};
    if (right != nullptr) b = {other * Number<T>::re(right[j]), other * Number<T>::im(right[j])};
    add_product(re, im, a, b, flip);
  }
  block_sum(re, im);
  // A factorization between a measurement and this sum may have removed a NaN.
  if ((doubt & PURLIN_LAUNCH_TT_NOT_FINITE) != 0) re = im = nan("");
  if (threadIdx.x == 0) reinterpret_cast<purlin_tt_result *>(p.results)[blockIdx.x] = {re, im, exponent, doubt};
}

// The largest key of `count` elements over all blocks. Returns true only for thread 0 of the last block to arrive,
// which resets key and arrivals to 0.
template <class T>
__device__ bool last_key(const T *environment, int64_t count, purlin_tt_state *state, uint64_t &all) {
  uint64_t key = 0;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < count; j += step) {
    const uint64_t other = key_of_number(environment[j]);
    key = other > key ? other : key;
  }
  key = warp_max(key);
  // The largest of unsigned numbers does not depend on the order.
  if (threadIdx.x % 32 == 0 && key != 0)
    atomicMax(reinterpret_cast<unsigned long long *>(&state->key), static_cast<unsigned long long>(key));
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0) return false;
  const unsigned long long before = atomicAdd(reinterpret_cast<unsigned long long *>(&state->arrivals), 1ull);
  if (before + 1 != gridDim.x) return false;
  __threadfence();
  all = *static_cast<volatile uint64_t *>(&state->key);
  state->key = 0;
  state->arrivals = 0;
  return true;
}

template <class T>
__device__ void measure(const purlin_tt_measure_params &p) {
  using Real = typename Number<T>::Real;
  purlin_tt_state *state = reinterpret_cast<purlin_tt_state *>(p.state);
  uint64_t all = 0;
  if (!last_key(reinterpret_cast<const T *>(p.environment), p.count, state, all)) return;
  const int q = (p.flags & PURLIN_LAUNCH_TT_UNSCALED) != 0 ? 0 : exponent_of_key<Real>(all);
  *reinterpret_cast<T *>(state->alpha) = Number<T>::make(power_of_two(-q), 0.0);
  state->exponent += q;
  if (is_doubtful<Real>(all)) state->doubt |= PURLIN_LAUNCH_TT_DOUBTFUL;
  if (!is_finite_key(all)) state->doubt |= PURLIN_LAUNCH_TT_NOT_FINITE;
}

template <class T>
__device__ void factors(const purlin_tt_factors_params &p) {
  using Real = typename Number<T>::Real;
  purlin_tt_state *state = reinterpret_cast<purlin_tt_state *>(p.state);
  uint64_t all = 0;
  if (!last_key(reinterpret_cast<const T *>(p.environment), p.count, state, all)) return;
  const int first = exponent_at<Real>(p.first_key);
  const int second = exponent_at<Real>(p.second_key), next = exponent_at<Real>(p.next_key);
  int q = exponent_of_key<Real>(all);
  if (p.count == 1) {
    // The 1 before the first site has not been divided in advance.
    T *one = reinterpret_cast<T *>(p.environment);
    const int by = ordinary<Real>(-q - ahead<Real>(first));
    *one = Number<T>::make(power_of_two(by) * Number<T>::re(*one), power_of_two(by) * Number<T>::im(*one));
    state->exponent -= by;
    q += by;
  }
  const int a = ordinary<Real>(-q - first - ahead<Real>(second));
  const int b = ordinary<Real>(ahead<Real>(second) - second - ahead<Real>(next));
  // A library may multiply by its factor first. In single precision that leaves the range for such cores. NaN is better
  // than a result that has lost its digits.
  const bool is_far = sizeof(Real) == 4 && (first != ahead<Real>(first) || second != ahead<Real>(second));
  *reinterpret_cast<T *>(state->alpha) = Number<T>::make(is_far ? nan("") : power_of_two(a), 0.0);
  *reinterpret_cast<T *>(p.second) = Number<T>::make(power_of_two(b), 0.0);
  state->exponent -= a + b;
}

template <class T>
__device__ void scale(const purlin_tt_measure_params &p) {
  const purlin_tt_state *state = reinterpret_cast<const purlin_tt_state *>(p.state);
  T *environment = reinterpret_cast<T *>(p.environment);
  const double factor = Number<T>::re(*reinterpret_cast<const T *>(state->alpha));
  if (factor == 1.0) return;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < p.count; j += step) {
    const double re = Number<T>::re(environment[j]), im = Number<T>::im(environment[j]);
    environment[j] = Number<T>::make(factor * re, factor * im);
  }
}

template <class T>
__device__ void begin(const purlin_tt_edge_params &p) {
  const T *x = reinterpret_cast<const T *>(p.x), *y = reinterpret_cast<const T *>(p.y);
  T *environment = reinterpret_cast<T *>(p.environment);
  const double flip = (p.flags & PURLIN_LAUNCH_TT_CONJUGATE) != 0 ? -1.0 : 1.0;
  using Real = typename Number<T>::Real;
  const int q_x = exponent_at<Real>(p.x_key), q_y = exponent_at<Real>(p.y_key), q = ahead<Real>(exponent_at<Real>(p.next_key));
  const double by_x = power_of_two(-q_x), by_y = power_of_two(-q_y), by = power_of_two(-q);
  if (p.x_key != 0 && blockIdx.x == 0 && threadIdx.x == 0)
    reinterpret_cast<purlin_tt_state *>(p.state)->exponent = q_x + q_y + q;
  const int64_t count = p.s * p.pairs * p.r, step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < count; j += step) {
    const bool apart = (p.flags & PURLIN_LAUNCH_TT_APART) != 0;
    const int64_t b = j % p.s, rest = j / p.s, inner = apart ? p.r : p.pairs;
    const int64_t pair = apart ? rest / inner : rest % inner, a = apart ? rest % inner : rest / inner;
    int64_t pair_x, pair_y;
    boundary(p.first_pair + pair, p.pairs_x, static_cast<int>(p.flags), pair_x, pair_y);
    double re = 0.0, im = 0.0;
    for (int64_t i = 0; i < p.n; ++i)
      add_product(re, im, x[pair_x + p.pairs_x * (i + p.n * a)], y[pair_y + p.pairs_y * (i + p.n * b)], flip, by_x, by_y);
    environment[j] = Number<T>::make(by * re, by * im);
  }
}

template <class T>
__device__ void end(const purlin_tt_edge_params &p) {
  const purlin_tt_state *state = reinterpret_cast<const purlin_tt_state *>(p.state);
  const double flip = (p.flags & PURLIN_LAUNCH_TT_CONJUGATE) != 0 ? -1.0 : 1.0;
  const double alpha = Number<T>::re(*reinterpret_cast<const T *>(state->alpha));
  using Real = typename Number<T>::Real;
  const int q_x = exponent_at<Real>(p.x_key), q_y = exponent_at<Real>(p.y_key);
  const double by_x = power_of_two(-q_x), by_y = power_of_two(-q_y);
  const int64_t pair = blockIdx.x;
  int64_t pair_x, pair_y;
  boundary(p.first_pair + pair, p.pairs_x, static_cast<int>(p.flags), pair_x, pair_y);
  const T *x = reinterpret_cast<const T *>(p.x) + p.r * p.n * pair_x;
  const T *y = reinterpret_cast<const T *>(p.y) + p.s * p.n * pair_y;
  const bool apart = (p.flags & PURLIN_LAUNCH_TT_APART) != 0;
  const T *environment = reinterpret_cast<const T *>(p.environment) + p.s * pair * (apart ? p.r : 1);
  const int64_t step = p.s * (apart ? 1 : p.pairs);
  double re = 0.0, im = 0.0;
  for (int64_t j = threadIdx.x; j < p.s * p.r; j += blockDim.x) {
    const int64_t b = j % p.s, a = j / p.s;
    double sum_re = 0.0, sum_im = 0.0;
    for (int64_t i = 0; i < p.n; ++i) add_product(sum_re, sum_im, x[a + p.r * i], y[b + p.s * i], flip, by_x, by_y);
    const T value = environment[b + step * a];
    const Complex<double> scaled = {alpha * Number<T>::re(value), alpha * Number<T>::im(value)};
    add_product(re, im, scaled, Complex<double>{sum_re, sum_im}, 1.0);
  }
  block_sum(re, im);
  if (threadIdx.x == 0)
    reinterpret_cast<purlin_tt_result *>(p.results)[pair] = {re, im, state->exponent + q_x + q_y, state->doubt};
}

template <class T>
__device__ void keys(const purlin_tt_keys_params &p) {
  for (int64_t k = blockIdx.y; k < p.count; k += gridDim.y) {
    const T *core = reinterpret_cast<const T *>(reinterpret_cast<const uint64_t *>(p.bases)[k]);
    const int64_t size = reinterpret_cast<const int64_t *>(p.sizes)[k];
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    uint64_t key = 0;
    for (int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < size; j += step) {
      const uint64_t other = key_of_number(core[j]);
      key = other > key ? other : key;
    }
    key = warp_max(key);
    if (threadIdx.x % 32 == 0 && key != 0)
      atomicMax(reinterpret_cast<unsigned long long *>(p.keys) + k, static_cast<unsigned long long>(key));
  }
}

template <class R>
__device__ void promote(const purlin_tt_promote_params &p) {
  const R *input = reinterpret_cast<const R *>(p.input);
  Complex<R> *output = reinterpret_cast<Complex<R> *>(p.output);
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < p.count; j += step)
    output[j] = {input[j], R(0)};
}

}  // namespace tt
}  // namespace purlin

namespace tt = purlin::tt;

#define CHAIN(NAME, FORM, TYPE, M, N, MI, NJ, THREADS, DEPTH, RESIDENT)                                              \
  extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)                                                    \
      purlin_tt_chain_##FORM##_##NAME(const __grid_constant__ purlin_tt_chain_params p) {                            \
    static_assert(32 * M * N == THREADS, "threads of a form");                                                       \
    tt::chain<TYPE, M, N, MI, NJ, DEPTH>(p);                                                                         \
  }
#define GRID(NAME, FORM, TYPE, M, N, MI, NJ, THREADS)                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
      purlin_tt_grid_##FORM##_##NAME(const __grid_constant__ purlin_tt_grid_params p) {                              \
    static_assert(32 * M * N == THREADS, "threads of a form");                                                       \
    tt::grid<TYPE, M, N, MI, NJ>(p);                                                                                 \
  }
#define PLAIN(NAME, KERNEL, TYPE, PARAMS)                                                                            \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_SUM_THREADS)                                         \
      purlin_tt_##KERNEL##_##NAME(const __grid_constant__ PARAMS p) {                                                \
    tt::KERNEL<TYPE>(p);                                                                                             \
  }
// For the forms for many products, a multiprocessor holds at least MANY_A and MANY_B blocks, which fit into its shared
// memory.
#define KERNELS(NAME, TYPE, MANY_A, MANY_B)                                                                          \
  CHAIN(NAME, a, TYPE, 1, 1, 2, 2, PURLIN_LAUNCH_TT_CHAIN_A_THREADS, PURLIN_LAUNCH_TT_CHAIN_A_DEPTH, MANY_A)         \
  CHAIN(NAME, b, TYPE, 2, 2, 2, 2, PURLIN_LAUNCH_TT_CHAIN_B_THREADS, PURLIN_LAUNCH_TT_CHAIN_B_DEPTH, MANY_B)         \
  CHAIN(NAME, c, TYPE, 4, 4, 1, 1, PURLIN_LAUNCH_TT_CHAIN_C_THREADS, PURLIN_LAUNCH_TT_CHAIN_C_DEPTH, 1)              \
  CHAIN(NAME, d, TYPE, 2, 4, 4, 2, PURLIN_LAUNCH_TT_CHAIN_D_THREADS, PURLIN_LAUNCH_TT_CHAIN_D_DEPTH, 1)              \
  GRID(NAME, s, TYPE, 2, 2, 2, 2, PURLIN_LAUNCH_TT_GRID_S_THREADS)                                                   \
  GRID(NAME, l, TYPE, 2, 4, 4, 2, PURLIN_LAUNCH_TT_GRID_L_THREADS)                                                   \
  PLAIN(NAME, join, TYPE, purlin_tt_join_params)                                                                     \
  PLAIN(NAME, measure, TYPE, purlin_tt_measure_params)                                                               \
  PLAIN(NAME, factors, TYPE, purlin_tt_factors_params)                                                               \
  PLAIN(NAME, scale, TYPE, purlin_tt_measure_params)                                                                 \
  PLAIN(NAME, begin, TYPE, purlin_tt_edge_params)                                                                    \
  PLAIN(NAME, end, TYPE, purlin_tt_edge_params)                                                                      \
  PLAIN(NAME, keys, TYPE, purlin_tt_keys_params)

KERNELS(f32, float, 16, 4)
KERNELS(f64, double, 16, 4)
KERNELS(cf32, tt::Complex<float>, 16, 4)
KERNELS(cf64, tt::Complex<double>, 8, 2)
PLAIN(f32, promote, float, purlin_tt_promote_params)
PLAIN(f64, promote, double, purlin_tt_promote_params)
