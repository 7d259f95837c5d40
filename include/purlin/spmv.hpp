/// @file spmv.hpp
/// Products of sparse matrices with vectors and blocks of vectors, planned once and used many times.
#ifndef PURLIN_SPMV_HPP
#define PURLIN_SPMV_HPP

#include <memory>

#include "matrix.hpp"
#include "tensor.hpp"

namespace purlin::spmv {

/// The C options with their defaults.
struct options : purlin_spmv_options {
  options() : purlin_spmv_options{} { check(purlin_spmv_options_init(this, sizeof(purlin_spmv_options))); }
};

/// A plan: for every matrix of one structure, whatever its values, or for an operator; with `options::kind` and `shift`
/// of an operator that is made of the matrix and never formed, and with `degree`, `lower` and `upper` of a filter of
/// that.
class plan {
 public:
  plan() noexcept = default;

  plan(const context& on, const matrix& a, const options& settings = {}) {
    purlin_spmv* made = nullptr;
    const purlin_status status = purlin_spmv_create(a.get(), &settings, &made);
    handle_.reset(made);
    on.finish(status);
  }

  purlin_spmv* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The plan's method, why it was chosen, and statistics of the rows.
  purlin_spmv_info properties() const {
    purlin_spmv_info info{};
    check(purlin_spmv_info_init(&info, sizeof info));
    check(purlin_spmv_properties(get(), &info));
    return info;
  }

  /// Updates a plan that keeps row sums or a copy of the matrix to new values.
  void update(const matrix& a) { check(purlin_spmv_update(get(), a.get())); }

  /// y = op(A) x; y is not read.
  void apply(const matrix& a, const tensor& x, const tensor& y, const stream& queue = {}) const {
    finish(a, purlin_spmv_apply(get(), queue.get(), nullptr, a.get(), x.get(), nullptr, y.get()));
  }

  /// y = alpha op(A) x + beta y; `T` is A's element type.
  template <class T>
  void apply(T alpha, const matrix& a, const tensor& x, T beta, const tensor& y, const stream& queue = {}) const {
    same_type<T>(a);
    finish(a, purlin_spmv_apply(get(), queue.get(), &alpha, a.get(), x.get(), &beta, y.get()));
  }

  /// Y = op(A) X for the columns of dense matrices; row-major ones are read once for all of their columns.
  void apply(const matrix& a, const matrix& x, const matrix& y, const stream& queue = {}) const {
    finish(a, purlin_spmv_apply_block(get(), queue.get(), nullptr, a.get(), x.get(), nullptr, y.get()));
  }

  /// Y = alpha op(A) X + beta Y; `T` is A's element type.
  template <class T>
  void apply(T alpha, const matrix& a, const matrix& x, T beta, const matrix& y, const stream& queue = {}) const {
    same_type<T>(a);
    finish(a, purlin_spmv_apply_block(get(), queue.get(), &alpha, a.get(), x.get(), &beta, y.get()));
  }

 private:
  /// Rethrows the exception of the caller's own operator, else throws the error of the call.
  static void finish(const matrix& a, purlin_status status) {
    a.rethrow();
    check(status);
  }

  template <class T>
  static void same_type(const matrix& a) {
    if (a.properties().dtype != dtype_of<T>) purlin::detail::refuse("alpha: is not of the matrix's type");
  }

  std::unique_ptr<purlin_spmv, purlin::detail::destroy<purlin_spmv, purlin_spmv_destroy>> handle_;
};

}  // namespace purlin::spmv

#endif
