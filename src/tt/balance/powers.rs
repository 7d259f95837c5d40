//! Powers of two that bring the values of a bond to one size, for trains on the host.

use std::sync::Arc;

use crate::alloc;
use crate::backend::cpu::Isa;
use crate::backend::cpu::parallel::Items as _;
use crate::backend::cpu::parallel::Pieces as _;
use crate::backend::cpu::simd::{Kernel, Simd, dispatch};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Cores, Shape, TensorTrain};
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
    /// Whether numbers that meet zeros alone become 0 where they are far larger than those that count.
    pub drop: bool,
}

/// Copies in which a bond moves what its neighbours moved to it; few trains need more than two.
const PASSES: usize = 16;

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
    let mut copy: Option<TensorTrain> = None;
    for _ in 0..PASSES {
        let last = copy.as_ref().unwrap_or(train);
        let next = with_scalar!(train.dtype(), "x", T => copy_of::<T>(context, last, bounds))?;
        if next.is_none() {
            break;
        }
        copy = next;
    }
    Ok(copy)
}

/// Elements from which on the threads of the context look at a train.
const MANY: usize = 1 << 18;

/// Whether the numbers of neighbouring cores are so near each other in size that no bond can be beyond the limit: one pass over
/// the numbers in order, which suffices for most trains.
fn is_near(context: &Arc<Context>, train: &TensorTrain, limit: i64) -> Result<bool> {
    let (shape, isa) = (train.shape(), context.isa());
    // Both ends of the range of p are rounded.
    let most = 2 * limit - 2;
    let d = shape.len();
    if train.is_uniform() {
        return Ok(shape.ranks()[0] == 1 || 2 * range_of(train, 0, isa)? <= most);
    }
    if shape.elements() >= MANY {
        let mut ranges = alloc::filled(WHAT, d, 0i64)?;
        context.pool().run(|| {
            ranges.par_iter_mut().enumerate().try_for_each(|(k, range)| {
                *range = range_of(train, k, isa)?;
                Ok::<(), Error>(())
            })
        })?;
        let around = if shape.is_cyclic() { ranges[d - 1] + ranges[0] } else { 0 };
        return Ok(around <= most && ranges.windows(2).all(|pair| pair[0] + pair[1] <= most));
    }
    let first = range_of(train, 0, isa)?;
    let mut before = first;
    for k in 1..d {
        let range = range_of(train, k, isa)?;
        if before + range > most {
            return Ok(false);
        }
        before = range;
    }
    Ok(!shape.is_cyclic() || before + first <= most)
}

/// Powers of two between the largest and the smallest number of a core that is not 0; 0 where there is none, and where one is not
/// finite: its train has no tensor.
fn range_of(train: &TensorTrain, k: usize, isa: Isa) -> Result<i64> {
    let (low, high) = ends_of(train, k, isa)?;
    if high.to_bits() == 0 || !high.is_finite() { Ok(0) } else { Ok(exponent_of(high) - exponent_of(low)) }
}

/// The largest number of a core, not finite where one is not.
pub(in crate::tt) fn peak(train: &TensorTrain, k: usize, isa: Isa) -> Result<f64> {
    Ok(ends_of(train, k, isa)?.1)
}

/// The smallest number of a core that is not 0 and its largest, in magnitude.
fn ends_of(train: &TensorTrain, k: usize, isa: Isa) -> Result<(f64, f64)> {
    let (memory, offset) = train.memory(k);
    let (memory, dtype) = (memory.host("x")?, train.dtype());
    let parts = if matches!(dtype, DType::CF32 | DType::CF64) { 2 } else { 1 };
    let numbers = offset * parts..(offset + train.shape().core_len(k)) * parts;
    // Bit patterns: the caller's thread may take subnormal numbers for 0.
    Ok(if matches!(dtype, DType::F32 | DType::CF32) {
        let (low, high) = dispatch::<f32, _>(isa, Single(&memory.as_slice::<u32>()?[numbers]));
        (f64::from(f32::from_bits(low)), f64::from(f32::from_bits(high)))
    } else {
        let (low, high) = dispatch::<f64, _>(isa, Double(&memory.as_slice::<i64>()?[numbers]));
        (f64::from_bits(low.cast_unsigned()), f64::from_bits(high.cast_unsigned()))
    })
}

