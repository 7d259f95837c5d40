//! Panels and sources off their place: weights follow the projected rotation axis, not the principal point.
//!
//! The object is a set of ellipsoids whose line integrals are exact through any matrices, so only the errors of the
//! reconstruction are measured. Its mean over the inside of the head must be that of the same scan without the tilt.

use std::f64::consts::TAU;
use std::sync::Arc;

use super::super::geometry::{Detector, Geometry, Grid};
use super::super::options::Options;
use super::super::phantom::{self, Ellipsoid};
use super::super::plan::Plan;
use super::super::weights::Redundancy;
use super::golden::npy;
use super::session::{Scan, values};
use crate::backend::cpu::Pool;
use crate::context::Context;
use crate::fdk::{Projections, Volume};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// Misalignments, in degrees and mm; the last two vary over the orbit by this much.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tilt {
    /// Panel about its own vertical axis.
    pub yaw: f64,
    /// Turn of the panel about its normal, degrees.
    pub roll: f64,
    /// Panel about its own horizontal axis.
    pub pitch: f64,
    /// Shift of the source along e_u, mm.
    pub source: f64,
    /// Shift of the source along z, mm.
    pub height: f64,
    /// Source towards the axis, as a sine of twice the angle.
    pub wobble: f64,
    /// Panel along e_u, as a sine of three times the angle.
    pub sway: f64,
    /// Shift of the panel along z, mm.
    pub rise: f64,
}

pub(super) const DISTANCES: [f64; 2] = [500.0, 1000.0];

/// The matrix of a view at angle `b` whose panel's centre is `offset` mm along e_u.
pub(super) fn matrix(d: &Detector, b: f64, offset: f64, t: &Tilt) -> [f64; 12] {
    let ([sid, sdd], (sin, cos)) = (DISTANCES, b.sin_cos());
    let (out, across, up) = ([cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]);
    let add = |terms: &[(f64, [f64; 3])]| -> [f64; 3] {
        std::array::from_fn(|k| terms.iter().map(|(f, v)| f * v[k]).sum::<f64>())
    };
    let source = add(&[(sid - t.wobble * (2.0 * b).sin(), out), (t.source, across), (t.height, up)]);
    let shift = offset + t.sway * (3.0 * b).sin();
    let centre = add(&[(sid - sdd, out), (shift, across), (t.rise, up)]);
    // Yaw, then pitch about the panel's own horizontal axis, then roll about its normal.
    let ((sy, cy), (sp, cp), (sr, cr)) =
        (t.yaw.to_radians().sin_cos(), t.pitch.to_radians().sin_cos(), t.roll.to_radians().sin_cos());
    let (u, n) = (add(&[(cy, across), (sy, out)]), add(&[(cy, out), (-sy, across)]));
    let v = add(&[(cp, up), (sp, n)]);
    let (u, v) = (add(&[(cr, u), (sr, v)]), add(&[(-sr, u), (cr, v)]));
    // A point p and the pixel (i, j) in line: the ray's direction is E (i, j, 1) with the columns of E below, so the
    // matrix is the inverse of E times (p - source).
    let (cu, cv) = ((d.columns - 1) as f64 / 2.0 * d.column_pitch, (d.rows - 1) as f64 / 2.0 * d.row_pitch);
    let corner = add(&[(1.0, centre), (-cu, u), (-cv, v), (-1.0, source)]);
    let e = [u.map(|x| x * d.column_pitch), v.map(|x| x * d.row_pitch), corner];
    let cross = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let rows = [cross(e[1], e[2]), cross(e[2], e[0]), cross(e[0], e[1])];
    let volume = dot(e[0], rows[0]);
    let rows = rows.map(|r| r.map(|x| x / volume));
    std::array::from_fn(|k| if k % 4 == 3 { -dot(rows[k / 4], source) } else { rows[k / 4][k % 4] })
}

pub(super) struct Setup {
    pub panel: Detector,
    pub offset: f64,
    pub views: usize,
    pub step: f64,
    pub asked: Redundancy,
    pub want: Redundancy,
}

pub(super) const fn panel(columns: usize) -> Detector {
    Detector { columns, rows: 20, column_pitch: 2.0, row_pitch: 4.0 }
}

