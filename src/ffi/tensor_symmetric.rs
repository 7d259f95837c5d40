//! Batches of packed symmetric tensors.

use std::ffi::c_void;

use super::tensor::{
    PURLIN_ENTRY_MAJOR, PURLIN_PINNED, PURLIN_READ_ONLY, borrow_device, borrow_host, purlin_dtype, purlin_flags,
    purlin_location, purlin_tensor, put, storage_order,
};
use super::{context, guard, purlin_context, purlin_status};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{self, Layout};
use crate::tensor::{Symmetric, Tensor};

/// Layout of a borrowed symmetric batch; two zero strides mean packed.
fn symmetric_layout(
    dtype: DType,
    flags: purlin_flags,
    shape: Symmetric,
    count: i64,
    entry_stride: i64,
    tensor_stride: i64,
) -> Result<Layout> {
    let order = storage_order(flags, PURLIN_ENTRY_MAJOR | PURLIN_READ_ONLY)?;
    let dims = [shape.count(), shape::size("count", count, 0)?];
    if (entry_stride, tensor_stride) == (0, 0) {
        return shape.batch_layout(dtype, order, dims[1]);
    }
    let strides = [shape::size("entry_stride", entry_stride, 0)?, shape::size("tensor_stride", tensor_stride, 0)?];
    let sizes = [("count", dims[1]), ("entry_stride", strides[0]), ("tensor_stride", strides[1])];
    Layout::strided(&dims, &strides, dtype).map_err(|_| shape::too_large(&sizes))
}

/// Makes a batch of packed symmetric tensors of purlin's own memory, zeroed.
///
/// Each tensor has U = C(order + dimension - 1, order) entries in lexicographic order of the nondecreasing index
/// tuples (purlin_symmetric_indices lists them), not multiplied by the number of their permutations.
///
/// @param      context    the context it belongs to.
/// @param      dtype      PURLIN_F32 or PURLIN_F64.
/// @param      location   PURLIN_HOST or PURLIN_DEVICE.
/// @param      flags      PURLIN_PINNED, PURLIN_ENTRY_MAJOR or 0.
/// @param      order      number of indices, at least 2.
/// @param      dimension  range of each index, at least 1; U may not exceed 2^31 - 1.
/// @param      count      number of tensors, not negative.
/// @param[out] tensor     the batch; destroy it with purlin_tensor_destroy.
/// @return as purlin_tensor_create.
///
/// # Safety
/// `tensor` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_create_symmetric(
    context: *const purlin_context,
    dtype: purlin_dtype,
    location: purlin_location,
    flags: purlin_flags,
    order: i64,
    dimension: i64,
    count: i64,
    tensor: *mut *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = symmetric_dtype(dtype)?;
        let storage = storage_order(flags, PURLIN_ENTRY_MAJOR | PURLIN_PINNED)?;
        let location = super::tensor::location(location, flags)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tensor", tensor) }?;
        let shape = Symmetric::new(order, dimension)?;
        let count = shape::size("count", count, 0)?;
        put(target, Tensor::create_symmetric(&context, dtype, location, storage, shape, count)?)
    })
}

fn symmetric_dtype(code: purlin_dtype) -> Result<DType> {
    match DType::from_code("dtype", code)? {
        real @ (DType::F32 | DType::F64) => Ok(real),
        other => {
            Err(Error::NotSupported(format!("dtype: {} in symmetric tensors, F32 or F64 is needed", other.name())))
        }
    }
}

/// Makes a batch of packed symmetric tensors over the caller's host memory, which must outlive the handle.
///
/// @param      context        the context it belongs to.
/// @param      dtype          PURLIN_F32 or PURLIN_F64.
/// @param      flags          PURLIN_ENTRY_MAJOR (for zero strides), PURLIN_READ_ONLY or 0.
/// @param      order          number of indices, at least 2.
/// @param      dimension      range of each index, at least 1.
/// @param      count          number of tensors, not negative.
/// @param      entry_stride   elements from one entry of a tensor to its next.
/// @param      tensor_stride  elements from one tensor to the next; both 0 mean packed: 1 and U, or `count` and 1 with
///                            PURLIN_ENTRY_MAJOR.
/// @param[in]  data           first entry of the first tensor.
/// @param[out] tensor         the batch; destroy it with purlin_tensor_destroy.
/// @return as purlin_tensor_borrow.
///
/// # Safety
/// `data` is valid for the extent of the batch while the handle lives, `tensor` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_borrow_symmetric(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    order: i64,
    dimension: i64,
    count: i64,
    entry_stride: i64,
    tensor_stride: i64,
    data: *mut c_void,
    tensor: *mut *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = symmetric_dtype(dtype)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tensor", tensor) }?;
        let shape = Symmetric::new(order, dimension)?;
        let layout = symmetric_layout(dtype, flags, shape, count, entry_stride, tensor_stride)?;
        // SAFETY: as promised above.
        let memory = unsafe { borrow_host(data, &layout, dtype) }?;
        put(target, Tensor::from_memory(&context, dtype, layout, memory, flags & PURLIN_READ_ONLY != 0, Some(shape))?)
    })
}

/// Makes a batch of packed symmetric tensors over the caller's device memory, which must outlive the handle.
///
/// @param      context        a context on the GPU of that memory.
/// @param      dtype          PURLIN_F32 or PURLIN_F64.
/// @param      flags          PURLIN_ENTRY_MAJOR (for zero strides), PURLIN_READ_ONLY or 0.
/// @param      order          number of indices, at least 2.
/// @param      dimension      range of each index, at least 1.
/// @param      count          number of tensors, not negative.
/// @param      entry_stride   as purlin_tensor_borrow_symmetric.
/// @param      tensor_stride  as purlin_tensor_borrow_symmetric.
/// @param      data           `CUdeviceptr` of the first entry of the first tensor.
/// @param[out] tensor         the batch; destroy it with purlin_tensor_destroy.
/// @return as purlin_tensor_borrow_device.
///
/// # Safety
/// As for purlin_tensor_borrow_symmetric.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_borrow_symmetric_device(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    order: i64,
    dimension: i64,
    count: i64,
    entry_stride: i64,
    tensor_stride: i64,
    data: u64,
    tensor: *mut *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = symmetric_dtype(dtype)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tensor", tensor) }?;
        let shape = Symmetric::new(order, dimension)?;
        let layout = symmetric_layout(dtype, flags, shape, count, entry_stride, tensor_stride)?;
        let memory = borrow_device(&context, data, &layout, dtype)?;
        put(target, Tensor::from_memory(&context, dtype, layout, memory, flags & PURLIN_READ_ONLY != 0, Some(shape))?)
    })
}
