//! Bad input, empty batches, small dimensions, special tensors.

use super::support::*;
use crate::error::Error;
use crate::progress::Progress;
use crate::sshopm::{
    Compatibility, Goal, Method, Options, Results, Shift, Sign, StartKind, StartStatus, TensorStatus, Test, all, solve,
    starts,
};

#[test]
fn one_bad_tensor_harms_no_other() {
    let c = context(2);
    let alone = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA), None, &Options::default(), 3);
    let identity = [1.0, 0.0, 0.0, 1.0 / 3.0, 0.0, 1.0 / 3.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0 / 3.0, 0.0, 1.0];
    let mut entries = Vec::new();
    for k in 0..5 {
        entries.extend_from_slice(&KOFIDIS_REGALIA);
        match k {
            0 => entries.extend(KOFIDIS_REGALIA.map(|a| if a == 0.2972 { f64::NAN } else { a })),
            1 => entries.extend([0.0; 15]),
            2 => entries.extend(identity.map(|e| -2.5 * e)),
            3 => entries.extend(KOFIDIS_REGALIA.map(|a| if a == 0.2972 { f64::INFINITY } else { a })),
            _ => {}
        }
    }
    let s = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &entries), None, &Options::default(), 3);
    let status = |s: TensorStatus| s as i32;
    assert_eq!(
        s.status,
        [
            0,
            status(TensorStatus::Nonfinite),
            0,
            status(TensorStatus::Zero),
            0,
            status(TensorStatus::Isotropic),
            0,
            status(TensorStatus::Nonfinite),
            0
        ]
    );
    for t in [0, 2, 4, 6, 8] {
        assert_eq!(s.values[3 * t..3 * t + 3], alone.values[..]);
        assert_eq!(s.vectors[9 * t..9 * t + 9], alone.vectors[..]);
    }
    assert_eq!(s.count, [3, 0, 3, 1, 3, 1, 3, 0, 3]);
    assert!(s.values[3].is_nan() && s.vectors[9].is_nan());
    // Every direction belongs to the one value of A = 0 and of A = c E.
    assert_eq!((s.values[9], s.classes[9]), (0.0, 3));
    assert_eq!((s.values[15], s.classes[15]), (-2.5, 3));
    assert_eq!(s.info.skipped_tensors, 4);
}

#[test]
fn a_tensor_without_a_pair_lists_none_of_its_neighbours() {
    let c = context(1);
    // x^4 + 2 y^4 + 3 z^4 has a maximum at the start; the published tensor is one step from nowhere.
    let mut entries = vec![0.0; 15];
    (entries[0], entries[10], entries[14]) = (1.0, 2.0, 3.0);
    entries.extend(KOFIDIS_REGALIA);
    let start = from_slice(&c, &[3, 1], &[1.0, 0.0, 0.0]);
    let o = Options { max_iterations: 1, ..Options::default() };
    let s = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &entries), Some(&start), &o, 2);
    assert_eq!((&s.count[..], &s.status[..]), (&[1, 0][..], &[0, TensorStatus::NoPair as i32][..]));
    assert_eq!((s.values[0], s.classes[0]), (1.0, 0));
    assert!(s.values[1..].iter().all(|v| v.is_nan()) && s.vectors[3..].iter().all(|v| v.is_nan()));
}

#[test]
fn an_empty_batch_is_no_error() {
    let c = context(1);
    let s = run::<f32>(&c, &symmetric::<f32>(&c, 4, 3, &[]), None, &Options::default(), 2);
    assert_eq!((s.info.tensors, s.info.iterations, s.count.len()), (0, 0, 0));
}

#[test]
fn dimensions_one_and_two() {
    let c = context(1);
    for m in [2, 3, 4, 5] {
        let s = run::<f64>(&c, &symmetric::<f64>(&c, m, 1, &[-2.0]), None, &Options::default(), 2);
        assert_eq!((s.count[0], s.status[0]), (1, 0));
        // Odd order: (lambda, x) and (-lambda, -x) are one pair, written with lambda >= 0.
        let expected = if m % 2 == 0 { (-2.0, 1.0) } else { (2.0, -1.0) };
        assert_eq!((s.values[0], s.vectors[0]), expected, "m = {m}");
        // The one pair is a maximum and a minimum, and listed once.
        for sign in [Sign::Canonical, Sign::Raw] {
            let o = Options { goal: Goal::Both, sign, ..Options::default() };
            let s = run::<f64>(&c, &symmetric::<f64>(&c, m, 1, &[-2.0]), None, &o, 2);
            assert_eq!((s.count[0], s.found[0], s.status[0]), (1, 1, 0), "m = {m}");
            assert!(sign == Sign::Raw || (s.values[0], s.vectors[0]) == expected, "m = {m}");
        }
    }
    // f = cos^4 + 2 sin^4: maxima 1 and 2 on the axes, minimum 2/3.
    let a = symmetric::<f64>(&c, 4, 2, &[1.0, 0.0, 0.0, 0.0, 2.0]);
    let s = run::<f64>(&c, &a, None, &Options { goal: Goal::Both, ..Options::default() }, 6);
    assert_eq!(s.count[0], 4);
    for (v, e) in s.values.iter().zip([2.0, 1.0, 2.0 / 3.0, 2.0 / 3.0]) {
        assert!((v - e).abs() < 1e-12, "{:?}", s.values);
    }
    assert_eq!(s.classes[..4], [0, 0, 1, 1]);
}

