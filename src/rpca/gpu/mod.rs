//! [`RpcaOps`] on the GPU.
//!
//! X and Y lie in panels of rows, packed, their contiguous axis that of the matrix. A panel is multiplied by cuBLAS and
//! passed through one elementwise kernel; what is made of it is as large as a panel at the most. If X and Y do not fit the
//! device they stay on the host, and panels travel.

mod held;
mod products;
mod store;

use std::sync::Arc;

use super::input::Entries;
use super::ops::{LowRank, Product, RpcaOps, Start, Step, Sums, Take, Weights};
use super::options::Options;
use crate::backend::gpu::kernels::{dense, rpca as kernels};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region, Transpose, View};
use crate::context::Context;
use crate::dense::gpu::{GpuAlgebra, GpuMatrix};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{Element, Scalar};
use crate::shape::{Order, product, to_i64, to_u64};
use held::{Cut, Held, Sending};
use products::Factors;
use store::Store;

/// Bytes of a panel in the type of the arithmetic. On an H200 an iteration of 2 073 600 x 1 000 single-precision numbers
/// takes 40 ms with panels of 256 MiB, 54 with 64 and 70 with 32: products of long panels are worth more than a low-rank
/// part that is still in the cache.
const PANEL_BYTES: usize = 1 << 28;

/// Robust PCA on a GPU.
pub struct GpuOps<'a, T: Scalar> {
    context: Arc<Context>,
    gpu: Gpu,
    stream: GpuStream,
    algebra: GpuAlgebra,
    progress: &'a Progress<'a>,
    cut: Cut,
    held: Held<'a>,
    mask: Option<Held<'a>>,
    x: Store,
    y: Store,
    low_rank: DeviceMemory,
    sums: DeviceMemory,
    totals: DeviceMemory,
    scale: f64,
    /// Whether X is more than the matrix.
    begun: bool,
    sending: Sending,
    element: std::marker::PhantomData<T>,
}

