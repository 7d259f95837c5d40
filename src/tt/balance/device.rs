//! Examines the bonds of trains on a device there: finds whether the values of a bond differ too much.

use std::sync::Arc;

use super::powers::{WHAT, balanced, limit};
use crate::alloc;
use crate::backend::gpu::kernels::tt::bonds::{Bonds, Cores};
use crate::backend::gpu::kernels::tt::result;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::Result;
use crate::scalar::{DType, with_scalar};
use crate::shape::to_u64;
use crate::stream::{self, Stream};
use crate::tensor::Location;
use crate::tensor::train::{TensorTrain, copy};
use crate::tt::scaled::exponent_of;

/// Largest number of bytes of keys of rows and columns at a time.
const KEYS: usize = 64 << 20;
/// Largest number of cores examined by one launch.
const CORES: usize = 1 << 14;

/// Shapes of the cores to examine: a uniform train is a ring of one core.
fn shapes_of(train: &TensorTrain) -> Result<Vec<[usize; 3]>> {
    let d = if train.is_uniform() { 1 } else { train.shape().len() };
    let mut shapes = alloc::with_capacity(WHAT, d)?;
    shapes.extend((0..d).map(|k| train.shape().core(k)));
    Ok(shapes)
}

/// Adds a train in the memory of a device.
fn add(bonds: &mut Bonds, train: &TensorTrain) -> Result<()> {
    let shapes = shapes_of(train)?;
    let size = train.dtype().size();
    let mut cores = alloc::with_capacity(WHAT, shapes.len())?;
    for k in 0..shapes.len() {
        let (memory, offset) = train.memory(k);
        cores.push(memory.device("x")?.region(offset * size, train.shape().core_len(k) * size)?);
    }
    with_scalar!(train.dtype(), "x", T => bonds.add::<T>(&shapes, &Cores::Of(&cores)))
}

/// The bonds of trains on the device, all of one type.
fn bonds_of(trains: &[&TensorTrain]) -> Result<Bonds> {
    let mut bonds = Bonds::default();
    trains.iter().try_for_each(|train| add(&mut bonds, train))?;
    Ok(bonds)
}

/// An examination of bonds that is under way.
pub(super) struct Look {
    gpu: Gpu,
    stream: GpuStream,
    /// A number for each part: nonzero if a bond is unbalanced.
    answers: DeviceMemory,
    count: usize,
    /// Tables and keys of the kernels, kept until they have run.
    held: Vec<DeviceMemory>,
    /// Largest numbers of the cores of each part, and their count; empty unless `wants_peaks`.
    peaks: Vec<(DeviceMemory, usize)>,
    wants_peaks: bool,
}

fn queue(context: &Arc<Context>, stream: Option<&Stream>) -> Result<(Gpu, GpuStream)> {
    let gpu = context.gpu("x")?.clone();
    let stream = stream::select(context, stream)?.unwrap_or_else(|| gpu.default_stream()).clone();
    Ok((gpu, stream))
}

impl Look {
    fn empty(gpu: Gpu, stream: GpuStream, count: usize) -> Result<Self> {
        let answers = gpu.allocate_on(&stream, "answers about bonds", count * 8)?;
        Ok(Self { gpu, stream, answers, count, held: Vec::new(), peaks: Vec::new(), wants_peaks: false })
    }

    /// Examines `trains` trains with these bonds. The answers start at number `first`.
    fn start(
        &mut self,
        dtype: DType,
        bonds: &Bonds,
        bases: Option<Region<'_>>,
        trains: usize,
        first: usize,
    ) -> Result<()> {
        let (gpu, stream) = (&self.gpu, &self.stream);
        let list = bonds.table()?;
        let mut table = gpu.allocate_uninitialised_on(stream, WHAT, list.len() * 8)?;
        gpu.store_numbers(stream, &list, &mut table, 0)?;
        let keys = gpu.allocate_on(stream, WHAT, bonds.key_bytes() * trains)?;
        let to = self.answers.region(first * 8, trains * 8)?;
        let space = (table.whole(), keys.whole());
        with_scalar!(dtype, "x", T => {
            bonds.look::<T>(gpu, stream, space, bases, trains, limit(dtype), (to, 1))
        })?;
        bonds.carried(gpu, stream, space, trains, limit(dtype), (to, 1))?;
        if self.wants_peaks {
            let peaks = gpu.allocate_on(stream, WHAT, bonds.cores() * 8)?;
            bonds.peaks(gpu, stream, space, peaks.whole())?;
            alloc::push(WHAT, &mut self.peaks, (peaks, bonds.cores()))?;
        }
        alloc::push(WHAT, &mut self.held, table)?;
        alloc::push(WHAT, &mut self.held, keys)
    }

