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
use crate::rsvd::ops::Prepared;
use crate::rsvd::options::Centering;
use crate::rsvd::plan::{Goal, Plan, Request, Results, Wanted};
use crate::rsvd::restart::Attempt;
use crate::scalar::{Complex, DType, Element, Scalar, is_finite, with_scalar};
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
        // Scores of the samples' own unit are multiplied by this factor, and products with the weights are divided by it.
        let unit = if self.scales.is_empty() { self.unit() } else { 1.0 };
        let whitens = self.info.options.whiten;
        with_scalar!(dtype, "dtype", T => {
            let components = host_elements::<T>(&self.components)?;
            let mut w = crate::alloc::filled("weights", features * rank, T::default())?;
            for j in 0..rank {
                // The factor takes part in the divisors of whitened scores.
                let stretch = if whitens { self.stretch(j) * unit } else { 1.0 };
                let by = if stretch > 0.0 { 1.0 / stretch } else { 0.0 };
                for i in (0..features).filter(|i| !self.is_constant(*i)) {
                    let c = components[j * features + i];
                    w[j * features + i] = T::from_parts(c.re() * by, c.im() * by);
                }
            }
            let shift = match &self.means[..] {
                [] => Shift::None,
                means => Shift::Before { means, divisors: &self.scales },
            };
            let names = ("scores", "component");
            let gain = if whitens { 1.0 / unit } else { 1.0 };
            let map = Affine { w, rows: features, width: rank, shift, target: scores, by_columns, unit, gain, names };
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
        // Scores of a model that neither scales nor whitens have the unit of its samples.
        let has_own_unit = self.scales.is_empty() && !self.info.options.whiten;
        let unit = if has_own_unit { self.unit() } else { 1.0 };
        let gain = self.weight_gain();
        with_scalar!(dtype, "dtype", T => {
            let components = host_elements::<T>(&self.components)?;
            let mut w = crate::alloc::filled("weights", features * rank, T::default())?;
            for i in 0..features {
                let scale = self.scale_of(i) * gain;
                for j in 0..rank {
                    let c = components[j * features + i];
                    let factor = self.stretch(j) * scale;
                    w[i * rank + j] = T::from_parts(c.re() * factor, -c.im() * factor);
                }
            }
            let shift = if self.means.is_empty() { Shift::None } else { Shift::After { means: &self.means } };
            let names = ("x", "feature");
            let map = Affine { w, rows: rank, width: features, shift, target: x, by_columns, unit, gain, names };
            self.affine::<T>(stream, scores, map, &progress)
        })
    }

    /// The power of two that brings the fit's samples into the range of products, for a model without scales.
    fn unit(&self) -> f64 {
        let largest = self.values.first().copied().unwrap_or(0.0);
        let most = self.means.iter().fold(largest, |most, mean| most.max(mean.abs()));
        into_range(most.log2(), self.info.dtype)
    }

    /// The power of two that weights from scores to samples are multiplied by, so that the type holds them.
    fn weight_gain(&self) -> f64 {
        let log2 = |most: f64, x: f64| if x > 0.0 { most.max(x.log2()) } else { most };
        let stretch = (0..self.info.rank).map(|j| self.stretch(j)).fold(f64::NEG_INFINITY, log2);
        let least = if self.scales.is_empty() { 0.0 } else { f64::NEG_INFINITY };
        let scales = self.scales.iter().copied().filter(|scale| scale.is_finite());
        into_range(stretch + scales.fold(least, log2), self.info.dtype)
    }

    fn affine<T: Scalar>(
        &self,
        stream: Option<&Stream>,
        a: &Matrix,
        map: Affine<'_, T>,
        progress: &Progress<'_>,
    ) -> Result<Info> {
        let start = Instant::now();
        let is_centred = matches!(map.shift, Shift::Before { .. });
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

/// The power of two nearest to 1 that brings numbers of up to 2 to this exponent into the range in which the type forms
/// products. Numbers far below them keep most of their digits.
fn into_range(exponent: f64, dtype: DType) -> f64 {
    let bound = if dtype.is_single() { 100.0 } else { 1000.0 };
    // Of zeros alone it is 1.
    if !exponent.is_finite() {
        return 1.0;
    }
    (exponent.clamp(-bound, bound) - exponent).floor().clamp(-1000.0, 1000.0).exp2()
}

fn host_elements<T: Element>(matrix: &Matrix) -> Result<&[T]> {
    matrix.dense("components")?.memory.host("components")?.as_slice::<T>()
}

/// The shift of an affine map.
enum Shift<'a> {
    None,
    /// Means that are subtracted from rows before the product, and divisors of the differences, or none. A divisor may be
    /// infinite: the weights there are 0. In single precision, the product of a row far from the origin would lose the
    /// significant digits.
    Before {
        means: &'a [f64],
        divisors: &'a [f64],
    },
    /// Means that are added to each row of the product.
    After {
        means: &'a [f64],
    },
}

/// An affine map of samples: a product with weights, and a shift.
struct Affine<'a, T> {
    w: Vec<T>,
    rows: usize,
    width: usize,
    shift: Shift<'a>,
    target: &'a mut Matrix,
    by_columns: bool,
    /// The power of two that samples are multiplied by at first.
    unit: f64,
    /// The power of two that `w` is multiplied by already.
    gain: f64,
    /// The result and its columns, in messages.
    names: (&'static str, &'static str),
}

