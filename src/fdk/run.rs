//! A run over a whole scan: access to its arrays, its cut, and the devices that share it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use super::algorithm::{Share, Times, steps};
use super::counts::{Counts, PixelDefects};
use super::cpu::CpuOps;
use super::cut::{Access, Available, Cut, Flow, Needs, Task, is_too_little};
use super::double::DoubleOps;
use super::gpu::{GpuOps, run_overlapped};
use super::info::{Info, number};
use super::inputs::{Device, Projections, Volume};
use super::open::{OpenedInput, OpenedOutput, open_input, open_output};
use super::ops::{FdkOps, Job, Slices, Tally};
use super::options::Precision;
use super::part::{Part, PartOut};
use super::plan::Plan;
use crate::backend::Backend;
use crate::backend::gpu::GpuStream;
use crate::blocks::number::Number;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::group;
use crate::log::Level;
use crate::progress::Progress;
use crate::shape::to_i64;
use crate::team;

/// Configuration that all runs of a reconstruction share.
pub struct Setting {
    /// The contexts, at least one.
    pub contexts: Vec<Arc<Context>>,
    /// Geometry, weights and filter, the same for all contexts.
    pub plan: Arc<Plan>,
    /// Parameters of the conversion from counts; `None` if the input is line integrals.
    pub counts: Option<Arc<Counts>>,
}

impl Setting {
    /// The backend of a context.
    pub fn device<'a>(&self, context: &'a Context) -> Device<'a> {
        match (self.plan.options.precision, context.backend()) {
            (Precision::F64, _) => Device::Double,
            (Precision::F32, Backend::Cpu) => Device::Cpu,
            (Precision::F32, Backend::Gpu(gpu)) => Device::Gpu(gpu),
        }
    }

    /// The plan of a run from a source to a sink, without slabs if not even its smallest part fits the limits. A run then returns
    /// that error.
    ///
    /// # Errors
    /// As [`Setting::cut`], except for limits that are too small.
    pub fn usual_plan(&self) -> Result<Info> {
        let mut info = Info::of(&self.plan, self.contexts.len());
        let flow = Flow { number: Number::F32, access: Access::Buffered };
        match self.cut(flow, flow, &self.contexts) {
            Ok(cut) => info.set_cut(&cut),
            Err(e) if is_too_little(&e) => {}
            Err(e) => return Err(e),
        }
        Ok(info)
    }

    /// The cut of a scan for `contexts`.
    ///
    /// # Errors
    /// As [`Setting::task`], [`Task::cut`], [`CpuOps::new`] and [`GpuOps::new`].
    pub fn cut(&self, input: Flow, output: Flow, contexts: &[Arc<Context>]) -> Result<Cut> {
        let (task, context) = (self.task(input, output, contexts)?, &contexts[0]);
        match self.device(context) {
            Device::Cpu => task.cut(&CpuOps::new(context, &self.plan, None)?),
            Device::Double => task.cut(&DoubleOps::new(context, None)),
            Device::Gpu(gpu) => task.cut(&GpuOps::new(context, gpu, &self.plan, self.counts.clone())?),
        }
    }

    /// Type in which line integrals of pixels of type `number` are stored. In F64 precision it is F64, unless the
    /// pixels are line integrals that F32 holds exactly.
    pub fn stored(&self, number: Number) -> Number {
        let is_narrow =
            matches!(number, Number::U8 | Number::I8 | Number::U16 | Number::I16 | Number::F16 | Number::F32);
        let is_exact = self.counts.is_none() && is_narrow;
        if self.plan.options.precision == Precision::F64 && !is_exact { Number::F64 } else { Number::F32 }
    }

    /// Least host memory, in bytes, to push a scan whose line integrals take `integrals` bytes in type `stored`. It is
    /// the smaller of two: the volume in one slab for each device, with views of type `number`; or the line integrals
    /// and the smallest slab.
    ///
    /// # Errors
    /// As [`Setting::task`], [`CpuOps::new`] and [`GpuOps::new`].
    pub fn least_pushed(&self, number: Number, (stored, integrals): (Number, u64)) -> Result<u64> {
        let context = &self.contexts[0];
        let is_gpu = matches!(self.device(context), Device::Gpu(_));
        let flow = |number, access| Flow { number, access };
        let output = flow(Number::F32, Access::Buffered);
        let in_core = self.task(flow(number, Access::Buffered), output, &self.contexts)?;
        let access = if is_gpu { Access::Buffered } else { Access::Direct };
        let slab = self.task(flow(stored, access), output, &self.contexts)?;
        fn both(in_core: &Task<'_>, slab: &Task<'_>, ops: &impl FdkOps) -> (Option<Needs>, Needs) {
            (in_core.least_in_core(ops), slab.least(ops))
        }
        let (one, least) = match self.device(context) {
            Device::Cpu => both(&in_core, &slab, &CpuOps::new(context, &self.plan, self.counts.clone())?),
            Device::Double => both(&in_core, &slab, &DoubleOps::new(context, self.counts.clone())),
            Device::Gpu(gpu) => both(&in_core, &slab, &GpuOps::new(context, gpu, &self.plan, self.counts.clone())?),
        };
        let stored = least.host.saturating_add(integrals);
        let one = one.filter(|needs| needs.device <= in_core.available.device);
        Ok(one.map_or(stored, |needs| needs.host.min(stored)))
    }

    /// The slices of every slab.
    fn slabs(&self, context: &Arc<Context>, cut: &Cut) -> Result<Vec<Slices>> {
        let plan = &*self.plan;
        fn of(ops: &impl FdkOps, plan: &Plan, cut: &Cut) -> Vec<Slices> {
            (0..cut.slabs).map(|k| cut.slab(ops, plan, k)).collect()
        }
        Ok(match self.device(context) {
            Device::Cpu => of(&CpuOps::new(context, plan, None)?, plan, cut),
            Device::Double => of(&DoubleOps::new(context, None), plan, cut),
            Device::Gpu(gpu) => of(&GpuOps::new(context, gpu, plan, None)?, plan, cut),
        })
    }

    /// The input of a cut for `contexts`.
    ///
    /// # Errors
    /// As [`group::free_device_memory`]; [`Error::Internal`] for no contexts.
    pub fn task(&self, input: Flow, output: Flow, contexts: &[Arc<Context>]) -> Result<Task<'_>> {
        let members: Vec<&Context> = contexts.iter().map(Arc::as_ref).collect();
        let free = group::free_device_memory(&members)?;
        let least = members.iter().zip(free).map(|(c, free)| Available::of(c, free)).reduce(Available::least);
        let available =
            least.ok_or_else(|| Error::Internal("a run without a context".into()))?.inside_free(contexts.len());
        Ok(Task { plan: &self.plan, input, output, devices: contexts.len(), available })
    }
}

