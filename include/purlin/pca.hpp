/// @file pca.hpp
/// Principal components of dense, sparse and streamed data, centred without a copy.
#ifndef PURLIN_PCA_HPP
#define PURLIN_PCA_HPP

#include <cstdint>
#include <memory>
#include <vector>

#include "rsvd.hpp"

namespace purlin::pca {

/// The C options with their defaults: samples as rows, centred, neither scaled nor whitened.
struct options : purlin_pca_options {
  options() : purlin_pca_options{} { check(purlin_pca_options_init(this, sizeof(purlin_pca_options))); }
};

/// The result of a fit. It holds its components and means, and needs neither the data nor the session any more.
class model {
 public:
  model() noexcept = default;

  /// Fits `x` with the rank, method and seed of `run`. `scores`, if not empty, receives the result of `transform` on
  /// `x`.
  static model fit(rsvd::session& run, const matrix& x, const options& settings = {}, const matrix& scores = {},
                   const stream& queue = {}) {
    model result;
    purlin_rsvd_info info{};
    check(purlin_rsvd_info_init(&info, sizeof info));
    purlin_pca* made = nullptr;
    const purlin_status status =
        purlin_pca_fit(run.get(), queue.get(), x.get(), &settings, scores.get(), &made, &info);
    result.handle_.reset(made);
    result.run_ = info;
    run.finish(x, status);
    return result;
  }

  /// The plan of `fit` for `x`, with or without scores: method, passes, bytes, blocks, memory. No entry is read.
  static purlin_rsvd_info plan(const rsvd::session& run, const matrix& x, const options& settings = {},
                               bool with_scores = false) {
    purlin_rsvd_info info{};
    check(purlin_rsvd_info_init(&info, sizeof info));
    check(purlin_pca_plan(run.get(), x.get(), &settings, with_scores ? 1 : 0, &info));
    return info;
  }

  purlin_pca* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Report of the fit's run.
  const purlin_rsvd_info& run() const noexcept { return run_; }

  purlin_pca_info properties() const {
    purlin_pca_info info{};
    check(purlin_pca_info_init(&info, sizeof info));
    check(purlin_pca_properties(get(), &info));
    return info;
  }

  /// One number a component: sigma, sigma^2 / (count - 1), and the latter as a part of the total variance.
  std::vector<double> singular_values(const context& on) const {
    return numbers(on, properties().rank, purlin_pca_singular_values);
  }
  std::vector<double> explained_variance(const context& on) const {
    return numbers(on, properties().rank, purlin_pca_explained_variance);
  }
  std::vector<double> explained_variance_ratio(const context& on) const {
    return numbers(on, properties().rank, purlin_pca_explained_variance_ratio);
  }

  /// Divisor of each feature: 1 unless scaled.
  std::vector<double> scale(const context& on) const { return numbers(on, properties().features, purlin_pca_scale); }

  /// 1 for each feature that is constant and contributes nothing to scores, 0 for the others.
  std::vector<double> constant(const context& on) const { return numbers(on, properties().features, purlin_pca_constant); }

  /// The mean of each feature, into a tensor of the type of computing.
  void mean(tensor& out) const { check(purlin_pca_mean(get(), out.get())); }

  /// The components as orthonormal columns, features x rank.
  void components(matrix& out, const stream& queue = {}) const {
    check(purlin_pca_components(get(), queue.get(), out.get()));
  }

  /// Scores of more data, which lies as that of the fit did.
  void transform(const matrix& x, matrix& scores, const stream& queue = {}) {
    purlin_rsvd_info info{};
    check(purlin_rsvd_info_init(&info, sizeof info));
    const purlin_status status = purlin_pca_transform(get(), queue.get(), x.get(), scores.get(), &info);
    x.rethrow();
    check(status);
  }

  /// Samples from scores: the inverse of `transform` within the components' span.
  void inverse_transform(const matrix& scores, matrix& x, const stream& queue = {}) {
    check(purlin_pca_inverse_transform(get(), queue.get(), scores.get(), x.get()));
  }

 private:
  template <class Getter>
  std::vector<double> numbers(const context& on, std::int64_t count, Getter getter) const {
    std::vector<double> result(purlin::detail::size(count));
    const tensor out = tensor::borrow(on, result);
    check(getter(get(), out.get()));
    return result;
  }

  purlin_rsvd_info run_{};
  std::unique_ptr<purlin_pca, purlin::detail::destroy<purlin_pca, purlin_pca_destroy>> handle_;
};

}  // namespace purlin::pca

#endif
