//! Tensors: dense, and batches of packed symmetric ones.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use super::handle::{self, Exclusive, Shared};
use super::options::{self, versioned};
use super::overlap::{self, Range};
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{self, Layout, MAX_RANK, Order, to_i64};
use crate::tensor::{self, Location, Tensor};

/// An array of numbers: dense of any rank, or a batch of packed symmetric tensors; on the host or on the context's GPU.
pub struct purlin_tensor {
    _private: [u8; 0],
}

/// Element type: one of PURLIN_F32 to PURLIN_U32. I8, I16, U32 and F16 are stored, copied and exchanged, and read and
/// written by sources and sinks; solvers say which types they compute with.
pub type purlin_dtype = i32;
/// 32-bit IEEE float.
pub const PURLIN_F32: purlin_dtype = 0;
/// 64-bit IEEE float.
pub const PURLIN_F64: purlin_dtype = 1;
/// Complex of two 32-bit floats, {re, im}.
pub const PURLIN_CF32: purlin_dtype = 2;
/// Complex of two 64-bit floats, {re, im}.
pub const PURLIN_CF64: purlin_dtype = 3;
/// Signed 32-bit integer.
pub const PURLIN_I32: purlin_dtype = 4;
/// Signed 64-bit integer.
pub const PURLIN_I64: purlin_dtype = 5;
/// Unsigned 8-bit integer.
pub const PURLIN_U8: purlin_dtype = 6;
/// Unsigned 16-bit integer.
pub const PURLIN_U16: purlin_dtype = 7;
/// 16-bit IEEE float.
pub const PURLIN_F16: purlin_dtype = 8;
/// Signed 8-bit integer.
pub const PURLIN_I8: purlin_dtype = 9;
/// Signed 16-bit integer.
pub const PURLIN_I16: purlin_dtype = 10;
/// Unsigned 32-bit integer.
pub const PURLIN_U32: purlin_dtype = 11;

/// The type that an options struct asks to compute with: the matrix's own if it is F32, F64, CF32 or CF64, F64 for I32 and
/// U32, whose numbers F32 would round, and F32 for shorter integers and F16.
pub const PURLIN_DTYPE_AUTO: purlin_dtype = -1;

/// Where memory lies: PURLIN_HOST or PURLIN_DEVICE.
pub type purlin_location = i32;
/// Host memory, page-locked or not.
pub const PURLIN_HOST: purlin_location = 0;
/// Memory of the context's GPU.
pub const PURLIN_DEVICE: purlin_location = 1;

/// A set of PURLIN_ROW_MAJOR, PURLIN_READ_ONLY, PURLIN_PINNED and PURLIN_ENTRY_MAJOR, or 0.
pub type purlin_flags = i32;
/// Packed storage runs through the last index fastest.
pub const PURLIN_ROW_MAJOR: purlin_flags = 1;
/// The memory is only read; a call that would write to it is refused.
pub const PURLIN_READ_ONLY: purlin_flags = 2;
/// Host memory that a GPU copies to and from at full speed; ordinary memory in a context on the CPU.
pub const PURLIN_PINNED: purlin_flags = 4;
/// Symmetric batches: all tensors' first entries, then all second ones.
pub const PURLIN_ENTRY_MAJOR: purlin_flags = 8;

/// Properties of a tensor, and the address of its elements.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_tensor_info {
    /// Size of the caller's struct; set by purlin_tensor_info_init.
    pub struct_size: usize,
    /// Element type, one of PURLIN_F32 to PURLIN_U32.
    pub dtype: i32,
    /// PURLIN_HOST or PURLIN_DEVICE: where the elements are.
    pub location: i32,
    /// PURLIN_READ_ONLY where it holds, or 0.
    pub flags: i32,
    /// 1 if purlin allocated the memory, else 0.
    pub owned: i32,
    /// Number of dimensions; 2 for a symmetric batch (packed entries, tensors).
    pub ndim: i64,
    /// Order of the symmetric tensors; 0 for a dense tensor.
    pub symmetric_order: i64,
    /// Dimension of the symmetric tensors; 0 for a dense tensor.
    pub symmetric_dimension: i64,
    /// Product of the sizes of all dimensions.
    pub elements: i64,
    /// Bytes from the first element to one past the last.
    pub bytes: i64,
    /// Address of the first element, on the host or the device.
    pub data: u64,
}

versioned!(purlin_tensor_info, first = size_of::<Self>());

/// F32, F64, CF32 or CF64; other types are refused.
pub(super) fn scalar_type(argument: &str, code: purlin_dtype) -> Result<DType> {
    DType::from_code(argument, code)?.expect_scalar(argument)
}

