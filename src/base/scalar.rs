//! Element types: the run-time tag [`DType`] and the compile-time traits [`Element`], [`Real`] and [`Scalar`].

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

pub use crate::dtype::DType;
pub use crate::real::{Complex, Element, Real};

use crate::backend::cpu::simd::Vectorized;

/// A number type of dense and sparse linear algebra: `f32`, `f64` and their complex types.
pub trait Scalar:
    Element + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> + AddAssign + SubAssign
{
    /// The real type of its parts.
    type Part: Vectorized + Scalar<Part = Self::Part>;
    /// The same in double precision.
    type Wide: Scalar<Part = f64, Wide = Self::Wide>;
    /// Whether it has an imaginary part.
    const IS_COMPLEX: bool;
    /// Rounded from f64; a real type drops `im`.
    fn from_parts(re: f64, im: f64) -> Self;
    /// Real part, exact in f64.
    fn re(self) -> f64;
    /// Imaginary part, exact in f64.
    fn im(self) -> f64;
    /// The complex conjugate; a real number itself.
    fn conjugate(self) -> Self;
    /// Real and imaginary part times `factor`.
    fn scaled(self, factor: Self::Part) -> Self;
    /// The same value in double precision, exact.
    fn widen(self) -> Self::Wide;
    /// Each part rounded from double precision.
    fn narrow(wide: Self::Wide) -> Self;
    /// The value under the name of this type, for code that differs from type to type.
    fn known<G: Generic>(value: G::Of<Self>) -> ByScalar<G>;
    /// The value for this type.
    fn of_each<G: Generic>(each: &Each<G>) -> &G::Of<Self>;
}

/// Types with one variant for each type of linear algebra, as arguments of [`Scalar::known`].
pub trait Generic {
    /// The type of the value for `T`.
    type Of<T: Scalar>;
}

/// A value of the variant for one of the four types.
pub enum ByScalar<G: Generic> {
    /// For `f32`.
    F32(G::Of<f32>),
    /// For `f64`.
    F64(G::Of<f64>),
    /// For `Complex<f32>`.
    CF32(G::Of<Complex<f32>>),
    /// For `Complex<f64>`.
    CF64(G::Of<Complex<f64>>),
}

/// A value for each type of linear algebra.
pub struct Each<G: Generic> {
    /// For `f32`.
    pub f32: G::Of<f32>,
    /// For `f64`.
    pub f64: G::Of<f64>,
    /// For `Complex<f32>`.
    pub cf32: G::Of<Complex<f32>>,
    /// For `Complex<f64>`.
    pub cf64: G::Of<Complex<f64>>,
}

