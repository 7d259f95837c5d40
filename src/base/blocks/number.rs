//! Number types of files and callers' arrays, and their conversion to the types of computation.

use crate::choice::numbered;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Element};

/// Element type of an external array: any tensor type except 64-bit integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Number {
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 32-bit integer.
    I32,
    /// 16-bit IEEE float.
    F16,
    /// 32-bit IEEE float.
    F32,
    /// 64-bit IEEE float.
    F64,
    /// Complex of two 32-bit floats.
    Cf32,
    /// Complex of two 64-bit floats.
    Cf64,
}

impl Number {
    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::F64 | Self::Cf32 => 8,
            Self::Cf64 => 16,
        }
    }

    /// Whether an element has an imaginary part.
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::Cf32 | Self::Cf64)
    }

    /// Refuses complex numbers.
    ///
    /// # Errors
    /// [`Error::NotSupported`] naming `argument`.
    pub fn expect_real(self, argument: &str) -> Result<Self> {
        if self.is_complex() {
            let name = self.dtype().name();
            return Err(Error::NotSupported(format!("{argument}: is {name}, real elements are needed")));
        }
        Ok(self)
    }

    /// The number type that corresponds to a tensor's element type.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for 64-bit integer elements.
    pub fn of(argument: &str, dtype: DType) -> Result<Self> {
        match dtype {
            DType::U8 => Ok(Self::U8),
            DType::U16 => Ok(Self::U16),
            DType::I32 => Ok(Self::I32),
            DType::F16 => Ok(Self::F16),
            DType::F32 => Ok(Self::F32),
            DType::F64 => Ok(Self::F64),
            DType::I8 => Ok(Self::I8),
            DType::I16 => Ok(Self::I16),
            DType::U32 => Ok(Self::U32),
            DType::CF32 => Ok(Self::Cf32),
            DType::CF64 => Ok(Self::Cf64),
            other => {
                let problem =
                    format!("is {}, integers of at most 32 bits or floating-point numbers are needed", other.name());
                Err(Error::NotSupported(format!("{argument}: {problem}")))
            }
        }
    }

    /// The tensor element type that corresponds to this number type.
    pub fn dtype(self) -> DType {
        match self {
            Self::U8 => DType::U8,
            Self::U16 => DType::U16,
            Self::I32 => DType::I32,
            Self::F16 => DType::F16,
            Self::F32 => DType::F32,
            Self::F64 => DType::F64,
            Self::I8 => DType::I8,
            Self::I16 => DType::I16,
            Self::U32 => DType::U32,
            Self::Cf32 => DType::CF32,
            Self::Cf64 => DType::CF64,
        }
    }
}

/// Order of the bytes of a number in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Endianness {
    /// Least significant byte first.
    Little = 0,
    /// Most significant byte first.
    Big = 1,
}

numbered!(Endianness, Little, Big);

