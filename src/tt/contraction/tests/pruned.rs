//! Entries that are only multiplied by zeros, of any size; and numbers that are not finite among them.

use std::sync::Arc;

use super::support::session;
use crate::algebra::{
    Place, Spread, Truncation, add, apply, apply_round, canonicalize, full, hadamard, hadamard_round, rotate, round,
    scale,
};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::operator::{Environments, Trains, identity};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::Order;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::tensor::{Location, Tensor};
use crate::trains::options::{Method, NormMethod};
use crate::trains::testing::{C, Plain, bare, cpu, placed};
use crate::trains::{Options, Scaled};

/// A train of cores with one mode index value each. Core k has the entries 2^e at (a, b), all others are 0.
fn sparse(ranks: &[usize], cores: &[&[(usize, usize, i32)]]) -> Plain {
    let cores = cores.iter().enumerate().map(|(k, places)| {
        let mut core = vec![0.0; ranks[k] * ranks[k + 1]];
        places.iter().for_each(|(a, b, e)| core[a + ranks[k] * b] = 2f64.powi(*e));
        core
    });
    bare(ranks, cores.collect())
}

/// Trains with the only entry 1. Entries 2^q do not contribute to it, entries 2^p do.
fn ones(p: i32, q: i32) -> Vec<(&'static str, Plain)> {
    vec![
        ("not reached", sparse(&[1, 2, 1], &[&[(0, 0, p)], &[(0, 0, -p), (1, 0, q)]])),
        ("leads to zeros", sparse(&[1, 2, 1], &[&[(0, 0, p), (0, 1, q)], &[(0, 0, -p)]])),
        ("between zeros", sparse(&[1, 2, 2, 1], &[&[(0, 0, p)], &[(0, 0, 0), (1, 1, q)], &[(0, 0, -p)]])),
        (
            "in steps",
            sparse(
                &[1, 2, 2, 2, 1],
                &[&[(0, 0, p), (0, 1, q / 2)], &[(0, 0, 0), (1, 1, q / 2)], &[(0, 0, 0)], &[(0, 0, -p), (1, 0, q)]],
            ),
        ),
        ("ring", sparse(&[2, 2, 2, 2], &[&[(0, 1, p)], &[(1, 0, 0)], &[(0, 0, -p), (1, 1, q)]])),
        ("ring back", sparse(&[3, 3, 3], &[&[(0, 2, -p), (1, 0, q)], &[(2, 0, p)]])),
        ("ring across", sparse(&[2, 2, 2], &[&[(0, 0, p), (0, 1, q)], &[(0, 0, -p)]])),
    ]
}

/// The real part of the first entry of the dense tensor.
fn only(c: &Arc<Context>, x: &TensorTrain) -> Result<f64> {
    let mut tensor = Tensor::create(c, x.dtype(), Location::Host, Order::ColumnMajor, x.shape().modes())?;
    full(&Place::host(c), x, &mut tensor, false)?;
    with_scalar!(x.dtype(), "x", T => Ok(tensor.memory().host("tensor")?.as_slice::<T>()?[0].re()))
}

