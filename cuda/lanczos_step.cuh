// A whole step of the Lanczos process after its product, by all blocks of a cooperative launch: the three-term
// recurrence, the estimate of the loss of orthogonality, passes of Gram-Schmidt if the estimate asks for them, and the
// norm.
//
// Each block and each thread works on the same rows throughout, so that only sums cross blocks. Each block adds the
// sums of all blocks in the same order, and so all blocks take the same decisions.
#ifndef PURLIN_LANCZOS_STEP_CUH
#define PURLIN_LANCZOS_STEP_CUH

#include "lanczos_number.cuh"

namespace purlin {
namespace lanczos {

constexpr int STEP_THREADS = PURLIN_LAUNCH_LANCZOS_STEP_THREADS, STEP_WARPS = STEP_THREADS / 32;

// Barrier over all blocks; `passed` counts its uses.
__device__ __forceinline__ void meet(uint32_t *arrivals, uint32_t &passed) {
  __syncthreads();
  ++passed;
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrivals, 1u);
    uint32_t seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
    } while (seen < passed * gridDim.x);
    __threadfence();
  }
  __syncthreads();
}

template <class T>
struct Step {
  using N = Number<T>;
  using Wide = typename N::Wide;
  static constexpr int PARTS = N::PARTS, ROWS = PARTS == 1 ? 2 : 1, COLS = PARTS == 1 ? 8 : 4, SUMS = COLS * PARTS;
  static constexpr int LANES = 32 / SUMS;

  const purlin_lanczos_step_params &p;
  const T *space;
  T *w;     // the block's rows of w, in global memory
  T *work;  // the working copy of these rows: in shared memory if they fit, else w itself
  int64_t begin, end;
  double *weights, *totals, *own;  // shared: [numbers], [2 + numbers], [STEP_WARPS][2 + numbers]
  int numbers;                     // of all coefficients
  uint32_t passed = 0;

  __device__ Step(const purlin_lanczos_step_params &params, double *shared) : p(params) {
    space = reinterpret_cast<const T *>(p.space);
    const int64_t share = (p.rows + gridDim.x - 1) / gridDim.x, each = (share + 31) / 32 * 32;
    begin = min(each * blockIdx.x, p.rows);
    end = min(begin + each, p.rows);
    w = reinterpret_cast<T *>(p.vector) + begin;
    numbers = PARTS * static_cast<int>(p.column + 1);
    work = p.held != 0 ? reinterpret_cast<T *>(shared) : w;
    weights = p.held != 0 ? shared + (each * sizeof(T) + 7) / 8 : shared;
    totals = weights + numbers;
    own = totals + 2 + numbers;
  }

