//! The operations of robust PCA on the GPUs of a group.

use std::marker::PhantomData;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use super::member::{Member, Plan, weights_of};
use super::target::Target;
use super::team::{ProgressCheck, Share, shares, together};
use crate::alloc;
use crate::backend::gpu::kernels::rsvd::{Copying, Strided, copy};
use crate::backend::gpu::{DeviceMemory, GpuStream};
use crate::context::Context;
use crate::dense::gpu::{DeviceMatrix, GpuAlgebra, GpuMatrix};
use crate::error::{Error, Result};
use crate::group;
use crate::progress::{CancelFlag, Progress};
use crate::rpca::input::Entries;
use crate::rpca::ops::{LowRank, PanelReceiver, Product, RpcaOps, Start, Step, Sums, Weights};
use crate::rpca::options::Options;
use crate::scalar::{DType, Scalar};
use crate::shape::{product, to_i64, to_u64};

/// The passes on the GPUs of a group, each with its own rows, in arithmetic of type T.
pub struct GpuOps<'a, T: Scalar> {
    group: Members<'a>,
    element: PhantomData<T>,
}

/// The devices of a run.
struct Members<'a> {
    /// Type of the arithmetic. Small matrices are in double precision.
    dtype: DType,
    /// At least one. The first has the first rows and the small matrices.
    members: Vec<Member<'a>>,
    size: (usize, usize),
    progress: &'a Progress<'a>,
    /// Step, expected steps and residual of the last progress report.
    step: (i64, i64, f64),
    /// Incremented when a device fails; the others then end early.
    stop: Arc<AtomicU64>,
}

/// The factors of a pass, in the memory of one device.
type Operands<'m> = [Option<&'m DeviceMatrix>; 3];

/// The host copy of a small matrix that is copied between devices.
struct HostMatrix {
    rows: usize,
    cols: usize,
    numbers: Vec<u8>,
}

/// The input of one device.
struct DeviceInput<'a, 'c> {
    context: &'c Arc<Context>,
    /// Bytes of device memory for this context.
    free: u64,
    stream: GpuStream,
    flag: CancelFlag,
    entries: (Entries<'a>, Option<Entries<'a>>),
    share: Share,
}

/// The plan of a run.
pub struct Planned {
    /// Bytes of host and of device memory, of the context that needs most.
    pub bytes: (u64, u64),
    /// Rows of a panel (largest of all devices), and the number of panels of a pass.
    pub panels: (u64, u64),
    /// Devices that share the rows.
    pub contexts: u64,
    /// Whether X and Y stay in the memory of their devices, on all of them.
    pub is_resident: bool,
}

/// The rows of each device. Data in the memory of the first device are processed on it alone.
fn shares_of(
    contexts: &[Arc<Context>],
    entries: &Entries<'_>,
    mask: Option<&Entries<'_>>,
    m: usize,
    options: &Options,
) -> Vec<Share> {
    let is_cut = !entries.is_device() && !mask.is_some_and(Entries::is_device);
    shares(m, if is_cut { contexts.len() } else { 1 }, options.block_rows)
}

/// Free device memory for each of the first `count` contexts.
fn free_memory(contexts: &[Arc<Context>], count: usize) -> Result<Vec<u64>> {
    let members: Vec<&Context> = contexts.iter().take(count).map(Arc::as_ref).collect();
    group::free_device_memory(&members)
}

/// The plan of a run on `contexts`, in arithmetic of type `dtype`.
///
/// # Errors
/// [`Error::OutOfDeviceMemory`] and [`Error::OutOfMemory`] with the bytes that are needed; [`Error::NoDevice`] without
/// cuBLAS.
pub fn plan(
    dtype: DType,
    contexts: &[Arc<Context>],
    entries: &Entries<'_>,
    mask: Option<&Entries<'_>>,
    (m, n): (usize, usize),
    options: &Options,
) -> Result<Planned> {
    let shares = shares_of(contexts, entries, mask, m, options);
    let mut planned = Planned { bytes: (0, 0), panels: (0, 0), contexts: to_u64(shares.len()), is_resident: true };
    if n == 0 {
        return Ok(planned);
    }
    let free = free_memory(contexts, shares.len())?;
    for ((context, share), free) in contexts.iter().zip(shares).zip(free) {
        let gpu = context.gpu("context")?;
        // The plan includes the workspace of cuBLAS.
        let algebra = GpuAlgebra::new(context, gpu, gpu.default_stream())?;
        let plan = Plan::new(dtype, context, free, entries, mask, (share.rows, n), options)?;
        let device = plan.fit.expected.saturating_add(algebra.blas().own_workspace_bytes());
        let (rows, panels) = (plan.fit.rows.min(share.rows), share.rows.div_ceil(plan.fit.rows.max(1)));
        planned.is_resident &= plan.fit.is_resident;
        planned.bytes = (planned.bytes.0.max(plan.host), planned.bytes.1.max(device));
        planned.panels = (planned.panels.0.max(to_u64(rows)), planned.panels.1.saturating_add(to_u64(panels)));
    }
    Ok(planned)
}

