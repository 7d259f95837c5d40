//! Steps that the methods share: the start, orthonormalization, and the work between passes.
//!
//! These steps are never inlined: each takes far longer than a call, and every method calls many of them.

use std::sync::Arc;

use super::{ErrorFigures, Outcome, Task};
use crate::context::Context;
use crate::dense::orthonormal::{BasisAccuracy, BasisMethod, Counts};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::rsvd::erased::{Dense, Operations, Tall};
use crate::rsvd::options::{IterationPrecision, unit_roundoff};
use crate::rsvd::restart::{Restart, bytes_of_number};
use crate::rsvd::statistics::Statistics;
use crate::shape::{to_i64, to_u64};

/// Rows up to which a sketch of signs is made orthonormal. With more, two columns of signs are equal with a probability
/// below 1e-25 a pair, and a column of sparse signs is zero with one below 2e-6.
pub const SIGN_ROWS: usize = 100;

/// A run of a method on a backend.
pub struct Run<'a> {
    /// The passes and the algebra of a backend.
    pub ops: &'a mut dyn Operations,
    /// The method, sizes and outputs.
    pub task: &'a Task,
    /// The context that small host matrices belong to.
    pub context: &'a Arc<Context>,
    /// The caller's sketch, n-by-l or wider.
    pub given: Option<&'a Matrix>,
    /// The file that the state is saved to after each pass.
    pub restart: Option<&'a mut Restart>,
    /// Expected passes, at least one.
    steps: usize,
    /// The power of two that the singular values are multiplied by.
    pub factor: f64,
    /// Whether columns of the problem are rows of the caller's matrix, in messages.
    pub transposed: bool,
    /// How columns were made orthonormal so far.
    pub ladder: Counts,
    /// Remarks so far, for [`Outcome::remark`].
    pub remarks: Vec<String>,
    /// Whether a tolerance was met.
    pub converged: bool,
    /// Columns of the basis; 0 before there is one.
    pub columns: usize,
    /// Relative error so far, for progress; 0 if unknown.
    pub measure: f64,
    /// The factor that a repeated run needs, because the entries are too large or too small to be squared.
    pub rescale: Option<f64>,
    /// ||A||_F^2 from the factors and their residual, where the first pass only estimates it.
    pub refined_norm2: Option<f64>,
    /// The error of the factors by probes, where probes checked a tolerance.
    pub confirmed: Option<ErrorFigures>,
    /// Probes that were drawn so far.
    pub probed: u32,
    /// Whether to charge the memory of a saved state although nothing is saved.
    pub saves_state: bool,
    /// Passes for means, which a run that goes on makes again.
    pub repeated_passes: u64,
    passes_restarted: u64,
    bases: Bases,
}

/// Numbers bases from a state on, as a run that goes on from this state does: both draw the same random directions.
struct Bases {
    /// The number of the next basis.
    next: u64,
}

impl Bases {
    /// The bases after a state of iteration `iteration`: a product A W, or a basis W. The first 64 have numbers of their own.
    fn after(iteration: usize, is_product: bool) -> Self {
        Self { next: to_u64(iteration).wrapping_mul(2).wrapping_add(u64::from(is_product)).wrapping_mul(64) }
    }

    fn draw(&mut self) -> u64 {
        let draw = self.next;
        self.next = draw.wrapping_add(1);
        draw
    }
}

/// The state of an interrupted run.
pub enum Resumed {
    /// A basis W, with a row for each column of A.
    Basis(Dense),
    /// A product A W, with a row for each row of A.
    Product(Tall),
}

impl<'a> Run<'a> {
    /// A run before its first pass; `steps` is the expected number of passes.
    pub fn new(ops: &'a mut dyn Operations, task: &'a Task, context: &'a Arc<Context>, steps: usize) -> Self {
        let steps = steps.max(1);
        ops.expect_steps(to_i64(steps));
        Self {
            ops,
            task,
            context,
            given: None,
            restart: None,
            steps,
            factor: 1.0,
            transposed: false,
            ladder: Counts::default(),
            remarks: Vec::new(),
            converged: true,
            columns: task.columns,
            measure: 0.0,
            rescale: None,
            saves_state: false,
            refined_norm2: None,
            confirmed: None,
            probed: 0,
            repeated_passes: 0,
            passes_restarted: 0,
            bases: Bases::after(0, false),
        }
    }

