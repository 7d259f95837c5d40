//! Trains of which a contraction on a device may lose digits, from the tests on the host.

use super::inputs::{Disorder, TYPES};
use crate::contraction::tests::lost::{self, At};
use crate::scalar::{Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::testing::gpu;

fn everywhere(check: impl Fn(&At)) {
    for location in [Location::Device, Location::Host] {
        check(&(gpu(0), location));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn numbers_of_one_core_may_be_far_apart() {
    everywhere(lost::far_apart);
}

#[test]
#[ignore = "needs a GPU"]
fn an_operator_may_have_small_numbers_that_count() {
    everywhere(lost::small_in_operators);
}

#[test]
#[ignore = "needs a GPU"]
fn values_of_bonds_that_are_reached_by_nothing_hide_no_others() {
    everywhere(lost::unreached);
}

#[test]
#[ignore = "needs a GPU"]
fn differences_at_bonds_below_the_limit_of_balancing_lose_nothing() {
    everywhere(lost::differences);
}

#[test]
#[ignore = "needs a GPU"]
fn a_ring_of_an_operator_is_finite_where_its_numbers_are() {
    everywhere(lost::finite_rings);
}

/// Trains whose entries differ as those of ordinary trains do are contracted on the device.
#[test]
#[ignore = "needs a GPU"]
fn ordinary_trains_are_not_taken_for_wide_ones() {
    let context = gpu(0);
    let mut d = Disorder(7);
    for dtype in TYPES {
        let shape = Shape::new("x", &[4; 6], &[1, 40, 40, 40, 40, 40, 1]).unwrap();
        let mut x = TensorTrain::create(&context, dtype, Location::Host, shape).unwrap();
        with_scalar!(dtype, "x", T => {
            let mut cores = x.cores_mut::<T>("x").unwrap();
            for k in 0..6 {
                cores.core(k).iter_mut().for_each(|x| *x = T::from_parts(d.next() / 16.0, d.next() / 16.0));
            }
            Ok::<(), crate::error::Error>(())
        })
        .unwrap();
        assert!(!crate::trains::balance::is_wide(&context, &x).unwrap(), "{dtype:?}");
        let x = crate::trains::testing::placed(&context, x, Location::Device);
        assert!(!crate::trains::balance::is_wide_there(&context, &x).unwrap(), "{dtype:?}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn squared_trains_may_have_numbers_that_are_far_apart() {
    everywhere(lost::squared);
}

#[test]
#[ignore = "needs a GPU"]
fn powers_of_rings_whose_large_numbers_lie_on_no_closed_way_are_right() {
    everywhere(lost::apart_from_closed_ways);
}

#[test]
#[ignore = "needs a GPU"]
fn repeated_cores_lose_nothing_that_counts() {
    everywhere(lost::repeated);
}

#[test]
#[ignore = "needs a GPU"]
fn large_powers_keep_their_digits() {
    everywhere(lost::large_powers);
}