impl<'a, T: Scalar> GpuOps<'a, T> {
    /// The operations on `entries`, m-by-n with m >= n, and on the mask of observed entries, on `stream` of the first
    /// context. Data in the memory of the first device are processed on it alone.
    ///
    /// # Errors
    /// As [`plan`]; [`Error::Cancelled`]; [`Error::ThreadRefused`]; errors of sources.
    pub fn new(
        contexts: &[Arc<Context>],
        stream: &GpuStream,
        progress: &'a Progress<'a>,
        entries: Entries<'a>,
        mask: Option<Entries<'a>>,
        (m, n): (usize, usize),
        options: &Options,
    ) -> Result<Self> {
        let group = Members::new(T::DTYPE, contexts, stream, progress, (entries, mask), (m, n), options)?;
        Ok(Self { group, element: PhantomData })
    }

    /// Devices of the run, at least 1.
    pub fn contexts(&self) -> u64 {
        to_u64(self.group.members.len())
    }

    /// Rows of a panel (largest of all devices), and the number of panels of a pass.
    pub fn blocks(&self) -> (u64, u64) {
        self.group.members.iter().map(Member::blocks).fold((0, 0), |(rows, panels), (r, p)| (rows.max(r), panels + p))
    }

    /// Whether X and Y stay in the memory of their devices, on all of them.
    pub fn is_resident(&self) -> bool {
        self.group.members.iter().all(Member::is_resident)
    }

    /// Planned bytes of host and of device memory, of the context that needs most.
    pub fn planned_bytes(&self) -> (u64, u64) {
        self.group
            .members
            .iter()
            .map(Member::planned)
            .fold((0, 0), |(h, d), (host, device)| (h.max(host), d.max(device)))
    }

    /// Bytes copied to devices, bytes read from sources, and seconds spent reading, of all devices together.
    pub fn traffic(&self) -> (u64, u64, f64) {
        let add = |(a, b, c), (x, y, z)| (a + x, b + y, c + z);
        self.group.members.iter().map(Member::traffic).fold((0, 0, 0.0), add)
    }

    /// Calls `take(first row, rows, rows of a block, L, S)` for each panel in turn. L and S are packed and column-major
    /// in host memory.
    ///
    /// # Errors
    /// Errors of `take`; [`Error::Cancelled`]; out of memory; errors of the GPUs.
    pub fn results(&mut self, take: &mut PanelReceiver<'_, T>) -> Result<()> {
        self.group.members.iter_mut().try_for_each(|member| member.results::<T>(take))
    }

    /// Writes L, or with `sparse` S, times `unit` to the caller's memory on the first device. Entry (i, j) is element `i *
    /// row_stride + j * column_stride` there.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; out of memory; errors of the GPUs.
    pub fn store(&mut self, sparse: bool, memory: &DeviceMemory, strides: (usize, usize), unit: f64) -> Result<()> {
        let target = Target::new(memory, self.group.size, strides, unit);
        let Some((first, others)) = self.group.members.split_first_mut() else { return Ok(()) };
        first.store(sparse, &target)?;
        for other in others {
            other.results::<T>(&mut |row, rows, _, low_rank, sparse_part| {
                first.put(row, rows, if sparse { sparse_part } else { low_rank }, &target)
            })?;
        }
        Ok(())
    }
}

impl<'a> Members<'a> {
    fn new(
        dtype: DType,
        contexts: &[Arc<Context>],
        stream: &GpuStream,
        progress: &'a Progress<'a>,
        (entries, mask): (Entries<'a>, Option<Entries<'a>>),
        (m, n): (usize, usize),
        options: &Options,
    ) -> Result<Self> {
        let stop = Arc::new(AtomicU64::new(0));
        let shares = shares_of(contexts, &entries, mask.as_ref(), m, options);
        let mut beginnings = Vec::with_capacity(shares.len());
        // Before any member allocates: they begin at the same time.
        let free = free_memory(contexts, shares.len())?;
        for (k, ((context, share), free)) in contexts.iter().zip(shares).zip(free).enumerate() {
            let stream = match k {
                0 => stream.clone(),
                _ => context.gpu("context")?.create_independent_stream()?,
            };
            let entries = (entries.from_row(share.first), mask.as_ref().map(|mask| mask.from_row(share.first)));
            beginnings.push(DeviceInput { context, free, stream, flag: progress.flag().and(&stop), entries, share });
        }
        let step = (0, to_i64(options.max_iterations), 0.0);
        let tick = || progress.repeat(step);
        let members = together(&stop, beginnings, Some(&tick), |b, tick| {
            let DeviceInput { context, free, stream, flag, entries, share } = b;
            Member::new(dtype, (context, free), &stream, (flag, tick), entries, share, n, options)
        })?;
        if members.is_empty() {
            return Err(Error::Internal("a run without a context".into()));
        }
        Ok(Self { dtype, members, size: (m, n), progress, step, stop })
    }

