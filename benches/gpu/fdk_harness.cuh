// Geometries, launches and reference values for the FDK kernel bench. The choice of kernels and windows follows that of
// the library (src/base/backend/gpu/kernels/fdk).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../../cuda/fdk.cu"
#include "../../cuda/fdk_backproject.cu"

#define CHECK(call)                                                               \
  do {                                                                            \
    cudaError_t error_ = (call);                                                  \
    if (error_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)

using std::vector;

constexpr double PI = 3.14159265358979323846;

// Device array, filled with a poison pattern (a NaN) or with data.
template <class T>
struct Device {
  T *data = nullptr;
  size_t size = 0;
  explicit Device(size_t n) : size(n) {
    CHECK(cudaMalloc(&data, (n + 1) * sizeof(T)));
    CHECK(cudaMemset(data, 0xff, (n + 1) * sizeof(T)));
  }
  explicit Device(const vector<T> &v) : Device(v.size()) {
    if (size) CHECK(cudaMemcpy(data, v.data(), size * sizeof(T), cudaMemcpyHostToDevice));
  }
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device() { cudaFree(data); }
  void zero() { CHECK(cudaMemset(data, 0, size * sizeof(T))); }
  vector<T> host() const {
    vector<T> v(size);
    if (size) CHECK(cudaMemcpy(v.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data); }
};

struct Tally {
  int checks = 0, failures = 0;
  void note(bool ok, const std::string &what) {
    ++checks;
    if (!ok) ++failures;
    std::printf("%-4s %s\n", ok ? "ok" : "FAIL", what.c_str());
  }
};
inline Tally tally;

struct Matrix {
  double m[3][4];
  double apply(int row, const double *x) const { return m[row][0] * x[0] + m[row][1] * x[1] + m[row][2] * x[2] + m[row][3]; }
};

// A scan by its matrices from voxel indices to (column w, row w, w).
struct Scan {
  int size[3], columns, rows;
  vector<Matrix> views;
  vector<double> weights;
  vector<double> table() const {
    vector<double> t(views.size() * PURLIN_LAUNCH_FDK_VIEW, 0.0);
    for (size_t n = 0; n < views.size(); ++n) {
      std::memcpy(&t[n * PURLIN_LAUNCH_FDK_VIEW], views[n].m, sizeof views[n].m);
      t[n * PURLIN_LAUNCH_FDK_VIEW + 12] = weights[n];
    }
    return t;
  }
};

struct Orbit {
  double sid, sdd, column_pitch, row_pitch, voxel = 1, shift_u = 0, shift_v = 0, shift_z = 0, tilt = 0;
  bool flipped = false;
};

inline vector<double> circle(int views, double from = 0.1, double span = 2 * PI) {
  vector<double> a;
  for (int n = 0; n < views; ++n) a.push_back(from + span * n / views);
  return a;
}

inline Scan scan_of(int nx, int ny, int nz, int columns, int rows, const Orbit &o, const vector<double> &angles) {
  Scan s{{nx, ny, nz}, columns, rows, {}, {}};
  const double origin[3] = {-0.5 * (nx - 1) * o.voxel, -0.5 * (ny - 1) * o.voxel, -0.5 * (nz - 1) * o.voxel + o.shift_z};
  const double centre[2] = {0.5 * (columns - 1) - o.shift_u / o.column_pitch, 0.5 * (rows - 1) - o.shift_v / o.row_pitch};
  for (double angle : angles) {
    const double c = std::cos(angle), d = std::sin(angle), ct = std::cos(o.tilt), st = std::sin(o.tilt), sign = o.flipped ? -1 : 1;
    const double depth[4] = {-c * ct, -d * ct, st, o.sid * ct}, across[4] = {-d, c, 0, 0},
                 up[4] = {sign * c * st, sign * d * st, sign * ct, -sign * o.sid * st};
    Matrix m;
    for (int r = 0; r < 3; ++r) {
      double world[4];
      for (int k = 0; k < 4; ++k)
        world[k] = r == 0   ? o.sdd / o.column_pitch * across[k] + centre[0] * depth[k]
                   : r == 1 ? o.sdd / o.row_pitch * up[k] + centre[1] * depth[k]
                            : depth[k];
      m.m[r][3] = world[3];
      for (int k = 0; k < 3; ++k) {
        m.m[r][k] = world[k] * o.voxel;
        m.m[r][3] += world[k] * origin[k];
      }
    }
    s.views.push_back(m);
    s.weights.push_back(o.sid * o.sdd * (0.9 + 0.02 * (7 * s.views.size() % 10)));
  }
  return s;
}

enum Kind { COLUMN, GENERAL, PLAIN };

struct Choice {
  Kind kind = COLUMN;
  bool mirrored = false;
  int width = PURLIN_LAUNCH_FDK_NARROW, window_rows = 0;
  int64_t mirror = 0, mirror_row = 0;
  int depth() const {
    return kind != COLUMN ? PURLIN_LAUNCH_FDK_GENERAL_SLICES : mirrored ? PURLIN_LAUNCH_FDK_MIRROR_SLICES : PURLIN_LAUNCH_FDK_COLUMN_SLICES;
  }
  int shared() const {
    const int together = width == PURLIN_LAUNCH_FDK_NARROW ? PURLIN_LAUNCH_FDK_TOGETHER_NARROW : PURLIN_LAUNCH_FDK_TOGETHER_WIDE;
    const int windows = kind == PLAIN ? 0 : kind == GENERAL ? PURLIN_LAUNCH_FDK_STAGES : 2 * together;
    return windows * window_rows * width * 4 * (mirrored ? 2 : 1);
  }
};

// Allowed kernels: all; without mirror images; also without the one along columns; also without staged windows.
enum Allowed { BEST, NO_MIRROR, NO_COLUMN, NO_WINDOW };

struct Reach {
  double depth = 1e300, range[2][2] = {{1e300, -1e300}, {1e300, -1e300}};
  Reach(const Scan &s, const Matrix &m, int beyond) {
    for (int corner = 0; corner < 8; ++corner) {
      const double x[3] = {corner & 1 ? s.size[0] - 1.0 : 0, corner & 2 ? s.size[1] - 1.0 : 0, corner & 4 ? s.size[2] + beyond - 1.0 : 0};
      const double w = m.apply(2, x);
      depth = std::min(depth, w);
      for (int a = 0; a < 2; ++a) {
        const double at = std::min(std::max(m.apply(a, x) / w, -128.0), (a ? s.rows : s.columns) + 128.0);
        range[a][0] = std::min(range[a][0], at);
        range[a][1] = std::max(range[a][1], at);
      }
    }
  }
};

inline bool find_mirror(const Scan &s, Choice &c) {
  const Matrix &m = s.views[0];
  const double rows = std::round(2 * (m.m[1][0] * m.m[2][0] + m.m[1][1] * m.m[2][1]) / (m.m[2][0] * m.m[2][0] + m.m[2][1] * m.m[2][1]));
  const double slices = std::round((rows * m.m[2][3] - 2 * m.m[1][3]) / m.m[1][2]);
  if (!(std::fabs(slices - (s.size[2] - 1)) <= s.size[2] / 4.0) || s.size[2] < 4 || slices < 0) return false;
  for (const Matrix &v : s.views) {
    const double x = std::fabs(2 * v.m[1][0] - rows * v.m[2][0]) * s.size[0], y = std::fabs(2 * v.m[1][1] - rows * v.m[2][1]) * s.size[1],
                 z = std::fabs(2 * v.m[1][3] + slices * v.m[1][2] - rows * v.m[2][3]);
    if (!(x + y + z <= 1e-8 * Reach(s, v, 0).depth)) return false;
  }
  c.mirror = static_cast<int64_t>(slices);
  c.mirror_row = static_cast<int64_t>(rows);
  return true;
}

inline Choice choose(const Scan &s, bool skip, Allowed allowed = BEST) {
  bool upright = allowed < NO_COLUMN;
  for (const Matrix &m : s.views) {
    const double depth = Reach(s, m, 0).depth;
    upright = upright && std::fabs(m.m[2][2]) * s.size[2] <= 1e-12 * depth && std::fabs(m.m[0][2]) * s.size[2] <= 1e-9 * depth;
  }
  Choice c;
  c.kind = upright ? COLUMN : GENERAL;
  c.mirror = s.size[2];
  c.mirrored = upright && !skip && allowed == BEST && find_mirror(s, c);
  const int beyond = upright ? c.depth() + s.size[2] / 4 : 0;
  const double lengths[3] = {std::min(s.size[0], 16) - 1.0, std::min(s.size[1], 16) - 1.0, c.depth() - 1.0};
  double extent[2] = {0, 0};
  for (const Matrix &m : s.views) {
    const Reach reach(s, m, beyond);
    for (int a = 0; a < 2; ++a) {
      double whole = 0;
      for (int k = 0; k < 3; ++k)
        whole += std::max(std::fabs(m.m[a][k] - reach.range[a][0] * m.m[2][k]), std::fabs(m.m[a][k] - reach.range[a][1] * m.m[2][k])) / reach.depth * lengths[k];
      extent[a] = std::max(extent[a], whole);
    }
  }
  const int width = static_cast<int>(std::ceil(std::min(extent[0], 1e6))) + 6;
  c.window_rows = static_cast<int>(std::ceil(std::min(extent[1], 1e6))) + 4;
  c.width = width <= PURLIN_LAUNCH_FDK_NARROW ? PURLIN_LAUNCH_FDK_NARROW : PURLIN_LAUNCH_FDK_WIDE;
  if (width > PURLIN_LAUNCH_FDK_WIDE || c.shared() > 96 * 1024 || allowed == NO_WINDOW) {
    c = Choice();
    c.kind = PLAIN;
    c.mirror = s.size[2];
    c.window_rows = 2;
  }
  return c;
}

struct Images {
  int left, top, pitch, height, first_row, rows;
  Images(const Scan &s, const Choice &c, int first_row, int rows)
      : left(c.kind == PLAIN ? 4 : c.width), top(c.kind == PLAIN ? 2 : c.window_rows + 2), pitch((2 * left + s.columns + 31) / 32 * 32),
        height(rows + 2 * top), first_row(first_row), rows(rows) {}
  size_t samples() const { return static_cast<size_t>(pitch) * height; }
};

// Pixels that are as good as random, and the same on both sides.
__host__ __device__ inline float pixel(int column, int row, int view) {
  unsigned h = column * 2654435761u ^ row * 2246822519u ^ view * 3266489917u;
  h = (h ^ h >> 15) * 2246822519u;
  h = (h ^ h >> 13) * 3266489917u;
  return static_cast<float>((h ^ h >> 16) >> 8) * (1.0f / 16777216.0f);
}

__global__ void fill_images(float *out, Images l, int columns, int first_view, int views) {
  const size_t all = static_cast<size_t>(l.pitch) * l.height * views;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < all; i += static_cast<size_t>(gridDim.x) * blockDim.x) {
    const int x = static_cast<int>(i % l.pitch) - l.left, y = static_cast<int>(i / l.pitch % l.height) - l.top;
    const bool there = x >= 0 && x < columns && y >= 0 && y < l.rows;
    out[i] = there ? pixel(x, y + l.first_row, first_view + static_cast<int>(i / l.pitch / l.height)) : 0.0f;
  }
}

inline void fill(Device<float> &images, const Images &l, int columns, int first_view, int views) {
  fill_images<<<1024, 256>>>(images.data, l, columns, first_view, views);
  CHECK(cudaGetLastError());
}

using BackprojectKernel = void (*)(purlin_fdk_backproject_params);

inline BackprojectKernel kernel_of(const Choice &c, bool skip) {
  const bool wide = c.width != PURLIN_LAUNCH_FDK_NARROW;
  if (c.kind == PLAIN) return skip ? purlin_fdk_plain_skip : purlin_fdk_plain;
  if (c.kind == GENERAL && skip) return wide ? purlin_fdk_general_skip_72 : purlin_fdk_general_skip_40;
  if (c.kind == GENERAL) return wide ? purlin_fdk_general_72 : purlin_fdk_general_40;
  if (c.mirrored) return wide ? purlin_fdk_column_mirror_72 : purlin_fdk_column_mirror_40;
  if (skip) return wide ? purlin_fdk_column_skip_72 : purlin_fdk_column_skip_40;
  return wide ? purlin_fdk_column_72 : purlin_fdk_column_40;
}

template <class P>
void launch(void (*kernel)(P), dim3 blocks, int threads, int shared, const P &p) {
  if (shared > 48 * 1024) CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  kernel<<<blocks, threads, shared>>>(p);
  CHECK(cudaGetLastError());
}

// A back-projection with everything on the device.
struct Projector {
  const Scan &scan;
  Choice choice;
  bool skip;
  Device<double> table;
  Device<int> index;
  Projector(const Scan &s, bool skip, Allowed allowed = BEST)
      : scan(s), choice(choose(s, skip, allowed)), skip(skip), table(s.table()), index(numbers(s.views.size())) {}
  static vector<int> numbers(size_t n) {
    vector<int> v(n);
    for (size_t k = 0; k < n; ++k) v[k] = static_cast<int>(k);
    return v;
  }

  // First slice of the tiles that a slab needs, and their number; a slab also holds its mirror image.
  std::pair<int64_t, int64_t> tiles(int64_t first, int64_t slices) const {
    const int64_t depth = choice.depth(), end = first + slices;
    if (!choice.mirrored) return {first / depth * depth, (end + depth - 1) / depth - first / depth};
    const int64_t plane = (choice.mirror + 1) / 2;
    const auto image = [&](int64_t k) { return std::max(choice.mirror + 1 - k, plane); };
    int64_t low = INT64_MAX, high = 0;
    const int64_t pieces[2][2] = {{std::max(first, plane), std::max(end, plane)}, {image(end), image(first)}};
    for (const auto &piece : pieces)
      if (piece[1] > piece[0]) low = std::min(low, piece[0]), high = std::max(high, piece[1]);
    if (high == 0) return {plane, 0};
    const int64_t skipped = (low - plane) / depth;
    return {plane + skipped * depth, (high - plane + depth - 1) / depth - skipped};
  }

  // Slices whose rows must be stored: a tile's walk begins before the slab.
  std::pair<int, int> walked(int first, int slices) const {
    int end = first + slices;
    const int depth = choice.depth();
    if (choice.kind != COLUMN) return {first, end};
    if (!choice.mirrored) return {first / depth * depth, end};
    const int plane = static_cast<int>((choice.mirror + 1) / 2);
    if (first >= plane) {
      first -= (first - plane) % depth;
    } else if (end <= plane) {
      end += std::max(static_cast<int>(choice.mirror) + 1 - end - plane, 0) % depth;
    }
    return {first, std::min(end, scan.size[2])};
  }

  void run(const Device<float> &images, const Images &l, Device<float> &volume, int first, int slices, int first_view, int views) const {
    purlin_fdk_backproject_params p{};
    p.images = images.address();
    p.index = index.address() + 4 * first_view;
    p.views = table.address();
    p.volume = p.volume_mirror = volume.address();
    p.nx = scan.size[0];
    p.ny = scan.size[1];
    p.first = p.first_mirror = first;
    p.slices = p.slices_mirror = slices;
    p.mirror = choice.mirror;
    p.mirror_row = choice.mirror_row;
    p.batch = views;
    p.columns = scan.columns;
    p.panel_rows = scan.rows;
    p.first_row = l.first_row;
    p.rows = l.rows;
    p.left = l.left;
    p.top = l.top;
    p.pitch = l.pitch;
    p.height = l.height;
    p.window_rows = choice.window_rows;
    const auto [start, count] = tiles(first, slices);
    p.start = start;
    if (count == 0) return;
    const dim3 blocks((scan.size[0] + 15) / 16, (scan.size[1] + 15) / 16, static_cast<unsigned>(count));
    launch(kernel_of(choice, skip), blocks, PURLIN_LAUNCH_FDK_THREADS, choice.shared(), p);
  }
};
