//! Element types: the run-time tag [`DType`] and the compile-time traits [`Element`], [`Real`] and [`Scalar`].

use std::ops::{Add, AddAssign, Mul, Neg, RangeInclusive, Sub, SubAssign};

pub use num_complex::Complex;

use crate::backend::cpu::simd::Vectorised;
use crate::choice::{FromC, ToC};
use crate::error::{Error, Result};
use crate::instances::{Each, EachReal, GenericReal};

/// Element type of a tensor or matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum DType {
    /// 32-bit IEEE float.
    F32 = 0,
    /// 64-bit IEEE float.
    F64 = 1,
    /// Complex of two f32, `{re, im}`.
    CF32 = 2,
    /// Complex of two f64, `{re, im}`.
    CF64 = 3,
    /// Signed 32-bit integer.
    I32 = 4,
    /// Signed 64-bit integer.
    I64 = 5,
    /// Unsigned 8-bit integer.
    U8 = 6,
    /// Unsigned 16-bit integer.
    U16 = 7,
    /// 16-bit IEEE float.
    F16 = 8,
    /// Signed 8-bit integer.
    I8 = 9,
    /// Signed 16-bit integer.
    I16 = 10,
    /// Unsigned 32-bit integer.
    U32 = 11,
}

impl ToC<i32> for DType {
    fn to_c(&self) -> i32 {
        *self as i32
    }
}

/// The type of a computation; `None`, which is -1, for the type of the data.
impl FromC<i32> for Option<DType> {
    fn from_c(argument: &str, value: i32) -> Result<Self> {
        if value == -1 {
            return Ok(None);
        }
        match DType::from_code(argument, value)? {
            dtype @ (DType::F32 | DType::F64 | DType::CF32 | DType::CF64) => Ok(Some(dtype)),
            other => Err(Error::invalid(argument, format!("is {}, F32, F64, CF32 or CF64 is needed", other.name()))),
        }
    }
}

impl ToC<i32> for Option<DType> {
    fn to_c(&self) -> i32 {
        self.map_or(-1, |dtype| dtype as i32)
    }
}

impl DType {
    /// Every type, in the order of the values.
    pub const ALL: [Self; 12] = [
        Self::F32,
        Self::F64,
        Self::CF32,
        Self::CF64,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::F16,
        Self::I8,
        Self::I16,
        Self::U32,
    ];

    /// The type whose value is `code`.
    pub fn from_code(argument: &str, code: i32) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|d| *d as i32 == code)
            .ok_or_else(|| Error::invalid(argument, format!("is {code}, not an element type")))
    }

    /// Bytes of one element.
    #[inline]
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::CF32 => 8,
            Self::CF64 => 16,
        }
    }

    /// Bytes of a real or an imaginary part.
    #[inline]
    pub const fn part_size(self) -> usize {
        if self.is_complex() { self.size() / 2 } else { self.size() }
    }

    /// Whether its numbers have imaginary parts.
    #[inline]
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::CF32 | Self::CF64)
    }

    /// Whether its numbers are f32, or have parts of that type.
    #[inline]
    pub const fn is_single(self) -> bool {
        matches!(self, Self::F32 | Self::CF32)
    }

    /// The distance from 1 to the next number.
    pub const fn epsilon(self) -> f64 {
        if self.is_single() { f32::EPSILON as f64 } else { f64::EPSILON }
    }

    /// The least e of a normal number m 2^e with m in [0.5, 1), of f32 for single precision and of f64 for other types.
    #[inline]
    pub const fn least_exponent(self) -> i64 {
        (if self.is_single() { f32::MIN_EXP } else { f64::MIN_EXP }) as i64
    }

    /// The largest e of a normal number m 2^e with m in [0.5, 1), of the same types.
    #[inline]
    pub const fn largest_exponent(self) -> i64 {
        (if self.is_single() { f32::MAX_EXP } else { f64::MAX_EXP }) as i64
    }

    /// The exponents e of all normal numbers m 2^e with m in [0.5, 1).
    #[inline]
    pub const fn exponent_range(self) -> RangeInclusive<i64> {
        self.least_exponent()..=self.largest_exponent()
    }

    /// Alignment of one element: that of one component.
    #[inline]
    pub const fn align(self) -> usize {
        match self {
            Self::CF32 => 4,
            Self::CF64 => 8,
            other => other.size(),
        }
    }

    /// The name used in messages, as the header's constant without its prefix.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F64 => "F64",
            Self::CF32 => "CF32",
            Self::CF64 => "CF64",
            Self::I32 => "I32",
            Self::I64 => "I64",
            Self::U8 => "U8",
            Self::U16 => "U16",
            Self::F16 => "F16",
            Self::I8 => "I8",
            Self::I16 => "I16",
            Self::U32 => "U32",
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// An element type of tensors that Rust code can read and write. Every bit pattern is a valid value.
pub trait Element: sealed::Sealed + Copy + Send + Sync + PartialEq + std::fmt::Debug + Default + 'static {
    /// The tag of this type at run time.
    const DTYPE: DType;
}

