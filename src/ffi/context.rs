//! Contexts: a backend, its threads, limits and log.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use super::callback::{self, purlin_log_fn};
use super::handle;
use super::options::{self, fill_text, versioned};
use super::{guard, purlin_status};
use crate::backend::cpu::Isa;
use crate::backend::{Backend, BackendChoice};
use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::shape;

/// Backend, thread pool, memory limits and log; everything else belongs to one. Thread-safe.
pub struct purlin_context {
    _private: [u8; 0],
}

/// The object behind a handle of a context.
pub(super) type ContextObject = Arc<Context>;

/// The GPU if there is one, else the CPU; a GPU with a `device` other than 0.
pub const PURLIN_BACKEND_AUTO: i32 = 0;
/// The CPU, even if there is a GPU.
pub const PURLIN_BACKEND_CPU: i32 = 1;
/// A GPU; an error if there is none.
pub const PURLIN_BACKEND_CUDA: i32 = 2;

/// The best vector instructions the machine has.
pub const PURLIN_ISA_AUTO: i32 = 0;
/// No vector instructions beyond the build's target.
pub const PURLIN_ISA_PORTABLE: i32 = 1;
/// Vectors of 256 bits: AVX2 and FMA.
pub const PURLIN_ISA_AVX2: i32 = 2;
/// Vectors of 512 bits: AVX-512 F, DQ, VL and BW, and FMA.
pub const PURLIN_ISA_AVX512: i32 = 3;

/// No messages are logged.
pub const PURLIN_LOG_OFF: i32 = 0;
/// A call failed, with the reason.
pub const PURLIN_LOG_ERROR: i32 = 1;
/// Something is not as asked, but the call goes on.
pub const PURLIN_LOG_WARN: i32 = 2;
/// The choices that purlin made, with the reason.
pub const PURLIN_LOG_INFO: i32 = 3;
/// Details for developers; no message has this level yet.
pub const PURLIN_LOG_DEBUG: i32 = 4;

/// How a context is made.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_context_options {
    /// Size of the caller's struct; set by purlin_context_options_init.
    pub struct_size: usize,
    /// Where the context computes, one of PURLIN_BACKEND_*; default AUTO.
    pub backend: i32,
    /// Ordinal of the GPU; default 0. Another one is refused on the CPU, and with AUTO asks for that GPU: without it there is
    /// PURLIN_ERROR_NO_DEVICE, and no context on the CPU.
    pub device: i32,
    /// Instruction set of kernels on the host, one of PURLIN_ISA_*; default AUTO.
    pub cpu_isa: i32,
    /// Least important messages that the log gets, one of PURLIN_LOG_*; default OFF.
    pub log_level: i32,
    /// Threads of the context's pool, up to 4096; 0, the default, is one a core.
    pub threads: i64,
    /// Bytes of host memory that purlin may allocate; 0, the default, is no limit.
    pub host_memory_limit: i64,
    /// Bytes of device memory that purlin may allocate; 0, the default, is no limit. A limit is refused with the backend CPU; it
    /// has no effect where AUTO chooses the CPU.
    pub device_memory_limit: i64,
    /// Takes the messages; default NULL.
    pub log: purlin_log_fn,
    /// Passed to `log` as its last argument, not dereferenced; default NULL.
    pub log_user: *mut c_void,
}

versioned!(purlin_context_options, first = size_of::<Self>());

/// Backend, device, threads, limits and memory use of a context.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_context_info {
    /// Size of the caller's struct; set by purlin_context_info_init.
    pub struct_size: usize,
    /// PURLIN_BACKEND_CPU or PURLIN_BACKEND_CUDA, never AUTO.
    pub backend: i32,
    /// Ordinal of the GPU, -1 on the CPU.
    pub device: i32,
    /// One of PURLIN_ISA_*, not AUTO.
    pub cpu_isa: i32,
    /// Always 0: kept for later fields.
    pub reserved: i32,
    /// Threads of the pool, at least 1.
    pub threads: i64,
    /// Bytes of host memory that purlin may allocate, 0 for no limit.
    pub host_memory_limit: i64,
    /// Bytes of device memory that purlin may allocate, 0 for no limit.
    pub device_memory_limit: i64,
    /// Bytes of host memory held by this context's objects.
    pub host_memory_used: i64,
    /// Bytes of device memory held by this context's objects.
    pub device_memory_used: i64,
    /// Name of the GPU, or "CPU"; terminated.
    pub device_name: [c_char; 128],
}

versioned!(purlin_context_info, first = size_of::<Self>(); device: -1);

/// The live context of a handle, for a call that uses it.
pub(super) fn get(handle: *const purlin_context) -> Result<ContextObject> {
    let context = Arc::clone(&*handle::shared::<ContextObject, _>("context", handle)?);
    context.check_alive()?;
    Ok(context)
}

/// Writes the defaults: the GPU if there is one, all cores, no limits, no log.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_context_options_init(
    options: *mut purlin_context_options,
    size: usize,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Makes a context.
///
/// On a GPU it uses the device's primary context, so that memory of the caller's CUDA runtime code is shared.
///
/// @param      options  NULL for the defaults.
/// @param[out] context  the context; destroy it with purlin_context_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown constant, negative number, a
/// device other than 0 on the CPU), `PURLIN_ERROR_NO_DEVICE` (a GPU is asked for and there is none),
/// `PURLIN_ERROR_NOT_SUPPORTED` (vector instructions that the machine lacks), `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `options` is NULL or an initialized struct, `context` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_context_create(
    options: *const purlin_context_options,
    context: *mut *mut purlin_context,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("context", context) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let o = unsafe { options::read("options", options) }?;
        *target = handle::insert::<ContextObject, _>(Context::new(core_options(&o)?)?)?;
        Ok(())
    })
}

