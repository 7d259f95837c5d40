// The fused n = 3 solver. One warp processes a stream of tensors and has up to `window` of them in a ring in shared memory.
// Its lanes iterate starts; each lane has the entries of its start's tensor in registers. A lane whose start has ended
// waits until enough others have, too. Then all of them store their results and take the next starts, possibly of the next
// tensor. The number of steps varies five-fold between starts; this scheme keeps the lanes busy. The warp reduces the
// results of a tensor to pairs after its last start has ended. No result depends on which lane computed it.
#ifndef PURLIN_SSHOPM_ENGINE_CUH
#define PURLIN_SSHOPM_ENGINE_CUH

#include "sshopm_launch.h"
#include "reduce.cuh"
#include "sshopm_load.cuh"
#include "sshopm_reduce.cuh"
#include "sshopm_step.cuh"

namespace purlin {

// Lanes that must have ended before the warp stops to refill them. A small number keeps more lanes busy; a large one spreads
// the cost of stopping. Measured on an H200: 8 takes 3 % and 5 takes 6 % more time than 12.
constexpr int IDLE_LANES = 12;

template <int VARIANT, int M, class T, int METHOD>
__device__ __forceinline__ void advance(Lane<M, T, METHOD> &s, const Constants<T> &k, bool adaptive) {
  if constexpr (METHOD == PURLIN_LAUNCH_POWER) {
    power_blocks<VARIANT>(s, k);
  } else if constexpr (METHOD == PURLIN_LAUNCH_NEWTON) {
    newton_step(s, k);
  } else {
    if (VARIANT == GENERIC && adaptive) {
      adaptive_step<VARIANT>(s, k);
    } else {
      // Two steps between two votes of the warp: measured to be 4 % faster than one on an H200.
      bool on = true;
#pragma unroll 1
      for (int i = 0; i < 2 && on; ++i) on = hybrid_step<VARIANT>(s, k);
    }
  }
}

// Runs until enough lanes have ended to refill them. Without further starts, runs until a tensor has ended and frees its
// slot in the ring. `place_bit` is the bit of the lane's slot, `active` those of all running lanes.
template <int VARIANT, int M, class T, int METHOD>
__device__ __forceinline__ void run(Lane<M, T, METHOD> &s, const Constants<T> &k, bool adaptive, bool more,
                                    unsigned place_bit, unsigned active) {
  for (;;) {
    const bool running = s.state == RUNNING;
    if (more) {
      if (__popc(__ballot_sync(FULL_WARP, running)) <= 32 - IDLE_LANES) return;
    } else {
      if (__reduce_or_sync(FULL_WARP, running ? place_bit : 0u) != active) return;
    }
    if (running) advance<VARIANT>(s, k, adaptive);
  }
}

// Writes the outputs of one start: the unchanged iterate, with values in the caller's scale.
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

// Writes the start outputs of a tensor without iterations.
template <class T>
__device__ void write_start_specials(const purlin_sshopm_params &p, int64_t item, int64_t row, int status, T value) {
  if (status == PURLIN_LAUNCH_TENSOR_MASKED) return;
  const bool bad = status == PURLIN_LAUNCH_TENSOR_NONFINITE;
  const T none = Real<T>::nan();
  for (int v = lane_id(); v < p.start_count; v += 32) {
    const T *s = address<const T>(p.starts) + item * p.start_stride + 3 * static_cast<int64_t>(v);
    T scale = Real<T>::rsqrt_refined(fma(s[0], s[0], fma(s[1], s[1], s[2] * s[2])));
    if (bad) write_start(p, row, v, none, none, none, none, none, none, 0, 0, PURLIN_LAUNCH_START_NONFINITE);
    else write_start(p, row, v, value, s[0] * scale, s[1] * scale, s[2] * scale, T(0), T(0), 0, 0,
                     PURLIN_LAUNCH_START_CONVERGED);
  }
}

// Begins the start whose vector is set. `attach` then loads the numbers of its tensor.
template <int M, class T, int METHOD>
__device__ __forceinline__ void begin(Lane<M, T, METHOD> &s) {
  s.lambda = -Real<T>::infinity();
  s.residual2 = T(0);
  if (METHOD != PURLIN_LAUNCH_POWER) s.shift = T(0);
  s.step2 = Real<T>::infinity();
  s.iterations = s.violations = 0;
  s.state = RUNNING;
}

// Loads entries and scalars of the lane's tensor into registers. All lanes do this after each refill, including lanes without
// a start: the warp executes it anyway, and so no entry stays live while a tensor is loaded or selected.
template <int M, class T, int METHOD>
__device__ __forceinline__ void attach(Lane<M, T, METHOD> &s, const T *slot) {
  constexpr int HEAD = padded(entries3(M));
  T t[SLOT_HEAD<M>];
  load_aligned(slot, t);
  s.form.load(t);
  s.isotropic = t[HEAD + ISOTROPIC];
  s.floor2 = t[HEAD + FLOOR2];
  if (METHOD == PURLIN_LAUNCH_POWER) s.shift = t[HEAD + SHIFT];
  s.tau = t[HEAD + TAU];
  s.limit = t[HEAD + LIMIT];
}

// Stores an ended start in the ring for the selection, and in the start outputs. Returns whether it converged.
template <int VARIANT, int M, class T, int METHOD>
__device__ __forceinline__ bool end(const purlin_sshopm_params &p, Lane<M, T, METHOD> &s, const Constants<T> &k,
                                    T *slot, int64_t row, int v, bool outputs) {
  constexpr int HEAD = padded(entries3(M));
  T scale = Real<T>::rsqrt_refined(fma(s.x, s.x, fma(s.y, s.y, s.z * s.z)));
  T x = s.x * scale, y = s.y * scale, z = s.z * scale, lambda = s.lambda, residual2 = s.residual2;
  if constexpr (METHOD == PURLIN_LAUNCH_POWER) {
    // One more evaluation gives the residual, which not every test computes in the loop, and the last digits.
    T g[3], r[3];
    s.form.vector(x, y, z, g);
    lambda = fma(x, g[0], fma(y, g[1], z * g[2]));
    residual2 = residual_vector(g, lambda, x, y, z, r);
    if (s.state == EXHAUSTED) {
      if (VARIANT == GENERIC) watch_monotonicity(s, lambda);
      if (!unmet<VARIANT>(s, k, lambda, residual2)) s.state = CONVERGED;
    }
    if (VARIANT != FAST_RESIDUAL && s.limit < T(0)) s.state = residual2 <= s.floor2 ? CONVERGED : EXHAUSTED;
  }
  if constexpr (METHOD == PURLIN_LAUNCH_HYBRID) classify_stop<VARIANT>(s, k);
  const bool valid = lambda == lambda;
  const bool converged = valid && s.state == CONVERGED;
  lambda = valid ? lambda + s.isotropic : T(0);
  if (p.pairs > 0) {
    StartResults<T> store(slot + SLOT_HEAD<M>, p.start_count);
    store.value[v] = converged ? lambda : -Real<T>::infinity();
    store.x[v] = x;
    store.y[v] = y;
    store.z[v] = z;
    store.residual2[v] = residual2;
  }
  if (outputs) {
    const T unit = slot[HEAD + OUT_SCALE];
    const int status = !valid                  ? PURLIN_LAUNCH_START_ZERO_VECTOR
                       : s.state == CONVERGED ? PURLIN_LAUNCH_START_CONVERGED
                       : s.state == EXHAUSTED ? PURLIN_LAUNCH_START_MAX_ITERATIONS
                                              : PURLIN_LAUNCH_START_SINGULAR;
    const T shift = valid ? s.shift : T(0);
    if (!valid) x = y = z = residual2 = T(0);
    write_start(p, row, v, lambda * unit, x, y, z, sqrt(residual2) * fabs(unit), shift * unit, s.iterations,
                s.violations, status);
  }
  return converged;
}

template <int M, class T, int METHOD>
__device__ __forceinline__ void solve(const purlin_sshopm_params &p) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  constexpr int HEAD = padded(entries3(M));
  const Shared<M, T> shared = fill_shared<M, T, METHOD>(p, reinterpret_cast<T *>(shared_bytes));

