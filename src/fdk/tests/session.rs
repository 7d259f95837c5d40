//! Scans on tensors, pushed view by view, cancelled, on several contexts.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::golden::{GRID, case, npy, reconstruct as by_reference, seen_by_all};
use crate::backend::BackendChoice;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::sink::CallbackSink;
use crate::blocks::source::CallbackSource;
use crate::context::{Context, Options as ContextOptions};
use crate::error::{Error, Result};
use crate::fdk::counts::Counts;
use crate::fdk::options::{Edge, Options, Precision};
use crate::fdk::{Fdk, Info, Projections, Volume};
use crate::group::Group;
use crate::scalar::{DType, Element};
use crate::shape::{Layout, Order};
use crate::tensor::{Location, Tensor};

pub(super) fn cpu(host_memory_limit: u64) -> Arc<Context> {
    let options =
        ContextOptions { backend: BackendChoice::Cpu, threads: 2, host_memory_limit, ..ContextOptions::default() };
    Context::new(options).unwrap()
}

pub(super) fn tensor<T: Element>(context: &Arc<Context>, order: Order, dims: &[usize], values: &[T]) -> Tensor {
    let mut t = Tensor::create(context, T::DTYPE, Location::Host, order, dims).unwrap();
    let packed = Layout::packed(dims, Order::ColumnMajor, T::DTYPE).unwrap();
    let mut view = t.view_mut::<T>("tensor").unwrap();
    for (k, value) in values.iter().enumerate() {
        let index: Vec<usize> = dims.iter().zip(packed.strides()).map(|(d, s)| k / s % d).collect();
        view.set(&index, *value);
    }
    t
}

pub(super) fn values(t: &Tensor) -> Vec<f32> {
    let view = t.view::<f32>("tensor").unwrap();
    let [nx, ny, nz] = t.dims().try_into().unwrap();
    let mut out = Vec::with_capacity(nx * ny * nz);
    for k in 0..nz {
        for j in 0..ny {
            out.extend((0..nx).map(|i| view.get(&[i, j, k])));
        }
    }
    out
}

/// A golden case with its projections as f32.
pub(super) struct Scan {
    pub dims: [usize; 3],
    pub projections: Vec<f32>,
    pub geometry: crate::fdk::geometry::Geometry,
    pub grid: crate::fdk::geometry::Grid,
}

pub(super) fn scan(name: &'static str) -> Scan {
    let case = case(name);
    let d = case.geometry.detector;
    Scan {
        dims: [d.columns, d.rows, case.geometry.views.len()],
        projections: case.projections.iter().map(|p| *p as f32).collect(),
        geometry: case.geometry,
        grid: GRID,
    }
}

impl Scan {
    pub(super) fn fdk(&self, context: &Arc<Context>, options: Options) -> Fdk {
        Fdk::new(context, self.geometry.clone(), Some(self.grid), options).unwrap()
    }

    /// A reconstruction on several contexts.
    pub(super) fn fdk_over(&self, contexts: &[Arc<Context>], options: Options) -> Fdk {
        let group = Group::new(contexts.to_vec()).unwrap();
        Fdk::over(&group, self.geometry.clone(), Some(self.grid), options).unwrap()
    }

    pub(super) fn tensor(&self, context: &Arc<Context>) -> Tensor {
        tensor(context, Order::ColumnMajor, &self.dims, &self.projections)
    }

    /// Some views as a tensor.
    pub(super) fn part(&self, context: &Arc<Context>, views: &[i64]) -> Tensor {
        let panel = self.dims[0] * self.dims[1];
        let picked: Vec<f32> = views
            .iter()
            .flat_map(|v| {
                let first = usize::try_from(*v).unwrap() * panel;
                self.projections[first..first + panel].iter().copied()
            })
            .collect();
        tensor(context, Order::ColumnMajor, &[self.dims[0], self.dims[1], views.len()], &picked)
    }
}

pub(super) fn empty(context: &Arc<Context>) -> Tensor {
    Tensor::create(context, DType::F32, Location::Host, Order::ColumnMajor, &GRID.size).unwrap()
}

fn whole(fdk: &mut Fdk, scan: &Scan) -> (Vec<f32>, Info) {
    let context = Arc::clone(fdk.context());
    let mut out = empty(&context);
    let input = scan.tensor(&context);
    let info = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
    (values(&out), info)
}

