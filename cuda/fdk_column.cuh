// Back-projection onto columns of voxels, exact in f32, for upright panels.
//
// Along a voxel column u is constant and v affine in the slice. A thread iterates over its column. It keeps in registers the
// last row, interpolated in u, and the difference to the next row. It loads two samples only where v enters a new row. The
// kernel is bound by instruction issue: 11 instructions a voxel, or 9 if two mirror images share position and row step.
#ifndef PURLIN_FDK_COLUMN_CUH
#define PURLIN_FDK_COLUMN_CUH

#include "fdk_tile.cuh"

namespace purlin {
namespace fdk {

// A view relative to a tile. With the position (dx, dy) of a column from the tile's centre and slice k of the tile:
//   w = 1 + w_x dx + w_y dy,  u = (u_0 + u_x dx + u_y dy) / w,  v = (v_0 + v_x dx + v_y dy + v_z k) / w,
// u and v count from the window's corner. v increases with k; the window's lines are panel rows in forward or backward order.
struct alignas(16) ColumnView {
  float w_x, w_y, u_x, u_y;
  float u_0, v_0, v_x, v_y;
  float v_z, weight;
  // The bits below, and the bytes from one line of the window to the next in the image.
  int flags, pitch;
  uint64_t rows, mirror;
  // First line and column of the window that begin a pair of existing pixels.
  int first_line, first_column, unused[2];

