//! Batches of tensors, and the results of a solve as lists on the host.

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::context::{self, Context};
use crate::rng;
use crate::scalar::{DType, Element, Real};
use crate::shape::Order;
use crate::sshopm::{Info, Options, Results, solve};
use crate::tensor::{self, Location, Symmetric, Tensor};

pub(super) fn context(backend: BackendChoice, device_memory_limit: u64) -> Arc<Context> {
    let options = context::Options { backend, threads: 4, device_memory_limit, ..context::Options::default() };
    Context::new(options).unwrap()
}

/// A batch of tensors with entries uniform in [-1, 1), the same wherever it lies.
pub(super) struct Case<T> {
    pub context: Arc<Context>,
    pub tensors: Tensor,
    marker: std::marker::PhantomData<T>,
}

pub(super) fn entry(t: usize, r: usize) -> f64 {
    rng::uniform(77, 50, t as u64, r as u32)
}

/// Results of all kinds on the host.
pub(super) struct Found {
    pub count: Vec<i32>,
    pub status: Vec<i32>,
    pub values: Vec<f64>,
    pub vectors: Vec<f64>,
    pub residuals: Vec<f64>,
    pub classes: Vec<i32>,
    pub hessian: Vec<f64>,
    pub basins: Vec<i32>,
    pub info: Info,
}

pub(super) fn numbers<T: Real>(tensor: &Tensor) -> Vec<f64> {
    let context = tensor.context();
    let mut host = Tensor::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, tensor.dims()).unwrap();
    tensor::copy(context, None, tensor, &mut host).unwrap();
    let mut view = host.view_mut::<T>("x").unwrap();
    view.data().iter().map(|x| x.to_f64()).collect()
}

pub(super) fn integers(tensor: &Tensor) -> Vec<i32> {
    let context = tensor.context();
    let mut host = Tensor::create(context, DType::I32, Location::Host, Order::ColumnMajor, tensor.dims()).unwrap();
    tensor::copy(context, None, tensor, &mut host).unwrap();
    let mut view = host.view_mut::<i32>("x").unwrap();
    view.data().to_vec()
}

impl<T: Real> Case<T> {
    pub fn new(
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

    pub fn output(&self, dtype: DType, location: Location, dims: &[usize]) -> Tensor {
        Tensor::create(&self.context, dtype, location, Order::ColumnMajor, dims).unwrap()
    }

    pub fn solve(&self, options: &Options, pairs: usize, location: Location) -> Found {
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

pub(super) fn shapes() -> Vec<Symmetric> {
    [(4, 3), (3, 3), (6, 3), (8, 3), (2, 3), (5, 3), (4, 2), (3, 2), (2, 1), (3, 5), (4, 6)]
        .map(|(m, n)| Symmetric::new(m, n).unwrap())
        .into()
}
