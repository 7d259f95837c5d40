//! Solves whose residuals and vectors are checked, and comparisons of values.

use std::sync::Arc;

use crate::context::Context;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::solve::{SolveInputs, eigenpairs};
use crate::lanczos::{Options, Pairs};
use crate::matrix::sparse::{Norm, norm};
use crate::matrix::{Matrix, Storage};
use crate::progress::Progress;
use crate::scalar::{Complex, Real, Scalar};

pub(super) fn solve_with<T: Scalar>(
    c: &Arc<Context>,
    a: &Matrix,
    kind: Kind,
    options: &Options,
    given: &SolveInputs<'_, T>,
) -> crate::error::Result<Pairs<T>> {
    let mut operator = Symmetric::new(c, a, kind, 0.0)?;
    let pairs = eigenpairs(c, &mut operator, options, given, &Progress::none())?;
    let n = a.rows();
    let k = pairs.values.len();
    let eps = T::Part::EPSILON.to_f64();
    // Check the residuals, except for the caller's operators, which may count their calls.
    if let Storage::Csr(_) = a.storage() {
        let size = 2.0 * norm(a, Norm::Infinity).unwrap().max(1.0);
        let mut y = vec![T::default(); n];
        for ((x, &value), reported) in pairs.vectors.chunks_exact(n).zip(&pairs.values).zip(&pairs.residuals) {
            operator.apply(x, &mut y)?;
            let square = |(y, x): (&T, &T)| (y.re() - value * x.re()).powi(2) + (y.im() - value * x.im()).powi(2);
            let found = y.iter().zip(x).map(square).sum::<f64>().sqrt();
            assert!((found - reported).abs() <= 100.0 * eps * size, "{kind:?}: residual {found}, not {reported}");
        }
    }
    // The vectors are orthonormal.
    for i in 0..k {
        let x = &pairs.vectors[i * n..(i + 1) * n];
        for j in 0..=i {
            let z = &pairs.vectors[j * n..(j + 1) * n];
            let dot: Complex<f64> =
                z.iter().zip(x).map(|(z, x)| Complex::new(z.re(), -z.im()) * Complex::new(x.re(), x.im())).sum();
            let want = if i == j { 1.0 } else { 0.0 };
            assert!((dot - want).norm() < 5000.0 * eps, "{i} {j}: {dot}");
        }
    }
    Ok(pairs)
}

pub(super) fn solve(c: &Arc<Context>, a: &Matrix, kind: Kind, options: &Options) -> Pairs<f64> {
    solve_with(c, a, kind, options, &SolveInputs::default()).unwrap()
}

pub(super) fn near(found: &[f64], want: &[f64], limit: f64, what: &str) {
    assert_eq!(found.len(), want.len(), "{what}: {found:?}");
    for (f, w) in found.iter().zip(want) {
        assert!((f - w).abs() <= limit, "{what}: {found:?}, not {want:?}");
    }
}
