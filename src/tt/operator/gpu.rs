//! [`OperatorOps`] on a GPU: cuBLAS computes the products, purlin's kernels the sums of columns between them. All work
//! is on one stream.

use std::sync::{Mutex, PoisonError};

use super::gather::Gather;
use super::ops::{CoreView, Extent, OperatorOps, Site, StepBytes};
use crate::alloc;
use crate::backend::gpu::kernels::tt::bonds::{Bonds, Cores};
use crate::backend::gpu::kernels::tt::operator::{self as kernels, Terms};
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, GpuStream, Region, Transpose, View};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::{product, to_u64};
use crate::stream::{self, Stream};
use crate::trains::scaled::exponent_of;

/// Operations on the GPU of a context.
pub struct GpuOps {
    gpu: Gpu,
    stream: GpuStream,
    /// The stream on which environments are allocated and freed.
    home: GpuStream,
}

/// cuBLAS, created at the first step.
pub struct Work {
    /// Element type of the environments.
    dtype: DType,
    blas: Mutex<Option<Blas>>,
    narrow: bool,
}

const STEP: &str = "workspace of a contraction with an operator";
/// Bytes of T and of U of a stretch of the ket's new bond.
const STRETCH: usize = 256 << 20;
/// Number of indices of the ket's new bond in the smallest stretch.
const COLUMNS: usize = 64;

impl GpuOps {
    /// The operations of a context, on `stream` or on the context's own stream.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a context on the CPU; [`Error::InvalidArgument`] for another context's stream.
    pub fn new(context: &Context, stream: Option<&Stream>) -> Result<Self> {
        let gpu = context.gpu("context")?.clone();
        let stream = stream::select(context, stream)?.unwrap_or_else(|| gpu.default_stream()).clone();
        Ok(Self { gpu, home: stream.clone(), stream })
    }

    /// Operations on environments that are stored from call to call. Calls may use different streams; the environments
    /// belong to the context's own stream.
    ///
    /// # Errors
    /// As [`GpuOps::new`].
    pub fn with_stored_environments(context: &Context, stream: Option<&Stream>) -> Result<Self> {
        let ops = Self::new(context, stream)?;
        Ok(Self { home: ops.gpu.default_stream().clone(), ..ops })
    }

