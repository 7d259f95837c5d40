//! The GPU against the CPU, on a device.

mod arrays;
mod pairs;
mod scales;
mod tops;

use std::sync::Arc;

use super::super::*;
use crate::backend::BackendChoice;
use crate::context::{self, Context};
use crate::error::Error;
use crate::rng;
use crate::scalar::{DType, Element, Real};
use crate::shape::Order;
use crate::tensor::{self, Location, Symmetric, Tensor};

fn context(backend: BackendChoice, device_memory_limit: u64) -> Arc<Context> {
    let options = context::Options { backend, threads: 4, device_memory_limit, ..context::Options::default() };
    Context::new(options).unwrap()
}

/// A batch of tensors with entries uniform in [-1, 1), the same wherever it lies.
struct Case<T> {
    context: Arc<Context>,
    tensors: Tensor,
    marker: std::marker::PhantomData<T>,
}

fn entry(t: usize, r: usize) -> f64 {
    rng::uniform(77, 50, t as u64, r as u32)
}

/// Results of all kinds on the host.
struct Found {
    count: Vec<i32>,
    status: Vec<i32>,
    values: Vec<f64>,
    vectors: Vec<f64>,
    residuals: Vec<f64>,
    classes: Vec<i32>,
    hessian: Vec<f64>,
    basins: Vec<i32>,
    info: Info,
}

fn numbers<T: Real>(tensor: &Tensor) -> Vec<f64> {
    let context = tensor.context();
    let mut host = Tensor::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, tensor.dims()).unwrap();
    tensor::copy(context, None, tensor, &mut host).unwrap();
    let mut view = host.view_mut::<T>("x").unwrap();
    view.data().iter().map(|x| x.to_f64()).collect()
}

fn integers(tensor: &Tensor) -> Vec<i32> {
    let context = tensor.context();
    let mut host = Tensor::create(context, DType::I32, Location::Host, Order::ColumnMajor, tensor.dims()).unwrap();
    tensor::copy(context, None, tensor, &mut host).unwrap();
    let mut view = host.view_mut::<i32>("x").unwrap();
    view.data().to_vec()
}

impl<T: Real> Case<T> {
    fn new(
        context: &Arc<Context>,
        shape: Symmetric,
        items: usize,
        location: Location,
        order: Order,
        put: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let mut host =
            Tensor::create_symmetric(context, T::DTYPE, Location::Host, Order::ColumnMajor, shape, items).unwrap();
        let mut view = host.view_mut::<T>("x").unwrap();
        for t in 0..items {
            for r in 0..shape.count() {
                view.set(&[r, t], T::from_f64(put(t, r)));
            }
        }
        let mut tensors = Tensor::create_symmetric(context, T::DTYPE, location, order, shape, items).unwrap();
        if location == Location::Device && order == Order::RowMajor {
            // Device copies keep the order: go by way of a host array of that order.
            let mut turned = Tensor::create_symmetric(context, T::DTYPE, Location::Host, order, shape, items).unwrap();
            tensor::copy(context, None, &host, &mut turned).unwrap();
            tensor::copy(context, None, &turned, &mut tensors).unwrap();
        } else {
            tensor::copy(context, None, &host, &mut tensors).unwrap();
        }
        Self { context: Arc::clone(context), tensors, marker: std::marker::PhantomData }
    }

    fn output(&self, dtype: DType, location: Location, dims: &[usize]) -> Tensor {
        Tensor::create(&self.context, dtype, location, Order::ColumnMajor, dims).unwrap()
    }

    fn solve(&self, options: &Options, pairs: usize, location: Location) -> Found {
        let n = self.tensors.symmetric().unwrap().dimension;
        let t = self.tensors.dims()[1];
        let (real, int) = (T::DTYPE, i32::DTYPE);
        let mut count = self.output(int, location, &[t]);
        let mut status = self.output(int, location, &[t]);
        let mut values = self.output(real, location, &[pairs, t]);
        let mut vectors = self.output(real, location, &[n, pairs, t]);
        let mut residuals = self.output(real, location, &[pairs, t]);
        let mut classes = self.output(int, location, &[pairs, t]);
        let mut hessian = self.output(real, location, &[n - 1, pairs, t]);
        let mut basins = self.output(int, location, &[pairs, t]);
        let mut results = Results {
            count: Some(&mut count),
            status: Some(&mut status),
            values: Some(&mut values),
            vectors: Some(&mut vectors),
            residuals: Some(&mut residuals),
            classes: Some(&mut classes),
            hessian: Some(&mut hessian),
            basins: Some(&mut basins),
            ..Results::default()
        };
        let progress = self.context.progress(None);
        let info = solve(&self.context, None, &self.tensors, None, options, &mut results, &progress).unwrap();
        Found {
            count: integers(&count),
            status: integers(&status),
            values: numbers::<T>(&values),
            vectors: numbers::<T>(&vectors),
            residuals: numbers::<T>(&residuals),
            classes: integers(&classes),
            hessian: numbers::<T>(&hessian),
            basins: integers(&basins),
            info,
        }
    }
}

fn shapes() -> Vec<Symmetric> {
    [(4, 3), (3, 3), (6, 3), (8, 3), (2, 3), (5, 3), (4, 2), (3, 2), (2, 1), (3, 5), (4, 6)]
        .map(|(m, n)| Symmetric::new(m, n).unwrap())
        .into()
}

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
