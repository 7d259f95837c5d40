// Randomized SVD of matrices whose factors are known: dense, streamed, as an operator.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "expect.hpp"

namespace rsvd = purlin::rsvd;
using purlin::context;
using purlin::matrix;
using purlin::source;
using purlin::tensor;

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr std::int64_t rows = 120, cols = 70, terms = 30;

struct stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

/// Orthonormal factors and the singular values, and each pair of vectors belongs to its value.
template <class T>
bool known(const rsvd::factors<T>& f, double tolerance) {
  for (std::int64_t j = 0; j < f.rank; ++j) {
    if (!near(static_cast<double>(f.s[static_cast<std::size_t>(j)]), sigma(j), tolerance)) return false;
    for (std::int64_t i = 0; i <= j; ++i) {
      const double expected = i == j ? 1.0 : 0.0;
      if (!near(product(f.left(i), f.left(j), rows), expected, tolerance)) return false;
      if (!near(product(f.right(i), f.right(j), cols), expected, tolerance)) return false;
    }
    double along = 0.0;
    for (std::int64_t c = 0; c < cols; ++c) along += cosine(c, j + 1, cols) * static_cast<double>(f.right(j)[c]);
    if (!near(std::fabs(along), 1.0, 1e2 * tolerance)) return false;
    const T* v = f.right(j);
    const T* largest = std::max_element(v, v + cols, [](T x, T y) { return std::fabs(x) < std::fabs(y); });
    if (!(*largest > 0)) return false;
  }
  return true;
}

void finds_the_triplets(const context& on, const std::vector<double>& a) {
  rsvd::options settings(6);
  settings.power_iterations = 6;
  const auto f = rsvd::compute<double>(on, {a.data(), rows, cols, 0}, settings);
  EXPECT(f.rank == 6 && f.rows == rows && f.cols == cols);
  EXPECT(known(f, 1e-12));
  double tail = 0.0;
  for (std::int64_t j = 6; j < terms; ++j) tail += sigma(j) * sigma(j);
  EXPECT(near(f.info.error_frobenius, std::sqrt(tail), 1e-10));
  EXPECT(f.info.rank == 6 && f.info.passes > 0 && f.info.converged == 1);
  EXPECT(std::strlen(f.info.reason) > 0);

  const std::vector<float> single(a.begin(), a.end());
  const auto g = rsvd::compute<float>(on, {single.data(), rows, cols, 0}, settings);
  EXPECT(known(g, 5e-6));

  // Stored as bytes, computed in float.
  std::vector<std::uint8_t> bytes(12 * 9);
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::uint8_t>((k % 12 + 1) * (k / 12 + 1));
  rsvd::options one(1);
  const auto h = rsvd::compute<float>(on, matrix::borrow(on, bytes, 12, 9), one);
  EXPECT(near(static_cast<double>(h.s[0]), std::sqrt(650.0 * 285.0), 1e-2));
}

void goes_on_to_a_tolerance(const context& on, const std::vector<double>& a) {
  rsvd::options settings;
  settings.tolerance = 1e-3;
  settings.block_columns = 4;
  settings.max_rank = 40;
  const auto f = rsvd::compute<double>(on, {a.data(), rows, cols, 0}, settings);
  // 0.6^13 is 1.3e-3 of the first value and 0.6^14 below a thousandth of the norm.
  EXPECT(f.rank >= 13 && f.rank <= 18);
  EXPECT(f.info.converged == 1 && f.info.error_relative <= 1e-3);
  EXPECT(static_cast<std::int64_t>(f.u.size()) == rows * f.rank);
  settings.max_rank = 5;
  const auto g = rsvd::compute<double>(on, {a.data(), rows, cols, 0}, settings);
  EXPECT(g.rank == 5 && g.info.converged == 0);
}

/// The library's text, not that of an allocation for so many columns.
void refuses_a_rank_before_it_allocates(const context& on, const std::vector<double>& a) {
  const rsvd::options settings(std::int64_t{1} << 40);
  EXPECT_ERROR(rsvd::compute<double>(on, {a.data(), rows, cols, 0}, settings), PURLIN_ERROR_INVALID_ARGUMENT);
}

void names_a_restart_file(const context& on, const std::vector<double>& a) {
  rsvd::options settings(4);
  settings.method = PURLIN_RSVD_METHOD_RANGE;
  settings.restart_path = "no such folder/state";
  EXPECT_ERROR(rsvd::compute<double>(on, {a.data(), rows, cols, 0}, settings), PURLIN_ERROR_IO);
}

