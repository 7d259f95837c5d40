//! The backend trait of the methods for singular triplets: columns for left and for right vectors, and a matrix that
//! maps between them.

use super::cycles::Columns;
use crate::error::Result;
use crate::scalar::Scalar;

/// The vectors of one side. A column has min(rows, cols) numbers on the short side and max(rows, cols) on the long
/// side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Right singular vectors of a matrix with at least as many rows as columns, else left ones.
    Short,
    /// The singular vectors of the other side.
    Long,
}

impl Side {
    /// Both sides, the short one first.
    pub const BOTH: [Self; 2] = [Self::Short, Self::Long];
}

/// A backend's columns of both sides. The short columns have the operator, A^H A or A A^H, whichever has the smaller
/// order.
pub struct Pair<S, L> {
    /// Columns of min(rows, cols) numbers.
    pub short: S,
    /// Columns of max(rows, cols) numbers, without an operator.
    pub long: L,
}

/// Columns of both sides. The columns of each side are numbered from 0. Their [`super::ops::LanczosOps::apply`] is not
/// used.
pub trait Sides<T: Scalar> {
    /// The columns of a side.
    fn side(&mut self, side: Side) -> &mut Columns<'_, T>;

    /// Column `to` of the other side = M times column `column` of side `from`. M is the matrix if `from` is the short
    /// side, and its adjoint if it is the long side.
    ///
    /// # Errors
    /// Errors of the caller's own operator; [`crate::error::Error::OutOfMemory`].
    fn cross(&mut self, from: Side, column: usize, to: usize) -> Result<()>;
}

/// The sides of the adjoint of a matrix: the short and the long side are exchanged.
pub struct Swapped<'a, T: Scalar>(pub &'a mut dyn Sides<T>);

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Short => Self::Long,
            Self::Long => Self::Short,
        }
    }
}

impl<T: Scalar> Sides<T> for Swapped<'_, T> {
    fn side(&mut self, side: Side) -> &mut Columns<'_, T> {
        self.0.side(side.other())
    }

    fn cross(&mut self, from: Side, column: usize, to: usize) -> Result<()> {
        self.0.cross(from.other(), column, to)
    }
}
