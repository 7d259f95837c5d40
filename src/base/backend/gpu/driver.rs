//! The CUDA driver library, which is loaded on first use, and the conversion of its status numbers to errors.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::sys;
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphExec, CUmemoryPool, CUmodule, CUstream,
};

use super::dynamic::{Loaded, expect_memory};
use crate::backend::fork;
use crate::backend::signals::start_blocked;
use crate::error::{Error, Result};

/// Number of `CUDA_SUCCESS`.
pub(super) const SUCCESS: u32 = 0;
/// Number of `CUDA_ERROR_OUT_OF_MEMORY`.
pub(super) const OUT_OF_MEMORY: u32 = 2;
/// Number of `CUDA_ERROR_INVALID_IMAGE`: code in a format that the driver does not know.
pub(super) const INVALID_IMAGE: u32 = 200;
/// Number of `CUDA_ERROR_NO_BINARY_FOR_GPU`.
pub(super) const NO_BINARY_FOR_GPU: u32 = 209;
/// Number of `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`: intermediate code that is newer than the driver.
pub(super) const UNSUPPORTED_PTX_VERSION: u32 = 222;
/// Number of `CUDA_ERROR_NOT_FOUND`.
pub(super) const NOT_FOUND: u32 = 500;

/// Whether an error kills the CUDA context, so that every later call on it fails: a fault of a kernel (addresses,
/// instructions, stack, assertions, time-out), of the hardware, or a context that is gone.
pub(super) fn is_sticky(code: u32) -> bool {
    matches!(code, 4 | 201 | 214 | 220 | 700 | 702 | 709 | 710 | 714..=719 | 999)
}

macro_rules! api {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The driver's functions, looked up once.
        ///
        /// cudarc's own wrappers panic when a symbol is missing and return a Rust enum, for which a number that a newer
        /// driver invents is undefined behaviour. So the library handle and the types are cudarc's, while the
        /// functions return plain numbers.
        #[allow(non_snake_case, reason = "the driver's own names")]
        pub(super) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> u32,)*
        }

        impl Api {
            fn load() -> Result<Self> {
                Ok(Self { $($name: symbol(stringify!($name))?,)* })
            }
        }
    };
}

api! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuGetErrorName(u32, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceGetAttribute(*mut c_int, c_uint, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDeviceCanAccessPeer(*mut c_int, CUdevice, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuCtxPushCurrent_v2(CUcontext);
    cuCtxPopCurrent_v2(*mut CUcontext);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuMemPoolCreate(*mut CUmemoryPool, *const sys::CUmemPoolProps);
    cuMemPoolDestroy(CUmemoryPool);
    cuMemPoolSetAttribute(CUmemoryPool, c_uint, *mut c_void);
    cuMemPoolSetAccess(CUmemoryPool, *const sys::CUmemAccessDesc, usize);
    cuMemPoolTrimTo(CUmemoryPool, usize);
    cuMemAllocFromPoolAsync(*mut CUdeviceptr, usize, CUmemoryPool, CUstream);
    cuMemFreeAsync(CUdeviceptr, CUstream);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuPointerGetAttributes(c_uint, *const c_uint, *mut *mut c_void, CUdeviceptr);
    cuMemsetD8Async(CUdeviceptr, u8, usize, CUstream);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream);
    cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, usize, CUstream);
    cuMemcpy2DAsync_v2(*const sys::CUDA_MEMCPY2D, CUstream);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamDestroy_v2(CUstream);
    cuStreamSynchronize(CUstream);
    cuStreamIsCapturing(CUstream, *mut c_int);
    cuStreamGetCaptureInfo_v2(CUstream, *mut c_int, *mut u64, *mut CUgraph, *mut *const sys::CUgraphNode, *mut usize);
    cuThreadExchangeStreamCaptureMode(*mut c_uint);
    cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, u64);
    cuGraphLaunch(CUgraphExec, CUstream);
    cuGraphDestroy(CUgraph);
    cuGraphExecDestroy(CUgraphExec);
    cuStreamGetCtx(CUstream, *mut CUcontext);
    cuStreamWaitEvent(CUstream, CUevent, c_uint);
    cuEventCreate(*mut CUevent, c_uint);
    cuEventDestroy_v2(CUevent);
    cuEventRecord(CUevent, CUstream);
    cuEventQuery(CUevent);
    cuEventSynchronize(CUevent);
    cuEventElapsedTime(*mut f32, CUevent, CUevent);
    cuModuleLoadData(*mut CUmodule, *const c_void);
    cuModuleUnload(CUmodule);
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuFuncGetAttribute(*mut c_int, c_uint, CUfunction);
    cuFuncSetAttribute(CUfunction, c_uint, c_int);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, CUfunction, c_int, usize);
    cuLaunchKernel(CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
        *mut *mut c_void, *mut *mut c_void);
    cuLaunchCooperativeKernel(CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
        *mut *mut c_void);
}