    fn first(&mut self) -> &mut Member<'a> {
        &mut self.members[0]
    }

    /// Calls `work` for every device at the same time, with the device's number. The first repeats the last report
    /// before its panels.
    fn each<R: Send>(
        &mut self,
        work: impl Fn(usize, &mut Member<'a>, ProgressCheck<'_>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let (progress, step) = (self.progress, self.step);
        let tick = || progress.repeat(step);
        let jobs: Vec<_> = self.members.iter_mut().enumerate().collect();
        together(&self.stop, jobs, Some(&tick), |(k, member), tick| work(k, member, tick))
    }

    /// Copies a matrix of the first device to the host for the others; `None` if there are no others.
    fn carry(&mut self, matrix: Option<&DeviceMatrix>) -> Result<Option<HostMatrix>> {
        let (Some(matrix), true) = (matrix, self.members.len() > 1) else { return Ok(None) };
        let (rows, cols) = matrix.shape();
        let numbers = self.first().send("matrix between devices", matrix)?;
        Ok(Some(HostMatrix { rows, cols, numbers }))
    }

    /// A pass that ends in a sum over all rows. `work` is called with a device, the operands in its memory, and the
    /// matrix for its part of the sum.
    fn summed<R: Send>(
        &mut self,
        operands: Operands<'_>,
        is_summed: bool,
        out: &mut DeviceMatrix,
        work: impl Fn(&mut Member<'a>, Operands<'_>, &mut DeviceMatrix, ProgressCheck<'_>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        if let [only] = self.members.as_mut_slice() {
            let (progress, step) = (self.progress, self.step);
            let tick = || progress.repeat(step);
            return Ok(vec![work(only, operands, out, Some(&tick))?]);
        }
        let [a, b, c] = operands;
        let carried = [self.carry(a)?, self.carry(b)?, self.carry(c)?];
        let ((rows, cols), wide) = (out.shape(), self.dtype.wide());
        // Only the first device uses `out`, so that it works in place, without a copy.
        let first_out = Mutex::new(out);
        let found = self.each(|k, member, tick| {
            if k == 0 {
                let mut out = first_out.lock().map_err(|_| Error::Internal("the sum of a pass is lost".into()))?;
                return Ok((work(member, operands, &mut out, tick)?, Vec::new()));
            }
            let mut copies = [None, None, None];
            for (copy, carried) in copies.iter_mut().zip(&carried) {
                *copy = carried.as_ref().map(|m| member.receive(m)).transpose()?;
            }
            let [a, b, c] = &copies;
            let mut part = DeviceMatrix::zeros(&member.gpu, &member.stream, "sum of a pass", wide, (rows, cols))?;
            let result = work(member, [a.as_ref(), b.as_ref(), c.as_ref()], &mut part, tick)?;
            let numbers = if is_summed { member.send("sum between devices", &part)? } else { Vec::new() };
            Ok((result, numbers))
        })?;
        let out = first_out.into_inner().map_err(|_| Error::Internal("the sum of a pass is lost".into()))?;
        let mut results = Vec::with_capacity(found.len());
        for (result, numbers) in found {
            results.push(result);
            if !numbers.is_empty() {
                self.first().add_up(&numbers, out)?;
            }
        }
        Ok(results)
    }
}

