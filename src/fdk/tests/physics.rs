//! Identities: results that are equal, or zero, whatever the numbers are.

use std::f64::consts::{PI, TAU};

use super::super::geometry::{Detector, Geometry, Grid, Orbit};
use super::super::options::Options;
use super::super::phantom::{self, Ellipsoid};
use super::super::plan::Plan;
use super::super::weights::Redundancy;
use super::golden::reconstruct as by_reference;
use super::scans::{PLAIN, in_memory};
use crate::backend::cpu::Pool;

const PANEL: Detector = Detector { columns: 48, rows: 32, column_pitch: 3.0, row_pitch: 3.5 };
const ORBIT: Orbit = Orbit {
    source_to_axis: 400.0,
    source_to_detector: 600.0,
    column_offset: 0.0,
    row_offset: 0.0,
    allow_inside_panel: false,
};
const CUBE: Grid = Grid { size: [24, 24, 10], spacing: [3.0, 3.0, 4.0], origin: [-34.5, -34.5, -18.0] };
const DENSITY: f64 = 0.02;

fn circle(count: usize) -> Vec<f64> {
    (0..count).map(|n| n as f64 * TAU / count as f64).collect()
}

/// A body and a smaller one beside it, which no symmetry maps onto themselves; turned by `turn`, and `mirror`ed in y.
fn object(turn: f64, mirror: bool) -> [Ellipsoid; 2] {
    let sign = if mirror { -1.0 } else { 1.0 };
    [[DENSITY, 20.0, 14.0, 12.0, 6.0, -4.0, 2.0, 0.5], [0.01, 6.0, 8.0, 5.0, -14.0, 10.0, -4.0, 0.0]].map(|r| {
        let (sin, cos) = turn.sin_cos();
        let (x, y, phi) = (r[4], sign * r[5], sign * r[7]);
        let row = [r[0], r[1], r[2], r[3], x * cos - y * sin, x * sin + y * cos, r[6], phi + turn];
        Ellipsoid::new(0, row).unwrap()
    })
}

fn project(geometry: &Geometry, object: &[Ellipsoid]) -> Vec<f32> {
    let d = &geometry.detector;
    let mut out = vec![f32::NAN; d.columns * d.rows * geometry.views.len()];
    phantom::project(&Pool::new(2).unwrap(), geometry, object, &mut out, crate::progress::CancelWatch::never())
        .unwrap();
    out
}

fn volume(geometry: &Geometry, grid: Grid, options: Options, projections: &[f32]) -> Vec<f32> {
    in_memory(&Plan::new(geometry.clone(), grid, options).unwrap(), projections, &PLAIN, 0).0
}

fn worst(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, |m, d| if d.is_nan() { f32::NAN } else { m.max(d) })
}

fn peak(v: &[f32]) -> f32 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}

#[test]
fn turning_object_and_angles_together_turns_the_volume() {
    let quarter = PI / 2.0;
    let still = Geometry::circular(PANEL, &ORBIT, &circle(40)).unwrap();
    let turned_angles: Vec<f64> = circle(40).iter().map(|a| a + quarter).collect();
    let turned = Geometry::circular(PANEL, &ORBIT, &turned_angles).unwrap();
    let a = volume(&still, CUBE, Options::default(), &project(&still, &object(0.0, false)));
    let b = volume(&turned, CUBE, Options::default(), &project(&turned, &object(quarter, false)));
    // A quarter turn takes (x, y) to (-y, x).
    let back: Vec<f32> = (0..b.len())
        .map(|p| {
            let (i, j, k) = (p % 24, p / 24 % 24, p / 576);
            b[(k * 24 + i) * 24 + (23 - j)]
        })
        .collect();
    assert!(worst(&a, &back) < 1e-5 * peak(&a), "{:e}", worst(&a, &back));
    // The object has no such symmetry itself.
    assert!(worst(&a, &b) > 0.5 * peak(&a));
}

