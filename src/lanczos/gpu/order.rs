//! Conversion of columns between the operator's order and the matrix's.

use std::sync::Arc;

use super::space::{Krylov, WHAT};
use crate::backend::gpu::kernels::lanczos::{Scale, scale};
use crate::backend::gpu::kernels::spmv::Strided;
use crate::backend::gpu::{DeviceMemory, Region};
use crate::error::Result;
use crate::scalar::Element;
use crate::shape::product;
use crate::spmv::Renumbering;
use crate::spmv::renumber::Direction;

impl Krylov<'_> {
    /// The order that columns are in, if it is not the matrix's.
    pub(super) fn renumbering(&self) -> Option<&Arc<Renumbering>> {
        self.operator.as_ref().and_then(|operator| operator.renumbering())
    }

    /// Allocates memory for one vector, uninitialized.
    pub(super) fn new_vector(&self) -> Result<DeviceMemory> {
        self.gpu.allocate_uninitialized_on(&self.stream, WHAT, product(WHAT, self.n, self.dtype.size())?)
    }

    pub(super) fn renumber(
        &self,
        order: &Renumbering,
        direction: Direction,
        from: Region<'_>,
        to: Region<'_>,
    ) -> Result<()> {
        let on = (&self.gpu, &self.stream);
        order.apply_on_device(self.dtype, on, direction, 1, Strided::vector(from), Strided::vector(to))
    }

    /// Converts columns to the matrix's order in place. They can no longer be used as vectors of the space.
    pub(super) fn put_back(&self, first: usize, count: usize) -> Result<()> {
        let Some(order) = self.renumbering() else { return Ok(()) };
        let vector = self.new_vector()?;
        for j in first..first + count {
            self.renumber(order, Direction::ToMatrix, self.column(j)?, vector.whole())?;
            let (from, to) = (vector.whole(), self.column(j)?);
            let one = Scale { from, to, rows: self.n, square: None, parts: None, factor: 1.0, keep: 0.0 };
            scale(self.dtype, &self.gpu, &self.stream, one)?;
        }
        Ok(())
    }

    /// Copies column `column`, in the matrix's order, to host memory, n numbers of the space's type.
    pub(super) fn read<E: Element>(&self, column: usize, to: &mut [E]) -> Result<()> {
        match self.in_matrix_order(column)? {
            None => self.gpu.load_numbers(&self.stream, &self.memory, column * self.n * self.dtype.size(), to),
            Some(vector) => self.gpu.load_numbers(&self.stream, &vector, 0, to),
        }
    }

    /// A copy of a column in the matrix's order; `None` if columns are in that order.
    fn in_matrix_order(&self, column: usize) -> Result<Option<DeviceMemory>> {
        let Some(order) = self.renumbering() else { return Ok(None) };
        let vector = self.new_vector()?;
        self.renumber(order, Direction::ToMatrix, self.column(column)?, vector.whole())?;
        Ok(Some(vector))
    }

    /// Fills column `column` from host memory, n numbers of the space's type in the matrix's order.
    pub(super) fn write<E: Element>(&mut self, from: &[E], column: usize) -> Result<()> {
        let Some(order) = self.renumbering().cloned() else {
            let offset = column * self.n * self.dtype.size();
            return self.gpu.store_numbers(&self.stream, from, &mut self.memory, offset);
        };
        let given = self.numbers(from)?;
        self.renumber(&order, Direction::ToOrder, given.whole(), self.column(column)?)
    }
}
