//! Principal components: what varies most in samples, from a decomposition of the centred data that are never formed.
//! Variances and signs are those of scikit-learn.

use std::sync::Arc;
use std::time::Instant;

use super::algorithm::{ErrorFigures, Outcome, Phase, Run, Task, decompose, passes};
use super::calls::{Call, error_of, task_of};
use super::info::Info;
use super::ops::RsvdOps;
use super::options::{Centering, Options};
use super::plan::{Goal, Plan, Request};
use super::session::{Rsvd, write_vector};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{self, Matrix};
use crate::progress::ProgressFn;
use crate::scalar::{DType, Element, Scalar, with_scalar};
use crate::shape::Order;
use crate::stream::Stream;
use crate::tensor::{Location, Tensor};

/// Which axis of a matrix has the samples. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Samples {
    /// A row is a sample.
    Rows = 0,
    /// A column is a sample.
    Columns = 1,
}

impl Samples {
    /// The choice whose number is `code`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] with the numbers that there are.
    pub fn from_code(argument: &str, code: i32) -> Result<Self> {
        match code {
            0 => Ok(Self::Rows),
            1 => Ok(Self::Columns),
            _ => Err(Error::invalid(argument, format!("is {code}, outside 0 to 1"))),
        }
    }
}

/// How components are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PcaOptions {
    /// Which axis has the samples.
    pub samples: Samples,
    /// Whether the mean of each feature is subtracted.
    pub center: bool,
    /// Whether each feature is divided by its standard deviation; needs `center`.
    pub scale: bool,
    /// Whether scores have variance 1.
    pub whiten: bool,
}

impl Default for PcaOptions {
    fn default() -> Self {
        Self { samples: Samples::Rows, center: true, scale: false, whiten: false }
    }
}

/// What a fit found, in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcaInfo {
    /// Type that was computed with.
    pub dtype: DType,
    /// How it was found.
    pub options: PcaOptions,
    /// Samples.
    pub count: usize,
    /// Features.
    pub features: usize,
    /// Components.
    pub rank: usize,
    /// Sum of the variances of all features.
    pub total_variance: f64,
    /// Mean variance of what the components leave.
    pub noise_variance: f64,
}

/// Components, and what is needed to bring samples to them and back.
pub struct Pca {
    session: Rsvd,
    info: PcaInfo,
    /// Features-by-rank, on the host, packed column by column.
    components: Matrix,
    values: Vec<f64>,
    /// Real parts, then imaginary parts of complex data; empty if nothing was subtracted.
    means: Vec<f64>,
    /// Empty if nothing was divided.
    scales: Vec<f64>,
}

impl Rsvd {
    /// Principal components of `x`, as many as the options' rank. `scores` takes the samples' coordinates: count-by-k, or
    /// k-by-count if the samples are columns. Centring and scaling are those of `options`, not the session's own.
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
        let start = Instant::now();
        self.check_matrix("x", x)?;
        let by_columns = options.samples == Samples::Columns;
        let (count, features) = if by_columns { (x.cols(), x.rows()) } else { (x.rows(), x.cols()) };
        if count < 2 {
            return Err(Error::invalid("x", format!("has {count} samples, at least 2 are needed")));
        }
        if options.scale && !options.center {
            return Err(Error::invalid("scale", "is set without center: a deviation is one from the mean"));
        }
        let mut own = self.options().clone();
        if own.tolerance > 0.0 || own.one_pass {
            return Err(Error::NotSupported("principal components by tolerance, or in one pass of MERGE".into()));
        }
        own.center = match (options.center, by_columns) {
            (false, _) => Centering::None,
            (true, false) => Centering::Columns,
            (true, true) => Centering::Rows,
        };
        own.scale = options.scale;
        let request = Request {
            options: &own,
            contexts: self.contexts(),
            matrix: x,
            goal: Goal::Decompose,
            given: None,
            transposed: Some(by_columns),
        };
        let plan = Plan::new(request)?;
        if let Some(scores) = &scores {
            let (rows, columns) = if by_columns { (plan.rank, count) } else { (count, plan.rank) };
            self.check_output("scores", scores, rows, columns, plan.dtype)?;
        }
        let mut info = self.planned_info(&plan);
        let context = Arc::clone(self.context());
        let components = Matrix::create(&context, plan.dtype, Location::Host, Order::ColumnMajor, features, plan.rank)?;
        let mut fit = Fit {
            options: &own,
            plan: &plan,
            context: &context,
            pca: *options,
            scores,
            components,
            values: Vec::new(),
            means: Vec::new(),
            scales: Vec::new(),
            norm2: 0.0,
        };
        with_scalar!(plan.dtype, "dtype", T => self.call::<T, _>(stream, x, &plan, report, &mut fit, &mut info))?;
        let Fit { components, values, means, scales, norm2, .. } = fit;
        let degrees = (count - 1) as f64;
        let explained = values.iter().map(|s| s * s).sum::<f64>() / degrees;
        let (rank, total_variance) = (values.len(), norm2 / degrees);
        let rest = count.min(features) - rank;
        let noise_variance = if rest > 0 { (total_variance - explained).max(0.0) / rest as f64 } else { 0.0 };
        let found =
            PcaInfo { dtype: plan.dtype, options: *options, count, features, rank, total_variance, noise_variance };
        let session = self.for_products(plan.dtype)?;
        info.seconds_total = start.elapsed().as_secs_f64();
        Ok((Pca { session, info: found, components, values, means, scales }, info))
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
        let mut session = Self::new(self.context(), options)?;
        self.contexts()[1..].iter().try_for_each(|c| session.add_context(Arc::clone(c)))?;
        Ok(session)
    }
}

