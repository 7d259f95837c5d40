//! Operators whose functions multiply by another adjoint than that of their matrix are refused by name; right ones are not.

use std::sync::Arc;

use super::checksums::Products;
use super::support::{
    Dense, PACKED, adjoint, blank, cpu, factor, gpu, matrix, numbers, orthonormal, product, vector, with_spectrum,
};
use crate::context::Context;
use crate::dense::Op;
use crate::error::Result;
use crate::matrix::{Matrix, Operator};
use crate::rsvd::options::{Centering, Method};
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, DType, Scalar};

const METHODS: [Method; 8] = [
    Method::Auto,
    Method::Range,
    Method::Fused,
    Method::Krylov,
    Method::RowFused,
    Method::Basic,
    Method::OnePass,
    Method::Direct,
];

/// Multiplies by one matrix, and by another one where it is asked for the adjoint.
struct Pair<T> {
    there: Dense<T>,
    back: Dense<T>,
}

impl<T: Scalar> Operator<T> for Pair<T> {
    fn shape(&self) -> (usize, usize) {
        (self.there.rows, self.there.columns)
    }

    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        let factor = if op == Op::Plain { &self.there } else { &self.back };
        Products(factor.clone()).apply(Op::Plain, x, count, y)
    }
}

fn operator<T: Scalar>(context: &Arc<Context>, there: &Dense<T>, back: Dense<T>) -> Matrix {
    Matrix::from_operator::<T>(context, Box::new(Pair { there: there.clone(), back }))
}

