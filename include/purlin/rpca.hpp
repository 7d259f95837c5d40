/// @file rpca.hpp
/// Robust PCA: a matrix as the sum of one of low rank and a sparse one, by the inexact augmented Lagrangian method.
#ifndef PURLIN_RPCA_HPP
#define PURLIN_RPCA_HPP

#include <cstdint>
#include <memory>
#include <vector>

#include "blocks.hpp"
#include "matrix.hpp"

namespace purlin::rpca {

/// The C options with their defaults, and progress as a `std::function`, called with the iteration, the most there may be,
/// and the residual. `group` is a `group::get()`.
struct options : purlin_rpca_options {
  purlin::progress on_progress;

  options() : purlin_rpca_options{} { check(purlin_rpca_options_init(this, sizeof(purlin_rpca_options))); }
};

/// A run's report, initialized. It is filled in also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`; the outputs then
/// hold the last iterate.
struct info : purlin_rpca_info {
  info() : purlin_rpca_info{} { check(purlin_rpca_info_init(this, sizeof(purlin_rpca_info))); }
};

/// Options and contexts, for matrices of any shape; one run at a time. An output that is not wanted is an empty object.
/// `mask`, U8 and like M, is 0 where an entry was not observed. An exception of a function behind a matrix or a sink is
/// thrown by the call that used it. A run that did not meet its tolerance throws `PURLIN_ERROR_NO_CONVERGENCE`; the
/// outputs then hold the last iterate, and `last_info` reports it.
class session {
 public:
  session() noexcept = default;

  explicit session(const context& on, const options& settings = {}) {
    purlin_rpca_options raw = settings;
    if (settings.on_progress) {
      progress_ = std::make_unique<purlin::detail::progress_keeper>(settings.on_progress);
      raw.progress = &purlin::detail::progress_keeper::call;
      raw.progress_user = progress_.get();
    }
    purlin_rpca* made = nullptr;
    const purlin_status status = purlin_rpca_create(on.get(), &raw, &made);
    handle_.reset(made);
    on.finish(status);
  }

  purlin_rpca* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The plan of a run on `m`: bytes and blocks. No entry is read. A run that the plan accepts stays inside the limits
  /// of the contexts.
  info plan(const matrix& m, const matrix& mask = {}) const {
    info known;
    check(purlin_rpca_plan(get(), m.get(), mask.get(), &known));
    return known;
  }

  /// M ~ L + S into `low_rank` and `sparse`, both dense and like M.
  info compute(const matrix& m, const matrix& low_rank, const matrix& sparse, const matrix& mask = {},
               const stream& queue = {}) {
    info report;
    finish(m, mask,
           purlin_rpca_compute(get(), queue.get(), m.get(), mask.get(), low_rank.get(), sparse.get(), &report));
    return report;
  }

  /// The same with S in compressed sparse rows: entries of modulus over the option `threshold`. `sparse` becomes a new
  /// matrix on the host, also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`.
  info compute_csr(const matrix& m, const matrix& low_rank, matrix& sparse, const matrix& mask = {},
                   const stream& queue = {}) {
    info report;
    purlin_matrix* made = nullptr;
    const purlin_status status =
        purlin_rpca_compute_csr(get(), queue.get(), m.get(), mask.get(), low_rank.get(), &made, &report);
    sparse = matrix(made);
    finish(m, mask, status);
    return report;
  }

  /// The same into sinks of [rows, columns], or [columns, rows] of a row-major `m`. Nothing need fit in memory.
  info compute_to_sinks(const matrix& m, const sink& low_rank, const sink& sparse, const matrix& mask = {},
                        const stream& queue = {}) {
    info report;
    const purlin_status status = purlin_rpca_compute_to_sinks(get(), queue.get(), m.get(), mask.get(), low_rank.get(),
                                                              sparse.get(), &report);
    if (progress_) progress_->rethrow();
    m.rethrow();
    mask.rethrow();
    low_rank.rethrow();
    sparse.rethrow();
    check(status);
    return report;
  }

  /// The report of the last run that met its tolerance or ran out of iterations. May be called from any thread.
  info last_info() const {
    info report;
    check(purlin_rpca_last_info(get(), &report));
    return report;
  }

  /// Makes the running call fail with `PURLIN_ERROR_CANCELLED`. May be called from any thread.
  void cancel() const { check(purlin_rpca_cancel(get())); }

 private:
  /// Rethrows the exception of a function behind the call, else throws the error of `status`.
  void finish(const matrix& m, const matrix& mask, purlin_status status) const {
    if (progress_) progress_->rethrow();
    m.rethrow();
    mask.rethrow();
    check(status);
  }

  std::unique_ptr<purlin::detail::progress_keeper> progress_;
  std::unique_ptr<purlin_rpca, purlin::detail::destroy<purlin_rpca, purlin_rpca_destroy>> handle_;
};

/// `session::compute` by a session for this run alone.
inline void compute_once(const context& on, const matrix& m, const matrix& low_rank, const matrix& sparse, info& report,
                         const options& settings = {}, const matrix& mask = {}, const stream& queue = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_rpca_options raw = relay.attach<purlin_rpca_options>(settings);
  const purlin_status status = purlin_rpca_compute_once(on.get(), queue.get(), m.get(), mask.get(), &raw,
                                                        low_rank.get(), sparse.get(), &report);
  relay.rethrow();
  m.rethrow();
  mask.rethrow();
  on.finish(status);
}

}  // namespace purlin::rpca

#endif
