//! Which eigenvalues, and how they are found.

use crate::choice::{numbered, with_defaults, word};
use crate::error::{Error, Result, real};
use crate::range;
use crate::scalar::DType;
pub use crate::spmv::filter::MOST_DEGREE;

/// Which eigenvalues. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Which {
    /// The algebraically largest, in descending order.
    Largest = 0,
    /// The algebraically smallest, in ascending order.
    Smallest = 1,
    /// Those of largest modulus, in descending order of the modulus.
    LargestMagnitude = 2,
    /// Half of them the largest and half the smallest; the largest get one more if the number is odd. In descending
    /// order.
    BothEnds = 3,
    /// Those nearest [`Options::sigma`], the nearest first. Found with the caller's solve (`SolveInputs::solve`) or, without
    /// one, by a filter.
    Nearest = 4,
}

/// How eigenpairs are found. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(i32)]
pub enum Method {
    /// Thick-restart Lanczos, with a space of `basis` vectors.
    #[default]
    ThickRestart = 0,
    /// `basis` steps of the three-term recurrence, with the test of Cullum and Willoughby. A second run of the
    /// recurrence computes the eigenvectors. Needs memory for three vectors beside those returned. Finds one copy of
    /// each eigenvalue.
    Plain = 1,
}

/// How the vectors of a Krylov space are kept orthogonal. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Orthogonalization {
    /// Each vector is made orthogonal to all vectors before it, twice.
    Full = 0,
    /// Orthogonalization is kept to the square root of the unit roundoff: vectors are reorthogonalized when an estimate
    /// asks for it (Simon, Math. Comp. 42, 1984). Each restart makes the space orthogonal. For problems where
    /// orthogonalization takes more time than products.
    Partial = 1,
}

/// Whether the iteration uses a polynomial of the operator. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Filter {
    /// The operator itself, without a polynomial.
    Off = 0,
    /// A Chebyshev polynomial that is large at the wanted eigenvalues and small at the others. It needs fewer but
    /// longer steps. For a crowded end of the spectrum, and for its interior.
    Chebyshev = 1,
}

/// Whether the solve searches for missing copies of multiple eigenvalues. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Verify {
    /// A test with a random vector shows whether a copy may be missing. If so, a search finds the missing copies.
    Auto = 0,
    /// The search, without the test. It takes 30 to 90 more products where no copy is missing.
    On = 1,
    /// Neither test nor search: [`super::Info::verified`] is false.
    Off = 2,
}

numbered!(Which, Largest, Smallest, LargestMagnitude, BothEnds, Nearest);
numbered!(Verify, Auto, On, Off);
numbered!(Method, ThickRestart, Plain);
numbered!(Orthogonalization, Full, Partial);
numbered!(Filter, Off, Chebyshev);

impl Which {
    /// Indices of the eigenvalues, the most wanted first. With [`Which::BothEnds`] the largest is first, the smallest
    /// second, the second largest third, and so on.
    pub fn order(self, values: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        let descending = |a: f64, b: f64| b.total_cmp(&a);
        match self {
            Self::Largest | Self::BothEnds => order.sort_by(|&i, &j| descending(values[i], values[j])),
            Self::Smallest => order.sort_by(|&i, &j| values[i].total_cmp(&values[j])),
            // With `Nearest`, the values are of a transformed operator: its eigenvalue is larger where the matrix's is
            // nearer.
            Self::LargestMagnitude | Self::Nearest => {
                order.sort_by(|&i, &j| descending(values[i].abs(), values[j].abs()))
            }
        }
        if self == Self::BothEnds {
            let sorted = order.clone();
            let count = sorted.len();
            for (at, slot) in order.iter_mut().enumerate() {
                *slot = if at % 2 == 0 { sorted[at / 2] } else { sorted[count - 1 - at / 2] };
            }
        }
        order
    }

    /// The value that is `margin` beyond `value` in the direction that `self` asks for.
    pub fn beyond(self, value: f64, margin: f64) -> f64 {
        match self {
            Self::Smallest => value - margin,
            Self::LargestMagnitude | Self::Nearest => value.abs() + margin,
            Self::Largest | Self::BothEnds => value + margin,
        }
    }

