//! Chebyshev filters: T_d((2 Op - (lower + upper) I) / (upper - lower)) of a plan's operator Op, by the three-term
//! recurrence.
//!
//! |T_d| is at most 1 for eigenvalues between `lower` and `upper`, and grows like cosh(d acosh |t|) outside (Zhou and
//! Saad, SIAM J. Matrix Anal. Appl. 29, 2007). The plan's shift includes the subtraction of the interval's middle.

use super::options::Options;
use super::plan::Plan;
use crate::alloc;
use crate::error::{Error, Result, real};
use crate::matrix::Matrix;
use crate::range;
use crate::scalar::Scalar;

const WHAT: &str = "filter of a sparse product";

/// The largest degree of a filter.
pub const MOST_DEGREE: usize = 20_000;

impl Options {
    /// The number that is added to the diagonal of the kind's operator: the shift minus the middle of the filter's
    /// interval.
    pub(super) fn added(&self) -> f64 {
        if self.degree == 0 { self.shift } else { self.shift - (0.5 * self.lower + 0.5 * self.upper) }
    }

    /// Half the length of a filter's interval.
    pub(super) fn half(&self) -> f64 {
        0.5 * self.upper - 0.5 * self.lower
    }

    /// Refuses an empty interval, or an interval without a filter. `is_square` refers to the operator.
    pub(super) fn check_filter(&self, is_square: bool) -> Result<()> {
        let Self { degree, lower, upper, .. } = *self;
        if degree == 0 {
            let set = [("lower", lower), ("upper", upper)].into_iter().find(|(_, v)| *v != 0.0);
            return match set {
                Some((name, value)) => {
                    Err(Error::invalid(name, format!("is {} without a filter: degree is 0", real(value))))
                }
                None => Ok(()),
            };
        }
        if degree > MOST_DEGREE {
            return Err(Error::invalid("degree", format!("is {degree}, outside 0 to {MOST_DEGREE}")));
        }
        for (name, value) in [("lower", lower), ("upper", upper)] {
            range::finite(name, value)?;
        }
        // lower < upper is not enough: half the length must be a number that can be divided by.
        if lower >= upper || !(1.0 / self.half()).is_finite() {
            let need = if lower >= upper { "more than" } else { "a number farther from" };
            let problem = format!("is {}, {need} lower = {} is needed", real(upper), real(lower));
            return Err(Error::invalid("upper", problem));
        }
        if !is_square {
            return Err(Error::invalid(
                "degree",
                format!("is {degree}, a matrix that is not square has no polynomials"),
            ));
        }
        Ok(())
    }
}

impl Plan {
    /// Y = alpha T_d X + beta Y for rows of `width` numbers on the host, in the plan's order. alpha is not 0.
    pub(super) fn filter<T: Scalar>(
        &self,
        a: &Matrix,
        (alpha, beta): (T, T),
        width: usize,
        x: &[T],
        y: &mut [T],
    ) -> Result<()> {
        let options = self.options();
        let real = |v: f64| T::from_parts(v, 0.0);
        let buffer = || alloc::filled(WHAT, x.len(), T::default());
        let (mut here, mut there) = (buffer()?, buffer()?);
        self.once(a, (real(1.0 / options.half()), T::default()), width, x, &mut here)?;
        for step in 1..options.degree {
            if step == 1 {
                there.copy_from_slice(x);
            }
            self.once(a, (real(2.0 / options.half()), real(-1.0)), width, &here, &mut there)?;
            std::mem::swap(&mut here, &mut there);
        }
        self.context().pool().run_here(|| {
            let each = y.iter_mut().zip(&here);
            // With beta = 0, y is not read: it may be uninitialized.
            if beta == T::default() {
                each.for_each(|(y, t)| *y = alpha * *t);
            } else {
                each.for_each(|(y, t)| *y = beta * *y + alpha * *t);
            }
        });
        Ok(())
    }
}
