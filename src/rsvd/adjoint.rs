//! Test of whether the second function of a caller's operator multiplies by the adjoint of the first one's matrix.
//!
//! A wrong adjoint spoils singular values without a trace: the methods find those of a mixture of both matrices. Y^H (A X) =
//! (A^H Y)^H X holds in exact arithmetic for any X and Y. A run multiplies A by random vectors X first, to estimate its
//! norm, so that one of them tests each later product A^H Y without a product of its own.
//!
//! Where Y and A X have nothing to do with each other, both numbers are within rounding: of random vectors |<Y, A X>| is
//! about ||Y|| ||A X|| over the root of the number of rows. After the first product A^H Y for which this is true there
//! is one more, for Y = A X of the vector that is kept.

use std::sync::Arc;

use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::Op;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::Result;
use crate::matrix::Operator;
use crate::matrix::adjoint::{self, Numbers, Power, dot, modulus, norm, norm_from, unit_of};
use crate::rsvd::data::Center;
use crate::scalar::{Scalar, power_of_two};

/// An operator of the caller's. Each product with its adjoint is compared with a product A X from before, and the first
/// product A X with one by the adjoint, if means were found by that.
pub struct Tested<'a, T: Scalar> {
    operator: &'a mut (dyn Operator<T> + 'a),
    context: &'a Arc<Context>,
    center: Center,
    kept: Option<Kept<T>>,
    /// Whether a comparison had power, or was repeated with Y = A X.
    is_tested: bool,
}

/// One vector and its product, from a call with several: their sum over the root of their number.
struct Kept<T: Scalar> {
    op: Op,
    count: usize,
    /// X of A X, or the product A^H Y: as many entries as A has columns.
    long: CpuMatrix<T>,
    /// The product A X, or Y of A^H Y: as many entries as A has rows.
    tall: CpuMatrix<T>,
    /// Root mean square of the norms of the vectors that were multiplied, of their products, and of the products less
    /// their means.
    norms: [f64; 3],
}

