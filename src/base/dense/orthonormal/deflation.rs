//! A basis of a rank-deficient matrix: its span, largest directions first, completed by random directions.

use super::{Columns, Counts, Small};
use crate::alloc;
use crate::dense::sketch::{Distribution, Sketch};
use crate::dense::{Algebra, Op, Step};
use crate::error::{Error, Result};
use crate::rng::stream;
use crate::scalar::{Real, Scalar};

/// Rounds of removing the largest directions. Each round reaches directions smaller by about the root of roundoff.
const ROUNDS: usize = 5;

/// Largest number of CholeskyQR steps for columns that are nearly orthonormal.
const STEPS: usize = 6;

/// A basis that grows.
struct Basis<'c, T: Scalar, C: Columns<T>> {
    columns: &'c mut C,
    /// Orthonormal columns.
    q: Option<C::X>,
    width: usize,
    order: usize,
    /// Coefficients B of X = Q B, as many rows as X has columns.
    b: Small<T, C>,
}

impl<T: Scalar, C: Columns<T>> Basis<'_, T, C> {
    /// The matrix that places `count` columns at column `first` of `of` columns.
    fn place(&mut self, of: usize, first: usize, count: usize, transposed: bool) -> Result<Small<T, C>> {
        let what = "places of columns";
        let (rows, cols) = if transposed { (of, count) } else { (count, of) };
        let mut host = alloc::filled(what, rows * cols, T::default())?;
        for k in 0..count {
            let (i, j) = if transposed { (first + k, k) } else { (k, first + k) };
            host[j * rows + i] = T::from_parts(1.0, 0.0);
        }
        self.columns.algebra().upload(what, rows, cols, &host, rows.max(1))
    }

    /// y -= Q Q^H y.
    fn project(&mut self, y: &mut C::X) -> Result<()> {
        let Some(q) = &self.q else { return Ok(()) };
        let count = self.columns.shape(y).1;
        let mut c = self.columns.algebra().zeros("projection", self.width, count)?;
        self.columns.cross(q, y, &mut c)?;
        self.columns.multiply(-1.0, q, &c, 1.0, y)
    }

    /// Makes nearly orthonormal columns orthonormal. `false` if they are linearly dependent.
    fn clean(&mut self, y: &mut C::X, counts: &mut Counts) -> Result<bool> {
        let count = self.columns.shape(y).1;
        let mut r = self.columns.algebra().zeros("triangular factor", count, count)?;
        for _ in 0..STEPS {
            match self.columns.cholesky_step(y, 0.0, &mut r)? {
                Step::Done { spread } if spread > 0.5 => {
                    counts.plain += 1;
                    return Ok(true);
                }
                Step::Done { .. } => counts.plain += 1,
                Step::Failed => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Orthonormalizes `y` against the basis and within itself. `false` if that cannot be done.
    fn fit(&mut self, y: &mut C::X, counts: &mut Counts) -> Result<bool> {
        // Two rounds are enough (Kahan), because the columns have lengths near 1 in the second. The third is for a basis of
        // nearly the whole space.
        for _ in 0..3 {
            self.project(y)?;
            if !self.clean(y, counts)? {
                return Ok(false);
            }
            if self.q.is_none() {
                // At least two steps, as for every basis.
                return self.clean(y, counts);
            }
        }
        Ok(true)
    }

    /// Appends the columns of `y` to the basis.
    fn append(&mut self, y: &C::X) -> Result<()> {
        let count = self.columns.shape(y).1;
        let total = self.width + count;
        let mut q = self.columns.create(y, total)?;
        if let Some(old) = self.q.take() {
            let left = self.place(total, 0, self.width, false)?;
            self.columns.multiply(1.0, &old, &left, 0.0, &mut q)?;
        }
        let right = self.place(total, self.width, count, false)?;
        self.columns.multiply(1.0, y, &right, 1.0, &mut q)?;
        (self.q, self.width) = (Some(q), total);
        Ok(())
    }

    /// x -= y y^H x, twice. Adds the coefficients to the rows of B from `first` on.
    fn subtract(&mut self, y: &C::X, first: usize, x: &mut C::X) -> Result<()> {
        let count = self.columns.shape(y).1;
        let rows = self.place(self.order, first, count, true)?;
        for _ in 0..2 {
            let mut c = self.columns.algebra().zeros("coefficients", count, self.order)?;
            self.columns.cross(y, x, &mut c)?;
            self.columns.multiply(-1.0, y, &c, 1.0, x)?;
            self.columns.algebra().multiply(1.0, &rows, Op::Plain, &c, Op::Plain, 1.0, &mut self.b)?;
        }
        Ok(())
    }

    /// The directions in which `x` is largest, as columns of a matrix by which `x` is to be multiplied. Smaller directions
    /// than X^H X resolves are left out. `None` if the norm of `x` is at most `least`.
    fn largest(&mut self, x: &C::X, least: f64, room: usize) -> Result<Option<Small<T, C>>> {
        let order = self.order;
        let norms = self.columns.norms(x)?;
        let size = norms.iter().map(|n| n * n).sum::<f64>().sqrt();
        if size <= least || room == 0 {
            return Ok(None);
        }
        let algebra = self.columns.algebra();
        let mut g = algebra.zeros("Gram matrix", order, order)?;
        self.columns.cross(x, x, &mut g)?;
        let algebra = self.columns.algebra();
        let (values, vectors) = algebra.eigen(&g)?;
        let gate = values[0] * 100.0 * order as f64 * <T::Part as Real>::EPSILON.to_f64();
        let count = values.iter().take(room).take_while(|v| **v > gate && **v > least * least / 4.0).count();
        if count == 0 {
            return Ok(None);
        }
        let mut chosen = algebra.zeros("directions", order, count)?;
        algebra.copy_columns(&vectors, 0, count, &mut chosen, 0)?;
        let mut factors = alloc::with_capacity("lengths", count)?;
        factors.extend(values[..count].iter().map(|v| 1.0 / v.sqrt()));
        algebra.scale_columns(&mut chosen, &factors)?;
        Ok(Some(chosen))
    }
}

/// Makes `x` an orthonormal basis of its span and of random directions. `x` is finite, and its columns have norms near 1 or
/// 0. `r` is the R of the steps before. Returns the R of X = Q R.
#[inline(never)]
pub fn complete<T: Scalar, C: Columns<T>>(
    columns: &mut C,
    x: &mut C::X,
    r: Option<Small<T, C>>,
    seed: u64,
    counts: &mut Counts,
) -> Result<Small<T, C>> {
    counts.deflated += 1;
    let order = columns.shape(x).1;
    let b = columns.algebra().zeros("triangular factor", order, order)?;
    let size = columns.norms(x)?.iter().map(|n| n * n).sum::<f64>().sqrt();
    if !size.is_finite() {
        return Err(Error::Numerical("a matrix without a basis holds numbers that are not finite".into()));
    }
    let mut basis = Basis { columns, q: None, width: 0, order, b };
    // A remainder below this norm is only roundoff of the products.
    let least = 8.0 * size * <T::Part as Real>::EPSILON.to_f64();
    for _ in 0..ROUNDS {
        let Some(directions) = basis.largest(x, least, order - basis.width)? else { break };
        let count = basis.columns.algebra().shape(&directions).1;
        let mut y = basis.columns.create(x, count)?;
        basis.columns.multiply(1.0, x, &directions, 0.0, &mut y)?;
        if !basis.fit(&mut y, counts)? {
            break;
        }
        let first = basis.width;
        basis.append(&y)?;
        basis.subtract(&y, first, x)?;
    }
    let missing = order - basis.width;
    if missing > 0 {
        let mut fresh = basis.columns.create(x, missing)?;
        let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: stream::FRESH };
        // Each deflation draws different columns than the last. Wrapping is harmless, because columns need not be unique.
        basis.columns.fill(&mut fresh, &sketch, (counts.replaced % (1 << 30)) as u32)?;
        counts.replaced += crate::shape::to_u64(missing);
        if !basis.fit(&mut fresh, counts)? {
            return Err(Error::Numerical(format!("{missing} random directions do not complete a basis of {order}")));
        }
        basis.append(&fresh)?;
    }
    let Basis { columns, q, b, .. } = basis;
    let algebra = columns.algebra();
    // X = Q B R with a full B. The factorisation B R = Q' R' gives the triangle.
    let mut turn = b;
    if let Some(r) = r {
        let mut product = algebra.zeros("triangular factor", order, order)?;
        algebra.multiply(1.0, &turn, Op::Plain, &r, Op::Plain, 0.0, &mut product)?;
        turn = product;
    }
    let mut upper = algebra.zeros("triangular factor", order, order)?;
    algebra.householder(&mut turn, &mut upper)?;
    let mut q = q.ok_or_else(|| Error::Internal("a basis without columns".into()))?;
    columns.transform(&mut q, &turn)?;
    *x = q;
    Ok(upper)
}
