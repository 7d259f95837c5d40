use std::sync::Arc;

use super::super::sketch::Sketch;
use super::super::{Algebra, Op};
use super::columns::Own;
use super::method::{BasisAccuracy, BasisMethod, Counts, Kind};
use super::orthonormalize::orthonormalize;
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::sketch::Distribution;
use crate::error::Error;
use crate::scalar::{Complex, Real, Scalar};

const KINDS: [Kind; 5] = [Kind::Auto, Kind::Householder, Kind::Cqr, Kind::Cqr2, Kind::Scqr3];

fn algebra() -> CpuAlgebra {
    let options = Options { backend: BackendChoice::Cpu, threads: 2, ..Options::default() };
    CpuAlgebra::new(&Context::new(options).unwrap())
}

fn eps<T: Scalar>() -> f64 {
    <T::Part as Real>::EPSILON.to_f64()
}

fn method(kind: Kind) -> BasisMethod {
    BasisMethod { kind, need: BasisAccuracy::Basis, seed: 3, draw: 0 }
}

fn random<T: Scalar>(ops: &mut CpuAlgebra, rows: usize, cols: usize, seed: u64) -> CpuMatrix<T> {
    let mut m = Algebra::<T>::zeros(ops, "test", rows, cols).unwrap();
    let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: 1 };
    ops.fill(&mut m, &sketch, 0, 0).unwrap();
    m
}

/// A matrix with singular values from 1 down to 1/cond, logarithmically spaced, made in double precision.
fn conditioned<T: Scalar>(ops: &mut CpuAlgebra, rows: usize, cols: usize, cond: f64) -> CpuMatrix<T> {
    let mut u = random::<T::Wide>(ops, rows, cols, 1);
    let mut v = random::<T::Wide>(ops, cols, cols, 2);
    let mut r = Algebra::<T::Wide>::zeros(ops, "test", cols, cols).unwrap();
    ops.householder(&mut u, &mut r).unwrap();
    ops.householder(&mut v, &mut r).unwrap();
    let s: Vec<f64> = (0..cols).map(|j| cond.powf(-(j as f64) / (cols as f64 - 1.0))).collect();
    ops.scale_columns(&mut u, &s).unwrap();
    let mut x = Algebra::<T::Wide>::zeros(ops, "test", rows, cols).unwrap();
    ops.multiply(1.0, &u, Op::Plain, &v, Op::Adjoint, 0.0, &mut x).unwrap();
    let narrow: Vec<T> = x.slice().unwrap().iter().map(|w| T::narrow(*w)).collect();
    ops.upload("test", rows, cols, &narrow, rows).unwrap()
}

fn wide<T: Scalar>(m: &CpuMatrix<T>) -> Vec<T::Wide> {
    m.slice().unwrap().iter().map(|x| x.widen()).collect()
}

/// ||Q^H Q - I||_F and ||X - Q R||_F / ||X||_F, both summed in double precision.
fn errors<T: Scalar>(ops: &mut CpuAlgebra, x: &CpuMatrix<T>, q: &CpuMatrix<T>, r: &CpuMatrix<T>) -> (f64, f64) {
    let (rows, cols) = q.shape();
    let take = |ops: &mut CpuAlgebra, m: &CpuMatrix<T>| {
        ops.upload("test", m.rows(), m.cols(), &wide(m), m.rows().max(1)).unwrap()
    };
    let (mut x, q, r) = (take(ops, x), take(ops, q), take(ops, r));
    let mut c = Algebra::<T::Wide>::zeros(ops, "test", cols, cols).unwrap();
    ops.multiply(1.0, &q, Op::Adjoint, &q, Op::Plain, 0.0, &mut c).unwrap();
    for j in 0..cols {
        let one = T::Wide::from_parts(1.0, 0.0);
        c.slice_mut().unwrap()[j * (cols + 1)] = c.slice().unwrap()[j * (cols + 1)] - one;
    }
    let size = ops.norm2(&x).unwrap().sqrt();
    ops.multiply(-1.0, &q, Op::Plain, &r, Op::Plain, 1.0, &mut x).unwrap();
    let off = ops.norm2(&x).unwrap().sqrt();
    assert_eq!((rows, cols), q.shape());
    (ops.norm2(&c).unwrap().sqrt(), if size > 0.0 { off / size } else { off })
}

