//! A scan that is being pushed is kept until its volume has been handed over, and pixels that are not finite are
//! counted.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use super::device::moved;
use super::golden::GRID;
use super::oblique;
use super::session::{Scan, cpu, empty, scan, values};
use crate::backend::BackendChoice;
use crate::backend::free::host_memory_free;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::metaimage::{MetaImageSink, MetaImageSource};
use crate::blocks::number::Number;
use crate::blocks::sink::CallbackSink;
use crate::blocks::source::Source;
use crate::context::{Context, Options as ContextOptions};
use crate::error::Error;
use crate::fdk::geometry::Grid;
use crate::fdk::options::{Options, Precision};
use crate::fdk::{Fdk, Projections, Volume};
use crate::log::Level;
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// Options that every voxel is changed by on its way out, so that one that left twice shows.
pub(super) fn scaled(precision: Precision, slab: usize) -> Options {
    Options { output_scale: 3.0, output_offset: -2.0, fov_mask: true, precision, slab, ..Options::default() }
}

fn io(problem: &str) -> Error {
    Error::Io { path: "volume".into(), problem: problem.into() }
}

/// A disk that is full after some slices does not cost the scan: neither of the next two finishes may see an effect of
/// the first.
pub(super) fn check_retained(context: &Arc<Context>, options: Options) {
    let scan = scan("full");
    let mut fdk = scan.fdk(context, options);
    let input = scan.tensor(context);
    let mut want = empty(context);
    fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut want), None).unwrap();
    fdk.begin(None).unwrap();
    fdk.push(&(0..90).collect::<Vec<_>>(), &input).unwrap();
    for good in [0usize, 20] {
        // A GPU hands all slices of a small slab over in one block, so the end of a block counts.
        let write = |block: &Block, _: &[u8]| {
            if block.first()[2] + block.count()[2] <= good { Ok(()) } else { Err(io("no space left")) }
        };
        let mut sink = CallbackSink::new(ArrayInfo::new(Number::F32, &GRID.size).unwrap(), Box::new(write));
        let e = fdk.finish(Volume::Sink(&mut sink), None).unwrap_err();
        assert_eq!(e, io("no space left"), "{options:?}");
        assert_eq!(fdk.planned_info().get().views_pushed, 90);
    }
    // Another type first, then the one that matters.
    let mut narrow = Tensor::create(context, DType::I16, Location::Host, Order::ColumnMajor, &[1, 1, 1]).unwrap();
    let e = fdk.finish(Volume::Tensor(&mut narrow), None).unwrap_err();
    assert!(e.to_string().starts_with("volume: has dimensions"), "{e}");
    let mut got = empty(context);
    let info = fdk.finish(Volume::Tensor(&mut got), None).unwrap();
    assert!(values(&got) == values(&want), "{options:?}");
    assert_eq!(info.views_pushed, 90);
    let e = fdk.finish(Volume::Tensor(&mut got), None).unwrap_err();
    assert_eq!(e.to_string(), "fdk: has no scan to finish: begin comes first");
}

#[test]
fn a_finish_that_fails_keeps_the_scan() {
    let context = cpu(0);
    for precision in [Precision::F32, Precision::F64] {
        for slab in [0, 16] {
            check_retained(&context, scaled(precision, slab));
        }
    }
    assert_eq!(context.host_budget().used(), 0);
}

#[test]
fn a_whole_scan_leaves_the_one_that_is_being_pushed() {
    check_left_alone(&cpu(0));
}

/// Reconstructs another scan between two halves of one that is pushed.
pub(super) fn check_left_alone(context: &Arc<Context>) {
    let pushed = scan("full");
    let mut fdk = pushed.fdk(context, Options::default());
    let input = pushed.tensor(context);
    let (mut want, mut other, mut got) = (empty(context), empty(context), empty(context));
    fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut want), None).unwrap();
    fdk.begin(None).unwrap();
    let half: Vec<i64> = (0..45).collect();
    fdk.push(&half, &pushed.part(context, &half)).unwrap();
    let zeros = Tensor::create(context, DType::F32, Location::Host, Order::ColumnMajor, &pushed.dims).unwrap();
    let info = fdk.reconstruct(None, Projections::Tensor(&zeros), Volume::Tensor(&mut other), None).unwrap();
    assert!(values(&other).iter().all(|v| *v == 0.0) && info.views_pushed == 45);
    let rest: Vec<i64> = (45..90).collect();
    fdk.push(&rest, &pushed.part(context, &rest)).unwrap();
    fdk.finish(Volume::Tensor(&mut got), None).unwrap();
    assert!(values(&got) == values(&want));
}

