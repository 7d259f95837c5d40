use std::sync::Arc;

use super::super::sketch::Sketch;
use super::super::{Algebra, Op, Step};
use super::algebra::CpuAlgebra;
use super::matrix::CpuMatrix;
use super::wide;
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::dense::sketch::Distribution;
use crate::error::Error;
use crate::scalar::{Complex, Real, Scalar};
use crate::testing::cancel::is_cancelled;

type C64 = Complex<f64>;

fn context(threads: usize) -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads, ..Options::default() }).unwrap()
}

fn algebra() -> CpuAlgebra {
    CpuAlgebra::new(&context(2))
}

fn random<T: Scalar>(ops: &mut CpuAlgebra, rows: usize, cols: usize, seed: u64) -> CpuMatrix<T> {
    let mut m = Algebra::<T>::zeros(ops, "test", rows, cols).unwrap();
    let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: 1 };
    ops.fill(&mut m, &sketch, 0, 0).unwrap();
    m
}

fn wide<T: Scalar>(m: &CpuMatrix<T>, i: usize, j: usize) -> C64 {
    let x = m.slice().unwrap()[j * m.rows() + i];
    C64::new(x.re(), x.im())
}

fn eps<T: Scalar>() -> f64 {
    <T::Part as Real>::EPSILON.to_f64()
}

/// Calls a generic test for each of the four types.
macro_rules! for_all_types {
    ($test:ident) => {
        $test::<f32>();
        $test::<f64>();
        $test::<Complex<f32>>();
        $test::<Complex<f64>>();
    };
}

fn products_equal_plain_loops<T: Scalar>() {
    let mut ops = algebra();
    // Odd sizes, empty ones, one that is cut along each dimension and along the inner one.
    let shapes = [(1, 1, 1), (3, 5, 7), (0, 4, 3), (4, 0, 3), (4, 3, 0), (701, 13, 37), (13, 701, 37), (11, 7, 4003)];
    for (p, q, k) in shapes {
        for (op_a, op_b) in
            [(Op::Plain, Op::Plain), (Op::Adjoint, Op::Plain), (Op::Plain, Op::Adjoint), (Op::Adjoint, Op::Adjoint)]
        {
            let flip = |op, r, c| if op == Op::Plain { (r, c) } else { (c, r) };
            let ((ar, ac), (br, bc)) = (flip(op_a, p, k), flip(op_b, k, q));
            let (a, b) = (random::<T>(&mut ops, ar, ac, 1), random::<T>(&mut ops, br, bc, 2));
            for (alpha, beta) in [(1.0, 0.0), (-2.0, 1.0), (1.0, 0.5)] {
                let mut c = random::<T>(&mut ops, p, q, 3);
                if beta == 0.0 {
                    // No entry of C is read, not even a NaN.
                    c.slice_mut().unwrap().fill(T::from_parts(f64::NAN, f64::NAN));
                }
                let before: Vec<C64> = (0..p * q).map(|e| wide(&c, e % p, e / p)).collect();
                ops.multiply(alpha, &a, op_a, &b, op_b, beta, &mut c).unwrap();
                let at = |m: &CpuMatrix<T>, op, i, j| match op {
                    Op::Plain => wide(m, i, j),
                    Op::Adjoint => wide(m, j, i).conj(),
                };
                // Every 37th entry of the large ones.
                for e in (0..p * q).step_by(if p * q > 1000 { 37 } else { 1 }) {
                    let (i, j) = (e % p, e / p);
                    let sum: C64 = (0..k).map(|t| at(&a, op_a, i, t) * at(&b, op_b, t, j)).sum();
                    let old = if beta == 0.0 { C64::new(0.0, 0.0) } else { before[e] * beta };
                    let (want, got) = (sum * alpha + old, wide(&c, i, j));
                    // Partial sums of k products of standard normal numbers reach a few sqrt(k); k roundings of them,
                    // half an eps each and of random sign, add up to a few k eps. alpha and the four parts of a complex
                    // product double that.
                    let bound = eps::<T>() * (6.0 * k as f64 + 50.0);
                    assert!((want - got).norm() <= bound, "{p} {q} {k} {op_a:?} {op_b:?}: {want} {got}");
                }
            }
        }
    }
}

