//! Norms, distances, dense halves and repeated squaring on a GPU against dense tensors and the CPU.

use std::sync::Arc;

use super::inputs::{Plain, TYPES, cpu, options};
use super::oracle::{assert_close, bound};
use crate::context::Context;
use crate::contraction::Contraction;
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::TensorTrain;
use crate::trains::Options;
use crate::trains::info::Kernel;
use crate::trains::options::{Conjugate, Method, NormMethod};
use crate::trains::testing::{Plain as Exact, TYPES as TOLERANCES, gpu, inner};

const WAYS: [NormMethod; 4] = [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr];

fn on_device(context: &Arc<Context>, x: &Exact, dtype: DType) -> TensorTrain {
    let at = crate::algebra::Place::new(context, None, Location::Device);
    crate::algebra::copy(&at, &x.train(context, dtype)).unwrap()
}

#[test]
#[ignore = "needs a GPU"]
fn norms_are_those_of_the_dense_tensor() {
    let context = gpu(0);
    for (dtype, tolerance) in TOLERANCES {
        for cyclic in [false, true] {
            for (d, rank) in [(1, 3), (2, 3), (5, 7), (8, 4)] {
                let x = Exact::uniform_ranks(d, 3, rank, cyclic, dtype.is_complex(), 81);
                let t = on_device(&context, &x, dtype);
                for norm_method in WAYS {
                    for kernel in [None, Some(Kernel::Products)] {
                        let given = Options { norm_method, kernel, ..Options::default() };
                        let (norm, info) = Contraction::new(&context, given).unwrap().norm(None, &t, None).unwrap();
                        let error = (norm - x.norm()).abs();
                        assert!(error <= tolerance * x.norm(), "{dtype:?} d = {d} {norm_method:?}: {norm} {info:?}");
                    }
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn norms_of_large_ranks_agree_with_the_cpu() {
    let (context, host) = (gpu(0), cpu());
    for dtype in TYPES {
        // By the kernel on the whole device, and by the library from both ends.
        for rank in [90, 300] {
            let modes = [6; 8];
            let ranks = [1, 6, 36, rank, rank, rank, 36, 6, 1];
            let x = Plain::random(&modes, &ranks, 82, 1.0);
            let (a, b) = (x.train(&context, dtype, Location::Device), x.train(&host, dtype, Location::Host));
            for norm_method in WAYS {
                let run = |context: &Arc<Context>, t: &TensorTrain| {
                    let given = Options { norm_method, ..Options::default() };
                    Contraction::new(context, given).unwrap().norm_scaled(None, t, None).unwrap().0
                };
                let (got, want) = (run(&context, &a), run(&host, &b));
                assert_eq!(got.mantissa.im, 0.0);
                assert_close(&format!("{dtype:?} {rank} {norm_method:?}"), got, want, want, bound(&x, &x, dtype));
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn distances_keep_the_digits_that_inner_products_lose() {
    let context = gpu(0);
    let x = Exact::uniform_ranks(7, 2, 5, false, false, 84);
    let a = on_device(&context, &x, DType::F64);
    let mut session = Contraction::new(&context, Options::default()).unwrap();
    assert_eq!(session.distance(None, &a, &a, None).unwrap().0, 0.0);
    for tiny in [1e-3, 1e-8, 1e-11] {
        // One more entry `tiny`: the sum of x and a product of unit vectors.
        let y = crate::contraction::tests::norms::nudged(&x, tiny);
        for (y, what) in [(on_device(&context, &y, DType::F64), "device"), (y.train(&context, DType::F64), "host")] {
            let (distance, _) = session.distance(None, &a, &y, None).unwrap();
            assert!((distance - tiny).abs() <= 1e-14 * x.norm(), "{what}: {distance}, not {tiny}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn dense_halves_are_the_products_of_the_dense_tensors() {
    let context = gpu(0);
    for (dtype, tolerance) in TOLERANCES {
        for cyclic in [false, true] {
            let complex = dtype.is_complex();
            let (x, y) =
                (Exact::uniform_ranks(6, 3, 9, cyclic, complex, 5), Exact::uniform_ranks(6, 3, 7, cyclic, complex, 6));
            let (a, b) = (on_device(&context, &x, dtype), on_device(&context, &y, dtype));
            for conjugate in [Conjugate::Bra, Conjugate::None] {
                let given = options(Method::Halves, conjugate);
                let (value, info) = Contraction::new(&context, given).unwrap().inner(None, &a, &b, None).unwrap();
                assert_eq!(info.method, Method::Halves);
                let error = (value - inner(&x, &y, conjugate == Conjugate::Bra)).norm();
                assert!(error <= tolerance * x.norm() * y.norm(), "{dtype:?} {cyclic}: off by {error}, {info:?}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn squaring_agrees_with_going_round() {
    let context = gpu(0);
    for dtype in TYPES {
        for (modes, ranks) in [(vec![2, 3], vec![3, 5, 3]), (vec![4], vec![6, 6])] {
            let (x, y) = (Plain::random(&modes, &ranks, 11, 0.7), Plain::random(&modes, &ranks, 12, 0.7));
            let (a, b) = (x.train(&context, dtype, Location::Device), y.train(&context, dtype, Location::Device));
            let run = |method, x: &TensorTrain, y: &TensorTrain| {
                let given = Options { repeat: 37, ..options(method, Conjugate::Bra) };
                Contraction::new(&context, given).unwrap().inner_scaled(None, x, y, None).unwrap()
            };
            let (got, info) = run(Method::Power, &a, &b);
            assert_eq!(info.method, Method::Power);
            let want = run(Method::Blocked, &a, &b).0;
            // Relative to the norms, which are at least as large as the products.
            let norms = run(Method::Blocked, &a, &a).0.re().times(run(Method::Blocked, &b, &b).0.re()).sqrt();
            assert_close(&format!("{dtype:?} {ranks:?}"), got, want, norms, 37.0 * bound(&x, &y, dtype));
        }
    }
}
