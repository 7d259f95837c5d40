//! Trains from dense tensors (TT-SVD, Oseledets 2011, algorithm 1).
//!
//! The first unfoldings are extremely wide. Only their left singular vectors are computed, by a Gram matrix if that is
//! accurate enough, otherwise by a QR factorisation without Q. The carried part is one more product. So the tensor is
//! read twice (Roehrig-Zoellner, Thies, Basermann, SIAM J. Sci. Comput. 44, 2022).

use super::ops::{Held, TrainOps, with_algebra};
use super::orthogonal::{MatrixOf, Pieces, assemble, frobenius, split, tame, times_power};
use super::place::{Place, is_single};
use super::round::{NOISE, give_back, raise};
use super::truncate::{self, Truncated, Truncation};
use crate::alloc;
use crate::dense::{Algebra, Delta};
use crate::error::{Error, Result};
use crate::scalar::{Complex, Real, Scalar, with_scalar};
use crate::shape::Order;
use crate::tensor::train::{Shape, TensorTrain};
use crate::tensor::{self, Tensor};
use crate::tt::scaled::{Scaled, scale};

/// Least number of columns for each row of an unfolding that counts as wide.
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

/// The product of the modes, which must be the number of the tensor's elements.
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
    with_scalar!(tensor.dtype(), "tensor", T => with_algebra!(at, algebra => {
        let held = TrainOps::<T>::hold(algebra, tensor.memory(), elements)?;
        let (pieces, truncated) = sweep::<T, _>(algebra, held, modes, elements, truncation)?;
        Ok((assemble(at, algebra, modes, pieces)?, truncated))
    }))
}

type Swept<T, A> = (Option<Pieces<MatrixOf<T, A>>>, Truncated);

