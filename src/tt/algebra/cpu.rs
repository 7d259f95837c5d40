//! [`TrainOps`] on the CPU: cores are column-major matrices in host memory.

use super::ops::{Numbers, TrainOps};
use crate::backend::memory::Memory;
use crate::dense::Algebra;
use crate::dense::Delta;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::cpu::wide;
use crate::error::Result;
use crate::scalar::Scalar;
use crate::tensor::train::TensorTrain;

fn slice<'a, T: Scalar>(a: &Numbers<'a, T, CpuMatrix<T>>) -> Result<&'a [T]> {
    match a {
        Numbers::Host(values) => Ok(values),
        Numbers::Matrix(m) => m.slice(),
    }
}

impl<T: Scalar> TrainOps<T> for CpuAlgebra {
    fn reshape(&mut self, m: CpuMatrix<T>, rows: usize, cols: usize) -> Result<CpuMatrix<T>> {
        m.reshaped(rows, cols)
    }

    fn load(&mut self, train: &TensorTrain, k: usize, rows: usize, cols: usize) -> Result<CpuMatrix<T>> {
        let (memory, offset) = train.memory(k);
        let core = &memory.host("x")?.as_slice::<T>()?[offset..offset + train.shape().core_len(k)];
        self.upload("core of a tensor train", rows, cols, core, rows)
    }

    fn store(&mut self, m: &CpuMatrix<T>, train: &mut TensorTrain, k: usize) -> Result<()> {
        let len = train.shape().core_len(k);
        let (memory, offset) = train.memory_mut("result", k)?;
        memory.host_mut("result")?.as_mut_slice::<T>()?[offset..offset + len].copy_from_slice(m.slice()?);
        Ok(())
    }

    fn put(&mut self, m: &CpuMatrix<T>, out: &mut Memory) -> Result<()> {
        let from = m.slice()?;
        out.host_mut("tensor")?.as_mut_slice::<T>()?[..from.len()].copy_from_slice(from);
        Ok(())
    }

    fn hold(&mut self, _: &Memory, _: usize) -> Result<Option<CpuMatrix<T>>> {
        Ok(None)
    }

    fn left_vectors(
        &mut self,
        a: &Numbers<'_, T, CpuMatrix<T>>,
        shape: (usize, usize),
        delta: Delta,
    ) -> Result<(CpuMatrix<T>, Vec<f64>)> {
        wide::left_vectors(self.context(), slice(a)?, shape, delta)
    }

    fn project(
        &mut self,
        u: &CpuMatrix<T>,
        a: &Numbers<'_, T, CpuMatrix<T>>,
        shape: (usize, usize),
    ) -> Result<CpuMatrix<T>> {
        wide::project(self.context(), u, slice(a)?, shape)
    }

    fn product_to(&mut self, alpha: f64, a: &CpuMatrix<T>, b: &CpuMatrix<T>, out: &mut Memory) -> Result<()> {
        wide::product_to(self.context(), alpha, a, b, out.host_mut("tensor")?.as_mut_slice()?)
    }
}
