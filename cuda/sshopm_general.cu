// SS-HOPM kernels for any order and dimension up to 16, selection of pairs from start outputs, products,
// classification and random starts; see sshopm_launch.h for the parameters.
#include "rng.cuh"
#include "sshopm_general.cuh"
#include "sshopm_product.cuh"
#include "sshopm_select.cuh"

namespace purlin {

template <class T>
__device__ void draw_starts(const purlin_starts_params &p) {
  const int64_t end = p.count * p.start_count, step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  const int n = p.dimension;
  for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < end; at += step) {
    const int64_t item = at / p.start_count, start = p.first_start + (at - item * p.start_count);
    const int64_t row = p.first_row + (p.index ? address<const long long>(p.index)[item] : item);
    double length = 0;
    double x[MAX_N];
    for (int i = 0; i < n; ++i) {
      const auto column = static_cast<uint32_t>(start * n + i);
      x[i] = p.cube ? purlin_uniform(p.seed, PURLIN_RNG_STARTS, static_cast<uint64_t>(row), column)
                    : purlin_normal(p.seed, PURLIN_RNG_STARTS, static_cast<uint64_t>(row), column);
      length = fma(x[i], x[i], length);
    }
    length = length > 0 ? 1 / sqrt(length) : 0;
    for (int i = 0; i < n; ++i) address<T>(p.starts)[at * n + i] = static_cast<T>(length > 0 ? x[i] * length : (i == 0));
  }
}

}  // namespace purlin

#define PURLIN_GENERAL(suffix, T)                                                                                     \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_GENERAL_THREADS)                                         \
      purlin_sshopm_solve_general_##suffix(const __grid_constant__ purlin_sshopm_params p) {                          \
    purlin::solve_general<T>(p);                                                                                      \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_SELECT_THREADS)                                          \
      purlin_sshopm_select_##suffix(const __grid_constant__ purlin_select_params p) {                                 \
    purlin::select_general<T>(p);                                                                                     \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_PLAIN_THREADS)                                           \
      purlin_sshopm_product_general_##suffix(const __grid_constant__ purlin_product_params p) {                       \
    purlin::product_general<T>(p);                                                                                    \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_PLAIN_THREADS)                                           \
      purlin_sshopm_classify_##suffix(const __grid_constant__ purlin_product_params p) {                              \
    purlin::classify_general<T>(p);                                                                                   \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_PLAIN_THREADS)                                           \
      purlin_sshopm_draw_starts_##suffix(const __grid_constant__ purlin_starts_params p) {                            \
    purlin::draw_starts<T>(p);                                                                                        \
  }

#define PURLIN_PRODUCT(M, suffix, T)                                                                                  \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_PLAIN_THREADS)                                           \
      purlin_sshopm_product_n3m##M##_##suffix(const __grid_constant__ purlin_product_params p) {                      \
    purlin::product_n3<M, T>(p);                                                                                      \
  }

PURLIN_GENERAL(f32, float)
PURLIN_GENERAL(f64, double)
PURLIN_PRODUCT(3, f32, float)
PURLIN_PRODUCT(3, f64, double)
PURLIN_PRODUCT(4, f32, float)
PURLIN_PRODUCT(4, f64, double)
PURLIN_PRODUCT(6, f32, float)
PURLIN_PRODUCT(6, f64, double)
PURLIN_PRODUCT(8, f32, float)
PURLIN_PRODUCT(8, f64, double)
