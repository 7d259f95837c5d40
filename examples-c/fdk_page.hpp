// The page of fdk_stream: slices beside the truth, a profile, and the measured times and errors.
#ifndef FDK_PAGE_HPP
#define FDK_PAGE_HPP

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace page {

// A volume [n, n, n], x fastest.
struct cube {
  std::int64_t n = 0;
  std::vector<float> values;

  float at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return values[static_cast<std::size_t>(x + n * (y + n * z))];
  }
};

// One reconstruction of the page.
struct scan {
  std::string name;
  std::string what;
  std::string file;  // first part of the names of its pictures
  cube volume;
  double seconds = 0.0;
  double ready = 0.0;  // from the last view to the volume
  double gups = 0.0;
  double rmse = 0.0;
  std::array<double, 3> means{};  // of the regions of `region_truth`
};

// Writes the pictures and fdk.html into `folder`.
void write(const std::string& folder, const std::string& device, const std::vector<scan>& scans, const cube& truth,
           double voxel, const std::array<double, 3>& region_truth);

}  // namespace page

#endif
