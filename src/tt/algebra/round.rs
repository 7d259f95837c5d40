//! Rounding: a train of smaller ranks within a given error (Oseledets 2011, algorithm 2).
//!
//! Right-to-left the cores' right unfoldings are made orthonormal by QR, then left-to-right singular values are cut
//! off: the order of TT-Toolbox and ttpy, and so their ranks. What is carried from core to core is scaled by powers of
//! two, exactly, so that the norm may lie far beyond the range of the type.

use super::ops::{TrainOps, with_algebra};
use super::orthogonal::{MatrixOf, Pieces, assemble, factors, frobenius, normalise, split, tame, times_power};
use super::place::{Place, check, is_single};
use super::truncate::{Truncated, Truncation};
use crate::alloc;
use crate::dense::Delta;
use crate::dense::{Algebra, Op};
use crate::error::{Error, Result};
use crate::scalar::{Complex, Real, Scalar, with_scalar};
use crate::shape::to_i64;
use crate::tensor::train::{Shape, TensorTrain};
use crate::tt::scaled::{Scaled, scale};

/// Units of roundoff of the norm that a factorisation of cores leaves where exact arithmetic leaves 0.
pub(super) const NOISE: f64 = 32.0;

/// What is rounded.
pub(super) enum Source<'a, T> {
    /// A train.
    Train(&'a TensorTrain),
    /// Cores that are formed one at a time.
    Formed {
        /// Mode sizes and ranks.
        shape: &'a Shape,
        /// Core k, and the power of two that it is to be multiplied with.
        core: &'a dyn Fn(usize) -> Result<(Vec<T>, i64)>,
    },
}

impl<T: Scalar> Source<'_, T> {
    fn shape(&self) -> &Shape {
        match self {
            Self::Train(x) => x.shape(),
            Self::Formed { shape, .. } => shape,
        }
    }

    /// Core k as the matrix (r_k n_k) x r_{k+1}, and the power of two that it is to be multiplied with.
    fn load<A: TrainOps<T>>(&self, algebra: &mut A, argument: &str, k: usize) -> Result<(A::Matrix, i64)> {
        let [r, n, s] = self.shape().core(k);
        let (mut core, exponent) = match self {
            Self::Train(x) => (algebra.load(x, k, r * n, s)?, 0),
            Self::Formed { core, .. } => {
                let (core, exponent) = core(k)?;
                (algebra.upload("core of a product", r * n, s, &core, r * n)?, exponent)
            }
        };
        let raised = check_finite(algebra, argument, k, &mut core)?;
        Ok((core, exponent + raised))
    }

    /// Refuses numbers that are not finite in any core: a sweep that meets zeros does not read the others.
    fn expect_finite<A: TrainOps<T>>(&self, algebra: &mut A, argument: &str) -> Result<()> {
        (0..self.shape().len()).try_for_each(|k| self.load(algebra, argument, k).map(|_| ()))
    }
}

/// Refuses a core with numbers that are not finite. Numbers near the least of double precision are multiplied by a power of two,
/// since factorisations take them for 0; returns the power that the core is to be multiplied with.
pub(super) fn check_finite<T: Scalar, A: Algebra<T>>(
    algebra: &mut A,
    argument: &str,
    k: usize,
    core: &mut A::Matrix,
) -> Result<i64> {
    let norm = frobenius(algebra, core)?;
    if norm.is_finite() {
        return raise(algebra, core, norm);
    }
    Err(Error::invalid(argument, format!("core {k} has the norm {norm}, finite numbers are needed")))
}

/// Brings numbers of double precision whose norm is below 2^-900 into the middle of the range, exactly; returns the power of two that
/// they are then to be multiplied with.
pub(super) fn raise<T: Scalar, A: Algebra<T>>(algebra: &mut A, m: &mut A::Matrix, norm: f64) -> Result<i64> {
    const BY: i64 = 1000;
    if is_single(T::DTYPE) || norm >= scale(1.0, -900) {
        return Ok(0);
    }
    times_power(algebra, m, BY)?;
    Ok(-BY)
}

/// Refuses a ring.
pub(super) fn expect_open(argument: &str, shape: &Shape) -> Result<()> {
    if !shape.is_cyclic() {
        return Ok(());
    }
    let rank = shape.ranks()[0];
    Err(Error::NotSupported(format!(
        "{argument}: is cyclic with the rank {rank}: local truncations of a ring have no bound; open it first"
    )))
}

/// The train with the smallest ranks that `truncation` allows. All cores but the last have orthonormal columns as
/// (r_k n_k) x r_{k+1} matrices; of a norm beyond the range of the type every core has an equal power of two.
///
/// # Errors
/// [`Error::NotSupported`] for a cyclic train; [`Error::InvalidArgument`] for a core with numbers that are not finite and
/// for options out of range; [`Error::Numerical`] if the cores leave the range of the type; as [`super::copy`].
pub fn round(at: &Place<'_>, x: &TensorTrain, truncation: &Truncation<'_>) -> Result<(TensorTrain, Truncated)> {
    at.check()?;
    check(at, "x", x)?;
    with_scalar!(x.dtype(), "x", T => round_source::<T>(at, "x", &Source::Train(x), truncation))
}

