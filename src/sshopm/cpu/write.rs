//! Writes the pairs and the starts of a tensor to its rows of results.

use super::engine::Vectors;
use super::flight::{state, status_of};
use super::load::Loaded;
use super::reduce::Pairs;
use crate::scalar::Real;
use crate::sshopm::options::{NO_PAIR, PairClass, StartStatus, TensorStatus};
use crate::sshopm::plan::{Counts, Plan, Rows, is_skipped};

/// Whether the caller asks for results of single starts.
pub fn wants_starts<T>(rows: &Rows<'_, T>) -> bool {
    !(rows.start_values.is_empty()
        && rows.start_vectors.is_empty()
        && rows.start_residuals.is_empty()
        && rows.start_iterations.is_empty()
        && rows.start_shifts.is_empty()
        && rows.start_status.is_empty()
        && rows.start_violations.is_empty())
}

/// Writes an element of a row, unless the row is empty because the caller does not ask for it.
fn set<T>(row: &mut [T], place: usize, value: T) {
    if let Some(r) = row.get_mut(place) {
        *r = value;
    }
}

/// A count as the results store it; all counts are far below 2^31.
fn count_of(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Consecutive starts; component i of start k at `x[i * stride + k]`.
pub struct Iterates<'a, T> {
    /// Components, n rows of `stride`.
    pub x: &'a [T],
    /// Elements from one component to the next.
    pub stride: usize,
    /// x . A x^(m-1) at x.
    pub lambda: &'a [T],
    /// Squared residual at x, in working units.
    pub residual2: &'a [T],
    /// Steps taken by each start.
    pub iterations: &'a [T],
    /// Shift of the last power step.
    pub shift: &'a [T],
    /// Steps that lowered lambda by more than rounding.
    pub violations: &'a [T],
    /// One of [`super::flight::state`] for each start.
    pub state: &'a [T],
}

impl<T: Real> Iterates<'_, T> {
    /// Whether all of the first `count` starts have converged.
    pub fn has_converged(&self, count: usize) -> bool {
        self.state[..count].iter().all(|s| s.to_f64() == state::CONVERGED)
    }
}

/// Writes `count` starts from index `first` on, one array after the other.
pub fn write_starts<T: Real>(
    plan: &Plan<T>,
    loaded: &Loaded<T>,
    from: &Iterates<'_, T>,
    first: usize,
    count: usize,
    rows: &mut Rows<'_, T>,
) {
    let n = plan.shape.dimension;
    let end = first + count;
    for (o, x) in part(rows.start_values, first, end).iter_mut().zip(from.lambda) {
        *o = loaded.value(*x);
    }
    for (o, x) in part(rows.start_residuals, first, end).iter_mut().zip(from.residual2) {
        *o = loaded.length(x.sqrt());
    }
    for (o, x) in part(rows.start_iterations, first, end).iter_mut().zip(from.iterations) {
        *o = x.to_f64() as i32;
    }
    for (o, x) in part(rows.start_shifts, first, end).iter_mut().zip(from.shift) {
        *o = loaded.direction * loaded.length(*x);
    }
    for (o, x) in part(rows.start_status, first, end).iter_mut().zip(from.state) {
        *o = status_of(x.to_f64()) as i32;
    }
    for (o, x) in part(rows.start_violations, first, end).iter_mut().zip(from.violations) {
        *o = x.to_f64() as i32;
    }
    for (k, o) in part(rows.start_vectors, n * first, n * end).chunks_exact_mut(n).enumerate() {
        for (i, o) in o.iter_mut().enumerate() {
            *o = from.x[i * from.stride + k];
        }
    }
}

/// Elements of a row; none if the row is empty.
fn part<T>(row: &mut [T], first: usize, end: usize) -> &mut [T] {
    row.get_mut(first..end).unwrap_or_default()
}

/// Fills the rows of a tensor that the mask excludes.
pub fn write_masked<T: Real>(plan: &Plan<T>, rows: &mut Rows<'_, T>) -> Counts {
    let nan = T::from_f64(f64::NAN);
    write_end(plan, 0, 0, TensorStatus::Masked, rows);
    for array in
        [&mut *rows.start_values, &mut *rows.start_vectors, &mut *rows.start_residuals, &mut *rows.start_shifts]
    {
        array.fill(nan);
    }
    rows.start_iterations.fill(0);
    rows.start_violations.fill(0);
    rows.start_status.fill(StartStatus::Nonfinite as i32);
    debug_assert!(is_skipped(TensorStatus::Masked));
    Counts { skipped: 1, ..Counts::default() }
}

