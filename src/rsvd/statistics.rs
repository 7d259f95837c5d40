//! Statistics from the first pass over the data.

use crate::alloc;
use crate::error::Result;
use crate::scalar::Complex;

/// Deviations below this many roundings of the mean are rounding errors of the entries and of the mean. Entries that are
/// equal have the deviation 0, because their moments are summed as distances from the first of them.
const ROUNDINGS: f64 = 8.0;

/// Whether a column's deviation is no more than rounding errors. The centred entries of such a column are taken as 0.
pub fn is_constant(deviation: f64, mean: f64) -> bool {
    // False for a deviation that is NaN: such a column is not constant.
    deviation <= ROUNDINGS * f64::EPSILON * mean
}

/// The modulus of a number, at most the largest double where both parts are finite.
pub fn modulus(x: Complex<f64>) -> f64 {
    let is_finite = x.re.is_finite() && x.im.is_finite();
    let modulus = x.re.hypot(x.im);
    if is_finite { modulus.min(f64::MAX) } else { modulus }
}

/// Whether a centred line of a sparse matrix is 0: its entries are `size` or less from their mean, which is not 0. Unlike a
/// deviation, the largest distance needs no squares, which may overflow or underflow.
pub fn is_zero_line(size: f64, mean: Complex<f64>) -> bool {
    mean != Complex::default() && is_constant(size, modulus(mean))
}

/// The larger of the moduli of both parts, which is not 0 and does not overflow where the number is not 0 and finite.
#[inline]
pub fn largest_part(x: Complex<f64>) -> f64 {
    x.re.abs().max(x.im.abs())
}

/// The powers of two that a difference is multiplied by, before and after it is formed: together `factor`. Entries and means
/// times a factor above 1 might overflow where their difference times the factor does not.
#[inline]
pub fn steps_of(factor: f64) -> (f64, f64) {
    (factor.min(1.0), factor.max(1.0))
}

/// (x - mean) times a power of two.
#[inline]
pub fn difference(x: Complex<f64>, mean: Complex<f64>, factor: f64) -> Complex<f64> {
    let (before, after) = steps_of(factor);
    (x * before - mean * before) * after
}

/// The rounding error of `sum` = `a` + `b`.
fn lost(a: f64, b: f64, sum: f64) -> f64 {
    if a.abs() >= b.abs() { (a - sum) + b } else { (b - sum) + a }
}

/// A compensated sum (Neumaier, ZAMM 54, 1974): the second number is the sum of the rounding errors of the additions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Compensated(f64, f64);

impl Compensated {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let sum = self.0 + x;
        let rounded = lost(self.0, x, sum);
        // An infinite sum has no rounding error to add.
        (self.0, self.1) = (sum, if rounded.is_finite() { self.1 + rounded } else { self.1 });
    }

    /// The sum, with the rounding errors of its additions added.
    pub fn value(self) -> f64 {
        self.0 + self.1
    }
}

/// A compensated sum of complex numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct ComplexSum(Compensated, Compensated);

impl ComplexSum {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, x: Complex<f64>) {
        self.0.add(x.re);
        self.1.add(x.im);
    }

    /// The sum, with the rounding errors of its additions added.
    pub fn value(self) -> Complex<f64> {
        Complex::new(self.0.value(), self.1.value())
    }
}

/// The compensated sum of some numbers.
pub fn total(numbers: impl Iterator<Item = Complex<f64>>) -> Complex<f64> {
    let mut sum = ComplexSum::default();
    numbers.for_each(|x| sum.add(x));
    sum.value()
}

/// The mean of a line of `count` entries from those that are stored; the others are 0. If all are stored, the distances from
/// the first one are summed, so that the mean of equal entries is exact.
pub fn mean_of<I: Iterator<Item = Complex<f64>>>(count: usize, stored: usize, numbers: impl Fn() -> I) -> Complex<f64> {
    let first = numbers().next().filter(|_| stored == count).unwrap_or_default();
    let mean = first + average(count, |by| total(numbers().map(|x| x * by - first * by)));
    if mean.re.is_finite() && mean.im.is_finite() {
        return mean;
    }
    // The distance from the first entry overflows.
    average(count, |by| total(numbers().map(|x| x * by)))
}

