//! Products of environments with cores.
//!
//! Environments and intermediate products are workspace. They are complex if either train is; then a core of x may
//! still be real, and its product treats each complex number as two rows of a real matrix, which takes half of the
//! operations.

use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::backend::memory::{Budget, HostMemory};
use crate::dense::cpu::matrix::{pieces, split_columns, split_rows};
use crate::dense::{Accum, Mat, MatMut, serial};
use crate::error::Result;
use crate::scalar::{Element, Scalar};
use crate::tensor::train::{Cores, TensorTrain};
use std::sync::Arc;

/// A piece of workspace, charged to a budget while it lives.
pub struct Buffer(HostMemory);

impl Buffer {
    /// Allocates zeroed memory for `elements` elements of T.
    pub fn new<T>(elements: usize, budget: &Arc<Budget>) -> Result<Self> {
        let what = "workspace of a contraction";
        let bytes = crate::shape::product("workspace_limit", elements, size_of::<T>())?;
        HostMemory::allocate(what, bytes, budget).map(Self)
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The memory as elements of T.
    pub fn get<T: Element>(&self) -> Result<&[T]> {
        self.0.as_slice()
    }

    /// The memory as elements of T, to be written.
    pub fn get_mut<T: Element>(&mut self) -> Result<&mut [T]> {
        self.0.as_mut_slice()
    }
}

/// A column-major matrix within a buffer or a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Index of the first element in the buffer.
    pub start: usize,
    /// Rows, contiguous in memory.
    pub rows: usize,
    /// Columns, `step` elements apart.
    pub cols: usize,
    /// Elements from one column to the next.
    pub step: usize,
}

impl Block {
    /// A matrix without gaps that starts at the first element.
    pub fn packed(rows: usize, cols: usize) -> Self {
        Self { start: 0, rows, cols, step: rows }
    }

    /// A matrix of complex numbers as a matrix of real numbers with twice the rows.
    fn doubled(self) -> Self {
        Self { start: 2 * self.start, rows: 2 * self.rows, cols: self.cols, step: 2 * self.step }
    }

    /// A view of the matrix.
    pub(super) fn view<T: Scalar>(self, data: &[T]) -> Mat<'_, T> {
        Mat::from_columns_with_stride(&data[self.start..], self.rows, self.cols, self.step)
    }

    /// A view of the matrix to write.
    pub(super) fn view_mut<T: Scalar>(self, data: &mut [T]) -> MatMut<'_, T> {
        MatMut::from_columns_with_stride(&mut data[self.start..], self.rows, self.cols, self.step)
    }
}

/// A part of a core as an operand of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// The part of the core.
    pub block: Block,
    /// Whether the product takes the transpose.
    pub transposed: bool,
    /// Whether the product takes conjugates.
    pub conjugated: bool,
}

impl Taken {
    /// The block as it is.
    pub fn plain(block: Block) -> Self {
        Self { block, transposed: false, conjugated: false }
    }

    /// The transpose of the block, without conjugation.
    pub fn transposed(block: Block) -> Self {
        Self { block, transposed: true, conjugated: false }
    }

    /// The same part, read conjugated if `conjugated` is set, whether or not it was before.
    pub fn conj(self, conjugated: bool) -> Self {
        Self { conjugated, ..self }
    }

    /// A view of the part.
    pub(super) fn view<T: Scalar>(self, data: &[T]) -> Mat<'_, T> {
        let view = self.block.view(data);
        let view = if self.transposed { view.transpose() } else { view };
        view.conjugate_if(self.conjugated)
    }
}

/// The cores of x: in the environments' type, or real while the environments are complex.
pub enum Bra<'a, T: Scalar> {
    /// Of the environments' type T.
    Same(Cores<'a, T>),
    /// Of T's real type.
    Real(Cores<'a, T::Part>),
}

impl<'a, T: Scalar> Bra<'a, T> {
    /// The cores of a train.
    pub fn new(x: &'a TensorTrain) -> Result<Self> {
        if x.dtype() == T::DTYPE { x.cores("x").map(Self::Same) } else { x.cores("x").map(Self::Real) }
    }

    /// The largest |re| and |im| of core k, NaN if one is not finite.
    pub fn largest(&self, k: usize) -> f64 {
        match self {
            Self::Same(cores) => largest(cores.core(k)),
            Self::Real(cores) => largest(cores.core(k)),
        }
    }

    /// An element of core k.
    pub fn at(&self, k: usize, i: usize) -> T {
        match self {
            Self::Same(cores) => cores.core(k)[i],
            Self::Real(cores) => T::from_parts(cores.core(k)[i].re(), 0.0),
        }
    }
}

/// The threads that may compute a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// The calling thread computes it.
    One,
    /// All threads compute it if its shape is large enough.
    All,
}

