//! Views in unusual orders, spacings and arcs, and panels and axes that are turned: right, warned of or refused.

use std::f64::consts::{PI, TAU};

use super::super::geometry::{Detector, Geometry, Orbit};
use super::super::options::{Mode, Options};
use super::super::plan::Plan;
use super::super::weights::Redundancy;
use super::oblique::{DISTANCES, SLICES, Setup, Tilt, matrices, means, panel, project, setups};
use super::scans::{PLAIN, in_memory};

fn circular(panel: Detector, offset: f64, angles: &[f64]) -> Geometry {
    let orbit = Orbit {
        source_to_axis: DISTANCES[0],
        source_to_detector: DISTANCES[1],
        column_offset: offset,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    Geometry::circular(panel, &orbit, angles).unwrap()
}

fn steps(first: f64, count: usize, step: f64) -> Vec<f64> {
    (0..count).map(|n| first + n as f64 * step).collect()
}

/// The plan of a scan and the ring means of the head reconstructed by it.
fn scan(geometry: Geometry, redundancy: Redundancy) -> (Plan, Vec<f64>) {
    let projections = project(&geometry);
    let plan = Plan::new(geometry, SLICES, Options { redundancy, ..Options::default() }).unwrap();
    let volume = in_memory(&plan, &projections, &PLAIN, 0).0;
    (plan, means(&volume))
}

fn farthest(means: &[f64]) -> f64 {
    means.iter().map(|m| (m - 0.2).abs()).fold(0.0, f64::max)
}

fn refusal(geometry: Geometry, options: Options) -> String {
    Plan::new(geometry, SLICES, options).map(|p| p.scan.reason).unwrap_err().to_string()
}

#[test]
fn views_in_any_order_and_spacing_and_over_several_turns_give_the_density() {
    let step = TAU / 180.0;
    let falling: Vec<f64> = steps(0.4, 180, -step);
    let uneven: Vec<f64> =
        (0..180).map(|n| f64::from(n) * step + 0.45 * step * f64::from(n * n % 7 - 3) / 3.0).collect();
    // Two turns of different steps; one and a half turns; every view twice.
    let turns = steps(0.1, 300, 2.0 * TAU / 300.0);
    let part = steps(-2.0, 270, step);
    let twice: Vec<f64> = falling.iter().flat_map(|a| [*a, *a]).collect();
    for (offset, want) in [(0.0, Redundancy::Full), (35.0, Redundancy::HalfFan), (-35.0, Redundancy::HalfFan)] {
        for (name, angles) in
            [("falling", &falling), ("uneven", &uneven), ("turns", &turns), ("part", &part), ("twice", &twice)]
        {
            let columns = if offset == 0.0 { 128 } else { 100 };
            let (plan, means) = scan(circular(panel(columns), offset, angles), Redundancy::Auto);
            assert_eq!(plan.scan.redundancy, want, "{name}: {}", plan.scan.reason);
            assert!(plan.scan.warnings.is_empty(), "{name}: {}", plan.scan.reason);
            assert!((plan.scan.angular.iter().sum::<f64>() - TAU).abs() < 1e-9, "{name}");
            assert!(farthest(&means) < 4e-3, "{name} {offset}: {means:?}");
        }
    }
}

#[test]
fn arcs_down_to_half_a_circle_are_right_or_say_what_is_missing() {
    // The fan's half angle is 7.24 degrees, of which the head takes 5.97.
    let fan = 2.0 * (127.0f64 / 1000.0).atan();
    for (name, arc, tolerance, warning) in [
        ("overscan", PI + fan + 0.5, 4e-3, ""),
        ("exact", PI + fan, 4e-3, ""),
        ("the head is seen", PI + fan - 0.04, 4e-3, "rays are missing: the arc is 192.2 degrees, 194.5 are needed"),
        ("a bit less", PI + fan - 0.08, 6e-3, "rays are missing: the arc is 189.9 degrees, 194.5 are needed"),
        ("half", PI, 3e-2, "rays are missing: the arc is 180.0 degrees, 194.5 are needed"),
    ] {
        for sign in [1.0, -1.0] {
            let geometry = circular(panel(128), 0.0, &steps(1.0, 121, sign * arc / 120.0));
            let (plan, means) = scan(geometry, Redundancy::Auto);
            assert_eq!(plan.scan.redundancy, Redundancy::Short);
            assert_eq!(plan.scan.warnings.first().map_or("", String::as_str), warning, "{name}");
            // Nothing replaces rays that were not measured.
            let sum = plan.scan.angular.iter().sum::<f64>();
            assert!((sum - arc).abs() < 1e-9 && (plan.scan.arc - arc).abs() < 1e-9, "{name}: {sum}");
            assert!(farthest(&means) < tolerance, "{name} {sign}: {means:?}");
        }
    }
    let less = circular(panel(128), 0.0, &steps(0.0, 121, (PI - 0.02) / 120.0));
    assert_eq!(
        refusal(less.clone(), Options::default()),
        "angles: the arc is 178.85 degrees, less than the 180 that a short scan needs"
    );
    let allowed = Options { allow_short_arc: true, ..Options::default() };
    let plan = Plan::new(less, SLICES, allowed).unwrap();
    assert!(plan.scan.reason.ends_with("rays are missing: the arc is 178.9 degrees, 194.5 are needed"));
}

#[test]
fn a_full_circle_that_was_asked_for_has_no_gap() {
    let arc = circular(panel(128), 0.0, &steps(0.0, 121, 4.0 / 120.0));
    let full = Options { redundancy: Redundancy::Full, ..Options::default() };
    assert_eq!(
        refusal(arc.clone(), full),
        "redundancy: is full, with a gap of 130.8 degrees between views; a full circle is needed"
    );
    let plan = Plan::new(arc.clone(), SLICES, Options { allow_short_arc: true, ..full }).unwrap();
    assert!((plan.scan.angular.iter().sum::<f64>() - 4.0).abs() < 1e-9);
    assert_eq!(
        plan.scan.reason,
        "asked for; rays are missing: the arc is 229.2 degrees, 360 are needed".replace("360 ", "360.0 ")
    );
    // Without weights each ray counts as often as it was measured: half a circle's are, a circle's are not.
    let plain = Options { redundancy: Redundancy::None, ..Options::default() };
    assert_eq!(Plan::new(arc, SLICES, plain).unwrap().scan.reason, "asked for");
    let circle = circular(panel(128), 0.0, &steps(0.0, 90, TAU / 90.0));
    let twice = Plan::new(circle, SLICES, plain).unwrap();
    assert!(twice.scan.reason.ends_with("; a full circle measures rays twice, and without weights they count twice"));
}

#[test]
fn few_views_are_an_arc_unless_they_fill_the_circle() {
    let arcs: [&[f64]; 5] = [&[0.3], &[0.0, 0.1], &[0.0, 1.75, 2.97], &[0.0, 0.1, 0.2], &[1.0, 1.0, 1.0]];
    for angles in arcs {
        let text = refusal(circular(panel(128), 0.0, angles), Options::default());
        assert!(text.starts_with("angles: the arc is "), "{angles:?}: {text}");
        // Whoever asks gets all the weight that there is.
        let plain = Options { redundancy: Redundancy::None, ..Options::default() };
        let plan = Plan::new(circular(panel(128), 0.0, angles), SLICES, plain).unwrap();
        let (sum, arc) = (plan.scan.angular.iter().sum::<f64>(), angles[angles.len() - 1] - angles[0]);
        let want = if arc == 0.0 { TAU } else { arc };
        assert!((sum - want).abs() < 1e-12, "{angles:?}: {sum}");
    }
    for count in [2usize, 3, 5, 12] {
        // Each view once, and each twice: the steps are still those of a circle.
        let once = steps(0.0, count, TAU / count as f64);
        let twice: Vec<f64> = once.iter().flat_map(|a| [*a, *a]).collect();
        for angles in [&once, &twice] {
            let plan = Plan::new(circular(panel(128), 0.0, angles), SLICES, Options::default()).unwrap();
            assert_eq!(plan.scan.redundancy, Redundancy::Full, "{count}: {}", plan.scan.reason);
            assert!((plan.scan.angular.iter().sum::<f64>() - TAU).abs() < 1e-12);
        }
    }
}

#[test]
fn an_arc_with_the_panel_off_the_axis_says_what_it_sees() {
    let geometry = circular(panel(128), 40.0, &steps(0.0, 121, (PI + 0.5) / 120.0));
    let plan = Plan::new(geometry, SLICES, Options::default()).unwrap();
    assert_eq!(plan.scan.redundancy, Redundancy::Short);
    let radius = plan.fov_radius();
    assert!((radius - 43.34).abs() < 0.05, "{radius}");
    let want = format!("; the panel is off the axis, an arc measures {radius:.1} mm about it completely");
    assert!(plan.scan.reason.ends_with(&want), "{}", plan.scan.reason);
}

/// Matrices of the same scan in a world that is turned about the x axis.
fn turned(matrices: &[[f64; 12]], angle: f64) -> Vec<[f64; 12]> {
    let (sin, cos) = angle.to_radians().sin_cos();
    let turn = |m: &[f64; 12]| {
        let mut out = *m;
        for r in 0..3 {
            let (y, z) = (m[4 * r + 1], m[4 * r + 2]);
            (out[4 * r + 1], out[4 * r + 2]) = (y * cos - z * sin, y * sin + z * cos);
        }
        out
    };
    matrices.iter().map(turn).collect()
}

#[test]
fn a_panel_on_its_side_is_refused_and_one_on_its_head_is_not() {
    for s in &setups() {
        let straight = scan(Geometry::from_matrices(s.panel, &matrices(s, &Tilt::default())).unwrap(), s.asked).1;
        for roll in [90.0, -90.0, 60.0] {
            let tilt = Tilt { roll, ..Tilt::default() };
            let geometry = Geometry::from_matrices(s.panel, &matrices(s, &tilt)).unwrap();
            let text = refusal(geometry.clone(), Options { redundancy: s.asked, ..Options::default() });
            let rows = format!("has rows at {:.1} degrees to the plane of the orbit, more than 45", roll.abs());
            assert!(text.contains(&rows), "{roll}: {text}");
            // Back-projection alone filters nothing.
            let grid = super::super::geometry::Grid { size: [4, 4, 1], ..SLICES };
            assert!(Plan::new(geometry, grid, Options { mode: Mode::RabbitCt, ..Options::default() }).is_ok());
        }
        let upside_down = Setup { offset: -s.offset, ..*s };
        let tilt = Tilt { roll: 180.0, ..Tilt::default() };
        let mirrored = matrices(&upside_down, &tilt);
        let (plan, got) = scan(Geometry::from_matrices(s.panel, &mirrored).unwrap(), s.asked);
        assert!(plan.scan.warnings.is_empty(), "{}", plan.scan.reason);
        assert!(got.iter().zip(&straight).all(|(g, w)| (g - w).abs() < 2e-3), "{got:?} for {straight:?}");
    }
}

#[test]
fn an_axis_that_is_not_z_is_refused_whichever_way_the_panel_stands() {
    for s in &setups() {
        let options =
            Options { redundancy: s.asked, allow_short_arc: s.asked == Redundancy::Auto, ..Options::default() };
        for (roll, turn) in [(90.0, 89.3), (-88.0, 90.0), (90.0, -70.0)] {
            let given = turned(&matrices(s, &Tilt { roll, ..Tilt::default() }), turn);
            let text = refusal(Geometry::from_matrices(s.panel, &given).unwrap(), options);
            assert!(text.contains("have their sources on an orbit at"), "{roll} {turn}: {text}");
        }
    }
}

#[test]
fn an_axis_that_is_not_z_is_refused_and_a_small_tilt_changes_little() {
    for s in &setups() {
        let given = matrices(s, &Tilt::default());
        // RTK's and many other orbits are about y: the same matrices without exchanging the axes.
        let sideways = Geometry::from_matrices(s.panel, &turned(&given, 90.0)).unwrap();
        let options =
            Options { redundancy: s.asked, allow_short_arc: s.asked == Redundancy::Auto, ..Options::default() };
        let text = refusal(sideways, options);
        assert!(text.contains("degrees to the plane across the axis of rotation, z, more than 45"), "{text}");
        for (tilt, tolerance, warned) in [(1.0, 4e-3, false), (4.0, 6e-3, false), (15.0, 3e-2, true)] {
            let geometry = Geometry::from_matrices(s.panel, &turned(&given, tilt)).unwrap();
            let (plan, got) = scan(geometry, s.asked);
            assert_eq!(plan.scan.warnings.len(), usize::from(warned), "{tilt}: {}", plan.scan.reason);
            assert!(farthest(&got) < tolerance, "{tilt} {:?}: {got:?}", s.want);
        }
    }
}
