//! One GPU and its rows.
//!
//! X and Y are stored in packed panels of rows, with the contiguous axis of the matrix. A panel is multiplied by cuBLAS and
//! updated by one elementwise kernel. Intermediate results are at most as large as a panel. If X and Y do not fit the
//! device, they stay on the host, and their panels are copied to the device and back.

use std::sync::Arc;

use super::factors::Factors;
use super::held::{Cut, EntryStorage, Sending};
use super::store::Store;
use super::target::Target;
use super::team::{ProgressCheck, Share};
use crate::alloc;
use crate::backend::gpu::kernels::{dense, rpca as kernels};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region, Transpose, View};
use crate::context::Context;
use crate::dense::gpu::{DeviceMatrix, FACTORIZATION_BYTES, GpuAlgebra};
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::rpca::input::Entries;
use crate::rpca::memory::{DeviceFit, DeviceShape, fit_device, host_bytes};
use crate::rpca::ops::{LowRank, PanelReceiver, Product, Step, Sums, Weights};
use crate::rpca::options::Options;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::{product, to_u64};

/// Bytes of a panel in the type of the arithmetic. On an H200 an iteration of 2 073 600 x 1 000 single-precision numbers
/// takes 40 ms with panels of 256 MiB, 54 with 64 and 70 with 32: long products gain more time than a low-rank part that is
/// still in the cache.
const PANEL_BYTES: usize = 1 << 28;

/// The cut of a device's rows, and the host memory that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) fit: DeviceFit,
    pub(super) host: u64,
}

impl Plan {
    /// The plan for m rows of n entries, in the limits of `context` and `free` bytes of its device.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`] and [`Error::OutOfMemory`] with the bytes that are needed.
    pub(super) fn new(
        dtype: DType,
        context: &Context,
        free: u64,
        entries: &Entries<'_>,
        mask: Option<&Entries<'_>>,
        (m, n): (usize, usize),
        options: &Options,
    ) -> Result<Self> {
        let rows = if options.block_rows > 0 { options.block_rows } else { PANEL_BYTES / (n * dtype.size()).max(1) };
        let rows = rows.clamp(1, m.max(1)).min(kernels::MOST_ELEMENTS / n.max(1)).max(1);
        let entry = |entries: &Entries<'_>| if entries.is_device() { 0 } else { entries.dtype().size() };
        let shape = DeviceShape {
            size: (m, n),
            entry: entry(entries) + mask.map_or(0, entry),
            rows,
            is_chosen: options.block_rows > 0,
            sums: kernels::sums_bytes,
            weights: weights_of(dtype),
        };
        let budget = context.device_budget();
        // Free memory may be fragmented, so a 16th of it is not used.
        let available = budget.available().min(free - free / 16).saturating_sub(FACTORIZATION_BYTES);
        let fit = with_scalar!(dtype, "m", T => fit_device::<T>(&shape, options, available, budget.limit()));
        let mut fit = fit.map_err(|e| match e {
            Error::OutOfDeviceMemory { what, bytes, limit } => {
                let others = budget.used().saturating_add(FACTORIZATION_BYTES);
                Error::OutOfDeviceMemory { what, bytes: bytes.saturating_add(others), limit }
            }
            other => other,
        })?;
        fit.expected = fit.expected.saturating_add(FACTORIZATION_BYTES);
        let (host, budget) = (host_bytes(dtype, &shape, &fit), context.host_budget());
        if host > budget.available() {
            let (bytes, limit) = (host.saturating_add(budget.used()), budget.limit());
            return Err(Error::OutOfMemory { what: "page-locked panels of robust PCA", bytes, limit });
        }
        Ok(Self { fit, host })
    }
}

/// Whether a call goes on, before a panel.
fn goes_on(flag: &CancelFlag, tick: ProgressCheck<'_>) -> Result<()> {
    flag.check()?;
    tick.map_or(Ok(()), |tick| tick())
}