/// Bit patterns of the smallest number that is not 0 and of the largest, in magnitude. They are in the order of the numbers.
struct Single<'a>(&'a [u32]);

impl Kernel<f32> for Single<'_> {
    type Output = (u32, u32);
    #[inline(always)]
    fn run<S: Simd<f32>>(self, _: S) -> (u32, u32) {
        let (mut low, mut high) = (u32::MAX, 0);
        for x in self.0 {
            let size = x & (u32::MAX >> 1);
            high = high.max(size);
            // 0 becomes the largest of all.
            low = low.min(size.wrapping_sub(1));
        }
        (low.wrapping_add(1), high)
    }
}

/// The same of double precision.
struct Double<'a>(&'a [i64]);

impl Kernel<f64> for Double<'_> {
    type Output = (i64, i64);
    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) -> (i64, i64) {
        let (mut low, mut high) = (i64::MAX, 0);
        for x in self.0 {
            // Signed numbers have comparisons of vectors everywhere.
            let size = x & i64::MAX;
            high = if size > high { size } else { high };
            let size = if size == 0 { i64::MAX } else { size };
            low = if size < low { size } else { low };
        }
        (low, high)
    }
}

/// The largest modulus of every row and of every column of a core, 0 where all are 0 or not finite.
fn sizes<T: Scalar>(core: &[T], [r, _, s]: [usize; 3], rows: &mut [f64], columns: &mut [f64]) {
    rows.fill(0.0);
    let width = core.len() / s.max(1);
    for (column, largest) in core.chunks_exact(width.max(1)).zip(columns.iter_mut()) {
        let mut most = 0.0f64;
        for values in column.chunks_exact(r) {
            for (row, x) in rows.iter_mut().zip(values) {
                let size = x.re().abs().max(x.im().abs());
                *row = row.max(size);
                most = most.max(size);
            }
        }
        *largest = most;
    }
}

/// A power that makes every number 0.
const NOTHING: i64 = 5000;

/// Powers of two for the values of one bond: columns before it are divided by them, rows behind it multiplied. `false` where
/// they differ by little.
fn powers(columns: &[f64], rows: &[f64], Bounds { limit, drop }: Bounds, out: &mut [i64]) -> bool {
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    // The least of the numbers that count, and the largest of those that meet zeros, before the bond and behind it.
    let (mut least, mut idle) = ([i64::MAX; 2], [i64::MIN; 2]);
    for ((c, r), out) in columns.iter().zip(rows).zip(out.iter_mut()) {
        // A value that nothing depends on goes along with the others.
        *out = i64::MIN;
        if !c.is_finite() || !r.is_finite() {
            continue;
        }
        let (p, q) = (exponent_of(*c), exponent_of(*r));
        match (*c == 0.0, *r == 0.0) {
            (true, true) => {}
            (true, false) => idle[1] = idle[1].max(q),
            (false, true) => idle[0] = idle[0].max(p),
            (false, false) => {
                *out = (p - q).div_euclid(2);
                (low, high) = (low.min(*out), high.max(*out));
                least = [least[0].min(p), least[1].min(q)];
            }
        }
    }
    let hides = |side: usize| idle[side] > i64::MIN && least[side] < i64::MAX && idle[side] - least[side] > limit;
    let drop = drop && (hides(0) || hides(1));
    let moves = low <= high && high - low > limit;
    if !moves && !drop {
        return false;
    }
    // Nothing moves on the whole.
    let middle = if moves { low + (high - low) / 2 } else { 0 };
    for ((c, r), p) in columns.iter().zip(rows).zip(out.iter_mut()) {
        let finite = c.is_finite() && r.is_finite();
        *p = match *p {
            i64::MIN if drop && finite && *r == 0.0 && *c != 0.0 => NOTHING,
            i64::MIN if drop && finite && *c == 0.0 && *r != 0.0 => -NOTHING,
            i64::MIN => 0,
            _ if !moves => 0,
            p => p - middle,
        };
    }
    true
}

