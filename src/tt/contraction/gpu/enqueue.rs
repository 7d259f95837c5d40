//! Inner products that are enqueued as a whole. The host never waits, the result stays on the device, and a graph may
//! capture the call. Every product is scaled by the largest entries of the cores, because no later step could check for
//! lost digits.

use std::slice::from_ref;

use super::call::Call;
use super::careful::{Careful, SECOND, Scaling};
use super::ends::End;
use super::products::Products;
use super::scale::Exponents;
use super::state::GpuContraction;
use super::{blocks, chain, ends, halves, pieces, power, qr};
use crate::backend::gpu::kernels::tt::sandwich::CoreKeys;
use crate::backend::gpu::kernels::tt::{
    self, Form, GridSpace, RESULT_WORDS, STATE_BYTES, Site, Sweep, Tables, bonds, result, result::Spoilt, result::Terms,
};
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, GpuStream, Region};
use crate::contraction::ops::{Enqueued, Work};
use crate::error::{Error, Result};
use crate::shape::product;
use crate::tensor::train::TensorTrain;
use crate::trains::balance::Enqueued as Examination;
use crate::trains::info::Kernel;
use crate::trains::options::{Math, Method};

use super::load::Loaded;

/// Largest number of boundary pairs of one launch.
const PAIRS: usize = 1 << 16;

/// How a product is computed.
#[derive(Clone, Copy)]
enum Algorithm {
    /// By the chain kernel, one thread block for each boundary pair.
    Pairs(Form),
    /// An open product by the chain kernel, one thread block for each end; the bond where the ends meet.
    Ends(Form, usize),
    /// A product of one pair by all blocks of the device; if it is open, the bond where the ends meet.
    Grid(Option<usize>),
    /// Blocks of boundary pairs by cuBLAS.
    Blocks,
    /// An open product from both ends by cuBLAS.
    Library,
    /// The dense tensors of both halves, by cuBLAS.
    Halves,
    /// A power of the transfer matrix by cuBLAS.
    Power,
}

impl Algorithm {
    /// Whether cuBLAS computes the products.
    fn by_library(self) -> bool {
        matches!(self, Self::Blocks | Self::Library | Self::Halves | Self::Power)
    }
}

/// Bytes of the pieces of a workspace.
struct PieceSizes {
    tables: usize,
    /// Environments and products, in up to four pieces; 0 for none.
    elements: [usize; 4],
    /// States and other memory that must be zeroed.
    states: usize,
    /// Workspace of cuBLAS on each of the two streams.
    library: [usize; 2],
    results: usize,
}

/// The pieces of a workspace.
struct Pieces<'a> {
    tables: Region<'a>,
    elements: [Region<'a>; 4],
    states: Region<'a>,
    library: [Region<'a>; 2],
    results: Region<'a>,
}

impl PieceSizes {
    fn sizes(&self) -> [usize; 9] {
        let ([a, b, c, d], [left, right]) = (self.elements, self.library);
        [self.tables, a, b, c, d, self.states, left, right, self.results]
    }

    fn whole(&self) -> Result<usize> {
        pieces::in_all(&self.sizes())
    }

    fn pieces<'a>(&self, space: Region<'a>) -> Result<Pieces<'a>> {
        let [tables, a, b, c, d, states, left, right, results] = pieces::divide(space, self.sizes())?;
        Ok(Pieces { tables, elements: [a, b, c, d], states, library: [left, right], results })
    }
}

fn choose_algorithm(gpu: &Gpu, call: &Call<'_>, has_library: impl FnOnce() -> Result<bool>) -> Result<Algorithm> {
    let plan = call.plan();
    let pairs = plan.pairs.len();
    let dense = match plan.method {
        Method::Halves => Some(Algorithm::Halves),
        Method::Power => Some(Algorithm::Power),
        _ => None,
    };
    if let Some(algorithm) = dense {
        if has_library()? {
            return Ok(algorithm);
        }
        let problem = "method: dense halves and powers are computed by cuBLAS, which is not there";
        return Err(Error::NotSupported(problem.into()));
    }
    let open = pairs == 1 && call.length == call.sites.len() && call.length >= 2;
    if (plan.kernel == Kernel::Chain || call.length == 1)
        && let Some(form) = chain::form_of(call.dtype(), gpu, &call.sites, call.length, pairs.min(PAIRS))?
    {
        return Ok(if open { Algorithm::Ends(form, call.middle()) } else { Algorithm::Pairs(form) });
    }
    if !(pairs == 1 && plan.kernel == Kernel::Chain) && has_library()? {
        return Ok(if open { Algorithm::Library } else { Algorithm::Blocks });
    }
    if pairs == 1 {
        return Ok(Algorithm::Grid(open.then(|| call.middle())));
    }
    let problem = format!("x and y: {pairs} boundary pairs of such ranks are computed by cuBLAS, which is not there");
    Err(Error::NotSupported(problem))
}

