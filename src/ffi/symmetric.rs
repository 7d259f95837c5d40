//! Packed symmetric tensors: tables, conversions, norms.

use super::options::flag;
use super::overlap::{self, Range};
use super::tensor::{self, purlin_tensor};
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::{Error, Result};
use crate::shape::{product, to_i64};
use crate::tensor::Symmetric;
use crate::tensor::symmetric::{self, Norm, Packing};

/// Packed values are the tensor's entries.
pub const PURLIN_PACKING_ENTRIES: i32 = 0;
/// Packed values are the coefficients of the polynomial A x^m: entries times their multinomials.
pub const PURLIN_PACKING_POLYNOMIAL: i32 = 1;

/// Square root of the sum of squares over all n^m entries.
pub const PURLIN_NORM_FROBENIUS: i32 = 0;
/// Sum of magnitudes over all n^m entries.
pub const PURLIN_NORM_ONE: i32 = 1;
/// Largest magnitude over all places.
pub const PURLIN_NORM_MAX: i32 = 2;

/// Number of packed entries of a symmetric tensor, U = C(order + dimension - 1, order).
///
/// @param      order      number of indices m, 2 to 2^20.
/// @param      dimension  range n of each index, at least 1.
/// @param[out] count      U.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, `order` or `dimension` out of range, U
/// over 2^31 - 1).
///
/// # Safety
/// `count` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_symmetric_count(order: i64, dimension: i64, count: *mut i64) -> purlin_status {
    guard::run(|| {
        // SAFETY: as promised above.
        let target = unsafe { super::pointer::output("count", count) }?;
        *target = to_i64(Symmetric::new(order, dimension)?.count());
        Ok(())
    })
}

/// A caller's table of `rows` numbers an entry, filled by `fill`.
///
/// # Safety
/// `table` is NULL or valid for `rows * U` elements.
unsafe fn table(
    name: &str,
    order: i64,
    dimension: i64,
    table: *mut i64,
    rows: impl FnOnce(Symmetric) -> usize,
    fill: impl FnOnce(Symmetric, &mut [i64]) -> Result<()>,
) -> Result<()> {
    let shape = Symmetric::new(order, dimension)?;
    let count = product(name, rows(shape), shape.count())?;
    product(name, count, size_of::<i64>()).and_then(|b| {
        isize::try_from(b).map_err(|_| Error::invalid(name, format!("needs {b} bytes, more than 2^63")))
    })?;
    super::pointer::check_outputs(name, table)?;
    // SAFETY: not null, aligned, of a size that a slice may have; the caller promises the extent.
    fill(shape, unsafe { std::slice::from_raw_parts_mut(table, count) })
}

/// Index tuples of the packed entries, 0-based and nondecreasing, in packed (lexicographic) order. O(m U).
///
/// @param      order      number of indices m, at least 2.
/// @param      dimension  range n of each index, at least 1.
/// @param[out] indices    host, m x U, column-major: the tuple of entry r starts at `indices[r * m]`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, `order` or `dimension` out of range, U
/// over 2^31 - 1), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `indices` is NULL or valid for m * U initialized elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_symmetric_indices(order: i64, dimension: i64, indices: *mut i64) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { table("indices", order, dimension, indices, |s| s.order, symmetric::indices) })
}

/// Exponents of the packed entries' monomials: how often each index stands in the tuple. O((m + n) U).
///
/// @param      order      number of indices m, at least 2.
/// @param      dimension  range n of each index, at least 1.
/// @param[out] exponents  host, n x U, column-major.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (as purlin_symmetric_indices),
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `exponents` is NULL or valid for n * U initialized elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_symmetric_exponents(order: i64, dimension: i64, exponents: *mut i64) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { table("exponents", order, dimension, exponents, |s| s.dimension, symmetric::exponents) })
}

/// Multinomials of the packed entries: m! / (k1! .. kn!), the number of tensor entries that each stands for. O(m U).
///
/// @param      order         number of indices m, at least 2.
/// @param      dimension     range n of each index, at least 1.
/// @param[out] multinomials  host, U elements.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (as purlin_symmetric_indices; a multinomial above
/// 2^63 - 1), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `multinomials` is NULL or valid for U initialized elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_symmetric_multinomials(
    order: i64,
    dimension: i64,
    multinomials: *mut i64,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { table("multinomials", order, dimension, multinomials, |_| 1, symmetric::multinomials) })
}

fn packing(argument: &str, code: i32) -> Result<Packing> {
    match code {
        PURLIN_PACKING_ENTRIES => Ok(Packing::Entries),
        PURLIN_PACKING_POLYNOMIAL => Ok(Packing::Polynomial),
        other => Err(Error::invalid(argument, format!("is {other}, outside 0 (entries) to 1 (polynomial)"))),
    }
}