/// Checks all calls, for trains in the memory of `location`.
pub fn check(c: &Arc<Context>, location: Location, norms: &[NormMethod], methods: &[Method]) {
    let cases = [
        (DType::F32, vec![(0, 60), (0, 120), (50, 50), (50, 100), (120, 120), (-120, 120)]),
        (DType::F64, vec![(0, 600), (0, 1000), (500, 1000), (600, 600), (1000, 1000), (-1000, 1000)]),
    ];
    for (dtype, sizes) in cases {
        for (p, q) in sizes {
            for (name, plain) in ones(p, q) {
                let what = format!("{name}, {dtype:?}, 2^{p}, 2^{q}");
                let d = plain.modes.len();
                let x = placed(c, plain.train(c, dtype), location);
                let one = placed(c, bare(&vec![1; d + 1], vec![vec![1.0]; d]).train(c, dtype), location);
                let unit = identity(c, dtype, &vec![1; d]).unwrap();
                let mut s = session(c, Options::default());
                let value = |x: Scaled| x.plain(DType::F64).0.re;
                for (a, b) in [(&x, &x), (&one, &x), (&x, &one)] {
                    assert_eq!(value(s.inner_scaled(None, a, b, None).unwrap().0), 1.0, "inner, {what}");
                    let found = s.sandwich(None, &Trains::new(a, Some(&unit), b), None).unwrap().0;
                    assert_eq!(value(found), 1.0, "sandwich, {what}");
                }
                for operator in [None, Some(&unit)] {
                    let trains = Trains::new(&x, operator, &x);
                    let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
                    for bond in 0..=d {
                        assert_eq!(value(kept.value(None, &trains, bond).unwrap()), 1.0, "environment {bond}, {what}");
                    }
                }
                let found = s.rayleigh(None, &x, &unit, None).unwrap();
                assert_eq!(value(found.quotient), 1.0, "rayleigh, {what}");
                assert_eq!(s.correlation(None, &x, &[C::new(1.0, 0.0)], &[C::new(1.0, 0.0)], None).unwrap()[0].re, 1.0);
                for &method in methods {
                    let mut s = session(c, Options { method, ..Options::default() });
                    let found = s.inner_scaled(None, &x, &x, None);
                    if let Ok((found, _)) = found {
                        assert_eq!(value(found), 1.0, "{method:?}, {what}");
                    }
                }
                for &norm_method in norms {
                    let mut s = session(c, Options { norm_method, ..Options::default() });
                    assert_eq!(value(s.norm_scaled(None, &x, None).unwrap().0), 1.0, "{norm_method:?}, {what}");
                    assert_eq!(s.distance(None, &x, &one, None).unwrap().0, 0.0, "distance, {what}");
                }
                let at = Place::host(c);
                let made = |result: Result<TensorTrain>, what: &str| {
                    let train = result.unwrap_or_else(|e| panic!("{what}: {e}"));
                    assert_eq!(only(c, &train).unwrap(), 1.0, "{what}");
                };
                assert_eq!(only(c, &x).unwrap(), 1.0, "full, {what}");
                made(apply(&at, &unit, &x), &format!("apply, {what}"));
                made(hadamard(&at, &x, &x), &format!("hadamard, {what}"));
                made(rotate(&at, &x, 1), &format!("rotate, {what}"));
                made(scale(&at, Scaled::ONE, &x, Spread::Auto), &format!("scale, {what}"));
                if !x.shape().is_cyclic() {
                    let all = Truncation::default();
                    made(apply_round(&at, &unit, &x, &all).map(|r| r.0), &format!("apply_round, {what}"));
                    made(hadamard_round(&at, &x, &x, &all).map(|r| r.0), &format!("hadamard_round, {what}"));
                    made(round(&at, &x, &all).map(|r| r.0), &format!("round, {what}"));
                    made(canonicalize(&at, &x, 0).map(|r| r.train), &format!("canonicalize, {what}"));
                }
            }
        }
    }
}

#[test]
fn numbers_that_meet_zeros_hide_none_that_count() {
    let methods = [Method::Halves, Method::Full, Method::Blocked, Method::Reduced];
    check(&cpu(1), Location::Host, &[NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr], &methods);
}

/// Checks trains in which an operand of a sweep's product is subnormal, and the power of two that makes it large is
/// beyond the range.
pub fn check_small(c: &Arc<Context>, location: Location) {
    let two = |dtype: DType, cores: [Vec<f64>; 3]| {
        let cores = cores.map(|core| core.into_iter().map(|v| C::new(v, 0.0)).collect()).to_vec();
        placed(c, Plain { modes: vec![1, 1, 2], ranks: vec![1, 2, 2, 1], cores }.train(c, dtype), location)
    };
    let single = |dtype: DType, last: [f64; 2]| {
        let cores =
            [vec![1.0], vec![1.0], last.to_vec()].map(|core| core.into_iter().map(|v| C::new(v, 0.0)).collect());
        placed(c, Plain { modes: vec![1, 1, 2], ranks: vec![1; 4], cores: cores.to_vec() }.train(c, dtype), location)
    };
    for (dtype, by) in [(DType::F32, 1), (DType::F64, 8)] {
        let e = |p: i32| 2f64.powi(p * by);
        // The product is 2^193 at index 0 and 2^-79 at index 1, or 8 times this.
        let y = two(dtype, [vec![e(53), e(-53)], vec![0.0, e(37), e(100), 0.0], vec![0.0, e(40), e(-63), 0.0]]);
        let (x, zero) = (single(dtype, [0.0, 1.0]), single(dtype, [0.0, 0.0]));
        let mut s = session(c, Options::default());
        let most = Scaled { mantissa: C::new(1.0, 0.0), exponent: i64::from(170 * by) };
        for (a, b) in [(&x, &y), (&y, &x), (&zero, &y), (&y, &zero)] {
            let found = s.inner_scaled(None, a, b, None).unwrap().0;
            assert!(found.is_finite() && found.log_abs() < most.log_abs(), "{dtype:?}: {found:?}");
        }
        let mut sums = [Scaled::ZERO; 4];
        s.gram(None, &[&x, &y], &[&x, &y], &mut sums, None).unwrap();
        assert!(sums.iter().all(|sum| sum.is_finite()), "{sums:?}");
    }
    // All entries are small.
    for (dtype, e) in [(DType::F32, -124), (DType::F64, -1020)] {
        let cores = [vec![0.0, 1.0], vec![0.0, 1.0, 0.0, 2f64.powi(e)]];
        let cores = cores.map(|core| core.into_iter().map(|v| C::new(v, 0.0)).collect()).to_vec();
        let y = placed(c, Plain { modes: vec![1, 2], ranks: vec![1, 2, 1], cores }.train(c, dtype), location);
        let cores = vec![vec![C::new(1.0, 0.0)], vec![C::new(0.0, 0.0), C::new(1.0, 0.0)]];
        let x = placed(c, Plain { modes: vec![1, 2], ranks: vec![1; 3], cores }.train(c, dtype), location);
        let mut s = session(c, Options::default());
        for (a, b) in [(&x, &y), (&y, &x)] {
            assert_eq!(s.inner(None, a, b, None).unwrap().0.re, 2f64.powi(e), "{dtype:?}");
        }
    }
}

