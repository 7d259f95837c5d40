//! <y|H|x> on a GPU without waiting for it. Exponents stay on the device, tables are launch parameters, and all memory
//! is one region. A first run of the same code, which enqueues nothing, counts its bytes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::chain::{Chain, Half, Held};
use super::erased::{self, Operations};
use super::gpu::{multiply, per_index, step_workspace, stretch};
use super::ops::{CoreView, Extent, Site, StepBytes};
use super::plan::{Plan, cut_of};
use super::slots::Slots;
use super::trains::Trains;
use crate::alloc;
use crate::backend::gpu::kernels::tt::operator::{self as kernels, Terms};
use crate::backend::gpu::kernels::tt::sandwich::{self, CoreKeys, Ready};
use crate::backend::gpu::kernels::tt::{RESULT_WORDS, result};
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, GpuStream, Region, Transpose, View};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::operator::rings;
use crate::scalar::{Complex, DType};
use crate::shape::{product, to_i64, to_u64};
use crate::tensor::train::TensorTrain;
use crate::trains::balance::{self, Enqueued as Examination};
use crate::trains::finite;
use crate::trains::info::Info;
use crate::trains::options::Options;
use crate::trains::watch::Watch;

/// Alignment of pieces of the workspace in bytes.
const GRAIN: usize = 256;
/// Bytes of two exponents, two keys or a factor.
const PAIR: usize = 16;
/// Bytes of a result: [`result::NUMBERS`] F64.
const NUMBER: usize = result::NUMBERS * 8;

/// Operations that enqueue work or, without memory, only count bytes of workspace.
pub(super) struct Enqueued<'a> {
    /// Element type of the contraction.
    dtype: DType,
    gpu: Gpu,
    stream: GpuStream,
    blas: Option<&'a Mutex<Blas>>,
    space: Option<Region<'a>>,
    /// The first free byte of the workspace; the largest value of it so far.
    next: AtomicUsize,
    most: AtomicUsize,
    /// Keys of the largest entries of the bra's cores, and then of the ket's.
    keys: Option<CoreKeys>,
    /// Whether the last slot of the environments is the slot of the identity.
    identity: AtomicBool,
    fixed: Fixed,
}

/// Pieces that are allocated for the whole contraction.
#[derive(Clone, Copy, Default)]
struct Fixed {
    library: Span,
    keys: Span,
    /// Keys of the largest numbers of an environment.
    peaks: Span,
    /// Factor of the first product of a step.
    alpha: Span,
    /// Workspace of the examination of the trains.
    examination: Span,
}

/// A piece of the workspace.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    first: usize,
    bytes: usize,
}

/// An environment, and the exponents of its groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Environment {
    data: Span,
    exponents: Span,
}

impl<'a> Enqueued<'a> {
    /// Operations that only count the memory of a contraction.
    pub fn counting(gpu: &Gpu, stream: &GpuStream, chain: &Chain<'_>, examination: &Examination) -> Result<Self> {
        let mut ops = Self {
            dtype: chain.dtype,
            gpu: gpu.clone(),
            stream: stream.clone(),
            blas: None,
            space: None,
            next: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            keys: None,
            identity: AtomicBool::new(false),
            fixed: Fixed::default(),
        };
        ops.fixed = Fixed {
            library: ops.take(Blas::workspace_bytes(gpu))?,
            keys: ops.take(CoreKeys::bytes(2 * chain.len())?)?,
            peaks: ops.take(PAIR)?,
            alpha: ops.take(PAIR)?,
            examination: ops.take(examination.bytes())?,
        };
        Ok(ops)
    }

    /// Operations in `space`, which includes cuBLAS's workspace.
    pub fn new(
        gpu: &Gpu,
        stream: &GpuStream,
        chain: &Chain<'_>,
        blas: &'a Mutex<Blas>,
        space: Region<'a>,
        examination: &Examination,
    ) -> Result<Self> {
        let counted = Self::counting(gpu, stream, chain, examination)?;
        let mut ops = Self { blas: Some(blas), space: Some(space), ..counted };
        let fixed = ops.fixed;
        let at = |span: Span| space.part(span.first, span.bytes);
        blas.lock().unwrap_or_else(PoisonError::into_inner).use_workspace(stream, at(fixed.library)?)?;
        let mut cores = alloc::with_capacity("cores of a train", 2 * chain.len())?;
        for (name, train) in [("y", chain.trains.bra), ("x", chain.trains.ket)] {
            for k in 0..train.shape().len() {
                cores.push(whole_core(&CoreView::new(name, train, k))?);
            }
        }
        ops.keys = Some(CoreKeys::find(chain.dtype.part(), gpu, stream, &cores, at(fixed.keys)?)?);
        Ok(ops)
    }

