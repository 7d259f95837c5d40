//! Rounding: a train of smaller ranks within a given error (Oseledets 2011, algorithm 2).
//!
//! First a sweep from right to left makes the right unfoldings of the cores orthonormal by QR. Then a sweep from left
//! to right truncates singular values. TT-Toolbox and ttpy use the same order, so the ranks agree. The factor that a
//! sweep carries from core to core is scaled exactly by powers of two, so the norm may be far beyond the range of the
//! type.

use std::cell::Cell;

use super::erased::{Dense, Operations, Values, with_operations};
use super::orthogonal::{Pieces, assemble, factors, frobenius, normalize, normalize_if_far, split, times_power};
use super::place::{Place, check, expect_finite};
use super::truncate::{Truncated, Truncation};
use crate::alloc;
use crate::dense::{Delta, Op};
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType};
use crate::shape::to_i64;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::balance;
use crate::trains::scaled::{Scaled, exponent_of, scale};

/// Unit of roundoff of a type.
pub(super) fn epsilon(dtype: DType) -> f64 {
    if dtype.is_single() { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// Bound, in units of roundoff of the norm, of the singular values that a factorization of cores computes where exact
/// arithmetic gives 0.
pub(super) const NOISE: f64 = 32.0;

/// The operand of a rounding: a train, or a product or sum whose cores are computed one at a time.
pub(super) enum Source<'a> {
    /// A train in memory.
    Train(&'a TensorTrain),
    /// Cores that are computed one at a time.
    Formed {
        /// Mode sizes and ranks before the rounding.
        shape: &'a Shape,
        /// Core k, and the exponent of the power of two that it must be multiplied by.
        core: &'a dyn Fn(usize) -> Result<FormedCore>,
        /// Set if the sweep may lose digits of the result: products of entries come near the smallest number of the
        /// type. A later core may multiply the larger entries by zeros, and then the small ones are the result.
        may_lose: &'a Cell<bool>,
    },
}

/// A core that has been computed.
pub(super) struct FormedCore {
    pub values: Values,
    /// The exponent of the power of two that the core must be multiplied by.
    pub exponent: i64,
    /// The exponent of the smallest nonzero entry, or a lower bound of it.
    pub low: i64,
}

impl Source<'_> {
    fn shape(&self) -> &Shape {
        match self {
            Self::Train(x) => x.shape(),
            Self::Formed { shape, .. } => shape,
        }
    }

    /// Core k as the matrix (r_k n_k) x r_{k+1}, and the exponent of the power of two that it must be multiplied by.
    /// `carried` is the exponent of the smallest column of the factor that the core will be multiplied by.
    fn load(&self, algebra: &mut dyn Operations, argument: &str, k: usize, carried: i64) -> Result<(Dense, i64)> {
        let [r, n, s] = self.shape().core(k);
        let (mut core, exponent, low) = match self {
            Self::Train(x) => (algebra.load(x, k, r * n, s)?, 0, None),
            Self::Formed { core, .. } => {
                let FormedCore { values, exponent, low } = core(k)?;
                (algebra.upload("core of a product", r * n, s, values.any())?, exponent, Some(low))
            }
        };
        let moved = check_finite(algebra, argument, k, &mut core)?;
        if let Some(low) = low {
            self.watch(algebra.dtype(), low.saturating_sub(moved).saturating_add(carried));
        }
        Ok((core, exponent + moved))
    }

    /// Sets `may_lose` if numbers of this exponent are near the smallest number of the type.
    fn watch(&self, dtype: DType, exponent: i64) {
        // The limit leaves range for the digits of the number.
        let least = if dtype.is_single() { -90 } else { -450 };
        if let Self::Formed { may_lose, .. } = self
            && exponent < least
        {
            may_lose.set(true);
        }
    }

    /// The exponent of the smallest nonzero column of the factor at a bond; 0 for trains in memory, whose bonds are
    /// balanced.
    fn least_column(&self, algebra: &mut dyn Operations, m: &Dense) -> Result<i64> {
        if matches!(self, Self::Train(_)) {
            return Ok(0);
        }
        let least = algebra.column_norms(m)?.into_iter().filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
        let exponent = exponent_of(least);
        self.watch(algebra.dtype(), exponent);
        Ok(exponent)
    }

    /// Returns an error if a core holds a number that is not finite. A sweep that ends at zeros has not read the other
    /// cores.
    fn expect_finite(&self, algebra: &mut dyn Operations, argument: &str) -> Result<()> {
        (0..self.shape().len()).try_for_each(|k| self.load(algebra, argument, k, 0).map(|_| ()))
    }
}

/// Returns an error for a core with a number that is not finite. Scales entries near the ends of the range, because
/// factorizations square them and take small ones for 0. Returns the exponent of the power of two that the core must
/// then be multiplied by.
pub(super) fn check_finite(algebra: &mut dyn Operations, argument: &str, k: usize, core: &mut Dense) -> Result<i64> {
    /// A sum of squares may overflow although its numbers are finite. The numbers are then divided by 2^BY first.
    const BY: i64 = 200;
    let norm = frobenius(algebra, core)?;
    if norm.is_finite() {
        return bring_near(algebra, core, norm);
    }
    if norm.is_infinite() && !algebra.dtype().is_single() {
        times_power(algebra, core, -BY)?;
        let norm = frobenius(algebra, core)?;
        if norm.is_finite() {
            return Ok(BY + bring_near(algebra, core, norm)?);
        }
    }
    Err(Error::invalid(argument, format!("core {k} has the norm {norm}, finite numbers are needed")))
}

/// If the norm is near the ends of the range, scales the entries so that their squares are within it. Returns the
/// exponent of the power of two that they must then be multiplied by. Large entries are divided by no more than
/// necessary, so that small entries of the same core keep their digits.
fn bring_near(algebra: &mut dyn Operations, m: &mut Dense, norm: f64) -> Result<i64> {
    let (low, high) = if algebra.dtype().is_single() { (-40, 40) } else { (-900, 400) };
    let e = exponent_of(norm);
    if e > high {
        times_power(algebra, m, high - e)?;
        return Ok(e - high);
    }
    if algebra.dtype().is_single() && norm > 0.0 && e < low {
        times_power(algebra, m, -e)?;
        return Ok(e);
    }
    raise(algebra, m, norm)
}

/// If the norm in double precision is below 2^-900, multiplies exactly by 2^1000. Returns the exponent of the power of
/// two that the entries must then be multiplied by.
pub(super) fn raise(algebra: &mut dyn Operations, m: &mut Dense, norm: f64) -> Result<i64> {
    const BY: i64 = 1000;
    if algebra.dtype().is_single() || norm >= scale(1.0, -900) {
        return Ok(0);
    }
    times_power(algebra, m, BY)?;
    Ok(-BY)
}

/// Returns an error for a ring.
pub(super) fn expect_open(argument: &str, shape: &Shape) -> Result<()> {
    if !shape.is_cyclic() {
        return Ok(());
    }
    let rank = shape.ranks()[0];
    Err(Error::NotSupported(format!(
        "{argument}: is cyclic with the rank {rank}: local truncations of a ring have no bound; open it first"
    )))
}

/// The train with the smallest ranks that `truncation` allows. All cores but the last have orthonormal columns as (r_k
/// n_k) x r_{k+1} matrices. If the norm is beyond the range of the type, its power of two is distributed equally over
/// all cores.
///
/// # Errors
/// [`Error::NotSupported`] for a cyclic train; [`Error::InvalidArgument`] for a core with numbers that are not finite and
/// for options out of range; [`Error::Numerical`] if the cores leave the range of the type; as [`super::copy`].
pub fn round(at: &Place<'_>, x: &TensorTrain, truncation: &Truncation<'_>) -> Result<(TensorTrain, Truncated)> {
    at.check()?;
    check(at, "x", x)?;
    expect_open("x", x.shape())?;
    truncation.check(x.shape().len())?;
    expect_finite(at, "x", x, true)?;
    // A factorization is exact only relative to the largest entry of a core, but a later core may make small entries
    // large.
    let copy = balance::for_factors(at.context, at.stream, x)?;
    let x = copy.as_ref().unwrap_or(x);
    round_source(at, "x", x.dtype(), &Source::Train(x), truncation)
}

/// [`round()`] of a source, whose cores may be computed one at a time.
pub(super) fn round_source(
    at: &Place<'_>,
    argument: &str,
    dtype: DType,
    source: &Source<'_>,
    truncation: &Truncation<'_>,
) -> Result<(TensorTrain, Truncated)> {
    let shape = source.shape();
    expect_open(argument, shape)?;
    truncation.check(shape.len())?;
    with_operations(at, argument, dtype, |algebra| {
        let (pieces, truncated) = sweep(at, algebra, argument, source, truncation)?;
        Ok((assemble(at, algebra, shape.modes(), pieces)?, truncated))
    })
}

type Swept = (Option<Pieces>, Truncated);

/// The sweep from the right and the sweep from the left. Returns no cores for a zero train.
fn sweep(
    at: &Place<'_>,
    algebra: &mut dyn Operations,
    argument: &str,
    source: &Source<'_>,
    truncation: &Truncation<'_>,
) -> Result<Swept> {
    let shape = source.shape();
    let d = shape.len();
    let mut right = alloc::with_capacity("orthonormal cores", d)?;
    let (mut m, mut exponent) = source.load(algebra, argument, d - 1, 0)?;
    for k in (1..d).rev() {
        at.cancel.check()?;
        let r = shape.ranks()[k];
        let elements = product_of(algebra.shape(&m));
        let wide = algebra.reshape(m, r, elements / r)?;
        let tall = algebra.adjoint("unfolding of a core", &wide)?;
        drop(wide);
        let least = source.least_column(algebra, &tall)?;
        let (q, mut low) = factors(algebra, tall)?;
        let taken = match normalize_if_far(algebra, &mut low)? {
            Some(e) => e,
            None => {
                source.expect_finite(algebra, argument)?;
                return Ok((None, Truncated::zero(d)?));
            }
        };
        let (core, e) = source.load(algebra, argument, k - 1, least - taken)?;
        exponent += taken + e;
        m = algebra.zeros("core with its carried factor", algebra.shape(&core).0, algebra.shape(&low).0)?;
        algebra.multiply(1.0, &core, Op::Plain, &low, Op::Adjoint, 0.0, &mut m)?;
        right.push(q);
    }
    match normalize(algebra, &mut m)? {
        Some(e) => exponent += e,
        None => {
            source.expect_finite(algebra, argument)?;
            return Ok((None, Truncated::zero(d)?));
        }
    }
    let whole = frobenius(algebra, &m)?;
    let mut truncated = Truncated::new(d)?;
    truncated.norm = Scaled::new(Complex::new(whole, 0.0), exponent);
    let noise = NOISE * epsilon(algebra.dtype());
    let delta = Delta::Absolute(truncation.delta(d, noise, exponent).of(whole));
    let mut pieces = Pieces::new(d)?;
    let mut rank = 1;
    for k in 0..d - 1 {
        at.cancel.check()?;
        let elements = product_of(algebra.shape(&m));
        let rows = rank * shape.modes()[k];
        let tall = algebra.reshape(m, rows, elements / rows)?;
        let part = split(algebra, tall, delta, truncation.cap(k))?;
        rank = algebra.shape(&part.u).1;
        pieces.push(part.u, rank);
        truncated.drop(part.tail, whole);
        let Some(q) = right.pop() else { return Err(Error::Internal("a sweep without its cores".into())) };
        m = algebra.zeros("core with its carried factor", rank, algebra.shape(&q).0)?;
        algebra.multiply(1.0, &part.carried, Op::Adjoint, &q, Op::Adjoint, 0.0, &mut m)?;
    }
    pieces.push(m, 1);
    give_back(algebra, &mut pieces, exponent)?;
    Ok((Some(pieces), truncated))
}

fn product_of((rows, cols): (usize, usize)) -> usize {
    rows * cols
}

/// Whether one core can hold a norm of 2^exponent: within the range of the type, with all digits of small entries.
pub(super) fn in_one_core(dtype: DType, exponent: i64) -> bool {
    (if dtype.is_single() { -90..=126 } else { -900..=1022 }).contains(&exponent)
}

/// Whether every core can be multiplied by 2^exponent: small entries then lose less than the rounding error of the
/// norm.
fn in_every_core(dtype: DType, exponent: i64) -> bool {
    (if dtype.is_single() { -120..=126 } else { -1015..=1022 }).contains(&exponent)
}

/// Multiplies the train by 2^exponent: the last core, or all cores equally if the last one would leave the range of the
/// type.
pub(super) fn give_back(algebra: &mut dyn Operations, pieces: &mut Pieces, exponent: i64) -> Result<()> {
    let d = to_i64(pieces.cores.len());
    let dtype = algebra.dtype();
    let most = dtype.largest_exponent();
    let beyond = || {
        let problem = format!("x: a norm of 2^{exponent} is beyond the range of {d} cores of {}", dtype.name());
        Err(Error::Numerical(problem))
    };
    if let [core] = &mut pieces.cores[..] {
        // There is no other core for the power of two. The type can hold the entries of a train again, but perhaps not
        // those of a product.
        if (-1074..=-1).contains(&exponent) {
            return if lowered(algebra, core, exponent)? { Ok(()) } else { beyond() };
        }
        // The norm of finite entries may be beyond the range, and so may 2^exponent.
        if (0..=most + 60).contains(&exponent) {
            times_power(algebra, core, exponent / 2)?;
            times_power(algebra, core, exponent - exponent / 2)?;
            return if exponent < most || is_finite(algebra, core)? { Ok(()) } else { beyond() };
        }
    }
    if in_one_core(dtype, exponent) {
        return pieces.cores.last_mut().map_or(Ok(()), |core| times_power(algebra, core, exponent));
    }
    let (all, rest) = (exponent.div_euclid(d), exponent.rem_euclid(d));
    if !in_every_core(dtype, all) || !in_every_core(dtype, all + 1) {
        return beyond();
    }
    for (k, core) in (0..).zip(&mut pieces.cores) {
        times_power(algebra, core, all + i64::from(k < rest))?;
    }
    Ok(())
}

/// Multiplies a core of norm near 1 by 2^exponent. Returns whether the result is exact to the roundoff of the norm.
fn lowered(algebra: &mut dyn Operations, core: &mut Dense, exponent: i64) -> Result<bool> {
    let before = algebra.values("core of a tensor train", core)?;
    times_power(algebra, core, exponent)?;
    let error = algebra.difference("core of a tensor train", &before, core, -exponent)?;
    Ok(error <= 4.0 * epsilon(algebra.dtype()))
}

fn is_finite(algebra: &mut dyn Operations, core: &Dense) -> Result<bool> {
    algebra.is_finite("core of a tensor train", core)
}
