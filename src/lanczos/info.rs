//! The result of a solve: eigenpairs, the reason why it ended, and its figures.

use super::options::Method;
use crate::choice::reported;
use crate::error::{Error, Result};

reported!(Reason);

/// Why a solve ended. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(i32)]
pub enum Reason {
    /// Every wanted pair has converged.
    #[default]
    Converged = 0,
    /// All allowed restarts, or all steps of the plain recurrence, were used before every pair had converged.
    Restarts = 1,
    /// The Krylov space is the whole space: the pairs are exact.
    Exhausted = 2,
    /// The iteration had converged, but residuals or inner products computed from the vectors returned contradict it: the
    /// operator is not symmetric, its products differ from call to call, or the caller's solve is less accurate than the
    /// tolerance.
    Contradicted = 3,
}

/// Why a solve uses its method and its space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The Krylov space is the whole space.
    Whole,
    /// A part of the space, with restarts.
    #[default]
    Restarts,
    /// As [`Choice::Restarts`], with a polynomial of the operator.
    Filter,
    /// Eigenvalues nearest to a point, with a solve or a polynomial.
    Nearest,
    /// The recurrence of three terms, without restarts.
    Plain,
    /// Singular triplets without squares of the matrix.
    Bidiagonal,
    /// As [`Choice::Whole`], of the operator whose eigenvectors give singular triplets.
    TripletsWhole,
    /// As [`Choice::Restarts`], of the operator of [`Choice::TripletsWhole`].
    TripletsRestarts,
    /// As [`Choice::Filter`], of the operator of [`Choice::TripletsWhole`].
    TripletsFilter,
    /// As [`Choice::Plain`], of the operator of [`Choice::TripletsWhole`].
    TripletsPlain,
}

impl Choice {
    /// The reason as a sentence of at most 127 bytes.
    pub fn text(self) -> &'static str {
        match self {
            Self::Whole => "a small matrix, or nearly all of its pairs: the Krylov space is the whole space",
            Self::Restarts => "a Krylov space smaller than the matrix: thick restarts",
            Self::Filter => "filter is CHEBYSHEV: thick restarts with a polynomial of the operator",
            Self::Nearest => "which is nearest: thick restarts with the given solve, or with a filter without one",
            Self::Plain => "method is plain: a recurrence without restarts",
            Self::Bidiagonal => {
                "the smallest values, which squares would lose: Golub-Kahan-Lanczos with thick restarts"
            }
            Self::TripletsWhole => {
                "eigenvectors of a small operator in the whole space; Golub-Kahan-Lanczos if residuals are too large"
            }
            Self::TripletsRestarts => {
                "eigenvectors in a smaller space, thick restarts; Golub-Kahan-Lanczos if residuals are too large"
            }
            Self::TripletsFilter => {
                "filter is CHEBYSHEV: eigenvectors by a polynomial; Golub-Kahan-Lanczos if residuals are too large"
            }
            Self::TripletsPlain => {
                "method is plain: eigenvectors without restarts; Golub-Kahan-Lanczos if residuals are too large"
            }
        }
    }

    /// The reason of a search for singular triplets that begins with eigenvectors, which are chosen for `self`.
    pub fn of_triplets(self) -> Self {
        match self {
            Self::Whole => Self::TripletsWhole,
            Self::Filter => Self::TripletsFilter,
            Self::Plain => Self::TripletsPlain,
            _ => Self::TripletsRestarts,
        }
    }

    /// Whether singular triplets are searched for, not eigenpairs.
    pub fn is_of_triplets(self) -> bool {
        matches!(
            self,
            Self::Bidiagonal
                | Self::TripletsWhole
                | Self::TripletsRestarts
                | Self::TripletsFilter
                | Self::TripletsPlain
        )
    }
}

