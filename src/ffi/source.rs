//! Sources: arrays that a run reads in blocks, wherever they are.

use std::ffi::{c_char, c_void};
use std::path::Path;
use std::sync::Arc;

use super::array::{self, purlin_array_info};
use super::handle;
use super::options;
use super::tensor::{PURLIN_ROW_MAJOR, purlin_dtype, purlin_flags, purlin_tensor};
use super::{context, guard, purlin_context, purlin_status};
use crate::backend::fork;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::metaimage::MetaImageSource;
use crate::blocks::npy::NpySource;
use crate::blocks::number::{Endianness, Number};
use crate::blocks::source::{CallbackSource, FileSource, Source};
use crate::blocks::tensor::TensorSource;
use crate::blocks::tiff::TiffSource;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::SharedSource;
use crate::shape::{self, Order};
use crate::tensor::Tensor;

/// An array of up to four axes that a run reads in blocks: a tensor, a file, or a caller's function that delivers the
/// blocks. It may be larger than memory. It may be used again and again, by one run at a time.
///
/// A file is a regular file, or a symbolic link to one. Directories, FIFOs, sockets and devices are refused with
/// `PURLIN_ERROR_IO` before they are opened; to read one, take purlin_source_from_callback. This holds for every file that
/// purlin reads.
pub struct purlin_source {
    _private: [u8; 0],
}

/// Where a source's elements are.
pub(super) enum Origin {
    /// In a tensor, which the source keeps alive.
    Tensor(Arc<handle::Lock<Tensor>>),
    /// Anywhere else. Matrices may share it.
    Blocks(SharedSource),
}

/// The object behind a handle of a source.
pub(super) struct SourceObject {
    context: Arc<Context>,
    info: ArrayInfo,
    /// PURLIN_ROW_MAJOR where the array is known to be stored so.
    flags: purlin_flags,
    origin: Origin,
}

/// A tensor as a source of its own: it is locked for reading while a block is read.
struct TensorReader {
    tensor: Arc<handle::Lock<Tensor>>,
    context: Arc<Context>,
    info: ArrayInfo,
}

impl Source for TensorReader {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        let tensor = handle::lock_shared("source", Arc::clone(&self.tensor))?;
        TensorSource::new("source", &tensor, self.context.pool())?.read(block, out)
    }

    fn host_range(&self) -> Option<(u64, usize)> {
        let tensor = handle::lock_shared("source", Arc::clone(&self.tensor)).ok()?;
        Some((tensor.memory().address(), tensor.layout().extent() * tensor.dtype().size()))
    }
}

impl SourceObject {
    /// The source, to be shared with a matrix.
    pub(super) fn share(&self, argument: &str, context: &Arc<Context>) -> Result<SharedSource> {
        context.expect_own(argument, &self.context)?;
        match &self.origin {
            Origin::Blocks(source) => Ok(source.clone()),
            Origin::Tensor(tensor) => {
                handle::lock_shared(argument, Arc::clone(tensor))?.memory().host(argument)?;
                let reader =
                    TensorReader { tensor: Arc::clone(tensor), context: Arc::clone(context), info: self.info.clone() };
                Ok(SharedSource::new(Box::new(reader)))
            }
        }
    }

    /// Where the elements are, for a call in `context`.
    pub(super) fn origin(&mut self, argument: &str, context: &Arc<Context>) -> Result<&mut Origin> {
        context.expect_own(argument, &self.context)?;
        Ok(&mut self.origin)
    }
}

/// Reads one block of an array.
///
/// `first` and `count` have one number an axis: the first element and how many. `block` holds exactly those
/// elements, packed with the first axis fastest, in the machine's byte order and aligned as the element type. A return
/// other than 0 ends the run with `PURLIN_ERROR_IO`, whose message has the number. It is called from a thread of
/// purlin's, one call at a time, and must not throw, longjmp, unwind or use the objects of the run, but to
/// cancel it.
pub type purlin_read_fn =
    Option<unsafe extern "C" fn(first: *const i64, count: *const i64, block: *mut c_void, user: *mut c_void) -> i32>;

