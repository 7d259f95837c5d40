/// @file callback.hpp
/// C++ callables behind the C callbacks. Nothing may be thrown through the library: its exception is kept,
/// the call is cancelled, and the exception goes on when the call has returned.
#ifndef PURLIN_CALLBACK_HPP
#define PURLIN_CALLBACK_HPP

#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

#include "error.hpp"

namespace purlin {

/// Called with step, number of steps and a measure of the method, on the calling thread; true cancels.
using progress = std::function<bool(std::int64_t step, std::int64_t steps, double measure)>;

/// Called with a level (`PURLIN_LOG_*`) and one line of text, from any thread, one at a time.
using log_function = std::function<void(std::int32_t level, std::string_view message)>;

namespace detail {

/// Passes one `progress` to one call.
class progress_relay {
 public:
  explicit progress_relay(const progress& function) noexcept : function_(function) {}
  progress_relay(const progress_relay&) = delete;
  progress_relay& operator=(const progress_relay&) = delete;

  /// The C part of `options`, with the callback set if there is one.
  template <class Raw>
  Raw attach(const Raw& options) noexcept {
    Raw raw = options;
    if (function_) {
      raw.progress = &progress_relay::call;
      raw.progress_user = this;
    }
    return raw;
  }

  /// To be called when the library has returned.
  void rethrow() const {
    if (caught_) std::rethrow_exception(caught_);
  }

 private:
  static std::int32_t call(std::int64_t step, std::int64_t steps, double measure, void* user) noexcept {
    auto* self = static_cast<progress_relay*>(user);
    try {
      return self->function_(step, steps, measure) ? 1 : 0;
    } catch (...) {
      self->caught_ = std::current_exception();
      return 1;
    }
  }

  const progress& function_;
  std::exception_ptr caught_;
};

/// The progress function of an object that outlives a call, at an address that does not move.
class progress_keeper {
 public:
  explicit progress_keeper(progress function) : function_(std::move(function)) {}
  progress_keeper(const progress_keeper&) = delete;
  progress_keeper& operator=(const progress_keeper&) = delete;

  static std::int32_t call(std::int64_t step, std::int64_t steps, double measure, void* user) noexcept {
    auto* self = static_cast<progress_keeper*>(user);
    try {
      return self->function_(step, steps, measure) ? 1 : 0;
    } catch (...) {
      self->caught_ = std::current_exception();
      return 1;
    }
  }

  /// To be called when the library has returned; throws once.
  void rethrow() {
    if (std::exception_ptr caught = std::exchange(caught_, nullptr)) std::rethrow_exception(caught);
  }

 private:
  progress function_;
  std::exception_ptr caught_;
};

/// A caller's function behind the C callback of an object, which may be shared: its exception waits for `rethrow`.
class relay_base {
 public:
  relay_base() = default;
  relay_base(const relay_base&) = delete;
  relay_base& operator=(const relay_base&) = delete;
  virtual ~relay_base() = default;

  /// Throws the function's exception of the last run, once.
  void rethrow() {
    std::exception_ptr caught;
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      std::swap(caught, caught_);
    }
    if (caught) std::rethrow_exception(caught);
  }

 protected:
  /// To be called within `catch`.
  void keep() noexcept {
    const std::lock_guard<std::mutex> hold(mutex_);
    caught_ = std::current_exception();
  }

 private:
  std::mutex mutex_;
  std::exception_ptr caught_;
};

/// Where a context's log goes. Its address is known to the library, so it never moves.
class log_sink {
 public:
  explicit log_sink(log_function function) : function_(std::move(function)) {}
  log_sink(const log_sink&) = delete;
  log_sink& operator=(const log_sink&) = delete;

  /// The context to cancel when the function throws; known only after its creation.
  void bind(const purlin_context* context) {
    const std::lock_guard<std::recursive_mutex> hold(mutex_);
    context_ = context;
  }

  /// Throws the function's exception since the last time, once.
  void rethrow() {
    std::exception_ptr caught;
    {
      const std::lock_guard<std::recursive_mutex> hold(mutex_);
      std::swap(caught, caught_);
    }
    if (caught) std::rethrow_exception(caught);
  }

  static void call(std::int32_t level, const char* message, void* user) noexcept {
    auto* self = static_cast<log_sink*>(user);
    const std::lock_guard<std::recursive_mutex> hold(self->mutex_);
    try {
      self->function_(level, message);
    } catch (...) {
      if (!self->caught_) self->caught_ = std::current_exception();
      if (self->context_ != nullptr) {
        // If the context cannot be cancelled, the call runs to its end and the exception follows it.
        const purlin_status ignored = purlin_context_cancel(self->context_);
        static_cast<void>(ignored);
      }
    }
  }

 private:
  log_function function_;
  std::recursive_mutex mutex_;  // the function may call the library, which may log
  std::exception_ptr caught_;
  const purlin_context* context_ = nullptr;
};

}  // namespace detail
}  // namespace purlin

#endif
