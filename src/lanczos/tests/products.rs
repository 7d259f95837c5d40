//! Operators that are known by their products: tiny ones, and those of low rank.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::context::Context;
use crate::dense::Op;
use crate::error::Error;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::singular::{Request, singular_triplets};
use crate::lanczos::solve::{SolveInputs, eigenpairs, tridiagonalize};
use crate::lanczos::{Method, Options, Orthogonalization, Pairs};
use crate::matrix::{Matrix, Operator};
use crate::progress::Progress;
use crate::scalar::Scalar;

/// A diagonal matrix of 1, 1/2, 1/3 and so on times a number, known by its products. Counts the non-finite inputs.
struct Small<T> {
    scale: T,
    shape: (usize, usize),
    rank: usize,
    /// Whether it provides its row sums, as operators do that are known to be symmetric.
    has_row_sums: bool,
    not_finite: Arc<AtomicUsize>,
}

impl<T: Scalar> Small<T> {
    fn entry(&self, i: usize) -> T {
        T::from_parts(if i < self.rank { 1.0 / (i + 1) as f64 } else { 0.0 }, 0.0) * self.scale
    }
}

impl<T: Scalar> Operator<T> for Small<T> {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn apply(&mut self, _: Op, x: &[T], count: usize, y: &mut [T]) -> crate::error::Result<()> {
        self.not_finite.fetch_add(x.iter().filter(|x| !x.re().is_finite()).count(), Ordering::Relaxed);
        let (from, to) = (x.len() / count, y.len() / count);
        for (x, y) in x.chunks_exact(from).zip(y.chunks_exact_mut(to)) {
            y.fill(T::default());
            for (i, (x, y)) in x.iter().zip(y).take(self.rank).enumerate() {
                *y = self.entry(i) * *x;
            }
        }
        Ok(())
    }

    fn row_sums(&self) -> crate::error::Result<Option<Vec<f64>>> {
        Ok(self.has_row_sums.then(|| (0..self.shape.0).map(|i| self.entry(i).re()).collect()))
    }

    fn has_row_sums(&self) -> bool {
        self.has_row_sums
    }
}

/// The outcome of a call with a small operator.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    Right,
    Refused,
    /// Near the limit, either.
    Any,
}

pub(super) fn products_whose_squares_underflow_are_refused(c: &Arc<Context>) {
    fn check<R>(found: crate::error::Result<R>, wanted: Outcome, is_right: impl Fn(&R) -> bool, what: &str) {
        match found {
            Err(e) => {
                let is_named = e.to_string().contains("underflow");
                assert!(wanted != Outcome::Right && matches!(e, Error::Numerical(_)) && is_named, "{what}: {e}");
            }
            Ok(found) => assert!(wanted != Outcome::Refused && is_right(&found), "{what}"),
        }
    }
    fn all<T: Scalar>(c: &Arc<Context>, scales: &[f64], wanted: Outcome) {
        let cases = [((60, 40), 40, false), ((60, 20_000), 1, false), ((40, 40), 40, true)];
        for (&scale, (shape, rank, has_row_sums)) in scales.iter().flat_map(|s| cases.iter().map(move |c| (s, *c))) {
            let not_finite = Arc::new(AtomicUsize::new(0));
            let made = || {
                let (scale, not_finite) = (T::from_parts(scale, 0.0), Arc::clone(&not_finite));
                Matrix::from_operator(c, Box::new(Small { scale, shape, rank, has_row_sums, not_finite }))
            };
            let options = Options { count: rank.min(3), ..Options::default() };
            for kind in [Kind::Gram, Kind::OuterGram] {
                // The other one is of 20 000 vectors.
                if rank == 1 && kind == Kind::Gram {
                    continue;
                }
                let a = made();
                let mut operator = Symmetric::<T>::new(c, &a, kind, 0.0).unwrap();
                let found = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none());
                let what = format!("{:?} {kind:?} {scale:e} {shape:?} {has_row_sums}", T::DTYPE);
                let near = |found: &Pairs<T>| (found.values[0] / scale / scale - 1.0).abs() < 1e-4;
                check(found, wanted, near, &what);
                let found = tridiagonalize(c, &mut operator, 20, 0, None, &Progress::none());
                check(found, wanted, |_| true, &format!("{what}, a recurrence"));
            }
            let found = singular_triplets::<T>(c, &made(), Request::default(), &options, &Progress::none()).unwrap();
            for (i, value) in found.values.iter().enumerate() {
                assert!((value / scale * (i + 1) as f64 - 1.0).abs() < 1e-4, "{scale:e}: {:?}", found.values);
            }
            let count = not_finite.load(Ordering::Relaxed);
            assert_eq!(count, 0, "{:?} {scale:e} {shape:?}: inputs that are not finite", T::DTYPE);
        }
    }
    all::<f64>(c, &[1e-120, 1e-100, 1e-70], Outcome::Refused);
    all::<f32>(c, &[1e-30, 1e-25, 1e-22, 1e-19], Outcome::Refused);
    all::<f64>(c, &[1e-65, 2e-65, 3e-65], Outcome::Any);
    all::<f32>(c, &[5e-19, 1e-18, 5e-18, 1e-17, 1e-16], Outcome::Any);
    all::<f64>(c, &[1e-64, 1e-55, 1.0], Outcome::Right);
    all::<f32>(c, &[1e-15, 1.0], Outcome::Right);
}

