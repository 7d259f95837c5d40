//! Products in another order of rows and columns: vectors are converted to that order, and results back.

use std::sync::Arc;

use crate::alloc;
use crate::backend::Backend;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::kernels::spmv::{Strided, renumber};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::matrix::sparse::{Ordering, order};
use crate::scalar::DType;

const WHAT: &str = "order of a sparse product";

/// Numbers that a thread moves at a time.
const PIECE: usize = 1 << 14;

/// An order of the rows of a matrix; in a context on a GPU, with copies on the device.
pub struct Renumbering {
    /// Row r in the order is row `list[r]` of the matrix.
    list: Vec<u32>,
    /// The inverse: row i of the matrix is row `places[i]` in the order.
    places: Vec<u32>,
    device: Option<[DeviceMemory; 2]>,
}

/// Direction of a conversion between two orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the matrix's order to the other.
    ToOrder,
    /// From the other order to the matrix's.
    ToMatrix,
}

impl Renumbering {
    /// Orders the rows of a square sparse matrix.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a matrix that is not square; [`Error::NotSupported`] for 2^32 rows and more;
    /// [`Error::OutOfMemory`].
    pub fn new(context: &Arc<Context>, a: &Matrix, ordering: Ordering) -> Result<Self> {
        if a.rows() != a.cols() {
            let problem = format!("is set, a is {} x {}: only square matrices are ordered", a.rows(), a.cols());
            return Err(Error::invalid("ordering", problem));
        }
        let n = a.rows();
        let found = order(a, ordering)?;
        let (mut list, mut places) = (alloc::with_capacity(WHAT, n)?, alloc::filled(WHAT, n, 0u32)?);
        for (r, &row) in found.iter().enumerate() {
            let (place, row) = (u32::try_from(r), u32::try_from(row));
            let (Ok(place), Ok(row)) = (place, row) else {
                return Err(Error::NotSupported(format!("ordering: of {n} rows, up to {} are ordered", u32::MAX)));
            };
            list.push(row);
            places[row as usize] = place;
        }
        let device = match context.backend() {
            Backend::Cpu => None,
            Backend::Gpu(gpu) => {
                let upload = |numbers: &[u32]| gpu.upload_numbers(gpu.default_stream(), WHAT, numbers);
                Some([upload(&list)?, upload(&places)?])
            }
        };
        Ok(Self { list, places, device })
    }

    /// The rows of the matrix in the order.
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn rows(&self) -> Result<Vec<i64>> {
        let mut rows = alloc::with_capacity(WHAT, self.list.len())?;
        rows.extend(self.list.iter().map(|&row| i64::from(row)));
        Ok(rows)
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Bytes of all lists, on the host and the device.
    pub(super) fn bytes(&self) -> usize {
        let device = self.device.iter().flatten().map(DeviceMemory::bytes).sum::<usize>();
        size_of_val(&self.list[..]) + size_of_val(&self.places[..]) + device
    }

    /// Moves rows of `width` numbers from one order to the other.
    ///
    /// # Errors
    /// [`Error::Internal`] for other lengths than rows times width.
    pub fn apply<T: Copy + Send + Sync>(
        &self,
        context: &Context,
        direction: Direction,
        width: usize,
        from: &[T],
        to: &mut [T],
    ) -> Result<()> {
        let list = if direction == Direction::ToOrder { &self.list } else { &self.places };
        if width == 0 || from.len() != list.len().saturating_mul(width) || to.len() != from.len() {
            return Err(Error::Internal(format!("{} numbers of {} rows in another order", from.len(), list.len())));
        }
        let rows = (PIECE / width).max(1);
        context.pool().run_here(|| {
            to.par_chunks_mut(rows * width).zip(list.par_chunks(rows)).for_each(|(to, list)| {
                for (to, &row) in to.chunks_exact_mut(width).zip(list) {
                    let at = row as usize * width;
                    to.copy_from_slice(&from[at..at + width]);
                }
            });
        });
        Ok(())
    }

    /// As [`Renumbering::apply`] on the device, for numbers of type `dtype`, in the order of `stream`.
    ///
    /// # Errors
    /// [`Error::Internal`] for vectors that are too short, and an order that is not on the device; [`Error::Cuda`].
    pub fn apply_on_device(
        &self,
        dtype: DType,
        (gpu, stream): (&Gpu, &GpuStream),
        direction: Direction,
        width: usize,
        from: Strided<'_>,
        to: Strided<'_>,
    ) -> Result<()> {
        let [list, places] = self.device.as_ref().ok_or_else(|| Error::Internal("an order off the device".into()))?;
        let list = if direction == Direction::ToOrder { list } else { places };
        renumber(dtype, gpu, stream, list.whole(), (self.list.len(), width), from, to)
    }
}
