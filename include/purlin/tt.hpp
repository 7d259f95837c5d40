/// @file tt.hpp
/// Tensor trains (matrix-product states) and TT-matrices (matrix-product operators).
#ifndef PURLIN_TT_HPP
#define PURLIN_TT_HPP

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "context.hpp"
#include "tensor.hpp"
#include "view.hpp"

namespace purlin::tt {

namespace detail {

/// Refuses lists that a train of `length` cores cannot have.
inline void expect_lists(const extents& ranks, std::int64_t length, std::int64_t cores) {
  if (ranks.size() != length + 1) {
    purlin::detail::refuse("ranks: are " + std::to_string(ranks.size()) + ", expected " + std::to_string(length + 1));
  }
  if (cores != length) {
    purlin::detail::refuse("cores: are " + std::to_string(cores) + ", expected " + std::to_string(length));
  }
}

/// Addresses as the C interface takes them, and whether they are only read.
template <class T>
std::vector<void*> addresses(const std::vector<T*>& cores) {
  std::vector<void*> list;
  list.reserve(cores.size());
  for (T* core : cores) list.push_back(const_cast<void*>(static_cast<const void*>(core)));
  return list;
}

template <class T>
constexpr purlin_flags access() {
  return std::is_const_v<T> ? PURLIN_READ_ONLY : 0;
}

inline purlin_tt_info fresh_info() {
  purlin_tt_info info{};
  check(purlin_tt_info_init(&info, sizeof info));
  return info;
}

}  // namespace detail

/// Owner of a tensor train. Core k is r_k x n_k x r_k+1, first index fastest; the train is open where the first and the
/// last rank are 1, and else a ring.
class train {
 public:
  /// An owner of no train; `get` is null.
  train() noexcept = default;

  /// Takes over a handle made by the C interface.
  explicit train(purlin_tt* adopted) noexcept : handle_(adopted) {}

  /// Memory of the library, whose cores are set one by one. `location` and `flags` are both given or neither, since one
  /// number could be either.
  static train create(const context& on, purlin_dtype dtype, const extents& modes, const extents& ranks,
                      purlin_location location, purlin_flags flags) {
    detail::expect_lists(ranks, modes.size(), modes.size());
    purlin_tt* made = nullptr;
    const purlin_status status = purlin_tt_create(on.get(), dtype, location, flags, modes.size(), modes.data(),
                                                  ranks.data(), &made);
    return purlin::detail::adopt<train>(on, status, made);
  }

  /// The same in host memory.
  static train create(const context& on, purlin_dtype dtype, const extents& modes, const extents& ranks) {
    return create(on, dtype, modes, ranks, PURLIN_HOST, 0);
  }

  template <class T>
  static train create(const context& on, const extents& modes, const extents& ranks, purlin_location location,
                      purlin_flags flags) {
    return create(on, dtype_of<T>, modes, ranks, location, flags);
  }

  template <class T>
  static train create(const context& on, const extents& modes, const extents& ranks) {
    return create(on, dtype_of<T>, modes, ranks, PURLIN_HOST, 0);
  }

  /// The caller's cores in place, each packed; cores that are const are only read. The same core may stand at several
  /// places.
  template <class T>
  static train borrow(const context& on, const extents& modes, const extents& ranks, const std::vector<T*>& cores,
                      purlin_flags flags = 0) {
    detail::expect_lists(ranks, modes.size(), static_cast<std::int64_t>(cores.size()));
    const std::vector<void*> list = detail::addresses(cores);
    purlin_tt* made = nullptr;
    const purlin_status status =
        purlin_tt_borrow(on.get(), dtype_of<T>, flags | detail::access<T>(), modes.size(), modes.data(), ranks.data(),
                         list.data(), &made);
    return purlin::detail::adopt<train>(on, status, made);
  }