#[test]
fn products() {
    for_all_types!(products_equal_plain_loops);
}

fn columns_are_copied_scaled_and_measured<T: Scalar>() {
    let mut ops = algebra();
    let a = random::<T>(&mut ops, 1009, 7, 4);
    let mut b = random::<T>(&mut ops, 1009, 5, 5);
    let untouched = wide(&b, 3, 0);
    ops.copy_columns(&a, 2, 3, &mut b, 1).unwrap();
    assert_eq!((wide(&b, 8, 3), wide(&b, 3, 0)), (wide(&a, 8, 4), untouched));
    assert!(ops.copy_columns(&a, 5, 3, &mut b, 0).is_err());

    ops.scale_columns(&mut b, &[1.0, 2.0, 0.0, -0.5, 1.0]).unwrap();
    assert_eq!((wide(&b, 8, 3), wide(&b, 8, 2)), (wide(&a, 8, 4) * -0.5, C64::new(0.0, 0.0)));
    let norms = ops.column_norms(&b).unwrap();
    let total = ops.norm2(&b).unwrap();
    for (j, n) in norms.iter().enumerate() {
        let want = (0..1009).map(|i| wide(&b, i, j).norm_sqr()).sum::<f64>().sqrt();
        assert!((n - want).abs() <= 1e-13 * want, "{n} {want}");
    }
    assert!((total - norms.iter().map(|n| n * n).sum::<f64>()).abs() < 1e-12 * total);

    let t = ops.adjoint("test", &a).unwrap();
    assert_eq!(t.shape(), (7, 1009));
    for (i, j) in [(0, 0), (1008, 6), (31, 3), (32, 4), (500, 1)] {
        assert_eq!(wide(&t, j, i), wide(&a, i, j).conj());
    }

    // The first of two equal peaks counts.
    let mut c = Algebra::<T>::zeros(&mut ops, "test", 5, 2).unwrap();
    c.slice_mut().unwrap()[2] = T::from_parts(-3.0, 0.0);
    c.slice_mut().unwrap()[4] = T::from_parts(3.0, 0.0);
    assert_eq!(ops.column_peaks(&c).unwrap(), [(-3.0, 0.0), (0.0, 0.0)]);

    let mut host = vec![T::from_parts(9.0, 0.0); 12 * 7];
    let small = ops.upload("test", 3, 2, &host[..5], 4).map(|_| ());
    assert!(small.is_err(), "six elements with a leading dimension of 4 take 7");
    let sub = ops.upload("test", 3, 2, a.slice().unwrap(), 1009).unwrap();
    assert_eq!(wide(&sub, 2, 1), wide(&a, 2, 1));
    ops.download(&sub, &mut host, 12).unwrap();
    assert_eq!((host[12 + 2], host[3]), (a.slice().unwrap()[1009 + 2], T::from_parts(9.0, 0.0)));
}

#[test]
fn columns() {
    for_all_types!(columns_are_copied_scaled_and_measured);
}

fn a_fill_is_the_sketch<T: Scalar>() {
    let mut ops = algebra();
    for d in [Distribution::Gaussian, Distribution::Uniform, Distribution::Rademacher, Distribution::SparseSign] {
        let sketch = Sketch { distribution: d, seed: 7, stream: 3 };
        for (first_row, first_column, rows, cols) in [(0, 0, 4100, 3), (5, 3, 17, 6), (1 << 40, 1, 1, 1), (0, 0, 0, 2)]
        {
            let mut m = Algebra::<T>::zeros(&mut ops, "test", rows, cols).unwrap();
            ops.fill(&mut m, &sketch, first_row, first_column).unwrap();
            for j in 0..cols {
                for i in 0..rows {
                    let (row, column) = (first_row + i as u64, first_column + j as u32);
                    assert_eq!(m.slice().unwrap()[j * rows + i], sketch.entry::<T>(row, column), "{d:?} {i} {j}");
                }
            }
        }
    }
}

#[test]
fn fills() {
    for_all_types!(a_fill_is_the_sketch);
}

