//! Randomized singular value decomposition: the structs' init functions, and conversions of the structs to the core's
//! types.

use super::array;
use super::options::{self, Struct as _};
use super::rsvd_types::*;
use super::{guard, purlin_status};
use crate::choice::ToC as _;
use crate::error::Result;
use crate::rsvd::info::Info;
use crate::rsvd::options::Options;
use crate::shape;

/// Writes the defaults. `rank` or `tolerance` has to be set besides.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_options_init(options: *mut purlin_rsvd_options, size: usize) -> purlin_status {
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
pub unsafe extern "C" fn purlin_rsvd_info_init(info: *mut purlin_rsvd_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// A size whose 0 stands for `default`.
fn size_or(argument: &str, value: i64, default: usize) -> Result<usize> {
    let size = shape::size(argument, value, 0)?;
    Ok(if size == 0 { default } else { size })
}

/// Options of a caller's struct.
///
/// # Safety
/// `restart_path` is NULL or a terminated string.
pub(super) unsafe fn read_options(o: &purlin_rsvd_options) -> Result<Options> {
    let restart_path = match o.restart_path.is_null() {
        true => None,
        // SAFETY: as promised above.
        false => Some(unsafe { array::file_path("restart_path", o.restart_path) }?),
    };
    let mut options = Options { restart_path, ..Options::default() };
    o.read_into(&mut options)?;
    options.block_columns = size_or("block_columns", o.block_columns, options.block_columns)?;
    options.probes = size_or("probes", o.probes, options.probes)?;
    options.check()?;
    Ok(options)
}

impl purlin_rsvd_info {
    /// A report or plan of a run as C has it; the sketch is that of `options` unless one was given.
    pub(super) fn of(i: &Info, options: &Options) -> Self {
        let mut made = Self::zeroed();
        made.set(i);
        made.sketch = if i.sketch_given { PURLIN_SKETCH_GIVEN } else { options.sketch.to_c() };
        made
    }
}
