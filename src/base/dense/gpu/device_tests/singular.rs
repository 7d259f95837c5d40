//! Singular values on a GPU against known ones.

use super::super::GpuAlgebra;
use super::algebras::{algebra, bare, for_all_types};
use super::host::{C64, Host, eps};
use crate::dense::Algebra;
use crate::error::Error;
use crate::scalar::{Complex, Scalar};

/// Checks a decomposition of `a`, whose singular values are `s` where they are known, to multiples of T's roundoff.
fn check_svd<T: Scalar>(ops: &mut GpuAlgebra, a: &Host, s: Option<&dyn Fn(usize) -> f64>, what: &str) {
    let on = a.to::<T>(ops);
    let svd = ops.svd(&on).unwrap();
    let rank = a.rows.min(a.cols);
    let (mut u, v) = (Host::from(ops, &svd.u), Host::from(ops, &svd.v));
    assert_eq!((u.rows, u.cols, v.rows, v.cols, svd.s.len()), (a.rows, rank, a.cols, rank, rank), "{what}");
    if rank == 0 {
        return;
    }
    // In double precision 1e-13; in single the factors are rounded to it, half an eps an entry.
    let bound = if eps::<T>() < 1e-10 { 1e-13 } else { eps::<T>() * (rank as f64).sqrt().max(4.0) };
    assert!(u.defect() < bound && v.defect() < bound, "{what}: {} {}", u.defect(), v.defect());
    let first = svd.s[0];
    assert!(svd.s.windows(2).all(|w| w[0] >= w[1]) && svd.s[rank - 1] >= 0.0, "{what}");
    for (j, value) in svd.s.iter().enumerate() {
        u.at[j * a.rows..(j + 1) * a.rows].iter_mut().for_each(|x| *x *= *value);
        if let Some(s) = s {
            // The matrix itself was rounded to T, which moves its singular values by up to its norm times that.
            let moved = eps::<T>() * s(0) * (a.rows.max(a.cols) as f64).sqrt();
            assert!((value - s(j)).abs() <= 1e-13 * s(0) + moved, "{what}: value {j}: {value} {}", s(j));
        }
    }
    let residual = u.times(&v.adjoint()).minus(a).norm();
    assert!(residual <= bound * (rank as f64).sqrt() * first.max(1e-300), "{what}: {residual}");
}

fn singular_values_of_all_kinds<T: Scalar>(mut ops: GpuAlgebra, sizes: &[(usize, usize)]) {
    for &(p, q) in sizes {
        let n = p.min(q) as f64;
        let kinds: [(&str, &dyn Fn(usize) -> f64); 7] = [
            ("slow", &|j| 0.99f64.powi(j as i32)),
            ("flat", &|_| 2.0),
            ("fast", &|j| 10f64.powf(-16.0 * j as f64 / n)),
            ("rank 7", &|j| if j < 7 { 1.0 / (j + 1) as f64 } else { 0.0 }),
            ("clusters", &|j| if 2 * j < p.min(q) { 1e3 } else { 1e-2 }),
            ("one", &|j| if j == 0 { 1.0 } else { 0.0 }),
            ("tail", &|j| if j < 10 { 1.0 } else { 10f64.powi(9 - j as i32) }),
        ];
        for (name, s) in kinds {
            let a = Host::with_values::<T>(p, q, s);
            check_svd::<T>(&mut ops, &a, Some(s), &format!("{name} {p} x {q}"));
        }
    }
    for (p, q) in [(0, 0), (0, 5), (5, 0)] {
        check_svd::<T>(&mut ops, &Host::random::<T>(p, q, 1), None, "empty");
    }
    check_svd::<T>(&mut ops, &Host::new(9, 6, |_, _| C64::default()), Some(&|_| 0.0), "zero");
    // Zero columns, a triangle, a single row.
    check_svd::<T>(
        &mut ops,
        &Host::new(40, 40, |i, j| C64::new(if j % 3 == 0 { 0.0 } else { (i * j % 17) as f64 }, 0.0)),
        None,
        "gaps",
    );
    let random = Host::random::<T>(65, 65, 3);
    check_svd::<T>(
        &mut ops,
        &Host::new(65, 65, |i, j| if i <= j { random.get(i, j) } else { C64::default() }),
        None,
        "triangle",
    );
    let mut bad = Host::random::<T>(20, 20, 1);
    bad.at[33] = C64::new(f64::INFINITY, 0.0);
    let on = bad.to::<T>(&mut ops);
    assert!(matches!(ops.svd(&on), Err(Error::Numerical(_))));
}

#[test]
#[ignore = "needs a GPU"]
fn singular_values() {
    // Up to 64 it is the CPU that finds them.
    for_all_types!(singular_values_of_all_kinds(
        algebra(),
        &[(1, 1), (33, 31), (64, 64), (65, 65), (97, 67), (66, 127)]
    ));
    singular_values_of_all_kinds::<f64>(algebra(), &[(128, 128), (211, 211)]);
    singular_values_of_all_kinds::<Complex<f64>>(algebra(), &[(128, 128)]);
    singular_values_of_all_kinds::<f64>(bare(), &[(33, 31)]);
    singular_values_of_all_kinds::<Complex<f32>>(bare(), &[(31, 33)]);
}

#[test]
#[ignore = "needs a GPU"]
fn singular_values_of_extreme_matrices() {
    let mut ops = algebra();
    for scale in [1e-160, 1e-120, 1e120, 1e160] {
        let mut a = Host::with_values::<f64>(70, 70, |j| 0.9f64.powi(j as i32));
        a.at.iter_mut().for_each(|x| *x *= scale);
        let on = a.to::<f64>(&mut ops);
        let svd = ops.svd(&on).unwrap();
        for (j, s) in svd.s.iter().enumerate() {
            assert!((s / scale - 0.9f64.powi(j as i32)).abs() < 1e-13, "{scale} {j} {s}");
        }
    }
}
