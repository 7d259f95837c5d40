//! The memory of a Krylov space on the device, and how its columns are reached.

use std::ops::Range;
use std::sync::Arc;

use super::operator::DeviceOperator;
use super::steps::Steps;
use crate::alloc;
use crate::backend::gpu::kernels::lanczos::{parts, pieces};
use crate::backend::gpu::{DeviceMemory, Event, Gpu, GpuStream, Region, View};
use crate::context::Context;
use crate::dense::gpu::GpuAlgebra;
use crate::error::Result;
use crate::lanczos::cycles::Cycles;
use crate::lanczos::operator::Symmetric;
use crate::lanczos::ops::{LanczosOps, Poll};
use crate::scalar::{Element, Scalar};
use crate::shape::{product, to_u64};

pub(super) const WHAT: &str = "Krylov space";

/// Steps between two waits of the host. A wait is for the work that was enqueued before the previous wait. Cancellation
/// takes effect within twice as many steps, and the device has work while the host wakes up.
pub(super) const PACE: usize = 8;

/// A Krylov space on the device: columns of numbers, and an operator.
pub struct GpuKrylov<'o, 'a, 's, T: Scalar> {
    pub(super) gpu: Gpu,
    pub(super) stream: GpuStream,
    pub(super) algebra: GpuAlgebra,
    pub(super) operator: Source<'o, 'a, T>,
    pub(super) inverse: Option<Source<'o, 's, T>>,
    pub(super) n: usize,
    pub(super) columns: usize,
    pub(super) terms_norm: f64,
    pub(super) memory: DeviceMemory,
    /// Sums of the pieces of rows, number by number.
    pub(super) partials: DeviceMemory,
    /// Totals and records of steps, F64.
    pub(super) totals: DeviceMemory,
    /// Workspace of steps that take one launch; `None` if the kernel cannot take so many columns.
    pub(super) steps: Option<Steps>,
    /// Event behind the work that was enqueued before the last call of [`Cycles::pace`].
    pub(super) mark: Option<Event>,
    /// Two vectors on the host, for operators that multiply there; else empty.
    pub(super) host: [Vec<T>; 2],
    /// The ranges of rows of an operator that has only some of them.
    pub(super) rows: Option<&'a [Range<usize>]>,
}

/// Where the operator's products are computed.
pub(super) enum Source<'o, 'a, T: Scalar> {
    Device(Box<DeviceOperator<'o, T>>),
    Host(&'o mut Symmetric<'a, T>),
}

impl<'o, 'a, T: Scalar> Source<'o, 'a, T> {
    /// On the device if the operator can multiply there and `on_host` is false.
    fn new(gpu: &Gpu, stream: &GpuStream, operator: &'o mut Symmetric<'a, T>, on_host: bool) -> Result<Self> {
        if on_host || operator.is_on_host()? {
            return Ok(Self::Host(operator));
        }
        DeviceOperator::new(gpu, stream, operator).map(|made| Self::Device(Box::new(made)))
    }
}

/// The memory of column `j` of the space.
pub(super) fn column<T: Scalar>(memory: &DeviceMemory, n: usize, j: usize) -> Result<Region<'_>> {
    columns::<T>(memory, n, j, 1)
}

pub(super) fn columns<T: Scalar>(memory: &DeviceMemory, n: usize, first: usize, count: usize) -> Result<Region<'_>> {
    memory.region(first * n * size_of::<T>(), count * n * size_of::<T>())
}

impl<'o, 'a, 's, T: Scalar> GpuKrylov<'o, 'a, 's, T> {
    /// Allocates `columns` vectors. `inverse` is the caller's solve with the operator.
    ///
    /// # Errors
    /// Out of memory on the device or the host; `NoDevice` without cuBLAS.
    pub fn new(
        context: &Arc<Context>,
        operator: &'o mut Symmetric<'a, T>,
        inverse: Option<&'o mut Symmetric<'s, T>>,
        columns: usize,
    ) -> Result<Self> {
        let gpu = context.gpu("operator")?;
        let (columns, is_sampled) = (columns.max(3), operator.take_sampled());
        let stream = gpu.default_stream();
        let (n, rows, terms_norm) = (operator.order(), operator.rows(), operator.terms_norm());
        let [vectors, sums, numbers] = Self::lengths(n, columns)?;
        let memory = gpu.allocate_uninitialised_on(stream, WHAT, vectors)?;
        let partials = gpu.allocate_uninitialised_on(stream, WHAT, sums)?;
        let totals = gpu.allocate_on(stream, WHAT, numbers)?;
        // An inverse takes vectors in the matrix's order. Vectors have that order on the host.
        let is_reordered = operator.renumbering().is_some();
        let operator = Source::new(gpu, stream, operator, false)?;
        let inverse = inverse.map(|inverse| Source::new(gpu, stream, inverse, is_reordered)).transpose()?;
        let is_on_host = matches!(operator, Source::Host(_)) || matches!(inverse, Some(Source::Host(_)));
        let buffer = || alloc::filled(WHAT, if is_on_host { n } else { 0 }, T::default());
        let host = [buffer()?, buffer()?];
        let mut made = Self {
            gpu: gpu.clone(),
            stream: stream.clone(),
            algebra: GpuAlgebra::new(context, gpu, stream)?,
            operator,
            inverse,
            n,
            columns,
            terms_norm,
            memory,
            partials,
            totals,
            steps: Steps::new::<T>(gpu, stream, n, columns)?,
            mark: None,
            host,
            rows,
        };
        if is_sampled {
            made.sample()?;
        }
        Ok(made)
    }

