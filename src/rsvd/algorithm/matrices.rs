//! Products, copies and checks of a run's matrices. Never inlined, as the steps of `run.rs`.

use super::Run;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::rsvd::erased::{Dense, Tall};

impl Run<'_> {
    /// op(A) op(B) in a new matrix.
    ///
    /// # Errors
    /// Errors of the backend.
    #[inline(never)]
    pub fn product(&mut self, a: &Dense, op_a: Op, b: &Dense, op_b: Op) -> Result<Dense> {
        let (pick_rows, pick_columns) = (self.ops.shape(a), self.ops.shape(b));
        let rows = if op_a == Op::Plain { pick_rows.0 } else { pick_rows.1 };
        let columns = if op_b == Op::Plain { pick_columns.1 } else { pick_columns.0 };
        let mut c = self.ops.zeros("product", rows, columns)?;
        self.ops.multiply(1.0, a, op_a, b, op_b, 0.0, &mut c)?;
        Ok(c)
    }

    /// A copy of the first `count` columns.
    ///
    /// # Errors
    /// Errors of the backend.
    #[inline(never)]
    pub fn head(&mut self, m: &Dense, count: usize) -> Result<Dense> {
        let rows = self.ops.shape(m).0;
        let mut head = self.ops.zeros("leading columns", rows, count)?;
        self.ops.copy_columns(m, 0, count, &mut head, 0)?;
        Ok(head)
    }

    /// The first columns of the identity, `rows`-by-`columns`.
    ///
    /// # Errors
    /// As [`Operations::identity`](crate::rsvd::erased::Operations::identity).
    #[inline(never)]
    pub fn identity(&mut self, rows: usize, columns: usize) -> Result<Dense> {
        self.ops.identity("identity", rows, columns)
    }

    /// The first columns of the identity as a tall matrix.
    ///
    /// # Errors
    /// As [`Operations::tall_identity`](crate::rsvd::erased::Operations::tall_identity).
    pub fn tall_identity(&mut self, columns: usize) -> Result<Tall> {
        self.ops.tall_identity(self.context, columns)
    }

    /// A tall copy of `m`, which has as many rows as A.
    ///
    /// # Errors
    /// As [`Operations::tall_of`](crate::rsvd::erased::Operations::tall_of).
    #[inline(never)]
    pub fn tall_of(&mut self, m: &Dense) -> Result<Tall> {
        self.ops.tall_of(self.context, m)
    }

    /// The first column of P that holds a number that is not finite.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn tall_not_finite(&mut self, p: &Tall) -> Result<Option<usize>> {
        let found = self.ops.tall_not_finite(p)?;
        if found.is_none() || self.ops.dtype().is_single() {
            return Ok(found);
        }
        // The norm of finite numbers may overflow, but no sum of them times 2^-1000 does.
        let mut tiny = self.ops.tall_ones(self.context)?;
        self.scale_tall(&mut tiny, (-1000f64).exp2())?;
        let mut sums = self.ops.zeros("sums of columns", 1, self.ops.tall_width(p))?;
        self.ops.tall_cross(&tiny, p, &mut sums)?;
        Ok(self.ops.column_norms(&sums)?.iter().position(|sum| !sum.is_finite()))
    }

    /// Refuses a tall matrix, the result `name`, with a number that is not finite.
    ///
    /// # Errors
    /// [`Error::Numerical`], which names the first column that has one, as a number of `column`, and its first row,
    /// which is a sample; errors of the backend.
    pub fn expect_in_range(&mut self, p: &Tall, (name, column): (&str, &str)) -> Result<()> {
        let Some(j) = self.tall_not_finite(p)? else { return Ok(()) };
        let row = self.ops.tall_row_not_finite(self.context, p, j)?;
        let sample = row.map_or("a sample".into(), |i| format!("sample {i}"));
        let dtype = self.ops.dtype().name();
        Err(Error::Numerical(format!("{name}: {column} {j} of {sample} is beyond the range of {dtype}")))
    }

    /// P := `by` P for a power of two, which need not be a number of the type.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn scale_tall(&mut self, p: &mut Tall, mut by: f64) -> Result<()> {
        let width = self.ops.tall_width(p);
        let most = if self.ops.dtype().is_single() { 120f64.exp2() } else { 1000f64.exp2() };
        while by != 1.0 {
            let step = by.clamp(1.0 / most, most);
            by /= step;
            let ones = self.ops.tall_ones(self.context)?;
            let zeros = self.ops.zeros("offsets", 1, width)?;
            self.ops.tall_multiply(1.0, &ones, &zeros, step, p)?;
        }
        Ok(())
    }
}
