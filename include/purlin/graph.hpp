/// @file graph.hpp
/// What eigenvectors say about a graph: coordinates, clusters, cuts; components, densities, graphs of images.
#ifndef PURLIN_GRAPH_HPP
#define PURLIN_GRAPH_HPP

#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "lanczos.hpp"

namespace purlin::graph {

using lanczos::info;
using lanczos::options;
using lanczos::session;

namespace detail {

/// Lends a function of a number to one call; what it throws goes on when the library has returned.
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

}  // namespace detail

/// Eigenvectors of the `count` smallest eigenvalues of the normalized Laplacian as coordinates, n x count; the eigenvalues
/// into `values` unless that is empty.
inline info embed(session& solver, const matrix& w, const matrix& coordinates,
                  std::int32_t scaling = PURLIN_GRAPH_SCALING_NONE, const tensor& values = {},
                  const stream& queue = {}) {
  info report;
  solver.finish(w, purlin_graph_embed(solver.get(), queue.get(), w.get(), scaling, coordinates.get(), values.get(),
                                      &report));
  return report;
}

/// The same with options of its own; `report` is filled in also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`.
inline void embed(const context& on, const matrix& w, const matrix& coordinates, info& report,
                  const options& settings = {}, std::int32_t scaling = PURLIN_GRAPH_SCALING_NONE,
                  const tensor& values = {}, const stream& queue = {}) {
  session solver(on, settings);
  const purlin_status status = purlin_graph_embed(solver.get(), queue.get(), w.get(), scaling, coordinates.get(),
                                                  values.get(), &report);
  solver.finish(w, on, status);
}

/// Labels, 0 to `count` - 1, of the vertices. `starts` are those of k-means, of which the best stays; pivoted QR does not use
/// them.
inline std::vector<std::int64_t> cluster(session& solver, const context& on, const matrix& w,
                                         std::int32_t how = PURLIN_GRAPH_LABELS_K_MEANS, std::int64_t starts = 10,
                                         const stream& queue = {}) {
  std::vector<std::int64_t> labels(purlin::detail::size(w.properties().rows), 0);
  const tensor target = tensor::borrow(on, labels);
  solver.finish(w, purlin_graph_cluster(solver.get(), queue.get(), w.get(), how, starts, target.get(), nullptr,
                                        nullptr));
  return labels;
}

/// Labels into `labels`, with options of its own: also where the call throws `PURLIN_ERROR_NO_CONVERGENCE`, if the last iterate
/// has as many pairs.
inline void cluster(const context& on, const matrix& w, std::vector<std::int64_t>& labels, info& report,
                    const options& settings, std::int32_t how = PURLIN_GRAPH_LABELS_K_MEANS, std::int64_t starts = 10,
                    const stream& queue = {}) {
  labels.assign(purlin::detail::size(w.properties().rows), 0);
  const tensor target = tensor::borrow(on, labels);
  session solver(on, settings);
  const purlin_status status = purlin_graph_cluster(solver.get(), queue.get(), w.get(), how, starts, target.get(),
                                                    nullptr, &report);
  solver.finish(w, on, status);
}

/// Labels, 0 to `count` - 1, of the vertices.
inline std::vector<std::int64_t> cluster(const context& on, const matrix& w, const options& settings,
                                         std::int32_t how = PURLIN_GRAPH_LABELS_K_MEANS, std::int64_t starts = 10,
                                         const stream& queue = {}) {
  std::vector<std::int64_t> labels;
  info report;
  cluster(on, w, labels, report, settings, how, starts, queue);
  return labels;
}

/// Labels of the rows of a dense matrix by k-means, the best of `starts`.
inline std::vector<std::int64_t> k_means(const context& on, const matrix& points, std::int64_t clusters,
                                         std::int64_t starts = 10, std::uint64_t seed = 0) {
  std::vector<std::int64_t> labels(purlin::detail::size(points.properties().rows));
  const tensor target = tensor::borrow(on, labels);
  on.finish(purlin_graph_k_means(points.get(), clusters, starts, seed, target.get(), nullptr));
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
  double value = 0.0;
  std::vector<double> vector;
};

/// By a solver whose `count` is 1.
inline fiedler_pair fiedler(session& solver, const context& on, const matrix& w, bool normalized = false,
                            const stream& queue = {}) {
  fiedler_pair found;
  found.vector.assign(purlin::detail::size(w.properties().rows), 0.0);
  const tensor target = tensor::borrow(on, found.vector);
  solver.finish(w, purlin_graph_fiedler(solver.get(), queue.get(), w.get(), normalized ? 1 : 0, &found.value,
                                        target.get(), nullptr));
  return found;
}

/// Into `found`, also where the call throws `PURLIN_ERROR_NO_CONVERGENCE` and `report.count` is 1: then the last iterate.
inline void fiedler(const context& on, const matrix& w, fiedler_pair& found, info& report, bool normalized = false,
                    const options& settings = {}, const stream& queue = {}) {
  found.vector.assign(purlin::detail::size(w.properties().rows), 0.0);
  const tensor target = tensor::borrow(on, found.vector);
  session solver(on, settings);
  const purlin_status status = purlin_graph_fiedler(solver.get(), queue.get(), w.get(), normalized ? 1 : 0,
                                                    &found.value, target.get(), &report);
  solver.finish(w, on, status);
}

/// The pair of a solve that converged.
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
                        std::int32_t how = PURLIN_GRAPH_CUT_SWEEP) {
  bisection found{std::vector<std::int64_t>(purlin::detail::size(w.properties().rows)), 0.0, 0.0};
  const tensor given = tensor::borrow(on, vector);
  const tensor target = tensor::borrow(on, found.sides);
  on.finish(purlin_graph_bisect(w.get(), given.get(), how, target.get(), &found.cut, &found.normalized_cut));
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

  /// Shares of the spectrum in equal parts of an interval; what lies outside is in the first and the last.
  std::vector<double> histogram(double from, double to, std::int64_t bins) const {
    std::vector<double> shares(bins > 0 ? purlin::detail::size(bins) : 1);
    check(purlin_graph_density_histogram(purlin::detail::length(points), points.data(), weights.data(), from, to, bins,
                                         shares.data()));
    return shares;
  }
};

inline spectrum density(const context& on, const matrix& a, std::int64_t steps = 50, std::int64_t vectors = 10,
                        const options& settings = {}, const stream& queue = {}) {
  const std::size_t room = purlin::detail::size(steps, vectors);
  spectrum found{std::vector<double>(room), std::vector<double>(room)};
  const tensor points = tensor::borrow(on, found.points);
  const tensor weights = tensor::borrow(on, found.weights);
  std::int64_t count = 0;
  session solver(on, settings);
  const purlin_status status = purlin_graph_density(solver.get(), queue.get(), a.get(), steps, vectors, points.get(),
                                                    weights.get(), &count);
  solver.finish(a, on, status);
  found.points.resize(purlin::detail::size(count));
  found.weights.resize(purlin::detail::size(count));
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
