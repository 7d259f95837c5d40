// Arithmetic of the four element types in sparse products, and loads with cache hints.
#ifndef PURLIN_SPMV_NUMBER_CUH
#define PURLIN_SPMV_NUMBER_CUH

#include <stdint.h>

#include "spmv_launch.h"

namespace purlin {
namespace spmv {

template <class R>
struct alignas(2 * sizeof(R)) Pair {
  R re, im;
};

template <class T>
struct Number {
  using Real = T;
  __device__ static T zero() { return T(0); }
  __device__ static T make(double re, double) { return static_cast<T>(re); }
  __device__ static T sum(T a, T b) { return a + b; }
  __device__ static T product(T a, T b) { return a * b; }
  __device__ static T scaled(T a, T f) { return a * f; }
  __device__ static T add_product(T sum, T a, T b) { return fma(a, b, sum); }
  __device__ static T shuffle_xor(T a, int lanes) { return __shfl_xor_sync(0xffffffffu, a, lanes); }
  __device__ static T shuffle_up(T a, int lanes) { return __shfl_up_sync(0xffffffffu, a, lanes); }
  __device__ static T stream(const T *p) { return __ldcs(p); }
  __device__ static T gather(const T *p) { return __ldg(p); }
  __device__ static T fresh(const T *p) { return __ldcg(p); }
};

__device__ __forceinline__ float2 vector_of(Pair<float> a) { return make_float2(a.re, a.im); }
__device__ __forceinline__ double2 vector_of(Pair<double> a) { return make_double2(a.re, a.im); }
__device__ __forceinline__ Pair<float> pair_of(float2 a) { return {a.x, a.y}; }
__device__ __forceinline__ Pair<double> pair_of(double2 a) { return {a.x, a.y}; }

template <class R>
struct Number<Pair<R>> {
  using Real = R;
  using T = Pair<R>;
  using Vector = decltype(vector_of(T()));
  __device__ static T zero() { return {R(0), R(0)}; }
  __device__ static T make(double re, double im) { return {static_cast<R>(re), static_cast<R>(im)}; }
  __device__ static T sum(T a, T b) { return {a.re + b.re, a.im + b.im}; }
  __device__ static T product(T a, T b) {
    return {fma(-a.im, b.im, a.re * b.re), fma(a.im, b.re, a.re * b.im)};
  }
  __device__ static T scaled(T a, R f) { return {a.re * f, a.im * f}; }
  __device__ static T add_product(T sum, T a, T b) {
    return {fma(-a.im, b.im, fma(a.re, b.re, sum.re)), fma(a.im, b.re, fma(a.re, b.im, sum.im))};
  }
  __device__ static T shuffle_xor(T a, int lanes) {
    return {__shfl_xor_sync(0xffffffffu, a.re, lanes), __shfl_xor_sync(0xffffffffu, a.im, lanes)};
  }
  __device__ static T shuffle_up(T a, int lanes) {
    return {__shfl_up_sync(0xffffffffu, a.re, lanes), __shfl_up_sync(0xffffffffu, a.im, lanes)};
  }
  __device__ static T stream(const T *p) { return pair_of(__ldcs(reinterpret_cast<const Vector *>(p))); }
  __device__ static T gather(const T *p) { return pair_of(__ldg(reinterpret_cast<const Vector *>(p))); }
  __device__ static T fresh(const T *p) { return pair_of(__ldcg(reinterpret_cast<const Vector *>(p))); }
};

template <class T>
__device__ __forceinline__ const T *pointer(uint64_t address) {
  return reinterpret_cast<const T *>(address);
}
template <class T>
__device__ __forceinline__ T *target(uint64_t address) {
  return reinterpret_cast<T *>(address);
}

// Value k of a matrix times x.
template <class T, bool PATTERN>
__device__ __forceinline__ T times(const T *values, int64_t k, T x) {
  return PATTERN ? x : Number<T>::product(Number<T>::stream(values + k), x);
}

// Sum over groups of `lanes` adjacent lanes, the same in each of them.
template <class T>
__device__ __forceinline__ T group_sum(T sum, int lanes) {
  for (int step = lanes / 2; step > 0; step >>= 1) sum = Number<T>::sum(sum, Number<T>::shuffle_xor(sum, step));
  return sum;
}

// Sum over a block of THREADS threads in thread 0, in a fixed order.
template <class T, int THREADS>
__device__ __forceinline__ T block_sum(T sum) {
  __shared__ T of_warps[THREADS / 32];
  sum = group_sum(sum, 32);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < THREADS / 32; ++w) sum = Number<T>::sum(sum, of_warps[w]);
  return sum;
}

// Computes y from the sum of a row.
template <class T>
struct Finish {
  using N = Number<T>;
  using Real = typename N::Real;
  T *y;
  const T *x, *z;
  const Real *scale, *diagonal;
  T alpha, beta, shift, weight;
  Real gamma;
  bool reads_y;

