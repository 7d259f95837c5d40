// Data that the kernels of sparse products need, prepared on the host.
#ifndef SPMV_PLANS_CUH
#define SPMV_PLANS_CUH

#include <cstring>

#include "spmv_graphs.cuh"
#include "spmv_launch.h"

// Tiles of whole rows with up to `entries` entries and `rows` rows; longer rows in pieces.
struct Tiles {
  std::vector<purlin_spmv_tile> list;
  std::vector<purlin_spmv_long> longs;
  int32_t pieces = 0;
  int count() const { return static_cast<int>(list.size()) - 1; }
};

inline Tiles cut_tiles(const Graph &g, int entries, int rows) {
  Tiles t;
  int64_t held = 0, held_rows = 0;
  for (int64_t r = 0; r < g.rows; ++r) {
    const int64_t begin = g.row_ptr[r], length = g.row_ptr[r + 1] - begin;
    if (length > entries) {
      t.longs.push_back({static_cast<int32_t>(r), t.pieces});
      for (int64_t k = 0; k < length; k += entries) t.list.push_back({begin + k, static_cast<int32_t>(r), t.pieces++});
      held = entries;
      continue;
    }
    if (t.list.empty() || held + length > entries || held_rows == rows || t.list.back().piece >= 0) {
      t.list.push_back({begin, static_cast<int32_t>(r), -1});
      held = held_rows = 0;
    }
    held += length, ++held_rows;
  }
  t.list.push_back({g.nnz(), static_cast<int32_t>(g.rows), -1});
  t.longs.push_back({static_cast<int32_t>(g.rows), t.pieces});
  return t;
}

// Tiles of as many steps on the merge path.
inline std::vector<purlin_spmv_tile> cut_path(const Graph &g, int steps) {
  std::vector<purlin_spmv_tile> list;
  const int64_t length = g.rows + g.nnz();
  for (int64_t diagonal = 0;; diagonal += steps) {
    const int64_t at = std::min(diagonal, length);
    int64_t low = std::max<int64_t>(at - g.nnz(), 0), high = std::min(at, g.rows);
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (g.row_ptr[middle + 1] <= at - middle - 1) low = middle + 1;
      else high = middle;
    }
    list.push_back({at - low, static_cast<int32_t>(low), -1});
    if (at == length) return list;
  }
}

// Bins by length: 1, 2, 4, ..., 32 lanes, then pieces.
struct Bins {
  std::vector<purlin_spmv_bin> list;
  std::vector<int32_t> order;
  std::vector<purlin_spmv_long> longs;
  int32_t pieces = 0;
};

inline Bins cut_bins(const Graph &g, int64_t longest) {
  Bins b;
  const auto lanes_of = [](int64_t length) {
    int lanes = 1;
    while (lanes < 32 && lanes * 4 < length) lanes *= 2;
    return lanes;
  };
  for (int64_t r = 0; r < g.rows; ++r) {
    const int64_t begin = g.row_ptr[r], length = g.row_ptr[r + 1] - begin;
    if (length <= longest) continue;
    b.longs.push_back({static_cast<int32_t>(r), b.pieces});
    for (int64_t k = 0; k < length; k += PURLIN_LAUNCH_SPMV_PIECE)
      b.list.push_back({begin + k, static_cast<int32_t>(std::min<int64_t>(PURLIN_LAUNCH_SPMV_PIECE, length - k)), 0, 0, b.pieces++});
  }
  b.longs.push_back({static_cast<int32_t>(g.rows), b.pieces});
  for (int lanes = 32; lanes > 0; lanes /= 2) {
    const size_t first = b.order.size();
    for (int64_t r = 0; r < g.rows; ++r) {
      const int64_t length = g.row_ptr[r + 1] - g.row_ptr[r];
      if (length <= longest && lanes_of(length) == lanes) b.order.push_back(static_cast<int32_t>(r));
    }
    const int each = PURLIN_LAUNCH_SPMV_THREADS / lanes;
    for (size_t at = first; at < b.order.size(); at += each)
      b.list.push_back({static_cast<int64_t>(at), static_cast<int32_t>(std::min<size_t>(each, b.order.size() - at)),
                        static_cast<int16_t>(lanes), 0, 0});
  }
  return b;
}

