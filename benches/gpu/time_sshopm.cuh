// Timings of the SS-HOPM kernels with device events, and of the baseline in the same run.
#pragma once
#include "baseline_sshopm.cuh"
#include "sshopm_harness.cuh"

// Median of at least seven runs after two warm-up runs, in milliseconds; `spread` gets (max - min) / median.
template <class F>
double median_ms(F &&f, double *spread = nullptr) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  vector<float> times;
  for (int i = 0; i < 11; ++i) {
    CHECK(cudaEventRecord(begin));
    f();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 2) times.push_back(ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  if (spread) *spread = (times.back() - times.front()) / times[times.size() / 2];
  return times[times.size() / 2];
}

// One line of the table and one of JSON. `floor_rate`: the bound of the issue slots, items a second.
inline void report(const std::string &what, double ms, double items, const char *unit, double floor_rate, double spread) {
  const double rate = items / ms * 1e3;
  std::printf("%-66s %9.3f ms  %9.3e %s/s", what.c_str(), ms, rate, unit);
  if (floor_rate > 0) std::printf("  %5.1f %% of the floor", 100 * rate / floor_rate);
  std::printf("  (spread %.1f %%)\n", 100 * spread);
  std::printf("{\"case\": \"%s\", \"ms\": %.4f, \"rate\": %.5e, \"unit\": \"%s/s\", \"floor\": %.4e, \"spread\": %.4f}\n", what.c_str(), ms, rate, unit, floor_rate, spread);
}

// Lanes x clock: multiply-adds a second that can be issued, halved for double.
template <class T>
double issue_rate() {
  int clock = 0;
  CHECK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0));
  return 128.0 * multiprocessors() * clock * 1e3 / (sizeof(T) == 4 ? 1 : 2);
}

template <class T>
void time_power(int64_t count) {
  constexpr int V = 128, STEPS = 20;
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  Problem<T> q(4, 3, random_tensors<T>(4, 3, count, 1), hemisphere<T>(V), 5);
  q.p.method = PURLIN_LAUNCH_POWER;
  q.p.shift_kind = PURLIN_LAUNCH_SHIFT_FIXED;
  q.p.shift = 1;
  q.p.max_iterations = STEPS;
  const double floor_rate = issue_rate<T>() / (65.0 * V * STEPS);
  Device<T> values(count * V), vectors(count * V * 3);
  double spread, plain, tested;
  const unsigned blocks = static_cast<unsigned>(count);
  plain = median_ms([&] { baseline_sshopm<T, false><<<blocks, V>>>(q.tensors.data, q.start_set.data, values.data, vectors.data, V, STEPS, T(1), T(0)); }, &spread);
  report("baseline, unrolled, no test, 128 x 20, " + type, plain, count, "tensors", floor_rate, spread);
  tested = median_ms([&] { baseline_sshopm<T, true><<<blocks, V>>>(q.tensors.data, q.start_set.data, values.data, vectors.data, V, STEPS, T(1), T(-1)); }, &spread);
  report("baseline, unrolled, with the test, 128 x 20, " + type, tested, count, "tensors", floor_rate, spread);
  purlin_sshopm_params full = q.p;
  for (int test : {PURLIN_LAUNCH_TEST_LAMBDA, PURLIN_LAUNCH_TEST_RESIDUAL})
    for (int outputs : {0, 1}) {
      q.p = full;
      q.p.test = test;
      q.p.tolerance = -1;  // the test is made and never met: 20 steps for every start
      if (test == PURLIN_LAUNCH_TEST_RESIDUAL) q.p.tolerance = 0;
      q.only_pairs();
      if (outputs) {
        q.p.pairs = 0;
        q.p.start_values = full.start_values;
        q.p.start_vectors = full.start_vectors;
      }
      double ms = median_ms([&] { launch_fused<T>(q.p); }, &spread);
      report(std::string("power, ") + (test ? "lambda" : "residual") + " test, 128 x 20, " + (outputs ? "start outputs, " : "pairs, ") + type, ms, count, "tensors", floor_rate, spread);
      std::printf("    %.2f x the baseline with the test, %.2f x without\n", tested / ms, plain / ms);
    }
}

template <class T>
void time_peaks(int m, int V, vector<T> tensors, const char *data, double tolerance, bool isotropic, bool transform) {
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  Problem<T> q(m, 3, std::move(tensors), hemisphere<T>(V), 5);
  Device<T> peaks(q.count * 5 * 4);
  vector<T> unit(q.entries * q.entries, T(0));
  for (int64_t r = 0; r < q.entries; ++r) unit[r * q.entries + r] = 1;
  Device<T> matrix(unit);
  q.only_pairs();
  q.p.values = q.p.vectors = q.p.residuals = q.p.classes = q.p.hessian = q.p.basins = 0;
  q.p.peaks = peaks.address();
  q.p.tolerance = tolerance;
  q.p.thresholds = 1;
  q.p.absolute_threshold = 0;
  q.p.relative_threshold = 0.1;
  q.p.separation_chord2 = Problem<T>::chord2(15);
  q.p.sign = PURLIN_LAUNCH_SIGN_Z_POSITIVE;
  q.p.keep_classes = 1;
  q.p.degeneracy = 1e-6;
  if (isotropic) q.p.flags |= PURLIN_LAUNCH_REMOVE_ISOTROPIC;
  if (transform) q.p.transform = matrix.address();
  q.counters.zero();
  launch_fused<T>(q.p);
  const auto counters = q.counters.host();
  q.p.counters = 0;
  const double steps = static_cast<double>(counters[1]) / std::max<uint64_t>(1, counters[0]);
  double spread, ms = median_ms([&] { launch_fused<T>(q.p); }, &spread);
  char what[160];
  std::snprintf(what, sizeof what, "peaks m=%d V=%d %s tol %.0e%s%s, %s", m, V, data, tolerance, isotropic ? " -cE" : "", transform ? " SH" : "", type.c_str());
  report(what, ms, q.count, "voxels", m == 4 ? issue_rate<T>() / (110.0 * V * 9) : 0, spread);
  std::printf("    %.2f steps a start, converged %.4f\n", steps, counters[0] / (static_cast<double>(q.count) * V));
}

