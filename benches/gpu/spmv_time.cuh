// Blocks of vectors, and times compared with cuSPARSE.
#ifndef SPMV_TIME_CUH
#define SPMV_TIME_CUH

#include <chrono>

// A product with a block of vectors, by one range of columns after another.
template <class T>
struct BlockCase {
  const Case<T> &c;
  int width, entries = 0;
  std::vector<T> x, y;
  Device in, out;
  struct Part {
    Graph g;
    Tiles tiles;
    Device row_ptr, columns, values, list, longs, partials;
  };
  std::vector<Part> parts;

  BlockCase(const Case<T> &of, int vectors, unsigned seed) : c(of), width(vectors) {
    std::mt19937 random(seed);
    x.resize(c.g.cols * width), y.resize(c.g.rows * width);
    for (T &e : x) e = Element<T>::make(Wide(random() * 0x1p-32 - 0.5, random() * 0x1p-32 - 0.5));
    for (T &e : y) e = Element<T>::make(Wide(random() * 0x1p-32 - 0.5, random() * 0x1p-32 - 0.5));
    in = Device(x), out = Device(y);
  }
  void prepare(int count) {
    parts.clear();
    for (int part = 0; part < count; ++part) {
      const int64_t first = c.g.cols * part / count, last = c.g.cols * (part + 1) / count;
      Part made;
      made.g.rows = c.g.rows, made.g.cols = c.g.cols;
      made.g.row_ptr.assign(1, 0);
      std::vector<T> values;
      for (int64_t r = 0; r < c.g.rows; ++r) {
        for (int32_t k = c.g.row_ptr[r]; k < c.g.row_ptr[r + 1]; ++k)
          if (c.g.columns[k] >= first && c.g.columns[k] < last) {
            made.g.columns.push_back(c.g.columns[k]);
            if (!c.pattern) values.push_back(c.values[k]);
          }
        made.g.row_ptr.push_back(static_cast<int32_t>(made.g.columns.size()));
      }
      // Fewer than for a vector, so that as many blocks as there are threads for fit; as the library does.
      entries = 512;
      while (entries * width * sizeof(T) > 40960) entries /= 2;
      made.tiles = cut_tiles(made.g, entries, PURLIN_LAUNCH_SPMV_TILE_ROWS);
      made.row_ptr = c.narrow ? Device(made.g.row_ptr) : Device(std::vector<int64_t>(made.g.row_ptr.begin(), made.g.row_ptr.end()));
      made.columns = Device(made.g.columns), made.values = Device(values);
      made.list = Device(made.tiles.list), made.longs = Device(made.tiles.longs);
      made.partials = Device(made.tiles.pieces * static_cast<size_t>(width) * sizeof(T), 0xff);
      made.g.columns = {}, made.g.row_ptr = {};
      parts.push_back(std::move(made));
    }
  }
  void multiply(Wide alpha, Wide beta) const {
    for (size_t at = 0; at < parts.size(); ++at) {
      const Part &part = parts[at];
      purlin_spmv_block_params p{};
      p.row_ptr = part.row_ptr.address(), p.columns = part.columns.address(), p.values = part.values.address();
      p.x = in.address(), p.y = out.address(), p.tiles = part.list.address(), p.partials = part.partials.address();
      p.x_stride = p.y_stride = width, p.width = width;
      p.alpha[0] = alpha.real(), p.alpha[1] = alpha.imag();
      const Wide kept = at == 0 ? beta : Wide(1.0);
      p.beta[0] = kept.real(), p.beta[1] = kept.imag();
      const bool is_wide = sizeof(T) < 16 && width * sizeof(T) % 16 == 0;
      const auto kernel = (is_wide ? kernels<T>().wide : kernels<T>().block)[c.narrow][c.pattern];
      if (part.tiles.count() > 0) kernel<<<part.tiles.count(), PURLIN_LAUNCH_SPMV_THREADS, entries * width * sizeof(T)>>>(p);
      const int longs = static_cast<int>(part.tiles.longs.size()) - 1;
      if (longs > 0) {
        p.tiles = part.longs.address(), p.count = longs;
        kernels<T>().block_join<<<blocks_for(int64_t{longs} * width, PURLIN_LAUNCH_SPMV_THREADS), PURLIN_LAUNCH_SPMV_THREADS>>>(p);
      }
    }
  }
  void reset(Wide beta) {
    if (beta == 0.0) CHECK(cudaMemset(out.at, 0xff, out.bytes));
    else CHECK(cudaMemcpy(out.at, y.data(), out.bytes, cudaMemcpyHostToDevice));
  }
  void compare(Wide alpha, Wide beta) const {
    const std::vector<T> got = out.template read<T>();
    const double eps = sizeof(typename Element<T>::Real) == 4 ? 0x1p-23 : 0x1p-52;
    double worst = 0.0;
    for (int64_t i = 0; i < c.g.rows; ++i)
      for (int k = 0; k < width; ++k) {
        Wide sum = 0.0;
        double moduli = 0.0;
        for (int32_t e = c.g.row_ptr[i]; e < c.g.row_ptr[i + 1]; ++e) {
          const Wide term = (c.pattern ? Wide(1.0) : Element<T>::wide(c.values[e])) *
                            Element<T>::wide(x[static_cast<int64_t>(c.g.columns[e]) * width + k]);
          sum += term, moduli += std::abs(term.real()) + std::abs(term.imag());
        }
        const Wide kept = beta == 0.0 ? 0.0 : beta * Element<T>::wide(y[i * width + k]);
        const double error = std::abs(Element<T>::wide(got[i * width + k]) - alpha * sum - kept);
        const double bound = 2.0 * (c.g.row_ptr[i + 1] - c.g.row_ptr[i] + 4) * eps * (std::abs(alpha) * moduli + std::abs(kept));
        const double ratio = error == 0.0 ? 0.0 : error / bound;
        if (!(ratio <= worst)) worst = ratio;
      }
    ++checks;
    if (!(worst <= 1.0)) {
      ++failures;
      std::printf("FAIL %s, block of %d by %zu parts: off by %g of the bound\n", c.g.name.c_str(), width, parts.size(), worst);
    }
  }
};

