//! The memory of a Krylov space on the device, and how its columns are reached.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use super::host::{HostProducts, on_host};
use super::operator::DeviceOperator;
use super::steps::Steps;
use crate::backend::gpu::kernels::lanczos::{parts, pieces};
use crate::backend::gpu::{DeviceMemory, Event, Gpu, GpuStream, Region, View};
use crate::context::Context;
use crate::dense::gpu::GpuAlgebra;
use crate::error::Result;
use crate::lanczos::operator::Symmetric;
use crate::lanczos::ops::Poll;
use crate::scalar::{DType, Element, Scalar};
use crate::shape::{product, to_u64};

pub(super) const WHAT: &str = "Krylov space";

/// Steps between two waits of the host. A wait is for the work that was enqueued before the previous wait. Cancellation
/// takes effect within twice as many steps, and the device has work while the host wakes up.
pub(super) const PACE: usize = 8;

/// A Krylov space on the device: columns of numbers of type T, and an operator.
pub struct GpuKrylov<'o, T: Scalar> {
    pub(super) space: Krylov<'o>,
    number: PhantomData<T>,
}

/// The same without its type.
pub(in crate::lanczos) struct Krylov<'o> {
    pub(super) dtype: DType,
    pub(super) gpu: Gpu,
    pub(super) stream: GpuStream,
    pub(super) algebra: GpuAlgebra,
    /// The operator, if its products are computed on the device.
    pub(super) operator: Option<Box<DeviceOperator<'o>>>,
    pub(super) inverse: Option<Box<DeviceOperator<'o>>>,
    /// The operator or the inverse whose products are computed on the host.
    pub(super) host: Option<Box<dyn HostProducts + 'o>>,
    /// Whether the inverse is one of these.
    pub(super) inverts_on_host: bool,
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
    /// Event behind the work that was enqueued before the last call of [`Cycles::pace`](crate::lanczos::cycles::Cycles::pace).
    pub(super) mark: Option<Event>,
    /// The ranges of rows of an operator that has only some of them.
    pub(super) rows: Option<&'o [Range<usize>]>,
}

/// The memory of column `j` of the space.
pub(super) fn column(memory: &DeviceMemory, dtype: DType, n: usize, j: usize) -> Result<Region<'_>> {
    columns(memory, dtype, n, j, 1)
}

pub(super) fn columns(memory: &DeviceMemory, dtype: DType, n: usize, first: usize, count: usize) -> Result<Region<'_>> {
    memory.region(first * n * dtype.size(), count * n * dtype.size())
}

/// The contents of a [`Krylov`] besides its memory.
struct Content<'o> {
    dtype: DType,
    operator: Option<Box<DeviceOperator<'o>>>,
    inverse: Option<Box<DeviceOperator<'o>>>,
    host: Option<Box<dyn HostProducts + 'o>>,
    inverts_on_host: bool,
    rows: Option<&'o [Range<usize>]>,
    n: usize,
    terms_norm: f64,
}

impl<'o, T: Scalar> GpuKrylov<'o, T> {
    /// Allocates `columns` vectors. `inverse` is the caller's solve with the operator.
    ///
    /// # Errors
    /// Out of memory on the device or the host; `NoDevice` without cuBLAS.
    pub fn new<'a: 'o, 's: 'o>(
        context: &Arc<Context>,
        operator: &'o mut Symmetric<'a, T>,
        inverse: Option<&'o mut Symmetric<'s, T>>,
        columns: usize,
    ) -> Result<Self> {
        let gpu = context.gpu("operator")?;
        let (columns, is_sampled) = (columns.max(3), operator.take_sampled());
        let stream = gpu.default_stream();
        let (n, rows, terms_norm) = (operator.order(), operator.rows(), operator.terms_norm());
        let memory = Memory::new(gpu, stream, T::DTYPE, n, columns)?;
        // An inverse takes vectors in the matrix's order. Vectors have that order on the host.
        let is_reordered = operator.renumbering().is_some();
        let (operator, host_operator) = place(gpu, stream, operator, false)?;
        let (inverse, host_inverse) = match inverse {
            None => (None, None),
            Some(inverse) => place(gpu, stream, inverse, is_reordered)?,
        };
        let inverts_on_host = host_inverse.is_some();
        let host = match (host_operator, host_inverse) {
            (None, None) => None,
            (operator, inverse) => Some(on_host(operator, inverse, n)?),
        };
        let content = Content { dtype: T::DTYPE, operator, inverse, host, inverts_on_host, rows, n, terms_norm };
        let mut space = Krylov::new(context, gpu, stream, columns, memory, content)?;
        if is_sampled {
            space.sample()?;
        }
        Ok(Self { space, number: PhantomData })
    }

    /// Whether the last cycle was launched as a graph.
    #[cfg(test)]
    pub(super) fn is_recorded(&self) -> bool {
        self.space.is_recorded()
    }
}

/// The operator on the device if it can multiply there and `on_host` is false; else the operator itself.
#[allow(clippy::type_complexity, reason = "one of the two is there")]
fn place<'o, 'a: 'o, T: Scalar>(
    gpu: &Gpu,
    stream: &GpuStream,
    operator: &'o mut Symmetric<'a, T>,
    on_host: bool,
) -> Result<(Option<Box<DeviceOperator<'o>>>, Option<&'o mut Symmetric<'a, T>>)> {
    if on_host || operator.is_on_host()? {
        return Ok((None, Some(operator)));
    }
    Ok((Some(Box::new(DeviceOperator::new(gpu, stream, operator)?)), None))
}

