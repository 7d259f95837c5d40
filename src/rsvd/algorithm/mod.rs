//! The methods, written once for every backend that offers [`RsvdOps`](super::ops::RsvdOps). The problem is m-by-n with its rows cut; W stands
//! for n-by-l matrices, P for m-by-l ones.
//!
//! | file | subject |
//! |---|---|
//! | [`run`] | steps that the methods share: start, orthonormal bases, checkpoints |
//! | [`finish`] | from a basis to the factors |
//! | `power`, `range`, `fused`, `gram`, `blocks`, `krylov`, `once`, `direct` | the methods |
//! | `adaptive` | the rank for a tolerance |
//! | `symmetric`, [`find`] | Hermitian matrices; bases without factors |
//! | [`estimate`] | errors of factors |

mod adaptive;
mod blocks;
mod direct;
pub mod estimate;
pub mod find;
pub mod finish;
mod fused;
mod gram;
mod krylov;
mod once;
mod power;
mod range;
pub mod run;
mod symmetric;

use super::erased::{Dense, Tall};
use super::options::{ErrorKind, IterationPrecision, Method, Orthonormalization};
use crate::dense::orthonormal::Counts;
use crate::dense::sketch::Sketch;
use crate::error::{Error, Result};
pub use adaptive::rehearse as rehearse_adaptive;
pub use run::Run;
pub use symmetric::symmetric;

/// Which vectors get a fixed phase, in the orientation of the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// No vectors: phases are what the decomposition gives.
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

/// Passes that a method usually takes. A method may find that it needs more, and says so in its remarks.
pub fn passes(method: Method, iterations: usize, one_pass: bool) -> usize {
    match method {
        Method::Basic | Method::Fifo => 2 * iterations + 1,
        Method::Range => 2 * iterations + 2,
        Method::Gram | Method::Brsvd => 2,
        Method::Merge => 2 - usize::from(one_pass),
        Method::OnePass | Method::Direct => 1,
        Method::Rayleigh => iterations.max(1) + 1,
        Method::Auto | Method::RowFused | Method::Fused | Method::Krylov | Method::Nystrom => iterations + 1,
    }
}

/// Computes the factors with the task's method.
///
/// # Errors
/// Errors of the passes; [`Error::Numerical`] if the result is not finite.
pub fn decompose(run: &mut Run<'_>) -> Result<Factors> {
    let outcome = by_method(run);
    if matches!(outcome, Err(Error::Numerical(_))) {
        run.diagnose();
    }
    outcome
}

fn by_method(run: &mut Run<'_>) -> Result<Factors> {
    if run.task.tolerance > 0.0 {
        return adaptive::adaptive(run);
    }
    let factors = match run.task.method {
        Method::Basic | Method::Fifo => power::basic(run),
        Method::RowFused => power::row_fused(run),
        Method::Gram => gram::gram(run),
        Method::Brsvd => blocks::block_sum(run),
        Method::Merge => blocks::merge(run),
        Method::Range => range::range(run),
        Method::Fused => fused::fused(run),
        Method::Krylov => krylov::krylov(run),
        Method::OnePass => once::one_pass(run),
        Method::Direct => direct::direct(run),
        Method::Auto | Method::Nystrom | Method::Rayleigh => {
            Err(Error::Internal(format!("method {:?} of a rectangular matrix", run.task.method)))
        }
    }?;
    check_finite(&factors.s)?;
    Ok(factors)
}

fn check_finite(s: &[f64]) -> Result<()> {
    match s.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(j) => Err(Error::Numerical(format!("singular value {j} is {}", s[j]))),
    }
}
