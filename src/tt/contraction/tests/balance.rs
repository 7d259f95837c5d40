//! Bonds whose values differ by many orders of magnitude. An entry that is small in one core is large in the next.

use std::sync::Arc;

use super::closed_forms::uniform;
use super::support::session;
use crate::context::Context;
use crate::contraction::Contraction;
use crate::error::Error;
use crate::operator::{Environments, Side, Trains, identity, ising};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::TrainMatrix;
use crate::trains::Options;
use crate::trains::Scaled;
use crate::trains::options::{Method, NormMethod};
use crate::trains::testing::{C, Plain, TYPES, bare, cpu, placed};

/// The same tensor. Value b of bond k is multiplied by 2^e in one core and divided by it in the next; |e| is at most
/// `range`.
pub fn gauged(x: &Plain, range: i32, seed: u64) -> Plain {
    let mut y = Plain { modes: x.modes.clone(), ranks: x.ranks.clone(), cores: x.cores.clone() };
    let d = x.modes.len();
    let ring = x.ranks[0] > 1;
    let exponent = |bond: usize, b: usize| {
        if bond.is_multiple_of(d) && !ring {
            return 0;
        }
        // Use both ends of the range, so that the worst case occurs.
        let turn = (b as u64 + seed + (bond % d) as u64 * 7) % 3;
        if b == 0 {
            -range
        } else if turn == 0 {
            range
        } else {
            [range, -range, 0][turn as usize]
        }
    };
    for k in 0..d {
        let (r, n) = (x.ranks[k], x.modes[k]);
        for (at, v) in y.cores[k].iter_mut().enumerate() {
            let (a, b) = (at % r, at / (r * n));
            let shift = exponent(k + 1, b) - exponent(k, a);
            *v *= crate::trains::scaled::scale(1.0, i64::from(shift));
        }
    }
    y
}

fn close(found: Scaled, wanted: Scaled, size: f64, what: &str) {
    let minus = Scaled { mantissa: -wanted.mantissa, ..wanted };
    let error = found.plus(minus).plain(DType::F64).0.norm();
    assert!(error <= size, "{what}: {found:?}, not {wanted:?}, off by {error:e} of {size:e}");
}

/// Entries that grow from core to core, and shrink again. Two neighbouring cores do not show by how much.
pub fn check_growing(c: &Arc<Context>, location: Location) {
    for (dtype, p) in [(DType::F32, 20), (DType::F64, 100)] {
        let [up, down] = [1, -1].map(|sign| [2f64.powi(sign * p), 2f64.powi(-sign * p)]);
        let core = |[a, b]: [f64; 2]| vec![a, 0.0, 0.0, b];
        let mut cores = vec![up.to_vec(), core(up), core(up), core([1.0; 2]), core([1.0; 2])];
        cores.extend([core(down), core(down), down.to_vec()]);
        let x = placed(c, bare(&[1, 2, 2, 2, 2, 2, 2, 2, 1], cores).train(c, dtype), location);
        let one = placed(c, bare(&[1; 9], vec![vec![1.0]; 8]).train(c, dtype), location);
        let mut s = session(c, Options::default());
        let plain = |value: Scaled| value.plain(DType::F64).0.re;
        assert_eq!(plain(s.inner_scaled(None, &x, &x, None).unwrap().0), 4.0, "{dtype:?}");
        assert_eq!(plain(s.inner_scaled(None, &one, &x, None).unwrap().0), 2.0, "{dtype:?}");
        assert_eq!(plain(s.norm_scaled(None, &x, None).unwrap().0), 2.0, "{dtype:?}");
        let mut sums = [Scaled::ZERO; 4];
        s.gram(None, &[&x, &one], &[&x, &one], &mut sums, None).unwrap();
        assert_eq!(sums.map(plain), [4.0, 2.0, 2.0, 1.0], "{dtype:?}");
        let unit = identity(c, dtype, &[1; 8]).unwrap();
        let found = s.sandwich(None, &Trains::new(&x, Some(&unit), &x), None).unwrap().0;
        assert_eq!(plain(found), 4.0, "{dtype:?}");
    }
}