/// The vectors, the sums of pieces, and the totals of a space.
struct Memory {
    vectors: DeviceMemory,
    partials: DeviceMemory,
    totals: DeviceMemory,
}

impl Memory {
    fn new(gpu: &Gpu, stream: &GpuStream, dtype: DType, n: usize, columns: usize) -> Result<Self> {
        let [vectors, sums, numbers] = Krylov::lengths(dtype, n, columns)?;
        Ok(Self {
            vectors: gpu.allocate_uninitialized_on(stream, WHAT, vectors)?,
            partials: gpu.allocate_uninitialized_on(stream, WHAT, sums)?,
            totals: gpu.allocate_on(stream, WHAT, numbers)?,
        })
    }
}

impl<'o> Krylov<'o> {
    fn new(
        context: &Arc<Context>,
        gpu: &Gpu,
        stream: &GpuStream,
        columns: usize,
        memory: Memory,
        content: Content<'o>,
    ) -> Result<Self> {
        let Memory { vectors, partials, totals } = memory;
        let Content { dtype, operator, inverse, host, inverts_on_host, rows, n, terms_norm } = content;
        Ok(Self {
            dtype,
            gpu: gpu.clone(),
            stream: stream.clone(),
            algebra: GpuAlgebra::new(context, gpu, stream)?,
            operator,
            inverse,
            host,
            inverts_on_host,
            n,
            columns,
            terms_norm,
            memory: vectors,
            partials,
            totals,
            steps: Steps::new(dtype, gpu, stream, n, columns)?,
            mark: None,
            rows,
        })
    }

    /// Bytes of the vectors, of the sums of pieces, and of the totals.
    fn lengths(dtype: DType, n: usize, columns: usize) -> Result<[usize; 3]> {
        let vectors = product(WHAT, product(WHAT, n, columns)?, dtype.size())?;
        let sums = product(WHAT, 8 * (parts(dtype) * columns + 2), pieces(n))?;
        Ok([vectors, sums, product(WHAT, 8 * Self::most_totals(dtype, columns), columns)?])
    }

    /// Bytes on the device that [`GpuKrylov::new`] allocates for an operator of `operator` bytes, these included, beside
    /// `beside` others.
    pub(in crate::lanczos) fn bytes(
        dtype: DType,
        context: &Context,
        gpu: &Gpu,
        (n, columns): (usize, usize),
        operator: usize,
        beside: usize,
    ) -> Result<usize> {
        let columns = columns.max(3);
        let own = Self::lengths(dtype, n, columns)?.into_iter().fold(operator, usize::saturating_add);
        let before = to_u64(own.saturating_add(beside));
        let algebra = GpuAlgebra::bytes_within(gpu, context.device_budget().available().saturating_sub(before));
        Ok(own.saturating_add(algebra).saturating_add(Steps::bytes(dtype, gpu, n, columns)?))
    }

    /// See [`Cycles::pace`](crate::lanczos::cycles::Cycles::pace).
    pub(super) fn pace(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        if let Err(error) = poll() {
            // Enqueued work reads the caller's arrays until it is done.
            self.stream.synchronize()?;
            return Err(error);
        }
        let mark = self.stream.record()?;
        match self.mark.replace(mark) {
            Some(earlier) => earlier.synchronize_with(poll),
            None => Ok(()),
        }
    }

    /// Called after step `at` is enqueued; calls [`Krylov::pace`] every [`PACE`] steps.
    pub(super) fn pace_step(&mut self, at: usize, poll: &mut Poll<'_>) -> Result<()> {
        if at % PACE == PACE - 1 { self.pace(poll) } else { Ok(()) }
    }

    /// Waits until all enqueued work is done, and calls `poll` meanwhile.
    pub(super) fn wait(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        self.mark = None;
        self.stream.record()?.synchronize_with(poll)
    }

    pub(super) fn column(&self, j: usize) -> Result<Region<'_>> {
        column(&self.memory, self.dtype, self.n, j)
    }

    pub(super) fn view(&self, first: usize, count: usize) -> Result<View<'_>> {
        Ok(View::packed(columns(&self.memory, self.dtype, self.n, first, count)?, self.n, count))
    }

    /// The memory of `count` totals from number `at` on.
    pub(super) fn totals(&self, at: usize, count: usize) -> Result<Region<'_>> {
        self.totals.region(8 * at, 8 * count)
    }

    /// Runs `work` on the products of the host.
    pub(super) fn on_host(&mut self, work: impl FnOnce(&mut dyn HostProducts, &mut Self) -> Result<()>) -> Result<()> {
        let Some(mut host) = self.host.take() else { return Ok(()) };
        let done = work(&mut *host, self);
        self.host = Some(host);
        done
    }

    /// A copy of numbers on the device, in the order of the stream.
    pub(super) fn numbers<E: Element>(&self, values: &[E]) -> Result<DeviceMemory> {
        let mut memory = self.gpu.allocate_uninitialized_on(&self.stream, WHAT, size_of_val(values))?;
        self.gpu.store_numbers(&self.stream, values, &mut memory, 0)?;
        Ok(memory)
    }
}
