//! Components with the means and scales of a fit.

use std::sync::Arc;

use super::super::options::Options;
use super::super::outputs::{check_vector, write_values, write_vector};
use super::super::session::Rsvd;
use super::info::PcaInfo;
use super::options::Samples;
use crate::alloc;
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{self, Matrix};
use crate::scalar::{DType, Scalar, is_finite, with_scalar};
use crate::stream::Stream;
use crate::tensor::Tensor;

/// Components, with the means and scales that transform samples to coordinates and back.
pub struct Pca {
    pub(super) session: Rsvd,
    pub(super) info: PcaInfo,
    /// Features-by-rank, on the host, packed column by column.
    pub(super) components: Matrix,
    pub(super) values: Vec<f64>,
    /// For each component the largest singular value that is a rounding error.
    pub(super) roundings: Vec<f64>,
    /// Real parts, then imaginary parts of complex data; empty if the data were not centred.
    pub(super) means: Vec<f64>,
    /// Empty if the data were not scaled. Infinite for constant features, so that their quotients are 0.
    pub(super) scales: Vec<f64>,
    /// Features of scaled data that the fit multiplied by 0, in rising order. They contribute nothing to scores, and samples
    /// from scores have their means.
    pub(super) constants: Vec<usize>,
    /// Host memory of values, means and scales.
    pub(super) _charge: Charge,
}

impl Pca {
    /// The figures of the fit.
    pub fn info(&self) -> PcaInfo {
        self.info
    }

    /// The context that it belongs to.
    pub fn context(&self) -> &Arc<Context> {
        self.session.context()
    }

    /// Writes the mean of each feature, in the type of the computation or in double precision; zeros if the data were
    /// not centred.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::Error::InvalidArgument) for another type or size; [`Error::Numerical`] for a
    /// mean that the type does not hold.
    pub fn mean(&self, mean: &mut Tensor) -> Result<()> {
        mean.expect_dims("mean", &[self.info.features])?;
        let double = match self.info.dtype {
            DType::F32 => DType::F64,
            DType::CF32 => DType::CF64,
            own => own,
        };
        let dtype = if mean.dtype() == double { double } else { self.info.dtype };
        with_scalar!(dtype, "mean", T => {
            if let Some(i) = (0..self.info.features).find(|i| !is_finite(self.mean_of::<T>(*i))) {
                let (re, im) = self.mean_parts(i);
                let problem = format!("number {i} has parts of up to {:e}", re.abs().max(im.abs()));
                return Err(Error::Numerical(format!("mean: {problem}, which {} does not hold", dtype.name())));
            }
            let mut view = mean.view_mut::<T>("mean")?;
            (0..self.info.features).for_each(|i| view.set(&[i], self.mean_of(i)));
            Ok(())
        })
    }

    /// Writes the divisor of each feature; ones if the data were not scaled.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::Error::InvalidArgument) for another type than F64 or F32 or another size;
    /// [`Error::Numerical`] for a divisor that overflows or vanishes in the type.
    pub fn scale(&self, scale: &mut Tensor) -> Result<()> {
        let features = self.info.features;
        check_vector("scale", scale, features)?;
        if self.scales.is_empty() {
            let ones = alloc::filled("ones", features, 1.0)?;
            return write_vector("scale", scale, &ones);
        }
        // No divisor is 0.
        let is_single = scale.dtype() == DType::F32;
        if let Some(i) = self.scales.iter().position(|s| *s == 0.0 || (is_single && *s as f32 == 0.0)) {
            let problem = format!("number {i} is {:e}, which {} does not hold", self.scales[i], scale.dtype().name());
            return Err(Error::Numerical(format!("scale: {problem}")));
        }
        let mut view = alloc::copied("scales of features", &self.scales)?;
        self.constants.iter().for_each(|j| view[*j] = 1.0);
        write_vector("scale", scale, &view)
    }

    /// Writes 1 for each feature that counts as constant and contributes nothing to scores, 0 for the others.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::Error::InvalidArgument) for another type than F64 or F32 or another size.
    pub fn constant(&self, constant: &mut Tensor) -> Result<()> {
        check_vector("constant", constant, self.info.features)?;
        let mut flags = alloc::filled("constant features", self.info.features, 0.0)?;
        self.constants.iter().for_each(|j| flags[*j] = 1.0);
        write_vector("constant", constant, &flags)
    }

    /// Writes 1 for each component whose singular value is a rounding error, 0 for the others. Whitened scores along
    /// these are 0.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::Error::InvalidArgument) for another type than F64 or F32 or another size.
    pub fn negligible(&self, negligible: &mut Tensor) -> Result<()> {
        check_vector("negligible", negligible, self.values.len())?;
        let flags = (0..self.values.len()).map(|j| f64::from(u8::from(self.is_negligible(j))));
        write_vector("negligible", negligible, &alloc::collected("negligible components", flags)?)
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

    /// Variance along each component divided by the sum of the variances of all features.
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

    pub(super) fn by_columns(&self) -> bool {
        self.info.options.samples == Samples::Columns
    }

    fn variance(&self, value: f64) -> f64 {
        variance_of(value, (self.info.count - 1) as f64)
    }

    /// Divisor of the scores along component `j`; 0 for whitened scores of a direction without variance.
    pub(super) fn stretch(&self, j: usize) -> f64 {
        match (self.info.options.whiten, self.values[j]) {
            (false, _) => 1.0,
            (true, _) if self.is_negligible(j) => 0.0,
            (true, value) => value / ((self.info.count - 1) as f64).sqrt(),
        }
    }

    fn is_negligible(&self, component: usize) -> bool {
        self.values[component] <= self.roundings[component]
    }

    /// The factor of a feature in samples that come from scores: 0 for a constant one.
    pub(super) fn scale_of(&self, feature: usize) -> f64 {
        if self.is_constant(feature) { 0.0 } else { self.scales.get(feature).copied().unwrap_or(1.0) }
    }

    pub(super) fn is_constant(&self, feature: usize) -> bool {
        self.constants.binary_search(&feature).is_ok()
    }

    pub(super) fn mean_parts(&self, feature: usize) -> (f64, f64) {
        let at = |k: usize| self.means.get(k).copied().unwrap_or(0.0);
        (at(feature), at(self.info.features + feature))
    }

    fn mean_of<T: Scalar>(&self, feature: usize) -> T {
        let (re, im) = self.mean_parts(feature);
        T::from_parts(re, im)
    }

    fn write_each(&self, argument: &str, tensor: &mut Tensor, of: impl Fn(f64) -> f64) -> Result<()> {
        check_vector(argument, tensor, self.values.len())?;
        write_values(argument, tensor, &self.values, self.info.rounding, of)
    }
}

/// The variance along a component: the square of its singular value over `degrees` of freedom. The square may overflow where
/// the variance does not.
pub(super) fn variance_of(value: f64, degrees: f64) -> f64 {
    let square = value * value;
    if square.is_finite() { square / degrees } else { value / degrees * value }
}
