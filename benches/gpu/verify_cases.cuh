// The cases that the kernels are checked on: sizes one off every tile, all methods, published tensors, products, fits.
#pragma once
#include "verify_sshopm.cuh"

template <class T>
void verify_fused(int m, int64_t count, int starts, int method, int shift, int goal, bool fibres) {
  // Start counts that are multiples of a warp use the lattice, other counts random starts.
  Problem<T> q(m, 3, fibres ? fibre_tensors<T>(m, count) : random_tensors<T>(m, 3, count, 0.37),
               starts % 32 == 0 ? hemisphere<T>(starts) : random_starts<T>(starts, 3), 6);
  q.p.method = method;
  q.p.shift_kind = shift;
  q.p.goal = goal;
  q.p.shift = 2;
  if (method == PURLIN_LAUNCH_POWER) {
    q.p.test = starts % 2 ? PURLIN_LAUNCH_TEST_LAMBDA : PURLIN_LAUNCH_TEST_RESIDUAL;
    q.p.max_iterations = 60;
    q.p.tolerance = sizeof(T) == 4 ? 1e-4 : 1e-6;
  }
  const char *label = method == PURLIN_LAUNCH_HYBRID ? "hybrid" : shift == PURLIN_LAUNCH_SHIFT_ADAPTIVE ? "adaptive"
                      : shift == PURLIN_LAUNCH_SHIFT_FIXED ? "fixed" : "guaranteed";
  const std::string name = name_of(m, 3, sizeof(T), label, count, starts) + (goal ? " min" : " max");
  launch_fused<T>(q.p);
  CHECK(cudaDeviceSynchronize());
  check_starts(q, name, sizeof(T) == 8);
  check_pairs(q, name);

  // The fast variants, which count no violations and keep no shifts; then without any start output and with another
  // window, which must give the same pairs bit by bit.
  const purlin_sshopm_params full = q.p;
  q.p.start_shifts = q.p.start_violations = 0;
  if (method == PURLIN_LAUNCH_POWER) q.p.start_iterations = 0;
  q.values.poison();
  q.found.poison();
  q.start_values.poison();
  launch_fused<T>(q.p);
  CHECK(cudaDeviceSynchronize());
  check_starts(q, name + ", fast", sizeof(T) == 8 && method == PURLIN_LAUNCH_HYBRID);
  check_pairs(q, name + ", fast");
  const auto fast_values = q.values.host();
  const auto fast_found = q.found.host();
  q.only_pairs();
  q.values.poison();
  q.found.poison();
  q.p.window = count % 2 ? 1 : 3;
  launch_fused<T>(q.p);
  CHECK(cudaDeviceSynchronize());
  auto again = q.values.host();
  tally.expect(fast_found == q.found.host() && (again.empty() || !std::memcmp(again.data(), fast_values.data(), again.size() * sizeof(T))),
               name + ": without start outputs the pairs differ");
  q.p = full;
  q.found.poison();
  launch_fused<T>(q.p);
  CHECK(cudaDeviceSynchronize());
  const auto values = q.values.host();
  const auto found = q.found.host(), basins = q.basins.host();

  // Start outputs, then the selection as a kernel of its own.
  q.values.poison();
  q.vectors.poison();
  q.found.poison();
  q.p.pairs = 0;
  launch_fused<T>(q.p);
  q.p.pairs = q.pairs;
  if (count) launch_select<T>(q.p, 32, 0);
  CHECK(cudaDeviceSynchronize());
  again = q.values.host();
  const auto found2 = q.found.host(), basins2 = q.basins.host();
  int64_t differ = 0;
  for (int64_t t = 0; t < count; ++t) {
    bool same = found[t] == found2[t];
    for (int k = 0; same && k < found[t]; ++k)
      same = std::fabs(values[t * 6 + k] - again[t * 6 + k]) <= 2e-6 * std::fabs(values[t * 6]) && basins[t * 6 + k] == basins2[t * 6 + k];
    differ += !same;
  }
  tally.expect(differ <= count / 100, name + ": the select kernel differs on " + std::to_string(differ) + " tensors");
}