/// Reconstructs a whole scan, whose sizes are checked. Sets the figures of `info`, and warns of pixels that are not finite.
pub(super) fn whole(
    setting: &Setting,
    queue: Option<&GpuStream>,
    input: Projections<'_>,
    output: Volume<'_>,
    progress: &Progress<'_>,
    info: &mut Info,
) -> Result<()> {
    let too_large = unwarned(setting, queue, input, output, progress, info)?;
    warn_not_finite(&setting.contexts[0], info, too_large, setting.plan.largest_pixel);
    Ok(())
}

/// As [`whole`], without the warning about pixels that are not finite. Returns how many of them were too large instead.
pub(super) fn unwarned(
    setting: &Setting,
    queue: Option<&GpuStream>,
    input: Projections<'_>,
    output: Volume<'_>,
    progress: &Progress<'_>,
    info: &mut Info,
) -> Result<u64> {
    let start = Instant::now();
    let (plan, first) = (&*setting.plan, &*setting.contexts[0]);
    let device = setting.device(first);
    let budgets = setting.contexts.iter().map(|c| (c.host_budget().restart_peak(), c.device_budget().restart_peak()));
    let base: Vec<(u64, u64)> = budgets.collect();
    let (input_flow, input) = open_input(&device, input, first)?;
    let (output_flow, output) = open_output(plan, &device, output, first)?;
    // With an array on a device, that device alone computes.
    let is_resident = [input_flow, output_flow].iter().any(|f| f.access == Access::Resident);
    let contexts = if is_resident { &setting.contexts[..1] } else { &setting.contexts[..] };
    let cut = setting.cut(input_flow, output_flow, contexts)?;
    info.set_cut(&cut);
    let whole = MultiDeviceRun { setting, contexts, cut: &cut, input: &input, queue, progress };
    let (times, tally) = whole.share_out(output)?;
    set_peaks(info, contexts, &base);
    let updates = plan.views.len() as f64 * plan.voxels() as f64;
    info.set_run(&times, &tally, start.elapsed().as_secs_f64(), updates, plan.options.sanitize);
    Ok(tally.defects.too_large)
}

