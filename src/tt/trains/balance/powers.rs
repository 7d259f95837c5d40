//! Balances the bonds of trains on the host.
//!
//! `norms.rs`, `paths.rs`, `powers.rs`, `prune.rs`, `range.rs` and `ring_underflow.rs` import each other: the powers
//! follow from the norms and paths, which are found from a train's ends and have the name of its copy in errors.

use std::sync::Arc;

use super::norms::{NONE, Parts};
use super::paths::{IDLE, Paths, Powers};
use super::range;
use super::ring_underflow::ring_underflows;
use crate::alloc;
use crate::backend::cpu::parallel::Items as _;
use crate::backend::cpu::parallel::Pieces as _;
use crate::backend::cpu::simd::{Kernel, Simd, dispatch};
use crate::backend::cpu::{Isa, flags};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelWatch;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::to_i64;
use crate::tensor::Location;
use crate::tensor::train::{Cores, Shape, TensorTrain, TrainMatrix};
use crate::trains::scaled::{exponent_of, scale};

pub(super) const WHAT: &str = "copy of a tensor train with balanced bonds";

/// Largest exponent difference between the values of a bond that is left unbalanced. Entries of an environment of two
/// trains then differ by at most four times this exponent, also between the two products of a site. That is within the
/// range of the type.
pub(super) fn limit(dtype: DType) -> i64 {
    if dtype.is_single() { 24 } else { 120 }
}

/// Findings about a train; by default none.
#[derive(Default)]
pub(super) struct Examined {
    /// A copy with balanced bonds, if the train needs one.
    pub copy: Option<TensorTrain>,
    /// Whether a contraction of the train, or of its copy, is at risk of [`super::risk::Risk::RingUnderflow`].
    pub ring_underflows: bool,
    /// Whether a device may lose digits of the train, or of its copy: [`range::is_wide`].
    pub is_wide: bool,
}

/// Balances the bonds of a host train, and finds whether products of the balanced train may lose digits. `turns` is the
/// number of passes of a product through the cores; with `None` rings are not examined. Sets the calling thread's flag
/// of lost digits ([`flags`]) if, and only if, the copy has lost digits of entries that contribute.
///
/// # Errors
/// Out of memory.
pub(super) fn examined(context: &Arc<Context>, train: &TensorTrain, turns: Option<usize>) -> Result<Examined> {
    let limit = limit(train.dtype());
    if train.is_device() {
        return Ok(Examined::default());
    }
    let Measured { is_near: near, mut is_wide } = measured(context, train, limit)?;
    let bounds = Bounds { limit, drop: true };
    let copy =
        if near { None } else { with_scalar!(train.dtype(), "x", T => copy_of::<T>(context, train, None, bounds))? };
    let copy = report_loss(copy);
    if let Some(copy) = &copy {
        is_wide = range::is_wide(context, copy)?;
    }
    let ring_underflows = examine_ring(context, copy.as_ref().unwrap_or(train), near, copy.is_some(), turns)?;
    Ok(Examined { copy, ring_underflows, is_wide })
}

/// Whether products of a train, or of its copy (`is_copy`), are at risk of [`super::risk::Risk::RingUnderflow`]. `near` is
/// [`is_near`] of the train.
fn examine_ring(
    context: &Arc<Context>,
    train: &TensorTrain,
    near: bool,
    is_copy: bool,
    turns: Option<usize>,
) -> Result<bool> {
    let Some(turns) = turns else { return Ok(false) };
    if turns == 1 && (near || !train.shape().is_cyclic() || is_copy && is_near(context, train, limit(train.dtype()))?) {
        return Ok(false);
    }
    flags::watch(|| ring_underflows(context, train, turns)).0
}

/// Limits of a balanced copy.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Largest exponent difference between the values of a bond.
    pub limit: i64,
    /// Whether entries that are only multiplied by zeros become 0.
    pub drop: bool,
}

/// A train with the same tensor and bonds balanced within these bounds; `None` if they already are, and for a train on
/// a device.
///
/// # Errors
/// Out of memory.
pub(super) fn balanced_within(
    context: &Arc<Context>,
    train: &TensorTrain,
    bounds: Bounds,
) -> Result<Option<TensorTrain>> {
    Ok(watched_within(context, train, bounds)?.map(|Copied { train, .. }| train))
}

/// [`balanced_within`] that also reports whether the copy has lost digits.
fn watched_within(context: &Arc<Context>, train: &TensorTrain, bounds: Bounds) -> Result<Option<Copied>> {
    if train.is_device() || is_near(context, train, bounds.limit)? {
        return Ok(None);
    }
    with_scalar!(train.dtype(), "x", T => copy_of::<T>(context, train, None, bounds))
}

