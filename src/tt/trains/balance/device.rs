//! Examines trains in device memory without copying them: finds unbalanced bonds, cores with a wide range of exponents,
//! and rings in which entries that contribute to the result may underflow.

use std::sync::Arc;

use super::powers::{self, Examined, WHAT, limit};
use super::range;
use super::ring_underflow;
use crate::alloc;
use crate::backend::cpu::flags;
use crate::backend::gpu::kernels::tt::bonds::{Bonds, Cores};
use crate::backend::gpu::kernels::tt::result;
use crate::backend::gpu::kernels::tt::rings::Ring;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, PendingDownload, Region, SideStream};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::to_u64;
use crate::stream::{self, Stream};
use crate::tensor::Location;
use crate::tensor::train::{TensorTrain, copy as copy_train};
use crate::trains::scaled::exponent_of;

/// Largest number of bytes of the keys of rows and columns in one launch. A key is the bit pattern of a largest
/// magnitude.
const KEYS: usize = 64 << 20;
/// Largest number of cores examined by one launch.
const CORES: usize = 1 << 14;
/// Alignment in bytes of the pieces of an examination's memory.
const GRAIN: usize = 256;

/// Shapes of the cores to examine: a uniform train is a ring of one core.
fn shapes_of(train: &TensorTrain) -> Result<Vec<[usize; 3]>> {
    let d = if train.is_uniform() { 1 } else { train.shape().len() };
    let mut shapes = alloc::with_capacity(WHAT, d)?;
    shapes.extend((0..d).map(|k| train.shape().core(k)));
    Ok(shapes)
}

/// The cores to examine, in device memory.
fn regions_of<'a>(train: &'a TensorTrain, shapes: &[[usize; 3]]) -> Result<Vec<Region<'a>>> {
    let size = train.dtype().size();
    let mut cores = alloc::with_capacity(WHAT, shapes.len())?;
    for k in 0..shapes.len() {
        let (memory, offset) = train.memory(k);
        cores.push(memory.device("x")?.region(offset * size, train.shape().core_len(k) * size)?);
    }
    Ok(cores)
}

/// Number of passes of a search through the examined cores of a ring, if a contraction passes through all sites `turns`
/// times.
fn times(train: &TensorTrain, shapes: &[[usize; 3]], turns: usize) -> usize {
    let passes = train.shape().len() / shapes.len().max(1);
    ring_underflow::turns(turns.saturating_mul(passes), shapes.len(), train.shape().max_rank())
}

/// Adds a train in device memory to the examined bonds. A contraction passes through its sites `turns` times.
fn add(bonds: &mut Bonds, train: &TensorTrain, turns: usize) -> Result<()> {
    let shapes = shapes_of(train)?;
    let cores = regions_of(train, &shapes)?;
    let times = times(train, &shapes, turns);
    bonds.add(train.dtype(), &shapes, &Cores::Of(&cores), times)
}

/// The bonds of trains on the device, all of one type.
fn bonds_of(trains: &[&TensorTrain], turns: Option<usize>) -> Result<Bonds> {
    let mut bonds = Bonds::default();
    trains.iter().try_for_each(|train| add(&mut bonds, train, turns.unwrap_or(1)))?;
    Ok(bonds)
}

/// The search of a ring on the device; `None` if the train is open.
fn ring_of(train: &TensorTrain, turns: usize) -> Result<Option<Ring>> {
    if !train.shape().is_cyclic() {
        return Ok(None);
    }
    let shapes = shapes_of(train)?;
    let cores = regions_of(train, &shapes)?;
    let times = times(train, &shapes, turns);
    Ring::new(train.dtype(), &shapes, &cores, times).map(Some)
}

/// Findings of an examination on the device.
#[derive(Clone, Copy, Default)]
pub(super) struct Findings {
    /// Whether a bond is unbalanced.
    is_graded: bool,
    /// Whether there is a ring in which some entries may be small enough to underflow beside others.
    may_underflow: bool,
    /// Whether a core's numbers are beyond [`range::most`].
    pub(super) is_wide: bool,
}

impl Findings {
    /// Whether the bonds are unbalanced, or a ring needs the search.
    pub(super) fn is_any(self) -> bool {
        self.is_graded || self.may_underflow
    }

    fn or(self, other: Self) -> Self {
        Self {
            is_graded: self.is_graded || other.is_graded,
            may_underflow: self.may_underflow || other.may_underflow,
            is_wide: self.is_wide || other.is_wide,
        }
    }
}

