//! Blocks of voxels: reading strided signals, multiplying by a shared matrix and writing strided results, on all threads.
//!
//! A block is [`LANES`] voxels side by side, so that each step is a loop over adjacent numbers whatever the strides of
//! the caller's arrays are. Blocks depend on the problem alone and no sum includes several voxels, so results do not depend
//! on the number of threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::backend::cpu::parallel::{Items as _, Pieces as _};

use super::logarithm::Logarithm;
use crate::alloc;
use crate::backend::Backend;
use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::dense::{Accum, Mat, MatMut, serial};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{DType, Element};
use crate::shape::{to_i64, to_u64};
use crate::sshopm::{Info, TensorStatus};
use crate::tensor::{HostOutput, Tensor, View};

/// Voxels of a block, which a thread computes at once.
pub(crate) const LANES: usize = 128;

/// Blocks between two checks for progress and cancellation: some milliseconds of work on many cores.
const BLOCKS_PER_STEP: usize = 256;

/// Floating-point types of the fits.
pub(crate) trait Number: Logarithm {
    /// `out = matrix * input`: U x LANES = (U x N) (N x LANES), all row by row.
    fn product(matrix: &[Self], input: &[Self], out: &mut [Self]);
}

macro_rules! number {
    ($($t:ident),*) => {$(
        impl Number for $t {
            fn product(matrix: &[Self], input: &[Self], out: &mut [Self]) {
                let (n, u) = (input.len() / LANES, out.len() / LANES);
                // A row-major matrix is the column-major transpose: out^T = input^T matrix^T.
                serial::multiply(
                    MatMut::from_columns(out, LANES, u),
                    Accum::Replace,
                    Mat::from_columns(input, LANES, n),
                    Mat::from_columns(matrix, n, u),
                    1.0,
                );
            }
        }
    )*};
}
number!(f32, f64);

/// `matrix` converted to the type of the computation.
pub(crate) fn converted<T: Number>(what: &'static str, matrix: &[f64]) -> Result<Vec<T>> {
    let mut out = alloc::with_capacity(what, matrix.len())?;
    out.extend(matrix.iter().map(|x| T::from_f64(*x)));
    Ok(out)
}

/// Whether a voxel of this status has no result.
pub(crate) fn is_rejected(status: TensorStatus) -> bool {
    !matches!(status, TensorStatus::Ok | TensorStatus::Clamped)
}

