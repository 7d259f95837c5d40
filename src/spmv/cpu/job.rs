//! The arguments of a product.

use crate::matrix::sparse::Rows;
use crate::scalar::Scalar;

/// How y is computed from the sum of a row: y_i = alpha r_i (A x)_i + (shift + weight d_i) x_i + beta y_i.
#[derive(Clone, Copy)]
pub struct Finish<'a, T: Scalar> {
    /// Factor alpha of the product.
    pub alpha: T,
    /// beta; with 0, y is not read.
    pub beta: T,
    /// Factors r of the rows; `None` for ones.
    pub row_scale: Option<&'a [T::Part]>,
    /// Factor of x, the same in every row.
    pub shift: T,
    /// Numbers d of the rows; `None` for zeros.
    pub diagonal: Option<&'a [T::Part]>,
    /// Factor of d, before it multiplies x.
    pub weight: T,
}

impl<T: Scalar> Finish<'_, T> {
    /// y = alpha A x + beta y.
    pub fn plain(alpha: T, beta: T) -> Self {
        Self { alpha, beta, row_scale: None, shift: T::default(), diagonal: None, weight: T::from_parts(1.0, 0.0) }
    }

    /// Whether y = alpha A x.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.beta == T::default() && self.row_scale.is_none() && !self.is_diagonal()
    }

    /// Whether there is a term (shift + weight d_i) x_i.
    #[inline(always)]
    pub fn is_diagonal(&self) -> bool {
        self.shift != T::default() || self.diagonal.is_some()
    }

    /// The new y_i from the row's sum `sum` and the old `y`. `x` is the vector of the diagonal term; it is not read
    /// without one.
    #[inline(always)]
    pub fn of(&self, i: usize, x: &[T], sum: T, y: T) -> T {
        self.rest(i, x, y) + self.add(i, sum)
    }

    #[inline(always)]
    pub(in crate::spmv) fn add(&self, i: usize, sum: T) -> T {
        let scaled = self.alpha * sum;
        self.row_scale.map_or(scaled, |r| T::from_parts(r[i].re(), 0.0) * scaled)
    }

    /// y_i without the sum's term. `x` is the vector of the diagonal term; it is not read without one.
    #[inline(always)]
    pub(in crate::spmv) fn rest(&self, i: usize, x: &[T], y: T) -> T {
        self.rest_of(i, || x[i], y)
    }

    /// As [`Finish::rest`]; `x` returns x_i.
    #[inline(always)]
    pub(in crate::spmv) fn rest_of(&self, i: usize, x: impl FnOnce() -> T, y: T) -> T {
        let zero = T::default();
        let mut out = if self.beta == zero { zero } else { self.beta * y };
        if self.is_diagonal() {
            let d = self.diagonal.map_or(zero, |d| self.weight * T::from_parts(d[i].re(), 0.0));
            out += (self.shift + d) * x();
        }
        out
    }
}

/// The arguments of a product.
pub struct Job<'a, T: Scalar> {
    /// Offsets and columns of the entries.
    pub rows: Rows<'a>,
    /// Values of the entries; `None` for ones.
    pub values: Option<&'a [T]>,
    /// How y is computed from the sums.
    pub finish: Finish<'a, T>,
    /// The vector that entries gather from: x, or x scaled.
    pub gathered: &'a [T],
    /// x itself, for the diagonal.
    pub x: &'a [T],
}
