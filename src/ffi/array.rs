//! Arrays outside of tensors, as sources and sinks have them: element types, sizes, paths, blocks.

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::options::{self, versioned};
use super::tensor::purlin_dtype;
use super::{guard, purlin_status};
use crate::blocks::array::{ArrayInfo, Block, MAX_AXES};
use crate::blocks::number::Number;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{self, to_i64};
use crate::tensor::Tensor;

/// The least significant byte of a number comes first.
pub const PURLIN_LITTLE_ENDIAN: i32 = 0;
/// The most significant byte of a number comes first.
pub const PURLIN_BIG_ENDIAN: i32 = 1;

/// Element type, shape, spacing and position of the array that a source or a file holds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_array_info {
    /// Size of the caller's struct; set by purlin_array_info_init.
    pub struct_size: usize,
    /// Element type, one of PURLIN_F32 to PURLIN_U32.
    pub dtype: i32,
    /// PURLIN_ROW_MAJOR for a file that says that its last index runs fastest (`dims` are fastest first all the same),
    /// or 0.
    pub flags: i32,
    /// Number of axes, 1 to 4.
    pub ndim: i64,
    /// Size of each axis, the one that runs fastest first; 1 beyond the last.
    pub dims: [i64; 4],
    /// Distance of two elements along each axis, mm; NaN where the array does not say.
    pub spacing: [f64; 4],
    /// Position of the first element's centre, mm; NaN where the array does not say.
    pub origin: [f64; 4],
    /// Bytes of all elements, packed.
    pub bytes: i64,
}

versioned!(purlin_array_info, first = size_of::<Self>(); spacing: [f64::NAN; 4], origin: [f64::NAN; 4]);

impl purlin_array_info {
    /// The same in the struct of the C interface.
    pub(super) fn of(array: &ArrayInfo) -> Self {
        let place = |known: &Option<Vec<f64>>| {
            std::array::from_fn(|k| known.as_ref().and_then(|v| v.get(k)).copied().unwrap_or(f64::NAN))
        };
        Self {
            struct_size: 0,
            dtype: array.number.dtype() as i32,
            flags: 0,
            ndim: to_i64(array.dims.len()),
            dims: std::array::from_fn(|k| array.dims.get(k).map_or(1, |d| to_i64(*d))),
            spacing: place(&array.spacing),
            origin: place(&array.origin),
            bytes: to_i64(array.bytes()),
        }
    }
}

/// Sets `struct_size`, `spacing` and `origin` to NaN, and the rest to 0.
///
/// @param[out] info  the struct.
/// @param      size  `sizeof *info`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `info` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_array_info_init(info: *mut purlin_array_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// Numbers of a block's axes as C has them.
pub(super) fn axes(values: &[usize]) -> [i64; MAX_AXES] {
    std::array::from_fn(|k| values.get(k).map_or(0, |v| to_i64(*v)))
}

/// The result of a caller's function: an error for any code but 0.
pub(super) fn outcome(name: &str, code: i32, block: &Block) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let (first, count) = (block.first(), block.count());
    Err(Error::Io {
        path: name.to_owned(),
        problem: format!("returned {code} for the block from {first:?} of {count:?}"),
    })
}

/// Blocks begin where the allocator begins, so this holds; a caller's function must not find out if it ever did not.
pub(super) fn check_aligned(number: Number, block: &[u8]) -> Result<()> {
    if block.as_ptr().addr().is_multiple_of(number.dtype().align()) {
        return Ok(());
    }
    Err(Error::Internal("a block for a caller's function is not aligned".into()))
}

/// A caller's path.
///
/// # Safety
/// `path` is NULL or a terminated string.
pub(super) unsafe fn file_path(argument: &str, path: *const c_char) -> Result<PathBuf> {
    if path.is_null() {
        return Err(Error::invalid(argument, "is NULL"));
    }
    // SAFETY: not null; the caller promises a terminated string.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    if bytes.is_empty() {
        return Err(Error::invalid(argument, "is empty"));
    }
    Ok(PathBuf::from(OsStr::from_bytes(bytes)))
}

/// The element type of a code.
pub(super) fn number(code: purlin_dtype) -> Result<Number> {
    Number::of("dtype", DType::from_code("dtype", code)?)
}

/// A byte of a file.
pub(super) fn file_offset(offset: i64) -> Result<u64> {
    u64::try_from(offset).map_err(|_| Error::invalid("offset", format!("is {offset}, negative")))
}

/// A caller's number of axes.
pub(super) fn axis_count(ndim: i64) -> Result<usize> {
    usize::try_from(ndim)
        .ok()
        .filter(|n| (1..=MAX_AXES).contains(n))
        .ok_or_else(|| Error::invalid("ndim", format!("is {ndim}, outside 1 to {MAX_AXES}")))
}

/// An array of a caller's sizes.
///
/// # Safety
/// `dims` is NULL or valid for `ndim` elements.
pub(super) unsafe fn sized(number: Number, ndim: usize, dims: *const i64) -> Result<ArrayInfo> {
    // SAFETY: as promised by the caller.
    let dims = shape::sizes("dims", unsafe { super::pointer::list("dims", ndim, dims) }?)?;
    ArrayInfo::new(number, &dims)
}

/// The array that a dense tensor is.
pub(super) fn of_tensor(argument: &str, tensor: &Tensor) -> Result<ArrayInfo> {
    if tensor.symmetric().is_some() {
        return Err(Error::invalid(argument, "is a batch of symmetric tensors, a dense tensor is needed"));
    }
    let number = Number::of(argument, tensor.dtype())?;
    if !(1..=MAX_AXES).contains(&tensor.dims().len()) {
        let problem = format!("has {} dimensions, 1 to {MAX_AXES} are needed", tensor.dims().len());
        return Err(Error::invalid(argument, problem));
    }
    ArrayInfo::new(number, tensor.dims())
}
