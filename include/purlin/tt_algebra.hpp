/// @file tt_algebra.hpp
/// Algebra of tensor trains: results are new trains, which lie where the first operand does.
#ifndef PURLIN_TT_ALGEBRA_HPP
#define PURLIN_TT_ALGEBRA_HPP

#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "tt.hpp"

namespace purlin::tt {

/// The C options with their defaults.
struct round_options : purlin_tt_round_options {
  explicit round_options(double error = 0.0, std::int64_t rank = 0) : purlin_tt_round_options{} {
    check(purlin_tt_round_options_init(this, sizeof(purlin_tt_round_options)));
    epsilon = error;
    max_rank = rank;
  }
};

/// A truncated train, and the report of the truncation.
struct truncated {
  tt::train train;
  purlin_tt_round_info info;
};

namespace detail {

inline purlin_tt_round_info fresh_round_info() {
  purlin_tt_round_info info{};
  check(purlin_tt_round_info_init(&info, sizeof info));
  return info;
}

/// A train that `call` makes, with its arguments behind context and stream and before the place for the handle.
template <class Call, class... Arguments>
train made(const context& on, const stream& queue, Call call, Arguments... arguments) {
  purlin_tt* made = nullptr;
  const purlin_status status = call(on.get(), queue.get(), arguments..., &made);
  return purlin::detail::adopt<train>(on, status, made);
}

}  // namespace detail

/// alpha x + beta y, exactly: ranks add.
inline train add(const context& on, std::complex<double> alpha, const train& x, std::complex<double> beta,
                 const train& y, const stream& queue = {}) {
  const double a[2] = {alpha.real(), alpha.imag()};
  const double b[2] = {beta.real(), beta.imag()};
  return detail::made(on, queue, purlin_tt_add, a, x.get(), b, y.get());
}

/// factor 2^exponent x; `spread` says which cores the factor multiplies.
inline train scale(const context& on, std::complex<double> factor, const train& x, std::int64_t exponent = 0,
                   std::int32_t spread = PURLIN_TT_SPREAD_AUTO, const stream& queue = {}) {
  const double parts[2] = {factor.real(), factor.imag()};
  return detail::made(on, queue, purlin_tt_scale, x.get(), parts, exponent, spread);
}

/// The complex conjugate, of the same ranks.
inline train conj(const context& on, const train& x, const stream& queue = {}) {
  return detail::made(on, queue, purlin_tt_conj, x.get());
}

/// The product entry by entry: ranks multiply.
inline train hadamard(const context& on, const train& x, const train& y, const stream& queue = {}) {
  return detail::made(on, queue, purlin_tt_hadamard, x.get(), y.get());
}

/// The train H x: its ranks are the products of those of H and x.
inline train apply(const context& on, const train_matrix& h, const train& x, const stream& queue = {}) {
  return detail::made(on, queue, purlin_tt_apply, h.get(), x.get());
}

/// The train read backwards: entry (i, j, ..) is that of x at (.., j, i).
inline train reverse(const context& on, const train& x, const stream& queue = {}) {
  return detail::made(on, queue, purlin_tt_reverse, x.get());
}

/// The ring that begins with core `first`.
inline train rotate(const context& on, const train& x, std::int64_t first, const stream& queue = {}) {
  return detail::made(on, queue, purlin_tt_rotate, x.get(), first);
}

/// The open train of a ring, exactly: ranks multiply by that of the boundary.
inline train to_open(const context& on, const train& x, const stream& queue = {}) {
  return detail::made(on, queue, purlin_tt_to_open, x.get());
}

/// A copy of another type.
inline train cast(const context& on, const train& x, purlin_dtype dtype, const stream& queue = {}) {
  return detail::made(on, queue, purlin_tt_cast, x.get(), dtype);
}

/// Orthonormal cores but for `centre`, and the power of two that belongs to the train.
inline std::pair<train, std::int64_t> canonicalize(const context& on, const train& x, std::int64_t centre,
                                                   const stream& queue = {}) {
  std::int64_t exponent = 0;
  train result = detail::made(on, queue, purlin_tt_canonicalize, x.get(), centre, &exponent);
  return {std::move(result), exponent};
}

/// The train of smallest ranks within an error of x.
inline truncated round(const context& on, const train& x, const round_options& options = round_options{},
                       const stream& queue = {}) {
  purlin_tt* made = nullptr;
  purlin_tt_round_info info = detail::fresh_round_info();
  const purlin_status status = purlin_tt_round(on.get(), queue.get(), x.get(), &options, &made, nullptr, &info);
  return {purlin::detail::adopt<train>(on, status, made), info};
}

/// The product entry by entry of open trains, truncated without its cores together in memory.
inline truncated hadamard_round(const context& on, const train& x, const train& y,
                                const round_options& options = round_options{}, const stream& queue = {}) {
  purlin_tt* made = nullptr;
  purlin_tt_round_info info = detail::fresh_round_info();
  const purlin_status status =
      purlin_tt_hadamard_round(on.get(), queue.get(), x.get(), y.get(), &options, &made, &info);
  return {purlin::detail::adopt<train>(on, status, made), info};
}

/// H x, truncated without its cores together in memory.
inline truncated apply_round(const context& on, const train_matrix& h, const train& x,
                             const round_options& options = round_options{}, const stream& queue = {}) {
  purlin_tt* made = nullptr;
  purlin_tt_round_info info = detail::fresh_round_info();
  const purlin_status status = purlin_tt_apply_round(on.get(), queue.get(), h.get(), x.get(), &options, &made, &info);
  return {purlin::detail::adopt<train>(on, status, made), info};
}

/// The train of a dense tensor, of its own extents or of `modes`.
inline truncated svd(const context& on, const tensor& values, const round_options& options = round_options{},
                     const extents& modes = {}, const stream& queue = {}) {
  purlin_tt* made = nullptr;
  purlin_tt_round_info info = detail::fresh_round_info();
  const purlin_status status = purlin_tt_svd(on.get(), queue.get(), values.get(), modes.size(), modes.data(), &options,
                                             &made, nullptr, &info);
  return {purlin::detail::adopt<train>(on, status, made), info};
}

/// Normally distributed cores, such that the squared norm is 1 in the mean.
inline train random(const context& on, purlin_dtype dtype, const extents& modes, const extents& ranks,
                    std::uint64_t seed, purlin_location location = PURLIN_HOST) {
  detail::expect_lists(ranks, modes.size(), modes.size());
  purlin_tt* made = nullptr;
  const purlin_status status =
      purlin_tt_random(on.get(), dtype, location, modes.size(), modes.data(), ranks.data(), seed, &made);
  return purlin::detail::adopt<train>(on, status, made);
}

/// A train of rank 1 whose entries are all 0.
inline train zeros(const context& on, purlin_dtype dtype, const extents& modes, purlin_location location = PURLIN_HOST) {
  purlin_tt* made = nullptr;
  const purlin_status status = purlin_tt_zeros(on.get(), dtype, location, modes.size(), modes.data(), &made);
  return purlin::detail::adopt<train>(on, status, made);
}

/// A train of rank 1 whose entries are all 1.
inline train ones(const context& on, purlin_dtype dtype, const extents& modes, purlin_location location = PURLIN_HOST) {
  purlin_tt* made = nullptr;
  const purlin_status status = purlin_tt_ones(on.get(), dtype, location, modes.size(), modes.data(), &made);
  return purlin::detail::adopt<train>(on, status, made);
}

/// The product state of vectors one after another.
inline train product_state(const context& on, const extents& modes, const tensor& vectors) {
  purlin_tt* made = nullptr;
  const purlin_status status =
      purlin_tt_product_state(on.get(), modes.size(), modes.data(), vectors.get(), &made);
  return purlin::detail::adopt<train>(on, status, made);
}

/// The entry at an index tuple, one index a core.
inline std::complex<double> element(const context& on, const train& x, const extents& index) {
  if (index.size() != x.properties().length) purlin::detail::refuse("index: has not one number a core");
  double parts[2] = {0.0, 0.0};
  on.finish(purlin_tt_element(on.get(), nullptr, x.get(), index.data(), parts));
  return {parts[0], parts[1]};
}

/// Entries at index tuples that lie one after another.
inline std::vector<std::complex<double>> elements(const context& on, const train& x, const extents& indices) {
  const std::int64_t d = x.properties().length;
  if (indices.size() % d != 0) purlin::detail::refuse("indices: are not a multiple of the cores");
  std::vector<std::complex<double>> values(static_cast<std::size_t>(indices.size() / d));
  const tensor out = tensor::borrow(on, values);
  on.finish(purlin_tt_elements(on.get(), nullptr, x.get(), indices.size() / d, indices.data(), out.get()));
  return values;
}

/// Writes the dense tensor of a train.
inline void full(const context& on, const train& x, const tensor& values, const stream& queue = {}) {
  on.finish(purlin_tt_full(on.get(), queue.get(), x.get(), values.get()));
}

}  // namespace purlin::tt

#endif
