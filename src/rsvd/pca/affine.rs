//! Affine maps of samples and of scores, in units in which their products are within the range of the type.

use std::sync::Arc;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::rsvd::algorithm::{ErrorFigures, Outcome, Run, Task};
use crate::rsvd::calls::Call;
use crate::rsvd::erased::{Operations, Tall};
use crate::rsvd::ops::{Prepared, split, times_power};
use crate::rsvd::restart::Attempt;
use crate::scalar::{Complex, Scalar, is_finite};
use crate::shape::{Order, to_u64};
use crate::tensor::Location;

/// The shift of an affine map.
pub enum Shift<'a> {
    None,
    /// Means that are subtracted from rows before the product, and divisors of the differences, or none. A divisor may be
    /// infinite: the weights there are 0. In single precision, the product of a row far from the origin would lose the
    /// significant digits.
    Before {
        means: &'a [f64],
        divisors: &'a [f64],
    },
    /// Means that are added to each row of the product.
    After {
        means: &'a [f64],
    },
}

/// An affine map of samples: a product with weights, and a shift.
pub struct Affine<'a, T> {
    /// Column after column, `rows`-by-`width`.
    pub w: Vec<T>,
    pub rows: usize,
    pub width: usize,
    /// For each column of the result the exponent of the power of two that products with `w` are multiplied by.
    pub exponents: Vec<i64>,
    pub shift: Shift<'a>,
    pub target: &'a mut Matrix,
    pub by_columns: bool,
    /// The power of two that samples are multiplied by at first.
    pub unit: f64,
    /// The result and its columns, in messages.
    pub names: (&'static str, &'static str),
}

impl<T: Scalar> Affine<'_, T> {
    /// Divides the weights of each feature, for samples that are not divided themselves.
    fn divide(&mut self, divisors: &[f64]) -> Result<()> {
        for (k, w) in self.w.iter_mut().enumerate() {
            let divisor = divisors.get(k % self.rows).copied().unwrap_or(1.0);
            *w = T::from_parts(w.re() / divisor, w.im() / divisor);
            if !is_finite(*w) {
                let feature = k % self.rows;
                let problem = format!("feature {feature} is divided by {divisor:e}, too small for {}", T::DTYPE.name());
                return Err(Error::Numerical(problem));
            }
        }
        Ok(())
    }

    /// The offset of products that corresponds to subtracted means: minus the means times the rounded weights.
    fn lost(&self, means: &[f64], by: f64) -> Result<Vec<T>> {
        let mut lost = crate::alloc::filled("offsets", self.width, T::default())?;
        for (to, w) in lost.iter_mut().zip(self.w.chunks_exact(self.rows.max(1))) {
            let imaginary = |i: usize| means.get(self.rows + i).copied().unwrap_or(0.0);
            let sum: Complex<f64> = (w.iter().enumerate())
                .map(|(i, w)| Complex::new(means[i] * by, imaginary(i) * by) * Complex::new(w.re(), w.im()))
                .sum();
            *to = T::from_parts(-sum.re, -sum.im);
        }
        Ok(lost)
    }

    /// Turns products of samples times the power of two `factor` into the result.
    fn finish(&self, run: &mut Run<'_>, factor: f64, p: &mut Tall) -> Result<()> {
        let unit = split(factor).1;
        let exponents = crate::alloc::collected("exponents", self.exponents.iter().map(|e| e - unit))?;
        let shifts = match self.shift {
            Shift::After { means } => {
                let part = |k: usize, e: i64| times_power(means.get(k).copied().unwrap_or(0.0), -e);
                let of = |(i, e): (usize, &i64)| Complex::new(part(i, *e), part(self.width + i, *e));
                crate::alloc::collected("offsets", exponents.iter().enumerate().map(of))?
            }
            _ => Vec::new(),
        };
        if shifts.is_empty() && exponents.iter().all(|e| *e == 0) {
            return Ok(());
        }
        run.ops.tall_shift(p, &shifts, &exponents)
    }
}

/// Bytes of the means of a [`Shift::Before`], and of their units and gains.
pub(in crate::rsvd) fn map_means_bytes(columns: usize, is_centred: bool) -> usize {
    if is_centred { columns.saturating_mul(size_of::<Complex<f64>>() + 2 * size_of::<f64>()) } else { 0 }
}

/// Bytes of the exponents of a map's result, in two units, and of its shifts.
pub(in crate::rsvd) fn map_shifts_bytes(width: usize) -> usize {
    width.saturating_mul(size_of::<Complex<f64>>() + 2 * size_of::<i64>())
}

/// The least factor on samples: 2^-1000.
const LEAST_FACTOR: f64 = f64::from_bits(23 << 52);

/// An [`Affine`] map as a call.
pub struct Mapped<'a, T> {
    task: Task,
    map: Affine<'a, T>,
    /// The result of the tries before, packed on the host. Where a sum overflowed its numbers are not finite.
    known: Option<Matrix>,
    is_divided: bool,
}

