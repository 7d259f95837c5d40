// Merges start outputs in device memory to the distinct pairs of each tensor, any dimension up to 16: one block a tensor.
// The rules are those of the fused selection (sshopm_reduce.cuh), for any number of starts.
#ifndef PURLIN_SSHOPM_SELECT_CUH
#define PURLIN_SSHOPM_SELECT_CUH

#include "sshopm_launch.h"
#include "reduce.cuh"
#include "sshopm_packed.cuh"
#include "sshopm_reduce.cuh"

namespace purlin {

// One distinct pair: its representative start, its basin, and the class with FLIP and DEAD marks.
struct Found {
  int start, basin, kind, rank;
};
constexpr int FLIP = 1 << 8, DEAD = 1 << 9;

constexpr int SELECT_WARPS = PURLIN_LAUNCH_SELECT_THREADS / 32;

template <class T>
struct BlockBest {
  T value[SELECT_WARPS];
  int at[SELECT_WARPS];
};

// Position of the largest value over the block, the lowest position on ties; -1 if no thread has a value.
template <class T>
__device__ int block_best(T value, int at, BlockBest<T> &shared) {
  const T none = -Real<T>::infinity();
  T top = warp_max_value(at >= 0 ? value : none);
  unsigned mine = at >= 0 && value == top ? static_cast<unsigned>(at) : 0xffffffffu;
  mine = __reduce_min_sync(FULL_WARP, mine);
  if (lane_id() == 0) {
    shared.value[threadIdx.x / 32] = top;
    shared.at[threadIdx.x / 32] = static_cast<int>(mine);
  }
  __syncthreads();
  int best = shared.at[0];
  T best_value = shared.value[0];
  for (int w = 1; w < SELECT_WARPS; ++w) {
    int a = shared.at[w];
    if (a >= 0 && (best < 0 || shared.value[w] > best_value || (shared.value[w] == best_value && a < best))) {
      best = a;
      best_value = shared.value[w];
    }
  }
  __syncthreads();
  return best;
}

template <class T>
__device__ T block_sum(T value, BlockBest<T> &shared) {
  value = warp_sum(value);
  if (lane_id() == 0) shared.value[threadIdx.x / 32] = value;
  __syncthreads();
  T s = shared.value[0];
  for (int w = 1; w < SELECT_WARPS; ++w) s += shared.value[w];
  __syncthreads();
  return s;
}

// Largest value over the block; no value is NaN.
template <class T>
__device__ T block_max(T value, BlockBest<T> &shared) {
  value = warp_max_value(value);
  if (lane_id() == 0) shared.value[threadIdx.x / 32] = value;
  __syncthreads();
  T largest = shared.value[0];
  for (int w = 1; w < SELECT_WARPS; ++w) largest = fmax(largest, shared.value[w]);
  __syncthreads();
  return largest;
}

// The starts of one tensor in memory, with the canonical sign of odd orders applied on reading. Values are compared in units
// in which the tensor's largest entry is of order one (a power of two is divided out), so no square overflows or underflows.
template <class T>
struct Starts {
  const T *value, *vector, *residual;
  const int *status;
  int n;
  bool even;
  T zero, scale, inverse;
  __device__ T scaled(int v) const { return value[v] * scale; }
  __device__ bool turned(int v) const { return !even && scaled(v) < -zero; }
  __device__ T canonical(int v) const { return turned(v) ? -scaled(v) : scaled(v); }
  // Rank: the value in the direction of the goal. The Newton method has no goal and uses the value with the canonical sign.
  __device__ T strength(const purlin_sshopm_params &p, int v) const {
    if (p.method == PURLIN_LAUNCH_NEWTON) return canonical(v);
    return p.goal == PURLIN_LAUNCH_MINIMA ? -value[v] : value[v];
  }
  __device__ T chord2(int a, int b) const {
    const T *x = vector + static_cast<int64_t>(a) * n, *y = vector + static_cast<int64_t>(b) * n;
    T plus = T(0), minus = T(0);
    for (int i = 0; i < n; ++i) {
      T p = x[i] + y[i], m = x[i] - y[i];
      plus = fma(p, p, plus);
      minus = fma(m, m, minus);
    }
    if (even || (fabs(scaled(a)) <= zero && fabs(scaled(b)) <= zero)) return fmin(plus, minus);
    return turned(a) == turned(b) ? minus : plus;
  }
};

template <class T>
__device__ bool flips_n(const purlin_sshopm_params &p, const Starts<T> &s, int v) {
  if (p.sign == PURLIN_LAUNCH_SIGN_RAW) return false;
  if (!s.even && fabs(s.scaled(v)) > s.zero) return s.value[v] < T(0);
  const T *x = s.vector + static_cast<int64_t>(v) * s.n;
  if (p.sign == PURLIN_LAUNCH_SIGN_Z_POSITIVE) {
    for (int i = s.n - 1; i >= 0; --i)
      if (x[i] != T(0)) return x[i] < T(0);
    return false;
  }
  T largest = T(0);
  for (int i = 0; i < s.n; ++i) largest = fmax(largest, fabs(x[i]));
  for (int i = 0; i < s.n; ++i)
    if (fabs(x[i]) >= largest * T(1 - 1e-6)) return x[i] < T(0);
  return false;
}

// Eigenvalues (ascending, n - 1 of them) of the projected Hessian of the pair (lambda, x), and their class. `form` must be
// scaled to order one, and `lambda` and `norm` with it.
template <class T>
__device__ int classify_pair(const Packed<T> &form, T lambda, const T *x, T norm, T degeneracy, T *eigenvalues) {
  const int n = form.dimension;
  T b[MAX_N * MAX_N], y[MAX_N], e[MAX_N];
  packed_matrix(form, x, b);
  multiply_n(n, b, x, y);
  const T k = T(form.order - 1);
  // The direction x itself gets an eigenvalue above all others, which is then dropped as the last.
  projected(n, b, x, y, dot_n(n, x, y), k, -lambda, T(4) * k * norm, b);
  jacobi_eigenvalues(n, b, e);
  int negative = 0;
  bool degenerate = false;
  for (int i = 0; i < n - 1; ++i) {
    eigenvalues[i] = e[i];
    negative += e[i] < T(0);
    degenerate |= fabs(e[i]) <= degeneracy * norm;
  }
  // n = 1 has no tangent direction: its one pair is called a maximum if lambda is not negative.
  if (n == 1) return lambda >= T(0) ? PURLIN_LAUNCH_PAIR_NEGATIVE_STABLE : PURLIN_LAUNCH_PAIR_POSITIVE_STABLE;
  return class_of(degenerate, negative > 0, negative == n - 1);
}

// As is_top: whether `sign` times a form has a local maximum at x. At most MOST_FLAT flat eigenvectors are combined.
template <class T>
__device__ __noinline__ bool is_top_n(const Packed<T> &form, const T *x, T sign, T residual, T norm, T flat) {
  constexpr int MOST_FLAT = 8;
  const int n = form.dimension;
  if (n == 1) return true;
  T b[MAX_N * MAX_N], basis[MAX_N * MAX_N], y[MAX_N], at[MAX_N];
  packed_matrix(form, x, b);
  multiply_n(n, b, x, y);
  const T value = dot_n(n, x, y), k = T(form.order - 1);
  // The direction x itself gets an eigenvalue below all others.
  projected(n, b, x, y, value, sign * k, -sign * value, T(-4) * T(form.order) * norm, b);
  jacobi(n, b, basis);
  int count = 0;
  for (int e = 0; e < n; ++e) {
    if (b[e * n + e] < -flat || count == MOST_FLAT) continue;
    for (int i = 0; i < n; ++i) {
      const T swap = basis[count * n + i];
      basis[count * n + i] = basis[e * n + i];
      basis[e * n + i] = swap;
    }
    ++count;
  }
  const bool plane = count > 1;
  const int planes = plane ? count * (count - 1) / 2 : count, directions = plane ? DIRECTIONS : 2;
  int p = 0, q = plane ? 1 : 0;
  for (int which = 0; which < planes; ++which) {
    for (int d = 0; d < directions; ++d) {
      T s = T(0), c = d == 0 ? T(1) : T(-1);
      if (plane) sincos(T(6.283185307179586) * T(d) / T(DIRECTIONS), &s, &c);
      T h = T(1.0 / (1 << -FIRST_DISTANCE));
      for (int e = FIRST_DISTANCE; e < 0; ++e, h += h) {
        for (int i = 0; i < n; ++i) at[i] = fma(h, fma(c, basis[p * n + i], s * basis[q * n + i]), x[i]);
        const T scale = T(1) / sqrt(dot_n(n, at, at));
        for (int i = 0; i < n; ++i) at[i] *= scale;
        packed_vector(form, at, y);
        const T rise = sign * (dot_n(n, at, y) - value);
        const T doubt = fma(T(64) * Real<T>::epsilon, norm, T(2 * form.order) * residual * h);
        if (rise > doubt) return false;
        if (rise < -doubt) break;
      }
    }
    if (++q >= count) {
      ++p;
      q = p + 1;
    }
  }
  return true;
}

template <class T>
__device__ void write_absent_n(const purlin_sshopm_params &p, int64_t row, int from) {
  const int n = p.dimension;
  const T none = (p.flags & PURLIN_LAUNCH_MISSING_ZERO) ? T(0) : Real<T>::nan();
  for (int k = from + threadIdx.x; k < p.pairs; k += blockDim.x) {
    const int64_t at = row * p.pairs + k;
    if (p.values) address<T>(p.values)[at] = none;
    if (p.residuals) address<T>(p.residuals)[at] = none;
    if (p.classes) address<int>(p.classes)[at] = PURLIN_LAUNCH_PAIR_NONE;
    if (p.basins) address<int>(p.basins)[at] = 0;
    for (int i = 0; i < n; ++i) {
      if (p.vectors) address<T>(p.vectors)[at * n + i] = none;
      if (p.hessian && i < n - 1) address<T>(p.hessian)[at * (n - 1) + i] = none;
    }
    const int width = (p.flags & PURLIN_LAUNCH_PEAKS_SCALED) ? 3 : 4;
    if (p.peaks)
      for (int i = 0; i < width; ++i) address<T>(p.peaks)[at * width + i] = none;
  }
}

template <class T>
__device__ void write_pair_n(const purlin_sshopm_params &p, int64_t row, int k, const Starts<T> &s, const Found &f,
                             const T *eigenvalues) {
  const int n = p.dimension;
  const int64_t at = row * p.pairs + k;
  const T *x = s.vector + static_cast<int64_t>(f.start) * n;
  const T sign = (f.kind & FLIP) ? T(-1) : T(1);
  const T value = s.even ? s.value[f.start] : sign * s.value[f.start];
  if (p.values) address<T>(p.values)[at] = value;
  if (p.residuals) address<T>(p.residuals)[at] = s.residual[f.start];
  if (p.classes) address<int>(p.classes)[at] = f.kind & 0xff;
  if (p.basins) address<int>(p.basins)[at] = f.basin;
  for (int i = 0; i < n; ++i) {
    if (p.vectors) address<T>(p.vectors)[at * n + i] = sign * x[i];
    if (p.hessian && i < n - 1) address<T>(p.hessian)[at * (n - 1) + i] = eigenvalues[i] * s.inverse;
  }
  if (p.peaks && n == 3) {
    const bool scaled = (p.flags & PURLIN_LAUNCH_PEAKS_SCALED) != 0;
    T *o = address<T>(p.peaks) + (scaled ? 3 : 4) * at;
    for (int i = 0; i < 3; ++i) o[i] = sign * x[i] * (scaled ? value : T(1));
    if (!scaled) o[3] = value;
  }
}

// Classifies, ranks and writes the `found` pairs of the tensor `form`, which is scaled as in `s`. Returns the number of pairs
// in the row, including all that were selected, written or not.
template <class T>
__device__ int classify_and_write(const purlin_select_params &q, int64_t row, const Starts<T> &s, const Packed<T> &form,
                                  T norm, Found *pairs, int found, int before, int *status, BlockBest<T> &best) {
  const purlin_sshopm_params &p = q.solve;
  const int n = p.dimension;
  T *eigenvalues = address<T>(q.scratch) + blockIdx.x * q.found_limit * n;
  int morse = 0;
  for (int i = threadIdx.x; i < found; i += blockDim.x) {
    T x[MAX_N];
    Found &f = pairs[i];
    const bool flip = flips_n(p, s, f.start);
    const T sign = flip ? T(-1) : T(1);
    for (int c = 0; c < n; ++c) x[c] = sign * s.vector[static_cast<int64_t>(f.start) * n + c];
    const T value = s.even ? s.scaled(f.start) : sign * s.scaled(f.start);
    const T residual = s.residual[f.start] * s.scale, flat = T(p.degeneracy) * norm;
    const T doubtful = fmax(flat, sqrt(uncertainty<T>(p.order) * norm * residual));
    // Newton's ends are as exact as rounding allows, so eigenvalues that may be 0 count as 0.
    const T least = norm > T(0) && p.method == PURLIN_LAUNCH_NEWTON ? doubtful / norm : T(p.degeneracy);
    int kind = classify_pair(form, value, x, norm, least, eigenvalues + i * n);
    // In dimension 1 the direction is both a maximum and a minimum; report the kind of the goal.
    if (n == 1)
      kind = (p.goal == PURLIN_LAUNCH_MINIMA) != (flip && !s.even) ? PURLIN_LAUNCH_PAIR_POSITIVE_STABLE
                                                                    : PURLIN_LAUNCH_PAIR_NEGATIVE_STABLE;
    if (kind != PURLIN_LAUNCH_PAIR_DEGENERATE && kind != PURLIN_LAUNCH_PAIR_UNCLASSIFIED) {
      int negative = 0;
      for (int c = 0; c < n - 1; ++c) negative += eigenvalues[i * n + c] < T(0);
      morse += negative % 2 ? -1 : 1;
    }
    // An end that is not a maximum of its form is a saddle, whatever its class is with the flipped sign.
    const bool saddles = (p.keep_classes >> PURLIN_LAUNCH_PAIR_UNSTABLE) & 1;
    const bool turned = (p.goal == PURLIN_LAUNCH_MINIMA) != (flip && !s.even);
    const T high = n == 1 ? T(0) : turned ? -eigenvalues[i * n] : eigenvalues[i * n + n - 2];
    bool kept = saddles || high < -doubtful || n == 1;
    if (!kept && high <= flat) {
      for (int c = 0; c < n; ++c) x[c] = s.vector[static_cast<int64_t>(f.start) * n + c];
      const T sign = p.goal == PURLIN_LAUNCH_MINIMA ? T(-1) : T(1);
      kept = is_top_n(form, x, sign, residual, norm, doubtful);
    }
    kept = kept && ((p.keep_classes >> kind) & 1);
    f.kind = kind | (flip ? FLIP : 0) | (kept ? 0 : DEAD);
  }
  __syncthreads();
  int total = __reduce_add_sync(FULL_WARP, morse);
  if (lane_id() == 0) best.at[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x == 0 && q.morse) {
    total = 0;
    for (int w = 0; w < SELECT_WARPS; ++w) total += best.at[w];
    address<int>(q.morse)[row] = total;
  }
  // Merge a continuum: three or more degenerate pairs at one value become one.
  bool collapsed = false;
  for (int i = threadIdx.x; i < found; i += blockDim.x) {
    Found &f = pairs[i];
    f.rank = -1;
    if ((f.kind & 0xff) != PURLIN_LAUNCH_PAIR_DEGENERATE || (f.kind & DEAD)) continue;
    const T value = s.canonical(f.start);
    const T near = fmax(T(p.level) * norm, T(p.merge_value) * fabs(value));
    int same = 0, leader = i, basin = 0;
    for (int j = 0; j < found; ++j) {
      const Found &g = pairs[j];
      if ((g.kind & 0xff) != PURLIN_LAUNCH_PAIR_DEGENERATE || (g.kind & DEAD)) continue;
      if (fabs(s.canonical(g.start) - value) > near) continue;
      ++same;
      basin += g.basin;
      leader = min(leader, j);
    }
    if (same >= 3) {
      collapsed = true;
      f.rank = leader == i ? basin : -2;
    }
  }
  if (__syncthreads_or(collapsed)) *status = PURLIN_LAUNCH_TENSOR_DEGENERATE;
  for (int i = threadIdx.x; i < found; i += blockDim.x) {
    Found &f = pairs[i];
    if (f.rank == -2) f.kind |= DEAD;
    else if (f.rank >= 0) f.basin = f.rank;
  }
  __syncthreads();
  // Take the best remaining pair: maxima descending, minima ascending, by the end's own value; see select_pairs.
  const T direction = p.goal == PURLIN_LAUNCH_MINIMA ? T(-1) : T(1);
  const auto value_of = [&](const Found &f) {
    return (f.kind & FLIP) && !s.even ? -s.value[f.start] : s.value[f.start];
  };
  int count = before;
  T bound = -Real<T>::infinity();
  for (;;) {
    T top = -Real<T>::infinity();
    int at = -1;
    for (int i = threadIdx.x; i < found; i += blockDim.x) {
      if (pairs[i].kind & DEAD) continue;
      T v = direction * s.value[pairs[i].start];
      if (at < 0 || v > top) {
        top = v;
        at = i;
      }
    }
    at = block_best(top, at, best);
    if (at < 0) break;
    const Found f = pairs[at];
    const T value = value_of(f);
    if (p.thresholds) {
      if (count == before) bound = fmax(T(p.absolute_threshold), T(p.relative_threshold) * value);
      // A peak with the value 0 is dropped even if the threshold is 0.
      if (!(value > bound || (value == bound && bound != T(0)))) break;
    }
    if (threadIdx.x == 0 && count < p.pairs) write_pair_n(p, row, count, s, f, eigenvalues + at * n);
    __syncthreads();
    const T apart = T(p.separation_chord2);
    for (int i = threadIdx.x; i < found; i += blockDim.x)
      if (i == at || (apart > T(0) && s.chord2(pairs[i].start, f.start) < apart)) pairs[i].kind |= DEAD;
    __syncthreads();
    ++count;
  }
  return count;
}

template <class T>
__device__ void select_general(const purlin_select_params &q) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ BlockBest<T> best;
  const purlin_sshopm_params &p = q.solve;
  const int n = p.dimension, starts = p.start_count;
  Found *pairs = reinterpret_cast<Found *>(shared_bytes);
  uint32_t *taken = reinterpret_cast<uint32_t *>(pairs + q.found_limit);