    /// Starts to examine the bonds of the trains on the device, in the order of `stream`; `None` if there are none.
    /// With `wants_peaks` it also finds the largest numbers of their cores.
    pub(super) fn new(
        context: &Arc<Context>,
        stream: Option<&Stream>,
        trains: &[&TensorTrain],
        wants_peaks: bool,
    ) -> Result<Option<Self>> {
        let mut there = alloc::with_capacity(WHAT, trains.len())?;
        there.extend(trains.iter().copied().filter(|train| train.is_device()));
        let Some(first) = there.first() else { return Ok(None) };
        let (gpu, queue) = queue(context, stream)?;
        let alike = there.iter().all(|train| train.dtype() == first.dtype());
        let mut look = Self { wants_peaks, ..Self::empty(gpu, queue, there.len())? };
        for (j, part) in there.chunks(if alike { there.len() } else { 1 }).enumerate() {
            let bonds = bonds_of(part)?;
            if !bonds.is_empty() || wants_peaks {
                look.start(part[0].dtype(), &bonds, None, 1, j)?;
            }
        }
        Ok(Some(look))
    }

    /// Waits for the answers.
    fn answers(&self) -> Result<Vec<bool>> {
        let mut words = alloc::filled(WHAT, self.count, 0i64)?;
        self.gpu.load_numbers(&self.stream, &self.answers, 0, &mut words)?;
        let mut graded = alloc::with_capacity(WHAT, self.count)?;
        graded.extend(words.iter().map(|word| *word != 0));
        Ok(graded)
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

    /// Whether one of the trains has an unbalanced bond. Waits.
    pub(super) fn is_any_graded(&self) -> Result<bool> {
        Ok(self.answers()?.into_iter().any(|graded| graded))
    }
}

/// An examination that is enqueued with a call that does not wait.
pub(in crate::tt) struct Enqueued(Vec<(DType, Bonds)>);

/// Alignment of pieces of its memory in bytes.
const GRAIN: usize = 256;

impl Enqueued {
    /// An examination of the bonds of two trains in device memory, which may be the same train.
    ///
    /// # Errors
    /// Out of memory.
    pub(in crate::tt) fn new(trains: [&TensorTrain; 2]) -> Result<Self> {
        let [x, y] = trains;
        let count = if x.is_same(y) { 1 } else { 2 };
        let mut parts = alloc::with_capacity(WHAT, count)?;
        for train in &trains[..count] {
            let bonds = bonds_of(std::slice::from_ref(train))?;
            if !bonds.is_empty() {
                parts.push((train.dtype(), bonds));
            }
        }
        Ok(Self(parts))
    }

    /// Bytes of workspace of [`Enqueued::start`].
    pub(in crate::tt) fn bytes(&self) -> usize {
        let whole = |bytes: usize| bytes.next_multiple_of(GRAIN);
        self.0.iter().map(|(_, bonds)| whole(bonds.table_bytes()) + whole(bonds.key_bytes())).sum()
    }

