/// @file sshopm.hpp
/// Real eigenpairs of symmetric tensors: A x^(m-1) = lambda x with |x| = 1.
///
/// Every call comes twice: on tensors, as in C, for results that stay on a device or in memory of the caller; and on
/// views, returning vectors. Arrays are column-major: the component of a vector runs fastest, the tensor slowest.
#ifndef PURLIN_SSHOPM_HPP
#define PURLIN_SSHOPM_HPP

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "symmetric.hpp"
#include "tensor.hpp"

namespace purlin::sshopm {

/// The C options with their defaults, and progress as a `std::function`, which takes the place of the C callback.
struct options : purlin_sshopm_options {
  purlin::progress on_progress;

  options() : purlin_sshopm_options{} { check(purlin_sshopm_options_init(this, sizeof(purlin_sshopm_options))); }
};

/// The C results with every member NULL: set those that are wanted to `tensor::get()`.
struct results : purlin_sshopm_results {
  results() : purlin_sshopm_results{} { check(purlin_sshopm_results_init(this, sizeof(purlin_sshopm_results))); }
};

namespace detail {

inline purlin_sshopm_info fresh_info() {
  purlin_sshopm_info info{};
  check(purlin_sshopm_info_init(&info, sizeof info));
  return info;
}

}  // namespace detail

/// Options on a context, for batches of any shape; `solve` and `solve_all` without a session make one for one call. Several
/// threads may use one without a progress function at a time.
class session {
 public:
  session() noexcept = default;

  session(const context& on, const options& settings) {
    purlin_sshopm_options raw = settings;
    if (settings.on_progress) {
      progress_ = std::make_unique<purlin::detail::progress_keeper>(settings.on_progress);
      raw.progress = &purlin::detail::progress_keeper::call;
      raw.progress_user = progress_.get();
    }
    purlin_sshopm* made = nullptr;
    const purlin_status status = purlin_sshopm_create(on.get(), &raw, &made);
    handle_.reset(made);
    on.finish(status);
  }

  purlin_sshopm* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The plan of `solve`: starts, chunks, tolerance, host memory beside the results, and where it runs.
  purlin_sshopm_info plan(const tensor& tensors) const {
    purlin_sshopm_info info = detail::fresh_info();
    check(purlin_sshopm_plan(get(), tensors.get(), &info));
    return info;
  }

  /// Local maxima and minima. `starts` is [n, V], or empty for those of the options.
  purlin_sshopm_info solve(const tensor& tensors, const tensor& starts, const results& results,
                           const stream& queue = {}) {
    purlin_sshopm_info info = detail::fresh_info();
    return finished(purlin_sshopm_solve(get(), queue.get(), tensors.get(), starts.get(), &results, &info), info);
  }

  /// All real eigenpairs. The Morse sums are I32 [T] or empty.
  purlin_sshopm_info solve_all(const tensor& tensors, const results& results, const tensor& morse_sum = {},
                               const tensor& morse_expected = {}, const stream& queue = {}) {
    purlin_sshopm_info info = detail::fresh_info();
    return finished(purlin_sshopm_solve_all(get(), queue.get(), tensors.get(), &results, morse_sum.get(),
                                            morse_expected.get(), &info),
                    info);
  }

  /// The report of the last call that succeeded.
  purlin_sshopm_info last_info() const {
    purlin_sshopm_info info = detail::fresh_info();
    check(purlin_sshopm_last_info(get(), &info));
    return info;
  }

  /// Makes the running call throw `PURLIN_ERROR_CANCELLED`. May be called from any thread.
  void cancel() const { check(purlin_sshopm_cancel(get())); }

 private:
  purlin_sshopm_info finished(purlin_status status, const purlin_sshopm_info& info) {
    if (progress_) progress_->rethrow();
    check(status);
    return info;
  }

