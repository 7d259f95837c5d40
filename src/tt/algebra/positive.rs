//! Phases of the factors of X = Q R.

use crate::alloc;
use crate::dense::{Algebra, Op};
use crate::error::Result;
use crate::scalar::Scalar;

/// Multiplies the columns of Q and the rows of R by phases so that the diagonal of R is real and not negative.
pub(super) fn positive<T: Scalar, A: Algebra<T>>(algebra: &mut A, q: &mut A::Matrix, r: &mut A::Matrix) -> Result<()> {
    let what = "triangular factor";
    let (rows, cols) = algebra.shape(r);
    let mut host = alloc::filled(what, rows * cols, T::default())?;
    algebra.download(r, &mut host, rows)?;
    let mut turns = alloc::with_capacity(what, rows)?;
    for i in 0..rows {
        let x = host[i * (rows + 1)];
        let modulus = x.re().hypot(x.im());
        turns.push(if modulus > 0.0 { T::from_parts(x.re() / modulus, x.im() / modulus) } else { one() });
    }
    if turns.iter().all(|t| *t == one()) {
        return Ok(());
    }
    for (j, column) in host.chunks_exact_mut(rows).enumerate() {
        for (i, (x, turn)) in column.iter_mut().zip(&turns).enumerate() {
            let y = turn.conjugate() * *x;
            // Drop the rounding error in the imaginary part.
            *x = if i == j { T::from_parts(y.re().abs(), 0.0) } else { y };
        }
    }
    *r = algebra.upload(what, rows, cols, &host, rows)?;
    if !T::IS_COMPLEX {
        let mut signs = alloc::with_capacity(what, rows)?;
        signs.extend(turns.iter().map(|t| t.re()));
        return algebra.scale_columns(q, &signs);
    }
    let mut diagonal = alloc::filled(what, rows * rows, T::default())?;
    diagonal.iter_mut().step_by(rows + 1).zip(&turns).for_each(|(d, t)| *d = *t);
    let diagonal = algebra.upload(what, rows, rows, &diagonal, rows)?;
    let mut turned = algebra.zeros("orthonormal core", algebra.shape(q).0, rows)?;
    algebra.multiply(1.0, q, Op::Plain, &diagonal, Op::Plain, 0.0, &mut turned)?;
    *q = turned;
    Ok(())
}

fn one<T: Scalar>() -> T {
    T::from_parts(1.0, 0.0)
}