fn changed<T: Scalar>(m: &Dense<T>, entry: impl Fn(usize, usize) -> T) -> Dense<T> {
    let data = (0..m.columns).flat_map(|j| (0..m.rows).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect();
    Dense { rows: m.rows, columns: m.columns, data }
}

/// Wrong adjoints of `a`.
fn wrong<T: Scalar>(a: &Dense<T>) -> Vec<(&'static str, Dense<T>)> {
    let right = adjoint(a);
    let times = |by: f64| changed(&right, |i, j| T::from_parts(by * right.at(i, j).re(), by * right.at(i, j).im()));
    let mut wrong = vec![
        ("twice the adjoint", times(2.0)),
        ("the negative adjoint", times(-1.0)),
        ("a tenth more", times(1.1)),
        ("zeros", times(0.0)),
        ("rows shifted by one", changed(&right, |i, j| right.at((i + 1) % right.rows, j))),
        ("columns shifted by one", changed(&right, |i, j| right.at(i, (j + 1) % right.columns))),
    ];
    if a.rows == a.columns {
        wrong.push(("A itself", a.clone()));
    }
    if T::IS_COMPLEX {
        wrong.push(("the transpose", changed(&right, |i, j| right.at(i, j).conjugate())));
    }
    wrong
}

fn expect_named<R>(what: &str, found: Result<R>) {
    let e = found.err().unwrap_or_else(|| panic!("{what}: is accepted")).to_string();
    // Of principal components the operator is the argument x.
    let (argument, problem) = e.split_once(": ").unwrap_or_default();
    assert!(["a", "x"].contains(&argument), "{what}: {e}");
    assert!(problem.starts_with("adjoint is not that of A: |<Y, A X> - <A^H Y, X>| is "), "{what}: {e}");
}

fn check_wrong<T: Scalar>(context: &Arc<Context>) {
    let spectrum: Vec<f64> = (0..30).map(|j| 0.8f64.powi(j)).collect();
    let shapes: &[(usize, usize)] = if T::DTYPE == DType::F64 { &[(40, 40), (60, 45), (45, 60)] } else { &[(40, 40)] };
    for &(rows, columns) in shapes {
        let a = with_spectrum::<T>(context, rows, columns, &spectrum, 5);
        for (name, back) in wrong(&a) {
            let a = operator(context, &a, back);
            for method in METHODS {
                for center in [Centering::None, Centering::Columns, Centering::Rows] {
                    let what = format!("{:?} {rows} x {columns} {name} {method:?} {center:?}", T::DTYPE);
                    let found = factor::<T>(context, &a, Options { rank: 4, method, center, ..Options::default() });
                    // Of a tall matrix A I is formed, with the means of its columns from A^H 1, which an order of A's rows
                    // does not change.
                    let is_by_means = center == Centering::Columns && name != "columns shifted by one";
                    if method == Method::Direct && rows >= columns && !is_by_means {
                        assert!(found.is_ok(), "{what}");
                    } else {
                        expect_named(&what, found);
                    }
                }
            }
            let what = format!("{:?} {rows} x {columns} {name}", T::DTYPE);
            let options = Options { tolerance: 0.1, max_rank: 20, block_columns: 5, ..Options::default() };
            expect_named(&format!("{what} tolerance"), factor::<T>(context, &a, options));
            let mut session = Rsvd::new(context, Options { rank: 4, ..Options::default() }).unwrap();
            let fitted = session.fit_pca(None, &a, &PcaOptions::default(), None, None);
            expect_named(&format!("{what} components"), fitted.map(|_| ()));
            let (mut q, mut b) = (blank::<T>(context, rows, 4), blank::<T>(context, 4, columns));
            let basis = session.range(None, &a, &mut q, Some(&mut b), None);
            expect_named(&format!("{what} basis"), basis);
            let (u, v) = (orthonormal::<T>(context, rows, 4, 1), orthonormal::<T>(context, columns, 4, 2));
            let (u, v) = (matrix(context, &u, PACKED), matrix(context, &v, PACKED));
            let [s, mut left, mut right] = [(); 3].map(|()| vector(context, 4));
            let residuals = session.residuals(None, &a, (&u, &s, &v), &mut left, &mut right, None);
            expect_named(&format!("{what} residuals"), residuals);
        }
    }
}

/// Adjoints that are wrong in the centred data alone, which are much smaller than their means.
fn check_means<T: Scalar>(context: &Arc<Context>) {
    let (rows, columns) = (60, 45);
    let spectrum: Vec<f64> = (0..30).map(|j| 0.8f64.powi(j)).collect();
    let centred = with_spectrum::<T>(context, rows, columns, &spectrum, 5);
    let sizes: &[f64] = if T::DTYPE.is_single() { &[1.0] } else { &[1.0, 1e2, 1e5] };
    for &size in sizes {
        // Each column, or each row, has a mean of its own.
        let mean = |k: usize| size * (1.0 + 0.3 * (k as f64).sin());
        for (center, by_columns) in [(Centering::Columns, true), (Centering::Rows, false)] {
            let sum = |factor: f64| {
                changed(&centred, |i, j| {
                    let (x, mean) = (centred.at(i, j), mean(if by_columns { j } else { i }));
                    T::from_parts(factor * x.re() + mean, factor * x.im())
                })
            };
            let there = sum(1.0);
            for factor in [1.0, 1.05, 1.5, -1.0] {
                for method in [Method::Range, Method::Fused, Method::Krylov, Method::OnePass] {
                    let a = operator(context, &there, adjoint(&sum(factor)));
                    let options = Options { rank: 4, method, center, ..Options::default() };
                    let found = super::support::factor::<T>(context, &a, options);
                    let what = format!("{:?} means of {size:e}, {factor} {method:?} {center:?}", T::DTYPE);
                    match factor == 1.0 {
                        true => assert!(found.is_ok(), "{what}: {:?}", found.err()),
                        false => expect_named(&what, found),
                    }
                }
            }
        }
    }
}

/// Eigenpairs of a Hermitian matrix. Without iterations Nystroem multiplies by A alone.
fn check_symmetric<T: Scalar>(context: &Arc<Context>) {
    let spectrum: Vec<f64> = (0..30).map(|j| 0.8f64.powi(j)).collect();
    let v = orthonormal::<T>(context, 40, 30, 6);
    let a = product(context, &v, &spectrum, &v);
    for (name, back) in wrong(&a) {
        if name == "A itself" {
            continue;
        }
        let a = operator(context, &a, back);
        for (method, power_iterations) in
            [(Method::Rayleigh, 0), (Method::Rayleigh, 2), (Method::Nystrom, 0), (Method::Nystrom, 2)]
        {
            let options = Options { rank: 4, method, power_iterations: Some(power_iterations), ..Options::default() };
            let mut session = Rsvd::new(context, options).unwrap();
            let found = session.symmetric(None, &a, Some(&mut vector(context, 4)), None, None);
            let what = format!("{:?} {name} {method:?} {power_iterations}", T::DTYPE);
            if (method, power_iterations) == (Method::Nystrom, 0) {
                assert!(found.is_ok(), "{what}");
            } else {
                expect_named(&what, found);
            }
        }
    }
}

/// Products that are rounded to fewer digits, as those of functions that compute in a lower precision.
struct Rounded<T> {
    products: Products<T>,
    digits: i32,
}

impl<T: Scalar> Operator<T> for Rounded<T> {
    fn shape(&self) -> (usize, usize) {
        self.products.shape()
    }

    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        self.products.apply(op, x, count, y)?;
        // Towards zero, so that the errors add up.
        let rounded = |x: f64| {
            let unit = (x.abs().max(f64::MIN_POSITIVE).log2().floor() + 1.0 - f64::from(self.digits)).exp2();
            (x / unit).trunc() * unit
        };
        y.iter_mut().for_each(|y| *y = T::from_parts(rounded(y.re()), rounded(y.im())));
        Ok(())
    }
}