#[test]
fn numbers_may_grow_from_core_to_core() {
    check_growing(&cpu(1), Location::Host);
}

#[test]
fn a_uniform_train_may_hand_on_what_grows() {
    // Twenty bond values in sequence: ten cores multiply, ten divide.
    let (c, r) = (cpu(1), 20);
    let mut core = vec![0.0; r * r];
    for a in 0..r {
        core[a + r * ((a + 1) % r)] = 2f64.powi(if a < r / 2 { 59 } else { -59 });
    }
    // The same tensor with other cores: balancing must treat both trains of a product.
    let other = bare(&vec![r; r + 1], vec![core.clone(); r]).train(&c, DType::F64);
    let train = uniform(&c, &mut core, r, r, 1);
    let mut s = session(&c, Options::default());
    let size = 400.0;
    for (x, y) in [(&train, &train), (&train, &other), (&other, &train)] {
        close(s.inner_scaled(None, x, y, None).unwrap().0, Scaled::real(size), 1e-12 * size, "uniform");
    }
}

/// Checks all calls, for trains in the memory of `location`.
pub fn check(c: &Arc<Context>, location: Location, norms: &[NormMethod]) {
    for (dtype, tolerance) in TYPES {
        let ranges = if tolerance > 1e-10 { [20, 30] } else { [165, 330] };
        for range in ranges {
            for cyclic in [false, true] {
                let complex = dtype.is_complex();
                let x = Plain::uniform_ranks(5, 2, 3, cyclic, complex, 301);
                let y = Plain::uniform_ranks(5, 2, 2, cyclic, complex, 302);
                let there = |plain: &Plain| placed(c, plain.train(c, dtype), location);
                let (tx, ty) = (there(&x), there(&y));
                let (gx, gy) = (there(&gauged(&x, range, 1)), there(&gauged(&y, range, 2)));
                let mut s = session(c, Options::default());
                let size_of_both = s.norm(None, &tx, None).unwrap().0 * s.norm(None, &ty, None).unwrap().0;
                let size = 100.0 * tolerance * size_of_both;
                let what = format!("{dtype:?}, 2^{range}, cyclic {cyclic}");
                let wanted = s.inner_scaled(None, &tx, &ty, None).unwrap().0;
                for (a, b) in [(&gx, &gy), (&tx, &gy), (&gx, &ty)] {
                    close(s.inner_scaled(None, a, b, None).unwrap().0, wanted, size, &what);
                }
                let mut sums = [Scaled::ZERO; 4];
                s.gram(None, &[&gx, &gy], &[&gx, &gy], &mut sums, None).unwrap();
                close(sums[2], wanted, size, &format!("gram, {what}"));
                let norm = s.norm_scaled(None, &tx, None).unwrap().0;
                for &norm_method in norms {
                    let mut s = session(c, Options { norm_method, ..Options::default() });
                    let found = s.norm_scaled(None, &gx, None).unwrap().0;
                    close(found, norm, 100.0 * tolerance * norm.plain(DType::F64).0.re, &what);
                    let found = s.distance_scaled(None, &gx, &tx, None).unwrap().0;
                    close(found, Scaled::ZERO, 100.0 * tolerance * norm.plain(DType::F64).0.re, &what);
                }
                close(sums[0], norm.times(norm), 100.0 * tolerance * norm.times(norm).plain(DType::F64).0.re, &what);
                let one = [C::new(1.0, 0.0), C::new(0.0, 0.0), C::new(0.0, 0.0), C::new(1.0, 0.0)];
                for found in s.expect_local(None, &gx, &one, &[0, 1, 2, 3, 4], None).unwrap().iter() {
                    assert!((found.re - 1.0).abs() <= 100.0 * tolerance, "{what}: {found}");
                }
                for found in s.correlation(None, &gx, &one, &one, None).unwrap().iter() {
                    assert!((found.re - 1.0).abs() <= 100.0 * tolerance, "{what}: {found}");
                }
                let real = if tolerance > 1e-10 { DType::F32 } else { DType::F64 };
                let unit = identity(c, real, &[2; 5]).unwrap();
                let h = ising(c, real, 5, 1.0, 0.5, false).unwrap();
                for (operator, size) in [(&unit, size), (&h, 10.0 * size)] {
                    let by = |s: &mut Contraction, a, b| {
                        s.sandwich(None, &Trains::new(b, Some(operator), a), None).unwrap().0
                    };
                    let wanted = by(&mut s, &ty, &tx);
                    close(by(&mut s, &gy, &gx), wanted, size, &format!("sandwich, {what}"));
                }
                let wanted = s.rayleigh(None, &tx, &h, None).unwrap().quotient;
                close(s.rayleigh(None, &gx, &h, None).unwrap().quotient, wanted, 1e3 * tolerance, &what);
            }
        }
    }
}