/// The relative costs that choose the method of the decomposition.
pub(super) fn weights_of(dtype: DType) -> Weights {
    // Both triangles of X^H X are computed. An eigenvalue problem of order 1000 takes as long as a product of 1e12
    // operations. The weights are the same for any number of devices, so that the choice does not depend on it.
    let gram = if dtype.is_single() { 2.5 } else { 2.0 };
    Weights { gram, eigen: 100.0 }
}

/// A GPU and its rows.
pub(super) struct Member<'a> {
    /// Type of the computation, which entries of another type are converted to.
    pub(super) dtype: DType,
    context: Arc<Context>,
    pub(super) gpu: Gpu,
    pub(super) stream: GpuStream,
    pub(super) algebra: GpuAlgebra,
    flag: CancelFlag,
    /// Index of the device's first row in the matrix.
    pub(super) first: usize,
    pub(super) cut: Cut,
    held: EntryStorage<'a>,
    mask: Option<EntryStorage<'a>>,
    x: Store,
    y: Store,
    pub(super) low_rank: DeviceMemory,
    sums: DeviceMemory,
    totals: DeviceMemory,
    scale: f64,
    sending: Sending,
    /// Planned bytes of host and of device memory.
    planned: (u64, u64),
}

impl<'a> Member<'a> {
    /// A member for the `share` of the rows, of n entries each, and the same rows of the mask of observed entries. It
    /// works on `stream`, in `free` bytes of the device.
    #[allow(clippy::too_many_arguments, reason = "the parts of a device's work")]
    pub(super) fn new(
        dtype: DType,
        (context, free): (&Arc<Context>, u64),
        stream: &GpuStream,
        (flag, tick): (CancelFlag, ProgressCheck<'_>),
        (entries, mask): (Entries<'a>, Option<Entries<'a>>),
        share: Share,
        n: usize,
        options: &Options,
    ) -> Result<Self> {
        let gpu = context.gpu("context")?;
        let algebra = GpuAlgebra::new(context, gpu, stream)?;
        let m = share.rows;
        let size = dtype.size();
        let by_rows = entries.is_by_rows();
        let array = product("m", product("m", m, n)?, size)?;
        let Plan { fit, host } = Plan::new(dtype, context, free, &entries, mask.as_ref(), (m, n), options)?;
        let (rows, resident) = (fit.rows, fit.is_resident);
        let cut = Cut { m, n, rows, by_rows };
        let panel = rows * n * size;
        let workspace = algebra.blas().own_workspace_bytes();
        let budget = context.host_budget();
        let store = |what: &'static str| match resident {
            true => Store::device(gpu, stream, what, array),
            false => Store::host(gpu, stream, what, array, panel.min(array), budget),
        };
        let (x, y) = (store("X of robust PCA")?, store("Y of robust PCA")?);
        let check = || goes_on(&flag, tick);
        let (held, mut sending) = EntryStorage::new(context, gpu, stream, entries, &cut, resident, &check)?;
        let mask = match mask {
            Some(mask) => {
                let (mask, sent) = EntryStorage::new(context, gpu, stream, mask, &cut, resident, &check)?;
                sending.to_device += sent.to_device;
                Some(mask)
            }
            None => None,
        };
        let buffer = |what: &'static str, bytes: usize| gpu.allocate_uninitialized_on(stream, what, bytes.max(1));
        Ok(Self {
            dtype,
            low_rank: buffer("low-rank part of a panel", panel.min(array))?,
            sums: buffer("sums of a panel", kernels::sums_bytes(rows * n))?,
            totals: gpu.allocate_on(stream, "sums of a pass", kernels::SUMS * 8)?,
            context: Arc::clone(context),
            gpu: gpu.clone(),
            stream: stream.clone(),
            algebra,
            flag,
            first: share.first,
            cut,
            held,
            mask,
            x,
            y,
            scale: 1.0,
            sending,
            planned: (host, fit.expected.saturating_add(workspace)),
        })
    }

