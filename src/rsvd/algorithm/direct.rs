//! The decomposition without projection. Where the sketch would be nearly as wide as the matrix, it is faster, and exact.

use super::{Factors, Run, finish};
use crate::error::Result;

/// The final step of the other methods, with the identity as the basis; one pass.
pub fn direct(run: &mut Run<'_>) -> Result<Factors> {
    let (m, n) = (run.ops.rows(), run.ops.columns());
    run.columns = m.min(n);
    if m < n {
        let q = run.tall_identity(m)?;
        let mut t = run.ops.zeros("A^H", n, m)?;
        run.ops.pass_adjoint(&q, &mut t)?;
        run.pass_done(None)?;
        return finish::range(run, q, &mut t);
    }
    let w = run.identity(n, n)?;
    let mut p = run.ops.tall("A", n)?;
    run.ops.pass_multiply(&w, &mut p)?;
    run.pass_done(None)?;
    finish::row_space(run, &w, p)
}
