//! Products with operators that are never formed, against the same operators as dense matrices.

use std::sync::Arc;

use super::{Lists, cpu, entries, noise, value, vector};
use crate::context::Context;
use crate::matrix::sparse::{Ordering, scale};
use crate::matrix::{self, Matrix, Storage};
use crate::scalar::{Complex, Real, Scalar};
use crate::shape::Order;
use crate::spmv::{Kind, Op, Options, Plan};
use crate::tensor::{self, Location, Tensor};

pub(super) type Number = Complex<f64>;

/// Rows and columns of numbers.
pub(super) type Formed = Vec<Vec<Number>>;

pub(super) fn wide<T: Scalar>(v: T) -> Number {
    Complex::new(v.re(), v.im())
}

/// Of a graph with a hub and a vertex without edges, neither symmetric nor rectangular unless `cols` says so.
pub(super) fn lists(cols: usize) -> Lists {
    let row = |i: usize| match i {
        3 => vec![],
        5 => (0..cols).filter(|j| *j != 3).collect(),
        _ => (0..noise(i) % 6).map(|k| noise(i * 31 + k) % cols).filter(|j| *j != 3).collect(),
    };
    Lists { cols, rows: (0..150).map(row).collect() }
}

/// op(A) as a full matrix, duplicates added.
pub(super) fn formed<T: Scalar>(lists: &Lists, values: &[T], op: Op) -> Formed {
    let (rows, cols) = (lists.rows.len(), lists.cols);
    let (m, n) = if op == Op::Plain { (rows, cols) } else { (cols, rows) };
    let mut out = vec![vec![Complex::new(0.0, 0.0); n]; m];
    let places = lists.rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&j| (i, j)));
    for ((i, j), v) in places.zip(values) {
        match op {
            Op::Plain => out[i][j] += wide(*v),
            Op::Transpose => out[j][i] += wide(*v),
            Op::Adjoint => out[j][i] += wide(*v).conj(),
        }
    }
    out
}

pub(super) fn product(a: &Formed, b: &Formed) -> Formed {
    let cols = b.first().map_or(0, Vec::len);
    a.iter().map(|row| (0..cols).map(|j| row.iter().zip(b).map(|(v, b)| v * b[j]).sum()).collect()).collect()
}

fn adjoint(a: &Formed) -> Formed {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j].conj()).collect()).collect()
}

/// The operator of a kind for op(A), with the degrees of A.
pub(super) fn operator(kind: Kind, a: &Formed, degrees: &[f64], op: Op, shift: f64) -> Formed {
    let real = |v: f64| Complex::new(v, 0.0);
    let over = |d: f64, p: f64| if d == 0.0 { 0.0 } else { d.powf(p) };
    let each = |of: &dyn Fn(usize, usize, Number) -> Number| -> Formed {
        let row = |(i, row): (usize, &Vec<Number>)| row.iter().enumerate().map(|(j, v)| of(i, j, *v)).collect();
        a.iter().enumerate().map(row).collect()
    };
    let on = |i: usize, j: usize, d: f64| real(if i == j { d } else { 0.0 });
    let one = |i: usize| over(degrees[i], 0.0);
    let total: f64 = degrees.iter().sum();
    let mut made = match kind {
        Kind::Matrix => a.clone(),
        Kind::Laplacian => each(&|i, j, v| on(i, j, degrees[i]) - v),
        Kind::SignlessLaplacian => each(&|i, j, v| on(i, j, degrees[i]) + v),
        Kind::NormalizedAdjacency => each(&|i, j, v| v * over(degrees[i], -0.5) * over(degrees[j], -0.5)),
        Kind::NormalizedLaplacian => {
            each(&|i, j, v| on(i, j, one(i)) - v * over(degrees[i], -0.5) * over(degrees[j], -0.5))
        }
        Kind::RandomWalkLaplacian if op == Op::Plain => each(&|i, j, v| on(i, j, one(i)) - v * over(degrees[i], -1.0)),
        Kind::RandomWalkLaplacian => each(&|i, j, v| on(i, j, one(i)) - v * over(degrees[j], -1.0)),
        Kind::Modularity => each(&|i, j, v| v - real(degrees[i] * degrees[j] / total)),
        Kind::Gram => product(&adjoint(a), a),
        Kind::OuterGram => product(a, &adjoint(a)),
        Kind::Augmented => {
            let (m, n) = (a.len(), a[0].len());
            let h = adjoint(a);
            let at = |i: usize, j: usize| match (i < m, j < m) {
                (true, false) => a[i][j - m],
                (false, true) => h[i - m][j],
                _ => real(0.0),
            };
            (0..m + n).map(|i| (0..m + n).map(|j| at(i, j)).collect()).collect()
        }
    };
    for (i, row) in made.iter_mut().enumerate() {
        if shift != 0.0 {
            row[i] += real(shift);
        }
    }
    made
}

