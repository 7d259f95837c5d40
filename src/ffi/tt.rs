//! Tensor trains: creation, borrowed cores, and their elements.

use std::ffi::c_void;

use super::handle::{self, Exclusive, Shared};
use super::options;
use super::overlap::{self, Range};
use super::tensor::{
    self, PURLIN_DEVICE, PURLIN_HOST, PURLIN_PINNED, PURLIN_READ_ONLY, purlin_dtype, purlin_flags, purlin_location,
    purlin_tensor, storage_order,
};
use super::tt_cores::{device_cores, host_cores, put_sizes, read_sizes};
use super::tt_types::purlin_tt_info;
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;
use crate::tensor::train::{self, Shape, TensorTrain};

/// A tensor train (matrix-product state): d cores, core k an array of r_k x n_k x r_k+1, first index fastest. The entry
/// at i_0 .. i_d-1 is the trace of the product of the matrices G_k[:, i_k, :]. It is open if r_0 = r_d = 1 and else
/// cyclic, a tensor ring.
pub struct purlin_tt {
    _private: [u8; 0],
}

/// The train of an argument that is only read, on a context that is alive.
pub(super) fn input(argument: &str, train: *const purlin_tt) -> Result<Shared<TensorTrain>> {
    let train = handle::shared::<TensorTrain, _>(argument, train)?;
    train.context().check_alive()?;
    Ok(train)
}

/// The train of an argument that is written to.
fn output(argument: &str, train: *mut purlin_tt) -> Result<Exclusive<TensorTrain>> {
    let train = handle::exclusive::<TensorTrain, _>(argument, train)?;
    train.context().check_alive()?;
    Ok(train)
}

/// Enters a new train at the caller's place for its handle.
pub(super) fn put(target: &mut *mut purlin_tt, train: TensorTrain) -> Result<()> {
    *target = handle::insert(train)?;
    Ok(())
}

/// Shape from a caller's arrays.
///
/// # Safety
/// `modes` is NULL or valid for `length` elements, `ranks` for `length + 1`.
pub(super) unsafe fn shape_of(argument: &str, length: i64, modes: *const i64, ranks: *const i64) -> Result<Shape> {
    // SAFETY: as promised by the caller.
    let modes = unsafe { read_sizes("modes", length, 0, modes) }?;
    // SAFETY: as promised by the caller.
    let ranks = unsafe { read_sizes("ranks", length, 1, ranks) }?;
    Shape::new(argument, &modes, &ranks)
}

/// The ranges of all cores in memory.
pub(super) fn ranges<'a>(name: &'a str, train: &TensorTrain) -> Result<Vec<Range<'a>>> {
    let mut ranges = alloc::with_capacity("ranges of cores", train.shape().len())?;
    ranges.extend((0..train.shape().len()).map(|k| range(name, train, k)));
    Ok(ranges)
}

/// The range of core `k`, which there is.
pub(super) fn range<'a>(name: &'a str, train: &TensorTrain, k: usize) -> Range<'a> {
    Range::new(name, train.address(k), train.shape().core_len(k) * train.dtype().size(), train.is_device())
}

/// The range of core `k`.
pub(super) fn core_range<'a>(name: &'a str, train: &TensorTrain, k: i64) -> Result<Range<'a>> {
    Ok(range(name, train, train::core_number(train, k)?))
}

/// Properties of a train as C has them.
pub(super) fn describe(train: &TensorTrain) -> purlin_tt_info {
    let shape = train.shape();
    purlin_tt_info {
        struct_size: 0,
        dtype: train.dtype() as i32,
        location: if train.is_device() { PURLIN_DEVICE } else { PURLIN_HOST },
        flags: if train.is_read_only() { PURLIN_READ_ONLY } else { 0 },
        cyclic: i32::from(shape.is_cyclic()),
        uniform: i32::from(train.is_uniform()),
        owned: i32::from(train.memory(0).0.is_owned()),
        length: to_i64(shape.len()),
        max_rank: to_i64(shape.max_rank()),
        elements: to_i64(shape.elements()),
        bytes: to_i64(train.bytes()),
    }
}

