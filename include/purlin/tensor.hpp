/// @file tensor.hpp
/// Dense tensors of any rank and batches of packed symmetric tensors, owned by the library or borrowed from the caller.
#ifndef PURLIN_TENSOR_HPP
#define PURLIN_TENSOR_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "context.hpp"
#include "view.hpp"

namespace purlin {

/// Owner of a tensor handle. Strides are in elements; no strides means packed, first index fastest.
class tensor {
 public:
  /// No tensor, for an optional argument.
  tensor() noexcept = default;

  /// Takes over a handle made by the C interface.
  explicit tensor(purlin_tensor* adopted) noexcept : handle_(adopted) {}

  /// A dense tensor in memory of the library. Here and below flags alone are not taken, as they would be read as the
  /// number before them: `location` and `flags`, or both strides and `flags`, are all given or none of them.
  static tensor create(const context& on, purlin_dtype dtype, const extents& dims, purlin_location location,
                       purlin_flags flags) {
    purlin_tensor* made = nullptr;
    const purlin_status status =
        purlin_tensor_create(on.get(), dtype, location, flags, dims.size(), dims.data(), &made);
    return detail::adopt<tensor>(on, status, made);
  }

  /// The same in host memory, packed, first index fastest.
  static tensor create(const context& on, purlin_dtype dtype, const extents& dims) {
    return create(on, dtype, dims, PURLIN_HOST, 0);
  }

  template <class T>
  static tensor create(const context& on, const extents& dims, purlin_location location, purlin_flags flags) {
    return create(on, dtype_of<T>, dims, location, flags);
  }

  template <class T>
  static tensor create(const context& on, const extents& dims) {
    return create(on, dtype_of<T>, dims, PURLIN_HOST, 0);
  }

  /// A batch of `count` packed symmetric tensors in memory of the library.
  static tensor create_symmetric(const context& on, purlin_dtype dtype, std::int64_t order, std::int64_t dimension,
                                 std::int64_t count, purlin_location location, purlin_flags flags) {
    purlin_tensor* made = nullptr;
    const purlin_status status =
        purlin_tensor_create_symmetric(on.get(), dtype, location, flags, order, dimension, count, &made);
    return detail::adopt<tensor>(on, status, made);
  }

  /// The same in host memory, one tensor after the other.
  static tensor create_symmetric(const context& on, purlin_dtype dtype, std::int64_t order, std::int64_t dimension,
                                 std::int64_t count) {
    return create_symmetric(on, dtype, order, dimension, count, PURLIN_HOST, 0);
  }

  template <class T>
  static tensor create_symmetric(const context& on, std::int64_t order, std::int64_t dimension, std::int64_t count,
                                 purlin_location location, purlin_flags flags) {
    return create_symmetric(on, dtype_of<T>, order, dimension, count, location, flags);
  }

  template <class T>
  static tensor create_symmetric(const context& on, std::int64_t order, std::int64_t dimension, std::int64_t count) {
    return create_symmetric(on, dtype_of<T>, order, dimension, count, PURLIN_HOST, 0);
  }

  /// The caller's host memory in place; memory that is const is only read. An array of known length takes the overload
  /// for containers, since a reference to a pointer does not bind to it.
  template <class T>
  static tensor borrow(const context& on, T* const& data, const extents& dims, const extents& strides = {},
                       purlin_flags flags = 0) {
    same_rank(dims, strides);
    purlin_tensor* made = nullptr;
    const purlin_status status =
        purlin_tensor_borrow(on.get(), dtype_of<T>, flags | access<T>(), dims.size(), dims.data(), strides.data(),
                             address(data), &made);
    return detail::adopt<tensor>(on, status, made);
  }

  /// The memory of a container or array in place. One shorter than the extents is refused.
  template <class C, detail::if_container<C> = 0>
  static tensor borrow(const context& on, C& data, const extents& dims, const extents& strides = {},
                       purlin_flags flags = 0) {
    same_rank(dims, strides);
    holds(detail::length(data), dims.span(strides));
    return borrow(on, std::data(data), dims, strides, flags);
  }

  /// A whole container as a vector.
  template <class C, detail::if_container<C> = 0>
  static tensor borrow(const context& on, C& data) {
    return borrow(on, std::data(data), {detail::length(data)});
  }

