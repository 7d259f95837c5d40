// Multiplies every item of a batch by a small matrix: spherical harmonics to tensors and back, and inputs of solvers
// without a transform of their own. See purlin_linear_params.
//
// A block stages the elements of 32 items in shared memory. Then each warp computes one row of all 32 items at a time: its
// lanes share the matrix element, and the items are adjacent.
#include "linear_launch.h"

namespace purlin {

template <class T>
__device__ void linear(const purlin_linear_params &p) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  // One more than the number of items, so that a column of the stage is not all in one bank.
  constexpr int ITEMS = PURLIN_LAUNCH_LINEAR_ITEMS, PITCH = ITEMS + 1;
  T *staged = reinterpret_cast<T *>(shared_bytes);
  const T *matrix = reinterpret_cast<const T *>(p.matrix), *input = reinterpret_cast<const T *>(p.input);
  T *output = reinterpret_cast<T *>(p.output);
  const int lane = threadIdx.x % ITEMS, warp = threadIdx.x / ITEMS, warps = blockDim.x / ITEMS;
  const int64_t step = static_cast<int64_t>(gridDim.x) * ITEMS;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * ITEMS; first < p.count; first += step) {
    const int items = p.count - first < ITEMS ? static_cast<int>(p.count - first) : ITEMS;
    __syncthreads();
    // Adjacent threads read adjacent addresses in both layouts of the batch.
    const bool items_adjacent = p.input_item_stride < p.input_stride;
    for (int k = threadIdx.x; k < ITEMS * p.columns; k += blockDim.x) {
      const int c = items_adjacent ? k / ITEMS : k % p.columns, i = items_adjacent ? k % ITEMS : k / p.columns;
      staged[c * PITCH + i] =
          i < items ? __ldg(input + c * p.input_stride + (first + i) * p.input_item_stride) : T(0);
    }
    __syncthreads();
    for (int r = warp; r < p.rows; r += warps) {
      T sum = T(0);
      for (int c = 0; c < p.columns; ++c)
        sum = fma(__ldg(matrix + r + static_cast<int64_t>(p.rows) * c), staged[c * PITCH + lane], sum);
      if (lane < items) output[r * p.output_stride + (first + lane) * p.output_item_stride] = sum;
    }
  }
}

}  // namespace purlin

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_LINEAR_THREADS)
    purlin_linear_f32(const __grid_constant__ purlin_linear_params p) {
  purlin::linear<float>(p);
}

extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_LINEAR_THREADS)
    purlin_linear_f64(const __grid_constant__ purlin_linear_params p) {
  purlin::linear<double>(p);
}
