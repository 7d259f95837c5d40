//! Environments of trains, operators and vectors whose entries span more than one exponent can hold.

use std::sync::Arc;

use super::support::session;
use crate::context::Context;
use crate::error::Error;
use crate::operator::{Environments, Side, Trains, identity};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::TrainMatrix;
use crate::trains::scaled::{exponent_of, scale};
use crate::trains::testing::{C, Plain, bare, cpu, placed};
use crate::trains::{Options, Scaled};

pub fn two(e: i32) -> f64 {
    2f64.powi(e)
}

/// Core k is D_k^-1 1 D_k+1 with a matrix of ones and diagonal matrices D: all entries of the tensor are the product of
/// the inner ranks.
fn gauge(powers: &[&[i32]]) -> Plain {
    let ranks: Vec<usize> = powers.iter().map(|p| p.len()).collect();
    let core = |pair: &[&[i32]]| {
        let r = pair[0].len();
        (0..r * pair[1].len()).map(|at| two(pair[1][at / r] - pair[0][at % r])).collect()
    };
    bare(&ranks, powers.windows(2).map(core).collect())
}

pub fn close(found: Scaled, wanted: Scaled, what: &str) {
    let quotient = found.over(wanted).map_or(f64::NAN, |q| q.plain(DType::F64).0.re);
    assert!((quotient - 1.0).abs() < 1e-5, "{what}: {found:?}, not {wanted:?}");
}

/// The result of `apply`, each number with the common power of two.
fn applied(kept: &mut Environments, trains: &Trains<'_>, at: (usize, usize), v: &[f64], count: usize) -> Vec<Scaled> {
    with_scalar!(kept.dtype(), "v", T => {
        let v: Vec<T> = v.iter().map(|v| T::from_parts(*v, 0.0)).collect();
        let mut out = vec![T::default(); count];
        let exponent = kept.apply(None, trains, at, &v, &mut out).unwrap();
        Ok::<_, Error>(out.iter().map(|x| Scaled::new(C::new(x.re(), x.im()), exponent)).collect())
    })
    .unwrap()
}

/// All tests of this file, for trains in the memory of `location`.
pub fn check(c: &Arc<Context>, location: Location) {
    check_dead(c, location);
    check_rings(c, location);
    check_operators(c, location);
    check_vectors(c, location);
}

/// Checks a value of bond 1 that no path from the first core reaches, with large entries behind it.
fn check_dead(c: &Arc<Context>, location: Location) {
    let cases = [
        (DType::F32, 50, 50, 0.0),
        (DType::F32, 60, 116, 0.0),
        (DType::F64, 400, 400, 0.0),
        (DType::F64, 500, 996, 0.0),
        (DType::F32, 60, 116, 1.0),
        (DType::F64, 500, 996, 1.0),
    ];
    for (dtype, e, q, r) in cases {
        let p = two(e);
        let cores = vec![vec![1.0 / p, 0.0], vec![p * p, two(q), 1.0, two(q)], vec![r / p, p]];
        let plain = bare(&[1, 2, 2, 1], cores);
        let x = placed(c, plain.train(c, dtype), location);
        let wanted = session(c, Options::default()).inner_scaled(None, &x, &x, None).unwrap().0;
        let unit = identity(c, dtype, &[1; 3]).unwrap();
        for operator in [None, Some(&unit)] {
            let trains = Trains::new(&x, operator, &x);
            let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
            for bond in 0..4 {
                close(
                    kept.value(None, &trains, bond).unwrap(),
                    wanted,
                    &format!("{dtype:?}, 2^{e}, 2^{q}, bond {bond}"),
                );
            }
            let trains = Trains::new(&x, None, &x);
            let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
            for site in 0..3 {
                close(kept.local(None, &trains, site, &[C::new(1.0, 0.0)]).unwrap(), wanted, "local");
            }
        }
    }
}