template <class T>
void verify_general(int m, int n, int64_t count, int starts, int method, int shift) {
  Problem<T> q(m, n, random_tensors<T>(m, n, count, 3e-3), random_starts<T>(starts, n), 5);
  q.p.method = method;
  q.p.shift_kind = shift;
  q.p.shift = 0.02;
  q.p.goal = count % 2 ? PURLIN_LAUNCH_MINIMA : PURLIN_LAUNCH_MAXIMA;
  q.p.max_iterations = method == PURLIN_LAUNCH_POWER ? 50 : 500;
  const std::string name = name_of(m, n, sizeof(T), method ? "general power" : "general hybrid", count, starts);
  launch_general<T>(q.p);
  if (count) launch_select<T>(q.p, 64, 0);
  CHECK(cudaDeviceSynchronize());
  check_starts(q, name, sizeof(T) == 8 && n > 1);
  if (n > 1) check_pairs(q, name);
}

// Published tensors: every real pair by the orthogonal Newton correction, fused and general.
template <class T>
void verify_all(int m, vector<double> tensor, int pairs, int maxima, bool general) {
  Problem<T> q(m, 3, vector<T>(tensor.begin(), tensor.end()), random_starts<T>(2000, 3), 32);
  q.p.method = PURLIN_LAUNCH_NEWTON;
  q.p.tolerance = sizeof(T) == 4 ? 1e-6 : 1e-11;
  q.p.max_iterations = 200;
  q.p.merge_chord2 = sizeof(T) == 4 ? 1e-6 : 1e-10;
  q.p.degeneracy = sizeof(T) == 4 ? 1e-6 : 1e-7;
  q.p.pairs = 0;
  if (general) launch_general<T>(q.p);
  else launch_fused<T>(q.p);
  q.p.pairs = q.pairs;
  Device<int> morse(1);
  launch_select<T>(q.p, 64, morse.address());
  const auto classes = q.classes.host();
  int count = q.found.host()[0], stable = 0;
  for (int k = 0; k < count; ++k) stable += classes[k] == PURLIN_LAUNCH_PAIR_NEGATIVE_STABLE;
  const auto residuals = q.residuals.host();
  double worst = 0;
  for (int k = 0; k < count; ++k) worst = std::max<double>(worst, residuals[k]);
  tally.expect(count == pairs && stable == maxima && morse.host()[0] == 1 && worst < (sizeof(T) == 4 ? 1e-6 : 1e-14),
               name_of(m, 3, sizeof(T), general ? "all, general" : "all, fused", 1, 2000) + ": " + std::to_string(count) +
                   " pairs, " + std::to_string(stable) + " maxima, Morse sum " + std::to_string(morse.host()[0]));
}

// Iteration counts of the MATLAB Tensor Toolbox from x = (1, .5, -.3), absolute test 1e-15.
inline void verify_counts(const vector<double> &tensor) {
  for (bool adaptive : {false, true})
    for (bool general : {false, true}) {
      Problem<double> q(4, 3, tensor, {1, .5, -.3}, 1);
      q.p.method = PURLIN_LAUNCH_POWER;
      q.p.shift_kind = adaptive ? PURLIN_LAUNCH_SHIFT_ADAPTIVE : PURLIN_LAUNCH_SHIFT_FIXED;
      q.p.shift = 2;
      q.p.test = PURLIN_LAUNCH_TEST_LAMBDA;
      q.p.tolerance = 1e-15;
      q.p.max_iterations = 1000;
      q.p.flags = PURLIN_LAUNCH_ABSOLUTE_TOLERANCE | PURLIN_LAUNCH_ABSOLUTE_TAU;
      Device<double> trace(64);
      q.p.trace = trace.address();
      q.p.trace_length = 64;
      if (general) launch_general<double>(q.p);
      else launch_fused<double>(q.p);
      CHECK(cudaDeviceSynchronize());
      const int its = q.start_iterations.host()[0], expected = adaptive ? 23 : 46;
      const double value = q.start_values.host()[0];
      tally.expect(std::abs(its - expected) <= 1 && std::fabs(value - 0.8893220107) < 1e-9,
                   std::string(adaptive ? "adaptive" : "fixed") + " shift: " + std::to_string(its) + " iterations, not " + std::to_string(expected));
      if (its != expected) std::printf("note: %s %s takes %d iterations, Tensor Toolbox %d\n", general ? "general" : "fused", adaptive ? "adaptive" : "fixed", its, expected);
      if (general) tally.expect(std::fabs(trace.host()[its] - value) < 1e-14, "trace ends at the value");
    }
}

