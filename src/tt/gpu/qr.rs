//! Norms by QR factors: R_k of R_{k-1} X_k from site to site. Nothing is squared, so that the norm of a difference keeps
//! the digits that inner products lose.

use super::scale::Exponents;
use crate::alloc;
use crate::backend::gpu::{Region, Transpose, View};
use crate::dense::gpu::{GpuAlgebra, GpuMatrix};
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar};
use crate::shape::{product, to_u64};
use crate::tensor::train::Shape;
use crate::tt::ops::Work;
use crate::tt::scaled::Scaled;

/// A train of a sum.
pub(super) struct Term<'a> {
    /// Its cores, in their order.
    pub(super) cores: Vec<Region<'a>>,
    /// Their shapes.
    pub(super) shape: &'a Shape,
    /// What it is multiplied by.
    pub(super) factor: f64,
}

/// The norm of the sum of trains. Every value of the bond at the cut has columns of its own, as in the open train of the
/// same tensor.
pub(super) fn norm<T: Scalar>(algebra: &mut GpuAlgebra, work: &Work<'_>, terms: &[Term<'_>]) -> Result<Scaled> {
    let plan = work.plan;
    let (gpu, stream) = (algebra.gpu().clone(), algebra.stream().clone());
    let exponents = Exponents::new(&gpu, &stream, 1)?;
    let core = |i: usize| plan.core(to_u64(i));
    let bond = |term: &Term<'_>, k: usize| term.shape.ranks()[k];
    let mut factor = beginning::<T>(algebra, terms, plan.cut)?;
    for i in 0..plan.cores - 1 {
        let k = core(i);
        let (rows, n) = (factor.rows(), work.x.shape().modes()[k]);
        let tall = product("x", rows, n)?;
        let columns = terms.iter().map(|term| bond(term, plan.cut) * bond(term, core(i + 1))).sum::<usize>();
        let next = algebra.uninitialised::<T>("product with a core", tall, columns)?;
        let (mut from, mut to) = (0, 0);
        for term in terms {
            let [r, _, r2] = term.shape.core(k);
            let core = View::packed(term.cores[k], r, n * r2);
            for _ in 0..bond(term, plan.cut) {
                let held = factor.view().columns::<T>(from, r)?;
                // What is to be read as (rows n) x r2 is made as rows x (n r2).
                let made = View::packed(next.view().columns::<T>(to, r2)?.memory, rows, n * r2);
                let plain = Transpose::Plain;
                algebra.blas().multiply::<T>(1.0, held, plain, core, plain, 0.0, made)?;
                (from, to) = (from + r, to + r2);
            }
        }
        exponents.take::<T>(next.memory().whole(), product("x", tall, columns)?, 0)?;
        // The factorisation needs its room.
        drop(factor);
        factor = if tall <= columns {
            next
        } else {
            match algebra.triangle(next) {
                // The CPU, which steps in for cuSOLVER, takes no numbers that are not finite.
                Err(Error::Numerical(_)) => return Ok(Scaled::new(Complex::new(f64::NAN, 0.0), 0)),
                triangle => triangle?,
            }
        };
        work.step()?;
    }
    let column = last::<T>(algebra, work, terms, &factor)?;
    exponents.take::<T>(column.memory().whole(), product("x", column.rows(), column.cols())?, 0)?;
    // In double precision, of numbers of the order of one.
    let square: f64 = algebra.column_sums::<T>(column.view(), 1.0)?.iter().sum();
    let exponent = exponents.read()?.first().copied().unwrap_or(0);
    work.step()?;
    Ok(Scaled::new(Complex::new(square.sqrt(), 0.0), exponent))
}

/// What stands before the first site: for every train and value of its bond at the cut the row of that value.
fn beginning<T: Scalar>(algebra: &GpuAlgebra, terms: &[Term<'_>], cut: usize) -> Result<GpuMatrix<T>> {
    let what = "beginning of a norm";
    let mut total = 0usize;
    for term in terms {
        let p = term.shape.ranks()[cut];
        total = total.saturating_add(product("x", p, p)?);
    }
    let mut rows = alloc::filled(what, total, T::default())?;
    let mut start = 0;
    for term in terms {
        let p = term.shape.ranks()[cut];
        rows[start..start + p * p].iter_mut().step_by(p + 1).for_each(|v| *v = T::from_parts(1.0, 0.0));
        start += p * p;
    }
    let mut matrix = algebra.uninitialised::<T>(what, 1, total)?;
    algebra.gpu().store_numbers(algebra.stream(), &rows, matrix.memory_mut(), 0)?;
    Ok(matrix)
}

/// The last site makes one column of each train: their sum.
fn last<T: Scalar>(
    algebra: &GpuAlgebra,
    work: &Work<'_>,
    terms: &[Term<'_>],
    factor: &GpuMatrix<T>,
) -> Result<GpuMatrix<T>> {
    let k = work.plan.core(to_u64(work.plan.cores) - 1);
    let n = work.x.shape().modes()[k];
    let column = algebra.uninitialised::<T>("last site of a norm", factor.rows(), n)?;
    let mut start = 0;
    for term in terms {
        let [r, _, p] = term.shape.core(k);
        let bytes = product("x", r, n)? * size_of::<T>();
        for j in 0..p {
            let held = factor.view().columns::<T>(start, r)?;
            let core = View::packed(term.cores[k].part(j * bytes, bytes)?, r, n);
            let (plain, add) = (Transpose::Plain, if start > 0 { 1.0 } else { 0.0 });
            algebra.blas().multiply::<T>(term.factor, held, plain, core, plain, add, column.view())?;
            start += r;
        }
    }
    Ok(column)
}
