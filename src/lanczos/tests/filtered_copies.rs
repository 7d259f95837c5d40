//! Filters for an end of the spectrum that is a multiple eigenvalue.

use std::sync::Arc;

use super::inputs::symmetric;
use super::solves::solve_with;
use crate::context::Context;
use crate::lanczos::operator::Kind;
use crate::lanczos::solve::SolveInputs;
use crate::lanczos::{Filter, Options, Which};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// Products that each of these solves may take: an eighth of the budget of a filter. A search that cannot converge took
/// millions. One on a GPU was seen to take 21 139.
const MOST: usize = 50_000;

/// The diagonal matrix of 200 copies of `end` and 200 values from `end` + 0.1 `step` to `end` + `step`.
fn with_copies<T: Scalar>(c: &Arc<Context>, end: f64, step: f64) -> Matrix {
    let value = |i: usize| if i < 200 { end } else { end + step * (0.1 + 0.9 * (i - 200) as f64 / 199.0) };
    let entries: Vec<_> = (0..400).map(|i| (i, i, T::from_parts(value(i), 0.0))).collect();
    symmetric(c, 400, &entries)
}

fn check<T: Scalar>(c: &Arc<Context>) {
    for (end, step) in [(0.0, 1.0), (1.0, 1.0), (-1.0, -1.0)] {
        let a = with_copies::<T>(c, end, step);
        let which = if step > 0.0 { Which::Smallest } else { Which::Largest };
        for count in [1, 2, 6] {
            let options = Options { count, which, filter: Filter::Chebyshev, ..Options::default() };
            let found = solve_with::<T>(c, &a, Kind::Matrix, &options, &SolveInputs::default()).unwrap();
            let at = format!("{} {end} {step} {count}: {:?}", T::DTYPE.name(), found.info);
            assert!(found.info.products <= MOST, "{at}");
            assert!(found.info.converged == count && found.info.verified, "{at}");
            assert!(found.values.iter().all(|v| (v - end).abs() <= 1e-5), "{at}: {:?}", found.values);
        }
    }
}

/// The spaces of the first stages hold copies alone, which rounding errors brought in. Their distances are rounding
/// errors, too, and no measure of the distance to the next eigenvalue.
pub(super) fn copies_at_an_end_take_few_products(c: &Arc<Context>) {
    check::<f32>(c);
    check::<f64>(c);
}

/// Two values that differ by 1e-7, about sigma: a polynomial of the square of A - sigma I sees copies alone. A search of
/// the whole space follows where it does not converge, after 200 products a row.
pub(super) fn copies_about_a_point_take_few_products(c: &Arc<Context>) {
    let n = 66;
    // A reflection, so that the matrix is full.
    let v = |i: usize| ((i * i + 1) as f64).sin();
    let square: f64 = (0..n).map(|i| v(i) * v(i)).sum();
    let value = |i: usize| if i.is_multiple_of(2) { 1.0 } else { 1.0 - 1e-7 };
    let mean: f64 = (0..n).map(|k| value(k) * v(k) * v(k)).sum::<f64>() / square;
    let entry = |i: usize, j: usize| {
        let diagonal = if i == j { value(i) } else { 0.0 };
        diagonal - 2.0 * v(i) * v(j) / square * (value(i) + value(j) - 2.0 * mean)
    };
    let entries: Vec<_> = (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).map(|(i, j)| (i, j, entry(i, j))).collect();
    let a = symmetric(c, n, &entries);
    for sigma in [1.0 + 9e-10, 1.0, 1.0 - 1e-7, 0.9] {
        for (count, tolerance) in [(2, 1e-13), (12, 1e-13), (12, 1e-10)] {
            let options = Options { count, tolerance, sigma, which: Which::Nearest, ..Options::default() };
            let found = solve_with::<f64>(c, &a, Kind::Matrix, &options, &SolveInputs::default());
            let at = format!("{sigma} {count} {tolerance}: {found:?}");
            let found = found.unwrap();
            let want = if sigma > 1.0 - 5e-8 { 1.0 } else { 1.0 - 1e-7 };
            assert!(found.info.products <= 600 * n, "{at}");
            assert!(found.info.converged == count && found.values.iter().all(|v| (v - want).abs() <= 1e-12), "{at}");
        }
    }
}
