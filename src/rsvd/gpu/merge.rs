//! Block merge: each block's leading right singular vectors, times their values, are merged with those of the blocks before.

use super::block::Block;
use super::passes::draw;
use super::site::{Site, bytes};
use super::state::Devices;
use crate::backend::gpu::Transpose;
use crate::dense::gpu::{DeviceMatrix, GpuAlgebra, GpuMatrix};
use crate::dense::orthonormal::{BasisAccuracy, BasisMethod, Counts, Kind, Own, orthonormalize};
use crate::error::Result;
use crate::rsvd::ops::{BlockParameters, MergeDraws};
use crate::scalar::{Scalar, with_scalar};

/// The merged factor of a device so far.
struct Merged {
    /// Index of the device's first row in the data.
    first: usize,
    draws: MergeDraws,
    /// Right singular vectors times their values.
    r: Option<DeviceMatrix>,
}

impl Devices<'_> {
    pub(super) fn merge_pass(&mut self, local: &BlockParameters, r: &mut DeviceMatrix) -> Result<()> {
        let (dtype, columns) = (self.dtype, self.columns);
        let width = local.width.min(columns);
        let begin = |k: usize| Merged { first: self.parts[k].feed.share.first, draws: MergeDraws::of_part(k), r: None };
        let device_operands: Vec<_> = (0..self.parts.len()).map(begin).collect();
        let merged = self.pass(device_operands, |site, operands: &mut Merged, block| {
            let factor = leading(site, block, (operands.first, columns, width), (local, &mut operands.draws))?;
            let before = operands.r.take();
            operands.r = Some(join(&mut site.algebra, before.as_ref(), factor, width, (local, &mut operands.draws))?);
            Ok(())
        })?;
        let mut all: Option<DeviceMatrix> = None;
        let mut draws = MergeDraws::of_part(self.parts.len());
        for (k, Merged { r, .. }) in merged.into_iter().enumerate() {
            let Some(mut r) = r else { continue };
            if k > 0 {
                const WHAT: &str = "matrix between devices";
                let mut numbers = crate::alloc::filled(WHAT, bytes(dtype, r.rows(), r.cols())?, 0u8)?;
                let other = &self.parts[k].site;
                other.gpu.load_numbers(&other.stream, r.memory(), 0, &mut numbers)?;
                let site = self.site();
                r = site.algebra.uninitialized(dtype, WHAT, columns, r.cols())?;
                site.gpu.store_numbers(&site.stream, &numbers, r.memory_mut(), 0)?;
            }
            all = Some(match all.take() {
                None => r,
                Some(before) => join(&mut self.site().algebra, Some(&before), r, width, (local, &mut draws))?,
            });
        }
        let site = self.site();
        site.gpu.clear(&site.stream, r.memory().whole())?;
        match &all {
            Some(all) => site.algebra.copy_between(all, 0, all.cols().min(r.cols()), r, 0),
            None => Ok(()),
        }
    }
}

/// A factor F, n by at most `width`, with F F^H close to A_J^H A_J.
fn leading(
    site: &mut Site,
    block: &Block<'_>,
    (first, columns, width): (usize, usize, usize),
    (local, draws): (&BlockParameters, &mut MergeDraws),
) -> Result<DeviceMatrix> {
    let (dtype, rows) = (block.dtype, block.span.rows);
    let width = width.min(rows);
    let mut product = site.algebra.uninitialized(dtype, "product of a block", rows, width)?;
    let mut q = site.algebra.uninitialized(dtype, "basis of a block", columns, width)?;
    draw(site, dtype, product.view(), &local.sketch, first + block.span.first)?;
    block.adjoint_plain(site, product.view(), q.view())?;
    for _ in 0..local.iterations {
        q = basis(&mut site.algebra, q, (local, draws.draw()), BasisAccuracy::Span)?.0;
        block.multiply(site, q.view(), product.view())?;
        product = basis(&mut site.algebra, product, (local, draws.draw()), BasisAccuracy::Span)?.0;
        block.adjoint_plain(site, product.view(), q.view())?;
    }
    let q = basis(&mut site.algebra, q, (local, draws.draw()), BasisAccuracy::Basis)?.0;
    block.multiply(site, q.view(), product.view())?;
    // A_J is close to (basis) R Q^H. Q R^H is V S up to a rotation, which the merge removes.
    let (_, r) = basis(&mut site.algebra, product, (local, draws.draw()), BasisAccuracy::Basis)?;
    let factor = site.algebra.uninitialized(dtype, "factor of a block", columns, width)?;
    let (plain, adjoint) = (Transpose::Plain, Transpose::Adjoint);
    site.blas().multiply(dtype, 1.0, q.view(), plain, r.view(), adjoint, 0.0, factor.view())?;
    Ok(factor)
}

/// U S of the leading `width` singular triplets of [a, b].
fn join(
    algebra: &mut GpuAlgebra,
    a: Option<&DeviceMatrix>,
    b: DeviceMatrix,
    width: usize,
    (local, draws): (&BlockParameters, &mut MergeDraws),
) -> Result<DeviceMatrix> {
    let (dtype, rows, before) = (b.dtype(), b.rows(), a.map_or(0, DeviceMatrix::cols));
    let both = before + b.cols();
    let mut f = b;
    if let Some(a) = a {
        let b = std::mem::replace(&mut f, algebra.uninitialized(dtype, "factors to merge", rows, both)?);
        algebra.copy_between(a, 0, before, &mut f, 0)?;
        algebra.copy_between(&b, 0, b.cols(), &mut f, before)?;
    }
    let kept = width.min(both).min(rows);
    let mut out = algebra.uninitialized(dtype, "merged factors", rows, kept)?;
    let values = if rows >= both {
        let (f, triangle) = basis(algebra, f, (local, draws.draw()), BasisAccuracy::Basis)?;
        let small = algebra.singular_values(&triangle)?;
        let mut u = algebra.uninitialized(dtype, "vectors of a triangle", both, kept)?;
        algebra.copy_between(&small.u, 0, kept, &mut u, 0)?;
        let plain = Transpose::Plain;
        algebra.blas().multiply(dtype, 1.0, f.view(), plain, u.view(), plain, 0.0, out.view())?;
        small.s
    } else {
        let small = algebra.singular_values(&f)?;
        algebra.copy_between(&small.u, 0, kept, &mut out, 0)?;
        small.s
    };
    algebra.scale_by(&out, &values[..kept])?;
    Ok(out)
}

/// Q and R of X = Q R with orthonormal Q.
fn basis(
    algebra: &mut GpuAlgebra,
    x: DeviceMatrix,
    (local, draw): (&BlockParameters, u64),
    need: BasisAccuracy,
) -> Result<(DeviceMatrix, DeviceMatrix)> {
    let how = BasisMethod { kind: Kind::Auto, need, seed: local.sketch.seed, draw };
    with_scalar!(x.dtype(), "a", T => typed_basis::<T>(algebra, x, how))
}

fn typed_basis<T: Scalar>(
    algebra: &mut GpuAlgebra,
    x: DeviceMatrix,
    how: BasisMethod,
) -> Result<(DeviceMatrix, DeviceMatrix)> {
    let mut x = GpuMatrix::<T>::new(x)?;
    let r = orthonormalize::<T, _>(&mut Own(algebra), &mut x, how, &mut Counts::default())?;
    Ok((x.into_untyped(), r.into_untyped()))
}