#[test]
fn pushes_report_their_views_and_stop_when_cancelled() {
    check_reports(&cpu(0));
}

#[test]
#[ignore = "needs a GPU"]
fn pushes_report_their_views_and_stop_when_cancelled_on_a_gpu() {
    check_reports(&super::device::gpu(0, 0));
}

/// Each push reports the views so far and all views, and ends the scan where the function says so.
fn check_reports(context: &Arc<Context>) {
    let scan = scan("full");
    let mut fdk = scan.fdk(context, Options::default());
    let seen = RefCell::new(Vec::new());
    let report = |step: i64, steps: i64, _: f64| {
        seen.borrow_mut().push((step, steps));
        true
    };
    let figures = fdk.planned_info();
    fdk.begin(None).unwrap();
    for v in 0..90 {
        fdk.push_reporting(&[v], &scan.part(context, &[v]), Some(&report)).unwrap();
        assert_eq!(figures.get().views_pushed, v + 1);
    }
    assert_eq!((seen.borrow().first(), seen.borrow().last()), (Some(&(1, 90)), Some(&(90, 90))));
    let mut out = empty(context);
    fdk.finish(Volume::Tensor(&mut out), None).unwrap();
    fdk.begin(None).unwrap();
    let stop = |_: i64, _: i64, _: f64| false;
    assert_eq!(fdk.push_reporting(&[0], &scan.part(context, &[0]), Some(&stop)), Err(Error::Cancelled));
    assert_eq!(fdk.finish(Volume::Tensor(&mut out), None).map(|_| ()), Err(Error::Cancelled));
    fdk.begin(None).unwrap();
    fdk.push(&[0], &scan.part(context, &[0])).unwrap();
    drop(out);
}

/// A context whose warnings are collected.
pub(super) fn listening(backend: BackendChoice) -> (Arc<Context>, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let log: crate::log::Sink = Box::new(move |_, line: &str| sink.lock().unwrap().push(line.to_owned()));
    let options =
        ContextOptions { backend, threads: 2, log_level: Level::Warn, log: Some(log), ..ContextOptions::default() };
    (Context::new(options).unwrap(), lines)
}

/// Pixels that are not finite are counted in every way that a scan takes, and the log says so once a run.
pub(super) fn check_counted(backend: BackendChoice, precision: Precision) {
    let mut scan = scan("full");
    let (context, lines) = listening(backend);
    for (at, value) in [(2540, f32::NAN), (5120 * 40 + 2600, f32::INFINITY), (5120 * 40 + 2601, f32::NEG_INFINITY)] {
        scan.projections[at] = value;
    }
    for (sanitize, slab) in [(false, 0), (true, 0), (false, 16), (true, 16)] {
        let mut fdk = scan.fdk(&context, Options { sanitize, precision, ..Options::default() });
        let input = scan.tensor(&context);
        let mut out = empty(&context);
        let info = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
        // A pushed scan is looked at once, in however many slabs its volume is made.
        let mut fdk = scan.fdk(&context, Options { sanitize, precision, slab, ..Options::default() });
        fdk.begin(None).unwrap();
        fdk.push(&(0..90).collect::<Vec<_>>(), &input).unwrap();
        let mut other = empty(&context);
        let pushed = fdk.finish(Volume::Tensor(&mut other), None).unwrap();
        // A device makes the whole of a small volume at once.
        assert!(backend != BackendChoice::Cpu || (pushed.slabs > 1) == (slab > 0), "{} slabs", pushed.slabs);
        for info in [info, pushed] {
            let counted = (info.pixels_not_finite, info.pixels_sanitized);
            assert_eq!(
                counted,
                (3, if sanitize { 3 } else { 0 }),
                "slab {slab}, {} slabs, {backend:?} {precision:?}",
                info.slabs
            );
        }
        let bad = values(&out).iter().filter(|v| !v.is_finite()).count();
        assert!(if sanitize { bad == 0 } else { bad > 100 && bad < GRID.size.iter().product() }, "{sanitize} {bad}");
        let said = std::mem::take(&mut *lines.lock().unwrap());
        let said: Vec<&String> = said.iter().filter(|l| l.contains("3 pixels are not finite")).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert_eq!(said[0].contains("count as 0"), sanitize);
    }
}