/// libcuda, loaded once and never unloaded. cudarc's own loading panics where it fails, for example where memory is refused.
fn library() -> Result<&'static Loaded> {
    static LIBRARY: OnceLock<Loaded> = OnceLock::new();
    if let Some(found) = LIBRARY.get() {
        return Ok(found);
    }
    let found = Loaded::of("libcuda.so.1")
        .map_err(|problem| Error::NoDevice(format!("the NVIDIA driver cannot be loaded: {problem}")))?;
    Ok(LIBRARY.get_or_init(|| found))
}

/// The function `name` of libcuda; `F` is the type of a function pointer.
pub(super) fn symbol<F: Copy>(name: &str) -> Result<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let found = library()?
        .symbol(name)
        .map_err(|_| Error::NoDevice(format!("libcuda.so.1 has no {name}: the driver is older than CUDA 11.4")))?;
    // SAFETY: an address that is not null, and the type is that of the driver's header for this name.
    Ok(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&found) })
}

/// The process that called `cuInit`, as its number of forks plus 1; 0 before a call.
static INITIALIZED_BY: AtomicU64 = AtomicU64::new(0);

/// Notes that this process initializes the driver.
///
/// # Errors
/// [`Error::NoDevice`] if a process that this one was forked from began to. It need not have finished: a thread that
/// was inside `cuInit` does not exist here, but the driver's locks are as it left them.
fn claim(initialized_by: &AtomicU64) -> Result<()> {
    let own = fork::generation() + 1;
    match initialized_by.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Err(by) if by != own => {
            Err(Error::NoDevice("CUDA was initialized before fork() and is not to be had in the child".into()))
        }
        _ => Ok(()),
    }
}

impl Api {
    /// The driver, initialized.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is no libcuda, if it cannot be initialized, or in a child of a `fork()` whose
    /// parent had begun to initialize it.
    pub(super) fn get() -> Result<&'static Self> {
        static API: OnceLock<Api> = OnceLock::new();
        // Before the cells are asked, which a thread of the parent's may have left in the middle of a change.
        if INITIALIZED_BY.load(Ordering::Relaxed) != 0 {
            claim(&INITIALIZED_BY)?;
        }
        if let Some(api) = API.get() {
            return Ok(api);
        }
        // A fork in the middle of the loader's work would leave the child a library that is loaded in part.
        let api = fork::undisturbed(Self::load)?;
        expect_memory()?;
        claim(&INITIALIZED_BY)?;
        // SAFETY: may be called any number of times, from any thread. Its threads block the host's signals.
        let code = start_blocked(|| unsafe { (api.cuInit)(0) });
        if code != SUCCESS {
            let name = api.error_name(code);
            return Err(Error::NoDevice(format!("libcuda.so.1: cuInit failed with {name} ({code})")));
        }
        Ok(API.get_or_init(|| api))
    }

    /// The driver's name of an error.
    pub(super) fn error_name(&self, code: u32) -> String {
        let mut text = std::ptr::null();
        // SAFETY: writes a pointer to static text, or null for a number it does not know.
        let status = unsafe { (self.cuGetErrorName)(code, &mut text) };
        if status != SUCCESS || text.is_null() {
            return "an unknown error".into();
        }
        // SAFETY: not null, so static text that ends with a zero.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// `Ok` for success, else the driver's error of `call`.
    pub(super) fn check(&self, call: &'static str, code: u32) -> Result<()> {
        if code == SUCCESS { Ok(()) } else { Err(self.error(call, code)) }
    }

    /// The driver's error `code` of `call`.
    pub(super) fn error(&self, call: &'static str, code: u32) -> Error {
        Error::Cuda { call, name: self.error_name(code), code: i32::try_from(code).unwrap_or(i32::MAX) }
    }

    /// An attribute of a device.
    pub(super) fn attribute(&self, device: CUdevice, attribute: sys::CUdevice_attribute) -> Result<i32> {
        let mut value = 0;
        // SAFETY: writes one integer.
        let code = unsafe { (self.cuDeviceGetAttribute)(&mut value, attribute as c_uint, device) };
        self.check("cuDeviceGetAttribute", code).map(|()| value)
    }
}

/// The version of CUDA that the driver is for, as it states it; `None` without a driver that works.
pub(super) fn cuda_version() -> Option<c_int> {
    let api = Api::get().ok()?;
    let mut version = 0;
    // SAFETY: writes one integer.
    let code = unsafe { (api.cuDriverGetVersion)(&mut version) };
    (code == SUCCESS).then_some(version)
}

/// A version of CUDA as it is written: 12.4 for 12040.
pub(super) fn dotted(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_refused_the_driver_that_its_parent_began_to_initialize() {
        let (unused, begun) = (AtomicU64::new(0), AtomicU64::new(0));
        assert_eq!((claim(&begun), claim(&begun)), (Ok(()), Ok(())));
        // SAFETY: the child compares numbers and formats a text, and leaves at once, without destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let is_refused = matches!(claim(&begun), Err(Error::NoDevice(text)) if text.contains("before fork()"));
            let code = if is_refused && claim(&unused).is_ok() { 7 } else { 1 };
            // SAFETY: ends the child.
            unsafe { libc::_exit(code) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above; writes one integer.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(libc::WEXITSTATUS(status), 7);
        assert_eq!(claim(&begun), Ok(()));
    }
}
