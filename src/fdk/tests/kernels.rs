//! Every kernel of the GPU on scans so small that a sanitizer takes seconds.

use std::sync::Arc;

use super::device::{gpu, moved};
use super::session::{Scan, cpu, tensor, values, worst};
use crate::backend::gpu::kernels::fdk::{Kind, Shape, Width};
use crate::context::Context;
use crate::fdk::counts::Counts;
use crate::fdk::geometry::{Detector, Geometry, Grid, Orbit};
use crate::fdk::gpu::shape_of;
use crate::fdk::options::{Edge, Mode, Options};
use crate::fdk::plan::Plan;
use crate::fdk::{Fdk, Projections, Volume};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// Two tiles and a part of one along every axis, whatever the kernel.
const VOXELS: [usize; 3] = [34, 20, 44];

/// A circle about `size` voxels of 1 mm. With `tilt` the panel is turned in its plane, with `shift` it has no plane of
/// symmetry.
fn small_scan(size: [usize; 3], panel: [usize; 2], views: usize, pitch: f64, tilt: f64, shift: f64) -> Scan {
    let detector = Detector { columns: panel[0], rows: panel[1], column_pitch: pitch, row_pitch: pitch };
    let orbit = Orbit {
        source_to_axis: 200.0,
        source_to_detector: 300.0,
        column_offset: 0.21,
        row_offset: shift,
        allow_inside_panel: false,
    };
    let angles: Vec<f64> = (0..views).map(|n| 0.1234 + n as f64 * std::f64::consts::TAU / views as f64).collect();
    let mut geometry = Geometry::circular(detector, &orbit, &angles).unwrap();
    if tilt != 0.0 {
        let centre = panel.map(|n| (n as f64 - 1.0) / 2.0);
        let (sin, cos) = tilt.sin_cos();
        let turned = |m: &[[f64; 4]; 3]| -> [f64; 12] {
            std::array::from_fn(|k| {
                let (row, column) = (k / 4, k % 4);
                let w = m[2][column];
                let (u, v) = (m[0][column] - centre[0] * w, m[1][column] - centre[1] * w);
                match row {
                    0 => cos * u + sin * v + centre[0] * w,
                    1 => cos * v - sin * u + centre[1] * w,
                    _ => w,
                }
            })
        };
        let matrices: Vec<_> = geometry.views.iter().map(|v| turned(&v.matrix)).collect();
        geometry = Geometry::from_matrices(detector, &matrices).unwrap();
    }
    let wave = |n: usize| {
        let (i, j, v) = (n % panel[0], n / panel[0] % panel[1], n / (panel[0] * panel[1]));
        (1.0 + (0.3 * i as f64 + 0.7 * v as f64).sin() + (0.2 * j as f64).cos()) as f32
    };
    let dims = [panel[0], panel[1], views];
    let origin = size.map(|n| -(n as f64 - 1.0) / 2.0);
    let grid = Grid { size, spacing: [1.0; 3], origin };
    Scan { dims, projections: (0..dims.iter().product()).map(wave).collect(), geometry, grid }
}

/// Pixels from narrow to so fine that no window holds a tile; upright panels with and without a plane of symmetry, and
/// tilted ones; both rules for the rim.
fn kernel_cases() -> Vec<(Scan, Options)> {
    let mut cases = Vec::new();
    for (pitch, panel) in [(1.25, [56, 58]), (0.75, [80, 90]), (0.3, [120, 150])] {
        for (tilt, shift) in [(0.0, 0.0), (0.0, 0.37), (0.05, 0.0)] {
            for edge in [Edge::Zero, Edge::Skip] {
                let scan = small_scan(VOXELS, panel, 7, pitch, tilt, shift);
                cases.push((scan, Options { edge, ..Options::default() }));
            }
        }
    }
    cases
}

fn volume(fdk: &mut Fdk, input: &Tensor, dtype: DType) -> Tensor {
    let context = Arc::clone(fdk.context());
    let size = fdk.plan().grid.size;
    let mut out = Tensor::create(&context, dtype, Location::Host, Order::ColumnMajor, &size).unwrap();
    fdk.reconstruct(None, Projections::Tensor(input), Volume::Tensor(&mut out), None).unwrap();
    out
}

fn floats(scan: &Scan, context: &Arc<Context>, options: Options) -> Vec<f32> {
    values(&volume(&mut scan.fdk(context, options), &scan.tensor(context), DType::F32))
}

fn check(what: &str, got: &[f32], want: &[f32]) {
    let largest = want.iter().fold(0f32, |m, v| m.max(v.abs()));
    let error = worst(got, want);
    assert!(largest > 0.0 && error < 1e-5 * largest, "{what}: {error:e} of {largest:e}");
}

#[test]
fn the_small_scans_take_every_kernel() {
    let mut seen: Vec<(Kind, Width, bool, bool)> = Vec::new();
    for (scan, options) in kernel_cases() {
        let plan = Plan::new(scan.geometry, scan.grid, options).unwrap();
        let Shape { kind, width, mirror, .. } = shape_of(&plan);
        let kernel = (kind, width, mirror.is_some(), options.edge == Edge::Skip);
        if !seen.contains(&kernel) {
            seen.push(kernel);
        }
    }
    let mut all = vec![(Kind::Plain, Width::Narrow, false, false), (Kind::Plain, Width::Narrow, false, true)];
    for width in [Width::Narrow, Width::Wide] {
        for kind in [Kind::Column, Kind::General] {
            all.extend([(kind, width, false, false), (kind, width, false, true)]);
        }
        all.push((Kind::Column, width, true, false));
    }
    for kernel in &all {
        assert!(seen.contains(kernel), "{kernel:?}");
    }
    assert_eq!(seen.len(), all.len());
}

