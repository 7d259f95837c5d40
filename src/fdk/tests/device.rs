//! A GPU against the CPU, and against itself however the work is cut.

use std::sync::Arc;

use super::golden::{GRID, npy, seen_by_all};
use super::retained;
use super::session::{Scan, cpu, empty, pushed, scan, shuffled, tensor, values, worst};
use crate::backend::gpu::Gpu;
use crate::backend::{Backend, BackendChoice};
use crate::context::{Context, Options as ContextOptions};
use crate::error::Error;
use crate::fdk::counts::Counts;
use crate::fdk::geometry::Grid;
use crate::fdk::options::{Edge, Mode, Options};
use crate::fdk::{Fdk, Info, Projections, Volume};
use crate::scalar::{DType, Element};
use crate::shape::Order;
use crate::tensor::{Location, Tensor, copy};

pub(super) fn gpu(device: i32, device_memory_limit: u64) -> Arc<Context> {
    let options = ContextOptions {
        backend: BackendChoice::Cuda,
        device,
        threads: 4,
        device_memory_limit,
        ..ContextOptions::default()
    };
    Context::new(options).unwrap()
}

/// A copy of `t` at another location.
pub(super) fn moved(t: &Tensor, location: Location) -> Tensor {
    let context = t.context();
    let mut out = Tensor::create(context, t.dtype(), location, Order::ColumnMajor, t.dims()).unwrap();
    copy(context, None, t, &mut out).unwrap();
    out
}

fn run(fdk: &mut Fdk, input: &Tensor, to: Location, dtype: DType) -> (Tensor, Info) {
    let context = Arc::clone(fdk.context());
    let size = fdk.plan().grid.size;
    let mut out = Tensor::create(&context, dtype, to, Order::ColumnMajor, &size).unwrap();
    let info = fdk.reconstruct(None, Projections::Tensor(input), Volume::Tensor(&mut out), None).unwrap();
    (if to == Location::Device { moved(&out, Location::Host) } else { out }, info)
}

fn volume(fdk: &mut Fdk, scan: &Scan) -> (Vec<f32>, Info) {
    let input = scan.tensor(fdk.context());
    let (out, info) = run(fdk, &input, Location::Host, DType::F32);
    (values(&out), info)
}

/// The CPU's result of the same plan, with transforms of the same length.
fn by_cpu(scan: &Scan, options: Options, fdk: &Fdk) -> Vec<f32> {
    let options = Options { fft_length: fdk.plan().length, ..options };
    volume(&mut scan.fdk(&cpu(0), options), scan).0
}

fn largest(v: &[f32]) -> f32 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}

const PLACES: [Location; 3] = [Location::Host, Location::PinnedHost, Location::Device];

