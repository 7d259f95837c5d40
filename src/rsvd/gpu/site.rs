//! One device: its queue, its dense algebra, and memory that calls reuse.

use std::sync::Arc;

use crate::backend::gpu::{Blas, DeviceMemory, Gpu, GpuStream, StagingRing, View};
use crate::context::Context;
use crate::dense::gpu::GpuAlgebra;
use crate::error::Result;
use crate::scalar::DType;

/// Bytes that are copied at a time between a caller's matrix on the host and the device.
pub(super) const CHUNK_BYTES: usize = 64 << 20;

/// Uses of scratch memory. Each use has its own memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScratchUse {
    /// A block's products, with as many rows as the block.
    Products,
    /// A matrix with as many rows as the data have columns.
    Small,
    /// A second matrix with as many rows as the data have columns.
    MoreSmall,
    /// The adjoint of such a matrix, or a row of a correction for means.
    Flipped,
    /// The sum of a pass, which is then copied to the result.
    Sum,
    /// Blocks in double precision where the data are single, and vectors of sparse matrices and operators.
    Wide,
    /// Sums of Gram matrices over blocks.
    Gram,
    /// Part of a caller's matrix that is being copied.
    Exchange,
    /// The device's copy of rows of a tall matrix in host memory.
    Panel,
    /// The same for a second tall matrix.
    OtherPanel,
}

/// Number of page-locked buffers, and bytes of each: just enough to keep the link busy, because locking pages takes half a
/// millisecond a megabyte.
pub(super) const RING: usize = 4;
pub(super) const RING_BYTES: usize = 4 << 20;

/// A device with its queue and workspace.
pub(super) struct Site {
    pub(super) context: Arc<Context>,
    pub(super) gpu: Gpu,
    pub(super) stream: GpuStream,
    pub(super) algebra: GpuAlgebra,
    scratch: Vec<(ScratchUse, Arc<DeviceMemory>)>,
    idle: Vec<(ScratchUse, DeviceMemory)>,
    /// Page-locked buffers for callers' matrices.
    ring: Option<StagingRing>,
}

impl Site {
    pub(super) fn new(context: &Arc<Context>, stream: GpuStream) -> Result<Self> {
        let gpu = context.gpu("context")?.clone();
        let algebra = GpuAlgebra::new(context, &gpu, &stream)?;
        Ok(Self {
            context: Arc::clone(context),
            gpu,
            stream,
            algebra,
            scratch: Vec::new(),
            idle: Vec::new(),
            ring: None,
        })
    }

    pub(super) fn blas(&self) -> &Blas {
        self.algebra.blas()
    }

    /// Scratch memory for one use, in the order of the queue. It is kept for the next call; its contents are undefined.
    pub(super) fn scratch(&mut self, purpose: ScratchUse, bytes: usize) -> Result<Arc<DeviceMemory>> {
        let at = self.scratch.iter().position(|s| s.0 == purpose);
        if let Some(at) = at {
            if self.scratch[at].1.bytes() >= bytes {
                return Ok(Arc::clone(&self.scratch[at].1));
            }
            self.scratch.swap_remove(at);
        }
        let memory = Arc::new(self.gpu.allocate_uninitialized_on(&self.stream, "work space", bytes)?);
        self.scratch.push((purpose, Arc::clone(&memory)));
        Ok(memory)
    }

    /// Memory for one use, which the caller owns until [`Site::put`].
    pub(super) fn take(&mut self, purpose: ScratchUse, bytes: usize) -> Result<DeviceMemory> {
        if let Some(at) = self.idle.iter().position(|l| l.0 == purpose) {
            let memory = self.idle.swap_remove(at).1;
            if memory.bytes() >= bytes {
                return Ok(memory);
            }
            // Freed before more is allocated, so that no plan has to count both.
            drop(memory);
        }
        self.gpu.allocate_uninitialized_on(&self.stream, "work space", bytes)
    }

    /// Page-locked buffers for callers' matrices, which the caller owns until [`Site::put_ring`].
    pub(super) fn take_ring(&mut self) -> Result<StagingRing> {
        match self.ring.take() {
            Some(ring) => Ok(ring),
            None => StagingRing::new(&self.gpu, "page-locked buffers", RING, RING_BYTES, self.context.host_budget()),
        }
    }

    /// Takes the buffers back for the next [`Site::take_ring`].
    pub(super) fn put_ring(&mut self, ring: StagingRing) {
        self.ring = Some(ring);
    }

    /// Takes memory back for the next [`Site::take`] of the same use.
    pub(super) fn put(&mut self, purpose: ScratchUse, memory: DeviceMemory) {
        self.idle.push((purpose, memory));
    }

    /// Frees the scratch memory of one use.
    pub(super) fn forget(&mut self, purpose: ScratchUse) {
        self.scratch.retain(|s| s.0 != purpose);
    }
}

/// A packed matrix of type `dtype` at the beginning of some memory.
pub(super) fn packed(dtype: DType, memory: &DeviceMemory, rows: usize, columns: usize) -> Result<View<'_>> {
    Ok(View::packed(memory.region(0, bytes(dtype, rows, columns)?)?, rows, columns))
}

/// Bytes of a packed matrix; an error where they overflow.
pub(super) fn bytes(dtype: DType, rows: usize, columns: usize) -> Result<usize> {
    crate::shape::product("matrix", crate::shape::product("matrix", rows, columns)?, dtype.size())
}