impl<'a, T: Scalar> Tested<'a, T> {
    /// The tested `operator`, from whose products a method subtracts the means that `center` names. Its vectors are
    /// charged to the host memory of `context`.
    pub fn new(operator: &'a mut (dyn Operator<T> + 'a), context: &'a Arc<Context>, center: Center) -> Self {
        Self { operator, context, center, kept: None, is_tested: false }
    }

    /// Compares a product with the one that was kept of the other kind.
    fn compare(&self, op: Op, from: &[T], to: &[T], count: usize) -> Result<Power> {
        let Some(kept) = self.kept.as_ref().filter(|kept| kept.op != op) else { return Ok(Power::None) };
        let (rows, columns) = self.operator.shape();
        let (long, tall) = if op == Op::Plain { (from, to) } else { (to, from) };
        let (one_long, one_tall) = (kept.long.slice()?, kept.tall.slice()?);
        // Of each vector: the difference of the two numbers, the norms of the vector and of its product, that of the
        // product less its mean, and the size of the numbers, without the means as well.
        let mut found = alloc::filled("differences of products", count, [0.0f64; 5])?;
        let center = self.center;
        let one_sum = match center {
            Center::None => T::Wide::default(),
            Center::Columns => sum_of(one_tall),
            Center::Rows => sum_of(one_long),
        };
        self.context.pool().run(|| {
            let columns = long.par_chunks_exact(columns).zip(tall.par_chunks_exact(rows));
            found.par_iter_mut().zip(columns).for_each(|(found, (long, tall))| {
                let (of_long, of_tall) = (dot(one_long, long), dot(one_tall, tall));
                let (from, to) = if op == Op::Plain { (long, tall) } else { (tall, long) };
                // The adjoint is on the side of the long vectors. It has means to be subtracted where those are of rows.
                let without_means = match center {
                    Center::None => of_tall,
                    Center::Columns => of_tall - product_of_means(one_sum, tall),
                    Center::Rows => of_long - product_of_means(one_sum, long),
                };
                *found = [
                    modulus(of_long - of_tall),
                    norm(from),
                    norm(to),
                    norm_less_mean(center, to),
                    modulus(without_means),
                ];
            });
        });
        let [found, from, to, to_less_mean, inner] =
            [0, 1, 2, 3, 4].map(|i| found.iter().fold(0.0, |all: f64, of| all.hypot(of[i])));
        // X, A X and Y, A^H Y; the pair that is kept is of one vector.
        let (plain, back) = match op {
            Op::Plain => ([from, to, to_less_mean], kept.norms),
            Op::Adjoint => (kept.norms, [from, to, to_less_mean]),
        };
        let [x, ax, ax_less_means] = plain;
        let [y, _, ay_less_means] = back;
        // The means are subtracted exactly, so that errors of the products are errors of the difference.
        let (size, of) = match center {
            Center::None => (y * ax, "||Y|| ||A X||"),
            Center::Columns => (y * ax_less_means, "||Y|| ||A X - means||"),
            Center::Rows => (x * ay_less_means, "||X|| ||A^H Y - means||"),
        };
        adjoint::expect_equal::<T>(self.operator.shape(), &Numbers { found, inner, size, of, x, ax, y, count })
    }

    /// Compares the product A X that is kept with one more, A^H Y for Y = A X, so that <Y, A X> is ||A X||^2. The means are
    /// subtracted from A X.
    fn confirm(&mut self) -> Result<()> {
        let (rows, columns) = self.operator.shape();
        let (budget, center) = (self.context.host_budget(), self.center);
        let Some(kept) = self.kept.as_mut().filter(|kept| kept.op == Op::Plain) else { return Ok(()) };
        if center == Center::Rows {
            // A X less the means of the rows is the product with X less its mean.
            let x = kept.long.slice_mut()?;
            let unit = unit_of(x);
            let mean = mean_of(x, unit);
            x.iter_mut().for_each(|x| *x = shifted(*x, unit, mean, unit));
            self.operator.apply(Op::Plain, kept.long.slice()?, 1, kept.tall.slice_mut()?)?;
            kept.norms[0] = norm(kept.long.slice()?);
        }
        let (x, ax) = (kept.long.slice()?, kept.tall.slice()?);
        let [_, ax_before, less_means_before] = kept.norms;
        // The sum of several products may be longer than any of them.
        let (ax_norm, ax_less_means, of) = match center {
            Center::None => (norm(ax), norm(ax).max(ax_before), "||Y|| ||A X||"),
            Center::Columns => {
                let less_mean = norm_less_mean(center, ax);
                (less_mean, less_mean.max(less_means_before), "||Y|| ||A X - means||")
            }
            Center::Rows => (norm(ax), norm(ax), "||Y|| ||A X - means||"),
        };
        if !(ax_norm > 0.0 && ax_norm.is_finite()) {
            return Ok(());
        }
        let unit = unit_of(ax);
        let mean = if center == Center::Columns { mean_of(ax, unit) } else { [0.0; 2] };
        let mut y = CpuMatrix::<T>::zeros("vector of a test", rows, 1, budget)?;
        let length = unit / power_of_two(ax_norm);
        y.slice_mut()?.iter_mut().zip(ax).for_each(|(y, ax)| *y = shifted(*ax, unit, mean, length));
        let y = y.slice()?;
        let mut product = CpuMatrix::<T>::zeros("product of a test", columns, 1, budget)?;
        self.operator.apply(Op::Adjoint, y, 1, product.slice_mut()?)?;
        let (of_long, of_tall) = (dot(x, product.slice()?), dot(ax, y));
        let y = norm(y);
        let numbers = Numbers {
            found: modulus(of_long - of_tall),
            inner: y * ax_norm,
            size: y * ax_less_means,
            of,
            x: kept.norms[0],
            ax: ax_before.max(norm(ax)),
            y,
            count: 1,
        };
        adjoint::expect_equal::<T>((rows, columns), &numbers).map(|_| ())
    }

    /// Keeps a vector and its product, if they test more than those that are kept.
    fn keep(&mut self, op: Op, from: &[T], to: &[T], count: usize) -> Result<()> {
        let is_better = self.kept.as_ref().is_none_or(|kept| match (kept.op, op) {
            (Op::Plain, Op::Adjoint) => false,
            (Op::Adjoint, Op::Plain) => true,
            _ => count > kept.count,
        });
        if !is_better {
            return Ok(());
        }
        let (rows, columns) = self.operator.shape();
        let budget = self.context.host_budget();
        let (mut long, mut tall) = match self.kept.take() {
            Some(kept) => (kept.long, kept.tall),
            None => (
                CpuMatrix::zeros("vector of a test", columns, 1, budget)?,
                CpuMatrix::zeros("vector of a test", rows, 1, budget)?,
            ),
        };
        let (all_long, all_tall) = if op == Op::Plain { (from, to) } else { (to, from) };
        sum(self.context, all_long, long.slice_mut()?, count);
        sum(self.context, all_tall, tall.slice_mut()?, count);
        let root = (count as f64).sqrt();
        let mut norms = alloc::filled("norms of products", count, [0.0f64; 3])?;
        let center = self.center;
        self.context.pool().run(|| {
            let vectors = from.par_chunks_exact(from.len() / count).zip(to.par_chunks_exact(to.len() / count));
            norms.par_iter_mut().zip(vectors).for_each(|(norms, (from, to))| {
                *norms = [norm(from), norm(to), norm_less_mean(center, to)];
            });
        });
        let norms = [0, 1, 2].map(|i| norms.iter().fold(0.0, |all: f64, of| all.hypot(of[i])) / root);
        self.kept = Some(Kept { op, count, long, tall, norms });
        Ok(())
    }
}

