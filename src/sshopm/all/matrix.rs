//! Order 2: the eigenpairs of a symmetric matrix.

use super::set::PairSet;
use crate::dense::small::{self, Matrix};
use crate::error::{Error, Result};
use crate::scalar::Real;
use crate::sshopm::options::PairClass;

/// Largest difference of eigenvalues that count as equal, over n eps |A|. The rounding of the entries moves a difference by
/// up to eps |A|, and the products in which most matrices are made by a small multiple of n eps |A|.
const ROUNDINGS: f64 = 8.0;

/// Largest difference of equal eigenvalues of an n-by-n matrix with entries of type `T` and the Frobenius norm `norm`.
pub fn rounding<T: Real>(n: usize, norm: f64) -> f64 {
    ROUNDINGS * n as f64 * T::EPSILON.to_f64() * norm
}

/// Adds all n pairs of the matrix with packed entries `a` to the set, and returns the difference of the largest and the smallest
/// eigenvalue. Eigenvalues of the projected Hessian below `flat` count as 0.
pub fn pairs<T: Real>(n: usize, a: &[T], flat: f64, set: &mut PairSet<T>) -> Result<f64> {
    let mut matrix = Matrix::zeros(n, n)?;
    let mut entries = a.iter();
    for i in 0..n {
        for (j, x) in (i..n).zip(&mut entries) {
            matrix[(i, j)] = x.to_f64();
            matrix[(j, i)] = x.to_f64();
        }
    }
    let (values, vectors) =
        small::eigen(&matrix)?.ok_or_else(|| Error::Numerical("the symmetric eigensolver did not converge".into()))?;
    for k in (0..n).rev() {
        let lambda = values[k];
        // The projected Hessian is diagonal in the other eigenvectors with mu - lambda, ascending like the values.
        let hessian = || (0..n).filter(|j| *j != k).map(|j| values[j] - lambda);
        let class = match () {
            () if hessian().any(|e| e.abs() <= flat) => PairClass::Degenerate,
            () if hessian().all(|e| e < 0.0) => PairClass::NegativeStable,
            () if hessian().all(|e| e > 0.0) => PairClass::PositiveStable,
            () => PairClass::Unstable,
        };
        let residual2: f64 = (0..n)
            .map(|i| {
                let r: f64 = (0..n).map(|j| matrix[(i, j)] * vectors[(j, k)]).sum::<f64>() - lambda * vectors[(i, k)];
                r * r
            })
            .sum();
        set.push(lambda, residual2.sqrt(), class, 1, (0..n).map(|i| vectors[(i, k)]), hessian())?;
    }
    Ok(values[n - 1] - values[0])
}
