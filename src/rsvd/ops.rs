//! What the randomized SVD needs of a backend beyond [`Algebra`]: passes over the data, and matrices as long as they.
//!
//! The problem is m-by-n, read in blocks of rows: m is the axis that is cut. What has n or fewer rows is an
//! [`Algebra::Matrix`]; what has m rows is a [`RsvdOps::Tall`], which is cut as the data are and may lie in host memory
//! where a device has no room. Centring and scaling are in the data: every pass acts as if A were (A - 1 mu^T) D^-1,
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
use crate::scalar::Scalar;
use crate::shape::{Order, product};
use crate::tensor::Location;

/// How the blocks of a block method are treated.
#[derive(Debug, Clone, Copy)]
pub struct Local {
    /// Columns of the sketch of a block.
    pub width: usize,
    /// Power iterations inside a block.
    pub iterations: usize,
    /// What the blocks' sketches are drawn from.
    pub sketch: Sketch,
}

/// The passes and the tall matrices of a backend. Each function that says "one pass" reads every block of A once.
///
/// The first pass over A also finds the [`Statistics`], and refuses data that are not finite, naming the block.
pub trait RsvdOps<T: Scalar>: Algebra<T> {
    /// A matrix with as many rows as A.
    type Tall;

    /// Rows of A, the axis that is cut.
    fn rows(&self) -> usize;

    /// Columns of A.
    fn columns(&self) -> usize;

    /// What the first pass found.
    fn statistics(&self) -> Option<&Statistics>;

    /// Passes, bytes and seconds so far.
    fn traffic(&self) -> &Traffic;

    /// Between two passes: asks for cancellation and reports progress; `measure` as the caller's function gets it.
    fn checkpoint(&mut self, step: i64, steps: i64, measure: f64) -> Result<()>;

    /// The number of steps that are expected, for reports between the parts of a pass.
    fn expect_steps(&mut self, _: i64) {}

    /// Bytes of an element.
    fn element_bytes(&self) -> usize {
        size_of::<T>()
    }

    /// Charges host memory that is allocated beside the backend's matrices.
    fn charge(&self, context: &Context, what: &'static str, bytes: usize) -> Result<Charge> {
        context.host_budget().charge_host(what, bytes)
    }

    /// The first columns of the identity, `rows`-by-`columns`.
    fn identity(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<Self::Matrix> {
        let mut data = alloc::filled(what, product(what, rows, columns)?, T::from_parts(0.0, 0.0))?;
        data.iter_mut().step_by(rows + 1).take(columns.min(rows)).for_each(|x| *x = T::from_parts(1.0, 0.0));
        self.upload(what, rows, columns, &data, rows.max(1))
    }

    /// A tall matrix of one with as many rows.
    fn tall_of(&mut self, context: &Arc<Context>, m: &Self::Matrix) -> Result<Self::Tall> {
        let (rows, columns) = self.shape(m);
        let mut host = Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, rows, columns)?;
        self.write(m, &mut host, false, false)?;
        self.tall_read("tall copy", &host, false, false)
    }