/// A copy of a train with balanced bonds.
struct Copied {
    train: TensorTrain,
    /// Whether the powers of two moved entries that contribute out of the range of the type.
    is_lossy: bool,
}

/// The train of the copy. Sets the calling thread's flag of lost digits if the copy is lossy.
fn report_loss(copy: Option<Copied>) -> Option<TensorTrain> {
    flags::hand_on(copy.as_ref().is_some_and(|copy| copy.is_lossy));
    copy.map(|copy| copy.train)
}

/// As [`examined`] for the train of an operator, with other bounds.
///
/// # Errors
/// Out of memory.
pub(super) fn examined_operator(
    context: &Arc<Context>,
    h: &TrainMatrix,
    bounds: Bounds,
    turns: Option<usize>,
) -> Result<Examined> {
    let train = h.train();
    if train.is_device() || is_near(context, train, bounds.limit)? {
        return Ok(Examined::default());
    }
    let copy = with_scalar!(train.dtype(), "h", T => copy_of::<T>(context, train, Some((h.rows(), h.cols())), bounds))?;
    let copy = report_loss(copy);
    // `bounds.limit` may be smaller than [`limit`], so that the bonds may need no copy and the ring still needs the
    // search.
    let ring_underflows = examine_ring(context, copy.as_ref().unwrap_or(train), false, true, turns)?;
    Ok(Examined { copy, ring_underflows, is_wide: false })
}

/// Least number of elements for which the context's threads examine a train.
const MANY: usize = 1 << 18;

/// Whether the entries of the cores are so close in magnitude that no bond can exceed the limit. This takes one pass
/// over the entries, and for most trains the answer is yes. A core without zeros connects every value of its left bond
/// to every value of its right bond, so the products up to the right bond differ by no more than the entries of this
/// core. A core with zeros may pass on the whole difference of the bond before.
pub(super) fn is_near(context: &Arc<Context>, train: &TensorTrain, limit: i64) -> Result<bool> {
    Ok(measured(context, train, limit)?.is_near)
}

/// Results of one pass over the numbers of a train.
struct Measured {
    /// [`is_near`].
    is_near: bool,
    /// [`range::is_wide`].
    is_wide: bool,
}

/// [`is_near`] and [`range::is_wide`] in one pass.
fn measured(context: &Arc<Context>, train: &TensorTrain, limit: i64) -> Result<Measured> {
    let (shape, isa, dtype) = (train.shape(), context.isa(), train.dtype());
    let cancel = context.cancel_watch();
    // The limit applies to half of the difference, rounded at both ends.
    let most = 2 * limit - 2;
    if train.is_uniform() {
        // If there are zeros, the differences of several cores may add up before later cores compensate them.
        let (rank, ends) = (shape.ranks()[0], ends_of(train, 0, isa)?);
        let times = if ends.has_zeros { to_i64(rank) } else { 2 };
        let is_near = rank == 1 || ends.range().saturating_mul(times) <= most;
        return Ok(Measured { is_near, is_wide: range::is_beyond(ends.low, ends.high, range::most(dtype)) });
    }
    let mut ends = alloc::filled(WHAT, shape.len(), Ends::default())?;
    if shape.elements() >= MANY {
        // The calling thread starts without waiting for the others: waking them takes about as long as one pass over a
        // train of medium size.
        context.pool().run_here(|| {
            ends.par_iter_mut().enumerate().try_for_each(|(k, ends)| {
                cancel.check()?;
                *ends = ends_of(train, k, isa)?;
                Ok::<(), Error>(())
            })
        })?;
    } else {
        for (k, ends) in ends.iter_mut().enumerate() {
            cancel.check()?;
            *ends = ends_of(train, k, isa)?;
        }
    }
    let is_wide = ends.iter().any(|ends| range::is_beyond(ends.low, ends.high, range::most(dtype)));
    let mut ranges = alloc::with_capacity(WHAT, ends.len())?;
    ranges.extend(ends.iter().map(|ends| (ends.range(), ends.has_zeros)));
    let added = |sum: i64, (range, has_zeros): (i64, bool)| if has_zeros { sum.saturating_add(range) } else { range };
    // If all cores of a ring have zeros, the differences of all cores may add up. Otherwise a second pass lowers the
    // bound.
    let (turns, around) = if shape.is_cyclic() { (2, ranges.iter().map(|range| range.0).sum()) } else { (1, 0) };
    let ranks = shape.ranks();
    let mut behind = alloc::filled(WHAT, shape.len() + 1, around)?;
    let (mut before, mut after) = (around, around);
    for _ in 0..turns {
        for (k, range) in ranges.iter().enumerate().rev() {
            behind[k + 1] = after;
            after = if ranks[k] == 1 { 0 } else { added(after, *range) };
        }
        behind[0] = after;
    }
    let mut is_near = true;
    for turn in 0..turns {
        for (k, range) in ranges.iter().enumerate() {
            is_near &= turn + 1 < turns || ranks[k] == 1 || before + behind[k] <= most;
            before = if ranks[k + 1] == 1 { 0 } else { added(before, *range) };
        }
    }
    Ok(Measured { is_near, is_wide })
}

