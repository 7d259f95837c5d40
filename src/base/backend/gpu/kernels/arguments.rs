//! Sizes, addresses and names that launches of several units compute.

use crate::backend::gpu::launch::Grid;
use crate::backend::gpu::{Kernel, Region};
use crate::error::{Error, Result};
use crate::scalar::{DType, Real};

/// A shared constant as a size.
pub(super) const fn size(constant: i32) -> usize {
    constant.unsigned_abs() as usize
}

/// Ending of the names of the kernels for a real type.
pub(super) fn suffix<T: Real>() -> &'static str {
    if size_of::<T>() == 4 { "f32" } else { "f64" }
}

/// Ending of the names of the kernels for a type of real or complex numbers.
pub(super) fn suffix_of(dtype: DType) -> Result<&'static str> {
    Ok(match dtype {
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::CF32 => "cf32",
        DType::CF64 => "cf64",
        other => return Err(Error::Internal(format!("{}: no kernel computes in this type", other.name()))),
    })
}

/// Address of `count` elements of `size` bytes; 0 where there is no region.
pub(super) fn optional(size: usize, what: &str, region: Option<Region<'_>>, count: usize) -> Result<u64> {
    region.map_or(Ok(0), |r| r.array(what, count, size))
}

/// A size in a kernel's 32-bit field.
pub(super) fn small(what: &str, value: usize) -> Result<i32> {
    i32::try_from(value).map_err(|_| Error::NotSupported(format!("{what}: {value} is more than the GPU kernels take")))
}

/// Elements from the first to one past the last of an array with two strides.
pub(super) fn span(what: &str, rows: usize, row_stride: usize, columns: usize, column_stride: usize) -> Result<usize> {
    if rows == 0 || columns == 0 {
        return Ok(0);
    }
    (rows - 1)
        .checked_mul(row_stride)
        .and_then(|r| (columns - 1).checked_mul(column_stride)?.checked_add(r)?.checked_add(1))
        .ok_or_else(|| Error::invalid(what, "its strides pass the end of memory"))
}

/// The product of sizes, refused where it overflows.
pub(super) fn product(what: &str, factors: &[usize]) -> Result<usize> {
    factors
        .iter()
        .try_fold(1usize, |p, f| p.checked_mul(*f))
        .ok_or_else(|| Error::invalid(what, format!("{factors:?} elements are too many")))
}

/// At most `blocks` blocks, and no more than the device holds at once.
pub(super) fn filling(kernel: &Kernel, blocks: usize, threads: i32, shared: usize) -> Result<Grid> {
    let threads = threads.unsigned_abs();
    let resident = kernel.resident_blocks(threads, shared)?;
    Ok(Grid::row(u32::try_from(blocks).unwrap_or(u32::MAX).min(resident), threads, shared))
}