  /// Cores one after another in one container, in place. A container that ends before them is refused.
  template <class C, purlin::detail::if_container<C> = 0>
  static train borrow_flat(const context& on, C& data, const extents& modes, const extents& ranks,
                           purlin_flags flags = 0) {
    detail::expect_lists(ranks, modes.size(), modes.size());
    std::vector<purlin::detail::element<C>*> cores;
    std::int64_t used = 0;
    for (std::int32_t k = 0; k < modes.size(); ++k) {
      cores.push_back(std::data(data) + used);
      // r n s as s matrices of r x n: either product is checked.
      const auto slice = static_cast<std::int64_t>(purlin::detail::size(ranks[k], modes[k]));
      if (ranks[k + 1] < 1) purlin::detail::refuse("ranks: number " + std::to_string(k + 1) + " is less than 1");
      used = purlin::detail::multiply_add(slice, ranks[k + 1], used);
      if (used > purlin::detail::length(data)) {
        purlin::detail::refuse("data: has " + std::to_string(purlin::detail::length(data)) +
                               " elements, which end inside core " + std::to_string(k));
      }
    }
    return borrow(on, modes, ranks, cores, flags);
  }

  /// The caller's device memory in place; `cores` are `CUdeviceptr`.
  static train borrow_device(const context& on, purlin_dtype dtype, const extents& modes, const extents& ranks,
                             const std::vector<std::uint64_t>& cores, purlin_flags flags = 0) {
    detail::expect_lists(ranks, modes.size(), static_cast<std::int64_t>(cores.size()));
    purlin_tt* made = nullptr;
    const purlin_status status = purlin_tt_borrow_device(on.get(), dtype, flags, modes.size(), modes.data(),
                                                         ranks.data(), cores.data(), &made);
    return purlin::detail::adopt<train>(on, status, made);
  }

  purlin_tt* get() const noexcept { return handle_.get(); }
  purlin_tt* release() noexcept { return handle_.release(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Copies a tensor of the core's extents, whatever its strides, into core `k`.
  void set_core(std::int64_t k, const tensor& core, const stream& queue = {}) const {
    check(purlin_tt_set_core(get(), queue.get(), k, core.get()));
  }

  /// Copies core `k` into a tensor of its extents.
  void core(std::int64_t k, const tensor& target, const stream& queue = {}) const {
    check(purlin_tt_core(get(), queue.get(), k, target.get()));
  }

  /// Address of core `k`, on the host or the device.
  std::uint64_t core_address(std::int64_t k) const {
    std::uint64_t address = 0;
    check(purlin_tt_core_address(get(), k, &address));
    return address;
  }

  /// Core `k` as numbers of its own, first index fastest.
  template <class T>
  std::vector<T> core(const context& on, std::int64_t k) const {
    const std::vector<std::int64_t> n = modes();
    const std::vector<std::int64_t> r = ranks();
    const auto at = static_cast<std::size_t>(k);
    const extents dims{r.at(at), n.at(at), r.at(at + 1)};
    std::vector<T> values(purlin::detail::size(dims.span({})));
    core(k, tensor::borrow(on, values, dims));
    return values;
  }

  /// Copies the cores into a train of the same shape and type, host and device in any direction.
  void copy_to(const context& on, const train& destination, const stream& queue = {}) const {
    on.finish(purlin_tt_copy(on.get(), queue.get(), get(), destination.get()));
  }

  purlin_tt_info properties() const {
    purlin_tt_info info = detail::fresh_info();
    check(purlin_tt_properties(get(), &info));
    return info;
  }

  /// Mode sizes n_k, one for each core.
  std::vector<std::int64_t> modes() const {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(properties().length));
    check(purlin_tt_shape(get(), static_cast<std::int64_t>(sizes.size()), sizes.data(), nullptr));
    return sizes;
  }

  /// Ranks r_k, one more than cores.
  std::vector<std::int64_t> ranks() const {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(properties().length) + 1);
    check(purlin_tt_shape(get(), static_cast<std::int64_t>(sizes.size()) - 1, nullptr, sizes.data()));
    return sizes;
  }