#[test]
fn order_two_finds_the_extreme_eigenvalues() {
    let c = context(1);
    // diag(1, 2, 4) and a coupled 4 x 4 matrix with eigenvalues 2 +- sqrt 2 and 2, 2 shifted by coupling.
    let a = symmetric::<f64>(&c, 2, 3, &[1.0, 0.0, 0.0, 2.0, 0.0, 4.0]);
    for method in [Method::Hybrid, Method::Power] {
        let o = Options { goal: Goal::Both, method, max_iterations: 5000, ..Options::default() };
        let s = run::<f64>(&c, &a, None, &o, 4);
        assert_eq!(s.count[0], 2, "{:?}", s.values);
        assert!((s.values[0] - 4.0).abs() < 1e-12 && (s.values[1] - 1.0).abs() < 1e-12);
    }
    let path = symmetric::<f64>(&c, 2, 4, &[2.0, -1.0, 0.0, 0.0, 2.0, -1.0, 0.0, 2.0, -1.0, 2.0]);
    let s = run::<f64>(&c, &path, None, &Options::default(), 4);
    let largest = 2.0 + 2.0 * (std::f64::consts::PI / 5.0).cos();
    assert!(s.count[0] == 1 && (s.values[0] - largest).abs() < 1e-12, "{:?}", s.values);
}

#[test]
fn without_a_shift_the_published_tensor_does_not_converge_and_says_so() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let o = Options { method: Method::Power, shift_kind: Shift::Fixed, shift: 0.0, starts: 64, ..Options::default() };
    let s = run::<f64>(&c, &a, None, &o, 3);
    assert_eq!((s.count[0], s.status[0]), (0, TensorStatus::NoPair as i32));
    let e = run_starts::<f64>(&c, &a, None, &o, 64);
    assert!(e.status.iter().all(|s| *s == StartStatus::MaxIterations as i32));
    assert!(e.iterations.iter().all(|i| *i == 500));
    for (r, x) in e.residuals.iter().zip(e.vectors.chunks_exact(3)) {
        let length: f64 = x.iter().map(|c| c * c).sum();
        assert!(*r > 1e-3 && (length - 1.0).abs() < 1e-14, "{r} {length}");
    }
    // Whatever the direction of 0, the steps cannot all be monotone.
    assert!(e.violations.iter().any(|v| *v > 0));
}

#[test]
fn odd_order_takes_a_negative_shift_for_minima() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 3, 3, &KOLDA_MAYO);
    let o = Options {
        goal: Goal::Minima,
        method: Method::Power,
        shift_kind: Shift::Fixed,
        shift: -1.0,
        max_iterations: 5000,
        ..Options::default()
    };
    let e = run_starts::<f64>(&c, &a, None, &Options { starts: 40, ..o }, 40);
    assert!(e.status.iter().all(|s| *s == 0));
    assert!(e.violations.iter().all(|v| *v == 0) && e.shifts.iter().all(|s| *s == -1.0));
    // Minima of an odd form are its maxima turned over, and listed as minima.
    let s = run::<f64>(&c, &a, None, &o, 8);
    assert!((s.values[0] + 0.872_985_144_4).abs() < 1e-9, "{:?}", s.values);
    assert!(s.classes.iter().take(s.count[0] as usize).all(|c| *c == 1), "{:?}", s.classes);
}

