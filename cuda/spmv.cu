// Products of sparse matrices with a vector or a block of vectors. See spmv_launch.h.
#include "spmv_block.cuh"
#include "spmv_merge.cuh"
#include "spmv_pixels.cuh"
#include "spmv_prepare.cuh"
#include "spmv_rows.cuh"
#include "spmv_sweeps.cuh"
#include "spmv_tiles.cuh"

#define PURLIN_SPMV_ITEMS (PURLIN_LAUNCH_SPMV_TILE / PURLIN_LAUNCH_SPMV_THREADS)
#define PURLIN_SPMV_SHORT_ITEMS (PURLIN_LAUNCH_SPMV_SHORT_TILE / PURLIN_LAUNCH_SPMV_THREADS)

#define PURLIN_SPMV_KERNEL(name, threads, params, call)                                        \
  extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ params p) { call; }

#define PURLIN_SPMV_FORMS(suffix, T, P, PATTERN)                                                                         \
  PURLIN_SPMV_KERNEL(purlin_spmv_rows_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_params,                          \
                     (purlin::spmv::rows<T, P, PATTERN>(p)))                                                             \
  PURLIN_SPMV_KERNEL(purlin_spmv_bins_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_params,                          \
                     (purlin::spmv::bins<T, P, PATTERN>(p)))                                                             \
  PURLIN_SPMV_KERNEL(purlin_spmv_tiles_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_params,                         \
                     (purlin::spmv::tiles<T, P, PATTERN, PURLIN_LAUNCH_SPMV_THREADS, PURLIN_SPMV_ITEMS>(p)))             \
  PURLIN_SPMV_KERNEL(purlin_spmv_short_tiles_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_params,                   \
                     (purlin::spmv::tiles<T, P, PATTERN, PURLIN_LAUNCH_SPMV_THREADS, PURLIN_SPMV_SHORT_ITEMS>(p)))       \
  PURLIN_SPMV_KERNEL(purlin_spmv_merge_##suffix, PURLIN_LAUNCH_SPMV_MERGE_THREADS, purlin_spmv_params,                   \
                     (purlin::spmv::merge<T, P, PATTERN>(p)))                                                            \
  PURLIN_SPMV_KERNEL(purlin_spmv_block_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_block_params,                   \
                     (purlin::spmv::block<T, P, PATTERN, 1>(p)))                                                         \
  PURLIN_SPMV_KERNEL(purlin_spmv_block_wide_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_block_params,              \
                     (purlin::spmv::block<T, P, PATTERN, (16 / sizeof(T))>(p)))

#define PURLIN_SPMV_OFFSETS(suffix, T, P)                                                                 \
  PURLIN_SPMV_KERNEL(purlin_spmv_collect_##suffix, PURLIN_LAUNCH_SPMV_SPREAD_THREADS, purlin_spmv_collect_params, \
                     (purlin::spmv::collect<T, P, PURLIN_LAUNCH_SPMV_SPREAD_THREADS>(p)))                                                    \
  PURLIN_SPMV_KERNEL(purlin_spmv_mend_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_params,           \
                     (purlin::spmv::mend<T, P>(p)))                                                       \
  PURLIN_SPMV_FORMS(suffix, T, P, false)                                                                  \
  PURLIN_SPMV_FORMS(suffix##_pattern, T, P, true)

#define PURLIN_SPMV_KERNELS(suffix, T)                                                                              \
  PURLIN_SPMV_OFFSETS(suffix, T, int64_t)                                                                           \
  PURLIN_SPMV_OFFSETS(narrow_##suffix, T, int32_t)                                                                  \
  PURLIN_SPMV_KERNEL(purlin_spmv_pixels_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_pixels_params,            \
                     (purlin::spmv::pixels<T>(p)))                                                                  \
  PURLIN_SPMV_KERNEL(purlin_spmv_permute_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_permute_params,          \
                     (purlin::spmv::permute<T>(p)))                                                                 \
  PURLIN_SPMV_KERNEL(purlin_spmv_renumber_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_renumber_params,        \
                     (purlin::spmv::renumber<T>(p)))                                                                \
  PURLIN_SPMV_KERNEL(purlin_spmv_block_join_##suffix, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_block_params,         \
                     (purlin::spmv::block_join<T>(p)))                                                              \
  PURLIN_SPMV_KERNEL(purlin_spmv_spread_##suffix, PURLIN_LAUNCH_SPMV_SPREAD_THREADS, purlin_spmv_spread_params,     \
                     (purlin::spmv::spread<T, false, PURLIN_LAUNCH_SPMV_SPREAD_THREADS>(p)))                                                           \
  PURLIN_SPMV_KERNEL(purlin_spmv_spread_##suffix##_pattern, PURLIN_LAUNCH_SPMV_SPREAD_THREADS, purlin_spmv_spread_params, \
                     (purlin::spmv::spread<T, true, PURLIN_LAUNCH_SPMV_SPREAD_THREADS>(p)))

PURLIN_SPMV_KERNEL(purlin_spmv_count, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_prepare_params, purlin::spmv::count(p))
PURLIN_SPMV_KERNEL(purlin_spmv_accumulate, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_prepare_params, purlin::spmv::accumulate(p))
PURLIN_SPMV_KERNEL(purlin_spmv_place, PURLIN_LAUNCH_SPMV_THREADS, purlin_spmv_prepare_params, purlin::spmv::place(p))
PURLIN_SPMV_KERNELS(f32, float)
PURLIN_SPMV_KERNELS(f64, double)
#ifndef PURLIN_SPMV_REAL_ONLY
PURLIN_SPMV_KERNELS(cf32, purlin::spmv::Pair<float>)
PURLIN_SPMV_KERNELS(cf64, purlin::spmv::Pair<double>)
#endif
