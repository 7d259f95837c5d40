//! Singular values of sparse matrices and of those known by their products.

use std::sync::Arc;

use super::info::Info;
use super::operator::{Kind, Symmetric};
use super::options::{Options, Which};
use super::solve::{Given, eigenpairs};
use crate::alloc;
use crate::choice::numbered;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::scalar::{Real, Scalar};

const WHAT: &str = "singular vectors";

/// The Hermitian operator whose eigenpairs singular triplets are made of. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Through {
    /// A^H A or A A^H, the smaller: small vectors, and values accurate to eps ||A||^2 / s.
    Gram = 0,
    /// [0 A; A^H 0]: vectors of both sizes together, and every value accurate to eps ||A||.
    Augmented = 1,
}

numbered!(Through, Gram, Augmented);

/// Singular triplets A v = s u.
#[derive(Debug, Clone, PartialEq)]
pub struct Triplets<T> {
    /// Singular values, the largest (of [`Which::Smallest`] the smallest) first.
    pub values: Vec<f64>,
    /// u, rows-by-k, column-major; of norm 1, or 0 where the value is nothing but rounding.
    pub left: Vec<T>,
    /// v, cols-by-k, column-major; as u.
    pub right: Vec<T>,
    /// The larger of ||A v - s u|| and ||A^H u - s v|| of each.
    pub residuals: Vec<f64>,
    /// Figures of the solve; a product is one with the Hermitian operator.
    pub info: Info,
}

/// The k largest singular triplets of a matrix, or with [`Which::Smallest`] the smallest, by the eigenpairs of an operator
/// that is not formed. `options` say how; `which` is [`Which::Largest`] or [`Which::Smallest`].
///
/// # Errors
/// [`Error::InvalidArgument`] for another `which`, or more values than the matrix has; [`Error::NotSupported`] for the
/// smallest through [`Through::Augmented`], where they lie in the middle of the spectrum; else as [`eigenpairs`].
pub fn singular_triplets<T: Scalar>(
    context: &Arc<Context>,
    a: &Matrix,
    through: Through,
    options: &Options,
    progress: &Progress<'_>,
) -> Result<Triplets<T>> {
    let (rows, cols) = (a.rows(), a.cols());
    if !matches!(options.which, Which::Largest | Which::Smallest) {
        return Err(Error::invalid("which", format!("is {:?}, Largest or Smallest is needed", options.which)));
    }
    if options.count > rows.min(cols) {
        let problem = format!("is {}, outside 1 to {}", options.count, rows.min(cols));
        return Err(Error::invalid("count", problem));
    }
    let kind = match through {
        Through::Augmented if options.which == Which::Smallest => {
            let problem = "which: the smallest singular values through the augmented matrix, Gram is needed";
            return Err(Error::NotSupported(problem.into()));
        }
        Through::Augmented => Kind::Augmented,
        Through::Gram if cols <= rows => Kind::Gram,
        Through::Gram => Kind::OuterGram,
    };
    let mut operator = Symmetric::<T>::new(context, a, kind, 0.0)?;
    let pairs = eigenpairs(context, &mut operator, options, &Given::default(), progress)?;
    let count = pairs.values.len();
    let zeros = |n: usize| alloc::filled(WHAT, n * count, T::default());
    let mut made = Triplets {
        values: alloc::with_capacity(WHAT, count)?,
        left: zeros(rows)?,
        right: zeros(cols)?,
        residuals: alloc::with_capacity(WHAT, count)?,
        info: pairs.info,
    };
    let mut image = alloc::filled(WHAT, rows.max(cols), T::default())?;
    // What a value has to exceed for its vectors to follow from it.
    let floor = T::Part::EPSILON.to_f64() * (rows + cols) as f64;
    for (i, x) in pairs.vectors.chunks_exact(operator.order()).enumerate() {
        let (u, v) = (&mut made.left[i * rows..(i + 1) * rows], &mut made.right[i * cols..(i + 1) * cols]);
        let value = match kind {
            Kind::Augmented => {
                u.copy_from_slice(&x[..rows]);
                v.copy_from_slice(&x[rows..]);
                normalise(u);
                normalise(v);
                pairs.values[i].max(0.0)
            }
            _ => {
                let (from, to, op) = match kind {
                    Kind::Gram => (&mut *v, &mut *u, crate::dense::Op::Plain),
                    _ => (&mut *u, &mut *v, crate::dense::Op::Adjoint),
                };
                from.copy_from_slice(x);
                operator.factor(op, from, to)?;
                // Norms of A v keep digits that the root of an eigenvalue has lost.
                let value = normalise(to);
                if value <= floor * pairs.info.norm.sqrt() {
                    to.fill(T::default());
                }
                value
            }
        };
        operator.factor(crate::dense::Op::Plain, v, &mut image[..rows])?;
        let one = distance(&image[..rows], value, u);
        operator.factor(crate::dense::Op::Adjoint, u, &mut image[..cols])?;
        made.residuals.push(one.max(distance(&image[..cols], value, v)));
        made.values.push(value);
    }
    Ok(made)
}

/// Divides a vector by its norm, which it returns.
fn normalise<T: Scalar>(x: &mut [T]) -> f64 {
    let norm = distance(x, 0.0, x);
    if norm > 0.0 {
        let inverse = T::from_parts(1.0 / norm, 0.0);
        x.iter_mut().for_each(|x| *x = inverse * *x);
    }
    norm
}

/// ||x - s y||.
fn distance<T: Scalar>(x: &[T], s: f64, y: &[T]) -> f64 {
    let s = T::from_parts(s, 0.0);
    let square = |(x, y): (&T, &T)| {
        let d = *x - s * *y;
        d.re() * d.re() + d.im() * d.im()
    };
    x.iter().zip(y).map(square).sum::<f64>().sqrt()
}
