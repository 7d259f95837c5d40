//! Options one by one, and refused values.

use std::f64::consts::TAU;
use std::sync::{Arc, Mutex};

use super::super::geometry::{Detector, Geometry, Grid, Orbit};
use super::super::options::{Edge, Mode, Options, Precision};
use super::super::phantom::{self, Ellipsoid};
use super::super::plan::Plan;
use super::super::ramp::Window;
use super::super::weights::Redundancy;
use super::golden::{GRID, case, reconstruct as by_reference};
use super::scans::{Output, PLAIN, bytes, context, floats, in_memory, projection_info, run, volume_info};
use super::session::{Scan, cpu, values};
use crate::backend::cpu::Pool;
use crate::blocks::number::{Number, decode};
use crate::blocks::sink::HostSink;
use crate::blocks::source::HostSource;
use crate::context::Context;
use crate::error::Error;
use crate::fdk::{Fdk, Projections, Volume};
use crate::log::Level;
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

fn plan(name: &'static str, options: Options) -> (Plan, Vec<f32>) {
    let case = case(name);
    let projections = case.projections.iter().map(|p| *p as f32).collect();
    (Plan::new(case.geometry, GRID, options).unwrap(), projections)
}

fn doubles(v: &[f32]) -> Vec<f64> {
    v.iter().map(|x| f64::from(*x)).collect()
}

/// Largest difference, in parts of the largest value.
fn worst(got: &[f32], want: &[f64]) -> f64 {
    let scale = want.iter().fold(0f64, |m, w| m.max(w.abs()));
    got.iter().zip(want).map(|(a, b)| (f64::from(*a) - b).abs() / scale).fold(0.0, f64::max)
}

#[test]
fn windows_with_a_cutoff_agree_with_the_reference() {
    let mut before = Vec::new();
    for (window, cutoff) in
        [(Window::SheppLogan, 0.5), (Window::Cosine, 0.7), (Window::Hamming, 0.3), (Window::Hann, 1.0)]
    {
        let (plan, scan) = plan("short", Options { window, cutoff, ..Options::default() });
        let got = in_memory(&plan, &scan, &PLAIN, 0).0;
        let worst = worst(&got, &by_reference(&plan, &doubles(&scan)));
        assert!(worst < 1e-5, "{window:?}: {worst:e}");
        assert!(got != before);
        before = got;
    }
}

#[test]
fn in_double_precision_the_volume_is_the_reference() {
    for name in ["displaced", "carm"] {
        let (plan, scan) = plan(name, Options { precision: Precision::F64, ..Options::default() });
        let input = bytes(Number::F32, &scan);
        let mut info = volume_info(&plan);
        info.number = Number::F64;
        let mut out = vec![0xffu8; plan.voxels() * 8];
        let mut source = HostSource::new(projection_info(&plan, Number::F32), &input).unwrap();
        let mut sink = HostSink::new(info, &mut out).unwrap();
        run(&plan, None, &PLAIN, 0, &mut source, &mut sink, None).unwrap();
        drop(sink);
        let mut got = vec![0f64; plan.voxels()];
        decode(Number::F64, &out, &mut got);
        let want = by_reference(&plan, &doubles(&scan));
        // The same sums in another order at most.
        assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
    }
}

