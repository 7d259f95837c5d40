//! The operations that the methods require of a backend: a Hermitian operator, and columns of n numbers that hold vectors.

use crate::error::Result;
use crate::scalar::Scalar;

/// Rows of a piece of a vector on threads. A piece of a few dozen columns stays in a core's cache from one product to the next.
pub(super) const PIECE: usize = 2048;

/// Fewest pieces of a vector for a thread, in loops with an operation or two for each element.
pub(super) const LIGHT: usize = 8;

/// The norms of a vector before and after its orthogonalization, and one coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    /// Real part of the component along the last of the vectors before it.
    pub along: f64,
    /// Norm of the vector before the orthogonalization.
    pub before: f64,
    /// Norm of the vector after it.
    pub after: f64,
}

/// y = scale (A - center) x + keep y. With `keep` 0, y is not read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// Factor of (A - center) x.
    pub scale: f64,
    /// Subtracted from the diagonal of A.
    pub center: f64,
    /// Factor of the old y.
    pub keep: f64,
}

impl Affine {
    /// The product alone: y = A x.
    pub const PLAIN: Self = Self { scale: 1.0, center: 0.0, keep: 0.0 };
}

/// The columns of a space, and the norm that its steps have found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    /// Number of columns before the space, which the space is kept orthogonal to.
    pub locked: usize,
    /// Largest norm of A v so far; at least [`LanczosOps::terms_norm`].
    pub norm: f64,
    /// Unit roundoff of the number type.
    pub epsilon: f64,
}

impl Space {
    /// Whether a remainder of norm `rest` is rounding error only: at most 10 epsilon norm.
    pub fn is_rounding(&self, rest: f64) -> bool {
        rest <= 10.0 * self.epsilon * self.norm
    }

    /// The steps up to and including the first whose remainder is rounding error only or not finite. Later steps were
    /// computed from that remainder and are meaningless.
    pub(super) fn sound(mut self, mut steps: Vec<Projection>) -> Vec<Projection> {
        let end = steps.iter().position(|step| {
            self.norm = self.norm.max(step.before);
            step.after.is_nan() || self.is_rounding(step.after)
        });
        if let Some(end) = end {
            steps.truncate(end + 1);
        }
        steps
    }
}

/// The figures of a step with blocks of b vectors. The products are orthogonalized twice. Each time, the step records
/// the coefficients along the columns before the new block (column-major), the norms of the remainders, and the
/// triangle R that makes the block orthonormal in itself.
pub struct BlockStep<W> {
    /// Coefficients of the first time.
    pub along: Vec<W>,
    /// Norms of the remainders of the first time.
    pub rest: Vec<f64>,
    /// The triangle of the first time, b-by-b.
    pub first: Vec<W>,
    /// Coefficients of the second time.
    pub again: Vec<W>,
    /// Norms of the remainders of the second time. The vectors had norm 1 before it.
    pub left: Vec<f64>,
    /// The triangle of the second time.
    pub second: Vec<W>,
}

/// Is called between steps; an error that it returns ends the steps.
pub type Poll<'a> = dyn FnMut() -> Result<()> + 'a;

/// The double-precision type of a backend's numbers.
pub type Wide<K> = <<K as LanczosOps>::Number as Scalar>::Wide;

/// A Hermitian operator and columns of n numbers. Columns are numbered from 0; a column is written before it is read.
/// If the operator has a row order of its own, columns are in that order. Vectors that are copied to or from the host
/// are in the matrix's order.
pub trait LanczosOps {
    /// Type of the numbers of a column.
    type Number: Scalar;

    /// Order n of the operator.
    fn order(&self) -> usize;

    /// The norm of the diagonal and the other terms that are added to a product with the matrix. Rounding errors of the
    /// operator's products are relative to it even where the sum is smaller. Example: the normalized Laplacian of a
    /// graph that has only loops is 0.
    fn terms_norm(&self) -> f64 {
        0.0
    }

    /// Fills column `to` with random vector number `vector` of `seed`. All backends draw the same numbers.
    ///
    /// # Errors
    /// Errors of the backend.
    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()>;

    /// Computes `step` with x = column `from` and y = column `to`.
    ///
    /// # Errors
    /// Errors of the caller's own operator and of the backend; [`crate::error::Error::Internal`] for a transformed
    /// operator and another step than [`Affine::PLAIN`].
    fn affine(&mut self, step: Affine, from: usize, to: usize) -> Result<()>;

