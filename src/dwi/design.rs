//! The linear algebra that a whole volume shares: design matrices, their rank, and the matrices that map one voxel's
//! prepared signals to its tensor or its harmonics. Plain row-major vectors, so that every backend can use them.

use std::f64::consts::PI;

use super::scheme::Scheme;
use super::sh::{Basis, canonical_of, canonical_row, check_order, coefficients, monomial_row};
use crate::alloc;
use crate::dense::{Mat, Svd, small};
use crate::error::{Error, Result, real};

/// Singular values below this fraction of the largest count as zero. Gradient tables have about six digits, so a direction
/// that is repeated up to rounding adds singular values of this size without information.
const RANK_TOLERANCE: f64 = 1e-6;

/// A thin singular value decomposition `A = left diag(singular) right^T` of an N x U matrix of full column rank.
pub(crate) struct Factors {
    rows: usize,
    columns: usize,
    /// N x U, row by row, orthonormal columns.
    pub left: Vec<f64>,
    /// U x U, row by row: `right diag(1 / singular)`, which maps coordinates in `left` to the unknowns.
    pub back: Vec<f64>,
}

impl Factors {
    /// Factors the row-major `matrix` with `columns` columns. `directions` is the number of gradient directions, for
    /// the error.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `bvecs`, with the rank found and the rank needed.
    fn new(matrix: &[f64], columns: usize, directions: usize, need: &str) -> Result<Self> {
        let rows = matrix.len() / columns;
        let Svd { u, s, v } = small::thin_svd(Mat::from_rows(matrix, rows, columns))?
            .ok_or_else(|| Error::Numerical("the singular values of the gradient scheme did not converge".into()))?;
        let largest = s.first().copied().unwrap_or(0.0);
        let rank = s.iter().filter(|value| **value > RANK_TOLERANCE * largest).count();
        if rank < columns {
            return Err(Error::invalid(
                "bvecs",
                format!("{directions} directions determine {rank} coefficients, {need} needs {columns} distinct axes"),
            ));
        }
        let mut left = alloc::with_capacity("factors of the design matrix", rows * columns)?;
        for i in 0..rows {
            left.extend((0..columns).map(|j| u[(i, j)]));
        }
        let mut back = alloc::with_capacity("factors of the design matrix", columns * columns)?;
        for i in 0..columns {
            back.extend((0..columns).map(|j| v[(i, j)] / s[j]));
        }
        Ok(Self { rows, columns, left, back })
    }

