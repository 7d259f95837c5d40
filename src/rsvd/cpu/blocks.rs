//! Passes of the block methods, which iterate within each block of rows while it is in memory.

use super::panel::Part;
use super::state::CpuOps;
use super::survey::Survey;
use super::work::mismatch;
use crate::context::Context;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::cpu::product::multiply;
use crate::dense::orthonormal::{BasisAccuracy, BasisMethod, Counts, Kind, Own, orthonormalize};
use crate::dense::{Accum, Algebra, Mat, Op, Svd};
use crate::error::{Error, Result};
use crate::rsvd::data::Data;
use crate::rsvd::ops::{BlockParameters, MergeDraws, exponent_of, power};
use crate::scalar::Scalar;
use crate::shape::to_u64;

/// The work on a block.
trait Block<T: Scalar> {
    /// The block `x`, whose rows are the data's from `place` on, and the sum of the squares of its entries where known.
    fn take(&mut self, algebra: &mut CpuAlgebra, x: Mat<'_, T>, place: usize) -> Result<()>;
}

/// C = op(X) B, where C is not read.
fn apply<T: Scalar>(context: &Context, x: Mat<'_, T>, op: Op, b: &CpuMatrix<T>, c: &mut CpuMatrix<T>) -> Result<()> {
    multiply(context, 1.0, op.of(x), b.view()?, Accum::Replace, c.view_mut()?)
}

/// The published sum of block ranges.
struct Sum<'w, T> {
    local: &'w BlockParameters,
    y: &'w mut CpuMatrix<T>,
    /// The sum is `y` times 2 to this exponent; `None` while it is 0.
    exponent: Option<i64>,
}

/// Divides a matrix by a power of two, which is exact, so that its norm is of the order of one. Returns the exponent;
/// `None` for zeros.
fn level<T: Scalar>(algebra: &mut CpuAlgebra, m: &mut CpuMatrix<T>) -> Result<Option<i64>> {
    let norms = algebra.column_norms(m)?;
    let Some(e) = exponent_of(&norms) else { return Ok(None) };
    shift(algebra, m, -e)?;
    Ok(Some(e))
}

/// Multiplies a matrix by 2^e.
fn shift<T: Scalar>(algebra: &mut CpuAlgebra, m: &mut CpuMatrix<T>, e: i64) -> Result<()> {
    if e == 0 {
        return Ok(());
    }
    let factors = crate::alloc::filled("scales", m.cols(), power(e))?;
    algebra.scale_columns(m, &factors)
}

impl<T: Scalar> Block<T> for Sum<'_, T> {
    fn take(&mut self, algebra: &mut CpuAlgebra, x: Mat<'_, T>, place: usize) -> Result<()> {
        let context = std::sync::Arc::clone(algebra.context());
        let (rows, columns) = x.shape();
        let width = self.y.cols();
        let mut omega = algebra.zeros("sketch of a block", rows, width)?;
        algebra.fill(&mut omega, &self.local.sketch, to_u64(place), 0)?;
        let mut t = algebra.zeros("A_J^H Y", columns, width)?;
        // Powers may leave the range of the type. Each factor is scaled, and its power of two is counted.
        let mut exponent = 0;
        for _ in 0..self.local.iterations {
            apply(&context, x, Op::Adjoint, &omega, &mut t)?;
            let Some(e) = level(algebra, &mut t)? else { return Ok(()) };
            apply(&context, x, Op::Plain, &t, &mut omega)?;
            let Some(f) = level(algebra, &mut omega)? else { return Ok(()) };
            exponent += e + f;
        }
        // Blocks are added with the weights of their powers.
        let before = *self.exponent.get_or_insert(exponent);
        if exponent > before {
            shift(algebra, self.y, before - exponent)?;
            self.exponent = Some(exponent);
        } else {
            shift(algebra, &mut omega, exponent - before)?;
        }
        multiply(&context, 1.0, x.adjoint(), omega.view()?, Accum::Add, self.y.view_mut()?)
    }
}

/// The merge of the blocks' own decompositions (Iwen and Ong, SIMAX 37, 2016).
struct Merge<'w, T> {
    local: &'w BlockParameters,
    draws: MergeDraws,
    /// Right singular vectors times values of the blocks so far.
    merged: Option<CpuMatrix<T>>,
}

impl<T: Scalar> Merge<'_, T> {
    fn basis(&mut self, algebra: &mut CpuAlgebra, x: &mut CpuMatrix<T>, need: BasisAccuracy) -> Result<CpuMatrix<T>> {
        let method = BasisMethod { kind: Kind::Auto, need, seed: self.local.sketch.seed, draw: self.draws.draw() };
        orthonormalize(&mut Own(algebra), x, method, &mut Counts::default())
    }
}

