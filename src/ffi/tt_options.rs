//! Options and report of contractions: the structs' init functions, and conversions of the structs to the core's types.

use super::options::{self, Struct as _};
use super::tt_types::{
    PURLIN_TT_KERNEL_AUTO, PURLIN_TT_KERNEL_CHAIN, PURLIN_TT_KERNEL_PRODUCTS, purlin_tt_contraction_info,
    purlin_tt_contraction_options, purlin_tt_scaled,
};
use super::{guard, purlin_status};
use crate::error::{Error, Result};
use crate::tt::info::{Info, Kernel};
use crate::tt::options::Options;
use crate::tt::scaled::Scaled;

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
pub unsafe extern "C" fn purlin_tt_contraction_options_init(
    options: *mut purlin_tt_contraction_options,
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
pub unsafe extern "C" fn purlin_tt_contraction_info_init(
    info: *mut purlin_tt_contraction_info,
    size: usize,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// Options of a caller's struct.
pub(super) fn read_options(o: &purlin_tt_contraction_options) -> Result<Options> {
    let cut = match o.cut {
        -1 => None,
        cut => Some(usize::try_from(cut).map_err(|_| Error::invalid("cut", format!("is {cut}, which is no bond")))?),
    };
    let kernel = match o.kernel {
        PURLIN_TT_KERNEL_AUTO => None,
        PURLIN_TT_KERNEL_PRODUCTS => Some(Kernel::Products),
        PURLIN_TT_KERNEL_CHAIN => Some(Kernel::Chain),
        other => return Err(Error::invalid("kernel", format!("is {other}, outside -1 to 1"))),
    };
    let repeat = u64::try_from(o.repeat).ok().filter(|n| *n > 0);
    let repeat = repeat.ok_or_else(|| Error::invalid("repeat", format!("is {}, less than 1", o.repeat)))?;
    let mut options = Options { kernel, cut, repeat, ..Options::default() };
    o.read_into(&mut options)?;
    Ok(options)
}

impl purlin_tt_contraction_info {
    /// A report in the terms of C.
    pub(super) fn of(i: &Info) -> Self {
        let mut made = Self::zeroed();
        made.set(i);
        made
    }
}

impl From<Scaled> for purlin_tt_scaled {
    fn from(s: Scaled) -> Self {
        let phase = s.phase();
        Self {
            re: s.mantissa.re,
            im: s.mantissa.im,
            exponent: s.exponent,
            log_abs: s.log_abs(),
            phase_re: phase.re,
            phase_im: phase.im,
        }
    }
}
