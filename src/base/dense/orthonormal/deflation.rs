//! A basis of a rank-deficient matrix: its span, largest directions first, completed by random directions.

use super::erased::Operations;
use super::{BasisMethod, Counts};
use crate::alloc;
use crate::dense::Step;
use crate::dense::erased::Dense;
use crate::dense::sketch::Sketch;
use crate::erased::Value;
use crate::error::{Error, Result};
use crate::rng::stream;

/// Rounds of removing the largest directions. Each round reaches directions smaller by about the root of roundoff.
const ROUNDS: usize = 5;

/// Largest number of CholeskyQR steps for columns that are nearly orthonormal.
const STEPS: usize = 6;

/// Orthonormal columns Q and coefficients B with X = Q B, extended direction by direction.
struct Basis<'c> {
    columns: &'c mut dyn Operations,
    /// `width` orthonormal columns; `None` while there are none.
    q: Option<Dense>,
    width: usize,
    order: usize,
    /// Coefficients B of X = Q B, as many rows as X has columns.
    b: Dense,
}

impl Basis<'_> {
    /// The matrix that places `count` columns at column `first` of `of` columns.
    fn place(&mut self, of: usize, first: usize, count: usize, transposed: bool) -> Result<Dense> {
        let (rows, cols) = if transposed { (of, count) } else { (count, of) };
        let mut ones = (0..count).map(|k| if transposed { (first + k, k, 1.0) } else { (k, first + k, 1.0) });
        self.columns.entries("places of columns", rows, cols, &mut ones)
    }

    /// y -= Q Q^H y.
    fn project(&mut self, y: &mut Dense) -> Result<()> {
        let Some(q) = &self.q else { return Ok(()) };
        let count = self.columns.shape(y.any())?.1;
        let mut c = self.columns.zeros("projection", self.width, count)?;
        self.columns.cross(q.any(), y.any(), &mut c)?;
        self.columns.multiply(-1.0, q.any(), &c, 1.0, y.any_mut())
    }

    /// Makes nearly orthonormal columns orthonormal. `false` if they are linearly dependent.
    fn clean(&mut self, y: &mut Dense, counts: &mut Counts) -> Result<bool> {
        let count = self.columns.shape(y.any())?.1;
        let mut r = self.columns.zeros("triangular factor", count, count)?;
        for _ in 0..STEPS {
            match self.columns.cholesky_step(y.any_mut(), 0.0, &mut r)? {
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
    fn fit(&mut self, y: &mut Dense, counts: &mut Counts) -> Result<bool> {
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
    fn append(&mut self, y: &Dense) -> Result<()> {
        let count = self.columns.shape(y.any())?.1;
        let total = self.width + count;
        let mut q = self.columns.create(y.any(), total)?;
        if let Some(old) = self.q.take() {
            let left = self.place(total, 0, self.width, false)?;
            self.columns.multiply(1.0, old.any(), &left, 0.0, q.any_mut())?;
        }
        let right = self.place(total, self.width, count, false)?;
        self.columns.multiply(1.0, y.any(), &right, 1.0, q.any_mut())?;
        (self.q, self.width) = (Some(q), total);
        Ok(())
    }

    /// x -= y y^H x, twice. Adds the coefficients to the rows of B from `first` on.
    fn subtract(&mut self, y: &Dense, first: usize, x: &mut dyn Value) -> Result<()> {
        let count = self.columns.shape(y.any())?.1;
        let rows = self.place(self.order, first, count, true)?;
        for _ in 0..2 {
            let mut c = self.columns.zeros("coefficients", count, self.order)?;
            self.columns.cross(y.any(), x, &mut c)?;
            self.columns.multiply(-1.0, y.any(), &c, 1.0, x)?;
            self.columns.small_product(&rows, &c, 1.0, &mut self.b)?;
        }
        Ok(())
    }

    /// The directions in which `x` is largest, as columns of a matrix by which `x` is to be multiplied. Smaller directions
    /// than X^H X resolves are left out. `None` if the norm of `x` is at most `least`.
    fn largest(&mut self, x: &dyn Value, least: f64, most: usize) -> Result<Option<Dense>> {
        let order = self.order;
        let norms = self.columns.norms(x)?;
        let size = norms.iter().map(|n| n * n).sum::<f64>().sqrt();
        if size <= least || most == 0 {
            return Ok(None);
        }
        let mut g = self.columns.zeros("Gram matrix", order, order)?;
        self.columns.cross(x, x, &mut g)?;
        let (values, vectors) = self.columns.eigen(&g)?;
        let gate = values[0] * 100.0 * order as f64 * self.columns.dtype().epsilon();
        let count = values.iter().take(most).take_while(|v| **v > gate && **v > least * least / 4.0).count();
        if count == 0 {
            return Ok(None);
        }
        let mut chosen = self.columns.head("directions", &vectors, count)?;
        let mut factors = alloc::with_capacity("lengths", count)?;
        factors.extend(values[..count].iter().map(|v| 1.0 / v.sqrt()));
        self.columns.scale_columns(&mut chosen, &factors)?;
        Ok(Some(chosen))
    }
}

/// Makes `x` an orthonormal basis of its span and of random directions. `x` is finite, and its columns have norms near 1 or
/// 0. `r` is the R of the steps before. Returns the R of X = Q R. The random directions depend on `method` and the number of
/// columns alone, not on the bases before.
pub fn complete(
    columns: &mut dyn Operations,
    x: &mut dyn Value,
    r: Option<Dense>,
    method: BasisMethod,
    counts: &mut Counts,
) -> Result<Dense> {
    counts.deflated += 1;
    let order = columns.shape(x)?.1;
    let b = columns.zeros("triangular factor", order, order)?;
    let size = columns.norms(x)?.iter().map(|n| n * n).sum::<f64>().sqrt();
    if !size.is_finite() {
        return Err(Error::Numerical("a matrix without a basis holds numbers that are not finite".into()));
    }
    let mut basis = Basis { columns, q: None, width: 0, order, b };
    // A remainder below this norm is only roundoff of the products.
    let least = 8.0 * size * basis.columns.dtype().epsilon();
    for _ in 0..ROUNDS {
        let Some(directions) = basis.largest(x, least, order - basis.width)? else { break };
        let count = basis.columns.small_shape(&directions)?.1;
        let mut y = basis.columns.create(x, count)?;
        basis.columns.multiply(1.0, x, &directions, 0.0, y.any_mut())?;
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
        let sketch = Sketch::gaussian(method.seed, stream::FRESH);
        // Wrapping is harmless, because columns need not be unique.
        let first = method.draw.wrapping_mul(crate::shape::to_u64(order)) % (1 << 30);
        basis.columns.fill(&mut fresh, &sketch, first as u32)?;
        counts.replaced += crate::shape::to_u64(missing);
        if !basis.fit(&mut fresh, counts)? {
            return Err(Error::Numerical(format!("{missing} random directions do not complete a basis of {order}")));
        }
        basis.append(&fresh)?;
    }
    let Basis { columns, q, b, .. } = basis;
    // X = Q B R with a full B. The factorization B R = Q' R' gives the triangle.
    let mut turn = b;
    if let Some(r) = r {
        let mut product = columns.zeros("triangular factor", order, order)?;
        columns.small_product(&turn, &r, 0.0, &mut product)?;
        turn = product;
    }
    let mut upper = columns.zeros("triangular factor", order, order)?;
    columns.small_householder(&mut turn, &mut upper)?;
    let mut q = q.ok_or_else(|| Error::Internal("a basis without columns".into()))?;
    columns.transform(q.any_mut(), &turn)?;
    columns.replace(x, q)?;
    Ok(upper)
}
