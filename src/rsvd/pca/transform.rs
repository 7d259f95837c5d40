//! Transforms samples to coordinates and back.

use std::sync::Arc;
use std::time::Instant;

use super::Pca;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::progress::{Progress, ProgressFn};
use crate::rsvd::algorithm::{ErrorFigures, Outcome, Run, Task};
use crate::rsvd::calls::{Call, task_of};
use crate::rsvd::erased::Operations;
use crate::rsvd::info::Info;
use crate::rsvd::options::Centering;
use crate::rsvd::plan::{Goal, Plan, Request, Results, Wanted};
use crate::scalar::{Complex, Element, Scalar, with_scalar};
use crate::stream::Stream;

impl Pca {
    /// The samples' coordinates: (X - mean) / scale times the components, divided by the deviations if whitened.
    ///
    /// # Errors
    /// As [`crate::rsvd::Rsvd::compute`].
    pub fn transform(
        &self,
        stream: Option<&Stream>,
        x: &Matrix,
        scores: &mut Matrix,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let progress = self.session.progress(report);
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
            for j in 0..rank {
                let stretch = self.stretch(j);
                let stretch = if stretch > 0.0 { 1.0 / stretch } else { 0.0 };
                for i in 0..features {
                    let c = components[j * features + i];
                    let factor = stretch / self.scale_of(i);
                    let weight = T::from_parts(c.re() * factor, c.im() * factor);
                    if !(weight.re().is_finite() && weight.im().is_finite()) {
                        let divisor = self.scale_of(i) * self.stretch(j);
                        let problem = format!("feature {i} is divided by {divisor:e}, too small for {}", dtype.name());
                        return Err(Error::Numerical(problem));
                    }
                    w[j * features + i] = weight;
                }
            }
            let shift = if self.means.is_empty() { Shift::None } else { Shift::Before(&self.means) };
            let map = Affine { w, rows: features, width: rank, shift, target: scores, by_columns };
            self.affine::<T>(stream, x, map, &progress)
        })
    }

    /// Samples from coordinates: the inverse of [`Pca::transform`], without the part of a sample that the components do not
    /// span.
    ///
    /// # Errors
    /// As [`crate::rsvd::Rsvd::compute`].
    pub fn inverse_transform(
        &self,
        stream: Option<&Stream>,
        scores: &Matrix,
        x: &mut Matrix,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let progress = self.session.progress(report);
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
            let shift = if self.means.is_empty() { Shift::None } else { Shift::After(offset) };
            let map = Affine { w, rows: rank, width: features, shift, target: x, by_columns };
            self.affine::<T>(stream, scores, map, &progress)
        })
    }

    fn affine<T: Scalar>(
        &self,
        stream: Option<&Stream>,
        a: &Matrix,
        map: Affine<'_, T>,
        progress: &Progress<'_>,
    ) -> Result<Info> {
        let start = Instant::now();
        let is_centred = matches!(map.shift, Shift::Before(_));
        let mut options = self.session.options().clone();
        // Dense entries are centred with the means of the fit. For sparse matrices and operators the products are corrected
        // instead, and centring stays off so that no pass looks for means of their own.
        if is_centred && matches!(a.storage(), Storage::Dense { .. } | Storage::Streamed(_)) {
            options.center = if map.by_columns { Centering::Rows } else { Centering::Columns };
        }
        let request = Request {
            options: &options,
            contexts: self.session.contexts(),
            matrix: a,
            goal: Goal::Map { width: map.width, is_centred },
            given: None,
            transposed: Some(map.by_columns),
            wanted: Wanted::ALL,
            results: Results::default(),
            excluded: &[],
        };
        let plan = Plan::new(request)?;
        let mut info = self.session.planned_info(&plan);
        if plan.rows > 0 {
            let mut work = Mapped { task: task_of(self.session.options(), &plan), map };
            self.session.call::<T>(stream, a, &plan, progress, &mut work, &mut info)?;
        }
        // Also without samples.
        info.converged = true;
        info.seconds = start.elapsed().as_secs_f64();
        Ok(info)
    }
}

fn host_elements<T: Element>(matrix: &Matrix) -> Result<&[T]> {
    matrix.dense("components")?.memory.host("components")?.as_slice::<T>()
}

/// The shift of an affine map.
enum Shift<'a, T> {
    None,
    /// Means that are subtracted from rows before the product. In single precision the product of a row far from the origin
    /// would lose the significant digits.
    Before(&'a [f64]),
    /// Offset that is added to each row of the product.
    After(Vec<T>),
}

/// An affine map of samples: a product with weights, and a shift.
struct Affine<'a, T> {
    w: Vec<T>,
    rows: usize,
    width: usize,
    shift: Shift<'a, T>,
    target: &'a mut Matrix,
    by_columns: bool,
}

impl<T: Scalar> Affine<'_, T> {
    /// The offset of products that corresponds to subtracted means: minus the means times the rounded weights.
    fn lost(&self, means: &[f64]) -> Result<Vec<T>> {
        let mut lost = crate::alloc::filled("offsets", self.width, T::default())?;
        for (to, w) in lost.iter_mut().zip(self.w.chunks_exact(self.rows.max(1))) {
            let imaginary = |i: usize| means.get(self.rows + i).copied().unwrap_or(0.0);
            let sum: Complex<f64> = (w.iter().enumerate())
                .map(|(i, w)| Complex::new(means[i], imaginary(i)) * Complex::new(w.re(), w.im()))
                .sum();
            *to = T::from_parts(-sum.re, -sum.im);
        }
        Ok(lost)
    }
}

/// Bytes of the means of a [`Shift::Before`].
pub(in crate::rsvd) fn map_means_bytes(columns: usize, is_centred: bool) -> usize {
    if is_centred { columns.saturating_mul(size_of::<Complex<f64>>()) } else { 0 }
}

/// An [`Affine`] map as a call.
struct Mapped<'a, T> {
    task: Task,
    map: Affine<'a, T>,
}

impl<T: Scalar> Call for Mapped<'_, T> {
    fn run(&mut self, ops: &mut dyn Operations, factor: f64, _: &mut Option<f64>) -> Result<Outcome> {
        let map = &mut self.map;
        let width = map.width;
        let context = Arc::clone(map.target.context());
        let mut run = Run::new(ops, &self.task, &context, 1);
        run.factor = factor;
        // The host copy of the weights, in addition to the backend's.
        let bytes = map.w.len().saturating_mul(size_of::<T>());
        let _charge = run.ops.charge(&context, "weights", bytes)?;
        let w = run.ops.upload("weights", map.rows, width, &map.w)?;
        let is_centred = matches!(map.shift, Shift::Before(_));
        let _means = run.ops.charge(&context, "means of columns", map_means_bytes(map.rows, is_centred))?;
        let lost;
        let offset = match &map.shift {
            Shift::None => None,
            Shift::After(offset) => Some(offset),
            Shift::Before(means) if run.ops.set_means(means)? => None,
            Shift::Before(means) => {
                lost = map.lost(means)?;
                Some(&lost)
            }
        };
        let mut p = run.ops.tall("products", width)?;
        run.ops.pass_multiply(&w, &mut p)?;
        // A product needs no squares, so the range of the entries is not checked.
        run.complete()?;
        if let Some(offset) = offset {
            let ones = run.ops.tall_ones(&context)?;
            let offset = run.ops.upload("offsets", 1, width, offset)?;
            run.ops.tall_multiply(1.0, &ones, &offset, 1.0, &mut p)?;
        }
        run.ops.tall_write(&p, map.target, map.by_columns, map.by_columns)?;
        run.outcome(width, ErrorFigures::none())
    }
}
