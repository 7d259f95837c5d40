//! Transforms samples to coordinates and back.

use std::time::Instant;

use super::Pca;
use super::affine::{Affine, Mapped, Shift};
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::progress::{Progress, ProgressFn};
use crate::rsvd::calls::task_of;
use crate::rsvd::info::Info;
use crate::rsvd::ops::{split, times_power};
use crate::rsvd::options::Centering;
use crate::rsvd::plan::{Goal, Plan, Request, Results, WantedFactors};
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
        let unit = if self.scales.is_empty() { self.unit() } else { 1.0 };
        with_scalar!(dtype, "dtype", T => {
            let components = host_elements::<T>(&self.components)?;
            let mut w = crate::alloc::filled("weights", features * rank, T::default())?;
            let mut exponents = crate::alloc::filled("exponents of scores", rank, 0)?;
            for (j, exponent) in exponents.iter_mut().enumerate() {
                // 0 for whitened scores of a direction without variance, whose weights stay 0.
                let (stretch, e) = split(self.stretch(j));
                *exponent = -e;
                for i in (0..features).filter(|i| stretch > 0.0 && !self.is_constant(*i)) {
                    let c = components[j * features + i];
                    w[j * features + i] = T::from_parts(c.re() / stretch, c.im() / stretch);
                }
            }
            let shift = match &self.means[..] {
                [] => Shift::None,
                means => Shift::Before { means, divisors: &self.scales },
            };
            let names = ("scores", "component");
            let map = Affine { w, rows: features, width: rank, exponents, shift, target: scores, by_columns, unit, names };
            self.affine::<T>(stream, x, map, &progress).map_err(|e| e.renamed("a", "x"))
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
        // Scores of a model that neither scales nor whitens have the unit of its samples. Weights are so small that no sum
        // overflows, so scores are not made smaller.
        let has_own_unit = self.scales.is_empty() && !self.info.options.whiten;
        let unit = if has_own_unit { self.unit().max(1.0) } else { 1.0 };
        with_scalar!(dtype, "dtype", T => {
            let (w, exponents) = self.weights_to_samples::<T>()?;
            let shift = if self.means.is_empty() { Shift::None } else { Shift::After { means: &self.means } };
            let names = ("x", "feature");
            let map = Affine { w, rows: rank, width: features, exponents, shift, target: x, by_columns, unit, names };
            self.affine::<T>(stream, scores, map, &progress).map_err(|e| e.renamed("a", "scores"))
        })
    }

    /// The weights from scores to samples, rank-by-features, each feature in its own unit, and the exponents of these
    /// powers of two. Sums of scores of the type times weights do not overflow.
    fn weights_to_samples<T: Scalar>(&self) -> Result<(Vec<T>, Vec<i64>)> {
        let (features, rank) = (self.info.features, self.info.rank);
        let components = host_elements::<T>(&self.components)?;
        let mut w = crate::alloc::filled("weights", features * rank, T::default())?;
        let mut exponents = crate::alloc::filled("exponents of features", features, 0)?;
        // The stretches that are not 0 are not far apart.
        let most = split((0..rank).map(|j| self.stretch(j)).fold(0.0, f64::max)).1;
        let mut stretches = crate::alloc::with_capacity("stretches", rank)?;
        stretches.extend((0..rank).map(|j| times_power(self.stretch(j), -most)));
        for (i, (w, exponent)) in w.chunks_exact_mut(rank.max(1)).zip(&mut exponents).enumerate() {
            let (scale, e) = split(self.scale_of(i));
            let of = |j: usize| {
                let (c, by) = (components[j * features + i], stretches[j] * scale);
                Complex::new(c.re() * by, c.im() * by)
            };
            let (re, im) = self.mean_parts(i);
            let (mean, of_mean) = split(re.abs().max(im.abs()));
            let (sum, own) = split((0..rank).map(|j| of(j).norm()).sum());
            *exponent = match (sum > 0.0, mean > 0.0) {
                (false, _) => of_mean,
                // The moduli of the weights have a sum of at most a half.
                (true, false) => own + 2 + most + e,
                // The mean is not beyond double precision either.
                (true, true) => (own + 2 + most + e).max(of_mean - 500),
            };
            for (j, w) in w.iter_mut().enumerate() {
                let (c, by) = (of(j), most + e - *exponent);
                *w = T::from_parts(times_power(c.re, by), -times_power(c.im, by));
            }
        }
        Ok((w, exponents))
    }

    /// The power of two nearest to 1 that brings the fit's samples into the range of products, for a model without scales.
    /// Features far below the largest keep their digits, and sums of the features do not overflow.
    fn unit(&self) -> f64 {
        let largest = self.values.first().copied().unwrap_or(0.0);
        let most = self.means.iter().fold(largest, |most, mean| most.max(mean.abs())).log2();
        // Of zeros alone it is 1.
        if !most.is_finite() {
            return 1.0;
        }
        let (least, top) = if self.info.dtype.is_single() { (-90.0, 124.0) } else { (-900.0, 1020.0) };
        (most.clamp(least, top) - most).floor().clamp(-1000.0, 1000.0).exp2()
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
            wanted: WantedFactors::ALL,
            results: Results::default(),
            excluded: &[],
        };
        let plan = Plan::new(request)?;
        let mut info = self.session.planned_info(&plan);
        if plan.rows > 0 {
            let mut work = Mapped::new(task_of(self.session.options(), &plan), map);
            self.session.call::<T>(stream, a, &plan, progress, &mut work, &mut info)?;
        }
        // Also without samples.
        info.converged = true;
        info.seconds = start.elapsed().as_secs_f64();
        Ok(info)
    }
}

pub(super) fn host_elements<T: Element>(matrix: &Matrix) -> Result<&[T]> {
    matrix.dense("components")?.memory.host("components")?.as_slice::<T>()
}
