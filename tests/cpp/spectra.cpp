// Sparse matrices, products, eigenpairs and graphs: two cliques that one edge joins, and the path.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "expect.hpp"

using purlin::context;
using purlin::matrix;
using purlin::tensor;

namespace {

struct stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct entries {
  std::vector<std::int64_t> row, col;
  std::vector<double> value;

  void edge(std::int64_t i, std::int64_t j) {
    row.insert(row.end(), {i, j});
    col.insert(col.end(), {j, i});
    value.insert(value.end(), {1.0, 1.0});
  }

  matrix made(const context& on, std::int64_t n) const {
    return purlin::sparse::from_coordinates(
        on, purlin::sparse::coordinates_view<double>{n, n, static_cast<std::int64_t>(row.size()), row.data(),
                                                     col.data(), value.data(), 0});
  }
};

matrix path(const context& on, std::int64_t n) {
  entries e;
  for (std::int64_t i = 1; i < n; ++i) e.edge(i - 1, i);
  return e.made(on, n);
}

matrix cliques(const context& on, std::int64_t size) {
  entries e;
  for (std::int64_t i = 0; i < 2 * size; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      if (i / size == j / size) e.edge(i, j);
  e.edge(0, 2 * size - 1);
  return e.made(on, 2 * size);
}

void matrices(const context& on) {
  const std::vector<std::int32_t> starts = {1, 2, 4}, rows = {2, 1, 2};
  const std::vector<float> values = {5.0F, 6.0F, 7.0F};
  const matrix a = purlin::sparse::from_columns(
      on, purlin::sparse::columns_view<float, std::int32_t>{3, 2, 3, starts.data(), rows.data(), values.data(), 1});
  EXPECT(a.properties().nnz == 3 && purlin::sparse::norm(a, PURLIN_NORM_ONE) == 13.0);
  std::vector<float> full(6), turned(6);
  purlin::sparse::to_dense(a, matrix::borrow(on, full, 3, 2));
  EXPECT(full == std::vector<float>({0.0F, 5.0F, 0.0F, 6.0F, 7.0F, 0.0F}));
  const matrix t = purlin::sparse::transpose(on, a);
  purlin::sparse::to_dense(t, matrix::borrow(on, turned, 2, 3, 0, PURLIN_ROW_MAJOR));
  EXPECT(turned == full);
  const matrix again = purlin::sparse::from_dense(on, matrix::borrow(on, full, 3, 2), 5.5);
  EXPECT(again.properties().nnz == 2);
  const matrix part = purlin::sparse::select(on, a, {1, 0}, {1});
  EXPECT(part.properties().rows == 2 && part.properties().nnz == 2);
  EXPECT(purlin::sparse::permute(on, a, {}, {1, 0}).properties().nnz == 3);
  EXPECT_ERROR(purlin::sparse::permute(on, a, {0, 1}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(purlin::sparse::symmetrize(on, a), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT(purlin::sparse::order(on, path(on, 4), PURLIN_ORDERING_DEGREE) == std::vector<std::int64_t>({1, 2, 0, 3}));
  EXPECT(purlin::sparse::pattern(on, a).properties().data == 0);
  std::vector<float> doubled = {2.0F, 3.0F, 4.0F}, sums(3);
  purlin::sparse::set_values(t, tensor::borrow(on, doubled));
  EXPECT(purlin::sparse::norm(t, PURLIN_NORM_MAX) == 4.0);
  purlin::sparse::row_sums(a, tensor::borrow(on, sums));
  EXPECT(sums[1] == 12.0F && sums[2] == 0.0F);

  purlin::sparse::check_entries(a);
  EXPECT_ERROR(purlin::sparse::check_entries(a, 64), PURLIN_ERROR_INVALID_ARGUMENT);

  const std::string file = "spectra_cpp.mtx";
  const matrix p = path(on, 5);
  purlin::sparse::write_market(p, file, true);
  EXPECT(purlin::sparse::is_symmetric(purlin::sparse::read_market(on, file)));
  purlin::sparse::write_edges(p, file);
  tensor vertices;
  EXPECT(purlin::sparse::read_edges(on, file, true, PURLIN_DUPLICATES_REFUSE, PURLIN_F64, &vertices).properties().nnz == 8);
  EXPECT(vertices.properties().dtype == PURLIN_I64);
  EXPECT_ERROR(purlin::sparse::read_market(on, "no/such/file"), PURLIN_ERROR_IO);
  std::remove(file.c_str());
}

void products(const context& on) {
  const std::int64_t n = 50;
  const matrix a = path(on, n);
  purlin::spmv::options settings;
  settings.method = PURLIN_SPMV_METHOD_MERGE;
  const purlin::spmv::plan plan(on, a, settings);
  EXPECT(plan.properties().method == PURLIN_SPMV_METHOD_MERGE && plan.properties().longest == 2);
  std::vector<double> x(50), y(50, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i);
  plan.apply(a, tensor::borrow(on, x), tensor::borrow(on, y));
  EXPECT(y[0] == 1.0 && y[7] == 36.0 + 64.0 && y[49] == 48.0 * 48.0);
  plan.apply(2.0, a, tensor::borrow(on, x), -1.0, tensor::borrow(on, y));
  EXPECT(y[7] == 100.0);
  std::vector<double> block(100), out(100);
  for (std::size_t i = 0; i < 50; ++i) block[2 * i] = x[i], block[2 * i + 1] = -x[i];
  plan.apply(a, matrix::borrow(on, block, n, 2, 0, PURLIN_ROW_MAJOR), matrix::borrow(on, out, n, 2, 0, PURLIN_ROW_MAJOR));
  EXPECT(out[14] == 100.0 && out[15] == -100.0);
  settings.ordering = PURLIN_ORDERING_CUTHILL_MCKEE;
  const purlin::spmv::plan turned(on, a, settings);
  std::vector<double> again(50);
  turned.apply(a, tensor::borrow(on, x), tensor::borrow(on, again));
  EXPECT(turned.properties().ordering == PURLIN_ORDERING_CUTHILL_MCKEE && again[7] == 100.0 && again[49] == 48.0 * 48.0);
  purlin::spmv::options laplacian;
  laplacian.kind = PURLIN_LANCZOS_LAPLACIAN;
  laplacian.shift = 0.5;
  const purlin::spmv::plan unformed(on, a, laplacian);
  unformed.apply(a, tensor::borrow(on, x), tensor::borrow(on, again));
  EXPECT(unformed.properties().kind == PURLIN_LANCZOS_LAPLACIAN && again[0] == -1.0 && again[7] == -2.0 + 24.5);
  const std::vector<double> twos(50, 2.0);
  const matrix doubled = purlin::sparse::scale(on, a, tensor::borrow(on, twos));
  plan.apply(doubled, tensor::borrow(on, x), tensor::borrow(on, again));
  EXPECT(again[7] == 200.0);
  EXPECT_ERROR(plan.apply(1.0F, a, tensor::borrow(on, x), 0.0F, tensor::borrow(on, y)), PURLIN_ERROR_INVALID_ARGUMENT);
}

void eigenpairs(const context& on) {
  const std::int64_t n = 200;
  const matrix a = path(on, n);
  purlin::lanczos::options settings;
  settings.count = 3;
  settings.basis = 60;
  const double angle = 3.14159265358979323846 / static_cast<double>(n + 1);
  std::vector<double> values = purlin::lanczos::values(on, a, settings), vectors(600), residuals(3);
  for (std::size_t k = 0; k < 3; ++k) EXPECT(near(values[k], 2.0 * std::cos(angle * static_cast<double>(k + 1)), 1e-10));
  purlin::lanczos::info report;
  int calls = 0;
  settings.on_progress = [&](std::int64_t, std::int64_t, double) {
    ++calls;
    return false;
  };
  const matrix found = matrix::borrow(on, vectors, n, 3);
  purlin::lanczos::solve(on, a, tensor::borrow(on, values), found, tensor::borrow(on, residuals), report, settings);
  EXPECT(report.converged == 3 && calls > 0 && residuals[0] < 1e-8);
  settings.ordering = PURLIN_ORDERING_DEGREE;
  EXPECT(near(purlin::lanczos::values(on, a, settings)[2], values[2], 1e-10));
  settings.ordering = PURLIN_ORDERING_NONE;
  const context another = context::on(PURLIN_BACKEND_CPU);
  purlin::lanczos::options shared = settings;
  const purlin::group pair = purlin::group::create({on, another});
  shared.group = pair.get();
  EXPECT(near(purlin::lanczos::values(on, a, shared)[2], values[2], 1e-10));
  purlin::lanczos::solve(on, a, tensor::borrow(on, values), {}, {}, report, shared);
  EXPECT(report.contexts == 2 && report.halo == 2 && report.halo_bytes == 16 && report.part_rows >= 100);
  EXPECT_ERROR(purlin::graph::density(on, a, 10, 2, shared), PURLIN_ERROR_INVALID_ARGUMENT);
  std::vector<double> rest(3);
  purlin::lanczos::given before;
  before.known = &found;
  purlin::lanczos::solve(on, a, tensor::borrow(on, rest), {}, {}, report, settings, before);
  EXPECT(near(rest[0], 2.0 * std::cos(angle * 4.0), 1e-9));
  settings.on_progress = [](std::int64_t, std::int64_t, double) -> bool { throw stop("enough"); };
  bool stopped = false;
  try {
    purlin::lanczos::values(on, a, settings);
  } catch (const stop&) {
    stopped = true;
  }
  EXPECT(stopped);
  settings = {};
  settings.which = 9;
  EXPECT_ERROR(purlin::lanczos::values(on, a, settings), PURLIN_ERROR_INVALID_ARGUMENT);

  purlin::lanczos::options wanted;
  wanted.count = 3;
  wanted.kind = PURLIN_LANCZOS_AUGMENTED;
  EXPECT(near(purlin::lanczos::singular_values(on, a, wanted)[0], 2.0 * std::cos(angle), 1e-9));

  int seen = 0;
  wanted.kind = PURLIN_LANCZOS_MATRIX;
  wanted.on_progress = [&](std::int64_t, std::int64_t, double) {
    ++seen;
    return false;
  };
  purlin::lanczos::session solver(on, wanted);
  EXPECT_ERROR(solver.last_info(), PURLIN_ERROR_INVALID_ARGUMENT);
  const purlin::lanczos::info planned = solver.plan(a);
  EXPECT(planned.basis >= 6 && planned.host_bytes > 0 && planned.contexts == 1 && planned.reason[0] != '\0');
  EXPECT(solver.solve(a, tensor::borrow(on, rest)).converged == 3 && near(rest[0], 2.0 * std::cos(angle), 1e-9));
  EXPECT(seen > 0 && solver.last_info().converged == 3);
  solver.cancel();
  const purlin::lanczos::info ahead = solver.plan_singular(a);
  const purlin::lanczos::info triplets = solver.singular(a, {}, tensor::borrow(on, rest), {});
  EXPECT(triplets.converged == 3 && ahead.method == triplets.method && ahead.host_bytes == triplets.host_bytes);
  EXPECT(std::string(ahead.reason) == triplets.reason && purlin::lanczos::plan_singular(on, a, wanted).basis == ahead.basis);
  EXPECT(near(rest[0], 2.0 * std::cos(angle), 1e-8));

  EXPECT(solver.tridiagonalize(a, 20).alpha.size() == 20);
  EXPECT(solver.last_info().products == 20 && solver.last_info().method == PURLIN_LANCZOS_METHOD_PLAIN);
  const auto coefficients = purlin::lanczos::tridiagonalize(on, a, 600);
  const auto accepted = purlin::lanczos::cullum_willoughby(coefficients);
  EXPECT(coefficients.alpha.size() >= 200 && !accepted.empty() && near(accepted.back().value, values[0], 1e-8));
  EXPECT(near(purlin::lanczos::tridiagonal_eigenvalues({2.0, 2.0}, {-1.0})[0], 1.0, 1e-15));
  EXPECT(purlin::lanczos::tridiagonal_eigenvalues({}, {}).empty());
  EXPECT_ERROR(purlin::lanczos::tridiagonal_eigenvalues({2.0, 2.0}, {}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(purlin::lanczos::tridiagonal_eigenvalues({2.0, 2.0}, {-1.0, 0.5}), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT_ERROR(purlin::lanczos::tridiagonal_eigenvalues({}, {1.0}), PURLIN_ERROR_INVALID_ARGUMENT);
}

/// Every method finds the eigenvalues of the path.
void ways(const context& on) {
  const std::int64_t n = 300;
  const matrix a = path(on, n);
  const double angle = 3.14159265358979323846 / static_cast<double>(n + 1);
  const auto exact = [&](std::int64_t k) { return 2.0 * std::cos(angle * static_cast<double>(k + 1)); };
  purlin::lanczos::options base;
  base.count = 3;
  base.basis = 60;
  const auto top = [&](const purlin::lanczos::options& settings, double tolerance) {
    const std::vector<double> found = purlin::lanczos::values(on, a, settings);
    for (std::int64_t k = 0; k < 3; ++k) EXPECT(near(found[static_cast<std::size_t>(k)], exact(k), tolerance));
  };
  purlin::lanczos::options settings = base;
  settings.block = 3;
  top(settings, 1e-10);
  settings = base;
  settings.orthogonalization = PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL;
  top(settings, 1e-10);
  settings = base;
  settings.method = PURLIN_LANCZOS_METHOD_PLAIN;
  settings.basis = n;
  top(settings, 1e-8);
  purlin::lanczos::info report;
  std::vector<double> values(3);
  settings = base;
  settings.filter = PURLIN_LANCZOS_FILTER_CHEBYSHEV;
  settings.which = PURLIN_LANCZOS_SMALLEST;
  purlin::lanczos::solve(on, a, tensor::borrow(on, values), {}, {}, report, settings);
  for (std::int64_t k = 0; k < 3; ++k) EXPECT(near(values[static_cast<std::size_t>(k)], -exact(k), 1e-9));
  EXPECT(report.degree > 0);

  // The report has the residual and orthogonality that were measured after the solve.
  std::vector<double> vectors(static_cast<std::size_t>(3 * n));
  settings = base;
  purlin::lanczos::solve(on, a, tensor::borrow(on, values), matrix::borrow(on, vectors, n, 3), {}, report, settings);
  EXPECT(report.verified == 1 && report.reason[0] != '\0');
  EXPECT(report.residual > 0.0 && report.residual < 1e-8);
  EXPECT(report.orthogonality > 0.0 && report.orthogonality < 1e-12);
  settings.verify = PURLIN_LANCZOS_VERIFY_OFF;
  purlin::lanczos::solve(on, a, tensor::borrow(on, values), {}, {}, report, settings);
  EXPECT(report.verified == 0);

  // The eigenvalues nearest to a shift between two of them, by a filter and by a solve, which is an elimination.
  settings = base;
  settings.which = PURLIN_LANCZOS_NEAREST;
  settings.basis = 0;
  settings.sigma = exact(150) + 0.3 * (exact(149) - exact(150));
  const auto nearest = [&](const purlin::lanczos::given& before, double tolerance) {
    purlin::lanczos::solve(on, a, tensor::borrow(on, values), {}, {}, report, settings, before);
    EXPECT(near(values[0], exact(150), tolerance) && near(values[1], exact(149), tolerance));
    EXPECT(near(values[2], exact(151), tolerance));
  };
  nearest({}, 1e-9);
  EXPECT(report.degree > 0);
  const matrix inverse = matrix::from_operator<double>(
      on, n, n,
      [sigma = settings.sigma](bool, const purlin::const_matrix_view<double>& x, const purlin::matrix_view<double>& y) {
        std::vector<double> pivots(static_cast<std::size_t>(x.rows));
        for (std::int64_t j = 0; j < x.cols; ++j) {
          const double* from = x.data + j * x.ld;
          double* to = y.data + j * y.ld;
          for (std::int64_t i = 0; i < x.rows; ++i) {
            const double before = i > 0 ? 1.0 / pivots[static_cast<std::size_t>(i - 1)] : 0.0;
            pivots[static_cast<std::size_t>(i)] = -sigma - before;
            to[i] = from[i] - (i > 0 ? to[i - 1] * before : 0.0);
          }
          for (std::int64_t i = x.rows - 1; i >= 0; --i)
            to[i] = (to[i] - (i + 1 < x.rows ? to[i + 1] : 0.0)) / pivots[static_cast<std::size_t>(i)];
        }
      });
  purlin::lanczos::given before;
  before.solve = &inverse;
  nearest(before, 1e-10);
  EXPECT(report.degree == 0);
  settings.which = PURLIN_LANCZOS_LARGEST;
  EXPECT_ERROR(purlin::lanczos::solve(on, a, tensor::borrow(on, values), {}, {}, report, settings, before),
               PURLIN_ERROR_INVALID_ARGUMENT);
}

void graphs(const context& on) {
  const matrix w = cliques(on, 20);
  const auto second = purlin::graph::fiedler(on, w);
  const auto halves = purlin::graph::bisect(on, w, second.vector);
  EXPECT(halves.cut == 1.0 && second.value > 0.0);
  purlin::graph::options settings;
  settings.count = 2;
  for (const std::int32_t how : {PURLIN_GRAPH_LABELS_K_MEANS, PURLIN_GRAPH_LABELS_PIVOTED_QR}) {
    const auto labels = purlin::graph::cluster(on, w, settings, how);
    for (std::size_t i = 0; i < 40; ++i) EXPECT((labels[i] == labels[0]) == (i < 20));
  }
  purlin::graph::session solver(on, settings);
  const auto same = purlin::graph::cluster(solver, w, PURLIN_GRAPH_LABELS_PIVOTED_QR);
  for (std::size_t i = 0; i < 40; ++i) EXPECT((same[i] == same[0]) == (i < 20));
  EXPECT(solver.last_info().count == 2);
  std::vector<double> coordinates(80), values(2);
  purlin::graph::info report;
  const matrix points = matrix::borrow(on, coordinates, 40, 2);
  purlin::graph::embed(on, w, points, report, settings, PURLIN_GRAPH_SCALING_NONE, tensor::borrow(on, values));
  EXPECT(near(values[0], 0.0, 1e-12) && values[1] > 0.0);
  for (const auto& labels : {purlin::graph::k_means(on, points, 2), purlin::graph::pivoted_qr(on, points)})
    for (std::size_t i = 0; i < 40; ++i) EXPECT((labels[i] == labels[0]) == (i < 20));
  EXPECT(purlin::graph::components(on, w).second == 1);
  EXPECT(purlin::graph::component(on, w).first.properties().rows == 40);
  purlin::graph::options single;
  single.count = 1;
  purlin::graph::session alone(on, single);
  EXPECT(near(purlin::graph::fiedler(alone, w).value, second.value, 1e-12));
  EXPECT(purlin::graph::density(alone, w, 10, 2).points == purlin::graph::density(on, w, 10, 2).points);
  std::vector<std::int64_t> kept;
  purlin::graph::cluster(solver, w, kept, report, PURLIN_GRAPH_LABELS_PIVOTED_QR);
  EXPECT(kept == same && report.converged == 2);
  std::vector<double> again(80);
  purlin::graph::embed(solver, w, matrix::borrow(on, again, 40, 2), report);
  EXPECT(report.converged == 2);
  const auto found = purlin::graph::density(on, w, 10, 2);
  double total = 0.0;
  for (const double weight : found.weights) total += weight;
  EXPECT(near(total, 1.0, 1e-12));
  const std::vector<double> shares = found.histogram(-40.0, 40.0, 2);
  EXPECT(shares.size() == 2 && near(shares[0] + shares[1], 1.0, 1e-12));
  EXPECT(near(found.trace(40, [](double) { return 2.0; }), 80.0, 1e-10));
  EXPECT_ERROR(found.histogram(1.0, 0.0, 2), PURLIN_ERROR_INVALID_ARGUMENT);
  const std::vector<double> pixels = {0.0, 1.0, 0.0, 1.0};
  const matrix of = purlin::graph::of_image(on, matrix::borrow(on, pixels, 2, 2, 0, PURLIN_ROW_MAJOR), 1.0, 0.5, 10.0);
  EXPECT(of.properties().rows == 4 && of.properties().nnz == 8);
  const matrix unformed =
      purlin::graph::operator_of_image(on, matrix::borrow(on, pixels, 2, 2, 0, PURLIN_ROW_MAJOR), 1.0, 0.5, 10.0);
  purlin::lanczos::options one;
  one.count = 1;
  EXPECT(near(purlin::lanczos::values(on, unformed, one)[0], purlin::lanczos::values(on, of, one)[0], 1e-13));
}

/// Matrices derived from sparse ones: canonical, without zeros, diagonals, copies; and plans with new values.
void derived(const context& on) {
  const std::int64_t offsets[] = {0, 2, 5};
  const std::int32_t cols[] = {1, 0, 1, 0, 0};
  const double stored[] = {4.0, 0.0, 5.0, 3.0, -1.0};
  purlin::csr_view<double, std::int64_t, std::int32_t> view;
  view.rows = view.cols = 2, view.nnz = 5, view.row_ptr = offsets, view.col_idx = cols, view.values = stored;
  const matrix raw = matrix::borrow_csr(on, view);
  // A context on the CPU has no device memory for them.
  EXPECT_ERROR(matrix::borrow_csr_device(on, view), PURLIN_ERROR_NOT_SUPPORTED);
  const matrix a = purlin::sparse::canonical(on, raw);
  EXPECT(raw.properties().nnz == 5 && a.properties().nnz == 4);
  EXPECT_ERROR(purlin::sparse::canonical(on, raw, PURLIN_DUPLICATES_REFUSE), PURLIN_ERROR_INVALID_ARGUMENT);
  std::vector<double> diagonal(2);
  purlin::sparse::diagonal(a, tensor::borrow(on, diagonal));
  EXPECT(diagonal[0] == 0.0 && diagonal[1] == 5.0);
  const matrix cleaned = purlin::sparse::drop_zeros(on, a);
  EXPECT(cleaned.properties().nnz == 3 && purlin::sparse::drop_zeros(on, a, 4.0).properties().nnz == 1);
  EXPECT_ERROR(purlin::sparse::drop_zeros(on, a, -1.0), PURLIN_ERROR_INVALID_ARGUMENT);
  const matrix own = purlin::sparse::copy_to(on, cleaned, PURLIN_HOST);
  EXPECT_ERROR(purlin::sparse::copy_to(on, cleaned, PURLIN_DEVICE), PURLIN_ERROR_NOT_SUPPORTED);
  EXPECT_ERROR(purlin::sparse::copy_to(on, cleaned, 7), PURLIN_ERROR_INVALID_ARGUMENT);

  // A plan of the transpose has a copy, which must be updated after a change of values; (2 A^T - 4) / 4 squared, as T_2.
  purlin::spmv::options settings;
  settings.op = PURLIN_SPMV_TRANSPOSE;
  purlin::spmv::plan plan(on, own, settings);
  const std::vector<double> x = {1.0, -2.0}, changed = {8.0, 4.0, 10.0};
  std::vector<double> y(2);
  plan.apply(own, tensor::borrow(on, x), tensor::borrow(on, y));
  EXPECT(y[0] == -4.0 && y[1] == 4.0 - 10.0);
  purlin::sparse::set_values(own, tensor::borrow(on, changed));
  plan.update(own);
  plan.apply(own, tensor::borrow(on, x), tensor::borrow(on, y));
  EXPECT(y[0] == -8.0 && y[1] == 8.0 - 20.0);
  settings.degree = 2, settings.lower = 0.0, settings.upper = 4.0;
  const purlin::spmv::plan filter(on, own, settings);
  filter.apply(own, tensor::borrow(on, x), tensor::borrow(on, y));
  // B = A^T / 2 - 1 = [-1 2; 4 4]: 2 B^2 - 1 = [17 12; 24 47].
  EXPECT(near(y[0], 17.0 - 24.0, 1e-14) && near(y[1], 24.0 - 94.0, 1e-14) && filter.properties().degree == 2);
  settings.upper = 0.0;
  EXPECT_ERROR(purlin::spmv::plan(on, own, settings), PURLIN_ERROR_INVALID_ARGUMENT);
}

/// Residuals that contradict the method are no success: of a solve with another matrix, of an operator that is not
/// symmetric.
void contradicted(const context& on) {
  constexpr std::int64_t n = 200;
  const auto bidiagonal = [&](double off, std::function<double(double)> entry) {
    return matrix::from_operator<double>(
        on, n, n,
        [off, entry](bool, const purlin::const_matrix_view<double>& given, const purlin::matrix_view<double>& made) {
          for (std::int64_t j = 0; j < given.cols; ++j)
            for (std::int64_t i = 0; i < given.rows; ++i) {
              const double* from = given.data + j * given.ld;
              made.data[j * made.ld + i] =
                  entry(static_cast<double>(i)) * from[i] + (i + 1 < given.rows && off != 0.0 ? off * from[i + 1] : 0.0);
            }
        });
  };
  const matrix a = bidiagonal(0.0, [](double i) { return i; });
  std::vector<double> values(3);
  purlin::lanczos::options settings;
  purlin::lanczos::info report;
  settings.count = 3;
  settings.which = PURLIN_LANCZOS_NEAREST;
  settings.sigma = 30.3;
  for (const double beside : {0.0, 1e-6}) {
    const matrix solve = bidiagonal(0.0, [beside](double i) { return 1.0 / (i - 30.3 - beside); });
    purlin::lanczos::given before;
    before.solve = &solve;
    const auto run = [&] { purlin::lanczos::solve(on, a, tensor::borrow(on, values), {}, {}, report, settings, before); };
    if (beside == 0.0) {
      run();
      EXPECT(report.stop_reason == PURLIN_LANCZOS_CONVERGED && near(values[0], 30.0, 1e-9));
    } else {
      EXPECT_ERROR(run(), PURLIN_ERROR_NO_CONVERGENCE);
      EXPECT(report.stop_reason == PURLIN_LANCZOS_CONTRADICTED && report.converged < 3 && report.verified == 0);
    }
  }
  settings = {};
  settings.count = 3;
  std::string text;
  try {
    purlin::lanczos::values(on, bidiagonal(100.0, [](double i) { return i; }), settings);
  } catch (const purlin::error& problem) {
    EXPECT(problem.status() == PURLIN_ERROR_NUMERICAL);
    text = problem.what();
  }
  EXPECT(text.find("not symmetric") != std::string::npos);
}

/// Operators as plans, their symmetry, singular vectors, shares of several contexts, and solves that do not converge.
void operators(const context& on) {
  const std::vector<double> pixels = {0.0, 1.0, 0.5, 1.0, 0.25, 0.75};
  const matrix image = matrix::borrow(on, pixels, 2, 3, 0, PURLIN_ROW_MAJOR);
  const matrix formed = purlin::graph::of_image(on, image, 1.5, 0.5, 10.0);
  const matrix unformed = purlin::graph::operator_of_image(on, image, 1.5, 0.5, 10.0);
  purlin::spmv::options settings;
  settings.kind = PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN;
  const std::vector<double> x = {1.0, -1.0, 2.0, 0.5, 0.0, 3.0};
  std::vector<double> y(6), z(6);
  purlin::spmv::plan(on, formed, settings).apply(formed, tensor::borrow(on, x), tensor::borrow(on, y));
  purlin::spmv::plan(on, unformed, settings).apply(unformed, tensor::borrow(on, x), tensor::borrow(on, z));
  for (std::size_t i = 0; i < 6; ++i) EXPECT(near(y[i], z[i], 1e-14));

  const auto shear = [&](double off) {
    return matrix::from_operator<double>(
        on, 3, 3,
        [off](bool, const purlin::const_matrix_view<double>& given, const purlin::matrix_view<double>& made) {
          for (std::int64_t j = 0; j < given.cols; ++j) {
            const double* from = given.data + j * given.ld;
            double* to = made.data + j * made.ld;
            to[0] = 2.0 * from[0] + off * from[2], to[1] = from[1], to[2] = from[0] + 3.0 * from[2];
          }
        });
  };
  purlin::lanczos::options one;
  one.count = 1;
  one.check_symmetry = 1;
  EXPECT(near(purlin::lanczos::values(on, shear(1.0), one)[0], (5.0 + std::sqrt(5.0)) / 2.0, 1e-12));
  EXPECT_ERROR(purlin::lanczos::values(on, shear(0.5), one), PURLIN_ERROR_INVALID_ARGUMENT);

  const std::vector<std::int64_t> row = {0, 1, 1}, col = {2, 0, 1};
  const std::vector<double> numbers = {-7.0, 3.0, 4.0};
  purlin::sparse::coordinates_view<double> view;
  view.rows = 2, view.cols = 3, view.nnz = 3;
  view.row_idx = row.data(), view.col_idx = col.data(), view.values = numbers.data();
  const matrix wide = purlin::sparse::from_coordinates(on, view);
  std::vector<double> u(4), v(6), values(2), residuals(2);
  purlin::lanczos::info report;
  one.count = 2;
  one.check_symmetry = 0;
  purlin::lanczos::singular(on, wide, matrix::borrow(on, u, 2, 2), tensor::borrow(on, values),
                            matrix::borrow(on, v, 3, 2), tensor::borrow(on, residuals), report, one);
  EXPECT(near(values[0], 7.0, 1e-12) && near(values[1], 5.0, 1e-12) && residuals[0] < 1e-12 && residuals[1] < 1e-12);
  EXPECT(near(std::abs(u[0]), 1.0, 1e-12) && near(u[0] * v[2], -1.0, 1e-12));
  EXPECT(near(u[3] * v[3], 0.6, 1e-12) && near(u[3] * v[4], 0.8, 1e-12));
  const std::vector<double> lead = {1.0, 1.0};
  purlin::lanczos::singular(on, wide, {}, tensor::borrow(on, values), {}, {}, report, one, {}, tensor::borrow(on, lead));
  EXPECT(near(values[0], 7.0, 1e-12) && near(values[1], 5.0, 1e-12));

  const matrix w = cliques(on, 20);
  const context other = context::on(PURLIN_BACKEND_CPU);
  purlin::lanczos::options both;
  const purlin::group pair = purlin::group::create({on, other});
  both.group = pair.get();
  const auto shares = purlin::lanczos::plan(on, w, both);
  EXPECT(shares.contexts == 2 && shares.part_rows >= 20 && shares.halo > 0 && shares.products == 0);
  EXPECT(purlin::lanczos::plan(on, w).contexts == 1);
  EXPECT_ERROR(purlin::lanczos::plan(on, wide), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT(near(purlin::graph::fiedler(on, w, false, both).value, purlin::graph::fiedler(on, w).value, 1e-10));
  both.count = 2;
  EXPECT_ERROR(purlin::graph::fiedler(on, w, false, both), PURLIN_ERROR_INVALID_ARGUMENT);
  const auto labels = purlin::graph::cluster(on, w, both);
  for (std::size_t i = 0; i < 40; ++i) EXPECT((labels[i] == labels[0]) == (i < 20));

  // A long path: so few steps find no pair, and the caller's vector has as many values as the report counts.
  const matrix long_path = path(on, 400);
  purlin::lanczos::options few;
  few.count = 3, few.basis = 7, few.restarts = 1;
  std::vector<double> found;
  EXPECT_ERROR(purlin::lanczos::values(on, long_path, found, report, few), PURLIN_ERROR_NO_CONVERGENCE);
  EXPECT(report.converged < 3 && static_cast<std::int64_t>(found.size()) == report.count);
  std::vector<std::int64_t> groups;
  EXPECT_ERROR(purlin::graph::cluster(on, long_path, groups, report, few), PURLIN_ERROR_NO_CONVERGENCE);
  EXPECT(groups.size() == 400 && report.count == 3);
  few.count = 1;
  purlin::graph::fiedler_pair second;
  EXPECT_ERROR(purlin::graph::fiedler(on, long_path, second, report, false, few), PURLIN_ERROR_NO_CONVERGENCE);
  double norm = 0.0;
  for (const double each : second.vector) norm += each * each;
  EXPECT(near(norm, 1.0, 1e-10) && second.value > 0.0);
  few.method = PURLIN_LANCZOS_METHOD_PLAIN, few.basis = 2, few.restarts = 0;
  EXPECT_ERROR(purlin::graph::fiedler(on, long_path, second, report, false, few), PURLIN_ERROR_INVALID_ARGUMENT);
  EXPECT(std::isnan(second.value) && std::isnan(second.vector.front()));
  few.count = 3;
  EXPECT_ERROR(purlin::graph::cluster(on, long_path, groups, report, few), PURLIN_ERROR_NO_CONVERGENCE);
  EXPECT(report.count == 0 && groups.front() == -1);
  const purlin::graph::spectrum density{{1.0, 2.0}, {0.5, 0.5}};
  bool thrown = false;
  try {
    density.trace(4, [](double) -> double { throw std::runtime_error("no"); });
  } catch (const std::runtime_error& problem) {
    thrown = std::string(problem.what()) == "no";
  }
  EXPECT(thrown);
  const matrix failing = matrix::from_operator<double>(
      on, 9, 9, [](bool, const purlin::const_matrix_view<double>&, const purlin::matrix_view<double>&) {
        throw stop("mine");
      });
  thrown = false;
  try {
    purlin::graph::density(on, failing, 5, 2);
  } catch (const stop&) {
    thrown = true;
  }
  EXPECT(thrown);
}

void tests() {
  const context on = context::on(PURLIN_BACKEND_CPU);
  matrices(on);
  products(on);
  eigenpairs(on);
  ways(on);
  graphs(on);
  derived(on);
  operators(on);
  contradicted(on);
}

}  // namespace

int main() { return run(tests); }
