//! Whether a caller's functions multiply by the adjoint of what they multiply by.
//!
//! A wrong adjoint spoils singular values without a trace: the methods find those of a mixture of both matrices. Y^H (A X) =
//! (A^H Y)^H X holds in exact arithmetic for any X and Y. A run multiplies A by random vectors X first, to estimate its
//! norm, so that one of them tests each later product A^H Y without a product of its own.

use std::sync::Arc;

use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::Op;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::{Error, Result};
use crate::matrix::Operator;
use crate::rsvd::data::Center;
use crate::scalar::{DType, Scalar, power_of_two};

/// Partial sums of a dot product, which the processor adds up side by side.
const LANES: usize = 8;

/// An operator of the caller's. Each product with its adjoint is compared with a product A X from before, and the first
/// product A X with one by the adjoint, if means were found by that.
pub struct Tested<'a, T: Scalar> {
    operator: &'a mut (dyn Operator<T> + 'a),
    context: &'a Arc<Context>,
    center: Center,
    kept: Option<Kept<T>>,
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

/// The differences that a right adjoint may have by rounding, in units of ||Y||_F ||A X||_F: of functions that compute in
/// the next lower precision, and of those that compute in that of the type, for `terms` rows and columns.
///
/// The next lower precision is that of TF32 and half precision for F32: 2 epsilons of half precision (2^-10) and 64 of
/// single precision (2^-23). The errors of a plain sum of n terms grow with the root of n.
pub fn limits(dtype: DType, terms: usize) -> [f64; 2] {
    let lower = if dtype.is_single() { -9f64 } else { -17f64 };
    [lower.exp2(), 16.0 * dtype.epsilon() * (terms as f64).sqrt()]
}

impl<'a, T: Scalar> Tested<'a, T> {
    /// The tested `operator`, from whose products a method subtracts the means that `center` names. Its vectors are
    /// charged to the host memory of `context`.
    pub fn new(operator: &'a mut (dyn Operator<T> + 'a), context: &'a Arc<Context>, center: Center) -> Self {
        Self { operator, context, center, kept: None }
    }

    /// Compares a product with the one that was kept of the other kind.
    fn compare(&self, op: Op, from: &[T], to: &[T], count: usize) -> Result<()> {
        let Some(kept) = self.kept.as_ref().filter(|kept| kept.op != op) else { return Ok(()) };
        let (rows, columns) = self.operator.shape();
        let (long, tall) = if op == Op::Plain { (from, to) } else { (to, from) };
        let (one_long, one_tall) = (kept.long.slice()?, kept.tall.slice()?);
        // Of each vector: the difference of the two numbers, the norms of the vector and of its product, and that of the
        // product less its mean.
        let mut found = alloc::filled("differences of products", count, [0.0f64; 4])?;
        let center = self.center;
        self.context.pool().run(|| {
            let columns = long.par_chunks_exact(columns).zip(tall.par_chunks_exact(rows));
            found.par_iter_mut().zip(columns).for_each(|(found, (long, tall))| {
                let d = dot(one_long, long) - dot(one_tall, tall);
                let (from, to) = if op == Op::Plain { (long, tall) } else { (tall, long) };
                *found = [d.re().hypot(d.im()), norm(from), norm(to), norm_less_mean(center, to)];
            });
        });
        let [found, from, to, to_less_mean] =
            [0, 1, 2, 3].map(|i| found.iter().fold(0.0, |all: f64, of| all.hypot(of[i])));
        // X, A X and Y, A^H Y; the pair that is kept is of one vector.
        let (plain, back) = match op {
            Op::Plain => ([from, to, to_less_mean], kept.norms),
            Op::Adjoint => (kept.norms, [from, to, to_less_mean]),
        };
        let [x, ax, ax_less_means] = plain;
        let [y, _, ay_less_means] = back;
        // The means are subtracted exactly, so that errors of the products are errors of what is left.
        let (size, of) = match center {
            Center::None => (y * ax, "||Y|| ||A X||"),
            Center::Columns => (y * ax_less_means, "||Y|| ||A X - means||"),
            Center::Rows => (x * ay_less_means, "||X|| ||A^H Y - means||"),
        };
        let terms = rows.saturating_add(columns);
        let [lower, own] = limits(T::DTYPE, terms);
        let limit = (lower * size).max(own * y * ax);
        let least = if T::DTYPE.is_single() { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
        // Products of entries may underflow: each loses less than the least normal number.
        let underflow = terms as f64 * least * (count as f64).sqrt() * (x + y);
        // False where a norm is not finite, which the caller of the product refuses or repeats with a factor.
        if found.is_finite() && found > limit + underflow {
            let problem = format!(
                "adjoint is not that of A: |<Y, A X> - <A^H Y, X>| is {:.1e} of {of} for a random X, at most {:.1e} is \
                 rounding",
                found / size,
                limit / size
            );
            return Err(Error::invalid("a", problem));
        }
        Ok(())
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
        let length = to.len() / count;
        let less_means = to.chunks_exact(length).fold(0.0, |all: f64, to| all.hypot(norm_less_mean(self.center, to)));
        let norms = [norm(from), norm(to), less_means].map(|norm| norm / root);
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
        self.compare(op, x, y, count)?;
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

/// x^H y, summed in double precision.
fn dot<T: Scalar>(x: &[T], y: &[T]) -> T::Wide {
    let mut sums = [T::Wide::default(); LANES];
    for (x, y) in x.chunks(LANES).zip(y.chunks(LANES)) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x.conjugate().widen() * y.widen();
        }
    }
    sums.into_iter().fold(T::Wide::default(), |all, sum| all + sum)
}

/// The Frobenius norm. No square overflows or underflows but for those that do not count.
fn norm<T: Scalar>(values: &[T]) -> f64 {
    norm_from(values, [0.0; 2], unit_of(values))
}

/// The power of two by which the largest of `values` is divided before it is squared.
fn unit_of<T: Scalar>(values: &[T]) -> f64 {
    power_of_two(values.iter().fold(0.0f64, |most, x| most.max(x.re().abs()).max(x.im().abs())))
}

/// The norm of `values` less one number, whose parts are given in the unit.
fn norm_from<T: Scalar>(values: &[T], [re, im]: [f64; 2], unit: f64) -> f64 {
    let squares: f64 = values.iter().map(|x| (x.re() / unit - re).powi(2) + (x.im() / unit - im).powi(2)).sum();
    squares.sqrt() * unit
}

/// The norm of a product less the mean of its entries, where means are subtracted; else 0, which nothing reads.
fn norm_less_mean<T: Scalar>(center: Center, values: &[T]) -> f64 {
    if center == Center::None {
        return 0.0;
    }
    let (unit, share) = (unit_of(values), 1.0 / values.len() as f64);
    let mean = values.iter().fold([0.0; 2], |[re, im], x| [re + x.re() / unit * share, im + x.im() / unit * share]);
    norm_from(values, mean, unit)
}
