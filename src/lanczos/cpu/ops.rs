//! The operations of a Krylov space on the host. Its loops are those of the methods.

use std::sync::Arc;

use super::space::{CpuKrylov, WHAT};
use super::sums::{Coefficients, add, project, sum};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use crate::dense::cpu::matrix::split_rows;
use crate::dense::cpu::sums::{dot, squares};
use crate::dense::serial::multiply;
use crate::dense::sketch::{Distribution, Sketch};
use crate::dense::{Accum, Mat, MatMut};
use crate::error::{Error, Result};
use crate::lanczos::cycles::Cycles;
use crate::lanczos::ops::{Affine, LIGHT, LanczosOps, PIECE, Projection, product_less};
use crate::rng;
use crate::scalar::{Real, Scalar, is_finite};
use crate::shape::to_u64;
use crate::spmv::renumber::Direction;

/// If the component along the space after one pass is at most this, in units of the roundoff, there is no second pass.
const SPARED: f64 = 32.0;

impl<T: Scalar> LanczosOps for CpuKrylov<'_, '_, '_, T> {
    type Number = T;

    fn order(&self) -> usize {
        self.n
    }

    fn terms_norm(&self) -> f64 {
        self.terms_norm
    }

    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()> {
        let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: rng::stream::LANCZOS };
        let context = Arc::clone(&self.context);
        let fill = |first: usize, column: &mut [T]| {
            context.pool().run_here(|| {
                column.par_chunks_mut(PIECE).enumerate().for_each(|(i, piece)| {
                    sketch.fill_column(to_u64(first + i * PIECE), vector, piece);
                });
            });
        };
        if let Some(own) = self.operator.rows() {
            let mut left = self.column_mut(to)?;
            for rows in own {
                let (column, rest) = left.split_at_mut(rows.len());
                fill(rows.start, column);
                left = rest;
            }
            return Ok(());
        }
        if self.operator.renumbering().is_none() {
            fill(0, self.column_mut(to)?);
            return Ok(());
        }
        // Draw in the matrix's order, so that a row's number does not depend on the order of the columns.
        let mut drawn = alloc::filled(WHAT, self.n, T::default())?;
        fill(0, &mut drawn);
        self.write(&drawn, to)
    }

    fn affine(&mut self, step: Affine, from: usize, to: usize) -> Result<()> {
        let (x, y, operator) = self.pair(from, to)?;
        operator.affine(step, x, y)
    }

    fn invert(&mut self, from: usize, to: usize) -> Result<()> {
        let Some(mut inverse) = self.inverse.take() else {
            return Err(Error::NotSupported("solve: there is none".into()));
        };
        let done = if self.operator.renumbering().is_none() {
            self.pair(from, to).and_then(|(x, y, _)| inverse.apply(x, y))
        } else {
            self.invert_in_order(&mut inverse, from, to)
        };
        self.inverse = Some(inverse);
        done
    }

    fn apply_block(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        if from + count > to {
            return Err(Error::Internal(format!("products of columns {from} to {to}, {count} of them")));
        }
        let n = self.n;
        let (low, high) = self.memory.as_mut_slice::<T>()?.split_at_mut(to * n);
        self.operator.apply_block(&low[from * n..(from + count) * n], count, &mut high[..count * n])
    }

    fn orthogonalize(&mut self, count: usize, column: usize) -> Result<Projection> {
        let n = self.n;
        let context = Arc::clone(&self.context);
        let (low, high) = self.memory.as_mut_slice::<T>()?.split_at_mut(column * n);
        let (v, w) = (&low[..count * n], &mut high[..n]);
        if count == 0 {
            let norm = project(&context, v, w, None, None).1.sqrt();
            return Ok(Projection { along: 0.0, before: norm, after: norm });
        }
        let mut coefficients = Coefficients::new(n, count)?;
        // Two passes read the space three times: the second pass's coefficients are computed while the first pass's are
        // subtracted. They are the remaining components along the space. If they are close to rounding errors, the
        // third read is omitted.
        let before = project(&context, v, w, None, Some(&mut coefficients)).0;
        let first = coefficients.total()?;
        let after = project(&context, v, w, Some(&first), Some(&mut coefficients)).1;
        let second = coefficients.total()?;
        let left: f64 = second.iter().map(|h| h.re() * h.re() + h.im() * h.im()).sum();
        if left.sqrt() <= SPARED * T::Part::EPSILON.to_f64() * after.sqrt() {
            return Ok(Projection { along: first[count - 1].re(), before: before.sqrt(), after: after.sqrt() });
        }
        let after = project(&context, v, w, Some(&second), None).1;
        let along = first[count - 1].re() + second[count - 1].re();
        Ok(Projection { along, before: before.sqrt(), after: after.sqrt() })
    }

    fn project(
        &mut self,
        first: usize,
        count: usize,
        column: usize,
        width: usize,
        h: &mut [T::Wide],
    ) -> Result<Vec<f64>> {
        let n = self.n;
        let context = Arc::clone(&self.context);
        let (low, high) = self.memory.as_mut_slice::<T>()?.split_at_mut(column * n);
        let v = Mat::from_columns(&low[first * n..(first + count) * n], n, count);
        let w = &mut high[..width * n];
        let one = T::from_parts(1.0, 0.0);
        let mut coefficients = Coefficients::new(n, count * width)?;
        if count > 0 {
            let w = Mat::from_columns(&*w, n, width);
            context.pool().run_here(|| {
                coefficients.partial.par_chunks_mut(count * width).enumerate().for_each(|(i, out)| {
                    let rows = PIECE.min(n - i * PIECE);
                    let (v, w) = (v.subrows(i * PIECE, rows), w.subrows(i * PIECE, rows));
                    let out = MatMut::from_columns(out, count, width);
                    multiply(out, Accum::Replace, v.adjoint(), w, one);
                });
            });
        }
        let total = coefficients.total()?;
        h.iter_mut().zip(&total).for_each(|(h, t)| *h = t.widen());
        let total = Mat::from_columns(&total, count, width);
        let parts = split_rows(MatMut::from_columns(w, n, width), PIECE);
        let pieces: Vec<Vec<f64>> = context.pool().run_here(|| {
            let work = |(i, mut w): (usize, MatMut<'_, T>)| {
                let v = v.subrows(i * PIECE, w.rows());
                if count > 0 {
                    multiply(w.as_mut(), Accum::Add, v, total, T::from_parts(-1.0, 0.0));
                }
                let w = w.as_ref();
                (0..w.cols()).map(|j| squares(w.column(j).unwrap_or_default())).collect()
            };
            parts.into_par_iter().enumerate().map(work).collect()
        });
        let mut norms = alloc::filled(WHAT, width, 0.0f64)?;
        for piece in pieces {
            norms.iter_mut().zip(piece).for_each(|(n, p)| *n += p);
        }
        norms.iter_mut().for_each(|n| *n = n.sqrt());
        Ok(norms)
    }

    fn three_term(&mut self, u: Option<(usize, f64)>, v: usize, w: usize) -> Result<(f64, f64)> {
        let context = Arc::clone(&self.context);
        product_less(self, u, v, w)?;
        let (from, to, _) = self.pair(v, w)?;
        let alpha = sum(&context, to, |first, piece| dot(piece, &from[first..first + piece.len()]));
        let minus = T::from_parts(-alpha, 0.0);
        let pieces: Vec<f64> = context.pool().run_here(|| {
            let work = |(to, from): (&mut [T], &[T])| {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += minus * *from);
                squares(to)
            };
            to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).with_min_len(LIGHT).map(work).collect()
        });
        Ok((alpha, pieces.iter().sum::<f64>().sqrt()))
    }

    fn scale(&mut self, column: usize, factor: f64) -> Result<()> {
        let context = Arc::clone(&self.context);
        let narrow = T::from_parts(factor, 0.0);
        let column = self.column_mut(column)?;
        context.pool().run_here(|| {
            column.par_chunks_mut(PIECE).with_min_len(LIGHT).for_each(|piece| {
                if is_finite(narrow) {
                    piece.iter_mut().for_each(|x| *x = narrow * *x);
                } else {
                    // The inverse of a small norm may be beyond the type, although the unit vector is not.
                    piece.iter_mut().for_each(|x| *x = T::narrow(x.widen().scaled(factor)));
                }
            });
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

    fn spread(&mut self, from: usize, weights: &[f64], to: usize, is_added: bool) -> Result<()> {
        let context = Arc::clone(&self.context);
        for (i, &weight) in weights.iter().enumerate() {
            let (x, y, _) = self.pair(from, to + i)?;
            if !is_added {
                y.fill(T::default());
            }
            if weight != 0.0 {
                add(&context, weight, x, y);
            }
        }
        Ok(())
    }

    fn rotate(&mut self, first: usize, m: usize, y: &[T::Wide], l: usize) -> Result<()> {
        let n = self.n;
        let context = Arc::clone(&self.context);
        let mut turn = alloc::with_capacity(WHAT, y.len())?;
        turn.extend(y.iter().map(|v| T::narrow(*v)));
        let turn = Mat::from_columns(&turn[..m * l], m, l);
        let columns = &mut self.memory.as_mut_slice::<T>()?[first * n..(first + m) * n];
        let parts = split_rows(MatMut::from_columns(columns, n, m), PIECE);
        context.pool().run_here(|| {
            parts.into_par_iter().try_for_each(|mut part| -> Result<()> {
                let rows = part.rows();
                let mut buffer = alloc::filled(WHAT, rows * l, T::default())?;
                let mut turned = MatMut::from_columns(&mut buffer, rows, l);
                multiply(turned.as_mut(), Accum::Replace, part.as_ref(), turn, T::from_parts(1.0, 0.0));
                part.as_mut().subcols(0, l).copy_from(turned.as_ref());
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

    fn gram(&mut self, first: usize, count: usize) -> Result<Vec<T::Wide>> {
        let n = self.n;
        let context = Arc::clone(&self.context);
        let columns = &self.memory.as_slice::<T>()?[first * n..(first + count) * n];
        let v = Mat::from_columns(columns, n, count);
        let mut coefficients = Coefficients::new(n, count * count)?;
        context.pool().run_here(|| {
            coefficients.partial.par_chunks_mut((count * count).max(1)).enumerate().for_each(|(i, out)| {
                let v = v.subrows(i * PIECE, PIECE.min(n - i * PIECE));
                let out = MatMut::from_columns(out, count, count);
                multiply(out, Accum::Replace, v.adjoint(), v, T::from_parts(1.0, 0.0));
            });
        });
        let total = coefficients.total()?;
        let mut out = alloc::with_capacity(WHAT, total.len())?;
        out.extend(total.iter().map(|t| t.widen()));
        Ok(out)
    }

    fn read(&mut self, column: usize, to: &mut [T]) -> Result<()> {
        let column = self.column(column)?;
        match self.operator.renumbering() {
            Some(order) => order.apply(&self.context, Direction::ToMatrix, 1, column, to)?,
            None => to.copy_from_slice(column),
        }
        Ok(())
    }

    fn write(&mut self, from: &[T], column: usize) -> Result<()> {
        let context = Arc::clone(&self.context);
        let order = self.operator.renumbering().cloned();
        let column = self.column_mut(column)?;
        match order {
            Some(order) => order.apply(&context, Direction::ToOrder, 1, from, column)?,
            None => column.copy_from_slice(from),
        }
        Ok(())
    }
}

impl<T: Scalar> Cycles for CpuKrylov<'_, '_, '_, T> {}
