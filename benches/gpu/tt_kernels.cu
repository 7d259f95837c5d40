// Verifies and times the tensor-train kernels by themselves, without the library.
//   nvcc -std=c++17 -O3 -gencode arch=compute_90,code=sm_90 -cudart static -I../../cuda -o tt_kernels tt_kernels.cu
//   ./tt_kernels [verify|small|time|both]
// Exit status 1 if a check failed. `small` verifies the few cases that a sanitizer gets through in a minute. Verification compares with sums by definition in double precision, in work space that
// holds NaN. Times are medians, by device events, of whole sweeps on resident data, of chains of d = 100 (open) and d = 50
// (rings) sites with n = 2.
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tt.cu"

#define CHECK(call)                                                                                      \
  do {                                                                                                   \
    const cudaError_t error_ = (call);                                                                   \
    if (error_ != cudaSuccess) {                                                                         \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));    \
      std::exit(2);                                                                                      \
    }                                                                                                    \
  } while (0)

using Wide = std::complex<double>;

static int checks = 0, failures = 0;

// Device memory that is freed with its owner.
struct Device {
  void *at = nullptr;
  size_t bytes = 0;
  Device(size_t size, int value) : bytes(size) {
    CHECK(cudaMalloc(&at, size > 0 ? size : 1));
    CHECK(cudaMemset(at, value, size));
  }
  template <class T>
  explicit Device(const std::vector<T> &from) : Device(from.size() * sizeof(T), 0) {
    CHECK(cudaMemcpy(at, from.data(), bytes, cudaMemcpyHostToDevice));
  }
  Device(Device &&other) noexcept : at(other.at), bytes(other.bytes) { other.at = nullptr; }
  Device(const Device &) = delete;
  ~Device() { cudaFree(at); }
  uint64_t address() const { return reinterpret_cast<uint64_t>(at); }
  template <class T>
  std::vector<T> read() const {
    std::vector<T> to(bytes / sizeof(T));
    CHECK(cudaMemcpy(to.data(), at, bytes, cudaMemcpyDeviceToHost));
    return to;
  }
};

template <class T>
T number(Wide z) {
  if constexpr (tt::Number<T>::COMPLEX) {
    using R = typename tt::Number<T>::Real;
    return {static_cast<R>(z.real()), static_cast<R>(z.imag())};
  } else {
    return static_cast<T>(z.real());
  }
}
template <class T>
Wide wide(T x) {
  if constexpr (tt::Number<T>::COMPLEX) return {x.re, x.im};
  else return {x, 0.0};
}

template <class T>
struct Train {
  std::vector<int> n, r;
  std::vector<std::vector<T>> cores;
  std::vector<Device> memory;
  std::vector<uint64_t> bases;
};

template <class T>
Train<T> random_train(const std::vector<int> &n, const std::vector<int> &r, std::mt19937 &generator) {
  Train<T> x{n, r, {}, {}, {}};
  std::normal_distribution<double> normal;
  for (size_t k = 0; k < n.size(); ++k) {
    std::vector<T> core(static_cast<size_t>(r[k]) * n[k] * r[k + 1]);
    const double size = 1.0 / std::sqrt(static_cast<double>(n[k]) * r[k]);
    for (T &entry : core) entry = number<T>(size * Wide(normal(generator), normal(generator)));
    x.memory.emplace_back(core);
    x.bases.push_back(x.memory.back().address());
    x.cores.push_back(std::move(core));
  }
  return x;
}

