//! The kernels of `cuda/tt_operator.cu`: operators between trains.
//!
//! An environment L[a, q, p, b] holds bra bond a (fastest), operator slot q, boundary pair p and ket bond b.

use super::super::mirrors::{TtGatherParams, TtMeetParams, TtPeaksParams, TtShiftParams, TtTurnParams};
use super::super::{constants as c, product, size, small, suffix_of};
use super::result;
use super::sizes::{SUM_SHARED, over};
use crate::alloc;
use crate::backend::gpu::launch::{Grid, Parameters, launch};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType};
use crate::shape::{to_i64, to_u64};

const _: () = assert!(size(c::TT_TERM_BYTES) == 3 * 8);

/// # Safety
/// As for [`launch`].
pub(super) unsafe fn start<P: Parameters>(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    name: &str,
    blocks: [u32; 3],
    shared: usize,
    parameters: &P,
) -> Result<()> {
    let kernel = gpu.kernel("tt_operator", &format!("purlin_tt_{name}_{}", suffix_of(dtype)?))?;
    let grid = Grid { blocks, threads: c::TT_SUM_THREADS.unsigned_abs(), shared };
    // SAFETY: the caller's promise is the same.
    unsafe { launch(&kernel, stream, grid, parameters) }
}

/// A core (left, n, right) times 2^-`exponent`, with its bonds exchanged if `mirror`; with `widen` the input is real.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn turn(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    input: Region<'_>,
    [left, n, right]: [usize; 3],
    (mirror, widen): (bool, bool),
    exponent: i64,
    output: Region<'_>,
) -> Result<()> {
    let count = product("core", &[left, n, right])?;
    let parts = if widen { count } else { product("core", &[count, dtype.size() / dtype.part_size()])? };
    let flag = |on: bool, bit: i32| if on { i64::from(bit) } else { 0 };
    let parameters = TtTurnParams {
        input: input.array("core", parts, dtype.part_size())?,
        output: output.array("copy of a core", count, dtype.size())?,
        left: to_i64(left),
        n: to_i64(n),
        right: to_i64(right),
        exponent,
        flags: flag(mirror, c::TT_TURN_MIRROR) | flag(widen, c::TT_TURN_WIDEN),
    };
    // SAFETY: both arrays were checked.
    unsafe { start(dtype, gpu, stream, "turn", over(count), 0, &parameters) }
}

/// Sums of columns, in device memory: column `to` is that of the terms from `starts[to]` on.
pub struct Terms {
    address: u64,
    _memory: Option<DeviceMemory>,
    count: usize,
    /// Slots and ket indices that the terms stay below.
    within: (usize, usize),
}

impl Terms {
    /// The terms (slot, ket index, factor) of each of `count` columns.
    ///
    /// # Errors
    /// Memory.
    pub fn new<I: Iterator<Item = (u32, u32, Complex<f64>)>>(
        gpu: &Gpu,
        stream: &GpuStream,
        count: usize,
        of: impl Fn(usize) -> I,
    ) -> Result<Self> {
        let (words, within) = listed(count, of)?;
        let mut memory = gpu.allocate_uninitialized_on(stream, TERMS, 8 * words.len())?;
        gpu.store_numbers(stream, &words, &mut memory, 0)?;
        Ok(Self { address: memory.address(), _memory: Some(memory), count, within })
    }

    /// The same in memory of the caller, enqueued without a copy from the host.
    ///
    /// # Errors
    /// As [`Terms::new`].
    pub fn enqueued<I: Iterator<Item = (u32, u32, Complex<f64>)>>(
        gpu: &Gpu,
        stream: &GpuStream,
        count: usize,
        of: impl Fn(usize) -> I,
        space: Region<'_>,
    ) -> Result<Self> {
        let (words, within) = listed(count, of)?;
        result::store(gpu, stream, &words, space)?;
        Ok(Self { address: space.array("terms", words.len(), 8)?, _memory: None, count, within })
    }

    /// Bytes that [`Terms::enqueued`] needs for `terms` terms of `count` columns.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for sizes whose product overflows; [`Error::Internal`] for a sum that does.
    pub fn enqueued_bytes(count: usize, terms: usize) -> Result<usize> {
        let words = product("terms", &[terms, 3])?.checked_add(count + 1);
        product("terms", &[words.ok_or_else(|| Error::Internal(format!("{terms} terms")))?, 8])
    }
}