/// Writes the listed pairs after the first `before` rows; returns the number of written rows.
pub fn write_pairs<T: Real>(
    plan: &Plan<T>,
    loaded: &Loaded<T>,
    pairs: &Pairs<T>,
    rows: &mut Rows<'_, T>,
    before: usize,
) -> usize {
    let n = plan.shape.dimension;
    let odd = plan.shape.order % 2 == 1;
    let unwritten = plan.reduction.pairs - before.min(plan.reduction.pairs);
    let mut row = before;
    for &k in pairs.order.iter().take(unwritten) {
        let value = pairs.value(loaded, odd, k);
        set(rows.values, row, value);
        set(rows.residuals, row, loaded.length(pairs.residual2[k].sqrt()));
        set(rows.classes, row, pairs.class[k] as i32);
        set(rows.basins, row, pairs.basin[k]);
        write_vector(rows, row, n, plan.reduction.pairs, value, |i| pairs.component(i, k));
        let turned = pairs.is_turned(loaded, odd, k);
        for j in 0..n - 1 {
            let from = if turned { n - 2 - j } else { j };
            let e = loaded.length(pairs.hessian_at(from, k));
            set(rows.hessian, row * (n - 1) + j, if turned { T::ZERO - e } else { e });
        }
        row += 1;
    }
    row
}

/// Writes the vector of row `row`, and its peak.
fn write_vector<T: Real>(
    rows: &mut Rows<'_, T>,
    row: usize,
    n: usize,
    pairs: usize,
    value: T,
    component: impl Fn(usize) -> T,
) {
    for i in 0..n {
        set(rows.vectors, row * n + i, component(i));
    }
    if rows.peaks.len() == (n + 1) * pairs {
        for i in 0..n {
            set(rows.peaks, row * (n + 1) + i, component(i));
        }
        set(rows.peaks, row * (n + 1) + n, value);
    } else {
        for i in 0..n {
            set(rows.peaks, row * n + i, component(i) * value);
        }
    }
}

/// Fills the rows from `listed` on, and writes the counts and the status of a tensor with `found` pairs.
pub fn write_end<T: Real>(plan: &Plan<T>, listed: usize, found: usize, status: TensorStatus, rows: &mut Rows<'_, T>) {
    write_missing(plan, rows, listed);
    set(rows.count, 0, count_of(listed));
    set(rows.found, 0, count_of(found));
    set(rows.status, 0, status as i32);
}

/// Fills the rows from `listed` on.
fn write_missing<T: Real>(plan: &Plan<T>, rows: &mut Rows<'_, T>, listed: usize) {
    let (n, pairs) = (plan.shape.dimension, plan.reduction.pairs);
    let from = |row: &mut [T], size: usize| {
        let start = (listed * size).min(row.len());
        row[start..].fill(plan.missing);
    };
    from(rows.values, 1);
    from(rows.vectors, n);
    from(rows.residuals, 1);
    from(rows.hessian, n - 1);
    let peak = rows.peaks.len().checked_div(pairs).unwrap_or(0);
    from(rows.peaks, peak);
    for (row, absent) in [(&mut *rows.classes, NO_PAIR), (&mut *rows.basins, 0)] {
        // Skip empty fills of rows that are not requested. Their dangling pointer makes the processor take hundreds of
        // cycles for a fill of 0 bytes.
        if listed < row.len() {
            row[listed..].fill(absent);
        }
    }
}

/// Writes the rows of a tensor without iterations. Returns how many pairs are listed.
pub fn write_special<T: Real>(
    plan: &Plan<T>,
    starts: Vectors<'_, T>,
    status: TensorStatus,
    value: T,
    rows: &mut Rows<'_, T>,
) -> usize {
    let n = plan.shape.dimension;
    let nan = T::from_f64(f64::NAN);
    let finite = status != TensorStatus::Nonfinite;
    let start = if finite { StartStatus::Converged } else { StartStatus::Nonfinite };
    for v in 0..plan.start_count {
        set(rows.start_values, v, value);
        set(rows.start_residuals, v, if finite { T::ZERO } else { nan });
        set(rows.start_iterations, v, 0);
        set(rows.start_shifts, v, T::ZERO);
        set(rows.start_status, v, start as i32);
        set(rows.start_violations, v, 0);
        for i in 0..n {
            set(rows.start_vectors, v * n + i, starts.data[i * starts.stride + v]);
        }
    }
    if !finite || !plan.reduction.special_pair || plan.reduction.pairs == 0 {
        return 0;
    }
    // Every direction is an eigenvector with the same lambda: list the first start.
    let first = |i: usize| starts.data[i * starts.stride];
    let largest = (0..n).fold(T::ZERO, |m, i| if first(i).abs() > m { first(i).abs() } else { m });
    let bound = largest * T::from_f64(1.0 - 1e-6);
    let turn = (0..n).map(first).find(|c| c.abs() >= bound).is_some_and(|c| c < T::ZERO);
    set(rows.values, 0, value);
    set(rows.residuals, 0, T::ZERO);
    set(rows.classes, 0, PairClass::Degenerate as i32);
    set(rows.basins, 0, count_of(plan.start_count));
    write_vector(rows, 0, n, plan.reduction.pairs, value, |i| if turn { T::ZERO - first(i) } else { first(i) });
    for j in 0..n - 1 {
        set(rows.hessian, j, T::ZERO);
    }
    1
}
