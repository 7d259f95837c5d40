//! Centred operators that the rounding errors of a distant constant line hide.

use std::sync::Arc;

use super::checksums::Products;
use super::distant_constants::samples;
use super::support::{Dense, adjoint, cpu, factor, gpu};
use crate::context::Context;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Operator};
use crate::rsvd::Options;
use crate::rsvd::options::{Centering, Method};
use crate::scalar::{Complex, Scalar};

const METHODS: [Method; 8] = [
    Method::Auto,
    Method::Range,
    Method::Fused,
    Method::Krylov,
    Method::RowFused,
    Method::Basic,
    Method::Direct,
    Method::OnePass,
];

fn operator<T: Scalar>(context: &Arc<Context>, x: &Dense<T>) -> Matrix {
    Matrix::from_operator::<T>(context, Box::new(Products(x.clone())))
}

/// The matrix with the constant column, and its adjoint with a constant row.
fn centrings<T: Scalar>(x: &Dense<T>) -> [(Centering, Dense<T>, &'static str); 2] {
    [(Centering::Columns, x.clone(), "column"), (Centering::Rows, adjoint(x), "row")]
}

fn check<T: Scalar>(context: &Arc<Context>, pairs: &[(f64, f64)]) {
    for (unit, value) in pairs {
        for (center, x, name) in centrings(&samples::<T>(*unit, *value)) {
            for method in METHODS {
                let options = Options { rank: 2, center, method, ..Options::default() };
                let what = format!("{:?} {unit:e} {value:e} {center:?} {method:?}", T::DTYPE);
                let found = factor::<T>(context, &operator(context, &x), options).map(|found| found.s);
                let Err(Error::Numerical(text)) = found else { panic!("{what}: {found:?}") };
                let place = format!("of {name} 4 (from 0) is subtracted from products of an operator");
                assert!(text.starts_with("center: the mean ") && text.contains(&place), "{what}: {text}");
                assert!(text.ends_with("hides the centred data"), "{what}: {text}");
            }
        }
    }
}

fn check_all(context: &Arc<Context>) {
    let pairs = [(1.0, 1e20), (1.0, 1e200), (1.0, 1e300), (1e-170, 1.0), (1e-170, 1e200), (1e200, 1e308 / 64.0)];
    check::<f64>(context, &pairs);
    check::<Complex<f64>>(context, &pairs);
    let pairs = [(1.0, 1e10), (1.0, 3e36), (1e-30, 1e30), (1e-36, 1.0)];
    check::<f32>(context, &pairs);
    check::<Complex<f32>>(context, &pairs);
}

#[test]
fn operators_beside_a_distant_constant_are_refused() {
    check_all(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn operators_beside_a_distant_constant_are_refused_on_a_gpu() {
    check_all(&gpu());
}

/// Data that are larger than the rounding errors keep the digits that are left to them.
fn check_near<T: Scalar>(context: &Arc<Context>, values: &[f64]) {
    let epsilon = T::DTYPE.epsilon();
    for value in values {
        for ((center, x, _), (_, plain, _)) in
            centrings(&samples::<T>(1.0, *value)).into_iter().zip(centrings(&samples(1.0, 0.0)))
        {
            for method in METHODS {
                let options = Options { rank: 3, center, method, ..Options::default() };
                let what = format!("{:?} {value:e} {center:?} {method:?}", T::DTYPE);
                let values = |x: &Dense<T>| {
                    factor::<T>(context, &operator(context, x), options.clone())
                        .unwrap_or_else(|e| panic!("{what}: {e}"))
                        .s
                };
                let (found, right) = (values(&x), values(&plain));
                let worst = found.iter().zip(&right).map(|(s, r)| (s / r - 1.0).abs()).fold(0.0, f64::max);
                assert!(worst < 100.0 * epsilon * (10.0 + value), "{what}: {found:?}, not {right:?}");
            }
        }
    }
}

#[test]
fn operators_beside_a_near_constant_are_decomposed() {
    check_near::<f64>(&cpu(), &[1e-200, 1.0, 1e6, 1e12]);
    check_near::<f32>(&cpu(), &[1e-20, 1.0, 1e3]);
}

#[test]
#[ignore = "needs a GPU"]
fn operators_beside_a_near_constant_are_decomposed_on_a_gpu() {
    check_near::<f64>(&gpu(), &[1e-200, 1.0, 1e6, 1e12]);
    check_near::<f32>(&gpu(), &[1e-20, 1.0, 1e3]);
}

/// Noise of the unit 1e-4 beside a constant column, whose plain sums in single precision are wrong by far more.
struct Summed;

const ROWS: usize = 30_000;

impl Operator<f32> for Summed {
    fn shape(&self) -> (usize, usize) {
        (ROWS, 3)
    }

    fn apply(&mut self, op: Op, x: &[f32], count: usize, y: &mut [f32]) -> Result<()> {
        let noise = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f32 / 1009.0 - 0.5;
        let entry = |i: usize, j: usize| if j == 1 { 0.3 } else { 1e-4 * noise(i, j) };
        for k in 0..count {
            match op {
                Op::Plain => (0..ROWS).for_each(|i| {
                    y[k * ROWS + i] = (0..3).fold(0.0, |sum, j| sum + entry(i, j) * x[3 * k + j]);
                }),
                Op::Adjoint => (0..3).for_each(|j| {
                    y[3 * k + j] = (0..ROWS).fold(0.0, |sum, i| sum + entry(i, j) * x[ROWS * k + i]);
                }),
            }
        }
        Ok(())
    }
}

/// Rounding errors of A x are small here, but not that of the mean.
fn check_mean(context: &Arc<Context>) {
    let a = Matrix::from_operator::<f32>(context, Box::new(Summed));
    let options = Options { rank: 2, center: Centering::Columns, ..Options::default() };
    let found = factor::<f32>(context, &a, options).map(|found| found.s);
    assert!(matches!(&found, Err(Error::Numerical(text)) if text.contains("of column 1 ")), "{found:?}");
}

#[test]
fn operators_whose_means_are_wrong_are_refused() {
    check_mean(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn operators_whose_means_are_wrong_are_refused_on_a_gpu() {
    check_mean(&gpu());
}