pub(super) fn setups() -> Vec<Setup> {
    let circle = 180;
    let step = TAU / circle as f64;
    let setup = |columns, offset, views, asked, want| Setup { panel: panel(columns), offset, views, step, asked, want };
    vec![
        setup(90, 55.0, circle, Redundancy::HalfFan, Redundancy::HalfFan),
        setup(90, -55.0, circle, Redundancy::Auto, Redundancy::HalfFan),
        setup(128, 0.0, circle, Redundancy::Auto, Redundancy::Full),
        setup(128, 0.0, 108, Redundancy::Auto, Redundancy::Short),
    ]
}

/// The head: a shell, a uniform inside of 0.2 and two balls off centre.
pub(super) fn head() -> Vec<Ellipsoid> {
    [
        [1.0, 44.0, 52.0, 40.0, 0.0, 0.0, 0.0, 0.0],
        [-0.8, 41.0, 49.0, 38.0, 0.0, 0.0, 0.0, 0.0],
        [0.1, 6.0, 6.0, 6.0, 30.0, 5.0, 0.0, 0.0],
        [-0.1, 8.0, 8.0, 8.0, -10.0, -34.0, 4.0, 0.0],
    ]
    .iter()
    .enumerate()
    .map(|(k, r)| Ellipsoid::new(k, *r).unwrap())
    .collect()
}

pub(super) const SLICES: Grid = Grid { size: [49, 49, 3], spacing: [2.2, 2.2, 8.0], origin: [-52.8, -52.8, -8.0] };

pub(super) fn matrices(s: &Setup, t: &Tilt) -> Vec<[f64; 12]> {
    (0..s.views).map(|n| matrix(&s.panel, n as f64 * s.step, s.offset, t)).collect()
}

pub(super) fn geometry(s: &Setup, t: &Tilt) -> Geometry {
    Geometry::from_matrices(s.panel, &matrices(s, t)).unwrap()
}

pub(super) fn project(geometry: &Geometry) -> Vec<f32> {
    project_of(geometry, &head())
}

fn project_of(geometry: &Geometry, object: &[Ellipsoid]) -> Vec<f32> {
    let d = geometry.detector;
    let mut out = vec![0f32; d.columns * d.rows * geometry.views.len()];
    phantom::project(&Pool::new(2).unwrap(), geometry, object, &mut out, crate::progress::CancelWatch::never())
        .unwrap();
    out
}

/// The uniform part of the head, away from its edges: distance from the axis and value of each voxel.
fn uniform(volume: &[f32]) -> Vec<(f64, f64)> {
    let inside = |p: usize| {
        let at: [f64; 3] = std::array::from_fn(|k| SLICES.position(k, [p % 49, p / 49 % 49, p / 2401][k]));
        let ball = |c: [f64; 3], r: f64| (0..3).map(|k| (at[k] - c[k]).powi(2)).sum::<f64>() < r * r;
        let apart = !ball([30.0, 5.0, 0.0], 11.0) && !ball([-10.0, -34.0, 4.0], 13.0);
        apart.then(|| at[0].hypot(at[1]))
    };
    (0..volume.len()).filter_map(|p| inside(p).map(|r| (r, f64::from(volume[p])))).collect()
}

/// Means over rings of the uniform part of the head: errors of weights are rings.
pub(super) fn means(volume: &[f32]) -> Vec<f64> {
    let edges = [0.0, 14.0, 22.0, 27.0, 37.0];
    let voxels = uniform(volume);
    edges
        .windows(2)
        .map(|e| {
            let ring = voxels.iter().filter(|(r, _)| *r >= e[0] && *r < e[1]);
            let (count, sum) = ring.fold((0.0, 0.0), |(n, s), (_, v)| (n + 1.0, s + v));
            assert!(count > 50.0);
            sum / count
        })
        .collect()
}

fn reconstruct(s: &Setup, t: &Tilt) -> (Plan, Vec<f32>) {
    reconstruct_of(s, t, &head())
}