  /// The caller's device memory in place; `data` is a `CUdeviceptr`.
  static tensor borrow_device(const context& on, purlin_dtype dtype, std::uint64_t data, const extents& dims,
                              const extents& strides = {}, purlin_flags flags = 0) {
    same_rank(dims, strides);
    purlin_tensor* made = nullptr;
    const purlin_status status =
        purlin_tensor_borrow_device(on.get(), dtype, flags, dims.size(), dims.data(), strides.data(), data, &made);
    return detail::adopt<tensor>(on, status, made);
  }

  /// The caller's batch of packed symmetric tensors in place, only read.
  template <class T>
  static tensor borrow(const context& on, const symmetric_view<T>& view) {
    return borrow_symmetric(on, view.data, view.order, view.dimension, view.count, view.entry_stride,
                            view.tensor_stride, 0);
  }

  /// The same from a pointer. Both strides 0 = one tensor after the other, or one entry of all tensors after the other
  /// with `PURLIN_ENTRY_MAJOR`.
  template <class T>
  static tensor borrow_symmetric(const context& on, T* data, std::int64_t order, std::int64_t dimension,
                                 std::int64_t count, std::int64_t entry_stride, std::int64_t tensor_stride,
                                 purlin_flags flags) {
    purlin_tensor* made = nullptr;
    const purlin_status status =
        purlin_tensor_borrow_symmetric(on.get(), dtype_of<T>, flags | access<T>(), order, dimension, count,
                                       entry_stride, tensor_stride, address(data), &made);
    return detail::adopt<tensor>(on, status, made);
  }

  /// The same, one tensor after the other.
  template <class T>
  static tensor borrow_symmetric(const context& on, T* data, std::int64_t order, std::int64_t dimension,
                                 std::int64_t count) {
    return borrow_symmetric(on, data, order, dimension, count, 0, 0, 0);
  }

  /// The same from device memory; `data` is a `CUdeviceptr`.
  static tensor borrow_symmetric_device(const context& on, purlin_dtype dtype, std::uint64_t data, std::int64_t order,
                                        std::int64_t dimension, std::int64_t count, std::int64_t entry_stride,
                                        std::int64_t tensor_stride, purlin_flags flags) {
    purlin_tensor* made = nullptr;
    const purlin_status status =
        purlin_tensor_borrow_symmetric_device(on.get(), dtype, flags, order, dimension, count, entry_stride,
                                              tensor_stride, data, &made);
    return detail::adopt<tensor>(on, status, made);
  }

  /// The same, one tensor after the other.
  static tensor borrow_symmetric_device(const context& on, purlin_dtype dtype, std::uint64_t data, std::int64_t order,
                                        std::int64_t dimension, std::int64_t count) {
    return borrow_symmetric_device(on, dtype, data, order, dimension, count, 0, 0, 0);
  }

  /// As many packed symmetric tensors as `entries` holds; a remainder is refused.
  template <class C, detail::if_container<C> = 0>
  static tensor symmetric_batch(const context& on, C& entries, std::int64_t order, std::int64_t dimension) {
    std::int64_t each = 0;
    on.finish(purlin_symmetric_count(order, dimension, &each));
    const std::int64_t length = detail::length(entries);
    if (length % each != 0) {
      detail::refuse("entries: has " + std::to_string(length) + " elements, not a multiple of " +
                     std::to_string(each));
    }
    return borrow_symmetric(on, std::data(entries), order, dimension, length / each, 0, 0, 0);
  }

  /// `count` packed symmetric tensors; a container of another length is refused.
  template <class C, detail::if_container<C> = 0>
  static tensor symmetric_batch(const context& on, C& entries, std::int64_t order, std::int64_t dimension,
                                std::int64_t count, purlin_flags flags) {
    std::int64_t each = 0;
    on.finish(purlin_symmetric_count(order, dimension, &each));
    const std::int64_t length = detail::length(entries);
    if (count >= 0 && length != detail::multiply_add(each, count, 0)) {
      detail::refuse("entries: has " + std::to_string(length) + " elements, expected " + std::to_string(count) +
                     " tensors of " + std::to_string(each));
    }
    return borrow_symmetric(on, std::data(entries), order, dimension, count, 0, 0, flags);
  }