#[test]
fn the_size_of_what_a_bond_carries_changes_nothing() {
    check(&cpu(2), Location::Host, &[NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr]);
}

/// Checks distances from zero trains with large cores, in the memory of `location`.
pub fn check_zeros(c: &Arc<Context>, location: Location) {
    for (dtype, s) in [(DType::F32, 100), (DType::F64, 900)] {
        let big = 2.0f64.powi(s);
        let plain = [1, 1, 1, 1];
        let of = |p: &Plain| placed(c, p.train(c, dtype), location);
        let one = of(&bare(&plain, vec![vec![1.0]; 3]));
        let small = of(&bare(&plain, vec![vec![1.0 / big], vec![1.0], vec![1.0]]));
        let zeros = [
            of(&bare(&plain, vec![vec![big], vec![big], vec![0.0]])),
            of(&bare(&plain, vec![vec![1.0], vec![2.0f64.powi(s / 2)], vec![0.0]])),
            of(&bare(&[1, 2, 2, 1], vec![vec![big, 0.0], vec![big, 0.0, 0.0, big], vec![0.0, 1.0]])),
        ];
        let mut session = session(c, Options::default());
        let mut distance = |x, y| session.distance_scaled(None, x, y, None).unwrap().0;
        for (k, zero) in zeros.iter().enumerate() {
            for (x, exponent) in [(&one, 1), (&small, 1 - i64::from(s))] {
                let wanted = Scaled { mantissa: C::new(0.5, 0.0), exponent };
                assert_eq!(distance(x, zero), wanted, "{dtype:?}, zero train {k}");
                assert_eq!(distance(zero, x), wanted, "{dtype:?}, zero train {k}");
            }
        }
    }
}

#[test]
fn a_zero_train_is_far_from_others_whatever_its_cores() {
    check_zeros(&cpu(1), Location::Host);
}

#[test]
fn large_numbers_that_meet_zeros_hide_nothing() {
    let c = cpu(1);
    for (dtype, s) in [(DType::F32, 100), (DType::F64, 900)] {
        let big = 2.0f64.powi(s);
        let of = |p: &Plain| p.train(&c, dtype);
        let one = of(&bare(&[1; 4], vec![vec![1.0]; 3]));
        let small = of(&bare(&[1; 4], vec![vec![1.0 / big], vec![1.0], vec![1.0]]));
        // The only entry is 2^-s, as that of `small`.
        let hidden = of(&bare(&[1, 1, 2, 1], vec![vec![big], vec![1.0, 1.0 / big], vec![0.0, 1.0 / big]]));
        let mut session = session(&c, Options::default());
        let wanted = Scaled { mantissa: C::new(0.5, 0.0), exponent: 1 - i64::from(s) };
        assert_eq!(session.norm_scaled(None, &hidden, None).unwrap().0, wanted, "{dtype:?}");
        assert_eq!(session.distance_scaled(None, &hidden, &small, None).unwrap().0, Scaled::ZERO, "{dtype:?}");
        assert_eq!(session.distance(None, &one, &hidden, None).unwrap().0, 1.0, "{dtype:?}");
    }
}

