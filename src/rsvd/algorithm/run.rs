//! Steps that the methods share: the start, orthonormalization, and the work between passes.
//!
//! These steps are never inlined: each takes far longer than a call, and every method calls many of them.

use std::sync::Arc;

use super::rescale::{expect_same_data, repeated_with};
use super::{ErrorFigures, Outcome, Task};
use crate::context::Context;
use crate::dense::Op;
use crate::dense::orthonormal::{BasisAccuracy, BasisMethod, Counts};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::rsvd::erased::{Dense, Operations, Tall};
use crate::rsvd::options::{IterationPrecision, unit_roundoff};
use crate::rsvd::restart::{Restart, bytes_of_number};
use crate::rsvd::statistics::{CorrectionError, LEAST_DEVIATION, Statistics};
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
    /// A basis W.
    Basis(Dense),
    /// A product A W.
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

    /// Called before A^H (A W) is formed: refuses an operator whose product would overflow. Other data are checked after
    /// their first pass.
    ///
    /// # Errors
    /// As [`Run::check_range`].
    pub fn look(&mut self) -> Result<()> {
        self.ops.look()?;
        if self.ops.statistics().is_some() { self.check_range() } else { Ok(()) }
    }

    /// Refuses data whose squares overflow or vanish, and sets `rescale` to the factor that they need.
    ///
    /// # Errors
    /// [`Error::Numerical`] if `rescale` is set, for columns whose deviation is lost in spite of the factor, and for
    /// sparse data and operators that are lost in the correction for means; [`Error::InvalidArgument`] for data that
    /// are not those of a saved state; [`Error::Internal`] before the first pass.
    pub fn check_range(&mut self) -> Result<()> {
        self.check_range_of(|statistics| statistics.size)
    }

    /// [`Run::check_range`] by the `size` of the numbers that are squared.
    fn check_range_of(&mut self, size: fn(&Statistics) -> f64) -> Result<()> {
        let roundoff = self.roundoff();
        if let (Some(restart), Some(statistics)) = (self.restart.as_mut(), self.ops.statistics()) {
            restart.note(statistics, roundoff)?;
        }
        if self.ops.factor() == 1.0 {
            let statistics = self.statistics()?;
            let size = size(statistics);
            self.rescale = repeated_with(self.ops.dtype(), statistics, size);
            if self.rescale.is_some() {
                return Err(Error::Numerical(format!("entries of up to {size:e} cannot be squared")));
            }
        }
        let Some(statistics) = self.ops.statistics() else { return Ok(()) };
        expect_same_data(self.ops.factor(), statistics)?;
        if let Some(j) = statistics.lost {
            let line = if self.transposed { "row" } else { "column" };
            let most = statistics.max_abs;
            let problem = format!(
                "is below about {LEAST_DEVIATION:e} times the largest entry, {most:.3e}, and cannot be computed"
            );
            return Err(Error::Numerical(format!("scale: the deviation of {line} {j} (from 0) {problem}")));
        }
        if let Some(CorrectionError { line, is_row, mean, norm: error }) = statistics.hidden_by {
            let name = if is_row { "row" } else { "column" };
            let problem =
                format!("the mean {mean:e} of {name} {line} (from 0) is subtracted from products of an operator");
            let rounding = format!("whose rounding error, about {:e}, hides the centred data", error / self.factor);
            return Err(Error::Numerical(format!("center: {problem}, {rounding}")));
        }
        let norm = statistics.norm2.max(0.0).sqrt();
        match statistics.correction {
            Some(CorrectionError { line, is_row, mean, norm: error }) if error > norm && norm > 0.0 => {
                let name = if is_row { "row" } else { "column" };
                let problem = format!("the mean {mean:e} of {name} {line} (from 0) is subtracted from products");
                let error = error / self.factor;
                let norm = norm / self.factor;
                let rounding =
                    format!("whose rounding error, up to {error:e}, exceeds the norm {norm:e} of the centred data");
                Err(Error::Numerical(format!("center: {problem}, {rounding}")))
            }
            _ => Ok(()),
        }
    }

    /// After a failure within a pass, sets `rescale` if the data cannot be squared. A pass without squares finds that out.
    pub fn diagnose(&mut self) {
        if self.rescale.is_some() || self.ops.factor() != 1.0 {
            return;
        }
        let n = self.ops.columns();
        let looked = self.ops.statistics().is_some()
            || self
                .ops
                .zeros("zero", n, 1)
                .and_then(|w| self.ops.tall("zero", 1).map(|p| (w, p)))
                .and_then(|(w, mut p)| self.ops.pass_multiply(&w, &mut p))
                .is_ok();
        if looked {
            // The check sets `rescale`. The caller reports the original failure. Products of sparse matrices are formed of entries
            // that are not centred.
            let _ = self.check_range_of(|statistics| statistics.size.max(statistics.read));
        }
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

    /// op(A) op(B) in a new matrix.
    ///
    /// # Errors
    /// Errors of the backend.
    #[inline(never)]
    pub fn product(&mut self, a: &Dense, op_a: Op, b: &Dense, op_b: Op) -> Result<Dense> {
        let (pick_rows, pick_columns) = (self.ops.shape(a), self.ops.shape(b));
        let rows = if op_a == Op::Plain { pick_rows.0 } else { pick_rows.1 };
        let columns = if op_b == Op::Plain { pick_columns.1 } else { pick_columns.0 };
        let mut c = self.ops.zeros("product", rows, columns)?;
        self.ops.multiply(1.0, a, op_a, b, op_b, 0.0, &mut c)?;
        Ok(c)
    }

    /// A copy of the first `count` columns.
    ///
    /// # Errors
    /// Errors of the backend.
    #[inline(never)]
    pub fn head(&mut self, m: &Dense, count: usize) -> Result<Dense> {
        let rows = self.ops.shape(m).0;
        let mut head = self.ops.zeros("leading columns", rows, count)?;
        self.ops.copy_columns(m, 0, count, &mut head, 0)?;
        Ok(head)
    }

    /// The first columns of the identity, `rows`-by-`columns`.
    ///
    /// # Errors
    /// As [`Operations::identity`].
    #[inline(never)]
    pub fn identity(&mut self, rows: usize, columns: usize) -> Result<Dense> {
        self.ops.identity("identity", rows, columns)
    }

    /// The first columns of the identity as a tall matrix.
    ///
    /// # Errors
    /// As [`Operations::tall_identity`].
    pub fn tall_identity(&mut self, columns: usize) -> Result<Tall> {
        self.ops.tall_identity(self.context, columns)
    }

    /// A tall copy of `m`, which has as many rows as A.
    ///
    /// # Errors
    /// As [`Operations::tall_of`].
    #[inline(never)]
    pub fn tall_of(&mut self, m: &Dense) -> Result<Tall> {
        self.ops.tall_of(self.context, m)
    }

    /// The first column of P that holds a number that is not finite.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn tall_not_finite(&mut self, p: &Tall) -> Result<Option<usize>> {
        let found = self.ops.tall_not_finite(p)?;
        if found.is_none() || self.ops.dtype().is_single() {
            return Ok(found);
        }
        // The norm of finite numbers may overflow, but no sum of them times 2^-1000 does.
        let mut tiny = self.ops.tall_ones(self.context)?;
        self.scale_tall(&mut tiny, (-1000f64).exp2())?;
        let mut sums = self.ops.zeros("sums of columns", 1, self.ops.tall_width(p))?;
        self.ops.tall_cross(&tiny, p, &mut sums)?;
        Ok(self.ops.column_norms(&sums)?.iter().position(|sum| !sum.is_finite()))
    }

    /// Refuses a tall matrix, the result `name`, with a number that is not finite.
    ///
    /// # Errors
    /// [`Error::Numerical`], which names the first column that has one, as a number of `column`, and its first row,
    /// which is a sample; errors of the backend.
    pub fn expect_in_range(&mut self, p: &Tall, (name, column): (&str, &str)) -> Result<()> {
        let Some(j) = self.tall_not_finite(p)? else { return Ok(()) };
        let row = self.ops.tall_row_not_finite(self.context, p, j)?;
        let sample = row.map_or("a sample".into(), |i| format!("sample {i}"));
        let dtype = self.ops.dtype().name();
        Err(Error::Numerical(format!("{name}: {column} {j} of {sample} is beyond the range of {dtype}")))
    }

    /// P := `by` P for a power of two, which need not be a number of the type.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn scale_tall(&mut self, p: &mut Tall, mut by: f64) -> Result<()> {
        let width = self.ops.tall_width(p);
        let most = if self.ops.dtype().is_single() { 120f64.exp2() } else { 1000f64.exp2() };
        while by != 1.0 {
            let step = by.clamp(1.0 / most, most);
            by /= step;
            let ones = self.ops.tall_ones(self.context)?;
            let zeros = self.ops.zeros("offsets", 1, width)?;
            self.ops.tall_multiply(1.0, &ones, &zeros, step, p)?;
        }
        Ok(())
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
