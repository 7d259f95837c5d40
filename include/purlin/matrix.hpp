/// @file matrix.hpp
/// Matrices: dense with a leading dimension, compressed sparse rows, read in blocks, or known by their products alone.
#ifndef PURLIN_MATRIX_HPP
#define PURLIN_MATRIX_HPP

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "blocks.hpp"
#include "context.hpp"
#include "view.hpp"

namespace purlin {

/// The caller's matrix in compressed sparse rows. `values` NULL = the pattern alone; `index_base` is 0 or 1.
template <class T, class RowIndex = std::int64_t, class ColIndex = std::int32_t>
struct csr_view {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const RowIndex* row_ptr = nullptr;
  const ColIndex* col_idx = nullptr;
  const T* values = nullptr;
  std::int32_t index_base = 0;
};

/// Products of the caller's matrix A with a block of vectors: y = A x, or y = A^H x if `adjoint`. One call at a time, from
/// a thread of the library or the calling one.
template <class T>
using apply_function = std::function<void(bool adjoint, const const_matrix_view<T>& x, const matrix_view<T>& y)>;

/// The same with vectors on the device: the vectors at `x` are ready in the order of `cuda_stream`, a `CUstream`
/// (`cudaStream_t`), and the work is enqueued on it.
template <class T>
using device_apply_function = std::function<void(bool adjoint, const const_matrix_view<T>& x, const matrix_view<T>& y,
                                                 std::uint64_t cuda_stream)>;

namespace detail {

/// A caller's product behind the C callback. Its address is known to the library, so it never moves.
template <class T>
class apply_relay final : public relay_base {
 public:
  apply_relay(std::int64_t rows, std::int64_t cols, device_apply_function<T> function)
      : rows_(rows), cols_(cols), function_(std::move(function)) {}

  static std::int32_t call(std::int32_t adjoint, std::int64_t count, const void* x, std::int64_t ldx, void* y,
                           std::int64_t ldy, std::uint64_t cuda_stream, void* user) noexcept {
    auto* self = static_cast<apply_relay*>(user);
    try {
      const std::int64_t from = adjoint != 0 ? self->rows_ : self->cols_;
      const std::int64_t to = adjoint != 0 ? self->cols_ : self->rows_;
      self->function_(adjoint != 0, const_matrix_view<T>{static_cast<const T*>(x), from, count, ldx},
                      matrix_view<T>{static_cast<T*>(y), to, count, ldy}, cuda_stream);
      return 0;
    } catch (...) {
      self->keep();
      return 1;
    }
  }

 private:
  std::int64_t rows_;
  std::int64_t cols_;
  device_apply_function<T> function_;
};

}  // namespace detail

/// Owner of a matrix handle.
class matrix {
 public:
  matrix() noexcept = default;

  /// Takes over a handle made by the C interface.
  explicit matrix(purlin_matrix* adopted) noexcept : handle_(adopted) {}

  /// A dense matrix in memory of the library. Here and below flags alone are not taken, as they would be read as the
  /// number before them: `location` and `flags`, or `ld` and `flags`, are both given or neither.
  static matrix create(const context& on, purlin_dtype dtype, std::int64_t rows, std::int64_t cols,
                       purlin_location location, purlin_flags flags) {
    purlin_matrix* made = nullptr;
    const purlin_status status = purlin_matrix_create(on.get(), dtype, location, flags, rows, cols, &made);
    return detail::adopt<matrix>(on, status, made);
  }

  /// The same in host memory, packed by columns.
  static matrix create(const context& on, purlin_dtype dtype, std::int64_t rows, std::int64_t cols) {
    return create(on, dtype, rows, cols, PURLIN_HOST, 0);
  }

  template <class T>
  static matrix create(const context& on, std::int64_t rows, std::int64_t cols, purlin_location location,
                       purlin_flags flags) {
    return create(on, dtype_of<T>, rows, cols, location, flags);
  }

  template <class T>
  static matrix create(const context& on, std::int64_t rows, std::int64_t cols) {
    return create(on, dtype_of<T>, rows, cols, PURLIN_HOST, 0);
  }

