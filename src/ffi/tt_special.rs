//! TT-matrices of spin chains, from sums of local terms, and the identity.

use super::pointer::list;
use super::tensor::{self, purlin_dtype, purlin_tensor};
use super::tt_cores::read_sizes;
use super::tt_matrix::{self, purlin_tt_matrix};
use super::{context, guard, options, purlin_context, purlin_status};
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::Complex;
use crate::shape;
use crate::tt::operator::models::{self, Heisenberg};
use crate::tt::operator::site_matrix;
use crate::tt::operator::terms::Terms;

const WHAT: &str = "terms of an operator";

/// The Hamiltonian of the transverse-field Ising chain, -J sum of sigma_x sigma_x over bonds - h sum of sigma_z over
/// sites, with Pauli matrices: rank 3, and on a ring 2 at the first bond.
///
/// @param      context   the context it belongs to.
/// @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      length    number of sites d, at least 1.
/// @param      cyclic    1 couples the last site to the first, where there are three or more; 0 does not.
/// @param      coupling  J.
/// @param      field     h.
/// @param[out] matrix    the TT-matrix, on the host; destroy it with purlin_tt_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (element type, length, a
/// number that is not finite, NULL pointer), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_matrix_ising(
    context: *const purlin_context,
    dtype: purlin_dtype,
    length: i64,
    cyclic: i32,
    coupling: f64,
    field: f64,
    matrix: *mut *mut purlin_tt_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = tensor::scalar_type("dtype", dtype)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        let (d, ring) = (shape::length("length", length, 1)?, options::flag("cyclic", cyclic)?);
        tt_matrix::put(target, models::ising(&context, dtype, d, coupling, field, ring)?)
    })
}

/// The Hamiltonian of a Heisenberg chain of spins S, the sum over bonds of J_x S_x S_x + J_y S_y S_y + J_z S_z S_z less h
/// times the sum of S_z over sites: real, rank 5, and on a ring 4 at the first bond. States count from the largest S_z.
///
/// @param      context     the context it belongs to.
/// @param      dtype       PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      length      number of sites d, at least 1.
/// @param      cyclic      1 couples the last site to the first, where there are three or more; 0 does not.
/// @param      twice_spin  2 S, at least 1.
/// @param[in]  couplings   J_x, J_y, J_z; positive ones are antiferromagnetic; NULL for 1, 1, 1.
/// @param      field       h.
/// @param[out] matrix      the TT-matrix, on the host; destroy it with purlin_tt_matrix_destroy.
/// @return as purlin_tt_matrix_ising.
///
/// # Safety
/// `couplings` is NULL or valid for 3 elements, `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_matrix_heisenberg(
    context: *const purlin_context,
    dtype: purlin_dtype,
    length: i64,
    cyclic: i32,
    twice_spin: i64,
    couplings: *const f64,
    field: f64,
    matrix: *mut *mut purlin_tt_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = tensor::scalar_type("dtype", dtype)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        let d = shape::length("length", length, 1)?;
        let mut model = Heisenberg {
            twice_spin: shape::size("twice_spin", twice_spin, 1)?,
            field,
            ring: options::flag("cyclic", cyclic)?,
            ..Heisenberg::default()
        };
        if !couplings.is_null() {
            // SAFETY: as promised above.
            model.couplings.copy_from_slice(unsafe { list("couplings", 3, couplings) }?);
        }
        tt_matrix::put(target, models::heisenberg(&context, dtype, d, &model)?)
    })
}

/// The identity: rank 1.
///
/// @param      context  the context it belongs to.
/// @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      length   number of sites d, at least 1.
/// @param[in]  modes    d mode sizes, at least 1.
/// @param[out] matrix   the TT-matrix, on the host; destroy it with purlin_tt_matrix_destroy.
/// @return as purlin_tt_matrix_ising.
///
/// # Safety
/// `modes` is NULL or valid for `length` elements, `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_matrix_identity(
    context: *const purlin_context,
    dtype: purlin_dtype,
    length: i64,
    modes: *const i64,
    matrix: *mut *mut purlin_tt_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = tensor::scalar_type("dtype", dtype)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        // SAFETY: as promised above.
        let modes = unsafe { read_sizes("modes", length, 0, modes) }?;
        tt_matrix::put(target, models::identity(&context, dtype, &modes)?)
    })
}

