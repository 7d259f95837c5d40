//! Options of a decomposition, their ranges and their words.

use std::path::PathBuf;

use super::data::Resident;
use crate::choice::{numbered, with_defaults, word};
use crate::dense::orthonormal::{Counts, Kind};
use crate::dense::sketch::Distribution;
use crate::error::{Error, Result, real};
use crate::range;
use crate::scalar::DType;

numbered!(
    Method, Auto, Basic, Fifo, RowFused, Gram, Brsvd, Range, Fused, Merge, Krylov, OnePass, Direct, Nystrom, Rayleigh
);
numbered!(Orthonormalization, Auto, Householder, Cholesky2, ShiftedCholesky3);
numbered!(Centering, None, Columns, Rows);
numbered!(Sign, None, VMax, UMax);
numbered!(Right, V, Vh);
numbered!(ErrorKind, None, Identity, Probes, Power);
numbered!(IterationPrecision, Full, Fast);

/// How the factors are found. The numbers are those of the C interface. l stands for rank + oversampling, q for the
/// power iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Method {
    /// The cost model chooses among `Gram`, `Fused`, `Merge`, `Krylov` and `Direct`, or takes `RowFused` where none of
    /// them fits into memory.
    Auto = 0,
    /// Published: W = orth(A^H A W) q times, then A W; 2q + 1 passes over the data.
    Basic = 1,
    /// Published: `Basic` with every second pass backwards, so that the blocks read last are used first.
    Fifo = 2,
    /// Published: `Basic` with A^H A W in one pass; q + 1 passes.
    RowFused = 3,
    /// Forms A^H A; 2 passes for any q. Singular values below 10 sqrt(u) of the largest need two more.
    Gram = 4,
    /// Published: sums of the ranges of the blocks, 2 passes.
    Brsvd = 5,
    /// Halko, Martinsson and Tropp: the range of (A A^H)^q A Omega; 2q + 2 passes.
    Range = 6,
    /// The subspace of `Range` in q + 1 passes.
    Fused = 7,
    /// Merges the blocks' own decompositions; 2 passes, or 1.
    Merge = 8,
    /// Block Krylov: the space of all iterates; q + 1 passes.
    Krylov = 9,
    /// Two sketches in 1 pass: much less accurate than two passes.
    OnePass = 10,
    /// No projection: exact, for l near min(m, n); 1 pass.
    Direct = 11,
    /// Nystroem, for Hermitian positive semidefinite matrices.
    Nystrom = 12,
    /// Rayleigh-Ritz with W^H A W, for any Hermitian matrix.
    Rayleigh = 13,
}

impl Method {
    /// Whether the factors are those of a projection of A, so that the residual is orthogonal to them. X of the one-pass
    /// method is a least-squares solution instead of Q^H A, and the residual of the Nystroem method is semidefinite.
    pub fn is_projection(self) -> bool {
        !matches!(self, Self::OnePass | Self::Nystrom)
    }
}

#[cfg(test)]
impl Method {
    /// Every method, in the order of its number.
    pub(crate) const ALL: [Self; 12] = [
        Self::Auto,
        Self::Basic,
        Self::Fifo,
        Self::RowFused,
        Self::Gram,
        Self::Brsvd,
        Self::Range,
        Self::Fused,
        Self::Merge,
        Self::Krylov,
        Self::OnePass,
        Self::Direct,
    ];
}

/// How columns are made orthonormal. A report has the strongest method that was needed. The numbers are those of the C
/// interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Orthonormalization {
    /// CholeskyQR2, and a safer method where it fails.
    Auto = 0,
    /// Householder reflections where the matrix lies in one piece, else as [`Self::ShiftedCholesky3`].
    Householder = 1,
    /// CholeskyQR at least twice, and a safer method where it fails.
    Cholesky2 = 2,
    /// Shifted CholeskyQR3 first, for ill-conditioned columns.
    ShiftedCholesky3 = 3,
}

impl Orthonormalization {
    /// The [`Kind`] of the ladder in base.
    pub fn kind(self) -> Kind {
        match self {
            Self::Auto => Kind::Auto,
            Self::Householder => Kind::Householder,
            Self::Cholesky2 => Kind::Cqr2,
            Self::ShiftedCholesky3 => Kind::Scqr3,
        }
    }