#[test]
fn arguments_outside_their_domain_are_named() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let say = |o: Options| {
        let mut count = dense::<i32>(&c, &[1]);
        let mut r = Results { count: Some(&mut count), ..Results::default() };
        solve(&c, None, &a, None, &o, &mut r, &Progress::none()).unwrap_err().to_string()
    };
    let o = Options::default();
    for (o, words) in [
        (Options { tolerance: -1.0, ..o }, "tolerance: is -1"),
        (Options { tau: f64::NAN, ..o }, "tau: is NaN"),
        (Options { max_iterations: 1 << 31, ..o }, "max_iterations: is 2147483648, more than 2147483647"),
        (Options { warmup: Some(1 << 31), ..o }, "warmup: is 2147483648, more than 2147483647"),
        (Options { starts: -1, ..o }, "starts: is -1"),
        (Options { merge_angle: f64::INFINITY, ..o }, "merge_angle: is inf"),
        (Options { shift_kind: Shift::Fixed, shift: -1.0, ..o }, "shift: is -1, negative, for maxima"),
        (Options { shift_kind: Shift::Fixed, shift: 1.0, goal: Goal::Minima, ..o }, "shift: is 1, positive"),
        (Options { start_kind: StartKind::Icosahedral, starts: 13, ..o }, "starts: is 13; an icosahedral"),
    ] {
        let e = say(o);
        assert!(e.starts_with(words), "{e}");
    }
    let mut count = dense::<i32>(&c, &[1]);
    let mut with = |s: &crate::tensor::Tensor| {
        let mut r = Results { count: Some(&mut count), ..Results::default() };
        solve(&c, None, &a, Some(s), &o, &mut r, &Progress::none()).unwrap_err().to_string()
    };
    assert_eq!(with(&from_slice(&c, &[3, 2], &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])), "starts: column 1 is zero");
    let e = with(&from_slice(&c, &[3, 1], &[1.0, f64::NAN, 0.0]));
    assert_eq!(e, "starts: column 0 has a component that is not finite");
    assert!(with(&dense::<f64>(&c, &[3, 0])).starts_with("starts: has no columns"));
    assert!(with(&dense::<f64>(&c, &[2, 2])).starts_with("starts: has dimensions [2, 2]"));
    let mut values = dense::<f64>(&c, &[3, 2]);
    let mut r = Results { values: Some(&mut values), ..Results::default() };
    let e = solve(&c, None, &a, None, &o, &mut r, &Progress::none()).unwrap_err().to_string();
    assert_eq!(e, "values: has dimensions [3, 2], [3, 1] are needed");
    let mut ends = dense::<f64>(&c, &[32, 1]);
    let mut r = Results { start_values: Some(&mut ends), ..Results::default() };
    let both = Options { goal: Goal::Both, ..o };
    assert!(solve(&c, None, &a, None, &both, &mut r, &Progress::none()).is_err());
    let mut trace = dense::<f64>(&c, &[10]);
    let mut r = Results { trace: Some(&mut trace), ..Results::default() };
    let e = solve(&c, None, &a, None, &o, &mut r, &Progress::none()).unwrap_err().to_string();
    assert!(e.starts_with("trace: needs one tensor and one start"), "{e}");
}

#[test]
fn progress_cancels_and_ends_at_the_total() {
    let c = context(2);
    let a = symmetric::<f32>(&c, 4, 3, &KOFIDIS_REGALIA.repeat(50));
    let mut count = dense::<i32>(&c, &[50]);
    let calls = std::cell::RefCell::new(Vec::new());
    let report = |step: i64, steps: i64, _: f64| {
        calls.borrow_mut().push((step, steps));
        true
    };
    let mut r = Results { count: Some(&mut count), ..Results::default() };
    let p = c.progress(Some(&report));
    solve(&c, None, &a, None, &Options::default(), &mut r, &p).unwrap();
    assert_eq!(calls.borrow().last(), Some(&(50, 50)));
    let no = |_: i64, _: i64, _: f64| false;
    let p = c.progress(Some(&no));
    let mut r = Results { count: Some(&mut count), ..Results::default() };
    assert_eq!(solve(&c, None, &a, None, &Options::default(), &mut r, &p), Err(Error::Cancelled));
    let p = c.progress(None);
    c.cancel();
    let mut r = Results { count: Some(&mut count), ..Results::default() };
    assert_eq!(solve(&c, None, &a, None, &Options::default(), &mut r, &p), Err(Error::Cancelled));
}

#[test]
fn more_starts_than_any_memory_holds_are_refused() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    for start_kind in [StartKind::Random, StartKind::FibonacciSphere] {
        for starts in [i64::MAX, i64::MAX / 24, 1 << 43] {
            let mut count = dense::<i32>(&c, &[1]);
            let o = Options { starts, start_kind, ..Options::default() };
            let mut r = Results { count: Some(&mut count), ..Results::default() };
            let e = solve(&c, None, &a, None, &o, &mut r, &Progress::none()).unwrap_err();
            assert!(matches!(e, Error::OutOfMemory { what: "start vectors", .. }), "{starts}: {e}");
        }
    }
}

#[test]
fn the_trace_holds_lambda_at_each_step() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let start = from_slice(&c, &[3, 1], &[1.0, 0.5, -0.3]);
    let mut trace = dense::<f64>(&c, &[200]);
    let mut steps = dense::<i32>(&c, &[1, 1]);
    let o = Options { method: Method::Power, ..Options::default() };
    let mut r = Results { trace: Some(&mut trace), start_iterations: Some(&mut steps), ..Results::default() };
    solve(&c, None, &a, Some(&start), &o, &mut r, &Progress::none()).unwrap();
    let steps = data::<i32>(&steps)[0] as usize;
    let trace = data::<f64>(&trace);
    assert!(trace[..steps].windows(2).all(|w| w[1] >= w[0] - 1e-14), "{:?}", &trace[..=steps]);
    assert!((trace[steps] - 0.889_322_010_679_401).abs() < 1e-9 && trace[steps + 1].is_nan());
}

