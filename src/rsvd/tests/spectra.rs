//! Spectra of the published tables, matrices that have them, and the mean error of a method.
//!
//! Errors depend on the spectrum alone where the sketch is Gaussian and the matrix is not cut, so that a diagonal matrix,
//! kept sparse, stands for a dense one.

use std::sync::Arc;

use super::support::{Dense, factor};
use crate::backend::memory::HostMemory;
use crate::context::Context;
use crate::matrix::{Csr, CsrParts, IndexType, Matrix};
use crate::rsvd::Options;
use crate::scalar::{DType, Scalar};

fn host<T: crate::scalar::Element>(context: &Arc<Context>, values: &[T]) -> HostMemory {
    let mut memory = HostMemory::allocate("test", size_of_val(values), context.host_budget()).unwrap();
    memory.as_mut_slice::<T>().unwrap().copy_from_slice(values);
    memory
}

/// A sparse matrix of given offsets, columns and values.
pub fn csr(context: &Arc<Context>, shape: (usize, usize), offsets: &[i64], columns: &[i32], values: &[f64]) -> Matrix {
    let parts = CsrParts {
        row_ptr: host(context, offsets),
        row_ptr_type: IndexType::I64,
        col_idx: host(context, columns),
        col_idx_type: IndexType::I32,
        values: Some(crate::backend::memory::Memory::Host(host(context, values))),
    };
    let csr = Csr::new(parts, shape.0, shape.1, values.len(), 0).unwrap();
    Matrix::from_csr(context, DType::F64, csr, true)
}

/// A dense matrix with all its entries stored as a sparse one.
pub fn csr_of<T: Scalar>(context: &Arc<Context>, a: &Dense<T>) -> Matrix {
    let offsets: Vec<i64> = (0..=a.rows).map(|i| (i * a.columns) as i64).collect();
    let places: Vec<i32> = (0..a.rows).flat_map(|_| 0..a.columns as i32).collect();
    let values: Vec<T> = (0..a.rows).flat_map(|i| (0..a.columns).map(move |j| a.at(i, j))).collect();
    let parts = CsrParts {
        row_ptr: host(context, &offsets),
        row_ptr_type: IndexType::I64,
        col_idx: host(context, &places),
        col_idx_type: IndexType::I32,
        values: Some(crate::backend::memory::Memory::Host(host(context, &values))),
    };
    let csr = Csr::new(parts, a.rows, a.columns, values.len(), 0).unwrap();
    Matrix::from_csr(context, T::DTYPE, csr, true)
}

/// A diagonal matrix, kept sparse.
pub fn diagonal(context: &Arc<Context>, s: &[f64]) -> Matrix {
    let n = s.len();
    let offsets: Vec<i64> = (0..=n as i64).collect();
    let columns: Vec<i32> = (0..n as i32).collect();
    csr(context, (n, n), &offsets, &columns, s)
}

/// Mean of e2 = ||A - A_k||_F / ||A||_F over seeds.
pub fn mean_error(context: &Arc<Context>, a: &Matrix, options: &Options, seeds: u64) -> f64 {
    let run = |seed| factor::<f64>(context, a, Options { seed, ..options.clone() }).unwrap().info.error_relative;
    (0..seeds).map(run).sum::<f64>() / seeds as f64
}

/// 0.99^j from j = 0.
pub fn geometric(n: usize) -> Vec<f64> {
    (0..n).map(|j| 0.99f64.powi(j as i32)).collect()
}

/// exp(-j / 160) from j = 1.
pub fn exponential(n: usize) -> Vec<f64> {
    (1..=n).map(|j| (-(j as f64) / 160.0).exp()).collect()
}

/// j^(-1/2) from j = 1.
pub fn root(n: usize) -> Vec<f64> {
    (1..=n).map(|j| (j as f64).powf(-0.5)).collect()
}

/// Relative error of the best matrix of rank `k`.
pub fn best_error(s: &[f64], k: usize) -> f64 {
    let tail = |from: usize| s[from..].iter().map(|x| x * x).sum::<f64>();
    (tail(k) / tail(0)).sqrt()
}
