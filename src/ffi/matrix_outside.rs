//! Matrices whose entries are not in memory: read from a source, or known by their products.

use std::ffi::c_void;

use super::handle;
use super::matrix::{purlin_matrix, sizes};
use super::source::{SourceObject, purlin_source};
use super::tensor::{PURLIN_ROW_MAJOR, purlin_dtype, purlin_flags, purlin_location, storage_order};
use super::{context, guard, purlin_context, purlin_status};
use crate::backend::fork;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::{Enqueue, Enqueued, Matrix, Operator};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::{Layout, Order, to_i64, too_large};
use crate::tensor::Location;

/// Multiplies vectors by a matrix: Y = A X (`adjoint` 0), or Y = A^H X (`adjoint` 1).
///
/// X has `count` columns of the matrix's columns (adjoint: rows) elements, `ldx` apart; Y has `count` columns of its
/// rows (adjoint: columns), `ldy` apart; all of Y's columns are to be written. Both are of the matrix's element type,
/// aligned as a part of it, and where the matrix was made for: in host memory, `cuda_stream` being 0, or on the device.
/// There X is ready in the order of `cuda_stream`, a `CUstream` (`cudaStream_t`), and the function enqueues its work on
/// it, or on others that wait for it and that it waits for; the device's context is the thread's. A return other than 0
/// ends the run with `PURLIN_ERROR_IO`, whose message has the number. It is called by the thread that makes the call or
/// one of purlin's, one call at a time, and must not throw, longjmp, unwind or use the objects of the run, but to cancel
/// it.
pub type purlin_apply_fn = Option<
    unsafe extern "C" fn(
        adjoint: i32,
        count: i64,
        x: *const c_void,
        ldx: i64,
        y: *mut c_void,
        ldy: i64,
        cuda_stream: u64,
        user: *mut c_void,
    ) -> i32,
>;

/// A caller's operator, as the core calls it.
struct Caller {
    apply: unsafe extern "C" fn(i32, i64, *const c_void, i64, *mut c_void, i64, u64, *mut c_void) -> i32,
    user: *mut c_void,
    rows: usize,
    cols: usize,
}
// SAFETY: the caller promises that the function may be called with this pointer from purlin's threads.
unsafe impl Send for Caller {}

impl Caller {
    /// Rows and columns of op(A).
    fn size(&self, op: Op) -> (usize, usize) {
        if op == Op::Plain { (self.rows, self.cols) } else { (self.cols, self.rows) }
    }

    /// Y = op(A) X for `count` vectors, packed, at `x` and `y`.
    ///
    /// # Safety
    /// Both hold that many vectors of the matrix's type, where the function works.
    unsafe fn call(&self, op: Op, count: usize, x: *const c_void, y: *mut c_void, stream: u64) -> Result<()> {
        let (to, from) = self.size(op);
        let adjoint = i32::from(op == Op::Adjoint);
        let (ldx, ldy) = (to_i64(from.max(1)), to_i64(to.max(1)));
        // SAFETY: the caller promises the vectors; the library's user promises a function that keeps to them.
        let apply = || unsafe { (self.apply)(adjoint, to_i64(count), x, ldx, y, ldy, stream, self.user) };
        match fork::call_host(apply)? {
            0 => Ok(()),
            code => Err(Error::Io {
                path: "apply".into(),
                problem: format!("returned {code} for {count} vectors, adjoint = {adjoint}"),
            }),
        }
    }

    /// As `call`, on a device.
    fn enqueue(&self, asked: Enqueue) -> Result<()> {
        let Enqueue { op, count, x, y, stream } = asked;
        // SAFETY: `Enqueued` asks with the addresses of as many vectors on the device.
        unsafe { self.call(op, count, x as *const c_void, y as *mut c_void, stream) }
    }
}

