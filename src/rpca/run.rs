//! One run of robust PCA: passes the caller's matrices to a backend, and its results back.

use std::sync::{Arc, MutexGuard};

use super::algorithm::{Solution, solve};
use super::cpu::CpuOps;
use super::cpu::cut::CutInput;
use super::cpu::elementwise::Elementwise;
use super::gpu::{self, GpuOps};
use super::info::Info;
use super::input::Entries;
use super::memory::{self, Shape};
use super::ops::PanelReceiver;
use super::options::{Frames, Options};
use super::output::{CsrBuilder, Panel, beyond, holds, rounded};
use crate::backend::Backend;
use crate::backend::gpu::{DeviceMemory, GpuStream};
use crate::backend::memory::Memory;
use crate::blocks::same_file::{refuse_file_of_sink, refuse_file_of_source};
use crate::blocks::sink::Sink;
use crate::blocks::source::Source;
use crate::context::Context;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::gpu::GpuAlgebra;
use crate::error::{Error, Result};
use crate::matrix::{Csr, Matrix, Storage};
use crate::progress::{Progress, ProgressFn};
use crate::scalar::{DType, with_scalar};
use crate::session::CancelHandle;
use crate::shape::Order;
use crate::stream::{self as streams, Stream};

/// The destination of a part.
pub(super) enum Target<'a> {
    Nowhere,
    Matrix(&'a mut Matrix),
    Sink(&'a mut (dyn Sink + 'a)),
    Csr(&'a mut Option<Csr>),
}

impl<'a> Target<'a> {
    pub(super) fn matrix(matrix: Option<&'a mut Matrix>) -> Self {
        matrix.map_or(Self::Nowhere, Self::Matrix)
    }

    pub(super) fn sink(sink: Option<&'a mut (dyn Sink + 'a)>) -> Self {
        sink.map_or(Self::Nowhere, Self::Sink)
    }
}

/// A run's matrix, mask and parts.
pub(super) struct Call<'a> {
    pub contexts: &'a [Arc<Context>],
    pub m: &'a Matrix,
    pub mask: Option<&'a Matrix>,
    pub options: &'a Options,
    pub low_rank: Target<'a>,
    pub sparse: Target<'a>,
}

/// Whether a matrix's columns or its rows are contiguous.
fn order_of(argument: &str, matrix: &Matrix) -> Result<Order> {
    match matrix.storage() {
        Storage::Dense { order, .. } => Ok(*order),
        Storage::Streamed(streamed) => Ok(streamed.order()),
        other => {
            let name = other.name();
            Err(Error::NotSupported(format!("{argument}: is {name}, a dense or streamed matrix is needed")))
        }
    }
}

