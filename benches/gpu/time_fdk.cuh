// Timings of the FDK kernels with device events, and of the baselines in the same run.
#pragma once
#include <dlfcn.h>
#include <glob.h>

#include "baseline_fdk.cuh"
#include "verify_fdk.cuh"

// Rows for PURLIN_BENCH_JSON.
struct Report {
  std::string rows;
  void add(const std::string &what, const char *unit, double ours, double ms, const char *peer = nullptr, double theirs = 0) {
    char text[512];
    std::printf("%-72s %10.1f %s  %9.3f ms", what.c_str(), ours, unit, ms);
    if (peer) std::printf("  %s: %.1f  ratio %.2f", peer, theirs, ours / theirs);
    std::printf("\n");
    std::fflush(stdout);
    int n = std::snprintf(text, sizeof text, "%s{\"case\": \"%s\", \"unit\": \"%s\", \"purlin\": %.6e, \"seconds\": %.6e", rows.empty() ? "" : ", ", what.c_str(), unit, ours, 1e-3 * ms);
    if (peer) n += std::snprintf(text + n, sizeof text - n, ", \"peer\": \"%s\", \"theirs\": %.6e, \"ratio\": %.4f", peer, theirs, ours / theirs);
    rows += std::string(text) + "}";
  }
  void write(const char *device) const {
    const char *path = std::getenv("PURLIN_BENCH_JSON");
    FILE *file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return;
    std::fprintf(file, "{\"title\": \"FDK kernels on resident data\", \"device\": \"%s\", \"rows\": [%s]}\n", device, rows.c_str());
    std::fclose(file);
  }
};
inline Report report;