/// A caller's reading function and its user pointer.
struct Reader {
    read: unsafe extern "C" fn(*const i64, *const i64, *mut c_void, *mut c_void) -> i32,
    user: *mut c_void,
}
// SAFETY: the caller promises that the function may be called with this pointer from purlin's threads.
unsafe impl Send for Reader {}

impl Reader {
    fn read(&self, number: Number, block: &Block, out: &mut [u8]) -> Result<()> {
        let (first, count) = (array::axes(block.first()), array::axes(block.count()));
        array::check_aligned(number, out)?;
        // SAFETY: `out` holds the block's elements; the caller promises a function that writes no more than those.
        let read = || unsafe { (self.read)(first.as_ptr(), count.as_ptr(), out.as_mut_ptr().cast(), self.user) };
        let code = fork::call_host(read)?;
        array::outcome("read", code, block)
    }
}

fn put(target: &mut *mut purlin_source, context: Arc<Context>, source: impl Source + 'static) -> Result<()> {
    put_with(target, context, 0, source)
}

fn put_with(
    target: &mut *mut purlin_source,
    context: Arc<Context>,
    flags: purlin_flags,
    source: impl Source + 'static,
) -> Result<()> {
    let info = source.info().clone();
    let origin = Origin::Blocks(SharedSource::new(Box::new(source)));
    *target = handle::insert(SourceObject { context, info, flags, origin })?;
    Ok(())
}

/// A source over a tensor, which it keeps alive; the tensor's handle may be destroyed before it. During a run the
/// tensor is locked for reading.
///
/// @param      context  the context of the tensor.
/// @param      tensor   dense, of 1 to 4 axes, any strides, on the host or the device; no 64-bit integers.
/// @param[out] source   the source; destroy it with purlin_source_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a symmetric
/// batch, number of axes, another context), `PURLIN_ERROR_NOT_SUPPORTED` (element type), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `source` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_source_from_tensor(
    context: *const purlin_context,
    tensor: *const purlin_tensor,
    source: *mut *mut purlin_source,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let object = handle::get::<Tensor>("tensor", tensor.addr())?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("source", source) }?;
        let info = {
            let tensor = handle::lock_shared("tensor", Arc::clone(&object))?;
            tensor.expect_context("tensor", &context)?;
            array::of_tensor("tensor", &tensor)?
        };
        *target = handle::insert(SourceObject { context, info, flags: 0, origin: Origin::Tensor(object) })?;
        Ok(())
    })
}

/// A source over a raw file that `open` opens.
///
/// # Safety
/// As for purlin_source_from_file.
#[expect(clippy::too_many_arguments, reason = "the arguments of the C functions, and a function that opens the file")]
unsafe fn raw_file<S: Source + 'static>(
    context: *const purlin_context,
    path: *const c_char,
    offset: i64,
    dtype: purlin_dtype,
    endianness: i32,
    ndim: i64,
    dims: *const i64,
    source: *mut *mut purlin_source,
    open: impl FnOnce(&Path, u64, Endianness, ArrayInfo) -> Result<S>,
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
        let target = unsafe { super::pointer::output("source", source) }?;
        // SAFETY: the caller promises NULL or `ndim` elements.
        let info = unsafe { array::sized(number, ndim, dims) }?;
        put(target, context, open(&path, offset, endianness, info)?)
    })
}

