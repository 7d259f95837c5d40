// The distinct pairs of one tensor, one in each lane of a warp: classify, threshold, separate, sort, write.
#ifndef PURLIN_SSHOPM_REDUCE_CUH
#define PURLIN_SSHOPM_REDUCE_CUH

#include "sshopm_launch.h"
#include "reduce.cuh"
#include "sshopm_distinct.cuh"
#include "sshopm_forms.cuh"
#include "sshopm_load.cuh"
#include "sshopm_real.cuh"
#include "sshopm_step.cuh"

namespace purlin {

// Orthonormal basis (u, w) of the plane orthogonal to a unit vector.
template <class T>
__device__ __forceinline__ void tangent_basis(T x, T y, T z, T (&u)[3], T (&w)[3]) {
  T s = z < T(0) ? T(-1) : T(1);
  T a = -Real<T>::reciprocal(s + z);
  T c = a * x * y;
  u[0] = fma(s * a * x, x, T(1));
  u[1] = s * c;
  u[2] = -s * x;
  w[0] = c;
  w[1] = fma(a * y, y, s);
  w[2] = -y;
}

template <class T>
__device__ __forceinline__ T quadratic(const T (&b)[6], const T (&u)[3], const T (&w)[3]) {
  return u[0] * fma(b[0], w[0], fma(b[1], w[1], b[2] * w[2])) + u[1] * fma(b[1], w[0], fma(b[3], w[1], b[4] * w[2])) +
         u[2] * fma(b[2], w[0], fma(b[4], w[1], b[5] * w[2]));
}

__device__ __forceinline__ int class_of(bool degenerate, bool low_negative, bool high_negative) {
  if (degenerate) return PURLIN_LAUNCH_PAIR_DEGENERATE;
  if (high_negative) return PURLIN_LAUNCH_PAIR_NEGATIVE_STABLE;
  return low_negative ? PURLIN_LAUNCH_PAIR_UNSTABLE : PURLIN_LAUNCH_PAIR_POSITIVE_STABLE;
}

// Eigenvalues of the projected Hessian U'((m-1) B - lambda I) U, ascending.
template <int M, class T, class Entries>
__device__ __forceinline__ void hessian_eigenvalues(const Entries &a, T lambda, T x, T y, T z, T *low, T *high) {
  T b[6], u[3], w[3];
  form_matrix<M>(a, x, y, z, b);
  tangent_basis(x, y, z, u, w);
  T h11 = quadratic(b, u, u), h12 = quadratic(b, u, w), h22 = quadratic(b, w, w);
  T mean = fma(T(0.5 * (M - 1)), h11 + h22, -lambda), d = T(0.5) * (h11 - h22);
  T radius = T(M - 1) * sqrt(fma(d, d, h12 * h12));
  *low = mean - radius;
  *high = mean + radius;
}

// Whether a form has a local maximum at (x, y, z), a pair to `residual`, within the accuracy of its type. It is sampled if the
// projected Hessian cannot decide; its eigenvalues above -flat count as 0. Rarely called; not inlined, to save registers.
template <int M, class T>
__device__ __noinline__ bool is_top(const T *entries, T x, T y, T z, T residual, T norm, T flat) {
  T b[6], g[3], u[3], w[3];
  form_matrix<M>(entries, x, y, z, b);
  form_vector<M>(entries, x, y, z, g);
  const T value = fma(x, g[0], fma(y, g[1], z * g[2]));
  tangent_basis(x, y, z, u, w);
  const T h11 = quadratic(b, u, u), h12 = quadratic(b, u, w), h22 = quadratic(b, w, w), d = T(0.5) * (h11 - h22);
  const T low = T(M - 1) * (T(0.5) * (h11 + h22) - sqrt(fma(d, d, h12 * h12))) - value;
  const bool plane = low >= -flat;
  // The angle of the eigenvector of the larger eigenvalue.
  const T first = T(0.5) * atan2(h12, d);
  const int directions = plane ? DIRECTIONS : 2;
  for (int k = 0; k < directions; ++k) {
    T s, c;
    sincos(first + T(6.283185307179586) * T(k) / T(directions), &s, &c);
    T h = T(1.0 / (1 << -FIRST_DISTANCE));
    for (int e = FIRST_DISTANCE; e < 0; ++e, h += h) {
      const T px = fma(h, fma(c, u[0], s * w[0]), x), py = fma(h, fma(c, u[1], s * w[1]), y),
              pz = fma(h, fma(c, u[2], s * w[2]), z);
      const T scale = T(1) / sqrt(fma(px, px, fma(py, py, pz * pz)));
      form_vector<M>(entries, px * scale, py * scale, pz * scale, g);
      const T rise = fma(px, g[0], fma(py, g[1], pz * g[2])) * scale - value;
      const T doubt = fma(T(64) * Real<T>::epsilon, norm, T(2 * M) * residual * h);
      if (rise > doubt) return false;
      if (rise < -doubt) break;
    }
  }
  return true;
}

// Canonical sign of (value, x). Odd order makes the value positive. For even order, and if an odd value is zero, the
// component of largest magnitude is positive (the first of those within 1e-6 of the largest).
template <class T>
__device__ __forceinline__ bool flips(const purlin_sshopm_params &p, bool even, T value, T zero, T x, T y, T z) {
  if (p.sign == PURLIN_LAUNCH_SIGN_RAW) return false;
  if (!even && fabs(value) > zero) return value < T(0);
  if (p.sign == PURLIN_LAUNCH_SIGN_Z_POSITIVE) return z < T(0) || (z == T(0) && (y < T(0) || (y == T(0) && x < T(0))));
  T bound = fmax(fabs(x), fmax(fabs(y), fabs(z))) * T(1 - 1e-6);
  T lead = fabs(x) >= bound ? x : fabs(y) >= bound ? y : z;
  return lead < T(0);
}

template <class T>
__device__ __forceinline__ void write_pair(const purlin_sshopm_params &p, int64_t row, int k, const Pair<T> &q) {
  const int64_t at = row * p.pairs + k;
  if (p.values) address<T>(p.values)[at] = q.value;
  if (p.vectors) {
    T *o = address<T>(p.vectors) + 3 * at;
    o[0] = q.x;
    o[1] = q.y;
    o[2] = q.z;
  }
  if (p.residuals) address<T>(p.residuals)[at] = q.residual;
  if (p.classes) address<int>(p.classes)[at] = q.kind;
  if (p.hessian) {
    address<T>(p.hessian)[2 * at] = q.low;
    address<T>(p.hessian)[2 * at + 1] = q.high;
  }
  if (p.basins) address<int>(p.basins)[at] = q.basin;
  if (p.peaks) {
    if (p.flags & PURLIN_LAUNCH_PEAKS_SCALED) {
      T *o = address<T>(p.peaks) + 3 * at;
      o[0] = q.x * q.value;
      o[1] = q.y * q.value;
      o[2] = q.z * q.value;
    } else {
      T *o = address<T>(p.peaks) + 4 * at;
      o[0] = q.x;
      o[1] = q.y;
      o[2] = q.z;
      o[3] = q.value;
    }
  }
}

// Place of the first pass's status in `found`, between its pairs and MISSED. The status array does not keep it: kernels that
// iterate without selecting write to that array before each pass.
constexpr int FIRST_STATUS = 24;

// The status of a row after this launch; with APPEND that of both passes. It is to be called before note_found(). DEGENERATE
// of either pass has precedence, then PARTIAL. If only one pass has NO_PAIR, none of its starts converged, so the result is
// PARTIAL.
__device__ __forceinline__ int row_status(const purlin_sshopm_params &p, int64_t row, int status) {
  if (!(p.flags & PURLIN_LAUNCH_APPEND) || !p.status) return status;
  const int first = p.found ? (address<int>(p.found)[row] >> FIRST_STATUS) & 15 : address<int>(p.status)[row];
  const auto any = [&](int which) { return first == which || status == which; };
  if (any(PURLIN_LAUNCH_TENSOR_DEGENERATE)) return PURLIN_LAUNCH_TENSOR_DEGENERATE;
  if (first == status) return status;
  return any(PURLIN_LAUNCH_TENSOR_PARTIAL) || any(PURLIN_LAUNCH_TENSOR_NO_PAIR) ? PURLIN_LAUNCH_TENSOR_PARTIAL : status;
}

// Writes the number of pairs of a row. Counts rows that list fewer, and rows with starts that did not converge. One thread.
// `count` pairs are listed; this launch found `found` and ended with `status`.
__device__ __forceinline__ void note_found(const purlin_sshopm_params &p, int64_t row, int count, int found, bool missed,
                                           int status) {
  int *total = address<int>(p.found);
  if (total && (p.flags & PURLIN_LAUNCH_APPEND)) {
    const int first = total[row];
    missed = missed || (first & PURLIN_LAUNCH_MISSED);
    found += first & ((1 << FIRST_STATUS) - 1);
  }
  const bool more = (p.flags & PURLIN_LAUNCH_FIRST_OF_TWO) != 0;
  if (total) total[row] = more ? found | status << FIRST_STATUS | (missed ? PURLIN_LAUNCH_MISSED : 0) : found;
  if (more || !p.counters) return;
  auto *counters = address<unsigned long long>(p.counters);
  if (found > count) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_TRUNCATED, 1ull);
  if (missed) atomicAdd(counters + PURLIN_LAUNCH_COUNTER_UNCONVERGED, 1ull);
}