/// The device of an examination and a stream for it. The stream begins after the work that the caller's stream had when it
/// was reserved. Work that is enqueued on the caller's stream afterwards runs beside the examination.
pub(super) struct ExaminationStream {
    gpu: Gpu,
    stream: SideStream,
}

impl ExaminationStream {
    /// A stream to examine `trains`, behind the work on `stream`; `None` if no train is on the device.
    pub(super) fn new(
        context: &Arc<Context>,
        stream: Option<&Stream>,
        trains: &[&TensorTrain],
    ) -> Result<Option<Self>> {
        if !trains.iter().any(|train| train.is_device()) {
            return Ok(None);
        }
        let (gpu, queue) = queue(context, stream)?;
        let stream = gpu.side_of(&queue)?;
        Ok(Some(Self { gpu, stream }))
    }
}

/// A running examination of trains on a device.
pub(super) struct Examination {
    /// Three arrays of `count` 8-byte flags, one flag for each part, nonzero for yes: a bond is unbalanced; entries of
    /// a ring differ too much; entries of a core do. The kernels' memory begins at byte `used`.
    answers: DeviceMemory,
    /// The copy of the flags to the host, if it was enqueued behind them.
    sent: Option<PendingDownload>,
    used: usize,
    count: usize,
    /// Passes of the contraction through all sites; `None` if rings are not examined.
    turns: Option<usize>,
    /// Further memory of the kernels, held until they have run.
    held: Vec<DeviceMemory>,
    /// For each part, the largest number of each core in device memory, and the number of cores; empty unless
    /// `wants_peaks`.
    peaks: Vec<(DeviceMemory, usize)>,
    wants_peaks: bool,
    // Declared last, because a dropped stream is another call's at once.
    stream: SideStream,
    gpu: Gpu,
}

/// The device and the stream of an examination. The host waits for its result, so a captured stream is refused.
fn queue(context: &Arc<Context>, stream: Option<&Stream>) -> Result<(Gpu, GpuStream)> {
    let gpu = context.gpu("x")?.clone();
    let queue = stream::select(context, stream)?;
    stream::expect_not_captured(queue)?;
    Ok((gpu.clone(), queue.unwrap_or_else(|| gpu.default_stream()).clone()))
}

/// Bytes of the keys of these bonds in `trains` trains, after which the table begins, and bytes of both.
fn space_of(bonds: &Bonds, trains: usize) -> [usize; 2] {
    let keys = (bonds.key_bytes() * trains).next_multiple_of(GRAIN);
    [keys, keys + bonds.table_bytes()]
}

impl Examination {
    /// An examination of `count` parts, none of them started. One allocation holds its flags and `space` bytes for the
    /// kernels.
    fn empty(
        ExaminationStream { gpu, stream }: ExaminationStream,
        count: usize,
        turns: Option<usize>,
        space: usize,
    ) -> Result<Self> {
        let used = (3 * count * 8).next_multiple_of(GRAIN);
        let answers = gpu.allocate_on(&stream, "answers about bonds", used + space)?;
        Ok(Self {
            gpu,
            stream,
            answers,
            sent: None,
            used,
            count,
            turns,
            held: Vec::new(),
            peaks: Vec::new(),
            wants_peaks: false,
        })
    }

    /// Enqueues the examination of `trains` trains with these bonds. Their flags start at index `first`.
    fn start(
        &mut self,
        dtype: DType,
        bonds: &Bonds,
        bases: Option<Region<'_>>,
        trains: usize,
        first: usize,
    ) -> Result<()> {
        let (gpu, stream) = (&self.gpu, &self.stream);
        let [keys, bytes] = space_of(bonds, trains);
        let list = bonds.table()?;
        let own = if self.used + bytes <= self.answers.bytes() {
            gpu.store_numbers(stream, &list, &mut self.answers, self.used + keys)?;
            self.used += bytes.next_multiple_of(GRAIN);
            None
        } else {
            let mut own = gpu.allocate_on(stream, WHAT, bytes)?;
            gpu.store_numbers(stream, &list, &mut own, keys)?;
            Some(own)
        };
        let whole = match &own {
            Some(own) => own.whole(),
            None => self.answers.region(self.used - bytes.next_multiple_of(GRAIN), bytes)?,
        };
        let to = self.answers.region(first * 8, trains * 8)?;
        let space = (whole.part(keys, bytes - keys)?, whole.part(0, keys)?);
        bonds.look(dtype, gpu, stream, space, bases, trains, limit(dtype), (to, 1))?;
        let wide = self.answers.region((2 * self.count + first) * 8, trains * 8)?;
        bonds.carried(gpu, stream, space, trains, limit(dtype), range::most(dtype), (to, 1), wide)?;
        if self.turns.is_some() && bonds.has_rings() {
            let to = self.answers.region((self.count + first) * 8, trains * 8)?;
            bonds.near(gpu, stream, space, trains, ring_underflow::half_range(dtype), (to, 1))?;
        }
        if self.wants_peaks {
            let peaks = gpu.allocate_on(stream, WHAT, bonds.cores() * 8)?;
            bonds.peaks(gpu, stream, space, peaks.whole())?;
            alloc::push(WHAT, &mut self.peaks, (peaks, bonds.cores()))?;
        }
        own.map_or(Ok(()), |own| alloc::push(WHAT, &mut self.held, own))
    }