    /// Rows of a panel, and the number of panels.
    pub(super) fn blocks(&self) -> (u64, u64) {
        (to_u64(self.cut.rows.min(self.cut.m)), to_u64(self.cut.panels()))
    }

    /// Whether X and Y stay in device memory.
    pub(super) fn is_resident(&self) -> bool {
        matches!(self.x, Store::Device(_))
    }

    /// Planned bytes of host and of device memory.
    pub(super) fn planned(&self) -> (u64, u64) {
        self.planned
    }

    /// Bytes copied to the device, bytes read from sources, and seconds spent reading.
    pub(super) fn traffic(&self) -> (u64, u64, f64) {
        (self.sending.to_device, self.sending.read, self.sending.seconds)
    }

    fn add(&mut self, sent: Sending) {
        self.sending.to_device += sent.to_device;
        self.sending.read += sent.read;
        self.sending.seconds += sent.seconds;
    }

    /// The kernel argument for a panel.
    fn panel(&self, panel: usize, with_y: bool, summed: bool) -> Result<kernels::Panel<'_>> {
        let (_, rows) = self.cut.range(panel);
        let (fast, slow) = self.cut.axes(rows);
        let size = self.dtype.size();
        let found = self.held.find(&self.cut, panel)?;
        let mask = match &self.mask {
            None => None,
            Some(mask) => {
                let found = mask.find(&self.cut, panel)?;
                Some(kernels::Mask { memory: found.memory, fast: found.fast, slow: found.slow })
            }
        };
        Ok(kernels::Panel {
            fast,
            slow,
            x: self.x.region(&self.cut, panel, size)?,
            y: if with_y { Some(self.y.region(&self.cut, panel, size)?) } else { None },
            entries: kernels::Entries {
                memory: found.memory,
                dtype: self.held.dtype(),
                slow: found.slow,
                scale: self.scale,
            },
            mask,
            sums: self.sums.whole(),
            totals: summed.then(|| self.totals.whole()),
        })
    }

    /// The view of X of a panel, with its contiguous axis as rows.
    pub(super) fn view(&self, panel: usize) -> Result<View<'_>> {
        let (fast, slow) = self.cut.axes(self.cut.range(panel).1);
        Ok(View::packed(self.x.region(&self.cut, panel, self.dtype.size())?, fast, slow))
    }

    /// The operation that gives X of a panel, rows by columns, from its view.
    pub(super) fn plain(&self) -> Transpose {
        if self.cut.by_rows { Transpose::Transpose } else { Transpose::Plain }
    }

    fn bring_entries(&mut self, panel: usize) -> Result<()> {
        let sent = self.held.bring(&self.context, &self.stream, &self.cut, panel)?;
        self.add(sent);
        if let Some(mask) = &mut self.mask {
            let sent = mask.bring(&self.context, &self.stream, &self.cut, panel)?;
            self.sending.to_device += sent.to_device;
        }
        Ok(())
    }

    fn bring_x(&mut self, panel: usize) -> Result<()> {
        let sent = self.x.bring(&self.gpu, &self.stream, &self.cut, panel, self.dtype.size())?;
        self.sending.to_device += sent;
        Ok(())
    }

    fn bring_y(&mut self, panel: usize) -> Result<()> {
        let sent = self.y.bring(&self.gpu, &self.stream, &self.cut, panel, self.dtype.size())?;
        self.sending.to_device += sent;
        Ok(())
    }

    fn totals(&self) -> Result<[f64; kernels::SUMS]> {
        let mut totals = [0.0; kernels::SUMS];
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut totals)?;
        Ok(totals)
    }

    /// Calls `take(first row in the matrix, rows, rows of a block, L, S)` for each panel in turn. L and S are packed and
    /// column-major in host memory, of the type of the arithmetic.
    pub(super) fn results<T: Scalar>(&mut self, take: &mut PanelReceiver<'_, T>) -> Result<()> {
        let elements = self.cut.rows.min(self.cut.m) * self.cut.n;
        let budget = Arc::clone(self.context.host_budget());
        let _charge = budget.charge_host("panel of robust PCA", 2 * elements * size_of::<T>())?;
        let mut parts = [
            alloc::filled("panel of robust PCA", elements, T::default())?,
            alloc::filled("panel of robust PCA", elements, T::default())?,
        ];
        for panel in 0..self.cut.panels() {
            self.flag.check()?;
            let (first, rows) = self.cut.range(panel);
            let count = rows * self.cut.n;
            self.bring_x(panel)?;
            self.bring_y(panel)?;
            for (sparse, part) in [false, true].into_iter().zip(&mut parts) {
                self.unpack(panel, sparse)?;
                self.gpu.load_numbers(&self.stream, &self.low_rank, 0, &mut part[..count])?;
            }
            take(self.first + first, rows, rows, &parts[0][..count], &parts[1][..count])?;
        }
        Ok(())
    }

    /// Writes a panel of L, or with `sparse` of S, to the memory of the low-rank part, column-major.
    fn unpack(&self, panel: usize, sparse: bool) -> Result<()> {
        let (store, (_, rows)) = (if sparse { &self.y } else { &self.x }, self.cut.range(panel));
        let bytes = rows * self.cut.n * self.dtype.size();
        let region = store.region(&self.cut, panel, self.dtype.size())?;
        let target = View::packed(self.low_rank.region(0, bytes)?, rows, self.cut.n);
        self.place(region, rows, target, false)
    }

    /// Copies a panel to `target`, which is rows by columns, or with `transposed` columns by rows.
    fn place(&self, panel: Region<'_>, rows: usize, target: View<'_>, transposed: bool) -> Result<()> {
        let (fast, slow) = self.cut.axes(rows);
        let turn = self.cut.by_rows != transposed;
        dense::place(self.dtype, &self.gpu, &self.stream, View::packed(panel, fast, slow), target, turn, false)
    }

    /// Writes the member's rows of L, or with `sparse` of S, to `target`.
    pub(super) fn store(&mut self, sparse: bool, target: &Target<'_>) -> Result<()> {
        for panel in 0..self.cut.panels() {
            self.flag.check()?;
            let (first, rows) = self.cut.range(panel);
            if sparse {
                self.bring_y(panel)?
            } else {
                self.bring_x(panel)?
            }
            let store = if sparse { &self.y } else { &self.x };
            let region = store.region(&self.cut, panel, self.dtype.size())?;
            let part = target.rows(self.dtype, self.first + first, rows)?;
            self.place(region, rows, part, !target.by_columns)?;
            self.scale_part(part, target.unit)?;
        }
        Ok(())
    }

    /// Writes packed column-major rows from host memory to the rows of `target` from `first` on.
    pub(super) fn put<T: Scalar>(&self, first: usize, rows: usize, values: &[T], target: &Target<'_>) -> Result<()> {
        let memory = self.gpu.upload_numbers(&self.stream, "rows of another device", values)?;
        self.put_from(&memory, first, rows, target)
    }

    fn put_from(&self, memory: &DeviceMemory, first: usize, rows: usize, target: &Target<'_>) -> Result<()> {
        let part = target.rows(self.dtype, first, rows)?;
        let from = View::packed(memory.whole(), rows, self.cut.n);
        dense::place(self.dtype, &self.gpu, &self.stream, from, part, !target.by_columns, false)?;
        self.scale_part(part, target.unit)
    }

    fn scale_part(&self, part: View<'_>, unit: f64) -> Result<()> {
        if unit == 1.0 {
            return Ok(());
        }
        let factors = alloc::filled("unit of a part", part.cols, unit)?;
        let factors = self.gpu.upload_numbers(&self.stream, "unit of a part", &factors)?;
        dense::scale(self.dtype, &self.gpu, &self.stream, part, factors.whole())
    }

    fn check(&self, tick: ProgressCheck<'_>) -> Result<()> {
        goes_on(&self.flag, tick)
    }

    pub(super) fn set_scale(&mut self, scale: f64) {
        self.scale = scale;
    }

    /// The sum of the squares of the observed entries, the largest modulus, the number of entries that are not finite,
    /// and the sum of the moduli. Writes M to X.
    pub(super) fn begin(&mut self, tick: ProgressCheck<'_>) -> Result<[f64; kernels::SUMS]> {
        self.gpu.clear(&self.stream, self.totals.whole())?;
        for panel in 0..self.cut.panels() {
            self.check(tick)?;
            self.bring_entries(panel)?;
            let load = kernels::Load { x_scale: 1.0, y_scale: 0.0 };
            self.panel(panel, false, true)?.load(self.dtype, &self.gpu, &self.stream, load)?;
            self.x.keep(&self.gpu, &self.stream, &self.cut, panel, self.dtype.size())?;
        }
        self.totals()
    }

    /// The member's part of a product with X.
    pub(super) fn product(
        &mut self,
        kind: &Product<'_, DeviceMatrix>,
        out: &mut DeviceMatrix,
        tick: ProgressCheck<'_>,
    ) -> Result<()> {
        let (w, sum) = self.prepare(kind)?;
        for panel in 0..self.cut.panels() {
            self.check(tick)?;
            self.bring_x(panel)?;
            let beta = if panel == 0 { 0.0 } else { 1.0 };
            self.add_product(panel, kind, w.as_ref(), out.view(), sum.as_ref(), beta)?;
        }
        self.finish(kind, sum, out)
    }

    /// One iteration on the member's rows.
    pub(super) fn update(
        &mut self,
        step: &Step,
        low_rank: &LowRank<'_, DeviceMatrix>,
        kind: &Product<'_, DeviceMatrix>,
        out: &mut DeviceMatrix,
        tick: ProgressCheck<'_>,
    ) -> Result<Sums> {
        let factors = match low_rank {
            LowRank::Zero => Factors { first: None, second: None },
            LowRank::Whole(k) => Factors { first: Some(self.factor(k, false)?), second: None },
            LowRank::Factors(a, b) => {
                Factors { first: Some(self.factor(a, false)?), second: Some(self.factor(b, self.cut.by_rows)?) }
            }
        };
        let (w, sum) = self.prepare(kind)?;
        self.gpu.clear(&self.stream, self.totals.whole())?;
        let size = self.dtype.size();
        for panel in 0..self.cut.panels() {
            self.check(tick)?;
            self.bring_entries(panel)?;
            match step.first {
                Some((x_scale, y_scale)) => {
                    let load = kernels::Load { x_scale, y_scale };
                    self.panel(panel, true, false)?.load(self.dtype, &self.gpu, &self.stream, load)?;
                }
                None => {
                    self.bring_x(panel)?;
                    self.bring_y(panel)?;
                }
            }
            self.make_low_rank(panel, low_rank, &factors)?;
            let bytes = self.cut.range(panel).1 * self.cut.n * size;
            let update = kernels::Update {
                low_rank: self.low_rank.region(0, bytes)?,
                mu: step.mu,
                mu_next: step.mu_next,
                lambda: step.lambda,
                threshold: step.threshold,
                last: step.last,
                measured: step.measured,
            };
            self.panel(panel, true, true)?.update(self.dtype, &self.gpu, &self.stream, &update)?;
            let beta = if panel == 0 { 0.0 } else { 1.0 };
            self.add_product(panel, kind, w.as_ref(), out.view(), sum.as_ref(), beta)?;
            self.x.keep(&self.gpu, &self.stream, &self.cut, panel, size)?;
            self.y.keep(&self.gpu, &self.stream, &self.cut, panel, size)?;
        }
        self.finish(kind, sum, out)?;
        let [residual2, second, third, fourth] = self.totals()?;
        if step.last {
            // Whole numbers below 2^53 are exact.
            return Ok(Sums { residual2, one_norm: second, nonzeros: third as u64, ..Sums::default() });
        }
        Ok(Sums { residual2, dual2: second, multiplier2: third, one_norm: fourth, nonzeros: 0 })
    }
}
