//! Products with matrices that are known only by their products: the caller's functions, and graphs of images.

use super::cpu::Finish;
use super::kind::Kind;
use super::options::{Method, Op, Options};
use super::plan::Plan;
pub(super) use super::tiles::operator;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::choice::word;
use crate::dense::Op as Asked;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, SharedOperator};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::product;

const WHAT: &str = "product with an operator";

/// Rows that a thread takes at a time.
const PIECE: usize = 4096;

/// Whether products with `a` need vectors in host memory, whatever the context's backend.
pub(super) fn is_on_host(a: &Matrix) -> Result<bool> {
    match operator(a) {
        Some(own) => with_scalar!(a.dtype(), "a", T => Ok(own.lock::<T>("a")?.view()?.on_device().is_none())),
        None => a.dtype().expect_scalar("a").map(|_| false),
    }
}

impl Options {
    /// Refuses options that an operator does not support.
    pub(super) fn check_known(&self, dtype: DType) -> Result<()> {
        if self.method != Method::Auto {
            let method = word(self.method);
            let problem = format!("method: is {method}, an operator forms its products itself: AUTO is needed");
            return Err(Error::NotSupported(problem));
        }
        if self.ordering.is_some() {
            return Err(Error::NotSupported("ordering: is set, a sparse matrix is needed, not an operator".into()));
        }
        if self.op == Op::Transpose && !self.symmetric && dtype.is_complex() {
            return Err(Error::NotSupported(
                "op: is TRANSPOSE, an operator of complex numbers has its adjoint alone".into(),
            ));
        }
        Ok(())
    }

    /// The product that the operator is called for.
    pub(super) fn asked(&self) -> Asked {
        if self.op == Op::Plain || self.symmetric { Asked::Plain } else { Asked::Adjoint }
    }
}

impl Plan {
    /// The row sums of an operator that knows them.
    pub(super) fn known_degrees(a: &Matrix, own: &SharedOperator, kind: Kind) -> Result<Vec<f64>> {
        let known = with_scalar!(a.dtype(), "a", T => own.lock::<T>("a")?.view()?.row_sums())?;
        known.ok_or_else(|| {
            Error::NotSupported(format!("a: is an operator, a sparse matrix is needed for {}", word(kind)))
        })
    }

    /// Applies `finish` to the sums op(A) `gathered`, for rows of `width` numbers on the host.
    pub(super) fn ask<T: Scalar>(
        &self,
        own: &SharedOperator,
        finish: Finish<'_, T>,
        width: usize,
        (gathered, x): (&[T], &[T]),
        y: &mut [T],
    ) -> Result<()> {
        let (rows, cols) = self.matrix_size();
        let pool = self.context().pool();
        if finish.alpha == T::default() {
            // Do not multiply by 0: NaN times 0 is not 0.
            pool.run_here(|| {
                y.iter_mut().enumerate().for_each(|(at, y)| *y = finish.rest_of(at / width, || x[at], *y));
            });
            return Ok(());
        }
        let mut guard = own.lock::<T>("a")?;
        let (own, asked) = (guard.operator()?, self.options().asked());
        if width == 1 && finish.is_plain() && finish.alpha == T::from_parts(1.0, 0.0) {
            return own.apply(asked, gathered, 1, y);
        }
        let mut sums = alloc::filled(WHAT, product(WHAT, rows, width)?, T::default())?;
        if width == 1 {
            own.apply(asked, gathered, 1, &mut sums)?;
        } else {
            let mut columns = alloc::filled(WHAT, product(WHAT, cols, width)?, T::default())?;
            for (c, column) in columns.chunks_exact_mut(cols.max(1)).enumerate() {
                column.iter_mut().zip(gathered.chunks_exact(width)).for_each(|(to, row)| *to = row[c]);
            }
            own.apply(asked, &columns, width, &mut sums)?;
        }
        pool.run_here(|| {
            y.par_chunks_mut(PIECE * width).enumerate().for_each(|(piece, y)| {
                for (at, y) in (piece * PIECE * width..).zip(y) {
                    let (i, c) = (at / width, at % width);
                    *y = finish.rest_of(i, || x[at], *y) + finish.add(i, sums[c * rows + i]);
                }
            });
        });
        Ok(())
    }
}
