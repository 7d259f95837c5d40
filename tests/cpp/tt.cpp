// Tensor trains and TT-matrices: objects, contractions and algebra against sums over all entries.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
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

/// A ring of three cores of rank 2.
struct ring {
  std::vector<double> data = std::vector<double>(24);
  tt::train x;

  ring(const context& on, double seed) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::sin(seed * static_cast<double>(i + 1));
    x = tt::train::borrow_flat(on, data, {2, 2, 2}, {2, 2, 2, 2});
  }

  double core(std::size_t k, std::size_t a, std::size_t i, std::size_t b) const { return data[8 * k + a + 2 * (i + 2 * b)]; }

  std::vector<double> dense() const {
    std::vector<double> full(8);
    for (std::size_t n = 0; n < 8; ++n)
      for (std::size_t a = 0; a < 2; ++a)
        for (std::size_t b = 0; b < 2; ++b)
          for (std::size_t c = 0; c < 2; ++c)
            full[n] += core(0, a, n & 1, b) * core(1, b, (n >> 1) & 1, c) * core(2, c, n >> 2, a);
    return full;
  }
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double value(const tt::scaled& s) { return std::ldexp(s.re, static_cast<int>(s.exponent)); }

/// Plans report the figures of the calls.
void plans(const context& on) {
  const ring x(on, 1.3), y(on, 0.7);
  const tt::train_matrix h = tt::train_matrix::ising(on, 3, 1.0, 0.5);
  tt::contraction c(on);
  const auto done = [&](const purlin_tt_contraction_info& plan) {
    const purlin_tt_contraction_info last = c.last_info();
    return plan.method == last.method && plan.kernel == last.kernel && plan.flops == last.flops &&
           plan.workspace_bytes == last.workspace_bytes && plan.workspace_bytes > 0;
  };
  static_cast<void>(c.inner(x.x, y.x));
  EXPECT(done(c.plan_inner(x.x, y.x)));
  static_cast<void>(c.norm(x.x));
  EXPECT(done(c.plan_norm(x.x)));
  static_cast<void>(c.distance(x.x, y.x));
  EXPECT(done(c.plan_distance(x.x, y.x)));
  static_cast<void>(c.inner_batch(on, {&x.x, &y.x}, {&y.x, &y.x}));
  EXPECT(done(c.plan_batch({&x.x, &y.x}, {&y.x, &y.x})));
  static_cast<void>(c.gram(on, {&x.x, &y.x}));
  EXPECT(done(c.plan_gram({&x.x, &y.x})));
  static_cast<void>(c.gram(on, {&x.x}, {&x.x, &y.x}));
  EXPECT(done(c.plan_gram({&x.x}, {&x.x, &y.x})));
  static_cast<void>(c.sandwich(y.x, h, x.x));
  EXPECT(done(c.plan_sandwich(y.x, h, x.x)));
  static_cast<void>(c.rayleigh(h, x.x));
  EXPECT(done(c.plan_rayleigh(h, x.x)));
  EXPECT_ERROR(c.plan_batch({&x.x}, {}), PURLIN_ERROR_INVALID_ARGUMENT);
}