fn reconstruct_of(s: &Setup, t: &Tilt, object: &[Ellipsoid]) -> (Plan, Vec<f32>) {
    let geometry = geometry(s, t);
    let scan = project_of(&geometry, object);
    let plan = Plan::new(geometry, SLICES, Options { redundancy: s.asked, ..Options::default() }).unwrap();
    assert_eq!(plan.scan.redundancy, s.want, "{t:?}: {}", plan.scan.reason);
    let volume = super::scans::in_memory(&plan, &scan, &super::scans::PLAIN, 0).0;
    (plan, volume)
}

pub(super) fn tilts() -> Vec<(Tilt, f64)> {
    let t = Tilt::default();
    let mut all = Vec::new();
    for a in [-2.0, 0.25, 1.0, 2.0] {
        all.push((Tilt { yaw: a, ..t }, 1e-3));
    }
    all.extend([
        (Tilt { source: 20.0, ..t }, 1e-3),
        (Tilt { source: -12.0, height: 10.0, ..t }, 2e-3),
        (Tilt { roll: 2.0, ..t }, 2e-3),
        (Tilt { pitch: -2.0, ..t }, 2e-3),
        (Tilt { wobble: 12.0, sway: 4.0, ..t }, 2e-3),
        (Tilt { yaw: -1.5, roll: 1.0, pitch: 1.0, source: 6.0, height: 4.0, wobble: 5.0, sway: 2.0, rise: 1.0 }, 3e-3),
        // A weight that were wrong by the cosine of the pitch would be seen here.
        (Tilt { pitch: 20.0, ..t }, 2e-3),
        (Tilt { yaw: 2.0, roll: 3.0, pitch: -12.0, ..t }, 3e-3),
    ]);
    all
}

#[test]
fn a_tilt_leaves_the_means_of_the_head_as_they_are() {
    for (n, s) in setups().iter().enumerate() {
        let straight = means(&reconstruct(s, &Tilt::default()).1);
        for m in &straight {
            assert!((m - 0.2).abs() < 4e-3, "{n}: {straight:?}");
        }
        for (t, tolerance) in tilts() {
            let got = means(&reconstruct(s, &t).1);
            for (g, w) in got.iter().zip(&straight) {
                assert!((g - w).abs() <= tolerance * 0.2, "{n} {t:?}: {got:?} for {straight:?}");
            }
        }
    }
}

/// Checks of the volumes of another program, of one scan together, each on its own: every voxel of the uniform part,
/// against the exact density, and not only its mean.
#[test]
fn each_tilt_alone_leaves_every_voxel_of_the_head() {
    let t = Tilt::default();
    let worst = |volume: &[f32]| {
        uniform(volume).iter().filter(|(r, _)| *r < 37.0).map(|(_, v)| (v - 0.2).abs()).fold(0.0, f64::max)
    };
    for (n, tilts) in [
        (0, [Tilt { pitch: -2.0, ..t }, Tilt { wobble: 12.0, ..t }]),
        (1, [Tilt { yaw: 2.0, ..t }, Tilt { yaw: -1.0, ..t }]),
        (3, [Tilt { source: 20.0, ..t }, Tilt { roll: 2.0, ..t }]),
    ] {
        let setup = &setups()[n];
        let straight = worst(&reconstruct(setup, &t).1);
        for tilt in tilts {
            let volume = reconstruct(setup, &tilt).1;
            for mean in means(&volume) {
                assert!((mean - 0.2).abs() < 4.4e-3, "{n} {tilt:?}: a ring has {mean}");
            }
            let off = worst(&volume);
            println!("{n} {tilt:?}: {off}, upright {straight}");
            assert!(off <= 1.5 * straight, "{n} {tilt:?}: a voxel is off by {off}, by {straight} in the upright scan");
        }
    }
}