    /// Whether the stream is being captured to a graph.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn is_captured(&self) -> Result<bool> {
        self.stream.is_captured()
    }

    /// Call it before work on the environments: the stream waits for the work of earlier calls on them.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn begin(&self) -> Result<()> {
        self.stream.wait_for(&self.home)
    }

    /// Call it after work on the environments: work of later calls on them waits for it.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn end(&self) -> Result<()> {
        self.home.wait_for(&self.stream)
    }

    fn allocate(&self, dtype: DType, elements: usize) -> Result<DeviceMemory> {
        self.gpu.allocate_uninitialized_on(&self.stream, STEP, product("x", elements, dtype.size())?)
    }

    /// The largest |re| or |im| of each row and of each column of an array r x n x s of type `dtype`, as from
    /// `gauge::rows_and_columns`. Waits.
    ///
    /// # Errors
    /// [`Error::Internal`] for an array shorter than its shape; out of memory; errors of the device.
    pub fn sizes(&self, dtype: DType, array: Region<'_>, dims: [usize; 3]) -> Result<[Vec<f64>; 2]> {
        let mut bonds = Bonds::default();
        bonds.add(dtype, &[dims], &Cores::Of(&[array]), 1)?;
        let list = bonds.table()?;
        let mut table = self.gpu.allocate_uninitialized_on(&self.stream, STEP, list.len() * 8)?;
        self.gpu.store_numbers(&self.stream, &list, &mut table, 0)?;
        let keys = self.gpu.allocate_on(&self.stream, STEP, bonds.key_bytes())?;
        bonds.keys(dtype, &self.gpu, &self.stream, (table.whole(), keys.whole()), None, 1)?;
        // Keys are the bit patterns of doubles.
        let [r, _, s] = dims;
        let mut rows = alloc::filled(STEP, r + s, 0.0f64)?;
        self.gpu.load_numbers(&self.stream, &keys, 0, &mut rows)?;
        let columns = alloc::copied(STEP, &rows[r..])?;
        rows.truncate(r);
        Ok([rows, columns])
    }

    /// Copies numbers to the host, from byte `offset` on.
    ///
    /// # Errors
    /// [`Error::Internal`] for memory that is too short; errors of the device.
    pub fn load<S: Scalar>(&self, memory: &DeviceMemory, offset: usize, to: &mut [S]) -> Result<()> {
        self.gpu.load_numbers(&self.stream, memory, offset, to)
    }

    /// Copies numbers from the host.
    ///
    /// # Errors
    /// As [`GpuOps::load`].
    pub fn store<S: Scalar>(&self, values: &[S], to: &mut DeviceMemory) -> Result<()> {
        self.gpu.store_numbers(&self.stream, values, to, 0)
    }

    /// Copies numbers from the host to new device memory.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], the context's limit included; errors of the device.
    pub fn bring<S: Scalar>(&self, values: &[S]) -> Result<DeviceMemory> {
        let mut memory = self.allocate(S::DTYPE, values.len())?;
        self.store(values, &mut memory)?;
        Ok(memory)
    }

    /// A core in the type `dtype` and in the order in which a step reads it: the bond where the step starts is
    /// fastest, the bond where it ends slowest. Also returns the exponent of the power of two by which it was divided.
    /// The core is copied only if necessary.
    fn core<'r>(
        &self,
        dtype: DType,
        view: &CoreView<'r>,
        site: &Site<'_>,
        copy: &'r mut [Option<DeviceMemory>; 2],
    ) -> Result<(Region<'r>, i64)> {
        let count = view.dims[0] * view.dims[1] * view.dims[2];
        let element = view.dtype.size();
        let (first, bytes) = (view.offset * element, count * element);
        let [brought, turned] = copy;
        let source = match view.memory {
            Memory::Device(memory) => memory.region(first, bytes)?,
            Memory::Host(host) => {
                let mut memory = self.gpu.allocate_uninitialized_on(&self.stream, STEP, bytes)?;
                let core = &host.as_slice::<u8>()?[first..first + bytes];
                self.gpu.upload(&self.stream, core, &mut memory, 0)?;
                brought.insert(memory).whole()
            }
        };
        let widen = view.dtype != dtype;
        let mut exponent = 0;
        if let Some(limit) = site.limit {
            let parts = bytes / dtype.part_size();
            let [peak, _] = kernels::peaks(dtype.part(), &self.gpu, &self.stream, source, (1, 1, 1), parts)?;
            let found = exponent_of(peak);
            exponent = if found.abs() > limit { found } else { 0 };
        }
        let aligned = (view.memory.address() + to_u64(first)).is_multiple_of(to_u64(dtype.size()));
        let is_brought = matches!(view.memory, Memory::Host(_));
        if !site.mirrored && !widen && exponent == 0 && (aligned || is_brought) {
            return Ok((source, 0));
        }
        let to = turned.insert(self.allocate(dtype, count)?).whole();
        let how = (site.mirrored, widen);
        kernels::turn(dtype, &self.gpu, &self.stream, source, view.dims, how, exponent, to)?;
        Ok((to, exponent))
    }

    /// [`OperatorOps::step`] in the type of `work`.
    fn advance(
        &self,
        work: &mut Work,
        site: &Site<'_>,
        from: &DeviceMemory,
        extent: Extent,
        to: &mut DeviceMemory,
    ) -> Result<i64> {
        let after = site.after(extent)?;
        let (dtype, gather) = (work.dtype, site.gather);
        let (rows, width) = (extent.bra * extent.slots * extent.pairs, after.slots * extent.pairs);
        let (m, n) = (gather.rows, gather.cols);
        if after.elements()? == 0 || rows == 0 {
            return Ok(0);
        }
        let (mut kets, mut bras) = ([None, None], [None, None]);
        let (x, x_exponent) = self.core(dtype, &site.ket, site, &mut kets)?;
        let (y, y_exponent) =
            if site.bra.is_same(&site.ket) { (x, x_exponent) } else { self.core(dtype, &site.bra, site, &mut bras)? };
        let from = (View::packed(from.whole(), rows, extent.ket), Transpose::Plain);
        let x = View::packed(x, extent.ket, n * after.ket);
        let taken = if site.conjugate { Transpose::Adjoint } else { Transpose::Transpose };
        let y = (View::packed(y, extent.bra * m, after.bra), taken);
        let terms = self.terms(gather)?;

        let length = stretch(dtype, extent, after, [m, n], work.narrow);
        let (t_size, u_size) = per_index(extent, after.slots, [m, n]);
        let (t, u) = (self.allocate(dtype, t_size * length)?, self.allocate(dtype, u_size * length)?);
        let blas = self.blas(work)?;
        for first in (0..after.ket).step_by(length) {
            let now = length.min(after.ket - first);
            let x = (x.columns(dtype, n * first, n * now)?, Transpose::Plain);
            multiply(dtype, blas, from, x, View::packed(t.whole(), rows, n * now))?;
            let sizes = [extent.bra, gather.inputs, extent.pairs, n, now];
            kernels::gather(dtype, &self.gpu, &self.stream, &terms, sizes, t.whole(), u.whole(), None)?;
            let sums = (View::packed(u.whole(), extent.bra * m, width * now), Transpose::Plain);
            let place = after.bra * width * dtype.size();
            let out = View::packed(to.region(place * first, place * now)?, after.bra, width * now);
            multiply(dtype, blas, y, sums, out)?;
        }
        Ok(x_exponent + y_exponent)
    }

    /// The operator's terms in device memory.
    fn terms(&self, gather: &Gather) -> Result<Terms> {
        Terms::new(&self.gpu, &self.stream, gather.rows * gather.outputs, |to| {
            gather.of(to).iter().map(|t| (t.slot, t.column, t.value))
        })
    }

    /// [`OperatorOps::apply`] with vectors in device memory, in the type of `work`. Does not wait.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if cuBLAS is not there; [`Error::Internal`] for sizes that do not fit; out of memory; errors
    /// of the device.
    pub fn apply_in_order(
        &self,
        work: &mut Work,
        left: (&DeviceMemory, Extent),
        gathers: &[Gather],
        right: (&DeviceMemory, Extent),
        v: Region<'_>,
        out: Region<'_>,
    ) -> Result<()> {
        let (dtype, l, r) = (work.dtype, left.1, right.1);
        let (rows, cols) = (l.bra * l.slots * l.pairs, v.bytes() / dtype.size() / l.ket);
        let blas = self.blas(work)?;
        let mut now = self.allocate(dtype, product("v", rows, cols)?)?;
        let environment = (View::packed(left.0.whole(), rows, l.ket), Transpose::Plain);
        let vector = (View::packed(v, l.ket, cols), Transpose::Plain);
        multiply(dtype, blas, environment, vector, View::packed(now.whole(), rows, cols))?;
        // T[(a i..), q, p, (j.. b')], site by site.
        let (mut column, mut follow) = (l.bra, cols);
        for gather in gathers {
            follow /= gather.cols;
            let outputs = product("v", column * gather.rows * gather.outputs, l.pairs)?;
            let next = self.allocate(dtype, product("v", outputs, follow)?)?;
            let sizes = [column, gather.inputs, l.pairs, gather.cols, follow];
            let (columns, of) =
                (gather.rows * gather.outputs, |to: usize| gather.of(to).iter().map(|t| (t.slot, t.column, t.value)));
            let bytes = Terms::enqueued_bytes(columns, gather.len())?;
            let space = self.gpu.allocate_uninitialized_on(&self.stream, STEP, bytes)?;
            let terms = Terms::enqueued(&self.gpu, &self.stream, columns, of, space.whole())?;
            kernels::gather(dtype, &self.gpu, &self.stream, &terms, sizes, now.whole(), next.whole(), None)?;
            column *= gather.rows;
            now = next;
        }
        let width = r.slots * r.pairs * r.ket;
        let made = (View::packed(now.whole(), column, width), Transpose::Plain);
        let environment = (View::packed(right.0.whole(), r.bra, width), Transpose::Transpose);
        multiply(dtype, blas, made, environment, View::packed(out, column, r.bra))
    }

    /// Whether cuBLAS has been created.
    pub fn is_ready(&self, work: &mut Work) -> bool {
        work.blas.get_mut().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn blas<'w>(&self, work: &'w mut Work) -> Result<&'w Blas> {
        let blas = work.blas.get_mut().unwrap_or_else(PoisonError::into_inner);
        if blas.as_ref().is_some_and(Blas::is_broken) {
            *blas = None;
        }
        let blas = match blas {
            Some(blas) => blas,
            None => {
                let made = blas.insert(Blas::new(&self.gpu, &self.home)?);
                self.begin()?;
                made
            }
        };
        blas.move_to(&self.stream)?;
        Ok(blas)
    }
}

