/// @file dwi.hpp
/// Diffusion MRI: tensors from signals, spherical harmonics to tensors and back, fibre directions.
///
/// Maxima of a fitted diffusivity are not fibre directions where fibres cross: take directions from an orientation
/// function. Directions are in the frame of the gradients.
#ifndef PURLIN_DWI_HPP
#define PURLIN_DWI_HPP

#include <cstdint>
#include <memory>
#include <vector>

#include "sshopm.hpp"

namespace purlin::dwi {

/// The C options with their defaults, and progress as a `std::function`. `basis` belongs to `peaks`: that of
/// coefficients, or `PURLIN_SH_TENSOR` for symmetric tensors. 0, the default, is for symmetric batches only: a dense
/// input is refused. Each call refuses the options that it does not use.
struct options : purlin_dwi_options {
  purlin::progress on_progress;

  options() : purlin_dwi_options{} { check(purlin_dwi_options_init(this, sizeof(purlin_dwi_options))); }
};

/// Options on a context, for volumes of any size; `fit`, `csa` and `peaks` without a session make one for one call. Several
/// threads may use one without a progress function at a time.
class session {
 public:
  session() noexcept = default;

  session(const context& on, const options& settings) {
    purlin_dwi_options raw = settings;
    if (settings.on_progress) {
      progress_ = std::make_unique<purlin::detail::progress_keeper>(settings.on_progress);
      raw.progress = &purlin::detail::progress_keeper::call;
      raw.progress_user = progress_.get();
    }
    purlin_dwi* made = nullptr;
    const purlin_status status = purlin_dwi_create(on.get(), &raw, &made);
    handle_.reset(made);
    on.finish(status);
  }

  purlin_dwi* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The plan of `peaks`: starts, chunks, tolerance, host memory beside the array of peaks, and where it runs.
  purlin_sshopm_info plan(const tensor& input) const {
    purlin_sshopm_info info = sshopm::detail::fresh_info();
    check(purlin_dwi_plan(get(), input.get(), &info));
    return info;
  }

  /// As the function `fit`, with the options of this object.
  purlin_sshopm_info fit(const tensor& signals, const tensor& bvals, const tensor& bvecs, const tensor& mask,
                         const tensor& weights, tensor& tensors, const tensor& s0 = {}, const tensor& status = {},
                         const stream& queue = {}) {
    purlin_sshopm_info info = sshopm::detail::fresh_info();
    finish(purlin_dwi_fit(get(), queue.get(), signals.get(), bvals.get(), bvecs.get(), mask.get(), weights.get(),
                          tensors.get(), s0.get(), status.get(), &info));
    return info;
  }

  /// As the function `csa`, with the options of this object.
  purlin_sshopm_info csa(const tensor& signals, const tensor& bvals, const tensor& bvecs, const tensor& mask,
                         std::int32_t basis, tensor& sh, const tensor& status = {}, const stream& queue = {}) {
    purlin_sshopm_info info = sshopm::detail::fresh_info();
    finish(purlin_dwi_csa(get(), queue.get(), signals.get(), bvals.get(), bvecs.get(), mask.get(), basis, sh.get(),
                          status.get(), &info));
    return info;
  }

  /// As the function `peaks`, with the options of this object.
  purlin_sshopm_info peaks(const tensor& input, const tensor& mask, tensor& peaks, const tensor& count = {},
                           const tensor& status = {}, const stream& queue = {}) {
    purlin_sshopm_info info = sshopm::detail::fresh_info();
    finish(purlin_dwi_peaks(get(), queue.get(), input.get(), mask.get(), peaks.get(), count.get(), status.get(),
                            &info));
    return info;
  }

  /// The report of the last call that succeeded.
  purlin_sshopm_info last_info() const {
    purlin_sshopm_info info = sshopm::detail::fresh_info();
    check(purlin_dwi_last_info(get(), &info));
    return info;
  }

  /// Makes the running call throw `PURLIN_ERROR_CANCELLED`. May be called from any thread.
  void cancel() const { check(purlin_dwi_cancel(get())); }

 private:
  void finish(purlin_status status) {
    if (progress_) progress_->rethrow();
    check(status);
  }

