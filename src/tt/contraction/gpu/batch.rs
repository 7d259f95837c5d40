//! Many inner products in one launch, one thread block for each. Host trains are uploaded together.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::call::{Sums, read};
use super::chain;
use super::load::in_one;
use super::planned::{is_unscaled, length, sites, sweep};
use super::state::GpuContraction;
use crate::alloc;
use crate::backend::gpu::kernels::tt::{self, Places, RESULT_WORDS, Tables};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::context::Context;
use crate::contraction::ops::{ContractOps, Item, Work};
use crate::contraction::peaks::Sizes;
use crate::contraction::plan::Plan;
use crate::error::Result;
use crate::progress::CancelFlag;
use crate::shape::{product, to_u64};
use crate::stream::Stream;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::info::Kernel;
use crate::trains::options::Method;
use crate::trains::scaled::Scaled;

const WHAT: &str = "batch of contractions";
/// Largest number of boundary pairs of a product in a batch. A product with more keeps the device busy by itself.
const PAIRS: usize = 1 << 10;
/// Largest number of thread blocks of one launch.
const BLOCKS: usize = 1 << 20;
/// Bytes of cores that are uploaded at a time. A single product may have more.
const BYTES: usize = 64 << 20;

/// Whether contractions by this plan are small enough to share a launch.
pub(super) fn takes(plan: &Plan) -> bool {
    let sums_pairs = !matches!(plan.method, Method::Halves | Method::Power);
    plan.kernel == Kernel::Chain && !plan.grid && sums_pairs && !plan.triangle && plan.pairs.len() <= PAIRS
}

/// The distinct x trains, or the distinct y trains, of some products. All have one shape.
struct Side<'a> {
    trains: Vec<&'a TensorTrain>,
    numbers: HashMap<*const TensorTrain, usize>,
    /// Bytes of the host trains among them.
    host: usize,
}

impl<'a> Side<'a> {
    fn new() -> Self {
        Self { trains: Vec::new(), numbers: HashMap::new(), host: 0 }
    }

    /// The index of a train in `trains`. Adds a train that is new, and its bytes if it is on the host.
    fn number(&mut self, train: &'a TensorTrain) -> Result<usize> {
        let next = self.trains.len();
        let key = std::ptr::from_ref(train);
        // Successive products often have the same train.
        if self.trains.last().is_some_and(|last| std::ptr::eq(*last, train)) {
            return Ok(next - 1);
        }
        let refused = |_| alloc::out_of_memory(WHAT, size_of::<(usize, usize)>() * (next + 1));
        alloc::refusable(|| self.numbers.try_reserve(1)).map_err(refused)?;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            alloc::push(WHAT, &mut self.trains, train)?;
            self.host += if train.is_device() { 0 } else { train.bytes() };
        }
        Ok(number)
    }
}

/// The trains of a [`Side`] in device memory.
enum Placed<'a> {
    /// Each train is contiguous in device memory.
    Trains(Vec<Region<'a>>),
    /// The cores of each train, anywhere in device memory.
    Cores(Vec<Vec<Region<'a>>>),
}

/// Uploads the host trains of a side to one allocation, one after another.
fn copies(gpu: &Gpu, stream: &GpuStream, side: &Side<'_>) -> Result<Option<DeviceMemory>> {
    if side.host == 0 {
        return Ok(None);
    }
    let mut bytes = alloc::with_capacity(WHAT, side.host)?;
    for train in side.trains.iter().filter(|t| !t.is_device()) {
        let element = train.dtype().size();
        for k in 0..train.shape().len() {
            let (memory, offset) = train.memory(k);
            let size = train.shape().core_len(k) * element;
            bytes.extend_from_slice(&memory.host("x")?.as_slice::<u8>()?[offset * element..offset * element + size]);
        }
    }
    let mut memory = gpu.allocate_uninitialized_on(stream, WHAT, bytes.len())?;
    gpu.upload(stream, &bytes, &mut memory, 0)?;
    Ok(Some(memory))
}

/// Device memory of the trains of a side; `None` if one of them needs a copy of its own.
fn place<'a>(
    context: &Arc<Context>,
    plan: &Plan,
    side: &Side<'a>,
    copies: Option<&'a DeviceMemory>,
) -> Result<Option<Placed<'a>>> {
    let is_here = |t: &TensorTrain| !t.is_device() || Arc::ptr_eq(t.context(), context);
    if side.trains.iter().any(|t| t.dtype() != plan.dtype || !is_here(t)) {
        return Ok(None);
    }
    let mut regions = alloc::with_capacity(WHAT, side.trains.len())?;
    let mut next = 0;
    for &train in &side.trains {
        match (train.is_device(), in_one(context, train), copies) {
            (true, Some(region), _) => regions.push(region),
            (false, _, Some(copies)) => {
                regions.push(copies.region(next, train.bytes())?);
                next += train.bytes();
            }
            _ => break,
        }
    }
    if regions.len() == side.trains.len() {
        return Ok(Some(Placed::Trains(regions)));
    }
    let mut cores = alloc::with_capacity(WHAT, side.trains.len())?;
    for &train in &side.trains {
        let aligned = (0..plan.cores).all(|k| train.address(k).is_multiple_of(to_u64(plan.dtype.size())));
        if !train.is_device() || !aligned {
            return Ok(None);
        }
        let mut regions = alloc::with_capacity(WHAT, plan.cores)?;
        for i in 0..plan.cores {
            let k = plan.core(to_u64(i));
            let (memory, offset) = train.memory(k);
            let bytes = train.shape().core_len(k) * plan.dtype.size();
            regions.push(memory.device("x")?.region(offset * plan.dtype.size(), bytes)?);
        }
        cores.push(regions);
    }
    Ok(Some(Placed::Cores(cores)))
}

