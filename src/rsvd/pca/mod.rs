//! Principal components: the directions of largest variance of samples, from a decomposition of the centred data. The
//! centred data are never formed as a whole. Variances and signs are those of scikit-learn.

mod affine;
mod fit;
mod plan;
mod rounding;
mod transform;

pub(in crate::rsvd) use affine::{map_means_bytes, map_shifts_bytes};

use std::sync::Arc;

use super::options::Options;
use super::outputs::{check_vector, write_values, write_vector};
use super::session::Rsvd;
use crate::alloc;
use crate::backend::memory::Charge;
use crate::choice::{numbered, with_defaults};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{self, Matrix};
use crate::scalar::{DType, Scalar, is_finite, with_scalar};
use crate::stream::Stream;
use crate::tensor::Tensor;

/// Which axis of a matrix has the samples. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Samples {
    /// A row is a sample.
    Rows = 0,
    /// A column is a sample.
    Columns = 1,
}

numbered!(Samples, Rows, Columns);

with_defaults! {
    /// Options of a fit, beside those of the decomposition.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PcaOptions {
        /// Which axis has the samples.
        pub samples: Samples = Samples::Rows,
        /// Whether the mean of each feature is subtracted.
        pub center: bool = true,
        /// Whether each feature is divided by its standard deviation; needs `center`.
        pub scale: bool = false,
        /// Whether scores have variance 1.
        pub whiten: bool = false,
    }
}

/// Figures of a fit: sizes, options and variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcaInfo {
    /// Type of the computation and of the components.
    pub dtype: DType,
    /// Options that the fit was made with.
    pub options: PcaOptions,
    /// Samples that the fit was made from.
    pub count: usize,
    /// Features: numbers of a sample and of a component.
    pub features: usize,
    /// Components that are kept.
    pub rank: usize,
    /// Sum of the variances of all features.
    pub total_variance: f64,
    /// Mean variance of the directions orthogonal to the components.
    pub noise_variance: f64,
    /// Singular values up to this are rounding errors: whitened scores along them are 0. Larger ones may be as well:
    /// see [`Pca::negligible`].
    pub rounding: f64,
}

/// Components, with the means and scales that transform samples to coordinates and back.
pub struct Pca {
    session: Rsvd,
    info: PcaInfo,
    /// Features-by-rank, on the host, packed column by column.
    components: Matrix,
    values: Vec<f64>,
    /// For each component the largest singular value that is a rounding error.
    roundings: Vec<f64>,
    /// Real parts, then imaginary parts of complex data; empty if the data were not centred.
    means: Vec<f64>,
    /// Empty if the data were not scaled. Infinite for constant features, so that their quotients are 0.
    scales: Vec<f64>,
    /// Features of scaled data that the fit multiplied by 0, in rising order. They contribute nothing to scores, and samples
    /// from scores have their means.
    constants: Vec<usize>,
    /// Host memory of values, means and scales.
    _charge: Charge,
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

    fn by_columns(&self) -> bool {
        self.info.options.samples == Samples::Columns
    }

    fn variance(&self, value: f64) -> f64 {
        variance_of(value, (self.info.count - 1) as f64)
    }

    /// Divisor of the scores along component `j`; 0 for whitened scores of a direction without variance.
    fn stretch(&self, j: usize) -> f64 {
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
    fn scale_of(&self, feature: usize) -> f64 {
        if self.is_constant(feature) { 0.0 } else { self.scales.get(feature).copied().unwrap_or(1.0) }
    }

    fn is_constant(&self, feature: usize) -> bool {
        self.constants.binary_search(&feature).is_ok()
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
        check_vector(argument, tensor, self.values.len())?;
        write_values(argument, tensor, &self.values, self.info.rounding, of)
    }
}

/// The variance along a component: the square of its singular value over `degrees` of freedom. The square may overflow where
/// the variance does not.
fn variance_of(value: f64, degrees: f64) -> f64 {
    let square = value * value;
    if square.is_finite() { square / degrees } else { value / degrees * value }
}
