//! Powers of uniform trains by repeated squaring, against the CPU's sweeps through all sites.

use std::sync::Arc;

use super::inputs::{Plain, TYPES, cpu, mixed, options};
use super::oracle::{assert_close, assert_sizes_are_exponents, bound, common, expected_by};
use crate::context::Context;
use crate::contraction::Contraction;
use crate::scalar::{Complex, DType};
use crate::tensor::Location;
use crate::trains::options::{Conjugate, Method};
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

fn power(repeat: u64, conjugate: Conjugate) -> Options {
    Options { repeat, ..options(Method::Power, conjugate) }
}

/// Cells of one core and of several: odd sizes, ranks of 1, modes of 1, many mode indices, both orders of products.
fn cells() -> Vec<(Plain, Plain)> {
    let shapes: [(&[usize], &[usize], &[usize]); 8] = [
        (&[3], &[1, 1], &[1, 1]),
        (&[1], &[5, 5], &[3, 3]),
        (&[4], &[6, 6], &[1, 1]),
        (&[2, 3], &[3, 5, 3], &[2, 7, 2]),
        (&[1, 2, 3], &[2, 9, 1, 2], &[5, 4, 6, 5]),
        (&[7, 2], &[1, 8, 1], &[1, 5, 1]),
        (&[40, 2], &[3, 2, 3], &[2, 9, 2]),
        (&[2, 2], &[11, 3, 11], &[9, 13, 9]),
    ];
    let random = |modes: &[usize], ranks: &[usize], seed| Plain::random(modes, ranks, seed, 0.7);
    shapes.iter().map(|&(modes, rx, ry)| (random(modes, rx, 31), random(modes, ry, 32))).collect()
}

