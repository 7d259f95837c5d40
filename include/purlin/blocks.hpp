/// @file blocks.hpp
/// Sources and sinks: where a computation on data larger than memory reads from and writes to.
#ifndef PURLIN_BLOCKS_HPP
#define PURLIN_BLOCKS_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensor.hpp"

namespace purlin {

/// Fills `block`, packed with the first axis fastest, with the elements from `first` on, `count` along each axis. Called
/// from a thread of the library, one call at a time.
using block_reader = std::function<void(const std::int64_t* first, const std::int64_t* count, void* block)>;

/// Takes the elements in `block`, likewise.
using block_writer = std::function<void(const std::int64_t* first, const std::int64_t* count, const void* block)>;

namespace detail {

/// A caller's block function behind the C callback. Its address is known to the library, so it never moves.
template <class Function, class Block>
class block_relay final : public relay_base {
 public:
  explicit block_relay(Function function) : function_(std::move(function)) {}

  static std::int32_t call(const std::int64_t* first, const std::int64_t* count, Block block, void* user) noexcept {
    auto* self = static_cast<block_relay*>(user);
    try {
      self->function_(first, count, block);
      return 0;
    } catch (...) {
      self->keep();
      return 1;
    }
  }

 private:
  Function function_;
};

inline const double* data_or_null(const std::vector<double>& values, const extents& dims, const char* name) {
  if (values.empty()) return nullptr;
  if (length(values) != dims.size()) {
    refuse(std::string(name) + ": has " + std::to_string(values.size()) + " elements, expected " +
           std::to_string(dims.size()));
  }
  return values.data();
}

}  // namespace detail

/// An array that is read in blocks. Sizes are given with the axis that runs fastest first.
class source {
 public:
  source() noexcept = default;

  /// A tensor, which the source keeps alive; memory that the tensor borrows has to outlive the source.
  static source from(const context& on, const tensor& array) {
    purlin_source* made = nullptr;
    const purlin_status status = purlin_source_from_tensor(on.get(), array.get(), &made);
    return adopt(on, status, made);
  }

  /// A raw file whose elements begin at byte `offset`.
  static source from_file(const context& on, const std::string& path, purlin_dtype dtype, const extents& dims,
                          std::int64_t offset = 0, std::int32_t endianness = PURLIN_LITTLE_ENDIAN) {
    purlin_source* made = nullptr;
    const purlin_status status =
        purlin_source_from_file(on.get(), detail::c_path(path), offset, dtype, endianness, dims.size(), dims.data(),
                                &made);
    return adopt(on, status, made);
  }

  /// The same through a memory map: pages come and go as the system likes.
  static source from_mapped_file(const context& on, const std::string& path, purlin_dtype dtype, const extents& dims,
                                 std::int64_t offset = 0, std::int32_t endianness = PURLIN_LITTLE_ENDIAN) {
    purlin_source* made = nullptr;
    const purlin_status status = purlin_source_from_mapped_file(on.get(), detail::c_path(path), offset, dtype, endianness,
                                                                dims.size(), dims.data(), &made);
    return adopt(on, status, made);
  }

  /// A NumPy `.npy` file. `properties().flags` has `PURLIN_ROW_MAJOR` for C order, where the sizes are NumPy's shape the
  /// other way round.
  static source from_npy(const context& on, const std::string& path) {
    purlin_source* made = nullptr;
    const purlin_status status = purlin_source_from_npy(on.get(), detail::c_path(path), &made);
    return adopt(on, status, made);
  }

  /// A MetaImage, `.mha` or `.mhd`.
  static source from_metaimage(const context& on, const std::string& path) {
    purlin_source* made = nullptr;
    const purlin_status status = purlin_source_from_metaimage(on.get(), detail::c_path(path), &made);
    return adopt(on, status, made);
  }

  /// TIFF files of one or more pages each; the pages, in order, are the last axis.
  static source from_tiff(const context& on, const std::vector<std::string>& paths) {
    std::vector<const char*> names;
    names.reserve(paths.size());
    for (const auto& path : paths) names.push_back(detail::c_path(path));
    purlin_source* made = nullptr;
    const purlin_status status = purlin_source_from_tiff(on.get(), detail::length(names), names.data(), &made);
    return adopt(on, status, made);
  }

