//! The report of a call.

/// Figures of a solve, summed over its tensors.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Info {
    /// Tensors T of the batch, masked ones included.
    pub tensors: i64,
    /// Starts V of each tensor.
    pub starts: i64,
    /// Starts that converged, of all tensors.
    pub converged_starts: i64,
    /// Iterations of all starts, of all tensors.
    pub iterations: i64,
    /// Tensors without iterations: not finite, zero, isotropic, masked.
    pub skipped_tensors: i64,
    /// Number of chunks of the batch.
    pub chunks: i64,
    /// Tolerance of the test after defaults and limits.
    pub tolerance: f64,
    /// Wall-clock time of the call.
    pub seconds: f64,
    /// Whether the requested tolerance was below the accuracy of the type and was raised.
    pub tolerance_raised: bool,
    /// Tensors with more pairs than were listed.
    pub truncated_tensors: i64,
    /// Tensors with a start that did not converge; of all pairs those with a start that ended without a pair, which are
    /// incomplete.
    pub unconverged_tensors: i64,
    /// Host memory of the threads' work space, the start vectors and one chunk of results, of [`super::solve`] and of
    /// peaks.
    pub host_bytes: i64,
    /// Where the starts run, and why.
    pub reason: &'static str,
}

/// Bytes as they are reported.
pub fn bytes(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