impl<'a, T: Scalar> GpuOps<'a, T> {
    /// Work on `entries`, m-by-n with m >= n, and the mask of the observed ones, on `stream`.
    pub fn new(
        context: &Arc<Context>,
        (gpu, stream): (&Gpu, &GpuStream),
        progress: &'a Progress<'a>,
        entries: Entries<'a>,
        mask: Option<Entries<'a>>,
        (m, n): (usize, usize),
        options: &Options,
    ) -> Result<Self> {
        let algebra = GpuAlgebra::new(context, gpu, stream)?;
        let size = size_of::<T>();
        let by_rows = match &entries {
            Entries::Memory { row_stride, column_stride, .. } => *column_stride == 1 && *row_stride != 1,
            Entries::Streamed { order, .. } => *order == Order::RowMajor,
        };
        let available = usize::try_from(gpu.memory_available()?).unwrap_or(usize::MAX);
        let available = available - available / 16;
        let array = product("m", product("m", m, n)?, size)?;
        // The panels of X, Y, L, P and X in double precision, with room to spare for small matrices.
        let rows = if options.block_rows > 0 {
            options.block_rows
        } else {
            PANEL_BYTES.min(available / 16) / (n * size).max(1)
        };
        let rows = rows.clamp(1, m.max(1)).min(kernels::MOST_ELEMENTS / n.max(1)).max(1);
        let cut = Cut { m, n, rows, by_rows };
        let panel = rows * n * size;
        let work = 5 * panel + 16 * n * n * size_of::<T::Wide>();
        let (all, _) = Held::bytes(&entries, &cut);
        let (mask_all, _) = mask.as_ref().map_or((0, 0), |mask| Held::bytes(mask, &cut));
        let fits = |bytes: usize| bytes.checked_add(work).is_some_and(|b| b <= available);
        let resident = fits(2 * array + all + mask_all);
        let budget = context.host_budget();
        let store = |what: &'static str| match resident {
            true => Store::device(gpu, stream, what, array),
            false => Store::host(gpu, stream, what, array, panel.min(array), budget),
        };
        let (x, y) = (store("X of robust PCA")?, store("Y of robust PCA")?);
        let (held, mut sending) = Held::new(context, gpu, stream, entries, &cut, resident)?;
        let mask = match mask {
            Some(mask) => {
                let (mask, sent) = Held::new(context, gpu, stream, mask, &cut, resident)?;
                sending.to_device += sent.to_device;
                Some(mask)
            }
            None => None,
        };
        let room = |what: &'static str, bytes: usize| gpu.allocate_uninitialised_on(stream, what, bytes.max(1));
        Ok(Self {
            low_rank: room("low-rank part of a panel", panel.min(array))?,
            sums: room("sums of a panel", kernels::sums_bytes(rows * n))?,
            totals: gpu.allocate_on(stream, "sums of a pass", kernels::SUMS * 8)?,
            context: Arc::clone(context),
            gpu: gpu.clone(),
            stream: stream.clone(),
            algebra,
            progress,
            cut,
            held,
            mask,
            x,
            y,
            scale: 1.0,
            begun: false,
            sending,
            element: std::marker::PhantomData,
        })
    }

    /// Rows of a panel, and the number of them.
    pub fn blocks(&self) -> (u64, u64) {
        (to_u64(self.cut.rows.min(self.cut.m)), to_u64(self.cut.panels()))
    }

    /// Bytes that went to the device, bytes read from sources, and the seconds that took.
    pub fn traffic(&self) -> (u64, u64, f64) {
        (self.sending.to_device, self.sending.read, self.sending.seconds)
    }

    fn add(&mut self, sent: Sending) {
        self.sending.to_device += sent.to_device;
        self.sending.read += sent.read;
        self.sending.seconds += sent.seconds;
    }

    /// A panel as kernels take it.
    fn panel(&self, panel: usize, with_y: bool, summed: bool) -> Result<kernels::Panel<'_>> {
        let (_, rows) = self.cut.range(panel);
        let (fast, slow) = self.cut.axes(rows);
        let size = size_of::<T>();
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

    /// X of a panel, as its contiguous axis by the other one.
    fn view(&self, panel: usize) -> Result<View<'_>> {
        let (fast, slow) = self.cut.axes(self.cut.range(panel).1);
        Ok(View::packed(self.x.region(&self.cut, panel, size_of::<T>())?, fast, slow))
    }

    /// How X of a panel, rows by columns, is had of its view.
    fn plain(&self) -> Transpose {
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
        let sent = self.x.bring(&self.gpu, &self.stream, &self.cut, panel, size_of::<T>())?;
        self.sending.to_device += sent;
        Ok(())
    }

    fn bring_y(&mut self, panel: usize) -> Result<()> {
        let sent = self.y.bring(&self.gpu, &self.stream, &self.cut, panel, size_of::<T>())?;
        self.sending.to_device += sent;
        Ok(())
    }

    fn totals(&self) -> Result<[f64; kernels::SUMS]> {
        let mut totals = [0.0; kernels::SUMS];
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut totals)?;
        Ok(totals)
    }

    /// L and S of each panel in turn, packed and column-major in host memory: `take(first row, rows, rows of a block, L, S)`.
    pub fn results(&mut self, take: &mut Take<'_, T>) -> Result<()> {
        let elements = self.cut.rows.min(self.cut.m) * self.cut.n;
        let budget = Arc::clone(self.context.host_budget());
        let _charge = budget.charge_host("panel of robust PCA", 2 * elements * size_of::<T>())?;
        let mut parts = [
            crate::alloc::filled("panel of robust PCA", elements, T::default())?,
            crate::alloc::filled("panel of robust PCA", elements, T::default())?,
        ];
        for panel in 0..self.cut.panels() {
            self.progress.check()?;
            let (first, rows) = self.cut.range(panel);
            let count = rows * self.cut.n;
            self.bring_x(panel)?;
            self.bring_y(panel)?;
            for (store, part) in [&self.x, &self.y].into_iter().zip(&mut parts) {
                let region = store.region(&self.cut, panel, size_of::<T>())?;
                let target = View::packed(self.low_rank.region(0, count * size_of::<T>())?, rows, self.cut.n);
                self.place(region, rows, target, false)?;
                self.gpu.load_numbers(&self.stream, &self.low_rank, 0, &mut part[..count])?;
            }
            take(first, rows, rows, &parts[0][..count], &parts[1][..count])?;
        }
        Ok(())
    }

    /// A panel to `target`, rows by columns, or with `transposed` columns by rows.
    fn place(&self, panel: Region<'_>, rows: usize, target: View<'_>, transposed: bool) -> Result<()> {
        let (fast, slow) = self.cut.axes(rows);
        let turn = self.cut.by_rows != transposed;
        dense::place::<T>(&self.gpu, &self.stream, View::packed(panel, fast, slow), target, turn, false)
    }

    /// L, or with `sparse` S, to the caller's device memory, in which entry (i, j) is element `i * row_stride +
    /// j * column_stride`, times `unit`.
    pub fn store(
        &mut self,
        sparse: bool,
        memory: &DeviceMemory,
        (row_stride, column_stride): (usize, usize),
        unit: f64,
    ) -> Result<()> {
        let Cut { m, n, .. } = self.cut;
        let by_columns = row_stride == 1;
        let whole = match by_columns {
            true => View { memory: memory.whole(), rows: m, cols: n, ld: column_stride.max(m) },
            false => View { memory: memory.whole(), rows: n, cols: m, ld: row_stride.max(n) },
        };
        for panel in 0..self.cut.panels() {
            self.progress.check()?;
            let (first, rows) = self.cut.range(panel);
            if sparse {
                self.bring_y(panel)?
            } else {
                self.bring_x(panel)?
            }
            let store = if sparse { &self.y } else { &self.x };
            let region = store.region(&self.cut, panel, size_of::<T>())?;
            let part = if by_columns { whole.rows::<T>(first, rows)? } else { whole.columns::<T>(first, rows)? };
            self.place(region, rows, part, !by_columns)?;
        }
        if unit != 1.0 {
            let factors = vec![unit; whole.cols];
            let factors = self.gpu.upload_numbers(&self.stream, "unit of a part", &factors)?;
            dense::scale::<T>(&self.gpu, &self.stream, whole, factors.whole())?;
        }
        Ok(())
    }
}

