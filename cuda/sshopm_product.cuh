// Batched products A x^m, A x^(m-1), A x^(m-2) and the classification of given pairs, one thread for each (vector, tensor).
#ifndef PURLIN_SSHOPM_PRODUCT_CUH
#define PURLIN_SSHOPM_PRODUCT_CUH

#include "sshopm_launch.h"
#include "reduce.cuh"
#include "sshopm_forms.cuh"
#include "sshopm_packed.cuh"
#include "sshopm_select.cuh"

namespace purlin {

// The (vector, tensor) of this thread, and the next ones at the grid's stride.
struct Cell {
  int64_t at, end, step;
  __device__ explicit Cell(const purlin_product_params &p)
      : at(static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x), end(p.vector_count * p.count),
        step(static_cast<int64_t>(gridDim.x) * blockDim.x) {}
};

template <class T>
__device__ const T *vector_of(const purlin_product_params &p, int64_t at, int64_t *tensor) {
  *tensor = at / p.vector_count;
  return address<const T>(p.vectors) + (at - *tensor * p.vector_count) * p.vector_stride + *tensor * p.batch_stride;
}

template <int M, class T>
__device__ void product_n3(const purlin_product_params &p) {
  for (Cell c(p); c.at < c.end; c.at += c.step) {
    int64_t tensor;
    const T *v = vector_of<T>(p, c.at, &tensor);
    const T x = v[0], y = v[p.component_stride], z = v[2 * p.component_stride];
    const T *entries = address<const T>(p.tensors) + tensor * p.tensor_stride;
    T a[entries3(M)];
    static_for<0, entries3(M) - 1>([&](auto r) { a[r] = __ldg(entries + r * p.entry_stride); });
    T *out = address<T>(p.products);
    if (p.power == M - 2) {
      T b[6];
      form_matrix<M>(a, x, y, z, b);
      out += 9 * c.at;
      out[0] = b[0];
      out[1] = out[3] = b[1];
      out[2] = out[6] = b[2];
      out[4] = b[3];
      out[5] = out[7] = b[4];
      out[8] = b[5];
    } else {
      T g[3];
      form_vector<M>(a, x, y, z, g);
      if (p.power == M) {
        out[c.at] = fma(x, g[0], fma(y, g[1], z * g[2]));
      } else {
        out[3 * c.at] = g[0];
        out[3 * c.at + 1] = g[1];
        out[3 * c.at + 2] = g[2];
      }
    }
  }
}

template <class T>
__device__ Packed<T> packed_of(const purlin_product_params &p, int64_t tensor) {
  return Packed<T>{address<const T>(p.tensors) + tensor * p.tensor_stride, p.entry_stride,
                   address<const uint8_t>(p.indices), address<const T>(p.multinomials), p.entries, p.order,
                   p.dimension, T(1)};
}

template <class T>
__device__ void product_general(const purlin_product_params &p) {
  const int n = p.dimension;
  T x[MAX_N], y[MAX_N], b[MAX_N * MAX_N];
  for (Cell c(p); c.at < c.end; c.at += c.step) {
    int64_t tensor;
    const T *v = vector_of<T>(p, c.at, &tensor);
    for (int i = 0; i < n; ++i) x[i] = v[i * p.component_stride];
    const Packed<T> form = packed_of<T>(p, tensor);
    T *out = address<T>(p.products);
    if (p.power == p.order - 2) {
      packed_matrix(form, x, b);
      for (int i = 0; i < n * n; ++i) out[c.at * n * n + i] = b[i];
    } else {
      packed_vector(form, x, y);
      if (p.power == p.order) out[c.at] = dot_n(n, x, y);
      else
        for (int i = 0; i < n; ++i) out[c.at * n + i] = y[i];
    }
  }
}

template <class T>
__device__ void classify_general(const purlin_product_params &p) {
  const int n = p.dimension;
  T x[MAX_N], y[MAX_N], e[MAX_N];
  for (Cell c(p); c.at < c.end; c.at += c.step) {
    int64_t tensor;
    const T *v = vector_of<T>(p, c.at, &tensor);
    const T lambda = address<const T>(p.values)[c.at];
    for (int i = 0; i < n; ++i) x[i] = v[i * p.component_stride];
    // Only the directions of the vectors matter here. Scale the largest component to order one, so that squares are in range.
    T most = T(0), inverse;
    for (int i = 0; i < n; ++i) most = fmax(most, fabs(x[i]));
    const T unit = Real<T>::power_scale(most, &inverse);
    for (int i = 0; i < n; ++i) x[i] *= unit;
    const T length = T(1) / sqrt(dot_n(n, x, x));
    for (int i = 0; i < n; ++i) x[i] *= length;
    Packed<T> form = packed_of<T>(p, tensor);
    // Scale the largest entry to order one; entries that are not finite stay so.
    T largest = T(0);
    for (int64_t r = 0; r < p.entries; ++r) largest = fmax(largest, fabs(form.entry(r)));
    form.scale = Real<T>::power_scale(largest > T(0) && is_finite(largest) ? largest : T(1), &inverse);
    const T value = lambda * form.scale;
    packed_vector(form, x, y);
    T norm = T(0), residual = T(0);
    for (int64_t r = 0; r < p.entries; ++r) {
      T a = form.entry(r);
      norm = fma(__ldg(form.multinomial + r) * a, a, norm);
    }
    for (int i = 0; i < n; ++i) {
      T r = fma(-value, x[i], y[i]);
      residual = fma(r, r, residual);
    }
    residual = sqrt(residual);
    int kind = PURLIN_LAUNCH_PAIR_UNCLASSIFIED;
    for (int i = 0; i < n - 1; ++i) e[i] = Real<T>::nan();
    if (is_finite(residual) && is_finite(norm)) kind = classify_pair(form, value, x, sqrt(norm), T(p.degeneracy), e);
    residual *= inverse;
    for (int i = 0; i < n - 1; ++i) e[i] *= inverse;
    if (p.residuals) address<T>(p.residuals)[c.at] = residual;
    if (p.classes) address<int>(p.classes)[c.at] = kind;
    if (p.hessian)
      for (int i = 0; i < n - 1; ++i) address<T>(p.hessian)[c.at * (n - 1) + i] = e[i];
  }
}

}  // namespace purlin

#endif
