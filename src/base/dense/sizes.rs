//! [`Algebra`] on sizes instead of matrices. It computes and allocates nothing, and counts the bytes that the CPU backend
//! would charge. Methods run on it to find the memory that they need. Allocations inside an operation are counted with the
//! functions that the CPU backend itself uses for their size.

use std::marker::PhantomData;
use std::sync::Arc;

use super::cpu::factor::working_bytes;
use super::cpu::product::working_elements;
use super::orthonormal::Kind;
use super::sketch::Sketch;
use super::{Algebra, Op, Step, Svd};
use crate::backend::memory::{Budget, Charge};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::shape::{product, to_u64};

/// A matrix that has only a size.
pub struct Blank {
    rows: usize,
    cols: usize,
    _charge: Charge,
}

impl Blank {
    /// Rows that a matrix in memory would have.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns that a matrix in memory would have.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }
}

/// Simulated results of operations that return numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedResults {
    /// Number of singular values or eigenvalues that are not 0.
    pub large: usize,
    /// The value of all of these.
    pub value: f64,
    /// Number of CholeskyQR steps that fail before columns are orthonormal.
    pub failures: u32,
    /// Whether a deflation finds its remainder zero after the first directions.
    pub vanishes: bool,
}

impl SimulatedResults {
    /// All values are 1, and every step succeeds.
    pub const REGULAR: Self = Self { large: usize::MAX, value: 1.0, failures: 0, vanishes: false };

    /// [`SimulatedResults::REGULAR`] with enough failures for a deflation, if steps of `kind` come first.
    pub fn deficient(kind: Kind) -> Self {
        // Shifted steps come first.
        let failures = if matches!(kind, Kind::Scqr3 | Kind::Householder) { 2 } else { 3 };
        Self { failures, ..Self::REGULAR }
    }
}

/// The operations on sizes. `T` is real or complex like the numbers; `element` is the size of one number in bytes.
pub struct Sizes<T> {
    budget: Arc<Budget>,
    element: usize,
    answers: SimulatedResults,
    /// CholeskyQR steps that will still fail.
    failing: u32,
    /// Whether the remainder of the deflation is zero.
    is_gone: bool,
    number: PhantomData<T>,
}

impl<T: Scalar> Sizes<T> {
    /// A counter at 0 bytes, without a limit.
    pub fn new(element: usize, answers: SimulatedResults) -> Self {
        Self {
            budget: Budget::new(0),
            element,
            answers,
            failing: answers.failures,
            is_gone: false,
            number: PhantomData,
        }
    }

    /// Peak of the counted bytes.
    pub fn peak(&self) -> u64 {
        self.budget.peak()
    }

    /// Sets the number of CholeskyQR steps that fail from now on; returns the number before.
    pub fn set_failures(&mut self, failures: u32) -> u32 {
        self.failing = failures;
        std::mem::replace(&mut self.answers.failures, failures)
    }

    /// Counts `bytes` until the charge is dropped.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the count of bytes overflows.
    pub fn hold(&self, what: &'static str, bytes: usize) -> Result<Charge> {
        let bytes = to_u64(bytes);
        self.budget.charge(bytes).ok_or(Error::OutOfMemory { what, bytes, limit: None })
    }

    /// Counts a matrix.
    ///
    /// # Errors
    /// As [`Sizes::hold`].
    pub fn blank(&self, what: &'static str, rows: usize, cols: usize) -> Result<Blank> {
        let bytes = product(what, product(what, rows, cols)?, self.element)?;
        Ok(Blank { rows, cols, _charge: self.hold(what, bytes)? })
    }

    /// Counts numbers of another size.
    ///
    /// # Errors
    /// As [`Sizes::hold`].
    pub fn elements(&self, what: &'static str, rows: usize, cols: usize, size: usize) -> Result<Charge> {
        self.hold(what, rows.saturating_mul(cols).saturating_mul(size))
    }

    /// Counts memory that an operation needs while it runs.
    fn work(&self, bytes: usize) -> Result<()> {
        self.hold("working memory", bytes).map(drop)
    }

