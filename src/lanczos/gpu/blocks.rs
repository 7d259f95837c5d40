//! The steps of a cycle of blocks, enqueued one after another. Their figures are copied to the host once, at the end.

use super::space::Krylov;
use crate::alloc;
use crate::backend::gpu::kernels::lanczos::{Scale, parts, scale};
use crate::error::Result;
use crate::lanczos::ops::{BlockStep, Poll};
use crate::lanczos::options::MOST_BLOCK;
use crate::scalar::{DType, Scalar};

const WHAT: &str = "block Lanczos steps";

/// Passes of Gram-Schmidt within a block for its column `c`. Classical Gram-Schmidt needs two; the first column has no
/// column before it.
fn passes(c: usize) -> usize {
    if c == 0 { 1 } else { 2 }
}

/// Layout of the figures of a step of `b` columns after `count` others, in F64.
struct Layout {
    /// F64 in one number: 2 for complex types, else 1.
    parts: usize,
    count: usize,
    b: usize,
}

impl Layout {
    /// Length of the figures of a projection of the whole block.
    fn projection(&self) -> usize {
        self.b * (self.parts * self.count + 1)
    }

    /// Length of the figures of the triangle before column `c`.
    fn triangle(&self, c: usize) -> usize {
        (0..c).map(|c| passes(c) * (self.parts * c + 1)).sum()
    }

    /// Length of the figures of the step.
    fn all(&self) -> usize {
        2 * (self.projection() + self.triangle(self.b))
    }
}

impl Krylov<'_> {
    /// Largest number of totals for each column of a space of `columns`, for steps of any kind. A block step needs less
    /// for each of its columns than two projections and two passes within the largest block.
    pub(super) fn most_totals(dtype: DType, columns: usize) -> usize {
        Self::record(dtype, columns) + 4 * (parts(dtype) * MOST_BLOCK + 1)
    }

    /// The figures of the steps of [`Cycles::extend_block`](crate::lanczos::cycles::Cycles::extend_block): see
    /// [`block_figures`].
    pub(super) fn block_steps(
        &mut self,
        locked: usize,
        (from, to): (usize, usize),
        b: usize,
        poll: &mut Poll<'_>,
    ) -> Result<Vec<f64>> {
        let dtype = self.dtype;
        let layout = |j: usize| Layout { parts: parts(dtype), count: locked + j + b, b };
        let mut at = 0;
        for j in (from..to).step_by(b) {
            let step = layout(j);
            let own = step.count;
            self.apply_block(locked + j, own, b)?;
            for half in 0..2 {
                let begin = at + half * (step.projection() + step.triangle(b));
                for c in 0..b {
                    let place = begin + c * (step.parts * step.count + 1);
                    self.enqueue_projection((0, step.count), own + c, place)?;
                }
                let begin = begin + step.projection();
                for c in 0..b {
                    let each = step.parts * c + 1;
                    let place = begin + step.triangle(c);
                    for pass in 0..passes(c) {
                        self.enqueue_projection((own, c), own + c, place + pass * each)?;
                    }
                    let last = place + passes(c) * each - 1;
                    self.enqueue_division(own + c, last)?;
                }
            }
            at += step.all();
            // A block takes longer than a single vector, so pace after each.
            self.pace(poll)?;
        }
        self.wait(poll)?;
        let mut read = alloc::filled(WHAT, at, 0.0f64)?;
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut read)?;
        Ok(read)
    }

    /// Enqueues the division of column `column` by the root of total `at`.
    fn enqueue_division(&self, column: usize, at: usize) -> Result<()> {
        let own = self.column(column)?;
        let square = Some(self.totals(at, 1)?);
        let one = Scale { from: own, to: own, rows: self.n, square, parts: None, factor: 1.0, keep: 0.0 };
        scale(self.dtype, &self.gpu, &self.stream, one)
    }
}

/// Reads the figures of the steps of blocks of `b` columns, of type `dtype`, that [`Krylov::block_steps`] returned.
pub(super) fn block_figures<W: Scalar>(
    read: &[f64],
    dtype: DType,
    locked: usize,
    (from, to): (usize, usize),
    b: usize,
) -> Result<Vec<BlockStep<W>>> {
    let mut steps = alloc::with_capacity(WHAT, (to - from).div_ceil(b))?;
    let mut rest = read;
    for j in (from..to).step_by(b) {
        let step = Layout { parts: parts(dtype), count: locked + j + b, b };
        let (own, others) = rest.split_at(step.all());
        let (first, second) = own.split_at(step.projection() + step.triangle(b));
        let ((along, norms), first) = figures::<W>(&step, first)?;
        let ((again, left), second) = figures::<W>(&step, second)?;
        steps.push(BlockStep { along, rest: norms, first, again, left, second });
        rest = others;
    }
    Ok(steps)
}

/// Coefficients of a projection and the norms after it, and a triangle.
type Figures<W> = ((Vec<W>, Vec<f64>), Vec<W>);

/// Reads the figures of the first or second half of a step.
fn figures<W: Scalar>(step: &Layout, read: &[f64]) -> Result<Figures<W>> {
    let Layout { parts, count, b } = *step;
    let number = |s: &[f64]| W::from_parts(s[0], s.get(1).copied().unwrap_or(0.0));
    let (projection, triangle) = read.split_at(step.projection());
    let (mut along, mut norms) = (alloc::with_capacity(WHAT, b * count)?, alloc::with_capacity(WHAT, b)?);
    for column in projection.chunks_exact(parts * count + 1) {
        let (sums, square) = column.split_at(parts * count);
        along.extend(sums.chunks_exact(parts).map(number));
        norms.push(square[0].sqrt());
    }
    let mut r = alloc::filled(WHAT, b * b, W::default())?;
    for c in 0..b {
        let each = parts * c + 1;
        let own = &triangle[step.triangle(c)..step.triangle(c + 1)];
        for pass in own.chunks_exact(each) {
            let (sums, square) = pass.split_at(parts * c);
            sums.chunks_exact(parts).enumerate().for_each(|(i, s)| r[c * b + i] += number(s));
            // The norm after the last pass stays.
            r[c * b + c] = W::from_parts(square[0].sqrt(), 0.0);
        }
    }
    Ok(((along, norms), r))
}