    /// Indices of the eigenvalues in the order in which they are returned.
    pub fn arrange(self, values: &[f64]) -> Vec<usize> {
        if self == Self::BothEnds { Self::Largest.order(values) } else { self.order(values) }
    }
}

with_defaults! {
    /// Options of a solve. The fields are those of the C interface.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Options {
        /// Number k of eigenpairs, at least 1.
        pub count: usize = 6,
        /// Which eigenvalues are wanted, and in which order they are returned.
        pub which: Which = Which::Largest,
        /// Number m of vectors of the Krylov space; the solver uses at least k + 3. 0 means the whole space up to n =
        /// max(64, 3k), and min(n, max(2k + 10, 30)) beyond. With blocks, m is made a multiple of the block. For
        /// [`Method::Plain`], the number of steps; 0 means min(n, max(10k, 100)).
        pub basis: usize = 0,
        /// A pair has converged when its residual is at most this times its eigenvalue's modulus. 0 means 1e-10 in
        /// double and 1e-5 in single precision.
        pub tolerance: f64 = 0.0,
        /// Largest number of restarts; 0 means max(300, 10 n / m).
        pub restarts: usize = 0,
        /// Seed of the start vector.
        pub seed: u64 = 0,
        /// Whether the solve searches for missing copies of multiple eigenvalues.
        pub verify: Verify = Verify::Auto,
        /// How eigenpairs are found. It decides the meaning of `basis` and how many vectors memory must hold.
        pub method: Method = Method::ThickRestart,
        /// Number b of vectors that the operator is applied to at once, at most [`MOST_BLOCK`]. A block space holds b
        /// copies of a multiple eigenvalue. 0 and 1 mean single vectors.
        pub block: usize = 1,
        /// How the vectors of the space are kept orthogonal.
        pub orthogonalization: Orthogonalization = Orthogonalization::Full,
        /// Whether the iteration uses a polynomial of the operator.
        pub filter: Filter = Filter::Off,
        /// Degree of the polynomial, at most [`MOST_DEGREE`]; 0 means a degree chosen from the spectrum.
        pub degree: usize = 0,
        /// The point near which eigenvalues are wanted, for [`Which::Nearest`]; must be 0 otherwise.
        pub sigma: f64 = 0.0,
        /// Whether products with two random vectors test that the operator is symmetric. For operators that are the
        /// caller's functions.
        pub check_symmetry: bool = false,
    }
}

/// Vectors of the largest block.
pub const MOST_BLOCK: usize = 16;

/// Options in which every default is resolved, checked for a matrix of order `n`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Number k of eigenpairs.
    pub count: usize,
    /// Which eigenvalues are wanted.
    pub which: Which,
    /// Number m of vectors of the space, or of steps.
    pub basis: usize,
    /// Relative tolerance of a residual, positive.
    pub tolerance: f64,
    /// Unit roundoff of the type.
    pub epsilon: f64,
    /// Most restarts, of each run.
    pub restarts: usize,
    /// Key of the random vectors.
    pub seed: u64,
    /// Whether the solve searches for missing copies.
    pub verify: Verify,
    /// Vectors of a block, at least 1.
    pub block: usize,
    /// How the space is kept orthogonal.
    pub orthogonalization: Orthogonalization,
    /// Number of random vectors drawn before. A further search starts from another vector; from the same one it would
    /// find the same copies.
    pub drawn: u32,
    /// A lower bound of the norm that rounding errors are relative to.
    pub norm: f64,
}

/// Rounding errors in the residual of a converged pair, in units of eps ||A||. The iteration does not aim below it.
const ROUNDING: f64 = 8.0;

/// The same for a residual that is computed from the returned vector. Restarts and the product A x add rounding errors
/// of their own. In units of eps ||A|| times the square root of the number of basis vectors plus restarts. 160 eps
/// ||A|| were measured with 110 vectors. In a space of 12 to 60 vectors residuals grow by about 5 eps ||A|| times the
/// square root of the number of restarts.
const ACCUMULATED: f64 = 25.0;

