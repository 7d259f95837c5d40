//! The request that a plan is made for.

use std::sync::Arc;

use crate::context::Context;
use crate::matrix::Matrix;
use crate::rsvd::options::{Method, Options};

/// The goal of a call, which decides its method and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Singular values and vectors of any matrix.
    Decompose,
    /// A basis with this number of columns.
    Basis(usize),
    /// Eigenpairs of a Hermitian matrix.
    Symmetric,
    /// Products with given matrices of this number of columns, and their errors.
    Products(usize),
    /// One product of the rows with a matrix.
    Map {
        /// Columns of the matrix that rows are multiplied with.
        width: usize,
        /// Whether known means are subtracted from the rows before the product; else one row is added to all results.
        is_centred: bool,
    },
}

/// The factors that the caller asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedFactors {
    /// Whether U is wanted. A run without it may take less memory.
    pub u: bool,
    /// Whether V is wanted. A run without it may take less memory.
    pub v: bool,
}

impl WantedFactors {
    /// U and V, as a run with both outputs.
    pub const ALL: Self = Self { u: true, v: true };
}

/// Host memory of results that the library owns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Results {
    /// Number of elements of the type of computation.
    pub elements: usize,
    /// Number of values in double precision.
    pub numbers: usize,
}

/// The inputs of a plan.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Options as given; the plan resolves their defaults.
    pub options: &'a Options,
    /// Contexts that share the rows; the first has the matrix.
    pub contexts: &'a [Arc<Context>],
    /// The matrix in the caller's orientation.
    pub matrix: &'a Matrix,
    /// The result that the call computes.
    pub goal: Goal,
    /// The caller's sketch; `None` for a random one.
    pub given: Option<&'a Matrix>,
    /// Whether to cut along the columns; `None` to choose.
    pub transposed: Option<bool>,
    /// The factors that the caller asked for.
    pub wanted: WantedFactors,
    /// Memory that the call allocates for its results in addition to the run's.
    pub results: Results,
    /// Methods that `AUTO` does not choose, because they do not fit into memory.
    pub excluded: &'a [Method],
}
