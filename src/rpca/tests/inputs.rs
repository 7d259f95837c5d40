//! Matrices of given entries, the golden matrices, and noise.

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::matrix::Matrix;
use crate::scalar::Element;
use crate::shape::Order;
use crate::tensor::Location;
use crate::testing::source;

pub(super) fn context_with(threads: usize, host_memory_limit: u64) -> Arc<Context> {
    let options =
        ContextOptions { backend: BackendChoice::Cpu, threads, host_memory_limit, ..ContextOptions::default() };
    Context::new(options).unwrap()
}

pub(super) fn context() -> Arc<Context> {
    context_with(2, 0)
}

/// A matrix of the entries that `entry` gives.
pub(super) fn matrix<T: Element>(
    context: &Arc<Context>,
    order: Order,
    (rows, cols): (usize, usize),
    entry: impl Fn(usize, usize) -> T,
) -> Matrix {
    let mut m = Matrix::create(context, T::DTYPE, Location::Host, order, rows, cols).unwrap();
    let dense = m.dense_mut("m").unwrap();
    let strides = dense.layout.strides().to_vec();
    let values = dense.memory.host_mut("m").unwrap().as_mut_slice::<T>().unwrap();
    for i in 0..rows {
        for j in 0..cols {
            values[i * strides[0] + j * strides[1]] = entry(i, j);
        }
    }
    m
}

/// The entries row by row.
pub(super) fn entries<T: Element>(m: &Matrix) -> Vec<T> {
    let dense = m.dense("m").unwrap();
    let strides = dense.layout.strides();
    let values = dense.memory.host("m").unwrap().as_slice::<T>().unwrap();
    (0..m.rows()).flat_map(|i| (0..m.cols()).map(move |j| values[i * strides[0] + j * strides[1]])).collect()
}

fn golden_bytes(name: &str) -> Vec<u8> {
    let path = source("tests/golden/rpca").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn npy_data(bytes: &[u8]) -> &[u8] {
    &bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..]
}

fn doubles(name: &str) -> Vec<f64> {
    let bytes = golden_bytes(name);
    npy_data(&bytes).chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

/// M and L0 of the synthetic case, row by row.
pub(super) fn synthetic() -> (Vec<f64>, Vec<f64>) {
    let (a, b) = (doubles("synthetic_La.npy"), doubles("synthetic_Lb.npy"));
    let product = |i: usize, j: usize| (0..8).map(|k| a[i * 8 + k] * b[k * 200 + j]).sum();
    let low_rank = (0..300).flat_map(|i| (0..200).map(move |j| (i, j))).map(|(i, j)| product(i, j)).collect();
    (doubles("synthetic_M.npy"), low_rank)
}

/// The video's bytes, frame by frame.
pub(super) fn video() -> Vec<u8> {
    let packed = golden_bytes("video_96x72x200_u8.npy.gz");
    // The header's name ends with a zero, if there is one.
    let name = if packed[3] & 8 == 0 { 0 } else { packed[10..].iter().position(|b| *b == 0).unwrap() + 1 };
    let bytes = miniz_oxide::inflate::decompress_to_vec(&packed[10 + name..packed.len() - 8]).unwrap();
    npy_data(&bytes).to_vec()
}

/// A reproducible number in [-1, 1).
pub(super) fn noise(i: usize, j: usize) -> f64 {
    crate::rng::uniform(7, 99, i as u64, j as u32)
}