  std::unique_ptr<purlin::detail::progress_keeper> progress_;
  std::unique_ptr<purlin_sshopm, purlin::detail::destroy<purlin_sshopm, purlin_sshopm_destroy>> handle_;
};

/// Eigenpairs by SS-HOPM from many starts. `starts` is [n, V], or empty for the starts that the options name.
inline purlin_sshopm_info solve(const context& on, const tensor& tensors, const tensor& starts,
                                const options& options, const results& results, const stream& queue = {}) {
  purlin_sshopm_info info = detail::fresh_info();
  purlin::detail::progress_relay relay(options.on_progress);
  const purlin_sshopm_options raw = relay.attach<purlin_sshopm_options>(options);
  const purlin_status status =
      purlin_sshopm_solve_once(on.get(), queue.get(), tensors.get(), starts.get(), &raw, &results, &info);
  relay.rethrow();
  on.finish(status);
  return info;
}

/// All real eigenpairs. The Morse sums are I32 [T] or empty.
inline purlin_sshopm_info solve_all(const context& on, const tensor& tensors, const options& options,
                                    const results& results, const tensor& morse_sum = {},
                                    const tensor& morse_expected = {}, const stream& queue = {}) {
  purlin_sshopm_info info = detail::fresh_info();
  purlin::detail::progress_relay relay(options.on_progress);
  const purlin_sshopm_options raw = relay.attach<purlin_sshopm_options>(options);
  const purlin_status status = purlin_sshopm_solve_all_once(on.get(), queue.get(), tensors.get(), &raw, &results,
                                                            morse_sum.get(), morse_expected.get(), &info);
  relay.rethrow();
  on.finish(status);
  return info;
}

/// A x^power for power = m, m-1, m-2; `vectors` is [n, V] or [n, V, T], the products [V, T] with n or n, n before.
inline void product(const context& on, const tensor& tensors, const tensor& vectors, std::int64_t power,
                    tensor& products, const stream& queue = {}) {
  on.finish(purlin_sshopm_product(on.get(), queue.get(), tensors.get(), vectors.get(), power, products.get()));
}

/// Fills `starts`, [n, V], with start vectors; `kind` is `PURLIN_STARTS_*`, not AUTO.
inline void starts(const context& on, std::int32_t kind, std::uint64_t seed, tensor& starts,
                   const stream& queue = {}) {
  on.finish(purlin_sshopm_starts(on.get(), queue.get(), kind, seed, starts.get()));
}

/// Residual, eigenvalues of the projected Hessian and class of given pairs; outputs that are empty are left out.
inline void classify(const context& on, const tensor& tensors, const tensor& values, const tensor& vectors,
                     double degeneracy_tolerance, const tensor& residuals, const tensor& hessian,
                     const tensor& classes, const stream& queue = {}) {
  on.finish(purlin_sshopm_classify(on.get(), queue.get(), tensors.get(), values.get(), vectors.get(),
                                   degeneracy_tolerance, residuals.get(), hessian.get(), classes.get()));
}

/// Pairs of a batch. Tensor t has `count[t]` of them; the rest of its row is NaN, PURLIN_PAIR_NONE in `classes`, 0 in
/// `basins`.
template <class T>
struct pairs {
  std::int64_t dimension = 0;
  std::int64_t kept = 0;     ///< K, the rows' length
  std::int64_t tensors = 0;  ///< T
  std::vector<std::int32_t> count;    ///< [T], pairs listed
  std::vector<std::int32_t> found;    ///< [T], pairs found: more than `count` where K is too small for all of them
  std::vector<std::int32_t> status;   ///< [T], `PURLIN_TENSOR_*`
  std::vector<T> values;              ///< [K, T]
  std::vector<T> vectors;             ///< [n, K, T]
  std::vector<T> residuals;           ///< [K, T]
  std::vector<T> hessian;             ///< [n-1, K, T], ascending
  std::vector<std::int32_t> classes;  ///< [K, T], `PURLIN_PAIR_*`
  std::vector<std::int32_t> basins;   ///< [K, T], starts that ended in the pair
  purlin_sshopm_info info{};

  /// Whether tensor `of` has more pairs than were listed.
  bool truncated(std::int64_t of = 0) const {
    const std::size_t t = purlin::detail::size(of);
    return found.at(t) > count.at(t);
  }
  T value(std::int64_t pair, std::int64_t of = 0) const { return values.at(index(pair, of)); }
  const T* vector(std::int64_t pair, std::int64_t of = 0) const {
    return vectors.data() + purlin::detail::size(dimension) * checked(pair, of);
  }
  T residual(std::int64_t pair, std::int64_t of = 0) const { return residuals.at(index(pair, of)); }
  std::int32_t pair_class(std::int64_t pair, std::int64_t of = 0) const { return classes.at(index(pair, of)); }

