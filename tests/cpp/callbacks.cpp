// Progress and log functions: their arguments, cancellation, and exceptions, which the call rethrows.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "expect.hpp"

namespace sshopm = purlin::sshopm;
using purlin::context;
using purlin::symmetric_view;

namespace {

struct stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Enough tensors for several tiles of work.
std::vector<double> many(std::int64_t count) {
  std::vector<double> entries(static_cast<std::size_t>(15 * count));
  std::uint32_t state = 1;
  for (double& entry : entries) {
    state = state * 1664525U + 1013904223U;
    entry = static_cast<double>(state >> 8) / 8388608.0 - 1.0;
  }
  return entries;
}

void progress(const context& on) {
  const std::vector<double> entries = many(2000);
  const symmetric_view<double> tensors{entries.data(), 4, 3, 2000};
  sshopm::options options;
  std::int64_t calls = 0;
  std::int64_t last = -1;
  std::int64_t steps = 0;
  options.on_progress = [&](std::int64_t step, std::int64_t of, double) {
    EXPECT(step >= last && step <= of);
    last = step;
    steps = of;
    ++calls;
    return false;
  };
  EXPECT(sshopm::solve(on, tensors, 3, options).info.tensors == 2000);
  EXPECT(calls >= 1 && last == steps);

  options.on_progress = [](std::int64_t, std::int64_t, double) { return true; };
  EXPECT_ERROR(sshopm::solve(on, tensors, 3, options), PURLIN_ERROR_CANCELLED);

  options.on_progress = [](std::int64_t, std::int64_t, double) -> bool { throw stop("from the progress"); };
  bool caught = false;
  try {
    static_cast<void>(sshopm::solve(on, tensors, 3, options));
  } catch (const stop& e) {
    caught = std::string(e.what()) == "from the progress";
  }
  EXPECT(caught);

  purlin::dwi::options peaks;
  peaks.on_progress = options.on_progress;
  caught = false;
  try {
    static_cast<void>(purlin::dwi::peaks(on, tensors, 3, peaks));
  } catch (const stop&) {
    caught = true;
  }
  EXPECT(caught);

  sshopm::options all;
  all.on_progress = options.on_progress;
  caught = false;
  try {
    static_cast<void>(sshopm::solve_all(on, symmetric_view<double>{entries.data(), 4, 3, 4}, 13, all));
  } catch (const stop&) {
    caught = true;
  }
  EXPECT(caught);

  // The context works on.
  EXPECT(sshopm::solve(on, tensors, 3).info.tensors == 2000);
}

void log_messages() {
  std::vector<std::string> lines;
  purlin::context_options options;
  options.backend = PURLIN_BACKEND_CPU;
  options.log_level = PURLIN_LOG_DEBUG;
  options.on_log = [&lines](std::int32_t level, std::string_view message) {
    EXPECT(level >= PURLIN_LOG_ERROR && level <= PURLIN_LOG_DEBUG);
    lines.emplace_back(message);
  };
  context on(options);
  EXPECT(!lines.empty() && !lines.front().empty());
  on.set_log(PURLIN_LOG_OFF, {});
  const std::size_t before = lines.size();
  const std::vector<double> entries = many(1);
  static_cast<void>(sshopm::solve(on, symmetric_view<double>{entries.data(), 4, 3}, 3));
  EXPECT(lines.size() == before);

  options.on_log = [](std::int32_t, std::string_view) { throw stop("from the log"); };
  bool caught = false;
  try {
    const context refused(options);
  } catch (const stop& e) {
    caught = std::string(e.what()) == "from the log";
  }
  EXPECT(caught);
}

void tests() {
  progress(context::on(PURLIN_BACKEND_CPU));
  log_messages();
}

}  // namespace

int main() { return run(tests); }