    /// Largest number of bytes in use so far.
    pub fn bytes(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> Result<Span> {
        let first = self.next.load(Ordering::Relaxed);
        let end = bytes.checked_next_multiple_of(GRAIN).and_then(|bytes| first.checked_add(bytes));
        let end = end.ok_or_else(|| Error::invalid("x", "needs more workspace than there are addresses"))?;
        self.next.store(end, Ordering::Relaxed);
        self.most.fetch_max(end, Ordering::Relaxed);
        Ok(Span { first, bytes })
    }

    fn allocate(&self, elements: usize) -> Result<Span> {
        self.take(product("x", elements, self.dtype.size())?)
    }

    /// Calls `run`, and then frees the pieces that it allocated. They can be reused without waiting, because all work
    /// is on one stream.
    fn within<R>(&self, run: impl FnOnce() -> Result<R>) -> Result<R> {
        let first = self.next.load(Ordering::Relaxed);
        let result = run();
        self.next.store(first, Ordering::Relaxed);
        result
    }

    /// A core in the contraction's type and in the order in which a step reads it. The core is copied only if
    /// necessary. It is not scaled: its magnitude is in the keys.
    fn core<'r>(&'r self, view: &CoreView<'r>, mirrored: bool) -> Result<Option<Region<'r>>> {
        let source = whole_core(view)?;
        let widen = view.dtype != self.dtype;
        let address = view.memory.address() + to_u64(view.offset * view.dtype.size());
        if !mirrored && !widen && address.is_multiple_of(to_u64(self.dtype.size())) {
            return Ok(Some(source));
        }
        let to = self.allocate(view.dims.iter().product())?;
        let Some(space) = self.space else { return Ok(None) };
        let to = space.part(to.first, to.bytes)?;
        kernels::turn(self.dtype, &self.gpu, &self.stream, source, view.dims, (mirrored, widen), 0, to)?;
        Ok(Some(to))
    }
}

/// The device memory of a core.
fn whole_core<'r>(view: &CoreView<'r>) -> Result<Region<'r>> {
    let element = view.dtype.size();
    match view.memory {
        Memory::Device(memory) => memory.region(view.offset * element, view.dims.iter().product::<usize>() * element),
        Memory::Host(_) => Err(Error::NotSupported(format!(
            "{}: lies on the host; a call that waits for nothing copies nothing",
            view.argument
        ))),
    }
}

/// Returns an error for trains that are not on the device.
pub(super) fn expect_on_device(name: &'static str, train: &TensorTrain) -> Result<()> {
    (0..train.shape().len()).try_for_each(|k| whole_core(&CoreView::new(name, train, k)).map(|_| ()))
}

impl Operations for Enqueued<'_> {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn environment(&self, elements: usize) -> Result<erased::Environment> {
        Ok(erased::Environment::new(Environment { data: self.allocate(elements)?, exponents: self.take(PAIR)? }))
    }

    /// Whether to use as little workspace as possible.
    fn work(&self, _: usize, narrow: bool) -> erased::Work {
        erased::Work::new(narrow)
    }

    fn step_workspace(&self, _: usize, narrow: bool, from: Extent, to: Extent, modes: [usize; 2]) -> StepBytes {
        step_workspace(self.dtype, narrow, from, to, modes)
    }

    fn boundary(&self, to: &mut erased::Environment, extent: Extent, first: usize, starts: &[bool]) -> Result<()> {
        let to = to.of::<Environment>()?;
        if starts.iter().any(|starts| !starts) {
            return Err(Error::Internal("a path that begins where none does".into()));
        }
        let Some(space) = self.space else { return Ok(()) };
        let Extent { bra, slots, pairs, ket } = extent;
        self.gpu.clear(&self.stream, space.part(to.exponents.first, PAIR)?)?;
        let data = space.part(to.data.first, to.data.bytes)?;
        self.gpu.clear(&self.stream, data)?;
        sandwich::boundary(self.dtype, &self.gpu, &self.stream, data, [bra, slots, pairs, ket], first)
    }

    /// The exponents stay on the device, so the returned exponent is 0.
    fn step(
        &self,
        work: &mut erased::Work,
        site: &Site<'_>,
        from: &erased::Environment,
        extent: Extent,
        to: &mut erased::Environment,
    ) -> Result<i64> {
        let (narrow, from, to) = (*work.of_mut::<bool>()?, from.of()?, to.of()?);
        let after = site.after(extent)?;
        self.within(|| self.advance(narrow, site, (from, extent), (to, after)))?;
        Ok(0)
    }

    /// The magnitude stays on the device, so 0.5 stands for it. The next step scales the numbers to [0.5, 1) there.
    fn peaks(&self, _: &erased::Environment, _: Extent, _: usize) -> Result<[f64; 2]> {
        Ok([0.5; 2])
    }

    fn shift(&self, _: &mut erased::Environment, _: Extent, _: usize, _: [i64; 2]) -> Result<()> {
        Err(Error::Internal("an exponent that the host does not know".into()))
    }

    fn join(&self, _: (&erased::Environment, Extent), _: (&erased::Environment, Extent)) -> Result<Vec<Complex<f64>>> {
        Err(Error::Internal("sums that the host does not know".into()))
    }

    fn is_concurrent(&self) -> bool {
        false
    }

    fn run_both(&self, a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
        a();
        b();
    }
}

