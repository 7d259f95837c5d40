//! Numbers near both ends of a type's range.

use std::slice::from_ref;
use std::sync::Arc;

use super::calls::{compute, compute_csr, session, split};
use super::device;
use super::inputs::{context, entries, matrix};
use crate::blocks::array::ArrayInfo;
use crate::blocks::number::Number;
use crate::blocks::sink::HostSink;
use crate::context::Context;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::rpca::Options;
use crate::rpca::session::Observed;
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::Location;

const SIZE: (usize, usize) = (24, 15);

/// Entries of few binary digits, below 8: rank 2 and some spikes.
fn entry(i: usize, j: usize) -> f64 {
    let (a, b) = ((i * 5 + 3) % 8, (j * 3 + 1) % 8);
    let low = a as f64 * b as f64 / 16.0 + ((i + 2) % 4) as f64 * ((j * 7) % 5) as f64 / 16.0;
    let spike = match (i * 7 + j * 11) % 41 {
        0 => 3.5,
        20 => -6.5,
        _ => 0.0,
    };
    low + spike
}

fn power(exponent: i32) -> f64 {
    // Two factors, because the inverse of the least number overflows.
    let half = exponent / 2;
    f64::from(half).exp2() * f64::from(exponent - half).exp2()
}

/// Splits the matrix times powers of two, and compares the parts with those of the matrix itself. `least` is the least
/// number of the type, and `close` the accepted difference of parts in the matrix's own unit.
fn check_powers<T: Scalar>(
    context: &Arc<Context>,
    exponents: impl Iterator<Item = i32>,
    (least, close): (f64, f64),
    value: impl Fn(f64, f64) -> T,
) {
    let base = matrix(context, Order::ColumnMajor, SIZE, |i, j| value(entry(i, j), entry(i, j + 1)));
    let (low_rank, sparse, want) = split::<T>(context, &base, None, &Options::default()).unwrap();
    assert!(want.converged && want.nonzeros > 5 && want.rank < 10, "{want:?}");
    let fits = |v: &T, by: f64| {
        let v = T::from_parts(v.re() * by, v.im() * by);
        v.re().is_finite() && v.im().is_finite()
    };
    for exponent in exponents {
        let by = power(exponent);
        let m = matrix(context, Order::ColumnMajor, SIZE, |i, j| value(entry(i, j) * by, entry(i, j + 1) * by));
        let found = split::<T>(context, &m, None, &Options::default());
        if !low_rank.iter().chain(&sparse).all(|v| fits(v, by)) {
            let e = found.unwrap_err();
            assert!(matches!(e, Error::Numerical(_)), "2^{exponent}: {e}");
            continue;
        }
        let (l, s, info) = found.unwrap();
        assert!(info.converged && info.rank == want.rank, "2^{exponent}: {info:?}");
        for (got, want) in l.iter().zip(&low_rank).chain(s.iter().zip(&sparse)) {
            for (got, want) in [(got.re(), want.re()), (got.im(), want.im())] {
                // Results below the normal numbers are rounded to multiples of the least one, and products of the smallest
                // numbers of a run are.
                assert!(
                    (got - want * by).abs() <= least / 2.0 + close * by,
                    "2^{exponent}: {got:e} for {:e}",
                    want * by
                );
            }
        }
        let off = (info.objective - want.objective * by).abs();
        assert!(
            info.objective.is_infinite() || off <= 1e-9 * info.objective + f64::from_bits(1),
            "2^{exponent}: {info:?}"
        );
    }
}

/// All types, to `close` in double and in single precision.
fn check_all_powers(context: &Arc<Context>, close: [f64; 2]) {
    let double = || (-1070..1022).step_by(61).chain([-1068, -1023, -333, 332, 1000, 1018, 1019, 1020, 1021]);
    let limits = (f64::from_bits(1), close[0]);
    check_powers(context, double(), limits, |re, _| re);
    check_powers(context, double(), limits, Complex::<f64>::new);
    let single = || (-145..126).step_by(17).chain([-143, -126, -41, 39, 123, 124, 125]);
    let limits = (f64::from(f32::from_bits(1)), close[1]);
    check_powers(context, single(), limits, |re, _| re as f32);
    check_powers(context, single(), limits, |re, im| Complex::<f32>::new(re as f32, im as f32));
}