    /// Counts the working memory of a product of a rows-by-depth and a depth-by-cols matrix.
    ///
    /// # Errors
    /// As [`Sizes::hold`].
    pub fn product(&self, rows: usize, cols: usize, depth: usize) -> Result<()> {
        self.work(working_elements(rows, cols, depth).saturating_mul(self.element))
    }

    fn values(&self, what: &'static str, count: usize) -> Result<Vec<f64>> {
        let mut values = crate::alloc::filled(what, count, 0.0)?;
        values.iter_mut().take(self.answers.large).for_each(|x| *x = self.answers.value);
        Ok(values)
    }
}

impl<T: Scalar> Algebra<T> for Sizes<T> {
    type Matrix = Blank;

    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Blank> {
        self.blank(what, rows, cols)
    }

    fn shape(&self, m: &Blank) -> (usize, usize) {
        (m.rows, m.cols)
    }

    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, _: &[T], _: usize) -> Result<Blank> {
        self.blank(what, rows, cols)
    }

    fn download(&mut self, _: &Blank, _: &mut [T], _: usize) -> Result<()> {
        Ok(())
    }

    fn copy_columns(&mut self, _: &Blank, _: usize, _: usize, _: &mut Blank, _: usize) -> Result<()> {
        Ok(())
    }

    fn multiply(&mut self, _: f64, a: &Blank, op_a: Op, _: &Blank, _: Op, _: f64, c: &mut Blank) -> Result<()> {
        let depth = if op_a == Op::Plain { a.cols } else { a.rows };
        self.product(c.rows, c.cols, depth)
    }

    fn scale_columns(&mut self, _: &mut Blank, _: &[f64]) -> Result<()> {
        Ok(())
    }

    fn adjoint(&mut self, what: &'static str, m: &Blank) -> Result<Blank> {
        self.blank(what, m.cols, m.rows)
    }

    fn fill(&mut self, _: &mut Blank, _: &Sketch, _: u64, _: u32) -> Result<()> {
        Ok(())
    }

    fn norm2(&mut self, _: &Blank) -> Result<f64> {
        Ok(0.0)
    }

    fn column_norms(&mut self, m: &Blank) -> Result<Vec<f64>> {
        crate::alloc::filled("norms of columns", m.cols, if self.is_gone { 0.0 } else { 1.0 })
    }

    fn column_peaks(&mut self, m: &Blank) -> Result<Vec<(f64, f64)>> {
        crate::alloc::filled("peaks of columns", m.cols, (1.0, 0.0))
    }

    fn cholesky_step(&mut self, x: &mut Blank, _: f64, _: &mut Blank) -> Result<Step> {
        self.work(working_bytes::cholesky_step::<T::Wide>(x.rows, x.cols))?;
        if self.failing > 0 {
            self.failing -= 1;
            return Ok(Step::Failed);
        }
        Ok(Step::Done { spread: 1.0 })
    }

    fn householder(&mut self, x: &mut Blank, _: &mut Blank) -> Result<()> {
        // A deflation ends with a Householder factorization, so the failures start again.
        (self.failing, self.is_gone) = (self.answers.failures, false);
        self.work(working_bytes::householder::<T::Wide>(x.rows, x.cols))
    }

    fn svd(&mut self, a: &Blank) -> Result<Svd<Blank>> {
        let rank = a.rows.min(a.cols);
        let u = self.blank("left singular vectors", a.rows, rank)?;
        let v = self.blank("right singular vectors", a.cols, rank)?;
        self.work(working_bytes::svd::<T::Wide>(a.rows, a.cols))?;
        Ok(Svd { u, s: self.values("singular values", rank)?, v })
    }

    fn eigen(&mut self, a: &Blank) -> Result<(Vec<f64>, Blank)> {
        // Only a deflation computes eigenvalues after the last failure.
        self.is_gone |= self.answers.vanishes && self.answers.failures > 0 && self.failing == 0;
        let vectors = self.blank("eigenvectors", a.rows, a.rows)?;
        self.work(working_bytes::eigen::<T::Wide>(a.rows))?;
        Ok((self.values("eigenvalues", a.rows)?, vectors))
    }
}
