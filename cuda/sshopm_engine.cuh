// The fused n = 3 solver. One warp owns a stream of tensors and keeps up to `window` of them in a ring in shared
// memory; its lanes work on starts, each lane with the entries of its own start's tensor in registers. A lane that
// ends waits until enough others have, then all of them put down their results and take the next starts, of the next
// tensor if need be: the number of steps differs five-fold between starts, and this keeps the lanes busy. The warp
// turns the results of a tensor into pairs once its last start has ended. No result depends on who computed it.
#ifndef PURLIN_SSHOPM_ENGINE_CUH
#define PURLIN_SSHOPM_ENGINE_CUH

#include "purlin_launch.h"
#include "reduce.cuh"
#include "sshopm_load.cuh"
#include "sshopm_reduce.cuh"
#include "sshopm_step.cuh"

namespace purlin {

// Lanes that must have ended before the warp stops to refill, and steps between two looks.
template <int METHOD>
struct Pace {
  static constexpr int idle = 10, steps = 1;
};
template <>
struct Pace<PURLIN_LAUNCH_POWER> {
  static constexpr int idle = 10, steps = 4;
};

template <int VARIANT, int M, class T, int METHOD>
__device__ __forceinline__ bool step(Lane<M, T, METHOD> &s, const Constants<T> &k, bool adaptive) {
  if constexpr (METHOD == PURLIN_LAUNCH_POWER) {
    return power_step<VARIANT>(s, k);
  } else if constexpr (METHOD == PURLIN_LAUNCH_NEWTON) {
    return newton_step(s, k);
  } else {
    if (VARIANT == GENERIC && adaptive) return adaptive_step<VARIANT>(s, k);
    return hybrid_step<VARIANT>(s, k);
  }
}

// Steps until at most `limit` of the watched lanes still run.
template <int VARIANT, int M, class T, int METHOD>
__device__ __forceinline__ void run(Lane<M, T, METHOD> &s, const Constants<T> &k, bool adaptive, bool watched,
                                    int limit) {
  while (__popc(__ballot_sync(FULL_WARP, watched && s.state == RUNNING)) > limit) {
    if (s.state == RUNNING) {
#pragma unroll 1
      for (int i = 0; i < Pace<METHOD>::steps; ++i)
        if (!step<VARIANT>(s, k, adaptive)) break;
    }
  }
}

// Start outputs of one start: the iterate as it stands, values in the caller's scale.
template <class T>
__device__ void write_start(const purlin_sshopm_params &p, int64_t row, int v, T value, T x, T y, T z, T residual,
                            T shift, int iterations, int violations, int status) {
  const int64_t at = row * p.start_count + v;
  if (p.start_values) address<T>(p.start_values)[at] = value;
  if (p.start_vectors) {
    T *o = address<T>(p.start_vectors) + 3 * at;
    o[0] = x;
    o[1] = y;
    o[2] = z;
  }
  if (p.start_residuals) address<T>(p.start_residuals)[at] = residual;
  if (p.start_shifts) address<T>(p.start_shifts)[at] = shift;
  if (p.start_iterations) address<int>(p.start_iterations)[at] = iterations;
  if (p.start_violations) address<int>(p.start_violations)[at] = violations;
  if (p.start_status) address<int>(p.start_status)[at] = status;
}

// Start outputs of a tensor that is not iterated on.
template <class T>
__device__ void write_start_specials(const purlin_sshopm_params &p, int64_t item, int64_t row, int status, T value) {
  if (status == PURLIN_LAUNCH_TENSOR_MASKED) return;
  const bool bad = status == PURLIN_LAUNCH_TENSOR_NONFINITE;
  const T none = Real<T>::nan();
  for (int v = lane_id(); v < p.start_count; v += 32) {
    const T *s = address<const T>(p.starts) + item * p.start_stride + 3 * static_cast<int64_t>(v);
    T scale = T(1) / sqrt(fma(s[0], s[0], fma(s[1], s[1], s[2] * s[2])));
    if (bad) write_start(p, row, v, none, none, none, none, none, none, 0, 0, PURLIN_LAUNCH_START_NONFINITE);
    else write_start(p, row, v, value, s[0] * scale, s[1] * scale, s[2] * scale, T(0), T(0), 0, 0,
                     PURLIN_LAUNCH_START_CONVERGED);
  }
}

// Takes a start. What belongs to its tensor follows by `attach`.
template <int M, class T, int METHOD>
__device__ __forceinline__ void begin(Lane<M, T, METHOD> &s, const T *start) {
  T x = start[0], y = start[1], z = start[2];
  T scale = T(1) / sqrt(fma(x, x, fma(y, y, z * z)));
  s.x = x * scale;
  s.y = y * scale;
  s.z = z * scale;
  s.lambda = -Real<T>::infinity();
  s.residual2 = T(0);
  s.shift = T(0);
  s.step2 = Real<T>::infinity();
  s.iterations = s.violations = 0;
  s.state = RUNNING;
}

// Entries and scalars of the lane's tensor into registers. Every running lane does this after each refill: the warp
// has to execute it for the new starts anyway, and so nothing of it stays live while a tensor is loaded or selected.
template <int M, class T, int METHOD>
__device__ __forceinline__ void attach(Lane<M, T, METHOD> &s, const T *slot) {
  constexpr int U = entries3(M);
  s.form.load(slot);
  s.isotropic = slot[U + ISOTROPIC];
  s.floor2 = slot[U + FLOOR2];
  if (METHOD == PURLIN_LAUNCH_POWER) s.shift = slot[U + SHIFT];
  s.tau = slot[U + TAU];
  s.limit = slot[U + LAMBDA_TOLERANCE];
}

// Puts an ended start down: into the ring for the selection, and into the start outputs. Returns whether it converged.
template <int M, class T, int METHOD>
__device__ __forceinline__ bool end(const purlin_sshopm_params &p, Lane<M, T, METHOD> &s, const T *slot, T *results,
                                    int64_t row, int v, bool outputs) {
  constexpr int U = entries3(M);
  int status = s.state == CONVERGED  ? PURLIN_LAUNCH_START_CONVERGED
               : s.state == EXHAUSTED ? PURLIN_LAUNCH_START_MAX_ITERATIONS
                                      : PURLIN_LAUNCH_START_SINGULAR;
  T scale = T(1) / sqrt(fma(s.x, s.x, fma(s.y, s.y, s.z * s.z)));
  T x = s.x * scale, y = s.y * scale, z = s.z * scale, lambda = s.lambda, residual;
  if constexpr (METHOD == PURLIN_LAUNCH_POWER) {
    // The loop keeps no residual under the other tests; one evaluation at the end gives it and the last digits.
    T g[3], r[3];
    form_vector<M>(slot, x, y, z, g);
    lambda = fma(x, g[0], fma(y, g[1], z * g[2]));
    residual = sqrt(residual_vector(g, lambda, x, y, z, r));
  } else {
    residual = sqrt(s.residual2);
  }
  if (!(lambda == lambda)) {
    status = PURLIN_LAUNCH_START_ZERO_VECTOR;
    lambda = x = y = z = residual = T(0);
  } else {
    lambda += slot[U + ISOTROPIC];
  }
  bool converged = status == PURLIN_LAUNCH_START_CONVERGED;
  if (p.pairs > 0) {
    StartResults<T> store(results, p.start_count);
    store.value[v] = converged ? lambda : -Real<T>::infinity();
    store.x[v] = x;
    store.y[v] = y;
    store.z[v] = z;
    store.residual[v] = residual;
  }
  if (outputs) {
    T unit = slot[U + OUT_SCALE];
    write_start(p, row, v, lambda * unit, x, y, z, residual * fabs(unit), s.shift * slot[U + SHIFT_SCALE], s.iterations,
                s.violations, status);
  }
  return converged;
}

template <int M, class T, int METHOD>
__device__ __forceinline__ void solve(const purlin_sshopm_params &p) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  constexpr int U = entries3(M);
  T *shared = reinterpret_cast<T *>(shared_bytes);
  T *multinomial = shared, *identity = shared + U;
  fill_tables<M>(multinomial, identity);
  __syncthreads();