  std::unique_ptr<purlin::detail::progress_keeper> progress_;
  std::unique_ptr<purlin_dwi, purlin::detail::destroy<purlin_dwi, purlin_dwi_destroy>> handle_;
};

/// Tensors of the diffusivity from signals [N, T], b-values [N] and unit gradients [3, N]. `mask` (U8 [T]), `weights`
/// ([N, T]), `s0` ([T]) and `status` (I32 [T]) may be empty.
inline purlin_sshopm_info fit(const context& on, const tensor& signals, const tensor& bvals, const tensor& bvecs,
                              const tensor& mask, const tensor& weights, const options& options, tensor& tensors,
                              const tensor& s0 = {}, const tensor& status = {}, const stream& queue = {}) {
  purlin_sshopm_info info = sshopm::detail::fresh_info();
  purlin::detail::progress_relay relay(options.on_progress);
  const purlin_dwi_options raw = relay.attach<purlin_dwi_options>(options);
  const purlin_status outcome =
      purlin_dwi_fit_once(on.get(), queue.get(), signals.get(), bvals.get(), bvecs.get(), mask.get(), weights.get(),
                          &raw, tensors.get(), s0.get(), status.get(), &info);
  relay.rethrow();
  on.finish(outcome);
  return info;
}

/// Orientation functions in constant solid angle from signals as for `fit`: coefficients [U, T] of even degree in the
/// given basis. `mask` and `status` may be empty.
inline purlin_sshopm_info csa(const context& on, const tensor& signals, const tensor& bvals, const tensor& bvecs,
                              const tensor& mask, std::int32_t basis, const options& options, tensor& sh,
                              const tensor& status = {}, const stream& queue = {}) {
  purlin_sshopm_info info = sshopm::detail::fresh_info();
  purlin::detail::progress_relay relay(options.on_progress);
  const purlin_dwi_options raw = relay.attach<purlin_dwi_options>(options);
  const purlin_status outcome = purlin_dwi_csa_once(on.get(), queue.get(), signals.get(), bvals.get(), bvecs.get(),
                                                    mask.get(), basis, &raw, sh.get(), status.get(), &info);
  relay.rethrow();
  on.finish(outcome);
  return info;
}

/// Symmetric tensors of order L from coefficients [U, T] of even degree up to L; `basis` is `PURLIN_SH_*`.
inline void sh_to_tensor(const context& on, const tensor& sh, std::int32_t basis, tensor& tensors,
                         const stream& queue = {}) {
  on.finish(purlin_dwi_sh_to_tensor(on.get(), queue.get(), sh.get(), basis, tensors.get()));
}

/// Coefficients [U, T] in the given basis from symmetric tensors.
inline void tensor_to_sh(const context& on, const tensor& tensors, std::int32_t basis, tensor& sh,
                         const stream& queue = {}) {
  on.finish(purlin_dwi_tensor_to_sh(on.get(), queue.get(), tensors.get(), basis, sh.get()));
}

/// Directions of the largest maxima: `peaks` [4, K, T] or [3, K, T] by `options.format`; `mask` (U8 [T]), `count` and
/// `status` (I32 [T]) may be empty.
inline purlin_sshopm_info peaks(const context& on, const tensor& input, const tensor& mask,
                                const options& options, tensor& peaks, const tensor& count = {},
                                const tensor& status = {}, const stream& queue = {}) {
  purlin_sshopm_info info = sshopm::detail::fresh_info();
  purlin::detail::progress_relay relay(options.on_progress);
  const purlin_dwi_options raw = relay.attach<purlin_dwi_options>(options);
  const purlin_status outcome = purlin_dwi_peaks_once(on.get(), queue.get(), input.get(), mask.get(), &raw,
                                                      peaks.get(), count.get(), status.get(), &info);
  relay.rethrow();
  on.finish(outcome);
  return info;
}

/// Results of `fit` in T voxels: U packed entries each, S0, and the status.
template <class T>
struct fitted {
  std::vector<T> tensors;            ///< [U, T], packed entries
  std::vector<T> s0;                 ///< [T]
  std::vector<std::int32_t> status;  ///< [T], `PURLIN_TENSOR_*`
  purlin_sshopm_info info{};
};

/// `fit` for a volume in one container, [N, T] packed, with N = `bvals.size()`; `bvecs` is [3, N]. `T` is the type of
/// b-values, gradients and results.
template <class T, class Signals>
fitted<T> fit(const context& on, const Signals& signals, const std::vector<T>& bvals, const std::vector<T>& bvecs,
              std::int64_t order, const options& options = {}, const std::vector<std::uint8_t>& mask = {},
              const stream& queue = {}) {
  const std::int64_t measurements = purlin::detail::length(bvals);
  const std::int64_t voxels = measurements > 0 ? purlin::detail::length(signals) / measurements : 0;
  fitted<T> result;
  result.tensors.assign(purlin::detail::size(symmetric::count(order, 3), voxels), T{});
  tensor tensors = tensor::symmetric_batch(on, result.tensors, order, 3);
  result.s0.assign(purlin::detail::size(voxels), T{});
  result.status.assign(purlin::detail::size(voxels), 0);
  result.info =
      fit(on, tensor::borrow(on, signals, {measurements, voxels}), tensor::borrow(on, bvals),
          tensor::borrow(on, bvecs, {3, measurements}), mask.empty() ? tensor{} : tensor::borrow(on, mask), tensor{},
          options, tensors, tensor::borrow(on, result.s0), tensor::borrow(on, result.status), queue);
  return result;
}

/// Results of `csa` in T voxels: U coefficients each, and the status.
template <class T>
struct orientation {
  std::vector<T> sh;                 ///< [U, T]
  std::vector<std::int32_t> status;  ///< [T], `PURLIN_TENSOR_*`
  purlin_sshopm_info info{};
};

/// `csa` for a volume in one container, as `fit`; coefficients up to the even `degree`.
template <class T, class Signals>
orientation<T> csa(const context& on, const Signals& signals, const std::vector<T>& bvals, const std::vector<T>& bvecs,
                   std::int32_t degree, std::int32_t basis, const options& options = {},
                   const std::vector<std::uint8_t>& mask = {}, const stream& queue = {}) {
  const std::int64_t measurements = purlin::detail::length(bvals);
  const std::int64_t voxels = measurements > 0 ? purlin::detail::length(signals) / measurements : 0;
  const std::int64_t coefficients = symmetric::count(degree, 3);
  orientation<T> result;
  result.sh.assign(purlin::detail::size(coefficients, voxels), T{});
  result.status.assign(purlin::detail::size(voxels), 0);
  tensor sh = tensor::borrow(on, result.sh, {coefficients, voxels});
  result.info =
      csa(on, tensor::borrow(on, signals, {measurements, voxels}), tensor::borrow(on, bvals),
          tensor::borrow(on, bvecs, {3, measurements}), mask.empty() ? tensor{} : tensor::borrow(on, mask), basis,
          options, sh, tensor::borrow(on, result.status), queue);
  return result;
}

/// Results of `peaks`: rows of x, y, z, value, or of direction times amplitude with `PURLIN_PEAKS_MRTRIX`.
template <class T>
struct directions {
  std::int64_t components = 0;       ///< 4 or 3
  std::int64_t kept = 0;             ///< K
  std::vector<T> peaks;              ///< [components, K, T]
  std::vector<std::int32_t> count;   ///< [T]
  std::vector<std::int32_t> status;  ///< [T], `PURLIN_TENSOR_*`
  purlin_sshopm_info info{};