  const int starts = p.start_count, window = p.window, warps = blockDim.x / 32;
  const int slot_size = SLOT_HEAD<M> + (p.pairs > 0 ? padded(5 * starts) : 0);
  T *ring = shared.ring + (threadIdx.x / 32) * window * slot_size;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * warps;
  const int64_t own = static_cast<int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  const int total = own < p.count ? static_cast<int>((p.count - own + stride - 1) / stride) : 0;

  const bool outputs = (p.start_values | p.start_vectors | p.start_residuals | p.start_iterations | p.start_shifts |
                        p.start_status | p.start_violations) != 0;
  const bool absolute = (p.flags & PURLIN_LAUNCH_ABSOLUTE_TOLERANCE) && p.test == PURLIN_LAUNCH_TEST_LAMBDA;
  const Constants<T> k{METHOD == PURLIN_LAUNCH_NEWTON ? T(0) : T(p.tolerance) * T(p.tolerance),
                       absolute ? TEST_LAMBDA_ABSOLUTE : p.test, p.max_iterations, p.warmup};
  const bool adaptive = p.method == PURLIN_LAUNCH_POWER;
  int variant = GENERIC;
  // The fast power steps do not count single steps, so start_iterations needs the generic ones.
  const bool counted = METHOD == PURLIN_LAUNCH_POWER && p.start_iterations;
  if (!p.start_shifts && !p.start_violations && !counted && !(METHOD == PURLIN_LAUNCH_HYBRID && adaptive)) {
    if (p.test == PURLIN_LAUNCH_TEST_RESIDUAL) variant = FAST_RESIDUAL;
    if (METHOD == PURLIN_LAUNCH_POWER && p.test == PURLIN_LAUNCH_TEST_LAMBDA &&
        !(p.flags & (PURLIN_LAUNCH_ABSOLUTE_TOLERANCE | PURLIN_LAUNCH_REMOVE_ISOTROPIC)))
      variant = FAST_LAMBDA;
  }

