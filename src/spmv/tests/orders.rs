//! Products in another order of rows and columns against sums in the matrix's own.

use std::sync::Arc;

use super::{Lists, cpu, entries, noise, reference, value, vector};
use crate::context::Context;
use crate::error::Error;
use crate::matrix::sparse::Ordering;
use crate::matrix::{self, Matrix, Storage};
use crate::scalar::{Complex, Scalar};
use crate::shape::Order;
use crate::spmv::{Op, Options, Plan};
use crate::tensor::{self, Location, Tensor};

/// Products in each order are those in the matrix's order: vectors, blocks of both orders, and after new values.
pub(crate) fn check<T: Scalar>(c: &Arc<Context>, pattern: bool, op: Op, location: Location) {
    let lists = Lists {
        cols: 3001,
        rows: (0..3001)
            .map(|i| (0..if i == 2000 { 2900 } else { noise(i) % 7 }).map(|k| noise(i * 31 + k) % 3001).collect())
            .collect(),
    };
    let (mut a, values) = super::matrix::<T, i32>(c, &lists, 1, pattern);
    let (n, w) = (lists.cols, 3);
    let x: Vec<T> = (0..n * w).map(|k| T::from_parts(value(k + 17), value(k + 33))).collect();
    let (alpha, beta) = (Complex::new(-1.5, 0.0), Complex::new(0.5, 0.0));
    let (zero, one) = (Complex::new(0.0, 0.0), Complex::new(1.0, 0.0));
    let there = |values: &[T]| {
        let host = vector(c, values);
        let mut t = Tensor::create(c, T::DTYPE, location, Order::ColumnMajor, &[values.len()]).unwrap();
        tensor::copy(c, None, &host, &mut t).unwrap();
        t
    };
    let back = |t: &Tensor| {
        let mut host = vector(c, &vec![T::default(); t.dims()[0]]);
        tensor::copy(c, None, t, &mut host).unwrap();
        entries::<T>(&host)
    };
    let near = |found: &[T], scalars, x: &[T], old: &[T], what: &str| {
        for (i, (f, (want, bound))) in found.iter().zip(reference(&lists, &values, op, scalars, x, old)).enumerate() {
            let off = (Complex::new(f.re(), f.im()) - want).norm();
            assert!(off <= bound, "{what} row {i}: {f:?}, not {want} +- {bound}");
        }
    };
    for how in [Ordering::Degree, Ordering::CuthillMckee] {
        let mut plan = Plan::new(c, &a, Options { op, ordering: Some(how), ..Options::default() }).unwrap();
        let nan = vec![T::from_parts(f64::NAN, f64::NAN); n];
        for (scalars, old) in [((one, zero), &nan[..]), ((alpha, beta), &x[n..2 * n]), ((zero, beta), &x[..n])] {
            let mut y = there(old);
            let given = if scalars.0 == zero { &nan[..] } else { &x[..n] };
            plan.apply(scalars.0, &a, &there(given), scalars.1, &mut y).unwrap();
            near(&back(&y), scalars, &x[..n], old, &format!("{how:?} {op:?} {scalars:?}"));
        }
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let at = |i: usize, j: usize| if order == Order::RowMajor { i * w + j } else { j * n + i };
            let dense = |values: &[T]| {
                let mut host = Matrix::create(c, T::DTYPE, Location::Host, order, n, w).unwrap();
                host.dense_mut("m")
                    .unwrap()
                    .memory
                    .host_mut("m")
                    .unwrap()
                    .as_mut_slice::<T>()
                    .unwrap()
                    .copy_from_slice(values);
                let mut made = Matrix::create(c, T::DTYPE, location, order, n, w).unwrap();
                matrix::copy(c, None, &host, &mut made).unwrap();
                made
            };
            let (from, mut to) = (dense(&x), dense(&x));
            plan.apply_block(alpha, &a, &from, beta, &mut to).unwrap();
            let mut host = Matrix::create(c, T::DTYPE, Location::Host, order, n, w).unwrap();
            matrix::copy(c, None, &to, &mut host).unwrap();
            let found = host.dense("m").unwrap().memory.host("m").unwrap().as_slice::<T>().unwrap();
            for j in 0..w {
                let column = |v: &[T]| (0..n).map(|i| v[at(i, j)]).collect::<Vec<T>>();
                let what = format!("{how:?} {op:?} {order:?} column {j}");
                near(&column(found), (alpha, beta), &column(&x), &column(&x), &what);
            }
        }
        if pattern {
            continue;
        }
        // Other values: all of them doubled, and back.
        for factor in [2.0, 0.5] {
            let Storage::Csr(csr) = a.storage() else { panic!("not sparse") };
            let held: Vec<T> =
                csr.parts().values.as_ref().unwrap().host("a").unwrap().as_slice::<T>().unwrap().to_vec();
            let scaled: Vec<T> = held.iter().map(|v| T::from_parts(factor, 0.0) * *v).collect();
            a.set_values(&vector(c, &scaled)).unwrap();
            let mut y = there(&nan);
            plan.update(&a).unwrap();
            plan.apply(one, &a, &there(&x[..n]), zero, &mut y).unwrap();
            let halved: Vec<T> =
                back(&y).iter().map(|v| if factor > 1.0 { T::from_parts(0.5, 0.0) * *v } else { *v }).collect();
            near(&halved, (one, zero), &x[..n], &nan, &format!("{how:?} {op:?} times {factor}"));
        }
    }
}

#[test]
fn products_in_another_order_are_those_of_the_matrix() {
    let c = cpu(2);
    check::<f64>(&c, false, Op::Plain, Location::Host);
    check::<Complex<f32>>(&c, false, Op::Adjoint, Location::Host);
    check::<f32>(&c, true, Op::Transpose, Location::Host);
    let lists = Lists { cols: 3, rows: vec![vec![0], vec![1]] };
    let (wide, _) = super::matrix::<f64, i32>(&c, &lists, 0, false);
    let options = Options { ordering: Some(Ordering::Degree), ..Options::default() };
    assert!(matches!(Plan::new(&c, &wide, options), Err(Error::InvalidArgument { .. })));
    let (none, _) = super::matrix::<f64, i32>(&c, &Lists { cols: 0, rows: vec![] }, 0, false);
    let (x, mut y) = (vector::<f64>(&c, &[]), vector::<f64>(&c, &[]));
    let one = Complex::new(1.0, 0.0);
    Plan::new(&c, &none, options).unwrap().apply(one, &none, &x, one, &mut y).unwrap();
}
