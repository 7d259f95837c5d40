//! Block merge: each block's leading right singular vectors, times their values, are merged with those of the blocks before.

use super::GpuOps;
use super::block::Block;
use super::passes::draw;
use super::site::Site;
use crate::dense::gpu::{GpuAlgebra, GpuMatrix};
use crate::dense::orthonormal::{BasisAccuracy, BasisMethod, Counts, Kind, Own, orthonormalize};
use crate::dense::{Algebra, Op};
use crate::error::Result;
use crate::rsvd::ops::{BlockParameters, MergeDraws};
use crate::scalar::Scalar;

/// The merged factor of a device so far.
struct Merged<T: Scalar> {
    /// Index of the device's first row in the data.
    first: usize,
    draws: MergeDraws,
    /// Right singular vectors times their values.
    r: Option<GpuMatrix<T>>,
}

impl<T: Scalar> GpuOps<'_, T> {
    pub(super) fn merge_pass(&mut self, local: &BlockParameters, r: &mut GpuMatrix<T>) -> Result<()> {
        let columns = self.columns;
        let width = local.width.min(columns);
        let begin = |k: usize| Merged { first: self.parts[k].feed.share.first, draws: MergeDraws::of_part(k), r: None };
        let device_operands: Vec<_> = (0..self.parts.len()).map(begin).collect();
        let merged = self.pass(device_operands, |site, operands: &mut Merged<T>, block| {
            let factor = leading(site, block, (operands.first, columns, width), (local, &mut operands.draws))?;
            let before = operands.r.take();
            operands.r = Some(join(&mut site.algebra, before.as_ref(), factor, width, (local, &mut operands.draws))?);
            Ok(())
        })?;
        let mut all: Option<GpuMatrix<T>> = None;
        let mut draws = MergeDraws::of_part(self.parts.len());
        for (k, Merged { r, .. }) in merged.into_iter().enumerate() {
            let Some(mut r) = r else { continue };
            if k > 0 {
                let mut numbers = crate::alloc::filled("matrix between devices", r.rows() * r.cols(), T::default())?;
                self.parts[k].site.algebra.download(&r, &mut numbers, columns)?;
                r = self.site().algebra.upload("matrix between devices", columns, r.cols(), &numbers, columns)?;
            }
            all = Some(match all.take() {
                None => r,
                Some(before) => join(&mut self.site().algebra, Some(&before), r, width, (local, &mut draws))?,
            });
        }
        let site = self.site();
        site.gpu.clear(&site.stream, r.memory().whole())?;
        match &all {
            Some(all) => site.algebra.copy_columns(all, 0, all.cols().min(r.cols()), r, 0),
            None => Ok(()),
        }
    }
}

/// A factor F, n by at most `width`, with F F^H close to A_J^H A_J.
fn leading<T: Scalar>(
    site: &mut Site,
    block: &Block<'_, T>,
    (first, columns, width): (usize, usize, usize),
    (local, draws): (&BlockParameters, &mut MergeDraws),
) -> Result<GpuMatrix<T>> {
    let rows = block.span.rows;
    let width = width.min(rows);
    let mut product = site.algebra.uninitialised::<T>("product of a block", rows, width)?;
    let mut q = site.algebra.uninitialised::<T>("basis of a block", columns, width)?;
    draw::<T>(site, product.view(), &local.sketch, first + block.span.first)?;
    block.adjoint_plain(site, product.view(), q.view())?;
    for _ in 0..local.iterations {
        basis(&mut site.algebra, &mut q, (local, draws.draw()), BasisAccuracy::Span)?;
        block.multiply(site, q.view(), product.view())?;
        basis(&mut site.algebra, &mut product, (local, draws.draw()), BasisAccuracy::Span)?;
        block.adjoint_plain(site, product.view(), q.view())?;
    }
    basis(&mut site.algebra, &mut q, (local, draws.draw()), BasisAccuracy::Basis)?;
    block.multiply(site, q.view(), product.view())?;
    // A_J is close to (basis) R Q^H. Q R^H is V S up to a rotation, which the merge removes.
    let r = basis(&mut site.algebra, &mut product, (local, draws.draw()), BasisAccuracy::Basis)?;
    let mut factor = site.algebra.uninitialised::<T>("factor of a block", columns, width)?;
    site.algebra.multiply(1.0, &q, Op::Plain, &r, Op::Adjoint, 0.0, &mut factor)?;
    Ok(factor)
}

/// U S of the leading `width` singular triplets of [a, b].
fn join<T: Scalar>(
    algebra: &mut GpuAlgebra,
    a: Option<&GpuMatrix<T>>,
    b: GpuMatrix<T>,
    width: usize,
    (local, draws): (&BlockParameters, &mut MergeDraws),
) -> Result<GpuMatrix<T>> {
    let (rows, before) = (b.rows(), a.map_or(0, GpuMatrix::cols));
    let both = before + b.cols();
    let mut f = b;
    if let Some(a) = a {
        let b = std::mem::replace(&mut f, algebra.uninitialised::<T>("factors to merge", rows, both)?);
        algebra.copy_columns(a, 0, before, &mut f, 0)?;
        algebra.copy_columns(&b, 0, b.cols(), &mut f, before)?;
    }
    let kept = width.min(both).min(rows);
    let mut out = algebra.uninitialised::<T>("merged factors", rows, kept)?;
    let values = if rows >= both {
        let triangle = basis(algebra, &mut f, (local, draws.draw()), BasisAccuracy::Basis)?;
        let small = algebra.svd(&triangle)?;
        let mut u = algebra.uninitialised::<T>("vectors of a triangle", both, kept)?;
        algebra.copy_columns(&small.u, 0, kept, &mut u, 0)?;
        algebra.multiply(1.0, &f, Op::Plain, &u, Op::Plain, 0.0, &mut out)?;
        small.s
    } else {
        let small = algebra.svd(&f)?;
        algebra.copy_columns(&small.u, 0, kept, &mut out, 0)?;
        small.s
    };
    scale::<T>(algebra, &mut out, &values[..kept])?;
    Ok(out)
}

fn scale<T: Scalar>(algebra: &mut GpuAlgebra, m: &mut GpuMatrix<T>, factors: &[f64]) -> Result<()> {
    Algebra::<T>::scale_columns(algebra, m, factors)
}

/// X becomes an orthonormal basis Q, and R of X = Q R is returned.
fn basis<T: Scalar>(
    algebra: &mut GpuAlgebra,
    x: &mut GpuMatrix<T>,
    (local, draw): (&BlockParameters, u64),
    need: BasisAccuracy,
) -> Result<GpuMatrix<T>> {
    let how = BasisMethod { kind: Kind::Auto, need, seed: local.sketch.seed, draw };
    orthonormalize::<T, _>(&mut Own(algebra), x, how, &mut Counts::default())
}