/// A source over a raw file: elements from some byte on, packed, the first axis fastest.
///
/// @param      context     the context it belongs to.
/// @param      path        the file.
/// @param      offset      bytes before the first element, not negative.
/// @param      dtype       element type; no 64-bit integers.
/// @param      endianness  PURLIN_LITTLE_ENDIAN or PURLIN_BIG_ENDIAN.
/// @param      ndim        number of axes, 1 to 4.
/// @param[in]  dims        `ndim` sizes, fastest first, not negative.
/// @param[out] source      the source; destroy it with purlin_source_destroy. It keeps the file open.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant, negative number, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (element type), `PURLIN_ERROR_IO` (no
/// such file, or it is too short; the message has both sizes), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `path` is NULL or a terminated string, `dims` is NULL or valid for `ndim` elements, `source` is NULL or valid for
/// writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_source_from_file(
    context: *const purlin_context,
    path: *const c_char,
    offset: i64,
    dtype: purlin_dtype,
    endianness: i32,
    ndim: i64,
    dims: *const i64,
    source: *mut *mut purlin_source,
) -> purlin_status {
    // SAFETY: the caller makes the same promises.
    unsafe { raw_file(context, path, offset, dtype, endianness, ndim, dims, source, FileSource::open) }
}

/// The same as purlin_source_from_file, for programs that call it: despite its name, the file is read and not mapped
/// into memory. If it becomes shorter, a read returns PURLIN_ERROR_IO. Pages that the system still caches from an
/// earlier pass are not read from the disk again.
///
/// @param      context     the context it belongs to.
/// @param      path        the file.
/// @param      offset      bytes before the first element, not negative.
/// @param      dtype       element type; no 64-bit integers.
/// @param      endianness  PURLIN_LITTLE_ENDIAN or PURLIN_BIG_ENDIAN.
/// @param      ndim        number of axes, 1 to 4.
/// @param[in]  dims        `ndim` sizes, fastest first, not negative.
/// @param[out] source      the source; destroy it with purlin_source_destroy. It keeps the file open.
/// @return as purlin_source_from_file.
///
/// # Safety
/// As for purlin_source_from_file.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_source_from_mapped_file(
    context: *const purlin_context,
    path: *const c_char,
    offset: i64,
    dtype: purlin_dtype,
    endianness: i32,
    ndim: i64,
    dims: *const i64,
    source: *mut *mut purlin_source,
) -> purlin_status {
    // SAFETY: the caller makes the same promises.
    unsafe { raw_file(context, path, offset, dtype, endianness, ndim, dims, source, FileSource::open) }
}

/// A source over a file of NumPy's format .npy, versions 1 to 3, either byte order. 64-bit integers are read as F64, and
/// refused beyond 2^53 when they are read. Its axes are given fastest first, as those of every source: an array of shape
/// (r, c) in C order has the dimensions [c, r] and the flag PURLIN_ROW_MAJOR in purlin_source_info, one in Fortran order [r, c] and no flag. Handed to purlin_matrix_from_source
/// with that flag, either is the r x c matrix.
///
/// @param      context  the context it belongs to.
/// @param      path     the file.
/// @param[out] source   the source; destroy it with purlin_source_destroy. It keeps the file open.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, empty path),
/// `PURLIN_ERROR_IO` (no such file, no .npy file, elements that are objects, structures, text or long
/// doubles, no or more than 4 axes, too short), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `path` is NULL or a terminated string, `source` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_source_from_npy(
    context: *const purlin_context,
    path: *const c_char,
    source: *mut *mut purlin_source,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        // SAFETY: the caller promises NULL or a terminated string.
        let path = unsafe { array::file_path("path", path) }?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("source", source) }?;
        let npy = NpySource::open(&path)?;
        let flags = if npy.order() == Order::RowMajor { PURLIN_ROW_MAJOR } else { 0 };
        put_with(target, context, flags, npy)
    })
}

/// A source over a MetaImage: an .mha file, or an .mhd header with its raw file. Uncompressed, of one channel.
///
/// @param      context  the context it belongs to.
/// @param      path     the file.
/// @param[out] source   the source; destroy it with purlin_source_destroy. Its sizes, spacing and origin are in
///                      purlin_source_info.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, empty path),
/// `PURLIN_ERROR_IO` (no such file, no MetaImage, compressed, several channels, scaled values, a key twice, too short),
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `path` is NULL or a terminated string, `source` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_source_from_metaimage(
    context: *const purlin_context,
    path: *const c_char,
    source: *mut *mut purlin_source,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        // SAFETY: the caller promises NULL or a terminated string.
        let path = unsafe { array::file_path("path", path) }?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("source", source) }?;
        put(target, context, MetaImageSource::open(&path)?)
    })
}

