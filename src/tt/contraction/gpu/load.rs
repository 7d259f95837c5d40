//! The cores of a train in the memory of one device, aligned and in the type of the contraction.

use std::sync::Arc;

use crate::alloc;
use crate::backend::gpu::kernels::tt;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{product, to_u64};
use crate::tensor::train::TensorTrain;

/// Alignment of copied cores in bytes, which suffices for every kernel and library.
const GRAIN: usize = 256;

/// The cores of a train in the memory of one device.
pub(super) struct Loaded<'a> {
    /// Memory of the copies, if the train's own memory cannot be used.
    copies: Option<DeviceMemory>,
    /// For each core, its first byte in `copies` and its number of bytes.
    places: Vec<(usize, usize)>,
    own: Vec<Region<'a>>,
}

/// All cores as one region, if they are contiguous on the device of `context` and aligned to an element.
pub(super) fn in_one<'a>(context: &Arc<Context>, train: &'a TensorTrain) -> Option<Region<'a>> {
    let aligned = train.address(0).is_multiple_of(to_u64(train.dtype().size()));
    match train.memory(0) {
        (Memory::Device(memory), _) if train.is_packed() && aligned && Arc::ptr_eq(train.context(), context) => {
            Some(memory.reaching(train.bytes()))
        }
        _ => None,
    }
}

impl<'a> Loaded<'a> {
    /// The cores of `train` with elements of type `dtype`: in place if they are aligned on this device, otherwise copied.
    /// If the train is on another device, no work on it may be in progress.
    ///
    /// # Errors
    /// Out of device memory, and errors of copies.
    pub(super) fn new(
        dtype: DType,
        context: &Arc<Context>,
        gpu: &Gpu,
        stream: &GpuStream,
        name: &str,
        train: &'a TensorTrain,
    ) -> Result<Self> {
        let shape = train.shape();
        let element = train.dtype().size();
        let is_here = Arc::ptr_eq(train.context(), context);
        let aligned = (0..shape.len()).all(|k| train.address(k).is_multiple_of(to_u64(element)));
        let mut loaded = Self { copies: None, places: Vec::new(), own: Vec::new() };
        if train.is_device() && is_here && aligned {
            loaded.own = alloc::with_capacity("cores of a tensor train", shape.len())?;
            for k in 0..shape.len() {
                let (memory, offset) = train.memory(k);
                let Memory::Device(memory) = memory else {
                    return Err(Error::Internal(format!("{name}: core {k} is not on the device")));
                };
                loaded.own.push(memory.region(offset * element, shape.core_len(k) * element)?);
            }
        } else {
            loaded.copy(context, gpu, stream, name, train)?;
        }
        if train.dtype() != dtype {
            loaded.promote(train.dtype(), dtype, gpu, stream)?;
        }
        Ok(loaded)
    }