fn check_right<T: Scalar>(context: &Arc<Context>) {
    let (digits, most) = if T::DTYPE.is_single() { (11, 30) } else { (24, 150) };
    let spectrum: Vec<f64> = (0..30).map(|j| 0.8f64.powi(j)).collect();
    let shapes: &[(usize, usize)] = if T::DTYPE == DType::F64 { &[(45, 33), (33, 45)] } else { &[(45, 33)] };
    for &(rows, columns) in shapes {
        let usual = with_spectrum::<T>(context, rows, columns, &spectrum, 5);
        // Rows from 10^-150 to 10^150, and columns.
        let power = |i: usize, count: usize| 10f64.powf(f64::from(most) * (2.0 * i as f64 / count as f64 - 1.0));
        let scaled = |by: &dyn Fn(usize, usize) -> f64| {
            changed(&usual, |i, j| T::from_parts(usual.at(i, j).re() * by(i, j), usual.at(i, j).im() * by(i, j)))
        };
        for (name, a) in [
            ("usual", usual.clone()),
            ("zeros", scaled(&|_, _| 0.0)),
            ("rank 1", with_spectrum(context, rows, columns, &[3.0], 7)),
            ("flat", with_spectrum(context, rows, columns, &[1.0; 33], 7)),
            ("graded rows", scaled(&|i, _| power(i, rows))),
            ("graded columns", scaled(&|_, j| power(j, columns))),
            ("large", scaled(&|_, _| 10f64.powi(most))),
            ("small", scaled(&|_, _| 10f64.powi(-most))),
            ("one entry", scaled(&|i, j| f64::from(u8::from((i, j) == (7, 3))))),
        ] {
            let is_usual = ["usual", "rank 1", "flat"].contains(&name);
            for digits in if is_usual { vec![100, digits] } else { vec![100] } {
                let a = match digits {
                    100 => Matrix::from_operator::<T>(context, Box::new(Products(a.clone()))),
                    _ => {
                        Matrix::from_operator::<T>(context, Box::new(Rounded { products: Products(a.clone()), digits }))
                    }
                };
                let centers = [Centering::None, Centering::Columns, Centering::Rows];
                for method in METHODS {
                    for &center in &centers[..if is_usual { 3 } else { 2 }] {
                        let options = Options { rank: 4, method, center, ..Options::default() };
                        let what = format!("{:?} {rows} x {columns} {name} {digits} {method:?} {center:?}", T::DTYPE);
                        if let Err(e) = factor::<T>(context, &a, options) {
                            let e = e.to_string();
                            // Means beside graded rows, and values that the type does not hold, are refused by other checks.
                            assert!(!e.contains("adjoint") && name.starts_with("graded"), "{what}: {e}");
                        }
                    }
                }
            }
        }
    }
}