  /// An array that `reader` delivers. Its exception ends the run and is thrown again from the call.
  static source from_function(const context& on, purlin_dtype dtype, const extents& dims, block_reader reader) {
    source result;
    auto shared = std::make_shared<relay>(std::move(reader));
    purlin_source* made = nullptr;
    const purlin_status status =
        purlin_source_from_callback(on.get(), dtype, dims.size(), dims.data(), &relay::call, shared.get(), &made);
    result.relay_ = std::move(shared);
    result.handle_.reset(made);
    on.finish(status);
    return result;
  }

  purlin_source* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Type, sizes and place of the array.
  purlin_array_info properties() const {
    purlin_array_info info{};
    check(purlin_array_info_init(&info, sizeof info));
    check(purlin_source_info(get(), &info));
    return info;
  }

  /// Throws the exception of a function of `from_function` in the last run. The wrappers of this header call it.
  void rethrow() const {
    if (relay_) relay_->rethrow();
  }

 private:
  using relay = detail::block_relay<block_reader, void*>;

  static source adopt(const context& on, purlin_status status, purlin_source* made) {
    source result;
    result.handle_.reset(made);
    on.finish(status);
    return result;
  }

  friend class matrix;

  // The handle goes first: a run that still reads ends before its function does. A matrix that reads the source shares it.
  std::shared_ptr<detail::relay_base> relay_;
  std::unique_ptr<purlin_source, detail::destroy<purlin_source, purlin_source_destroy>> handle_;
};

/// An array that is written in blocks, once. A file gets its name when the run has succeeded.
class sink {
 public:
  sink() noexcept = default;

  /// A tensor, which the sink keeps alive; memory that the tensor borrows has to outlive the sink.
  static sink to(const context& on, tensor& array) {
    purlin_sink* made = nullptr;
    const purlin_status status = purlin_sink_to_tensor(on.get(), array.get(), &made);
    return adopt(on, status, made);
  }

  /// A raw file with `offset` zero bytes before the elements.
  static sink to_file(const context& on, const std::string& path, purlin_dtype dtype, const extents& dims,
                      std::int64_t offset = 0, std::int32_t endianness = PURLIN_LITTLE_ENDIAN) {
    purlin_sink* made = nullptr;
    const purlin_status status =
        purlin_sink_to_file(on.get(), detail::c_path(path), offset, dtype, endianness, dims.size(), dims.data(), &made);
    return adopt(on, status, made);
  }

  /// A MetaImage, `.mha` or `.mhd`; empty `spacing` and `origin`, mm, are those of the grid of a reconstruction, else 1 and 0.
  static sink to_metaimage(const context& on, const std::string& path, purlin_dtype dtype, const extents& dims,
                           const std::vector<double>& spacing = {}, const std::vector<double>& origin = {}) {
    purlin_sink* made = nullptr;
    const purlin_status status = purlin_sink_to_metaimage(
        on.get(), detail::c_path(path), dtype, dims.size(), dims.data(), detail::data_or_null(spacing, dims, "spacing"),
        detail::data_or_null(origin, dims, "origin"), &made);
    return adopt(on, status, made);
  }

  /// One TIFF file of `pages` pages.
  static sink to_tiff(const context& on, const std::string& path, purlin_dtype dtype, std::int64_t width,
                      std::int64_t height, std::int64_t pages) {
    purlin_sink* made = nullptr;
    const purlin_status status = purlin_sink_to_tiff(on.get(), detail::c_path(path), dtype, width, height, pages, &made);
    return adopt(on, status, made);
  }

  /// An array that `writer` takes. Its exception ends the run and is thrown again from the call.
  static sink to_function(const context& on, purlin_dtype dtype, const extents& dims, block_writer writer) {
    sink result;
    result.relay_ = std::make_unique<relay>(std::move(writer));
    purlin_sink* made = nullptr;
    const purlin_status status = purlin_sink_to_callback(on.get(), dtype, dims.size(), dims.data(), &relay::call,
                                                         result.relay_.get(), &made);
    result.handle_.reset(made);
    on.finish(status);
    return result;
  }

  purlin_sink* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Throws the exception of a function of `to_function` in the last run. The wrappers of this header call it.
  void rethrow() const {
    if (relay_) relay_->rethrow();
  }

 private:
  using relay = detail::block_relay<block_writer, const void*>;

  static sink adopt(const context& on, purlin_status status, purlin_sink* made) {
    sink result;
    result.handle_.reset(made);
    on.finish(status);
    return result;
  }

  std::unique_ptr<relay> relay_;
  std::unique_ptr<purlin_sink, detail::destroy<purlin_sink, purlin_sink_destroy>> handle_;
};

}  // namespace purlin

#endif
