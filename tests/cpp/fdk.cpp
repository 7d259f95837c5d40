// Cone-beam CT: a head from its exact projections, all at once, view by view, out of files and functions.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "expect.hpp"

namespace fdk = purlin::fdk;
using purlin::context;
using purlin::sink;
using purlin::source;
using purlin::tensor;

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr std::int64_t columns = 48, rows = 40, views = 60, size = 24;

struct stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};

fdk::geometry scanner() {
  fdk::geometry g;
  g.source_to_axis = 500.0;
  g.source_to_detector = 1000.0;
  g.column_pitch = g.row_pitch = 6.0;
  g.detector_columns = columns;
  g.detector_rows = rows;
  for (std::int64_t n = 0; n < views; ++n) g.angles.push_back(2.0 * pi * static_cast<double>(n) / views);
  return g;
}

fdk::grid voxels() {
  fdk::grid g;
  g.nx = g.ny = g.nz = size;
  g.dx = g.dy = g.dz = 5.0;
  g.x0 = g.y0 = g.z0 = -2.5 * (size - 1);
  return g;
}

struct scan {
  std::vector<float> lines = std::vector<float>(columns * rows * views);
  std::vector<float> volume = std::vector<float>(size * size * size);

  explicit scan(const context& on) {
    const fdk::reconstruction plan(on, scanner(), voxels());
    tensor out = tensor::borrow(on, lines, {columns, rows, views});
    plan.project_ellipsoids(fdk::shepp_logan(on, 55.0), out);
    tensor whole = tensor::borrow(on, volume, {size, size, size});
    fdk::reconstruction(on, scanner(), voxels()).reconstruct(tensor::borrow(on, lines, {columns, rows, views}), whole);
  }
};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::fabs(static_cast<double>(a[k]) - b[k]));
  return most;
}

void reconstructs(const context& on, const scan& s) {
  std::vector<float> truth(s.volume.size(), -1.0F);
  tensor drawn = tensor::borrow(on, truth, {size, size, size});
  const fdk::reconstruction plan(on, scanner(), voxels());
  plan.draw_ellipsoids(fdk::shepp_logan(on, 55.0), drawn);
  double found = 0.0, expected = 0.0;
  for (std::size_t k = 0; k < truth.size(); ++k) {
    found += s.volume[k];
    expected += truth[k];
  }
  EXPECT(near(found / expected, 1.0, 0.05));

  EXPECT_ERROR(plan.last_info(), PURLIN_ERROR_INVALID_ARGUMENT);
  const purlin_fdk_info info = plan.plan();
  EXPECT(info.redundancy == PURLIN_FDK_REDUNDANCY_FULL);
  EXPECT(info.nx == size && info.filtered_columns == columns);
  std::vector<double> angular(views), redundancy(columns * views);
  plan.weights(tensor::borrow(on, redundancy, {columns, views}), tensor::borrow(on, angular));
  EXPECT(near(std::accumulate(angular.begin(), angular.end(), 0.0), 2.0 * pi, 1e-12));
  EXPECT(redundancy.front() == 0.5 && redundancy.back() == 0.5);
}

void pieces_make_the_whole(const context& on, const scan& s) {
  const fdk::reconstruction plan(on, scanner(), voxels());
  std::vector<std::int64_t> all(views);
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> filtered(s.lines.size()), volume(s.volume.size());
  tensor work = tensor::create<float>(on, {columns, rows, views});
  tensor rows_out = tensor::borrow(on, filtered, {columns, rows, views});
  plan.weight(all, tensor::borrow(on, s.lines, {columns, rows, views}), work);
  plan.filter(all, work, rows_out);
  tensor out = tensor::borrow(on, volume, {size, size, size});
  plan.backproject(all, rows_out, out);
  EXPECT(largest_difference(volume, s.volume) < 2e-5);
  const purlin_fdk_info once = fdk::reconstruct_once(on, tensor::borrow(on, s.lines, {columns, rows, views}),
                                                     scanner(), voxels(), {}, out);
  EXPECT(largest_difference(volume, s.volume) < 2e-6 && once.nx == size && once.seconds > 0);

  const std::vector<std::uint16_t> counts{1000, 368, 0};
  std::vector<float> lines(3);
  tensor logs = tensor::borrow(on, lines, {3, 1, 1});
  EXPECT(purlin::fdk::log_transform(on, tensor::borrow(on, counts, {3, 1, 1}), 1000.0, {}, {}, 0.0, logs) == 1);
  EXPECT(lines[0] == 0.0F && near(lines[1], 1.0, 1e-3));
}