 private:
  std::unique_ptr<purlin_tt, purlin::detail::destroy<purlin_tt, purlin_tt_destroy>> handle_;
};

/// A coefficient times a product of operators at sites, each n x n; the tensors have to live as long as the term.
struct term {
  std::complex<double> coefficient;
  std::vector<std::pair<std::int64_t, const tensor*>> factors;
};

/// Owner of a TT-matrix. Core k is w_k x m_k x n_k x w_k+1, first index fastest: left bond, row (bra), column (ket),
/// right bond.
class train_matrix {
 public:
  /// An owner of no TT-matrix; `get` is null.
  train_matrix() noexcept = default;

  /// Takes over a handle made by the C interface.
  explicit train_matrix(purlin_tt_matrix* adopted) noexcept : handle_(adopted) {}

  /// Memory of the library, whose cores are set one by one; `location` and `flags` as of a train.
  static train_matrix create(const context& on, purlin_dtype dtype, const extents& rows, const extents& cols,
                             const extents& ranks, purlin_location location, purlin_flags flags) {
    detail::expect_lists(ranks, rows.size(), cols.size());
    purlin_tt_matrix* made = nullptr;
    const purlin_status status = purlin_tt_matrix_create(on.get(), dtype, location, flags, rows.size(), rows.data(),
                                                         cols.data(), ranks.data(), &made);
    return purlin::detail::adopt<train_matrix>(on, status, made);
  }

  /// The same in host memory.
  static train_matrix create(const context& on, purlin_dtype dtype, const extents& rows, const extents& cols,
                             const extents& ranks) {
    return create(on, dtype, rows, cols, ranks, PURLIN_HOST, 0);
  }

  /// The caller's cores in place, each packed; cores that are const are only read.
  template <class T>
  static train_matrix borrow(const context& on, const extents& rows, const extents& cols, const extents& ranks,
                             const std::vector<T*>& cores, purlin_flags flags = 0) {
    detail::expect_lists(ranks, rows.size(), static_cast<std::int64_t>(cores.size()));
    detail::expect_lists(ranks, cols.size(), static_cast<std::int64_t>(cores.size()));
    const std::vector<void*> list = detail::addresses(cores);
    purlin_tt_matrix* made = nullptr;
    const purlin_status status =
        purlin_tt_matrix_borrow(on.get(), dtype_of<T>, flags | detail::access<T>(), rows.size(), rows.data(),
                                cols.data(), ranks.data(), list.data(), &made);
    return purlin::detail::adopt<train_matrix>(on, status, made);
  }

  /// The caller's device memory in place; `cores` are `CUdeviceptr`.
  static train_matrix borrow_device(const context& on, purlin_dtype dtype, const extents& rows, const extents& cols,
                                    const extents& ranks, const std::vector<std::uint64_t>& cores,
                                    purlin_flags flags = 0) {
    detail::expect_lists(ranks, rows.size(), static_cast<std::int64_t>(cores.size()));
    detail::expect_lists(ranks, cols.size(), static_cast<std::int64_t>(cores.size()));
    purlin_tt_matrix* made = nullptr;
    const purlin_status status = purlin_tt_matrix_borrow_device(on.get(), dtype, flags, rows.size(), rows.data(),
                                                                cols.data(), ranks.data(), cores.data(), &made);
    return purlin::detail::adopt<train_matrix>(on, status, made);
  }

  /// -`coupling` sum of sigma_x sigma_x over bonds - `field` sum of sigma_z over sites, with Pauli matrices.
  static train_matrix ising(const context& on, std::int64_t length, double coupling, double field, bool cyclic = false,
                            purlin_dtype dtype = PURLIN_F64) {
    purlin_tt_matrix* made = nullptr;
    const purlin_status status =
        purlin_tt_matrix_ising(on.get(), dtype, length, cyclic ? 1 : 0, coupling, field, &made);
    return purlin::detail::adopt<train_matrix>(on, status, made);
  }

