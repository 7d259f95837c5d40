//! The backend interface of the randomized SVD. It extends [`Algebra`] by passes over the data and by tall matrices.
//!
//! The problem is m-by-n and read in blocks of rows: m is the axis that is cut. A matrix with n or fewer rows is an
//! [`Algebra::Matrix`]. A matrix with m rows is a [`RsvdOps::Tall`]: it is cut as the data are, and lies in host memory
//! where it does not fit the device. Passes apply centring and scaling: every pass acts as if A were (A - 1 mu^T) D^-1,
//! without forming it.

use std::sync::Arc;

use super::options::IterationPrecision;
use super::statistics::Statistics;
use super::traffic::Traffic;
use crate::alloc;
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::dense::sketch::Sketch;
use crate::dense::{Algebra, Step};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::{Complex, Scalar};
use crate::shape::{Order, product, to_u64};
use crate::tensor::Location;

/// Parameters of a block method for each block.
#[derive(Debug, Clone, Copy)]
pub struct BlockParameters {
    /// Columns of the sketch of a block.
    pub width: usize,
    /// Power iterations inside a block.
    pub iterations: usize,
    /// The sketch; each block uses its own rows of it.
    pub sketch: Sketch,
}

/// Numbers of the bases of a merge. Each basis draws other random directions than the bases before, those of blocks
/// before and those that the run computes from the merged factor: the columns of a factor of low rank lie in directions
/// of earlier bases.
#[derive(Debug, Clone, Copy)]
pub struct MergeDraws(u64);

impl MergeDraws {
    /// Those of a device, a part of the rows.
    pub fn of_part(part: usize) -> Self {
        // Runs count from 0. An odd number, because the columns drawn are the number times the width, modulo a power of two.
        Self(1_000_003 + to_u64(part).wrapping_mul(10_000_019))
    }

    /// The number of the next basis.
    pub fn draw(&mut self) -> u64 {
        let draw = self.0;
        self.0 = draw.wrapping_add(1);
        draw
    }
}

/// How a backend applies known means and divisors of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prepared {
    /// Nothing: it could only correct products after rounding.
    Nothing,
    /// It subtracts the means from the entries before each product, or from sums in double precision.
    Centred,
    /// It also divides the differences, before they are rounded to the element type.
    Divided,
}

/// The passes and the tall matrices of a backend. Each function that says "one pass" reads every block of A once.
///
/// The first pass over A also finds the [`Statistics`], and refuses data that are not finite, naming the block.
pub trait RsvdOps<T: Scalar>: Algebra<T> {
    /// A matrix with as many rows as A.
    type Tall: 'static;

    /// Rows of A, the axis that is cut.
    fn rows(&self) -> usize;

    /// Columns of A: rows of small factors W.
    fn columns(&self) -> usize;

    /// The statistics of the first pass; `None` before it.
    fn statistics(&self) -> Option<&Statistics>;

    /// Power of two that every entry is multiplied by. It is not 1 only where squares would overflow or vanish.
    fn factor(&self) -> f64 {
        1.0
    }

    /// Passes, bytes and seconds so far.
    fn traffic(&self) -> &Traffic;

    /// Checks for cancellation and reports progress, between two passes. `measure` goes to the caller's progress function.
    ///
    /// # Errors
    /// [`crate::error::Error::Cancelled`]; errors of a GPU whose work has failed.
    fn checkpoint(&mut self, step: i64, steps: i64, measure: f64) -> Result<()>;

    /// Sets the expected number of steps, for reports between the parts of a pass.
    fn expect_steps(&mut self, _: i64) {}

    /// Bytes of an element.
    fn element_bytes(&self) -> usize {
        size_of::<T>()
    }

    /// Charges host memory that the backend's own matrices do not include.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`] if the context's limit forbids it.
    fn charge(&self, context: &Context, what: &'static str, bytes: usize) -> Result<Charge> {
        context.host_budget().charge_host(what, bytes)
    }