void shares(const context& on, const scan& s) {
  std::vector<float> volume(s.volume.size());
  std::vector<float> lines = s.lines;
  const context second = context::on(on.properties().backend);
  fdk::reconstruction plan;
  {
    const purlin::group both = purlin::group::create({on, second});
    fdk::options settings;
    settings.group = both.get();
    plan = fdk::reconstruction(on, scanner(), voxels(), settings);
    EXPECT_ERROR(fdk::reconstruction(second, scanner(), voxels(), settings), PURLIN_ERROR_INVALID_ARGUMENT);
  }
  EXPECT(plan.plan().contexts == 2);
  tensor whole = tensor::borrow(on, volume, {size, size, size});
  plan.reconstruct(tensor::borrow(on, lines, {columns, rows, views}), whole);
  EXPECT(volume == s.volume);
}

void streams(const context& on, const scan& s) {
  fdk::reconstruction plan(on, scanner(), voxels());
  const auto frame = [&](std::int64_t view) {
    return tensor::borrow(on, s.lines.data() + columns * rows * view, {columns, rows});
  };
  std::vector<float> volume(s.volume.size(), -1.0F);
  tensor out = tensor::borrow(on, volume, {size, size, size});
  for (int round = 0; round < 2; ++round) {
    plan.begin();
    // 7 and 60 have no common factor, so this visits every view.
    for (std::int64_t n = 0; n < views; ++n) plan.push(7 * n % views, frame(7 * n % views));
    EXPECT_ERROR(plan.push(3, frame(3)), PURLIN_ERROR_INVALID_ARGUMENT);
    EXPECT(plan.finish(out).views_pushed == views);
    EXPECT(largest_difference(volume, s.volume) < 2e-6);
  }
  EXPECT_ERROR(plan.push(0, frame(0)), PURLIN_ERROR_INVALID_ARGUMENT);
  plan.begin();
  plan.push({4, 5}, tensor::borrow(on, s.lines.data() + columns * rows * 4, {columns, rows, 2}));
  EXPECT_ERROR(plan.finish(out), PURLIN_ERROR_INVALID_ARGUMENT);
}

void goes_through_files_and_functions(const context& on, const scan& s) {
  fdk::reconstruction plan(on, scanner(), voxels());
  std::vector<float> volume(s.volume.size());
  const purlin::extents scan_dims{columns, rows, views}, volume_dims{size, size, size};
  std::int64_t asked = 0;
  const source in = source::from_function(
      on, PURLIN_F32, scan_dims, [&](const std::int64_t* first, const std::int64_t* count, void* block) {
        ++asked;
        auto* to = static_cast<float*>(block);
        for (std::int64_t v = 0; v < count[2]; ++v)
          for (std::int64_t r = 0; r < count[1]; ++r) {
            const float* row = s.lines.data() + columns * (first[1] + r + rows * (first[2] + v)) + first[0];
            to = std::copy(row, row + count[0], to);
          }
      });
  const std::string path = "cpp_fdk.mha";
  plan.reconstruct(in, sink::to_metaimage(on, path, PURLIN_F32, volume_dims, {5, 5, 5}, {-57.5, -57.5, -57.5}));
  EXPECT(asked > 0);
  const source file = source::from_metaimage(on, path);
  EXPECT(file.properties().dims[2] == size && file.properties().spacing[0] == 5.0);
  std::FILE* raw = std::fopen(path.c_str(), "rb");
  EXPECT(raw != nullptr);
  const long bytes = static_cast<long>(volume.size() * sizeof(float));
  EXPECT(std::fseek(raw, -bytes, SEEK_END) == 0);
  EXPECT(std::fread(volume.data(), sizeof(float), volume.size(), raw) == volume.size());
  std::fclose(raw);
  std::remove(path.c_str());
  EXPECT(largest_difference(volume, s.volume) == 0.0);

  // An exception of a source function ends the run, the call rethrows it, and the plan can be used again.
  const source broken = source::from_function(
      on, PURLIN_F32, scan_dims, [](const std::int64_t*, const std::int64_t*, void*) { throw stop("no such view"); });
  bool stopped = false;
  try {
    plan.reconstruct(broken, sink::to_file(on, "cpp_fdk.raw", PURLIN_F32, volume_dims));
  } catch (const stop&) {
    stopped = true;
  }
  EXPECT(stopped && std::fopen("cpp_fdk.raw", "rb") == nullptr);
  tensor out = tensor::borrow(on, volume, volume_dims);
  plan.reconstruct(in, sink::to(on, out));
  EXPECT(largest_difference(volume, s.volume) == 0.0);
}

