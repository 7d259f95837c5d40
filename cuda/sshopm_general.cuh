// SS-HOPM for any order and dimension up to 16: one warp runs 32 starts of one tensor, one start in each lane.
#ifndef PURLIN_SSHOPM_GENERAL_CUH
#define PURLIN_SSHOPM_GENERAL_CUH

#include "sshopm_launch.h"
#include "reduce.cuh"
#include "sshopm_packed.cuh"
#include "sshopm_real.cuh"
#include "sshopm_step.cuh"

namespace purlin {

// Numbers of its tensor that a warp computes before it starts.
template <class T>
struct Survey {
  T scale, inverse, norm, isotropic;
  int status;
};

template <class T>
__device__ Survey<T> survey(const purlin_sshopm_params &p, const T *a) {
  Survey<T> s{T(1), T(1), T(0), T(0), PURLIN_LAUNCH_TENSOR_OK};
  T largest = T(0);
  for (int64_t r = lane_id(); r < p.entries; r += 32) {
    T v = fabs(__ldg(a + r * p.entry_stride));
    largest = ordered_key(v) > ordered_key(largest) ? v : largest;
  }
  largest = warp_max_value(largest);
  if (!is_finite(largest)) {
    s.status = PURLIN_LAUNCH_TENSOR_NONFINITE;
    return s;
  }
  if (largest == T(0)) {
    s.status = PURLIN_LAUNCH_TENSOR_ZERO;
    return s;
  }
  s.scale = Real<T>::power_scale(largest, &s.inverse);
  const T *identity = address<const T>(p.identity), *multinomial = address<const T>(p.multinomials);
  const T c = __ldg(a);
  bool off = identity == nullptr || p.method == PURLIN_LAUNCH_NEWTON || p.dimension == 1;
  T norm = T(0);
  for (int64_t r = lane_id(); r < p.entries; r += 32) {
    T v = __ldg(a + r * p.entry_stride);
    if (!off) off = fabs(v - c * __ldg(identity + r)) > T(p.isotropy) * largest;
    v *= s.scale;
    norm = fma(__ldg(multinomial + r) * v, v, norm);
  }
  s.norm = sqrt(warp_sum(norm));
  if (!__any_sync(FULL_WARP, off)) {
    s.status = PURLIN_LAUNCH_TENSOR_ISOTROPIC;
    s.isotropic = c;
  }
  return s;
}

template <class T>
struct GeneralState {
  T x[MAX_N], y[MAX_N], r[MAX_N], d[MAX_N], b[MAX_N * MAX_N], h[MAX_N * MAX_N];
  T lambda, shift, residual;
  int iterations, violations, status;
};

// d = the step from x: x + d is the next iterate before normalization. Returns false if Newton's system is singular.
template <class T>
__device__ bool general_direction(const purlin_sshopm_params &p, const Survey<T> &v, GeneralState<T> &s, T constant) {
  const int n = p.dimension;
  const T k = T(p.order - 1), lambda = s.lambda;
  if (p.method == PURLIN_LAUNCH_NEWTON) {
    // Singular is measured relative to the Hessian at x, not to the tensor: near a continuum at lambda = 0 the whole Hessian
    // vanishes, and the iteration must continue until the residual does, too.
    const T size = fma(k, sqrt(dot_n(n * n, s.b, s.b)), fabs(lambda));
    projected(n, s.b, s.x, s.y, lambda, k, -lambda, size, s.h);
    for (int i = 0; i < n; ++i) s.d[i] = -s.r[i];
    return eliminate(n, s.h, s.d, (sizeof(T) == 4 ? T(1e-6) : T(1e-14)) * size);
  }
  const bool beyond = p.method == PURLIN_LAUNCH_HYBRID && s.iterations >= p.warmup;
  if (beyond && n == 3 && p.shift_kind == PURLIN_LAUNCH_SHIFT_ADAPTIVE) {
    const T b[6] = {s.b[0], s.b[1], s.b[2], s.b[4], s.b[5], s.b[8]}, r[3] = {s.r[0], s.r[1], s.r[2]};
    const auto t = UphillStep<T>::at(p.order, b, r, lambda, dot_n(n, s.r, s.r), s.x[0], s.x[1], s.x[2]);
    for (int i = 0; i < 3; ++i) s.d[i] = t.w[i] * t.inverse;
    s.shift = k * t.shift;
    return true;
  }
  // Bounds of the spectrum of the projected B from its trace and Frobenius norm (Wolkowicz & Styan 1980), exact for n = 3.
  // Exact eigenvalues would cost more than the step.
  T mean = T(0), spread = T(0);
  const bool bounded = p.method == PURLIN_LAUNCH_HYBRID && p.shift_kind == PURLIN_LAUNCH_SHIFT_ADAPTIVE;
  if (bounded) {
    projected(n, s.b, s.x, s.y, lambda, T(1), T(0), T(0), s.h);
    const T size = T(max(n - 1, 1));
    for (int i = 0; i < n; ++i) mean += s.h[i * n + i];
    mean /= size;
    // Subtract the mean before squaring, to avoid cancellation: mean (I - x x') has the trace and the zero eigenvalue of the
    // projected B.
    T square = T(0);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const T e = s.h[i * n + j] - mean * ((i == j ? T(1) : T(0)) - s.x[i] * s.x[j]);
        square = fma(e, e, square);
      }
    spread = sqrt((size - T(1)) * square / size);
  }
  if (beyond) {
    projected(n, s.b, s.x, s.y, lambda, -k, lambda, v.norm, s.h);
    const T longest = bounded ? T(2) / T(p.order) : T(0.5);
    if (cholesky_solve(n, s.h, s.r, s.d) && dot_n(n, s.d, s.d) <= longest * longest) {
      s.shift = T(0);
      return true;
    }
    if (bounded && n > 1) {
      // As UphillStep, but with a bound of the largest eigenvalue of the projected Hessian, so the shift may exceed the
      // smallest one.
      const T top = fma(k, mean + spread, -lambda), tiny = sizeof(T) == 4 ? T(1e-18) : T(1e-150);
      s.shift = fmax(T(0), fma(T(0.5) * T(p.order), s.residual, tiny) + top);
      projected(n, s.b, s.x, s.y, lambda, -k, lambda + s.shift, v.norm, s.h);
      if (cholesky_solve(n, s.h, s.r, s.d)) return true;
    }
  }
  if (p.method == PURLIN_LAUNCH_HYBRID) {
    if (p.shift_kind == PURLIN_LAUNCH_SHIFT_ADAPTIVE) {
      const T margin = fma(T(1e-3), fabs(lambda), T(1e-6));
      s.shift = fmax(T(0), fma(k, fmax(-lambda, spread - mean), margin));
    } else {
      s.shift = constant;
    }
    T scale = T(1) / (lambda + s.shift);
    for (int i = 0; i < n; ++i) s.d[i] = s.r[i] * scale;
    return true;
  }
  if (p.shift_kind == PURLIN_LAUNCH_SHIFT_ADAPTIVE) {
    for (int i = 0; i < n * n; ++i) s.h[i] = s.b[i];
    jacobi_eigenvalues(n, s.h, s.d);
    const T m = T(p.order);
    const T tau = (p.flags & PURLIN_LAUNCH_ABSOLUTE_TAU) ? T(p.tau) * v.scale : T(p.tau) * v.norm;
    s.shift = s.d[0] >= tau / (m * m - m) ? T(0) : fma(-k, s.d[0], tau / m);
  } else {
    s.shift = constant;
  }
  // The power step as in the literature. x is subtracted, because every method returns a step.
  for (int i = 0; i < n; ++i) s.d[i] = fma(s.shift, s.x[i], s.y[i]) - s.x[i];
  return true;
}