  // work = `from` - sub `weights` over `subtracted` columns, for the block's rows. Then the products of `dotted`
  // columns with it, and its squares before and after. On return `totals` has the squares and the coefficients, summed
  // over all blocks.
  __device__ void sweep(const T *from, const T *sub, int subtracted, const T *dots, int dotted) {
    const int warp = threadIdx.x / 32, sums_here = PARTS * dotted, length = 2 + numbers;
    double *mine = own + warp * length;
    for (int k = lane_id(); k < sums_here; k += 32) mine[2 + k] = 0.0;
    __syncwarp();
    double before = 0.0, after = 0.0;
    for (int64_t first = begin; first < end; first += STEP_THREADS * ROWS) {
      Wide x[ROWS];
      bool inside[ROWS];
      const int64_t row = first + threadIdx.x;
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        inside[r] = row + r * STEP_THREADS < end;
        x[r] = inside[r] ? N::widen(from[row - begin + r * STEP_THREADS]) : Wide{};
        before += N::square(x[r]);
      }
      if (subtracted > 0) {
#pragma unroll 8
        for (int c = 0; c < subtracted; ++c) {
          const Wide h = N::weight(weights + PARTS * c);
          const T *column = sub + static_cast<int64_t>(c) * p.rows + row;
#pragma unroll
          for (int r = 0; r < ROWS; ++r)
            if (inside[r]) x[r] = N::less(x[r], column[r * STEP_THREADS], h);
        }
      }
      if (subtracted > 0 || from != work) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
          if (inside[r]) {
            // Later sums use the rounded value.
            const T rounded = N::narrow(x[r]);
            x[r] = N::widen(rounded);
            work[row - begin + r * STEP_THREADS] = rounded;
          }
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) after += N::square(x[r]);
      for (int c = 0; c < dotted; c += COLS) {
        T read[COLS][ROWS];
#pragma unroll
        for (int k = 0; k < COLS; ++k)
#pragma unroll
          for (int r = 0; r < ROWS; ++r)
            read[k][r] = c + k < dotted && inside[r]
                             ? dots[static_cast<int64_t>(c + k) * p.rows + row + r * STEP_THREADS]
                             : N::narrow(Wide{});
        double sums[SUMS];
#pragma unroll
        for (int k = 0; k < SUMS; ++k) sums[k] = 0.0;
#pragma unroll
        for (int k = 0; k < COLS; ++k)
#pragma unroll
          for (int r = 0; r < ROWS; ++r) N::dot(sums + PARTS * k, read[k][r], x[r]);
        const double sum = sums_of(sums);
        const int number = PARTS * c + lane_id() / LANES;
        if (lane_id() % LANES == 0 && number < sums_here) mine[2 + number] += sum;
      }
    }
    before = warp_sum(before);
    after = warp_sum(after);
    if (lane_id() == 0) mine[0] = before, mine[1] = after;
    __syncthreads();
    // Alternate between two buffers: other blocks may still read the other one.
    double *partials = reinterpret_cast<double *>(p.partials) + static_cast<int64_t>(passed % 2) * p.most * gridDim.x;
    for (int k = threadIdx.x; k < 2 + sums_here; k += STEP_THREADS) {
      double sum = 0.0;
      for (int v = 0; v < STEP_WARPS; ++v) sum += own[v * length + k];
      partials[static_cast<int64_t>(k) * gridDim.x + blockIdx.x] = sum;
    }
    meet(reinterpret_cast<uint32_t *>(p.arrivals), passed);
    for (int k = warp; k < 2 + sums_here; k += STEP_WARPS) {
      double sum = 0.0;
      for (unsigned b = lane_id(); b < gridDim.x; b += 32) sum += __ldcg(partials + static_cast<int64_t>(k) * gridDim.x + b);
      sum = warp_sum(sum);
      if (lane_id() == 0) totals[k] = sum;
    }
    __syncthreads();
  }

  // Copies the totals of `count` coefficients to `weights`.
  __device__ void weigh(int count) {
    for (int k = threadIdx.x; k < PARTS * count; k += STEP_THREADS) weights[k] = totals[2 + k];
    __syncthreads();
  }

  // A remainder of 0 stays: steps are enqueued before the host knows that the space is invariant.
  __device__ void divide(double norm) const {
    const double factor = norm == 0.0 ? 0.0 : 1.0 / norm;
    for (int64_t r = threadIdx.x; r < end - begin; r += STEP_THREADS) w[r] = N::narrow(N::scaled(N::widen(work[r]), factor));
  }

  __device__ void run() {
    const int count = static_cast<int>(p.column + 1), j = static_cast<int>(p.step), m = static_cast<int>(p.basis);
    const T *last = reinterpret_cast<const T *>(p.last), *previous = reinterpret_cast<const T *>(p.before);
    double *t = reinterpret_cast<double *>(p.projected);
    const bool is_three = p.three != 0, has_previous = p.previous != 0, is_local = has_previous || is_three;
    const bool is_watched = p.estimates != 0, is_full = !is_watched && !is_three;
    // The estimated products of vectors 0 .. j with the last vector and with the one before it; 0 where there is no
    // vector.
    const double *was = reinterpret_cast<const double *>(p.estimates);
    const int i = threadIdx.x;
    const bool is_estimated = is_local && is_watched && i < j;
    double expected = 0.0, old_last = 0.0, old_before = 0.0, coupling = 0.0, largest = 0.0;
    bool is_due = false;
    if (is_watched) {
      largest = was[2 * (m + 1)];
      is_due = was[2 * (m + 1) + 1] > 0.0;
    }
    if (is_estimated) {
      coupling = t[(j - 1) * m + j];
      for (int l = 0; l <= j; ++l) expected = fma(t[l * m + i], was[(m + 1) + l], expected);
      old_last = was[(m + 1) + i];
      old_before = was[i];
    }
    double along = 0.0, before, rest;
    if (is_local) {
      if (threadIdx.x < PARTS)
        weights[threadIdx.x] = threadIdx.x == 0 && has_previous ? reinterpret_cast<const double *>(p.previous)[2] : 0.0;
      __syncthreads();
      sweep(w, previous, has_previous ? 1 : 0, last, 1);
      before = sqrt(totals[0]);
      along = totals[2];
      weigh(1);
      sweep(work, last, 1, space, is_full ? count : 0);
    } else {
      sweep(w, nullptr, 0, space, count);
      before = sqrt(totals[0]);
    }
    rest = totals[1];
    largest = fmax(largest, before);
    bool is_lost = !is_three;
    double omega = 0.0;
    if (is_local && is_watched) {
      const double beta = sqrt(rest), noise = p.epsilon * largest / beta;
      if (is_estimated) {
        omega = (expected - along * old_last - coupling * old_before) / beta;
        omega += copysign(noise, omega);
      } else if (i == j) {
        omega = noise;
      }
      // Threads beyond j have no estimate; NaN counts as lost.
      const bool is_far = __syncthreads_or(i <= j && !(fabs(omega) <= p.limit));
      is_lost = is_due || is_far;
      is_due = !is_due && is_far;
    }
    int passes = 0;
    if (is_lost) {
      if (is_local && is_watched) sweep(work, nullptr, 0, space, count);
      for (;;) {
        weigh(count);
        along += weights[PARTS * (count - 1)];
        const double held = rest;
        sweep(work, space, count, nullptr, 0);
        rest = totals[1];
        ++passes;
        // If most of a vector was subtracted, the remainder is not orthogonal relative to its own size: repeat.
        if (!(rest < 0.5 * held) || passes == PURLIN_LAUNCH_LANCZOS_STEP_PASSES) break;
        sweep(work, nullptr, 0, space, count);
      }
    }
    const double norm = sqrt(rest);
    divide(norm);
    if (blockIdx.x == 0) {
      if (threadIdx.x == 0) {
        double *record = reinterpret_cast<double *>(p.record);
        record[0] = along;
        record[1] = before;
        record[2] = norm;
        record[3] = passes;
        if (t != nullptr) {
          t[j * m + j] = along;
          if (j + 1 < m) t[j * m + j + 1] = t[(j + 1) * m + j] = norm;
        }
      }
      if (is_watched) {
        double *now = reinterpret_cast<double *>(p.estimates_after);
        if (i <= m) {
          now[i] = was[(m + 1) + i];
          now[(m + 1) + i] = i <= j ? (is_lost ? p.epsilon : omega) : (i == j + 1 ? 1.0 : 0.0);
        }
        if (threadIdx.x == 0) now[2 * (m + 1)] = largest, now[2 * (m + 1) + 1] = is_due ? 1.0 : 0.0;
      }
    }
    // The last block to leave resets the counters for the next launch.
    if (threadIdx.x == 0) {
      uint32_t *arrivals = reinterpret_cast<uint32_t *>(p.arrivals);
      __threadfence();
      if (atomicAdd(arrivals + 1, 1u) == gridDim.x - 1) arrivals[0] = arrivals[1] = 0;
    }
  }
};

template <class T>
__device__ void step(const purlin_lanczos_step_params &p) {
  extern __shared__ __align__(16) double lanczos_step_shared[];
  Step<T>(p, lanczos_step_shared).run();
}

}  // namespace lanczos
}  // namespace purlin

#endif
