// Symmetric-tensor eigenpairs on the CPU in double precision, written from the definitions (sums over all n^m index
// tuples, an explicit tangent basis, Jacobi eigenvalues) and sharing nothing with the kernels that it checks.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

namespace reference {

using std::vector;

// Nondecreasing index tuples in lexicographic order, one after the other.
inline vector<uint8_t> tuples(int m, int n) {
  vector<uint8_t> all, t(m, 0);
  for (;;) {
    all.insert(all.end(), t.begin(), t.end());
    int p = m - 1;
    while (p >= 0 && t[p] == n - 1) --p;
    if (p < 0) return all;
    uint8_t v = t[p] + 1;
    for (int q = p; q < m; ++q) t[q] = v;
  }
}

inline double multinomial(const uint8_t *t, int m) {
  double r = 1;
  for (int i = 2; i <= m; ++i) r *= i;
  for (int i = 0, run = 1; i < m; ++i, ++run) {
    r /= run;
    if (i + 1 < m && t[i + 1] != t[i]) run = 0;
  }
  return std::round(r);
}

struct Form {
  int m, n;
  vector<double> full;
  Form(int order, int dimension, const double *packed) : m(order), n(dimension) {
    const auto list = tuples(m, n);
    const size_t count = list.size() / m;
    size_t size = 1;
    for (int i = 0; i < m; ++i) size *= n;
    full.resize(size);
    vector<uint8_t> t(m);
    for (size_t at = 0; at < size; ++at) {
      size_t rest = at;
      for (int i = m - 1; i >= 0; --i, rest /= n) t[i] = static_cast<uint8_t>(rest % n);
      std::sort(t.begin(), t.end());
      size_t low = 0, high = count;
      while (high - low > 1) {
        size_t mid = (low + high) / 2;
        if (std::lexicographical_compare(t.begin(), t.end(), list.begin() + mid * m, list.begin() + (mid + 1) * m)) high = mid;
        else low = mid;
      }
      full[at] = packed[low];
    }
  }
  // A x^power, the tensor of order m - power that is left.
  vector<double> times(const double *x, int power) const {
    vector<double> t = full;
    for (int k = 0; k < power; ++k) {
      vector<double> s(t.size() / n, 0.0);
      for (size_t i = 0; i < s.size(); ++i)
        for (int j = 0; j < n; ++j) s[i] += t[i * n + j] * x[j];
      t.swap(s);
    }
    return t;
  }
  double norm() const {
    double s = 0;
    for (double v : full) s += v * v;
    return std::sqrt(s);
  }
};

inline double dot(int n, const double *a, const double *b) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += a[i] * b[i];
  return s;
}

// Eigenvalues, ascending, of a symmetric matrix.
inline vector<double> eigenvalues(vector<double> c, int n) {
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) off += c[i * n + j] * c[i * n + j];
    if (off < 1e-300) break;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        if (c[p * n + q] == 0) continue;
        double angle = 0.5 * std::atan2(2 * c[p * n + q], c[q * n + q] - c[p * n + p]);
        double co = std::cos(angle), si = std::sin(angle);
        for (int i = 0; i < n; ++i) {
          double u = c[i * n + p], v = c[i * n + q];
          c[i * n + p] = co * u - si * v;
          c[i * n + q] = si * u + co * v;
        }
        for (int i = 0; i < n; ++i) {
          double u = c[p * n + i], v = c[q * n + i];
          c[p * n + i] = co * u - si * v;
          c[q * n + i] = si * u + co * v;
        }
      }
  }
  vector<double> e(n);
  for (int i = 0; i < n; ++i) e[i] = c[i * n + i];
  std::sort(e.begin(), e.end());
  return e;
}

// Solves c d = r; false where singular.
inline bool solve(vector<double> c, vector<double> &r, int n) {
  for (int j = 0; j < n; ++j) {
    int at = j;
    for (int i = j; i < n; ++i)
      if (std::fabs(c[i * n + j]) > std::fabs(c[at * n + j])) at = i;
    if (c[at * n + j] == 0) return false;
    for (int k = 0; k < n; ++k) std::swap(c[j * n + k], c[at * n + k]);
    std::swap(r[j], r[at]);
    for (int i = 0; i < n; ++i) {
      if (i == j) continue;
      double f = c[i * n + j] / c[j * n + j];
      for (int k = j; k < n; ++k) c[i * n + k] -= f * c[j * n + k];
      r[i] -= f * r[j];
    }
  }
  for (int j = 0; j < n; ++j) r[j] /= c[j * n + j];
  return true;
}

// Orthonormal basis of the complement of x: n - 1 vectors of n, by Gram-Schmidt over the unit vectors.
inline vector<double> complement(const double *x, int n) {
  vector<double> basis;
  vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](int a, int b) { return std::fabs(x[a]) < std::fabs(x[b]); });
  for (int i = 0; i + 1 < n; ++i) {
    vector<double> e(n, 0.0);
    e[order[i]] = 1;
    for (int pass = 0; pass < 2; ++pass) {
      double s = dot(n, e.data(), x);
      for (int c = 0; c < n; ++c) e[c] -= s * x[c];
      for (size_t k = 0; k < basis.size(); k += n) {
        s = dot(n, e.data(), &basis[k]);
        for (int c = 0; c < n; ++c) e[c] -= s * basis[k + c];
      }
    }
    double s = 1 / std::sqrt(dot(n, e.data(), e.data()));
    for (int c = 0; c < n; ++c) basis.push_back(e[c] * s);
  }
  return basis;
}

