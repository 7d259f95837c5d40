#include "fdk_page.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace page {
namespace {

// Densities that are black and white in the pictures: the head's tissue lies from 0 to 0.4, its skull is 1.
constexpr double black = 0.0, white = 0.45, most_difference = 0.05;

void put(std::string& bytes, std::uint32_t value, int count) {
  for (int k = 0; k < count; ++k) bytes.push_back(static_cast<char>(value >> (8 * k) & 0xff));
}

// An 8-bit grey bitmap, the simplest picture that browsers show; its rows go upwards, as y and z do.
void write_picture(const std::string& path, std::int64_t n,
                   const std::function<double(std::int64_t, std::int64_t)>& grey) {
  const auto row = static_cast<std::uint32_t>((n + 3) / 4 * 4);
  const std::uint32_t pixels = row * static_cast<std::uint32_t>(n), start = 14 + 40 + 1024;
  std::string bytes = "BM";
  put(bytes, start + pixels, 4);
  put(bytes, 0, 4);
  put(bytes, start, 4);
  put(bytes, 40, 4);
  put(bytes, static_cast<std::uint32_t>(n), 4);
  put(bytes, static_cast<std::uint32_t>(n), 4);
  put(bytes, 1, 2);
  put(bytes, 8, 2);
  for (int k = 0; k < 4; ++k) put(bytes, 0, 4);
  put(bytes, 256, 4);
  put(bytes, 0, 4);
  for (std::uint32_t level = 0; level < 256; ++level) put(bytes, level * 0x010101u, 4);
  for (std::int64_t up = 0; up < n; ++up) {
    for (std::int64_t across = 0; across < n; ++across) {
      const double value = std::clamp(grey(across, up), 0.0, 1.0);
      bytes.push_back(static_cast<char>(static_cast<unsigned char>(std::lround(255.0 * value))));
    }
    bytes.append(row - static_cast<std::uint32_t>(n), '\0');
  }
  std::ofstream file(path, std::ios::binary);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw std::runtime_error("cannot write " + path);
  }
}

// Middle planes: across, up; the third axis is held at its middle.
float plane_value(const cube& c, int plane, std::int64_t across, std::int64_t up) {
  const std::int64_t middle = c.n / 2;
  switch (plane) {
    case 0:
      return c.at(across, up, middle);
    case 1:
      return c.at(across, middle, up);
    default:
      return c.at(middle, across, up);
  }
}

const std::array<const char*, 3> plane_name{"axial", "coronal", "sagittal"};

double shade(double density) { return (density - black) / (white - black); }

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

void write_planes(const std::string& folder, const scan& s, const cube& truth) {
  for (int plane = 0; plane < 3; ++plane) {
    const std::string end = std::string("_") + plane_name[static_cast<std::size_t>(plane)] + ".bmp";
    write_picture(folder + "/" + s.file + end, truth.n,
                  [&](auto a, auto u) { return shade(plane_value(s.volume, plane, a, u)); });
    write_picture(folder + "/" + s.file + "_difference" + end, truth.n, [&](auto a, auto u) {
      const double difference = plane_value(s.volume, plane, a, u) - plane_value(truth, plane, a, u);
      return 0.5 + 0.5 * difference / most_difference;
    });
  }
}

// Density along x through the middle, found and true.
std::string profile(const cube& found, const cube& truth, double voxel) {
  const std::int64_t n = truth.n, middle = n / 2;
  const double width = 720.0, height = 220.0, left = 40.0, bottom = 190.0, scale = 160.0 / 1.1;
  const auto line = [&](const cube& c, const char* style) {
    std::string points;
    for (std::int64_t x = 0; x < n; ++x) {
      const double across = left + (width - left) * static_cast<double>(x) / static_cast<double>(n - 1);
      points += number(across, 1) + "," + number(bottom - scale * c.at(x, middle, middle), 1) + " ";
    }
    return "<polyline fill='none' " + std::string(style) + " points='" + points + "'/>";
  };
  std::string svg = "<svg viewBox='0 0 720 220' role='img' aria-label='density along x'>";
  for (const double density : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}) {
    const std::string y = number(bottom - scale * density, 1);
    svg += "<line x1='40' x2='720' y1='" + y + "' y2='" + y + "' stroke='#ddd'/><text x='8' y='" + y +
           "' dy='4'>" + number(density, 1) + "</text>";
  }
  svg += line(truth, "stroke='#c33' stroke-width='1'") + line(found, "stroke='#234' stroke-width='1.2'");
  const double half = voxel * static_cast<double>(n - 1) / 2.0;
  svg += "<text x='40' y='" + number(height - 6.0, 0) + "'>" + number(-half, 0) + " mm</text><text x='720' y='" +
         number(height - 6.0, 0) + "' text-anchor='end'>" + number(half, 0) + " mm</text></svg>";
  return svg;
}

}  // namespace

void write(const std::string& folder, const std::string& device, const std::vector<scan>& scans, const cube& truth,
           double voxel, const std::array<double, 3>& region_truth) {
  for (int plane = 0; plane < 3; ++plane) {
    const std::string name = plane_name[static_cast<std::size_t>(plane)];
    write_picture(folder + "/fdk_truth_" + name + ".bmp", truth.n,
                  [&](auto a, auto u) { return shade(plane_value(truth, plane, a, u)); });
  }
  std::string html =
      "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>Cone-beam CT</title>"
      "<link rel='stylesheet' href='demo.css'></head><body><h1>Cone-beam CT of the Shepp-Logan head</h1><p>" +
      device + ", " + std::to_string(truth.n) + "<sup>3</sup> voxels of " + number(voxel, 2) +
      " mm. Views were pushed by a thread that plays the scanner, as 16-bit counts, while the reconstruction ran.</p>"
      "<table><tr><th>scan<th>views to volume, s<th>after the last view, s<th>GUPS<th>RMSE<th colspan='3'>means of "
      "three regions</tr><tr><td>truth<td><td><td><td>";
  for (const double mean : region_truth) html += "<td>" + number(mean, 4);
  html += "</tr>";
  for (const scan& s : scans) {
    html += "<tr><td>" + s.name + "<td>" + number(s.seconds, 2) + "<td>" + number(s.ready, 3) + "<td>" +
            number(s.gups, 1) + "<td>" + number(s.rmse, 4);
    for (const double mean : s.means) html += "<td>" + number(mean, 4);
    html += "</tr>";
  }
  html += "</table><p>GUPS: 10<sup>9</sup> voxel updates a second, of the back-projection. The error is largest at "
          "edges, which no finite grid can follow.</p>";
  for (const scan& s : scans) {
    write_planes(folder, s, truth);
    html += "<h2>" + s.name + "</h2><p>" + s.what + "</p>";
    for (const char* kind : {"", "truth", "_difference"}) {
      const bool is_truth = std::string(kind) == "truth";
      html += "<div class='row'>";
      for (const char* plane : plane_name) {
        const std::string file = is_truth ? std::string("fdk_truth_") + plane : s.file + kind + "_" + plane;
        html += "<figure><img alt='' src='" + file + ".bmp'><figcaption>" + plane +
                (is_truth ? ", truth" : *kind == '\0' ? ", reconstructed" : ", difference, white is +0.05") +
                "</figcaption></figure>";
      }
      html += "</div>";
    }
    html += "<p>Density along x through the middle; red is the truth.</p>" + profile(s.volume, truth, voxel);
  }
  html += "</body></html>\n";
  std::ofstream file(folder + "/fdk.html");
  if (!(file << html)) throw std::runtime_error("cannot write " + folder + "/fdk.html");
}

}  // namespace page
