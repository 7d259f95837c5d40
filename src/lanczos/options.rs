//! Which eigenvalues, and how they are found.

use crate::choice::numbered;
use crate::error::{Error, Result};
use crate::scalar::DType;
pub use crate::spmv::filter::MOST_DEGREE;

/// Which eigenvalues. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Which {
    /// The largest, in descending order.
    Largest = 0,
    /// The smallest, in ascending order.
    Smallest = 1,
    /// Those of largest modulus, in descending order of that.
    LargestMagnitude = 2,
    /// Half from the top, the odd one with them, and half from the bottom; in descending order.
    BothEnds = 3,
    /// Those nearest [`Options::sigma`], the nearest first: with the caller's solve (`Given::solve`), or else by a filter.
    Nearest = 4,
}

/// How eigenpairs are found. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Method {
    /// Thick-restart Lanczos.
    ThickRestart = 0,
    /// The three-term recurrence, `basis` steps of it, with the test of Cullum and Willoughby; eigenvectors by running it
    /// again. Three vectors of memory beside those returned; sees one copy of each eigenvalue.
    Plain = 1,
}

/// How the vectors of a Krylov space are kept orthogonal. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Orthogonality {
    /// Each to all before it, twice.
    Full = 0,
    /// To the root of the unit roundoff, when an estimate of it says so (Simon, Math. Comp. 42, 1984); the space is made
    /// orthogonal at each restart. For spaces that take more time than products.
    Partial = 1,
}

/// Whether a polynomial of the operator is iterated with. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Filter {
    /// The operator itself.
    Off = 0,
    /// A Chebyshev polynomial that lifts what is wanted out of the rest: fewer, longer steps, for an end of the spectrum that
    /// is crowded, and for its interior.
    Chebyshev = 1,
}

/// Whether copies of multiple eigenvalues are looked for. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Verify {
    /// A test with a random vector tells whether a copy may be missing, and a search finds those that are.
    Auto = 0,
    /// The search, without the test: 30 to 90 products more where nothing is missing.
    On = 1,
    /// Neither: [`super::Info::verified`] is false.
    Off = 2,
}

numbered!(Which, Largest, Smallest, LargestMagnitude, BothEnds, Nearest);
numbered!(Verify, Auto, On, Off);
numbered!(Method, ThickRestart, Plain);
numbered!(Orthogonality, Full, Partial);
numbered!(Filter, Off, Chebyshev);

