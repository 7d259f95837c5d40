//! [`TrainOps`] on the GPU: cores are column-major matrices in device memory.

use super::erased::{Dense, Typed};
use super::ops::{Numbers, TrainOps};
use super::orthogonal::factors;
use crate::backend::gpu::{DeviceMemory, Rows, Transpose, View};
use crate::backend::memory::Memory;
use crate::dense::Algebra;
use crate::dense::Delta;
use crate::dense::gpu::{DeviceMatrix, GpuAlgebra, GpuMatrix};
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar};
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
            GpuMatrix::new(copied_there(algebra, T::DTYPE, what, (m, offset * size_of::<T>()), (rows, cols))?)
        }
    }
}

/// Copies numbers of type `dtype` from device memory, from byte `offset` on, to a new matrix.
fn copied_there(
    algebra: &GpuAlgebra,
    dtype: DType,
    what: &'static str,
    (memory, offset): (&DeviceMemory, usize),
    (rows, cols): (usize, usize),
) -> Result<DeviceMatrix> {
    let mut copy = algebra.uninitialized(dtype, what, rows, cols)?;
    let width = rows * cols * dtype.size();
    let rows = Rows { offset, pitch: width, width, count: 1 };
    algebra.gpu().copy_rows(algebra.stream(), memory, rows, copy.memory_mut(), 0)?;
    Ok(copy)
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

/// The conjugate transpose of the numbers of `a` as a matrix of `shape`; `None` if a number is not finite.
fn tall(
    algebra: &GpuAlgebra,
    what: &'static str,
    a: &DeviceMatrix,
    (rows, cols): (usize, usize),
) -> Result<Option<DeviceMatrix>> {
    let wide = copied_there(algebra, a.dtype(), what, (a.memory(), 0), (rows, cols))?;
    let norms = algebra.norms(a.dtype(), wide.view())?;
    if norms.iter().any(|n| !n.is_finite()) {
        return Ok(None);
    }
    algebra.adjoint_of(what, &wide).map(Some)
}

/// U^H A for the numbers of `a` as a matrix of `shape`.
fn projected(
    algebra: &GpuAlgebra,
    u: &DeviceMatrix,
    a: &DeviceMatrix,
    (rows, cols): (usize, usize),
) -> Result<DeviceMatrix> {
    let dtype = u.dtype();
    let out = algebra.uninitialized(dtype, "carried part of a tensor", u.cols(), cols)?;
    let a = View::packed(a.memory().region(0, rows * cols * dtype.size())?, rows, cols);
    let (adjoint, plain) = (Transpose::Adjoint, Transpose::Plain);
    algebra.blas().multiply(dtype, 1.0, u.view(), adjoint, a, plain, 0.0, out.view())?;
    Ok(out)
}

/// Writes alpha A B^H to the first bytes of `out`.
fn multiplied(algebra: &GpuAlgebra, alpha: f64, a: &DeviceMatrix, b: &DeviceMatrix, out: &DeviceMemory) -> Result<()> {
    let (dtype, rows, cols) = (a.dtype(), a.rows(), b.rows());
    let out = View::packed(out.region(0, rows * cols * dtype.size())?, rows, cols);
    let (plain, adjoint) = (Transpose::Plain, Transpose::Adjoint);
    algebra.blas().multiply(dtype, alpha, a.view(), plain, b.view(), adjoint, 0.0, out)
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
        let Some(tall) = tall(self, what, a, (rows, cols))? else {
            let u = Algebra::<T>::zeros(self, what, rows, rows)?;
            return Ok((u, crate::alloc::filled("singular values", rows, f64::NAN)?));
        };
        // A^H = Q R, so the left singular vectors of A are the right ones of R.
        let (_, r) = factors(&mut Typed::<T, _>::new(self), Dense::new(GpuMatrix::<T>::new(tall)?))?;
        let svd = Algebra::<T>::svd(self, &r.into_inner()?)?;
        Ok((svd.v, svd.s))
    }

    fn project(
        &mut self,
        u: &GpuMatrix<T>,
        a: &Numbers<'_, T, GpuMatrix<T>>,
        shape: (usize, usize),
    ) -> Result<GpuMatrix<T>> {
        match a {
            Numbers::Matrix(a) => GpuMatrix::new(projected(self, u, a, shape)?),
            Numbers::Host(_) => Err(Error::Internal("host memory in a product on the device".into())),
        }
    }

    fn product_to(&mut self, alpha: f64, a: &GpuMatrix<T>, b: &GpuMatrix<T>, out: &mut Memory) -> Result<()> {
        match out {
            Memory::Device(memory) => multiplied(self, alpha, a, b, memory),
            Memory::Host(memory) => {
                let (rows, cols) = (a.rows(), b.rows());
                let c = self.uninitialized(T::DTYPE, "dense tensor of a train", rows, cols)?;
                multiplied(self, alpha, a, b, c.memory())?;
                self.download(&GpuMatrix::new(c)?, memory.as_mut_slice::<T>()?, rows)
            }
        }
    }
}
