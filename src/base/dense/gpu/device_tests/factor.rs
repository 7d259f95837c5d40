//! CholeskyQR, Householder QR and eigenvalues on a GPU, with and without cuSOLVER.

use super::super::GpuAlgebra;
use super::algebras::{algebra, bare, for_all_types};
use super::host::{C64, Host, eps};
use crate::dense::{Algebra, Step};
use crate::error::Error;
use crate::scalar::{Complex, Scalar};

fn cholesky_steps_orthonormalize<T: Scalar>(mut ops: GpuAlgebra) {
    for (rows, cols, condition) in [
        (1, 1, 1.0f64),
        (257, 31, 10.0),
        (1000, 128, 1e3),
        (3001, 33, 1e3),
        (40, 40, 1e2),
        (300, 97, 1e2),
        (300, 129, 1e2),
    ] {
        let a = Host::with_values::<T>(rows, cols, |j| condition.powf(-(j as f64) / (cols as f64)));
        let mut x = a.to::<T>(&mut ops);
        let mut total = Host::new(cols, cols, |i, j| C64::new(f64::from(u8::from(i == j)), 0.0));
        for step in 0..2 {
            let mut r = Algebra::<T>::zeros(&mut ops, "test", cols, cols).unwrap();
            let Step::Done { spread } = ops.cholesky_step(&mut x, 0.0, &mut r).unwrap() else {
                panic!("{rows} x {cols}: step {step} failed");
            };
            let r = Host::from(&mut ops, &r);
            assert!((0..cols).all(|j| (j + 1..cols).all(|i| r.get(i, j) == C64::default())), "R is a triangle");
            assert!(spread > 0.3 / condition && spread <= 1.0, "{spread}");
            total = r.times(&total);
        }
        let q = Host::from(&mut ops, &x);
        // Of the second step, whose condition is 1: cols roundings an entry of an m-term product, sqrt(cols) of them.
        let bound = 10.0 * eps::<T>() * (cols as f64 + 5.0);
        assert!(q.defect() < bound, "{rows} x {cols}: {}", q.defect());
        let residual = q.times(&total).minus(&a).norm() / a.norm();
        assert!(residual < bound, "{rows} x {cols}: {residual}");
    }
}

fn a_cholesky_step_that_fails_leaves_everything<T: Scalar>(mut ops: GpuAlgebra, cols: usize) {
    const ROWS: usize = 200;
    let mut a = Host::random::<T>(ROWS, cols, 7);
    let (first, second) = a.at.split_at_mut(ROWS);
    second[3 * ROWS..4 * ROWS].copy_from_slice(first);
    for bad in [a.clone(), Host::new(ROWS, cols, |_, _| C64::default()), Host::new(0, cols, |_, _| C64::default()), {
        let mut nan = Host::random::<T>(ROWS, cols, 7);
        nan.at[555] = C64::new(f64::NAN, 0.0);
        nan
    }] {
        let mut x = bad.to::<T>(&mut ops);
        let mut r = Algebra::<T>::zeros(&mut ops, "test", cols, cols).unwrap();
        let step = ops.cholesky_step(&mut x, 0.0, &mut r).unwrap();
        if let Step::Done { spread } = step {
            // Rounding may leave the duplicate a pivot of its size.
            assert!(spread < 1e-6 && bad.rows > 0 && bad.norm() > 0.0, "{spread}");
            continue;
        }
        let bits = |h: &Host| h.at.iter().map(|x| (x.re.to_bits(), x.im.to_bits())).collect::<Vec<_>>();
        let after = Host::from(&mut ops, &x);
        assert!(bits(&after) == bits(&bad));
    }
    // A shift makes it positive definite: the factor is bounded and finite.
    let mut x = a.to::<T>(&mut ops);
    let mut r = Algebra::<T>::zeros(&mut ops, "test", cols, cols).unwrap();
    let Step::Done { spread } = ops.cholesky_step(&mut x, 1e-10, &mut r).unwrap() else { panic!("shifted") };
    let (q, r) = (Host::from(&mut ops, &x), Host::from(&mut ops, &r));
    assert!(spread > 1e-6 && q.norm() < (cols as f64).sqrt() + 0.1, "{spread} {}", q.norm());
    // Substitution row by row: a rounding of each product, whatever the condition.
    assert!(q.times(&r).minus(&a).norm() < 50.0 * eps::<T>() * a.norm());
    let trace = a.norm().powi(2);
    let gram = r.adjoint().times(&r).minus(&a.adjoint().times(&a));
    // R is rounded to T, so its square is met to that; the shift is seen in double precision alone.
    if eps::<T>() < 1e-10 {
        assert!((0..cols).all(|j| (gram.get(j, j).re / trace - 1e-10).abs() < 1e-13));
    }
    let mut wrong = Algebra::<T>::zeros(&mut ops, "test", 8, 8).unwrap();
    assert!(ops.cholesky_step(&mut x, 0.0, &mut wrong).is_err());
    let mut empty = Algebra::<T>::zeros(&mut ops, "test", 5, 0).unwrap();
    let mut none = Algebra::<T>::zeros(&mut ops, "test", 0, 0).unwrap();
    assert_eq!(ops.cholesky_step(&mut empty, 0.0, &mut none).unwrap(), Step::Done { spread: 1.0 });
}

