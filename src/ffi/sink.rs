//! Sinks: arrays that a run writes in blocks.

use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use super::array;
use super::handle;
use super::tensor::{purlin_dtype, purlin_tensor};
use super::{context, guard, purlin_context, purlin_status};
use crate::backend::fork;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::metaimage::MetaImageSink;
use crate::blocks::number::{Endianness, Number};
use crate::blocks::sink::{CallbackSink, FileSink, Sink};
use crate::blocks::tiff::TiffSink;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape;
use crate::tensor::Tensor;

/// An array of up to four axes that a run writes in blocks: a tensor, a file, or a caller's function that takes the
/// blocks. It may be larger than memory.
///
/// A file is written under a provisional name in its folder, made durable, and renamed when the run has succeeded. A
/// failed or cancelled run, or a sink that is destroyed unused, leaves the old file as it was. A path names no file, a
/// regular file that this process may write to, or a symbolic link to one: the link is followed and stays. Directories,
/// FIFOs, sockets, devices and links to nothing are refused with `PURLIN_ERROR_IO`; to write to one, take
/// purlin_sink_to_callback. The new file has the permissions of the one that it replaces, and its owner and group where
/// this process may set them; otherwise the permissions of any new file. Of a file with several hard links only the name
/// that was given gets the new contents. These rules hold for every file that purlin writes.
///
/// The provisional file of a sink that is not destroyed, in a program that ends by `exit` or a signal, stays.
///
/// A run refuses a sink that goes to a file that it reads, by whatever name, and two sinks that go to one file. It refuses
/// a sink to a tensor that overlaps another argument in memory, from the first element to the last: strided tensors that
/// interleave without a common element are refused, too.
///
/// A run uses a sink up, whether it succeeds or fails; a call
/// that is refused for its arguments (`PURLIN_ERROR_INVALID_ARGUMENT`, `_INVALID_HANDLE`, `_BUSY`, `_NOT_SUPPORTED`,
/// `_FORKED`) does not. A sink that is used up is refused by every later call.
pub struct purlin_sink {
    _private: [u8; 0],
}

/// Where a sink's elements go.
pub(super) enum Target {
    /// To a tensor, which the sink keeps alive.
    Tensor(Arc<handle::Lock<Tensor>>),
    /// Anywhere else. No thread ever waits for the lock: it makes an object that one thread uses at a time `Sync`.
    Blocks(Mutex<Box<dyn Sink>>),
}

impl Target {
    /// The sink of blocks, which the call has to itself.
    pub(super) fn blocks(sink: &mut Mutex<Box<dyn Sink>>) -> &mut dyn Sink {
        &mut **sink.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The object behind a handle of a sink.
pub(super) struct SinkObject {
    context: Arc<Context>,
    /// `None` once it is used up.
    target: Option<Target>,
}

impl SinkObject {
    /// Runs `body` on the sink's target, and uses the sink up unless the call was refused for its arguments.
    pub(super) fn consume<R>(
        &mut self,
        argument: &str,
        context: &Arc<Context>,
        body: impl FnOnce(&mut Target) -> Result<R>,
    ) -> Result<R> {
        context.expect_own(argument, &self.context)?;
        let Some(target) = &mut self.target else {
            return Err(Error::invalid(argument, "was used by an earlier run; a sink is used once"));
        };
        let outcome = body(target);
        let refused = matches!(
            outcome,
            Err(Error::InvalidArgument { .. }
                | Error::InvalidHandle { .. }
                | Error::Busy { .. }
                | Error::NotSupported(_)
                | Error::Forked(_))
        );
        if !refused {
            // An unfinished file goes here.
            self.target = None;
        }
        outcome
    }
}

/// Writes one block of an array.
///
/// `first` and `count` have one number an axis: the first element and how many. `block` holds exactly those elements,
/// packed with the first axis fastest, in the machine's byte order and aligned as the element type; it is the
/// function's to read until it returns. A return other than 0 ends the run with `PURLIN_ERROR_IO`, whose message has
/// the number. Blocks come in any order, and each element comes in exactly one. The function is called from threads of
/// purlin's, one call at a time, and must not throw, longjmp, unwind or use the objects of the run, but to cancel it.
pub type purlin_write_fn =
    Option<unsafe extern "C" fn(first: *const i64, count: *const i64, block: *const c_void, user: *mut c_void) -> i32>;

/// A caller's writing function and its user pointer.
struct Writer {
    write: unsafe extern "C" fn(*const i64, *const i64, *const c_void, *mut c_void) -> i32,
    user: *mut c_void,
}
// SAFETY: the caller promises that the function may be called with this pointer from purlin's threads.
unsafe impl Send for Writer {}

impl Writer {
    fn write(&self, number: Number, block: &Block, data: &[u8]) -> Result<()> {
        let (first, count) = (array::axes(block.first()), array::axes(block.count()));
        array::check_aligned(number, data)?;
        // SAFETY: `data` holds the block's elements, which the caller promises to read only.
        let write = || unsafe { (self.write)(first.as_ptr(), count.as_ptr(), data.as_ptr().cast(), self.user) };
        let code = fork::call_host(write)?;
        array::outcome("write", code, block)
    }
}

fn put(target: &mut *mut purlin_sink, context: Arc<Context>, sink: impl Sink + 'static) -> Result<()> {
    insert(target, context, Target::Blocks(Mutex::new(Box::new(sink))))
}

fn insert(target: &mut *mut purlin_sink, context: Arc<Context>, to: Target) -> Result<()> {
    *target = handle::insert(SinkObject { context, target: Some(to) })?;
    Ok(())
}

/// A sink that writes to a tensor, which it keeps alive. During a run the tensor is locked for that run alone. After a
/// run that failed its elements are unspecified.
///
/// @param      context  the context of the tensor.
/// @param      tensor   dense, of 1 to 4 axes, any strides, on the host or the device; no 64-bit integers.
///                      Integers are rounded to the nearest and held to their range, NaN becomes 0 in them.
/// @param[out] sink     the sink; destroy it with purlin_sink_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a symmetric
/// batch, number of axes, read-only, another context), `PURLIN_ERROR_NOT_SUPPORTED` (element type),
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `sink` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sink_to_tensor(
    context: *const purlin_context,
    tensor: *mut purlin_tensor,
    sink: *mut *mut purlin_sink,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let object = handle::get::<Tensor>("tensor", tensor.addr())?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("sink", sink) }?;
        {
            let tensor = handle::lock_shared("tensor", Arc::clone(&object))?;
            tensor.expect_context("tensor", &context)?;
            array::of_tensor("tensor", &tensor)?;
            tensor.check_writable("tensor")?;
        }
        insert(target, context, Target::Tensor(object))
    })
}

