//! The terms of a graph's operator beside its matrix, which are computed from row sums.
//!
//! No operator is formed. A product is one product with W, whose rows and columns may be scaled, and whose row sums are
//! combined with a diagonal. The modularity also needs a product with a matrix of rank one.

use super::kind::Kind;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::choice::word;
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::instances::compiled_here;
use crate::matrix::Matrix;
use crate::matrix::sparse::{entry_not_finite, first_not_finite};
use crate::scalar::{Real, Scalar};

const WHAT: &str = "degrees of a graph";

/// Numbers in one piece of a sum.
const PIECE: usize = 2048;

/// Fewest pieces for a thread.
const LIGHT: usize = 8;

/// The operator sign R W S + diag(d) - (degrees degrees^T) inverse.
pub struct Terms<P> {
    /// Factor of the first term, 1 or -1.
    pub sign: f64,
    /// The factors of rows (R), columns (S) or both of W.
    pub scale: Option<Vec<P>>,
    /// Whether `scale` applies to rows, and whether to columns.
    pub(crate) sides: (bool, bool),
    /// Numbers d of the rows; `None` for zeros.
    pub diagonal: Option<Vec<P>>,
    /// The degrees over a power of two p, and `inverse`, p^2 over their sum; for the modularity.
    pub rank_one: Option<(Vec<P>, f64)>,
}

/// The power of two p for which numbers of the size `most` over p neither overflow in a sum nor are so small that 1 over
/// them does: 1 for all but the ends of double precision, so that other numbers keep their digits.
fn range_factor(most: f64) -> f64 {
    const END: f64 = 512.0;
    let exponent = if most > 0.0 { most.log2().floor() } else { 0.0 };
    (exponent - exponent.clamp(-END, END)).exp2()
}

/// Refuses row sums that are not finite. Errors name the argument `a` and row i as `row_of(i)`; `matrix` has the entries, if
/// they are stored.
///
/// # Errors
/// [`Error::InvalidArgument`] for an entry that is NaN or infinite; [`Error::Numerical`] for a sum that overflows. For
/// a matrix whose entries cannot be read here, an infinite entry is [`Error::Numerical`], too.
pub fn expect_finite_sums(
    a: &str,
    degrees: &[f64],
    matrix: Option<&Matrix>,
    row_of: impl Fn(usize) -> usize,
) -> Result<()> {
    let Some(i) = degrees.iter().position(|d| !d.is_finite()) else { return Ok(()) };
    if let Some(error) = matrix.and_then(|matrix| entry_not_finite(a, matrix)) {
        return Err(error);
    }
    let problem = format!("has row sum {} in row {} (from 0)", degrees[i], row_of(i));
    // Finite entries give no NaN: a sum that has overflowed stays infinite.
    let why = match matrix.map(first_not_finite) {
        _ if degrees[i].is_nan() => return Err(Error::invalid(a, problem)),
        Some(Ok(None)) => "the sum of its entries overflows",
        _ => "the sum of its entries overflows, or one is infinite",
    };
    Err(Error::Numerical(format!("{a}: {problem}: {why}")))
}

impl<P: Real> Terms<P> {
    /// The terms of W itself: nothing is scaled or added.
    pub fn none() -> Self {
        Self { sign: 1.0, scale: None, sides: (true, true), diagonal: None, rank_one: None }
    }

