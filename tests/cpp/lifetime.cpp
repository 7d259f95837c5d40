// Objects with static and thread storage: the library is called while the program or a thread ends. PURLIN_TEST_BACKEND=cuda
// makes the calls on a GPU, whose driver may end before the last objects.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "expect.hpp"

namespace {

// The program is already ending, so a failure ends it at once.
void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::_Exit(1);
}

purlin::context context_on(std::int32_t backend) {
  purlin::context_options options;
  options.backend = backend;
  options.threads = 2;
  return purlin::context(options);
}

// Whether the program has left `main`.
bool is_ending = false;

// Errors of a call on a GPU whose driver has ended.
bool is_without_driver(const purlin::error& e) {
  return is_ending && test_backend() == PURLIN_BACKEND_CUDA &&
         (e.status() == PURLIN_ERROR_CUDA || e.status() == PURLIN_ERROR_NO_DEVICE);
}

void solve(const purlin::context& on) {
  std::vector<double> a(15);
  for (std::size_t k = 0; k < a.size(); k++) a[k] = 1.0 / static_cast<double>(k + 1);
  const purlin::symmetric_view<double> tensor{a.data(), 4, 3, 1};
  try {
    const purlin::sshopm::pairs<double> pairs = purlin::sshopm::solve(on, tensor, 5);
    require(pairs.count[0] > 0, "a pair is found");
  } catch (const purlin::error& e) {
    require(is_without_driver(e), e.what());
  }
}

// A solve on an inherited context, an error with its text, and a context created and destroyed.
void calls(const purlin::context& on) {
  try {
    solve(on);
    const purlin::context another = context_on(PURLIN_BACKEND_CPU);
    require(purlin::tensor::create<double>(another, {2, 3}).dims().size() == 2, "two axes");
    bool thrown = false;
    try {
      purlin::tensor::create<double>(on, {-1});
    } catch (const purlin::error& e) {
      thrown = e.status() == PURLIN_ERROR_INVALID_ARGUMENT && *e.what() != '\0';
    }
    require(thrown, "an error has a status and a text");
  } catch (const std::exception& e) {
    require(false, e.what());
  }
}

struct singleton {
  const char* name;
  purlin::context on;

  explicit singleton(const char* given) : name(given), on(context_on(test_backend())) {}
  singleton(const singleton&) = delete;
  singleton& operator=(const singleton&) = delete;
  ~singleton() {
    calls(on);
    std::printf("%s is destroyed\n", name);
  }
};

// Destroyed last: after it nothing of the library may be left.
struct last {
  ~last() {
    require(purlin::live_handles() == 0, "nothing is left");
    std::printf("%s\n", "nothing is left");
  }
} at_the_end;

singleton global("global");

singleton& local() {
  static singleton object("function-local");
  return object;
}

singleton& of_thread() {
  thread_local singleton object("thread-local");
  return object;
}

}  // namespace

int main() {
  calls(global.on);
  calls(local().on);
  calls(of_thread().on);
  // One thread whose thread_local object is older than the library's thread-local data, one whose object is younger.
  std::thread([] { calls(of_thread().on); }).join();
  std::thread([] {
    calls(global.on);
    calls(of_thread().on);
  }).join();
  std::atexit([] { calls(global.on); });
  is_ending = true;
  return 0;
}