/// Device memory of the trains of both sides of some products, one region for each product, if every train is
/// contiguous there and has the type of the contraction. Then equal trains need not be found.
fn in_place<'a>(context: &Arc<Context>, plan: &Plan, items: &[Item<'a>]) -> Result<Option<[Vec<Region<'a>>; 2]>> {
    let (mut x, mut y) = (alloc::with_capacity(WHAT, items.len())?, alloc::with_capacity(WHAT, items.len())?);
    for item in items {
        if item.x.dtype() != plan.dtype || item.y.dtype() != plan.dtype {
            return Ok(None);
        }
        let (Some(in_x), Some(in_y)) = (in_one(context, item.x), in_one(context, item.y)) else {
            return Ok(None);
        };
        x.push(in_x);
        y.push(in_y);
    }
    Ok(Some([x, y]))
}

/// Offsets, in elements, of the cores of a contiguous train, in the order of the sweep.
fn offsets(plan: &Plan, shape: &Shape) -> Result<Vec<usize>> {
    let mut offsets = alloc::with_capacity(WHAT, plan.cores)?;
    offsets.extend((0..plan.cores).map(|i| shape.offset(plan.core(to_u64(i)))));
    Ok(offsets)
}

impl<'a> Placed<'a> {
    fn places<'r>(&'r self, offsets: &'r [usize]) -> Places<'r, 'a> {
        match self {
            Self::Trains(trains) => Places::Trains(trains, offsets),
            Self::Cores(cores) => Places::Cores(cores),
        }
    }
}

