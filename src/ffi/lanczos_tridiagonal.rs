//! The three-term recurrence by itself, and tridiagonal matrices.

use super::lanczos::{LanczosObject, purlin_lanczos};
use super::lanczos_types::purlin_lanczos_accepted;
use super::matrix::purlin_matrix;
use super::pointer;
use super::sparse::alive;
use super::tensor::{self, purlin_tensor};
use super::{guard, purlin_status, purlin_stream, stream};
use crate::error::Result;
use crate::lanczos::algorithm::cullum::{Recurrence, filter};
use crate::lanczos::tridiagonal::ends;
use crate::shape::{self, to_i64};

/// Runs the plain three-term recurrence of Lanczos, in Paige's order and without reorthogonalization: its coefficients
/// are those of rounding as well. For purlin_lanczos_cullum_willoughby, spectral densities and functions of matrices.
/// Three vectors of memory, one product and O(n) operations a step.
///
/// @param      lanczos  the solver, on one context; `kind`, `shift`, `ordering`, `check_symmetry`, `seed` and
///                      `progress` of its options are used; others, but for `count`, are refused where they are set.
/// @param      stream   NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      a        as for purlin_lanczos_solve.
/// @param      steps    number of steps m, at least 1.
/// @param      start    n elements of a's type, the start vector; NULL for a random one.
/// @param[out] alpha    m numbers: the diagonal.
/// @param[out] beta     m numbers: beside it, and the last, which leads out of the space.
/// @param[out] count    steps made: fewer than m where the space is invariant; the rest of `alpha` and `beta` is as it was.
/// @return as purlin_lanczos_solve, but for NO_CONVERGENCE.
///
/// # Safety
/// `alpha` and `beta` are NULL or valid for `steps` numbers; `count` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_tridiagonalize(
    lanczos: *mut purlin_lanczos,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    steps: i64,
    start: *const purlin_tensor,
    alpha: *mut f64,
    beta: *mut f64,
    count: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let (object, lanczos) = LanczosObject::exclusive(lanczos)?;
        let _stream = stream::before(lanczos.context(), stream)?;
        let a = alive("a", a)?;
        let start = tensor::input_or_null("start", start)?;
        for (name, list) in [("alpha", alpha), ("beta", beta)] {
            pointer::check_outputs(name, list)?;
        }
        // SAFETY: the caller promises NULL or a place for the number.
        let target = unsafe { pointer::output("count", count) }?;
        let steps = shape::length("steps", steps, 1)?;
        let found = object.run(|report| lanczos.tridiagonalize(&a, steps, start.as_deref(), report))?;
        // SAFETY: the recurrence makes `steps` steps at most, for which the caller promises memory.
        unsafe {
            alpha.copy_from_nonoverlapping(found.alpha.as_ptr(), found.alpha.len());
            beta.copy_from_nonoverlapping(found.beta.as_ptr(), found.beta.len());
        }
        *target = to_i64(found.alpha.len());
        Ok(())
    })
}

/// A caller's numbers.
///
/// # Safety
/// `list` is NULL or valid for `count` numbers while the result lives.
pub(super) unsafe fn numbers<'a>(argument: &str, list: *const f64, count: usize) -> Result<&'a [f64]> {
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: as promised by the caller.
    unsafe { pointer::list(argument, count, list) }
}

/// The eigenvalues of A among those of a recurrence's tridiagonal matrix T, by the test of Cullum and Willoughby
/// (Lanczos Algorithms for Large Symmetric Eigenvalue Computations, 1985). Of values nearer to each other than
/// `cluster` times the largest one is taken; a single one is spurious if T without its first row and column has it too;
/// only values whose residuals are at most `converged` times the largest pass. It sees one copy of each eigenvalue.
/// O(m^2), about 6e-8 m^2 seconds: 1 s for m = 4000, 6 s for 10 000. It has no progress and cannot be cancelled; a
/// solve with METHOD_PLAIN can.
///
/// @param      m          number of steps, not negative.
/// @param[in]  alpha      m numbers.
/// @param[in]  beta       m numbers, as purlin_lanczos_tridiagonalize gives them.
/// @param      cluster    0 to 1; 1e-12 for double precision.
/// @param      converged  0 to 1.
/// @param[out] accepted   memory for m values; ascending.
/// @param[out] count      number of values accepted.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a negative size, tolerances out of range,
/// numbers that are not finite), `PURLIN_ERROR_NUMERICAL` (an eigenvalue of T does not converge),
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `alpha` and `beta` are NULL or valid for `m` numbers, `accepted` for `m` values; `count` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_cullum_willoughby(
    m: i64,
    alpha: *const f64,
    beta: *const f64,
    cluster: f64,
    converged: f64,
    accepted: *mut purlin_lanczos_accepted,
    count: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let m = shape::size("m", m, 0)?;
        if m > 0 {
            pointer::check_outputs("accepted", accepted)?;
        }
        // SAFETY: the caller promises NULL or a place for the number.
        let target = unsafe { pointer::output("count", count) }?;
        // SAFETY: as promised above.
        let (alpha, beta) = unsafe { (numbers("alpha", alpha, m)?, numbers("beta", beta, m)?) };
        let what = "Lanczos recurrence";
        let of = Recurrence { alpha: crate::alloc::copied(what, alpha)?, beta: crate::alloc::copied(what, beta)? };
        let found = filter(&of, cluster, converged, &mut || Ok(()))?;
        for (i, v) in found.iter().enumerate() {
            let value = purlin_lanczos_accepted { value: v.value, residual: v.residual, copies: to_i64(v.copies) };
            // SAFETY: no more values pass than the recurrence has steps, for which the caller promises memory.
            unsafe { accepted.add(i).write(value) };
        }
        *target = to_i64(found.len());
        Ok(())
    })
}

/// Eigenvalues of a symmetric tridiagonal matrix, with the first and last components of its eigenvectors of 2-norm 1:
/// all that residuals and quadratures of a recurrence need. Implicit QL with Wilkinson's shift (Bowdler, Martin,
/// Reinsch, Wilkinson, Numer. Math. 11, 1968), O(m^2), about 3e-8 m^2 seconds: 1 s for m = 6000, 3 s for 10 000. It has
/// no progress and cannot be cancelled.
///
/// @param      m         order, not negative.
/// @param[in]  diagonal  m numbers.
/// @param[in]  off       the m - 1 numbers beside it.
/// @param[out] values    m eigenvalues, ascending.
/// @param[out] first     m first components; NULL if not wanted.
/// @param[out] last      m last components; NULL if not wanted.
/// @return as purlin_lanczos_cullum_willoughby.
///
/// # Safety
/// The arrays are NULL or valid for the stated numbers of elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tridiagonal_eigenvalues(
    m: i64,
    diagonal: *const f64,
    off: *const f64,
    values: *mut f64,
    first: *mut f64,
    last: *mut f64,
) -> purlin_status {
    guard::run(|| {
        let m = shape::size("m", m, 0)?;
        // SAFETY: as promised above.
        let (d, e) = unsafe { (numbers("diagonal", diagonal, m)?, numbers("off", off, m.saturating_sub(1))?) };
        if m > 0 {
            pointer::check_outputs("values", values)?;
        }
        pointer::check_optional_outputs("values", values)?;
        pointer::check_optional_outputs("first", first)?;
        pointer::check_optional_outputs("last", last)?;
        let found = ends(d, e, &mut || Ok(()))?;
        for (to, from) in [(values, &found.values), (first, &found.first), (last, &found.last)] {
            if !to.is_null() {
                // SAFETY: not null; the caller promises memory for m numbers.
                unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
            }
        }
        Ok(())
    })
}
