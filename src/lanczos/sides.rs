//! What methods for singular triplets need of a backend: columns for left and for right vectors, and a matrix between them.

use super::krylov::Columns;
use crate::error::Result;
use crate::scalar::Scalar;

/// The vectors of one side. The sides have min(rows, cols) and max(rows, cols) numbers a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Right singular vectors of a matrix with at least as many rows as columns, else left ones.
    Short,
    /// The others.
    Long,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Short, Self::Long];
}

/// A backend's columns of both sides; the short ones have the operator, A^H A or A A^H, whichever is of smaller order.
pub struct Pair<S, L> {
    /// Columns of min(rows, cols) numbers.
    pub short: S,
    /// Columns of max(rows, cols) numbers, without an operator.
    pub long: L,
}

/// Columns of both sides. Those of either are numbered from 0, and their [`super::krylov::Krylov::apply`] is not used.
pub trait Sides<T: Scalar> {
    /// The columns of a side.
    fn side(&mut self, side: Side) -> &mut Columns<'_, T>;

    /// Column `to` of the other side = the matrix, or from the long side its adjoint, times column `column` of side `from`.
    ///
    /// # Errors
    /// What the caller's own operator reports; [`crate::error::Error::OutOfMemory`].
    fn cross(&mut self, from: Side, column: usize, to: usize) -> Result<()>;
}

/// The adjoint of a matrix between its sides: the long side takes the short one's place.
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
