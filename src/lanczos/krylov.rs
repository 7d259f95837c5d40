//! What the methods need of a backend: an operator, and columns of n numbers to keep vectors in.

use crate::error::Result;

/// How a vector lies to those before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    /// Component along the last of the vectors before it, its real part.
    pub along: f64,
    /// Norm before.
    pub before: f64,
    /// Norm of what is left.
    pub after: f64,
}

/// A Hermitian operator and columns of n numbers. Columns are numbered from 0; none is read before it is written.
pub trait Krylov {
    /// Order n of the operator.
    fn order(&self) -> usize;

    /// Fills column `to` with random numbers: those of vector `vector` for the seed, whatever the backend.
    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()>;

    /// Column `to` = A times column `from`.
    fn apply(&mut self, from: usize, to: usize) -> Result<()>;

    /// Makes column `column` orthogonal to the first `count`, which are orthonormal and stand before it, by two passes of
    /// classical Gram-Schmidt.
    fn orthogonalise(&mut self, count: usize, column: usize) -> Result<Projection>;

    /// One step of the three-term recurrence: column w = A v - beta u, then alpha = w . v, w -= alpha v. Returns alpha and
    /// the norm of w. Without `u` nothing is subtracted first.
    fn three_term(&mut self, u: Option<(usize, f64)>, v: usize, w: usize) -> Result<(f64, f64)>;

    /// Multiplies a column.
    fn scale(&mut self, column: usize, factor: f64) -> Result<()>;

    /// Column `to` = column `from`.
    fn copy(&mut self, from: usize, to: usize) -> Result<()>;

    /// Columns `first .. first + l` = columns `first .. first + m` times `y`, m-by-l, column-major, l <= m.
    fn rotate(&mut self, first: usize, m: usize, y: &[f64], l: usize) -> Result<()>;

    /// ||column `w` - lambda column `x`||.
    fn distance(&mut self, w: usize, lambda: f64, x: usize) -> Result<f64>;
}
