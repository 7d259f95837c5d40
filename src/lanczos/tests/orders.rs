//! Solves in another order of rows and columns against solves in the matrix's own order.

use std::sync::Arc;

use super::inputs::symmetric;
use super::solves::near;
use crate::context::Context;
use crate::error::Error;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::solve::{SolveInputs, eigenpairs};
use crate::lanczos::{Method, Options, Orthogonalization, Pairs, Which};
use crate::matrix::sparse::Ordering;
use crate::matrix::{Matrix, Operator, Storage};
use crate::progress::Progress;
use crate::scalar::{Complex, Real, Scalar};
use crate::testing::sparse::{cpu, golden, vector};

/// ||A x - lambda x|| of the pairs found, computed with the matrix in its own order.
fn residuals<T: Scalar>(c: &Arc<Context>, a: &Matrix, kind: Kind, pairs: &Pairs<T>) -> Vec<f64> {
    let mut operator = Symmetric::<T>::new(c, a, kind, 0.25).unwrap();
    let n = a.rows();
    let mut y = vec![T::default(); n];
    let one = |(x, &value): (&[T], &f64)| {
        operator.apply(x, &mut y).unwrap();
        let square = |(y, x): (&T, &T)| (y.re() - value * x.re()).powi(2) + (y.im() - value * x.im()).powi(2);
        y.iter().zip(x).map(square).sum::<f64>().sqrt()
    };
    pairs.vectors.chunks_exact(n).zip(&pairs.values).map(one).collect()
}

/// Eigenpairs in every order against those in the matrix's order, also with a start vector and known vectors.
pub(crate) fn check<T: Scalar>(c: &Arc<Context>, a: &Matrix, kinds: &[Kind], options: &Options) {
    let n = a.rows();
    let eps = T::Part::EPSILON.to_f64();
    let start: Vec<T> = (0..n).map(|i| T::from_parts(1.0 + (i % 7) as f64, 0.0)).collect();
    for &kind in kinds {
        let run = |order: Option<Ordering>, given: &SolveInputs<'_, T>| {
            let mut operator = Symmetric::<T>::in_order(c, a, kind, 0.25, order).unwrap();
            eigenpairs(c, &mut operator, options, given, &Progress::none()).unwrap()
        };
        let plain = run(None, &SolveInputs::default());
        // Neither option supports known vectors.
        let takes_known = options.method != Method::Plain && options.orthogonalization != Orthogonalization::Partial;
        let known = SolveInputs { start: Some(&start), deflate: &plain.vectors[..n], ..SolveInputs::default() };
        let without = takes_known.then(|| run(None, &known));
        for how in [Ordering::Degree, Ordering::CuthillMckee] {
            let what = format!("{kind:?} {how:?} {:?}", options.method);
            let found = run(Some(how), &SolveInputs::default());
            let limit = 1e5 * eps * plain.info.norm;
            near(&found.values, &plain.values, limit, &what);
            for (r, reported) in residuals(c, a, kind, &found).iter().zip(&found.residuals) {
                assert!(*r <= reported + 100.0 * eps * plain.info.norm, "{what}: residual {r}, not {reported}");
            }
            // The same start vector gives the same steps, except for rounding errors.
            assert!(found.info.products.abs_diff(plain.info.products) <= plain.info.products / 4, "{what}");
            if let Some(without) = &without {
                near(&run(Some(how), &known).values, &without.values, limit, &format!("{what}, known"));
            }
        }
    }
}

#[test]
fn eigenpairs_are_those_of_the_matrix() {
    let c = cpu(2);
    let a = golden(&c, "as-caida20071105");
    let options = Options { count: 4, ..Options::default() };
    check::<f64>(&c, &a, &[Kind::Matrix, Kind::Laplacian, Kind::NormalizedLaplacian, Kind::Modularity], &options);
    check::<f64>(&c, &a, &[Kind::Matrix], &Options { method: Method::Plain, basis: 100, ..options });
    check::<f64>(&c, &a, &[Kind::NormalizedAdjacency], &Options { block: 3, basis: 45, ..options });
    let links = (0..3000).map(|i| (i, (i * 7 + 3) % 2999, Complex::new(1.0f32, (i % 5) as f32)));
    let hermitian = symmetric(&c, 3000, &links.filter(|l| l.0 != l.1).collect::<Vec<_>>());
    check::<Complex<f32>>(&c, &hermitian, &[Kind::Matrix], &Options { count: 2, ..Options::default() });
}

/// (A - sigma I)^-1 for A = diag(1, 2, ..., n), whose rows all differ.
struct Inverse(usize, f64);

impl Operator<f64> for Inverse {
    fn shape(&self) -> (usize, usize) {
        (self.0, self.0)
    }

    fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
        y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = x / (1.0 + i as f64 - self.1));
        Ok(())
    }
}

#[test]
fn a_solve_of_the_callers_has_the_order_of_the_matrix() {
    let c = cpu(2);
    let n = 300;
    let a = symmetric(&c, n, &(0..n).map(|i| (i, i, 1.0 + i as f64)).collect::<Vec<_>>());
    let inverse = Matrix::from_operator(&c, Box::new(Inverse(n, 100.3)));
    let given = SolveInputs::<f64> { solve: Some(&inverse), ..SolveInputs::default() };
    let options = Options { count: 3, which: Which::Nearest, sigma: 100.3, ..Options::default() };
    let mut operator = Symmetric::in_order(&c, &a, Kind::Matrix, 0.0, Some(Ordering::CuthillMckee)).unwrap();
    let pairs = eigenpairs(&c, &mut operator, &options, &given, &Progress::none()).unwrap();
    near(&pairs.values, &[100.0, 101.0, 99.0], 1e-9, "nearest");
    assert!((pairs.vectors[99] - 1.0).abs() < 1e-9 && (pairs.vectors[n + 100] - 1.0).abs() < 1e-9);
    let of = |a: &Matrix, kind| Symmetric::<f64>::in_order(&c, a, kind, 0.0, Some(Ordering::Degree)).map(drop);
    assert!(of(&a, Kind::Gram).unwrap_err().to_string().starts_with("ordering: is set, GRAM"));
    assert!(matches!(of(&inverse, Kind::Matrix), Err(Error::NotSupported(_))));
}

#[test]
fn the_copy_in_order_stays_with_a_matrix_and_takes_new_values() {
    let c = cpu(2);
    let mut a = symmetric(&c, 400, &(1..400).map(|i| (i / 2, i, 1.0)).collect::<Vec<_>>());
    let options = Options { count: 1, ..Options::default() };
    let largest = |a: &Matrix| {
        let mut operator = Symmetric::<f64>::in_order(&c, a, Kind::Matrix, 0.0, Some(Ordering::Degree)).unwrap();
        eigenpairs(&c, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap().values[0]
    };
    let first = largest(&a);
    assert_eq!(largest(&a), first);
    let Storage::Csr(csr) = a.storage() else { panic!("not sparse") };
    let values = vec![3.0; csr.nnz()];
    a.set_values(&vector(&c, &values)).unwrap();
    assert!((largest(&a) - 3.0 * first).abs() < 1e-9);
}