    /// The strongest method among those counted.
    pub fn strongest(counts: &Counts) -> Self {
        if counts.shifted + counts.deflated > 0 {
            Self::ShiftedCholesky3
        } else if counts.householder > 0 {
            Self::Householder
        } else {
            Self::Cholesky2
        }
    }
}

/// The means that are subtracted from the data. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Centering {
    /// No means: the data are used as they are.
    None = 0,
    /// The mean of each column.
    Columns = 1,
    /// The mean of each row.
    Rows = 2,
}

/// Phase convention of pairs of singular vectors. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Sign {
    /// The phase is not fixed.
    None = 0,
    /// The entry of largest modulus of each right vector, the first on ties, is real and positive.
    VMax = 1,
    /// The entry of largest modulus of each left vector, the first on ties, is real and positive.
    UMax = 2,
}

/// Form of the right factor. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Right {
    /// V, n-by-k: a column for each vector.
    V = 0,
    /// V^H, k-by-n: a row for each vector.
    Vh = 1,
}

/// How the error is found. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum ErrorKind {
    /// No error is computed, which needs no pass.
    None = 0,
    /// ||A - A_k||_F^2 = ||A||_F^2 - sum of the squares of the singular values. It costs nothing, and does not resolve
    /// errors below 1e-7 (in single precision 3e-3) of ||A||_F.
    Identity = 1,
    /// The residual times random probes: an estimate of the Frobenius norm, and a bound of the spectral norm; one more
    /// pass.
    Probes = 2,
    /// `Probes`, and the spectral norm itself by power iteration on the residual, which starts from the probes. The
    /// estimate is close, and from below; ten more passes than `Probes`.
    Power = 3,
}

impl ErrorKind {
    /// Whether the residual is multiplied with probes, which needs both factors.
    pub fn is_probed(self) -> bool {
        matches!(self, Self::Probes | Self::Power)
    }

    /// Additional passes over the data.
    pub fn passes(self) -> usize {
        match self {
            Self::None | Self::Identity => 0,
            Self::Probes => 1,
            Self::Power => 1 + 2 * POWER_STEPS,
        }
    }
}

/// Power iterations on a residual, of two passes each.
pub const POWER_STEPS: usize = 5;

/// How the products inside power iterations are computed. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum IterationPrecision {
    /// In the precision of all other products.
    Full = 0,
    /// With factors of fewer digits, where that is faster on a backend. The iterations only have to find a space; the
    /// products that give the factors from it are always in full precision.
    Fast = 1,
}

with_defaults! {
    /// Options of a decomposition. A call ignores the fields that do not concern it.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Options {
        /// Rank k; at least 1 unless there is a tolerance.
        pub rank: usize = 0,
        /// Columns of the sketch beyond the rank; `None` for max(10, k / 10). Values other than the default are refused
        /// where there is no sketch, and with a tolerance.
        pub oversampling: Option<usize> = Some(OVERSAMPLING),
        /// Power iterations q; `None` for 7 where k < min(m, n) / 10, else 4. Values other than 0 and the default are
        /// refused for methods that do not iterate.
        pub power_iterations: Option<usize> = Some(POWER_ITERATIONS),
        /// With a tolerance: the largest rank, 0 for min(m, n).
        pub max_rank: usize = 0,
        /// With a tolerance: columns that are added to the basis at a time.
        pub block_columns: usize = BLOCK_COLUMNS,
        /// Rows that are read at once, 0 to choose.
        pub block_rows: usize = 0,
        /// Rows that stay on the device between passes.
        pub resident_rows: Resident = Resident::Auto,
        /// Columns that the merged blocks keep, 0 for 2 l.
        pub merge_width: usize = 0,
        /// Random vectors of error estimates.
        pub probes: usize = 10,
        /// Seed of every random number.
        pub seed: u64 = 0,
        /// Relative error in the Frobenius norm to reach; 0 for a fixed rank.
        pub tolerance: f64 = 0.0,
        /// Smallest sigma_k / sigma_1 that must be resolved, 0 if unknown.
        pub smallest_ratio: f64 = 0.0,
        /// Type of the computation; `None` for [`DType::computing`] of the matrix's own.
        pub dtype: Option<DType> = None,
        /// How the factors are found.
        pub method: Method = Method::Auto,
        /// How columns are made orthonormal.
        pub orthonormalization: Orthonormalization = Orthonormalization::Auto,
        /// Distribution of the sketch's entries.
        pub sketch: Distribution = Distribution::Gaussian,
        /// The means that are subtracted.
        pub center: Centering = Centering::None,
        /// Whether each column is divided by its standard deviation (of m - 1); needs [`Centering::Columns`].
        pub scale: bool = false,
        /// Phase convention of the vectors.
        pub sign: Sign = Sign::VMax,
        /// Form of the right factor.
        pub right: Right = Right::V,
        /// How the error is found.
        pub error: ErrorKind = ErrorKind::Identity,
        /// [`Method::Merge`] without its second pass: no factor along the axis that is cut, less accurate values.
        pub one_pass: bool = false,
        /// File that the state is written to after each pass. A later run that finds it continues from it.
        pub restart_path: Option<PathBuf> = None,
        /// How the products inside power iterations are computed.
        pub iteration_precision: IterationPrecision = IterationPrecision::Full,
        /// Bytes a second that a source delivers, for the cost model; 0 if unknown.
        pub read_rate: f64 = 0.0,
    }
}

