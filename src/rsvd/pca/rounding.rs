//! Which singular values of samples are rounding errors: each by the means of the features that have weight in its component.

use super::transform::host_elements;
use crate::alloc;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::outputs::ROUNDINGS;
use crate::scalar::{DType, Scalar, with_scalar};

/// Means of features, and the factors that bring them to the unit of a fit.
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

/// The singular values that count as 0.
pub(super) struct Roundings {
    /// For each component the largest value that counts as 0 along it.
    pub each: Vec<f64>,
    /// Each value up to this counts as 0. Larger ones may as well, along components of features with large means.
    pub all: f64,
}

/// Thresholds below which a singular value of `count` samples counts as 0: the larger of the rounding error of the
/// largest value and that of the means projected on the component. A feature with weight 0 adds nothing. `components`
/// are features-by-rank, on the host.
pub(super) fn roundings_of(
    values: &[f64],
    components: &Matrix,
    means: &Means<'_>,
    count: usize,
    dtype: DType,
) -> Result<Roundings> {
    let features = components.rows();
    let roundings = means.roundings(features)?;
    let least = ROUNDINGS * dtype.epsilon() * values.first().copied().unwrap_or(0.0);
    let whole = ROUNDINGS * (count.saturating_sub(1) as f64).sqrt();
    let mut each = alloc::filled("roundings of components", values.len(), least)?;
    with_scalar!(dtype, "dtype", T => {
        for (rounding, component) in each.iter_mut().zip(host_elements::<T>(components)?.chunks_exact(features)) {
            *rounding = rounding.max(whole * along(component, &roundings));
        }
        Ok(())
    })?;
    let smallest = values.iter().zip(&each).rev().take_while(|(value, rounding)| value <= rounding);
    let all = smallest.fold(least, |all, (value, _)| all.max(*value));
    Ok(Roundings { each, all })
}
