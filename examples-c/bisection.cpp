// Cuts a graph in two by its Fiedler vector: at 0, at the median, and where the normalized cut is least.
//
//   bisection FILE [SIDES]
//
// FILE is a symmetric Matrix Market file of weights (.mtx, .mtx.gz). SIDES takes the least normalized cut, a line a vertex.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <purlin.hpp>
#include <utility>

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "bisection FILE [SIDES]\n");
    return 1;
  }
  try {
    const purlin::context context;
    purlin::matrix graph = purlin::sparse::read_market(context, argv[1], PURLIN_F64);
    const auto [labels, parts] = purlin::graph::components(context, graph);
    if (parts > 1) {
      std::printf("%lld components: the largest is cut\n", static_cast<long long>(parts));
      graph = purlin::graph::component(context, graph).first;
    }
    const purlin_matrix_info size = graph.properties();
    std::printf("%lld vertices, %lld edges\n", static_cast<long long>(size.rows), static_cast<long long>(size.nnz / 2));

    // Small eigenvalues of a mesh are close together: a larger basis needs fewer products to find them.
    purlin::lanczos::options settings;
    settings.basis = 100;
    settings.tolerance = 1e-8;
    const purlin::graph::fiedler_pair found = purlin::graph::fiedler(context, graph, false, settings);
    std::printf("algebraic connectivity %.9e\n", found.value);

    const std::array<std::pair<std::int32_t, const char*>, 3> ways{
        {{PURLIN_GRAPH_CUT_SIGN, "sign"}, {PURLIN_GRAPH_CUT_MEDIAN, "median"}, {PURLIN_GRAPH_CUT_SWEEP, "sweep"}}};
    std::printf("%-8s %8s %8s %8s %15s\n", "cut at", "edges", "side", "side", "normalized cut");
    purlin::graph::bisection best;
    for (const auto& [how, name] : ways) {
      best = purlin::graph::bisect(context, graph, found.vector, how);
      const auto ones = std::count(best.sides.begin(), best.sides.end(), 1);
      std::printf("%-8s %8.0f %8lld %8lld %15.3e\n", name, best.cut, static_cast<long long>(size.rows - ones),
                  static_cast<long long>(ones), best.normalized_cut);
    }
    if (argc > 2) {
      std::ofstream file(argv[2]);
      for (const auto side : best.sides) file << side << '\n';
      if (!file.flush()) {
        std::fprintf(stderr, "%s: could not be written\n", argv[2]);
        return 1;
      }
    }
    return 0;
  } catch (const purlin::error& e) {
    std::fprintf(stderr, "%s: %s\n", e.name(), e.what());
    return 1;
  }
}