// Median of `runs` after a warm-up run, in milliseconds.
template <class F>
double median_ms(int runs, F &&f) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  vector<float> times;
  for (int i = 0; i <= runs; ++i) {
    CHECK(cudaEventRecord(begin));
    f();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i > 0) times.push_back(ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

inline double gups(const Scan &s, double views, double ms) { return static_cast<double>(s.size[0]) * s.size[1] * s.size[2] * views / ms / 1e6; }

// A panel of n x n about a grid of n x n x slices, `rows` pixels a voxel at the axis.
inline Orbit square(int n, double rows) { return {4.0 * n, 6.0 * n, 1.5 / rows, 1.5 / rows}; }

// Angles a launch begins at: bank conflicts and the number of lines a window needs depend on the direction.
constexpr int DIRECTIONS = 6;

inline vector<double> close_by(int direction) { return circle(BASELINE_VIEWS, 0.1 + 2 * PI * direction / DIRECTIONS, 0.0052 * BASELINE_VIEWS); }

// GUPS of the baseline, 32 views a launch.
inline double time_baseline(int n, int slices, double rows) {
  Device<float> volume(static_cast<size_t>(n) * n * slices), flat(static_cast<size_t>(n) * n * BASELINE_VIEWS);
  volume.zero();
  const Orbit o = square(n, rows);
  const Scan s = scan_of(n, n, slices, n, n, o, close_by(0));
  Images l(s, Choice(), 0, n);
  l.left = l.top = 0, l.pitch = l.height = n;
  fill(flat, l, n, 0, BASELINE_VIEWS);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(n, n, BASELINE_VIEWS);
  cudaArray_t layers;
  CHECK(cudaMalloc3DArray(&layers, &format, extent, cudaArrayLayered));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(flat.data, n * sizeof(float), n, n);
  copy.dstArray = layers;
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = layers;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
  how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  const float centre = 0.5f * (n - 1);
  const BaselineGeometry g{static_cast<float>(o.sid), static_cast<float>(o.sdd), static_cast<float>(o.column_pitch), centre, centre};
  double total = 0;
  for (int direction = 0; direction < DIRECTIONS; ++direction) {
    const vector<double> angles = close_by(direction);
    BaselineView views[BASELINE_VIEWS];
    for (int k = 0; k < BASELINE_VIEWS; ++k) views[k] = {static_cast<float>(std::cos(angles[k])), static_cast<float>(std::sin(angles[k]))};
    CHECK(cudaMemcpyToSymbol(baseline_views, views, sizeof views));
    total += median_ms(3, [&] { baseline_fdk<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(texture, volume.data, n, n, slices, g); });
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(layers));
  return gups(s, BASELINE_VIEWS * DIRECTIONS, total);
}

inline void time_kernel(const char *name, int n, int slices, double rows, bool skip, Allowed allowed, double baseline) {
  Device<float> volume(static_cast<size_t>(n) * n * slices);
  volume.zero();
  double total = 0;
  const int directions = allowed == NO_WINDOW ? 2 : DIRECTIONS;
  for (int direction = 0; direction < directions; ++direction) {
    const Scan s = scan_of(n, n, slices, n, n, square(n, rows), close_by(direction));
    const Projector projector(s, skip, allowed);
    const Images l(s, projector.choice, 0, n);
    Device<float> images(l.samples() * BASELINE_VIEWS);
    fill(images, l, n, 0, BASELINE_VIEWS);
    total += median_ms(3, [&] { projector.run(images, l, volume, 0, slices, 0, BASELINE_VIEWS); });
  }
  const Scan s = scan_of(n, n, slices, n, n, square(n, rows), close_by(0));
  char what[160];
  std::snprintf(what, sizeof what, "%s, %d x %d x %d, panel %d^2, %.1f rows a voxel, 32 views", name, n, n, slices, n, rows);
  report.add(what, "GUPS", gups(s, BASELINE_VIEWS * directions, total), total / directions, "layered texture", baseline);
}

// A whole scan into a whole volume, 64 views a launch, images that are the same for each launch. Returns milliseconds.
inline double time_whole(int n, int views, double rows, double baseline) {
  constexpr int batch = 64;
  const Scan s = scan_of(n, n, n, n, n, square(n, rows), circle(views, 0));
  const Projector projector(s, false);
  const Images l(s, projector.choice, 0, n);
  Device<float> volume(static_cast<size_t>(n) * n * n), images(l.samples() * batch);
  volume.zero();
  fill(images, l, n, 0, batch);
  const double ms = median_ms(1, [&] {
    for (int view = 0; view < views; view += batch) projector.run(images, l, volume, 0, n, view, std::min(batch, views - view));
  });
  char what[160];
  std::snprintf(what, sizeof what, "whole back-projection, %d x %d^2 to %d^3, %.1f rows a voxel, 64 views a launch", views, n, n, rows);
  report.add(what, "GUPS", gups(s, views, ms), ms, "layered texture", baseline);
  return ms;
}

// cuFFT's functions, if a library can be found; its types are integers and pointers.
struct CuFft {
  using PlanMany = int (*)(int *, int, int *, int *, int, int, int *, int, int, int, int);
  using Execute = int (*)(int, void *, void *);
  PlanMany plan_many = nullptr;
  Execute forwards = nullptr, backwards = nullptr;
  int (*destroy)(int) = nullptr;
  CuFft() {
    vector<std::string> names{"libcufft.so.12", "libcufft.so.11", "libcufft.so"};
    for (const char *pattern : {"/usr/local/cuda/lib64/libcufft.so.1*", "/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcufft.so.1*", "/opt/*/lib/python3*/site-packages/nvidia/*/lib/libcufft.so.1*", "/usr/lib/python3*/*-packages/nvidia/*/lib/libcufft.so.1*"}) {
      glob_t found{};
      if (glob(pattern, 0, nullptr, &found) == 0) names.insert(names.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
      globfree(&found);
    }
    void *library = nullptr;
    for (const std::string &name : names)
      if (!library) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    plan_many = reinterpret_cast<PlanMany>(dlsym(library, "cufftPlanMany"));
    forwards = reinterpret_cast<Execute>(dlsym(library, "cufftExecR2C"));
    backwards = reinterpret_cast<Execute>(dlsym(library, "cufftExecC2R"));
    destroy = reinterpret_cast<int (*)(int)>(dlsym(library, "cufftDestroy"));
  }
  bool is_there() const { return plan_many && forwards && backwards && destroy; }
};

__global__ void pad_rows(const float *input, float *output, int columns, int length, int64_t rows) {
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < rows * length; i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    const int64_t column = i % length;
    output[i] = column < columns ? input[i / length * columns + column] : 0.0f;
  }
}

__global__ void multiply_rows(float2 *values, const float *response, int count, int64_t rows) {
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < rows * count; i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    const float r = response[i % count];
    values[i] = {values[i].x * r, values[i].y * r};
  }
}

// Padding, transform, response and transform by cuFFT, without weights; milliseconds, 0 without cuFFT.
inline double time_cufft(const CuFft &fft, int columns, int length, int64_t rows) {
  constexpr int real_to_complex = 0x2a, complex_to_real = 0x2c;
  if (!fft.is_there()) return 0;
  int forwards = 0, backwards = 0, n[1] = {length};
  const int half = length / 2 + 1;
  if (fft.plan_many(&forwards, 1, n, nullptr, 1, length, nullptr, 1, half, real_to_complex, static_cast<int>(rows)) ||
      fft.plan_many(&backwards, 1, n, nullptr, 1, half, nullptr, 1, length, complex_to_real, static_cast<int>(rows)))
    return 0;
  Device<float> input(static_cast<size_t>(columns) * rows), padded(static_cast<size_t>(length) * rows), response(vector<float>(half, 1.0f / length));
  Device<float2> values(static_cast<size_t>(half) * rows);
  input.zero();
  const double ms = median_ms(5, [&] {
    pad_rows<<<2048, 256>>>(input.data, padded.data, columns, length, rows);
    fft.forwards(forwards, padded.data, values.data);
    multiply_rows<<<2048, 256>>>(values.data, response.data, half, rows);
    fft.backwards(backwards, values.data, padded.data);
  });
  CHECK(cudaGetLastError());
  fft.destroy(forwards);
  fft.destroy(backwards);
  return ms;
}