/// The tensor of an argument that is only read.
pub(super) fn input(argument: &str, tensor: *const purlin_tensor) -> Result<Shared<Tensor>> {
    handle::shared(argument, tensor)
}

/// The tensor of a nullable argument that is only read.
pub(super) fn input_or_null(argument: &str, tensor: *const purlin_tensor) -> Result<Option<Shared<Tensor>>> {
    handle::shared_or_null(argument, tensor)
}

/// The tensor of an argument that is written to.
pub(super) fn output(argument: &str, tensor: *mut purlin_tensor) -> Result<Exclusive<Tensor>> {
    handle::exclusive(argument, tensor)
}

/// The tensor of a nullable argument that is written to.
pub(super) fn output_or_null(argument: &str, tensor: *mut purlin_tensor) -> Result<Option<Exclusive<Tensor>>> {
    handle::exclusive_or_null(argument, tensor)
}

/// The storage order that flags ask for, and a refusal of flags outside `allowed`.
pub(super) fn storage_order(flags: purlin_flags, allowed: purlin_flags) -> Result<Order> {
    if flags & !allowed != 0 {
        return Err(Error::invalid("flags", format!("is {flags}, only the bits of {allowed} have a meaning here")));
    }
    let row_major = flags & (PURLIN_ROW_MAJOR | PURLIN_ENTRY_MAJOR) != 0;
    Ok(if row_major { Order::RowMajor } else { Order::ColumnMajor })
}

/// The place that location and flags ask for.
pub(super) fn location(code: purlin_location, flags: purlin_flags) -> Result<Location> {
    match (code, flags & PURLIN_PINNED != 0) {
        (PURLIN_HOST, false) => Ok(Location::Host),
        (PURLIN_HOST, true) => Ok(Location::PinnedHost),
        (PURLIN_DEVICE, false) => Ok(Location::Device),
        (PURLIN_DEVICE, true) => {
            Err(Error::invalid("flags", "asks for pinned device memory; only host memory is pinned"))
        }
        (other, _) => Err(Error::invalid("location", format!("is {other}, outside 0 (host) to 1 (device)"))),
    }
}

/// A caller's array of `ndim` sizes.
///
/// # Safety
/// `values` is NULL or valid for `ndim` elements.
unsafe fn read_sizes(argument: &str, ndim: i64, values: *const i64) -> Result<Vec<usize>> {
    let count = usize::try_from(ndim)
        .ok()
        .filter(|n| *n <= MAX_RANK)
        .ok_or_else(|| Error::invalid("ndim", format!("is {ndim}, outside 0 to {MAX_RANK}")))?;
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: as promised by the caller.
    shape::sizes(argument, unsafe { super::pointer::list(argument, count, values) }?)
}

/// Layout of a borrowed dense tensor.
///
/// # Safety
/// As for [`read_sizes`], for both arrays.
unsafe fn borrowed_layout(
    dtype: DType,
    flags: purlin_flags,
    ndim: i64,
    dims: *const i64,
    strides: *const i64,
) -> Result<Layout> {
    let order = storage_order(flags, PURLIN_ROW_MAJOR | PURLIN_READ_ONLY)?;
    // SAFETY: as promised by the caller.
    let dims = unsafe { read_sizes("dims", ndim, dims) }?;
    if strides.is_null() {
        return Layout::packed(&dims, order, dtype);
    }
    // SAFETY: as promised by the caller.
    let strides = unsafe { read_sizes("strides", ndim, strides) }?;
    Layout::strided(&dims, &strides, dtype)
}

/// Caller's host memory of a layout.
///
/// # Safety
/// `data` is valid for the layout's extent while the result lives.
pub(super) unsafe fn borrow_host(data: *const c_void, layout: &Layout, dtype: DType) -> Result<Memory> {
    let bytes = layout.extent() * dtype.size();
    let start = match NonNull::new(data.cast_mut().cast::<u8>()) {
        Some(p) => p,
        None if bytes == 0 => NonNull::<u64>::dangling().cast(),
        None => return Err(Error::invalid("data", format!("is NULL, {bytes} bytes are needed"))),
    };
    if start.addr().get() % dtype.align() != 0 {
        let (a, name) = (dtype.align(), dtype.name());
        return Err(Error::invalid("data", format!("is not aligned to {a} bytes, as {name} needs")));
    }
    // SAFETY: as promised by the caller.
    Ok(Memory::Host(unsafe { HostMemory::borrow(start, bytes) }))
}