    /// Enqueues the examination of the trains on the device, behind the work on `stream`; `None` if no train is there.
    /// With `turns` = `None` rings are not examined.
    pub(super) fn new(
        context: &Arc<Context>,
        stream: Option<&Stream>,
        trains: &[&TensorTrain],
        turns: Option<usize>,
    ) -> Result<Option<Self>> {
        let reserved = ExaminationStream::new(context, stream, trains)?;
        reserved.map(|reserved| Self::on(reserved, trains, false, turns)).transpose()
    }

    /// [`Examination::new`] on a stream that was reserved before. With `wants_peaks` it also finds the largest numbers of the
    /// trains' cores.
    pub(super) fn on(
        reserved: ExaminationStream,
        trains: &[&TensorTrain],
        wants_peaks: bool,
        turns: Option<usize>,
    ) -> Result<Self> {
        let mut there = alloc::with_capacity(WHAT, trains.len())?;
        there.extend(trains.iter().copied().filter(|train| train.is_device()));
        let alike = there.windows(2).all(|pair| pair[0].dtype() == pair[1].dtype());
        let mut bonds = alloc::with_capacity(WHAT, there.len())?;
        let mut space = 0;
        for part in there.chunks(if alike { there.len().max(1) } else { 1 }) {
            let of_part = bonds_of(part, turns)?;
            space += space_of(&of_part, 1)[1].next_multiple_of(GRAIN);
            bonds.push((part[0].dtype(), of_part));
        }
        let mut examination = Self { wants_peaks, ..Self::empty(reserved, there.len(), turns, space)? };
        for (j, (dtype, of_part)) in bonds.iter().enumerate() {
            examination.start(*dtype, of_part, None, 1, j)?;
        }
        let Self { gpu, stream, answers, count, .. } = &examination;
        examination.sent = gpu.begin_small_download(stream, answers, 0, 3 * count * 8)?;
        Ok(examination)
    }

    /// Waits for the flags and returns the findings, one entry for each part.
    fn answers(&mut self) -> Result<Vec<Findings>> {
        let mut words = alloc::filled(WHAT, 3 * self.count, 0i64)?;
        match self.sent.take() {
            Some(sent) => sent.receive_numbers(&mut words)?,
            None => self.gpu.load_numbers(&self.stream, &self.answers, 0, &mut words)?,
        }
        let mut answers = alloc::with_capacity(WHAT, self.count)?;
        answers.extend((0..self.count).map(|i| {
            let [is_graded, may_underflow, is_wide] = [0, 1, 2].map(|j| words[j * self.count + i] != 0);
            Findings { is_graded, may_underflow, is_wide }
        }));
        Ok(answers)
    }

    /// Exponents of the largest numbers of all cores of the trains on the device, one train after another. Waits.
    pub(super) fn peaks(&self) -> Result<Vec<i64>> {
        let mut all = alloc::with_capacity(WHAT, self.peaks.iter().map(|(_, count)| count).sum())?;
        for (memory, count) in &self.peaks {
            // Keys are the bit patterns of doubles.
            let mut peaks = alloc::filled(WHAT, *count, 0.0f64)?;
            self.gpu.load_numbers(&self.stream, memory, 0, &mut peaks)?;
            all.extend(peaks.iter().map(|peak| exponent_of(*peak)));
        }
        Ok(all)
    }

    /// The union of all findings. Waits.
    pub(super) fn findings(&mut self) -> Result<Findings> {
        Ok(self.answers()?.into_iter().fold(Findings::default(), Findings::or))
    }
}

/// An examination that is enqueued with a call that does not wait.
pub struct Enqueued(Vec<Part>);

/// A train of an enqueued examination.
struct Part {
    dtype: DType,
    bonds: Bonds,
    ring: Option<Ring>,
}

