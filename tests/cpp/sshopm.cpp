// Eigenpairs of the two published tensors and of an orthogonally decomposable one, through views and through tensors.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "expect.hpp"

namespace sshopm = purlin::sshopm;
using purlin::const_matrix_view;
using purlin::context;
using purlin::symmetric_view;
using purlin::tensor;

namespace {

// Kofidis & Regalia 2002, packed; Kolda & Mayo 2011, Example 3.5 and Table 3.1.
constexpr std::array<double, 15> fourth{.2883, -.0031, .1973,  -.2485, -.2939, .3847, .2972, .1862,
                                        .0919, -.3619, .1241, -.3420, .2127,  .2727, -.3054};
constexpr std::array<double, 11> fourth_values{.8893220107,  .8168813450,  .5104732795, .3633060484,
                                               .2682416489,  .2628022929,  .2433405326, .1734564854,
                                               -.0450921811, -.5629171327, -1.0953516989};
constexpr std::array<std::int32_t, 11> fourth_classes{
    PURLIN_PAIR_NEGATIVE_STABLE, PURLIN_PAIR_NEGATIVE_STABLE, PURLIN_PAIR_UNSTABLE, PURLIN_PAIR_NEGATIVE_STABLE,
    PURLIN_PAIR_UNSTABLE,        PURLIN_PAIR_UNSTABLE,        PURLIN_PAIR_UNSTABLE, PURLIN_PAIR_UNSTABLE,
    PURLIN_PAIR_POSITIVE_STABLE, PURLIN_PAIR_POSITIVE_STABLE, PURLIN_PAIR_POSITIVE_STABLE};
constexpr symmetric_view<double> kofidis{fourth.data(), 4, 3};

/// The largest distance of A x^3 to lambda x over the components, by the product call.
double residual(const context& on, const symmetric_view<double>& a, double lambda, const double* x) {
  const std::vector<double> y = sshopm::product(on, a, const_matrix_view<double>{x, 3, 1}, a.order - 1);
  double worst = 0.0;
  for (std::size_t i = 0; i < 3; ++i) worst = std::max(worst, std::abs(y[i] - lambda * x[i]));
  return worst;
}

void maxima_and_minima(const context& on) {
  const sshopm::pairs<double> maxima = sshopm::solve(on, kofidis, 5);
  EXPECT(maxima.status.at(0) == PURLIN_TENSOR_OK);
  EXPECT(maxima.count.at(0) == 3);
  const std::array<double, 3> expected{fourth_values[0], fourth_values[1], fourth_values[3]};
  for (std::int64_t k = 0; k < 3; ++k) {
    EXPECT(near(maxima.value(k), expected[static_cast<std::size_t>(k)], 1e-9));
    EXPECT(maxima.pair_class(k) == PURLIN_PAIR_NEGATIVE_STABLE);
    EXPECT(residual(on, kofidis, maxima.value(k), maxima.vector(k)) <= 1e-9);
    EXPECT(maxima.residual(k) <= 1e-9);
  }
  EXPECT(std::isnan(maxima.value(3)) && std::isnan(*maxima.vector(4)));
  EXPECT(maxima.info.tensors == 1 && maxima.info.converged_starts > 0);
  // The largest component of a vector is positive, for even order.
  EXPECT(near(std::abs(maxima.vector(0)[2]), .7027, 1e-4) && maxima.vector(0)[2] > 0);

  sshopm::options options;
  options.goal = PURLIN_SSHOPM_MINIMA;
  options.method = PURLIN_SSHOPM_POWER;
  const sshopm::pairs<double> minima = sshopm::solve(on, kofidis, 5, options);
  EXPECT(minima.count.at(0) == 3);
  for (std::int64_t k = 0; k < 3; ++k) {
    EXPECT(near(minima.value(k), fourth_values[static_cast<std::size_t>(10 - k)], 1e-9));
    EXPECT(minima.pair_class(k) == PURLIN_PAIR_POSITIVE_STABLE);
  }
}

void every_pair(const context& on) {
  const sshopm::all_pairs<double> found = sshopm::solve_all(on, kofidis, 13);
  EXPECT(found.count.at(0) == 11);
  EXPECT(found.morse_sum.at(0) == 1 && found.morse_expected.at(0) == 1);
  std::vector<std::pair<double, std::int32_t>> sorted;
  for (std::int64_t k = 0; k < 11; ++k) {
    sorted.emplace_back(found.value(k), found.pair_class(k));
    EXPECT(residual(on, kofidis, found.value(k), found.vector(k)) <= 1e-12);
  }
  std::sort(sorted.rbegin(), sorted.rend());
  for (std::size_t k = 0; k < 11; ++k) {
    EXPECT(near(sorted[k].first, fourth_values[k], 1e-9));
    EXPECT(sorted[k].second == fourth_classes[k]);
  }
  // The pairs given back are classified as they were found, with both Hessian eigenvalues of the table.
  const auto again = sshopm::classify(on, kofidis, found.values, found.vectors);
  for (std::size_t k = 0; k < 11; ++k) {
    EXPECT(again.classes[k] == found.classes[k]);
    EXPECT(again.residuals[k] <= 1e-12);
    EXPECT(near(again.hessian[2 * k], found.hessian[2 * k], 1e-9));
  }
  EXPECT(near(found.hessian[0], -1.846, 1e-3) && near(found.hessian[1], -.886, 1e-3));
}

void compatible_iterations(const context& on) {
  sshopm::options options;
  options.compatibility = PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX;
  options.method = PURLIN_SSHOPM_POWER;
  const std::array<double, 3> start{1.0, .5, -.3};
  const const_matrix_view<double> starts{start.data(), 3, 1};
  sshopm::runs<double> run = sshopm::solve_each(on, kofidis, starts, options);
  EXPECT(run.status.at(0) == PURLIN_START_CONVERGED);
  EXPECT(run.iterations.at(0) == 23);
  EXPECT(near(run.values.at(0), fourth_values[0], 1e-9));
  options.shift_kind = PURLIN_SSHOPM_SHIFT_FIXED;
  options.shift = 2.0;
  run = sshopm::solve_each(on, kofidis, starts, options);
  EXPECT(run.iterations.at(0) == 46);
  EXPECT(run.shifts.at(0) == 2.0);
  EXPECT(near(run.values.at(0), fourth_values[0], 1e-9));
}

void batch_in_either_layout(const context& on) {
  // w1 e1^3 + w2 e2^3 + w3 e3^3 for three sets of weights: the maxima are the weights, and one that is negative,
  // -(sum of w^-2)^(-1/2), which a search for maxima lists as such.
  constexpr std::int64_t count = 3;
  std::vector<float> tensor_major(10 * count, 0.0F);
  std::vector<float> entry_major(10 * count, 0.0F);
  for (std::int64_t t = 0; t < count; ++t) {
    const std::array<std::int64_t, 3> diagonal{0, 6, 9};
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto w = static_cast<float>(3 - i) + 0.25F * static_cast<float>(t);
      const std::int64_t entry = diagonal[static_cast<std::size_t>(i)];
      tensor_major[static_cast<std::size_t>(t * 10 + entry)] = w;
      entry_major[static_cast<std::size_t>(entry * count + t)] = w;
    }
  }
  const auto a = sshopm::solve(on, symmetric_view<float>{tensor_major.data(), 3, 3, count}, 4);
  const auto b = sshopm::solve(on, symmetric_view<float>{entry_major.data(), 3, 3, count, count, 1}, 4);
  for (std::int64_t t = 0; t < count; ++t) {
    EXPECT(a.count.at(static_cast<std::size_t>(t)) == 4);
    double inverse = 0.0;
    for (std::int64_t k = 0; k < 3; ++k) {
      EXPECT(near(static_cast<double>(a.value(k, t)), 3.0 - static_cast<double>(k) + 0.25 * static_cast<double>(t),
                  1e-4));
      inverse += 1.0 / (static_cast<double>(a.value(k, t)) * static_cast<double>(a.value(k, t)));
      EXPECT(a.value(k, t) == b.value(k, t));
      EXPECT(a.vector(k, t)[k] > 0.999F);
    }
    EXPECT(near(static_cast<double>(a.value(3, t)), -1.0 / std::sqrt(inverse), 1e-4));
    EXPECT(a.pair_class(3, t) == PURLIN_PAIR_NEGATIVE_STABLE);
  }
}

