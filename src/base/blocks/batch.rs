//! A batch: its plan, its arrays and its chunks.

use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::context::Context;
use crate::progress::Progress;
use crate::tensor::Tensor;

/// The context, queue and memory of a batch.
pub struct Plan<'a> {
    /// The context, whose budgets bound the chunks.
    pub context: &'a Context,
    /// The GPU of `context`.
    pub gpu: &'a Gpu,
    /// The queue of the call.
    pub queue: &'a GpuStream,
    /// Progress and cancellation, checked between chunks.
    pub progress: &'a Progress<'a>,
    /// Number of items of the batch.
    pub items: usize,
    /// Bytes of scratch device memory for each item of a chunk, one number for each region.
    pub scratch: &'a [usize],
}

/// An array to read, with its items along the last axis.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub(super) name: &'a str,
    pub(super) tensor: &'a Tensor,
    pub(super) packed: bool,
}

impl<'a> Input<'a> {
    /// An array that the work reads with any strides.
    pub fn any(name: &'a str, tensor: &'a Tensor) -> Self {
        Self { name, tensor, packed: false }
    }

    /// An array that the work reads packed, the items last.
    pub fn packed(name: &'a str, tensor: &'a Tensor) -> Self {
        Self { name, tensor, packed: true }
    }
}

/// Part of an array on the device.
pub struct Field<'a> {
    /// The elements, beginning with the chunk's first item.
    pub region: Region<'a>,
    /// Elements from one index to the next along each axis; the last is the stride of the items.
    pub strides: Vec<usize>,
}

/// Some items of a batch, on the device.
pub struct Chunk<'a> {
    /// The stream for the work on this chunk.
    pub stream: &'a GpuStream,
    /// Number of the first item in the batch.
    pub first: usize,
    /// Number of items, from `first` on.
    pub count: usize,
    /// The inputs in the order given.
    pub inputs: Vec<Field<'a>>,
    /// The outputs in the order given; packed, with the items last.
    pub outputs: Vec<Field<'a>>,
    /// A region for each size in [`Plan::scratch`], in that order.
    pub scratch: Vec<Region<'a>>,
}
