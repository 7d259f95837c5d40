//! The call for singular values and vectors, with its restart file.

use std::sync::Arc;

use super::factors::zero_factors;
use super::{Call, error_of, task_of};
use crate::context::Context;
use crate::dense::Op;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::algorithm::{self, Factors, Outcome, Phase, Run, Task, passes};
use crate::rsvd::erased::{Dense, Operations, Tall};
use crate::rsvd::identity::Identity;
use crate::rsvd::omega::sketch_of;
use crate::rsvd::options::{ErrorKind, Options, Right, Sign};
use crate::rsvd::outputs::{Outputs, largest_zero, write_values};
use crate::rsvd::plan::Plan;
use crate::rsvd::restart::{Attempt, Restart};
use crate::shape::to_u64;

/// Writes a matrix with n rows to the caller's factor.
fn give(ops: &mut dyn Operations, m: &Dense, to: Target<'_>, transposed: bool) -> Result<()> {
    ops.write(m, to.matrix, to.adjoint, transposed)
}

/// Writes a tall matrix to the caller's factor.
fn give_tall(ops: &mut dyn Operations, p: &Tall, to: Target<'_>, transposed: bool) -> Result<()> {
    ops.tall_write(p, to.matrix, to.adjoint, transposed)
}

/// One of the caller's factors.
struct Target<'a> {
    matrix: &'a mut Matrix,
    /// Whether it holds the factor's conjugate transpose.
    adjoint: bool,
}

/// The task of a decomposition; `u` and `v` say whether the caller asked for U and V.
pub(in crate::rsvd) fn decompose_task(options: &Options, plan: &Plan, u: bool, v: bool) -> Task {
    let mut task = task_of(options, plan);
    task.tolerance = options.tolerance;
    if options.tolerance > 0.0 {
        // Each block of the basis decides for itself.
        task.sketch = sketch_of(options);
    }
    // U of the transposed problem is the conjugate of V.
    (task.left, task.right) = if plan.transposed { (v, u) } else { (u, v) };
    let needs_probes = plan.estimates_norm && options.error != ErrorKind::None;
    if options.tolerance > 0.0 || options.error.is_probed() || needs_probes {
        (task.left, task.right) = (true, true);
    }
    task.phase = match (options.sign, plan.transposed) {
        (Sign::None, _) => Phase::Free,
        (Sign::VMax, false) | (Sign::UMax, true) => Phase::Right,
        (Sign::VMax, true) | (Sign::UMax, false) => Phase::Left,
    };
    if !u && !v {
        task.phase = Phase::Free;
    }
    task
}

/// The call for singular values and vectors, ready to run on a backend.
pub struct Decompose<'a> {
    options: &'a Options,
    plan: &'a Plan,
    context: &'a Arc<Context>,
    given: Option<&'a Matrix>,
    outputs: Outputs<'a>,
    restart: Option<Restart>,
    task: Task,
}

impl<'a> Decompose<'a> {
    /// The call with its plan and the caller's memory for factors.
    pub fn new(
        options: &'a Options,
        plan: &'a Plan,
        context: &'a Arc<Context>,
        given: Option<&'a Matrix>,
        outputs: Outputs<'a>,
    ) -> Self {
        let task = decompose_task(options, plan, outputs.u.is_some(), outputs.v.is_some());
        Self { options, plan, context, given, outputs, restart: None, task }
    }

    /// Removes the restart file after a successful run.
    ///
    /// # Errors
    /// [`Error::Io`](crate::error::Error::Io) if the restart file cannot be removed.
    pub fn finish(&self) -> Result<()> {
        self.restart.as_ref().map_or(Ok(()), Restart::remove)
    }