void through_tensors(const context& on) {
  const tensor input = tensor::borrow(on, kofidis);
  std::vector<double> starts = sshopm::starts<double>(on, PURLIN_STARTS_FIBONACCI_HEMISPHERE, 3, 16);
  const double z = 1.0 - 0.5 / 16.0;
  EXPECT(near(starts[2], z, 1e-15) && near(starts[0], std::sqrt(1 - z * z), 1e-15));
  tensor random = tensor::create<double>(on, {3, 8});
  sshopm::starts(on, PURLIN_STARTS_RANDOM, 7, random);
  const double* drawn = random.data<double>();
  EXPECT(near(drawn[0] * drawn[0] + drawn[1] * drawn[1] + drawn[2] * drawn[2], 1.0, 1e-14));
  EXPECT(drawn[0] == sshopm::starts<double>(on, PURLIN_STARTS_RANDOM, 3, 8, 7)[0]);

  tensor values = tensor::create<double>(on, {2, 1});
  tensor status = tensor::create<std::int32_t>(on, {16, 1});
  sshopm::results results;
  results.values = values.get();
  results.start_status = status.get();
  const purlin_sshopm_info info =
      sshopm::solve(on, input, tensor::borrow(on, starts, {3, 16}), {}, results, purlin::stream::create(on));
  EXPECT(info.starts == 16);
  EXPECT(near(values.data<double>()[0], fourth_values[0], 1e-9));
  EXPECT(status.data<std::int32_t>()[15] == PURLIN_START_CONVERGED);

  sshopm::results all_results;
  all_results.values = values.get();
  sshopm::solve_all(on, input, {}, all_results);
  tensor products = tensor::create<double>(on, {16, 1});
  sshopm::product(on, input, tensor::borrow(on, starts, {3, 16}), 4, products);
  double at_start = 0.0;  // A x^4 from the table of entries
  const auto exponents = purlin::symmetric::exponents(4, 3);
  const auto multinomials = purlin::symmetric::multinomials(4, 3);
  for (std::size_t r = 0; r < 15; ++r) {
    double term = fourth[r] * static_cast<double>(multinomials[r]);
    for (std::size_t i = 0; i < 3; ++i) term *= std::pow(starts[i], static_cast<double>(exponents[3 * r + i]));
    at_start += term;
  }
  EXPECT(near(products.data<double>()[0], at_start, 1e-14));
  tensor residuals = tensor::create<double>(on, {1, 1});
  const tensor one_value = tensor::borrow(on, &fourth_values[0], {1, 1});
  sshopm::classify(on, input, one_value, tensor::borrow(on, starts.data(), {3, 1, 1}), 0.0, residuals, {}, {});
  EXPECT(residuals.data<double>()[0] > 1e-3);
}