void orders_and_adjoints(const context& on, const std::vector<double>& a) {
  rsvd::options settings(4);
  settings.power_iterations = 5;
  settings.right = PURLIN_RSVD_VH;
  rsvd::session run(on, settings);
  std::vector<double> u(rows * 4), s(4), vh(4 * cols);
  const matrix given = matrix::borrow(on, a, rows, cols);
  const purlin_rsvd_info plan = run.plan(given);
  EXPECT(plan.columns == 14 && plan.dtype == PURLIN_F64);
  EXPECT(run.plan(given, false, false).host_bytes <= plan.host_bytes && run.plan(given, true, true).host_bytes == plan.host_bytes);
  run.compute(given, matrix::borrow(on, u, rows, 4), tensor::borrow(on, s), matrix::borrow(on, vh, 4, cols));
  for (std::int64_t j = 0; j < 4; ++j) EXPECT(near(s[static_cast<std::size_t>(j)], sigma(j), 1e-12));

  // The same numbers read as rows are the transpose: left and right change places.
  std::vector<double> left(cols * 4), values(4);
  run.compute(matrix::borrow(on, a, cols, rows, 0, PURLIN_ROW_MAJOR), matrix::borrow(on, left, cols, 4),
              tensor::borrow(on, values), {});
  for (std::int64_t j = 0; j < 4; ++j) {
    EXPECT(near(values[static_cast<std::size_t>(j)], s[static_cast<std::size_t>(j)], 1e-12));
    double along = 0.0;
    for (std::int64_t c = 0; c < cols; ++c)
      along += left[static_cast<std::size_t>(c + cols * j)] * vh[static_cast<std::size_t>(j + 4 * c)];
    EXPECT(near(std::fabs(along), 1.0, 1e-10));
  }

  std::vector<double> nobody(3);
  EXPECT_ERROR(run.compute(given, {}, tensor::borrow(on, nobody), {}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(rsvd::session(on, rsvd::options()).compute(given, {}, tensor::borrow(on, s), {}),
               PURLIN_ERROR_INVALID_ARGUMENT);
}

/// Whether the call throws because products with A^H are not those of the adjoint of A.
template <class Call> bool refused_adjoint(const Call& call) {
  try {
    call();
  } catch (const purlin::error& e) {
    const std::string text = e.what();
    return e.status() == PURLIN_ERROR_INVALID_ARGUMENT && text.find("adjoint is not that of A") != std::string::npos;
  }
  return false;
}

void reads_blocks_and_products(const context& on, const std::vector<double>& a) {
  rsvd::options settings(6);
  settings.power_iterations = 6;
  settings.block_rows = 50;
  std::int64_t asked = 0;
  matrix streamed;
  {
    const source in = source::from_function(
        on, PURLIN_F64, {rows, cols}, [&](const std::int64_t* first, const std::int64_t* count, void* block) {
          ++asked;
          auto* to = static_cast<double*>(block);
          for (std::int64_t c = first[1]; c < first[1] + count[1]; ++c) {
            const double* column = a.data() + rows * c + first[0];
            to = std::copy(column, column + count[0], to);
          }
        });
    streamed = matrix::from_source(on, in);
  }
  EXPECT(streamed.properties().storage == PURLIN_STREAMED && streamed.properties().rows == rows);
  EXPECT(known(rsvd::compute<double>(on, streamed, settings), 1e-12));
  EXPECT(asked > 1);

  const auto apply = [&](bool adjoint, const purlin::const_matrix_view<double>& x,
                         const purlin::matrix_view<double>& y) {
    for (std::int64_t k = 0; k < x.cols; ++k)
      for (std::int64_t i = 0; i < y.rows; ++i) {
        double sum = 0.0;
        for (std::int64_t j = 0; j < x.rows; ++j)
          sum += a[static_cast<std::size_t>(adjoint ? j + rows * i : i + rows * j)] * x.data[j + x.ld * k];
        y.data[i + y.ld * k] = sum;
      }
  };
  const matrix implicit = matrix::from_operator<double>(on, rows, cols, apply);
  EXPECT(implicit.properties().storage == PURLIN_OPERATOR);
  settings.block_rows = 0;
  EXPECT(known(rsvd::compute<double>(on, implicit, settings), 1e-12));

  const auto twice = [&](bool adjoint, const purlin::const_matrix_view<double>& x,
                         const purlin::matrix_view<double>& y) {
    apply(adjoint, x, y);
    for (std::int64_t k = 0; adjoint && k < y.cols; ++k)
      for (std::int64_t i = 0; i < y.rows; ++i) y.data[i + y.ld * k] *= 2.0;
  };
  const matrix wrong = matrix::from_operator<double>(on, rows, cols, twice);
  EXPECT(refused_adjoint([&] { rsvd::compute<double>(on, wrong, settings); }));
  rsvd::session run(on, settings);
  EXPECT(refused_adjoint([&] { purlin::pca::model::fit(run, wrong); }));

  const auto throws = [](bool, const purlin::const_matrix_view<double>&, const purlin::matrix_view<double>&) {
    throw stop("enough");
  };
  bool thrown = false;
  try {
    rsvd::compute<double>(on, matrix::from_operator<double>(on, rows, cols, throws), settings);
  } catch (const stop& caught) {
    thrown = std::string(caught.what()) == "enough";
  }
  EXPECT(thrown);
}

// AUTO chooses the method of fewer passes if passes cost more than its arithmetic.
void a_slow_reader_changes_the_method(const context& on) {
  const source in = source::from_function(on, PURLIN_F32, {2000, 2000},
                                          [](const std::int64_t*, const std::int64_t*, void*) {});
  const matrix streamed = matrix::from_source(on, in);
  rsvd::options settings(300);
  const auto quick = rsvd::session(on, settings).plan(streamed);
  settings.read_rate = 1e6;
  const auto slow = rsvd::session(on, settings).plan(streamed);
  EXPECT(slow.method != quick.method && slow.passes < quick.passes);
}

void reads_files(const context& on, const std::vector<double>& a) {
  rsvd::options settings(5);
  settings.power_iterations = 6;
  const std::string path = "cpp_rsvd.npy";
  {
    std::string header = "{'descr': '<f8', 'fortran_order': True, 'shape': (120, 70), }";
    header.resize(117, ' ');
    header += '\n';
    std::ofstream file(path, std::ios::binary);
    file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(118) << '\0' << header;
    file.write(reinterpret_cast<const char*>(a.data()), static_cast<std::streamsize>(8 * a.size()));
  }
  const source npy = source::from_npy(on, path);
  EXPECT(npy.properties().dims[0] == rows && (npy.properties().flags & PURLIN_ROW_MAJOR) == 0);
  EXPECT(known(rsvd::compute<double>(on, matrix::from_source(on, npy), settings), 1e-12));
  const source mapped = source::from_mapped_file(on, path, PURLIN_F64, {rows, cols}, 128);
  EXPECT(known(rsvd::compute<double>(on, matrix::from_source(on, mapped), settings), 1e-12));
  std::remove(path.c_str());
  EXPECT_ERROR(source::from_npy(on, path), PURLIN_ERROR_IO);
}

void measures_errors(const context& on, const std::vector<double>& a) {
  rsvd::options settings(5);
  settings.power_iterations = 6;
  const matrix given = matrix::borrow(on, a, rows, cols);
  const auto f = rsvd::compute<double>(on, given, settings);
  rsvd::session run(on, settings);
  const matrix u = matrix::borrow(on, f.u, rows, 5), v = matrix::borrow(on, f.v, cols, 5);
  const tensor s = tensor::borrow(on, f.s);
  const rsvd::residual_norms found = run.error(given, u, s, v);
  EXPECT(found.frobenius > 0.5 * f.info.error_frobenius && found.frobenius < 2.0 * f.info.error_frobenius);
  EXPECT(found.spectral >= sigma(5) * (1.0 - 1e-9));
  settings.error = PURLIN_RSVD_ERROR_POWER;
  const double near = rsvd::session(on, settings).error(given, u, s, v).spectral;
  EXPECT(near > 0.95 * sigma(5) && near < 1.01 * sigma(5));
  std::vector<double> left(5, -1.0), right(5, -1.0);
  run.residuals(given, u, s, v, tensor::borrow(on, left), tensor::borrow(on, right));
  for (std::size_t j = 0; j < 5; ++j) EXPECT(left[j] >= 0.0 && left[j] < 1e-10 && right[j] >= 0.0 && right[j] < 1e-6);
}

void makes_bases_and_eigenpairs(const context& on, const std::vector<double>& a) {
  rsvd::options settings(6);
  rsvd::session run(on, settings);
  std::vector<double> q(rows * 12), b(12 * cols);
  const matrix given = matrix::borrow(on, a, rows, cols);
  run.range(given, matrix::borrow(on, q, rows, 12), matrix::borrow(on, b, 12, cols));
  double most = 0.0;
  for (std::int64_t c = 0; c < cols; ++c)
    for (std::int64_t r = 0; r < rows; ++r) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < 12; ++j)
        sum += q[static_cast<std::size_t>(r + rows * j)] * b[static_cast<std::size_t>(j + 12 * c)];
      most = std::max(most, std::fabs(sum - a[static_cast<std::size_t>(r + rows * c)]));
    }
  EXPECT(most < sigma(11));

  // Diagonal, with eigenvalues of either sign.
  std::vector<double> h(50 * 50), lambda(3), v(50 * 3);
  for (std::size_t i = 0; i < 50; ++i) h[i + 50 * i] = (i % 2 == 0 ? 1.0 : -1.0) * std::pow(0.5, static_cast<double>(i));
  rsvd::options three(3);
  three.power_iterations = 8;
  rsvd::session(on, three).symmetric(matrix::borrow(on, h, 50, 50), tensor::borrow(on, lambda),
                                     matrix::borrow(on, v, 50, 3));
  EXPECT(near(lambda[0], 1.0, 1e-12) && near(lambda[1], -0.5, 1e-12) && near(lambda[2], 0.25, 1e-12));
  EXPECT(near(std::fabs(v[50 + 1]), 1.0, 1e-10));
}

