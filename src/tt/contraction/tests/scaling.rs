//! Exponents of results, and changes that must not change a bit.

use super::support::session;
use crate::scalar::DType;
use crate::trains::Options;
use crate::trains::info::Outcome;
use crate::trains::options::{Method, NormMethod, Scaling};
use crate::trains::testing::{C, Plain, TYPES, cpu};

fn bits(value: C) -> (u64, u64) {
    (value.re.to_bits(), value.im.to_bits())
}

#[test]
fn scaling_changes_no_bit() {
    let c = cpu(2);
    for (dtype, _) in TYPES {
        for (cyclic, methods) in
            [(false, &[Method::Open, Method::Reduced][..]), (true, &[Method::Full, Method::Reduced, Method::Blocked])]
        {
            let x = Plain::uniform_ranks(8, 2, 5, cyclic, dtype.is_complex(), 41);
            let y = Plain::uniform_ranks(8, 2, 4, cyclic, dtype.is_complex(), 42);
            let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
            for &method in methods {
                let with = |scaling| {
                    let options = Options { method, scaling, ..Options::default() };
                    let (value, info) = session(&c, options).inner(None, &tx, &ty, None).unwrap();
                    (bits(value), info.scaled)
                };
                let (never, always) = (with(Scaling::Never), with(Scaling::Always));
                assert_eq!((never.1, always.1), (false, true));
                assert_eq!(never.0, always.0, "{dtype:?} {method:?}");
                assert_eq!(with(Scaling::Auto).0, always.0, "{dtype:?} {method:?}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (one, three) = (cpu(1), cpu(3));
    for (dtype, _) in TYPES {
        for (cyclic, rank) in [(false, 48), (true, 9)] {
            let x = Plain::uniform_ranks(6, 2, rank, cyclic, dtype.is_complex(), 51);
            let y = Plain::uniform_ranks(6, 2, rank, cyclic, dtype.is_complex(), 52);
            let mut results = Vec::new();
            for c in [&one, &three] {
                let (tx, ty) = (x.train(c, dtype), y.train(c, dtype));
                let mut found = Vec::new();
                for method in [Method::Auto, Method::Full, Method::Reduced, Method::Blocked, Method::Halves] {
                    let mut s = session(c, Options { method, ..Options::default() });
                    found.push(bits(s.inner(None, &tx, &ty, None).unwrap().0));
                }
                for norm_method in [NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
                    let mut s = session(c, Options { norm_method, ..Options::default() });
                    found.push((s.norm(None, &tx, None).unwrap().0.to_bits(), 0));
                }
                results.push(found);
            }
            assert_eq!(results[0], results[1], "{dtype:?} cyclic {cyclic}");
        }
    }
}

#[test]
fn a_hundred_thousand_sites_neither_overflow_nor_underflow() {
    let c = cpu(2);
    let d = 100_000;
    for (dtype, _) in TYPES {
        for factor in [2f64.powi(20), 2f64.powi(-20)] {
            let ranks = |cyclic: bool| {
                let mut ranks = vec![2; d + 1];
                if !cyclic {
                    (ranks[0], ranks[d]) = (1, 1);
                }
                ranks
            };
            for cyclic in [false, true] {
                // Every core has `factor` on the diagonal, for both mode index values.
                let ranks = ranks(cyclic);
                let cores = (0..d).map(|k| {
                    let (r, r2) = (ranks[k], ranks[k + 1]);
                    let entry = |j: usize| if j % r == j / (2 * r) { factor } else { 0.0 };
                    (0..r * 2 * r2).map(|j| C::new(entry(j), 0.0)).collect()
                });
                let x = Plain { modes: vec![2; d], cores: cores.collect(), ranks };
                let t = x.train(&c, dtype);
                let mut s = session(&c, Options::default());
                let (found, info) = s.inner_scaled(None, &t, &t, None).unwrap();
                // The product has 2^d terms, and twice as many for a ring with its two equal diagonal entries.
                let exponent = d as i64 + 2 * d as i64 * factor.log2() as i64 + if cyclic { 2 } else { 0 };
                assert_eq!((found.mantissa, found.exponent), (C::new(0.5, 0.0), exponent + 1), "{dtype:?} {info:?}");
                let (plain, info) = s.inner(None, &t, &t, None).unwrap();
                let (value, outcome) =
                    if factor > 1.0 { (f64::INFINITY, Outcome::Overflow) } else { (0.0, Outcome::Underflow) };
                assert_eq!((plain.re, info.outcome), (value, outcome));
                let (norm, _) = s.norm_scaled(None, &t, None).unwrap();
                let wanted = (exponent as f64 / 2.0) * 2f64.ln();
                assert!((norm.log_abs() - wanted).abs() < 1e-9 * wanted.abs());
            }
        }
    }
}

#[test]
fn cores_near_the_ends_of_the_range_are_contracted_with_care() {
    let c = cpu(2);
    for (dtype, far) in [(DType::F64, 900), (DType::CF64, 900), (DType::F32, 110), (DType::CF32, 110)] {
        for cyclic in [false, true] {
            let x = Plain::uniform_ranks(5, 2, 3, cyclic, dtype.is_complex(), 61);
            let y = Plain::uniform_ranks(5, 2, 4, cyclic, dtype.is_complex(), 62);
            let plain = [x.train(&c, dtype), y.train(&c, dtype)];
            for exponent in [far, -far] {
                let [tx, ty] = [&x, &y].map(|p| p.clone().scaled(2f64.powi(exponent)).train(&c, dtype));
                let methods = [Method::Auto, Method::Full, Method::Reduced, Method::Blocked, Method::Halves];
                for method in methods {
                    let mut s = session(&c, Options { method, ..Options::default() });
                    let (near, _) = s.inner_scaled(None, &plain[0], &plain[1], None).unwrap();
                    let (found, _) = s.inner_scaled(None, &tx, &ty, None).unwrap();
                    assert_eq!(found.exponent - near.exponent, 10 * i64::from(exponent), "{dtype:?} {method:?}");
                    let error = (found.mantissa - near.mantissa).norm();
                    assert!(error < if dtype == DType::F32 || dtype == DType::CF32 { 1e-5 } else { 1e-13 });
                }
                let mut s = session(&c, Options { norm_method: NormMethod::Qr, ..Options::default() });
                let (near, _) = s.norm_scaled(None, &plain[0], None).unwrap();
                let (found, _) = s.norm_scaled(None, &tx, None).unwrap();
                assert_eq!(found.exponent - near.exponent, 5 * i64::from(exponent), "{dtype:?} QR");
            }
        }
    }
}

#[test]
fn never_scaling_gives_infinities_and_zeros() {
    let c = cpu(1);
    for (factor, value) in [(2f64.powi(60), f64::INFINITY), (2f64.powi(-60), 0.0)] {
        let x = Plain::uniform_ranks(20, 2, 2, false, false, 71).scaled(factor);
        let t = x.train(&c, DType::F64);
        let mut s = session(&c, Options { scaling: Scaling::Never, ..Options::default() });
        let (found, info) = s.inner(None, &t, &t, None).unwrap();
        assert!(!info.scaled);
        assert!(found.re == value || found.re.is_nan(), "{found}");
        let (found, _) = session(&c, Options::default()).inner_scaled(None, &t, &t, None).unwrap();
        assert!(found.is_finite() && found.exponent.abs() > 2000);
    }
}