impl Enqueued<'_> {
    /// Enqueues a step over `site` from one environment to another.
    fn advance(
        &self,
        narrow: bool,
        site: &Site<'_>,
        (from, extent): (&Environment, Extent),
        (to, after): (&Environment, Extent),
    ) -> Result<()> {
        let gather = site.gather;
        let (rows, width) = (extent.bra * extent.slots * extent.pairs, after.slots * extent.pairs);
        let (m, n) = (gather.rows, gather.cols);
        if after.elements()? == 0 || rows == 0 {
            return self
                .space
                .map_or(Ok(()), |space| self.gpu.clear(&self.stream, space.part(to.exponents.first, PAIR)?));
        }
        let x = self.core(&site.ket, site.mirrored)?;
        let y = if site.bra.is_same(&site.ket) { x } else { self.core(&site.bra, site.mirrored)? };
        let columns = gather.rows * gather.outputs;
        let terms = self.take(Terms::enqueued_bytes(columns, gather.len())?)?;
        let length = stretch(self.dtype, extent, after, [m, n], narrow);
        let (t_size, u_size) = per_index(extent, after.slots, [m, n]);
        let (t, u) = (self.allocate(t_size * length)?, self.allocate(u_size * length)?);
        let (Some(space), Some(x), Some(y), Some(blas), Some(keys)) = (self.space, x, y, self.blas, self.keys) else {
            return Ok(());
        };
        let at = |span: Span| space.part(span.first, span.bytes);
        let (gpu, stream) = (&self.gpu, &self.stream);
        let of = |to: usize| gather.of(to).iter().map(|t| (t.slot, t.column, t.value));
        let terms = Terms::enqueued(gpu, stream, columns, of, at(terms)?)?;

        let data = at(from.data)?;
        let identity = usize::from(self.identity.load(Ordering::Relaxed));
        let groups = (extent.bra, extent.slots, extent.slots - identity.min(extent.slots));
        let peaks = at(self.fixed.peaks)?;
        gpu.clear(stream, peaks)?;
        kernels::find_peaks(self.dtype, gpu, stream, data, groups, extent.elements()?, peaks)?;
        let alpha = at(self.fixed.alpha)?;
        let how = Ready {
            keys: peaks,
            from: at(from.exponents)?,
            to: at(to.exponents)?,
            alpha,
            cores: keys,
            taken: [keys.cores() / 2 + site.ket.number, site.bra.number],
        };
        sandwich::ready(self.dtype, gpu, stream, data, groups, extent.elements()?, how)?;

        let (t, u) = (at(t)?, at(u)?);
        let from = (View::packed(data, rows, extent.ket), Transpose::Plain);
        let x = View::packed(x, extent.ket, n * after.ket);
        let taken = if site.conjugate { Transpose::Adjoint } else { Transpose::Transpose };
        let y = (View::packed(y, extent.bra * m, after.bra), taken);
        let blas = blas.lock().unwrap_or_else(PoisonError::into_inner);
        for first in (0..after.ket).step_by(length) {
            let now = length.min(after.ket - first);
            let x = (x.columns(self.dtype, n * first, n * now)?, Transpose::Plain);
            multiply(self.dtype, &blas, from, x, View::packed(t, rows, n * now))?;
            let sizes = [extent.bra, gather.inputs, extent.pairs, n, now];
            kernels::gather(self.dtype, gpu, stream, &terms, sizes, t, u, Some(alpha))?;
            let sums = (View::packed(u, extent.bra * m, width * now), Transpose::Plain);
            let place = after.bra * width * self.dtype.size();
            let out = View::packed(at(to.data)?.part(place * first, place * now)?, after.bra, width * now);
            multiply(self.dtype, &blas, y, sums, out)?;
        }
        Ok(())
    }

    /// Enqueues the terms of both groups, at the bond where two environments meet.
    fn meet(&self, left: &Held, right: &Held, split: usize, terms: [Span; 2]) -> Result<()> {
        let (l, r) = (left.extent, right.extent);
        let [from, to] = [left.data.of::<Environment>()?, right.data.of::<Environment>()?];
        if (l.bra, l.pairs, l.ket) != (r.bra, r.pairs, r.ket) || (r.slots != 1 && r.slots != l.slots) {
            return Err(Error::Internal(format!("environments of {l:?} and {r:?} meet")));
        }
        let each = (l.bra, l.pairs * l.ket);
        let blocks = kernels::meet_blocks(each.0, each.1)?;
        if blocks == 0 || l.slots == 0 {
            return Ok(());
        }
        self.within(|| {
            let sums = self.take(product("environment", l.slots * blocks, 2 * 8)?)?;
            let Some(space) = self.space else { return Ok(()) };
            let at = |span: Span| space.part(span.first, span.bytes);
            let (a, b) = ((at(from.data)?, l.slots), (at(to.data)?, r.slots));
            kernels::find_sums(self.dtype, &self.gpu, &self.stream, a, b, each, at(sums)?)?;
            let known = [0, 1].map(|g| left.exponent[g] + right.exponent[g]);
            let exponents = [at(from.exponents)?, at(to.exponents)?];
            let count = (split * blocks, l.slots * blocks);
            sandwich::collect(
                &self.gpu,
                &self.stream,
                at(sums)?,
                count,
                exponents,
                known,
                [at(terms[0])?, at(terms[1])?],
            )
        })
    }

    /// Enqueues <y|H|x>, or <y|H|x> / <y|x> if `ratio`. The result goes to `result`. If `real`, only the real part of
    /// <y|H|x> is used.
    pub fn contract(
        &self,
        chain: &Chain<'_>,
        plan: &Plan,
        (ratio, real): (bool, bool),
        examination: &Examination,
        to: Option<Region<'_>>,
    ) -> Result<()> {
        let used_runs = || plan.runs.iter().filter(|slots| slots.count(0) > 0);
        let count = used_runs().count() * plan.pairs.div_ceil(plan.block);
        let word = RESULT_WORDS * 8;
        let terms = self.take(product("terms", 2 * count.max(1), word)?)?;
        let sums = [self.take(NUMBER)?, self.take(NUMBER)?];
        if let Some(space) = self.space {
            self.gpu.clear(&self.stream, space.part(terms.first, terms.bytes)?)?;
        }
        let term =
            |group: usize, index: usize| Span { first: terms.first + (group * count + index) * word, bytes: word };
        let mut index = 0;
        for slots in used_runs() {
            for first in (0..plan.pairs).step_by(plan.block) {
                let pairs = plan.block.min(plan.pairs - first);
                self.block(chain, plan, slots, (first, pairs), [term(0, index), term(1, index)])?;
                index += 1;
            }
        }
        let (Some(space), Some(to)) = (self.space, to) else { return Ok(()) };
        let at = |span: Span| space.part(span.first, span.bytes);
        // The contraction does not read blocks that are on no path, so a NaN there must be found here.
        let known = match chain.trains.operator {
            Some(h) => !finite::is_finite(h.train())?,
            None => false,
        };
        let sum = |group: usize, real: bool, to: Region<'_>| {
            let all = Span { first: terms.first + group * count * word, bytes: count * word };
            let sum = result::Terms { count, halved: false, real, conjugate: false, root: false };
            // Zeros of the operator keep some entries of the ket out of all sums, so the kernel must also look at the
            // entries' keys.
            let spoilt = result::Spoilt { known: known && group == 0, keys: self.keys };
            result::sum_terms(&self.gpu, &self.stream, at(all)?, sum, spoilt, to)
        };
        let wanted = usize::from(chain.blocks.is_none());
        // This call cannot balance bonds. If the examination finds unbalanced ones, the result is NaN.
        examination.start(&self.gpu, &self.stream, at(self.fixed.examination)?, at(term(wanted, 0))?)?;
        if !ratio {
            return sum(wanted, real, to);
        }
        let [numerator, denominator] = [at(sums[0])?, at(sums[1])?];
        sum(wanted, real, numerator)?;
        sum(1, true, denominator)?;
        sandwich::quotient(&self.gpu, &self.stream, numerator, denominator, to)
    }

    /// Enqueues the terms of `pairs` boundary pairs from `first` on.
    fn block(
        &self,
        chain: &Chain<'_>,
        plan: &Plan,
        slots: &Slots,
        (first, pairs): (usize, usize),
        terms: [Span; 2],
    ) -> Result<()> {
        self.identity.store(slots.has_identity(), Ordering::Relaxed);
        self.within(|| {
            let [left, right] = plan.sweep_ranges(chain.len()).map(|range| {
                let mut work = erased::Work::new(plan.narrow);
                match chain.half(self, &mut work, slots, range, (first, pairs))?.0 {
                    Half::Value(held) => Ok(held),
                    Half::Ended(_) => Err(Error::Internal("a half that ended before its numbers are known".into())),
                }
            });
            self.meet(&left?, &right?, slots.operator(plan.middle).len(), terms)
        })
    }
}

