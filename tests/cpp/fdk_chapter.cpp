// The C++ program of the chapter docs/fdk.md as it is printed, on a smaller scan: CMake puts it into fdk_chapter.inc.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "expect.hpp"

namespace {

const std::vector<float> pixels(48 * 48, 1.0F);

// Stands for the reader's own function: a frame of the scanner as a tensor.
#define frame(view) purlin::tensor::borrow(on, pixels.data() + 0 * (view), {48, 48})

void chapter() {
  std::vector<double> angles;
  for (int n = 0; n < 60; ++n) angles.push_back(n * 6.283185307179586 / 60);
#include "fdk_chapter.inc"
  const purlin::source written = purlin::source::from_metaimage(on, "volume.mha");
  EXPECT(written.properties().dims[2] == 48);
  // The grid's spacing: the pitch of the panel at the axis.
  EXPECT(near(written.properties().spacing[0], 0.4, 1e-12));
  EXPECT(fdk.last_info().views_pushed == 60);
}

}  // namespace

int main() {
  std::remove("volume.mha");
  return run(chapter);
}
