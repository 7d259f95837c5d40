/// @file rsvd.hpp
/// Randomized SVD: the leading singular triplets of dense, sparse, streamed and implicit matrices.
#ifndef PURLIN_RSVD_HPP
#define PURLIN_RSVD_HPP

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "matrix.hpp"
#include "tensor.hpp"

namespace purlin::rsvd {

/// The C options with their defaults; progress as a `std::function`, and the restart file as a string.
struct options : purlin_rsvd_options {
  purlin::progress on_progress;
  std::string restart_path;  ///< hides the pointer of the C struct; empty: no file

  /// `wanted` triplets; 0 needs a `tolerance`.
  explicit options(std::int64_t wanted = 0) : purlin_rsvd_options{} {
    check(purlin_rsvd_options_init(this, sizeof(purlin_rsvd_options)));
    rank = wanted;
  }

  /// The C struct, which points into this object.
  purlin_rsvd_options raw() const {
    purlin_rsvd_options result = *this;
    if (!restart_path.empty()) result.restart_path = purlin::detail::c_path(restart_path);
    return result;
  }
};

namespace detail {

inline purlin_rsvd_info fresh_info() {
  purlin_rsvd_info info{};
  check(purlin_rsvd_info_init(&info, sizeof info));
  return info;
}

/// The real type behind a complex one.
template <class T>
struct real {
  using type = T;
};
template <class T>
struct real<std::complex<T>> {
  using type = T;
};

}  // namespace detail

/// The type of singular values of matrices of `T`.
template <class T>
using real_of = typename detail::real<T>::type;

/// Estimates of ||A - U S V^H|| in either norm.
struct residual_norms {
  double frobenius;
  double spectral;
};

/// Options, work space and contexts, for matrices of any shape. An output that is not wanted is an empty object. An
/// exception of a function behind a matrix is thrown by the call that used it.
class session {
 public:
  session() noexcept = default;

  session(const context& on, const options& settings) {
    purlin_rsvd_options raw = settings.raw();
    if (settings.on_progress) {
      progress_ = std::make_unique<purlin::detail::progress_keeper>(settings.on_progress);
      raw.progress = &purlin::detail::progress_keeper::call;
      raw.progress_user = progress_.get();
    }
    purlin_rsvd* made = nullptr;
    const purlin_status status = purlin_rsvd_create(on.get(), &raw, &made);
    handle_.reset(made);
    on.finish(status);
  }

  purlin_rsvd* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The sketch to use in place of random numbers, as many rows as A has columns; it is copied. Without one they are drawn
  /// again.
  void set_sketch(const matrix& omega = {}) { check(purlin_rsvd_set_sketch(get(), omega.get())); }

  /// The plan of a run on `a` with U and V, or without one of them: method, passes, bytes, blocks, memory.
  purlin_rsvd_info plan(const matrix& a, bool with_u = true, bool with_v = true) const {
    purlin_rsvd_info info = detail::fresh_info();
    check(purlin_rsvd_plan(get(), a.get(), with_u ? 1 : 0, with_v ? 1 : 0, &info));
    return info;
  }

  /// A ~ U diag(s) V^H: `u` m x k, `s` of k elements on the host, `v` n x k, or k x n where `right` is
  /// `PURLIN_RSVD_VH`. With a tolerance the outputs may be wider: `rank` of the answer says how many columns hold
  /// something. One that is not met throws `PURLIN_ERROR_NO_CONVERGENCE`; the outputs then hold the triplets of the
  /// largest rank, and `last_info` reports it.
  purlin_rsvd_info compute(const matrix& a, const matrix& u, const tensor& s, const matrix& v,
                           const stream& queue = {}) {
    purlin_rsvd_info info = detail::fresh_info();
    return finished(a, purlin_rsvd_compute(get(), queue.get(), a.get(), u.get(), s.get(), v.get(), &info), info);
  }

  /// An orthonormal basis `q`, m x l, of the range of A, and `b` = Q^H A, l x n; l is the number of columns of `q`.
  purlin_rsvd_info range(const matrix& a, const matrix& q, const matrix& b = {}, const stream& queue = {}) {
    purlin_rsvd_info info = detail::fresh_info();
    return finished(a, purlin_rsvd_range(get(), queue.get(), a.get(), q.get(), b.get(), &info), info);
  }

  /// The eigenvalues of largest modulus of a Hermitian matrix and their vectors, n x k.
  purlin_rsvd_info symmetric(const matrix& a, const tensor& lambda, const matrix& v, const stream& queue = {}) {
    purlin_rsvd_info info = detail::fresh_info();
    return finished(a, purlin_rsvd_symmetric(get(), queue.get(), a.get(), lambda.get(), v.get(), &info), info);
  }

  /// ||A - U diag(s) V^H|| from random probes of a stream of their own: one pass, the spectral norm being an upper bound;
  /// with the option `error` = `PURLIN_RSVD_ERROR_POWER` an estimate of it from below, and 11 passes.
  residual_norms error(const matrix& a, const matrix& u, const tensor& s, const matrix& v, const stream& queue = {}) {
    purlin_rsvd_info info = detail::fresh_info();
    residual_norms found{};
    finished(a,
             purlin_rsvd_error(get(), queue.get(), a.get(), u.get(), s.get(), v.get(), &found.frobenius,
                               &found.spectral, &info),
             info);
    return found;
  }

