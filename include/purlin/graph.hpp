/// @file graph.hpp
/// Graphs by their eigenvectors: coordinates, clusters, cuts; components, densities, graphs of images.
#ifndef PURLIN_GRAPH_HPP
#define PURLIN_GRAPH_HPP

#include <cstdint>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "lanczos.hpp"

namespace purlin::graph {

using lanczos::info;
using lanczos::options;
using lanczos::session;

namespace detail {

/// Passes a function of a number to one call, and rethrows its exception when the library has returned.
template <class F>
class function_relay {
 public:
  explicit function_relay(F& function) noexcept : function_(function) {}

  static double call(double x, void* user) noexcept {
    auto* self = static_cast<function_relay*>(user);
    try {
      return static_cast<double>(self->function_(x));
    } catch (...) {
      if (!self->caught_) self->caught_ = std::current_exception();
      return 0.0;
    }
  }

  void rethrow() const {
    if (caught_) std::rethrow_exception(caught_);
  }

 private:
  F& function_;
  std::exception_ptr caught_;
};

/// A tensor over `values` on the context of a session.
template <class T>
tensor borrow(const session& solver, std::vector<T>& values) {
  const std::int64_t count = purlin::detail::length(values);
  purlin_tensor* made = nullptr;
  const purlin_status status = purlin_tensor_borrow(solver.context_handle(), dtype_of<T>, 0, 1, &count, nullptr,
                                                    values.data(), &made);
  tensor owner(made);
  check(status);
  return owner;
}

}  // namespace detail

/// Eigenvectors of the `count` smallest eigenvalues of the normalized Laplacian as coordinates, n x count; the eigenvalues
/// into `values` unless that is empty. `report` is filled in also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`.
inline void embed(session& solver, const matrix& w, const matrix& coordinates, info& report,
                  std::int32_t scaling = PURLIN_GRAPH_SCALING_NONE, const tensor& values = {},
                  const stream& queue = {}) {
  solver.finish(w, purlin_graph_embed(solver.get(), queue.get(), w.get(), scaling, coordinates.get(), values.get(),
                                      &report));
}

/// The same with options of its own.
inline void embed(const context& on, const matrix& w, const matrix& coordinates, info& report,
                  const options& settings = {}, std::int32_t scaling = PURLIN_GRAPH_SCALING_NONE,
                  const tensor& values = {}, const stream& queue = {}) {
  session solver(on, settings);
  const purlin_status status = purlin_graph_embed(solver.get(), queue.get(), w.get(), scaling, coordinates.get(),
                                                  values.get(), &report);
  solver.finish(w, on, status);
}

namespace detail {

inline purlin_status cluster(session& solver, const matrix& w, std::vector<std::int64_t>& labels, info& report,
                             std::int32_t assignment, std::int64_t start_count, const stream& queue) {
  labels.assign(purlin::detail::size(w.properties().rows), -1);
  const tensor target = borrow(solver, labels);
  return purlin_graph_cluster(solver.get(), queue.get(), w.get(), assignment, start_count, target.get(), nullptr,
                              &report);
}

}  // namespace detail

/// Labels, 0 to `count` - 1, of the vertices into `labels`: also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`,
/// if the last iterate has as many pairs, else -1. `start_count` is the number of starts of k-means, and the best
/// result stays; pivoted QR does not use it.
inline void cluster(session& solver, const matrix& w, std::vector<std::int64_t>& labels, info& report,
                    std::int32_t assignment = PURLIN_GRAPH_LABELS_K_MEANS, std::int64_t start_count = 10,
                    const stream& queue = {}) {
  solver.finish(w, detail::cluster(solver, w, labels, report, assignment, start_count, queue));
}

/// The same with options of its own.
inline void cluster(const context& on, const matrix& w, std::vector<std::int64_t>& labels, info& report,
                    const options& settings, std::int32_t assignment = PURLIN_GRAPH_LABELS_K_MEANS,
                    std::int64_t start_count = 10, const stream& queue = {}) {
  session solver(on, settings);
  solver.finish(w, on, detail::cluster(solver, w, labels, report, assignment, start_count, queue));
}

/// Labels, 0 to `count` - 1, of the vertices.
inline std::vector<std::int64_t> cluster(session& solver, const matrix& w,
                                         std::int32_t assignment = PURLIN_GRAPH_LABELS_K_MEANS,
                                         std::int64_t start_count = 10, const stream& queue = {}) {
  std::vector<std::int64_t> labels;
  info report;
  cluster(solver, w, labels, report, assignment, start_count, queue);
  return labels;
}

/// The same with options of its own.
inline std::vector<std::int64_t> cluster(const context& on, const matrix& w, const options& settings,
                                         std::int32_t assignment = PURLIN_GRAPH_LABELS_K_MEANS,
                                         std::int64_t start_count = 10, const stream& queue = {}) {
  std::vector<std::int64_t> labels;
  info report;
  cluster(on, w, labels, report, settings, assignment, start_count, queue);
  return labels;
}

/// Labels of the rows of a dense matrix by k-means, the best of `start_count`.
inline std::vector<std::int64_t> k_means(const context& on, const matrix& points, std::int64_t clusters,
                                         std::int64_t start_count = 10, std::uint64_t seed = 0) {
  std::vector<std::int64_t> labels(purlin::detail::size(points.properties().rows));
  const tensor target = tensor::borrow(on, labels);
  on.finish(purlin_graph_k_means(points.get(), clusters, start_count, seed, target.get(), nullptr));
  return labels;
}

/// Labels of the rows of a matrix with orthonormal columns, by column-pivoted QR.
inline std::vector<std::int64_t> pivoted_qr(const context& on, const matrix& points) {
  std::vector<std::int64_t> labels(purlin::detail::size(points.properties().rows));
  const tensor target = tensor::borrow(on, labels);
  on.finish(purlin_graph_pivoted_qr(points.get(), target.get(), nullptr));
  return labels;
}

/// The second smallest eigenvalue of a Laplacian and its vector.
struct fiedler_pair {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> vector;
};

namespace detail {

inline purlin_status fiedler(session& solver, const matrix& w, fiedler_pair& found, info& report, bool normalized,
                             const stream& queue) {
  found.value = std::numeric_limits<double>::quiet_NaN();
  found.vector.assign(purlin::detail::size(w.properties().rows), found.value);
  const tensor target = borrow(solver, found.vector);
  return purlin_graph_fiedler(solver.get(), queue.get(), w.get(), normalized ? 1 : 0, &found.value, target.get(),
                              &report);
}

}  // namespace detail

/// Into `found`, by a session whose `count` is 1: also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`, then the last
/// iterate, or NaN if `report.count` is 0.
inline void fiedler(session& solver, const matrix& w, fiedler_pair& found, info& report, bool normalized = false,
                    const stream& queue = {}) {
  solver.finish(w, detail::fiedler(solver, w, found, report, normalized, queue));
}

/// The same with options of its own.
inline void fiedler(const context& on, const matrix& w, fiedler_pair& found, info& report, bool normalized = false,
                    const options& settings = {}, const stream& queue = {}) {
  session solver(on, settings);
  solver.finish(w, on, detail::fiedler(solver, w, found, report, normalized, queue));
}

/// The pair of a solve that converged, by a session whose `count` is 1.
inline fiedler_pair fiedler(session& solver, const matrix& w, bool normalized = false, const stream& queue = {}) {
  fiedler_pair found;
  info report;
  fiedler(solver, w, found, report, normalized, queue);
  return found;
}

/// The same with options of its own.
inline fiedler_pair fiedler(const context& on, const matrix& w, bool normalized = false, const options& settings = {},
                            const stream& queue = {}) {
  fiedler_pair found;
  info report;
  fiedler(on, w, found, report, normalized, settings, queue);
  return found;
}

/// Two sides of a graph, the weight between them, and cut/vol(S) + cut/vol(rest).
struct bisection {
  std::vector<std::int64_t> sides;
  double cut = 0.0;
  double normalized_cut = 0.0;
};

inline bisection bisect(const context& on, const matrix& w, const std::vector<double>& vector,
                        std::int32_t method = PURLIN_GRAPH_CUT_SWEEP) {
  bisection found{std::vector<std::int64_t>(purlin::detail::size(w.properties().rows)), 0.0, 0.0};
  const tensor given = tensor::borrow(on, vector);
  const tensor target = tensor::borrow(on, found.sides);
  on.finish(purlin_graph_bisect(w.get(), given.get(), method, target.get(), &found.cut, &found.normalized_cut));
  return found;
}

/// The connected component of each vertex, and their number.
inline std::pair<std::vector<std::int64_t>, std::int64_t> components(const context& on, const matrix& w) {
  std::vector<std::int64_t> labels(purlin::detail::size(w.properties().rows));
  const tensor target = tensor::borrow(on, labels);
  std::int64_t count = 0;
  on.finish(purlin_graph_components(w.get(), target.get(), &count));
  return {std::move(labels), count};
}

/// The graph of one component, -1 for the largest, and the vertices of the whole graph that it has.
inline std::pair<matrix, tensor> component(const context& on, const matrix& w, std::int64_t which = -1) {
  purlin_matrix* made = nullptr;
  purlin_tensor* names = nullptr;
  const purlin_status status = purlin_graph_component(w.get(), which, &made, &names);
  tensor vertices(names);
  matrix part = purlin::detail::adopt<matrix>(on, status, made);
  return {std::move(part), std::move(vertices)};
}

/// Points and weights of a spectrum's density; the weights sum to 1.
struct spectrum {
  std::vector<double> points;
  std::vector<double> weights;

