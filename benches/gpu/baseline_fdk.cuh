// The back-projection of Lu, Ino and Hagihara (2016) as a baseline to time against: a thread a voxel column, all views of a
// launch for each voxel, samples by the texture unit from one layer a view.
#pragma once

constexpr int BASELINE_VIEWS = 32;

struct BaselineView {
  float cosine, sine;
};
__constant__ BaselineView baseline_views[BASELINE_VIEWS];

struct BaselineGeometry {
  float sid, sdd, pitch, centre_u, centre_v;
};

__global__ void baseline_fdk(cudaTextureObject_t layers, float *volume, int nx, int ny, int nz, BaselineGeometry g) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  const float x = i - 0.5f * (nx - 1), y = j - 0.5f * (ny - 1);
  float weight[BASELINE_VIEWS], u[BASELINE_VIEWS], v[BASELINE_VIEWS], step[BASELINE_VIEWS];
#pragma unroll
  for (int n = 0; n < BASELINE_VIEWS; ++n) {
    const float c = baseline_views[n].cosine, s = baseline_views[n].sine, r = 1.0f / (g.sid - x * c - y * s);
    weight[n] = g.sid * g.sid * r * r;
    u[n] = g.sdd * (y * c - x * s) * r / g.pitch + g.centre_u + 0.5f;
    step[n] = g.sdd * r / g.pitch;
    v[n] = g.centre_v + 0.5f - 0.5f * (nz - 1) * step[n];
  }
  float *out = volume + static_cast<size_t>(j) * nx + i;
  for (int k = 0; k < nz; ++k, out += static_cast<size_t>(nx) * ny) {
    float sum = 0;
#pragma unroll
    for (int n = 0; n < BASELINE_VIEWS; ++n) {
      sum += weight[n] * tex2DLayered<float>(layers, u[n], v[n], n);
      v[n] += step[n];
    }
    *out += sum;
  }
}
