//! Sums over long vectors in many partial sums, so that an addition need not wait for the one before it.

use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::{Kernel, Simd, Vectorized, dispatch};
use crate::backend::memory::parts;
use crate::scalar::Scalar;

/// Partial sums, enough for the latency of an addition on vectors of eight.
const SUMS: usize = 32;

/// Sum of the squares of the moduli, in double precision. Equal on every instruction set.
pub fn squares<T: Scalar>(values: &[T]) -> f64 {
    dot(values, values)
}

/// The real part of a^H b, in double precision; of vectors of equal length. Equal on every instruction set.
pub fn dot<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    dispatch(Isa::detect(), Dot { a: parts(a), b: parts(b) })
}

struct Dot<'a, P> {
    a: &'a [P],
    b: &'a [P],
}

impl<P: Vectorized> Kernel<P> for Dot<'_, P> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd<P>>(self, _: S) -> f64 {
        let mut sums = [0.0f64; SUMS];
        let (mut a, mut b) = (self.a.chunks_exact(SUMS), self.b.chunks_exact(SUMS));
        for (a, b) in (&mut a).zip(&mut b) {
            for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                *sum += a.to_f64() * b.to_f64();
            }
        }
        for ((sum, a), b) in sums.iter_mut().zip(a.remainder()).zip(b.remainder()) {
            *sum += a.to_f64() * b.to_f64();
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Complex;

    #[test]
    fn every_element_is_in_the_sum() {
        for n in [0, 1, 31, 32, 33, 64, 101] {
            // Whole numbers: exact in any order.
            let a: Vec<f32> = (0..n).map(|k| (k % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..n).map(|k| (k % 11) as f32 + 1.0).collect();
            let expected: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), f64::from(expected));
            let z: Vec<Complex<f64>> = a.iter().zip(&b).map(|(a, b)| Complex::new((*a).into(), (*b).into())).collect();
            let y: Vec<Complex<f64>> = z.iter().map(|z| Complex::new(z.im, 2.0 * z.re)).collect();
            assert_eq!(dot(&z, &y), 3.0 * f64::from(expected));
            assert_eq!(squares(&z), z.iter().map(Complex::norm_sqr).sum::<f64>());
        }
    }
}
