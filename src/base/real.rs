//! Element types that Rust code reads and writes, and the real types among them. Vectors of the processor are made of
//! these, so this file is below [`crate::backend::cpu::simd`], and [`crate::scalar`] above it.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

pub use num_complex::Complex;

use crate::dtype::DType;

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

/// Types with one variant for each real type.
pub trait GenericReal {
    /// The type of the value for `T`.
    type Of<T: Real>;
}

/// A value for each real type.
pub struct EachReal<G: GenericReal> {
    /// For `f32`.
    pub f32: G::Of<f32>,
    /// For `f64`.
    pub f64: G::Of<f64>,
}
