/// @file fdk.hpp
/// Cone-beam CT: Feldkamp, Davis and Kress's reconstruction, in one call, view by view, or out of files.
///
/// Lengths in mm, angles in radians. Projections are [columns, rows, views], volumes [nx, ny, nz], first index fastest.
#ifndef PURLIN_FDK_HPP
#define PURLIN_FDK_HPP

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "blocks.hpp"

namespace purlin::fdk {

/// Panel and views: the C struct with its defaults, and arrays of its own in the place of the C pointers.
struct geometry : purlin_fdk_geometry {
  std::vector<double> angles;                    ///< one a view, in any order: a circular orbit
  std::vector<std::array<double, 12>> matrices;  ///< or 3x4 a view, row after row, mm to pixel index

  geometry() : purlin_fdk_geometry{} { check(purlin_fdk_geometry_init(this, sizeof(purlin_fdk_geometry))); }

  /// The C struct, which points into this object.
  purlin_fdk_geometry raw() const noexcept {
    purlin_fdk_geometry result = *this;
    if (!angles.empty()) result.angles = angles.data();
    if (!matrices.empty()) result.matrices = matrices.front().data();
    if (!angles.empty() || !matrices.empty()) {
      result.views = static_cast<std::int64_t>(angles.empty() ? matrices.size() : angles.size());
    }
    return result;
  }
};

/// Voxels: the C struct, all 0, which asks for the standard grid.
struct grid : purlin_fdk_grid {
  grid() : purlin_fdk_grid{} { check(purlin_fdk_grid_init(this, sizeof(purlin_fdk_grid))); }
};

/// The C options with their defaults, and progress as a `std::function`. `group` is a `group::get()`.
struct options : purlin_fdk_options {
  purlin::progress on_progress;

  options() : purlin_fdk_options{} { check(purlin_fdk_options_init(this, sizeof(purlin_fdk_options))); }
};

namespace detail {

inline purlin_fdk_info fresh_info() {
  purlin_fdk_info info{};
  check(purlin_fdk_info_init(&info, sizeof info));
  return info;
}

}  // namespace detail

/// A checked geometry, grid and options on a context: made once, used for many scans. An exception of the context's log
/// function during its calls is thrown by the next call that is given the context.
class reconstruction {
 public:
  reconstruction() noexcept = default;

  reconstruction(const context& on, const geometry& scanner, const grid& voxels = {},
                 const options& settings = {}) {
    const purlin_fdk_geometry raw_geometry = scanner.raw();
    purlin_fdk_options raw_options = settings;
    if (settings.on_progress) {
      progress_ = std::make_unique<purlin::detail::progress_keeper>(settings.on_progress);
      raw_options.progress = &purlin::detail::progress_keeper::call;
      raw_options.progress_user = progress_.get();
    }
    purlin_fdk* made = nullptr;
    const purlin_status status = purlin_fdk_create(on.get(), &raw_geometry, &voxels, &raw_options, &made);
    handle_.reset(made);
    on.finish(status);
  }

  purlin_fdk* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The choices, and the plan of a run from a source to a sink; while a scan is being pushed, for that scan, with
  /// the views pushed so far. May be called from any thread.
  purlin_fdk_info plan() const {
    purlin_fdk_info info = detail::fresh_info();
    check(purlin_fdk_plan(get(), &info));
    return info;
  }

  /// The report of the last run, of a whole scan or of one that was pushed. May be called from any thread.
  purlin_fdk_info last_info() const {
    purlin_fdk_info info = detail::fresh_info();
    check(purlin_fdk_last_info(get(), &info));
    return info;
  }

  /// Sizes of the volume, x first.
  std::vector<std::int64_t> volume_dims() const {
    const purlin_fdk_info info = plan();
    return {info.nx, info.ny, info.nz};
  }

  /// From now on the input is raw counts, with `i0` counts where nothing is in the way. The images, F32 or F64
  /// [columns, rows], may be empty.
  void set_counts(double i0, const tensor& i0_image = {}, const tensor& dark = {}, double epsilon = 0.0) {
    check(purlin_fdk_set_counts(get(), i0, i0_image.get(), dark.get(), epsilon));
  }

  /// Weights that a scan is reconstructed with: of rays that are measured twice, F64 [columns, views], and of views,
  /// F64 [views]; either may be empty.
  void weights(const tensor& redundancy, const tensor& angular) const {
    check(purlin_fdk_weights(get(), redundancy.get(), angular.get()));
  }

  /// The whole scan at once.
  purlin_fdk_info reconstruct(const tensor& projections, tensor& volume, const stream& queue = {}) {
    purlin_fdk_info info = detail::fresh_info();
    return finished(purlin_fdk_reconstruct(get(), queue.get(), projections.get(), volume.get(), &info), info);
  }

  /// The same from a source into a sink, neither of which need fit in memory.
  purlin_fdk_info reconstruct(const source& projections, const sink& volume, const stream& queue = {}) {
    purlin_fdk_info info = detail::fresh_info();
    const purlin_status status =
        purlin_fdk_reconstruct_to_sink(get(), queue.get(), projections.get(), volume.get(), &info);
    projections.rethrow();
    volume.rethrow();
    return finished(status, info);
  }