#[test]
fn the_bonds_of_an_operator_are_balanced_too() {
    let c = cpu(1);
    for (dtype, ranges) in [(DType::F32, [20, 50]), (DType::F64, [165, 400])] {
        for range in ranges {
            let g = [2.0f64.powi(-range), 2.0f64.powi(range)];
            let inner = (0..4).map(|at| g[at / 2] / g[at % 2]).collect();
            let x = bare(&[1, 2, 2, 1], vec![g.to_vec(), inner, vec![1.0 / g[0], 1.0 / g[1]]]).train(&c, dtype);
            let h = TrainMatrix::new("h", x, &[1; 3], &[1; 3]).unwrap();
            let y = bare(&[1; 4], vec![vec![1.0]; 3]).train(&c, dtype);
            let mut s = session(&c, Options::default());
            for (bra, ket, wanted) in [(&y, &y, 4.0), (&y, h.train(), 16.0), (h.train(), h.train(), 64.0)] {
                let found = s.sandwich(None, &Trains::new(bra, Some(&h), ket), None).unwrap().0;
                assert_eq!(found.plain(dtype).0.re, wanted, "{dtype:?}, 2^{range}");
            }
            assert_eq!(s.rayleigh(None, h.train(), &h, None).unwrap().quotient.plain(dtype).0.re, 4.0);
            let trains = Trains::new(&y, Some(&h), &y);
            let mut kept = Environments::new(&c, &Options::default(), &trains).unwrap();
            for bond in 0..=3 {
                assert_eq!(kept.value(None, &trains, bond).unwrap().plain(dtype).0.re, 4.0, "{dtype:?}, 2^{range}");
            }
        }
    }
}

#[test]
fn a_ring_of_one_core_is_balanced_too() {
    let c = cpu(1);
    let x = Plain::uniform_ranks(1, 3, 4, true, false, 303);
    let y = Plain::uniform_ranks(1, 3, 3, true, false, 304);
    let (tx, ty) = (x.train(&c, DType::F64), y.train(&c, DType::F64));
    let (gx, gy) = (gauged(&x, 330, 1).train(&c, DType::F64), gauged(&y, 330, 2).train(&c, DType::F64));
    let unit = identity(&c, DType::F64, &[3]).unwrap();
    let mut s = session(&c, Options::default());
    let size = 1e-12 * s.norm(None, &tx, None).unwrap().0 * s.norm(None, &ty, None).unwrap().0;
    let wanted = s.inner_scaled(None, &tx, &ty, None).unwrap().0;
    close(s.inner_scaled(None, &gx, &gy, None).unwrap().0, wanted, size, "inner");
    let found = s.sandwich(None, &Trains::new(&gx, Some(&unit), &gy), None).unwrap().0;
    close(found, wanted, size, "sandwich");
}

#[test]
fn a_uniform_train_is_balanced_too() {
    let c = cpu(1);
    let x = Plain::uniform_ranks(1, 2, 3, true, false, 305);
    let graded = gauged(&x, 330, 1);
    for method in [Method::Auto, Method::Full] {
        let of = |p: &Plain, repeat: u64, sites: usize| {
            let mut core: Vec<f64> = p.cores[0].iter().map(|v| v.re).collect();
            let train = uniform(&c, &mut core, sites, 3, 2);
            let mut s = session(&c, Options { repeat, method, ..Options::default() });
            s.inner_scaled(None, &train, &train, None).unwrap().0
        };
        for (repeat, sites) in [(7, 1), (1, 7), (2, 4)] {
            let (found, wanted) = (of(&graded, repeat, sites), of(&x, repeat, sites));
            let size = 1e-12 * wanted.plain(DType::F64).0.norm();
            close(found, wanted, size, &format!("{method:?}, {sites} cores, {repeat} times"));
        }
    }
}