    /// The first columns of the identity, `rows`-by-`columns`.
    ///
    /// # Errors
    /// Out of memory; errors of a GPU.
    fn identity(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<Self::Matrix> {
        let mut data = alloc::filled(what, product(what, rows, columns)?, T::from_parts(0.0, 0.0))?;
        data.iter_mut().step_by(rows + 1).take(columns.min(rows)).for_each(|x| *x = T::from_parts(1.0, 0.0));
        self.upload(what, rows, columns, &data, rows.max(1))
    }

    /// A tall copy of `m`, which has as many rows as A.
    ///
    /// # Errors
    /// As [`RsvdOps::identity`].
    fn tall_of(&mut self, context: &Arc<Context>, m: &Self::Matrix) -> Result<Self::Tall> {
        let (rows, columns) = self.shape(m);
        let mut host = Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, rows, columns)?;
        self.write(m, &mut host, false, false)?;
        self.tall_read("tall copy", &host, false, false)
    }

    /// A copy of a tall matrix as an [`Algebra::Matrix`].
    ///
    /// # Errors
    /// As [`RsvdOps::identity`].
    fn matrix_of(&mut self, context: &Arc<Context>, what: &'static str, p: &Self::Tall) -> Result<Self::Matrix> {
        let (rows, columns) = (self.rows(), self.tall_width(p));
        let mut host = Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, rows, columns)?;
        self.tall_write(p, &mut host, false, false)?;
        self.read(what, &host, false, false)
    }

    /// Calls `take` with the elements of a tall matrix, column by column. Returns false if the context's host memory
    /// does not hold a copy that this needs.
    ///
    /// # Errors
    /// Errors of `take`; as [`RsvdOps::identity`].
    fn tall_elements(
        &mut self,
        context: &Arc<Context>,
        p: &Self::Tall,
        take: &mut dyn FnMut(&[T]) -> Result<()>,
    ) -> Result<bool> {
        let (rows, width) = (self.rows(), self.tall_width(p));
        if to_u64(product("tall copy", rows, width)?.saturating_mul(size_of::<T>())) > context.host_budget().available()
        {
            return Ok(false);
        }
        let mut host = Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, rows, width)?;
        self.tall_write(p, &mut host, false, false)?;
        take(host.dense("tall copy")?.memory.host("tall copy")?.as_slice::<T>()?)?;
        Ok(true)
    }

    /// A tall matrix whose elements `fill` writes, column by column.
    ///
    /// # Errors
    /// Errors of `fill`; as [`RsvdOps::identity`].
    fn tall_filled(
        &mut self,
        context: &Arc<Context>,
        width: usize,
        fill: &mut dyn FnMut(&mut [T]) -> Result<()>,
    ) -> Result<Self::Tall> {
        let mut host = Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, self.rows(), width)?;
        fill(host.dense_mut("tall copy")?.memory.host_mut("tall copy")?.as_mut_slice::<T>()?)?;
        self.tall_read("tall copy", &host, false, false)
    }

    /// Goes on with an interrupted run. Its first `passes` passes need not be made again. Every second pass runs
    /// backwards, and those are the same as without the interruption.
    fn go_on(&mut self, _passes: u64) {}

    /// The first columns of the identity as a tall matrix.
    ///
    /// # Errors
    /// As [`RsvdOps::identity`].
    fn tall_identity(&mut self, context: &Arc<Context>, columns: usize) -> Result<Self::Tall> {
        let eye = self.identity("identity", self.rows(), columns)?;
        self.tall_of(context, &eye)
    }

    /// A tall matrix of one column of ones.
    ///
    /// # Errors
    /// As [`RsvdOps::identity`].
    fn tall_ones(&mut self, context: &Arc<Context>) -> Result<Self::Tall> {
        let mut host = Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, self.rows(), 1)?;
        host.dense_mut("ones")?.memory.host_mut("ones")?.as_mut_slice::<T>()?.fill(T::from_parts(1.0, 0.0));
        self.tall_read("ones", &host, false, false)
    }

    /// Finds the statistics of an operator by products, if they are not known yet. Does nothing for other data.
    ///
    /// # Errors
    /// Errors of the operator.
    fn look(&mut self) -> Result<()> {
        Ok(())
    }

    /// Sets the precision of the products in [`RsvdOps::pass_multiply`], [`RsvdOps::pass_adjoint`] and
    /// [`RsvdOps::pass_fused`] from now on. It is full at first. Returns whether the backend has a faster product for
    /// these data.
    ///
    /// # Errors
    /// [`crate::error::Error::Cuda`].
    fn set_precision(&mut self, _: IterationPrecision) -> Result<bool> {
        Ok(false)
    }

    /// Sets means of the columns that are known before the first pass, real parts, then imaginary parts of complex data; and
    /// their divisors, or none.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for another number of means than columns, and if the columns are known
    /// already; out of memory; errors of a GPU.
    fn set_columns(&mut self, _means: &[f64], _divisors: &[f64]) -> Result<Prepared> {
        Ok(Prepared::Nothing)
    }

    /// P = A W. One pass.
    ///
    /// # Errors
    /// [`crate::error::Error::InvalidArgument`] for data or products of an operator that are not finite;
    /// [`crate::error::Error::Cancelled`]; errors of a source, of an operator and of the backend.
    fn pass_multiply(&mut self, w: &Self::Matrix, p: &mut Self::Tall) -> Result<()>;

    /// T = A^H P. One pass.
    ///
    /// # Errors
    /// As [`RsvdOps::pass_multiply`].
    fn pass_adjoint(&mut self, p: &Self::Tall, t: &mut Self::Matrix) -> Result<()>;

    /// T = A^H A W and, if `p` is given, P = A W. One pass.
    ///
    /// # Errors
    /// As [`RsvdOps::pass_multiply`].
    fn pass_fused(&mut self, w: &Self::Matrix, p: Option<&mut Self::Tall>, t: &mut Self::Matrix) -> Result<()>;

    /// G = A^H A, both triangles, summed in f64 where T is single. One pass.
    ///
    /// # Errors
    /// As [`RsvdOps::pass_multiply`]; [`crate::error::Error::NotSupported`] for sparse matrices and operators on a GPU.
    fn pass_gram(&mut self, g: &mut Self::Matrix) -> Result<()>;

    /// Sum over the blocks of A_J^H (A_J A_J^H)^q Omega_J, Omega_J the rows of `local.sketch` that belong to the block:
    /// the first pass of the published block method, for blocks of rows. One pass.
    ///
    /// # Errors
    /// As [`RsvdOps::pass_multiply`]; [`crate::error::Error::NotSupported`] for sparse matrices and operators on the
    /// CPU.
    fn pass_block_sum(&mut self, local: &BlockParameters, y: &mut Self::Matrix) -> Result<()>;

    /// n-by-w matrix R with R R^H close to A^H A: each block's leading right singular vectors, times their values,
    /// merged into those of the blocks before (w = `local.width`). One pass.
    ///
    /// # Errors
    /// As [`RsvdOps::pass_block_sum`].
    fn pass_merge(&mut self, local: &BlockParameters, r: &mut Self::Matrix) -> Result<()>;

    /// P = A W and Z = A^H Psi for the m-by-l1 sketch Psi. One pass.
    ///
    /// # Errors
    /// As [`RsvdOps::pass_multiply`].
    fn pass_two_sketches(
        &mut self,
        w: &Self::Matrix,
        p: &mut Self::Tall,
        psi: &Sketch,
        z: &mut Self::Matrix,
    ) -> Result<()>;

    /// A zeroed tall matrix of `width` columns, with the rows of A.
    ///
    /// # Errors
    /// As [`RsvdOps::identity`].
    fn tall(&mut self, what: &'static str, width: usize) -> Result<Self::Tall>;

    /// Columns of a tall matrix.
    fn tall_width(&self, p: &Self::Tall) -> usize;

    /// Fills a tall matrix with random numbers.
    ///
    /// # Errors
    /// Errors of the backend.
    fn tall_fill(&mut self, p: &mut Self::Tall, sketch: &Sketch, first_column: u32) -> Result<()>;

    /// Q = alpha P M + beta Q, where M has as many rows as P columns. With beta = 0 Q is not read.
    ///
    /// # Errors
    /// Errors of the backend.
    fn tall_multiply(
        &mut self,
        alpha: f64,
        p: &Self::Tall,
        m: &Self::Matrix,
        beta: f64,
        q: &mut Self::Tall,
    ) -> Result<()>;

    /// P_ij := (P_ij + shift_j) 2^e_j, in double precision and rounded once. Without shifts they are 0.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for another number of shifts or exponents than columns; errors of the backend.
    fn tall_shift(&mut self, p: &mut Self::Tall, shifts: &[Complex<f64>], exponents: &[i64]) -> Result<()>;

    /// P := P M for a square M, or one with fewer columns than rows, which makes P narrower.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for an M that does not fit P; errors of the backend.
    fn tall_transform(&mut self, p: &mut Self::Tall, m: &Self::Matrix) -> Result<()>;

    /// C = P^H Q, in a fixed order of summation.
    ///
    /// # Errors
    /// Errors of the backend.
    fn tall_cross(&mut self, p: &Self::Tall, q: &Self::Tall, c: &mut Self::Matrix) -> Result<()>;

    /// Euclidean norms of the columns.
    ///
    /// # Errors
    /// Errors of the backend.
    fn tall_column_norms(&mut self, p: &Self::Tall) -> Result<Vec<f64>>;

    /// The first column that holds a number that is not finite, or whose norm overflows.
    ///
    /// # Errors
    /// As [`RsvdOps::tall_column_norms`].
    fn tall_not_finite(&mut self, p: &Self::Tall) -> Result<Option<usize>> {
        Ok(self.tall_column_norms(p)?.iter().position(|norm| !norm.is_finite()))
    }

    /// [`Algebra::cholesky_step`] of a tall matrix.
    ///
    /// # Errors
    /// As [`Algebra::cholesky_step`].
    fn tall_cholesky_step(&mut self, p: &mut Self::Tall, shift: f64, r: &mut Self::Matrix) -> Result<Step>;

    /// For each column the first entry of largest modulus, real and imaginary part.
    ///
    /// # Errors
    /// Errors of the backend.
    fn tall_column_peaks(&mut self, p: &Self::Tall) -> Result<Vec<(f64, f64)>>;

    /// A tall matrix from the caller's matrix on the host or the device, which is m-by-w or, with `adjoint`, w-by-m.
    /// `conjugate` also conjugates each entry.
    ///
    /// # Errors
    /// [`crate::error::Error::InvalidArgument`] for another type, and on a GPU for another size;
    /// [`crate::error::Error::Internal`] for another size on the CPU; [`crate::error::Error::NotSupported`] for a
    /// matrix that is not dense, and on the CPU for one on a device; out of memory; errors of a GPU.
    fn tall_read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<Self::Tall>;

    /// Writes a tall matrix to the caller's matrix, which is m-by-w or, with `adjoint`, w-by-m, in any order, on the host
    /// (complete on return) or the device. `conjugate` also conjugates each entry.
    ///
    /// # Errors
    /// As [`RsvdOps::tall_read`]; [`crate::error::Error::InvalidArgument`] for another size, and for a matrix borrowed
    /// for reading.
    fn tall_write(&mut self, p: &Self::Tall, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()>;

    /// [`RsvdOps::tall_read`] of a matrix that is not tall.
    ///
    /// # Errors
    /// As [`RsvdOps::tall_read`].
    fn read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<Self::Matrix>;

    /// [`RsvdOps::tall_write`] of a matrix that is not tall.
    ///
    /// # Errors
    /// As [`RsvdOps::tall_write`].
    fn write(&mut self, m: &Self::Matrix, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()>;
}

/// Exponent of the power of two below the norm of a matrix with columns of these norms: 0 where it is not finite,
/// `None` for zeros.
pub fn exponent_of(norms: &[f64]) -> Option<i64> {
    let norm = norms.iter().fold(0.0, |a: f64, b| a.hypot(*b));
    if norm == 0.0 {
        return None;
    }
    Some(if norm.is_finite() { (norm.log2().floor() as i64).clamp(-1000, 1000) } else { 0 })
}

/// 2^e, not smaller than 2^-1000 and not larger than 2^1000.
pub fn power(e: i64) -> f64 {
    2f64.powi(e.clamp(-1000, 1000) as i32)
}

/// x 2^e for any e.
pub fn times_power(x: f64, e: i64) -> f64 {
    let first = e.clamp(-1000, 1000);
    let rest = (e - first).clamp(-2000, 2000);
    // The exponents of two finite numbers above 0 are less than 2100 apart. Each step is exact but for the last that
    // underflows.
    x * power(first) * power(rest / 2) * power(rest - rest / 2)
}

/// A finite number above 0 as m 2^e with m from 1 to below 2; 0 as (0, 0).
pub fn split(x: f64) -> (f64, i64) {
    let (normal, by) = if x < f64::MIN_POSITIVE { (times_power(x, 100), -100) } else { (x, 0) };
    if normal == 0.0 || !normal.is_finite() {
        return (x, 0);
    }
    let e = ((normal.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    (times_power(normal, -e), e + by)
}
