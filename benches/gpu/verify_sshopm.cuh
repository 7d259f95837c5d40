// Checks of the SS-HOPM kernels against the CPU reference; every check counts itself and prints only when it fails.
#pragma once
#include "sshopm_harness.cuh"

struct Tally {
  int checks = 0, failures = 0;
  void expect(bool ok, const std::string &what) {
    ++checks;
    if (ok) return;
    if (++failures <= 40) std::printf("FAILED %s\n", what.c_str());
  }
};
inline Tally tally;

inline std::string name_of(int m, int n, size_t size, const char *what, int64_t t, int v) {
  char s[160];
  std::snprintf(s, sizeof s, "m=%d n=%d f%zu %s T=%lld V=%d", m, n, size * 8, what, static_cast<long long>(t), v);
  return s;
}

// The start outputs of a solve: residuals by full sums, and for double the same end point as the reference.
template <class T>
void check_starts(Problem<T> &q, const std::string &name, bool same_path) {
  const auto values = q.start_values.host(), vectors = q.start_vectors.host(), residuals = q.start_residuals.host();
  const auto iterations = q.start_iterations.host(), status = q.start_status.host();
  const double sign = q.p.goal == PURLIN_LAUNCH_MINIMA ? -1 : 1, eps = sizeof(T) == 4 ? 1.2e-7 : 2.2e-16;
  vector<int> bad(q.count, 0), differ(q.count, 0), unconverged(q.count, 0);
  reference::parallel(q.count, [&](int64_t t) {
    vector<double> packed(q.packed.begin() + t * q.entries, q.packed.begin() + (t + 1) * q.entries);
    double largest = 0;
    for (double v : packed) largest = std::max(largest, std::fabs(v));
    const double scale = sign * std::exp2(-std::floor(std::log2(largest)));
    for (double &v : packed) v *= scale;
    const reference::Form form(q.m, q.n, packed.data());
    const double norm = form.norm();
    reference::Settings s;
    s.method = q.p.method == PURLIN_LAUNCH_HYBRID              ? reference::HYBRID
               : q.p.shift_kind == PURLIN_LAUNCH_SHIFT_ADAPTIVE ? reference::ADAPTIVE
                                                                 : reference::FIXED;
    s.tolerance = q.p.tolerance;
    s.floor = 4 * eps;
    s.max_iterations = q.p.max_iterations;
    s.warmup = q.p.warmup;
    s.lambda_test = q.p.test == PURLIN_LAUNCH_TEST_LAMBDA;
    s.tau = q.p.tau * norm;
    s.shift = q.p.shift_kind == PURLIN_LAUNCH_SHIFT_GUARANTEED ? (q.m - 1) * norm * 1.001 : q.p.shift * std::fabs(scale);
    for (int v = 0; v < q.starts; ++v) {
      const int64_t at = t * q.starts + v;
      vector<double> x(q.n), y(q.n), start(q.start.begin() + v * q.n, q.start.begin() + (v + 1) * q.n);
      for (int c = 0; c < q.n; ++c) x[c] = vectors[at * q.n + c];
      y = form.times(x.data(), q.m - 1);
      const double lambda = reference::dot(q.n, x.data(), y.data()), reported = values[at] * scale;
      double r = 0;
      for (int c = 0; c < q.n; ++c) r += (y[c] - reported * x[c]) * (y[c] - reported * x[c]);
      r = std::sqrt(r);
      // Written, of unit length, value and residual as the definition gives them to some tens of roundings of ||A||.
      const double round = 40 * eps * q.m * norm;
      bool ok = std::isfinite(reported) && std::fabs(reference::dot(q.n, x.data(), x.data()) - 1) < 10 * eps &&
                std::fabs(lambda - reported) < round && std::fabs(r - residuals[at] * std::fabs(scale)) < round &&
                status[at] >= 0 && status[at] <= 1;
      if (q.p.start_iterations) ok = ok && iterations[at] >= 0 && iterations[at] <= q.p.max_iterations;
      const double allowed = std::max(s.tolerance * std::max(std::fabs(lambda), 1e-3 * norm), 4 * eps * norm);
      if (status[at] == 0 && !s.lambda_test) ok = ok && r < allowed + round;
      bad[t] += !ok;
      unconverged[t] += status[at] == 1;
      if (same_path) {
        auto o = reference::iterate(form, start.data(), s, norm);
        double plus = 0;
        for (int c = 0; c < q.n; ++c) plus += (o.x[c] - x[c]) * (o.x[c] - x[c]);
        differ[t] += !(std::fabs(o.lambda - reported) < 1e-7 * norm && plus < 1e-10 && o.status == status[at] &&
                       std::abs(o.iterations - iterations[at]) <= 1);
      }
    }
  });
  int64_t wrong = 0, other = 0, open = 0;
  for (int64_t t = 0; t < q.count; ++t) {
    wrong += bad[t];
    other += differ[t];
    open += unconverged[t];
  }
  const double all = static_cast<double>(q.count) * q.starts;
  tally.expect(wrong == 0, name + ": " + std::to_string(wrong) + " start results are no eigenpairs as claimed");
  // Rounding may send a start that passes close to a saddle, or to a decision, elsewhere.
  if (same_path)
    tally.expect(other <= 0.01 * all + 1, name + ": " + std::to_string(other) + " of " + std::to_string(int64_t(all)) + " starts end elsewhere than the reference");
  if (q.p.method == PURLIN_LAUNCH_HYBRID)
    tally.expect(open <= 0.01 * all + 1, name + ": " + std::to_string(open) + " starts have not converged");
}

