//! Dense matrices of the caller that a run reads: sketches and factors.

use std::sync::Arc;

use crate::backend::Backend;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{self, Matrix, Storage, not_finite};
use crate::scalar::{Complex, Scalar, is_finite, with_scalar};
use crate::tensor::Location;

/// A copy of a dense matrix in host memory.
///
/// # Errors
/// [`Error::NotSupported`] naming the matrix if it is not dense; [`Error::OutOfMemory`]; [`Error::Cancelled`].
pub fn host_copy(context: &Arc<Context>, argument: &str, m: &Matrix) -> Result<Matrix> {
    let Storage::Dense { order, .. } = m.storage() else {
        return Err(Error::NotSupported(format!("{argument}: is {}, a dense matrix is needed", m.storage().name())));
    };
    let mut copy = Matrix::create(context, m.dtype(), Location::Host, *order, m.rows(), m.cols())?;
    matrix::copy(context, None, m, &mut copy)?;
    if let Backend::Gpu(gpu) = context.backend() {
        // The caller may change the original as soon as this returns.
        gpu.default_stream().synchronize()?;
    }
    Ok(copy)
}

/// Refuses a dense matrix in host memory with an entry that is not finite. O(entries).
///
/// # Errors
/// [`Error::InvalidArgument`] naming the entry.
pub fn expect_finite(argument: &str, m: &Matrix) -> Result<()> {
    with_scalar!(m.dtype(), argument, T => {
        let entries = m.dense(argument)?.columns::<T>(argument)?;
        let wide = |x: &T| Complex::new(x.re(), x.im());
        match entries.iter().position(|x| !is_finite(wide(x))) {
            Some(k) => {
                let (rows, value) = (m.rows().max(1), wide(&entries[k]));
                Err(not_finite::entry(argument, (k % rows, k / rows), false, value))
            }
            None => Ok(()),
        }
    })
}

/// The error that names an entry of `matrices` that is not finite, in place of `otherwise`, which may follow from it.
pub fn culprit(context: &Arc<Context>, matrices: &[(&str, &Matrix)], otherwise: Error) -> Error {
    let check = |(name, m): &(&str, &Matrix)| host_copy(context, name, m).and_then(|copy| expect_finite(name, &copy));
    match matrices.iter().find_map(|given| check(given).err()) {
        Some(named @ Error::InvalidArgument { .. }) => named,
        _ => otherwise,
    }
}