  // v may pass more than one row from a voxel to the next.
  static constexpr int STEEP = 1;
  // Some voxel of the tile may project onto pixels that do not exist.
  static constexpr int RIM = 2;
};
static_assert(sizeof(ColumnView) == 80, "read in quarters by their places");

__device__ inline bool make_column_view(const Backproject &p, const Tile &t, int slices, bool mirrored, int n, ColumnView &out) {
  const int view = address<const int>(p.index)[n];
  const double *m = address<const double>(p.views) + static_cast<int64_t>(view) * PURLIN_LAUNCH_FDK_VIEW;
  const double cz = static_cast<double>(t.z);
  const double scale = 1.0 / Affine(m + 8, t, 0.0, 1.0).at;
  const Affine u(m, t, 0.0, scale), v(m + 4, t, cz, scale), w(m + 8, t, 0.0, scale);
  const int sign = v.z < 0.0 ? -1 : 1;
  double u_low = 1e30, u_high = -1e30, v_low = 1e30, v_high = -1e30, nearest = 1e30;
  for (int corner = 0; corner < 4; ++corner) {
    const double dx = corner & 1 ? t.half_x : -t.half_x, dy = corner & 2 ? t.half_y : -t.half_y;
    const double depth = w(dx, dy, 0.0), r = 1.0 / depth, at_u = u(dx, dy, 0.0) * r, at_v = sign * v(dx, dy, 0.0) * r;
    nearest = fmin(nearest, depth);
    u_low = fmin(u_low, at_u);
    u_high = fmax(u_high, at_u);
    v_low = fmin(v_low, at_v);
    v_high = fmax(v_high, at_v + (slices - 1) * fabs(v.z) * r);
  }
  if (!(u_high > -1.0 && u_low < p.columns)) return false;
  // Slightly lower than needed, because the threads round differently.
  const double column = 4.0 * floor((u_low - 0.01) * 0.25), line = floor(v_low - 0.01);
  const int64_t row = sign * static_cast<int64_t>(line), other = p.mirror_row - row;
  const Lines lines = window_lines(p, n, row - p.first_row, sign, static_cast<int>(column)),
              images = window_lines(p, n, other - p.first_row, -sign, static_cast<int>(column));
  if (!lines.seen && !(mirrored && images.seen)) return false;
  out.rows = lines.line;
  out.mirror = images.line;
  out.pitch = sign * 4 * p.pitch;
  out.w_x = static_cast<float>(w.x);
  out.w_y = static_cast<float>(w.y);
  out.u_0 = static_cast<float>(u.at - column);
  out.u_x = static_cast<float>(u.x - column * w.x);
  out.u_y = static_cast<float>(u.y - column * w.y);
  out.v_0 = static_cast<float>(sign * v.at - line);
  out.v_x = static_cast<float>(sign * v.x - line * w.x);
  out.v_y = static_cast<float>(sign * v.y - line * w.y);
  out.v_z = static_cast<float>(fabs(v.z));
  out.weight = static_cast<float>(m[12] * scale * scale);
  const double low = sign > 0 ? 0.0 : 1.0 - p.panel_rows;
  const bool whole = u_low > 0.01 && u_high < p.columns - 1.01 && v_low > low + 0.01 && v_high < low + p.panel_rows - 1.01;
  out.flags = (fabs(v.z) > 0.9999 * nearest ? ColumnView::STEEP : 0) | (whole ? 0 : ColumnView::RIM);
  out.first_line = static_cast<int>(fmax(low - line, -1e6));
  out.first_column = -static_cast<int>(column);
  return true;
}

// A thread's state in its column: the current row's value, the difference to the next row, and the samples of the row after
// that, which are loaded one row ahead to hide the latency. OFFSET: bytes from an address to the samples.
template <int PITCH, int OFFSET>
struct Walk {
  float near, rise, left, right;
  __device__ __forceinline__ void start(uint32_t s, float a, float b) {
    near = fmaf(a, sample<OFFSET>(s), b * sample<OFFSET + 4>(s));
    rise = fmaf(a, sample<OFFSET + 4 * PITCH>(s), fmaf(b, sample<OFFSET + 4 * PITCH + 4>(s), -near));
    left = sample<OFFSET + 8 * PITCH>(s);
    right = sample<OFFSET + 8 * PITCH + 4>(s);
  }
  __device__ __forceinline__ float value(float part) const { return fmaf(part, rise, near); }
  __device__ __forceinline__ void add(float part, float &sum) const {
    sum += near;
    sum = fmaf(part, rise, sum);
  }
};

// If the position has passed a row, subtracts 1 and enters the next row. The instructions are predicated, because a branch
// around them takes three more, and at 0.5 to 1 row a voxel a whole warp hardly ever takes it.
template <int PITCH, int OFFSET>
__device__ __forceinline__ void enter_row(float &part, uint32_t &s, Walk<PITCH, OFFSET> &row, float a, float b) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .f32 t;\n"
      "setp.ge.f32 p, %0, 0f3F800000;\n"
      "@p add.f32 %0, %0, 0fBF800000;\n"
      "@p add.f32 %2, %2, %3;\n"
      "@p add.u32 %1, %1, %8;\n"
      "neg.f32 t, %2;\n"
      "fma.rn.f32 t, %7, %5, t;\n"
      "@p fma.rn.f32 %3, %6, %4, t;\n"
      "@p ld.shared.f32 %4, [%1+%9];\n"
      "@p ld.shared.f32 %5, [%1+%10];\n"
      "}\n"
      : "+f"(part), "+r"(s), "+f"(row.near), "+f"(row.rise), "+f"(row.left), "+f"(row.right)
      : "f"(a), "f"(b), "n"(4 * PITCH), "n"(OFFSET + 8 * PITCH), "n"(OFFSET + 8 * PITCH + 4));
}

// The same for a column and its mirror image.
template <int PITCH, int OFFSET>
__device__ __forceinline__ void enter_row(float &part, uint32_t &s, Walk<PITCH, 0> &row, Walk<PITCH, OFFSET> &other, float a, float b) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .f32 t, v;\n"
      "setp.ge.f32 p, %0, 0f3F800000;\n"
      "@p add.f32 %0, %0, 0fBF800000;\n"
      "@p add.f32 %2, %2, %3;\n"
      "@p add.f32 %6, %6, %7;\n"
      "@p add.u32 %1, %1, %12;\n"
      "neg.f32 t, %2;\n"
      "neg.f32 v, %6;\n"
      "fma.rn.f32 t, %11, %5, t;\n"
      "fma.rn.f32 v, %11, %9, v;\n"
      "@p fma.rn.f32 %3, %10, %4, t;\n"
      "@p fma.rn.f32 %7, %10, %8, v;\n"
      "@p ld.shared.f32 %4, [%1+%13];\n"
      "@p ld.shared.f32 %5, [%1+%14];\n"
      "@p ld.shared.f32 %8, [%1+%15];\n"
      "@p ld.shared.f32 %9, [%1+%16];\n"
      "}\n"
      : "+f"(part), "+r"(s), "+f"(row.near), "+f"(row.rise), "+f"(row.left), "+f"(row.right), "+f"(other.near), "+f"(other.rise),
        "+f"(other.left), "+f"(other.right)
      : "f"(a), "f"(b), "n"(4 * PITCH), "n"(8 * PITCH), "n"(8 * PITCH + 4), "n"(OFFSET + 8 * PITCH), "n"(OFFSET + 8 * PITCH + 4));
}

