//! Solves single tiles, from host slices to host slices, for the search for all pairs.

use super::arrays::Places;
use super::call::Call;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::blocks::{Chunk, Field};
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::scalar::{Element, Real};
use crate::sshopm::ops::SshopmOps;
use crate::sshopm::plan::{Counts, Plan, RowSizes, Rows, Tile};

/// The GPU backend of the solver for tiles.
pub struct GpuOps<'a> {
    gpu: &'a Gpu,
    queue: &'a GpuStream,
}

impl<'a> GpuOps<'a> {
    /// A backend that enqueues on `queue`.
    pub fn new(gpu: &'a Gpu, queue: &'a GpuStream) -> Self {
        Self { gpu, queue }
    }
}

/// Device memory of the requested rows, in the order of the chunk's outputs.
struct Buffers(Vec<DeviceMemory>);

macro_rules! each_row {
    ($rows:expr, $call:ident) => {
        $call!(count, values, vectors, residuals, classes, hessian, basins, status);
        $call!(start_values, start_vectors, start_residuals, start_iterations, start_shifts, start_status);
        $call!(start_violations, found);
    };
}

impl<T: Real> SshopmOps<T> for GpuOps<'_> {
    fn solve_tile(
        &mut self,
        plan: &Plan<T>,
        tile: Tile<'_, T>,
        rows: Rows<'_, T>,
        trace: &mut [T],
        _: &RowSizes,
        cancel: &CancelFlag,
    ) -> Result<Counts> {
        cancel.check()?;
        if !trace.is_empty() || !rows.peaks.is_empty() {
            return Err(Error::Internal("a tile with a trace or peaks on the GPU".into()));
        }
        let (gpu, queue) = (self.gpu, self.queue);
        let entries = plan.shape.count();
        let count = tile.input.len() / entries;
        let mut places = Places::default();
        let mut buffers = Buffers(Vec::with_capacity(16));
        macro_rules! allocate {
            ($($name:ident),*) => {
                $(if !rows.$name.is_empty() {
                    places.$name = Some(buffers.0.len());
                    buffers.0.push(gpu.allocate_on(queue, "rows of a tile", size_of_val(&*rows.$name))?);
                })*
            };
        }
        each_row!(rows, allocate);
        let call = Call::new(gpu, queue, plan, places, !tile.mask.is_empty(), None, None)?;
        let input = gpu.upload_numbers(queue, "tensors", tile.input)?;
        let mask = gpu.upload_numbers(queue, "mask of a tile", tile.mask)?;
        call.work_on_tile(queue, (tile.first, count, entries), (&input, &mask), &buffers.0)?;
        macro_rules! download {
            ($($name:ident),*) => {
                $(fetch(gpu, queue, &buffers.0, call.places.$name, rows.$name)?;)*
            };
        }
        each_row!(rows, download);
        call.counts(queue)
    }
}

impl Call<'_> {
    /// Enqueues all kernels for `count` tensors of so many `entries`, from number `first` on, and their mask.
    fn work_on_tile(
        &self,
        queue: &GpuStream,
        (first, count, entries): (usize, usize, usize),
        (input, mask): (&DeviceMemory, &DeviceMemory),
        outputs: &[DeviceMemory],
    ) -> Result<()> {
        let bytes = self.scratch.bytes.iter();
        let scratch: Vec<DeviceMemory> = bytes
            .map(|bytes| self.gpu.allocate_on(queue, "scratch of a tile", bytes * count))
            .collect::<Result<_>>()?;
        let chunk = Chunk {
            stream: queue,
            first,
            count,
            inputs: vec![
                Field { region: input.whole(), strides: vec![1, entries] },
                Field { region: mask.whole(), strides: vec![1] },
            ],
            outputs: outputs.iter().map(|m| Field { region: m.whole(), strides: vec![] }).collect(),
            scratch: scratch.iter().map(DeviceMemory::whole).collect(),
        };
        self.work(&chunk)
    }
}

fn fetch<E: Element>(
    gpu: &Gpu,
    queue: &GpuStream,
    memories: &[DeviceMemory],
    place: Option<usize>,
    row: &mut [E],
) -> Result<()> {
    match place.and_then(|p| memories.get(p)) {
        Some(memory) => gpu.download_numbers(queue, memory, row),
        None => Ok(()),
    }
}
