/// @file error.hpp
/// Statuses as exceptions, and the version check.
#ifndef PURLIN_ERROR_HPP
#define PURLIN_ERROR_HPP

#include <cstdint>
#include <stdexcept>
#include <string>

#include "../purlin.h"

namespace purlin {

/// A call of the library that failed. `what()` is the library's text; programs decide by `status()`.
class error : public std::runtime_error {
 public:
  error(purlin_status status, const std::string& text)
      : std::runtime_error(text.empty() ? purlin_status_string(static_cast<std::int32_t>(status)) : text),
        status_(status) {}

  purlin_status status() const noexcept { return status_; }

  /// The constant's name, such as "PURLIN_ERROR_BUSY".
  const char* name() const noexcept { return purlin_status_string(static_cast<std::int32_t>(status_)); }

 private:
  purlin_status status_;
};

/// Throws the thread's last error unless `status` is `PURLIN_SUCCESS`.
inline void check(purlin_status status) {
  if (status != PURLIN_SUCCESS) throw error(status, purlin_last_error_message());
}

/// Version of the loaded library: major * 10000 + minor * 100 + patch.
inline std::int32_t version() noexcept { return purlin_version(); }

/// One line about the loaded library: version, CUDA or not, GPU architectures.
inline std::string build_info() { return purlin_build_info(); }

/// Objects of the library that nobody has destroyed yet, in the whole process.
inline std::int64_t live_handles() noexcept { return purlin_live_handles(); }

/// Throws unless the loaded library is one that this header can call: the same major version, below 1.0 the same minor
/// one too, and not older than the header. Every context checks it.
inline void require_compatible_version() {
  const std::int32_t found = purlin_version();
  const std::int32_t major = found / 10000;
  const std::int32_t minor = found / 100 % 100;
  const bool same_line = major == PURLIN_VERSION_MAJOR &&
                         (PURLIN_VERSION_MAJOR > 0 ? minor >= PURLIN_VERSION_MINOR : minor == PURLIN_VERSION_MINOR);
  if (!same_line) {
    throw error(PURLIN_ERROR_NOT_SUPPORTED,
                "version: the loaded library is " + std::to_string(major) + "." + std::to_string(minor) +
                    ", the header " + std::to_string(PURLIN_VERSION_MAJOR) + "." +
                    std::to_string(PURLIN_VERSION_MINOR));
  }
}

namespace detail {

/// A path for the C interface, whose strings end at the first null character: one inside would mean another file.
inline const char* c_path(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    throw error(PURLIN_ERROR_INVALID_ARGUMENT, "path: has an embedded null character");
  }
  return path.c_str();
}

/// Deleter of every owner: stateless, so that the owner is one pointer.
template <class T, purlin_status (*Destroy)(T*)>
struct destroy {
  void operator()(T* object) const noexcept {
    // A destructor cannot report an error, and destroying a live handle cannot fail.
    const purlin_status ignored = Destroy(object);
    static_cast<void>(ignored);
  }
};

}  // namespace detail
}  // namespace purlin

#endif