template <class T>
vector<T> tiled(const vector<double> &list, size_t count_of, int64_t count) {
  vector<T> a(count * count_of);
  const int64_t have = static_cast<int64_t>(list.size() / count_of);
  for (int64_t t = 0; t < count; ++t) {
    // A stride that visits every voxel keeps neighbours apart as in a volume with crossings.
    const int64_t from = t % have;
    for (size_t r = 0; r < count_of; ++r) a[t * count_of + r] = static_cast<T>(list[from * count_of + r]);
  }
  return a;
}

inline vector<double> read_reals(const char *path) {
  vector<double> v;
  if (FILE *f = std::fopen(path, "rb")) {
    std::fseek(f, 0, SEEK_END);
    v.resize(std::ftell(f) / sizeof(double));
    std::rewind(f);
    if (std::fread(v.data(), sizeof(double), v.size(), f) != v.size()) v.clear();
    std::fclose(f);
  }
  return v;
}

template <class T>
void time_all(int64_t count) {
  Problem<T> q(4, 3, random_tensors<T>(4, 3, count, 1), random_starts<T>(2000, 3), 16);
  q.p.method = PURLIN_LAUNCH_NEWTON;
  q.p.tolerance = sizeof(T) == 4 ? 1e-6 : 1e-11;
  q.p.max_iterations = 100;
  q.p.merge_chord2 = sizeof(T) == 4 ? 1e-6 : 1e-10;
  q.p.pairs = 0;
  q.p.start_shifts = q.p.start_violations = 0;
  double spread, ms = median_ms([&] { launch_fused<T>(q.p); }, &spread);
  report(std::string("all pairs, Newton, m=4, 2000 starts, ") + (sizeof(T) == 4 ? "f32" : "f64"), ms, count, "tensors", 0, spread);
  q.p.pairs = 16;
  ms = median_ms([&] { launch_select<T>(q.p, 64, 0); }, &spread);
  report(std::string("all pairs, select, 2000 starts, ") + (sizeof(T) == 4 ? "f32" : "f64"), ms, count, "tensors", 0, spread);
}

inline void time_general() {
  for (int shape : {0, 1, 2}) {
    const int m = shape == 2 ? 3 : 4, n = shape == 0 ? 3 : shape == 1 ? 6 : 10;
    const int64_t count = shape == 0 ? 20000 : 1000;
    Problem<float> q(m, n, random_tensors<float>(m, n, count, 1), random_starts<float>(64, n), 5);
    q.p.shift = 1;
    for (int method : {PURLIN_LAUNCH_HYBRID, PURLIN_LAUNCH_POWER}) {
      q.p.method = method;
      q.p.shift_kind = method == PURLIN_LAUNCH_POWER ? PURLIN_LAUNCH_SHIFT_FIXED : PURLIN_LAUNCH_SHIFT_ADAPTIVE;
      q.p.max_iterations = method == PURLIN_LAUNCH_POWER ? 20 : 500;
      q.p.tolerance = method == PURLIN_LAUNCH_POWER ? 0 : 1e-5;
      double spread, ms = median_ms([&] { launch_general<float>(q.p); }, &spread);
      char what[120];
      std::snprintf(what, sizeof what, "general m=%d n=%d %s 64 starts, f32", m, n, method ? "20 power steps," : "hybrid,");
      report(what, ms, static_cast<double>(count), "tensors", 0, spread);
    }
  }
}

inline void time_everything(const char *csa4, const char *csa8) {
  const int64_t million = 1000000;
  time_power<float>(million);
  time_power<double>(million);
  const auto real4 = read_reals(csa4), real8 = read_reals(csa8);
  if (!real4.empty()) {
    time_peaks<float>(4, 64, tiled<float>(real4, 15, million), "small_64D", 1e-5, false, false);
    time_peaks<float>(4, 64, tiled<float>(real4, 15, million), "small_64D", 1e-5, false, true);
    time_peaks<float>(4, 64, tiled<float>(real4, 15, million), "small_64D", 1e-5, true, false);
    time_peaks<float>(4, 32, tiled<float>(real4, 15, million), "small_64D", 1e-5, false, false);
    time_peaks<double>(4, 64, tiled<double>(real4, 15, million), "small_64D", 1e-5, false, false);
    time_peaks<double>(4, 64, tiled<double>(real4, 15, million), "small_64D", 1e-10, false, false);
  }
  if (!real8.empty()) {
    time_peaks<float>(8, 64, tiled<float>(real8, 45, million / 4), "small_64D", 1e-5, false, false);
    time_peaks<double>(8, 64, tiled<double>(real8, 45, million / 4), "small_64D", 1e-5, false, false);
  }
  time_peaks<float>(4, 64, fibre_tensors<float>(4, million), "fibres", 1e-5, false, false);
  time_peaks<float>(6, 64, fibre_tensors<float>(6, million / 4), "fibres", 1e-5, false, false);
  time_peaks<double>(6, 64, fibre_tensors<double>(6, million / 4), "fibres", 1e-5, false, false);
  time_all<double>(5000);
  time_general();
}
