//! The settings of a search, and where it runs.

use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::sshopm::plan::{Plan, Reduction};

/// Starts in a chunk, the unit of work of a thread.
pub(super) const CHUNK: usize = 500;

/// Context and device of a search.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) context: &'a Context,
    pub(super) queue: Option<&'a GpuStream>,
}

/// A search with every default resolved, for all chunks of a call.
pub(super) struct Search<T> {
    pub(super) plan: Plan<T>,
    /// Rules for merging pairs across all chunks.
    pub(super) rule: Reduction,
    /// Limit of pairs in the results.
    pub(super) pairs: usize,
    pub(super) starts: usize,
    pub(super) max_starts: usize,
    pub(super) raised: bool,
    pub(super) seed: u64,
    /// Tensors T of the batch.
    pub(super) count: usize,
}
