//! Norms of the parts of a train before and behind each value of a bond. The part before value b is the tensor of all
//! cores to the left with the bond fixed at b.
//!
//! A cheap estimate adds the squares of entries. It is exact for orthogonal parts. If parts are parallel or cancel each
//! other, each core adds an error factor, and the factors of a long train multiply. The exact norms are the diagonals
//! of the train's environments with itself. The environments are stored in units of the norms, so any magnitude fits
//! into their range.

use std::sync::Arc;

use super::powers::WHAT;
use super::prune;
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::context::Context;
use crate::dense::cpu::matrix::{pieces, split_columns};
use crate::dense::{Accum, Mat, MatMut, serial};
use crate::error::Result;
use crate::progress::CancelWatch;
use crate::scalar::Scalar;
use crate::tensor::train::{Cores, Shape};
use crate::trains::scaled::scale;

/// The logarithm of 0.
pub(super) const NONE: f64 = f64::NEG_INFINITY;
/// Marks a value of a bond without a power of two: see [`super::paths::IDLE`].
const IDLE: i64 = i64::MIN;
/// Least number of columns of a product for each thread.
const COLUMNS: usize = 32;
/// Lower bound of the square of a norm, relative to the numbers that it is computed from. Smaller squares are only
/// rounding error.
const LEAST: f64 = 1.0 / (1u128 << 96) as f64;

/// Root of a sum of squares, without overflow or underflow on the way.
#[derive(Clone, Copy, Default)]
struct Root {
    largest: f64,
    sum: f64,
}

impl Root {
    fn add(&mut self, x: f64) {
        if x > self.largest {
            self.sum = self.sum * (self.largest / x).powi(2) + 1.0;
            self.largest = x;
        } else if x > 0.0 {
            self.sum += (x / self.largest).powi(2);
        }
    }

    fn log2(self) -> f64 {
        if self.largest == 0.0 { NONE } else { self.largest.log2() + self.sum.log2() / 2.0 }
    }
}

/// The root of a sum of squares; arguments and result are logarithms to base 2.
fn root(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = logs.clone().fold(NONE, f64::max);
    if !most.is_finite() {
        return most;
    }
    most + logs.map(|log| (2.0 * (log - most)).exp2()).sum::<f64>().log2() / 2.0
}

/// Logarithms to base 2 of the norms over the middle index of each core, first bond fastest; `None` if a number is not
/// finite.
fn norms_of<T: Scalar>(cores: &Cores<'_, T>, shape: &Shape, cancel: CancelWatch<'_>) -> Result<Option<Vec<Vec<f64>>>> {
    let mut all = alloc::with_capacity(WHAT, shape.len())?;
    for k in 0..shape.len() {
        cancel.check()?;
        let [r, n, s] = shape.core(k);
        let mut roots = alloc::filled(WHAT, r * s, Root::default())?;
        let mut is_finite = true;
        for (at, column) in cores.core(k).chunks_exact(r).enumerate() {
            for (root, x) in roots[r * (at / n)..][..r].iter_mut().zip(column) {
                let (re, im) = (x.re().abs(), x.im().abs());
                is_finite &= re.is_finite() && im.is_finite();
                root.add(re);
                root.add(im);
            }
        }
        if !is_finite {
            return Ok(None);
        }
        let mut norms = alloc::with_capacity(WHAT, r * s)?;
        norms.extend(roots.iter().map(|root| root.log2()));
        all.push(norms);
    }
    Ok(Some(all))
}

/// As [`norms_of`] for the core of an operator with modes rows x columns: bounds of the spectral norms of its blocks.
/// The bounds are exact for identities and projectors, so that a long product of either changes no norm.
fn bounds_of<T: Scalar>(
    cores: &Cores<'_, T>,
    shape: &Shape,
    (rows, cols): (&[usize], &[usize]),
    cancel: CancelWatch<'_>,
) -> Result<Option<Vec<Vec<f64>>>> {
    let mut all = alloc::with_capacity(WHAT, shape.len())?;
    for k in 0..shape.len() {
        cancel.check()?;
        let ([r, _, s], m, n) = (shape.core(k), rows[k], cols[k]);
        let core = cores.core(k);
        let mut sums = alloc::filled(WHAT, m + n, 0.0f64)?;
        let mut norms = alloc::with_capacity(WHAT, r * s)?;
        for b in 0..s {
            for a in 0..r {
                sums.fill(0.0);
                for j in 0..n {
                    for i in 0..m {
                        let x = core[a + r * (i + m * (j + n * b))];
                        let size = x.re().abs().max(x.im().abs());
                        if !size.is_finite() || !(x.re() + x.im()).is_finite() && !(x.re() - x.im()).is_finite() {
                            return Ok(None);
                        }
                        sums[i] += size;
                        sums[m + j] += size;
                    }
                }
                let most = |sums: &[f64]| sums.iter().copied().fold(0.0, f64::max).log2();
                norms.push((most(&sums[..m]) + most(&sums[m..])) / 2.0);
            }
        }
        all.push(norms);
    }
    Ok(Some(all))
}