/// The sum of conj(y) times the effective operator of one site times x, which is the value of the whole contraction.
fn applied(kept: &mut Environments, trains: &Trains<'_>, k: usize, [y, x]: [&Plain; 2]) -> Scaled {
    with_scalar!(kept.dtype(), "v", T => {
        let number = |v: &C| T::from_parts(v.re, v.im);
        let v: Vec<T> = x.cores[k].iter().map(number).collect();
        let mut out = vec![T::default(); y.cores[k].len()];
        let exponent = kept.apply(None, trains, (k, 1), &v, &mut out).unwrap();
        let sum = y.cores[k].iter().zip(&out).map(|(y, o)| y.conj() * C::new(o.re(), o.im())).sum();
        Ok::<_, Error>(Scaled::new(sum, exponent))
    })
    .unwrap()
}

/// Checks environments of trains whose bonds have values beyond the range of their type.
pub fn check_environments(c: &Arc<Context>, location: Location) {
    for (dtype, ranges, tolerance) in [(DType::F32, [20, 30], 1e-4), (DType::F64, [165, 330], 1e-11)] {
        for (range, cyclic) in [(ranges[0], false), (ranges[0], true), (ranges[1], false), (ranges[1], true)] {
            let x = Plain::uniform_ranks(5, 2, 3, cyclic, false, 301);
            let y = Plain::uniform_ranks(5, 2, 2, cyclic, false, 302);
            let there = |plain: &Plain| placed(c, plain.train(c, dtype), location);
            let (fx, fy) = (gauged(&x, range, 1), gauged(&y, range, 2));
            let (tx, ty, gx, gy) = (there(&x), there(&y), there(&fx), there(&fy));
            let mut s = session(c, Options::default());
            let size = tolerance * s.norm(None, &tx, None).unwrap().0 * s.norm(None, &ty, None).unwrap().0;
            let h = ising(c, dtype, 5, 1.0, 0.5, false).unwrap();
            for operator in [None, Some(&h)] {
                let wanted = s.sandwich(None, &Trains::new(&ty, operator, &tx), None).unwrap().0;
                let size = if operator.is_some() { 10.0 * size } else { size };
                let what = |bond: usize| format!("{dtype:?}, 2^{range}, cyclic {cyclic}, {bond}");
                let trains = Trains::new(&gy, operator, &gx);
                let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
                for bond in 0..=5 {
                    close(kept.value(None, &trains, bond).unwrap(), wanted, size, &what(bond));
                }
                // With one exponent, the result of `apply` must span less than the range at both bonds together.
                if range == ranges[0] {
                    for k in 0..5 {
                        close(applied(&mut kept, &trains, k, [&fy, &fx]), wanted, size, &format!("apply, {}", what(k)));
                    }
                }
                // The same environments with trains that become unbalanced, and with trains that become balanced again.
                let plain = Trains::new(&ty, operator, &tx);
                let mut kept = Environments::new(c, &Options::default(), &plain).unwrap();
                for trains in [&plain, &trains, &plain] {
                    kept.set_trains(trains, 0, 4).unwrap();
                    close(kept.value(None, trains, 2).unwrap(), wanted, size, &what(2));
                    kept.update_core(3);
                    close(kept.value(None, trains, 4).unwrap(), wanted, size, &what(4));
                }
            }
            let trains = Trains::new(&gy, None, &gx);
            let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
            let one = [C::new(1.0, 0.0), C::new(0.0, 0.0), C::new(0.0, 0.0), C::new(1.0, 0.0)];
            let wanted = s.inner_scaled(None, &ty, &tx, None).unwrap().0;
            for k in 0..5 {
                close(kept.local(None, &trains, k, &one).unwrap(), wanted, size, "local");
            }
        }
        check_paths(c, location, dtype);
    }
}