impl<'a, T: Scalar> Mapped<'a, T> {
    /// A call of `task` that maps the samples of its data.
    pub fn new(task: Task, map: Affine<'a, T>) -> Self {
        Self { task, map, known: None, is_divided: false }
    }

    /// The power of two for the next try, after a product of samples times `factor` overflowed; `None` after the last one.
    ///
    /// The first step is as large as sums of products need that are themselves in range. Quotients of samples and
    /// divisors may overflow, too. Later steps leave all digits to products of such quotients with any weight.
    fn next_factor(&self, run: &Run<'_>, factor: f64) -> Option<f64> {
        let step = if self.known.is_none() {
            let terms = (run.ops.rows().max(1) as f64 * run.ops.columns().max(1) as f64).sqrt();
            4.0 + terms.log2().ceil()
        } else if T::DTYPE.is_single() {
            100.0
        } else {
            900.0
        };
        (factor > LEAST_FACTOR).then(|| (factor * (-step).exp2()).max(LEAST_FACTOR))
    }

    /// Adds the finite numbers of the result `p` to those that are known.
    fn keep(&mut self, run: &mut Run<'_>, context: &Arc<Context>, p: &Tall) -> Result<()> {
        let rows = run.ops.rows();
        match &mut self.known {
            Some(known) => complete(run, context, p, known),
            None => {
                let order = Order::ColumnMajor;
                let mut known = Matrix::create(context, T::DTYPE, Location::Host, order, rows, self.map.width)?;
                run.ops.tall_write(p, &mut known, false, false)?;
                self.known = Some(known);
                Ok(())
            }
        }
    }
}

fn complete(run: &mut Run<'_>, context: &Arc<Context>, p: &Tall, known: &mut Matrix) -> Result<()> {
    if run.ops.tall_complete(context, p, known)? {
        return Ok(());
    }
    let (bytes, budget) = (known.rows().saturating_mul(known.cols()), context.host_budget());
    let bytes = to_u64(bytes.saturating_mul(known.dtype().size())).saturating_add(budget.used());
    Err(Error::OutOfMemory { what: "products that overflow", bytes, limit: budget.limit() })
}

impl<T: Scalar> Call for Mapped<'_, T> {
    fn prepare(&mut self, _: &mut dyn FnMut() -> Result<u64>) -> Result<Attempt> {
        Ok(Attempt { factor: self.map.unit, earlier_passes: 0 })
    }

    fn run(&mut self, ops: &mut dyn Operations, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let (width, rows) = (self.map.width, self.map.rows);
        let context = Arc::clone(self.map.target.context());
        let task = self.task.clone();
        let mut run = Run::new(ops, &task, &context, 1);
        run.factor = factor;
        // The host copy of the weights, in addition to the backend's.
        let bytes = self.map.w.len().saturating_mul(size_of::<T>());
        let _charge = run.ops.charge(&context, "weights", bytes)?;
        let is_centred = matches!(self.map.shift, Shift::Before { .. });
        let _means = run.ops.charge(&context, "means of columns", map_means_bytes(rows, is_centred))?;
        let _shifts = run.ops.charge(&context, "shifts of products", map_shifts_bytes(width))?;
        let mut offset = None;
        if let Shift::Before { means, divisors } = self.map.shift {
            let prepared = run.ops.set_columns(means, divisors)?;
            if prepared != Prepared::Divided && !divisors.is_empty() && !self.is_divided {
                self.map.divide(divisors)?;
                self.is_divided = true;
            }
            if prepared == Prepared::Nothing {
                offset = Some(self.map.lost(means, factor)?);
            }
        }
        let w = run.ops.upload("weights", rows, width, &self.map.w)?;
        let mut p = run.ops.tall("products", width)?;
        run.ops.pass_multiply(&w, &mut p)?;
        drop(w);
        // A product needs no squares, so the range of the entries is not checked.
        run.complete()?;
        if let Some(offset) = offset {
            let ones = run.ops.tall_ones(&context)?;
            let offset = run.ops.upload("offsets", 1, width, &offset)?;
            run.ops.tall_multiply(1.0, &ones, &offset, 1.0, &mut p)?;
        }
        let is_beyond = run.tall_not_finite(&p)?.is_some();
        self.map.finish(&mut run, factor, &mut p)?;
        if let (true, Some(next)) = (is_beyond, self.next_factor(&run, factor)) {
            // A sum may overflow where the result does not. Numbers that did not are not computed in the smaller unit,
            // in which they might lose digits.
            self.keep(&mut run, &context, &p)?;
            *rescale = Some(next);
            return Err(Error::Numerical("a sum of products overflows".into()));
        }
        if let Some(mut known) = self.known.take() {
            complete(&mut run, &context, &p, &mut known)?;
            drop(p);
            p = run.ops.tall_read("products", &known, false, false)?;
        }
        run.expect_in_range(&p, self.map.names)?;
        run.ops.tall_write(&p, self.map.target, self.map.by_columns, self.map.by_columns)?;
        run.outcome(width, ErrorFigures::none())
    }
}