impl Pca {
    /// What was found, in numbers.
    pub fn info(&self) -> PcaInfo {
        self.info
    }

    /// The context that it belongs to.
    pub fn context(&self) -> &Arc<Context> {
        self.session.context()
    }

    /// The mean of each feature, of the type that was computed with; zeros if nothing was subtracted.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another type or size.
    pub fn mean(&self, mean: &mut Tensor) -> Result<()> {
        mean.expect_dims("mean", &[self.info.features])?;
        with_scalar!(self.info.dtype, "mean", T => {
            let mut view = mean.view_mut::<T>("mean")?;
            (0..self.info.features).for_each(|i| view.set(&[i], self.mean_of(i)));
            Ok(())
        })
    }

    /// What each feature was divided by; ones if it was not.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another type than F64 or F32 or another size.
    pub fn scale(&self, scale: &mut Tensor) -> Result<()> {
        let features = self.info.features;
        super::session::check_vector("scale", scale, features)?;
        if self.scales.is_empty() {
            let ones = crate::alloc::filled("ones", features, 1.0)?;
            return write_vector("scale", scale, &ones);
        }
        write_vector("scale", scale, &self.scales)
    }

    /// Singular values of the centred data.
    ///
    /// # Errors
    /// As [`Pca::scale`].
    pub fn singular_values(&self, values: &mut Tensor) -> Result<()> {
        self.write_each("singular_values", values, |s| s)
    }

    /// Variance along each component: sigma^2 / (count - 1).
    ///
    /// # Errors
    /// As [`Pca::scale`].
    pub fn explained_variance(&self, variance: &mut Tensor) -> Result<()> {
        self.write_each("explained_variance", variance, |s| self.variance(s))
    }

    /// The same over the sum of the variances of all features.
    ///
    /// # Errors
    /// As [`Pca::scale`].
    pub fn explained_variance_ratio(&self, ratio: &mut Tensor) -> Result<()> {
        let total = self.info.total_variance;
        self.write_each("explained_variance_ratio", ratio, |s| if total > 0.0 { self.variance(s) / total } else { 0.0 })
    }

    /// The components, features-by-rank.
    ///
    /// # Errors
    /// As [`matrix::copy`].
    pub fn components(&self, stream: Option<&Stream>, components: &mut Matrix) -> Result<()> {
        components.expect_size("components", self.info.features, self.info.rank)?;
        components.expect_dtype("components", self.info.dtype)?;
        matrix::copy(self.context(), stream, &self.components, components)
    }

    /// The options of the decomposition that found them.
    pub fn session_options(&self) -> &Options {
        self.session.options()
    }

