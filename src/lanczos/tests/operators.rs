//! Operators against their definitions, and against each other.

use std::sync::Arc;

use super::inputs::symmetric;
use crate::context::Context;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::ops::Affine;
use crate::matrix::Matrix;
use crate::matrix::sparse::to_dense;
use crate::scalar::{Complex, Real, Scalar};
use crate::testing::sparse::{cpu, from_entries};

fn noise(k: usize) -> f64 {
    let x = (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    ((x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24) - 0.5
}

fn numbers<T: Scalar>(n: usize, seed: usize) -> Vec<T> {
    (0..n).map(|i| T::from_parts(noise(seed + 2 * i), noise(seed + 2 * i + 1))).collect()
}

/// A sparse matrix of any shape.
pub(super) fn rectangular<T: Scalar>(c: &Arc<Context>, rows: usize, cols: usize, each: usize) -> Matrix {
    let entry = |i: usize, k: usize| {
        (i, (i * 37 + k * k * 11 + k) % cols, T::from_parts(noise(i * each + k), noise(7 * i + k)))
    };
    from_entries(c, (rows, cols), &(0..rows).flat_map(|i| (0..each).map(move |k| entry(i, k))).collect::<Vec<_>>())
}

/// All entries of a sparse matrix, column-major.
pub(super) fn whole<T: Scalar>(c: &Arc<Context>, a: &Matrix) -> Vec<Complex<f64>> {
    let mut dense = Matrix::create(
        c,
        T::DTYPE,
        crate::tensor::Location::Host,
        crate::shape::Order::ColumnMajor,
        a.rows(),
        a.cols(),
    )
    .unwrap();
    to_dense(a, &mut dense).unwrap();
    let held = dense.dense("a").unwrap().memory.host("a").unwrap().as_slice::<T>().unwrap();
    held.iter().map(|v| Complex::new(v.re(), v.im())).collect()
}

fn multiply(a: &[Complex<f64>], rows: usize, x: &[Complex<f64>]) -> Vec<Complex<f64>> {
    (0..rows).map(|i| x.iter().enumerate().map(|(j, x)| a[j * rows + i] * x).sum()).collect()
}

fn adjoint(a: &[Complex<f64>], rows: usize, cols: usize) -> Vec<Complex<f64>> {
    (0..rows).flat_map(|i| (0..cols).map(move |j| a[j * rows + i].conj())).collect()
}

/// An operator's products, affine and by blocks, against a dense matrix. y holds NaN if it must not be read.
fn check<T: Scalar>(operator: &mut Symmetric<'_, T>, dense: &[Complex<f64>], what: &str) {
    let n = operator.order();
    let limit = 200.0 * T::Part::EPSILON.to_f64() * dense.iter().map(|v| v.norm()).fold(1.0, f64::max) * n as f64;
    let wide = |v: &[T]| v.iter().map(|v| Complex::new(v.re(), v.im())).collect::<Vec<_>>();
    let x = numbers::<T>(n, 3);
    let want = multiply(dense, n, &wide(&x));
    let mut y = vec![T::from_parts(f64::NAN, f64::NAN); n];
    operator.apply(&x, &mut y).unwrap();
    for (i, (y, want)) in wide(&y).iter().zip(&want).enumerate() {
        assert!((y - want).norm() <= limit, "{what}: row {i}: {y}, not {want}");
    }
    let mut z = numbers::<T>(n, 11);
    let before = wide(&z);
    operator.affine(Affine { scale: -1.5, center: 0.75, keep: 0.5 }, &x, &mut z).unwrap();
    for (i, z) in wide(&z).iter().enumerate() {
        let want = -1.5 * (want[i] - 0.75 * Complex::new(x[i].re(), x[i].im())) + 0.5 * before[i];
        assert!((z - want).norm() <= 2.0 * limit, "{what}: affine row {i}: {z}, not {want}");
    }
    let blocks = numbers::<T>(3 * n, 5);
    let mut out = vec![T::from_parts(f64::NAN, 0.0); 3 * n];
    operator.apply_block(&blocks, 3, &mut out).unwrap();
    for (c, x) in blocks.chunks_exact(n).enumerate() {
        let want = multiply(dense, n, &wide(x));
        for (y, want) in wide(&out[c * n..(c + 1) * n]).iter().zip(&want) {
            assert!((y - want).norm() <= limit, "{what}: block column {c}: {y}, not {want}");
        }
    }
}

#[test]
fn operators_of_graphs_are_their_definitions() {
    let c = cpu(2);
    let n = 61;
    let list: Vec<_> = (0..3 * n).map(|k| (k * 7 % n, (k * k + 3) % n, 0.25 + (k % 5) as f64)).collect();
    // Vertex n is isolated.
    let a = symmetric(&c, n + 1, &list);
    let n = n + 1;
    let w = whole::<f64>(&c, &a);
    let degrees: Vec<f64> = (0..n).map(|i| (0..n).map(|j| w[j * n + i].re).sum()).collect();
    let total: f64 = degrees.iter().sum();
    for kind in Kind::HERMITIAN.into_iter().take(6) {
        let at = |i: usize, j: usize| {
            let (w, d, one) = (w[j * n + i].re, degrees[i], f64::from(u8::from(i == j)));
            let s = if degrees[i] * degrees[j] > 0.0 { w / (degrees[i] * degrees[j]).sqrt() } else { 0.0 };
            match kind {
                Kind::Matrix => w,
                Kind::Laplacian => one * d - w,
                Kind::NormalizedLaplacian => one * f64::from(u8::from(d > 0.0)) - s,
                Kind::SignlessLaplacian => one * d + w,
                Kind::NormalizedAdjacency => s,
                _ => w - degrees[i] * degrees[j] / total,
            }
        };
        for shift in [0.0, -2.5] {
            let dense: Vec<_> = (0..n)
                .flat_map(|j| (0..n).map(move |i| (i, j)))
                .map(|(i, j)| Complex::new(at(i, j) + if i == j { shift } else { 0.0 }, 0.0))
                .collect();
            let mut operator = Symmetric::<f64>::new(&c, &a, kind, shift).unwrap();
            check(&mut operator, &dense, &format!("{kind:?} + {shift}"));
        }
    }
}

fn products_of<T: Scalar>(rows: usize, cols: usize) {
    let c = cpu(2);
    let a = rectangular::<T>(&c, rows, cols, 5);
    let dense = whole::<T>(&c, &a);
    let turned = adjoint(&dense, rows, cols);
    let columns = |m: &[Complex<f64>], inner: usize, x: &[Complex<f64>], outer: usize| -> Vec<Complex<f64>> {
        x.chunks_exact(inner).flat_map(|x| multiply(m, outer, x)).collect()
    };
    let gram = columns(&turned, rows, &dense, cols);
    check(&mut Symmetric::<T>::new(&c, &a, Kind::Gram, 0.0).unwrap(), &gram, "Gram");
    let outer = columns(&dense, cols, &turned, rows);
    check(&mut Symmetric::<T>::new(&c, &a, Kind::OuterGram, 0.0).unwrap(), &outer, "OuterGram");
    let n = rows + cols;
    let mut both = vec![Complex::new(0.0, 0.0); n * n];
    for i in 0..rows {
        for j in 0..cols {
            both[(rows + j) * n + i] = dense[j * rows + i];
            both[i * n + rows + j] = dense[j * rows + i].conj();
        }
        both[i * n + i] += 0.5;
    }
    (0..cols).for_each(|j| both[(rows + j) * n + rows + j] += 0.5);
    check(&mut Symmetric::<T>::new(&c, &a, Kind::Augmented, 0.5).unwrap(), &both, "Augmented");
}

#[test]
fn products_of_a_matrix_with_its_adjoint_are_never_formed_but_right() {
    products_of::<f64>(31, 17);
    products_of::<f32>(9, 40);
    products_of::<Complex<f64>>(23, 24);
    products_of::<Complex<f32>>(1, 7);
    products_of::<f64>(7, 1);
}

#[test]
fn operators_refuse_what_they_are_not_for() {
    let c = cpu(1);
    let wide = rectangular::<f64>(&c, 4, 6, 2);
    let refused = |a: &Matrix, kind: Kind| Symmetric::<f64>::new(&c, a, kind, 0.0).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused(&wide, Kind::Matrix), "a: is 4 x 6, a square matrix is needed");
    assert_eq!(refused(&wide, Kind::Modularity), "a: is 4 x 6, a square matrix is needed");
    let none = symmetric::<f64>(&c, 3, &[]);
    assert_eq!(refused(&none, Kind::Modularity), "a: has entries of sum 0: no modularity");
    let empty = symmetric::<f64>(&c, 0, &[]);
    assert_eq!(refused(&empty, Kind::Matrix), "a: is 0 x 0, an operator of order 1 or more is needed");
    assert!(refused(&rectangular::<f64>(&c, 5, 5, 3), Kind::Matrix).contains("symmetric"));
    let square = symmetric::<f64>(&c, 3, &[(0, 1, 1.0)]);
    assert!(
        refused(&square, Kind::RandomWalkLaplacian)
            .starts_with("kind: is RANDOM_WALK_LAPLACIAN, which is not symmetric")
    );
    assert_eq!(Kind::from_code("kind", 10).unwrap_err().to_string(), "kind: is 10, outside 0 to 9");
    assert!(Kind::HERMITIAN.iter().enumerate().all(|(i, k)| Kind::from_code("kind", i as i32).unwrap() == *k));
}