/// Checks factors that pass through cores of the identity before another core compensates them.
fn check_paths(c: &Arc<Context>, location: Location, dtype: DType) {
    let p = if dtype == DType::F32 { [27, 83] } else { [200, 664] };
    for (p, d, is_far) in [(p[0], 3, false), (p[0], 6, false), (p[1], 3, true), (p[1], 6, true)] {
        let power = |e: i32| 2f64.powi(e);
        let mut cores = vec![vec![power(p), power(-p)]];
        cores.extend((2..d).map(|_| vec![1.0, 0.0, 0.0, 1.0]));
        cores.push(vec![power(-p), power(p)]);
        let mut ranks = vec![2; d + 1];
        (ranks[0], ranks[d]) = (1, 1);
        let plain = bare(&ranks, cores);
        let x = placed(c, plain.train(c, dtype), location);
        let h = TrainMatrix::new("h", plain.train(c, dtype), &vec![1; d], &vec![1; d]).unwrap();
        for (operator, wanted) in [(None, 4.0), (Some(&h), 8.0)] {
            let trains = Trains::new(&x, operator, &x);
            let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
            let what = format!("{dtype:?}, 2^{p}, {d} cores, {wanted}");
            for bond in 0..=d {
                assert_eq!(kept.value(None, &trains, bond).unwrap().plain(DType::F64).0.re, wanted, "{what}, {bond}");
            }
            // The entries of the result span more than one exponent can hold.
            for sites in 0..if is_far { 0 } else { 3 } {
                // At the last bonds all large factors have been compensated.
                let k = d - sites;
                let v: Vec<C> = match sites {
                    0 => vec![C::new(1.0, 0.0)],
                    1 => plain.cores[k].clone(),
                    _ => plain.cores[d - 1].clone(),
                };
                let found = with_scalar!(dtype, "v", T => {
                    let v: Vec<T> = v.iter().map(|v| T::from_parts(v.re, 0.0)).collect();
                    let mut out = vec![T::default(); v.len()];
                    let exponent = kept.apply(None, &trains, (k, sites), &v, &mut out).unwrap();
                    let dot: f64 = v.iter().zip(&out).map(|(v, o)| v.re() * o.re()).sum();
                    Ok::<_, Error>(dot * 2f64.powi(exponent as i32))
                });
                assert_eq!(found.unwrap(), wanted, "{what}, {sites} sites");
            }
        }
        let trains = Trains::new(&x, None, &x);
        let mut kept = Environments::new(c, &Options::default(), &trains).unwrap();
        let found = with_scalar!(dtype, "v", T => {
            let mut out = vec![T::default(); 4];
            let exponent = kept.get(None, &trains, Side::Left, d - 1, &mut out).unwrap();
            Ok::<_, Error>((out.iter().map(|v| v.re()).collect::<Vec<f64>>(), exponent))
        });
        let (out, exponent) = found.unwrap();
        let entry = |e: i32| crate::trains::scaled::scale(1.0, i64::from(e) - exponent);
        let least = if dtype == DType::F32 { 2f64.powi(-149) } else { 0.0 };
        for (found, e) in out.iter().zip([2 * p, 0, 0, -2 * p]) {
            let wanted = entry(e);
            assert!(*found == wanted || wanted < least && *found == 0.0, "{dtype:?}, 2^{p}: {found:e}, not {wanted:e}");
        }
    }
}

#[test]
fn environments_hold_what_bonds_carry() {
    check_environments(&cpu(2), Location::Host);
}

#[test]
fn singular_values_in_one_core_are_no_reason_to_refuse() {
    let c = cpu(1);
    let mut x = Plain::uniform_ranks(4, 2, 3, false, false, 306);
    // Values 1, 2^-60, 2^-120 of a bond, in one of its two cores only.
    let r = x.ranks[2];
    for (at, v) in x.cores[2].iter_mut().enumerate() {
        *v *= 2.0f64.powi(-60 * (at % r) as i32);
    }
    let train = x.train(&c, DType::F32);
    let trains = Trains::new(&train, None, &train);
    let mut kept = Environments::new(&c, &Options::default(), &trains).unwrap();
    let wanted = session(&c, Options::default()).inner_scaled(None, &train, &train, None).unwrap().0;
    close(kept.value(None, &trains, 1).unwrap(), wanted, 1e-4 * wanted.plain(DType::F64).0.norm(), "value");
}

