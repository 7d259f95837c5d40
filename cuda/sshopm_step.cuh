// One start in flight and the three iterations on it, n = 3: power steps with a constant shift, power steps with the
// adaptive shift, and the safeguarded Newton hybrid (also, without its safeguard, the orthogonal Newton correction).
//
// All code finds maxima of the scaled tensor A' = +-(A - c E) / s; minima run on the negated entries.
#ifndef PURLIN_SSHOPM_STEP_CUH
#define PURLIN_SSHOPM_STEP_CUH

#include "sshopm_launch.h"
#include "sshopm_forms.cuh"
#include "sshopm_real.cuh"

namespace purlin {

// Per-tensor numbers that follow the entries while a tensor is in flight.
enum Scalar { OUT_SCALE, ISOTROPIC, NORM, FLOOR2, SHIFT, TAU, LIMIT, SEQUENCE };

// A tensor in flight in shared memory: its entries, padded, then its scalars, so that both are read by 16-byte loads; then
// the results of its starts.
constexpr int SLOT_SCALARS = PURLIN_LAUNCH_SLOT_SCALARS;
__host__ __device__ constexpr int padded(int reals) { return (reals + 3) / 4 * 4; }
template <int M>
constexpr int SLOT_HEAD = padded(entries3(M)) + SLOT_SCALARS;

template <class T, int N>
__device__ __forceinline__ void load_aligned(const T *from, T (&to)[N]) {
  constexpr int EACH = 16 / sizeof(T);
  struct alignas(16) Chunk { T v[EACH]; };
#pragma unroll
  for (int i = 0; i < N / EACH; ++i) {
    const Chunk c = reinterpret_cast<const Chunk *>(from)[i];
#pragma unroll
    for (int j = 0; j < EACH; ++j) to[i * EACH + j] = c.v[j];
  }
}

enum State { EMPTY, RUNNING, CONVERGED, EXHAUSTED, SINGULAR, STOPPED };

// Selects the quantities that a block of steps computes; the fast variants omit those that are not requested.
enum Variant { FAST_RESIDUAL, FAST_LAMBDA, GENERIC };

template <int M, class T, int METHOD>
struct Coefficients {
  T a[entries3(M)];
  template <class Entries>
  __device__ __forceinline__ void load(const Entries &e) {
    static_for<0, entries3(M) - 1>([&](auto i) { a[i] = e[i]; });
  }
};
template <int M, class T>
struct Coefficients<M, T, PURLIN_LAUNCH_POWER> : PowerForm<M, T> {};

template <int M, class T, int METHOD>
struct Lane {
  Coefficients<M, T, METHOD> form;
  T x, y, z;       // the unit iterate
  T lambda;        // x . A' x^(m-1) at the last point evaluated
  T previous;      // the same at the point before (generic variant)
  T residual2;     // squared norm of A' x^(m-1) - lambda x there (hybrid and Newton)
  T isotropic;     // c: lambda + c is the eigenvalue of the scaled tensor
  T floor2;        // squared absolute floor of the residual test; with the others, as Thresholds
  T shift, tau;    // shift: the constant one, or that of the last step
  T limit;         // of the tests of lambda and, squared, of the step, as Thresholds
  T step2;         // squared length of the last step; Newton: -1 once within tolerance, else 1
  int iterations, violations, state;
};

// The launch's numbers in the kernel's type, converted once and stored in shared memory.
enum Number {
  TOLERANCE, ISOTROPY, FIXED_SHIFT, TAU_FACTOR, FLOOR, MERGE, AGREE, DEGENERACY, LEVEL, ABSOLUTE, RELATIVE,
  APART,
  NUMBERS = PURLIN_LAUNCH_SHARED_NUMBERS
};

// The numbers that the steps need, in registers.
template <class T>
struct Constants {
  T tolerance2;
  int test, max_iterations, warmup;
};

// A value of Constants::test: the lambda test with an absolute bound.
constexpr int TEST_LAMBDA_ABSOLUTE = -1;

// Thresholds of a tensor for the tests of lambda and of the step. A power step with a constant shift moves an iterate by about
// |r| / (shift + lambda). The tolerance is meant for a sufficient shift, at most (m - 1) times the norm. With f times as much a
// step is f times shorter at the same residual, so the tolerance is divided by f. Below the accuracy of the type a short step
// shows nothing: `limit` is then -1, and a start converges only if its squared residual is at most `floor2`, which is else -1.
template <class T>
struct Thresholds {
  T limit, floor2;
  __device__ __forceinline__ static Thresholds of(const purlin_sshopm_params &p, T tolerance, T norm, T shift, T scale) {
    if (p.test == PURLIN_LAUNCH_TEST_RESIDUAL) return {T(0), T(-1)};
    if (p.flags & PURLIN_LAUNCH_ABSOLUTE_TOLERANCE) return {tolerance * scale, T(-1)};
    if (p.shift_kind != PURLIN_LAUNCH_SHIFT_FIXED || shift <= T(p.order) * norm) return {tolerance, T(-1)};
    const T limit = tolerance * (T(p.order) * norm / shift), rounding = T(4) * Real<T>::epsilon * norm;
    const T accuracy = (p.test == PURLIN_LAUNCH_TEST_STEP ? T(2) : T(1)) * Real<T>::epsilon;
    return limit < accuracy ? Thresholds{T(-1), rounding * rounding} : Thresholds{limit, T(-1)};
  }
};

// Largest constant shift of a scaled tensor: its square does not overflow, and no larger one moves an iterate any less.
template <class T>
__device__ __forceinline__ T bounded_shift(T shift) { return fmin(shift, sizeof(T) == 4 ? T(1e18) : T(1e150)); }

// Whether the iteration continues after an evaluation with lambda and residual2. Every comparison is true only for
// "continue", so that a NaN ends the start.
template <int VARIANT, class L, class T>
__device__ __forceinline__ bool unmet(const L &s, const Constants<T> &k, T lambda, T residual2) {
  // The fast lambda test is only for tensors whose isotropic part is not removed.
  const T whole = VARIANT == FAST_LAMBDA ? lambda : lambda + s.isotropic;
  if (VARIANT == FAST_LAMBDA || (VARIANT == GENERIC && k.test == PURLIN_LAUNCH_TEST_LAMBDA))
    return fabs(lambda - s.lambda) > s.limit * fabs(whole);
  if (VARIANT == GENERIC && k.test == TEST_LAMBDA_ABSOLUTE) return fabs(lambda - s.lambda) > s.limit;
  if (VARIANT == GENERIC && k.test == PURLIN_LAUNCH_TEST_STEP) return s.step2 > s.limit && lambda == lambda;
  return residual2 > fmax(k.tolerance2 * whole * whole, s.floor2);
}

// Counts a step that moved lambda against the goal by more than rounding.
template <class L, class T>
__device__ __forceinline__ void watch_monotonicity(L &s, T lambda) {
  s.violations += lambda < s.lambda - T(16) * Real<T>::epsilon * (T(1) + fabs(lambda));
}

// Continues or stops a start after an evaluation. `classify_stop` later decides the reason of the stop.
template <int VARIANT, class L, class T>
__device__ __forceinline__ bool go_on(L &s, const Constants<T> &k, T lambda, T residual2) {
  const bool on = unmet<VARIANT>(s, k, lambda, residual2) & (s.iterations < k.max_iterations);
  if (VARIANT == GENERIC) {
    watch_monotonicity(s, lambda);
    s.previous = s.lambda;
  }
  s.lambda = lambda;
  if (on) {
    ++s.iterations;
    return true;
  }
  s.state = STOPPED;
  return false;
}

// Sets whether a stopped start converged or reached the limit of steps.
template <int VARIANT, class L, class T>
__device__ __forceinline__ void classify_stop(L &s, const Constants<T> &k) {
  if (s.state != STOPPED) return;
  const T lambda = s.lambda;
  if (VARIANT == GENERIC) s.lambda = s.previous;
  s.state = unmet<VARIANT>(s, k, lambda, s.residual2) ? EXHAUSTED : CONVERGED;
  s.lambda = lambda;
}

template <int VARIANT, class L, class T>
__device__ __forceinline__ void move_to(L &s, T nx, T ny, T nz) {
  T scale = Real<T>::rsqrt(fma(nx, nx, fma(ny, ny, nz * nz)));
  nx *= scale;
  ny *= scale;
  nz *= scale;
  if (VARIANT == GENERIC) {
    T dx = nx - s.x, dy = ny - s.y, dz = nz - s.z;
    s.step2 = fma(dx, dx, fma(dy, dy, dz * dz));
  }
  s.x = nx;
  s.y = ny;
  s.z = nz;
}

// Squared norm of g - lambda x, computed explicitly: |g|^2 - lambda^2 cancels.
template <class T>
__device__ __forceinline__ T residual_vector(const T (&g)[3], T lambda, T x, T y, T z, T (&r)[3]) {
  r[0] = fma(-lambda, x, g[0]);
  r[1] = fma(-lambda, y, g[1]);
  r[2] = fma(-lambda, z, g[2]);
  return fma(r[0], r[0], fma(r[1], r[1], r[2] * r[2]));
}

// Power step with the tensor's constant shift. `on` returns whether the test is still unmet. Without STOP the step is made in
// any case; with STOP the iterate stays at the point that met the test.
template <int VARIANT, bool STOP, int M, class T>
__device__ __forceinline__ void power_step(Lane<M, T, PURLIN_LAUNCH_POWER> &s, const Constants<T> &k, bool &on) {
  T g[3], r[3];
  s.form.vector(s.x, s.y, s.z, g);
  T lambda = fma(s.x, g[0], fma(s.y, g[1], s.z * g[2]));
  T residual2 = VARIANT == FAST_LAMBDA ? T(0) : residual_vector(g, lambda, s.x, s.y, s.z, r);
  on = on & unmet<VARIANT>(s, k, lambda, residual2);
  if (VARIANT == GENERIC) watch_monotonicity(s, lambda);
  s.lambda = lambda;
  if (STOP) {
    if (!on) return;
    ++s.iterations;
  }
  move_to<VARIANT>(s, fma(s.shift, s.x, g[0]), fma(s.shift, s.y, g[1]), fma(s.shift, s.z, g[2]));
}

// A few power steps between two votes of the warp. The end of the start makes the evaluation after the last allowed step,
// because it evaluates in any case. The fast variants check for the end once a block, so that nothing branches or counts
// inside. A start that meets the test continues to the end of its block, which only improves it. Two blocks a vote, both
// unrolled, with the resident blocks of sshopm.cu are 3 % faster on an H200 than one.
template <int VARIANT, int M, class T>
__device__ __forceinline__ void power_blocks(Lane<M, T, PURLIN_LAUNCH_POWER> &s, const Constants<T> &k) {
  constexpr int STEPS = 5, BLOCKS = 2;
  bool on = true;
  if (VARIANT != GENERIC && k.max_iterations - s.iterations >= STEPS) {
    const int blocks = min((k.max_iterations - s.iterations) / STEPS, BLOCKS);
#pragma unroll(M <= 4 ? BLOCKS : 1)
    for (int block = 0; block < BLOCKS; ++block) {
      if (block >= blocks || !on) break;
#pragma unroll(M <= 4 ? STEPS : 1)
      for (int i = 0; i < STEPS; ++i) power_step<VARIANT, false>(s, k, on);
      s.iterations += STEPS;
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < STEPS && on && s.iterations < k.max_iterations; ++i) power_step<VARIANT, true>(s, k, on);
  }
  if (!on) s.state = CONVERGED;
  else if (s.iterations >= k.max_iterations) s.state = EXHAUSTED;
}

// Smallest eigenvalue of the symmetric b11 b12 b13 b22 b23 b33, in closed form.
template <class T>
__device__ __forceinline__ T smallest_eigenvalue(const T (&b)[6]) {
  T q = (b[0] + b[3] + b[5]) * T(1.0 / 3.0);
  T u = b[0] - q, v = b[3] - q, w = b[5] - q;
  T off = fma(b[1], b[1], fma(b[2], b[2], b[4] * b[4]));
  T p2 = (fma(u, u, fma(v, v, w * w)) + off + off) * T(1.0 / 6.0);
  if (!(p2 > T(0))) return q;
  T i = T(1) / sqrt(p2), p = p2 * i;
  T det = u * fma(v, w, -b[4] * b[4]) - b[1] * fma(b[1], w, -b[4] * b[2]) + b[2] * fma(b[1], b[4], -v * b[2]);
  T c = T(0.5) * det * i * i * i;
  c = fmin(fmax(c, T(-1)), T(1));
  T e = fma(p + p, cospi(acos(c) * T(0.10610329539459689) + T(2.0 / 3.0)), q);
  // acos loses half the digits near +-1. The margin makes the shift err on the safe side.
  return sizeof(T) == 4 ? e - T(1e-3) * p : e;
}

// Power step with the shift of Kolda & Mayo (2014), which makes the form convex at x.
template <int VARIANT, int M, class T>
__device__ __forceinline__ bool adaptive_step(Lane<M, T, PURLIN_LAUNCH_HYBRID> &s, const Constants<T> &k) {
  T b[6], r[3];
  form_matrix<M>(s.form.a, s.x, s.y, s.z, b);
  T g[3] = {fma(b[0], s.x, fma(b[1], s.y, b[2] * s.z)), fma(b[1], s.x, fma(b[3], s.y, b[4] * s.z)),
            fma(b[2], s.x, fma(b[4], s.y, b[5] * s.z))};
  T lambda = fma(s.x, g[0], fma(s.y, g[1], s.z * g[2]));
  T residual2 = residual_vector(g, lambda, s.x, s.y, s.z, r);
  s.residual2 = residual2;
  if (!go_on<VARIANT>(s, k, lambda, residual2)) return false;
  T e = smallest_eigenvalue(b);
  s.shift = e >= s.tau * T(1.0 / (M * M - M)) ? T(0) : fma(-T(M - 1), e, s.tau * T(1.0 / M));
  move_to<VARIANT>(s, fma(s.shift, s.x, g[0]), fma(s.shift, s.y, g[1]), fma(s.shift, s.z, g[2]));
  return true;
}

// Newton's step in the tangent plane without a basis of the plane. With g = B x, r = g - lambda x and k = m - 1, the projected
// Hessian is H = k U'BU - lambda I. By Cayley and Hamilton the step -U H^-1 U'r is (U H U'r - tr H r) / det H, where
//   U H U'r = k (B r - |r|^2 x) - lambda r,   tr H = k t2 - 2 lambda,   det H = k^2 d2 - k lambda t2 + lambda^2,
// and t2 = tr B - lambda and d2 = x' adj(B) x = |g|^2 - lambda tr B + e2(B) are the trace and determinant of U'BU.
// Numerator and denominator are both divided by k.
template <class T>
struct TangentStep {
  T w[3], determinant, trace2, determinant2;
  bool negative_trace;
  template <int M>
  __device__ __forceinline__ static TangentStep at(const T (&b)[6], const T (&r)[3], T lambda, T residual2, T x, T y,
                                                   T z) {
    constexpr T k = T(M - 1);
    TangentStep t;
    T e2 = fma(b[0], b[3], fma(b[0], b[5], b[3] * b[5])) - fma(b[1], b[1], fma(b[2], b[2], b[4] * b[4]));
    t.trace2 = b[0] + b[3] + b[5] - lambda;
    t.determinant2 = fma(-lambda, t.trace2, e2 + residual2);
    const T q = lambda * (T(1) / k), c = t.trace2 - q;
    t.negative_trace = c < q;
    t.determinant = fma(k, t.determinant2, -lambda * c);
    t.w[0] = fma(-c, r[0], fma(b[0], r[0], fma(b[1], r[1], fma(b[2], r[2], -residual2 * x))));
    t.w[1] = fma(-c, r[1], fma(b[1], r[0], fma(b[3], r[1], fma(b[4], r[2], -residual2 * y))));
    t.w[2] = fma(-c, r[2], fma(b[2], r[0], fma(b[4], r[1], fma(b[5], r[2], -residual2 * z))));
    return t;
  }
};

// Newton's step uphill on the sphere with the shifted projected Hessian H - s I. The shift s >= 0 is the smallest for which
// H - s I is negative definite and the step no longer than 2/m, less than a third of the wavelength of a form of degree m.
// In the notation above, with g = (m/2) |r| / k and eigenvalues h2 <= h1 of H / k, the shifted eigenvalues over k are
// -e1 = -max(-h1, g) and -e2 = h2 - h1 - e1. So the determinant e1 e2 has no cancellation and |d| <= |r| / (k e1) <= 2/m.
// The step is always uphill, and adding a multiple of E to the tensor does not change it.
template <class T>
struct UphillStep {
  T w[3], inverse;  // the step is w * inverse
  T shift;          // the multiple of the identity, over k
  __device__ __forceinline__ static UphillStep at(int order, const T (&b)[6], const T (&r)[3], T lambda, T residual2, T x,
                                                  T y, T z) {
    const T k = T(order - 1), steepness = T(0.5) * T(order) / k, tiny = sizeof(T) == 4 ? T(1e-18) : T(1e-150);
    UphillStep t;
    const T outer = b[3] + b[5], trace2 = b[0] + outer - lambda, q = lambda * (T(1) / k);
    const T e2 = fma(-b[1], b[1], fma(-b[2], b[2], fma(-b[4], b[4], fma(b[0], outer, b[3] * b[5]))));
    const T determinant2 = fma(-lambda, trace2, e2 + residual2);
    const T half = T(0.5) * trace2, gap = Real<T>::root(fmax(fma(half, half, -determinant2), T(0)));
    const T top = half + gap - q;
    const T first = fmax(-top, fma(Real<T>::root(residual2), steepness, tiny)), second = fma(T(2), gap, first);
    t.shift = first + top;
    const T c = trace2 - q - t.shift;
    t.w[0] = fma(-c, r[0], fma(b[0], r[0], fma(b[1], r[1], fma(b[2], r[2], -residual2 * x))));
    t.w[1] = fma(-c, r[1], fma(b[1], r[0], fma(b[3], r[1], fma(b[4], r[2], -residual2 * y))));
    t.w[2] = fma(-c, r[2], fma(b[2], r[0], fma(b[4], r[1], fma(b[5], r[2], -residual2 * z))));
    t.inverse = Real<T>::reciprocal(k * first * second);
    return t;
  }
};

// Evaluation and step of the hybrid. The power steps of a warm-up have the smallest shift that keeps them uphill. They too
// have the form x + d, because y + alpha x is a multiple of x + r / (lambda + alpha).
template <int VARIANT, int M, class T>
__device__ __forceinline__ bool hybrid_step(Lane<M, T, PURLIN_LAUNCH_HYBRID> &s, const Constants<T> &k) {
  T b[6], r[3];
  form_matrix<M>(s.form.a, s.x, s.y, s.z, b);
  T g[3] = {fma(b[0], s.x, fma(b[1], s.y, b[2] * s.z)), fma(b[1], s.x, fma(b[3], s.y, b[4] * s.z)),
            fma(b[2], s.x, fma(b[4], s.y, b[5] * s.z))};
  T lambda = fma(s.x, g[0], fma(s.y, g[1], s.z * g[2]));
  T residual2 = residual_vector(g, lambda, s.x, s.y, s.z, r);
  s.residual2 = residual2;
  if (!go_on<VARIANT>(s, k, lambda, residual2)) return false;
  auto t = UphillStep<T>::at(M, b, r, lambda, residual2, s.x, s.y, s.z);
  if (VARIANT == GENERIC) s.shift = t.shift * T(M - 1);
  if (s.iterations <= k.warmup) {
    // Uphill needs (m-1) B + alpha I positive on the plane and, if lambda < 0, along x too. A margin of 1e-3 |lambda|
    // keeps lambda + alpha away from zero (entries are scaled to order one).
    const T trace2 = b[0] + b[3] + b[5] - lambda;
    const T e2 = fma(b[0], b[3] + b[5], b[3] * b[5]) - fma(b[1], b[1], fma(b[2], b[2], b[4] * b[4]));
    const T half = T(0.5) * trace2, spread = fmax(fma(half, half, fma(lambda, trace2, -e2 - residual2)), T(0));
    const T margin = fma(T(1e-3), fabs(lambda), T(1e-6));
    const T alpha = fmax(T(0), fma(T(M - 1), fmax(-lambda, Real<T>::root(spread) - half), margin));
    t.inverse = Real<T>::reciprocal(lambda + alpha);
    t.w[0] = r[0];
    t.w[1] = r[1];
    t.w[2] = r[2];
    if (VARIANT == GENERIC) s.shift = alpha;
  }
  move_to<VARIANT>(s, fma(t.w[0], t.inverse, s.x), fma(t.w[1], t.inverse, s.y), fma(t.w[2], t.inverse, s.z));
  return true;
}

// Orthogonal Newton correction (Jaffe, Weiss & Nadler 2018): the same step for any signature, so that saddles are found as
// well. One more step after the tolerance is met takes a quadratically convergent start to rounding level.
template <int M, class T>
__device__ __forceinline__ bool newton_step(Lane<M, T, PURLIN_LAUNCH_NEWTON> &s, const Constants<T> &k) {
  T b[6], r[3];
  form_matrix<M>(s.form.a, s.x, s.y, s.z, b);
  T g[3] = {fma(b[0], s.x, fma(b[1], s.y, b[2] * s.z)), fma(b[1], s.x, fma(b[3], s.y, b[4] * s.z)),
            fma(b[2], s.x, fma(b[4], s.y, b[5] * s.z))};
  T lambda = fma(s.x, g[0], fma(s.y, g[1], s.z * g[2]));
  T residual2 = residual_vector(g, lambda, s.x, s.y, s.z, r);
  bool within = residual2 <= s.floor2;
  if ((within && s.step2 < T(0)) || s.iterations >= k.max_iterations || !(residual2 == residual2)) {
    s.lambda = lambda;
    s.residual2 = residual2;
    s.state = within ? CONVERGED : EXHAUSTED;
    return false;
  }
  const auto t = TangentStep<T>::template at<M>(b, r, lambda, residual2, s.x, s.y, s.z);
  const T scale = fma(t.trace2, t.trace2, fma(lambda, lambda, fabs(t.determinant)));
  if (!(fabs(t.determinant) > (sizeof(T) == 4 ? T(1e-6) : T(1e-14)) * scale)) {
    s.lambda = lambda;
    s.residual2 = residual2;
    s.state = within ? CONVERGED : SINGULAR;
    return false;
  }
  const T inverse = Real<T>::reciprocal(t.determinant);
  // Within the floor, the distance to a nondegenerate pair is at most floor / |smallest Hessian eigenvalue|. At a continuum of
  // eigenvectors the step is a quotient of rounding errors, and the start has converged.
  const T long2 = sizeof(T) == 4 ? T(1e-4) : T(1e-8);
  if (within && fma(t.w[0], t.w[0], fma(t.w[1], t.w[1], t.w[2] * t.w[2])) * inverse * inverse > long2) {
    s.lambda = lambda;
    s.residual2 = residual2;
    s.state = CONVERGED;
    return false;
  }
  ++s.iterations;
  s.step2 = within ? T(-1) : T(1);
  move_to<FAST_RESIDUAL>(s, fma(t.w[0], inverse, s.x), fma(t.w[1], inverse, s.y), fma(t.w[2], inverse, s.z));
  return true;
}

}  // namespace purlin

#endif
