//! Rings: every cut, block size and method, halved Hermitian sums, rings beside open trains, mixed types.

use super::support::session;
use crate::scalar::DType;
use crate::trains::Options;
use crate::trains::options::{Conjugate, Method, NormMethod};
use crate::trains::testing::{Plain, TYPES, cpu, inner};

fn ring(complex: bool, seed: u64) -> (Plain, Plain) {
    let modes = [2, 3, 1, 4, 2, 3];
    let x = Plain::random(&modes, &[3, 4, 2, 5, 3, 4, 3], complex, seed);
    let y = Plain::random(&modes, &[4, 2, 3, 3, 5, 2, 4], complex, seed + 1);
    (x, y)
}

#[test]
fn every_cut_of_every_algorithm_gives_the_same_number() {
    let c = cpu(2);
    for (dtype, tolerance) in TYPES {
        let (x, y) = ring(dtype.is_complex(), 5);
        let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
        let size = x.norm() * y.norm();
        for conjugate in [Conjugate::Bra, Conjugate::None] {
            let wanted = inner(&x, &y, conjugate == Conjugate::Bra);
            for method in [Method::Full, Method::Reduced, Method::Blocked, Method::Halves] {
                for cut in 0..6 {
                    let options = Options { method, cut: Some(cut), conjugate, ..Options::default() };
                    let (value, info) = session(&c, options).inner(None, &tx, &ty, None).unwrap();
                    let error = (value - wanted).norm();
                    assert!(error <= tolerance * size, "{dtype:?} {method:?} cut {cut}: {value}, not {wanted}");
                    assert_eq!((info.cut, info.method), (cut as i64, method));
                    assert_eq!(info.pairs, (x.ranks[cut] * y.ranks[cut]) as i64);
                }
            }
        }
    }
}

#[test]
fn every_block_gives_the_same_number() {
    let c = cpu(2);
    for (dtype, tolerance) in TYPES {
        let (x, y) = ring(dtype.is_complex(), 9);
        let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
        let (wanted, size) = (inner(&x, &y, true), x.norm() * y.norm());
        for block in 1..=12 {
            let options = Options { method: Method::Blocked, cut: Some(0), block, ..Options::default() };
            let (value, info) = session(&c, options).inner(None, &tx, &ty, None).unwrap();
            assert!((value - wanted).norm() <= tolerance * size, "{dtype:?} B = {block}: {value}, not {wanted}");
            assert_eq!(info.block, block as i64);
        }
        for block in 1..=6 {
            let options = Options { method: Method::Blocked, cut: Some(0), block, ..Options::default() };
            let options = Options { norm_method: NormMethod::Inner, ..options };
            let (norm, info) = session(&c, options).norm(None, &tx, None).unwrap();
            assert!(info.halved);
            assert!((norm - x.norm()).abs() <= tolerance * x.norm(), "{dtype:?} B = {block}: {norm}");
        }
    }
}

#[test]
fn half_of_a_hermitian_sum_is_enough() {
    let c = cpu(2);
    for (dtype, tolerance) in TYPES {
        let (x, _) = ring(dtype.is_complex(), 11);
        let (tx, copy) = (x.train(&c, dtype), x.train(&c, dtype));
        let options = Options { cut: Some(3), method: Method::Blocked, ..Options::default() };
        let mut s = session(&c, options);
        let (whole, all) = s.inner(None, &tx, &copy, None).unwrap();
        let (half, info) = s.inner(None, &tx, &tx, None).unwrap();
        assert!((whole - half).norm() <= tolerance * whole.norm(), "{dtype:?}: {half}, not {whole}");
        assert_eq!((all.halved, info.halved, half.im), (false, true, 0.0));
        assert!(info.flops < 0.7 * all.flops);
        // Without conjugation the terms of (p, q) and (q, p) of a complex train are not conjugates of each other.
        let options = Options { conjugate: Conjugate::None, ..s.options().clone() };
        let (value, info) = session(&c, options).inner(None, &tx, &tx, None).unwrap();
        assert_eq!(info.halved, !dtype.is_complex());
        assert!((value - inner(&x, &x, false)).norm() <= tolerance * whole.norm());
    }
}