  /// trace(f(A)) of an operator of order `n`.
  template <class F>
  double trace(std::int64_t n, F f) const {
    detail::function_relay<F> relay(f);
    double found = 0.0;
    const purlin_status status =
        purlin_graph_density_trace(purlin::detail::length(points), points.data(), weights.data(), n,
                                   &detail::function_relay<F>::call, &relay, &found);
    relay.rethrow();
    check(status);
    return found;
  }

  /// Shares of the spectrum in equal parts of an interval; values outside count in the first and the last.
  std::vector<double> histogram(double from, double to, std::int64_t bins) const {
    std::vector<double> shares(bins > 0 ? purlin::detail::size(bins) : 1);
    check(purlin_graph_density_histogram(purlin::detail::length(points), points.data(), weights.data(), from, to, bins,
                                         shares.data()));
    return shares;
  }
};

namespace detail {

inline purlin_status density(session& solver, const matrix& a, std::int64_t steps, std::int64_t vector_count,
                             spectrum& found, const stream& queue) {
  found.points.assign(purlin::detail::size(steps, vector_count), 0.0);
  found.weights.assign(found.points.size(), 0.0);
  const tensor points = borrow(solver, found.points);
  const tensor weights = borrow(solver, found.weights);
  std::int64_t count = 0;
  const purlin_status status = purlin_graph_density(solver.get(), queue.get(), a.get(), steps, vector_count,
                                                    points.get(), weights.get(), &count);
  found.points.resize(purlin::detail::size(count));
  found.weights.resize(purlin::detail::size(count));
  return status;
}

}  // namespace detail

/// The density of the spectrum of the operator that the options make of `a`, by `vector_count` random vectors, `steps`
/// points each.
inline spectrum density(session& solver, const matrix& a, std::int64_t steps = 50, std::int64_t vector_count = 10,
                        const stream& queue = {}) {
  spectrum found;
  solver.finish(a, detail::density(solver, a, steps, vector_count, found, queue));
  return found;
}

/// The same with options of its own.
inline spectrum density(const context& on, const matrix& a, std::int64_t steps = 50, std::int64_t vector_count = 10,
                        const options& settings = {}, const stream& queue = {}) {
  spectrum found;
  session solver(on, settings);
  solver.finish(a, on, detail::density(solver, a, steps, vector_count, found, queue));
  return found;
}

/// The graph of neighbouring pixels of a dense image; see purlin_graph_of_image.
inline matrix of_image(const context& on, const matrix& image, double radius, double intensity, double distance,
                       double floor = 0.0) {
  purlin_matrix* made = nullptr;
  const purlin_status status =
      purlin_graph_of_image(on.get(), image.get(), radius, intensity, distance, floor, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// The same graph as an operator that is never formed; see purlin_graph_operator_of_image.
inline matrix operator_of_image(const context& on, const matrix& image, double radius, double intensity,
                                double distance, double floor = 0.0) {
  purlin_matrix* made = nullptr;
  const purlin_status status =
      purlin_graph_operator_of_image(on.get(), image.get(), radius, intensity, distance, floor, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

}  // namespace purlin::graph

#endif