#[test]
fn small_products_of_finite_trains_are_finite() {
    check_small(&cpu(1), Location::Host);
}

#[test]
fn factors_lose_nothing_that_a_later_core_takes_back() {
    let c = cpu(1);
    let at = Place::host(&c);
    let cases = [
        (DType::F32, 40, -100, 2),
        (DType::F32, 60, -120, 4),
        (DType::F32, 120, 8, 4),
        (DType::F64, 500, -1000, 2),
        (DType::F64, 800, -600, 2),
        (DType::F64, 800, 600, 2),
        (DType::F64, 1000, 30, 4),
    ];
    for (dtype, p, e, d) in cases {
        // 2^p 2^-p + 2^-p 2^p = 2 through cores of the identity, as an open train and as a ring.
        let [up, down] = [p, -p].map(|p| 2f64.powi(p));
        let mut cores = vec![vec![up, down]];
        cores.resize(d - 1, vec![1.0, 0.0, 0.0, 1.0]);
        cores.push(vec![down, up]);
        let mut ranks = vec![2; d + 1];
        (ranks[0], ranks[d]) = (1, 1);
        let open = bare(&ranks, cores.clone());
        (cores[0], cores[d - 1]) = (vec![up, 0.0, 0.0, down], vec![down, 0.0, 0.0, up]);
        let ring = bare(&vec![2; d + 1], cores);
        for x in [open.train(&c, dtype), ring.train(&c, dtype)] {
            let factor = Scaled { mantissa: C::new(0.5, 0.0), exponent: i64::from(e) + 1 };
            let zeros = bare(&vec![1; d + 1], vec![vec![0.0]; d]).train(&c, dtype);
            let one = bare(&vec![1; d + 1], vec![vec![1.0]; d]).train(&c, dtype);
            let (alpha, beta) = (C::new(2f64.powi(e), 0.0), C::new(1.0, 0.0));
            let made = [
                ("auto", scale(&at, factor, &x, Spread::Auto)),
                ("even", scale(&at, factor, &x, Spread::Even)),
                ("first", scale(&at, factor, &x, Spread::First)),
                ("add", add(&at, alpha, &x, beta, &zeros)),
                ("add to", add(&at, beta, &zeros, alpha, &x)),
            ];
            let mut s = session(&c, Options::default());
            for (name, train) in made {
                let what = format!("{name}, {dtype:?}, 2^{p}, 2^{e}, {:?}", x.shape().ranks());
                let train = train.unwrap_or_else(|e| panic!("{what}: {e}"));
                let found = s.inner_scaled(None, &one, &train, None).unwrap().0;
                assert_eq!(found, Scaled { mantissa: C::new(0.5, 0.0), exponent: i64::from(e) + 2 }, "{what}");
            }
        }
    }
}

