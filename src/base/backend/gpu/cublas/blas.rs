//! cuBLAS on one stream, and its products.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Once};

use super::functions::{Functions, int, name, operation, real};
use crate::backend::foreign::Calls;
use crate::backend::gpu::device::Device;
use crate::backend::gpu::faults::library_fault;
use crate::backend::gpu::handles::Handle;
use crate::backend::gpu::memory::{DeviceMemory, Region};
use crate::backend::gpu::open::Gpu;
use crate::backend::gpu::stream::GpuStream;
use crate::backend::gpu::view::{Transpose, View};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// `CUBLAS_POINTER_MODE_HOST`.
const HOST_SCALARS: c_int = 0;
/// `CUBLAS_POINTER_MODE_DEVICE`.
const DEVICE_SCALARS: c_int = 1;

/// The handler of the process's end, behind that of the first handle.
static EXIT: Once = Once::new();

/// How products of 32-bit numbers are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Factors and sums in 32 bits.
    Full,
    /// Factors rounded to 11 bits, sums in 32. For products that only have to give a direction.
    Reduced,
}

/// Scalars in device memory, that are read when a product runs.
#[derive(Clone, Copy)]
pub struct Scalars<'a> {
    /// Factor of the product, one number of the product's type.
    pub alpha: Region<'a>,
    /// Factor of the previous contents of the result.
    pub beta: Region<'a>,
    /// Whether complex products are computed by three real products.
    pub three: bool,
}

/// Matrices of one shape: the first, and the elements from each to the next; 0 where all are the same.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    /// Matrix 0 of the series.
    pub first: View<'a>,
    /// Elements from a matrix to the next; 0 if all are the first.
    pub stride: usize,
}

/// cuBLAS on one stream, with a workspace of its own, so that the same calls give the same bits.
pub struct Blas {
    pub(super) functions: &'static Functions,
    pub(super) device: Arc<Device>,
    pub(super) handle: Handle,
    // Allocated in the order of the stream, like the calls that use it; `None` if callers provide the workspace.
    pub(super) workspace: Option<DeviceMemory>,
    stream: GpuStream,
    calls: Calls,
}

// SAFETY: a handle may go from thread to thread; `Blas` is not Sync.
unsafe impl Send for Blas {}

impl Blas {
    /// cuBLAS for work on `stream`.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the library is not there; device memory for its workspace.
    pub fn new(gpu: &Gpu, stream: &GpuStream) -> Result<Self> {
        Functions::get()?;
        Self::with_workspace(gpu, stream, Self::workspace_bytes(gpu))
    }

    /// cuBLAS without a workspace, for work that is enqueued as a whole. [`Blas::use_workspace`] sets a workspace before each call.
    /// Creating the handle may wait for the device; setting the workspace does not.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the library is not there.
    pub fn without_workspace(gpu: &Gpu, stream: &GpuStream) -> Result<Self> {
        library_fault("cublasCreate")?;
        let functions = Functions::get()?;
        let device = Arc::clone(&gpu.device);
        let entered = device.enter()?;
        let calls = Calls::new(name);
        // SAFETY: writes one handle; the device's context is current.
        let create = |handle: &mut Handle| unsafe { (functions.cublasCreate_v2)(handle) };
        let handle = device.blas.take_or_create(&calls, "cublasCreate", &EXIT, create, functions.cublasDestroy_v2)?;
        drop(entered);
        let blas = Self { functions, device, handle, workspace: None, stream: stream.clone(), calls };
        blas.set_precision(Precision::Full)?;
        Ok(blas)
    }

    /// Makes later calls use `stream` and `workspace`, of at least [`Blas::workspace_bytes`]. The memory must stay allocated
    /// while enqueued work may use it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a workspace that is not aligned to 256 bytes; [`Error::Cuda`].
    pub fn use_workspace(&mut self, stream: &GpuStream, workspace: Region<'_>) -> Result<()> {
        let address = workspace.array("workspace of cuBLAS", workspace.bytes() / 256, 256)?;
        self.attach(stream, address, workspace.bytes())
    }

    /// Makes later calls use `stream`, which must have waited for the stream before. The workspace is kept.
    ///
    /// # Errors
    /// [`Error::Internal`] if the workspace is the caller's; [`Error::Cuda`].
    pub fn move_to(&mut self, stream: &GpuStream) -> Result<()> {
        match &self.workspace {
            _ if self.stream.raw() == stream.raw() => Ok(()),
            Some(own) => self.attach(stream, own.address(), own.bytes()),
            None => Err(Error::Internal("cuBLAS without a workspace of its own".into())),
        }
    }

