// Diffusion MRI: a fit of exact signals, spherical harmonics to tensors and back, directions of two crossing fibres.
#include <array>
#include <cstdint>
#include <vector>

#include "expect.hpp"

namespace dwi = purlin::dwi;
using purlin::const_matrix_view;
using purlin::context;
using purlin::symmetric_view;
using purlin::tensor;

namespace {

constexpr std::int64_t measurements = 33;  // one without weighting, 32 directions

struct scheme {
  std::vector<double> bvals = std::vector<double>(measurements, 1000.0);
  std::vector<double> bvecs = std::vector<double>(3 * measurements, 0.0);

  explicit scheme(const context& on) {
    const std::vector<double> directions =
        purlin::sshopm::starts<double>(on, PURLIN_STARTS_FIBONACCI_HEMISPHERE, 3, measurements - 1);
    std::copy(directions.begin(), directions.end(), bvecs.begin() + 3);
    bvals[0] = 0.0;
  }
};

void fit(const context& on) {
  const scheme s(on);
  // D = diag(1.7, .4, .3) 1e-3 mm^2/s in the first voxel; the second is empty, the third masked.
  const std::array<double, 3> diffusivity{1.7e-3, .4e-3, .3e-3};
  std::vector<double> signals(3 * measurements, 0.0);
  for (std::size_t j = 0; j < measurements; ++j) {
    double d = 0.0;
    for (std::size_t i = 0; i < 3; ++i) d += diffusivity[i] * s.bvecs[3 * j + i] * s.bvecs[3 * j + i];
    signals[j] = 200.0 * std::exp(-s.bvals[j] * d);
    signals[2 * measurements + j] = signals[j];
  }
  const std::vector<std::uint8_t> mask{1, 1, 0};
  const dwi::fitted<double> fitted = dwi::fit(on, signals, s.bvals, s.bvecs, 2, {}, mask);
  const std::array<double, 6> expected{1.7e-3, 0, 0, .4e-3, 0, .3e-3};
  for (std::size_t r = 0; r < 6; ++r) EXPECT(near(fitted.tensors[r], expected[r], 1e-15));
  EXPECT(near(fitted.s0[0], 200.0, 1e-12));
  EXPECT(fitted.status[0] == PURLIN_TENSOR_OK);
  EXPECT(fitted.status[1] == PURLIN_TENSOR_SIGNAL);
  EXPECT(fitted.status[2] == PURLIN_TENSOR_MASKED);
  EXPECT(fitted.info.tensors == 3 && fitted.info.skipped_tensors == 2 && fitted.info.chunks == 1);
  EXPECT(fitted.info.reason[0] != '\0');

  dwi::options weighted;
  weighted.weighting = PURLIN_DWI_WLS;
  const auto again = dwi::fit(on, signals, s.bvals, s.bvecs, 2, weighted, mask);
  EXPECT(near(again.tensors[0], 1.7e-3, 1e-14));
  EXPECT_ERROR(dwi::fit(on, signals, s.bvals, s.bvecs, 3), PURLIN_ERROR_INVALID_ARGUMENT);  // odd order
  EXPECT_ERROR(dwi::fit(on, signals, s.bvals, s.bvecs, 8), PURLIN_ERROR_INVALID_ARGUMENT);  // 45 unknowns
}

void orientation(const context& on) {
  // One fibre along x: the orientation function has its maximum there.
  const scheme s(on);
  std::vector<float> signals(measurements);
  for (std::size_t j = 0; j < measurements; ++j) {
    const double x = s.bvecs[3 * j];
    signals[j] = static_cast<float>(100.0 * std::exp(-s.bvals[j] * (.3e-3 + 1.4e-3 * x * x)));
  }
  const std::vector<float> bvals(s.bvals.begin(), s.bvals.end());
  const std::vector<float> bvecs(s.bvecs.begin(), s.bvecs.end());
  const dwi::orientation<float> made = dwi::csa(on, signals, bvals, bvecs, 4, PURLIN_SH_CANONICAL);
  EXPECT(made.status.at(0) == PURLIN_TENSOR_OK && made.sh.size() == 15);
  EXPECT(made.info.tensors == 1 && made.info.skipped_tensors == 0 && made.info.seconds >= 0);
  dwi::options options;
  options.basis = PURLIN_SH_CANONICAL;
  const auto found = dwi::peaks(on, const_matrix_view<float>{made.sh.data(), 15, 1}, 1, options);
  EXPECT(std::abs(found.peak(0, 0)[0]) > 0.999F);
  dwi::session session(on, options);
  const tensor coefficients = tensor::borrow(on, made.sh, {15, 1});
  tensor peaks = tensor::create<float>(on, {4, 1, 1});
  const purlin_sshopm_info plan = session.plan(coefficients);
  const purlin_sshopm_info info = session.peaks(coefficients, {}, peaks);
  EXPECT(plan.starts == info.starts && plan.host_bytes > 0 && session.last_info().iterations == info.iterations);
  for (std::size_t i = 0; i < 4; ++i) EXPECT(peaks.data<float>()[i] == found.peak(0, 0)[i]);
  const dwi::options unnamed;
  EXPECT_ERROR(dwi::peaks(on, const_matrix_view<float>{made.sh.data(), 15, 1}, 1, unnamed), PURLIN_ERROR_INVALID_ARGUMENT);
  dwi::options wrong;
  wrong.smoothing = -1.0;
  EXPECT_ERROR(dwi::csa(on, signals, bvals, bvecs, 4, PURLIN_SH_CANONICAL, wrong), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(dwi::csa(on, signals, bvals, bvecs, 4, 0), PURLIN_ERROR_INVALID_ARGUMENT);
}

/// The tensor of order 4 of (x.u)^4 + 0.9 (x.v)^4: fibres along u and v.
std::vector<double> crossing(const std::array<double, 3>& u, const std::array<double, 3>& v) {
  const auto exponents = purlin::symmetric::exponents(4, 3);
  std::vector<double> entries(15);
  for (std::size_t r = 0; r < 15; ++r) {
    double a = 1.0;
    double b = 0.9;
    for (std::size_t i = 0; i < 3; ++i) {
      a *= std::pow(u[i], static_cast<double>(exponents[3 * r + i]));
      b *= std::pow(v[i], static_cast<double>(exponents[3 * r + i]));
    }
    entries[r] = a + b;
  }
  return entries;
}

void directions(const context& on) {
  const std::vector<double> entries = crossing({1, 0, 0}, {0, 0, 1});
  const symmetric_view<double> view{entries.data(), 4, 3};
  const auto found = dwi::peaks(on, view, 3);
  EXPECT(found.count.at(0) == 2 && found.status.at(0) == PURLIN_TENSOR_OK);
  EXPECT(near(std::abs(found.peak(0, 0)[0]), 1.0, 1e-9) && near(found.peak(0, 0)[3], 1.0, 1e-9));
  EXPECT(near(found.peak(1, 0)[2], 1.0, 1e-9) && near(found.peak(1, 0)[3], 0.9, 1e-9));
  EXPECT(std::isnan(found.peak(2, 0)[0]));

  dwi::options options;
  options.relative_threshold = 0.95;
  options.missing = PURLIN_MISSING_ZERO;
  options.format = PURLIN_PEAKS_MRTRIX;
  const auto strongest = dwi::peaks(on, view, 3, options);
  EXPECT(strongest.components == 3 && strongest.count.at(0) == 1);
  EXPECT(strongest.peak(1, 0)[0] == 0.0);

  // The same function in each basis of spherical harmonics has the same directions.
  const tensor tensors = tensor::borrow(on, view);
  for (std::int32_t basis = PURLIN_SH_CANONICAL; basis <= PURLIN_SH_DESCOTEAUX07; ++basis) {
    std::vector<double> sh(15);
    tensor coefficients = tensor::borrow(on, sh, {15, 1});
    dwi::tensor_to_sh(on, tensors, basis, coefficients);
    std::vector<double> round_trip(15);
    tensor back = tensor::symmetric_batch(on, round_trip, 4, 3);
    dwi::sh_to_tensor(on, coefficients, basis, back);
    for (std::size_t r = 0; r < 15; ++r) EXPECT(near(round_trip[r], entries[r], 1e-13));
    dwi::options in_basis;
    in_basis.basis = basis;
    const auto same = dwi::peaks(on, const_matrix_view<double>{sh.data(), 15, 1}, 3, in_basis);
    EXPECT(same.count.at(0) == 2);
    EXPECT(near(same.peak(1, 0)[2], 1.0, 1e-9) && near(same.peak(1, 0)[3], 0.9, 1e-9));
  }

  options = {};
  options.basis = 77;
  EXPECT_ERROR(dwi::peaks(on, const_matrix_view<double>{entries.data(), 15, 1}, 3, options),
               PURLIN_ERROR_INVALID_ARGUMENT);
  // Coefficients of no basis are refused, and are not read as tensors; neither is a basis for tensors.
  const const_matrix_view<double> coefficients{entries.data(), 15, 1};
  for (const std::int32_t basis : {0, PURLIN_SH_TENSOR}) {
    options.basis = basis;
    EXPECT_ERROR(dwi::peaks(on, coefficients, 3, options), PURLIN_ERROR_INVALID_ARGUMENT);
  }
  options.basis = PURLIN_SH_TENSOR;
  EXPECT(dwi::peaks(on, view, 3, options).count.at(0) == 2);
  options.basis = PURLIN_SH_CANONICAL;
  EXPECT_ERROR(dwi::peaks(on, view, 3, options), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(dwi::peaks(on, symmetric_view<double>{entries.data(), 3, 3}, 3), PURLIN_ERROR_INVALID_ARGUMENT);
}

void tests() {
  const context on = context::on(PURLIN_BACKEND_CPU);
  fit(on);
  orientation(on);
  directions(on);
}

}  // namespace

int main() { return run(tests); }
