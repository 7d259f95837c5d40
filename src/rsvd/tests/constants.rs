//! Columns that are constant, and columns that vary by little of their mean, of many rows.

use std::sync::Arc;

use super::spectra::csr_of;
use super::streamed::streamed;
use super::support::{Dense, MatrixLayout, PACKED, cpu, factor, gpu, matrix, numbers, vector};
use crate::context::Context;
use crate::matrix::Matrix;
use crate::rsvd::options::Centering;
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::statistics::{Moments, mean_of, total};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, Scalar};
use crate::shape::Order;

/// Noise of deviation about 0.3.
fn noise(i: usize, j: usize) -> f64 {
    ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5
}

fn dense<T: Scalar>(rows: usize, entries: [&dyn Fn(usize) -> f64; 3]) -> Dense<T> {
    let entry = |x: f64| T::from_parts(x, if T::IS_COMPLEX { 0.5 * x } else { 0.0 });
    let data = entries.iter().flat_map(|column| (0..rows).map(|i| entry(column(i)))).collect();
    Dense { rows, columns: 3, data }
}

/// In columns, in rows, and sparse.
fn kinds<T: Scalar>(context: &Arc<Context>, x: &Dense<T>) -> [(&'static str, Matrix); 3] {
    [
        ("columns", matrix(context, x, PACKED)),
        ("rows", matrix(context, x, MatrixLayout { order: Order::RowMajor, gap: 2 })),
        ("sparse", csr_of(context, x)),
    ]
}

/// Singular values of the scaled columns over the root of the degrees of freedom.
fn values<T: Scalar>(context: &Arc<Context>, a: &Matrix, block_rows: usize) -> Vec<f64> {
    let options = Options { rank: 3, center: Centering::Columns, scale: true, block_rows, ..Options::default() };
    let s = factor::<T>(context, a, options).unwrap().s;
    s.iter().map(|s| s / ((a.rows() - 1) as f64).sqrt()).collect()
}

fn check_constant<T: Scalar>(context: &Arc<Context>, rows: usize, value: f64) {
    let a = dense::<T>(rows, [&|i| noise(i, 0), &|_| value, &|i| noise(i, 2)]);
    for (name, x) in kinds(context, &a) {
        let found = values::<T>(context, &x, 0);
        let what = format!("{name} {:?} {value} {rows}: {found:?}", T::DTYPE);
        assert!(found[0] > 0.9 && found[1] > 0.5 && found[2] < 1e-6, "{what}");
    }
}

fn check_constants(context: &Arc<Context>) {
    for value in [0.1, 1.0 / 3.0, 0.7, 1e-3, 1e6 + 0.1] {
        check_constant::<f64>(context, 66_000, value);
    }
    check_constant::<f32>(context, 66_000, 0.1);
    check_constant::<Complex<f32>>(context, 5_000, 0.1);
    check_constant::<Complex<f64>>(context, 66_000, 1.0 / 3.0);
    let a = dense::<f64>(66_000, [&|i| noise(i, 0), &|_| 0.1, &|i| noise(i, 2)]);
    let found = values::<f64>(context, &streamed(context, &a, Order::RowMajor, None).0, 999);
    assert!(found[1] > 0.5 && found[2] < 1e-6, "source: {found:?}");
}

#[test]
fn constant_columns_of_many_rows_are_constant() {
    check_constants(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn constant_columns_of_many_rows_are_constant_on_a_gpu() {
    check_constants(&gpu());
}

/// Milliseconds since 1970 that differ by little: a deviation of 2,000 roundings of the mean.
fn check_far(context: &Arc<Context>) {
    let time = |i: usize| (4.0 * noise(i, 1)).round();
    let near = dense::<f64>(20_000, [&|i| noise(i, 0), &time, &|i| noise(i, 2)]);
    let right = values::<f64>(context, &matrix(context, &near, PACKED), 0);
    let far = dense::<f64>(20_000, [&|i| noise(i, 0), &|i| 1.7e12 + time(i), &|i| noise(i, 2)]);
    for (name, x) in kinds(context, &far) {
        let found = values::<f64>(context, &x, 0);
        assert!(found.iter().zip(&right).all(|(x, y)| (x - y).abs() < 1e-4), "{name}: {found:?} {right:?}");
    }
}

#[test]
fn columns_that_vary_by_little_of_their_mean_are_scaled() {
    check_far(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn columns_that_vary_by_little_of_their_mean_are_scaled_on_a_gpu() {
    check_far(&gpu());
}

/// Means of columns and of rows, of data far from the origin.
fn check_means(context: &Arc<Context>) {
    let rows = 50_000;
    let centre = 1e8 + 1.0 / 3.0;
    let a =
        dense::<f64>(rows, [&|i| centre + noise(i, 0), &|i| 0.1 + noise(i, 1) * 1e-6, &|i| centre * (i % 2) as f64]);
    for (name, x) in kinds(context, &a) {
        let mut session = Rsvd::new(context, Options { rank: 2, ..Options::default() }).unwrap();
        let (pca, _) = session.fit_pca(None, &x, &PcaOptions::default(), None, None).unwrap();
        let mut found = vector(context, 3);
        pca.mean(&mut found).unwrap();
        for (j, found) in numbers(&found).into_iter().enumerate() {
            let column = a.data[j * rows..(j + 1) * rows].iter().map(|x| Complex::new(*x, 0.0));
            let right = total(column).re / rows as f64;
            // Blocks of dense rows are summed plainly.
            let most = if name == "sparse" { 4.0 } else { 256.0 } * f64::EPSILON * right;
            assert!((found - right).abs() <= most, "{name}: mean {j} is {found}, not {right}");
        }
    }
}

#[test]
fn means_of_many_rows_are_right_to_some_roundings() {
    check_means(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn means_of_many_rows_are_right_to_some_roundings_on_a_gpu() {
    check_means(&gpu());
}

/// Merges of many blocks do not add up the rounding errors of the mean.
#[test]
fn merged_means_are_right_to_some_roundings() {
    let mean = |i: usize| 1.7e12 + noise(i, 3) + noise(i / 1009, 5);
    let blocks = 30_000;
    let mut all = Moments::default();
    for i in 0..blocks {
        let block = Moments { mean: Complex::new(mean(i), 0.0), ..Moments::default() };
        all.merge(64 * i, &block, 64, 1.0);
    }
    let right = 1.7e12 + (0..blocks).map(|i| mean(i) - 1.7e12).sum::<f64>() / blocks as f64;
    assert!((all.mean.re - right).abs() <= f64::EPSILON * right, "{} {right}", all.mean.re);
    let spread: f64 = (0..blocks).map(|i| 64.0 * (mean(i) - right).powi(2)).sum();
    assert!((all.spread - spread).abs() < 1e-3 * spread, "{} {spread}", all.spread);
}

#[test]
fn a_million_equal_numbers_have_their_value_as_mean() {
    let of = |count: usize, stored: usize, x: f64| {
        mean_of(count, stored, || std::iter::repeat_n(Complex::new(x, -x), stored)).re
    };
    for value in [0.1, 1.0 / 3.0, 1e6 + 0.1, 1.5e308] {
        assert_eq!(of(1_000_000, 1_000_000, value), value);
    }
    let half = of(1_000_000, 500_000, 0.1);
    assert!((half - 0.05).abs() <= f64::EPSILON * 0.05, "{half}");
}
