//! Constant shifts that are larger than a sufficient one: a step is short then, whether or not its vector is an eigenvector.

use std::sync::Arc;

use super::support::*;
use crate::context::Context;
use crate::rng;
use crate::scalar::Real;
use crate::sshopm::cpu::load::frobenius;
use crate::sshopm::options::{Compatibility, StartStatus};
use crate::sshopm::plan::Plan;
use crate::sshopm::{Method, Options, Shift, StartKind, TensorStatus, Test};
use crate::tensor::Symmetric;

const STARTS: usize = 40;

/// Entries of a random tensor, and its Frobenius norm.
fn random(order: usize, dimension: usize) -> (Vec<f64>, f64) {
    let shape = Symmetric { order, dimension };
    let entries: Vec<f64> = (0..shape.count()).map(|k| rng::normal(8, 64, order as u64, k as u32)).collect();
    let norm = frobenius(&entries, &Plan::<f64>::tables(shape).unwrap().0);
    (entries, norm)
}

fn options(method: Method, test: Test, shift: f64) -> Options {
    let start_kind = StartKind::Random;
    Options { method, test, shift, shift_kind: Shift::Fixed, start_kind, starts: STARTS as i64, ..Options::default() }
}

fn shapes() -> [(usize, usize); 6] {
    [(4, 3), (3, 3), (6, 3), (5, 3), (4, 2), (3, 5)]
}

/// The largest residual that a sufficient shift leaves, relative to the norm: a step is |r| / (shift + lambda) long and raises
/// lambda by at least |r|^2 / (shift + lambda).
fn largest_residual<T: Real>(test: Test, order: usize) -> f64 {
    let tolerance = if size_of::<T>() == 4 { 1e-5 } else { 1e-10 };
    let order = order as f64;
    if test == Test::Step { 2.0 * order * tolerance } else { (2.0 * order * tolerance).sqrt() }
}

fn only_eigenvectors_converge<T: Real>(c: &Arc<Context>) {
    for (order, dimension) in shapes() {
        let (entries, norm) = random(order, dimension);
        let a = symmetric::<T>(c, order, dimension, &entries);
        for method in [Method::Power, Method::Hybrid] {
            for test in [Test::Lambda, Test::Step] {
                let bound = largest_residual::<T>(test, order) * norm;
                for factor in [5.0, 30.0, 1e3, 1e6, 1e12, 1e20] {
                    let o = Options { max_iterations: 3000, ..options(method, test, factor * norm) };
                    let e = run_starts::<T>(c, &a, None, &o, STARTS);
                    let what = format!("{order} {dimension} {} {method:?} {test:?} {factor:e}", T::DTYPE.name());
                    let converged = e.status.iter().filter(|s| **s == StartStatus::Converged as i32).count();
                    for (r, s) in e.residuals.iter().zip(&e.status) {
                        let unmet = *s != StartStatus::Converged as i32;
                        assert!(unmet || r.to_f64() <= bound, "{what}: residual {}", r.to_f64());
                    }
                    if factor <= 5.0 {
                        assert!(converged > 0, "{what}: no start converged");
                    }
                    if factor >= 1e6 && method == Method::Power {
                        assert_eq!(converged, 0, "{what}");
                        let s = run::<T>(c, &a, None, &o, 4);
                        assert_eq!((s.count[0], s.status[0]), (0, TensorStatus::NoPair as i32), "{what}");
                        assert_eq!((s.info.converged_starts, s.info.unconverged_tensors), (0, 1), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_step_that_a_large_shift_shortens_is_no_convergence() {
    let c = context(1);
    only_eigenvectors_converge::<f64>(&c);
    only_eigenvectors_converge::<f32>(&c);
}

/// The second tensor is the first times 1e-9, like a voxel of background: what is sufficient for one is 1e9 times too much for
/// the other.
#[test]
fn each_tensor_of_a_batch_has_the_tolerance_of_its_norm() {
    let c = context(1);
    let (mut entries, norm) = random(4, 3);
    entries.extend(entries.clone().iter().map(|a| 1e-9 * a));
    let a = symmetric::<f64>(&c, 4, 3, &entries);
    for test in [Test::Lambda, Test::Step] {
        let o = Options { max_iterations: 3000, ..options(Method::Power, test, 3.0 * norm) };
        let e = run_starts::<f64>(&c, &a, None, &o, STARTS);
        let converged = |t: usize| {
            let status = &e.status[t * STARTS..(t + 1) * STARTS];
            status.iter().filter(|s| **s == StartStatus::Converged as i32).count()
        };
        assert!(converged(0) > STARTS / 2 && converged(1) == 0, "{test:?}: {} {}", converged(0), converged(1));
        let s = run::<f64>(&c, &a, None, &o, 4);
        assert!(s.count[0] > 0 && s.count[1] == 0, "{test:?}: {:?}", s.count);
    }
}

/// x_1^4 + 2 x_2^4 + 3 x_3^4 and the start e_3, which is an eigenvector.
#[test]
fn an_eigenvector_converges_with_any_shift() {
    let c = context(1);
    let mut entries = [0.0; 15];
    (entries[0], entries[10], entries[14]) = (1.0, 2.0, 3.0);
    let a = symmetric::<f64>(&c, 4, 3, &entries);
    let start = from_slice::<f64>(&c, &[3, 1], &[0.0, 0.0, 1.0]);
    for (method, most) in [(Method::Power, 50), (Method::Hybrid, 1)] {
        for test in [Test::Lambda, Test::Step] {
            let o =
                Options { starts: 0, start_kind: StartKind::Auto, max_iterations: 50, ..options(method, test, 1e20) };
            let e = run_starts::<f64>(&c, &a, Some(&start), &o, 1);
            assert_eq!((e.status[0], e.values[0]), (StartStatus::Converged as i32, 3.0), "{method:?} {test:?}");
            assert!(e.iterations[0] <= most, "{method:?} {test:?}: {} iterations", e.iterations[0]);
        }
    }
}

fn no_zero_vector_is_a_pair<T: Real>(c: &Arc<Context>, shift: f64) {
    for (order, dimension) in shapes() {
        let a = symmetric::<T>(c, order, dimension, &random(order, dimension).0);
        for test in [Test::Residual, Test::Lambda, Test::Step] {
            let o = Options { max_iterations: 50, ..options(Method::Power, test, shift) };
            let e = run_starts::<T>(c, &a, None, &o, STARTS);
            assert!(e.status.iter().all(|s| *s == StartStatus::MaxIterations as i32), "{order} {dimension} {test:?}");
        }
    }
}

#[test]
fn a_shift_whose_square_overflows_leaves_unit_vectors() {
    let c = context(1);
    no_zero_vector_is_a_pair::<f32>(&c, 1e30);
    no_zero_vector_is_a_pair::<f32>(&c, 1e300);
    no_zero_vector_is_a_pair::<f64>(&c, 1e300);
}

/// The reference's absolute test of lambda is met by a step that vanishes. Only the residuals show the failure.
#[test]
fn the_tensor_toolbox_s_test_is_its_own() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let compatibility = Compatibility::TensorToolbox;
    let o = Options { compatibility, ..options(Method::Power, Test::Lambda, 1e20) };
    let e = run_starts::<f64>(&c, &a, None, &o, STARTS);
    assert!(e.status.iter().all(|s| *s == StartStatus::Converged as i32));
    assert!(e.residuals.iter().any(|r| *r > 0.1), "{:?}", e.residuals);
}