#[test]
fn pixels_that_are_not_finite_are_always_counted() {
    check_counted(BackendChoice::Cpu, Precision::F32);
    check_counted(BackendChoice::Cpu, Precision::F64);
}

#[test]
#[ignore = "needs a GPU"]
fn pixels_that_are_not_finite_are_always_counted_on_a_gpu() {
    check_counted(BackendChoice::Cuda, Precision::F32);
}

/// The filter on its own says the same of its numbers, once a call.
fn check_filtered(backend: BackendChoice, place: Location) {
    let mut scan = scan("full");
    let (context, lines) = listening(backend);
    for (at, value) in [(2540, f32::NAN), (5120 + 2600, f32::INFINITY), (5120 + 2601, 3e38)] {
        scan.projections[at] = value;
    }
    for (precision, sanitize) in [(Precision::F32, false), (Precision::F32, true), (Precision::F64, false)] {
        let fdk = scan.fdk(&context, Options { sanitize, precision, ..Options::default() });
        if precision == Precision::F64 && place == Location::Device {
            let input = moved(&scan.part(&context, &[0]), place);
            let dims = [fdk.plan().columns, scan.dims[1], 1];
            let mut out = Tensor::create(&context, DType::F32, place, Order::ColumnMajor, &dims).unwrap();
            let error = fdk.filter(None, &[0], &input, &mut out).unwrap_err().to_string();
            assert!(error.contains("precision: is F64"), "{error}");
            continue;
        }
        let filter = |views: &[i64]| {
            let input = moved(&scan.part(&context, views), place);
            let dims = [fdk.plan().columns, scan.dims[1], views.len()];
            let mut out = Tensor::create(&context, DType::F32, place, Order::ColumnMajor, &dims).unwrap();
            fdk.filter(None, views, &input, &mut out).unwrap();
            let bad = values(&moved(&out, Location::Host)).iter().filter(|v| !v.is_finite()).count();
            (bad, std::mem::take(&mut *lines.lock().unwrap()))
        };
        let (bad, said) = filter(&[0, 1, 2]);
        assert!((bad == 0) == sanitize, "{precision:?} {sanitize}: {bad}");
        // Sums of F32 overflow far below its largest number. Plans in F64 have no such limit.
        let want = if precision == Precision::F32 {
            "weighted: 3 pixels are not finite or beyond"
        } else {
            "weighted: 2 pixels are not finite"
        };
        assert!(said.len() == 1 && said[0].contains(want), "{precision:?} {sanitize}: {said:?}");
        assert_eq!(said[0].contains("count as 0"), sanitize);
        assert_eq!(filter(&[2, 3]), (0, Vec::new()));
    }
}

#[test]
fn numbers_that_the_filter_cannot_take_are_logged() {
    check_filtered(BackendChoice::Cpu, Location::Host);
}

#[test]
#[ignore = "needs a GPU"]
fn numbers_that_the_filter_cannot_take_are_logged_on_a_gpu() {
    check_filtered(BackendChoice::Cuda, Location::Host);
    check_filtered(BackendChoice::Cuda, Location::Device);
}

#[test]
#[ignore = "needs a GPU"]
fn a_finish_that_fails_keeps_the_scan_on_a_gpu() {
    let context = super::device::gpu(0, 0);
    for slab in [0, 16] {
        check_retained(&context, scaled(Precision::F32, slab));
        check_retained(&context, Options { slab, ..Options::default() });
    }
}

