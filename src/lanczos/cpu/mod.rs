//! Krylov spaces in host memory.
//!
//! Sums over rows are cut into pieces that depend on the number of rows alone and added in order, so that results do not
//! depend on the number of threads.

use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::krylov::{Krylov, Projection};
use super::operator::Symmetric;
use crate::alloc;
use crate::backend::memory::{Charge, HostMemory};
use crate::context::Context;
use crate::dense::cpu::matrix::split_rows;
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::Result;
use crate::rng;
use crate::scalar::Scalar;
use crate::shape::{product, to_u64};

const WHAT: &str = "Krylov space";

/// Rows of a piece: a piece of some dozen columns stays in a core's cache from one product to the next.
const PIECE: usize = 2048;

/// Columns of numbers on the host, and an operator.
pub struct CpuKrylov<'o, 'a, T: Scalar> {
    context: Arc<Context>,
    operator: &'o mut Symmetric<'a, T>,
    n: usize,
    memory: HostMemory,
    _charge: Charge,
}

impl<'o, 'a, T: Scalar> CpuKrylov<'o, 'a, T> {
    /// Room for `columns` vectors.
    ///
    /// # Errors
    /// Out of memory, the context's limit included.
    pub fn new(context: &Arc<Context>, operator: &'o mut Symmetric<'a, T>, columns: usize) -> Result<Self> {
        let n = operator.order();
        let bytes = product(WHAT, product(WHAT, n, columns)?, size_of::<T>())?;
        let memory = HostMemory::allocate(WHAT, bytes, context.host_budget())?;
        // Coefficients of every piece, and a piece turned.
        let partial = n.div_ceil(PIECE).max(1) * columns + PIECE * columns * context.pool().threads();
        let _charge = context.host_budget().charge_host(WHAT, partial * size_of::<T>())?;
        Ok(Self { context: Arc::clone(context), operator, n, memory, _charge })
    }

    /// A column.
    pub fn column(&self, j: usize) -> Result<&[T]> {
        Ok(&self.memory.as_slice::<T>()?[j * self.n..(j + 1) * self.n])
    }

    /// A column, to write to.
    pub fn column_mut(&mut self, j: usize) -> Result<&mut [T]> {
        let n = self.n;
        Ok(&mut self.memory.as_mut_slice::<T>()?[j * n..(j + 1) * n])
    }

    /// Two different columns: one to read, one to write.
    fn pair(&mut self, from: usize, to: usize) -> Result<(&[T], &mut [T], &mut Symmetric<'a, T>)> {
        let n = self.n;
        let all = self.memory.as_mut_slice::<T>()?;
        let (x, y) = if from < to {
            let (low, high) = all.split_at_mut(to * n);
            (&low[from * n..(from + 1) * n], &mut high[..n])
        } else {
            let (low, high) = all.split_at_mut(from * n);
            (&high[..n], &mut low[to * n..(to + 1) * n])
        };
        Ok((x, y, self.operator))
    }
}

/// Sum of the squares of the moduli.
fn squares<T: Scalar>(v: &[T]) -> f64 {
    v.iter().map(|x| x.re() * x.re() + x.im() * x.im()).sum()
}

/// The sum over pieces of what `of` makes of each piece of `v`, `first` being the piece's first row.
fn sum<T: Scalar>(context: &Context, v: &[T], of: impl Fn(usize, &[T]) -> f64 + Sync) -> f64 {
    let pieces: Vec<f64> =
        context.pool().run(|| v.par_chunks(PIECE).enumerate().map(|(i, piece)| of(i * PIECE, piece)).collect());
    pieces.iter().sum()
}

/// Partial coefficients of a vector, a column a piece.
struct Coefficients<T> {
    count: usize,
    partial: Vec<T>,
}

impl<T: Scalar> Coefficients<T> {
    fn new(n: usize, count: usize) -> Result<Self> {
        Ok(Self { count, partial: alloc::filled(WHAT, n.div_ceil(PIECE).max(1) * count, T::default())? })
    }

    /// The sums over the pieces, in order.
    fn total(&self) -> Result<Vec<T>> {
        let mut total = alloc::filled(WHAT, self.count, T::Wide::from_parts(0.0, 0.0))?;
        for piece in self.partial.chunks_exact(self.count.max(1)) {
            total.iter_mut().zip(piece).for_each(|(t, p)| *t += p.widen());
        }
        let mut out = alloc::with_capacity(WHAT, self.count)?;
        out.extend(total.into_iter().map(T::narrow));
        Ok(out)
    }
}

/// w -= V h where there is an `h`, then the coefficients V^H w of each piece where `into` wants them; the sum of squares
/// of w before and after.
fn project<T: Scalar>(
    context: &Context,
    v: MatRef<'_, T>,
    w: &mut [T],
    h: Option<&[T]>,
    into: Option<&mut Coefficients<T>>,
) -> (f64, f64) {
    let count = v.ncols();
    let one = T::from_parts(1.0, 0.0);
    let mut nothing = Vec::new();
    let partial = into.map_or(&mut nothing, |c| &mut c.partial);
    let work = |first: usize, w: &mut [T], out: &mut [T]| {
        let v = v.subrows(first, w.len());
        let before = squares(w);
        if let Some(h) = h {
            let h = MatRef::from_column_major_slice(h, count, 1);
            let rows = w.len();
            matmul(
                MatMut::from_column_major_slice_mut(w, rows, 1),
                Accum::Add,
                v,
                h,
                T::from_parts(-1.0, 0.0),
                Par::Seq,
            );
        }
        if !out.is_empty() {
            let w = MatRef::from_column_major_slice(&*w, w.len(), 1);
            let out = MatMut::from_column_major_slice_mut(out, count, 1);
            matmul(out, Accum::Replace, v.adjoint(), w, one, Par::Seq);
        }
        (before, squares(w))
    };
    let pieces: Vec<(f64, f64)> = context.pool().run(|| {
        let rows = w.par_chunks_mut(PIECE).enumerate();
        if partial.is_empty() {
            rows.map(|(i, w)| work(i * PIECE, w, &mut [])).collect()
        } else {
            rows.zip(partial.par_chunks_mut(count)).map(|((i, w), out)| work(i * PIECE, w, out)).collect()
        }
    });
    pieces.iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d))
}

