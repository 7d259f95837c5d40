//! Norms and distances against those of dense tensors.

use super::support::session;
use crate::contraction::Contraction;
use crate::contraction::once::Once;
use crate::scalar::DType;
use crate::tensor::train::TensorTrain;
use crate::trains::Options;
use crate::trains::info::Kernel;
use crate::trains::options::{Conjugate, Method, NormMethod};
use crate::trains::testing::{Plain, TYPES, cpu};

const WAYS: [NormMethod; 4] = [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr];

#[test]
fn norms_are_those_of_the_dense_tensor() {
    let c = cpu(2);
    for (dtype, tolerance) in TYPES {
        for cyclic in [false, true] {
            for (d, rank) in [(1, 3), (2, 3), (5, 7), (8, 4)] {
                let x = Plain::uniform_ranks(d, 3, rank, cyclic, dtype.is_complex(), 81);
                let t = x.train(&c, dtype);
                for norm_method in WAYS {
                    for conjugate in [Conjugate::Bra, Conjugate::None] {
                        let mut s = session(&c, Options { norm_method, conjugate, ..Options::default() });
                        let (norm, info) = s.norm(None, &t, None).unwrap();
                        let error = (norm - x.norm()).abs();
                        assert!(error <= tolerance * x.norm(), "{dtype:?} d = {d} {norm_method:?}: {norm} {info:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn large_ranks_take_one_triangle() {
    let c = cpu(2);
    for (dtype, tolerance) in TYPES {
        let ranks = [1, 6, 36, 200, 200, 200, 200, 200, 36, 6, 1];
        let x = Plain::random(&[6; 10], &ranks, dtype.is_complex(), 82);
        let t = x.train(&c, dtype);
        let by = |norm_method| session(&c, Options { norm_method, ..Options::default() }).norm(None, &t, None).unwrap();
        let (inner, whole) = by(NormMethod::Inner);
        let (triangle, info) = by(NormMethod::Triangle);
        let (qr, _) = by(NormMethod::Qr);
        assert!((inner - triangle).abs() <= tolerance * inner, "{dtype:?}: {triangle}, not {inner}");
        assert!((inner - qr).abs() <= 10.0 * tolerance * inner, "{dtype:?}: {qr}, not {inner}");
        assert!(info.flops < 0.6 * whole.flops);
    }
}

#[test]
fn norms_are_real_and_never_negative() {
    let c = cpu(1);
    for dtype in [DType::F64, DType::CF64] {
        let mut x = Plain::uniform_ranks(4, 2, 3, false, dtype.is_complex(), 83);
        // The last two slices cancel, so the tensor is 0, although its cores are not.
        x.cores[3] = x.cores[3].iter().map(|_| crate::scalar::Complex::new(0.0, 0.0)).collect();
        let t = x.train(&c, dtype);
        for norm_method in WAYS {
            let (norm, info) = session(&c, Options { norm_method, ..Options::default() }).norm(None, &t, None).unwrap();
            assert_eq!((norm, norm.is_sign_positive()), (0.0, true), "{dtype:?} {norm_method:?} {info:?}");
        }
    }
}

/// x + factor z, as a train of rank r + 1 for a product z of unit vectors.
pub fn nudged(x: &Plain, factor: f64) -> Plain {
    let d = x.modes.len();
    let mut cores = Vec::new();
    for k in 0..d {
        let (r, n, r2) = (x.ranks[k], x.modes[k], x.ranks[k + 1]);
        let (wide, wide2) = (if k == 0 { 1 } else { r + 1 }, if k == d - 1 { 1 } else { r2 + 1 });
        let mut core = vec![crate::scalar::Complex::new(0.0, 0.0); wide * n * wide2];
        for b in 0..r2 {
            for i in 0..n {
                for a in 0..r {
                    core[a + wide * (i + n * b)] = x.cores[k][a + r * (i + n * b)];
                }
            }
        }
        core[(wide - 1) + wide * n * (wide2 - 1)] += if k == 0 { factor } else { 1.0 };
        cores.push((vec![wide, n, wide2], core));
    }
    Plain::of_cores(cores)
}

#[test]
fn distances_keep_the_digits_that_inner_products_lose() {
    let c = cpu(2);
    let x = Plain::uniform_ranks(7, 2, 5, false, false, 84);
    for tiny in [1e-3, 1e-8, 1e-11] {
        let y = nudged(&x, tiny);
        let (tx, ty) = (x.train(&c, DType::F64), y.train(&c, DType::F64));
        let (distance, _) = session(&c, Options::default()).distance(None, &tx, &ty, None).unwrap();
        let bound = 1e-14 * x.norm();
        assert!((distance - tiny).abs() <= bound, "{distance}, not {tiny}");
    }
}

#[test]
fn distances_are_those_of_the_dense_tensors() {
    let c = cpu(2);
    for (dtype, tolerance) in TYPES {
        for (rx, ry) in [(1, 1), (1, 3), (2, 3)] {
            let complex = dtype.is_complex();
            let x = Plain::random(&[3, 2, 4, 2], &[rx, 3, 4, 2, rx], complex, 85);
            let y = Plain::random(&[3, 2, 4, 2], &[ry, 2, 5, 3, ry], complex, 86);
            let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
            let wanted = x.full().iter().zip(y.full()).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>().sqrt();
            let mut s = session(&c, Options::default());
            let (found, info) = s.distance(None, &tx, &ty, None).unwrap();
            assert!((found - wanted).abs() <= tolerance * wanted, "{dtype:?}: {found}, not {wanted}: {info:?}");
            assert_eq!(s.distance(None, &tx, &tx, None).unwrap().0, 0.0);
        }
    }
}

/// The same tensor times 2^(sum of `by`), with core k times 2^by\[k\].
fn graded(x: &Plain, by: &[i32]) -> Plain {
    let mut y = Plain { modes: x.modes.clone(), ranks: x.ranks.clone(), cores: x.cores.clone() };
    for (core, e) in y.cores.iter_mut().zip(by) {
        core.iter_mut().for_each(|v| *v *= crate::trains::scaled::scale(1.0, i64::from(*e)));
    }
    y
}

#[test]
fn factors_may_stand_in_any_core() {
    let c = cpu(2);
    for (dtype, tolerance) in TYPES {
        // Cores as large as the type allows. In single precision there is a margin for the entries themselves.
        let top = if tolerance > 1e-10 { 122 } else { 1018 };
        let patterns: [[i32; 4]; 5] = [
            [top, -top, top, -top],
            [-top, top, top, top],
            [-top, -top, -top, -top],
            [0, top, -top, 0],
            [0, 0, top, top],
        ];
        for cyclic in [false, true] {
            let x = Plain::uniform_ranks(4, 2, 3, cyclic, dtype.is_complex(), 87);
            let other = || Plain::uniform_ranks(4, 2, 2, true, dtype.is_complex(), 88);
            let y = if cyclic { other() } else { nudged(&x, 0.25) };
            let near = |found: crate::trains::Scaled, wanted: crate::trains::Scaled, shift: i64, what: &str| {
                let back = crate::trains::Scaled { exponent: found.exponent - shift, ..found };
                let minus = crate::trains::Scaled { mantissa: -wanted.mantissa, ..wanted };
                let error = back.plus(minus);
                let limit = 40.0 * tolerance * wanted.plain(DType::F64).0.norm();
                assert!(
                    error.plain(DType::F64).0.norm() <= limit,
                    "{dtype:?} {cyclic} {what}: {back:?}, not {wanted:?}"
                );
            };
            let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
            for one in &patterns {
                for other in &patterns {
                    let (a, b) = (graded(&x, one).train(&c, dtype), graded(&y, other).train(&c, dtype));
                    let [p, q] = [one, other].map(|by| by.iter().map(|e| i64::from(*e)).sum::<i64>());
                    for norm_method in WAYS {
                        let mut s = session(&c, Options { norm_method, ..Options::default() });
                        let wanted = s.norm_scaled(None, &tx, None).unwrap().0;
                        near(s.norm_scaled(None, &a, None).unwrap().0, wanted, p, &format!("{norm_method:?} {one:?}"));
                    }
                    let mut s = session(&c, Options::default());
                    let wanted = s.inner_scaled(None, &tx, &ty, None).unwrap().0;
                    near(s.inner_scaled(None, &a, &b, None).unwrap().0, wanted, p + q, &format!("{one:?} {other:?}"));
                    if p == q {
                        let wanted = s.distance_scaled(None, &tx, &ty, None).unwrap().0;
                        near(
                            s.distance_scaled(None, &a, &b, None).unwrap().0,
                            wanted,
                            p,
                            &format!("{one:?} {other:?}"),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn options_without_effect_on_one_call_are_refused() {
    let c = cpu(1);
    let [open, ring] =
        [false, true].map(|cyclic| Plain::uniform_ranks(3, 2, 3, cyclic, false, 84).train(&c, DType::F64));
    let said = |call, o: Options, train: &TensorTrain| match Contraction::new(&c, o)
        .unwrap()
        .expect_used(call, &[train, train])
    {
        Ok(()) => String::new(),
        Err(e) => e.to_string(),
    };
    let d = Options::default;
    let qr = || Options { norm_method: NormMethod::Qr, ..d() };
    for (call, o, on_open, on_ring) in [
        (Once::Inner, qr(), "norm_method: is QR, an inner product does not use it", "norm_method"),
        (Once::Distance, qr(), "norm_method: is QR, a distance does not use it", "norm_method"),
        (Once::Norm, qr(), "", ""),
        (
            Once::Norm,
            Options { conjugate: Conjugate::None, ..d() },
            "conjugate: is NONE, a norm does not use it",
            "conj",
        ),
        (Once::Inner, Options { conjugate: Conjugate::None, ..d() }, "", ""),
        (
            Once::Inner,
            Options { assume_hermitian: true, ..d() },
            "assume_hermitian: is 1, an inner",
            "assume_hermitian",
        ),
        (
            Once::Distance,
            Options { method: Method::Open, ..d() },
            "method: is OPEN, a distance by QR factors",
            "method",
        ),
        (Once::Norm, Options { method: Method::Full, ..qr() }, "method: is FULL, a norm by QR factors does", "method"),
        (Once::Norm, Options { method: Method::Full, ..d() }, "", ""),
        (Once::Norm, Options { kernel: Some(Kernel::Chain), ..qr() }, "kernel: is CHAIN, a norm by QR", "kernel"),
        (Once::Distance, Options { block: 3, ..d() }, "block: is 3, a distance by QR factors does", "block"),
        (Once::Inner, Options { block: 3, ..d() }, "block: is 3, open trains have one boundary pair", ""),
        (Once::Inner, Options { cut: Some(1), ..d() }, "cut: belongs to rings, the trains are open", ""),
        (
            Once::Norm,
            Options { norm_method: NormMethod::Triangle, ..d() },
            "",
            "norm_method: is TRIANGLE, which is for open",
        ),
    ] {
        for (train, wanted) in [(&open, on_open), (&ring, on_ring)] {
            let found = said(call, o.clone(), train);
            assert!(found.starts_with(wanted) && found.is_empty() == wanted.is_empty(), "{call:?} {o:?}: {found}");
        }
    }
}