void keeps_to_a_given_sketch(const context& on, const std::vector<double>& a) {
  rsvd::options settings(6);
  settings.seed = 42;
  settings.method = PURLIN_RSVD_METHOD_RANGE;
  matrix omega = matrix::create<double>(on, cols, 16);
  const matrix given = matrix::borrow(on, a, rows, cols);
  std::vector<double> drawn(6), with(6), once(6);
  rsvd::session run(on, settings);
  EXPECT_ERROR(run.last_info(), PURLIN_ERROR_INVALID_ARGUMENT);
  run.sketch(omega);
  run.compute(given, {}, tensor::borrow(on, drawn), {});
  run.set_sketch(omega);
  const purlin_rsvd_info info = run.compute(given, {}, tensor::borrow(on, with), {});
  EXPECT(info.sketch == PURLIN_SKETCH_GIVEN && run.last_info().sketch == PURLIN_SKETCH_GIVEN);
  for (std::size_t j = 0; j < 6; ++j) EXPECT(near(drawn[j], with[j], 1e-12));
  purlin_rsvd_info report;
  rsvd::compute_once(on, given, settings, {}, tensor::borrow(on, once), {}, report);
  EXPECT(once == drawn && report.rank == info.rank && report.sketch == PURLIN_SKETCH_GAUSSIAN);
}