impl Enqueued {
    /// An examination of two trains in device memory, which may be the same train. The contraction passes through all
    /// sites `turns` times; with `None` rings are not examined.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(trains: [&TensorTrain; 2], turns: Option<usize>) -> Result<Self> {
        let [x, y] = trains;
        let count = if x.is_same(y) { 1 } else { 2 };
        let mut parts = alloc::with_capacity(WHAT, count)?;
        for train in &trains[..count] {
            let bonds = bonds_of(std::slice::from_ref(train), turns)?;
            let ring = turns.map(|turns| ring_of(train, turns)).transpose()?.flatten();
            if bonds.has_bonds() {
                parts.push(Part { dtype: train.dtype(), bonds, ring });
            }
        }
        Ok(Self(parts))
    }

    /// Bytes of workspace of [`Enqueued::start`].
    pub fn bytes(&self) -> usize {
        let whole = |bytes: usize| bytes.next_multiple_of(GRAIN);
        let of_ring = |ring: &Ring| GRAIN + whole(ring.bytes());
        let of = |Part { bonds, ring, .. }: &Part| {
            whole(bonds.table_bytes()) + whole(bonds.key_bytes()) + ring.as_ref().map_or(0, of_ring)
        };
        self.0.iter().map(of).sum()
    }

    /// Enqueues the examination. It sets the first number of `to` to NaN if a bond is unbalanced, or if a ring has
    /// entries that contribute to the result and may underflow.
    ///
    /// # Errors
    /// As [`Bonds::look`].
    pub fn start(&self, gpu: &Gpu, stream: &GpuStream, space: Region<'_>, to: Region<'_>) -> Result<()> {
        let mut first = 0;
        for Part { dtype, bonds, ring } in &self.0 {
            let table = space.part(first, bonds.table_bytes())?;
            first += bonds.table_bytes().next_multiple_of(GRAIN);
            let keys = space.part(first, bonds.key_bytes())?;
            first += bonds.key_bytes().next_multiple_of(GRAIN);
            result::store(gpu, stream, &bonds.table()?, table)?;
            gpu.clear(stream, keys)?;
            bonds.look(*dtype, gpu, stream, (table, keys), None, 1, limit(*dtype), (to, 1))?;
            let Some(ring) = ring else { continue };
            let (half, digits) = (ring_underflow::half_range(*dtype), ring_underflow::digits(*dtype));
            let (findings, space) = (space.part(first, GRAIN)?, space.part(first + GRAIN, ring.bytes())?);
            first += GRAIN + ring.bytes().next_multiple_of(GRAIN);
            gpu.clear(stream, findings)?;
            bonds.near(gpu, stream, (table, keys), 1, half, (findings, 1))?;
            result::store(gpu, stream, ring.table(), space)?;
            ring.search(gpu, stream, space, (half, digits), Some(findings), to)?;
        }
        Ok(())
    }
}

/// Whether both trains are contiguous, aligned to an element, and equal in shape and type.
fn are_alike(a: &TensorTrain, b: &TensorTrain) -> bool {
    let in_one = |t: &TensorTrain| t.is_packed() && t.address(0).is_multiple_of(to_u64(t.dtype().size()));
    in_one(a) && in_one(b) && !b.is_uniform() && a.dtype() == b.dtype() && a.shape() == b.shape()
}