// Runs one start to its end.
template <class T>
__device__ void general_start(const purlin_sshopm_params &p, const Packed<T> &form, const Survey<T> &v,
                              GeneralState<T> &s, bool traced) {
  const int n = p.dimension;
  const bool newton = p.method == PURLIN_LAUNCH_NEWTON;
  const bool matrix = p.method != PURLIN_LAUNCH_POWER || p.shift_kind == PURLIN_LAUNCH_SHIFT_ADAPTIVE;
  const T tolerance = T(p.tolerance);
  const T floor = fmax(newton ? tolerance : T(1e-3) * tolerance, T(4) * Real<T>::epsilon) * v.norm;
  const T constant = p.shift_kind == PURLIN_LAUNCH_SHIFT_GUARANTEED ? T(p.order - 1) * v.norm * T(1.001)
                                                                    : bounded_shift(T(fabs(p.shift)) * v.scale);
  const auto limits = Thresholds<T>::of(p, tolerance, v.norm, constant, v.scale);
  const bool absolute = p.flags & PURLIN_LAUNCH_ABSOLUTE_TOLERANCE;
  const T unit = p.goal == PURLIN_LAUNCH_MINIMA ? -v.inverse : v.inverse;
  T previous = -Real<T>::infinity(), step = Real<T>::infinity();
  bool polished = false;
  s.iterations = s.violations = 0;
  s.shift = T(0);
  for (;;) {
    if (matrix) {
      packed_matrix(form, s.x, s.b);
      multiply_n(n, s.b, s.x, s.y);
    } else {
      packed_vector(form, s.x, s.y);
    }
    s.lambda = dot_n(n, s.x, s.y);
    for (int i = 0; i < n; ++i) s.r[i] = fma(-s.lambda, s.x[i], s.y[i]);
    s.residual = sqrt(dot_n(n, s.r, s.r));
    if (traced && s.iterations < p.trace_length) address<T>(p.trace)[s.iterations] = s.lambda * unit;
    if (!(s.lambda == s.lambda)) {
      s.status = PURLIN_LAUNCH_START_ZERO_VECTOR;
      return;
    }
    bool done;
    if (newton) {
      done = s.residual <= floor;
    } else if (p.test == PURLIN_LAUNCH_TEST_RESIDUAL) {
      done = s.residual <= fmax(tolerance * fabs(s.lambda), floor);
    } else if (limits.limit < T(0)) {
      // Newton's steps reach rounding also where no power step can meet the test.
      done = (p.method == PURLIN_LAUNCH_HYBRID || s.iterations >= p.max_iterations) &&
             s.residual * s.residual <= limits.floor2;
    } else if (p.test == PURLIN_LAUNCH_TEST_LAMBDA) {
      done = fabs(s.lambda - previous) <= (absolute ? limits.limit : limits.limit * fabs(s.lambda));
    } else {
      done = step <= limits.limit;
    }
    s.violations += s.lambda < previous - T(16) * Real<T>::epsilon * (T(1) + fabs(s.lambda));
    previous = s.lambda;
    if (done && (!newton || polished)) {
      s.status = PURLIN_LAUNCH_START_CONVERGED;
      return;
    }
    polished = done;
    if (s.iterations >= p.max_iterations) {
      s.status = done ? PURLIN_LAUNCH_START_CONVERGED : PURLIN_LAUNCH_START_MAX_ITERATIONS;
      return;
    }
    if (!general_direction(p, v, s, constant)) {
      s.status = done ? PURLIN_LAUNCH_START_CONVERGED : PURLIN_LAUNCH_START_SINGULAR;
      return;
    }
    // As in newton_step: at a continuum of eigenvectors the step from within the floor is meaningless.
    if (newton && done && dot_n(n, s.d, s.d) > (sizeof(T) == 4 ? T(1e-4) : T(1e-8))) {
      s.status = PURLIN_LAUNCH_START_CONVERGED;
      return;
    }
    ++s.iterations;
    for (int i = 0; i < n; ++i) s.d[i] += s.x[i];
    T length = dot_n(n, s.d, s.d), scale = T(1) / sqrt(length), change = T(0);
    for (int i = 0; i < n; ++i) {
      T next = s.d[i] * scale, e = next - s.x[i];
      change = fma(e, e, change);
      s.x[i] = next;
    }
    step = sqrt(change);
  }
}

