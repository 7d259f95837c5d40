//! Where projections come from, where a volume goes, and the backend between them.

use crate::backend::gpu::Gpu;
use crate::blocks::sink::Sink;
use crate::blocks::source::Source;
use crate::tensor::Tensor;

/// A scan's projections, [columns, rows, views].
pub enum Projections<'a> {
    /// A tensor of the first context.
    Tensor(&'a Tensor),
    /// A source of blocks, read while views are processed.
    Source(&'a mut (dyn Source + 'a)),
}

/// Destination of a volume, [nx, ny, nz].
pub enum Volume<'a> {
    /// A tensor of the first context.
    Tensor(&'a mut Tensor),
    /// Any sink of blocks. Its `finish` is called after all slices are written.
    Sink(&'a mut (dyn Sink + 'a)),
}

/// Backend and precision of the computation.
pub enum Device<'a> {
    /// The threads of a context, in f32.
    Cpu,
    /// The threads of a context, in f64.
    Double,
    /// The GPU of a context, in f32.
    Gpu(&'a Gpu),
}
