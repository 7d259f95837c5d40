//! The dense tensor of a train.

use super::erased::{Dense, Operations, with_operations};
use super::orthogonal::{exponent_of_norm, frobenius, normalize, normalize_if_far, times_power};
use super::place::{Place, check};
use super::structure::to_open;
use super::svd::expect_elements;
use crate::alloc;
use crate::backend::gpu::kernels::tt::operator::{KEYS, find_peaks};
use crate::backend::memory::Memory;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::scalar::{DType, is_finite as is_number, with_scalar};
use crate::shape::Order;
use crate::tensor::train::{Shape, TensorTrain};
use crate::tensor::{self, Location, Tensor};
use crate::trains::balance;
use crate::trains::scaled::{exponent_of, scale};

/// Largest number of elements of a dense tensor without `force`.
pub const LIMIT: usize = 1 << 31;

/// Writes the dense tensor of a train, first index fastest. `tensor` has the mode sizes as dimensions, in any layout on
/// the host, or it is packed and has as many elements in other dimensions. The train is cut in the middle, and the
/// dense tensors of both halves are multiplied: this takes as many multiply-adds as the elements times the rank in the
/// middle.
///
/// If the entries at a bond differ by many orders of magnitude, the train is first copied with balanced bonds.
///
/// A layout other than packed, first index fastest, needs a second tensor of that size.
///
/// # Errors
/// [`Error::InvalidArgument`] for a tensor of other sizes or type, or of more than [`LIMIT`] elements unless `force`;
/// [`Error::Numerical`] if the halves are together beyond the range of the type; [`Error::NotSupported`] for strided
/// device memory; as [`super::copy`].
pub fn full(at: &Place<'_>, x: &TensorTrain, tensor: &mut Tensor, force: bool) -> Result<()> {
    at.check()?;
    check(at, "x", x)?;
    tensor.expect_context("tensor", at.context)?;
    tensor.expect_dtype("tensor", x.dtype())?;
    tensor.check_writable("tensor")?;
    let modes = x.shape().modes();
    check_size(modes, force)?;
    let elements = expect_elements("tensor", modes, tensor)?;
    let packed = tensor.layout().is_packed(Order::ColumnMajor);
    if !packed && tensor.dims() != modes {
        return Err(Error::invalid("tensor", format!("has dimensions {:?}, {modes:?} are needed", tensor.dims())));
    }
    if packed {
        return expand(at, x, tensor, elements);
    }
    let location = if tensor.is_device() { Location::Device } else { Location::Host };
    let mut whole = Tensor::create(at.context, x.dtype(), location, Order::ColumnMajor, tensor.dims())?;
    expand(at, x, &mut whole, elements)?;
    tensor::copy(at.context, at.stream, &whole, tensor)
}

/// Returns an error for a dense tensor of more than [`LIMIT`] elements unless `force`: its size is probably a mistake.
pub(super) fn check_size(modes: &[usize], force: bool) -> Result<()> {
    let elements = modes.iter().try_fold(1usize, |p, &n| p.checked_mul(n));
    match elements {
        Some(n) if force || n <= LIMIT => Ok(()),
        Some(n) => Err(Error::invalid("x", format!("has {n} elements as a dense tensor, more than {LIMIT}"))),
        None => Err(Error::invalid("x", "has more than 2^64 elements as a dense tensor")),
    }
}

/// Fills a packed tensor of `elements` elements with the entries of x.
pub(super) fn expand(at: &Place<'_>, x: &TensorTrain, tensor: &mut Tensor, elements: usize) -> Result<()> {
    let location = if tensor.is_device() { Location::Device } else { Location::Host };
    let there = Place { location, ..*at };
    let opened;
    let x = if x.shape().len() == 1 && x.shape().is_cyclic() {
        opened = to_open(&there, x)?;
        &opened
    } else {
        x
    };
    let copy = balance::for_dense(at.context, at.stream, x)?;
    let x = copy.as_ref().unwrap_or(x);
    let memory = tensor.memory_mut("tensor")?;
    let dtype = x.dtype();
    with_operations(at, "x", dtype, |algebra| {
        let middle = split_at(x.shape(), elements);
        let (mut left, e) = left_half(at, algebra, x, middle)?;
        let (mut right, f) = right_half(at, algebra, x, middle)?;
        let (alpha, above) = alpha(dtype, e, f)?;
        at.cancel.check()?;
        times_power(algebra, &mut left, above / 2)?;
        times_power(algebra, &mut right, above - above / 2)?;
        algebra.product_to(alpha, &left, &right, memory)?;
        let size = e.zip(f).map_or(0, |(e, f)| e + f);
        let most = dtype.largest_exponent();
        // For a ring, the left half consists of one matrix for each value of the boundary bond, each with norm at most
        // 1.
        let bits = exponent_of(x.shape().ranks()[0] as f64);
        // The exponent is only a bound: the entries may be within the range, or beyond it.
        let is_beyond = size + bits >= most
            && !is_finite(dtype, at, memory, elements)?
            && frobenius(algebra, &left)?.is_finite()
            && frobenius(algebra, &right)?.is_finite();
        if !is_beyond {
            return Ok(());
        }
        // A partial sum may have overflowed although the entry is within the range. Repeat with smaller numbers.
        let down = size + bits + 1 - most;
        times_power(algebra, &mut left, -down)?;
        let (rows, cols) = (algebra.shape(&left).0, algebra.shape(&right).0);
        let mut product = algebra.zeros("dense tensor of a train", rows, cols)?;
        algebra.multiply(1.0, &left, Op::Plain, &right, Op::Adjoint, 0.0, &mut product)?;
        times_power(algebra, &mut product, down)?;
        algebra.put(&product, memory)?;
        if is_finite(dtype, at, memory, elements)? { Ok(()) } else { Err(beyond(dtype, size)) }
    })
}