fn sweep<T: Scalar, A: TrainOps<T>>(
    algebra: &mut A,
    tensor: Held<'_, T, A::Matrix>,
    modes: &[usize],
    elements: usize,
    truncation: &Truncation<'_>,
) -> Result<Swept<T, A>> {
    let d = modes.len();
    // Rounding error of sums along the unfoldings, which are in double precision for single.
    let units = if is_single(T::DTYPE) { NOISE } else { NOISE.max((elements as f64).sqrt()) };
    let mut delta = truncation.delta(d, units * <T::Part as Real>::EPSILON.to_f64(), 0);
    let mut truncated = Truncated::new(d)?;
    let mut pieces = Pieces::new(d)?;
    let mut held = tensor;
    // The numbers in memory are 2^-exponent times the tensor's.
    let (mut rank, mut rest, mut whole, mut exponent) = (1, elements, 0.0, 0);
    if !is_single(T::DTYPE)
        && let Some((raised, e)) = raised::<T, _>(algebra, &held, elements)?
    {
        (held, exponent, delta) = (Held::Owned(raised), e, shifted(delta, e));
    }
    for (k, &n) in modes[..d - 1].iter().enumerate() {
        let rows = rank * n;
        rest /= n;
        let part = if rest >= WIDE * rows {
            wide(algebra, &held, (rows, rest), delta, truncation.cap(k))?
        } else {
            let mut m = matrix(algebra, held, rows, rest)?;
            if k == 0 {
                expect_finite(algebra, &m)?;
            }
            // Some libraries cannot find singular values of very large or small numbers.
            let e = tame(algebra, &mut m)?.unwrap_or(0);
            (exponent, whole, delta) = (exponent + e, scale(whole, -e), shifted(delta, e));
            held = Held::Borrowed(&[]);
            let part = split(algebra, m, delta, truncation.cap(k))?;
            let carried = algebra.adjoint("carried part of a tensor", &part.carried)?;
            Cut { u: part.u, carried: Some(carried), tail: part.tail, norm: part.norm }
        };
        if k == 0 {
            if !part.norm.is_finite() {
                return Err(not_finite());
            }
            if part.norm == 0.0 {
                return Ok((None, Truncated::zero(d)?));
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
    let mut last = matrix(algebra, held, rank * modes[d - 1], 1)?;
    if d == 1 {
        expect_finite(algebra, &last)?;
        truncated.norm = Scaled::new(Complex::new(frobenius(algebra, &last)?, 0.0), exponent);
    }
    // In a single core such small numbers would lose digits.
    if exponent < -900 && d > 1 {
        pieces.push(last, 1);
        give_back::<T, A>(algebra, &mut pieces, exponent)?;
        return Ok((Some(pieces), truncated));
    }
    times_power(algebra, &mut last, exponent)?;
    pieces.push(last, 1);
    Ok((Some(pieces), truncated))
}

/// If all numbers of a tensor in double precision are so small that factorisations take them for 0: the tensor times a
/// power of two, as one column, and the exponent of the power of two that it must be multiplied by. Otherwise `None`.
fn raised<T: Scalar, A: TrainOps<T>>(
    algebra: &mut A,
    held: &Held<'_, T, A::Matrix>,
    elements: usize,
) -> Result<Option<(A::Matrix, i64)>> {
    // The search ends at the first number of usual magnitude.
    let Held::Borrowed(values) = held else { return raised_there(algebra, held, elements) };
    let far = scale(1.0, -900);
    let is_small = |v: f64| v.abs() < far;
    if !values.iter().all(|x| is_small(x.re()) && is_small(x.im())) {
        return Ok(None);
    }
    let mut m = algebra.upload("unfolding of a tensor", elements, 1, values, elements)?;
    let e = raise(algebra, &mut m, 0.0)?;
    Ok(Some((m, e)))
}

/// The same for numbers on a device.
fn raised_there<T: Scalar, A: TrainOps<T>>(
    algebra: &mut A,
    held: &Held<'_, T, A::Matrix>,
    elements: usize,
) -> Result<Option<(A::Matrix, i64)>> {
    let Held::Owned(given) = held else { return Ok(None) };
    // A norm that is not finite is not small.
    let is_small = frobenius(algebra, given)? < scale(1.0, -900);
    if !is_small {
        return Ok(None);
    }
    let (rows, cols) = algebra.shape(given);
    let mut m = algebra.zeros("unfolding of a tensor", rows, cols)?;
    algebra.copy_columns(given, 0, cols, &mut m, 0)?;
    let mut m = algebra.reshape(m, elements, 1)?;
    let e = raise(algebra, &mut m, 0.0)?;
    Ok(Some((m, e)))
}

fn not_finite() -> Error {
    Error::invalid("tensor", "holds numbers that are not finite")
}

fn expect_finite<T: Scalar, A: Algebra<T>>(algebra: &mut A, m: &A::Matrix) -> Result<()> {
    if frobenius(algebra, m)?.is_finite() { Ok(()) } else { Err(not_finite()) }
}

/// The allowed error of numbers that have been divided by 2^e.
fn shifted(delta: Delta, e: i64) -> Delta {
    match delta {
        Delta::Relative(part) => Delta::Relative(part),
        Delta::Absolute(delta) => Delta::Absolute(scale(delta, -e)),
    }
}

struct Cut<M> {
    u: M,
    /// `None` if it is the matrix that was given.
    carried: Option<M>,
    tail: f64,
    norm: f64,
}

/// The truncated left singular vectors of a wide unfolding, and the carried part.
fn wide<T: Scalar, A: TrainOps<T>>(
    algebra: &mut A,
    held: &Held<'_, T, A::Matrix>,
    shape: (usize, usize),
    delta: Delta,
    cap: usize,
) -> Result<Cut<A::Matrix>> {
    let (vectors, s) = algebra.left_vectors(held, shape, delta)?;
    let norm = truncate::norm(&s);
    let (rank, tail) = truncate::rank(&s, delta.of(norm), cap);
    if rank == shape.0 {
        // All directions are kept. The identity serves as well as the vectors, and no product is needed.
        let mut identity = alloc::filled("orthonormal core", rank * rank, T::default())?;
        identity.iter_mut().step_by(rank + 1).for_each(|x| *x = T::from_parts(1.0, 0.0));
        let u = algebra.upload("orthonormal core", rank, rank, &identity, rank)?;
        return Ok(Cut { u, carried: None, tail, norm });
    }
    let mut u = algebra.zeros("singular vectors", shape.0, rank)?;
    algebra.copy_columns(&vectors, 0, rank, &mut u, 0)?;
    let carried = algebra.project(&u, held, shape)?;
    Ok(Cut { u, carried: Some(carried), tail, norm })
}

/// The held numbers as a matrix of the backend.
fn matrix<T: Scalar, A: TrainOps<T>>(
    algebra: &mut A,
    held: Held<'_, T, A::Matrix>,
    rows: usize,
    cols: usize,
) -> Result<A::Matrix> {
    match held {
        Held::Owned(m) => algebra.reshape(m, rows, cols),
        Held::Borrowed(values) => algebra.upload("unfolding of a tensor", rows, cols, values, rows),
    }
}
