//! Powers of two that bring the values of a bond to one size, for trains on the host.

use std::sync::Arc;

use super::norms::{NONE, Parts};
use super::paths::{IDLE, Paths, Powers};
use crate::alloc;
use crate::backend::cpu::Isa;
use crate::backend::cpu::parallel::Items as _;
use crate::backend::cpu::parallel::Pieces as _;
use crate::backend::cpu::simd::{Kernel, Simd, dispatch};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::to_i64;
use crate::tensor::Location;
use crate::tensor::train::{Cores, Shape, TensorTrain, TrainMatrix};
use crate::tt::scaled::{exponent_of, scale};

pub(super) const WHAT: &str = "copy of a tensor train with balanced bonds";

/// Powers of two by which the values of a bond may differ. Environments of two trains differ by four times as much at most, on
/// the way through a core whose other bond has values as far apart: within the range of the type.
pub(in crate::tt) fn limit(dtype: DType) -> i64 {
    if matches!(dtype, DType::F32 | DType::CF32) { 24 } else { 120 }
}

/// A train with the same tensor whose bonds are balanced; `None` where they are, and for a train that lies on a device.
///
/// # Errors
/// Out of memory.
pub(super) fn balanced(context: &Arc<Context>, train: &TensorTrain) -> Result<Option<TensorTrain>> {
    balanced_within(context, train, Bounds { limit: limit(train.dtype()), drop: true })
}

/// How far bonds are balanced.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Powers of two by which the values of a bond may differ.
    pub limit: i64,
    /// Whether numbers that meet zeros alone become 0.
    pub drop: bool,
}

/// [`balanced`] within other bounds.
///
/// # Errors
/// Out of memory.
pub(super) fn balanced_within(
    context: &Arc<Context>,
    train: &TensorTrain,
    bounds: Bounds,
) -> Result<Option<TensorTrain>> {
    if train.is_device() || is_near(context, train, bounds.limit)? {
        return Ok(None);
    }
    with_scalar!(train.dtype(), "x", T => copy_of::<T>(context, train, None, bounds))
}

/// [`balanced_within`] for the train of an operator.
///
/// # Errors
/// Out of memory.
pub(super) fn balanced_operator(
    context: &Arc<Context>,
    h: &TrainMatrix,
    bounds: Bounds,
) -> Result<Option<TensorTrain>> {
    let train = h.train();
    if train.is_device() || is_near(context, train, bounds.limit)? {
        return Ok(None);
    }
    with_scalar!(train.dtype(), "h", T => copy_of::<T>(context, train, Some((h.rows(), h.cols())), bounds))
}

/// Elements from which on the threads of the context look at a train.
const MANY: usize = 1 << 18;

/// Whether the numbers of the cores are so near each other in size that no bond can be beyond the limit: one pass over the numbers in
/// order, which suffices for most trains. A core without zeros takes every value of a bond to every value of the next: what reaches
/// those differs by no more than its numbers do. One with zeros may hand on what came to it.
fn is_near(context: &Arc<Context>, train: &TensorTrain, limit: i64) -> Result<bool> {
    let (shape, isa) = (train.shape(), context.isa());
    // Both ends of the range of p are rounded.
    let most = 2 * limit - 2;
    if train.is_uniform() {
        // With zeros, powers of one number after another add up before they are taken back.
        let (rank, (range, has_zeros)) = (shape.ranks()[0], range_of(train, 0, isa)?);
        let times = if has_zeros { to_i64(rank) } else { 2 };
        return Ok(rank == 1 || range.saturating_mul(times) <= most);
    }
    let mut ranges = alloc::filled(WHAT, shape.len(), (0i64, false))?;
    if shape.elements() >= MANY {
        context.pool().run(|| {
            ranges.par_iter_mut().enumerate().try_for_each(|(k, range)| {
                *range = range_of(train, k, isa)?;
                Ok::<(), Error>(())
            })
        })?;
    } else {
        for (k, range) in ranges.iter_mut().enumerate() {
            *range = range_of(train, k, isa)?;
        }
    }
    let added = |sum: i64, (range, has_zeros): (i64, bool)| if has_zeros { sum.saturating_add(range) } else { range };
    // Where all cores of a ring have zeros, a value may meet all of them; elsewhere the second turn knows better.
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
    Ok(is_near)
}

