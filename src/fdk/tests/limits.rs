//! Pixels, lengths and output values at the ends of the range of the arithmetic.

use std::sync::Arc;

use super::device::gpu;
use super::golden::GRID;
use super::retained::listening;
use super::session::{Scan, cpu, empty, scan, tensor, values, worst};
use crate::backend::BackendChoice;
use crate::blocks::array::ArrayInfo;
use crate::blocks::number::Number;
use crate::blocks::sink::CallbackSink;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fdk::geometry::{Detector, Geometry, Grid, Orbit};
use crate::fdk::options::{Options, Precision};
use crate::fdk::plan::Plan;
use crate::fdk::{Fdk, Info, Projections, Volume};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// A pixel in a row that the volume needs.
const PIXEL: usize = 2540;

fn run(fdk: &mut Fdk, input: &Tensor, dtype: DType) -> Result<(Tensor, Info)> {
    let context = Arc::clone(fdk.context());
    let mut out = Tensor::create(&context, dtype, Location::Host, Order::ColumnMajor, &fdk.plan().grid.size)?;
    let info = fdk.reconstruct(None, Projections::Tensor(input), Volume::Tensor(&mut out), None)?;
    Ok((out, info))
}

fn pushed(fdk: &mut Fdk, input: &Tensor) -> (Vec<f32>, Info) {
    fdk.begin(None).unwrap();
    fdk.push(&(0..90).collect::<Vec<_>>(), input).unwrap();
    let mut out = empty(&Arc::clone(fdk.context()));
    let info = fdk.finish(Volume::Tensor(&mut out), None).unwrap();
    (values(&out), info)
}

/// Pixels that the sums may overflow for are counted, and smaller ones give a finite volume.
fn check_large(backend: BackendChoice) {
    let (context, lines) = listening(backend);
    let scan = scan("full");
    let wide: Vec<f64> = scan.projections.iter().map(|p| f64::from(*p)).collect();
    let largest = scan.fdk(&context, Options::default()).plan().largest_pixel;
    assert!((1e25..1e37).contains(&largest), "{largest:e}");
    for value in [6.6e37, -3e38, 2.0 * largest, 1e39, -1e300] {
        let mut pixels = wide.clone();
        pixels[PIXEL] = value;
        for dtype in [DType::F32, DType::F64] {
            if dtype == DType::F32 && (value as f32).is_infinite() {
                continue;
            }
            let input = match dtype {
                DType::F64 => tensor(&context, Order::ColumnMajor, &scan.dims, &pixels),
                _ => {
                    let narrow: Vec<f32> = pixels.iter().map(|p| *p as f32).collect();
                    tensor(&context, Order::ColumnMajor, &scan.dims, &narrow)
                }
            };
            for (sanitize, slab) in [(false, 0), (true, 0), (false, 16)] {
                let what = format!("{value:e} {dtype:?} {sanitize} {slab}");
                let mut fdk = scan.fdk(&context, Options { sanitize, slab, ..Options::default() });
                let whole =
                    run(&mut scan.fdk(&context, Options { sanitize, ..Options::default() }), &input, DType::F32);
                let (out, info) = whole.unwrap();
                for (out, info) in [(values(&out), info), pushed(&mut fdk, &input)] {
                    assert_eq!((info.pixels_not_finite, info.pixels_sanitized), (1, i64::from(sanitize)), "{what}");
                    assert_eq!(out.iter().all(|v| v.is_finite()), sanitize, "{what}");
                    assert!(!out.iter().any(|v| v.is_infinite()), "{what}");
                }
                let said = std::mem::take(&mut *lines.lock().unwrap());
                let text = format!("1 pixels are beyond {largest:.3e}, the largest that F32 precision takes; ");
                assert_eq!(said.iter().filter(|l| l.contains(&text)).count(), 2, "{what}: {said:?}");
            }
        }
    }
    // Every pixel at the limit, with the signs that add up most.
    for sign in [|_: usize| 1.0, |n: usize| if n.is_multiple_of(2) { 1.0 } else { -1.0 }] {
        let pixels: Vec<f32> = (0..scan.projections.len()).map(|n| (largest * sign(n)) as f32).collect();
        let input = tensor(&context, Order::ColumnMajor, &scan.dims, &pixels);
        let (out, info) = run(&mut scan.fdk(&context, Options::default()), &input, DType::F32).unwrap();
        assert!(values(&out).iter().all(|v| v.is_finite()) && info.pixels_not_finite == 0);
    }
}

