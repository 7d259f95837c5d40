//! The operations of a reconstruction on the threads of a context.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::counts::{Counts, PixelDefects, too_large};
use super::super::cut::{Access, Cut, Flow, Needs};
use super::super::ops::{BUFFERS, FdkOps, Job, Pixels, Slices, Tally, Target, Watch};
use super::super::plan::{Batch, Plan};
use super::backproject;
use super::filter::{Filter, Layout};
use super::layout::SLICE_GROUP;
use super::slab::Slab;
use crate::backend::cpu::Pool;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::{Charge, HostMemory};
use crate::blocks::number::{Number, decode, encode};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Views of a batch: enough to keep each voxel's sum in a register for several views, few enough for the caches.
const BATCH: usize = 16;

/// FDK on the threads of a context.
pub struct CpuOps {
    context: Arc<Context>,
    counts: Option<Arc<Counts>>,
    filter: Filter,
    input: Number,
    output: Number,
    slab: Option<(Slab, Charge)>,
    /// For the tables and buffers of the filter.
    filter_charge: Option<Charge>,
    first: usize,
    /// Line integrals of a batch.
    pixels: Option<HostMemory>,
    filtered: Option<HostMemory>,
    /// Slices in f32 before conversion to another output type.
    values: Option<HostMemory>,
    tally: Tally,
}

impl CpuOps {
    /// The operations for a plan.
    ///
    /// # Errors
    /// As [`Filter::new`].
    pub fn new(context: &Arc<Context>, plan: &Plan, counts: Option<Arc<Counts>>) -> Result<Self> {
        Ok(Self {
            context: Arc::clone(context),
            counts,
            filter: Filter::new(context.isa(), plan)?,
            input: Number::F32,
            output: Number::F32,
            slab: None,
            filter_charge: None,
            first: 0,
            pixels: None,
            filtered: None,
            values: None,
            tally: Tally::default(),
        })
    }
}

/// Runs `work` and adds its seconds to `total`.
pub(in crate::fdk) fn timed<R>(total: &mut f64, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *total += Duration::as_secs_f64(&start.elapsed());
    result
}

/// The error of a run whose memory was not prepared.
pub(in crate::fdk) fn unprepared() -> Error {
    Error::Internal("a slab that was not begun".into())
}

/// Bytes of the pipeline's buffers on the host.
pub(in crate::fdk) fn pipeline_bytes(plan: &Plan, cut: &Cut) -> u64 {
    let [nx, ny, _] = plan.grid.size;
    let read = cut.batch * cut.rows * plan.geometry.detector.columns * cut.input.number.size();
    let write = cut.write_slices * nx * ny * cut.output.number.size();
    let used =
        |flow: Flow, bytes: usize| if flow.access == Access::Buffered { to_u64(BUFFERS) * to_u64(bytes) } else { 0 };
    used(cut.input, read) + used(cut.output, write)
}

impl FdkOps for CpuOps {
    type Buffer = HostMemory;

    fn slice_group(&self) -> usize {
        SLICE_GROUP
    }

    fn preferred_slices(&self, plan: &Plan, _: Flow, _: Flow, devices: usize) -> (usize, usize) {
        let each = plan.grid.size[2].div_ceil(devices.max(1));
        (each, each)
    }

    fn preferred_batch(&self, _: &Plan, _: Flow) -> (usize, usize) {
        (BATCH, BATCH)
    }

    fn write_slices(&self, _: &Plan) -> usize {
        SLICE_GROUP
    }

    fn needs(&self, plan: &Plan, cut: &Cut) -> Needs {
        let [nx, ny, _] = plan.grid.size;
        let pixels = cut.batch * cut.rows * plan.geometry.detector.columns;
        let filtered = cut.batch * Layout::Columns.samples(plan, cut.rows);
        let values = cut.write_slices * nx * ny;
        let host = Slab::bytes(&plan.grid, cut.first.max(cut.slices)) + 4 * to_u64(pixels + filtered + values);
        let filter = Filter::bytes(plan, self.context.pool().threads());
        Needs { host: (host + pipeline_bytes(plan, cut)).saturating_add(filter), device: 0 }
    }

    fn buffer(&self, what: &'static str, bytes: usize) -> Result<HostMemory> {
        HostMemory::allocate(what, bytes, self.context.host_budget())
    }

