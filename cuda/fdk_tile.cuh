// Tiles of voxels and the image windows that they project onto: the set-up of every block of a back-projection.
//
// Positions are relative to the tile's centre and the window's corner. One thread for each view computes the coefficients in
// double. The remaining sums in f32 have few, small terms, so positions are accurate to 1e-5 of a pixel on any grid.
#ifndef PURLIN_FDK_TILE_CUH
#define PURLIN_FDK_TILE_CUH

#include "fdk_launch.h"

namespace purlin {
namespace fdk {

using Backproject = purlin_fdk_backproject_params;

constexpr int TILE = PURLIN_LAUNCH_FDK_TILE, THREADS = PURLIN_LAUNCH_FDK_THREADS, STAGES = PURLIN_LAUNCH_FDK_STAGES,
              CHUNK = PURLIN_LAUNCH_FDK_CHUNK;
static_assert(TILE * TILE == THREADS && CHUNK == 32, "a thread a voxel column, a lane a view");

template <class T>
__device__ T *address(uint64_t a) {
  return reinterpret_cast<T *>(a);
}

// One instruction with an error of 1 ulp, which suffices: positions are ratios of numbers near 1.
__device__ __forceinline__ float reciprocal(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

// Splits a non-negative position into its integer part and the remainder. Adding 2^23, rounded down, leaves the integer part
// in the low bits; a conversion instruction has a quarter of the throughput. `bits` is the integer part plus ORIGIN, which
// the computation of addresses subtracts at no cost.
struct Split {
  static constexpr uint32_t ORIGIN = 0x4b000000u;
  uint32_t bits;
  float part;
  __device__ __forceinline__ explicit Split(float at) {
    const float raised = __fadd_rd(at, 8388608.0f);
    bits = __float_as_uint(raised);
    part = at - (raised - 8388608.0f);
  }
  __device__ __forceinline__ int whole() const { return static_cast<int>(bits - ORIGIN); }
};

// A sample in shared memory, OFFSET bytes after an address.
template <int OFFSET>
__device__ __forceinline__ float sample(uint32_t shared) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1+%2];" : "=f"(v) : "r"(shared), "n"(OFFSET));
  return v;
}

// 16 bytes of a table in shared memory, OFFSET bytes after an address.
template <int OFFSET>
__device__ __forceinline__ float4 quarter(uint32_t shared) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4+%5];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(shared), "n"(OFFSET));
  return v;
}

__device__ __forceinline__ uint64_t bits_64(float low, float high) {
  return static_cast<uint64_t>(__float_as_uint(high)) << 32 | __float_as_uint(low);
}

// The voxels of a block.
struct Tile {
  int64_t x, y, z;          // index of the first voxel
  float dx, dy;             // this thread's column, relative to the tile's centre
  double half_x, half_y;    // from the centre to the last column inside the grid
  int64_t ix, iy;           // this thread's column in the grid
  bool inside;              // whether that column is inside the grid

  // Warps compute 8 x 4 columns, because compact tiles read few rows and columns of a window at once.
  __device__ Tile(const Backproject &p, int slices) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    x = static_cast<int64_t>(blockIdx.x) * TILE;
    y = static_cast<int64_t>(blockIdx.y) * TILE;
    z = p.start + static_cast<int64_t>(blockIdx.z) * slices;
    ix = x + warp % 2 * 8 + lane % 8;
    iy = y + warp / 2 * 4 + lane / 8;
    inside = ix < p.nx && iy < p.ny;
    half_x = 0.5 * static_cast<double>((x + TILE < p.nx ? TILE : p.nx - x) - 1);
    half_y = 0.5 * static_cast<double>((y + TILE < p.ny ? TILE : p.ny - y) - 1);
    // A window need not cover columns outside the grid, so they use the position of the last column inside.
    dx = static_cast<float>(fmin(static_cast<double>(ix - x), 2.0 * half_x) - half_x);
    dy = static_cast<float>(fmin(static_cast<double>(iy - y), 2.0 * half_y) - half_y);
  }
};