impl Endianness {
    /// The byte order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// Converts elements between this byte order and the machine's, in place.
    pub fn swap_to_native(self, number: Number, bytes: &mut [u8]) {
        // Each part of a complex number has its own order of bytes.
        let part = number.dtype().align();
        if self != Self::NATIVE && part > 1 {
            bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
    }
}

/// A type of computation that is converted from and to external numbers.
pub trait Convertible: Element {
    /// The nearest value to an f64; f32 overflows to infinity.
    fn from_f64(value: f64) -> Self;
    /// To f64; the real part of a complex number.
    fn to_f64(self) -> f64;
    /// From real and imaginary part; a real type drops the latter.
    fn from_parts(re: f64, _im: f64) -> Self {
        Self::from_f64(re)
    }
    /// The imaginary part; 0 for a real type.
    fn imaginary(self) -> f64 {
        0.0
    }
}

macro_rules! complex {
    ($t:ty) => {
        impl Convertible for Complex<$t> {
            fn from_f64(value: f64) -> Self {
                Self::new(<$t>::from_f64(value), 0.0)
            }
            fn to_f64(self) -> f64 {
                f64::from(self.re)
            }
            fn from_parts(re: f64, im: f64) -> Self {
                Self::new(<$t>::from_f64(re), <$t>::from_f64(im))
            }
            fn imaginary(self) -> f64 {
                f64::from(self.im)
            }
        }
    };
}
complex!(f32);
complex!(f64);

impl Convertible for f32 {
    fn from_f64(value: f64) -> Self {
        value as Self
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Convertible for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

/// Converts elements in the machine's byte order. `bytes` holds as many elements as `out`. Complex numbers lose their
/// imaginary part where `T` is real.
pub fn decode<T: Convertible>(number: Number, bytes: &[u8], out: &mut [T]) {
    macro_rules! each {
        ($t:ty) => {
            for (o, b) in out.iter_mut().zip(bytes.chunks_exact(size_of::<$t>())) {
                let mut word = [0u8; size_of::<$t>()];
                word.copy_from_slice(b);
                *o = T::from_f64(f64::from(<$t>::from_ne_bytes(word)));
            }
        };
    }
    macro_rules! pairs {
        ($t:ty) => {
            for (o, b) in out.iter_mut().zip(bytes.chunks_exact(2 * size_of::<$t>())) {
                let (re, im) = b.split_at(size_of::<$t>());
                let part = |p: &[u8]| {
                    let mut word = [0u8; size_of::<$t>()];
                    word.copy_from_slice(p);
                    f64::from(<$t>::from_ne_bytes(word))
                };
                *o = T::from_parts(part(re), part(im));
            }
        };
    }
    match number {
        Number::Cf32 => pairs!(f32),
        Number::Cf64 => pairs!(f64),
        Number::U8 => each!(u8),
        Number::I8 => each!(i8),
        Number::U16 => each!(u16),
        Number::I16 => each!(i16),
        Number::U32 => each!(u32),
        Number::I32 => each!(i32),
        Number::F32 => each!(f32),
        Number::F64 => each!(f64),
        Number::F16 => {
            for (o, b) in out.iter_mut().zip(bytes.chunks_exact(2)) {
                *o = T::from_f64(half_to_f64(u16::from_ne_bytes([b[0], b[1]])));
            }
        }
    }
}

/// Converts to elements in the machine's byte order. For integers values are rounded to nearest and clamped to the range of
/// the type, and NaN becomes 0.
pub fn encode<T: Convertible>(number: Number, values: &[T], bytes: &mut [u8]) {
    macro_rules! each {
        ($t:ty, $convert:expr) => {
            for (v, b) in values.iter().zip(bytes.chunks_exact_mut(size_of::<$t>())) {
                let convert: fn(f64) -> $t = $convert;
                b.copy_from_slice(&convert(v.to_f64()).to_ne_bytes());
            }
        };
    }
    macro_rules! pairs {
        ($t:ty) => {
            for (v, b) in values.iter().zip(bytes.chunks_exact_mut(2 * size_of::<$t>())) {
                let (re, im) = b.split_at_mut(size_of::<$t>());
                re.copy_from_slice(&(v.to_f64() as $t).to_ne_bytes());
                im.copy_from_slice(&(v.imaginary() as $t).to_ne_bytes());
            }
        };
    }
    match number {
        Number::Cf32 => pairs!(f32),
        Number::Cf64 => pairs!(f64),
        // `as` saturates, and converts NaN to 0.
        Number::U8 => each!(u8, |v| v.round_ties_even() as u8),
        Number::I8 => each!(i8, |v| v.round_ties_even() as i8),
        Number::U16 => each!(u16, |v| v.round_ties_even() as u16),
        Number::I16 => each!(i16, |v| v.round_ties_even() as i16),
        Number::U32 => each!(u32, |v| v.round_ties_even() as u32),
        Number::I32 => each!(i32, |v| v.round_ties_even() as i32),
        Number::F32 => each!(f32, |v| v as f32),
        Number::F64 => each!(f64, |v| v),
        Number::F16 => each!(u16, f64_to_half),
    }
}

/// The value of an IEEE half.
fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction / 1024.0) * 2f64.powi(e - 15),
    }
}

