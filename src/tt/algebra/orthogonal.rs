//! Steps of the sweeps that make cores orthonormal.

use super::ops::TrainOps;
use super::truncate;
use crate::alloc;
use crate::dense::Delta;
use crate::dense::orthonormal::{BasisAccuracy, BasisMethod, Counts, Kind, Own, orthonormalize};
use crate::dense::{Algebra, Op};
use crate::error::Result;
use crate::scalar::Scalar;
use crate::tt::scaled::{exponent_of, scale};

/// Number of multiplications up to which Householder reflections are as fast as CholeskyQR.
const SMALL: usize = 1 << 21;

/// X = Q R: Q has min(rows, columns) orthonormal columns, R is an upper triangle or trapezoid.
pub fn factors<T: Scalar, A: Algebra<T>>(algebra: &mut A, mut x: A::Matrix) -> Result<(A::Matrix, A::Matrix)> {
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

fn basis<T: Scalar, A: Algebra<T>>(algebra: &mut A, x: &mut A::Matrix) -> Result<A::Matrix> {
    let (rows, cols) = algebra.shape(x);
    if rows.saturating_mul(cols).saturating_mul(cols) <= SMALL {
        let mut r = algebra.zeros("triangular factor", cols, cols)?;
        algebra.householder(x, &mut r)?;
        return Ok(r);
    }
    let how = BasisMethod { kind: Kind::Auto, need: BasisAccuracy::Basis, seed: 0, draw: 0 };
    orthonormalize(&mut Own(algebra), x, how, &mut Counts::default())
}

/// Changes the phases of the factors of X = Q R so that the diagonal of R is real and not negative.
pub fn positive<T: Scalar, A: Algebra<T>>(algebra: &mut A, q: &mut A::Matrix, r: &mut A::Matrix) -> Result<()> {
    let what = "triangular factor";
    let (rows, cols) = algebra.shape(r);
    let mut host = alloc::filled(what, rows * cols, T::default())?;
    algebra.download(r, &mut host, rows)?;
    let mut turns = alloc::with_capacity(what, rows)?;
    for i in 0..rows {
        let x = host[i * (rows + 1)];
        let modulus = x.re().hypot(x.im());
        turns.push(if modulus > 0.0 { T::from_parts(x.re() / modulus, x.im() / modulus) } else { one() });
    }
    if turns.iter().all(|t| *t == one()) {
        return Ok(());
    }
    for (j, column) in host.chunks_exact_mut(rows).enumerate() {
        for (i, (x, turn)) in column.iter_mut().zip(&turns).enumerate() {
            let y = turn.conjugate() * *x;
            // Drop the rounding error in the imaginary part.
            *x = if i == j { T::from_parts(y.re().abs(), 0.0) } else { y };
        }
    }
    *r = algebra.upload(what, rows, cols, &host, rows)?;
    if !T::IS_COMPLEX {
        let mut signs = alloc::with_capacity(what, rows)?;
        signs.extend(turns.iter().map(|t| t.re()));
        return algebra.scale_columns(q, &signs);
    }
    let mut diagonal = alloc::filled(what, rows * rows, T::default())?;
    diagonal.iter_mut().step_by(rows + 1).zip(&turns).for_each(|(d, t)| *d = *t);
    let diagonal = algebra.upload(what, rows, rows, &diagonal, rows)?;
    let mut turned = algebra.zeros("orthonormal core", algebra.shape(q).0, rows)?;
    algebra.multiply(1.0, q, Op::Plain, &diagonal, Op::Plain, 0.0, &mut turned)?;
    *q = turned;
    Ok(())
}

fn one<T: Scalar>() -> T {
    T::from_parts(1.0, 0.0)
}

/// Frobenius norm, without intermediate overflow.
pub fn frobenius<T: Scalar, A: Algebra<T>>(algebra: &mut A, m: &A::Matrix) -> Result<f64> {
    let square = algebra.norm2(m)?;
    if square > 1e-280 && square < 1e280 {
        return Ok(square.sqrt());
    }
    Ok(truncate::norm(&algebra.column_norms(m)?))
}

/// Exponent by which a norm of finite numbers may exceed the range.
const BY: i64 = 200;

/// The exponent of the norm, also where it is beyond the range of f64; 0 for a matrix of zeros or with a number that is not
/// finite.
pub fn exponent_of_norm<T: Scalar, A: Algebra<T>>(algebra: &mut A, m: &A::Matrix) -> Result<i64> {
    let norm = frobenius(algebra, m)?;
    if !norm.is_infinite() || size_of::<T::Part>() == 4 {
        return Ok(exponent_of(norm));
    }
    let (rows, cols) = algebra.shape(m);
    let mut smaller = algebra.zeros("numbers near the end of the range", rows, cols)?;
    algebra.copy_columns(m, 0, cols, &mut smaller, 0)?;
    times_power(algebra, &mut smaller, -BY)?;
    let norm = frobenius(algebra, &smaller)?;
    Ok(if norm.is_finite() { exponent_of(norm) + BY } else { 0 })
}

/// Divides exactly by the power of two that scales the norm to [0.5, 1), and returns its exponent; `None` for a matrix
/// of zeros. A matrix with a number that is not finite keeps its finite ones as they are.
pub fn normalize<T: Scalar, A: Algebra<T>>(algebra: &mut A, m: &mut A::Matrix) -> Result<Option<i64>> {
    let mut norm = frobenius(algebra, m)?;
    if norm == 0.0 {
        return Ok(None);
    }
    let mut taken = 0;
    if norm.is_infinite() && size_of::<T::Part>() == 8 {
        times_power(algebra, m, -BY)?;
        (norm, taken) = (frobenius(algebra, m)?, BY);
        if norm.is_infinite() {
            times_power(algebra, m, BY)?;
            taken = 0;
        }
    }
    let e = exponent_of(norm);
    // Near the ends of the range the power itself is not a normal number.
    if e.abs() > 1000 {
        times_power(algebra, m, -(e / 2))?;
        times_power(algebra, m, e / 2 - e)?;
    } else {
        times_power(algebra, m, -e)?;
    }
    Ok(Some(e + taken))
}

/// [`normalize`] only if the norm is far from 1, which suffices between products.
pub fn tame<T: Scalar, A: Algebra<T>>(algebra: &mut A, m: &mut A::Matrix) -> Result<Option<i64>> {
    let norm = frobenius(algebra, m)?;
    if norm > 1e-4 && norm < 1e4 {
        return Ok(Some(0));
    }
    normalize(algebra, m)
}

/// Multiplies by 2^e, |e| <= 1000.
pub fn times_power<T: Scalar, A: Algebra<T>>(algebra: &mut A, m: &mut A::Matrix, e: i64) -> Result<()> {
    if e == 0 {
        return Ok(());
    }
    let factors = alloc::filled("factors of columns", algebra.shape(m).1, scale(1.0, e))?;
    algebra.scale_columns(m, &factors)
}

/// The first `count` columns; the matrix itself if it has no more.
fn leading<T: Scalar, A: Algebra<T>>(algebra: &mut A, m: A::Matrix, count: usize) -> Result<A::Matrix> {
    let (rows, cols) = algebra.shape(&m);
    if count == cols {
        return Ok(m);
    }
    let mut part = algebra.zeros("singular vectors", rows, count)?;
    algebra.copy_columns(&m, 0, count, &mut part, 0)?;
    Ok(part)
}

/// M = U C + the dropped part: U with orthonormal columns, and C^H.
pub struct Split<M> {
    /// U, with as many columns as values were kept.
    pub u: M,
    /// C^H, with orthogonal columns, one for each kept value.
    pub carried: M,
    /// Root of the sum of the squares of the dropped singular values.
    pub tail: f64,
    /// Frobenius norm of M.
    pub norm: f64,
}

/// The singular value decomposition of M with as few singular values as `delta` and `cap` allow.
pub fn split<T: Scalar, A: Algebra<T>>(
    algebra: &mut A,
    m: A::Matrix,
    delta: Delta,
    cap: usize,
) -> Result<Split<A::Matrix>> {
    let (rows, cols) = algebra.shape(&m);
    // A tall matrix is first reduced to its triangle. Then only the kept columns of U are computed.
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

/// Cores that have been computed, as matrices of a backend.
pub struct Pieces<M> {
    /// Core k with r_k n_k r_{k+1} elements.
    pub cores: Vec<M>,
    /// Ranks r_0 .. r_d of the cores so far.
    pub ranks: Vec<usize>,
}

impl<M> Pieces<M> {
    /// An empty list for a train of d cores.
    pub fn new(d: usize) -> Result<Self> {
        let what = "cores of a tensor train";
        let mut ranks = alloc::with_capacity(what, d + 1)?;
        ranks.push(1);
        Ok(Self { cores: alloc::with_capacity(what, d)?, ranks })
    }

    /// Appends a core and its right rank.
    pub fn push(&mut self, core: M, rank: usize) {
        self.cores.push(core);
        self.ranks.push(rank);
    }
}

/// The matrix type of a train's algebra.
pub type MatrixOf<T, A> = <A as Algebra<T>>::Matrix;

/// A train in the requested memory from the computed cores; a zero train of rank 1 if there are none.
pub fn assemble<T: Scalar, A: TrainOps<T>>(
    at: &super::place::Place<'_>,
    algebra: &mut A,
    modes: &[usize],
    pieces: Option<Pieces<MatrixOf<T, A>>>,
) -> Result<crate::tensor::train::TensorTrain> {
    use crate::tensor::train::{Shape, TensorTrain};
    let d = modes.len();
    let Some(pieces) = pieces else {
        let ranks = alloc::filled("shape of a tensor train", d + 1, 1usize)?;
        return TensorTrain::zeros(at.context, T::DTYPE, at.location, Shape::new("x", modes, &ranks)?);
    };
    let shape = Shape::new("x", modes, &pieces.ranks)?;
    let mut train = TensorTrain::zeros(at.context, T::DTYPE, at.location, shape)?;
    for (k, core) in pieces.cores.iter().enumerate() {
        algebra.store(core, &mut train, k)?;
    }
    Ok(train)
}
