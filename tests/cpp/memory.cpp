// Tensors, matrices and symmetric packing: owned and borrowed memory, copies, DLPack, tables.
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "expect.hpp"

using purlin::context;
using purlin::matrix;
using purlin::tensor;

namespace {

void dense(const context& on) {
  tensor owned = tensor::create<double>(on, {2, 3});
  EXPECT((owned.dims() == std::vector<std::int64_t>{2, 3}));
  EXPECT((owned.strides() == std::vector<std::int64_t>{1, 2}));
  const purlin_tensor_info info = owned.properties();
  EXPECT(info.dtype == PURLIN_F64 && info.location == PURLIN_HOST && info.ndim == 2);
  EXPECT(info.elements == 6 && info.owned == 1 && info.symmetric_order == 0);
  EXPECT_ERROR(owned.data<float>(), PURLIN_ERROR_INVALID_ARGUMENT);

  std::vector<double> source(6);
  std::iota(source.begin(), source.end(), 1.0);
  const tensor borrowed = tensor::borrow(on, source, {2, 3});
  EXPECT(borrowed.data<double>() == source.data());
  purlin::copy(on, borrowed, owned);
  EXPECT(owned.data<double>()[5] == 6.0);

  // The transpose by strides: element (i, j) of one is (j, i) of the other.
  tensor turned = tensor::create<double>(on, {3, 2});
  purlin::copy(on, tensor::borrow(on, source, {3, 2}, {2, 1}), turned);
  EXPECT(turned.data<double>()[1] == 3.0);
  EXPECT((tensor::create<float>(on, {2, 3}, PURLIN_HOST, PURLIN_ROW_MAJOR).strides() ==
          std::vector<std::int64_t>{3, 1}));

  const std::array<float, 4> fixed{1, 2, 3, 4};
  tensor only_read = tensor::borrow(on, fixed);
  EXPECT((only_read.properties().flags & PURLIN_READ_ONLY) != 0);
  EXPECT(only_read.data<const float>()[3] == 4.0F);
  EXPECT_ERROR(only_read.data<float>(), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(purlin::copy(on, tensor::create<float>(on, {4}), only_read), PURLIN_ERROR_INVALID_ARGUMENT);

  // Refused by the header, before the library could read past the end.
  EXPECT_ERROR(tensor::borrow(on, source, {7}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor::borrow(on, source, {2, 3}, {1, 3}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor::borrow(on, source, {2, 3}, {1}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor::borrow(on, source, {std::int64_t{1} << 62, 4}), PURLIN_ERROR_INVALID_ARGUMENT);
  // Refused by the library.
  EXPECT_ERROR(tensor::create<double>(on, {-1}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor::borrow(on, source, {2}, {-1}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(purlin::copy(on, borrowed, turned), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor::create(on, 99, {1}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor{}.dims(), PURLIN_ERROR_INVALID_HANDLE);
  EXPECT_ERROR(tensor::create<double>(on, {1}, PURLIN_DEVICE, 0), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR(tensor::borrow_device(on, PURLIN_F32, 4096, {1}), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR(tensor::borrow_symmetric_device(on, PURLIN_F32, 4096, 4, 3, 1), PURLIN_ERROR_NOT_SUPPORTED);
}

void dlpack(const context& on) {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  tensor again;
  {
    const tensor first = tensor::borrow(on, values, {2, 3});
    again = tensor::from_dlpack(on, first.to_dlpack());
  }
  EXPECT((again.dims() == std::vector<std::int64_t>{2, 3}));
  EXPECT(again.data<const float>()[5] == 6.0F);
  EXPECT_ERROR(tensor::from_dlpack(on, nullptr), PURLIN_ERROR_INVALID_ARGUMENT);
}

/// Whether `call` takes a context and arguments of these types.
template <class... A, class Call>
constexpr bool takes(const Call&) {
  return std::is_invocable_v<Call, const context&, A...>;
}

/// A function of an owner as an object with the same arguments.
#define CALL(...) \
  [](auto&&... a) -> decltype(__VA_ARGS__(std::forward<decltype(a)>(a)...)) { \
    return __VA_ARGS__(std::forward<decltype(a)>(a)...); \
  }

/// One number after the sizes is not taken where it could be flags or another argument.
void flags_alone(const context& on) {
  using integers = std::vector<std::int64_t>;
  using numbers = std::vector<double>;
  using array = double[6];
  const auto borrow = CALL(matrix::borrow);
  static_assert(!takes<double*, int, int, purlin_flags>(borrow));
  static_assert(!takes<const double* const&, int, int, std::int64_t>(borrow));
  static_assert(takes<double*, int, int>(borrow) && takes<double*, int, int, int, int>(borrow));
  static_assert(!takes<numbers&, int, int, int>(borrow) && !takes<const numbers&, int, int, std::int64_t>(borrow));
  static_assert(!takes<std::array<double, 6>&, int, int, int>(borrow) && !takes<array&, int, int, int>(borrow));
  static_assert(takes<numbers&, int, int>(borrow) && takes<numbers&, int, int, int, int>(borrow));
  static_assert(takes<array&, int, int>(borrow) && takes<const array&, int, int, std::int64_t, int>(borrow));
  const auto create = CALL(matrix::create<double>);
  static_assert(takes<int, int>(create) && !takes<int, int, int>(create) && takes<int, int, int, int>(create));
  const auto of_type = CALL(matrix::create);
  static_assert(takes<int, int, int>(of_type) && !takes<int, int, int, int>(of_type));
  static_assert(takes<int, int, int, int, int>(of_type));

  const auto cube = CALL(tensor::create<double>);
  static_assert(takes<integers>(cube) && !takes<integers, int>(cube) && takes<integers, int, int>(cube));
  const auto batch = CALL(tensor::create_symmetric<double>);
  static_assert(takes<int, int, int>(batch) && !takes<int, int, int, int>(batch));
  static_assert(takes<int, int, int, int, int>(batch));
  const auto packed = CALL(tensor::borrow_symmetric);
  static_assert(takes<double*, int, int, int>(packed) && !takes<double*, int, int, int, int>(packed));
  static_assert(!takes<double*, int, int, int, int, int>(packed));
  static_assert(takes<double*, int, int, int, int, int, int>(packed));
  const auto device = CALL(tensor::borrow_symmetric_device);
  static_assert(takes<int, std::uint64_t, int, int, int>(device));
  static_assert(!takes<int, std::uint64_t, int, int, int, int>(device));
  static_assert(!takes<int, std::uint64_t, int, int, int, int, int>(device));
  static_assert(takes<int, std::uint64_t, int, int, int, int, int, int>(device));
  const auto whole = CALL(tensor::symmetric_batch);
  static_assert(takes<numbers&, int, int>(whole) && !takes<numbers&, int, int, int>(whole));
  static_assert(takes<numbers&, int, int, int, int>(whole));

  const auto train = CALL(purlin::tt::train::create<double>);
  static_assert(takes<integers, integers>(train) && !takes<integers, integers, int>(train));
  static_assert(takes<integers, integers, int, int>(train));
  const auto product = CALL(purlin::tt::train_matrix::create);
  static_assert(takes<int, integers, integers, integers>(product));
  static_assert(!takes<int, integers, integers, integers, int>(product));
  static_assert(takes<int, integers, integers, integers, int, int>(product));

  // Columns two apart, and rows four apart, in place; the last may end with its last element.
  numbers memory{1, 2, 3, 4, 5, 6, 7};
  EXPECT(matrix::borrow(on, memory, 1, 4, 2, 0).properties().ld == 2);
  EXPECT(matrix::borrow(on, memory, 2, 3, 4, PURLIN_ROW_MAJOR).properties().ld == 4);
  EXPECT_ERROR(matrix::borrow(on, memory, 1, 5, 2, 0), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(matrix::borrow(on, memory, 2, 3, 5, PURLIN_ROW_MAJOR), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(matrix::borrow(on, memory, 3, 2, 2, 0), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(matrix::borrow(on, memory, 2, 2, std::numeric_limits<std::int64_t>::max(), 0),
               PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(matrix::borrow(on, memory, 2, 2, std::numeric_limits<std::int64_t>::min(), 0),
               PURLIN_ERROR_INVALID_ARGUMENT);
  numbers two(6);
  const tensor by_entries = tensor::symmetric_batch(on, two, 2, 2, 2, PURLIN_ENTRY_MAJOR);
  EXPECT((by_entries.strides() == integers{2, 1}));
  EXPECT_ERROR(tensor::symmetric_batch(on, two, 2, 2, 1, 0), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor::symmetric_batch(on, two, 2, 2, -1, 0), PURLIN_ERROR_INVALID_ARGUMENT);
}

/// Arrays of known length are held to it, as containers are.
void arrays_of_known_length(const context& on) {
  double few[3] = {1, 2, 3};
  const double fixed[6] = {1, 2, 3, 4, 5, 6};
  std::array<double, 3> three{1, 2, 3};
  EXPECT_ERROR(matrix::borrow(on, few, 2, 3), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(matrix::borrow(on, three, 2, 3), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(matrix::borrow(on, fixed, 2, 4, 0, PURLIN_ROW_MAJOR), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor::borrow(on, few, {2, 3}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor::borrow(on, three, {4}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(tensor::borrow(on, fixed, {2, 3}, {1, 3}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(purlin::tt::train::borrow_flat(on, few, {2, 2}, {1, 1, 1}), PURLIN_ERROR_INVALID_ARGUMENT);
  const purlin_matrix_info whole = matrix::borrow(on, fixed, 3, 2, 0, PURLIN_ROW_MAJOR).properties();
  EXPECT(whole.ld == 2 && (whole.flags & PURLIN_READ_ONLY) != 0 && (whole.flags & PURLIN_ROW_MAJOR) != 0);
  EXPECT((tensor::borrow(on, few).dims() == std::vector<std::int64_t>{3}));
  EXPECT((tensor::borrow(on, &few[1], {2}).dims() == std::vector<std::int64_t>{2}));
}

void matrices(const context& on) {
  std::vector<double> entries{1, 2, 3, 4, 5, 6};
  const matrix packed = matrix::borrow(on, entries, 2, 3);
  EXPECT(packed.properties().ld == 2 && packed.properties().storage == PURLIN_DENSE);
  const matrix part = matrix::borrow(on, purlin::const_matrix_view<double>{entries.data(), 1, 3, 2});
  EXPECT(part.properties().ld == 2 && part.properties().rows == 1);
  const matrix writable = matrix::borrow(on, purlin::matrix_view<double>{entries.data(), 2, 3});
  EXPECT((writable.properties().flags & PURLIN_READ_ONLY) == 0);
  matrix owned = matrix::create<double>(on, 2, 3);
  purlin::copy(on, packed, owned);
  const auto* copied =
      reinterpret_cast<const double*>(static_cast<std::uintptr_t>(owned.properties().data));
  EXPECT(copied[4] == 5.0);
  EXPECT_ERROR(matrix::borrow(on, entries, 2, 2), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(matrix::borrow(on, entries.data(), 2, 3, 1, 0), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT(matrix::borrow(on, entries.data(), 2, 3).properties().ld == 2);
  const matrix rows = matrix::borrow(on, entries.data(), 2, 3, 0, PURLIN_ROW_MAJOR | PURLIN_READ_ONLY);
  EXPECT(rows.properties().ld == 3 && (rows.properties().flags & PURLIN_READ_ONLY) != 0);
  EXPECT_ERROR(matrix::borrow_device(on, PURLIN_F64, 4096, 1, 1, 1), PURLIN_ERROR_NOT_SUPPORTED);

  const std::vector<std::int64_t> row_ptr{0, 1, 2};
  std::vector<std::int32_t> col_idx{0, 2};
  const std::vector<float> values{3, 4};
  const purlin::csr_view<float> sparse{2, 3, 2, row_ptr.data(), col_idx.data(), values.data()};
  const matrix borrowed = matrix::borrow_csr(on, sparse);
  const matrix copy = matrix::copy_csr(on, sparse);
  EXPECT_ERROR(matrix::borrow_csr_device(on, sparse), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT(borrowed.properties().storage == PURLIN_CSR && borrowed.properties().nnz == 2);
  EXPECT(borrowed.properties().owned == 0 && copy.properties().owned == 1);
  EXPECT(borrowed.properties().row_ptr_type == PURLIN_I64 && borrowed.properties().col_idx_type == PURLIN_I32);
  col_idx[1] = 3;
  EXPECT_ERROR(matrix::borrow_csr(on, sparse), PURLIN_ERROR_INVALID_ARGUMENT);
}

void outside(const context& on) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  matrix streamed;
  {
    const purlin::source in = purlin::source::from(on, tensor::borrow(on, values, {3, 2}));
    streamed = matrix::from_source(on, in);
    EXPECT(matrix::from_source(on, in, PURLIN_ROW_MAJOR).properties().rows == 2);
  }
  EXPECT(streamed.properties().storage == PURLIN_STREAMED && streamed.properties().rows == 3);
  const matrix implicit = matrix::from_operator<float>(
      on, 4, 5, [](bool, const purlin::const_matrix_view<float>&, const purlin::matrix_view<float>&) {});
  EXPECT(implicit.properties().storage == PURLIN_OPERATOR && implicit.properties().dtype == PURLIN_F32);
  implicit.rethrow();
  EXPECT_ERROR(
      matrix::from_device_operator<float>(
          on, 4, 5,
          [](bool, const purlin::const_matrix_view<float>&, const purlin::matrix_view<float>&, std::uint64_t) {}),
      PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR(purlin::source::from_npy(on, "no such file.npy"), PURLIN_ERROR_IO);
  EXPECT_ERROR(purlin::source::from_mapped_file(on, "no such file", PURLIN_F32, {2, 3}), PURLIN_ERROR_IO);
}

void tables() {
  namespace symmetric = purlin::symmetric;
  EXPECT(symmetric::count(4, 3) == 15 && symmetric::count(6, 10) == 5005);
  const std::vector<std::int64_t> indices = symmetric::indices(3, 2);
  EXPECT((indices == std::vector<std::int64_t>{0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1}));
  EXPECT((symmetric::exponents(3, 2) == std::vector<std::int64_t>{3, 0, 2, 1, 1, 2, 0, 3}));
  EXPECT((symmetric::multinomials(3, 2) == std::vector<std::int64_t>{1, 3, 3, 1}));
  EXPECT_ERROR(symmetric::count(4, 0), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(symmetric::count(0, 3), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(symmetric::indices(64, 1000), PURLIN_ERROR_INVALID_ARGUMENT);
}

void packing(const context& on) {
  namespace symmetric = purlin::symmetric;
  // x^2 + 4 x y as a matrix [[1, 2], [2, 0]].
  const std::vector<double> full{1, 2, 2, 0};
  std::vector<double> entries(3);
  tensor packed = tensor::symmetric_batch(on, entries, 2, 2);
  symmetric::from_full(on, tensor::borrow(on, full, {2, 2}), packed);
  EXPECT((entries == std::vector<double>{1, 2, 0}));

  std::vector<double> unpacked(4);
  tensor back = tensor::borrow(on, unpacked, {2, 2});
  symmetric::to_full(on, packed, back);
  EXPECT(unpacked == full);

  std::vector<double> coefficients(3);
  tensor polynomial = tensor::symmetric_batch(on, coefficients, 2, 2);
  symmetric::convert(on, packed, PURLIN_PACKING_ENTRIES, polynomial, PURLIN_PACKING_POLYNOMIAL);
  EXPECT((coefficients == std::vector<double>{1, 4, 0}));

  const purlin::symmetric_view<double> view{entries.data(), 2, 2};
  EXPECT(near(symmetric::norm(on, view).at(0), 3.0, 1e-15));
  EXPECT(near(symmetric::norm(on, view, PURLIN_NORM_ONE).at(0), 5.0, 1e-15));
  EXPECT(near(symmetric::norm(on, view, PURLIN_NORM_MAX).at(0), 2.0, 0.0));

  symmetric::identity(on, 2.0, packed);
  EXPECT((entries == std::vector<double>{2, 0, 2}));

  const std::vector<double> askew{1, 2, 4, 0};
  EXPECT_ERROR(symmetric::from_full(on, tensor::borrow(on, askew, {2, 2}), packed), PURLIN_ERROR_INVALID_ARGUMENT);
  symmetric::from_full(on, tensor::borrow(on, askew, {2, 2}), packed, symmetric::asymmetry::average);
  EXPECT((entries == std::vector<double>{1, 3, 0}));
  std::vector<double> odd(4);
  EXPECT_ERROR(tensor::symmetric_batch(on, odd, 2, 2), PURLIN_ERROR_INVALID_ARGUMENT);
  tensor cubic = tensor::symmetric_batch(on, odd, 3, 2);
  EXPECT_ERROR(symmetric::identity(on, 1.0, cubic), PURLIN_ERROR_INVALID_ARGUMENT);

  const tensor owned = tensor::create_symmetric<float>(on, 4, 3, 7, PURLIN_HOST, PURLIN_ENTRY_MAJOR);
  EXPECT((owned.dims() == std::vector<std::int64_t>{15, 7}));
  EXPECT((owned.strides() == std::vector<std::int64_t>{7, 1}));
  EXPECT(owned.properties().symmetric_order == 4 && owned.properties().symmetric_dimension == 3);
}

void tests() {
  const context on = context::on(PURLIN_BACKEND_CPU);
  dense(on);
  dlpack(on);
  matrices(on);
  arrays_of_known_length(on);
  flags_alone(on);
  outside(on);
  tables();
  packing(on);
}

}  // namespace

int main() { return run(tests); }