/// Logs the number of pixels that were not finite, once a run; `too_large` of them were finite numbers beyond `largest`.
pub(super) fn warn_not_finite(context: &Context, info: &Info, too_large: u64, largest: f64) {
    let outcome = if info.pixels_sanitized > 0 {
        "they count as 0"
    } else {
        "the voxels that their rows contribute to are not finite (sanitize replaces them by 0)"
    };
    warn_of_pixels(context, "projections", (info.pixels_not_finite, number(too_large)), (largest, outcome));
}

/// As [`warn_not_finite`] for filtered rows of a caller's `weighted` pixels.
pub(super) fn warn_of_rows(context: &Context, plan: &Plan, defects: PixelDefects) {
    let outcome =
        if plan.options.sanitize { "they count as 0" } else { "their rows are NaN (sanitize replaces them by 0)" };
    let largest = f64::from(plan.largest_single());
    warn_of_pixels(context, "weighted", (number(defects.not_finite), number(defects.too_large)), (largest, outcome));
}

/// Logs that the type cannot hold `bad` pixels of an argument, and their outcome. `too_large` of them are finite
/// numbers beyond `largest`.
fn warn_of_pixels(context: &Context, name: &str, (bad, too_large): (i64, i64), (largest, outcome): (f64, &str)) {
    if bad > 0 {
        context.log().log(Level::Warn, || {
            format!("{name}: {bad} pixels are {}; {outcome}", too_large_text(bad, too_large, largest))
        });
    }
}

/// Describes `bad` pixels; `too_large` of them are finite numbers beyond `largest`.
fn too_large_text(bad: i64, too_large: i64, largest: f64) -> String {
    let precision = if largest <= f64::from(f32::MAX) { "F32" } else { "F64" };
    let limit = format!("beyond {largest:.3e}, the largest that {precision} precision takes");
    match too_large {
        0 => "not finite".into(),
        n if n >= bad => limit,
        n => format!("not finite or {limit}, which {n} are"),
    }
}

/// Sets the measured peaks, without the bytes that were charged before the run.
pub(super) fn set_peaks(info: &mut Info, contexts: &[Arc<Context>], base: &[(u64, u64)]) {
    let (mut host, mut device) = (0, 0);
    for (context, (host_base, device_base)) in contexts.iter().zip(base) {
        host = context.host_budget().peak().saturating_sub(*host_base).max(host);
        device = context.device_budget().peak().saturating_sub(*device_base).max(device);
    }
    info.host_bytes_used = number(host);
    info.device_bytes_used = number(device);
}

/// A run on several devices.
struct MultiDeviceRun<'a, 's> {
    setting: &'a Setting,
    contexts: &'a [Arc<Context>],
    cut: &'a Cut,
    input: &'a OpenedInput<'s>,
    queue: Option<&'a GpuStream>,
    progress: &'a Progress<'a>,
}

/// Pieces of a volume in host memory, each with its first slice.
type Pieces<'s> = Vec<(usize, &'s mut [u8])>;

