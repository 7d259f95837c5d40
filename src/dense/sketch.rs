//! Random matrices whose entries are a function of their place.

/// Distribution of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// Standard normal; for complex types each part.
    Gaussian,
    /// Uniform in [-1, 1); for complex types each part.
    Uniform,
    /// -1 or 1; for complex types each part.
    Rademacher,
    /// A few entries a row, -1 or 1, the others 0.
    SparseSign,
}

/// A random matrix: entry (i, j) follows from the seed, the stream, i and j alone (see [`crate::rng`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sketch {
    /// Distribution of the entries.
    pub distribution: Distribution,
    /// The caller's seed.
    pub seed: u64,
    /// What it is drawn for, one of [`crate::rng::stream`].
    pub stream: u32,
}