#[test]
fn the_mask_blanks_exactly_what_some_view_does_not_see() {
    // A grid wider and taller than the field of view, on both paths, in f32 and as scaled integers.
    let wide = Grid { size: [41, 39, 21], spacing: [9.0, 9.0, 8.0], origin: [-180.0, -171.0, -80.0] };
    for (name, precision) in [("full", Precision::F32), ("full", Precision::F64), ("carm", Precision::F32)] {
        let case = case(name);
        let options = Options { fov_mask: true, precision, ..Options::default() };
        let plan = Plan::new(case.geometry, wide, options).unwrap();
        let scan: Vec<f32> = case.projections.iter().map(|p| *p as f32 + 1.0).collect();
        let bare = Plan { options: Options { fov_mask: false, ..options }, ..plan.clone() };
        let output = Output { offset: -1000.0, ..PLAIN };
        let masked = in_memory(&plan, &scan, &output, 0).0;
        let open = in_memory(&bare, &scan, &output, 0).0;
        let (mut kept, mut blank) = (0, 0);
        for (p, (m, o)) in masked.iter().zip(&open).enumerate() {
            let voxel = [p % 41, p / 41 % 39, p / (41 * 39)];
            let at: [f64; 3] = std::array::from_fn(|k| wide.position(k, voxel[k]));
            let r = at[0].hypot(at[1]);
            // Every view is asked about the circle through the voxel: on an orbit of few views gaps would show else.
            let seen = || {
                plan.geometry.views.iter().all(|v| {
                    (0..90).all(|n| {
                        let (sin, cos) = (f64::from(n) * TAU / 90.0).sin_cos();
                        let q = [r * cos, r * sin, at[2], 1.0];
                        let h = v.matrix.map(|row| (0..4).map(|c| row[c] * q[c]).sum::<f64>());
                        let (i, j) = (h[0] / h[2], h[1] / h[2]);
                        let d = &plan.geometry.detector;
                        i >= 0.0 && i <= (d.columns - 1) as f64 && j >= 0.0 && j <= (d.rows - 1) as f64
                    })
                })
            };
            let radius = plan.seen_radius(voxel[2]);
            // 90 points miss the worst one by up to half a step.
            if p % 29 == 0 && (r - radius).abs() > 1e-3 * r.max(1.0) + r * (1.0 - (TAU / 180.0).cos()) {
                assert_eq!(r < radius, seen(), "{name} {voxel:?} {r} {radius}");
            }
            if r < radius {
                assert_eq!(m, o);
                kept += 1;
            } else if r > radius {
                assert_eq!(*m, -1000.0);
                blank += 1;
            }
        }
        assert!(kept > 1000 && blank > 1000, "{name}: {kept} {blank}");
        if name == "full" {
            let middle = plan.seen_radius(10);
            assert!((middle - plan.fov_radius()).abs() < 1e-9, "{middle} {}", plan.fov_radius());
        }
    }
}

#[test]
fn rabbitct_adds_samples_over_w_squared_and_nothing_else() {
    let case = case("carm");
    // Matrices scaled as that benchmark's are: w is 1 at the isocentre.
    let matrices: Vec<[f64; 12]> =
        case.geometry.views.iter().map(|v| std::array::from_fn(|k| v.matrix[k / 4][k % 4] / v.matrix[2][3])).collect();
    let d = case.geometry.detector;
    let geometry = Geometry::from_matrices(d, &matrices).unwrap();
    let plan = Plan::new(geometry, GRID, Options { mode: Mode::RabbitCt, ..Options::default() }).unwrap();
    let scan: Vec<f32> = case.projections.iter().map(|p| *p as f32).collect();
    let pixel = |n: usize, i: f64, j: f64| {
        let inside = i >= 0.0 && j >= 0.0 && i < d.columns as f64 && j < d.rows as f64;
        if inside { f64::from(scan[(n * d.rows + j as usize) * d.columns + i as usize]) } else { 0.0 }
    };
    let [nx, ny, nz] = GRID.size;
    let mut want = vec![0.0; nx * ny * nz];
    for (p, sum) in want.iter_mut().enumerate() {
        let q = [GRID.position(0, p % nx), GRID.position(1, p / nx % ny), GRID.position(2, p / (nx * ny)), 1.0];
        for (n, a) in matrices.iter().enumerate() {
            let h: [f64; 3] = std::array::from_fn(|r| (0..4).map(|c| a[4 * r + c] * q[c]).sum());
            let (u, v) = (h[0] / h[2], h[1] / h[2]);
            let (i, j) = (u.floor(), v.floor());
            let (a, b) = (u - i, v - j);
            *sum += ((1.0 - b) * ((1.0 - a) * pixel(n, i, j) + a * pixel(n, i + 1.0, j))
                + b * ((1.0 - a) * pixel(n, i, j + 1.0) + a * pixel(n, i + 1.0, j + 1.0)))
                / (h[2] * h[2]);
        }
    }
    let got = in_memory(&plan, &scan, &PLAIN, 0).0;
    assert!(worst(&got, &want) < 2e-6, "{:e}", worst(&got, &want));
}

