//! Runs contractions on the CPU if cuBLAS is not installed. Trains are copied to host memory for the call. The
//! workspace is in host memory, too, with the size that the CPU needs: the plan counts that of the device.

use super::state::GpuContraction;
use crate::alloc;
use crate::backend::memory::Memory;
use crate::contraction::cpu::CpuContraction;
use crate::contraction::ops::{ContractOps, Work};
use crate::error::Result;
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::scaled::Scaled;

/// Copies a train to host memory.
fn on_host(train: &TensorTrain, name: &str) -> Result<TensorTrain> {
    let context = train.context();
    let gpu = context.gpu(name)?;
    let shape = Shape::new(name, train.shape().modes(), train.shape().ranks())?;
    let element = train.dtype().size();
    let mut copy = TensorTrain::create(context, train.dtype(), Location::Host, shape)?;
    for k in 0..train.shape().len() {
        let (memory, offset) = train.memory(k);
        let bytes = train.shape().core_len(k) * element;
        let (target, start) = copy.memory_mut(name, k)?;
        let target = &mut target.host_mut(name)?.as_mut_slice::<u8>()?[start * element..start * element + bytes];
        match memory {
            Memory::Device(device) => {
                gpu.download(gpu.default_stream(), device, offset * element, target)?;
            }
            Memory::Host(host) => {
                target.copy_from_slice(&host.as_slice::<u8>()?[offset * element..offset * element + bytes]);
            }
        }
        copy.mark_set(k);
    }
    Ok(copy)
}

impl GpuContraction {
    /// Calls `run` with both trains in host memory and the CPU's contractions.
    pub(super) fn by_host<R>(
        &mut self,
        work: &Work<'_>,
        run: impl FnOnce(&mut CpuContraction, &Work<'_>) -> Result<R>,
    ) -> Result<R> {
        // Work on the caller's stream may still write the cores.
        self.stream(work.stream).synchronize()?;
        let copy =
            |train: &TensorTrain, name| if train.is_device() { on_host(train, name).map(Some) } else { Ok(None) };
        let x = copy(work.x, "x")?;
        let y = if work.x.is_same(work.y) { None } else { copy(work.y, "y")? };
        let on_x = x.as_ref().unwrap_or(work.x);
        let on_y = if work.x.is_same(work.y) { on_x } else { y.as_ref().unwrap_or(work.y) };
        run(&mut self.host, &Work { x: on_x, y: on_y, stream: None, ..*work })
    }

    /// Computes the norm of a sum of trains from host copies.
    pub(super) fn norm_by_host(&mut self, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
        self.stream(work.stream).synchronize()?;
        let mut copies = alloc::with_capacity("trains of a norm", trains.len())?;
        for (train, _) in trains {
            copies.push(if train.is_device() { Some(on_host(train, "x")?) } else { None });
        }
        let mut list = alloc::with_capacity("trains of a norm", trains.len())?;
        for (copy, &(train, factor)) in copies.iter().zip(trains) {
            list.push((copy.as_ref().unwrap_or(train), factor));
        }
        self.by_host(work, |host, work| host.qr_norm(work, &list))
    }
}