/// A sink that writes a raw file: elements from some byte on, packed, the first axis fastest.
///
/// @param      context     the context it belongs to.
/// @param      path        the file; one of that name is replaced when the run has succeeded.
/// @param      offset      zero bytes before the first element, not negative.
/// @param      dtype       element type; no 64-bit integers. Integers are rounded to the nearest and held to
///                         their range, NaN becomes 0 in them.
/// @param      endianness  PURLIN_LITTLE_ENDIAN or PURLIN_BIG_ENDIAN.
/// @param      ndim        number of axes, 1 to 4.
/// @param[in]  dims        `ndim` sizes, fastest first, not negative.
/// @param[out] sink        the sink; destroy it with purlin_sink_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant, negative number, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (element type), `PURLIN_ERROR_IO` (no
/// file can be made there, or not of that size), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `path` is NULL or a terminated string, `dims` is NULL or valid for `ndim` elements, `sink` is NULL or valid for
/// writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sink_to_file(
    context: *const purlin_context,
    path: *const c_char,
    offset: i64,
    dtype: purlin_dtype,
    endianness: i32,
    ndim: i64,
    dims: *const i64,
    sink: *mut *mut purlin_sink,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let offset = array::file_offset(offset)?;
        let number = array::number(dtype)?;
        let endianness = Endianness::from_code("endianness", endianness)?;
        let ndim = array::axis_count(ndim)?;
        // SAFETY: the caller promises NULL or a terminated string.
        let path = unsafe { array::file_path("path", path) }?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("sink", sink) }?;
        // SAFETY: the caller promises NULL or `ndim` elements.
        let info = unsafe { array::sized(number, ndim, dims) }?;
        put(target, context, FileSink::create_at(&path, offset, endianness, info)?)
    })
}

/// A sink that writes a MetaImage, which ITK, RTK and 3D Slicer read: one .mha file, or for a name that ends in .mhd a
/// header beside a .raw file. The header gets its name last. A .raw file that is there, or comes while the run is under
/// way, is only replaced (else `PURLIN_ERROR_IO`) if a .mhd file says that it holds its elements: it may be something else.
/// Where the name is a link, the file that it names decides: the .raw file stands beside that one, and another file of
/// its name beside the link is refused, because readers would take it.
///
/// @param      context  the context it belongs to.
/// @param      path     the file; one of that name is replaced when the run has succeeded.
/// @param      dtype    element type, as purlin_sink_to_file, but not `PURLIN_F16`, which ITK's MetaImages do not have.
/// @param      ndim     number of axes, 1 to 4.
/// @param[in]  dims     `ndim` sizes, fastest first, not negative.
/// @param[in]  spacing  `ndim` distances of two elements, mm, positive; NULL for those of the grid where a reconstruction
///                      writes its volume, else 1.
/// @param[in]  origin   `ndim` coordinates of the first element's centre, mm; NULL for that of the grid likewise, else 0.
/// @param[out] sink     the sink; destroy it with purlin_sink_destroy.
/// @return as purlin_sink_to_file; `PURLIN_ERROR_INVALID_ARGUMENT` also for spacings that are not positive and numbers
/// that are not finite.
///
/// # Safety
/// `path` is NULL or a terminated string; `dims`, `spacing` and `origin` are NULL or valid for `ndim` elements; `sink`
/// is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sink_to_metaimage(
    context: *const purlin_context,
    path: *const c_char,
    dtype: purlin_dtype,
    ndim: i64,
    dims: *const i64,
    spacing: *const f64,
    origin: *const f64,
    sink: *mut *mut purlin_sink,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let number = array::number(dtype)?;
        let ndim = array::axis_count(ndim)?;
        // SAFETY: the caller promises NULL or a terminated string.
        let path = unsafe { array::file_path("path", path) }?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("sink", sink) }?;
        // SAFETY: the caller promises NULL or `ndim` elements.
        let mut info = unsafe { array::sized(number, ndim, dims) }?;
        // SAFETY: the caller promises NULL or `ndim` elements.
        info.spacing = unsafe { coordinates("spacing", ndim, spacing, |v| v > 0.0) }?;
        // SAFETY: the caller promises NULL or `ndim` elements.
        info.origin = unsafe { coordinates("origin", ndim, origin, |_| true) }?;
        put(target, context, MetaImageSink::create(&path, info)?)
    })
}

