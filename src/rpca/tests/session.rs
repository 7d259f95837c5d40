//! One object for many runs: a run leaves no state behind.

use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::calls::compute;
use super::inputs::{context, matrix};
use crate::context::Context;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::rpca::session::Observed;
use crate::rpca::{Options, Rpca};
use crate::shape::Order;

fn smooth(context: &Arc<Context>, rows: usize, cols: usize) -> Matrix {
    matrix(context, Order::ColumnMajor, (rows, cols), |i, j| {
        let low = (0.3 * i as f64).sin() * (0.7 * j as f64).cos();
        if (i * 31 + j * 17).is_multiple_of(41) { low + 5.0 } else { low }
    })
}

#[test]
fn an_object_splits_matrices_of_any_size_and_keeps_the_last_report() {
    let context = context();
    let mut rpca = Rpca::new(&context, Options::default()).unwrap();
    let last = rpca.last_info();
    let nothing = "rpca: has no report yet: none of its run calls has succeeded";
    assert_eq!(last.get("rpca").unwrap_err().to_string(), nothing);
    for (rows, cols) in [(40, 30), (12, 50)] {
        let m = smooth(&context, rows, cols);
        let given = Observed { m: &m, mask: None };
        let planned = rpca.plan(given).unwrap();
        let done = rpca.compute(None, given, None, None, None).unwrap();
        assert_eq!((last.get("rpca").unwrap(), done.host_bytes), (done.clone(), planned.host_bytes));
        let alone = compute(from_ref(&context), None, &m, None, &Options::default(), None, None, None).unwrap();
        assert_eq!((done.iterations, done.residual.to_bits()), (alone.iterations, alone.residual.to_bits()));
    }
    // A plan is no run, and a run that fails leaves the report of the one before.
    let before = last.get("rpca").unwrap();
    let broken = matrix(&context, Order::ColumnMajor, (9, 7), |i, j| if i == j { f64::NAN } else { 1.0 });
    let given = Observed { m: &broken, mask: None };
    rpca.plan(given).unwrap();
    assert!(matches!(rpca.compute(None, given, None, None, None), Err(Error::InvalidArgument { .. })));
    assert_eq!(last.get("rpca").unwrap(), before);
}

#[test]
fn a_cancelled_object_computes_again() {
    let context = context();
    let mut rpca = Rpca::new(&context, Options::default()).unwrap();
    let (cancel, calls) = (rpca.cancel_handle(), AtomicU64::new(0));
    let m = smooth(&context, 40, 30);
    let given = Observed { m: &m, mask: None };
    // Cancelling while nothing runs does nothing to the next run.
    cancel.cancel();
    let whole = rpca.compute(None, given, None, None, None).unwrap();
    let from_inside = |_: i64, _: i64, _: f64| {
        calls.fetch_add(1, Ordering::Relaxed);
        cancel.cancel();
        true
    };
    assert!(matches!(rpca.compute(None, given, None, None, Some(&from_inside)), Err(Error::Cancelled)));
    assert!(calls.load(Ordering::Relaxed) > 0);
    let again = rpca.compute(None, given, None, None, None).unwrap();
    assert_eq!((again.iterations, again.residual.to_bits()), (whole.iterations, whole.residual.to_bits()));
}

#[test]
fn options_are_refused_when_the_object_is_made() {
    let options = Options { rho: 0.5, ..Options::default() };
    let error = Rpca::new(&context(), options).err().unwrap();
    assert_eq!(error.to_string(), "rho: is 0.5, a finite number above 1 is needed");
}
