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
    if train.is_device() || is_near(context, train)? {
        return Ok(None);
    }
    with_scalar!(train.dtype(), "x", T => copy_of::<T>(context, train))
}

/// Elements from which on the threads of the context look at a train.
const MANY: usize = 1 << 18;

/// Whether the numbers of neighbouring cores are so near each other in size that no bond can be beyond the limit: one pass over
/// the numbers in order, which suffices for most trains.
fn is_near(context: &Arc<Context>, train: &TensorTrain) -> Result<bool> {
    let (shape, isa) = (train.shape(), context.isa());
    // Both ends of the range of p are rounded.
    let most = 2 * limit(train.dtype()) - 2;
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
    let (memory, offset) = train.memory(k);
    let (memory, dtype) = (memory.host("x")?, train.dtype());
    let parts = if matches!(dtype, DType::CF32 | DType::CF64) { 2 } else { 1 };
    let numbers = offset * parts..(offset + train.shape().core_len(k)) * parts;
    // Bit patterns: the caller's thread may take subnormal numbers for 0.
    let (low, high) = if matches!(dtype, DType::F32 | DType::CF32) {
        let (low, high) = dispatch::<f32, _>(isa, Single(&memory.as_slice::<u32>()?[numbers]));
        (f64::from(f32::from_bits(low)), f64::from(f32::from_bits(high)))
    } else {
        let (low, high) = dispatch::<f64, _>(isa, Double(&memory.as_slice::<i64>()?[numbers]));
        (f64::from_bits(low.cast_unsigned()), f64::from_bits(high.cast_unsigned()))
    };
    if high.to_bits() == 0 || !high.is_finite() { Ok(0) } else { Ok(exponent_of(high) - exponent_of(low)) }
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

/// Powers of two for the values of one bond: columns before it are divided by them, rows behind it multiplied. `None` where
/// they differ by little.
fn powers(columns: &[f64], rows: &[f64], limit: i64, out: &mut [i64]) -> bool {
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    for ((c, r), out) in columns.iter().zip(rows).zip(out.iter_mut()) {
        // A value that nothing depends on goes along with the others.
        if *c == 0.0 || *r == 0.0 || !c.is_finite() || !r.is_finite() {
            *out = i64::MIN;
            continue;
        }
        *out = (exponent_of(*c) - exponent_of(*r)).div_euclid(2);
        (low, high) = (low.min(*out), high.max(*out));
    }
    if low > high || high - low <= limit {
        return false;
    }
    // Nothing moves on the whole.
    let middle = low + (high - low) / 2;
    out.iter_mut().for_each(|p| *p = if *p == i64::MIN { 0 } else { *p - middle });
    true
}

fn copy_of<T: Scalar>(context: &Arc<Context>, train: &TensorTrain) -> Result<Option<TensorTrain>> {
    let shape = train.shape();
    let cores = train.cores::<T>("x")?;
    if train.is_uniform() {
        // One core: as a ring of it has it, everywhere the same.
        let ([r, n, _], limit) = (shape.core(0), limit(T::DTYPE));
        let one = Shape::new("x", &[n], &[r, r])?;
        let mut list = alloc::with_capacity(WHAT, 1)?;
        list.push(cores.core(0));
        let Some(powers) = powers_of(&Cores::new(&one, list), &one, limit)? else { return Ok(None) };
        let mut all = alloc::with_capacity(WHAT, shape.len() + 1)?;
        for _ in 0..=shape.len() {
            all.push(alloc::copied(WHAT, &powers[0])?);
        }
        return scaled_copy::<T>(context, train, &all).map(Some);
    }
    let Some(powers) = powers_of(&cores, shape, limit(T::DTYPE))? else { return Ok(None) };
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
fn powers_of<T: Scalar>(cores: &Cores<'_, T>, shape: &Shape, limit: i64) -> Result<Option<Vec<Vec<i64>>>> {
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
        } else if r > 1 && powers(&before[..r], &rows[..r], limit, &mut now[..r]) {
            keep(k, &now[..r])?;
        }
        before[..s].copy_from_slice(&columns[..s]);
    }
    // The bond that closes a ring.
    let p = shape.ranks()[0];
    if p > 1 && powers(&before[..p], &first[..p], limit, &mut now[..p]) {
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
pub(super) fn expect_near(isa: Isa, name: &str, train: &TensorTrain, (first, last): (usize, usize)) -> Result<()> {
    let (d, dtype) = (train.shape().len(), train.dtype());
    let is_close = |a: usize, b: usize| -> Result<bool> {
        Ok(range_of(train, a, isa)? + range_of(train, b, isa)? <= 2 * most_moved(dtype) - 2)
    };
    for bond in first..=last.min(d) {
        let rank = train.shape().ranks()[bond];
        let (before, after) = (if bond == 0 { d - 1 } else { bond - 1 }, if bond == d { 0 } else { bond });
        if rank == 1 || is_close(before, after)? {
            continue;
        }
        let moved = with_scalar!(dtype, "x", T => moved::<T>(train, (before, after), rank))?;
        if moved > most_moved(dtype) {
            return Err(Error::Numerical(format!(
                "{name}: values of bond {bond} differ by 2^{moved} in core {before} and by as much the other way in core {after}; \
                 environments hold 2^{}: canonicalise it first",
                most_moved(dtype)
            )));
        }
    }
    Ok(())
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
