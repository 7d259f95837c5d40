// Verifies and times the SS-HOPM kernels by themselves, without the library.
//   nvcc -std=c++17 -O3 -gencode arch=compute_90,code=sm_90 -cudart static -o sshopm_kernels sshopm_kernels.cu
//   ./sshopm_kernels [verify|time|both] [order-4 tensors] [order-8 tensors]
// The files hold packed tensors as raw doubles; without them the timings on real data are left out. Exit status 1 if a
// check failed. Times are medians of nine, by device events, of kernels on resident data; no transfers.
#include "time_sshopm.cuh"
#include "verify_cases.cuh"

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "both";
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("%s, %d multiprocessors, compute capability %d.%d\n", device.name, device.multiProcessorCount, device.major, device.minor);
  if (what != "time") verify_everything();
  std::fflush(stdout);
  if (what != "verify") time_everything(argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "");
  return tally.failures ? 1 : 0;
}