    /// Column `to` = (A - sigma I)^-1 times column `from`, by the caller's solve.
    ///
    /// # Errors
    /// Errors of the solve; [`crate::error::Error::NotSupported`] if there is no solve.
    fn invert(&mut self, from: usize, to: usize) -> Result<()>;

    /// Column `to` = A times column `from`.
    ///
    /// # Errors
    /// As [`LanczosOps::affine`].
    fn apply(&mut self, from: usize, to: usize) -> Result<()> {
        self.affine(Affine::PLAIN, from, to)
    }

    /// Columns `to .. to + count` = A times columns `from .. from + count`. The two ranges do not overlap.
    ///
    /// # Errors
    /// As [`LanczosOps::affine`].
    fn apply_block(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        (0..count).try_for_each(|c| self.apply(from + c, to + c))
    }

    /// Makes column `column` orthogonal to the first `count` columns, which are orthonormal and come before it, by two
    /// passes of classical Gram-Schmidt. A backend may omit the second pass if the first leaves hardly more than
    /// rounding error.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`]; errors of the backend.
    fn orthogonalize(&mut self, count: usize, column: usize) -> Result<Projection>;

    /// One pass of classical Gram-Schmidt: W -= V H with H = V^H W. V is the `count` columns from `first` on, and W the
    /// `width` columns from `column` on. H, count-by-width, is written to `h`, column-major. Returns the norms of the
    /// columns of W after the pass.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`]; errors of the backend.
    fn project(
        &mut self,
        first: usize,
        count: usize,
        column: usize,
        width: usize,
        h: &mut [Wide<Self>],
    ) -> Result<Vec<f64>>;

    /// One step of the three-term recurrence: column w = A v - beta u, then alpha = w . v, w -= alpha v. `u` is
    /// (column, beta). Returns alpha and the norm of w. Without `u` there is no term beta u. Column u may be w itself.
    ///
    /// # Errors
    /// As [`LanczosOps::affine`]; [`crate::error::Error::Internal`] for a transformed operator.
    fn three_term(&mut self, u: Option<(usize, f64)>, v: usize, w: usize) -> Result<(f64, f64)>;

    /// Multiplies a column by `factor`.
    ///
    /// # Errors
    /// Errors of the backend.
    fn scale(&mut self, column: usize, factor: f64) -> Result<()>;

    /// Column `to` = column `from`.
    ///
    /// # Errors
    /// Errors of the backend.
    fn copy(&mut self, from: usize, to: usize) -> Result<()>;

    /// Columns `to + i` += `weights[i]` times column `from`; without `add`, the columns are overwritten.
    ///
    /// # Errors
    /// Errors of the backend.
    fn spread(&mut self, from: usize, weights: &[f64], to: usize, add: bool) -> Result<()>;

    /// Columns `first .. first + l` = columns `first .. first + m` times `y`, m-by-l, column-major, l <= m.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`]; errors of the backend.
    fn rotate(&mut self, first: usize, m: usize, y: &[Wide<Self>], l: usize) -> Result<()>;

    /// V^H V of the `count` columns from `first` on, column-major.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`]; errors of the backend.
    fn gram(&mut self, first: usize, count: usize) -> Result<Vec<Wide<Self>>>;

    /// ||column `w` - lambda column `x`||.
    ///
    /// # Errors
    /// Errors of the backend.
    fn distance(&mut self, w: usize, lambda: f64, x: usize) -> Result<f64>;

    /// Copies a column to host memory, n numbers.
    ///
    /// # Errors
    /// Errors of the backend.
    fn read(&mut self, column: usize, to: &mut [Self::Number]) -> Result<()>;

    /// Fills a column from host memory, n numbers.
    ///
    /// # Errors
    /// Errors of the backend.
    fn write(&mut self, from: &[Self::Number], column: usize) -> Result<()>;
}

/// The product of [`LanczosOps::three_term`]: column `w` = A times column `v` - beta times column u, with `u` = (column,
/// beta). Column u may be `w` itself.
pub(super) fn product_less<K: LanczosOps + ?Sized>(
    krylov: &mut K,
    u: Option<(usize, f64)>,
    v: usize,
    w: usize,
) -> Result<()> {
    match u {
        Some((u, beta)) if u == w => krylov.affine(Affine { keep: -beta, ..Affine::PLAIN }, v, w),
        Some((u, beta)) => {
            krylov.apply(v, w)?;
            krylov.spread(u, &[-beta], w, true)
        }
        None => krylov.apply(v, w),
    }
}
