// Version, devices, errors, contexts, groups and streams.
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "expect.hpp"

using purlin::context;
using purlin::group;
using purlin::stream;

static_assert(sizeof(context) == sizeof(void*));
static_assert(sizeof(stream) == sizeof(void*));
static_assert(sizeof(purlin::tensor) == sizeof(void*));
// An implicit matrix also owns the function that it calls.
static_assert(sizeof(purlin::matrix) <= 3 * sizeof(void*));
static_assert(!std::is_copy_constructible_v<context> && std::is_nothrow_move_constructible_v<context>);
static_assert(!std::is_copy_constructible_v<stream> && std::is_nothrow_move_constructible_v<stream>);
static_assert(!std::is_copy_constructible_v<purlin::tensor> && std::is_nothrow_move_assignable_v<purlin::tensor>);
static_assert(!std::is_copy_constructible_v<purlin::matrix> && std::is_nothrow_move_assignable_v<purlin::matrix>);

namespace {

void library() {
  EXPECT(purlin::version() ==
         PURLIN_VERSION_MAJOR * 10000 + PURLIN_VERSION_MINOR * 100 + PURLIN_VERSION_PATCH);
  purlin::require_compatible_version();
  EXPECT(purlin::build_info().find(std::to_string(PURLIN_VERSION_MAJOR) + "." +
                                   std::to_string(PURLIN_VERSION_MINOR)) != std::string::npos);
  for (const purlin_device_info& device : purlin::devices()) {
    EXPECT(device.name[0] != '\0');
    EXPECT(device.memory_total > 0);
  }
}

void errors() {
  const purlin::error busy(PURLIN_ERROR_BUSY, "");
  EXPECT(busy.status() == PURLIN_ERROR_BUSY);
  EXPECT(std::string(busy.name()) == "PURLIN_ERROR_BUSY");
  EXPECT(std::string(busy.what()) == busy.name());
  try {
    purlin::context_options options;
    options.threads = -1;
    const context refused(options);
    EXPECT(false);
  } catch (const purlin::error& negative) {
    EXPECT(negative.status() == PURLIN_ERROR_INVALID_ARGUMENT);
    EXPECT(std::string(negative.what()).find("threads") != std::string::npos);
    EXPECT(std::string(negative.what()).find("-1") != std::string::npos);
  }
  EXPECT_ERROR(context::on(17), PURLIN_ERROR_INVALID_ARGUMENT);
}

void contexts() {
  purlin::context_options options;
  options.backend = PURLIN_BACKEND_CPU;
  options.threads = 2;
  options.host_memory_limit = 1 << 20;
  context first(options);
  EXPECT(first);
  const purlin_context_info info = first.properties();
  EXPECT(info.backend == PURLIN_BACKEND_CPU);
  EXPECT(info.threads == 2);
  EXPECT(info.host_memory_limit == 1 << 20);
  options.device_memory_limit = 1 << 20;
  EXPECT_ERROR(context(options), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(purlin::tensor::create<double>(first, {1 << 20}), PURLIN_ERROR_OUT_OF_MEMORY);

  context second = std::move(first);
  EXPECT(!first && second);  // a moved-from owner owns nothing
  EXPECT_ERROR(first.properties(), PURLIN_ERROR_INVALID_HANDLE);
  EXPECT_ERROR(first.set_log(PURLIN_LOG_INFO, {}), PURLIN_ERROR_INVALID_HANDLE);
  second.cancel();  // with nothing running it does nothing
  EXPECT(second.properties().threads == 2);
}

void streams() {
  const context on = context::on(PURLIN_BACKEND_CPU);
  stream own;
  EXPECT(!own);
  own = stream::create(on);
  EXPECT(own);
  own.synchronize();
  stream adopted(own.release());
  EXPECT(!own && adopted);
  adopted.synchronize();
  EXPECT_ERROR(own.synchronize(), PURLIN_ERROR_INVALID_HANDLE);
}

void groups() {
  const context first = context::on(PURLIN_BACKEND_CPU);
  group both;
  EXPECT(!both);
  {
    const context second = context::on(PURLIN_BACKEND_CPU);
    both = group::create({first, second});
    EXPECT_ERROR(group::create({first, second, second}), PURLIN_ERROR_INVALID_ARGUMENT);
  }
  EXPECT(both && both.properties().members == 2);
  const std::vector<std::reference_wrapper<const context>> list{first};
  EXPECT(group::create(list).properties().members == 1);
  purlin::group_options options;
  EXPECT(options.struct_size == sizeof(purlin_group_options));
  EXPECT(group::create(list, options).properties().members == 1);
  options.struct_size = 1;
  EXPECT_ERROR(group::create({first}, options), PURLIN_ERROR_INVALID_ARGUMENT);
  group adopted(both.release());
  EXPECT(!both && adopted && adopted.properties().members == 2);
  EXPECT_ERROR(both.properties(), PURLIN_ERROR_INVALID_HANDLE);
  context gone = context::on(PURLIN_BACKEND_CPU);
  const context kept = std::move(gone);
  EXPECT_ERROR(group::create({first, gone}), PURLIN_ERROR_INVALID_HANDLE);
}

void any_order_of_destruction() {
  stream outlives;
  {
    const context on = context::on(PURLIN_BACKEND_CPU);
    outlives = stream::create(on);
  }
  outlives.synchronize();
}

void tests() {
  library();
  errors();
  contexts();
  streams();
  groups();
  any_order_of_destruction();
}

}  // namespace

int main() { return run(tests); }