impl<T: Scalar> RpcaOps<T> for GpuOps<'_, T> {
    type Small = GpuAlgebra;

    fn small(&mut self) -> &mut GpuAlgebra {
        &mut self.algebra
    }

    fn size(&self) -> (usize, usize) {
        (self.cut.m, self.cut.n)
    }

    fn weights(&self) -> Weights {
        // Both triangles; an eigenvalue problem of 1000 takes as long as a product of 1e12 operations.
        Weights { gram: if T::DTYPE == T::Wide::DTYPE { 2.0 } else { 2.5 }, eigen: 100.0 }
    }

    fn checkpoint(&mut self, iteration: usize, iterations: usize, residual: f64) -> Result<()> {
        self.progress.report(to_i64(iteration), to_i64(iterations), residual)
    }

    fn set_scale(&mut self, scale: f64) {
        self.scale = scale;
    }

    fn begin(&mut self) -> Result<Start> {
        self.gpu.clear(&self.stream, self.totals.whole())?;
        for panel in 0..self.cut.panels() {
            self.progress.check()?;
            self.bring_entries(panel)?;
            let load = kernels::Load { x_scale: 1.0, y_scale: 0.0 };
            self.panel(panel, false, true)?.load::<T>(&self.gpu, &self.stream, load)?;
            self.x.keep(&self.gpu, &self.stream, &self.cut, panel, size_of::<T>())?;
        }
        let [norm2, max_abs, bad] = self.totals()?;
        if bad > 0.0 {
            return Err(Error::invalid("m", format!("has {bad} numbers that are not finite")));
        }
        self.begun = false;
        Ok(Start { norm2, max_abs })
    }

    fn product(&mut self, kind: &Product<'_, GpuMatrix<T::Wide>>, out: &mut GpuMatrix<T::Wide>) -> Result<()> {
        let (w, sum) = self.prepare(kind)?;
        for panel in 0..self.cut.panels() {
            self.progress.check()?;
            self.bring_x(panel)?;
            let beta = if panel == 0 { 0.0 } else { 1.0 };
            self.add_product(panel, kind, w.as_ref(), out.view(), sum.as_ref(), beta)?;
        }
        self.finish(kind, sum, out)
    }

    fn update(
        &mut self,
        step: &Step,
        low_rank: &LowRank<'_, GpuMatrix<T::Wide>>,
        kind: &Product<'_, GpuMatrix<T::Wide>>,
        out: &mut GpuMatrix<T::Wide>,
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
        let size = size_of::<T>();
        for panel in 0..self.cut.panels() {
            self.progress.check()?;
            self.bring_entries(panel)?;
            match step.first {
                Some((x_scale, y_scale)) => {
                    let load = kernels::Load { x_scale, y_scale };
                    self.panel(panel, true, false)?.load::<T>(&self.gpu, &self.stream, load)?;
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
            };
            self.panel(panel, true, true)?.update::<T>(&self.gpu, &self.stream, &update)?;
            let beta = if panel == 0 { 0.0 } else { 1.0 };
            self.add_product(panel, kind, w.as_ref(), out.view(), sum.as_ref(), beta)?;
            self.x.keep(&self.gpu, &self.stream, &self.cut, panel, size)?;
            self.y.keep(&self.gpu, &self.stream, &self.cut, panel, size)?;
        }
        self.finish(kind, sum, out)?;
        let [residual2, one_norm, nonzeros] = self.totals()?;
        // Whole numbers below 2^53 are exact.
        Ok(Sums { residual2, one_norm, nonzeros: nonzeros as u64 })
    }
}
