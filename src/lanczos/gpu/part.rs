//! The rows of one context on a GPU, where several share a matrix.

use std::sync::Arc;

use super::operator::{DeviceOperator, ProductVectors};
use super::space::{GpuKrylov, Source, WHAT, column, columns};
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
use crate::scalar::Scalar;
use crate::shape::product;

/// The columns of some rows on the device, and buffers for the entries that other parts need.
pub(in crate::lanczos) struct GpuPart<'o, 'a, T: Scalar> {
    krylov: GpuKrylov<'o, 'a, 'static, T>,
    /// Local rows that other parts gather, U32.
    sends: DeviceMemory,
    packed: DeviceMemory,
    count: usize,
    /// Coefficients that the pass in progress computes; 0 for none.
    forms: usize,
}

impl<'o, 'a, T: Scalar> GpuPart<'o, 'a, T> {
    /// Allocates `columns` vectors; `operator` has the rows of `block`.
    ///
    /// # Errors
    /// As [`GpuKrylov::new`].
    pub(in crate::lanczos) fn new(
        context: &Arc<Context>,
        operator: &'o mut Symmetric<'a, T>,
        block: &Block,
        columns: usize,
    ) -> Result<Self> {
        let krylov = GpuKrylov::new(context, operator, None, columns)?;
        let (gpu, stream, count) = (&krylov.gpu, &krylov.stream, block.sends.len());
        let sends = gpu.upload_numbers(stream, WHAT, &block.sends)?;
        let packed = gpu.allocate_uninitialised_on(stream, WHAT, product(WHAT, count, size_of::<T>())?)?;
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
            source.krylov.gpu.open_to(&target.krylov.gpu)?;
        }
        Ok(())
    }

    fn operator(&self) -> Result<&DeviceOperator<'o, T>> {
        match &self.krylov.operator {
            Source::Device(operator) => Ok(&**operator),
            Source::Host(_) => Err(Error::Internal("rows of several contexts on the host".into())),
        }
    }
}

/// The parts at both ends of a transfer.
fn pair<'p, P>(all: &'p [P], t: &Transfer) -> Result<(&'p P, &'p P)> {
    let ends = all.get(t.source).zip(all.get(t.target));
    ends.ok_or_else(|| Error::Internal(format!("{t:?} between {} parts", all.len())))
}

/// `count` numbers of `memory` from number `first` on.
fn numbers<T>(memory: Region<'_>, first: usize, count: usize) -> Result<Region<'_>> {
    memory.part(first * size_of::<T>(), count * size_of::<T>())
}

impl<T: Scalar> Part<T> for GpuPart<'_, '_, T> {
    fn columns(&mut self) -> &mut Columns<'_, T> {
        &mut self.krylov
    }

    fn pack(&mut self, from: usize) -> Result<()> {
        let (own, operator) = (&self.krylov, self.operator()?);
        operator.gather(column::<T>(&own.memory, own.n, from)?)?;
        let (list, to) = (self.sends.whole(), self.packed.whole());
        pick(T::DTYPE, &own.gpu, &own.stream, list, (self.count, own.n), operator.gathered()?, to)
    }

    fn exchange(all: &mut [Self], transfers: &[Transfer]) -> Result<()> {
        let all = &*all;
        for t in transfers {
            let (source, target) = pair(all, t)?;
            source.krylov.stream.record()?.make_wait(&target.krylov.stream)?;
            let from = numbers::<T>(source.packed.whole(), t.from, t.count)?;
            let to = numbers::<T>(target.operator()?.gathered()?, t.at, t.count)?;
            target.krylov.gpu.copy_from(&target.krylov.stream, &source.krylov.gpu, from, to)?;
        }
        // The next packing must not overwrite entries that are still being copied.
        for t in transfers {
            let (source, target) = pair(all, t)?;
            target.krylov.stream.record()?.make_wait(&source.krylov.stream)?;
        }
        Ok(())
    }

    fn finish(&mut self, step: Affine, from: usize, to: usize) -> Result<()> {
        let own = &self.krylov;
        let (x, y) = (column::<T>(&own.memory, own.n, from)?, column::<T>(&own.memory, own.n, to)?);
        self.operator()?.finish(step, ProductVectors { x, y })
    }

    fn begin(&mut self, reading: Reading<'_, T::Wide>) -> Result<()> {
        let Reading { first, count, column, weights, forms } = reading;
        let own = &self.krylov;
        let (gpu, stream, n) = (&own.gpu, &own.stream, own.n);
        let formed = if forms { parts(T::DTYPE) * count } else { 0 };
        let weights = weights.map(|h| own.numbers(h)).transpose()?;
        let partials = own.partials.whole();
        let one = Pass {
            space: columns::<T>(&own.memory, n, first, count)?,
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
        let (own, parts) = (&self.krylov, parts(T::DTYPE));
        let mut read = alloc::filled(WHAT, parts * self.forms + 2, 0.0f64)?;
        own.gpu.load_numbers(&own.stream, &own.totals, 0, &mut read)?;
        let (found, squares) = read.split_at(parts * self.forms);
        let mut products = alloc::with_capacity(WHAT, self.forms)?;
        products.extend(found.chunks_exact(parts).map(|c| T::Wide::from_parts(c[0], c.get(1).copied().unwrap_or(0.0))));
        Ok(Sums { products, before: squares[0], after: squares[1] })
    }
}
