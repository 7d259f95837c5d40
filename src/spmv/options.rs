//! How a product is computed.

use super::kind::Kind;
use crate::choice::numbered;
use crate::error::{Error, Result};
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
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// What is made of the matrix.
    pub kind: Kind,
    /// Added to the diagonal of that.
    pub shift: f64,
    /// Degree of the Chebyshev polynomial that takes the place of that, at most [`super::filter::MOST_DEGREE`]; 0 for none.
    pub degree: usize,
    /// Where the interval begins in which the polynomial stays within 1; 0 without one.
    pub lower: f64,
    /// Where it ends, above `lower`.
    pub upper: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Auto,
            op: Op::Plain,
            symmetric: false,
            order: None,
            kind: Kind::Matrix,
            shift: 0.0,
            degree: 0,
            lower: 0.0,
            upper: 0.0,
        }
    }
}

impl Options {
    /// Refuses what a matrix of this size does not have.
    pub(super) fn check(&self, rows: usize, cols: usize) -> Result<()> {
        let Self { op, symmetric, order, kind, shift, .. } = *self;
        let square = rows == cols;
        if symmetric && !square {
            return Err(Error::invalid("symmetric", format!("is set, a is {rows} x {cols}")));
        }
        if kind.is_of_graph() && !square {
            return Err(Error::invalid("a", format!("is {rows} x {cols}, a square matrix is needed for {kind:?}")));
        }
        if !kind.is_of_square() {
            if op != Op::Plain {
                return Err(Error::invalid("op", format!("is {op:?}, {kind:?} is its own adjoint: Plain is needed")));
            }
            if order.is_some() {
                return Err(Error::invalid("order", format!("is set, {kind:?} has no order of its own")));
            }
        }
        if !shift.is_finite() {
            return Err(Error::invalid("shift", format!("is {shift}, a finite number is needed")));
        }
        if shift != 0.0 && kind == Kind::Matrix && !square {
            return Err(Error::invalid(
                "shift",
                format!("is {shift}, a is {rows} x {cols}: it has no diagonal to add to"),
            ));
        }
        self.check_filter(square || !kind.is_of_square())
    }

    /// Whether a product, or each of a filter, is one with the matrix and nothing else.
    pub(super) fn is_of_matrix(&self) -> bool {
        self.kind == Kind::Matrix && self.added() == 0.0
    }
}
