// Verifies and times the kernels of sparse products by themselves, without the library.
//   nvcc -std=c++17 -O3 --expt-relaxed-constexpr -gencode arch=compute_90,code=sm_90 -cudart static -I../../cuda \
//        -o spmv_kernels spmv_kernels.cu -ldl
//   ./spmv_kernels verify | time | tune | all [FILE...]
// Exit status 1 if a check failed. Verification compares every element with a loop in double precision, within
// 2 (length + 2) eps of the sum of the moduli, in outputs that hold NaN. Times are medians of 15, by device events, of
// products on resident data; cuSPARSE, where it is found, is timed on the same arrays after its own preprocessing. FILEs hold
// matrices as spmv_graphs.cuh reads them.
#include <complex>
#include <cstdlib>
#include <functional>
#include <memory>

#include "spmv.cu"
#include "spmv_peer.cuh"
#include "spmv_plans.cuh"

#define CHECK(call)                                                                                      \
  do {                                                                                                   \
    const cudaError_t error_ = (call);                                                                   \
    if (error_ != cudaSuccess) {                                                                         \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));    \
      std::exit(2);                                                                                      \
    }                                                                                                    \
  } while (0)

using Wide = std::complex<double>;
using purlin::spmv::Pair;

static int checks = 0, failures = 0;

// Device memory that is freed with its owner.
struct Device {
  void *at = nullptr;
  size_t bytes = 0;
  Device() = default;
  Device(size_t size, int value) : bytes(size) {
    CHECK(cudaMalloc(&at, size > 0 ? size : 16));
    CHECK(cudaMemset(at, value, size));
  }
  template <class T>
  explicit Device(const std::vector<T> &from) : Device(from.size() * sizeof(T), 0) {
    if (bytes > 0) CHECK(cudaMemcpy(at, from.data(), bytes, cudaMemcpyHostToDevice));
  }
  Device(Device &&other) noexcept : at(other.at), bytes(other.bytes) { other.at = nullptr; }
  Device &operator=(Device &&other) noexcept {
    std::swap(at, other.at), std::swap(bytes, other.bytes);
    return *this;
  }
  Device(const Device &) = delete;
  ~Device() { cudaFree(at); }
  uint64_t address() const { return reinterpret_cast<uint64_t>(at); }
  template <class T>
  std::vector<T> read() const {
    std::vector<T> to(bytes / sizeof(T));
    if (bytes > 0) CHECK(cudaMemcpy(to.data(), at, bytes, cudaMemcpyDeviceToHost));
    return to;
  }
};

template <class T>
struct Element {
  using Real = T;
  static Wide scalar(Wide z) { return z.real(); }
  static T make(Wide z) { return static_cast<T>(z.real()); }
  static Wide wide(T x) { return x; }
};
template <class R>
struct Element<Pair<R>> {
  using Real = R;
  static Wide scalar(Wide z) { return z; }
  static Pair<R> make(Wide z) { return {static_cast<R>(z.real()), static_cast<R>(z.imag())}; }
  static Wide wide(Pair<R> x) { return {x.re, x.im}; }
};