#[test]
#[ignore = "needs a GPU"]
fn every_backprojection_kernel_agrees_with_the_cpu_and_however_it_is_cut() {
    let (context, threads) = (gpu(0, 0), cpu(0));
    for (scan, options) in kernel_cases() {
        let fdk = scan.fdk(&context, options);
        let what = format!("{:?}", shape_of(fdk.plan()));
        let want = floats(&scan, &threads, Options { fft_length: fdk.plan().length, ..options });
        let got = floats(&scan, &context, options);
        check(&what, &got, &want);
        // Slabs of which the later ones use kept views, and launches of three views.
        let cut = Options { slab: 16, view_batch: 3, ..options };
        assert!(floats(&scan, &context, cut) == got, "{what}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn every_length_of_the_filter_agrees_with_the_cpu() {
    let (context, threads) = (gpu(0, 0), cpu(0));
    let scan = small_scan([6, 6, 4], [7, 5], 5, 2.0, 0.0, 0.0);
    for log in 4..=14 {
        let fft_length = 1 << log;
        let truncation = if log > 5 { 0.8 } else { 0.0 };
        let options = Options { fft_length, truncation, ..Options::default() };
        check(&format!("length {fft_length}"), &floats(&scan, &context, options), &floats(&scan, &threads, options));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn numbers_go_in_and_out_of_small_scans_as_on_the_cpu() {
    let (context, threads) = (gpu(0, 0), cpu(0));
    let mut scan = small_scan([20, 18, 12], [32, 24], 6, 1.5, 0.0, 0.0);
    let panel = scan.dims[0] * scan.dims[1];
    let image = |low: f32| (0..panel).map(|k| low + (k % 11) as f32).collect::<Vec<_>>();
    let counts = Counts {
        unattenuated: 0.0,
        unattenuated_image: Some(image(50_000.0).into()),
        dark: Some(image(95.0).into()),
        least: 0.0,
    };
    let options =
        Options { fov_mask: true, output_scale: 1e4, output_offset: 20_000.0, fft_length: 64, ..Options::default() };
    let raw: Vec<u16> =
        scan.projections.iter().map(|p| (100.0 + 50_000.0 * (-f64::from(*p) / 4.0).exp()) as u16).collect();
    let whole_numbers = |context: &Arc<Context>| {
        let mut fdk = scan.fdk(context, options);
        fdk.set_counts(Some(counts.clone())).unwrap();
        let out = volume(&mut fdk, &tensor(context, Order::ColumnMajor, &scan.dims, &raw), DType::U16);
        out.view::<u16>("volume").unwrap().data().iter().map(|v| i32::from(*v)).collect::<Vec<_>>()
    };
    let (got, want) = (whole_numbers(&context), whole_numbers(&threads));
    // One for a value near a half.
    assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1));
    assert!(want.contains(&20_000) && want.iter().any(|v| *v != 20_000));

    let rabbit = Options { mode: Mode::RabbitCt, ..Options::default() };
    check("RabbitCT", &floats(&scan, &context, rabbit), &floats(&scan, &threads, rabbit));

    scan.projections[panel + 300] = f32::NAN;
    let sanitize = Options { sanitize: true, fft_length: 64, ..Options::default() };
    check("sanitize", &floats(&scan, &context, sanitize), &floats(&scan, &threads, sanitize));
}

#[test]
#[ignore = "needs a GPU"]
fn the_pieces_of_a_small_scan_agree_with_those_on_threads() {
    let context = gpu(0, 0);
    let scan = small_scan([18, 17, 12], [30, 20], 3, 1.5, 0.05, 0.0);
    let fdk = scan.fdk(&context, Options { truncation: 0.2, ..Options::default() });
    let views = [2i64, 0, 1];
    let input = scan.part(&context, &views);
    let list = [0.02f64, 6.0, 5.0, 4.0, 1.0, -0.5, 0.3, 0.4];
    let list = tensor(&context, Order::ColumnMajor, &[8, 1], &list);
    let pieces = |place: Location| {
        let out = |dims: &[usize]| Tensor::create(&context, DType::F32, place, Order::ColumnMajor, dims).unwrap();
        let (mut weighted, mut filtered) = (out(&scan.dims), out(&[fdk.plan().columns, 20, 3]));
        let (mut volume, mut projections) = (out(&scan.grid.size), out(&scan.dims));
        fdk.weight(None, &views, &moved(&input, place), &mut weighted).unwrap();
        fdk.filter(None, &views, &weighted, &mut filtered).unwrap();
        fdk.backproject(None, &views, &filtered, &mut volume).unwrap();
        fdk.ellipsoids(None, &list, &mut projections).unwrap();
        [weighted, filtered, volume, projections].map(|t| values(&moved(&t, Location::Host)))
    };
    let (here, there) = (pieces(Location::Host), pieces(Location::Device));
    for (n, (a, b)) in here.iter().zip(&there).enumerate() {
        check(&format!("piece {n}"), b, a);
    }
}
