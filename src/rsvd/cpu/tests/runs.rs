//! Contexts, settings and matrices of a run.

use std::sync::Arc;

use super::super::CpuOps;
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::dense::Algebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::sketch::{Distribution, Sketch};
use crate::scalar::{Real, Scalar};

pub(super) fn context(threads: usize, limit: u64) -> Arc<Context> {
    let options = Options { backend: BackendChoice::Cpu, threads, host_memory_limit: limit, ..Options::default() };
    Context::new(options).unwrap()
}

pub(super) fn eps<T: Scalar>() -> f64 {
    <T::Part as Real>::EPSILON.to_f64()
}

pub(super) fn sketch(stream: u32) -> Sketch {
    Sketch { distribution: Distribution::Gaussian, seed: 11, stream }
}

pub(super) fn filled<T: Scalar>(ops: &mut CpuOps<'_, T>, rows: usize, cols: usize, stream: u32) -> CpuMatrix<T> {
    let mut m = ops.zeros("test", rows, cols).unwrap();
    ops.fill(&mut m, &sketch(stream), 0, 0).unwrap();
    m
}

/// A matrix whose numbers must not be read.
pub(super) fn poisoned<T: Scalar>(ops: &mut CpuOps<'_, T>, rows: usize, cols: usize) -> CpuMatrix<T> {
    let mut m = ops.zeros("test", rows, cols).unwrap();
    m.slice_mut().unwrap().fill(T::from_parts(f64::NAN, f64::NAN));
    m
}
