//! The Shepp-Logan phantom against the truth: root mean squared error of three slices and means of three regions, by the
//! figures of a plain implementation in double precision. The mean of a ball against its density.

use super::super::geometry::{Detector, Geometry, Grid, Orbit};
use super::super::options::Options;
use super::super::phantom::{self, Ellipsoid};
use super::super::plan::Plan;
use super::super::ramp::Window;
use super::super::weights::Redundancy;
use super::golden::reconstruct;
use super::scans::{PLAIN, in_memory};
use crate::backend::cpu::Pool;

const RADIUS: f64 = 60.0;
const SIZE: usize = 128;

/// One scan and its figures.
struct Run {
    name: &'static str,
    columns: usize,
    offset: f64,
    angles: Vec<f64>,
    window: Window,
    redundancy: Redundancy,
    rmse: [f64; 3],
    means: [f64; 3],
}

fn slice(z: f64) -> Grid {
    let first = -(SIZE as f64 - 1.0) / 2.0;
    Grid { size: [SIZE, SIZE, 1], spacing: [1.0; 3], origin: [first, first, z] }
}

/// The geometry of the panel rows alone that see a slice: rows are filtered one by one, so the others do not matter.
fn geometry(run: &Run, z: f64) -> Geometry {
    let panel = Detector { columns: run.columns, rows: 150, column_pitch: 1.9, row_pitch: 1.9 };
    let orbit = Orbit {
        source_to_axis: 500.0,
        source_to_detector: 1000.0,
        column_offset: run.offset,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    let whole = Geometry::circular(panel, &orbit, &run.angles).unwrap();
    let whole = Plan::new(whole, slice(z), Options::default()).unwrap();
    assert_eq!(whole.scan.redundancy, run.redundancy, "{}", run.name);
    let rows = whole.rows_of(0..run.angles.len(), 0, 1);
    let middle = (rows.start + rows.end - 1) as f64 / 2.0;
    let orbit = Orbit { row_offset: (middle - 74.5) * 1.9, ..orbit };
    Geometry::circular(Detector { rows: rows.len(), ..panel }, &orbit, &run.angles).unwrap()
}

fn mean(v: &[f32], centre: [f64; 2], radius: f64) -> f64 {
    let grid = slice(0.0);
    let inside = |p: &usize| {
        let d = [0, 1].map(|k| grid.position(k, if k == 0 { p % SIZE } else { p / SIZE }) / RADIUS - centre[k]);
        d[0].hypot(d[1]) < radius
    };
    let values: Vec<f64> = (0..v.len()).filter(inside).map(|p| f64::from(v[p])).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn errors_and_means_are_those_of_the_reference() {
    let degrees = |count: usize, arc: f64, last: usize| -> Vec<f64> {
        (0..count).map(|n| (arc * n as f64 / last as f64).to_radians()).collect()
    };
    let full = |name, count, window, rmse, means| Run {
        name,
        columns: 160,
        offset: 0.0,
        angles: degrees(count, 360.0, count),
        window,
        redundancy: Redundancy::Full,
        rmse,
        means,
    };
    let runs = [
        full("full", 720, Window::None, [0.0587, 0.0547, 0.0542], [0.0001, 0.3002, 0.1998]),
        full("shepp-logan", 720, Window::SheppLogan, [0.0618, 0.0585, 0.0574], [0.0001, 0.3002, 0.1998]),
        full("hann", 720, Window::Hann, [0.0801, 0.0779, 0.0734], [0.0001, 0.3001, 0.2000]),
        full("180 views", 180, Window::None, [0.0614, 0.0572, 0.0560], [0.0002, 0.3002, 0.2002]),
        Run {
            name: "short",
            columns: 160,
            offset: 0.0,
            angles: degrees(400, 198.3, 399),
            window: Window::None,
            redundancy: Redundancy::Short,
            rmse: [0.0587, 0.0555, 0.0558],
            means: [0.0001, 0.3002, 0.1998],
        },
        Run {
            name: "half fan",
            columns: 100,
            offset: 70.0,
            angles: degrees(720, 360.0, 720),
            window: Window::None,
            redundancy: Redundancy::HalfFan,
            rmse: [0.0585, 0.0572, 0.0550],
            means: [-0.0004, 0.3001, 0.1999],
        },
    ];
    let rows = phantom::shepp_logan(RADIUS);
    let ellipsoids: Vec<Ellipsoid> = rows.iter().enumerate().map(|(k, r)| Ellipsoid::new(k, *r).unwrap()).collect();
    let pool = Pool::new(2).unwrap();
    // Of the last scan: windows differ in the filter only.
    let mut scans: [(Option<Geometry>, Vec<f32>); 3] = Default::default();
    for run in &runs {
        for (k, z) in [0.0, 12.0, 24.0].into_iter().enumerate() {
            let geometry = geometry(run, z);
            let (last, projections) = &mut scans[k];
            if last.as_ref() != Some(&geometry) {
                let d = &geometry.detector;
                *projections = vec![0.0; d.columns * d.rows * run.angles.len()];
                phantom::project(&pool, &geometry, &ellipsoids, projections, crate::progress::CancelWatch::never())
                    .unwrap();
                *last = Some(geometry.clone());
            }
            let options = Options { window: run.window, ..Options::default() };
            let plan = Plan::new(geometry, slice(z), options).unwrap();
            let v = in_memory(&plan, projections, &PLAIN, 0).0;
            let mut truth = vec![0.0; v.len()];
            phantom::sample(&pool, &slice(z), &ellipsoids, &mut truth, crate::progress::CancelWatch::never()).unwrap();
            let rmse = v.iter().zip(&truth).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>() / v.len() as f64;
            let rmse = rmse.sqrt();
            // The figures have four digits.
            assert!(rmse < run.rmse[k] + 1e-4, "{} z = {z}: {rmse:.5}, {:.4} is known", run.name, run.rmse[k]);
            if k == 0 {
                let found =
                    [([0.22, 0.0], 0.05), ([0.0, 0.35], 0.10), ([0.0, 0.65], 0.05)].map(|(c, r)| mean(&v, c, r));
                for (n, (found, known)) in found.iter().zip(run.means).enumerate() {
                    let truth = [0.0, 0.3, 0.2][n];
                    let allowed = f64::abs(known - truth) + 1e-4;
                    assert!((found - truth).abs() <= allowed, "{}: {found:.5}, {known:.4} is known", run.name);
                }
            }
        }
    }
}

#[test]
fn the_mean_of_a_uniform_region_is_the_density() {
    // A ball of density 0.02: the overall factor is right, not only the look of the picture.
    let detector = Detector { columns: 64, rows: 40, column_pitch: 2.5, row_pitch: 2.5 };
    let orbit = Orbit {
        source_to_axis: 500.0,
        source_to_detector: 800.0,
        column_offset: 0.0,
        row_offset: 1.0,
        allow_inside_panel: false,
    };
    let angles: Vec<f64> = (0..120).map(|n| f64::from(n) * std::f64::consts::TAU / 120.0).collect();
    let geometry = Geometry::circular(detector, &orbit, &angles).unwrap();
    let ball = Ellipsoid::new(0, [0.02, 30.0, 30.0, 24.0, 4.0, -3.0, 1.0, 0.4]).unwrap();
    let mut projections = vec![0f32; 64 * 40 * 120];
    phantom::project(
        &Pool::new(2).unwrap(),
        &geometry,
        &[ball],
        &mut projections,
        crate::progress::CancelWatch::never(),
    )
    .unwrap();
    let projections: Vec<f64> = projections.into_iter().map(f64::from).collect();
    let grid = Grid { size: [9, 9, 3], spacing: [2.0, 2.0, 2.0], origin: [-4.0, -11.0, -1.0] };
    let plan = Plan::new(geometry, grid, Options::default()).unwrap();
    let volume = reconstruct(&plan, &projections);
    let mean = volume.iter().sum::<f64>() / volume.len() as f64;
    assert!((mean - 0.02).abs() < 2e-4, "{mean}");
}
