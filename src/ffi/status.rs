//! Status codes, one for each kind of error.

use std::ffi::CStr;

use crate::error::Error;

/// Result of every fallible function: 0, or negative. Values are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum purlin_status {
    /// The call succeeded, or its work was enqueued.
    PURLIN_SUCCESS = 0,
    /// An argument lies outside its documented domain.
    PURLIN_ERROR_INVALID_ARGUMENT = -1,
    /// A handle is null, destroyed or of another type.
    PURLIN_ERROR_INVALID_HANDLE = -2,
    /// An object is in use by another call.
    PURLIN_ERROR_BUSY = -3,
    /// Host memory cannot be allocated, the context's limit included, or the system refused to start a thread.
    PURLIN_ERROR_OUT_OF_MEMORY = -4,
    /// Device memory cannot be allocated, the context's limit included, or the driver, cuBLAS or cuSOLVER says that it got
    /// no memory.
    PURLIN_ERROR_OUT_OF_DEVICE_MEMORY = -5,
    /// The tolerance was not met; outputs hold the last iterate.
    PURLIN_ERROR_NO_CONVERGENCE = -6,
    /// Cancelled by the progress callback, by `purlin_context_cancel`, or by the cancel function of the call's object, such
    /// as `purlin_rsvd_cancel`.
    PURLIN_ERROR_CANCELLED = -7,
    /// No driver, or no such GPU.
    PURLIN_ERROR_NO_DEVICE = -8,
    /// The CUDA driver failed; the message has its name and number for the error. After a fault of a kernel (700, 702,
    /// 714 to 719) the driver answers all calls of the process so until it ends.
    PURLIN_ERROR_CUDA = -9,
    /// This type, shape or device combination is not supported.
    PURLIN_ERROR_NOT_SUPPORTED = -10,
    /// Overflow, breakdown or singularity; the message says which.
    PURLIN_ERROR_NUMERICAL = -11,
    /// A file could not be read or written.
    PURLIN_ERROR_IO = -12,
    /// The context was made before `fork()` and is used in the child.
    PURLIN_ERROR_FORKED = -13,
    /// A bug in purlin; the object is unusable from now on.
    PURLIN_ERROR_INTERNAL = -14,
}

/// Errors of the driver and its libraries whose allocations within a call failed.
const NO_MEMORY: [&str; 3] = ["CUDA_ERROR_OUT_OF_MEMORY", "CUBLAS_STATUS_ALLOC_FAILED", "CUSOLVER_STATUS_ALLOC_FAILED"];

impl From<&Error> for purlin_status {
    fn from(error: &Error) -> Self {
        match error {
            Error::InvalidArgument { .. } => Self::PURLIN_ERROR_INVALID_ARGUMENT,
            Error::InvalidHandle { .. } => Self::PURLIN_ERROR_INVALID_HANDLE,
            Error::Busy { .. } => Self::PURLIN_ERROR_BUSY,
            Error::OutOfMemory { .. } | Error::ThreadRefused { .. } => Self::PURLIN_ERROR_OUT_OF_MEMORY,
            Error::OutOfDeviceMemory { .. } => Self::PURLIN_ERROR_OUT_OF_DEVICE_MEMORY,
            Error::NoConvergence(_) => Self::PURLIN_ERROR_NO_CONVERGENCE,
            Error::Cancelled => Self::PURLIN_ERROR_CANCELLED,
            Error::NoDevice(_) => Self::PURLIN_ERROR_NO_DEVICE,
            Error::Cuda { name, .. } if NO_MEMORY.contains(&name.as_str()) => Self::PURLIN_ERROR_OUT_OF_DEVICE_MEMORY,
            Error::Cuda { .. } => Self::PURLIN_ERROR_CUDA,
            Error::NotSupported(_) => Self::PURLIN_ERROR_NOT_SUPPORTED,
            Error::Numerical(_) => Self::PURLIN_ERROR_NUMERICAL,
            Error::Io { .. } => Self::PURLIN_ERROR_IO,
            Error::Forked(_) => Self::PURLIN_ERROR_FORKED,
            Error::Internal(_) => Self::PURLIN_ERROR_INTERNAL,
        }
    }
}

/// The constant's name for any integer.
pub(super) fn name(status: i32) -> &'static CStr {
    match status {
        0 => c"PURLIN_SUCCESS",
        -1 => c"PURLIN_ERROR_INVALID_ARGUMENT",
        -2 => c"PURLIN_ERROR_INVALID_HANDLE",
        -3 => c"PURLIN_ERROR_BUSY",
        -4 => c"PURLIN_ERROR_OUT_OF_MEMORY",
        -5 => c"PURLIN_ERROR_OUT_OF_DEVICE_MEMORY",
        -6 => c"PURLIN_ERROR_NO_CONVERGENCE",
        -7 => c"PURLIN_ERROR_CANCELLED",
        -8 => c"PURLIN_ERROR_NO_DEVICE",
        -9 => c"PURLIN_ERROR_CUDA",
        -10 => c"PURLIN_ERROR_NOT_SUPPORTED",
        -11 => c"PURLIN_ERROR_NUMERICAL",
        -12 => c"PURLIN_ERROR_IO",
        -13 => c"PURLIN_ERROR_FORKED",
        -14 => c"PURLIN_ERROR_INTERNAL",
        _ => c"unknown status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_named_after_itself() {
        for code in -14..=0 {
            let text = name(code).to_str().unwrap();
            assert!(text.starts_with("PURLIN_"), "{code}: {text}");
        }
        let e = purlin_status::from(&Error::Cancelled);
        assert_eq!(name(e as i32).to_str().unwrap(), format!("{e:?}"));
        let refused = |name: &str| Error::Cuda { call: "a call", name: name.into(), code: 3 };
        assert_eq!(
            purlin_status::from(&refused("CUBLAS_STATUS_ALLOC_FAILED")),
            purlin_status::PURLIN_ERROR_OUT_OF_DEVICE_MEMORY
        );
        assert_eq!(purlin_status::from(&refused("CUBLAS_STATUS_INVALID_VALUE")), purlin_status::PURLIN_ERROR_CUDA);
        assert_eq!(name(1), c"unknown status");
        assert_eq!(name(i32::MIN), c"unknown status");
    }
}