fn workspace_of(call: &Call<'_>, math: Math, algorithm: Algorithm) -> Result<PieceSizes> {
    let tables = Tables::enqueued_bytes(call.sites.len())?;
    let element = call.dtype().size();
    let bond = |middle: usize| product("rank", call.sites[middle].r[0], call.sites[middle].s[0]);
    let results = |terms: usize| product("products", terms, RESULT_WORDS * 8);
    let bare = PieceSizes { tables, elements: [0; 4], states: 0, library: [0; 2], results: 0 };
    let library = Blas::workspace_bytes(call.gpu);
    Ok(match algorithm {
        Algorithm::Pairs(_) => PieceSizes { results: results(call.plan().pairs.len())?, ..bare },
        Algorithm::Ends(_, middle) => {
            let count = bond(middle)?;
            let each = product("rank", count, element)?;
            let all = product("rank", each, 2)?;
            PieceSizes {
                elements: [all, 0, 0, 0],
                states: 2 * STATE_BYTES,
                results: results(tt::sum_blocks(count))?,
                ..bare
            }
        }
        Algorithm::Grid(middle) => {
            let (environment, products) = tt::grid_strides(&call.sites)?;
            let elements = product("work space", 2 * element, 2 * environment + products)?;
            let states = product("sites", call.length, tt::GRID_KEYS * 8)? + 2 * STATE_BYTES + 16;
            let count = middle.map_or(Ok(1), bond)?;
            PieceSizes { elements: [elements, 0, 0, 0], states, results: results(tt::sum_blocks(count))?, ..bare }
        }
        Algorithm::Blocks => {
            let (f, g, t) = blocks::bytes(call, math)?;
            PieceSizes {
                elements: [f, g.unwrap_or(0), t, 0],
                states: STATE_BYTES + SECOND + Products::NUMBERS,
                library: [library, 0],
                results: results(call.plan().pairs.len())?,
                ..bare
            }
        }
        Algorithm::Library => {
            let [left, right] = ends::bytes(call)?;
            let meet = call.plan().meet.min(call.length);
            let count = if meet < call.length { bond(meet)? } else { 1 };
            PieceSizes {
                // The first environment is written as 16 bytes for any type.
                elements: [left[0].max(16), left[1], right[0].max(16), right[1]],
                states: 2 * (STATE_BYTES + SECOND + Products::NUMBERS),
                library: [library; 2],
                results: results(tt::sum_blocks(count))?,
                ..bare
            }
        }
        Algorithm::Halves => PieceSizes {
            tables: 0,
            elements: [pieces::in_all(&halves::bytes(call)?)?, 0, 0, 0],
            states: Exponents::bytes(halves::EXPONENTS)? + Products::NUMBERS,
            library: [library, 0],
            results: results(halves::terms(call)?)?,
        },
        Algorithm::Power => PieceSizes {
            tables: 0,
            elements: [pieces::in_all(&power::bytes(call)?)?, 0, 0, 0],
            states: Exponents::bytes(power::counted(call) + 2)? + Products::NUMBERS,
            library: [library, 0],
            results: results(tt::sum_blocks(call.plan().pairs.len()))?,
        },
    })
}

/// cuBLAS on the stream of the call, and on the stream of the other end.
struct Libraries<'a> {
    math: Math,
    blas: &'a [Blas; 2],
}