/// A context, the location of vectors, and the options of a plan.
pub(super) struct Case<'a> {
    pub(super) c: &'a Arc<Context>,
    pub(super) location: Location,
    pub(super) options: Options,
}

impl Case<'_> {
    pub(super) fn vector<T: Scalar>(&self, values: &[T]) -> Tensor {
        let host = vector(self.c, values);
        let mut t = Tensor::create(self.c, T::DTYPE, self.location, Order::ColumnMajor, &[values.len()]).unwrap();
        tensor::copy(self.c, None, &host, &mut t).unwrap();
        t
    }

    pub(super) fn dense<T: Scalar>(&self, order: Order, rows: usize, values: &[T]) -> Matrix {
        let cols = values.len() / rows;
        let mut host = Matrix::create(self.c, T::DTYPE, Location::Host, order, rows, cols).unwrap();
        let place = host.dense_mut("m").unwrap();
        place.memory.host_mut("m").unwrap().as_mut_slice::<T>().unwrap().copy_from_slice(values);
        let mut made = Matrix::create(self.c, T::DTYPE, self.location, order, rows, cols).unwrap();
        matrix::copy(self.c, None, &host, &mut made).unwrap();
        made
    }

    /// Vectors and blocks against `want`, whose rows are summed from as many terms as `terms`.
    pub(super) fn check<T: Scalar>(&self, plan: &Plan, a: &Matrix, want: &Formed, sizes: &Formed, terms: usize) {
        let Case { c, options, .. } = self;
        let (n, w) = (want.len(), 3);
        assert_eq!(plan.size(), (n, n));
        let x: Vec<T> = (0..n * w).map(|k| T::from_parts(value(k + 17), value(k + 33))).collect();
        let i = if T::IS_COMPLEX { 0.25 } else { 0.0 };
        let (alpha, beta, zero) = (Complex::new(-1.5, i), Complex::new(0.5, -i), Complex::new(0.0, 0.0));
        let eps = T::Part::EPSILON.to_f64();
        let near = |found: &[T], (alpha, beta): (Number, Number), x: &[T], old: &[T], what: &str| {
            for (r, found) in found.iter().enumerate() {
                let kept = if beta == zero { zero } else { beta * wide(old[r]) };
                let (mut sum, mut size) = (kept, kept.norm());
                if alpha != zero {
                    for (j, x) in x.iter().enumerate() {
                        sum += alpha * want[r][j] * wide(*x);
                        size += alpha.norm() * sizes[r][j].norm() * wide(*x).norm();
                    }
                }
                let (off, bound) = ((wide(*found) - sum).norm(), 8.0 * (terms + 8) as f64 * eps * size);
                assert!(off <= bound, "{options:?} {what} row {r}: {found:?}, not {sum} +- {bound}");
            }
        };
        let nan = vec![T::from_parts(f64::NAN, f64::NAN); n];
        let one = Complex::new(1.0, 0.0);
        for (scalars, old) in [((one, zero), &nan[..]), ((alpha, beta), &x[n..2 * n]), ((zero, beta), &x[..n])] {
            let mut y = self.vector(old);
            let given = if scalars.0 == zero { &nan[..] } else { &x[..n] };
            plan.apply(scalars.0, a, &self.vector(given), scalars.1, &mut y).unwrap();
            let mut host = vector(c, &nan);
            tensor::copy(c, None, &y, &mut host).unwrap();
            near(&entries::<T>(&host), scalars, &x[..n], old, "vector");
        }
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let at = |i: usize, j: usize| if order == Order::RowMajor { i * w + j } else { j * n + i };
            let (from, mut to) = (self.dense(order, n, &x), self.dense(order, n, &x));
            plan.apply_block(alpha, a, &from, beta, &mut to).unwrap();
            let mut host = Matrix::create(c, T::DTYPE, Location::Host, order, n, w).unwrap();
            matrix::copy(c, None, &to, &mut host).unwrap();
            let found = host.dense("m").unwrap().memory.host("m").unwrap().as_slice::<T>().unwrap();
            for j in 0..w {
                let column = |v: &[T]| (0..n).map(|i| v[at(i, j)]).collect::<Vec<T>>();
                let what = format!("{order:?} column {j}");
                near(&column(found), (alpha, beta), &column(&x), &column(&x), &what);
            }
        }
    }
}