/// Views 0 to `count - 1` in an order that jumps about.
pub(super) fn shuffled(count: usize) -> Vec<i64> {
    let step = (count / 3..).find(|s| gcd(*s, count) == 1).unwrap();
    (0..count).map(|k| (k * step % count) as i64).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The volume of views pushed in the given order and in chunks of changing size.
pub(super) fn pushed(fdk: &mut Fdk, scan: &Scan, order: &[i64]) -> Vec<f32> {
    let context = Arc::clone(fdk.context());
    fdk.begin(None).unwrap();
    let (mut rest, mut size) = (order, 1);
    while !rest.is_empty() {
        let (views, tail) = rest.split_at(size.min(rest.len()));
        fdk.push(views, &scan.part(&context, views)).unwrap();
        (rest, size) = (tail, size % 7 + 2);
    }
    let mut out = empty(&context);
    let info = fdk.finish(Volume::Tensor(&mut out), None).unwrap();
    assert_eq!(info.views_pushed, order.len() as i64);
    values(&out)
}

pub(super) fn worst(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn every_golden_case_agrees_with_rtk_whole_and_pushed_in_any_order() {
    for (name, tolerance) in [("full", 2e-5), ("short", 2e-5), ("displaced", 2e-5), ("carm", 2e-4)] {
        let scan = scan(name);
        let context = cpu(0);
        let mut fdk = scan.fdk(&context, Options { edge: Edge::Skip, ..Options::default() });
        let golden: Vec<f32> = npy(&format!("{name}_rtk.npy")).into_iter().map(|v| v as f32).collect();
        let seen = seen_by_all(fdk.plan());
        let check = |volume: &[f32]| {
            for (p, (v, g)) in volume.iter().zip(&golden).enumerate() {
                assert!((v - g).abs() < tolerance || (name == "carm" && !seen[p]), "{name} at {p}: {v} {g}");
            }
        };
        let (volume, info) = whole(&mut fdk, &scan);
        check(&volume);
        assert!(info.gups > 0.0 && info.seconds_backproject > 0.0 && info.slabs == 1);
        let in_order: Vec<i64> = (0..scan.dims[2] as i64).collect();
        assert!(pushed(&mut fdk, &scan, &in_order) == volume, "{name}: views pushed in order give the same bits");
        let shuffled = pushed(&mut fdk, &scan, &shuffled(scan.dims[2]));
        check(&shuffled);
        let largest = volume.iter().fold(0f32, |m, v| m.max(v.abs()));
        let error = worst(&shuffled, &volume) / largest;
        assert!(error < 1e-6, "{name}: {error:e}");
    }
}

#[test]
fn a_scan_that_does_not_fit_is_kept_and_gives_the_same_bits() {
    let scan = scan("full");
    let context = cpu(0);
    let (want, _) = whole(&mut scan.fdk(&context, Options::default()), &scan);
    let mut fdk = scan.fdk(&context, Options { slab: 16, ..Options::default() });
    assert!(pushed(&mut fdk, &scan, &shuffled(90)) == want);
    let info = fdk.last_info().get("fdk").unwrap();
    assert_eq!((info.slabs, info.slab), (3, 16));
    // The views stay for all of the run; tensors of the test are charged as well.
    assert!(info.host_bytes_used >= 80 * 64 * 90 * 4);
    let tiny = cpu(100_000);
    let e = scan.fdk(&tiny, Options::default()).begin(None).unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { limit: Some(100_000), .. }), "{e}");
    assert_eq!(tiny.host_budget().used(), 0);
}

#[test]
fn several_contexts_give_the_same_bits() {
    let scan = scan("carm");
    let first = cpu(0);
    let (want, _) = whole(&mut scan.fdk(&first, Options::default()), &scan);
    for others in [1, 2, 4] {
        let contexts: Vec<_> = std::iter::once(Arc::clone(&first)).chain((0..others).map(|_| cpu(0))).collect();
        let mut fdk = scan.fdk_over(&contexts, Options::default());
        assert_eq!(fdk.planned_info().get().contexts, others + 1);
        let (volume, info) = whole(&mut fdk, &scan);
        assert!(volume == want, "{others} more");
        assert_eq!(info.contexts, others + 1);
        assert!(pushed(&mut fdk, &scan, &(0..72).collect::<Vec<_>>()) == want);
        // Into a sink, whose slices come in any order.
        let dims = GRID.size;
        let mut out = vec![0f32; want.len()];
        let write = |block: &Block, bytes: &[u8]| {
            let first = block.first()[2] * dims[0] * dims[1];
            for (o, b) in out[first..first + block.elements()].iter_mut().zip(bytes.chunks_exact(4)) {
                *o = f32::from_ne_bytes(b.try_into().unwrap());
            }
            Ok(())
        };
        let mut sink = CallbackSink::new(ArrayInfo::new(Number::F32, &dims).unwrap(), Box::new(write));
        let input = scan.tensor(&first);
        fdk.reconstruct(None, Projections::Tensor(&input), Volume::Sink(&mut sink), None).unwrap();
        drop(sink);
        assert!(out == want);
    }
}