impl<T: Scalar> Operator<T> for Caller {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        let (to, from) = self.size(op);
        let fits = |long: usize, have: usize| long.checked_mul(count) == Some(have);
        if !fits(from, x.len()) || !fits(to, y.len()) {
            return Err(Error::Internal("vectors of the wrong size for an operator".into()));
        }
        // SAFETY: both hold `count` vectors, as just checked.
        unsafe { self.call(op, count, x.as_ptr().cast(), y.as_mut_ptr().cast(), 0) }
    }
}

/// A matrix that is read in blocks from a source, as often as a function goes over it. It shares the source, whose
/// handle may be destroyed before or used for other matrices; one run at a time reads it.
///
/// A source over a function of the caller's is a reader of blocks of rows (PURLIN_ROW_MAJOR) or of columns (0). All
/// axes of a source but the last count as one: a stack of images is a matrix with an image a column (0) or a row.
///
/// @param      context  the context of the source.
/// @param      source   of two to four axes and any element type; a tensor's must be on the host.
/// @param      flags    0: the source's dimensions are [rows, cols], a column is contiguous; PURLIN_ROW_MAJOR: [cols,
///                      rows], a row is.
/// @param[out] matrix   the matrix, read-only, of the source's element type; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, flags,
/// number of axes, another context), `PURLIN_ERROR_NOT_SUPPORTED` (a tensor on the device), `PURLIN_ERROR_BUSY` (a run
/// reads from it), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `matrix` is NULL or valid for writing; the promises made for the source hold while the matrix lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_from_source(
    context: *const purlin_context,
    source: *const purlin_source,
    flags: purlin_flags,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let source = handle::shared::<SourceObject, _>("source", source)?;
        let order = storage_order(flags, PURLIN_ROW_MAJOR)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        let shared = source.share("source", &context)?;
        *target = handle::insert(Matrix::from_source(&context, shared, order)?)?;
        Ok(())
    })
}

/// A matrix that is known by its products with vectors.
///
/// With products on the device the eigensolvers keep their vectors there and do not wait for a product; for methods on
/// host vectors (randomized decompositions) the vectors are copied.
///
/// @param      context   the context it belongs to.
/// @param      dtype     element type of the vectors: PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      rows      number of rows, not negative.
/// @param      cols      number of columns, not negative.
/// @param      apply     the function.
/// @param      user      handed to `apply`.
/// @param      location  where `apply` takes the vectors: PURLIN_HOST, or PURLIN_DEVICE in a context on a GPU.
/// @param[out] matrix    the matrix, read-only; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant, element type, negative size, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (vectors on
/// the device, the context is on the CPU), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `apply` may be called with `user` from any thread while the matrix lives; `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_from_operator(
    context: *const purlin_context,
    dtype: purlin_dtype,
    rows: i64,
    cols: i64,
    apply: purlin_apply_fn,
    user: *mut c_void,
    location: purlin_location,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        let gpu = match super::tensor::location(location, 0)? {
            Location::Device => Some(context.gpu("location")?.clone()),
            _ => None,
        };
        let apply = apply.ok_or_else(|| Error::invalid("apply", "is NULL"))?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        let (rows, cols) = sizes(rows, cols)?;
        // A matrix of this shape must be one that could exist: sizes and products are counted from it.
        Layout::packed(&[rows, cols], Order::ColumnMajor, dtype)
            .map_err(|_| too_large(&[("rows", rows), ("cols", cols)]))?;
        let caller = Caller { apply, user, rows, cols };
        let made = with_scalar!(dtype, "dtype", T => {
            let operator: Box<dyn Operator<T>> = match gpu {
                None => Box::new(caller),
                Some(gpu) => {
                    Box::new(Enqueued::<T, _>::new(&gpu, (rows, cols), move |asked| caller.enqueue(asked)))
                }
            };
            Ok(Matrix::from_operator::<T>(&context, operator))
        })?;
        *target = handle::insert(made)?;
        Ok(())
    })
}
