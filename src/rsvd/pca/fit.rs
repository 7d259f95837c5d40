//! Computes components from samples by a randomized SVD.

use std::sync::Arc;
use std::time::Instant;

use super::pca::variance_of;
use super::plan::{PlannedFit, has_other_scores};
use super::rounding::{Means, roundings_of};
use super::{Pca, PcaInfo, PcaOptions, Samples};
use crate::alloc;
use crate::backend::Backend;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::progress::{Progress, ProgressFn};
use crate::rsvd::algorithm::{Outcome, Phase, Run, decompose, estimate, passes};
use crate::rsvd::calls::{Call, error_of, task_of};
use crate::rsvd::erased::Operations;
use crate::rsvd::info::Info;
use crate::rsvd::options::{Method, Options};
use crate::rsvd::outputs::{first_lost, largest_zero};
use crate::rsvd::plan::Plan;
use crate::rsvd::session::Rsvd;
use crate::scalar::{DType, with_scalar};
use crate::shape::Order;
use crate::stream::Stream;
use crate::tensor::Location;

impl Rsvd {
    /// Principal components of `x`; their number is the rank of the session's options. `scores` receives the samples'
    /// coordinates: count-by-k, or k-by-count if the samples are columns. Centring and scaling are those of `options`, not
    /// the session's own.
    ///
    /// # Errors
    /// As [`Rsvd::compute`]; [`Error::InvalidArgument`] for fewer than two samples.
    pub fn fit_pca(
        &mut self,
        stream: Option<&Stream>,
        x: &Matrix,
        options: &PcaOptions,
        scores: Option<&mut Matrix>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(Pca, Info)> {
        self.fit_samples(stream, x, options, scores, report).map_err(|e| e.renamed("a", "x"))
    }

    /// [`Rsvd::fit_pca`], whose errors call the samples `a`.
    fn fit_samples(
        &mut self,
        stream: Option<&Stream>,
        x: &Matrix,
        options: &PcaOptions,
        scores: Option<&mut Matrix>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(Pca, Info)> {
        let (start, progress) = (Instant::now(), self.progress(report));
        let with_scores = scores.is_some();
        let mut scores = scores;
        let arguments = Arguments { stream, x, options: *options, progress: &progress, start };
        let plan = |excluded: &[Method]| self.planned_fit(x, options, with_scores, excluded);
        self.choosing(&progress, plan, |planned| self.fit_planned(planned, &arguments, scores.as_deref_mut()))
    }

    /// Fits by the method of a plan.
    fn fit_planned(
        &self,
        planned: &PlannedFit,
        &Arguments { stream, x, options, progress, start }: &Arguments<'_>,
        scores: Option<&mut Matrix>,
    ) -> Result<(Pca, Info)> {
        let PlannedFit { options: own, plan, count, features, .. } = planned;
        let (count, features) = (*count, *features);
        if let Some(scores) = &scores {
            let by_columns = options.samples == Samples::Columns;
            let (rows, columns) = if by_columns { (plan.rank, count) } else { (count, plan.rank) };
            self.check_output("scores", scores, rows, columns, plan.dtype)?;
        }
        let mut info = self.planned_info(plan);
        let context = Arc::clone(self.context());
        let components = Matrix::create(&context, plan.dtype, Location::Host, Order::ColumnMajor, features, plan.rank)?;
        let charge = planned.charge_numbers(&context)?;
        // A GPU subtracts means from products of sparse matrices after it has rounded these to the type.
        let is_rounded_first = matches!(x.storage(), Storage::Csr(_)) && matches!(context.backend(), Backend::Gpu(_));
        let mean_epsilon = if is_rounded_first { plan.dtype.epsilon() } else { f64::EPSILON };
        let mut fit = Fit {
            options: own,
            plan,
            context: &context,
            pca: options,
            mean_epsilon,
            scores,
            components,
            values: Vec::new(),
            means: Vec::new(),
            scales: Vec::new(),
            constants: Vec::new(),
            total_variance: 0.0,
        };
        with_scalar!(plan.dtype, "dtype", T => self.call::<T>(stream, x, plan, progress, &mut fit, &mut info))?;
        planned.add_planned_result(&context, &mut info);
        planned.add_used_result(&mut info);
        let Fit { components, values, means, scales, constants, total_variance, .. } = fit;
        let (rank, degrees) = (values.len(), (count - 1) as f64);
        let is_number = total_variance == 0.0 || (f64::MIN_POSITIVE..=f64::MAX).contains(&total_variance);
        if !is_number || (total_variance == 0.0 && values.iter().any(|s| *s > 0.0)) {
            let problem =
                format!("x: samples with singular values of {:e} and less have the total variance", values[0]);
            let problem = format!("{problem} {total_variance:e}, beyond the normal numbers of double precision");
            return Err(Error::Numerical(problem));
        }
        let mut explained = values.iter().map(|s| s * s).sum::<f64>() / degrees;
        if explained.is_infinite() {
            explained = values.iter().map(|s| variance_of(*s, degrees)).sum();
        }
        let rest = count.min(features) - rank;
        let noise_variance = if rest > 0 { (total_variance - explained).max(0.0) / rest as f64 } else { 0.0 };
        let roundings = {
            let means = Means { means: &means, epsilon: mean_epsilon, scales: &scales };
            roundings_of(&values, &components, &means, count, plan.dtype)?
        };
        let (dtype, rounding) = (plan.dtype, roundings.all);
        let roundings = roundings.each;
        let found = PcaInfo { dtype, options, count, features, rank, total_variance, noise_variance, rounding };
        let session = self.for_products(plan.dtype)?;
        let info = self.reported(info, start);
        let pca =
            Pca { session, info: found, components, values, roundings, means, scales, constants, _charge: charge };
        Ok((pca, info))
    }

    /// A session on the same contexts for products with the components.
    fn for_products(&self, dtype: DType) -> Result<Self> {
        let own = self.options();
        let options = Options {
            dtype: Some(dtype),
            rank: 1,
            block_rows: own.block_rows,
            resident_rows: own.resident_rows,
            ..Options::default()
        };
        Self::over(self.group(), options)
    }
}

/// The arguments of a fit, but for the scores.
struct Arguments<'a> {
    stream: Option<&'a Stream>,
    x: &'a Matrix,
    options: PcaOptions,
    progress: &'a Progress<'a>,
    /// Start of the seconds of the report.
    start: Instant,
}

/// The decomposition behind a fit; the oriented problem has the samples as rows.
struct Fit<'a> {
    options: &'a Options,
    plan: &'a Plan,
    context: &'a Arc<Context>,
    pca: PcaOptions,
    /// The rounding of means in products, relative to them.
    mean_epsilon: f64,
    scores: Option<&'a mut Matrix>,
    components: Matrix,
    values: Vec<f64>,
    means: Vec<f64>,
    scales: Vec<f64>,
    constants: Vec<usize>,
    total_variance: f64,
}