macro_rules! scalar {
    ($($t:ident => $real:ident, $complex:ident, $each:ident);*) => {$(
        impl Scalar for $t {
            type Part = $t;
            type Wide = f64;
            const IS_COMPLEX: bool = false;
            #[inline(always)]
            fn from_parts(re: f64, _: f64) -> Self {
                re as $t
            }
            #[inline(always)]
            fn re(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn im(self) -> f64 {
                0.0
            }
            #[inline(always)]
            fn conjugate(self) -> Self {
                self
            }
            #[inline(always)]
            fn scaled(self, factor: $t) -> Self {
                self * factor
            }
            #[inline(always)]
            fn widen(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn narrow(wide: f64) -> Self {
                wide as $t
            }
            #[inline(always)]
            fn known<G: Generic>(value: G::Of<Self>) -> ByScalar<G> {
                ByScalar::$real(value)
            }
            #[inline(always)]
            fn of_each<G: Generic>(each: &Each<G>) -> &G::Of<Self> {
                &each.$t
            }
        }

        impl Scalar for Complex<$t> {
            type Part = $t;
            type Wide = Complex<f64>;
            const IS_COMPLEX: bool = true;
            #[inline(always)]
            fn from_parts(re: f64, im: f64) -> Self {
                Self::new(re as $t, im as $t)
            }
            #[inline(always)]
            fn re(self) -> f64 {
                f64::from(self.re)
            }
            #[inline(always)]
            fn im(self) -> f64 {
                f64::from(self.im)
            }
            #[inline(always)]
            fn conjugate(self) -> Self {
                self.conj()
            }
            #[inline(always)]
            fn scaled(self, factor: $t) -> Self {
                Self::new(self.re * factor, self.im * factor)
            }
            #[inline(always)]
            fn widen(self) -> Complex<f64> {
                Complex::new(f64::from(self.re), f64::from(self.im))
            }
            #[inline(always)]
            fn narrow(wide: Complex<f64>) -> Self {
                Self::new(wide.re as $t, wide.im as $t)
            }
            #[inline(always)]
            fn known<G: Generic>(value: G::Of<Self>) -> ByScalar<G> {
                ByScalar::$complex(value)
            }
            #[inline(always)]
            fn of_each<G: Generic>(each: &Each<G>) -> &G::Of<Self> {
                &each.$each
            }
        }
    )*};
}
scalar!(f32 => F32, CF32, cf32; f64 => F64, CF64, cf64);

/// Whether both parts of a number are finite. Its modulus, or the sum of its parts, may overflow all the same.
#[inline(always)]
pub fn is_finite<T: Scalar>(x: T) -> bool {
    x.re().is_finite() & x.im().is_finite()
}

/// A power of two near a positive number, to scale matrices for dense solvers to size 1. Returns 1 for a size that is 0
/// or not finite.
#[inline]
pub fn power_of_two(size: f64) -> f64 {
    if size.is_finite() && size > 0.0 { size.log2().floor().clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
}

/// Evaluates `$body`, in which `$t` is the type of linear algebra with the run-time tag `$dtype`. Any other tag is an error
/// that names the argument.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_scalar {
    ($dtype:expr, $argument:expr, $t:ident => $body:expr) => {
        match $dtype {
            $crate::scalar::DType::F32 => {
                type $t = f32;
                $body
            }
            $crate::scalar::DType::F64 => {
                type $t = f64;
                $body
            }
            $crate::scalar::DType::CF32 => {
                type $t = $crate::scalar::Complex<f32>;
                $body
            }
            $crate::scalar::DType::CF64 => {
                type $t = $crate::scalar::Complex<f64>;
                $body
            }
            other => Err(other.not_scalar($argument)),
        }
    };
}
pub use __with_scalar as with_scalar;

/// Evaluates `$body`, in which `$t` is `f32` or `f64`, by the run-time tag `$dtype`. Any other tag is an error that
/// names the argument.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_real {
    ($dtype:expr, $argument:expr, $t:ident => $body:expr) => {
        match $dtype {
            $crate::scalar::DType::F32 => {
                type $t = f32;
                $body
            }
            $crate::scalar::DType::F64 => {
                type $t = f64;
                $body
            }
            other => {
                Err($crate::error::Error::invalid($argument, format!("is {}, F32 or F64 is needed", other.name())))
            }
        }
    };
}
pub use __with_real as with_real;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_and_precisions_are_those_of_the_parts() {
        for dtype in [DType::F32, DType::F64, DType::CF32, DType::CF64] {
            with_scalar!(dtype, "dtype", T => {
                assert_eq!(dtype.is_complex(), T::IS_COMPLEX);
                assert_eq!(dtype.is_single(), size_of::<<T as Scalar>::Part>() == 4);
                assert_eq!(dtype.part(), <<T as Scalar>::Part as Element>::DTYPE);
                assert_eq!(dtype.wide(), <<T as Scalar>::Wide as Element>::DTYPE);
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(DType::CF32.exponent_range(), -125..=128);
        assert_eq!(DType::F64.exponent_range(), -1021..=1024);
    }

    #[test]
    fn powers_of_two_are_near_and_finite() {
        for (size, power) in [(1.0, 1.0), (1.5, 1.0), (0.3, 0.25), (1e300, 2f64.powi(996)), (0.0, 1.0)] {
            assert_eq!(power_of_two(size), power, "{size}");
        }
        assert_eq!((power_of_two(f64::NAN), power_of_two(f64::INFINITY)), (1.0, 1.0));
    }
}