/// A number with the exponent of the largest entry of core k; not finite if an entry is not.
///
/// # Errors
/// For a train that is not on the host.
pub fn peak(train: &TensorTrain, k: usize, isa: Isa) -> Result<f64> {
    Ok(ends_of(train, k, isa)?.high)
}

/// Numbers with the exponents of the smallest nonzero magnitude and of the largest magnitude of core k. The second is 0
/// for a core of zeros, and not finite if an entry is not.
///
/// # Errors
/// For a train that is not on the host.
pub fn ends(train: &TensorTrain, k: usize, isa: Isa) -> Result<(f64, f64)> {
    let Ends { low, high, .. } = ends_of(train, k, isa)?;
    Ok((low, high))
}

/// Smallest and largest magnitude of a core. Only their exponents are exact.
#[derive(Clone, Copy, Default)]
struct Ends {
    /// The smallest magnitude that is not 0.
    low: f64,
    high: f64,
    has_zeros: bool,
}

impl Ends {
    /// Exponent difference between the largest and the smallest nonzero entry. It is 0 for a core of zeros, and if an
    /// entry is not finite, because such a train is not balanced.
    fn range(self) -> i64 {
        let is_none = self.high.to_bits() == 0 || !self.high.is_finite();
        if is_none { 0 } else { exponent_of(self.high) - exponent_of(self.low) }
    }
}

fn ends_of(train: &TensorTrain, k: usize, isa: Isa) -> Result<Ends> {
    let (memory, offset) = train.memory(k);
    let (memory, dtype) = (memory.host("x")?, train.dtype());
    let parts = if dtype.is_complex() { 2 } else { 1 };
    let numbers = offset * parts..(offset + train.shape().core_len(k)) * parts;
    // Compare bit patterns: the caller may have set the thread to flush subnormal numbers to 0.
    Ok(if dtype.is_single() {
        let (low, high, least) = dispatch::<f32, _>(isa, Single(&memory.as_slice::<u32>()?[numbers]));
        Ends { low: f64::from(f32::from_bits(low)), high: f64::from(f32::from_bits(high)), has_zeros: least == 0 }
    } else {
        let core = &memory.as_slice::<i64>()?[numbers];
        // Most cores have no zeros. Then this pass suffices, which takes a quarter of the time of the other.
        let (low, high) = dispatch::<f64, _>(isa, Tops(core));
        if low > 0 {
            let of = |top: u32| f64::from_bits(u64::from(top) << 32);
            return Ok(Ends { low: of(low), high: of(high), has_zeros: false });
        }
        let (low, high, least) = dispatch::<f64, _>(isa, Double(core));
        let of = |bits: i64| f64::from_bits(bits.cast_unsigned());
        Ends { low: of(low), high: of(high), has_zeros: least == 0 }
    })
}

/// Finds the bit patterns of three magnitudes: the smallest nonzero one, the largest, and the smallest of all. Bit
/// patterns of magnitudes compare as the magnitudes do.
struct Single<'a>(&'a [u32]);

impl Kernel<f32> for Single<'_> {
    type Output = (u32, u32, u32);
    #[inline(always)]
    fn run<S: Simd<f32>>(self, _: S) -> (u32, u32, u32) {
        let (mut low, mut high, mut least) = (u32::MAX, 0, u32::MAX);
        for x in self.0 {
            let size = x & (u32::MAX >> 1);
            high = high.max(size);
            least = least.min(size);
            // 0 wraps to the largest value.
            low = low.min(size.wrapping_sub(1));
        }
        (low.wrapping_add(1), high, least)
    }
}

/// Finds the upper halves of the bit patterns of the smallest and the largest magnitude in double precision. They hold
/// the exponents exactly. An upper half of 0 is 0 or a subnormal number.
struct Tops<'a>(&'a [i64]);