#[test]
fn a_turntable_is_an_orbit_the_other_way() {
    let table = circle(30);
    let source = Geometry::circular(PANEL, &ORBIT, &[0.0]).unwrap();
    let projections: Vec<f32> = table.iter().flat_map(|t| project(&source, &object(*t, false))).collect();
    let against: Vec<f64> = table.iter().map(|t| -t).collect();
    let orbit = |angles: &[f64]| Geometry::circular(PANEL, &ORBIT, angles).unwrap();
    let right = volume(&orbit(&against), CUBE, Options::default(), &projections);
    let wrong = volume(&orbit(&table), CUBE, Options::default(), &projections);
    let mut truth = vec![0.0; right.len()];
    phantom::sample(
        &Pool::new(1).unwrap(),
        &CUBE,
        &object(0.0, false),
        &mut truth,
        crate::progress::CancelWatch::never(),
    )
    .unwrap();
    let rms = |v: &[f32]| (v.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f32>() / v.len() as f32).sqrt();
    assert!(rms(&right) < 0.12 * DENSITY as f32, "{}", rms(&right));
    assert!(rms(&wrong) > 2.0 * rms(&right), "{} {}", rms(&wrong), rms(&right));
}

#[test]
fn a_panel_shifted_by_a_pixel_with_its_data_gives_the_volume() {
    let options = Options { redundancy: Redundancy::Full, ..Options::default() };
    let straight = Geometry::circular(PANEL, &ORBIT, &circle(40)).unwrap();
    let scan = project(&straight, &object(0.0, false));
    let want = volume(&straight, CUBE, options, &scan);
    let at = |view: usize, j: usize, i: usize| scan.get((view * 32 + j) * 48 + i).copied().unwrap_or(0.0);
    for (du, dv) in [(1usize, 0usize), (0, 1)] {
        let orbit = Orbit { column_offset: 3.0 * du as f64, row_offset: 3.5 * dv as f64, ..ORBIT };
        let shifted = Geometry::circular(PANEL, &orbit, &circle(40)).unwrap();
        let moved: Vec<f32> = (0..scan.len())
            .map(|p| {
                let (i, j, view) = (p % 48 + du, p / 48 % 32 + dv, p / 1536);
                if i < 48 && j < 32 { at(view, j, i) } else { 0.0 }
            })
            .collect();
        let got = volume(&shifted, CUBE, options, &moved);
        // Filtered rows have tails, which end with the panel: voxels near its edge do not compare.
        let inner = |v: &[f32]| -> Vec<f32> {
            let near = |p: &usize| CUBE.position(0, p % 24).hypot(CUBE.position(1, p / 24 % 24)) < 35.0;
            (0..v.len()).filter(near).map(|p| v[p]).collect()
        };
        let (got, want) = (inner(&got), inner(&want));
        assert!(worst(&got, &want) < 1e-5 * peak(&want), "{du} {dv}: {:e}", worst(&got, &want));
        // Without the shift of the panel the volume is another.
        assert!(worst(&inner(&volume(&straight, CUBE, options, &moved)), &want) > 0.1 * peak(&want));
    }
}

#[test]
fn rows_from_the_top_down_are_a_volume_from_the_top_down() {
    let up = Geometry::circular(PANEL, &Orbit { row_offset: 5.0, ..ORBIT }, &circle(40)).unwrap();
    let down = Geometry::circular(PANEL, &Orbit { row_offset: -5.0, ..ORBIT }, &circle(40)).unwrap();
    let scan = project(&up, &object(0.0, false));
    let turned: Vec<f32> = scan.chunks(48 * 32).flat_map(|view| view.chunks(48).rev().flatten().copied()).collect();
    let grid = Grid { origin: [-34.5, -34.5, -14.0], ..CUBE };
    let mirrored = Grid { origin: [-34.5, -34.5, 14.0 - 9.0 * 4.0], ..CUBE };
    let want = volume(&up, grid, Options::default(), &scan);
    let got = volume(&down, mirrored, Options::default(), &turned);
    let back: Vec<f32> = got.chunks(24 * 24).rev().flatten().copied().collect();
    assert!(worst(&back, &want) < 1e-5 * peak(&want), "{:e}", worst(&back, &want));
}