impl<'c> Call<'c> {
    /// The context of the matrices.
    fn context(&self) -> &'c Arc<Context> {
        &self.contexts[0]
    }

    /// Runs it. `cancel` cancels it, as do the contexts.
    pub(super) fn run(
        mut self,
        stream: Option<&Stream>,
        cancel: &CancelHandle,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        self.check_alive()?;
        let queue = streams::select(self.context(), stream)?;
        let dtype = self.options.dtype_of(self.m.dtype())?;
        self.check(dtype)?;
        let progress = cancel.progress(self.contexts, report, cancel.epoch());
        let budgets = self.contexts.iter().map(|c| (c.host_budget(), c.device_budget()));
        let before: Vec<_> = budgets.map(|(h, d)| (h, h.restart_peak(), d, d.restart_peak())).collect();
        let mut info = with_scalar!(dtype, "dtype", T => self.compute::<T>(queue, &progress))?;
        for (host, host_before, device, device_before) in before {
            info.host_bytes_used = info.host_bytes_used.max(host.peak().saturating_sub(host_before));
            info.device_bytes_used = info.device_bytes_used.max(device.peak().saturating_sub(device_before));
        }
        // If the run was cancelled while the parts were written, no file gets its final name.
        progress.check()?;
        for target in [&mut self.low_rank, &mut self.sparse] {
            if let Target::Sink(sink) = target {
                sink.finish()?;
            }
        }
        Ok(info)
    }

    fn check_alive(&self) -> Result<()> {
        self.contexts.iter().try_for_each(|context| context.check_alive())
    }

    fn check(&self, dtype: DType) -> Result<()> {
        let (rows, cols) = (self.m.rows(), self.m.cols());
        self.m.expect_context("m", self.context())?;
        if self.options.frames == Frames::Rows && rows != cols {
            let problem = format!("is ROWS, but m is {rows} x {cols}, whose shorter axis counts as frames");
            return Err(Error::invalid("frames", format!("{problem}: the option is for square matrices")));
        }
        let order = order_of("m", self.m)?;
        if let Some(mask) = self.mask {
            mask.expect_context("mask", self.context())?;
            order_of("mask", mask)?;
            mask.expect_size("mask", rows, cols)?;
            mask.expect_dtype("mask", DType::U8)?;
        }
        for (name, target) in [("low_rank", &self.low_rank), ("sparse", &self.sparse)] {
            match target {
                Target::Nowhere | Target::Csr(_) => {}
                Target::Matrix(matrix) => {
                    matrix.expect_context(name, self.context())?;
                    matrix.dense(name)?;
                    matrix.expect_size(name, rows, cols)?;
                    matrix.expect_dtype(name, dtype)?;
                    if matrix.is_read_only() {
                        return Err(Error::invalid(name, "was borrowed read-only and cannot be written to"));
                    }
                }
                Target::Sink(sink) => {
                    let dims = if order == Order::ColumnMajor { [rows, cols] } else { [cols, rows] };
                    let found = &sink.info().dims;
                    if found.as_slice() != dims {
                        let layout = if order == Order::ColumnMajor { "columns" } else { "rows" };
                        let problem = format!("has dimensions {found:?}, {dims:?} are needed, first axis fastest");
                        return Err(Error::invalid(name, format!("{problem}: m is stored by {layout}")));
                    }
                }
            }
        }
        if let (Target::Sink(low_rank), Target::Sink(sparse)) = (&self.low_rank, &self.sparse) {
            refuse_file_of_sink("sparse", &**sparse, "low_rank", &**low_rank)?;
        }
        self.refuse_files_of_inputs()
    }

    /// Refuses sinks that would replace a file of the matrix or the mask.
    fn refuse_files_of_inputs(&self) -> Result<()> {
        for (name, target) in [("low_rank", &self.low_rank), ("sparse", &self.sparse)] {
            let Target::Sink(sink) = target else { continue };
            for (read, matrix) in [("m", Some(self.m)), ("mask", self.mask)] {
                let Some(source) = matrix.map_or(Ok(None), |matrix| lock(read, matrix))? else { continue };
                refuse_file_of_source(name, &**sink, read, &**source)?;
            }
        }
        Ok(())
    }

    /// Plans it: how the matrix is cut, and the memory that is needed. Entries are not read.
    pub(super) fn plan(self) -> Result<Info> {
        self.check_alive()?;
        let dtype = self.options.dtype_of(self.m.dtype())?;
        self.check(dtype)?;
        with_scalar!(dtype, "dtype", T => self.planned::<T>())
    }

    fn planned<T: Elementwise>(&self) -> Result<Info> {
        let (size, transposed) = self.oriented();
        let mut lock = lock("m", self.m)?;
        let entries = entries("m", self.m, &mut lock, transposed)?;
        let mut mask_lock = self.mask.map_or(Ok(None), |mask| self::lock("mask", mask))?;
        let mask = match self.mask {
            Some(mask) => Some(self::entries("mask", mask, &mut mask_lock, transposed)?),
            None => None,
        };
        let mut info = Info::new(T::DTYPE);
        info.converged = false;
        let (rows, blocks) = match self.context().backend() {
            Backend::Cpu => {
                let fit =
                    memory::fit::<T>(self.context(), &self.shape::<T>(&entries, mask.as_ref(), size), self.options)?;
                info.host_bytes = fit.expected;
                info.reason = reason(fit.cut.in_memory, "memory", "an unnamed file");
                fit.cut.panels(size.0)
            }
            Backend::Gpu(_) => {
                let planned = gpu::plan(T::DTYPE, self.contexts, &entries, mask.as_ref(), size, self.options)?;
                (info.host_bytes, info.device_bytes) = planned.bytes;
                info.contexts = planned.contexts;
                info.reason = reason(planned.is_resident, "device memory", "host memory");
                planned.panels
            }
        };
        (info.block_rows, info.blocks) = (rows, blocks);
        Ok(info)
    }

    /// Rows and columns of the oriented matrix, and whether its axes are exchanged. The longer axis becomes the rows, which
    /// are cut: the products of the method are then as small as possible.
    fn oriented(&self) -> ((usize, usize), bool) {
        let (rows, cols) = (self.m.rows(), self.m.cols());
        let transposed = cols > rows || (cols == rows && self.options.frames == Frames::Rows);
        (if transposed { (cols, rows) } else { (rows, cols) }, transposed)
    }

    fn compute<T: Elementwise>(&mut self, queue: Option<&GpuStream>, progress: &Progress<'_>) -> Result<Info> {
        let (size, transposed) = self.oriented();
        let mut lock = lock("m", self.m)?;
        let entries = entries("m", self.m, &mut lock, transposed)?;
        let mut mask_lock = self.mask.map_or(Ok(None), |mask| self::lock("mask", mask))?;
        let mask = match self.mask {
            Some(mask) => Some(self::entries("mask", mask, &mut mask_lock, transposed)?),
            None => None,
        };
        let context = self.context();
        match context.backend() {
            Backend::Cpu => {
                let shape = self.shape::<T>(&entries, mask.as_ref(), size);
                let fit = memory::fit::<T>(context, &shape, self.options)?;
                let mut ops = CpuOps::<T>::new(context, progress, entries, mask, (&shape.sheet, fit.cut))?;
                ops.set_steps(self.options.max_iterations);
                ops.set_transposed(transposed);
                let Solution { mut info, unit, bound } = solve::<T::Wide, CpuAlgebra>(&mut ops, self.options)?;
                info.host_bytes = fit.expected;
                info.reason = reason(fit.cut.in_memory, "memory", "an unnamed file");
                (info.block_rows, info.blocks) = ops.blocks();
                (info.bytes_read, info.seconds_read) = ops.reading();
                self.expect_held::<T>(unit, bound, |take| ops.results(take))?;
                self.deliver(unit, transposed, |take| ops.results(take))?;
                Ok(info)
            }
            Backend::Gpu(gpu) => {
                let queue = queue.unwrap_or_else(|| gpu.default_stream());
                let mut ops = GpuOps::<T>::new(self.contexts, queue, progress, entries, mask, size, self.options)?;
                let Solution { mut info, unit, bound } = solve::<T::Wide, GpuAlgebra>(&mut ops, self.options)?;
                (info.block_rows, info.blocks) = ops.blocks();
                self.expect_held::<T>(unit, bound, |take| ops.results(take))?;
                for (name, target, sparse) in
                    [("low_rank", &mut self.low_rank, false), ("sparse", &mut self.sparse, true)]
                {
                    let Some((memory, row_stride, column_stride)) = on_device(name, target)? else { continue };
                    let strides = if transposed { (column_stride, row_stride) } else { (row_stride, column_stride) };
                    ops.store(sparse, memory, strides, unit)?;
                    *target = Target::Nowhere;
                }
                self.deliver(unit, transposed, |take| ops.results(take))?;
                (info.host_bytes, info.device_bytes) = ops.planned_bytes();
                (info.bytes_to_device, info.bytes_read, info.seconds_read) = ops.traffic();
                info.contexts = ops.contexts();
                info.reason = reason(ops.is_resident(), "device memory", "host memory");
                Ok(info)
            }
        }
    }

    /// The sizes that determine host memory on the CPU.
    fn shape<T: Elementwise>(&self, entries: &Entries<'_>, mask: Option<&Entries<'_>>, size: (usize, usize)) -> Shape {
        let read = entries.panel_bytes(1, 1) + mask.map_or(0, |mask| mask.panel_bytes(1, 1));
        let sinks = [&self.low_rank, &self.sparse].into_iter().map(|target| match target {
            Target::Sink(sink) => size_of::<T>() + sink.info().number.size(),
            _ => 0,
        });
        let sheet = CutInput { size, element: size_of::<T>(), is_held: read == 0, block_rows: self.options.block_rows };
        Shape { sheet, read, is_masked: mask.is_some(), sink: sinks.max().unwrap_or(0) }
    }

    /// Refuses a part with an entry that its target does not hold, before any of them is written. `unit` and `bound`
    /// are those of [`Solution`]. The parts are read only if the bound does not suffice.
    fn expect_held<T: Elementwise>(
        &self,
        unit: f64,
        bound: f64,
        results: impl FnOnce(&mut PanelReceiver<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let types = [&self.low_rank, &self.sparse].map(|target| match target {
            Target::Nowhere => None,
            Target::Matrix(_) | Target::Csr(_) => Some(T::DTYPE),
            Target::Sink(sink) => Some(sink.info().number.dtype()),
        });
        if types.iter().flatten().all(|dtype| holds(*dtype, bound * unit)) {
            return Ok(());
        }
        let mut largest = [0.0f64; 2];
        results(&mut |_, _, _, low_rank, sparse| {
            for (largest, values) in largest.iter_mut().zip([low_rank, sparse]) {
                let parts = values.iter().flat_map(|v| [v.re().abs(), v.im().abs()]);
                *largest = parts.fold(*largest, |most, v| if v.is_nan() { f64::INFINITY } else { most.max(v) });
            }
            Ok(())
        })?;
        for ((name, dtype), largest) in ["low_rank", "sparse"].into_iter().zip(types).zip(largest) {
            if let Some(dtype) = dtype.filter(|dtype| !holds(*dtype, largest * unit)) {
                let (value, limit) = (rounded(largest, unit), beyond(dtype));
                return Err(Error::Numerical(format!("{name}: has an entry of {value}, {limit}")));
            }
        }
        Ok(())
    }

    /// Writes the parts to their targets. `results` calls its argument with each panel's first row, rows, rows of a block, L
    /// and S.
    fn deliver<T: Elementwise>(
        &mut self,
        unit: f64,
        transposed: bool,
        mut results: impl FnMut(&mut PanelReceiver<'_, T>) -> Result<()>,
    ) -> Result<()> {
        if matches!((&self.low_rank, &self.sparse), (Target::Nowhere, Target::Nowhere)) {
            return Ok(());
        }
        let (context, rows, cols) = (self.context(), self.m.rows(), self.m.cols());
        let columns = if transposed { rows } else { cols };
        let order = order_of("m", self.m)?;
        let order = if transposed { flipped(order) } else { order };
        results(&mut |first, rows, block, low_rank, sparse| {
            for (name, target, values) in
                [("low_rank", &mut self.low_rank, low_rank), ("sparse", &mut self.sparse, sparse)]
            {
                let panel = Panel { first, rows, block, columns, values, unit };
                match target {
                    Target::Nowhere | Target::Csr(_) => {}
                    Target::Matrix(matrix) => write(context, name, &panel, matrix, transposed)?,
                    Target::Sink(sink) => panel.write_sink(context, &mut **sink, order)?,
                }
            }
            Ok(())
        })?;
        let Target::Csr(csr) = &mut self.sparse else { return Ok(()) };
        let mut builder =
            CsrBuilder::<T>::new(context.host_budget(), (rows, cols), transposed, self.options.threshold)?;
        results(&mut |first, rows, block, _, values| {
            builder.count(&Panel { first, rows, block, columns, values, unit })
        })?;
        builder.reserve()?;
        results(&mut |first, rows, block, _, values| {
            builder.fill(&Panel { first, rows, block, columns, values, unit })
        })?;
        **csr = Some(builder.finish(context)?);
        Ok(())
    }
}

/// Where the iterates are held: in `memory`, or `elsewhere` where it does not suffice.
fn reason(fits: bool, memory: &str, elsewhere: &str) -> String {
    if fits {
        format!("X and Y fit in {memory}")
    } else {
        format!("X and Y do not fit in {memory} beside the other arrays: they are in {elsewhere}")
    }
}

/// The device memory and the strides of a target on a device; `None` for other targets.
fn on_device<'t>(name: &str, target: &'t Target<'_>) -> Result<Option<(&'t DeviceMemory, usize, usize)>> {
    let Target::Matrix(matrix) = target else { return Ok(None) };
    let dense = matrix.dense(name)?;
    let (Memory::Device(memory), &[row_stride, column_stride]) = (dense.memory, dense.layout.strides()) else {
        return Ok(None);
    };
    Ok(Some((memory, row_stride, column_stride)))
}