/// Converts a symmetric batch between tensor entries and polynomial coefficients, or copies it. O(m U + T U). On the
/// device the result is complete in stream order.
///
/// @param      context              the context of both tensors.
/// @param      stream               NULL for the context's own.
/// @param      source               symmetric batch, host or device, F32 or F64.
/// @param      source_packing       PURLIN_PACKING_ENTRIES or PURLIN_PACKING_POLYNOMIAL.
/// @param      destination          symmetric batch of the same order, dimension and count, F32 or F64, where `source` is.
/// @param      destination_packing  as `source_packing`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (another order, dimension
/// or count, a dense tensor, type, `source_packing` or `destination_packing`, a read-only `destination`, another
/// context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (one tensor on the host, another on the device),
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_symmetric_convert(
    context: *const purlin_context,
    stream: *const purlin_stream,
    source: *const purlin_tensor,
    source_packing: i32,
    destination: *mut purlin_tensor,
    destination_packing: i32,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let source = tensor::input("source", source)?;
        let mut destination = tensor::output("destination", destination)?;
        let from = packing("source_packing", source_packing)?;
        let to = packing("destination_packing", destination_packing)?;
        overlap::check(&[Range::of("source", &source)], &[Range::of("destination", &destination)])?;
        symmetric::convert(&context, stream.as_deref(), &source, from, &mut destination, to)
    })
}

/// Packs dense tensors. O(m n^m T). On the device the result is complete in stream order if `symmetrize` is 1; else
/// the call waits for the outcome of the check, which is the same as on the host.
///
/// @param      context          the context of both tensors.
/// @param      stream           NULL for the context's own.
/// @param      full             dense, n x .. x n (m times) or n x .. x n x T, host or device, F32 or F64.
/// @param      symmetrize       0: a tensor that is not symmetric is refused; 1: each entry is the mean over the
///                              permutations of its indices.
/// @param      check_tolerance  largest asymmetry allowed, relative to the tensor's largest magnitude; 0 means 1e-12
///                              for F64 and 1e-5 for F32.
/// @param      packed           symmetric batch of T tensors, where `full` is, the element type of `full`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types,
/// `symmetrize`, a `check_tolerance` below 0 or NaN, asymmetry: the entry is named; a read-only `packed`, another
/// context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (one tensor on the host, another on the device, or on the device a
/// tensor of 2^31 elements or more), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_symmetric_from_full(
    context: *const purlin_context,
    stream: *const purlin_stream,
    full: *const purlin_tensor,
    symmetrize: i32,
    check_tolerance: f64,
    packed: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let full = tensor::input("full", full)?;
        let mut packed = tensor::output("packed", packed)?;
        let symmetrize = flag("symmetrize", symmetrize)?;
        overlap::check(&[Range::of("full", &full)], &[Range::of("packed", &packed)])?;
        symmetric::from_full(&context, stream.as_deref(), &full, symmetrize, check_tolerance, &mut packed)
    })
}

/// Unpacks symmetric tensors into dense ones. O(m n^m T). On the device the result is complete in stream order.
///
/// @param      context  the context of both tensors.
/// @param      stream   NULL for the context's own.
/// @param      packed   symmetric batch of T tensors, host or device, F32 or F64.
/// @param      full     dense, n x .. x n x T, or without the T if it is 1; where `packed` is, of its element type.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, a read-only
/// `full`, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (one tensor on the host, another on the device, or
/// on the device a tensor of 2^31 elements or more), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_symmetric_to_full(
    context: *const purlin_context,
    stream: *const purlin_stream,
    packed: *const purlin_tensor,
    full: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let packed = tensor::input("packed", packed)?;
        let mut full = tensor::output("full", full)?;
        overlap::check(&[Range::of("packed", &packed)], &[Range::of("full", &full)])?;
        symmetric::to_full(&context, stream.as_deref(), &packed, &mut full)
    })
}

/// Norms of symmetric tensors, over all n^m entries. O(m U + T U). On the device the result is complete in stream
/// order.
///
/// @param      context  the context of both tensors.
/// @param      stream   NULL for the context's own.
/// @param      packed   symmetric batch of T tensors, host or device, F32 or F64.
/// @param      kind     PURLIN_NORM_FROBENIUS, PURLIN_NORM_ONE or PURLIN_NORM_MAX.
/// @param      norms    dense, T elements, where `packed` is, of its element type.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`kind`, sizes, types,
/// read-only `norms`, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (one tensor on the host, another on the
/// device), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_symmetric_norm(
    context: *const purlin_context,
    stream: *const purlin_stream,
    packed: *const purlin_tensor,
    kind: i32,
    norms: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let packed = tensor::input("packed", packed)?;
        let mut norms = tensor::output("norms", norms)?;
        let kind = match kind {
            PURLIN_NORM_FROBENIUS => Norm::Frobenius,
            PURLIN_NORM_ONE => Norm::One,
            PURLIN_NORM_MAX => Norm::Max,
            other => return Err(Error::invalid("kind", format!("is {other}, outside 0 to 2"))),
        };
        overlap::check(&[Range::of("packed", &packed)], &[Range::of("norms", &norms)])?;
        symmetric::norm(&context, stream.as_deref(), &packed, kind, &mut norms)
    })
}

/// Fills a symmetric batch with multiples of the identity tensor E, for which E x^m = |x|^m. Adding c E to a tensor
/// keeps its eigenvectors and adds c to its eigenvalues. O(m U + T U). On the device the result is complete in stream
/// order.
///
/// @param      context  the context of the batch.
/// @param      stream   NULL for the context's own.
/// @param      scale    multiple c; finite.
/// @param      packed   symmetric batch of even order, host or device, F32 or F64.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a dense tensor, type, an
/// odd order, a `scale` that is not finite, a read-only `packed`, another context), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_symmetric_identity(
    context: *const purlin_context,
    stream: *const purlin_stream,
    scale: f64,
    packed: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let mut packed = tensor::output("packed", packed)?;
        symmetric::identity(&context, stream.as_deref(), scale, &mut packed)
    })
}