// The term of a boundary pair by definition, and the same of the moduli.
template <class T>
std::pair<Wide, double> term(const Train<T> &x, const Train<T> &y, int px, int py, bool conjugate) {
  std::vector<Wide> f{1.0};
  std::vector<double> m{1.0};
  int rows = 1, cols = 1;
  const size_t d = x.n.size();
  for (size_t k = 0; k < d; ++k) {
    const int n = x.n[k], next_cols = k + 1 == d ? 1 : x.r[k + 1], next_rows = k + 1 == d ? 1 : y.r[k + 1];
    std::vector<Wide> g(static_cast<size_t>(next_rows) * next_cols);
    std::vector<double> h(g.size());
    for (int i = 0; i < n; ++i) {
      std::vector<Wide> t(static_cast<size_t>(rows) * next_cols);
      std::vector<double> u(t.size());
      for (int c = 0; c < next_cols; ++c)
        for (int a = 0; a < cols; ++a) {
          const Wide v = wide(x.cores[k][(k == 0 ? px : a) + static_cast<size_t>(x.r[k]) * (i + n * (k + 1 == d ? px : c))]);
          for (int b = 0; b < rows; ++b) {
            t[b + rows * c] += f[b + rows * a] * v;
            u[b + rows * c] += m[b + rows * a] * std::abs(v);
          }
        }
      for (int e = 0; e < next_rows; ++e)
        for (int b = 0; b < rows; ++b) {
          Wide v = wide(y.cores[k][(k == 0 ? py : b) + static_cast<size_t>(y.r[k]) * (i + n * (k + 1 == d ? py : e))]);
          if (conjugate) v = std::conj(v);
          for (int c = 0; c < next_cols; ++c) {
            g[e + next_rows * c] += t[b + rows * c] * v;
            h[e + next_rows * c] += u[b + rows * c] * std::abs(v);
          }
        }
    }
    f = g;
    m = h;
    rows = next_rows;
    cols = next_cols;
  }
  return {f[0], m[0]};
}

template <class T>
void compare(const char *what, Wide got, int64_t exponent, std::pair<Wide, double> want, size_t d) {
  const Wide value(std::ldexp(got.real(), static_cast<int>(exponent)), std::ldexp(got.imag(), static_cast<int>(exponent)));
  const double eps = sizeof(typename tt::Number<T>::Real) == 4 ? 1.2e-7 : 2.3e-16;
  const double error = std::abs(value - want.first) / (want.second * eps);
  ++checks;
  // Far fewer roundings than terms meet in one direction.
  if (!(error <= 32.0 * static_cast<double>(d))) {
    ++failures;
    std::printf("FAIL %s: (%g, %g) for (%g, %g), %g roundings\n", what, value.real(), value.imag(), want.first.real(),
                want.first.imag(), error);
  }
}

template <class T>
std::vector<purlin_tt_site> sites_of(const Train<T> &x, const Train<T> &y) {
  std::vector<purlin_tt_site> sites;
  for (size_t k = 0; k < x.n.size(); ++k) sites.push_back({0, 0, x.r[k], x.r[k + 1], y.r[k], y.r[k + 1], x.n[k], 0});
  return sites;
}

