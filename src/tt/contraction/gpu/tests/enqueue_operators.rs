//! Enqueued contractions with operators, for which the host does not wait, against the CPU.

use std::sync::Arc;

use super::enqueue::{number, place};
use super::inputs::{Plain, TYPES, cpu, options};
use super::operators::{cases, operators};
use super::oracle::{assert_close, bound, epsilon, expected};
use crate::context::Context;
use crate::contraction::Contraction;
use crate::operator::{Trains, rayleigh, sandwich};
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::options::{Conjugate, Method};
use crate::trains::testing::{bare, gpu, placed};
use crate::trains::{Options, Scaled};

/// Pairs of real and complex types.
fn types() -> impl Iterator<Item = (DType, DType)> {
    TYPES.map(|t| (t, t)).into_iter().chain([(DType::F64, DType::CF64), (DType::CF32, DType::F32)])
}

fn real(dtype: DType) -> DType {
    if epsilon(dtype) > 1e-10 { DType::F32 } else { DType::F64 }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_operators_agree_with_the_cpu() {
    let (context, host) = (gpu(0), cpu());
    for (one, other) in types() {
        for (x, y, ring) in cases() {
            let d = x.modes.len();
            let here = operators(&context, real(one), d, ring);
            let there = operators(&host, real(one), d, ring);
            let (a, b) = (x.train(&context, one, Location::Device), y.train(&context, other, Location::Device));
            let (c, e) = (x.train(&host, one, Location::Host), y.train(&host, other, Location::Host));
            for (h, g) in here.iter().zip(&there) {
                let few = Options { block: 2, ..options(Method::Auto, Conjugate::Bra) };
                for options in [Options::default(), options(Method::Reduced, Conjugate::None), few] {
                    let mut session = Contraction::new(&context, options.clone()).unwrap();
                    let mut result = place(&context);
                    session.enqueue_sandwich(None, &Trains::new(&b, Some(h), &a), Some(&mut result)).unwrap();
                    let (got, outcome) = number(&context, &result);
                    assert_eq!(outcome, 0.0);
                    let (want, _) = sandwich(&host, &options, &Trains::new(&e, Some(g), &c)).unwrap();
                    let norms = expected(&x, &y, (one, other), Conjugate::Bra).1.times(Scaled::real(8.0));
                    let bound = 4.0 * bound(&x, &y, real(one));
                    assert_close(&format!("{one:?} {other:?} {ring}"), got, want, norms, bound);
                    session.enqueue_rayleigh(None, &a, h, Some(&mut result)).unwrap();
                    let (got, _) = number(&context, &result);
                    let want = rayleigh(&host, &options, &c, g).unwrap().quotient;
                    assert_close(&format!("{one:?} {ring}"), got, want, Scaled::real(8.0), 2e3 * epsilon(one));
                }
            }
        }
    }
}

/// The trains and the operator of a case, with entries of magnitude `size`.
fn scaled(context: &Arc<Context>, dtype: DType, size: f64, ring: bool) -> (TensorTrain, TrainMatrix) {
    let ranks = if ring { vec![3, 4, 2, 5, 3] } else { vec![1, 4, 7, 5, 1] };
    let plain = Plain::random(&[2; 4], &ranks, 3, size);
    let h = operators(context, real(dtype), 4, ring).remove(0);
    (plain.train(context, dtype, Location::Device), h)
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_operators_leave_the_range_of_their_type() {
    let context = gpu(0);
    let sizes = [
        (DType::F64, 2.0f64.powi(900)),
        (DType::CF64, 2.0f64.powi(-900)),
        (DType::F32, 2.0f64.powi(110)),
        (DType::CF32, 2.0f64.powi(-90)),
    ];
    for (dtype, size) in sizes {
        for ring in [false, true] {
            let (one, h) = scaled(&context, dtype, 1.0, ring);
            let (large, _) = scaled(&context, dtype, size, ring);
            let mut session = Contraction::new(&context, Options::default()).unwrap();
            let mut result = place(&context);
            let mut both = |x: &TensorTrain| {
                session.enqueue_sandwich(None, &Trains::new(x, Some(&h), x), Some(&mut result)).unwrap();
                let value = number(&context, &result);
                session.enqueue_rayleigh(None, x, &h, Some(&mut result)).unwrap();
                [value, number(&context, &result)]
            };
            let [plain, quotient] = both(&one);
            let [got, same] = both(&large);
            assert_eq!([plain.1, quotient.1, got.1, same.1], [0.0; 4], "{dtype:?} {size:e} {ring}");
            let back = Scaled { exponent: got.0.exponent - 8 * size.log2() as i64, ..got.0 };
            let norm = Contraction::new(&context, Options::default()).unwrap().norm_scaled(None, &one, None).unwrap().0;
            let bound = 1e3 * epsilon(dtype);
            assert_close(&format!("{dtype:?} {size:e} {ring}"), back, plain.0, norm.times(norm), bound);
            assert_close(&format!("{dtype:?} {size:e} {ring}"), same.0, quotient.0, Scaled::real(8.0), bound);
        }
    }
    let (zero, h) = scaled(&context, DType::F64, 0.0, false);
    let mut session = Contraction::new(&context, Options::default()).unwrap();
    let mut result = place(&context);
    session.enqueue_sandwich(None, &Trains::new(&zero, Some(&h), &zero), Some(&mut result)).unwrap();
    let (got, outcome) = number(&context, &result);
    assert!(got.is_zero() && outcome == 0.0);
    session.enqueue_rayleigh(None, &zero, &h, Some(&mut result)).unwrap();
    let (got, outcome) = number(&context, &result);
    assert!(!got.is_finite() && outcome == 3.0, "nothing over nothing");
}

#[test]
#[ignore = "needs a GPU"]
fn an_operator_takes_the_workspace_that_it_says() {
    let context = gpu(0);
    let device = context.gpu("test").unwrap();
    for dtype in TYPES {
        for ring in [false, true] {
            let (x, h) = scaled(&context, dtype, 1.0, ring);
            let trains = Trains::new(&x, Some(&h), &x);
            let mut session = Contraction::new(&context, Options::default()).unwrap();
            let mut result = place(&context);
            let needed = session.enqueue_sandwich(None, &trains, None).unwrap().workspace_bytes as usize;
            session.enqueue_sandwich(None, &trains, Some(&mut result)).unwrap();
            let (want, _) = number(&context, &result);
            let memory = device.allocate("work space of a test", needed + 64).unwrap();
            let borrow = |bytes: usize| Some(device.borrow("workspace", memory.address(), bytes, None).unwrap());
            session.set_workspace(borrow(needed - 1)).unwrap();
            let e = session.enqueue_sandwich(None, &trains, Some(&mut result)).unwrap_err().to_string();
            assert_eq!(e, format!("workspace: has {} bytes, {needed} are needed", needed - 1));
            session.set_workspace(borrow(needed)).unwrap();
            session.enqueue_sandwich(None, &trains, Some(&mut result)).unwrap();
            assert_eq!(number(&context, &result).0, want, "the same kernels give the same bits");
            let mut after = [1u8; 64];
            device.download(device.default_stream(), &memory, needed, &mut after).unwrap();
            assert_eq!(after, [0u8; 64], "nothing behind what is needed was written");
        }
    }
    let host = Plain::random(&[2; 4], &[1, 2, 2, 2, 1], 3, 1.0).train(&context, DType::F64, Location::Host);
    let (_, h) = scaled(&context, DType::F64, 1.0, false);
    let mut session = Contraction::new(&context, Options::default()).unwrap();
    let e = session.enqueue_rayleigh(None, &host, &h, None).unwrap_err().to_string();
    assert!(e.contains("lies on the host"), "{e}");
}

/// Large and small values of the operator's bonds compensate each other. A call that waits balances the bonds, and so
/// does an enqueued call.
#[test]
#[ignore = "needs a GPU"]
fn enqueued_operators_are_balanced() {
    let context = gpu(0);
    for (dtype, ranges) in [(DType::F32, [20, 50]), (DType::F64, [165, 400])] {
        for range in ranges {
            let g = [2.0f64.powi(-range), 2.0f64.powi(range)];
            let inner = (0..4).map(|at| g[at / 2] / g[at % 2]).collect();
            let cores = vec![g.to_vec(), inner, vec![1.0 / g[0], 1.0 / g[1]]];
            let h = TrainMatrix::new("h", bare(&[1, 2, 2, 1], cores).train(&context, dtype), &[1; 3], &[1; 3]).unwrap();
            let y = placed(&context, bare(&[1; 4], vec![vec![1.0]; 3]).train(&context, dtype), Location::Device);
            let mut session = Contraction::new(&context, Options::default()).unwrap();
            let mut result = place(&context);
            session.enqueue_sandwich(None, &Trains::new(&y, Some(&h), &y), Some(&mut result)).unwrap();
            let (got, outcome) = number(&context, &result);
            assert_eq!((got.plain(dtype).0.re, outcome), (4.0, 0.0), "{dtype:?} 2^{range}");
            session.enqueue_rayleigh(None, &y, &h, Some(&mut result)).unwrap();
            assert_eq!(number(&context, &result).0.plain(dtype).0.re, 4.0, "{dtype:?} 2^{range}");
        }
    }
}