// `share`: milliseconds of the whole back-projection of 1 200 views. The filter is to be a small part of that.
inline void time_filter(const CuFft &fft, int n, int views, double share) {
  FilterCase c{n, n, 2 * n};
  c.views = views, c.top = 24, c.left = PURLIN_LAUNCH_FDK_NARROW;
  const FilterTables t(c, views);
  Device<float> source(static_cast<size_t>(n) * n * views), output(static_cast<size_t>(c.pitch()) * c.height() * views);
  Device<float> table(t.views), response(t.response), roots(t.roots);
  Device<int> index(Projector::numbers(views));
  Scan s{{1, 1, 1}, n, n, {}, {}};
  Images l(s, Choice(), 0, n);
  l.left = l.top = 0, l.pitch = l.height = n;
  fill(source, l, n, 0, views);
  purlin_fdk_filter_params p = filter_params(c);
  p.input = source.address(), p.output = output.address(), p.index = index.address(), p.views = table.address();
  p.response = response.address(), p.roots = roots.address();
  const double ms = median_ms(7, [&] { launch_filter(p); }), rows = static_cast<double>(n) * views;
  const double theirs = time_cufft(fft, n, 2 * n, static_cast<int64_t>(rows));
  char what[160];
  std::snprintf(what, sizeof what, "weights and ramp, rows of %d, transforms of %d, %d views", n, 2 * n, views);
  report.add(what, "Mrow/s", rows / ms / 1e3, ms, theirs > 0 ? "cuFFT, no weights" : nullptr, theirs > 0 ? rows / theirs / 1e3 : 0);
  const double whole = ms * 1200 / views;
  std::printf("    1200 views: %.1f ms", whole);
  if (share > 0) std::printf(", %.2f %% of the back-projection", 100 * whole / share);
  std::printf("\n");
}

inline void time_convert(int n, int views) {
  Device<uint16_t> source(static_cast<size_t>(n) * n * views);
  Device<float> output(source.size);
  Device<uint64_t> counters(vector<uint64_t>(PURLIN_LAUNCH_FDK_COUNTERS, 0));
  CHECK(cudaMemset(source.data, 0x35, source.size * sizeof(uint16_t)));
  purlin_fdk_convert_params p{};
  p.source = source.address(), p.output = output.address(), p.counters = counters.address();
  p.columns = p.rows = n, p.views = views, p.open = 60000, p.least = 0.5;
  p.number = PURLIN_LAUNCH_FDK_U16, p.flags = PURLIN_LAUNCH_FDK_COUNTS | PURLIN_LAUNCH_FDK_SANITIZE;
  p.largest = std::numeric_limits<float>::max();
  const double ms = median_ms(7, [&] { launch(purlin_fdk_convert, dim3(132 * 8), PURLIN_LAUNCH_FDK_THREADS, 0, p); });
  char what[160];
  std::snprintf(what, sizeof what, "counts of 16 bits to line integrals, %d views of %d^2", views, n);
  report.add(what, "GB/s", 6.0 * static_cast<double>(source.size) / ms / 1e6, ms);
}

inline void time_everything() {
  double whole_1024 = 0;
  const CuFft fft;
  for (int n : {1024, 2048}) {
    for (double rows : {0.8, 1.0}) {
      const double baseline = time_baseline(n, 512, rows);
      time_kernel("columns, mirrored", n, 512, rows, false, BEST, baseline);
      time_kernel("columns", n, 512, rows, false, NO_MIRROR, baseline);
      if (rows == 0.8) {
        time_kernel("columns, skip", n, 512, rows, true, BEST, baseline);
        time_kernel("general", n, 512, rows, false, NO_COLUMN, baseline);
        if (n == 1024) time_kernel("plain", n, 512, rows, false, NO_WINDOW, baseline);
      }
      if (n == 1024) {
        const double ms = time_whole(n, 1200, rows, baseline);
        if (rows == 0.8) whole_1024 = ms;
      } else if (rows == 0.8) {
        time_whole(n, 256, rows, baseline);
      }
    }
  }
  time_filter(fft, 1024, 64, whole_1024);
  time_filter(fft, 2048, 32, 0);
  time_convert(1024, 64);
  if (!fft.is_there()) std::printf("cuFFT was not found: LD_LIBRARY_PATH may lead to it\n");
}
