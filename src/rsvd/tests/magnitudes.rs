//! Entries whose squares, sums and differences leave the range of a double.

use std::sync::Arc;

use super::spectra::csr;
use super::streamed::streamed;
use super::support::{Dense, MatrixLayout, PACKED, cpu, factor, gpu, matrix};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::Options;
use crate::rsvd::options::{Centering, Method};
use crate::scalar::{Complex, Scalar};
use crate::shape::Order;

const ROWS: usize = 40;

/// 40-by-3 entries between -1 and 1; `by(i, j)` multiplies entry (i, j).
fn wave(by: impl Fn(usize, usize) -> f64) -> Dense<f64> {
    let entry = |i: usize, j: usize| ((i * 3 + j) as f64 * 0.7).sin() * by(i, j);
    Dense {
        rows: ROWS,
        columns: 3,
        data: (0..3).flat_map(|j| (0..ROWS).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect(),
    }
}

/// In columns, in rows, read in blocks of 20 rows, and sparse.
fn kinds(context: &Arc<Context>, x: &Dense<f64>) -> [(&'static str, Matrix); 4] {
    let offsets: Vec<i64> = (0..=x.rows as i64).map(|i| 3 * i).collect();
    let places: Vec<i32> = (0..x.rows).flat_map(|_| 0..3).collect();
    let entries: Vec<f64> = (0..x.rows).flat_map(|i| (0..3).map(move |j| (i, j))).map(|(i, j)| x.at(i, j)).collect();
    [
        ("columns", matrix(context, x, PACKED)),
        ("rows", matrix(context, x, MatrixLayout { order: Order::RowMajor, gap: 2 })),
        ("source", streamed(context, x, Order::RowMajor, None).0),
        ("sparse", csr(context, (x.rows, x.columns), &offsets, &places, &entries)),
    ]
}

fn scaled(name: &str) -> Options {
    let block_rows = if name == "sparse" { 0 } else { 20 };
    Options { rank: 3, center: Centering::Columns, scale: true, block_rows, ..Options::default() }
}

/// Singular values of the scaled columns, for each kind of matrix.
fn values(context: &Arc<Context>, x: &Dense<f64>) -> Vec<(&'static str, Result<Vec<f64>>)> {
    let found = |(name, a): (&'static str, Matrix)| (name, factor::<f64>(context, &a, scaled(name)).map(|f| f.s));
    kinds(context, x).into_iter().map(found).collect()
}

fn expect(context: &Arc<Context>, x: &Dense<f64>, right: &[f64], what: &str) {
    for (name, found) in values(context, x) {
        let found = found.unwrap_or_else(|e| panic!("{what}, {name}: {e}"));
        assert!(found.iter().zip(right).all(|(s, r)| (s - r).abs() < 1e-10), "{what}, {name}: {found:?} {right:?}");
    }
}

fn expect_lost(context: &Arc<Context>, x: &Dense<f64>, column: usize, what: &str) {
    for (name, found) in values(context, x) {
        let e = found.expect_err(what).to_string();
        let begin = format!("numerical failure: scale: the deviation of column {column} (from 0)");
        assert!(e.starts_with(&begin), "{what}, {name}: {e}");
        let largest = x.data.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let limit = format!("is below about 1e-150 times the largest entry, {largest:.3e}, and cannot be computed");
        assert!(e.contains(&limit), "{what}, {name}: {e}");
    }
}

/// Squares of deviations that underflow beside the largest entry are no zeros: such a column is not constant.
fn check_lost_deviations(context: &Arc<Context>) {
    let right = values(context, &wave(|_, _| 1.0))[0].1.clone().unwrap();
    let second = |by: f64| wave(move |_, j| if j == 1 { by } else { 1.0 });
    for by in [1e-140, 1e-100, 1e100, 1e140] {
        expect(context, &second(by), &right, &format!("one column times {by:e}"));
    }
    for by in [1e-160, 1e-165, 1e-200, 1e-290] {
        expect_lost(context, &second(by), 1, &format!("one column times {by:e}"));
    }
    for by in [1e200, 1e300] {
        expect_lost(context, &second(by), 0, &format!("one column times {by:e}"));
    }
    // Columns of any common magnitude are scaled as those of magnitude 1 are.
    for by in [1e-300, 1e-200, 1e-165, 1e155, 1e165, 1e200, 1e300, 1.5e308] {
        expect(context, &wave(|_, _| by), &right, &format!("all columns times {by:e}"));
    }
    // Distances from a mean overflow.
    let far = |by: f64| {
        let mut x = wave(|_, _| by);
        (0..ROWS).for_each(|i| x.data[ROWS + i] = if i == 30 { -by } else { by * (1.0 - 1e-3 * (i % 4) as f64) });
        x
    };
    expect(context, &far(1.5e308), &values(context, &far(1.0))[0].1.clone().unwrap(), "one far entry");
    // Each block of a column is constant, but the blocks differ.
    for large in [1.0, 1e200] {
        let mut x = wave(|_, _| large);
        (0..ROWS).for_each(|i| x.data[ROWS + i] = if i < 20 { 1e-165 } else { 2e-165 });
        expect_lost(context, &x, 1, &format!("constant blocks beside {large:e}"));
        // A constant column is constant, whatever its magnitude.
        x.data[ROWS..2 * ROWS].fill(1e-165);
        for (name, found) in values(context, &x) {
            let found = found.unwrap_or_else(|e| panic!("constant column, {name}: {e}"));
            assert!(found[1] > 1.0 && found[2] < 1e-10, "constant column, {name}: {found:?}");
        }
    }
}

#[test]
fn columns_whose_deviation_is_lost_are_refused() {
    check_lost_deviations(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn columns_whose_deviation_is_lost_are_refused_on_a_gpu() {
    check_lost_deviations(&gpu());
}

/// Squares of single precision are summed in double precision, where they do not underflow.
fn check_single(context: &Arc<Context>) {
    let single = |x: Dense<f64>| Dense { rows: x.rows, columns: 3, data: x.data.iter().map(|x| *x as f32).collect() };
    let of = |x: &Dense<f32>| factor::<f32>(context, &matrix(context, x, PACKED), scaled("F32")).unwrap().s;
    let right = of(&single(wave(|_, _| 1.0)));
    for by in [1e-36, 1e-30, 1e-22, 1e20, 1e30] {
        let found = of(&single(wave(|_, j| if j == 1 { by } else { 1.0 })));
        assert!(found.iter().zip(&right).all(|(s, r)| (s - r).abs() < 1e-4), "{by:e}: {found:?} {right:?}");
    }
}

#[test]
fn deviations_of_single_precision_are_not_lost() {
    check_single(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn deviations_of_single_precision_are_not_lost_on_a_gpu() {
    check_single(&gpu());
}

/// Sums of rows and columns overflow.
fn check_sums<T: Scalar>(context: &Arc<Context>) {
    let entry = |i: usize, j: usize, by: f64| {
        let x = by * (1.0 + 0.1 * ((i * i + 3 * j) as f64 * 0.7).sin());
        T::from_parts(x, if T::IS_COMPLEX { 0.5 * x } else { 0.0 })
    };
    let of = |by: f64| {
        let data = (0..12).flat_map(|j| (0..30).map(move |i| (i, j))).map(|(i, j)| entry(i, j, by)).collect();
        Dense { rows: 30, columns: 12, data }
    };
    for (center, method) in [
        (Centering::Rows, Method::Auto),
        (Centering::Rows, Method::Range),
        (Centering::Rows, Method::Gram),
        (Centering::Columns, Method::Auto),
        (Centering::Columns, Method::Range),
    ] {
        for order in [Order::ColumnMajor, Order::RowMajor] {
            let options = Options { rank: 4, center, method, ..Options::default() };
            let values = |by: f64| {
                let a = matrix(context, &of(by), MatrixLayout { order, gap: 0 });
                factor::<T>(context, &a, options.clone())
                    .unwrap_or_else(|e| panic!("{center:?} {method:?} {order:?}: {e}"))
                    .s
            };
            let (found, right) = (values(5e307), values(1.0));
            for (s, r) in found.iter().zip(&right) {
                assert!(
                    (s / 5e307 - r).abs() < 1e-10 * right[0],
                    "{center:?} {method:?} {order:?}: {found:?} {right:?}"
                );
            }
        }
    }
}

/// The same of a sparse matrix.
fn check_sparse_sums(context: &Arc<Context>) {
    let offsets: Vec<i64> = (0..=30).map(|i| 12 * i).collect();
    let places: Vec<i32> = (0..30).flat_map(|_| 0..12).collect();
    for center in [Centering::Rows, Centering::Columns] {
        let values = |by: f64| {
            let entries: Vec<f64> = (0..360).map(|k| by * (1.0 + 0.1 * (f64::from(k * k) * 0.7).sin())).collect();
            let a = csr(context, (30, 12), &offsets, &places, &entries);
            let options = Options { rank: 4, center, ..Options::default() };
            factor::<f64>(context, &a, options).unwrap_or_else(|e| panic!("{center:?}: {e}")).s
        };
        let (found, right) = (values(5e307), values(1.0));
        for (s, r) in found.iter().zip(&right) {
            assert!((s / 5e307 - r).abs() < 1e-10 * right[0], "{center:?}: {found:?} {right:?}");
        }
    }
}

#[test]
fn means_are_found_where_sums_overflow() {
    let context = cpu();
    check_sums::<f64>(&context);
    check_sums::<Complex<f64>>(&context);
    check_sparse_sums(&context);
}

#[test]
#[ignore = "needs a GPU"]
fn means_are_found_where_sums_overflow_on_a_gpu() {
    let context = gpu();
    check_sums::<f64>(&context);
    check_sums::<Complex<f64>>(&context);
    check_sparse_sums(&context);
}
