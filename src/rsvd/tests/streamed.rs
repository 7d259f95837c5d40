//! Matrices that are read in blocks: the same numbers as in memory, the bytes read, and readers that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::{
    Dense, MatrixLayout, PACKED, blank, cpu, factor, factor_with, gpu, matrix, read_npy, vector, with_spectrum,
};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::source::{CallbackSource, HostSource, Source};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, SharedSource};
use crate::rsvd::options::{Centering, ErrorKind, Method, Right};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, DType};
use crate::shape::Order;
use crate::tensor::Location;

/// The bytes of a matrix, row by row or column by column, and their array.
fn bytes(a: &Dense<f64>, order: Order) -> (ArrayInfo, Vec<u8>) {
    let mut out = Vec::new();
    let (dims, lines, length) = match order {
        Order::RowMajor => ([a.columns, a.rows], a.rows, a.columns),
        Order::ColumnMajor => ([a.rows, a.columns], a.columns, a.rows),
    };
    for line in 0..lines {
        for k in 0..length {
            let x = if order == Order::RowMajor { a.at(line, k) } else { a.at(k, line) };
            out.extend_from_slice(&x.to_ne_bytes());
        }
    }
    (ArrayInfo::new(Number::F64, &dims).unwrap(), out)
}

/// A matrix over a reader that fails at its `fail`-th call and counts the bytes that it gave.
pub fn streamed(
    context: &Arc<Context>,
    a: &Dense<f64>,
    order: Order,
    fail: Option<usize>,
) -> (Matrix, Arc<AtomicUsize>) {
    let before = move |call: usize| match fail {
        Some(fail) if fail == call => Err(Error::Io { path: "reader".into(), problem: "gave up".into() }),
        _ => Ok(()),
    };
    watched(context, a, order, before)
}

/// A matrix over a reader that calls `before` with the number of each call, from 0 on, and counts the bytes that it gave.
pub fn watched(
    context: &Arc<Context>,
    a: &Dense<f64>,
    order: Order,
    before: impl Fn(usize) -> Result<()> + Send + Sync + 'static,
) -> (Matrix, Arc<AtomicUsize>) {
    let (info, data) = bytes(a, order);
    let (read, calls) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
    let (count, inner) = (Arc::clone(&read), info.clone());
    let reader = move |block: &Block, out: &mut [u8]| {
        before(calls.fetch_add(1, Ordering::Relaxed))?;
        count.fetch_add(out.len(), Ordering::Relaxed);
        HostSource::new(inner.clone(), &data)?.read(block, out)
    };
    let source = CallbackSource::new(info, Box::new(reader));
    (Matrix::from_source(context, SharedSource::new(Box::new(source)), order).unwrap(), read)
}

/// The first pass asks for a factor with which all that the later ones read vanishes.
fn check_changed_size(context: &Arc<Context>) {
    let a = with_spectrum::<f64>(context, 40, 25, &[4.0, 3.0, 2.0, 1.0, 0.5], 3);
    let (info, data) = bytes(&a, Order::RowMajor);
    let a = Dense { data: a.data.iter().map(|x| x * 1e200).collect(), ..a };
    let (_, huge) = bytes(&a, Order::RowMajor);
    for method in [Method::Auto, Method::Fused, Method::Krylov, Method::Gram, Method::Direct, Method::Range] {
        let (bytes_read, inner, data, huge) = (AtomicUsize::new(0), info.clone(), data.clone(), huge.clone());
        let reader = move |block: &Block, out: &mut [u8]| {
            let is_first = bytes_read.fetch_add(out.len(), Ordering::Relaxed) < data.len();
            HostSource::new(inner.clone(), if is_first { &huge } else { &data })?.read(block, out)
        };
        let source = SharedSource::new(Box::new(CallbackSource::new(info.clone(), Box::new(reader))));
        let m = Matrix::from_source(context, source, Order::RowMajor).unwrap();
        let options = Options { rank: 4, method, block_rows: 10, ..Options::default() };
        let e = factor::<f64>(context, &m, options).map(|f| f.s).unwrap_err();
        assert!(e.to_string().contains("when they are read again"), "{method:?}: {e}");
    }
}