/// One number an axis.
///
/// # Safety
/// `values` is NULL or valid for `ndim` elements.
unsafe fn coordinates(
    argument: &str,
    ndim: usize,
    values: *const f64,
    allowed: impl Fn(f64) -> bool,
) -> Result<Option<Vec<f64>>> {
    if values.is_null() {
        return Ok(None);
    }
    // SAFETY: as promised by the caller.
    let values = unsafe { super::pointer::list(argument, ndim, values) }?;
    match values.iter().position(|v| !v.is_finite() || !allowed(*v)) {
        Some(k) => Err(Error::invalid(argument, format!("element {k} is {}, out of range", values[k]))),
        None => Ok(Some(values.to_vec())),
    }
}

/// A sink that writes one TIFF file of one page for each slice, grey, uncompressed; BigTIFF above 4 GiB.
///
/// @param      context  the context it belongs to.
/// @param      path     the file; one of that name is replaced when the run has succeeded.
/// @param      dtype    element type, as purlin_sink_to_file.
/// @param      width    pixels of a row, at least 1: the first axis.
/// @param      height   rows of a page, at least 1: the second axis.
/// @param      pages    number of pages, at least 1: the third axis.
/// @param[out] sink     the sink; destroy it with purlin_sink_destroy.
/// @return as purlin_sink_to_file.
///
/// # Safety
/// `path` is NULL or a terminated string, `sink` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sink_to_tiff(
    context: *const purlin_context,
    path: *const c_char,
    dtype: purlin_dtype,
    width: i64,
    height: i64,
    pages: i64,
    sink: *mut *mut purlin_sink,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let number = array::number(dtype)?;
        let dims =
            [shape::size("width", width, 1)?, shape::size("height", height, 1)?, shape::size("pages", pages, 1)?];
        // SAFETY: the caller promises NULL or a terminated string.
        let path = unsafe { array::file_path("path", path) }?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("sink", sink) }?;
        let sizes = [("width", dims[0]), ("height", dims[1]), ("pages", dims[2])];
        let info = ArrayInfo::new(number, &dims).map_err(|_| shape::too_large(&sizes))?;
        put(target, context, TiffSink::create(&path, info)?)
    })
}

/// A sink whose elements a caller's function takes, block after block.
///
/// @param      context  the context it belongs to.
/// @param      dtype    element type, as purlin_sink_to_file.
/// @param      ndim     number of axes, 1 to 4.
/// @param[in]  dims     `ndim` sizes, fastest first, not negative.
/// @param      write    the function.
/// @param      user     handed to `write`.
/// @param[out] sink     the sink; destroy it with purlin_sink_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant, negative size, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (element type),
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `write` may be called with `user` from any thread while the sink lives; `dims` is NULL or valid for `ndim` elements,
/// `sink` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sink_to_callback(
    context: *const purlin_context,
    dtype: purlin_dtype,
    ndim: i64,
    dims: *const i64,
    write: purlin_write_fn,
    user: *mut c_void,
    sink: *mut *mut purlin_sink,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let number = array::number(dtype)?;
        let ndim = array::axis_count(ndim)?;
        let write = write.ok_or_else(|| Error::invalid("write", "is NULL"))?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("sink", sink) }?;
        // SAFETY: the caller promises NULL or `ndim` elements.
        let info = unsafe { array::sized(number, ndim, dims) }?;
        let writer = Writer { write, user };
        let write = Box::new(move |block: &Block, data: &[u8]| writer.write(number, block, data));
        put(target, context, CallbackSink::new(info, write))
    })
}

/// Destroys a sink; a file that no run has finished goes with it. A run that writes to it goes on to its end.
///
/// @param sink  the sink; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_sink_destroy(sink: *mut purlin_sink) -> purlin_status {
    guard::run(|| handle::remove::<SinkObject, _>("sink", sink))
}