impl GpuContraction {
    /// Computes every product of `items`.
    pub(super) fn batch(
        &mut self,
        stream: Option<&Stream>,
        items: &[Item<'_>],
        cancel: &CancelFlag,
        sums: &mut [Scaled],
    ) -> Result<()> {
        let queue = self.stream(stream);
        let mut first = 0;
        while let Some(item) = items.get(first) {
            // All trains of one plan have one shape and type.
            let plan = Arc::clone(&item.plan);
            let alike = items[first..].iter().take_while(|i| Arc::ptr_eq(&i.plan, &plan)).count();
            let group = &items[first..first + alike];
            let count = alike.min((BLOCKS / plan.pairs.len().max(1)).max(1));
            if let Some([x, y]) = in_place(&self.context, &plan, &group[..count])? {
                let out = &mut sums[first..first + count];
                let shapes = (item.x.shape(), item.y.shape());
                let (x_offsets, y_offsets) = (offsets(&plan, shapes.0)?, offsets(&plan, shapes.1)?);
                let mut numbers = alloc::with_capacity(WHAT, count)?;
                numbers.extend((0..count).map(|j| (j, j)));
                let (x, y) = (Places::Trains(&x, &x_offsets), Places::Trains(&y, &y_offsets));
                let doubtful = self.launched(&queue, &plan, shapes, (x, y), &numbers, out)?;
                self.recompute(stream, &group[..count], &doubtful, cancel, out)?;
                cancel.check()?;
                first += count;
                continue;
            }
            let (mut x, mut y) = (Side::new(), Side::new());
            let mut numbers = alloc::with_capacity(WHAT, alike)?;
            for item in group {
                let full = x.host + y.host > BYTES || (numbers.len() + 1) * plan.pairs.len() > BLOCKS;
                if full && !numbers.is_empty() {
                    break;
                }
                numbers.push((x.number(item.x)?, y.number(item.y)?));
            }
            let count = numbers.len();
            let out = &mut sums[first..first + count];
            let doubtful = self.in_one_launch(&queue, &plan, (&x, &y), &numbers, out)?;
            self.recompute(stream, &group[..count], &doubtful, cancel, out)?;
            cancel.check()?;
            first += count;
        }
        Ok(())
    }

    /// Recomputes the products that are flagged as doubtful; all of them if `doubtful` is empty.
    fn recompute(
        &mut self,
        stream: Option<&Stream>,
        items: &[Item<'_>],
        doubtful: &[bool],
        cancel: &CancelFlag,
        sums: &mut [Scaled],
    ) -> Result<()> {
        for (j, (item, sum)) in items.iter().zip(sums).enumerate() {
            if doubtful.get(j).is_none_or(|d| *d) {
                self.as_single_call(stream, item, cancel, sum)?;
            }
        }
        Ok(())
    }

    /// Uploads host trains and computes products of trains with one shape in one launch. Returns a flag for each
    /// product that may have lost digits; an empty list if these trains cannot share a launch.
    fn in_one_launch(
        &self,
        queue: &GpuStream,
        plan: &Plan,
        (x, y): (&Side<'_>, &Side<'_>),
        numbers: &[(usize, usize)],
        sums: &mut [Scaled],
    ) -> Result<Vec<bool>> {
        let gpu = &self.gpu;
        let (x_copies, y_copies) = (copies(gpu, queue, x)?, copies(gpu, queue, y)?);
        let in_x = place(&self.context, plan, x, x_copies.as_ref())?;
        let in_y = place(&self.context, plan, y, y_copies.as_ref())?;
        let (Some(in_x), Some(in_y), Some(a), Some(b)) = (in_x, in_y, x.trains.first(), y.trains.first()) else {
            return Ok(Vec::new());
        };
        let (x_offsets, y_offsets) = (offsets(plan, a.shape())?, offsets(plan, b.shape())?);
        let places = (in_x.places(&x_offsets), in_y.places(&y_offsets));
        self.launched(queue, plan, (a.shape(), b.shape()), places, numbers, sums)
    }

    /// Computes products of trains on the device, with one shape for each side, in one launch. Returns a flag for each
    /// product that may have lost digits; an empty list if no kernel supports these ranks.
    fn launched(
        &self,
        queue: &GpuStream,
        plan: &Plan,
        (x, y): (&Shape, &Shape),
        (x_places, y_places): (Places<'_, '_>, Places<'_, '_>),
        numbers: &[(usize, usize)],
        sums: &mut [Scaled],
    ) -> Result<Vec<bool>> {
        let gpu = &self.gpu;
        let (shapes, length) = (sites(plan, x, y)?, length(plan)?);
        let pairs = plan.pairs.len();
        let blocks = product("products", numbers.len(), pairs)?;
        let Some(form) = chain::form_of(plan.dtype, gpu, &shapes, length, blocks)? else {
            return Ok(Vec::new());
        };
        let tables = Tables::new(plan.dtype, gpu, queue, shapes, x_places, y_places, numbers)?;
        let bytes = product("products", blocks, RESULT_WORDS * 8)?;
        let results = gpu.allocate_uninitialized_on(queue, "terms of a contraction", bytes)?;
        let all = (0, pairs);
        tt::chain_pairs(plan.dtype, gpu, queue, form, &tables, &sweep(plan, length), all, false, results.whole())?;
        let terms = read(gpu, queue, &results, blocks)?;
        let unscaled = is_unscaled(plan);
        let mut doubtful = alloc::with_capacity(WHAT, numbers.len())?;
        let mut partials = alloc::filled(WHAT, plan.blocks(), Scaled::ZERO)?;
        for (terms, sum) in terms.chunks_exact(pairs).zip(sums) {
            partials.fill(Scaled::ZERO);
            let doubt = Sums::new(plan, 0..plan.blocks(), &mut partials).add(0, terms)?;
            *sum = partials.iter().copied().fold(Scaled::ZERO, Scaled::plus);
            doubtful.push(doubt && !unscaled);
        }
        Ok(doubtful)
    }

    /// Computes one product as a single call does.
    fn as_single_call(
        &mut self,
        stream: Option<&Stream>,
        item: &Item<'_>,
        cancel: &CancelFlag,
        sum: &mut Scaled,
    ) -> Result<()> {
        let plan = &*item.plan;
        let done = AtomicU64::new(0);
        let work =
            Work { plan, x: item.x, y: item.y, stream, cancel, done: &done, sizes: Sizes::default(), host_work: None };
        let mut partials = alloc::filled(WHAT, plan.blocks(), Scaled::ZERO)?;
        self.pairs(&work, 0..plan.blocks(), &mut partials)?;
        *sum = partials.into_iter().fold(Scaled::ZERO, Scaled::plus);
        Ok(())
    }
}
