//! Filters for an end of the spectrum that is a multiple eigenvalue.

use super::*;

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
