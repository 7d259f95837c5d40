// Tiles of voxels and the windows they are seen in: what every block of a back-projection does before it computes.
//
// Positions are kept relative to the tile's centre and the window's corner, with numbers that one thread a view makes in
// double: what is left for f32 are sums of a few small terms, so positions are right to 1e-5 of a pixel on any grid.
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

// One instruction, 1 ulp: positions are ratios of numbers near 1.
__device__ __forceinline__ float reciprocal(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

// A non-negative position as a whole number and the rest. Adding 2^23, rounded down, leaves the whole number in the low
// bits: conversions to integer take a quarter of the rate. `bits` is ORIGIN more than the whole number; what addresses are
// made of takes that off where it costs nothing.
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

// A sample in shared memory, OFFSET bytes behind an address.
template <int OFFSET>
__device__ __forceinline__ float sample(uint32_t shared) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1+%2];" : "=f"(v) : "r"(shared), "n"(OFFSET));
  return v;
}

// 16 bytes of a table in shared memory, OFFSET bytes behind an address.
template <int OFFSET>
__device__ __forceinline__ float4 quarter(uint32_t shared) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4+%5];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(shared), "n"(OFFSET));
  return v;
}

__device__ __forceinline__ uint64_t bits_64(float low, float high) {
  return static_cast<uint64_t>(__float_as_uint(high)) << 32 | __float_as_uint(low);
}

// A block's voxels.
struct Tile {
  int64_t x, y, z;          // the first one
  float dx, dy;             // this thread's column, from the centre
  double half_x, half_y;    // from the centre to the last column that is in the grid
  int64_t ix, iy;           // this thread's column
  bool inside;              // which may lie outside

  // Warps take 8 x 4 columns: square tiles read few rows and columns of a window at once.
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
    // Outside the grid a window need not hold what a column sees, so it takes the last one's place.
    dx = static_cast<float>(fmin(static_cast<double>(ix - x), 2.0 * half_x) - half_x);
    dy = static_cast<float>(fmin(static_cast<double>(iy - y), 2.0 * half_y) - half_y);
  }
};

// A row of a view's matrix about a tile: its value at the centre, and what it grows by along x, y, z.
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

// Where a window's lines come from: the first one, the others behind it or, `backwards`, before it.
struct Lines {
  uint64_t line;
  bool seen;  // a line of the panel may be among them
};

// The lines of a batch view's image from stored row `row` on, in the direction of `sign`, from column `column` on. A window
// that leaves the image holds no stored row, as the border is as wide as a window, and is taken from the border.
__device__ inline Lines window_lines(const Backproject &p, int view, int64_t row, int sign, int column) {
  const int64_t first = row + p.top, last = first + sign * (p.window_rows - 1);
  const bool seen = first >= 0 && last >= 0 && first < p.height && last < p.height;
  const int64_t from = seen ? first : sign > 0 ? 0 : p.window_rows - 1;
  return {p.images + 4 * ((static_cast<int64_t>(view) * p.height + from) * p.pitch + p.left + column), seen};
}

// Copies of windows from global to shared memory: each thread takes 16 bytes of every so many lines, nearly always of one.
template <int SAMPLES, int PITCH>
struct Fetch {
  static constexpr int QUADS = SAMPLES / 4, AT_ONCE = THREADS / QUADS;
  int row, column, rows;
  uint32_t target;
  __device__ explicit Fetch(const Backproject &p) : row(threadIdx.x / QUADS), column(threadIdx.x % QUADS * 16), rows(p.window_rows) {
    target = 4 * row * PITCH + column;
    // Threads that are left over begin beyond any window.
    if (row >= AT_ONCE) row = 1 << 16;
  }
  // Lines are `pitch` bytes apart, backwards if that is negative; the window begins OFFSET bytes behind `to`.
  template <int OFFSET>
  __device__ __forceinline__ void first_lines(uint64_t line, int pitch, uint32_t to) const {
    if (row < rows) copy_async_16<OFFSET>(to + target, line + static_cast<int64_t>(row * pitch + column));
  }
  // The rest, if the window has more lines than a block takes at once.
  template <int OFFSET>
  __device__ __forceinline__ void other_lines(uint64_t line, int pitch, uint32_t to) const {
#pragma unroll 1
    for (int r = row + AT_ONCE; r < rows; r += AT_ONCE)
      copy_async_16<OFFSET>(to + 4 * PITCH * r + column, line + static_cast<int64_t>(r * pitch + column));
  }
  __device__ __forceinline__ bool is_more() const { return rows > AT_ONCE; }
};

// Calls `make(n, entry)` for the views of a chunk, one lane each, and keeps the entries that it says are seen, in order.
// Returns how many. The table is ready for all threads.
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
