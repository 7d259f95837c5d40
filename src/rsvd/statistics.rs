//! What the first pass over the data finds.

/// Norms of the data, and their columns' means.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// Sum of the squares of the moduli of the entries, centred and scaled if they are, times the square of the setting's
    /// factor.
    pub norm2: f64,
    /// Largest modulus of an entry as it was read: before centring, scaling and the setting's factor.
    pub max_abs: f64,
    /// Mean of each column, real parts then imaginary parts where the data are complex; empty if not asked for.
    pub means: Vec<f64>,
    /// What each column is divided by; empty if it is not.
    pub scales: Vec<f64>,
}