#[test]
fn the_cheapest_cut_is_found() {
    let c = cpu(1);
    let x = Plain::random(&[2; 7], &[4, 3, 1, 5, 2, 3, 2, 4], true, 3);
    let y = Plain::random(&[2; 7], &[2, 3, 4, 1, 2, 3, 5, 2], true, 4);
    let (tx, ty) = (x.train(&c, DType::CF64), y.train(&c, DType::CF64));
    let mut forced = session(&c, Options { method: Method::Blocked, ..Options::default() });
    let best = forced.plan_inner(&tx, &ty).unwrap();
    for cut in 0..7 {
        let options = Options { method: Method::Blocked, cut: Some(cut), ..Options::default() };
        assert!(session(&c, options).plan_inner(&tx, &ty).unwrap().flops >= best.flops);
    }
    assert!([2, 3, 4].contains(&best.cut) && best.pairs == 4 || best.pairs == 5);
    // A bond of rank 1 in both trains makes the ring open.
    let x = Plain::random(&[2; 4], &[3, 1, 3, 3, 3], false, 5);
    let y = Plain::random(&[2; 4], &[2, 1, 4, 2, 2], false, 6);
    let (tx, ty) = (x.train(&c, DType::F64), y.train(&c, DType::F64));
    let options = Options { method: Method::Open, ..Options::default() };
    let (value, info) = session(&c, options).inner(None, &tx, &ty, None).unwrap();
    assert_eq!((info.cut, info.pairs), (1, 1));
    assert!((value - inner(&x, &y, true)).norm() <= 1e-13 * x.norm() * y.norm());
}

#[test]
fn open_trains_meet_rings() {
    let c = cpu(2);
    for (dtype, tolerance) in TYPES {
        let complex = dtype.is_complex();
        let x = Plain::random(&[2, 3, 2, 3], &[1, 3, 3, 2, 1], complex, 21);
        let y = Plain::random(&[2, 3, 2, 3], &[3, 2, 4, 2, 3], complex, 22);
        let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
        for (a, b, ta, tb) in [(&x, &y, &tx, &ty), (&y, &x, &ty, &tx)] {
            for method in [Method::Auto, Method::Full, Method::Reduced, Method::Blocked, Method::Halves] {
                let options = Options { method, ..Options::default() };
                let (value, _) = session(&c, options).inner(None, ta, tb, None).unwrap();
                let wanted = inner(a, b, true);
                assert!((value - wanted).norm() <= tolerance * x.norm() * y.norm(), "{dtype:?} {method:?}");
            }
        }
    }
}

#[test]
fn a_real_train_meets_a_complex_one_as_it_is() {
    let c = cpu(2);
    for (real, complex, tolerance) in [(DType::F64, DType::CF64, 1e-13), (DType::F32, DType::CF32, 2e-6)] {
        for ends in [1, 3] {
            let x = Plain::random(&[2, 3, 2, 3, 2], &[ends, 3, 5, 4, 2, ends], false, 31);
            let y = Plain::random(&[2, 3, 2, 3, 2], &[ends, 4, 3, 4, 3, ends], true, 32);
            let (tx, ty) = (x.train(&c, real), y.train(&c, complex));
            let methods = [Method::Auto, Method::Full, Method::Reduced, Method::Blocked, Method::Halves];
            for method in methods {
                for conjugate in [Conjugate::Bra, Conjugate::None] {
                    let mut s = session(&c, Options { method, conjugate, ..Options::default() });
                    for (a, b, ta, tb) in [(&x, &y, &tx, &ty), (&y, &x, &ty, &tx)] {
                        let (value, _) = s.inner(None, ta, tb, None).unwrap();
                        let wanted = inner(a, b, conjugate == Conjugate::Bra);
                        let error = (value - wanted).norm();
                        assert!(error <= tolerance * x.norm() * y.norm(), "{method:?} {conjugate:?}: {value} {wanted}");
                    }
                }
            }
            let (distance, _) = session(&c, Options::default()).distance(None, &tx, &ty, None).unwrap();
            let wanted = x.full().iter().zip(y.full()).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>().sqrt();
            assert!((distance - wanted).abs() <= 10.0 * tolerance * wanted, "{distance}, not {wanted}");
        }
    }
}