/// Enqueues the product. Its terms go to the last piece of the workspace. Returns their number, and where to find the
/// largest entries of the cores. The terms of a ring of one core read only its diagonal, so a NaN elsewhere shows only
/// in these entries.
fn enqueue(
    call: &Call<'_>,
    algorithm: Algorithm,
    library: Option<Libraries<'_>>,
    pieces: &Pieces<'_>,
) -> Result<(usize, Spoilt)> {
    let (gpu, stream) = (call.gpu, call.stream);
    let &Pieces { tables, elements: [elements, ..], states, results, .. } = pieces;
    let without = || Error::Internal("products of a library without one".into());
    if matches!(algorithm, Algorithm::Halves | Algorithm::Power) {
        let Libraries { math, blas: [blas, _] } = library.ok_or_else(without)?;
        let (numbers, states) = (states.part(0, Products::NUMBERS)?, after(states, Products::NUMBERS)?);
        let products = Products::in_memory(call.dtype(), gpu, blas, math, numbers)?;
        let run = if matches!(algorithm, Algorithm::Halves) { halves::enqueue } else { power::enqueue };
        return Ok((run(call, &products, elements, states, results)?, Spoilt::default()));
    }
    let sites = crate::alloc::copied("sites of a contraction", &call.sites)?;
    let tables = Tables::enqueued(call.dtype(), gpu, stream, sites, (from_ref(&call.x), from_ref(&call.y)), tables)?;
    let sweep = |middle| Sweep { unscaled: false, ..call.sweep(middle) };
    let bond = |site: Site| product("rank", site.r[0], site.s[0]);
    let spoilt = Spoilt { known: false, keys: tables.core_keys() };
    let count = match algorithm {
        Algorithm::Pairs(form) => {
            let count = call.plan().pairs.len();
            for first in (0..count).step_by(PAIRS) {
                let now = PAIRS.min(count - first);
                let word = RESULT_WORDS * 8;
                let to = results.part(first * word, now * word)?;
                tt::chain_pairs(call.dtype(), gpu, stream, form, &tables, &sweep(None), (first, now), true, to)?;
            }
            Ok(count)
        }
        Algorithm::Ends(form, middle) => {
            let count = bond(call.sites[middle])?;
            gpu.clear(stream, states)?;
            let ends = (elements, count);
            tt::chain_ends(call.dtype(), gpu, stream, form, &tables, &sweep(Some(middle)), true, ends, states)?;
            let half = elements.bytes() / 2;
            let (left, right) = (elements.part(0, half)?, elements.part(half, half)?);
            let all = (count, 0);
            tt::join(call.dtype(), gpu, stream, left, Some(right), all, states, None, (false, false), results)?;
            Ok(tt::sum_blocks(count))
        }
        Algorithm::Grid(middle) => {
            let (environment, products) = tt::grid_strides(&call.sites)?;
            gpu.clear(stream, states)?;
            let words = call.length * tt::GRID_KEYS * 8;
            let places = states.part(2 * STATE_BYTES + words, 16)?;
            let (keys, states) = (states.part(2 * STATE_BYTES, words)?, states.part(0, 2 * STATE_BYTES)?);
            let largest = call.sites.iter().flat_map(|s| [s.r[1], s.s[1]]).max().unwrap_or(1);
            let work = GridSpace { elements, states, keys, places };
            let sweep = Sweep { halved: false, ..sweep(middle) };
            tt::grid(call.dtype(), gpu, stream, &tables, &sweep, (0, 0), true, largest > 192, work)?;
            let count = middle.map_or(Ok(1), |m| bond(call.sites[m]))?;
            let each = product("work space", call.dtype().size(), 2 * environment + products)?;
            let left = elements.part(0, each)?;
            let right = middle.map(|_| elements.part(each, each)).transpose()?;
            let all = (count, environment);
            tt::join(call.dtype(), gpu, stream, left, right, all, states, Some(places), (false, false), results)?;
            Ok(tt::sum_blocks(count))
        }
        Algorithm::Blocks => by_blocks(call, &tables, library.ok_or_else(without)?, pieces),
        Algorithm::Library => by_ends(call, &tables, library.ok_or_else(without)?, pieces),
        Algorithm::Halves | Algorithm::Power => Err(without()),
    }?;
    Ok((count, spoilt))
}

