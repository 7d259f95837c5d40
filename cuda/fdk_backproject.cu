// Back-projection of FDK; see purlin_fdk_backproject_params in fdk_launch.h.
#include "fdk_column.cuh"
#include "fdk_general.cuh"

// 64 registers a thread, so that four blocks fit a multiprocessor and hide the latency of shared memory.
#define PURLIN_FDK_KERNEL(name, ...)                                               \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_FDK_THREADS, 4)       \
      name(const __grid_constant__ purlin_fdk_backproject_params p) {              \
    purlin::fdk::__VA_ARGS__(p);                                                   \
  }

PURLIN_FDK_KERNEL(purlin_fdk_column_40, column<PURLIN_LAUNCH_FDK_NARROW, false, false>)
PURLIN_FDK_KERNEL(purlin_fdk_column_72, column<PURLIN_LAUNCH_FDK_WIDE, false, false>)
PURLIN_FDK_KERNEL(purlin_fdk_column_skip_40, column<PURLIN_LAUNCH_FDK_NARROW, false, true>)
PURLIN_FDK_KERNEL(purlin_fdk_column_skip_72, column<PURLIN_LAUNCH_FDK_WIDE, false, true>)
PURLIN_FDK_KERNEL(purlin_fdk_column_mirror_40, column<PURLIN_LAUNCH_FDK_NARROW, true, false>)
PURLIN_FDK_KERNEL(purlin_fdk_column_mirror_72, column<PURLIN_LAUNCH_FDK_WIDE, true, false>)
PURLIN_FDK_KERNEL(purlin_fdk_general_40, general<PURLIN_LAUNCH_FDK_NARROW, true, false>)
PURLIN_FDK_KERNEL(purlin_fdk_general_72, general<PURLIN_LAUNCH_FDK_WIDE, true, false>)
PURLIN_FDK_KERNEL(purlin_fdk_general_skip_40, general<PURLIN_LAUNCH_FDK_NARROW, true, true>)
PURLIN_FDK_KERNEL(purlin_fdk_general_skip_72, general<PURLIN_LAUNCH_FDK_WIDE, true, true>)
PURLIN_FDK_KERNEL(purlin_fdk_plain, general<PURLIN_LAUNCH_FDK_NARROW, false, false>)
PURLIN_FDK_KERNEL(purlin_fdk_plain_skip, general<PURLIN_LAUNCH_FDK_NARROW, false, true>)
