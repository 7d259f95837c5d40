//! Inner products that are enqueued as a whole: nothing waits for the host, the result stays on the device, and a graph may
//! capture the calls. Purlin's own kernels alone do so; everything is scaled by the largest numbers of the cores, for
//! nobody looks whether something was lost.

use std::slice::from_ref;

use super::{Call, GpuContraction, chain};
use crate::backend::gpu::kernels::tt::{
    self, Form, GridSpace, RESULT_WORDS, STATE_BYTES, Site, Sweep, Tables, result, result::Terms,
};
use crate::backend::gpu::{DeviceMemory, Gpu, Region};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::shape::product;
use crate::tt::info::Kernel;
use crate::tt::ops::Work;
use crate::tt::options::Algorithm;
use crate::tt::plan::Plan;

use super::load::Loaded;

/// Most boundary pairs: those of one launch.
const PAIRS: usize = 1 << 16;
/// Pieces of the work space begin at multiples of this.
const GRAIN: usize = 256;

/// The kernel that takes a product.
#[derive(Clone, Copy)]
enum Way {
    /// A block for each boundary pair.
    Pairs(Form),
    /// An open product from both ends, a block each; where they meet.
    Ends(Form, usize),
    /// An open product by all of the device.
    Grid(Option<usize>),
}

/// Bytes of the pieces of the work space.
struct Room {
    tables: usize,
    /// Environments, or the elements that a product by the whole device works with.
    elements: usize,
    /// States, and what else has to be 0.
    states: usize,
    results: usize,
}

impl Room {
    fn whole(&self) -> usize {
        [self.tables, self.elements, self.states, self.results].map(|bytes| bytes.next_multiple_of(GRAIN)).iter().sum()
    }

    fn parts<'a>(&self, space: Region<'a>) -> Result<[Region<'a>; 4]> {
        let mut first = 0;
        let mut next = |bytes: usize| {
            let part = space.part(first, bytes);
            first += bytes.next_multiple_of(GRAIN);
            part
        };
        Ok([next(self.tables)?, next(self.elements)?, next(self.states)?, next(self.results)?])
    }
}

fn way_of<T: Scalar>(gpu: &Gpu, call: &Call<'_>) -> Result<Way> {
    let plan = call.plan();
    let pairs = plan.pairs.len();
    let open = pairs == 1 && call.length == call.sites.len() && call.length >= 2;
    if (plan.kernel == Kernel::Chain || call.length == 1)
        && pairs <= PAIRS
        && let Some(form) = chain::form_of::<T>(gpu, &call.sites, call.length, pairs)?
    {
        return Ok(if open { Way::Ends(form, call.middle()) } else { Way::Pairs(form) });
    }
    let largest = call.sites.iter().flat_map(|s| [s.r[1], s.s[1]]).max().unwrap_or(1);
    if pairs == 1 && largest <= super::GRID_RANK {
        return Ok(Way::Grid(open.then(|| call.middle())));
    }
    let most = (super::CHAIN_RANK, super::RING_RANK, super::GRID_RANK);
    Err(Error::NotSupported(format!(
        "x and y: {pairs} boundary pairs of ranks up to {largest} are more than is computed without the host; rings go up \
         to rank {}, open trains up to {}",
        most.1, most.2
    )))
}

fn room_of<T: Scalar>(call: &Call<'_>, way: Way) -> Result<Room> {
    let tables = Tables::enqueued_bytes(call.sites.len())?;
    let element = size_of::<T>();
    let bond = |middle: usize| product("rank", call.sites[middle].r[0], call.sites[middle].s[0]);
    let results = |terms: usize| product("products", terms, RESULT_WORDS * 8);
    Ok(match way {
        Way::Pairs(_) => Room { tables, elements: 0, states: 0, results: results(call.plan().pairs.len())? },
        Way::Ends(_, middle) => {
            let count = bond(middle)?;
            let elements = product("rank", count, 2 * element)?;
            Room { tables, elements, states: 2 * STATE_BYTES, results: results(tt::sum_blocks(count))? }
        }
        Way::Grid(middle) => {
            let (environment, products) = tt::grid_strides(&call.sites)?;
            let elements = product("work space", 2 * element, 2 * environment + products)?;
            let states = product("sites", call.length, 8)? + 2 * STATE_BYTES + 16;
            let count = middle.map_or(Ok(1), bond)?;
            Room { tables, elements, states, results: results(tt::sum_blocks(count))? }
        }
    })
}