    /// Enqueues the examination. The first number of `to` becomes NaN if a bond is unbalanced.
    ///
    /// # Errors
    /// As [`Bonds::look`].
    pub(in crate::tt) fn start(&self, gpu: &Gpu, stream: &GpuStream, space: Region<'_>, to: Region<'_>) -> Result<()> {
        let mut first = 0;
        for (dtype, bonds) in &self.0 {
            let table = space.part(first, bonds.table_bytes())?;
            first += bonds.table_bytes().next_multiple_of(GRAIN);
            let keys = space.part(first, bonds.key_bytes())?;
            first += bonds.key_bytes().next_multiple_of(GRAIN);
            result::store(gpu, stream, &bonds.table()?, table)?;
            gpu.clear(stream, keys)?;
            with_scalar!(*dtype, "x", T => {
                bonds.look::<T>(gpu, stream, (table, keys), None, 1, limit(*dtype), (to, 1))
            })?;
        }
        Ok(())
    }
}

/// Whether both trains are contiguous, aligned to an element, and equal in shape and type.
fn are_alike(a: &TensorTrain, b: &TensorTrain) -> bool {
    let in_one = |t: &TensorTrain| t.is_packed() && t.address(0).is_multiple_of(to_u64(t.dtype().size()));
    in_one(a) && in_one(b) && !b.is_uniform() && a.dtype() == b.dtype() && a.shape() == b.shape()
}

/// For each train, whether it is on the device and has an unbalanced bond; an empty list if none has. Waits.
///
/// # Errors
/// Out of memory.
pub(super) fn graded(context: &Arc<Context>, stream: Option<&Stream>, trains: &[&TensorTrain]) -> Result<Vec<bool>> {
    if !trains.iter().any(|train| train.is_device()) {
        return Ok(Vec::new());
    }
    let (gpu, queue) = queue(context, stream)?;
    let mut look = Look::empty(gpu, queue, trains.len())?;
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
            with_scalar!(train.dtype(), "x", T => bonds.add::<T>(&shapes, &Cores::In(&offsets)))?;
            let count = alike.min((KEYS / bonds.key_bytes().max(1)).max(1));
            if !bonds.is_empty() {
                let mut list = alloc::with_capacity(WHAT, count)?;
                for train in &trains[first..first + count] {
                    list.push(i64::from_ne_bytes(train.address(0).to_ne_bytes()));
                }
                let mut bases = look.gpu.allocate_uninitialised_on(&look.stream, WHAT, count * 8)?;
                look.gpu.store_numbers(&look.stream, &list, &mut bases, 0)?;
                look.start(train.dtype(), &bonds, Some(bases.whole()), count, first)?;
                alloc::push(WHAT, &mut look.held, bases)?;
            }
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
                add(&mut bonds, train)?;
                (count, cores) = (count + 1, cores + train.shape().len());
            }
            if !bonds.is_empty() {
                look.start(train.dtype(), &bonds, None, 1, first)?;
            }
            if count > 1 {
                alloc::push(WHAT, &mut doubtful, first..first + count)?;
            }
            count
        };
        first += count;
    }
    let mut graded = look.answers()?;
    drop(look);
    for range in doubtful {
        if graded[range.start] {
            for i in range {
                let look = Look::new(context, stream, &trains[i..=i], false)?;
                graded[i] = look.map_or(Ok(false), |look| look.is_any_graded())?;
            }
        }
    }
    if !graded.iter().any(|graded| *graded) {
        graded.clear();
    }
    Ok(graded)
}

/// A host copy of a train on the device. Waits.
///
/// # Errors
/// Out of memory.
pub(super) fn fetched(context: &Arc<Context>, stream: Option<&Stream>, train: &TensorTrain) -> Result<TensorTrain> {
    let mut here = TensorTrain::create(context, train.dtype(), Location::Host, train.shape().clone())?;
    copy(context, stream, train, &mut here)?;
    Ok(here)
}

/// A balanced copy on the device of a train there, computed on the host; `None` if its bonds are balanced. Waits.
///
/// # Errors
/// Out of memory.
pub(super) fn brought(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    train: &TensorTrain,
) -> Result<Option<TensorTrain>> {
    let Some(here) = balanced(context, &fetched(context, stream, train)?)? else { return Ok(None) };
    let mut there = TensorTrain::create(context, train.dtype(), Location::Device, train.shape().clone())?;
    copy(context, stream, &here, &mut there)?;
    // The host copy is freed here, so the upload must be complete.
    queue(context, stream)?.1.synchronize()?;
    debug_assert!(matches!(there.memory(0).0, Memory::Device(_)));
    Ok(Some(there))
}
