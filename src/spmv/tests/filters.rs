//! Filters against polynomials of formed operators, and plans of operators against those of their matrices.

use std::sync::Arc;

use super::kinds::{Case, Formed, Number, formed, lists, magnitudes, operator, product, wide};
use super::{Lists, cpu, matrix, noise, value, vector};
use crate::context::Context;
use crate::dense::Op as Asked;
use crate::error::Result;
use crate::matrix::{Matrix, Operator};
use crate::scalar::{Complex, Scalar};
use crate::spmv::{Kind, Method, Op, Options, Plan};
use crate::tensor::Location;

/// T_d((2 A - (lower + upper) I) / (upper - lower)), and the sum of the moduli of its terms.
fn polynomial(a: &Formed, sizes: &Formed, (degree, lower, upper): (usize, f64, f64)) -> (Formed, Formed) {
    let real = |v: f64| Complex::new(v, 0.0);
    let n = a.len();
    let identity: Formed = (0..n).map(|i| (0..n).map(|j| real(f64::from(u8::from(i == j)))).collect()).collect();
    let on = |of: &Formed, diagonal: f64| -> Formed {
        let entry = |i: usize, j: usize| (of[i][j] + identity[i][j] * diagonal) * (2.0 / (upper - lower));
        (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
    };
    let (t, size) = (on(a, -0.5 * (lower + upper)), on(sizes, 0.5 * (lower + upper).abs()));
    let next = |by: &Formed, here: &Formed, before: &Formed, sign: f64| -> Formed {
        let doubled = product(by, here);
        (0..n).map(|i| (0..n).map(|j| doubled[i][j] * 2.0 + before[i][j] * sign).collect()).collect()
    };
    let (mut before, mut here) = (identity.clone(), t.clone());
    let (mut size_before, mut size_here) = (identity.clone(), size.clone());
    for _ in 1..degree {
        (before, here) = (here.clone(), next(&t, &here, &before, -1.0));
        (size_before, size_here) = (size_here.clone(), next(&size, &size_here, &size_before, 1.0));
    }
    (here, size_here)
}

/// Filters of several kinds and degrees.
pub(crate) fn check<T: Scalar>(c: &Arc<Context>, op: Op, location: Location) {
    let lists = lists(150);
    let (mut a, values) = matrix::<T, i32>(c, &lists, 1, false);
    let values: Vec<T> = values.iter().map(|v| T::from_parts(v.re().abs(), v.im())).collect();
    a.set_values(&vector(c, &values)).unwrap();
    let whole = formed(&lists, &values, Op::Plain);
    let degrees: Vec<f64> = whole.iter().map(|row| row.iter().map(|v| v.re).sum()).collect();
    let of = formed(&lists, &values, op);
    let kinds = [Kind::Matrix, Kind::NormalizedLaplacian, Kind::Modularity, Kind::Gram];
    for (kind, (degree, lower, upper)) in
        kinds.into_iter().flat_map(|k| [(1, -0.5, 3.5), (2, -6.0, 6.0), (5, -4.0, 9.0)].map(|f| (k, f)))
    {
        let op = if kind == Kind::Gram { Op::Plain } else { op };
        let of = if kind == Kind::Gram { &whole } else { &of };
        let options = Options { op, kind, shift: 0.25, degree, lower, upper, ..Options::default() };
        let (want, sizes) =
            (operator(kind, of, &degrees, op, 0.25), operator(kind, &magnitudes(of), &degrees, op, 0.25));
        let mut sizes = magnitudes(&sizes);
        for (size, want) in sizes.iter_mut().flatten().zip(want.iter().flatten()) {
            *size = Complex::new(size.re + 2.0 * want.norm() + 2.0, 0.0);
        }
        let (want, sizes) = polynomial(&want, &sizes, (degree, lower, upper));
        let plan = Plan::new(c, &a, options).unwrap();
        Case { c, location, options }.check::<T>(&plan, &a, &want, &sizes, 2 * want.len() * degree);
    }
}

/// A dense matrix as an operator.
struct Own<T>(Vec<Vec<T>>);

impl<T: Scalar> Operator<T> for Own<T> {
    fn shape(&self) -> (usize, usize) {
        (self.0.len(), self.0[0].len())
    }

    fn apply(&mut self, op: Asked, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        let (m, n) = self.shape();
        let (rows, cols) = if op == Asked::Plain { (m, n) } else { (n, m) };
        for k in 0..count {
            for i in 0..rows {
                let term = |j: usize| match op {
                    Asked::Plain => self.0[i][j],
                    Asked::Adjoint => self.0[j][i].conjugate(),
                };
                y[k * rows + i] = (0..cols).fold(T::default(), |sum, j| sum + term(j) * x[k * cols + j]);
            }
        }
        Ok(())
    }
}

/// Plans of operators: plain and adjoint, of kinds without degrees, with shifts and filters.
pub(crate) fn check_operators<T: Scalar>(c: &Arc<Context>, location: Location) {
    for cols in [23, 31] {
        let number = |k: usize| T::from_parts(value(k), value(k + 91));
        let rows: Vec<Vec<T>> = (0..23).map(|i| (0..cols).map(|j| number(i * cols + j)).collect()).collect();
        let of: Formed = rows.iter().map(|row| row.iter().map(|v| wide(*v)).collect()).collect();
        let a = Matrix::from_operator::<T>(c, Box::new(Own(rows)));
        let mut kinds = vec![(Kind::Gram, Op::Plain), (Kind::OuterGram, Op::Plain), (Kind::Augmented, Op::Plain)];
        if cols == 23 {
            kinds.extend([(Kind::Matrix, Op::Plain), (Kind::Matrix, Op::Adjoint)]);
        }
        for (kind, op) in kinds {
            let of: Formed = match op {
                Op::Plain => of.clone(),
                _ => (0..cols).map(|j| of.iter().map(|row| row[j].conj()).collect()).collect(),
            };
            for (shift, (degree, lower, upper)) in [(0.0, (0, 0.0, 0.0)), (0.5, (0, 0.0, 0.0)), (0.5, (3, -4.0, 9.0))] {
                let options = Options { op, kind, shift, degree, lower, upper, ..Options::default() };
                let mut want = operator(kind, &of, &[], op, shift);
                let mut sizes = magnitudes(&operator(kind, &magnitudes(&of), &[], op, shift));
                if degree > 0 {
                    (want, sizes) = polynomial(&want, &sizes, (degree, lower, upper));
                }
                let plan = Plan::new(c, &a, options).unwrap();
                assert_eq!((plan.info().statistics.nnz, plan.info().method), (0, Method::Auto));
                Case { c, location, options }.check::<T>(&plan, &a, &want, &sizes, 4 * want.len() * degree.max(1));
            }
        }
    }
}

#[test]
fn filters_are_polynomials_of_operators() {
    let c = cpu(2);
    check::<f64>(&c, Op::Plain, Location::Host);
    check::<f32>(&c, Op::Transpose, Location::Host);
    check::<Complex<f64>>(&c, Op::Adjoint, Location::Host);
    check::<Complex<f32>>(&c, Op::Plain, Location::Host);
}

#[test]
fn plans_take_operators() {
    let c = cpu(2);
    check_operators::<f64>(&c, Location::Host);
    check_operators::<f32>(&c, Location::Host);
    check_operators::<Complex<f64>>(&c, Location::Host);
    check_operators::<Complex<f32>>(&c, Location::Host);
}

#[test]
fn filters_and_operators_that_are_none_are_refused() {
    let c = cpu(1);
    let lists = Lists { cols: 3, rows: vec![vec![0], vec![1, 2]] };
    let (rectangular, _) = matrix::<f64, i32>(&c, &lists, 0, true);
    let square = Lists { cols: 2, rows: vec![vec![0], vec![noise(0) % 2]] };
    let (a, _) = matrix::<f64, i32>(&c, &square, 0, true);
    let number = |k: usize| Complex::new(value(k), value(k + 1));
    let own =
        Matrix::from_operator(&c, Box::new(Own::<Number>((0..2).map(|i| vec![number(i), number(i + 7)]).collect())));
    let filter = |degree, lower, upper| Options { degree, lower, upper, ..Options::default() };
    let plain = Options::default();
    for (a, options, problem) in [
        (&a, filter(0, 0.0, 1.0), "upper: is 1 without a filter: degree is 0"),
        (&a, filter(20_001, 0.0, 1.0), "degree: is 20001, outside 0 to 20000"),
        (&a, filter(3, f64::NAN, 1.0), "lower: is NaN, a finite number is needed"),
        (&a, filter(3, 0.0, f64::INFINITY), "upper: is inf, a finite number is needed"),
        (&a, filter(3, 1.0, 1.0), "upper: is 1, more than lower = 1 is needed"),
        (&rectangular, filter(3, 0.0, 1.0), "degree: is 3, a matrix that is not square has no polynomials"),
        (
            &own,
            Options { method: Method::Merge, ..plain },
            "not supported: method: is MERGE, an operator forms its products itself: AUTO is needed",
        ),
        (
            &own,
            Options { op: Op::Transpose, ..plain },
            "not supported: op: is TRANSPOSE, an operator of complex numbers has its adjoint alone",
        ),
        (
            &own,
            Options { kind: Kind::Laplacian, ..plain },
            "not supported: a: is an operator, a sparse matrix is needed for LAPLACIAN",
        ),
    ] {
        assert_eq!(Plan::new(&c, a, options).map(|_| ()).unwrap_err().to_string(), problem);
    }
    // A plan is for a matrix or for an operator.
    let plan = Plan::new(&c, &own, plain).unwrap();
    let (other, _) = matrix::<Number, i32>(&c, &square, 0, true);
    let (x, mut y) = (vector(&c, &[number(0); 2]), vector(&c, &[number(0); 2]));
    let one = Complex::new(1.0, 0.0);
    let refused = plan.apply(one, &other, &x, one, &mut y).unwrap_err().to_string();
    assert_eq!(refused, "a: is sparse, the plan is for an operator");
}
