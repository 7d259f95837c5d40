//! Numbers near the ends of the range, long trains, zeros, NaN and infinity, and memory that is not aligned.

use std::sync::Arc;

use super::inputs::{Plain, TYPES, cpu, options};
use super::oracle::{assert_close, bound, epsilon, expected, rounded};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::contraction::Contraction;
use crate::contraction::tests::far::LOST;
use crate::scalar::{DType, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::options::{Conjugate, Method};
use crate::trains::scaled::scale;
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

#[test]
#[ignore = "needs a GPU"]
fn entries_near_the_ends_of_the_range_lose_nothing() {
    let context = gpu(0);
    for dtype in TYPES {
        let power = if epsilon(dtype) > 1e-10 { 100 } else { 900 };
        for sign in [1, -1] {
            let factor = 2.0f64.powi(sign * power);
            for (modes, rx, ry) in [
                (vec![2; 5], vec![1, 4, 9, 6, 3, 1], vec![1, 7, 3, 12, 5, 1]),
                (vec![2; 3], vec![3, 9, 20, 3], vec![2, 8, 30, 2]),
                (vec![2; 3], vec![1, 70, 80, 1], vec![1, 66, 90, 1]),
                (vec![2; 3], vec![2, 70, 80, 2], vec![1, 66, 90, 1]),
            ] {
                let (x, y) = (Plain::random(&modes, &rx, 1, 1.0), Plain::random(&modes, &ry, 2, 1.0));
                let (want, size) = expected(&x, &y, (dtype, dtype), Conjugate::Bra);
                let scaled = |seed: u64, ranks: &[usize]| Plain::random(&modes, ranks, seed, factor);
                let (big_x, big_y) = (scaled(1, &rx), scaled(2, &ry));
                let (a, b) =
                    (big_x.train(&context, dtype, Location::Device), big_y.train(&context, dtype, Location::Device));
                let mut session = Contraction::new(&context, Options::default()).unwrap();
                let (got, _) = session.inner_scaled(None, &a, &b, None).unwrap();
                let shift = 2 * modes.len() as i64 * i64::from(sign * power);
                let back = Scaled { exponent: got.exponent - shift, ..got };
                assert_close(&format!("{dtype:?} {rx:?} 2^{}", sign * power), back, want, size, bound(&x, &y, dtype));
            }
        }
    }
}

/// The same train with core k times 2^powers\[k\].
fn sized(p: &Plain, powers: &[i64]) -> Plain {
    let times = |core: &Vec<(f64, f64)>, e: i64| core.iter().map(|&(re, im)| (scale(re, e), scale(im, e))).collect();
    Plain { cores: p.cores.iter().zip(powers).map(|(core, &e)| times(core, e)).collect(), ..p.clone() }
}

/// Ranks of x and y over d sites for every kernel: chains of one block, open and cyclic; the whole device; cuBLAS by
/// pairs and from both ends.
fn ranks_of_every_kernel(d: usize) -> Vec<[Vec<usize>; 2]> {
    let of = |rank: usize, end: usize| {
        let mut ranks = vec![rank; d + 1];
        (ranks[0], ranks[d]) = (end, end);
        ranks
    };
    vec![
        [of(5, 1), of(7, 1)],
        [of(5, 2), of(4, 1)],
        [of(20, 3), of(30, 2)],
        [of(70, 1), of(66, 1)],
        [of(40, 3), of(36, 2)],
        [of(70, 2), of(66, 1)],
        [of(270, 1), of(260, 1)],
    ]
}

#[test]
#[ignore = "needs a GPU"]
fn products_on_the_way_lose_no_digits() {
    let context = gpu(0);
    for (single, [ex, ey]) in LOST {
        for dtype in TYPES.into_iter().filter(|t| (epsilon(*t) > 1e-10) == single) {
            let mut shapes = ranks_of_every_kernel(ex.len());
            if ex.len() == 5 {
                // A ring with few boundary pairs.
                shapes.push([vec![2, 5, 4, 6, 1, 2], vec![1, 1, 1, 4, 5, 1]]);
            }
            for [rx, ry] in shapes {
                let modes = vec![2; ex.len()];
                let (x, y) = (Plain::random(&modes, &rx, 1, 1.0), Plain::random(&modes, &ry, 2, 1.0));
                let (want, size) = expected(&x, &y, (dtype, dtype), Conjugate::Bra);
                let moved = ex.iter().chain(ey).sum::<i64>();
                let [x_far, y_far] = [sized(&rounded(&x, dtype), ex), sized(&rounded(&y, dtype), ey)];
                for location in [Location::Device, Location::Host] {
                    let (a, b) = (x_far.train(&context, dtype, location), y_far.train(&context, dtype, location));
                    let mut ways = vec![Method::Auto, Method::Blocked, Method::Reduced];
                    if rx[1] < 50 {
                        ways.extend([Method::Full, Method::Halves]);
                    }
                    for method in ways {
                        let mut session = Contraction::new(&context, options(method, Conjugate::Bra)).unwrap();
                        let (got, info) = session.inner_scaled(None, &a, &b, None).unwrap();
                        let label = format!("{dtype:?} {rx:?} {location:?} {method:?} {:?} {ex:?}", info.kernel);
                        let back = |v: Scaled| Scaled { exponent: v.exponent - moved, ..v };
                        assert_close(&label, back(got), want, size, bound(&x, &y, dtype));
                        let mut sums = [Scaled::ZERO; 3];
                        session.inner_batch(None, &[&a; 3], &[&b; 3], &mut sums, None).unwrap();
                        assert_close(&format!("batch {label}"), back(sums[2]), want, size, bound(&x, &y, dtype));
                    }
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_hundred_thousand_sites_neither_overflow_nor_vanish() {
    let context = gpu(0);
    let d = 100_000;
    for (dtype, size) in [(DType::F32, 3.0), (DType::F64, 3.0), (DType::F64, 0.01)] {
        // Repeating one core keeps the test small.
        let cell = Plain::random(&[2], &[4, 4], 7, size);
        let mut x = Plain { modes: vec![2; d], ranks: vec![4; d + 1], cores: vec![cell.cores[0].clone(); d] };
        (x.ranks[0], x.ranks[d]) = (1, 1);
        (x.cores[0], x.cores[d - 1]) = (cell.cores[0][..8].to_vec(), cell.cores[0][..8].to_vec());
        let (want, norm) = expected(&x, &x, (dtype, dtype), Conjugate::Bra);
        let train = x.train(&context, dtype, Location::Device);
        let (got, _) =
            Contraction::new(&context, Options::default()).unwrap().inner_scaled(None, &train, &train, None).unwrap();
        assert!(want.exponent.abs() > 50_000);
        assert_close(&format!("{dtype:?} {size}"), got, want, norm, bound(&x, &x, dtype));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn cells_gone_round_many_times_agree_with_the_cpu() {
    let context = gpu(0);
    for ranks in [vec![3, 5, 3], vec![2, 70, 2]] {
        let (x, y) = (Plain::random(&[2, 3], &ranks, 11, 0.7), Plain::random(&[2, 3], &ranks, 12, 0.7));
        let run = |context: &Arc<Context>| {
            let (a, b) = (x.train(context, DType::F64, Location::Host), y.train(context, DType::F64, Location::Host));
            let given = Options { repeat: 40, ..options(Method::Blocked, Conjugate::Bra) };
            Contraction::new(context, given).unwrap().inner_scaled(None, &a, &b, None).unwrap().0
        };
        let (got, want) = (run(&context), run(&cpu()));
        assert_close(&format!("{ranks:?}"), got, want, want, 40.0 * bound(&x, &y, DType::F64));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn zeros_and_what_is_not_finite_come_out() {
    let context = gpu(0);
    for dtype in TYPES {
        for rank in [3, 20, 50, 70, 400] {
            let ranks = [1, rank, rank, 1];
            for bad in [0.0, f64::NAN, f64::INFINITY] {
                let mut x = Plain::random(&[2, 2, 2], &ranks, 3, 1.0);
                if bad == 0.0 {
                    x.cores[1].fill((0.0, 0.0));
                } else {
                    x.cores[1][rank] = (bad, 0.0);
                }
                let x = x.train(&context, dtype, Location::Device);
                let y = Plain::random(&[2, 2, 2], &ranks, 4, 1.0).train(&context, dtype, Location::Device);
                let mut session = Contraction::new(&context, options(Method::Open, Conjugate::Bra)).unwrap();
                let (got, _) = session.inner_scaled(None, &x, &y, None).unwrap();
                assert_eq!(got.is_finite(), bad == 0.0, "{dtype:?} {rank} {bad}");
                assert_eq!(got.is_zero(), bad == 0.0, "{dtype:?} {rank} {bad}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn every_call_gives_nan_and_says_so() {
    // The block's kernel, and products by a library. Each of some fifty objects of a case creates cuBLAS and cuSOLVER,
    // which takes 10 ms. One case of 7 takes seconds, all of them minutes.
    for location in [Location::Device, Location::Host] {
        crate::contraction::tests::nonfinite::check(&gpu(0), location, &[1, 3, 40], 7);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn plans_and_needs_of_workspace_agree() {
    let context = gpu(0);
    crate::contraction::tests::workspace::check(&context, Location::Device);
    // A single block needs no workspace, so any limit suffices.
    let x = Plain::random(&[2; 4], &[3, 5, 4, 5, 3], 3, 1.0).train(&context, DType::F64, Location::Device);
    for method in [Method::Reduced, Method::Full, Method::Blocked] {
        let given = Options { workspace_limit: 1, ..options(method, Conjugate::Bra) };
        let mut session = Contraction::new(&context, given).unwrap();
        assert_eq!(session.plan_inner(&x, &x).unwrap().workspace_bytes, 0);
        assert_eq!(session.inner(None, &x, &x, None).unwrap().1.workspace_bytes, 0);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn cores_aligned_to_a_component_are_taken() {
    let context = gpu(0);
    let device = context.gpu("test").unwrap();
    for (dtype, part) in [(DType::CF64, 8), (DType::CF32, 4), (DType::F64, 8)] {
        for ranks in [[1, 6, 5, 1], [1, 70, 71, 1]] {
            let x = Plain::random(&[2, 3, 2], &ranks, 3, 1.0);
            let (want, size) = expected(&x, &x, (dtype, dtype), Conjugate::Bra);
            let mut memory = device.allocate("cores of a test", 1 << 20).unwrap();
            let mut cores = Vec::new();
            let mut at = part;
            for k in 0..3 {
                let bytes = x.cores[k].len() * dtype.size();
                with_scalar!(dtype, "dtype", T => {
                    let numbers = x.typed::<T>(k);
                    device.store_numbers(device.default_stream(), &numbers, &mut memory, at)
                })
                .unwrap();
                cores.push(Memory::Device(device.borrow("core", memory.address() + at as u64, bytes, None).unwrap()));
                at += bytes + 2 * part;
            }
            let shape = Shape::new("x", &x.modes, &x.ranks).unwrap();
            let train = TensorTrain::from_cores(&context, dtype, shape, cores, true).unwrap();
            let mut session = Contraction::new(&context, Options::default()).unwrap();
            let (got, _) = session.inner_scaled(None, &train, &train, None).unwrap();
            assert_close(&format!("{dtype:?} {ranks:?}"), got, want, size, bound(&x, &x, dtype));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_session_can_be_used_again_after_an_error() {
    let context = gpu(0);
    let x = Plain::random(&[2; 4], &[2, 30, 30, 30, 2], 3, 1.0).train(&context, DType::F64, Location::Device);
    let mut session = Contraction::new(&context, Options::default()).unwrap();
    let before = session.inner_scaled(None, &x, &x, None).unwrap().0;
    let other = Plain::random(&[3; 4], &[1, 2, 2, 2, 1], 3, 1.0).train(&context, DType::F64, Location::Device);
    assert!(session.inner_scaled(None, &x, &other, None).is_err());
    let cancel = |_: i64, _: i64, _: f64| false;
    let _ = session.inner_scaled(None, &x, &x, Some(&cancel));
    assert_eq!(session.inner_scaled(None, &x, &x, None).unwrap().0, before);
}