#[test]
fn volumes_leave_as_rounded_and_saturated_integers() {
    let (plan, scan) = plan("full", Options::default());
    let plain = in_memory(&plan, &scan, &PLAIN, 0).0;
    let input = bytes(Number::F32, &scan);
    // Hounsfield's scale with 0.2 for water; and one that the type cannot hold.
    for (number, scale, offset, least, most) in [
        (Number::I16, 5000.0, -1000.0, -32768.0, 32767.0),
        (Number::U16, 5000.0, 0.0, 0.0, 65535.0),
        (Number::U8, 400.0, 10.0, 0.0, 255.0),
        (Number::I32, 1e6, 7.5, f64::from(i32::MIN), f64::from(i32::MAX)),
    ] {
        let mut info = volume_info(&plan);
        info.number = number;
        let mut out = vec![0xa5u8; plan.voxels() * number.size()];
        let mut source = HostSource::new(projection_info(&plan, Number::F32), &input).unwrap();
        let mut sink = HostSink::new(info, &mut out).unwrap();
        let output = Output { scale, offset, ..PLAIN };
        run(&plan, None, &output, 0, &mut source, &mut sink, None).unwrap();
        drop(sink);
        let mut got = vec![0f64; plan.voxels()];
        decode(number, &out, &mut got);
        let (mut saturated, mut near) = (0, true);
        for (g, p) in got.iter().zip(&plain) {
            let exact = f64::from(*p) * scale + offset;
            let want = exact.clamp(least, most);
            saturated += usize::from(want != exact);
            // Half a unit, and the rounding of product and sum in f32.
            let rounding = f64::from(f32::EPSILON) * ((f64::from(*p) * scale).abs() + offset.abs() + want.abs());
            near &= (g - want).abs() <= 0.5 + rounding;
        }
        assert!(near, "{number:?}");
        assert_eq!(saturated > 0, matches!(number, Number::U16 | Number::U8), "{number:?}: {saturated}");
    }
}

