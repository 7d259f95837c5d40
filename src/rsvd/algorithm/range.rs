//! The range form of Halko, Martinsson and Tropp (SIAM Review 53, 2011, algorithms 4.4 and 5.1). It takes 2q + 2 passes and
//! applies A once more than the row-space form, which is half a power iteration.

use super::run::Resumed;
use super::{Factors, Run, finish, power};
use crate::error::Result;
use crate::rsvd::erased::{Dense, Tall};

/// Q = orth((A A^H)^q A Omega), factors of Q Q^H A.
pub fn range(run: &mut Run<'_>) -> Result<Factors> {
    let width = run.task.columns;
    let resumed = match run.resume_any()? {
        Some((done, Resumed::Product(p))) => (done, run.ops.zeros("A^H Q", run.ops.columns(), width)?, Some(p)),
        Some((done, Resumed::Basis(w))) => (done, w, None),
        None => {
            let mut omega = run.omega(width, 0)?;
            run.complete_sketch(&mut omega)?;
            (0, omega, None)
        }
    };
    let (first, mut w) = (resumed.0, resumed.1);
    let mut p = match resumed.2 {
        Some(p) => p,
        None => {
            let mut p = run.ops.tall("A W", width)?;
            product(run, first, &w, &mut p)?;
            p
        }
    };
    for i in first..run.task.iterations {
        run.span_tall(&mut p)?;
        run.spanning(|ops| ops.pass_adjoint(&p, &mut w))?;
        run.span(&mut w)?;
        run.pass_done(Some((i + 1, &w)))?;
        product(run, i + 1, &w, &mut p)?;
    }
    let r = run.orthonormalize_tall(&mut p)?;
    let depends = run.task.iterations == 0 && run.may_miss() && {
        let s = run.ops.svd(&r)?.s;
        run.may_have_missed(&s)
    };
    drop(r);
    run.ops.pass_adjoint(&p, &mut w)?;
    run.pass_done(None)?;
    project(run, p, w, depends)
}

/// Factors of Q Q^H A from an orthonormal Q and T = A^H Q. `depends` says that columns of A Omega depended on each other, up
/// to rounding, before Q was made.
///
/// Without a power iteration that may be due to a sketch of signs instead of to A. The columns of Q in their place are
/// random numbers, or rounding errors made orthonormal. In T they have seen all of A, so the span of T is used: one more
/// pass.
pub(super) fn project(run: &mut Run<'_>, q: Tall, mut t: Dense, depends: bool) -> Result<Factors> {
    if !depends {
        return finish::range(run, q, &mut t);
    }
    drop(q);
    run.remarks.push("one more pass, as columns of A Omega depend on each other".into());
    run.expect(1);
    run.orthonormalize(&mut t)?;
    power::last_product(run, &t)
}

/// P = A W after `done` iterations. The last product is the basis itself, so it is always in full precision.
fn product(run: &mut Run<'_>, done: usize, w: &Dense, p: &mut Tall) -> Result<()> {
    if done < run.task.iterations {
        run.spanning(|ops| ops.pass_multiply(w, p))?;
    } else {
        run.ops.pass_multiply(w, p)?;
    }
    run.product_done(done, p)
}
