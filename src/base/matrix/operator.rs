//! Matrices that are known only by their products.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard};

use super::streamed::lock;
use crate::backend::gpu::kernels::spmv::Finish as DeviceFinish;
use crate::backend::gpu::{GpuStream, Region};
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// A matrix that is known only by its products.
pub trait Operator<T: Scalar>: Send {
    /// (rows, columns), the same at every call.
    fn shape(&self) -> (usize, usize);

    /// Y = op(A) X for `count` vectors, column-major, packed, in host memory.
    ///
    /// # Errors
    /// Errors of the caller's function.
    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()>;

    /// The row sums, if the operator is known to be the weighted adjacency matrix of an undirected graph; else `None`.
    ///
    /// # Errors
    /// Out of memory.
    fn row_sums(&self) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// Whether [`Operator::row_sums`] returns sums, without computing them.
    fn has_row_sums(&self) -> bool {
        false
    }

    /// The interface of an operator that multiplies on the device of its context; `None` for others.
    fn on_device(&self) -> Option<&dyn OnDevice> {
        None
    }
}

/// Products of an operator with vectors of its own element type on a device.
pub trait OnDevice {
    /// Applies `finish` to the sums op(A) `gathered`, in the order of `stream`.
    ///
    /// # Errors
    /// [`Error::Cuda`]; errors of the caller's function; [`Error::Internal`] for vectors that are too short.
    fn multiply(&self, stream: &GpuStream, op: Op, gathered: Region<'_>, finish: &DeviceFinish<'_>) -> Result<()>;

    /// Y = op(A) X for `count` vectors, column-major and packed, in the order of `stream`.
    ///
    /// # Errors
    /// As [`OnDevice::multiply`].
    fn multiply_block(&self, stream: &GpuStream, op: Op, count: usize, x: Region<'_>, y: Region<'_>) -> Result<()>;

    /// Whether equal calls enqueue the same work, all of it in the order of `stream`. A recorded graph of one call can
    /// then replace others.
    fn repeats(&self) -> bool;
}

/// An operator of any element type; only one run at a time can use it.
pub struct SharedOperator(Mutex<Box<dyn Any + Send>>);

impl SharedOperator {
    pub(super) fn new<T: Scalar>(operator: Box<dyn Operator<T>>) -> Self {
        Self(Mutex::new(Box::new(operator)))
    }

    /// The operator for one run; `T` is the matrix's element type.
    ///
    /// # Errors
    /// [`Error::Busy`] while another run uses it; [`Error::InvalidArgument`] for another type than the matrix's.
    pub fn lock<T: Scalar>(&self, argument: &str) -> Result<OperatorGuard<'_, T>> {
        let guard = lock(argument, &self.0)?;
        if !guard.is::<Box<dyn Operator<T>>>() {
            let problem = format!("is an operator of another type, {} is needed", T::DTYPE.name());
            return Err(Error::invalid(argument, problem));
        }
        Ok(OperatorGuard { guard, marker: PhantomData })
    }
}

/// A locked operator, for one run.
pub struct OperatorGuard<'a, T> {
    guard: MutexGuard<'a, Box<dyn Any + Send>>,
    marker: PhantomData<T>,
}

impl<T: Scalar> OperatorGuard<'_, T> {
    /// As [`OperatorGuard::operator`], but not mutable.
    ///
    /// # Errors
    /// None, as there.
    pub fn view(&self) -> Result<&dyn Operator<T>> {
        match self.guard.downcast_ref::<Box<dyn Operator<T>>>() {
            Some(operator) => Ok(&**operator),
            None => Err(Error::Internal("an operator that changed its type".into())),
        }
    }

    /// The operator.
    ///
    /// # Errors
    /// None: its type was checked when it was locked.
    pub fn operator(&mut self) -> Result<&mut dyn Operator<T>> {
        match self.guard.downcast_mut::<Box<dyn Operator<T>>>() {
            Some(operator) => Ok(&mut **operator),
            None => Err(Error::Internal("an operator that changed its type".into())),
        }
    }
}
