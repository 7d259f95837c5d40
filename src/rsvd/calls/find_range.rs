//! A basis of the range.

use std::sync::Arc;

use super::{Call, task_of};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::rsvd::algorithm::{ErrorFigures, Outcome, Run, Task, estimate, find};
use crate::rsvd::erased::Operations;
use crate::rsvd::options::{ErrorKind, Options};
use crate::rsvd::outputs::{first_lost, largest_zero};
use crate::rsvd::plan::Plan;

/// A basis of the range.
pub struct FindRange<'a> {
    plan: &'a Plan,
    context: &'a Arc<Context>,
    given: Option<&'a Matrix>,
    task: Task,
    q: &'a mut Matrix,
    b: Option<&'a mut Matrix>,
}

impl<'a> FindRange<'a> {
    /// The call with its plan and the caller's memory for the basis.
    pub fn new(
        options: &'a Options,
        plan: &'a Plan,
        context: &'a Arc<Context>,
        given: Option<&'a Matrix>,
        q: &'a mut Matrix,
        b: Option<&'a mut Matrix>,
    ) -> Self {
        Self { plan, context, given, task: task_of(options, plan), q, b }
    }
}

impl Call for FindRange<'_> {
    fn run(&mut self, ops: &mut dyn Operations, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let (task, wanted) = (self.task.clone(), self.b.is_some());
        let mut run = Run::new(ops, &task, self.context, task.iterations + 1 + usize::from(wanted));
        (run.given, run.factor) = (self.given, factor);
        let result = self.find(&mut run);
        *rescale = run.rescale;
        let captured = result?;
        let known = match captured {
            Some(captured) if task.error != ErrorKind::None => estimate::rest(&run, captured)?,
            _ => None,
        };
        let error = match known {
            Some(frobenius) => ErrorFigures { kind: ErrorKind::Identity, frobenius, spectral: f64::NAN },
            None => ErrorFigures::none(),
        };
        run.complete()?;
        run.outcome(task.columns, error)
    }
}

/// Refuses rows of B that vanish in the type, from their norms in the unit of the run.
fn expect_held(run: &Run<'_>, norms: &[f64]) -> Result<()> {
    let dtype = run.ops.dtype();
    let zero = largest_zero(norms, dtype);
    let Some((j, norm)) = first_lost(norms, |norm| norm / run.factor, zero, dtype) else { return Ok(()) };
    Err(Error::Numerical(format!("b: row {j} has the norm {norm:e}, which {} does not hold", dtype.name())))
}

/// The error of numbers beyond the type, or of a source whose numbers are not finite in the last pass alone.
fn not_finite(run: &Run<'_>, j: usize) -> Error {
    Error::Numerical(format!("b: row {j} is not finite, finite numbers of {} are needed", run.ops.dtype().name()))
}

impl FindRange<'_> {
    /// Writes Q and B; returns ||B||_F^2.
    fn find(&mut self, run: &mut Run<'_>) -> Result<Option<f64>> {
        let unscale = 1.0 / run.factor;
        let wanted = self.b.is_some();
        let width = self.task.columns;
        if self.plan.transposed {
            let (w, p) = find::rows(run, wanted)?;
            // A = A'^T: the range of A is spanned by conj(W), and conj(W)^H A = (A' W)^T.
            run.ops.write(&w, self.q, false, true)?;
            let (Some(mut p), Some(b)) = (p, self.b.as_deref_mut()) else { return Ok(None) };
            let norms = run.ops.tall_column_norms(&p)?;
            let captured = norms.iter().map(|x| x * x).sum();
            expect_held(run, &norms)?;
            run.scale_tall(&mut p, unscale)?;
            if let Some(j) = run.tall_not_finite(&p)? {
                return Err(not_finite(run, j));
            }
            run.ops.tall_write(&p, b, true, true)?;
            return Ok(Some(captured));
        }
        let (q, t) = find::columns(run, wanted)?;
        run.ops.tall_write(&q, self.q, false, false)?;
        let (Some(mut t), Some(b)) = (t, self.b.as_deref_mut()) else { return Ok(None) };
        let captured = run.ops.norm2(&t)?;
        if unscale != 1.0 {
            let norms = run.ops.column_norms(&t)?;
            expect_held(run, &norms)?;
            run.ops.scale_columns(&mut t, &crate::alloc::filled("factors", width, unscale)?)?;
        }
        if let Some(j) = run.ops.column_norms(&t)?.iter().position(|norm| !norm.is_finite()) {
            return Err(not_finite(run, j));
        }
        run.ops.write(&t, b, true, false)?;
        Ok(Some(captured))
    }
}
