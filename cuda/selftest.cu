// A kernel whose result is known: proves that modules load, that parameters arrive by value and that blocks get the
// shared memory that was asked for.

#include <stdint.h>

// Mirrored in src/backend/gpu/kernels/selftest.rs.
struct SelftestParams {
  uint64_t output;  // uint32 [count]
  uint64_t count;
  uint32_t scale;
  uint32_t words;   // words of dynamic shared memory, at least blockDim.x
};
static_assert(sizeof(SelftestParams) == 24, "SelftestParams changed size");

// output[i] = scale * i + (sum of the thread numbers of the block), the sum by way of shared memory.
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

// Ends in an error that kills the context, as a kernel that touches foreign memory does.
extern "C" __global__ void purlin_selftest_trap(const SelftestParams p) {
  if (p.scale != 0) __trap();
}
