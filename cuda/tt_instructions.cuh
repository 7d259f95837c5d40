// Instructions without a C++ name: asynchronous copies to shared memory and products of f64 matrices by tensor cores.
#ifndef PURLIN_TT_INSTRUCTIONS_CUH
#define PURLIN_TT_INSTRUCTIONS_CUH

#include <stdint.h>

namespace purlin {
namespace tt {

// The block's dynamic shared memory.
__device__ __forceinline__ unsigned char *shared_memory() {
  extern __shared__ __align__(16) unsigned char tt_shared[];
  return tt_shared;
}

// Copies BYTES bytes (4, 8 or 16, both addresses aligned to them) from global to shared memory, or writes zeros. `from`
// must be an address of global memory in both cases.
template <int BYTES>
__device__ __forceinline__ void copy_async(void *to, const void *from, bool valid) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int size = valid ? BYTES : 0;
  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(address), "l"(from), "r"(size) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(address), "l"(from), "n"(BYTES), "r"(size)
                 : "memory");
}

// Ends a group of this thread's copies.
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }

// Waits until at most PENDING of this thread's groups are incomplete.
template <int PENDING>
__device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(PENDING) : "memory");
}

// C += A B by a warp, for A of 8 x 4 and B of 4 x 8. Lane 4 g + t has A[g, t], B[t, g], C[g, 2 t] and C[g, 2 t + 1].
__device__ __forceinline__ void product_8x8x4(double &c0, double &c1, double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\n"
               : "+d"(c0), "+d"(c1)
               : "d"(a), "d"(b));
}

// The same for two A on top of each other and two k-blocks: a0 and a1 are rows 0 to 7 and 8 to 15 of the first k-block,
// a2 and a3 of the second.
__device__ __forceinline__ void product_16x8x8(double &c0, double &c1, double &c2, double &c3, double a0, double a1, double a2,
                                               double a3, double b0, double b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+d"(c0), "+d"(c1), "+d"(c2), "+d"(c3)
      : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#else
  product_8x8x4(c0, c1, a0, b0);
  product_8x8x4(c2, c3, a1, b0);
  product_8x8x4(c0, c1, a2, b1);
  product_8x8x4(c2, c3, a3, b1);
#endif
}

// Pauses between two polls of memory that another block writes.
__device__ __forceinline__ void pause() { __nanosleep(20); }

}  // namespace tt
}  // namespace purlin

#endif