template <class T>
void verify_products(int m, int n, int64_t count, int vectors, bool nested) {
  Problem<T> q(m, n, random_tensors<T>(m, n, count, 1), random_starts<T>(vectors, n), 1);
  if (vectors) q.start[0] = 0;  // a zero component
  Device<T> x(q.start);
  for (int power = m; power >= m - 2; --power) {
    size_t each = power == m ? 1 : power == m - 1 ? n : n * n;
    Device<T> out(each * vectors * count);
    purlin_product_params p{};
    p.tensors = q.tensors.address();
    p.entry_stride = 1;
    p.tensor_stride = q.entries;
    p.vectors = x.address();
    p.component_stride = 1;
    p.vector_stride = n;
    p.products = out.address();
    p.indices = q.indices.address();
    p.multinomials = q.multinomials.address();
    p.entries = q.entries;
    p.vector_count = vectors;
    p.count = count;
    p.order = m;
    p.dimension = n;
    p.power = power;
    constexpr bool F = sizeof(T) == 4;
    auto kernel = F ? purlin_sshopm_product_general_f32 : purlin_sshopm_product_general_f64;
    if (nested) {
      if (m == 3) kernel = F ? purlin_sshopm_product_n3m3_f32 : purlin_sshopm_product_n3m3_f64;
      if (m == 4) kernel = F ? purlin_sshopm_product_n3m4_f32 : purlin_sshopm_product_n3m4_f64;
      if (m == 6) kernel = F ? purlin_sshopm_product_n3m6_f32 : purlin_sshopm_product_n3m6_f64;
      if (m == 8) kernel = F ? purlin_sshopm_product_n3m8_f32 : purlin_sshopm_product_n3m8_f64;
    }
    launch(kernel, p, PURLIN_LAUNCH_PLAIN_THREADS, 0, (vectors * count + 127) / 128);
    CHECK(cudaDeviceSynchronize());
    const auto got = out.host();
    double worst = 0;
    for (int64_t t = 0; t < count; ++t) {
      const reference::Form form(m, n, vector<double>(q.packed.begin() + t * q.entries, q.packed.begin() + (t + 1) * q.entries).data());
      for (int v = 0; v < vectors; ++v) {
        vector<double> xv(q.start.begin() + v * n, q.start.begin() + (v + 1) * n);
        const double size = std::pow(reference::dot(n, xv.data(), xv.data()), power / 2.0) * form.norm();
        const auto want = form.times(xv.data(), power);
        for (size_t i = 0; i < each; ++i) {
          double e = std::fabs(want[i] - got[(t * vectors + v) * each + i]) / size;
          worst = e <= worst ? worst : e;  // keeps NaN
        }
      }
    }
    tally.expect(worst < (F ? 1e-5 : 1e-13), name_of(m, n, sizeof(T), nested ? "product" : "general product", count, vectors) + " error " + std::to_string(worst));
  }
}