/// Hermitian operators whose functions compute in a lower precision, which leaves them Hermitian to that precision alone.
fn check_right_symmetric<T: Scalar>(context: &Arc<Context>) {
    let digits = if T::DTYPE.is_single() { 11 } else { 24 };
    let spectrum: Vec<f64> = (0..30).map(|j| 0.8f64.powi(j)).collect();
    let v = orthonormal::<T>(context, 40, 30, 6);
    let a = product(context, &v, &spectrum, &v);
    let a = Matrix::from_operator::<T>(context, Box::new(Rounded { products: Products(a), digits }));
    for method in [Method::Rayleigh, Method::Nystrom] {
        let options = Options { rank: 4, method, ..Options::default() };
        let mut values = vector(context, 4);
        let found = Rsvd::new(context, options).unwrap().symmetric(None, &a, Some(&mut values), None, None);
        assert!(found.is_ok(), "{:?} {method:?}: {:?}", T::DTYPE, found.err());
        for (found, want) in numbers(&values).iter().zip(&spectrum) {
            assert!((found - want).abs() < 0.01, "{:?} {method:?}: {found} and {want}", T::DTYPE);
        }
    }
}

/// Sketches and factors with numbers that are not finite are named.
fn check_given<T: Scalar>(context: &Arc<Context>) {
    let a = with_spectrum::<T>(context, 12, 9, &[3.0, 2.0, 1.0], 5);
    let a = matrix(context, &a, PACKED);
    let spoilt = |rows: usize, columns: usize, seed: u64, is: bool| {
        let mut m = orthonormal::<T>(context, rows, columns, seed);
        if is {
            m.data[2 + rows] = T::from_parts(f64::NAN, 0.0);
        }
        matrix(context, &m, PACKED)
    };
    let mut session = Rsvd::new(context, Options { rank: 2, ..Options::default() }).unwrap();
    let e = session.set_sketch(Some(&spoilt(9, 4, 1, true))).unwrap_err().to_string();
    assert_eq!(e, "omega: has NaN in row 2, column 1 (from 0)");
    for (name, is_u) in [("u", true), ("v", false)] {
        let (u, v) = (spoilt(12, 2, 1, is_u), spoilt(9, 2, 2, !is_u));
        let [s, mut left, mut right] = [(); 3].map(|()| vector(context, 2));
        let want = format!("{name}: has NaN in row 2, column 1 (from 0)");
        let e = session.residuals(None, &a, (&u, &s, &v), &mut left, &mut right, None).unwrap_err();
        assert_eq!(e.to_string(), want, "{:?} residuals", T::DTYPE);
        let e = session.error(None, &a, (&u, &s, &v), None).unwrap_err();
        assert_eq!(e.to_string(), want, "{:?} error", T::DTYPE);
    }
}

/// Calls a check for each number type.
macro_rules! for_each_type {
    ($check:ident, $context:expr) => {{
        let context = $context;
        $check::<f64>(&context);
        $check::<f32>(&context);
        $check::<Complex<f64>>(&context);
        $check::<Complex<f32>>(&context);
    }};
}

#[test]
fn wrong_adjoints_are_refused() {
    for_each_type!(check_wrong, cpu());
}

#[test]
fn adjoints_that_are_wrong_without_the_means_are_refused() {
    for_each_type!(check_means, cpu());
}

#[test]
fn wrong_adjoints_of_hermitian_matrices_are_refused() {
    for_each_type!(check_symmetric, cpu());
}

#[test]
fn right_adjoints_are_accepted() {
    for_each_type!(check_right, cpu());
    for_each_type!(check_right_symmetric, cpu());
}

#[test]
fn given_numbers_that_are_not_finite_are_named() {
    for_each_type!(check_given, cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn wrong_adjoints_are_refused_on_a_gpu() {
    for_each_type!(check_wrong, gpu());
    for_each_type!(check_symmetric, gpu());
    for_each_type!(check_means, gpu());
}

#[test]
#[ignore = "needs a GPU"]
fn right_adjoints_are_accepted_on_a_gpu() {
    for_each_type!(check_right, gpu());
    for_each_type!(check_right_symmetric, gpu());
    for_each_type!(check_given, gpu());
}
