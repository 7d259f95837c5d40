/// @file lanczos.hpp
/// Eigenpairs of symmetric and Hermitian matrices and of operators of graphs, and singular triplets, by Lanczos' method.
#ifndef PURLIN_LANCZOS_HPP
#define PURLIN_LANCZOS_HPP

#include <cstdint>
#include <vector>

#include "matrix.hpp"
#include "tensor.hpp"

namespace purlin::lanczos {

/// The C options with their defaults, and progress as a `std::function`, called with the pairs that have converged, those
/// wanted, and the largest residual.
struct options : purlin_lanczos_options {
  purlin::progress on_progress;

  options() : purlin_lanczos_options{} { check(purlin_lanczos_options_init(this, sizeof(purlin_lanczos_options))); }

  /// One more context, on another GPU of the kind of the matrix's or like that on the CPU: a solve shares the rows of the
  /// matrix out over all. It has to live until the call is over.
  void add_context(const context& another) { further.push_back(another.get()); }

  std::vector<const purlin_context*> further;
};

namespace detail {

/// The C options of a call.
inline purlin_lanczos_options raw(const options& settings, purlin::detail::progress_relay& relay) {
  purlin_lanczos_options all = relay.attach<purlin_lanczos_options>(settings);
  if (!settings.further.empty()) {
    all.contexts = settings.further.data();
    all.contexts_count = static_cast<std::int64_t>(settings.further.size());
  }
  return all;
}

}  // namespace detail

/// A solve's report, initialised. It is filled in also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`; the first
/// `count` of the outputs are then what was found.
struct info : purlin_lanczos_info {
  info() : purlin_lanczos_info{} { check(purlin_lanczos_info_init(this, sizeof(purlin_lanczos_info))); }
};

/// What is known before a solve; what is empty is not.
struct given {
  const tensor* start = nullptr;
  const matrix* known = nullptr;
  const matrix* solve = nullptr;
};

/// Eigenvalues, and eigenvectors and residuals where there is a place for them, as purlin_lanczos_solve.
inline void solve(const context& on, const matrix& a, const tensor& values, const matrix& vectors,
                  const tensor& residuals, info& report, const options& settings = {}, const given& before = {},
                  const stream& queue = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_lanczos_options raw = detail::raw(settings, relay);
  const purlin_status status = purlin_lanczos_solve(
      a.get(), queue.get(), &raw, before.start != nullptr ? before.start->get() : nullptr,
      before.known != nullptr ? before.known->get() : nullptr,
      before.solve != nullptr ? before.solve->get() : nullptr, values.get(), vectors.get(), residuals.get(), &report);
  relay.rethrow();
  a.rethrow();
  if (before.solve != nullptr) before.solve->rethrow();
  on.finish(status);
}

/// Singular values, and vectors and residuals where there is a place for them, as purlin_lanczos_singular. `start` is a start
/// vector of min(rows, cols) elements: a right singular vector if cols <= rows, else a left one.
inline void singular(const context& on, const matrix& a, const matrix& u, const tensor& values, const matrix& v,
                     const tensor& residuals, info& report, const options& settings = {}, const stream& queue = {},
                     const tensor& start = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  purlin_lanczos_options raw = detail::raw(settings, relay);
  raw.start = start.get();
  const purlin_status status = purlin_lanczos_singular(a.get(), queue.get(), &raw, u.get(), values.get(), v.get(),
                                                       residuals.get(), &report);
  relay.rethrow();
  a.rethrow();
  on.finish(status);
}

/// The singular values alone.
inline std::vector<double> singular_values(const context& on, const matrix& a, const options& settings = {}) {
  std::vector<double> found(purlin::detail::size(settings.count));
  info report;
  singular(on, a, {}, tensor::borrow(on, found), {}, {}, report, settings);
  return found;
}

/// Has what was found before a call threw that not all converged, and lets it go on.
namespace detail {
template <class Call, class Cut>
void cut_after(Call&& call, const info& report, Cut&& cut) {
  try {
    call();
  } catch (const error& problem) {
    if (problem.status() == PURLIN_ERROR_NO_CONVERGENCE) cut(purlin::detail::size(report.count));
    throw;
  }
}
}  // namespace detail

/// The eigenvalues alone, into `found`: where the call throws `PURLIN_ERROR_NO_CONVERGENCE` those that there are, the first
/// `report.converged` of them good.
inline void values(const context& on, const matrix& a, std::vector<double>& found, info& report,
                   const options& settings = {}) {
  found.assign(purlin::detail::size(settings.count), 0.0);
  detail::cut_after([&] { solve(on, a, tensor::borrow(on, found), {}, {}, report, settings); }, report,
                    [&](std::size_t count) { found.resize(count); });
}

/// The eigenvalues alone.
inline std::vector<double> values(const context& on, const matrix& a, const options& settings = {}) {
  std::vector<double> found(purlin::detail::size(settings.count));
  info report;
  solve(on, a, tensor::borrow(on, found), {}, {}, report, settings);
  return found;
}

/// How a solve with these options would share out the rows of a sparse matrix, and what a product would move; see
/// purlin_lanczos_partition.
inline info partition(const context& on, const matrix& a, const options& settings = {}) {
  info report;
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_lanczos_options raw = detail::raw(settings, relay);
  on.finish(purlin_lanczos_partition(a.get(), &raw, &report));
  return report;
}

/// Coefficients of the plain recurrence: the diagonal, and what is beside it with the last that leads out.
struct recurrence {
  std::vector<double> alpha;
  std::vector<double> beta;
};

/// At most `steps` steps, of which `kind`, `shift` and `seed` of the options say what with.
inline recurrence tridiagonalise(const context& on, const matrix& a, std::int64_t steps, const options& settings = {},
                                 const tensor& start = {}, const stream& queue = {}) {
  recurrence found{std::vector<double>(purlin::detail::size(steps)), std::vector<double>(purlin::detail::size(steps))};
  std::int64_t count = 0;
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_lanczos_options raw = detail::raw(settings, relay);
  const purlin_status status = purlin_lanczos_tridiagonalise(a.get(), queue.get(), &raw, steps, start.get(),
                                                             found.alpha.data(), found.beta.data(), &count);
  relay.rethrow();
  a.rethrow();
  on.finish(status);
  found.alpha.resize(purlin::detail::size(count));
  found.beta.resize(purlin::detail::size(count));
  return found;
}

/// The eigenvalues of A among those of a recurrence, by the test of Cullum and Willoughby; ascending.
inline std::vector<purlin_lanczos_accepted> filter(const recurrence& of, double cluster = 1e-12,
                                                   double converged = 1e-6) {
  if (of.alpha.size() != of.beta.size()) purlin::detail::refuse("beta: has another length than alpha");
  std::vector<purlin_lanczos_accepted> found(of.alpha.size());
  std::int64_t count = 0;
  check(purlin_lanczos_filter(purlin::detail::length(of.alpha), of.alpha.data(), of.beta.data(), cluster, converged,
                              found.data(), &count));
  found.resize(purlin::detail::size(count));
  return found;
}

/// Eigenvalues of a tridiagonal matrix, ascending; `off` is one shorter than `diagonal`.
inline std::vector<double> tridiagonal_eigenvalues(const std::vector<double>& diagonal,
                                                   const std::vector<double>& off) {
  if (off.size() + 1 < diagonal.size()) purlin::detail::refuse("off: is too short");
  std::vector<double> found(diagonal.size());
  check(purlin_tridiagonal_eigenvalues(purlin::detail::length(diagonal), diagonal.data(), off.data(), found.data(),
                                       nullptr, nullptr));
  return found;
}

}  // namespace purlin::lanczos

#endif
