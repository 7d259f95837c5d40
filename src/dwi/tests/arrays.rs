//! Tensors from lists of numbers, and lists of numbers from tensors and files.

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::scalar::{DType, Element, Real};
use crate::shape::Order;
use crate::tensor::{Location, Symmetric, Tensor};

pub(super) fn context(threads: usize) -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads, ..Options::default() }).unwrap()
}

/// A tensor with `dims` holding `data`, given first index fastest.
pub(super) fn tensor<T: Element>(context: &Arc<Context>, order: Order, dims: &[usize], data: &[T]) -> Tensor {
    let mut t = Tensor::create(context, T::DTYPE, Location::Host, order, dims).unwrap();
    let mut index = vec![0; dims.len()];
    let mut view = t.view_mut::<T>("test").unwrap();
    for x in data {
        view.set(&index, *x);
        for (i, d) in index.iter_mut().zip(dims) {
            *i += 1;
            if *i < *d {
                break;
            }
            *i = 0;
        }
    }
    t
}

pub(super) fn zeros(context: &Arc<Context>, dtype: DType, dims: &[usize]) -> Tensor {
    Tensor::create(context, dtype, Location::Host, Order::ColumnMajor, dims).unwrap()
}

/// Zeroed symmetric batch in three dimensions, one tensor after another.
pub(super) fn batch(context: &Arc<Context>, dtype: DType, order: i64, count: usize) -> Tensor {
    let shape = Symmetric::new(order, 3).unwrap();
    Tensor::create_symmetric(context, dtype, Location::Host, Order::ColumnMajor, shape, count).unwrap()
}

/// The elements, first index fastest, as f64.
pub(super) fn elements<T: Real>(t: &Tensor) -> Vec<f64> {
    let view = t.view::<T>("test").unwrap();
    assert!(t.layout().is_packed(Order::ColumnMajor));
    view.data()[..t.layout().elements()].iter().map(|x| x.to_f64()).collect()
}

pub(super) fn status(t: &Tensor) -> Vec<i32> {
    t.view::<i32>("test").unwrap().data().to_vec()
}

pub(super) fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

pub(super) fn f64s(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

/// Numbers of a text file, NaN included.
pub(super) fn numbers(text: &str) -> Vec<f64> {
    text.split([',', ' ', '\n']).filter(|t| !t.is_empty()).map(|t| t.parse().unwrap()).collect()
}

/// Largest difference of two lists, over the largest magnitude of `expected`; NaN in `expected` is passed over.
pub(super) fn distance(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let known = || found.iter().zip(expected).filter(|(_, e)| !e.is_nan());
    let scale = known().map(|(_, e)| e.abs()).fold(0.0, f64::max);
    known().map(|(f, e)| if f.is_nan() { f64::INFINITY } else { (f - e).abs() }).fold(0.0, f64::max) / scale
}