  const T* peak(std::int64_t index, std::int64_t voxel) const {
    return &peaks.at(purlin::detail::size(
        purlin::detail::multiply_add(purlin::detail::multiply_add(voxel, kept, index), components, 0)));
  }
};

namespace detail {

template <class T>
directions<T> find_peaks(const context& on, const tensor& input, std::int64_t kept, std::int64_t voxels,
                         const options& options, const std::vector<std::uint8_t>& mask, const stream& queue) {
  directions<T> found;
  found.components = options.format == PURLIN_PEAKS_MRTRIX ? 3 : 4;
  found.kept = kept;
  found.peaks.assign(purlin::detail::size(found.components, kept, voxels), T{});
  found.count.assign(purlin::detail::size(voxels), 0);
  found.status.assign(purlin::detail::size(voxels), 0);
  tensor peaks = tensor::borrow(on, found.peaks, {found.components, kept, voxels});
  found.info = dwi::peaks(on, input, mask.empty() ? tensor{} : tensor::borrow(on, mask), options, peaks,
                          tensor::borrow(on, found.count), tensor::borrow(on, found.status), queue);
  return found;
}

}  // namespace detail

/// The `kept` strongest directions of every tensor.
template <class T>
directions<T> peaks(const context& on, const symmetric_view<T>& tensors, std::int64_t kept,
                    const options& options = {}, const std::vector<std::uint8_t>& mask = {},
                    const stream& queue = {}) {
  return detail::find_peaks<T>(on, tensor::borrow(on, tensors), kept, tensors.count, options, mask, queue);
}

/// The `kept` strongest directions of every voxel of spherical-harmonic coefficients, one column a voxel.
/// `options.basis` names the basis; without one the call is refused.
template <class T>
directions<T> peaks(const context& on, const const_matrix_view<T>& sh, std::int64_t kept, const options& options,
                    const std::vector<std::uint8_t>& mask = {}, const stream& queue = {}) {
  const tensor input =
      tensor::borrow(on, sh.data, {sh.rows, sh.cols}, {1, sh.ld != 0 ? sh.ld : sh.rows});
  return detail::find_peaks<T>(on, input, kept, sh.cols, options, mask, queue);
}

}  // namespace purlin::dwi

#endif
