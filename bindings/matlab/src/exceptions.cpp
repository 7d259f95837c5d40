// Octave's exceptions. Ctrl-C, `exit` and memory that runs out throw them out of functions that the library has called, and
// they must not pass through the library. The function catches one, stores it here and reports a failure to the library.
// It is thrown again once the library has returned. Built for Octave alone: MATLAB throws none through mexCallMATLABWithTrap.
#include <exception>
#include <utility>

#include <octave/quit.h>

static std::exception_ptr kept;

extern "C" {

void run_with_trap(void (*what)(void *), void *of) {
  try {
    what(of);
  } catch (...) {
    kept = std::current_exception();
  }
}

int has_exception(void) { return kept != nullptr; }

int is_interrupted(void) {
  run_with_trap([](void *) { octave_quit(); }, nullptr);
  return has_exception();
}

void throw_again(void) {
  if (kept) std::rethrow_exception(std::exchange(kept, nullptr));
}
}
