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
    for rule in [Cut::Sign, Cut::Median, Cut::Sweep] {
        assert_eq!(bisect(&a, &x, rule).map(|_| ()), Err(want("graph")));
    }
}

#[test]
fn cuts_whose_total_weight_overflows_are_refused_and_others_taken() {
    let c = &cpu(1);
    let x: Vec<f64> = (0..8).map(|i| f64::from(i) - 3.5).collect();
    let heavy = |weight: f64| -> Vec<_> { (1..8).map(|i| (i, i - 1, if i == 2 { weight } else { 1.0 })).collect() };
    for rule in [Cut::Sign, Cut::Median, Cut::Sweep] {
        // No row overflows, but all of them together.
        let refused = bisect(&graph(c, 8, &heavy(1.5e308)), &x, rule).map(|_| ());
        assert_eq!(refused, Err(Error::Numerical("graph: the sum of its entries overflows".into())));
        let taken = bisect(&graph(c, 8, &heavy(8e307)), &x, rule).unwrap();
        assert_eq!(taken.cut, 1.0);
    }
    // The heavy edge is cut: the volumes and the cut are in range, their sum would not be.
    let ends: Vec<f64> = (0..8).map(|i| if i == 1 { -1.0 } else { 1.0 }).collect();
    let taken = bisect(&graph(c, 8, &heavy(8e307)), &ends, Cut::Sign).unwrap();
    assert_eq!((taken.cut, taken.normalized_cut), (8e307, 2.0));
}