#[test]
fn strides_and_f64_change_nothing_but_digits() {
    let scan = scan("short");
    let context = cpu(0);
    let mut fdk = scan.fdk(&context, Options::default());
    let (want, _) = whole(&mut fdk, &scan);
    let input = tensor(&context, Order::RowMajor, &scan.dims, &scan.projections);
    let mut out = Tensor::create(&context, DType::F32, Location::Host, Order::RowMajor, &GRID.size).unwrap();
    fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
    assert!(values(&out) == want);

    let mut fdk = scan.fdk(&context, Options { precision: Precision::F64, slab: 20, ..Options::default() });
    let mut out = Tensor::create(&context, DType::F64, Location::Host, Order::ColumnMajor, &GRID.size).unwrap();
    let info = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
    assert_eq!(info.host_bytes_used, info.host_bytes);
    let wide: Vec<f64> = scan.projections.iter().map(|p| f64::from(*p)).collect();
    let exact = by_reference(fdk.plan(), &wide);
    let got = out.view::<f64>("volume").unwrap();
    for (a, b) in got.data().iter().zip(&exact) {
        assert!((a - b).abs() < 1e-13, "{a} {b}");
    }
}

#[test]
fn counts_of_any_type_give_the_same_bits() {
    let scan = scan("full");
    let context = cpu(0);
    let mut counts: Vec<u16> =
        scan.projections.iter().map(|p| (100.0 + 50_000.0 * (-p / 20.0).exp()).round() as u16).collect();
    // In rows that the volume needs: others are not looked at.
    (counts[2500], counts[2501], counts[5120 * 50 + 2700]) = (50_101, 100, 60_000);
    let model = || Counts {
        unattenuated: 50_100.0,
        unattenuated_image: None,
        dark: Some(vec![100f32; 5120].into()),
        least: 0.0,
    };
    let mut fdk = scan.fdk(&context, Options::default());
    fdk.set_counts(Some(model())).unwrap();
    let mut run = |input: &Tensor| {
        let mut out = empty(&context);
        let info = fdk.reconstruct(None, Projections::Tensor(input), Volume::Tensor(&mut out), None).unwrap();
        (values(&out), [info.pixels_clamped, info.pixels_negative])
    };
    let narrow = tensor(&context, Order::ColumnMajor, &scan.dims, &counts);
    let wide: Vec<f32> = counts.iter().map(|c| f32::from(*c)).collect();
    let wide = tensor(&context, Order::ColumnMajor, &scan.dims, &wide);
    let (a, b) = (run(&narrow), run(&wide));
    assert!(a == b);
    assert_eq!(a.1, [1, 2]);
    // Pushed, and kept.
    for slab in [0, 16] {
        let mut fdk = scan.fdk(&context, Options { slab, ..Options::default() });
        fdk.set_counts(Some(model())).unwrap();
        fdk.begin(None).unwrap();
        assert!(fdk.set_counts(None).is_err());
        fdk.push(&(0..90).collect::<Vec<_>>(), &narrow).unwrap();
        let mut out = empty(&context);
        let info = fdk.finish(Volume::Tensor(&mut out), None).unwrap();
        assert!(values(&out) == a.0, "slab {slab}");
        assert_eq!([info.pixels_clamped, info.pixels_negative], a.1, "slab {slab}");
    }
}