impl<'s> MultiDeviceRun<'_, 's> {
    /// Splits the volume into the pieces that each device writes.
    fn deal_out(&self, memory: &'s mut [u8]) -> Result<Vec<Pieces<'s>>> {
        let (plan, cut) = (&*self.setting.plan, self.cut);
        let [nx, ny, _] = plan.grid.size;
        let slice = nx * ny * cut.output.number.size();
        let devices = self.contexts.len();
        let mut pieces = Vec::with_capacity(2 * cut.slabs);
        for (k, slices) in self.setting.slabs(&self.contexts[0], cut)?.into_iter().enumerate() {
            pieces.extend(slices.pieces().map(|p| (p, k % devices)));
        }
        pieces.sort_unstable();
        let mut dealt: Vec<Vec<_>> = (0..devices).map(|_| Vec::new()).collect();
        let (mut rest, mut done) = (memory, 0);
        for ((first, count), device) in pieces {
            if first != done {
                return Err(Error::Internal(format!("slices {done} to {first} belong to no slab")));
            }
            let (piece, tail) = std::mem::take(&mut rest).split_at_mut(count * slice);
            dealt[device].push((first, piece));
            (rest, done) = (tail, first + count);
        }
        Ok(dealt)
    }

    /// Runs on every context; the first uses the calling thread.
    fn share_out(&self, output: OpenedOutput<'s>) -> Result<(Times, Tally)> {
        let count = self.contexts.len();
        let (plan, cut) = (&*self.setting.plan, self.cut);
        let mut borrowed: Vec<Vec<(usize, &'s mut [u8])>> = (0..count).map(|_| Vec::new()).collect();
        let mut volume = None;
        let sink = match output {
            OpenedOutput::Write(sink) => Some(sink),
            OpenedOutput::Borrowed(memory) => {
                borrowed = self.deal_out(memory)?;
                None
            }
            OpenedOutput::Device(memory) => {
                volume = Some(memory);
                None
            }
        };
        let job = Job { plan, volume: volume.filter(|_| cut.output.number == Number::F32) };
        let (steps, done) = (to_i64(steps(plan, cut)), AtomicUsize::new(0));
        let abort = Arc::new(AtomicU64::new(0));
        let flag = self.progress.flag().and(&abort);
        let flag = &flag;
        let parts = borrowed.into_iter().enumerate().map(|(device, slabs)| Part {
            job,
            cut,
            share: Share { device, devices: count },
            input: self.input,
            output: match (&sink, volume) {
                (Some(sink), _) => PartOut::Write(sink),
                (None, Some(volume)) => PartOut::Device(volume),
                (None, None) => PartOut::Borrowed(slabs),
            },
            flag,
        });
        let so_far = || to_i64(done.load(Ordering::Relaxed));
        let report = || self.progress.report(so_far(), steps, 0.0);
        let here: Here<'_> = (self.queue, &|views| match views {
            0 => self.progress.repeat((so_far(), steps, 0.0)),
            _ => {
                done.fetch_add(views, Ordering::Relaxed);
                report()
            }
        });
        let (setting, done) = (self.setting, &done);
        let jobs = parts.zip(self.contexts).collect();
        let outcomes = team::together("purlin-fdk", &abort, jobs, here, Some(&report), |(part, context), here| {
            let (queue, step) = here.unzip();
            run_on(setting, context, queue.flatten(), part, &mut |views| match step {
                Some(step) => step(views),
                None => {
                    done.fetch_add(views, Ordering::Relaxed);
                    Ok(())
                }
            })
        })?;
        let total = gather(outcomes);
        plan.check_overflow(cut.output.number, total.1.overflown)?;
        if let Some(sink) = &sink {
            // If the run was cancelled while the last slices were written, no file gets its final name.
            self.progress.check()?;
            sink.finish()?;
        }
        Ok(total)
    }
}

/// The part of a run on the calling thread: its queue, and the function that is called with the views of each step.
type Here<'h> = (Option<&'h GpuStream>, &'h dyn Fn(usize) -> Result<()>);

/// Sums the times and counts of all devices.
fn gather(outcomes: Vec<(Times, Tally)>) -> (Times, Tally) {
    let (mut times, mut tally) = (Times::default(), Tally::default());
    for (t, c) in outcomes {
        times.read += t.read;
        times.write += t.write;
        tally += c;
    }
    (times, tally)
}

fn run_on(
    setting: &Setting,
    context: &Arc<Context>,
    queue: Option<&GpuStream>,
    part: Part<'_, '_>,
    step: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<(Times, Tally)> {
    let counts = setting.counts.clone();
    match setting.device(context) {
        Device::Cpu => part.run(&mut CpuOps::new(context, &setting.plan, counts)?, None, step),
        Device::Double => part.run(&mut DoubleOps::new(context, counts), None, step),
        Device::Gpu(gpu) => {
            let mut ops = GpuOps::new(context, gpu, &setting.plan, counts)?;
            run_overlapped(&mut ops, queue, part, step)
        }
    }
}