 private:
  std::size_t index(std::int64_t pair, std::int64_t of) const {
    return purlin::detail::size(purlin::detail::multiply_add(of, kept, pair));
  }
  std::size_t checked(std::int64_t pair, std::int64_t of) const {
    static_cast<void>(values.at(index(pair, of)));
    return index(pair, of);
  }
};

/// `pairs` of `solve_all`, with the sum of (-1)^k over them and the sum that a complete set has (INT32_MIN = no
/// information, as with a degenerate pair).
template <class T>
struct all_pairs : pairs<T> {
  std::vector<std::int32_t> morse_sum;       ///< [T]
  std::vector<std::int32_t> morse_expected;  ///< [T]
};

/// Where every single start ended.
template <class T>
struct runs {
  std::int64_t dimension = 0;
  std::int64_t starts = 0;   ///< V
  std::int64_t tensors = 0;  ///< T
  std::vector<T> values;                 ///< [V, T]
  std::vector<T> vectors;                ///< [n, V, T]
  std::vector<T> residuals;              ///< [V, T]
  std::vector<T> shifts;                 ///< [V, T], the last one used
  std::vector<std::int32_t> iterations;  ///< [V, T]
  std::vector<std::int32_t> status;      ///< [V, T], `PURLIN_START_*`
  std::vector<std::int32_t> violations;  ///< [V, T], steps against the monotone direction
  purlin_sshopm_info info{};
};

namespace detail {

/// Sizes the vectors of `p` and gives the results struct that points at them.
template <class T>
results attach(purlin::detail::outputs& out, pairs<T>& p, const symmetric_view<T>& of, std::int64_t kept) {
  p.dimension = of.dimension;
  p.kept = kept;
  p.tensors = of.count;
  const extents rows{kept, of.count};
  results r;
  r.count = out.add(p.count, {of.count});
  r.found = out.add(p.found, {of.count});
  r.status = out.add(p.status, {of.count});
  r.values = out.add(p.values, rows);
  r.vectors = out.add(p.vectors, {of.dimension, kept, of.count});
  r.residuals = out.add(p.residuals, rows);
  r.classes = out.add(p.classes, rows);
  r.basins = out.add(p.basins, rows);
  if (of.dimension > 1) r.hessian = out.add(p.hessian, {of.dimension - 1, kept, of.count});
  return r;
}

/// The starts of the caller as a tensor, or none.
template <class T>
tensor borrow_starts(const context& on, const const_matrix_view<T>& starts) {
  if (starts.data == nullptr) return {};
  return tensor::borrow(on, starts.data, {starts.rows, starts.cols}, {1, starts.ld != 0 ? starts.ld : starts.rows});
}

}  // namespace detail

/// The `kept` best pairs of every tensor.
template <class T>
pairs<T> solve(const context& on, const symmetric_view<T>& tensors, std::int64_t kept, const options& options = {},
               const const_matrix_view<T>& starts = {}, const stream& queue = {}) {
  pairs<T> found;
  purlin::detail::outputs out(on);
  const results r = detail::attach(out, found, tensors, kept);
  found.info =
      solve(on, tensor::borrow(on, tensors), detail::borrow_starts(on, starts), options, r, queue);
  return found;
}

/// Where each column of `starts` ended, for every tensor; goal BOTH, with which a start has two ends, is refused.
template <class T>
runs<T> solve_each(const context& on, const symmetric_view<T>& tensors, const const_matrix_view<T>& starts,
                   const options& options = {}, const stream& queue = {}) {
  runs<T> ended;
  ended.dimension = tensors.dimension;
  ended.starts = starts.cols;
  ended.tensors = tensors.count;
  const extents rows{ended.starts, tensors.count};
  purlin::detail::outputs out(on);
  results r;
  r.start_values = out.add(ended.values, rows);
  r.start_vectors = out.add(ended.vectors, {tensors.dimension, ended.starts, tensors.count});
  r.start_residuals = out.add(ended.residuals, rows);
  r.start_shifts = out.add(ended.shifts, rows);
  r.start_iterations = out.add(ended.iterations, rows);
  r.start_status = out.add(ended.status, rows);
  r.start_violations = out.add(ended.violations, rows);
  ended.info =
      solve(on, tensor::borrow(on, tensors), detail::borrow_starts(on, starts), options, r, queue);
  return ended;
}

namespace detail {

/// Pairs of a generic tensor, complex ones included, ((m-1)^n - 1)/(m-2) or n for m = 2, at most 512.
inline std::int64_t generic_pairs(std::int64_t order, std::int64_t dimension) {
  constexpr std::int64_t most = 512;
  if (order == 2) return std::min(dimension, most);
  std::int64_t sum = 0, power = 1;  // 1 + (m-1) + .. + (m-1)^(n-1)
  for (std::int64_t i = 0; i < dimension && sum < most; ++i, power = std::min(power * (order - 1), most)) sum += power;
  return std::min(sum, most);
}

}  // namespace detail

/// All real pairs, at most `kept` of every tensor. By default all are listed: memory for the pairs of a generic tensor, at
/// most 512, and a second search where that was too little.
template <class T>
all_pairs<T> solve_all(const context& on, const symmetric_view<T>& tensors, std::int64_t kept = 0,
                       const options& options = {}, const stream& queue = {}) {
  if (kept == 0) {
    all_pairs<T> every =
        solve_all(on, tensors, detail::generic_pairs(tensors.order, tensors.dimension), options, queue);
    if (every.info.truncated_tensors == 0) return every;
    const std::int32_t most = *std::max_element(every.found.begin(), every.found.end());
    return solve_all(on, tensors, static_cast<std::int64_t>(most), options, queue);
  }
  all_pairs<T> found;
  purlin::detail::outputs out(on);
  const results r = detail::attach(out, static_cast<pairs<T>&>(found), tensors, kept);
  found.morse_sum.assign(purlin::detail::size(tensors.count), 0);
  found.morse_expected.assign(purlin::detail::size(tensors.count), 0);
  found.info = solve_all(on, tensor::borrow(on, tensors), options, r, tensor::borrow(on, found.morse_sum),
                         tensor::borrow(on, found.morse_expected), queue);
  return found;
}

/// A x^power of every tensor at every column of `vectors`: [V, T], [n, V, T] or [n, n, V, T].
template <class T>
std::vector<T> product(const context& on, const symmetric_view<T>& tensors, const const_matrix_view<T>& vectors,
                       std::int64_t power, const stream& queue = {}) {
  std::vector<std::int64_t> dims{vectors.cols, tensors.count};
  for (std::int64_t free = power; free < tensors.order; ++free) dims.insert(dims.begin(), tensors.dimension);
  std::vector<T> values;
  purlin::detail::outputs out(on);
  purlin_tensor* handle = out.add(values, dims);
  on.finish(purlin_sshopm_product(on.get(), queue.get(), tensor::borrow(on, tensors).get(),
                                  detail::borrow_starts(on, vectors).get(), power, handle));
  return values;
}

/// `count` start vectors, [dimension, count].
template <class T>
std::vector<T> starts(const context& on, std::int32_t kind, std::int64_t dimension, std::int64_t count,
                      std::uint64_t seed = 0, const stream& queue = {}) {
  std::vector<T> vectors;
  purlin::detail::outputs out(on);
  purlin_tensor* handle = out.add(vectors, {dimension, count});
  on.finish(purlin_sshopm_starts(on.get(), queue.get(), kind, seed, handle));
  return vectors;
}

/// The result of `classify` for given pairs.
template <class T>
struct classification {
  std::vector<T> residuals;           ///< [V, T]
  std::vector<T> hessian;             ///< [n-1, V, T], ascending
  std::vector<std::int32_t> classes;  ///< [V, T], `PURLIN_PAIR_*`
};

/// Residuals and classes of the pairs (`values` [V, T], `vectors` [n, V, T]); `degeneracy_tolerance` 0 = the default.
template <class T, class Values, class Vectors>
classification<T> classify(const context& on, const symmetric_view<T>& tensors, const Values& values,
                           const Vectors& vectors, double degeneracy_tolerance = 0.0, const stream& queue = {}) {
  const std::int64_t pairs = tensors.count > 0 ? purlin::detail::length(values) / tensors.count : 0;
  const extents rows{pairs, tensors.count};
  classification<T> result;
  purlin::detail::outputs out(on);
  purlin_tensor* residuals = out.add(result.residuals, rows);
  purlin_tensor* classes = out.add(result.classes, rows);
  purlin_tensor* hessian = nullptr;
  if (tensors.dimension > 1) hessian = out.add(result.hessian, {tensors.dimension - 1, pairs, tensors.count});
  on.finish(purlin_sshopm_classify(on.get(), queue.get(), tensor::borrow(on, tensors).get(),
                                   tensor::borrow(on, values, rows).get(),
                                   tensor::borrow(on, vectors, {tensors.dimension, pairs, tensors.count}).get(),
                                   degeneracy_tolerance, residuals, hessian, classes));
  return result;
}

}  // namespace purlin::sshopm

#endif
