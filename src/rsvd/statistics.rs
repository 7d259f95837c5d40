//! What the first pass over the data finds.

/// Rows whose rounding errors a mean may carry: sums of more are merged from those of so many.
const ROWS_OF_A_SUM: usize = 4096;

/// What a column is divided by: its standard deviation, of so many `rows`, or 1 where that is no more than the rounding
/// errors of the `mean`, so that a constant column stays as it is.
pub fn divisor(deviation: f64, mean: f64, rows: usize) -> f64 {
    if is_constant(deviation, mean, rows) { 1.0 } else { deviation }
}

/// Whether a column's deviation is no more than the rounding errors of its mean. The centred entries of such a column are 0:
/// what differs from the mean is rounding, which is large where the mean is.
pub fn is_constant(deviation: f64, mean: f64, rows: usize) -> bool {
    let rounding = rows.clamp(1, ROWS_OF_A_SUM) as f64 * f64::EPSILON * mean;
    // A deviation that is not a number is none of a constant.
    deviation <= rounding
}

/// Multiplier of a scaled column, apart from a factor common to all columns: 0 if it is `centred` and constant.
pub fn gain(deviation: f64, mean: f64, rows: usize, centred: bool) -> f64 {
    if centred && is_constant(deviation, mean, rows) { 0.0 } else { 1.0 / divisor(deviation, mean, rows) }
}

/// Norms of the data, and their columns' means.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// Sum of the squares of the moduli of the entries, centred and scaled if they are, times the square of the setting's
    /// factor.
    pub norm2: f64,
    /// Whether that is an estimate from a few products, as the entries are not to be had.
    pub is_estimate: bool,
    /// Largest modulus of an entry as it was read: before centring, scaling and the setting's factor.
    pub max_abs: f64,
    /// Mean of each column, real parts then imaginary parts where the data are complex; empty if not asked for.
    pub means: Vec<f64>,
    /// What each column is divided by; empty if it is not.
    pub scales: Vec<f64>,
    /// Columns that are constant, of data whose products are corrected for the means: they are multiplied by 0. Empty
    /// where entries themselves are centred.
    pub constants: Vec<usize>,
}
