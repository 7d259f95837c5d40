//! Calls of a contraction with operators: cancellation, progress and the number of steps.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::support::*;
use crate::error::{Error, Result};
use crate::progress::ProgressFn;
use crate::scalar::DType;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::tt::Contraction;
use crate::tt::operator::local::{correlation_watched, expect_local_watched};
use crate::tt::operator::value::{rayleigh_watched, sandwich_watched, unwatched};
use crate::tt::operator::{Side, Trains, ising};
use crate::tt::options::Options;

const Z: [(f64, f64); 4] = [(1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (-1.0, 0.0)];

fn z() -> [C; 4] {
    Z.map(|(re, im)| c(re, im))
}

fn state(d: usize, rank: usize, ends: usize) -> Plain {
    let ranks = [&[ends][..], &vec![rank; d - 1], &[ends]].concat();
    Plain::random(&mut Draw::new(5), &vec![2; d], &ranks, false)
}

/// A call of a contraction with an operator.
type Call = fn(&mut Contraction, &TensorTrain, &TrainMatrix, Option<&ProgressFn<'_>>) -> Result<()>;

fn calls() -> [Call; 4] {
    [
        |s, x, h, report| s.sandwich(None, &Trains::new(x, Some(h), x), report).map(|_| ()),
        |s, x, h, report| s.rayleigh(None, x, h, report).map(|_| ()),
        |s, x, _, report| s.expect_local(None, x, &z(), &[0, 5, 7], report).map(|_| ()),
        |s, x, _, report| s.correlation(None, x, &z(), &z(), report).map(|_| ()),
    ]
}

#[test]
fn calls_are_cancelled_and_reported_on() {
    let context = cpu(1);
    // Long enough for the calling thread to report progress.
    let (x, h) = (state(600, 16, 1).train(&context, DType::F64), ising(&context, DType::F64, 600, 1.0, 0.5, false));
    let h = h.unwrap();
    let mut session = Contraction::new(&context, Options::default()).unwrap();
    let handle = session.cancel_handle();
    for call in calls() {
        let asked = |_: i64, _: i64, _: f64| false;
        assert_eq!(call(&mut session, &x, &h, Some(&asked)), Err(Error::Cancelled));
        let by_handle = |step: i64, steps: i64, _: f64| {
            assert!(step < steps);
            handle.cancel();
            true
        };
        assert_eq!(call(&mut session, &x, &h, Some(&by_handle)), Err(Error::Cancelled));
        let by_context = |_: i64, _: i64, _: f64| {
            context.cancel();
            true
        };
        assert_eq!(call(&mut session, &x, &h, Some(&by_context)), Err(Error::Cancelled));
        let seen = RefCell::new(Vec::new());
        let report = |step: i64, steps: i64, _: f64| {
            seen.borrow_mut().push((step, steps));
            true
        };
        call(&mut session, &x, &h, Some(&report)).unwrap();
        let seen = seen.into_inner();
        let steps = seen[0].1;
        assert!(steps >= 600 && seen.iter().all(|s| s.1 == steps), "{seen:?}");
        assert!(seen.is_sorted() && seen.last() == Some(&(steps, steps)), "{seen:?}");
        call(&mut session, &x, &h, None).unwrap();
    }
}

#[test]
fn a_contraction_cancels_what_its_environments_compute() {
    let context = cpu(1);
    let (x, h) = (state(3000, 8, 1).train(&context, DType::F64), ising(&context, DType::F64, 3000, 1.0, 0.5, false));
    let h = h.unwrap();
    let session = Contraction::new(&context, Options::default()).unwrap();
    let trains = Trains::new(&x, Some(&h), &x);
    let mut environments = session.environments(&trains).unwrap();
    let (handle, over) = (session.cancel_handle(), AtomicBool::new(false));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                handle.cancel();
            }
        });
        let result = environments.build(None, &trains, Side::Left, 3000);
        over.store(true, Ordering::Relaxed);
        result
    });
    assert_eq!(result, Err(Error::Cancelled));
    let value = environments.value(None, &trains, 3000).unwrap();
    let (whole, _) = crate::tt::operator::sandwich(&context, &Options::default(), &trains).unwrap();
    let off = value.plus(whole.times(crate::tt::Scaled::real(-1.0))).over(whole).unwrap();
    assert!(off.log_abs() < (1e-10f64).ln(), "{value:?} {whole:?}");
}

#[test]
fn every_step_is_counted() {
    let context = cpu(2);
    for (d, rank, ends) in [(1, 1, 1), (1, 1, 3), (8, 5, 1), (9, 4, 3)] {
        let x = state(d, rank, ends).train(&context, DType::F64);
        let h = ising(&context, DType::F64, d, 1.0, 0.5, false).unwrap();
        let trains = Trains::new(&x, Some(&h), &x);
        for limit in [0, 100_000] {
            let options = Options { workspace_limit: limit, ..Options::default() };
            let counted = |what: &str, call: &dyn Fn(&crate::tt::watch::Watch) -> Result<()>| {
                let watch = unwatched(&context);
                call(&watch).unwrap();
                let done = i64::try_from(watch.done.load(Ordering::Relaxed)).unwrap();
                assert_eq!(done, watch.so_far().1, "{what}, {d} sites, rank {rank}, {ends} at the ends, limit {limit}");
            };
            counted("sandwich", &|w| sandwich_watched(&context, None, &options, &trains, w).map(|_| ()));
            counted("quotient", &|w| rayleigh_watched(&context, None, &options, &x, &h, w).map(|_| ()));
            let sites: Vec<usize> = (0..d).step_by(2).collect();
            counted("local", &|w| expect_local_watched(&context, None, &options, &x, &z(), &sites, w).map(|_| ()));
            for b in [z(), [c(0.0, 0.0), c(1.0, 0.0), c(1.0, 0.0), c(0.0, 0.0)]] {
                counted("pairs", &|w| correlation_watched(&context, None, &options, &x, &z(), &b, w).map(|_| ()));
            }
        }
    }
}