impl<T: Scalar> Operator<T> for Tested<'_, T> {
    fn shape(&self) -> (usize, usize) {
        self.operator.shape()
    }

    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        self.operator.apply(op, x, count, y)?;
        if x.is_empty() || y.is_empty() {
            return Ok(());
        }
        let power = self.compare(op, x, y, count)?;
        if power == Power::Low && op == Op::Adjoint && !self.is_tested {
            self.confirm()?;
            self.is_tested = true;
        }
        self.is_tested |= power == Power::Full;
        self.keep(op, x, y, count)
    }
}

/// The sum of `count` vectors, each over the root of their number.
fn sum<T: Scalar>(context: &Context, vectors: &[T], to: &mut [T], count: usize) {
    const PIECE: usize = 1 << 12;
    let (share, length) = (1.0 / (count as f64).sqrt(), to.len());
    let entry = |i: usize| {
        let (mut re, mut im) = (0.0, 0.0);
        for x in vectors.iter().skip(i).step_by(length) {
            re += share * x.re();
            im += share * x.im();
        }
        T::from_parts(re, im)
    };
    context.pool().run(|| {
        to.par_chunks_mut(PIECE).enumerate().for_each(|(piece, to)| {
            to.iter_mut().enumerate().for_each(|(i, to)| *to = entry(piece * PIECE + i));
        });
    });
}

/// The norm of a product less the mean of its entries, where means are subtracted; else 0, which nothing reads.
fn norm_less_mean<T: Scalar>(center: Center, values: &[T]) -> f64 {
    if center == Center::None {
        return 0.0;
    }
    let unit = unit_of(values);
    norm_from(values, mean_of(values, unit), unit)
}

/// The parts of the mean of `values`, in the unit.
fn mean_of<T: Scalar>(values: &[T], unit: f64) -> [f64; 2] {
    let share = 1.0 / values.len() as f64;
    values.iter().fold([0.0; 2], |[re, im], x| [re + x.re() / unit * share, im + x.im() / unit * share])
}

/// A number less a mean that is given in the unit, in units of `of`.
fn shifted<T: Scalar>(x: T, unit: f64, [re, im]: [f64; 2], of: f64) -> T {
    T::from_parts((x.re() / unit - re) * of, (x.im() / unit - im) * of)
}

/// The sum of the entries in double precision.
fn sum_of<T: Scalar>(values: &[T]) -> T::Wide {
    values.iter().fold(T::Wide::default(), |all, x| all + x.widen())
}

/// The part of a product x^H y that the means make: the `sum` of x, conjugated, times the mean of y.
fn product_of_means<T: Scalar>(sum: T::Wide, y: &[T]) -> T::Wide {
    (sum.conjugate() * sum_of(y)).scaled(1.0 / y.len() as f64)
}
