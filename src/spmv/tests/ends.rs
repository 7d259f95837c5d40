//! Kinds of graphs whose weights are near the ends of the range.

use std::sync::Arc;

use super::{Lists, cpu, entries, noise, value, vector};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::matrix::sparse::Ordering;
use crate::scalar::{Complex, Real, Scalar};
use crate::shape::Order;
use crate::spmv::{Kind, Op, Options, Plan};
use crate::tensor::{self, Location, Tensor};

/// A graph of n vertices, each joined to all others by weights between 1 and 2.
fn graph<T: Scalar>(c: &Arc<Context>, n: usize) -> (Matrix, Vec<f64>) {
    let rows: Vec<Vec<usize>> = (0..n).map(|i| (0..n).filter(|j| *j != i).collect()).collect();
    let weight = |i: usize, j: usize| 1.0 + (noise(i.min(j) * n + i.max(j)) % 64) as f64 / 64.0;
    let weights = rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |j| weight(i, *j))).collect();
    (super::matrix::<T, i32>(c, &Lists { cols: n, rows }, 0, false).0, weights)
}

fn set<T: Scalar>(c: &Arc<Context>, a: &mut Matrix, weights: &[f64], unit: f64) {
    let values: Vec<T> = weights.iter().map(|w| T::from_parts(w * unit, 0.0)).collect();
    a.set_values(&vector(c, &values)).unwrap();
}

fn applied<T: Scalar>(plan: &Plan, a: &Matrix, location: Location, n: usize) -> Vec<f64> {
    let (c, zero, one) = (plan.context(), Complex::new(0.0, 0.0), Complex::new(1.0, 0.0));
    let there = |values: &[T]| {
        let mut t = Tensor::create(c, T::DTYPE, location, Order::ColumnMajor, &[n]).unwrap();
        tensor::copy(c, None, &vector(c, values), &mut t).unwrap();
        t
    };
    let x: Vec<T> = (0..n).map(|k| T::from_parts(value(k + 5), 0.0)).collect();
    let (x, mut y) = (there(&x), there(&vec![T::default(); n]));
    plan.apply(one, a, &x, zero, &mut y).unwrap();
    let mut host = vector(c, &vec![T::default(); n]);
    tensor::copy(c, None, &y, &mut host).unwrap();
    entries::<T>(&host).iter().map(|v| v.re()).collect()
}

/// Both ends of the type, and its middle. The largest row sum of 40 vertices is below 80.
fn units<T: Scalar>() -> [f64; 4] {
    if T::Part::EPSILON.to_f64() > 1e-10 {
        [f64::exp2(-140.0), f64::exp2(-126.0), 1.0, f64::exp2(119.0)]
    } else {
        [f64::exp2(-1060.0), f64::exp2(-1022.0), 1.0, f64::exp2(1015.0)]
    }
}

/// Operators of graphs of any unit are those of the unit 1, but for the unit.
pub(in crate::spmv) fn check<T: Scalar>(c: &Arc<Context>, location: Location) {
    let n = 40;
    let (mut a, weights) = graph::<T>(c, n);
    for (kind, is_linear) in [
        (Kind::RandomWalkLaplacian, false),
        (Kind::NormalizedLaplacian, false),
        (Kind::NormalizedAdjacency, false),
        (Kind::Laplacian, true),
        (Kind::SignlessLaplacian, true),
        (Kind::Modularity, true),
    ] {
        for (op, ordering) in [(Op::Plain, None), (Op::Transpose, None), (Op::Plain, Some(Ordering::Degree))] {
            let options = Options { kind, op, ordering, ..Options::default() };
            set::<T>(c, &mut a, &weights, 1.0);
            let mut renewed = Plan::new(c, &a, options).unwrap();
            let want = applied::<T>(&renewed, &a, location, n);
            let size = want.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            for unit in units::<T>().into_iter().chain([1.0]) {
                set::<T>(c, &mut a, &weights, unit);
                let plan = Plan::new(c, &a, options).unwrap();
                renewed.update(&a).unwrap();
                assert_eq!(plan.info().bytes, renewed.info().bytes, "{kind:?} {unit:e}");
                for found in [applied::<T>(&plan, &a, location, n), applied::<T>(&renewed, &a, location, n)] {
                    for (found, want) in found.iter().zip(&want) {
                        let found = if is_linear { found / unit } else { *found };
                        // Weights of 2^-140 or 2^-1060 have 10 or 15 digits, and so do sums of them.
                        let eps = 64.0 * T::Part::EPSILON.to_f64() * n as f64;
                        let digits = if unit < units::<T>()[1] && is_linear { 2e-3 * n as f64 } else { eps };
                        assert!((found - want).abs() <= digits * size, "{kind:?} {op:?} {unit:e}: {found}, not {want}");
                    }
                }
            }
        }
    }
}

