// A scanner that delivers cone-beam views while they are reconstructed: a thread plays the detector and pushes one
// 16-bit frame after the other; the volume is ready a moment after the last one. A full circle, a short scan and a panel
// that is shifted sideways, of the Shepp-Logan head; writes fdk.html with pictures.
//
//   fdk_stream [FOLDER [VOXELS]]
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <purlin.hpp>
#include <thread>
#include <unistd.h>

#include "fdk_page.hpp"

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double radius = 60.0, unattenuated = 50000.0;
using clock_type = std::chrono::steady_clock;

double since(clock_type::time_point start) { return std::chrono::duration<double>(clock_type::now() - start).count(); }

// Simulated detector counts: views one after the other, columns * rows each.
std::vector<std::uint16_t> measure(const purlin::context& on, const purlin::fdk::reconstruction& fdk,
                                   const purlin::fdk::geometry& scanner, const purlin::tensor& head) {
  const purlin_fdk_geometry g = scanner.raw();
  purlin::tensor lines = purlin::tensor::create<float>(on, {g.detector_columns, g.detector_rows, g.views});
  fdk.project_ellipsoids(head, lines);
  const float* line = lines.data<const float>();
  std::vector<std::uint16_t> counts(static_cast<std::size_t>(g.detector_columns * g.detector_rows * g.views));
  // Water attenuates about 0.02 per mm, and the skull is five times as dense as the tissue.
  for (std::size_t k = 0; k < counts.size(); ++k) {
    counts[k] = static_cast<std::uint16_t>(std::lround(unattenuated * std::exp(-0.02 * line[k])));
  }
  return counts;
}