  Lane<M, T, METHOD> s;
  s.state = EMPTY;
  T *slot = ring;        // slot of the lane's tensor
  int place = 0;         // index of that slot in the ring
  int my_start = 0;      // the lane's start of that tensor
  unsigned busy = 0;     // bits of the slots with unfinished tensors
  int loaded = 0;        // tensors of this warp's stream loaded so far
  int current = 0, next = starts;  // slot of the tensor whose starts are assigned, and its next start
  uint32_t converged = 0, iterations = 0, skipped = 0;
  const bool near = starts_fit(p);
  const auto row_in = [&](const T *at) {
    return row_of(p, own + *reinterpret_cast<const int *>(at + HEAD + SEQUENCE) * stride);
  };

  // Compile only the variants that the method has.
  const auto with_variant = [&](auto &&f) {
    if (METHOD != PURLIN_LAUNCH_NEWTON && variant == FAST_RESIDUAL) f(Index<FAST_RESIDUAL>{});
    else if (METHOD == PURLIN_LAUNCH_POWER && variant == FAST_LAMBDA) f(Index<FAST_LAMBDA>{});
    else f(Index<GENERIC>{});
  };
  const auto put_down = [&](auto v) {
    if (s.state <= RUNNING) return;
    converged += end<decltype(v)::value>(p, s, k, slot, outputs ? row_in(slot) : 0, my_start, outputs);
    iterations += s.iterations;
    s.state = EMPTY;
  };
  const auto take_start = [&](int start) {
    my_start = start;
    if (near) {
      s.x = shared.starts[3 * start];
      s.y = shared.starts[3 * start + 1];
      s.z = shared.starts[3 * start + 2];
    } else {
      const int64_t item = own + *reinterpret_cast<const int *>(slot + HEAD + SEQUENCE) * stride;
      load_start(address<const T>(p.starts) + item * p.start_stride + 3 * static_cast<int64_t>(start), &s.x, &s.y, &s.z);
    }
    begin(s);
  };