pub(super) fn magnitudes(a: &Formed) -> Formed {
    a.iter().map(|row| row.iter().map(|v| Complex::new(v.norm(), 0.0)).collect()).collect()
}

/// Every kind of a matrix, of its transpose, in other orders, and after new values.
pub(crate) fn check<T: Scalar>(c: &Arc<Context>, pattern: bool, op: Op, location: Location) {
    let absolute = |v: &T| T::from_parts(v.re().abs(), v.im());
    for cols in [150, 61] {
        let lists = lists(cols);
        let (mut a, mut values) = super::matrix::<T, i32>(c, &lists, 1, pattern);
        if !pattern {
            values = values.iter().map(absolute).collect();
            a.set_values(&vector(c, &values)).unwrap();
        }
        for kind in Kind::HERMITIAN.into_iter().chain([Kind::RandomWalkLaplacian]) {
            let is_square = !matches!(kind, Kind::Gram | Kind::OuterGram | Kind::Augmented);
            if is_square && cols != lists.rows.len() {
                continue;
            }
            let op = if is_square { op } else { Op::Plain };
            let orders = if is_square { vec![None, Some(Ordering::Degree)] } else { vec![None] };
            for (shift, order) in orders.into_iter().flat_map(|o| [(0.0, o), (0.75, o)]) {
                let options = Options { op, kind, shift, ordering: order, ..Options::default() };
                let case = Case { c, location, options };
                let mut plan = Plan::new(c, &a, options).unwrap();
                let expect = |values: &[T]| {
                    let whole = formed(&lists, values, Op::Plain);
                    let degrees: Vec<f64> = whole.iter().map(|row| row.iter().map(|v| v.re).sum()).collect();
                    let of = formed(&lists, values, op);
                    let want = operator(kind, &of, &degrees, op, shift);
                    // Terms that cancel have rounding errors too.
                    let mut sizes = magnitudes(&operator(kind, &magnitudes(&of), &degrees, op, shift));
                    for (size, want) in sizes.iter_mut().flatten().zip(want.iter().flatten()) {
                        *size = Complex::new(size.re + 2.0 * want.norm() + 2.0, 0.0);
                    }
                    (want, sizes)
                };
                let (want, sizes) = expect(&values);
                case.check::<T>(&plan, &a, &want, &sizes, 2 * want.len());
                if pattern || location == Location::Device || shift == 0.0 {
                    continue;
                }
                let doubled: Vec<T> = values.iter().map(|v| T::from_parts(2.0, 0.0) * *v).collect();
                a.set_values(&vector(c, &doubled)).unwrap();
                plan.update(&a).unwrap();
                let (want, sizes) = expect(&doubled);
                case.check::<T>(&plan, &a, &want, &sizes, 2 * want.len());
                a.set_values(&vector(c, &values)).unwrap();
            }
        }
    }
}

#[test]
fn operators_are_applied_without_being_formed() {
    let c = cpu(2);
    check::<f64>(&c, false, Op::Plain, Location::Host);
    check::<f32>(&c, true, Op::Transpose, Location::Host);
    check::<Complex<f64>>(&c, false, Op::Adjoint, Location::Host);
    check::<Complex<f32>>(&c, true, Op::Plain, Location::Host);
}