impl<T: Scalar> Affine<'_, T> {
    /// Divides the weights of each feature, for samples that are not divided themselves.
    fn divide(&mut self, divisors: &[f64]) -> Result<()> {
        for (k, w) in self.w.iter_mut().enumerate() {
            let divisor = divisors.get(k % self.rows).copied().unwrap_or(1.0);
            *w = T::from_parts(w.re() / divisor, w.im() / divisor);
            if !is_finite(*w) {
                let feature = k % self.rows;
                let problem = format!("feature {feature} is divided by {divisor:e}, too small for {}", T::DTYPE.name());
                return Err(Error::Numerical(problem));
            }
        }
        Ok(())
    }

    /// The offset of products that corresponds to subtracted means: minus the means times the rounded weights.
    fn lost(&self, means: &[f64], by: f64) -> Result<Vec<T>> {
        let mut lost = crate::alloc::filled("offsets", self.width, T::default())?;
        for (to, w) in lost.iter_mut().zip(self.w.chunks_exact(self.rows.max(1))) {
            let imaginary = |i: usize| means.get(self.rows + i).copied().unwrap_or(0.0);
            let sum: Complex<f64> = (w.iter().enumerate())
                .map(|(i, w)| Complex::new(means[i] * by, imaginary(i) * by) * Complex::new(w.re(), w.im()))
                .sum();
            *to = T::from_parts(-sum.re, -sum.im);
        }
        Ok(lost)
    }

    /// The offset that adds the means times `by` to products.
    fn added(&self, means: &[f64], by: f64) -> Result<Vec<T>> {
        let imaginary = |i: usize| means.get(self.width + i).copied().unwrap_or(0.0);
        let of = |i: usize| T::from_parts(means[i] * by, imaginary(i) * by);
        crate::alloc::collected("offsets", (0..self.width).map(of))
    }

    /// The power of two for another try, after a product of samples times `factor` overflowed: sums of products of that many
    /// numbers are then within the type if the result is.
    fn smaller(&self, run: &Run<'_>, factor: f64) -> Result<f64> {
        let divides = matches!(self.shift, Shift::Before { divisors, .. } if !divisors.is_empty());
        let most = run.statistics()?.max_abs * factor;
        let beyond = if divides { 0.0 } else { (most.log2() - T::DTYPE.largest_exponent() as f64).max(0.0) };
        let terms = (run.ops.rows().max(1) as f64 * run.ops.columns().max(1) as f64).sqrt();
        Ok(factor * (-(4.0 + terms.log2().ceil() + beyond.ceil())).clamp(-1000.0, 0.0).exp2())
    }
}

/// Bytes of the means of a [`Shift::Before`], and of their units and gains.
pub(in crate::rsvd) fn map_means_bytes(columns: usize, is_centred: bool) -> usize {
    if is_centred { columns.saturating_mul(size_of::<Complex<f64>>() + 2 * size_of::<f64>()) } else { 0 }
}

/// An [`Affine`] map as a call.
struct Mapped<'a, T> {
    task: Task,
    map: Affine<'a, T>,
}

impl<T: Scalar> Call for Mapped<'_, T> {
    fn prepare(&mut self, _: &mut dyn FnMut() -> Result<u64>) -> Result<Attempt> {
        Ok(Attempt { factor: self.map.unit, earlier_passes: 0 })
    }

    fn run(&mut self, ops: &mut dyn Operations, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let map = &mut self.map;
        let width = map.width;
        let context = Arc::clone(map.target.context());
        let mut run = Run::new(ops, &self.task, &context, 1);
        run.factor = factor;
        // The host copy of the weights, in addition to the backend's.
        let bytes = map.w.len().saturating_mul(size_of::<T>());
        let _charge = run.ops.charge(&context, "weights", bytes)?;
        let is_centred = matches!(map.shift, Shift::Before { .. });
        let _means = run.ops.charge(&context, "means of columns", map_means_bytes(map.rows, is_centred))?;
        let offset = match map.shift {
            Shift::None => None,
            Shift::After { means } => Some(map.added(means, factor * map.gain)?),
            Shift::Before { means, divisors } => {
                let prepared = run.ops.set_columns(means, divisors)?;
                if prepared != Prepared::Divided && !divisors.is_empty() && factor == map.unit {
                    map.divide(divisors)?;
                }
                if prepared == Prepared::Nothing { Some(map.lost(means, factor)?) } else { None }
            }
        };
        let w = run.ops.upload("weights", map.rows, width, &map.w)?;
        let mut p = run.ops.tall("products", width)?;
        run.ops.pass_multiply(&w, &mut p)?;
        // A product needs no squares, so the range of the entries is not checked.
        run.complete()?;
        if let Some(offset) = offset {
            let ones = run.ops.tall_ones(&context)?;
            let offset = run.ops.upload("offsets", 1, width, &offset)?;
            run.ops.tall_multiply(1.0, &ones, &offset, 1.0, &mut p)?;
        }
        let by = 1.0 / factor / map.gain;
        if by.is_normal() {
            run.scale_tall(&mut p, by)?;
        } else {
            run.scale_tall(&mut p, 1.0 / factor)?;
            run.scale_tall(&mut p, 1.0 / map.gain)?;
        }
        if let Some(j) = run.tall_not_finite(&p)? {
            if factor == map.unit {
                // A sum may overflow where the result does not.
                *rescale = Some(map.smaller(&run, factor)?);
            }
            let (name, column) = map.names;
            let problem = format!("{name}: {column} {j} of a sample is beyond the range of {}", T::DTYPE.name());
            return Err(Error::Numerical(problem));
        }
        run.ops.tall_write(&p, map.target, map.by_columns, map.by_columns)?;
        run.outcome(width, ErrorFigures::none())
    }
}
