//! Scans that are pushed and whose volume does not fit are stored as line integrals of the precision that was asked
//! for.

use std::sync::Arc;

use super::golden::GRID;
use super::session::{Scan, cpu, scan, tensor};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fdk::counts::Counts;
use crate::fdk::options::{Options, Precision};
use crate::fdk::{Fdk, Info, Projections, Volume};
use crate::scalar::{DType, Element};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// The bits of a volume in double precision.
type Bits = Vec<u64>;

fn volume(context: &Arc<Context>) -> Tensor {
    Tensor::create(context, DType::F64, Location::Host, Order::ColumnMajor, &GRID.size).unwrap()
}

fn bits(volume: &Tensor) -> Bits {
    volume.view::<f64>("volume").unwrap().data().iter().map(|x| x.to_bits()).collect()
}

fn counts() -> Counts {
    Counts { unattenuated: 50_000.0, unattenuated_image: None, dark: None, least: 0.0 }
}

fn fdk(context: &Arc<Context>, scan: &Scan, slab: usize, is_counts: bool) -> Fdk {
    let mut fdk = scan.fdk(context, Options { precision: Precision::F64, slab, ..Options::default() });
    fdk.set_counts(is_counts.then(counts)).unwrap();
    fdk
}

/// Pushes the scan, whose volume is cut into slabs.
fn pushed(context: &Arc<Context>, scan: &Scan, input: &Tensor, is_counts: bool) -> Result<(Bits, Info)> {
    // Before the begin, so that it does not count.
    let mut out = volume(context);
    let mut fdk = fdk(context, scan, 16, is_counts);
    fdk.begin(None)?;
    fdk.push(&(0..scan.dims[2] as i64).collect::<Vec<_>>(), input)?;
    let info = fdk.finish(Volume::Tensor(&mut out), None)?;
    Ok((bits(&out), info))
}

/// Pixels of a type give the bits of a whole reconstruction, and take `bytes` each.
fn check<T: Element>(pixel: impl Fn(f32) -> T, is_counts: bool, bytes: i64) {
    let (scan, context) = (scan("full"), cpu(0));
    let pixels: Vec<T> = scan.projections.iter().map(|p| pixel(*p)).collect();
    let input = tensor(&context, Order::ColumnMajor, &scan.dims, &pixels);
    let mut want = volume(&context);
    let mut whole = fdk(&context, &scan, 0, is_counts);
    let planned = whole.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut want), None).unwrap();
    let (got, info) = pushed(&context, &scan, &input, is_counts).unwrap();
    assert_eq!((info.slabs, info.slab), (3, 16), "{:?}", T::DTYPE);
    assert!(got == bits(&want), "{:?}", T::DTYPE);
    let stored = bytes * (scan.dims.iter().product::<usize>() as i64);
    assert!(info.host_bytes >= stored && info.host_bytes < stored + planned.host_bytes, "{:?}: {info:?}", T::DTYPE);
    assert!(info.host_bytes_used >= stored && info.host_bytes_used <= info.host_bytes, "{:?}: {info:?}", T::DTYPE);
}

#[test]
fn stored_views_have_the_precision_that_was_asked_for() {
    check(|p| f64::from(p) / 3.0, false, 8);
    check(|p| (f64::from(p) * 1e9) as i32, false, 8);
    check(|p| (50_000.0 * f64::from(-p / 20.0).exp()).round() as u16, true, 8);
    check(|p| 50_000.0 * f64::from(-p / 20.0).exp(), true, 8);
    // F32 holds these line integrals exactly.
    check(|p| p, false, 4);
    check(|p| (p * 1000.0) as i16, false, 4);
}

/// A limit that holds line integrals in F32 alone refuses the scan, and the error names the bytes needed.
#[test]
fn stored_views_that_do_not_fit_are_refused() {
    let scan = scan("full");
    let begin = |limit: u64, precision: Precision| {
        let context = cpu(limit);
        let mut fdk = scan.fdk(&context, Options { precision, slab: 16, ..Options::default() });
        fdk.set_counts(Some(counts())).unwrap();
        fdk.begin(None)
    };
    let needed = |precision: Precision| match begin(100_000, precision) {
        Err(Error::OutOfMemory { bytes, limit: Some(100_000), .. }) => bytes,
        other => panic!("{precision:?}: {other:?}"),
    };
    let (single, double) = (needed(Precision::F32), needed(Precision::F64));
    let pixels = scan.dims.iter().product::<usize>() as u64;
    assert!(double >= 8 * pixels && single < double, "{single} {double}");
    begin(double, Precision::F64).unwrap();
    assert!(matches!(begin(double - 1, Precision::F64), Err(Error::OutOfMemory { bytes, .. }) if bytes == double));
    // Line integrals of F64 that come after a begin for F32 are refused before a view is added.
    let context = cpu(4 * pixels + 2_000_000);
    let mut fdk = scan.fdk(&context, Options { precision: Precision::F64, slab: 16, ..Options::default() });
    fdk.begin(None).unwrap();
    let view = tensor(&context, Order::ColumnMajor, &scan.dims[..2], &vec![0.1; scan.dims[0] * scan.dims[1]]);
    let refused = fdk.push(&[0], &view);
    assert!(matches!(refused, Err(Error::OutOfMemory { bytes, .. }) if bytes >= 8 * pixels), "{refused:?}");
}