/// Default columns of the sketch beyond the rank.
const OVERSAMPLING: usize = 10;

/// Default number of power iterations.
const POWER_ITERATIONS: usize = 2;

/// Default number of columns that a basis grows by.
pub const BLOCK_COLUMNS: usize = 16;

/// Smallest relative error that the difference of the squared norms resolves, with squares of elements of type `dtype`
/// summed in f64. Below it the difference is noise.
pub fn least_tolerance(dtype: DType) -> f64 {
    if unit_roundoff(dtype) > 1e-10 { 3e-3 } else { 1e-7 }
}

/// Share of ||A||_F below which rounding errors of the products hide the remaining error.
pub fn resolved(dtype: DType) -> f64 {
    100.0 * unit_roundoff(dtype)
}

/// Unit roundoff u: half the distance from 1 to the next number.
pub fn unit_roundoff(dtype: DType) -> f64 {
    match dtype {
        DType::F32 | DType::CF32 => f64::from(f32::EPSILON) / 2.0,
        _ => f64::EPSILON / 2.0,
    }
}

impl Options {
    /// Checks the conditions that do not depend on a matrix.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the field.
    pub fn check(&self) -> Result<()> {
        range::below_one("tolerance", self.tolerance)?;
        range::below_one("smallest_ratio", self.smallest_ratio)?;
        range::not_negative("read_rate", self.read_rate)?;
        self.check_effects()?;
        self.check_sketch_effects()?;
        if self.block_columns == 0 {
            return Err(Error::invalid("block_columns", "is 0, at least 1 is needed"));
        }
        if self.probes == 0 {
            return Err(Error::invalid("probes", "is 0, at least 1 is needed"));
        }
        if self.scale && self.center != Centering::Columns {
            return Err(Error::invalid("scale", "is set without center = COLUMNS: a deviation is one from the mean"));
        }
        if self.one_pass && self.method != Method::Merge {
            return Err(Error::invalid(
                "one_pass",
                format!("is set for method {}, MERGE is needed", word(self.method)),
            ));
        }
        if let Some(dtype) = self.dtype {
            dtype.expect_scalar("dtype")?;
        }
        if self.tolerance > 0.0 && self.restart_path.is_some() {
            return Err(Error::NotSupported("restart_path: is set, tolerance = 0 is needed".into()));
        }
        Ok(())
    }