fn flipped(order: Order) -> Order {
    match order {
        Order::ColumnMajor => Order::RowMajor,
        Order::RowMajor => Order::ColumnMajor,
    }
}

/// The locked source of a streamed matrix; `None` for a dense one.
type Lock<'a> = Option<MutexGuard<'a, Box<dyn Source>>>;

fn lock<'a>(argument: &str, matrix: &'a Matrix) -> Result<Lock<'a>> {
    match matrix.storage() {
        Storage::Streamed(streamed) => streamed.lock(argument).map(Some),
        _ => Ok(None),
    }
}

fn entries<'a>(argument: &str, matrix: &'a Matrix, lock: &'a mut Lock<'_>, transposed: bool) -> Result<Entries<'a>> {
    let entries = match lock {
        Some(source) => Entries::streamed(&mut ***source, order_of(argument, matrix)?),
        None => {
            let dense = matrix.dense(argument)?;
            let &[row_stride, column_stride] = dense.layout.strides() else {
                return Err(Error::Internal("a matrix layout without two strides".into()));
            };
            Entries::Memory { memory: dense.memory, dtype: matrix.dtype(), first: 0, row_stride, column_stride }
        }
    };
    Ok(if transposed { entries.transposed() } else { entries })
}

fn write<T: Elementwise>(
    context: &Context,
    name: &str,
    panel: &Panel<'_, T>,
    matrix: &mut Matrix,
    transposed: bool,
) -> Result<()> {
    let dense = matrix.dense_mut(name)?;
    let &[mut row_stride, mut column_stride] = dense.layout.strides() else {
        return Err(Error::Internal("a matrix layout without two strides".into()));
    };
    let extent = dense.layout.extent();
    if transposed {
        (row_stride, column_stride) = (column_stride, row_stride);
    }
    let out = &mut dense.memory.host_mut(name)?.as_mut_slice::<T>()?[..extent];
    panel.write_dense(context, out, row_stride, column_stride);
    Ok(())
}
