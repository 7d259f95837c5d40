//! Inner products by dense halves against the CPU.

use std::sync::Arc;

use super::inputs::{Plain, TYPES, mixed, options};
use super::oracle::{assert_close, bound, common, epsilon, expected};
use crate::context::Context;
use crate::contraction::Contraction;
use crate::scalar::DType;
use crate::tensor::Location;
use crate::trains::options::{Conjugate, Method};
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

/// Checks one product by dense halves, of trains in host memory and on the device.
fn check(context: &Arc<Context>, x: &Plain, y: &Plain, types: (DType, DType), given: &Options) {
    let (want, size) = expected(x, y, types, given.conjugate);
    let mut session = Contraction::new(context, given.clone()).unwrap();
    for location in [Location::Host, Location::Device] {
        let (a, b) = (x.train(context, types.0, location), y.train(context, types.1, location));
        let (got, info) = session.inner_scaled(None, &a, &b, None).unwrap();
        assert_eq!(info.method, Method::Halves);
        let what = format!("{types:?} {:?} {:?} {:?} {given:?}", x.modes, x.ranks, y.ranks);
        assert_close(&what, got, want, size, bound(x, y, common(types)));
        assert_eq!(session.inner_scaled(None, &a, &b, None).unwrap().0, got, "{what}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn dense_halves_of_every_shape_agree_with_the_cpu() {
    let context = gpu(0);
    for types in mixed() {
        for (modes, rx, ry) in [
            (vec![5], vec![1, 1], vec![1, 1]),
            (vec![5], vec![3, 3], vec![7, 7]),
            (vec![1, 1], vec![1, 4, 1], vec![1, 1, 1]),
            (vec![3, 4], vec![1, 30, 1], vec![1, 9, 1]),
            (vec![2, 1, 3, 2], vec![4, 17, 3, 8, 4], vec![5, 6, 20, 4, 5]),
            (vec![3, 1, 5, 2, 3], vec![1, 40, 33, 17, 3, 1], vec![1, 2, 64, 50, 90, 1]),
            (vec![4, 3, 3], vec![3, 1, 9, 3], vec![1, 5, 1, 1]),
        ] {
            let (x, y) = (Plain::random(&modes, &rx, 5, 1.0), Plain::random(&modes, &ry, 6, 1.0));
            for conjugate in [Conjugate::Bra, Conjugate::None] {
                for cut in [None, Some(0), Some(modes.len() - 1)] {
                    check(&context, &x, &y, types, &Options { cut, ..options(Method::Halves, conjugate) });
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn dense_halves_of_one_train_twice_give_its_square() {
    let context = gpu(0);
    for dtype in TYPES {
        for ranks in [vec![1, 30, 20, 1], vec![3, 30, 20, 3]] {
            let x = Plain::random(&[3, 4, 5], &ranks, 7, 1.0);
            let train = x.train(&context, dtype, Location::Device);
            for conjugate in [Conjugate::Bra, Conjugate::None] {
                let (want, size) = expected(&x, &x, (dtype, dtype), conjugate);
                let mut session = Contraction::new(&context, options(Method::Halves, conjugate)).unwrap();
                let (got, _) = session.inner_scaled(None, &train, &train, None).unwrap();
                assert_close(&format!("{dtype:?} {ranks:?} {conjugate:?}"), got, want, size, bound(&x, &x, dtype));
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn dense_halves_pass_panel_by_panel_in_little_memory() {
    let context = gpu(0);
    for dtype in TYPES {
        // Some thousand columns, one at a time: more partial sums than the host reads at a time.
        for p in [1, 2] {
            let modes = vec![2; 22];
            let ranks: Vec<usize> = (0..=22).map(|k: u32| (p << k.min(22 - k)).min(20)).collect();
            let (x, y) = (Plain::random(&modes, &ranks, 8, 1.0), Plain::random(&modes, &ranks, 9, 1.0));
            let train = |p: &Plain| p.train(&context, dtype, Location::Device);
            let (a, b) = (train(&x), train(&y));
            let with = |workspace_limit| Options { workspace_limit, ..options(Method::Halves, Conjugate::Bra) };
            let needed = least_workspace(|limit| {
                Contraction::new(&context, with(limit)).unwrap().inner_scaled(None, &a, &b, None).map(|_| ())
            });
            check(&context, &x, &y, (dtype, dtype), &with(needed));
            let info = Contraction::new(&context, with(needed)).unwrap().plan_inner(&a, &b).unwrap();
            assert_eq!(info.workspace_bytes as u64, needed);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn dense_halves_of_ten_thousand_sites_stay_in_range() {
    let context = gpu(0);
    // Only a few sites have a mode larger than 1.
    let d = 10_000;
    let mut modes = vec![1; d];
    for k in [0, 17, 5_000, d - 1] {
        modes[k] = 3;
    }
    let mut ranks = vec![3; d + 1];
    (ranks[0], ranks[d]) = (1, 1);
    for (dtype, size) in [(DType::F32, 9.0), (DType::F64, 9.0), (DType::CF64, 0.001)] {
        let mut x = Plain::random(&modes, &ranks, 61, size);
        // Entries are positive. With signs, the product of so many matrices nearly vanishes in some direction at one
        // site or another, and digits are lost.
        x.cores.iter_mut().flatten().for_each(|v| *v = (v.0.abs(), 0.0));
        let (want, norm) = expected(&x, &x, (dtype, dtype), Conjugate::Bra);
        assert!(want.exponent.abs() > 5_000, "{want:?}");
        let train = x.train(&context, dtype, Location::Device);
        let mut session = Contraction::new(&context, options(Method::Halves, Conjugate::Bra)).unwrap();
        let (got, _) = session.inner_scaled(None, &train, &train, None).unwrap();
        assert_close(&format!("{dtype:?} {size}"), got, want, norm, bound(&x, &x, dtype));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn dense_halves_of_huge_and_tiny_cores_differ_by_their_exponents_alone() {
    let context = gpu(0);
    for dtype in TYPES {
        for ranks in [[1, 4, 9, 6, 1], [3, 4, 9, 6, 3]] {
            let plain = |seed, factor| Plain::random(&[3; 4], &ranks, seed, factor);
            let run = |factor: f64| {
                let train = |seed| plain(seed, factor).train(&context, dtype, Location::Device);
                let (x, y) = (train(71), train(72));
                let mut session = Contraction::new(&context, options(Method::Halves, Conjugate::Bra)).unwrap();
                session.inner_scaled(None, &x, &y, None).unwrap().0
            };
            // Products of two such cores may leave the range of the type. The sum is then computed by pairs, and its
            // terms have another order.
            let (x, y) = (plain(71, 1.0), plain(72, 1.0));
            let size = expected(&x, &y, (dtype, dtype), Conjugate::Bra).1;
            let (want, allowed) = (run(1.0), bound(&x, &y, dtype));
            let q = if epsilon(dtype) > 1e-10 { 60 } else { 900 };
            for q in [q, -q] {
                let got = run(2.0f64.powi(q));
                let back = Scaled::new(got.mantissa, got.exponent - 2 * 4 * i64::from(q));
                assert_close(&format!("{dtype:?} {ranks:?} 2^{q}"), back, want, size, allowed);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn dense_halves_with_zeros_and_what_is_not_finite_come_out() {
    let context = gpu(0);
    for dtype in TYPES {
        for ranks in [[1, 3, 3, 1], [2, 20, 30, 2]] {
            for bad in [0.0, f64::NAN, f64::INFINITY] {
                let mut x = Plain::random(&[2, 2, 2], &ranks, 3, 1.0);
                if bad == 0.0 {
                    x.cores[1].fill((0.0, 0.0));
                } else {
                    x.cores[1][2] = (bad, 0.0);
                }
                let x = x.train(&context, dtype, Location::Device);
                let y = Plain::random(&[2, 2, 2], &ranks, 4, 1.0).train(&context, dtype, Location::Device);
                let mut session = Contraction::new(&context, options(Method::Halves, Conjugate::Bra)).unwrap();
                let (got, _) = session.inner_scaled(None, &x, &y, None).unwrap();
                assert_eq!((got.is_finite(), got.is_zero()), (bad == 0.0, bad == 0.0), "{dtype:?} {ranks:?} {bad}");
            }
        }
    }
}

/// The bytes that a call with a `workspace_limit` of 1 names in its error.
pub(super) fn least_workspace(call: impl FnOnce(u64) -> crate::error::Result<()>) -> u64 {
    let refused = call(1).unwrap_err().to_string();
    let bytes = refused.strip_prefix("workspace_limit: is 1, at least ").and_then(|rest| rest.split(' ').next());
    bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("{refused}"))
}
