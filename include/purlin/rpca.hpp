/// @file rpca.hpp
/// Robust PCA: a matrix as the sum of one of low rank and a sparse one, by the inexact augmented Lagrangian method.
#ifndef PURLIN_RPCA_HPP
#define PURLIN_RPCA_HPP

#include <cstdint>
#include <vector>

#include "blocks.hpp"
#include "matrix.hpp"

namespace purlin::rpca {

/// The C options with their defaults, and progress as a `std::function`, called with the iteration, the most there may be,
/// and the residual.
struct options : purlin_rpca_options {
  purlin::progress on_progress;

  options() : purlin_rpca_options{} { check(purlin_rpca_options_init(this, sizeof(purlin_rpca_options))); }

  /// One more GPU of the kind of the call's context: the longer axis of the matrix is shared out over all. It has to live
  /// until the call is over.
  void add_context(const context& another) { further.push_back(another.get()); }

  std::vector<const purlin_context*> further;
};

namespace detail {

/// The C options of a call.
inline purlin_rpca_options raw(const options& settings, purlin::detail::progress_relay& relay) {
  purlin_rpca_options all = relay.attach<purlin_rpca_options>(settings);
  if (!settings.further.empty()) {
    all.contexts = settings.further.data();
    all.contexts_count = static_cast<std::int64_t>(settings.further.size());
  }
  return all;
}

}  // namespace detail

/// A run's report, initialised. It is filled in also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`; the outputs then
/// hold the last iterate.
struct info : purlin_rpca_info {
  info() : purlin_rpca_info{} { check(purlin_rpca_info_init(this, sizeof(purlin_rpca_info))); }
};

/// What is known of `compute` before it runs: bytes and blocks. Nothing is read, and what is accepted runs inside the limits
/// of the contexts.
inline info plan(const context& on, const matrix& m, const options& settings = {}, const matrix& mask = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_rpca_options raw = detail::raw(settings, relay);
  info known;
  on.finish(purlin_rpca_plan(on.get(), m.get(), mask.get(), &raw, &known));
  return known;
}

/// M ~ L + S into `low_rank` and `sparse`, both dense and like M; an empty one is not wanted. `mask`, U8 and like M, is 0
/// where an entry was not observed.
inline void compute(const context& on, const matrix& m, const matrix& low_rank, const matrix& sparse, info& report,
                    const options& settings = {}, const matrix& mask = {}, const stream& queue = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_rpca_options raw = detail::raw(settings, relay);
  const purlin_status status = purlin_rpca_compute(on.get(), queue.get(), m.get(), mask.get(), &raw, low_rank.get(),
                                                   sparse.get(), &report);
  relay.rethrow();
  m.rethrow();
  mask.rethrow();
  on.finish(status);
}

/// The same with S in compressed sparse rows: entries of modulus over `settings.threshold`.
inline matrix compute_csr(const context& on, const matrix& m, const matrix& low_rank, info& report,
                          const options& settings = {}, const matrix& mask = {}, const stream& queue = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_rpca_options raw = detail::raw(settings, relay);
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_rpca_compute_csr(on.get(), queue.get(), m.get(), mask.get(), &raw,
                                                       low_rank.get(), &made, &report);
  matrix sparse(made);
  relay.rethrow();
  m.rethrow();
  mask.rethrow();
  on.finish(status);
  return sparse;
}

/// The same into sinks of [rows, columns], or [columns, rows] of a row-major `m`; an empty one is not wanted. Nothing need
/// fit in memory.
inline void stream(const context& on, const matrix& m, const sink& low_rank, const sink& sparse, info& report,
                   const options& settings = {}, const matrix& mask = {}, const purlin::stream& queue = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_rpca_options raw = detail::raw(settings, relay);
  const purlin_status status = purlin_rpca_stream(on.get(), queue.get(), m.get(), mask.get(), &raw, low_rank.get(),
                                                  sparse.get(), &report);
  relay.rethrow();
  m.rethrow();
  mask.rethrow();
  low_rank.rethrow();
  sparse.rethrow();
  on.finish(status);
}

}  // namespace purlin::rpca

#endif