#[test]
fn operators_of_weights_at_both_ends_of_the_range_are_right() {
    check::<f64>(&cpu(2), Location::Host);
    check::<f32>(&cpu(1), Location::Host);
}

#[test]
fn a_row_of_ordinary_weights_beside_the_largest_keeps_its_digits() {
    let c = cpu(1);
    let lists = Lists { cols: 4, rows: vec![vec![1], vec![0], vec![3], vec![2]] };
    let (mut a, _) = super::matrix::<f64, i32>(&c, &lists, 0, false);
    a.set_values(&vector(&c, &[1e308, 1e308, 3e-200, 3e-200])).unwrap();
    let x = [3.0, -2.0, 1.0, 0.25];
    let apply = |kind| {
        let plan = Plan::new(&c, &a, Options { kind, ..Options::default() })?;
        let mut y = vector(&c, &[0.0; 4]);
        plan.apply(Complex::new(1.0, 0.0), &a, &vector(&c, &x), Complex::new(0.0, 0.0), &mut y)?;
        Ok::<_, Error>(entries::<f64>(&y))
    };
    assert_eq!(apply(Kind::RandomWalkLaplacian).unwrap(), [5.0, -5.0, 0.75, -0.75]);
    // Loops alone, whose sum overflows although each is finite: the walk has a unit of its own in each row.
    let double = Lists { cols: 2, rows: vec![vec![1, 1], vec![0, 0]] };
    let (mut b, _) = super::matrix::<f64, i32>(&c, &double, 0, false);
    b.set_values(&vector(&c, &[1.5e308; 4])).unwrap();
    let plan = Plan::new(&c, &b, Options { kind: Kind::RandomWalkLaplacian, ..Options::default() }).unwrap();
    let mut y = vector(&c, &[0.0; 2]);
    plan.apply(Complex::new(1.0, 0.0), &b, &vector(&c, &[1.0, 4.0]), Complex::new(0.0, 0.0), &mut y).unwrap();
    assert_eq!(entries::<f64>(&y), [-3.0, 3.0]);
}

#[test]
fn a_vertex_whose_weights_cancel_counts_as_isolated() {
    let c = cpu(1);
    let lists = Lists { cols: 3, rows: vec![vec![1, 2], vec![0, 2], vec![0, 1]] };
    let (mut a, _) = super::matrix::<f64, i32>(&c, &lists, 0, false);
    a.set_values(&vector(&c, &[1.0, -1.0, 1.0, 3.0, -1.0, 3.0])).unwrap();
    for (kind, expected) in [
        (Kind::NormalizedLaplacian, [0.0, 8.0 - 3.0 / 8f64.sqrt() * 16.0, 16.0 - 3.0 / 8f64.sqrt() * 8.0]),
        (Kind::NormalizedAdjacency, [0.0, 3.0 / 8f64.sqrt() * 16.0, 3.0 / 8f64.sqrt() * 8.0]),
        (Kind::RandomWalkLaplacian, [0.0, 8.0 - (4.0 + 48.0) / 4.0, 16.0 - (24.0 - 4.0) / 2.0]),
    ] {
        let plan = Plan::new(&c, &a, Options { kind, ..Options::default() }).unwrap();
        let mut y = vector(&c, &[1.0; 3]);
        let x = vector(&c, &[4.0, 8.0, 16.0]);
        plan.apply(Complex::new(1.0, 0.0), &a, &x, Complex::new(0.0, 0.0), &mut y).unwrap();
        for (y, expected) in entries::<f64>(&y).iter().zip(expected) {
            assert!((y - expected).abs() < 1e-13, "{kind:?}: {y} {expected}");
        }
    }
}

