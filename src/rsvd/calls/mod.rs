//! The calls of a session, written for every backend and element type.

mod decompose;
mod find_range;
mod given;
mod symmetric;

use std::sync::Arc;

use super::adjoint::Tested;
use super::algorithm::{ErrorFigures, Factors, Outcome, Phase, Run, Task, estimate};
use super::cpu::CpuOps;
use super::data::{Data, Operator, Problem};
use super::erased::{Operations, Typed};
use super::gpu::GpuOps;
use super::info::{Info, number};
use super::omega::sketch_of;
use super::open::Opened;
use super::ops::RsvdOps;
use super::options::{ErrorKind, Method, Options};
use super::plan::Plan;
use super::restart::Attempt;
use super::traffic::Traffic;
use crate::backend::Backend;
use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::progress::Progress;
use crate::scalar::Scalar;
pub use decompose::Decompose;
pub(in crate::rsvd) use decompose::decompose_task;
pub use find_range::FindRange;
pub use given::{Errors, Residuals};
pub use symmetric::Symmetric;
pub(in crate::rsvd) use symmetric::symmetric_task;

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

/// Adds to `info` how a run of `plan` would cut the data, without running it.
///
/// # Errors
/// As [`run`] for a problem that does not fit, and for a source that another run uses.
pub fn predict<T: Scalar>(contexts: &[Arc<Context>], a: &Matrix, plan: &Plan, info: &mut Info) -> Result<()> {
    let has_blocks = matches!(a.storage(), Storage::Dense { .. } | Storage::Streamed(_));
    let progress = Progress::none();
    match contexts[0].backend() {
        Backend::Gpu(gpu) => {
            let (mut sizes, mut opened) = (Sizes(a.rows(), a.cols()), None);
            let problem = match a.storage() {
                // Its functions are not called, so that a run may use it meanwhile.
                Storage::Operator(_) => Problem::new(a.rows(), a.cols(), Data::Operator(&mut sizes)),
                _ => opened.insert(Opened::<T>::new("a", a)?).problem(plan.transposed)?,
            };
            let ops = GpuOps::<T>::planned(contexts, gpu.default_stream(), problem, plan.setting, &progress)?;
            info.set_cut(ops.traffic(), plan, ops.planned_bytes());
            info.host_bytes = number(ops.planned_host_bytes());
        }
        Backend::Cpu if has_blocks => {
            let mut opened = Opened::<T>::new("a", a)?;
            let problem = opened.problem(plan.transposed)?;
            let ops = CpuOps::<T>::new(&contexts[0], problem, plan.setting, &progress)?;
            info.set_cut(ops.traffic(), plan, 0);
        }
        Backend::Cpu => {}
    }
    Ok(())
}

/// An operator that is planned with, by its numbers of rows and columns.
struct Sizes(usize, usize);

impl<T: Scalar> Operator<T> for Sizes {
    fn shape(&self) -> (usize, usize) {
        (self.0, self.1)
    }

    fn apply(&mut self, _: Op, _: &[T], _: usize, _: &mut [T]) -> Result<()> {
        Err(Error::Internal("a plan called an operator".into()))
    }
}

/// The task of a plan with a fixed rank, without vectors and without phases.
pub(in crate::rsvd) fn task_of(options: &Options, plan: &Plan) -> Task {
    // A merge draws as many columns in each block as it keeps.
    let narrowest = if plan.method == Method::Merge { plan.width.min(plan.merge_width) } else { plan.width };
    Task {
        method: plan.method,
        rank: plan.rank,
        columns: plan.width,
        iterations: plan.iterations,
        merge_width: plan.merge_width,
        one_pass: options.one_pass,
        block_columns: options.block_columns,
        tolerance: 0.0,
        sketch: sketch_of(options).of_columns(0, narrowest),
        orthonormalization: options.orthonormalization,
        precision: options.iteration_precision,
        phase: Phase::Free,
        left: false,
        right: false,
        error: options.error,
        probes: options.probes,
    }
}

/// The error of factors, found as the task asks for it.
pub(in crate::rsvd) fn error_of(run: &mut Run<'_>, factors: &Factors) -> Result<ErrorFigures> {
    if run.task.error == ErrorKind::None {
        return Ok(ErrorFigures::none());
    }
    if (run.task.error.is_probed() || run.statistics()?.is_estimate)
        && let (Some(u), Some(v)) = (&factors.u, &factors.v)
    {
        return estimate::probe(run, estimate::Relation::of(run.task.method), u, &factors.s, v);
    }
    // The identity holds for the singular values of Q^H A.
    let is_zero = run.statistics()?.norm2 == 0.0;
    let has_identity = is_zero || run.task.method.is_projection();
    let known = if has_identity { estimate::identity(run, &factors.s)? } else { None };
    match known {
        None if run.confirmed.is_some() => Ok(run.confirmed.unwrap_or_else(ErrorFigures::none)),
        Some(frobenius) => Ok(ErrorFigures { kind: ErrorKind::Identity, frobenius, spectral: f64::NAN }),
        None => {
            if run.statistics()?.is_estimate {
                run.remarks.push("the norm of an operator is known from probes alone, which need both factors".into());
            } else if has_identity {
                run.remarks.push("the error is too small to be measured without probes".into());
            }
            Ok(ErrorFigures::none())
        }
    }
}

/// Factors of a matrix of zeros: columns of the identity.
fn zero_factors(run: &mut Run<'_>, found: Factors) -> Result<Factors> {
    let k = found.s.len();
    let n = run.ops.columns();
    let u = found.u.map(|_| run.tall_identity(k)).transpose()?;
    let v = found.v.map(|_| run.identity(n, k)).transpose()?;
    Ok(Factors { u, s: crate::alloc::filled("singular values", k, 0.0)?, v })
}