/// A source over TIFF files: three axes, [width, height, pages]. The pages of all files follow one another in the order
/// given; all have one size and one type. A stack as ImageJ writes it beyond 4 GiB, with one directory and a description
/// that counts the images behind the first, has as many pages.
///
/// @param      context  the context it belongs to.
/// @param      count    number of files, at least 1.
/// @param[in]  paths    `count` files of one or more pages each: grey, 8-, 16- or 32-bit integers or 32- or 64-bit
///                      floats, in strips or tiles.
/// @param[out] source   the source; destroy it with purlin_source_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (count, NULL pointer, empty
/// path), `PURLIN_ERROR_IO` (no such file, no TIFF of a kind named above, pages that differ, images of such a stack that
/// are not there or are compressed; the message names the file and page), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `paths` is NULL or valid for `count` pointers to terminated strings, `source` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_source_from_tiff(
    context: *const purlin_context,
    count: i64,
    paths: *const *const c_char,
    source: *mut *mut purlin_source,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let count = shape::size("count", count, 1)?;
        // SAFETY: as promised above.
        let paths = unsafe { super::pointer::list("paths", count, paths) }?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("source", source) }?;
        let mut files = crate::alloc::with_capacity("paths", count)?;
        for (k, path) in paths.iter().enumerate() {
            // SAFETY: the caller promises pointers that are NULL or to a terminated string.
            files.push(unsafe { array::file_path(&format!("paths, element {k}"), *path) }?);
        }
        let source = TiffSource::open_within(&files, context.host_budget())?;
        put(target, context, source)
    })
}

/// A source whose elements a caller's function delivers, as they are asked for: each run asks for each block it needs,
/// mostly in order, some of them more than once.
///
/// @param      context  the context it belongs to.
/// @param      dtype    element type; no 64-bit integers.
/// @param      ndim     number of axes, 1 to 4.
/// @param[in]  dims     `ndim` sizes, fastest first, not negative.
/// @param      read     the function.
/// @param      user     handed to `read`.
/// @param[out] source   the source; destroy it with purlin_source_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant, negative size, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (element type),
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `read` may be called with `user` from any thread while the source lives; `dims` is NULL or valid for `ndim`
/// elements, `source` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_source_from_callback(
    context: *const purlin_context,
    dtype: purlin_dtype,
    ndim: i64,
    dims: *const i64,
    read: purlin_read_fn,
    user: *mut c_void,
    source: *mut *mut purlin_source,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let number = array::number(dtype)?;
        let ndim = array::axis_count(ndim)?;
        let read = read.ok_or_else(|| Error::invalid("read", "is NULL"))?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("source", source) }?;
        // SAFETY: the caller promises NULL or `ndim` elements.
        let info = unsafe { array::sized(number, ndim, dims) }?;
        let reader = Reader { read, user };
        let read = Box::new(move |block: &Block, out: &mut [u8]| reader.read(number, block, out));
        put(target, context, CallbackSource::new(info, read))
    })
}

/// Type, sizes and, where a file says so, the order and the place in space of a source's array.
///
/// @param      source  the source.
/// @param[out] info    filled in; initialize it with purlin_array_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
/// struct_size), `PURLIN_ERROR_BUSY` (a run reads from it).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_source_info(
    source: *const purlin_source,
    info: *mut purlin_array_info,
) -> purlin_status {
    guard::run(|| {
        let source = handle::shared::<SourceObject, _>("source", source)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        let value = purlin_array_info { flags: source.flags, ..purlin_array_info::of(&source.info) };
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, value) }
    })
}

/// Destroys a source and closes its file. A run that reads from it goes on to its end.
///
/// @param source  the source; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_source_destroy(source: *mut purlin_source) -> purlin_status {
    guard::run(|| handle::remove::<SourceObject, _>("source", source))
}
