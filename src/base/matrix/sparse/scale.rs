//! Multiplication of rows and columns by numbers.

use std::sync::Arc;

use super::super::csr::{Csr, CsrParts};
use super::entries::{WHAT, csr, value_at, values};
use super::index::Rows;
use crate::alloc;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::{Scalar, is_finite, with_scalar};
use crate::shape::product;
use crate::tensor::Tensor;

fn copied(context: &Context, from: &HostMemory) -> Result<HostMemory> {
    let bytes = from.as_slice::<u8>()?;
    let mut to = HostMemory::allocate(WHAT, bytes.len(), context.host_budget())?;
    to.as_mut_slice::<u8>()?.copy_from_slice(bytes);
    Ok(to)
}

fn factors<T: Scalar>(argument: &str, list: Option<&Tensor>, a: &Matrix, count: usize) -> Result<Option<Vec<T>>> {
    let Some(list) = list else { return Ok(None) };
    list.expect_context(argument, a.context())?;
    list.expect_dims(argument, &[count])?;
    list.expect_dtype(argument, a.dtype())?;
    let mut packed = alloc::filled(WHAT, count, T::default())?;
    list.view::<T>(argument)?.read_column(&[], &mut packed);
    Ok(Some(packed))
}

/// The product of three numbers. Where two of them overflow or vanish, the third may bring the product back into the range: then the
/// largest and the smallest are multiplied first.
fn times<T: Scalar>(left: T, value: T, right: T) -> T {
    let size = |x: T| x.re().abs().max(x.im().abs());
    let made = left * value * right;
    let least = if T::DTYPE.is_single() { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let is_in_range = is_finite(made) && size(made) >= least;
    let mut factors = [left, value, right];
    if is_in_range || !factors.iter().all(|f| is_finite(*f) && size(*f) > 0.0) {
        return made;
    }
    factors.sort_by(|a, b| size(*a).total_cmp(&size(*b)));
    factors[0] * factors[2] * factors[1]
}

/// D_r A D_c for a sparse matrix A and diagonal matrices; `None` is the identity. The result has the entries of A in
/// their order, each with a value, also if A is a pattern. O(nnz).
///
/// # Errors
/// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) for another number or type of factors;
/// [`Error::NotSupported`](crate::error::Error::NotSupported) for another storage or values on a device;
/// [`Error::OutOfMemory`](crate::error::Error::OutOfMemory); [`Error::Cancelled`](crate::error::Error::Cancelled).
pub fn scale(context: &Arc<Context>, a: &Matrix, rows: Option<&Tensor>, cols: Option<&Tensor>) -> Result<Matrix> {
    let (source, cancel) = (csr("a", a)?, context.cancel_watch());
    let held = values("a", a)?;
    let from = Rows::new(source)?;
    let made = with_scalar!(a.dtype(), "a", T => {
        let rows = factors::<T>("rows", rows, a, source.rows())?;
        let cols = factors::<T>("cols", cols, a, source.cols())?;
        let old = held.as_ref().map(|v| v.as_slice::<T>()).transpose()?;
        let bytes = product(WHAT, source.nnz(), size_of::<T>())?;
        let mut made = HostMemory::allocate(WHAT, bytes, context.host_budget())?;
        let one = T::from_parts(1.0, 0.0);
        let new = made.as_mut_slice::<T>()?;
        let mut paced = cancel.paced();
        for i in 0..from.len() {
            paced.step(from.row(i).len())?;
            let left = rows.as_ref().map_or(one, |r| r[i]);
            for k in from.row(i) {
                let right = cols.as_ref().map_or(one, |c| c[from.col(k)]);
                new[k] = times(left, value_at(old, k), right);
            }
        }
        Ok(made)
    })?;
    let parts = source.parts();
    let parts = CsrParts {
        row_ptr: copied(context, &parts.row_ptr)?,
        row_ptr_type: parts.row_ptr_type,
        col_idx: copied(context, &parts.col_idx)?,
        col_idx_type: parts.col_idx_type,
        values: Some(Memory::Host(made)),
    };
    let size = (source.rows(), source.cols(), source.nnz());
    let csr = Csr::watched(parts, size, source.index_base(), cancel)?;
    Ok(Matrix::from_csr(context, a.dtype(), csr, false))
}
