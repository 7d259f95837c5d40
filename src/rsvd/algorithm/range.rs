//! The range form of Halko, Martinsson and Tropp (SIAM Review 53, 2011, algorithms 4.4 and 5.1). It takes 2q + 2 passes and
//! applies A once more than the row-space form, which is half a power iteration.

use super::{FactorsOf, Run, finish, power};
use crate::error::Result;
use crate::rsvd::ops::RsvdOps;
use crate::scalar::Scalar;

/// Q = orth((A A^H)^q A Omega), factors of Q Q^H A.
pub fn range<T: Scalar, O: RsvdOps<T>>(run: &mut Run<'_, T, O>) -> Result<FactorsOf<T, O>> {
    let width = run.task.columns;
    let (first, mut w) = match run.resume()? {
        Some(resumed) => resumed,
        None => (0, run.omega(width, 0)?),
    };
    let mut p = run.ops.tall("A W", width)?;
    product(run, first, &w, &mut p)?;
    for i in first..run.task.iterations {
        run.span_tall(&mut p)?;
        run.spanning(|ops| ops.pass_adjoint(&p, &mut w))?;
        run.span(&mut w)?;
        run.pass_done(Some((i + 1, &w)))?;
        product(run, i + 1, &w, &mut p)?;
    }
    let replaced = run.ladder.replaced;
    run.orthonormalize_tall(&mut p)?;
    run.ops.pass_adjoint(&p, &mut w)?;
    run.pass_done(None)?;
    project(run, p, w, replaced)
}

/// Factors of Q Q^H A from an orthonormal Q and T = A^H Q, where `replaced` is the number of columns that were replaced by
/// random ones before Q was made.
///
/// Without a power iteration, columns of A Omega that depend on each other may be due to a sketch of signs instead of to A.
/// The columns that replaced them have seen all of A in T, whose span is then used: one more pass.
pub(super) fn project<T: Scalar, O: RsvdOps<T>>(
    run: &mut Run<'_, T, O>,
    q: O::Tall,
    mut t: O::Matrix,
    replaced: u64,
) -> Result<FactorsOf<T, O>> {
    if run.task.iterations > 0 || run.ladder.replaced == replaced || !run.may_miss() {
        return finish::range(run, q, &mut t);
    }
    drop(q);
    run.remarks.push("one more pass, as columns of A Omega depend on each other".into());
    run.expect(1);
    run.orthonormalize(&mut t)?;
    power::last_product(run, &t)
}

/// P = A W after `done` iterations. The last product is the basis itself, so it is always in full precision.
fn product<T: Scalar, O: RsvdOps<T>>(
    run: &mut Run<'_, T, O>,
    done: usize,
    w: &O::Matrix,
    p: &mut O::Tall,
) -> Result<()> {
    if done < run.task.iterations {
        run.spanning(|ops| ops.pass_multiply(w, p))?;
    } else {
        run.ops.pass_multiply(w, p)?;
    }
    run.pass_done(None)
}
