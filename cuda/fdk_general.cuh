// Back-projection with any 3 x 4 matrices, exact in f32: a reciprocal and four samples a voxel.
#ifndef PURLIN_FDK_GENERAL_CUH
#define PURLIN_FDK_GENERAL_CUH

#include "fdk_tile.cuh"

namespace purlin {
namespace fdk {

// A view relative to a tile: w = 1 + w_x dx + w_y dy + w_z k, and similarly u w and v w. k counts from the tile's first slice,
// u and v from the window's corner.
struct alignas(16) GeneralView {
  float w_x, w_y, w_z, weight;
  float u_0, u_x, u_y, u_z;
  float v_0, v_x, v_y, v_z;
  // Range of positions whose samples count. Without SKIP, positions beyond it may be clamped to it.
  float u_low, u_high, v_low, v_high;
  uint64_t rows;
};

template <bool STAGED>
__device__ inline bool make_general_view(const Backproject &p, const Tile &t, int slices, bool skip, int n, GeneralView &out) {
  const int view = address<const int>(p.index)[n];
  const double *m = address<const double>(p.views) + static_cast<int64_t>(view) * PURLIN_LAUNCH_FDK_VIEW;
  const double cz = static_cast<double>(t.z);
  const double scale = 1.0 / Affine(m + 8, t, cz, 1.0).at;
  const Affine u(m, t, cz, scale), v(m + 4, t, cz, scale), w(m + 8, t, cz, scale);
  double u_low = 1e30, u_high = -1e30, v_low = 1e30, v_high = -1e30;
  for (int corner = 0; corner < 8; ++corner) {
    const double dx = corner & 1 ? t.half_x : -t.half_x, dy = corner & 2 ? t.half_y : -t.half_y;
    const double dz = corner & 4 ? slices - 1 : 0;
    const double r = 1.0 / w(dx, dy, dz), at_u = u(dx, dy, dz) * r, at_v = v(dx, dy, dz) * r;
    u_low = fmin(u_low, at_u);
    u_high = fmax(u_high, at_u);
    v_low = fmin(v_low, at_v);
    v_high = fmax(v_high, at_v);
  }
  const double column = 4.0 * floor((u_low - 0.01) * 0.25), line = floor(v_low - 0.01);
  // The stored rows, with the zero rows on both sides of them.
  double rows_low = p.first_row - 1.0, rows_high = p.first_row + p.rows;
  if (!(u_high > -1.0 && u_low < p.columns && v_high > rows_low && v_low < rows_high)) return false;
  if (skip) {
    rows_low = fmax(rows_low, 0.0);
    rows_high = fmin(rows_high, p.panel_rows - 1.0);
  }
  if (STAGED) {
    out.rows = window_lines(p, n, static_cast<int64_t>(line) - p.first_row, 1, static_cast<int>(column)).line;
  } else {
    const int64_t first = static_cast<int64_t>(n) * p.height + p.top - p.first_row + static_cast<int64_t>(line);
    out.rows = p.images + static_cast<uint64_t>(4 * (first * p.pitch + p.left + static_cast<int64_t>(column)));
  }
  out.w_x = static_cast<float>(w.x);
  out.w_y = static_cast<float>(w.y);
  out.w_z = static_cast<float>(w.z);
  out.weight = static_cast<float>(m[12] * scale * scale);
  out.u_0 = static_cast<float>(u.at - column);
  out.u_x = static_cast<float>(u.x - column * w.x);
  out.u_y = static_cast<float>(u.y - column * w.y);
  out.u_z = static_cast<float>(u.z - column * w.z);
  out.v_0 = static_cast<float>(v.at - line);
  out.v_x = static_cast<float>(v.x - line * w.x);
  out.v_y = static_cast<float>(v.y - line * w.y);
  out.v_z = static_cast<float>(v.z - line * w.z);
  out.u_low = static_cast<float>((skip ? 0.0 : -1.0) - column);
  out.u_high = static_cast<float>((skip ? p.columns - 1.0 : p.columns) - column);
  out.v_low = static_cast<float>(rows_low - line);
  out.v_high = static_cast<float>(rows_high - line);
  return true;
}

// STAGED: windows are in shared memory; else samples are read directly from the images.
template <int SAMPLES, bool STAGED, bool SKIP>
struct General {
  static constexpr int DEPTH = PURLIN_LAUNCH_FDK_GENERAL_SLICES;

  float sum[DEPTH];

