/// @file tt_contraction.hpp
/// Contractions of tensor trains: inner products, norms, expectation values, environments for sweeps.
#ifndef PURLIN_TT_CONTRACTION_HPP
#define PURLIN_TT_CONTRACTION_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tt.hpp"

namespace purlin::tt {

/// A number with an exponent of its own: (re + i im) 2^exponent, its logarithm and its phase.
using scaled = purlin_tt_scaled;

/// Many of them: each number is its mantissa times two to its exponent.
struct scaled_list {
  std::vector<std::complex<double>> mantissas;
  std::vector<std::int64_t> exponents;

  explicit scaled_list(std::size_t count) : mantissas(count), exponents(count) {}
};

/// The C options with their defaults; progress as a `std::function`.
struct contraction_options : purlin_tt_contraction_options {
  purlin::progress on_progress;

  contraction_options() : purlin_tt_contraction_options{} {
    check(purlin_tt_contraction_options_init(this, sizeof(purlin_tt_contraction_options)));
  }
};

/// <x|H|x> / <x|x>, and both numbers.
struct rayleigh_quotient {
  std::complex<double> value;
  scaled numerator;
  scaled denominator;
};

/// Options on a context, for trains of any shape. Plain results are complex; their imaginary part is 0 for real trains. A
/// plain result beyond its type's range throws `PURLIN_ERROR_NUMERICAL`; scaled ones have no range.
class contraction {
 public:
  contraction() noexcept = default;

  explicit contraction(const context& on, const contraction_options& settings = {}) {
    purlin_tt_contraction_options raw = settings;
    if (settings.on_progress) {
      progress_ = std::make_unique<purlin::detail::progress_keeper>(settings.on_progress);
      raw.progress = &purlin::detail::progress_keeper::call;
      raw.progress_user = progress_.get();
    }
    purlin_tt_contraction* made = nullptr;
    const purlin_status status = purlin_tt_contraction_create(on.get(), &raw, &made);
    handle_.reset(made);
    on.finish(status);
  }

  purlin_tt_contraction* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The plan of `inner`: method, kernel, operations, bytes, workspace.
  purlin_tt_contraction_info plan_inner(const train& x, const train& y) {
    return foresee(purlin_tt_plan_inner, x.get(), y.get());
  }

  /// The plan of `norm`, by the method that the options ask for.
  purlin_tt_contraction_info plan_norm(const train& x) { return foresee(purlin_tt_plan_norm, x.get()); }

  /// The plan of `distance`: method and cost. Nothing is computed.
  purlin_tt_contraction_info plan_distance(const train& x, const train& y) {
    return foresee(purlin_tt_plan_distance, x.get(), y.get());
  }

  /// The plan of `inner_batch`: method and kernel of the first pair, the rest of all together.
  purlin_tt_contraction_info plan_batch(const std::vector<const train*>& x, const std::vector<const train*>& y) {
    if (x.size() != y.size()) purlin::detail::refuse("y: is not as long as x");
    const std::vector<const purlin_tt*> bras = handles(x), kets = handles(y);
    return foresee(purlin_tt_plan_batch, static_cast<std::int64_t>(x.size()), bras.data(), kets.data());
  }

  /// The plan of `gram`, likewise; of x with itself where `y` is empty.
  purlin_tt_contraction_info plan_gram(const std::vector<const train*>& x, const std::vector<const train*>& y = {}) {
    const auto rows = static_cast<std::int64_t>(x.size());
    const auto cols = y.empty() ? rows : static_cast<std::int64_t>(y.size());
    const std::vector<const purlin_tt*> bras = handles(x), kets = handles(y);
    return foresee(purlin_tt_plan_gram, rows, bras.data(), cols, y.empty() ? nullptr : kets.data());
  }

  /// The plan of `sandwich`: method and cost. Nothing is computed.
  purlin_tt_contraction_info plan_sandwich(const train& y, const train_matrix& h, const train& x) {
    return foresee(purlin_tt_plan_sandwich, y.get(), h.get(), x.get());
  }

  /// The plan of `rayleigh`: method and cost. Nothing is computed.
  purlin_tt_contraction_info plan_rayleigh(const train_matrix& h, const train& x) {
    return foresee(purlin_tt_plan_rayleigh, h.get(), x.get());
  }

