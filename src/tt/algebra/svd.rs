//! Trains from dense tensors (TT-SVD, Oseledets 2011, algorithm 1).
//!
//! The first unfoldings have far more columns than rows. Only their left singular vectors are computed: from a Gram
//! matrix if that is accurate enough, otherwise from R of a QR factorization. One more product gives the remaining
//! part. So the tensor is read twice (Roehrig-Zoellner, Thies, Basermann, SIAM J. Sci. Comput. 44, 2022).

use super::erased::{Dense, Held, Operations, with_operations};
use super::orthogonal::{Pieces, assemble, frobenius, normalize, normalize_if_far, split, times_power};
use super::place::Place;
use super::round::{NOISE, epsilon, give_back, in_one_core};
use super::truncate::{self, Truncated, Truncation};
use crate::alloc;
use crate::dense::Delta;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType};
use crate::shape::Order;
use crate::tensor::train::{Shape, TensorTrain};
use crate::tensor::{self, Tensor};
use crate::trains::scaled::{Scaled, scale};

const WHAT: &str = "unfolding of a tensor";

/// Ratio of columns to rows from which on an unfolding counts as wide.
const WIDE: usize = 2;

/// The train of a dense tensor with the smallest ranks that `truncation` allows. `modes` are other dimensions for the
/// elements of a tensor that is packed with its first index fastest; `None` takes the tensor's own dimensions. All
/// cores but the last have orthonormal columns. With a Gram matrix, the dropped part is known to 1e-7 of the norm.
///
/// A tensor that is not packed with its first index fastest is copied first. In addition, the memory of one unfolding
/// after its truncation is needed.
///
/// # Errors
/// [`Error::InvalidArgument`] for modes of another product, a tensor without elements or with numbers that are not
/// finite, and options out of range; [`Error::NotSupported`] for strided device memory; as [`super::copy`].
pub fn tt_svd(
    at: &Place<'_>,
    tensor: &Tensor,
    modes: Option<&[usize]>,
    truncation: &Truncation<'_>,
) -> Result<(TensorTrain, Truncated)> {
    at.check()?;
    tensor.expect_context("tensor", at.context)?;
    let modes = modes.unwrap_or_else(|| tensor.dims());
    let elements = expect_elements("modes", modes, tensor)?;
    truncation.check(modes.len())?;
    if tensor.layout().is_packed(Order::ColumnMajor) {
        return decompose(at, tensor, modes, elements, truncation);
    }
    let location = if tensor.is_device() { tensor::Location::Device } else { tensor::Location::Host };
    let mut packed = Tensor::create(at.context, tensor.dtype(), location, Order::ColumnMajor, tensor.dims())?;
    tensor::copy(at.context, at.stream, tensor, &mut packed)?;
    decompose(at, &packed, modes, elements, truncation)
}

/// Checks that the product of the modes is the number of the tensor's elements, and returns it.
pub(super) fn expect_elements(argument: &str, modes: &[usize], tensor: &Tensor) -> Result<usize> {
    let ranks = alloc::filled("shape of a tensor train", modes.len() + 1, 1usize)?;
    Shape::new(argument, modes, &ranks)?;
    let elements = modes.iter().try_fold(1usize, |p, &n| crate::shape::product(argument, p, n))?;
    if elements != tensor.layout().elements() {
        let problem = format!("have {elements} elements, the tensor has {}", tensor.layout().elements());
        return Err(Error::invalid(argument, problem));
    }
    Ok(elements)
}

fn decompose(
    at: &Place<'_>,
    tensor: &Tensor,
    modes: &[usize],
    elements: usize,
    truncation: &Truncation<'_>,
) -> Result<(TensorTrain, Truncated)> {
    with_operations(at, "tensor", tensor.dtype(), |algebra| {
        let held = algebra.hold(tensor.memory(), elements)?;
        if let [_] = modes {
            let (pieces, truncated) = single_core(algebra, held, elements)?;
            return Ok((assemble(at, algebra, modes, Some(pieces))?, truncated));
        }
        let swept = match sweep(at, algebra, held, modes, elements, truncation, 0)? {
            Some(swept) => swept,
            None => {
                let by = if tensor.dtype().is_single() { 40 } else { 200 };
                let held = algebra.hold(tensor.memory(), elements)?;
                let mut m = algebra.matrix(WHAT, held, elements, 1)?;
                times_power(algebra, &mut m, -by)?;
                expect_finite(algebra, &m)?;
                sweep(at, algebra, Held::Owned(m), modes, elements, truncation, by)?.ok_or_else(not_finite)?
            }
        };
        Ok((assemble(at, algebra, modes, swept.0)?, swept.1))
    })
}