impl Which {
    /// Orders eigenvalues by how much they are wanted, the most wanted first. Of both ends the first is the largest,
    /// the second the smallest, and so on.
    pub fn order(self, values: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        let descending = |a: f64, b: f64| b.total_cmp(&a);
        match self {
            Self::Largest | Self::BothEnds => order.sort_by(|&i, &j| descending(values[i], values[j])),
            Self::Smallest => order.sort_by(|&i, &j| values[i].total_cmp(&values[j])),
            // Of an operator whose eigenvalues are the larger the nearer those of the matrix lie.
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

    /// The value that is wanted more than `value` by `margin`.
    pub fn beyond(self, value: f64, margin: f64) -> f64 {
        match self {
            Self::Smallest => value - margin,
            Self::LargestMagnitude | Self::Nearest => value.abs() + margin,
            Self::Largest | Self::BothEnds => value + margin,
        }
    }

    /// Orders eigenvalues as they are returned.
    pub fn arrange(self, values: &[f64]) -> Vec<usize> {
        if self == Self::BothEnds { Self::Largest.order(values) } else { self.order(values) }
    }
}

/// Options of a solve. The fields are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// How many eigenpairs k.
    pub count: usize,
    /// Which.
    pub which: Which,
    /// Vectors of the Krylov space m, at least k + 3 of which are taken; 0 for the whole space up to n = max(64, 3k), beyond for
    /// min(n, max(2k + 10, 30)); of blocks whole ones. Of [`Method::Plain`] the steps; 0 for min(n, max(10k, 100)).
    pub basis: usize,
    /// A pair has converged when its residual is at most this times its eigenvalue's modulus; 0 for 1e-10 in double and
    /// 1e-5 in single precision.
    pub tolerance: f64,
    /// Most restarts; 0 for max(300, 10 n / m).
    pub restarts: usize,
    /// Seed of the start vector.
    pub seed: u64,
    /// Whether copies of multiple eigenvalues are looked for.
    pub verify: Verify,
    /// How eigenpairs are found.
    pub method: Method,
    /// Vectors that the operator is applied to at once: a block of b holds b copies of a multiple eigenvalue. 0 and 1 for
    /// single vectors, at most [`MOST_BLOCK`].
    pub block: usize,
    /// How the vectors of the space are kept orthogonal.
    pub orthogonality: Orthogonality,
    /// Whether a polynomial of the operator is iterated with.
    pub filter: Filter,
    /// Degree of the polynomial, at most [`MOST_DEGREE`]; 0 for one that the spectrum asks for.
    pub degree: usize,
    /// Where eigenvalues are looked for, with [`Which::Nearest`]; else not looked at.
    pub sigma: f64,
    /// Whether products with two random vectors are to show that the operator is symmetric, for one that the caller's function
    /// is.
    pub check_symmetry: bool,
}

/// Vectors of the largest block.
pub const MOST_BLOCK: usize = 16;

impl Default for Options {
    fn default() -> Self {
        Self {
            count: 6,
            which: Which::Largest,
            basis: 0,
            tolerance: 0.0,
            restarts: 0,
            seed: 0,
            verify: Verify::Auto,
            method: Method::ThickRestart,
            block: 1,
            orthogonality: Orthogonality::Full,
            filter: Filter::Off,
            degree: 0,
            sigma: 0.0,
            check_symmetry: false,
        }
    }
}

/// Options with every default put in, checked for a matrix of order `n`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// k.
    pub count: usize,
    /// Which eigenvalues.
    pub which: Which,
    /// m.
    pub basis: usize,
    /// Relative tolerance.
    pub tolerance: f64,
    /// Unit roundoff of the type.
    pub epsilon: f64,
    /// Most restarts.
    pub restarts: usize,
    /// Seed.
    pub seed: u64,
    /// Whether copies are looked for.
    pub verify: Verify,
    /// Vectors of a block, at least 1.
    pub block: usize,
    /// How the space is kept orthogonal.
    pub orthogonality: Orthogonality,
    /// Random vectors that were drawn before: another search has to start from another one, or it finds the same copies.
    pub drawn: u32,
    /// A norm that rounding errors are relative to at least.
    pub norm: f64,
}

/// Residuals that rounding leaves of converged pairs, in units of eps ||A||: what an iteration need not undercut.
const ROUNDING: f64 = 8.0;

/// The same of vectors that went through restarts, computed from A x with rounding errors of its own, for each root of a
/// vector of the Krylov space and of a restart: 160 eps ||A|| were measured with 110 vectors. Residuals grow with the root of the
/// restarts, by about 5 eps ||A||, in a space of 12 to 60 vectors.
const ACCUMULATED: f64 = 25.0;

/// The margin, in units of the norm, that no tolerance makes smaller than ten times itself.
const FINEST: f64 = 1e-9;

/// The margin that rounding errors of a recurrence need, in units of eps ||A||.
const MARGIN_ROUNDING: f64 = 50.0;

/// With fewer vectors than this the rounding errors get no smaller.
const FEWEST: usize = 16;

impl Settings {
    /// The residual at which a pair has converged, for an operator of this norm.
    pub(super) fn limit(&self, value: f64, norm: f64) -> f64 {
        let floor = self.epsilon.powf(2.0 / 3.0) * norm;
        // Of an operator that is 0 every vector is an eigenvector.
        (self.tolerance * value.abs().max(floor)).max(ROUNDING * self.epsilon * norm).max(f64::MIN_POSITIVE)
    }

    /// What rounding may add to a residual that is computed from a vector returned, after some restarts: each turns the space by a
    /// product with rounding errors of its own, independent of the others.
    pub(super) fn rounding(&self, norm: f64, restarts: usize) -> f64 {
        ACCUMULATED * ((self.basis.max(FEWEST) + restarts) as f64).sqrt() * self.epsilon * norm
    }

    /// How far beyond the last value another one counts as wanted more, for an operator of this norm. Half of the tolerance at
    /// most, or a loose one would hide copies of eigenvalues; but more than rounding adds to a recurrence.
    pub(super) fn margin(&self, last: f64, norm: f64) -> f64 {
        let relative = (10.0 * self.tolerance).min(FINEST).max(MARGIN_ROUNDING * self.epsilon);
        (0.5 * self.tolerance * last.abs()).max(relative * norm)
    }

    /// The same for singular values, relative to the last of them.
    pub(super) fn relative_margin(&self) -> f64 {
        (10.0 * self.tolerance).min(FINEST).max(0.5 * self.tolerance)
    }