// U'((m-1) B - lambda I)U.
inline vector<double> projected_hessian(int m, int n, const vector<double> &b, double lambda, const vector<double> &u) {
  int k = n - 1;
  vector<double> h(k * k);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) {
      double s = 0;
      for (int p = 0; p < n; ++p)
        for (int q = 0; q < n; ++q) s += u[i * n + p] * b[p * n + q] * u[j * n + q];
      h[i * k + j] = (m - 1) * s - (i == j ? lambda : 0.0);
    }
  return h;
}

enum Method { HYBRID, FIXED, ADAPTIVE };
struct Settings {
  Method method = HYBRID;
  double shift = 0, tau = 1e-6, tolerance = 1e-10, floor = 0;
  bool lambda_test = false, absolute = false;
  int max_iterations = 500, warmup = 0;
};
struct Outcome {
  double lambda = 0, residual = 0, shift = 0;
  vector<double> x;
  int iterations = 0, status = 1;
};

// Maxima of the form from one start.
inline Outcome iterate(const Form &form, const double *start, const Settings &s, double norm) {
  const int m = form.m, n = form.n;
  Outcome o;
  o.x.assign(start, start + n);
  double length = std::sqrt(dot(n, start, start)), previous = -std::numeric_limits<double>::infinity();
  for (double &v : o.x) v /= length;
  for (;;) {
    auto b = form.times(o.x.data(), m - 2);
    vector<double> y(n), r(n);
    for (int i = 0; i < n; ++i) y[i] = dot(n, &b[i * n], o.x.data());
    o.lambda = dot(n, o.x.data(), y.data());
    for (int i = 0; i < n; ++i) r[i] = y[i] - o.lambda * o.x[i];
    o.residual = std::sqrt(dot(n, r.data(), r.data()));
    bool done = s.lambda_test
                    ? std::fabs(o.lambda - previous) <= s.tolerance * (s.absolute ? 1.0 : std::fabs(o.lambda))
                    : o.residual <= std::max(s.tolerance * std::max(std::fabs(o.lambda), 1e-3 * norm), s.floor * norm);
    previous = o.lambda;
    if (done || o.iterations >= s.max_iterations) {
      o.status = done ? 0 : 1;
      return o;
    }
    vector<double> next(n);
    bool moved = false;
    if (s.method == HYBRID) {
      auto u = complement(o.x.data(), n);
      auto h = projected_hessian(m, n, b, o.lambda, u);
      auto e = eigenvalues(h, n - 1);
      vector<double> d(n - 1);
      for (int i = 0; i + 1 < n; ++i) d[i] = -dot(n, &u[i * n], r.data());
      if (o.iterations >= s.warmup && n == 3) {
        // Newton's step with H less the least multiple of the identity that makes it negative definite and the step no
        // longer than 2 / m.
        const double k = m - 1, top = e.back() / k;
        const double gentlest = std::max(-top, 0.5 * m / k * o.residual + 1e-150);
        o.shift = k * (gentlest + top);
        for (int i = 0; i < 2; ++i) h[i * 3] -= o.shift;
        if (!solve(h, d, 2)) d.assign(2, 0.0);
        next = o.x;
        for (int i = 0; i < 2; ++i)
          for (int c = 0; c < n; ++c) next[c] += d[i] * u[i * n + c];
        moved = true;
      } else if (o.iterations >= s.warmup && n > 1 && e.back() < 0 && solve(h, d, n - 1) && dot(n - 1, d.data(), d.data()) < 0.25) {
        next = o.x;
        for (int i = 0; i + 1 < n; ++i)
          for (int c = 0; c < n; ++c) next[c] += d[i] * u[i * n + c];
        o.shift = 0;
        moved = true;
      } else {
        double margin = 1e-3 * std::fabs(o.lambda) + 1e-6;
        // The spectrum of (m-1) U'BU is above mean - sqrt((p-1) variance), p its size.
        double mean = 0, variance = 0;
        for (double v : e) mean += (v + o.lambda) / (n - 1);
        for (double v : e) variance += (v + o.lambda - mean) * (v + o.lambda - mean) / (n - 1);
        o.shift = std::max({0.0, margin - mean + std::sqrt(std::max(0, n - 2) * variance), margin - (m - 1) * o.lambda});
      }
    } else if (s.method == ADAPTIVE) {
      double e = eigenvalues(b, n)[0];
      o.shift = e >= s.tau / (m * m - m) ? 0 : s.tau / m - (m - 1) * e;
    } else {
      o.shift = s.shift;
    }
    if (!moved)
      for (int c = 0; c < n; ++c) next[c] = y[c] + o.shift * o.x[c];
    length = std::sqrt(dot(n, next.data(), next.data()));
    for (int c = 0; c < n; ++c) o.x[c] = next[c] / length;
    ++o.iterations;
  }
}

// Runs body(0) .. body(count - 1) on all cores.
inline void parallel(int64_t count, const std::function<void(int64_t)> &body) {
  const int threads = std::max(1u, std::min(16u, std::thread::hardware_concurrency()));
  vector<std::thread> pool;
  for (int w = 0; w < threads; ++w)
    pool.emplace_back([&, w] {
      for (int64_t i = w; i < count; i += threads) body(i);
    });
  for (auto &t : pool) t.join();
}

}  // namespace reference
