//! The cut of the data that a run would use.

use std::sync::Arc;

use super::super::cpu::CpuOps;
use super::super::data::{Data, Operator, Problem};
use super::super::gpu::GpuOps;
use super::super::info::{Info, number};
use super::super::open::Opened;
use super::super::ops::RsvdOps as _;
use super::super::plan::Plan;
use crate::backend::Backend;
use crate::context::Context;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::progress::Progress;
use crate::scalar::Scalar;
use crate::shape::to_i64;

/// Adds to `info` how a run of `plan` would cut the data, without running it.
///
/// # Errors
/// As [`super::run()`] for a problem that does not fit, and for a source that another run uses.
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
        // Sparse matrices and operators are one block.
        Backend::Cpu => {
            info.blocks = 1;
            (info.block_rows, info.resident_rows) = (to_i64(plan.rows), to_i64(plan.rows));
        }
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