/// Sums of squares below this have lost digits to underflow.
const LEAST_SPREAD: f64 = 1e-300;

/// The deviation, in units of the largest entry of all columns, below which such sums lose digits: the root of the
/// least one.
pub const LEAST_DEVIATION: f64 = 1e-150;

/// A square, or the least number above 0 for one that underflowed: a sum of squares is 0 for a constant column alone.
pub fn unless_lost(square: f64, is_lost: bool) -> f64 {
    if is_lost { f64::from_bits(1) } else { square }
}

/// The square of the distance of entry `x` from the `mean` of its line, times that of `factor`.
pub fn square_of(x: Complex<f64>, mean: Complex<f64>, factor: f64) -> f64 {
    let square = difference(x, mean, factor).norm_sqr();
    // Distances that are rounding errors of the mean may underflow.
    unless_lost(square, square == 0.0 && !is_constant((x - mean).norm(), mean.norm()))
}

/// 2^-64. Fewer than 2^64 numbers times this have a sum that does not overflow.
pub const DOWN: f64 = 1.0 / (1u128 << 64) as f64;

/// The sum of `count` numbers over their count. `sum` gives the sum of the numbers times its argument.
pub fn average(count: usize, sum: impl Fn(f64) -> Complex<f64>) -> Complex<f64> {
    let count = count.max(1) as f64;
    let plain = sum(1.0);
    if plain.re.is_finite() && plain.im.is_finite() {
        return plain / count;
    }
    // The sum overflows.
    sum(DOWN) / count / DOWN
}

/// `from` moved by `step` / `factor`. The quotient may overflow where the result does not.
pub fn moved(from: f64, step: f64, factor: f64) -> f64 {
    let whole = step / factor;
    if whole.is_finite() {
        return from + whole;
    }
    let half = 0.5 * step / factor;
    from + half + half
}

/// Mean of some entries of a column, and the sum of their squared distances from it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// The mean, rounded; `rest` has its error.
    pub mean: Complex<f64>,
    /// The rounding error of the mean. Merges would add up such errors otherwise.
    pub rest: Complex<f64>,
    /// The sum of squares, times the square of the setting's factor. It is 0 only if all entries are equal, or if the squares
    /// underflow and the entries are constant by [`is_constant`].
    pub spread: f64,
}

impl Moments {
    /// Merges the moments of `more` entries into these of `count` entries (Chan, Golub and LeVeque, The American
    /// Statistician 37, 1983).
    pub fn merge(&mut self, count: usize, other: &Self, more: usize, factor: f64) {
        if count == 0 {
            *self = *other;
            return;
        }
        let (before, mean) = (count as f64, self.mean);
        let share = more as f64 / (count + more) as f64;
        let towards = |from: f64, rest: f64, to: f64, other: f64| {
            // In the column's own unit: the factor is that of the largest entry of all columns.
            let half = if (to - from).is_finite() { 1.0 } else { 0.5 };
            let step = (to * half - from * half) * share;
            let small = step / half + (other - rest) * share + rest;
            let sum = from + small;
            if sum.is_finite() { (sum, lost(from, small, sum)) } else { (moved(from, step, half), 0.0) }
        };
        let re = towards(mean.re, self.rest.re, other.mean.re, other.rest.re);
        let im = towards(mean.im, self.rest.im, other.mean.im, other.rest.im);
        (self.mean, self.rest) = (Complex::new(re.0, im.0), Complex::new(re.1, im.1));
        let square = difference(other.mean, mean, factor).norm_sqr() * (before * share);
        let differs = || more > 0 && mean != other.mean && !is_constant((other.mean - mean).norm(), mean.norm());
        self.spread += other.spread + unless_lost(square, square == 0.0 && differs());
    }
}

/// The scaling of a column by its standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaling {
    /// The deviation, or 1 where it is no more than the rounding errors of the mean, so that a constant column does not
    /// change.
    pub divisor: f64,
    /// The factor of a distance from the mean, which the setting's factor multiplies too: 0 in a constant column that
    /// is centred.
    pub gain: f64,
    /// Whether the squares of the deviation were lost: they underflow beside those of the largest entry. The column is then
    /// not scaled.
    pub is_lost: bool,
}