/// Signals of any supported number type: a matrix of measurements by voxels, any strides.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    F32(View<'a, f32>),
    F64(View<'a, f64>),
    U16(View<'a, u16>),
    I32(View<'a, i32>),
    U8(View<'a, u8>),
}

impl<'a> Source<'a> {
    /// The elements of `tensor`, which must have two dimensions.
    pub fn new(argument: &str, tensor: &'a Tensor) -> Result<Self> {
        Ok(match tensor.dtype() {
            DType::F32 => Self::F32(tensor.view(argument)?),
            DType::F64 => Self::F64(tensor.view(argument)?),
            DType::U16 => Self::U16(tensor.view(argument)?),
            DType::I32 => Self::I32(tensor.view(argument)?),
            DType::U8 => Self::U8(tensor.view(argument)?),
            other => {
                let problem = format!("is {}, one of F32, F64, U16, I32 and U8 is needed", other.name());
                return Err(Error::invalid(argument, problem));
            }
        })
    }

    /// Reads row `row` at each of `voxels`; lanes beyond them are not changed.
    pub fn gather<T: Number>(&self, row: usize, voxels: &[usize], out: &mut [T]) {
        match self {
            Self::F32(v) => gather(v, row, voxels, out, f64::from),
            Self::F64(v) => gather(v, row, voxels, out, |x| x),
            Self::U16(v) => gather(v, row, voxels, out, f64::from),
            Self::I32(v) => gather(v, row, voxels, out, f64::from),
            Self::U8(v) => gather(v, row, voxels, out, f64::from),
        }
    }
}

fn gather<S: Element, T: Number>(
    view: &View<'_, S>,
    row: usize,
    voxels: &[usize],
    out: &mut [T],
    convert: impl Fn(S) -> f64,
) {
    let (first, step) = (row * view.stride(0), view.stride(1));
    let data = view.data();
    let (Some(&begin), Some(&end)) = (voxels.first(), voxels.last()) else { return };
    if step == 1 && end - begin + 1 == voxels.len() {
        for (o, x) in out.iter_mut().zip(&data[first + begin..=first + end]) {
            *o = T::from_f64(convert(*x));
        }
    } else {
        for (o, v) in out.iter_mut().zip(voxels) {
            *o = T::from_f64(convert(data[first + v * step]));
        }
    }
}

/// Results of one block, before they are copied to the caller's arrays.
pub(crate) struct Block<T> {
    /// U rows of [`LANES`] values.
    pub values: Vec<T>,
    /// Mean unweighted signal of each lane.
    pub s0: Vec<T>,
    /// Status of each lane's voxel.
    pub status: Vec<TensorStatus>,
}

impl<T: Number> Block<T> {
    fn new(rows: usize) -> Result<Self> {
        Ok(Self {
            values: alloc::filled("block of results", rows * LANES, T::ZERO)?,
            s0: alloc::filled("block of results", LANES, T::ZERO)?,
            status: alloc::filled("block of results", LANES, TensorStatus::Ok)?,
        })
    }

    /// Sets the results of `lane` to zero, with the given status.
    pub fn reject(&mut self, lane: usize, status: TensorStatus) {
        for row in self.values.chunks_exact_mut(LANES) {
            row[lane] = T::ZERO;
        }
        self.status[lane] = status;
    }
}

/// The caller's arrays for T voxels.
pub(crate) struct Outputs<'a> {
    /// Name of `values` in messages.
    pub name: &'static str,
    /// U x T: a column for each voxel.
    pub values: &'a mut Tensor,
    /// T, in the type of `values`.
    pub s0: Option<&'a mut Tensor>,
    /// I32, T: [`TensorStatus`] of each voxel.
    pub status: Option<&'a mut Tensor>,
}

impl Outputs<'_> {
    /// Checks the types, sizes and owner of the arrays.
    pub fn check(&self, context: &Context, dtype: DType, dims: [usize; 2]) -> Result<()> {
        let status = self.status.as_deref().map(|t| ("status", t, DType::I32));
        let s0 = self.s0.as_deref().map(|t| ("s0", t, dtype));
        self.values.expect_context(self.name, context)?;
        self.values.expect_dims(self.name, &dims)?;
        self.values.expect_dtype(self.name, dtype)?;
        for (name, tensor, dtype) in s0.into_iter().chain(status) {
            tensor.expect_context(name, context)?;
            tensor.expect_dims(name, &dims[1..])?;
            tensor.expect_dtype(name, dtype)?;
        }
        Ok(())
    }
}

/// Runs `work` on outputs in host memory: the given ones, or copies that are uploaded to the device of the given ones.
pub(crate) fn on_host<R>(
    queue: Option<&GpuStream>,
    outputs: Outputs<'_>,
    work: impl FnOnce(Outputs<'_>) -> Result<R>,
) -> Result<R> {
    let Outputs { name, values, s0, status } = outputs;
    let mut values = HostOutput::new(name, values)?;
    let mut s0 = HostOutput::optional("s0", s0)?;
    let mut status = HostOutput::optional("status", status)?;
    let done = work(Outputs {
        name,
        values: values.tensor(),
        s0: s0.as_mut().map(HostOutput::tensor),
        status: status.as_mut().map(HostOutput::tensor),
    })?;
    [Some(values), s0, status].into_iter().flatten().try_for_each(|output| output.finish(queue))?;
    Ok(done)
}

/// The part of an output array that belongs to one block of voxels. In safe Rust several threads cannot write to interleaved
/// elements of one slice, so the array is split first: by voxels if each voxel occupies a range of its own, by rows if each
/// row does. An array without overlapping elements is always one or the other.
enum Window<'a, T> {
    Voxels { data: &'a mut [T], row: usize, voxel: usize },
    Rows { rows: Vec<&'a mut [T]>, voxel: usize },
}

impl<T: Copy> Window<'_, T> {
    fn write(&mut self, row: usize, voxels: impl Iterator<Item = (usize, T)>) {
        match self {
            Self::Voxels { data, row: step, voxel } => {
                for (v, x) in voxels {
                    data[row * *step + v * *voxel] = x;
                }
            }
            Self::Rows { rows, voxel } => {
                for (v, x) in voxels {
                    rows[row][v * *voxel] = x;
                }
            }
        }
    }
}

/// Splits an array of `rows` by `voxels` into windows of [`LANES`] voxels.
fn windows<'a, T: Element>(
    tensor: &'a mut Tensor,
    argument: &str,
    rows: usize,
    voxels: usize,
) -> Result<Vec<Window<'a, T>>> {
    tensor.check_writable(argument)?;
    let (row, voxel) = match *tensor.layout().strides() {
        [voxel] => (0, voxel),
        [row, voxel] => (row, voxel),
        _ => return Err(Error::Internal(format!("{argument}: neither a vector nor a matrix"))),
    };
    let (row, voxel) = (if rows > 1 { row } else { 0 }, if voxels > 1 { voxel } else { 0 });
    let extent = tensor.layout().extent();
    let data = &mut tensor.memory_mut(argument)?.host_mut(argument)?.as_mut_slice::<T>()?[..extent];
    let blocks = voxels.div_ceil(LANES);
    let mut parts = alloc::with_capacity("windows of an output", blocks)?;
    if voxel > row * rows.saturating_sub(1) || voxels <= 1 {
        let size = if voxels <= 1 { extent.max(1) } else { LANES * voxel };
        parts.extend(data.chunks_mut(size).map(|data| Window::Voxels { data, row, voxel }));
        return Ok(parts);
    }
    for _ in 0..blocks {
        parts.push(Window::Rows { rows: alloc::with_capacity("windows of an output", rows)?, voxel });
    }
    let reach = (voxels - 1) * voxel + 1;
    for line in data.chunks_mut(row).take(rows) {
        for (part, piece) in parts.iter_mut().zip(line[..reach].chunks_mut(LANES * voxel)) {
            if let Window::Rows { rows, .. } = part {
                rows.push(piece);
            }
        }
    }
    Ok(parts)
}

