//! Errors and residuals of factors that the caller gives.

use std::sync::Arc;

use super::{Call, task_of};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::algorithm::{ErrorFigures, Outcome, Run, Task, estimate};
use crate::rsvd::erased::{Dense, Operations, Tall};
use crate::rsvd::options::{Options, Right};
use crate::rsvd::plan::Plan;

/// A run over the caller's factors, in the orientation of the problem.
struct GivenFactors<'a> {
    context: &'a Arc<Context>,
    task: Task,
    u: &'a Matrix,
    s: Vec<f64>,
    v: &'a Matrix,
    transposed: bool,
    adjoint: bool,
}

/// U, s and V of a problem.
type Triplets = (Tall, Vec<f64>, Dense);

impl<'a> GivenFactors<'a> {
    fn new(
        options: &Options,
        plan: &Plan,
        context: &'a Arc<Context>,
        (u, s, v): (&'a Matrix, Vec<f64>, &'a Matrix),
    ) -> Self {
        let (transposed, adjoint) = (plan.transposed, options.right == Right::Vh);
        Self { context, task: task_of(options, plan), u, s, v, transposed, adjoint }
    }

    fn read(&self, ops: &mut dyn Operations, factor: f64) -> Result<Triplets> {
        let s = crate::alloc::collected("singular values", self.s.iter().map(|x| x * factor))?;
        if self.transposed {
            let u = ops.tall_read("v", self.v, self.adjoint, true)?;
            return Ok((u, s, ops.read("u", self.u, false, true)?));
        }
        let u = ops.tall_read("u", self.u, false, false)?;
        Ok((u, s, ops.read("v", self.v, self.adjoint, false)?))
    }
}

/// The call for the error of given factors.
pub struct Errors<'a>(GivenFactors<'a>);

impl<'a> Errors<'a> {
    /// The call with its plan and the factors.
    pub fn new(
        options: &Options,
        plan: &Plan,
        context: &'a Arc<Context>,
        factors: (&'a Matrix, Vec<f64>, &'a Matrix),
    ) -> Self {
        Self(GivenFactors::new(options, plan, context, factors))
    }
}

impl Call for Errors<'_> {
    fn run(&mut self, ops: &mut dyn Operations, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let (u, s, v) = self.0.read(ops, factor)?;
        let mut run = Run::new(ops, &self.0.task, self.0.context, 0);
        run.factor = factor;
        let figures = estimate::probe(&mut run, estimate::Relation::Given, &u, &s, &v);
        *rescale = run.rescale;
        let figures = figures?;
        run.complete()?;
        run.outcome(s.len(), figures)
    }
}

/// The residuals of given triplets, after the call has run.
pub struct Residuals<'a> {
    /// ||A v_j - s_j u_j||, for A in the caller's orientation.
    pub left: Vec<f64>,
    /// ||A^H u_j - s_j v_j||, for A in the caller's orientation.
    pub right: Vec<f64>,
    given: GivenFactors<'a>,
}

impl<'a> Residuals<'a> {
    /// The call with its plan and the triplets.
    pub fn new(
        options: &Options,
        plan: &Plan,
        context: &'a Arc<Context>,
        factors: (&'a Matrix, Vec<f64>, &'a Matrix),
    ) -> Self {
        Self { left: Vec::new(), right: Vec::new(), given: GivenFactors::new(options, plan, context, factors) }
    }
}

impl Call for Residuals<'_> {
    fn run(&mut self, ops: &mut dyn Operations, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let (u, s, v) = self.given.read(ops, factor)?;
        let mut run = Run::new(ops, &self.given.task, self.given.context, 2);
        run.factor = factor;
        let found = estimate::residuals(&mut run, &u, &s, &v);
        *rescale = run.rescale;
        let (mut left, mut right) = found?;
        left.iter_mut().chain(&mut right).for_each(|x| *x /= factor);
        if self.given.transposed {
            // ||A' conj(u) - s conj(v)|| = ||A^H u - s v||.
            std::mem::swap(&mut left, &mut right);
        }
        (self.left, self.right) = (left, right);
        run.complete()?;
        run.outcome(s.len(), ErrorFigures::none())
    }
}