// A row of a view's matrix relative to a tile: its value at the centre, and its increments along x, y, z.
struct Affine {
  double at, x, y, z;
  __device__ Affine(const double *m, const Tile &t, double cz, double scale)
      : at((m[0] * (static_cast<double>(t.x) + t.half_x) + m[1] * (static_cast<double>(t.y) + t.half_y) + m[2] * cz + m[3]) * scale),
        x(m[0] * scale),
        y(m[1] * scale),
        z(m[2] * scale) {}
  __device__ double operator()(double dx, double dy, double dz) const { return at + x * dx + y * dy + z * dz; }
};

template <int OFFSET>
__device__ __forceinline__ void copy_async_16(uint32_t shared, uint64_t global) {
  asm volatile("cp.async.cg.shared.global [%0+%2], [%1], 16;" ::"r"(shared), "l"(global), "n"(OFFSET) : "memory");
}
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING>
__device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// Address of a window's first line. The other lines follow it, or precede it in a backward window.
struct Lines {
  uint64_t line;
  bool seen;  // whether the window may contain a line of the panel
};

// The lines of a batch view's image from stored row `row` on, in the direction of `sign`, from column `column` on. The border
// is as wide as a window. So a window that leaves the image contains no stored row and is read from the border.
__device__ inline Lines window_lines(const Backproject &p, int view, int64_t row, int sign, int column) {
  const int64_t first = row + p.top, last = first + sign * (p.window_rows - 1);
  const bool seen = first >= 0 && last >= 0 && first < p.height && last < p.height;
  const int64_t from = seen ? first : sign > 0 ? 0 : p.window_rows - 1;
  return {p.images + 4 * ((static_cast<int64_t>(view) * p.height + from) * p.pitch + p.left + column), seen};
}

// Copies windows from global to shared memory. Each thread copies 16 bytes of every AT_ONCE-th line, nearly always of only one.
template <int SAMPLES, int PITCH>
struct Fetch {
  static constexpr int QUADS = SAMPLES / 4, AT_ONCE = THREADS / QUADS;
  int row, column, rows;
  uint32_t target;
  __device__ explicit Fetch(const Backproject &p) : row(threadIdx.x / QUADS), column(threadIdx.x % QUADS * 16), rows(p.window_rows) {
    target = 4 * row * PITCH + column;
    // Surplus threads begin beyond any window.
    if (row >= AT_ONCE) row = 1 << 16;
  }
  // Lines are `pitch` bytes apart; a negative pitch copies them backwards. The window begins OFFSET bytes after `to`.
  template <int OFFSET>
  __device__ __forceinline__ void first_lines(uint64_t line, int pitch, uint32_t to) const {
    if (row < rows) copy_async_16<OFFSET>(to + target, line + static_cast<int64_t>(row * pitch + column));
  }
  // The remaining lines, if the window has more lines than a block copies at once.
  template <int OFFSET>
  __device__ __forceinline__ void other_lines(uint64_t line, int pitch, uint32_t to) const {
#pragma unroll 1
    for (int r = row + AT_ONCE; r < rows; r += AT_ONCE)
      copy_async_16<OFFSET>(to + 4 * PITCH * r + column, line + static_cast<int64_t>(r * pitch + column));
  }
  __device__ __forceinline__ bool is_more() const { return rows > AT_ONCE; }
};

// Calls `make(n, entry)` for the views of a chunk, one in each lane, and stores the entries for which it returns true, in
// order. Returns their number. The table is ready for all threads on return.
template <class Entry, class Make>
__device__ int build_table(Entry *table, int *seen, int first, int batch, const Make &make) {
  if (threadIdx.x < 32) {
    const int n = first + static_cast<int>(threadIdx.x);
    Entry entry;
    const bool wanted = n < batch && make(n, entry);
    const unsigned all = __ballot_sync(0xffffffffu, wanted);
    if (wanted) table[__popc(all & ((1u << threadIdx.x) - 1u))] = entry;
    if (threadIdx.x == 0) *seen = __popc(all);
  }
  __syncthreads();
  return *seen;
}

}  // namespace fdk
}  // namespace purlin

#endif