  /// The caller's host memory in place; memory that is const is only read. `ld` 0 = packed. An array of known length
  /// takes the overload for containers, since a reference to a pointer does not bind to it.
  template <class T>
  static matrix borrow(const context& on, T* const& data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                       purlin_flags flags) {
    const purlin_flags access = std::is_const_v<T> ? PURLIN_READ_ONLY : 0;
    if (ld == 0) ld = std::max<std::int64_t>((flags & PURLIN_ROW_MAJOR) != 0 ? cols : rows, 1);
    purlin_matrix* made = nullptr;
    const purlin_status status =
        purlin_matrix_borrow(on.get(), dtype_of<T>, flags | access, rows, cols, ld,
                             const_cast<void*>(static_cast<const void*>(data)), &made);
    return detail::adopt<matrix>(on, status, made);
  }

  /// The same, packed by columns.
  template <class T>
  static matrix borrow(const context& on, T* const& data, std::int64_t rows, std::int64_t cols) {
    return borrow(on, data, rows, cols, 0, 0);
  }

  /// One number after the sizes could be `ld` or `flags`: give both, or a `matrix_view`.
  template <class T>
  static matrix borrow(const context& on, T* const& data, std::int64_t rows, std::int64_t cols, std::int64_t) = delete;

  template <class T>
  static matrix borrow(const context& on, const matrix_view<T>& view) {
    return borrow(on, view.data, view.rows, view.cols, view.ld, 0);
  }

  template <class T>
  static matrix borrow(const context& on, const const_matrix_view<T>& view) {
    return borrow(on, view.data, view.rows, view.cols, view.ld, 0);
  }

  /// The memory of a container or array in place. `ld` 0 = packed, where one of another length is refused; with a
  /// leading dimension one that ends before the last element is.
  template <class C, detail::if_container<C> = 0>
  static matrix borrow(const context& on, C& data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                       purlin_flags flags) {
    if (rows >= 0 && cols >= 0) holds(detail::length(data), rows, cols, ld, (flags & PURLIN_ROW_MAJOR) != 0);
    return borrow(on, std::data(data), rows, cols, ld, flags);
  }

  /// The same, packed by columns.
  template <class C, detail::if_container<C> = 0>
  static matrix borrow(const context& on, C& data, std::int64_t rows, std::int64_t cols) {
    return borrow(on, data, rows, cols, 0, 0);
  }

  /// As of a pointer: one number after the sizes could be `ld` or `flags`; give both.
  template <class C, detail::if_container<C> = 0>
  static matrix borrow(const context& on, C& data, std::int64_t rows, std::int64_t cols, std::int64_t) = delete;

  /// The caller's device memory in place; `data` is a `CUdeviceptr`.
  static matrix borrow_device(const context& on, purlin_dtype dtype, std::uint64_t data, std::int64_t rows,
                              std::int64_t cols, std::int64_t ld, purlin_flags flags = 0) {
    purlin_matrix* made = nullptr;
    const purlin_status status = purlin_matrix_borrow_device(on.get(), dtype, flags, rows, cols, ld, data, &made);
    return detail::adopt<matrix>(on, status, made);
  }

  /// The caller's compressed sparse rows in place. The indices are checked once, here.
  template <class T, class R, class C>
  static matrix borrow_csr(const context& on, const csr_view<T, R, C>& view) {
    purlin_matrix* made = nullptr;
    const purlin_status status =
        purlin_matrix_borrow_csr(on.get(), dtype_of<T>, view.index_base, view.rows, view.cols, view.nnz, dtype_of<R>,
                                 view.row_ptr, dtype_of<C>, view.col_idx, view.values, &made);
    return detail::adopt<matrix>(on, status, made);
  }