  /// One number after the sizes could be `count` or `flags`: give both.
  template <class C, detail::if_container<C> = 0>
  static tensor symmetric_batch(const context& on, C& entries, std::int64_t order, std::int64_t dimension,
                                std::int64_t) = delete;

  /// Takes a `DLManagedTensorVersioned`; its deleter is called once, on failure as well.
  static tensor from_dlpack(const context& on, void* managed) {
    purlin_tensor* made = nullptr;
    const purlin_status status = purlin_tensor_from_dlpack(on.get(), managed, &made);
    return detail::adopt<tensor>(on, status, made);
  }

  /// A `DLManagedTensorVersioned` that keeps the tensor's memory alive until its deleter is called.
  void* to_dlpack() const {
    void* managed = nullptr;
    check(purlin_tensor_to_dlpack(get(), &managed));
    return managed;
  }

  purlin_tensor* get() const noexcept { return handle_.get(); }
  purlin_tensor* release() noexcept { return handle_.release(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  purlin_tensor_info properties() const {
    purlin_tensor_info info{};
    check(purlin_tensor_info_init(&info, sizeof info));
    check(purlin_tensor_properties(get(), &info));
    return info;
  }

  std::vector<std::int64_t> dims() const {
    std::vector<std::int64_t> dims(detail::size(properties().ndim));
    check(purlin_tensor_shape(get(), static_cast<std::int64_t>(dims.size()), dims.data(), nullptr));
    return dims;
  }

  std::vector<std::int64_t> strides() const {
    std::vector<std::int64_t> strides(detail::size(properties().ndim));
    check(purlin_tensor_shape(get(), static_cast<std::int64_t>(strides.size()), nullptr, strides.data()));
    return strides;
  }

  /// The first element of a host tensor of type `T`. Refused for another type, for device memory, and unless `T` is
  /// const for memory that is only read.
  template <class T>
  T* data() const {
    const purlin_tensor_info info = properties();
    if (info.dtype != dtype_of<T>) detail::refuse("dtype: is " + std::to_string(info.dtype) + ", not the asked one");
    if (info.location != PURLIN_HOST) detail::refuse("location: is the device, expected the host");
    if (!std::is_const_v<T> && (info.flags & PURLIN_READ_ONLY) != 0) detail::refuse("flags: the memory is read-only");
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(info.data));
  }

 private:
  template <class T>
  static constexpr purlin_flags access() noexcept {
    return std::is_const_v<T> ? PURLIN_READ_ONLY : 0;
  }

  // The library takes one pointer type for both; PURLIN_READ_ONLY keeps the promise that the cast gives up.
  template <class T>
  static void* address(T* data) noexcept {
    return const_cast<void*>(static_cast<const void*>(data));
  }

  static void same_rank(const extents& dims, const extents& strides) {
    if (!strides.empty() && strides.size() != dims.size()) {
      detail::refuse("strides: has " + std::to_string(strides.size()) + " elements, expected " +
                     std::to_string(dims.size()));
    }
  }

  static void holds(std::int64_t length, std::int64_t needed) {
    if (length < needed) {
      detail::refuse("data: has " + std::to_string(length) + " elements, the dims need " + std::to_string(needed));
    }
  }

  std::unique_ptr<purlin_tensor, detail::destroy<purlin_tensor, purlin_tensor_destroy>> handle_;
};

/// Copies between tensors of the same dims and type, host or device either way.
inline void copy(const context& on, const tensor& source, tensor& destination, const stream& queue = {}) {
  on.finish(purlin_tensor_copy(on.get(), queue.get(), source.get(), destination.get()));
}

namespace detail {

/// Output vectors of one call with the tensors around them.
class outputs {
 public:
  explicit outputs(const context& on) : on_(on) {}

  /// Sizes `array` for `dims` and gives its handle, which lives as long as this object.
  template <class T>
  purlin_tensor* add(std::vector<T>& array, const extents& dims) {
    array.assign(size(dims.span({})), T{});
    held_.push_back(tensor::borrow(on_, array, dims));
    return held_.back().get();
  }

 private:
  const context& on_;
  std::vector<tensor> held_;
};

}  // namespace detail
}  // namespace purlin

#endif
