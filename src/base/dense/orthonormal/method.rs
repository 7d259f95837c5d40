//! Method, accuracy and step counts of a basis.

/// How a basis is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// CholeskyQR until the columns are orthonormal.
    Auto,
    /// Householder reflections, if the matrices support them; else as [`Kind::Scqr3`].
    Householder,
    /// CholeskyQR once, and again only if the result would not be a basis. Its columns are orthogonal to u cond(X)^2.
    Cqr,
    /// CholeskyQR at least twice.
    Cqr2,
    /// Shifted CholeskyQR, then CholeskyQR at least twice.
    Scqr3,
}

/// Required accuracy of a basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasisAccuracy {
    /// Only the span matters, as in a power iteration. One step is enough unless the condition is near 1 / sqrt(u).
    Span,
    /// The basis has to be orthonormal to roundoff.
    Basis,
}

/// Method and accuracy of a basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BasisMethod {
    /// Which factorizations are tried, and in which order.
    pub kind: Kind,
    /// How near to orthonormal the columns must be.
    pub need: BasisAccuracy,
    /// The caller's seed, for random directions.
    pub seed: u64,
    /// The number of this basis among the caller's. Bases of different numbers draw different random directions, so that
    /// those of one basis do not lie in another.
    pub draw: u64,
}

/// Counts of the steps, summed over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps of CholeskyQR without a shift.
    pub plain: u64,
    /// Steps of CholeskyQR with a shift, for ill-conditioned columns.
    pub shifted: u64,
    /// Factorizations by Householder reflections.
    pub householder: u64,
    /// Deflations: bases built direction by direction, because CholeskyQR failed.
    pub deflated: u64,
    /// Columns replaced by random directions.
    pub replaced: u64,
}

impl Counts {
    /// Number of shifted steps and deflations, for which plain steps were not enough.
    pub fn fallbacks(&self) -> u64 {
        self.shifted + self.deflated
    }
}