#[test]
fn powers_of_two_scale_the_parts() {
    // Bit for bit but for numbers that underflow during a run.
    check_all_powers(&context(), [1e-18; 2]);
}

#[test]
#[ignore = "needs a GPU"]
fn powers_of_two_scale_the_parts_on_a_gpu() {
    check_all_powers(&device::gpu_context(0), [1e-5, 1e-3]);
}

/// A matrix of one value with some of the opposite sign, so that the sparse part has entries of twice the value.
fn opposed(i: usize, j: usize) -> f64 {
    if (i * 7 + j * 11).is_multiple_of(41) { -1.0 } else { 1.0 }
}

#[test]
fn parts_beyond_the_largest_number_are_refused() {
    check_parts_beyond(&context());
}

#[test]
#[ignore = "needs a GPU"]
fn parts_beyond_the_largest_number_are_refused_on_a_gpu() {
    let context = device::gpu_context(0);
    check_parts_beyond(&context);
    // The same if a part lies on the device.
    let m = matrix(&context, Order::RowMajor, SIZE, |i, j| opposed(i, j) * 0.9 * f64::MAX);
    let mut part = Matrix::create(&context, DType::F64, Location::Device, Order::RowMajor, SIZE.0, SIZE.1).unwrap();
    let e = compute(from_ref(&context), None, &m, None, &Options::default(), None, Some(&mut part), None).unwrap_err();
    assert!(matches!(e, Error::Numerical(_)), "{e}");
}

fn check_parts_beyond(context: &Arc<Context>) {
    let none = Options::default();
    let (single, double) = (f64::from(f32::MAX), f64::MAX);
    let m = matrix(context, Order::RowMajor, SIZE, |i, j| opposed(i, j) * 0.9 * double);
    let e = split::<f64>(context, &m, None, &none).unwrap_err().to_string();
    let (start, end) = (
        "numerical failure: sparse: has an entry of 3.2",
        "e308, more than 1.7976931348623157e308, the largest number of F64",
    );
    assert!(e.starts_with(start) && e.ends_with(end), "{e}");
    // An output that is not wanted may be beyond the range.
    let part = |dtype| Matrix::create(context, dtype, Location::Host, Order::RowMajor, SIZE.0, SIZE.1).unwrap();
    let mut low_rank = part(DType::F64);
    let info = compute(from_ref(context), None, &m, None, &none, Some(&mut low_rank), None, None).unwrap();
    assert!(info.converged && entries::<f64>(&low_rank).iter().all(|v| (v / double - 0.9).abs() < 1e-5));
    let e = compute_csr(from_ref(context), None, &m, None, &none, None, None).map(drop).unwrap_err().to_string();
    assert!(e.starts_with(start), "{e}");

    let m = matrix(context, Order::RowMajor, SIZE, |i, j| (opposed(i, j) * 0.9 * single) as f32);
    let e = split::<f32>(context, &m, None, &none).unwrap_err().to_string();
    assert!(
        e.contains("sparse: has an entry of 6.1") && e.ends_with("more than 3.4028235e38, the largest number of F32"),
        "{e}"
    );
    let m = matrix(context, Order::RowMajor, SIZE, |i, j| Complex::new(0.0f32, (opposed(i, j) * 0.9 * single) as f32));
    let e = split::<Complex<f32>>(context, &m, None, &none).unwrap_err().to_string();
    assert!(e.contains("sparse: has an entry of 6.1") && e.ends_with("the largest number of CF32"), "{e}");
}

#[test]
fn parts_beyond_the_numbers_of_a_sink_are_refused() {
    let context = context();
    for (number, size, wanted) in [
        (Number::F32, 3e38, Some("more than 3.4028235e38, the largest number of F32")),
        (Number::F16, 6e4, Some("more than 65504, the largest number of F16")),
        (Number::F32, 1.6e38, None),
        (Number::F16, 3e4, None),
        (Number::F64, 1e300, None),
        // Integers are held to their range.
        (Number::I16, 1e300, None),
    ] {
        let m = matrix(&context, Order::ColumnMajor, SIZE, |i, j| opposed(i, j) * size);
        let info = ArrayInfo::new(number, &[SIZE.0, SIZE.1]).unwrap();
        let mut out = vec![0u8; SIZE.0 * SIZE.1 * number.size()];
        let mut sink = HostSink::new(info, &mut out).unwrap();
        let done = session(from_ref(&context), &Options::default()).unwrap().compute_to_sinks(
            None,
            Observed { m: &m, mask: None },
            None,
            Some(&mut sink),
            None,
        );
        match (done, wanted) {
            (Ok(info), None) => assert!(info.converged),
            (Err(Error::Numerical(e)), Some(end)) => {
                assert!(e.starts_with("sparse: has an entry of ") && e.ends_with(end), "{e}")
            }
            (found, _) => panic!("{number:?} {size:e}: {found:?}"),
        }
    }
}

