//! Steps of the sweeps that make cores orthonormal.

use super::erased::{Dense, Operations};
use super::place::Place;
use super::truncate;
use crate::alloc;
use crate::dense::orthonormal::{BasisAccuracy, BasisMethod, Kind};
use crate::dense::{Delta, Op};
use crate::error::Result;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::scaled::{exponent_of, scale};

/// Number of multiplications up to which Householder reflections are at least as fast as CholeskyQR.
const SMALL: usize = 1 << 21;

/// X = Q R: Q has min(rows, columns) orthonormal columns, R is an upper triangle or trapezoid.
pub fn factors(algebra: &mut dyn Operations, mut x: Dense) -> Result<(Dense, Dense)> {
    let (rows, cols) = algebra.shape(&x);
    if rows >= cols {
        let r = basis(algebra, &mut x)?;
        return Ok((x, r));
    }
    let mut q = algebra.zeros("orthonormal core", rows, rows)?;
    algebra.copy_columns(&x, 0, rows, &mut q, 0)?;
    let first = basis(algebra, &mut q)?;
    let mut r = algebra.zeros("triangular factor", rows, cols)?;
    algebra.multiply(1.0, &q, Op::Adjoint, &x, Op::Plain, 0.0, &mut r)?;
    algebra.copy_columns(&first, 0, rows, &mut r, 0)?;
    Ok((q, r))
}

fn basis(algebra: &mut dyn Operations, x: &mut Dense) -> Result<Dense> {
    let (rows, cols) = algebra.shape(x);
    if rows.saturating_mul(cols).saturating_mul(cols) <= SMALL {
        let mut r = algebra.zeros("triangular factor", cols, cols)?;
        algebra.householder(x, &mut r)?;
        return Ok(r);
    }
    algebra.orthonormalize(x, BasisMethod { kind: Kind::Auto, need: BasisAccuracy::Basis, seed: 0, draw: 0 })
}

/// Frobenius norm, without intermediate overflow.
pub fn frobenius(algebra: &mut dyn Operations, m: &Dense) -> Result<f64> {
    let square = algebra.norm2(m)?;
    if square > 1e-280 && square < 1e280 {
        return Ok(square.sqrt());
    }
    Ok(truncate::norm(&algebra.column_norms(m)?))
}

/// A sum of squares may overflow although its numbers are finite. The numbers are then divided by 2^BY first.
const BY: i64 = 200;

/// The exponent of the Frobenius norm, also if the norm is beyond the range of f64; 0 for zeros and if a number is not
/// finite.
pub fn exponent_of_norm(algebra: &mut dyn Operations, m: &Dense) -> Result<i64> {
    let norm = frobenius(algebra, m)?;
    if !norm.is_infinite() || algebra.dtype().is_single() {
        return Ok(exponent_of(norm));
    }
    let (rows, cols) = algebra.shape(m);
    let mut smaller = algebra.zeros("numbers near the end of the range", rows, cols)?;
    algebra.copy_columns(m, 0, cols, &mut smaller, 0)?;
    times_power(algebra, &mut smaller, -BY)?;
    let norm = frobenius(algebra, &smaller)?;
    Ok(if norm.is_finite() { exponent_of(norm) + BY } else { 0 })
}

/// Divides exactly by the power of two that brings the norm to [0.5, 1), and returns its exponent; `None` for zeros. A
/// matrix with a number that is not finite is not scaled.
pub fn normalize(algebra: &mut dyn Operations, m: &mut Dense) -> Result<Option<i64>> {
    let mut norm = frobenius(algebra, m)?;
    if norm == 0.0 {
        return Ok(None);
    }
    let mut taken = 0;
    if norm.is_infinite() && !algebra.dtype().is_single() {
        times_power(algebra, m, -BY)?;
        (norm, taken) = (frobenius(algebra, m)?, BY);
        if norm.is_infinite() {
            times_power(algebra, m, BY)?;
            taken = 0;
        }
    }
    let e = exponent_of(norm);
    // 2^e itself may be subnormal or infinite, so use two factors.
    if e.abs() > 1000 {
        times_power(algebra, m, -(e / 2))?;
        times_power(algebra, m, e / 2 - e)?;
    } else {
        times_power(algebra, m, -e)?;
    }
    Ok(Some(e + taken))
}