// The two sweeps, of panels of tiles. `source` has the entry of the matrix at each position; -1 for padding.
struct Panel {
  int first_tile, tiles;
  int first_unit, units;
  int64_t first_entry, entries;
};
struct Sweeps {
  Tiles tiles;
  std::vector<Panel> panels;
  std::vector<purlin_spmv_unit> units;
  std::vector<uint16_t> columns, offsets, places;
  std::vector<uint32_t> runs;
  std::vector<int64_t> source;
  int64_t width = 0, blocks = 0, capacity = 0, most = 0;
};

inline Sweeps cut_sweeps(const Graph &g, int64_t width, int capacity, int64_t panel_entries, int unit_entries) {
  Sweeps s;
  s.tiles = cut_tiles(g, capacity, 1 << 14);
  s.width = width, s.blocks = std::max<int64_t>(1, (g.cols + width - 1) / width), s.capacity = capacity;
  const int count = s.tiles.count();
  const int64_t blocks = s.blocks;
  s.runs.assign(count * blocks, 0), s.offsets.assign(count * (blocks + 1), 0), s.places.assign(int64_t{count} * capacity, 0);
  std::vector<int64_t> next(blocks), length(blocks);
  std::vector<uint16_t> seen(blocks);
  for (int first = 0; first < count;) {
    Panel panel{first, 0, static_cast<int>(s.units.size()), 0, static_cast<int64_t>(s.columns.size()), 0};
    int last = first;
    while (last < count && s.tiles.list[last + 1].entry - s.tiles.list[first].entry <= std::max<int64_t>(panel_entries, capacity)) ++last;
    panel.tiles = last - first;
    std::fill(length.begin(), length.end(), 0);
    for (int64_t k = s.tiles.list[first].entry; k < s.tiles.list[last].entry; ++k) ++length[g.columns[k] / width];
    int64_t at = panel.first_entry;
    for (int64_t b = 0; b < blocks; ++b) {
      next[b] = at;
      const int64_t padded = (length[b] + PURLIN_LAUNCH_SPMV_PAD - 1) / PURLIN_LAUNCH_SPMV_PAD * PURLIN_LAUNCH_SPMV_PAD;
      for (int64_t k = 0; k < padded; k += unit_entries)
        s.units.push_back({at + k, static_cast<int32_t>(std::min<int64_t>(unit_entries, padded - k)), static_cast<int32_t>(b)});
      at += padded;
    }
    s.columns.resize(at, 0), s.source.resize(at, -1);
    panel.entries = at - panel.first_entry;
    panel.units = static_cast<int>(s.units.size()) - panel.first_unit;
    s.most = std::max(s.most, panel.entries);
    for (int t = first; t < last; ++t) {
      const int64_t from = s.tiles.list[t].entry, to = s.tiles.list[t + 1].entry;
      uint16_t *offsets = &s.offsets[t * (blocks + 1)];
      std::fill(seen.begin(), seen.end(), 0);
      for (int64_t k = from; k < to; ++k) ++seen[g.columns[k] / width];
      for (int64_t b = 0; b < blocks; ++b) {
        s.runs[t * blocks + b] = static_cast<uint32_t>(next[b] - panel.first_entry);
        offsets[b + 1] = static_cast<uint16_t>(offsets[b] + seen[b]);
        seen[b] = offsets[b];
      }
      for (int64_t k = from; k < to; ++k) {
        const int64_t b = g.columns[k] / width;
        s.columns[next[b]] = static_cast<uint16_t>(g.columns[k] - b * width);
        s.source[next[b]++] = k;
        s.places[int64_t{t} * capacity + (k - from)] = seen[b]++;
      }
    }
    s.panels.push_back(panel);
    first = last;
  }
  return s;
}

#endif
