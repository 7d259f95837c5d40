/// @file lanczos.hpp
/// Eigenpairs of symmetric and Hermitian matrices and of operators of graphs, and singular triplets, by Lanczos' method.
#ifndef PURLIN_LANCZOS_HPP
#define PURLIN_LANCZOS_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "matrix.hpp"
#include "tensor.hpp"

namespace purlin::lanczos {

/// The C options with their defaults, and progress as a `std::function`, called with the pairs that have converged, those
/// wanted, and the largest residual. `group` is a `group::get()`.
struct options : purlin_lanczos_options {
  purlin::progress on_progress;

  options() : purlin_lanczos_options{} { check(purlin_lanczos_options_init(this, sizeof(purlin_lanczos_options))); }
};

/// A solve's report, initialized. It is filled in also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`; the first
/// `count` of the outputs are then valid.
struct info : purlin_lanczos_info {
  info() : purlin_lanczos_info{} { check(purlin_lanczos_info_init(this, sizeof(purlin_lanczos_info))); }
};

/// Optional inputs of a solve: start vector, vectors to keep out of the search, and the solver with A - sigma I. NULL
/// members are not given.
struct given {
  const tensor* start = nullptr;
  const matrix* known = nullptr;
  const matrix* solve = nullptr;
};

/// Eigenvalues, and eigenvectors and residuals where there is a place for them, as purlin_lanczos_solve_once.
inline void solve(const context& on, const matrix& a, const tensor& values, const matrix& vectors,
                  const tensor& residuals, info& report, const options& settings = {}, const given& before = {},
                  const stream& queue = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_lanczos_options raw = relay.attach<purlin_lanczos_options>(settings);
  const purlin_status status = purlin_lanczos_solve_once(
      on.get(), queue.get(), a.get(), before.start != nullptr ? before.start->get() : nullptr,
      before.known != nullptr ? before.known->get() : nullptr,
      before.solve != nullptr ? before.solve->get() : nullptr, &raw, values.get(), vectors.get(), residuals.get(),
      &report);
  relay.rethrow();
  a.rethrow();
  if (before.solve != nullptr) before.solve->rethrow();
  on.finish(status);
}

/// Singular values, and vectors and residuals where there is a place for them, as purlin_lanczos_singular_once. `start` is a
/// start vector of min(rows, cols) elements: a right singular vector if cols <= rows, else a left one.
inline void singular(const context& on, const matrix& a, const matrix& u, const tensor& values, const matrix& v,
                     const tensor& residuals, info& report, const options& settings = {}, const stream& queue = {},
                     const tensor& start = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_lanczos_options raw = relay.attach<purlin_lanczos_options>(settings);
  const purlin_status status = purlin_lanczos_singular_once(on.get(), queue.get(), a.get(), start.get(), &raw,
                                                            u.get(), values.get(), v.get(), residuals.get(), &report);
  relay.rethrow();
  a.rethrow();
  on.finish(status);
}

/// The singular values alone, `settings.count` of them, without vectors.
inline std::vector<double> singular_values(const context& on, const matrix& a, const options& settings = {}) {
  std::vector<double> found(purlin::detail::size(settings.count));
  info report;
  singular(on, a, {}, tensor::borrow(on, found), {}, {}, report, settings);
  return found;
}

/// Runs `call`. If it throws `PURLIN_ERROR_NO_CONVERGENCE`, shortens the outputs to the pairs found and rethrows.
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

/// The eigenvalues alone, `settings.count` of them, without vectors.
inline std::vector<double> values(const context& on, const matrix& a, const options& settings = {}) {
  std::vector<double> found(purlin::detail::size(settings.count));
  info report;
  solve(on, a, tensor::borrow(on, found), {}, {}, report, settings);
  return found;
}

/// Coefficients of the plain recurrence: the diagonal, and the subdiagonal followed by the coefficient that leads out
/// of the space.
struct recurrence {
  std::vector<double> alpha;
  std::vector<double> beta;
};

/// Options on a context, for matrices of any size; see purlin_lanczos_create. An output that is not wanted is an empty
/// object. The call that used a function behind a matrix throws its exception.
class session {
 public:
  session() noexcept = default;

  explicit session(const context& on, const options& settings = {}) : context_(on.get()) {
    purlin_lanczos_options raw = settings;
    if (settings.on_progress) {
      progress_ = std::make_unique<purlin::detail::progress_keeper>(settings.on_progress);
      raw.progress = &purlin::detail::progress_keeper::call;
      raw.progress_user = progress_.get();
    }
    purlin_lanczos* made = nullptr;
    const purlin_status status = purlin_lanczos_create(on.get(), &raw, &made);
    handle_.reset(made);
    on.finish(status);
  }

  purlin_lanczos* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The context that it was made on. A `purlin::context` owns it: graph functions of a session need it alive.
  purlin_context* context_handle() const noexcept { return context_; }

  /// The method, the memory, and how the rows of a square sparse matrix are distributed: the cost of a solve before it.
  /// Throws the errors of the solve for its options and inputs.
  info plan(const matrix& a, const given& before = {}) const {
    info report;
    check(purlin_lanczos_plan(get(), a.get(), before.known != nullptr ? before.known->get() : nullptr,
                              before.solve != nullptr ? before.solve->get() : nullptr, &report));
    return report;
  }

  /// The plan of `singular`: the method and why, and the memory. Throws its errors for the options and the matrix.
  info plan_singular(const matrix& a) const {
    info report;
    check(purlin_lanczos_plan_singular(get(), a.get(), &report));
    return report;
  }

