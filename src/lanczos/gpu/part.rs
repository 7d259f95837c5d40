//! The rows of one context on a GPU, where several share a matrix.

use std::sync::Arc;

use super::operator::{DeviceOperator, ProductVectors};
use super::space::{GpuKrylov, Krylov, WHAT, columns};
use crate::alloc;
use crate::backend::gpu::kernels::lanczos::{Pass, parts, pass, pieces, total};
use crate::backend::gpu::kernels::spmv::pick;
use crate::backend::gpu::{DeviceMemory, Region};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::lanczos::cycles::Columns;
use crate::lanczos::operator::Symmetric;
use crate::lanczos::ops::Affine;
use crate::lanczos::shared::{Block, Part, Reading, Sums, Transfer};
use crate::scalar::{DType, Scalar};
use crate::shape::product;

/// The columns of some rows on the device, and buffers for the entries that other parts need.
pub(in crate::lanczos) struct GpuPart<'o, T: Scalar> {
    krylov: GpuKrylov<'o, T>,
    /// Local rows that other parts gather, U32.
    sends: DeviceMemory,
    packed: DeviceMemory,
    count: usize,
    /// Coefficients that the pass in progress computes; 0 for none.
    forms: usize,
}

impl<'o, T: Scalar> GpuPart<'o, T> {
    /// Allocates `columns` vectors; `operator` has the rows of `block`.
    ///
    /// # Errors
    /// As [`GpuKrylov::new`].
    pub(in crate::lanczos) fn new<'a: 'o>(
        context: &Arc<Context>,
        operator: &'o mut Symmetric<'a, T>,
        block: &Block,
        columns: usize,
    ) -> Result<Self> {
        let krylov = GpuKrylov::new(context, operator, None, columns)?;
        let (gpu, stream, count) = (&krylov.space.gpu, &krylov.space.stream, block.sends.len());
        let sends = gpu.upload_numbers(stream, WHAT, &block.sends)?;
        let packed = gpu.allocate_uninitialized_on(stream, WHAT, product(WHAT, count, size_of::<T>())?)?;
        Ok(Self { krylov, sends, packed, count, forms: 0 })
    }

    /// Bytes of the lists and buffers beside the columns and the operator.
    pub(in crate::lanczos) fn exchange_bytes(block: &Block) -> usize {
        block.sends.len().saturating_mul(size_of::<u32>() + size_of::<T>())
    }

    /// Enables peer access between the devices that exchange entries. Where it is not available, copies go through the
    /// host.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub(in crate::lanczos) fn connect(all: &[Self], transfers: &[Transfer]) -> Result<()> {
        for t in transfers {
            let (source, target) = pair(all, t)?;
            source.space().gpu.open_to(&target.space().gpu)?;
        }
        Ok(())
    }

    fn space(&self) -> &Krylov<'o> {
        &self.krylov.space
    }

    fn operator(&self) -> Result<&DeviceOperator<'o>> {
        let there = self.space().operator.as_deref();
        there.ok_or_else(|| Error::Internal("rows of several contexts on the host".into()))
    }
}

/// The parts at both ends of a transfer.
fn pair<'p, P>(all: &'p [P], t: &Transfer) -> Result<(&'p P, &'p P)> {
    let ends = all.get(t.source).zip(all.get(t.target));
    ends.ok_or_else(|| Error::Internal(format!("{t:?} between {} parts", all.len())))
}

/// `count` numbers of type `dtype` of `memory` from number `first` on.
fn numbers(dtype: DType, memory: Region<'_>, first: usize, count: usize) -> Result<Region<'_>> {
    memory.part(first * dtype.size(), count * dtype.size())
}

impl<T: Scalar> Part<T> for GpuPart<'_, T> {
    fn columns(&mut self) -> &mut Columns<'_, T> {
        &mut self.krylov
    }

    fn pack(&mut self, from: usize) -> Result<()> {
        let (own, operator) = (self.space(), self.operator()?);
        operator.gather(own.column(from)?)?;
        let (list, to) = (self.sends.whole(), self.packed.whole());
        pick(T::DTYPE, &own.gpu, &own.stream, list, (self.count, own.n), operator.gathered()?, to)
    }

    fn exchange(all: &mut [Self], transfers: &[Transfer]) -> Result<()> {
        let all = &*all;
        for t in transfers {
            let (source, target) = pair(all, t)?;
            source.space().stream.record()?.make_wait(&target.space().stream)?;
            let from = numbers(T::DTYPE, source.packed.whole(), t.from, t.count)?;
            let to = numbers(T::DTYPE, target.operator()?.gathered()?, t.at, t.count)?;
            target.space().gpu.copy_from(&target.space().stream, &source.space().gpu, from, to)?;
        }
        // The next packing must not overwrite entries that are still being copied.
        for t in transfers {
            let (source, target) = pair(all, t)?;
            target.space().stream.record()?.make_wait(&source.space().stream)?;
        }
        Ok(())
    }

    fn finish(&mut self, step: Affine, from: usize, to: usize) -> Result<()> {
        let (x, y) = (self.space().column(from)?, self.space().column(to)?);
        self.operator()?.finish(step, ProductVectors { x, y })
    }

    fn begin(&mut self, reading: Reading<'_, T::Wide>) -> Result<()> {
        let Reading { first, count, column, weights, forms } = reading;
        let own = self.space();
        let (gpu, stream, n) = (&own.gpu, &own.stream, own.n);
        let formed = if forms { parts(T::DTYPE) * count } else { 0 };
        let weights = weights.map(|h| own.numbers(h)).transpose()?;
        let partials = own.partials.whole();
        let one = Pass {
            space: columns(&own.memory, T::DTYPE, n, first, count)?,
            vector: own.column(column)?,
            rows: n,
            count,
            weights: weights.as_ref().map(DeviceMemory::whole),
            partials: (formed > 0).then_some(partials),
            squares: Some(own.squares(formed)?),
            keep: false,
        };
        pass(T::DTYPE, gpu, stream, one)?;
        total(gpu, stream, partials, (formed + 2, pieces(n)), 1.0, own.totals(0, formed + 2)?)?;
        self.forms = if forms { count } else { 0 };
        Ok(())
    }

    fn sums(&mut self) -> Result<Sums<T::Wide>> {
        let (own, parts) = (self.space(), parts(T::DTYPE));
        let mut read = alloc::filled(WHAT, parts * self.forms + 2, 0.0f64)?;
        own.gpu.load_numbers(&own.stream, &own.totals, 0, &mut read)?;
        let (found, squares) = read.split_at(parts * self.forms);
        let mut products = alloc::with_capacity(WHAT, self.forms)?;
        products.extend(found.chunks_exact(parts).map(|c| T::Wide::from_parts(c[0], c.get(1).copied().unwrap_or(0.0))));
        Ok(Sums { products, before: squares[0], after: squares[1] })
    }
}