/// Checks rings of one core whose diagonal is far below the other entries, and gauges of a ring.
fn check_rings(c: &Arc<Context>, location: Location) {
    let cases = [
        (DType::F64, [0.0, two(680), two(880), two(-720)], [two(580), 0.0, two(720), 0.0]),
        (DType::F32, [0.0, two(85), two(110), two(-90)], [two(72), 0.0, two(90), 0.0]),
    ];
    for (dtype, a, b) in cases {
        // `m` is given row by row.
        let of = |m: [f64; 4]| placed(c, bare(&[2, 2], vec![vec![m[0], m[2], m[1], m[3]]]).train(c, dtype), location);
        let (x, y) = (of(a), of(b));
        let trains = Trains::new(&y, None, &x);
        let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
        let wanted = Scaled::new(C::new(a[3] * b[0], 0.0), 0);
        for bond in 0..2 {
            close(kept.value(None, &trains, bond).unwrap(), wanted, &format!("ring, {dtype:?}, bond {bond}"));
        }
        close(kept.local(None, &trains, 0, &[C::new(1.0, 0.0)]).unwrap(), wanted, "local of a ring");
        // At both ends of a ring of one core, the environments are 1.
        let out = applied(&mut kept, &trains, (0, 1), &[1.0, 0.0, 0.0, 1.0], 4);
        close(out[0], Scaled::real(2.0), "apply of a ring");
        // The result is y transposed times the trace of x.
        let out = applied(&mut kept, &trains, (0, 0), &[1.0, 0.0, 0.0, 1.0], 4);
        close(out[2], Scaled::real(1.0), "apply at the end of a ring");
    }
    for (dtype, e) in [(DType::F32, 20), (DType::F32, 50), (DType::F64, 300)] {
        let (powers, middle) = ([0, e, 2 * e], [-e / 2, e / 2]);
        let plain = gauge(&[&powers, &powers]);
        let x = placed(c, plain.train(c, dtype), location);
        let trains = Trains::new(&x, None, &x);
        let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
        // The only entry of the tensor is 3.
        let wanted = Scaled::real(9.0);
        for bond in 0..2 {
            close(
                kept.value(None, &trains, bond).unwrap(),
                wanted,
                &format!("gauge of a ring, {dtype:?}, bond {bond}"),
            );
        }
        let unit: Vec<f64> = (0..9).map(|at| if at % 4 == 0 { 1.0 } else { 0.0 }).collect();
        for (at, found) in applied(&mut kept, &trains, (0, 0), &unit, 9).iter().enumerate() {
            let exponent = i64::from(powers[at % 3] - powers[at / 3]);
            if i64::from(2 * e) - exponent < if dtype == DType::F32 { 120 } else { 1000 } {
                close(
                    *found,
                    Scaled::new(C::new(3.0, 0.0), exponent),
                    &format!("end of a gauged ring, {dtype:?}, {at}"),
                );
            }
        }
        let both = gauge(&[&powers, &middle, &powers]);
        let x = placed(c, both.train(c, dtype), location);
        let trains = Trains::new(&x, None, &x);
        let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
        let wanted = Scaled::real(36.0);
        for bond in 0..3 {
            close(kept.value(None, &trains, bond).unwrap(), wanted, &format!("ring of two, {dtype:?}, bond {bond}"));
        }
        // The entries of the result span e bits for each value. Those within the range of the type must be right.
        let v: Vec<f64> = both.cores[0].iter().map(|v| v.re).collect();
        let out = applied(&mut kept, &trains, (0, 1), &v, 6);
        let largest = out.iter().map(|x| x.exponent).max().unwrap();
        let reach = if dtype == DType::F32 { 120 } else { 1000 };
        for (at, found) in out.iter().enumerate() {
            // <x|x> is 36. Half of its derivative by an entry of the core is 6 divided by that entry.
            let wanted = Scaled::new(C::new(6.0, 0.0), i64::from(powers[at % 3] - middle[at / 3]));
            if largest - wanted.exponent < reach {
                close(*found, wanted, &format!("apply of a gauged ring, {dtype:?}, 2^{e}, {at}"));
            }
        }
    }
}