  /// <x|y>, x conjugated unless the options say `PURLIN_TT_CONJ_NONE`.
  std::complex<double> inner(const train& x, const train& y, const stream& queue = {}) {
    double parts[2] = {0.0, 0.0};
    finish(purlin_tt_inner(get(), queue.get(), x.get(), y.get(), parts, nullptr));
    return {parts[0], parts[1]};
  }

  scaled inner_scaled(const train& x, const train& y, const stream& queue = {}) {
    scaled result{};
    finish(purlin_tt_inner_scaled(get(), queue.get(), x.get(), y.get(), &result, nullptr));
    return result;
  }

  /// Sets the workspace of enqueued calls, in device memory of the caller; 0 ends its use.
  void set_workspace(std::uint64_t memory, std::int64_t bytes) {
    finish(purlin_tt_contraction_set_workspace(get(), memory, bytes));
  }

  /// Enqueues <x|y>: in stream order `result`, four double on the device, gets real and imaginary part of the mantissa,
  /// exponent and outcome. Nothing waits, so a graph may capture it.
  void enqueue_inner(const train& x, const train& y, tensor& result, const stream& queue = {}) {
    finish(purlin_tt_inner_enqueue(get(), queue.get(), x.get(), y.get(), result.get(), nullptr));
  }

  /// Bytes of workspace that `enqueue_inner` needs.
  std::int64_t workspace_needed(const train& x, const train& y) {
    purlin_tt_contraction_info info = fresh_info();
    finish(purlin_tt_inner_enqueue(get(), nullptr, x.get(), y.get(), nullptr, &info));
    return info.workspace_bytes;
  }

  /// Enqueues the norm of a train, as `enqueue_inner` does the product.
  void enqueue_norm(const train& x, tensor& result, const stream& queue = {}) {
    finish(purlin_tt_norm_enqueue(get(), queue.get(), x.get(), result.get(), nullptr));
  }

  /// Bytes of workspace that `enqueue_norm` needs.
  std::int64_t workspace_needed(const train& x) {
    purlin_tt_contraction_info info = fresh_info();
    finish(purlin_tt_norm_enqueue(get(), nullptr, x.get(), nullptr, &info));
    return info.workspace_bytes;
  }

  /// Enqueues the norm of x - y, likewise.
  void enqueue_distance(const train& x, const train& y, tensor& result, const stream& queue = {}) {
    finish(purlin_tt_distance_enqueue(get(), queue.get(), x.get(), y.get(), result.get(), nullptr));
  }

  /// Bytes of workspace that `enqueue_distance` needs.
  std::int64_t distance_workspace_needed(const train& x, const train& y) {
    purlin_tt_contraction_info info = fresh_info();
    finish(purlin_tt_distance_enqueue(get(), nullptr, x.get(), y.get(), nullptr, &info));
    return info.workspace_bytes;
  }

  /// Enqueues <y|H|x>, as `enqueue_inner` does the product; the operator's numbers go along.
  void enqueue_sandwich(const train& y, const train_matrix& h, const train& x, tensor& result, const stream& queue = {}) {
    finish(purlin_tt_sandwich_enqueue(get(), queue.get(), y.get(), h.get(), x.get(), result.get(), nullptr));
  }

  /// Bytes of workspace that `enqueue_sandwich` needs.
  std::int64_t workspace_needed(const train& y, const train_matrix& h, const train& x) {
    purlin_tt_contraction_info info = fresh_info();
    finish(purlin_tt_sandwich_enqueue(get(), nullptr, y.get(), h.get(), x.get(), nullptr, &info));
    return info.workspace_bytes;
  }

  /// Enqueues <x|H|x> / <x|x>, likewise.
  void enqueue_rayleigh(const train_matrix& h, const train& x, tensor& result, const stream& queue = {}) {
    finish(purlin_tt_rayleigh_enqueue(get(), queue.get(), h.get(), x.get(), result.get(), nullptr));
  }

  /// Bytes of workspace that `enqueue_rayleigh` needs.
  std::int64_t workspace_needed(const train_matrix& h, const train& x) {
    purlin_tt_contraction_info info = fresh_info();
    finish(purlin_tt_rayleigh_enqueue(get(), nullptr, h.get(), x.get(), nullptr, &info));
    return info.workspace_bytes;
  }

  /// The norm of a train.
  double norm(const train& x, const stream& queue = {}) {
    double result = 0.0;
    finish(purlin_tt_norm(get(), queue.get(), x.get(), &result, nullptr));
    return result;
  }