/// Figures of a solve. The fields are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Info {
    /// Why the iteration ended: [`Reason::Converged`] if every wanted pair has converged.
    pub stop_reason: Reason,
    /// Pairs returned, converged or not.
    pub count: usize,
    /// Pairs that have converged, the first of those returned.
    pub converged: usize,
    /// Products with the matrix and of the caller's solve, without those that compute the residuals. Where not all pairs
    /// converge, those that test known vectors and the solve are counted.
    pub products: usize,
    /// Restarts of the solve and of its searches for copies. The limit of the options holds for each of them.
    pub restarts: usize,
    /// How often the space was invariant and a new random vector was needed.
    pub breakdowns: usize,
    /// Eigenvalues that the check for copies found.
    pub recovered: usize,
    /// Whether a test or a search has shown that no copy of a wanted eigenvalue is missing.
    pub verified: bool,
    /// Largest ||A x - lambda x|| of the converged pairs, computed from the vectors returned.
    pub residual: f64,
    /// Largest |x_i . x_j - delta_ij| of the vectors returned.
    pub orthogonality: f64,
    /// |u.(A v) - v.(A u)| / (|u| |A v| + |v| |A u|) where restarts did not suffice and products with random u and v show
    /// that the operator is not symmetric; else 0.
    pub asymmetry: f64,
    /// The largest part of the norm by which products with known vectors leave their span, where not all pairs have
    /// converged and it is more than the tolerance; else 0. Residuals of pairs are then as large.
    pub coupling: f64,
    /// Vectors of the Krylov space.
    pub basis: usize,
    /// Degree of the filter; 0 without one.
    pub degree: usize,
    /// Largest norm of A v that was computed, which bounds the norm of A from below; or the norm of the diagonal, the
    /// shift and the other terms that are added to the matrix, if that is larger. Rounding errors are relative to this
    /// number.
    pub norm: f64,
    /// Seconds from the beginning of the solve to its end; 0 in a plan.
    pub seconds: f64,
    /// The method that was chosen.
    pub method: Method,
    /// Why this method and space are used.
    pub reason: Choice,
    /// Planned peak of host memory in bytes: vectors of the space and workspace on the CPU, copies of the matrix,
    /// projected problems, and vectors that are returned there.
    pub host_bytes: usize,
    /// Planned peak of device memory in bytes: vectors of the space, workspace, and data that the matrix will cache
    /// there.
    pub device_bytes: usize,
    /// Figures of the partition over several contexts; zeros for a single context.
    pub shares: Shares,
}

/// Sizes of the parts, and the traffic of a product. The fields are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shares {
    /// Contexts that have rows; 0 for a single context.
    pub contexts: usize,
    /// Largest number of rows of one context.
    pub rows: usize,
    /// Largest number of entries of one context.
    pub entries: usize,
    /// Numbers that a product copies between contexts, in total.
    pub halo: usize,
    /// Bytes of the numbers of `halo`.
    pub halo_bytes: usize,
    /// Largest number of bytes that one context reads and writes in a product, if each gathered number is read once:
    /// indices and values of its entries, offsets and results of its rows, the vector, and the halo, which is packed,
    /// copied and read.
    pub product_bytes: usize,
}

impl Info {
    /// The report of recurrences of `steps` steps each, which return no pairs: `made` of `asked` steps in all, for an
    /// operator of at least the norm `norm`.
    pub fn of_recurrences(steps: usize, [made, asked]: [usize; 2], norm: f64, seconds: f64) -> Self {
        Self {
            stop_reason: if made < asked { Reason::Exhausted } else { Reason::Restarts },
            products: made,
            basis: steps,
            norm,
            seconds,
            method: Method::Plain,
            reason: Choice::Plain,
            ..Self::default()
        }
    }

    /// Refuses a result with fewer than `wanted` converged pairs.
    ///
    /// # Errors
    /// [`Error::NoConvergence`], with the reason.
    pub fn check_converged(&self, wanted: usize) -> Result<()> {
        if self.converged >= wanted {
            return Ok(());
        }
        let Info { converged, restarts, products, .. } = self;
        let (all, one) =
            if self.reason.is_of_triplets() { ("singular triplets", "triplet") } else { ("eigenpairs", "pair") };
        let mut problem = format!("{converged} of {wanted} {all} after {restarts} restarts and {products} products");
        if self.stop_reason == Reason::Contradicted {
            problem += &format!(
                ": the residual of {one} {converged} (from 0), or its inner products, contradict the iteration, as those of \
                 products in a lower precision than the tolerance do"
            );
        }
        if self.coupling > 0.0 {
            problem +=
                &format!(": the known vectors are eigenvectors to {:.1e} of the operator's norm only", self.coupling);
        }
        if self.asymmetry > 0.0 {
            problem += &format!(
                ": the operator is not symmetric (Hermitian if complex): |u.(A v) - v.(A u)| is {:.1e} of |u| |A v| + |v| |A u| \
                 for random u and v",
                self.asymmetry
            );
        } else if self.degree > 0 && *converged == 0 && self.stop_reason == Reason::Restarts {
            problem += &format!(
                ": the filter, last of degree {}, has not separated them from the rest; for the nearest to sigma, `solve` \
                 with a factorization of A - sigma I (shift-invert) does",
                self.degree
            );
        }
        Err(Error::NoConvergence(problem))
    }
}

/// Eigenpairs, as [`super::Which`] orders them.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs<T> {
    /// Eigenvalues, k of them, real.
    pub values: Vec<f64>,
    /// Eigenvectors of 2-norm 1, n-by-k, column-major. The entry of largest modulus of each is real and positive.
    pub vectors: Vec<T>,
    /// ||A x - lambda x||_2 of each, computed from the vectors returned.
    pub residuals: Vec<f64>,
    /// Reason, counts and norms of the solve.
    pub info: Info,
}
