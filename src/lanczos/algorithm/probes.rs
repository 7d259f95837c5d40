//! Random vectors that measure an operator.

/// Number of the first random vector that measures an operator; far from the numbers of start vectors.
pub const PROBES: u32 = 1 << 31;
