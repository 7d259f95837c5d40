//! The eigensolver: init functions of its structs, and their conversion to and from the core's.

use std::sync::Arc;

use super::lanczos_types::{purlin_lanczos_info, purlin_lanczos_options};
use super::options::{self, Struct as _};
use super::sparse_measures::optional_ordering;
use super::{group, guard, purlin_status};
use crate::context::Context;
use crate::error::Result;
use crate::lanczos::Info;
use crate::lanczos::session::{Lanczos, Problem};

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
    let mut problem = Problem { ordering: optional_ordering(o.ordering)?, ..Problem::default() };
    o.read_into(&mut problem)?;
    Ok(problem)
}

/// A session of a caller's struct, on `context` or on the struct's group, which begins with it.
pub(super) fn session_of(context: &Arc<Context>, o: &purlin_lanczos_options) -> Result<Lanczos> {
    let problem = read_problem(o)?;
    Lanczos::over(&*group::of(o.group, context)?, problem)
}

impl purlin_lanczos_info {
    /// A report in the terms of C.
    pub(super) fn of(i: &Info) -> Self {
        let mut made = Self::zeroed();
        made.set(i);
        made
    }
}

/// Writes the report of a solve; an error if fewer than `wanted` pairs have converged.
///
/// # Safety
/// `info` is NULL or an initialized struct.
pub(super) unsafe fn write_and_check(info: *mut purlin_lanczos_info, found: &Info, wanted: usize) -> Result<()> {
    // SAFETY: as promised above.
    unsafe { options::write("info", info, purlin_lanczos_info::of(found)) }?;
    found.check_converged(wanted)
}
