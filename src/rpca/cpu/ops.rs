//! The operations of robust PCA on the threads of a context.

use std::sync::Arc;
use std::time::Duration;

use super::block::{Form, Job, LowRank, Partial, Parts, Product, Small, Task};
use super::cut::{Cut, CutInput};
use super::elementwise::Elementwise;
use super::store::Store;
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::backend::memory::{Charge, HostMemory};
use crate::blocks::pipeline::read_ahead;
use crate::context::Context;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::Result;
use crate::matrix::not_finite;
use crate::progress::Progress;
use crate::rpca::input::{Entries, Strided};
use crate::rpca::ops::{self, PanelReceiver, RpcaOps, Start, Step, Sums, Weights};
use crate::scalar::{Complex, DType, Element, Scalar};
use crate::shape::{to_i64, to_u64};

/// Robust PCA on the threads of a context.
pub struct CpuOps<'a, T: Elementwise> {
    context: Arc<Context>,
    algebra: CpuAlgebra,
    progress: &'a Progress<'a>,
    entries: Entries<'a>,
    mask: Option<Entries<'a>>,
    size: (usize, usize),
    /// Whether rows and columns are those of the transpose of the caller's matrix.
    transposed: bool,
    cut: Cut,
    /// Rows of the results that are delivered at once.
    delivered: usize,
    /// Step, expected steps and residual of the last progress report.
    step: (i64, i64, f64),
    scale: f64,
    x: Store,
    y: Store,
    /// Whether X and Y were written by an iteration.
    begun: bool,
    bytes_read: u64,
    read: Duration,
    element: std::marker::PhantomData<T>,
}

/// Which arrays a pass needs.
#[derive(Clone, Copy)]
struct Needs {
    m: bool,
    x: bool,
    y: bool,
}

/// Buffers of a panel that is read.
struct Raw {
    m: HostMemory,
    mask: HostMemory,
}