/// The part of a region after its first `bytes` bytes.
fn after(region: Region<'_>, bytes: usize) -> Result<Region<'_>> {
    region.part(bytes, region.bytes().saturating_sub(bytes))
}

/// Enqueues all boundary pairs, block by block. All blocks use the same memory.
fn by_blocks(
    call: &Call<'_>,
    tables: &Tables<'_>,
    Libraries { math, blas: [blas, _] }: Libraries<'_>,
    pieces: &Pieces<'_>,
) -> Result<usize> {
    let (plan, gpu, stream) = (call.plan(), call.gpu, call.stream);
    let [f, g, t, _] = pieces.elements;
    // cuBLAS may multiply old contents by a factor 0, which would give NaN if they are NaN.
    pieces.elements.iter().try_for_each(|part| gpu.clear(stream, *part))?;
    let state = pieces.states.part(0, STATE_BYTES)?;
    let second = pieces.states.part(STATE_BYTES, SECOND)?;
    let numbers = pieces.states.part(STATE_BYTES + SECOND, Products::NUMBERS)?;
    let products = Products::in_memory(call.dtype(), gpu, blas, math, numbers)?;
    let scaling = Scaling::Careful(Careful { dtype: call.dtype(), keys: tt::Careful(tables), second });
    let mut workspace = blocks::Workspace { f, g: (g.bytes() > 0).then_some(g), t, state, scaling };
    let word = RESULT_WORDS * 8;
    for index in 0..plan.blocks() {
        let pairs = plan.pairs.block(index, plan.block);
        let out = pieces.results.part(pairs.start * word, pairs.len() * word)?;
        blocks::block(call, &products, &mut workspace, pairs, out)?;
    }
    Ok(plan.pairs.len())
}

/// Enqueues both ends of an open product, each on its own stream.
fn by_ends(
    call: &Call<'_>,
    tables: &Tables<'_>,
    Libraries { math, blas }: Libraries<'_>,
    pieces: &Pieces<'_>,
) -> Result<usize> {
    let (gpu, stream) = (call.gpu, call.stream);
    pieces.elements.iter().try_for_each(|part| gpu.clear(stream, *part))?;
    gpu.clear(stream, pieces.states)?;
    let meet = call.plan().meet.min(call.length);
    // The other stream must wait until the tables and the memory are ready.
    blas[1].stream().wait_for(stream)?;
    let at = |place: usize, bytes: usize| pieces.states.part(place, bytes);
    let end = |side: usize| -> Result<End<'_>> {
        let seconds = 2 * STATE_BYTES;
        let numbers = at(seconds + 2 * SECOND + side * Products::NUMBERS, Products::NUMBERS)?;
        let second = at(seconds + side * SECOND, SECOND)?;
        Ok(End {
            products: Products::in_memory(call.dtype(), gpu, &blas[side], math, numbers)?,
            is_right: side == 1,
            sites: [meet, call.length - meet][side],
            f: pieces.elements[2 * side],
            t: pieces.elements[2 * side + 1],
            state: at(side * STATE_BYTES, STATE_BYTES)?,
            scaling: Scaling::Careful(Careful { dtype: call.dtype(), keys: tt::Careful(tables), second }),
            measured: false,
        })
    };
    let mut both = [end(0)?, end(1)?];
    both.iter().try_for_each(|end| end.open(call))?;
    ends::sweep(call, &mut both, [0; 2])?;
    ends::join(call, &both, pieces.states, pieces.results)?;
    Ok(tt::sum_blocks(ends::joined(call, &both)?))
}

/// Returns an error for trains that cannot be used in place.
fn expect_enqueueable(machine: &GpuContraction, work: &Work<'_>) -> Result<()> {
    for (name, train) in [("x", work.x), ("y", work.y)] {
        if !train.is_device() || !std::sync::Arc::ptr_eq(train.context(), &machine.context) {
            return Err(Error::NotSupported(format!(
                "{name}: lies on the host; a call that waits for nothing copies nothing"
            )));
        }
        if train.dtype() != work.plan.dtype {
            let problem = format!("{name}: is {}, the other is complex; one type is needed", train.dtype().name());
            return Err(Error::NotSupported(problem));
        }
        let aligned = |k: usize| train.address(k).is_multiple_of(crate::shape::to_u64(work.plan.dtype.size()));
        if !(0..train.shape().len()).all(aligned) {
            return Err(Error::NotSupported(format!("{name}: has cores that are not aligned to an element")));
        }
    }
    Ok(())
}

impl GpuContraction {
    /// Creates cuBLAS for enqueued calls, and the stream of the other end. Returns `false` if the library is not
    /// installed.
    fn allocate_enqueued(&mut self, stream: &GpuStream) -> Result<bool> {
        if self.enqueued.as_ref().is_some_and(|both| !both.iter().any(Blas::is_broken)) {
            return Ok(true);
        }
        if stream.is_captured()? {
            let problem = "stream: is being captured, and cuBLAS is not there yet: ask for the workspace before";
            return Err(Error::NotSupported(problem.into()));
        }
        let side = match &self.side {
            Some(side) => side.clone(),
            None => self.side.insert(self.gpu.create_independent_stream()?).clone(),
        };
        let blas = || {
            let blas = Blas::without_workspace(&self.gpu, &side)?;
            blas.set_precision(self.precision())?;
            Ok(blas)
        };
        match blas().and_then(|first| Ok([first, blas()?])) {
            Ok(both) => self.enqueued = Some(both),
            Err(Error::NoDevice(_)) => return Ok(false),
            Err(other) => return Err(other),
        }
        Ok(true)
    }

