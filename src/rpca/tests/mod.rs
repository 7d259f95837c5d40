mod checksums;
mod device;
mod edges;
mod effects;
mod golden;
mod memory;
mod plans;
mod progress;
mod range;
mod session;
mod team;

use std::slice::from_ref;
use std::sync::Arc;

use super::session::Observed;
use super::*;
use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::error::{Error, Result};
use crate::group::Group;
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::scalar::{Element, Scalar};
use crate::shape::Order;
use crate::stream::Stream;
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

/// A session for one run.
fn session(contexts: &[Arc<Context>], options: &Options) -> Result<Rpca> {
    Rpca::over(&Group::new(contexts.to_vec())?, options.clone())
}

/// [`Rpca::plan`] of a session for it alone.
pub(super) fn plan(contexts: &[Arc<Context>], m: &Matrix, mask: Option<&Matrix>, options: &Options) -> Result<Info> {
    session(contexts, options)?.plan(Observed { m, mask })
}

/// [`Rpca::compute`] of a session for it alone.
#[allow(clippy::too_many_arguments, reason = "the arguments of the C interface")]
pub(super) fn compute(
    contexts: &[Arc<Context>],
    stream: Option<&Stream>,
    m: &Matrix,
    mask: Option<&Matrix>,
    options: &Options,
    low_rank: Option<&mut Matrix>,
    sparse: Option<&mut Matrix>,
    report: Option<&ProgressFn<'_>>,
) -> Result<Info> {
    session(contexts, options)?.compute(stream, Observed { m, mask }, low_rank, sparse, report)
}

/// [`Rpca::compute_csr`] of a session for it alone.
pub(super) fn compute_csr(
    contexts: &[Arc<Context>],
    stream: Option<&Stream>,
    m: &Matrix,
    mask: Option<&Matrix>,
    options: &Options,
    low_rank: Option<&mut Matrix>,
    report: Option<&ProgressFn<'_>>,
) -> Result<(Matrix, Info)> {
    session(contexts, options)?.compute_csr(stream, Observed { m, mask }, low_rank, report)
}

/// The parts, row by row, and the figures.
pub(super) fn split<T: Scalar>(
    context: &Arc<Context>,
    m: &Matrix,
    mask: Option<&Matrix>,
    options: &Options,
) -> Result<(Vec<T>, Vec<T>, Info)> {
    let part = || Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, m.rows(), m.cols()).unwrap();
    let (mut low_rank, mut sparse) = (part(), part());
    let info = compute(from_ref(context), None, m, mask, options, Some(&mut low_rank), Some(&mut sparse), None)?;
    Ok((entries(&low_rank), entries(&sparse), info))
}

/// ||a - b||_F / ||b||_F.
pub(super) fn difference<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    let square = |v: T| v.re() * v.re() + v.im() * v.im();
    let above: f64 = a.iter().zip(b).map(|(a, b)| square(*a - *b)).sum();
    (above / b.iter().map(|b| square(*b)).sum::<f64>()).sqrt()
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
