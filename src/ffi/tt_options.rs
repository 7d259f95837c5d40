//! Options and report of contractions: the structs' init functions, and what they say in the core's terms.

use super::options::{self, fill_text, flag};
use super::tt_types::{
    PURLIN_TT_KERNEL_AUTO, PURLIN_TT_KERNEL_CHAIN, PURLIN_TT_KERNEL_PRODUCTS, purlin_tt_contraction_info,
    purlin_tt_contraction_options, purlin_tt_scaled,
};
use super::{guard, purlin_status};
use crate::error::{Error, Result};
use crate::shape;
use crate::tt::info::{Info, Kernel};
use crate::tt::options::{Conjugate, Math, Method, NormMethod, Options, Scaling};
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
        cut => {
            Some(usize::try_from(cut).map_err(|_| Error::invalid("cut", format!("is {cut}, neither a bond nor -1")))?)
        }
    };
    let kernel = match o.kernel {
        PURLIN_TT_KERNEL_AUTO => None,
        PURLIN_TT_KERNEL_PRODUCTS => Some(Kernel::Products),
        PURLIN_TT_KERNEL_CHAIN => Some(Kernel::Chain),
        other => return Err(Error::invalid("kernel", format!("is {other}, outside -1 to 1"))),
    };
    if o.reserved != 0 {
        return Err(Error::invalid("reserved", format!("is {}, 0 is needed", o.reserved)));
    }
    let limit = o.workspace_limit;
    let repeat = u64::try_from(o.repeat).ok().filter(|n| *n > 0);
    Ok(Options {
        method: Method::from_code("method", o.method)?,
        kernel,
        scaling: Scaling::from_code("scaling", o.scaling)?,
        conjugate: Conjugate::from_code("conjugate", o.conjugate)?,
        math: Math::from_code("math", o.math)?,
        norm_method: NormMethod::from_code("norm_method", o.norm_method)?,
        cut,
        block: shape::size("block", o.block, 0)?,
        repeat: repeat.ok_or_else(|| Error::invalid("repeat", format!("is {}, less than 1", o.repeat)))?,
        workspace_limit: u64::try_from(limit)
            .map_err(|_| Error::invalid("workspace_limit", format!("is {limit}, less than 0")))?,
        assume_hermitian: flag("assume_hermitian", o.assume_hermitian)?,
    })
}

impl purlin_tt_contraction_info {
    /// A report in the terms of C.
    pub(super) fn of(i: &Info) -> Self {
        Self {
            struct_size: 0,
            method: i.method as i32,
            kernel: i.kernel as i32,
            outcome: i.outcome as i32,
            halved: i32::from(i.halved),
            two_ended: i32::from(i.two_ended),
            scaled: i32::from(i.scaled),
            cut: i.cut,
            pairs: i.pairs,
            block: i.block,
            contexts: i.contexts,
            workspace_bytes: i.workspace_bytes,
            flops: i.flops,
            bytes: i.bytes,
            seconds: i.seconds,
            reason: fill_text(&i.reason),
        }
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
