//! The pairs listed for each goal, their number, and the status of starts that did not converge.

use super::all::find_as;
use super::support::*;
use crate::rng;
use crate::sshopm::{Goal, Method, NO_PAIR, Options, PairClass, Shift, Sign, StartKind, TensorStatus, Test};

const NS: i32 = PairClass::NegativeStable as i32;
const PS: i32 = PairClass::PositiveStable as i32;

#[test]
fn odd_orders_list_maxima_as_maxima_and_minima_as_minima() {
    let c = context(2);
    let a = symmetric::<f64>(&c, 3, 3, &KOLDA_MAYO);
    let of = |goal, sign| run::<f64>(&c, &a, None, &Options { goal, sign, ..Options::default() }, 8);
    let close = |got: &[f64], expected: &[f64]| {
        assert!(got.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-9), "{got:?} {expected:?}");
    };
    // Three maxima with lambda > 0, and the one minimum with lambda > 0 turned over.
    let up = [0.872_985_144_4, 0.430_586_371_8, 0.017_981_316_2, -0.000_565_454_0];
    for sign in [Sign::Canonical, Sign::Raw] {
        let maxima = of(Goal::Maxima, sign);
        assert_eq!((maxima.count[0], &maxima.classes[..5]), (4, &[NS, NS, NS, NS, NO_PAIR][..]));
        close(&maxima.values[..4], &up);
        let minima = of(Goal::Minima, sign);
        assert_eq!((minima.count[0], &minima.classes[..5]), (4, &[PS, PS, PS, PS, NO_PAIR][..]));
        close(&minima.values[..4], &up.map(|x| -x));
    }
    // Each pair once, with lambda > 0: maxima, then minima.
    let both = of(Goal::Both, Sign::Canonical);
    assert_eq!((both.count[0], &both.classes[..5]), (4, &[NS, NS, NS, PS, NO_PAIR][..]));
    close(&both.values[..4], &[up[0], up[1], up[2], -up[3]]);
    assert_eq!(of(Goal::Both, Sign::Raw).count, [8]);
    assert!(both.values[4].is_nan() && both.basins[4] == 0);
}

#[test]
fn pairs_without_a_place_are_counted() {
    let c = context(2);
    let entries = [KOFIDIS_REGALIA, [0.0; 15], KOFIDIS_REGALIA].concat();
    let a = symmetric::<f64>(&c, 4, 3, &entries);
    for (goal, found) in [(Goal::Maxima, 3), (Goal::Both, 6)] {
        for places in [1, 2, 4, 6] {
            let s = run::<f64>(&c, &a, None, &Options { goal, ..Options::default() }, places);
            assert_eq!(s.found, [found, 1, found]);
            let listed = found.min(places as i32);
            assert_eq!(s.count, [listed, 1, listed]);
            assert_eq!(s.info.truncated_tensors, if listed < found { 2 } else { 0 });
            assert_eq!(s.status[0], TensorStatus::Ok as i32);
        }
    }
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let r = find_as::<f64>(&c, &a, &Options { starts: 500, ..Options::default() }, 4);
    assert_eq!((r.count, r.found, r.info.truncated_tensors), (4, 11, 1));
    let r = find_as::<f64>(&c, &a, &Options { starts: 500, ..Options::default() }, 12);
    assert_eq!((r.count, r.found, r.info.truncated_tensors, r.classes[11]), (11, 11, 0, NO_PAIR));
}

/// Entries of a random tensor of order 4.
fn random(n: usize, seed: u64) -> Vec<f64> {
    let count = crate::tensor::Symmetric { order: 4, dimension: n }.count();
    (0..count).map(|i| rng::normal(seed, 78, 0, u32::try_from(i).unwrap())).collect()
}

/// Entries of the identity of order 4.
fn identity(n: usize) -> Vec<f64> {
    let shape = crate::tensor::Symmetric { order: 4, dimension: n };
    let mut walk = crate::tensor::symmetric::Monomials::new(shape).unwrap();
    let mut out = Vec::new();
    while let Some((_, tuple)) = walk.next_tuple() {
        out.push(crate::tensor::symmetric::identity_entry(tuple).unwrap());
    }
    out
}