    fn prepare(&mut self, job: Job<'_>, cut: &Cut) -> Result<()> {
        let plan = job.plan;
        (self.input, self.output) = (cut.input.number, cut.output.number);
        let budget = Arc::clone(self.context.host_budget());
        let allocate = |what, count: usize| HostMemory::allocate(what, 4 * count, &budget).map(Some);
        let [nx, ny, _] = plan.grid.size;
        (self.pixels, self.filtered, self.values, self.slab) = (None, None, None, None);
        self.filter_charge = None;
        self.filter_charge = Some(Filter::charge(&self.context, plan)?);
        self.pixels = allocate("line integrals", cut.batch * cut.rows * plan.geometry.detector.columns)?;
        self.filtered = allocate("filtered projections", cut.batch * Layout::Columns.samples(plan, cut.rows))?;
        self.values = allocate("slices on their way out", cut.write_slices * nx * ny)?;
        let bytes = usize::try_from(Slab::bytes(&plan.grid, cut.first.max(cut.slices))).unwrap_or(usize::MAX);
        let charge = budget.charge_host("slices of the volume", bytes)?;
        self.slab = Some((Slab::new(&plan.grid, cut.first.max(cut.slices))?, charge));
        Ok(())
    }

    fn begin(&mut self, _: Job<'_>, slices: Slices, watch: &mut Watch<'_>) -> Result<()> {
        let (first, count) = slices.main;
        self.first = first;
        self.slab.as_mut().ok_or_else(unprepared)?.0.reset(self.context.pool(), count, watch)
    }

    fn add(
        &mut self,
        job: Job<'_>,
        batch: Batch<'_>,
        pixels: Pixels<'_, '_, HostMemory>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let plan = job.plan;
        if batch.rows == 0 {
            return Ok(());
        }
        let (pool, tally) = (self.context.pool(), &mut self.tally);
        let count = batch.views.len() * batch.rows * plan.geometry.detector.columns;
        let integrals = &mut self.pixels.as_mut().ok_or_else(unprepared)?.as_mut_slice::<f32>()?[..count];
        let samples = batch.views.len() * Layout::Columns.samples(plan, batch.rows);
        let filtered = &mut self.filtered.as_mut().ok_or_else(unprepared)?.as_mut_slice::<f32>()?[..samples];
        let bytes = match &pixels {
            Pixels::Read(buffer) => Rows { bytes: buffer.as_slice()?, is_whole_scan: false },
            Pixels::Borrowed(borrowed) => Rows { bytes: borrowed.scan, is_whole_scan: true },
            Pixels::Device { .. } => return Err(Error::Internal("projections on a device in a run on the CPU".into())),
        };
        timed(&mut tally.filter, || {
            let counts = self.counts.as_deref();
            tally.defects += bytes.convert(&self.context, plan, batch, self.input, counts, integrals, watch)?;
            tally.not_finite += self.filter.run(pool, plan, batch, integrals, (Layout::Columns, filtered), watch)?;
            Ok(())
        })?;
        let (slab, _) = self.slab.as_mut().ok_or_else(unprepared)?;
        timed(&mut tally.backproject, || {
            backproject::backproject(pool, self.context.isa(), plan, batch, filtered, self.first, slab, watch)
        })
    }

    fn set_output(&mut self, number: Number) {
        self.output = number;
    }

