// Checks of the FDK kernels against double precision, and of volumes cut into slabs and scans into batches bit by bit.
#pragma once
#include <array>
#include <limits>
#include <random>

#include "fdk_harness.cuh"

// The whole volume by slabs of `slab` slices and batches of `batch` views.
inline vector<float> reconstruct(const Projector &projector, int slab, int batch) {
  const Scan &s = projector.scan;
  const int nz = s.size[2], all = static_cast<int>(s.views.size());
  const size_t slice = static_cast<size_t>(s.size[0]) * s.size[1];
  vector<float> out(slice * nz, 0.0f);
  for (int first = 0; first < nz; first += slab) {
    const int count = std::min(slab, nz - first);
    const auto [from, to] = projector.walked(first, count);
    double low = 1e300, high = -1e300;
    for (const Matrix &m : s.views)
      for (int corner = 0; corner < 8; ++corner) {
        const double x[3] = {corner & 1 ? s.size[0] - 1.0 : 0, corner & 2 ? s.size[1] - 1.0 : 0, corner & 4 ? to - 1.0 : from};
        low = std::min(low, m.apply(1, x) / m.apply(2, x));
        high = std::max(high, m.apply(1, x) / m.apply(2, x));
      }
    const int row = std::min(std::max(static_cast<int>(std::floor(low)) - 1, 0), s.rows);
    const int end = std::min(std::max(static_cast<int>(std::ceil(high)) + 2, row), s.rows);
    if (end == row) continue;
    const Images l(s, projector.choice, row, end - row);
    Device<float> images(l.samples() * batch), volume(slice * count);
    volume.zero();
    for (int view = 0; view < all; view += batch) {
      const int views = std::min(batch, all - view);
      fill(images, l, s.columns, view, views);
      projector.run(images, l, volume, first, count, view, views);
    }
    CHECK(cudaDeviceSynchronize());
    const vector<float> part = volume.host();
    std::copy(part.begin(), part.end(), out.begin() + slice * first);
  }
  return out;
}

// A voxel in double precision; false if a sample is so close to the panel's edge that rounding decides.
inline bool exact_voxel(const Scan &s, const double *x, bool skip, double &sum) {
  sum = 0;
  for (size_t n = 0; n < s.views.size(); ++n) {
    const double w = s.views[n].apply(2, x), u = s.views[n].apply(0, x) / w, v = s.views[n].apply(1, x) / w;
    const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
    const auto at = [&](int c, int r) {
      return c >= 0 && c < s.columns && r >= 0 && r < s.rows ? static_cast<double>(pixel(c, r, static_cast<int>(n))) : 0.0;
    };
    if (skip) {
      for (double distance : {u, u - (s.columns - 1), v, v - (s.rows - 1)})
        if (std::fabs(distance) < 1e-4) return false;
      if (i < 0 || i + 1 >= s.columns || j < 0 || j + 1 >= s.rows) continue;
    }
    const double a = u - i, b = v - j;
    sum += s.weights[n] / (w * w) * ((1 - b) * ((1 - a) * at(i, j) + a * at(i + 1, j)) + b * ((1 - a) * at(i, j + 1) + a * at(i + 1, j + 1)));
  }
  return true;
}

// `slab` > 0: also cut into such slabs and batches of three views.
inline void verify_scan(const std::string &name, const Scan &s, Kind kind, bool mirrored, bool skip = false, int slab = 0, Allowed allowed = BEST) {
  const Projector projector(s, skip, allowed);
  const vector<float> got = reconstruct(projector, s.size[2], static_cast<int>(s.views.size()));
  const bool same = slab == 0 || reconstruct(projector, slab, 3) == got;
  const size_t nx = s.size[0], ny = s.size[1], stride = std::max<size_t>(1, got.size() / 20000);
  double error = 0, largest = 0;
  size_t compared = 0;
  for (size_t i = 0; i < got.size(); i += stride) {
    const double x[3] = {static_cast<double>(i % nx), static_cast<double>(i / nx % ny), static_cast<double>(i / nx / ny)};
    double want;
    if (!exact_voxel(s, x, skip, want)) continue;
    ++compared;
    largest = std::max(largest, std::fabs(want));
    const double off = std::fabs(want - got[i]);
    if (!(off <= error)) error = off;
  }
  const bool chosen = projector.choice.kind == kind && projector.choice.mirrored == mirrored;
  char text[200];
  std::snprintf(text, sizeof text, "%s: %zu voxels, error %.1e of the largest%s%s", name.c_str(), compared, error / largest,
                slab == 0 ? "" : same ? ", slabs give the same bits" : ", SLABS DIFFER", chosen ? "" : ", ANOTHER KERNEL");
  tally.note(chosen && same && largest > 0 && error <= 1e-5 * largest, text);
}

