//! A bound of the error of powers of a transfer matrix from small entries that underflowed.

use crate::scalar::Complex;
use crate::scalar::DType;
use crate::trains::scaled::exponent_of;

/// Bound of the relative error of a power M^n from underflow, as the exponent of a power of two. All matrices are
/// scaled so that their largest entry is about 1. A product loses entries below the smallest normal number, and it
/// inherits the losses of its factors. It may be much smaller than the product of their largest entries, and the trace
/// much smaller than that, which raises the relative error.
pub struct Vanished {
    dtype: DType,
    /// Exponent of the number of terms in an entry of a product.
    terms: i64,
    error: i64,
}

impl Vanished {
    /// The bound for M itself, which has `order` rows.
    pub fn new(dtype: DType, order: usize) -> Self {
        Self { dtype, terms: 1 + i64::from(order.next_power_of_two().ilog2()), error: least(dtype) }
    }

    /// Updates the bound for a product that was divided by 2^exponent.
    pub fn multiply(&mut self, exponent: i64) {
        self.error = self.error.max(least(self.dtype)).saturating_add(self.terms - exponent);
    }

    /// Whether the losses may affect digits of this trace of the last product.
    pub fn counts(&self, trace: Complex<f64>) -> bool {
        if trace == Complex::new(0.0, 0.0) {
            // All terms may have underflowed.
            return true;
        }
        let size = exponent_of(trace.re.abs().max(trace.im.abs()));
        self.error.saturating_add(self.terms - size) > if self.dtype.is_single() { -30 } else { -60 }
    }
}

/// Exponent of the smallest normal number.
fn least(dtype: DType) -> i64 {
    if dtype.is_single() { -126 } else { -1022 }
}

#[cfg(test)]
mod tests {
    use super::Vanished;
    use crate::scalar::{Complex, DType};

    #[test]
    fn errors_grow_where_products_are_smaller_than_their_factors() {
        let one = Complex::new(1.0, 0.0);
        let mut vanished = Vanished::new(DType::F32, 2);
        assert!(!vanished.counts(one));
        // Squares of the identity.
        (0..3).for_each(|_| vanished.multiply(1));
        assert!(!vanished.counts(one));
        vanished.multiply(-80);
        assert!(!vanished.counts(one));
        vanished.multiply(-80);
        assert!(vanished.counts(one));
        let mut vanished = Vanished::new(DType::F64, 2);
        vanished.multiply(-160);
        assert!(!vanished.counts(one));
        assert!(vanished.counts(Complex::new(1e-300, 0.0)));
        assert!(vanished.counts(Complex::new(0.0, 0.0)));
    }
}
