//! Statistics from the first pass over the data.

/// Rows over which the rounding errors of a mean accumulate. Longer sums are merged from sums of this many rows.
const ROWS_OF_A_SUM: usize = 4096;

/// The divisor of a column: its standard deviation over `rows` rows. It is 1 where the deviation is no more than the
/// rounding errors of the `mean`, so that a constant column does not change.
pub fn divisor(deviation: f64, mean: f64, rows: usize) -> f64 {
    if is_constant(deviation, mean, rows) { 1.0 } else { deviation }
}

/// Whether a column's deviation is no more than the rounding errors of its mean. The centred entries of such a column are
/// taken as 0: their differences from the mean are rounding errors, which grow with the mean.
pub fn is_constant(deviation: f64, mean: f64, rows: usize) -> bool {
    let rounding = rows.clamp(1, ROWS_OF_A_SUM) as f64 * f64::EPSILON * mean;
    // False for a deviation that is NaN: such a column is not constant.
    deviation <= rounding
}

/// Sums of squares below this have lost digits to underflow.
pub const LEAST_SPREAD: f64 = 1e-300;

/// A square, or the least number above 0 for one that underflowed: a sum of squares is 0 for a constant column alone.
pub fn unless_lost(square: f64, is_lost: bool) -> f64 {
    if is_lost { f64::from_bits(1) } else { square }
}

/// Multiplier of a scaled column, apart from a factor common to all columns: 0 if it is `centred` and constant.
pub fn gain(deviation: f64, mean: f64, rows: usize, centred: bool) -> f64 {
    if centred && is_constant(deviation, mean, rows) { 0.0 } else { 1.0 / divisor(deviation, mean, rows) }
}

/// Norms of the data, and the means and scales of their columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// Sum of the squared moduli of the entries, after centring and scaling, times the square of the setting's factor.
    pub norm2: f64,
    /// Whether `norm2` is an estimate from a few products, because the entries of an operator are not available.
    pub is_estimate: bool,
    /// Largest modulus of an entry as it was read: before centring, scaling and the setting's factor.
    pub max_abs: f64,
    /// Mean of each column, real parts then imaginary parts where the data are complex; empty if not asked for.
    pub means: Vec<f64>,
    /// Divisor of each column; empty if columns are not scaled.
    pub scales: Vec<f64>,
    /// Constant columns, for data whose products are corrected for the means. They are multiplied by 0. Empty where the
    /// entries themselves are centred.
    pub constants: Vec<usize>,
}