#[test]
fn entries_of_another_size_in_a_later_pass_are_no_success() {
    check_changed_size(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn entries_of_another_size_in_a_later_pass_are_no_success_on_a_gpu() {
    check_changed_size(&gpu());
}

/// A reader whose numbers are not finite from some read on, also in the last pass alone: no factors are returned.
fn check_late_numbers(context: &Arc<Context>) {
    type Call = fn(&mut Rsvd, &Matrix, &Arc<Context>) -> Result<()>;
    let calls: [(&str, Call); 2] = [
        ("range", |session, a, context| {
            let (rows, columns) = (a.rows(), a.cols());
            let (mut q, mut b) = (blank::<f64>(context, rows, 4), blank::<f64>(context, 4, columns));
            session.range(None, a, &mut q, Some(&mut b), None).map(|_| ())
        }),
        ("compute", |session, a, context| {
            let mut s = vector(context, 4);
            session.compute(None, a, Outputs { u: None, s: Some(&mut s), v: None }, None).map(|_| ())
        }),
    ];
    for (rows, columns, order) in [(40, 25, Order::RowMajor), (25, 40, Order::RowMajor), (40, 25, Order::ColumnMajor)] {
        let a = with_spectrum::<f64>(context, rows, columns, &[4.0, 3.0, 2.0, 1.0, 0.5], 3);
        let (info, data) = bytes(&a, order);
        for (name, call) in calls {
            let run = |late: usize| {
                let (reads, inner, data) = (Arc::new(AtomicUsize::new(0)), info.clone(), data.clone());
                let count = Arc::clone(&reads);
                let reader = move |block: &Block, out: &mut [u8]| {
                    HostSource::new(inner.clone(), &data)?.read(block, out)?;
                    if count.fetch_add(1, Ordering::Relaxed) >= late {
                        out[..8].copy_from_slice(&f64::NAN.to_ne_bytes());
                    }
                    Ok(())
                };
                let source = CallbackSource::new(info.clone(), Box::new(reader));
                let a = Matrix::from_source(context, SharedSource::new(Box::new(source)), order).unwrap();
                let options = Options { rank: 4, power_iterations: Some(1), ..Options::default() };
                let found = call(&mut Rsvd::new(context, options).unwrap(), &a, context);
                (found, reads.load(Ordering::Relaxed))
            };
            let (found, reads) = run(usize::MAX);
            found.unwrap();
            for late in 0..reads {
                let found = run(late).0;
                let is_refused = matches!(found, Err(Error::InvalidArgument { .. } | Error::Numerical(_)));
                assert!(is_refused, "{name} {rows} x {columns} {order:?}: from read {late} of {reads}: {found:?}");
            }
        }
    }
}

#[test]
fn numbers_that_are_not_finite_in_the_last_pass_are_refused() {
    check_late_numbers(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn numbers_that_are_not_finite_in_the_last_pass_are_refused_on_a_gpu() {
    check_late_numbers(&gpu());
}

#[test]
fn a_source_gives_the_numbers_of_memory_and_is_read_once_a_pass() {
    let context = cpu();
    for name in ["geo_200x120.npy", "wide_60x200.npy"] {
        let a = read_npy::<f64>(name);
        let whole = matrix(&context, &a, PACKED);
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for method in [Method::Basic, Method::Fused, Method::RowFused, Method::Gram, Method::Merge, Method::Range] {
                let options = Options {
                    rank: 8,
                    power_iterations: Some(6),
                    oversampling: Some(12),
                    method,
                    block_rows: 32,
                    ..Options::default()
                };
                let right = factor::<f64>(&context, &whole, options.clone()).unwrap();
                let (m, read) = streamed(&context, &a, order, None);
                let found = factor::<f64>(&context, &m, options).unwrap();
                for (x, y) in found.s.iter().zip(&right.s) {
                    assert!((x - y).abs() < 1e-8, "{name} {order:?} {method:?}: {x} {y}");
                }
                assert_eq!(found.info.transposed, order == Order::ColumnMajor);
                let size = a.rows * a.columns * 8;
                let given = read.load(Ordering::Relaxed);
                let passes = usize::try_from(found.info.passes).unwrap();
                assert_eq!(given, passes * size, "{name} {order:?} {method:?}");
                assert_eq!(found.info.bytes_read, i64::try_from(given).unwrap(), "{name} {order:?} {method:?}");
            }
        }
    }
}

#[test]
fn the_bytes_predicted_are_those_that_move() {
    let context = cpu();
    let a = read_npy::<f64>("geo_200x120.npy");
    let (m, _) = streamed(&context, &a, Order::RowMajor, None);
    let whole = matrix(&context, &a, PACKED);
    for method in Method::ALL {
        for center in [Centering::None, Centering::Columns, Centering::Rows] {
            for error in [ErrorKind::Identity, ErrorKind::Probes, ErrorKind::Power] {
                let options = Options { rank: 8, method, center, error, block_rows: 32, ..Options::default() };
                let mut rsvd = Rsvd::new(&context, options).unwrap();
                let planned = rsvd.plan(&m).unwrap();
                let info = factor_with::<f64>(&mut rsvd, &m).unwrap().info;
                let name = format!("{method:?} {center:?} {error:?}: {}", info.reason);
                assert_eq!(planned.bytes_predicted, info.bytes_read, "{name}");
                assert_eq!((info.bytes_predicted, info.bytes_to_device), (info.bytes_read, 0), "{name}");
                assert_eq!((planned.blocks, planned.block_rows), (7, 32), "{name}");
                assert_eq!(planned.bytes_predicted, info.passes * 200 * 120 * 8, "{name}");
                // Rows in memory are not copied.
                assert_eq!(rsvd.plan(&whole).unwrap().bytes_predicted, 0, "{name}");
            }
        }
    }
    // How many passes a tolerance takes shows in the end.
    let mut rsvd = Rsvd::new(&context, Options { tolerance: 1e-3, ..Options::default() }).unwrap();
    assert_eq!(rsvd.plan(&m).unwrap().bytes_predicted, 0);
    let info = factor_with::<f64>(&mut rsvd, &m).unwrap().info;
    assert!(info.bytes_predicted == 0 && info.bytes_read > 0);
}

#[test]
fn a_reader_that_fails_ends_the_run_and_can_be_used_again() {
    let context = cpu();
    let a = read_npy::<f64>("geo_200x120.npy");
    let options = Options { rank: 8, method: Method::Fused, block_rows: 64, ..Options::default() };
    let mut rsvd = Rsvd::new(&context, options).unwrap();
    for fail in [0, 1, 3, 5] {
        let (m, _) = streamed(&context, &a, Order::RowMajor, Some(fail));
        let e = factor_with::<f64>(&mut rsvd, &m).err().unwrap();
        assert!(matches!(&e, Error::Io { problem, .. } if problem == "gave up"), "{fail}: {e}");
        assert!(factor_with::<f64>(&mut rsvd, &m).is_ok(), "{fail}: the call after the failure");
    }
}

/// Complex numbers are converted to the other precision, not to real ones.
fn check_complex_conversion(context: &Arc<Context>) {
    let single =
        with_spectrum::<Complex<f32>>(context, 60, 30, &(0..30).map(|j| 0.8f32.powi(j).into()).collect::<Vec<_>>(), 7);
    let wide = single.data.iter().map(|x| Complex::new(f64::from(x.re), f64::from(x.im))).collect();
    let double = Dense { rows: 60, columns: 30, data: wide };
    for (center, scale) in [(Centering::None, false), (Centering::Columns, true), (Centering::Rows, false)] {
        for order in [Order::ColumnMajor, Order::RowMajor] {
            if scale && order == Order::ColumnMajor {
                continue;
            }
            let layout = MatrixLayout { order, gap: 0 };
            let options = |dtype| Options { rank: 5, dtype: Some(dtype), center, scale, ..Options::default() };
            let (a, b) = (matrix(context, &single, layout), matrix(context, &double, layout));
            let f = factor::<Complex<f64>>(context, &a, options(DType::CF64)).unwrap();
            let right = factor::<Complex<f64>>(context, &b, options(DType::CF64)).unwrap();
            let far = |s: &[f64]| s.iter().zip(&right.s).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
            assert!(far(&f.s) < 1e-12 * right.s[0], "{center:?} {order:?}: {:?} {:?}", f.s, right.s);
            let f = factor::<Complex<f32>>(context, &b, options(DType::CF32)).unwrap();
            assert!(far(&f.s) < 1e-5 * right.s[0], "{center:?} {order:?}: {:?} {:?}", f.s, right.s);
            for (a, dtype, name) in [(&a, DType::F32, "CF32"), (&b, DType::F64, "CF64")] {
                let e = Rsvd::new(context, options(dtype)).unwrap().plan(a).unwrap_err().to_string();
                assert!(e.starts_with(&format!("a: is {name}, which is not converted to")), "{e}");
            }
        }
    }
}

#[test]
fn complex_numbers_are_converted() {
    check_complex_conversion(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn complex_numbers_are_converted_on_a_gpu() {
    check_complex_conversion(&gpu());
}

#[test]
fn integers_are_converted_and_computed_with_as_asked() {
    let context = cpu();
    let (rows, columns) = (90, 40);
    let values: Vec<u8> = (0..rows * columns).map(|k| ((k * k + 31 * k) % 251) as u8).collect();
    let a = Dense { rows, columns, data: values.iter().map(|x| f64::from(*x)).collect() };
    let right = factor::<f64>(&context, &matrix(&context, &a, PACKED), Options { rank: 5, ..Options::default() });
    let right = right.unwrap();
    let info = ArrayInfo::new(Number::U8, &[rows, columns]).unwrap();
    let data = values.clone();
    let inner = info.clone();
    let reader = move |block: &Block, out: &mut [u8]| HostSource::new(inner.clone(), &data)?.read(block, out);
    let source = SharedSource::new(Box::new(CallbackSource::new(info, Box::new(reader))));
    let m = Matrix::from_source(&context, source, Order::ColumnMajor).unwrap();
    let double = Options { rank: 5, dtype: Some(DType::F64), right: Right::V, ..Options::default() };
    let f = factor::<f64>(&context, &m, double).unwrap();
    f.s.iter().zip(&right.s).for_each(|(x, y)| assert!((x - y).abs() < 1e-2 * right.s[0], "{x} {y}"));
    let f = factor::<f32>(&context, &m, Options { rank: 5, ..Options::default() }).unwrap();
    assert_eq!(f.info.dtype, DType::F32);
    assert!((f.s[0] - right.s[0]).abs() < 1e-5 * right.s[0]);
}

/// Integers of 32 bits that F32 rounds, in memory and from a source.
fn check_wide_integers(context: &Arc<Context>) {
    let (rows, columns) = (90, 40);
    // Odd numbers beyond 2^24, in a matrix of rank 1.
    let value = (1i32 << 24) + 1;
    let expected = f64::from(value) * ((rows * columns) as f64).sqrt();
    let data: Vec<u8> = std::iter::repeat_n(value.to_ne_bytes(), rows * columns).flatten().collect();
    for number in [Number::I32, Number::U32] {
        let info = ArrayInfo::new(number, &[rows, columns]).unwrap();
        let (inner, data) = (info.clone(), data.clone());
        let reader = move |block: &Block, out: &mut [u8]| HostSource::new(inner.clone(), &data)?.read(block, out);
        let source = SharedSource::new(Box::new(CallbackSource::new(info, Box::new(reader))));
        let streamed = Matrix::from_source(context, source, Order::ColumnMajor).unwrap();
        let mut dense =
            Matrix::create(context, number.dtype(), Location::Host, Order::RowMajor, rows, columns).unwrap();
        let memory = dense.dense_mut("a").unwrap().memory.host_mut("a").unwrap();
        match number {
            Number::I32 => memory.as_mut_slice::<i32>().unwrap().fill(value),
            _ => memory.as_mut_slice::<u32>().unwrap().fill(value.cast_unsigned()),
        }
        for m in [streamed, dense] {
            let options =
                |dtype| Options { rank: 1, oversampling: Some(4), right: Right::V, dtype, ..Options::default() };
            let f = factor::<f64>(context, &m, options(None)).unwrap();
            assert_eq!(f.info.dtype, DType::F64, "{number:?}");
            assert!((f.s[0] - expected).abs() < 1e-12 * expected, "{number:?}: {} of {expected}", f.s[0]);
            let f = factor::<f32>(context, &m, options(Some(DType::F32))).unwrap();
            assert_eq!(f.info.dtype, DType::F32, "{number:?}");
            assert!((f.s[0] - expected).abs() < 1e-5 * expected, "{number:?}: {} of {expected}", f.s[0]);
        }
    }
}

#[test]
fn integers_of_32_bits_are_computed_with_in_double_precision() {
    check_wide_integers(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn integers_of_32_bits_are_computed_with_in_double_precision_on_a_gpu() {
    check_wide_integers(&gpu());
}