    /// Factors extended by zero columns to the largest rank.
    fn padded(run: &mut Run<'_>, factors: Factors) -> Result<Factors> {
        let (found, rank) = (factors.s.len(), run.task.rank);
        if found == rank {
            return Ok(factors);
        }
        let n = run.ops.columns();
        if found == 0 {
            let u = factors.u.map(|_| run.ops.tall("U", rank)).transpose()?;
            let v = factors.v.map(|_| run.ops.zeros("V", n, rank)).transpose()?;
            return Ok(Factors { u, s: factors.s, v });
        }
        let place = run.identity(found, rank)?;
        let u = match factors.u {
            Some(u) => {
                let mut wide = run.ops.tall("U", rank)?;
                run.ops.tall_multiply(1.0, &u, &place, 0.0, &mut wide)?;
                Some(wide)
            }
            None => None,
        };
        let v = match factors.v {
            Some(v) => Some(run.product(&v, Op::Plain, &place, Op::Plain)?),
            None => None,
        };
        Ok(Factors { u, s: factors.s, v })
    }

    fn write(outputs: &mut Outputs<'_>, run: &mut Run<'_>, factors: Factors, plan: &Plan, right: Right) -> Result<()> {
        if let Some(s) = outputs.s.as_deref_mut() {
            write_values("s", s, &factors.s, largest_zero(&factors.s, run.ops.dtype()), |x| x / run.factor)?;
        }
        let factors = Self::padded(run, factors)?;
        let adjoint = right == Right::Vh;
        let transposed = plan.transposed;
        let u = outputs.u.as_deref_mut().map(|matrix| Target { matrix, adjoint: false });
        let v = outputs.v.as_deref_mut().map(|matrix| Target { matrix, adjoint });
        let (left, right) = if transposed { (v, u) } else { (u, v) };
        if let (Some(m), Some(to)) = (&factors.v, right) {
            give(run.ops, m, to, transposed)?;
        }
        if let (Some(p), Some(to)) = (&factors.u, left) {
            give_tall(run.ops, p, to, transposed)?;
        }
        Ok(())
    }
}

impl Call for Decompose<'_> {
    fn prepare(&mut self, checksum_of_data: &mut dyn FnMut() -> Result<u64>) -> Result<Attempt> {
        let Some(path) = &self.options.restart_path else { return Ok(Attempt::default()) };
        let identity = Identity::new(self.options, self.plan, self.given)?;
        let restart = self.restart.insert(Restart::open(path, identity, checksum_of_data)?);
        Ok(restart.attempt())
    }

    fn begin(&mut self, attempt: Attempt) -> Result<()> {
        self.restart.as_mut().map_or(Ok(()), |restart| restart.begin(attempt))
    }

    fn run(&mut self, ops: &mut dyn Operations, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let steps = match self.plan.passes {
            Some(passes) => passes,
            // Upper bound: all blocks of the basis, each with q iterations.
            None => {
                let blocks = self.task.rank.div_ceil(self.task.block_columns.max(1));
                passes(self.plan.method, self.plan.iterations, false).saturating_mul(blocks)
            }
        };
        let mut run = Run::new(ops, &self.task, self.context, steps);
        (run.given, run.factor, run.restart) = (self.given, factor, self.restart.as_mut());
        run.transposed = self.plan.transposed;
        run.repeated_passes = to_u64(self.plan.passes_of_means);
        let earlier = run.restart.as_ref().map_or(0, |restart| restart.attempt().earlier_passes);
        let factors = match algorithm::decompose(&mut run) {
            Ok(factors) => factors,
            Err(e) => {
                *rescale = run.rescale;
                return Err(e);
            }
        };
        let factors = if run.statistics()?.norm2 == 0.0 { zero_factors(&mut run, factors)? } else { factors };
        let error = error_of(&mut run, &factors)?;
        let mut outcome = run.outcome(factors.s.len(), error)?;
        if outcome.passes_restarted > 0 {
            outcome.passes_restarted += earlier;
        }
        run.complete()?;
        Self::write(&mut self.outputs, &mut run, factors, self.plan, self.options.right)?;
        Ok(outcome)
    }
}