// Median microseconds of one of `work`, in batches of about 200 us.
inline double microseconds(const std::function<void()> &work) {
  cudaEvent_t from, to;
  CHECK(cudaEventCreate(&from));
  CHECK(cudaEventCreate(&to));
  const auto batch = [&](int repeats) {
    CHECK(cudaEventRecord(from));
    for (int i = 0; i < repeats; ++i) work();
    CHECK(cudaEventRecord(to));
    CHECK(cudaEventSynchronize(to));
    float time = 0.0f;
    CHECK(cudaEventElapsedTime(&time, from, to));
    return 1e3 * time / repeats;
  };
  batch(2);
  const int repeats = std::max(1, std::min(20, static_cast<int>(200.0 / batch(4))));
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) times.push_back(batch(repeats));
  CHECK(cudaGetLastError());
  CHECK(cudaEventDestroy(from));
  CHECK(cudaEventDestroy(to));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Row {
  std::string name;
  double time;
};

template <class T>
double time_peer(const Peer &peer, const Case<T> &c, int algorithm) {
  const int type = sizeof(T) == 4 ? 0 : 1;
  Peer::Handle a = nullptr, x = nullptr, y = nullptr;
  const T one = 1, zero = 0;
  size_t bytes = 0;
  const auto &g = c.g;
  int status = peer.create_csr(&a, g.rows, g.cols, g.nnz(), c.row_ptr.at, c.columns.at, c.value.at, PEER_INDEX_32, PEER_INDEX_32, PEER_BASE_0, type);
  status |= peer.create_vector(&x, g.cols, c.in.at, type) | peer.create_vector(&y, g.rows, c.out.at, type);
  status |= peer.mv_size(peer.handle, PEER_PLAIN, &one, a, x, &zero, y, type, algorithm, &bytes);
  const Device space(bytes + 16, 0);
  status |= peer.mv_prepare(peer.handle, PEER_PLAIN, &one, a, x, &zero, y, type, algorithm, space.at);
  if (status != 0) return INFINITY;
  return microseconds([&] { peer.mv(peer.handle, PEER_PLAIN, &one, a, x, &zero, y, type, algorithm, space.at); });
}