fn core_options(o: &purlin_context_options) -> Result<context::Options> {
    let backend = match o.backend {
        PURLIN_BACKEND_AUTO => BackendChoice::Auto,
        PURLIN_BACKEND_CPU => BackendChoice::Cpu,
        PURLIN_BACKEND_CUDA => BackendChoice::Cuda,
        other => return Err(Error::invalid("backend", format!("is {other}, outside 0 to 2"))),
    };
    if o.device < 0 {
        return Err(Error::invalid("device", format!("is {}, negative", o.device)));
    }
    let isa = match o.cpu_isa {
        PURLIN_ISA_AUTO => None,
        code => {
            Some(Isa::from_code(code).ok_or_else(|| Error::invalid("cpu_isa", format!("is {code}, outside 0 to 3")))?)
        }
    };
    let threads = shape::size("threads", o.threads, 0)?;
    if threads > 4096 {
        return Err(Error::invalid("threads", format!("is {threads}, more than 4096")));
    }
    let limit = |name: &str, value: i64| {
        u64::try_from(value).map_err(|_| Error::invalid(name, format!("is {value}, negative")))
    };
    let (log_level, log) = callback::log_sink("log_level", o.log_level, o.log, o.log_user)?;
    Ok(context::Options {
        backend,
        device: o.device,
        threads,
        isa,
        host_memory_limit: limit("host_memory_limit", o.host_memory_limit)?,
        device_memory_limit: limit("device_memory_limit", o.device_memory_limit)?,
        log_level,
        log,
    })
}

/// Destroys a context. Objects that belong to it keep working; it goes when the last of them is gone.
///
/// @param context  the context; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_context_destroy(context: *mut purlin_context) -> purlin_status {
    guard::run(|| handle::remove::<ContextObject, _>("context", context))
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
pub unsafe extern "C" fn purlin_context_info_init(info: *mut purlin_context_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// Backend, device, threads and limits of a context, and the memory that its objects hold.
///
/// @param      context  the context.
/// @param[out] info     filled in; initialize it with purlin_context_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
/// struct_size), `PURLIN_ERROR_FORKED`.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_context_properties(
    context: *const purlin_context,
    info: *mut purlin_context_info,
) -> purlin_status {
    guard::run(|| {
        let context = get(context)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        let number = |b: u64| i64::try_from(b).unwrap_or(i64::MAX);
        let (backend, device, name) = match context.backend() {
            Backend::Cpu => (PURLIN_BACKEND_CPU, -1, "CPU"),
            Backend::Gpu(gpu) => (PURLIN_BACKEND_CUDA, gpu.ordinal(), gpu.name()),
        };
        let value = purlin_context_info {
            struct_size: 0,
            backend,
            device,
            cpu_isa: context.isa() as i32,
            reserved: 0,
            threads: number(context.threads()),
            host_memory_limit: number(context.host_budget().limit().unwrap_or(0)),
            device_memory_limit: number(context.device_budget().limit().unwrap_or(0)),
            host_memory_used: number(context.host_budget().used()),
            device_memory_used: number(context.device_budget().used()),
            device_name: fill_text(name),
        };
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, value) }
    })
}

/// Replaces the log of a context.
///
/// @param context  the context; no other call may use it meanwhile.
/// @param level    one of PURLIN_LOG_*.
/// @param log      takes the messages from any thread; NULL for none.
/// @param user     handed to `log`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown level),
/// `PURLIN_ERROR_BUSY` (a message is being logged; also from within the log function).
///
/// # Safety
/// `log` may be called with `user` from any thread until the context is gone or has another log.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_context_set_log(
    context: *mut purlin_context,
    level: i32,
    log: purlin_log_fn,
    user: *mut c_void,
) -> purlin_status {
    guard::run(|| {
        let context = get(context)?;
        let (level, sink) = callback::log_sink("level", level, log, user)?;
        context.log().set(level, sink)
    })
}

/// Cancels the calls that run in this context now; each returns `PURLIN_ERROR_CANCELLED` within one tile of its work
/// and frees its memory. Later calls are not touched. May be called from any thread and from a progress function.
///
/// A call is cancelled if the list of its statuses has `PURLIN_ERROR_CANCELLED`, or refers to a function whose list does. All
/// other calls run to their end. These of them go over all of their data:
///
/// - copies of trains and copies to and from a device, and purlin_tt_set_core;
/// - purlin_spmv_apply and purlin_spmv_apply_block;
/// - purlin_matrix_borrow_csr, purlin_matrix_copy_csr, purlin_matrix_copy_to and purlin_matrix_set_values;
/// - purlin_symmetric_*, purlin_sshopm_product, purlin_sshopm_starts and purlin_sshopm_classify;
/// - purlin_fdk_weights and purlin_fdk_shepp_logan;
/// - purlin_lanczos_cullum_willoughby and purlin_tridiagonal_eigenvalues, which have no context.
///
/// @param context  the context.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_FORKED`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_context_cancel(context: *const purlin_context) -> purlin_status {
    guard::run(|| {
        get(context)?.cancel();
        Ok(())
    })
}
