//! Calls of a contraction with operators: cancellation and progress.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::contraction::Contraction;
use crate::error::{Error, Result};
use crate::operator::{Side, Trains, ising};
use crate::progress::ProgressFn;
use crate::scalar::DType;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::Options;
use crate::trains::testing::{C, Plain, cpu};

fn z() -> [C; 4] {
    [1.0, 0.0, 0.0, -1.0].map(|re| C::new(re, 0.0))
}

fn state(d: usize, rank: usize) -> Plain {
    Plain::uniform_ranks(d, 2, rank, false, false, 5)
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
    let (x, h) = (state(600, 16).train(&context, DType::F64), ising(&context, DType::F64, 600, 1.0, 0.5, false));
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
    let (x, h) = (state(3000, 8).train(&context, DType::F64), ising(&context, DType::F64, 3000, 1.0, 0.5, false));
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
    let (whole, _) = crate::operator::sandwich(&context, &Options::default(), &trains).unwrap();
    let off = value.plus(whole.times(crate::trains::Scaled::real(-1.0))).over(whole).unwrap();
    assert!(off.log_abs() < (1e-10f64).ln(), "{value:?} {whole:?}");
}