    /// Copies the cores. Memory that several cores share is copied once.
    fn copy(
        &mut self,
        context: &Arc<Context>,
        gpu: &Gpu,
        stream: &GpuStream,
        name: &str,
        train: &'a TensorTrain,
    ) -> Result<()> {
        let shape = train.shape();
        let element = train.dtype().size();
        let d = shape.len();
        let (whole, first) = train.memory(0);
        let is_foreign = matches!(whole, Memory::Device(_)) && !Arc::ptr_eq(train.context(), context);
        let is_one = (1..d).all(|k| std::ptr::eq(train.memory(k).0, whole) && train.memory(k).1 >= first);
        if is_one && (is_foreign || matches!(whole, Memory::Host(_))) {
            // If all cores are in one allocation, one copy suffices.
            let start = |k: usize| (train.memory(k).1 - first) * element;
            let end = (0..d).map(|k| start(k) + shape.core_len(k) * element).max().unwrap_or(0);
            let mut places = alloc::with_capacity("cores of a tensor train", d)?;
            places.extend((0..d).map(|k| (start(k), shape.core_len(k) * element)));
            let mut memory = gpu.allocate_uninitialized_on(stream, "copy of a tensor train", end)?;
            match whole {
                Memory::Host(host) => {
                    gpu.upload(
                        stream,
                        &host.as_slice::<u8>()?[first * element..first * element + end],
                        &mut memory,
                        0,
                    )?;
                }
                Memory::Device(device) => {
                    let theirs = train.context().gpu(name)?;
                    gpu.copy_from(stream, theirs, device.region(first * element, end)?, memory.whole())?;
                }
            }
            (self.copies, self.places) = (Some(memory), places);
            return Ok(());
        }
        let mut order = alloc::with_capacity("cores of a tensor train", d)?;
        order.extend(0..d);
        order.sort_unstable_by_key(|&k| (train.address(k), shape.core_len(k)));
        let mut places = alloc::filled("cores of a tensor train", d, (0, 0))?;
        let mut end = 0usize;
        let mut before: Option<usize> = None;
        for &k in &order {
            let bytes = shape.core_len(k) * element;
            places[k] = match before {
                Some(b) if train.address(b) == train.address(k) && places[b].1 == bytes => places[b],
                _ => {
                    let place = (end, bytes);
                    end = end
                        .checked_add(bytes.next_multiple_of(GRAIN))
                        .ok_or_else(|| Error::invalid(name, "has more bytes than there are addresses"))?;
                    place
                }
            };
            before = Some(k);
        }
        let mut memory = gpu.allocate_uninitialized_on(stream, "copy of a tensor train", end)?;
        let mut copied: Option<usize> = None;
        for &k in &order {
            let (place, bytes) = places[k];
            if copied == Some(place) {
                continue;
            }
            copied = Some(place);
            let (source, offset) = train.memory(k);
            match source {
                Memory::Host(host) => {
                    let all = host.as_slice::<u8>()?;
                    gpu.upload(stream, &all[offset * element..offset * element + bytes], &mut memory, place)?;
                }
                Memory::Device(device) if Arc::ptr_eq(train.context(), context) => {
                    let rows =
                        crate::backend::gpu::Rows { offset: offset * element, pitch: bytes, width: bytes, count: 1 };
                    gpu.copy_rows(stream, device, rows, &mut memory, place)?;
                }
                Memory::Device(device) => {
                    let (from, to) = (device.region(offset * element, bytes)?, memory.region(place, bytes)?);
                    gpu.copy_from(stream, train.context().gpu(name)?, from, to)?;
                }
            }
        }
        (self.copies, self.places) = (Some(memory), places);
        Ok(())
    }

    /// Converts the copies from the real type `from` to the complex type `to`.
    fn promote(&mut self, from: DType, to: DType, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        if from != to.part() || !to.is_complex() {
            return Err(Error::Internal(format!("{} as {}", from.name(), to.name())));
        }
        let cores = self.cores()?;
        let mut places = alloc::with_capacity("cores of a tensor train", cores.len())?;
        let mut end = 0usize;
        for core in &cores {
            let bytes = product("x", core.bytes(), 2)?;
            places.push((end, bytes));
            end = end
                .checked_add(bytes.next_multiple_of(GRAIN))
                .ok_or_else(|| Error::invalid("x", "has more bytes than there are addresses"))?;
        }
        let memory = gpu.allocate_uninitialized_on(stream, "complex copy of a tensor train", end)?;
        for (core, &(place, bytes)) in cores.iter().zip(&places) {
            let count = core.bytes() / from.size();
            tt::promote(from, gpu, stream, count, *core, memory.region(place, bytes)?)?;
        }
        drop(cores);
        *self = Self { copies: Some(memory), places, own: Vec::new() };
        Ok(())
    }

    /// The cores, in their order.
    pub(super) fn cores(&self) -> Result<Vec<Region<'_>>> {
        let mut cores = alloc::with_capacity("cores of a tensor train", self.own.len().max(self.places.len()))?;
        match &self.copies {
            None => cores.extend_from_slice(&self.own),
            Some(memory) => {
                for &(place, bytes) in &self.places {
                    cores.push(memory.region(place, bytes)?);
                }
            }
        }
        Ok(cores)
    }
}
