//! How a product is computed.

use crate::choice::numbered;
use crate::matrix::sparse::Ordering;

/// How rows are shared out and summed. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Algorithm {
    /// Chosen by the lengths of the rows.
    Auto = 0,
    /// A row a thread, summed in order.
    Scalar = 1,
    /// A row a vector (on a GPU a warp).
    Vector = 2,
    /// A row a group of G lanes, G the smallest power of two not below the mean length (Lin and Liu, 2015).
    RowGroup = 3,
    /// Rows of like length together.
    RowBin = 4,
    /// Shares of as many rows and entries together (Merrill and Garland, SC16).
    Merge = 5,
    /// Shares of as many entries.
    EntrySplit = 6,
    /// Products by columns, the part of x that they gather from at hand, then sums by rows. On GPUs alone.
    Sweeps = 7,
}

/// What is multiplied by. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Op {
    /// A.
    Plain = 0,
    /// A^T.
    Transpose = 1,
    /// A^H.
    Adjoint = 2,
}

numbered!(Algorithm, Auto, Scalar, Vector, RowGroup, RowBin, Merge, EntrySplit, Sweeps);
numbered!(Op, Plain, Transpose, Adjoint);

/// Options of a plan. The fields are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How rows are shared out and summed.
    pub algorithm: Algorithm,
    /// What is multiplied by.
    pub op: Op,
    /// The caller's word that A = A^T (A = A^H with [`Op::Adjoint`]): the transpose then costs nothing.
    pub symmetric: bool,
    /// How the rows and columns of a square matrix are ordered in the copy of it that the plan then keeps; `None` for as they
    /// are, without a copy.
    pub order: Option<Ordering>,
}

impl Default for Options {
    fn default() -> Self {
        Self { algorithm: Algorithm::Auto, op: Op::Plain, symmetric: false, order: None }
    }
}
