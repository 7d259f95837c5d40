//! Options of a plan: method, operator and order of the rows.

use super::kind::Kind;
use crate::choice::{numbered, with_defaults, word};
use crate::error::{Error, Result, real};
use crate::matrix::sparse::Ordering;
use crate::range;

/// How rows are divided among threads and summed. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Method {
    /// Chosen from the lengths of the rows.
    Auto = 0,
    /// One thread for each row, which adds its entries in order.
    Scalar = 1,
    /// One vector unit for each row; on a GPU, one warp.
    Vector = 2,
    /// A group of G lanes for each row. G is the smallest power of two that is at least the mean length (Lin and Liu,
    /// 2015).
    RowGroup = 3,
    /// Rows of similar length are processed together.
    RowBin = 4,
    /// Shares with equal sums of rows and entries (Merrill and Garland, SC16).
    Merge = 5,
    /// Shares with equal numbers of entries.
    EntrySplit = 6,
    /// Computes the products by blocks of columns, with that part of x in shared memory, then the sums by rows. GPUs
    /// only.
    Sweeps = 7,
}

/// The matrix of the product. The numbers are those of the C interface.
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

numbered!(Method, Auto, Scalar, Vector, RowGroup, RowBin, Merge, EntrySplit, Sweeps);
numbered!(Op, Plain, Transpose, Adjoint);

with_defaults! {
    /// Options of a plan. The fields are those of the C interface.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Options {
        /// How rows are divided among threads and summed.
        pub method: Method = Method::Auto,
        /// The matrix of the product: A, A^T or A^H.
        pub op: Op = Op::Plain,
        /// The caller guarantees that A = A^T (A = A^H with [`Op::Adjoint`]). The transpose then needs no copy.
        pub symmetric: bool = false,
        /// The order of rows and columns in the copy of a square matrix that the plan stores; `None` means the matrix's
        /// order, without a copy.
        pub ordering: Option<Ordering> = None,
        /// The operator of the matrix.
        pub kind: Kind = Kind::Matrix,
        /// Added to the diagonal of the operator.
        pub shift: f64 = 0.0,
        /// Degree of the Chebyshev polynomial that replaces the operator, at most [`super::filter::MOST_DEGREE`]; 0 for
        /// none.
        pub degree: usize = 0,
        /// Lower end of the interval where the polynomial is at most 1 in modulus; 0 without a polynomial.
        pub lower: f64 = 0.0,
        /// Upper end of that interval, above `lower`; 0 without a polynomial.
        pub upper: f64 = 0.0,
    }
}

impl Options {
    /// Refuses options that a matrix of this size does not support.
    pub(super) fn check(&self, rows: usize, cols: usize) -> Result<()> {
        let Self { op, symmetric, ordering, kind, shift, .. } = *self;
        let square = rows == cols;
        if symmetric && !square {
            return Err(Error::invalid("symmetric", format!("is set, a is {rows} x {cols}")));
        }
        if kind.is_of_graph() && !square {
            return Err(Error::invalid(
                "a",
                format!("is {rows} x {cols}, a square matrix is needed for {}", word(kind)),
            ));
        }
        if !kind.is_of_square() {
            if op != Op::Plain {
                let problem = format!("is {}, {} is its own adjoint: PLAIN is needed", word(op), word(kind));
                return Err(Error::invalid("op", problem));
            }
            if ordering.is_some() {
                return Err(Error::invalid("ordering", format!("is set, {} has no order of its own", word(kind))));
            }
        }
        range::finite("shift", shift)?;
        if shift != 0.0 && kind == Kind::Matrix && !square {
            return Err(Error::invalid(
                "shift",
                format!("is {}, a is {rows} x {cols}: it has no diagonal to add to", real(shift)),
            ));
        }
        self.check_filter(square || !kind.is_of_square())
    }

    /// Whether each product is one with the matrix only, without terms beside it.
    pub(super) fn is_of_matrix(&self) -> bool {
        self.kind == Kind::Matrix && self.added() == 0.0
    }
}
