//! Operators at one site whose entries span more than the range of a type, as sums of operators within it.

use crate::alloc;
use crate::error::Result;
use crate::scalar::{Complex, DType};
use crate::trains::scaled::{Scaled, exponent_of, scale};

const WHAT: &str = "operators at sites";

/// A matrix that must be multiplied by 2^`exponent`.
pub(super) struct Layer {
    pub numbers: Vec<Complex<f64>>,
    pub exponent: i64,
}

/// `op` as a sum of layers. Arithmetic of type `dtype` can hold the entries of each layer, and their products with
/// cores. There is one layer unless the exponents of the operator's entries span more than the range of the type.
///
/// # Errors
/// Out of memory.
pub(super) fn layers(op: &[Complex<f64>], dtype: DType) -> Result<Vec<Layer>> {
    let mut numbers = alloc::with_capacity(WHAT, op.len())?;
    // Not in the normal form: normalizing a complex number by its larger part could make the other part underflow.
    numbers.extend(op.iter().map(|x| Scaled { mantissa: *x, exponent: 0 }));
    layers_of(numbers, dtype)
}

/// [`layers`] of the product of two n-by-n matrices, whose entries may be beyond double precision.
pub(super) fn layers_of_product(n: usize, a: &[Complex<f64>], b: &[Complex<f64>], dtype: DType) -> Result<Vec<Layer>> {
    let mut numbers = alloc::with_capacity(WHAT, a.len())?;
    numbers.extend((0..a.len()).map(|at| {
        let (i, j) = (at % n, at / n);
        let products = (0..n).map(|k| Scaled::new(a[i + n * k], 0).times(Scaled::new(b[k + n * j], 0)));
        products.fold(Scaled::ZERO, Scaled::plus)
    }));
    layers_of(numbers, dtype)
}

/// [`layers`] for any numbers. The largest entry of a layer is below 1. It may be larger, up to the limit of
/// [`Chain::limit`](super::chain::Chain::limit), if that saves a layer for the small entries.
pub(super) fn layers_of(mut numbers: Vec<Scaled>, dtype: DType) -> Result<Vec<Layer>> {
    let (limit, least) = if dtype.is_single() { (24, -125) } else { (200, -1021) };
    let mut layers = Vec::new();
    loop {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for x in &numbers {
            for part in [x.mantissa.re, x.mantissa.im].into_iter().filter(|part| part.is_finite() && *part != 0.0) {
                let exponent = exponent_of(part) + x.exponent;
                (low, high) = (low.min(exponent), high.max(exponent));
            }
        }
        let exponent = if low > high { 0 } else { (low - least).clamp(high - limit, high) };
        let mut layer = alloc::with_capacity(WHAT, numbers.len())?;
        let mut is_last = true;
        for x in &mut numbers {
            let shift = x.exponent - exponent;
            let mut take = |part: &mut f64| {
                if part.is_finite() && *part != 0.0 && exponent_of(*part) + shift < least {
                    is_last = false;
                    return 0.0;
                }
                scale(std::mem::take(part), shift)
            };
            layer.push(Complex::new(take(&mut x.mantissa.re), take(&mut x.mantissa.im)));
        }
        alloc::push(WHAT, &mut layers, Layer { numbers: layer, exponent })?;
        if is_last {
            return Ok(layers);
        }
    }
}