    /// The samples' coordinates: (X - mean) / scale times the components, over the deviations if whitened.
    ///
    /// # Errors
    /// As [`Rsvd::compute`].
    pub fn transform(
        &mut self,
        stream: Option<&Stream>,
        x: &Matrix,
        scores: &mut Matrix,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let (features, rank, dtype) = (self.info.features, self.info.rank, self.info.dtype);
        let by_columns = self.by_columns();
        let (count, found) = if by_columns { (x.cols(), x.rows()) } else { (x.rows(), x.cols()) };
        if found != features {
            return Err(Error::invalid("x", format!("has {found} features, {features} are needed")));
        }
        let (rows, columns) = if by_columns { (rank, count) } else { (count, rank) };
        self.session.check_matrix("x", x)?;
        self.session.check_output("scores", scores, rows, columns, dtype)?;
        with_scalar!(dtype, "dtype", T => {
            let components = host_elements::<T>(&self.components)?;
            let mut w = crate::alloc::filled("weights", features * rank, T::default())?;
            let mut offset = crate::alloc::filled("offsets", rank, T::default())?;
            for j in 0..rank {
                let stretch = self.stretch(j);
                let stretch = if stretch > 0.0 { 1.0 / stretch } else { 0.0 };
                let (mut re, mut im) = (0.0, 0.0);
                for i in 0..features {
                    let c = components[j * features + i];
                    let factor = stretch / self.scale_of(i);
                    let (a, b) = (c.re() * factor, c.im() * factor);
                    w[j * features + i] = T::from_parts(a, b);
                    let mean = self.mean_parts(i);
                    re += mean.0 * a - mean.1 * b;
                    im += mean.0 * b + mean.1 * a;
                }
                offset[j] = T::from_parts(-re, -im);
            }
            self.affine::<T>(stream, x, Affine { w, rows: features, offset, target: scores, by_columns }, report)
        })
    }

    /// Samples from coordinates: what [`Pca::transform`] does undone, but for what the components leave.
    ///
    /// # Errors
    /// As [`Rsvd::compute`].
    pub fn inverse_transform(
        &mut self,
        stream: Option<&Stream>,
        scores: &Matrix,
        x: &mut Matrix,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let (features, rank, dtype) = (self.info.features, self.info.rank, self.info.dtype);
        let by_columns = self.by_columns();
        let (count, found) = if by_columns { (scores.cols(), scores.rows()) } else { (scores.rows(), scores.cols()) };
        if found != rank {
            return Err(Error::invalid("scores", format!("has {found} components, {rank} are needed")));
        }
        let (rows, columns) = if by_columns { (features, count) } else { (count, features) };
        self.session.check_matrix("scores", scores)?;
        self.session.check_output("x", x, rows, columns, dtype)?;
        with_scalar!(dtype, "dtype", T => {
            let components = host_elements::<T>(&self.components)?;
            let mut w = crate::alloc::filled("weights", features * rank, T::default())?;
            let mut offset = crate::alloc::filled("offsets", features, T::default())?;
            for i in 0..features {
                for j in 0..rank {
                    let c = components[j * features + i];
                    let factor = self.stretch(j) * self.scale_of(i);
                    w[i * rank + j] = T::from_parts(c.re() * factor, -c.im() * factor);
                }
                offset[i] = self.mean_of(i);
            }
            self.affine::<T>(stream, scores, Affine { w, rows: rank, offset, target: x, by_columns }, report)
        })
    }

    fn affine<T: Scalar>(
        &self,
        stream: Option<&Stream>,
        a: &Matrix,
        map: Affine<'_, T>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let start = Instant::now();
        let request = Request {
            options: self.session.options(),
            contexts: self.session.contexts(),
            matrix: a,
            goal: Goal::Products(map.offset.len()),
            given: None,
            transposed: Some(map.by_columns),
        };
        let plan = Plan::new(request)?;
        let mut info = self.session.planned_info(&plan);
        if plan.rows > 0 {
            let mut work = Mapped { task: task_of(self.session.options(), &plan), map };
            self.session.call::<T, _>(stream, a, &plan, report, &mut work, &mut info)?;
        }
        info.seconds_total = start.elapsed().as_secs_f64();
        Ok(info)
    }

    fn by_columns(&self) -> bool {
        self.info.options.samples == Samples::Columns
    }

    fn variance(&self, value: f64) -> f64 {
        value * value / (self.info.count - 1) as f64
    }

    /// What scores along component `j` are divided by.
    fn stretch(&self, j: usize) -> f64 {
        if self.info.options.whiten { self.variance(self.values[j]).sqrt() } else { 1.0 }
    }

    fn scale_of(&self, feature: usize) -> f64 {
        self.scales.get(feature).copied().unwrap_or(1.0)
    }

    fn mean_parts(&self, feature: usize) -> (f64, f64) {
        let at = |k: usize| self.means.get(k).copied().unwrap_or(0.0);
        (at(feature), at(self.info.features + feature))
    }

