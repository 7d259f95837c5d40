// The loop-unrolled kernel of Ballard, Kolda & Plantenga (2010) for order 4, dimension 3, as a baseline to time against:
// one thread a start, one block a tensor, entries in shared memory, every term of A x^3 written out with its coefficient.
#pragma once

// TEST: with the convergence test of the method, which takes A x^4 at each new iterate and compares it with the last.
template <class T, bool TEST>
__global__ void baseline_sshopm(const T *tensors, const T *starts, T *values, T *vectors, int count, int steps,
                                T shift, T tolerance) {
  __shared__ T a[15];
  const int t = blockIdx.x;
  if (threadIdx.x < 15) a[threadIdx.x] = tensors[static_cast<size_t>(t) * 15 + threadIdx.x];
  __syncthreads();
  for (int v = threadIdx.x; v < count; v += blockDim.x) {
    T x = starts[3 * v], y = starts[3 * v + 1], z = starts[3 * v + 2], p, q, r, lambda = 0;
    for (int k = 0; k < steps; ++k) {
      p = a[0] * x * x * x + a[1] * 3 * x * x * y + a[2] * 3 * x * x * z + a[3] * 3 * x * y * y + a[4] * 6 * x * y * z +
          a[5] * 3 * x * z * z + a[6] * y * y * y + a[7] * 3 * y * y * z + a[8] * 3 * y * z * z + a[9] * z * z * z;
      q = a[1] * x * x * x + a[3] * 3 * x * x * y + a[4] * 3 * x * x * z + a[6] * 3 * x * y * y + a[7] * 6 * x * y * z +
          a[8] * 3 * x * z * z + a[10] * y * y * y + a[11] * 3 * y * y * z + a[12] * 3 * y * z * z + a[13] * z * z * z;
      r = a[2] * x * x * x + a[4] * 3 * x * x * y + a[5] * 3 * x * x * z + a[7] * 3 * x * y * y + a[8] * 6 * x * y * z +
          a[9] * 3 * x * z * z + a[11] * y * y * y + a[12] * 3 * y * y * z + a[13] * 3 * y * z * z + a[14] * z * z * z;
      p += shift * x;
      q += shift * y;
      r += shift * z;
      T scale = rsqrt(p * p + q * q + r * r);
      x = p * scale;
      y = q * scale;
      z = r * scale;
      if (TEST) {
        T next = a[0] * x * x * x * x + a[1] * 4 * x * x * x * y + a[2] * 4 * x * x * x * z + a[3] * 6 * x * x * y * y +
                 a[4] * 12 * x * x * y * z + a[5] * 6 * x * x * z * z + a[6] * 4 * x * y * y * y +
                 a[7] * 12 * x * y * y * z + a[8] * 12 * x * y * z * z + a[9] * 4 * x * z * z * z +
                 a[10] * y * y * y * y + a[11] * 4 * y * y * y * z + a[12] * 6 * y * y * z * z +
                 a[13] * 4 * y * z * z * z + a[14] * z * z * z * z;
        T change = next - lambda;
        lambda = next;
        if (fabs(change) <= tolerance * fabs(next)) break;
      }
    }
    if (!TEST) lambda = (p - shift * x) * x + (q - shift * y) * y + (r - shift * z) * z;
    const size_t o = static_cast<size_t>(t) * count + v;
    values[o] = lambda;
    vectors[3 * o] = x;
    vectors[3 * o + 1] = y;
    vectors[3 * o + 2] = z;
  }
}