// Mean over the voxels of a ball about (x, y, 0), all in units of the head's radius.
double mean(const page::cube& c, double voxel, double x, double y, double r) {
  double sum = 0.0;
  std::int64_t count = 0;
  const double middle = static_cast<double>(c.n - 1) / 2.0;
  for (std::int64_t k = 0; k < c.n; ++k)
    for (std::int64_t j = 0; j < c.n; ++j)
      for (std::int64_t i = 0; i < c.n; ++i) {
        const double dx = (static_cast<double>(i) - middle) * voxel / radius - x;
        const double dy = (static_cast<double>(j) - middle) * voxel / radius - y;
        const double dz = (static_cast<double>(k) - middle) * voxel / radius;
        if (dx * dx + dy * dy + dz * dz > r * r) continue;
        sum += c.at(i, j, k);
        ++count;
      }
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

std::array<double, 3> region_means(const page::cube& c, double voxel) {
  return {mean(c, voxel, 0.22, 0.0, 0.05), mean(c, voxel, 0.0, 0.35, 0.10), mean(c, voxel, 0.0, 0.65, 0.05)};
}

// Only on a terminal, because a log keeps every overwritten line.
void show_bar(std::int64_t done, std::int64_t all) {
  if (isatty(STDOUT_FILENO) == 0) return;
  const std::int64_t length = 40, full = length * done / all;
  std::printf("\r  [");
  for (std::int64_t k = 0; k < length; ++k) std::putchar(k < full ? '#' : '.');
  std::printf("] %lld of %lld views", static_cast<long long>(done), static_cast<long long>(all));
  std::fflush(stdout);
}

void run(const purlin::context& on, const purlin::fdk::geometry& scanner, const purlin::fdk::grid& voxels,
         const purlin::tensor& head, const page::cube& truth, page::scan& result) {
  purlin::fdk::options options;
  options.output_scale = 1.0 / 0.02;
  purlin::fdk::reconstruction fdk(on, scanner, voxels, options);
  fdk.set_counts(unattenuated);
  const purlin_fdk_info plan = fdk.plan();
  const std::vector<std::uint16_t> counts = measure(on, fdk, scanner, head);
  const purlin_fdk_geometry g = scanner.raw();
  std::printf("%s: %lld views, arc %.1f degrees, %s\n", result.name.c_str(), static_cast<long long>(g.views),
              plan.arc * 180.0 / pi, plan.reason);

  result.volume = page::cube{truth.n, std::vector<float>(truth.values.size())};
  purlin::tensor volume = purlin::tensor::borrow(on, result.volume.values, {truth.n, truth.n, truth.n});
  const clock_type::time_point start = clock_type::now();
  fdk.begin();
  std::atomic<std::int64_t> pushed{0};
  std::exception_ptr failure;
  std::atomic<bool> stopped{false};
  std::thread scanner_thread([&] {
    try {
      const std::size_t frame = static_cast<std::size_t>(g.detector_columns * g.detector_rows);
      for (std::int64_t view = 0; view < g.views; ++view) {
        const std::uint16_t* pixels = counts.data() + static_cast<std::size_t>(view) * frame;
        fdk.push(view, purlin::tensor::borrow(on, pixels, {g.detector_columns, g.detector_rows}));
        pushed = view + 1;
      }
    } catch (...) {
      failure = std::current_exception();
    }
    stopped = true;
  });
  while (!stopped) {
    show_bar(pushed, g.views);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  scanner_thread.join();
  if (failure) std::rethrow_exception(failure);
  show_bar(pushed, g.views);
  const clock_type::time_point last = clock_type::now();
  const purlin_fdk_info info = fdk.finish(volume);
  result.ready = since(last);
  result.seconds = since(start);
  result.gups = info.gups;
  result.means = region_means(result.volume, voxels.dx);
  double sum = 0.0;
  for (std::size_t k = 0; k < truth.values.size(); ++k) {
    const double difference = static_cast<double>(result.volume.values[k]) - truth.values[k];
    sum += difference * difference;
  }
  result.rmse = std::sqrt(sum / static_cast<double>(truth.values.size()));
  std::printf("%s  volume %.3f s after the last view, %.1f GUPS; means %.4f %.4f %.4f\n",
              isatty(STDOUT_FILENO) == 0 ? "" : "\n", result.ready, result.gups,
              result.means[0], result.means[1], result.means[2]);
}

std::vector<double> angles(std::int64_t views, double arc) {
  std::vector<double> list;
  const bool circle = arc >= 2.0 * pi;
  for (std::int64_t n = 0; n < views; ++n) {
    list.push_back(arc * static_cast<double>(n) / static_cast<double>(circle ? views : views - 1));
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string folder = argc > 1 ? argv[1] : ".";
    const purlin::context on;
    const purlin_context_info device = on.properties();
    const bool gpu = device.backend == PURLIN_BACKEND_CUDA;
    const std::string name = gpu ? std::string("GPU, ") + device.device_name
                                 : "CPU, " + std::to_string(device.threads) + " threads";
    std::printf("%s\n", name.c_str());

    const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : gpu ? 384 : 160;
    if (n < 16 || n > 2048) throw std::runtime_error("VOXELS: is outside 16 to 2048");
    purlin::fdk::grid voxels;
    voxels.nx = voxels.ny = voxels.nz = n;
    voxels.dx = voxels.dy = voxels.dz = 2.0 * 1.06 * radius / static_cast<double>(n);
    voxels.x0 = voxels.y0 = voxels.z0 = -static_cast<double>(n - 1) / 2.0 * voxels.dx;

    purlin::fdk::geometry circle;
    circle.source_to_axis = 500.0;
    circle.source_to_detector = 1000.0;
    circle.column_pitch = circle.row_pitch = 2.0 * voxels.dx;
    circle.detector_columns = n * 6 / 5;
    circle.detector_rows = n * 6 / 5;
    circle.angles = angles(n * 2, 2.0 * pi);

    purlin::fdk::geometry short_scan = circle;
    const double fan = std::atan(static_cast<double>(circle.detector_columns) * circle.column_pitch / 2.0 / 1000.0);
    short_scan.angles = angles(n * 6 / 5, pi + 2.0 * fan + 0.02);

    purlin::fdk::geometry half_fan = circle;
    half_fan.detector_columns = circle.detector_columns * 5 / 8;
    half_fan.column_offset = 0.23 * static_cast<double>(circle.detector_columns) * circle.column_pitch / 1.2;

    const purlin::tensor head = purlin::fdk::shepp_logan(on, radius);
    page::cube truth{n, std::vector<float>(static_cast<std::size_t>(n * n * n))};
    purlin::tensor drawn = purlin::tensor::borrow(on, truth.values, {n, n, n});
    purlin::fdk::reconstruction(on, circle, voxels).draw_ellipsoids(head, drawn);

    std::vector<page::scan> scans(3);
    scans[0].name = "full circle";
    scans[0].what = "Every ray is measured twice, once from either side.";
    scans[0].file = "fdk_full";
    scans[1].name = "short scan";
    scans[1].what = "Half a turn and the angle of the fan; Parker's weights even out the rays that are measured twice.";
    scans[1].file = "fdk_short";
    scans[2].name = "half fan";
    scans[2].what = "A panel of five eighths of the width, shifted sideways: it sees all of the head in a full turn.";
    scans[2].file = "fdk_half";
    run(on, circle, voxels, head, truth, scans[0]);
    run(on, short_scan, voxels, head, truth, scans[1]);
    run(on, half_fan, voxels, head, truth, scans[2]);
    const std::array<double, 3> region_truth{0.0, 0.3, 0.2};
    page::write(folder, name, scans, truth, voxels.dx, region_truth);
    std::printf("%s/fdk.html\n", folder.c_str());
    for (const page::scan& s : scans) {
      for (std::size_t k = 0; k < 3; ++k) {
        if (std::fabs(s.means[k] - region_truth[k]) > 0.005) throw std::runtime_error(s.name + ": a region is off");
      }
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fdk_stream: %s\n", e.what());
    return 1;
  }
}