void stops_when_asked(const context& on, const scan& s) {
  fdk::options options;
  options.view_batch = 4;
  options.on_progress = [](std::int64_t, std::int64_t, double) -> bool { throw stop("enough"); };
  fdk::reconstruction plan(on, scanner(), voxels(), options);
  std::vector<float> volume(s.volume.size());
  tensor out = tensor::borrow(on, volume, {size, size, size});
  bool stopped = false;
  try {
    plan.reconstruct(tensor::borrow(on, s.lines, {columns, rows, views}), out);
  } catch (const stop&) {
    stopped = true;
  }
  EXPECT(stopped);
  fdk::geometry bad = scanner();
  bad.angles[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_ERROR(fdk::reconstruction(on, bad), PURLIN_ERROR_INVALID_ARGUMENT);
}

// Pixels that are not finite are counted, and raw counts that are not finite are such pixels.
void counts_what_is_not_finite(const context& on, const scan& s) {
  fdk::reconstruction plan(on, scanner(), voxels());
  std::vector<float> volume(s.volume.size());
  tensor out = tensor::borrow(on, volume, {size, size, size});
  std::vector<float> counts(s.lines.size(), 1000.0F);
  const std::size_t middle = columns * (rows / 2) + columns / 2;
  counts[middle] = std::numeric_limits<float>::infinity();
  counts[middle + 1] = -std::numeric_limits<float>::infinity();
  counts[middle + 2] = std::numeric_limits<float>::quiet_NaN();
  counts[middle + 3] = -5.0F;
  counts[middle + 4] = 2000.0F;
  plan.set_counts(1000.0);
  const purlin_fdk_info info = plan.reconstruct(tensor::borrow(on, counts, {columns, rows, views}), out);
  EXPECT(info.pixels_not_finite == 3 && info.pixels_sanitized == 0);
  EXPECT(info.pixels_clamped == 1 && info.pixels_negative == 1);
}

// An exception in the middle of a pushed scan leaves no other object.
void goes_with_an_exception(const context& on, const scan& s) {
  const std::int64_t before = purlin::live_handles();
  bool thrown = false;
  try {
    fdk::options settings;
    int calls = 0;
    settings.on_progress = [&](std::int64_t, std::int64_t, double) -> bool {
      if (++calls > 1) throw stop("from a push");
      return false;
    };
    fdk::reconstruction plan(on, scanner(), voxels(), settings);
    const sink file = sink::to_metaimage(on, "cpp_gone.mha", PURLIN_F32, plan.volume_dims());
    plan.begin();
    for (std::int64_t n = 0; n < views; ++n) {
      plan.push(n, tensor::borrow(on, s.lines.data() + columns * rows * n, {columns, rows}));
    }
    plan.finish(file);
  } catch (const stop& e) {
    thrown = std::string(e.what()) == "from a push";
  }
  EXPECT(thrown && purlin::live_handles() == before);
  EXPECT(std::fopen("cpp_gone.mha", "rb") == nullptr);

  // A sink's function that throws: the scan stays, and a second finish writes the volume.
  fdk::reconstruction plan(on, scanner(), voxels());
  plan.begin();
  std::vector<std::int64_t> all(views);
  std::iota(all.begin(), all.end(), 0);
  plan.push(all, tensor::borrow(on, s.lines, {columns, rows, views}));
  thrown = false;
  try {
    plan.finish(sink::to_function(on, PURLIN_F32, plan.volume_dims(),
                                  [](const std::int64_t*, const std::int64_t*, const void*) { throw stop("full"); }));
  } catch (const stop&) {
    thrown = true;
  }
  std::vector<float> volume(s.volume.size());
  tensor out = tensor::borrow(on, volume, {size, size, size});
  plan.finish(out);
  EXPECT(thrown && largest_difference(volume, s.volume) < 2e-6);
}

void tests() {
  const context on;
  const scan s(on);
  reconstructs(on, s);
  pieces_make_the_whole(on, s);
  streams(on, s);
  shares(on, s);
  goes_through_files_and_functions(on, s);
  stops_when_asked(on, s);
  counts_what_is_not_finite(on, s);
  goes_with_an_exception(on, s);
}

}  // namespace

int main() { return run(tests); }
