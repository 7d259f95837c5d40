//! Error bounds in the Frobenius norm.

/// The allowed error in the Frobenius norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delta {
    /// In units of the matrix's norm.
    Relative(f64),
    /// The error itself, in the units of the entries.
    Absolute(f64),
}

impl Delta {
    /// The error itself, for a matrix of the given norm.
    #[inline]
    pub fn of(self, norm: f64) -> f64 {
        match self {
            Self::Relative(delta) => delta * norm,
            Self::Absolute(delta) => delta,
        }
    }
}
