//! The backend on which a plan runs: the context's, or the CPU for shapes without GPU kernels.

use super::algorithm::{self, Outputs};
use super::cpu::CpuOps;
use super::gpu::{self, GpuOps};
use super::info::{Info, bytes};
use super::ops::SshopmOps;
use super::plan::{PeakForm, Plan};
use crate::backend::Backend;
use crate::backend::cpu::simd::Vectorized;
use crate::backend::gpu::{Gpu, GpuStream};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::log::Level;
use crate::progress::Progress;
use crate::scalar::Real;
use crate::tensor::Tensor;

compiled_here! {
    /// The plan of [`run`], for the results `count` and `status` and, for a search for peaks, the peaks in their form.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for tensors on a device without a kernel for the plan; as [`CpuOps::new`].
    pub fn planned<T: Real>(
        context: &Context,
        plan: &Plan<T>,
        input: &Tensor,
        peaks: Option<PeakForm>,
    ) -> Result<Info> = planned_of;
}

fn planned_of<T: Vectorized>(
    context: &Context,
    plan: &Plan<T>,
    input: &Tensor,
    peaks: Option<PeakForm>,
) -> Result<Info> {
    let chosen = choose(context, plan, input)?;
    let info = match chosen {
        ChosenBackend::Gpu(_) => algorithm::known(plan, input.dims()[1]),
        ChosenBackend::Cpu(_) => {
            let ops = CpuOps::new(context, plan)?;
            algorithm::plan(context, ops.bytes(), plan, input, peaks)?
        }
    };
    Ok(Info { tolerance: plan.tolerance, reason: chosen.reason(), ..info })
}

/// Where the starts of a solve run.
#[derive(Clone, Copy)]
enum ChosenBackend<'a> {
    Cpu(&'static str),
    Gpu(&'a Gpu),
}

impl ChosenBackend<'_> {
    fn reason(self) -> &'static str {
        match self {
            Self::Cpu(reason) => reason,
            Self::Gpu(_) => "on the GPU of the context; chunks follow from the memory that is free",
        }
    }
}

/// Decides where a plan runs: host tensors of a shape without GPU kernels go to the CPU.
fn choose<'a, T: Vectorized>(context: &'a Context, plan: &Plan<T>, input: &Tensor) -> Result<ChosenBackend<'a>> {
    match context.backend() {
        Backend::Gpu(gpu) => match gpu::obstacle(plan) {
            None => Ok(ChosenBackend::Gpu(gpu)),
            Some(what) if input.is_device() => Err(Error::NotSupported(format!("tensors: {what} on the GPU"))),
            Some(what) => {
                context.log().log(Level::Info, || format!("{what} cannot be had on the GPU, going on with the CPU"));
                Ok(ChosenBackend::Cpu(
                    "on the CPU: the GPU has no kernels for this order, dimension, or number of starts or pairs",
                ))
            }
        },
        Backend::Cpu => Ok(ChosenBackend::Cpu("on the CPU of the context")),
    }
}

/// The backend for tiles of at most `count` tensors of a plan: the GPU, or the CPU for shapes without GPU kernels.
pub(crate) fn ops<'a, T: Vectorized>(
    context: &'a Context,
    queue: Option<&'a GpuStream>,
    plan: &Plan<T>,
    count: usize,
) -> Result<Box<dyn SshopmOps<T> + 'a>> {
    match (context.backend(), queue) {
        (Backend::Gpu(gpu), Some(queue)) if gpu::obstacle(plan).is_none() => Ok(Box::new(GpuOps::new(gpu, queue))),
        _ => Ok(Box::new(CpuOps::for_tiles(context, plan, count)?)),
    }
}

compiled_here! {
    /// Runs a checked plan on the context's backend. Host tensors of a shape without GPU kernels are computed on the CPU.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for tensors on a device without a kernel for the plan; [`Error::Cancelled`]; out of
    /// memory; errors of the backend.
    pub fn run<T: Real>(
        context: &Context,
        queue: Option<&GpuStream>,
        plan: &Plan<T>,
        input: &Tensor,
        mask: Option<&Tensor>,
        outputs: &mut Outputs<'_, '_>,
        progress: &Progress<'_>,
    ) -> Result<Info> = run_of;
}

fn run_of<T: Vectorized>(
    context: &Context,
    queue: Option<&GpuStream>,
    plan: &Plan<T>,
    input: &Tensor,
    mask: Option<&Tensor>,
    outputs: &mut Outputs<'_, '_>,
    progress: &Progress<'_>,
) -> Result<Info> {
    let chosen = choose(context, plan, input)?;
    let info = match (chosen, queue) {
        (ChosenBackend::Gpu(gpu), Some(queue)) => gpu::run(context, gpu, queue, plan, input, mask, outputs, progress)?,
        (ChosenBackend::Gpu(_), None) => return Err(Error::Internal("a solve on a GPU without a queue".into())),
        (ChosenBackend::Cpu(_), _) => {
            let mut ops = CpuOps::new(context, plan)?;
            let space = bytes(ops.bytes());
            let info = algorithm::run(context, &mut ops, plan, input, mask, outputs, progress)?;
            Info { host_bytes: info.host_bytes + space, ..info }
        }
    };
    Ok(Info { reason: chosen.reason(), ..info })
}