  /// Eigenvalues, and eigenvectors and residuals where there is a place for them, as purlin_lanczos_solve.
  info solve(const matrix& a, const tensor& values, const matrix& vectors = {}, const tensor& residuals = {},
             const given& before = {}, const stream& queue = {}) {
    info report;
    const purlin_status status = purlin_lanczos_solve(
        get(), queue.get(), a.get(), before.start != nullptr ? before.start->get() : nullptr,
        before.known != nullptr ? before.known->get() : nullptr,
        before.solve != nullptr ? before.solve->get() : nullptr, values.get(), vectors.get(), residuals.get(),
        &report);
    rethrow(a);
    if (before.solve != nullptr) before.solve->rethrow();
    check(status);
    return report;
  }

  /// Singular values, and vectors and residuals where there is a place for them, as purlin_lanczos_singular.
  info singular(const matrix& a, const matrix& u, const tensor& values, const matrix& v,
                const tensor& residuals = {}, const tensor& start = {}, const stream& queue = {}) {
    info report;
    finish(a, purlin_lanczos_singular(get(), queue.get(), a.get(), start.get(), u.get(), values.get(), v.get(),
                                      residuals.get(), &report));
    return report;
  }

  /// At most `steps` steps of the plain recurrence, with the operator of `kind` and `shift` of the options, and the
  /// start vector of `seed` unless `start` is given.
  recurrence tridiagonalize(const matrix& a, std::int64_t steps, const tensor& start = {}, const stream& queue = {}) {
    recurrence found{std::vector<double>(purlin::detail::size(steps)),
                     std::vector<double>(purlin::detail::size(steps))};
    std::int64_t count = 0;
    finish(a, purlin_lanczos_tridiagonalize(get(), queue.get(), a.get(), steps, start.get(), found.alpha.data(),
                                            found.beta.data(), &count));
    found.alpha.resize(purlin::detail::size(count));
    found.beta.resize(purlin::detail::size(count));
    return found;
  }

  /// Cancels the call that runs, from any thread.
  void cancel() const { check(purlin_lanczos_cancel(get())); }

  /// The report of the last run, also of one that threw `PURLIN_ERROR_NO_CONVERGENCE`.
  info last_info() const {
    info report;
    check(purlin_lanczos_last_info(get(), &report));
    return report;
  }

  /// Ends a call on this session: rethrows the exception of its progress function or of a function behind `a`, else
  /// throws the error of `status`. The wrappers of these headers call it.
  void finish(const matrix& a, purlin_status status) const {
    rethrow(a);
    check(status);
  }

  /// The same, and rethrows an exception of the log function of `on`.
  void finish(const matrix& a, const context& on, purlin_status status) const {
    rethrow(a);
    on.finish(status);
  }

 private:
  void rethrow(const matrix& a) const {
    if (progress_) progress_->rethrow();
    a.rethrow();
  }

  purlin_context* context_ = nullptr;
  std::unique_ptr<purlin::detail::progress_keeper> progress_;
  std::unique_ptr<purlin_lanczos, purlin::detail::destroy<purlin_lanczos, purlin_lanczos_destroy>> handle_;
};

/// The plan of a solve with these options; see `session::plan`.
inline info plan(const context& on, const matrix& a, const options& settings = {}, const given& before = {}) {
  return session(on, settings).plan(a, before);
}

/// The plan of a search for singular triplets with these options; see `session::plan_singular`.
inline info plan_singular(const context& on, const matrix& a, const options& settings = {}) {
  return session(on, settings).plan_singular(a);
}

/// At most `steps` steps of the plain recurrence; see `session::tridiagonalize`.
inline recurrence tridiagonalize(const context& on, const matrix& a, std::int64_t steps, const options& settings = {},
                                 const tensor& start = {}, const stream& queue = {}) {
  return session(on, settings).tridiagonalize(a, steps, start, queue);
}

/// The eigenvalues of A among those of a recurrence, by the test of Cullum and Willoughby; ascending.
inline std::vector<purlin_lanczos_accepted> cullum_willoughby(const recurrence& of, double cluster = 1e-12,
                                                              double converged = 1e-6) {
  if (of.alpha.size() != of.beta.size()) purlin::detail::refuse("beta: has another length than alpha");
  std::vector<purlin_lanczos_accepted> found(of.alpha.size());
  std::int64_t count = 0;
  check(purlin_lanczos_cullum_willoughby(purlin::detail::length(of.alpha), of.alpha.data(), of.beta.data(), cluster,
                                         converged, found.data(), &count));
  found.resize(purlin::detail::size(count));
  return found;
}

/// Eigenvalues of a tridiagonal matrix, ascending; `off` is one shorter than `diagonal`.
inline std::vector<double> tridiagonal_eigenvalues(const std::vector<double>& diagonal,
                                                   const std::vector<double>& off) {
  const std::int64_t needed = purlin::detail::length(diagonal) - (diagonal.empty() ? 0 : 1);
  if (purlin::detail::length(off) != needed) {
    purlin::detail::refuse("off: has " + std::to_string(off.size()) + " elements, expected " + std::to_string(needed));
  }
  std::vector<double> found(diagonal.size());
  check(purlin_tridiagonal_eigenvalues(purlin::detail::length(diagonal), diagonal.data(), off.data(), found.data(),
                                       nullptr, nullptr));
  return found;
}

}  // namespace purlin::lanczos

#endif
