//! Rays that are measured twice in a narrow strip: half fans that hardly reach beyond the axis, and arcs of little more than 180
//! degrees.

use std::f64::consts::{PI, TAU};

use super::super::geometry::{Detector, Geometry, Grid, Orbit};
use super::super::options::Options;
use super::super::phantom::{self, Ellipsoid};
use super::super::plan::Plan;
use super::super::weights::Redundancy;
use super::oblique::{DISTANCES, Tilt, matrix};
use super::scans::{PLAIN, in_memory};
use crate::backend::cpu::Pool;
use crate::error::Result;

const PANEL: Detector = Detector { columns: 48, rows: 5, column_pitch: 2.0, row_pitch: 4.0 };
const YAW: f64 = 1.5;
/// Voxels as large as a column at the axis, in the plane of the orbit.
const GRID: Grid = Grid { size: [31, 31, 1], spacing: [1.0; 3], origin: [-15.0, -15.0, 0.0] };

/// A half fan whose last column's centre lies `overlap` columns beyond the axis: an orbit, or matrices with a yaw.
fn half_fan(overlap: f64, side: f64, is_yawed: bool) -> Geometry {
    let beyond = side * (23.5 - overlap) * PANEL.column_pitch;
    let angles: Vec<f64> = (0..180).map(|n| f64::from(n) * TAU / 180.0).collect();
    if is_yawed {
        // The ray through the axis meets the panel at its shift over the cosine from its centre.
        let tilt = Tilt { yaw: YAW, ..Tilt::default() };
        let of = |b: &f64| matrix(&PANEL, *b, beyond * YAW.to_radians().cos(), &tilt);
        return Geometry::from_matrices(PANEL, &angles.iter().map(of).collect::<Vec<_>>()).unwrap();
    }
    let orbit = Orbit {
        source_to_axis: DISTANCES[0],
        source_to_detector: DISTANCES[1],
        column_offset: beyond,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    Geometry::circular(PANEL, &orbit, &angles).unwrap()
}

fn plan(geometry: Geometry, redundancy: Redundancy) -> Result<Plan> {
    Plan::new(geometry, GRID, Options { redundancy, ..Options::default() })
}

/// The largest error of a voxel inside a body of density 1.
fn worst(plan: &Plan, body: Ellipsoid) -> f32 {
    let d = plan.geometry.detector;
    let mut scan = vec![0f32; d.columns * d.rows * plan.views.len()];
    phantom::project(&Pool::new(2).unwrap(), &plan.geometry, &[body], &mut scan, crate::progress::CancelWatch::never())
        .unwrap();
    let volume = in_memory(plan, &scan, &PLAIN, 0).0;
    volume.iter().map(|v| (v - 1.0).abs()).fold(0.0, f32::max)
}

#[test]
fn half_fans_are_right_down_to_the_least_overlap_and_refused_below() {
    // 36 columns from its middle to its rim, of the 44 that the panel has on the long side.
    let body = Ellipsoid::new(0, [1.0, 36.0, 33.0, 500.0, 4.0, -3.0, 0.0, 0.4]).unwrap();
    for is_yawed in [false, true] {
        for side in [1.0, -1.0] {
            for redundancy in [Redundancy::HalfFan, Redundancy::Auto] {
                for overlap in [0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.4] {
                    let e = plan(half_fan(overlap, side, is_yawed), redundancy).unwrap_err().to_string();
                    let (start, end) = (
                        "redundancy: is half fan, but the panel of view 0 reaches ",
                        "columns beyond the axis, less than 3.",
                    );
                    assert!(e.starts_with(start) && e.contains(end), "{overlap}: {e}");
                    let found: f64 = e.split("reaches ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
                    assert!((found - overlap).abs() < 0.01, "{overlap}: {e}");
                }
            }
            for (overlap, bound) in [(3.6, 0.1), (4.0, 0.05), (4.25, 0.06), (4.75, 0.05), (6.25, 0.03), (10.3, 0.01)] {
                let plan = plan(half_fan(overlap, side, is_yawed), Redundancy::Auto).unwrap();
                assert_eq!(plan.scan.redundancy, Redundancy::HalfFan);
                let error = worst(&plan, body);
                println!("{is_yawed} {side} {overlap}: {error}");
                assert!(error < bound, "{is_yawed} {side} {overlap}: {error}");
                // The warning states a larger error than the actual one.
                let warned = plan.scan.warnings.iter().find(|w| w.contains("densities within them may be off by"));
                assert_eq!(warned.is_some(), overlap < 6.0, "{overlap}: {:?}", plan.scan.warnings);
                assert!(overlap > 6.0 || f64::from(error) < 4.4 / overlap.powi(3) * 1.5);
            }
        }
    }
}

/// The views of an arc that exceeds 180 degrees by less than a step of its views. No view lies where the weights rise, and the
/// weights of the first and the last one are 0.
#[test]
fn arcs_that_exceed_half_a_circle_by_less_than_a_step_have_the_density() {
    let body = Ellipsoid::new(0, [1.0, 36.0, 33.0, 5000.0, 0.0, 0.0, 0.0, 0.4]).unwrap();
    // A fan of half a degree, so that all of it is in the excess.
    let orbit = Orbit {
        source_to_axis: 10_000.0,
        source_to_detector: 10_000.0,
        column_offset: 0.0,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    let panel = Detector { columns: 90, rows: 5, column_pitch: 1.0, row_pitch: 4.0 };
    for (excess, views) in [(0.6f64, 61), (1.0, 61), (2.9, 61), (0.6, 31), (5.0, 31), (3.1, 61), (20.0, 61)] {
        let arc = PI + excess.to_radians();
        let angles: Vec<f64> = (0..views).map(|n| 0.3 + arc * f64::from(n) / f64::from(views - 1)).collect();
        let plan = plan(Geometry::circular(panel, &orbit, &angles).unwrap(), Redundancy::Short).unwrap();
        assert!(plan.scan.warnings.is_empty(), "{:?}", plan.scan.warnings);
        let error = worst(&plan, body);
        println!("{excess} {views}: {error}");
        assert!(error < 0.01, "{excess} degrees, {views} views: {error}");
    }
}
