//! The backend interface of robust PCA.
//!
//! The matrix is m-by-n with m >= n, cut into blocks of rows. The iteration has two arrays of its size: X, whose singular
//! values are thresholded next, and the multiplier Y. No other array has m rows, because the low-rank part of a block is a
//! product of the block of X with small matrices. All small matrices are in double precision.

use crate::dense::Algebra;
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar};

/// Receives a panel of the parts: its first row, its number of rows, the rows of a block, and L and S of the panel.
pub type PanelReceiver<'a, T> = dyn FnMut(usize, usize, usize, &[T], &[T]) -> Result<()> + 'a;

/// A product with X that a pass forms; X stands for M before the first [`RpcaOps::update`].
pub enum Product<'a, M> {
    /// The pass forms no product.
    None,
    /// X^H X, n-by-n. Only its lower triangle is needed.
    Gram,
    /// X^H X W for the n-by-l matrix W; n-by-l.
    Normal(&'a M),
    /// W^H X^H X W, l-by-l. Only its lower triangle is needed.
    Projected(&'a M),
}

impl<'a, M> Product<'a, M> {
    /// W of the last two; `None` for the others.
    pub fn operand(&self) -> Option<&'a M> {
        match self {
            Self::None | Self::Gram => None,
            Self::Normal(w) | Self::Projected(w) => Some(w),
        }
    }

    /// The same product with a copy of W, for another device.
    ///
    /// # Errors
    /// [`Error::Internal`] if the product has a W and `copy` is `None`.
    pub fn with<'b, N>(&self, copy: Option<&'b N>) -> Result<Product<'b, N>> {
        match (self, copy) {
            (Self::None, _) => Ok(Product::None),
            (Self::Gram, _) => Ok(Product::Gram),
            (Self::Normal(_), Some(w)) => Ok(Product::Normal(w)),
            (Self::Projected(_), Some(w)) => Ok(Product::Projected(w)),
            (_, None) => Err(Error::Internal("a product without its factor".into())),
        }
    }
}

/// The low-rank part as a product with X.
pub enum LowRank<'a, M> {
    /// L = 0, of rank 0.
    Zero,
    /// L = X K for an n-by-n matrix K.
    Whole(&'a M),
    /// L = X A B^H with n-by-r matrices A, B.
    Factors(&'a M, &'a M),
}

impl<'a, M> LowRank<'a, M> {
    /// K, or A and B.
    pub fn operands(&self) -> (Option<&'a M>, Option<&'a M>) {
        match self {
            Self::Zero => (None, None),
            Self::Whole(k) => (Some(k), None),
            Self::Factors(a, b) => (Some(a), Some(b)),
        }
    }

    /// The same part with copies of its matrices, for another device.
    ///
    /// # Errors
    /// [`Error::Internal`] if the copy of a matrix is missing.
    pub fn with<'b, N>(&self, first: Option<&'b N>, second: Option<&'b N>) -> Result<LowRank<'b, N>> {
        match (self, first, second) {
            (Self::Zero, ..) => Ok(LowRank::Zero),
            (Self::Whole(_), Some(k), _) => Ok(LowRank::Whole(k)),
            (Self::Factors(..), Some(a), Some(b)) => Ok(LowRank::Factors(a, b)),
            _ => Err(Error::Internal("a low-rank part without its factors".into())),
        }
    }
}

/// Norms of the observed, scaled entries, from the first pass.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Start {
    /// Sum of the squares of the moduli.
    pub norm2: f64,
    /// Largest modulus of an entry.
    pub max_abs: f64,
    /// Sum of the moduli of all entries.
    pub one_norm: f64,
}

/// The parameters of one iteration.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Penalty mu of this iteration, positive.
    pub mu: f64,
    /// Penalty of the next iteration.
    pub mu_next: f64,
    /// Weight of the sparse part.
    pub lambda: f64,
    /// In the first iteration X = `.0` M and Y = `.1` M; the arrays X and Y are not read.
    pub first: Option<(f64, f64)>,
    /// In the last iteration X becomes L, and Y becomes S.
    pub last: bool,
    /// Whether the dual residual is summed; false in the last iteration.
    pub measured: bool,
    /// Only entries of S of modulus over the threshold are counted.
    pub threshold: f64,
}

/// Sums over the observed entries.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// ||M - L - S||_F^2.
    pub residual2: f64,
    /// ||S||_1, in the last and in measured iterations.
    pub one_norm: f64,
    /// Entries of S over the threshold.
    pub nonzeros: u64,
    /// ||S - S'||_F^2 with the S' of the iteration before, in measured iterations. Includes entries that are not observed.
    pub dual2: f64,
    /// ||Y / mu||_F^2 with the new Y, in measured iterations.
    pub multiplier2: f64,
}

impl Sums {
    /// The sums over both sets of entries.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            residual2: self.residual2 + other.residual2,
            one_norm: self.one_norm + other.one_norm,
            nonzeros: self.nonzeros + other.nonzeros,
            dual2: self.dual2 + other.dual2,
            multiplier2: self.multiplier2 + other.multiplier2,
        }
    }
}

/// Costs of operations relative to an operation of a product of X with a narrow matrix.
#[derive(Debug, Clone, Copy)]
pub struct Weights {
    /// An operation of X^H X.
    pub gram: f64,
    /// An operation of an eigenvalue problem.
    pub eigen: f64,
}

/// Matrix of the small problems.
pub type SmallMatrix<W, O> = <<O as RpcaOps<W>>::Small as Algebra<W>>::Matrix;

/// The passes of a backend. Sums have a fixed order, so that the same calls give the same bits.
/// `W` is the type of the small matrices.
pub trait RpcaOps<W: Scalar> {
    /// The algebra for small matrices.
    type Small: Algebra<W>;

    /// The type of X and Y.
    fn dtype(&self) -> DType;

    /// The algebra for small matrices.
    fn small(&mut self) -> &mut Self::Small;

    /// Rows m and columns n of the matrix.
    fn size(&self) -> (usize, usize);

    /// The relative costs that choose the method of the decomposition.
    fn weights(&self) -> Weights;

    /// Checks for cancellation, and reports that `iteration` of `iterations` is done.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    fn checkpoint(&mut self, iteration: usize, iterations: usize, residual: f64) -> Result<()>;

    /// Sets the factor that every entry is multiplied with when it is read.
    fn set_scale(&mut self, scale: f64);

    /// The first pass over M, which finds its norms.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if an observed entry is not finite.
    fn begin(&mut self) -> Result<Start>;

    /// A product with X. One pass.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; errors of sources, of temporary files and of the backend.
    fn product(&mut self, product: &Product<'_, SmallMatrix<W, Self>>, out: &mut SmallMatrix<W, Self>) -> Result<()>;

    /// One iteration in one pass: L; T = M - L + Y / mu; S = shrink(T, lambda / mu); Y := mu (T - S), X := M - S +
    /// Y / mu_next; and a product with the new X. Where an entry is not observed, S = T there and Y := 0.
    ///
    /// # Errors
    /// As [`RpcaOps::product`].
    fn update(
        &mut self,
        step: &Step,
        low_rank: &LowRank<'_, SmallMatrix<W, Self>>,
        product: &Product<'_, SmallMatrix<W, Self>>,
        out: &mut SmallMatrix<W, Self>,
    ) -> Result<Sums>;
}