fn copy_of<T: Scalar>(context: &Arc<Context>, train: &TensorTrain, bounds: Bounds) -> Result<Option<TensorTrain>> {
    let shape = train.shape();
    let cores = train.cores::<T>("x")?;
    if train.is_uniform() {
        // One core: as a ring of it has it, everywhere the same.
        let [r, n, _] = shape.core(0);
        let one = Shape::new("x", &[n], &[r, r])?;
        let mut list = alloc::with_capacity(WHAT, 1)?;
        list.push(cores.core(0));
        let Some(powers) = powers_of(&Cores::new(&one, list), &one, bounds)? else { return Ok(None) };
        let mut all = alloc::with_capacity(WHAT, shape.len() + 1)?;
        for _ in 0..=shape.len() {
            all.push(alloc::copied(WHAT, &powers[0])?);
        }
        return scaled_copy::<T>(context, train, &all).map(Some);
    }
    let Some(powers) = powers_of(&cores, shape, bounds)? else { return Ok(None) };
    scaled_copy::<T>(context, train, &powers).map(Some)
}

/// The train with rows multiplied and columns divided by the powers of their bonds; a bond without any stays as it is.
pub(super) fn scaled_copy<T: Scalar>(
    context: &Arc<Context>,
    train: &TensorTrain,
    powers: &[Vec<i64>],
) -> Result<TensorTrain> {
    let shape = train.shape();
    let cores = train.cores::<T>("x")?;
    let mut copy = TensorTrain::create(context, T::DTYPE, Location::Host, shape.clone())?;
    {
        let mut to = copy.cores_mut::<T>(WHAT)?;
        for k in 0..shape.len() {
            let [r, n, _] = shape.core(k);
            let (before, after) = (&powers[k], &powers[k + 1]);
            for (at, (to, x)) in to.core(k).iter_mut().zip(cores.core(k)).enumerate() {
                let shift = before.get(at % r).unwrap_or(&0) - after.get(at / (r * n)).unwrap_or(&0);
                *to = if shift == 0 { *x } else { T::from_parts(scale(x.re(), shift), scale(x.im(), shift)) };
            }
        }
    }
    (0..shape.len()).for_each(|k| copy.mark_set(k));
    Ok(copy)
}

/// Powers for every bond, nothing at those that stay; `None` where all do.
fn powers_of<T: Scalar>(cores: &Cores<'_, T>, shape: &Shape, bounds: Bounds) -> Result<Option<Vec<Vec<i64>>>> {
    let d = shape.len();
    let widest = shape.max_rank();
    let room = || alloc::filled(WHAT, widest, 0.0f64);
    let (mut rows, mut columns, mut first, mut before) = (room()?, room()?, room()?, room()?);
    let mut now = alloc::filled(WHAT, widest, 0i64)?;
    let mut all: Option<Vec<Vec<i64>>> = None;
    let mut keep = |bond: usize, powers: &[i64]| -> Result<()> {
        if all.is_none() {
            let mut list = alloc::with_capacity(WHAT, d + 1)?;
            list.resize_with(d + 1, Vec::new);
            all = Some(list);
        }
        if let Some(all) = &mut all {
            all[bond] = alloc::copied(WHAT, powers)?;
        }
        Ok(())
    };
    for k in 0..d {
        let dims @ [r, _, s] = shape.core(k);
        sizes(cores.core(k), dims, &mut rows[..r], &mut columns[..s]);
        if k == 0 {
            first[..r].copy_from_slice(&rows[..r]);
        } else if r > 1 && powers(&before[..r], &rows[..r], bounds, &mut now[..r]) {
            keep(k, &now[..r])?;
        }
        before[..s].copy_from_slice(&columns[..s]);
    }
    // The bond that closes a ring.
    let p = shape.ranks()[0];
    if p > 1 && powers(&before[..p], &first[..p], bounds, &mut now[..p]) {
        keep(0, &now[..p])?;
        keep(d, &now[..p])?;
    }
    Ok(all)
}

/// Powers of two by which values of a bond may be moved between the cores beside it where no copy is made.
fn most_moved(dtype: DType) -> i64 {
    if matches!(dtype, DType::F32 | DType::CF32) { 24 } else { 240 }
}