/// A sum of products of operators at single sites, as a TT-matrix of small ranks: the finite automaton of its terms
/// (Ren, Li, Jiang and Shuai, J. Chem. Phys. 153, 084118, 2020). O(t^2) at a site that t terms begin at or go across,
/// and O(n^2 w^2) for a core of ranks w.
///
/// Term t is `coefficients[t]` times the product of its `factors[t]` operators; those of one site are multiplied, the
/// first on the left. A term without factors is a multiple of the identity.
///
/// @param      context       the context it belongs to.
/// @param      dtype         PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      length        number of sites d, at least 1.
/// @param[in]  modes         d mode sizes, at least 1.
/// @param      cyclic        1 lets terms go round the boundary of a ring where that is their shorter way; 0 does not.
/// @param      count         number of terms, not negative.
/// @param[in]  coefficients  real and imaginary part of each, 2 `count` elements.
/// @param[in]  factors       number of factors of each term, `count` elements.
/// @param[in]  sites         site of each factor, term by term, 0 to d - 1.
/// @param[in]  operators     operator of each factor, likewise: n x n on the host, element (i, j) taking state j to state
///                           i; F32, F64, CF32 or CF64. The same tensor may stand at many places.
/// @param[out] matrix        the TT-matrix, on the host; destroy it with purlin_tt_matrix_destroy.
/// @return as purlin_tt_matrix_ising; `PURLIN_ERROR_INVALID_ARGUMENT` also for a site that there is not, an operator of
/// another size than its site, and complex terms in a real type.
///
/// # Safety
/// The arrays are NULL or valid for the stated numbers of elements, `sites` and `operators` for the sum of `factors`;
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_matrix_from_terms(
    context: *const purlin_context,
    dtype: purlin_dtype,
    length: i64,
    modes: *const i64,
    cyclic: i32,
    count: i64,
    coefficients: *const f64,
    factors: *const i64,
    sites: *const i64,
    operators: *const *const purlin_tensor,
    matrix: *mut *mut purlin_tt_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = tensor::scalar_type("dtype", dtype)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        // SAFETY: as promised above.
        let modes = unsafe { read_sizes("modes", length, 0, modes) }?;
        let ring = options::flag("cyclic", cyclic)?;
        let count = shape::size("count", count, 0)?;
        let cancel = context.cancel_watch();
        let mut terms = Terms::new(&modes)?;
        if count > 0 {
            // SAFETY: as promised above.
            let coefficients = unsafe { list("coefficients", shape::product("count", count, 2)?, coefficients) }?;
            // SAFETY: as promised above.
            let factors = unsafe { list("factors", count, factors) }?;
            let mut first = 0usize;
            for (t, pair) in coefficients.chunks_exact(2).enumerate() {
                cancel.check()?;
                let end = shape::size("factors", factors[t], 0)?.checked_add(first);
                let end = end.ok_or_else(|| Error::invalid("factors", "add up to more than 2^64"))?;
                // SAFETY: as promised above: there are at least `end` of both.
                let term = unsafe { Term::read((first, end), modes.len(), sites, operators) }?;
                terms.add(Complex::new(pair[0], pair[1]), &term.factors()?)?;
                first = end;
            }
        }
        tt_matrix::put(target, terms.build_watched(&context, dtype, ring, cancel)?)
    })
}

/// A site and its matrix.
type Factor<'a> = (usize, &'a [Complex<f64>]);

/// Factors of a term: sites and matrices.
struct Term(Vec<(usize, Vec<Complex<f64>>)>);

impl Term {
    /// The factors `first` to `end`, of sites below `length`.
    ///
    /// # Safety
    /// `sites` and `operators` are NULL or valid for `end` elements.
    unsafe fn read(
        (first, end): (usize, usize),
        length: usize,
        sites: *const i64,
        operators: *const *const purlin_tensor,
    ) -> Result<Self> {
        let mut factors = alloc::with_capacity(WHAT, end - first)?;
        if end > first {
            // SAFETY: as promised by the caller.
            let sites = unsafe { list("sites", end, sites) }?;
            // SAFETY: as promised by the caller.
            let operators = unsafe { list("operators", end, operators) }?;
            for k in first..end {
                let site = shape::index_in_list("sites", k, sites[k], length)?;
                let op = tensor::input("operators", operators[k])?;
                factors.push((site, site_matrix::from_tensor("operators", &op)?));
            }
        }
        Ok(Self(factors))
    }

    fn factors(&self) -> Result<Vec<Factor<'_>>> {
        let mut factors = alloc::with_capacity(WHAT, self.0.len())?;
        factors.extend(self.0.iter().map(|(site, matrix)| (*site, matrix.as_slice())));
        Ok(factors)
    }
}