#[test]
fn missing_views_are_an_error_or_count_as_zero() {
    let scan = scan("full");
    let context = cpu(0);
    let there: Vec<i64> = (0..90).filter(|v| v % 10 != 3).collect();
    for slab in [0, 16] {
        let mut fdk = scan.fdk(&context, Options { slab, ..Options::default() });
        fdk.begin(None).unwrap();
        fdk.push(&there, &scan.part(&context, &there)).unwrap();
        let mut out = empty(&context);
        let e = fdk.finish(Volume::Tensor(&mut out), None).unwrap_err();
        assert_eq!(e.to_string(), "views: 9 of 90 are missing, the first is view 3");
        // The scan goes on.
        fdk.push(&[3], &scan.part(&context, &[3])).unwrap();
        let e = fdk.finish(Volume::Tensor(&mut out), None).unwrap_err();
        assert_eq!(e.to_string(), "views: 8 of 90 are missing, the first is view 13");

        let mut fdk = scan.fdk(&context, Options { slab, allow_missing: true, ..Options::default() });
        fdk.begin(None).unwrap();
        fdk.push(&there, &scan.part(&context, &there)).unwrap();
        fdk.finish(Volume::Tensor(&mut out), None).unwrap();
        let mut zeroed = self::scan("full");
        for (v, view) in zeroed.projections.chunks_mut(80 * 64).enumerate() {
            if v % 10 == 3 {
                view.fill(0.0);
            }
        }
        let (want, _) = whole(&mut fdk, &zeroed);
        assert!(worst(&values(&out), &want) < 1e-6);
    }
}

#[test]
fn what_cannot_be_pushed_is_refused_by_name_and_nothing_is_lost() {
    let scan = scan("full");
    let context = cpu(0);
    let mut fdk = scan.fdk(&context, Options::default());
    let mut out = empty(&context);
    let text = |r: Result<()>| r.unwrap_err().to_string();
    let one = scan.part(&context, &[0]);
    assert!(text(fdk.push(&[0], &one)).starts_with("fdk: has no scan to push to"));
    assert!(text(fdk.finish(Volume::Tensor(&mut out), None).map(|_| ())).starts_with("fdk: has no scan to finish"));
    fdk.begin(None).unwrap();
    assert_eq!(text(fdk.push(&[90], &one)), "views: element 0 is 90, outside 0 to 89");
    assert_eq!(text(fdk.push(&[-1], &one)), "views: element 0 is -1, outside 0 to 89");
    fdk.push(&[4, 5], &scan.part(&context, &[4, 5])).unwrap();
    assert_eq!(text(fdk.push(&[5], &one)), "views: element 0 is 5, which was pushed before");
    assert_eq!(text(fdk.push(&[6, 6], &scan.part(&context, &[6, 6]))), "views: name view 6 twice");
    assert!(text(fdk.push(&[7, 8], &one)).contains("has dimensions [80, 64, 1], [80, 64, 2] are needed"));
    let doubles = Tensor::create(&context, DType::F64, Location::Host, Order::ColumnMajor, &[80, 64, 1]).unwrap();
    assert!(text(fdk.push(&[7], &doubles)).starts_with("projections: is F64, the scan's views before were F32"));
    let elsewhere = scan.part(&cpu(0), &[7]);
    assert_eq!(text(fdk.push(&[7], &elsewhere)), "projections: belongs to another context");
    let mut wrong = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &[2, 2, 2]).unwrap();
    assert!(text(fdk.finish(Volume::Tensor(&mut wrong), None).map(|_| ())).starts_with("volume: has dimensions"));
    let rest: Vec<i64> = (0..90).filter(|v| ![4, 5].contains(v)).collect();
    fdk.push(&rest, &scan.part(&context, &rest)).unwrap();
    fdk.finish(Volume::Tensor(&mut out), None).unwrap();
    let (want, _) = whole(&mut fdk, &scan);
    assert!(worst(&values(&out), &want) < 1e-5);
}