impl<'a, T: Elementwise> CpuOps<'a, T> {
    /// The operations on `entries`, m-by-n with m >= n, and on the mask of observed entries, with the cut of the plan.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`]; [`crate::error::Error::Io`] if X and Y are kept in temporary files that
    /// cannot be made.
    pub fn new(
        context: &Arc<Context>,
        progress: &'a Progress<'a>,
        entries: Entries<'a>,
        mask: Option<Entries<'a>>,
        (sheet, cut): (&CutInput, Cut),
    ) -> Result<Self> {
        let size = sheet.size;
        let elements = size.0 * size.1;
        let store = |what: &'static str| match cut.in_memory {
            true => Store::memory::<T>(what, elements, context.host_budget()),
            false => Store::file::<T>(what, elements),
        };
        Ok(Self {
            algebra: CpuAlgebra::new(context),
            context: Arc::clone(context),
            progress,
            entries,
            mask,
            size,
            transposed: false,
            cut,
            delivered: cut.delivered_rows(sheet),
            step: (0, 0, 0.0),
            scale: 1.0,
            x: store("X of robust PCA")?,
            y: store("Y of robust PCA")?,
            begun: false,
            bytes_read: 0,
            read: Duration::ZERO,
            element: std::marker::PhantomData,
        })
    }

    /// Sets whether the entries are those of the transpose of the caller's matrix, for messages.
    pub fn set_transposed(&mut self, transposed: bool) {
        self.transposed = transposed;
    }

    /// Sets the number of iterations for progress reports before the first one is done.
    pub fn set_steps(&mut self, steps: usize) {
        self.step.1 = to_i64(steps);
    }

    /// Rows of a panel, and the number of panels.
    pub fn blocks(&self) -> (u64, u64) {
        self.cut.panels(self.size.0)
    }

    /// Bytes read from sources, and the seconds that reading took.
    pub fn reading(&self) -> (u64, f64) {
        (self.bytes_read, self.read.as_secs_f64())
    }

    /// Calls `take(first row, rows, rows of a block, L, S)` for each panel in turn.
    ///
    /// # Errors
    /// Errors of `take`; [`crate::error::Error::Cancelled`]; [`crate::error::Error::OutOfMemory`];
    /// [`crate::error::Error::Io`] if X and Y are in temporary files.
    pub fn results(&mut self, take: &mut PanelReceiver<'_, T>) -> Result<()> {
        let (m, n) = self.size;
        let mut buffers = self.panel_buffers()?;
        for first in (0..m).step_by(self.delivered) {
            self.progress.check()?;
            let rows = self.delivered.min(m - first);
            let x = self.x.load(first * n, rows * n, &mut buffers.0)?;
            let y = self.y.load(first * n, rows * n, &mut buffers.1)?;
            take(first, rows, self.cut.block, x, y)?;
        }
        Ok(())
    }

    /// Allocates the buffers of a panel of X and of Y, if these are in files.
    fn panel_buffers(&self) -> Result<(HostMemory, HostMemory)> {
        let elements = if self.cut.in_memory { 0 } else { self.cut.panel.min(self.size.0) * self.size.1 };
        let make =
            || HostMemory::allocate("panel of robust PCA", elements * size_of::<T>(), self.context.host_budget());
        Ok((make()?, make()?))
    }

    fn job(&self, task: Task, low_rank: LowRank<T>, product: Product<T>) -> Job<T> {
        let Cut { block, .. } = self.cut;
        Job { task, low_rank, product, columns: self.size.1, block, scale: self.scale, isa: self.context.isa() }
    }

    /// One pass over all panels.
    fn sweep(&mut self, job: &Job<T>, needs: Needs) -> Result<Partial<T>> {
        let (m, n) = self.size;
        let cut = self.cut;
        let (mut x_buffer, mut y_buffer) = self.panel_buffers()?;
        let budget = self.context.host_budget();
        let (rows, cols) = job.product_shape();
        let bytes = job.pass_bytes(self.context.pool().threads(), cut.groups, self.mask.is_some());
        let _charge = budget.charge_host("blocks of a pass", bytes)?;
        let zero = T::Wide::from_parts(0.0, 0.0);
        let product = alloc::filled("product of a pass", rows * cols, zero)?;
        let mut total = Partial { start: Start::default(), sums: Sums::default(), product, not_finite: None };
        let most = cut.panel.min(m);
        let raw = |entries: Option<&Entries<'_>>| {
            let bytes = entries.filter(|_| needs.m).map_or(0, |e| e.panel_bytes(most, n));
            HostMemory::allocate("panel of the matrix", bytes, budget)
        };
        let mut buffers = Vec::new();
        for _ in 0..2 {
            buffers.push(Raw { m: raw(Some(&self.entries))?, mask: raw(self.mask.as_ref())? });
        }
        let (window, mut reader) = self.entries.split("m")?;
        let (mask_window, mut mask_reader) = match &mut self.mask {
            Some(mask) => mask.split("mask").map(|(w, r)| (Some(w), r))?,
            None => (None, None),
        };
        let (context, progress, step) = (&self.context, self.progress, self.step);
        let transposed = self.transposed;
        let (x_store, y_store) = (&mut self.x, &mut self.y);
        let mut work = |panel: usize, raw: &mut Raw| -> Result<()> {
            progress.repeat(step)?;
            let (first, rows) = (panel * cut.panel, cut.panel.min(m - panel * cut.panel));
            let (begin, count) = (first * n, rows * n);
            let x = if needs.x { x_store.load(begin, count, &mut x_buffer)? } else { &mut [] };
            let y = if needs.y { y_store.load(begin, count, &mut y_buffer)? } else { &mut [] };
            let entries = window.rows(first, rows, n, raw.m.as_slice()?);
            let mask = match mask_window {
                Some(w) => Some(w.rows(first, rows, n, raw.mask.as_slice()?)),
                None => None,
            };
            for part in panel_pass(context, job, &cut, (rows, n), entries, mask, x, y) {
                let part = part?;
                if let Some((row, column, value)) = part.not_finite {
                    // Entries were multiplied by the scale, which may be negative.
                    let value = Complex::new(value.re * job.scale.signum(), value.im * job.scale.signum());
                    return Err(not_finite::entry("m", (first + row, column), transposed, value));
                }
                total.start.norm2 += part.start.norm2;
                total.start.one_norm += part.start.one_norm;
                total.start.max_abs = total.start.max_abs.max(part.start.max_abs);
                total.sums = total.sums.and(part.sums);
                total.product.iter_mut().zip(&part.product).for_each(|(t, p)| *t += *p);
            }
            if matches!(job.task, Task::Update(..)) {
                x_store.save::<T>(begin, count, &x_buffer)?;
                y_store.save::<T>(begin, count, &y_buffer)?;
            }
            Ok(())
        };
        let panels = m.div_ceil(cut.panel);
        if !needs.m || (reader.is_none() && mask_reader.is_none()) {
            let mut raw = buffers.remove(0);
            for panel in 0..panels {
                work(panel, &mut raw)?;
            }
            return Ok(total);
        }
        let read = |panel: usize, raw: &mut Raw| -> Result<()> {
            let (first, rows) = (panel * cut.panel, cut.panel.min(m - panel * cut.panel));
            if let Some(reader) = &mut reader {
                reader.read(first, rows, raw.m.as_mut_slice()?)?;
            }
            if let Some(reader) = &mut mask_reader {
                reader.read(first, rows, raw.mask.as_mut_slice()?)?;
            }
            Ok(())
        };
        let times = read_ahead(panels, buffers, read, &mut work)?;
        let bytes = self.entries.panel_bytes(m, n) + self.mask.as_ref().map_or(0, |mask| mask.panel_bytes(m, n));
        self.bytes_read += to_u64(bytes);
        self.read += times.read;
        Ok(total)
    }

    fn factor(&self, matrix: &CpuMatrix<T::Wide>, adjoint: bool) -> Result<Small<T>> {
        let (rows, cols) = matrix.shape();
        let source = matrix.slice()?;
        let mut values = alloc::with_capacity("factor", rows * cols)?;
        if adjoint {
            for j in 0..rows {
                values.extend((0..cols).map(|i| T::narrow(source[i * rows + j].conjugate())));
            }
            return Ok(Small { values, cols: rows });
        }
        values.extend(source.iter().map(|v| T::narrow(*v)));
        Ok(Small { values, cols })
    }

    /// Charges copies of small matrices in the type of the data.
    fn charge_factors(&self, factors: [Option<&CpuMatrix<T::Wide>>; 3]) -> Result<Charge> {
        let elements = factors.into_iter().flatten().map(|m| m.rows() * m.cols()).sum::<usize>();
        self.context.host_budget().charge_host("factors of a pass", elements * size_of::<T>())
    }

    fn wanted(&self, product: &ops::Product<'_, CpuMatrix<T::Wide>>) -> Result<Product<T>> {
        Ok(match product {
            ops::Product::None => Product::none(),
            ops::Product::Gram => Product { form: Form::Gram, factor: Small::none() },
            ops::Product::Normal(w) => Product { form: Form::Normal, factor: self.factor(w, false)? },
            ops::Product::Projected(w) => Product { form: Form::Projected, factor: self.factor(w, false)? },
        })
    }
}

