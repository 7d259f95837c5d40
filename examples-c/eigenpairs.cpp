// All real eigenpairs of the symmetric tensor of Kofidis and Regalia (order 4, dimension 3): the table 3.1 of Kolda and
// Mayo, SIAM J. Matrix Anal. Appl. 32 (2011).
#include <array>
#include <cstdio>
#include <purlin.hpp>

int main() {
  // The 15 entries a_ijkl with i <= j <= k <= l, in lexicographic order.
  const std::array<double, 15> entries{.2883, -.0031, .1973,  -.2485, -.2939, .3847, .2972, .1862,
                                       .0919, -.3619, .1241, -.3420, .2127,  .2727, -.3054};
  const std::array<const char*, 5> names{"maximum", "minimum", "saddle", "degenerate", "unclassified"};
  try {
    const purlin::context context;
    const purlin::symmetric_view<double> tensor{entries.data(), 4, 3};
    const auto found = purlin::sshopm::solve_all(context, tensor, 16);
    std::printf("    lambda             x             residual\n");
    for (std::int64_t k = 0; k < found.count[0]; ++k) {
      const double* x = found.vector(k);
      std::printf("%10.6f  %8.4f %8.4f %8.4f  %.0e  %s\n", found.value(k), x[0], x[1], x[2], found.residual(k),
                  names.at(static_cast<std::size_t>(found.pair_class(k))));
    }
    const bool complete = found.morse_sum[0] == found.morse_expected[0];
    std::printf("%d pairs, %s by the Morse sum\n", found.count[0], complete ? "nothing missing" : "incomplete");
    return complete ? 0 : 1;
  } catch (const purlin::error& e) {
    std::fprintf(stderr, "%s: %s\n", e.name(), e.what());
    return 1;
  }
}
