//! One device: its queue, its dense algebra, and memory that calls use again and again.

use std::sync::Arc;

use crate::backend::gpu::{Blas, DeviceMemory, Gpu, GpuStream, StagingRing, View};
use crate::context::Context;
use crate::dense::gpu::GpuAlgebra;
use crate::error::Result;
use crate::scalar::Scalar;

/// What scratch memory is for: each use has memory of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// A block's products, as long as the block.
    Products,
    /// A matrix with as many rows as the data have columns.
    Small,
    /// A second one.
    MoreSmall,
    /// One as its adjoint.
    Flipped,
    /// The sum of a pass where it is not the result itself.
    Sum,
    /// Blocks in double, where the data are single.
    Wide,
    /// Gram matrices and what is made of them.
    Gram,
    /// A caller's matrix on its way.
    Exchange,
    /// Rows of a tall matrix in host memory.
    Panel,
    /// And of another.
    OtherPanel,
}

/// Page-locked buffers, and bytes of each: enough for the link to be busy, and no more, as locking pages takes half a
/// millisecond a megabyte.
pub(super) const RING: usize = 4;
pub(super) const RING_BYTES: usize = 4 << 20;

/// A device at work.
pub(super) struct Site {
    pub(super) context: Arc<Context>,
    pub(super) gpu: Gpu,
    pub(super) stream: GpuStream,
    pub(super) algebra: GpuAlgebra,
    scratch: Vec<(Use, Arc<DeviceMemory>)>,
    lent: Vec<(Use, DeviceMemory)>,
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
            lent: Vec::new(),
            ring: None,
        })
    }

    pub(super) fn blas(&self) -> &Blas {
        self.algebra.blas()
    }

    /// Memory for one use, in the order of the queue, that is kept for the next time. Its contents are of no use.
    pub(super) fn scratch(&mut self, purpose: Use, bytes: usize) -> Result<Arc<DeviceMemory>> {
        let at = self.scratch.iter().position(|s| s.0 == purpose);
        if let Some(at) = at {
            if self.scratch[at].1.bytes() >= bytes {
                return Ok(Arc::clone(&self.scratch[at].1));
            }
            self.scratch.swap_remove(at);
        }
        let memory = Arc::new(self.gpu.allocate_uninitialised_on(&self.stream, "work space", bytes)?);
        self.scratch.push((purpose, Arc::clone(&memory)));
        Ok(memory)
    }

    /// Memory for one use, out of the site's hands until [`Site::put`].
    pub(super) fn take(&mut self, purpose: Use, bytes: usize) -> Result<DeviceMemory> {
        match self.lent.iter().position(|l| l.0 == purpose).map(|at| self.lent.swap_remove(at).1) {
            Some(memory) if memory.bytes() >= bytes => Ok(memory),
            _ => self.gpu.allocate_uninitialised_on(&self.stream, "work space", bytes),
        }
    }

    /// Page-locked buffers for callers' matrices, out of the site's hands until [`Site::put_ring`].
    pub(super) fn take_ring(&mut self) -> Result<StagingRing> {
        match self.ring.take() {
            Some(ring) => Ok(ring),
            None => StagingRing::new(&self.gpu, "page-locked buffers", RING, RING_BYTES, self.context.host_budget()),
        }
    }

    /// Keeps the buffers for the next time.
    pub(super) fn put_ring(&mut self, ring: StagingRing) {
        self.ring = Some(ring);
    }

    /// Keeps memory for the next time.
    pub(super) fn put(&mut self, purpose: Use, memory: DeviceMemory) {
        self.lent.push((purpose, memory));
    }

    /// Gives the memory of one use back.
    pub(super) fn forget(&mut self, purpose: Use) {
        self.scratch.retain(|s| s.0 != purpose);
    }
}

/// A packed matrix at the beginning of some memory.
pub(super) fn packed<T: Scalar>(memory: &DeviceMemory, rows: usize, columns: usize) -> Result<View<'_>> {
    Ok(View::packed(memory.region(0, bytes::<T>(rows, columns)?)?, rows, columns))
}

/// Bytes of a matrix.
pub(super) fn bytes<T>(rows: usize, columns: usize) -> Result<usize> {
    crate::shape::product("matrix", crate::shape::product("matrix", rows, columns)?, size_of::<T>())
}
