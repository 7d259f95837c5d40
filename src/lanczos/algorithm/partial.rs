//! Orthogonality that is kept to the root of the roundoff alone: an estimate of what rounding does to it says when a vector
//! has to be made orthogonal to all others (Simon, The Lanczos algorithm with partial reorthogonalization, Math. Comp. 42,
//! 1984). Eigenvalues are as accurate as those of a space that is orthogonal.
//!
//! The estimate runs on the projected matrix T, whatever its shape: omega_{j+1} beta_{j+1} = T omega_j - alpha_j omega_j -
//! beta_j omega_{j-1} + rounding, which for a tridiagonal T is Simon's recurrence, and holds after a restart as well.

use super::super::krylov::{Krylov, Wide};
use crate::alloc;
use crate::error::Result;
use crate::scalar::Scalar;

const WHAT: &str = "estimates of orthogonality";

/// Estimates of v_i . v_j for the vectors of a space.
pub(super) struct Loss {
    /// Of the vector before the last, and of the last.
    before: Vec<f64>,
    last: Vec<f64>,
    /// Vectors still to be made orthogonal, whatever the estimate: two in a row, or the recurrence brings it back.
    due: usize,
    epsilon: f64,
}

impl Loss {
    /// No loss, for up to `most` vectors.
    pub(super) fn new(most: usize, epsilon: f64) -> Result<Self> {
        let zeros = || alloc::filled(WHAT, most + 1, 0.0);
        Ok(Self { before: zeros()?, last: zeros()?, due: 0, epsilon })
    }

    /// A space begins anew from vector `first`, orthogonal to those before it.
    pub(super) fn begin(&mut self, first: usize) {
        self.due = 0;
        self.last.fill(0.0);
        self.last[..first].fill(self.epsilon);
        self.last[first] = 1.0;
    }

    /// The next vector, the one of number `j + 1`, has been made orthogonal to all others.
    pub(super) fn restored(&mut self, j: usize) {
        std::mem::swap(&mut self.before, &mut self.last);
        self.last.fill(0.0);
        self.last[..=j].fill(self.epsilon);
        self.last[j + 1] = 1.0;
    }

    /// Vector `j + 1`, to which [`Loss::advance`] went on, has been made orthogonal to all others.
    pub(super) fn renewed(&mut self, j: usize) {
        self.last[..=j].fill(self.epsilon);
    }

    /// Goes on to the vector of number `j + 1`, of norm `beta` before it was normalised, `along` being the component along
    /// vector j; `t` is the projected matrix with `m` rows, of which the leading j + 1 rows and columns are known but for
    /// the last of the diagonal. Whether the vector has to be made orthogonal to all others.
    pub(super) fn advance<W: Scalar>(&mut self, t: &[W], m: usize, j: usize, along: f64, beta: f64, norm: f64) -> bool {
        let coupling = if j > 0 { t[(j - 1) * m + j].re() } else { 0.0 };
        let noise = self.epsilon * norm / beta;
        for i in 0..j {
            let sum: f64 = (0..=j).map(|l| t[l * m + i].re() * self.last[l]).sum();
            let omega = (sum - along * self.last[i] - coupling * self.before[i]) / beta;
            // The vector before the last is read no more.
            self.before[i] = omega + noise.copysign(omega);
        }
        self.before[j] = noise;
        self.before[j + 1] = 1.0;
        std::mem::swap(&mut self.before, &mut self.last);
        let worst = self.last[..=j].iter().fold(0.0f64, |most, x| most.max(x.abs()));
        if self.due > 0 {
            self.due -= 1;
            return true;
        }
        // NaN counts as lost.
        let lost = worst.is_nan() || worst > self.epsilon.sqrt();
        self.due = usize::from(lost);
        lost
    }
}

/// R^-1 Y for the Cholesky factor of V^H V = R^H R: what turns V, which is orthogonal to the root of the roundoff, into
/// orthonormal Ritz vectors. `y` is size-by-any. False where the vectors of V are no longer independent: the estimate has missed
/// what became of their orthogonality.
pub(super) fn straighten<K: Krylov + ?Sized>(
    krylov: &mut K,
    first: usize,
    size: usize,
    y: &mut [Wide<K>],
) -> Result<bool> {
    let mut r = krylov.gram(first, size)?;
    let zero = Wide::<K>::default();
    // R^H R in the upper triangle, row by row.
    for i in 0..size {
        for j in i..size {
            let mut sum = r[j * size + i];
            for l in 0..i {
                sum -= r[i * size + l].conjugate() * r[j * size + l];
            }
            r[j * size + i] = sum;
        }
        let pivot = r[i * size + i].re();
        if pivot.is_nan() || pivot <= 0.5 {
            return Ok(false);
        }
        let inverse = Wide::<K>::from_parts(1.0 / pivot.sqrt(), 0.0);
        (i..size).for_each(|j| r[j * size + i] = inverse * r[j * size + i]);
    }
    for column in y.chunks_exact_mut(size) {
        for i in (0..size).rev() {
            let mut sum = column[i];
            for l in i + 1..size {
                sum -= r[l * size + i] * column[l];
            }
            let inverse = Wide::<K>::from_parts(1.0 / r[i * size + i].re(), 0.0);
            column[i] = if sum == zero { zero } else { inverse * sum };
        }
    }
    Ok(true)
}