/// Upper bound of the term 10 tolerance in a margin, relative to the norm.
const FINEST: f64 = 1e-9;

/// The margin that rounding errors of a recurrence need, in units of eps ||A||.
const MARGIN_ROUNDING: f64 = 50.0;

/// A space of fewer vectors counts as this many: the rounding errors get no smaller.
const FEWEST: usize = 16;

impl Settings {
    /// The largest residual of a converged pair with eigenvalue `value`, for an operator of norm `norm`.
    pub(super) fn limit(&self, value: f64, norm: f64) -> f64 {
        let floor = self.epsilon.powf(2.0 / 3.0) * norm;
        // Of an operator that is 0 every vector is an eigenvector.
        (self.tolerance * value.abs().max(floor)).max(ROUNDING * self.epsilon * norm).max(f64::MIN_POSITIVE)
    }

    /// A bound of the rounding errors in a residual that is computed from a returned vector, after some restarts. Each
    /// restart multiplies the space by a matrix; its rounding errors are independent of those of the other restarts.
    pub(super) fn rounding(&self, norm: f64, restarts: usize) -> f64 {
        ACCUMULATED * ((self.basis.max(FEWEST) + restarts) as f64).sqrt() * self.epsilon * norm
    }

    /// The distance beyond the wanted value `last` from which on another value counts as more wanted, for an operator
    /// of norm `norm`. Its term relative to `last` is half of the tolerance, because a loose one would hide copies of
    /// eigenvalues. Its term relative to the norm is more than the rounding errors of a recurrence.
    pub(super) fn margin(&self, last: f64, norm: f64) -> f64 {
        let relative = (10.0 * self.tolerance).min(FINEST).max(MARGIN_ROUNDING * self.epsilon);
        (0.5 * self.tolerance * last.abs()).max(relative * norm)
    }

    /// The same for singular values, relative to the last of them.
    pub(super) fn relative_margin(&self) -> f64 {
        (10.0 * self.tolerance).min(FINEST).max(0.5 * self.tolerance)
    }

    /// The tolerance of a further search, after computed residuals contradicted those of the iteration.
    pub(super) fn finer(&self) -> f64 {
        let default = if self.epsilon > 1e-10 { 1e-5 } else { 1e-10 };
        (1e-3 * self.tolerance).min(default).max(self.epsilon)
    }

    /// The settings of a search for copies. The tolerance is reduced: with a loose one, a mean of several eigenvalues
    /// could pass for the best of them.
    pub(super) fn of_check(&self) -> Self {
        Self { tolerance: self.tolerance.min(if self.epsilon > 1e-10 { 1e-5 } else { 1e-8 }), ..*self }
    }
}

impl Options {
    /// Checks the options for a matrix of order `n` with `deflated` known vectors.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the option that is out of range.
    pub fn resolve(&self, n: usize, deflated: usize, dtype: DType) -> Result<Settings> {
        let dimension = n.saturating_sub(deflated);
        let k = self.count;
        if k == 0 || k > dimension {
            let known = if deflated > 0 { format!(" less {deflated} known vectors") } else { String::new() };
            return Err(Error::invalid("count", format!("is {k}, outside 1 to n{known} = {dimension}")));
        }
        self.check()?;
        if self.method == Method::Plain {
            let steps = if self.basis == 0 { dimension.min((10 * k).max(100)) } else { self.basis };
            return Ok(self.settings(steps, 1, n, dtype));
        }
        if self.basis != 0 && (self.basis <= k || self.basis > dimension) && self.basis != dimension {
            let range = if k == dimension {
                format!("{dimension} is needed for all {dimension} vectors")
            } else {
                format!("outside count + 1 = {} to {dimension}", k + 1)
            };
            return Err(Error::invalid("basis", format!("is {}, {range}", self.basis)));
        }
        let basis = if (self.basis == 0 && dimension <= (3 * k).max(64)) || k + 2 >= dimension {
            // The whole space: exact, with every copy of every eigenvalue.
            dimension
        } else if self.basis == 0 {
            dimension.min((2 * k + 10).max(30))
        } else {
            // Three more than the wanted pairs, or a restart has no vectors to replace.
            self.basis.max(k + 3).min(dimension)
        };
        let block = self.block.max(1);
        // Whole blocks; one more block must fit beside the space, for its remainder. If two blocks cannot be replaced
        // in a restart, use the whole space.
        let most = dimension.saturating_sub(block) / block * block;
        let (basis, block) = match block {
            1 => (basis, 1),
            _ if basis == dimension || most < k + 3 * block => (dimension, 1),
            _ => (basis.max(k + 3 * block).next_multiple_of(block).min(most), block),
        };
        Ok(self.settings(basis, block, n, dtype))
    }

