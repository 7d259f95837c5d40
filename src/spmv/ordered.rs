//! Products in a plan's order of rows: vectors are converted to that order, and results back.

use super::plan::Plan;
use super::renumber::{Direction, Renumbering};
use crate::alloc;
use crate::backend::gpu::kernels::spmv::Strided;
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::{DType, Scalar};
use crate::shape::product;

const WHAT: &str = "order of a sparse product";

impl Plan {
    /// Runs `work` on rows of `width` numbers in the plan's order. If that is the matrix's, it works on x and y
    /// themselves, else on copies. With `keeps`, y is read first.
    pub(super) fn ordered<T: Scalar>(
        &self,
        width: usize,
        keeps: bool,
        x: &[T],
        y: &mut [T],
        work: impl FnOnce(&[T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let Some(order) = self.renumbering() else { return work(x, y) };
        let context = self.context();
        let mut from = alloc::filled(WHAT, x.len(), T::default())?;
        let mut to = alloc::filled(WHAT, y.len(), T::default())?;
        order.apply(context, Direction::ToOrder, width, x, &mut from)?;
        if keeps {
            order.apply(context, Direction::ToOrder, width, y, &mut to)?;
        }
        work(&from, &mut to)?;
        order.apply(context, Direction::ToMatrix, width, &to, y)
    }

    /// As [`Plan::ordered`] for numbers of type `dtype` on the device; `work` gets rows of `width` numbers without gaps.
    pub(super) fn ordered_on_device(
        &self,
        dtype: DType,
        on: (&Gpu, &GpuStream),
        order: &Renumbering,
        (width, keeps): (usize, bool),
        (x, y): (Strided<'_>, Strided<'_>),
        work: impl FnOnce(Region<'_>, Region<'_>) -> Result<()>,
    ) -> Result<()> {
        let (gpu, stream) = on;
        let bytes = product(WHAT, product(WHAT, order.len(), width)?, dtype.size())?;
        let buffer = || gpu.allocate_uninitialized_on(stream, WHAT, bytes);
        let (from, to) = (buffer()?, buffer()?);
        let rows = |memory| Strided { memory, row: width, column: 1 };
        order.apply_on_device(dtype, on, Direction::ToOrder, width, x, rows(from.whole()))?;
        if keeps {
            order.apply_on_device(dtype, on, Direction::ToOrder, width, y, rows(to.whole()))?;
        }
        work(from.whole(), to.whole())?;
        order.apply_on_device(dtype, on, Direction::ToMatrix, width, rows(to.whole()), y)
    }
}