#[test]
#[ignore = "needs a GPU"]
fn cholesky_steps() {
    for_all_types!(cholesky_steps_orthonormalize(algebra()));
    for_all_types!(cholesky_steps_orthonormalize(bare()));
    // One block's work, and more.
    for cols in [9, 131] {
        for_all_types!(a_cholesky_step_that_fails_leaves_everything(algebra(), cols));
        a_cholesky_step_that_fails_leaves_everything::<f64>(bare(), cols);
        a_cholesky_step_that_fails_leaves_everything::<Complex<f32>>(bare(), cols);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn substitution_and_the_inverse_give_one_basis() {
    let mut ops = algebra();
    // Columns that are nearly parallel: the inverse alone would lose five digits of X - Q R.
    let a = Host::with_values::<f64>(500, 40, |j| if j == 0 { 1.0 } else { 1e-6 });
    let mut x = a.to::<f64>(&mut ops);
    let mut r = Algebra::<f64>::zeros(&mut ops, "test", 40, 40).unwrap();
    assert!(matches!(ops.cholesky_step(&mut x, 0.0, &mut r).unwrap(), Step::Done { .. }));
    let (q, r) = (Host::from(&mut ops, &x), Host::from(&mut ops, &r));
    let residual = q.times(&r).minus(&a).norm() / a.norm();
    assert!(residual < 50.0 * f64::EPSILON, "{residual}");
}

/// Columns that are nearly orthogonal and far below 1, whose triangle has an inverse that single precision does not hold.
fn cholesky_steps_divide_tiny_columns<T: Scalar>() {
    let mut ops = algebra();
    let q = Host::orthonormal::<T>(200, 5, 3);
    let unit = if T::DTYPE.is_single() { 1e-40 } else { 1e-140 };
    let x = Host::new(200, 5, |i, j| q.get(i, j) * [1.0, 1e-10, 1.0, unit, 1e-20][j]).rounded::<T>();
    let mut on = x.to::<T>(&mut ops);
    let mut r = Algebra::<T>::zeros(&mut ops, "test", 5, 5).unwrap();
    assert!(matches!(ops.cholesky_step(&mut on, 0.0, &mut r).unwrap(), Step::Done { .. }));
    // Subnormal numbers have few digits, but the columns of Q are normal.
    let found = Host::from(&mut ops, &on);
    assert!(found.defect() < 1e-2, "{}", found.defect());
}

#[test]
#[ignore = "needs a GPU"]
fn tiny_columns() {
    for_all_types!(cholesky_steps_divide_tiny_columns());
}

fn householder_bases_are_orthonormal<T: Scalar>(mut ops: GpuAlgebra) {
    for (rows, cols, rank) in [(1, 1, 1), (257, 31, 31), (100, 33, 7), (33, 33, 0), (5, 0, 0), (1000, 128, 128)] {
        let a = Host::with_values::<T>(rows, cols, |j| if j < rank { 0.5f64.powi(j as i32) } else { 0.0 });
        let mut x = a.to::<T>(&mut ops);
        let mut r = Algebra::<T>::zeros(&mut ops, "test", cols, cols).unwrap();
        ops.householder(&mut x, &mut r).unwrap();
        let (q, r) = (Host::from(&mut ops, &x), Host::from(&mut ops, &r));
        let bound = 10.0 * eps::<T>() * (cols as f64 + 5.0);
        assert!(q.defect() < bound, "{rows} x {cols}: {}", q.defect());
        assert!(q.times(&r).minus(&a).norm() <= bound * a.norm().max(1e-300), "{rows} x {cols}");
        assert!((0..cols).all(|j| (j + 1..cols).all(|i| r.get(i, j) == C64::default())));
    }
    let mut nan = Host::random::<T>(50, 5, 1);
    nan.at[77] = C64::new(f64::NAN, 0.0);
    let mut x = nan.to::<T>(&mut ops);
    let mut r = Algebra::<T>::zeros(&mut ops, "test", 5, 5).unwrap();
    assert!(matches!(ops.householder(&mut x, &mut r), Err(Error::Numerical(_))));
}

#[test]
#[ignore = "needs a GPU"]
fn householder() {
    for_all_types!(householder_bases_are_orthonormal(algebra()));
    householder_bases_are_orthonormal::<f64>(bare());
    householder_bases_are_orthonormal::<Complex<f32>>(bare());
}

/// Numbers near the ends of the range of double precision, whose squares it does not hold.
fn householder_bases_of_extreme_numbers<T: Scalar>(mut ops: GpuAlgebra) {
    for size in [1e307, 1e300, 1e160, 1e-160, 1e-300] {
        let a = Host::random::<T>(60, 7, 3);
        let mut x = Host::new(60, 7, |i, j| 0.1 * a.get(i, j) * size).to::<T>(&mut ops);
        let mut r = Algebra::<T>::zeros(&mut ops, "test", 7, 7).unwrap();
        ops.householder(&mut x, &mut r).unwrap();
        let (q, r) = (Host::from(&mut ops, &x), Host::from(&mut ops, &r));
        assert!(q.defect() < 1e-13, "{size:e}: {}", q.defect());
        let r = Host::new(7, 7, |i, j| r.get(i, j) / size);
        let a = Host::new(60, 7, |i, j| 0.1 * a.get(i, j));
        assert!(q.times(&r).minus(&a).norm() < 1e-13 * a.norm(), "{size:e}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn householder_near_the_ends_of_the_range() {
    householder_bases_of_extreme_numbers::<f64>(algebra());
    householder_bases_of_extreme_numbers::<Complex<f64>>(algebra());
}

fn eigenvalues_of_hermitian_matrices<T: Scalar>(mut ops: GpuAlgebra) {
    for order in [0usize, 1, 2, 31, 33, 130] {
        let value = |j: usize| 1.0 - 2.0 * j as f64 / order as f64;
        let v = Host::orthonormal::<T>(order, order, 9);
        let mut scaled = v.clone();
        for j in 0..order {
            scaled.at[j * order..(j + 1) * order].iter_mut().for_each(|x| *x *= value(j));
        }
        let a = scaled.times(&v.adjoint()).rounded::<T>();
        // Only the lower triangle is read.
        let half = Host::new(order, order, |i, j| if i >= j { a.get(i, j) } else { C64::new(1e3, 0.0) });
        let on = half.to::<T>(&mut ops);
        let (values, vectors) = ops.eigen(&on).unwrap();
        let mut w = Host::from(&mut ops, &vectors);
        let bound = 10.0 * eps::<T>() * (order as f64 + 10.0);
        assert!(w.defect() <= bound, "{order}: {}", w.defect());
        let residual = a.times(&w);
        for (j, found) in values.iter().enumerate() {
            assert!((found - value(j)).abs() < bound, "{order} {j}: {found}");
            w.at[j * order..(j + 1) * order].iter_mut().for_each(|x| *x *= *found);
        }
        assert!(residual.minus(&w).norm() <= bound * (order as f64).sqrt(), "{order}");
    }
    let on = Host::random::<T>(3, 4, 1).to::<T>(&mut ops);
    assert!(ops.eigen(&on).is_err());
}

/// Gram matrices of columns whose norms are many orders of magnitude apart: most entries are far below the largest, or 0.
fn eigenvalues_of_graded_matrices<T: Scalar>(mut ops: GpuAlgebra) {
    let least = if T::DTYPE.is_single() { 1e-20 } else { 1e-150 };
    for order in [2usize, 7, 15, 40] {
        for (k, unit) in [1.0f64, 1e-10, least, 1.0 / least].into_iter().enumerate() {
            let sizes = [1e-25, 1e-4, 1e-21, 1e-25, 1.0, 1e-19, 1e-25];
            let mut x = Host::random::<T>(order, order, 11 + k as u64);
            for j in 0..order {
                let size = sizes[j % sizes.len()] * unit.sqrt();
                x.at[j * order..(j + 1) * order].iter_mut().for_each(|x| *x *= size);
            }
            let a = x.adjoint().times(&x).rounded::<T>();
            let on = a.to::<T>(&mut ops);
            let (values, vectors) = ops.eigen(&on).unwrap();
            let mut w = Host::from(&mut ops, &vectors);
            let bound = 10.0 * eps::<T>() * (order as f64 + 10.0);
            assert!(w.defect() <= bound, "{order} {unit:e}: {}", w.defect());
            // In a unit in which squares of the numbers are held.
            let by = 1.0 / values[0];
            let scaled = Host::new(order, order, |i, j| a.get(i, j) * by);
            let residual = scaled.times(&w);
            for (j, found) in values.iter().enumerate() {
                w.at[j * order..(j + 1) * order].iter_mut().for_each(|x| *x *= *found * by);
            }
            assert!(residual.minus(&w).norm() <= bound * (order as f64).sqrt(), "{order} {unit:e}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn eigenvalues() {
    for_all_types!(eigenvalues_of_graded_matrices(algebra()));
    for_all_types!(eigenvalues_of_hermitian_matrices(algebra()));
    eigenvalues_of_hermitian_matrices::<Complex<f64>>(bare());
}

fn triangles_are_inverted<T: Scalar>() {
    let mut ops = algebra();
    for order in [0usize, 1, 31, 128] {
        let random = Host::random::<T>(order, order, 4);
        let entry = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Less => random.get(i, j) / order as f64,
            std::cmp::Ordering::Equal => C64::new(1.0 + (i % 5) as f64, 0.0),
            std::cmp::Ordering::Greater => C64::default(),
        };
        let r = Host::new(order, order, entry).rounded::<T>();
        let on = r.to::<T>(&mut ops);
        let inverse = ops.inverse(&on).unwrap().unwrap();
        let one = Host::new(order, order, |i, j| C64::new(f64::from(u8::from(i == j)), 0.0));
        let defect = Host::from(&mut ops, &inverse).times(&r).minus(&one).norm();
        // The condition is below 10; the inverse is rounded once and multiplied in double precision.
        assert!(defect <= 10.0 * eps::<T>() * order as f64, "{order}: {defect}");
    }
    let on = Host::new(3, 3, |i, j| C64::new(if i == 0 && j == 0 { 1.0 } else { 0.0 }, 0.0)).to::<T>(&mut ops);
    let inverse = ops.inverse(&on).unwrap().unwrap();
    assert!(!ops.column_norms(&inverse).unwrap().iter().all(|n| n.is_finite()));
}

#[test]
#[ignore = "needs a GPU"]
fn inverses() {
    for_all_types!(triangles_are_inverted());
}

#[test]
#[ignore = "needs a GPU"]
fn the_same_calls_give_the_same_bits() {
    let a = Host::random::<f32>(5000, 80, 5);
    let run = || {
        let mut ops = algebra();
        let mut x = a.to::<f32>(&mut ops);
        let mut r = Algebra::<f32>::zeros(&mut ops, "test", 80, 80).unwrap();
        ops.cholesky_step(&mut x, 0.0, &mut r).unwrap();
        let svd = ops.svd(&r).unwrap();
        let peaks = ops.column_peaks(&x).unwrap();
        (Host::from(&mut ops, &svd.u).at, svd.s, Host::from(&mut ops, &x).at, ops.norm2(&x).unwrap(), peaks)
    };
    let first = run();
    assert!(first == run() && first == run());
}