  scaled norm_scaled(const train& x, const stream& queue = {}) {
    scaled result{};
    finish(purlin_tt_norm_scaled(get(), queue.get(), x.get(), &result, nullptr));
    return result;
  }

  /// The norm of x - y, which keeps its digits where the trains nearly agree.
  double distance(const train& x, const train& y, const stream& queue = {}) {
    double result = 0.0;
    finish(purlin_tt_distance(get(), queue.get(), x.get(), y.get(), &result, nullptr));
    return result;
  }

  scaled distance_scaled(const train& x, const train& y, const stream& queue = {}) {
    scaled result{};
    finish(purlin_tt_distance_scaled(get(), queue.get(), x.get(), y.get(), &result, nullptr));
    return result;
  }

  /// <x_k|y_k> of many pairs in one call.
  std::vector<std::complex<double>> inner_batch(const context& on, const std::vector<const train*>& x,
                                                const std::vector<const train*>& y, const stream& queue = {}) {
    if (x.size() != y.size()) purlin::detail::refuse("y: is not as long as x");
    std::vector<std::complex<double>> values(x.size());
    const tensor out = tensor::borrow(on, values);
    const std::vector<const purlin_tt*> bras = handles(x), kets = handles(y);
    finish(purlin_tt_inner_batch(get(), queue.get(), static_cast<std::int64_t>(x.size()), bras.data(), kets.data(),
                                 out.get(), nullptr, nullptr));
    return values;
  }

  /// inner_batch with an exponent for each number.
  scaled_list inner_batch_scaled(const context& on, const std::vector<const train*>& x,
                                 const std::vector<const train*>& y, const stream& queue = {}) {
    if (x.size() != y.size()) purlin::detail::refuse("y: is not as long as x");
    scaled_list result(x.size());
    const tensor out = tensor::borrow(on, result.mantissas), powers = tensor::borrow(on, result.exponents);
    const std::vector<const purlin_tt*> bras = handles(x), kets = handles(y);
    finish(purlin_tt_inner_batch(get(), queue.get(), static_cast<std::int64_t>(x.size()), bras.data(), kets.data(),
                                 out.get(), powers.get(), nullptr));
    return result;
  }

  /// The Gram matrix <x_i|y_j>, column by column; of x with itself where `y` is empty.
  std::vector<std::complex<double>> gram(const context& on, const std::vector<const train*>& x,
                                         const std::vector<const train*>& y = {}, const stream& queue = {}) {
    const auto rows = static_cast<std::int64_t>(x.size());
    const auto cols = y.empty() ? rows : static_cast<std::int64_t>(y.size());
    std::vector<std::complex<double>> values(purlin::detail::size(rows, cols));
    const tensor out = tensor::borrow(on, values, {rows, cols});
    const std::vector<const purlin_tt*> bras = handles(x), kets = handles(y);
    finish(purlin_tt_gram(get(), queue.get(), rows, bras.data(), cols, y.empty() ? nullptr : kets.data(), out.get(),
                          nullptr, nullptr));
    return values;
  }

  /// gram with an exponent for each number.
  scaled_list gram_scaled(const context& on, const std::vector<const train*>& x,
                          const std::vector<const train*>& y = {}, const stream& queue = {}) {
    const auto rows = static_cast<std::int64_t>(x.size());
    const auto cols = y.empty() ? rows : static_cast<std::int64_t>(y.size());
    scaled_list result(purlin::detail::size(rows, cols));
    const tensor out = tensor::borrow(on, result.mantissas, {rows, cols});
    const tensor powers = tensor::borrow(on, result.exponents, {rows, cols});
    const std::vector<const purlin_tt*> bras = handles(x), kets = handles(y);
    finish(purlin_tt_gram(get(), queue.get(), rows, bras.data(), cols, y.empty() ? nullptr : kets.data(), out.get(),
                          powers.get(), nullptr));
    return result;
  }

  /// <y|H|x>, y conjugated unless the options say `PURLIN_TT_CONJ_NONE`.
  std::complex<double> sandwich(const train& y, const train_matrix& h, const train& x, const stream& queue = {}) {
    double parts[2] = {0.0, 0.0};
    finish(purlin_tt_sandwich(get(), queue.get(), y.get(), h.get(), x.get(), parts, nullptr));
    return {parts[0], parts[1]};
  }