/// The cores of a train, and logarithms of the sizes of their entries.
pub(super) struct Parts<'a, T: Scalar> {
    context: &'a Arc<Context>,
    cores: &'a Cores<'a, T>,
    pub shape: &'a Shape,
    /// Sizes of entries that contribute ([`prune`]); [`NONE`] for all others.
    sizes: Vec<Vec<f64>>,
    /// Whether some nonzero entries do not contribute.
    pub has_pruned: bool,
    /// Whether sweeps compute norms instead of estimates.
    is_exact: bool,
    /// Checked at each core.
    cancel: CancelWatch<'a>,
}

impl<'a, T: Scalar> Parts<'a, T> {
    /// Prepares the sweeps that estimate norms; `None` if an entry is not finite. `matrix` has the row and column modes
    /// of an operator.
    pub(super) fn new(
        context: &'a Arc<Context>,
        cores: &'a Cores<'a, T>,
        shape: &'a Shape,
        matrix: Option<(&[usize], &[usize])>,
        cancel: CancelWatch<'a>,
    ) -> Result<Option<Self>> {
        let sizes = match matrix {
            None => norms_of(cores, shape, cancel)?,
            Some(modes) => bounds_of(cores, shape, modes, cancel)?,
        };
        let Some(mut sizes) = sizes else { return Ok(None) };
        let has_pruned = prune::prune(&mut sizes, shape)?;
        Ok(Some(Self { context, cores, shape, sizes, has_pruned, is_exact: false, cancel }))
    }

    /// The sizes of all entries, left bond fastest; [`NONE`] for entries that do not contribute.
    pub(super) fn into_sizes(self) -> Vec<Vec<f64>> {
        self.sizes
    }

    /// The same, with sweeps that compute exact norms.
    pub(super) fn exact(self) -> Self {
        Self { is_exact: true, ..self }
    }

    /// Sweeps over all cores, from the left or (`mirrored`) from the right. `from` has the logarithms of the norms at
    /// the first bond. Calls `each` with every later bond and the logarithms of the norms there.
    pub(super) fn sweep(&self, from: &[f64], mirrored: bool, mut each: impl FnMut(usize, &[f64])) -> Result<()> {
        let d = self.shape.len();
        let vector = || alloc::filled(WHAT, self.shape.max_rank(), NONE);
        let (mut now, mut next) = (vector()?, vector()?);
        now[..from.len()].copy_from_slice(from);
        let mut grams = if self.is_exact { Some(Grams::<T::Wide>::new(self.shape, from)?) } else { None };
        for at in 0..d {
            self.cancel.check()?;
            let k = if mirrored { d - 1 - at } else { at };
            let [r, _, s] = self.shape.core(k);
            let (before, after) = if mirrored { (s, r) } else { (r, s) };
            let norms = &self.sizes[k];
            let (now_k, next_k) = (&now[..before], &mut next[..after]);
            if mirrored {
                for (a, to) in next_k.iter_mut().enumerate() {
                    *to = root(now_k.iter().enumerate().map(|(b, from)| norms[a + r * b] + from));
                }
            } else {
                for (column, to) in norms.chunks_exact(r).zip(next_k.iter_mut()) {
                    *to = root(column.iter().zip(now_k).map(|(norm, from)| norm + from));
                }
            }
            if let Some(grams) = &mut grams {
                grams.step(self.context, (self.cores.core(k), norms), self.shape.core(k), mirrored, next_k)?;
            }
            each(if mirrored { k } else { k + 1 }, next_k);
            std::mem::swap(&mut now, &mut next);
        }
        Ok(())
    }
}

/// Gram matrix of the parts at a bond. Entry (a, b) is in units of 2^(powers\[a\] + powers\[b\]).
struct Grams<W> {
    products: Vec<W>,
    powers: Vec<i64>,
    core: Vec<W>,
    made: Vec<W>,
}

