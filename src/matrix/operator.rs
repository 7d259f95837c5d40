//! Matrices that are known by their products alone.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard};

use super::streamed::lock;
use crate::backend::gpu::{GpuStream, Region};
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::spmv::gpu::DeviceFinish;

/// A matrix known by its products alone.
pub trait Operator<T: Scalar>: Send {
    /// Rows and columns.
    fn shape(&self) -> (usize, usize);

    /// Y = op(A) X for `count` vectors, column-major, packed, in host memory.
    ///
    /// # Errors
    /// What the caller's function reported.
    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()>;

    /// The row sums, of an operator that is known to be the weighted adjacency matrix of an undirected graph; `None` of others.
    ///
    /// # Errors
    /// Out of memory.
    fn row_sums(&self) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// Its products on the device of its context, if it forms them there.
    fn on_device(&self) -> Option<&dyn OnDevice> {
        None
    }
}

/// Products of an operator with vectors on a device, of its own element type.
pub trait OnDevice {
    /// What `finish` makes of op(A) `gathered`, in the order of `stream`.
    ///
    /// # Errors
    /// [`Error::Cuda`]; what the caller's function reported. Vectors that are too short are [`Error::Internal`].
    fn multiply(&self, stream: &GpuStream, op: Op, gathered: Region<'_>, finish: &DeviceFinish<'_>) -> Result<()>;

    /// Y = op(A) X for `count` vectors, column-major and packed, in the order of `stream`.
    ///
    /// # Errors
    /// As [`OnDevice::multiply`].
    fn multiply_block(&self, stream: &GpuStream, op: Op, count: usize, x: Region<'_>, y: Region<'_>) -> Result<()>;

    /// Whether equal calls enqueue the same work, all of it in the order of `stream`, so that a recording of one stands for
    /// others.
    fn repeats(&self) -> bool;
}

/// An operator of any element type; one run at a time uses it.
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

/// An operator in use.
pub struct OperatorGuard<'a, T> {
    guard: MutexGuard<'a, Box<dyn Any + Send>>,
    marker: PhantomData<T>,
}

impl<T: Scalar> OperatorGuard<'_, T> {
    /// As [`OperatorGuard::operator`], to look at.
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
