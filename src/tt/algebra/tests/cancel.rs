//! A cancellation of the context ends each call at its next core. It does not affect later calls.

use std::sync::Arc;

use super::support::*;
use crate::algebra::{
    Place, Spread, Truncation, add, apply, apply_round, canonicalize, cast, conj, copy, create, elements, full,
    hadamard, hadamard_round, matrix as algebra, reverse, rotate, round, scale, to_open, tt_svd,
};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::train::Shape;
use crate::tensor::{Location, Tensor};
use crate::testing::cancel::is_cancelled as is_cancelled_by_another;
use crate::trains::balance;
use crate::trains::scaled::Scaled;

type Call<'a> = Box<dyn Fn(&Place<'_>) -> Result<()> + 'a>;

/// Calls `call` on a context that is cancelled after the call has begun, and then again.
fn is_cancelled(c: &Arc<Context>, name: &str, call: &Call<'_>) {
    let running = Place::host(c);
    let used = c.host_memory_used();
    c.cancel();
    assert_eq!(call(&running), Err(Error::Cancelled), "{name}");
    assert_eq!(c.host_memory_used(), used, "{name}: memory");
    assert_eq!(call(&Place::host(c)), Ok(()), "{name}, later");
}

#[test]
fn every_call_ends_at_its_next_core() {
    let c = context(2);
    let all = Truncation::default();
    let one = C::new(1.0, 0.0);
    let x = train::<C>(&c, &[2, 3, 2], &[1, 2, 2, 1], 1);
    let ring = train::<f64>(&c, &[2, 3, 2], &[2, 2, 3, 2], 2);
    let h = matrix::<C>(&c, &[2, 2, 2], &[2, 3, 2], &[1, 2, 2, 1], 3);
    let square = matrix::<C>(&c, &[2, 2, 2], &[2, 2, 2], &[1, 2, 2, 1], 3);
    let tensor = tensor::<C>(&c, &[2, 3, 2], &dense::<C>(&x));
    let packed = tensor_like(&c, &[8, 8]);
    let shape = || Shape::new("x", &[2, 3], &[1, 2, 1]).unwrap();
    let calls: [(&str, Call<'_>); 26] = [
        ("copy", Box::new(|at| copy(at, &x).map(drop))),
        ("cast", Box::new(|at| cast(at, &x, DType::CF32).map(drop))),
        ("conj", Box::new(|at| conj(at, &x).map(drop))),
        ("reverse", Box::new(|at| reverse(at, &x).map(drop))),
        ("rotate", Box::new(|at| rotate(at, &x, 1).map(drop))),
        ("to_open", Box::new(|at| to_open(at, &ring).map(drop))),
        ("random", Box::new(|at| create::random(at, DType::F32, shape(), 1).map(drop))),
        ("add", Box::new(|at| add(at, one, &x, one, &x).map(drop))),
        ("scale", Box::new(|at| scale(at, Scaled::real(3.0), &x, Spread::Auto).map(drop))),
        ("hadamard", Box::new(|at| hadamard(at, &x, &x).map(drop))),
        ("hadamard_round", Box::new(|at| hadamard_round(at, &x, &x, &all).map(drop))),
        ("apply", Box::new(|at| apply(at, &h, &x).map(drop))),
        ("apply_round", Box::new(|at| apply_round(at, &h, &x, &all).map(drop))),
        ("round", Box::new(|at| round(at, &x, &all).map(drop))),
        ("canonicalize", Box::new(|at| canonicalize(at, &x, 1).map(drop))),
        ("tt_svd", Box::new(|at| tt_svd(at, &tensor, None, &all).map(drop))),
        ("full", Box::new(|at| full(at, &x, &mut tensor_like(&c, &[2, 3, 2]), false))),
        ("elements", Box::new(|at| elements(at, &x, &[1, 2, 1]).map(drop))),
        ("matrix::transpose", Box::new(|at| algebra::transpose(at, &h).map(drop))),
        ("matrix::adjoint", Box::new(|at| algebra::adjoint(at, &h).map(drop))),
        ("matrix::add", Box::new(|at| algebra::add(at, one, &h, one, &h).map(drop))),
        ("matrix::multiply", Box::new(|at| algebra::multiply(at, &square, &square).map(drop))),
        ("matrix::multiply_round", Box::new(|at| algebra::multiply_round(at, &square, &square, &all).map(drop))),
        ("matrix::round", Box::new(|at| algebra::round(at, &square, &all).map(drop))),
        ("matrix::to_dense", Box::new(|at| algebra::to_dense(at, &square, &mut tensor_like(&c, &[8, 8]), false))),
        ("matrix::from_dense", Box::new(|at| algebra::from_dense(at, &packed, &[2, 2, 2], &[2, 2, 2], &all).map(drop))),
    ];
    for (name, call) in &calls {
        is_cancelled(&c, name, call);
    }
}

fn tensor_like(c: &Arc<Context>, dims: &[usize]) -> Tensor {
    Tensor::create(c, DType::CF64, Location::Host, Order::ColumnMajor, dims).unwrap()
}

/// A long train whose bonds differ by 2^200, so that it is examined and copied core after core.
#[test]
fn the_balancing_of_bonds_ends_when_the_context_is_cancelled() {
    let c = context(2);
    let (cores, rank) = (400, 8);
    let mut ranks = vec![rank; cores + 1];
    (ranks[0], ranks[cores]) = (1, 1);
    let mut x = train::<f64>(&c, &vec![2; cores], &ranks, 5);
    for k in 1..cores {
        let [r, _, s] = x.shape().core(k);
        let at = |place: usize| (place % r, place / (2 * r));
        let sign = |value: usize, size: usize| if size > 1 && value == 1 { 200 } else { 0 };
        for (place, number) in x.cores_mut::<f64>("x").unwrap().core(k).iter_mut().enumerate() {
            let (left, right) = at(place);
            // The first bond stays as it is.
            let up = if k > 1 { sign(left, r) } else { 0 };
            *number *= f64::from(up - sign(right, s)).exp2();
        }
    }
    assert!(balance::for_dense(&c, None, &x).unwrap().is_some(), "the bonds are far apart");
    is_cancelled_by_another(&|| c.cancel(), "dense", || balance::for_dense(&c, None, &x).map(|copy| copy.is_some()));
    is_cancelled_by_another(&|| c.cancel(), "factors", || {
        balance::for_factors(&c, None, &x).map(|copy| copy.is_some())
    });
}
