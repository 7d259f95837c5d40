//! [`TrainOps`] on the GPU: cores are column-major matrices in device memory.

use super::erased::{Dense, Typed};
use super::ops::{Numbers, TrainOps};
use super::orthogonal::factors;
use crate::backend::gpu::{Rows, Transpose, View};
use crate::backend::memory::Memory;
use crate::dense::Delta;
use crate::dense::gpu::{GpuAlgebra, GpuMatrix};
use crate::dense::{Algebra, Op};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::tensor::train::TensorTrain;

/// Copies numbers from host or device memory to a new matrix on the device.
fn copied<T: Scalar>(
    algebra: &mut GpuAlgebra,
    (memory, offset): (&Memory, usize),
    (rows, cols): (usize, usize),
) -> Result<GpuMatrix<T>> {
    let what = "core of a tensor train";
    let len = rows * cols;
    match memory {
        Memory::Host(m) => algebra.upload(what, rows, cols, &m.as_slice::<T>()?[offset..offset + len], rows),
        Memory::Device(m) => {
            let mut copy = algebra.uninitialized::<T>(what, rows, cols)?;
            let (size, width) = (size_of::<T>(), len * size_of::<T>());
            let rows = Rows { offset: offset * size, pitch: width, width, count: 1 };
            algebra.gpu().copy_rows(algebra.stream(), m, rows, copy.memory_mut(), 0)?;
            Ok(copy)
        }
    }
}

/// Copies the numbers of a matrix to host or device memory.
fn written<T: Scalar>(
    algebra: &mut GpuAlgebra,
    m: &GpuMatrix<T>,
    (memory, offset): (&mut Memory, usize),
    len: usize,
) -> Result<()> {
    let size = size_of::<T>();
    match memory {
        Memory::Host(out) => {
            let out = &mut out.as_mut_slice::<T>()?[offset..offset + len];
            algebra.gpu().load_numbers(algebra.stream(), m.memory(), 0, out)
        }
        Memory::Device(out) => {
            let rows = Rows { offset: 0, pitch: len * size, width: len * size, count: 1 };
            algebra.gpu().copy_rows(algebra.stream(), m.memory(), rows, out, offset * size)
        }
    }
}

fn matrix<'a, T: Scalar>(a: &Numbers<'a, T, GpuMatrix<T>>, (rows, cols): (usize, usize)) -> Result<View<'a>> {
    match a {
        Numbers::Matrix(m) => Ok(View::packed(m.memory().region(0, rows * cols * size_of::<T>())?, rows, cols)),
        Numbers::Host(_) => Err(Error::Internal("host memory in a product on the device".into())),
    }
}

impl<T: Scalar> TrainOps<T> for GpuAlgebra {
    fn reshape(&mut self, m: GpuMatrix<T>, rows: usize, cols: usize) -> Result<GpuMatrix<T>> {
        GpuMatrix::from_memory(m.into_memory(), rows, cols)
    }

    fn load(&mut self, train: &TensorTrain, k: usize, rows: usize, cols: usize) -> Result<GpuMatrix<T>> {
        copied(self, train.memory(k), (rows, cols))
    }

    fn store(&mut self, m: &GpuMatrix<T>, train: &mut TensorTrain, k: usize) -> Result<()> {
        let len = train.shape().core_len(k);
        let (memory, offset) = train.memory_mut("result", k)?;
        written(self, m, (memory, offset), len)
    }

    fn put(&mut self, m: &GpuMatrix<T>, out: &mut Memory) -> Result<()> {
        written(self, m, (out, 0), m.rows() * m.cols())
    }

    fn hold(&mut self, memory: &Memory, elements: usize) -> Result<Option<GpuMatrix<T>>> {
        copied(self, (memory, 0), (elements, 1)).map(Some)
    }

    fn left_vectors(
        &mut self,
        a: &Numbers<'_, T, GpuMatrix<T>>,
        (rows, cols): (usize, usize),
        _delta: Delta,
    ) -> Result<(GpuMatrix<T>, Vec<f64>)> {
        let Numbers::Matrix(a) = a else {
            return Err(Error::Internal("host memory in a factorization on the device".into()));
        };
        let what = "unfolding of a tensor";
        let mut wide = self.uninitialized::<T>(what, rows, cols)?;
        let width = rows * cols * size_of::<T>();
        self.gpu().copy_rows(
            self.stream(),
            a.memory(),
            Rows { offset: 0, pitch: width, width, count: 1 },
            wide.memory_mut(),
            0,
        )?;
        let norms = Algebra::<T>::column_norms(self, &wide)?;
        if norms.iter().any(|n| !n.is_finite()) {
            let u = Algebra::<T>::zeros(self, what, rows, rows)?;
            return Ok((u, crate::alloc::filled("singular values", rows, f64::NAN)?));
        }
        let tall = self.adjoint(what, &wide)?;
        drop(wide);
        // A^H = Q R, so the left singular vectors of A are the right ones of R.
        let (_, r) = factors(&mut Typed::<T, _>::new(self), Dense::new(tall))?;
        let svd = Algebra::<T>::svd(self, &r.into_inner()?)?;
        Ok((svd.v, svd.s))
    }

    fn project(
        &mut self,
        u: &GpuMatrix<T>,
        a: &Numbers<'_, T, GpuMatrix<T>>,
        shape: (usize, usize),
    ) -> Result<GpuMatrix<T>> {
        let out = self.uninitialized::<T>("carried part of a tensor", u.cols(), shape.1)?;
        let (adjoint, plain) = (Transpose::Adjoint, Transpose::Plain);
        self.blas().multiply::<T>(1.0, u.view(), adjoint, matrix(a, shape)?, plain, 0.0, out.view())?;
        Ok(out)
    }

    fn product_to(&mut self, alpha: f64, a: &GpuMatrix<T>, b: &GpuMatrix<T>, out: &mut Memory) -> Result<()> {
        let (rows, cols) = (a.rows(), b.rows());
        match out {
            Memory::Device(memory) => {
                let view = View::packed(memory.region(0, rows * cols * size_of::<T>())?, rows, cols);
                let (plain, adjoint) = (Transpose::Plain, Transpose::Adjoint);
                self.blas().multiply::<T>(alpha, a.view(), plain, b.view(), adjoint, 0.0, view)
            }
            Memory::Host(memory) => {
                let mut c = self.uninitialized::<T>("dense tensor of a train", rows, cols)?;
                self.multiply(alpha, a, Op::Plain, b, Op::Adjoint, 0.0, &mut c)?;
                self.download(&c, memory.as_mut_slice()?, rows)
            }
        }
    }
}