    /// Unit roundoff of the type.
    pub fn roundoff(&self) -> f64 {
        unit_roundoff(self.ops.dtype())
    }

    /// The statistics of the first pass.
    ///
    /// # Errors
    /// [`Error::Internal`] before it.
    pub fn statistics(&self) -> Result<&Statistics> {
        self.ops.statistics().ok_or_else(|| Error::Internal("statistics before a pass".into()))
    }

    /// ||A||_F, multiplied by the factor on the data.
    ///
    /// # Errors
    /// As [`Run::statistics`].
    pub fn norm(&self) -> Result<f64> {
        Ok(self.statistics()?.norm2.max(0.0).sqrt())
    }

    /// The sketch, n-by-`width`: the caller's, or random numbers from column `first` on.
    ///
    /// # Errors
    /// As [`Operations::read`] for the caller's sketch; errors of the backend.
    #[inline(never)]
    pub fn omega(&mut self, width: usize, first: u32) -> Result<Dense> {
        let n = self.ops.columns();
        if let Some(given) = self.given {
            let all = self.ops.read("given sketch", given, false, false)?;
            if self.ops.shape(&all).1 == width {
                return Ok(all);
            }
            return self.head(&all, width);
        }
        let mut omega = self.ops.zeros("sketch", n, width)?;
        // Blocks of a Krylov basis are narrower than the sketch would be.
        let sketch = self.task.sketch.of_columns(first as usize, width);
        self.ops.fill(&mut omega, &sketch, 0, first)?;
        Ok(omega)
    }

    /// Whether the sketch is drawn from a distribution whose columns may depend on each other.
    pub fn may_miss(&self) -> bool {
        self.given.is_none() && self.task.sketch.may_be_singular()
    }

    /// Makes a sketch of few rows orthonormal: columns that depend on each other are replaced.
    ///
    /// They are found here, where the numbers are small integers. Rounding hides their dependence in A Omega.
    ///
    /// # Errors
    /// As [`Run::orthonormalize`].
    pub fn complete_sketch(&mut self, omega: &mut Dense) -> Result<()> {
        if self.ops.shape(omega).0 <= SIGN_ROWS && self.may_miss() {
            self.orthonormalize(omega)?;
        }
        Ok(())
    }

    /// Whether columns of A Omega with these singular values (not increasing) depend on each other up to rounding, and may
    /// do so because of the sketch. The limit is a generous bound of the errors of the sums of A Omega.
    pub fn may_have_missed(&self, s: &[f64]) -> bool {
        let limit = 100.0 * self.roundoff() * (self.ops.columns() as f64).sqrt();
        let (first, last) = (s.first().copied().unwrap_or(0.0), s.last().copied().unwrap_or(0.0));
        self.may_miss() && last <= limit * first
    }

    /// The number of finished iterations and W: from an interrupted run, or 0 and an orthonormal basis of the sketch.
    ///
    /// # Errors
    /// As [`Run::resume`], [`Run::omega`] and [`Run::orthonormalize`].
    #[inline(never)]
    pub fn begin(&mut self) -> Result<(usize, Dense)> {
        if let Some(resumed) = self.resume()? {
            return Ok(resumed);
        }
        let mut w = self.omega(self.task.columns, 0)?;
        self.orthonormalize(&mut w)?;
        Ok((0, w))
    }

    /// The state of an interrupted run, the first time: the number of finished iterations and W.
    ///
    /// # Errors
    /// As [`Run::resume_any`]; [`Error::InvalidArgument`] if the state is a product.
    #[inline(never)]
    pub fn resume(&mut self) -> Result<Option<(usize, Dense)>> {
        match self.resume_any()? {
            None => Ok(None),
            Some((iteration, Resumed::Basis(w))) => Ok(Some((iteration, w))),
            Some((_, Resumed::Product(_))) => {
                Err(Error::invalid("restart_path", "holds a product, which this method does not save"))
            }
        }
    }