  /// Starts a scan that arrives in pieces, and drops one that was started before.
  void begin(const stream& queue = {}) { finish_call(purlin_fdk_begin(get(), queue.get())); }

  /// Views as they arrive, [columns, rows, count], in any order, each once. Returns before the GPU is done with them.
  void push(const std::vector<std::int64_t>& views, const tensor& projections) {
    finish_call(purlin_fdk_push(get(), purlin::detail::length(views), views.data(), projections.get()));
  }

  /// Pushes one view, [columns, rows], of index `view`.
  void push(std::int64_t view, const tensor& projection) {
    finish_call(purlin_fdk_push(get(), 1, &view, projection.get()));
  }

  /// The volume of the views that were pushed.
  purlin_fdk_info finish(tensor& volume) {
    purlin_fdk_info info = detail::fresh_info();
    return finished(purlin_fdk_finish(get(), volume.get(), &info), info);
  }

  purlin_fdk_info finish(const sink& volume) {
    purlin_fdk_info info = detail::fresh_info();
    const purlin_status status = purlin_fdk_finish_to_sink(get(), volume.get(), &info);
    volume.rethrow();
    return finished(status, info);
  }

  /// Makes the running call fail with `PURLIN_ERROR_CANCELLED`. May be called from any thread.
  void cancel() const { check(purlin_fdk_cancel(get())); }

  /// Cosine and redundancy weights alone.
  void weight(const std::vector<std::int64_t>& views, const tensor& projections, tensor& weighted,
              const stream& queue = {}) const {
    finish_call(purlin_fdk_weight(get(), queue.get(), purlin::detail::length(views), views.data(), projections.get(),
                                  weighted.get()));
  }

  /// The ramp filter alone: [filtered_columns, rows, count], see `plan`.
  void filter(const std::vector<std::int64_t>& views, const tensor& weighted, tensor& filtered,
              const stream& queue = {}) const {
    finish_call(purlin_fdk_filter(get(), queue.get(), purlin::detail::length(views), views.data(), weighted.get(),
                                  filtered.get()));
  }

  /// Adds the back-projection of filtered views to a volume.
  void backproject(const std::vector<std::int64_t>& views, const tensor& filtered, tensor& volume,
                   const stream& queue = {}) const {
    finish_call(purlin_fdk_backproject(get(), queue.get(), purlin::detail::length(views), views.data(),
                                       filtered.get(), volume.get()));
  }

  /// Exact projections of ellipsoids, F64 [8, E]: density, three half axes, centre, rotation about z.
  void project_ellipsoids(const tensor& ellipsoids, tensor& projections, const stream& queue = {}) const {
    finish_call(purlin_fdk_ellipsoids(get(), queue.get(), ellipsoids.get(), projections.get()));
  }

  /// Their density at the centre of each voxel.
  void draw_ellipsoids(const tensor& ellipsoids, tensor& volume) const {
    finish_call(purlin_fdk_ellipsoid_volume(get(), ellipsoids.get(), volume.get()));
  }

 private:
  void finish_call(purlin_status status) const {
    if (progress_) progress_->rethrow();
    check(status);
  }

  purlin_fdk_info finished(purlin_status status, const purlin_fdk_info& info) const {
    finish_call(status);
    return info;
  }

  std::unique_ptr<purlin::detail::progress_keeper> progress_;
  std::unique_ptr<purlin_fdk, purlin::detail::destroy<purlin_fdk, purlin_fdk_destroy>> handle_;
};

/// `reconstruction::reconstruct` of tensors by an object for this run alone.
inline purlin_fdk_info reconstruct_once(const context& on, const tensor& projections, const geometry& scanner,
                                        const grid& voxels, const options& settings, tensor& volume,
                                        const stream& queue = {}) {
  purlin::detail::progress_relay relay(settings.on_progress);
  const purlin_fdk_geometry raw_geometry = scanner.raw();
  const purlin_fdk_options raw = relay.attach<purlin_fdk_options>(settings);
  purlin_fdk_info info = detail::fresh_info();
  const purlin_status status = purlin_fdk_reconstruct_once(on.get(), queue.get(), projections.get(), &raw_geometry,
                                                           &voxels, &raw, volume.get(), &info);
  relay.rethrow();
  on.finish(status);
  return info;
}

/// Line integrals from counts: p = -ln(max(I - dark, epsilon) / max(I0 - dark, epsilon)); returns how many counts were
/// below `epsilon`, which 0 makes half a count.
inline std::int64_t log_transform(const context& on, const tensor& counts, double i0, const tensor& i0_image,
                                  const tensor& dark, double epsilon, tensor& projections, const stream& queue = {}) {
  std::int64_t clamped = 0;
  on.finish(purlin_fdk_log_transform(on.get(), queue.get(), counts.get(), i0, i0_image.get(), dark.get(), epsilon,
                                     projections.get(), &clamped));
  return clamped;
}

/// The ten ellipsoids of the Shepp-Logan head in three dimensions, [8, 10], in a ball of `radius` mm.
inline tensor shepp_logan(const context& on, double radius) {
  tensor result = tensor::create<double>(on, {8, 10});
  check(purlin_fdk_shepp_logan(radius, result.get()));
  return result;
}

}  // namespace purlin::fdk

#endif
