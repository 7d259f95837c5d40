// Principal components of data whose factors are known, far from the origin.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "expect.hpp"

namespace rsvd = purlin::rsvd;
using purlin::context;
using purlin::matrix;
using purlin::tensor;

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr std::int64_t rows = 120, cols = 70, terms = 30;

/// Element i of the j-th cosine vector of length n, from 1 on: the vectors are orthonormal.
double cosine(std::int64_t i, std::int64_t j, std::int64_t n) {
  return std::sqrt(2.0 / static_cast<double>(n)) *
         std::cos(pi * (static_cast<double>(i) + 0.5) * static_cast<double>(j) / static_cast<double>(n));
}

double sigma(std::int64_t j) { return std::pow(0.6, static_cast<double>(j)); }

/// rows x cols, column-major, with singular values 1, 0.6, 0.36..
std::vector<double> example() {
  std::vector<double> a(rows * cols);
  for (std::int64_t c = 0; c < cols; ++c)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t j = 0; j < terms; ++j)
        a[static_cast<std::size_t>(r + rows * c)] += sigma(j) * cosine(r, j + 1, rows) * cosine(c, j + 1, cols);
  return a;
}

template <class T>
double product(const T* x, const T* y, std::int64_t n) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

void fits_components(const context& on, const std::vector<double>& a) {
  std::vector<double> shifted(a);
  for (std::int64_t c = 0; c < cols; ++c)
    for (std::int64_t r = 0; r < rows; ++r) shifted[static_cast<std::size_t>(r + rows * c)] += 100.0 + static_cast<double>(c);
  const matrix x = matrix::borrow(on, shifted, rows, cols);
  rsvd::options settings(4);
  settings.power_iterations = 6;
  rsvd::session run(on, settings);
  std::vector<double> scores(rows * 4), again(rows * 4), back(rows * cols), mean(cols);
  const purlin_rsvd_info planned = purlin::pca::model::plan(run, x, {}, true);
  purlin::pca::model model = purlin::pca::model::fit(run, x, {}, matrix::borrow(on, scores, rows, 4));
  EXPECT(planned.method == model.run().method && planned.passes == model.run().passes);
  EXPECT(planned.host_bytes == model.run().host_bytes && planned.rank == 4 && planned.reason[0] != '\0');
  const purlin_pca_info info = model.properties();
  EXPECT(info.count == rows && info.features == cols && info.rank == 4 && info.centered == 1);
  EXPECT(model.run().passes > 0);
  // The cosines have mean 0, so centring subtracts exactly the mean that was added.
  const std::vector<double> values = model.singular_values(on), variance = model.explained_variance(on);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT(near(values[j], sigma(static_cast<std::int64_t>(j)), 1e-10));
    EXPECT(near(variance[j], values[j] * values[j] / (rows - 1), 1e-12));
  }
  EXPECT(near(model.explained_variance_ratio(on)[0] * info.total_variance, variance[0], 1e-12));
  for (const double one : model.scale(on)) EXPECT(one == 1.0);
  for (const double zero : model.constant(on)) EXPECT(zero == 0.0);
  tensor means = tensor::borrow(on, mean);
  model.mean(means);
  for (std::int64_t c = 0; c < cols; ++c)
    EXPECT(near(mean[static_cast<std::size_t>(c)], 100.0 + static_cast<double>(c), 1e-11));
  matrix out = matrix::borrow(on, again, rows, 4), rebuilt = matrix::borrow(on, back, rows, cols);
  model.transform(x, out);
  model.inverse_transform(out, rebuilt);
  double most = 0.0, apart = 0.0;
  for (std::size_t k = 0; k < scores.size(); ++k) most = std::max(most, std::fabs(scores[k] - again[k]));
  for (std::size_t k = 0; k < back.size(); ++k) apart = std::max(apart, std::fabs(back[k] - shifted[k]));
  EXPECT(most < 1e-10 && apart < sigma(4));
  std::vector<double> axes(cols * 4);
  matrix components = matrix::borrow(on, axes, cols, 4);
  model.components(components);
  EXPECT(near(product(axes.data(), axes.data(), cols), 1.0, 1e-12));
}

void tests() { fits_components(context::on(PURLIN_BACKEND_CPU), example()); }

}  // namespace

int main() { return run(tests); }