/// Caller's device memory of a layout.
pub(super) fn borrow_device(context: &Context, data: u64, layout: &Layout, dtype: DType) -> Result<Memory> {
    let bytes = layout.extent() * dtype.size();
    let gpu = context.gpu("data")?;
    if bytes > 0 && data == 0 {
        return Err(Error::invalid("data", format!("is 0, {bytes} bytes are needed")));
    }
    if !data.is_multiple_of(shape::to_u64(dtype.align())) {
        let (a, name) = (dtype.align(), dtype.name());
        return Err(Error::invalid("data", format!("is not aligned to {a} bytes, as {name} needs")));
    }
    Ok(Memory::Device(gpu.borrow("data", data, bytes, None)?))
}

pub(super) fn put(target: &mut *mut purlin_tensor, tensor: Tensor) -> Result<()> {
    *target = handle::insert(tensor)?;
    Ok(())
}

/// Makes a dense tensor of purlin's own memory, zeroed.
///
/// @param      context   the context it belongs to.
/// @param      dtype     element type.
/// @param      location  PURLIN_HOST or PURLIN_DEVICE.
/// @param      flags     PURLIN_ROW_MAJOR, PURLIN_PINNED or 0.
/// @param      ndim      number of dimensions, 0 to 32; 0 is a single number.
/// @param[in]  dims      `ndim` sizes, not negative.
/// @param[out] tensor    the tensor; destroy it with purlin_tensor_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant,
/// negative or too large size, NULL pointer), `PURLIN_ERROR_NOT_SUPPORTED` (device memory in a context on the CPU),
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
///
/// # Safety
/// `dims` is NULL or valid for `ndim` elements, `tensor` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_create(
    context: *const purlin_context,
    dtype: purlin_dtype,
    location: purlin_location,
    flags: purlin_flags,
    ndim: i64,
    dims: *const i64,
    tensor: *mut *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        let order = storage_order(flags, PURLIN_ROW_MAJOR | PURLIN_PINNED)?;
        let location = self::location(location, flags)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tensor", tensor) }?;
        // SAFETY: as promised above.
        let dims = unsafe { read_sizes("dims", ndim, dims) }?;
        put(target, Tensor::create(&context, dtype, location, order, &dims)?)
    })
}

/// Makes a dense tensor over the caller's host memory, which must outlive the handle.
///
/// @param      context  the context it belongs to.
/// @param      dtype    element type.
/// @param      flags    PURLIN_ROW_MAJOR (for `strides` NULL), PURLIN_READ_ONLY or 0.
/// @param      ndim     number of dimensions, 0 to 32.
/// @param[in]  dims     `ndim` sizes, not negative.
/// @param[in]  strides  `ndim` strides in elements, not negative; NULL for packed storage.
/// @param[in]  data     the first element, aligned as its component type.
/// @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant,
/// more than 32 dimensions, a negative size or stride, more than 2^63 bytes, a NULL or misaligned pointer),
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `data` is valid for the extent of `dims` and `strides` while the handle lives, the arrays for `ndim` elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_borrow(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    ndim: i64,
    dims: *const i64,
    strides: *const i64,
    data: *mut c_void,
    tensor: *mut *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tensor", tensor) }?;
        // SAFETY: as promised above.
        let layout = unsafe { borrowed_layout(dtype, flags, ndim, dims, strides) }?;
        // SAFETY: as promised above.
        let memory = unsafe { borrow_host(data, &layout, dtype) }?;
        put(target, Tensor::from_memory(&context, dtype, layout, memory, flags & PURLIN_READ_ONLY != 0, None)?)
    })
}

/// Makes a dense tensor over the caller's device memory, which must outlive the handle.
///
/// @param      context  a context on the GPU of that memory.
/// @param      dtype    element type.
/// @param      flags    PURLIN_ROW_MAJOR (for `strides` NULL), PURLIN_READ_ONLY or 0.
/// @param      ndim     number of dimensions, 0 to 32.
/// @param[in]  dims     `ndim` sizes, not negative.
/// @param[in]  strides  `ndim` strides in elements, not negative; NULL for packed storage.
/// @param      data     the `CUdeviceptr` of the first element (a pointer of the CUDA runtime, as an integer).
/// @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
/// @return as purlin_tensor_borrow; `PURLIN_ERROR_INVALID_ARGUMENT` also for memory that is not this GPU's,
/// `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// As for purlin_tensor_borrow.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_borrow_device(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    ndim: i64,
    dims: *const i64,
    strides: *const i64,
    data: u64,
    tensor: *mut *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tensor", tensor) }?;
        // SAFETY: as promised above.
        let layout = unsafe { borrowed_layout(dtype, flags, ndim, dims, strides) }?;
        let memory = borrow_device(&context, data, &layout, dtype)?;
        put(target, Tensor::from_memory(&context, dtype, layout, memory, flags & PURLIN_READ_ONLY != 0, None)?)
    })
}

