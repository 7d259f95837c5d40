//! Runs a call on the backend of its contexts.

use std::sync::Arc;

use super::super::adjoint::Tested;
use super::super::algorithm::Outcome;
use super::super::cpu::CpuOps;
use super::super::data::Data;
use super::super::erased::{Operations, Typed};
use super::super::gpu::GpuOps;
use super::super::info::{Info, number};
use super::super::open::Opened;
use super::super::ops::RsvdOps as _;
use super::super::plan::Plan;
use super::super::restart::Attempt;
use super::super::traffic::Traffic;
use crate::backend::Backend;
use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::scalar::Scalar;

/// A call, for every backend and element type.
pub trait Call {
    /// Runs before a backend reads the data, for example to open the restart file, and returns the first try. `_checksum` is
    /// that of the data.
    ///
    /// # Errors
    /// Errors of the restart file and of the data.
    fn prepare(&mut self, _checksum: &mut dyn FnMut() -> Result<u64>) -> Result<Attempt> {
        Ok(Attempt::default())
    }

    /// Runs before each try.
    ///
    /// # Errors
    /// Errors of the restart file.
    fn begin(&mut self, _: Attempt) -> Result<()> {
        Ok(())
    }

    /// Runs the call. `factor` multiplies the singular values. If the data cannot be squared, it fails and sets
    /// `rescale` to the factor that they need. The call is then repeated with this factor.
    ///
    /// # Errors
    /// Errors of the passes.
    fn run(&mut self, ops: &mut dyn Operations, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome>;
}

/// Runs a call on the backend of the contexts.
///
/// # Errors
/// Errors of `work`; as [`Opened::new`], and as [`CpuOps::new`] or [`GpuOps::new`].
pub fn run<T: Scalar>(
    contexts: &[Arc<Context>],
    queue: Option<&GpuStream>,
    a: &Matrix,
    plan: &Plan,
    progress: &Progress<'_>,
    work: &mut dyn Call,
    info: &mut Info,
) -> Result<()> {
    let mut opened = Opened::<T>::new("a", a)?;
    // The work of the tries before the current one.
    let mut earlier = Traffic::default();
    let mut attempt = work.prepare(&mut || opened.checksum(&mut earlier.bytes_read))?;
    let base: Vec<(u64, u64)> =
        contexts.iter().map(|c| (c.host_budget().restart_peak(), c.device_budget().restart_peak())).collect();
    loop {
        work.begin(attempt)?;
        let mut problem = opened.problem(plan.transposed)?;
        let mut tested;
        problem.data = match problem.data {
            Data::Operator(operator) => {
                tested = Tested::new(operator, &contexts[0], plan.setting.center);
                Data::Operator(&mut tested)
            }
            data => data,
        };
        let mut setting = plan.setting;
        setting.factor = attempt.factor;
        let mut rescale = None;
        let mut traffic = earlier;
        let outcome = match (contexts[0].backend(), queue) {
            (Backend::Gpu(gpu), queue) => {
                let queue = queue.unwrap_or_else(|| gpu.default_stream());
                let mut ops = GpuOps::<T>::new(contexts, queue, problem, setting, progress)?;
                info.set_cut(ops.traffic(), plan, ops.planned_bytes());
                info.host_bytes = number(ops.planned_host_bytes());
                let outcome = work.run(&mut Typed::new(&mut ops), setting.result_factor(), &mut rescale);
                let outcome = outcome.and_then(|outcome| ops.read_clocks().map(|()| outcome));
                traffic.add(ops.traffic());
                outcome
            }
            (Backend::Cpu, _) => {
                let mut ops = CpuOps::<T>::new(&contexts[0], problem, setting, progress)?;
                info.set_cut(ops.traffic(), plan, 0);
                let outcome = work.run(&mut Typed::new(&mut ops), setting.result_factor(), &mut rescale);
                traffic.add(ops.traffic());
                outcome
            }
        };
        match (outcome, rescale) {
            (Err(_), Some(needed)) if needed != attempt.factor => {
                attempt = Attempt { factor: needed, earlier_passes: traffic.passes };
                earlier = traffic;
            }
            (outcome, _) => {
                info.set_traffic(&traffic);
                info.set_outcome(&outcome?, 1.0 / setting.result_factor());
                break;
            }
        }
    }
    for (context, (host, device)) in contexts.iter().zip(base) {
        let host = number(context.host_budget().peak().saturating_sub(host));
        let device = number(context.device_budget().peak().saturating_sub(device));
        info.host_bytes_used = info.host_bytes_used.max(host);
        info.device_bytes_used = info.device_bytes_used.max(device);
    }
    Ok(())
}