// Signals made from known tensors: the fit must recover them, and set the status of bad voxels.
template <class T>
void verify_fit(int m, int64_t count, bool weighted, bool skip) {
  const auto list = reference::tuples(m, 3);
  const int u = static_cast<int>(list.size()) / m, directions = 2 * u + 3, baselines = 3, all = directions + baselines;
  vector<T> packed = random_tensors<T>(m, 3, count, 2e-4);
  vector<T> signals(static_cast<size_t>(count) * all);
  vector<double> design(static_cast<size_t>(u) * directions);
  vector<int> base, diffusion;
  for (int j = 0; j < all; ++j) (j % (all / baselines) == 1 && static_cast<int>(base.size()) < baselines ? base : diffusion).push_back(j);
  while (static_cast<int>(base.size()) < baselines) { base.push_back(diffusion.back()); diffusion.pop_back(); }
  for (int j = 0; j < directions; ++j) {
    double g[3] = {normal(), normal(), normal()};
    double length = std::sqrt(reference::dot(3, g, g));
    for (int r = 0; r < u; ++r) {
      design[j * u + r] = 1000 * reference::multinomial(&list[r * m], m);
      for (int i = 0; i < m; ++i) design[j * u + r] *= g[list[r * m + i]] / length;
    }
  }
  for (int64_t t = 0; t < count; ++t) {
    const double s0 = 100 + 50 * (t % 7);
    for (int j : base) signals[t * all + j] = static_cast<T>(s0);
    for (int j = 0; j < directions; ++j) {
      double e = 0;
      for (int r = 0; r < u; ++r) e += design[j * u + r] * packed[t * u + r];
      signals[t * all + diffusion[j]] = static_cast<T>(s0 * std::exp(-e));
    }
    if (t % 11 == 3) signals[t * all + diffusion[5]] = 0;
    if (t % 11 == 4) signals[t * all + diffusion[7]] = static_cast<T>(NAN);
    if (t % 11 == 5) for (int j : base) signals[t * all + j] = 0;
  }
  // The pseudo-inverse by normal equations, and minus its product with log(S / S0).
  vector<double> normal_matrix(u * u, 0.0);
  for (int j = 0; j < directions; ++j)
    for (int a = 0; a < u; ++a)
      for (int b = 0; b < u; ++b) normal_matrix[a * u + b] += design[j * u + a] * design[j * u + b] * 1e-6;
  vector<T> solution(design.size()), design_t(design.begin(), design.end());
  for (int j = 0; j < directions; ++j) {
    vector<double> column(u);
    for (int a = 0; a < u; ++a) column[a] = -design[j * u + a] * 1e-6;
    reference::solve(normal_matrix, column, u);
    for (int a = 0; a < u; ++a) solution[j * u + a] = static_cast<T>(column[a]);
  }
  vector<uint8_t> mask(count);
  for (int64_t t = 0; t < count; ++t) mask[t] = t % 11 != 6;
  Device<T> s(signals), sol(solution), des(design_t), out(packed.size()), s0(count);
  Device<int> b(base), d(diffusion), status(count);
  Device<uint8_t> mk(mask);
  purlin_fit_params p{};
  p.signals = s.address();
  p.measurement_stride = 1;
  p.voxel_stride = all;
  p.mask = mk.address();
  p.baseline = b.address();
  p.weighted = d.address();
  p.solution = sol.address();
  p.design = des.address();
  p.tensors = out.address();
  p.entry_stride = 1;
  p.tensor_stride = u;
  p.s0 = s0.address();
  p.status = status.address();
  p.clamp = 1e-6;
  p.count = count;
  p.baseline_count = baselines;
  p.weighted_count = directions;
  p.entries = u;
  p.signal_type = sizeof(T) == 4 ? 0 : 1;
  p.skip = skip;
  auto kernel = sizeof(T) == 4 ? (weighted ? purlin_dwi_fit_weighted_f32 : purlin_dwi_fit_f32)
                               : (weighted ? purlin_dwi_fit_weighted_f64 : purlin_dwi_fit_f64);
  launch(kernel, p, PURLIN_LAUNCH_FIT_THREADS, 0, (count + 31) / 32);
  CHECK(cudaDeviceSynchronize());
  const auto got = out.host();
  const auto st = status.host();
  int64_t wrong = 0;
  double worst = 0;
  for (int64_t t = 0; t < count; ++t) {
    const int kind = t % 11;
    const int want = kind == 3 ? (skip ? PURLIN_LAUNCH_TENSOR_SIGNAL : PURLIN_LAUNCH_TENSOR_CLAMPED)
                     : kind == 4 ? PURLIN_LAUNCH_TENSOR_NONFINITE : kind == 5 ? PURLIN_LAUNCH_TENSOR_SIGNAL
                     : kind == 6 ? PURLIN_LAUNCH_TENSOR_MASKED : PURLIN_LAUNCH_TENSOR_OK;
    wrong += st[t] != want;
    if (kind >= 3 && kind <= 6) {
      for (int r = 0; r < u && (kind != 3 || skip); ++r) wrong += got[t * u + r] != 0;
      continue;
    }
    double largest = 0, e = 0;
    for (int r = 0; r < u; ++r) {
      largest = std::max<double>(largest, std::fabs(packed[t * u + r]));
      double x = std::fabs(packed[t * u + r] - got[t * u + r]);
      e = x <= e ? e : x;
    }
    worst = e / largest <= worst ? worst : e / largest;
  }
  tally.expect(wrong == 0 && worst < (sizeof(T) == 4 ? 2e-3 : 1e-10),
               name_of(m, 3, sizeof(T), weighted ? "weighted fit" : "fit", count, 0) + ": " + std::to_string(wrong) + " wrong, error " + std::to_string(worst));
}