template <class T>
struct Forms {
  using Chain = void (*)(purlin_tt_chain_params);
  using Grid = void (*)(purlin_tt_grid_params);
  Chain chain[4];
  Grid grid[2];
  void (*join)(purlin_tt_join_params);
  void (*begin)(purlin_tt_edge_params);
  void (*end)(purlin_tt_edge_params);
};
#define FORMS(NAME)                                                                                                   \
  {{purlin_tt_chain_a_##NAME, purlin_tt_chain_b_##NAME, purlin_tt_chain_c_##NAME, purlin_tt_chain_d_##NAME},          \
   {purlin_tt_grid_s_##NAME, purlin_tt_grid_l_##NAME},                                                                \
   purlin_tt_join_##NAME,                                                                                             \
   purlin_tt_begin_##NAME,                                                                                            \
   purlin_tt_end_##NAME}

static const int CHAIN_THREADS[] = {32, 128, 512, 256}, CHAIN_RANK[] = {16, 32, 32, 64}, CHAIN_DEPTH[] = {3, 3, 4, 2};

template <class T>
size_t chain_shared(int form, int edge) {
  return static_cast<size_t>(2 + CHAIN_DEPTH[form]) * (edge + 4) * edge * sizeof(T) + 8 * PURLIN_LAUNCH_TT_CHAIN_KEYS;
}

template <class K>
bool allow(K kernel, size_t shared) {
  int most = 0;
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  if (shared > static_cast<size_t>(most)) return false;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  return true;
}

// Median milliseconds of `work`.
template <class Work>
double milliseconds(Work work) {
  cudaEvent_t from, to;
  CHECK(cudaEventCreate(&from));
  CHECK(cudaEventCreate(&to));
  std::vector<float> times;
  for (int i = 0; i < 12; ++i) {
    CHECK(cudaEventRecord(from));
    work();
    CHECK(cudaEventRecord(to));
    CHECK(cudaEventSynchronize(to));
    float time = 0.0f;
    CHECK(cudaEventElapsedTime(&time, from, to));
    if (i > 2) times.push_back(time);
  }
  CHECK(cudaEventDestroy(from));
  CHECK(cudaEventDestroy(to));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// One pair of trains with the arrays that the kernels read.
template <class T>
struct Case {
  Train<T> x, y;
  Device sites, x_bases, y_bases;
  int edge = 8;
  int64_t environment = 1, products = 1;
  Case(Train<T> a, Train<T> b)
      : x(std::move(a)), y(std::move(b)), sites(sites_of(x, y)), x_bases(x.bases), y_bases(y.bases) {
    const size_t d = x.n.size();
    for (size_t k = 0; k <= d; ++k) {
      if (k > 0 && k < d) edge = std::max({edge, (x.r[k] + 7) / 8 * 8, (y.r[k] + 7) / 8 * 8});
      environment = std::max<int64_t>(environment, static_cast<int64_t>(x.r[k]) * y.r[k]);
    }
    for (size_t k = 0; k < d; ++k)
      products = std::max<int64_t>(products, static_cast<int64_t>(x.n[k]) * std::max(static_cast<int64_t>(y.r[k]) * x.r[k + 1],
                                                                                     static_cast<int64_t>(y.r[k + 1]) * x.r[k]));
  }
  purlin_tt_chain_params chain(bool conjugate) const {
    purlin_tt_chain_params p{};
    p.sites = sites.address();
    p.x_bases = x_bases.address();
    p.y_bases = y_bases.address();
    p.x_core_stride = p.y_core_stride = 1;
    p.pairs = 1;
    p.pairs_x = x.r[0];
    p.length = p.cores = static_cast<int>(x.n.size());
    p.edge = edge;
    p.flags = conjugate ? PURLIN_LAUNCH_TT_CONJUGATE : 0;
    return p;
  }
};

template <class T>
Wide joined(const Forms<T> &forms, uint64_t left, uint64_t right, const Device &states, const Device *places, int64_t stride,
            int64_t count, int64_t &exponent) {
  const int blocks = 4;
  Device results(blocks * sizeof(purlin_tt_result), 0xff);
  const purlin_tt_join_params p{left, right, states.address(), places != nullptr ? places->address() : 0, results.address(),
                                stride, count, 0};
  forms.join<<<blocks, 256, 128>>>(p);
  CHECK(cudaGetLastError());
  Wide sum = 0.0;
  for (const purlin_tt_result &part : results.read<purlin_tt_result>()) {
    sum += Wide(part.re, part.im);
    exponent = part.exponent;
  }
  return sum;
}

// Both environments at bond `middle` by two blocks of a form.
template <class T>
void launch_ends(const Forms<T> &forms, int form, const Case<T> &c, int middle, bool conjugate, const Device &space,
                 const Device &states) {
  purlin_tt_chain_params p = c.chain(conjugate);
  p.flags |= PURLIN_LAUNCH_TT_TWO_ENDED;
  p.middle = middle;
  p.environments = space.address();
  p.environment_stride = c.environment;
  p.states = states.address();
  forms.chain[form]<<<2, CHAIN_THREADS[form], chain_shared<T>(form, c.edge)>>>(p);
  CHECK(cudaGetLastError());
}

// One product by the whole device; false if not even one block fits. Zeroes all arrays that must be zero.
template <class T>
bool launch_grid(const Forms<T> &forms, bool large, const Case<T> &c, int middle, bool conjugate, const Device &space,
                 const Device &states, const Device &keys, const Device &places) {
  CHECK(cudaMemsetAsync(states.at, 0, states.bytes));
  CHECK(cudaMemsetAsync(keys.at, 0, keys.bytes));
  const int tile = large ? 64 : 32, threads = large ? 256 : 128;
  const size_t shared = 2 * PURLIN_LAUNCH_TT_GRID_DEPTH * static_cast<size_t>(36) * tile * sizeof(T) + 8 * PURLIN_LAUNCH_TT_CHAIN_KEYS;
  if (!allow(forms.grid[large], shared)) return false;
  int resident = 0, processors = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, forms.grid[large], threads, shared));
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  purlin_tt_grid_params p{};
  p.sites = c.sites.address();
  p.x_bases = c.x_bases.address();
  p.y_bases = c.y_bases.address();
  p.space = space.address();
  p.states = states.address();
  p.keys = keys.address();
  p.places = places.address();
  p.environment_stride = c.environment;
  p.product_stride = c.products;
  p.length = p.cores = static_cast<int>(c.x.n.size());
  p.middle = middle;
  p.core_bases = 1;
  p.flags = (conjugate ? PURLIN_LAUNCH_TT_CONJUGATE : 0) | (middle > 0 ? PURLIN_LAUNCH_TT_TWO_ENDED : 0);
  void *arguments[] = {&p};
  const void *kernel = reinterpret_cast<const void *>(forms.grid[large]);
  // Blocks without a tile would only delay the others.
  const int rank = c.edge, tiles = 2 * ((rank + tile - 1) / tile) * ((rank + tile - 1) / tile);
  const int blocks = 2 * std::min(tiles, resident * processors / 2);
  CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, shared, nullptr));
  return true;
}