/// The scaling of a column of `rows` entries.
pub fn scaling(column: &Moments, rows: usize, factor: f64, centred: bool) -> Scaling {
    let degrees = rows.saturating_sub(1).max(1) as f64;
    let deviation = (column.spread / degrees).sqrt();
    let mean = (column.mean * factor).norm();
    let is_small = column.spread > 0.0 && column.spread < LEAST_SPREAD;
    // A square that underflows loses less than the least number above 0.
    let most = ((column.spread + rows as f64 * f64::from_bits(1)) / degrees).sqrt();
    if !column.spread.is_finite() || (is_small && !is_constant(most, mean)) {
        return Scaling { divisor: 1.0, gain: 1.0, is_lost: true };
    }
    if is_constant(deviation, mean) {
        return Scaling { divisor: 1.0, gain: if centred { 0.0 } else { 1.0 / factor }, is_lost: false };
    }
    Scaling { divisor: deviation / factor, gain: 1.0 / deviation, is_lost: false }
}

/// The columns whose gain is 0.
///
/// # Errors
/// [`crate::error::Error::OutOfMemory`].
pub fn constants_of(gains: impl Iterator<Item = f64> + Clone) -> Result<Vec<usize>> {
    let are_zero = gains.enumerate().filter(|(_, gain)| *gain == 0.0).map(|(j, _)| j);
    let mut constants = alloc::with_capacity("constant columns", are_zero.clone().count())?;
    constants.extend(are_zero);
    Ok(constants)
}

/// The largest rounding error of products that are corrected for means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectionError {
    /// The row or column of this mean.
    pub line: usize,
    /// Whether it is a row.
    pub is_row: bool,
    /// Modulus of the mean.
    pub mean: f64,
    /// Norm of the rounding error, in the unit of the root of [`Statistics::norm2`].
    pub norm: f64,
}

impl CorrectionError {
    /// The largest error of lines of `length` entries: for each the mean, and its factor in products whose terms have
    /// the relative error `epsilon`. `None` if all means are 0.
    pub fn largest(
        lines: impl Iterator<Item = (Complex<f64>, f64)>,
        (is_row, length): (bool, usize),
        epsilon: f64,
    ) -> Option<Self> {
        let root = epsilon * (length as f64).sqrt();
        let errors = lines.enumerate().filter(|(_, (_, gain))| *gain != 0.0).map(|(line, (mean, gain))| {
            let mean = modulus(mean);
            Self { line, is_row, mean, norm: mean * root * gain }
        });
        errors.filter(|e| e.norm > 0.0).reduce(|most, e| if e.norm > most.norm { e } else { most })
    }
}

/// Norms of the data, and the means and scales of their columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// Sum of the squared moduli of the entries, after centring and scaling, times the square of the setting's factor if
    /// they are not scaled.
    pub norm2: f64,
    /// Whether `norm2` is an estimate from a few products, because the entries of an operator are not available.
    pub is_estimate: bool,
    /// Largest modulus of an entry as it was read: before centring, scaling and the setting's factor.
    pub max_abs: f64,
    /// Largest modulus, or largest part, of an entry after centring, times the setting's factor. Of data that are not centred,
    /// are scaled, or are known by products alone that of `max_abs`. 0 only for a matrix of zeros.
    pub size: f64,
    /// Largest part of an entry of a sparse matrix as products read it, times the setting's factor: before centring, without
    /// lines that are multiplied by 0. 0 for other data.
    pub read: f64,
    /// Of centred sparse matrices, whose products are corrected for the means.
    pub correction: Option<CorrectionError>,
    /// Of a centred operator, if rounding errors of products that are corrected for the means hide the data.
    pub hidden_by: Option<CorrectionError>,
    /// Mean of each column, real parts then imaginary parts where the data are complex; empty if not asked for.
    pub means: Vec<f64>,
    /// Divisor of each column; empty if columns are not scaled.
    pub scales: Vec<f64>,
    /// The columns that are multiplied by 0 because they are constant, in rising order: of scaled data, and of centred sparse
    /// matrices.
    pub constants: Vec<usize>,
    /// The first column whose deviation was lost, if columns are scaled.
    pub lost: Option<usize>,
}