    /// Refuses options that are out of range for every matrix, and options that exclude each other.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the option.
    pub fn check(&self) -> Result<()> {
        range::below_one("tolerance", self.tolerance)?;
        if self.block > MOST_BLOCK {
            return Err(Error::invalid("block", format!("is {}, outside 1 to {MOST_BLOCK}", self.block)));
        }
        if self.degree > MOST_DEGREE {
            return Err(Error::invalid("degree", format!("is {}, outside 0 to {MOST_DEGREE}", self.degree)));
        }
        range::finite("sigma", self.sigma)?;
        self.compatible()
    }

    fn settings(&self, basis: usize, block: usize, n: usize, dtype: DType) -> Settings {
        let single = dtype.is_single();
        let default = if single { 1e-5 } else { 1e-10 };
        Settings {
            count: self.count,
            which: self.which,
            basis,
            tolerance: if self.tolerance > 0.0 { self.tolerance } else { default },
            epsilon: if single { f64::from(f32::EPSILON) } else { f64::EPSILON },
            restarts: if self.restarts > 0 { self.restarts } else { (10 * n / basis.max(1)).max(300) },
            seed: self.seed,
            verify: self.verify,
            block,
            orthogonalization: self.orthogonalization,
            drawn: 0,
            norm: 0.0,
        }
    }

    /// Refuses options that exclude each other, and options that the method or the wanted part of the spectrum cannot
    /// use.
    fn compatible(&self) -> Result<()> {
        let refuse = |argument: &str, problem: &str| Err(Error::invalid(argument, problem));
        if self.sigma != 0.0 && self.which != Which::Nearest {
            let problem = format!("is {}, but which = {}: NEAREST is needed", real(self.sigma), word(self.which));
            return Err(Error::invalid("sigma", problem));
        }
        let filtered = self.filter != Filter::Off || (self.which == Which::Nearest && self.method != Method::Plain);
        if self.degree != 0 && !filtered {
            return Err(Error::invalid("degree", format!("is {}, there is no filter", self.degree)));
        }
        match self.method {
            Method::ThickRestart => {}
            Method::Plain if self.filter != Filter::Off => {
                return refuse("filter", "is set, the plain recurrence has none");
            }
            Method::Plain if self.block > 1 => {
                return refuse("block", "is set, the plain recurrence has single vectors");
            }
            Method::Plain if self.verify == Verify::On => {
                return refuse("verify", "is on, the plain recurrence sees one copy of each eigenvalue");
            }
            Method::Plain if self.orthogonalization != Orthogonalization::Full => {
                return refuse("orthogonalization", "is partial, the plain recurrence keeps none");
            }
            Method::Plain if self.restarts != 0 => {
                return refuse("restarts", "is set, the plain recurrence has none: basis is its number of steps");
            }
            Method::Plain => {}
        }
        if self.filter == Filter::Chebyshev && matches!(self.which, Which::LargestMagnitude | Which::BothEnds) {
            return refuse("which", "has two ends, a filter has one place");
        }
        let transformed = self.filter == Filter::Chebyshev || self.which == Which::Nearest;
        if transformed && self.orthogonalization == Orthogonalization::Partial {
            return refuse("orthogonalization", "is partial, an operator that is transformed takes few vectors");
        }
        if self.filter == Filter::Chebyshev && self.block > 1 {
            return refuse("block", "is set, a filter has single vectors");
        }
        if self.block > 1 && self.orthogonalization == Orthogonalization::Partial {
            return refuse("orthogonalization", "is partial, blocks are orthogonalized in full");
        }
        Ok(())
    }
}