/// Makes a tensor train in purlin's own memory. Each core has to be set before the train is used.
///
/// @param      context   the context it belongs to.
/// @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      location  PURLIN_HOST or PURLIN_DEVICE.
/// @param      flags     PURLIN_PINNED or 0.
/// @param      length    number of cores d, at least 1.
/// @param[in]  modes     d mode sizes n_k, at least 1.
/// @param[in]  ranks     d + 1 ranks r_k, at least 1; the first and the last are equal: 1 for an open train.
/// @param[out] tt        the train; destroy it with purlin_tt_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant, element
/// type, sizes: the message names the core; NULL pointer), `PURLIN_ERROR_NOT_SUPPORTED` (device memory in a context on
/// the CPU), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
///
/// # Safety
/// `modes` is NULL or valid for `length` elements, `ranks` for `length + 1`; `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_create(
    context: *const purlin_context,
    dtype: purlin_dtype,
    location: purlin_location,
    flags: purlin_flags,
    length: i64,
    modes: *const i64,
    ranks: *const i64,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        storage_order(flags, PURLIN_PINNED)?;
        let location = tensor::location(location, flags)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: as promised above.
        let shape = unsafe { shape_of("ranks", length, modes, ranks) }?;
        put(target, TensorTrain::create(&context, dtype, location, shape)?)
    })
}

/// Makes a tensor train over the caller's cores in host memory, which must outlive the handle. Nothing is copied; the
/// same core may stand at several places, and where it is the same at all the train is uniform.
///
/// @param      context  the context it belongs to.
/// @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      flags    PURLIN_READ_ONLY or 0.
/// @param      length   number of cores d, at least 1.
/// @param[in]  modes    d mode sizes n_k, at least 1.
/// @param[in]  ranks    d + 1 ranks r_k, at least 1, the first equal to the last.
/// @param[in]  cores    d addresses of cores, each packed with the first index fastest: a Fortran array `a(r, n, s)`.
/// @param[out] tt       the train; destroy it with purlin_tt_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (as purlin_tt_create; a
/// core that is NULL or not aligned), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// As for purlin_tt_create; `cores` is NULL or valid for `length` addresses, each valid for its core while the handle
/// lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_borrow(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    length: i64,
    modes: *const i64,
    ranks: *const i64,
    cores: *const *mut c_void,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        storage_order(flags, PURLIN_READ_ONLY)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: as promised above.
        let shape = unsafe { shape_of("ranks", length, modes, ranks) }?;
        // SAFETY: as promised above.
        let memory = unsafe { host_cores(&shape, dtype, cores) }?;
        put(target, TensorTrain::from_cores(&context, dtype, shape, memory, flags & PURLIN_READ_ONLY != 0)?)
    })
}

/// Makes a tensor train over the caller's cores in device memory, which must outlive the handle.
///
/// @param      context  a context on the GPU of that memory.
/// @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      flags    PURLIN_READ_ONLY or 0.
/// @param      length   number of cores d, at least 1.
/// @param[in]  modes    d mode sizes n_k, at least 1.
/// @param[in]  ranks    d + 1 ranks r_k, at least 1, the first equal to the last.
/// @param[in]  cores    d `CUdeviceptr` of cores, each packed with the first index fastest.
/// @param[out] tt       the train; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_borrow; `PURLIN_ERROR_INVALID_ARGUMENT` also for memory that is not this GPU's,
/// `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// As for purlin_tt_borrow.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_borrow_device(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    length: i64,
    modes: *const i64,
    ranks: *const i64,
    cores: *const u64,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        storage_order(flags, PURLIN_READ_ONLY)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: as promised above.
        let shape = unsafe { shape_of("ranks", length, modes, ranks) }?;
        // SAFETY: as promised above.
        let memory = unsafe { device_cores(&context, &shape, dtype, cores) }?;
        put(target, TensorTrain::from_cores(&context, dtype, shape, memory, flags & PURLIN_READ_ONLY != 0)?)
    })
}

/// Writes a core: a copy of a tensor. Strides of the tensor bring a core in any order of its axes into the train's, as
/// that of C arrays.
///
/// @param tt      the train.
/// @param stream  NULL for the context's own.
/// @param k       the core, 0 to d - 1.
/// @param core    r_k x n_k x r_k+1, of the train's element type; any strides on the host, packed on a device.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`k`, dimensions, type,
/// another context, a train that was borrowed read-only, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory),
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_set_core(
    tt: *mut purlin_tt,
    stream: *const purlin_stream,
    k: i64,
    core: *const purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let mut train = output("tt", tt)?;
        let stream = stream::get(stream)?;
        let core = tensor::input("core", core)?;
        overlap::check(&[Range::of("core", &core)], &[core_range("tt", &train, k)?])?;
        let shape = train.shape().clone();
        train::write_core("tt", stream.as_deref(), &mut train, k, |k| shape.core(k).to_vec(), &core)
    })
}

