//! The plain three-term recurrence, and the test that tells its copies and spurious values from eigenvalues.

use super::super::krylov::{Krylov, Poll};
use super::super::tridiagonal::{Ends, ends};
use super::finite;
use crate::alloc;
use crate::error::{Error, Result};

const WHAT: &str = "Lanczos recurrence";

/// Coefficients of m steps: T = tridiag(alpha; beta), and what leads on.
#[derive(Debug, Clone, PartialEq)]
pub struct Recurrence {
    /// Diagonal, m.
    pub alpha: Vec<f64>,
    /// Beside it, m: the last leads out of the space.
    pub beta: Vec<f64>,
}

/// Runs `steps` steps of v_{j+1} beta_{j+1} = A v_j - alpha_j v_j - beta_j v_{j-1} in Paige's order from the vector in
/// column `first`, which has norm 1, in three columns; with `coordinates` the vectors are combined as [`Krylov::recur`] says.
/// `report` is told how many steps are done before every few. Ends early where the space is invariant.
///
/// # Errors
/// [`Error::Numerical`] for products that are not finite; what the backend and `report` report.
pub fn recurrence<K: Krylov + ?Sized>(
    krylov: &mut K,
    first: usize,
    steps: usize,
    epsilon: f64,
    coordinates: Option<&[Vec<f64>]>,
    report: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<Recurrence> {
    let mut alpha = alloc::with_capacity(WHAT, steps)?;
    let mut beta: Vec<f64> = alloc::with_capacity(WHAT, steps)?;
    let mut norm = krylov.terms_norm();
    while alpha.len() < steps {
        let done = alpha.len();
        report(done)?;
        let last = beta.last().copied().unwrap_or(0.0);
        let poll = &mut || report(done);
        for (a, b) in krylov.recur(first, (done, steps), last, coordinates, poll)? {
            alpha.push(finite(a, "a coefficient")?);
            beta.push(finite(b, "a coefficient")?);
            norm = norm.max(a.abs() + b);
            if b <= 10.0 * epsilon * norm {
                return Ok(Recurrence { alpha, beta });
            }
        }
    }
    Ok(Recurrence { alpha, beta })
}

/// A value that passed the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accepted {
    /// The eigenvalue.
    pub value: f64,
    /// Estimate of its residual, beta_{m+1} |s_m|.
    pub residual: f64,
    /// Copies of it among the eigenvalues of T.
    pub copies: usize,
}

/// Tells eigenvalues of A from those of T (Cullum and Willoughby): of values nearer than `cluster` times the largest to
/// each other one is taken, that of the smallest residual; a single one is spurious if T without its first row and column
/// has it too; and only values with residuals of at most `converged` times the largest pass. Ascending. `poll` is called every few eigenvalues of T.
///
/// # Errors
/// [`Error::InvalidArgument`] for lists of different lengths, or tolerances that are not within 0 and 1; as [`ends`].
pub fn filter(of: &Recurrence, cluster: f64, converged: f64, poll: &mut Poll<'_>) -> Result<Vec<Accepted>> {
    let m = of.alpha.len();
    if of.beta.len() != m {
        return Err(Error::invalid("beta", format!("has {} elements, alpha has {m}", of.beta.len())));
    }
    for (name, value) in [("cluster", cluster), ("converged", converged)] {
        if !(0.0..1.0).contains(&value) {
            return Err(Error::invalid(name, format!("is {value}, outside 0 to 1")));
        }
    }
    filter_of(of, (cluster, converged), 0.0, poll)
}

/// As [`filter`] of an operator whose norm is known to be `least` at least.
pub(super) fn filter_of(
    of: &Recurrence,
    (cluster, converged): (f64, f64),
    least: f64,
    poll: &mut Poll<'_>,
) -> Result<Vec<Accepted>> {
    let m = of.alpha.len();
    let Some(out) = of.beta.last().copied() else { return Ok(Vec::new()) };
    let Ends { values, last, .. } = ends(&of.alpha, &of.beta[..m - 1], poll)?;
    let smaller = if m > 1 { ends(&of.alpha[1..], &of.beta[1..m - 1], poll)?.values } else { Vec::new() };
    let largest = values[0].abs().max(values[m - 1].abs()).max(least);
    let near = cluster * largest;
    let mut accepted = Vec::new();
    let mut begin = 0;
    while begin < m {
        let mut end = begin + 1;
        while end < m && values[end] - values[end - 1] <= near {
            end += 1;
        }
        let residual = |i: usize| out * last[i].abs();
        let best = (begin..end).min_by(|&i, &j| residual(i).total_cmp(&residual(j))).unwrap_or(begin);
        let twin = smaller.partition_point(|x| *x < values[best] - near);
        let spurious = end - begin == 1 && smaller.get(twin).is_some_and(|x| *x <= values[best] + near);
        if !spurious && residual(best) <= converged * largest {
            let one = Accepted { value: values[best], residual: residual(best), copies: end - begin };
            alloc::push(WHAT, &mut accepted, one)?;
        }
        begin = end;
    }
    Ok(accepted)
}
