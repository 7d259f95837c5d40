//! Conversion of columns between the operator's order and the matrix's.

use std::sync::Arc;

use super::space::{GpuKrylov, Source, WHAT};
use crate::backend::gpu::kernels::lanczos::{Scale, scale};
use crate::backend::gpu::kernels::spmv::Strided;
use crate::backend::gpu::{DeviceMemory, Region};
use crate::error::Result;
use crate::scalar::Scalar;
use crate::shape::product;
use crate::spmv::Renumbering;
use crate::spmv::renumber::Direction;

impl<T: Scalar> GpuKrylov<'_, '_, '_, T> {
    /// The order that columns are in, if it is not the matrix's.
    pub(super) fn renumbering(&self) -> Option<&Arc<Renumbering>> {
        match &self.operator {
            Source::Device(operator) => operator.renumbering(),
            Source::Host(_) => None,
        }
    }

    /// Allocates memory for one vector, uninitialized.
    pub(super) fn new_vector(&self) -> Result<DeviceMemory> {
        self.gpu.allocate_uninitialised_on(&self.stream, WHAT, product(WHAT, self.n, size_of::<T>())?)
    }

    pub(super) fn renumber(
        &self,
        order: &Renumbering,
        direction: Direction,
        from: Region<'_>,
        to: Region<'_>,
    ) -> Result<()> {
        let on = (&self.gpu, &self.stream);
        order.apply_on_device::<T>(on, direction, 1, Strided::vector(from), Strided::vector(to))
    }

    /// Converts columns to the matrix's order in place. They can no longer be used as vectors of the space.
    pub(super) fn put_back(&self, first: usize, count: usize) -> Result<()> {
        let Some(order) = self.renumbering() else { return Ok(()) };
        let vector = self.new_vector()?;
        for j in first..first + count {
            self.renumber(order, Direction::ToMatrix, self.column(j)?, vector.whole())?;
            let (from, to) = (vector.whole(), self.column(j)?);
            let one = Scale { from, to, rows: self.n, square: None, parts: None, factor: 1.0, keep: 0.0 };
            scale(T::DTYPE, &self.gpu, &self.stream, one)?;
        }
        Ok(())
    }
}