template <class T>
void verify(const char *name, const Forms<T> &forms, bool small) {
  std::mt19937 generator(1);
  for (int form = 0; form < 4; ++form)
    for (int most : {1, 7, 8, 9, CHAIN_RANK[form] - 1, CHAIN_RANK[form]})
      for (int d : {1, 2, 5}) {
        if (small && (d != 5 || (most != 9 && most != CHAIN_RANK[form]))) continue;
        const auto pick = [&](int top) { return 1 + static_cast<int>(generator() % static_cast<unsigned>(top)); };
        std::vector<int> n(d), r(d + 1), s(d + 1);
        for (int &v : n) v = pick(3);
        for (int &v : r) v = most < 8 ? pick(most) : most;
        for (int &v : s) v = pick(most);
        r[0] = r[d] = pick(3);
        s[0] = s[d] = pick(3);
        const Case<T> c(random_train<T>(n, r, generator), random_train<T>(n, s, generator));
        const size_t shared = chain_shared<T>(form, c.edge);
        if (!allow(forms.chain[form], shared)) continue;
        const bool conjugate = generator() % 2 == 0;
        const int pairs = r[0] * s[0];
        Device results(pairs * sizeof(purlin_tt_result), 0xff);
        purlin_tt_chain_params p = c.chain(conjugate);
        p.pairs = pairs;
        p.results = results.address();
        forms.chain[form]<<<pairs, CHAIN_THREADS[form], shared>>>(p);
        CHECK(cudaGetLastError());
        const auto terms = results.read<purlin_tt_result>();
        for (int q = 0; q < pairs; ++q)
          compare<T>((std::string(name) + " chain " + "abcd"[form]).c_str(), Wide(terms[q].re, terms[q].im), terms[q].exponent,
                     term(c.x, c.y, q % r[0], q / r[0], conjugate), d);
        if (d == 1) continue;
        const int middle = pick(d - 1);
        Device space(2 * c.environment * sizeof(T), 0xff), states(2 * sizeof(purlin_tt_state), 0);
        launch_ends(forms, form, c, middle, conjugate, space, states);
        int64_t exponent = 0;
        const Wide sum = joined(forms, space.address(), space.address() + c.environment * sizeof(T), states, nullptr, 0,
                                static_cast<int64_t>(r[middle]) * s[middle], exponent);
        compare<T>((std::string(name) + " ends " + "abcd"[form]).c_str(), sum, exponent, term(c.x, c.y, 0, 0, conjugate), d);
      }
  // Trains of two sites are a beginning and an end, in both layouts.
  for (int most : {1, 5, 33})
    for (int apart : {0, PURLIN_LAUNCH_TT_APART}) {
      const Case<T> c(random_train<T>({3, 2}, {2, most, 2}, generator), random_train<T>({3, 2}, {3, most + 1, 3}, generator));
      const int pairs = 4, first = 1;
      Device space(static_cast<size_t>(most) * (most + 1) * pairs * sizeof(T), 0xff), results(pairs * sizeof(purlin_tt_result), 0xff);
      std::vector<purlin_tt_state> one(1, purlin_tt_state{});
      const T alpha = number<T>(1.0);
      std::memcpy(one[0].alpha, &alpha, sizeof(T));
      const Device state(one);
      purlin_tt_edge_params p{c.x.bases[0], c.y.bases[0], space.address(), 0, 0, first, pairs, 2, 3, most, most + 1, 3,
                              PURLIN_LAUNCH_TT_CONJUGATE | apart};
      forms.begin<<<3, 256>>>(p);
      CHECK(cudaGetLastError());
      p = {c.x.bases[1], c.y.bases[1], space.address(), state.address(), results.address(), first, pairs, 2, 3, most, most + 1, 2,
           PURLIN_LAUNCH_TT_CONJUGATE | apart};
      forms.end<<<pairs, 256, 128>>>(p);
      CHECK(cudaGetLastError());
      const auto terms = results.read<purlin_tt_result>();
      for (int q = 0; q < pairs; ++q)
        compare<T>((std::string(name) + (apart ? " ends apart" : " ends merged")).c_str(), Wide(terms[q].re, terms[q].im),
                   terms[q].exponent, term(c.x, c.y, (first + q) % 2, (first + q) / 2, true), 2);
    }
  for (int most : {5, 33, 64, 65, 130})
    for (bool large : {false, true})
      for (int d : {1, 2, 4}) {
        if (small && (d != 4 || (most != 33 && most != 65))) continue;
        std::vector<int> n(d, 2), r(d + 1, most), s(d + 1, most > 9 ? most - 7 : most);
        r[0] = r[d] = s[0] = s[d] = 1;
        const Case<T> c(random_train<T>(n, r, generator), random_train<T>(n, s, generator));
        const int middle = d / 2;
        const int64_t each = 2 * c.environment + c.products;
        Device space(2 * each * sizeof(T), 0xff), states(2 * sizeof(purlin_tt_state), 0), keys(8 * d, 0), places(8, 0xff);
        if (!launch_grid(forms, large, c, middle, true, space, states, keys, places)) continue;
        int64_t exponent = 0;
        const Wide sum = joined(forms, space.address(), middle > 0 ? space.address() + each * sizeof(T) : 0, states, &places,
                                c.environment, middle > 0 ? static_cast<int64_t>(r[middle]) * s[middle] : 1, exponent);
        compare<T>((std::string(name) + (large ? " grid l" : " grid s")).c_str(), sum, exponent, term(c.x, c.y, 0, 0, true), d);
      }
}