template <class T>
__device__ void write_general_start(const purlin_sshopm_params &p, int64_t row, int v, const GeneralState<T> &s, T unit) {
  const int64_t at = row * p.start_count + v;
  const int n = p.dimension;
  const bool zero = s.status == PURLIN_LAUNCH_START_ZERO_VECTOR;
  if (p.start_values) address<T>(p.start_values)[at] = zero ? T(0) : s.lambda * unit;
  if (p.start_vectors)
    for (int i = 0; i < n; ++i) address<T>(p.start_vectors)[at * n + i] = zero ? T(0) : s.x[i];
  if (p.start_residuals) address<T>(p.start_residuals)[at] = zero ? T(0) : s.residual * fabs(unit);
  if (p.start_shifts) address<T>(p.start_shifts)[at] = zero ? T(0) : s.shift * unit;
  if (p.start_iterations) address<int>(p.start_iterations)[at] = s.iterations;
  if (p.start_violations) address<int>(p.start_violations)[at] = s.violations;
  if (p.start_status) address<int>(p.start_status)[at] = s.status;
}

template <class T>
__device__ void solve_general(const purlin_sshopm_params &p) {
  const int n = p.dimension, groups = (p.start_count + 31) / 32, warps = blockDim.x / 32;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * warps;
  uint64_t converged = 0, iterations = 0, skipped = 0;
  GeneralState<T> s;
  for (int64_t work = static_cast<int64_t>(blockIdx.x) * warps + threadIdx.x / 32; work < p.count * groups;
       work += stride) {
    const int64_t item = work / groups;
    const int group = static_cast<int>(work - item * groups), v = group * 32 + lane_id();
    const int64_t row = p.index ? __ldg(address<const long long>(p.index) + item) : item;
    const bool leader = group == 0 && lane_id() == 0;
    int *status = address<int>(p.status);
    if (p.mask && address<const uint8_t>(p.mask)[row] == 0) {
      if (leader && status) status[row] = PURLIN_LAUNCH_TENSOR_MASKED;
      skipped += leader;
      continue;
    }
    const T *a = address<const T>(p.tensors) + row * p.tensor_stride;
    const Survey<T> know = survey(p, a);
    if (leader && status) status[row] = know.status;
    skipped += leader && know.status != PURLIN_LAUNCH_TENSOR_OK;
    if (v >= p.start_count) continue;
    const T *start = address<const T>(p.starts) + item * p.start_stride + static_cast<int64_t>(v) * n;
    T length = T(0);
    for (int i = 0; i < n; ++i) length = fma(start[i], start[i], length);
    length = T(1) / sqrt(length);
    for (int i = 0; i < n; ++i) s.x[i] = start[i] * length;
    const T unit = p.goal == PURLIN_LAUNCH_MINIMA ? -know.inverse : know.inverse;
    if (know.status == PURLIN_LAUNCH_TENSOR_OK) {
      Packed<T> form{a, p.entry_stride, address<const uint8_t>(p.indices), address<const T>(p.multinomials), p.entries,
                     p.order, n, p.goal == PURLIN_LAUNCH_MINIMA ? -know.scale : know.scale};
      general_start(p, form, know, s, p.trace != 0 && item == 0 && v == 0);
      write_general_start(p, row, v, s, unit);
      converged += s.status == PURLIN_LAUNCH_START_CONVERGED;
      iterations += s.iterations;
    } else {
      const bool bad = know.status == PURLIN_LAUNCH_TENSOR_NONFINITE;
      s.lambda = bad ? Real<T>::nan() : know.isotropic;
      s.residual = s.shift = bad ? Real<T>::nan() : T(0);
      if (bad)
        for (int i = 0; i < n; ++i) s.x[i] = Real<T>::nan();
      s.iterations = s.violations = 0;
      s.status = bad ? PURLIN_LAUNCH_START_NONFINITE : PURLIN_LAUNCH_START_CONVERGED;
      write_general_start(p, row, v, s, T(1));
    }
  }
  if (p.counters) {
    auto *counters = address<unsigned long long>(p.counters);
    converged = warp_sum(converged);
    iterations = warp_sum(iterations);
    skipped = warp_sum(skipped);
    if (lane_id() == 0) {
      if (converged) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_CONVERGED, converged);
      if (iterations) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_ITERATIONS, iterations);
      if (skipped) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_SKIPPED, skipped);
    }
  }
}

}  // namespace purlin

#endif