/// ||Q^H Q - I||_F, summed in double precision.
fn disorder<T: Scalar>(q: &CpuMatrix<T>) -> f64 {
    let mut sum = 0.0;
    for j in 0..q.cols() {
        for i in 0..q.cols() {
            let dot: C64 = (0..q.rows()).map(|k| wide(q, k, i).conj() * wide(q, k, j)).sum();
            sum += (dot - if i == j { 1.0 } else { 0.0 }).norm_sqr();
        }
    }
    sum.sqrt()
}

/// ||X - Q R||_F.
fn residual<T: Scalar>(x: &CpuMatrix<T>, q: &CpuMatrix<T>, r: &CpuMatrix<T>) -> f64 {
    let mut sum = 0.0;
    for j in 0..x.cols() {
        for i in 0..x.rows() {
            let product: C64 = (0..r.rows()).map(|k| wide(q, i, k) * wide(r, k, j)).sum();
            sum += (product - wide(x, i, j)).norm_sqr();
        }
    }
    sum.sqrt()
}

fn factorizations_hold<T: Scalar>() {
    let mut ops = algebra();
    for (rows, cols) in [(1, 1), (7, 7), (523, 31), (1500, 12), (5, 0)] {
        let x = random::<T>(&mut ops, rows, cols, 6);
        let size = ops.norm2(&x).unwrap().sqrt() + 1.0;
        for by_cholesky in [true, false] {
            let mut q = random::<T>(&mut ops, rows, cols, 6);
            let mut r = random::<T>(&mut ops, cols, cols, 9);
            if by_cholesky {
                let step = ops.cholesky_step(&mut q, 0.0, &mut r).unwrap();
                assert!(matches!(step, Step::Done { spread } if spread > 1e-3 && spread <= 1.0), "{step:?}");
            } else {
                ops.householder(&mut q, &mut r).unwrap();
            }
            // A random square matrix of order 7 has a condition below 1e3: CholeskyQR loses its square in f64.
            let loss = if by_cholesky { 1e-9 } else { 0.0 };
            assert!(disorder(&q) <= 10.0 * (cols as f64 + 1.0) * eps::<T>() + loss, "{}", disorder(&q));
            assert!(residual(&x, &q, &r) <= 20.0 * eps::<T>() * size, "{}", residual(&x, &q, &r));
            for j in 0..cols {
                assert!((j + 1..cols).all(|i| wide(&r, i, j).norm() == 0.0), "R is upper triangular");
            }
        }
    }
}

#[test]
fn factorizations() {
    for_all_types!(factorizations_hold);
}

fn singular_values_and_eigenvalues_hold<T: Scalar>() {
    let mut ops = algebra();
    for (rows, cols) in [(1, 1), (9, 9), (200, 17), (17, 200), (0, 3), (3, 0)] {
        let a = random::<T>(&mut ops, rows, cols, 8);
        let size = ops.norm2(&a).unwrap().sqrt() + 1.0;
        let mut svd = ops.svd(&a).unwrap();
        assert!(svd.s.is_sorted_by(|a, b| a >= b) && svd.s.iter().all(|s| *s >= 0.0));
        assert!(disorder(&svd.u) < 40.0 * eps::<T>() * (cols as f64 + 1.0), "{}", disorder(&svd.u));
        assert!(disorder(&svd.v) < 40.0 * eps::<T>() * (cols as f64 + 1.0));
        ops.scale_columns(&mut svd.u, &svd.s).unwrap();
        let vh = ops.adjoint("test", &svd.v).unwrap();
        assert!(residual(&a, &svd.u, &vh) < 40.0 * eps::<T>() * size);

        let mut g = Algebra::<T>::zeros(&mut ops, "test", cols, cols).unwrap();
        ops.multiply(1.0, &a, Op::Adjoint, &a, Op::Plain, 0.0, &mut g).unwrap();
        let (values, vectors) = ops.eigen(&g).unwrap();
        assert!(values.is_sorted_by(|a, b| a >= b));
        for (value, s) in values.iter().zip(&svd.s) {
            assert!((value - s * s).abs() < 100.0 * eps::<T>() * size * size, "{value} {}", s * s);
        }
        let mut product = Algebra::<T>::zeros(&mut ops, "test", cols, cols).unwrap();
        ops.multiply(1.0, &g, Op::Plain, &vectors, Op::Plain, 0.0, &mut product).unwrap();
        let mut scaled = Algebra::<T>::zeros(&mut ops, "test", cols, cols).unwrap();
        ops.copy_columns(&vectors, 0, cols, &mut scaled, 0).unwrap();
        ops.scale_columns(&mut scaled, &values).unwrap();
        let off: f64 = (0..cols * cols)
            .map(|e| (wide(&product, e % cols, e / cols) - wide(&scaled, e % cols, e / cols)).norm())
            .sum();
        assert!(off < 100.0 * eps::<T>() * size * size * (1.0 + cols as f64), "{off}");
    }
}