    /// The same for methods that save products, too.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a product of another number of rows; errors of the restart file and of the
    /// backend.
    #[inline(never)]
    pub fn resume_any(&mut self) -> Result<Option<(usize, Resumed)>> {
        let Some(saved) = self.restart.as_mut().and_then(|r| r.take_saved()) else { return Ok(None) };
        let state = saved.state;
        self.passes_restarted = state.passes.saturating_sub(self.repeated_passes);
        self.ops.go_on(self.passes_restarted);
        self.bases = Bases::after(state.iteration, state.is_product);
        if state.is_product {
            let rows = self.ops.rows();
            if state.rows != rows {
                let problem = format!("holds a product of {} rows, {rows} are needed", state.rows);
                return Err(Error::invalid("restart_path", problem));
            }
            return Ok(Some((state.iteration, Resumed::Product(self.ops.restore_tall(self.context, &saved)?))));
        }
        // The host copy of the state, until it is in the backend's memory.
        let count = crate::shape::product("restart state", state.rows, state.columns)?;
        let bytes = count.saturating_mul(self.ops.element_bytes());
        let _charge = self.ops.charge(self.context, "restart state", bytes)?;
        Ok(Some((state.iteration, Resumed::Basis(self.ops.restore(&saved)?))))
    }

    /// Runs a pass whose result only has to span the right space, in the precision that the task has for iterations.
    ///
    /// # Errors
    /// Errors of `pass`; as [`Operations::set_precision`].
    pub fn spanning(&mut self, pass: impl FnOnce(&mut dyn Operations) -> Result<()>) -> Result<()> {
        if self.task.precision == IterationPrecision::Full {
            return pass(self.ops);
        }
        let is_faster = self.ops.set_precision(IterationPrecision::Fast)?;
        let outcome = pass(self.ops);
        self.ops.set_precision(IterationPrecision::Full)?;
        let remark = format!("iterations in full precision: no faster one for {}", self.ops.dtype().name());
        if !is_faster && !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
        outcome
    }

    /// The work between two passes: refuses data that cannot be squared, saves the state, checks for cancellation.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; errors of the restart file; [`Error::Numerical`] with `rescale` set.
    #[inline(never)]
    pub fn pass_done(&mut self, state: Option<(usize, &Dense)>) -> Result<()> {
        self.check_range()?;
        let done = self.passes_done();
        if let Some((iteration, _)) = state {
            self.bases = Bases::after(iteration, false);
        }
        let state = state.filter(|_| self.saves_state || self.restart.is_some());
        let (rows, columns) = state.map_or((0, 0), |(_, w)| self.ops.shape(w));
        let count = crate::shape::product("restart", rows, columns)?;
        let number = self.ops.element_bytes() + bytes_of_number(self.ops.dtype().is_complex());
        let _charge = self.ops.charge(self.context, "restart state", count.saturating_mul(number))?;
        if let (Some((iteration, w)), Some(restart)) = (state, self.restart.as_mut()) {
            self.ops.save(w, iteration, done, restart)?;
        }
        self.report()
    }

    /// [`Run::pass_done`] after a product A W within iteration `iteration`, which is saved.
    ///
    /// # Errors
    /// As [`Run::pass_done`].
    #[inline(never)]
    pub fn product_done(&mut self, iteration: usize, p: &Tall) -> Result<()> {
        self.check_range()?;
        let done = self.passes_done();
        self.bases = Bases::after(iteration, true);
        // If it is not saved, the state before it stays.
        if let Some(restart) = self.restart.as_mut()
            && !self.ops.save_tall(self.context, p, iteration, done, restart)?
        {
            let remark = "restart_path: host memory does not hold A W, which is not saved";
            if !self.remarks.iter().any(|r| r == remark) {
                self.remarks.push(remark.into());
            }
        }
        self.report()
    }

