//! Products of a block of rows that is on the device.

use super::cut::Span;
use super::site::{ScratchUse, Site, bytes, packed};
use crate::backend::gpu::kernels::dense::place;
use crate::backend::gpu::kernels::rsvd::Lines;
use crate::backend::gpu::{Transpose, View};
use crate::error::Result;
use crate::scalar::DType;

/// Some rows, ready for products.
pub(super) struct Block<'b> {
    /// Type of the computation, also of the entries.
    pub(super) dtype: DType,
    pub(super) span: Span,
    pub(super) entries: Entries<'b>,
}

/// The entries of a block.
pub(super) enum Entries<'b> {
    /// All entries, in device memory.
    Dense { lines: Lines<'b>, row_major: bool },
    /// The whole matrix, known only by its products.
    Implicit(&'b (dyn Products + 'b)),
}

/// A whole matrix that is known by its products.
pub(super) trait Products {
    /// P = A W, overwriting P.
    fn multiply(&self, site: &mut Site, w: View<'_>, p: View<'_>) -> Result<()>;

    /// T = A^H P, overwriting T.
    fn adjoint(&self, site: &mut Site, p: View<'_>, t: View<'_>) -> Result<()>;
}

/// The sum of A^H P over blocks. For complex row-major data it is the adjoint of the sum, because BLAS cannot conjugate a
/// matrix without transposing it.
#[derive(Clone, Copy)]
pub(super) struct Sum<'s> {
    pub(super) view: View<'s>,
    pub(super) flipped: bool,
}

impl<'s> Sum<'s> {
    /// The sum in `memory`, packed; its adjoint where `flipped`.
    pub(super) fn new(memory: View<'s>, flipped: bool) -> Self {
        let view = if flipped { View::packed(memory.memory, memory.cols, memory.rows) } else { memory };
        Self { view, flipped }
    }

    /// Columns of the data, whether flipped or not.
    pub(super) fn columns(&self) -> usize {
        if self.flipped { self.view.cols } else { self.view.rows }
    }
}

/// Whether sums over blocks are computed as their adjoint.
pub(super) fn is_flipped(dtype: DType, row_major: bool) -> bool {
    dtype.is_complex() && row_major
}

impl Block<'_> {
    /// P = A_J W for the rows J of this block.
    pub(super) fn multiply(&self, site: &mut Site, w: View<'_>, p: View<'_>) -> Result<()> {
        match &self.entries {
            Entries::Dense { lines, row_major } => {
                let op = if *row_major { Transpose::Transpose } else { Transpose::Plain };
                site.blas().multiply(self.dtype, 1.0, stored(lines), op, w, Transpose::Plain, 0.0, p)
            }
            Entries::Implicit(matrix) => matrix.multiply(site, w, p),
        }
    }

    /// Sets the sum to A_J^H P or, if `adds`, adds A_J^H P to it.
    pub(super) fn adjoint(&self, site: &mut Site, p: View<'_>, sum: Sum<'_>, adds: bool) -> Result<()> {
        let beta = if adds { 1.0 } else { 0.0 };
        let (lines, row_major) = match &self.entries {
            Entries::Dense { lines, row_major } => (stored(lines), *row_major),
            Entries::Implicit(matrix) => return matrix.adjoint(site, p, sum.view),
        };
        let (blas, plain) = (site.blas(), Transpose::Plain);
        if sum.flipped {
            return blas.multiply(self.dtype, 1.0, p, Transpose::Adjoint, lines, Transpose::Transpose, beta, sum.view);
        }
        let op = if row_major { plain } else { Transpose::Adjoint };
        blas.multiply(self.dtype, 1.0, lines, op, p, plain, beta, sum.view)
    }

    /// T = A_J^H P for the rows J of this block, not flipped.
    pub(super) fn adjoint_plain(&self, site: &mut Site, p: View<'_>, t: View<'_>) -> Result<()> {
        let flipped = matches!(self.entries, Entries::Dense { row_major, .. } if is_flipped(self.dtype, row_major));
        if !flipped {
            return self.adjoint(site, p, Sum { view: t, flipped }, false);
        }
        let memory = site.scratch(ScratchUse::Flipped, bytes(self.dtype, t.rows, t.cols)?)?;
        let sum = Sum::new(packed(self.dtype, &memory, t.rows, t.cols)?, true);
        self.adjoint(site, p, sum, false)?;
        place(self.dtype, &site.gpu, &site.stream, sum.view, t, true, true)
    }
}

/// The view of the lines for cuBLAS, with lines as columns.
pub(super) fn stored<'b>(lines: &Lines<'b>) -> View<'b> {
    View { memory: lines.memory, rows: lines.inner, cols: lines.outer, ld: lines.stride }
}