/// Powers of two between the largest and the smallest number of a core that is not 0, and whether it has zeros; 0 where there is none
/// but zeros, and where one is not finite: its train has no tensor.
fn range_of(train: &TensorTrain, k: usize, isa: Isa) -> Result<(i64, bool)> {
    let Ends { low, high, has_zeros } = ends_of(train, k, isa)?;
    let is_none = high.to_bits() == 0 || !high.is_finite();
    Ok((if is_none { 0 } else { exponent_of(high) - exponent_of(low) }, has_zeros))
}

/// A number with the exponent of the largest of a core, not finite where one is not.
pub(in crate::tt) fn peak(train: &TensorTrain, k: usize, isa: Isa) -> Result<f64> {
    Ok(ends_of(train, k, isa)?.high)
}

/// Numbers with the exponents of the smallest of a core that is not 0 and of the largest, in magnitude; the latter is 0 for a core of
/// zeros and not finite where a number is not.
pub(in crate::tt) fn ends(train: &TensorTrain, k: usize, isa: Isa) -> Result<(f64, f64)> {
    let Ends { low, high, .. } = ends_of(train, k, isa)?;
    Ok((low, high))
}

/// The numbers of a core in magnitude, with the right exponents.
struct Ends {
    /// The smallest that is not 0.
    low: f64,
    high: f64,
    has_zeros: bool,
}

fn ends_of(train: &TensorTrain, k: usize, isa: Isa) -> Result<Ends> {
    let (memory, offset) = train.memory(k);
    let (memory, dtype) = (memory.host("x")?, train.dtype());
    let parts = if matches!(dtype, DType::CF32 | DType::CF64) { 2 } else { 1 };
    let numbers = offset * parts..(offset + train.shape().core_len(k)) * parts;
    // Bit patterns: the caller's thread may take subnormal numbers for 0.
    Ok(if matches!(dtype, DType::F32 | DType::CF32) {
        let (low, high, least) = dispatch::<f32, _>(isa, Single(&memory.as_slice::<u32>()?[numbers]));
        Ends { low: f64::from(f32::from_bits(low)), high: f64::from(f32::from_bits(high)), has_zeros: least == 0 }
    } else {
        let core = &memory.as_slice::<i64>()?[numbers];
        // A core without zeros, as most are, takes a quarter of the time.
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

/// Bit patterns of the smallest number that is not 0, of the largest and of the smallest of all, in magnitude. They are in the order of
/// the numbers.
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
            // 0 becomes the largest of all.
            low = low.min(size.wrapping_sub(1));
        }
        (low.wrapping_add(1), high, least)
    }
}

/// The upper halves of the smallest and of the largest in magnitude of double precision: their exponents are right, and 0 also stands for
/// the least of the subnormal numbers.
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

/// The same as [`Single`] of double precision.
struct Double<'a>(&'a [i64]);