impl Kernel<f64> for Tops<'_> {
    type Output = (u32, u32);
    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) -> (u32, u32) {
        let (mut low, mut high) = (u32::MAX, 0);
        for x in self.0 {
            let top = (x.cast_unsigned() >> 32) as u32 & (u32::MAX >> 1);
            high = high.max(top);
            low = low.min(top);
        }
        (low, high)
    }
}

/// [`Single`] in double precision.
struct Double<'a>(&'a [i64]);

impl Kernel<f64> for Double<'_> {
    type Output = (i64, i64, i64);
    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) -> (i64, i64, i64) {
        let (mut low, mut high, mut least) = (i64::MAX, 0, i64::MAX);
        for x in self.0 {
            // Every instruction set compares vectors of signed integers.
            let size = x & i64::MAX;
            high = if size > high { size } else { high };
            least = if size < least { size } else { least };
            let size = if size == 0 { i64::MAX } else { size };
            low = if size < low { size } else { low };
        }
        (low, high, least)
    }
}

fn copy_of<T: Scalar>(
    context: &Arc<Context>,
    train: &TensorTrain,
    matrix: Option<(&[usize], &[usize])>,
    bounds: Bounds,
) -> Result<Option<Copied>> {
    let (shape, cancel) = (train.shape(), context.cancel_watch());
    let cores = train.cores::<T>("x")?;
    // Norms may underflow where no entry does, so the flag of lost digits is ignored here.
    let powers_of = |cores: &Cores<'_, T>, shape: &Shape| {
        flags::watch(|| powers_of(context, cores, shape, matrix, bounds, cancel)).0
    };
    let (mut powers, pruned) = if train.is_uniform() {
        // A uniform train is balanced as a ring of its one core, with the same powers at every bond.
        let [r, n, _] = shape.core(0);
        let one = Shape::new("x", &[n], &[r, r])?;
        let mut list = alloc::with_capacity(WHAT, 1)?;
        list.push(cores.core(0));
        let Some((powers, pruned)) = powers_of(&Cores::new(&one, list), &one)? else {
            return Ok(None);
        };
        let mut of = alloc::with_capacity(WHAT, shape.len() + 1)?;
        for _ in 0..=shape.len() {
            of.push(alloc::copied(WHAT, &powers.of[0])?);
        }
        (Powers { of, ..powers }, pruned)
    } else {
        let Some(found) = powers_of(&cores, shape)? else { return Ok(None) };
        found
    };
    let pruned = bounds.drop.then_some(&pruned);
    let Some(copy) = scaled_copy::<T>(context, train, &powers, pruned, cancel)? else {
        let most = train.dtype().largest_exponent();
        powers.fit(shape, &sizes_of(&cores, pruned, cancel)?, most);
        return scaled_copy::<T>(context, train, &powers, pruned, cancel);
    };
    Ok(Some(copy))
}

/// For each core, the exponent of the largest entry for each pair of values of its bonds, left bond fastest; [`IDLE`]
/// if all are zero or, with `pruned`, if none contributes.
fn sizes_of<T: Scalar>(
    cores: &Cores<'_, T>,
    pruned: Option<&Vec<Vec<f64>>>,
    cancel: CancelWatch<'_>,
) -> Result<Vec<Vec<i64>>> {
    let shape = cores.shape();
    let mut all = alloc::with_capacity(WHAT, shape.len())?;
    for k in 0..shape.len() {
        cancel.check()?;
        let [r, n, s] = shape.core(k);
        let mut sizes = alloc::filled(WHAT, r * s, IDLE)?;
        for (at, x) in cores.core(k).iter().enumerate() {
            let place = at % r + r * (at / (r * n));
            let size = x.re().abs().max(x.im().abs());
            if size > 0.0 && pruned.is_none_or(|pruned| pruned[if pruned.len() == 1 { 0 } else { k }][place] != NONE) {
                sizes[place] = exponent_of(size).max(sizes[place]);
            }
        }
        all.push(sizes);
    }
    Ok(all)
}

/// Powers that balance these cores, and the sizes of the entries that contribute; `None` if the cores are balanced or
/// an entry is not finite. Exact norms are computed only if the cheaper estimates find an unbalanced bond. In a long
/// train an estimate may be wrong by any power of two if the parts are not orthogonal.
fn powers_of<T: Scalar>(
    context: &Arc<Context>,
    cores: &Cores<'_, T>,
    shape: &Shape,
    matrix: Option<(&[usize], &[usize])>,
    bounds: Bounds,
    cancel: CancelWatch<'_>,
) -> Result<Option<(Powers, Vec<Vec<f64>>)>> {
    let Some(mut parts) = Parts::new(context, cores, shape, matrix, cancel)? else { return Ok(None) };
    let mut powers = Paths::new(&parts)?.powers(bounds.limit)?;
    // For an operator, `bounds_of` already bounds spectral norms. Frobenius norms would say little about how it scales
    // vectors.
    if powers.is_some() && matrix.is_none() {
        parts = parts.exact();
        powers = Paths::new(&parts)?.powers(bounds.limit)?;
    }
    if powers.is_none() && bounds.drop && parts.has_pruned {
        powers = Some(Powers::idle(shape)?);
    }
    Ok(powers.map(|powers| (powers, parts.into_sizes())))
}

