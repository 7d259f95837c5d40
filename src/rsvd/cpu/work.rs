//! The products of a pass, and their operands.

use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::sketch::Sketch;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// The factor that A^H is multiplied by.
#[derive(Default)]
pub enum LeftFactor<'w, T> {
    /// A^H is multiplied by nothing.
    #[default]
    None,
    /// A tall matrix with as many rows as A.
    Given(&'w CpuMatrix<T>),
    /// A W of the same panel.
    Product,
    /// Rows of a random matrix.
    Drawn(Sketch),
}

/// The products of a pass.
#[derive(Default)]
pub struct Work<'w, T> {
    /// The factor W of A W.
    pub w: Option<&'w CpuMatrix<T>>,
    /// A W, if it was asked for.
    pub p: Option<&'w mut CpuMatrix<T>>,
    /// The factor that A^H is multiplied by.
    pub left: LeftFactor<'w, T>,
    /// A^H times `left`, if it was asked for.
    pub t: Option<&'w mut CpuMatrix<T>>,
    /// A^H A, if it was asked for.
    pub gram: Option<&'w mut CpuMatrix<T>>,
}

impl<T: Scalar> Work<'_, T> {
    /// Refuses operands that do not fit an m-by-n matrix and each other.
    pub fn check(&self, rows: usize, columns: usize) -> Result<()> {
        let width = self.w.map_or(0, |w| w.cols());
        let left = match &self.left {
            LeftFactor::Given(p) => Some(p.shape()),
            LeftFactor::Product => Some((rows, width)),
            LeftFactor::Drawn(_) | LeftFactor::None => None,
        };
        let fits = self.w.is_none_or(|w| w.rows() == columns)
            && self.p.as_ref().is_none_or(|p| p.shape() == (rows, width))
            && self.t.as_ref().is_none_or(|t| t.rows() == columns)
            && left.is_none_or(|l| l.0 == rows && self.t.as_ref().is_some_and(|t| t.cols() == l.1))
            && self.gram.as_ref().is_none_or(|g| g.shape() == (columns, columns));
        if fits { Ok(()) } else { Err(mismatch("a pass", &[(rows, columns), (columns, width)])) }
    }
}

/// The error for operands whose sizes do not fit each other.
pub(super) fn mismatch(what: &str, shapes: &[(usize, usize)]) -> Error {
    Error::Internal(format!("{what} with matrices of {shapes:?}"))
}
