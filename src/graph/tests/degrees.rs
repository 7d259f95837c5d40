//! Weights whose sums leave the range of double precision.

use super::{cpu, graph};
use crate::error::Error;
use crate::graph::bisect::{Cut, bisect, fiedler};
use crate::graph::embed::{Scaling, embed};
use crate::group::Group;
use crate::lanczos::Options;
use crate::progress::Progress;

#[test]
fn degrees_that_overflow_are_numerical_failures() {
    let c = &cpu(1);
    let edges: Vec<_> = (1..100).map(|i| (i, i - 1, if i < 3 { 1e308 } else { 1.0 })).collect();
    let (a, group, options) = (graph(c, 100, &edges), Group::of(c), Options { count: 2, ..Options::default() });
    let want = |argument: &str| {
        Error::Numerical(format!("{argument}: has row sum inf in row 1 (from 0): the sum of its entries overflows"))
    };
    for normalized in [false, true] {
        let found = fiedler(&group, &a, normalized, &options, &Progress::none()).map(|_| ());
        assert_eq!(found, Err(want("graph")));
    }
    for scaling in [Scaling::None, Scaling::UnitRows, Scaling::Degrees] {
        assert_eq!(embed(&group, &a, &options, scaling, &Progress::none()).map(|_| ()), Err(want("a")));
    }
    let x: Vec<f64> = (0..100).map(f64::from).collect();
    let found = bisect(&a, &x, Cut::Sweep).map(|_| ());
    assert!(matches!(found, Err(Error::Numerical(_))), "{found:?}");
}