  scaled sandwich_scaled(const train& y, const train_matrix& h, const train& x, const stream& queue = {}) {
    scaled result{};
    finish(purlin_tt_sandwich_scaled(get(), queue.get(), y.get(), h.get(), x.get(), &result, nullptr));
    return result;
  }

  /// <x|H|x> / <x|x>, with both of its parts in the scaled form.
  rayleigh_quotient rayleigh(const train_matrix& h, const train& x, const stream& queue = {}) {
    double parts[2] = {0.0, 0.0};
    rayleigh_quotient result{};
    finish(purlin_tt_rayleigh(get(), queue.get(), h.get(), x.get(), parts, &result.numerator, &result.denominator, nullptr));
    result.value = {parts[0], parts[1]};
    return result;
  }

  /// <x|A_k|x> / <x|x> at each of `sites`; `op` is n x n.
  std::vector<std::complex<double>> expect_local(const context& on, const train& x, const tensor& op,
                                                 const extents& sites, const stream& queue = {}) {
    std::vector<std::complex<double>> values(static_cast<std::size_t>(sites.size()));
    const tensor out = tensor::borrow(on, values);
    finish(purlin_tt_expect_local(get(), queue.get(), x.get(), op.get(), sites.size(), sites.data(), out.get(),
                                  nullptr));
    return values;
  }

  /// <x|A_k B_l|x> / <x|x> for all k and l, d x d, column by column.
  std::vector<std::complex<double>> correlation(const context& on, const train& x, const tensor& a, const tensor& b,
                                                const stream& queue = {}) {
    const std::int64_t d = x.properties().length;
    std::vector<std::complex<double>> values(purlin::detail::size(d, d));
    const tensor out = tensor::borrow(on, values, {d, d});
    finish(purlin_tt_correlation(get(), queue.get(), x.get(), a.get(), b.get(), out.get(), nullptr));
    return values;
  }

  /// The report of the last call that gave one; throws where there was none. Environments and plans have none.
  purlin_tt_contraction_info last_info() const {
    purlin_tt_contraction_info info = fresh_info();
    check(purlin_tt_contraction_last_info(get(), &info));
    return info;
  }

  /// Makes the running call fail with `PURLIN_ERROR_CANCELLED`. May be called from any thread.
  void cancel() const { check(purlin_tt_contraction_cancel(get())); }

  /// Ends a call on this object: rethrows the exception of its progress function, else throws the error of `status`.
  void finish(purlin_status status) const {
    if (progress_) progress_->rethrow();
    check(status);
  }

 private:
  static std::vector<const purlin_tt*> handles(const std::vector<const train*>& trains) {
    std::vector<const purlin_tt*> list;
    list.reserve(trains.size());
    for (const train* t : trains) list.push_back(t->get());
    return list;
  }

  template <class Call, class... Args>
  purlin_tt_contraction_info foresee(Call call, Args... args) {
    purlin_tt_contraction_info info = fresh_info();
    finish(call(get(), args..., &info));
    return info;
  }

  static purlin_tt_contraction_info fresh_info() {
    purlin_tt_contraction_info info{};
    check(purlin_tt_contraction_info_init(&info, sizeof info));
    return info;
  }

  std::unique_ptr<purlin::detail::progress_keeper> progress_;
  std::unique_ptr<purlin_tt_contraction, purlin::detail::destroy<purlin_tt_contraction, purlin_tt_contraction_destroy>>
      handle_;
};

namespace detail {

/// Calls a function without an object: `call(options)`.
template <class Call>
void once(const context& on, const contraction_options& settings, purlin_tt_contraction_info* info, Call call) {
  if (info != nullptr) check(purlin_tt_contraction_info_init(info, sizeof *info));
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_tt_contraction_options raw = relay.attach<purlin_tt_contraction_options>(settings);
  const purlin_status status = call(&raw);
  relay.rethrow();
  on.finish(status);
}

}  // namespace detail

/// `contraction::inner` by an object for this call alone. `info` receives the report.
inline std::complex<double> inner_once(const context& on, const train& x, const train& y,
                                       const contraction_options& settings = {},
                                       purlin_tt_contraction_info* info = nullptr, const stream& queue = {}) {
  double parts[2] = {0.0, 0.0};
  detail::once(on, settings, info, [&](const purlin_tt_contraction_options* raw) {
    return purlin_tt_inner_once(on.get(), queue.get(), x.get(), y.get(), raw, parts, info);
  });
  return {parts[0], parts[1]};
}

/// `contraction::norm` by an object for this call alone.
inline double norm_once(const context& on, const train& x, const contraction_options& settings = {},
                        purlin_tt_contraction_info* info = nullptr, const stream& queue = {}) {
  double result = 0.0;
  detail::once(on, settings, info, [&](const purlin_tt_contraction_options* raw) {
    return purlin_tt_norm_once(on.get(), queue.get(), x.get(), raw, &result, info);
  });
  return result;
}

/// `contraction::distance` by an object for this call alone.
inline double distance_once(const context& on, const train& x, const train& y,
                            const contraction_options& settings = {}, purlin_tt_contraction_info* info = nullptr,
                            const stream& queue = {}) {
  double result = 0.0;
  detail::once(on, settings, info, [&](const purlin_tt_contraction_options* raw) {
    return purlin_tt_distance_once(on.get(), queue.get(), x.get(), y.get(), raw, &result, info);
  });
  return result;
}

/// The environments of <y|H|x>, or of <y|x>, at the bonds of a train, for sweeps. The trains have to live as long.
class environments {
 public:
  environments() noexcept = default;