inline void verify_backprojection() {
  const Orbit plain{400, 700, 1.4, 1.5}, fine{400, 700, 1.05, 1.03};
  const auto with = [](Orbit o, double u, double v, double z, double tilt = 0, bool flipped = false) {
    o.shift_u = u, o.shift_v = v, o.shift_z = z, o.tilt = tilt, o.flipped = flipped;
    return o;
  };
  const vector<double> angles = circle(37);
  const auto s = [&](int nx, int ny, int nz, int columns, int rows, const Orbit &o) { return scan_of(nx, ny, nz, columns, rows, o, angles); };
  verify_scan("mirrored", s(70, 45, 61, 90, 85, plain), COLUMN, true, false, 20);
  verify_scan("mirrored, even", s(33, 47, 64, 90, 84, plain), COLUMN, true, false, 16);
  verify_scan("mirrored, plane off the middle", s(50, 45, 61, 90, 85, with(plain, 3.3, 0, 5)), COLUMN, true, false, 17);
  verify_scan("mirrored, upside down", s(50, 45, 61, 60, 50, with(plain, 1, 0, 0, 0, true)), COLUMN, true, false, 17);
  verify_scan("mirrored, 1 row a voxel", s(50, 45, 61, 60, 60, {400, 700, 1.75, 1.75}), COLUMN, true, false, 17);
  verify_scan("mirrored, 1.7 rows a voxel", s(50, 45, 61, 150, 130, fine), COLUMN, true, false, 17);
  verify_scan("mirrored, small panel", s(64, 64, 64, 31, 22, plain), COLUMN, true, false, 16);
  verify_scan("mirrored, large grid", scan_of(2000, 64, 200, 1900, 200, {8000, 12000, 1.5, 1.5}, circle(9)), COLUMN, true, false, 37);
  verify_scan("columns", s(70, 45, 61, 90, 85, plain), COLUMN, false, false, 20, NO_MIRROR);
  verify_scan("columns, everything off centre", s(50, 45, 61, 90, 85, with(plain, 3.3, -4.7, 11.3)), COLUMN, false, false, 17);
  verify_scan("columns, upside down", s(50, 45, 61, 60, 50, with(plain, 1, 2, 3, 0, true)), COLUMN, false, false, 17);
  verify_scan("columns, 1.7 rows a voxel", s(50, 45, 61, 150, 130, fine), COLUMN, false, false, 17, NO_MIRROR);
  verify_scan("columns, one slice", s(50, 45, 1, 60, 50, plain), COLUMN, false);
  verify_scan("columns, one voxel", s(1, 1, 1, 6, 5, plain), COLUMN, false);
  verify_scan("columns, skip, small panel", s(64, 64, 64, 31, 22, with(plain, 1.3, 0.7, 0)), COLUMN, false, true, 19);
  verify_scan("columns, skip, rim and inside", s(64, 64, 64, 120, 100, with(plain, 1.3, 0.7, 0)), COLUMN, false, true, 19);
  verify_scan("columns, skip, 1.7 rows a voxel", s(50, 45, 61, 80, 70, with(fine, 1.3, 0.7, 0)), COLUMN, false, true, 19);
  verify_scan("columns, skip, upside down", s(50, 45, 61, 60, 50, with(plain, 1, 2, 3, 0, true)), COLUMN, false, true, 19);
  const Orbit tilted = with(plain, 1, 2, 3, 0.05);
  verify_scan("general", s(50, 45, 61, 80, 70, tilted), GENERAL, false, false, 17);
  verify_scan("general, skip", s(50, 45, 61, 40, 35, tilted), GENERAL, false, true, 17);
  verify_scan("general, small panel", s(50, 45, 61, 31, 22, tilted), GENERAL, false, false, 17);
  verify_scan("general, 1.7 rows a voxel", s(50, 45, 61, 150, 140, with(fine, 1, 2, 3, 0.05)), GENERAL, false, false, 17);
  verify_scan("general, on a circle", s(50, 45, 61, 80, 70, plain), GENERAL, false, false, 17, NO_COLUMN);
  verify_scan("plain", s(50, 45, 61, 80, 70, tilted), PLAIN, false, false, 17, NO_WINDOW);
  verify_scan("plain, skip", s(50, 45, 61, 40, 35, tilted), PLAIN, false, true, 17, NO_WINDOW);
  verify_scan("plain, 3.4 rows a voxel", s(40, 45, 31, 150, 130, {400, 700, 0.6, 0.5}), PLAIN, false, false, 7);
}

