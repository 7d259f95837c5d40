//! A scan that arrives view by view.
//!
//! If the volume fits the devices, each view is added to it on arrival: the host fills a batch while the device computes
//! the previous ones. Otherwise the views are stored as line integrals, and the finish reconstructs slab by slab.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::algorithm::Times;
use super::counts::{LineIntegral, PixelDefects, too_large};
use super::cut::{Access, Available, Flow, PUSHED, beside_views};
use super::info::Info;
use super::inputs::{Device, Projections, Volume};
use super::lane::{Incoming, Stage, lanes};
use super::limits::fits;
use super::open;
use super::ops::{Tally, Watch};
use super::plan::Plan;
use super::run::{self, Setting};
use super::session::Fdk;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::GpuStream;
use crate::blocks::number::{Number, decode};
use crate::blocks::tensor::TensorSink;
use crate::error::{Error, Result};
use crate::progress::{Progress, ProgressFn};
use crate::scalar::{DType, Real};
use crate::shape::{self, Order, to_i64, to_u64};
use crate::stream::{self, Stream};
use crate::tensor::{Location, Tensor};

/// State of a scan between begin and finish.
pub(super) struct Pushed {
    store: Store,
    /// For each view, whether it was pushed.
    seen: Vec<bool>,
    count: usize,
    /// Type of the pixels; `None` before the first push.
    number: Option<Number>,
    queue: Option<GpuStream>,
    /// Value of the cancel counter at the begin.
    start: u64,
    began: Option<Instant>,
    /// Host and device bytes that each context had charged before the scan.
    base: Vec<(u64, u64)>,
    /// The figures of the scan.
    info: Info,
    /// When progress was last reported.
    reported: Option<Instant>,
    /// Whether a batch was lost by a failure, so that no finish can succeed.
    is_spoiled: bool,
}

/// Least time between two progress reports of pushes; the last view always reports.
const INTERVAL: Duration = Duration::from_millis(50);

enum Store {
    /// The unfinished volume, one slab for each device.
    Lanes(Vec<Box<dyn Stage>>),
    /// The views, as line integrals.
    Views { views: Tensor, bytes: u64, defects: PixelDefects },
}

impl Pushed {
    fn new(fdk: &Fdk, queue: Option<&GpuStream>, number: Number, watch: &mut Watch<'_>) -> Result<Self> {
        let mut info = Info::of(fdk.plan(), fdk.setting.contexts.len());
        let setting = &fdk.setting;
        let base = setting.contexts.iter().map(|c| (c.host_budget().restart_peak(), c.device_budget().restart_peak()));
        let base = base.collect();
        let plan = &setting.plan;
        let d = &plan.geometry.detector;
        let store = match lanes(setting, number, watch)? {
            Some((lanes, cut)) => {
                info.set_cut(&cut);
                Store::Lanes(lanes)
            }
            None => {
                let dims = [d.columns, d.rows, plan.views.len()];
                let order = Order::ColumnMajor;
                let available = Available::of(&setting.contexts[0], u64::MAX).inside_free(1);
                let stored = setting.stored(number);
                let bytes = to_u64(dims.iter().product::<usize>()) * to_u64(stored.size());
                available.check_host(PUSHED, setting.least_pushed(number, (stored, bytes))?)?;
                let views = Tensor::create(&setting.contexts[0], stored.dtype(), Location::Host, order, &dims)?;
                // The remaining memory must hold the smallest slab; otherwise the finish would fail and lose the scan.
                let access = if let Device::Gpu(_) = setting.device(&setting.contexts[0]) {
                    Access::Buffered
                } else {
                    Access::Direct
                };
                let output = Flow { number: Number::F32, access: Access::Buffered };
                let cut = setting
                    .cut(Flow { number: stored, access }, output, &setting.contexts)
                    .map_err(|e| beside_views(e, bytes))?;
                info.set_cut(&cut);
                info.host_bytes = info.host_bytes.saturating_add(super::info::number(bytes));
                Store::Views { views, bytes, defects: PixelDefects::default() }
            }
        };
        let seen = alloc::filled("views seen", plan.views.len(), false)?;
        let start = fdk.epoch();
        Ok(Self {
            store,
            seen,
            count: 0,
            number: None,
            queue: queue.cloned(),
            start,
            began: None,
            base,
            info,
            reported: None,
            is_spoiled: false,
        })
    }

