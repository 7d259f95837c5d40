// Products with the graph of neighbouring pixels; column indices follow from the image's shape.
#ifndef PURLIN_SPMV_PIXELS_CUH
#define PURLIN_SPMV_PIXELS_CUH

#include "spmv_number.cuh"

namespace purlin {
namespace spmv {

template <class T>
__device__ void pixels(const purlin_spmv_pixels_params &p) {
  using N = Number<T>;
  using Real = typename N::Real;
  const int64_t pixel = static_cast<int64_t>(blockIdx.x) * PURLIN_LAUNCH_SPMV_THREADS + threadIdx.x;
  const int64_t count = p.height * p.width;
  if (pixel >= count) return;
  const int64_t row = pixel / p.width, column = pixel - row * p.width;
  const T *gathered = pointer<T>(p.gathered);
  const Real *weights = pointer<Real>(p.weights);
  const int32_t *offsets = pointer<int32_t>(p.offsets);
  T sum = N::zero();
  for (int64_t k = 0; k < p.pairs; ++k, weights += count) {
    const int64_t down = __ldg(offsets + 2 * k), right = __ldg(offsets + 2 * k + 1), away = down * p.width + right;
    const int64_t ahead = column + right, behind = column - right;
    if (row + down < p.height && ahead >= 0 && ahead < p.width)
      sum = N::sum(sum, N::scaled(N::gather(gathered + pixel + away), __ldg(weights + pixel)));
    if (row >= down && behind >= 0 && behind < p.width)
      sum = N::sum(sum, N::scaled(N::gather(gathered + pixel - away), __ldg(weights + pixel - away)));
  }
  Finish<T>(p.finish)(pixel, sum);
}

}  // namespace spmv
}  // namespace purlin

#endif