#[test]
fn half_fans_to_either_side_are_mirror_images() {
    let side = |sign: f64| {
        let angles: Vec<f64> = circle(60).iter().map(|a| sign * a).collect();
        let orbit = Orbit { column_offset: sign * 45.0, ..ORBIT };
        let geometry = Geometry::circular(PANEL, &orbit, &angles).unwrap();
        let plan = Plan::new(geometry.clone(), CUBE, Options::default()).unwrap();
        assert_eq!(plan.scan.redundancy, Redundancy::HalfFan);
        volume(&geometry, CUBE, Options::default(), &project(&geometry, &object(0.0, sign < 0.0)))
    };
    let (right, left) = (side(1.0), side(-1.0));
    let mirrored: Vec<f32> = (0..left.len()).map(|p| left[p / 576 * 576 + (23 - p / 24 % 24) * 24 + p % 24]).collect();
    assert!(worst(&right, &mirrored) < 1e-5 * peak(&right), "{:e}", worst(&right, &mirrored));
}

/// The mean over the voxels well inside the larger ellipsoid.
fn mean_inside(v: &[f32]) -> f64 {
    let inside: Vec<f64> = (0..v.len())
        .filter(|p| {
            let (i, j, k) = (p % 24, p / 24 % 24, p / 576);
            let d = [CUBE.position(0, i) - 6.0, CUBE.position(1, j) + 4.0, CUBE.position(2, k) - 2.0];
            d.iter().map(|c| c * c).sum::<f64>() < 64.0
        })
        .map(|p| f64::from(v[p]))
        .collect();
    assert!(inside.len() > 20);
    inside.iter().sum::<f64>() / inside.len() as f64
}

#[test]
fn an_arc_of_exactly_180_degrees_and_the_fan_is_enough() {
    let half_fan = (23.5 * 3.0f64 / 600.0).atan();
    let end = PI + 2.0 * half_fan;
    let angles: Vec<f64> = (0..=80).map(|n| 1.0 + end * f64::from(n) / 80.0).collect();
    let geometry = Geometry::circular(PANEL, &ORBIT, &angles).unwrap();
    let plan = Plan::new(geometry.clone(), CUBE, Options::default()).unwrap();
    assert_eq!(plan.scan.redundancy, Redundancy::Short);
    assert!(!plan.scan.misses_rays(), "{} {end}", plan.scan.arc);
    let v = volume(&geometry, CUBE, Options::default(), &project(&geometry, &object(0.0, false)));
    assert!((mean_inside(&v) - DENSITY).abs() < 0.02 * DENSITY, "{}", mean_inside(&v));
}

#[test]
fn an_end_view_that_is_there_twice_changes_nothing() {
    let once = Geometry::circular(PANEL, &ORBIT, &circle(40)).unwrap();
    let scan = project(&once, &object(0.0, false));
    let want = volume(&once, CUBE, Options::default(), &scan);
    let mut angles = circle(40);
    angles.push(TAU);
    let twice = Geometry::circular(PANEL, &ORBIT, &angles).unwrap();
    let mut doubled = scan.clone();
    doubled.extend(&scan[..48 * 32]);
    let got = volume(&twice, CUBE, Options::default(), &doubled);
    assert!(worst(&got, &want) < 1e-6 * peak(&want), "{:e}", worst(&got, &want));
}