#[test]
fn extrapolation_heals_the_cupping_of_an_object_wider_than_the_panel() {
    // A cylinder of 0.02 that reaches 20 mm beyond the panel's field of view on either side.
    let panel = Detector { columns: 40, rows: 9, column_pitch: 3.0, row_pitch: 3.0 };
    let orbit = Orbit {
        source_to_axis: 500.0,
        source_to_detector: 750.0,
        column_offset: 0.0,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    let angles: Vec<f64> = (0..90).map(|n| f64::from(n) * TAU / 90.0).collect();
    let geometry = Geometry::circular(panel, &orbit, &angles).unwrap();
    let body = [Ellipsoid::new(0, [0.02, 60.0, 60.0, 500.0, 0.0, 0.0, 0.0, 0.0]).unwrap()];
    let mut scan = vec![0f32; 40 * 9 * 90];
    phantom::project(&Pool::new(2).unwrap(), &geometry, &body, &mut scan, crate::progress::CancelWatch::never())
        .unwrap();
    let grid = Grid { size: [25, 25, 1], spacing: [2.5; 3], origin: [-30.0, -30.0, 0.0] };
    let errors = [0.0, 0.25].map(|truncation| {
        let plan = Plan::new(geometry.clone(), grid, Options { truncation, ..Options::default() }).unwrap();
        let v = in_memory(&plan, &scan, &PLAIN, 0).0;
        let inside = (0..625).filter(|p| grid.position(0, p % 25).hypot(grid.position(1, p / 25)) < 30.0);
        let errors: Vec<f64> = inside.map(|p| (f64::from(v[p]) - 0.02).abs()).collect();
        errors.iter().sum::<f64>() / errors.len() as f64
    });
    assert!(errors[1] < 0.25 * errors[0], "{errors:?}");
}

/// A cylinder that a half fan sees whole: its rows end in zeros on the long side, and have no truncated end on the other.
fn check_a_whole_object_in_a_half_fan(context: &Arc<Context>) {
    let panel = Detector { columns: 96, rows: 5, column_pitch: 3.0, row_pitch: 2.5 };
    let body = [Ellipsoid::new(0, [1.0, 45.0, 45.0, 400.0, 0.0, 0.0, 0.0, 0.0]).unwrap()];
    let grid = Grid { size: [21, 21, 1], spacing: [4.0; 3], origin: [-40.0, -40.0, 0.0] };
    for column_offset in [60.0, -60.0] {
        let orbit = Orbit {
            source_to_axis: 400.0,
            source_to_detector: 700.0,
            column_offset,
            row_offset: 0.0,
            allow_inside_panel: false,
        };
        let geometry = Geometry::circular(panel, &orbit, &circle(180)).unwrap();
        let mut projections = vec![0f32; 96 * 5 * 180];
        phantom::project(
            &Pool::new(2).unwrap(),
            &geometry,
            &body,
            &mut projections,
            crate::progress::CancelWatch::never(),
        )
        .unwrap();
        let scan = Scan { dims: [96, 5, 180], projections, geometry, grid };
        for precision in [Precision::F32, Precision::F64] {
            let of = |truncation: f64| {
                let mut fdk = scan.fdk(context, Options { truncation, precision, ..Options::default() });
                assert_eq!(fdk.plan().scan.redundancy, Redundancy::HalfFan);
                let input = scan.tensor(context);
                let mut out =
                    Tensor::create(context, DType::F32, Location::Host, Order::ColumnMajor, &grid.size).unwrap();
                fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
                values(&out)
            };
            let plain = of(0.0);
            assert!((plain[10 * 21 + 10] - 1.0).abs() < 5e-3, "{}", plain[10 * 21 + 10]);
            for truncation in [0.1, 0.4] {
                let most = of(truncation).iter().zip(&plain).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(most < 1e-5, "offset {column_offset}, {precision:?}, truncation {truncation}: {most:e}");
            }
        }
    }
}

#[test]
fn truncation_does_no_harm_to_a_whole_object_in_a_half_fan() {
    check_a_whole_object_in_a_half_fan(&cpu(0));
}

#[test]
#[ignore = "needs a GPU"]
fn truncation_does_no_harm_to_a_whole_object_in_a_half_fan_on_a_gpu() {
    check_a_whole_object_in_a_half_fan(&super::device::gpu(0, 0));
}

const PANEL: Detector = Detector { columns: 16, rows: 12, column_pitch: 3.0, row_pitch: 3.0 };
const ORBIT: Orbit = Orbit {
    source_to_axis: 400.0,
    source_to_detector: 600.0,
    column_offset: 0.0,
    row_offset: 0.0,
    allow_inside_panel: false,
};

fn circle(count: usize) -> Vec<f64> {
    (0..count).map(|n| n as f64 * TAU / count as f64).collect()
}

#[test]
fn bad_input_is_refused_with_its_name_and_value() {
    let geometry = Geometry::circular(PANEL, &ORBIT, &circle(8)).unwrap();
    let grid = Grid { size: [4, 4, 4], spacing: [2.0; 3], origin: [-3.0; 3] };
    let refused = |text: Result<String, String>, expected: &str| match text {
        Err(e) => assert!(e.contains(expected), "{e}"),
        Ok(_) => panic!("accepted what {expected:?} is said of"),
    };
    let panel =
        |d: Detector| Geometry::circular(d, &ORBIT, &circle(8)).map(|_| String::new()).map_err(|e| e.to_string());
    refused(panel(Detector { column_pitch: 0.0, ..PANEL }), "column_pitch: is 0, a finite number above 0 is needed");
    refused(panel(Detector { row_pitch: f64::NAN, ..PANEL }), "row_pitch: is NaN");
    refused(panel(Detector { row_pitch: -1.0, ..PANEL }), "row_pitch: is -1");
    refused(panel(Detector { rows: 0, ..PANEL }), "detector_rows: is 0, less than 1");
    let orbit = |o: Orbit| Geometry::circular(PANEL, &o, &circle(8)).map(|_| String::new()).map_err(|e| e.to_string());
    refused(orbit(Orbit { source_to_axis: -5.0, ..ORBIT }), "source_to_axis: is -5");
    refused(
        orbit(Orbit { source_to_detector: f64::INFINITY, ..ORBIT }),
        "source_to_detector: is inf, a finite number above 0 is needed",
    );
    refused(orbit(Orbit { column_offset: f64::NAN, ..ORBIT }), "column_offset: is NaN, a finite number is needed");
    refused(orbit(Orbit { source_to_detector: 399.0, ..ORBIT }), "less than source_to_axis = 400");
    assert!(orbit(Orbit { source_to_detector: 399.0, allow_inside_panel: true, ..ORBIT }).is_ok());
    let far = |angle: f64| {
        let angles: Vec<f64> = circle(8).iter().map(|a| a + angle).collect();
        Geometry::circular(PANEL, &ORBIT, &angles).map(|_| String::new()).map_err(|e| e.to_string())
    };
    assert!(far(9.9e8).is_ok() && far(-9.9e8).is_ok());
    refused(far(2e15), "angles: element 0 is 2e15, beyond 1e9 rad");
    refused(far(-1.1e9), "angles: element 0 is -1.1e9, beyond 1e9 rad");
    let mut matrices = vec![[0.0; 12]; 5];
    for (n, m) in matrices.iter_mut().enumerate() {
        *m = std::array::from_fn(|k| geometry.views[n].matrix[k / 4][k % 4]);
    }
    matrices[3] = [1.0; 12];
    let e = Geometry::from_matrices(PANEL, &matrices).unwrap_err().to_string();
    assert_eq!(e, "matrices, view 3: is singular");
    matrices[3][8..11].fill(0.0);
    let e = Geometry::from_matrices(PANEL, &matrices).unwrap_err().to_string();
    assert_eq!(e, "matrices, view 3: has a third row without a direction");
    matrices[3] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let e = Geometry::from_matrices(PANEL, &matrices).unwrap_err().to_string();
    assert_eq!(e, "matrices, view 3: has its source at the isocentre");
    matrices[3][7] = f64::NAN;
    let e = Geometry::from_matrices(PANEL, &matrices).unwrap_err().to_string();
    assert_eq!(e, "matrices, view 3: has an entry that is not finite");

    let plan = |grid: Grid, options: Options| {
        Plan::new(geometry.clone(), grid, options).map(|_| String::new()).map_err(|e| e.to_string())
    };
    let none = Options::default();
    refused(plan(Grid { size: [4, 0, 4], ..grid }, none), "ny: is 0");
    refused(plan(Grid { spacing: [2.0, 2.0, 0.0], ..grid }, none), "dz: is 0, a finite number above 0 is needed");
    refused(plan(Grid { origin: [f64::NAN, 0.0, 0.0], ..grid }, none), "x0: is NaN, a finite number is needed");
    refused(plan(Grid { size: [1 << 20; 3], ..grid }, none), "are more than 2^63 bytes");
    refused(plan(Grid { origin: [395.0, 0.0, 0.0], ..grid }, none), "behind the source of view 0");
    for cutoff in [0.0, -0.5, 1.01, f64::NAN] {
        refused(plan(grid, Options { cutoff, ..none }), "cutoff: is ");
    }
    for truncation in [-0.1, 1.5, f64::NAN] {
        refused(plan(grid, Options { truncation, ..none }), "truncation: is ");
    }
    refused(plan(grid, Options { fft_length: 31, ..none }), "fft_length: is 31, an even number of at least 32");
    refused(
        plan(grid, Options { output_scale: f64::INFINITY, ..none }),
        "output_scale: is inf, a finite number is needed",
    );
    let arc = Geometry::circular(PANEL, &ORBIT, &circle(80)[..30]).unwrap();
    let short = |allow_short_arc| Plan::new(arc.clone(), grid, Options { allow_short_arc, ..none });
    assert!(short(false).unwrap_err().to_string().contains("angles: the arc is 130.50 degrees"));
    assert!(short(true).is_ok());
}

#[test]
fn an_arc_too_short_for_its_fan_is_warned_of() {
    let context = context(1, 0);
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&said);
    let sink = move |level: Level, text: &str| heard.lock().unwrap().push((level, text.to_owned()));
    context.log().set(Level::Warn, Some(Box::new(sink))).unwrap();
    let grid = Grid { size: [4, 4, 4], spacing: [2.0; 3], origin: [-3.0; 3] };
    // A fan of 4.3 degrees; 180 and 189 degrees of arc.
    for (views, messages) in [(43, 0), (41, 1)] {
        let geometry = Geometry::circular(PANEL, &ORBIT, &circle(80)[..views]).unwrap();
        let fdk = Fdk::new(&context, geometry, Some(grid), Options::default()).unwrap();
        let said = said.lock().unwrap();
        assert_eq!(said.len(), messages, "{said:?}");
        if let Some((level, text)) = said.first() {
            assert_eq!(
                (*level, text.as_str()),
                (Level::Warn, "rays are missing: the arc is 180.0 degrees, 184.3 are needed")
            );
            let reason = fdk.planned_info().get().reason;
            assert!(reason.ends_with(text), "{reason}");
        }
    }
}