/// Copies the train with its rows multiplied and its columns divided by the powers of their bonds. With `pruned`,
/// entries that do not contribute become 0; without it, they are scaled down to the magnitude of the others. `None` if an entry
/// would overflow.
fn scaled_copy<T: Scalar>(
    context: &Arc<Context>,
    train: &TensorTrain,
    powers: &Powers,
    pruned: Option<&Vec<Vec<f64>>>,
    cancel: CancelWatch<'_>,
) -> Result<Option<Copied>> {
    let shape = train.shape();
    let cores = train.cores::<T>("x")?;
    let mut copy = TensorTrain::create(context, T::DTYPE, Location::Host, shape.clone())?;
    let (lost, mut is_beyond) = (flags::LostDigits::default(), false);
    {
        let mut to = copy.cores_mut::<T>(WHAT)?;
        for k in 0..shape.len() {
            cancel.check()?;
            let [r, n, _] = shape.core(k);
            let (before, after) = (&powers.of[k], &powers.of[k + 1]);
            let pruned = pruned.map(|pruned| &pruned[if train.is_uniform() { 0 } else { k }]);
            let power = |at: usize| (before[at % r], after[at / (r * n)]);
            let scaled = |x: T, e: i64| if e == 0 { x } else { T::from_parts(scale(x.re(), e), scale(x.im(), e)) };
            let (to, from) = (to.core(k), cores.core(k));
            lost.part(|| {
                for (at, (to, &x)) in to.iter_mut().zip(from).enumerate() {
                    *to = match power(at) {
                        _ if pruned.is_some_and(|pruned| pruned[at % r + r * (at / (r * n))] == NONE) => T::default(),
                        (a, b) if a != IDLE && b != IDLE => scaled(x, a - b),
                        _ => x,
                    };
                    is_beyond |= to.re().is_infinite() && x.re().is_finite();
                    is_beyond |= to.im().is_infinite() && x.im().is_finite();
                }
            });
            if !before.contains(&IDLE) && !after.contains(&IDLE) {
                continue;
            }
            // These entries do not contribute, so their lost digits are not reported.
            flags::watch(|| {
                for (at, x) in to.iter_mut().enumerate() {
                    let (a, b) = power(at);
                    if a == IDLE || b == IDLE {
                        let size = exponent_of(x.re().abs().max(x.im().abs()));
                        *x = scaled(*x, (powers.share - size).min(0));
                    }
                }
            });
        }
    }
    (0..shape.len()).for_each(|k| copy.mark_set(k));
    Ok((!is_beyond).then(|| Copied { train: copy, is_lossy: lost.is_any() }))
}

/// A balanced copy of a train that is an operand of products. Returns `(None, false)` if its bonds are balanced, and
/// `(None, true)` if the copy would lose digits of entries that contribute.
///
/// # Errors
/// Out of memory.
pub(super) fn for_product(context: &Arc<Context>, train: &TensorTrain) -> Result<(Option<TensorTrain>, bool)> {
    // An entry of the product is scaled by the powers of both operands, at both of its bonds.
    let limit = if train.dtype().is_single() { SINGLE } else { 120 };
    let copy = watched_within(context, train, Bounds { limit, drop: true })?;
    let is_lossy = copy.as_ref().is_some_and(|copy| copy.is_lossy);
    Ok((copy.filter(|copy| !copy.is_lossy).map(|copy| copy.train), is_lossy))
}

/// A balanced copy of a train in double precision that will be rounded to single precision; `None` if its bonds are
/// balanced.
///
/// # Errors
/// Out of memory.
pub(super) fn for_single(context: &Arc<Context>, train: &TensorTrain) -> Result<Option<TensorTrain>> {
    Ok(watched_within(context, train, Bounds { limit: SINGLE, drop: true })?.map(|copy| copy.train))
}

/// Largest exponent difference between the values of a bond for trains whose entries will be rounded to single
/// precision or multiplied there one by one.
const SINGLE: i64 = 12;