#[test]
fn singular_values_and_eigenvalues() {
    for_all_types!(singular_values_and_eigenvalues_hold);
}

fn graded_matrices_keep_their_singular_values<T: Scalar>() {
    let mut ops = algebra();
    let single = eps::<T>() > 1e-10;
    for (rows, cols, exponent) in [(2000, 60, 6), (2000, 60, 15), (60, 2000, 15), (90, 90, 15)] {
        // A rank-deficient one to working precision in single precision.
        let rank = rows.min(cols);
        let mut u = random::<T::Wide>(&mut ops, rows, rank, 1);
        let mut v = random::<T::Wide>(&mut ops, cols, rank, 2);
        let mut r = Algebra::<T::Wide>::zeros(&mut ops, "test", rank, rank).unwrap();
        ops.householder(&mut u, &mut r).unwrap();
        ops.householder(&mut v, &mut r).unwrap();
        let s: Vec<f64> = (0..rank).map(|j| 10f64.powf(-f64::from(exponent) * j as f64 / rank as f64)).collect();
        ops.scale_columns(&mut u, &s).unwrap();
        let mut x = Algebra::<T::Wide>::zeros(&mut ops, "test", rows, cols).unwrap();
        ops.multiply(1.0, &u, Op::Plain, &v, Op::Adjoint, 0.0, &mut x).unwrap();
        let narrow: Vec<T> = x.slice().unwrap().iter().map(|w| T::narrow(*w)).collect();
        let a = ops.upload("test", rows, cols, &narrow, rows).unwrap();
        let mut svd = ops.svd(&a).unwrap();
        // In single precision the rounding of the entries counts alone, at most u ||A||_F. In double precision each of
        // the `rank` reflections of either side adds an eps or two, here and in the making of the matrix.
        let bound = if single { 10.0 } else { 4.0 * rank as f64 } * eps::<T>();
        for (want, got) in s.iter().zip(&svd.s) {
            assert!((want - got).abs() < bound, "{rows} {cols} 1e{exponent}: {want} {got}");
        }
        let size = ops.norm2(&a).unwrap().sqrt();
        ops.scale_columns(&mut svd.u, &svd.s).unwrap();
        let vh = ops.adjoint("test", &svd.v).unwrap();
        let off = residual(&a, &svd.u, &vh);
        assert!(off < bound * size, "{rows} {cols} 1e{exponent}: {off}");
        assert!(disorder(&svd.v) < bound, "{rows} {cols} 1e{exponent}: {} {bound}", disorder(&svd.v));
    }
}

#[test]
fn graded_matrices() {
    for_all_types!(graded_matrices_keep_their_singular_values);
}

#[test]
fn what_is_not_finite_is_refused_and_left_alone() {
    let mut ops = algebra();
    for bad in [f64::NAN, f64::INFINITY] {
        let mut x = random::<f64>(&mut ops, 30, 4, 1);
        let mut r = random::<f64>(&mut ops, 4, 4, 2);
        x.slice_mut().unwrap()[37] = bad;
        let before = x.slice().unwrap()[3];
        assert_eq!(ops.cholesky_step(&mut x, 0.0, &mut r).unwrap(), Step::Failed);
        assert_eq!(x.slice().unwrap()[3], before);
        assert!(matches!(ops.svd(&x), Err(Error::Numerical(_))));
        assert!(matches!(ops.householder(&mut x, &mut r), Err(Error::Numerical(_))));
        r.slice_mut().unwrap()[1] = bad;
        assert!(matches!(ops.eigen(&r), Err(Error::Numerical(_))));
        // Above the diagonal nothing is read.
        let mut r = random::<f64>(&mut ops, 4, 4, 2);
        r.slice_mut().unwrap()[4] = bad;
        assert!(ops.eigen(&r).is_ok());
    }
}

