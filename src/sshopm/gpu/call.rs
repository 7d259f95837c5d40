//! A call on a GPU: whole batches in chunks, by a fused kernel or by the general ones.

use crate::backend::gpu::kernels::constants as c;
use crate::backend::gpu::kernels::linear::{Items, linear};
use crate::backend::gpu::kernels::sshopm as kernels;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::blocks::{self, Chunk, Input};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{DType, Real};
use crate::shape::to_i64;
use crate::tensor::{HostOutput, Symmetric, Tensor};

use crate::sshopm::algorithm::Outputs;
use crate::sshopm::info::Info;
use crate::sshopm::options::{Goal, StartKind};
use crate::sshopm::plan::{Counts, Iteration, PeakForm, Plan, Starts};

use super::arrays::{Places, Scratch, pick};
use super::tables::Tables;

/// Whether there are kernels for a shape.
pub fn has_kernels(shape: Symmetric) -> bool {
    shape.order <= kernels::MAX_ORDER && shape.dimension <= kernels::MAX_DIMENSION
}

/// The reason why the GPU cannot run a plan; `None` if it can.
pub fn obstacle<T: Real>(plan: &Plan<T>) -> Option<String> {
    let (order, n) = (plan.shape.order, plan.shape.dimension);
    if !has_kernels(plan.shape) {
        let (most, dimension) = (kernels::MAX_ORDER, kernels::MAX_DIMENSION);
        return Some(format!("order {order}, dimension {n} (at most {most} and {dimension})"));
    }
    if plan.start_count > kernels::SELECT_MAX_STARTS {
        return Some(format!("{} starts (at most {})", plan.start_count, kernels::SELECT_MAX_STARTS));
    }
    if plan.reduction.pairs > kernels::SELECT_MAX_PAIRS {
        return Some(format!("{} pairs a tensor (at most {})", plan.reduction.pairs, kernels::SELECT_MAX_PAIRS));
    }
    None
}

/// How starts are drawn, as [`Starts::Drawn`] says.
struct Drawn {
    kind: StartKind,
    seed: u64,
    first: usize,
    chunks: usize,
}

/// State that all chunks of a call share.
pub(super) struct Call<'a> {
    pub(super) gpu: &'a Gpu,
    /// Type of the tensors and results.
    dtype: DType,
    shape: Symmetric,
    /// Starts V of each tensor.
    start_count: usize,
    /// Settings of each pass: of maxima, minima or both.
    passes: Vec<kernels::Settings>,
    /// Most pairs K of a tensor; 0 without outputs of pairs.
    pub(super) pairs: usize,
    /// Whether one fused kernel solves and selects.
    pub(super) fused: bool,
    /// Whether the starts run in a fused kernel; the selection may be a kernel of its own.
    pub(super) fused_starts: bool,
    pub(super) places: Places,
    pub(super) scratch: Scratch,
    drawn: Option<Drawn>,
    pub(super) starts: Option<DeviceMemory>,
    pub(super) transform: Option<DeviceMemory>,
    pub(super) tables: Option<Tables>,
    pub(super) trace: Option<(DeviceMemory, usize)>,
    /// One set of counters for each pass.
    pub(super) counters: DeviceMemory,
    pub(super) has_mask: bool,
}

const COUNTER_BYTES: usize = kernels::COUNTERS * size_of::<u64>();

/// Runs a checked plan over all tensors of `input`, whose dimensions are [U, T]; `mask` is U8 `[T]`. Arrays may lie on the
/// host or on the device.
///
/// # Errors
/// [`Error::NotSupported`] for device outputs that are not packed;
/// [`Error::OutOfDeviceMemory`]; [`Error::Cancelled`] after the current chunk.
#[expect(clippy::too_many_arguments, reason = "those of the CPU's entry, and the device")]
pub fn run<T: Real>(
    context: &Context,
    gpu: &Gpu,
    queue: &GpuStream,
    plan: &Plan<T>,
    input: &Tensor,
    mask: Option<&Tensor>,
    outputs: &mut Outputs<'_, '_>,
    progress: &Progress<'_>,
) -> Result<Info> {
    let started = std::time::Instant::now();
    let items = input.dims()[1];
    let mut trace = outputs.results.trace.take();
    let trace_length = trace.as_deref().map(|t| t.dims()[0]);
    let peak_form = outputs.peaks.as_ref().map(|p| p.1);
    let (places, mut list) = Places::take(outputs);
    let call = Call::new(gpu, queue, plan, places, mask.is_some(), peak_form, trace_length)?;
    let chunks = call.run(context, queue, progress, (input, mask), &mut list)?;
    if let (Some(tensor), Some((memory, length))) = (trace.as_deref_mut(), &call.trace) {
        write_trace::<T>(gpu, queue, memory, *length, tensor)?;
    }
    outputs.results.trace = trace;
    let counted = call.info(queue)?;
    Ok(Info {
        tensors: to_i64(items),
        chunks,
        tolerance: plan.tolerance,
        seconds: started.elapsed().as_secs_f64(),
        ..counted
    })
}

