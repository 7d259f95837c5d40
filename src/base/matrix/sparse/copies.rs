//! Copies of sparse matrices: without entries that are 0, and in other memory.

use std::sync::Arc;

use super::super::csr::{Csr, CsrParts, DeviceArrays};
use super::entries::{Entries, WHAT, charge_indices, csr, values};
use super::index::Rows;
use crate::alloc;
use crate::backend::gpu::{DeviceMemory, Gpu};
use crate::backend::memory::{HostMemory, Memory};
use crate::choice::word;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::range;
use crate::scalar::{Scalar, with_scalar};
use crate::shape::product;
use crate::tensor::Location;

/// A sparse matrix without the entries whose modulus is at most `threshold`; the others stay in their order. Entries at
/// one (row, column) count by their sum. NaN stays. The entries of a pattern are 1. O(rows + nnz). Needs memory for a
/// sum for each column if the columns of a row do not ascend strictly.
///
/// # Errors
/// [`Error::InvalidArgument`] for a threshold that is negative or NaN; [`Error::NotSupported`] for another storage or values
/// on a device; [`Error::OutOfMemory`]; [`Error::Cancelled`].
pub fn drop_zeros(context: &Arc<Context>, a: &Matrix, threshold: f64) -> Result<Matrix> {
    let (source, cancel) = (csr("a", a)?, context.cancel_watch());
    range::at_least_zero("threshold", threshold)?;
    let (rows, held) = (Rows::new(source)?, values("a", a)?);
    let _charge = charge_indices(context, &[rows.len() + 1, source.nnz(), source.nnz()])?;
    let (row_ptr, kept) = with_scalar!(a.dtype(), "a", T => {
        let numbers = held.as_ref().map(|v| v.as_slice::<T>()).transpose()?;
        let value = |k: usize| numbers.map_or((1.0, 0.0), |v| (v[k].re(), v[k].im()));
        let stays = |(re, im): (f64, f64)| {
            let size = re.hypot(im);
            size.is_nan() || size > threshold
        };
        let mut row_ptr = alloc::with_capacity(WHAT, rows.len() + 1)?;
        let mut kept = alloc::with_capacity(WHAT, source.nnz())?;
        row_ptr.push(0);
        // Sums over the columns of a row, if a column may be stored more than once.
        let places = if rows.are_ascending(cancel)? { 0 } else { source.cols() };
        let _sums = charge_indices(context, &[places, places])?;
        let mut sums = alloc::filled(WHAT, places, (0.0, 0.0))?;
        let mut paced = cancel.paced();
        for i in 0..rows.len() {
            paced.step(rows.row(i).len())?;
            if places == 0 {
                kept.extend(rows.row(i).filter(|&k| stays(value(k))));
            } else {
                for k in rows.row(i) {
                    let ((re, im), sum) = (value(k), &mut sums[rows.col(k)]);
                    *sum = (sum.0 + re, sum.1 + im);
                }
                kept.extend(rows.row(i).filter(|&k| stays(sums[rows.col(k)])));
                rows.row(i).for_each(|k| sums[rows.col(k)] = (0.0, 0.0));
            }
            row_ptr.push(kept.len());
        }
        Ok((row_ptr, kept))
    })?;
    let mut col_idx = alloc::with_capacity(WHAT, kept.len())?;
    for block in cancel.blocks(0..kept.len()) {
        col_idx.extend(kept[block?].iter().map(|&k| rows.col(k)));
    }
    let entries = Entries { rows: source.rows(), cols: source.cols(), row_ptr, col_idx, source: kept };
    entries.gathered(context, a.dtype(), held.as_deref(), false, cancel)
}

/// A copy of a sparse matrix in memory that purlin owns, on the host, or on the context's GPU, where products read it
/// in place. Its values are those of `a` at the time of the call, and the caller cannot change them. O(rows + nnz).
///
/// # Errors
/// [`Error::NotSupported`] for another storage, for a location that sparse matrices do not support, and for a device in
/// a context on the CPU; [`Error::OutOfMemory`], [`Error::OutOfDeviceMemory`], [`Error::Cuda`].
pub fn copy_to(context: &Arc<Context>, a: &Matrix, location: Location) -> Result<Matrix> {
    let source = csr("a", a)?;
    let parts = source.parts();
    let (rows, nnz) = (source.rows(), source.nnz());
    let offsets = product(WHAT, rows + 1, parts.row_ptr_type.dtype().size())?;
    let columns = product(WHAT, nnz, parts.col_idx_type.dtype().size())?;
    let numbers = product(WHAT, nnz, a.dtype().size())?;
    let size = (rows, source.cols(), nnz);
    let made = match location {
        Location::Host => {
            let values = parts.values.as_ref().map(|v| on_host(context, v, numbers)).transpose()?;
            let parts = CsrParts {
                row_ptr: host_copy(context, &parts.row_ptr, offsets)?,
                row_ptr_type: parts.row_ptr_type,
                col_idx: host_copy(context, &parts.col_idx, columns)?,
                col_idx_type: parts.col_idx_type,
                values: values.map(Memory::Host),
            };
            Csr::trusted(parts, size.0, size.1, size.2, source.index_base())?
        }
        Location::Device => {
            let gpu = context.gpu("location")?;
            let values = parts.values.as_ref().map(|v| on_device(gpu, v, numbers)).transpose()?;
            let arrays = DeviceArrays {
                row_ptr: uploaded(gpu, &parts.row_ptr, offsets)?,
                row_ptr_type: parts.row_ptr_type,
                col_idx: uploaded(gpu, &parts.col_idx, columns)?,
                col_idx_type: parts.col_idx_type,
                values,
            };
            Csr::trusted_on_device(context, arrays, size, source.index_base())?
        }
        other => {
            let other = word(other);
            return Err(Error::NotSupported(format!(
                "location: is {other}, sparse matrices are on the host or a device"
            )));
        }
    };
    Ok(Matrix::from_csr(context, a.dtype(), made, true))
}

fn host_copy(context: &Context, from: &HostMemory, bytes: usize) -> Result<HostMemory> {
    let mut own = HostMemory::allocate(WHAT, bytes, context.host_budget())?;
    own.as_mut_slice::<u8>()?.copy_from_slice(&from.as_slice::<u8>()?[..bytes]);
    Ok(own)
}

pub(super) fn on_host(context: &Context, from: &Memory, bytes: usize) -> Result<HostMemory> {
    let there = match from {
        Memory::Host(memory) => return host_copy(context, memory, bytes),
        Memory::Device(memory) => memory,
    };
    let mut own = HostMemory::allocate(WHAT, bytes, context.host_budget())?;
    let gpu = context.gpu("a")?;
    gpu.download(gpu.default_stream(), there, 0, own.as_mut_slice::<u8>()?)?;
    Ok(own)
}

fn uploaded(gpu: &Gpu, from: &HostMemory, bytes: usize) -> Result<DeviceMemory> {
    gpu.upload_numbers(gpu.default_stream(), WHAT, &from.as_slice::<u8>()?[..bytes])
}

fn on_device(gpu: &Gpu, from: &Memory, bytes: usize) -> Result<DeviceMemory> {
    let there = match from {
        Memory::Host(memory) => return uploaded(gpu, memory, bytes),
        Memory::Device(memory) => memory,
    };
    let mut own = gpu.allocate(WHAT, bytes)?;
    gpu.copy(gpu.default_stream(), there, &mut own, bytes)?;
    gpu.default_stream().synchronize()?;
    Ok(own)
}