#[test]
fn pixels_that_sums_may_overflow_for_are_counted() {
    check_large(BackendChoice::Cpu);
    // In double precision they are ordinary numbers, for a volume that holds the result.
    let (scan, context) = (scan("full"), cpu(0));
    let mut pixels: Vec<f64> = scan.projections.iter().map(|p| f64::from(*p)).collect();
    pixels[PIXEL] = 1e41;
    let input = tensor(&context, Order::ColumnMajor, &scan.dims, &pixels);
    let mut fdk = scan.fdk(&context, Options { precision: Precision::F64, ..Options::default() });
    let (out, info) = run(&mut fdk, &input, DType::F64).unwrap();
    assert!(out.view::<f64>("volume").unwrap().data().iter().all(|v| v.is_finite()) && info.pixels_not_finite == 0);
    let e = run(&mut fdk, &input, DType::F32).map(drop).unwrap_err().to_string();
    let end = " voxels are beyond the range of F32, with output_scale = 1 and output_offset = 0";
    assert!(e.contains("volume: ") && e.ends_with(end), "{e}");
}

#[test]
#[ignore = "needs a GPU"]
fn pixels_that_sums_may_overflow_for_are_counted_on_a_gpu() {
    check_large(BackendChoice::Cuda);
}

/// Scales and offsets that F32 does not hold, and voxels that it does not.
fn check_output(context: &Arc<Context>) {
    let scan = scan("full");
    let input = scan.tensor(context);
    let plain = values(&run(&mut scan.fdk(context, Options::default()), &input, DType::F32).unwrap().0);
    for (output_scale, output_offset) in [(1e39, 1.0), (1e-46, 0.0), (1.0, 1e-60), (-1e300, 1e299)] {
        let mut fdk = scan.fdk(context, Options { output_scale, output_offset, ..Options::default() });
        let (out, _) = run(&mut fdk, &input, DType::F64).unwrap();
        for (got, plain) in out.view::<f64>("volume").unwrap().data().iter().zip(&plain) {
            let want = f64::from(*plain) * output_scale + output_offset;
            // The sum may cancel.
            let size = (f64::from(*plain) * output_scale).abs().max(output_offset.abs());
            assert!((got - want).abs() <= 1e-15 * size, "{output_scale:e}: {got:e} for {want:e}");
        }
        for dtype in [DType::F32, DType::F16, DType::I16] {
            let e = run(&mut fdk, &input, dtype).map(drop).unwrap_err().to_string();
            let name = if output_scale == 1.0 { "output_offset: is 1e-60" } else { "output_scale: is " };
            let end = format!(", a volume of {} takes 0 and moduli of 1.1754944e-38 to 3.4028235e38", dtype.name());
            assert!(e.starts_with(name) && e.ends_with(&end), "{e}");
        }
    }
    // Beyond the range of the type: the call fails, and a scan that was pushed is kept.
    let huge = |output_scale: f64| {
        scan.fdk(context, Options { output_scale, output_offset: output_scale, ..Options::default() })
    };
    for (dtype, scale) in [(DType::F32, 3e38), (DType::F16, 6e4), (DType::F64, 1.7e308)] {
        let mut fdk = huge(scale);
        let e = run(&mut fdk, &input, dtype).map(drop).unwrap_err();
        assert!(matches!(&e, Error::Numerical(text) if text.starts_with("volume: ")), "{e}");
    }
    // Integers saturate.
    run(&mut huge(1e9), &input, DType::I16).unwrap();
    let mut fdk = huge(3e38);
    for slab in [0, 16] {
        fdk = scan.fdk(context, Options { slab, ..fdk.plan().options });
        fdk.begin(None).unwrap();
        fdk.push(&(0..90).collect::<Vec<_>>(), &input).unwrap();
        let mut sink = CallbackSink::new(ArrayInfo::new(Number::F32, &GRID.size).unwrap(), Box::new(|_, _| Ok(())));
        let e = fdk.finish(Volume::Sink(&mut sink), None).unwrap_err();
        assert!(matches!(e, Error::Numerical(_)), "{e}");
        assert_eq!(fdk.planned_info().get().views_pushed, 90);
        let mut out = Tensor::create(context, DType::F64, Location::Host, Order::ColumnMajor, &GRID.size).unwrap();
        fdk.finish(Volume::Tensor(&mut out), None).unwrap();
        let view = out.view::<f64>("volume").unwrap();
        for (got, plain) in view.data().iter().zip(&plain) {
            assert!((got / 3e38 - f64::from(*plain) - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn output_values_are_held_by_the_volume_or_refused() {
    check_output(&cpu(0));
    // In double precision the scale is applied in f64 for every type.
    let (scan, context) = (scan("full"), cpu(0));
    let input = scan.tensor(&context);
    let options = Options { precision: Precision::F64, output_scale: 1e39, ..Options::default() };
    assert!(matches!(
        run(&mut scan.fdk(&context, options), &input, DType::F32).map(drop).unwrap_err(),
        Error::Numerical(_)
    ));
}

#[test]
#[ignore = "needs a GPU"]
fn output_values_are_held_by_the_volume_or_refused_on_a_gpu() {
    check_output(&gpu(0, 0));
}

const PANEL: Detector = Detector { columns: 80, rows: 64, column_pitch: 3.0, row_pitch: 3.5 };
const ORBIT: Orbit = Orbit {
    source_to_axis: 500.0,
    source_to_detector: 1000.0,
    column_offset: 0.0,
    row_offset: 0.0,
    allow_inside_panel: false,
};

/// The geometry of the case "full", and its grid, with all lengths times a power of two.
fn resized(power: i32) -> (Detector, Orbit, Grid) {
    let by = 2f64.powi(power);
    let d = scan("full").geometry.detector;
    let panel = Detector { column_pitch: d.column_pitch * by, row_pitch: d.row_pitch * by, ..d };
    let orbit = Orbit { source_to_axis: 500.0 * by, source_to_detector: 1000.0 * by, ..ORBIT };
    (panel, orbit, Grid { spacing: GRID.spacing.map(|x| x * by), origin: GRID.origin.map(|x| x * by), ..GRID })
}

fn circle() -> Vec<f64> {
    (0..90).map(|n| f64::from(n) * std::f64::consts::TAU / 90.0).collect()
}

/// Powers of two of all lengths change the volume by their inverse alone, as far as the precision takes them. So do pixels
/// that are larger by 2^`brighter`, of which none is counted as too large.
fn check_lengths(context: &Arc<Context>, powers: &[i32], precision: Precision, brighter: i32) {
    let volume = |power: i32, brighter: i32| {
        let (panel, orbit, grid) = resized(power);
        let geometry = Geometry::circular(panel, &orbit, &circle()).unwrap();
        let base = scan("full");
        let scan = Scan { geometry, grid, ..base };
        let pixels: Vec<f64> = scan.projections.iter().map(|p| f64::from(*p) * 2f64.powi(brighter)).collect();
        let input = tensor(context, Order::ColumnMajor, &scan.dims, &pixels);
        let mut fdk = scan.fdk(context, Options { precision, ..Options::default() });
        let (out, info) = run(&mut fdk, &input, DType::F64).unwrap();
        assert_eq!(info.pixels_not_finite, 0, "2^{power}, pixels 2^{brighter}");
        let factor = 2f64.powi(power) * 2f64.powi(-brighter);
        out.view::<f64>("volume").unwrap().data().iter().map(|v| (v * factor) as f32).collect::<Vec<_>>()
    };
    let want = volume(0, 0);
    for power in powers {
        for brighter in [0, brighter] {
            let error = worst(&volume(*power, brighter), &want);
            assert!(error < 1e-6, "2^{power}, pixels 2^{brighter}: {error:e}");
        }
    }
}

/// The limit of pixels changes with the unit of lengths no more than the densities do, and no sum overflows at it.
fn check_largest(context: &Arc<Context>, powers: &[i32], precision: Precision) {
    let of = |power: i32| {
        let (panel, orbit, grid) = resized(power);
        let geometry = Geometry::circular(panel, &orbit, &circle()).unwrap();
        let matrices: Vec<[f64; 12]> =
            geometry.views.iter().map(|v| std::array::from_fn(|k| v.matrix[k / 4][k % 4])).collect();
        let by_matrices = Geometry::from_matrices(panel, &matrices).unwrap();
        [geometry, by_matrices].map(|geometry| {
            let scan = Scan { geometry, grid, ..scan("full") };
            let fdk = scan.fdk(context, Options { precision, ..Options::default() });
            (scan, fdk)
        })
    };
    let base = of(0).map(|(_, fdk)| fdk.plan().largest_pixel);
    for power in powers {
        for ((scan, mut fdk), base) in of(*power).into_iter().zip(base) {
            let largest = fdk.plan().largest_pixel;
            assert!(largest >= base * 2f64.powi((*power).min(0)) / 2.0, "2^{power}: {largest:e}, {base:e}");
            for sign in [|_: usize| 1.0, |n: usize| if n.is_multiple_of(2) { 1.0 } else { -1.0 }] {
                let pixels: Vec<f64> = (0..scan.projections.len()).map(|n| largest * sign(n)).collect();
                let input = tensor(context, Order::ColumnMajor, &scan.dims, &pixels);
                let (out, info) = run(&mut fdk, &input, DType::F64).unwrap();
                assert_eq!(info.pixels_not_finite, 0, "2^{power}");
                assert!(out.view::<f64>("volume").unwrap().data().iter().all(|v| v.is_finite()), "2^{power}");
            }
        }
    }
}

#[test]
fn lengths_are_taken_in_any_unit_or_refused_by_name() {
    let context = cpu(0);
    check_lengths(&context, &[-30, 29], Precision::F32, 40);
    check_lengths(&context, &[-140, 140], Precision::F64, 800);
    check_largest(&context, &[-30, 29], Precision::F32);
    check_largest(&context, &[-140, 140], Precision::F64);
    let refused = |panel: Detector, orbit: Orbit, grid: Grid| {
        let plan = Geometry::circular(panel, &orbit, &circle()).and_then(|g| Plan::new(g, grid, Options::default()));
        plan.unwrap_err().to_string()
    };
    let (panel, orbit, grid) = resized(-140);
    let text = refused(panel, orbit, grid);
    assert!(text.starts_with("column_pitch: is 2."), "{text}");
    assert!(text.ends_with("e-42, outside 1e-12 to 1e12 mm, the lengths of F32 precision"), "{text}");
    let text = refused(PANEL, Orbit { source_to_detector: 1e13, ..ORBIT }, GRID);
    assert_eq!(text, "source_to_detector: is 10000000000000, outside 1e-12 to 1e12 mm, the lengths of F32 precision");
    let text = refused(PANEL, Orbit { source_to_axis: 1e-200, ..ORBIT }, GRID);
    assert_eq!(text, "source_to_axis: is 1e-200, outside 1e-60 to 1e60 mm, the lengths of F64 precision");
    let text = refused(Detector { row_pitch: 1e300, ..PANEL }, ORBIT, GRID);
    assert!(text.starts_with("row_pitch: is 1e300, outside"), "{text}");
    let text = refused(PANEL, ORBIT, Grid { spacing: [2.2, 1e-13, 2.0], ..GRID });
    assert!(text.starts_with("dy: is 1e-13, outside"), "{text}");
    let text = refused(PANEL, ORBIT, Grid { origin: [0.0, 0.0, -1e20], ..GRID });
    assert!(text.starts_with("z0: is -1e20, beyond 1e12 mm"), "{text}");
    // Matrices of the same views.
    let (panel, orbit, grid) = resized(-140);
    let geometry = Geometry::circular(panel, &orbit, &circle()).unwrap();
    let matrices: Vec<[f64; 12]> =
        geometry.views.iter().map(|v| std::array::from_fn(|k| v.matrix[k / 4][k % 4])).collect();
    let by_matrices = |panel: Detector| {
        let geometry = Geometry::from_matrices(panel, &matrices).unwrap();
        Plan::new(geometry, grid, Options::default()).unwrap_err().to_string()
    };
    assert!(by_matrices(panel).starts_with("column_pitch: is "));
    let text = by_matrices(PANEL);
    assert!(text.starts_with("matrices, view 0: the source's distance from the isocentre: is "), "{text}");
}

#[test]
#[ignore = "needs a GPU"]
fn lengths_are_taken_in_any_unit_on_a_gpu() {
    check_lengths(&gpu(0, 0), &[-30, 29], Precision::F32, 40);
    check_largest(&gpu(0, 0), &[-30, 29], Precision::F32);
}

#[test]
fn what_the_caller_gave_is_named() {
    // Panels so far off that the rays lose their digits.
    let text = |orbit: Orbit| Geometry::circular(PANEL, &orbit, &circle()).unwrap_err().to_string();
    for offset in [1.1e6, -1e9, 1e15, 1e18, f64::MAX] {
        let start =
            format!("column_offset: is {}, more than 1000 times source_to_detector = 1000", crate::error::real(offset));
        assert_eq!(text(Orbit { column_offset: offset, ..ORBIT }), start);
        assert!(text(Orbit { row_offset: offset, ..ORBIT }).starts_with("row_offset: is "));
    }
    let plan = |orbit: Orbit| {
        let geometry = Geometry::circular(PANEL, &orbit, &circle()).unwrap();
        Plan::new(geometry, GRID, Options { redundancy: crate::fdk::weights::Redundancy::None, ..Options::default() })
    };
    plan(Orbit { row_offset: 9.9e5, ..ORBIT }).unwrap();
    let far = plan(Orbit { column_offset: 9.9e5, ..ORBIT });
    assert!(far.is_ok() || !far.unwrap_err().to_string().contains("matrices"));
    let geometry = Geometry::circular(PANEL, &ORBIT, &circle()).unwrap();
    assert_eq!(geometry.refusal(3, "is odd").to_string(), "angles: view 3 is odd");
}
