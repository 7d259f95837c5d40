//! Products and solutions that need only one triangle of a matrix.

use std::ffi::c_int;

use super::blas::Blas;
use super::functions::{int, operation, real};
use crate::backend::gpu::faults::library_fault;
use crate::backend::gpu::view::{Transpose, View};
use crate::error::{Error, Result};
use crate::scalar::DType;

/// `CUBLAS_FILL_MODE_LOWER`.
const LOWER: c_int = 0;
/// `CUBLAS_FILL_MODE_UPPER`.
const UPPER: c_int = 1;
/// `CUBLAS_SIDE_LEFT`.
const LEFT: c_int = 0;
/// `CUBLAS_SIDE_RIGHT`.
const RIGHT: c_int = 1;
/// `CUBLAS_DIAG_NON_UNIT`.
const NON_UNIT: c_int = 0;

impl Blas {
    /// The lower triangle of C = alpha A^H A + beta C, or with `outer` of alpha A A^H + beta C, for matrices of type
    /// `dtype`. The rest of C is not changed.
    ///
    /// # Errors
    /// As [`Blas::multiply`].
    pub fn rank_update(
        &self,
        dtype: DType,
        alpha: f64,
        a: View<'_>,
        outer: bool,
        beta: f64,
        c: View<'_>,
    ) -> Result<()> {
        let (n, k) = if outer { (a.rows, a.cols) } else { (a.cols, a.rows) };
        if (c.rows, c.cols) != (n, n) {
            return Err(Error::Internal(format!("A^H A has {n} rows, its matrix {} x {}", c.rows, c.cols)));
        }
        let (from, to) = (a.address(dtype, "a")?, c.address(dtype, "c")?);
        if n == 0 {
            return Ok(());
        }
        // The complex routines take real scalars, which are the first part of a complex one.
        let (alpha, beta) = (real(dtype, alpha), real(dtype, beta));
        let op = operation(match (outer, dtype.is_complex()) {
            (true, _) => Transpose::Plain,
            (false, true) => Transpose::Adjoint,
            (false, false) => Transpose::Transpose,
        });
        let (order, inner) = (int("order", n)?, int("inner", k)?);
        let steps = [int("ld", a.ld.max(1))?, int("ld", c.ld.max(1))?];
        let syrk = self.functions.syrk(dtype)?;
        library_fault("cublasXherk")?;
        let _entered = self.device.enter()?;
        // SAFETY: as in `multiply`.
        self.run("cublasXherk", || unsafe {
            syrk(
                self.handle,
                LOWER,
                op,
                order,
                inner,
                (&raw const alpha.0).cast(),
                from,
                steps[0],
                (&raw const beta.0).cast(),
                to,
                steps[1],
            )
        })
    }

    /// B := R^-1 B for the upper triangle R of `r`, or with `right` B := B R^-1, for matrices of type `dtype`. The lower
    /// triangle is not read.
    ///
    /// # Errors
    /// As [`Blas::multiply`].
    pub fn solve_upper(&self, dtype: DType, r: View<'_>, b: View<'_>, right: bool) -> Result<()> {
        let order = if right { b.cols } else { b.rows };
        if (r.rows, r.cols) != (order, order) {
            return Err(Error::Internal(format!("a triangle {} x {} for {order} unknowns", r.rows, r.cols)));
        }
        let (with, to) = (r.address(dtype, "r")?, b.address(dtype, "b")?);
        if b.rows == 0 || b.cols == 0 {
            return Ok(());
        }
        let alpha = real(dtype, 1.0);
        let (rows, columns) = (int("rows", b.rows)?, int("columns", b.cols)?);
        let steps = [int("ld", r.ld.max(1))?, int("ld", b.ld.max(1))?];
        let trsm = self.functions.trsm(dtype)?;
        library_fault("cublasXtrsm")?;
        let _entered = self.device.enter()?;
        // SAFETY: as in `multiply`.
        self.run("cublasXtrsm", || unsafe {
            trsm(
                self.handle,
                if right { RIGHT } else { LEFT },
                UPPER,
                operation(Transpose::Plain),
                NON_UNIT,
                rows,
                columns,
                (&raw const alpha.0).cast(),
                with,
                steps[0],
                to,
                steps[1],
            )
        })
    }
}