/// Turned about the row that lies in the plane of the orbit, a panel measures the same rays there.
#[test]
fn the_plane_of_the_orbit_does_not_depend_on_the_panel_s_pitch() {
    let tall = Detector { rows: 41, ..panel(128) };
    let asked = Redundancy::Auto;
    let setup = Setup { panel: tall, offset: 0.0, views: 180, step: TAU / 180.0, asked, want: Redundancy::Full };
    let t = Tilt::default();
    let slice = |volume: &[f32]| volume[2401..4802].to_vec();
    let straight = slice(&reconstruct(&setup, &t).1);
    for pitch in [-30.0, 8.0, 40.0] {
        let got = slice(&reconstruct(&setup, &Tilt { pitch, ..t }).1);
        let off = got.iter().zip(&straight).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-5, "{pitch}: {off:e}");
    }
    // A source above the plane, its panel across the ray through the isocentre. No part of an object that is the same in all
    // slices is missing from such a scan.
    let column = [Ellipsoid::new(0, [1.0, 40.0, 40.0, 1e6, 0.0, 0.0, 0.0, 0.0]).unwrap()];
    for angle in [10.0f64, 20.0] {
        let height = DISTANCES[0] * angle.to_radians().tan();
        let above = Tilt { height, rise: -height, pitch: -angle, ..t };
        for mean in means(&reconstruct_of(&setup, &above, &column).1) {
            assert!((mean - 1.0).abs() < 2e-3, "{angle}: {mean}");
        }
    }
}

/// A ball about the isocentre looks alike in every plane through it, so its middle cannot depend on how the rows stand. It
/// is seen through the row that meets the axis there alone.
#[test]
fn the_middle_of_a_ball_does_not_depend_on_the_panel_s_turns() {
    let panel = Detector { columns: 97, rows: 73, column_pitch: 2.6, row_pitch: 3.2 };
    let asked = Redundancy::Auto;
    let setup = Setup { panel, offset: 0.0, views: 120, step: TAU / 120.0, asked, want: Redundancy::Full };
    let ball = [Ellipsoid::new(0, [1.0, 30.0, 30.0, 30.0, 0.0, 0.0, 0.0, 0.0]).unwrap()];
    let middle = Grid { size: [1, 1, 1], spacing: [1.0; 3], origin: [0.0; 3] };
    for (pitch, yaw, roll) in [
        (0.0, 0.0, 0.0),
        (40.0, 40.0, 0.0),
        (40.0, 0.0, 9.0),
        (0.0, 40.0, 9.0),
        (20.0, -20.0, 9.0),
        (30.0, 30.0, 5.0),
        (-30.0, 30.0, 9.0),
        (40.0, 40.0, -9.0),
    ] {
        let geometry = geometry(&setup, &Tilt { pitch, yaw, roll, ..Tilt::default() });
        let scan = project_of(&geometry, &ball);
        let plan = Plan::new(geometry, middle, Options::default()).unwrap();
        assert!(plan.scan.warnings.is_empty(), "{:?}", plan.scan.warnings);
        let got = super::scans::in_memory(&plan, &scan, &super::scans::PLAIN, 0).0[0];
        let doubles: Vec<f64> = scan.iter().map(|p| f64::from(*p)).collect();
        let slow = super::golden::reconstruct(&plan, &doubles)[0];
        assert!((f64::from(got) - slow).abs() < 1e-5, "{got} {slow}");
        assert!((got - 1.0).abs() < 3e-3, "pitch {pitch}, yaw {yaw}, roll {roll}: {got}");
    }
}

/// A volume of the slices, computed through the calls of a context.
fn reconstruct_on(context: &Arc<Context>, s: &Setup, t: &Tilt) -> Vec<f32> {
    let geometry = geometry(s, t);
    let projections = project(&geometry);
    let dims = [s.panel.columns, s.panel.rows, s.views];
    let scan = Scan { dims, projections, geometry, grid: SLICES };
    let mut fdk = scan.fdk(context, Options { redundancy: s.asked, ..Options::default() });
    assert_eq!(fdk.plan().scan.redundancy, s.want, "{t:?}: {}", fdk.plan().scan.reason);
    let mut out = Tensor::create(context, DType::F32, Location::Host, Order::ColumnMajor, &SLICES.size).unwrap();
    fdk.reconstruct(None, Projections::Tensor(&scan.tensor(context)), Volume::Tensor(&mut out), None).unwrap();
    values(&out)
}

#[test]
fn volumes_agree_with_rtk() {
    check_volumes_against_rtk(|setup, tilt| reconstruct(setup, tilt).1);
}