/// The groups of a panel.
#[allow(clippy::too_many_arguments, reason = "the arrays and sizes of a panel")]
fn panel_pass<T: Elementwise>(
    context: &Context,
    job: &Job<T>,
    cut: &Cut,
    (rows, columns): (usize, usize),
    entries: Strided<'_>,
    mask: Option<Strided<'_>>,
    x: &mut [T],
    y: &mut [T],
) -> Vec<Result<Partial<T>>> {
    let blocks = rows.div_ceil(cut.block);
    let group = blocks.div_ceil(cut.groups).max(1) * cut.block;
    let count = rows.div_ceil(group);
    let mut parts = Vec::with_capacity(count);
    let (mut x, mut y) = (x.chunks_mut((group * columns).max(1)), y.chunks_mut((group * columns).max(1)));
    for index in 0..count {
        parts.push((index * group, x.next().unwrap_or_default(), y.next().unwrap_or_default()));
    }
    context.pool().run(|| {
        parts
            .into_par_iter()
            .map(|(first, x, y)| job.group(first, group.min(rows - first), entries, mask, x, y))
            .collect()
    })
}

fn put<T: Scalar>(values: &[T], out: &mut CpuMatrix<T>) -> Result<()> {
    if !values.is_empty() {
        out.slice_mut()?.copy_from_slice(values);
    }
    Ok(())
}

