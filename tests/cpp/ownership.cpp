// Owners that were moved from, moved to themselves or swapped, const correctness, and paths with NUL, which C would cut.
#include <purlin.hpp>

#include <type_traits>
#include <utility>
#include <vector>

#include "expect.hpp"

namespace {

template <class Owner>
constexpr bool is_owner = std::is_nothrow_move_constructible_v<Owner> && std::is_nothrow_move_assignable_v<Owner> &&
                          !std::is_copy_constructible_v<Owner> && !std::is_copy_assignable_v<Owner>;

static_assert(is_owner<purlin::context> && is_owner<purlin::stream> && is_owner<purlin::tensor>);
static_assert(is_owner<purlin::matrix> && is_owner<purlin::source> && is_owner<purlin::sink>);

template <class Owner>
void moves(Owner first) {
  const auto handle = first.get();
  EXPECT(handle != nullptr);
  Owner second = std::move(first);
  EXPECT(second.get() == handle && first.get() == nullptr);
  first = std::move(second);
  EXPECT(first.get() == handle && second.get() == nullptr);
  // To itself, as std::swap and sorts do.
  Owner& same = first;
  first = std::move(same);
  EXPECT(first.get() == handle);
  std::swap(first, second);
  EXPECT(first.get() == nullptr && second.get() == handle);
}

void tests() {
  const purlin::context on = purlin::context::on(PURLIN_BACKEND_CPU);
  std::vector<double> numbers(6, 1.0);
  moves(purlin::tensor::borrow(on, numbers, {2, 3}));
  moves(purlin::matrix::create(on, PURLIN_F64, 2, 3));
  moves(purlin::rsvd::session(on, purlin::rsvd::options(2)));
  moves(purlin::context::on(PURLIN_BACKEND_CPU));
  moves(purlin::stream::create(on));
  moves(purlin::group::create({on}));
  moves(purlin::source::from_function(on, PURLIN_F64, {2, 3}, [](auto, auto, void*) {}));

  // An object that was moved from is refused like a closed one.
  purlin::context gone = purlin::context::on(PURLIN_BACKEND_CPU);
  const purlin::context kept = std::move(gone);
  EXPECT_ERROR(purlin::stream::create(gone), PURLIN_ERROR_INVALID_HANDLE);

  const std::string cut("thesis\0.raw", 11);
  EXPECT_ERROR(purlin::source::from_file(on, cut, PURLIN_F64, {2, 3}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(purlin::sink::to_file(on, cut, PURLIN_F64, {2, 3}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(purlin::source::from_tiff(on, {cut}), PURLIN_ERROR_INVALID_ARGUMENT);
}

}  // namespace

int main() { return run(tests); }