#[test]
fn cancelling_at_any_stage_leaves_an_object_that_works() {
    let scan = scan("full");
    let context = cpu(0);
    let mut fdk = scan.fdk(&context, Options { slab: 16, view_batch: 10, ..Options::default() });
    let (want, _) = whole(&mut fdk, &scan);
    let base = context.host_budget().used();
    let input = scan.tensor(&context);
    let charged = context.host_budget().used() - base;
    // From the callback, at the first report and at the last.
    for last in [false, true] {
        let mut out = empty(&context);
        let report = |step: i64, steps: i64, _: f64| if last { step != steps } else { false };
        let outcome = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), Some(&report));
        assert_eq!(outcome.map(|_| ()), Err(Error::Cancelled), "last: {last}");
    }
    // From another thread while the source is read and while the sink is written.
    for stage in ["read", "write"] {
        let handle = fdk.cancel_handle();
        let calls = AtomicI64::new(0);
        let hit = |name: &str| {
            if name == stage && calls.fetch_add(1, Ordering::Relaxed) == 1 {
                std::thread::scope(|s| s.spawn(|| handle.cancel()).join().unwrap());
            }
        };
        let read = |_: &Block, out: &mut [u8]| {
            hit("read");
            out.fill(0);
            Ok(())
        };
        let write = |_: &Block, _: &[u8]| {
            hit("write");
            Ok(())
        };
        let mut source = CallbackSource::new(ArrayInfo::new(Number::F32, &scan.dims).unwrap(), Box::new(read));
        let mut sink = CallbackSink::new(ArrayInfo::new(Number::F32, &GRID.size).unwrap(), Box::new(write));
        let outcome = fdk.reconstruct(None, Projections::Source(&mut source), Volume::Sink(&mut sink), None);
        assert_eq!(outcome.map(|_| ()), Err(Error::Cancelled), "{stage}");
    }
    // Between pushes, by the object and by the context.
    for by_context in [false, true] {
        let mut fdk = scan.fdk(&context, Options::default());
        fdk.begin(None).unwrap();
        fdk.push(&[0], &scan.part(&context, &[0])).unwrap();
        let cancel = |fdk: &Fdk| if by_context { context.cancel() } else { fdk.cancel_handle().cancel() };
        cancel(&fdk);
        if !by_context {
            // The error is not that the view was pushed before.
            assert_eq!(fdk.push(&[0], &scan.part(&context, &[0])), Err(Error::Cancelled));
            assert_eq!(fdk.push(&[1], &scan.part(&context, &[1])), Err(Error::Cancelled));
            let mut out = empty(&context);
            // It stays so until the next begin, and the error is not about missing views.
            assert_eq!(fdk.push(&[1], &scan.part(&context, &[1])), Err(Error::Cancelled));
            assert_eq!(fdk.finish(Volume::Tensor(&mut out), None).map(|_| ()), Err(Error::Cancelled));
        }
        assert!(pushed(&mut fdk, &scan, &(0..90).collect::<Vec<_>>()) == want);
    }
    assert!(whole(&mut fdk, &scan).0 == want);
    drop(fdk);
    assert_eq!(context.host_budget().used(), base + charged);
}

/// The filter of one batch takes seconds: the progress function is called meanwhile, and ends it.
#[test]
fn cancelling_within_a_batch_ends_it() {
    let scan = scan("full");
    let context = cpu(0);
    let input = scan.tensor(&context);
    let base = context.host_budget().used();
    for precision in [Precision::F32, Precision::F64] {
        let options =
            Options { precision, fft_length: 1 << 17, view_batch: 90, allow_missing: true, ..Options::default() };
        let mut fdk = scan.fdk(&context, options);
        let seen = RefCell::new(Vec::new());
        let report = |step: i64, steps: i64, _: f64| {
            seen.borrow_mut().push((step, steps));
            false
        };
        let mut out = empty(&context);
        let outcome = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), Some(&report));
        assert_eq!((outcome.map(|_| ()), seen.take()), (Err(Error::Cancelled), vec![(0, 90)]), "{precision:?}");
        fdk.begin(None).unwrap();
        let all: Vec<i64> = (0..90).collect();
        let outcome = fdk.push_reporting(&all, &input, Some(&report));
        assert_eq!((outcome, seen.take()), (Err(Error::Cancelled), vec![(0, 90)]), "{precision:?}");
        fdk.begin(None).unwrap();
        fdk.push(&all[..5], &scan.part(&context, &all[..5])).unwrap();
        let outcome = fdk.finish(Volume::Tensor(&mut out), Some(&report));
        assert_eq!((outcome.map(|_| ()), seen.take()), (Err(Error::Cancelled), vec![(4, 5)]), "{precision:?}");
    }
    assert_eq!(context.host_budget().used(), base);
}

/// A cancellation drops an idle scan at once: its memory is free, and a call that waits for its end goes on.
pub(super) fn check_cancelled_idle(context: &Arc<Context>) {
    let scan = scan("full");
    let used = || (context.host_budget().used(), context.device_budget().used());
    for slab in [0, 16] {
        let mut fdk = scan.fdk(context, Options { slab, ..Options::default() });
        for views in [&[][..], &[0, 1]] {
            let before = used();
            fdk.begin(None).unwrap();
            if !views.is_empty() {
                fdk.push(views, &scan.part(context, views)).unwrap();
            }
            assert_ne!(used(), before);
            fdk.cancel_handle().cancel();
            assert_eq!(used(), before, "slab {slab}, {views:?}");
            let counts = Counts { unattenuated: 9.0, unattenuated_image: None, dark: None, least: 0.0 };
            fdk.set_counts(Some(counts)).unwrap();
            fdk.set_counts(None).unwrap();
            // Still the answer of the scan until the next begin.
            let mut out = empty(context);
            assert_eq!(fdk.push(&[2], &scan.part(context, &[2])), Err(Error::Cancelled));
            assert_eq!(fdk.finish(Volume::Tensor(&mut out), None).map(|_| ()), Err(Error::Cancelled));
        }
    }
}