/// The relative costs that choose the method of the decomposition.
pub(in crate::rpca) fn weights_of<T: Elementwise>() -> Weights {
    // Only one triangle of X^H X is computed. Single precision is summed in double, at half the speed.
    let gram = if T::DTYPE == T::Wide::DTYPE { 1.0 } else { 2.0 };
    Weights { gram, eigen: 1.5 }
}

impl<T: Elementwise> RpcaOps<T::Wide> for CpuOps<'_, T> {
    type Small = CpuAlgebra;

    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn small(&mut self) -> &mut CpuAlgebra {
        &mut self.algebra
    }

    fn size(&self) -> (usize, usize) {
        self.size
    }

    fn weights(&self) -> Weights {
        weights_of::<T>()
    }

    fn checkpoint(&mut self, iteration: usize, iterations: usize, residual: f64) -> Result<()> {
        self.step = (to_i64(iteration), to_i64(iterations), residual);
        self.progress.report(to_i64(iteration), to_i64(iterations), residual)
    }

    fn set_scale(&mut self, scale: f64) {
        self.scale = scale;
    }

    fn begin(&mut self) -> Result<Start> {
        let job = self.job(Task::Begin, LowRank::zero(), Product::none());
        Ok(self.sweep(&job, Needs { m: true, x: false, y: false })?.start)
    }

    fn product(&mut self, product: &ops::Product<'_, CpuMatrix<T::Wide>>, out: &mut CpuMatrix<T::Wide>) -> Result<()> {
        let _factors = self.charge_factors([product.operand(), None, None])?;
        let job = self.job(Task::Product, LowRank::zero(), self.wanted(product)?);
        let needs = Needs { m: !self.begun, x: self.begun, y: false };
        let sums = self.sweep(&job, needs)?;
        put(&sums.product, out)
    }

    fn update(
        &mut self,
        step: &Step,
        low_rank: &ops::LowRank<'_, CpuMatrix<T::Wide>>,
        product: &ops::Product<'_, CpuMatrix<T::Wide>>,
        out: &mut CpuMatrix<T::Wide>,
    ) -> Result<Sums> {
        let (a, b) = low_rank.operands();
        let _factors = self.charge_factors([a, b, product.operand()])?;
        let low_rank = match low_rank {
            ops::LowRank::Zero => LowRank::zero(),
            ops::LowRank::Whole(k) => {
                LowRank { parts: Parts::Whole, left: self.factor(k, false)?, right: Small::none() }
            }
            ops::LowRank::Factors(a, b) => {
                LowRank { parts: Parts::Factors, left: self.factor(a, false)?, right: self.factor(b, true)? }
            }
        };
        let job = self.job(Task::Update(*step), low_rank, self.wanted(product)?);
        let sums = self.sweep(&job, Needs { m: true, x: true, y: true })?;
        self.begun = true;
        put(&sums.product, out)?;
        Ok(sums.sums)
    }
}