/// A workspace that is too small is refused with the bytes that are needed, and with these it works.
void little_workspace(const context& on) {
  const ring x(on, 1.3), y(on, 0.7);
  const tt::train_matrix h = tt::train_matrix::ising(on, 3, 1.0, 0.5);
  const auto with = [&](std::int64_t limit) {
    tt::contraction_options options;
    options.workspace_limit = limit;
    return tt::contraction(on, options);
  };
  const auto needed = [&](auto call) {
    tt::contraction c = with(8);
    const std::string start = "workspace_limit: is 8, at least ";
    try {
      call(c);
    } catch (const purlin::error& e) {
      const std::string text = e.what();
      EXPECT(e.status() == PURLIN_ERROR_INVALID_ARGUMENT && text.compare(0, start.size(), start) == 0);
      return static_cast<std::int64_t>(std::stod(text.substr(start.size())));
    }
    fail(__FILE__, __LINE__, "a workspace of 8 bytes was enough");
  };
  const auto inner = [&](tt::contraction& c) { static_cast<void>(c.inner(x.x, y.x)); };
  const auto batch = [&](tt::contraction& c) { static_cast<void>(c.inner_batch(on, {&x.x}, {&y.x})); };
  const auto sandwich = [&](tt::contraction& c) { static_cast<void>(c.sandwich(y.x, h, x.x)); };
  const auto plan = [&](tt::contraction& c) { static_cast<void>(c.plan_sandwich(y.x, h, x.x)); };
  for (std::int64_t bytes : {needed(inner), needed(batch)}) {
    tt::contraction c = with(bytes);
    inner(c);
    EXPECT(c.last_info().workspace_bytes <= bytes);
  }
  EXPECT(needed(sandwich) == needed(plan));
  tt::contraction c = with(needed(sandwich));
  sandwich(c);
  EXPECT(c.last_info().workspace_bytes <= needed(sandwich));
}

/// A number that is not finite makes every result NaN. Scaled calls report it, plain ones throw.
void not_finite(const context& on) {
  ring x(on, 1.3), y(on, 0.7);
  x.data[9] = std::numeric_limits<double>::quiet_NaN();
  tt::contraction c(on);
  const auto is_nan = [&](const tt::scaled& s) {
    return std::isnan(s.re) && s.exponent == 0 && c.last_info().outcome == PURLIN_TT_RESULT_NONFINITE;
  };
  EXPECT(is_nan(c.inner_scaled(x.x, y.x)) && is_nan(c.inner_scaled(y.x, x.x)));
  EXPECT(is_nan(c.norm_scaled(x.x)) && is_nan(c.distance_scaled(x.x, y.x)));
  EXPECT(is_nan(c.sandwich_scaled(x.x, tt::train_matrix::ising(on, 3, 1.0, 0.5), x.x)));
  const tt::scaled_list batch = c.inner_batch_scaled(on, {&y.x, &y.x}, {&y.x, &x.x});
  EXPECT(c.last_info().outcome == PURLIN_TT_RESULT_NONFINITE);
  EXPECT(std::isfinite(batch.mantissas[0].real()) && std::isnan(batch.mantissas[1].real()));
  EXPECT_ERROR(c.inner(x.x, y.x), PURLIN_ERROR_NUMERICAL);
  EXPECT_ERROR(c.norm(x.x), PURLIN_ERROR_NUMERICAL);
  EXPECT_ERROR(c.distance(x.x, y.x), PURLIN_ERROR_NUMERICAL);
  static_cast<void>(c.inner_scaled(y.x, y.x));
  EXPECT(c.last_info().outcome == PURLIN_TT_RESULT_OK);
}