// One filter launch and all that it reads.
struct FilterCase {
  int columns, rows, length, added = 0, extrapolated = 0, views = 2, top = 3, left = 8, first_row = 2;
  bool weigh = true, weights_table = false;
  int output_columns() const { return columns + added; }
  int pitch() const { return (output_columns() + 2 * left + 31) / 32 * 32; }
  int height() const { return rows + 2 * top; }
};

using FilterKernel = void (*)(purlin_fdk_filter_params);

inline FilterKernel filter_of(int length) {
  switch (length) {
    case 16: return purlin_fdk_filter_4;
    case 32: return purlin_fdk_filter_5;
    case 64: return purlin_fdk_filter_6;
    case 128: return purlin_fdk_filter_7;
    case 256: return purlin_fdk_filter_8;
    case 512: return purlin_fdk_filter_9;
    case 1024: return purlin_fdk_filter_10;
    case 2048: return purlin_fdk_filter_11;
    case 4096: return purlin_fdk_filter_12;
    case 8192: return purlin_fdk_filter_13;
    default: return purlin_fdk_filter_14;
  }
}

inline void launch_filter(const purlin_fdk_filter_params &p) {
  const int pairs = (p.height + 1) / 2, blocks = (pairs + PURLIN_LAUNCH_FDK_FILTER_PAIRS - 1) / PURLIN_LAUNCH_FDK_FILTER_PAIRS;
  const int shared = 8 * (p.length + p.length / 16) + (p.length <= PURLIN_LAUNCH_FDK_FILTER_STORED ? 4 * p.length : 0);
  launch(filter_of(p.length), dim3(blocks, p.batch), std::max(p.length / 16, 32), shared, p);
}

struct FilterTables {
  vector<float> roots, response, fall, ray_weights, views;
  FilterTables(const FilterCase &c, int scan) : roots(2 * c.length), response(c.length / 2 + 1), fall(c.extrapolated), ray_weights(4 * c.columns) {
    std::mt19937 random(20261120);
    std::uniform_real_distribution<float> around(0.5f, 1.5f);
    for (int k = 0; k < c.length; ++k) {
      roots[2 * k] = static_cast<float>(std::cos(2 * PI * k / c.length));
      roots[2 * k + 1] = static_cast<float>(-std::sin(2 * PI * k / c.length));
    }
    for (float &r : response) r = around(random) / c.length;
    for (float &r : ray_weights) r = around(random);
    for (int k = 1; k <= c.extrapolated; ++k) fall[k - 1] = static_cast<float>(0.5 * (1 + std::cos(PI * k / (c.extrapolated + 1))));
    for (int n = 0; n < scan; ++n) {
      const float row = c.weights_table ? static_cast<float>((3 + 3 * n) % 4) : -1.0f;
      const float entry[PURLIN_LAUNCH_FDK_FILTER_VIEW] = {1e-5f, 2e-5f, 0.999f, 1e-6f, 2e-8f, 1.1e-6f, 1e-5f, -2e-5f, 0.5f + static_cast<float>(n % 4), row, 0, 0};
      views.insert(views.end(), entry, entry + PURLIN_LAUNCH_FDK_FILTER_VIEW);
    }
  }
  double weight(const FilterCase &c, int view, int column, int row) const {
    const float *e = &views[view * PURLIN_LAUNCH_FDK_FILTER_VIEW];
    const double i = column - (c.columns - 1) / 2.0, j = c.first_row + row - (c.rows + 2) / 2.0;
    const double cosine = (e[0] * i + e[1] * j + e[2]) / std::sqrt(e[3] * i * i + e[4] * i * j + e[5] * j * j + e[6] * i + e[7] * j + 1);
    return e[8] * cosine * (e[9] < 0 ? 1.0 : ray_weights[static_cast<int>(e[9]) * c.columns + column]);
  }
};

inline purlin_fdk_filter_params filter_params(const FilterCase &c) {
  purlin_fdk_filter_params p{};
  p.columns = c.columns;
  p.panel_rows = c.rows + 3;
  p.first_row = c.first_row;
  p.rows = c.rows;
  p.output_columns = c.output_columns();
  p.added_left = c.added;
  p.extrapolated = c.extrapolated;
  p.length = c.length;
  p.left = c.left;
  p.top = c.top;
  p.pitch = c.pitch();
  p.height = c.height();
  p.batch = c.views;
  p.flags = c.weigh ? PURLIN_LAUNCH_FDK_WEIGH : 0;
  p.largest = std::numeric_limits<float>::max();
  return p;
}

