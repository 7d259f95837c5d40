//! Which singular values of samples are rounding errors.

use super::transform::host_elements;
use crate::alloc;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::outputs::ROUNDINGS;
use crate::scalar::{DType, Scalar, with_scalar};

/// Means of features, and what is needed to bring them to the unit of a fit.
pub(super) struct Means<'a> {
    /// Real parts, then imaginary parts of complex data; empty if the data were not centred.
    pub means: &'a [f64],
    /// The rounding of means in products, relative to them.
    pub epsilon: f64,
    /// Divisors of the features, infinite for constant ones; empty without scaling.
    pub scales: &'a [f64],
}

impl Means<'_> {
    /// The rounding of each feature's mean in a product.
    fn roundings(&self, features: usize) -> Result<Vec<f64>> {
        let mut roundings = alloc::filled("rounding of means", features, 0.0f64)?;
        for (k, mean) in self.means.iter().enumerate() {
            let i = k % features;
            let scale = self.scales.get(i).copied().unwrap_or(1.0);
            roundings[i] = roundings[i].hypot(mean / scale * self.epsilon);
        }
        Ok(roundings)
    }
}

/// The rounding of one sample's score along a component: products with the means are rounded one by one.
fn along<T: Scalar>(component: &[T], roundings: &[f64]) -> f64 {
    let weighted = component.iter().zip(roundings).filter(|(v, _)| **v != T::default());
    weighted.map(|(v, rounding)| rounding * v.re().hypot(v.im())).sum()
}

/// The largest singular value of `count` samples that counts as 0: it is at most the roundings of the largest one in the type
/// of the computation, or those of the means along its component, to which a feature without weight in the component, as a
/// constant one, adds nothing. `components` are features-by-rank, on the host.
pub(super) fn rounding_of(
    values: &[f64],
    components: &Matrix,
    means: &Means<'_>,
    count: usize,
    dtype: DType,
) -> Result<f64> {
    let features = components.rows();
    let roundings = means.roundings(features)?;
    let least = ROUNDINGS * dtype.epsilon() * values.first().copied().unwrap_or(0.0);
    let whole = ROUNDINGS * (count.saturating_sub(1) as f64).sqrt();
    with_scalar!(dtype, "dtype", T => {
        let of_means = host_elements::<T>(components)?
            .chunks_exact(features)
            .zip(values)
            .filter(|(component, value)| **value <= whole * along(component, &roundings))
            .map(|(_, value)| *value);
        Ok(of_means.fold(least, f64::max))
    })
}
