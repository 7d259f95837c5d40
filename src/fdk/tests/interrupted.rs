//! Calls that are cancelled while a batch is projected back on the CPU. The panels are small, so that the filter takes no
//! time, and the volume large.

use std::cell::RefCell;
use std::sync::Arc;

use super::session::{Scan, cpu};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::sink::CallbackSink;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fdk::geometry::{Detector, Geometry, Grid, Orbit};
use crate::fdk::options::{Options, Precision};
use crate::fdk::{Fdk, Info, Projections, Volume};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// `views` of 8 x 8 pixels around a cube of `size`^3 voxels, the panel upright or turned a little against the axis.
fn scan(views: usize, size: usize, tilt: f64) -> Scan {
    let detector = Detector { columns: 8, rows: 8, column_pitch: 30.0, row_pitch: 30.0 };
    let orbit = Orbit {
        source_to_axis: 500.0,
        source_to_detector: 1000.0,
        column_offset: 0.0,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    let angles: Vec<f64> = (0..views).map(|n| n as f64 * std::f64::consts::TAU / views as f64).collect();
    let upright = Geometry::circular(detector, &orbit, &angles).unwrap();
    let matrices = upright.views.iter().map(|v| {
        let mut m: [f64; 12] = std::array::from_fn(|k| v.matrix[k / 4][k % 4]);
        (0..3).for_each(|r| m[4 * r + 2] += tilt * m[4 * r]);
        m
    });
    let geometry = Geometry::from_matrices(detector, &matrices.collect::<Vec<_>>()).unwrap();
    assert_eq!(geometry.is_vertical(), tilt == 0.0);
    let spacing = 100.0 / size as f64;
    let origin = -(size as f64 - 1.0) / 2.0 * spacing;
    Scan {
        dims: [8, 8, views],
        projections: (0..64 * views).map(|k| 1.0 + (k % 13) as f32).collect(),
        geometry,
        grid: Grid { size: [size; 3], spacing: [spacing; 3], origin: [origin; 3] },
    }
}

fn volume(context: &Arc<Context>, scan: &Scan) -> Tensor {
    Tensor::create(context, DType::F32, Location::Host, Order::ColumnMajor, &scan.grid.size).unwrap()
}

/// Scans whose one batch takes much longer than the time between two reports, with their options.
fn long_batches() -> impl Iterator<Item = (&'static str, Scan, Options)> {
    let double = Options { precision: Precision::F64, ..Options::default() };
    let slabs = Options { slab: 256, ..Options::default() };
    [
        ("upright", scan(16, 384, 0.0), Options::default()),
        ("in slabs", scan(16, 384, 0.0), slabs),
        ("tilted", scan(16, 256, 0.02), Options::default()),
        ("double", scan(16, 96, 0.0), double),
    ]
    .into_iter()
}

fn is_cancelled<R>(outcome: Result<R>) -> bool {
    matches!(outcome, Err(Error::Cancelled))
}

/// Each is called within the batch, not at its end, and ends the call there. `check` makes the call with a report.
fn check(name: &str, before_the_end: (i64, i64), mut call: impl FnMut(&dyn Fn(i64, i64, f64) -> bool) -> Result<()>) {
    let seen = RefCell::new(Vec::new());
    let stop = |done: i64, all: i64, _: f64| {
        seen.borrow_mut().push((done, all));
        false
    };
    assert!(is_cancelled(call(&stop)), "{name}");
    assert_eq!(seen.take(), [before_the_end], "{name}");
}

#[test]
fn a_run_ends_within_a_batch() {
    for (name, scan, options) in long_batches() {
        let context = cpu(0);
        let mut fdk = scan.fdk(&context, options);
        let (input, mut out) = (scan.tensor(&context), volume(&context, &scan));
        let steps = fdk.planned_info().get().slabs * 16;
        check(name, (0, steps), |report| {
            let input = Projections::Tensor(&input);
            fdk.reconstruct(None, input, Volume::Tensor(&mut out), Some(report)).map(drop)
        });
        // No slice of a slab that was begun reaches a sink.
        let write = |_: &Block, _: &[u8]| panic!("{name}: slices of a part of the views");
        let mut sink = CallbackSink::new(ArrayInfo::new(Number::F32, &scan.grid.size).unwrap(), Box::new(write));
        check(name, (0, steps), |report| {
            let input = Projections::Tensor(&input);
            fdk.reconstruct(None, input, Volume::Sink(&mut sink), Some(report)).map(drop)
        });
    }
}

#[test]
fn a_cancel_of_the_object_is_heard_within_a_batch() {
    for (name, scan, options) in long_batches() {
        let context = cpu(0);
        let mut fdk = scan.fdk(&context, options);
        let (input, mut out) = (scan.tensor(&context), volume(&context, &scan));
        let handle = fdk.cancel_handle();
        let seen = RefCell::new(0);
        let report = |done: i64, _: i64, _: f64| {
            assert_eq!(done, 0, "{name}");
            *seen.borrow_mut() += 1;
            handle.cancel();
            true
        };
        let outcome = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), Some(&report));
        assert!(is_cancelled(outcome), "{name}");
        // Nothing is reported after the cancellation.
        assert_eq!(seen.take(), 1, "{name}");
    }
}

