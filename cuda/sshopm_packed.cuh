// Symmetric forms of any order and of dimension up to 16 from packed entries, one thread for each vector.
//
// The index tuples are read in lexicographic order. The prefix products P[p] = x[i1] ... x[ip] are updated along them, and
// suffix products are computed backwards. So the monomial without one or two of its factors is a product and never a
// quotient, and zero components are allowed. Arrays with run-time indices are in local memory; the indices are
// the same for all lanes, so those accesses are coalesced.
#ifndef PURLIN_SSHOPM_PACKED_CUH
#define PURLIN_SSHOPM_PACKED_CUH

#include "sshopm_launch.h"
#include "sshopm_real.cuh"

namespace purlin {

constexpr int MAX_N = PURLIN_LAUNCH_MAX_DIMENSION, MAX_M = PURLIN_LAUNCH_MAX_ORDER;

// One tensor: entries with a stride, multiplied by `scale` on reading.
template <class T>
struct Packed {
  const T *a;
  int64_t entry_stride;
  const uint8_t *indices;
  const T *multinomial;
  int64_t entries;
  int order, dimension;
  T scale;
  __device__ T entry(int64_t r) const { return __ldg(a + r * entry_stride) * scale; }
};

// Prefix products along the tuples and run lengths of one tuple.
template <class T>
struct Tuple {
  T prefix[MAX_M + 1];
  uint8_t index[MAX_M];
  uint8_t run[MAX_M];  // length of the run of equal indices that starts here, 0 inside a run
  __device__ void start() {
    prefix[0] = T(1);
    for (int p = 0; p < MAX_M; ++p) index[p] = 0xff;
  }
  __device__ void advance(const uint8_t *tuple, int order, const T *x) {
    int p = 0;
    while (p < order && index[p] == __ldg(tuple + p)) ++p;
    for (; p < order; ++p) {
      index[p] = __ldg(tuple + p);
      prefix[p + 1] = prefix[p] * x[index[p]];
    }
    int length = 0;
    for (p = order - 1; p >= 0; --p) {
      ++length;
      bool first = p == 0 || index[p - 1] != index[p];
      run[p] = static_cast<uint8_t>(first ? length : 0);
      if (first) length = 0;
    }
  }
};

// y = A x^(m-1).
template <class T>
__device__ void packed_vector(const Packed<T> &t, const T *x, T *y) {
  for (int i = 0; i < t.dimension; ++i) y[i] = T(0);
  Tuple<T> k;
  k.start();
  const int m = t.order;
  const T inverse = T(1) / T(m);
  for (int64_t r = 0; r < t.entries; ++r) {
    k.advance(t.indices + r * m, m, x);
    T weight = t.entry(r) * __ldg(t.multinomial + r) * inverse, suffix = T(1);
    for (int p = m - 1; p >= 0; --p) {
      int i = k.index[p];
      if (k.run[p]) y[i] = fma(weight * T(k.run[p]), k.prefix[p] * suffix, y[i]);
      suffix *= x[i];
    }
  }
}

// B = A x^(m-2), n x n, both triangles. A pair of distinct indices i, j has weight mult k_i k_j / (m (m - 1)), one
// index twice mult k (k - 1) / (m (m - 1)).
template <class T>
__device__ void packed_matrix(const Packed<T> &t, const T *x, T *b) {
  const int m = t.order, n = t.dimension;
  for (int i = 0; i < n * n; ++i) b[i] = T(0);
  Tuple<T> k;
  k.start();
  T suffix[MAX_M + 1];
  const T inverse = T(1) / T(m * (m - 1));
  for (int64_t r = 0; r < t.entries; ++r) {
    k.advance(t.indices + r * m, m, x);
    suffix[m] = T(1);
    for (int p = m - 1; p >= 0; --p) suffix[p] = suffix[p + 1] * x[k.index[p]];
    const T weight = t.entry(r) * __ldg(t.multinomial + r) * inverse;
    for (int p = 0; p < m; ++p) {
      if (!k.run[p]) continue;
      const int i = k.index[p], count = k.run[p];
      T middle = k.prefix[p];
      for (int q = p + 1; q < m; ++q) {
        const int j = k.index[q];
        const int pairs = j == i ? (q == p + 1 ? count * (count - 1) : 0) : count * k.run[q];
        if (pairs) b[j * n + i] = fma(weight * T(pairs), middle * suffix[q + 1], b[j * n + i]);
        middle *= x[j];
      }
    }
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) b[i * n + j] = b[j * n + i];
}

template <class T>
__device__ T dot_n(int n, const T *a, const T *b) {
  T s = T(0);
  for (int i = 0; i < n; ++i) s = fma(a[i], b[i], s);
  return s;
}

template <class T>
__device__ void multiply_n(int n, const T *b, const T *x, T *y) {
  for (int i = 0; i < n; ++i) y[i] = dot_n(n, b + i * n, x);
}

// h = f P B P + g (I - x x') + e x x', P = I - x x', with y = B x and lambda = x . y. `h` may be `b`.
template <class T>
__device__ void projected(int n, const T *b, const T *x, const T *y, T lambda, T f, T g, T e, T *h) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      T xx = x[i] * x[j];
      T inner = b[i * n + j] - x[i] * y[j] - y[i] * x[j] + lambda * xx;
      h[i * n + j] = fma(f, inner, fma(e - g, xx, i == j ? g : T(0)));
    }
}