/// Findings for each train of the list; an empty list if all are negative. With `turns` = `None` rings are not
/// examined. Waits.
///
/// # Errors
/// Out of memory.
pub(super) fn all_findings(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    trains: &[&TensorTrain],
    turns: Option<usize>,
) -> Result<Vec<Findings>> {
    let Some(reserved) = ExaminationStream::new(context, stream, trains)? else { return Ok(Vec::new()) };
    let mut examination = Examination::empty(reserved, trains.len(), turns, 0)?;
    let mut first = 0;
    let mut doubtful = Vec::new();
    while let Some(train) = trains.get(first) {
        if !train.is_device() {
            first += 1;
            continue;
        }
        let alike = trains[first..].iter().take_while(|t| t.is_device() && are_alike(train, t)).count();
        let count = if alike > 1 {
            let mut bonds = Bonds::default();
            let (shapes, shape) = (shapes_of(train)?, train.shape());
            let mut offsets = alloc::with_capacity(WHAT, shape.len())?;
            offsets.extend((0..shape.len()).map(|k| shape.offset(k)));
            let times = times(train, &shapes, turns.unwrap_or(1));
            bonds.add(train.dtype(), &shapes, &Cores::In(&offsets), times)?;
            let count = alike.min((KEYS / bonds.key_bytes().max(1)).max(1));
            let mut list = alloc::with_capacity(WHAT, count)?;
            for train in &trains[first..first + count] {
                list.push(i64::from_ne_bytes(train.address(0).to_ne_bytes()));
            }
            let mut bases = examination.gpu.allocate_uninitialized_on(&examination.stream, WHAT, count * 8)?;
            examination.gpu.store_numbers(&examination.stream, &list, &mut bases, 0)?;
            examination.start(train.dtype(), &bonds, Some(bases.whole()), count, first)?;
            alloc::push(WHAT, &mut examination.held, bases)?;
            count
        } else {
            // Trains that are not contiguous are examined together. If a bond is unbalanced, each of them is examined
            // again below.
            let mut bonds = Bonds::default();
            let (mut count, mut cores) = (0, 0);
            for train in trains[first..].iter().take_while(|t| t.is_device() && t.dtype() == train.dtype()) {
                if count > 0 && cores + train.shape().len() > CORES {
                    break;
                }
                add(&mut bonds, train, turns.unwrap_or(1))?;
                (count, cores) = (count + 1, cores + train.shape().len());
            }
            examination.start(train.dtype(), &bonds, None, 1, first)?;
            if count > 1 {
                alloc::push(WHAT, &mut doubtful, first..first + count)?;
            }
            count
        };
        first += count;
    }
    let mut all_findings = examination.answers()?;
    drop(examination);
    for group in doubtful {
        if all_findings[group.start].is_any() || all_findings[group.start].is_wide {
            for i in group {
                let examination = Examination::new(context, stream, &trains[i..=i], turns)?;
                all_findings[i] =
                    examination.map_or(Ok(Findings::default()), |mut examination| examination.findings())?;
            }
        }
    }
    if !all_findings.iter().any(|findings| findings.is_any() || findings.is_wide) {
        all_findings.clear();
    }
    Ok(all_findings)
}

/// Copies a train on the device to the host. Waits.
///
/// # Errors
/// Out of memory.
pub(super) fn fetched(context: &Arc<Context>, stream: Option<&Stream>, train: &TensorTrain) -> Result<TensorTrain> {
    let mut here = TensorTrain::create(context, train.dtype(), Location::Host, train.shape().clone())?;
    copy_train(context, stream, train, &mut here)?;
    Ok(here)
}

/// Searches a ring on the device for entries that contribute to the result and may underflow; `false` for an open
/// train. Waits.
pub(super) fn ring_underflows(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    train: &TensorTrain,
    turns: usize,
) -> Result<bool> {
    let Some(ring) = ring_of(train, turns)? else { return Ok(false) };
    let (gpu, queue) = queue(context, stream)?;
    let answer = gpu.allocate_on(&queue, WHAT, 8)?;
    let mut space = gpu.allocate_uninitialized_on(&queue, WHAT, ring.bytes())?;
    gpu.store_numbers(&queue, ring.table(), &mut space, 0)?;
    let dtype = train.dtype();
    let bounds = (ring_underflow::half_range(dtype), ring_underflow::digits(dtype));
    ring.search(&gpu, &queue, space.whole(), bounds, None, answer.whole())?;
    let mut words = [0i64];
    gpu.load_numbers(&queue, &answer, 0, &mut words)?;
    Ok(words[0] != 0)
}

/// Completes the examination of a train on the device with these `findings`. If the train needs balancing, the host
/// computes the copy and uploads it. Waits.
///
/// # Errors
/// Out of memory.
pub(super) fn examined(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    train: &TensorTrain,
    turns: Option<usize>,
    findings: Findings,
) -> Result<Examined> {
    let Findings { is_graded, may_underflow, is_wide } = findings;
    let is_fetched = is_graded || may_underflow && ring_underflows(context, stream, train, turns.unwrap_or(1))?;
    if !is_fetched {
        return Ok(Examined { is_wide, ..Examined::default() });
    }
    let given = fetched(context, stream, train)?;
    // Balancing may lose digits, too.
    let (found, copy_lost) = flags::watch(|| powers::examined(context, &given, turns));
    let Examined { copy, ring_underflows, .. } = found?;
    let is_wide = copy_lost || range::is_wide(context, copy.as_ref().unwrap_or(&given))?;
    let Some(here) = copy else { return Ok(Examined { copy: None, ring_underflows, is_wide }) };
    let mut there = TensorTrain::create(context, train.dtype(), Location::Device, train.shape().clone())?;
    copy_train(context, stream, &here, &mut there)?;
    // The host copy is freed here, so the upload must be complete.
    queue(context, stream)?.1.synchronize()?;
    debug_assert!(matches!(there.memory(0).0, Memory::Device(_)));
    Ok(Examined { copy: Some(there), ring_underflows, is_wide })
}