/// Arguments of an enqueued call.
pub struct Call<'a> {
    /// The context that the trains belong to.
    pub context: &'a Arc<Context>,
    /// The caller's stream, or the context's own.
    pub stream: &'a GpuStream,
    /// The options of the contraction.
    pub options: &'a Options,
    /// cuBLAS, created when first needed.
    pub library: &'a mut Option<Mutex<Blas>>,
    /// The workspace that the caller provides.
    pub workspace: Option<&'a DeviceMemory>,
    /// Memory of the result. If `None`, the call only counts its workspace.
    pub result: Option<Region<'a>>,
    /// Cancellation and progress of the call.
    pub watch: Watch,
}

/// Enqueues <y|H|x>; if `ratio`, <y|H|x> / <y|x> with y = x.
///
/// # Errors
/// As [`super::sandwich`]; [`Error::NotSupported`] for trains on the host, and where the library is not there, or not yet while
/// the queue is captured; [`Error::InvalidArgument`] for a workspace that is too small.
pub fn enqueue(call: Call<'_>, trains: &Trains<'_>, ratio: bool) -> Result<Info> {
    let dtype = trains.check(call.context)?;
    expect_on_device("y", trains.bra)?;
    expect_on_device("x", trains.ket)?;
    let Call { context, stream, options, library, workspace, result, watch } = call;
    let gpu = context.gpu("result")?;
    // The operator is on the host, so its examination needs no device; its numbers are launch parameters.
    let turns = rings::turns(options);
    let examined = trains.operator.map(|h| balance::of_operator(context, h, turns.is_some())).transpose()?;
    let (matrix, operator_underflows) = examined.unwrap_or((None, false));
    if operator_underflows {
        let problem = "h: numbers of this ring hide others that count, which a call that does not wait would lose";
        return Err(Error::Numerical(problem.into()));
    }
    let trains = &Trains { operator: matrix.as_ref().or(trains.operator), ..*trains };
    let chain = Chain::of(options, *trains, dtype, cut_of(trains, options)?, &watch)?;
    let examination = Examination::new([trains.bra, trains.ket], turns)?;
    let counting = Enqueued::counting(gpu, stream, &chain, &examination)?;
    let plan = Plan::new(&chain, &counting, options, ratio || trains.operator.is_none())?;
    let real = options.assume_hermitian && trains.bra.is_same(trains.ket);
    counting.contract(&chain, &plan, (ratio, real), &examination, None)?;
    let bytes = counting.bytes();
    let is_usable = |blas: &mut Mutex<Blas>| !blas.get_mut().unwrap_or_else(PoisonError::into_inner).is_broken();
    if !library.as_mut().is_some_and(is_usable) {
        if stream.is_captured()? {
            let problem = "stream: is being captured, and cuBLAS is not there yet: ask for the workspace before";
            return Err(Error::NotSupported(problem.into()));
        }
        *library = Some(Mutex::new(Blas::without_workspace(gpu, stream)?));
    }
    let info = Info { workspace_bytes: to_i64(bytes), ..plan.info(&chain) };
    let (Some(result), Some(library)) = (result, library) else { return Ok(info) };
    let own;
    let space = match workspace {
        Some(memory) if memory.bytes() < bytes => {
            return Err(Error::invalid("workspace", format!("has {} bytes, {bytes} are needed", memory.bytes())));
        }
        Some(memory) => memory,
        None => {
            own = gpu.allocate_uninitialized_on(stream, "work space of a contraction", bytes)?;
            &own
        }
    };
    let ops = Enqueued::new(gpu, stream, &chain, library, space.whole(), &examination)?;
    ops.contract(&chain, &plan, (ratio, real), &examination, Some(result))?;
    Ok(info)
}
