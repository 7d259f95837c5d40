// The product of two factors in digits by Hopper's own instructions. They read both factors from shared memory, and
// four warps issue them together. See tt_digits_launch.h.
#ifndef PURLIN_TT_DIGITS_HOPPER_CUH
#define PURLIN_TT_DIGITS_HOPPER_CUH

#include "tt_digits_product.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace purlin {
namespace tt {
namespace digits {

// C += A B by four warps, for A of 64 x 32 and B of 32 x 128 digits, given by descriptors. Asynchronous: complete only
// after a wait.
__device__ __forceinline__ void product_64x128x32(int32_t (&c)[64], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1;\n"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]),
        "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]),
        "+r"(c[16]), "+r"(c[17]), "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]), "+r"(c[22]), "+r"(c[23]),
        "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]), "+r"(c[28]), "+r"(c[29]), "+r"(c[30]), "+r"(c[31]),
        "+r"(c[32]), "+r"(c[33]), "+r"(c[34]), "+r"(c[35]), "+r"(c[36]), "+r"(c[37]), "+r"(c[38]), "+r"(c[39]),
        "+r"(c[40]), "+r"(c[41]), "+r"(c[42]), "+r"(c[43]), "+r"(c[44]), "+r"(c[45]), "+r"(c[46]), "+r"(c[47]),
        "+r"(c[48]), "+r"(c[49]), "+r"(c[50]), "+r"(c[51]), "+r"(c[52]), "+r"(c[53]), "+r"(c[54]), "+r"(c[55]),
        "+r"(c[56]), "+r"(c[57]), "+r"(c[58]), "+r"(c[59]), "+r"(c[60]), "+r"(c[61]), "+r"(c[62]), "+r"(c[63])
      : "l"(a), "l"(b));
}

// Descriptor of lines of 64 bytes from a shared address on, swizzled. Groups of eight lines are 512 bytes apart.
__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | uint64_t{1} << 16 | uint64_t{512 >> 4} << 32 | uint64_t{2} << 62;
}

__device__ __forceinline__ void barrier_init(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred done;\nmbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\nselp.u32 %0, 1, 0, done;\n}\n"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
}

// Starts copies of a block of each factor. The barrier waits for their arrival.
__device__ __forceinline__ void copy_blocks(uint32_t to, const uint8_t *a, const uint8_t *b, uint32_t barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(STAGE) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(to), "l"(a),
               "r"(BLOCK), "r"(barrier)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(to + BLOCK),
               "l"(b), "r"(BLOCK), "r"(barrier)
               : "memory");
}

// A block of C by two groups of four warps, 64 x 128 each. The first thread also starts the copies.
__device__ void product_by_groups(const purlin_tt_digits_product_params &p) {
  constexpr int STAGES = PURLIN_LAUNCH_TT_DIGITS_STAGES;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = threadIdx.x / 128;
  const Factors from(p);
  // The swizzle repeats every 512 bytes of the address.
  const uint32_t base = (static_cast<uint32_t>(__cvta_generic_to_shared(shared_memory())) + 511) / 512 * 512;
  const uint32_t full = base + STAGES * STAGE, empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      barrier_init(full + 8 * stage, 1);
      barrier_init(empty + 8 * stage, THREADS / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;\n" ::: "memory");
  }
  __syncthreads();
  const auto fetch = [&](int step) {
    const int64_t first = static_cast<int64_t>(step) * BLOCK;
    copy_blocks(base + step % STAGES * STAGE, from.a + first, from.b + first, full + step % STAGES * 8);
  };
  if (threadIdx.x == 0)
    for (int step = 0; step < STAGES && step < from.steps; ++step) fetch(step);

  int32_t high[64] = {}, middle[64] = {}, low[64] = {};
#pragma unroll 1
  for (int step = 0; step < from.steps; ++step) {
    barrier_wait(full + step % STAGES * 8, step / STAGES & 1);
    const uint32_t stage = base + step % STAGES * STAGE;
    constexpr uint32_t NEXT = PLANE / 16;
    const uint64_t x0 = descriptor(stage + group * 64 * INNER), x1 = x0 + NEXT, x2 = x1 + NEXT;
    const uint64_t y0 = descriptor(stage + BLOCK), y1 = y0 + NEXT, y2 = y1 + NEXT;
    asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
    for (int half = 0; half < 2 * INNER / 32; half += 2) {
      product_64x128x32(high, x0 + half, y0 + half);
      product_64x128x32(middle, x0 + half, y1 + half);
      product_64x128x32(low, x0 + half, y2 + half);
      product_64x128x32(middle, x1 + half, y0 + half);
      product_64x128x32(low, x1 + half, y1 + half);
      product_64x128x32(low, x2 + half, y0 + half);
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n" ::: "memory");
    if (step == 0) continue;
    // The previous step has completed.
    const int before = step - 1;
    if (lane == 0) barrier_arrive(empty + before % STAGES * 8);
    if (threadIdx.x == 0 && before + STAGES < from.steps) {
      barrier_wait(empty + before % STAGES * 8, before / STAGES & 1);
      fetch(before + STAGES);
    }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
  // The asynchronous sums may be read only from here on.
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+r"(high[i]), "+r"(middle[i]), "+r"(low[i]));

  const Output output(p);
  const int64_t row = from.row_block * LINES + warp * 16 + lane / 4;
  const int64_t column = from.column_block * LINES + lane % 4 * 2;
  const int units[2] = {output.row_unit(row), output.row_unit(row + 8)};
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int64_t right = column + 8 * j + e % 2;
      output.store(row + e / 2 * 8, right, units[e / 2], output.column_unit(right), high[4 * j + e], middle[4 * j + e],
                   low[4 * j + e]);
    }
}

}  // namespace digits
}  // namespace tt
}  // namespace purlin
#endif

#endif