/// The train of a tensor with one index, which is its own core.
fn single_core(algebra: &mut dyn Operations, tensor: Held<'_>, elements: usize) -> Result<(Pieces, Truncated)> {
    let m = algebra.matrix(WHAT, tensor, elements, 1)?;
    let (mut norm, mut exponent) = (frobenius(algebra, &m)?, 0);
    let is_far = norm < scale(1.0, -900) || !norm.is_finite();
    if is_far && !algebra.dtype().is_single() {
        exponent = if norm.is_finite() { -1000 } else { 200 };
        let mut copy = algebra.zeros("norm of a tensor", elements, 1)?;
        algebra.copy_columns(&m, 0, 1, &mut copy, 0)?;
        times_power(algebra, &mut copy, -exponent)?;
        norm = frobenius(algebra, &copy)?;
    }
    if !norm.is_finite() {
        return Err(not_finite());
    }
    let mut pieces = Pieces::new(1)?;
    pieces.push(m, 1);
    Ok((pieces, Truncated { norm: Scaled::new(Complex::new(norm, 0.0), exponent), ..Truncated::new(1)? }))
}

type Swept = (Option<Pieces>, Truncated);

/// The train of 2^`exponent` times a tensor of at least two indices. `None` if products of its numbers would overflow;
/// the caller then divides the numbers and increases `exponent`.
fn sweep(
    at: &Place<'_>,
    algebra: &mut dyn Operations,
    tensor: Held<'_>,
    modes: &[usize],
    elements: usize,
    truncation: &Truncation<'_>,
    mut exponent: i64,
) -> Result<Option<Swept>> {
    let d = modes.len();
    // Rounding error of sums along the unfoldings. For single precision they are computed in double precision.
    let dtype = algebra.dtype();
    let units = if dtype.is_single() { NOISE } else { NOISE.max((elements as f64).sqrt()) };
    let delta = truncation.delta(d, units * epsilon(dtype), 0);
    let mut truncated = Truncated::new(d)?;
    let mut pieces = Pieces::new(d)?;
    let mut held = tensor;
    let is_lowered = exponent != 0;
    // The held numbers are 2^-exponent times those of the tensor.
    let (mut rank, mut rest, mut whole) = (1, elements, 0.0);
    if !is_lowered && let Some((raised, e)) = raised(algebra, &held, elements)? {
        (held, exponent) = (Held::Owned(raised), e);
    }
    let mut delta = shifted(delta, exponent);
    for (k, &n) in modes[..d - 1].iter().enumerate() {
        at.cancel.check()?;
        let rows = rank * n;
        rest /= n;
        let part = if rest >= WIDE * rows {
            let part = wide(algebra, &held, (rows, rest), delta, truncation.cap(k))?;
            if k == 0 && !is_lowered && !is_near(dtype, part.norm) {
                return Ok(None);
            }
            part
        } else {
            let mut m = algebra.matrix(WHAT, held, rows, rest)?;
            if k == 0 && !frobenius(algebra, &m)?.is_finite() {
                return if is_lowered { Err(not_finite()) } else { Ok(None) };
            }
            // Some libraries do not converge for very large or small numbers.
            let e = normalize_if_far(algebra, &mut m)?.unwrap_or(0);
            (exponent, whole, delta) = (exponent + e, scale(whole, -e), shifted(delta, e));
            held = Held::Taken;
            let part = split(algebra, m, delta, truncation.cap(k))?;
            let carried = algebra.adjoint("carried part of a tensor", &part.carried)?;
            Cut { u: part.u, carried: Some(carried), tail: part.tail, norm: part.norm }
        };
        if k == 0 {
            if !part.norm.is_finite() {
                return Err(not_finite());
            }
            if part.norm == 0.0 {
                return Ok(Some((None, Truncated::zero(d)?)));
            }
            whole = part.norm;
            truncated.norm = Scaled::new(Complex::new(whole, 0.0), exponent);
            delta = Delta::Absolute(delta.of(whole));
        }
        rank = algebra.shape(&part.u).1;
        truncated.drop(part.tail, whole);
        pieces.push(part.u, rank);
        if let Some(carried) = part.carried {
            held = Held::Owned(carried);
        }
    }
    let mut last = algebra.matrix(WHAT, held, rank * modes[d - 1], 1)?;
    if !in_one_core(dtype, truncated.norm.exponent) {
        exponent += normalize(algebra, &mut last)?.unwrap_or(0);
        pieces.push(last, 1);
        give_back(algebra, &mut pieces, exponent)?;
        return Ok(Some((Some(pieces), truncated)));
    }
    times_power(algebra, &mut last, exponent / 2)?;
    times_power(algebra, &mut last, exponent - exponent / 2)?;
    pieces.push(last, 1);
    Ok(Some((Some(pieces), truncated)))
}