/// Copies between a device and the host.
impl Member<'_> {
    fn receive(&self, carried: &HostMatrix) -> Result<DeviceMatrix> {
        let (what, wide) = ("matrix between devices", self.dtype.wide());
        let mut m = self.algebra.uninitialized(wide, what, carried.rows, carried.cols)?;
        self.gpu.store_numbers(&self.stream, &carried.numbers, m.memory_mut(), 0)?;
        Ok(m)
    }

    fn send(&self, what: &'static str, part: &DeviceMatrix) -> Result<Vec<u8>> {
        let elements = product(what, part.rows(), part.cols())?;
        let mut numbers = alloc::filled(what, product(what, elements, part.dtype().size())?, 0u8)?;
        self.gpu.load_numbers(&self.stream, part.memory(), 0, &mut numbers)?;
        Ok(numbers)
    }

    /// Adds another device's part to `sum`.
    fn add_up(&self, numbers: &[u8], sum: &DeviceMatrix) -> Result<()> {
        let more = self.gpu.upload_numbers(&self.stream, "sum between devices", numbers)?;
        let count = numbers.len() / sum.dtype().size();
        let line = |memory| Strided { memory, row: 1, column: count };
        let how = Copying { conjugate: false, add: true };
        let (from, to) = (line(more.whole()), line(sum.memory().whole()));
        copy(sum.dtype(), &self.gpu, &self.stream, (count, 1), from, to, how)
    }
}

impl Members<'_> {
    fn begin(&mut self) -> Result<Start> {
        let found = self.each(|_, member, tick| member.begin(tick))?;
        let mut start = Start::default();
        let mut bad = 0.0;
        for [norm2, max_abs, not_finite, one_norm] in found {
            start.norm2 += norm2;
            // The modulus of a finite complex number may overflow.
            start.max_abs = start.max_abs.max(max_abs.min(f64::MAX));
            start.one_norm += one_norm;
            bad += not_finite;
        }
        if bad > 0.0 {
            return Err(Error::invalid("m", format!("has {bad} numbers that are not finite")));
        }
        Ok(start)
    }

    fn product(&mut self, kind: &Product<'_, DeviceMatrix>, out: &mut DeviceMatrix) -> Result<()> {
        let operands = [kind.operand(), None, None];
        let work = |member: &mut Member<'_>, [w, ..]: Operands<'_>, out: &mut _, tick: ProgressCheck<'_>| {
            member.product(&kind.with(w)?, out, tick)
        };
        self.summed(operands, !matches!(kind, Product::None), out, work).map(drop)
    }

    fn update(
        &mut self,
        step: &Step,
        low_rank: &LowRank<'_, DeviceMatrix>,
        kind: &Product<'_, DeviceMatrix>,
        out: &mut DeviceMatrix,
    ) -> Result<Sums> {
        let (a, b) = low_rank.operands();
        let work = |member: &mut Member<'_>, [a, b, w]: Operands<'_>, out: &mut _, tick: ProgressCheck<'_>| {
            member.update(step, &low_rank.with(a, b)?, &kind.with(w)?, out, tick)
        };
        let sums = self.summed([a, b, kind.operand()], !matches!(kind, Product::None), out, work)?;
        Ok(sums.into_iter().fold(Sums::default(), Sums::and))
    }
}

/// The product with its matrix without a type.
fn untyped<'m, W: Scalar>(kind: &Product<'m, GpuMatrix<W>>) -> Result<Product<'m, DeviceMatrix>> {
    kind.with(kind.operand().map(|w| &**w))
}

impl<T: Scalar> RpcaOps<T::Wide> for GpuOps<'_, T> {
    type Small = GpuAlgebra;

    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn small(&mut self) -> &mut GpuAlgebra {
        &mut self.group.first().algebra
    }

    fn size(&self) -> (usize, usize) {
        self.group.size
    }

    fn weights(&self) -> Weights {
        weights_of(T::DTYPE)
    }

    fn checkpoint(&mut self, iteration: usize, iterations: usize, residual: f64) -> Result<()> {
        let (step, steps) = (to_i64(iteration), to_i64(iterations));
        self.group.step = (step, steps, residual);
        self.group.progress.report(step, steps, residual)
    }

    fn set_scale(&mut self, scale: f64) {
        self.group.members.iter_mut().for_each(|member| member.set_scale(scale));
    }

    fn begin(&mut self) -> Result<Start> {
        self.group.begin()
    }

    fn product(&mut self, kind: &Product<'_, GpuMatrix<T::Wide>>, out: &mut GpuMatrix<T::Wide>) -> Result<()> {
        self.group.product(&untyped(kind)?, out.untyped_mut())
    }

    fn update(
        &mut self,
        step: &Step,
        low_rank: &LowRank<'_, GpuMatrix<T::Wide>>,
        kind: &Product<'_, GpuMatrix<T::Wide>>,
        out: &mut GpuMatrix<T::Wide>,
    ) -> Result<Sums> {
        let (a, b) = low_rank.operands();
        let low_rank = low_rank.with(a.map(|a| &**a), b.map(|b| &**b))?;
        self.group.update(step, &low_rank, &untyped(kind)?, out.untyped_mut())
    }
}
