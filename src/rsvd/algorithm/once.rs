//! The one-pass method (Tropp, Yurtsever, Udell and Cevher, SIMAX 38, 2017): one sketch gives the range, a second sketch
//! gives the factors in it. It is much less accurate than two passes: X differs from Q^H A by an error of the size of
//! A - Q Q^H A. Values may therefore be larger than those of A, whereas those of Q^H A never are.

use super::{Factors, Run, finish};
use crate::dense::sketch::Sketch;
use crate::dense::{Op, Svd};
use crate::error::Result;
use crate::rng::stream;

/// Q = orth(A Omega), X the least-squares solution of (Psi^H Q) X = Psi^H A, factors of Q X.
pub fn one_pass(run: &mut Run<'_>) -> Result<Factors> {
    let (n, width) = (run.ops.columns(), run.task.columns);
    // Even if this exceeds the number of rows: a square system of random numbers would be badly conditioned.
    let tests = 2 * width + 1;
    let mut w = run.omega(width, 0)?;
    run.complete_sketch(&mut w)?;
    let mut p = run.ops.tall("A Omega", width)?;
    let mut z = run.ops.zeros("A^H Psi", n, tests)?;
    // Rows of signs are equal now and then, which would lose one of the directions that they multiply. There is no pass
    // left to find that.
    let psi = Sketch { stream: stream::TEST, ..run.task.sketch }.never_singular();
    run.ops.pass_two_sketches(&w, &mut p, &psi, &mut z)?;
    run.pass_done(None)?;
    drop(w);
    run.orthonormalize_tall(&mut p)?;
    let mut test = run.ops.tall("Psi", tests)?;
    run.ops.tall_fill(&mut test, &psi, 0)?;
    let mut system = run.ops.zeros("Psi^H Q", tests, width)?;
    run.ops.tall_cross(&test, &p, &mut system)?;
    drop(test);
    let Svd { mut u, s, v } = run.ops.svd(&system)?;
    let least = 10.0 * run.roundoff() * s.first().copied().unwrap_or(0.0);
    let invert = |x: &f64| if *x > least { 1.0 / x } else { 0.0 };
    let inverse = crate::alloc::collected("inverse values", s.iter().map(invert))?;
    run.ops.scale_columns(&mut u, &inverse)?;
    let pseudo_inverse = run.product(&u, Op::Plain, &v, Op::Adjoint)?;
    let mut x = run.product(&z, Op::Plain, &pseudo_inverse, Op::Plain)?;
    drop(z);
    finish::range(run, p, &mut x)
}
