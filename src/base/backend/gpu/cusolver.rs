//! Factorizations of dense matrices by cuSOLVER. The library is optional: callers have a fallback without it.

use std::ffi::c_int;
use std::sync::{Arc, Once};

use cudarc::driver::sys::CUstream;

use super::cublas::int;
use super::device::Device;
use super::faults::library_fault;
use super::handles::Handle;
use super::library::{Library, functions};
use super::memory::{DeviceMemory, Region};
use super::open::Gpu;
use super::stream::GpuStream;
use super::view::View;
use crate::backend::foreign::Calls;
use crate::error::{Error, Result};
use crate::scalar::DType;

/// handle, m, n, A, lda, length
type QrSize = unsafe extern "C-unwind" fn(Handle, c_int, c_int, u64, c_int, *mut c_int) -> i32;
/// handle, m, n, A, lda, tau, workspace, length, info
type Qr = unsafe extern "C-unwind" fn(Handle, c_int, c_int, u64, c_int, u64, u64, c_int, u64) -> i32;

functions! {
    Functions of Library::Cusolver;
    cusolverDnCreate(*mut Handle);
    cusolverDnDestroy(Handle);
    cusolverDnSetStream(Handle, CUstream);
    cusolverDnDpotrf_bufferSize(Handle, c_int, c_int, u64, c_int, *mut c_int);
    cusolverDnZpotrf_bufferSize(Handle, c_int, c_int, u64, c_int, *mut c_int);
    cusolverDnDpotrf(Handle, c_int, c_int, u64, c_int, u64, c_int, u64);
    cusolverDnZpotrf(Handle, c_int, c_int, u64, c_int, u64, c_int, u64);
    cusolverDnDgeqrf_bufferSize(Handle, c_int, c_int, u64, c_int, *mut c_int);
    cusolverDnZgeqrf_bufferSize(Handle, c_int, c_int, u64, c_int, *mut c_int);
    cusolverDnDgeqrf(Handle, c_int, c_int, u64, c_int, u64, u64, c_int, u64);
    cusolverDnZgeqrf(Handle, c_int, c_int, u64, c_int, u64, u64, c_int, u64);
    cusolverDnDorgqr_bufferSize(Handle, c_int, c_int, c_int, u64, c_int, u64, *mut c_int);
    cusolverDnZungqr_bufferSize(Handle, c_int, c_int, c_int, u64, c_int, u64, *mut c_int);
    cusolverDnDorgqr(Handle, c_int, c_int, c_int, u64, c_int, u64, u64, c_int, u64);
    cusolverDnZungqr(Handle, c_int, c_int, c_int, u64, c_int, u64, u64, c_int, u64);
    cusolverDnDsyevd_bufferSize(Handle, c_int, c_int, c_int, u64, c_int, u64, *mut c_int);
    cusolverDnZheevd_bufferSize(Handle, c_int, c_int, c_int, u64, c_int, u64, *mut c_int);
    cusolverDnDsyevd(Handle, c_int, c_int, c_int, u64, c_int, u64, u64, c_int, u64);
    cusolverDnZheevd(Handle, c_int, c_int, c_int, u64, c_int, u64, u64, c_int, u64);
}

/// `CUBLAS_FILL_MODE_LOWER`.
const LOWER: c_int = 0;
/// `CUBLAS_FILL_MODE_UPPER`.
const UPPER: c_int = 1;
/// `CUSOLVER_EIG_MODE_VECTOR`.
const VECTORS: c_int = 1;

fn name(code: i32) -> &'static str {
    match code {
        1 => "CUSOLVER_STATUS_NOT_INITIALIZED",
        2 => "CUSOLVER_STATUS_ALLOC_FAILED",
        3 => "CUSOLVER_STATUS_INVALID_VALUE",
        4 => "CUSOLVER_STATUS_ARCH_MISMATCH",
        5 => "CUSOLVER_STATUS_MAPPING_ERROR",
        6 => "CUSOLVER_STATUS_EXECUTION_FAILED",
        7 => "CUSOLVER_STATUS_INTERNAL_ERROR",
        9 => "CUSOLVER_STATUS_NOT_SUPPORTED",
        _ => "an unknown error",
    }
}