#[test]
#[ignore = "needs a GPU"]
fn the_gpu_weighs_oblique_panels_as_the_cpu_does() {
    for (n, mut setup) in oblique::setups().into_iter().enumerate() {
        // A corner of the turned panel reaches less far beyond the axis.
        setup.offset *= 0.9;
        let turned = oblique::Tilt { yaw: 30.0, roll: 9.0, pitch: 25.0, ..oblique::Tilt::default() };
        for tilt in oblique::tilts().into_iter().map(|t| t.0).chain([turned]) {
            let geometry = oblique::geometry(&setup, &tilt);
            let (context, threads) = (super::device::gpu(0, 0), cpu(0));
            let d = geometry.detector;
            let projections = oblique::project(&geometry);
            let dims = [d.columns, d.rows, geometry.views.len()];
            let scan = Scan { dims, projections, geometry, grid: oblique::SLICES };
            let options = Options { redundancy: setup.asked, ..Options::default() };
            let run = |context: &Arc<Context>, options: Options| {
                let mut fdk = scan.fdk(context, options);
                let input = scan.tensor(context);
                let size = oblique::SLICES.size;
                let mut out = Tensor::create(context, DType::F32, Location::Host, Order::ColumnMajor, &size).unwrap();
                fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
                // The step on its own, too.
                let mut weighted =
                    Tensor::create(context, DType::F32, Location::Host, Order::ColumnMajor, &scan.dims).unwrap();
                let views: Vec<i64> = (0..scan.dims[2] as i64).collect();
                fdk.weight(None, &views, &input, &mut weighted).unwrap();
                (values(&out), values(&weighted), fdk.plan().length)
            };
            let (got, weighted, length) = run(&context, options);
            let (want, by_cpu, _) = run(&threads, Options { fft_length: length, ..options });
            let worst = |a: &[f32], b: &[f32]| {
                let largest = b.iter().fold(0f32, |m, v| m.max(v.abs()));
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) / largest
            };
            assert!(worst(&got, &want) < 2e-5, "{n} {tilt:?}: {:e}", worst(&got, &want));
            assert!(worst(&weighted, &by_cpu) < 1e-5, "{n} {tilt:?}: {:e}", worst(&weighted, &by_cpu));
        }
    }
}

#[test]
fn a_metaimage_without_a_place_gets_the_grid_s() {
    let (scan, context) = (scan("full"), cpu(0));
    let folder = super::scans::Folder::new("placed");
    let input = scan.tensor(&context);
    let mut fdk = scan.fdk(&context, Options::default());
    let mut want = empty(&context);
    fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut want), None).unwrap();
    for name in ["a.mha", "b.mhd"] {
        for given in [false, true] {
            let mut info = ArrayInfo::new(Number::F32, &GRID.size).unwrap();
            info.spacing = given.then(|| vec![7.0, 8.0, 9.0]);
            let path = folder.join(name);
            let mut sink = MetaImageSink::create(&path, info).unwrap();
            fdk.reconstruct(None, Projections::Tensor(&input), Volume::Sink(&mut sink), None).unwrap();
            drop(sink);
            let mut back = MetaImageSource::open(&path).unwrap();
            let spacing = if given { vec![7.0, 8.0, 9.0] } else { GRID.spacing.to_vec() };
            assert_eq!(back.info().spacing, Some(spacing), "{name}");
            assert_eq!(back.info().origin, Some(GRID.origin.to_vec()), "{name}");
            let mut bytes = vec![0u8; back.info().bytes()];
            let block = Block::whole(back.info());
            back.read(&block, &mut bytes).unwrap();
            assert!(super::scans::floats(&bytes) == values(&want), "{name}");
        }
    }
}

#[test]
fn a_scan_that_no_finish_could_complete_is_refused_when_it_begins() {
    let scan = scan("full");
    // 1.8 MB of views; the slices that are worked on together take 4 MB.
    let grid = Grid { size: [256, 256, 32], spacing: [0.2; 3], origin: [-25.0, -25.0, -3.0] };
    let mut begun = 0;
    for limit in [1 << 20, 2 << 20, 4 << 20, 6 << 20, 10 << 20, 64 << 20] {
        let context = cpu(limit);
        let mut fdk = Fdk::new(&context, scan.geometry.clone(), Some(grid), Options::default()).unwrap();
        match fdk.begin(None) {
            Ok(()) => {
                let write = |_: &Block, _: &[u8]| Ok(());
                let mut sink = CallbackSink::new(ArrayInfo::new(Number::F32, &grid.size).unwrap(), Box::new(write));
                for v in 0..90 {
                    fdk.push(&[v], &scan.part(&context, &[v])).unwrap();
                }
                fdk.finish(Volume::Sink(&mut sink), None).unwrap();
                begun += 1;
            }
            Err(e) => assert!(matches!(e, Error::OutOfMemory { .. }), "{limit}: {e}"),
        }
    }
    assert!((1..6).contains(&begun), "{begun}");
}

