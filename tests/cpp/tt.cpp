// Tensor trains and TT-matrices as objects: the caller's cores in place, own memory, copies.
#include <complex>
#include <cstdint>
#include <numeric>
#include <vector>

#include "expect.hpp"

namespace tt = purlin::tt;
using purlin::context;
using purlin::tensor;
using sizes = std::vector<std::int64_t>;

namespace {

std::vector<double> counted(std::size_t n) {
  std::vector<double> v(n);
  std::iota(v.begin(), v.end(), 1.0);
  return v;
}

void trains(const context& on) {
  std::vector<double> a = counted(6), b = counted(18), c = counted(12);
  const tt::train x = tt::train::borrow(on, {2, 2, 4}, {1, 3, 3, 1}, std::vector<double*>{a.data(), b.data(), c.data()});
  EXPECT((x.modes() == sizes{2, 2, 4} && x.ranks() == sizes{1, 3, 3, 1}));
  const purlin_tt_info info = x.properties();
  EXPECT(info.length == 3 && info.max_rank == 3 && info.cyclic == 0 && info.owned == 0 && info.flags == 0);
  EXPECT(x.core_address(1) == reinterpret_cast<std::uintptr_t>(b.data()));
  b[4] = -1.0;
  EXPECT(x.core<double>(on, 1)[4] == -1.0);

  const std::vector<float> constant(12, 1.0F);
  const tt::train ring = tt::train::borrow(on, {3, 3}, {2, 2, 2}, std::vector<const float*>(2, constant.data()));
  EXPECT(ring.properties().uniform == 1 && ring.properties().cyclic == 1 && ring.properties().dtype == PURLIN_F32);
  EXPECT(ring.properties().flags == PURLIN_READ_ONLY);

  std::vector<std::complex<double>> flat(20, {1.0, 2.0});
  const tt::train whole = tt::train::borrow_flat(on, flat, {2, 3}, {1, 4, 1});
  EXPECT(whole.properties().dtype == PURLIN_CF64 &&
         whole.core_address(1) == reinterpret_cast<std::uintptr_t>(flat.data() + 8));

  const tt::train own = tt::train::create<double>(on, x.modes(), x.ranks());
  x.copy_to(on, own);
  EXPECT(own.core<double>(on, 2) == c && own.properties().owned == 1);
  // Rows of three, as C has them.
  std::vector<double> rows = counted(12);
  own.set_core(2, tensor::borrow(on, rows, {3, 4, 1}, {4, 1, 12}));
  EXPECT(own.core<double>(on, 2)[1] == 5.0);
  tt::train moved = tt::train::create<double>(on, {2}, {1, 1});
  const tt::train taken = std::move(moved);
  EXPECT(!moved && taken);
}

void matrices(const context& on) {
  std::vector<double> a = counted(12), b = counted(6);
  const tt::train_matrix h =
      tt::train_matrix::borrow(on, {2, 3}, {3, 1}, {1, 2, 1}, std::vector<double*>{a.data(), b.data()});
  EXPECT((h.rows() == sizes{2, 3} && h.cols() == sizes{3, 1} && h.ranks() == sizes{1, 2, 1}));
  const tt::train_matrix own = tt::train_matrix::create(on, PURLIN_F64, h.rows(), h.cols(), h.ranks());
  std::vector<double> out(6);
  own.set_core(1, tensor::borrow(on, b, {2, 3, 1, 1}));
  own.core(1, tensor::borrow(on, out, {2, 3, 1, 1}));
  EXPECT(out == b && own.properties().elements == 18);
}

void refusals(const context& on) {
  std::vector<double> a = counted(8);
  const std::vector<double*> list{a.data(), a.data()};
  EXPECT_ERROR((tt::train::borrow(on, {2, 2}, {1, 1}, list)), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR((tt::train::borrow(on, {2}, {1, 1}, list)), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR((tt::train::create<double>(on, {2}, {1, 2})), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR((tt::train::borrow_flat(on, a, {2, 2}, {1, 3, 1})), PURLIN_ERROR_INVALID_ARGUMENT);
  const tt::train x = tt::train::create<double>(on, {2}, {1, 1});
  EXPECT_ERROR((x.core<double>(on, 0)), PURLIN_ERROR_INVALID_ARGUMENT);
}

void all() {
  const context on = context::on(PURLIN_BACKEND_CPU);
  trains(on);
  matrices(on);
  refusals(on);
}

}  // namespace

int main() { return run(all); }