/// Copies a tensor into another of the same dimensions and element type, in any direction between host and device.
///
/// Host destinations are complete on return, device destinations in stream order. Host tensors may have any strides;
/// device tensors must be packed, in either order. From device to device, matrices of 4, 8 or 16 bytes an element need
/// only have contiguous rows or columns; for other tensors of different orders the call waits, and needs each twice in
/// host memory. One pass over the elements; a strided host tensor takes a second on its way to or from a device,
/// and a packed copy in host memory.
///
/// @param      context      the context of both tensors.
/// @param      stream       NULL for the context's own.
/// @param      source       read.
/// @param      destination  written.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (other dimensions, type or
/// context, overlap, read-only destination), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory),
/// `PURLIN_ERROR_CANCELLED` (on the host, which leaves some elements copied), `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tensor_copy(
    context: *const purlin_context,
    stream: *const purlin_stream,
    source: *const purlin_tensor,
    destination: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let source = input("source", source)?;
        let mut destination = output("destination", destination)?;
        overlap::check(&[Range::of("source", &source)], &[Range::of("destination", &destination)])?;
        tensor::copy(&context, stream.as_deref(), &source, &mut destination)
    })
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
pub unsafe extern "C" fn purlin_tensor_info_init(info: *mut purlin_tensor_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// Properties of a tensor. Its sizes are in purlin_tensor_shape.
///
/// @param      tensor  the tensor.
/// @param[out] info    filled in; initialize it with purlin_tensor_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
/// struct_size).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_properties(
    tensor: *const purlin_tensor,
    info: *mut purlin_tensor_info,
) -> purlin_status {
    guard::run(|| {
        let t = input("tensor", tensor)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        let symmetric = t.symmetric();
        let value = purlin_tensor_info {
            struct_size: 0,
            dtype: t.dtype() as i32,
            location: if t.is_device() { PURLIN_DEVICE } else { PURLIN_HOST },
            flags: if t.is_read_only() { PURLIN_READ_ONLY } else { 0 },
            owned: i32::from(t.memory().is_owned()),
            ndim: to_i64(t.dims().len()),
            symmetric_order: symmetric.map_or(0, |s| to_i64(s.order)),
            symmetric_dimension: symmetric.map_or(0, |s| to_i64(s.dimension)),
            elements: to_i64(t.layout().elements()),
            bytes: to_i64(t.layout().extent() * t.dtype().size()),
            data: t.memory().address(),
        };
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, value) }
    })
}

/// Sizes and strides of a tensor.
///
/// @param      tensor    the tensor.
/// @param      capacity  length of each array, at least the number of dimensions.
/// @param[out] dims      sizes; may be NULL.
/// @param[out] strides   strides in elements; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (capacity).
///
/// # Safety
/// Each array is NULL or valid for `capacity` elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_shape(
    tensor: *const purlin_tensor,
    capacity: i64,
    dims: *mut i64,
    strides: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let t = input("tensor", tensor)?;
        let ndim = t.dims().len();
        if usize::try_from(capacity).map_or(true, |c| c < ndim) {
            return Err(Error::invalid("capacity", format!("is {capacity}, less than ndim = {ndim}")));
        }
        super::pointer::check_optional_outputs("dims", dims)?;
        super::pointer::check_optional_outputs("strides", strides)?;
        for (target, values) in [(dims, t.layout().dims()), (strides, t.layout().strides())] {
            if !target.is_null() {
                for (k, &v) in values.iter().enumerate() {
                    // SAFETY: not null; the caller promises `capacity` elements, which is at least ndim.
                    unsafe { target.add(k).write(to_i64(v)) };
                }
            }
        }
        Ok(())
    })
}

/// Destroys a tensor, and frees its memory if that is purlin's.
///
/// @param tensor  the tensor; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tensor_destroy(tensor: *mut purlin_tensor) -> purlin_status {
    guard::run(|| handle::remove::<Tensor, _>("tensor", tensor))
}

/// Enters a tensor made by another part of the boundary.
pub(super) fn insert(tensor: Tensor) -> Result<*mut purlin_tensor> {
    handle::insert(tensor)
}

/// The context an argument's tensor belongs to.
pub(super) fn context_of(tensor: &Tensor) -> &Arc<Context> {
    tensor.context()
}