#[test]
fn norms_of_extreme_columns_are_right() {
    let mut ops = algebra();
    let mut x = random::<f64>(&mut ops, 100, 3, 1);
    let norms = ops.column_norms(&x).unwrap();
    ops.scale_columns(&mut x, &[1e200, 1e-200, 1e-308]).unwrap();
    let scaled = ops.column_norms(&x).unwrap();
    for ((n, s), factor) in norms.iter().zip(&scaled).zip([1e200, 1e-200, 1e-308]) {
        assert!((s / factor / n - 1.0).abs() < 1e-12, "{s} {n}");
    }
    x.slice_mut().unwrap()[150] = f64::NAN;
    assert!(ops.column_norms(&x).unwrap()[1].is_nan());
    let mut r = random::<f64>(&mut ops, 3, 3, 2);
    assert_eq!(ops.cholesky_step(&mut x, 0.0, &mut r).unwrap(), Step::Failed);
}

fn threads_change_no_bit<T: Scalar>() {
    let run = |threads| {
        let mut ops = CpuAlgebra::new(&context(threads));
        let a = random::<T>(&mut ops, 9001, 21, 1);
        let mut c = Algebra::<T>::zeros(&mut ops, "test", 21, 21).unwrap();
        ops.multiply(1.0, &a, Op::Adjoint, &a, Op::Plain, 0.0, &mut c).unwrap();
        let mut p = Algebra::<T>::zeros(&mut ops, "test", 9001, 21).unwrap();
        ops.multiply(1.0, &a, Op::Plain, &c, Op::Plain, 0.0, &mut p).unwrap();
        let norm = ops.norm2(&p).unwrap();
        ops.cholesky_step(&mut p, 0.0, &mut c).unwrap();
        (p.slice().unwrap().to_vec(), c.slice().unwrap().to_vec(), norm)
    };
    assert!(run(1) == run(3));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for_all_types!(threads_change_no_bit);
}

#[test]
fn memory_is_charged_and_given_back() {
    let options = Options { backend: BackendChoice::Cpu, threads: 2, host_memory_limit: 1 << 20, ..Options::default() };
    let c = Context::new(options).unwrap();
    let mut ops = CpuAlgebra::new(&c);
    let mut x = random::<f64>(&mut ops, 10_000, 10, 1);
    let mut r = Algebra::<f64>::zeros(&mut ops, "test", 10, 10).unwrap();
    assert_eq!(c.host_memory_used(), 800_800);
    ops.cholesky_step(&mut x, 0.0, &mut r).unwrap();
    assert!(matches!(ops.householder(&mut x, &mut r), Err(Error::OutOfMemory { limit: Some(_), .. })));
    drop((x, r));
    assert_eq!(c.host_memory_used(), 0);
}

/// A product of some tasks, and its result without a cancellation.
#[test]
fn a_product_into_packed_memory_ends_when_the_context_is_cancelled() {
    let c = context(2);
    let mut ops = CpuAlgebra::new(&c);
    let (a, b) = (random::<f64>(&mut ops, 1500, 20, 1), random::<f64>(&mut ops, 700, 20, 2));
    let mut right = Algebra::<f64>::zeros(&mut ops, "test", 1500, 700).unwrap();
    ops.multiply(2.0, &a, Op::Plain, &b, Op::Adjoint, 0.0, &mut right).unwrap();
    let mut out = vec![0.0; 1500 * 700];
    is_cancelled(&|| c.cancel(), "product_to", || wide::product_to(&c, 2.0, &a, &b, &mut out));
    assert!(out == right.slice().unwrap());
}
