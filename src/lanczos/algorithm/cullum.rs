//! The plain three-term recurrence, and the test that separates eigenvalues of A from copies and spurious values.

use super::super::cycles::Cycles;
use super::super::ops::Poll;
use super::super::tridiagonal::{EndComponents, ends};
use super::finite;
use crate::alloc;
use crate::error::{Error, Result};
use crate::range;

const WHAT: &str = "Lanczos recurrence";

/// Coefficients of m steps: T = tridiag(alpha; beta), and the coupling to the next vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Recurrence {
    /// Diagonal of T, m numbers.
    pub alpha: Vec<f64>,
    /// Off-diagonal, m; the last is the coupling to the next vector, outside the space.
    pub beta: Vec<f64>,
}

/// Runs `steps` steps of v_{j+1} beta_{j+1} = A v_j - alpha_j v_j - beta_j v_{j-1} in Paige's order, in three columns
/// from `first` on. Column `first` has the start vector, of norm 1. With `coordinates`, the vectors are combined as
/// [`Cycles::recur`] says. `report` is called every few steps with the number of steps done. Ends early where the space
/// is invariant.
///
/// # Errors
/// [`Error::Numerical`] if products are not finite; errors of the backend and of `report`.
pub fn recurrence<K: Cycles + ?Sized>(
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
    /// An eigenvalue of the tridiagonal matrix T, accepted as one of A.
    pub value: f64,
    /// Estimate of its residual, beta_{m+1} |s_m|.
    pub residual: f64,
    /// Number of its copies among the eigenvalues of T.
    pub copies: usize,
}

/// Selects the eigenvalues of A among those of T (Cullum and Willoughby). Values of T nearer to each other than
/// `cluster` times the largest are copies: the one of the smallest residual is taken. A value without copies is doubtful if T
/// without its first row and column has it too, and the square of its eigenvector's first component is at most `cluster`.
/// A doubtful value is spurious if it is the approximation of another copy of an eigenvalue that has been found (`explains`).
/// Only values with residuals of at most `converged` times the largest pass. The result is ascending. `poll` is called every
/// few eigenvalues of T.
///
/// # Errors
/// [`Error::InvalidArgument`] for lists of different lengths, or tolerances outside [0, 1); as [`ends`].
pub fn filter(of: &Recurrence, cluster: f64, converged: f64, poll: &mut Poll<'_>) -> Result<Vec<Accepted>> {
    let m = of.alpha.len();
    if of.beta.len() != m {
        return Err(Error::invalid("beta", format!("has {} elements, alpha has {m}", of.beta.len())));
    }
    for (name, value) in [("cluster", cluster), ("converged", converged)] {
        range::below_one(name, value)?;
    }
    let (mut accepted, most) = candidates(of, (cluster, converged), 0.0, poll)?;
    accepted.retain(|a| a.residual <= most);
    Ok(accepted)
}

/// As [`filter`], for an operator whose norm is at least `least`, and with values that have not converged. Also the largest
/// residual of a value that has.
pub(super) fn candidates(
    of: &Recurrence,
    (cluster, converged): (f64, f64),
    least: f64,
    poll: &mut Poll<'_>,
) -> Result<(Vec<Accepted>, f64)> {
    let m = of.alpha.len();
    let Some(out) = of.beta.last().copied() else { return Ok((Vec::new(), 0.0)) };
    let EndComponents { values, first, last } = ends(&of.alpha, &of.beta[..m - 1], poll)?;
    let smaller = if m > 1 { ends(&of.alpha[1..], &of.beta[1..m - 1], poll)?.values } else { Vec::new() };
    let largest = values[0].abs().max(values[m - 1].abs()).max(least);
    let near = cluster * largest;
    let mut accepted: Vec<Accepted> = Vec::new();
    let mut doubtful: Vec<Accepted> = Vec::new();
    let mut begin = 0;
    while begin < m {
        let mut end = begin + 1;
        while end < m && values[end] - values[end - 1] <= near {
            end += 1;
        }
        let residual = |i: usize| out * last[i].abs();
        let best = (begin..end).min_by(|&i, &j| residual(i).total_cmp(&residual(j))).unwrap_or(begin);
        let twin = smaller.partition_point(|x| *x < values[best] - near);
        let has_twin = smaller.get(twin).is_some_and(|x| *x <= values[best] + near);
        // A start vector with a small component along an eigenvector moves that value by about the square of the component
        // only.
        let is_doubtful = end - begin == 1 && has_twin && first[best].powi(2) <= cluster;
        let one = Accepted { value: values[best], residual: residual(best), copies: end - begin };
        alloc::push(WHAT, if is_doubtful { &mut doubtful } else { &mut accepted }, one)?;
        begin = end;
    }
    let most = converged * largest;
    doubtful.sort_by(|a, b| a.residual.total_cmp(&b.residual));
    for one in doubtful {
        if !explains(&accepted, most, near, one) {
            let place = accepted.partition_point(|a| a.value < one.value);
            alloc::push(WHAT, &mut accepted, one)?;
            accepted[place..].rotate_right(1);
        }
    }
    Ok((accepted, most))
}

/// Whether a value of T approximates one of the eigenvalues that have been found, those with residuals of at most `most`: it
/// is within `near`, or as far as the square of its residual over the distance of the next one lets it be. An eigenvalue is
/// within the residual in any case (Paige, 1980), so that a value far from all that have been found stands for another.
fn explains(found: &[Accepted], most: f64, near: f64, one: Accepted) -> bool {
    let mut distances = [f64::INFINITY; 2];
    for other in found.iter().filter(|other| other.residual <= most) {
        let d = (other.value - one.value).abs();
        if d < distances[0] {
            distances = [d, distances[0]];
        } else if d < distances[1] {
            distances[1] = d;
        }
    }
    let [nearest, next] = distances;
    nearest <= near + one.residual.min(4.0 * one.residual * (one.residual / next))
}