  for (;;) {
    __syncwarp();
    unsigned active = __reduce_or_sync(FULL_WARP, s.state == RUNNING ? 1u << place : 0u);
    if (next < starts) active |= 1u << current;
    for (unsigned ended = busy & ~active; ended != 0; ended &= ended - 1) {
      if constexpr (METHOD != PURLIN_LAUNCH_NEWTON) {
        T *at = ring + (__ffs(static_cast<int>(ended)) - 1) * slot_size;
        if (p.pairs > 0) select_pairs<M>(p, shared.number, row_in(at), at);
      }
    }
    busy &= active;
    if (busy == 0 && loaded == total) break;

    unsigned idle = __ballot_sync(FULL_WARP, s.state == EMPTY);
    while (idle != 0) {
      if (next >= starts) {
        const unsigned vacant = ~busy & ((1u << window) - 1u);
        if (loaded == total || vacant == 0) break;
        current = __ffs(static_cast<int>(vacant)) - 1;
        T *at = ring + current * slot_size;
        const int64_t item = own + loaded * stride;
        __syncwarp();
        const int status = load_tensor<M, T, METHOD>(p, shared, item, at);
        if (lane_id() == 0) *reinterpret_cast<int *>(at + HEAD + SEQUENCE) = loaded;
        __syncwarp();
        ++loaded;
        if (status == PURLIN_LAUNCH_TENSOR_OK) {
          next = 0;
          busy |= 1u << current;
          if (p.pairs == 0 && p.status && lane_id() == 0) address<int>(p.status)[row_of(p, item)] = status;
        } else {
          ++skipped;
          const int64_t row = row_of(p, item);
          T value = status == PURLIN_LAUNCH_TENSOR_ISOTROPIC ? at[HEAD + ISOTROPIC] : T(0);
          if (outputs) write_start_specials(p, item, row, status, value);
          write_special<M>(p, item, row, status, value);
        }
        continue;
      }
      const int rank = __popc(idle & lanes_below()), take = min(__popc(idle), starts - next);
      if (s.state == EMPTY && rank < take) {
        place = current;
        slot = ring + current * slot_size;
        take_start(next + rank);
      }
      next += take;
      idle = __ballot_sync(FULL_WARP, s.state == EMPTY);
    }
    attach(s, slot);
    const unsigned bit = 1u << place;
    active = __reduce_or_sync(FULL_WARP, s.state == RUNNING ? bit : 0u);
    if (active == 0) continue;  // no loaded tensor needs iterations
    const bool more = next < starts || (loaded < total && busy != (1u << window) - 1u);
    for (;;) {
      with_variant([&](auto v) {
        run<decltype(v)::value>(s, k, adaptive, more, bit, active);
        put_down(v);
      });
      // If the ended lanes can continue with the tensor that they have, nothing else has to be done.
      const unsigned idle = __ballot_sync(FULL_WARP, s.state == EMPTY);
      if (next + __popc(idle) > starts || __any_sync(FULL_WARP, s.state == EMPTY && place != current)) break;
      if (s.state == EMPTY) {
        take_start(next + __popc(idle & lanes_below()));
      }
      next += __popc(idle);
    }
  }

  if (p.counters) {
    const auto all_converged = warp_sum<unsigned long long>(converged);
    const auto all_iterations = warp_sum<unsigned long long>(iterations);
    if (lane_id() == 0) {
      auto *counters = address<unsigned long long>(p.counters);
      if (all_converged) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_CONVERGED, all_converged);
      if (all_iterations) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_ITERATIONS, all_iterations);
      if (skipped) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_SKIPPED, static_cast<unsigned long long>(skipped));
    }
  }
}

}  // namespace purlin

#endif