// The kernels of a type: [whether offsets are int32][whether there are no values].
template <class T>
struct Kernels {
  using Plain = void (*)(purlin_spmv_params);
  using Block = void (*)(purlin_spmv_block_params);
  Plain rows[2][2], bins[2][2], tiles[2][2], short_tiles[2][2], merge[2][2];
  Block block[2][2], wide[2][2];
  void (*collect[2])(purlin_spmv_collect_params);
  Plain mend[2];
  Block block_join;
  void (*spread[2])(purlin_spmv_spread_params);
  void (*permute)(purlin_spmv_permute_params);
};
#define BOTH(NAME, S) {{purlin_spmv_##NAME##_##S, purlin_spmv_##NAME##_##S##_pattern}, {purlin_spmv_##NAME##_narrow_##S, purlin_spmv_##NAME##_narrow_##S##_pattern}}
#define KERNELS(T, S)                                                                                             \
  template <>                                                                                                     \
  const Kernels<T> &kernels<T>() {                                                                                \
    static const Kernels<T> all{BOTH(rows, S), BOTH(bins, S), BOTH(tiles, S), BOTH(short_tiles, S), BOTH(merge, S), BOTH(block, S),      \
                                BOTH(block_wide, S), {purlin_spmv_collect_##S, purlin_spmv_collect_narrow_##S},    \
                                {purlin_spmv_mend_##S, purlin_spmv_mend_narrow_##S},                                \
                                purlin_spmv_block_join_##S, {purlin_spmv_spread_##S, purlin_spmv_spread_##S##_pattern}, purlin_spmv_permute_##S}; \
    return all;                                                                                                   \
  }
template <class T>
const Kernels<T> &kernels();
KERNELS(float, f32)
KERNELS(double, f64)
#ifndef PURLIN_SPMV_REAL_ONLY
KERNELS(Pair<float>, cf32)
KERNELS(Pair<double>, cf64)
#endif

// Options of a product: factors, shift, row scaling and diagonal.
struct Ask {
  Wide alpha = 1.0, beta = 0.0;
  double gamma = 0.0, shift = 0.0;
  bool scale = false, diagonal = false;
};

// A matrix on the device, with vectors.
template <class T>
struct Case {
  const Graph &g;
  bool pattern, narrow;
  std::vector<T> values, x, y, z;
  std::vector<typename Element<T>::Real> scale, diagonal;
  // A x in double precision, and the same of the moduli.
  std::vector<Wide> sums;
  std::vector<double> moduli;
  Device row_ptr, columns, value, in, out, third, scales, diagonals, factor;

  Case(const Graph &graph, bool is_pattern, bool is_narrow, unsigned seed)
      : g(graph), pattern(is_pattern), narrow(is_narrow) {
    std::mt19937 random(seed);
    const auto number = [&] { return Element<T>::make(Wide(random() * 0x1p-32 - 0.5, random() * 0x1p-32 - 0.5)); };
    const auto fill = [&](std::vector<T> &v, int64_t n) {
      v.resize(n);
      for (T &e : v) e = number();
    };
    fill(values, pattern ? 0 : g.nnz()), fill(x, std::max(g.cols, g.rows)), fill(y, g.rows), fill(z, g.rows);
    scale.resize(g.rows), diagonal.resize(g.rows);
    for (auto &s : scale) s = static_cast<typename Element<T>::Real>(random() * 0x1p-32);
    for (auto &d : diagonal) d = static_cast<typename Element<T>::Real>(random() * 0x1p-32);
    sums.resize(g.rows), moduli.resize(g.rows);
    for (int64_t i = 0; i < g.rows; ++i)
      for (int32_t k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
        Wide term = Element<T>::wide(x[g.columns[k]]);
        if (!pattern) term *= Element<T>::wide(values[k]);
        sums[i] += term, moduli[i] += std::abs(term.real()) + std::abs(term.imag());
      }
    if (narrow) row_ptr = Device(g.row_ptr);
    else row_ptr = Device(std::vector<int64_t>(g.row_ptr.begin(), g.row_ptr.end()));
    columns = Device(g.columns), value = Device(values), in = Device(x), out = Device(y), third = Device(z);
    scales = Device(scale), diagonals = Device(diagonal), factor = Device(std::vector<double>{0.75});
  }
  purlin_spmv_finish finish(const Ask &ask) const {
    purlin_spmv_finish f{};
    f.y = out.address();
    if (ask.shift != 0.0 || ask.diagonal) f.x = in.address();
    if (ask.gamma != 0.0) f.z = third.address(), f.gamma = ask.gamma, f.gamma_factor = f.alpha_factor = factor.address();
    if (ask.scale) f.scale = scales.address();
    if (ask.diagonal) f.diagonal = diagonals.address();
    f.alpha[0] = ask.alpha.real(), f.alpha[1] = ask.alpha.imag(), f.beta[0] = ask.beta.real(), f.beta[1] = ask.beta.imag();
    f.shift[0] = ask.shift, f.weight[0] = 1.0;
    return f;
  }
  purlin_spmv_params params(const Ask &ask) const {
    purlin_spmv_params p{};
    p.row_ptr = row_ptr.address(), p.columns = columns.address(), p.values = value.address(), p.gathered = in.address();
    p.rows = g.rows, p.finish = finish(ask);
    return p;
  }
  // Fills y anew: NaN where nothing of it may be read.
  void reset(const Ask &ask) {
    if (ask.beta == 0.0) CHECK(cudaMemset(out.at, 0xff, out.bytes));
    else CHECK(cudaMemcpy(out.at, y.data(), out.bytes, cudaMemcpyHostToDevice));
  }
  void compare(const char *what, const Ask &ask) const {
    const std::vector<T> got = out.template read<T>();
    const double eps = sizeof(typename Element<T>::Real) == 4 ? 0x1p-23 : 0x1p-52;
    const double f = ask.gamma != 0.0 ? 0.75 : 1.0;
    double worst = 0.0;
    int64_t where = 0;
    for (int64_t i = 0; i < g.rows; ++i) {
      const double r = ask.scale ? scale[i] : 1.0, d = ask.shift + (ask.diagonal ? diagonal[i] : 0.0);
      const Wide kept = ask.beta == 0.0 ? 0.0 : ask.beta * Element<T>::wide(y[i]);
      const Wide own = d * Element<T>::wide(x[i]), more = ask.gamma * f * Element<T>::wide(z[i]);
      const Wide want = ask.alpha * f * r * sums[i] + own + more + kept;
      const double size = std::abs(ask.alpha) * f * r * moduli[i] + std::abs(own) + std::abs(more) + std::abs(kept);
      const double error = std::abs(Element<T>::wide(got[i]) - want), bound = 2.0 * (g.row_ptr[i + 1] - g.row_ptr[i] + 4) * eps * size;
      const double ratio = error == 0.0 ? 0.0 : error / bound;
      if (!(ratio <= worst)) worst = ratio, where = i;
    }
    ++checks;
    if (!(worst <= 1.0)) {
      ++failures;
      std::printf("FAIL %s, %s: row %lld is off by %g of the bound\n", g.name.c_str(), what, static_cast<long long>(where), worst);
    }
  }
};

static unsigned blocks_for(int64_t items, int64_t threads) { return static_cast<unsigned>((items + threads - 1) / threads); }

// A method of multiplication, with its prepared data.
using Product = std::function<void(const Ask &)>;

template <class T>
Product by_rows(const Case<T> &c, int lanes) {
  return [&c, lanes](const Ask &ask) {
    purlin_spmv_params p = c.params(ask);
    p.lanes = lanes;
    if (c.g.rows > 0) kernels<T>().rows[c.narrow][c.pattern]<<<blocks_for(c.g.rows * lanes, PURLIN_LAUNCH_SPMV_THREADS), PURLIN_LAUNCH_SPMV_THREADS>>>(p);
  };
}

// Workspace of the pieces of long rows.
struct Pieces {
  Device partials, longs, owners, arrivals;
  Pieces(const std::vector<purlin_spmv_long> &list, int32_t pieces, size_t element)
      : partials(pieces * element, 0xff), longs(list), owners(owners_of(list)), arrivals(4 * list.size(), 0) {}
  static Device owners_of(const std::vector<purlin_spmv_long> &list) {
    std::vector<int32_t> owners;
    for (size_t k = 0; k + 1 < list.size(); ++k) owners.resize(list[k + 1].piece, static_cast<int32_t>(k));
    return Device(owners);
  }
  purlin_spmv_pieces params() const { return {partials.address(), longs.address(), owners.address(), arrivals.address()}; }
};

template <class T>
Product by_tiles(const Case<T> &c, bool is_short) {
  const Tiles tiles = cut_tiles(c.g, is_short ? PURLIN_LAUNCH_SPMV_SHORT_TILE : PURLIN_LAUNCH_SPMV_TILE, PURLIN_LAUNCH_SPMV_TILE_ROWS);
  auto list = std::make_shared<Device>(tiles.list);
  auto pieces = std::make_shared<Pieces>(tiles.longs, tiles.pieces, sizeof(T));
  const int count = tiles.count();
  return [&c, list, pieces, count, is_short](const Ask &ask) {
    purlin_spmv_params p = c.params(ask);
    p.tiles = list->address(), p.pieces = pieces->params(), p.count = count;
    const auto kernel = (is_short ? kernels<T>().short_tiles : kernels<T>().tiles)[c.narrow][c.pattern];
    if (count > 0) kernel<<<count, PURLIN_LAUNCH_SPMV_THREADS>>>(p);
  };
}

template <class T>
Product by_merge(const Case<T> &c) {
  const auto path = cut_path(c.g, PURLIN_LAUNCH_SPMV_MERGE_TILE);
  auto list = std::make_shared<Device>(path);
  const int count = static_cast<int>(path.size()) - 1;
  auto partials = std::make_shared<Device>(count * sizeof(T), 0xff);
  return [&c, list, partials, count](const Ask &ask) {
    if (count == 0) return;
    purlin_spmv_params p = c.params(ask);
    p.tiles = list->address(), p.pieces.partials = partials->address(), p.count = count;
    kernels<T>().merge[c.narrow][c.pattern]<<<count, PURLIN_LAUNCH_SPMV_MERGE_THREADS>>>(p);
    kernels<T>().mend[c.narrow]<<<blocks_for(count, PURLIN_LAUNCH_SPMV_THREADS), PURLIN_LAUNCH_SPMV_THREADS>>>(p);
  };
}

template <class T>
Product by_bins(const Case<T> &c, int longest = 1024) {
  const Bins bins = cut_bins(c.g, longest);
  auto list = std::make_shared<Device>(bins.list), order = std::make_shared<Device>(bins.order);
  auto pieces = std::make_shared<Pieces>(bins.longs, bins.pieces, sizeof(T));
  const int count = static_cast<int>(bins.list.size());
  return [&c, list, order, pieces, count](const Ask &ask) {
    purlin_spmv_params p = c.params(ask);
    p.tiles = list->address(), p.pieces = pieces->params(), p.order = order->address(), p.count = count;
    if (count > 0) kernels<T>().bins[c.narrow][c.pattern]<<<count, PURLIN_LAUNCH_SPMV_THREADS>>>(p);
  };
}

struct SweepChoice {
  int64_t width;
  int capacity;
  int64_t panel;
  int unit, lanes;
  int spread_threads = PURLIN_LAUNCH_SPMV_SPREAD_THREADS, collect_threads = PURLIN_LAUNCH_SPMV_SPREAD_THREADS;
  int part = 0;  // 1: the first sweep alone, 2: the second
};

// Sweeps by blocks of other sizes than the library's.
template <class T, int THREADS>
__global__ void __launch_bounds__(THREADS) other_spread(const __grid_constant__ purlin_spmv_spread_params p) {
  purlin::spmv::spread<T, false, THREADS>(p);
}
template <class T, int THREADS>
__global__ void __launch_bounds__(THREADS) other_collect(const __grid_constant__ purlin_spmv_collect_params p) {
  purlin::spmv::collect<T, int32_t, THREADS>(p);
}

template <class T>
Product by_sweeps(const Case<T> &c, SweepChoice choice) {
  auto s = std::make_shared<Sweeps>(cut_sweeps(c.g, choice.width, choice.capacity, choice.panel, choice.unit));
  std::vector<T> values;
  if (!c.pattern) {
    values.assign(s->source.size(), Element<T>::make(0.0));
    for (size_t k = 0; k < values.size(); ++k)
      if (s->source[k] >= 0) values[k] = c.values[s->source[k]];
  }
  struct Arrays {
    Device units, columns, values, products, tiles, runs, offsets, places;
    Pieces pieces;
  };
  auto a = std::make_shared<Arrays>(Arrays{Device(s->units), Device(s->columns), Device(values), Device(s->most * sizeof(T), 0xff),
                                           Device(s->tiles.list), Device(s->runs), Device(s->offsets), Device(s->places),
                                           Pieces(s->tiles.longs, s->tiles.pieces, sizeof(T))});
  s->source = {}, s->runs = {}, s->offsets = {}, s->places = {}, s->columns = {};
  const size_t spread_shared = s->width * sizeof(T);
  const size_t collect_shared = s->capacity * (sizeof(T) + 2) + s->blocks * 4 + (s->blocks + 1) * 2;
  // All shared memory: the attribute belongs to the kernel, not to the launch.
  const auto allow = [](auto kernel, size_t shared) {
    return shared <= 220 << 10 && cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 << 10) == cudaSuccess;
  };
  auto spread = kernels<T>().spread[c.pattern];
  auto collect = kernels<T>().collect[c.narrow];
  if (choice.spread_threads == 256) spread = other_spread<T, 256>;
  if (choice.spread_threads == 1024) spread = other_spread<T, 1024>;
  if (choice.collect_threads == 256) collect = other_collect<T, 256>;
  if (choice.collect_threads == 1024) collect = other_collect<T, 1024>;
  if (!allow(spread, spread_shared) || !allow(collect, collect_shared)) {
    cudaGetLastError();
    return {};
  }
  return [&c, s, a, spread, collect, spread_shared, collect_shared, choice](const Ask &ask) {
    for (const Panel &panel : s->panels) {
      purlin_spmv_spread_params q{};
      q.units = a->units.address() + panel.first_unit * sizeof(purlin_spmv_unit);
      q.columns = a->columns.address(), q.values = a->values.address(), q.gathered = c.in.address();
      q.products = a->products.address(), q.length = c.g.cols, q.first = panel.first_entry, q.width = s->width;
      if (panel.units > 0 && choice.part != 2) spread<<<panel.units, choice.spread_threads, spread_shared>>>(q);
      purlin_spmv_collect_params p{};
      p.row_ptr = c.row_ptr.address(), p.tiles = a->tiles.address() + panel.first_tile * sizeof(purlin_spmv_tile);
      p.runs = a->runs.address() + panel.first_tile * s->blocks * 4;
      p.offsets = a->offsets.address() + panel.first_tile * (s->blocks + 1) * 2;
      p.places = a->places.address() + panel.first_tile * s->capacity * 2;
      p.products = a->products.address(), p.pieces = a->pieces.params();
      p.blocks = s->blocks, p.capacity = s->capacity, p.lanes = choice.lanes, p.finish = c.finish(ask);
      if (choice.part != 1) collect<<<panel.tiles, choice.collect_threads, collect_shared>>>(p);
    }
  };
}

// The sweeps as the library prepares them: sorted on the device.
template <class T>
Product by_prepared_sweeps(const Case<T> &c, int64_t width, int capacity, int unit) {
  struct Arrays {
    Device tiles, runs, offsets, places, columns, sources, units, values, products;
    Pieces pieces;
    int tile_count, unit_count;
  };
  const Tiles tiles = cut_tiles(c.g, capacity, 1 << 14);
  const int64_t blocks = std::max<int64_t>(1, (c.g.cols + width - 1) / width), count = tiles.count();
  const int64_t most = c.g.nnz() + blocks * (PURLIN_LAUNCH_SPMV_PAD - 1);
  auto a = std::make_shared<Arrays>(Arrays{Device(tiles.list), Device(4 * count * blocks, 0xff), Device(2 * count * (blocks + 1), 0xff),
                                           Device(2 * count * capacity, 0xff), Device(2 * most, 0), Device(4 * most, 0xff), Device(), Device(),
                                           Device(), Pieces(tiles.longs, tiles.pieces, sizeof(T)), static_cast<int>(count), 0});
  const Device totals(4 * blocks, 0xff);
  purlin_spmv_prepare_params p{c.columns.address(), a->tiles.address(), a->runs.address(), a->offsets.address(), a->places.address(),
                               totals.address(), a->columns.address(), a->sources.address(), blocks, width, capacity, count};
  if (count > 0) purlin_spmv_count<<<static_cast<unsigned>(count), PURLIN_LAUNCH_SPMV_THREADS, 4 * blocks>>>(p);
  purlin_spmv_accumulate<<<static_cast<unsigned>(blocks), PURLIN_LAUNCH_SPMV_THREADS, 0>>>(p);
  std::vector<uint32_t> begins = totals.read<uint32_t>();
  std::vector<purlin_spmv_unit> units;
  int64_t at = 0;
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t filled = (int64_t{begins[b]} + PURLIN_LAUNCH_SPMV_PAD - 1) / PURLIN_LAUNCH_SPMV_PAD * PURLIN_LAUNCH_SPMV_PAD;
    begins[b] = static_cast<uint32_t>(at);
    for (int64_t k = 0; k < filled; k += unit)
      units.push_back({at + k, static_cast<int32_t>(std::min<int64_t>(unit, filled - k)), static_cast<int32_t>(b)});
    at += filled;
  }
  CHECK(cudaMemcpy(totals.at, begins.data(), totals.bytes, cudaMemcpyHostToDevice));
  if (count > 0) purlin_spmv_place<<<static_cast<unsigned>(count), PURLIN_LAUNCH_SPMV_THREADS, 8 * blocks>>>(p);
  a->units = Device(units), a->unit_count = static_cast<int>(units.size());
  a->products = Device(at * sizeof(T), 0xff);
  if (!c.pattern) {
    a->values = Device(at * sizeof(T), 0xff);
    purlin_spmv_permute_params q{a->sources.address(), c.value.address(), a->values.address(), at};
    if (at > 0) kernels<T>().permute<<<blocks_for(at, PURLIN_LAUNCH_SPMV_THREADS), PURLIN_LAUNCH_SPMV_THREADS, 0>>>(q);
  }
  CHECK(cudaDeviceSynchronize());
  const size_t spread_shared = width * sizeof(T), collect_shared = capacity * (sizeof(T) + 2) + blocks * 4 + (blocks + 1) * 2;
  CHECK(cudaFuncSetAttribute(kernels<T>().spread[c.pattern], cudaFuncAttributeMaxDynamicSharedMemorySize, 220 << 10));
  CHECK(cudaFuncSetAttribute(kernels<T>().collect[c.narrow], cudaFuncAttributeMaxDynamicSharedMemorySize, 220 << 10));
  return [&c, a, blocks, width, capacity, spread_shared, collect_shared](const Ask &ask) {
    const purlin_spmv_spread_params q{a->units.address(), a->columns.address(), a->values.address(), c.in.address(), a->products.address(),
                                      c.g.cols, 0, width};
    const auto spread = kernels<T>().spread[c.pattern];
    const auto collect = kernels<T>().collect[c.narrow];
    if (a->unit_count > 0) spread<<<a->unit_count, PURLIN_LAUNCH_SPMV_SPREAD_THREADS, spread_shared>>>(q);
    const purlin_spmv_collect_params p{c.row_ptr.address(), a->tiles.address(), a->runs.address(), a->offsets.address(), a->places.address(),
                                       a->products.address(), blocks, capacity, 16, a->pieces.params(), c.finish(ask)};
    if (a->tile_count > 0) collect<<<a->tile_count, PURLIN_LAUNCH_SPMV_SPREAD_THREADS, collect_shared>>>(p);
  };
}

#include "spmv_time.cuh"
#include "spmv_verify.cuh"

int main(int count, char **arguments) {
  const std::string mode = count > 1 ? arguments[1] : "all";
  std::vector<std::string> files(arguments + std::min(count, 2), arguments + count);
  if (mode == "verify" || mode == "all") verify_all();
  std::fflush(stdout);
  if (mode == "time" || mode == "all") time_all(files);
  if (mode == "tune") tune_all();
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures > 0 ? 1 : 0;
}