#[test]
fn a_cancelled_scan_that_idles_is_dropped_at_once() {
    check_cancelled_idle(&cpu(0));
}

/// The plan is that of a run from a source to a sink as soon as there is no scan, however it ended.
#[test]
fn a_dropped_scan_takes_its_plan_with_it() {
    let scan = scan("full");
    let context = cpu(0);
    // A slab stores the views and needs more host memory than the usual run.
    let mut fdk = scan.fdk(&context, Options { slab: 16, ..Options::default() });
    let planned = fdk.planned_info();
    let usual = planned.get();
    let mut out = empty(&context);
    let begin = |fdk: &mut Fdk| {
        fdk.begin(None).unwrap();
        fdk.push(&[0, 1], &scan.part(&context, &[0, 1])).unwrap();
        let pushing = planned.get();
        assert!(pushing.views_pushed == 2 && pushing.host_bytes > usual.host_bytes, "{pushing:?}");
    };
    // Cancelled while it idles, in a push and in a finish.
    begin(&mut fdk);
    fdk.cancel_handle().cancel();
    assert_eq!(planned.get(), usual, "idle");
    begin(&mut fdk);
    let stop = |_: i64, _: i64, _: f64| false;
    let rest: Vec<i64> = (2..90).collect();
    let e = fdk.push_reporting(&rest, &scan.part(&context, &rest), Some(&stop)).unwrap_err();
    assert_eq!((e, planned.get()), (Error::Cancelled, usual.clone()), "push");
    begin(&mut fdk);
    fdk.push(&rest, &scan.part(&context, &rest)).unwrap();
    let e = fdk.finish(Volume::Tensor(&mut out), Some(&stop)).unwrap_err();
    assert_eq!((e, planned.get()), (Error::Cancelled, usual.clone()), "finish");
    begin(&mut fdk);
    // A whole run's report has no views of the scan that was dropped.
    fdk.cancel_handle().cancel();
    assert_eq!(whole(&mut fdk, &scan).1.views_pushed, 0);
    begin(&mut fdk);
    fdk.push(&rest, &scan.part(&context, &rest)).unwrap();
    fdk.finish(Volume::Tensor(&mut out), None).unwrap();
    assert_eq!(planned.get(), Info { views_pushed: 90, ..usual });
}

#[test]
fn the_plan_can_be_asked_for() {
    let scan = scan("displaced");
    let context = cpu(0);
    let fdk = scan.fdk(&context, Options::default());
    assert!(fdk.last_info().get("fdk").unwrap_err().to_string().starts_with("fdk: has no report"));
    let info = fdk.planned_info().get();
    assert_eq!((info.redundancy as i32, info.kernel as i32), (4, 0));
    assert!(info.reason.contains("full circle"), "{}", info.reason);
    assert_eq!((info.filtered_columns, info.filtered_left), (96, 48));
    assert!(info.slab == 36 && info.slabs == 1 && info.host_bytes > 0 && info.device_bytes == 0);
    // The panel spans -30.25 to 134.25 mm at 1000 mm: the far side reaches 500 sin(atan(0.13425)).
    assert!((info.fov_radius - 500.0 * 0.13425f64.atan().sin()).abs() < 1e-9, "{}", info.fov_radius);
    let mut redundancy = Tensor::create(&context, DType::F64, Location::Host, Order::ColumnMajor, &[48, 90]).unwrap();
    let mut angular = Tensor::create(&context, DType::F64, Location::Host, Order::ColumnMajor, &[90]).unwrap();
    fdk.weights(Some(&mut redundancy), Some(&mut angular)).unwrap();
    let sum: f64 = angular.view::<f64>("angular").unwrap().data().iter().sum();
    assert!((sum - std::f64::consts::TAU).abs() < 1e-12);
    let w = redundancy.view::<f64>("redundancy").unwrap();
    assert!(w.get(&[47, 3]) == 1.0 && w.get(&[0, 3]) == 0.0);
    assert!(fdk.weights(None, Some(&mut redundancy)).is_err());
}