  /// ||A v - s u|| and ||A^H u - s v|| of each triplet: two passes.
  purlin_rsvd_info residuals(const matrix& a, const matrix& u, const tensor& s, const matrix& v, const tensor& left,
                             const tensor& right, const stream& queue = {}) {
    purlin_rsvd_info info = detail::fresh_info();
    return finished(a,
                    purlin_rsvd_residuals(get(), queue.get(), a.get(), u.get(), s.get(), v.get(), left.get(),
                                          right.get(), &info),
                    info);
  }

  /// Fills `omega` with the sketch that the options draw.
  void sketch(const matrix& omega, const stream& queue = {}) const {
    check(purlin_rsvd_sketch(get(), queue.get(), omega.get()));
  }

  /// The report of the last run that met its tolerance, or ended at the largest rank without. May be called from any thread.
  purlin_rsvd_info last_info() const {
    purlin_rsvd_info info = detail::fresh_info();
    check(purlin_rsvd_last_info(get(), &info));
    return info;
  }

  /// Makes the running call fail with `PURLIN_ERROR_CANCELLED`. May be called from any thread.
  void cancel() const { check(purlin_rsvd_cancel(get())); }

  /// Ends a call on this session: rethrows the exception of its progress function or of a function behind `a`, else
  /// throws the error of `status`. The wrappers of these headers call it.
  void finish(const matrix& a, purlin_status status) const {
    if (progress_) progress_->rethrow();
    a.rethrow();
    check(status);
  }

 private:
  purlin_rsvd_info finished(const matrix& a, purlin_status status, const purlin_rsvd_info& info) const {
    finish(a, status);
    return info;
  }

  std::unique_ptr<purlin::detail::progress_keeper> progress_;
  std::unique_ptr<purlin_rsvd, purlin::detail::destroy<purlin_rsvd, purlin_rsvd_destroy>> handle_;
};

/// A decomposition in memory of its own: `u` is rows x rank and `v` cols x rank, column-major and packed.
template <class T>
struct factors {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t rank = 0;
  std::vector<T> u;
  std::vector<real_of<T>> s;
  std::vector<T> v;
  purlin_rsvd_info info{};

  /// Column `j` of U, and of V.
  const T* left(std::int64_t j) const { return u.data() + rows * j; }
  const T* right(std::int64_t j) const { return v.data() + cols * j; }
};

/// The leading triplets of any matrix, computed in `T`, in one call. Whether a tolerance was met is said in
/// `info.converged`.
template <class T>
factors<T> compute(const context& on, const matrix& a, const options& settings) {
  const purlin_matrix_info shape = a.properties();
  const std::int64_t least = std::min(shape.rows, shape.cols);
  std::int64_t width = settings.rank;
  if (settings.tolerance > 0.0) width = settings.max_rank > 0 ? std::min(settings.max_rank, least) : least;
  options wanted = settings;
  wanted.dtype = dtype_of<T>;
  wanted.right = PURLIN_RSVD_V;

  session run(on, wanted);
  // Refuses the options before memory is allocated for as many columns as they ask for.
  run.plan(a);
  factors<T> result;
  result.rows = shape.rows;
  result.cols = shape.cols;
  result.u.resize(purlin::detail::size(shape.rows, width));
  result.v.resize(purlin::detail::size(shape.cols, width));
  result.s.resize(purlin::detail::size(width));
  try {
    run.compute(a, matrix::borrow(on, result.u, shape.rows, width), tensor::borrow(on, result.s),
                matrix::borrow(on, result.v, shape.cols, width));
  } catch (const error& e) {
    if (e.status() != PURLIN_ERROR_NO_CONVERGENCE) throw;
  }
  result.info = run.last_info();
  result.rank = settings.tolerance > 0.0 ? result.info.rank : width;
  result.u.resize(purlin::detail::size(shape.rows, result.rank));
  result.v.resize(purlin::detail::size(shape.cols, result.rank));
  result.s.resize(purlin::detail::size(result.rank));
  return result;
}

/// The same of the caller's dense matrix, in its own type.
template <class T>
factors<std::remove_const_t<T>> compute(const context& on, const const_matrix_view<T>& a, const options& settings) {
  return compute<std::remove_const_t<T>>(on, matrix::borrow(on, a), settings);
}

/// `session::compute` by a session for this run alone. `report` is filled in also where it throws
/// `PURLIN_ERROR_NO_CONVERGENCE`.
inline void compute_once(const context& on, const matrix& a, const options& settings, const matrix& u, const tensor& s,
                         const matrix& v, purlin_rsvd_info& report, const stream& queue = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_rsvd_options raw = relay.attach<purlin_rsvd_options>(settings.raw());
  report = detail::fresh_info();
  const purlin_status status =
      purlin_rsvd_compute_once(on.get(), queue.get(), a.get(), &raw, u.get(), s.get(), v.get(), &report);
  relay.rethrow();
  a.rethrow();
  on.finish(status);
}

}  // namespace purlin::rsvd

#endif