#[test]
#[ignore = "needs a GPU"]
fn volumes_agree_with_rtk_on_a_gpu() {
    let context = super::device::gpu(0, 0);
    check_volumes_against_rtk(|setup, tilt| reconstruct_on(&context, setup, tilt));
}

fn check_volumes_against_rtk(reconstruct: impl Fn(&Setup, &Tilt) -> Vec<f32>) {
    // RTK's displaced-detector and Parker filters on the same views, from the same line integrals. Their weights are
    // those of whole columns. Where the panel is rolled or pitched each pixel has its own here, and edges of the head
    // differ by a few per cent of their height; the means do not. Without roll and pitch every voxel agrees, and so it
    // does in full scans, whose rays all have the same weight. Here a line's two weights add to 1 on any orbit, perhaps
    // not in RTK, where voxels of a short scan that wobbles differ: of it the means are compared.
    let half = |offset| Setup {
        panel: panel(90),
        offset,
        views: 180,
        step: TAU / 180.0,
        asked: Redundancy::HalfFan,
        want: Redundancy::HalfFan,
    };
    let whole =
        |views, want| Setup { panel: panel(128), offset: 0.0, views, step: TAU / 180.0, asked: Redundancy::Auto, want };
    let t = Tilt::default();
    let mixed = Tilt { roll: 0.5, pitch: 0.5, source: 6.0, wobble: 3.0, sway: 1.0, ..t };
    for (name, setup, tilt, is_alike) in [
        ("half_yaw", half(55.0), Tilt { yaw: -1.5, ..t }, true),
        ("half_roll", half(55.0), Tilt { roll: 2.0, ..t }, false),
        ("half_source", half(-55.0), Tilt { source: 20.0, ..t }, true),
        ("half_all", half(55.0), Tilt { yaw: 1.0, ..mixed }, false),
        ("short_yaw", whole(108, Redundancy::Short), Tilt { yaw: 2.0, ..t }, true),
        ("short_all", whole(108, Redundancy::Short), Tilt { yaw: -1.0, ..mixed }, false),
        ("full_source", whole(180, Redundancy::Full), Tilt { source: 20.0, ..t }, true),
        ("half_pitch", half(55.0), Tilt { pitch: 2.0, ..t }, false),
        ("half_wobble", half(55.0), Tilt { wobble: 3.0, ..t }, true),
        ("short_source", whole(108, Redundancy::Short), Tilt { source: 20.0, ..t }, true),
        ("short_roll", whole(108, Redundancy::Short), Tilt { roll: 2.0, ..t }, false),
        ("full_yaw", whole(180, Redundancy::Full), Tilt { yaw: 2.0, ..t }, true),
        ("short_pitch", whole(108, Redundancy::Short), Tilt { pitch: 2.0, ..t }, false),
        ("short_wobble", whole(108, Redundancy::Short), Tilt { wobble: 3.0, ..t }, false),
        ("full_roll", whole(180, Redundancy::Full), Tilt { roll: 2.0, ..t }, true),
        ("full_pitch", whole(180, Redundancy::Full), Tilt { pitch: 2.0, ..t }, true),
        ("full_wobble", whole(180, Redundancy::Full), Tilt { wobble: 3.0, ..t }, true),
    ] {
        let volume = reconstruct(&setup, &tilt);
        // A half fan that AUTO finds is the one that was asked for.
        if setup.asked == Redundancy::HalfFan {
            let found = reconstruct(&Setup { asked: Redundancy::Auto, ..setup }, &tilt);
            assert!(found == volume, "{name}: AUTO");
        }
        let golden: Vec<f32> = npy(&format!("oblique_{name}_rtk.npy")).into_iter().map(|v| v as f32).collect();
        let seen = |p: &usize| (p % 49) as f64 * 2.2 - 52.8;
        let inside = |p: &usize| seen(p).hypot((p / 49 % 49) as f64 * 2.2 - 52.8) < 50.0;
        let worst = (0..volume.len()).filter(inside).map(|p| (volume[p] - golden[p]).abs()).fold(0.0, f32::max);
        let off = means(&volume).iter().zip(means(&golden)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-4, "{name}: ring means differ by {off:e}");
        assert!(!is_alike || worst < 1e-5, "{name}: {worst:e}");
    }
}