// Writes the absent pairs from `count` on, the counts and the status. This launch found `found` pairs; `missed` means
// that a start did not converge.
template <class T>
__device__ void finish_row(const purlin_sshopm_params &p, int64_t row, int count, int found, bool missed, int status) {
  const T none = (p.flags & PURLIN_LAUNCH_MISSING_ZERO) ? T(0) : Real<T>::nan();
  Pair<T> absent{none, none, none, none, none, none, none, 0, PURLIN_LAUNCH_PAIR_NONE};
  if (p.flags & PURLIN_LAUNCH_PEAKS_SCALED) absent.value = T(1);
  for (int k = count + lane_id(); k < p.pairs; k += 32) {
    write_pair(p, row, k, absent);
    if ((p.flags & PURLIN_LAUNCH_PEAKS_SCALED) && p.values) address<T>(p.values)[row * p.pairs + k] = none;
  }
  if (lane_id() != 0) return;
  if (p.pair_count) address<int>(p.pair_count)[row] = count;
  const int of_both = row_status(p, row, status);
  note_found(p, row, count, found, missed, status);
  if (p.status) {
    const bool keep = (p.flags & PURLIN_LAUNCH_KEEP_STATUS) && status == PURLIN_LAUNCH_TENSOR_OK;
    if (!keep) address<int>(p.status)[row] = of_both;
  }
}