  const int starts = p.start_count, window = p.window, warps = blockDim.x / 32;
  const int slot_size = U + SLOT_SCALARS + (p.pairs > 0 ? 5 * starts : 0);
  T *ring = shared + 2 * U + (threadIdx.x / 32) * window * slot_size;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * warps;
  const int64_t own = static_cast<int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  const int total = own < p.count ? static_cast<int>((p.count - own + stride - 1) / stride) : 0;

  const bool outputs = (p.start_values | p.start_vectors | p.start_residuals | p.start_iterations | p.start_shifts |
                        p.start_status | p.start_violations) != 0;
  const Constants<T> k{T(p.tolerance), METHOD == PURLIN_LAUNCH_NEWTON ? T(0) : T(p.tolerance) * T(p.tolerance), p.test,
                       p.max_iterations, p.warmup};
  const bool adaptive = p.method == PURLIN_LAUNCH_POWER;
  int variant = GENERIC;
  if (!p.start_shifts && !p.start_violations && !(METHOD == PURLIN_LAUNCH_HYBRID && adaptive)) {
    if (p.test == PURLIN_LAUNCH_TEST_RESIDUAL) variant = FAST_RESIDUAL;
    if (METHOD == PURLIN_LAUNCH_POWER && p.test == PURLIN_LAUNCH_TEST_LAMBDA &&
        !(p.flags & PURLIN_LAUNCH_ABSOLUTE_TOLERANCE))
      variant = FAST_LAMBDA;
  }