    /// Reports the passes so far.
    fn report(&mut self) -> Result<()> {
        // A method may add passes, so only `complete` reports the last step.
        let (step, steps) = (i64::try_from(self.passes_done()).unwrap_or(i64::MAX), to_i64(self.steps));
        self.ops.checkpoint(step.min(steps - 1), steps, self.measure)
    }

    /// Passes over the data so far, including those of an interrupted run.
    fn passes_done(&self) -> u64 {
        self.ops.traffic().passes + self.passes_restarted
    }

    /// Raises the expected number of passes to at least `more` from now on.
    pub fn expect(&mut self, more: usize) {
        let done = usize::try_from(self.passes_done()).unwrap_or(usize::MAX);
        self.steps = self.steps.max(done.saturating_add(more));
        self.ops.expect_steps(to_i64(self.steps));
    }

    /// Reports the end, after the last pass.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn complete(&mut self) -> Result<()> {
        let steps = i64::try_from(self.passes_done()).unwrap_or(i64::MAX).max(to_i64(self.steps));
        self.ops.checkpoint(steps, steps, self.measure)
    }

    /// Makes the columns of `x` orthonormal; returns R with X = Q R.
    ///
    /// # Errors
    /// As [`Operations::orthonormalize`].
    #[inline(never)]
    pub fn orthonormalize(&mut self, x: &mut Dense) -> Result<Dense> {
        let method = self.basis_method(BasisAccuracy::Basis);
        self.ops.orthonormalize(x, method, &mut self.ladder)
    }

    /// Makes the columns of `x` a well-conditioned basis of their span, as between power iterations; returns R.
    ///
    /// # Errors
    /// As [`Operations::orthonormalize`].
    #[inline(never)]
    pub fn span(&mut self, x: &mut Dense) -> Result<Dense> {
        let method = self.basis_method(BasisAccuracy::Span);
        self.ops.orthonormalize(x, method, &mut self.ladder)
    }

    /// Makes the columns of a tall matrix orthonormal; returns R.
    ///
    /// # Errors
    /// As [`Operations::orthonormalize_tall`].
    #[inline(never)]
    pub fn orthonormalize_tall(&mut self, p: &mut Tall) -> Result<Dense> {
        let method = self.basis_method(BasisAccuracy::Basis);
        self.ops.orthonormalize_tall(p, method, &mut self.ladder)
    }

    /// Makes the columns of a tall matrix a well-conditioned basis of their span; returns R.
    ///
    /// # Errors
    /// As [`Operations::orthonormalize_tall`].
    #[inline(never)]
    pub fn span_tall(&mut self, p: &mut Tall) -> Result<Dense> {
        let method = self.basis_method(BasisAccuracy::Span);
        self.ops.orthonormalize_tall(p, method, &mut self.ladder)
    }

    /// How the next basis is computed.
    fn basis_method(&mut self, need: BasisAccuracy) -> BasisMethod {
        let draw = self.bases.draw();
        BasisMethod { kind: self.task.orthonormalization.kind(), need, seed: self.task.sketch.seed, draw }
    }

    /// The report of the run, with the figures of the error.
    ///
    /// # Errors
    /// As [`Run::statistics`].
    #[inline(never)]
    pub fn outcome(&self, rank: usize, error: ErrorFigures) -> Result<Outcome> {
        let statistics = self.statistics()?;
        let norm2 = match self.refined_norm2 {
            Some(norm2) => norm2,
            None if statistics.is_estimate => f64::NAN,
            None => statistics.norm2.max(0.0),
        };
        Ok(Outcome {
            method: self.task.method,
            remark: self.remarks.join("; "),
            orthonormal: self.ladder,
            converged: self.converged,
            passes_restarted: self.passes_restarted,
            rank,
            columns: self.columns,
            norm: norm2.sqrt(),
            max_abs: statistics.max_abs,
            measure: self.measure,
            error,
        })
    }
}