impl<T: Scalar> Krylov for CpuKrylov<'_, '_, T> {
    fn order(&self) -> usize {
        self.n
    }

    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()> {
        let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: rng::stream::LANCZOS };
        let context = Arc::clone(&self.context);
        let column = self.column_mut(to)?;
        context.pool().run(|| {
            column.par_chunks_mut(PIECE).enumerate().for_each(|(i, piece)| {
                sketch.fill_column(to_u64(i * PIECE), vector, piece);
            });
        });
        Ok(())
    }

    fn apply(&mut self, from: usize, to: usize) -> Result<()> {
        let (x, y, operator) = self.pair(from, to)?;
        operator.apply(x, y)
    }

    fn orthogonalise(&mut self, count: usize, column: usize) -> Result<Projection> {
        let n = self.n;
        let context = Arc::clone(&self.context);
        let (low, high) = self.memory.as_mut_slice::<T>()?.split_at_mut(column * n);
        let v = MatRef::from_column_major_slice(&low[..count * n], n, count);
        let w = &mut high[..n];
        if count == 0 {
            let norm = project(&context, v, w, None, None).1.sqrt();
            return Ok(Projection { along: 0.0, before: norm, after: norm });
        }
        let mut coefficients = Coefficients::new(n, count)?;
        // Three readings of the space for two passes: the second's coefficients are formed while the first is taken away.
        let before = project(&context, v, w, None, Some(&mut coefficients)).0;
        let first = coefficients.total()?;
        project(&context, v, w, Some(&first), Some(&mut coefficients));
        let second = coefficients.total()?;
        let after = project(&context, v, w, Some(&second), None).1;
        let along = first[count - 1].re() + second[count - 1].re();
        Ok(Projection { along, before: before.sqrt(), after: after.sqrt() })
    }

    fn three_term(&mut self, u: Option<(usize, f64)>, v: usize, w: usize) -> Result<(f64, f64)> {
        self.apply(v, w)?;
        let context = Arc::clone(&self.context);
        let minus = |context: &Context, from: &[T], factor: f64, to: &mut [T]| {
            let factor = T::from_parts(-factor, 0.0);
            context.pool().run(|| {
                to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).for_each(|(to, from)| {
                    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * *from);
                });
            });
        };
        if let Some((u, beta)) = u {
            let (from, to, _) = self.pair(u, w)?;
            minus(&context, from, beta, to);
        }
        let (from, to, _) = self.pair(v, w)?;
        let alpha = sum(&context, to, |first, piece| {
            let dot = |(w, v): (&T, &T)| w.re() * v.re() + w.im() * v.im();
            piece.iter().zip(&from[first..]).map(dot).sum()
        });
        minus(&context, from, alpha, to);
        Ok((alpha, sum(&context, to, |_, piece| squares(piece)).sqrt()))
    }

    fn scale(&mut self, column: usize, factor: f64) -> Result<()> {
        let context = Arc::clone(&self.context);
        let factor = T::from_parts(factor, 0.0);
        let column = self.column_mut(column)?;
        context.pool().run(|| {
            column.par_chunks_mut(PIECE).for_each(|piece| piece.iter_mut().for_each(|x| *x = factor * *x));
        });
        Ok(())
    }

    fn copy(&mut self, from: usize, to: usize) -> Result<()> {
        if from != to {
            let (x, y, _) = self.pair(from, to)?;
            y.copy_from_slice(x);
        }
        Ok(())
    }

    fn rotate(&mut self, first: usize, m: usize, y: &[f64], l: usize) -> Result<()> {
        let n = self.n;
        let context = Arc::clone(&self.context);
        let mut turn = alloc::with_capacity(WHAT, y.len())?;
        turn.extend(y.iter().map(|v| T::from_parts(*v, 0.0)));
        let turn = MatRef::from_column_major_slice(&turn[..m * l], m, l);
        let columns = &mut self.memory.as_mut_slice::<T>()?[first * n..(first + m) * n];
        let parts = split_rows(MatMut::from_column_major_slice_mut(columns, n, m), PIECE);
        context.pool().run(|| {
            parts.into_par_iter().try_for_each(|mut part| -> Result<()> {
                let rows = part.nrows();
                let mut room = alloc::filled(WHAT, rows * l, T::default())?;
                let mut turned = MatMut::from_column_major_slice_mut(&mut room, rows, l);
                matmul(turned.as_mut(), Accum::Replace, part.as_ref(), turn, T::from_parts(1.0, 0.0), Par::Seq);
                part.as_mut().subcols_mut(0, l).copy_from(turned);
                Ok(())
            })
        })
    }

    fn distance(&mut self, w: usize, lambda: f64, x: usize) -> Result<f64> {
        let context = Arc::clone(&self.context);
        let lambda = T::from_parts(lambda, 0.0);
        let (w, x) = (self.column(w)?, self.column(x)?);
        let total = sum(&context, w, |first, piece| {
            piece
                .iter()
                .zip(&x[first..])
                .map(|(w, x)| {
                    let d = *w - lambda * *x;
                    d.re() * d.re() + d.im() * d.im()
                })
                .sum()
        });
        Ok(total.sqrt())
    }
}