/// C = alpha A X, or C += alpha A X with `add`, for a core of x.
#[allow(clippy::too_many_arguments, reason = "the field's own signature")]
pub fn by_x<T: Scalar>(
    threads: Threads,
    alpha: f64,
    (a, at): (&Buffer, Block),
    x: &Bra<'_, T>,
    k: usize,
    taken: Taken,
    add: bool,
    (c, to): (&mut Buffer, Block),
) -> Result<()> {
    match x {
        Bra::Same(cores) => {
            let x = Taken { conjugated: false, ..taken }.view(cores.core(k));
            multiply(threads, alpha, at.view(a.get::<T>()?), x, add, to.view_mut(c.get_mut::<T>()?));
        }
        Bra::Real(cores) => {
            let x = Taken { conjugated: false, ..taken }.view(cores.core(k));
            let (at, to) = (at.doubled(), to.doubled());
            let (a, c) = (at.view(a.get::<T::Part>()?), to.view_mut(c.get_mut::<T::Part>()?));
            multiply(threads, alpha, a, x, add, c);
        }
    }
    Ok(())
}

/// C = alpha op(Y) B, or C += alpha op(Y) B with `add`, for a core of y.
#[allow(clippy::too_many_arguments, reason = "the field's own signature")]
pub fn by_y<T: Scalar>(
    threads: Threads,
    alpha: f64,
    y: &[T],
    taken: Taken,
    (b, at): (&Buffer, Block),
    add: bool,
    (c, to): (&mut Buffer, Block),
) -> Result<()> {
    multiply(threads, alpha, taken.view(y), at.view(b.get::<T>()?), add, to.view_mut(c.get_mut::<T>()?));
    Ok(())
}

/// Least number of multiply-adds of a product that is divided into tasks.
const LARGE: usize = 1 << 24;

/// Least number of rows or columns of C in a task.
const BAND: usize = 128;

/// C = alpha A B, or C += alpha A B with `add`.
pub fn multiply<T: Scalar>(threads: Threads, alpha: f64, a: Mat<'_, T>, b: Mat<'_, T>, add: bool, c: MatMut<'_, T>) {
    let accumulate = if add { Accum::Add } else { Accum::Replace };
    let alpha = T::from_parts(alpha, 0.0);
    let (rows, cols) = c.shape();
    if threads == Threads::One || rows.saturating_mul(cols).saturating_mul(a.cols()) < LARGE {
        serial::multiply(c, accumulate, a, b, alpha);
    } else if rows >= cols {
        let chunk = pieces(rows, BAND);
        split_rows(c, chunk).into_par_iter().enumerate().for_each(|(i, c)| {
            let a = a.subrows(i * chunk, c.rows());
            serial::multiply(c, accumulate, a, b, alpha);
        });
    } else {
        let chunk = pieces(cols, BAND);
        split_columns(c, chunk).into_par_iter().enumerate().for_each(|(i, c)| {
            let b = b.subcols(i * chunk, c.cols());
            serial::multiply(c, accumulate, a, b, alpha);
        });
    }
}

/// Side of the squares in which a matrix is mirrored, so that both fit in the cache.
const TILE: usize = 16;

/// Copies the conjugates of the lower triangle to the upper one, and clears the imaginary part of the diagonal.
pub fn mirror<T: Scalar>(at: Block, data: &mut [T]) {
    let order = at.rows;
    for j0 in (0..order).step_by(TILE) {
        for i0 in (j0..order).step_by(TILE) {
            for j in j0..(j0 + TILE).min(order) {
                for i in i0.max(j)..(i0 + TILE).min(order) {
                    let value = data[at.start + j * at.step + i];
                    let value = if i == j { T::from_parts(value.re(), 0.0) } else { value.conjugate() };
                    data[at.start + i * at.step + j] = value;
                }
            }
        }
    }
}

/// The largest |re| and |im|, NaN if one is not finite.
pub fn largest<T: Scalar>(values: &[T]) -> f64 {
    let (mut lanes, mut wrong) = ([0.0f64; 8], [0.0f64; 8]);
    let mut blocks = values.chunks_exact(8);
    let size = |x: &T, lane: &mut f64, wrong: &mut f64| {
        let size = x.re().abs().max(x.im().abs());
        *lane = if size > *lane { size } else { *lane };
        // `max` ignores a NaN. x - x is NaN for a NaN and for infinities.
        *wrong += (x.re() - x.re()) + (x.im() - x.im());
    };
    for block in &mut blocks {
        for ((lane, wrong), x) in lanes.iter_mut().zip(&mut wrong).zip(block) {
            size(x, lane, wrong);
        }
    }
    for ((lane, wrong), x) in lanes.iter_mut().zip(&mut wrong).zip(blocks.remainder()) {
        size(x, lane, wrong);
    }
    wrong.into_iter().sum::<f64>() + lanes.into_iter().fold(0.0, f64::max)
}
