// Robust PCA: a known sum of a matrix of rank 2 and a sparse one, from memory and from a source.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "expect.hpp"

using purlin::context;
using purlin::matrix;
using purlin::source;
using purlin::tensor;

namespace {

struct stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Element i of the j-th cosine vector of length n, from 1 on: the vectors are orthonormal.
double cosine(std::int64_t i, std::int64_t j, std::int64_t n) {
  return std::sqrt(2.0 / static_cast<double>(n)) *
         std::cos(3.14159265358979323846 * (static_cast<double>(i) + 0.5) * static_cast<double>(j) /
                  static_cast<double>(n));
}

void tests() {
  const context on = context::on(PURLIN_BACKEND_CPU);
  constexpr std::int64_t m = 60, n = 50;
  std::vector<double> low(m * n), spikes(m * n), sum(m * n), l(m * n), s(m * n);
  for (std::int64_t c = 0; c < n; ++c)
    for (std::int64_t r = 0; r < m; ++r) {
      const auto k = static_cast<std::size_t>(r + m * c);
      low[k] = 30.0 * cosine(r, 1, m) * cosine(c, 2, n) + 20.0 * cosine(r, 3, m) * cosine(c, 1, n);
      spikes[k] = (r * 7 + c * 11) % 29 == 0 ? ((r + c) % 2 == 0 ? 5.0 : -5.0) : 0.0;
      sum[k] = low[k] + spikes[k];
    }
  const matrix given = matrix::borrow(on, sum, m, n);
  const matrix low_rank = matrix::borrow(on, l, m, n);
  purlin::rpca::info report;
  std::int64_t steps = 0;
  purlin::rpca::options settings;
  settings.on_progress = [&](std::int64_t step, std::int64_t, double) {
    steps = step;
    return false;
  };
  purlin::rpca::session split(on, settings);
  EXPECT_ERROR(split.last_info(), PURLIN_ERROR_INVALID_ARGUMENT);
  report = split.compute(given, low_rank, matrix::borrow(on, s, m, n));
  EXPECT(split.plan(given).host_bytes == report.host_bytes && report.host_bytes > 0);
  EXPECT(split.last_info().iterations == report.iterations);
  EXPECT(report.converged == 1 && report.rank == 2 && report.iterations > 0 && steps > 0);
  double most = 0.0;
  for (std::size_t k = 0; k < low.size(); ++k)
    most = std::max(most, std::max(std::fabs(l[k] - low[k]), std::fabs(s[k] - spikes[k])));
  EXPECT(most < 1e-4);

  settings = {};
  settings.threshold = 1e-3;
  purlin::rpca::session rows(on, settings);
  matrix sparse;
  const purlin::rpca::info again = rows.compute_csr(given, low_rank, sparse);
  EXPECT(again.converged == 1 && again.iterations == rows.last_info().iterations);
  const purlin_matrix_info stored = sparse.properties();
  EXPECT(stored.storage == PURLIN_CSR && stored.nnz == again.nonzeros);
  EXPECT(stored.nnz == std::count_if(spikes.begin(), spikes.end(), [](double x) { return x != 0.0; }));

  std::vector<double> streamed(m * n, -1.0);
  {
    tensor taken = tensor::borrow(on, streamed, {m, n});
    const source in = source::from(on, tensor::borrow(on, sum, {m, n}));
    // The object of the first run takes another matrix, and sinks.
    EXPECT(split.compute_to_sinks(matrix::from_source(on, in), purlin::sink::to(on, taken), {}).converged == 1);
  }
  for (std::size_t k = 0; k < low.size(); ++k) EXPECT(near(streamed[k], low[k], 1e-4));

  settings = {};
  settings.max_iterations = 2;
  purlin::rpca::info short_of;
  EXPECT_ERROR(purlin::rpca::compute_once(on, given, low_rank, {}, short_of, settings), PURLIN_ERROR_NO_CONVERGENCE);
  EXPECT(short_of.converged == 0 && short_of.iterations == 2);
  purlin::rpca::session brief(on, settings);
  EXPECT_ERROR(brief.compute(given, low_rank, {}), PURLIN_ERROR_NO_CONVERGENCE);
  EXPECT(brief.last_info().converged == 0 && brief.last_info().iterations == 2);
  settings = {};
  const context another = context::on(PURLIN_BACKEND_CPU);
  const purlin::group both = purlin::group::create({on, another});
  settings.group = both.get();
  EXPECT_ERROR(purlin::rpca::session(on, settings), PURLIN_ERROR_INVALID_ARGUMENT);
  settings = {};
  settings.on_progress = [](std::int64_t, std::int64_t, double) -> bool { throw stop("enough"); };
  bool reached = false;
  try {
    purlin::rpca::compute_once(on, given, low_rank, {}, short_of, settings);
  } catch (const stop&) {
    reached = true;
  }
  EXPECT(reached);
  purlin::rpca::session throwing(on, settings);
  reached = false;
  try {
    throwing.compute(given, low_rank, {});
  } catch (const stop&) {
    reached = true;
  }
  EXPECT(reached);
  // An object that is cancelled from a progress function computes again.
  purlin::rpca::session* running = nullptr;
  bool cancels = true;
  settings.on_progress = [&](std::int64_t, std::int64_t, double) {
    if (cancels) running->cancel();
    return false;
  };
  purlin::rpca::session restarted(on, settings);
  running = &restarted;
  EXPECT_ERROR(restarted.compute(given, low_rank, {}), PURLIN_ERROR_CANCELLED);
  cancels = false;
  EXPECT(restarted.compute(given, low_rank, {}).converged == 1);
}

}  // namespace

int main() { return run(tests); }