// The pairs against the greedy rule applied on the CPU to the start outputs.
template <class T>
void check_pairs(Problem<T> &q, const std::string &name) {
  const auto sv = q.start_values.host(), sx = q.start_vectors.host(), sr = q.start_residuals.host();
  const auto ss = q.start_status.host();
  const auto found = q.found.host(), classes = q.classes.host(), basins = q.basins.host(), status = q.status.host();
  const auto values = q.values.host(), vectors = q.vectors.host(), hessian = q.hessian.host();
  const double sign = q.p.goal == PURLIN_LAUNCH_MINIMA ? -1 : 1, eps = sizeof(T) == 4 ? 1.2e-7 : 2.2e-16;
  const bool even = q.m % 2 == 0;
  vector<int> bad(q.count, 0);
  reference::parallel(q.count, [&](int64_t t) {
    const reference::Form form(q.m, q.n, vector<double>(q.packed.begin() + t * q.entries, q.packed.begin() + (t + 1) * q.entries).data());
    const double norm = form.norm();
    vector<int> left;
    for (int v = 0; v < q.starts; ++v)
      if (ss[t * q.starts + v] == 0) left.push_back(v);
    const auto value = [&](int v) { return sign * sv[t * q.starts + v]; };
    const auto chord = [&](const double *a, const T *b) {
      double plus = 0, minus = 0;
      for (int c = 0; c < q.n; ++c) {
        plus += (a[c] + b[c]) * (a[c] + b[c]);
        minus += (a[c] - b[c]) * (a[c] - b[c]);
      }
      return even ? std::min(plus, minus) : minus;
    };
    struct Kept { double value; vector<double> x; int basin; };
    vector<Kept> kept;
    bool close_call = false;
    while (!left.empty()) {
      int seed = left[0];
      for (int v : left)
        if (value(v) > value(seed)) seed = v;
      vector<double> x(q.n);
      for (int c = 0; c < q.n; ++c) x[c] = sx[(t * q.starts + seed) * q.n + c];
      vector<int> rest;
      int best = seed, basin = 0;
      for (int v : left) {
        double d = chord(x.data(), &sx[(t * q.starts + v) * q.n]);
        close_call |= std::fabs(d - q.p.merge_chord2) < 0.05 * q.p.merge_chord2;
        if (d > q.p.merge_chord2) rest.push_back(v);
        else {
          ++basin;
          if (sr[t * q.starts + v] < sr[t * q.starts + best]) best = v;
        }
      }
      for (int c = 0; c < q.n; ++c) x[c] = sx[(t * q.starts + best) * q.n + c];
      kept.push_back({sign * value(best), x, basin});
      left.swap(rest);
    }
    const int expected = std::min<int>(kept.size(), q.pairs);
    bool ok = found[t] == expected || status[t] == PURLIN_LAUNCH_TENSOR_DEGENERATE || close_call;
    ok = ok && status[t] == (kept.empty() ? PURLIN_LAUNCH_TENSOR_NO_PAIR : status[t] == PURLIN_LAUNCH_TENSOR_DEGENERATE ? status[t] : PURLIN_LAUNCH_TENSOR_OK);
    for (int k = 0; k < q.pairs && ok; ++k) {
      const int64_t at = t * q.pairs + k;
      if (k >= found[t]) {
        ok = std::isnan(static_cast<double>(values[at])) && std::isnan(static_cast<double>(vectors[at * q.n])) && basins[at] == 0 && classes[at] == 0;
        continue;
      }
      // The pair itself by the definition, whatever the order.
      vector<double> x(q.n);
      for (int c = 0; c < q.n; ++c) x[c] = vectors[at * q.n + c];
      auto b = form.times(x.data(), q.m - 2);
      double lambda = values[at], r = 0;
      for (int i = 0; i < q.n; ++i) {
        double y = reference::dot(q.n, &b[i * q.n], x.data()) - lambda * x[i];
        r += y * y;
      }
      ok = std::sqrt(r) < 100 * std::max(q.p.tolerance, 4 * eps) * norm * (q.p.test == PURLIN_LAUNCH_TEST_LAMBDA ? 1e3 : 1);
      auto h = reference::projected_hessian(q.m, q.n, b, lambda, reference::complement(x.data(), q.n));
      auto e = reference::eigenvalues(h, q.n - 1);
      int negative = 0;
      bool degenerate = false, near = false;
      for (int i = 0; i + 1 < q.n; ++i) {
        ok = ok && std::fabs(e[i] - hessian[at * (q.n - 1) + i]) < 400 * q.m * eps * norm;
        negative += e[i] < 0;
        degenerate |= std::fabs(e[i]) <= q.p.degeneracy * norm;
        near |= std::fabs(std::fabs(e[i]) - q.p.degeneracy * norm) < 400 * q.m * eps * norm;
      }
      const int kind = degenerate ? 3 : negative == q.n - 1 ? 0 : negative == 0 ? 1 : 2;
      ok = ok && (near || kind == classes[at]);
      if (k) ok = ok && (sign > 0 ? values[at] <= values[at - 1] : values[at] >= values[at - 1]);
      // Sign: odd orders have a positive value, even ones a positive component of largest magnitude.
      if (!even) ok = ok && lambda >= -1e-5 * norm;
      else {
        int lead = 0;
        for (int c = 1; c < q.n; ++c)
          if (std::fabs(x[c]) > std::fabs(x[lead]) * (1 + 2e-6)) lead = c;
        ok = ok && x[lead] > 0;
      }
      if (close_call || status[t] == PURLIN_LAUNCH_TENSOR_DEGENERATE || !even) continue;
      bool matched = false;
      for (const auto &c : kept)
        matched |= basins[at] == c.basin && std::fabs(c.value - lambda) < 40 * eps * q.m * norm && chord(c.x.data(), &vectors[at * q.n]) < 1e-4 * q.p.merge_chord2;
      ok = ok && matched;
    }
    bad[t] = !ok;
  });
  int64_t wrong = 0;
  for (int b : bad) wrong += b;
  tally.expect(wrong == 0, name + ": pairs of " + std::to_string(wrong) + " of " + std::to_string(q.count) + " tensors differ from the greedy rule");
}