    pub(super) fn attach(&mut self, stream: &GpuStream, address: u64, bytes: usize) -> Result<()> {
        let entered = self.device.enter()?;
        // Setting the stream resets the workspace, so it comes first.
        // SAFETY: handles of this device.
        self.run("cublasSetStream", || unsafe {
            (self.functions.cublasSetStream_v2)(self.handle, stream.queue().raw())
        })?;
        // SAFETY: a handle of this device; the caller keeps the memory.
        self.run("cublasSetWorkspace", || unsafe {
            (self.functions.cublasSetWorkspace_v2)(self.handle, address, bytes)
        })?;
        drop(entered);
        self.stream = stream.clone();
        Ok(())
    }

    /// Sets the precision of later products of 32-bit numbers. It is [`Precision::Full`] at first.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn set_precision(&self, precision: Precision) -> Result<()> {
        let mode = match precision {
            Precision::Full => 0,
            Precision::Reduced => 3,
        };
        let _entered = self.device.enter()?;
        // SAFETY: a handle of this device.
        self.run("cublasSetMathMode", || unsafe { (self.functions.cublasSetMathMode)(self.handle, mode) })
    }

    /// Whether a call threw. No further call uses the handle then, and its owner makes another.
    pub fn is_broken(&self) -> bool {
        self.calls.is_broken()
    }

    /// Runs a call of the library. The device's context is current.
    pub(super) fn run(&self, call: &'static str, body: impl FnOnce() -> i32) -> Result<()> {
        self.calls.run(call, body)
    }

    /// [`Blas::run`] of a product whose scalars are in device memory. The mode is set back unless the product threw, after which
    /// no call uses the handle.
    fn with_device_scalars(&self, call: &'static str, product: impl FnOnce() -> i32) -> Result<()> {
        let set = |mode| {
            // SAFETY: a handle of this device.
            self.run("cublasSetPointerMode", || unsafe { (self.functions.cublasSetPointerMode_v2)(self.handle, mode) })
        };
        set(DEVICE_SCALARS)?;
        let outcome = self.run(call, product);
        let after = set(HOST_SCALARS);
        outcome.and(after)
    }

    /// The stream that calls go to, until [`Blas::move_to`] or [`Blas::use_workspace`] sets another.
    pub fn stream(&self) -> &GpuStream {
        &self.stream
    }

    /// C = alpha op(A) op(B) + beta C for matrices of type `dtype`, in stream order. With beta = 0 C is not read.
    ///
    /// # Errors
    /// [`Error::Internal`] for shapes that do not fit, for memory that is too short, and for another type than those of
    /// linear algebra; [`Error::InvalidArgument`] for memory that is not aligned to its elements;
    /// [`Error::NotSupported`] for sizes that the library does not take; [`Error::Cuda`].
    #[allow(clippy::too_many_arguments, reason = "the field's own signature")]
    pub fn multiply(
        &self,
        dtype: DType,
        alpha: f64,
        a: View<'_>,
        op_a: Transpose,
        b: View<'_>,
        op_b: Transpose,
        beta: f64,
        c: View<'_>,
    ) -> Result<()> {
        let ((m, k), (inner, n)) = (op_a.shape(&a), op_b.shape(&b));
        if k != inner || (m, n) != (c.rows, c.cols) {
            let (p, q) = (c.rows, c.cols);
            return Err(Error::Internal(format!("a product {m} x {k} times {inner} x {n} is no {p} x {q}")));
        }
        let (from, with, to) = (a.address(dtype, "a")?, b.address(dtype, "b")?, c.address(dtype, "c")?);
        if m == 0 || n == 0 {
            return Ok(());
        }
        let (alpha, beta) = (real(dtype, alpha), real(dtype, beta));
        let sizes = [int("rows", m)?, int("columns", n)?, int("inner", k)?];
        let steps = [int("ld", a.ld.max(1))?, int("ld", b.ld.max(1))?, int("ld", c.ld.max(1))?];
        let gemm = self.functions.gemm(dtype)?;
        library_fault("cublasXgemm")?;
        let _entered = self.device.enter()?;
        // SAFETY: the three matrices lie inside their memories, as `address` checked; the scalars are read at once.
        self.run("cublasXgemm", || unsafe {
            gemm(
                self.handle,
                operation(op_a),
                operation(op_b),
                sizes[0],
                sizes[1],
                sizes[2],
                (&raw const alpha.0).cast(),
                from,
                steps[0],
                with,
                steps[1],
                (&raw const beta.0).cast(),
                to,
                steps[2],
            )
        })
    }

    /// [`Blas::multiply`] with scalars in device memory, in stream order like the matrices. Each is aligned to 16 bytes.
    ///
    /// # Errors
    /// As [`Blas::multiply`].
    pub fn multiply_by(
        &self,
        dtype: DType,
        scalars: Scalars<'_>,
        (a, op_a): (View<'_>, Transpose),
        (b, op_b): (View<'_>, Transpose),
        c: View<'_>,
    ) -> Result<()> {
        let ((m, k), (inner, n)) = (op_a.shape(&a), op_b.shape(&b));
        if k != inner || (m, n) != (c.rows, c.cols) {
            let (p, q) = (c.rows, c.cols);
            return Err(Error::Internal(format!("a product {m} x {k} times {inner} x {n} is no {p} x {q}")));
        }
        let (from, with, to) = (a.address(dtype, "a")?, b.address(dtype, "b")?, c.address(dtype, "c")?);
        // A scalar is read with the widest alignment.
        let (alpha, beta) = (scalars.alpha.array("alpha", 1, 16)?, scalars.beta.array("beta", 1, 16)?);
        if m == 0 || n == 0 {
            return Ok(());
        }
        let sizes = [int("rows", m)?, int("columns", n)?, int("inner", k)?];
        let steps = [int("ld", a.ld.max(1))?, int("ld", b.ld.max(1))?, int("ld", c.ld.max(1))?];
        let gemm = if scalars.three { self.functions.gemm3m(dtype)? } else { self.functions.gemm(dtype)? };
        library_fault("cublasXgemm")?;
        let _entered = self.device.enter()?;
        // SAFETY: a handle of this device; the three matrices and both scalars lie inside their memories, as was checked.
        let product = || unsafe {
            gemm(
                self.handle,
                operation(op_a),
                operation(op_b),
                sizes[0],
                sizes[1],
                sizes[2],
                alpha as *const c_void,
                from,
                steps[0],
                with,
                steps[1],
                beta as *const c_void,
                to,
                steps[2],
            )
        };
        self.with_device_scalars("cublasXgemm", product)
    }

    /// [`Blas::multiply_by`] for each of `count` matrices.
    ///
    /// # Errors
    /// As [`Blas::multiply`]; [`Error::Internal`] for matrices C that overlap.
    pub fn multiply_all_by(
        &self,
        dtype: DType,
        scalars: Scalars<'_>,
        (a, op_a): (Series<'_>, Transpose),
        (b, op_b): (Series<'_>, Transpose),
        c: Series<'_>,
        count: usize,
    ) -> Result<()> {
        let ((m, k), (inner, n)) = (op_a.shape(&a.first), op_b.shape(&b.first));
        let (rows, cols) = (c.first.rows, c.first.cols);
        if k != inner || (m, n) != (rows, cols) || (count > 1 && c.stride < rows * cols) {
            return Err(Error::Internal(format!("products {m} x {k} times {inner} x {n} are no {rows} x {cols}")));
        }
        let from = a.first.address_of_all(dtype, "a", a.stride, count)?;
        let with = b.first.address_of_all(dtype, "b", b.stride, count)?;
        let to = c.first.address_of_all(dtype, "c", c.stride, count)?;
        let (alpha, beta) = (scalars.alpha.array("alpha", 1, 16)?, scalars.beta.array("beta", 1, 16)?);
        if m == 0 || n == 0 || count == 0 {
            return Ok(());
        }
        let sizes = [int("rows", m)?, int("columns", n)?, int("inner", k)?, int("matrices", count)?];
        let ld = |series: &Series<'_>| int("ld", series.first.ld.max(1));
        let steps = [ld(&a)?, ld(&b)?, ld(&c)?];
        let [next_a, next_b, next_c] = [a, b, c].map(|series| to_i64(series.stride));
        let gemm = self.functions.batched_gemm(dtype)?;
        library_fault("cublasXgemmStridedBatched")?;
        let _entered = self.device.enter()?;
        // SAFETY: a handle of this device; all matrices and both scalars lie inside their memories, as was checked.
        let product = || unsafe {
            gemm(
                self.handle,
                operation(op_a),
                operation(op_b),
                sizes[0],
                sizes[1],
                sizes[2],
                alpha as *const c_void,
                from,
                steps[0],
                next_a,
                with,
                steps[1],
                next_b,
                beta as *const c_void,
                to,
                steps[2],
                next_c,
                sizes[3],
            )
        };
        self.with_device_scalars("cublasXgemmStridedBatched", product)
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        let Ok(_entered) = self.device.enter() else {
            // The device makes no more calls. In a child of `fork()` the lock of the idle handles may be held by a thread that
            // exists in the parent alone.
            return;
        };
        // SAFETY: a handle of this device.
        let detach = || unsafe { (self.functions.cublasSetStream_v2)(self.handle, std::ptr::null_mut()) };
        self.device.blas.give_back(self.handle, &self.calls, "cublasSetStream", detach);
    }
}