__device__ __forceinline__ int pairs_before(const purlin_sshopm_params &p, int64_t row) {
  return (p.flags & PURLIN_LAUNCH_APPEND) && p.pair_count ? address<int>(p.pair_count)[row] : 0;
}

// Writes the row of a tensor without iterations: no pair, or for A = 0 and A = c E one degenerate pair if that class is kept.
template <int M, class T>
__device__ void write_special(const purlin_sshopm_params &p, int64_t item, int64_t row, int status, T value) {
  int before = pairs_before(p, row), count = before;
  bool continuum = status == PURLIN_LAUNCH_TENSOR_ZERO || status == PURLIN_LAUNCH_TENSOR_ISOTROPIC;
  if (p.flags & PURLIN_LAUNCH_NO_SPECIAL_PAIR) continuum = false;
  if (continuum && count < p.pairs && ((p.keep_classes >> PURLIN_LAUNCH_PAIR_DEGENERATE) & 1)) {
    if (lane_id() == 0) {
      const T *s = address<const T>(p.starts) + item * p.start_stride;
      Pair<T> q{value, s[0], s[1], s[2], T(0), T(0), T(0), p.start_count, PURLIN_LAUNCH_PAIR_DEGENERATE};
      T scale = Real<T>::rsqrt_refined(fma(q.x, q.x, fma(q.y, q.y, q.z * q.z)));
      if (flips(p, true, T(0), T(0), q.x, q.y, q.z)) scale = -scale;
      q.x *= scale;
      q.y *= scale;
      q.z *= scale;
      write_pair(p, row, count, q);
    }
    ++count;
  }
  finish_row<T>(p, row, count, count - before, false, status);
}

// Merges a continuum: three or more degenerate pairs at one value become one. Returns whether any were merged. `norm` is the
// tensor's in scaled units, and `scale` the power of two that converts values to their own units, in which products could
// overflow or underflow.
template <class T>
__device__ bool collapse_continuum(const T *number, int found, T norm, T scale, bool &alive, Pair<T> &mine) {
  const bool degenerate = alive && mine.kind == PURLIN_LAUNCH_PAIR_DEGENERATE;
  if (__popc(__ballot_sync(FULL_WARP, degenerate)) < 3) return false;
  int same = 0, leader = lane_id(), basins = 0;
  const T own = mine.value * (T(1) / fabs(scale));
  for (int j = 0; j < found; ++j) {
    T value = __shfl_sync(FULL_WARP, own, j);
    int basin = __shfl_sync(FULL_WARP, mine.basin, j);
    bool other = __shfl_sync(FULL_WARP, static_cast<int>(degenerate), j) != 0;
    if (degenerate && other && fabs(value - own) <= fmax(number[LEVEL] * norm, number[AGREE] * fabs(value))) {
      ++same;
      basins += basin;
      leader = min(leader, j);
    }
  }
  bool member = degenerate && same >= 3;
  if (member) {
    if (leader == lane_id()) mine.basin = basins;
    else alive = false;
  }
  return __any_sync(FULL_WARP, member);
}