/// The volume of a whole scan that is pushed at once.
fn pushed(fdk: &mut Fdk, views: &[i64], input: &Tensor, out: &mut Tensor) -> Info {
    fdk.begin(None).unwrap();
    fdk.push(views, input).unwrap();
    fdk.finish(Volume::Tensor(out), None).unwrap()
}

#[test]
fn a_scan_that_is_cancelled_within_a_batch_is_dropped() {
    for (name, scan, options) in long_batches() {
        let context = cpu(0);
        let options = Options { allow_missing: true, ..options };
        let mut fdk = scan.fdk(&context, options);
        let (input, mut out) = (scan.tensor(&context), volume(&context, &scan));
        let all: Vec<i64> = (0..16).collect();
        let used = context.host_budget().used();
        let is_dropped = |fdk: &mut Fdk, out: &mut Tensor| {
            // A part of the batch is in the volume, so nothing takes more views, and nothing hands the volume out.
            assert_eq!(context.host_budget().used(), used, "{name}");
            assert!(is_cancelled(fdk.push(&all, &input)), "{name}");
            assert!(is_cancelled(fdk.finish(Volume::Tensor(out), None)), "{name}");
            assert_eq!(fdk.planned_info().get().views_pushed, 0, "{name}");
        };
        fdk.begin(None).unwrap();
        if options.slab == 0 {
            check(name, (0, 16), |report| fdk.push_reporting(&all, &input, Some(report)));
            is_dropped(&mut fdk, &mut out);
            // Views that fill no batch are projected back by the finish.
            fdk.begin(None).unwrap();
            fdk.push(&all[..15], &scan.part(&context, &all[..15])).unwrap();
            check(name, (14, 15), |report| fdk.finish(Volume::Tensor(&mut out), Some(report)).map(drop));
        } else {
            // A scan whose slabs are thinner than the volume is kept as views, which the finish projects back.
            fdk.push(&all, &input).unwrap();
            let steps = fdk.planned_info().get().slabs * 16;
            check(name, (0, steps), |report| fdk.finish(Volume::Tensor(&mut out), Some(report)).map(drop));
        }
        is_dropped(&mut fdk, &mut out);
    }
}

#[test]
fn many_short_batches_of_one_push_are_heard_between() {
    // Each batch takes about a millisecond, which no thread waits for.
    let scan = scan(16_000, 64, 0.0);
    let context = cpu(0);
    let mut fdk = scan.fdk(&context, Options::default());
    let input = scan.tensor(&context);
    let all: Vec<i64> = (0..16_000).collect();
    fdk.begin(None).unwrap();
    check("push", (0, 16_000), |report| fdk.push_reporting(&all, &input, Some(report)));
    assert!(is_cancelled(fdk.push(&all, &input)));
}

#[test]
fn an_object_whose_calls_were_cancelled_gives_the_same_bits() {
    let scan = scan(40, 200, 0.0);
    let context = cpu(0);
    let (input, mut want, mut out) = (scan.tensor(&context), volume(&context, &scan), volume(&context, &scan));
    let all: Vec<i64> = (0..40).collect();
    let options = Options { allow_missing: true, ..Options::default() };
    pushed(&mut scan.fdk(&context, options), &all, &input, &mut want);
    let mut fdk = scan.fdk(&context, options);
    let stop = |_: i64, _: i64, _: f64| false;
    fdk.begin(None).unwrap();
    assert!(is_cancelled(fdk.push_reporting(&all, &input, Some(&stop))));
    pushed(&mut fdk, &all, &input, &mut out);
    assert!(out.view::<f32>("out").unwrap().data() == want.view::<f32>("want").unwrap().data());
    // A finish that is cancelled, too, although missing views are allowed.
    fdk.begin(None).unwrap();
    fdk.push(&all[..39], &scan.part(&context, &all[..39])).unwrap();
    assert!(is_cancelled(fdk.finish(Volume::Tensor(&mut out), Some(&stop))));
    assert!(is_cancelled(fdk.finish(Volume::Tensor(&mut out), None)));
    // A run of a scan of its own leaves the one that is pushed alone.
    fdk.begin(None).unwrap();
    fdk.push(&all[..39], &scan.part(&context, &all[..39])).unwrap();
    let outcome = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), Some(&stop));
    assert!(is_cancelled(outcome));
    fdk.push(&all[39..], &scan.part(&context, &all[39..])).unwrap();
    fdk.finish(Volume::Tensor(&mut out), None).unwrap();
    assert!(out.view::<f32>("out").unwrap().data() == want.view::<f32>("want").unwrap().data());
}
