//! Products of matrices, and of parts of matrices, against plain loops.

use super::algebras::{algebra, for_all_types};
use super::host::{C64, Host, eps};
use crate::backend::gpu::Transpose;
use crate::dense::{Algebra, Op};
use crate::error::Error;
use crate::scalar::Scalar;

const SIZES: [(usize, usize, usize); 9] = [
    (1, 1, 1),
    (3, 5, 7),
    (0, 4, 3),
    (4, 0, 3),
    (4, 3, 0),
    (31, 33, 257),
    (257, 31, 33),
    (101, 13, 4001),
    (32, 32, 32),
];

fn products_equal_plain_loops<T: Scalar>() {
    let mut ops = algebra();
    for (p, q, k) in SIZES {
        for (op_a, op_b) in
            [(Op::Plain, Op::Plain), (Op::Adjoint, Op::Plain), (Op::Plain, Op::Adjoint), (Op::Adjoint, Op::Adjoint)]
        {
            let flip = |op, r, c| if op == Op::Plain { (r, c) } else { (c, r) };
            let ((ar, ac), (br, bc)) = (flip(op_a, p, k), flip(op_b, k, q));
            let (a, b) = (Host::random::<T>(ar, ac, 1), Host::random::<T>(br, bc, 2));
            let (on_a, on_b) = (a.to::<T>(&mut ops), b.to::<T>(&mut ops));
            let product = a.op(op_a).times(&b.op(op_b));
            for (alpha, beta) in [(1.0, 0.0), (-2.0, 1.0), (1.0, 0.5)] {
                let mut old = Host::random::<T>(p, q, 3);
                let mut c = old.to::<T>(&mut ops);
                if beta == 0.0 {
                    // No entry of C is read, not even a NaN.
                    c = Host::new(p, q, |_, _| C64::new(f64::NAN, f64::NAN)).to(&mut ops);
                    old.at.fill(C64::default());
                }
                ops.multiply(alpha, &on_a, op_a, &on_b, op_b, beta, &mut c).unwrap();
                let got = Host::from(&mut ops, &c);
                // Partial sums of k products of standard normal numbers reach a few sqrt(k); k roundings of them, half
                // an eps each and of random sign, add up to a few k eps. alpha and the four parts of a complex product
                // double that.
                let bound = eps::<T>() * (6.0 * k as f64 + 50.0);
                for ((want, old), got) in product.at.iter().zip(&old.at).zip(&got.at) {
                    let want = want * alpha + old * beta;
                    assert!((want - got).norm() <= bound, "{p} {q} {k} {op_a:?} {op_b:?}: {want} {got}");
                }
            }
        }
    }
    let (a, mut c) = (Host::random::<T>(3, 4, 1).to::<T>(&mut ops), Host::random::<T>(3, 3, 1).to::<T>(&mut ops));
    assert!(matches!(ops.multiply(1.0, &a, Op::Plain, &a, Op::Plain, 0.0, &mut c), Err(Error::Internal(_))));
}

#[test]
#[ignore = "needs a GPU"]
fn products() {
    for_all_types!(products_equal_plain_loops());
}

fn parts_and_rows_are_multiplied<T: Scalar>() {
    let mut ops = algebra();
    let (a, w) = (Host::random::<T>(41, 23, 1), Host::random::<T>(23, 5, 2));
    // The transpose of a row-major matrix is its memory read by columns.
    let by_rows = Host::new(23, 41, |i, j| a.get(j, i)).to::<T>(&mut ops);
    let (on_a, on_w) = (a.to::<T>(&mut ops), w.to::<T>(&mut ops));
    let (plain, bound) = (Transpose::Plain, 200.0 * eps::<T>());
    let part = |m: &Host, (i, j): (usize, usize), (p, q): (usize, usize)| Host::new(p, q, |r, c| m.get(i + r, j + c));
    let c = Host::random::<T>(50, 9, 3).to::<T>(&mut ops);
    let before = Host::from(&mut ops, &c);
    let target = c.view().part(T::DTYPE, (4, 2), (17, 3)).unwrap();
    // Rows 10 .. 27 and columns 3 .. 20 of A times a part of W, by either storage.
    let want = part(&a, (10, 3), (17, 17)).times(&part(&w, (3, 1), (17, 3)));
    let factor = on_w.view().part(T::DTYPE, (3, 1), (17, 3)).unwrap();
    for (view, op) in [
        (on_a.view().part(T::DTYPE, (10, 3), (17, 17)).unwrap(), plain),
        (by_rows.view().part(T::DTYPE, (3, 10), (17, 17)).unwrap(), Transpose::Transpose),
    ] {
        ops.blas().multiply(T::DTYPE, 1.0, view, op, factor, plain, 0.0, target).unwrap();
        let got = Host::from(&mut ops, &c);
        assert!(part(&got, (4, 2), (17, 3)).minus(&want).norm() < bound);
        // Nothing around it changed.
        let around = (0..50 * 9).filter(|k| !((4..21).contains(&(k % 50)) && (2..5).contains(&(k / 50))));
        assert!(around.into_iter().all(|k| got.at[k] == before.at[k]));
    }
    assert!(on_a.view().part(T::DTYPE, (30, 0), (12, 1)).is_err() && on_a.view().columns(T::DTYPE, 23, 1).is_err());
    assert!(on_a.view().rows(T::DTYPE, 41, 0).is_ok() && on_a.view().columns(T::DTYPE, 23, 0).is_ok());

    // A rank update, which changes the lower triangle alone. 41 roundings of sums that reach 82.
    let bound = 41.0 * 82.0 * eps::<T>();
    let g = Host::random::<T>(23, 23, 4).to::<T>(&mut ops);
    ops.blas().rank_update(T::DTYPE, 1.0, on_a.view(), false, 0.0, g.view()).unwrap();
    let (got, want, old) = (Host::from(&mut ops, &g), a.adjoint().times(&a), Host::random::<T>(23, 23, 4));
    for j in 0..23 {
        for i in 0..23 {
            let want = if i >= j { want.get(i, j) } else { old.get(i, j) };
            assert!((got.get(i, j) - want).norm() < bound, "{i} {j}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn parts() {
    for_all_types!(parts_and_rows_are_multiplied());
}