#[test]
fn a_volume_that_memory_cannot_hold_is_an_error_before_any_work() {
    let geometry = Geometry::circular(PANEL, &ORBIT, &circle(8)).unwrap();
    // 4 EB: more than the limit allows, less than the largest size.
    let n = 1 << 19;
    let grid = Grid { size: [n, n, n], spacing: [1e-4; 3], origin: [-50.0; 3] };
    let mut fdk = Fdk::new(&context(1, 1 << 30), geometry, Some(grid), Options::default()).unwrap();
    let read = |_: &crate::blocks::array::Block, _: &mut [u8]| panic!("nothing is read");
    let info = projection_info(fdk.plan(), Number::F32);
    let mut source = crate::blocks::source::CallbackSource::new(info, Box::new(read));
    let write = |_: &crate::blocks::array::Block, _: &[u8]| panic!("nothing is written");
    let mut sink = crate::blocks::sink::CallbackSink::new(volume_info(fdk.plan()), Box::new(write));
    let e = fdk.reconstruct(None, Projections::Source(&mut source), Volume::Sink(&mut sink), None).unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { .. }), "{e}");
}

#[test]
fn angles_in_degrees_by_mistake_show_in_the_arc() {
    let degrees: Vec<f64> = (0..90).map(|n| f64::from(n) * 4.0).collect();
    let geometry = Geometry::circular(PANEL, &ORBIT, &degrees).unwrap();
    let plan = Plan::new(geometry, Grid { size: [4; 3], spacing: [2.0; 3], origin: [-3.0; 3] }, Options::default());
    let scan = plan.unwrap().scan;
    // Steps of 4 rad fill the circle unevenly; the weights make up for that, and the gap shows it.
    assert!((scan.angular.iter().sum::<f64>() - scan.arc).abs() < 1e-9);
    assert!(scan.largest_gap > 1.2 * 4f64.to_radians(), "{}", scan.largest_gap);
}