/// Checks sums of a train and a product state of the same norm. The parts of the train are orthogonal or
/// (`is_positive`) nearly parallel. With each core the estimates of the two norms differ more, although there is
/// nothing to balance.
pub fn check_sums(c: &Arc<Context>, location: Location) {
    for (dtype, d, tolerance) in [(DType::F32, 300, 1e-4), (DType::F64, 1500, 1e-10)] {
        for is_positive in [false, true] {
            let mut a = Plain::uniform_ranks(d, 2, 8, false, false, 307);
            if is_positive {
                a.cores.iter_mut().flatten().for_each(|v| *v = C::new(v.re.abs(), 0.0));
            }
            let mut s = session(c, Options::default());
            let norm = s.norm_scaled(None, &a.train(c, dtype), None).unwrap().0;
            // Scale both trains to norm 1, equally at each core.
            let by = |total: f64| (total / d as f64).exp();
            let log = norm.log_abs();
            a.cores.iter_mut().flatten().for_each(|v| *v *= by(-log));
            let b = Plain {
                modes: a.modes.clone(),
                ranks: vec![1; d + 1],
                cores: vec![vec![C::new(0.8, 0.0), C::new(0.6, 0.0)]; d],
            };
            let sum = stacked(&a, &b);
            let there = |plain: &Plain| placed(c, plain.train(c, dtype), location);
            let (a, b, sum) = (there(&a), there(&b), there(&sum));
            let mut of = |x, y| s.inner_scaled(None, x, y, None).unwrap().0;
            let (aa, bb, ab) = (of(&a, &a), of(&b, &b), of(&a, &b));
            let wanted = aa.plus(bb).plus(ab).plus(ab);
            let what = format!("{dtype:?}, positive {is_positive}");
            let size = tolerance * wanted.plain(DType::F64).0.norm();
            close(of(&sum, &sum), wanted, size, &what);
            close(of(&sum, &b), bb.plus(ab), size, &what);
            let h = identity(c, dtype, &vec![2; d]).unwrap();
            let found = s.sandwich(None, &Trains::new(&sum, Some(&h), &sum), None).unwrap().0;
            close(found, wanted, size, &format!("sandwich, {what}"));
            let mut sums = [Scaled::ZERO; 1];
            s.inner_batch(None, &[&sum], &[&sum], &mut sums, None).unwrap();
            close(sums[0], wanted, size, &format!("batch, {what}"));
        }
    }
}

/// The sum of two open trains as one train.
fn stacked(a: &Plain, b: &Plain) -> Plain {
    let d = a.modes.len();
    let sum = |k: usize| if k == 0 || k == d { 1 } else { a.ranks[k] + b.ranks[k] };
    let ranks: Vec<usize> = (0..=d).map(sum).collect();
    let mut cores = Vec::new();
    for k in 0..d {
        let (r, n, s) = (ranks[k], a.modes[k], ranks[k + 1]);
        let mut core = vec![C::new(0.0, 0.0); r * n * s];
        for (of, is_second) in [(a, false), (b, true)] {
            let (p, q) = (of.ranks[k], of.ranks[k + 1]);
            let first =
                |bond: usize, own: usize, all: usize| if is_second && bond > 0 && bond < d { all - own } else { 0 };
            let (row, column) = (first(k, p, r), first(k + 1, q, s));
            for (at, v) in of.cores[k].iter().enumerate() {
                core[row + at % p + r * (at / p % n + n * (column + at / (p * n)))] = *v;
            }
        }
        cores.push(core);
    }
    Plain { modes: a.modes.clone(), ranks, cores }
}

#[test]
fn sums_of_long_trains_keep_both() {
    check_sums(&cpu(2), Location::Host);
}
