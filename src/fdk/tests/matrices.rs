//! Matrices of unusual scales and orbits: the tests for an orbit, for a half fan, and for the field of view of all
//! views.

use std::f64::consts::TAU;
use std::sync::Arc;

use super::super::geometry::{Detector, Geometry, Grid};
use super::super::options::{Mode, Options};
use super::super::plan::Plan;
use super::super::weights::Redundancy;
use super::oblique::{SLICES, Tilt, matrix, means, panel, project};
use super::session::{Scan, cpu, values};
use crate::context::Context;
use crate::fdk::{Projections, Volume};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// Views at even steps over `arc`, each with its panel's offset and its tilt.
fn views(d: &Detector, count: usize, arc: f64, of: impl Fn(usize) -> (f64, Tilt)) -> Vec<[f64; 12]> {
    let view = |n: usize| {
        let (offset, tilt) = of(n);
        matrix(d, n as f64 * arc / count as f64, offset, &tilt)
    };
    (0..count).map(view).collect()
}

fn plan(d: Detector, matrices: &[[f64; 12]], options: Options) -> Result<Plan, String> {
    Plan::new(Geometry::from_matrices(d, matrices).unwrap(), SLICES, options).map_err(|e| e.to_string())
}

/// Source and panel along z.
fn at_height(z: f64) -> Tilt {
    Tilt { height: z, rise: z, ..Tilt::default() }
}

#[test]
fn sources_that_waver_on_a_short_arc_are_no_tilted_orbit() {
    let d = panel(90);
    let options = Options { allow_short_arc: true, ..Options::default() };
    for (degrees, waver) in [(1.0f64, 0.1), (1.0, 1.0), (5.0, 2.0), (10.0, 6.0), (20.0, 6.0), (30.0, 40.0)] {
        let given = views(&d, 31, degrees.to_radians(), |n| (0.0, at_height(waver * (n % 2) as f64)));
        let plan = plan(d, &given, options).unwrap_or_else(|e| panic!("{degrees} {waver}: {e}"));
        assert!(!plan.scan.reason.contains("the orbit of the sources"), "{}", plan.scan.reason);
    }
}

#[test]
fn a_helix_is_warned_of_where_views_have_little_of_the_axis_in_common() {
    // 20 rows of 4 mm: 40 mm at the axis.
    let d = panel(128);
    for (turns, rise, warned) in [(3usize, 30.0, true), (3, 5.0, false), (1, 30.0, true), (1, 12.0, false)] {
        let count = 90 * turns;
        let middle = turns as f64 * rise / 2.0;
        let z = |n: usize| n as f64 * rise / 90.0 - middle;
        let given = views(&d, count, turns as f64 * TAU, |n| (0.0, at_height(z(n))));
        let scan = plan(d, &given, Options::default()).unwrap().scan;
        assert_eq!(scan.warnings.len(), usize::from(warned), "{turns} {rise}: {}", scan.reason);
        assert_eq!(scan.reason.contains("mm of the axis in common, each sees at least 40.0 mm"), warned);
    }
}

#[test]
fn a_scan_may_stand_at_any_height_with_its_grid() {
    // Couch coordinates: pitched panels, whose plane through the source passes the origin at one height.
    let d = panel(128);
    for pitch in [15.0, -15.0, 40.0, 0.0] {
        let of = |z: f64| {
            let given = views(&d, 60, TAU, |_| (0.0, Tilt { pitch, ..at_height(z) }));
            let [x, y, low] = SLICES.origin;
            let grid = Grid { origin: [x, y, low + z], ..SLICES };
            Plan::new(Geometry::from_matrices(d, &given).unwrap(), grid, Options::default())
        };
        let here = of(0.0).unwrap();
        for z in [1400.0, 1600.0, -1600.0, 1e4, -1e4] {
            let there = of(z).unwrap_or_else(|e| panic!("pitch {pitch}, height {z}: {e}"));
            assert_eq!(there.scan.redundancy, here.scan.redundancy);
            for (a, b) in there.geometry.views.iter().zip(&here.geometry.views) {
                let same = (0..3).all(|r| (0..3).all(|c| (a.inverse[r][c] - b.inverse[r][c]).abs() < 1e-9));
                assert!(same, "pitch {pitch}, height {z}");
            }
        }
    }
}

#[test]
fn matrices_of_any_scale_are_the_same_views() {
    let d = panel(90);
    let given = views(&d, 12, TAU, |n| (3.0, Tilt { yaw: 1.0, roll: n as f64, ..Tilt::default() }));
    let want = Geometry::from_matrices(d, &given).unwrap();
    // No entry becomes subnormal, which would cost it digits.
    for power in [-900, -600, -512, 511, 600, 960] {
        let factor = 2f64.powi(power);
        let scaled: Vec<[f64; 12]> = given.iter().map(|m| m.map(|x| x * factor)).collect();
        let got = Geometry::from_matrices(d, &scaled).unwrap();
        for (g, w) in got.views.iter().zip(&want.views) {
            assert_eq!((g.matrix, g.source, g.inverse), (w.matrix, w.source, w.inverse), "{power}");
            assert_eq!(g.scale, w.scale * factor);
        }
        // That mode divides by the square of the given depth.
        let rabbit = Options { mode: Mode::RabbitCt, ..Options::default() };
        let text = plan(d, &scaled, rabbit).unwrap_err();
        assert_eq!(
            text,
            "matrices, view 0: has a third row of a size whose inverse square is out of the range of the arithmetic"
        );
        assert!(plan(d, &given, rabbit).is_ok());
    }
    let mut one = given[0];
    one[8..11].fill(0.0);
    let text = Geometry::from_matrices(d, &[one]).unwrap_err().to_string();
    assert_eq!(text, "matrices, view 0: has a third row without a direction");
}