/// Where the terms of each column begin, and the terms; the slots and ket indices that they stay below.
fn listed<I: Iterator<Item = (u32, u32, Complex<f64>)>>(
    count: usize,
    of: impl Fn(usize) -> I,
) -> Result<(Vec<i64>, (usize, usize))> {
    let (mut words, mut terms) = (alloc::with_capacity(TERMS, count + 1)?, Vec::new());
    let mut within = (0, 0);
    words.push(0i64);
    for to in 0..count {
        for (slot, column, value) in of(to) {
            within = (within.0.max(slot as usize + 1), within.1.max(column as usize + 1));
            let word = |x: f64| i64::from_ne_bytes(x.to_ne_bytes());
            let place = u64::from(slot) | (u64::from(column) << 32);
            for word in [i64::from_ne_bytes(place.to_ne_bytes()), word(value.re), word(value.im)] {
                alloc::push(TERMS, &mut terms, word)?;
            }
        }
        words.push(to_i64(terms.len() / 3));
    }
    alloc::refusable(|| words.try_reserve_exact(terms.len()))
        .map_err(|_| alloc::out_of_memory(TERMS, 8 * terms.len()))?;
    words.append(&mut terms);
    Ok((words, within))
}

const TERMS: &str = "terms of an operator";

/// U[c, to, p, f] = sum over the terms (q, j) of `to` of value T[c, q, p, j, f], times `alpha`, an element in a field of 16
/// bytes, if there is one. Sizes: c, q, p, j, f.
///
/// # Errors
/// [`Error::Internal`] for terms beyond the slots or ket indices of the input; as for every
/// [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn gather(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    terms: &Terms,
    [column, inputs, pairs, cols, follow]: [usize; 5],
    input: Region<'_>,
    output: Region<'_>,
    alpha: Option<Region<'_>>,
) -> Result<()> {
    if terms.within.0 > inputs || terms.within.1 > cols {
        return Err(Error::Internal(format!("terms of {:?} columns in {inputs} x {cols}", terms.within)));
    }
    let total = product("environment", &[column, terms.count, pairs, follow])?;
    let starts = terms.address;
    let parameters = TtGatherParams {
        input: input.array("input", product("environment", &[column, inputs, pairs, cols, follow])?, dtype.size())?,
        output: output.array("output", total, dtype.size())?,
        starts,
        terms: starts + to_u64(8 * (terms.count + 1)),
        column: to_i64(column),
        inputs: to_i64(inputs),
        count: to_i64(terms.count),
        pairs: to_i64(pairs),
        cols: to_i64(cols),
        follow: to_i64(follow),
        alpha: alpha.map_or(Ok(0), |alpha| alpha.array("factor", 1, 16))?,
    };
    // SAFETY: both arrays were checked, and the terms when they were made and above.
    unsafe { start(dtype, gpu, stream, "gather", many(total), 0, &parameters) }
}

/// Blocks for lists whose elements take some work each.
fn many(count: usize) -> [u32; 3] {
    let blocks = count.div_ceil(super::SUM_THREADS).clamp(1, 1 << 14);
    [u32::try_from(blocks).unwrap_or(1), 1, 1]
}

/// Largest |re| or |im| of the slots before `split` and of the others; NaN if there is one. Waits.
///
/// # Errors
/// As [`find_peaks`]; [`Error::OutOfDeviceMemory`].
pub fn peaks(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    environment: Region<'_>,
    groups: (usize, usize, usize),
    count: usize,
) -> Result<[f64; 2]> {
    if count == 0 {
        return Ok([0.0; 2]);
    }
    let keys = gpu.allocate_on(stream, "largest numbers of an environment", KEYS)?;
    find_peaks(dtype, gpu, stream, environment, groups, count, keys.whole())?;
    let mut peaks = [0.0f64; 2];
    gpu.load_numbers(stream, &keys, 0, &mut peaks)?;
    Ok(peaks)
}

/// Bytes of the keys of both groups.
pub const KEYS: usize = 16;

/// The same to keys that are 0.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn find_peaks(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    environment: Region<'_>,
    (bra, slots, split): (usize, usize, usize),
    count: usize,
    keys: Region<'_>,
) -> Result<()> {
    let parameters = TtPeaksParams {
        environment: environment.array("environment", count, dtype.size())?,
        keys: keys.array("keys", 2, 8)?,
        bra: to_i64(bra),
        slots: to_i64(slots),
        split: to_i64(split),
        count: to_i64(count),
    };
    // SAFETY: both arrays were checked; groups are 0 and 1 for any sizes that are not 0.
    unsafe { start(dtype, gpu, stream, "peaks", over(count), 0, &parameters) }
}