// Diagonalizes a symmetric matrix by cyclic Jacobi rotations. If `vectors` is given, its row k becomes the eigenvector of
// diagonal element k.
template <class T>
__device__ void jacobi(int n, T *c, T *vectors) {
  if (vectors)
    for (int i = 0; i < n * n; ++i) vectors[i] = i % (n + 1) == 0 ? T(1) : T(0);
  for (int sweep = 0; sweep < 30; ++sweep) {
    T off = T(0), diagonal = T(0);
    for (int i = 0; i < n; ++i) {
      diagonal = fma(c[i * n + i], c[i * n + i], diagonal);
      for (int j = 0; j < i; ++j) off = fma(c[i * n + j], c[i * n + j], off);
    }
    const T eps = Real<T>::epsilon;
    if (!(off > eps * eps * diagonal)) break;
    for (int p = 0; p < n - 1; ++p)
      for (int q = p + 1; q < n; ++q) {
        T apq = c[p * n + q];
        if (apq == T(0)) continue;
        T theta = (c[q * n + q] - c[p * n + p]) / (apq + apq);
        T t = (theta < T(0) ? T(-1) : T(1)) / (fabs(theta) + sqrt(fma(theta, theta, T(1))));
        T co = T(1) / sqrt(fma(t, t, T(1))), si = t * co;
        for (int i = 0; i < n; ++i) {
          T u = c[i * n + p], v = c[i * n + q];
          c[i * n + p] = co * u - si * v;
          c[i * n + q] = si * u + co * v;
        }
        for (int i = 0; i < n; ++i) {
          T u = c[p * n + i], v = c[q * n + i];
          c[p * n + i] = co * u - si * v;
          c[q * n + i] = si * u + co * v;
        }
        for (int i = 0; vectors && i < n; ++i) {
          T u = vectors[p * n + i], v = vectors[q * n + i];
          vectors[p * n + i] = co * u - si * v;
          vectors[q * n + i] = si * u + co * v;
        }
      }
  }
}

// Eigenvalues of a symmetric matrix, which is overwritten, ascending into `values`.
template <class T>
__device__ void jacobi_eigenvalues(int n, T *c, T *values) {
  jacobi<T>(n, c, nullptr);
  for (int i = 0; i < n; ++i) {
    T v = c[i * n + i];
    int j = i;
    for (; j > 0 && values[j - 1] > v; --j) values[j] = values[j - 1];
    values[j] = v;
  }
}

// Solves c d = r for a positive definite c, which is overwritten; returns false if c is not positive definite.
template <class T>
__device__ bool cholesky_solve(int n, T *c, const T *r, T *d) {
  for (int j = 0; j < n; ++j) {
    T pivot = c[j * n + j];
    for (int k = 0; k < j; ++k) pivot = fma(-c[j * n + k], c[j * n + k], pivot);
    if (!(pivot > T(0))) return false;
    pivot = sqrt(pivot);
    c[j * n + j] = pivot;
    T inverse = T(1) / pivot;
    for (int i = j + 1; i < n; ++i) {
      T s = c[i * n + j];
      for (int k = 0; k < j; ++k) s = fma(-c[i * n + k], c[j * n + k], s);
      c[i * n + j] = s * inverse;
    }
  }
  for (int i = 0; i < n; ++i) {
    T s = r[i];
    for (int k = 0; k < i; ++k) s = fma(-c[i * n + k], d[k], s);
    d[i] = s / c[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    T s = d[i];
    for (int k = i + 1; k < n; ++k) s = fma(-c[k * n + i], d[k], s);
    d[i] = s / c[i * n + i];
  }
  return true;
}

// Solves c d = d for a general c, which is overwritten, by elimination with row pivoting; returns false if a pivot is below
// `smallest`.
template <class T>
__device__ bool eliminate(int n, T *c, T *d, T smallest) {
  for (int j = 0; j < n; ++j) {
    int at = j;
    for (int i = j + 1; i < n; ++i)
      if (fabs(c[i * n + j]) > fabs(c[at * n + j])) at = i;
    if (!(fabs(c[at * n + j]) > smallest)) return false;
    if (at != j) {
      for (int k = j; k < n; ++k) {
        T swap = c[j * n + k];
        c[j * n + k] = c[at * n + k];
        c[at * n + k] = swap;
      }
      T swap = d[j];
      d[j] = d[at];
      d[at] = swap;
    }
    T inverse = T(1) / c[j * n + j];
    for (int i = j + 1; i < n; ++i) {
      T f = c[i * n + j] * inverse;
      for (int k = j + 1; k < n; ++k) c[i * n + k] = fma(-f, c[j * n + k], c[i * n + k]);
      d[i] = fma(-f, d[j], d[i]);
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    T s = d[i];
    for (int k = i + 1; k < n; ++k) s = fma(-c[i * n + k], d[k], s);
    d[i] = s / c[i * n + i];
  }
  return true;
}

}  // namespace purlin

#endif
