//! Rings on a device in which entries that contribute may underflow.

use std::sync::Arc;

use super::enqueue::{number, place};
use super::inputs::TYPES;
use super::oracle::assert_close;
use crate::context::Context;
use crate::contraction::Contraction;
use crate::contraction::tests::ring_underflow::{self, cases, check, check_repeated, check_search, harmless};
use crate::operator::{Trains, identity};
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::TensorTrain;
use crate::trains::info::Info;
use crate::trains::options::NormMethod;
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

#[test]
#[ignore = "needs a GPU"]
fn numbers_of_rings_hide_none_that_count() {
    for location in [Location::Device, Location::Host] {
        check(&gpu(0), location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn powers_of_rings_keep_numbers_that_others_hide() {
    for location in [Location::Device, Location::Host] {
        check_repeated(&gpu(0), location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn the_search_on_a_device_finds_as_much_as_that_on_the_host() {
    check_search(&gpu(0));
}

/// Calls `each` with the result of every enqueued call of x with `one`, with and without a caller's workspace.
fn enqueued(context: &Arc<Context>, x: &TensorTrain, one: &TensorTrain, mut each: impl FnMut(&str, Scaled, f64)) {
    let real = if x.dtype().is_single() { DType::F32 } else { DType::F64 };
    let unit = identity(context, real, &vec![1; x.shape().len()]).unwrap();
    let mut result = place(context);
    for norm_method in [NormMethod::Inner, NormMethod::Qr] {
        let mut session = Contraction::new(context, Options { norm_method, ..Options::default() }).unwrap();
        let trains = Trains::new(one, Some(&unit), x);
        for call in ["inner", "norm", "distance", "sandwich", "rayleigh"] {
            let run = |session: &mut Contraction, result: Option<&mut crate::tensor::Tensor>| -> Info {
                match call {
                    "inner" => session.enqueue_inner(None, x, x, result),
                    "norm" => session.enqueue_norm(None, x, result),
                    "distance" => session.enqueue_distance(None, x, one, result),
                    "sandwich" => session.enqueue_sandwich(None, &trains, result),
                    _ => session.enqueue_rayleigh(None, x, &unit, result),
                }
                .unwrap()
            };
            let needed = run(&mut session, None).workspace_bytes;
            let info = run(&mut session, Some(&mut result));
            assert_eq!(info.workspace_bytes, needed, "{call}");
            let (found, outcome) = number(context, &result);
            each(&format!("{call} {norm_method:?} {:?}", x.dtype()), found, outcome);
            let gpu = context.gpu("test").unwrap();
            let bytes = usize::try_from(needed).unwrap();
            let memory = gpu.allocate_on(gpu.default_stream(), "workspace", bytes).unwrap();
            session.set_workspace(Some(memory)).unwrap();
            run(&mut session, Some(&mut result));
            let (found, outcome) = number(context, &result);
            each(&format!("{call} {norm_method:?} {:?} with a workspace", x.dtype()), found, outcome);
            session.set_workspace(None).unwrap();
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_calls_of_rings_that_hide_numbers_say_so() {
    let context = gpu(0);
    for case in cases() {
        let (x, one) = (case.train(&context, Location::Device), case.one(&context, Location::Device));
        enqueued(&context, &x, &one, |what, found, outcome| {
            assert!(!found.is_finite() && outcome == 3.0, "{what}, {:?}: {found:?}, {outcome}", case.core);
        });
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_calls_of_rings_whose_hidden_numbers_do_not_count_are_right() {
    let context = gpu(0);
    for dtype in TYPES {
        let x = harmless(&context, dtype, Location::Device);
        let one =
            ring_underflow::Case { dtype, core: vec![], sites: 3, entry: Scaled::ZERO }.one(&context, Location::Device);
        enqueued(&context, &x, &one, |what, found, outcome| {
            // The only entry of x is 2.
            let wanted = match what.split(' ').next() {
                Some("inner") => 4.0,
                Some("norm" | "sandwich") => 2.0,
                _ => 1.0,
            };
            assert_eq!(outcome, 0.0, "{what}: {found:?}");
            assert_close(what, found, Scaled::real(wanted), Scaled::real(wanted), 1e-5);
        });
        let mut session = Contraction::new(&context, Options::default()).unwrap();
        let found = session.inner_scaled(None, &x, &x, None).unwrap().0;
        assert_close("waiting", found, Scaled::real(4.0), Scaled::real(4.0), 1e-5);
    }
}
