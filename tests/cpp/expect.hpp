// Checks that stay in a release build: the first failure prints its line and ends the program with 1.
#ifndef PURLIN_TESTS_EXPECT_HPP
#define PURLIN_TESTS_EXPECT_HPP

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <purlin.hpp>

[[noreturn]] inline void fail(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
  std::exit(1);
}

#define EXPECT(condition) \
  do { \
    if (!(condition)) fail(__FILE__, __LINE__, #condition); \
  } while (false)

/// The expression throws `purlin::error` with this status and with a text.
#define EXPECT_ERROR(expression, expected) \
  do { \
    bool thrown = false; \
    try { \
      static_cast<void>(expression); \
    } catch (const purlin::error& e) { \
      thrown = true; \
      if (e.status() != (expected)) fail(__FILE__, __LINE__, e.what()); \
      EXPECT(*e.what() != '\0'); \
    } \
    if (!thrown) fail(__FILE__, __LINE__, #expression " did not throw"); \
  } while (false)

inline bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

/// The backend of the programs that run on either: a GPU for PURLIN_TEST_BACKEND=cuda, else the CPU. The step `c` of
/// tools/gpu-run.sh runs each program that calls it.
inline std::int32_t test_backend() {
  const char* wanted = std::getenv("PURLIN_TEST_BACKEND");
  return wanted && std::strcmp(wanted, "cuda") == 0 ? PURLIN_BACKEND_CUDA : PURLIN_BACKEND_CPU;
}

/// Runs the tests and checks that nothing of the library is left.
inline int run(void (*tests)()) {
  try {
    tests();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "unexpected: %s\n", e.what());
    return 1;
  }
  EXPECT(purlin::live_handles() == 0);
  return 0;
}

#endif
