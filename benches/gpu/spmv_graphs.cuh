// Matrices to multiply with: graphs by preferential attachment and R-MAT, meshes, Poisson; files; the order by degree.
#ifndef SPMV_GRAPHS_CUH
#define SPMV_GRAPHS_CUH

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

struct Graph {
  std::string name;
  int64_t rows = 0, cols = 0;
  std::vector<int32_t> row_ptr, columns;
  int64_t nnz() const { return static_cast<int64_t>(columns.size()); }
};

// Both directions of each edge, once; columns ascend. By a counting sort by column, then one by row.
inline Graph undirected(std::string name, int64_t n, const std::vector<std::pair<int32_t, int32_t>> &edges) {
  std::vector<int64_t> start(n + 1, 0);
  for (const auto &e : edges) ++start[e.first + 1], ++start[e.second + 1];
  for (int64_t i = 0; i < n; ++i) start[i + 1] += start[i];
  std::vector<int32_t> other(start[n]);
  std::vector<int64_t> next(start.begin(), start.end() - 1);
  for (const auto &e : edges) other[next[e.first]++] = e.second, other[next[e.second]++] = e.first;
  Graph g;
  g.name = std::move(name);
  g.rows = g.cols = n;
  g.row_ptr.assign(n + 1, 0);
  g.columns.reserve(other.size());
  for (int64_t i = 0; i < n; ++i) {
    const auto begin = other.begin() + start[i], end = other.begin() + start[i + 1];
    std::sort(begin, end);
    g.columns.insert(g.columns.end(), begin, std::unique(begin, end));
    g.row_ptr[i + 1] = static_cast<int32_t>(g.columns.size());
  }
  return g;
}

// Each new vertex has `m` edges to ends of earlier edges.
inline Graph preferential(int64_t n, int m) {
  std::mt19937_64 random(1);
  std::vector<int32_t> ends;
  std::vector<std::pair<int32_t, int32_t>> edges;
  ends.reserve(2 * n * m), edges.reserve(n * m);
  for (int64_t i = 1; i < n; ++i)
    for (int k = 0; k < m; ++k) {
      int32_t to = ends.empty() ? 0 : ends[random() % ends.size()];
      if (to == i) to = static_cast<int32_t>(i - 1);
      edges.emplace_back(i, to);
      ends.push_back(static_cast<int32_t>(i)), ends.push_back(to);
    }
  return undirected("BA " + std::to_string(n), n, edges);
}

// R-MAT with a, b, c = 0.57, 0.19, 0.19 and `factor` edges a vertex.
inline Graph rmat(int scale, int factor) {
  std::mt19937_64 random(2);
  const int64_t n = int64_t{1} << scale;
  std::vector<std::pair<int32_t, int32_t>> edges(n * factor);
  for (auto &e : edges) {
    int32_t i = 0, j = 0;
    for (int b = 0; b < scale; b += 4) {
      // Four levels from one number, 16 bits each.
      uint64_t bits = random();
      for (int l = 0; l < 4 && b + l < scale; ++l, bits >>= 16) {
        const double q = static_cast<double>(bits & 0xffff) / 65536.0;
        i *= 2, j *= 2;
        if (q >= 0.57) {
          if (q < 0.76) j |= 1;
          else if (q < 0.95) i |= 1;
          else i |= 1, j |= 1;
        }
      }
    }
    e = {i, j};
  }
  return undirected("R-MAT " + std::to_string(scale), n, edges);
}

// The 7-point stencil on an n^3 grid.
inline Graph poisson(int n) {
  Graph g;
  g.name = "Poisson " + std::to_string(n) + "^3";
  g.rows = g.cols = static_cast<int64_t>(n) * n * n;
  g.row_ptr.reserve(g.rows + 1), g.row_ptr.push_back(0);
  g.columns.reserve(7 * g.rows);
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        const int32_t i = x + n * (y + n * z);
        if (z > 0) g.columns.push_back(i - n * n);
        if (y > 0) g.columns.push_back(i - n);
        if (x > 0) g.columns.push_back(i - 1);
        g.columns.push_back(i);
        if (x + 1 < n) g.columns.push_back(i + 1);
        if (y + 1 < n) g.columns.push_back(i + n);
        if (z + 1 < n) g.columns.push_back(i + n * n);
        g.row_ptr.push_back(static_cast<int32_t>(g.columns.size()));
      }
  return g;
}

// A triangulated square whose diagonals point either way: rows of 5 to 9 entries around the grid's own order.
inline Graph mesh(int n) {
  std::mt19937 random(3);
  std::vector<std::pair<int32_t, int32_t>> edges;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const int32_t i = x + n * y;
      if (x + 1 < n) edges.emplace_back(i, i + 1);
      if (y + 1 < n) edges.emplace_back(i, i + n);
      if (x + 1 < n && y + 1 < n) {
        if (random() % 2) edges.emplace_back(i, i + n + 1);
        else edges.emplace_back(i + 1, i + n);
      }
    }
  return undirected("mesh " + std::to_string(n) + "^2", static_cast<int64_t>(n) * n, edges);
}

// Rows, columns, entries as int64, then offsets and columns as int32.
inline Graph read_graph(const std::string &path) {
  Graph g;
  FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return g;
  int64_t sizes[3] = {0, 0, 0};
  bool whole = std::fread(sizes, 8, 3, file) == 3;
  if (whole) {
    g.row_ptr.resize(sizes[0] + 1), g.columns.resize(sizes[2]);
    whole = std::fread(g.row_ptr.data(), 4, g.row_ptr.size(), file) == g.row_ptr.size() &&
            std::fread(g.columns.data(), 4, g.columns.size(), file) == g.columns.size();
  }
  std::fclose(file);
  if (!whole) return Graph{};
  g.rows = sizes[0], g.cols = sizes[1];
  g.name = path.substr(path.rfind('/') + 1);
  return g;
}

inline Graph by_degree(const Graph &g) {
  std::vector<int32_t> order(g.rows), place(g.rows);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return g.row_ptr[a + 1] - g.row_ptr[a] > g.row_ptr[b + 1] - g.row_ptr[b];
  });
  for (int64_t i = 0; i < g.rows; ++i) place[order[i]] = static_cast<int32_t>(i);
  Graph h;
  h.name = g.name + " by degree";
  h.rows = h.cols = g.rows;
  h.row_ptr.assign(g.rows + 1, 0);
  h.columns.reserve(g.columns.size());
  for (int64_t i = 0; i < g.rows; ++i) {
    const size_t begin = h.columns.size();
    for (int32_t k = g.row_ptr[order[i]]; k < g.row_ptr[order[i] + 1]; ++k) h.columns.push_back(place[g.columns[k]]);
    std::sort(h.columns.begin() + begin, h.columns.end());
    h.row_ptr[i + 1] = static_cast<int32_t>(h.columns.size());
  }
  return h;
}

#endif
