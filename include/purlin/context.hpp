/// @file context.hpp
/// Devices, contexts, groups of contexts and streams.
#ifndef PURLIN_CONTEXT_HPP
#define PURLIN_CONTEXT_HPP

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "callback.hpp"
#include "error.hpp"

namespace purlin {

/// The GPUs that the driver shows; empty where there is no driver.
inline std::vector<purlin_device_info> devices() {
  std::int32_t count = 0;
  check(purlin_device_count(&count));
  std::vector<purlin_device_info> list(static_cast<std::size_t>(count));
  for (std::int32_t ordinal = 0; ordinal < count; ++ordinal) {
    auto& info = list[static_cast<std::size_t>(ordinal)];
    check(purlin_device_info_init(&info, sizeof info));
    check(purlin_device_properties(ordinal, &info));
  }
  return list;
}

/// The C options with their defaults, and the log as a `std::function`, which takes the place of `log` and `log_user`.
struct context_options : purlin_context_options {
  log_function on_log;

  context_options() : purlin_context_options{} {
    check(purlin_context_options_init(this, sizeof(purlin_context_options)));
  }
};

/// A backend, its threads and its memory limits. Objects made on a context keep it alive in the library, so that any
/// order of destruction works.
class context {
 public:
  context() : context(context_options{}) {}

  explicit context(const context_options& options) : state_(std::make_unique<state>()) {
    require_compatible_version();
    purlin_context_options raw = options;
    if (options.on_log) {
      state_->sink = std::make_unique<detail::log_sink>(options.on_log);
      raw.log = &detail::log_sink::call;
      raw.log_user = state_->sink.get();
    }
    const purlin_status status = purlin_context_create(&raw, &state_->handle);
    if (state_->sink && status == PURLIN_SUCCESS) state_->sink->bind(state_->handle);
    finish(status);
  }

  /// A context of one backend, `PURLIN_BACKEND_CPU` or `PURLIN_BACKEND_CUDA`, with every other option at its default.
  static context on(std::int32_t backend, std::int32_t device = 0) {
    context_options options;
    options.backend = backend;
    options.device = device;
    return context(options);
  }

  purlin_context* get() const noexcept { return state_ ? state_->handle : nullptr; }
  explicit operator bool() const noexcept { return get() != nullptr; }

  purlin_context_info properties() const {
    purlin_context_info info{};
    check(purlin_context_info_init(&info, sizeof info));
    check(purlin_context_properties(get(), &info));
    return info;
  }

  /// Sends the log of this context to `function`, up to `level`; an empty function ends it.
  void set_log(std::int32_t level, log_function function) {
    if (!state_) throw error(PURLIN_ERROR_INVALID_HANDLE, "context: is NULL");
    std::unique_ptr<detail::log_sink> sink;
    if (function) {
      sink = std::make_unique<detail::log_sink>(std::move(function));
      sink->bind(get());
    }
    check(sink ? purlin_context_set_log(get(), level, &detail::log_sink::call, sink.get())
               : purlin_context_set_log(get(), PURLIN_LOG_OFF, nullptr, nullptr));
    state_->sink = std::move(sink);
  }

  /// Makes the running call of this context fail with `PURLIN_ERROR_CANCELLED`. May be called from any thread.
  void cancel() const { check(purlin_context_cancel(get())); }

  /// Ends a call on this context: throws the exception of the log function, else the error of `status`. The wrappers of
  /// this header call it; a program that mixes in C calls may too.
  void finish(purlin_status status) const {
    if (state_ && state_->sink) state_->sink->rethrow();
    check(status);
  }

 private:
  // The library keeps the sink's address, hence a place of its own that a move of the context does not change.
  struct state {
    purlin_context* handle = nullptr;
    std::unique_ptr<detail::log_sink> sink;

    state() = default;
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
      // Objects made on the context may outlive this owner and log on. If a call of theirs keeps the log from being
      // turned off, the sink is left to it: a few bytes rather than a dangling pointer.
      if (handle != nullptr && sink &&
          purlin_context_set_log(handle, PURLIN_LOG_OFF, nullptr, nullptr) != PURLIN_SUCCESS) {
        static_cast<void>(sink.release());
      }
      if (handle != nullptr) detail::destroy<purlin_context, purlin_context_destroy>{}(handle);
    }
  };

  std::unique_ptr<state> state_;
};

namespace detail {

/// The owner of a handle that a call has made. It owns before the call is ended: the log function may have thrown.
template <class Owner, class Handle>
Owner adopt(const context& on, purlin_status status, Handle* made) {
  Owner owner(made);
  on.finish(status);
  return owner;
}

}  // namespace detail

/// The C options of a group with their defaults.
struct group_options : purlin_group_options {
  group_options() : purlin_group_options{} {
    check(purlin_group_options_init(this, sizeof(purlin_group_options)));
  }
};

/// Contexts that share the work of a call, for the option `group` of the families that distribute work over devices. The
/// library keeps the members: they may be destroyed before the group.
class group {
 public:
  group() noexcept = default;

  /// The members in the order in which they share work; matrices, tensors and streams belong to the first.
  static group create(std::initializer_list<std::reference_wrapper<const context>> contexts,
                      const group_options& options = {}) {
    return group::create(std::vector<std::reference_wrapper<const context>>(contexts), options);
  }

  static group create(const std::vector<std::reference_wrapper<const context>>& contexts,
                      const group_options& options = {}) {
    std::vector<const purlin_context*> handles;
    handles.reserve(contexts.size());
    for (const context& one : contexts) handles.push_back(one.get());
    purlin_group* made = nullptr;
    check(purlin_group_create(static_cast<std::int64_t>(handles.size()), handles.data(), &options, &made));
    return group(made);
  }

  /// Takes over a handle made by the C interface.
  explicit group(purlin_group* adopted) noexcept : handle_(adopted) {}

  purlin_group* get() const noexcept { return handle_.get(); }
  purlin_group* release() noexcept { return handle_.release(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  purlin_group_info properties() const {
    purlin_group_info info{};
    check(purlin_group_info_init(&info, sizeof info));
    check(purlin_group_properties(get(), &info));
    return info;
  }

 private:
  std::unique_ptr<purlin_group, detail::destroy<purlin_group, purlin_group_destroy>> handle_;
};

/// An ordered queue of a context. A default-constructed stream stands for the context's own.
class stream {
 public:
  stream() noexcept = default;

  static stream create(const context& on) {
    purlin_stream* made = nullptr;
    const purlin_status status = purlin_stream_create(on.get(), &made);
    return detail::adopt<stream>(on, status, made);
  }

  /// A stream around the caller's `CUstream`, which stays the caller's and has to outlive it.
  static stream wrap(const context& on, std::uint64_t cuda_stream) {
    purlin_stream* made = nullptr;
    const purlin_status status = purlin_stream_wrap(on.get(), cuda_stream, &made);
    return detail::adopt<stream>(on, status, made);
  }

  /// Takes over a handle made by the C interface.
  explicit stream(purlin_stream* adopted) noexcept : handle_(adopted) {}

  purlin_stream* get() const noexcept { return handle_.get(); }
  purlin_stream* release() noexcept { return handle_.release(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Waits for everything enqueued so far and reports the error of failed work.
  void synchronize() const { check(purlin_stream_synchronize(get())); }

 private:
  std::unique_ptr<purlin_stream, detail::destroy<purlin_stream, purlin_stream_destroy>> handle_;
};

}  // namespace purlin

#endif