    /// The terms of `kind` from the row sums of `a`, if it is stored. Errors name row i as `row_of(i)`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for entries that are not finite; for row sums below 0, for normalized operators; for
    /// row sums whose total is not above 0, for the modularity. [`Error::Numerical`] for a row sum that overflows; for
    /// a Laplacian, a signless Laplacian and a modularity if twice a row sum, which bounds their norm, overflows; for
    /// the random-walk Laplacian if the inverse of a row sum overflows. [`Error::OutOfMemory`].
    pub fn new(kind: Kind, degrees: &[f64], a: Option<&Matrix>, row_of: impl Fn(usize) -> usize) -> Result<Self> {
        let mut made = Self::none();
        expect_finite_sums("a", degrees, a, &row_of)?;
        let parts = |of: &dyn Fn(f64) -> f64| -> Result<Vec<P>> {
            let mut parts = alloc::with_capacity(WHAT, degrees.len())?;
            parts.extend(degrees.iter().map(|d| P::from_f64(of(*d))));
            Ok(parts)
        };
        let is_of_sums = matches!(kind, Kind::Laplacian | Kind::SignlessLaplacian | Kind::Modularity);
        let doubled_overflows = |d: f64| !P::from_f64(2.0 * d).to_f64().is_finite();
        if let Some(i) = degrees.iter().position(|d| is_of_sums && doubled_overflows(*d)) {
            let (sum, row, most) = (
                real(degrees[i]),
                row_of(i),
                real(if P::EPSILON.to_f64() > 1e-10 { f64::from(f32::MAX) } else { f64::MAX } / 2.0),
            );
            return Err(Error::Numerical(format!(
                "a: has row sum {sum} in row {row} (from 0), at most {most}: products with its {} overflow",
                word(kind)
            )));
        }
        let unless_isolated = |d: f64, of: f64| if d == 0.0 { 0.0 } else { of };
        match kind {
            Kind::Matrix | Kind::Gram | Kind::OuterGram | Kind::Augmented => {}
            Kind::Laplacian | Kind::SignlessLaplacian => {
                made.diagonal = Some(parts(&|d| d)?);
                made.sign = if kind == Kind::Laplacian { -1.0 } else { 1.0 };
            }
            Kind::NormalizedLaplacian | Kind::NormalizedAdjacency | Kind::RandomWalkLaplacian => {
                if let Some(i) = degrees.iter().position(|d| *d < 0.0) {
                    let row = row_of(i);
                    let problem =
                        format!("has row sum {} in row {row} (from 0): no normalized operator", real(degrees[i]));
                    return Err(Error::invalid("a", problem));
                }
                let is_walk = kind == Kind::RandomWalkLaplacian;
                let is_beyond = |d: f64| d > 0.0 && !P::from_f64(1.0 / d).to_f64().is_finite();
                if let Some(i) = degrees.iter().position(|d| is_walk && is_beyond(*d)) {
                    let (sum, row) = (real(degrees[i]), row_of(i));
                    let problem = format!("a: has row sum {sum} in row {row} (from 0), whose inverse overflows");
                    return Err(Error::Numerical(problem));
                }
                made.scale = Some(parts(&|d| unless_isolated(d, 1.0 / if is_walk { d } else { d.sqrt() }))?);
                made.sides = (true, !is_walk);
                if kind != Kind::NormalizedAdjacency {
                    made.diagonal = Some(parts(&|d| unless_isolated(d, 1.0))?);
                    made.sign = -1.0;
                }
            }
            Kind::Modularity => {
                // d d^T / sum(d) is the same for degrees over p and p^2 / sum(d), but their total is in range.
                let most = degrees.iter().fold(0.0f64, |most, d| most.max(d.abs()));
                let scale = range_factor(most);
                let total: f64 = degrees.iter().map(|d| d / scale).sum();
                if total.is_nan() || total <= 0.0 {
                    let total = real(total * scale);
                    return Err(Error::invalid("a", format!("has entries of sum {total}: no modularity")));
                }
                made.rank_one = Some((parts(&|d| d / scale)?, scale / total));
            }
        }
        Ok(made)
    }

    /// A bound of the norm of the terms that are added to the matrix. Rounding errors of a product are relative to it
    /// even where the sum cancels.
    pub fn norm(&self) -> f64 {
        let diagonal = self.diagonal.iter().flatten().fold(0.0f64, |most, d| most.max(d.to_f64().abs()));
        let rank_one = self
            .rank_one
            .as_ref()
            .map_or(0.0, |(d, inverse)| d.iter().map(|d| d.to_f64() * (d.to_f64() * inverse)).sum::<f64>());
        diagonal + rank_one
    }