/// Checks operators with gauges, and with a large value of a bond that no path reaches.
fn check_operators(c: &Arc<Context>, location: Location) {
    let cases: [(DType, &[&[i32]]); 2] = [
        (DType::F64, &[&[0], &[-492, 215], &[-252, 176], &[303, 220], &[0]]),
        (DType::F32, &[&[0], &[-23, -3], &[14, -27], &[51, -60], &[0]]),
    ];
    for (dtype, powers) in cases {
        let h = TrainMatrix::new("h", gauge(powers).train(c, dtype), &[1; 4], &[1; 4]).unwrap();
        let x = placed(c, bare(&[1; 5], vec![vec![1.0]; 4]).train(c, dtype), location);
        let trains = Trains::new(&x, Some(&h), &x);
        let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
        for sites in 0..3 {
            for k in 0..=4 - sites {
                let out = applied(&mut kept, &trains, (k, sites), &[1.0], 1);
                close(out[0], Scaled::real(8.0), &format!("{dtype:?}, {sites} sites from {k}"));
            }
        }
    }
    for (dtype, q) in [(DType::F64, 700), (DType::F32, 90)] {
        let cores = vec![vec![1.0, 0.0], vec![1.0, 0.0, 0.0, two(q)], vec![two(-q), 1.0]];
        let h = TrainMatrix::new("h", bare(&[1, 2, 2, 1], cores).train(c, dtype), &[1; 3], &[1; 3]).unwrap();
        let x = placed(c, bare(&[1; 4], vec![vec![1.0]; 3]).train(c, dtype), location);
        let trains = Trains::new(&x, Some(&h), &x);
        let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
        let wanted = Scaled::real(two(-q));
        for bond in 0..4 {
            close(kept.value(None, &trains, bond).unwrap(), wanted, &format!("dead value, {dtype:?}, bond {bond}"));
        }
        for sites in 0..3 {
            for k in 0..=3 - sites {
                let out = applied(&mut kept, &trains, (k, sites), &[1.0], 1);
                close(out[0], wanted, &format!("dead value, {dtype:?}, {sites} sites from {k}"));
            }
        }
    }
}

/// Checks vectors and operators near the ends of the range.
fn check_vectors(c: &Arc<Context>, location: Location) {
    let cases = [(DType::F64, -1000, -110), (DType::F64, 1000, 110), (DType::F32, -120, -10), (DType::F32, 120, 10)];
    for (dtype, p, q) in cases {
        let x = placed(c, bare(&[1; 3], vec![vec![1.0]; 2]).train(c, dtype), location);
        let h = bare(&[1; 3], vec![vec![1.0], vec![two(q)]]).train(c, dtype);
        let h = TrainMatrix::new("h", h, &[1; 2], &[1; 2]).unwrap();
        let trains = Trains::new(&x, Some(&h), &x);
        let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
        let wanted = Scaled::new(C::new(1.0, 0.0), i64::from(p + q));
        for at in [(0, 2), (1, 1), (0, 1), (1, 0)] {
            close(
                applied(&mut kept, &trains, at, &[two(p)], 1)[0],
                wanted,
                &format!("{dtype:?}, 2^{p}, 2^{q}, {at:?}"),
            );
        }
    }
}

#[test]
fn environments_hold_what_one_exponent_does_not() {
    check(&cpu(2), Location::Host);
}

/// The sum of products with separate exponents.
fn times(values: &[(f64, i64)]) -> (f64, i64) {
    let (m, e) = values.iter().fold((1.0, 0), |(m, e), (x, p)| (m * x, e + p));
    (scale(m, -exponent_of(m)), e + exponent_of(m))
}