/// Elements of T, and of U, for each index of the ket's new bond.
pub(super) fn per_index(from: Extent, slots: usize, [m, n]: [usize; 2]) -> (usize, usize) {
    let rows = from.bra.saturating_mul(from.pairs);
    (rows.saturating_mul(from.slots).saturating_mul(n), rows.saturating_mul(m).saturating_mul(slots))
}

/// Number of indices of the ket's new bond in a stretch.
pub(super) fn stretch(dtype: DType, from: Extent, to: Extent, modes: [usize; 2], narrow: bool) -> usize {
    let (t, u) = per_index(from, to.slots, modes);
    let fitting = STRETCH / t.saturating_add(u).saturating_mul(dtype.size()).max(1);
    (if narrow { 1 } else { fitting.max(COLUMNS) }).min(to.ket)
}

/// Bytes of workspace of a step with these sizes.
pub(super) fn step_workspace(dtype: DType, narrow: bool, from: Extent, to: Extent, modes: [usize; 2]) -> StepBytes {
    let (t, u) = per_index(from, to.slots, modes);
    let length = stretch(dtype, from, to, modes, narrow);
    let bytes = |elements: f64| elements * dtype.size() as f64;
    StepBytes {
        stretch: bytes((t as f64 + u as f64) * length as f64),
        lanes: 1.0,
        // A copy from the host, and a copy in another order.
        cores: [(from.bra, modes[0], to.bra), (from.ket, modes[1], to.ket)]
            .map(|(r, n, s)| 2.0 * bytes(r as f64 * n as f64 * s as f64)),
    }
}