#[test]
fn nearly_isotropic_tensors_have_the_maxima_of_what_is_added() {
    let c = context(2);
    for n in [2, 4, 5] {
        for (small, close) in [(1e-2, 1e-7), (1e-5, 1e-4)] {
            let b = random(n, n as u64);
            let near: Vec<f64> = identity(n).iter().zip(&b).map(|(e, b)| e + small * b).collect();
            // Starts enough to find every maximum of these tensors from any of both sides.
            let o = Options { starts: 100, tolerance: 1e-12, degeneracy_tolerance: 1e-12, ..Options::default() };
            let alone = run::<f64>(&c, &symmetric::<f64>(&c, 4, n, &b), None, &o, 16);
            let s = run::<f64>(&c, &symmetric::<f64>(&c, 4, n, &near), None, &o, 16);
            assert_eq!((s.info.converged_starts, s.status[0]), (100, 0), "n = {n}, {small}");
            assert_eq!(s.count, alone.count, "n = {n}, {small}: {:?} {:?}", s.values, alone.values);
            for k in 0..s.count[0] as usize {
                let value = (s.values[k] - 1.0) / small;
                assert!((value - alone.values[k]).abs() < close, "n = {n}, {small}: {value} {}", alone.values[k]);
            }
        }
    }
}

#[test]
fn starts_that_did_not_converge_show_in_the_status() {
    let c = context(2);
    for n in [3, 4] {
        let a = symmetric::<f64>(&c, 4, n, &[random(n, 1), random(n, 2)].concat());
        let all = run::<f64>(&c, &a, None, &Options::default(), 8);
        assert_eq!((all.status, all.info.unconverged_tensors), (vec![0, 0], 0));
        for goal in [Goal::Maxima, Goal::Both] {
            let o = Options { goal, max_iterations: 6, ..Options::default() };
            let some = run::<f64>(&c, &a, None, &o, 8);
            assert!(some.count.iter().all(|k| *k > 0), "{:?}", some.count);
            assert_eq!(some.status, [TensorStatus::Partial as i32; 2], "n = {n}");
            assert_eq!(some.info.unconverged_tensors, 2);
        }
    }
}

#[test]
fn options_that_cannot_take_effect_are_refused_by_name() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let starts = from_slice(&c, &[3, 2], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let o = Options::default();
    let power = Options { method: Method::Power, ..o };
    for (options, name) in [
        (Options { shift: 2.0, ..o }, "shift"),
        (Options { shift: 2.0, shift_kind: Shift::Guaranteed, ..o }, "shift"),
        (Options { warmup: Some(2), ..power }, "warmup"),
        (Options { tau: 1e-3, ..o }, "tau"),
        (Options { tau: 1e-3, shift_kind: Shift::Guaranteed, ..power }, "tau"),
        (Options { test: Test::Step, compatibility: crate::sshopm::Compatibility::TensorToolbox, ..o }, "test"),
        (Options { start_kind: StartKind::Random, ..o }, "start_kind"),
        (Options { starts: 3, ..o }, "starts"),
        (Options { seed: 3, ..o }, "seed"),
    ] {
        let mut count = dense::<i32>(&c, &[1]);
        let mut results = crate::sshopm::Results { count: Some(&mut count), ..crate::sshopm::Results::default() };
        let outcome = crate::sshopm::solve(
            &c,
            None,
            &a,
            Some(&starts),
            &options,
            &mut results,
            &crate::progress::Progress::none(),
        );
        let message = outcome.unwrap_err().to_string();
        assert!(message.starts_with(&format!("{name}: is ")), "{message}");
    }
    // The default starts in three dimensions are a lattice, which no seed changes; in others they are random.
    for (n, entries) in [(3, &KOFIDIS_REGALIA[..]), (2, &KOFIDIS_REGALIA[..5])] {
        let a = symmetric::<f64>(&c, 4, n, entries);
        for start_kind in [StartKind::Auto, StartKind::FibonacciSphere, StartKind::Random, StartKind::RandomCube] {
            let is_random = n == 2 || matches!(start_kind, StartKind::Random | StartKind::RandomCube);
            if n == 2 && start_kind == StartKind::FibonacciSphere {
                continue;
            }
            let mut count = dense::<i32>(&c, &[1]);
            let mut results = crate::sshopm::Results { count: Some(&mut count), ..crate::sshopm::Results::default() };
            let options = Options { seed: 5, start_kind, ..o };
            let progress = crate::progress::Progress::none();
            let outcome = crate::sshopm::solve(&c, None, &a, None, &options, &mut results, &progress);
            let says_so =
                outcome.as_ref().is_err_and(|e| e.to_string().starts_with("seed: is 5, but the start vectors"));
            assert!(if is_random { outcome.is_ok() } else { says_so }, "n = {n}, {start_kind:?}: {outcome:?}");
            let mut points = dense::<f64>(&c, &[n, 8]);
            let outcome = crate::sshopm::starts(&c, None, start_kind, 5, &mut points);
            match start_kind {
                StartKind::Auto => {
                    let message = "kind: is 0 (auto), which depends on the order of a tensor";
                    assert_eq!(outcome.unwrap_err().to_string(), message, "n = {n}");
                }
                _ => assert_eq!(outcome.is_ok(), is_random, "n = {n}, {start_kind:?}: {outcome:?}"),
            }
        }
    }
}