#[test]
fn odd_and_least_sizes_agree_with_the_reference() {
    for (columns, rows, views, size) in [
        (47, 31, 7, [23, 17, 19]),
        (47, 31, 1, [23, 17, 1]),
        (2, 1, 5, [3, 3, 1]),
        (33, 1, 40, [1, 1, 1]),
        (48, 33, 9, [1, 65, 257]),
        (31, 3, 12, [17, 1, 16]),
    ] {
        let panel = Detector { columns, rows, column_pitch: 144.0 / columns as f64, row_pitch: 112.0 / rows as f64 };
        let geometry = Geometry::circular(panel, &ORBIT, &circle(views)).unwrap();
        let spacing = [70.0 / size[0] as f64, 70.0 / size[1] as f64, 40.0 / size[2] as f64];
        let origin = std::array::from_fn(|k| -(size[k] as f64 - 1.0) / 2.0 * spacing[k]);
        let options = Options { redundancy: Redundancy::None, ..Options::default() };
        let plan = Plan::new(geometry, Grid { size, spacing, origin }, options).unwrap();
        let scan = project(&plan.geometry, &object(0.0, false));
        let want = by_reference(&plan, &scan.iter().map(|p| f64::from(*p)).collect::<Vec<_>>());
        let got = in_memory(&plan, &scan, &PLAIN, 0).0;
        let scale = want.iter().fold(0f64, |m, w| m.max(w.abs()));
        let worst = got.iter().zip(&want).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
        assert!(scale > 0.0 && worst < 2e-5 * scale, "{columns} {rows} {views} {size:?}: {worst:e} of {scale:e}");
    }
}

#[test]
fn what_no_view_sees_is_zero() {
    let geometry = Geometry::circular(PANEL, &ORBIT, &circle(40)).unwrap();
    let scan = project(&geometry, &object(0.0, false));
    // Above the cone; and a strip that leaves it on one side.
    let above = Grid { origin: [-34.5, -34.5, 100.0], ..CUBE };
    assert!(volume(&geometry, above, Options::default(), &scan).iter().all(|v| *v == 0.0));
    let plan = |geometry: &Geometry, grid| Plan::new(geometry.clone(), grid, Options::default()).unwrap().scan;
    let unseen = "no view sees a voxel of the volume";
    let scan_above = plan(&geometry, above);
    assert_eq!(scan_above.warnings, [unseen]);
    assert!(scan_above.reason.ends_with(&format!("; {unseen}")), "{}", scan_above.reason);
    for (row_offset, is_seen) in [(1000.0, false), (-1000.0, false), (0.0, true)] {
        let lifted = Geometry::circular(PANEL, &Orbit { row_offset, ..ORBIT }, &circle(40)).unwrap();
        assert_eq!(!plan(&lifted, CUBE).reason.contains(unseen), is_seen, "{row_offset}");
    }
    let off = Grid { origin: [40.0, -34.5, -18.0], spacing: [12.0, 3.0, 4.0], ..CUBE };
    let v = volume(&geometry, off, Options::default(), &scan);
    assert!(v.iter().all(|v| v.is_finite()) && peak(&v) > 0.0);
    assert!(!plan(&geometry, off).reason.contains(unseen));
}

#[test]
fn matrices_of_an_orbit_give_its_volume() {
    let orbit = Orbit { column_offset: 2.0, row_offset: -3.0, ..ORBIT };
    let circular = Geometry::circular(PANEL, &orbit, &circle(36)).unwrap();
    let scan = project(&circular, &object(0.0, false));
    let want = volume(&circular, CUBE, Options::default(), &scan);
    // Scaled and turned over, each by another factor.
    let matrices: Vec<[f64; 12]> = circular
        .views
        .iter()
        .enumerate()
        .map(|(n, v)| std::array::from_fn(|k| (0.3 * n as f64 - 5.0) * v.matrix[k / 4][k % 4]))
        .collect();
    let general = Geometry::from_matrices(PANEL, &matrices).unwrap();
    let got = volume(&general, CUBE, Options::default(), &scan);
    assert!(worst(&got, &want) < 1e-6 * peak(&want), "{:e}", worst(&got, &want));
    // A tilt of the panel too small to matter takes the other kernel.
    let tilted: Vec<[f64; 12]> = matrices
        .iter()
        .map(|m| {
            let mut m = *m;
            m[10] += 1e-10 * m[11];
            m
        })
        .collect();
    let general = Geometry::from_matrices(PANEL, &tilted).unwrap();
    assert!(!general.is_vertical());
    let got = volume(&general, CUBE, Options::default(), &scan);
    assert!(worst(&got, &want) < 3e-6 * peak(&want), "{:e}", worst(&got, &want));
}
