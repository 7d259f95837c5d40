//! What the first pass over the data finds.

/// Rows whose rounding errors a mean may carry: sums of more are merged from those of so many.
const ROWS_OF_A_SUM: usize = 4096;

/// What a column is divided by: its standard deviation, of so many `rows`, or 1 where that is no more than the rounding
/// errors of the `mean`, so that a constant column stays as it is.
pub fn divisor(deviation: f64, mean: f64, rows: usize) -> f64 {
    let rounding = rows.clamp(1, ROWS_OF_A_SUM) as f64 * f64::EPSILON * mean;
    if deviation > rounding { deviation } else { 1.0 }
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
}