// One bad tensor of each kind among good ones; a mask; an index list; entry-major layout.
template <class T>
void verify_special(int m, bool general) {
  const int64_t count = 40, u = (m + 1) * (m + 2) / 2;
  auto packed = random_tensors<T>(m, 3, count, 1);
  Problem<T> clean(m, 3, packed, hemisphere<T>(32), 4);
  const auto identity = clean.identity.host();
  for (int64_t r = 0; r < u; ++r) {
    packed[5 * u + r] = 0;
    if (m % 2 == 0) packed[7 * u + r] = static_cast<T>(2.5) * identity[r];
  }
  packed[6 * u + 3] = static_cast<T>(NAN);
  packed[8 * u] = static_cast<T>(INFINITY);
  // Entry-major.
  vector<T> turned(packed.size());
  for (int64_t t = 0; t < count; ++t)
    for (int64_t r = 0; r < u; ++r) turned[r * count + t] = packed[t * u + r];
  Problem<T> q(m, 3, turned, hemisphere<T>(32), 4);
  vector<uint8_t> mask(count, 1);
  mask[9] = 0;
  vector<int64_t> index;
  for (int64_t t = count - 1; t >= 2; --t) index.push_back(t);
  Device<uint8_t> mask_d(mask);
  Device<int64_t> index_d(index);
  q.p.entry_stride = count;
  q.p.tensor_stride = 1;
  q.p.mask = mask_d.address();
  q.p.index = index_d.address();
  q.p.count = static_cast<int64_t>(index.size());
  for (auto *problem : {&clean, &q}) {
    if (general) {
      launch_general<T>(problem->p);
      launch_select<T>(problem->p, 32, 0);
    } else {
      launch_fused<T>(problem->p);
    }
  }
  CHECK(cudaDeviceSynchronize());
  const auto a = clean.values.host(), b = q.values.host();
  const auto found = q.found.host(), status = q.status.host(), classes = q.classes.host();
  const std::string name = name_of(m, 3, sizeof(T), general ? "special, general" : "special, fused", count, 32);
  bool same = true;
  for (int64_t t = 2; t < count; ++t) {
    if ((t >= 5 && t <= 9 && (m % 2 == 0 || t != 7))) continue;
    for (int k = 0; k < 4; ++k) same = same && (a[t * 4 + k] == b[t * 4 + k] || (std::isnan(double(a[t * 4 + k])) && std::isnan(double(b[t * 4 + k]))));
  }
  tally.expect(same, name + ": good tensors changed by bad neighbours");
  tally.expect(status[5] == PURLIN_LAUNCH_TENSOR_ZERO && found[5] == 1 && b[20] == 0 && classes[20] == PURLIN_LAUNCH_PAIR_DEGENERATE, name + ": zero tensor");
  tally.expect(status[6] == PURLIN_LAUNCH_TENSOR_NONFINITE && found[6] == 0 && status[8] == PURLIN_LAUNCH_TENSOR_NONFINITE, name + ": non-finite tensor");
  if (m % 2 == 0) tally.expect(status[7] == PURLIN_LAUNCH_TENSOR_ISOTROPIC && found[7] == 1 && std::fabs(b[28] - T(2.5)) < 1e-5, name + ": isotropic tensor");
  tally.expect(status[9] == PURLIN_LAUNCH_TENSOR_MASKED && found[9] == 0, name + ": masked tensor");
  tally.expect(found[0] == -1 && found[1] == -1, name + ": rows not in the index list were written");
}