template <int SAMPLES, bool MIRROR, bool SKIP>
struct Column {
  static_assert(!(MIRROR && SKIP), "existing pixels are not symmetrical");
  static constexpr int DEPTH = MIRROR ? PURLIN_LAUNCH_FDK_MIRROR_SLICES : PURLIN_LAUNCH_FDK_COLUMN_SLICES;
  // Each line of the mirror image's window follows the corresponding line of the window.
  static constexpr int PITCH = MIRROR ? 2 * SAMPLES : SAMPLES;

  // Views between two barriers. The next TOGETHER views are fetched meanwhile.
  static constexpr int TOGETHER = SAMPLES == PURLIN_LAUNCH_FDK_NARROW ? PURLIN_LAUNCH_FDK_TOGETHER_NARROW : PURLIN_LAUNCH_FDK_TOGETHER_WIDE;

  float sum[DEPTH], sum_mirror[MIRROR ? DEPTH : 1];

  // `s` is the address of the first sample. RIM: only samples in the `bytes` from `first` on count.
  template <bool STEEP, bool RIM>
  __device__ __forceinline__ void walk(uint32_t s, float a, float b, float part, float step, uint32_t first, uint32_t bytes) {
    Walk<PITCH, 0> row;
    Walk<PITCH, 4 * SAMPLES> other;
    row.start(s, a, b);
    if (MIRROR) other.start(s, a, b);
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      if (RIM)
        sum[k] += s - first < bytes ? row.value(part) : 0.0f;
      else
        row.add(part, sum[k]);
      if (MIRROR) other.add(part, sum_mirror[k]);
      if (k + 1 == DEPTH) break;
      part += step;
      do {
        if (MIRROR)
          enter_row(part, s, row, other, a, b);
        else
          enter_row(part, s, row, a, b);
      } while (STEEP && part >= 1.0f);
    }
  }

  // `entry` is the address of the view's ColumnView.
  __device__ __forceinline__ void add(const Backproject &p, uint32_t entry, uint32_t window, float dx, float dy) {
    const float4 g = quarter<0>(entry), h = quarter<16>(entry), i = quarter<32>(entry);
    const float r = reciprocal(fmaf(g.x, dx, fmaf(g.y, dy, 1.0f)));
    const Split u(fmaf(g.z, dx, fmaf(g.w, dy, h.x)) * r), line(fmaf(h.z, dx, fmaf(h.w, dy, h.y)) * r);
    const float step = i.x * r;
    float weight = i.y * r * r;
    const int flags = __float_as_int(i.z);
    const uint32_t s = window - Split::ORIGIN * (4 * PITCH + 4) + line.bits * (4 * PITCH) + u.bits * 4;
    if (SKIP && flags & ColumnView::RIM) {
      const float4 there = quarter<64>(entry);
      if (static_cast<unsigned>(u.whole() - __float_as_int(there.y)) >= static_cast<unsigned>(p.columns - 1)) weight = 0.0f;
      const uint32_t first = s - 4 * PITCH * static_cast<uint32_t>(line.whole() - __float_as_int(there.x));
      const float b = weight * u.part;
      walk<true, SKIP>(s, weight - b, b, line.part, step, first, 4 * PITCH * static_cast<uint32_t>(p.panel_rows - 1));
      return;
    }
    const float b = weight * u.part, a = weight - b;
    if (flags & ColumnView::STEEP)
      walk<true, false>(s, a, b, line.part, step, 0, 0);
    else
      walk<false, false>(s, a, b, line.part, step, 0, 0);
  }

  __device__ void run(const Backproject &p, float *windows, ColumnView *table, int *seen) {
    const Tile tile(p, DEPTH);
    const Fetch<SAMPLES, PITCH> fetch(p);
    const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(windows));
    const uint32_t entries = static_cast<uint32_t>(__cvta_generic_to_shared(table));
    const uint32_t bytes = 4 * p.window_rows * PITCH;
    // Sum of the addresses of the windows' two halves: the other half begins at `both` minus this one's address.
    const uint32_t both = 2 * base + TOGETHER * bytes;
    auto stage = [&](uint32_t entry, uint32_t to) {
      const float4 lines = quarter<48>(entry);
      const int pitch = __float_as_int(sample<44>(entry));
      const uint64_t rows = bits_64(lines.x, lines.y), mirror = bits_64(lines.z, lines.w);
      fetch.template first_lines<0>(rows, pitch, to);
      if (MIRROR) fetch.template first_lines<4 * SAMPLES>(mirror, -pitch, to);
      if (!fetch.is_more()) return;
      fetch.template other_lines<0>(rows, pitch, to);
      if (MIRROR) fetch.template other_lines<4 * SAMPLES>(mirror, -pitch, to);
    };
    float *own = address<float>(p.volume), *mirror = address<float>(p.volume_mirror);
    const int64_t slice = p.nx * p.ny, at = tile.iy * p.nx + tile.ix;
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      const int64_t z = tile.z + k - p.first;
      sum[k] = tile.inside && z >= 0 && z < p.slices ? own[z * slice + at] : 0.0f;
      if (MIRROR) {
        const int64_t m = p.mirror - (tile.z + k) - p.first_mirror;
        sum_mirror[k] = tile.inside && m >= 0 && m < p.slices_mirror ? mirror[m * slice + at] : 0.0f;
      }
    }
    for (int first = 0; first < p.batch; first += CHUNK) {
      const int count = build_table(table, seen, first, p.batch, [&](int n, ColumnView &entry) {
        return make_column_view(p, tile, DEPTH, MIRROR, n, entry);
      });
      uint32_t window = base, entry = entries;
#pragma unroll
      for (int m = 0; m < TOGETHER; ++m)
        if (m < count) stage(entry + m * sizeof(ColumnView), window + m * bytes);
      copy_commit();
#pragma unroll 1
      for (int n = 0; n < count; n += TOGETHER) {
        copy_wait<0>();
        __syncthreads();
        const uint32_t next = both - window;
#pragma unroll
        for (int m = 0; m < TOGETHER; ++m)
          if (n + m + TOGETHER < count) stage(entry + (m + TOGETHER) * sizeof(ColumnView), next + m * bytes);
        copy_commit();
#pragma unroll
        for (int m = 0; m < TOGETHER; ++m)
          if (m == 0 || n + m < count) add(p, entry + m * sizeof(ColumnView), window + m * bytes, tile.dx, tile.dy);
        entry += TOGETHER * sizeof(ColumnView);
        window = next;
      }
      // After this barrier the table and the stages can be reused.
      copy_wait<0>();
      __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      const int64_t z = tile.z + k - p.first;
      if (tile.inside && z >= 0 && z < p.slices) own[z * slice + at] = sum[k];
      if (MIRROR) {
        // A slice in the plane of symmetry is its own mirror image and is stored already.
        const int64_t other = p.mirror - (tile.z + k), m = other - p.first_mirror;
        if (tile.inside && m >= 0 && m < p.slices_mirror && other != tile.z + k) mirror[m * slice + at] = sum_mirror[k];
      }
    }
  }
};

template <int SAMPLES, bool MIRROR, bool SKIP>
__device__ __forceinline__ void column(const Backproject &p) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ ColumnView table[CHUNK];
  __shared__ int seen;
  Column<SAMPLES, MIRROR, SKIP> block;
  block.run(p, reinterpret_cast<float *>(shared_bytes), table, &seen);
}

}  // namespace fdk
}  // namespace purlin

#endif