template <class T>
double time_peer_block(const Peer &peer, const Case<T> &c, const BlockCase<T> &b, int algorithm, int order) {
  const int type = sizeof(T) == 4 ? 0 : 1;
  Peer::Handle a = nullptr, x = nullptr, y = nullptr;
  const T one = 1, zero = 0;
  size_t bytes = 0;
  const auto &g = c.g;
  int status = peer.create_csr(&a, g.rows, g.cols, g.nnz(), c.row_ptr.at, c.columns.at, c.value.at, PEER_INDEX_32, PEER_INDEX_32, PEER_BASE_0, type);
  status |= peer.create_dense(&x, g.cols, b.width, order == PEER_BY_ROWS ? b.width : g.cols, b.in.at, type, order);
  status |= peer.create_dense(&y, g.rows, b.width, order == PEER_BY_ROWS ? b.width : g.rows, b.out.at, type, order);
  status |= peer.mm_size(peer.handle, PEER_PLAIN, PEER_PLAIN, &one, a, x, &zero, y, type, algorithm, &bytes);
  const Device space(bytes + 16, 0);
  status |= peer.mm_prepare(peer.handle, PEER_PLAIN, PEER_PLAIN, &one, a, x, &zero, y, type, algorithm, space.at);
  if (status != 0) return INFINITY;
  return microseconds([&] { peer.mm(peer.handle, PEER_PLAIN, PEER_PLAIN, &one, a, x, &zero, y, type, algorithm, space.at); });
}

template <class T>
void time_graph(const Peer *peer, const Graph &g, bool blocks, bool sweeps) {
  const char *type = sizeof(T) == 4 ? "f32" : "f64";
  const Ask ask;
  int32_t longest = 0;
  for (int64_t r = 0; r < g.rows; ++r) longest = std::max(longest, g.row_ptr[r + 1] - g.row_ptr[r]);
  std::printf("== %s %s: %lld rows, %lld entries, longest %d\n", g.name.c_str(), type, static_cast<long long>(g.rows),
              static_cast<long long>(g.nnz()), longest);
  double best_peer = INFINITY;
  for (bool pattern : {false, true}) {
    Case<T> c(g, pattern, true, 11);
    const auto show = [&](const std::string &name, double time) {
      const double bytes = g.nnz() * (4.0 + (pattern ? 0.0 : sizeof(T))) + g.rows * (4.0 + 2.0 * sizeof(T));
      std::printf("  %-34s %9.1f us %7.0f GB/s %6.2fx\n", (name + (pattern ? ", pattern" : "")).c_str(), time, bytes / time * 1e-3, best_peer / time);
    };
    if (!pattern && peer != nullptr)
      for (int algorithm : {PEER_MV_ALG1, PEER_MV_ALG2}) {
        const double time = time_peer(*peer, c, algorithm);
        best_peer = std::min(best_peer, time);
        show(algorithm == PEER_MV_ALG1 ? "cuSPARSE CSR_ALG1" : "cuSPARSE CSR_ALG2", time);
      }
    const auto run = [&](const std::string &name, const Product &product) {
      if (!product) return;
      c.reset(ask);
      product(ask);
      c.compare(name.c_str(), ask);
      show(name, microseconds([&] { product(ask); }));
    };
    int group = 1;
    while (group < 32 && group * g.rows < g.nnz()) group *= 2;
    if (!pattern && longest < 1000) run("rows 1", by_rows(c, 1));
    if (!pattern && g.nnz() < 5000000) run("rows 32", by_rows(c, 32));
    run("rows " + std::to_string(group) + " (as published)", by_rows(c, group));
    if (group > 1 && longest < 1000) run("rows " + std::to_string(group / 2), by_rows(c, group / 2));
    run("bins", by_bins(c));
    run("merge", by_merge(c));
    run("tiles", by_tiles(c, false));
    run("short tiles", by_tiles(c, true));
    if (sweeps) {
      const int64_t width = 65536 / sizeof(T);
      const int capacity = sizeof(T) == 8 ? 6144 : 8192;
      run("sweeps", by_sweeps(c, {width, capacity, int64_t{1} << 40, 16384, 16}));
    }
    if (blocks && !pattern) {
      BlockCase<T> b(c, 4, 12);
      double best = INFINITY;
      const auto show_block = [&](const std::string &name, double time) { std::printf("  %-34s %9.1f us         %6.2fx\n", name.c_str(), time, best / time); };
      if (peer != nullptr)
        for (int order : {PEER_BY_ROWS, PEER_BY_COLUMNS})
          for (int algorithm : {PEER_MM_ALG1, PEER_MM_ALG2}) {
            const double time = time_peer_block(*peer, c, b, algorithm, order);
            best = std::min(best, time);
            show_block(std::string("cuSPARSE SpMM 4, ") + (order == PEER_BY_ROWS ? "rows" : "columns") + (algorithm == PEER_MM_ALG1 ? " ALG1" : " ALG2"), time);
          }
      for (int parts : {1}) {
        b.prepare(parts);
        b.reset(0.0);
        b.multiply(1.0, 0.0);
        b.compare(1.0, 0.0);
        show_block("block of 4, " + std::to_string(parts) + " ranges", microseconds([&] { b.multiply(1.0, 0.0); }));
      }
    }
  }
  std::fflush(stdout);
}

