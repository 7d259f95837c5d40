//! A problem in the orientation in which its method solves it, and the results.

use crate::dense::orthonormal::Counts;
use crate::dense::sketch::Sketch;
use crate::error::{Error, Result};
use crate::rsvd::erased::{Dense, Tall};
use crate::rsvd::options::{ErrorKind, IterationPrecision, Method, Orthonormalization};

/// Which vectors get a fixed phase, in the orientation of the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// No vectors: phases stay as the decomposition gives them.
    Free,
    /// Those of n entries, as long as a row of the data: V.
    Right,
    /// Those of m entries, as long as the axis that is cut: U.
    Left,
}

/// The problem's method, sizes and outputs, in the orientation of the problem.
#[derive(Debug, Clone)]
pub struct Task {
    /// The method in force; not [`Method::Auto`].
    pub method: Method,
    /// Rank of the result; with a tolerance the largest allowed.
    pub rank: usize,
    /// Columns l of the sketch.
    pub columns: usize,
    /// Power iterations q; 0 for methods without them.
    pub iterations: usize,
    /// Columns that merged blocks keep.
    pub merge_width: usize,
    /// Whether the merge alone gives the result, without a second pass.
    pub one_pass: bool,
    /// Columns that the adaptive method adds at a time.
    pub block_columns: usize,
    /// Relative error to reach, 0 for a fixed rank.
    pub tolerance: f64,
    /// Distribution, seed and stream of the random matrix.
    pub sketch: Sketch,
    /// How columns are made orthonormal.
    pub orthonormalization: Orthonormalization,
    /// How the products inside power iterations are computed.
    pub precision: IterationPrecision,
    /// Which vectors get a fixed phase.
    pub phase: Phase,
    /// Whether U is computed.
    pub left: bool,
    /// Whether V is computed.
    pub right: bool,
    /// How the error is to be found.
    pub error: ErrorKind,
    /// Random vectors of an estimate of the error.
    pub probes: usize,
}

/// Factors of a problem: A is close to U diag(s) V^H.
pub struct Factors {
    /// U, if it was asked for.
    pub u: Option<Tall>,
    /// Singular values, as many as the rank, not increasing.
    pub s: Vec<f64>,
    /// V, if it was asked for.
    pub v: Option<Dense>,
}

/// Figures of the error; those that were not asked for are NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorFigures {
    /// How the error was found.
    pub kind: ErrorKind,
    /// ||A - A_k||_F, or NaN.
    pub frobenius: f64,
    /// Bound or estimate of ||A - A_k||_2, or NaN.
    pub spectral: f64,
}

impl ErrorFigures {
    /// No error was computed: all figures are NaN.
    pub fn none() -> Self {
        Self { kind: ErrorKind::None, frobenius: f64::NAN, spectral: f64::NAN }
    }
}

/// Results of a method besides the factors.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The method that gave the factors.
    pub method: Method,
    /// Remarks on how the result was obtained, separated by "; ".
    pub remark: String,
    /// How columns were made orthonormal.
    pub orthonormal: Counts,
    /// Whether a tolerance was met.
    pub converged: bool,
    /// Passes that a restart file saved, those before a scaling included.
    pub passes_restarted: u64,
    /// Rank of the factors, at most the rank asked for.
    pub rank: usize,
    /// Columns of the basis, at least the rank.
    pub columns: usize,
    /// ||A||_F; NaN if it is not known.
    pub norm: f64,
    /// Largest modulus of an entry as read.
    pub max_abs: f64,
    /// Relative error that was compared with the tolerance.
    pub measure: f64,
    /// Figures of the error of the factors.
    pub error: ErrorFigures,
}

/// Refuses singular values that are not finite.
pub(super) fn check_finite(s: &[f64]) -> Result<()> {
    match s.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(j) => Err(Error::Numerical(format!("singular value {j} is {}", s[j]))),
    }
}