#[test]
fn a_pushed_scan_says_what_it_needs_and_takes_no_more() {
    let scan = scan("full");
    // Larger than the scan, so that keeping that takes less.
    let large = Grid { size: [64, 64, 192], spacing: [0.8, 0.8, 0.25], origin: [-25.0, -25.0, -24.0] };
    // Smaller: the volume in the making takes less.
    let small = Grid { size: [30, 30, 20], spacing: [1.6, 1.6, 2.0], origin: [-25.0, -25.0, -20.0] };
    let run = |grid: Grid, limit: u64| {
        let context = cpu(limit);
        let mut fdk = Fdk::new(&context, scan.geometry.clone(), Some(grid), Options::default()).unwrap();
        fdk.begin(None)?;
        let begun = fdk.planned_info().get().host_bytes;
        for v in 0..90 {
            fdk.push(&[v], &scan.part(&context, &[v])).unwrap();
        }
        let array = ArrayInfo::new(Number::F32, &grid.size).unwrap();
        let mut volume = CallbackSink::new(array, Box::new(|_, _| Ok(())));
        Ok((begun, fdk.finish(Volume::Sink(&mut volume), None).unwrap()))
    };
    // The figure of the first refusal is enough, a byte less is not.
    for (grid, is_kept) in [(large, true), (small, false)] {
        let Err(Error::OutOfMemory { what, bytes, limit }) = run(grid, 50_000) else { panic!("{grid:?}") };
        assert_eq!((what, limit), ("scan that is pushed", Some(50_000)));
        let (begun, info) = run(grid, bytes).unwrap();
        let Err(Error::OutOfMemory { bytes: again, .. }) = run(grid, bytes - 1) else { panic!("{grid:?}: {bytes}") };
        assert_eq!((begun.unsigned_abs(), again), (bytes, bytes), "{grid:?}");
        let view = if is_kept { 0 } else { (scan.dims[0] * scan.dims[1] * 4) as i64 };
        assert!(info.host_bytes_used <= info.host_bytes + view && info.host_bytes <= begun, "{info:?}");
    }
    // A scan that is not kept, likewise.
    let (begun, info) = run(large, 1 << 30).unwrap();
    // A view that is handed over belongs to the same context, and nothing else comes on top.
    let view = (scan.dims[0] * scan.dims[1] * 4) as i64;
    assert!(info.host_bytes_used <= info.host_bytes + view && info.host_bytes == begun, "{info:?}");
}

#[test]
fn a_plan_stays_inside_the_memory_that_is_free() {
    let (scan, context) = (scan("full"), cpu(0));
    let free = host_memory_free();
    let grid = |n: usize| Grid { size: [n, n, n], spacing: [60.0 / n as f64; 3], origin: [-30.0; 3] };
    // Twice the free memory at least, in slices of which some fit.
    let n = (2..).map(|k| 256 * k).find(|n| 4 * (n * n * n) as u64 > 2 * free).unwrap();
    let fdk = Fdk::new(&context, scan.geometry.clone(), Some(grid(n)), Options::default()).unwrap();
    let info = fdk.planned_info().get();
    let planned = info.host_bytes.unsigned_abs();
    assert!(info.slabs >= 3 && planned > 0 && planned <= free, "{planned} of {free}: {} slabs", info.slabs);
    // The views would be kept, which fits, and the volume is cut likewise.
    drop(fdk);
    let wide = Grid { size: [1 << 20, 1 << 20, 16], spacing: [1e-5; 3], origin: [0.0; 3] };
    let mut fdk = Fdk::new(&context, scan.geometry.clone(), Some(wide), Options::default()).unwrap();
    let mut volume = CallbackSink::new(ArrayInfo::new(Number::F32, &wide.size).unwrap(), Box::new(|_, _| Ok(())));
    let e = fdk.reconstruct(None, Projections::Tensor(&scan.tensor(&context)), Volume::Sink(&mut volume), None);
    let text = e.map(|_| ()).unwrap_err().to_string();
    assert!(text.starts_with("slab of the volume, which is more than is free: "), "{text}");
}
