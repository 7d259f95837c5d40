// Verifies and times the FDK kernels by themselves, without the library.
//   nvcc -std=c++17 -O3 -gencode arch=compute_90,code=sm_90 -cudart static -o fdk_kernels fdk_kernels.cu
//   ./fdk_kernels [verify|time|both]
// Exit status 1 if a check failed. Times are medians, by device events, of kernels on resident data; no transfers. GUPS
// count every voxel of the grid for every view. Figures are also written to the file PURLIN_BENCH_JSON.
#include "time_fdk.cuh"

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "both";
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("%s, %d multiprocessors, compute capability %d.%d\n", device.name, device.multiProcessorCount, device.major, device.minor);
  if (what != "time") {
    verify_backprojection();
    verify_filters();
    std::printf("%d checks, %d failures\n", tally.checks, tally.failures);
    std::fflush(stdout);
  }
  if (what != "verify") {
    time_everything();
    report.write(device.name);
  }
  return tally.failures ? 1 : 0;
}