inline const Peer *peer_or_none() {
  static Peer peer;
  static const bool found = peer.open();
  if (!found) std::printf("cuSPARSE is not here\n");
  return found ? &peer : nullptr;
}

inline void time_all(const std::vector<std::string> &files) {
  const Peer *peer = peer_or_none();
  const auto both = [&](const Graph &g, bool blocks, bool sweeps) {
    time_graph<double>(peer, g, blocks, sweeps);
    time_graph<float>(peer, g, false, sweeps);
  };
  both(preferential(1600000, 3), true, true);
  {
    const Graph g = rmat(21, 8);
    both(g, true, true);
    both(by_degree(g), false, true);
  }
  for (const std::string &file : files) {
    const Graph g = read_graph(file);
    if (g.rows == 0) std::printf("%s cannot be read\n", file.c_str());
    else both(g, false, g.nnz() > 1000000);
  }
  both(mesh(1200), false, false);
  both(poisson(100), false, false);
  both(poisson(256), false, false);
}

// Finds the best sizes of the sweeps' tiles and units.
inline void tune_all() {
  const Ask ask;
  for (const Graph &g : {preferential(1600000, 3), rmat(20, 8)}) {
    std::printf("== %s: bytes of a number, width, capacity, unit, lanes, threads; both, first, second\n", g.name.c_str());
    const auto with = [&](auto zero) {
      using T = decltype(zero);
      Case<T> c(g, false, true, 11);
      const int64_t all = int64_t{1} << 40;
      const int64_t w = 65536 / sizeof(T);
      const int cap = 49152 / sizeof(T);
      for (const SweepChoice &choice :
           {SweepChoice{w, cap, all, 16384, 16}, SweepChoice{w, cap, all, 16384, 32}, SweepChoice{w, cap, all, 8192, 16},
            SweepChoice{w, cap, all, 32768, 16}, SweepChoice{w / 2, cap, all, 8192, 16, 256, 512}, SweepChoice{2 * w, cap, all, 32768, 16, 1024, 512},
            SweepChoice{w, cap / 2, all, 16384, 8, 512, 256}, SweepChoice{w, cap / 2, all, 16384, 16, 512, 512},
            SweepChoice{w, cap, all, 16384, 16, 512, 1024}, SweepChoice{w, 2 * cap, all, 16384, 32, 512, 1024},
            SweepChoice{2 * w, 2 * cap, all, 32768, 32, 1024, 1024}}) {
        double times[3];
        for (int part : {0, 1, 2}) {
          SweepChoice one = choice;
          one.part = part;
          const Product product = by_sweeps(c, one);
          if (!product) { times[part] = INFINITY; continue; }
          times[part] = microseconds([&] { product(ask); });
        }
        std::printf("  %zu: %6lld %6d %6d %3d %4d %4d %9.1f %9.1f %9.1f us\n", sizeof(T), static_cast<long long>(choice.width), choice.capacity, choice.unit,
                    choice.lanes, choice.spread_threads, choice.collect_threads, times[0], times[1], times[2]);
        std::fflush(stdout);
      }
    };
    with(double());
    with(float());
  }
}

#endif
