//! The phase of a complex vector, or the sign of a real one, that results are returned with.

use crate::scalar::{Real, Scalar};

/// Multiplies a vector by its [`phase`], so that its entry of largest modulus is real and positive.
pub(super) fn orient<T: Scalar>(v: &mut [T]) {
    let turn = phase(v);
    v.iter_mut().for_each(|v| *v = turn * *v);
}

/// The number of modulus 1 that makes the entry of largest modulus real and positive. Among entries that are about as
/// large the first counts. 1 for a zero vector.
pub(super) fn phase<T: Scalar>(v: &[T]) -> T {
    let size = |x: &T| if T::IS_COMPLEX { x.re().hypot(x.im()) } else { x.re().abs() };
    let largest = v.iter().map(size).fold(0.0, f64::max);
    let near = largest * (1.0 - 8.0 * T::Part::EPSILON.to_f64());
    match v.iter().map(|x| (x, size(x))).find(|(_, size)| *size >= near && *size > 0.0) {
        Some((x, modulus)) => T::from_parts(x.re() / modulus, -x.im() / modulus),
        None => T::from_parts(1.0, 0.0),
    }
}