/// Enqueues the product; its terms are then in the last part of the work space. Says how many there are.
fn enqueue<T: Scalar>(call: &Call<'_>, way: Way, room: &Room, space: Region<'_>) -> Result<usize> {
    let (gpu, stream) = (call.gpu, call.stream);
    let [tables, elements, states, results] = room.parts(space)?;
    let sites = crate::alloc::copied("sites of a contraction", &call.sites)?;
    let tables = Tables::enqueued::<T>(gpu, stream, sites, (from_ref(&call.x), from_ref(&call.y)), tables)?;
    let sweep = |middle| Sweep { unscaled: false, ..call.sweep(middle) };
    let bond = |site: Site| product("rank", site.r[0], site.s[0]);
    match way {
        Way::Pairs(form) => {
            let count = call.plan().pairs.len();
            tt::chain_pairs::<T>(gpu, stream, form, &tables, &sweep(None), (0, count), true, results)?;
            Ok(count)
        }
        Way::Ends(form, middle) => {
            let count = bond(call.sites[middle])?;
            gpu.clear(stream, states)?;
            let ends = (elements, count);
            tt::chain_ends::<T>(gpu, stream, form, &tables, &sweep(Some(middle)), true, ends, states)?;
            let half = elements.bytes() / 2;
            let (left, right) = (elements.part(0, half)?, elements.part(half, half)?);
            let all = (count, 0);
            tt::join::<T>(gpu, stream, left, Some(right), all, states, None, (false, false), results)?;
            Ok(tt::sum_blocks(count))
        }
        Way::Grid(middle) => {
            let (environment, products) = tt::grid_strides(&call.sites)?;
            gpu.clear(stream, states)?;
            let words = call.length * 8;
            let places = states.part(2 * STATE_BYTES + words, 16)?;
            let (keys, states) = (states.part(2 * STATE_BYTES, words)?, states.part(0, 2 * STATE_BYTES)?);
            let largest = call.sites.iter().flat_map(|s| [s.r[1], s.s[1]]).max().unwrap_or(1);
            let work = GridSpace { elements, states, keys, places };
            let sweep = Sweep { halved: false, ..sweep(middle) };
            tt::grid::<T>(gpu, stream, &tables, &sweep, (0, 0), true, largest > 192, work)?;
            let count = middle.map_or(Ok(1), |m| bond(call.sites[m]))?;
            let each = product("work space", size_of::<T>(), 2 * environment + products)?;
            let left = elements.part(0, each)?;
            let right = middle.map(|_| elements.part(each, each)).transpose()?;
            let all = (count, environment);
            tt::join::<T>(gpu, stream, left, right, all, states, Some(places), (false, false), results)?;
            Ok(tt::sum_blocks(count))
        }
    }
}

/// Refuses what is not computed by way of boundary pairs, and trains that would have to be copied.
fn expect_enqueueable<T: Scalar>(machine: &GpuContraction, work: &Work<'_>) -> Result<()> {
    let plan: &Plan = work.plan;
    if matches!(plan.algorithm, Algorithm::Halves | Algorithm::Power) || plan.triangle {
        return Err(Error::NotSupported("algorithm: dense halves and powers are computed with the host".into()));
    }
    for (name, train) in [("x", work.x), ("y", work.y)] {
        if !train.is_device() || !std::sync::Arc::ptr_eq(train.context(), &machine.context) {
            return Err(Error::NotSupported(format!(
                "{name}: lies on the host; a call that waits for nothing copies nothing"
            )));
        }
        if train.dtype() != T::DTYPE {
            let problem = format!("{name}: is {}, the other is complex; one type is needed", train.dtype().name());
            return Err(Error::NotSupported(problem));
        }
        let aligned = |k: usize| train.address(k).is_multiple_of(crate::shape::to_u64(size_of::<T>()));
        if !(0..train.shape().len()).all(aligned) {
            return Err(Error::NotSupported(format!("{name}: has cores that are not aligned to an element")));
        }
    }
    Ok(())
}

impl GpuContraction {
    /// Enqueues a product, whose result goes to [`result::SETTLED`] numbers: mantissa, exponent, and whether it is finite.
    /// Works in `workspace` if there is one. Returns the bytes of it that it needs.
    pub(super) fn enqueued<T: Scalar>(
        &mut self,
        work: &Work<'_>,
        workspace: Option<&DeviceMemory>,
        to: Option<Region<'_>>,
    ) -> Result<usize> {
        expect_enqueueable::<T>(self, work)?;
        let stream = self.stream(work.stream);
        let gpu = self.gpu.clone();
        let x = Loaded::new::<T>(&self.context, &gpu, &stream, "x", work.x)?;
        let y = Loaded::new::<T>(&self.context, &gpu, &stream, "y", work.y)?;
        let call = Call::new(work, &gpu, &stream, &x, &y)?;
        let way = way_of::<T>(&gpu, &call)?;
        let room = room_of::<T>(&call, way)?;
        let needed = room.whole();
        let Some(to) = to else { return Ok(needed) };
        let own;
        let space = match workspace {
            Some(memory) if memory.bytes() < needed => {
                let problem = format!("has {} bytes, {needed} are needed", memory.bytes());
                return Err(Error::invalid("workspace", problem));
            }
            Some(memory) => memory,
            None => {
                own = gpu.allocate_uninitialised_on(&stream, "work space of a contraction", needed)?;
                &own
            }
        };
        let count = enqueue::<T>(&call, way, &room, space.whole())?;
        let [.., results] = room.parts(space.whole())?;
        let (real, conjugate) = (work.plan.pairs.halved, work.plan.conjugate_result);
        let halved = real && matches!(way, Way::Pairs(_));
        result::settle(&gpu, &stream, results, Terms { count, halved, real, conjugate }, to)?;
        Ok(needed)
    }
}