/// Orthonormalizes a copy of `x`, and holds the result to roundoff.
fn check<T: Scalar>(ops: &mut CpuAlgebra, x: &CpuMatrix<T>, kind: Kind, name: &str) -> Counts {
    let (rows, cols) = x.shape();
    let mut q = ops.upload("test", rows, cols, x.slice().unwrap(), rows.max(1)).unwrap();
    let mut counts = Counts::default();
    let r = orthonormalize(&mut Own(&mut *ops), &mut q, method(kind), &mut counts).unwrap();
    let (disorder, residual) = errors(ops, x, &q, &r);
    // Entries of Q are rounded once: n^2 dot products off by about u / sqrt(rows) each, and u on the diagonal; ten times
    // that for the sums.
    let bound = 10.0 * eps::<T>() * (cols as f64).sqrt().max(1.0);
    // One step alone leaves u cond^2.
    assert!(kind == Kind::Cqr || disorder <= bound, "{name} {kind:?}: disorder {disorder} > {bound}");
    assert!(residual <= bound, "{name} {kind:?}: residual {residual}");
    for j in 0..cols {
        let below = &r.slice().unwrap()[j * cols + j + 1..(j + 1) * cols];
        assert!(below.iter().all(|x| x.re() == 0.0 && x.im() == 0.0), "{name} {kind:?}: R is not triangular");
    }
    counts
}

#[test]
fn every_condition_of_the_reference_gives_an_orthonormal_basis() {
    let mut ops = algebra();
    for exponent in [1, 4, 7, 8, 10, 12, 13, 14, 15] {
        let x = conditioned::<f64>(&mut ops, 2000, 64, 10f64.powi(exponent));
        for kind in KINDS {
            let counts = check(&mut ops, &x, kind, &format!("1e{exponent}"));
            assert_eq!(counts.deflated, 0, "1e{exponent} {kind:?}");
            if exponent <= 4 && kind != Kind::Householder {
                let expected = match kind {
                    Kind::Cqr => (1, 0),
                    Kind::Scqr3 => (2, 1),
                    _ => (2, 0),
                };
                assert_eq!((counts.plain, counts.shifted), expected, "1e{exponent} {kind:?}");
            }
            if exponent >= 12 && kind == Kind::Auto {
                assert!((1..=6).contains(&counts.shifted), "1e{exponent}: {counts:?}");
            }
        }
    }
}

#[test]
fn one_step_loses_the_square_of_the_condition_and_no_more() {
    let mut ops = algebra();
    for (exponent, bound) in [(1, 1e-13), (4, 1e-7), (7, 1e-1)] {
        let x = conditioned::<f64>(&mut ops, 2000, 64, 10f64.powi(exponent));
        let mut q = ops.upload("test", 2000, 64, x.slice().unwrap(), 2000).unwrap();
        let mut counts = Counts::default();
        let span = BasisMethod { kind: Kind::Auto, need: BasisAccuracy::Span, seed: 0, draw: 0 };
        let r = orthonormalize(&mut Own(&mut ops), &mut q, span, &mut counts).unwrap();
        assert_eq!(counts, Counts { plain: 1, ..Counts::default() }, "1e{exponent}");
        assert!(errors(&mut ops, &x, &q, &r).0 < bound, "1e{exponent}");
    }
}

fn ill_conditioned<T: Scalar>() {
    let mut ops = algebra();
    let single = eps::<T>() > 1e-10;
    for exponent in if single { [1, 3, 5, 7] } else { [2, 7, 11, 15] } {
        let x = conditioned::<T>(&mut ops, 1009, 31, 10f64.powi(exponent));
        for kind in KINDS {
            check(&mut ops, &x, kind, &format!("1e{exponent}"));
        }
    }
}

#[test]
fn all_types_are_orthonormal_whatever_the_condition() {
    ill_conditioned::<f32>();
    ill_conditioned::<f64>();
    ill_conditioned::<Complex<f32>>();
    ill_conditioned::<Complex<f64>>();
}

fn deficient<T: Scalar>() {
    let mut ops = algebra();
    for kind in KINDS {
        let mut x = random::<T>(&mut ops, 500, 9, 5);
        let column = |x: &mut CpuMatrix<T>, from: usize, to: usize| {
            x.slice_mut().unwrap().copy_within(500 * from..500 * (from + 1), 500 * to)
        };
        column(&mut x, 0, 4);
        column(&mut x, 2, 8);
        check(&mut ops, &x, kind, "duplicates");
        x.slice_mut().unwrap()[500..1000].fill(T::default());
        let counts = check(&mut ops, &x, kind, "duplicates and a zero column");
        // The zero column and the two duplicates, which a shifted step makes into columns of roundoff.
        let least = if kind == Kind::Scqr3 { 1 } else { 3 };
        assert!(kind == Kind::Householder || (least..=3).contains(&counts.replaced), "{kind:?} {counts:?}");
        x.slice_mut().unwrap().fill(T::default());
        let counts = check(&mut ops, &x, kind, "zero");
        assert!(kind == Kind::Householder || counts.replaced == 9, "{kind:?} {counts:?}");
        // Rank 3 of 12, by products: the rest is roundoff.
        let (a, b) = (random::<T>(&mut ops, 400, 3, 6), random::<T>(&mut ops, 3, 12, 7));
        let mut y = Algebra::<T>::zeros(&mut ops, "test", 400, 12).unwrap();
        ops.multiply(1.0, &a, Op::Plain, &b, Op::Plain, 0.0, &mut y).unwrap();
        check(&mut ops, &y, kind, "rank 3");
        // A square matrix of rank 1: random directions have to fill the space.
        let mut z = Algebra::<T>::zeros(&mut ops, "test", 7, 7).unwrap();
        z.slice_mut().unwrap()[3] = T::from_parts(2.0, 0.0);
        check(&mut ops, &z, kind, "one entry");
    }
}