/// The nearest IEEE half, ties to even.
fn f64_to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if value.is_nan() {
        return 0x7e00;
    }
    // 65520 is the middle between the largest half and the next power of two.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Subnormal halves and zero: multiples of 2^-24; rounding up to 1024 gives the smallest normal, as it should.
    if magnitude < 2f64.powi(-14) {
        return sign | (magnitude * 2f64.powi(24)).round_ties_even() as u16;
    }
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    let fraction = ((magnitude / 2f64.powi(exponent) - 1.0) * 1024.0).round_ties_even() as u16;
    // A fraction that rounds to 1024 carries into the exponent.
    sign | ((((exponent + 15) as u16) << 10) + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_convert_both_ways_exactly() {
        for bits in 0..=u16::MAX {
            let value = half_to_f64(bits);
            if value.is_nan() {
                assert_eq!(f64_to_half(value), 0x7e00);
            } else {
                assert_eq!(f64_to_half(value), bits, "{value}");
            }
        }
        assert_eq!(f64_to_half(65519.0), 0x7bff);
        assert_eq!(f64_to_half(65520.0), 0x7c00);
        assert_eq!(f64_to_half(1.0 + 1.0 / 2048.0), 0x3c00, "a tie goes to even");
        assert_eq!(f64_to_half(1.0 + 3.0 / 2048.0), 0x3c02);
    }

    #[test]
    fn integers_saturate_and_round() {
        let mut bytes = [0u8; 5];
        encode(Number::U8, &[-3.0f32, 0.5, 1.5, 300.0, f32::NAN], &mut bytes);
        assert_eq!(bytes, [0, 0, 2, 255, 0]);
        let mut back = [0f64; 5];
        decode(Number::U8, &bytes, &mut back);
        assert_eq!(back, [0.0, 0.0, 2.0, 255.0, 0.0]);
    }

    #[test]
    fn complex_numbers_keep_their_parts_and_each_part_its_byte_order() {
        let values = [Complex::new(1.5f64, -2.0), Complex::new(0.0, 3.0)];
        for number in [Number::Cf32, Number::Cf64] {
            let mut bytes = vec![0u8; 2 * number.size()];
            encode(number, &values, &mut bytes);
            let mut back = [Complex::default(); 2];
            decode(number, &bytes, &mut back);
            assert_eq!(back, values);
            let mut real = [0f32; 2];
            decode(number, &bytes, &mut real);
            assert_eq!(real, [1.5, 0.0]);
        }
        let mut bytes: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect();
        Endianness::Big.swap_to_native(Number::Cf32, &mut bytes);
        let mut back = [Complex::<f32>::default()];
        decode(Number::Cf32, &bytes, &mut back);
        assert_eq!(back, [Complex::new(1.5, -2.0)]);
        assert!(Number::Cf64.expect_real("x").is_err());
    }

    #[test]
    fn integers_of_64_bits_are_refused_by_their_name() {
        let e = Number::of("counts", DType::I64).unwrap_err().to_string();
        let want = "not supported: counts: is I64, integers of at most 32 bits or floating-point numbers are needed";
        assert_eq!(e, want);
    }

    #[test]
    fn foreign_byte_order_is_turned() {
        let foreign = if Endianness::NATIVE == Endianness::Little { Endianness::Big } else { Endianness::Little };
        let mut bytes = 1.5f32.to_ne_bytes();
        bytes.reverse();
        foreign.swap_to_native(Number::F32, &mut bytes);
        let mut out = [0f32];
        decode(Number::F32, &bytes, &mut out);
        assert_eq!(out, [1.5]);
        assert!(Endianness::from_code("endianness", 2).is_err());
    }

    #[test]
    fn every_number_survives_a_round_trip() {
        let values = [0.0f64, 1.0, 2.0, 100.0];
        for number in [
            Number::U8,
            Number::I8,
            Number::U16,
            Number::I16,
            Number::U32,
            Number::I32,
            Number::F16,
            Number::F32,
            Number::F64,
        ] {
            let mut bytes = vec![0xffu8; 4 * number.size()];
            encode(number, &values, &mut bytes);
            let mut back = [f64::NAN; 4];
            decode(number, &bytes, &mut back);
            assert_eq!(back, values, "{number:?}");
        }
    }
}
