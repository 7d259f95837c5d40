/// @file symmetric.hpp
/// Packed symmetric tensors: index tables, conversions, norms.
///
/// Entries are in lexicographic order of their nondecreasing, 0-based index tuples and are the tensor's own entries,
/// not multiplied by multinomials (`PURLIN_PACKING_ENTRIES`), unless a packing is given.
#ifndef PURLIN_SYMMETRIC_HPP
#define PURLIN_SYMMETRIC_HPP

#include <cstdint>
#include <vector>

#include "tensor.hpp"

namespace purlin::symmetric {

/// Number of packed entries, C(order + dimension - 1, order).
inline std::int64_t count(std::int64_t order, std::int64_t dimension) {
  std::int64_t entries = 0;
  check(purlin_symmetric_count(order, dimension, &entries));
  return entries;
}

/// Index tuples, `order` integers an entry.
inline std::vector<std::int64_t> indices(std::int64_t order, std::int64_t dimension) {
  std::vector<std::int64_t> table(detail::size(count(order, dimension), order));
  check(purlin_symmetric_indices(order, dimension, table.data()));
  return table;
}

/// Exponents of the monomials, `dimension` integers an entry.
inline std::vector<std::int64_t> exponents(std::int64_t order, std::int64_t dimension) {
  std::vector<std::int64_t> table(detail::size(count(order, dimension), dimension));
  check(purlin_symmetric_exponents(order, dimension, table.data()));
  return table;
}

/// How many entries of the full tensor each packed entry stands for.
inline std::vector<std::int64_t> multinomials(std::int64_t order, std::int64_t dimension) {
  std::vector<std::int64_t> table(detail::size(count(order, dimension)));
  check(purlin_symmetric_multinomials(order, dimension, table.data()));
  return table;
}

/// Converts between `PURLIN_PACKING_ENTRIES` and `PURLIN_PACKING_POLYNOMIAL`, and between layouts.
inline void convert(const context& on, const tensor& source, std::int32_t source_packing, tensor& destination,
                    std::int32_t destination_packing, const stream& queue = {}) {
  on.finish(purlin_symmetric_convert(on.get(), queue.get(), source.get(), source_packing, destination.get(),
                                     destination_packing));
}

/// Treatment by `from_full` of a full tensor that is not symmetric.
enum class asymmetry : std::int32_t { refuse = 0, average = 1 };

/// Packs full tensors, dims [n, .., n] or [n, .., n, T]. `tolerance` is relative to the largest entry; 0 = the default.
inline void from_full(const context& on, const tensor& full, tensor& packed, asymmetry handling = asymmetry::refuse,
                      double tolerance = 0.0, const stream& queue = {}) {
  on.finish(purlin_symmetric_from_full(on.get(), queue.get(), full.get(), static_cast<std::int32_t>(handling),
                                       tolerance, packed.get()));
}

/// Unpacks into full tensors, dims [n, .., n] or [n, .., n, T].
inline void to_full(const context& on, const tensor& packed, tensor& full, const stream& queue = {}) {
  on.finish(purlin_symmetric_to_full(on.get(), queue.get(), packed.get(), full.get()));
}

/// One norm a tensor, of the full tensor; `kind` is `PURLIN_NORM_*`.
inline void norm(const context& on, const tensor& packed, std::int32_t kind, tensor& norms, const stream& queue = {}) {
  on.finish(purlin_symmetric_norm(on.get(), queue.get(), packed.get(), kind, norms.get()));
}

/// The same, returned: one number for each tensor.
template <class T>
std::vector<T> norm(const context& on, const symmetric_view<T>& packed, std::int32_t kind = PURLIN_NORM_FROBENIUS) {
  std::vector<T> norms(detail::size(packed.count));
  tensor out = tensor::borrow(on, norms);
  norm(on, tensor::borrow(on, packed), kind, out);
  return norms;
}

/// Writes `scale` times the tensor E with E x^m = |x|^m into every tensor of `packed`, whose order is even.
inline void identity(const context& on, double scale, tensor& packed, const stream& queue = {}) {
  on.finish(purlin_symmetric_identity(on.get(), queue.get(), scale, packed.get()));
}

}  // namespace purlin::symmetric

#endif