/// Whether sums of products with unit vectors are within the range of the type for a matrix of this norm.
fn is_near(dtype: DType, norm: f64) -> bool {
    norm < scale(1.0, if dtype.is_single() { 126 } else { 1020 })
}

/// The exponent below which factorizations lose digits or take numbers for 0, and an exponent that raises the smallest
/// number of the type above it.
fn small(dtype: DType) -> (i64, i64) {
    if dtype.is_single() { (-86, 60) } else { (-900, 1000) }
}

/// If all numbers of a tensor are below the limit of [`small`], a copy of it as one column, multiplied by a power of
/// two, and the exponent of the power of two that the copy must be multiplied by. Otherwise `None`.
fn raised(algebra: &mut dyn Operations, held: &Held<'_>, elements: usize) -> Result<Option<(Dense, i64)>> {
    // `are_below` stops at the first number of usual magnitude.
    let Held::Borrowed(memory) = held else { return raised_there(algebra, held, elements) };
    let (far, by) = small(algebra.dtype());
    if !algebra.are_below(memory, elements, scale(1.0, far))? {
        return Ok(None);
    }
    let mut m = algebra.matrix(WHAT, Held::Borrowed(memory), elements, 1)?;
    times_power(algebra, &mut m, by)?;
    Ok(Some((m, -by)))
}

/// [`raised`] for a tensor that is a matrix of the backend.
fn raised_there(algebra: &mut dyn Operations, held: &Held<'_>, elements: usize) -> Result<Option<(Dense, i64)>> {
    let Held::Owned(given) = held else { return Ok(None) };
    // A norm that is not finite is not below the limit.
    let (far, by) = small(algebra.dtype());
    let is_small = frobenius(algebra, given)? < scale(1.0, far);
    if !is_small {
        return Ok(None);
    }
    let (rows, cols) = algebra.shape(given);
    let mut m = algebra.zeros(WHAT, rows, cols)?;
    algebra.copy_columns(given, 0, cols, &mut m, 0)?;
    let mut m = algebra.reshape(m, elements, 1)?;
    times_power(algebra, &mut m, by)?;
    Ok(Some((m, -by)))
}

fn not_finite() -> Error {
    Error::invalid("tensor", "holds numbers that are not finite")
}

fn expect_finite(algebra: &mut dyn Operations, m: &Dense) -> Result<()> {
    if frobenius(algebra, m)?.is_finite() { Ok(()) } else { Err(not_finite()) }
}

/// The allowed error for numbers that have been divided by 2^e.
fn shifted(delta: Delta, e: i64) -> Delta {
    match delta {
        Delta::Relative(part) => Delta::Relative(part),
        Delta::Absolute(delta) => Delta::Absolute(scale(delta, -e)),
    }
}

struct Cut {
    u: Dense,
    /// `None` if it is the given matrix itself.
    carried: Option<Dense>,
    tail: f64,
    norm: f64,
}

/// The truncated left singular vectors U of a wide unfolding A, and U^H A.
fn wide(algebra: &mut dyn Operations, held: &Held<'_>, shape: (usize, usize), delta: Delta, cap: usize) -> Result<Cut> {
    let (vectors, s) = algebra.left_vectors(held, shape, delta)?;
    let norm = truncate::norm(&s);
    let (rank, tail) = truncate::rank(&s, delta.of(norm), cap);
    if rank == shape.0 {
        // Nothing is truncated, so U may be any unitary matrix. The identity needs no product.
        let u = algebra.identity("orthonormal core", rank, rank)?;
        return Ok(Cut { u, carried: None, tail, norm });
    }
    let mut u = algebra.zeros("singular vectors", shape.0, rank)?;
    algebra.copy_columns(&vectors, 0, rank, &mut u, 0)?;
    let carried = algebra.project(&u, held, shape)?;
    Ok(Cut { u, carried: Some(carried), tail, norm })
}