#[test]
fn what_a_matrix_cannot_be_made_into_is_refused() {
    let c = cpu(1);
    let lists = Lists { cols: 3, rows: vec![vec![0], vec![1, 2]] };
    let (a, _) = super::matrix::<f64, i32>(&c, &lists, 0, true);
    let square = Lists { cols: 2, rows: vec![vec![0], vec![]] };
    let (mut b, _) = super::matrix::<f64, i32>(&c, &square, 0, false);
    b.set_values(&vector(&c, &[-1.0])).unwrap();
    let with = |kind| Options { kind, ..Options::default() };
    let gram = with(Kind::Gram);
    for (a, options, problem) in [
        (&a, with(Kind::Laplacian), "a: is 2 x 3, a square matrix is needed for LAPLACIAN"),
        (&a, Options { shift: 1.0, ..Options::default() }, "shift: is 1, a is 2 x 3: it has no diagonal to add to"),
        (&a, Options { shift: f64::NAN, ..gram }, "shift: is NaN, a finite number is needed"),
        (&a, Options { op: Op::Transpose, ..gram }, "op: is TRANSPOSE, GRAM is its own adjoint: PLAIN is needed"),
        (&b, Options { ordering: Some(Ordering::Degree), ..gram }, "ordering: is set, GRAM has no order of its own"),
        (&b, with(Kind::RandomWalkLaplacian), "a: has row sum -1 in row 0 (from 0): no normalized operator"),
        (&b, with(Kind::Modularity), "a: has entries of sum -1: no modularity"),
    ] {
        assert_eq!(Plan::new(&c, a, options).map(|_| ()).unwrap_err().to_string(), problem);
    }
    // A plan with row sums supports only the type of these sums.
    let plan = Plan::new(&c, &b, with(Kind::Laplacian)).unwrap();
    let (other, _) = super::matrix::<f32, i32>(&c, &square, 0, true);
    let (x, mut y) = (vector(&c, &[1.0f32; 2]), vector(&c, &[1.0f32; 2]));
    let one = Complex::new(1.0, 0.0);
    assert!(plan.apply(one, &other, &x, one, &mut y).is_err());
}

#[test]
fn rows_and_columns_are_scaled() {
    let c = cpu(1);
    for pattern in [false, true] {
        let lists = lists(61);
        let (a, values) = super::matrix::<Complex<f64>, i32>(&c, &lists, 1, pattern);
        let numbers = |count: usize, seed: usize| -> Vec<Complex<f64>> {
            (0..count).map(|k| Complex::new(value(k + seed), value(k + seed + 500))).collect()
        };
        let (rows, cols) = (numbers(150, 3), numbers(61, 4));
        let (r, k) = (vector(&c, &rows), vector(&c, &cols));
        for (by_rows, by_cols) in [(true, true), (true, false), (false, true), (false, false)] {
            let made = scale(&c, &a, by_rows.then_some(&r), by_cols.then_some(&k)).unwrap();
            let Storage::Csr(csr) = made.storage() else { panic!("not sparse") };
            let found = csr.parts().values.as_ref().unwrap().host("a").unwrap().as_slice::<Complex<f64>>().unwrap();
            let places = lists.rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&j| (i, j)));
            let one = Complex::new(1.0, 0.0);
            for (((i, j), v), found) in places.zip(&values).zip(found) {
                let want = if by_rows { rows[i] } else { one } * v * if by_cols { cols[j] } else { one };
                assert!((want - found).norm() <= 4.0 * f64::EPSILON * want.norm(), "{found}, not {want}");
            }
        }
        let text = |r: crate::error::Result<Matrix>| r.map(|_| ()).unwrap_err().to_string();
        assert_eq!(text(scale(&c, &a, Some(&k), None)), "rows: has dimensions [61], [150] are needed");
        assert!(text(scale(&c, &a, None, Some(&vector(&c, &[1.0f32; 61])))).starts_with("cols: is F32"));
    }
}
