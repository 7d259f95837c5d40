// Ternary forms (n = 3) in nested arrangement: A x^m, A x^(m-1), A x^(m-2) from the packed entries.
//
// Packed order puts the entry with q indices outside the first direction, j of them in the third, at q (q + 1) / 2 + j.
// Call G(Q, q, J) = sum_j C(q, j) a[Q, J + j] y^(q-j) z^j, the q-fold contraction of level Q with (y, z). Then
//   (A x^(m-2))_s = sum_q C(m-2, q) x^(m-2-q) G(q + s1, q, s2)
// with s1 the number of indices of s outside the first direction and s2 of them in the third, and
//   G(Q, q + 1, J) = y G(Q, q, J) + z G(Q, q, J + 1),
// so a level is contracted once to its lowest needed degree, and each further value takes two multiply-adds.
#ifndef PURLIN_SSHOPM_FORMS_CUH
#define PURLIN_SSHOPM_FORMS_CUH

#include <utility>

namespace purlin {

__host__ __device__ constexpr int entries3(int m) { return (m + 1) * (m + 2) / 2; }

__host__ __device__ constexpr int binomial(int n, int k) {
  int r = 1;
  for (int i = 1; i <= k; ++i) r = r * (n - k + i) / i;
  return r;
}

// A compile-time integer; the standard one converts on the host only.
template <int N>
struct Index {
  static constexpr int value = N;
  __host__ __device__ constexpr operator int() const { return N; }
};

template <int FIRST, class F, int... I>
__device__ __forceinline__ void static_for_range(F &&f, std::integer_sequence<int, I...>) {
  (f(Index<FIRST + I>{}), ...);
}
// Calls f(Index<FIRST>) ... f(Index<LAST>): a loop whose counter is a compile-time constant.
template <int FIRST, int LAST, class F>
__device__ __forceinline__ void static_for(F &&f) {
  if constexpr (LAST >= FIRST) static_for_range<FIRST>(f, std::make_integer_sequence<int, LAST - FIRST + 1>{});
}

// Powers y^i, z^i up to D and the terms C(q, j) y^(q-j) z^j of a binary form.
template <int D, class T>
struct BinaryPowers {
  T y[D + 1], z[D + 1];
  __device__ __forceinline__ BinaryPowers(T y1, T z1) {
    y[0] = z[0] = T(1);
    static_for<1, D>([&](auto i) {
      y[i] = i == 1 ? y1 : y[i - 1] * y1;
      z[i] = i == 1 ? z1 : z[i - 1] * z1;
    });
  }
  template <int Q>
  __device__ __forceinline__ void terms(T (&t)[Q + 1]) const {
    static_for<0, Q>([&](auto j) {
      constexpr int J = decltype(j)::value, C = binomial(Q, J);
      if constexpr (J == 0) t[J] = y[Q];
      else if constexpr (J == Q) t[J] = z[Q];
      else if constexpr (C == 2) { T p = y[Q - J] * z[J]; t[J] = p + p; }
      else t[J] = (T(C) * y[Q - J]) * z[J];
    });
  }
};

// Sum over j of t[j] a[Q, J + j].
template <int Q, int J, int DEGREE, class T, class Entries>
__device__ __forceinline__ T contract(const T (&t)[DEGREE + 1], const Entries &a) {
  constexpr int base = Q * (Q + 1) / 2 + J;
  T s = DEGREE == 0 ? a[base] : t[0] * a[base];
  static_for<1, DEGREE>([&](auto j) { s = fma(t[j], a[base + j], s); });
  return s;
}

// w[q] = C(d, q) x^(d-q).
template <int D, class T>
__device__ __forceinline__ void leading_weights(T x, T (&w)[D + 1]) {
  T p[D + 1];
  p[0] = T(1);
  static_for<1, D>([&](auto i) { p[i] = i == 1 ? x : p[i - 1] * x; });
  static_for<0, D>([&](auto q) {
    constexpr int Q = decltype(q)::value, C = binomial(D, Q);
    if constexpr (C == 1) w[Q] = p[D - Q];
    else w[Q] = T(C) * p[D - Q];
  });
}

// B = A x^2 for order 4: six quadratic forms in the six products of two components. 44 instructions; nesting takes 51.
template <class T, class Entries>
__device__ __forceinline__ void form_matrix4(const Entries &a, T x, T y, T z, T (&b)[6]) {
  const T x2 = x + x, y2 = y + y;
  const T xx = x * x, xy = x2 * y, xz = x2 * z, yy = y * y, yz = y2 * z, zz = z * z;
  b[0] = fma(a[0], xx, fma(a[1], xy, fma(a[2], xz, fma(a[3], yy, fma(a[4], yz, a[5] * zz)))));
  b[1] = fma(a[1], xx, fma(a[3], xy, fma(a[4], xz, fma(a[6], yy, fma(a[7], yz, a[8] * zz)))));
  b[2] = fma(a[2], xx, fma(a[4], xy, fma(a[5], xz, fma(a[7], yy, fma(a[8], yz, a[9] * zz)))));
  b[3] = fma(a[3], xx, fma(a[6], xy, fma(a[7], xz, fma(a[10], yy, fma(a[11], yz, a[12] * zz)))));
  b[4] = fma(a[4], xx, fma(a[7], xy, fma(a[8], xz, fma(a[11], yy, fma(a[12], yz, a[13] * zz)))));
  b[5] = fma(a[5], xx, fma(a[8], xy, fma(a[9], xz, fma(a[12], yy, fma(a[13], yz, a[14] * zz)))));
}

// B = A x^(m-2) as b11 b12 b13 b22 b23 b33.
template <int M, class T, class Entries>
__device__ __forceinline__ void form_matrix(const Entries &a, T x, T y, T z, T (&b)[6]) {
  constexpr int D = M - 2;
  if constexpr (M == 4) {
    form_matrix4(a, x, y, z, b);
    return;
  }
  T w[D + 1];
  leading_weights<D>(x, w);
  BinaryPowers<D, T> powers(y, z);
  b[0] = w[0] * a[0];
  b[1] = w[0] * a[1];
  b[2] = w[0] * a[2];
  static_for<0, D>([&](auto q) {
    constexpr int q0 = decltype(q)::value, Q = q0 + 2;
    T t[q0 + 1];
    powers.template terms<q0>(t);
    T g[3] = {contract<Q, 0, q0>(t, a), contract<Q, 1, q0>(t, a), contract<Q, 2, q0>(t, a)};
    if constexpr (q0 == 0) {
      b[3] = w[0] * g[0];
      b[4] = w[0] * g[1];
      b[5] = w[0] * g[2];
    } else if constexpr (q0 < D) {
      b[3] = fma(w[q0], g[0], b[3]);
      b[4] = fma(w[q0], g[1], b[4]);
      b[5] = fma(w[q0], g[2], b[5]);
    } else {
      b[3] += g[0];
      b[4] += g[1];
      b[5] += g[2];
    }
    // Level Q at degree Q - 1 for b12, b13 and degree Q for b11, if those degrees are at most D.
    if constexpr (q0 + 1 <= D) {
      T h0 = fma(y, g[0], z * g[1]), h1 = fma(y, g[1], z * g[2]);
      if constexpr (q0 + 1 < D) {
        b[1] = fma(w[q0 + 1], h0, b[1]);
        b[2] = fma(w[q0 + 1], h1, b[2]);
      } else {
        b[1] += h0;
        b[2] += h1;
      }
      if constexpr (q0 + 2 < D) b[0] = fma(w[q0 + 2], fma(y, h0, z * h1), b[0]);
      else if constexpr (q0 + 2 == D) b[0] += fma(y, h0, z * h1);
    }
  });
  // Level 1 enters b11 at degree 1.
  if constexpr (D == 1) b[0] += fma(y, a[1], z * a[2]);
  else if constexpr (D >= 2) b[0] = fma(w[1], fma(y, a[1], z * a[2]), b[0]);
}

// g = A x^(m-1).
template <int M, class T, class Entries>
__device__ __forceinline__ void form_vector(const Entries &a, T x, T y, T z, T (&g)[3]) {
  constexpr int D = M - 1;
  T w[D + 1];
  leading_weights<D>(x, w);
  BinaryPowers<D, T> powers(y, z);
  g[0] = w[0] * a[0];
  static_for<0, D>([&](auto q) {
    constexpr int q0 = decltype(q)::value, Q = q0 + 1;
    T t[q0 + 1];
    powers.template terms<q0>(t);
    T h0 = contract<Q, 0, q0>(t, a), h1 = contract<Q, 1, q0>(t, a);
    if constexpr (q0 == 0) {
      g[1] = w[0] * h0;
      g[2] = w[0] * h1;
    } else if constexpr (q0 < D) {
      g[1] = fma(w[q0], h0, g[1]);
      g[2] = fma(w[q0], h1, g[2]);
    } else {
      g[1] += h0;
      g[2] += h1;
    }
    if constexpr (q0 + 1 < D) g[0] = fma(w[q0 + 1], fma(y, h0, z * h1), g[0]);
    else if constexpr (q0 + 1 == D) g[0] += fma(y, h0, z * h1);
  });
}

// Entries in the form that the power loop of an order uses. Copies multiplied by the binomial factors save instructions if
// there are enough registers.
template <int M, class T>
struct PowerForm {
  T a[entries3(M)];
  template <class Entries>
  __device__ __forceinline__ void load(const Entries &e) {
    static_for<0, entries3(M) - 1>([&](auto i) { a[i] = e[i]; });
  }
  __device__ __forceinline__ void vector(T x, T y, T z, T (&g)[3]) const { form_vector<M>(a, x, y, z, g); }
};

// Order 4: 41 multiply-adds with 21 coefficients; 46 with the 15 plain entries.
template <class T>
struct PowerForm<4, T> {
  T a0, a1, a2, l1, l2, q3, q4, q5, c6, c7, c7d, c8, c8d, c9, e10, e11, e11t, e12t, e13, e13t, e14;
  template <class Entries>
  __device__ __forceinline__ void load(const Entries &e) {
    a0 = e[0]; a1 = e[1]; a2 = e[2];
    l1 = T(3) * a1; l2 = T(3) * a2;
    q3 = T(3) * e[3]; q4 = T(3) * e[4]; q5 = T(3) * e[5];
    c6 = T(3) * e[6]; c7 = T(3) * e[7]; c8 = T(3) * e[8]; c9 = T(3) * e[9];
    c7d = c7 + c7; c8d = c8 + c8;
    e10 = e[10]; e11 = e[11]; e13 = e[13]; e14 = e[14];
    e11t = T(3) * e11; e12t = T(3) * e[12]; e13t = T(3) * e13;
  }
  __device__ __forceinline__ void vector(T x, T y, T z, T (&g)[3]) const {
    T s = y * y, u = z * z, t = y * z;
    T p0 = s * y, p1 = s * z, p2 = u * y, p3 = u * z;
    T l = fma(l1, y, l2 * z);
    T h2 = fma(q3, y, q4 * z), h3 = fma(q4, y, q5 * z);
    T q = fma(y, h2, z * h3);
    T k2 = fma(c6, s, fma(c7d, t, c8 * u)), k3 = fma(c7, s, fma(c8d, t, c9 * u));
    T c = fma(y, k2, z * k3) * T(1.0 / 3.0);
    T d2 = fma(e10, p0, fma(e11t, p1, fma(e12t, p2, e13 * p3)));
    T d3 = fma(e11, p0, fma(e12t, p1, fma(e13t, p2, e14 * p3)));
    g[0] = fma(x, fma(x, fma(x, a0, l), q), c);
    g[1] = fma(x, fma(x, fma(x, a1, h2), k2), d2);
    g[2] = fma(x, fma(x, fma(x, a2, h3), k3), d3);
  }
};

}  // namespace purlin

#endif