/// [`normalize`], but only if the norm is far from 1. That suffices between products.
pub fn normalize_if_far(algebra: &mut dyn Operations, m: &mut Dense) -> Result<Option<i64>> {
    let norm = frobenius(algebra, m)?;
    if norm > 1e-4 && norm < 1e4 {
        return Ok(Some(0));
    }
    normalize(algebra, m)
}

/// Multiplies by 2^e, |e| <= 1000.
pub fn times_power(algebra: &mut dyn Operations, m: &mut Dense, e: i64) -> Result<()> {
    if e == 0 {
        return Ok(());
    }
    let factors = alloc::filled("factors of columns", algebra.shape(m).1, scale(1.0, e))?;
    algebra.scale_columns(m, &factors)
}

/// The first `count` columns of m. Returns m itself if it has `count` columns.
fn leading(algebra: &mut dyn Operations, m: Dense, count: usize) -> Result<Dense> {
    let (rows, cols) = algebra.shape(&m);
    if count == cols {
        return Ok(m);
    }
    let mut part = algebra.zeros("singular vectors", rows, count)?;
    algebra.copy_columns(&m, 0, count, &mut part, 0)?;
    Ok(part)
}

/// The truncated factorization M = U C + E, where U has orthonormal columns.
pub struct Split {
    /// U, with one column for each singular value that is not dropped.
    pub u: Dense,
    /// C^H, with as many columns as U; they are orthogonal.
    pub carried: Dense,
    /// Frobenius norm of E, the root of the sum of the squares of the dropped singular values.
    pub tail: f64,
    /// Frobenius norm of M.
    pub norm: f64,
}

/// The singular value decomposition of M with as few singular values as `delta` and `cap` allow.
pub fn split(algebra: &mut dyn Operations, m: Dense, delta: Delta, cap: usize) -> Result<Split> {
    let (rows, cols) = algebra.shape(&m);
    // A tall matrix is first reduced to a triangle, so that only the wanted columns of U are computed.
    let (q, small) = if rows > cols + cols / 2 {
        let (q, r) = factors(algebra, m)?;
        (Some(q), r)
    } else {
        (None, m)
    };
    let svd = algebra.svd(&small)?;
    let norm = truncate::norm(&svd.s);
    let (rank, tail) = truncate::rank(&svd.s, delta.of(norm), cap);
    let mut u = leading(algebra, svd.u, rank)?;
    if let Some(q) = q {
        let mut whole = algebra.zeros("orthonormal core", rows, rank)?;
        algebra.multiply(1.0, &q, Op::Plain, &u, Op::Plain, 0.0, &mut whole)?;
        u = whole;
    }
    let mut carried = leading(algebra, svd.v, rank)?;
    algebra.scale_columns(&mut carried, &svd.s[..rank])?;
    Ok(Split { u, carried, tail, norm })
}

/// The cores that a sweep has computed so far, as matrices of a backend.
pub struct Pieces {
    /// Core k has r_k n_k r_{k+1} elements.
    pub cores: Vec<Dense>,
    /// Ranks r_0, r_1, ... of the cores so far; one more than cores.
    pub ranks: Vec<usize>,
}

impl Pieces {
    /// An empty list for a train of d cores.
    pub fn new(d: usize) -> Result<Self> {
        let what = "cores of a tensor train";
        let mut ranks = alloc::with_capacity(what, d + 1)?;
        ranks.push(1);
        Ok(Self { cores: alloc::with_capacity(what, d)?, ranks })
    }

    /// Appends a core and its right rank.
    pub fn push(&mut self, core: Dense, rank: usize) {
        self.cores.push(core);
        self.ranks.push(rank);
    }
}

/// A train of the computed cores, in the requested memory; a zero train of rank 1 if there are none.
pub fn assemble(
    at: &Place<'_>,
    algebra: &mut dyn Operations,
    modes: &[usize],
    pieces: Option<Pieces>,
) -> Result<TensorTrain> {
    let d = modes.len();
    let Some(pieces) = pieces else {
        let ranks = alloc::filled("shape of a tensor train", d + 1, 1usize)?;
        return TensorTrain::zeros(at.context, algebra.dtype(), at.location, Shape::new("x", modes, &ranks)?);
    };
    let shape = Shape::new("x", modes, &pieces.ranks)?;
    let mut train = TensorTrain::zeros(at.context, algebra.dtype(), at.location, shape)?;
    for (k, core) in pieces.cores.iter().enumerate() {
        algebra.store(core, &mut train, k)?;
    }
    Ok(train)
}
