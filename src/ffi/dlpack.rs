//! Tensors in and out by DLPack 1.0, the exchange format of NumPy, PyTorch, CuPy and JAX.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use super::tensor::{self, purlin_tensor};
use super::{context, guard, handle, purlin_context, purlin_status};
use crate::backend::memory::{HostMemory, Memory, Release};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{self, Layout, MAX_RANK, Order, to_i64};
use crate::tensor::Tensor;

const MAJOR: u32 = 1;
const FLAG_READ_ONLY: u64 = 1;
const DEVICE_CPU: i32 = 1;
const DEVICE_CUDA: i32 = 2;
const DEVICE_CUDA_HOST: i32 = 3;

/// `DLTensor` of the DLPack header.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensorVersioned` of the DLPack header.
#[repr(C)]
struct DlManaged {
    major: u32,
    minor: u32,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    tensor: DlTensor,
}

/// A capsule we were given; its deleter runs when this is dropped.
struct Owned(NonNull<DlManaged>);

// SAFETY: DLPack lets the receiver call the deleter from any thread.
unsafe impl Send for Owned {}
// SAFETY: nothing is reached through a shared reference.
unsafe impl Sync for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        let managed = self.0.as_ptr();
        // SAFETY: the capsule is live until its deleter has run, which happens here alone.
        unsafe {
            if let Some(deleter) = (*managed).deleter {
                deleter(managed);
            }
        }
    }
}

fn dtype_from(code: u8, bits: u8, lanes: u16) -> Result<DType> {
    let found = match (code, bits) {
        (2, 32) => DType::F32,
        (2, 64) => DType::F64,
        (2, 16) => DType::F16,
        (5, 64) => DType::CF32,
        (5, 128) => DType::CF64,
        (0, 32) => DType::I32,
        (0, 64) => DType::I64,
        (1, 8) => DType::U8,
        (1, 16) => DType::U16,
        (0, 8) => DType::I8,
        (0, 16) => DType::I16,
        (1, 32) => DType::U32,
        _ => return Err(Error::NotSupported(format!("managed: DLPack type code {code} of {bits} bits"))),
    };
    if lanes != 1 {
        return Err(Error::NotSupported(format!("managed: DLPack type of {lanes} lanes, 1 is needed")));
    }
    Ok(found)
}

fn dtype_to(dtype: DType) -> (u8, u8) {
    match dtype {
        DType::F32 => (2, 32),
        DType::F64 => (2, 64),
        DType::F16 => (2, 16),
        DType::CF32 => (5, 64),
        DType::CF64 => (5, 128),
        DType::I32 => (0, 32),
        DType::I64 => (0, 64),
        DType::U8 => (1, 8),
        DType::U16 => (1, 16),
        DType::I8 => (0, 8),
        DType::I16 => (0, 16),
        DType::U32 => (1, 32),
    }
}

/// Takes a DLPack tensor. Its memory is used in place; its deleter is called exactly once: when the handle is gone, or
/// before this call returns a failure.
///
/// @param      context  the context it will belong to.
/// @param      managed  a `DLManagedTensorVersioned *` of DLPack 1.x, owned by purlin from now on.
/// @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, more than 32
/// dimensions, a size, stride or `byte_offset` that is out of range, misaligned data, memory of another GPU),
/// `PURLIN_ERROR_NOT_SUPPORTED` (another DLPack version, type or kind of device, memory of a GPU in a context on the
/// CPU), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `managed` is NULL or a live capsule, `tensor` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_from_dlpack(
    context: *const purlin_context,
    managed: *mut c_void,
    tensor: *mut *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let owned =
            NonNull::new(managed.cast::<DlManaged>()).map(Owned).ok_or_else(|| Error::invalid("managed", "is NULL"))?;
        let context = context::get(context)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tensor", tensor) }?;
        // SAFETY: the caller promises a live capsule.
        let tensor = unsafe { import(&context, owned) }?;
        *target = tensor::insert(tensor)?;
        Ok(())
    })
}

