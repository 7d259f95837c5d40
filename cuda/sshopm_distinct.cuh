// Merges the results of the starts of one tensor to distinct pairs, in one warp.
#ifndef PURLIN_SSHOPM_DISTINCT_CUH
#define PURLIN_SSHOPM_DISTINCT_CUH

#include "sshopm_launch.h"
#include "reduce.cuh"
#include "sshopm_real.cuh"
#include "sshopm_step.cuh"

namespace purlin {

// Results of the starts of one tensor in shared memory, V of each; a value of minus infinity means no result.
template <class T>
struct StartResults {
  T *value, *x, *y, *z, *residual2;
  __device__ StartResults(T *base, int starts)
      : value(base), x(base + starts), y(base + 2 * starts), z(base + 3 * starts), residual2(base + 4 * starts) {}
};

template <class T>
struct Pair {
  T value, x, y, z, residual, low, high;
  int basin, kind;
};

// Squared chord between directions, up to sign for even order: 1 - |x.x'| formed without cancellation.
template <bool EVEN, class T>
__device__ __forceinline__ T chord2(T ax, T ay, T az, T bx, T by, T bz) {
  T sign = EVEN && fma(ax, bx, fma(ay, by, az * bz)) < T(0) ? T(-1) : T(1);
  T dx = fma(-sign, bx, ax), dy = fma(-sign, by, ay), dz = fma(-sign, bz, az);
  return fma(dx, dx, fma(dy, dy, dz * dz));
}

// Greedy merge in descending order of value. The strongest remaining start begins a pair. Every remaining start within the
// merge angle joins it, and the one with the smallest residual represents it. Returns the number of pairs; lane k gets pair
// k. At most 32 PASSES starts, in registers. `missed` returns whether a start did not converge.
template <bool EVEN, int PASSES, class T>
__device__ __forceinline__ int distinct_pairs(int starts, const T *number, StartResults<T> s, Pair<T> &mine,
                                              bool &missed) {
  const int lane = lane_id();
  const T merge = number[MERGE], agree = number[AGREE], none = -Real<T>::infinity();
  T value[PASSES], x[PASSES], y[PASSES], z[PASSES], residual2[PASSES];
#pragma unroll
  for (int i = 0; i < PASSES; ++i) {
    const int v = min(lane + 32 * i, starts - 1);
    value[i] = lane + 32 * i < starts ? s.value[v] : none;
    x[i] = s.x[v];
    y[i] = s.y[v];
    z[i] = s.z[v];
    residual2[i] = s.residual2[v];
  }
  bool failed = false;
#pragma unroll
  for (int i = 0; i < PASSES; ++i) failed = failed || (lane + 32 * i < starts && value[i] == none);
  missed = __any_sync(FULL_WARP, failed);
  int found = 0;
  while (found < PURLIN_LAUNCH_FUSED_MAX_PAIRS) {
    T best = value[0], bx = x[0], by = y[0], bz = z[0];
#pragma unroll
    for (int i = 1; i < PASSES; ++i)
      if (value[i] > best) {
        best = value[i];
        bx = x[i];
        by = y[i];
        bz = z[i];
      }
    const auto key = ordered_key(best);
    const auto top_key = warp_max(key);
    const T top = from_key(top_key);
    if (top == none) break;
    const int seed = __ffs(static_cast<int>(__ballot_sync(FULL_WARP, key == top_key))) - 1;
    bx = __shfl_sync(FULL_WARP, bx, seed);
    by = __shfl_sync(FULL_WARP, by, seed);
    bz = __shfl_sync(FULL_WARP, bz, seed);
    T least = Real<T>::infinity(), cv = none, cx = bx, cy = by, cz = bz;
    int basin = 0;
#pragma unroll
    for (int i = 0; i < PASSES; ++i) {
      bool joins = value[i] > none && chord2<EVEN>(bx, by, bz, x[i], y[i], z[i]) <= merge;
      if (agree > T(0)) joins = joins && fabs(value[i] - top) <= agree * fabs(top);
      basin += __popc(__ballot_sync(FULL_WARP, joins));
      if (joins && residual2[i] < least) {
        least = residual2[i];
        cv = value[i];
        cx = x[i];
        cy = y[i];
        cz = z[i];
      }
      if (joins) value[i] = none;
    }
    const int owner = warp_max_lane(-least);
    least = __shfl_sync(FULL_WARP, least, owner);
    cv = __shfl_sync(FULL_WARP, cv, owner);
    cx = __shfl_sync(FULL_WARP, cx, owner);
    cy = __shfl_sync(FULL_WARP, cy, owner);
    cz = __shfl_sync(FULL_WARP, cz, owner);
    if (lane == found) mine = Pair<T>{cv, cx, cy, cz, least, T(0), T(0), basin, 0};
    ++found;
  }
  return found;
}

// The same for any number of starts, from shared memory.
template <bool EVEN, class T>
__device__ __forceinline__ int distinct_pairs_many(int starts, const T *number, StartResults<T> s, Pair<T> &mine,
                                                   bool &missed) {
  const int lane = lane_id();
  const T merge = number[MERGE], agree = number[AGREE];
  bool failed = false;
  for (int v = lane; v < starts; v += 32) failed = failed || s.value[v] == -Real<T>::infinity();
  missed = __any_sync(FULL_WARP, failed);
  int found = 0;
  while (found < PURLIN_LAUNCH_FUSED_MAX_PAIRS) {
    T best = -Real<T>::infinity();
    int at = 0;
    for (int v = lane; v < starts; v += 32) {
      T value = s.value[v];
      if (value > best) {
        best = value;
        at = v;
      }
    }
    auto key = ordered_key(best);
    auto top_key = warp_max(key);
    T top = from_key(top_key);
    if (top == -Real<T>::infinity()) break;
    at = __shfl_sync(FULL_WARP, at, __ffs(static_cast<int>(__ballot_sync(FULL_WARP, key == top_key))) - 1);
    T x = s.x[at], y = s.y[at], z = s.z[at];
    T least = Real<T>::infinity(), value = T(0);
    int joined = 0, from = 0;
    for (int v = lane; v < starts; v += 32) {
      T other = s.value[v];
      if (other == -Real<T>::infinity()) continue;
      if (chord2<EVEN>(x, y, z, s.x[v], s.y[v], s.z[v]) > merge) continue;
      if (agree > T(0) && fabs(other - top) > agree * fabs(top)) continue;
      ++joined;
      T residual2 = s.residual2[v];
      if (residual2 < least) {
        least = residual2;
        value = other;
        from = v;
      }
      s.value[v] = -Real<T>::infinity();
    }
    int basin = __reduce_add_sync(FULL_WARP, joined);
    int owner = warp_max_lane(-least);
    from = __shfl_sync(FULL_WARP, from, owner);
    value = __shfl_sync(FULL_WARP, value, owner);
    if (lane == found) {
      mine.value = value;
      mine.x = s.x[from];
      mine.y = s.y[from];
      mine.z = s.z[from];
      mine.residual = s.residual2[from];
      mine.basin = basin;
    }
    ++found;
    __syncwarp();
  }
  return found;
}

}  // namespace purlin

#endif
