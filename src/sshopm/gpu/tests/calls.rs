//! Starts, traces, products, classes and lists of all pairs: a GPU against the CPU.

use std::sync::Arc;

use super::cases::{Case, context, entry, integers, numbers, shapes};
use crate::backend::BackendChoice;
use crate::context::Context;
use crate::rng;
use crate::scalar::DType;
use crate::shape::Order;
use crate::sshopm::{Method, Options, Results, Shift, StartKind, StartStatus, all, classify, product, solve};
use crate::tensor::{self, Location, Symmetric, Tensor};

#[test]
#[ignore = "needs a GPU"]
fn start_results_and_traces_agree_with_the_cpu() {
    let (cpu, gpu) = (context(BackendChoice::Cpu, 0), context(BackendChoice::Cuda, 0));
    for (order, dimension) in [(4, 3), (3, 4)] {
        let shape = Symmetric::new(order, dimension).unwrap();
        let run = |context: &Arc<Context>, items: usize, starts: usize, traced: bool| {
            let case = Case::<f64>::new(context, shape, items, Location::Host, Order::ColumnMajor, entry);
            let options = Options {
                method: Method::Power,
                shift_kind: Shift::Fixed,
                shift: 10.0,
                starts: starts as i64,
                start_kind: StartKind::Random,
                max_iterations: 4000,
                remove_isotropic: false,
                ..Options::default()
            };
            let dims = [starts, items];
            let mut values = case.output(DType::F64, Location::Host, &dims);
            let mut vectors = case.output(DType::F64, Location::Host, &[dimension as usize, starts, items]);
            let mut residuals = case.output(DType::F64, Location::Host, &dims);
            let mut shifts = case.output(DType::F64, Location::Host, &dims);
            let mut iterations = case.output(DType::I32, Location::Host, &dims);
            let mut status = case.output(DType::I32, Location::Host, &dims);
            let mut violations = case.output(DType::I32, Location::Host, &dims);
            let mut trace = case.output(DType::F64, Location::Host, &[50]);
            let mut results = Results {
                start_values: Some(&mut values),
                start_vectors: Some(&mut vectors),
                start_residuals: Some(&mut residuals),
                start_shifts: Some(&mut shifts),
                start_iterations: Some(&mut iterations),
                start_status: Some(&mut status),
                start_violations: Some(&mut violations),
                trace: traced.then_some(&mut trace),
                ..Results::default()
            };
            let progress = case.context.progress(None);
            solve(&case.context, None, &case.tensors, None, &options, &mut results, &progress).unwrap();
            (
                numbers::<f64>(&values),
                numbers::<f64>(&vectors),
                numbers::<f64>(&shifts),
                integers(&iterations),
                integers(&status),
                integers(&violations),
                numbers::<f64>(&trace),
                numbers::<f64>(&residuals),
            )
        };
        let (a, b) = (run(&cpu, 20, 9, false), run(&gpu, 20, 9, false));
        let mut strays = 0;
        for (k, (x, y)) in a.0.iter().zip(&b.0).enumerate() {
            assert_eq!(b.4[k], StartStatus::Converged as i32, "{shape:?} {k}");
            assert!((b.2[k] - 10.0).abs() < 1e-9 && b.5[k] == 0, "{shape:?} {k}: {} {}", b.2[k], b.5[k]);
            assert!(b.7[k] < 1e-8);
            strays += usize::from((x - y).abs() > 1e-8 || (a.3[k] - b.3[k]).abs() > 2);
        }
        assert!(strays <= 4, "{shape:?}: {strays} starts differ");
        assert_eq!(a.4, b.4);
        let (a, b) = (run(&cpu, 1, 1, true), run(&gpu, 1, 1, true));
        for (k, (x, y)) in a.6.iter().zip(&b.6).enumerate() {
            assert!((x - y).abs() < 1e-9 || (x.is_nan() && y.is_nan()), "{shape:?} trace {k}: {x} {y}");
        }
        assert!(b.6[0].is_finite());
    }
}

