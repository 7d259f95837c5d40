/// @file view.hpp
/// How the caller's memory is described: element types, extents, matrix and symmetric-tensor views.
#ifndef PURLIN_VIEW_HPP
#define PURLIN_VIEW_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "error.hpp"

namespace purlin {

/// `dtype_of<T>` is the library's constant for the element type `T`; only types that the library has are accepted.
template <class T>
struct dtype;
template <>
struct dtype<float> : std::integral_constant<purlin_dtype, PURLIN_F32> {};
template <>
struct dtype<double> : std::integral_constant<purlin_dtype, PURLIN_F64> {};
template <>
struct dtype<std::complex<float>> : std::integral_constant<purlin_dtype, PURLIN_CF32> {};
template <>
struct dtype<std::complex<double>> : std::integral_constant<purlin_dtype, PURLIN_CF64> {};
template <>
struct dtype<std::int32_t> : std::integral_constant<purlin_dtype, PURLIN_I32> {};
template <>
struct dtype<std::int64_t> : std::integral_constant<purlin_dtype, PURLIN_I64> {};
template <>
struct dtype<std::uint8_t> : std::integral_constant<purlin_dtype, PURLIN_U8> {};
template <>
struct dtype<std::uint16_t> : std::integral_constant<purlin_dtype, PURLIN_U16> {};
template <class T>
inline constexpr purlin_dtype dtype_of = dtype<std::remove_cv_t<T>>::value;

namespace detail {

template <class C, class = void>
struct is_container : std::false_type {};
template <class C>
struct is_container<C, std::void_t<decltype(std::data(std::declval<C&>())), decltype(std::size(std::declval<C&>()))>>
    : std::true_type {};

/// Element of a container as seen through `C&`: const for a const container.
template <class C>
using element = std::remove_pointer_t<decltype(std::data(std::declval<C&>()))>;

template <class C>
using if_container = std::enable_if_t<is_container<C>::value, int>;

template <class C>
std::int64_t length(const C& container) noexcept {
  return static_cast<std::int64_t>(std::size(container));
}

[[noreturn]] inline void refuse(const std::string& text) { throw error(PURLIN_ERROR_INVALID_ARGUMENT, text); }

/// a * b + c for non-negative arguments; throws if the result does not fit.
inline std::int64_t multiply_add(std::int64_t a, std::int64_t b, std::int64_t c) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (a != 0 && b > (most - c) / a) refuse("dims: the number of elements is over 2^63");
  return a * b + c;
}

/// An element count as a container size; the library has no negative ones.
inline std::size_t size(std::int64_t count) {
  if (count < 0) refuse("count: is " + std::to_string(count) + ", less than 0");
  return static_cast<std::size_t>(count);
}

inline std::size_t size(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
  if (a < 0 || b < 0 || c < 0) refuse("dims: one is negative");
  return size(multiply_add(multiply_add(a, b, 0), c, 0));
}

}  // namespace detail

/// A list of extents or strides, from `{2, 3}` or from any container of integers.
class extents {
 public:
  extents() = default;
  extents(std::initializer_list<std::int64_t> values) : values_(values) {}
  template <class C, detail::if_container<C> = 0>
  extents(const C& values) {  // implicit, as the list above is
    values_.reserve(std::size(values));
    for (const auto value : values) values_.push_back(static_cast<std::int64_t>(value));
  }

  /// NULL when empty, which the library reads as "packed" where it takes strides.
  const std::int64_t* data() const noexcept { return values_.empty() ? nullptr : values_.data(); }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(values_.size()); }
  bool empty() const noexcept { return values_.empty(); }
  std::int64_t operator[](std::int64_t i) const { return values_.at(static_cast<std::size_t>(i)); }

  /// Elements from the first to the last one that an array of these extents touches, packed when `strides` is empty.
  std::int64_t span(const extents& strides) const {
    std::int64_t last = 0;
    std::int64_t packed = 1;
    for (std::int32_t i = 0; i < size(); ++i) {
      const std::int64_t extent = (*this)[i];
      if (extent < 0) return 0;  // the library refuses it, with a better text
      if (strides.empty()) {
        packed = detail::multiply_add(packed, extent, 0);
      } else if (i < strides.size() && strides[i] > 0 && extent > 1) {
        last = detail::multiply_add(extent - 1, strides[i], last);
      }
      if (extent == 0) return 0;
    }
    return strides.empty() ? packed : last + 1;
  }

 private:
  std::vector<std::int64_t> values_;
};

/// The caller's dense matrix, only read: column-major, columns `ld` elements apart (0 = `rows`).
template <class T>
struct const_matrix_view {
  const T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
};

/// The caller's dense matrix: column-major, columns `ld` elements apart (0 = `rows`).
template <class T>
struct matrix_view {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  operator const_matrix_view<T>() const noexcept { return {data, rows, cols, ld}; }
};

/// The caller's batch of packed symmetric tensors, only read. Entries of one tensor are `entry_stride` elements apart,
/// tensors `tensor_stride`; both 0 = one tensor after the other.
template <class T>
struct symmetric_view {
  const T* data = nullptr;
  std::int64_t order = 0;
  std::int64_t dimension = 0;
  std::int64_t count = 1;
  std::int64_t entry_stride = 0;
  std::int64_t tensor_stride = 0;
};

}  // namespace purlin

#endif
