//! The number of threads does not change a bit of the pairs.

use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::solve::{SolveInputs, eigenpairs};
use crate::lanczos::{Filter, Method, Options, Orthogonalization, Verify, Which};
use crate::progress::Progress;
use crate::testing::sparse::{cpu, golden};

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let base = Options::default();
    let filter = Filter::Chebyshev;
    let (mesh, web) = ("4elt", "as-caida20071105");
    for (name, kind, options) in [
        (mesh, Kind::Matrix, base),
        (mesh, Kind::NormalizedLaplacian, Options { which: Which::Smallest, filter, tolerance: 1e-6, ..base }),
        (web, Kind::Matrix, Options { block: 4, ..base }),
        (web, Kind::Modularity, Options { which: Which::BothEnds, verify: Verify::On, ..base }),
        (web, Kind::Matrix, Options { orthogonalization: Orthogonalization::Partial, basis: 60, ..base }),
        (web, Kind::Laplacian, Options { method: Method::Plain, basis: 100, ..base }),
        (
            web,
            Kind::NormalizedAdjacency,
            Options { which: Which::Nearest, sigma: 0.985, count: 2, tolerance: 1e-6, ..base },
        ),
    ] {
        let bits = |threads: usize| {
            let c = cpu(threads);
            let a = golden(&c, name);
            let mut operator = Symmetric::<f64>::new(&c, &a, kind, 0.0).unwrap();
            let pairs = eigenpairs(&c, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap();
            pairs.vectors.iter().chain(&pairs.values).map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        let one = bits(1);
        assert!(!one.is_empty() && one == bits(3), "{name} {kind:?} {options:?}");
    }
}