inline void verify_everything() {
  const vector<double> kofidis{.2883, -.0031, .1973, -.2485, -.2939, .3847, .2972, .1862, .0919, -.3619, .1241, -.3420, .2127, .2727, -.3054};
  const vector<double> kolda{-.1281, .0516, -.0954, -.1958, -.1790, -.2676, .3251, .2513, .1773, .0338};
  const int starts[] = {1, 7, 32, 33, 64, 128};
  const int64_t counts[] = {0, 1, 31, 33};
  int turn = 0;
  for (int m : {3, 4, 6, 8})
    for (int64_t count : counts)
      for (int v : starts) {
        const int goal = ++turn % 2;
        verify_fused<float>(m, count, v, PURLIN_LAUNCH_HYBRID, 0, goal, turn % 3 == 0);
        verify_fused<double>(m, count, v, PURLIN_LAUNCH_HYBRID, 0, 1 - goal, turn % 3 == 1);
        const int shift = turn % 3;
        verify_fused<float>(m, count, v, PURLIN_LAUNCH_POWER, shift, 1 - goal, false);
        verify_fused<double>(m, count, v, PURLIN_LAUNCH_POWER, (shift + 1) % 3, goal, false);
      }
  verify_fused<float>(4, 1000, 64, PURLIN_LAUNCH_HYBRID, 0, 0, true);
  verify_fused<double>(4, 1000, 64, PURLIN_LAUNCH_HYBRID, 0, 0, false);
  const int shapes[][2] = {{2, 3}, {2, 1}, {3, 2}, {4, 2}, {4, 3}, {5, 3}, {4, 4}, {3, 5}, {2, 6}, {4, 6}, {3, 16}};
  for (auto &s : shapes) {
    verify_general<float>(s[0], s[1], 7, 33, PURLIN_LAUNCH_HYBRID, 0);
    verify_general<double>(s[0], s[1], 4, 40, PURLIN_LAUNCH_HYBRID, 0);
    verify_general<double>(s[0], s[1], 3, 5, PURLIN_LAUNCH_POWER, 0);
    verify_general<double>(s[0], s[1], 3, 5, PURLIN_LAUNCH_POWER, 1);
    verify_products<float>(s[0], s[1], 3, 5, false);
    verify_products<double>(s[0], s[1], 3, 5, false);
  }
  for (bool general : {false, true}) {
    verify_all<double>(4, kofidis, 11, 3, general);
    verify_all<double>(3, kolda, 7, 3, general);
    verify_all<float>(4, kofidis, 11, 3, general);
    for (int m : {3, 4, 6, 8}) {
      verify_special<float>(m, general);
      verify_special<double>(m, general);
    }
  }
  verify_counts(kofidis);
  for (int m : {3, 4, 6, 8}) {
    verify_products<float>(m, 3, 33, 7, true);
    verify_products<double>(m, 3, 5, 31, true);
  }
  for (int m : {2, 4, 6, 8}) {
    verify_fit<double>(m, 1000, false, false);
    verify_fit<float>(m, 33, false, true);
    verify_fit<double>(m, 33, true, true);
    verify_fit<float>(m, 31, true, false);
  }
  std::printf("%d checks, %d failures\n", tally.checks, tally.failures);
}