fn power_of(log: f64) -> i64 {
    if log.is_finite() { log.round() as i64 } else { IDLE }
}

impl<W: Scalar> Grams<W> {
    /// A diagonal Gram matrix with the norms `from`.
    fn new(shape: &Shape, from: &[f64]) -> Result<Self> {
        let widest = (0..shape.len()).map(|k| shape.core_len(k)).max().unwrap_or(0);
        let zeros = |n: usize| alloc::filled(WHAT, n, W::default());
        let mut powers = alloc::with_capacity(WHAT, shape.max_rank())?;
        powers.extend(from.iter().map(|log| power_of(*log)));
        let mut products = zeros(shape.max_rank() * shape.max_rank())?;
        for (a, (log, power)) in from.iter().zip(&powers).enumerate() {
            let rest = if *power == IDLE { 0.0 } else { (2.0 * (log - *power as f64)).exp2() };
            products[a + from.len() * a] = W::from_parts(rest, 0.0);
        }
        Ok(Self { products, powers, core: zeros(widest)?, made: zeros(widest)? })
    }

    /// Multiplies by a core from both sides. `norms` is [`NONE`] for entries that do not contribute. `sizes` has the
    /// estimates at the next bond; they are replaced by norms.
    fn step<T: Scalar<Wide = W>>(
        &mut self,
        context: &Context,
        (core, norms): (&[T], &[f64]),
        [r, n, s]: [usize; 3],
        mirrored: bool,
        sizes: &mut [f64],
    ) -> Result<()> {
        let mut after = alloc::with_capacity(WHAT, sizes.len())?;
        after.extend(sizes.iter().map(|log| power_of(*log)));
        let (from, powers) = (&self.powers, &after);
        let x = &mut self.core[..r * n * s];
        for (at, (to, x)) in x.iter_mut().zip(core).enumerate() {
            let (a, b) = (at % r, at / (r * n));
            let (near, far) = if mirrored { (from[b], powers[a]) } else { (from[a], powers[b]) };
            *to = if near == IDLE || far == IDLE || norms[a + r * b] == NONE {
                W::default()
            } else {
                W::from_parts(scale(x.re(), near - far), scale(x.im(), near - far))
            };
        }
        let (made, products) = (&mut self.made[..r * n * s], &mut self.products);
        let (wide, tall) = (Mat::from_columns(x, r, n * s), Mat::from_columns(x, r * n, s));
        let count = sizes.len();
        context.pool().run(|| {
            if mirrored {
                let e = Mat::from_columns(&products[..s * s], s, s);
                multiply(tall, e, MatMut::from_columns(made, r * n, s));
                let v = Mat::from_columns(made, r, n * s);
                let to = MatMut::from_columns(&mut products[..r * r], r, r);
                multiply(v, wide.adjoint(), to);
            } else {
                let e = Mat::from_columns(&products[..r * r], r, r);
                multiply(e, wide, MatMut::from_columns(made, r, n * s));
                let v = Mat::from_columns(made, r * n, s);
                let to = MatMut::from_columns(&mut products[..s * s], s, s);
                multiply(tall.adjoint(), v, to);
            }
        });
        let products = &mut products[..count * count];
        for (b, (size, power)) in sizes.iter_mut().zip(&mut after).enumerate() {
            if *power != IDLE {
                *size = *power as f64 + products[b + count * b].re().max(LEAST).log2() / 2.0;
            }
        }
        // Convert the products to the new units.
        self.powers.clear();
        self.powers.extend(sizes.iter().map(|size| power_of(*size)));
        let by = |a: usize| if after[a] == IDLE { 0 } else { after[a] - self.powers[a] };
        for (at, x) in products.iter_mut().enumerate() {
            let shift = by(at % count) + by(at / count);
            *x = W::from_parts(scale(x.re(), shift), scale(x.im(), shift));
        }
        Ok(())
    }
}

/// C = A B by all threads, in blocks of columns.
fn multiply<W: Scalar>(a: Mat<'_, W>, b: Mat<'_, W>, c: MatMut<'_, W>) {
    let band = pieces(c.cols(), COLUMNS);
    split_columns(c, band).into_par_iter().enumerate().for_each(|(at, c)| {
        let b = b.subcols(at * band, c.cols());
        serial::multiply(c, Accum::Replace, a, b, W::from_parts(1.0, 0.0));
    });
}