impl<T: Scalar> OperatorOps<T> for GpuOps {
    type Environment = DeviceMemory;
    type Work = Work;

    fn environment(&self, elements: usize) -> Result<DeviceMemory> {
        let bytes = product("x", elements, size_of::<T>())?;
        let memory = self.gpu.allocate_on(&self.home, "environments of a contraction with an operator", bytes)?;
        self.begin()?;
        Ok(memory)
    }

    fn work(&self, _: usize, narrow: bool) -> Work {
        Work { dtype: T::DTYPE, blas: Mutex::new(None), narrow }
    }

    fn step_workspace(&self, _: usize, narrow: bool, from: Extent, to: Extent, modes: [usize; 2]) -> StepBytes {
        step_workspace(T::DTYPE, narrow, from, to, modes)
    }

    fn boundary(&self, to: &mut DeviceMemory, extent: Extent, first: usize, starts: &[bool]) -> Result<()> {
        let Extent { bra, slots, pairs, .. } = extent;
        let mut values = alloc::filled("boundary of an environment", extent.elements()?, T::default())?;
        for p in 0..pairs {
            let (a, b) = ((first + p) % bra, (first + p) / bra);
            for (q, _) in starts.iter().enumerate().filter(|(_, s)| **s) {
                values[a + bra * (q + slots * (p + pairs * b))] = T::from_parts(1.0, 0.0);
            }
        }
        self.gpu.store_numbers(&self.stream, &values, to, 0)
    }

    fn step(
        &self,
        work: &mut Work,
        site: &Site<'_>,
        from: &DeviceMemory,
        extent: Extent,
        to: &mut DeviceMemory,
    ) -> Result<i64> {
        self.advance(work, site, from, extent, to)
    }

    fn peaks(&self, environment: &DeviceMemory, extent: Extent, split: usize) -> Result<[f64; 2]> {
        let groups = (extent.bra, extent.slots, split);
        kernels::peaks(T::DTYPE, &self.gpu, &self.stream, environment.whole(), groups, extent.elements()?)
    }

    fn shift(&self, environment: &mut DeviceMemory, extent: Extent, split: usize, by: [i64; 2]) -> Result<()> {
        let groups = (extent.bra, extent.slots, split);
        kernels::shift(T::DTYPE, &self.gpu, &self.stream, environment.whole(), groups, extent.elements()?, by)
    }

    fn join(&self, left: (&DeviceMemory, Extent), right: (&DeviceMemory, Extent)) -> Result<Vec<Complex<f64>>> {
        let (l, r) = (left.1, right.1);
        if (l.bra, l.pairs, l.ket) != (r.bra, r.pairs, r.ket) || (r.slots != 1 && r.slots != l.slots) {
            return Err(Error::Internal(format!("environments of {l:?} and {r:?} meet")));
        }
        let (a, b) = ((left.0.whole(), l.slots), (right.0.whole(), r.slots));
        kernels::meet(T::DTYPE, &self.gpu, &self.stream, a, b, (l.bra, l.pairs * l.ket))
    }

    fn apply(
        &self,
        work: &mut Work,
        left: (&DeviceMemory, Extent),
        gathers: &[Gather],
        right: (&DeviceMemory, Extent),
        v: &[T],
        out: &mut [T],
    ) -> Result<()> {
        let mut vector = self.allocate(T::DTYPE, v.len())?;
        self.gpu.store_numbers(&self.stream, v, &mut vector, 0)?;
        let result = self.allocate(T::DTYPE, out.len())?;
        self.apply_in_order(work, left, gathers, right, vector.whole(), result.whole())?;
        self.gpu.load_numbers(&self.stream, &result, 0, out)
    }

    fn read(&self, environment: &DeviceMemory, out: &mut [T]) -> Result<()> {
        self.gpu.load_numbers(&self.stream, environment, 0, out)
    }

    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        (a(), b())
    }
}

/// C = op(A) op(B) for matrices of type `dtype`. C may hold any numbers before.
pub(super) fn multiply(
    dtype: DType,
    blas: &Blas,
    (a, op_a): (View<'_>, Transpose),
    (b, op_b): (View<'_>, Transpose),
    c: View<'_>,
) -> Result<()> {
    blas.multiply(dtype, 1.0, a, op_a, b, op_b, 0.0, c)
}