    /// Bytes of the vectors, of the sums of pieces, and of the totals.
    fn lengths(n: usize, columns: usize) -> Result<[usize; 3]> {
        let vectors = product(WHAT, product(WHAT, n, columns)?, size_of::<T>())?;
        let sums = product(WHAT, 8 * (parts(T::DTYPE) * columns + 2), pieces(n))?;
        Ok([vectors, sums, product(WHAT, 8 * Self::most_totals(columns), columns)?])
    }

    /// Bytes on the device that [`GpuKrylov::new`] allocates for an operator of `operator` bytes, these included, beside
    /// `beside` others.
    pub(in crate::lanczos) fn bytes(
        context: &Context,
        gpu: &Gpu,
        (n, columns): (usize, usize),
        operator: usize,
        beside: usize,
    ) -> Result<usize> {
        let columns = columns.max(3);
        let own = Self::lengths(n, columns)?.into_iter().fold(operator, usize::saturating_add);
        let before = to_u64(own.saturating_add(beside));
        let algebra = GpuAlgebra::bytes_within(gpu, context.device_budget().available().saturating_sub(before));
        Ok(own.saturating_add(algebra).saturating_add(Steps::bytes::<T>(gpu, n, columns)?))
    }

    /// Called after step `at` is enqueued; calls [`Cycles::pace`] every [`PACE`] steps.
    pub(super) fn pace_step(&mut self, at: usize, poll: &mut Poll<'_>) -> Result<()> {
        if at % PACE == PACE - 1 { self.pace(poll) } else { Ok(()) }
    }

    /// Waits until all enqueued work is done, and calls `poll` meanwhile.
    pub(super) fn wait(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        self.mark = None;
        self.stream.record()?.synchronize_with(poll)
    }

    pub(super) fn column(&self, j: usize) -> Result<Region<'_>> {
        column::<T>(&self.memory, self.n, j)
    }

    pub(super) fn view(&self, first: usize, count: usize) -> Result<View<'_>> {
        Ok(View::packed(columns::<T>(&self.memory, self.n, first, count)?, self.n, count))
    }

    /// The memory of `count` totals from number `at` on.
    pub(super) fn totals(&self, at: usize, count: usize) -> Result<Region<'_>> {
        self.totals.region(8 * at, 8 * count)
    }

    /// Runs `work` on host copies of two columns and copies the second one back. With `keeps`, the second one is read
    /// first.
    pub(super) fn on_host(
        &mut self,
        (from, to): (usize, usize),
        keeps: bool,
        work: impl FnOnce(&mut Self, &[T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let [mut x, mut y] = std::mem::take(&mut self.host);
        let done = self.read(from, &mut x).and_then(|()| {
            if keeps {
                self.read(to, &mut y)?;
            }
            work(self, &x, &mut y)?;
            self.write(&y, to)
        });
        self.host = [x, y];
        done
    }

    /// Products of columns by an operator on the host, in one call of it.
    pub(super) fn apply_block_on_host(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        let buffer = || alloc::filled(WHAT, product(WHAT, self.n, count)?, T::default());
        let (mut x, mut y) = (buffer()?, buffer()?);
        for (j, x) in x.chunks_exact_mut(self.n).enumerate() {
            self.read(from + j, x)?;
        }
        if let Source::Host(operator) = &mut self.operator {
            operator.apply_block(&x, count, &mut y)?;
        }
        y.chunks_exact(self.n).enumerate().try_for_each(|(j, y)| self.write(y, to + j))
    }

    /// A copy of numbers on the device, in the order of the stream.
    pub(super) fn numbers<E: Element>(&self, values: &[E]) -> Result<DeviceMemory> {
        let mut memory = self.gpu.allocate_uninitialised_on(&self.stream, WHAT, size_of_val(values))?;
        self.gpu.store_numbers(&self.stream, values, &mut memory, 0)?;
        Ok(memory)
    }
}