/// The handler of the process's end, behind that of the first handle.
static EXIT: Once = Once::new();

/// Workspace of factorizations, reused by the next one.
#[derive(Default)]
pub struct Work {
    memory: Option<DeviceMemory>,
}

impl Work {
    fn at_least(&mut self, gpu: &Gpu, stream: &GpuStream, bytes: usize) -> Result<Region<'_>> {
        if self.memory.as_ref().is_none_or(|m| m.bytes() < bytes) {
            self.memory = None;
            self.memory = Some(gpu.allocate_uninitialized_on(stream, "workspace of cuSOLVER", bytes)?);
        }
        self.memory.as_ref().map(DeviceMemory::whole).ok_or_else(|| Error::Internal("no workspace".into()))
    }
}

/// cuSOLVER on one stream. Whether a factorization succeeded is a number in device memory, `info`: 0 if it did.
pub struct Solver {
    functions: &'static Functions,
    gpu: Gpu,
    device: Arc<Device>,
    handle: Handle,
    stream: GpuStream,
    calls: Calls,
}

// SAFETY: a handle may go from thread to thread; `Solver` is not Sync.
unsafe impl Send for Solver {}

impl Solver {
    /// cuSOLVER for work on `stream`.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the library is not there.
    pub fn new(gpu: &Gpu, stream: &GpuStream) -> Result<Self> {
        library_fault("cusolverDnCreate")?;
        let functions = Functions::get()?;
        let device = Arc::clone(&gpu.device);
        let entered = device.enter()?;
        let calls = Calls::new(name);
        // SAFETY: writes one handle; the device's context is current.
        let create = |handle: &mut Handle| unsafe { (functions.cusolverDnCreate)(handle) };
        let destroy = functions.cusolverDnDestroy;
        let handle = device.solvers.take_or_create(&calls, "cusolverDnCreate", &EXIT, create, destroy)?;
        drop(entered);
        let solver = Self { functions, gpu: gpu.clone(), device, handle, stream: stream.clone(), calls };
        let entered = solver.device.enter()?;
        // SAFETY: handles of this device.
        solver.run("cusolverDnSetStream", || unsafe {
            (functions.cusolverDnSetStream)(solver.handle, stream.queue().raw())
        })?;
        drop(entered);
        Ok(solver)
    }

    /// Replaces the upper triangle of a Hermitian matrix in f64 by R with A = R^H R; `info` > 0 if A is not positive
    /// definite. The lower triangle is not read.
    ///
    /// # Errors
    /// [`Error::Internal`] for another type than F64 and CF64, a matrix that is not square, and memory that is too
    /// short; [`Error::InvalidArgument`] for memory that is not aligned to its elements; [`Error::NotSupported`] for
    /// sizes that the library does not take; [`Error::OutOfDeviceMemory`]; [`Error::Cuda`].
    pub fn cholesky(&self, dtype: DType, a: View<'_>, work: &mut Work, info: Region<'_>) -> Result<()> {
        let f = self.functions;
        let (sizes, run) = match dtype {
            DType::F64 => (f.cusolverDnDpotrf_bufferSize, f.cusolverDnDpotrf),
            DType::CF64 => (f.cusolverDnZpotrf_bufferSize, f.cusolverDnZpotrf),
            other => return Err(unknown(other)),
        };
        let (n, ld, at) = (int("order", a.rows)?, int("ld", a.ld.max(1))?, square(dtype, &a)?);
        library_fault("cusolverDnXpotrf")?;
        let _entered = self.device.enter()?;
        let mut length = 0;
        // SAFETY: writes one integer.
        self.run("cusolverDnXpotrf_bufferSize", || unsafe { sizes(self.handle, UPPER, n, at, ld, &mut length) })?;
        let workspace = self.workspace(dtype, work, length)?;
        let info = info.array("info", 1, 4)?;
        // SAFETY: the matrix lies inside its memory, the workspace has the length that was asked for.
        self.run("cusolverDnXpotrf", || unsafe { run(self.handle, UPPER, n, at, ld, workspace, length, info) })
    }