  /// The same with pointers to device memory, as `cudaMalloc` gives them: products and solvers of a context on a GPU
  /// read the arrays where they are. The indices are copied to the host and checked once, here.
  template <class T, class R, class C>
  static matrix borrow_csr_device(const context& on, const csr_view<T, R, C>& view) {
    const auto address = [](const void* p) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p)); };
    purlin_matrix* made = nullptr;
    const purlin_status status = purlin_matrix_borrow_csr_device(
        on.get(), dtype_of<T>, view.index_base, view.rows, view.cols, view.nnz, dtype_of<R>, address(view.row_ptr),
        dtype_of<C>, address(view.col_idx), address(view.values), &made);
    return detail::adopt<matrix>(on, status, made);
  }

  /// The same with a copy of the arrays.
  template <class T, class R, class C>
  static matrix copy_csr(const context& on, const csr_view<T, R, C>& view) {
    purlin_matrix* made = nullptr;
    const purlin_status status =
        purlin_matrix_copy_csr(on.get(), dtype_of<T>, view.index_base, view.rows, view.cols, view.nnz, dtype_of<R>,
                               view.row_ptr, dtype_of<C>, view.col_idx, view.values, &made);
    return detail::adopt<matrix>(on, status, made);
  }

  /// A source of two axes or more as a matrix that is read in blocks: its sizes are rows and columns, or with
  /// `PURLIN_ROW_MAJOR` columns and rows. All axes but the last count as one. The source may be destroyed before.
  static matrix from_source(const context& on, const source& array, purlin_flags flags = 0) {
    purlin_matrix* made = nullptr;
    const purlin_status status = purlin_matrix_from_source(on.get(), array.get(), flags, &made);
    matrix result(made);
    result.relay_ = array.relay_;
    on.finish(status);
    return result;
  }

  /// A matrix that is known by its products. An exception of `apply` ends the run and is thrown again from the call.
  template <class T>
  static matrix from_operator(const context& on, std::int64_t rows, std::int64_t cols, apply_function<T> apply) {
    auto host = [apply = std::move(apply)](bool adjoint, const const_matrix_view<T>& x, const matrix_view<T>& y,
                                           std::uint64_t) { apply(adjoint, x, y); };
    return from_function<T>(on, rows, cols, std::move(host), PURLIN_HOST);
  }

  /// The same with products on the device of a context on a GPU.
  template <class T>
  static matrix from_device_operator(const context& on, std::int64_t rows, std::int64_t cols,
                                     device_apply_function<T> apply) {
    return from_function<T>(on, rows, cols, std::move(apply), PURLIN_DEVICE);
  }

  /// Throws the exception of a function behind the matrix in the last run. The wrappers of these headers call it.
  void rethrow() const {
    if (relay_) relay_->rethrow();
  }

  purlin_matrix* get() const noexcept { return handle_.get(); }
  /// Gives the handle up. A function behind the matrix goes with this object all the same.
  purlin_matrix* release() noexcept { return handle_.release(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  purlin_matrix_info properties() const {
    purlin_matrix_info info{};
    check(purlin_matrix_info_init(&info, sizeof info));
    check(purlin_matrix_properties(get(), &info));
    return info;
  }

 private:
  static void holds(std::int64_t length, std::int64_t rows, std::int64_t cols, std::int64_t ld, bool is_row_major) {
    const std::int64_t line = is_row_major ? cols : rows;
    const std::int64_t lines = is_row_major ? rows : cols;
    std::int64_t needed = detail::multiply_add(rows, cols, 0);
    // The library refuses an `ld` below `line`.
    if (ld != 0 && needed != 0) needed = detail::multiply_add(lines - 1, std::max<std::int64_t>(ld, 0), line);
    if (ld == 0 ? length != needed : length < needed) {
      detail::refuse("data: has " + std::to_string(length) + " elements, expected " + std::to_string(rows) + " x " +
                     std::to_string(cols) + (ld == 0 ? "" : " with ld " + std::to_string(ld)));
    }
  }

  template <class T>
  static matrix from_function(const context& on, std::int64_t rows, std::int64_t cols, device_apply_function<T> apply,
                              purlin_location location) {
    using relay = detail::apply_relay<T>;
    auto shared = std::make_shared<relay>(rows, cols, std::move(apply));
    purlin_matrix* made = nullptr;
    const purlin_status status =
        purlin_matrix_from_operator(on.get(), dtype_of<T>, rows, cols, &relay::call, shared.get(), location, &made);
    matrix result(made);
    result.relay_ = std::move(shared);
    on.finish(status);
    return result;
  }

  // The handle goes first: a run that still reads ends before its function does.
  std::shared_ptr<detail::relay_base> relay_;
  std::unique_ptr<purlin_matrix, detail::destroy<purlin_matrix, purlin_matrix_destroy>> handle_;
};

/// Copies between matrices of the same shape and type, host or device either way.
inline void copy(const context& on, const matrix& source, matrix& destination, const stream& queue = {}) {
  on.finish(purlin_matrix_copy(on.get(), queue.get(), source.get(), destination.get()));
}

}  // namespace purlin

#endif
