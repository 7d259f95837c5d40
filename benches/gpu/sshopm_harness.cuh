// Device buffers, problems and launches for the SS-HOPM kernel bench.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../../cuda/dwi.cu"
#include "../../cuda/sshopm.cu"
#include "../../cuda/sshopm_general.cu"
#include "reference_sshopm.hpp"

#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    cudaError_t error_ = (call);                                                                       \
    if (error_ != cudaSuccess) {                                                                       \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));                      \
      std::exit(1);                                                                                    \
    }                                                                                                  \
  } while (0)

using std::vector;

// Device array, filled with a poison pattern (a NaN in both real types) or with data.
template <class T>
struct Device {
  T *data = nullptr;
  size_t size = 0;
  Device() = default;
  explicit Device(size_t n) : size(n) {
    CHECK(cudaMalloc(&data, (n + 1) * sizeof(T)));
    poison();
  }
  explicit Device(const vector<T> &v) : Device(v.size()) {
    if (size) CHECK(cudaMemcpy(data, v.data(), size * sizeof(T), cudaMemcpyHostToDevice));
  }
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  Device(Device &&o) noexcept : data(o.data), size(o.size) { o.data = nullptr; }
  ~Device() { cudaFree(data); }
  void poison() { CHECK(cudaMemset(data, 0xff, (size + 1) * sizeof(T))); }
  void zero() { CHECK(cudaMemset(data, 0, (size + 1) * sizeof(T))); }
  vector<T> host() const {
    vector<T> v(size);
    if (size) CHECK(cudaMemcpy(v.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data); }
};

inline int multiprocessors() {
  static int count = 0;
  if (!count) {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    count = p.multiProcessorCount;
  }
  return count;
}

// Launches a kernel with as many blocks as are resident at once, at most `useful`.
template <class P>
void launch(void (*kernel)(P), const P &p, int threads, size_t shared, int64_t useful) {
  int resident = 0;
  if (shared > 48 * 1024) CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared));
  if (resident == 0) {
    std::printf("a block with %zu bytes of shared memory does not fit\n", shared);
    std::exit(1);
  }
  int64_t blocks = std::min<int64_t>(useful, static_cast<int64_t>(resident) * multiprocessors());
  if (blocks == 0) return;
  kernel<<<static_cast<unsigned>(blocks), threads, shared>>>(p);
  CHECK(cudaGetLastError());
}

using SolveKernel = void (*)(purlin_sshopm_params);