impl Call for Fit<'_> {
    fn run(&mut self, ops: &mut dyn Operations, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let mut task = task_of(self.options, self.plan);
        (task.left, task.right, task.phase) = (self.scores.is_some(), true, Phase::Right);
        if self.options.error.is_probed() || self.plan.estimates_norm {
            task.left = true;
        }
        let steps = self.plan.passes.unwrap_or_else(|| passes(task.method, task.iterations, false));
        let mut run = Run::new(ops, &task, self.context, steps);
        (run.factor, run.transposed) = (factor, self.plan.transposed);
        let factors = match decompose(&mut run) {
            Ok(factors) => factors,
            Err(e) => {
                *rescale = run.rescale;
                return Err(e);
            }
        };
        let mut error = error_of(&mut run, &factors)?;
        if self.plan.estimates_norm && run.refined_norm2.is_none() {
            // Only probes give the total variance of an operator.
            if let (Some(u), Some(v)) = (&factors.u, &factors.v) {
                error = estimate::probe(&mut run, estimate::Relation::of(self.plan.method), u, &factors.s, v)?;
            }
        }
        let outcome = run.outcome(factors.s.len(), error)?;
        let statistics = run.statistics()?;
        self.means = alloc::copied("means of features", &statistics.means)?;
        self.scales = alloc::copied("scales of features", &statistics.scales)?;
        if self.options.scale {
            self.constants = alloc::copied("constant features", &statistics.constants)?;
            self.constants.iter().for_each(|j| self.scales[*j] = f64::INFINITY);
        }
        let norm2 = run.refined_norm2.unwrap_or(statistics.norm2);
        // The sum of squares may overflow in the unit of the samples where the variance does not.
        self.total_variance = norm2 / (self.plan.rows - 1) as f64 / factor / factor;
        self.values = alloc::collected("singular values", factors.s.iter().map(|s| s / factor))?;
        if let Some(v) = &factors.v {
            run.ops.write(v, &mut self.components, false, false)?;
        }
        if let (Some(mut u), Some(v), Some(scores)) = (factors.u, &factors.v, self.scores.as_deref_mut()) {
            let whole = ((self.plan.rows - 1) as f64).sqrt();
            let has_other = has_other_scores(self.plan.method);
            let dtype = self.plan.dtype;
            let means = Means { means: &self.means, epsilon: self.mean_epsilon, scales: &self.scales };
            let roundings = roundings_of(&self.values, &self.components, &means, self.plan.rows, dtype)?;
            let zero = largest_zero(&factors.s, dtype).max(roundings.all * factor);
            let lost = first_lost(&factors.s, |s| s / factor, zero, dtype);
            if let (Some((j, norm)), false) = (lost, self.pca.whiten) {
                let problem =
                    format!("component {j} has scores of norm {norm:e}, which {} does not hold", dtype.name());
                return Err(Error::Numerical(format!("scores: {problem}")));
            }
            // In the unit of the run, where the type holds them.
            let factor_of = |(s, rounding): (&f64, &f64)| match (has_other, self.pca.whiten) {
                // A direction without variance has no scores.
                (_, true) if *s / factor <= *rounding => 0.0,
                (false, true) => whole,
                (false, false) => *s,
                (true, false) => 1.0,
                (true, true) => whole / *s,
            };
            let stretched = alloc::collected("scales of scores", factors.s.iter().zip(&roundings.each).map(factor_of))?;
            if has_other {
                // The triplets may not have converged. The scores are the samples times the components, as in `transform`.
                drop(u);
                u = run.ops.tall("scores", stretched.len())?;
                run.expect(1);
                run.ops.pass_multiply(v, &mut u)?;
                run.pass_done(None)?;
            }
            let mut diagonal = run.identity(stretched.len(), stretched.len())?;
            run.ops.scale_columns(&mut diagonal, &stretched)?;
            run.ops.tall_transform(&mut u, &diagonal)?;
            if !self.pca.whiten {
                run.scale_tall(&mut u, 1.0 / factor)?;
            }
            run.expect_in_range(&u, ("scores", "component"))?;
            run.complete()?;
            let by_columns = self.pca.samples == Samples::Columns;
            run.ops.tall_write(&u, scores, by_columns, by_columns)?;
        } else {
            run.complete()?;
        }
        Ok(outcome)
    }
}
