//! Orthogonalization to the square root of the unit roundoff. An estimate of the effect of rounding errors decides when a
//! vector must be made orthogonal to all others (Simon, The Lanczos algorithm with partial reorthogonalization, Math.
//! Comp. 42, 1984). Eigenvalues are as accurate as those of a space that is fully orthogonal.
//!
//! The estimate uses the projected matrix T of any shape: omega_{j+1} beta_{j+1} = T omega_j - alpha_j omega_j - beta_j
//! omega_{j-1} + rounding. For a tridiagonal T this is Simon's recurrence. It also holds after a restart.

use super::super::cycles::Cycles;
use super::super::ops::Wide;
use crate::alloc;
use crate::error::Result;
use crate::scalar::Scalar;

const WHAT: &str = "estimates of orthogonality";

/// Estimates of v_i . v_j for the vectors of a space.
pub(super) struct Loss {
    /// Estimates for the vector before the last. `last` has those for the last vector.
    before: Vec<f64>,
    last: Vec<f64>,
    /// Number of next vectors to make orthogonal in any case. After one vector the next one must follow, or the
    /// recurrence brings the loss back.
    due: usize,
    epsilon: f64,
}

impl Loss {
    /// Estimates without loss, for up to `most` vectors.
    pub(super) fn new(most: usize, epsilon: f64) -> Result<Self> {
        let zeros = || alloc::filled(WHAT, most + 1, 0.0);
        Ok(Self { before: zeros()?, last: zeros()?, due: 0, epsilon })
    }

    /// Restarts the estimates at vector `first`, which is orthogonal to the vectors before it.
    pub(super) fn begin(&mut self, first: usize) {
        self.due = 0;
        self.last.fill(0.0);
        self.last[..first].fill(self.epsilon);
        self.last[first] = 1.0;
    }

    /// Sets the estimates for vector `j + 1`, which has been made orthogonal to all others without [`Loss::advance`].
    pub(super) fn restored(&mut self, j: usize) {
        std::mem::swap(&mut self.before, &mut self.last);
        self.last.fill(0.0);
        self.last[..=j].fill(self.epsilon);
        self.last[j + 1] = 1.0;
    }

    /// Sets the estimates for vector `j + 1` after [`Loss::advance`]: it has been made orthogonal to all others.
    pub(super) fn renewed(&mut self, j: usize) {
        self.last[..=j].fill(self.epsilon);
    }

    /// Updates the estimates for vector `j + 1`. `beta` is its norm before it is normalized, and `along` its component
    /// along vector j. `t` is the projected matrix with `m` rows; its leading j + 1 rows and columns are known, except
    /// the last diagonal entry. True if the vector must be made orthogonal to all others.
    pub(super) fn advance<W: Scalar>(&mut self, t: &[W], m: usize, j: usize, along: f64, beta: f64, norm: f64) -> bool {
        let coupling = if j > 0 { t[(j - 1) * m + j].re() } else { 0.0 };
        let noise = self.epsilon * norm / beta;
        for i in 0..j {
            let sum: f64 = (0..=j).map(|l| t[l * m + i].re() * self.last[l]).sum();
            let omega = (sum - along * self.last[i] - coupling * self.before[i]) / beta;
            // The estimate for the vector before the last is not read again.
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

/// Replaces Y by R^-1 Y, with the Cholesky factor R of V^H V = R^H R. V is orthogonal only to the square root of the
/// roundoff; V R^-1 Y are orthonormal Ritz vectors. `y` has `size` rows. False if the vectors of V are no longer
/// independent: the estimate has missed a loss of orthogonality.
pub(super) fn straighten<K: Cycles + ?Sized>(
    krylov: &mut K,
    first: usize,
    size: usize,
    y: &mut [Wide<K>],
) -> Result<bool> {
    let mut r = krylov.gram(first, size)?;
    let zero = Wide::<K>::default();
    // Compute R in the upper triangle, row by row.
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