  // WHOLE: the tile does not end inside the volume, so slice indices are compile-time constants.
  template <bool WHOLE>
  __device__ __forceinline__ void add(const Backproject &p, const GeneralView &v, uint32_t window, float dx, float dy, int depth) {
    const float w = fmaf(v.w_x, dx, fmaf(v.w_y, dy, 1.0f)), u = fmaf(v.u_x, dx, fmaf(v.u_y, dy, v.u_0)),
                l = fmaf(v.v_x, dx, fmaf(v.v_y, dy, v.v_0));
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      const float z = WHOLE ? static_cast<float>(k) : static_cast<float>(min(k, depth - 1));
      const float r = reciprocal(fmaf(v.w_z, z, w));
      float at_u = fmaf(v.u_z, z, u) * r, at_l = fmaf(v.v_z, z, l) * r, weight = v.weight * r * r;
      if (SKIP && !(at_u >= v.u_low && at_u < v.u_high && at_l >= v.v_low && at_l < v.v_high)) weight = 0.0f;
      float s00, s10, s01, s11;
      if (STAGED) {
        const Split column(at_u), line(at_l);
        constexpr int PITCH = 4 * SAMPLES;
        const uint32_t s = window - Split::ORIGIN * (PITCH + 4) + line.bits * PITCH + column.bits * 4;
        s00 = sample<0>(s), s10 = sample<4>(s), s01 = sample<PITCH>(s), s11 = sample<PITCH + 4>(s);
        at_u = column.part, at_l = line.part;
      } else {
        const Split column(fminf(fmaxf(at_u, v.u_low), v.u_high)), line(fminf(fmaxf(at_l, v.v_low), v.v_high));
        const float *s = address<const float>(v.rows) + (line.whole() * p.pitch + column.whole());
        s00 = __ldg(s), s10 = __ldg(s + 1), s01 = __ldg(s + p.pitch), s11 = __ldg(s + p.pitch + 1);
        at_u = column.part, at_l = line.part;
      }
      const float near = fmaf(at_u, s10 - s00, s00), far = fmaf(at_u, s11 - s01, s01);
      sum[k] = fmaf(weight, fmaf(at_l, far - near, near), sum[k]);
    }
  }

  __device__ void run(const Backproject &p, float *windows, GeneralView *table, int *seen) {
    const Tile tile(p, DEPTH);
    const Fetch<SAMPLES, SAMPLES> fetch(p);
    const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(windows));
    const uint32_t bytes = 4 * p.window_rows * SAMPLES, end = base + STAGES * bytes;
    const int depth = static_cast<int>(p.mirror - tile.z < DEPTH ? p.mirror - tile.z : DEPTH);
    auto stage = [&](int n, uint32_t to) {
      fetch.template first_lines<0>(table[n].rows, 4 * p.pitch, to);
      if (fetch.is_more()) fetch.template other_lines<0>(table[n].rows, 4 * p.pitch, to);
    };
    float *own = address<float>(p.volume);
    const int64_t slice = p.nx * p.ny, at = tile.iy * p.nx + tile.ix;
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      const int64_t z = tile.z + k - p.first;
      sum[k] = tile.inside && z >= 0 && z < p.slices ? own[z * slice + at] : 0.0f;
    }
    for (int first = 0; first < p.batch; first += CHUNK) {
      const int count = build_table(table, seen, first, p.batch, [&](int n, GeneralView &entry) {
        return make_general_view<STAGED>(p, tile, depth, SKIP, n, entry);
      });
      uint32_t window = base, next = base + (STAGES - 1) * bytes;
      if (STAGED) {
#pragma unroll
        for (int n = 0; n < STAGES - 1; ++n) {
          if (n < count) stage(n, base + n * bytes);
          copy_commit();
        }
      }
#pragma unroll 1
      for (int n = 0; n < count; ++n) {
        if (STAGED) {
          copy_wait<STAGES - 2>();
          __syncthreads();
          if (n + STAGES - 1 < count) stage(n + STAGES - 1, next);
          copy_commit();
        }
        if (depth == DEPTH)
          add<true>(p, table[n], window, tile.dx, tile.dy, depth);
        else
          add<false>(p, table[n], window, tile.dx, tile.dy, depth);
        window = window + bytes == end ? base : window + bytes;
        next = next + bytes == end ? base : next + bytes;
      }
      if (STAGED) copy_wait<0>();
      __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      const int64_t z = tile.z + k - p.first;
      if (tile.inside && z >= 0 && z < p.slices) own[z * slice + at] = sum[k];
    }
  }
};

template <int SAMPLES, bool STAGED, bool SKIP>
__device__ __forceinline__ void general(const Backproject &p) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ GeneralView table[CHUNK];
  __shared__ int seen;
  General<SAMPLES, STAGED, SKIP> block;
  block.run(p, reinterpret_cast<float *>(shared_bytes), table, &seen);
}

}  // namespace fdk
}  // namespace purlin

#endif
