mod accuracy;
mod arcs;
mod cancelled;
mod checksums;
mod choices;
mod counts;
mod device;
mod frame;
mod interrupted;
mod kernels;
mod large_counts;
mod layouts;
mod limits;
mod matrices;
mod narrow;
mod oblique;
mod physics;
mod plans;
mod reported;
mod retained;
mod scans;
mod session;
mod stored;

use super::geometry::{Detector, Geometry, Grid, Orbit};
use super::options::{Edge, Options};
use super::phantom::{self, Ellipsoid};
use super::plan::Plan;
use super::ramp::Window;
use super::reference;
use super::weights::Redundancy;
use crate::backend::cpu::Pool;
use crate::testing::source;

/// The numbers of a .npy file of little-endian f4 or f8 in C order.
pub(super) fn npy(name: &str) -> Vec<f64> {
    let path = source("tests/golden/fdk").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[..start]).into_owned();
    assert!(header.contains("'fortran_order': False"), "{header}");
    let data = &bytes[start..];
    if header.contains("<f4") {
        data.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect()
    } else {
        assert!(header.contains("<f8"), "{header}");
        data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

/// A golden case: geometry as in its JSON file, the same grid for all.
pub(super) struct Case {
    pub geometry: Geometry,
    pub projections: Vec<f64>,
    pub name: &'static str,
}

pub(super) const GRID: Grid = Grid { size: [48, 44, 36], spacing: [2.2, 2.4, 2.0], origin: [-51.7, -51.6, -35.0] };

pub(super) fn case(name: &'static str) -> Case {
    let degrees = |count: usize, step: f64| (0..count).map(|n| (n as f64 * step).to_radians()).collect::<Vec<_>>();
    let orbit = |offset| Orbit {
        source_to_axis: 500.0,
        source_to_detector: 1000.0,
        column_offset: offset,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    let panel = |columns, rows, column_pitch, row_pitch| Detector { columns, rows, column_pitch, row_pitch };
    let geometry = match name {
        "full" => Geometry::circular(panel(80, 64, 3.0, 3.5), &orbit(0.0), &degrees(90, 4.0)),
        "short" => Geometry::circular(panel(72, 48, 3.0, 4.0), &orbit(0.0), &degrees(85, 2.5)),
        "displaced" => Geometry::circular(panel(48, 48, 3.5, 4.0), &orbit(52.0), &degrees(90, 4.0)),
        _ => {
            let flat = npy("carm_matrices.npy");
            let matrices: Vec<[f64; 12]> = flat.chunks_exact(12).map(|m| m.try_into().unwrap()).collect();
            Geometry::from_matrices(panel(76, 60, 3.2, 3.7), &matrices)
        }
    };
    Case { geometry: geometry.unwrap(), projections: npy(&format!("{name}_proj.npy")), name }
}

/// The volume by the reference path.
pub(super) fn reconstruct(plan: &Plan, projections: &[f64]) -> Vec<f64> {
    let mut volume = vec![0.0; plan.voxels()];
    let mut filtered = vec![0.0; plan.filtered_pixels()];
    for (n, projection) in projections.chunks(plan.panel_pixels()).enumerate() {
        filtered.fill(f64::NAN);
        reference::filter_view(plan, n, projection, &mut filtered).unwrap();
        reference::backproject_view(plan, n, &filtered, 0, &mut volume, &|| Ok(())).unwrap();
    }
    volume
}

/// Whether every view sees a voxel with all four pixels: RTK treats the panel's edge in ways of its own.
pub(super) fn seen_by_all(plan: &Plan) -> Vec<bool> {
    let [nx, ny, _] = plan.grid.size;
    let (columns, rows) = ((plan.left + plan.geometry.detector.columns) as f64, plan.geometry.detector.rows as f64);
    (0..plan.voxels())
        .map(|p| {
            let voxel = [(p % nx) as f64, (p / nx % ny) as f64, (p / (nx * ny)) as f64];
            plan.views.iter().all(|v| {
                let w = v.apply(2, voxel);
                let (i, j) = (v.apply(0, voxel) / w, v.apply(1, voxel) / w);
                i >= plan.left as f64 && i <= columns - 1.0 && j >= 0.0 && j <= rows - 1.0
            })
        })
        .collect()
}

fn largest_difference(a: &[f64], b: &[f64], at: impl Fn(usize) -> bool) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).enumerate().filter(|(p, _)| at(*p)).map(|(_, (x, y))| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn every_golden_case_agrees_with_rtk() {
    // The density scale is 1. RTK computes in f32; its README gives 2e-7 to 4e-7 for circular orbits and 5e-5 for the
    // irregular one, where only voxels that all views see compare.
    for (name, redundancy, tolerance) in [
        ("full", Redundancy::Full, 1e-6),
        ("short", Redundancy::Short, 1e-6),
        ("displaced", Redundancy::HalfFan, 1e-6),
        ("carm", Redundancy::Full, 2e-4),
    ] {
        let case = case(name);
        let options = Options { edge: Edge::Skip, ..Options::default() };
        let plan = Plan::new(case.geometry, GRID, options).unwrap();
        assert_eq!(plan.scan.redundancy, redundancy, "{name}: {}", plan.scan.reason);
        let volume = reconstruct(&plan, &case.projections);
        let golden = npy(&format!("{}_rtk.npy", case.name));
        let seen = seen_by_all(&plan);
        let worst = largest_difference(&volume, &golden, |p| name != "carm" || seen[p]);
        assert!(worst < tolerance, "{name}: {worst:e}");
    }
}

#[test]
fn windows_agree_with_rtk() {
    let case = case("full");
    for (name, window, cutoff) in [
        ("hann", Window::Hann, 1.0),
        ("shepp-logan", Window::SheppLogan, 1.0),
        ("cosine", Window::Cosine, 1.0),
        ("hamming", Window::Hamming, 0.8),
    ] {
        let options = Options { window, cutoff, edge: Edge::Skip, fft_length: 256, ..Options::default() };
        let plan = Plan::new(case.geometry.clone(), GRID, options).unwrap();
        let volume = reconstruct(&plan, &case.projections);
        let golden = npy(&format!("full_rtk_{name}.npy"));
        let slice = 48 * 44;
        let ours: Vec<f64> = [9, 18, 27].iter().flat_map(|k| volume[k * slice..(k + 1) * slice].to_vec()).collect();
        // RTK's abscissa on the transform's grid differs from the textbook's: up to 3e-3 at this length.
        let worst = largest_difference(&ours, &golden, |_| true);
        assert!(worst < 5e-3, "{name}: {worst:e}");
    }
}

#[test]
fn our_phantom_is_the_golden_one() {
    let case = case("full");
    let rows = phantom::shepp_logan(45.0);
    let ellipsoids: Vec<Ellipsoid> = rows.iter().enumerate().map(|(k, r)| Ellipsoid::new(k, *r).unwrap()).collect();
    let mut ours = vec![f32::NAN; case.projections.len()];
    phantom::project(
        &Pool::new(2).unwrap(),
        &case.geometry,
        &ellipsoids,
        &mut ours,
        crate::progress::CancelWatch::never(),
    )
    .unwrap();
    let worst = ours.iter().zip(&case.projections).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
    // RTK's projections are f32 of magnitude 90, and it intersects in f32 in places.
    assert!(worst < 2e-3, "{worst:e}");
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

#[test]
fn the_row_window_holds_every_row_a_slab_touches() {
    for name in ["full", "carm"] {
        let plan = Plan::new(case(name).geometry, GRID, Options::default()).unwrap();
        for (first, count) in [(0, 36), (0, 1), (17, 2), (35, 1)] {
            for view in [0, 7, 40] {
                let window = plan.row_window(view, first, count);
                let rows = plan.geometry.detector.rows as f64;
                for k in first..first + count {
                    for p in 0..48 * 44 {
                        let voxel = [(p % 48) as f64, (p / 48) as f64, k as f64];
                        let v = &plan.views[view];
                        let row = v.apply(1, voxel) / v.apply(2, voxel);
                        if row > -1.0 && row < rows {
                            let (low, high) = (row.floor().max(0.0), (row.floor() + 1.0).min(rows - 1.0));
                            assert!(window.start as f64 <= low && high < window.end as f64, "{row} {window:?}");
                        }
                    }
                }
            }
        }
    }
}