#[test]
fn pixels_that_are_not_finite_spoil_the_volume_or_are_counted() {
    for precision in [Precision::F32, Precision::F64] {
        let options = Options { precision, edge: Edge::Zero, redundancy: Redundancy::Full, ..Options::default() };
        let (plan, mut scan) = plan("full", options);
        let pixel = 32 * 80 + 40;
        let clean = {
            let mut zeroed = scan.clone();
            zeroed[pixel] = 0.0;
            in_memory(&plan, &zeroed, &PLAIN, 0).0
        };
        scan[pixel] = f32::NAN;
        let spoilt = in_memory(&plan, &scan, &PLAIN, 0).0;
        assert!(spoilt.iter().any(|v| v.is_nan()));
        // Infinities spoil the volume too; they and values near the largest are no error.
        for large in [f32::INFINITY, f32::MAX] {
            let mut extreme = scan.clone();
            (extreme[pixel], extreme[pixel + 1]) = (large, -large);
            let spoilt = in_memory(&plan, &extreme, &PLAIN, 0).0;
            assert!(large.is_finite() || spoilt.iter().any(|v| !v.is_finite()));
        }
        let sane = Plan { options: Options { sanitize: true, ..options }, ..plan };
        let (healed, info) = in_memory(&sane, &scan, &PLAIN, 0);
        assert!(healed == clean);
        assert_eq!(info.pixels_sanitized, 1);
        assert!(floats(&bytes(Number::F32, &healed)).iter().all(|v| v.is_finite()));
    }
}