impl Kernel<f64> for Double<'_> {
    type Output = (i64, i64, i64);
    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) -> (i64, i64, i64) {
        let (mut low, mut high, mut least) = (i64::MAX, 0, i64::MAX);
        for x in self.0 {
            // Signed numbers have comparisons of vectors everywhere.
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
) -> Result<Option<TensorTrain>> {
    let shape = train.shape();
    let cores = train.cores::<T>("x")?;
    let (powers, live) = if train.is_uniform() {
        // One core: as a ring of it has it, everywhere the same.
        let [r, n, _] = shape.core(0);
        let one = Shape::new("x", &[n], &[r, r])?;
        let mut list = alloc::with_capacity(WHAT, 1)?;
        list.push(cores.core(0));
        let Some((powers, live)) = powers_of(context, &Cores::new(&one, list), &one, matrix, bounds)? else {
            return Ok(None);
        };
        let mut of = alloc::with_capacity(WHAT, shape.len() + 1)?;
        for _ in 0..=shape.len() {
            of.push(alloc::copied(WHAT, &powers.of[0])?);
        }
        (Powers { of, ..powers }, live)
    } else {
        let Some(found) = powers_of(context, &cores, shape, matrix, bounds)? else { return Ok(None) };
        found
    };
    scaled_copy::<T>(context, train, &powers, bounds.drop.then_some(&live)).map(Some)
}

/// Powers that balance these cores, and the sizes of what counts in them; `None` where they are balanced or a number is not finite. Only
/// where estimates say that they are not, norms are found: a pass over a long train of unlike parts may be off by any power of two.
fn powers_of<T: Scalar>(
    context: &Arc<Context>,
    cores: &Cores<'_, T>,
    shape: &Shape,
    matrix: Option<(&[usize], &[usize])>,
    bounds: Bounds,
) -> Result<Option<(Powers, Vec<Vec<f64>>)>> {
    let Some(mut parts) = Parts::new(context, cores, shape, matrix)? else { return Ok(None) };
    let mut powers = Paths::new(&parts)?.powers(bounds.limit)?;
    // The norm of a matrix as a vector says little about what it does to vectors.
    if powers.is_some() && matrix.is_none() {
        parts = parts.exact();
        powers = Paths::new(&parts)?.powers(bounds.limit)?;
    }
    if powers.is_none() && bounds.drop && parts.has_dead {
        powers = Some(Powers::idle(shape)?);
    }
    Ok(powers.map(|powers| (powers, parts.into_sizes())))
}

/// The train with rows multiplied and columns divided by the powers of their bonds. Numbers that meet zeros alone become 0 where the sizes
/// of those that count are given, and no larger than the others elsewhere.
fn scaled_copy<T: Scalar>(
    context: &Arc<Context>,
    train: &TensorTrain,
    powers: &Powers,
    live: Option<&Vec<Vec<f64>>>,
) -> Result<TensorTrain> {
    let shape = train.shape();
    let cores = train.cores::<T>("x")?;
    let mut copy = TensorTrain::create(context, T::DTYPE, Location::Host, shape.clone())?;
    {
        let mut to = copy.cores_mut::<T>(WHAT)?;
        for k in 0..shape.len() {
            let [r, n, _] = shape.core(k);
            let (before, after) = (&powers.of[k], &powers.of[k + 1]);
            let live = live.map(|live| &live[if train.is_uniform() { 0 } else { k }]);
            for (at, (to, x)) in to.core(k).iter_mut().zip(cores.core(k)).enumerate() {
                let (a, b) = (at % r, at / (r * n));
                if live.is_some_and(|live| live[a + r * b] == NONE) {
                    *to = T::default();
                    continue;
                }
                let (a, b) = (before[a], after[b]);
                let shift = match a == IDLE || b == IDLE {
                    false => a - b,
                    true => (powers.share - exponent_of(x.re().abs().max(x.im().abs()))).min(0),
                };
                *to = if shift == 0 { *x } else { T::from_parts(scale(x.re(), shift), scale(x.im(), shift)) };
            }
        }
    }
    (0..shape.len()).for_each(|k| copy.mark_set(k));
    Ok(copy)
}

/// A train to form products of, whose bonds are balanced; `None` where they are.
///
/// # Errors
/// [`Error::Numerical`] with the bond or the core that no powers of two bring into the range; out of memory.
pub(super) fn for_product(context: &Arc<Context>, name: &str, train: &TensorTrain) -> Result<Option<TensorTrain>> {
    // A number of the product moves by both operands at both of its bonds.
    let limit = if matches!(train.dtype(), DType::F32 | DType::CF32) { 12 } else { 120 };
    let Some(copy) = balanced_within(context, train, Bounds { limit, drop: true })? else { return Ok(None) };
    let isa = context.isa();
    for k in 0..copy.shape().len() {
        if peak(&copy, k, isa)?.is_infinite() && peak(train, k, isa)?.is_finite() {
            return Err(Error::Numerical(format!(
                "{name}: core {k} leaves the range of {} where the bonds beside it are balanced: canonicalise it first",
                train.dtype().name()
            )));
        }
    }
    Ok(Some(copy))
}
