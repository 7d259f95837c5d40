//! Which eigenvalues, and how they are found.

use crate::error::{Error, Result};
use crate::scalar::DType;

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
}

/// Whether copies of multiple eigenvalues are looked for. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Verify {
    /// If the space was exhausted on the way, or two of the eigenvalues agree to 1e-6.
    Auto = 0,
    /// Always: 60 to 90 products more where nothing is missing.
    On = 1,
    /// Never.
    Off = 2,
}

macro_rules! codes {
    ($name:ident, $($variant:ident),*) => {
        impl $name {
            /// The choice whose number is `code`.
            ///
            /// # Errors
            /// [`Error::InvalidArgument`] with the numbers that there are.
            pub fn from_code(argument: &str, code: i32) -> Result<Self> {
                let all = [$(Self::$variant),*];
                let last = all.len() - 1;
                all.into_iter()
                    .find(|c| *c as i32 == code)
                    .ok_or_else(|| Error::invalid(argument, format!("is {code}, outside 0 to {last}")))
            }
        }
    };
}

codes!(Which, Largest, Smallest, LargestMagnitude, BothEnds);
codes!(Verify, Auto, On, Off);

impl Which {
    /// Orders eigenvalues by how much they are wanted, the most wanted first. Of both ends the first is the largest,
    /// the second the smallest, and so on.
    pub fn order(self, values: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        let descending = |a: f64, b: f64| b.total_cmp(&a);
        match self {
            Self::Largest | Self::BothEnds => order.sort_by(|&i, &j| descending(values[i], values[j])),
            Self::Smallest => order.sort_by(|&i, &j| values[i].total_cmp(&values[j])),
            Self::LargestMagnitude => order.sort_by(|&i, &j| descending(values[i].abs(), values[j].abs())),
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
    /// Vectors of the Krylov space m; 0 for min(n, max(2k + 10, 30)).
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
}

impl Default for Options {
    fn default() -> Self {
        Self { count: 6, which: Which::Largest, basis: 0, tolerance: 0.0, restarts: 0, seed: 0, verify: Verify::Auto }
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
        if self.basis != 0 && (self.basis <= k || self.basis > room) && self.basis != room {
            return Err(Error::invalid("basis", format!("is {}, outside count + 1 = {} to {room}", self.basis, k + 1)));
        }
        let single = matches!(dtype, DType::F32 | DType::CF32);
        let basis = if room <= (3 * k).max(64) || k + 2 >= room {
            // The whole space: exact, with every copy of every eigenvalue.
            room
        } else if self.basis == 0 {
            room.min((2 * k + 10).max(30))
        } else {
            // Three more than are wanted, or nothing is left to turn over in a restart.
            self.basis.max(k + 3).min(room)
        };
        let default = if single { 1e-5 } else { 1e-10 };
        Ok(Settings {
            count: k,
            which: self.which,
            basis,
            tolerance: if self.tolerance > 0.0 { self.tolerance } else { default },
            epsilon: if single { f64::from(f32::EPSILON) } else { f64::EPSILON },
            restarts: if self.restarts > 0 { self.restarts } else { (10 * n / basis.max(1)).max(300) },
            seed: self.seed,
            verify: self.verify,
        })
    }
}
