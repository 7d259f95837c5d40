//! Powers of ten that many cores of a train pass on.

use std::sync::Arc;

use super::support::session;
use crate::algebra::{self, Place, Truncation};
use crate::context::Context;
use crate::operator::Trains;
use crate::scalar::DType;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::options::NormMethod;
use crate::trains::testing::{C, Plain, TYPES, bare, cpu, inner};
use crate::trains::{Options, Scaled};

/// 10^p 10^-p + 10^-p 10^p, with d - 2 cores of the identity between the factors: a tensor with the only entry 2.
fn handed_on(p: i32, d: usize) -> Plain {
    let (big, small) = (10.0f64.powi(p), 10.0f64.powi(-p));
    let mut cores = vec![vec![1.0, 0.0, 0.0, 1.0]; d];
    cores[0] = vec![big, small];
    cores[d - 1] = vec![small, big];
    let mut ranks = vec![2; d + 1];
    (ranks[0], ranks[d]) = (1, 1);
    bare(&ranks, cores)
}

fn number(found: Scaled) -> f64 {
    found.plain(DType::F64).0.re
}

/// Checks all calls with a train whose only entry is 2.
fn check_two(c: &Arc<Context>, dtype: DType, x: &TensorTrain, what: &str) {
    let d = x.shape().len();
    let is_open = !x.shape().is_cyclic();
    let close = |found: f64, wanted: f64, call: &str| {
        let most = if dtype == DType::F32 { 1e-4 } else { 1e-11 };
        assert!((found - wanted).abs() <= most * wanted.max(1.0), "{call} of {what}: {found}, not {wanted}");
    };
    let at = Place::host(c);
    let one = algebra::create::ones(&at, dtype, &vec![1; d]).unwrap();
    let h = TrainMatrix::new("h", algebra::copy(&at, x).unwrap(), &vec![1; d], &vec![1; d]).unwrap();
    let mut s = session(c, Options::default());
    let mut inner = |a: &TensorTrain, b: &TensorTrain| number(s.inner_scaled(None, a, b, None).unwrap().0);
    close(inner(&one, x), 2.0, "inner product");
    close(inner(x, x), 4.0, "square");
    let sum = algebra::add(&at, C::new(1.0, 0.0), x, C::new(1.0, 0.0), x);
    close(inner(&one, &sum.unwrap()), 4.0, "sum");
    close(inner(&one, &algebra::hadamard(&at, x, x).unwrap()), 4.0, "product");
    close(inner(&one, &algebra::apply(&at, &h, x).unwrap()), 4.0, "product with a matrix");
    if is_open {
        let all = Truncation::default();
        close(inner(&one, &algebra::hadamard_round(&at, x, x, &all).unwrap().0), 4.0, "rounded product");
        close(inner(&one, &algebra::apply_round(&at, &h, x, &all).unwrap().0), 4.0, "rounded product with a matrix");
        let (rounded, truncated) = algebra::round(&at, x, &all).unwrap();
        close(inner(&one, &rounded), 2.0, "rounding");
        close(number(truncated.norm), 2.0, "norm on rounding");
        let found = algebra::canonicalize(&at, x, d / 2).unwrap();
        close(inner(&one, &found.train) * 2.0f64.powi(found.exponent as i32), 2.0, "canonical form");
    }
    let mut sums = [Scaled::ZERO; 4];
    s.gram(None, &[x, &one], &[x, &one], &mut sums, None).unwrap();
    (0..4).for_each(|i| close(number(sums[i]), [4.0, 2.0, 2.0, 1.0][i], "gram"));
    for norm_method in [NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
        let mut s = session(c, Options { norm_method, ..Options::default() });
        close(number(s.norm_scaled(None, x, None).unwrap().0), 2.0, "norm");
        close(number(s.distance_scaled(None, x, &one, None).unwrap().0), 1.0, "distance");
    }
    close(number(s.sandwich(None, &Trains::new(x, Some(&h), x), None).unwrap().0), 8.0, "sandwich");
    close(number(s.sandwich(None, &Trains::new(&one, Some(&h), x), None).unwrap().0), 4.0, "sandwich of two");
    close(number(s.rayleigh(None, x, &h, None).unwrap().quotient), 2.0, "quotient");
    for found in s.expect_local(None, x, &[C::new(1.0, 0.0)], &[0], None).unwrap().iter() {
        close(found.re, 1.0, "local expectation");
    }
}

#[test]
fn identity_cores_hand_powers_on() {
    let c = cpu(1);
    for (dtype, powers) in [(DType::F32, [8, 13, 25, 30]), (DType::F64, [8, 60, 100, 250])] {
        for p in powers {
            for d in [2, 3, 4, 5, 8, 12] {
                check_two(&c, dtype, &handed_on(p, d).train(&c, dtype), &format!("{d} cores, 10^{p}, {dtype:?}"));
            }
        }
    }
}

