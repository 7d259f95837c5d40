// A kernel with a known result. It tests that modules load, that parameters are passed by value and that blocks get the
// requested shared memory.

#include <stdint.h>

// Mirrored in src/base/backend/gpu/kernels/selftest.rs.
struct SelftestParams {
  uint64_t output;  // uint32 [count]
  uint64_t count;
  uint32_t scale;
  uint32_t words;   // words of dynamic shared memory, at least blockDim.x
};
static_assert(sizeof(SelftestParams) == 24, "SelftestParams changed size");

// output[i] = scale * i + (sum of the thread indices of the block), with the sum computed in shared memory.
extern "C" __global__ void purlin_selftest(const SelftestParams p) {
  extern __shared__ uint32_t words[];
  for (uint32_t w = threadIdx.x; w < p.words; w += blockDim.x) words[w] = w < blockDim.x ? w : 0;
  __syncthreads();
  uint32_t sum = 0;
  for (uint32_t w = 0; w < p.words; w++) sum += words[w];
  uint32_t* output = reinterpret_cast<uint32_t*>(p.output);
  const uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < p.count) output[i] = p.scale * uint32_t(i) + sum;
}

// Ends in an error that destroys the context, like a kernel that accesses invalid memory.
extern "C" __global__ void purlin_selftest_trap(const SelftestParams p) {
  if (p.scale != 0) __trap();
}
