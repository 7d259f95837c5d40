//! Products of the caller's operator, which takes vectors in host memory.

use std::sync::{Mutex, PoisonError};

use super::site::Site;
use crate::alloc;
use crate::backend::gpu::DeviceMemory;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::Operator;
use crate::scalar::{Scalar, is_finite};

/// An [`Operator`] without its type.
pub(super) trait HostProducts: Send + Sync {
    /// Replaces `count` vectors, packed in `memory`, by their products. `lengths` are the numbers of a vector and of a
    /// product.
    ///
    /// # Errors
    /// Errors of the operator; [`Error::InvalidArgument`] for products that are not finite.
    fn multiply(
        &self,
        site: &Site,
        op: Op,
        lengths: (usize, usize),
        count: usize,
        memory: &mut DeviceMemory,
    ) -> Result<()>;
}

/// The products of an operator for numbers of type T.
pub(super) struct OperatorProducts<'a, T: Scalar>(Mutex<&'a mut (dyn Operator<T> + 'a)>);

impl<'a, T: Scalar> OperatorProducts<'a, T> {
    pub(super) fn new(operator: &'a mut (dyn Operator<T> + 'a)) -> Self {
        Self(Mutex::new(operator))
    }
}

impl<T: Scalar> HostProducts for OperatorProducts<'_, T> {
    fn multiply(
        &self,
        site: &Site,
        op: Op,
        (inner, outer): (usize, usize),
        count: usize,
        memory: &mut DeviceMemory,
    ) -> Result<()> {
        let mut input = alloc::filled("vectors of an operator", inner * count, T::default())?;
        let mut output = alloc::filled("vectors of an operator", outer * count, T::default())?;
        site.gpu.download_numbers(&site.stream, memory, &mut input)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).apply(op, &input, count, &mut output)?;
        if !output.iter().all(|v| is_finite(*v)) {
            let name = if op == Op::Adjoint { "A^H X" } else { "A X" };
            let problem = format!("gives a number that is not finite in {name} for {count} vectors");
            return Err(Error::invalid("a", problem));
        }
        site.gpu.store_numbers(&site.stream, &output, memory, 0)
    }
}