    /// Enqueues a product, or its square root if `root`. The result is [`result::NUMBERS`] numbers at `to`: mantissa,
    /// exponent, and whether it is finite. Uses `workspace` if it is given.
    pub(super) fn enqueued(
        &mut self,
        work: &Work<'_>,
        root: bool,
        workspace: Option<&DeviceMemory>,
        to: Option<Region<'_>>,
    ) -> Result<Enqueued> {
        expect_enqueueable(self, work)?;
        let stream = self.stream(work.stream);
        let (gpu, context, math) = (self.gpu.clone(), self.context.clone(), self.math);
        let x = Loaded::new(work.plan.dtype, &context, &gpu, &stream, "x", work.x)?;
        let y = Loaded::new(work.plan.dtype, &context, &gpu, &stream, "y", work.y)?;
        let call = Call::new(work, &gpu, &stream, &x, &y)?;
        let algorithm = choose_algorithm(&gpu, &call, || self.allocate_enqueued(&stream))?;
        let sizes_of_pieces = workspace_of(&call, math, algorithm)?;
        let examination = Examination::new([work.x, work.y], turns(work))?;
        let is_dense = matches!(algorithm, Algorithm::Halves);
        let sizes = [
            sizes_of_pieces.whole()?,
            examination.bytes(),
            if is_dense { CoreKeys::bytes(2 * call.sites.len())? } else { 0 },
        ];
        let bytes = pieces::in_all(&sizes)?;
        let library = algorithm.by_library();
        let done = Enqueued { bytes, kernel: if library { Kernel::Products } else { Kernel::Chain } };
        let Some(to) = to else { return Ok(done) };
        let mut own = None;
        let space = space(&gpu, &stream, workspace, bytes, &mut own)?;
        let [space, examined, keys] = pieces::divide(space, sizes)?;
        let pieces = sizes_of_pieces.pieces(space)?;
        let side = self.side.clone();
        let blas = match (&mut self.enqueued, &side) {
            (Some(blas), Some(side)) if library => {
                blas[0].use_workspace(&stream, pieces.library[0])?;
                if matches!(algorithm, Algorithm::Library) {
                    blas[1].use_workspace(side, pieces.library[1])?;
                }
                Some(Libraries { math, blas })
            }
            _ => None,
        };
        let (count, spoilt) = match enqueue(&call, algorithm, blas, &pieces) {
            Ok(done) => done,
            Err(problem) => {
                // The memory is freed in the order of the call's stream, so this stream must first wait for the other
                // one.
                if let (Algorithm::Library, Some(side)) = (algorithm, &side) {
                    let _ = stream.wait_for(side);
                }
                return Err(problem);
            }
        };
        // This call cannot balance bonds. If the examination finds unbalanced ones, the result is NaN.
        examination.start(&gpu, &stream, examined, pieces.results)?;
        if is_dense {
            // A dense tensor has one exponent, so cores with extreme magnitudes make the result NaN, too. A call that
            // waits would compute the sum by pairs instead.
            let mut cores = crate::alloc::with_capacity("cores of a train", 2 * call.sites.len())?;
            cores.extend_from_slice(&call.x);
            cores.extend_from_slice(&call.y);
            let keys = CoreKeys::find(call.dtype().part(), &gpu, &stream, &cores, keys)?;
            let most = if call.dtype().is_single() { 60 } else { 600 };
            bonds::mark_graded(&gpu, &stream, keys, call.sites.len(), (most, i64::MAX), pieces.results)?;
        }
        let (real, conjugate) = (work.plan.pairs.halved, work.plan.conjugate_result);
        let halved = real && matches!(algorithm, Algorithm::Pairs(_) | Algorithm::Blocks);
        let terms = Terms { count, halved, real: real || root, conjugate, root };
        result::sum_terms(&gpu, &stream, pieces.results, terms, spoilt, to)?;
        Ok(done)
    }