    fn push(
        &mut self,
        setting: &Setting,
        views: &[usize],
        tensor: &Tensor,
        number: Number,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let plan = &*setting.plan;
        if let (Store::Lanes(lanes), true) = (&mut self.store, tensor.is_device()) {
            if !tensor.layout().is_packed(Order::ColumnMajor) {
                let problem = "projections: is strided device memory, packed is needed";
                return Err(Error::NotSupported(problem.into()));
            }
            if lanes.len() > 1 {
                let problem = "projections: is on one device, several contexts share the volume";
                return Err(Error::NotSupported(problem.into()));
            }
            let memory = tensor.memory().device("projections")?;
            return lanes.iter_mut().try_for_each(|l| l.push_device(plan, views, memory, self.queue.as_ref(), watch));
        }
        let strides = tensor.layout().strides();
        let from = Incoming {
            bytes: tensor.memory().host("projections")?.as_slice()?,
            number,
            strides: [strides[0], strides[1], strides.get(2).copied().unwrap_or(0)],
            context: &setting.contexts[0],
        };
        match &mut self.store {
            Store::Lanes(lanes) => lanes.iter_mut().try_for_each(|l| l.push(plan, views, &from, watch)),
            Store::Views { views: stored, defects, .. } => {
                *defects += match stored.dtype() {
                    DType::F64 => store_views::<f64>(setting, stored, views, &from, watch)?,
                    _ => store_views::<f32>(setting, stored, views, &from, watch)?,
                };
                Ok(())
            }
        }
    }
}

/// Stores views as line integrals in `stored`; returns the clamped, negative and non-finite counts.
fn store_views<T: LineIntegral>(
    setting: &Setting,
    stored: &mut Tensor,
    views: &[usize],
    from: &Incoming<'_>,
    watch: &mut Watch<'_>,
) -> Result<PixelDefects> {
    let d = &setting.plan.geometry.detector;
    let memory = stored.memory_mut("views")?.host_mut("views")?.as_mut_slice::<T>()?;
    let mut raw = alloc::filled("rows of a view", d.columns * d.rows * from.number.size(), 0u8)?;
    let panel = d.columns * d.rows;
    let mut defects = PixelDefects::default();
    for (k, view) in views.iter().enumerate() {
        // The work of one view may be too short for a wait, and the views of this push many.
        (watch.wait)()?;
        let counts = setting.counts.as_deref();
        defects += watch.run(from.context.pool(), |poll| {
            from.rows(k, 0..d.rows, d.columns, &mut raw, poll)?;
            let rows = memory[view * panel..(view + 1) * panel].par_chunks_mut(d.columns);
            rows.zip(raw.par_chunks(d.columns * from.number.size()))
                .enumerate()
                .map(|(j, (row, raw))| {
                    poll()?;
                    let mut defects = PixelDefects::default();
                    match counts {
                        Some(counts) => defects = counts.convert(from.number, raw, j * d.columns, row),
                        None => decode(from.number, raw, row),
                    }
                    // A power of two of at least 1; beyond the type it is the largest number there.
                    let largest = setting.plan.largest_pixel.min(T::MOST);
                    let bad = row.iter().filter(|p| !fits(**p, <T as Real>::from_f64(largest))).count();
                    defects.not_finite = to_u64(bad);
                    defects.too_large = too_large(from.number, raw, row, largest);
                    Ok(defects)
                })
                .sum::<Result<PixelDefects>>()
        })?;
    }
    Ok(defects)
}

impl Fdk {
    /// Begins a scan that is pushed view by view; drops one begun before. Its work starts after the work enqueued on `stream`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the limits hold neither the volume nor the scan's line integrals with the smallest slab of the
    /// volume.
    pub fn begin(&mut self, stream: Option<&Stream>) -> Result<()> {
        self.check_alive()?;
        self.slot.clear();
        let queue = stream::select(self.context(), stream)?;
        // Raw counts usually have 16 bits. Another type is prepared at its first push.
        let number = if self.setting.counts.is_some() { Number::U16 } else { Number::F32 };
        // Nothing cancels a scan that has not begun.
        let mut unwatched = Watch { flag: &Progress::none().flag(), wait: &mut || Ok(()) };
        let pushed = Pushed::new(self, queue, number, &mut unwatched)?;
        self.slot.planned().set(pushed.info.clone());
        // A cancellation that comes from here on is one of this scan, and its next call reports it.
        let _ = self.put_back(pushed);
        Ok(())
    }

    /// Puts a scan back that a call has taken out.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the scan was cancelled meanwhile; it is dropped then.
    pub(super) fn put_back(&self, pushed: Pushed) -> Result<()> {
        let start = pushed.start;
        self.slot.put(pushed);
        // Behind the lock of the slot: a cancellation has either counted before, or it finds the scan there.
        self.progress(None, start).check().inspect_err(|e| self.slot.end(e.clone()))
    }

