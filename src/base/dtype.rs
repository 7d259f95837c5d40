//! The run-time tag of an element type.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};

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

    /// Refuses another type than `needed` for the elements of `argument`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument`, with both types.
    pub fn expect(self, argument: &str, needed: Self) -> Result<()> {
        if self == needed {
            return Ok(());
        }
        Err(Error::invalid(argument, format!("is {}, {} is needed", self.name(), needed.name())))
    }

    /// The type itself, if it is that of a [`Scalar`](crate::scalar::Scalar): F32, F64, CF32 or CF64.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument` for another type.
    pub fn expect_scalar(self, argument: &str) -> Result<Self> {
        match self {
            Self::F32 | Self::F64 | Self::CF32 | Self::CF64 => Ok(self),
            other => Err(other.not_scalar(argument)),
        }
    }

    /// The error of [`expect_scalar`](Self::expect_scalar) and of `with_scalar!` for this type.
    #[cold]
    pub fn not_scalar(self, argument: &str) -> Error {
        Error::invalid(argument, format!("is {}, F32, F64, CF32 or CF64 is needed", self.name()))
    }

    /// The type whose value is `code`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument` for the value of no type.
    pub fn from_code(argument: &str, code: i32) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|d| *d as i32 == code)
            .ok_or_else(|| Error::invalid(argument, format!("is {code}, outside 0 to {}", Self::ALL.len() - 1)))
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

    /// The type of the real and imaginary parts of a complex type; of another type the type itself.
    #[inline]
    pub const fn part(self) -> Self {
        match self {
            Self::CF32 => Self::F32,
            Self::CF64 => Self::F64,
            other => other,
        }
    }

    /// The same in double precision: F64 for F32, CF64 for CF32; of another type the type itself.
    #[inline]
    pub const fn wide(self) -> Self {
        match self {
            Self::F32 => Self::F64,
            Self::CF32 => Self::CF64,
            other => other,
        }
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

    /// The type to compute with where nobody asks for one: the type itself if it is a type of F32 or F64, else the smaller
    /// of the two that holds every number of the type, or F64 for 64-bit integers.
    pub const fn computing(self) -> Self {
        match self {
            Self::F32 | Self::F64 | Self::CF32 | Self::CF64 => self,
            Self::U8 | Self::I8 | Self::U16 | Self::I16 | Self::F16 => Self::F32,
            Self::I32 | Self::U32 | Self::I64 => Self::F64,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_types_of_scalars_alone_are_accepted() {
        for dtype in DType::ALL {
            let is_scalar = dtype == dtype.computing();
            let found = dtype.expect_scalar("a");
            assert_eq!(found.as_ref().ok(), is_scalar.then_some(&dtype), "{dtype:?}");
        }
        let problem = DType::F16.expect_scalar("a").unwrap_err().to_string();
        assert_eq!(problem, "a: is F16, F32, F64, CF32 or CF64 is needed");
    }

    #[test]
    fn each_code_is_one_type_and_others_are_refused() {
        for (code, dtype) in (0..).zip(DType::ALL) {
            assert_eq!(DType::from_code("dtype", code).unwrap(), dtype);
        }
        for code in [-1, DType::ALL.len() as i32, i32::MAX] {
            let problem = DType::from_code("dtype", code).unwrap_err().to_string();
            assert_eq!(problem, format!("dtype: is {code}, outside 0 to 11"));
        }
    }

    #[test]
    fn the_computing_type_holds_every_number_of_up_to_32_bits() {
        // The bits of the significand that the longest number of each type needs.
        let bits = |dtype| match dtype {
            DType::F32 | DType::CF32 => 24,
            DType::F64 | DType::CF64 => 53,
            DType::F16 => 11,
            other => 8 * other.size(),
        };
        for dtype in DType::ALL.into_iter().filter(|d| *d != DType::I64) {
            let to = dtype.computing();
            assert!(bits(dtype) <= bits(to) && to.computing() == to, "{dtype:?}: {to:?}");
            assert_eq!(to.is_complex(), dtype.is_complex());
            assert_eq!(to.is_single(), bits(dtype) <= 24, "{dtype:?}: {to:?}");
        }
        assert_eq!(DType::I64.computing(), DType::F64);
    }
}