void contractions(const context& on) {
  const ring x(on, 1.3), y(on, 0.7);
  const std::vector<double> a = x.dense(), b = y.dense();
  tt::contraction_options options;
  options.method = PURLIN_TT_METHOD_FULL;
  tt::contraction c(on, options);
  EXPECT(c.plan_inner(x.x, y.x).method == PURLIN_TT_METHOD_FULL);
  EXPECT(near(c.inner(x.x, y.x).real(), dot(a, b), 1e-13) && c.last_info().outcome == PURLIN_TT_RESULT_OK);
  EXPECT(near(value(c.inner_scaled(x.x, y.x)), dot(a, b), 1e-13));
  EXPECT(near(c.norm(x.x), std::sqrt(dot(a, a)), 1e-13) && near(value(c.norm_scaled(x.x)), c.norm(x.x), 1e-14));
  EXPECT(near(c.distance(x.x, x.x), 0.0, 0.0) && near(value(c.distance_scaled(x.x, y.x)), c.distance(x.x, y.x), 1e-14));

  tt::contraction_options reported;
  int steps = 0;
  reported.method = PURLIN_TT_METHOD_FULL;
  reported.on_progress = [&](std::int64_t, std::int64_t, double) { return ++steps, false; };
  purlin_tt_contraction_info info{};
  EXPECT(tt::inner_once(on, x.x, y.x, reported, &info) == c.inner(x.x, y.x) && steps > 0);
  EXPECT(info.method == PURLIN_TT_METHOD_FULL && tt::norm_once(on, x.x) > 0.0);
  EXPECT(near(tt::distance_once(on, x.x, y.x), c.distance(x.x, y.x), 0.0));
  EXPECT_ERROR(tt::contraction(on).last_info(), PURLIN_ERROR_INVALID_ARGUMENT);
  reported.on_progress = [](std::int64_t, std::int64_t, double) { return true; };
  EXPECT_ERROR(tt::norm_once(on, x.x, reported), PURLIN_ERROR_CANCELLED);

  const auto batch = c.inner_batch(on, {&x.x, &y.x}, {&y.x, &y.x});
  const auto gram = c.gram(on, {&x.x, &y.x});
  EXPECT(near(batch[0].real(), dot(a, b), 1e-13) && near(gram[3].real(), dot(b, b), 1e-13));
  EXPECT(near(c.gram(on, {&x.x}, {&y.x, &x.x})[1].real(), dot(a, a), 1e-13) && gram[1] == gram[2]);

  const tt::scaled_list batches = c.inner_batch_scaled(on, {&x.x, &y.x}, {&y.x, &y.x});
  const tt::scaled_list grams = c.gram_scaled(on, {&x.x, &y.x});
  for (std::size_t k = 0; k < 4; k++) {
    EXPECT(std::ldexp(grams.mantissas[k].real(), static_cast<int>(grams.exponents[k])) == gram[k].real());
    EXPECT(k >= 2 || std::ldexp(batches.mantissas[k].real(), static_cast<int>(batches.exponents[k])) == batch[k].real());
  }

  const tt::train_matrix h = tt::train_matrix::ising(on, 3, 1.0, 0.5);
  std::vector<double> flip{0, 1, 1, 0}, sign{1, 0, 0, -1};
  const tensor sx = tensor::borrow(on, flip, {2, 2}), sz = tensor::borrow(on, sign, {2, 2});
  const std::vector<tt::term> terms{{-1.0, {{0, &sx}, {1, &sx}}}, {-1.0, {{1, &sx}, {2, &sx}}},
                                    {-0.5, {{0, &sz}}},           {-0.5, {{1, &sz}}},
                                    {-0.5, {{2, &sz}}}};
  const tt::train_matrix same = tt::train_matrix::from_terms(on, {2, 2, 2}, terms);
  const double energy = c.sandwich(x.x, h, x.x).real();
  EXPECT(near(c.sandwich(x.x, same, x.x).real(), energy, 1e-13));
  EXPECT(near(value(c.sandwich_scaled(x.x, h, x.x)), energy, 1e-13));
  const tt::rayleigh_quotient quotient = c.rayleigh(h, x.x);
  EXPECT(near(quotient.value.real(), energy / dot(a, a), 1e-13) && near(value(quotient.denominator), dot(a, a), 1e-13));
  EXPECT(near(c.rayleigh(tt::train_matrix::identity(on, {2, 2, 2}), x.x).value.real(), 1.0, 1e-14));
  EXPECT(tt::train_matrix::heisenberg(on, 4, {1.0, 1.0, 0.5}, 0.1, true).properties().cyclic == 1);
  // Sx Sx + Sy Sy + Sz Sz in a real type: Sy is imaginary, its products are real.
  using complex = std::complex<double>;
  std::vector<complex> spin_x{0, 0.5, 0.5, 0}, spin_y{0, {0, 0.5}, {0, -0.5}, 0}, spin_z{0.5, 0, 0, -0.5};
  const tensor s1 = tensor::borrow(on, spin_x, {2, 2}), s2 = tensor::borrow(on, spin_y, {2, 2}),
               s3 = tensor::borrow(on, spin_z, {2, 2});
  std::vector<tt::term> bonds;
  for (const std::int64_t site : {0, 1})
    for (const tensor* s : {&s1, &s2, &s3}) bonds.push_back({1.0, {{site, s}, {site + 1, s}}});
  const tt::train_matrix spins = tt::train_matrix::from_terms(on, {2, 2, 2}, bonds, false, PURLIN_F64);
  const tt::train_matrix chain = tt::train_matrix::heisenberg(on, 3, {1.0, 1.0, 1.0}, 0.0);
  EXPECT(spins.properties().dtype == PURLIN_F64 && chain.properties().dtype == PURLIN_F64);
  const double exchange = c.sandwich(x.x, chain, x.x).real();
  EXPECT(std::abs(exchange) > 1e-3 && near(c.sandwich(x.x, spins, x.x).real(), exchange, 1e-12));
  EXPECT_ERROR((tt::train_matrix::from_terms(on, {2, 2, 2}, {{1.0, {{1, &s2}}}}, false, PURLIN_F64)),
               PURLIN_ERROR_INVALID_ARGUMENT);
  const auto local = c.expect_local(on, x.x, sz, {0, 1, 2});
  const auto pairs = c.correlation(on, x.x, sz, sz);
  EXPECT(local.size() == 3 && pairs.size() == 9 && near(pairs[4].real(), 1.0, 1e-13));

  tt::environments sweep(c, x.x, h, x.x), plain(c, x.x, x.x);
  sweep.build(PURLIN_TT_LEFT, 1);
  const std::vector<std::int64_t> dims = sweep.shape(1);
  std::vector<double> left(static_cast<std::size_t>(dims[0] * dims[1] * dims[2] * dims[3])), out(8);
  EXPECT(std::abs(sweep.get(PURLIN_TT_LEFT, 1, tensor::borrow(on, left, dims))) < 10 && left[0] != 0.0);
  EXPECT(near(value(sweep.value(2)), energy, 1e-13));
  std::vector<double> centre(x.data.begin() + 8, x.data.begin() + 16);
  const std::int64_t power = sweep.apply(1, 1, tensor::borrow(on, centre, {2, 2, 2}), tensor::borrow(on, out, {2, 2, 2}));
  EXPECT(near(std::ldexp(dot(centre, out), static_cast<int>(power)), energy, 1e-13));
  EXPECT(near(value(plain.local(1, sz)) / dot(a, a), local[1].real(), 1e-13));

  // Other trains: the environments computed before are of x, those read afterwards are of y.
  EXPECT_ERROR(sweep.set_trains(y.x, y.x, 2, 1), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT(near(value(sweep.value(1)), energy, 1e-13));
  sweep.set_trains(y.x, y.x, 0, 2);
  const double others = c.sandwich(y.x, h, y.x).real();
  EXPECT(std::abs(others - energy) > 1e-3);
  for (std::int64_t bond = 0; bond <= 3; ++bond) EXPECT(near(value(sweep.value(bond)), others, 1e-12));
  sweep.set_trains(x.x, x.x, 0, 2);
  EXPECT(near(value(sweep.value(2)), energy, 1e-12));

  tt::contraction_options watched;
  watched.on_progress = [](std::int64_t, std::int64_t, double) { return true; };
  tt::contraction stopped(on, watched);
  EXPECT_ERROR(stopped.inner(x.x, y.x), PURLIN_ERROR_CANCELLED);
}

void algebra(const context& on) {
  const ring x(on, 1.3), y(on, 0.7);
  const std::vector<double> a = x.dense(), b = y.dense();
  std::vector<double> full(8);
  const tensor target = tensor::borrow(on, full, {2, 2, 2});
  const auto is = [&](const tt::train& z, auto expected) {
    tt::full(on, z, target);
    for (std::size_t n = 0; n < 8; ++n) EXPECT(near(full[n], expected(n), 1e-12));
  };
  is(tt::add(on, 2.0, x.x, -1.0, y.x), [&](std::size_t n) { return 2 * a[n] - b[n]; });
  is(tt::scale(on, 0.5, x.x, 2), [&](std::size_t n) { return 2 * a[n]; });
  is(tt::conj(on, x.x), [&](std::size_t n) { return a[n]; });
  is(tt::hadamard(on, x.x, y.x), [&](std::size_t n) { return a[n] * b[n]; });
  is(tt::hadamard_round(on, tt::to_open(on, x.x), tt::to_open(on, y.x)).train, [&](std::size_t n) { return a[n] * b[n]; });
  is(tt::zeros(on, PURLIN_F64, {2, 2, 2}), [](std::size_t) { return 0.0; });
  is(tt::reverse(on, tt::reverse(on, x.x)), [&](std::size_t n) { return a[n]; });
  is(tt::rotate(on, tt::rotate(on, x.x, 1), 2), [&](std::size_t n) { return a[n]; });
  is(tt::apply(on, tt::train_matrix::identity(on, {2, 2, 2}), x.x), [&](std::size_t n) { return a[n]; });
  const tt::train open = tt::to_open(on, x.x);
  is(tt::round(on, open, tt::round_options(1e-13)).train, [&](std::size_t n) { return a[n]; });
  is(tt::canonicalize(on, open, 1).first, [&](std::size_t n) { return a[n]; });
  is(tt::apply_round(on, tt::train_matrix::identity(on, {2, 2, 2}), open).train, [&](std::size_t n) { return a[n]; });
  std::vector<double> copy = a;
  const tt::truncated found = tt::svd(on, tensor::borrow(on, copy), tt::round_options(1e-13), {2, 2, 2});
  is(found.train, [&](std::size_t n) { return a[n]; });
  EXPECT(found.info.error <= 1e-13 && found.info.max_rank == 2);
  is(tt::ones(on, PURLIN_F64, {2, 2, 2}), [](std::size_t) { return 1.0; });
  std::vector<double> vectors{1, 2, 3, 4, 5, 6};
  const tt::train product = tt::product_state(on, {2, 2, 2}, tensor::borrow(on, vectors));
  EXPECT(near(tt::element(on, product, {1, 0, 1}).real(), 36.0, 1e-12));
  EXPECT(near(tt::elements(on, product, {0, 0, 0, 1, 1, 1})[1].real(), 48.0, 1e-12));
  EXPECT(tt::random(on, PURLIN_CF32, {2, 3}, {1, 2, 1}, 7).properties().dtype == PURLIN_CF32);
  EXPECT(tt::cast(on, x.x, PURLIN_CF64).properties().dtype == PURLIN_CF64);
  EXPECT_ERROR(tt::round(on, x.x), PURLIN_ERROR_NOT_SUPPORTED);
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
  // On the CPU nothing is enqueued.
  const std::vector<double*> ones{a.data() + 1, a.data() + 1};
  const tt::train y = tt::train::borrow(on, {2, 2}, {1, 1, 1}, ones);
  std::vector<double> numbers(4);
  tensor result = tensor::borrow(on, numbers);
  tt::contraction c(on);
  EXPECT_ERROR((c.enqueue_inner(y, y, result)), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR((c.workspace_needed(y, y)), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR((c.enqueue_norm(y, result)), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR((c.workspace_needed(y)), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR((c.enqueue_distance(y, y, result)), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR((c.distance_workspace_needed(y, y)), PURLIN_ERROR_NOT_SUPPORTED);
  const tt::train_matrix h = tt::train_matrix::identity(on, {2, 2});
  EXPECT_ERROR((c.enqueue_sandwich(y, h, y, result)), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR((c.workspace_needed(y, h, y)), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR((c.enqueue_rayleigh(h, y, result)), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR((c.workspace_needed(h, y)), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR((c.set_workspace(256, 1)), PURLIN_ERROR_NOT_SUPPORTED);
}

void all() {
  const context on = context::on(PURLIN_BACKEND_CPU);
  trains(on);
  matrices(on);
  contractions(on);
  not_finite(on);
  plans(on);
  little_workspace(on);
  algebra(on);
  refusals(on);
}

}  // namespace

int main() { return run(all); }
