//! The sketch of a run: drawn, given by the caller, or copied to the caller.

use super::given::{expect_finite, host_copy};
use super::omega::sketch_of;
use super::session::Rsvd;
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::matrix::{self, Matrix};
use crate::scalar::with_scalar;
use crate::shape::{Order, to_u64};
use crate::stream::{self, Stream};
use crate::tensor::Location;

impl Rsvd {
    /// Uses a copy of `omega` as the sketch of later runs; `None` returns to drawn sketches. `omega` has as many rows as the
    /// matrices of these runs have columns.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an entry that is not finite; [`Error::NotSupported`] for a matrix that is not dense; [`Error::OutOfMemory`]; [`Error::Cancelled`] by the context,
    /// which leaves the sketch as it was.
    pub fn set_sketch(&mut self, omega: Option<&Matrix>) -> Result<()> {
        let copied = |m: &Matrix| {
            let copy = host_copy(self.context(), "omega", m)?;
            // A run refuses the other types.
            if copy.dtype().computing() == copy.dtype() {
                expect_finite("omega", &copy)?;
            }
            Ok(copy)
        };
        self.given = omega.map(copied).transpose()?;
        Ok(())
    }

    /// Fills `omega` with the sketch that the options draw, also where another is given.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an `omega` that is not of one of the four types of computation; [`Error::Cancelled`],
    /// which may leave a part of it written.
    pub fn sketch(&self, stream: Option<&Stream>, omega: &mut Matrix) -> Result<()> {
        let context = self.context();
        context.check_alive()?;
        let cancel = self.watch();
        let (rows, columns, dtype) = (omega.rows(), omega.cols(), omega.dtype());
        let mut host = Matrix::create(context, dtype, Location::Host, Order::ColumnMajor, rows, columns)?;
        let drawn = sketch_of(self.options()).of_columns(0, columns);
        with_scalar!(dtype, "omega", T => {
            let dense = host.dense_mut("omega")?;
            let out = dense.memory.host_mut("omega")?.as_mut_slice::<T>()?;
            for (j, column) in out.chunks_exact_mut(rows.max(1)).enumerate() {
                let j = u32::try_from(j).map_err(|_| Error::invalid("omega", format!("has {columns} columns")))?;
                for block in cancel.blocks(0..rows) {
                    for i in block? {
                        column[i] = drawn.entry::<T>(to_u64(i), j);
                    }
                }
            }
            Ok(())
        })?;
        matrix::copy(context, stream, &host, omega)?;
        if let Backend::Gpu(_) = context.backend() {
            // The copy reads the host matrix, which is freed when this function returns.
            if let Some(queue) = stream::select(context, stream)? {
                queue.synchronize()?;
            }
        }
        Ok(())
    }
}
