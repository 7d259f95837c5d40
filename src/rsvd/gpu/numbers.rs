//! Vectors of the host as complex numbers in double precision, which hold the numbers of every type exactly.

use super::site::Site;
use crate::alloc;
use crate::backend::gpu::DeviceMemory;
use crate::error::Result;
use crate::scalar::{Complex, DType, Scalar, with_scalar};

/// `number` rounded to `dtype`; a real type drops the imaginary part.
pub(super) fn rounded(dtype: DType, number: Complex<f64>) -> Complex<f64> {
    let part = |x: f64| if dtype.is_single() { f64::from(x as f32) } else { x };
    Complex::new(part(number.re), if dtype.is_complex() { part(number.im) } else { 0.0 })
}

/// A copy of `numbers`, rounded to `dtype`, on the device.
pub(super) fn upload(site: &Site, dtype: DType, what: &'static str, numbers: &[Complex<f64>]) -> Result<DeviceMemory> {
    with_scalar!(dtype, "a", T => typed_upload::<T>(site, what, numbers))
}

fn typed_upload<T: Scalar>(site: &Site, what: &'static str, numbers: &[Complex<f64>]) -> Result<DeviceMemory> {
    let mut own = alloc::with_capacity(what, numbers.len())?;
    own.extend(numbers.iter().map(|x| T::from_parts(x.re, x.im)));
    site.gpu.upload_numbers(&site.stream, what, &own)
}

/// A vector of `count` ones of type `dtype` on the device.
pub(super) fn ones(site: &Site, dtype: DType, what: &'static str, count: usize) -> Result<DeviceMemory> {
    with_scalar!(dtype, "a", T => {
        let ones = alloc::filled("ones", count, <T as Scalar>::from_parts(1.0, 0.0))?;
        site.gpu.upload_numbers(&site.stream, what, &ones)
    })
}

/// The first `count` numbers of type `dtype` in `memory`.
pub(super) fn download(
    site: &Site,
    dtype: DType,
    what: &'static str,
    memory: &DeviceMemory,
    count: usize,
) -> Result<Vec<Complex<f64>>> {
    with_scalar!(dtype, "a", T => typed_download::<T>(site, what, memory, count))
}

fn typed_download<T: Scalar>(
    site: &Site,
    what: &'static str,
    memory: &DeviceMemory,
    count: usize,
) -> Result<Vec<Complex<f64>>> {
    let mut own = alloc::filled(what, count, T::default())?;
    site.gpu.load_numbers(&site.stream, memory, 0, &mut own)?;
    let mut numbers = alloc::with_capacity(what, count)?;
    numbers.extend(own.iter().map(|x| Complex::new(x.re(), x.im())));
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_by_their_types() {
        for number in [Complex::new(0.1, -0.3), Complex::new(1e300, 1e-300), Complex::new(-0.0, -0.0)] {
            for dtype in [DType::F32, DType::F64, DType::CF32, DType::CF64] {
                let bits = |x: Complex<f64>| (x.re.to_bits(), x.im.to_bits());
                let expected = with_scalar!(dtype, "a", T => {
                    let x = T::from_parts(number.re, number.im);
                    Ok(Complex::new(Scalar::re(x), Scalar::im(x)))
                });
                assert_eq!(bits(rounded(dtype, number)), bits(expected.unwrap()), "{dtype:?} {number}");
            }
        }
    }
}
