//! Trains on a device whose bonds have values of very different magnitude.

use super::enqueue::{number, place};
use super::inputs::Plain;
use super::oracle::assert_close;
use crate::contraction::Contraction;
use crate::contraction::tests::balance::{check, check_environments, check_growing, check_sums, check_zeros, gauged};
use crate::contraction::tests::{examination, pruned, spans};
use crate::operator::{Trains, identity};
use crate::scalar::DType;
use crate::tensor::Location;
use crate::trains::options::{Method, NormMethod};
use crate::trains::testing::{Plain as Numbers, gpu, placed};
use crate::trains::{Options, Scaled};

#[test]
#[ignore = "needs a GPU"]
fn the_size_of_what_a_bond_carries_changes_nothing() {
    for location in [Location::Device, Location::Host] {
        check(&gpu(0), location, &[NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr]);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn large_ranks_and_batches_are_balanced_too() {
    let context = gpu(0);
    for (dtype, range, tolerance) in [(DType::F32, 30, 1e-4), (DType::F64, 300, 1e-11)] {
        for (rank, cyclic) in [(20, false), (90, false), (300, false), (40, true)] {
            let x = Numbers::uniform_ranks(4, 2, rank, cyclic, false, 7);
            let there = |plain: &Numbers| placed(&context, plain.train(&context, dtype), Location::Device);
            let (plain, graded) = (there(&x), there(&gauged(&x, range, 1)));
            let mut session = Contraction::new(&context, Options::default()).unwrap();
            let (want, _) = session.inner_scaled(None, &plain, &plain, None).unwrap();
            let (got, _) = session.inner_scaled(None, &graded, &graded, None).unwrap();
            assert_close(&format!("{dtype:?} {rank} {cyclic}"), got, want, want, tolerance);
            let mut sums = [Scaled::ZERO; 4];
            let list = [&plain, &graded, &plain, &graded];
            session.inner_batch(None, &list, &[&plain, &plain, &graded, &graded], &mut sums, None).unwrap();
            for got in sums {
                assert_close(&format!("batch {dtype:?} {rank} {cyclic}"), got, want, want, tolerance);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_calls_of_bonds_far_from_balanced_say_so() {
    let context = gpu(0);
    let calls = [NormMethod::Inner, NormMethod::Qr];
    for (dtype, range) in [(DType::F32, 40), (DType::CF64, 330)] {
        for (rank, cyclic) in [(3, false), (20, true), (90, false), (300, false)] {
            let x = Numbers::uniform_ranks(4, 2, rank, cyclic, false, 7);
            let there = |plain: &Numbers| placed(&context, plain.train(&context, dtype), Location::Device);
            let (plain, graded) = (there(&x), there(&gauged(&x, range, 1)));
            let real = if dtype == DType::F32 { DType::F32 } else { DType::F64 };
            let unit = identity(&context, real, &[2; 4]).unwrap();
            let mut result = place(&context);
            for norm_method in calls {
                let mut session = Contraction::new(&context, Options { norm_method, ..Options::default() }).unwrap();
                for (train, bad) in [(&plain, false), (&graded, true)] {
                    let what = format!("{dtype:?} {rank} {cyclic} {norm_method:?}");
                    let expect = |result: &crate::tensor::Tensor| {
                        let (got, outcome) = number(&context, result);
                        assert_eq!((got.is_finite(), outcome), (!bad, if bad { 3.0 } else { 0.0 }), "{what}: {got:?}");
                    };
                    session.enqueue_inner(None, &plain, train, Some(&mut result)).unwrap();
                    expect(&result);
                    session.enqueue_norm(None, train, Some(&mut result)).unwrap();
                    expect(&result);
                    session.enqueue_distance(None, train, &plain, Some(&mut result)).unwrap();
                    expect(&result);
                    let trains = Trains::new(&plain, Some(&unit), train);
                    session.enqueue_sandwich(None, &trains, Some(&mut result)).unwrap();
                    expect(&result);
                    session.enqueue_rayleigh(None, train, &unit, Some(&mut result)).unwrap();
                    expect(&result);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_norms_of_cores_far_apart_say_so() {
    let context = gpu(0);
    // One entry, whose magnitude moves from core to core: one exponent for both trains loses one of them.
    let train = |sizes: [f64; 2]| {
        let mut x = Plain::random(&[1; 2], &[1; 3], 1, 1.0);
        x.cores.iter_mut().zip(sizes).for_each(|(core, size)| core[0] = (size, 0.0));
        x.train(&context, DType::F64, Location::Device)
    };
    let far = 2.0f64.powi(600);
    let (a, b) = (train([far, 1.0 / far]), train([1.0 / far, far]));
    let mut session = Contraction::new(&context, Options::default()).unwrap();
    let mut result = place(&context);
    session.enqueue_distance(None, &a, &b, Some(&mut result)).unwrap();
    assert_eq!(number(&context, &result).1, 3.0);
    assert!(session.distance(None, &a, &b, None).unwrap().0 < 1e-12);
}

#[test]
#[ignore = "needs a GPU"]
fn environments_hold_what_bonds_carry() {
    check_environments(&gpu(0), Location::Device);
}

#[test]
#[ignore = "needs a GPU"]
fn environments_hold_what_one_exponent_does_not() {
    for location in [Location::Device, Location::Host] {
        spans::check(&gpu(0), location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_zero_train_is_far_from_others_whatever_its_cores() {
    for location in [Location::Device, Location::Host] {
        check_zeros(&gpu(0), location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn sums_of_long_trains_keep_both() {
    check_sums(&gpu(0), Location::Device);
}

#[test]
#[ignore = "needs a GPU"]
fn numbers_may_grow_from_core_to_core() {
    check_growing(&gpu(0), Location::Device);
}

#[test]
#[ignore = "needs a GPU"]
fn numbers_that_meet_zeros_hide_none_that_count() {
    for location in [Location::Device, Location::Host] {
        pruned::check(&gpu(0), location, &[NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr], &[Method::Full]);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn small_products_of_finite_trains_are_finite() {
    for location in [Location::Device, Location::Host] {
        pruned::check_small(&gpu(0), location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_is_not_finite_is_seen_behind_zeros_too() {
    for location in [Location::Device, Location::Host] {
        pruned::check_rings(&gpu(0), location, &[NormMethod::Inner, NormMethod::Qr]);
        pruned::check_factors(&gpu(0), location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn trains_are_examined_while_the_device_contracts_them() {
    for on_device in [[false; 2], [true; 2], [true, false], [false, true]] {
        examination::check(&gpu(0), on_device);
    }
    examination::check_failures(&gpu(0));
}

#[test]
#[ignore = "needs a GPU"]
fn threads_with_one_context_examine_their_trains_side_by_side() {
    let context = gpu(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| examination::check(&context, [true; 2]));
        }
    });
}