fn beyond(dtype: DType, exponent: i64) -> Error {
    Error::Numerical(format!(
        "x: entries may be as large as 2^{exponent}, beyond the range of {}; scale the train first",
        dtype.name()
    ))
}

/// Whether all numbers of a packed tensor are finite. Waits if it is on the device.
fn is_finite(dtype: DType, at: &Place<'_>, memory: &Memory, elements: usize) -> Result<bool> {
    let Memory::Device(memory) = memory else {
        let memory = memory.host("tensor")?;
        return with_scalar!(dtype, "tensor", T => {
            Ok(memory.as_slice::<T>()?[..elements].iter().all(|x| is_number(*x)))
        });
    };
    let (gpu, queue) = (at.context.gpu("tensor")?, at.queue()?);
    let keys = gpu.allocate_on(queue, "largest entries of a tensor", KEYS)?;
    find_peaks(dtype, gpu, queue, memory.region(0, elements * dtype.size())?, (1, 1, 1), elements, keys.whole())?;
    let mut peaks = [0.0f64; 2];
    gpu.load_numbers(queue, &keys, 0, &mut peaks)?;
    Ok(peaks.iter().all(|peak| peak.is_finite()))
}

/// 2^(e + f), for halves that have been divided by 2^e and 2^f, as a factor for their product or as an exponent for
/// both halves. `None` stands for a half of zeros: their product needs no factor, and is NaN if the other half is not
/// finite.
fn alpha(dtype: DType, e: Option<i64>, f: Option<i64>) -> Result<(f64, i64)> {
    let (Some(e), Some(f)) = (e, f) else { return Ok((1.0, 0)) };
    let most = dtype.largest_exponent();
    // With a larger norm some entry is beyond the range: a tensor that fits into memory has fewer than 2^120 elements.
    if e + f > most + 60 {
        return Err(beyond(dtype, e + f));
    }
    // Near the ends of the range, a factor for one half may overflow or lose digits where a factor for each half does
    // not.
    let least = if dtype.is_single() { -90 } else { -900 };
    let is_near = e + f > most - 2 || e + f < least;
    Ok(if is_near { (1.0, (e + f).max(-1500)) } else { (scale(1.0, e + f), 0) })
}

/// Number of cores in the left half, chosen so that both halves together have the fewest elements.
fn split_at(shape: &Shape, elements: usize) -> usize {
    let d = shape.len();
    let (mut best, mut least, mut left) = (d, usize::MAX, 1usize);
    for k in 1..=d {
        left *= shape.modes()[k - 1];
        let size = left.saturating_add(elements / left).saturating_mul(shape.ranks()[k]);
        // The last bond of a ring is the boundary bond, so the right half needs at least one core.
        if size < least && (k < d || d == 1) {
            (best, least) = (k, size);
        }
    }
    best
}

type Half = (Dense, Option<i64>);

/// Divides a matrix by a power of two, 2^e, so that its product with `core` is in the range of the type. Returns e. The
/// core is not scaled, because its entries may differ much in exponent.
fn prepare(algebra: &mut dyn Operations, m: &mut Dense, core: &Dense) -> Result<i64> {
    let (low, high) = if algebra.dtype().is_single() { (-40, 100) } else { (-500, 900) };
    let size = exponent_of_norm(algebra, core)?;
    if (low..=high).contains(&size) {
        return Ok(normalize_if_far(algebra, m)?.unwrap_or(0));
    }
    if frobenius(algebra, m)? == 0.0 {
        return Ok(0);
    }
    let near = if size > high { high - size } else { high.min(-size) };
    let e = exponent_of_norm(algebra, m)? - near;
    times_power(algebra, m, -(e / 2))?;
    times_power(algebra, m, e / 2 - e)?;
    Ok(e)
}