    /// Makes later calls use `stream`, which must have waited for the stream before.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn move_to(&mut self, stream: &GpuStream) -> Result<()> {
        if self.stream.raw() == stream.raw() {
            return Ok(());
        }
        let entered = self.device.enter()?;
        // SAFETY: handles of this device.
        self.run("cusolverDnSetStream", || unsafe {
            (self.functions.cusolverDnSetStream)(self.handle, stream.queue().raw())
        })?;
        drop(entered);
        self.stream = stream.clone();
        Ok(())
    }

    /// Householder QR of a matrix of type `dtype`: R into the upper triangle of `a`, reflections below it and in `tau`, one
    /// element a column.
    ///
    /// # Errors
    /// As [`Solver::qr_in`]; [`Error::OutOfDeviceMemory`].
    pub fn qr(&self, dtype: DType, a: View<'_>, tau: Region<'_>, work: &mut Work, info: Region<'_>) -> Result<()> {
        let bytes = self.qr_bytes(dtype, a.rows, a.cols)?;
        self.qr_in(dtype, a, tau, work.at_least(&self.gpu, &self.stream, bytes)?, info)
    }

    /// Bytes of workspace for [`Solver::qr_in`].
    ///
    /// # Errors
    /// [`Error::Internal`] for another type than F64 and CF64; [`Error::NotSupported`] for sizes that the library does
    /// not take; [`Error::Cuda`].
    pub fn qr_bytes(&self, dtype: DType, rows: usize, cols: usize) -> Result<usize> {
        let (sizes, _) = self.qr_functions(dtype)?;
        let (m, n, ld) = (int("rows", rows)?, int("columns", cols)?, int("ld", rows.max(1))?);
        let _entered = self.device.enter()?;
        let mut length = 0;
        // SAFETY: writes one integer; of the matrix its shape alone counts.
        self.run("cusolverDnXgeqrf_bufferSize", || unsafe { sizes(self.handle, m, n, 0, ld, &mut length) })?;
        Ok(usize::try_from(length).unwrap_or(0).max(1).saturating_mul(dtype.size()))
    }

    /// [`Solver::qr`] in a workspace of the caller, of [`Solver::qr_bytes`] bytes.
    ///
    /// # Errors
    /// As [`Solver::qr_bytes`]; [`Error::Internal`] for memory that is too short; [`Error::InvalidArgument`] for memory
    /// that is not aligned to its elements.
    pub fn qr_in(
        &self,
        dtype: DType,
        a: View<'_>,
        tau: Region<'_>,
        workspace: Region<'_>,
        info: Region<'_>,
    ) -> Result<()> {
        let (_, run) = self.qr_functions(dtype)?;
        let (m, n, ld) = (int("rows", a.rows)?, int("columns", a.cols)?, int("ld", a.ld.max(1))?);
        let (at, tau) = (a.address(dtype, "a")?, tau.array("tau", a.cols.min(a.rows), dtype.size())?);
        let needed = self.qr_bytes(dtype, a.rows, a.cols)? / dtype.size();
        let (length, workspace) = (int("workspace", needed)?, workspace.array("workspace", needed, dtype.size())?);
        library_fault("cusolverDnXgeqrf")?;
        let _entered = self.device.enter()?;
        let info = info.array("info", 1, 4)?;
        // SAFETY: as in `cholesky`.
        self.run("cusolverDnXgeqrf", || unsafe { run(self.handle, m, n, at, ld, tau, workspace, length, info) })
    }

    fn qr_functions(&self, dtype: DType) -> Result<(QrSize, Qr)> {
        let f = self.functions;
        Ok(match dtype {
            DType::F64 => (f.cusolverDnDgeqrf_bufferSize, f.cusolverDnDgeqrf),
            DType::CF64 => (f.cusolverDnZgeqrf_bufferSize, f.cusolverDnZgeqrf),
            other => return Err(unknown(other)),
        })
    }

    /// Replaces the result of [`Solver::qr`] in `a` and `tau` by Q, in `a`.
    ///
    /// # Errors
    /// As [`Solver::qr`].
    pub fn orthogonal(
        &self,
        dtype: DType,
        a: View<'_>,
        tau: Region<'_>,
        work: &mut Work,
        info: Region<'_>,
    ) -> Result<()> {
        let f = self.functions;
        let (sizes, run) = match dtype {
            DType::F64 => (f.cusolverDnDorgqr_bufferSize, f.cusolverDnDorgqr),
            DType::CF64 => (f.cusolverDnZungqr_bufferSize, f.cusolverDnZungqr),
            other => return Err(unknown(other)),
        };
        let (m, n, ld) = (int("rows", a.rows)?, int("columns", a.cols)?, int("ld", a.ld.max(1))?);
        let (at, tau) = (a.address(dtype, "a")?, tau.array("tau", a.cols.min(a.rows), dtype.size())?);
        library_fault("cusolverDnXorgqr")?;
        let _entered = self.device.enter()?;
        let mut length = 0;
        // SAFETY: writes one integer.
        self.run("cusolverDnXorgqr_bufferSize", || unsafe { sizes(self.handle, m, n, n, at, ld, tau, &mut length) })?;
        let workspace = self.workspace(dtype, work, length)?;
        let info = info.array("info", 1, 4)?;
        // SAFETY: as in `cholesky`.
        self.run("cusolverDnXorgqr", || unsafe { run(self.handle, m, n, n, at, ld, tau, workspace, length, info) })
    }

    /// Eigenvalues, not decreasing, of a Hermitian matrix in f64. Only its lower triangle is read. The eigenvectors
    /// overwrite the matrix.
    ///
    /// # Errors
    /// As [`Solver::cholesky`].
    pub fn eigen(
        &self,
        dtype: DType,
        a: View<'_>,
        values: Region<'_>,
        work: &mut Work,
        info: Region<'_>,
    ) -> Result<()> {
        let f = self.functions;
        let (sizes, run) = match dtype {
            DType::F64 => (f.cusolverDnDsyevd_bufferSize, f.cusolverDnDsyevd),
            DType::CF64 => (f.cusolverDnZheevd_bufferSize, f.cusolverDnZheevd),
            other => return Err(unknown(other)),
        };
        let (n, ld, at) = (int("order", a.rows)?, int("ld", a.ld.max(1))?, square(dtype, &a)?);
        let values = values.array("values", a.rows, 8)?;
        library_fault("cusolverDnXsyevd")?;
        let _entered = self.device.enter()?;
        let mut length = 0;
        // SAFETY: writes one integer.
        self.run("cusolverDnXsyevd_bufferSize", || unsafe {
            sizes(self.handle, VECTORS, LOWER, n, at, ld, values, &mut length)
        })?;
        let workspace = self.workspace(dtype, work, length)?;
        let info = info.array("info", 1, 4)?;
        // SAFETY: as in `cholesky`.
        self.run("cusolverDnXsyevd", || unsafe {
            run(self.handle, VECTORS, LOWER, n, at, ld, values, workspace, length, info)
        })
    }

    /// Whether a call threw. No further call uses the handle then, and its owner makes another.
    pub fn is_broken(&self) -> bool {
        self.calls.is_broken()
    }

    /// Runs a call of the library. The device's context is current.
    fn run(&self, call: &'static str, body: impl FnOnce() -> i32) -> Result<()> {
        self.calls.run(call, body)
    }

    /// Address of a workspace of `length` elements.
    fn workspace(&self, dtype: DType, work: &mut Work, length: c_int) -> Result<u64> {
        let length = usize::try_from(length).unwrap_or(0).max(1);
        let bytes = length.saturating_mul(dtype.size());
        work.at_least(&self.gpu, &self.stream, bytes)?.array("workspace", length, dtype.size())
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        let Ok(_entered) = self.device.enter() else {
            // The device makes no more calls. In a child of `fork()` the lock of the idle handles may be held by a thread that
            // exists in the parent alone.
            return;
        };
        // SAFETY: a handle of this device.
        let detach = || unsafe { (self.functions.cusolverDnSetStream)(self.handle, std::ptr::null_mut()) };
        self.device.solvers.give_back(self.handle, &self.calls, "cusolverDnSetStream", detach);
    }
}

fn square(dtype: DType, a: &View<'_>) -> Result<u64> {
    if a.rows != a.cols {
        return Err(Error::Internal(format!("{} x {} elements are not square", a.rows, a.cols)));
    }
    a.address(dtype, "a")
}

fn unknown(dtype: DType) -> Error {
    Error::Internal(format!("{} in a factorization", dtype.name()))
}