template <class T>
void time_all(const char *name, const Forms<T> &forms, double per_product) {
  std::mt19937 generator(2);
  const auto train = [&](int d, int rank, bool ring) {
    std::vector<int> r(d + 1, rank);
    if (!ring) r[0] = r[d] = 1;
    return random_train<T>(std::vector<int>(d, 2), r, generator);
  };
  for (int rank : {8, 16, 32, 48, 64, 96, 128, 192, 256, 384}) {
    const int d = 100;
    const Case<T> c(train(d, rank, false), train(d, rank, false));
    const double flops = per_product * 4.0 * rank * (1.0 + 2.0 * rank + 2.0 * (d - 2.0) * rank * rank);
    const int64_t each = 2 * c.environment + c.products;
    Device space(2 * each * sizeof(T), 0), states(2 * sizeof(purlin_tt_state), 0), keys(8 * d, 0), places(8, 0);
    for (int form = 0; form < 4; ++form) {
      if (rank > CHAIN_RANK[form] || !allow(forms.chain[form], chain_shared<T>(form, c.edge))) continue;
      const double time = milliseconds([&] { launch_ends(forms, form, c, d / 2, true, space, states); });
      std::printf("%-5s open rank %4d chain %c  %9.4f ms %8.3f TFLOP/s\n", name, rank, "abcd"[form], time, flops / time * 1e-9);
    }
    for (bool large : {false, true}) {
      const double time = milliseconds([&] { launch_grid(forms, large, c, d / 2, true, space, states, keys, places); });
      std::printf("%-5s open rank %4d grid %c   %9.4f ms %8.3f TFLOP/s\n", name, rank, large ? 'l' : 's', time, flops / time * 1e-9);
    }
  }
  for (int rank : {8, 16}) {
    const int d = 50, count = 10000;
    // All products read the same two trains from memory, so the caches serve most reads.
    const Case<T> c(train(d, rank, false), train(d, rank, false));
    const double flops = count * per_product * 4.0 * rank * (1.0 + 2.0 * rank + 2.0 * (d - 2.0) * rank * rank);
    Device results(count * sizeof(purlin_tt_result), 0);
    for (int form = 0; form < 4; ++form) {
      purlin_tt_chain_params p = c.chain(true);
      p.results = results.address();
      const size_t shared = chain_shared<T>(form, c.edge);
      allow(forms.chain[form], shared);
      const double time = milliseconds([&] {
        forms.chain[form]<<<count, CHAIN_THREADS[form], shared>>>(p);
        CHECK(cudaGetLastError());
      });
      std::printf("%-5s batch rank %3d chain %c  %9.4f ms %8.3f TFLOP/s\n", name, rank, "abcd"[form], time, flops / time * 1e-9);
    }
  }
  for (int rank : {8, 16, 32, 64}) {
    const int d = 50, pairs = rank * rank;
    const Case<T> c(train(d, rank, true), train(d, rank, true));
    const double flops = per_product * 4.0 * rank * rank * rank * (1.0 + 2.0 * rank + 2.0 * (d - 2.0) * rank * rank);
    Device results(pairs * sizeof(purlin_tt_result), 0);
    for (int form = 0; form < 4; ++form) {
      const size_t shared = chain_shared<T>(form, c.edge);
      if (rank > CHAIN_RANK[form] || !allow(forms.chain[form], shared)) continue;
      purlin_tt_chain_params p = c.chain(true);
      p.pairs = pairs;
      p.results = results.address();
      const double time = milliseconds([&] {
        forms.chain[form]<<<pairs, CHAIN_THREADS[form], shared>>>(p);
        CHECK(cudaGetLastError());
      });
      std::printf("%-5s ring rank %4d chain %c  %9.4f ms %8.3f TFLOP/s\n", name, rank, "abcd"[form], time, flops / time * 1e-9);
    }
  }
}

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "both";
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("%s, %d multiprocessors, compute capability %d.%d\n", device.name, device.multiProcessorCount, device.major,
              device.minor);
  const Forms<float> f32 = FORMS(f32);
  const Forms<double> f64 = FORMS(f64);
  const Forms<tt::Complex<float>> cf32 = FORMS(cf32);
  const Forms<tt::Complex<double>> cf64 = FORMS(cf64);
  if (what != "time") {
    const bool small = what == "small";
    verify("f32", f32, small);
    verify("f64", f64, small);
    verify("cf32", cf32, small);
    verify("cf64", cf64, small);
    std::printf("%d checks, %d failures\n", checks, failures);
    std::fflush(stdout);
  }
  if (what != "verify" && what != "small") {
    time_all("f64", f64, 1.0);
    time_all("f32", f32, 1.0);
    time_all("cf64", cf64, 4.0);
    time_all("cf32", cf32, 4.0);
  }
  return failures ? 1 : 0;
}