    /// The tolerance of another search, where residuals have contradicted one.
    pub(super) fn finer(&self) -> f64 {
        let default = if self.epsilon > 1e-10 { 1e-5 } else { 1e-10 };
        (1e-3 * self.tolerance).min(default).max(self.epsilon)
    }

    /// The settings of a search for copies: a loose tolerance would take a mean of several eigenvalues for the best of them.
    pub(super) fn of_check(&self) -> Self {
        Self { tolerance: self.tolerance.min(if self.epsilon > 1e-10 { 1e-5 } else { 1e-8 }), ..*self }
    }
}

impl Options {
    /// Checks the options for a matrix of order `n` with `deflated` known vectors.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming what is out of range.
    pub fn settle(&self, n: usize, deflated: usize, dtype: DType) -> Result<Settings> {
        let room = n.saturating_sub(deflated);
        let k = self.count;
        if k == 0 || k > room {
            let known = if deflated > 0 { format!(" less {deflated} known vectors") } else { String::new() };
            return Err(Error::invalid("count", format!("is {k}, outside 1 to n{known} = {room}")));
        }
        if !(self.tolerance >= 0.0 && self.tolerance < 1.0) {
            return Err(Error::invalid("tolerance", format!("is {}, outside 0 to 1", self.tolerance)));
        }
        if self.block > MOST_BLOCK {
            return Err(Error::invalid("block", format!("is {}, outside 0 to {MOST_BLOCK}", self.block)));
        }
        if self.degree > MOST_DEGREE {
            return Err(Error::invalid("degree", format!("is {}, outside 0 to {MOST_DEGREE}", self.degree)));
        }
        if !self.sigma.is_finite() {
            return Err(Error::invalid("sigma", format!("is {}, a finite number is needed", self.sigma)));
        }
        self.compatible()?;
        if self.method == Method::Plain {
            let steps = if self.basis == 0 { room.min((10 * k).max(100)) } else { self.basis };
            return Ok(self.settled(steps, 1, n, dtype));
        }
        if self.basis != 0 && (self.basis <= k || self.basis > room) && self.basis != room {
            let range = if k == room {
                format!("{room} is needed for all {room} vectors")
            } else {
                format!("outside count + 1 = {} to {room}", k + 1)
            };
            return Err(Error::invalid("basis", format!("is {}, {range}", self.basis)));
        }
        let basis = if (self.basis == 0 && room <= (3 * k).max(64)) || k + 2 >= room {
            // The whole space: exact, with every copy of every eigenvalue.
            room
        } else if self.basis == 0 {
            room.min((2 * k + 10).max(30))
        } else {
            // Three more than are wanted, or nothing is left to turn over in a restart.
            self.basis.max(k + 3).min(room)
        };
        let block = self.block.max(1);
        // Whole blocks, one of which leads out of the space; where there is no room to turn over two, the whole space.
        let most = room.saturating_sub(block) / block * block;
        let (basis, block) = match block {
            1 => (basis, 1),
            _ if basis == room || most < k + 3 * block => (room, 1),
            _ => (basis.max(k + 3 * block).next_multiple_of(block).min(most), block),
        };
        Ok(self.settled(basis, block, n, dtype))
    }

    fn settled(&self, basis: usize, block: usize, n: usize, dtype: DType) -> Settings {
        let single = matches!(dtype, DType::F32 | DType::CF32);
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
            orthogonality: self.orthogonality,
            drawn: 0,
            norm: 0.0,
        }
    }

    /// Refuses options that exclude each other, and those that the method or the place of the eigenvalues cannot use.
    fn compatible(&self) -> Result<()> {
        let refuse = |argument: &str, problem: &str| Err(Error::invalid(argument, problem));
        if self.sigma != 0.0 && self.which != Which::Nearest {
            let problem = format!("is {}, which is {:?}: only Nearest has a place to be near", self.sigma, self.which);
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
            Method::Plain if self.orthogonality != Orthogonality::Full => {
                return refuse("orthogonality", "is partial, the plain recurrence keeps none");
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
        if transformed && self.orthogonality == Orthogonality::Partial {
            return refuse("orthogonality", "is partial, an operator that is transformed takes few vectors");
        }
        if self.filter == Filter::Chebyshev && self.block > 1 {
            return refuse("block", "is set, a filter has single vectors");
        }
        if self.block > 1 && self.orthogonality == Orthogonality::Partial {
            return refuse("orthogonality", "is partial, blocks are orthogonalised in full");
        }
        Ok(())
    }
}