#[test]
fn columns_that_depend_on_others_are_replaced() {
    deficient::<f32>();
    deficient::<f64>();
    deficient::<Complex<f32>>();
    deficient::<Complex<f64>>();
}

/// Random directions depend on the basis's number, not on earlier draws.
#[test]
fn random_directions_go_by_the_number_of_the_basis() {
    let mut ops = algebra();
    let mut basis = |draw: u64, counts: &mut Counts| {
        let mut x = Algebra::<f64>::zeros(&mut ops, "test", 30, 4).unwrap();
        x.slice_mut().unwrap()[3] = 1.0;
        orthonormalize(&mut Own(&mut ops), &mut x, BasisMethod { draw, ..method(Kind::Auto) }, counts).unwrap();
        x.slice().unwrap().to_vec()
    };
    let mut counts = Counts::default();
    let (first, second) = (basis(0, &mut counts), basis(1, &mut counts));
    assert!(counts.replaced == 6 && first[30..] != second[30..]);
    assert!(basis(0, &mut counts) == first && basis(1, &mut Counts::default()) == second);
    assert!(basis(u64::MAX, &mut counts) != first);
}

#[test]
fn lengths_of_columns_do_not_matter() {
    let mut ops = algebra();
    let mut x = random::<f64>(&mut ops, 300, 6, 5);
    ops.scale_columns(&mut x, &[1e200, 1.0, 1e-170, 1e-5, 1e180, 1e-200]).unwrap();
    let mut q = ops.upload("test", 300, 6, x.slice().unwrap(), 300).unwrap();
    let mut counts = Counts::default();
    let r = orthonormalize(&mut Own(&mut ops), &mut q, method(Kind::Auto), &mut counts).unwrap();
    assert_eq!((counts.deflated, counts.shifted, counts.plain), (0, 0, 2));
    let zero = Algebra::<f64>::zeros(&mut ops, "test", 300, 6).unwrap();
    let none = Algebra::<f64>::zeros(&mut ops, "test", 6, 6).unwrap();
    assert!(errors(&mut ops, &zero, &q, &none).0 < 1e-14);
    // Column by column, relative to its length.
    for j in 0..6 {
        let length: f64 = x.slice().unwrap()[300 * j..300 * (j + 1)].iter().map(|v| v.abs()).fold(0.0, f64::max);
        for i in 0..300 {
            let sum: f64 = (0..=j).map(|k| q.slice().unwrap()[300 * k + i] * r.slice().unwrap()[6 * j + k]).sum();
            assert!((sum - x.slice().unwrap()[300 * j + i]).abs() < 1e-14 * length, "{i} {j}");
        }
    }
}

#[test]
fn edges() {
    let mut ops = algebra();
    for (rows, cols) in [(0, 0), (5, 0), (1, 1), (7, 7), (8, 1)] {
        let x = random::<f64>(&mut ops, rows, cols, 5);
        for kind in KINDS {
            check(&mut ops, &x, kind, "edge");
        }
    }
    let mut wide = random::<f64>(&mut ops, 3, 4, 5);
    let outcome = orthonormalize(&mut Own(&mut ops), &mut wide, method(Kind::Auto), &mut Counts::default());
    assert!(matches!(outcome.map(|_| ()), Err(Error::Internal(_))));
}

#[test]
fn numbers_that_are_not_finite_are_an_error() {
    let mut ops = algebra();
    for bad in [f64::NAN, f64::INFINITY] {
        for kind in KINDS {
            let mut x = random::<f64>(&mut ops, 30, 4, 5);
            x.slice_mut().unwrap()[77] = bad;
            let outcome = orthonormalize(&mut Own(&mut ops), &mut x, method(kind), &mut Counts::default());
            assert!(matches!(outcome.map(|_| ()), Err(Error::Numerical(_))), "{bad} {kind:?}");
        }
    }
}

#[test]
fn the_same_calls_give_the_same_bits() {
    let run = |threads| {
        let options = Options { backend: BackendChoice::Cpu, threads, ..Options::default() };
        let mut ops = CpuAlgebra::new(&Arc::clone(&Context::new(options).unwrap()));
        let mut x = conditioned::<f64>(&mut ops, 3001, 20, 1e13);
        x.slice_mut().unwrap()[3001..6002].fill(0.0);
        let r = orthonormalize(&mut Own(&mut ops), &mut x, method(Kind::Auto), &mut Counts::default()).unwrap();
        (x.slice().unwrap().to_vec(), r.slice().unwrap().to_vec())
    };
    assert!(run(1) == run(3));
}