void stops(const context& on, const std::vector<double>& a) {
  rsvd::options settings(4);
  settings.on_progress = [](std::int64_t, std::int64_t, double) { return true; };
  const matrix given = matrix::borrow(on, a, rows, cols);
  std::vector<double> s(4);
  EXPECT_ERROR(rsvd::session(on, settings).compute(given, {}, tensor::borrow(on, s), {}), PURLIN_ERROR_CANCELLED);
  settings.on_progress = [](std::int64_t, std::int64_t, double) -> bool { throw stop("enough"); };
  rsvd::session run(on, settings);
  for (int round = 0; round < 2; ++round) {
    bool thrown = false;
    try {
      run.compute(given, {}, tensor::borrow(on, s), {});
    } catch (const stop&) {
      thrown = true;
    }
    EXPECT(thrown);
  }
  run.cancel();
}

void all() {
  const context on = context::on(PURLIN_BACKEND_CPU);
  const std::vector<double> a = example();
  finds_the_triplets(on, a);
  goes_on_to_a_tolerance(on, a);
  names_a_restart_file(on, a);
  refuses_a_rank_before_it_allocates(on, a);
  orders_and_adjoints(on, a);
  reads_blocks_and_products(on, a);
  a_slow_reader_changes_the_method(on);
  reads_files(on, a);
  measures_errors(on, a);
  makes_bases_and_eigenpairs(on, a);
  keeps_to_a_given_sketch(on, a);
  stops(on, a);
}

}  // namespace

int main() { return run(all); }