  /// Spins `twice_spin` / 2 with couplings J_x, J_y, J_z between neighbours in a field along z.
  static train_matrix heisenberg(const context& on, std::int64_t length, const std::array<double, 3>& couplings,
                                 double field = 0.0, bool cyclic = false, std::int64_t twice_spin = 1,
                                 purlin_dtype dtype = PURLIN_F64) {
    purlin_tt_matrix* made = nullptr;
    const purlin_status status = purlin_tt_matrix_heisenberg(on.get(), dtype, length, cyclic ? 1 : 0, twice_spin,
                                                             couplings.data(), field, &made);
    return purlin::detail::adopt<train_matrix>(on, status, made);
  }

  /// The identity, of rank 1, with mode sizes `modes` for rows and columns.
  static train_matrix identity(const context& on, const extents& modes, purlin_dtype dtype = PURLIN_F64) {
    purlin_tt_matrix* made = nullptr;
    const purlin_status status = purlin_tt_matrix_identity(on.get(), dtype, modes.size(), modes.data(), &made);
    return purlin::detail::adopt<train_matrix>(on, status, made);
  }

  /// A sum of products of operators at single sites; terms may go round a ring where `cyclic`.
  static train_matrix from_terms(const context& on, const extents& modes, const std::vector<term>& terms,
                                 bool cyclic = false, purlin_dtype dtype = PURLIN_F64) {
    std::vector<double> coefficients;
    std::vector<std::int64_t> factors;
    std::vector<std::int64_t> sites;
    std::vector<const purlin_tensor*> operators;
    for (const term& t : terms) {
      coefficients.push_back(t.coefficient.real());
      coefficients.push_back(t.coefficient.imag());
      factors.push_back(static_cast<std::int64_t>(t.factors.size()));
      for (const auto& [site, op] : t.factors) {
        sites.push_back(site);
        operators.push_back(op->get());
      }
    }
    purlin_tt_matrix* made = nullptr;
    const purlin_status status = purlin_tt_matrix_from_terms(
        on.get(), dtype, modes.size(), modes.data(), cyclic ? 1 : 0, static_cast<std::int64_t>(terms.size()),
        coefficients.data(), factors.data(), sites.data(), operators.data(), &made);
    return purlin::detail::adopt<train_matrix>(on, status, made);
  }

  purlin_tt_matrix* get() const noexcept { return handle_.get(); }
  purlin_tt_matrix* release() noexcept { return handle_.release(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Copies a tensor of the core's extents, whatever its strides, into core `k`.
  void set_core(std::int64_t k, const tensor& core, const stream& queue = {}) const {
    check(purlin_tt_matrix_set_core(get(), queue.get(), k, core.get()));
  }

  /// Copies core `k` into a tensor of its extents.
  void core(std::int64_t k, const tensor& target, const stream& queue = {}) const {
    check(purlin_tt_matrix_core(get(), queue.get(), k, target.get()));
  }

  purlin_tt_info properties() const {
    purlin_tt_info info = detail::fresh_info();
    check(purlin_tt_matrix_properties(get(), &info));
    return info;
  }

  /// Row (bra) mode sizes m_k, one for each site.
  std::vector<std::int64_t> rows() const { return sizes(0); }
  /// Column (ket) mode sizes n_k, one for each site.
  std::vector<std::int64_t> cols() const { return sizes(1); }
  /// Ranks, one more than cores.
  std::vector<std::int64_t> ranks() const { return sizes(2); }

 private:
  std::vector<std::int64_t> sizes(int which) const {
    const std::int64_t length = properties().length;
    std::vector<std::int64_t> list(static_cast<std::size_t>(length + (which == 2 ? 1 : 0)));
    check(purlin_tt_matrix_shape(get(), length, which == 0 ? list.data() : nullptr, which == 1 ? list.data() : nullptr,
                                 which == 2 ? list.data() : nullptr));
    return list;
  }

  std::unique_ptr<purlin_tt_matrix, purlin::detail::destroy<purlin_tt_matrix, purlin_tt_matrix_destroy>> handle_;
};

}  // namespace purlin::tt

#endif
