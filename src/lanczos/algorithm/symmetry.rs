//! Whether an operator of which no entries are known is symmetric.

use super::super::krylov::Columns;
use super::super::operator::UNSYMMETRIC;
use super::PROBES;
use crate::error::{Error, Result};
use crate::scalar::{Real, Scalar};

/// Tests by products with random vectors u and v whether v . A u and u . A v are each other's conjugates, in three columns.
///
/// # Errors
/// [`Error::InvalidArgument`] if they are not, to 100 roundings of |u| |A v| and |v| |A u|; what the backend reports.
pub fn sample<T: Scalar>(krylov: &mut Columns<'_, T>) -> Result<()> {
    (0..2).try_for_each(|j| krylov.random(0, PROBES + j, j as usize))?;
    let mut along = [T::Wide::from_parts(0.0, 0.0); 2];
    let mut size = 0.0;
    for j in 0..2 {
        krylov.apply(j, 2)?;
        size += krylov.distance(2, 0.0, j)? * krylov.distance(1 - j, 0.0, j)?;
        krylov.project(1 - j, 1, 2, 1, &mut along[j..=j])?;
    }
    let far = (along[0].re() - along[1].re()).hypot(along[0].im() + along[1].im());
    if far.is_nan() || far > 100.0 * T::Part::EPSILON.to_f64() * size {
        return Err(Error::invalid("a", UNSYMMETRIC));
    }
    Ok(())
}