// Selects and writes the pairs of the tensor whose entries and scalars are in `slot`.
template <int M, class T>
__device__ void select_pairs(const purlin_sshopm_params &p, const T *number, int64_t row, T *slot) {
  constexpr int HEAD = padded(entries3(M));
  constexpr bool EVEN = M % 2 == 0;
  Pair<T> mine{};
  const StartResults<T> results(slot + SLOT_HEAD<M>, p.start_count);
  bool missed = false;
  const int found = p.start_count <= 64    ? distinct_pairs<EVEN, 2>(p.start_count, number, results, mine, missed)
                    : p.start_count <= 128 ? distinct_pairs<EVEN, 4>(p.start_count, number, results, mine, missed)
                                           : distinct_pairs_many<EVEN>(p.start_count, number, results, mine, missed);
  bool alive = lane_id() < found;
  const T scale = slot[HEAD + OUT_SCALE], c = slot[HEAD + ISOTROPIC], norm = slot[HEAD + NORM];
  // Maxima descending, minima ascending, by the end's own value. For odd order and the canonical sign the maxima with a
  // value below 0 are written as minima; they come last, in ascending order.
  T rank = mine.value * fabs(scale);
  if (alive) {
    T low, high;
    T a[HEAD];
    load_aligned(slot, a);
    hessian_eigenvalues<M>(a, mine.value - c, mine.x, mine.y, mine.z, &low, &high);
    bool flip = flips(p, EVEN, mine.value * (scale < T(0) ? T(-1) : T(1)), T(32) * Real<T>::epsilon * norm, mine.x,
                      mine.y, mine.z);
    // A minimum found as a maximum of -A has a Hessian of opposite sign; so has the other member of an odd pair.
    bool turned = (scale < T(0)) != (!EVEN && flip);
    T least = fmin(fabs(low), fabs(high));
    const T flat = number[DEGENERACY] * norm, residual = sqrt(mine.residual);
    const T doubt2 = uncertainty<T>(M) * norm * residual;
    const bool saddles = (p.keep_classes >> PURLIN_LAUNCH_PAIR_UNSTABLE) & 1;
    // Below -max(flat, sqrt(doubt2)) it is certainly a maximum. The root is computed only otherwise.
    bool kept = saddles || (high < -flat && high * high > doubt2);
    if (!kept && high <= flat) kept = is_top<M>(slot, mine.x, mine.y, mine.z, residual, norm, fmax(flat, sqrt(doubt2)));
    bool low_negative = low < T(0), high_negative = high < T(0);
    if (turned) {
      low_negative = high > T(0);
      high_negative = low > T(0);
    }
    mine.kind = class_of(least <= flat, low_negative, high_negative);
    T unit = turned ? -fabs(scale) : fabs(scale);
    mine.low = (turned ? high : low) * unit;
    mine.high = (turned ? low : high) * unit;
    if (flip) {
      mine.x = -mine.x;
      mine.y = -mine.y;
      mine.z = -mine.z;
    }
    mine.value *= !EVEN && flip ? -scale : scale;
    mine.residual = residual * fabs(scale);
    alive = ((p.keep_classes >> mine.kind) & 1) && kept;
  }
  int status = found > 0 ? PURLIN_LAUNCH_TENSOR_OK : PURLIN_LAUNCH_TENSOR_NO_PAIR;
  // If all slots for distinct ends are used, others may have been omitted.
  if (found > 0 && (missed || found == PURLIN_LAUNCH_FUSED_MAX_PAIRS)) status = PURLIN_LAUNCH_TENSOR_PARTIAL;
  if (collapse_continuum(number, found, norm, scale, alive, mine)) status = PURLIN_LAUNCH_TENSOR_DEGENERATE;

  const T direction = scale < T(0) ? T(-1) : T(1);
  if (!alive) rank = -Real<T>::infinity();
  if (p.thresholds) {
    T top = direction * warp_max_value(rank);
    const T bound = fmax(number[ABSOLUTE], number[RELATIVE] * top);
    // A peak with the value 0 is dropped even if the threshold is 0.
    alive = alive && (mine.value > bound || (mine.value == bound && bound != T(0)));
    if (!alive) rank = -Real<T>::infinity();
  }
  const int before = pairs_before(p, row);
  const T apart = number[APART];
  int selected = before, mine_at = -1;
  while (__any_sync(FULL_WARP, alive)) {
    const int lane = warp_max_lane(rank);
    if (lane_id() == lane) {
      mine_at = selected < p.pairs ? selected : -1;
      alive = false;
      rank = -Real<T>::infinity();
    }
    if (apart > T(0)) {
      T x = __shfl_sync(FULL_WARP, mine.x, lane), y = __shfl_sync(FULL_WARP, mine.y, lane),
        z = __shfl_sync(FULL_WARP, mine.z, lane);
      if (alive && chord2<EVEN>(x, y, z, mine.x, mine.y, mine.z) < apart) {
        alive = false;
        rank = -Real<T>::infinity();
      }
    }
    ++selected;
  }
  if (mine_at >= 0) write_pair(p, row, mine_at, mine);
  finish_row<T>(p, row, max(min(selected, p.pairs), before), selected - before, missed, status);
}

}  // namespace purlin

#endif
