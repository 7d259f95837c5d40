//! The common part of all multi-start calls on both backends. It checks the outputs, cuts the batch into tiles that fit the
//! memory limit, gathers strided inputs, scatters to strided outputs, reports progress and adds counts.

use super::info::{Info, bytes};
use super::ops::SshopmOps;
use super::options::Results;
use super::plan::{Counts, PeakForm, Plan, RowBuffers, RowSizes, Tile};
use crate::alloc;
use crate::backend::budget::Charge;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{DType, Element, Real};
use crate::shape::{Order, to_i64, to_u64};
use crate::tensor::{Tensor, View, ViewMut};

/// Outputs of a call; all members as in [`Results`], and peaks.
pub struct Outputs<'r, 'a> {
    /// The caller's arrays, each of them optional.
    pub results: &'r mut Results<'a>,
    /// Real [4, K, T] or [3, K, T].
    pub peaks: Option<(&'r mut Tensor, PeakForm)>,
}

/// Number of elements in a row of each result.
pub fn row_sizes<T>(plan: &Plan<T>, peaks: Option<PeakForm>) -> RowSizes {
    let (n, pairs, starts) = (plan.shape.dimension, plan.reduction.pairs, plan.start_count);
    RowSizes {
        one: 1,
        pairs,
        pair_vectors: n * pairs,
        pair_hessians: (n - 1) * pairs,
        starts,
        start_vectors: n * starts,
        peaks: match peaks {
            None => 0,
            Some(PeakForm::UnitValue) => (n + 1) * pairs,
            Some(PeakForm::Scaled) => n * pairs,
        },
    }
}

/// Most bytes of a tile. It also bounds the time between two progress reports.
const TILE_BYTES: usize = 64 << 20;
/// Limit of packed entries times starts in a tile, for each thread: about 20 ms of work.
const TILE_WORK: usize = 20_000_000;

/// K from the sizes of the result tensors; 0 if none of them is per pair.
///
/// # Errors
/// [`Error::InvalidArgument`] for tensors of too few dimensions or of different numbers of pairs.
pub fn pairs_of(results: &Results<'_>) -> Result<usize> {
    let mut found: Option<(&str, usize)> = None;
    let candidates = [
        ("values", &results.values, 0),
        ("vectors", &results.vectors, 1),
        ("residuals", &results.residuals, 0),
        ("classes", &results.classes, 0),
        ("hessian", &results.hessian, 1),
        ("basins", &results.basins, 0),
    ];
    for (name, tensor, axis) in candidates {
        let Some(tensor) = tensor else { continue };
        let Some(&k) = tensor.dims().get(axis) else {
            return Err(Error::invalid(name, format!("has dimensions {:?}, too few", tensor.dims())));
        };
        match found {
            Some((first, other)) if other != k => {
                return Err(Error::invalid(name, format!("keeps {k} pairs, {first} keeps {other}")));
            }
            _ => found = Some((name, k)),
        }
    }
    Ok(found.map_or(0, |f| f.1))
}

/// Checks an output's type, dimensions and context.
fn check(context: &Context, name: &str, tensor: Option<&Tensor>, dtype: DType, dims: &[usize]) -> Result<()> {
    let Some(tensor) = tensor else { return Ok(()) };
    tensor.expect_context(name, context)?;
    tensor.expect_dtype(name, dtype)?;
    tensor.expect_dims(name, dims)?;
    tensor.check_writable(name)
}

/// Contents of a row of a result.
#[derive(Clone, Copy)]
enum Row {
    One,
    Pairs,
    PairVectors,
    PairHessians,
    Starts,
    StartVectors,
}

impl Row {
    /// Dimensions of the result, and their number.
    fn dims(self, n: usize, pairs: usize, starts: usize, count: usize) -> ([usize; 3], usize) {
        match self {
            Self::One => ([count, 0, 0], 1),
            Self::Pairs => ([pairs, count, 0], 2),
            Self::PairVectors => ([n, pairs, count], 3),
            Self::PairHessians => ([n - 1, pairs, count], 3),
            Self::Starts => ([starts, count, 0], 2),
            Self::StartVectors => ([n, starts, count], 3),
        }
    }
}

macro_rules! each_output {
    ($results:expr, $call:ident) => {
        $call!(i32, count, One, one);
        $call!(T, values, Pairs, pairs);
        $call!(T, vectors, PairVectors, pair_vectors);
        $call!(T, residuals, Pairs, pairs);
        $call!(i32, classes, Pairs, pairs);
        $call!(T, hessian, PairHessians, pair_hessians);
        $call!(i32, basins, Pairs, pairs);
        $call!(i32, status, One, one);
        $call!(T, start_values, Starts, starts);
        $call!(T, start_vectors, StartVectors, start_vectors);
        $call!(T, start_residuals, Starts, starts);
        $call!(i32, start_iterations, Starts, starts);
        $call!(T, start_shifts, Starts, starts);
        $call!(i32, start_status, Starts, starts);
        $call!(i32, start_violations, Starts, starts);
        $call!(i32, found, One, one);
    };
}

/// Checks every output of a call against the plan and the number of tensors.
///
/// # Errors
/// [`Error::InvalidArgument`] for an output of another type, size or context, for one that may not be written to, and
/// for a trace of several tensors or starts.
pub fn check_outputs<T: Real>(
    context: &Context,
    plan: &Plan<T>,
    count: usize,
    outputs: &Outputs<'_, '_>,
) -> Result<()> {
    let (n, pairs, starts) = (plan.shape.dimension, plan.reduction.pairs, plan.start_count);
    let results = &*outputs.results;
    macro_rules! check_one {
        ($t:ty, $name:ident, $kind:ident, $size:ident) => {
            let (dims, rank) = Row::$kind.dims(n, pairs, starts, count);
            let tensor = results.$name.as_deref();
            check(context, stringify!($name), tensor, <$t as Element>::DTYPE, &dims[..rank])?;
        };
    }
    each_output!(results, check_one);
    if let Some((peaks, form)) = &outputs.peaks {
        let rows = if *form == PeakForm::Scaled { n } else { n + 1 };
        check(context, "peaks", Some(peaks), T::DTYPE, &[rows, pairs, count])?;
    }
    if let Some(trace) = results.trace.as_deref() {
        if count != 1 || starts != 1 {
            return Err(Error::invalid("trace", format!("needs one tensor and one start, not {count} and {starts}")));
        }
        let dims = [trace.dims().first().copied().unwrap_or(0)];
        check(context, "trace", Some(trace), T::DTYPE, &dims)?;
    }
    Ok(())
}

/// Tensors in a tile whose rows take `row_bytes` each.
fn tile_of<T: Real>(context: &Context, plan: &Plan<T>, count: usize, row_bytes: usize) -> usize {
    let bytes = usize::try_from(context.host_budget().available() / 2).unwrap_or(usize::MAX).min(TILE_BYTES);
    let threads = context.pool().threads();
    let work = TILE_WORK.saturating_mul(threads) / plan.shape.count().saturating_mul(plan.start_count).max(1);
    (bytes / row_bytes.max(1)).min(work.max(threads)).clamp(1, count.max(1))
}

/// Charges the rows of a tile. The error names all bytes of the smallest run: those charged so far and one tile.
fn charge_tile(context: &Context, row_bytes: usize, tile: usize) -> Result<Charge> {
    let (budget, bytes) = (context.host_budget(), to_u64(row_bytes.saturating_mul(tile)));
    let what = "a run that takes one tensor at a time";
    let refused = || Error::OutOfMemory { what, bytes: budget.used().saturating_add(bytes), limit: budget.limit() };
    budget.charge(bytes).ok_or_else(refused)
}

/// The plan of a run over `count` tensors.
pub fn known<T>(plan: &Plan<T>, count: usize) -> Info {
    Info { tensors: to_i64(count), starts: to_i64(plan.start_count), ..Info::default() }
}

/// The chunks and the bytes of [`run`] on the CPU, whose operations have `held` bytes, with the results `count` and `status` and, for a
/// search for peaks, the peaks in their form.
///
/// # Errors
/// [`Error::OutOfMemory`] as [`run`].
pub fn plan<T: Real>(
    context: &Context,
    held: u64,
    plan: &Plan<T>,
    input: &Tensor,
    peaks: Option<PeakForm>,
) -> Result<Info> {
    let count = input.dims()[1];
    let contiguous = input.layout().is_packed(Order::ColumnMajor);
    let gathered = if contiguous { 0 } else { plan.shape.count() * size_of::<T>() };
    let row_bytes = gathered + 2 * size_of::<i32>() + row_sizes(plan, peaks).peaks * size_of::<T>();
    let tile = tile_of(context, plan, count, row_bytes);
    let charge = charge_tile(context, row_bytes, tile)?;
    let mut info = known(plan, count);
    info.chunks = to_i64(count.div_ceil(tile));
    info.host_bytes = bytes(held) + bytes(charge.bytes());
    Ok(info)
}

/// Runs a checked plan over all tensors of `input`, whose dimensions are [U, T]; `mask` is U8 `[T]`.
///
/// # Errors
/// [`Error::OutOfMemory`] if not even one tensor fits the context's limit, [`Error::Cancelled`].
pub fn run<T: Real>(
    context: &Context,
    ops: &mut dyn SshopmOps<T>,
    plan: &Plan<T>,
    input: &Tensor,
    mask: Option<&Tensor>,
    outputs: &mut Outputs<'_, '_>,
    progress: &Progress<'_>,
) -> Result<Info> {
    let started = std::time::Instant::now();
    let packed = plan.shape.count();
    let count = input.dims()[1];
    let entries = input.view::<T>("tensors")?;
    let mask = mask.map(|m| m.view::<u8>("mask")).transpose()?;
    let form = outputs.peaks.as_ref().map(|p| p.1);
    let sizes = row_sizes(plan, form);
    let contiguous = entries.layout().is_packed(Order::ColumnMajor);
    let results = &mut *outputs.results;

    let mut row_bytes = if contiguous { 0 } else { packed * size_of::<T>() } + usize::from(mask.is_some());
    macro_rules! count_bytes {
        ($t:ty, $name:ident, $kind:ident, $size:ident) => {
            if results.$name.is_some() {
                row_bytes += sizes.$size * size_of::<$t>();
            }
        };
    }
    each_output!(results, count_bytes);
    row_bytes += sizes.peaks * size_of::<T>();
    let tile = tile_of(context, plan, count, row_bytes);
    let charge = charge_tile(context, row_bytes, tile)?;

    let mut gathered = alloc::filled("rows of tensors", if contiguous { 0 } else { packed * tile }, T::ZERO)?;
    let mut mask_row = alloc::filled("rows of tensors", if mask.is_some() { tile } else { 0 }, 1u8)?;
    let mut buffers = RowBuffers::<T>::default();
    macro_rules! allocate {
        ($t:ty, $name:ident, $kind:ident, $size:ident) => {
            if results.$name.is_some() {
                buffers.$name = alloc::filled("rows of tensors", sizes.$size * tile, <$t>::default())?;
            }
        };
    }
    each_output!(results, allocate);
    buffers.peaks = alloc::filled("rows of tensors", sizes.peaks * tile, T::ZERO)?;
    let mut trace = match results.trace.as_deref() {
        Some(t) => alloc::filled("trace", t.dims()[0], T::from_f64(f64::NAN))?,
        None => Vec::new(),
    };

    let flag = progress.flag();
    let mut info = Info { host_bytes: bytes(charge.bytes()), ..known(plan, count) };
    let mut done = Counts::default();
    for first in (0..count).step_by(tile) {
        progress.report(to_i64(first), to_i64(count), share(&done, first, plan))?;
        let here = tile.min(count - first);
        if !contiguous {
            gather(&entries, first, &mut gathered[..here * packed]);
        }
        if let Some(mask) = &mask {
            for (k, m) in mask_row[..here].iter_mut().enumerate() {
                *m = mask.get(&[first + k]);
            }
        }
        let input = if contiguous {
            &entries.data()[first * packed..(first + here) * packed]
        } else {
            &gathered[..here * packed]
        };
        let tile = Tile { first, input, mask: &mask_row[..here.min(mask_row.len())] };
        let rows = buffers.rows(here, &sizes);
        done = done.plus(ops.solve_tile(plan, tile, rows, &mut trace, &sizes, &flag)?);
        macro_rules! write {
            ($t:ty, $name:ident, $kind:ident, $size:ident) => {
                if let Some(tensor) = results.$name.as_deref_mut() {
                    let mut view = tensor.view_mut::<$t>(stringify!($name))?;
                    scatter(&mut view, first, &buffers.$name[..here * sizes.$size], sizes.$size);
                }
            };
        }
        each_output!(results, write);
        if let Some((peaks, _)) = &mut outputs.peaks {
            scatter(&mut peaks.view_mut::<T>("peaks")?, first, &buffers.peaks[..here * sizes.peaks], sizes.peaks);
        }
        info.chunks += 1;
    }
    if let Some(tensor) = results.trace.as_deref_mut() {
        let mut view = tensor.view_mut::<T>("trace")?;
        for (k, t) in trace.iter().enumerate() {
            view.set(&[k], *t);
        }
    }
    progress.report(to_i64(count), to_i64(count), share(&done, count, plan))?;
    info.converged_starts = i64::try_from(done.converged).unwrap_or(i64::MAX);
    info.iterations = i64::try_from(done.iterations).unwrap_or(i64::MAX);
    info.skipped_tensors = i64::try_from(done.skipped).unwrap_or(i64::MAX);
    info.truncated_tensors = i64::try_from(done.truncated).unwrap_or(i64::MAX);
    info.unconverged_tensors = i64::try_from(done.unconverged).unwrap_or(i64::MAX);
    info.tolerance = plan.tolerance;
    info.seconds = started.elapsed().as_secs_f64();
    Ok(info)
}

/// Fraction of the starts so far that converged: the measure of progress.
fn share<T>(done: &Counts, tensors: usize, plan: &Plan<T>) -> f64 {
    let all = tensors.saturating_mul(plan.start_count);
    if all == 0 { 0.0 } else { done.converged as f64 / all as f64 }
}

/// Copies the columns from `first` on into packed memory.
pub fn gather<T: Real>(from: &View<'_, T>, first: usize, to: &mut [T]) {
    let rows = from.dim(0);
    for (k, column) in to.chunks_exact_mut(rows).enumerate() {
        from.read_column(&[first + k], column);
    }
}

/// Copies packed rows of `size` elements to indices `first` and above of the last dimension, for up to four dimensions.
pub fn scatter<T: Element>(to: &mut ViewMut<'_, T>, first: usize, from: &[T], size: usize) {
    if size == 0 {
        return;
    }
    if to.layout().is_packed(Order::ColumnMajor) {
        to.data()[first * size..first * size + from.len()].copy_from_slice(from);
        return;
    }
    let (dims, strides) = (to.layout().dims(), to.layout().strides());
    let Some((last, inner)) = strides.split_last() else { return };
    let data = to.data();
    for (k, row) in from.chunks_exact(size).enumerate() {
        let base = (first + k) * last;
        for (e, value) in row.iter().enumerate() {
            let (mut rest, mut place) = (e, base);
            for (d, s) in dims.iter().zip(inner) {
                place += rest % d * s;
                rest /= d;
            }
            data[place] = *value;
        }
    }
}