fn write_trace<T: Real>(
    gpu: &Gpu,
    queue: &GpuStream,
    memory: &DeviceMemory,
    length: usize,
    tensor: &mut Tensor,
) -> Result<()> {
    let mut out = HostOutput::new("trace", tensor)?;
    let mut numbers = crate::alloc::filled("trace", length, T::ZERO)?;
    gpu.download_numbers(queue, memory, &mut numbers)?;
    let mut view = out.tensor().view_mut::<T>("trace")?;
    for (k, v) in numbers.into_iter().enumerate() {
        view.set(&[k], v);
    }
    out.finish(Some(queue))
}

impl<'a> Call<'a> {
    pub(super) fn new<T: Real>(
        gpu: &'a Gpu,
        queue: &GpuStream,
        plan: &Plan<T>,
        places: Places,
        has_mask: bool,
        peak_form: Option<PeakForm>,
        trace_length: Option<usize>,
    ) -> Result<Self> {
        let (n, v) = (plan.shape.dimension, plan.start_count);
        let real = size_of::<T>();
        let per_pair = [
            places.values,
            places.vectors,
            places.residuals,
            places.classes,
            places.hessian,
            places.basins,
            places.peaks,
        ];
        let listed = per_pair.iter().any(Option::is_some);
        // If pairs are only counted, limit them to the number that the fused kernels can distinguish.
        let most = if listed { usize::MAX } else { kernels::FUSED_MAX_PAIRS };
        let pairs = plan.reduction.pairs.min(most);
        let fused_starts = kernels::has_fused(plan.shape.order, n)
            && trace_length.is_none()
            && !matches!(plan.iteration, Iteration::HybridConstant(_));
        let fused = fused_starts
            && (plan.iteration != Iteration::Newton || pairs == 0)
            && (pairs == 0 || (v <= kernels::FUSED_MAX_STARTS && pairs <= kernels::FUSED_MAX_PAIRS));

        let mut scratch = Scratch::default();
        if pairs > 0 && plan.goal == Goal::Both && places.count.is_none() {
            scratch.count = scratch.add(size_of::<i32>());
        }
        if pairs > 0 && plan.goal == Goal::Both && places.found.is_none() {
            scratch.found = scratch.add(size_of::<i32>());
        }
        if !fused {
            if places.status.is_none() {
                scratch.status = scratch.add(size_of::<i32>());
            }
            if pairs > 0 {
                let mut wanted = |place: Option<usize>, bytes| if place.is_none() { scratch.add(bytes) } else { None };
                let (values, vectors) =
                    (wanted(places.start_values, v * real), wanted(places.start_vectors, n * v * real));
                let (residuals, status) =
                    (wanted(places.start_residuals, v * real), wanted(places.start_status, v * 4));
                (scratch.start_values, scratch.start_vectors) = (values, vectors);
                (scratch.start_residuals, scratch.start_status) = (residuals, status);
            }
            if plan.transform.is_some() {
                scratch.entries = scratch.add(plan.shape.count() * real);
            }
        }
        let (drawn, starts) = match &plan.starts {
            Starts::Shared(vectors) => (None, Some(gpu.upload_numbers(queue, "start vectors", vectors)?)),
            &Starts::Drawn { kind, seed, first, chunks } => {
                scratch.starts = scratch.add(n * v * real);
                (Some(Drawn { kind, seed, first, chunks }), None)
            }
        };
        let transform = plan.transform.as_deref().map(|t| gpu.upload_numbers(queue, "transform", t)).transpose()?;
        let tables =
            if fused { None } else { Some(Tables::new(gpu, queue, plan.shape, &plan.multinomials, &plan.identity)?) };
        let trace = match trace_length {
            Some(length) => {
                let empty = crate::alloc::filled("trace", length, T::from_f64(f64::NAN))?;
                Some((gpu.upload_numbers(queue, "trace", &empty)?, length))
            }
            None => None,
        };
        let counters = gpu.allocate("counters", 2 * COUNTER_BYTES)?;
        let goals: &[i32] = match plan.goal {
            Goal::Maxima => &[c::MAXIMA],
            Goal::Minima => &[c::MINIMA],
            Goal::Both => &[c::MAXIMA, c::MINIMA],
        };
        let passes = goals.iter().enumerate();
        let passes = passes.map(|(pass, goal)| super::settings::of(plan, peak_form, *goal, pass > 0)).collect();
        Ok(Self {
            gpu,
            dtype: T::DTYPE,
            shape: plan.shape,
            start_count: v,
            passes,
            pairs,
            fused,
            fused_starts,
            places,
            scratch,
            drawn,
            starts,
            transform,
            tables,
            trace,
            counters,
            has_mask,
        })
    }