  environments(const contraction& with, const train& y, const train_matrix& h, const train& x) {
    purlin_tt_environments* made = nullptr;
    const purlin_status status = purlin_tt_environments_create(with.get(), y.get(), h.get(), x.get(), &made);
    handle_.reset(made);
    with.finish(status);
  }

  /// The environments of <y|x>, without an operator.
  environments(const contraction& with, const train& y, const train& x) : environments(with, y, train_matrix{}, x) {}

  purlin_tt_environments* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// A step of a sweep: the environment of `side`, `PURLIN_TT_LEFT` or `PURLIN_TT_RIGHT`, at a bond 0 to d.
  void build(std::int32_t side, std::int64_t bond, const stream& queue = {}) {
    check(purlin_tt_environments_build(get(), queue.get(), side, bond));
  }

  /// Core `k` of the bra or of the ket has changed.
  void update_core(std::int64_t k) { check(purlin_tt_environments_update_core(get(), k)); }

  /// Other trains from now on, which differ in the cores `first` to `last` and in the ranks between these alone: a two-site
  /// step. The trains before are not needed any longer.
  void set_trains(const train& y, const train& x, std::int64_t first, std::int64_t last) {
    check(purlin_tt_environments_set_trains(get(), y.get(), x.get(), first, last));
  }

  /// Ranks of bra and operator, boundary values and rank of the ket at a bond.
  std::vector<std::int64_t> shape(std::int64_t bond) {
    std::vector<std::int64_t> dims(4);
    check(purlin_tt_environments_shape(get(), bond, dims.data(), nullptr));
    return dims;
  }

  /// Writes the environment at a bond into a tensor of its shape and type; gives the power of two that belongs to it.
  std::int64_t get(std::int32_t side, std::int64_t bond, const tensor& values, const stream& queue = {}) {
    std::int64_t exponent = 0;
    check(purlin_tt_environments_get(get(), queue.get(), side, bond, values.get(), &exponent));
    return exponent;
  }

  /// Writes the effective operator of 0, 1 or 2 sites from `k` on times `v` into `out`; gives its power of two. With
  /// both on the device of the environments it enqueues, and a graph may capture it.
  std::int64_t apply(std::int64_t k, std::int64_t sites, const tensor& v, const tensor& out, const stream& queue = {}) {
    std::int64_t exponent = 0;
    check(purlin_tt_environments_apply(get(), queue.get(), k, sites, v.get(), out.get(), &exponent));
    return exponent;
  }

  /// <y|H|x>, or <y|x>, from the environments that meet at a bond.
  scaled value(std::int64_t bond, const stream& queue = {}) {
    scaled result{};
    check(purlin_tt_environments_value(get(), queue.get(), bond, &result));
    return result;
  }

  /// <y|A_k|x> with `op` at site `k`, from environments without an operator.
  scaled local(std::int64_t k, const tensor& op, const stream& queue = {}) {
    scaled result{};
    check(purlin_tt_environments_local(get(), queue.get(), k, op.get(), &result));
    return result;
  }

 private:
  std::unique_ptr<purlin_tt_environments,
                  purlin::detail::destroy<purlin_tt_environments, purlin_tt_environments_destroy>>
      handle_;
};

}  // namespace purlin::tt

#endif
