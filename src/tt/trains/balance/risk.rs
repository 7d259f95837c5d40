//! The digits that a contraction of balanced trains may still lose.

/// How a contraction of trains with balanced bonds may still lose digits of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Risk {
    /// No loss of the kinds below.
    #[default]
    Nothing,
    /// On a device, products of entries that differ too much in exponent, or are too far from 1, may underflow or
    /// overflow.
    Range,
    /// In a ring, entries of an environment may underflow although they contribute to the result.
    RingUnderflow,
}