    fn mean_of<T: Scalar>(&self, feature: usize) -> T {
        let (re, im) = self.mean_parts(feature);
        T::from_parts(re, im)
    }

    fn write_each(&self, argument: &str, tensor: &mut Tensor, of: impl Fn(f64) -> f64) -> Result<()> {
        super::session::check_vector(argument, tensor, self.values.len())?;
        let values: Vec<f64> = self.values.iter().map(|s| of(*s)).collect();
        write_vector(argument, tensor, &values)
    }
}

fn host_elements<T: Element>(matrix: &Matrix) -> Result<&[T]> {
    matrix.dense("components")?.memory.host("components")?.as_slice::<T>()
}

/// The decomposition behind a fit; the oriented problem has the samples as rows.
struct Fit<'a> {
    options: &'a Options,
    plan: &'a Plan,
    context: &'a Arc<Context>,
    pca: PcaOptions,
    scores: Option<&'a mut Matrix>,
    components: Matrix,
    values: Vec<f64>,
    means: Vec<f64>,
    scales: Vec<f64>,
    norm2: f64,
}

impl<T: Scalar> Call<T> for Fit<'_> {
    fn run<O: RsvdOps<T>>(&mut self, ops: &mut O, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let mut task = task_of(self.options, self.plan);
        (task.left, task.right, task.phase) = (self.scores.is_some(), true, Phase::Right);
        if self.options.error == super::options::ErrorKind::Probes {
            task.left = true;
        }
        let mut run = Run::new(ops, &task, self.context, passes(task.method, task.iterations, false));
        run.factor = factor;
        let factors = match decompose(&mut run) {
            Ok(factors) => factors,
            Err(e) => {
                *rescale = run.rescale;
                return Err(e);
            }
        };
        let error = error_of(&mut run, &factors)?;
        let outcome = run.outcome(factors.s.len(), error)?;
        let statistics = run.statistics()?;
        self.means.clone_from(&statistics.means);
        self.scales.clone_from(&statistics.scales);
        self.norm2 = statistics.norm2 / (factor * factor);
        self.values = factors.s.iter().map(|s| s / factor).collect();
        if let Some(v) = &factors.v {
            run.ops.write(v, &mut self.components, false, false)?;
        }
        if let (Some(mut u), Some(scores)) = (factors.u, self.scores.as_deref_mut()) {
            let stretched: Vec<f64> = if self.pca.whiten {
                self.values.iter().map(|_| ((self.plan.rows - 1) as f64).sqrt()).collect()
            } else {
                self.values.clone()
            };
            let mut diagonal = run.identity(stretched.len(), stretched.len())?;
            run.ops.scale_columns(&mut diagonal, &stretched)?;
            run.ops.tall_transform(&mut u, &diagonal)?;
            let by_columns = self.pca.samples == Samples::Columns;
            run.ops.tall_write(&u, scores, by_columns, by_columns)?;
        }
        Ok(outcome)
    }
}

/// A W plus the same offset in each row, for rows that are samples.
struct Affine<'a, T> {
    w: Vec<T>,
    rows: usize,
    offset: Vec<T>,
    target: &'a mut Matrix,
    by_columns: bool,
}

/// The same as a call.
struct Mapped<'a, T> {
    task: Task,
    map: Affine<'a, T>,
}

impl<T: Scalar> Call<T> for Mapped<'_, T> {
    fn run<O: RsvdOps<T>>(&mut self, ops: &mut O, factor: f64, _: &mut Option<f64>) -> Result<Outcome> {
        let map = &mut self.map;
        let width = map.offset.len();
        let context = Arc::clone(map.target.context());
        let mut run = Run::new(ops, &self.task, &context, 1);
        run.factor = factor;
        let w = run.ops.upload("weights", map.rows, width, &map.w, map.rows)?;
        let mut p = run.ops.tall("products", width)?;
        run.ops.pass_multiply(&w, &mut p)?;
        // A product needs no squares: the range of the entries does not matter here.
        run.ops.checkpoint(1, 1, 0.0)?;
        let ones = crate::alloc::filled("ones", run.ops.rows(), T::from_parts(1.0, 0.0))?;
        let ones = run.tall_from(&ones, 1)?;
        let offset = run.ops.upload("offsets", 1, width, &map.offset, 1)?;
        run.ops.tall_multiply(1.0, &ones, &offset, 1.0, &mut p)?;
        run.ops.tall_write(&p, map.target, map.by_columns, map.by_columns)?;
        run.outcome(width, ErrorFigures::none())
    }
}