#[test]
fn entries_that_the_computing_type_does_not_hold_are_named_with_its_limit() {
    check_entries_beyond(&context());
}

#[test]
#[ignore = "needs a GPU"]
fn entries_that_the_computing_type_does_not_hold_are_named_on_a_gpu() {
    check_entries_beyond(&device::gpu_context(0));
}

fn check_entries_beyond(context: &Arc<Context>) {
    let text = |value: f64, scale: f64, dtype: DType| {
        let m = matrix(context, Order::RowMajor, SIZE, |i, j| if (i, j) == (3, 5) { value } else { 1.0 });
        let options = Options { dtype: Some(dtype), scale, ..Options::default() };
        let found = match dtype {
            DType::F32 => split::<f32>(context, &m, None, &options).map(drop),
            DType::CF32 => split::<Complex<f32>>(context, &m, None, &options).map(drop),
            _ => split::<f64>(context, &m, None, &options).map(drop),
        };
        let e = found.unwrap_err();
        assert!(matches!(e, Error::InvalidArgument { .. }), "{e}");
        e.to_string()
    };
    let single = "more than 3.4028235e38, the largest number of ";
    assert_eq!(text(1e39, 1.0, DType::F32), format!("m: has an entry of modulus 1e39, {single}F32"));
    assert_eq!(text(-1.7e308, 1.0, DType::F32), format!("m: has an entry of modulus 1.7e308, {single}F32"));
    assert_eq!(text(2.5e100, 1.0, DType::CF32), format!("m: has an entry of modulus 2.5e100, {single}CF32"));
    assert_eq!(
        text(2e20, -4e18, DType::F32),
        format!("m: has an entry of modulus 2e20 times scale = -4e18, {single}F32")
    );
    let double = "more than 1.7976931348623157e308, the largest number of F64";
    assert_eq!(text(1e300, 1e20, DType::F64), format!("m: has an entry of modulus 1e300 times scale = 1e20, {double}"));
    // Beside an entry that is not finite the size of the others does not matter.
    let none = matrix(context, Order::RowMajor, SIZE, |i, _| if i == 3 { f64::INFINITY } else { 1e39 });
    let options = Options { dtype: Some(DType::F32), ..Options::default() };
    let e = split::<f32>(context, &none, None, &options).unwrap_err().to_string();
    assert!(e.contains("not finite") || e.contains("m: has inf in row 3, column "), "{e}");
    // Entries that were not observed may have any size.
    let m = matrix(context, Order::RowMajor, SIZE, |i, j| if (i, j) == (3, 5) { 1e39 } else { entry(i, j) });
    let mask = matrix(context, Order::RowMajor, SIZE, |i, j| u8::from((i, j) != (3, 5)));
    assert!(split::<f32>(context, &m, Some(&mask), &options).unwrap().2.converged);
}

#[test]
fn integers_of_32_bits_are_split_in_double_precision() {
    let context = context();
    let base = f64::from(1 << 24);
    // Single precision rounds the odd numbers.
    let value = |i: usize, j: usize| base + 1.0 + f64::from(u8::from((i, j) == (3, 5))) * base;
    let m = matrix(&context, Order::RowMajor, SIZE, |i, j| value(i, j) as i32);
    let unsigned = matrix(&context, Order::RowMajor, SIZE, |i, j| value(i, j) as u32);
    let double = matrix(&context, Order::RowMajor, SIZE, value);
    let (low_rank, sparse, _) = split::<f64>(&context, &double, None, &Options::default()).unwrap();
    for m in [m, unsigned] {
        let (l, s, info) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
        assert_eq!(info.dtype, DType::F64);
        assert!(l == low_rank && s == sparse);
    }
    let short = matrix(&context, Order::RowMajor, SIZE, |i, j| (i * j) as u16);
    assert_eq!(split::<f32>(&context, &short, None, &Options::default()).unwrap().2.dtype, DType::F32);
}