void refusals(const context& on) {
  sshopm::options options;
  options.goal = 9;
  EXPECT_ERROR(sshopm::solve(on, kofidis, 5, options), PURLIN_ERROR_INVALID_ARGUMENT);
  options = {};
  options.shift_kind = PURLIN_SSHOPM_SHIFT_FIXED;
  options.shift = -1.0;  // concave, against a search for maxima
  EXPECT_ERROR(sshopm::solve(on, kofidis, 5, options), PURLIN_ERROR_INVALID_ARGUMENT);
  options = {};
  options.tolerance = -1.0;
  EXPECT_ERROR(sshopm::solve(on, kofidis, 5, options), PURLIN_ERROR_INVALID_ARGUMENT);
  const std::array<double, 3> nothing{0, 0, 0};
  EXPECT_ERROR(sshopm::solve(on, kofidis, 5, {}, const_matrix_view<double>{nothing.data(), 3, 1}),
               PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(sshopm::product(on, kofidis, const_matrix_view<double>{fourth.data(), 3, 1}, 5),
               PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(sshopm::starts<double>(on, 99, 3, 4), PURLIN_ERROR_INVALID_ARGUMENT);

  // One bad tensor of a batch spoils only its own row.
  std::vector<double> batch(fourth.begin(), fourth.end());
  batch.insert(batch.end(), fourth.begin(), fourth.end());
  batch[3] = std::numeric_limits<double>::quiet_NaN();
  const auto found = sshopm::solve(on, symmetric_view<double>{batch.data(), 4, 3, 2}, 3);
  EXPECT(found.status.at(0) == PURLIN_TENSOR_NONFINITE && found.count.at(0) == 0 && std::isnan(found.value(0, 0)));
  EXPECT(found.status.at(1) == PURLIN_TENSOR_OK && near(found.value(0, 1), fourth_values[0], 1e-9));
  EXPECT(found.info.truncated_tensors == 0 && found.found.at(1) == found.count.at(1));
  // One place for three pairs.
  const auto first = sshopm::solve(on, kofidis, 1);
  EXPECT(first.count.at(0) == 1 && first.found.at(0) == 3 && first.info.truncated_tensors == 1);
  EXPECT(first.info.unconverged_tensors == 0);
  sshopm::options hurried;
  hurried.method = PURLIN_SSHOPM_POWER;
  hurried.max_iterations = 1;
  EXPECT(sshopm::solve(on, kofidis, 5, hurried).info.unconverged_tensors == 1);
  // An empty batch succeeds.
  EXPECT(sshopm::solve(on, symmetric_view<double>{batch.data(), 4, 3, 0}, 3).values.empty());
}

/// 3 x^3 + 2 y^3 + z^3: the axes, and the negative of the minimum at 1 / (3, 2, 1), of value 6/7; a form near the identity.
void odd_order_and_nearly_isotropic(const context& on) {
  const std::array<double, 10> cubes{3, 0, 0, 0, 0, 0, 2, 0, 0, 1};
  const std::array<double, 4> values{3, 2, 1, -6.0 / 7};
  sshopm::options options;
  for (const std::int32_t goal : {PURLIN_SSHOPM_MAXIMA, PURLIN_SSHOPM_MINIMA, PURLIN_SSHOPM_BOTH}) {
    options.goal = goal;
    const auto found = sshopm::solve(on, symmetric_view<double>{cubes.data(), 3, 3}, 8, options);
    EXPECT(found.count.at(0) == 4 && found.status.at(0) == PURLIN_TENSOR_OK);
    for (std::int64_t k = 0; k < 4; ++k) {
      const bool minimum = goal == PURLIN_SSHOPM_MINIMA || (goal == PURLIN_SSHOPM_BOTH && k == 3);
      EXPECT(near(found.value(k), (minimum ? -1 : 1) * values[static_cast<std::size_t>(k)], 1e-9));
      EXPECT(found.pair_class(k) == (minimum ? PURLIN_PAIR_POSITIVE_STABLE : PURLIN_PAIR_NEGATIVE_STABLE));
    }
  }
  std::array<double, 15> close{};
  for (std::size_t k = 0; k < 15; ++k) close[k] = 1e-5 * fourth[k];
  for (const std::size_t k : {0U, 10U, 14U}) close[k] += 1;
  for (const std::size_t k : {3U, 5U, 12U}) close[k] += 1.0 / 3;
  options = sshopm::options{};
  options.tolerance = 1e-12;
  options.degeneracy_tolerance = 1e-12;
  const auto found = sshopm::solve(on, symmetric_view<double>{close.data(), 4, 3}, 5, options);
  EXPECT(found.count.at(0) == 3 && found.status.at(0) == PURLIN_TENSOR_OK);
  EXPECT(near((found.value(0) - 1) / 1e-5, fourth_values[0], 1e-8) && near((found.value(2) - 1) / 1e-5, fourth_values[3], 1e-8));
  options = sshopm::options{};
  options.max_iterations = 4;
  const auto part = sshopm::solve(on, kofidis, 5, options);
  EXPECT(part.status.at(0) == PURLIN_TENSOR_PARTIAL && part.count.at(0) > 0 && part.info.unconverged_tensors == 1);
}

/// |x|^4 + 1e-5 (4 x1^4 + 3 x2^4 + 2 x3^4 + x4^4): every start arrives, and the maxima are the four axes.
void nearly_isotropic_in_four_dimensions(const context& on) {
  std::vector<double> form;
  for (int i = 0; i < 4; ++i)
    for (int j = i; j < 4; ++j)
      for (int k = j; k < 4; ++k)
        for (int l = k; l < 4; ++l) {
          const int pairs = (i == j && k == l) + (i == k && j == l) + (i == l && j == k);
          form.push_back(pairs / 3.0 + (i == l ? 1e-5 * (4 - i) : 0.0));
        }
  sshopm::options options;
  options.tolerance = 1e-12;
  options.degeneracy_tolerance = 1e-12;
  const auto found = sshopm::solve(on, symmetric_view<double>{form.data(), 4, 4}, 8, options);
  EXPECT(found.count.at(0) == 4 && found.status.at(0) == PURLIN_TENSOR_OK && found.info.unconverged_tensors == 0);
  for (std::int64_t k = 0; k < 4; ++k) {
    EXPECT(near((found.value(k) - 1) / 1e-5, static_cast<double>(4 - k), 1e-6));
    EXPECT(found.pair_class(k) == PURLIN_PAIR_NEGATIVE_STABLE);
  }
}

/// (x^2 + y^2)^2 + (x^2 + y^2) z^2 / 2: the maxima are a circle, which is one entry, and the set is not
/// confirmed as complete.
void circle_of_maxima(const context& on) {
  const std::array<double, 15> form{1, 0, 0, 1.0 / 3, 0, 1.0 / 12, 0, 0, 0, 0, 1, 0, 1.0 / 12, 0, 0};
  const auto found = sshopm::solve_all(on, symmetric_view<double>{form.data(), 4, 3}, 8);
  EXPECT(found.count.at(0) == 2 && found.found.at(0) == 2 && found.status.at(0) == PURLIN_TENSOR_DEGENERATE);
  EXPECT(near(found.value(0), 1.0, 1e-10) && near(found.value(1), 0.0, 1e-10));
  EXPECT(found.pair_class(0) == PURLIN_PAIR_DEGENERATE && found.pair_class(1) == PURLIN_PAIR_POSITIVE_STABLE);
  EXPECT(found.morse_expected.at(0) == INT32_MIN && found.pair_class(2) == PURLIN_PAIR_NONE);
}

/// One object for several batches gives the results of calls without one; a plan, a report, and a call after a cancellation.
void by_object(const context& on) {
  sshopm::options options;
  options.goal = PURLIN_SSHOPM_BOTH;
  int calls = 0;
  options.on_progress = [&](std::int64_t, std::int64_t, double) {
    ++calls;
    return false;
  };
  sshopm::session solver(on, options);
  const sshopm::pairs<double> alone = sshopm::solve(on, kofidis, 6, options);
  calls = 0;
  const tensor input = tensor::borrow(on, kofidis);
  const purlin_sshopm_info plan = solver.plan(input);
  EXPECT(plan.tensors == 1 && plan.starts == 32 && plan.host_bytes > 0 && plan.reason[0] != 0);
  bool thrown = false;
  try {
    static_cast<void>(solver.last_info());
  } catch (const purlin::error& e) {
    thrown = e.status() == PURLIN_ERROR_INVALID_ARGUMENT;
  }
  EXPECT(thrown);
  for (int round = 0; round < 2; ++round) {
    tensor values = tensor::create<double>(on, {6, 1});
    sshopm::results results;
    results.values = values.get();
    solver.cancel();
    const purlin_sshopm_info info = solver.solve(input, {}, results);
    EXPECT(info.iterations == alone.info.iterations && solver.last_info().iterations == info.iterations);
    for (std::size_t k = 0; k < 6; ++k) EXPECT(values.data<double>()[k] == alone.values[k]);
  }
  EXPECT(calls > 0);
  sshopm::session searching(on, sshopm::options{});
  tensor values = tensor::create<double>(on, {16, 1});
  sshopm::results results;
  results.values = values.get();
  static_cast<void>(searching.solve_all(input, results));
  EXPECT(near(values.data<double>()[10], fourth_values[10], 1e-9));
}

void tests() {
  const context on = context::on(PURLIN_BACKEND_CPU);
  maxima_and_minima(on);
  every_pair(on);
  compatible_iterations(on);
  batch_in_either_layout(on);
  through_tensors(on);
  by_object(on);
  odd_order_and_nearly_isotropic(on);
  nearly_isotropic_in_four_dimensions(on);
  circle_of_maxima(on);
  refusals(on);
}

}  // namespace

int main() { return run(tests); }