#[test]
#[ignore = "needs a GPU"]
fn cells_of_every_shape_are_squared() {
    let context = gpu(0);
    for types in mixed() {
        for (x, y) in cells() {
            for (repeat, conjugate) in
                [(2, Conjugate::Bra), (3, Conjugate::None), (37, Conjugate::Bra), (64, Conjugate::None)]
            {
                let round = Options { repeat, ..options(Method::Blocked, conjugate) };
                let (want, size) = expected_by(&x, &y, types, &round);
                let mut session = Contraction::new(&context, power(repeat, conjugate)).unwrap();
                for location in [Location::Host, Location::Device] {
                    let (a, b) = (x.train(&context, types.0, location), y.train(&context, types.1, location));
                    let (got, info) = session.inner_scaled(None, &a, &b, None).unwrap();
                    assert_eq!(info.method, Method::Power);
                    let what = format!("{types:?} {:?} {:?} {repeat} {conjugate:?}", x.ranks, y.ranks);
                    assert_close(&what, got, want, size, repeat as f64 * bound(&x, &y, common(types)));
                    assert_eq!(session.inner_scaled(None, &a, &b, None).unwrap().0, got, "{what}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn powers_with_three_real_products_agree_with_the_cpu() {
    let context = gpu(0);
    let (x, y) = (Plain::random(&[2, 3], &[7, 5, 7], 11, 0.7), Plain::random(&[2, 3], &[4, 6, 4], 12, 0.7));
    for dtype in [DType::CF32, DType::CF64] {
        let round = Options { repeat: 21, ..options(Method::Blocked, Conjugate::Bra) };
        let (want, size) = expected_by(&x, &y, (dtype, dtype), &round);
        let given = Options { math: crate::trains::options::Math::Gemm3m, ..power(21, Conjugate::Bra) };
        let (a, b) = (x.train(&context, dtype, Location::Device), y.train(&context, dtype, Location::Device));
        let (got, _) = Contraction::new(&context, given).unwrap().inner_scaled(None, &a, &b, None).unwrap();
        // Both parts of a complex product have the rounding error of the larger part.
        assert_close(&format!("{dtype:?}"), got, want, size, 4.0 * 21.0 * bound(&x, &y, dtype));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn powers_count_their_exponents_exactly() {
    let (context, host) = (gpu(0), cpu());
    // A core that is 1 for a = i = b only: the transfer matrix of x and y has the eigenvalue `size` twice.
    let copies = |size: f64| {
        let mut cell = Plain::random(&[2], &[2, 2], 1, 0.0);
        (cell.cores[0][0], cell.cores[0][7]) = ((size, 0.0), (size, 0.0));
        cell
    };
    for dtype in TYPES {
        for repeat in [2, 1_000_000_000_000, (1 << 60) + 1, (1 << 61) - 1000] {
            let run = |context: &Arc<Context>, location| {
                let (x, y) = (copies(2.0).train(context, dtype, location), copies(1.0).train(context, dtype, location));
                let mut session = Contraction::new(context, power(repeat, Conjugate::Bra)).unwrap();
                session.inner_scaled(None, &x, &y, None).unwrap().0
            };
            let want = Scaled { mantissa: Complex::new(0.5, 0.0), exponent: repeat as i64 + 2 };
            assert_eq!(run(&context, Location::Device), want, "{dtype:?} {repeat}");
            assert_eq!(run(&host, Location::Host), want, "{dtype:?} {repeat} on the CPU");
        }
        // With one boundary pair the power is that of a number, with all digits as on the CPU.
        let cell = Plain { modes: vec![3], ranks: vec![1, 1], cores: vec![vec![(1.0, 0.0), (2.0, 0.0), (3.0, 0.0)]] };
        let run = |context: &Arc<Context>, location| {
            let x = cell.train(context, dtype, location);
            let mut session = Contraction::new(context, power(1_000_000_007, Conjugate::Bra)).unwrap();
            session.inner_scaled(None, &x, &x, None).unwrap().0
        };
        assert_eq!(run(&context, Location::Device), run(&host, Location::Host), "{dtype:?}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_million_million_rounds_agree_with_the_cpu() {
    let (context, host) = (gpu(0), cpu());
    for dtype in [DType::F64, DType::CF64] {
        for ranks in [vec![3, 3], vec![2, 4, 2]] {
            let x = Plain::random(&vec![2; ranks.len() - 1], &ranks, 41, 1.0);
            let run = |context: &Arc<Context>, location| {
                let x = x.train(context, dtype, location);
                let mut session = Contraction::new(context, power(1_000_000_000_000, Conjugate::Bra)).unwrap();
                session.inner_scaled(None, &x, &x, None).unwrap().0
            };
            let (got, want) = (run(&context, Location::Device), run(&host, Location::Host));
            assert!(want.exponent.abs() > 1_000_000_000, "{want:?}");
            // Each pass multiplies the relative error of the cell's matrix once more.
            assert_close(&format!("{dtype:?} {ranks:?}"), got, want, want, 1e12 * bound(&x, &x, dtype));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn powers_of_huge_and_tiny_cores_differ_by_their_exponents_alone() {
    let context = gpu(0);
    for dtype in TYPES {
        for ranks in [vec![3, 3], vec![2, 5, 2], vec![1, 4, 1]] {
            let modes = vec![3; ranks.len() - 1];
            let run = |factor: f64| {
                let train = |seed| Plain::random(&modes, &ranks, seed, factor).train(&context, dtype, Location::Device);
                let (x, y) = (train(51), train(52));
                let mut session = Contraction::new(&context, power(9, Conjugate::Bra)).unwrap();
                session.inner_scaled(None, &x, &y, None).unwrap().0
            };
            assert_sizes_are_exponents(&format!("{ranks:?}"), dtype, 2 * 9 * modes.len() as i64, run);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn powers_of_zero_and_of_what_is_not_finite_come_out() {
    let context = gpu(0);
    for dtype in TYPES {
        for ranks in [vec![1, 1], vec![3, 3], vec![2, 5, 2]] {
            for bad in [0.0, f64::NAN, f64::INFINITY] {
                let mut x = Plain::random(&vec![2; ranks.len() - 1], &ranks, 3, 1.0);
                let last = x.cores.len() - 1;
                if bad == 0.0 {
                    x.cores[last].fill((0.0, 0.0));
                } else {
                    x.cores[last][0] = (bad, 0.0);
                }
                let x = x.train(&context, dtype, Location::Device);
                let mut session = Contraction::new(&context, power(5, Conjugate::Bra)).unwrap();
                let (got, _) = session.inner_scaled(None, &x, &x, None).unwrap();
                assert_eq!((got.is_finite(), got.is_zero()), (bad == 0.0, bad == 0.0), "{dtype:?} {ranks:?} {bad}");
            }
        }
    }
}