template <class T>
SolveKernel fused_kernel(int m, int family) {
  constexpr bool F = sizeof(T) == 4;
#define PICK(M)                                                                                                   \
  if (m == M)                                                                                                     \
    return family == PURLIN_LAUNCH_HYBRID   ? (F ? purlin_sshopm_hybrid_n3m##M##_f32 : purlin_sshopm_hybrid_n3m##M##_f64) \
           : family == PURLIN_LAUNCH_POWER ? (F ? purlin_sshopm_power_n3m##M##_f32 : purlin_sshopm_power_n3m##M##_f64)   \
                                           : (F ? purlin_sshopm_newton_n3m##M##_f32 : purlin_sshopm_newton_n3m##M##_f64);
  PICK(3) PICK(4) PICK(6) PICK(8)
#undef PICK
  return nullptr;
}

template <class T>
size_t fused_shared(const purlin_sshopm_params &p) {
  const auto pad = [](int64_t reals) { return (reals + 3) / 4 * 4; };
  const int64_t starts = p.start_stride == 0 && p.start_count <= PURLIN_LAUNCH_FUSED_MAX_STARTS ? p.start_count : 0;
  return sizeof(T) * (pad(2 * p.entries + PURLIN_LAUNCH_SHARED_NUMBERS + 3 * starts) +
                      4 * p.window * (pad(p.entries) + PURLIN_LAUNCH_SLOT_SCALARS + (p.pairs > 0 ? pad(5 * p.start_count) : 0)));
}

// Which fused family serves a method and shift.
inline int family_of(const purlin_sshopm_params &p) {
  if (p.method == PURLIN_LAUNCH_POWER && p.shift_kind == PURLIN_LAUNCH_SHIFT_ADAPTIVE) return PURLIN_LAUNCH_HYBRID;
  return p.method;
}

template <class T>
void launch_fused(purlin_sshopm_params &p) {
  if (p.window == 0)
    p.window = std::max(1, std::min(PURLIN_LAUNCH_FUSED_MAX_WINDOW,
                                    PURLIN_LAUNCH_FUSED_SLOT_STARTS / std::max(1, p.start_count)));
  launch(fused_kernel<T>(p.order, family_of(p)), p, PURLIN_LAUNCH_SOLVE_THREADS, fused_shared<T>(p), (p.count + 3) / 4);
}

template <class T>
void launch_general(const purlin_sshopm_params &p) {
  const int64_t warps = p.count * ((p.start_count + 31) / 32);
  launch(sizeof(T) == 4 ? purlin_sshopm_solve_general_f32 : purlin_sshopm_solve_general_f64, p,
         PURLIN_LAUNCH_GENERAL_THREADS, 0, (warps + 1) / 2);
}

template <class T>
void launch_select(const purlin_sshopm_params &p, int64_t found_limit, uint64_t morse) {
  purlin_select_params q{};
  q.solve = p;
  q.found_limit = found_limit;
  q.morse = morse;
  const int64_t blocks = std::min<int64_t>(p.count, 4 * multiprocessors());
  Device<T> scratch(static_cast<size_t>(blocks) * found_limit * p.dimension);
  q.scratch = scratch.address();
  const size_t shared = 16 * found_limit + 4 * ((p.start_count + 31) / 32);
  launch(sizeof(T) == 4 ? purlin_sshopm_select_f32 : purlin_sshopm_select_f64, q, PURLIN_LAUNCH_SELECT_THREADS, shared,
         blocks);
  CHECK(cudaDeviceSynchronize());
}

// A batch of tensors with starts, tables and every output, on host and device.
template <class T>
struct Problem {
  int m, n, starts, pairs;
  int64_t count, entries;
  vector<T> packed, start;
  Device<T> tensors, start_set, multinomials, identity, values, vectors, residuals, hessian, start_values,
      start_vectors, start_residuals, start_shifts;
  Device<uint8_t> indices;
  Device<int> found, classes, basins, status, start_iterations, start_status, start_violations;
  Device<uint64_t> counters;
  purlin_sshopm_params p{};

  Problem(int order, int dimension, vector<T> tensor_list, vector<T> start_list, int k)
      : m(order), n(dimension), starts(static_cast<int>(start_list.size() / dimension)), pairs(k),
        packed(std::move(tensor_list)), start(std::move(start_list)), tensors(packed), start_set(start) {
    const auto list = reference::tuples(m, n);
    entries = static_cast<int64_t>(list.size()) / m;
    count = static_cast<int64_t>(packed.size()) / entries;
    vector<T> weight(entries), e(entries);
    for (int64_t r = 0; r < entries; ++r) {
      weight[r] = static_cast<T>(reference::multinomial(&list[r * m], m));
      bool even = true;
      vector<uint8_t> half;
      for (int i = 0; i < m; i += 2) {
        even = even && i + 1 < m && list[r * m + i] == list[r * m + i + 1];
        half.push_back(list[r * m + i]);
      }
      e[r] = even ? static_cast<T>(reference::multinomial(half.data(), m / 2) / reference::multinomial(&list[r * m], m)) : T(0);
    }
    const size_t k_rows = static_cast<size_t>(count) * pairs, v_rows = static_cast<size_t>(count) * starts;
    move_in(multinomials, Device<T>(weight));
    move_in(identity, Device<T>(e));
    move_in(indices, Device<uint8_t>(list));
    move_in(values, Device<T>(k_rows));
    move_in(vectors, Device<T>(k_rows * n));
    move_in(residuals, Device<T>(k_rows));
    move_in(hessian, Device<T>(k_rows * std::max(1, n - 1)));
    move_in(classes, Device<int>(k_rows));
    move_in(basins, Device<int>(k_rows));
    move_in(found, Device<int>(count));
    move_in(status, Device<int>(count));
    move_in(start_values, Device<T>(v_rows));
    move_in(start_vectors, Device<T>(v_rows * n));
    move_in(start_residuals, Device<T>(v_rows));
    move_in(start_shifts, Device<T>(v_rows));
    move_in(start_iterations, Device<int>(v_rows));
    move_in(start_status, Device<int>(v_rows));
    move_in(start_violations, Device<int>(v_rows));
    move_in(counters, Device<uint64_t>(PURLIN_LAUNCH_COUNTERS));
    counters.zero();
    p.tensors = tensors.address();
    p.entry_stride = 1;
    p.tensor_stride = entries;
    p.starts = start_set.address();
    p.count = count;
    p.tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10;
    p.tau = 1e-6;
    p.merge_chord2 = chord2(1.0);
    p.degeneracy = sizeof(T) == 4 ? 1e-3 : 1e-7;
    p.isotropy = sizeof(T) == 4 ? 1e-5 : 1e-12;
    p.pair_count = found.address();
    p.values = values.address();
    p.vectors = vectors.address();
    p.residuals = residuals.address();
    p.classes = classes.address();
    p.hessian = hessian.address();
    p.basins = basins.address();
    p.status = status.address();
    p.start_values = start_values.address();
    p.start_vectors = start_vectors.address();
    p.start_residuals = start_residuals.address();
    p.start_iterations = start_iterations.address();
    p.start_shifts = start_shifts.address();
    p.start_status = start_status.address();
    p.start_violations = start_violations.address();
    p.counters = counters.address();
    p.indices = indices.address();
    p.multinomials = multinomials.address();
    p.identity = m % 2 == 0 ? identity.address() : 0;
    p.entries = entries;
    p.order = m;
    p.dimension = n;
    p.start_count = starts;
    p.max_iterations = 500;
    p.keep_classes = 0xff;
    p.pairs = pairs;
  }
  static double chord2(double degrees) {
    double s = 2 * std::sin(degrees * 3.14159265358979323846 / 360);
    return s * s;
  }
  template <class D>
  static void move_in(D &to, D &&from) {
    std::swap(to.data, from.data);
    std::swap(to.size, from.size);
  }
  // No start outputs: the fast variants run.
  void only_pairs() {
    p.start_values = p.start_vectors = p.start_residuals = p.start_iterations = p.start_shifts = p.start_status =
        p.start_violations = 0;
  }
};

inline std::mt19937_64 &generator() {
  static std::mt19937_64 g(20261120);
  return g;
}
inline double normal() { return std::normal_distribution<double>()(generator()); }

template <class T>
vector<T> hemisphere(int count) {
  vector<T> s;
  for (int i = 0; i < count; ++i) {
    double z = 1 - (i + 0.5) / count, phi = i * 3.14159265358979323846 * (3 - std::sqrt(5.0)), r = std::sqrt(1 - z * z);
    for (double c : {r * std::cos(phi), r * std::sin(phi), z}) s.push_back(static_cast<T>(c));
  }
  return s;
}

template <class T>
vector<T> random_starts(int count, int n) {
  vector<T> s(static_cast<size_t>(count) * n);
  for (T &v : s) v = static_cast<T>(normal());
  return s;
}

// Gaussian entries over the root of their multinomials: no direction is preferred.
template <class T>
vector<T> random_tensors(int m, int n, int64_t count, double scale) {
  const auto list = reference::tuples(m, n);
  const size_t u = list.size() / m;
  vector<T> a(u * count);
  for (int64_t t = 0; t < count; ++t)
    for (size_t r = 0; r < u; ++r)
      a[t * u + r] = static_cast<T>(scale * normal() / std::sqrt(reference::multinomial(&list[r * m], m)));
  return a;
}

// Two or three crossing fibres over an isotropic part, as orientation functions have them.
template <class T>
vector<T> fibre_tensors(int m, int64_t count) {
  const auto list = reference::tuples(m, 3);
  const size_t u = list.size() / m;
  vector<T> a(u * count);
  for (int64_t t = 0; t < count; ++t) {
    const int fibres = 1 + static_cast<int>(generator()() % 3);
    for (int f = 0; f < fibres; ++f) {
      double g[3] = {normal(), normal(), normal()};
      double length = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), w = 0.3 + 0.7 * std::fabs(normal());
      for (size_t r = 0; r < u; ++r) {
        double product = 0.02 * w;
        for (int i = 0; i < m; ++i) product *= g[list[r * m + i]] / length;
        a[t * u + r] += static_cast<T>(product);
      }
    }
    for (size_t r = 0; r < u; ++r) a[t * u + r] += static_cast<T>(1e-4 * normal());
  }
  return a;
}