#[test]
#[ignore = "needs a GPU"]
fn the_gpu_agrees_with_the_cpu_and_rtk_wherever_arrays_lie() {
    for (name, tolerance) in [("full", 2e-5), ("short", 2e-5), ("displaced", 2e-5), ("carm", 2e-4)] {
        for edge in [Edge::Skip, Edge::Zero] {
            let (scan, context) = (scan(name), gpu(0, 0));
            let options = Options { edge, ..Options::default() };
            let mut fdk = scan.fdk(&context, options);
            let want = by_cpu(&scan, options, &fdk);
            let host = scan.tensor(&context);
            let mut first: Option<Vec<f32>> = None;
            for from in PLACES {
                let input = moved(&host, from);
                for to in PLACES {
                    let (out, info) = run(&mut fdk, &input, to, DType::F32);
                    let got = values(&out);
                    let error = worst(&got, &want) / largest(&want);
                    assert!(error < 1e-5, "{name} {edge:?} {from:?} {to:?}: {error:e}");
                    let same = first.get_or_insert_with(|| got.clone());
                    assert!(*same == got, "{name} {edge:?} {from:?} {to:?} has other bits");
                    assert_eq!(info.device_bytes_used, info.device_bytes, "{name} {from:?} {to:?}");
                    assert_eq!(info.host_bytes_used, info.host_bytes, "{name} {from:?} {to:?}");
                }
            }
            if edge == Edge::Skip {
                let golden = npy(&format!("{name}_rtk.npy"));
                let seen = seen_by_all(fdk.plan());
                for (p, (v, g)) in first.unwrap().iter().zip(&golden).enumerate() {
                    let near = (f64::from(*v) - g).abs() < tolerance;
                    assert!(near || (name == "carm" && !seen[p]), "{name} at {p}: {v} {g}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn the_mask_is_that_of_the_cpu() {
    for name in ["full", "displaced"] {
        let (scan, context) = (scan(name), gpu(0, 0));
        let options = Options { fov_mask: true, output_offset: 3.0, ..Options::default() };
        let mut fdk = scan.fdk(&context, options);
        let want = by_cpu(&scan, options, &fdk);
        assert!(want.contains(&3.0), "{name}");
        let input = scan.tensor(&context);
        for to in PLACES {
            let got = values(&run(&mut fdk, &input, to, DType::F32).0);
            let error = worst(&got, &want) / largest(&want);
            assert!(error < 1e-5, "{name} {to:?}: {error:e}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn no_cut_changes_a_bit() {
    for name in ["full", "displaced", "carm"] {
        let (mut scan, context) = (scan(name), gpu(0, 0));
        // Several tiles deep, so that slabs can be cut.
        scan.grid.size[2] = 150;
        scan.grid.spacing[2] = 70.0 / 149.0;
        let (want, info) = volume(&mut scan.fdk(&context, Options::default()), &scan);
        let peak = info.device_bytes.unsigned_abs();
        // Slabs and batches, with the filtered views kept on the device.
        for (slab, view_batch) in [(16, 0), (1, 7), (33, 1), (0, 90), (48, 13)] {
            let options = Options { slab, view_batch, ..Options::default() };
            let mut fdk = scan.fdk(&context, options);
            let (got, info) = volume(&mut fdk, &scan);
            assert!(got == want, "{name}: slabs of {slab}, batches of {view_batch}: {info:?}");
        }
        // Less memory than one slab takes, down to too little.
        let mut limit = peak;
        let mut smallest = 0;
        while limit > 20_000 {
            let narrow = gpu(0, limit);
            let mut fdk = scan.fdk(&narrow, Options::default());
            let input = scan.tensor(&narrow);
            let mut out =
                Tensor::create(&narrow, DType::F32, Location::Host, Order::ColumnMajor, &scan.grid.size).unwrap();
            match fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None) {
                Ok(info) => {
                    assert!(values(&out) == want, "{name} within {limit} bytes");
                    assert!(
                        info.device_bytes_used.unsigned_abs() <= limit && info.device_bytes_used == info.device_bytes
                    );
                    smallest = info.device_bytes;
                }
                Err(e) => {
                    assert!(matches!(e, Error::OutOfDeviceMemory { limit: Some(l), .. } if l == limit), "{e}");
                    assert_eq!(narrow.device_budget().used(), 0);
                    break;
                }
            }
            limit = limit * 4 / 5;
        }
        assert!(smallest > 0 && smallest < info.device_bytes / 2, "{name}: {smallest} of {}", info.device_bytes);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn views_pushed_in_any_order_and_from_anywhere_give_the_volume() {
    for name in ["full", "carm"] {
        let (scan, context) = (scan(name), gpu(0, 0));
        let count = scan.dims[2];
        let mut fdk = scan.fdk(&context, Options::default());
        let (want, _) = volume(&mut fdk, &scan);
        let in_order: Vec<i64> = (0..count as i64).collect();
        assert!(pushed(&mut fdk, &scan, &in_order) == want, "{name}");
        let info = fdk.last_info().get("fdk").unwrap();
        assert_eq!(info.device_bytes_used, info.device_bytes);
        assert!(worst(&pushed(&mut fdk, &scan, &shuffled(count)), &want) / largest(&want) < 1e-6);
        // From the device, in part, and to all places.
        for to in PLACES {
            fdk.begin(None).unwrap();
            for (n, views) in in_order.chunks(11).enumerate() {
                let part = scan.part(&context, views);
                let place = PLACES[n % 3];
                fdk.push(views, &moved(&part, place)).unwrap();
            }
            let mut out = Tensor::create(&context, DType::F32, to, Order::ColumnMajor, &GRID.size).unwrap();
            fdk.finish(Volume::Tensor(&mut out), None).unwrap();
            assert!(values(&moved(&out, Location::Host)) == want, "{name} to {to:?}");
        }
        // A volume that does not fit.
        let mut fdk = scan.fdk(&context, Options { slab: 16, ..Options::default() });
        assert!(pushed(&mut fdk, &scan, &shuffled(count)) == want);
    }
}

fn counted<T: Element>(scan: &Scan, context: &Arc<Context>, convert: impl Fn(f32) -> T) -> Tensor {
    let counts: Vec<T> =
        scan.projections.iter().map(|p| convert((100.0 + 50_000.0 * (-p / 20.0).exp()).round())).collect();
    tensor(context, Order::ColumnMajor, &scan.dims, &counts)
}

#[test]
#[ignore = "needs a GPU"]
fn counts_and_types_are_converted_on_the_device() {
    let (scan, context) = (scan("full"), gpu(0, 0));
    let dark: Vec<f32> = (0..5120).map(|k| 95.0 + (k % 11) as f32).collect();
    let open: Vec<f32> = (0..5120).map(|k| 50_100.0 + (k % 7) as f32 * 30.0).collect();
    let model =
        Counts { unattenuated: 0.0, unattenuated_image: Some(open.into()), dark: Some(dark.into()), least: 0.0 };
    let options = Options { output_scale: 1000.0, output_offset: 20_000.0, ..Options::default() };
    let mut fdk = scan.fdk(&context, options);
    fdk.set_counts(Some(model.clone())).unwrap();
    let narrow = counted(&scan, &context, |c| c as u16);
    let wide = counted(&scan, &context, |c| c);
    let (a, _) = run(&mut fdk, &narrow, Location::Host, DType::F32);
    for (input, from) in [(&narrow, Location::PinnedHost), (&narrow, Location::Device), (&wide, Location::Device)] {
        let (b, _) = run(&mut fdk, &moved(input, from), Location::Host, DType::F32);
        assert!(values(&a) == values(&b), "{from:?}");
    }
    let mut threads = scan.fdk(&cpu(0), Options { fft_length: fdk.plan().length, ..options });
    threads.set_counts(Some(model)).unwrap();
    let counts = counted(&scan, threads.context(), |c| c as u16);
    let (want, _) = run(&mut threads, &counts, Location::Host, DType::F32);
    let error = worst(&values(&a), &values(&want)) / 1000.0;
    assert!(error < 2e-5, "{error:e}");
    // Whole numbers out, from all places to all.
    let rounded: Vec<i32> = values(&a).iter().map(|v| v.round_ties_even() as i32).collect();
    for to in PLACES {
        let (out, info) = run(&mut fdk, &narrow, to, DType::U16);
        let got: Vec<i32> = out.view::<u16>("volume").unwrap().data().iter().map(|v| i32::from(*v)).collect();
        assert!(got == rounded, "{to:?}");
        assert_eq!(info.device_bytes_used, info.device_bytes, "{to:?}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn odd_counts_are_counted_on_the_device() {
    let (scan, context) = (scan("full"), gpu(0, 0));
    let mut pixels: Vec<u16> = vec![20_000; scan.projections.len()];
    // In rows that the volume needs: others are not looked at.
    (pixels[2500], pixels[2501], pixels[5120 * 50 + 2700]) = (50_001, 0, 60_000);
    let counts = tensor(&context, Order::ColumnMajor, &scan.dims, &pixels);
    let mut fdk = scan.fdk(&context, Options::default());
    let model = Counts { unattenuated: 50_000.0, unattenuated_image: None, dark: None, least: 0.0 };
    fdk.set_counts(Some(model)).unwrap();
    let (_, info) = run(&mut fdk, &counts, Location::Host, DType::F32);
    assert_eq!((info.pixels_clamped, info.pixels_negative), (1, 2));
}

#[test]
#[ignore = "needs a GPU"]
fn pixels_that_are_not_finite_are_replaced_on_the_device() {
    let (mut scan, context) = (scan("full"), gpu(0, 0));
    // In rows that the volume needs: others are not looked at.
    scan.projections[2500] = f32::NAN;
    scan.projections[5120 * 50 + 2700] = f32::INFINITY;
    let mut fdk = scan.fdk(&context, Options { sanitize: true, ..Options::default() });
    let (got, info) = volume(&mut fdk, &scan);
    assert_eq!(info.pixels_sanitized, 2);
    (scan.projections[2500], scan.projections[5120 * 50 + 2700]) = (0.0, 0.0);
    let (want, info) = volume(&mut fdk, &scan);
    assert!(got == want && info.pixels_sanitized == 0);
}

#[test]
#[ignore = "needs a GPU"]
fn infinite_pixels_leave_no_infinity_on_the_device() {
    let context = gpu(0, 0);
    for mode in [Mode::Fdk, Mode::RabbitCt] {
        for value in [f32::INFINITY, f32::NEG_INFINITY] {
            let mut scan = scan("full");
            scan.projections[2500] = value;
            let mut fdk = scan.fdk(&context, Options { mode, ..Options::default() });
            let (got, info) = volume(&mut fdk, &scan);
            assert_eq!(info.pixels_not_finite, 1, "{mode:?}");
            assert!(got.iter().any(|v| v.is_nan()) && !got.iter().any(|v| v.is_infinite()), "{mode:?} {value}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_whole_scan_leaves_the_one_that_is_being_pushed_to_a_device() {
    retained::check_left_alone(&gpu(0, 0));
}

#[test]
#[ignore = "needs a GPU"]
fn cancelling_leaves_a_device_that_works() {
    let (scan, context) = (scan("full"), gpu(0, 0));
    let mut fdk = scan.fdk(&context, Options { slab: 12, view_batch: 10, ..Options::default() });
    let (want, _) = volume(&mut fdk, &scan);
    for from in PLACES {
        let input = moved(&scan.tensor(&context), from);
        for stop in [0, 200, 1_000_000] {
            let mut out = empty(&context);
            let report = |step: i64, steps: i64, _: f64| step < stop.min(steps);
            let outcome = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), Some(&report));
            assert_eq!(outcome.map(|_| ()), Err(Error::Cancelled), "{from:?} {stop}");
        }
    }
    fdk.begin(None).unwrap();
    fdk.push(&[0, 1], &scan.part(&context, &[0, 1])).unwrap();
    fdk.cancel_handle().cancel();
    assert_eq!(fdk.push(&[2], &scan.part(&context, &[2])), Err(Error::Cancelled));
    assert!(volume(&mut fdk, &scan).0 == want);
    drop(fdk);
    assert_eq!(context.device_budget().used(), 0);
}

#[test]
#[ignore = "needs a GPU"]
fn a_plan_stays_inside_the_device_memory_that_is_free() {
    let (scan, context) = (scan("full"), gpu(0, 0));
    let Backend::Gpu(device) = context.backend() else { panic!("no GPU") };
    let grid = |n: usize| Grid { size: [n, n, n], spacing: [60.0 / n as f64; 3], origin: [-30.0; 3] };
    let free = device.memory_free().unwrap();
    // Twice the free memory at least, in slices of which some fit.
    let n = (2..).map(|k| 256 * k).find(|n| 4 * (n * n * n) as u64 > 2 * free).unwrap();
    let plan = || {
        let before = device.memory_free().unwrap();
        let info =
            Fdk::new(&context, scan.geometry.clone(), Some(grid(n)), Options::default()).unwrap().planned_info().get();
        // Other tests take and free memory meanwhile.
        (info.device_bytes.unsigned_abs(), before.max(device.memory_free().unwrap()), info.slabs)
    };
    let (whole, free, slabs) = plan();
    assert!(slabs >= 3 && whole > 0 && whole <= free, "{whole} of {free}: {slabs} slabs");
    // Half of it is somebody else's.
    let taken = device.allocate("half of the device", usize::try_from(free / 2).unwrap()).unwrap();
    let (half, free, more) = plan();
    assert!(half <= free && half < whole && more > slabs, "{half} of {free}: {more} slabs, {slabs} before");
    drop(taken);
    assert_eq!(context.device_budget().used(), 0);
}

#[test]
#[ignore = "needs a GPU"]
fn several_contexts_and_devices_give_the_same_bits() {
    for name in ["full", "carm"] {
        let (scan, context) = (scan(name), gpu(0, 0));
        let (want, _) = volume(&mut scan.fdk(&context, Options::default()), &scan);
        let devices = Gpu::device_count().unwrap();
        for count in [2, 3] {
            let others = (1..count).map(|k| gpu(k % devices, 0));
            let contexts: Vec<_> = std::iter::once(Arc::clone(&context)).chain(others).collect();
            let mut fdk = scan.fdk_over(&contexts, Options { slab: 4, ..Options::default() });
            let pinned = moved(&scan.tensor(&context), Location::PinnedHost);
            for to in PLACES {
                assert!(values(&run(&mut fdk, &pinned, to, DType::F32).0) == want, "{name} on {count} to {to:?}");
            }
            let mut fdk = scan.fdk_over(&contexts[..2], Options::default());
            let in_order: Vec<i64> = (0..scan.dims[2] as i64).collect();
            assert!(pushed(&mut fdk, &scan, &in_order) == want);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn the_pieces_on_the_device_agree_with_those_on_threads() {
    for name in ["short", "displaced", "carm"] {
        let (scan, context) = (scan(name), gpu(0, 0));
        let fdk = scan.fdk(&context, Options { truncation: 0.2, ..Options::default() });
        let (d, columns) = (fdk.plan().geometry.detector, fdk.plan().columns);
        let views: Vec<i64> = (0..40).map(|k| (k * 7 + 3) % scan.dims[2] as i64).collect();
        let input = scan.part(&context, &views);
        let create =
            |place, dims: &[usize]| Tensor::create(&context, DType::F32, place, Order::ColumnMajor, dims).unwrap();
        let same = |a: &Tensor, b: &Tensor, what: &str, tolerance: f32| {
            let (a, b) = (values(a), values(&moved(b, Location::Host)));
            let error = worst(&a, &b) / largest(&a);
            assert!(error < tolerance, "{name}, {what}: {error:e}");
        };
        let step = |dims: &[usize], work: &dyn Fn(&mut Tensor, bool)| {
            let (mut host, mut device) = (create(Location::Host, dims), create(Location::Device, dims));
            work(&mut host, false);
            work(&mut device, true);
            (host, device)
        };
        let on = |t: &Tensor, device: bool| moved(t, if device { Location::Device } else { Location::Host });
        let panel = [d.columns, d.rows, views.len()];
        let (weighted, b) = step(&panel, &|out, device| fdk.weight(None, &views, &on(&input, device), out).unwrap());
        same(&weighted, &b, "weights", 1e-6);
        let wide = [columns, d.rows, views.len()];
        let (filtered, b) = step(&wide, &|out, device| fdk.filter(None, &views, &on(&weighted, device), out).unwrap());
        same(&filtered, &b, "ramp", 4e-6);
        let (a, b) = step(&GRID.size, &|out, dev| fdk.backproject(None, &views, &on(&filtered, dev), out).unwrap());
        same(&a, &b, "back-projection", 1e-5);
        let mut list = Tensor::create(&context, DType::F64, Location::Host, Order::ColumnMajor, &[8, 10]).unwrap();
        crate::fdk::pieces::shepp_logan(45.0, &mut list).unwrap();
        let (a, b) = step(&scan.dims, &|out, _| fdk.ellipsoids(None, &list, out).unwrap());
        same(&a, &b, "ellipsoids", 1e-6);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_cancelled_scan_that_idles_is_dropped_at_once_on_a_gpu() {
    super::session::check_cancelled_idle(&gpu(0, 0));
}