    /// Processes the tensors of a batch and its mask in chunks; returns their number.
    fn run(
        &self,
        context: &Context,
        queue: &GpuStream,
        progress: &Progress<'_>,
        (input, mask): (&Tensor, Option<&Tensor>),
        outputs: &mut [(&'static str, &mut Tensor)],
    ) -> Result<i64> {
        let mut inputs = vec![Input::any("tensors", input)];
        inputs.extend(mask.map(|m| Input::packed("mask", m)));
        let (items, scratch) = (input.dims()[1], &self.scratch.bytes[..]);
        let batch = blocks::Plan { context, gpu: self.gpu, queue, progress, items, scratch };
        blocks::for_chunks(&batch, &inputs, outputs, &mut |chunk| self.work(chunk))
    }

    /// Enqueues all kernels for one chunk.
    pub(super) fn work(&self, chunk: &Chunk<'_>) -> Result<()> {
        let field = &chunk.inputs[0];
        let (stream, shape, dtype) = (chunk.stream, self.shape, self.dtype);
        let entries = shape.count();
        let mut batch = kernels::Batch {
            memory: field.region,
            entry_stride: field.strides[0],
            tensor_stride: field.strides[1],
            order: shape.order,
            dimension: shape.dimension,
            entries,
            count: chunk.count,
        };
        if let (Some(at), Some(transform)) = (self.scratch.entries, &self.transform) {
            let mapped = chunk.scratch[at];
            let input = Items { memory: field.region, stride: batch.entry_stride, item_stride: batch.tensor_stride };
            let output = Items { memory: mapped, stride: 1, item_stride: entries };
            linear(dtype, self.gpu, stream, transform.whole(), (entries, entries), chunk.count, input, output)?;
            batch = kernels::Batch { memory: mapped, entry_stride: 1, tensor_stride: entries, ..batch };
        }
        let starts = self.starts(chunk)?;
        for (pass, settings) in self.passes.iter().enumerate() {
            let solve = kernels::Solve {
                batch,
                mask: self.has_mask.then(|| chunk.inputs[1].region),
                transform: self.transform.as_ref().filter(|_| self.fused).map(DeviceMemory::whole),
                starts,
                settings: *settings,
                pairs: self.pair_regions(chunk),
                start_results: self.start_regions(chunk),
                trace: self.trace.as_ref().map(|(m, l)| (m.whole(), *l)),
                counters: Some(self.counters.region(pass * COUNTER_BYTES, COUNTER_BYTES)?),
                tables: self.tables.as_ref().map(Tables::regions),
            };
            if self.fused {
                solve.fused(dtype, self.gpu, stream)?;
                continue;
            }
            if self.fused_starts {
                // This kernel writes the status only of tensors without iterations.
                if let Some(status) = solve.pairs.status {
                    self.gpu.clear(stream, status)?;
                }
                let pairs = kernels::Pairs { status: solve.pairs.status, ..kernels::Pairs::default() };
                kernels::Solve { pairs, ..solve }.fused(dtype, self.gpu, stream)?;
            } else {
                solve.general(dtype, self.gpu, stream)?;
            }
            if self.pairs > 0 {
                let found = self.start_count.clamp(self.pairs, kernels::SELECT_MAX_PAIRS);
                solve.select(dtype, self.gpu, stream, found, None)?;
            }
        }
        Ok(())
    }

    /// The report of all chunks so far: the numbers that the kernels count.
    fn info(&self, queue: &GpuStream) -> Result<Info> {
        let counts = self.counts(queue)?;
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        Ok(Info {
            starts: to_i64(self.start_count),
            converged_starts: number(counts.converged),
            iterations: number(counts.iterations),
            skipped_tensors: number(counts.skipped),
            tolerance_raised: false,
            truncated_tensors: number(counts.truncated),
            unconverged_tensors: number(counts.unconverged),
            ..Info::default()
        })
    }

    /// Counters of all chunks so far.
    pub(super) fn counts(&self, queue: &GpuStream) -> Result<Counts> {
        let mut counters = [[0i64; kernels::COUNTERS]; 2];
        self.gpu.download_numbers(queue, &self.counters, counters.as_flattened_mut())?;
        let at = |pass: usize, which: i32| {
            let counter = usize::try_from(which).ok().and_then(|w| counters[pass].get(w)).copied();
            counter.map_or(0, i64::unsigned_abs)
        };
        Ok(Counts {
            converged: at(0, c::COUNTER_CONVERGED) + at(1, c::COUNTER_CONVERGED),
            iterations: at(0, c::COUNTER_ITERATIONS) + at(1, c::COUNTER_ITERATIONS),
            // Both passes skip the same tensors.
            skipped: at(0, c::COUNTER_SKIPPED),
            // The first of two passes does not count these; the second does.
            truncated: at(0, c::COUNTER_TRUNCATED) + at(1, c::COUNTER_TRUNCATED),
            unconverged: at(0, c::COUNTER_UNCONVERGED) + at(1, c::COUNTER_UNCONVERGED),
        })
    }

    fn starts<'c>(&'c self, chunk: &Chunk<'c>) -> Result<kernels::Starts<'c>> {
        let count = self.start_count;
        if let Some(memory) = &self.starts {
            return Ok(kernels::Starts { vectors: memory.whole(), count, per_tensor: false });
        }
        let (Some(at), Some(&Drawn { kind, seed, first, chunks })) = (self.scratch.starts, self.drawn.as_ref()) else {
            return Err(Error::Internal("start vectors that are neither given nor drawn".into()));
        };
        let mut draw = kernels::Draw {
            dimension: self.shape.dimension,
            seed,
            first_tensor: chunk.first,
            tensors: chunk.count,
            first_start: first,
            starts: count,
            cube: kind == StartKind::RandomCube,
        };
        if chunks > 1 {
            // Consecutive items are one tensor; each item has the starts that follow those of the item before.
            let (tensor, part) = (chunk.first / chunks, chunk.first % chunks);
            if part + chunk.count > chunks {
                return Err(Error::Internal("a chunk over two tensors whose starts are shared out".into()));
            }
            let (first_start, starts) = (first + part * count, count * chunk.count);
            draw = kernels::Draw { first_tensor: tensor, tensors: 1, first_start, starts, ..draw };
        }
        let vectors = chunk.scratch[at];
        kernels::draw_starts(self.dtype, self.gpu, chunk.stream, &draw, vectors)?;
        Ok(kernels::Starts { vectors, count, per_tensor: true })
    }

    fn pair_regions<'c>(&self, chunk: &Chunk<'c>) -> kernels::Pairs<'c> {
        let (p, s) = (&self.places, &self.scratch);
        kernels::Pairs {
            limit: self.pairs,
            count: pick(chunk, p.count, s.count),
            values: pick(chunk, p.values, None),
            vectors: pick(chunk, p.vectors, None),
            residuals: pick(chunk, p.residuals, None),
            classes: pick(chunk, p.classes, None),
            hessian: pick(chunk, p.hessian, None),
            basins: pick(chunk, p.basins, None),
            status: pick(chunk, p.status, s.status),
            peaks: pick(chunk, p.peaks, None),
            found: pick(chunk, p.found, s.found),
        }
    }

    fn start_regions<'c>(&self, chunk: &Chunk<'c>) -> kernels::StartResults<'c> {
        let (p, s) = (&self.places, &self.scratch);
        kernels::StartResults {
            values: pick(chunk, p.start_values, s.start_values),
            vectors: pick(chunk, p.start_vectors, s.start_vectors),
            residuals: pick(chunk, p.start_residuals, s.start_residuals),
            iterations: pick(chunk, p.start_iterations, None),
            shifts: pick(chunk, p.start_shifts, None),
            status: pick(chunk, p.start_status, s.start_status),
            violations: pick(chunk, p.start_violations, None),
        }
    }
}