/// Refuses a train one of whose bonds `first` to `last` has values that differ by more in the columns before it, and by as much in
/// the other direction in the rows behind it, than environments of its type hold. Values that are small on one side alone are small
/// in all sums.
///
/// # Errors
/// [`Error::Numerical`] with the bond; out of memory.
pub(super) fn expect_near(isa: Isa, name: &str, train: &TensorTrain, bonds: (usize, usize)) -> Result<()> {
    let most = most_moved(train.dtype());
    let Some(Far { bond, before, after, moved }) = far(isa, train, bonds, most)? else { return Ok(()) };
    Err(Error::Numerical(format!(
        "{name}: values of bond {bond} differ by 2^{moved} in core {before} and by as much the other way in core {after}; \
         environments hold 2^{most}: canonicalise it first"
    )))
}

/// A train to form products of, whose bonds are balanced; `None` where they are.
///
/// # Errors
/// [`Error::Numerical`] with the bond or the core that no powers of two bring into the range; out of memory.
pub(super) fn for_product(context: &Arc<Context>, name: &str, train: &TensorTrain) -> Result<Option<TensorTrain>> {
    // A number of the product moves by both operands at both of its bonds.
    let limit = if matches!(train.dtype(), DType::F32 | DType::CF32) { 12 } else { 120 };
    let Some(copy) = balanced_within(context, train, Bounds { limit, drop: false })? else { return Ok(None) };
    let isa = context.isa();
    if let Some(Far { bond, before, after, moved }) = far(isa, &copy, (0, copy.shape().len()), limit + 1)? {
        return Err(Error::Numerical(format!(
            "{name}: values of bond {bond} differ by 2^{moved} in core {before} and by as much the other way in core {after}, also \
             where the other bonds are balanced; products hold 2^{limit}: canonicalise it first"
        )));
    }
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

/// A bond that is far from balanced.
struct Far {
    bond: usize,
    before: usize,
    after: usize,
    moved: i64,
}

/// The first of the bonds `first` to `last` whose values move by more than 2^`most`.
fn far(isa: Isa, train: &TensorTrain, (first, last): (usize, usize), most: i64) -> Result<Option<Far>> {
    let (d, dtype) = (train.shape().len(), train.dtype());
    let is_close = |a: usize, b: usize| -> Result<bool> {
        Ok(range_of(train, a, isa)? + range_of(train, b, isa)? <= 2 * most - 2)
    };
    for bond in first..=last.min(d) {
        let rank = train.shape().ranks()[bond];
        let (before, after) = (if bond == 0 { d - 1 } else { bond - 1 }, if bond == d { 0 } else { bond });
        if rank == 1 || is_close(before, after)? {
            continue;
        }
        let moved = with_scalar!(dtype, "x", T => moved::<T>(train, (before, after), rank))?;
        if moved > most {
            return Ok(Some(Far { bond, before, after, moved }));
        }
    }
    Ok(None)
}

/// The largest power of two by which a value exceeds another in the columns of a core, and falls behind it in the rows of the next.
fn moved<T: Scalar>(train: &TensorTrain, (before, after): (usize, usize), rank: usize) -> Result<i64> {
    let widest = train.shape().max_rank();
    let room = || alloc::filled(WHAT, widest, 0.0f64);
    let (mut rows, mut columns, mut other) = (room()?, room()?, room()?);
    let dims @ [r, _, s] = train.shape().core(before);
    sizes(train.core::<T>("x", before)?, dims, &mut other[..r], &mut columns[..s]);
    let dims @ [r, _, s] = train.shape().core(after);
    sizes(train.core::<T>("x", after)?, dims, &mut rows[..r], &mut other[..s]);
    let mut list = alloc::with_capacity(WHAT, rank)?;
    for (&c, &r) in columns[..rank].iter().zip(&rows[..rank]) {
        if c > 0.0 && r > 0.0 && c.is_finite() && r.is_finite() {
            list.push((exponent_of(c), exponent_of(r)));
        }
    }
    let mut most = 0;
    for (i, a) in list.iter().enumerate() {
        for b in &list[i + 1..] {
            let (columns, rows) = (a.0 - b.0, b.1 - a.1);
            most = most.max(columns.min(rows)).max((-columns).min(-rows));
        }
    }
    Ok(most)
}