impl<T: Scalar> Block<T> for Merge<'_, T> {
    fn take(&mut self, algebra: &mut CpuAlgebra, x: Mat<'_, T>, place: usize) -> Result<()> {
        let context = std::sync::Arc::clone(algebra.context());
        let (rows, columns) = x.shape();
        let width = self.local.width.min(rows).min(columns);
        let mut p = algebra.zeros("sketch of a block", rows, width)?;
        algebra.fill(&mut p, &self.local.sketch, to_u64(place), 0)?;
        let mut q = algebra.zeros("rows of a block", columns, width)?;
        apply(&context, x, Op::Adjoint, &p, &mut q)?;
        for _ in 0..self.local.iterations {
            self.basis(algebra, &mut q, BasisAccuracy::Span)?;
            apply(&context, x, Op::Plain, &q, &mut p)?;
            self.basis(algebra, &mut p, BasisAccuracy::Span)?;
            apply(&context, x, Op::Adjoint, &p, &mut q)?;
        }
        self.basis(algebra, &mut q, BasisAccuracy::Basis)?;
        apply(&context, x, Op::Plain, &q, &mut p)?;
        // The block is close to P Q^H, and P = (basis) R. Q R^H is the matrix of the block's right vectors times values, up
        // to a rotation that the merge removes.
        let r = self.basis(algebra, &mut p, BasisAccuracy::Basis)?;
        let mut own = algebra.zeros("block", columns, width)?;
        algebra.multiply(1.0, &q, Op::Plain, &r, Op::Adjoint, 0.0, &mut own)?;
        let before = self.merged.take();
        let kept = before.as_ref().map_or(0, CpuMatrix::cols);
        let mut both = algebra.zeros("two blocks", columns, kept + width)?;
        if let Some(before) = &before {
            algebra.copy_columns(before, 0, kept, &mut both, 0)?;
        }
        algebra.copy_columns(&own, 0, width, &mut both, kept)?;
        self.merged = Some(self.leading(algebra, both)?);
        Ok(())
    }
}

impl<T: Scalar> Merge<'_, T> {
    /// The leading left singular vectors of `both`, times their values.
    fn leading(&mut self, algebra: &mut CpuAlgebra, mut both: CpuMatrix<T>) -> Result<CpuMatrix<T>> {
        let (rows, cols) = both.shape();
        let keep = self.local.width.min(rows).min(cols);
        let (basis, Svd { u, s, .. }) = if rows >= cols {
            let r = self.basis(algebra, &mut both, BasisAccuracy::Basis)?;
            (Some(both), algebra.svd(&r)?)
        } else {
            (None, algebra.svd(&both)?)
        };
        let mut head = algebra.zeros("leading vectors", u.rows(), keep)?;
        algebra.copy_columns(&u, 0, keep, &mut head, 0)?;
        algebra.scale_columns(&mut head, &s[..keep])?;
        let Some(basis) = basis else { return Ok(head) };
        let mut leading = algebra.zeros("leading vectors", rows, keep)?;
        algebra.multiply(1.0, &basis, Op::Plain, &head, Op::Plain, 0.0, &mut leading)?;
        Ok(leading)
    }
}

impl<T: Scalar> CpuOps<'_, T> {
    /// See [`crate::rsvd::ops::RsvdOps::pass_block_sum`].
    pub(super) fn block_sum(&mut self, local: &BlockParameters, y: &mut CpuMatrix<T>) -> Result<()> {
        if y.shape() != (self.problem.columns, local.width) {
            return Err(mismatch("a sum of blocks", &[y.shape(), (self.problem.columns, local.width)]));
        }
        y.slice_mut()?.fill(T::default());
        self.blocks(&mut Sum { local, y, exponent: None })
    }

    /// See [`crate::rsvd::ops::RsvdOps::pass_merge`].
    pub(super) fn merge(&mut self, local: &BlockParameters, r: &mut CpuMatrix<T>) -> Result<()> {
        if r.shape() != (self.problem.columns, local.width) {
            return Err(mismatch("a merge of blocks", &[r.shape(), (self.problem.columns, local.width)]));
        }
        let mut merge = Merge { local, draws: MergeDraws::of_part(0), merged: None };
        self.blocks(&mut merge)?;
        let to = r.slice_mut()?;
        to.fill(T::default());
        if let Some(merged) = &merge.merged {
            let from = merged.slice()?;
            to[..from.len()].copy_from_slice(from);
        }
        Ok(())
    }

    /// One pass that calls `body` for every block.
    fn blocks(&mut self, body: &mut dyn Block<T>) -> Result<()> {
        if matches!(self.problem.data, Data::Csr(_) | Data::Operator(_)) {
            return Err(Error::NotSupported(
                "method: works on blocks of rows, which a sparse matrix or an operator does not have".into(),
            ));
        }
        self.prepare_dense()?;
        let transform = self.transform.take().unwrap_or_default();
        let (context, height) = (self.context, self.block_rows());
        let direct = transform.is_nothing() && self.dtype() == Some(T::DTYPE);
        let mut scratch =
            self.zeros_of::<T>("block of the data", height, if direct { 0 } else { self.problem.columns })?;
        let mut survey = self.statistics.is_none().then(Survey::default);
        let mut algebra = CpuAlgebra::new(context);
        let (backwards, transposed) = (self.is_backwards(), self.problem.transposed);
        let outcome = self.each_part(height, backwards, &mut |part: Part<'_>, count, place| {
            let (x, found) = if direct {
                let found = context.pool().run(|| part.look_direct::<T>(0, count))?;
                (part.direct(0, count)?, found)
            } else {
                part.load(context, 0, count, &transform, scratch.slice_mut()?)?
            };
            if let Some(survey) = &mut survey {
                if !found.are_finite() {
                    return Err(part.not_finite(0, count, place, transposed));
                }
                survey.add(found);
            }
            body.take(&mut algebra, x, place)
        });
        if outcome.is_ok()
            && let Some(survey) = survey
        {
            self.statistics = Some(survey.finish(&transform, T::IS_COMPLEX)?);
        }
        self.transform = Some(transform);
        self.traffic.passes += 1;
        outcome
    }
}