fn volume(context: &Arc<Context>, scan: &Scan, options: Options) -> (Plan, Vec<f32>) {
    let mut fdk = scan.fdk(context, options);
    let input = scan.tensor(context);
    let mut out = Tensor::create(context, DType::F32, Location::Host, Order::ColumnMajor, &scan.grid.size).unwrap();
    fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
    (fdk.plan().clone(), values(&out))
}

fn scan_of(d: Detector, given: &[[f64; 12]], grid: Grid) -> Scan {
    let geometry = Geometry::from_matrices(d, given).unwrap();
    let projections = project(&geometry);
    Scan { dims: [d.columns, d.rows, given.len()], projections, geometry, grid }
}

/// `AUTO` looks at all views, and one that stands elsewhere does not decide.
fn check_a_first_view_unlike_the_others(context: &Arc<Context>) {
    for (columns, first, others, want) in [(140, 32.0, 0.0, Redundancy::Full), (90, 0.0, 55.0, Redundancy::HalfFan)] {
        let d = panel(columns);
        let offset = |n: usize| (if n == 0 { first } else { others }, Tilt::default());
        let scan = scan_of(d, &views(&d, 180, TAU, offset), SLICES);
        let (plan, got) = volume(context, &scan, Options::default());
        assert_eq!(plan.scan.redundancy, want, "{}", plan.scan.reason);
        // One view of 180 may miss the rim of the head.
        for mean in means(&got) {
            assert!((mean - 0.2).abs() < 4e-3, "{want:?}: {mean}");
        }
    }
}

/// The mask of a yawed half fan keeps the voxels that all views see but for the short side.
fn check_the_mask_of_a_yawed_half_fan(context: &Arc<Context>) {
    let d = panel(90);
    let wide = Grid { size: [73, 71, 3], spacing: [2.6, 2.6, 9.0], origin: [-93.6, -91.0, -9.0] };
    for (offset, yaw) in [(55.0, 2.0), (-55.0, 2.0), (55.0, -12.0)] {
        let given = views(&d, 180, TAU, |_| (offset, Tilt { yaw, ..Tilt::default() }));
        let scan = scan_of(d, &given, wide);
        let options = Options { redundancy: Redundancy::HalfFan, ..Options::default() };
        let (plan, open) = volume(context, &scan, options);
        let (_, masked) = volume(context, &scan, Options { fov_mask: true, ..options });
        let (mut kept, mut blank) = (0, 0);
        for (p, (m, o)) in masked.iter().zip(&open).enumerate() {
            let at: [f64; 3] = std::array::from_fn(|k| wide.position(k, [p % 73, p / 73 % 71, p / (73 * 71)][k]));
            let radius = at[0].hypot(at[1]);
            // On a circle of views, each sees the circle through the voxel if view 0 does.
            let is_seen = |r: f64| {
                (0..720).all(|n| {
                    let (sin, cos) = (f64::from(n) * TAU / 720.0).sin_cos();
                    let q = [r * cos, r * sin, at[2], 1.0];
                    let h: [f64; 3] = std::array::from_fn(|row| (0..4).map(|c| given[0][4 * row + c] * q[c]).sum());
                    let (i, j) = (h[0] / h[2], h[1] / h[2]);
                    let long = if offset > 0.0 { i <= (d.columns - 1) as f64 } else { i >= 0.0 };
                    long && j >= 0.0 && j <= (d.rows - 1) as f64
                })
            };
            // 720 points miss the worst one by up to half a step.
            if is_seen(radius * 1.0002 + 1e-3) {
                assert_eq!(m, o, "{offset} {yaw} {at:?}");
                kept += 1;
            } else if !is_seen(radius * 0.9998 - 1e-3) {
                assert_eq!(*m, 0.0, "{offset} {yaw} {at:?}");
                blank += 1;
            }
        }
        assert!(kept > 1000 && blank > 1000 && kept + blank > masked.len() * 9 / 10, "{kept} {blank}");
        assert!(plan.fov_radius() > 60.0);
    }
}

#[test]
fn a_first_view_unlike_the_others_does_not_decide() {
    check_a_first_view_unlike_the_others(&cpu(0));
}

#[test]
fn the_mask_of_a_yawed_half_fan_keeps_what_all_views_see() {
    check_the_mask_of_a_yawed_half_fan(&cpu(0));
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_chooses_and_masks_matrices_as_the_cpu_does() {
    let context = super::device::gpu(0, 0);
    check_a_first_view_unlike_the_others(&context);
    check_the_mask_of_a_yawed_half_fan(&context);
}
