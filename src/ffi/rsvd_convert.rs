//! Randomized singular value decomposition: the structs' init functions, and what the structs say in the core's terms.

use super::array;
use super::options::{self, fill_text, flag};
use super::rsvd_types::*;
use super::tensor::computing_type;
use super::{guard, purlin_status};
use crate::dense::sketch::Distribution;
use crate::error::{Error, Result};
use crate::rsvd::data::Resident;
use crate::rsvd::info::Info;
use crate::rsvd::options::{
    Centering, ErrorKind, IterationPrecision, Method, Options, Orthonormalization, Right, Sign,
};
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

/// A size, or -1 for a choice.
fn size_or_auto(argument: &str, value: i64) -> Result<Option<usize>> {
    if value == -1 {
        return Ok(None);
    }
    shape::size(argument, value, -1).map(Some)
}

/// A size whose 0 stands for `default`.
fn size_or(argument: &str, value: i64, default: usize) -> Result<usize> {
    let size = shape::size(argument, value, 0)?;
    Ok(if size == 0 { default } else { size })
}

fn distribution(code: i32) -> Result<Distribution> {
    match code {
        PURLIN_SKETCH_GAUSSIAN => Ok(Distribution::Gaussian),
        PURLIN_SKETCH_UNIFORM => Ok(Distribution::Uniform),
        PURLIN_SKETCH_RADEMACHER => Ok(Distribution::Rademacher),
        PURLIN_SKETCH_SPARSE_SIGN => Ok(Distribution::SparseSign),
        other => Err(Error::invalid("sketch", format!("is {other}, outside 0 to 3"))),
    }
}

fn sketch_code(distribution: Distribution) -> i32 {
    match distribution {
        Distribution::Gaussian => PURLIN_SKETCH_GAUSSIAN,
        Distribution::Uniform => PURLIN_SKETCH_UNIFORM,
        Distribution::Rademacher => PURLIN_SKETCH_RADEMACHER,
        Distribution::SparseSign => PURLIN_SKETCH_SPARSE_SIGN,
    }
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
    let options = Options {
        rank: shape::size("rank", o.rank, 0)?,
        oversampling: size_or_auto("oversampling", o.oversampling)?,
        power_iterations: size_or_auto("power_iterations", o.power_iterations)?,
        max_rank: shape::size("max_rank", o.max_rank, 0)?,
        block_columns: size_or("block_columns", o.block_columns, 16)?,
        block_rows: shape::size("block_rows", o.block_rows, 0)?,
        resident_rows: size_or_auto("resident_rows", o.resident_rows)?.map_or(Resident::Auto, Resident::AtMost),
        merge_width: shape::size("merge_width", o.merge_width, 0)?,
        probes: size_or("probes", o.probes, 10)?,
        seed: o.seed,
        tolerance: o.tolerance,
        smallest_ratio: o.smallest_ratio,
        dtype: computing_type(o.dtype)?,
        method: Method::from_code("method", o.method)?,
        orthonormalization: Orthonormalization::from_code("orthonormalization", o.orthonormalization)?,
        sketch: distribution(o.sketch)?,
        center: Centering::from_code("center", o.center)?,
        scale: flag("scale", o.scale)?,
        sign: Sign::from_code("sign", o.sign)?,
        right: Right::from_code("right", o.right)?,
        error: ErrorKind::from_code("error", o.error)?,
        one_pass: flag("one_pass", o.one_pass)?,
        restart_path,
        read_rate: o.read_rate,
        iteration_precision: IterationPrecision::from_code("iteration_precision", o.iteration_precision)?,
    };
    if o.reserved != 0 {
        return Err(Error::invalid("reserved", format!("is {}, 0 is needed", o.reserved)));
    }
    options.check()?;
    Ok(options)
}

impl purlin_rsvd_info {
    /// What is known of a run; the sketch is that of `options` unless one was given.
    pub(super) fn of(i: &Info, options: &Options) -> Self {
        Self {
            struct_size: 0,
            method: i.method as i32,
            orthonormalization: i.orthonormalization as i32,
            dtype: i.dtype as i32,
            transposed: i32::from(i.transposed),
            converged: i32::from(i.converged),
            restarted: i32::from(i.restarted),
            error_kind: i.error_kind as i32,
            sketch: if i.sketch_given { PURLIN_SKETCH_GIVEN } else { sketch_code(options.sketch) },
            rank: i.rank,
            columns: i.columns,
            power_iterations: i.power_iterations,
            passes: i.passes,
            passes_restarted: i.passes_restarted,
            contexts: i.contexts,
            blocks: i.blocks,
            block_rows: i.block_rows,
            resident_rows: i.resident_rows,
            orthonormalization_fallbacks: i.orthonormalization_fallbacks,
            bytes_to_device: i.bytes_to_device,
            bytes_tall: i.bytes_tall,
            bytes_read: i.bytes_read,
            bytes_predicted: i.bytes_predicted,
            device_bytes: i.device_bytes,
            host_bytes: i.host_bytes,
            device_bytes_used: i.device_bytes_used,
            host_bytes_used: i.host_bytes_used,
            frobenius: i.frobenius,
            max_abs: i.max_abs,
            error_frobenius: i.error_frobenius,
            error_relative: i.error_relative,
            error_spectral: i.error_spectral,
            seconds_read: i.seconds_read,
            seconds_link: i.seconds_link,
            seconds_multiply: i.seconds_multiply,
            seconds_orthonormalize: i.seconds_orthonormalize,
            seconds_small: i.seconds_small,
            seconds: i.seconds,
            seconds_predicted: i.seconds_predicted,
            reason: fill_text(&i.reason),
        }
    }
}