    /// Enqueues the norm of the sum of trains, each times a factor, by QR factors. The other arguments are those of
    /// [`GpuContraction::enqueued`].
    pub(super) fn enqueued_norm(
        &mut self,
        work: &Work<'_>,
        trains: &[(&TensorTrain, f64)],
        workspace: Option<&DeviceMemory>,
        to: Option<Region<'_>>,
    ) -> Result<Enqueued> {
        expect_enqueueable(self, work)?;
        let stream = self.stream(work.stream);
        let gpu = self.gpu.clone();
        if self.solver.is_none() && stream.is_captured()? {
            let problem = "stream: is being captured, and cuSOLVER is not there yet: ask for the workspace before";
            return Err(Error::NotSupported(problem.into()));
        }
        if !self.allocate_enqueued(&stream)? || !self.allocate_solver(&stream)? {
            let problem = "norm_method: QR factors are computed by cuBLAS and cuSOLVER, which are not there";
            return Err(Error::NotSupported(problem.into()));
        }
        let loaded = self.loaded(work.plan.dtype, &stream, trains)?;
        let terms = qr::terms_of(&loaded, trains)?;
        let (Some(solver), Some([blas, _])) = (&self.solver, &mut self.enqueued) else {
            return Err(Error::Internal("norms without their libraries".into()));
        };
        let results = qr::results(qr::terms(work, &terms)?)?;
        let examination = Examination::new([work.x, if trains.len() > 1 { work.y } else { work.x }], turns(work))?;
        let sizes = [
            pieces::in_all(&qr::bytes(solver, work, &terms)?)?,
            qr::NUMBERS,
            Exponents::bytes(2)?,
            Blas::workspace_bytes(&gpu),
            results,
            examination.bytes(),
            qr::graded_bytes(work, &terms)?,
        ];
        let bytes = pieces::in_all(&sizes)?;
        let done = Enqueued { bytes, kernel: Kernel::Products };
        let Some(to) = to else { return Ok(done) };
        let mut own = None;
        let space = space(&gpu, &stream, workspace, bytes, &mut own)?;
        let [elements, numbers, states, library, results, examined, graded] = pieces::divide(space, sizes)?;
        blas.use_workspace(&stream, library)?;
        let space = qr::Space::Borrowed(pieces::divide(elements, qr::bytes(solver, work, &terms)?)?);
        let exponents = Exponents::in_memory(work.plan.dtype, &gpu, &stream, 2, states)?;
        let mut norms =
            qr::Norms { dtype: work.plan.dtype, gpu: &gpu, stream: &stream, blas, solver, numbers, exponents, space };
        let count = norms.enqueue(work, &terms, results)?;
        // A call that waits would compute such a norm on the host. The result here is NaN.
        qr::mark_graded((&gpu, &stream), work, &terms, graded, results)?;
        examination.start(&gpu, &stream, examined, results)?;
        let terms = Terms { count, halved: false, real: true, conjugate: false, root: true };
        result::sum_terms(&gpu, &stream, results, terms, Spoilt::default(), to)?;
        Ok(done)
    }
}

/// Number of passes of the contraction through all sites, for the examination of rings; `None` without scaling.
fn turns(work: &Work<'_>) -> Option<usize> {
    let (plan, is_one) = (work.plan, work.x.is_uniform() && work.y.is_uniform());
    let all = usize::try_from(plan.repeat).unwrap_or(usize::MAX);
    // For a power of one core, `plan.repeat` counts sites, not passes through the train.
    let sites = if is_one && plan.method == Method::Power { work.x.shape().len() } else { 1 };
    plan.rescue.then_some(all.div_ceil(sites))
}

/// The caller's workspace, or a new one if there is none. Returns an error if the caller's is too small.
fn space<'s>(
    gpu: &Gpu,
    stream: &GpuStream,
    given: Option<&'s DeviceMemory>,
    bytes: usize,
    own: &'s mut Option<DeviceMemory>,
) -> Result<Region<'s>> {
    match given {
        Some(memory) if memory.bytes() < bytes => {
            Err(Error::invalid("workspace", format!("has {} bytes, {bytes} are needed", memory.bytes())))
        }
        Some(memory) => Ok(memory.whole()),
        None => {
            let memory = gpu.allocate_uninitialized_on(stream, "work space of a contraction", bytes)?;
            Ok(own.insert(memory).whole())
        }
    }
}
