//! Eigenpairs of a Hermitian matrix.

use std::sync::Arc;

use super::factors::zero_factors;
use super::{Call, error_of, task_of};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::algorithm::{self, Outcome, Phase, Run, Task, estimate, passes};
use crate::rsvd::erased::Operations;
use crate::rsvd::options::{Options, Sign};
use crate::rsvd::outputs::{largest_zero, write_values};
use crate::rsvd::plan::Plan;
use crate::tensor::Tensor;

/// The task of eigenpairs: as of a decomposition, with the phases of left vectors.
pub(in crate::rsvd) fn symmetric_task(options: &Options, plan: &Plan) -> Task {
    let mut task = task_of(options, plan);
    task.phase = if options.sign == Sign::None { Phase::Free } else { Phase::Left };
    task
}

/// The call for eigenpairs of a Hermitian matrix.
pub struct Symmetric<'a> {
    context: &'a Arc<Context>,
    given: Option<&'a Matrix>,
    task: Task,
    lambda: Option<&'a mut Tensor>,
    v: Option<&'a mut Matrix>,
}

impl<'a> Symmetric<'a> {
    /// The call with its plan and the caller's memory for eigenpairs.
    pub fn new(
        options: &'a Options,
        plan: &'a Plan,
        context: &'a Arc<Context>,
        given: Option<&'a Matrix>,
        lambda: Option<&'a mut Tensor>,
        v: Option<&'a mut Matrix>,
    ) -> Self {
        let task = symmetric_task(options, plan);
        Self { context, given, task, lambda, v }
    }
}

impl Call for Symmetric<'_> {
    fn run(&mut self, ops: &mut dyn Operations, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let steps = passes(self.task.method, self.task.iterations, false);
        let mut run = Run::new(ops, &self.task, self.context, steps);
        (run.given, run.factor) = (self.given, factor);
        let factors = match algorithm::symmetric(&mut run) {
            Ok(factors) => factors,
            Err(e) => {
                *rescale = run.rescale;
                return Err(e);
            }
        };
        let factors = if run.statistics()?.norm2 == 0.0 { zero_factors(&mut run, factors)? } else { factors };
        let error = match &factors.u {
            Some(u) if run.task.error.is_probed() => {
                let v = run.ops.matrix_of(self.context, "eigenvectors", u)?;
                estimate::probe(&mut run, estimate::Relation::of(self.task.method), u, &factors.s, &v)?
            }
            _ => error_of(&mut run, &factors)?,
        };
        run.complete()?;
        if let Some(lambda) = self.lambda.as_deref_mut() {
            write_values("lambda", lambda, &factors.s, largest_zero(&factors.s, run.ops.dtype()), |x| x / factor)?;
        }
        if let (Some(p), Some(v)) = (&factors.u, self.v.as_deref_mut()) {
            run.ops.tall_write(p, v, false, false)?;
        }
        run.outcome(factors.s.len(), error)
    }
}