    /// Every list of numbers, so that it can be reordered.
    pub fn lists(&mut self) -> impl Iterator<Item = &mut Vec<P>> {
        let lists = [self.scale.as_mut(), self.diagonal.as_mut(), self.rank_one.as_mut().map(|r| &mut r.0)];
        lists.into_iter().flatten()
    }

    /// The factors of the rows.
    pub fn rows(&self) -> Option<&[P]> {
        self.scale.as_deref().filter(|_| self.sides.0)
    }

    /// The factors of the columns, which multiply the vector before a product.
    pub(crate) fn columns(&self) -> Option<&[P]> {
        self.scale.as_deref().filter(|_| self.sides.1)
    }
}

compiled_here! {
    /// z = s x for rows of `width` numbers.
    pub fn scaled<T: Scalar>(context: &Context, s: &[T::Part], width: usize, x: &[T], z: &mut [T]) = scaled_of;
}

fn scaled_of<T: Scalar>(context: &Context, s: &[T::Part], width: usize, x: &[T], z: &mut [T]) {
    let block = PIECE * width.max(1);
    context.pool().run_here(|| {
        let pieces = z.par_chunks_mut(block).zip(x.par_chunks(block)).zip(s.par_chunks(PIECE)).with_min_len(LIGHT);
        pieces.for_each(|((z, x), s)| {
            if width == 1 {
                z.iter_mut().zip(x).zip(s).for_each(|((z, x), s)| *z = T::from_parts(s.re(), 0.0) * *x);
                return;
            }
            for ((z, x), s) in z.chunks_exact_mut(width).zip(x.chunks_exact(width)).zip(s) {
                z.iter_mut().zip(x).for_each(|(z, x)| *z = T::from_parts(s.re(), 0.0) * *x);
            }
        });
    });
}

compiled_here! {
    /// factor d . x for one of the `width` columns of x. The order of the sum does not depend on the number of threads.
    pub fn dot<T: Scalar>(
        context: &Context,
        d: &[T::Part],
        column: (&[T], usize, usize),
        factor: f64,
    ) -> T::Wide = dot_of;
}

fn dot_of<T: Scalar>(
    context: &Context,
    d: &[T::Part],
    (x, width, column): (&[T], usize, usize),
    factor: f64,
) -> T::Wide {
    let pieces: Vec<(f64, f64)> = context.pool().run_here(|| {
        let piece = |(d, x): (&[T::Part], &[T])| {
            let add = |(re, im): (f64, f64), (d, x): (&T::Part, &[T])| {
                (re + d.re() * x[column].re(), im + d.re() * x[column].im())
            };
            d.iter().zip(x.chunks_exact(width)).fold((0.0, 0.0), add)
        };
        d.par_chunks(PIECE).zip(x.par_chunks(PIECE * width)).with_min_len(LIGHT).map(piece).collect()
    });
    let (re, im) = pieces.iter().fold((0.0, 0.0), |(re, im), (a, b)| (re + a, im + b));
    <T::Wide as Scalar>::from_parts(factor * re, factor * im)
}

compiled_here! {
    /// y += along d, for column `column` of the `width` columns of y.
    pub fn add_along<T: Scalar>(
        context: &Context,
        d: &[T::Part],
        along: T,
        column: (&mut [T], usize, usize),
    ) = add_along_of;
}

fn add_along_of<T: Scalar>(context: &Context, d: &[T::Part], along: T, (y, width, column): (&mut [T], usize, usize)) {
    context.pool().run_here(|| {
        y.par_chunks_mut(PIECE * width).zip(d.par_chunks(PIECE)).with_min_len(LIGHT).for_each(|(y, d)| {
            y.chunks_exact_mut(width).zip(d).for_each(|(y, d)| y[column] += along * T::from_parts(d.re(), 0.0));
        });
    });
}