#[test]
fn row_sums_whose_products_overflow_are_refused() {
    let c = cpu(1);
    let lists = Lists { cols: 2, rows: vec![vec![1], vec![0]] };
    let with = |kind| Options { kind, ..Options::default() };
    let text = |made: Result<Plan>| match made.map(|_| ()).unwrap_err() {
        Error::Numerical(text) => text,
        other => panic!("{other}"),
    };
    let (mut a, _) = super::matrix::<f64, i32>(&c, &lists, 0, false);
    a.set_values(&vector(&c, &[1.5e308; 2])).unwrap();
    let (mut b, _) = super::matrix::<f32, i32>(&c, &lists, 0, false);
    b.set_values(&vector(&c, &[3e38f32; 2])).unwrap();
    for kind in [Kind::Laplacian, Kind::SignlessLaplacian, Kind::Modularity] {
        let found = text(Plan::new(&c, &a, with(kind)));
        assert!(found.starts_with("a: has row sum 1.5e308 in row 0 (from 0), at most 8.98"), "{found}");
        let found = text(Plan::new(&c, &b, with(kind)));
        assert!(found.contains("in row 0 (from 0), at most 1.7") && found.ends_with("overflow"), "{found}");
    }
    assert!(Plan::new(&c, &a, with(Kind::NormalizedLaplacian)).is_ok());
    // Finite entries whose sum overflows, and an entry that is infinite.
    let twice = Lists { cols: 2, rows: vec![vec![], vec![0, 1]] };
    let (mut d, _) = super::matrix::<f64, i32>(&c, &twice, 0, false);
    for sign in [1.0, -1.0] {
        d.set_values(&vector(&c, &[sign * 1.5e308; 2])).unwrap();
        for kind in [Kind::Laplacian, Kind::SignlessLaplacian, Kind::NormalizedLaplacian, Kind::NormalizedAdjacency] {
            let found = text(Plan::new(&c, &d, with(kind)));
            let sum = sign * f64::INFINITY;
            assert_eq!(found, format!("a: has row sum {sum} in row 1 (from 0): the sum of its entries overflows"));
        }
        assert!(text(Plan::new(&c, &d, with(Kind::Modularity))).ends_with("the sum of its entries overflows"));
    }
    for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        d.set_values(&vector(&c, &[value, 1.0])).unwrap();
        for kind in [Kind::Laplacian, Kind::NormalizedLaplacian, Kind::RandomWalkLaplacian, Kind::Modularity] {
            let found = Plan::new(&c, &d, with(kind)).map(|_| ()).unwrap_err();
            assert_eq!(found, Error::invalid("a", format!("has {value} in row 1, column 0 (from 0)")), "{kind:?}");
        }
    }
}

/// Of an operator, whose rows are not multiplied by powers of two.
#[test]
fn row_sums_whose_inverse_overflows_are_refused() {
    let c = cpu(1);
    struct Sums;
    impl crate::matrix::Operator<f64> for Sums {
        fn shape(&self) -> (usize, usize) {
            (2, 2)
        }
        fn apply(&mut self, _: crate::dense::Op, _: &[f64], _: usize, _: &mut [f64]) -> Result<()> {
            Ok(())
        }
        fn row_sums(&self) -> Result<Option<Vec<f64>>> {
            Ok(Some(vec![1.0, 1e-310]))
        }
        fn has_row_sums(&self) -> bool {
            true
        }
    }
    let own = Matrix::from_operator::<f64>(&c, Box::new(Sums));
    let found = Plan::new(&c, &own, Options { kind: Kind::RandomWalkLaplacian, ..Options::default() }).map(|_| ());
    match found.unwrap_err() {
        Error::Numerical(text) => assert!(text.ends_with("in row 1 (from 0), whose inverse overflows"), "{text}"),
        other => panic!("{other}"),
    }
}