    /// The first `rows` columns of the pseudo-inverse: `columns` x `rows`, row by row.
    fn pseudo_inverse(&self, rows: usize) -> Result<Vec<f64>> {
        let mut inverse = alloc::with_capacity("pseudo-inverse", self.columns * rows)?;
        for back in self.back.chunks_exact(self.columns) {
            inverse.extend(self.left.chunks_exact(self.columns).take(rows.min(self.rows)).map(|left| dot(back, left)));
        }
        Ok(inverse)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Factors of the design matrix of the fit `D(g_j) = A g_j^m` over the weighted volumes of `scheme`.
///
/// # Errors
/// [`Error::InvalidArgument`] for an odd or too large order, or too few distinct axes.
pub(crate) fn adc_factors(scheme: &Scheme, order: usize) -> Result<Factors> {
    check_order("tensors", order)?;
    let (n, u) = (scheme.weighted.len(), coefficients(order));
    let mut design = alloc::filled("design matrix", n * u, 0.0)?;
    for (row, g) in design.chunks_exact_mut(u).zip(&scheme.directions) {
        monomial_row(order, *g, row);
    }
    Factors::new(&design, u, n, &format!("order {order}"))
}

/// Matrix from the logarithms `ln(S_j / S0)` of the weighted volumes to the packed entries of the ADC tensor: U x N,
/// row by row. It computes the least-squares solution of `-ln(S_j / S0) / b_j = A g_j^m`.
///
/// # Errors
/// [`Error::InvalidArgument`] if the scheme's rank is too low or the order is unsupported; see [`Scheme`].
pub fn adc_matrix(scheme: &Scheme, order: usize) -> Result<Vec<f64>> {
    let factors = adc_factors(scheme, order)?;
    let n = scheme.weighted.len();
    let mut matrix = factors.pseudo_inverse(n)?;
    for row in matrix.chunks_exact_mut(n) {
        for (m, b) in row.iter_mut().zip(&scheme.bvals) {
            *m /= -b;
        }
    }
    Ok(matrix)
}

/// Matrix from `ln(-ln E_j)` of the weighted volumes to the harmonics of the constant-solid-angle orientation function:
/// U x N, row by row, with a first row of zeros, since the l = 0 coefficient is the constant [`csa_constant`].
///
/// Equation (15) of Aganj et al., Magn. Reson. Med. 64 (2010) 554: the function is
/// `1/(4 pi) + 1/(16 pi^2) FRT(Laplace-Beltrami of ln(-ln E))`, and harmonics of degree l are eigenfunctions of both
/// operators, with eigenvalues `2 pi P_l(0)` and `-l(l+1)`. The harmonics of `ln(-ln E)` come from least squares with
/// the Laplace-Beltrami penalty `smoothing * sum of (l(l+1) c)^2` (Descoteaux et al., 2007).
///
/// # Errors
/// [`Error::InvalidArgument`] for an odd or too large degree, a negative smoothing, or a singular problem.
pub fn csa_matrix(scheme: &Scheme, lmax: usize, basis: Basis, smoothing: f64) -> Result<Vec<f64>> {
    check_order("sh", lmax)?;
    let (n, u) = (scheme.weighted.len(), coefficients(lmax));
    // The penalty adds rows to the same least-squares problem, because normal equations would lose half the digits.
    let rows = n + u;
    let mut design = alloc::filled("design matrix", rows * u, 0.0)?;
    for (row, g) in design.chunks_exact_mut(u).zip(&scheme.directions) {
        canonical_row(lmax, *g, row);
    }
    let degrees = || (0..=lmax).step_by(2).flat_map(|l| std::iter::repeat_n(l, 2 * l + 1));
    for (j, l) in degrees().enumerate() {
        design[(n + j) * u + j] = smoothing.sqrt() * (l * (l + 1)) as f64;
    }
    // The coefficient of degree 0 has no penalty. Where the penalty of degree lmax hides its column, no axes suffice.
    let column = design[..n * u].iter().step_by(u).map(|d| d * d).sum::<f64>();
    let most = column / (RANK_TOLERANCE * (lmax * (lmax + 1)) as f64).powi(2);
    if column > 0.0 && smoothing > most {
        let found = real(smoothing);
        return Err(Error::invalid(
            "smoothing",
            format!("is {found}, at most {most:.1e} with degree {lmax} and {n} directions"),
        ));
    }
    let need = format!("degree {lmax} with smoothing {}", real(smoothing));
    let canonical = Factors::new(&design, u, n, &need)?.pseudo_inverse(n)?;
    let mut factors = alloc::with_capacity("orientation function", u)?;
    factors.extend(degrees().map(|l| -((l * (l + 1)) as f64) * legendre_at_zero(l) / (8.0 * PI)));
    let mut matrix = alloc::filled("orientation function", u * n, 0.0)?;
    for (row, (source, to_canonical)) in matrix.chunks_exact_mut(n).zip(canonical_of(basis, lmax)) {
        let factor = factors[source] / to_canonical;
        for (m, c) in row.iter_mut().zip(&canonical[source * n..(source + 1) * n]) {
            *m = factor * c;
        }
    }
    Ok(matrix)
}

/// The l = 0 coefficient of an orientation function whose integral is 1: `1 / (2 sqrt(pi))`, in every basis.
pub fn csa_constant() -> f64 {
    0.5 / PI.sqrt()
}

/// The Legendre polynomial P_l(0) for even l.
fn legendre_at_zero(l: usize) -> f64 {
    (1..=l / 2).fold(1.0, |p, k| -p * (2 * k - 1) as f64 / (2 * k) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legendre_polynomials_at_zero() {
        for (l, p) in [(0, 1.0), (2, -0.5), (4, 0.375), (6, -0.3125), (8, 0.2734375)] {
            assert_eq!(legendre_at_zero(l), p);
        }
    }

    #[test]
    fn too_few_axes_are_refused_with_the_rank() {
        // Six directions, two of them the same axis.
        let s = 0.5f64.sqrt();
        let mut g = vec![[s, s, 0.0], [s, -s, 0.0], [s, 0.0, s], [-s, 0.0, s], [0.0, s, s], [-s, -s, 0.0]];
        let scheme = |g: &[[f64; 3]]| {
            let mut all = vec![[0.0; 3]];
            all.extend(g);
            let mut b = vec![1000.0; all.len()];
            b[0] = 0.0;
            Scheme::new(&b, &all, 50.0).unwrap()
        };
        let e = adc_matrix(&scheme(&g), 2).unwrap_err().to_string();
        assert_eq!(e, "bvecs: 6 directions determine 5 coefficients, order 2 needs 6 distinct axes");
        g[5] = [0.0, s, -s];
        assert_eq!(adc_matrix(&scheme(&g), 2).unwrap().len(), 36);
        assert!(adc_matrix(&scheme(&g), 4).unwrap_err().to_string().contains("needs 15"));
        assert!(adc_matrix(&scheme(&g), 3).unwrap_err().to_string().contains("odd order 3"));
        // The penalty makes the orientation function's problem solvable with fewer axes.
        assert!(csa_matrix(&scheme(&g), 4, Basis::Canonical, 0.006).is_ok());
        assert!(csa_matrix(&scheme(&g), 4, Basis::Canonical, 0.0).is_err());
    }
}