    /// The error of a call that needs a pushed scan when there is none.
    fn no_scan(&self, purpose: &str) -> Error {
        match &self.slot.ended() {
            Some(Error::Cancelled) => Error::Cancelled,
            Some(e) => {
                let problem = format!("has no scan to {purpose}, which was dropped after \"{e}\": begin comes first");
                Error::invalid("fdk", problem)
            }
            None => Error::invalid("fdk", format!("has no scan to {purpose}: begin comes first")),
        }
    }

    /// Adds views of a scan, [columns, rows, count], or [columns, rows] for one. Returns as soon as the pixels are copied;
    /// waits while all buffers are in use. All views of a scan have one type.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] without a begin, for a view that is out of range or was pushed before, and for other
    /// sizes or another type; no view is added then. [`Error::Cancelled`] if somebody cancelled since the begin. This and a
    /// failure of the device drop the scan, and later calls report it until the next begin.
    pub fn push(&mut self, views: &[i64], projections: &Tensor) -> Result<()> {
        self.push_reporting(views, projections, None)
    }

    /// [`Fdk::push`]; `report` receives the pushed views and all views, at most every 50 ms, and at the last view.
    ///
    /// # Errors
    /// As for [`Fdk::push`]; [`Error::Cancelled`] also by `report`.
    pub fn push_reporting(
        &mut self,
        views: &[i64],
        projections: &Tensor,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<()> {
        self.check_alive()?;
        let Some(pushed) = self.slot.take() else {
            return Err(self.no_scan("push to"));
        };
        let checked = match self.progress(None, pushed.start).check() {
            Ok(()) => self.check_push(&pushed, views, projections),
            Err(e) => {
                drop(pushed);
                self.slot.end(e.clone());
                return Err(e);
            }
        };
        let (views, number) = match checked {
            Ok(checked) => checked,
            Err(e) => {
                // The next call reports a cancellation that came meanwhile.
                let _ = self.put_back(pushed);
                return Err(e);
            }
        };
        match self.take_in(pushed, &views, projections, number, report) {
            Ok(pushed) => {
                // As above.
                let _ = self.put_back(pushed);
                Ok(())
            }
            Err(e) => {
                self.slot.end(e.clone());
                Err(e)
            }
        }
    }

    /// Checks the arguments of a push. Returns the views as indices, and the type of the pixels.
    fn check_push(&self, pushed: &Pushed, views: &[i64], projections: &Tensor) -> Result<(Vec<usize>, Number)> {
        let views = check_views(&pushed.seen, views)?;
        let d = &self.plan().geometry.detector;
        let dims = [d.columns, d.rows, views.len()];
        let is_one = views.len() == 1 && projections.dims().len() == 2;
        self.check_projections(projections, if is_one { &dims[..2] } else { &dims })?;
        let number = Number::of("projections", projections.dtype())?;
        if let Some(before) = pushed.number.filter(|n| *n != number) {
            let (found, before) = (number.dtype().name(), before.dtype().name());
            let problem = format!("is {found}, the scan's views before were {before}");
            return Err(Error::invalid("projections", problem));
        }
        Ok((views, number))
    }

    /// Adds views to a scan, and returns it.
    fn take_in(
        &self,
        mut pushed: Pushed,
        views: &[usize],
        projections: &Tensor,
        number: Number,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Pushed> {
        let progress = self.progress(report, pushed.start);
        progress.check()?;
        let (count, all) = (to_i64(pushed.count), to_i64(pushed.seen.len()));
        let (flag, wait) = (progress.flag(), &mut || progress.repeat((count, all, 0.0)));
        let mut watch = Watch { flag: &flag, wait };
        let prepared = if self.setting.counts.is_some() { Number::U16 } else { Number::F32 };
        let is_prepared = match &pushed.store {
            Store::Lanes(_) => number == prepared,
            Store::Views { views, .. } => self.setting.stored(number).dtype() == views.dtype(),
        };
        if pushed.number.is_none() && !is_prepared {
            let (queue, start) = (pushed.queue.take(), pushed.start);
            drop(pushed);
            pushed = Pushed { start, ..Pushed::new(self, queue.as_ref(), number, &mut watch)? };
            self.slot.planned().set(pushed.info.clone());
        }
        pushed.began.get_or_insert_with(Instant::now);
        pushed.number = Some(number);
        pushed.push(&self.setting, views, projections, number, &mut watch)?;
        for view in views {
            pushed.seen[*view] = true;
        }
        pushed.count += views.len();
        let (count, all) = (to_i64(pushed.count), to_i64(pushed.seen.len()));
        pushed.info.views_pushed = count;
        self.slot.planned().change(|info| info.views_pushed = count);
        if count == all || pushed.reported.is_none_or(|t| t.elapsed() >= INTERVAL) {
            pushed.reported = Some(Instant::now());
            progress.report(count, all, 0.0)?;
        }
        Ok(pushed)
    }

    /// Completes the scan and writes its volume; a volume on the host is complete on return.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] without a begin, for views that are missing unless the options allow it, and for a
    /// volume of another size; [`Error::Numerical`] for voxels beyond the range of the volume's type; [`Error::Io`] from the
    /// sink, [`Error::OutOfMemory`]: after these the scan is kept, and the
    /// finish can be repeated. [`Error::Cancelled`], also if somebody cancelled since the begin, and failures of the device
    /// drop the scan.
    pub fn finish(&mut self, mut volume: Volume<'_>, report: Option<&ProgressFn<'_>>) -> Result<Info> {
        self.check_alive()?;
        self.check_volume(&volume)?;
        let Some(mut pushed) = self.slot.take() else {
            return Err(self.no_scan("finish"));
        };
        let progress = self.progress(report, pushed.start);
        let outcome = progress.check().and_then(|()| {
            self.check_complete(&pushed)?;
            self.place(&mut volume)?;
            self.complete(&mut pushed, volume, &progress)
        });
        match outcome {
            Ok(info) => {
                self.slot.finish(info.views_pushed);
                self.last.set(info.clone());
                Ok(info)
            }
            Err(e) if leaves_scan(&e) && !pushed.is_spoiled => {
                // The next call reports a cancellation that came meanwhile.
                let _ = self.put_back(pushed);
                Err(e)
            }
            Err(e) => {
                drop(pushed);
                self.slot.end(e.clone());
                Err(e)
            }
        }
    }

    /// Refuses a scan with missing views, unless the options allow it.
    fn check_complete(&self, pushed: &Pushed) -> Result<()> {
        if let Some(missing) = pushed.seen.iter().position(|s| !s)
            && !self.plan().options.allow_missing
        {
            let (count, all) = (pushed.seen.len() - pushed.count, pushed.seen.len());
            return Err(Error::invalid("views", format!("{count} of {all} are missing, the first is view {missing}")));
        }
        Ok(())
    }

    fn complete(&self, pushed: &mut Pushed, volume: Volume<'_>, progress: &Progress<'_>) -> Result<Info> {
        let mut info = pushed.info.clone();
        let plan = &*self.setting.plan;
        let began = pushed.began.unwrap_or_else(Instant::now);
        let updates = pushed.count as f64 * plan.voxels() as f64;
        match &mut pushed.store {
            Store::Views { views, bytes, defects } => {
                let (contexts, counts) = (self.setting.contexts.clone(), None);
                let setting = Setting { contexts, plan: Arc::clone(&self.setting.plan), counts };
                let input = Projections::Tensor(&*views);
                run::unwarned(&setting, pushed.queue.as_ref(), input, volume, progress, &mut info)
                    .map_err(|e| beside_views(e, *bytes))?;
                info.host_bytes = info.host_bytes.saturating_add(super::info::number(*bytes));
                info.pixels_clamped = super::info::number(defects.clamped);
                info.pixels_negative = super::info::number(defects.negative);
                // Every slab meets them again.
                info.pixels_not_finite = super::info::number(defects.not_finite);
                info.pixels_sanitized = if plan.options.sanitize { info.pixels_not_finite } else { 0 };
                let most = if views.dtype() == DType::F64 { f64::MOST } else { f32::MOST };
                let largest = plan.largest_pixel.min(most);
                run::warn_not_finite(self.context(), &info, defects.too_large, largest);
                info.seconds = began.elapsed().as_secs_f64();
                info.gups = updates / info.seconds / 1e9;
                run::set_peaks(&mut info, &self.setting.contexts, &pushed.base);
            }
            Store::Lanes(lanes) => {
                pushed.is_spoiled = true;
                let (done, all) = (to_i64(pushed.count.saturating_sub(1)), to_i64(pushed.count));
                let wait = &mut || progress.repeat((done, all, 0.0));
                let mut watch = Watch { flag: &progress.flag(), wait };
                lanes.iter_mut().try_for_each(|l| l.flush(plan, &mut watch))?;
                pushed.is_spoiled = false;
                let (times, tally) = self.deliver(lanes, volume, pushed.queue.as_ref(), progress)?;
                info.set_run(&times, &tally, began.elapsed().as_secs_f64(), updates, plan.options.sanitize);
                run::warn_not_finite(self.context(), &info, tally.defects.too_large, plan.largest_pixel);
                run::set_peaks(&mut info, &self.setting.contexts, &pushed.base);
                progress.report(to_i64(pushed.count), to_i64(pushed.count), 0.0)?;
            }
        }
        Ok(info)
    }

    /// Writes the finished slabs to the volume.
    fn deliver(
        &self,
        lanes: &mut [Box<dyn Stage>],
        volume: Volume<'_>,
        queue: Option<&GpuStream>,
        progress: &Progress<'_>,
    ) -> Result<(Times, Tally)> {
        let plan = &*self.setting.plan;
        let pool = self.context().pool();
        let [nx, ny, _] = plan.grid.size;
        progress.check()?;
        let mut times = Times::default();
        let number = match &volume {
            Volume::Tensor(tensor) => Number::of("volume", tensor.dtype())?,
            Volume::Sink(sink) => sink.info().number,
        };
        lanes.iter_mut().try_for_each(|l| l.set_output(number))?;
        let slice = nx * ny * number.size();
        let device = self.setting.device(self.context());
        let sink = match volume {
            Volume::Tensor(tensor) => match open::output_access(plan, &device, tensor)? {
                Access::Resident if lanes.len() > 1 => {
                    let problem = "volume: is on one device, several contexts share the volume";
                    return Err(Error::NotSupported(problem.into()));
                }
                Access::Resident => {
                    let memory = tensor.memory().device("volume")?;
                    lanes.iter_mut().try_for_each(|l| l.store_device(plan, memory, queue))?;
                    None
                }
                Access::Direct => {
                    let memory: &mut [u8] = tensor.memory_mut("volume")?.host_mut("volume")?.as_mut_slice()?;
                    for lane in lanes.iter_mut() {
                        progress.check()?;
                        lane.store_now(plan, memory, slice)?;
                    }
                    None
                }
                Access::Buffered => {
                    let sink = TensorSink::new("volume", tensor, pool)?;
                    Some(open::shared_sink(plan, Box::new(sink), self.context())?)
                }
            },
            Volume::Sink(sink) => Some(open::shared_sink(plan, Box::new(sink), self.context())?),
        };
        if let Some(sink) = sink {
            for lane in lanes.iter_mut() {
                times.write += lane.write(plan, &sink, &progress.flag())?.write;
            }
            let tally = counted(lanes, plan, number)?;
            progress.check()?;
            sink.finish()?;
            return Ok((times, tally));
        }
        Ok((times, counted(lanes, plan, number)?))
    }
}

/// The counts of a scan whose slabs are stored.
///
/// # Errors
/// [`Error::Numerical`] for voxels beyond the range of `number`, the type of the volume.
fn counted(lanes: &mut [Box<dyn Stage>], plan: &Plan, number: Number) -> Result<Tally> {
    let mut tally = Tally::default();
    for lane in lanes {
        tally += lane.finish()?;
    }
    plan.check_overflow(number, tally.overflown)?;
    Ok(tally)
}

/// Whether a finish that failed with `e` leaves the scan complete, so that the finish can be repeated.
fn leaves_scan(e: &Error) -> bool {
    use Error::{Busy, InvalidArgument, Io, NotSupported, Numerical, OutOfDeviceMemory, OutOfMemory};
    matches!(
        e,
        Io { .. }
            | OutOfMemory { .. }
            | OutOfDeviceMemory { .. }
            | InvalidArgument { .. }
            | NotSupported(_)
            | Numerical(_)
            | Busy { .. }
    )
}

/// Converts view numbers to indices: each must be in range, not pushed before and listed once.
fn check_views(seen: &[bool], views: &[i64]) -> Result<Vec<usize>> {
    let mut checked: Vec<usize> = alloc::with_capacity("views", views.len())?;
    for (k, &view) in views.iter().enumerate() {
        let index = shape::index_in_list("views", k, view, seen.len())?;
        if seen[index] {
            return Err(Error::invalid("views", format!("element {k} is {view}, which was pushed before")));
        }
        checked.push(index);
    }
    let mut sorted = alloc::copied("views", &checked)?;
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
        return Err(Error::invalid("views", format!("name view {} twice", twice[0])));
    }
    Ok(checked)
}