#[test]
#[ignore = "needs a GPU"]
fn products_and_classes_agree_with_the_cpu() {
    let (cpu, gpu) = (context(BackendChoice::Cpu, 0), context(BackendChoice::Cuda, 0));
    for shape in shapes() {
        let (n, v, t) = (shape.dimension, 4, 30);
        for (location, order) in [(Location::Host, Order::RowMajor), (Location::Device, Order::ColumnMajor)] {
            for own in [false, true] {
                let dims: &[usize] = if own { &[n, v, t] } else { &[n, v] };
                let run = |context: &Arc<Context>, location: Location, order: Order, power: usize| {
                    let case = Case::<f64>::new(context, shape, t, location, order, entry);
                    let mut host =
                        Tensor::create(context, DType::F64, Location::Host, Order::ColumnMajor, dims).unwrap();
                    for (k, x) in host.view_mut::<f64>("x").unwrap().data().iter_mut().enumerate() {
                        *x = if k % 7 == 3 { 0.0 } else { rng::uniform(3, 51, 0, k as u32) };
                    }
                    let mut vectors = Tensor::create(context, DType::F64, location, Order::ColumnMajor, dims).unwrap();
                    tensor::copy(context, None, &host, &mut vectors).unwrap();
                    let free = shape.order - power;
                    let mut out = case.output(DType::F64, location, &[&[n, n][..free], &[v, t]].concat());
                    product(context, None, &case.tensors, &vectors, power as i64, &mut out).unwrap();
                    numbers::<f64>(&out)
                };
                for power in shape.order - 2..=shape.order {
                    let a = run(&cpu, Location::Host, Order::ColumnMajor, power);
                    let b = run(&gpu, location, order, power);
                    let scale = 1e-12 * shape.count() as f64;
                    assert!(
                        a.iter().zip(&b).all(|(x, y)| (x - y).abs() < scale),
                        "{shape:?} {location:?} {own} {power}"
                    );
                }
            }
        }
        let run = |context: &Arc<Context>| {
            let case = Case::<f64>::new(context, shape, t, Location::Host, Order::ColumnMajor, entry);
            let (mut values, mut vectors) =
                (case.output(DType::F64, Location::Host, &[v, t]), case.output(DType::F64, Location::Host, &[n, v, t]));
            for (k, x) in values.view_mut::<f64>("x").unwrap().data().iter_mut().enumerate() {
                *x = rng::uniform(4, 52, 0, k as u32);
            }
            for (k, x) in vectors.view_mut::<f64>("x").unwrap().data().iter_mut().enumerate() {
                *x = 1.0 + 0.5 * rng::uniform(4, 53, 0, k as u32);
            }
            let (mut residuals, mut hessian) = (
                case.output(DType::F64, Location::Host, &[v, t]),
                case.output(DType::F64, Location::Host, &[n - 1, v, t]),
            );
            let mut classes = case.output(DType::I32, Location::Host, &[v, t]);
            classify(
                context,
                None,
                &case.tensors,
                &values,
                &vectors,
                0.0,
                Some(&mut residuals),
                Some(&mut hessian),
                Some(&mut classes),
            )
            .unwrap();
            (numbers::<f64>(&residuals), numbers::<f64>(&hessian), integers(&classes))
        };
        let (a, b) = (run(&cpu), run(&gpu));
        for (x, y) in a.0.iter().chain(&a.1).zip(b.0.iter().chain(&b.1)) {
            assert!((x - y).abs() < 1e-10 * (1.0 + x.abs()) * shape.count() as f64, "{shape:?}: {x} {y}");
        }
        if n > 1 {
            assert_eq!(a.2, b.2, "{shape:?}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn large_sets_of_all_pairs_agree_with_the_cpu() {
    let (cpu, gpu) = (context(BackendChoice::Cpu, 0), context(BackendChoice::Cuda, 0));
    for (order, dimension) in [(4, 3), (3, 3), (6, 3), (5, 3), (4, 2), (3, 4)] {
        let shape = Symmetric::new(order, dimension).unwrap();
        let items = 12;
        let run = |context: &Arc<Context>| {
            let case = Case::<f64>::new(context, shape, items, Location::Host, Order::ColumnMajor, entry);
            let mut count = case.output(DType::I32, Location::Host, &[items]);
            let mut status = case.output(DType::I32, Location::Host, &[items]);
            let mut values = case.output(DType::F64, Location::Host, &[40, items]);
            let mut classes = case.output(DType::I32, Location::Host, &[40, items]);
            let mut morse = case.output(DType::I32, Location::Host, &[items]);
            let mut results = Results {
                count: Some(&mut count),
                status: Some(&mut status),
                values: Some(&mut values),
                classes: Some(&mut classes),
                ..Results::default()
            };
            let options = Options::default();
            let progress = context.progress(None);
            all(context, None, &case.tensors, &options, &mut results, Some(&mut morse), None, &progress).unwrap();
            (integers(&count), integers(&status), numbers::<f64>(&values), integers(&classes), integers(&morse))
        };
        let (a, b) = (run(&cpu), run(&gpu));
        assert_eq!((&a.0, &a.1, &a.3, &a.4), (&b.0, &b.1, &b.3, &b.4), "{shape:?}");
        for (x, y) in a.2.iter().zip(&b.2) {
            assert!((x - y).abs() < 1e-10 || (x.is_nan() && y.is_nan()), "{shape:?}: {x} {y}");
        }
    }
}