#[test]
fn a_tolerance_below_rounding_is_raised() {
    let c = context(1);
    let a = symmetric::<f32>(&c, 4, 3, &KOFIDIS_REGALIA);
    for (test, floor) in [(Test::Residual, 4.0), (Test::Lambda, 1.0), (Test::Step, 2.0)] {
        let s = run::<f32>(&c, &a, None, &Options { tolerance: 1e-12, test, ..Options::default() }, 3);
        assert!(s.info.tolerance_raised);
        assert_eq!(s.info.tolerance, floor * f64::from(f32::EPSILON));
        assert_eq!(s.count[0], 3, "{test:?}");
        // With this test a start may go to and fro between two roundings of lambda for ever, which the status says.
        let is_partial = test == Test::Lambda && s.status[0] == TensorStatus::Partial as i32;
        assert!(s.status[0] == 0 || is_partial, "{test:?}: {}", s.status[0]);
    }
    let s = run::<f32>(&c, &a, None, &Options::default(), 3);
    assert!(!s.info.tolerance_raised && s.info.tolerance == 1e-5);
}

#[test]
fn a_tolerance_that_every_start_meets_is_refused() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let mut count = dense::<i32>(&c, &[1]);
    for (tolerance, shown) in [(1.0, "1"), (2.0, "2"), (1e308, "1e308")] {
        let wanted = format!("tolerance: is {shown}, at least 0 and less than 1 is needed");
        for test in [Test::Residual, Test::Lambda, Test::Step] {
            let o = Options { tolerance, test, ..Options::default() };
            let mut r = Results { count: Some(&mut count), ..Results::default() };
            let e = solve(&c, None, &a, None, &o, &mut r, &Progress::none()).unwrap_err();
            assert!(matches!(e, Error::InvalidArgument { .. }) && e.to_string() == wanted, "{e}");
        }
        let o = Options { tolerance, ..Options::default() };
        let mut r = Results { count: Some(&mut count), ..Results::default() };
        let e = all(&c, None, &a, &o, &mut r, None, None, &Progress::none()).unwrap_err();
        assert!(matches!(e, Error::InvalidArgument { .. }) && e.to_string() == wanted, "{e}");
    }
    // An absolute tolerance has the tensor's units.
    let o = Options { tolerance: 2.0, compatibility: Compatibility::TensorToolbox, ..Options::default() };
    assert_eq!(run::<f64>(&c, &a, None, &o, 3).info.tolerance, 2.0);
}

#[test]
fn start_sets_are_unit_vectors_spread_over_the_sphere() {
    let c = context(1);
    for (kind, count) in [
        (StartKind::FibonacciHemisphere, 32),
        (StartKind::FibonacciSphere, 100),
        (StartKind::Icosahedral, 12),
        (StartKind::Icosahedral, 162),
        (StartKind::Icosahedral, 46),
        (StartKind::Random, 64),
        (StartKind::RandomCube, 64),
    ] {
        let mut s = dense::<f64>(&c, &[3, count]);
        starts(&c, None, kind, 0, &mut s).unwrap();
        let s = data::<f64>(&s);
        let dot = |a: usize, b: usize| (0..3).map(|i| s[3 * a + i] * s[3 * b + i]).sum::<f64>();
        assert!((0..count).all(|v| (dot(v, v) - 1.0).abs() < 1e-14));
        let random = matches!(kind, StartKind::Random | StartKind::RandomCube);
        let half = count == 46 || kind == StartKind::FibonacciHemisphere;
        let closest = (0..count)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .map(|(a, b)| if half { dot(a, b).abs() } else { dot(a, b) })
            .fold(-1.0f64, f64::max);
        // V caps of radius r cover an area of V pi r^2 of the 4 pi (half: 2 pi): neighbours are a few r apart.
        let area = if half { 2.0 } else { 4.0 } * std::f64::consts::PI / count as f64;
        assert!(random || closest.acos() > 0.5 * area.sqrt(), "{kind:?} {count}: {}", closest.acos());
        assert!(random || closest.acos() < 1.5 * area.sqrt(), "{kind:?} {count}: {}", closest.acos());
    }
    let mut s = dense::<f64>(&c, &[4, 10]);
    assert!(starts(&c, None, StartKind::FibonacciSphere, 0, &mut s).is_err());
    starts(&c, None, StartKind::Random, 0, &mut s).unwrap();
}