/// Selects the voxels of a volume that are computed.
#[derive(Clone, Copy)]
pub(crate) struct Mask<'a>(Option<View<'a, u8>>);

impl<'a> Mask<'a> {
    /// The mask of `voxels` voxels; without one, all voxels are selected.
    pub fn new(context: &Context, mask: Option<&'a Tensor>, voxels: usize) -> Result<Self> {
        let Some(mask) = mask else { return Ok(Self(None)) };
        mask.expect_context("mask", context)?;
        mask.expect_dims("mask", &[voxels])?;
        Ok(Self(Some(mask.view("mask")?)))
    }

    /// Whether `voxel` is selected: without a mask every one is.
    pub fn has(&self, voxel: usize) -> bool {
        self.0.is_none_or(|m| m.get(&[voxel]) != 0)
    }
}

/// A thread's memory: the caller's scratch, a block, and the voxels of its lanes.
type Scratch<S, T> = (S, Block<T>, Vec<usize>);

/// The windows of one block: of the values, of `s0` and of the status.
type Arrays<'w, 'a, T> = ((&'w mut Window<'a, T>, Option<&'w mut Window<'a, T>>), Option<&'w mut Window<'a, i32>>);

/// Runs `compute` on every block of selected voxels and writes its results. Other voxels become zero, with the status
/// `Masked`.
///
/// The report has the voxels, those without a result, and where they were computed.
///
/// `compute` receives its thread's scratch, the voxels of the block's lanes, and the block to fill.
pub(crate) fn for_blocks<T: Number, S: Send>(
    context: &Context,
    progress: &Progress<'_>,
    mask: Mask<'_>,
    outputs: Outputs<'_>,
    scratch: impl Fn() -> Result<S> + Sync,
    compute: impl Fn(&mut S, &[usize], &mut Block<T>) -> Result<()> + Sync,
) -> Result<Info> {
    let Outputs { name, values, s0, status } = outputs;
    let (rows, voxels) = match *values.dims() {
        [rows, voxels] => (rows, voxels),
        _ => return Err(Error::Internal(format!("{name}: is not a matrix"))),
    };
    let mut info = Info { reason: place(context), ..Info::default() };
    if voxels == 0 {
        progress.report(0, 0, 0.0)?;
        return Ok(info);
    }
    let blocks = voxels.div_ceil(LANES);
    let budget = context.host_budget();
    let ((mut values, mut s0, mut status), _windows) = alloc::limited(budget, || {
        let s0 = s0.map(|t| windows::<T>(t, "s0", 1, voxels)).transpose()?;
        let status = status.map(|t| windows::<i32>(t, "status", 1, voxels)).transpose()?;
        Ok((windows::<T>(values, name, rows, voxels)?, s0, status))
    })?;
    let (flag, skipped) = (progress.flag(), AtomicU64::new(0));
    // All of it before the first block: an allocation at a thread's first block would depend on the other threads.
    let working = context.pool().threads().min(blocks);
    let (memory, _charge) = alloc::limited(budget, || {
        let mut memory = alloc::with_capacity("memory of threads", working)?;
        for _ in 0..working {
            memory.push((scratch()?, Block::new(rows)?, alloc::with_capacity("lanes", LANES)?));
        }
        Ok(memory)
    })?;
    let idle: Mutex<Vec<Scratch<S, T>>> = Mutex::new(memory);
    let one = |(scratch, block, lanes): &mut Scratch<S, T>, number: usize, arrays: Arrays<'_, '_, T>| {
        let ((values, s0), status) = arrays;
        let start = number * LANES;
        let here = start..(start + LANES).min(voxels);
        lanes.clear();
        lanes.extend(here.clone().filter(|v| mask.has(*v)));
        block.status.fill(TensorStatus::Ok);
        if !lanes.is_empty() {
            compute(scratch, lanes, block)?;
        }
        let rejected = block.status[..lanes.len()].iter().filter(|s| is_rejected(**s)).count();
        skipped.fetch_add(to_u64(here.len() - lanes.len() + rejected), Ordering::Relaxed);
        let whole = lanes.len() == here.len();
        for r in 0..rows {
            if !whole {
                values.write(r, (0..here.len()).map(|v| (v, T::ZERO)));
            }
            let row = &block.values[r * LANES..(r + 1) * LANES];
            values.write(r, lanes.iter().zip(row).map(|(v, x)| (v - start, *x)));
        }
        if let Some(s0) = s0 {
            if !whole {
                s0.write(0, (0..here.len()).map(|v| (v, T::ZERO)));
            }
            s0.write(0, lanes.iter().zip(&block.s0).map(|(v, x)| (v - start, *x)));
        }
        if let Some(status) = status {
            if !whole {
                status.write(0, (0..here.len()).map(|v| (v, TensorStatus::Masked as i32)));
            }
            status.write(0, lanes.iter().zip(&block.status).map(|(v, x)| (v - start, *x as i32)));
        }
        Ok(())
    };
    for first in (0..blocks).step_by(BLOCKS_PER_STEP) {
        let last = (first + BLOCKS_PER_STEP).min(blocks);
        let s0 = OptionalWindows(s0.as_mut().map(|w| &mut w[first..last]));
        let status = OptionalWindows(status.as_mut().map(|w| &mut w[first..last]));
        let values = &mut values[first..last];
        context.pool().run(|| {
            values
                .par_iter_mut()
                .zip(s0.into_vec(last - first)?)
                .zip(status.into_vec(last - first)?)
                .enumerate()
                .try_for_each(|(k, arrays)| {
                    flag.check()?;
                    let mut own = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    let done = match &mut own {
                        Some(own) => one(own, first + k, arrays),
                        None => Err(Error::Internal("a thread without memory for its voxels".into())),
                    };
                    // Also after a failure: threads with other blocks go on.
                    idle.lock().unwrap_or_else(PoisonError::into_inner).extend(own);
                    done
                })
        })?;
        progress.report(to_i64((last * LANES).min(voxels)), to_i64(voxels), 0.0)?;
    }
    (info.tensors, info.chunks) = (to_i64(voxels), 1);
    info.skipped_tensors = i64::try_from(skipped.into_inner()).unwrap_or(i64::MAX);
    Ok(info)
}

/// Where voxels are computed that the CPU computes, and why.
fn place(context: &Context) -> &'static str {
    match context.backend() {
        Backend::Cpu => "on the CPU of the context",
        Backend::Gpu(_) => "on the CPU: the GPU has no kernels for this call with these options, orders or weights",
    }
}

/// Windows of an optional output.
struct OptionalWindows<'w, 'a, T>(Option<&'w mut [Window<'a, T>]>);

impl<'w, 'a, T> OptionalWindows<'w, 'a, T> {
    /// For each of `count` blocks, its window if the output is requested.
    fn into_vec(self, count: usize) -> Result<Vec<Option<&'w mut Window<'a, T>>>> {
        let mut list = alloc::with_capacity("windows of an output", count)?;
        match self.0 {
            Some(windows) => list.extend(windows.iter_mut().map(Some)),
            None => list.extend((0..count).map(|_| None)),
        }
        Ok(list)
    }
}
