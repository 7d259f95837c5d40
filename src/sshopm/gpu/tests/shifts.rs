//! Constant shifts that are larger than a sufficient one: a start of a GPU converges where its residual agrees.

use std::sync::Arc;

use super::cases::{Case, context, entry, integers, numbers};
use crate::backend::BackendChoice;
use crate::context::Context;
use crate::scalar::{DType, Real};
use crate::shape::Order;
use crate::sshopm::{Compatibility, Method, Options, Results, Shift, StartKind, StartStatus, Test, solve};
use crate::tensor::{Location, Symmetric};

/// Tensors of a batch. The odd ones are 2^-30 times as large as the others, like voxels of background.
const ITEMS: usize = 6;
const STARTS: usize = 33;

/// Residuals, states and steps of all starts. Without `counted`, steps are not asked for, so that the kernels may take the
/// fast variant of the test of lambda.
fn ends<T: Real>(c: &Arc<Context>, shape: Symmetric, o: &Options, counted: bool) -> (Vec<f64>, Vec<i32>, Vec<i32>) {
    let put = |t: usize, r: usize| if t.is_multiple_of(2) { entry(t, r) } else { entry(t, r) * 2f64.powi(-30) };
    let case = Case::<T>::new(c, shape, ITEMS, Location::Host, Order::ColumnMajor, put);
    let dims = [STARTS, ITEMS];
    let mut residuals = case.output(T::DTYPE, Location::Host, &dims);
    let [mut status, mut steps] = [(); 2].map(|()| case.output(DType::I32, Location::Host, &dims));
    let mut results = Results {
        start_residuals: Some(&mut residuals),
        start_status: Some(&mut status),
        start_iterations: counted.then_some(&mut steps),
        ..Results::default()
    };
    solve(c, None, &case.tensors, None, o, &mut results, &c.progress(None)).unwrap();
    (numbers::<T>(&residuals), integers(&status), integers(&steps))
}

fn options(method: Method, test: Test, shift: f64) -> Options {
    let (start_kind, starts, max_iterations) = (StartKind::Random, STARTS as i64, 1000);
    let base = Options { start_kind, starts, max_iterations, ..Options::default() };
    Options { method, test, shift, shift_kind: Shift::Fixed, ..base }
}

fn only_eigenvectors_converge<T: Real>(c: &Arc<Context>) {
    let tolerance = if size_of::<T>() == 4 { 1e-5 } else { 1e-10 };
    for (order, dimension) in [(4, 3), (3, 3), (6, 3), (8, 3), (5, 3), (4, 2), (3, 5)] {
        let shape = Symmetric::new(order, dimension).unwrap();
        // Entries are below 1 and so the norm below this.
        let norm = (dimension as f64).powf(order as f64 / 2.0);
        for (method, test, isotropic, counted) in [
            (Method::Power, Test::Lambda, true, true),
            (Method::Power, Test::Lambda, false, false),
            (Method::Power, Test::Step, true, true),
            (Method::Hybrid, Test::Lambda, true, true),
            (Method::Hybrid, Test::Step, true, true),
        ] {
            // What a sufficient shift leaves: a step is |r| / (shift + lambda) long and raises lambda by |r|^2 / (shift + lambda).
            let share = 2.0 * order as f64 * tolerance;
            let bound = if test == Test::Step { share } else { share.sqrt() } * norm;
            for shift in [3.0, 1e3, 1e6, 1e20] {
                let o = Options { remove_isotropic: isotropic, ..options(method, test, shift * norm) };
                let (residuals, status, steps) = ends::<T>(c, shape, &o, counted);
                let what = format!("{shape:?} {} {method:?} {test:?} {shift:e}", T::DTYPE.name());
                for (k, (r, s)) in residuals.iter().zip(&status).enumerate() {
                    let is_small = k / STARTS % 2 == 1;
                    let bound = if is_small { bound * 2f64.powi(-30) } else { bound };
                    let has_converged = *s == StartStatus::Converged as i32;
                    assert!(!has_converged || *r <= bound, "{what}, start {k}: residual {r:e}");
                    if method == Method::Power && (is_small || shift >= 1e6) {
                        assert_eq!(*s, StartStatus::MaxIterations as i32, "{what}, start {k}: residual {r:e}");
                        assert!(!counted || steps[k] == 1000, "{what}, start {k}: {} steps", steps[k]);
                    }
                }
            }
        }
    }
}

#[test]
fn a_step_that_a_large_shift_shortens_is_no_convergence_on_the_cpu() {
    let c = context(BackendChoice::Cpu, 0);
    only_eigenvectors_converge::<f64>(&c);
    only_eigenvectors_converge::<f32>(&c);
}

#[test]
#[ignore = "needs a GPU"]
fn a_step_that_a_large_shift_shortens_is_no_convergence_on_a_gpu() {
    let c = context(BackendChoice::Cuda, 0);
    only_eigenvectors_converge::<f64>(&c);
    only_eigenvectors_converge::<f32>(&c);
}

#[test]
#[ignore = "needs a GPU"]
fn starts_under_large_shifts_end_as_on_the_cpu() {
    let (cpu, gpu) = (context(BackendChoice::Cpu, 0), context(BackendChoice::Cuda, 0));
    for (order, dimension) in [(4, 3), (3, 3), (5, 3), (3, 4)] {
        let shape = Symmetric::new(order, dimension).unwrap();
        for (test, compatibility) in [
            (Test::Lambda, Compatibility::None),
            (Test::Step, Compatibility::None),
            (Test::Lambda, Compatibility::TensorToolbox),
        ] {
            for shift in [100.0, 1e9] {
                let o = Options { compatibility, ..options(Method::Power, test, shift) };
                let (a, b) = (ends::<f64>(&cpu, shape, &o, true), ends::<f64>(&gpu, shape, &o, true));
                let strays = a.1.iter().zip(&b.1).filter(|(x, y)| x != y).count();
                assert!(strays <= 2, "{shape:?} {test:?} {compatibility:?} {shift:e}: {strays} starts differ");
            }
        }
    }
}