/// Steps beyond an invariant space multiply by no vectors that are not finite, as those of a remainder of 0 divided by its
/// norm would be.
pub(super) fn operators_of_low_rank_are_given_finite_vectors(c: &Arc<Context>) {
    fn all<T: Scalar>(c: &Arc<Context>, rank: usize) {
        let not_finite = Arc::new(AtomicUsize::new(0));
        let made = || {
            let not_finite = Arc::clone(&not_finite);
            let (scale, shape) = (T::from_parts(1.0, 0.0), (40, 40));
            Matrix::from_operator(c, Box::new(Small { scale, shape, rank, has_row_sums: true, not_finite }))
        };
        let base = Options { count: 3, ..Options::default() };
        let ways = [
            base,
            Options { block: 2, ..base },
            Options { block: 3, basis: 12, ..base },
            Options { orthogonalization: Orthogonalization::Full, ..base },
            Options { method: Method::Plain, ..base },
        ];
        for kind in [Kind::Matrix, Kind::Gram] {
            let a = made();
            for options in ways {
                let mut operator = Symmetric::<T>::new(c, &a, kind, 0.0).unwrap();
                let what = format!("{:?} rank {rank} {kind:?} {options:?}", T::DTYPE);
                // The plain recurrence does not promise all pairs.
                match eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none()) {
                    Ok(found) => {
                        for (i, value) in found.values.iter().enumerate() {
                            let of_a = if i < rank { 1.0 / (i + 1) as f64 } else { 0.0 };
                            let want = if kind == Kind::Gram { of_a * of_a } else { of_a };
                            assert!((value - want).abs() < 1e-5, "{what}: {:?}", found.values);
                        }
                    }
                    Err(e) => assert!(options.method == Method::Plain, "{what}: {e}"),
                }
                assert_eq!(not_finite.load(Ordering::Relaxed), 0, "{what}");
            }
            let mut operator = Symmetric::<T>::new(c, &a, kind, 0.0).unwrap();
            let found = tridiagonalize(c, &mut operator, 20, 0, None, &Progress::none()).unwrap();
            let numbers = found.alpha.iter().chain(&found.beta);
            assert!(numbers.into_iter().all(|v| v.is_finite()), "{:?} rank {rank} {kind:?}", T::DTYPE);
            assert_eq!(not_finite.load(Ordering::Relaxed), 0, "{:?} rank {rank} {kind:?}, a recurrence", T::DTYPE);
        }
    }
    for rank in [0, 1, 2, 7] {
        all::<f64>(c, rank);
        all::<f32>(c, rank);
    }
}

/// The identity, whose adjoint is right in its first product alone.
struct Late {
    adjoints: usize,
    factor: f64,
}

impl Operator<f64> for Late {
    fn shape(&self) -> (usize, usize) {
        (40, 40)
    }

    fn apply(&mut self, op: Op, x: &[f64], count: usize, y: &mut [f64]) -> crate::error::Result<()> {
        y.copy_from_slice(x);
        if op == Op::Adjoint {
            if self.adjoints > 0 {
                y.iter_mut().for_each(|y| *y *= self.factor);
            }
            self.adjoints += count;
        }
        Ok(())
    }
}

/// Residuals of A^H A do not show that the adjoint is another matrix's from some product on.
pub(super) fn adjoints_that_change_in_a_run_are_refused(c: &Arc<Context>) {
    let refused = |found: crate::error::Result<()>, what: &str| {
        let e = found.unwrap_err();
        let is_named = e.to_string().contains("adjoint is not that of A");
        let is_late = e.to_string().ends_with("; it was before the run");
        assert!(matches!(e, Error::InvalidArgument { .. }) && is_named && is_late, "{what}: {e}");
    };
    let options = Options { count: 3, ..Options::default() };
    for (factor, kind) in [-1.0, 0.0, 2.0].into_iter().flat_map(|f| [(f, Kind::Gram), (f, Kind::OuterGram)]) {
        let made = || Matrix::from_operator::<f64>(c, Box::new(Late { adjoints: 0, factor }));
        let what = format!("{factor} {kind:?}");
        let a = made();
        let mut operator = Symmetric::<f64>::new(c, &a, kind, 0.0).unwrap();
        let found = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none());
        refused(found.map(|_| ()), &what);
        let a = made();
        let mut operator = Symmetric::<f64>::new(c, &a, kind, 0.0).unwrap();
        let found = tridiagonalize(c, &mut operator, 5, 0, None, &Progress::none());
        refused(found.map(|_| ()), &what);
    }
}