    fn store(&mut self, job: Job<'_>, first: usize, count: usize, to: Target<'_, '_, HostMemory>) -> Result<()> {
        let plan = job.plan;
        let [nx, ny, _] = plan.grid.size;
        let (slice, pool, number) = (nx * ny, self.context.pool(), self.output);
        let first = first - self.first;
        let (slab, _) = self.slab.as_ref().ok_or_else(unprepared)?;
        // A volume in f64 is scaled in f64, below.
        let (scale, offset) = match number {
            Number::F64 => (1.0, 0.0),
            _ => (plan.options.output_scale as f32, plan.options.output_offset as f32),
        };
        let out = match to {
            Target::Write(buffer) if number == Number::F32 => {
                let out = &mut buffer.as_mut_slice::<f32>()?[..count * slice];
                timed(&mut self.tally.download, || slab.store(pool, first, scale, offset, out));
                if plan.options.fov_mask {
                    let bytes = &mut buffer.as_mut_slice::<u8>()?[..count * slice * number.size()];
                    plan.mask_unseen(self.first + first, number, bytes);
                }
                if !plan.is_plain() {
                    self.tally.overflown += infinities(pool, number, buffer.as_slice::<u8>()?, count * slice);
                }
                return Ok(());
            }
            Target::Write(buffer) => buffer.as_mut_slice::<u8>()?,
            Target::Borrowed(out, _) => out,
            Target::Device(_) => return Err(Error::Internal("a volume on a device in a run on the CPU".into())),
        };
        let values = self.values.as_mut().ok_or_else(unprepared)?.as_mut_slice::<f32>()?;
        let together = (values.len() / slice.max(1)).max(1);
        timed(&mut self.tally.download, || {
            for (n, out) in
                out[..count * slice * number.size()].chunks_mut(together * slice * number.size()).enumerate()
            {
                let values = &mut values[..out.len() / number.size()];
                slab.store(pool, first + n * together, scale, offset, values);
                match number {
                    Number::F64 => scale_all(pool, plan, values, out),
                    _ => encode_all(&self.context, number, values, out),
                }
            }
        });
        if plan.options.fov_mask {
            plan.mask_unseen(self.first + first, number, &mut out[..count * slice * number.size()]);
        }
        if !plan.is_plain() || number == Number::F16 {
            self.tally.overflown += infinities(pool, number, out, count * slice);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Tally> {
        Ok(std::mem::take(&mut self.tally))
    }
}

/// Elements in one unit of parallel conversion.
const PIECE: usize = 1 << 16;

/// As [`encode`], by all threads of the pool.
pub(in crate::fdk) fn encode_all<T: crate::blocks::number::Convertible>(
    context: &Context,
    number: Number,
    values: &[T],
    out: &mut [u8],
) {
    context.pool().run(|| {
        let parts = values.par_chunks(PIECE).zip(out.par_chunks_mut(PIECE * number.size()));
        parts.for_each(|(values, out)| encode(number, values, out));
    });
}

/// Writes sums in f64: the scale times them plus the offset, both in f64, because f32 may not hold them.
fn scale_all(pool: &Pool, plan: &Plan, values: &[f32], out: &mut [u8]) {
    let (scale, offset) = (plan.options.output_scale, plan.options.output_offset);
    pool.run(|| {
        let parts = values.par_chunks(PIECE).zip(out.par_chunks_mut(PIECE * size_of::<f64>()));
        parts.for_each(|(values, out)| {
            for (value, out) in values.iter().zip(out.chunks_exact_mut(size_of::<f64>())) {
                out.copy_from_slice(&(f64::from(*value) * scale + offset).to_ne_bytes());
            }
        });
    });
}

/// Infinities in `voxels` voxels of an output. The sums are finite or NaN, so these are beyond the range of the type.
pub(in crate::fdk) fn infinities(pool: &Pool, number: Number, out: &[u8], voxels: usize) -> u64 {
    let count = |out: &[u8]| match number {
        Number::F16 => out.chunks_exact(2).filter(|b| u16::from_ne_bytes([b[0], b[1]]) & 0x7fff == 0x7c00).count(),
        Number::F32 => {
            out.chunks_exact(4).filter(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]]).is_infinite()).count()
        }
        Number::F64 => {
            let mut word = [0u8; 8];
            let mut is_infinite = |b: &&[u8]| {
                word.copy_from_slice(b);
                f64::from_ne_bytes(word).is_infinite()
            };
            out.chunks_exact(8).filter(|b| is_infinite(b)).count()
        }
        // Integers saturate.
        _ => 0,
    };
    let out = &out[..voxels * number.size()];
    pool.run(|| out.par_chunks(PIECE * number.size()).map(|part| to_u64(count(part))).sum())
}

/// Raw rows of a batch.
pub(in crate::fdk) struct Rows<'a> {
    /// Elements as they were read, [columns, rows, views].
    pub bytes: &'a [u8],
    /// Whether `bytes` hold the whole scan, instead of the batch alone.
    pub is_whole_scan: bool,
}

impl Rows<'_> {
    /// Converts the rows to line integrals; returns the clamped, negative and non-finite counts. Looks at each row.
    ///
    /// # Errors
    /// As [`Watch::run`].
    #[expect(clippy::too_many_arguments, reason = "the parts of a batch")]
    pub fn convert<T: super::super::counts::LineIntegral>(
        &self,
        context: &Context,
        plan: &Plan,
        batch: Batch<'_>,
        number: Number,
        counts: Option<&Counts>,
        pixels: &mut [T],
        watch: &mut Watch<'_>,
    ) -> Result<PixelDefects> {
        let d = &plan.geometry.detector;
        let (columns, size) = (d.columns, d.columns * number.size());
        watch.run(context.pool(), |poll| {
            pixels
                .par_chunks_mut(columns)
                .enumerate()
                .map(|(n, row)| {
                    poll()?;
                    let (view, j) = (n / batch.rows, batch.first_row + n % batch.rows);
                    let at = if self.is_whole_scan { batch.views[view] * d.rows + j } else { n };
                    let raw = &self.bytes[at * size..(at + 1) * size];
                    let mut defects = PixelDefects::default();
                    match counts {
                        Some(counts) => defects = counts.convert(number, raw, j * columns, row),
                        None => decode(number, raw, row),
                    }
                    defects.too_large = too_large(number, raw, row, plan.largest_pixel);
                    Ok(defects)
                })
                .sum()
        })
    }
}