/// [`round`] of what may not have been formed.
pub(super) fn round_source<T: Scalar>(
    at: &Place<'_>,
    argument: &str,
    source: &Source<'_, T>,
    truncation: &Truncation<'_>,
) -> Result<(TensorTrain, Truncated)> {
    let shape = source.shape();
    expect_open(argument, shape)?;
    truncation.check(shape.len())?;
    with_algebra!(at, algebra => {
        let (pieces, truncated) = sweep(algebra, argument, source, truncation)?;
        Ok((assemble(at, algebra, shape.modes(), pieces)?, truncated))
    })
}

type Swept<T, A> = (Option<Pieces<MatrixOf<T, A>>>, Truncated);

/// Both sweeps; no cores for a train that is zero.
fn sweep<T: Scalar, A: TrainOps<T>>(
    algebra: &mut A,
    argument: &str,
    source: &Source<'_, T>,
    truncation: &Truncation<'_>,
) -> Result<Swept<T, A>> {
    let shape = source.shape();
    let d = shape.len();
    let mut right = alloc::with_capacity("orthonormal cores", d)?;
    let (mut m, mut exponent) = source.load(algebra, argument, d - 1)?;
    for k in (1..d).rev() {
        let r = shape.ranks()[k];
        let elements = product_of(algebra.shape(&m));
        let wide = algebra.reshape(m, r, elements / r)?;
        let tall = algebra.adjoint("unfolding of a core", &wide)?;
        drop(wide);
        let (q, mut low) = factors(algebra, tall)?;
        match tame(algebra, &mut low)? {
            Some(e) => exponent += e,
            None => {
                source.expect_finite(algebra, argument)?;
                return Ok((None, Truncated::zero(d)?));
            }
        }
        let (core, e) = source.load(algebra, argument, k - 1)?;
        exponent += e;
        m = algebra.zeros("core with what is carried", algebra.shape(&core).0, algebra.shape(&low).0)?;
        algebra.multiply(1.0, &core, Op::Plain, &low, Op::Adjoint, 0.0, &mut m)?;
        right.push(q);
    }
    match normalise(algebra, &mut m)? {
        Some(e) => exponent += e,
        None => {
            source.expect_finite(algebra, argument)?;
            return Ok((None, Truncated::zero(d)?));
        }
    }
    let whole = frobenius(algebra, &m)?;
    let mut truncated = Truncated::new(d)?;
    truncated.norm = Scaled::new(Complex::new(whole, 0.0), exponent);
    let noise = NOISE * <T::Part as Real>::EPSILON.to_f64();
    let delta = Delta::Absolute(truncation.delta(d, noise, exponent).of(whole));
    let mut pieces = Pieces::new(d)?;
    let mut rank = 1;
    for k in 0..d - 1 {
        let elements = product_of(algebra.shape(&m));
        let rows = rank * shape.modes()[k];
        let tall = algebra.reshape(m, rows, elements / rows)?;
        let part = split(algebra, tall, delta, truncation.cap(k))?;
        rank = algebra.shape(&part.u).1;
        pieces.push(part.u, rank);
        truncated.drop(part.tail, whole);
        let Some(q) = right.pop() else { return Err(Error::Internal("a sweep without its cores".into())) };
        m = algebra.zeros("core with what is carried", rank, algebra.shape(&q).0)?;
        algebra.multiply(1.0, &part.carried, Op::Adjoint, &q, Op::Adjoint, 0.0, &mut m)?;
    }
    pieces.push(m, 1);
    give_back::<T, A>(algebra, &mut pieces, exponent)?;
    Ok((Some(pieces), truncated))
}

fn product_of((rows, cols): (usize, usize)) -> usize {
    rows * cols
}

/// Exponents up to which the norm may lie in one core.
pub(super) fn in_one_core<T: Scalar>(exponent: i64) -> bool {
    exponent.abs() <= if is_single(T::DTYPE) { 90 } else { 900 }
}

/// Multiplies the train by 2^exponent: the last core, or, where that would leave the range of the type, all alike.
pub(super) fn give_back<T: Scalar, A: Algebra<T>>(
    algebra: &mut A,
    pieces: &mut Pieces<A::Matrix>,
    exponent: i64,
) -> Result<()> {
    let d = to_i64(pieces.cores.len());
    if let ([core], -1074..=-1) = (&mut pieces.cores[..], exponent) {
        // There is nowhere else to go, and the type has such numbers.
        return times_power(algebra, core, exponent);
    }
    let (all, rest) =
        if in_one_core::<T>(exponent) { (0, exponent) } else { (exponent.div_euclid(d), exponent.rem_euclid(d)) };
    if !in_one_core::<T>(all.abs() + 1) {
        return Err(Error::Numerical(format!(
            "x: a norm of 2^{exponent} is beyond the range of {d} cores of {}",
            T::DTYPE.name()
        )));
    }
    for (k, core) in (0..).zip(&mut pieces.cores) {
        let e = match all {
            0 if k == d - 1 => rest,
            0 => 0,
            _ => all + i64::from(k < rest),
        };
        times_power(algebra, core, e)?;
    }
    Ok(())
}
