// Small and odd matrices through every kernel.
#ifndef SPMV_VERIFY_CUH
#define SPMV_VERIFY_CUH

inline Graph random_graph(std::string name, int64_t rows, int64_t cols, const std::function<int64_t(int64_t)> &length, unsigned seed) {
  std::mt19937_64 random(seed);
  Graph g;
  g.name = std::move(name), g.rows = rows, g.cols = cols;
  g.row_ptr.push_back(0);
  for (int64_t r = 0; r < rows; ++r) {
    const size_t begin = g.columns.size();
    for (int64_t k = std::min(length(r), 4 * cols); k > 0; --k) g.columns.push_back(static_cast<int32_t>(random() % cols));
    std::sort(g.columns.begin() + begin, g.columns.end());
    g.row_ptr.push_back(static_cast<int32_t>(g.columns.size()));
  }
  return g;
}

template <class T>
void verify_case(const Graph &g, bool pattern, bool narrow) {
  Case<T> c(g, pattern, narrow, 5);
  std::vector<std::pair<std::string, Product>> all;
  for (int lanes : {1, 2, 8, 32}) all.emplace_back("rows " + std::to_string(lanes), by_rows(c, lanes));
  all.emplace_back("tiles", by_tiles(c, false));
  all.emplace_back("short tiles", by_tiles(c, true));
  all.emplace_back("merge", by_merge(c));
  all.emplace_back("bins", by_bins(c));
  all.emplace_back("sweeps", by_sweeps(c, {64, 1024, 1 << 30, 4096, 32}));
  all.emplace_back("sweeps of panels", by_sweeps(c, {1000, 2048, 6000, 160, 8}));
  all.emplace_back("prepared sweeps", by_prepared_sweeps(c, 512, 1024, 160));
  Ask asks[4];
  asks[1].alpha = Element<T>::scalar({-0.5, 0.25}), asks[1].beta = Element<T>::scalar({2.0, -1.0});
  asks[2].alpha = -1.0, asks[2].scale = asks[2].diagonal = true;
  asks[3].alpha = 3.0, asks[3].gamma = -0.5, asks[3].shift = 1.5, asks[3].beta = 0.5;
  for (const auto &[name, product] : all)
    for (const Ask &ask : asks) {
      if (g.rows != g.cols && (ask.shift != 0.0 || ask.diagonal)) continue;
      if (!product) {
        ++failures;
        std::printf("FAIL %s, %s: not to be launched\n", g.name.c_str(), name.c_str());
        continue;
      }
      std::vector<unsigned char> first;
      for (int run = 0; run < 2; ++run) {
        c.reset(ask);
        product(ask);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        const auto bits = c.out.template read<unsigned char>();
        if (run == 0) {
          c.compare(name.c_str(), ask);
          first = bits;
        } else if (++checks; bits != first) {
          ++failures;
          std::printf("FAIL %s, %s: other bits the second time\n", g.name.c_str(), name.c_str());
        }
      }
    }
}

template <class T>
void verify_block(const Graph &g, bool pattern, bool narrow, int width) {
  Case<T> c(g, pattern, narrow, 6);
  BlockCase<T> b(c, width, 7);
  for (int parts : {1, 3})
    for (int ask = 0; ask < 2; ++ask) {
      const Wide alpha = ask == 0 ? Wide(1.0) : Element<T>::scalar({0.5, -1.0});
      const Wide beta = ask == 0 ? Wide(0.0) : Element<T>::scalar({-2.0, 0.5});
      b.prepare(parts);
      b.reset(beta);
      b.multiply(alpha, beta);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      b.compare(alpha, beta);
    }
}

template <class T>
void verify_type(const char *name) {
  const int before = failures;
  const auto lengths = [](int64_t r) { return r % 11 == 3 ? 0 : r * r * 7 % 40; };
  const Graph graphs[] = {
      random_graph("1 x 1", 1, 1, [](int64_t) { return 1; }, 1),
      random_graph("1 x 1, empty", 1, 1, [](int64_t) { return 0; }, 1),
      random_graph("5000 empty rows", 5000, 5000, [](int64_t) { return 0; }, 1),
      random_graph("2 x 7", 2, 7, [](int64_t) { return 5; }, 1),
      random_graph("one row holds all", 1, 9973, [](int64_t) { return 30011; }, 2),
      random_graph("hub in the middle", 997, 997, [](int64_t r) { return r == 500 ? 3900 : 3; }, 3),
      random_graph("hubs beside each other", 4001, 4001, [](int64_t r) { return r > 1998 && r < 2003 ? 9001 : (r % 5 == 0 ? 0 : 2); }, 4),
      random_graph("odd lengths", 3001, 3001, lengths, 5),
      random_graph("wide", 257, 100003, [](int64_t r) { return 64 + r % 3; }, 6),
      random_graph("tall", 40009, 13, [](int64_t r) { return r % 4; }, 7),
      random_graph("half empty", 20011, 20011, [](int64_t r) { return r < 10000 ? 0 : 6; }, 8),
      random_graph("one entry each, then a row of 2048", 2300, 2300, [](int64_t r) { return r == 2200 ? 2048 : 1; }, 9),
  };
  for (const Graph &g : graphs)
    for (bool pattern : {false, true}) {
      verify_case<T>(g, pattern, true);
      if (g.rows < 5000) verify_case<T>(g, pattern, false);
      for (int width : {1, 2, 3, 4, 7, 8, 16}) {
        if (g.rows < 5000 || width == 4) verify_block<T>(g, pattern, width % 2 == 0, width);
      }
    }
  std::printf("verified %s: %d failures\n", name, failures - before);
  std::fflush(stdout);
}

inline void verify_all() {
  verify_type<float>("f32");
  verify_type<double>("f64");
#ifndef PURLIN_SPMV_REAL_ONLY
  verify_type<Pair<float>>("cf32");
  verify_type<Pair<double>>("cf64");
#endif
}

#endif