  Lane<M, T, METHOD> s;
  s.state = EMPTY;
  int my_tensor = 0, my_start = 0;  // the lane's tensor, counted along this warp's stream, and start
  // Tensors first..current are in the ring; those before `current` are handed out, of it the starts before `next`.
  int first = 0, current = -1, next = starts;
  unsigned special = 0;  // ring places of tensors that were not iterated on
  uint64_t converged = 0, iterations = 0, skipped = 0;

  for (;;) {
    if (s.state > RUNNING) {
      const T *slot = ring + (my_tensor % window) * slot_size;
      int64_t row = outputs ? row_of(p, own + my_tensor * stride) : 0;
      converged += end(p, s, slot, const_cast<T *>(slot) + U + SLOT_SCALARS, row, my_start, outputs);
      iterations += s.iterations;
      s.state = EMPTY;
    }
    __syncwarp();
    while (first < current || (first == current && next >= starts)) {
      if (__any_sync(FULL_WARP, s.state == RUNNING && my_tensor == first)) break;
      if constexpr (METHOD != PURLIN_LAUNCH_NEWTON) {
        T *slot = ring + (first % window) * slot_size;
        if (p.pairs > 0 && !((special >> (first % window)) & 1u))
          select_pairs<M>(p, row_of(p, own + first * stride), slot, slot + U + SLOT_SCALARS);
      }
      ++first;
    }
    if (first >= total) break;

    unsigned idle = __ballot_sync(FULL_WARP, s.state == EMPTY);
    while (idle != 0) {
      if (next >= starts) {
        if (current + 1 >= total || current + 1 - first >= window) break;
        ++current;
        const int place = current % window;
        T *slot = ring + place * slot_size;
        __syncwarp();
        const int64_t item = own + current * stride;
        int status = load_tensor<M, T, METHOD>(p, multinomial, identity, item, slot);
        __syncwarp();
        if (status == PURLIN_LAUNCH_TENSOR_OK) {
          next = 0;
          special &= ~(1u << place);
          if (p.pairs == 0 && p.status && lane_id() == 0) address<int>(p.status)[row_of(p, item)] = status;
        } else {
          special |= 1u << place;
          ++skipped;
          const int64_t row = row_of(p, item);
          T value = status == PURLIN_LAUNCH_TENSOR_ISOTROPIC ? slot[U + ISOTROPIC] : T(0);
          if (outputs) write_start_specials(p, item, row, status, value);
          write_special<M>(p, item, row, status, value);
        }
        continue;
      }
      int rank = __popc(idle & lanes_below()), take = min(__popc(idle), starts - next);
      if (s.state == EMPTY && rank < take) {
        my_tensor = current;
        my_start = next + rank;
        begin(s, address<const T>(p.starts) + (own + current * stride) * p.start_stride + 3 * my_start);
      }
      next += take;
      idle = __ballot_sync(FULL_WARP, s.state == EMPTY);
    }
    if (s.state == RUNNING) attach(s, ring + (my_tensor % window) * slot_size);
    // With nothing left to hand out the oldest tensor must end first: it frees its place in the ring.
    const bool more = next < starts || (current + 1 < total && current + 1 - first < window);
    const bool watched = more || my_tensor == first;
    const int limit = more ? 32 - Pace<METHOD>::idle : 0;
    if (METHOD != PURLIN_LAUNCH_NEWTON && variant == FAST_RESIDUAL) {
      run<FAST_RESIDUAL>(s, k, adaptive, watched, limit);
    } else if (METHOD == PURLIN_LAUNCH_POWER && variant == FAST_LAMBDA) {
      run<FAST_LAMBDA>(s, k, adaptive, watched, limit);
    } else {
      run<GENERIC>(s, k, adaptive, watched, limit);
    }
  }

  if (p.counters) {
    converged = warp_sum(converged);
    iterations = warp_sum(iterations);
    if (lane_id() == 0) {
      auto *counters = address<unsigned long long>(p.counters);
      if (converged) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_CONVERGED, converged);
      if (iterations) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_ITERATIONS, iterations);
      if (skipped) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_SKIPPED, skipped);
    }
  }
}

}  // namespace purlin

#endif