    /// A matrix of a tall one.
    fn matrix_of(&mut self, context: &Arc<Context>, what: &'static str, p: &Self::Tall) -> Result<Self::Matrix> {
        let (rows, columns) = (self.rows(), self.tall_width(p));
        let mut host = Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, rows, columns)?;
        self.tall_write(p, &mut host, false, false)?;
        self.read(what, &host, false, false)
    }

    /// The first columns of the identity as a tall matrix.
    fn tall_identity(&mut self, context: &Arc<Context>, columns: usize) -> Result<Self::Tall> {
        let eye = self.identity("identity", self.rows(), columns)?;
        self.tall_of(context, &eye)
    }

    /// A tall matrix of one column of ones.
    fn tall_ones(&mut self, context: &Arc<Context>) -> Result<Self::Tall> {
        let mut host = Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, self.rows(), 1)?;
        host.dense_mut("ones")?.memory.host_mut("ones")?.as_mut_slice::<T>()?.fill(T::from_parts(1.0, 0.0));
        self.tall_read("ones", &host, false, false)
    }

    /// Finds what is known of an operator by its products, if nothing was found yet.
    ///
    /// # Errors
    /// What the operator reports.
    fn look(&mut self) -> Result<()> {
        Ok(())
    }

    /// How the products of [`RsvdOps::pass_multiply`], [`RsvdOps::pass_adjoint`] and [`RsvdOps::pass_fused`] are computed
    /// from now on; in full at first. Returns whether the backend knows a faster way for these data.
    fn set_precision(&mut self, _: IterationPrecision) -> Result<bool> {
        Ok(false)
    }

    /// Means of the columns, known before the first pass: real parts, then imaginary parts of complex data. They are
    /// subtracted from the entries before each product, or from sums in double precision. Returns false if the backend can
    /// only correct products that are rounded already; then nothing is subtracted.
    fn set_means(&mut self, _: &[f64]) -> Result<bool> {
        Ok(false)
    }

    /// P = A W. One pass.
    fn pass_multiply(&mut self, w: &Self::Matrix, p: &mut Self::Tall) -> Result<()>;

    /// T = A^H P. One pass.
    fn pass_adjoint(&mut self, p: &Self::Tall, t: &mut Self::Matrix) -> Result<()>;

    /// T = A^H A W and, where it is wanted, P = A W. One pass.
    fn pass_fused(&mut self, w: &Self::Matrix, p: Option<&mut Self::Tall>, t: &mut Self::Matrix) -> Result<()>;

    /// G = A^H A, both triangles, summed in f64 where T is single. One pass.
    fn pass_gram(&mut self, g: &mut Self::Matrix) -> Result<()>;

    /// Sum over the blocks of A_J^H (A_J A_J^H)^q Omega_J, Omega_J the rows of `local.sketch` that belong to the block:
    /// the first pass of the published block method, for blocks of rows. One pass.
    fn pass_block_sum(&mut self, local: &Local, y: &mut Self::Matrix) -> Result<()>;

    /// n-by-w matrix R with R R^H close to A^H A: each block's leading right singular vectors, times their values,
    /// merged into those of the blocks before (w = `local.width`). One pass.
    fn pass_merge(&mut self, local: &Local, r: &mut Self::Matrix) -> Result<()>;

    /// P = A W and Z = A^H Psi for the m-by-l1 sketch Psi. One pass.
    fn pass_two_sketches(
        &mut self,
        w: &Self::Matrix,
        p: &mut Self::Tall,
        psi: &Sketch,
        z: &mut Self::Matrix,
    ) -> Result<()>;

    /// A zeroed tall matrix.
    fn tall(&mut self, what: &'static str, width: usize) -> Result<Self::Tall>;

    /// Columns of a tall matrix.
    fn tall_width(&self, p: &Self::Tall) -> usize;

    /// Fills a tall matrix with random numbers.
    fn tall_fill(&mut self, p: &mut Self::Tall, sketch: &Sketch, first_column: u32) -> Result<()>;

    /// Q = alpha P M + beta Q, where M has as many rows as P columns. With beta = 0 nothing of Q is read.
    fn tall_multiply(
        &mut self,
        alpha: f64,
        p: &Self::Tall,
        m: &Self::Matrix,
        beta: f64,
        q: &mut Self::Tall,
    ) -> Result<()>;

    /// P := P M for a square M, or one with fewer columns than rows, which makes P narrower.
    fn tall_transform(&mut self, p: &mut Self::Tall, m: &Self::Matrix) -> Result<()>;

    /// C = P^H Q.
    fn tall_cross(&mut self, p: &Self::Tall, q: &Self::Tall, c: &mut Self::Matrix) -> Result<()>;

    /// Euclidean norms of the columns.
    fn tall_column_norms(&mut self, p: &Self::Tall) -> Result<Vec<f64>>;

    /// [`Algebra::cholesky_step`] of a tall matrix.
    fn tall_cholesky_step(&mut self, p: &mut Self::Tall, shift: f64, r: &mut Self::Matrix) -> Result<Step>;

    /// For each column the first entry of largest modulus, real and imaginary part.
    fn tall_column_peaks(&mut self, p: &Self::Tall) -> Result<Vec<(f64, f64)>>;

    /// A tall matrix from one of the caller's, m-by-w or, with `adjoint`, w-by-m, on the host or the device; `conjugate`
    /// takes the conjugate of each entry besides.
    fn tall_read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<Self::Tall>;

    /// To one of the caller's matrices, m-by-w or, with `adjoint`, w-by-m, in any order, on the host (complete on
    /// return) or the device; `conjugate` takes the conjugate of each entry besides.
    fn tall_write(&mut self, p: &Self::Tall, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()>;

    /// [`RsvdOps::tall_read`] of a matrix that is not tall.
    fn read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<Self::Matrix>;

    /// [`RsvdOps::tall_write`] of a matrix that is not tall.
    fn write(&mut self, m: &Self::Matrix, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()>;
}

/// Exponent of the power of two below the norm of a matrix with columns of these norms: 0 where it is not finite, `None` for zeros.
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