/// The dense tensor of the left cores as a matrix: a row for each combination of their mode indices, a column for each
/// pair (b, p) of the bond in the middle and the boundary bond. Also returns its exponent, `None` for zeros.
fn left_half(at: &Place<'_>, algebra: &mut dyn Operations, x: &TensorTrain, middle: usize) -> Result<Half> {
    let what = "left half of a train";
    let shape = x.shape();
    let [ring, n, s] = shape.core(0);
    if ring == 1 {
        let first = algebra.load(x, 0, n, s)?;
        return extend(at, algebra, x, middle, first);
    }
    let whole = algebra.load(x, 0, ring, n * s)?;
    let host = algebra.values(what, &whole)?;
    drop(whole);
    let rows: usize = shape.modes()[..middle].iter().product();
    let inner = shape.ranks()[middle];
    let mut all = algebra.zeros(what, rows, inner * ring)?;
    let mut parts = alloc::with_capacity(what, ring)?;
    for p in 0..ring {
        let slice = algebra.every(what, &host, p, ring)?;
        let first = algebra.upload(what, n, s, slice.any())?;
        parts.push(extend(at, algebra, x, middle, first)?);
    }
    let top = parts.iter().filter_map(|(_, e)| *e).max();
    for (p, (mut part, e)) in parts.into_iter().enumerate() {
        if let (Some(e), Some(top)) = (e, top) {
            times_power(algebra, &mut part, (e - top).max(-1000))?;
        }
        algebra.copy_columns(&part, 0, inner, &mut all, p * inner)?;
    }
    Ok((all, top))
}

/// Multiplies a first core, (n_0, r_1), by the others up to the middle.
fn extend(at: &Place<'_>, algebra: &mut dyn Operations, x: &TensorTrain, middle: usize, first: Dense) -> Result<Half> {
    let mut m = first;
    let mut exponent = 0;
    for k in 1..middle {
        at.cancel.check()?;
        let [r, n, s] = x.shape().core(k);
        // Do not stop at zeros: the following cores may hold a NaN.
        let core = algebra.load(x, k, r, n * s)?;
        exponent += prepare(algebra, &mut m, &core)?;
        let rows = algebra.shape(&m).0;
        let mut product = algebra.zeros("left half of a train", rows, n * s)?;
        algebra.multiply(1.0, &m, Op::Plain, &core, Op::Plain, 0.0, &mut product)?;
        m = algebra.reshape(product, rows * n, s)?;
    }
    match normalize(algebra, &mut m)? {
        Some(e) => Ok((m, Some(exponent + e))),
        None => Ok((m, None)),
    }
}

/// The adjoint of the dense tensor of the right cores as a matrix: a row for each combination of their mode indices, a
/// column for each (b, p).
fn right_half(at: &Place<'_>, algebra: &mut dyn Operations, x: &TensorTrain, middle: usize) -> Result<Half> {
    let what = "right half of a train";
    let shape = x.shape();
    let (d, ring) = (shape.len(), shape.ranks()[0]);
    if middle == d {
        // A single core: the right half is 1.
        return Ok((algebra.identity(what, 1, 1)?, Some(0)));
    }
    let inner = shape.ranks()[middle];
    let [r, n, _] = shape.core(d - 1);
    let mut m = algebra.load(x, d - 1, r, n * ring)?;
    let mut exponent = 0;
    for k in (middle..d - 1).rev() {
        at.cancel.check()?;
        let [r, n, s] = shape.core(k);
        let core = algebra.load(x, k, r * n, s)?;
        exponent += prepare(algebra, &mut m, &core)?;
        let cols = algebra.shape(&m).1;
        let mut product = algebra.zeros(what, r * n, cols)?;
        algebra.multiply(1.0, &core, Op::Plain, &m, Op::Plain, 0.0, &mut product)?;
        m = algebra.reshape(product, r, n * cols)?;
    }
    let exponent = normalize(algebra, &mut m)?.map(|e| exponent + e);
    if ring == 1 {
        return Ok((algebra.adjoint(what, &m)?, exponent));
    }
    let rows = algebra.shape(&m).1 / ring;
    let mut all = algebra.zeros(what, rows, inner * ring)?;
    for p in 0..ring {
        let mut part = algebra.zeros(what, inner, rows)?;
        algebra.copy_columns(&m, p * rows, rows, &mut part, 0)?;
        let turned = algebra.adjoint(what, &part)?;
        algebra.copy_columns(&turned, 0, inner, &mut all, p * inner)?;
    }
    Ok((all, exponent))
}