  __device__ explicit Finish(const purlin_spmv_finish &p)
      : y(target<T>(p.y)), x(pointer<T>(p.x)), z(pointer<T>(p.z)), scale(pointer<Real>(p.scale)),
        diagonal(pointer<Real>(p.diagonal)), alpha(N::make(p.alpha[0], p.alpha[1])), beta(N::make(p.beta[0], p.beta[1])),
        shift(N::make(p.shift[0], p.shift[1])), weight(N::make(p.weight[0], p.weight[1])), gamma(static_cast<Real>(p.gamma)),
        reads_y(p.beta[0] != 0.0 || p.beta[1] != 0.0) {
    if (p.alpha_factor != 0) alpha = N::scaled(alpha, static_cast<Real>(*pointer<double>(p.alpha_factor)));
    if (p.gamma_factor != 0) gamma *= static_cast<Real>(*pointer<double>(p.gamma_factor));
  }
  // The term of the sum in y.
  __device__ T share(int64_t row, T sum) const {
    const T scaled = N::product(alpha, sum);
    return scale != nullptr ? N::scaled(scaled, __ldg(scale + row)) : scaled;
  }
  __device__ void operator()(int64_t row, T sum) const {
    T out = share(row, sum);
    if (x != nullptr) {
      const T d = diagonal != nullptr ? N::sum(shift, N::scaled(weight, __ldg(diagonal + row))) : shift;
      out = N::add_product(out, d, N::gather(x + row));
    }
    if (z != nullptr) out = N::sum(out, N::scaled(z[row], gamma));
    if (reads_y) out = N::add_product(out, beta, y[row]);
    y[row] = out;
  }
  // Adds a further part of the sum to a row that is finished otherwise.
  __device__ void add(int64_t row, T sum) const { y[row] = N::sum(y[row], share(row, sum)); }
};

// Thread 0 has the sum of a piece and stores it. The block of the row's last piece to arrive adds all pieces and
// finishes the row.
template <class T, int THREADS>
__device__ __forceinline__ void finish_piece(const purlin_spmv_pieces &p, const purlin_spmv_finish &how, int64_t piece, T sum) {
  __shared__ bool is_last;
  const int32_t owner = pointer<int32_t>(p.owners)[piece];
  const purlin_spmv_long *own = pointer<purlin_spmv_long>(p.longs) + owner;
  const int first = own[0].piece, end = own[1].piece;
  T *partials = target<T>(p.partials);
  if (threadIdx.x == 0) {
    partials[piece] = sum;
    __threadfence();
    is_last = atomicAdd(target<uint32_t>(p.arrivals) + owner, 1u) == static_cast<uint32_t>(end - first - 1);
  }
  __syncthreads();
  if (!is_last || threadIdx.x >= 32) return;
  __threadfence();
  T total = Number<T>::zero();
  // Bypass the L1 cache, which may hold old values.
  for (int k = first + threadIdx.x; k < end; k += 32) total = Number<T>::sum(total, Number<T>::fresh(partials + k));
  total = group_sum(total, 32);
  if (threadIdx.x > 0) return;
  const Finish<T> done(how);
  done(own[0].row, total);
  target<uint32_t>(p.arrivals)[owner] = 0;
}

}  // namespace spmv
}  // namespace purlin

#endif