  for (int64_t item = blockIdx.x; item < p.count; item += gridDim.x) {
    const int64_t row = p.index ? __ldg(address<const long long>(p.index) + item) : item;
    const T *a = address<const T>(p.tensors) + row * p.tensor_stride;
    Packed<T> form{a, p.entry_stride, address<const uint8_t>(p.indices), address<const T>(p.multinomials), p.entries,
                   p.order, n, T(1)};
    Starts<T> s{address<const T>(p.start_values) + row * starts, address<const T>(p.start_vectors) + row * starts * n,
                address<const T>(p.start_residuals) + row * starts, address<const int>(p.start_status) + row * starts,
                n, p.order % 2 == 0, T(0), T(1), T(1)};
    int status = p.status ? address<int>(p.status)[row] : PURLIN_LAUNCH_TENSOR_OK;
    const bool masked = status == PURLIN_LAUNCH_TENSOR_MASKED;
    if (!masked && s.status[0] == PURLIN_LAUNCH_START_NONFINITE) status = PURLIN_LAUNCH_TENSOR_NONFINITE;
    const int before = (p.flags & PURLIN_LAUNCH_APPEND) && p.pair_count ? address<int>(p.pair_count)[row] : 0;
    __syncthreads();
    int selected = before;
    bool missed = false;
    if (!masked && status != PURLIN_LAUNCH_TENSOR_NONFINITE) {
      T largest = T(0);
      for (int64_t r = threadIdx.x; r < p.entries; r += blockDim.x) largest = fmax(largest, fabs(form.entry(r)));
      s.scale = form.scale = Real<T>::power_scale(block_max(largest, best), &s.inverse);
      T norm = T(0);
      for (int64_t r = threadIdx.x; r < p.entries; r += blockDim.x) {
        T v = form.entry(r);
        norm = fma(__ldg(form.multinomial + r) * v, v, norm);
      }
      norm = sqrt(block_sum(norm, best));
      s.zero = T(32) * Real<T>::epsilon * norm;
      for (int w = threadIdx.x; w < (starts + 31) / 32; w += blockDim.x) taken[w] = 0;
      __syncthreads();
      const bool continuum = status == PURLIN_LAUNCH_TENSOR_ZERO || status == PURLIN_LAUNCH_TENSOR_ISOTROPIC;
      int found = 0;
      int failed = 0;
      for (int v = threadIdx.x; v < starts; v += blockDim.x) failed |= s.status[v] != PURLIN_LAUNCH_START_CONVERGED;
      missed = __syncthreads_or(failed) != 0;
      const int limit = !continuum ? static_cast<int>(q.found_limit) : (p.flags & PURLIN_LAUNCH_NO_SPECIAL_PAIR) ? 0 : 1;
      while (found < limit) {
        T top = -Real<T>::infinity();
        int at = -1;
        for (int v = threadIdx.x; v < starts; v += blockDim.x) {
          if (s.status[v] != PURLIN_LAUNCH_START_CONVERGED || ((taken[v / 32] >> (v % 32)) & 1u)) continue;
          T value = s.strength(p, v);
          if (at < 0 || value > top) {
            top = value;
            at = v;
          }
        }
        const int seed = block_best(top, at, best);
        if (seed < 0) break;
        const T value = s.canonical(seed);
        int joined = 0;
        T least = -Real<T>::infinity();
        at = -1;
        for (int v = threadIdx.x; v < starts; v += blockDim.x) {
          if (s.status[v] != PURLIN_LAUNCH_START_CONVERGED || ((taken[v / 32] >> (v % 32)) & 1u)) continue;
          if (!continuum && v != seed) {
            if (s.chord2(seed, v) > T(p.merge_chord2)) continue;
            if (p.merge_value > 0 && fabs(s.canonical(v) - value) > T(p.merge_value) * fabs(value)) continue;
          }
          ++joined;
          atomicOr(taken + v / 32, 1u << (v % 32));
          if (at < 0 || -s.residual[v] > least) {
            least = -s.residual[v];
            at = v;
          }
        }
        at = block_best(least, at, best);
        joined = __reduce_add_sync(FULL_WARP, joined);
        if (lane_id() == 0) best.at[threadIdx.x / 32] = joined;
        __syncthreads();
        if (threadIdx.x == 0) {
          int basin = 0;
          for (int w = 0; w < SELECT_WARPS; ++w) basin += best.at[w];
          pairs[found] = Found{at, basin, 0, -1};
        }
        ++found;
        __syncthreads();
      }
      if (status == PURLIN_LAUNCH_TENSOR_OK) {
        // If all slots for distinct ends are used, others may have been omitted.
        if (found == 0) status = PURLIN_LAUNCH_TENSOR_NO_PAIR;
        else if (missed || (found == limit && found < starts)) status = PURLIN_LAUNCH_TENSOR_PARTIAL;
      }
      selected = classify_and_write(q, row, s, form, norm, pairs, found, before, &status, best);
    }
    const int count = max(min(selected, p.pairs), before);
    write_absent_n<T>(p, row, count);
    if (threadIdx.x == 0) {
      if (p.pair_count) address<int>(p.pair_count)[row] = count;
      const int of_both = row_status(p, row, status);
      note_found(p, row, count, selected - before, missed, status);
      if (p.status) address<int>(p.status)[row] = of_both;
    }
    __syncthreads();
  }
}

}  // namespace purlin

#endif