#[test]
fn powers_that_grow_from_core_to_core_come_back() {
    let c = cpu(1);
    for (dtype, step) in [(DType::F32, 8), (DType::F64, 50)] {
        // The entries of two neighbouring cores are near each other; those of all cores together are not.
        let (up, down) = (2.0f64.powi(step), 2.0f64.powi(-step));
        let mut cores = vec![vec![up, 0.0, 0.0, down]; 12];
        cores[6..].fill(vec![down, 0.0, 0.0, up]);
        (cores[0], cores[11]) = (vec![1.0; 2], vec![1.0; 2]);
        let mut ranks = vec![2; 13];
        (ranks[0], ranks[12]) = (1, 1);
        check_two(&c, dtype, &bare(&ranks, cores).train(&c, dtype), &format!("2^{step} a core, {dtype:?}"));
    }
}

#[test]
fn rings_hand_powers_round() {
    let c = cpu(1);
    let rings: [&[[i32; 2]]; 3] =
        [&[[-48, -27], [68, 26]], &[[-19, 111], [89, -51]], &[[64, 55], [84, -78], [-99, 88]]];
    for (i, e) in rings.iter().enumerate() {
        let d = e.len();
        let cores = (0..d)
            .map(|k| {
                let power = |b: usize| 10.0f64.powi(e[k][b] - e[(k + d - 1) % d][b]);
                vec![power(0), 0.0, 0.0, power(1)]
            })
            .collect();
        check_two(&c, DType::F64, &bare(&vec![2; d + 1], cores).train(&c, DType::F64), &format!("ring {i}"));
    }
}

/// The same tensor. Value b of each bond is multiplied by 2^e in one core and divided by it in the next, with |e| at
/// most `range`.
fn shifted(x: &Plain, range: i32, seed: u64) -> Plain {
    let (mut y, d) = (x.clone(), x.modes.len());
    let shift = |bond: usize, b: usize| {
        if x.ranks[bond] == 1 {
            return 0;
        }
        let mixed = (b as u64 * 37 + (bond % d) as u64 * 1013 + seed * 7919).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        (mixed % (2 * range as u64 + 1)) as i32 - range
    };
    for (k, core) in y.cores.iter_mut().enumerate() {
        let (r, n) = (x.ranks[k], x.modes[k]);
        for (at, v) in core.iter_mut().enumerate() {
            *v *= 2.0f64.powi(shift(k + 1, at / (r * n)) - shift(k, at % r));
        }
    }
    y
}

#[test]
fn random_gauges_change_nothing() {
    let c = cpu(1);
    for (dtype, tolerance) in TYPES {
        let range = if tolerance > 1e-10 { 60 } else { 200 };
        for (seed, cyclic) in (0..8).flat_map(|seed| [(seed, false), (seed, true)]) {
            let d = 1 + seed as usize % 5;
            let x = Plain::uniform_ranks(d, 2, 3, cyclic, dtype.is_complex(), 700 + seed);
            let y = Plain::uniform_ranks(d, 2, 2, cyclic, dtype.is_complex(), 800 + seed);
            let (gx, gy) = (shifted(&x, range, seed).train(&c, dtype), shifted(&y, range, seed + 1).train(&c, dtype));
            let size = 100.0 * tolerance * x.norm() * y.norm();
            let mut s = session(&c, Options::default());
            let wide = if dtype.is_complex() { DType::CF64 } else { DType::F64 };
            let found = s.inner_scaled(None, &gx, &gy, None).unwrap().0.plain(wide).0;
            let wanted = inner(&x, &y, true);
            assert!((found - wanted).norm() <= size, "{dtype:?}, seed {seed}, ring {cyclic}: {found}, not {wanted}");
            let norm = number(s.norm_scaled(None, &gx, None).unwrap().0);
            assert!((norm - x.norm()).abs() <= 1e3 * tolerance * x.norm(), "{dtype:?}, seed {seed}, ring {cyclic}");
            let distance = number(s.distance_scaled(None, &gx, &x.train(&c, dtype), None).unwrap().0);
            assert!(distance <= 1e3 * tolerance.sqrt() * x.norm(), "{dtype:?}, seed {seed}, ring {cyclic}: {distance}");
            if !cyclic {
                let at = Place::host(&c);
                let (rounded, _) = algebra::round(&at, &gx, &Truncation::default()).unwrap();
                let distance = number(s.distance_scaled(None, &rounded, &x.train(&c, dtype), None).unwrap().0);
                assert!(distance <= 1e3 * tolerance.sqrt() * x.norm(), "{dtype:?}, seed {seed}: {distance}");
            }
        }
    }
}
