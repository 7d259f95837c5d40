//! What came of a solve.

use super::shared::Shares;

/// Why a solve ended. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(i32)]
pub enum Reason {
    /// Every pair has converged.
    #[default]
    Converged = 0,
    /// The restarts, or the steps of the plain recurrence, are used up.
    Restarts = 1,
    /// The Krylov space is the whole space: the pairs are exact.
    Exhausted = 2,
    /// The iteration had converged, but residuals or inner products computed from the vectors returned contradict it: the
    /// operator is not symmetric, its products differ from call to call, or the caller's solve is less accurate than the
    /// tolerance.
    Contradicted = 3,
}

/// Figures of a solve. The fields are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Info {
    /// Why it ended.
    pub reason: Reason,
    /// Pairs that have converged, the first of those returned.
    pub converged: usize,
    /// Products with the matrix, those of the residuals not counted.
    pub products: usize,
    /// Restarts.
    pub restarts: usize,
    /// Times that the space was invariant and a new vector had to be found.
    pub breakdowns: usize,
    /// Eigenvalues that the check for copies found.
    pub recovered: usize,
    /// Whether a test or a search has shown that no copy of a wanted eigenvalue is missing.
    pub verified: bool,
    /// Largest ||A x - lambda x|| of the converged pairs, computed from the vectors returned.
    pub residual: f64,
    /// Largest |x_i . x_j - delta_ij| of the vectors returned.
    pub orthogonality: f64,
    /// Vectors of the Krylov space.
    pub basis: usize,
    /// Degree of the filter; 0 without one.
    pub degree: usize,
    /// Largest norm of A v met, an estimate of the norm of A from below; or that of the diagonal, the shift and other terms that
    /// are added to the matrix, if it is more: rounding errors are relative to it.
    pub norm: f64,
    /// Seconds.
    pub seconds: f64,
    /// What several contexts share; zeros of a single one.
    pub shares: Shares,
}

/// Eigenpairs, as [`super::Which`] orders them.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs<T> {
    /// Eigenvalues.
    pub values: Vec<f64>,
    /// Eigenvectors of 2-norm 1, n-by-k, column-major. The entry of largest modulus of each is real and positive.
    pub vectors: Vec<T>,
    /// ||A x - lambda x||_2 of each, computed from the vectors returned.
    pub residuals: Vec<f64>,
    /// Figures.
    pub info: Info,
}
