// Operators between tensor trains: kernels used between the products of a library. See tt_operator_launch.h.
#include "tt_number.cuh"
#include "tt_operator_launch.h"
#include "tt_sum.cuh"

namespace purlin {
namespace tt {

__device__ __forceinline__ int64_t first_of_thread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t all_threads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

template <class T>
__device__ void turn(const purlin_tt_turn_params &p) {
  using Real = typename Number<T>::Real;
  const Real *input = reinterpret_cast<const Real *>(p.input);
  T *output = reinterpret_cast<T *>(p.output);
  const bool mirror = (p.flags & PURLIN_LAUNCH_TT_TURN_MIRROR) != 0, widen = (p.flags & PURLIN_LAUNCH_TT_TURN_WIDEN) != 0;
  const int64_t count = p.left * p.n * p.right;
  const int exponent = static_cast<int>(p.exponent);
  for (int64_t j = first_of_thread(); j < count; j += all_threads()) {
    int64_t at = j;
    if (mirror) {
      const int64_t b = j % p.right, i = j / p.right % p.n, a = j / p.right / p.n;
      at = a + p.left * (i + p.n * b);
    }
    double re, im = 0.0;
    if (Number<T>::COMPLEX && !widen) {
      re = input[2 * at];
      im = input[2 * at + 1];
    } else {
      re = input[at];
    }
    if (exponent != 0) {
      re = scalbn(re, -exponent);
      im = scalbn(im, -exponent);
    }
    output[j] = Number<T>::make(re, im);
  }
}

__device__ __forceinline__ void add_term(double &sum, double x, double re, double) { sum = fma(x, re, sum); }
__device__ __forceinline__ void add_term(float &sum, float x, double re, double) { sum = fmaf(x, static_cast<float>(re), sum); }
template <class R>
__device__ __forceinline__ void add_term(Complex<R> &sum, Complex<R> x, double re, double im) {
  const R a = static_cast<R>(re), b = static_cast<R>(im);
  sum.re = fma(x.re, a, sum.re);
  sum.im = fma(x.im, a, sum.im);
  // A real factor must not spread a NaN or infinity of one part to the other.
  if (b != R(0)) {
    sum.re = fma(-x.im, b, sum.re);
    sum.im = fma(x.re, b, sum.im);
  }
}

template <class T>
__device__ void gather(const purlin_tt_gather_params &p) {
  const T *input = reinterpret_cast<const T *>(p.input);
  T *output = reinterpret_cast<T *>(p.output);
  const int64_t *starts = reinterpret_cast<const int64_t *>(p.starts);
  const purlin_tt_term *terms = reinterpret_cast<const purlin_tt_term *>(p.terms);
  using Real = typename Number<T>::Real;
  const Real alpha = p.alpha == 0 ? Real(1) : Number<T>::re(*reinterpret_cast<const T *>(p.alpha));
  const int64_t total = p.column * p.count * p.pairs * p.follow;
  for (int64_t j = first_of_thread(); j < total; j += all_threads()) {
    const int64_t c = j % p.column, to = j / p.column % p.count;
    const int64_t rest = j / p.column / p.count, pair = rest % p.pairs, f = rest / p.pairs;
    T sum{};
    for (int64_t k = starts[to]; k < starts[to + 1]; ++k) {
      const purlin_tt_term term = terms[k];
      const int64_t at = c + p.column * (term.slot + p.inputs * (pair + p.pairs * (term.column + p.cols * f)));
      add_term(sum, Number<T>::scaled(input[at], alpha), term.re, term.im);
    }
    output[j] = sum;
  }
}

template <class T>
__device__ void peaks(const purlin_tt_peaks_params &p) {
  const T *environment = reinterpret_cast<const T *>(p.environment);
  uint64_t most[2] = {0, 0};
  for (int64_t j = first_of_thread(); j < p.count; j += all_threads()) {
    const int group = j / p.bra % p.slots < p.split ? 0 : 1;
    const uint64_t key = key_of_number(environment[j]);
    most[group] = key > most[group] ? key : most[group];
  }
  for (int group = 0; group < 2; ++group) {
    const uint64_t key = warp_max(most[group]);
    // The largest of unsigned numbers does not depend on the order.
    if (threadIdx.x % 32 == 0 && key != 0)
      atomicMax(reinterpret_cast<unsigned long long *>(p.keys) + group, static_cast<unsigned long long>(key));
  }
}

template <class T>
__device__ void shift(const purlin_tt_shift_params &p) {
  T *environment = reinterpret_cast<T *>(p.environment);
  for (int64_t j = first_of_thread(); j < p.count; j += all_threads()) {
    const int by = j / p.bra % p.slots < p.split ? p.first : p.second;
    if (by == 0) continue;
    const double re = Number<T>::re(environment[j]), im = Number<T>::im(environment[j]);
    environment[j] = Number<T>::make(scalbn(re, by), scalbn(im, by));
  }
}

template <class T>
__device__ void boundary(const purlin_tt_boundary_params &p) {
  T *environment = reinterpret_cast<T *>(p.environment);
  for (int64_t j = first_of_thread(); j < p.slots * p.pairs; j += all_threads()) {
    const int64_t slot = j % p.slots, pair = j / p.slots;
    const int64_t a = (p.first + pair) % p.bra, b = (p.first + pair) / p.bra;
    environment[a + p.bra * (slot + p.slots * (pair + p.pairs * b))] = Number<T>::make(1.0, 0.0);
  }
}

template <class T>
__device__ void ready(const purlin_tt_ready_params &p) {
  using Real = typename Number<T>::Real;
  T *environment = reinterpret_cast<T *>(p.environment);
  const uint64_t *keys = reinterpret_cast<const uint64_t *>(p.keys);
  const int ket = exponent_at<Real>(p.ket_key), bra = exponent_at<Real>(p.bra_key), ahead_of_ket = ahead<Real>(ket);
  const int q[2] = {exponent_of_key<Real>(keys[0]), exponent_of_key<Real>(keys[1])};
  for (int64_t j = first_of_thread(); j < p.count; j += all_threads()) {
    const int by = -q[j / p.bra % p.slots < p.split ? 0 : 1] - ahead_of_ket;
    if (by == 0) continue;
    const double re = Number<T>::re(environment[j]), im = Number<T>::im(environment[j]);
    environment[j] = Number<T>::make(scalbn(re, by), scalbn(im, by));
  }
  if (first_of_thread() != 0) return;
  const int a = ordinary<Real>(ahead_of_ket - ket - ahead<Real>(bra));
  *reinterpret_cast<T *>(p.alpha) = Number<T>::make(power_of_two(a), 0.0);
  for (int group = 0; group < 2; ++group)
    reinterpret_cast<int64_t *>(p.to)[group] =
        reinterpret_cast<const int64_t *>(p.from)[group] + q[group] + ahead_of_ket - a;
}

template <class T>
__device__ void meet(const purlin_tt_meet_params &p) {
  const int64_t slot = blockIdx.y, other = p.right_slots == 1 ? 0 : slot;
  const T *left = reinterpret_cast<const T *>(p.left) + p.bra * slot;
  const T *right = reinterpret_cast<const T *>(p.right) + p.bra * other;
  double re = 0.0, im = 0.0;
  for (int64_t j = first_of_thread(); j < p.bra * p.columns; j += all_threads()) {
    const int64_t a = j % p.bra, c = j / p.bra;
    add_product(re, im, left[a + p.bra * p.left_slots * c], right[a + p.bra * p.right_slots * c], 1.0);
  }
  block_sum(re, im);
  if (threadIdx.x != 0) return;
  double *sum = reinterpret_cast<double *>(p.sums) + 2 * (slot * gridDim.x + blockIdx.x);
  sum[0] = re;
  sum[1] = im;
}

}  // namespace tt
}  // namespace purlin

namespace tt = purlin::tt;

#define PLAIN(NAME, KERNEL, TYPE, PARAMS)                                    \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_TT_SUM_THREADS) \
      purlin_tt_##KERNEL##_##NAME(const __grid_constant__ PARAMS p) {        \
    tt::KERNEL<TYPE>(p);                                                     \
  }
#define KERNELS(NAME, TYPE)                              \
  PLAIN(NAME, turn, TYPE, purlin_tt_turn_params)         \
  PLAIN(NAME, gather, TYPE, purlin_tt_gather_params)     \
  PLAIN(NAME, peaks, TYPE, purlin_tt_peaks_params)       \
  PLAIN(NAME, shift, TYPE, purlin_tt_shift_params)       \
  PLAIN(NAME, boundary, TYPE, purlin_tt_boundary_params) \
  PLAIN(NAME, ready, TYPE, purlin_tt_ready_params)       \
  PLAIN(NAME, meet, TYPE, purlin_tt_meet_params)

KERNELS(f32, float)
KERNELS(f64, double)
KERNELS(cf32, tt::Complex<float>)
KERNELS(cf64, tt::Complex<double>)