/// Checks rings with a number that is not finite and is on no closed path.
pub fn check_rings(c: &Arc<Context>, location: Location, norms: &[NormMethod]) {
    for dtype in [DType::F32, DType::F64] {
        for bad in [f64::NAN, f64::INFINITY] {
            let of = |cores| placed(c, bare(&[2, 2, 2], cores).train(c, dtype), location);
            let x = of(vec![vec![0.0, 0.0, bad, 1.0], vec![0.0, 0.0, 0.0, 1.0]]);
            let y = of(vec![vec![1.0, 0.0, 0.0, 1.0], vec![0.0, 0.0, 0.0, 1.0]]);
            let unit = identity(c, dtype, &[1, 1]).unwrap();
            let mut s = session(c, Options::default());
            for (a, b) in [(&x, &x), (&x, &y), (&y, &x)] {
                assert!(!s.inner_scaled(None, a, b, None).unwrap().0.is_finite(), "{dtype:?}");
                let found = s.sandwich(None, &Trains::new(a, Some(&unit), b), None).unwrap().0;
                assert!(!found.is_finite(), "sandwich, {dtype:?}");
            }
            // An open train that is cut at a bond.
            let cores = vec![vec![2.0, 0.0], vec![1.0, 0.0, bad, 1.0], vec![1.0, 1.0]];
            let open = placed(c, bare(&[1, 2, 2, 1], cores).train(c, dtype), location);
            let unit = identity(c, dtype, &[1; 3]).unwrap();
            for cut in 0..3 {
                let mut s = session(c, Options { cut: Some(cut), ..Options::default() });
                assert!(!s.inner_scaled(None, &open, &open, None).unwrap().0.is_finite(), "{dtype:?}, {cut}");
                let found = s.sandwich(None, &Trains::new(&open, Some(&unit), &open), None).unwrap().0;
                assert!(!found.is_finite(), "sandwich, {dtype:?}, {cut}");
            }
            let mut sums = [Scaled::ZERO; 4];
            s.gram(None, &[&x, &y], &[&x, &y], &mut sums, None).unwrap();
            assert_eq!(sums.map(Scaled::is_finite), [false, false, false, true], "{dtype:?}");
            for &norm_method in norms {
                let mut s = session(c, Options { norm_method, ..Options::default() });
                assert!(!s.norm_scaled(None, &x, None).unwrap().0.is_finite(), "{norm_method:?}, {dtype:?}");
            }
        }
    }
}

#[test]
fn numbers_of_rings_that_are_not_finite_are_seen_wherever_they_stand() {
    check_rings(&cpu(1), Location::Host, &[NormMethod::Inner, NormMethod::Qr]);
}

/// Checks decompositions of trains with a number that is not finite and is only multiplied by zeros.
pub fn check_factors(c: &Arc<Context>, location: Location) {
    for (dtype, large) in [(DType::F32, 60), (DType::F64, 500)] {
        for bad in [f64::NAN, f64::INFINITY] {
            for last in [0.0, 2.0] {
                let plain = bare(&[1, 2, 1, 1], vec![vec![bad, 0.0], vec![2f64.powi(large), 1.0], vec![last]]);
                let x = placed(c, plain.train(c, dtype), location);
                let y = placed(c, bare(&[1; 4], vec![vec![1.0]; 3]).train(c, dtype), location);
                let unit = identity(c, dtype, &[1; 3]).unwrap();
                let h = TrainMatrix::new("h", plain.train(c, dtype), &[1; 3], &[1; 3]).unwrap();
                let (at, all) = (Place::host(c), Truncation::default());
                let refused = |result: Result<TensorTrain>, argument: &str| match result {
                    Err(e @ Error::InvalidArgument { .. }) => {
                        let text = e.to_string();
                        assert!(text.contains(&format!("{argument}: core 0 has the norm ")), "{text}");
                    }
                    Err(e) => panic!("{dtype:?}: {e}"),
                    Ok(_) => panic!("{dtype:?}: {argument} made a train"),
                };
                refused(round(&at, &x, &all).map(|r| r.0), "x");
                refused(canonicalize(&at, &x, 0).map(|r| r.train), "x");
                refused(canonicalize(&at, &x, 2).map(|r| r.train), "x");
                refused(apply_round(&at, &unit, &x, &all).map(|r| r.0), "x");
                refused(apply_round(&at, &h, &y, &all).map(|r| r.0), "h");
                refused(hadamard_round(&at, &x, &y, &all).map(|r| r.0), "x");
                refused(hadamard_round(&at, &y, &x, &all).map(|r| r.0), "y");
            }
        }
    }
}

#[test]
fn decompositions_refuse_what_is_not_finite_behind_zeros_too() {
    check_factors(&cpu(1), Location::Host);
}