/// Multiplies the slots before `split` and the others by powers of two.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn shift(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    environment: Region<'_>,
    (bra, slots, split): (usize, usize, usize),
    count: usize,
    by: [i64; 2],
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    // Beyond these everything is 0 or infinite.
    let exponent = |e: i64| i32::try_from(e.clamp(-5000, 5000)).unwrap_or(0);
    let parameters = TtShiftParams {
        environment: environment.array("environment", count, dtype.size())?,
        bra: to_i64(bra),
        slots: to_i64(slots),
        split: to_i64(split),
        count: to_i64(count),
        first: exponent(by[0]),
        second: exponent(by[1]),
    };
    // SAFETY: the array was checked.
    unsafe { start(dtype, gpu, stream, "shift", over(count), 0, &parameters) }
}

/// sum over a and c of L[a, q, c] R[a, q, c] for each slot q of L; R has as many slots or one. Waits.
///
/// # Errors
/// As [`find_sums`]; [`Error::OutOfMemory`]; [`Error::OutOfDeviceMemory`].
pub fn meet(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    left: (Region<'_>, usize),
    right: (Region<'_>, usize),
    (bra, columns): (usize, usize),
) -> Result<Vec<Complex<f64>>> {
    let what = "sums of environments";
    let mut sums = alloc::filled(what, left.1, Complex::new(0.0, 0.0))?;
    let blocks = meet_blocks(bra, columns)?;
    if blocks == 0 || left.1 == 0 {
        return Ok(sums);
    }
    let parts = product("environment", &[left.1, blocks, 2])?;
    let memory = gpu.allocate_uninitialized_on(stream, what, parts * 8)?;
    find_sums(dtype, gpu, stream, left, right, (bra, columns), memory.whole())?;
    let mut words = alloc::filled(what, parts, 0.0f64)?;
    gpu.load_numbers(stream, &memory, 0, &mut words)?;
    for (sum, parts) in sums.iter_mut().zip(words.chunks_exact(2 * blocks)) {
        *sum = parts.chunks_exact(2).fold(*sum, |s, part| s + Complex::new(part[0], part[1]));
    }
    Ok(sums)
}

/// Partial sums of each slot where environments meet.
///
/// # Errors
/// [`Error::InvalidArgument`] for sizes whose product overflows.
pub fn meet_blocks(bra: usize, columns: usize) -> Result<usize> {
    let each = product("environment", &[bra, columns])?;
    Ok(if each == 0 { 0 } else { over(each)[0] as usize })
}

/// The partial sums, [`meet_blocks`] pairs of numbers for each slot of L, slot by slot.
///
/// # Errors
/// [`Error::Internal`] for slots of R that are neither one nor those of L; [`Error::NotSupported`] for more than 65535
/// slots; as for every [launch](crate::backend::gpu::kernels#errors).
pub fn find_sums(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    (left, left_slots): (Region<'_>, usize),
    (right, right_slots): (Region<'_>, usize),
    (bra, columns): (usize, usize),
    sums: Region<'_>,
) -> Result<()> {
    if right_slots != 1 && right_slots != left_slots {
        return Err(Error::Internal(format!("{left_slots} and {right_slots} slots meet")));
    }
    let each = product("environment", &[bra, columns])?;
    let blocks = meet_blocks(bra, columns)?;
    let parameters = TtMeetParams {
        left: left.array("left", product("environment", &[each, left_slots])?, dtype.size())?,
        right: right.array("right", product("environment", &[each, right_slots])?, dtype.size())?,
        sums: sums.array("sums", product("environment", &[left_slots, blocks, 2])?, 8)?,
        bra: to_i64(bra),
        left_slots: to_i64(left_slots),
        right_slots: to_i64(right_slots),
        columns: to_i64(columns),
    };
    let slots = u32::try_from(small("slots", left_slots)?).unwrap_or(1);
    if slots > 65_535 {
        return Err(Error::NotSupported(format!("h: {slots} slots at one bond, a GPU takes 65535")));
    }
    let blocks = u32::try_from(blocks).unwrap_or(1);
    // SAFETY: the three arrays were checked.
    unsafe { start(dtype, gpu, stream, "meet", [blocks, slots, 1], SUM_SHARED, &parameters) }
}