// The filtered row at some columns, in double precision and by the sums that define the filter.
inline vector<double> exact_row(const FilterCase &c, const FilterTables &t, const float *row, int view, int line, const vector<int> &at) {
  const int length = c.length;
  vector<double> x(length, 0.0), cosine(length), sine(length), re(length), im(length), out;
  for (int k = 0; k < length; ++k) cosine[k] = std::cos(2 * PI * k / length), sine[k] = std::sin(2 * PI * k / length);
  for (int k = 0; k < c.columns; ++k) x[c.added + k] = row[k] * (c.weigh ? t.weight(c, view, k, line) : 1.0);
  for (int k = 1; k <= c.extrapolated; ++k) {
    const int mirror = std::min(k, c.columns - 1), last = c.added + c.columns - 1;
    x[(c.added + length - k) % length] = x[c.added + mirror] * t.fall[k - 1];
    x[(last + k) % length] = x[last - mirror] * t.fall[k - 1];
  }
  for (int k = 0; k < length; ++k) {
    for (int m = 0; m < length; ++m) {
      const int q = static_cast<int>(static_cast<int64_t>(k) * m % length);
      re[k] += x[m] * cosine[q];
      im[k] -= x[m] * sine[q];
    }
    re[k] *= t.response[std::min(k, length - k)];
    im[k] *= t.response[std::min(k, length - k)];
  }
  for (int column : at) {
    double sum = 0;
    for (int k = 0; k < length; ++k) {
      const int q = static_cast<int>(static_cast<int64_t>(k) * column % length);
      sum += re[k] * cosine[q] - im[k] * sine[q];
    }
    out.push_back(sum);
  }
  return out;
}

inline void verify_filter(const FilterCase &c) {
  const FilterTables t(c, 4);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-1, 1);
  vector<float> input(static_cast<size_t>(c.columns) * c.rows * c.views);
  for (float &v : input) v = value(random);
  const vector<int> index{2, 1};
  Device<float> source(input), views(t.views), ray_weights(t.ray_weights), response(t.response), roots(t.roots), fall(t.fall);
  Device<float> output(static_cast<size_t>(c.pitch()) * c.height() * c.views);
  Device<int> numbers(index);
  purlin_fdk_filter_params p = filter_params(c);
  p.input = source.address(), p.output = output.address(), p.index = numbers.address(), p.views = views.address();
  p.ray_weights = c.weights_table ? ray_weights.address() : 0;
  p.response = response.address(), p.roots = roots.address(), p.fall = fall.address();
  launch_filter(p);
  CHECK(cudaDeviceSynchronize());
  const vector<float> got = output.host();
  bool zeros = true;
  for (size_t i = 0; i < got.size(); ++i) {
    const int column = static_cast<int>(i % c.pitch()) - c.left, row = static_cast<int>(i / c.pitch() % c.height()) - c.top;
    if ((column < 0 || column >= c.output_columns() || row < 0 || row >= c.rows) && got[i] != 0) zeros = false;
  }
  vector<int> at;
  for (int column = 0; column < c.output_columns(); column += std::max(1, c.output_columns() / 50)) at.push_back(column);
  double error = 0, largest = 0;
  for (int n = 0; n < c.views; ++n)
    for (int row : {0, c.rows - 1}) {
      if (c.length > 4096 && (n > 0 || row > 0)) continue;
      const float *line = &got[(static_cast<size_t>(n) * c.height() + c.top + row) * c.pitch() + c.left];
      const vector<double> want = exact_row(c, t, &input[(static_cast<size_t>(n) * c.rows + row) * c.columns], index[n], row, at);
      for (size_t k = 0; k < at.size(); ++k) {
        largest = std::max(largest, std::fabs(want[k]));
        const double off = std::fabs(want[k] - line[at[k]]);
        if (!(off <= error)) error = off;
      }
    }
  char text[160];
  std::snprintf(text, sizeof text, "filter of %d columns, transforms of %d: error %.1e of the largest%s", c.columns, c.length, error / largest, zeros ? "" : ", BORDER NOT ZERO");
  tally.note(zeros && largest > 0 && error <= 2e-6 * largest, text);
}

inline void verify_filters() {
  for (int length = 16; length <= PURLIN_LAUNCH_FDK_MAX_LENGTH; length *= 2) {
    FilterCase c{length / 2, 3, length};
    c.weights_table = length % 3 == 1;
    verify_filter(c);
  }
  for (auto [columns, rows, length, added, extrapolated] : {std::array{37, 4, 256, 37, 20}, {20, 21, 64, 0, 7}, {7, 13, 16, 0, 0}, {100, 7, 512, 0, 100}, {1500, 2, 4096, 500, 300}}) {
    FilterCase c{columns, rows, length, added, extrapolated};
    c.weights_table = true;
    c.weigh = rows != 21;
    verify_filter(c);
  }
}