macro_rules! element {
    ($($t:ty => $d:ident),*) => {$(
        impl sealed::Sealed for $t {}
        impl Element for $t {
            const DTYPE: DType = DType::$d;
        }
    )*};
}
element!(
    f32 => F32, f64 => F64, i32 => I32, i64 => I64, u8 => U8, u16 => U16, i8 => I8, i16 => I16, u32 => U32,
    Complex<f32> => CF32, Complex<f64> => CF64
);

/// A real floating-point type: `f32` or `f64`.
pub trait Real:
    Element
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + std::ops::MulAssign
    + std::iter::Sum
{
    /// The number 0, positive.
    const ZERO: Self;
    /// The number 1, exact.
    const ONE: Self;
    /// Distance from 1 to the next larger value.
    const EPSILON: Self;
    /// The nearest value to an f64.
    fn from_f64(value: f64) -> Self;
    /// The same value as f64, exact.
    fn to_f64(self) -> f64;
    /// The value without its sign bit.
    fn abs(self) -> Self;
    /// Correctly rounded square root; NaN for negative numbers.
    fn sqrt(self) -> Self;
    /// `self * b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Whether it is neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// The value for this type.
    fn of_each_real<G: GenericReal>(each: &EachReal<G>) -> &G::Of<Self>;
}

macro_rules! real {
    ($($t:ident),*) => {$(
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = $t::EPSILON;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                $t::mul_add(self, b, c)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline(always)]
            fn of_each_real<G: GenericReal>(each: &EachReal<G>) -> &G::Of<Self> {
                &each.$t
            }
        }
    )*};
}
real!(f32, f64);

/// A number type of dense and sparse linear algebra: `f32`, `f64` and their complex types.
pub trait Scalar:
    Element + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> + AddAssign + SubAssign
{
    /// The real type of its parts.
    type Part: Vectorised + Scalar<Part = Self::Part>;
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
    fn known<G: Generic>(value: G::Of<Self>) -> Known<G>;
    /// The value for this type.
    fn of_each<G: Generic>(each: &Each<G>) -> &G::Of<Self>;
}

/// Types with one variant for each type of linear algebra, as arguments of [`Scalar::known`].
pub trait Generic {
    /// The type of the value for `T`.
    type Of<T: Scalar>;
}

/// A value of the variant for one of the four types.
pub enum Known<G: Generic> {
    /// For `f32`.
    F32(G::Of<f32>),
    /// For `f64`.
    F64(G::Of<f64>),
    /// For `Complex<f32>`.
    CF32(G::Of<Complex<f32>>),
    /// For `Complex<f64>`.
    CF64(G::Of<Complex<f64>>),
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
            fn known<G: Generic>(value: G::Of<Self>) -> Known<G> {
                Known::$real(value)
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
            fn known<G: Generic>(value: G::Of<Self>) -> Known<G> {
                Known::$complex(value)
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
            other => Err($crate::error::Error::invalid(
                $argument,
                format!("is {}, F32, F64, CF32 or CF64 is needed", other.name()),
            )),
        }
    };
}
pub use __with_scalar as with_scalar;

/// Evaluates `$body`, in which `$t` is `f32` or `f64`, by the run-time tag `$dtype`. Any other tag is an error that names the
/// argument.
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