    /// Refuses options that have no effect in combination with the others.
    fn check_effects(&self) -> Result<()> {
        let by_tolerance = self.tolerance > 0.0;
        let method = self.method;
        if by_tolerance && !matches!(method, Method::Auto | Method::Range) {
            return Err(Error::invalid(
                "method",
                format!("is {} with a tolerance, AUTO or RANGE is needed", word(method)),
            ));
        }
        if by_tolerance && self.rank > 0 {
            let problem = format!("is {} beside a tolerance, which finds it; max_rank bounds it", self.rank);
            return Err(Error::invalid("rank", problem));
        }
        if !by_tolerance && self.block_columns != BLOCK_COLUMNS && self.block_columns > 0 {
            return Err(Error::invalid("block_columns", format!("is {}, which needs a tolerance", self.block_columns)));
        }
        if !by_tolerance && self.max_rank > 0 {
            return Err(Error::invalid("max_rank", format!("is {}, which needs a tolerance", self.max_rank)));
        }
        if self.merge_width > 0 && method != Method::Merge {
            let problem = format!("is {} for method {}, MERGE is needed", self.merge_width, word(method));
            return Err(Error::invalid("merge_width", problem));
        }
        if self.smallest_ratio > 0.0 && (method != Method::Auto || by_tolerance) {
            let problem = format!("is {}, which needs method AUTO without a tolerance", real(self.smallest_ratio));
            return Err(Error::invalid("smallest_ratio", problem));
        }
        Ok(())
    }

    /// Refuses options of sketches, iterations, restarts and probes for methods that have none.
    fn check_sketch_effects(&self) -> Result<()> {
        let method = self.method;
        let has_sketch = method != Method::Direct;
        if let Some(oversampling) = self.oversampling
            && oversampling != OVERSAMPLING
            && (self.tolerance > 0.0 || !has_sketch)
        {
            let instead = if has_sketch {
                "a tolerance, which adds block_columns at a time"
            } else {
                "DIRECT, which has no sketch"
            };
            return Err(Error::invalid("oversampling", format!("is {oversampling} for {instead}")));
        }
        if let Some(iterations) = self.power_iterations
            && iterations != POWER_ITERATIONS
            && iterations > 0
            && matches!(method, Method::Direct | Method::OnePass)
        {
            let problem = format!("is {iterations} for method {}, which does not iterate", word(method));
            return Err(Error::invalid("power_iterations", problem));
        }
        if self.sketch != Distribution::Gaussian && !has_sketch {
            return Err(Error::invalid("sketch", format!("is {} for DIRECT, which has no sketch", word(self.sketch))));
        }
        if self.read_rate > 0.0 && self.tolerance > 0.0 {
            let problem = format!("is {} beside a tolerance, which leaves no method to choose", real(self.read_rate));
            return Err(Error::invalid("read_rate", problem));
        }
        let is_seen_once = matches!(method, Method::Direct | Method::OnePass) || self.one_pass;
        if self.restart_path.is_some() && is_seen_once {
            return Err(Error::NotSupported(format!(
                "restart_path: is set, {} in one pass has no restart file",
                word(method)
            )));
        }
        if self.one_pass && self.error.is_probed() {
            let error = word(self.error);
            let problem = format!("is {error} beside one_pass, which leaves one factor: IDENTITY is needed");
            return Err(Error::invalid("error", problem));
        }
        Ok(())
    }

    /// Names of the options that have no effect for `method`, which AUTO has chosen.
    pub fn idle(&self, method: Method) -> impl Iterator<Item = &'static str> {
        let is_direct = method == Method::Direct;
        let iterates = self.power_iterations.is_some_and(|q| q != POWER_ITERATIONS && q > 0);
        let given = [
            ("sketch", is_direct && self.sketch != Distribution::Gaussian),
            ("power_iterations", iterates && matches!(method, Method::Direct | Method::OnePass)),
            ("smallest_ratio", is_direct && self.smallest_ratio > 0.0),
        ];
        given.into_iter().filter(|(_, is_idle)| *is_idle).map(|(name, _)| name)
    }

    /// Columns beyond the rank for rank `k`: the option, or max(10, k / 10).
    pub fn oversampling_for(&self, k: usize) -> usize {
        self.oversampling.unwrap_or_else(|| (k / 10).max(10))
    }

    /// Power iterations for rank `k` of a matrix whose smaller side is `least`.
    pub fn iterations_for(&self, k: usize, least: usize) -> usize {
        self.power_iterations.unwrap_or(if k < least / 10 { 7 } else { 4 })
    }
}