#[test]
fn random_rings_and_trains_agree_with_sums_of_numbers_with_exponents() {
    let c = cpu(2);
    let mut state = 0x1234_5678_9ABC_DEF1u64;
    let mut draw = |most: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as i64) % most
    };
    for round in 0..400 {
        let dtype = if round % 2 == 0 { DType::F32 } else { DType::F64 };
        let range = if dtype == DType::F32 { 100 } else { 800 };
        let (d, is_ring) = (1 + draw(3) as usize, draw(2) == 1);
        let ends = if is_ring { 2 } else { 1 };
        let ranks: Vec<usize> = (0..=d).map(|k| if k == 0 || k == d { ends } else { 2 }).collect();
        let mut plain = |_: i32| {
            let core = |k: usize| -> Vec<Option<i64>> {
                let len = ranks[k] * ranks[k + 1];
                (0..len).map(|_| if draw(4) == 0 { None } else { Some(draw(2 * range) - range) }).collect()
            };
            let mut core = core;
            (0..d).map(&mut core).collect::<Vec<_>>()
        };
        let (a, b) = (plain(0), plain(1));
        let train = |powers: &[Vec<Option<i64>>]| {
            let number = |p: &Option<i64>| p.map_or(0.0, |p| scale(1.0, p));
            bare(&ranks, powers.iter().map(|core| core.iter().map(number).collect()).collect()).train(&c, dtype)
        };
        // An entry of a train: the sum over all paths of its bonds' values.
        let entry = |powers: &[Vec<Option<i64>>]| {
            let mut sum = Scaled::ZERO;
            let paths = 1usize << (d + 1);
            for path in 0..paths {
                let value = |k: usize| path >> k & 1;
                if (0..=d).any(|k| value(k) >= ranks[k]) || value(0) != value(d) {
                    continue;
                }
                let numbers: Option<Vec<(f64, i64)>> =
                    (0..d).map(|k| powers[k][value(k) + ranks[k] * value(k + 1)].map(|p| (1.0, p))).collect();
                if let Some(numbers) = numbers {
                    let (m, e) = times(&numbers);
                    sum = sum.plus(Scaled::new(C::new(m, 0.0), e));
                }
            }
            sum
        };
        let wanted = entry(&a).times(entry(&b));
        if wanted.is_zero() {
            continue;
        }
        let (x, y) = (train(&a), train(&b));
        let trains = Trains::new(&y, None, &x);
        let mut kept = Environments::new(&c, &Options::default(), &trains).unwrap();
        for bond in 0..=d {
            let what = format!("round {round}, {dtype:?}, ring {is_ring}, bond {bond} of {d}: {a:?} {b:?}");
            close(kept.value(None, &trains, bond).unwrap(), wanted, &what);
        }
        // The core of the train as the vector.
        for k in 0..d {
            let numbers = |p: &Option<i64>| p.map_or(0.0, |p| scale(1.0, p));
            let v: Vec<f64> = a[k].iter().map(numbers).collect();
            let out = applied(&mut kept, &trains, (k, 1), &v, v.len());
            let largest = out.iter().filter(|x| !x.is_zero()).map(|x| x.exponent).max();
            let mut sum = Scaled::ZERO;
            let mut is_whole = true;
            let reach = if dtype == DType::F32 { 120 } else { 1000 };
            for (x, p) in out.iter().zip(&b[k]) {
                // A number far below the largest may have become 0.
                is_whole &= p.is_none_or(|_| !x.is_zero() && largest.is_some_and(|most| most - x.exponent < reach));
                let number = p.map_or(Scaled::ZERO, |p| Scaled::new(C::new(1.0, 0.0), p));
                sum = sum.plus(x.times(number));
            }
            if is_whole {
                close(sum, wanted, &format!("round {round}, {dtype:?}, ring {is_ring}, site {k} of {d}: {a:?} {b:?}"));
            }
        }
        kept.build(None, &trains, Side::Left, d).unwrap();
    }
}