/// Reads a core into a tensor.
///
/// @param tt      the train.
/// @param stream  NULL for the context's own.
/// @param k       the core, 0 to d - 1.
/// @param core    r_k x n_k x r_k+1, of the train's element type; any strides on the host, where it is complete on
///                return; packed on a device.
/// @return as purlin_tt_set_core; `PURLIN_ERROR_INVALID_ARGUMENT` also for a core that has not been set.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_core(
    tt: *const purlin_tt,
    stream: *const purlin_stream,
    k: i64,
    core: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let train = input("tt", tt)?;
        let stream = stream::get(stream)?;
        let mut core = tensor::output("core", core)?;
        overlap::check(&[core_range("tt", &train, k)?], &[Range::of("core", &core)])?;
        train::read_core("tt", stream.as_deref(), &train, k, |k| train.shape().core(k).to_vec(), &mut core)
    })
}

/// Address of a core, on the host or the device: r_k x n_k x r_k+1 elements, first index fastest, as long as the train
/// lives.
///
/// @param      tt       the train.
/// @param      k        the core, 0 to d - 1.
/// @param[out] address  of its first element.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`k`, NULL pointer).
///
/// # Safety
/// `address` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_core_address(tt: *const purlin_tt, k: i64, address: *mut u64) -> purlin_status {
    guard::run(|| {
        let train = input("tt", tt)?;
        // SAFETY: the caller promises NULL or a valid pointer.
        let address = unsafe { super::pointer::output("address", address) }?;
        *address = train.address(train::core_number(&train, k)?);
        Ok(())
    })
}

/// Copies the cores of a train into another of the same mode sizes, ranks and element type, in any direction between
/// host and device.
///
/// @param context      the context of both trains.
/// @param stream       NULL for the context's own.
/// @param source       read.
/// @param destination  written; complete on return on the host, in stream order on a device.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (another shape, type or
/// context, a core that has not been set, read-only destination, overlap), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_copy(
    context: *const purlin_context,
    stream: *const purlin_stream,
    source: *const purlin_tt,
    destination: *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let source = input("source", source)?;
        let mut destination = output("destination", destination)?;
        overlap::check_many(&ranges("source", &source)?, &ranges("destination", &destination)?)?;
        train::copy(&context, stream.as_deref(), &source, &mut destination)
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
pub unsafe extern "C" fn purlin_tt_info_init(info: *mut purlin_tt_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// Type, location, number of cores and size of a tensor train. purlin_tt_shape gives its modes and ranks.
///
/// @param      tt    the train.
/// @param[out] info  filled in; initialize it with purlin_tt_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
/// struct_size).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_properties(tt: *const purlin_tt, info: *mut purlin_tt_info) -> purlin_status {
    guard::run(|| {
        let train = handle::shared::<TensorTrain, _>("tt", tt)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, describe(&train)) }
    })
}

/// Mode sizes and ranks of a tensor train.
///
/// @param      tt        the train.
/// @param      capacity  cores that the arrays hold, at least d.
/// @param[out] modes     mode sizes, d; may be NULL.
/// @param[out] ranks     ranks, d + 1; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (capacity).
///
/// # Safety
/// `modes` is NULL or valid for `capacity` elements, `ranks` for `capacity + 1`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_shape(
    tt: *const purlin_tt,
    capacity: i64,
    modes: *mut i64,
    ranks: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let train = handle::shared::<TensorTrain, _>("tt", tt)?;
        let shape = train.shape();
        // SAFETY: as promised above.
        unsafe { put_sizes(capacity, shape.len(), &[(modes, shape.modes()), (ranks, shape.ranks())]) }
    })
}

/// Destroys a tensor train, and frees its memory if that is purlin's.
///
/// @param tt  the train; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_destroy(tt: *mut purlin_tt) -> purlin_status {
    guard::run(|| handle::remove::<TensorTrain, _>("tt", tt))
}