/// # Safety
/// The capsule is live and its fields are as DLPack defines them.
unsafe fn import(context: &Arc<Context>, owned: Owned) -> Result<Tensor> {
    // SAFETY: as promised; the version stands in front in every version.
    let (major, minor) = unsafe { ((*owned.0.as_ptr()).major, (*owned.0.as_ptr()).minor) };
    if major != MAJOR {
        return Err(Error::NotSupported(format!("managed: DLPack {major}.{minor}, version 1 is needed")));
    }
    // SAFETY: as promised, now that the layout is known.
    let (flags, t) = unsafe { ((*owned.0.as_ptr()).flags, &(*owned.0.as_ptr()).tensor) };
    let dtype = dtype_from(t.code, t.bits, t.lanes)?;
    let ndim = usize::try_from(t.ndim)
        .ok()
        .filter(|n| *n <= MAX_RANK)
        .ok_or_else(|| Error::invalid("managed", format!("has {} dimensions, outside 0 to {MAX_RANK}", t.ndim)))?;
    let read = |name: &str, values: *const i64| -> Result<Vec<usize>> {
        if ndim == 0 {
            return Ok(Vec::new());
        }
        if values.is_null() {
            return Err(Error::invalid(name, "is NULL in the DLPack tensor"));
        }
        // SAFETY: DLPack promises ndim elements.
        shape::sizes(name, unsafe { super::pointer::list(name, ndim, values) }?)
    };
    let dims = read("shape", t.shape)?;
    let layout = if t.strides.is_null() {
        Layout::packed(&dims, Order::RowMajor, dtype)?
    } else {
        Layout::strided(&dims, &read("strides", t.strides)?, dtype)?
    };
    let bytes = layout.extent() * dtype.size();
    let offset = usize::try_from(t.byte_offset)
        .map_err(|_| Error::invalid("managed", format!("has a byte_offset of {}", t.byte_offset)))?;
    let (device_type, device_id, data) = (t.device_type, t.device_id, t.data.cast::<u8>().wrapping_add(offset));
    if bytes > 0 && data.addr() % dtype.align() != 0 {
        let (a, name) = (dtype.align(), dtype.name());
        return Err(Error::invalid("managed", format!("has data that is not aligned to {a} bytes, as {name} needs")));
    }
    let release: Release = Box::new(move || drop(owned));
    let memory = match device_type {
        DEVICE_CPU | DEVICE_CUDA_HOST => {
            let start = match NonNull::new(data) {
                Some(p) => p,
                None if bytes == 0 => NonNull::<u64>::dangling().cast(),
                None => return Err(Error::invalid("managed", "has no data")),
            };
            // SAFETY: DLPack promises the memory until the deleter runs.
            Memory::Host(unsafe { HostMemory::foreign(start, bytes, release) })
        }
        DEVICE_CUDA => {
            let gpu = context.gpu("managed")?;
            if gpu.ordinal() != device_id {
                let ours = gpu.ordinal();
                return Err(Error::invalid(
                    "managed",
                    format!("lies on GPU {device_id}, the context is on GPU {ours}"),
                ));
            }
            Memory::Device(gpu.borrow("managed", data.addr() as u64, bytes, Some(release))?)
        }
        other => return Err(Error::NotSupported(format!("managed: DLPack device type {other}"))),
    };
    Tensor::from_memory(context, dtype, layout, memory, flags & FLAG_READ_ONLY != 0, None)
}

/// The tensor that an exported capsule keeps alive, and the arrays of its shape.
struct Export {
    _tensor: Arc<handle::Lock<Tensor>>,
    dims: Vec<i64>,
    strides: Vec<i64>,
}

/// Gives a tensor to another library by DLPack, in place. The memory stays alive until the capsule's deleter is
/// called, also after the handle is destroyed. On a GPU the receiver must order its work behind the tensor's stream.
///
/// @param      tensor   the tensor. A symmetric batch goes out as its array of packed entries.
/// @param[out] managed  a `DLManagedTensorVersioned *`; whoever receives it calls its deleter.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer).
///
/// # Safety
/// `managed` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tensor_to_dlpack(
    tensor: *const purlin_tensor,
    managed: *mut *mut c_void,
) -> purlin_status {
    guard::run(|| {
        let object = handle::get::<Tensor>("tensor", tensor.addr())?;
        let t = tensor::input("tensor", tensor)?;
        // SAFETY: the caller promises NULL or a place for the capsule.
        let target = unsafe { super::pointer::output("managed", managed) }?;
        let (device_type, device_id) = match t.memory() {
            Memory::Host(_) => (DEVICE_CPU, 0),
            Memory::Device(_) => (DEVICE_CUDA, tensor::context_of(&t).gpu("tensor")?.ordinal()),
        };
        let (code, bits) = dtype_to(t.dtype());
        let signed = |values: &[usize]| values.iter().map(|v| to_i64(*v)).collect::<Vec<_>>();
        let mut export = Box::new(Export {
            _tensor: object,
            dims: signed(t.layout().dims()),
            strides: signed(t.layout().strides()),
        });
        let out = DlTensor {
            data: std::ptr::with_exposed_provenance_mut(t.memory().address() as usize),
            device_type,
            device_id,
            ndim: t.dims().len() as i32,
            code,
            bits,
            lanes: 1,
            shape: export.dims.as_mut_ptr(),
            strides: export.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let capsule = Box::new(DlManaged {
            major: MAJOR,
            minor: 0,
            manager: Box::into_raw(export).cast(),
            deleter: Some(delete_export),
            flags: if t.is_read_only() { FLAG_READ_ONLY } else { 0 },
            tensor: out,
        });
        *target = Box::into_raw(capsule).cast();
        Ok(())
    })
}

unsafe extern "C" fn delete_export(managed: *mut DlManaged) {
    if managed.is_null() {
        return;
    }
    // Dropping the last reference frees memory, which must not unwind into the receiver. Not `guard::run`, which
    // would change the thread's last message in the middle of the receiver's work.
    let _ = std::panic::catch_unwind(|| {
        // SAFETY: made by `purlin_tensor_to_dlpack`, and the receiver calls the deleter once.
        unsafe {
            let capsule = Box::from_raw(managed);
            drop(Box::from_raw(capsule.manager.cast::<Export>()));
        }
    });
}