/// An infinite pixel makes voxels NaN, and 0 in volumes of integers. Sums with infinities would be the largest integers there.
#[test]
fn infinite_pixels_are_zero_in_integer_volumes() {
    for (precision, mode) in [
        (Precision::F32, Mode::Fdk),
        (Precision::F64, Mode::Fdk),
        (Precision::F32, Mode::RabbitCt),
        (Precision::F64, Mode::RabbitCt),
    ] {
        let (plan, mut scan) = plan("full", Options { precision, mode, ..Options::default() });
        for (at, value) in [(2540, f32::INFINITY), (5120 * 40 + 2600, f32::NEG_INFINITY)] {
            scan[at] = value;
        }
        // As doubles, which hold a number that is infinite in single precision.
        let mut wide: Vec<f64> = scan.iter().map(|p| f64::from(*p)).collect();
        wide[5120 * 60 + 2610] = f64::INFINITY;
        let bytes: Vec<u8> = wide.iter().flat_map(|p| p.to_ne_bytes()).collect();
        let of = |number: Number| {
            let mut info = volume_info(&plan);
            info.number = number;
            let mut out = vec![0xffu8; plan.voxels() * number.size()];
            let mut source = HostSource::new(projection_info(&plan, Number::F64), &bytes).unwrap();
            let mut sink = HostSink::new(info, &mut out).unwrap();
            let info = run(&plan, None, &PLAIN, 0, &mut source, &mut sink, None).unwrap();
            assert_eq!(info.pixels_not_finite, 3, "{precision:?} {mode:?}");
            drop(sink);
            out
        };
        let volume = floats(&of(Number::F32));
        let spoilt = volume.iter().filter(|v| !v.is_finite()).count();
        assert!(spoilt > 0 && volume.iter().all(|v| v.is_finite() || v.is_nan()), "{precision:?} {mode:?}: {spoilt}");
        let integers: Vec<i16> =
            of(Number::I16).chunks_exact(2).map(|b| i16::from_ne_bytes(b.try_into().unwrap())).collect();
        for (v, i) in volume.iter().zip(integers) {
            let want = if v.is_nan() { 0 } else { v.round_ties_even() as i16 };
            assert_eq!(i, want, "{precision:?} {mode:?}: {v}");
        }
    }
}

#[test]
fn infinite_pixels_leave_no_infinity_in_rows_of_any_length() {
    let orbit = Orbit { source_to_axis: 400.0, source_to_detector: 600.0, ..ORBIT };
    let grid = Grid { size: [9, 9, 1], spacing: [4.0; 3], origin: [-16.0, -16.0, 0.0] };
    for columns in [2, 3, 4, 8, 33, 64] {
        let panel = Detector { columns, rows: 1, column_pitch: 60.0 / columns as f64, row_pitch: 10.0 };
        let geometry = Geometry::circular(panel, &orbit, &circle(5)).unwrap();
        for precision in [Precision::F32, Precision::F64] {
            let options = Options { precision, redundancy: Redundancy::Full, ..Options::default() };
            let plan = Plan::new(geometry.clone(), grid, options).unwrap();
            for (at, value) in [(0, f32::INFINITY), (columns / 2, f32::NEG_INFINITY)] {
                let mut scan = vec![1.0f32; columns * 5];
                scan[at] = value;
                let volume = in_memory(&plan, &scan, &PLAIN, 0).0;
                assert!(volume.iter().any(|v| v.is_nan()), "{columns} {precision:?} {at}");
                assert!(!volume.iter().any(|v| v.is_infinite()), "{columns} {precision:?} {at}: {volume:?}");
            }
        }
    }
}
