//! Canonical forms: every core but one orthonormal.

use super::erased::{Dense, Operations, with_operations};
use super::orthogonal::{Pieces, assemble, factors, normalize, normalize_if_far, times_power};
use super::place::{Place, check, expect_finite};
use super::round::{check_finite, expect_open, in_one_core};
use crate::alloc;
use crate::dense::Op;
use crate::error::Result;
use crate::shape::{self, to_i64};
use crate::tensor::train::TensorTrain;
use crate::trains::balance;

/// A train in canonical form.
pub struct Canonical {
    /// Left of the centre the cores have orthonormal columns as (r_k n_k) x r_{k+1} matrices, right of it orthonormal
    /// rows as r_k x (n_k r_{k+1}) ones; the norm is that of the centre.
    pub train: TensorTrain,
    /// The train must be multiplied by two to this power: 0 unless the centre would leave the range of the type.
    pub exponent: i64,
}

/// The train in canonical form with the orthogonality centre at core `centre`. The diagonals of the triangular factors
/// are real and not negative, so signs do not depend on the backend, and a train in canonical form is returned
/// unchanged. A rank becomes at most as large as the unfoldings of its two cores allow. Nothing is truncated.
///
/// # Errors
/// [`NotSupported`](crate::error::Error::NotSupported) for a cyclic train;
/// [`InvalidArgument`](crate::error::Error::InvalidArgument) for a centre that there is not and for a core
/// with numbers that are not finite; as [`super::copy`].
pub fn canonicalize(at: &Place<'_>, x: &TensorTrain, centre: usize) -> Result<Canonical> {
    at.check()?;
    check(at, "x", x)?;
    expect_open("x", x.shape())?;
    let d = x.shape().len();
    shape::index("centre", to_i64(centre), d)?;
    expect_finite(at, "x", x, false)?;
    let copy = balance::for_factors(at.context, at.stream, x)?;
    let x = copy.as_ref().unwrap_or(x);
    with_operations(at, "x", x.dtype(), |algebra| {
        let (pieces, exponent) = sweep(at, algebra, x, centre)?;
        let is_zero = pieces.is_none();
        let mut train = assemble(at, algebra, x.shape().modes(), pieces)?;
        if is_zero {
            orthonormal_zero(algebra, &mut train, centre)?;
        }
        Ok(Canonical { train, exponent })
    })
}

type Swept = (Option<Pieces>, i64);

/// The result for a zero train: no cores. A sweep ends at a factor of zeros without reading the other cores, so this
/// checks that they are finite.
fn nothing(algebra: &mut dyn Operations, x: &TensorTrain) -> Result<Swept> {
    (0..x.shape().len()).try_for_each(|k| load(algebra, x, k).map(|_| ()))?;
    Ok((None, 0))
}

/// Sets core entries of a zero train of rank 1 so that every core except the centre is a unit vector.
fn orthonormal_zero(algebra: &mut dyn Operations, train: &mut TensorTrain, centre: usize) -> Result<()> {
    for k in (0..train.shape().len()).filter(|k| *k != centre) {
        let n = train.shape().modes()[k];
        let core = algebra.identity("orthonormal core", n, 1)?;
        algebra.store(&core, train, k)?;
    }
    Ok(())
}

/// Core k, and the exponent of the power of two that it must be multiplied by.
fn load(algebra: &mut dyn Operations, x: &TensorTrain, k: usize) -> Result<(Dense, i64)> {
    let [r, n, s] = x.shape().core(k);
    let mut core = algebra.load(x, k, r * n, s)?;
    let exponent = check_finite(algebra, "x", k, &mut core)?;
    Ok((core, exponent))
}

fn sweep(at: &Place<'_>, algebra: &mut dyn Operations, x: &TensorTrain, centre: usize) -> Result<Swept> {
    let shape = x.shape();
    let d = shape.len();
    let what = "core with its carried factor";
    // Sweep from the left. The factor R of the cores before core k, r' x r_k, is multiplied into core k.
    let mut pieces = Pieces::new(d)?;
    let mut carried: Option<Dense> = None;
    let (mut m, mut exponent) = load(algebra, x, 0)?;
    for k in 0..=centre {
        at.cancel.check()?;
        let [r, n, s] = shape.core(k);
        if let Some(low) = carried.take() {
            let (core, e) = load(algebra, x, k)?;
            exponent += e;
            let core = algebra.reshape(core, r, n * s)?;
            let rows = algebra.shape(&low).0;
            let mut product = algebra.zeros(what, rows, n * s)?;
            algebra.multiply(1.0, &low, Op::Plain, &core, Op::Plain, 0.0, &mut product)?;
            m = algebra.reshape(product, rows * n, s)?;
        }
        if k < centre {
            let next = algebra.zeros(what, 0, 0)?;
            let (mut q, mut low) = factors(algebra, std::mem::replace(&mut m, next))?;
            algebra.positive(&mut q, &mut low)?;
            match normalize_if_far(algebra, &mut low)? {
                Some(e) => exponent += e,
                None => return nothing(algebra, x),
            }
            let rank = algebra.shape(&q).1;
            pieces.push(q, rank);
            carried = Some(low);
        }
    }
    // Sweep from the right. The factor is stored as its adjoint, r' x r_{k+1}.
    let mut right = alloc::with_capacity("orthonormal cores", d)?;
    let mut carried: Option<Dense> = None;
    for k in (centre + 1..d).rev() {
        at.cancel.check()?;
        let [r, n, _] = shape.core(k);
        let (mut core, e) = load(algebra, x, k)?;
        exponent += e;
        if let Some(low) = carried.take() {
            core = behind(algebra, &core, &low)?;
        }
        let cols = algebra.shape(&core).1;
        let wide = algebra.reshape(core, r, n * cols)?;
        let tall = algebra.adjoint("unfolding of a core", &wide)?;
        let (mut q, mut low) = factors(algebra, tall)?;
        algebra.positive(&mut q, &mut low)?;
        match normalize_if_far(algebra, &mut low)? {
            Some(e) => exponent += e,
            None => return nothing(algebra, x),
        }
        right.push((algebra.adjoint("orthonormal core", &q)?, cols));
        carried = Some(low);
    }
    if let Some(low) = carried {
        m = behind(algebra, &m, &low)?;
    }
    match normalize(algebra, &mut m)? {
        Some(e) => exponent += e,
        None => return nothing(algebra, x),
    }
    if in_one_core(algebra.dtype(), exponent) {
        times_power(algebra, &mut m, exponent)?;
        exponent = 0;
    }
    let rank = algebra.shape(&m).1;
    pieces.push(m, rank);
    while let Some((core, rank)) = right.pop() {
        pieces.push(core, rank);
    }
    Ok((Some(pieces), exponent))
}

/// M L^H.
fn behind(algebra: &mut dyn Operations, m: &Dense, low: &Dense) -> Result<Dense> {
    let mut product = algebra.zeros("core with its carried factor", algebra.shape(m).0, algebra.shape(low).0)?;
    algebra.multiply(1.0, m, Op::Plain, low, Op::Adjoint, 0.0, &mut product)?;
    Ok(product)
}
