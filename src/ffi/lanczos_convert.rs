//! The eigensolver: init functions of its structs, and their conversion to and from the core's.

use std::sync::Arc;

use super::lanczos_types::{purlin_lanczos_info, purlin_lanczos_options};
use super::options::{self, fill_text};
use super::sparse_measures::optional_ordering;
use super::{group, guard, purlin_status};
use crate::context::Context;
use crate::error::Result;
use crate::lanczos::operator::Kind;
use crate::lanczos::session::{Lanczos, Problem};
use crate::lanczos::{Filter, Info, Method, Options, Orthogonalization, Verify, Which};
use crate::shape::{self, to_i64};

/// Writes the defaults.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_options_init(
    options: *mut purlin_lanczos_options,
    size: usize,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Sets `struct_size` and zeroes the rest.
///
/// @param[out] info  the struct.
/// @param      size  `sizeof *info`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `info` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_info_init(info: *mut purlin_lanczos_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// The operator and the options of a caller's struct.
fn read_problem(o: &purlin_lanczos_options) -> Result<Problem> {
    let options = Options {
        count: shape::size("count", o.count, 1)?,
        which: Which::from_code("which", o.which)?,
        basis: shape::size("basis", o.basis, 0)?,
        tolerance: o.tolerance,
        restarts: shape::size("restarts", o.restarts, 0)?,
        seed: o.seed,
        verify: Verify::from_code("verify", o.verify)?,
        method: Method::from_code("method", o.method)?,
        block: shape::size("block", o.block, 1)?,
        orthogonalization: Orthogonalization::from_code("orthogonalization", o.orthogonalization)?,
        filter: Filter::from_code("filter", o.filter)?,
        degree: shape::size("degree", o.degree, 0)?,
        sigma: o.sigma,
        check_symmetry: options::flag("check_symmetry", o.check_symmetry)?,
    };
    let (kind, ordering) = (Kind::from_code("kind", o.kind)?, optional_ordering(o.ordering)?);
    Ok(Problem { options, kind, shift: o.shift, ordering })
}

/// A session of a caller's struct, on `context` or on the struct's group, which begins with it.
pub(super) fn session_of(context: &Arc<Context>, o: &purlin_lanczos_options) -> Result<Lanczos> {
    let problem = read_problem(o)?;
    Lanczos::over(&*group::of(o.group, context)?, problem)
}

impl purlin_lanczos_info {
    /// A report in the terms of C.
    pub(super) fn of(i: &Info) -> Self {
        Self {
            struct_size: 0,
            stop_reason: i.stop_reason as i32,
            reserved: 0,
            breakdowns: to_i64(i.breakdowns),
            count: to_i64(i.count),
            converged: to_i64(i.converged),
            products: to_i64(i.products),
            restarts: to_i64(i.restarts),
            recovered: to_i64(i.recovered),
            basis: to_i64(i.basis),
            degree: to_i64(i.degree),
            norm: i.norm,
            seconds: i.seconds,
            contexts: to_i64(i.shares.contexts),
            part_rows: to_i64(i.shares.rows),
            part_entries: to_i64(i.shares.entries),
            halo: to_i64(i.shares.halo),
            halo_bytes: to_i64(i.shares.halo_bytes),
            product_bytes: to_i64(i.shares.product_bytes),
            verified: i32::from(i.verified),
            method: i.method as i32,
            residual: i.residual,
            orthogonality: i.orthogonality,
            host_bytes: to_i64(i.host_bytes),
            device_bytes: to_i64(i.device_bytes),
            reason: fill_text(i.reason.text()),
        }
    }
}

/// Writes the report of a solve; an error if fewer than `wanted` pairs have converged.
///
/// # Safety
/// `info` is NULL or an initialised struct.
pub(super) unsafe fn write_and_check(info: *mut purlin_lanczos_info, found: &Info, wanted: usize) -> Result<()> {
    // SAFETY: as promised above.
    unsafe { options::write("info", info, purlin_lanczos_info::of(found)) }?;
    found.check_converged(wanted)
}
