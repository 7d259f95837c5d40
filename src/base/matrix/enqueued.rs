//! Matrices whose products a caller's function enqueues on a device.

use std::marker::PhantomData;

use super::operator::{OnDevice, Operator};
use crate::backend::gpu::kernels::spmv::{Finish as DeviceFinish, rest};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar};
use crate::shape::product;

const WHAT: &str = "vectors of an operator";

/// A requested product with vectors on a device: Y = op(A) X, both column-major and packed.
#[derive(Debug, Clone, Copy)]
pub struct Enqueue {
    /// Whether to multiply with the matrix or its adjoint.
    pub op: Op,
    /// Vectors: columns of X and Y.
    pub count: usize,
    /// Address of X, which is read.
    pub x: u64,
    /// Address of Y; the function writes all of it.
    pub y: u64,
    /// The driver's handle of the stream. X is ready in its order, and Y must be ready in its order.
    pub stream: u64,
}

/// A matrix that is known only by a function which enqueues its products.
pub struct Enqueued<T, F> {
    gpu: Gpu,
    shape: (usize, usize),
    function: F,
    number: PhantomData<fn() -> T>,
}

impl<T: Scalar, F: Fn(Enqueue) -> Result<()> + Send> Enqueued<T, F> {
    /// An operator of the given rows and columns, `shape`.
    pub fn new(gpu: &Gpu, shape: (usize, usize), function: F) -> Self {
        Self { gpu: gpu.clone(), shape, function, number: PhantomData }
    }

    /// Rows and columns of op(A).
    fn size(&self, op: Op) -> (usize, usize) {
        let (rows, cols) = self.shape;
        if op == Op::Plain { (rows, cols) } else { (cols, rows) }
    }

    fn call(&self, stream: &GpuStream, op: Op, count: usize, x: Region<'_>, y: Region<'_>) -> Result<()> {
        let (rows, cols) = self.size(op);
        let bytes = |n: usize| product(WHAT, product(WHAT, n, count)?, size_of::<T>());
        let bytes = [bytes(cols)?, bytes(rows)?];
        self.gpu
            .with_addresses(stream, (x, y), bytes, |x, y, stream| (self.function)(Enqueue { op, count, x, y, stream }))
    }
}

impl<T: Scalar, F: Fn(Enqueue) -> Result<()> + Send> Operator<T> for Enqueued<T, F> {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        let (rows, cols) = self.size(op);
        if cols.checked_mul(count) != Some(x.len()) || rows.checked_mul(count) != Some(y.len()) {
            return Err(Error::Internal("vectors of the wrong size for an operator".into()));
        }
        if y.is_empty() {
            return Ok(());
        }
        let stream = self.gpu.default_stream();
        let from = self.gpu.upload_numbers(stream, WHAT, x)?;
        let to = self.gpu.allocate_uninitialized_on(stream, WHAT, size_of_val(y))?;
        self.call(stream, op, count, from.whole(), to.whole())?;
        self.gpu.load_numbers(stream, &to, 0, y)
    }

    fn on_device(&self) -> Option<&dyn OnDevice> {
        Some(self)
    }
}

impl<T: Scalar, F: Fn(Enqueue) -> Result<()> + Send> OnDevice for Enqueued<T, F> {
    fn multiply(&self, stream: &GpuStream, op: Op, gathered: Region<'_>, finish: &DeviceFinish<'_>) -> Result<()> {
        if finish.row_scale.is_some() || finish.alpha_factor.is_some() {
            return Err(Error::Internal("factors of the sums of an operator that knows none".into()));
        }
        let rows = self.size(op).0;
        let sums = self.gpu.allocate_uninitialized_on(stream, WHAT, product(WHAT, rows, size_of::<T>())?)?;
        self.call(stream, op, 1, gathered, sums.whole())?;
        let (zero, one) = (Complex::new(0.0, 0.0), Complex::new(1.0, 0.0));
        let multiplied = DeviceFinish {
            shift: finish.alpha,
            x: Some(sums.whole()),
            ..DeviceFinish::plain(finish.y, zero, finish.beta)
        };
        rest(T::DTYPE, &self.gpu, stream, rows, &multiplied)?;
        if finish.shift == zero && finish.diagonal.is_none() && finish.more.is_none() {
            return Ok(());
        }
        rest(T::DTYPE, &self.gpu, stream, rows, &DeviceFinish { alpha: zero, beta: one, ..*finish })
    }

    fn multiply_block(&self, stream: &GpuStream, op: Op, count: usize, x: Region<'_>, y: Region<'_>) -> Result<()> {
        self.call(stream, op, count, x, y)
    }

    fn repeats(&self) -> bool {
        false
    }
}
